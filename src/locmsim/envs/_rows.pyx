"""Rows of games side by side: the compiled part of `locmsim.envs`, for one game or thousands.

A row is an episode of a match (its choice phase, its battle or both) with all that an environment
keeps for it. `steps`, in _row.pyx, takes an action for each row, lets compiled players answer,
writes the rewards and, where an episode has ended, begins the next one; then it writes what the
player to move sees. All of that runs without the GIL. A row depends on nothing but itself, so
neither the number of rows nor the number of threads changes a result.

Some things are left to Python: making a card set, choosing decks, playing for an opponent written
in Python. A row that needs one of them waits; `Rows.requests` tells for what, and continues the row
afterwards. This module is the interface to Python; each part of `Rows` has one purpose and its own
module.
"""

from numpy import int64

cimport cython
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int32_t, int64_t, int8_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    MAX_DECK,
    State,
    Table,
    seed_of,
    state_count,
    state_kth,
    stream_below,
    stream_start,
)
from locmsim.envs._row cimport (
    BATTLE_EPISODE,
    BY_CALLER,
    IN_CHOICE,
    NOTHING,
    OVER,
    SLOTS,
    advance,
    begin,
    clear,
    cold_t,
    is_legal,
    mover_of,
    out_t,
    resume,
    row_t,
    rows_t,
    set_t,
    show,
    start_row,
    table_of,
)
from locmsim.envs._searcher cimport Searcher
from locmsim.game._layout cimport HAND_ROW, HIDDEN_ROWS, choice_actions
from locmsim.game._match cimport is_legal_pick, n_seeds_of, won_by
from locmsim.game._turn_view cimport shorten

from locmsim.options.checks import integer

__all__ = [
    "CardSets", "EpisodeResult", "MOST_PLAYERS", "PlayerTable", "Requests", "RowBlock", "Rows",
    "Views"]

include "_rows_block.pxi"        # the memory of rows, and their options
include "_rows_cards.pxi"        # card sets
include "_rows_players.pxi"      # who plays
include "_rows_views.pxi"        # what is shown
include "_rows_requests.pxi"     # what rows wait for


cpdef int64_t action_of(action) except? -1:
    """Return a Python or NumPy integer; -1, which is legal nowhere, if 64 bits cannot hold it."""
    cdef int overflow = 0
    cdef int64_t number
    if not PyLong_CheckExact(action):
        if type(action) is int64:       # what policies choose; the check of others takes long
            action = PyNumber_Index(action)
        else:
            action = integer("action", action, TypeError)
    number = PyLong_AsLongLongAndOverflow(action, &overflow)
    return -1 if overflow else number


