# A row of `locmsim.envs._rows`: an episode of a match, and all that an environment keeps with it.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from locmsim._core cimport (
    MAX_DECK,
    PASS,
    card_t,
    player_t,
    shown_action_t,
    short_table_t,
    state_t,
    table_of_short,
    table_t,
)
from locmsim.envs._potentials cimport N_POTENTIALS
from locmsim.envs._searcher cimport searcher_t
from locmsim.game._layout cimport known_t
from locmsim.game._match cimport MAX_SET, match_t

cpdef enum:                     # what a row waits for
    NOTHING = 0
    CARD_SET = 1
    DECKS = 2
    OPPONENT = 3                # an action of an opponent that Python plays
    SEARCH = 4                  # a turn of an opponent that searches; any thread can play it
    BATTLES = 5                 # the battles after a choice phase; threads play them if they can

cdef enum:                      # where a row is
    IN_STEP = 0
    IN_RESET = 1
    OVER = 2                    # its episode has ended, and the next one has not begun

cdef enum:                      # what an episode is
    BATTLE_EPISODE = 0
    CHOICE_EPISODE = 1          # thirty picks; others play battles with the decks
    MATCH_EPISODE = 2           # thirty picks, then the battle in the same row

cpdef enum:                     # phases
    IN_BATTLE = 0
    IN_CHOICE = 1

cdef enum:                      # the caller's seat
    RANDOM_SEAT = 0
    FIRST = 1
    SECOND = 2
    ALTERNATE = 3

cdef enum:                      # what an illegal action does
    LOSE = 0
    AS_PASS = 1

cdef enum:                      # when the next episode begins
    NEXT_STEP = 0
    SAME_STEP = 1
    DISABLED = 2

cdef enum:                      # where decks come from
    RANDOM_DECKS = 0
    FIXED_DECKS = 1             # of the row's card set, or of the environment
    ASKED_DECKS = 2             # Python chooses

cpdef enum:                     # kinds of players that have no number among the scripted ones
    BY_PYTHON = -1              # Python asks them
    BY_SEARCH = -2              # a compiled search plays their turns
    BY_CALLER = -3              # their actions come through `advance`

cdef enum:
    SLOTS = 64                  # players in the table, including those of episodes still running
    MAX_ACTS = 48               # actions of one turn: cards from hand and attacks
    REFEREES_LIMIT = 1400       # actions of a battle after which the referee of 1.5 ends it
    ALIGNMENT = 64
    HOT_BYTES = 512             # bytes of a row without the hands and what only a draw reads
    AHEAD = 6                   # how many rows ahead a row is prefetched
    CARDS_AHEAD = 3             # how many rows ahead its cards are, when the row itself is there

ctypedef struct episode_t:      # an episode; complete at its end
    match_t m
    int64_t set                 # number of its shared card set, -1 for one of its own
    int32_t length
    int32_t turn                # -1: it ended in the choice phase
    int32_t health[2]
    int8_t seat                 # the caller's, -1 for both
    int8_t opponent             # slot of the other player
    uint8_t dealt               # it was dealt from seeds: the match can be played again
    uint8_t offered             # ... and its choice phase allows these decks

ctypedef struct set_t:          # a card set
    const card_t* cards         # NULL: not made yet
    int64_t key                 # identifies the set, see `set_key`
    const int8_t* shown         # the cards as the choice phase shows them
    uint8_t decks[2][MAX_DECK]  # for FIXED_DECKS

ctypedef struct cold_t:         # the part of a row of which most steps read one card or nothing
    short_table_t table
    episode_t now               # the running episode, as far as known
    episode_t last              # the last finished one
    int32_t n_acts              # the caller's actions in their last turn, if opponents see them
    shown_action_t acts[MAX_ACTS]
    const int8_t* shown         # the card set as the choice phase shows it
    float score                 # of player 0 in the battles of a choice, -1 to 1

ctypedef struct row_t:          # what every step reads; rows lie side by side
    state_t s
    cold_t* cold
    uint64_t stream             # the row's random stream
    float phi[2]                # potentials at the players' last decisions
    int32_t length              # actions of both in this episode
    int32_t episode             # number of episodes begun since the row was seeded
    int64_t serial              # number of episodes begun since the row was made
    int8_t seat                 # the caller's, -1 for both
    uint8_t where
    uint8_t waits
    int8_t acted                # who acted in the last step, -1 for nobody
    uint8_t phase
    known_t k
    uint8_t _pad[20]           # fills 17 whole cache lines

