# The battle of Legends of Code and Magic: plain structs, nogil functions on them, a thin class.
#
# Read this file from top to bottom; the functions are in _core_rules.pxi, _core_text.pxi and
# _core_hidden.pxi, which _core.pyx includes. Section numbers refer to docs/rules.md. `p` is a
# player (0 or 1), `me` the player to move, `op` the other one.
#
# Each table has one rule set, known at run time. Functions that must be fast take it as a literal
# (`rules`) and are inlined, so that each rule set gets its own code from one source.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from locmsim._platform cimport lowest_bit_

# Changes whenever the layout of a struct or the meaning of a field changes. Compiled code that
# cimports this file should compare it with `locmsim.ABI_VERSION` when it is imported.
cpdef enum:
    ABI_VERSION = 6

cdef enum:                      # rule sets
    RULES_15 = 0
    RULES_12 = 1
    RULES_10 = 2

cdef enum:                      # limits (section 0)
    MAX_DECK = 30
    COPIES_PER_CARD = 2         # in a deck of 1.5
    OFFER_SIZE = 120            # cards of the offer in 1.5 at most, the most rows of a text
    DRAFT_OFFER = 3             # ... of an offer in 1.x
    MAX_HAND = 8
    MAX_BOARD = 6               # creatures of one player; 3 a lane, or 6 in the one lane of 1.0
    MAX_MANA = 12
    TURN_LIMIT = 50
    PLAYOUT_TURNS = 1000        # turns of both players after which a playout stops (section 14)
    MAX_CARDS = 256             # entries of a table
    POOL_ID = 255               # instance id of pool entries, which are not instances
    TWO_LANE_ACTIONS = 145      # action numbers of 1.5 and 1.2 are below this,
    MAX_ACTIONS = 155           # ... those of all rule sets below this: see `num_actions`
    MAX_ACTION_TEXT = 32        # characters of an action, more than enough
    TERMINAL_PLAYER = -4        # current player of a finished game, as in OpenSpiel
    # The greatest |attack| or |defense| that Card's bounds allow, 500 printed + 60 items of 500:
    MAX_STAT = 30500            # fits 16 bits; health needs 32
    MAX_CARD_STAT = 500         # |attack|, |defense|, |health change| that a card can have

cdef enum:                      # card types
    CREATURE = 0
    GREEN = 1
    RED = 2
    BLUE = 3

cdef enum:                      # targets of a card, the low bits of its `cost_kind`; 0: a creature
    IS_BLUE = 1                 # it can be used on a player
    IS_GREEN = 2                # ... on the player's creatures
    ON_ENEMIES = 4              # ... on enemy creatures: red and blue items

cdef enum:                      # keywords, the letters of "BCDGLW" from the lowest bit
    BREAKTHROUGH = 1
    CHARGE = 2
    DRAIN = 4
    GUARD = 8
    LETHAL = 16
    WARD = 32

cdef enum:                      # areas (1.5)
    AREA_TARGET = 0
    AREA_LANE1 = 1
    AREA_LANE2 = 2

cdef enum:                      # kinds of action, see `move_t`
    PASS = 0
    SUMMON = 1
    USE = 2
    ATTACK = 3

cdef enum:                      # masks in `player_t.marks`, as shifts
    READY = 0
    OCCUPIED = 6
    GUARDED = 12
    SPENT = 18


# ---- cards -------------------------------------------------------------------------------------

ctypedef struct creature_t:     # 8 bytes: closing a gap moves one word per creature
    int16_t attack
    int16_t defense             # 0 in an empty slot, like all other fields
    uint8_t card                # table entry
    uint8_t keywords
    uint8_t copy                # 1: area copy, its id is the entry's id + 1 (section 7)
    uint8_t forgotten           # 1.x: the protocol shows 0 for my/opp/draw (section 9)

ctypedef struct card_t:         # one entry of the table: a card and its instance id
    int16_t attack
    int16_t defense
    int16_t my_health           # health change of the player who plays the card
    int16_t opponent_health     # ... and of the other player
    uint8_t cost                # mana, 0..127
    uint8_t draw                # cards added to the next draw
    uint8_t type
    uint8_t keywords
    uint8_t area
    uint8_t id                  # instance id 0..254 (an area copy has id + 1); 255 in pool entries
    uint16_t base_id
    # The fields below are derived: see `complete_card`.
    creature_t creature         # as it enters the board
    uint32_t marks              # ... and its marks, in slot 0
    uint32_t cost_kind          # ... and its byte of `player_t.cost_kinds`, at hand position 0

