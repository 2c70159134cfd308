# The choice phase of a row: a player's thirty picks and what they see before each.
#
# Cards are indices into a card set. A pick is the index of a card (1.5), or its position in the
# triplet on offer (1.x).

from libc.stdint cimport int8_t, uint8_t

from locmsim._core cimport MAX_DECK, card_t

cdef enum:
    CONSTRUCT_OFFER = 120       # cards of an offer in 1.5
    DRAFT_OFFER = 3

ctypedef struct choice_t:       # of one player
    int rules
    const card_t* cards         # of the set
    const int8_t* shown         # ... as rows of the layout, in the same order
    int n_cards
    const uint8_t (*triplets)[3]    # 1.x
    const uint8_t* deck         # what was picked so far
    int n

cdef int choice_size(int rules) noexcept nogil      # numbers of the layout
cdef int choice_actions(int rules) noexcept nogil
cdef void write_cards(int8_t* out, const card_t* cards, int n) noexcept nogil     # as such rows
cdef bint choice_is_legal(const choice_t* c, int pick) noexcept nogil
cdef int choice_first(const choice_t* c) noexcept nogil     # the first legal pick
cdef int choice_card(const choice_t* c, int pick) noexcept nogil
# What the player sees; what they may pick; their cards and the first `m` of another deck.
cdef void write_choice(int8_t* out, const choice_t* c) noexcept nogil
cdef void write_choice_mask(int8_t* out, const choice_t* c) noexcept nogil
cdef void write_choice_hidden(
    int8_t* out, const choice_t* c, const uint8_t* other, int m) noexcept nogil