ctypedef struct game_t:         # what all rows have in common
    int rules
    int episode
    int n_actions
    int layout
    int size                    # bytes of an observation
    int battle_size             # ... of its first part, which the layout writes; the choice follows
    int choice_size
    int battle_actions
    int first_pick              # the number of the first pick among the actions
    int chooser[2]              # where the deck of a seat comes from in an episode with a choice
    int battles                 # number of battles after a choice phase
    int battler[2]              # who plays them with the caller's deck, and with the other one
    bint notes                  # whether the caller's actions are recorded for opponents
    int seat
    int illegal
    int autoreset
    int max_actions
    int decks
    int n_opponents
    int slot[SLOTS]             # slots of the opponents that may be drawn
    uint32_t weight[SLOTS]      # ... their weights in units of 1/65536; the sum is at least 1
    int player[SLOTS]           # scripted kinds of the kernel, or BY_PYTHON, BY_SEARCH, BY_CALLER
    bint self_play              # only the caller may be drawn
    bint shaped
    bint raw_potentials         # as in gym-locm: no discount, and not 0 at the end
    float win                   # what a win is worth
    float shaping[N_POTENTIALS]
    float gamma
    bint generated              # cards follow from cardGenSeed
    int64_t first_set           # lowest cardGenSeed of the sets that may be drawn
    int64_t n_sets              # their number; 0: the seed decides; 1 in 1.x and for fixed cards
    int64_t refresh             # episodes of a row after which one set replaces another; 0: never
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
    int32_t* length             # actions of an episode that has ended; 0: it goes on
    uint8_t* final
    int8_t* hidden