@cython.final
cdef class Rows:
    """Plays `n` games side by side; `locmsim.envs` explains the options.

    `options` is a mapping made by `locmsim.envs.options`; only sizes are checked here.
    """

    def __cinit__(self, Py_ssize_t n, options):
        self.block = RowBlock(n, options)
        self.a = &self.block.a
        self.n = n
        self.n_actions = self.block.n_actions
        self.battle_actions = self.block.battle_actions
        self.rules = self.block.rules
        self.card_sets = CardSets(self.block)
        self.players = PlayerTable(self.block)
        self.views = Views(self.block, self.card_sets)
        self.requests = Requests(self.block, self.players, self.card_sets, self.views)

    def bind(self, obs=None, masks=None, rewards=None, rewards_both=None, terminated=None,
             truncated=None, to_move=None, acted=None, winner=None, length=None, final_obs=None,
             state=None):
        """Set the arrays to write to from now on, each with a row for each game, or None.

        Raises ``ValueError`` unless they are C-contiguous and have the right number of bytes.
        """
        cdef out_t out
        memset(&out, 0, sizeof(out_t))
        held = []
        out.observation = address(held, "obs", obs, self.a.n * self.a.g.size)
        out.mask = <int8_t*>address(held, "masks", masks, self.a.n * self.block.n_actions)
        out.reward = <float*>address(held, "rewards", rewards, 4 * self.a.n)
        out.terminated = address(held, "terminated", terminated, self.a.n)
        out.truncated = address(held, "truncated", truncated, self.a.n)
        out.to_move = <int8_t*>address(held, "to_move", to_move, self.a.n)
        out.acted = <int8_t*>address(held, "acted", acted, self.a.n)
        out.both = <float*>address(held, "rewards_both", rewards_both, 8 * self.a.n)
        out.winner = <int8_t*>address(held, "winner", winner, self.a.n)
        out.length = <int32_t*>address(held, "length", length, 4 * self.a.n)
        out.final = address(held, "final_obs", final_obs, self.a.n * self.a.g.size)
        out.hidden = <int8_t*>address(
            held, "state", state, self.a.n * HIDDEN_ROWS * HAND_ROW)
        self.a.out = out        # only after all arrays have been accepted
        self.block.held = held

    def step_row(self, Py_ssize_t i, action):
        """Step one row; True if its episode has ended or begun, or if it waits for Python."""
        cdef row_t* r = self.block.row(i)
        cdef int64_t episode = r.serial
        cdef int64_t number = action_of(action)
        clear(&self.a.out, i, i + 1)
        advance(self.a, i, number)
        return r.waits != NOTHING or r.serial != episode or r.where == OVER

    @cython.boundscheck(False)
    def bad_rows(self, const int64_t[::1] actions):
        """Return the rows that are not over and whose action is not legal."""
        cdef Py_ssize_t i
        return [i for i in range(self.a.n) if self.a.rows[i].where != OVER
                and not is_legal(&self.a.g, &self.a.rows[i], actions[i])]

    # -- the beginning of an episode

    def begin(self, Py_ssize_t i, seed=None):
        """Begin an episode of a row, and return what it waits for.

        `seed`, of 64 bits, restarts the row's random stream.
        """
        cdef row_t* r = self.block.row(i)
        if seed is not None:
            restart(r, seed)
        begin(&self.a.g, r)
        resume(self.a, i)
        return r.waits

    def draw(self, Py_ssize_t i, seed=None, seat=None, player=None):
        """Draw an episode as `begin` does, with seat and player (a slot) if they are given.

        What has been drawn can be replaced before `begin_drawn`.
        """
        cdef row_t* r = self.block.row(i)
        if seed is not None:
            restart(r, seed)
        begin(&self.a.g, r)
        if player is not None:
            r.cold.now.opponent = player
            r.seat = -1 if self.a.g.player[r.cold.now.opponent] == BY_CALLER else max(r.seat, 0)
        if seat is not None and r.seat >= 0:
            r.seat = seat

    def set_match(self, Py_ssize_t i, seed, seeds, Table table not None, decks=None):
        """Set seeds and card set of an episode that has been drawn; the rest as `CardSets.give`."""
        cdef row_t* r = self.block.row(i)
        cdef int j
        r.cold.now.m.seed = seed
        for j in range(n_seeds_of(self.a.g.rules)):
            r.cold.now.m.seeds[j] = seeds[j]
        r.cold.now.set = -1
        self.card_sets.give(i, table, decks)

    def begin_drawn(self, Py_ssize_t i, decks=None, State state=None):
        """Begin an episode that has been drawn: with two decks of indices, or at a position."""
        cdef row_t* r = self.block.row(i)
        if decks is not None:
            take_decks(&r.cold.now.m, decks)
        if state is not None:
            self.place(i, state)
        resume(self.a, i)

    cdef int place(self, Py_ssize_t i, State state) except -1:
        """Set the position that an episode begins at."""
        cdef row_t* r = &self.a.rows[i]
        if self.a.g.episode != BATTLE_EPISODE:
            raise ValueError("state: only episodes without a choice phase can start from one")
        if state.table.t.rules != self.a.g.rules:
            raise ValueError(f"state: expected one of rules {self.rules}, got {state.rules}")
        if won_by(&state.s) >= 0:
            raise ValueError("state: the game is over")
        shorten(&r.s, &r.cold.table, &state.s, &state.table.t)
        r.cold.now.dealt = 0
        r.cold.now.set = -1
        self.card_sets.row_sets[i] = state.table
        self.a.own_sets[i].cards = NULL
        start_row(&self.a.g, r)
        r.waits = NOTHING
        return 0

    def kept(self, Py_ssize_t i):
        """Return all data of a row for `put_back`: a `reset` that fails must not change it."""
        cdef row_t* r = self.block.row(i)
        return ((<char*>r)[:sizeof(row_t)], (<char*>r.cold)[:sizeof(cold_t)],
                (<char*>&self.a.own_sets[i])[:sizeof(set_t)], self.card_sets.row_sets[i],
                self.card_sets.shown_in(i))

    def put_back(self, Py_ssize_t i, kept):
        """Restore a row from the result of `kept`, and write what it shows."""
        cdef row_t* r = self.block.row(i)
        cdef bytes row, cold, own
        row, cold, own, self.card_sets.row_sets[i], shown = kept
        self.card_sets.retired.update(shown)
        memcpy(r.cold, <const char*>cold, sizeof(cold_t))
        memcpy(r, <const char*>row, sizeof(row_t))
        memcpy(&self.a.own_sets[i], <const char*>own, sizeof(set_t))
        show(self.a, i)

    # -- random actions, and what is shown

    @cython.boundscheck(False)
    def sample(self, uint64_t seed, int64_t[::1] out):
        """Write a uniformly random legal action for each row; PASS for rows that are over."""
        cdef Py_ssize_t i
        cdef uint64_t stream
        cdef const row_t* r
        if out.shape[0] != self.a.n:
            raise ValueError(f"expected {self.a.n} rows, got {out.shape[0]}")
        with nogil:
            for i in range(self.a.n):
                r = &self.a.rows[i]
                stream = stream_start(seed, i)
                out[i] = 0
                if r.where == OVER:
                    continue
                if r.phase == IN_CHOICE:
                    out[i] = sampled_pick(self.a, i, &stream)
                else:
                    out[i] = state_kth(&r.s, table_of(r), stream_below(
                        &stream, state_count(&r.s, table_of(r))))

    def show_all(self, bint over=False):
        """Write what all rows show into the arrays again, or only that of rows that are over."""
        cdef Py_ssize_t i
        for i in range(self.a.n):
            if not over or self.a.rows[i].where == OVER:
                show(self.a, i)

    # -- pickling and copying

    def __reduce__(self):
        cdef Searcher searcher
        players = []
        for slot in range(SLOTS):
            searcher = self.players.searchers[slot]
            players.append((self.a.g.player[slot], None, None) if searcher is None else (
                0, searcher, searcher.knowledge()))
        return _rows_of, (
            self.n, self.block.options, players, self.players.battlers, self.players.drawn,
            (<const char*>self.a.winners)[:self.a.n * self.a.g.battles],
            (<const char*>self.a.results)[:sizeof(self.a.results)],
            (<const char*>self.a.rows)[:self.a.n * sizeof(row_t)],
            (<const char*>self.block.cold)[:self.a.n * sizeof(cold_t)], self.card_sets.row_sets,
            [self.a.own_sets[i].key for i in range(self.a.n)],
            {number: (table, self.a.sets[number].key,
                      (<const char*>self.a.sets[number].decks)[:2 * MAX_DECK])
             for number, table in enumerate(self.card_sets.tables) if table is not None})


