# Keys of positions within a turn: equal where nothing but the order of cards and creatures differs.

from libc.stdint cimport uint32_t, uint64_t

from locmsim._core cimport OCCUPIED, READY, RULES_10, SPENT, creature_t, player_t, state_t, table_t
from locmsim._platform cimport lowest_bit_


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    x *= 0x9E3779B97F4A7C15ULL
    return (x ^ x >> 29) * 0xBF58476D1CE4E5B9ULL


cdef inline uint64_t board_hash(const player_t* p, uint64_t salt, bint one) noexcept nogil:
    # A sum, so that the order within a lane makes no difference. Which card a creature was does not
    # matter any more, what it is does.
    cdef uint64_t total = 0, word
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef const creature_t* x
    cdef int slot
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        x = &p.board[slot]
        word = <uint64_t>(<uint32_t>x.attack & 0xFFFF)
        word |= <uint64_t>(<uint32_t>x.defense & 0xFFFF) << 16
        word |= <uint64_t>x.keywords << 32
        word |= <uint64_t>(p.marks >> READY >> slot & 1) << 40
        word |= <uint64_t>(p.marks >> SPENT >> slot & 1) << 41
        word |= <uint64_t>(slot >= 3 and not one) << 42
        total += mixed(word ^ salt)
    return total


cdef inline uint64_t turn_hash(
    const state_t* s, const table_t* t, const uint64_t* card_keys
) noexcept nogil:
    cdef int me = s.turn & 1
    cdef const player_t* p = &s.p[me]
    cdef const player_t* op = &s.p[1 - me]
    cdef uint64_t total, hand = p.hand
    cdef bint one = t.rules == RULES_10
    total = board_hash(p, 0x5555ULL << 44, one) + board_hash(op, 0xAAAAULL << 44, one)
    for _ in range(p.hand_size):
        total += card_keys[hand & 255]
        hand >>= 8
    total += mixed(<uint64_t><uint32_t>p.health << 32 | <uint32_t>op.health)
    total += mixed(<uint64_t>p.mana << 56 | <uint64_t>(p.next_draw & 0xFFFFF) << 28
                   | <uint64_t>(op.next_draw & 0xFFFFF) | 1ULL << 63)
    total += mixed(<uint64_t><uint32_t>p.lost << 32 | <uint32_t>op.lost | 1ULL << 63)
    return mixed(total)


cdef inline void fill_card_keys(uint64_t* keys, const table_t* t) noexcept nogil:
    """A random number for each card: copies of a card are alike."""
    cdef int i
    for i in range(t.n_cards):
        keys[i] = mixed((<uint64_t>t.cards[i].base_id + 1) * 0xD6E8FEB86659FD93ULL)