ctypedef struct rows_t:         # all rows
    game_t g
    out_t out
    row_t* rows
    Py_ssize_t n
    set_t* sets                 # shared sets, from which episodes draw, by cardGenSeed mod n_sets
    set_t* own_sets             # by row, for rows with a set of their own
    searcher_t* searchers[SLOTS]
    searcher_t* battlers[2]
    int8_t* winners             # of the battles after each row's last choice phase
    bint stopped                # by a signal: nothing that rows wait for is to be done
    int64_t results[SLOTS][3]   # finished episodes by opponent: without a winner, won, lost


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define fetch_(p) __builtin_prefetch(p)
    #else
    #define fetch_(p)
    #endif
    /* Atomic: adds n and returns the previous value. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define add_(x, n) _InterlockedExchangeAdd64((volatile __int64*)(x), n)
    #else
    #define add_(x, n) __atomic_fetch_add(x, n, __ATOMIC_SEQ_CST)
    #endif
    """
    void fetch_(const void*) noexcept nogil
    int64_t add_(int64_t* x, int64_t n) noexcept nogil


cdef inline bint is_cut(const game_t* g, const row_t* r) noexcept nogil:
    """Return whether an episode is too long; never before the caller could act in it."""
    return r.length >= g.max_actions and r.where == IN_STEP


cdef inline int mover_of(const row_t* r) noexcept nogil:
    """Return the player to move; where the caller plays one seat, that one."""
    if r.seat >= 0:
        return r.seat
    if r.phase == IN_CHOICE:
        return r.cold.now.m.picked[0] > r.cold.now.m.picked[1]
    return r.s.turn & 1


cdef inline table_t* table_of(const row_t* r) noexcept nogil:
    return table_of_short(&r.cold.table)


cdef inline void fetch_row(const row_t* r) noexcept nogil:
    """Prefetch a row."""
    cdef const char* start = <const char*>r
    cdef int at
    for at in range(0, HOT_BYTES, 64):
        fetch_(start + at)


cdef inline void fetch_cards(const row_t* r, int64_t action, bint floats) noexcept nogil:
    """Prefetch the cards that an action and the observation after it read; the row must be there.

    The same loads for every kind of action: a branch that cannot be predicted costs more than it
    would save.
    """
    cdef const card_t* cards = r.cold.table.cards
    cdef uint64_t number = <uint64_t>action     # any number: it may be an illegal action
    cdef uint64_t use
    cdef int who = (r.s.turn & 1) ^ (action == PASS)
    cdef const player_t* p = &r.s.p[who]
    # A draw reads two cards.
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
        # The hand index: (number - 17) // 13 for USE, (number - 1) // 2 for SUMMON (docs/rules.md,
        # section 12).
        use = 0 - <uint64_t>(number >= 17)
        h = <int>(((number - 17) * 79 >> 10 & use | number - 1 >> 1 & ~use) & 7)
        fetch_(&cards[p.hand >> 8 * h & 63])
        for h in range(0, <int>sizeof(r.k.hand[0]), 64):
            fetch_(<const char*>r.k.hand[who] + h)


cdef inline set_t* set_of(const rows_t* a, Py_ssize_t i) noexcept nogil:
    """Return where a row's card set is, or will be."""
    cdef int64_t number = a.rows[i].cold.now.set
    return &a.sets[number] if number >= 0 else &a.own_sets[i]


cdef inline int64_t set_key(const game_t* g, const row_t* r) noexcept nogil:
    """Return what identifies a row's cards: their cardGenSeed, or 0 where they never change."""
    return r.cold.now.m.seeds[0] if g.generated else 0


cdef inline void clear(const out_t* out, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Clear the rewards and results of rows `start` to `end`, as if nothing ended in a step.

    Inline, as each is a single store for one row.
    """
    cdef Py_ssize_t n = end - start
    if out.reward is not NULL:
        memset(out.reward + start, 0, n * sizeof(float))
    if out.both is not NULL:
        memset(out.both + 2 * start, 0, 2 * n * sizeof(float))
    if out.terminated is not NULL:
        memset(out.terminated + start, 0, n)
    if out.truncated is not NULL:
        memset(out.truncated + start, 0, n)
    if out.winner is not NULL:
        memset(out.winner + start, -1, n)
    if out.length is not NULL:
        memset(out.length + start, 0, n * sizeof(int32_t))


cdef uint64_t draw_bits(uint64_t* stream) noexcept nogil
# Begins the next episode: draws seat, opponent, seeds and card set, and waits for the cards.
cdef void begin(const game_t* g, row_t* r) noexcept nogil
# Draws the seeds of the shuffles and of both players for a battle after a choice phase.
cdef void draw_battle(row_t* r, int number, int64_t* shuffles, int64_t* seeds) noexcept nogil
# Returns whether an action is legal for the player to move.
cdef bint is_legal(const game_t* g, const row_t* r, int64_t action) noexcept nogil
# Deals the battle of the episode's decks, up to the first action.
cdef void deal_row(const game_t* g, row_t* r) noexcept nogil
cdef void start_row(const game_t* g, row_t* r) noexcept nogil

# All of the following work on row i.
# Writes what the player to move sees, or the caller where they play one seat.
cdef void show(const rows_t* a, Py_ssize_t i) noexcept nogil
# Writes what a player sees: observation, mask and hidden cards, each unless it is NULL.
cdef void view_row(
    const rows_t* a, Py_ssize_t i, int who, uint8_t* observation, int8_t* mask, int8_t* hidden
) noexcept nogil
# Continues a row whose request has been met, until the caller has to act or it waits again; does
# nothing if its episode is over.
cdef void resume(rows_t* a, Py_ssize_t i) noexcept nogil
# Plays the turn of an opponent that searches; False if something is missing for it.
cdef bint search(rows_t* a, Py_ssize_t i, int thread) noexcept nogil
# Plays the battles after a choice phase; False if something is missing for them.
cdef bint play_battles(rows_t* a, Py_ssize_t i, int thread) noexcept nogil
# Ends an episode of a choice phase after its battles.
cdef void finish_choice(rows_t* a, Py_ssize_t i) noexcept nogil
# Plays one action of the caller and all that follows from it; the row must have been cleared.
cdef void advance(rows_t* a, Py_ssize_t i, int64_t action) noexcept nogil
# Plays `actions[i]` in each row i from `start` to `end`. Returns the number of rows whose episode
# has ended or begun, plus 2^32 times the number of rows that wait for Python.
cdef int64_t steps(
    rows_t* a, const int64_t* actions, Py_ssize_t start, Py_ssize_t end, int thread) noexcept nogil
