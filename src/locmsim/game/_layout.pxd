# The writers of all observation layouts: a player's view of a position, as numbers.
#
# A layout reads a state and a `view_t`. The view holds what the state does not contain, or what
# would take long to compute: history (which creatures were summoned this turn, which cards the
# opponent has shown) and counts over decks. `known_t` is updated with every action, for both
# players.
#
# No writer reads the opponent's hand, the order of a deck or the contents of the opponent's deck.
# Table entries are used for lookups but never written out: they would reveal the order of decks.

from libc.stdint cimport int8_t, int32_t, uint8_t, uint64_t

from locmsim._core cimport MAX_BOARD, MAX_CARDS, MAX_HAND, card_t, state_t, table_t
from locmsim.game._match cimport match_t

cdef enum:                      # layouts
    ENTITIES = 0                # int8
    GYM_LOCM = 1                # float
    ENTITIES_F32 = 2            # float

cdef enum:
    HAND_ROW = 24               # numbers of a card in hand
    BOARD_ROW = 16              # ... of a creature
    PILE = 16                   # numbers that sum up a pile of cards
    KNOWN_ENTRIES = 64          # table entries for which history can be kept
    HIDDEN_ROWS = 76            # cards in two hands and two decks
    GYM_LOCM_SIZE_15 = 244
    GYM_LOCM_SIZE_12 = 238
    STAT_LIMIT = 1000           # integers behind the floats of "gym-locm" are clipped to this

cdef enum:                      # where the parts of "entities" begin
    OWN = 0                     # the player
    ENEMY = 8                   # the opponent
    GAME = 16
    HAND_START = 24
    OWN_BOARD_START = HAND_START + MAX_HAND * HAND_ROW
    ENEMY_BOARD_START = OWN_BOARD_START + MAX_BOARD * BOARD_ROW
    DECK = ENEMY_BOARD_START + MAX_BOARD * BOARD_ROW      # a pile: the player's deck
    SEEN = DECK + PILE          # ... the cards that the opponent has shown
    ENTITIES_SIZE = SEEN + PILE

ctypedef struct known_t:        # entries as bits: tables of at most KNOWN_ENTRIES cards
    uint64_t began[2][2]        # [player][copy]: creatures on board when their last turn began
    uint64_t drawn[2]           # cards that they drew at that time
    int8_t deck[2][PILE]        # what is left of their deck
    int8_t seen[2][PILE]        # the cards that they have shown
    int32_t draws[2][2]         # [deck, seen][player]: sum of `draw` of those cards, not clipped
    uint8_t n_seen[2]            # how many cards they have shown
    uint8_t actions             # actions in this turn so far
    uint8_t costs[KNOWN_ENTRIES]
    # Rows of the hand without the column "affordable"; zeros beyond the hand.
    int8_t hand[2][MAX_HAND + 1][HAND_ROW]
    # Fields that only a draw reads.
    uint8_t left[KNOWN_ENTRIES]     # cards equal to this one in its player's deck
    uint8_t equal[KNOWN_ENTRIES]    # the next of its player's equal cards, in a ring

ctypedef struct past_t:         # history of a position, independent of its hidden cards
    uint8_t began[2]            # [player]: slots of creatures on board when their last turn began
    uint8_t drawn               # hand positions of the cards that the player to move drew last
    uint8_t n_seen[2]            # as in `known_t`
    uint8_t actions
    int8_t seen[2][PILE]
    int32_t draws[2]            # sum of `draw` of the cards that they have shown

# Starts at a state without history. For tables of at most 64 entries.
cdef void known_start(known_t* k, const state_t* s, const table_t* t) noexcept nogil
# Starts with the history of another state with the same visible cards; and returns that history.
cdef void known_resume(
    known_t* k, const state_t* s, const table_t* t, const past_t* past) noexcept nogil
cdef void past_of(past_t* past, const known_t* k, const state_t* s) noexcept nogil
# Rewrites the rows of a player's hand after `drawn` has changed.
cdef void known_hand(known_t* k, const state_t* s, const table_t* t, int who) noexcept nogil
# Applies a legal action and updates what is known.
cdef void known_apply(known_t* k, state_t* s, const table_t* t, int action) noexcept nogil

# Adds a card to a pile (n = 1) or removes it (n = -1); `draws` is the pile's sum, not clipped.
cdef void count_card(int8_t* pile, int32_t* draws, const card_t* c, int n) noexcept nogil

# Writes the HAND_ROW numbers of a card without anything that depends on a position.
cdef void write_card(int8_t* row, const card_t* c) noexcept nogil

cdef int layout_size(int layout, int rules) noexcept nogil      # numbers; 0: not for these rules
cdef int layout_item(int layout) noexcept nogil                 # bytes of one number
# Writes what a player sees of a position with its history.
cdef void write_known(
    int layout, void* out, const known_t* k, const state_t* s, const table_t* t, int who
) noexcept nogil
# Writes all cards in hands and decks as rows like those of the hand in "entities", those of `who`
# first; decks are in draw order. For critics that may know everything.
cdef void write_hidden(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil
# Writes 1 for each legal action of `who`; only PASS if the game is over or the other is to move.
cdef void write_mask(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil

# The layout of the choice phase: what is on offer, what the player has picked, and how many cards.
cdef int choice_size(int rules) noexcept nogil      # numbers of the layout
cdef int choice_actions(int rules) noexcept nogil
cdef void write_cards(int8_t* out, const card_t* cards, int n) noexcept nogil     # as such rows
# `rows` are the cards of the set as `write_cards` writes them. The mask is for a player who has
# not picked all cards yet.
cdef void write_choice(
    int8_t* out, const match_t* m, int who, const int8_t* rows) noexcept nogil
cdef void write_choice_mask(int8_t* out, const match_t* m, int who) noexcept nogil
cdef void write_choice_hidden(
    int8_t* out, const match_t* m, int who, const int8_t* rows) noexcept nogil