ctypedef struct table_t:        # immutable; shared by all clones of a state
    int32_t rules               # RULES_15, RULES_12 or RULES_10
    int32_t n_instances
    int32_t n_cards
    int32_t _pad[5]             # so that no card lies across two cache lines
    # First the instances of the game, then the pool (each card once): a hidden card may be replaced
    # by any entry, including those of the pool. This field is the last one, and nothing beyond the
    # last card is read (but the first entry, if there is none): see `short_table_t`.
    card_t cards[MAX_CARDS]

cdef enum:
    SHORT_CARDS = 64

ctypedef struct short_table_t:  # a table of few cards, where many are stored: see `table_of_short`
    int32_t rules
    int32_t n_instances
    int32_t n_cards
    int32_t _pad[5]
    card_t cards[SHORT_CARDS]


# ---- state: 256 bytes, no pointers; equal positions of one table have equal bytes ---------------

ctypedef struct player_t:       # 96 bytes
    # Hand, in draw order without gaps; byte h of each word belongs to position h and is 0 beyond
    # the hand. It is packed because removing a card is then a shift, and a few operations find for
    # all cards at once which are affordable and what they can be used on.
    uint64_t hand               # table entries
    uint64_t cost_kinds         # 8 * (15 - cost), cost at most 14, plus the bits above
    # Board: slot 3*lane + i (1.0: slot i), in summon order and without gaps within a lane. The four
    # masks of six slots are packed: the end of a turn, a removal or an attack changes them all at
    # once, and two neighbouring masks form one index into a lookup table.
    uint32_t marks              # READY (can attack), OCCUPIED, GUARDED (Guard), SPENT (attacked)
    creature_t board[MAX_BOARD]
    int32_t health
    int32_t lost                # 1.5: health lost since their last draw; 5 give a card. 1.x: 0
    int32_t next_draw           # cards to draw at their next turn, without those for `lost`
    int32_t shown_draw          # the number that the protocol prints for them (section 9)
    uint8_t mana                # left this turn
    uint8_t max_mana
    uint8_t bonus               # 1 while they hold the second player's bonus mana
    uint8_t hand_size
    uint8_t deck_left
    uint8_t runes               # 1.x: bit i = the rune at health 5 * (i + 1) is left. 1.5: 0
    uint8_t order               # summon order over both lanes: a 1, then each creature's lane
    uint8_t won                 # this player has won
    uint32_t _pad

ctypedef struct state_t:        # 256 bytes
    uint8_t deck[2][MAX_DECK]   # table entries in draw order, the last at MAX_DECK - 1; 0 = drawn
    int32_t turn                # counted from 0 over both players; player turn & 1 is to move
    player_t p[2]


# ---- actions -----------------------------------------------------------------------------------
# An action is a number < MAX_ACTIONS as in docs/rules.md, section 12; `move_t` is its decoded form.

ctypedef struct move_t:
    uint8_t kind
    uint8_t source              # SUMMON, USE: hand position; ATTACK: own slot
    uint8_t target              # SUMMON: lane; USE: 0 player, 1 + own slot, 7 + enemy slot;
    uint8_t _pad                # ATTACK: 0 player, 1 + enemy slot


# ---- small functions that are inlined everywhere -------------------------------------------------

cdef extern from *:
    """
    /* A one in each of the eight bytes. */
    #define BYTES 0x0101010101010101ULL
    """
    const uint64_t BYTES


cdef inline int num_actions(int rules) noexcept nogil:
    """Return one more than the highest action number."""
    return MAX_ACTIONS if rules == RULES_10 else TWO_LANE_ACTIONS


cdef inline int clip(int x, int most) noexcept nogil:
    """Bring a number into -most..most."""
    return most if x > most else -most if x < -most else x


cdef inline const card_t* hand_card(const player_t* p, const table_t* t, int h) noexcept nogil:
    """Return the card at a hand position."""
    return &t.cards[p.hand >> 8 * h & 255]


