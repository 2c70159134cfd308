"""The choice phase of a row: see _choice.pxd. `locmsim.game.choice` is the Python version."""

from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memcpy, memset

from locmsim._core cimport MAX_DECK, MAX_HAND, RULES_15
from locmsim.game._layout cimport HAND_ROW, HIDDEN_ROWS, PILE, count_card, write_card

cdef enum:
    COPIES = 2                  # of one card that a deck of 1.5 may have
    CONSTRUCT_SIZE = CONSTRUCT_OFFER * (HAND_ROW + 1) + PILE + 1
    DRAFT_SIZE = (DRAFT_OFFER + MAX_DECK) * HAND_ROW + PILE + 1


cdef int choice_size(int rules) noexcept nogil:
    return CONSTRUCT_SIZE if rules == RULES_15 else DRAFT_SIZE


cdef int choice_actions(int rules) noexcept nogil:
    return CONSTRUCT_OFFER if rules == RULES_15 else DRAFT_OFFER


cdef bint choice_is_legal(const choice_t* c, int pick) noexcept nogil:
    cdef int i, copies = 0
    if c.n >= MAX_DECK:
        return False
    if c.rules != RULES_15:
        return 0 <= pick < DRAFT_OFFER
    if not 0 <= pick < c.n_cards:
        return False
    for i in range(c.n):
        copies += c.deck[i] == pick
    return copies < COPIES


cdef int choice_first(const choice_t* c) noexcept nogil:
    cdef int pick = 0
    while not choice_is_legal(c, pick):
        pick += 1
    return pick


cdef int choice_card(const choice_t* c, int pick) noexcept nogil:
    return pick if c.rules == RULES_15 else c.triplets[c.n][pick]


cdef void write_cards(int8_t* out, const card_t* cards, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        write_card(out + HAND_ROW * i, &cards[i])


cdef void write_choice(int8_t* out, const choice_t* c) noexcept nogil:
    cdef int32_t draws = 0
    cdef int8_t* pile
    cdef int i
    if c.rules == RULES_15:
        memset(out + HAND_ROW * c.n_cards, 0, CONSTRUCT_SIZE - HAND_ROW * c.n_cards)
        memcpy(out, c.shown, HAND_ROW * c.n_cards)
        out += HAND_ROW * CONSTRUCT_OFFER
        for i in range(c.n):
            out[c.deck[i]] += 1
        pile = out + CONSTRUCT_OFFER
    else:
        memset(out, 0, DRAFT_SIZE)
        if c.n < MAX_DECK:
            for i in range(DRAFT_OFFER):
                memcpy(out + HAND_ROW * i, c.shown + HAND_ROW * c.triplets[c.n][i], HAND_ROW)
        out += HAND_ROW * DRAFT_OFFER
        for i in range(c.n):
            memcpy(out + HAND_ROW * i, c.shown + HAND_ROW * c.deck[i], HAND_ROW)
        pile = out + HAND_ROW * MAX_DECK
    for i in range(c.n):
        count_card(pile, &draws, &c.cards[c.deck[i]], 1)
    pile[PILE] = <int8_t>c.n


cdef void write_choice_mask(int8_t* out, const choice_t* c) noexcept nogil:
    cdef int8_t left[CONSTRUCT_OFFER]
    cdef int i
    if c.rules != RULES_15:
        memset(out, 1, DRAFT_OFFER)
        return
    memset(out, 0, CONSTRUCT_OFFER)
    memset(left, COPIES, CONSTRUCT_OFFER)
    memset(out, 1, c.n_cards)
    for i in range(c.n):
        left[c.deck[i]] -= 1
        out[c.deck[i]] = left[c.deck[i]] > 0


cdef void write_choice_hidden(
    int8_t* out, const choice_t* c, const uint8_t* other, int m
) noexcept nogil:
    cdef int8_t* decks = out + HAND_ROW * 2 * MAX_HAND
    cdef int i
    memset(out, 0, HIDDEN_ROWS * HAND_ROW)
    for i in range(c.n):
        memcpy(decks + HAND_ROW * i, c.shown + HAND_ROW * c.deck[i], HAND_ROW)
    for i in range(m):
        memcpy(decks + HAND_ROW * (MAX_DECK + i), c.shown + HAND_ROW * other[i], HAND_ROW)
