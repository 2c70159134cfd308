"""Rows of games side by side: the compiled part of `locmsim.envs`, for one game or thousands.

A row is a battle with all that an environment keeps beside it. `Rows.step` takes an action for each
row, lets opponents of the kernel answer, writes rewards and, where a game has ended, begins the
next one; then it writes what the player to move sees. All of it runs without the GIL, and a row
depends on nothing but itself, so that neither the number of rows nor of threads changes a result.

What Python has to do for a row, making a card set, choosing decks or playing for an opponent of its
own, makes the row wait: `Rows.waiting` says for what, and `Rows.proceed` goes on from there.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    MAX_DECK,
    PASS,
    RULES_10,
    RULES_15,
    SUMMON,
    State,
    Table,
    card_t,
    state_count,
    state_is_legal,
    state_kth,
    table_t,
    stream_below,
    stream_start,
)
from locmsim.envs._deal cimport draw_triplets, random_deck
from locmsim.envs._opponents cimport opponent_action
from locmsim.envs._row cimport (
    ALIGNMENT,
    AHEAD,
    ASKED_DECKS,
    AS_PASS,
    CARDS_AHEAD,
    CARD_SET,
    DECKS,
    GIVEN_DECKS,
    IN_RESET,
    IN_STEP,
    LOSE,
    MAX_OPPONENTS,
    NEXT_STEP,
    NOTHING,
    OPPONENT,
    OUTSIDE,
    OVER,
    SAME_STEP,
    act_t,
    cold_t,
    deal_row,
    draw_bits,
    draw_episode,
    end_t,
    fetch_cards,
    fetch_row,
    game_t,
    large_pages_,
    note_action,
    note_end,
    out_t,
    row_t,
    set_t,
    settle_start,
    shaping,
    start_row,
    table_of,
    winner_of,
    won_by,
)
from locmsim.policy._layout cimport (
    GYM_LOCM,
    HAND_ROW,
    HIDDEN_ROWS,
    known_apply,
    known_hand,
    known_start,
    layout_item,
    layout_size,
    view_of,
    view_t,
    write_hidden,
    write_layout,
    write_mask,
)
from locmsim.policy._sight cimport shorten

from locmsim.errors import IllegalActionError
from locmsim.policy._layout import LAYOUT_CODES

__all__ = ["Rows"]


# ---- the class -----------------------------------------------------------------------------------

@cython.final
cdef class Rows:
    """`n` games side by side; `locmsim.envs` says what the options mean.

    `options` is a mapping that `locmsim.envs.options` makes; nothing is checked here but sizes.
    """

    def __cinit__(self, Py_ssize_t n, options):
        cdef game_t* g = &self.g
        cdef Py_ssize_t size, i
        if n < 1:
            raise ValueError(f"num_envs: expected at least 1, got {n}")
        memset(g, 0, sizeof(game_t))
        memset(&self.out, 0, sizeof(out_t))
        self.options = dict(options)
        self.rules = options["rules"]
        g.rules = ("1.5", "1.2", "1.0").index(self.rules)
        g.n_actions = self.n_actions = 155 if g.rules == RULES_10 else 145
        g.layout = LAYOUT_CODES[options["layout"]]
        g.size = layout_size(g.layout, g.rules) * layout_item(g.layout)
        if g.size == 0:
            raise ValueError(f"layout {options['layout']!r} has no rules {self.rules}")
        g.both = options["both"]
        g.seat = ("random", "first", "second", "alternate").index(options["seat"])
        g.illegal = AS_PASS if options["illegal"] == "pass" else LOSE
        g.autoreset = ("next", "same", "disabled").index(options["autoreset"])
        g.max_actions = options["max_actions"]
        g.decks = ("random", "given", "asked").index(options["decks"])
        g.n_seeds = 4 if g.rules == RULES_15 else 3
        g.win = options["win"]
        g.gamma = options["gamma"]
        g.raw_potentials = options["raw_potentials"]
        for i, weight in enumerate(options["shaping"]):
            g.shaping[i] = weight
            g.shaped = g.shaped or weight != 0
        g.first_set = options["first_set"]
        g.n_sets = options["n_sets"]
        g.n_cards = options["n_cards"]
        allowed = options["allowed"]
        g.n_allowed = <int>len(allowed)
        for i in range(g.n_allowed):
            g.allowed[i] = allowed[i]
        self.set_opponents([OUTSIDE], [1.0])
        size = max(g.n_sets, 1)
        self.tables = [None] * size
        self.sets = <set_t*>PyMem_Malloc(size * sizeof(set_t))
        if self.sets is NULL:
            raise MemoryError(f"{size} card sets")
        memset(self.sets, 0, size * sizeof(set_t))
        self.row_sets = [None] * n
        self.own_sets = NULL
        if g.n_sets == 0:
            self.own_sets = <set_t*>PyMem_Malloc(n * sizeof(set_t))
            if self.own_sets is NULL:
                raise MemoryError(f"{n} card sets")
            memset(self.own_sets, 0, n * sizeof(set_t))
        # A draw may look at 256 entries of the last row's table.
        size = n * (sizeof(row_t) + sizeof(cold_t)) + sizeof(table_t) + ALIGNMENT
        self.block = PyMem_Malloc(size)
        if self.block is NULL:
            raise MemoryError(f"{n} rows")
        large_pages_(<char*>self.block, size)
        memset(self.block, 0, size)
        self.rows = <row_t*>(<uintptr_t>(<char*>self.block + ALIGNMENT - 1) & ~<uintptr_t>63)
        self.cold = <cold_t*>(self.rows + n)
        self.n = n
        for i in range(n):
            self.rows[i].cold = &self.cold[i]
            self.rows[i].stream = stream_start(0, i)
            self.rows[i].where = OVER

    def __dealloc__(self):
        PyMem_Free(self.block)
        PyMem_Free(self.sets)
        PyMem_Free(self.own_sets)

    cdef row_t* row(self, Py_ssize_t i) except NULL:
        if not 0 <= i < self.n:
            raise IndexError(f"row {i} of {self.n}")
        return &self.rows[i]

    def set_opponents(self, kinds, weights):
        """Whom new episodes are played against: codes of the kernel or -1, and how often each."""
        cdef int i
        if not 1 <= len(kinds) <= MAX_OPPONENTS or len(kinds) != len(weights):
            raise ValueError(f"opponents: expected 1..{MAX_OPPONENTS}, got {len(kinds)}")
        self.opponents = (list(kinds), list(weights))
        total = sum(weights)
        self.g.notes = False
        for i in range(len(kinds)):
            self.g.opponent[i] = kinds[i]
            self.g.weight[i] = <uint32_t>round(65536 * weights[i] / total)
            self.g.notes = self.g.notes or (kinds[i] == OUTSIDE and not self.g.both)
        self.g.n_opponents = <int>len(kinds)

    # -- arrays

    def bind(self, observation, mask, reward=None, terminated=None, truncated=None, to_move=None,
             acted=None, both=None, final=None, hidden=None):
        """The arrays that are written from now on, each with a row for each game; None for none.

        ``ValueError`` unless they are C-contiguous and have the right number of bytes.
        """
        self.held = None
        memset(&self.out, 0, sizeof(out_t))
        held = []
        self.out.observation = address(held, "obs", observation, self.n * self.g.size)
        self.out.mask = <int8_t*>address(held, "masks", mask, self.n * self.n_actions)
        self.out.reward = <float*>address(held, "rewards", reward, 4 * self.n)
        self.out.terminated = address(held, "terminated", terminated, self.n)
        self.out.truncated = address(held, "truncated", truncated, self.n)
        self.out.to_move = <int8_t*>address(held, "to_move", to_move, self.n)
        self.out.acted = <int8_t*>address(held, "acted", acted, self.n)
        self.out.both = <float*>address(held, "rewards_both", both, 8 * self.n)
        self.out.final = address(held, "final_obs", final, self.n * self.g.size)
        self.out.hidden = <int8_t*>address(held, "hidden", hidden,
                                           self.n * HIDDEN_ROWS * HAND_ROW)
        self.held = held

    cdef void show(self, Py_ssize_t i) noexcept nogil:
        """Write what the player to move sees, or the seated one."""
        cdef row_t* r = &self.rows[i]
        cdef view_t view
        cdef int mover = r.s.turn & 1
        cdef int who = mover if r.seat < 0 else r.seat
        if self.out.observation is not NULL:
            view_of(&r.k, &r.s, who, &view)
            write_layout(self.g.layout, self.out.observation + i * self.g.size, &r.s,
                         table_of(r), who, &view)
        if self.out.mask is not NULL:
            write_mask(self.out.mask + i * self.g.n_actions, &r.s, table_of(r), who)
        if self.out.hidden is not NULL:
            write_hidden(self.out.hidden + i * HIDDEN_ROWS * HAND_ROW, &r.s, table_of(r), who)
        if self.out.to_move is not NULL:
            self.out.to_move[i] = mover

    # -- episodes

    cdef void begin(self, Py_ssize_t i) noexcept nogil:
        """Draw the next episode of a row and deal it, if the cards are there."""
        cdef row_t* r = &self.rows[i]
        draw_episode(&self.g, r)
        r.where = IN_RESET
        r.waits = CARD_SET
        if self.g.n_sets and self.sets[r.cold.now.set].cards is not NULL:
            self.choose(i)

    cdef void choose(self, Py_ssize_t i) noexcept nogil:
        """The decks of a row that has its card set."""
        cdef row_t* r = &self.rows[i]
        cdef const game_t* g = &self.g
        cdef set_t* source = &self.sets[r.cold.now.set] if g.n_sets else &self.own_sets[i]
        cdef int who
        if g.rules != RULES_15:
            draw_triplets(r.cold.now.seeds[0], g.allowed, g.n_allowed, r.cold.now.triplets)
        if g.decks == ASKED_DECKS:
            r.waits = DECKS
            return
        if g.decks == GIVEN_DECKS:
            memcpy(r.cold.now.decks, source.decks, sizeof(r.cold.now.decks))
        else:
            for who in range(2):
                random_deck(&r.stream, g.n_cards,
                            NULL if g.rules == RULES_15 else r.cold.now.triplets,
                            r.cold.now.decks[who])
        r.waits = NOTHING
        deal_row(g, r, source.cards)

    cdef void go_on(self, Py_ssize_t i) noexcept nogil:
        """Until the caller has to act in a row, or Python has something to do for it."""
        cdef row_t* r = &self.rows[i]
        cdef const game_t* g = &self.g
        cdef const table_t* t = table_of(r)
        cdef int kind, turn
        while True:
            if r.waits == CARD_SET or r.waits == DECKS:
                return
            r.waits = NOTHING
            if won_by(&r.s) >= 0 or r.length >= g.max_actions:
                if r.where == IN_STEP:
                    self.finish(i, False)
                    if r.where == OVER:
                        return
                else:
                    self.begin(i)       # over before the caller could act
                continue
            if not g.both and r.s.turn & 1 != r.seat:
                kind = g.opponent[r.cold.now.opponent]
                if kind == OUTSIDE:
                    r.waits = OPPONENT
                    return
                turn = r.s.turn
                while r.s.turn == turn and won_by(&r.s) < 0 and r.length < g.max_actions:
                    known_apply(&r.k, &r.s, t, opponent_action(kind, &r.s, t, &r.stream))
                    r.length += 1
                continue
            if r.where == IN_RESET:
                settle_start(g, r)
            elif g.shaped:
                self.pay(i, False, False)       # otherwise there is nothing to pay before the end
            self.show(i)
            return

    cdef void pay(self, Py_ssize_t i, bint ended, bint illegal) noexcept nogil:
        """Write the rewards of a step, after it and all answers to it."""
        cdef row_t* r = &self.rows[i]
        cdef const game_t* g = &self.g
        cdef float reward = 0
        cdef float given[2]
        cdef int winner = won_by(&r.s)
        cdef int acted = self.out.acted[i] if self.out.acted is not NULL else 0
        cdef int who
        if not g.both:
            who = r.seat
            if illegal:
                reward = -g.win
            elif winner >= 0:
                reward = g.win if winner == who else -g.win
            reward += shaping(g, r, who, ended)
        else:
            given[0] = given[1] = 0
            if illegal:
                winner = 1 - acted
            for who in range(2):
                if winner >= 0:
                    given[who] = g.win if winner == who else -g.win
                if winner >= 0 or ended or r.s.turn & 1 == who:
                    given[who] += shaping(g, r, who, ended)
            reward = given[acted]
            if self.out.both is not NULL:
                self.out.both[2 * i] = given[0]
                self.out.both[2 * i + 1] = given[1]
        if self.out.reward is not NULL:
            self.out.reward[i] = reward

    cdef void finish(self, Py_ssize_t i, bint illegal) noexcept nogil:
        """The end of an episode, by a win, an illegal action or the limit."""
        cdef row_t* r = &self.rows[i]
        cdef view_t view
        cdef int who = r.s.turn & 1 if r.seat < 0 else r.seat
        cdef bint terminated = illegal or won_by(&r.s) >= 0
        self.pay(i, terminated, illegal)
        if self.out.terminated is not NULL:
            self.out.terminated[i] = terminated
        if self.out.truncated is not NULL:
            self.out.truncated[i] = not terminated
        note_end(r, illegal)
        if self.g.autoreset == SAME_STEP:
            if self.out.final is not NULL:
                view_of(&r.k, &r.s, who, &view)
                write_layout(self.g.layout, self.out.final + i * self.g.size, &r.s,
                             table_of(r), who, &view)
            self.begin(i)
            return
        r.where = OVER
        self.show(i)
        if self.out.mask is not NULL:       # also where an illegal action ended it
            memset(self.out.mask + i * self.g.n_actions, 0, self.g.n_actions)
            self.out.mask[i * self.g.n_actions] = 1

    cdef void advance(self, Py_ssize_t i, int64_t action) noexcept nogil:
        """One action of the caller in a row, and everything that follows from it."""
        cdef row_t* r = &self.rows[i]
        if self.out.reward is not NULL:
            self.out.reward[i] = 0
        if self.out.both is not NULL:
            self.out.both[2 * i] = self.out.both[2 * i + 1] = 0
        if self.out.terminated is not NULL:
            self.out.terminated[i] = 0
        if self.out.truncated is not NULL:
            self.out.truncated[i] = 0
        if r.where == OVER:
            if self.g.autoreset == NEXT_STEP:
                if self.out.acted is not NULL:
                    self.out.acted[i] = -1
                self.begin(i)
                self.go_on(i)
            return
        if self.out.acted is not NULL:
            self.out.acted[i] = r.s.turn & 1
        if not (0 <= action < self.g.n_actions
                and state_is_legal(&r.s, table_of(r), <int>action)):
            if self.g.illegal == LOSE:
                self.finish(i, True)
                if r.where != OVER:
                    self.go_on(i)
                return
            action = PASS
        r.length += 1
        if self.g.notes:
            note_action(r, <int>action)
        known_apply(&r.k, &r.s, table_of(r), <int>action)
        self.go_on(i)

    cdef int64_t steps(
        self, const int64_t* actions, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil:
        """Actions for the rows from `start` to `end`, of all that there are.

        Returns the number of rows whose episode has ended or begun, plus 2^32 times the number of
        rows that wait for Python.
        """
        cdef Py_ssize_t i
        cdef int64_t episode, n = 0
        cdef uint8_t where
        for i in range(start, end):
            if i + AHEAD < end:
                fetch_row(&self.rows[i + AHEAD])
            if i + CARDS_AHEAD < end:
                fetch_cards(&self.rows[i + CARDS_AHEAD], actions[i + CARDS_AHEAD],
                            self.g.layout == GYM_LOCM)
            episode = self.rows[i].serial
            where = self.rows[i].where
            self.advance(i, actions[i])
            n += self.rows[i].serial != episode or self.rows[i].where != where
            n += <int64_t>(self.rows[i].waits != NOTHING) << 32
        return n

    def step_row(self, Py_ssize_t i, int64_t action):
        """One action in one row; True if something is left to do, as `step` counts it."""
        cdef row_t* r = self.row(i)
        cdef int64_t episode = r.serial
        self.advance(i, action)
        return r.waits != NOTHING or r.serial != episode or r.where == OVER

    @cython.boundscheck(False)
    def bad_rows(self, const int64_t[::1] actions):
        """The rows that are to act and whose action is not legal."""
        cdef Py_ssize_t i
        return [i for i in range(self.n) if self.rows[i].where != OVER and not (
            0 <= actions[i] < self.n_actions
            and state_is_legal(&self.rows[i].s, table_of(&self.rows[i]), <int>actions[i]))]

    def reset(self, Py_ssize_t i, seed=None):
        """Begin an episode of a row; `seed`, 64 bits, begins its chance anew."""
        self.row(i)
        if seed is not None:
            self.seed(i, seed)
        self.begin(i)
        self.go_on(i)

    def reseat(self, Py_ssize_t i, seat):
        """Begin the episode that `begin_with` is for: who plays where."""
        cdef row_t* r = self.row(i)
        draw_episode(&self.g, r)
        if seat is not None and not self.g.both:
            r.seat = seat
        return r.seat

    def begin_with(self, Py_ssize_t i, State state not None):
        """... from a position, which has at most 64 cards that matter."""
        cdef row_t* r = self.row(i)
        if state.table.t.rules != self.g.rules:
            raise ValueError(f"state: expected one of rules {self.rules}, got {state.rules}")
        if won_by(&state.s) >= 0:
            raise ValueError("state: the game is over")
        shorten(&r.s, &r.cold.table, &state.s, &state.table.t)
        r.cold.now.dealt = 0
        self.row_sets[i] = state.table
        r.cold.now.set = -1
        start_row(&self.g, r)
        r.waits = NOTHING
        self.go_on(i)

    def seed(self, Py_ssize_t i, seed):
        """Begin a row's chance anew, from 64 bits."""
        cdef row_t* r = self.row(i)
        r.stream = stream_start(<uint64_t>(seed & 0xFFFFFFFFFFFFFFFF), 0)
        r.episode = 0

    def give_own_set(self, Py_ssize_t i, Table table not None):
        """The card set of the episode that `begin_dealt` begins."""
        self.row(i).cold.now.set = -1
        self.row_sets[i] = table

    def take_seeds(self, Py_ssize_t i, seed, seeds):
        """... and the seeds of its match, from which the offers of 1.x follow."""
        cdef row_t* r = self.row(i)
        cdef int j
        r.cold.now.seed = seed
        for j in range(self.g.n_seeds):
            r.cold.now.seeds[j] = seeds[j]
        if self.g.rules != RULES_15:
            draw_triplets(r.cold.now.seeds[0], self.g.allowed, self.g.n_allowed,
                          r.cold.now.triplets)

    def begin_dealt(self, Py_ssize_t i, seed, seeds, decks):
        """... from the seeds of a match and decks of indices; the card set has been given."""
        cdef row_t* r = self.row(i)
        cdef int who, j
        self.take_seeds(i, seed, seeds)
        for who in range(2):
            for j in range(MAX_DECK):
                r.cold.now.decks[who][j] = decks[who][j]
        r.where = IN_RESET
        r.waits = NOTHING
        deal_row(&self.g, r, self.cards_of(i))
        self.go_on(i)

    # -- what rows wait for

    def waiting(self):
        """Row -> what it waits for: 1 a card set, 2 decks, 3 its opponent."""
        cdef Py_ssize_t i
        return {i: self.rows[i].waits for i in range(self.n) if self.rows[i].waits != NOTHING}

    def waits_for(self, Py_ssize_t i):
        """... of one row; 0 for nothing."""
        return self.row(i).waits

    def proceed(self, Py_ssize_t i):
        """Go on with a row after what it waited for has been done."""
        cdef row_t* r = self.row(i)
        if r.waits == CARD_SET:
            self.choose(i)
        self.go_on(i)

    def wanted_set(self, Py_ssize_t i):
        """The number of the row's set among those that may be drawn (-1: none), its cardGenSeed."""
        cdef row_t* r = self.row(i)
        return r.cold.now.set, r.cold.now.seeds[0]

    def has_set(self, Py_ssize_t number):
        """Whether a set has been given."""
        return bool(self.g.n_sets) and self.tables[number] is not None

    def give_set(self, Py_ssize_t i, Table table not None, decks):
        """The card set that a row waits for: a table whose pool it is, and two decks of it."""
        cdef row_t* r = self.row(i)
        cdef set_t* target
        cdef int who, j
        if table.t.n_cards - table.t.n_instances != self.g.n_cards:
            raise ValueError(f"cards: expected {self.g.n_cards} different ones")
        if self.g.n_sets:
            target = &self.sets[r.cold.now.set]
            self.tables[r.cold.now.set] = table
        else:
            target = &self.own_sets[i]
            self.row_sets[i] = table
        target.cards = &table.t.cards[table.t.n_instances]
        if decks is not None:
            for who in range(2):
                for j in range(MAX_DECK):
                    target.decks[who][j] = decks[who][j]

    cdef const card_t* cards_of(self, Py_ssize_t i) except NULL:
        cdef Table table = self.table_of_set(i)
        return &table.t.cards[table.t.n_instances]

    cdef Table table_of_set(self, Py_ssize_t i):
        cdef row_t* r = self.row(i)
        if self.g.n_sets and r.cold.now.set >= 0:
            return self.tables[r.cold.now.set]
        return self.row_sets[i]

    def pool(self, Py_ssize_t i):
        """The table that has the cards of the row's set as its pool."""
        return self.table_of_set(i)

    def offers(self, Py_ssize_t i):
        """1.x: 30 triplets of indices into the cards."""
        cdef row_t* r = self.row(i)
        return [[r.cold.now.triplets[j][k] for k in range(3)] for j in range(MAX_DECK)]

    def give_decks(self, Py_ssize_t i, decks):
        """Decks of a row that waits for them, as indices into its cards."""
        cdef row_t* r = self.row(i)
        cdef int who, j
        for who in range(2):
            for j in range(MAX_DECK):
                r.cold.now.decks[who][j] = decks[who][j]
        r.waits = NOTHING
        deal_row(&self.g, r, self.cards_of(i))

    def play(self, Py_ssize_t i, int action):
        """An action of an opponent outside; True while it has to go on in this turn."""
        cdef row_t* r = self.row(i)
        if not state_is_legal(&r.s, table_of(r), action):
            raise IllegalActionError(
                f"row {i}: action {action} of the opponent is not legal\n{self.state(i)}")
        r.length += 1
        known_apply(&r.k, &r.s, table_of(r), action)
        return (won_by(&r.s) < 0 and r.s.turn & 1 != r.seat
                and r.length < self.g.max_actions)

    def draw(self, Py_ssize_t i):
        """64 bits of a row's own chance."""
        return draw_bits(&self.row(i).stream)

    # -- looking at rows

    def observe(self, Py_ssize_t i, int player, observation, mask=None, layout=None):
        """Write what a player sees, in the layout of the rows or another one."""
        cdef row_t* r = self.row(i)
        cdef int code = self.g.layout if layout is None else LAYOUT_CODES[layout]
        cdef view_t view
        cdef list held = []
        cdef uint8_t* out
        cdef uint8_t* legal
        out = address(held, "obs", observation,
                      layout_size(code, self.g.rules) * layout_item(code))
        legal = address(held, "mask", mask, self.n_actions)
        view_of(&r.k, &r.s, player & 1, &view)
        if out is not NULL:
            write_layout(code, out, &r.s, table_of(r), player & 1, &view)
        if legal is not NULL:
            write_mask(<int8_t*>legal, &r.s, table_of(r), player & 1)

    def show_row(self, Py_ssize_t i):
        """Write observation and mask of a row into the arrays again."""
        self.row(i)
        self.show(i)

    def fresh(self, observation, mask, bint in_info, hidden=None):
        """A function that gives copies of what has been written for row 0, and an info."""
        return Fresh(self, observation, mask, in_info, hidden)

    def state(self, Py_ssize_t i):
        """A copy of a row's state, all that is hidden included."""
        cdef row_t* r = self.row(i)
        cdef Table table = Table.__new__(Table)
        cdef State state = State.__new__(State)
        cdef Table pool = self.table_of_set(i)
        table.t.rules = self.g.rules
        table.t.n_cards = r.cold.table.n_cards
        memcpy(table.t.cards, r.cold.table.cards, table.t.n_cards * sizeof(card_t))
        table.add_pool(pool)
        state.table = table
        state.s = r.s
        return state

    def put_state(self, Py_ssize_t i, State state not None):
        """Replace a row's position by one that looks the same to a player; for tests of leaks.

        Only cards that are hidden may differ; what has happened is kept, by instance ids.
        """
        cdef row_t* r = self.row(i)
        cdef row_t old = r[0]
        cdef cold_t before = r.cold[0]
        cdef int who, copy, a, b
        shorten(&r.s, &r.cold.table, &state.s, &state.table.t)
        known_start(&r.k, &r.s, table_of(r))
        memcpy(r.k.seen, old.k.seen, sizeof(old.k.seen))
        memcpy(r.k.shown, old.k.shown, sizeof(old.k.shown))
        memcpy(r.k.draws[1], old.k.draws[1], sizeof(old.k.draws[1]))
        r.k.actions = old.k.actions
        memset(r.k.began, 0, sizeof(r.k.began))
        for a in range(before.table.n_cards):
            for b in range(r.cold.table.n_cards):
                if before.table.cards[a].id != r.cold.table.cards[b].id:
                    continue
                for who in range(2):
                    r.k.drawn[who] |= (old.k.drawn[who] >> a & 1) << b
                    for copy in range(2):
                        r.k.began[who][copy] |= (old.k.began[who][copy] >> a & 1) << b
        for who in range(2):
            known_hand(&r.k, &r.s, table_of(r), who)

    def seat(self, Py_ssize_t i):
        """The caller\'s seat, -1 if they play both."""
        return self.row(i).seat

    def opponent(self, Py_ssize_t i):
        """Index of the row's opponent."""
        return self.row(i).cold.now.opponent

    def mover(self, Py_ssize_t i):
        """0 or 1."""
        return self.row(i).s.turn & 1

    def winner(self, Py_ssize_t i):
        """-1 while nobody has won."""
        return won_by(&self.row(i).s)

    def turn(self, Py_ssize_t i):
        """Turns of both players, from 0."""
        return self.row(i).s.turn

    def length(self, Py_ssize_t i):
        """Actions of both players in this episode."""
        return self.row(i).length

    def over(self, Py_ssize_t i):
        """Whether the row's episode has ended and no other has begun."""
        return self.row(i).where == OVER

    def result(self, Py_ssize_t i):
        """Of the row's last finished episode: winner, seat, length, turn, healths, illegal,
        opponent; seed, derived seeds, triplets (30 times 3) and decks (2 times 30) as bytes; None
        for the last four if the position was given."""
        cdef row_t* r = self.row(i)
        cdef const end_t* e = &r.cold.last
        head = (winner_of(e), e.seat, e.length, e.turn, (e.health[0], e.health[1]), bool(e.illegal),
                e.opponent)
        if not e.dealt:
            return (*head, None, None, None, None)
        return (*head, e.seed, [e.seeds[j] for j in range(self.g.n_seeds)],
                (<const char*>e.triplets)[:sizeof(e.triplets)],
                (<const char*>e.decks)[:sizeof(e.decks)])

    @cython.boundscheck(False)
    def results(self, ended, int8_t[::1] winner, int8_t[::1] seat, int32_t[::1] length,
                int32_t[::1] turn, int32_t[:, ::1] health, illegal, float[:, ::1] returns):
        """What `result` says, for all rows that `ended` marks, into arrays."""
        cdef const uint8_t[::1] marked = ended.view("u1")
        cdef uint8_t[::1] bad = illegal.view("u1")
        cdef const end_t* e
        cdef Py_ssize_t i
        cdef int won
        sizes = {marked.shape[0], winner.shape[0], seat.shape[0], length.shape[0], turn.shape[0],
                 health.shape[0], bad.shape[0], returns.shape[0]}
        if sizes != {self.n}:
            raise ValueError(f"expected {self.n} rows, got {sizes}")
        for i in range(self.n):
            if not marked[i]:
                continue
            e = &self.rows[i].cold.last
            won = winner_of(e)
            winner[i] = won
            seat[i] = e.seat
            length[i] = e.length
            turn[i] = e.turn
            health[i, 0] = e.health[0]
            health[i, 1] = e.health[1]
            bad[i] = e.illegal
            if won >= 0:
                returns[i, won] = 1
                returns[i, 1 - won] = -1

    def decks(self, Py_ssize_t i):
        """The decks of a row that was dealt, as indices into its cards, in the order of choice."""
        cdef row_t* r = self.row(i)
        return [[r.cold.now.decks[who][j] for j in range(MAX_DECK)] for who in range(2)]

    def dealt(self, Py_ssize_t i):
        """Whether a row's episode began with a deal, not with a given position."""
        return bool(self.row(i).cold.now.dealt)

    def episode(self, Py_ssize_t i):
        """A number that each episode of a row has for itself."""
        return self.row(i).serial

    def performed(self, Py_ssize_t i):
        """What the learner did in their last turn: base id and text of each action."""
        cdef row_t* r = self.row(i)
        cdef const act_t* a
        names = ("PASS", "SUMMON", "USE", "ATTACK")
        result = []
        for j in range(r.cold.n_acts):
            a = &r.cold.acts[j]
            text = f"{names[a.kind]} {a.source}"
            if a.kind != SUMMON or self.g.rules != RULES_10:
                text += f" {a.target}"
            result.append((a.base_id, text))
        return result

    def seeds(self, Py_ssize_t i):
        """The seed of the row's episode and those that follow from it."""
        cdef row_t* r = self.row(i)
        return r.cold.now.seed, [r.cold.now.seeds[j] for j in range(self.g.n_seeds)]

    @cython.boundscheck(False)
    def sample(self, uint64_t seed, int64_t[::1] out):
        """A uniformly random legal action for each row; PASS for ended ones."""
        cdef Py_ssize_t i
        cdef uint64_t stream
        cdef const row_t* r
        if out.shape[0] != self.n:
            raise ValueError(f"expected {self.n} rows, got {out.shape[0]}")
        with nogil:
            for i in range(self.n):
                r = &self.rows[i]
                stream = stream_start(seed, i)
                out[i] = 0
                if won_by(&r.s) < 0:
                    out[i] = state_kth(&r.s, table_of(r), stream_below(
                        &stream, state_count(&r.s, table_of(r))))

    # -- pickling and copying

    def __reduce__(self):
        tables = {number: table for number, table in enumerate(self.tables) if table is not None}
        return _rows_of, (
            self.n, self.options, self.opponents,
            (<const char*>self.rows)[:self.n * sizeof(row_t)],
            (<const char*>self.cold)[:self.n * sizeof(cold_t)], self.row_sets,
            {number: (table, (<const char*>self.sets[number].decks)[:2 * MAX_DECK])
             for number, table in tables.items()})


