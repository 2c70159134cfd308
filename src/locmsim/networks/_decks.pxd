# Small networks that tell what a whole deck is worth, without the GIL.
#
# A network sees what each card has of some terms. A layer of units sees them card by card; its
# units and the terms are summed over the deck, and a second layer sees the sums. So each card adds
# numbers of its own to the inputs of the second layer, whatever else is in the deck: they are found
# once.

from libc.stdint cimport uint8_t

cdef enum:
    DECK_TERMS = 58             # `locmsim.decks.CARD_TERMS`
    DECK_UNITS = 64             # of each layer
    DECK_SUMS = DECK_TERMS + DECK_UNITS
    MAX_DECK_NETWORKS = 16      # of an ensemble
    MAX_OFFER = 256             # cards to choose from
    DECK_CARDS = 30
    DECK_COPIES = 2             # of a card, at most

ctypedef struct deck_network_t:  # what is negative behind a layer counts as 0
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
    float output[MAX_DECK_NETWORKS * DECK_UNITS]    # of the mean
    float* hidden               # [card][n_networks * DECK_UNITS]: what it adds to the second layer
    float direct[MAX_OFFER]     # ... to the value itself

# Begin with no cards; `hidden` has room for a row of each card.
cdef void offer_start(
    offer_t* o, const deck_network_t* networks, int n_networks, float* hidden) noexcept nogil
# Add a card, given by how much it has of each term; they have to come by ascending base id.
cdef void offer_add(
    offer_t* o, const deck_network_t* networks, const float* terms) noexcept nogil
# The value of a deck, given by the number of copies of each card.
cdef float deck_value(const offer_t* o, const uint8_t* copies) noexcept nogil
# Exchange cards while that raises the value, always by the best exchange.
cdef void deck_improve(const offer_t* o, uint8_t* copies) noexcept nogil
