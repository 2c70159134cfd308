# What one player knows about a game, and the states that are consistent with it: plain functions on
# plain structs, without the GIL. Section numbers are those of docs/rules.md.

from libc.stdint cimport int32_t, uint8_t, uint32_t

from locmsim._core cimport (
    MAX_CARDS, MAX_DECK, card_t, shown_card_t, shown_t, state_t, table_t, unknown_t)

ctypedef struct belief_t:
    int32_t rules
    int32_t seat                # 0 or 1; -1 as long as nothing tells
    int32_t turn                # the player's turns before the present one
    # Cards taken, in the order in which they were taken first.
    int32_t n_kinds, n_chosen
    int32_t chosen[MAX_CARDS]           # base id
    int32_t copies[MAX_CARDS]
    # Cards seen, own and the opponent's, in the order in which they were seen first.
    int32_t n_seen[2]
    int32_t seen_id[2][MAX_CARDS]
    int32_t seen[2][MAX_CARDS]          # base id

ctypedef struct known_t:        # the cards that were shown, in the order in which they were first
    int32_t n
    shown_card_t row[MAX_CARDS]         # as in hand or on offer where that was seen

ctypedef struct prior_t:        # how opponents are expected to choose cards
    double temperature          # of scores: a card is exp(score / temperature) times as likely
    double draft_temperature    # ... of values of drafts
    double own_deck             # what a card is likelier, the best one being 1, for each in ours

ctypedef struct pool_t:         # the cards that may be in the game
    const table_t* t            # no instances
    int32_t n                   # cards, in the order in which they are considered:
    uint8_t entry[MAX_CARDS]            # ... entry of the table
    double weight[MAX_CARDS]            # ... how attractive it is
    int32_t n_triplets          # of a complete draft, else 0
    uint8_t triplet_size[MAX_DECK]
    uint8_t triplet[MAX_DECK][3]        # entries of the table
    double triplet_weight[MAX_DECK][3]

# Remember what a row tells of its card; False: it tells nothing that those before did not.
cdef bint known_see(known_t* k, const shown_card_t* row) noexcept nogil

# How likely cards are chosen by anyone, the likeliest 1: by scores, and by the copies of each in
# our deck, which others may find, too; `copies` may be NULL.
cdef void attractions(
    const double* scores, const uint8_t* copies, int n, double temperature, double own_deck,
    double* weights) noexcept nogil
# Make the pool of all cards known, and its table, by ascending base id.
cdef void pool_of_known(pool_t* pool, table_t* t, const known_t* k) noexcept nogil
# Make it of the cards of a table, in this order.
cdef void pool_of_table(pool_t* pool, const table_t* t, const uint8_t* order, int n) noexcept nogil
# Weigh its cards, by scores and copies in its order, as `attractions` does.
cdef void pool_set_weights(
    pool_t* pool, const double* scores, const uint8_t* copies, const prior_t* prior) noexcept nogil
# Add an offer of a draft, as entries of the table, weighed by what its cards are worth.
cdef void pool_offer(
    pool_t* pool, const uint8_t* entries, const double* values, double temperature) noexcept nogil
# The entry of a card in a table; -1 for a card that is not there.
cdef int card_with(const table_t* t, int32_t base_id) noexcept nogil
# Add a card to the pool and its table, unless it is there, as likely as the others; for bots with
# no scores of their own. False: the table has no room left beside the cards of a position.
cdef bint pool_add(pool_t* pool, table_t* t, const shown_card_t* row) noexcept nogil
cdef void belief_reset(belief_t* b) noexcept nogil
cdef void belief_chose(belief_t* b, int32_t base_id) noexcept nogil
# Take in what is shown in the battle, once for each turn.
cdef void belief_see(belief_t* b, const shown_t* o) noexcept nogil
# The position that is shown, with what follows from the game so far; any card in the hidden places,
# or none without a pool. The table gets the visible cards, and the pool behind them. Errors as
# those of state_show.
cdef int belief_root(
    const belief_t* b, const shown_t* o, const table_t* pool, state_t* s, table_t* t
) noexcept nogil
# What the hidden places of that position may hold; entries of the pool begin at `first`.
cdef void belief_unknown(
    const belief_t* b, const shown_t* o, const pool_t* pool, int first, unknown_t* u
) noexcept nogil

cdef class Knowledge:
    cdef belief_t b
    cdef shown_t shown          # what was seen last
    cdef pool_t pool
    cdef object pool_table      # the table of `pool`, None: not made yet
    cdef list pool_cards
    cdef dict entries           # Card -> entry of the table
    cdef bint weighted           # the weights of `pool` are filled in
    cdef known_t known          # what `news` has named
    cdef int fill_root(self, state_t* s, table_t* t) except -1