def _rows_of(n, options, opponents, data, cold_data, row_sets, tables):
    """Inverse of `Rows.__reduce__`. The arrays have to be bound again."""
    cdef Rows rows = Rows(n, options)
    cdef bytes raw = data, raw_cold = cold_data, decks
    cdef Table table
    cdef Py_ssize_t i
    if (len(raw) != n * <Py_ssize_t>sizeof(row_t)
            or len(raw_cold) != n * <Py_ssize_t>sizeof(cold_t)):
        raise ValueError("rows of another size")
    rows.set_opponents(*opponents)
    memcpy(rows.rows, <const char*>raw, len(raw))
    memcpy(rows.cold, <const char*>raw_cold, len(raw_cold))
    for i in range(n):
        rows.rows[i].cold = &rows.cold[i]
    rows.row_sets = list(row_sets)
    for number, (given, chosen) in tables.items():
        table = given
        decks = chosen
        rows.tables[number] = table
        rows.sets[number].cards = &table.t.cards[table.t.n_instances]
        memcpy(rows.sets[number].decks, <const char*>decks, 2 * MAX_DECK)
    if rows.own_sets is not NULL:
        for i in range(n):
            table = rows.row_sets[i]
            if table is not None:
                rows.own_sets[i].cards = &table.t.cards[table.t.n_instances]
    return rows


