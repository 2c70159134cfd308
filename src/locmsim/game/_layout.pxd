# What a player sees of a position, as numbers: the writers of all observation layouts.
#
# A layout reads a state and a `view_t`. The view holds what the state alone does not tell, or not
# quickly: what has happened (which creatures came this turn, which cards the opponent has shown)
# and counts over decks. `known_t` keeps that up to date from action to action, for both players.
#
# No writer looks at the opponent's hand, at the order of a deck or at what the opponent's deck is
# made of. Entries of a table are looked up, never written: they would tell the order of decks.

from libc.stdint cimport int8_t, int32_t, uint8_t, uint64_t

from locmsim._core cimport MAX_CARDS, MAX_HAND, card_t, state_t, table_t

cdef enum:                      # layouts
    ENTITIES = 0                # int8
    GYM_LOCM = 1                # float
    ENTITIES_F32 = 2            # float

cdef enum:
    ENTITIES_SIZE = 440
    HAND_ROW = 24               # numbers of a card in hand
    PILE = 16                   # numbers that sum up a pile of cards
    KNOWN_ENTRIES = 64          # of a table whose history is known
    HIDDEN_ROWS = 76            # cards: two hands, two decks
    GYM_LOCM_SIZE_15 = 244
    GYM_LOCM_SIZE_12 = 238
    STAT_LIMIT = 1000           # floats of "gym-locm" are cut where their integers leave this

ctypedef struct known_t:        # entries as bits: tables of at most KNOWN_ENTRIES cards
    uint64_t began[2][2]        # [player][copy]: on their board when their last turn began
    uint64_t drawn[2]           # cards that they drew then
    int8_t deck[2][PILE]        # what is left of their deck
    int8_t seen[2][PILE]        # the cards that they have shown
    int32_t draws[2][2]         # [deck, seen][player]: cards that those draw, without a limit
    uint8_t shown[2]            # number of the cards that they have shown
    uint8_t actions             # of the player to move, in this turn
    uint8_t costs[KNOWN_ENTRIES]
    int8_t hand[2][MAX_HAND + 1][HAND_ROW]  # but for what is affordable; zeros beyond the hand
    # What only a draw looks at.
    uint8_t left[KNOWN_ENTRIES]     # cards equal to this one in its player's deck
    uint8_t equal[KNOWN_ENTRIES]    # the next one of its player's equal cards, in a ring

ctypedef struct past_t:         # what has happened up to a position, whatever its hidden cards are
    uint8_t began[2]            # [player]: slots of creatures there when their last turn began
    uint8_t drawn               # places in hand whose cards the player to move has drawn last
    uint8_t shown[2]            # as in `known_t`
    uint8_t actions
    int8_t seen[2][PILE]
    int32_t draws[2]            # of the cards that they have shown

# What is known at a state whose past is not: no history. For tables of at most 64 entries.
cdef void known_start(known_t* k, const state_t* s, const table_t* t) noexcept nogil
# ... with a past that another state of the same visible cards had; and that past.
cdef void known_resume(
    known_t* k, const state_t* s, const table_t* t, const past_t* past) noexcept nogil
cdef void past_of(past_t* past, const known_t* k, const state_t* s) noexcept nogil
# The rows of the cards in a player's hand, after `drawn` has been changed.
cdef void known_hand(known_t* k, const state_t* s, const table_t* t, int who) noexcept nogil
# Apply a legal action and keep up what is known.
cdef void known_apply(known_t* k, state_t* s, const table_t* t, int action) noexcept nogil

# Add a card to a pile, or take it away (n = -1); `draws` is what the pile draws, without a limit.
cdef void count_card(int8_t* pile, int32_t* draws, const card_t* c, int n) noexcept nogil

# The row of a card of which nothing depends on a position, HAND_ROW numbers.
cdef void write_card(int8_t* row, const card_t* c) noexcept nogil

cdef int layout_size(int layout, int rules) noexcept nogil      # numbers; 0 if there is no such
cdef int layout_item(int layout) noexcept nogil                 # bytes of one
# What a player sees of a position with its past.
cdef void write_known(
    int layout, void* out, const known_t* k, const state_t* s, const table_t* t, int who
) noexcept nogil
# All cards in hands and decks, as rows of hands in "entities", those of `who` first; decks in the
# order of drawing. For critics that may know everything.
cdef void write_hidden(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil
# 1 for each legal action of `who`; PASS only if the game is over or the other one is to move.
cdef void write_mask(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil
