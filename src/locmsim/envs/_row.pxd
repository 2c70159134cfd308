# A row of `locmsim.envs._env`: an episode of a match, and all that an environment keeps beside it.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from locmsim._core cimport MAX_DECK, PASS, card_t, player_t, shown_action_t, state_t, table_t
from locmsim.envs._choice cimport choice_t
from locmsim.envs._deal cimport MAX_SEEDS, MAX_SET
from locmsim.envs._numpy_stream cimport numpy_t
from locmsim.envs._potentials cimport N_POTENTIALS
from locmsim.envs._searcher cimport searcher_t
from locmsim.game._layout cimport known_t
from locmsim.game._turn_view cimport short_table_t

cdef enum:                      # what a row waits for
    NOTHING = 0
    CARD_SET = 1
    DECKS = 2
    OPPONENT = 3                # Python plays
    SEARCH = 4                  # a turn of its opponent, which any thread can play
    BATTLES = 5                 # those of decks that have been chosen, as far as threads can play

cdef enum:                      # where it is
    IN_STEP = 0
    IN_RESET = 1
    OVER = 2                    # ended, and not begun again

cdef enum:                      # what an episode is
    BATTLE_EPISODE = 0
    CHOICE_EPISODE = 1          # thirty picks; others play battles with the decks
    MATCH_EPISODE = 2           # ... the battle goes on in the row

cdef enum:                      # phases
    IN_BATTLE = 0
    IN_CHOICE = 1

cdef enum:                      # who plays where
    RANDOM_SEAT = 0
    FIRST = 1
    SECOND = 2
    ALTERNATE = 3

cdef enum:                      # illegal actions
    LOSE = 0
    AS_PASS = 1

cdef enum:                      # when an ended game begins again
    NEXT_STEP = 0
    SAME_STEP = 1
    DISABLED = 2

cdef enum:                      # where decks come from
    RANDOM_DECKS = 0
    FIXED_DECKS = 1             # of the row's card set, or of the environment
    ASKED_DECKS = 2             # Python chooses

cdef enum:
    SLOTS = 64                  # players of the table, with those that episodes still go on against
    MAX_ACTS = 48               # of one turn: cards in hand, attacks
    EXTERNAL = -1               # a player that Python asks
    SEARCHES = -2               # ... that a compiled search plays for, where all cards are known
    CALLER = -3                 # ... whose actions are those of `advance`
    REFEREES_LIMIT = 1400       # actions of a battle after which the referee of 1.5 ends it
    ALIGNMENT = 64
    HOT_BYTES = 512             # of a row, without the hands and what only a draw looks at
    AHEAD = 6                   # rows that are fetched ahead
    CARDS_AHEAD = 3             # ... their cards, when they are there

ctypedef struct end_t:          # of an episode
    int64_t seed
    int64_t seeds[MAX_SEEDS]
    int64_t set
    int32_t length
    int32_t turn                # -1: it ended in the choice phase
    int32_t health[2]
    int8_t winner               # by the rules; -1: nobody
    int8_t loser                # by an illegal action
    int8_t seat                 # the caller's, -1 for both
    int8_t opponent             # slot of the other player
    uint8_t illegal
    uint8_t dealt               # from seeds: the match can be played again
    uint8_t offered             # ... and the decks are what its choice phase allows
    uint8_t decks[2][MAX_DECK]
    uint8_t triplets[MAX_DECK][3]       # 1.x: what was offered

ctypedef struct set_t:          # a card set
    const card_t* cards         # NULL: not made yet
    int64_t key                 # which set it is, see `set_key`
    const int8_t* shown         # the cards as the choice phase shows them
    uint8_t decks[2][MAX_DECK]  # for FIXED_DECKS

ctypedef struct cold_t:         # of a row, what most steps do not look at, or at a card of it only
    short_table_t table
    end_t now                   # what is known of this episode so far
    end_t last                  # of the one that ended last
    int32_t n_acts              # of the caller in their last turn, if opponents are shown them
    shown_action_t acts[MAX_ACTS]
    const card_t* cards         # of the set, for the choice phase
    const int8_t* shown         # ... as it shows them
    numpy_t random              # what episodes that begin with a choice follow from
    float score                 # of player 0 in the battles of a choice, -1 to 1

ctypedef struct row_t:          # what every step looks at: rows lie side by side
    state_t s
    cold_t* cold
    uint64_t stream             # the row's random stream
    float phi[2]                # potentials at the players' last decisions
    int32_t length              # actions of both in this episode
    int32_t episode             # number of episodes begun since the row was seeded
    int64_t serial              # ... since it was made
    int8_t seat                 # the caller's, -1 for both
    uint8_t where
    uint8_t waits
    int8_t acted                # who did in the last step, -1 for nobody
    uint8_t phase
    uint8_t picked[2]           # cards of their decks that players have chosen
    known_t k
    uint8_t _pad[20]            # whole cache lines, 17 of them