@cython.final
cdef class Fresh:
    """What a single environment returns: arrays of its own for each step, and an info."""

    cdef Rows rows
    cdef object observation, mask, hidden
    cdef bint in_info

    def __cinit__(self, Rows rows not None, observation, mask, bint in_info, hidden):
        self.rows = rows
        self.observation = observation.copy
        self.mask = mask.copy
        self.in_info = in_info
        self.hidden = None if hidden is None else hidden.copy

    def __call__(self):
        cdef const row_t* r = &self.rows.rows[0]
        if self.in_info:
            return self.observation(), {
                "turn": r.s.turn, "seat": r.seat, "action_mask": self.mask()}
        if self.hidden is not None:
            return ({"observation": self.observation(), "action_mask": self.mask(),
                     "state": self.hidden()}, {"turn": r.s.turn, "seat": r.seat})
        return ({"observation": self.observation(), "action_mask": self.mask()},
                {"turn": r.s.turn, "seat": r.seat})


cdef uint8_t* address(list held, str name, array, Py_ssize_t size) except? NULL:
    """Where an array's bytes are; keeps the array in `held`."""
    cdef uint8_t[::1] data
    if array is None:
        return NULL
    try:
        data = memoryview(array).cast("B")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected a writable C-contiguous array: {error}") from None
    if data.shape[0] != size:
        raise ValueError(f"{name}: expected {size} bytes, got {data.shape[0]}")
    held.append(array)
    return &data[0]
