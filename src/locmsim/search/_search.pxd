# Search over states: an evaluation, a beam search and a Monte-Carlo tree search, without the GIL.
#
# Read _core.pxd first. A search is made for one player, `who`, who is to move. It starts at a root
# in which all that he cannot see is arbitrary, and never looks at it: hidden cards come from
# `worlds`, which are drawn from what he knows (`state_deal`).

from libc.stdint cimport int32_t, uint64_t

from locmsim._core cimport MAX_CARDS, state_t, table_t


# ---- evaluation ----------------------------------------------------------------------------------
# Linear in named terms, see `TERMS` in _search.pyx; tables of all values that a term can take make
# it a few loads for a player and three for a creature.

cdef enum:
    HEALTH_STEPS = 64           # health beyond is worth `health` a point
    MAX_VALUE = 1000            # of a won position; no other comes near it

ctypedef struct side_t:         # the weights of one player's things
    float by_keywords[64][4]    # of a creature: being there, and for attack, defense, the lesser
    float health[HEALTH_STEPS]
    float health_more           # each point beyond
    float hand[16]              # cards in hand after the next draw
    float deck[32]              # cards in the deck after it
    float near_card             # 1.5: each point of health lost towards a further card
    float room[3]               # lanes with room
    float open_attack           # each point of attack that no Guard holds back
    float kill                  # ... that being enough to kill
    float rune                  # 1.x: each rune left

ctypedef struct eval_t:
    side_t side[2]              # of the player whose turn ends, and of the other one
    float hand_card[MAX_CARDS]  # [table entry]: what it adds in the hand of the first
    float bonus                 # 1.5: his bonus mana
    float scale                 # the value that is a win with probability 0.88: tanh(1) = 0.76

# The value of a position to `who`, whose turn ends; MAX_VALUE if he has won, -MAX_VALUE if not.
cdef float evaluate(const state_t* s, const table_t* t, const eval_t* e, int who) noexcept nogil
# Equal for positions of one turn that differ in nothing but the order of cards and creatures.
# `card_keys` has a random number for each entry of the table.
cdef uint64_t turn_hash(
    const state_t* s, const table_t* t, const uint64_t* card_keys) noexcept nogil
