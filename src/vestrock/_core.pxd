# The match of Vestrock: plain structs, nogil functions on them, a thin class.
#
# Section numbers are those of docs/vestrock/rules.md. Player 0 moves in odd turns ("first"), player
# 1 in even ones. Cards go by their rank in the order of IDs, 0..n-1 (`index`): lists by ascending
# ID, which the protocol wants, are then lists by ascending index, and equal positions of one table
# have equal bytes.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

# Changes whenever the layout of a struct or the meaning of a field changes.
cpdef enum:
    ABI_VERSION = 1

cdef enum:                      # limits (section 2)
    MAX_CARDS = 1000            # cards of a deck; also the highest ID
    TERMINAL_PLAYER = -4        # current player of a finished match, as in OpenSpiel

cdef enum:                      # card types, in the order of `deck.TYPES`
    CREATURE = 0
    HEAL = 1
    DAMAGE = 2
    TAKE = 3
    BUFF = 4
    DEACTIVATE = 5

cdef enum:                      # phases
    BLOCKING = 0
    ACTION = 1

cdef enum:                      # flags of a creature
    ACTIVE = 1
    ATTACKING = 2               # its owner ordered an attack in their last turn
    BLOCKED = 4                 # that attack has been blocked in this blocking phase

cdef enum:                      # kinds of action, in the order of their numbers
    END_TURN = 0
    FINISH_BLOCK = 1
    DRAW = 2
    BURN = 3
    DISCARD = 4                 # from here on with cards
    ADD_MANA = 5
    ATTACK = 6
    PLAY = 7
    BLOCK = 8

cdef enum:                      # targets of PLAY beyond the cards, as offsets from n
    TO_MOVER = 0                # -5 in commands
    TO_OPPONENT = 1             # -6
    TO_NOTHING = 2              # -1
    TO_WRONG = 3                # any other number <= 0
    TO_UNKNOWN = 4              # an ID that is in no zone of this match


# ---- the table: what never changes in a match; shared by all its states --------------------------

ctypedef struct card_t:         # 8 bytes
    uint8_t type
    int8_t attack               # D, T: K; B: A
    int8_t health               # H: K; B: B
    int8_t max_health
    int8_t cost
    int8_t mana                 # what tapping the creature gives
    uint16_t id

ctypedef struct table_t:
    int32_t n                   # cards
    int32_t hand_cap            # capacity of each hand in a state: min(hand_limit, n)
    int32_t board_at            # offset of the creatures in a state, in bytes
    int32_t state_size          # bytes of a state with all creatures of the deck on the boards
    int32_t init_hp
    int32_t turns               # of both players together
    int32_t draws               # per turn
    int32_t burns
    int32_t hand_limit
    int32_t first_play          # action numbers: the first PLAY, the first BLOCK, how many
    int32_t first_block
    int32_t n_actions
    card_t cards[MAX_CARDS]     # by index
    uint16_t order[MAX_CARDS]   # by place in the deck, top first: index
    uint16_t place[MAX_CARDS]   # the inverse


# ---- state: no pointers; copied by `state_copy`, never by assignment -----------------------------
# A header, then hand_cap indices for each player, then the creatures without a gap: those of player
# 0, then those of player 1, ascending. Unused places are not defined and not compared.

ctypedef struct creature_t:     # 16 bytes
    uint16_t card               # index
    uint16_t flags
    int32_t attack              # every card adds at most 100 to anything: 32 bits hold all sums
    int32_t health              # 1..max_health
    int32_t max_health

ctypedef struct state_t:        # 36 bytes
    int32_t health[2]
    int32_t mana                # the mover's
    int32_t draws               # left this turn
    int32_t burns
    uint16_t turn               # from 1; player (turn - 1) & 1 is to move
    uint16_t deck_pos           # cards that have left the deck, which they do at the top only
    uint16_t n_hand[2]
    uint16_t n_board[2]
    uint8_t phase
    uint8_t over
    uint16_t _pad


# ---- functions: all run without the GIL, and none can fail ---------------------------------------

cdef inline int mover_of(const state_t* s) noexcept nogil:
    return (s.turn - 1) & 1