ctypedef struct game_t:         # what all rows have in common
    int rules
    int episode
    int n_actions
    int layout
    int size                    # bytes of an observation
    int battle_size             # ... those of the layout, which come before those of the choice
    int choice_size
    int battle_actions
    int first_pick              # the number of the first pick among the actions
    int chooser[2]              # where the deck of a seat comes from in an episode with a choice
    int battles                 # after a choice
    int battler[2]              # who plays them with the caller's deck, and with the other one
    bint notes                  # whether the caller's actions are noted
    int seat
    int illegal
    int autoreset
    int max_actions
    int decks
    int n_seeds
    int n_opponents
    int slot[SLOTS]             # of those that are drawn from
    uint32_t weight[SLOTS]      # ... 1/65536, in sum at least 1
    int player[SLOTS]           # scripted kinds of the kernel, or EXTERNAL, SEARCHES, CALLER
    bint self_play              # nobody but the caller is drawn
    bint mixed                  # ... the caller is, among others
    bint shaped
    bint raw_potentials         # as gym-locm adds them up: no discount, no zero at the end
    float win                   # what a win is worth
    float shaping[N_POTENTIALS]
    float gamma
    bint generated              # cards follow from cardGenSeed
    int64_t first_set           # of those that may be drawn, by cardGenSeed
    int64_t n_sets              # 0: the seed decides; only `sets[0]` in 1.x and for given cards
    int64_t refresh             # episodes of a row after which a set takes another's place; 0: none
    int n_cards                 # of a set
    int n_allowed               # 1.x: cards that may be offered
    uint8_t allowed[MAX_SET]

ctypedef struct out_t:          # where a step writes to; NULL: nowhere
    uint8_t* observation
    int8_t* mask
    float* reward
    float* both                 # rewards of both players
    uint8_t* terminated
    uint8_t* truncated
    int8_t* to_move
    int8_t* acted
    int8_t* winner              # -1: nobody, or the episode goes on
    int32_t* length             # of an episode that has ended, 0: it goes on
    uint8_t* final
    int8_t* hidden

