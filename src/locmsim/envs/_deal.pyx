"""Dealing a game as the referee does, without the GIL: see _deal.pxd.

The rules are in docs/rules.md: sections 1 (seeds), 3 (choice phase) and 4 (start of the battle).
`locmsim.game.match` does the same in Python; tests compare the two.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    MAX_DECK,
    RULES_15,
    card_id,
    card_t,
    player_t,
    state_draw,
    state_t,
    stream_below,
    table_t,
)

cdef enum:
    FULL_RUNES = 31


cdef uint64_t java_start(int64_t seed) noexcept nogil:
    """`new Random(seed)`: 48 bits of state."""
    return (<uint64_t>seed ^ 0x5DEECE66DULL) & 0xFFFFFFFFFFFFULL


cdef inline uint32_t java_bits(uint64_t* random, int n) noexcept nogil:
    random[0] = (random[0] * 0x5DEECE66DULL + 11) & 0xFFFFFFFFFFFFULL
    return <uint32_t>(random[0] >> (48 - n))


cdef int java_below(uint64_t* random, int n) noexcept nogil:
    """`nextInt(n)`."""
    cdef uint32_t bits = java_bits(random, 31), value
    if n & (n - 1) == 0:
        return <int>(<uint64_t>n * bits >> 31)
    value = bits % <uint32_t>n
    while bits - value + <uint32_t>(n - 1) >= 0x80000000U:
        bits = java_bits(random, 31)
        value = bits % <uint32_t>n
    return <int>value


cdef int64_t java_long(uint64_t* random) noexcept nogil:
    """`nextLong()`."""
    cdef uint64_t high = <uint64_t>java_bits(random, 32) << 32
    cdef int32_t low = <int32_t>java_bits(random, 32)
    return <int64_t>(high + <uint64_t><int64_t>low)


cdef void derive_seeds(int64_t seed, int n, int64_t* out) noexcept nogil:
    cdef uint64_t random = java_start(seed)
    cdef int i
    for i in range(n):
        out[i] = java_long(&random)


cdef void shuffle(uint8_t* items, int n, int64_t seed) noexcept nogil:
    """`Collections.shuffle`."""
    cdef uint64_t random = java_start(seed)
    cdef uint8_t item
    cdef int i, j
    for i in range(n, 1, -1):
        j = java_below(&random, i)
        item = items[i - 1]
        items[i - 1] = items[j]
        items[j] = item


cdef void draw_triplets(
    int64_t seed, const uint8_t* allowed, int n, uint8_t (*triplets)[3]
) noexcept nogil:
    """Draw triplets of the n cards that may be offered, whose indices are in `allowed`."""
    cdef uint64_t random = java_start(seed)
    cdef uint8_t pool[DRAFT_POOL]
    cdef uint8_t chosen[MAX_SET]
    cdef int wanted = DRAFT_POOL if n > DRAFT_POOL else n
    cdef int size = 0, i, j, k
    memset(chosen, 0, sizeof(chosen))
    while size < wanted:
        i = java_below(&random, n)
        if not chosen[i]:
            chosen[i] = 1
            pool[size] = allowed[i]
            size += 1
    for i in range(MAX_DECK):
        k = 0
        while k < 3:
            triplets[i][k] = pool[java_below(&random, size)]
            for j in range(k):
                if triplets[i][j] == triplets[i][k]:
                    break
            else:
                k += 1


cdef void random_deck(
    uint64_t* stream, int n, const uint8_t (*triplets)[3], uint8_t* deck
) noexcept nogil:
    cdef uint8_t copies[2 * MAX_SET]
    cdef int i, j
    if triplets is not NULL:
        for i in range(MAX_DECK):
            deck[i] = triplets[i][stream_below(stream, 3)]
        return
    for i in range(n):
        copies[2 * i] = copies[2 * i + 1] = <uint8_t>i
    for i in range(MAX_DECK):
        j = i + stream_below(stream, 2 * n - i)
        deck[i] = copies[j]
        copies[j] = copies[i]


cdef void deal(
    state_t* s, table_t* t, const card_t* cards, const uint8_t (*decks)[MAX_DECK], int rules,
    const int64_t* shuffles
) noexcept nogil:
    cdef uint8_t order[MAX_DECK]
    cdef uint8_t chosen
    cdef player_t* p
    cdef card_t* c
    cdef int who, i, entry
    t.rules = rules
    t.n_instances = t.n_cards = 2 * MAX_DECK
    memset(t._pad, 0, sizeof(t._pad))
    memset(s, 0, sizeof(state_t))
    s.turn = -1
    for who in range(2):
        p = &s.p[who]
        for i in range(MAX_DECK):
            order[i] = <uint8_t>i
        shuffle(order, MAX_DECK, shuffles[who])
        for i in range(MAX_DECK):
            # Table entries and ids are in the order of choice in 1.5, in draw order in 1.x.
            chosen = decks[who][i if rules == RULES_15 else order[i]]
            entry = MAX_DECK * who + i
            c = &t.cards[entry]
            memcpy(c, &cards[chosen], sizeof(card_t))
            c.creature.card = <uint8_t>entry
            c.id = <uint8_t>card_id(rules, who, i)
            s.deck[who][i] = <uint8_t>(MAX_DECK * who + (order[i] if rules == RULES_15 else i))
        p.health = 30
        p.next_draw = p.shown_draw = 1
        p.order = 1
        p.runes = 0 if rules == RULES_15 else FULL_RUNES
        p.deck_left = MAX_DECK
        state_draw(s, t, who, 4 + who)
    s.p[1].max_mana = s.p[1].mana = s.p[1].bonus = 1