cdef inline uint16_t* hand_of(const state_t* s, const table_t* t, int p) noexcept nogil:
    return <uint16_t*>(<char*>s + sizeof(state_t)) + p * t.hand_cap

cdef inline creature_t* board_of(const state_t* s, const table_t* t) noexcept nogil:
    return <creature_t*>(<char*>s + t.board_at)

# The creatures of player p.
cdef inline creature_t* side_of(const state_t* s, const table_t* t, int p) noexcept nogil:
    return board_of(s, t) + (s.n_board[0] if p else 0)

cdef inline int used_size(const state_t* s, const table_t* t) noexcept nogil:
    return t.board_at + <int>sizeof(creature_t) * (s.n_board[0] + s.n_board[1])

# The places of creatures (p_own, p_enemy, place) count from the start of `board_of`.
cdef void state_start(state_t* s, const table_t* t) noexcept nogil
cdef void state_copy(state_t* to, const state_t* s, const table_t* t) noexcept nogil
cdef int state_score(const state_t* s, const table_t* t, int p) noexcept nogil
cdef void finish_block(state_t* s, const table_t* t) noexcept nogil
cdef void end_turn(state_t* s, const table_t* t) noexcept nogil
cdef void fight(state_t* s, const table_t* t, int p_enemy, int p_own) noexcept nogil
cdef void draw_card(state_t* s, const table_t* t) noexcept nogil
cdef void burn_card(state_t* s) noexcept nogil
cdef void discard_card(state_t* s, const table_t* t, int h) noexcept nogil
cdef void tap(state_t* s, const table_t* t, int place) noexcept nogil
cdef void attack_with(state_t* s, const table_t* t, int place) noexcept nogil
# Plays the card at hand position h. `target` is the place of a creature, or -5, -6 or -1 as in
# commands.
cdef void play_card(state_t* s, const table_t* t, int h, int target) noexcept nogil
cdef int place_of(const state_t* s, const table_t* t, int card) noexcept nogil    # or -1
cdef int hand_place(const state_t* s, const table_t* t, int p, int card) noexcept nogil

# Actions are numbers as in section 7; those given to state_apply must be legal.
cdef int state_bound(const state_t* s, const table_t* t) noexcept nogil      # >= legal actions
cdef int state_list(const state_t* s, const table_t* t, int32_t* out) noexcept nogil
cdef bint state_legal(const state_t* s, const table_t* t, int action) noexcept nogil
cdef void state_apply(state_t* s, const table_t* t, int action) noexcept nogil
# Executes a command of the mover; returns 0 or the number of the error (section 6).
cdef int state_command(state_t* s, const table_t* t, int kind, int a, int b) noexcept nogil
cdef int state_rollout(
    state_t* s, const table_t* t, uint64_t* stream, int32_t* buffer) noexcept nogil
cdef int action_of(const table_t* t, int kind, int a, int b) noexcept nogil

# Random numbers (splitmix64).
cdef inline uint64_t stream_next(uint64_t* stream) noexcept nogil:
    cdef uint64_t x
    stream[0] += 0x9E3779B97F4A7C15ULL
    x = stream[0]
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL
    return x ^ (x >> 31)

# A number below n, n < 2**32; its bias is below n / 2**32.
cdef inline uint32_t stream_below(uint64_t* stream, uint32_t n) noexcept nogil:
    return <uint32_t>(((stream_next(stream) >> 32) * n) >> 32)

cdef inline uint64_t stream_start(uint64_t seed, uint64_t number) noexcept nogil:
    cdef uint64_t stream = seed
    stream = stream_next(&stream) ^ (number * 0xD1342543DE82EF95ULL)
    return stream_next(&stream)


cdef class Table:
    cdef table_t t
    cdef readonly tuple cards           # top of the deck first
    cdef readonly bytes fingerprint     # 16 bytes, equal iff cards and parameters are
    cdef list by_index                  # the cards by ascending ID
    cdef dict indices                   # ID -> index


cdef class State:
    cdef readonly Table table
    cdef table_t* t
    cdef state_t* s