ctypedef struct rows_t:         # all rows
    game_t g
    out_t out
    row_t* rows
    Py_ssize_t n
    set_t* sets                 # those that are drawn from, by the remainder of cardGenSeed
    set_t* own_sets             # of rows with a set of their own
    searcher_t* searchers[SLOTS]
    searcher_t* battlers[2]
    int8_t* winners             # of the battles of the last choice of each row
    bint stopped                # a signal has: what rows wait for is not to be done
    int64_t results[SLOTS][3]   # episodes against a player: without a winner, won, lost


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define fetch_(p) __builtin_prefetch(p)
    #else
    #define fetch_(p)
    #endif
    /* The value before; threads may do this at the same time. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define add_(x, n) _InterlockedExchangeAdd64((volatile __int64*)(x), n)
    #else
    #define add_(x, n) __atomic_fetch_add(x, n, __ATOMIC_SEQ_CST)
    #endif
    """
    void fetch_(const void*) noexcept nogil
    int64_t add_(int64_t* x, int64_t n) noexcept nogil


cdef inline int won_by(const state_t* s) noexcept nogil:
    """`state_winner`, which is in another module."""
    return 0 if s.p[0].won else 1 if s.p[1].won else -1


cdef inline bint is_cut(const game_t* g, const row_t* r) noexcept nogil:
    """Whether an episode is too long: never before the caller could act in it."""
    return r.length >= g.max_actions and r.where == IN_STEP


cdef inline int mover_of(const row_t* r) noexcept nogil:
    """Whose action is awaited; where the caller plays one seat, that one."""
    if r.seat >= 0:
        return r.seat
    if r.phase == IN_CHOICE:
        return r.picked[0] > r.picked[1]
    return r.s.turn & 1


cdef inline table_t* table_of(const row_t* r) noexcept nogil:
    return <table_t*>&r.cold.table


cdef inline void fetch_row(const row_t* r) noexcept nogil:
    """Have a row come from memory."""
    cdef const char* start = <const char*>r
    cdef int at
    for at in range(0, HOT_BYTES, 64):
        fetch_(start + at)


cdef inline void fetch_cards(const row_t* r, int64_t action, bint floats) noexcept nogil:
    """... and, when it is there, the cards that an action and what is written after it look at.

    Whatever the action is, for a branch that cannot be predicted costs more than what it saves."""
    cdef const card_t* cards = r.cold.table.cards
    cdef uint64_t number = <uint64_t>action     # any, also one that is not legal
    cdef uint64_t use
    cdef int who = (r.s.turn & 1) ^ (action == PASS)
    cdef const player_t* p = &r.s.p[who]
    # A draw looks at two cards.
    cdef const uint8_t* top = &r.s.deck[who][MAX_DECK - (p.deck_left if p.deck_left > 2 else 2)]
    cdef int h
    fetch_(&cards[top[0] & 63])
    fetch_(&cards[top[1] & 63])
    fetch_(r.k.left)
    fetch_(r.k.equal)
    if floats:
        for h in range(p.hand_size):
            fetch_(&cards[p.hand >> 8 * h & 63])
    else:
        # (number - 17) // 13 for all USE, h for SUMMON: docs/rules.md, section 12
        use = 0 - <uint64_t>(number >= 17)
        h = <int>(((number - 17) * 79 >> 10 & use | number - 1 >> 1 & ~use) & 7)
        fetch_(&cards[p.hand >> 8 * h & 63])
        for h in range(0, <int>sizeof(r.k.hand[0]), 64):
            fetch_(<const char*>r.k.hand[who] + h)


cdef inline set_t* set_of(const rows_t* a, Py_ssize_t i) noexcept nogil:
    """The place of a row's card set."""
    cdef int64_t number = a.rows[i].cold.now.set
    return &a.sets[number] if number >= 0 else &a.own_sets[i]


cdef inline int64_t set_key(const game_t* g, const row_t* r) noexcept nogil:
    """Which cards a row has: their cardGenSeed, or 0 for those that are always the same."""
    return r.cold.now.seeds[0] if g.generated else 0


cdef uint64_t draw_bits(uint64_t* stream) noexcept nogil
# Seat, opponent and seeds of the next episode.
cdef void draw_episode(const game_t* g, row_t* r) noexcept nogil
# ... of one that begins with a choice, with a seed and a card set or, if they are given, without.
cdef void draw_choice(const game_t* g, row_t* r, bint seed, bint cards) noexcept nogil
# Deals the battles of a choice: the seeds of the shuffles and of both players, for each battle.
cdef void draw_battle(
    const game_t* g, row_t* r, int number, int64_t* shuffles, int64_t* seeds) noexcept nogil
cdef void choice_of(const game_t* g, const row_t* r, int who, choice_t* c) noexcept nogil
# Whether an action is one that the player to move can take.
cdef bint is_legal(const game_t* g, const row_t* r, int64_t action) noexcept nogil
# The battle of the episode's decks, and of a position that is there already, up to where somebody
# has to act.
cdef void deal_row(const game_t* g, row_t* r, const card_t* cards) noexcept nogil
cdef void start_row(const game_t* g, row_t* r) noexcept nogil
# Who has won an episode, -1 for nobody; an illegal action loses.
cdef int winner_of(const end_t* e) noexcept nogil

# The following are about row i of all.
# Write what the player to move sees, or the seated one.
cdef void show(const rows_t* a, Py_ssize_t i) noexcept nogil
# Write what a player sees: observation, mask and all cards; NULL: not that.
cdef void view_row(
    const rows_t* a, Py_ssize_t i, int who, uint8_t* observation, int8_t* mask, int8_t* hidden
) noexcept nogil
# Begin an episode, as far as it goes without Python.
cdef void begin(rows_t* a, Py_ssize_t i) noexcept nogil
cdef void choose(rows_t* a, Py_ssize_t i) noexcept nogil
cdef void go_on(rows_t* a, Py_ssize_t i) noexcept nogil
# Play the turn of an opponent that searches; False if something is missing for it.
cdef bint search(rows_t* a, Py_ssize_t i, int thread) noexcept nogil
# ... and the battles of a choice.
cdef bint play_battles(rows_t* a, Py_ssize_t i, int thread) noexcept nogil
# End an episode of a choice, whose battles have been played.
cdef void finish_choice(rows_t* a, Py_ssize_t i) noexcept nogil
# Write what a step in which nothing ends leaves of rewards and ends, from row `start` to `end`.
cdef void clear(const out_t* out, Py_ssize_t start, Py_ssize_t end) noexcept nogil
# One action of the caller in a row, and what follows from it; the row's arrays are cleared.
cdef void advance(rows_t* a, Py_ssize_t i, int64_t action) noexcept nogil
# Actions for the rows from `start` to `end`, of all that there are. Returns the number of rows
# whose episode has ended or begun, plus 2^32 times the number of rows that wait for Python.
cdef int64_t steps(
    rows_t* a, const int64_t* actions, Py_ssize_t start, Py_ssize_t end, int thread) noexcept nogil