cdef int restart(row_t* r, seed) except -1:
    """Restart a row's random stream from 64 bits."""
    r.stream = stream_start(seed_of(seed), 0)
    r.episode = 0
    return 0


cdef int sampled_pick(const rows_t* a, Py_ssize_t i, uint64_t* stream) noexcept nogil:
    """Return a uniformly random legal pick of the player to choose."""
    cdef const row_t* r = &a.rows[i]
    cdef int pick, n = choice_actions(a.g.rules)
    while True:
        pick = stream_below(stream, n)
        if is_legal_pick(&r.cold.now.m, mover_of(r), pick):
            return a.g.first_pick + pick


def _rows_of(n, options, players, battlers, drawn, winners, results, data, cold_data, row_sets,
             own_keys, tables):
    """Restore what `Rows.__reduce__` returned; the arrays have to be bound again."""
    cdef Rows rows = Rows(n, options)
    cdef bytes raw = data, raw_cold = cold_data, played = results, decks, won = winners
    cdef Searcher searcher
    cdef Table table
    cdef set_t* target
    cdef Py_ssize_t i
    if (len(raw) != n * <Py_ssize_t>sizeof(row_t)
            or len(raw_cold) != n * <Py_ssize_t>sizeof(cold_t)):
        raise ValueError("the pickled rows have another size")
    for slot, (kind, found, knowledge) in enumerate(players):
        if found is None:
            rows.players.put(slot, kind)
        else:
            searcher = found
            rows.players.put(slot, searcher)
            searcher.know(knowledge)
    rows.players.draw_from(drawn[0], drawn[1])
    rows.players.set_battlers(battlers)
    memcpy(rows.a.winners, <const char*>won, len(won))
    memcpy(rows.a.results, <const char*>played, sizeof(rows.a.results))
    memcpy(rows.a.rows, <const char*>raw, len(raw))
    memcpy(rows.block.cold, <const char*>raw_cold, len(raw_cold))
    for i in range(n):
        rows.a.rows[i].cold = &rows.block.cold[i]
        target = &rows.a.own_sets[i]
        table = rows.card_sets.row_sets[i] = row_sets[i]
        target.key = own_keys[i]
        if table is not None and rows.block.cold[i].now.dealt:
            target.cards = &table.t.cards[table.t.n_instances]
            rows.card_sets.show_set(target, table)
    for number, (found, key, chosen) in tables.items():
        table = found
        decks = chosen
        target = &rows.a.sets[number]
        rows.card_sets.tables[number] = table
        target.cards = &table.t.cards[table.t.n_instances]
        target.key = key
        rows.card_sets.show_set(target, table)
        memcpy(target.decks, <const char*>decks, 2 * MAX_DECK)
    for i in range(n):
        if rows.a.rows[i].phase == IN_CHOICE and rows.a.rows[i].where != OVER:
            table = rows.card_sets.table_of_set(i)
            rows.block.cold[i].now.m.cards = &table.t.cards[table.t.n_instances]
            rows.block.cold[i].shown = rows.card_sets.shown_rows(table)
        else:
            rows.block.cold[i].now.m.cards = NULL       # they are read no more
    return rows
