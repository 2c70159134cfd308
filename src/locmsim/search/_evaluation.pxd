# The evaluation of a position, linear in named terms: see `TERMS` in _evaluation.pyx.
#
# Tables hold all values that a term can take, so that evaluating takes a few loads for a player and
# three for a creature. Section numbers refer to docs/rules.md.

from libc.stdint cimport int32_t, uint32_t, uint64_t

from locmsim._core cimport (
    GUARDED,
    MAX_CARDS,
    OCCUPIED,
    RULES_10,
    RULES_15,
    creature_t,
    player_after_draw,
    player_t,
    state_t,
    table_t,
)
from locmsim._math cimport tanh32
from locmsim._platform cimport count_bits_, lowest_bit_


cdef enum:
    HEALTH_STEPS = 64           # each point of health beyond is worth `health_more`
    MAX_VALUE = 1000            # value of a won position; no other comes near it

ctypedef struct side_t:         # the weights of one side
    # Of a creature, by keywords: for being there, attack, defense, and the lesser of the two.
    float by_keywords[64][4]
    float health[HEALTH_STEPS]
    float health_more           # each point beyond
    float hand[16]              # cards in hand after the next draw
    float deck[32]              # cards in the deck after the next draw
    float near_card             # 1.5: each point of health lost towards a further card
    float room[3]               # lanes with room
    float open_attack           # each point of attack that no Guard holds back
    float kill                  # added if that attack is enough to kill
    float rune                  # 1.x: each rune left

ctypedef struct eval_t:
    side_t side[2]              # of the player whose turn ends, and of the other one
    float hand_card[MAX_CARDS]  # [table entry]: value of the card in the hand of the first side
    float bonus                 # 1.5: bonus mana
    float scale                 # the value that is a win with probability 0.88: tanh(1) = 0.76

ctypedef struct terms_t:        # the weights of one side, as named in `TERMS` and in that order
    float health, low_health, lowest_health
    float creature, attack, defense, balance
    float guard, guard_defense, lethal, ward, ward_attack, drain_attack, breakthrough_attack
    float card, fifth_card, low_deck, near_card, room, open_attack, kill, rune

ctypedef struct weights_t:
    terms_t side[2]
    float hand_type[4]          # creature, green, red, blue
    float hand_cost, hand_draw, hand_area
    float bonus_mana, scale

# Fill in the tables from weights: the first all but those that depend on the cards of a game, the
# second these.
cdef void eval_fill(eval_t* e, const weights_t* w) noexcept nogil
cdef void eval_use_table(eval_t* e, const weights_t* w, const table_t* t) noexcept nogil

cdef class CompiledEvaluation:
    cdef weights_t weights
    cdef eval_t e


cdef inline float evaluate_side(
    const player_t* p, const table_t* t, const side_t* w, int32_t* attack
) noexcept nogil:
    """Return the value of one side, and write the attack on its board by lane."""
    cdef const creature_t* x
    cdef const float* by
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef bint one = t.rules == RULES_10
    cdef int slot, health, hand, deck, lanes
    cdef float value
    attack[0] = attack[1] = 0
    if one:
        lanes = left != 63
    else:
        lanes = 2 - (left >> 2 & 1) - (left >> 5)
    value = w.room[lanes]
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        x = &p.board[slot]
        by = w.by_keywords[x.keywords]
        attack[0 if one else slot >= 3] += x.attack
        value += by[0] + by[1] * x.attack + by[2] * x.defense
        value += by[3] * (x.attack if x.attack < x.defense else x.defense)
    # The next draw goes up to the hand limit; each card that the deck lacks does damage.
    health = player_after_draw(p, t.rules, &hand, &deck)
    if health >= HEALTH_STEPS:
        value += w.health[HEALTH_STEPS - 1] + w.health_more * (health - HEALTH_STEPS + 1)
    else:
        value += w.health[health if health > 0 else 0]
    value += w.hand[hand] + w.deck[deck]
    if t.rules == RULES_15:
        return value + w.near_card * (p.lost % 5)
    return value + w.rune * count_bits_(p.runes)


cdef inline int open_attack(const player_t* other, const int32_t* attack, bint one) noexcept nogil:
    """Return the attack in lanes where the other player has no Guard."""
    cdef uint32_t guarded = other.marks >> GUARDED & 63
    if one:
        return 0 if guarded else attack[0]
    return (0 if guarded & 7 else attack[0]) + (0 if guarded >> 3 else attack[1])


cdef inline float evaluate(
    const state_t* s, const table_t* t, const eval_t* e, int who
) noexcept nogil:
    """Return the value of a position for `who`, whose turn ends; +/- MAX_VALUE if won or lost."""
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef int32_t mine[2]
    cdef int32_t theirs[2]
    cdef bint one = t.rules == RULES_10
    cdef int damage
    cdef uint64_t hand
    cdef float value
    if me.won | op.won:
        return MAX_VALUE if me.won else -MAX_VALUE
    value = evaluate_side(me, t, &e.side[0], mine) - evaluate_side(op, t, &e.side[1], theirs)
    damage = open_attack(op, mine, one)
    value += e.side[0].open_attack * damage + e.side[0].kill * (damage >= op.health)
    damage = open_attack(me, theirs, one)
    value -= e.side[1].open_attack * damage + e.side[1].kill * (damage >= me.health)
    hand = me.hand
    for _ in range(me.hand_size):
        value += e.hand_card[hand & 255]
        hand >>= 8
    return value + e.bonus * me.bonus


cdef inline float squashed(float value, const eval_t* e) noexcept nogil:
    """Convert a value to an expected result, from -1 to 1."""
    return tanh32(value / e.scale)