cdef inline int player_next_draw(const player_t* p) noexcept nogil:
    """Return the cards that a player will draw at the start of their next turn, those for lost
    health included (section 5)."""
    return p.next_draw + <int>(<uint32_t>p.lost // 5)


cdef inline int player_after_draw(
    const player_t* p, int rules, int* hand, int* deck
) noexcept nogil:
    """Return a player's health after their next draw, and the sizes of hand and deck then.

    In 1.x each missing card is counted as the damage of a rune, 5.
    """
    cdef int draws = player_next_draw(p)
    cdef int drawn = MAX_HAND - p.hand_size
    if drawn > draws:
        drawn = draws
    if drawn > p.deck_left:
        drawn = p.deck_left
    hand[0] = p.hand_size + drawn
    deck[0] = p.deck_left - drawn
    if draws > drawn and hand[0] < MAX_HAND:
        return p.health - (10 if rules == RULES_15 else 5) * (draws - drawn)
    return p.health


cdef inline int state_next_draw(const state_t* s, int p) noexcept nogil:
    """Return the cards that player p will draw in all."""
    return player_next_draw(&s.p[p])


cdef inline uint64_t affordable_cards(const player_t* p) noexcept nogil:
    """Byte h is 1 if the player can pay for the card at hand position h, and 0 beyond the hand."""
    # The top bit of 8 * (15 - cost) + 8 * (mana + 1) + (0..7) says it. There is no carry.
    return (p.cost_kinds + <uint64_t>(8 * p.mana + 8) * BYTES) >> 7 & BYTES


cdef inline uint32_t bits_of(uint64_t bytes) noexcept nogil:
    """Return the bits of eight bytes that are each 0 or 1."""
    # The multiplication gathers the lowest bits of the eight bytes in the highest byte.
    return <uint32_t>(bytes * 0x0102040810204080ULL >> 56)


cdef inline int append_card(table_t* t, const card_t* c, int id) noexcept nogil:
    """Append a complete card to a table that has room, with an id; return its entry."""
    cdef int entry = t.n_cards
    t.cards[entry] = c[0]
    t.cards[entry].id = <uint8_t>id
    t.cards[entry].creature.card = <uint8_t>entry
    t.n_cards = entry + 1
    return entry


cdef inline uint32_t lane_slots(int slot, bint one) noexcept nogil:
    """Return the slots in the lane of a slot; `one`: all are in one lane (1.0)."""
    return 63 if one else 7 if slot < 3 else 56


cdef inline table_t* table_of_short(short_table_t* t) noexcept nogil:
    """Return a short table as a table, which has the same fields; its missing cards are never read.
    """
    return <table_t*>t


# ---- functions: all run without the GIL, and none can fail ---------------------------------------
# `state_apply` does not check actions: they must be legal.

cdef int state_player(const state_t* s) noexcept nogil              # 0 or 1, who is to move
cdef int state_winner(const state_t* s) noexcept nogil             # 0 or 1; -1 while nobody has won
cdef move_t decode_action(const table_t* t, int action) noexcept nogil
cdef int encode_action(const table_t* t, move_t m) noexcept nogil    # ... and back

# Legal actions (section 6). These functions ignore whether somebody has won.
cdef int state_count(const state_t* s, const table_t* t) noexcept nogil
# Lists them in ascending order and returns their number. `actions` holds MAX_ACTIONS + 1.
cdef int state_list(const state_t* s, const table_t* t, uint8_t* actions) noexcept nogil
# The k-th, 0 <= k < count, in another fixed order: PASS, attacks, cards in hand order.
cdef int state_kth(const state_t* s, const table_t* t, int k) noexcept nogil
cdef bint state_is_legal(const state_t* s, const table_t* t, int action) noexcept nogil
# Writes the text of an action of the player to move, such as "ATTACK 36 -1" (section 8): at most
# MAX_ACTION_TEXT characters without a terminating zero. Returns their number; 0 if the action names
# an empty place.
cdef int state_write(const state_t* s, const table_t* t, int action, char* to) noexcept nogil

# Effects of actions (sections 4, 5 and 7).
cdef void state_apply(state_t* s, const table_t* t, int action) noexcept nogil
cdef void state_end_turn(state_t* s, const table_t* t) noexcept nogil
# The start of a battle: a player before their opening hand, and that hand (section 4).
cdef void player_start(player_t* p, int rules) noexcept nogil
cdef void state_draw_opening(state_t* s, const table_t* t, int p) noexcept nogil

# Uniformly random playouts (section 14). Game i of a seed has its own stream of random numbers.
cdef uint64_t stream_start(uint64_t seed, uint64_t i) noexcept nogil
cdef uint32_t stream_below(uint64_t* stream, uint32_t n) noexcept nogil
# Plays one to its end, overwriting `s`; returns the winner and adds its actions to `applied`.
cdef int state_rollout(
    state_t* s, const table_t* t, uint64_t stream, uint64_t* applied) noexcept nogil
cdef int playout_winner(const state_t* s) noexcept nogil    # of a playout that has ended or stopped
# Plays the rest of a turn of an unfinished game until PASS is drawn, which is not applied. The
# summon order over both lanes, which only the protocol shows, is lost: it is lane by lane then.
cdef void state_play_turn(state_t* s, const table_t* t, uint64_t* stream) noexcept nogil
cdef uint64_t state_perft(const state_t* s, const table_t* t, int depth) noexcept nogil
# Returns the invariant that does not hold; NULL if all hold.
cdef const char* state_fault(const state_t* s, const table_t* t) noexcept nogil


# ---- hashes --------------------------------------------------------------------------------------
# Hashes are the same on every machine. `turn_hash` ignores the order of cards and creatures, which
# depends on the order of a turn's actions; `state_hash` covers everything in `State.key`. Neither
# depends on the order of a table's entries. Searches call `turn_hash_by` at every node: it is
# inlined and takes keys of all cards.

cdef uint64_t state_hash(const state_t* s, const table_t* t) noexcept nogil
cdef uint64_t turn_hash(const state_t* s, const table_t* t) noexcept nogil


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    x *= 0x9E3779B97F4A7C15ULL
    return (x ^ x >> 29) * 0xBF58476D1CE4E5B9ULL


cdef inline uint64_t board_hash(const player_t* p, uint64_t salt, bint one) noexcept nogil:
    # A sum: the order within a lane makes no difference.
    cdef uint64_t total = 0, word
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef const creature_t* x
    cdef int slot
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        x = &p.board[slot]
        word = <uint64_t>(<uint32_t>x.attack & 0xFFFF)
        word |= <uint64_t>(<uint32_t>x.defense & 0xFFFF) << 16
        word |= <uint64_t>x.keywords << 32
        word |= <uint64_t>(p.marks >> READY >> slot & 1) << 40
        word |= <uint64_t>(p.marks >> SPENT >> slot & 1) << 41
        word |= <uint64_t>(slot >= 3 and not one) << 42
        total += mixed(word ^ salt)
    return total


cdef inline uint64_t turn_hash_by(
    const state_t* s, const table_t* t, const uint64_t* card_keys
) noexcept nogil:
    cdef int me = s.turn & 1
    cdef const player_t* p = &s.p[me]
    cdef const player_t* op = &s.p[1 - me]
    cdef uint64_t total, hand = p.hand
    cdef bint one = t.rules == RULES_10
    total = board_hash(p, 0x5555ULL << 44, one) + board_hash(op, 0xAAAAULL << 44, one)
    for _ in range(p.hand_size):
        total += card_keys[hand & 255]
        hand >>= 8
    total += mixed(<uint64_t><uint32_t>p.health << 32 | <uint32_t>op.health)
    total += mixed(<uint64_t>p.mana << 56 | <uint64_t>(p.next_draw & 0xFFFFF) << 28
                   | <uint64_t>(op.next_draw & 0xFFFFF) | 1ULL << 63)
    total += mixed(<uint64_t><uint32_t>p.lost << 32 | <uint32_t>op.lost | 1ULL << 63)
    return mixed(total)


cdef inline uint64_t hand_key(const card_t* c) noexcept nogil:
    """Return a random number for a card in hand, the same for all copies of a card."""
    return mixed((<uint64_t>c.base_id + 1) * 0xD6E8FEB86659FD93ULL)


cdef inline void fill_card_keys(uint64_t* keys, const table_t* t) noexcept nogil:
    """Write the key of each card of a table, as `turn_hash_by` needs them."""
    cdef int i
    for i in range(t.n_cards):
        keys[i] = hand_key(&t.cards[i])


# ---- instance ids (section 1) --------------------------------------------------------------------
# Nothing else knows how instances are numbered. In 1.5 cards have even ids, and an area copy has
# the id of its original plus one.

# The id of the i-th card of player `who`: in the order of the choice in 1.5, in draw order in 1.x.
cdef int card_id(int rules, int who, int i) noexcept nogil
# The player whose deck an id is from.
cdef int owner_of_id(int rules, int id) noexcept nogil
cdef int creature_id(const creature_t* x, const table_t* t) noexcept nogil


cdef inline bint is_copy_id(int rules, int id) noexcept nogil:
    return rules == RULES_15 and id & 1 != 0


cdef inline int original_id(int rules, int id) noexcept nogil:
    """Return the id of the card that an area copy was made from; that of any other is its own."""
    return id - is_copy_id(rules, id)


# Why the first n entries of a table, or the instances of a position, cannot be in one game; NULL if
# they can. Part of `state_fault`.
cdef const char* cards_fault(const table_t* t, int n) noexcept nogil
cdef const char* ids_fault(const state_t* s, const table_t* t) noexcept nogil


# ---- what a player is shown ----------------------------------------------------------------------

cdef enum:
    MAX_SHOWN_ACTIONS = 64      # of a turn; more than any rule set allows
    MAX_SHOWN_NUMBER = 1000000000   # bound of |value| of any field
    NO_TARGET = -2000000000
    OFFERED = -1                # instance id of all cards on offer

ctypedef struct shown_player_t:  # a player line of the protocol (section 9)
    int32_t health
    int32_t max_mana
    int32_t deck_size
    int32_t draw
    int32_t rune

ctypedef struct shown_card_t:   # a card row
    int32_t base_id
    int32_t id
    int32_t location            # 0 hand, 1 the player's board, -1 the opponent's
    int32_t type
    int32_t cost
    int32_t attack
    int32_t defense
    int32_t keywords
    int32_t my_health
    int32_t opponent_health
    int32_t draw
    int32_t area
    int32_t lane                # -1 off the board

ctypedef struct shown_action_t:  # an action of the opponent
    int32_t base_id
    int32_t kind                # SUMMON, USE or ATTACK
    int32_t id                  # instance id of the card
    int32_t target              # instance id, -1 for a player; SUMMON: the lane; or NO_TARGET

ctypedef struct shown_t:        # an observation
    int32_t rules
    shown_player_t player[2]    # the player, the opponent
    int32_t opponent_hand
    int32_t n_actions
    int32_t n_cards
    shown_action_t actions[MAX_SHOWN_ACTIONS]
    shown_card_t cards[OFFER_SIZE]

# What is wrong with the rows of an observation: ROWS_FIT, the number of a row that has no place, or
# ID_REPEATED more than the number of a row whose instance id occurs before. See `check_rows`.
ctypedef int rows_fault_t

cdef enum:
    ROWS_FIT = -1
    ID_REPEATED = 1000

# Writes a player, and a card, as what a player sees.
cdef void see_player(const player_t* p, shown_player_t* line) noexcept nogil
cdef void see_card(const card_t* c, int location, int lane, shown_card_t* row) noexcept nogil
# Writes what player `who` sees of a state, except the opponent's actions, which it does not know.
cdef void state_seen(const state_t* s, const table_t* t, int who, shown_t* o) noexcept nogil
# Writes the card of a row as entry `entry` of a table. A creature on the board does not show all
# printed values of its card; its present values stand for them, clipped to those a card may have.
cdef void card_of_row(card_t* c, const shown_card_t* row, int entry) noexcept nogil
cdef void complete_card(card_t* c, int entry) noexcept nogil
# Returns the first entry of a table with a base id; -1 if there is none.
cdef int entry_with(const table_t* t, int32_t base_id) noexcept nogil
# Makes a state of what a player sees: they are player `who`, at the start of their turn. The decks
# and the opponent's hand are empty. The table gets an entry for each row; on the boards that is a
# copy of the entry of `pool` with its base id if there is one (`pool` may be NULL). Returns what is
# wrong with the first row that cannot stand there.
cdef rows_fault_t state_show(
    state_t* s, table_t* t, const shown_t* o, int who, const table_t* pool) noexcept nogil
# Adds n equal cards to hidden places: on top of a player's deck, or to a hand.
cdef void state_fill_deck(state_t* s, int who, uint8_t entry, int n) noexcept nogil
cdef void state_fill_hand(
    state_t* s, const table_t* t, int who, uint8_t entry, int n) noexcept nogil

# Return `seed_bits`, the lowest 64 bits of an integer, and `player_number`, 0 or 1, as those of
# `locmsim.options.checks`, quickly for integers of Python.
cdef uint64_t seed_of(seed) except? 0
cdef int player_of(player) except -1

# Raise ``ValueError``, which names a field that no battle shows, and the first row that cannot
# stand there.
cdef int check_battle(const shown_t* o) except -1
cdef int check_rows(rows_fault_t fault, const shown_t* o) except -1


# ---- hidden information --------------------------------------------------------------------------

ctypedef struct slot_t:         # an equal part of all weights: see `fill_slots`
    uint32_t keep               # of 2^32 parts, those of the first candidate
    uint8_t entry[2]
    uint8_t group[2]

ctypedef struct unknown_t:      # a player's hidden places and candidates: see `Determinizer`
    int32_t viewer
    int32_t n[2]                # candidates for the hidden places of each player
    uint8_t entry[2][MAX_CARDS]     # ... their table entries
    uint8_t group[2][MAX_CARDS]     # ... the group that each belongs to; they stand together
    uint32_t weight[2][MAX_CARDS]   # ... how likely each is, 1..MAX_WEIGHT
    uint8_t copies[2][MAX_CARDS]    # [group]: cards that it gives, whichever of its candidates
    # The fields below are derived: see `complete_unknown`.
    int32_t fixed[2]            # hidden places, if the copies are exactly as many; otherwise 0
    uint8_t first[2][MAX_HAND + MAX_DECK]   # ... the first candidate of the group of each copy
    uint16_t size[2][MAX_HAND + MAX_DECK]   # ... and how many the group has
    slot_t slot[2][MAX_CARDS]   # for draws from each group, or otherwise from all candidates

cdef enum:
    MAX_WEIGHT = 65535

# Fills in the derived fields, for so many hidden places of the viewer and of the other player.
cdef void complete_unknown(unknown_t* u, int own_places, int other_places) noexcept nogil
# Redraws everything that u.viewer cannot see; `stream` comes from stream_start.
cdef void state_deal(
    state_t* s, const table_t* t, const unknown_t* u, uint64_t* stream) noexcept nogil
# Does `State.resample_hidden`. Returns 0; 1 if the pool is needed and empty; 2 if it lacks a card
# of the viewer's own deck. `check_resampled` raises ``ValueError`` for these.
cdef int state_resample(
    state_t* s, const table_t* t, int viewer, uint64_t* stream) noexcept nogil
cdef int check_resampled(int fault) except -1


# ---- classes -----------------------------------------------------------------------------------

cdef class Table:
    cdef table_t t
    cdef list cards             # the `Card` of each entry; None where it was not needed yet
    cdef bytes sealed           # what `to_bytes` wrote last; None before
    cdef bint of_decks          # the pool was not given: it is that of both decks, which are hidden
    cdef bint is_made           # nothing may change it any more
    cdef int add(self, card, int id) except -1
    cdef int append(self, const card_t* c, int id, card) except -1
    cdef int complete_with_pool(self, pool) except -1
    cdef object card(self, int entry)
    cdef bytes pack(self)

cdef class State:
    cdef state_t s
    cdef readonly Table table
    cdef int viewer(self, player) except -1

cdef class Shown:               # the base class of `Observation`
    cdef shown_t o

cdef class Determinizer:
    cdef unknown_t u
    cdef State state

# Does `State.from_observation`, overwriting a state and a table.
cdef int fill_from_observation(state_t* s, table_t* t, Shown observation) except -1
