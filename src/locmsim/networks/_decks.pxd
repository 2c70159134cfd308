# Small networks that predict the value of a whole deck, without the GIL.
#
# The inputs of a network are the terms of each card. A first layer processes them card by card; its
# outputs and the terms are summed over the deck, and a second layer processes the sums. Each card
# therefore adds fixed numbers to the inputs of the second layer, which are computed once.

from libc.stdint cimport uint8_t

from locmsim._core cimport card_t

cpdef enum:                     # for Python as well
    COST_COLUMNS = 8
    ENOUGH = 12                 # attack and defense beyond this do not help against one creature

cdef enum:                      # terms of a card: `locmsim.decks.CARD_TERMS` names them
    COSTS = 0                   # a column each, the last one for all from it on
    TYPES = COSTS + COST_COLUMNS
    LANES = TYPES + 4           # areas 1 and 2
    DRAW = LANES + 2
    HEAL = DRAW + 1
    DAMAGE = HEAL + 1
    STATS = DAMAGE + 1          # attack and defense of each type
    AREA_STATS = STATS + 2 * 4  # ... of cards with an area
    KEYWORDS = AREA_STATS + 2 * 4       # of creatures, of green items, of red and blue ones
    CHARGE_ATTACK = KEYWORDS + 6 * 3
    DRAIN_ATTACK
    WARD_ATTACK
    GUARD_DEFENSE
    AREA_DRAW
    AREA_DAMAGE
    AREA_HEAL
    DECK_TERMS

cdef enum:
    DECK_UNITS = 64             # of each layer
    DECK_SUMS = DECK_TERMS + DECK_UNITS
    MAX_DECK_NETWORKS = 16      # of an ensemble
    MAX_OFFER = 256             # cards to choose from

ctypedef struct deck_network_t:  # a ReLU follows each layer
    float card[DECK_TERMS][DECK_UNITS]
    float card_bias[DECK_UNITS]
    float hidden[DECK_SUMS][DECK_UNITS]
    float hidden_bias[DECK_UNITS]
    float output[DECK_UNITS]
    float direct[DECK_SUMS]     # from the sums to the output

ctypedef struct offer_t:        # the cards to choose from, as an ensemble sees them
    int n_networks
    int n_cards
    float bias[MAX_DECK_NETWORKS * DECK_UNITS]
    float output[MAX_DECK_NETWORKS * DECK_UNITS]    # output weights of the mean
    float* hidden               # [card][n_networks * DECK_UNITS]: its share of the second layer
    float direct[MAX_OFFER]     # its direct share of the value

# Computes the terms of a card, in favour of its player: attack and defense of red and blue items
# count as what they take from the enemy. Returns the sum of the terms times the weights.
cdef double write_terms(const double* weights, const card_t* c, float* terms) noexcept nogil
# Starts without cards; `hidden` holds a row for each card.
cdef void offer_start(
    offer_t* o, const deck_network_t* networks, int n_networks, float* hidden) noexcept nogil
# Adds a card, given by its terms; cards must come by ascending base id.
cdef void offer_add(
    offer_t* o, const deck_network_t* networks, const float* terms) noexcept nogil
# Returns the value of a deck, given by the number of copies of each card.
cdef float deck_value(const offer_t* o, const uint8_t* copies) noexcept nogil
# Exchanges cards while that raises the value, always by the best exchange.
cdef void deck_improve(const offer_t* o, uint8_t* copies) noexcept nogil
