# What one player knows about a game, and the states that are consistent with it: plain functions on
# plain structs, without the GIL. Section numbers are those of docs/rules.md.

from libc.stdint cimport int32_t, uint8_t, uint32_t

from locmsim._core cimport (
    MAX_CARDS, MAX_DECK, State, Table, rows_fault_t, shown_card_t, shown_t, state_t, table_t,
    unknown_t)

ctypedef struct belief_t:
    int32_t rules
    int32_t seat                # 0 or 1; -1 while unknown
    int32_t turn                # the player's turns before the present one
    # Chosen cards, in the order of their first choice.
    int32_t n_kinds, n_chosen
    int32_t chosen[MAX_CARDS]           # base id
    int32_t copies[MAX_CARDS]
    # Cards seen, the player's and the opponent's, in the order of their first appearance.
    int32_t n_seen[2]
    int32_t seen_id[2][MAX_CARDS]
    int32_t seen[2][MAX_CARDS]          # base id

ctypedef struct seen_cards_t:   # one row of each card seen, in the order of their first appearance
    int32_t n
    shown_card_t row[MAX_CARDS]         # as in hand or on offer if seen there

ctypedef struct prior_t:        # how opponents are expected to choose cards
    double temperature          # of scores: a card is exp(score / temperature) times as likely
    double draft_temperature    # the same for values of drafts
    double per_copy             # added to the likelihood (best card: 1) for each copy in our deck

ctypedef struct pool_t:         # the cards that may be in the game
    const table_t* t            # its table, without instances
    int32_t n                   # number of cards, which have a fixed order:
    uint8_t entry[MAX_CARDS]            # ... entry in the table
    double weight[MAX_CARDS]            # ... how attractive the card is
    int32_t n_triplets          # of a complete draft, else 0
    uint8_t triplet_size[MAX_DECK]
    uint8_t triplet[MAX_DECK][3]        # entries of the table
    double triplet_weight[MAX_DECK][3]

# Records what a row tells about its card; False if that was already known.
cdef bint add_seen_card(seen_cards_t* seen, const shown_card_t* row) noexcept nogil

# Computes how likely any player chooses each card, the likeliest being 1: from scores, and from the
# copies in our deck, which a similar player would choose, too; `copies` may be NULL.
cdef void attractions(
    const double* scores, const uint8_t* copies, int n, double temperature, double per_copy,
    double* weights) noexcept nogil
# Makes the pool of all cards seen, and its table, by ascending base id.
cdef void pool_of_seen(pool_t* pool, table_t* t, const seen_cards_t* seen) noexcept nogil
# Makes the pool of the cards of a table, in the order `order`.
cdef void pool_of_table(pool_t* pool, const table_t* t, const uint8_t* order, int n) noexcept nogil
# Sets the weights of its cards as `attractions` does, from scores and copies in its order.
cdef void pool_set_weights(
    pool_t* pool, const double* scores, const uint8_t* copies, const prior_t* prior) noexcept nogil
# Adds an offer of a draft, as table entries, with the values of its cards.
cdef void pool_offer(
    pool_t* pool, const uint8_t* entries, const double* values, double temperature) noexcept nogil
# Adds a card to the pool and its table unless it is there, as likely as the others; for bots
# without scores. False if the table has no room left beside the cards of a position.
cdef bint pool_add(pool_t* pool, table_t* t, const shown_card_t* row) noexcept nogil
cdef void belief_reset(belief_t* b) noexcept nogil
cdef void belief_chose(belief_t* b, int32_t base_id) noexcept nogil
# Updates the belief with an observation of the battle, once in each turn.
cdef void belief_see(belief_t* b, const shown_t* o) noexcept nogil
# Makes the state of the last observation and of what follows from the game so far. Hidden places
# hold arbitrary cards, or are empty without a pool. The table gets the visible cards, then the
# pool. Errors are those of state_show.
cdef rows_fault_t belief_root(
    const belief_t* b, const shown_t* o, const table_t* pool, state_t* s, table_t* t
) noexcept nogil
# Makes what a player sees of a state: the same position with both decks and the opponent's hand
# empty, and a table of the visible cards alone. False if one of them has no instance id.
cdef bint state_forget(
    const state_t* s, const table_t* t, int who, state_t* seen, table_t* known) noexcept nogil
# Fills in what the hidden places of that position may hold; the pool's entries begin at `first`.
cdef void belief_unknown(
    const belief_t* b, const shown_t* o, const pool_t* pool, int first, unknown_t* u
) noexcept nogil

cdef class CardPool:
    cdef pool_t p
    cdef Table table
    cdef bytes content          # what equal pools have in common
    cdef dict entries           # Card -> entry of the table; None until they are asked for
    cdef readonly bint weighted     # whether the weights are filled in
    cdef int entry(self, card) except -1

cdef class Knowledge:
    cdef belief_t b
    cdef shown_t shown          # the last observation
    cdef State position         # ... what is visible of its state, if that is known; else None
    cdef readonly CardPool pool     # None: not set yet
    cdef seen_cards_t cards_seen
    cdef int fill_root(self, state_t* s, table_t* t) except -1
