# The value of a draft by an ensemble of small networks, without the GIL.
#
# A network has numbers for each of the 160 cards. They are summed over the deck and processed by a
# layer of units, and each card's own value is added. So a deck may be worth more or less than the
# sum of its cards.

from libc.stdint cimport uint8_t

from locmsim._core cimport MAX_DECK

cdef enum:
    DRAFT_CARDS = 160           # base ids 1 to 160, here from 0
    DRAFT_UNITS = 16
    MAX_DRAFT_NETWORKS = 4      # of an ensemble
    DRAFT_LAYER = MAX_DRAFT_NETWORKS * DRAFT_UNITS
    DRAFT_POOL = 60             # different cards that a draft is dealt from
    NO_CARD = DRAFT_CARDS       # any other card: it adds nothing

ctypedef struct draft_network_t:  # a ReLU follows the layer
    float card[DRAFT_CARDS][DRAFT_UNITS]
    float bias[DRAFT_UNITS]
    float output[DRAFT_UNITS]
    float direct[DRAFT_CARDS]   # from a card to the output

ctypedef struct draft_sum_t:    # the sums over some cards
    float units[DRAFT_LAYER]
    float direct

ctypedef struct draft_value_t:  # an ensemble, the layers of its networks concatenated
    float bias[DRAFT_LAYER]
    float output[DRAFT_LAYER]   # output weights of the mean
    draft_sum_t card[DRAFT_CARDS + 1]
    uint8_t order[DRAFT_CARDS]  # cards by falling value in an average deck

cdef void draft_fill(
    draft_value_t* v, const draft_network_t* networks, int n_networks) noexcept nogil
# Returns the value of a deck; the difference of two values is the log-odds of winning.
cdef float draft_value(const draft_value_t* v, const uint8_t* deck, int n) noexcept nogil
# The expected value of the final deck after picking the first, second or third card of the last
# offer: the mean over sampled continuations, dealt from pools with all cards offered so far.
# Each later pick maximises the value of the deck, completed with average cards of that pool.
cdef void draft_expected(
    const draft_value_t* v, const uint8_t offers[MAX_DECK][3], const uint8_t* picked, int n_offers,
    int drafts, float* values) noexcept nogil
# The same in each turn of a draft that takes the best card in each.
cdef void draft_follow(
    const draft_value_t* v, const uint8_t (*offers)[3], int n_offers, int drafts,
    float (*values)[3]) noexcept nogil
cdef int draft_number(int base_id) noexcept nogil

cdef class DraftNetworks:
    cdef draft_value_t v
    cdef tuple numbers          # of each network, as bytes
