"""Rows of games side by side: the compiled part of `locmsim.envs`, for one game or thousands.

A row is an episode of a match, its choice phase or its battle or both, with all that an environment
keeps beside it. `steps`, in _row.pyx, takes an action for each row, lets compiled players answer,
writes rewards and, where an episode has ended, begins the next one; then it writes what the player
to move sees. All of it runs without the GIL, and a row depends on nothing but itself, so that
neither the number of rows nor of threads changes a result. Here is what Python has to do with rows.

What Python has to do for a row, making a card set, choosing decks or playing for an opponent of its
own, makes the row wait: `Rows.waiting` says for what, and `Rows.proceed` goes on from there.
"""

from functools import partial
from threading import current_thread, main_thread

import numpy as np

cimport cython
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.sequence cimport PySequence_GetItem
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    MAX_DECK,
    RULES_10,
    RULES_15,
    State,
    Table,
    card_t,
    shown_action_t,
    state_count,
    state_is_legal,
    state_kth,
    state_seen,
    stream_below,
    stream_start,
    table_t,
)
from locmsim.envs._choice cimport (
    choice_actions,
    choice_is_legal,
    choice_size,
    choice_t,
    write_cards,
)
from locmsim.envs._deal cimport draw_triplets
from locmsim.envs._numpy_stream cimport numpy_next, numpy_take
from locmsim.envs._row cimport (
    ALIGNMENT,
    AS_PASS,
    CALLER,
    CARD_SET,
    EXTERNAL,
    IN_RESET,
    LOSE,
    NOTHING,
    OPPONENT,
    OVER,
    SEARCH,
    SEARCHES,
    SLOTS,
    BATTLES,
    BATTLE_EPISODE,
    IN_BATTLE,
    IN_CHOICE,
    advance,
    choice_of,
    choose,
    cold_t,
    deal_row,
    draw_battle,
    draw_bits,
    draw_choice,
    draw_episode,
    end_t,
    game_t,
    go_on,
    begin,
    clear,
    finish_choice,
    is_legal,
    large_pages_,
    mover_of,
    play_battles,
    out_t,
    row_t,
    rows_t,
    search,
    set_key,
    set_of,
    set_t,
    show,
    start_row,
    table_of,
    view_row,
    winner_of,
    won_by,
)
from locmsim.envs._searcher cimport Searcher
from locmsim.game.observation cimport Observation
from locmsim.game._layout cimport (
    HAND_ROW,
    HIDDEN_ROWS,
    known_apply,
    known_hand,
    known_start,
    layout_item,
    layout_size,
    write_known,
    write_mask,
)
from locmsim.game._turn_view cimport shorten

from locmsim.errors import IllegalActionError
from locmsim.game._layout import LAYOUT_CODES

__all__ = ["Rows"]


# ---- the class -----------------------------------------------------------------------------------

@cython.final
cdef class Rows:
    """`n` games side by side; `locmsim.envs` says what the options mean.

    `options` is a mapping that `locmsim.envs.options` makes; nothing is checked here but sizes.
    """

    def __cinit__(self, Py_ssize_t n, options):
        cdef game_t* g = &self.a.g
        cdef Py_ssize_t size, i
        if n < 1:
            raise ValueError(f"num_envs: expected at least 1, got {n}")
        memset(&self.a, 0, sizeof(rows_t))
        self.options = dict(options)
        self.rules = options["rules"]
        g.rules = ("1.5", "1.2", "1.0").index(self.rules)
        g.episode = ("battle", "choice", "match").index(options["episode"])
        g.layout = LAYOUT_CODES[options["layout"]]
        if layout_size(g.layout, g.rules) == 0:
            raise ValueError(f"layout {options['layout']!r} has no rules {self.rules}")
        if options["episode"] != "choice":
            g.battle_actions = 155 if g.rules == RULES_10 else 145
            g.battle_size = layout_size(g.layout, g.rules) * layout_item(g.layout)
        g.first_pick = g.n_actions = g.battle_actions
        if g.episode != BATTLE_EPISODE:
            g.choice_size = choice_size(g.rules)
            g.n_actions += choice_actions(g.rules)
        g.size = g.battle_size + g.choice_size
        self.n_actions = g.n_actions
        self.battle_actions = g.battle_actions
        for i in range(2):
            g.chooser[i] = ("random", "given", "asked").index(options["choosers"][i])
        g.battles = options["battles"]
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
        g.generated = g.rules == RULES_15 and g.first_set >= 0
        g.refresh = options["refresh"]
        g.n_cards = options["n_cards"]
        allowed = options["allowed"]
        g.n_allowed = <int>len(allowed)
        for i in range(g.n_allowed):
            g.allowed[i] = allowed[i]
        size = max(g.n_sets, 1)
        self.tables = [None] * size
        self.row_sets = [None] * n
        self.a.sets = <set_t*>PyMem_Calloc(size, sizeof(set_t))
        self.a.own_sets = <set_t*>PyMem_Calloc(n, sizeof(set_t))
        if self.a.sets is NULL or self.a.own_sets is NULL:
            raise MemoryError(f"{size} card sets")
        # A draw may look at 256 entries of the last row's table.
        size = n * (sizeof(row_t) + sizeof(cold_t)) + sizeof(table_t) + ALIGNMENT
        self.block = PyMem_Malloc(size)
        if self.block is NULL:
            raise MemoryError(f"{n} rows")
        large_pages_(<char*>self.block, size)
        memset(self.block, 0, size)
        self.a.rows = <row_t*>(<uintptr_t>(<char*>self.block + ALIGNMENT - 1) & ~<uintptr_t>63)
        self.cold = <cold_t*>(self.a.rows + n)
        self.a.n = self.n = n
        self.retired = {}
        self.a.winners = <int8_t*>PyMem_Calloc(n * g.battles, 1)
        if self.a.winners is NULL:
            raise MemoryError(f"{n * g.battles} battles")
        for i in range(n):
            self.a.rows[i].cold = &self.cold[i]
            self.a.rows[i].stream = stream_start(0, i)
            self.a.rows[i].where = OVER
            self.a.rows[i].phase = IN_BATTLE if g.episode == BATTLE_EPISODE else IN_CHOICE
        self.n_threads = 1
        self.searchers = [None] * SLOTS
        for i in range(SLOTS):
            g.player[i] = CALLER
        self.draw_from([0], [1.0])
        self.battlers = [EXTERNAL, EXTERNAL]

    def __dealloc__(self):
        PyMem_Free(self.block)
        PyMem_Free(self.a.sets)
        PyMem_Free(self.a.own_sets)
        PyMem_Free(self.a.winners)

    cdef row_t* row(self, Py_ssize_t i) except NULL:
        if not 0 <= i < self.a.n:
            raise IndexError(f"row {i} of {self.a.n}")
        return &self.a.rows[i]

    def free_slots(self):
        """The slots of players that no running episode is played against."""
        cdef bint taken[SLOTS]
        cdef Py_ssize_t row
        memset(taken, 0, sizeof(taken))
        for row in range(self.a.n):
            if self.a.rows[row].where != OVER:
                taken[self.a.rows[row].cold.now.opponent] = True
        return [slot for slot in range(SLOTS) if not taken[slot]]

    def put_player(self, int slot, kind):
        """Put a player into a slot: a scripted one by its number, -1: one that Python asks, -3: the
        caller, or a `Searcher`."""
        cdef Searcher searcher
        cdef game_t* g = &self.a.g
        cdef int i
        if not 0 <= slot < SLOTS:
            raise IndexError(f"slot {slot} of {SLOTS}")
        g.player[slot] = SEARCHES if isinstance(kind, Searcher) else kind
        self.a.searchers[slot] = NULL
        self.searchers[slot] = None
        if isinstance(kind, Searcher):
            searcher = kind
            searcher.room_for(self.a.n, g.n_sets, self.n_threads, self.a.n)
            searcher.q.stopped = &self.a.stopped
            self.a.searchers[slot] = &searcher.q
            self.searchers[slot] = searcher
        memset(self.a.results[slot], 0, sizeof(self.a.results[slot]))
        g.notes = False
        for i in range(SLOTS):
            g.notes = g.notes or g.player[i] == EXTERNAL or g.player[i] == SEARCHES

    def draw_from(self, list slots, list weights):
        """Whom new episodes are played against, and how often each.

        Episodes that are running go on against the player that they have.
        """
        cdef game_t* g = &self.a.g
        cdef int i
        total = sum(weights)
        g.self_play = True
        g.mixed = False
        for i in range(<int>len(slots)):
            g.slot[i] = slots[i]
            g.weight[i] = <uint32_t>round(65536 * weights[i] / total)
            g.self_play = g.self_play and g.player[g.slot[i]] == CALLER
            g.mixed = g.mixed or g.player[g.slot[i]] == CALLER
        g.mixed = g.mixed and not g.self_play
        g.n_opponents = <int>len(slots)
        self.drawn = (slots, weights)

    def played(self, int slot):
        """Episodes against a player that have ended: without a winner, won by the caller (by player
        0 where both are), lost."""
        if not 0 <= slot < SLOTS:
            raise IndexError(f"slot {slot} of {SLOTS}")
        return self.a.results[slot][0], self.a.results[slot][1], self.a.results[slot][2]

    def set_battlers(self, battlers):
        """Who plays the battles of a choice, with the caller's deck and with the other one: kinds
        as of `put_player`."""
        cdef Searcher searcher
        cdef int i
        self.battlers = list(battlers)
        for i in range(2):
            self.a.battlers[i] = NULL
            self.a.g.battler[i] = EXTERNAL
            if isinstance(battlers[i], Searcher):
                searcher = battlers[i]
                searcher.room_for(
                    self.a.n, self.a.g.n_sets, self.n_threads, 2 * self.n_threads)
                searcher.q.stopped = &self.a.stopped
                self.a.battlers[i] = &searcher.q
                self.a.g.battler[i] = SEARCHES
            else:
                self.a.g.battler[i] = battlers[i]

    def set_threads(self, int n):
        """How many threads step rows at a time."""
        cdef Searcher searcher
        self.n_threads = n
        for found in self.searchers:
            if found is not None:
                searcher = found
                searcher.room_for(self.a.n, self.a.g.n_sets, n, self.a.n)
        self.set_battlers(self.battlers)

    # -- arrays

    def bind(self, obs=None, masks=None, rewards=None, rewards_both=None, terminated=None,
             truncated=None, to_move=None, acted=None, winner=None, length=None, final_obs=None,
             state=None):
        """The arrays that are written from now on, each with a row for each game; None for none.

        ``ValueError`` unless they are C-contiguous and have the right number of bytes.
        """
        cdef out_t out
        memset(&out, 0, sizeof(out_t))
        held = []
        out.observation = address(held, "obs", obs, self.a.n * self.a.g.size)
        out.mask = <int8_t*>address(held, "masks", masks, self.a.n * self.n_actions)
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
        self.a.out = out        # nothing was refused
        self.held = held

    def step_row(self, Py_ssize_t i, int64_t action):
        """One action in one row; True if something is left to do, as `step` counts it."""
        cdef row_t* r = self.row(i)
        cdef int64_t episode = r.serial
        clear(&self.a.out, i, i + 1)
        advance(&self.a, i, action)
        return r.waits != NOTHING or r.serial != episode or r.where == OVER

    @cython.boundscheck(False)
    def bad_rows(self, const int64_t[::1] actions):
        """The rows that are to act and whose action is not legal."""
        cdef Py_ssize_t i
        return [i for i in range(self.a.n) if self.a.rows[i].where != OVER
                and not is_legal(&self.a.g, &self.a.rows[i], actions[i])]

    def reset(self, Py_ssize_t i, seed=None):
        """Begin an episode of a row; `seed` begins its random stream anew. What it waits for."""
        self.row(i)
        if seed is not None:
            self.seed(i, seed)
        begin(&self.a, i)
        go_on(&self.a, i)
        return self.a.rows[i].waits

    def reseat(self, Py_ssize_t i, seat, player=None):
        """Begin the episode that `begin_with` is for: who plays where; `player` is a slot."""
        cdef row_t* r = self.row(i)
        draw_episode(&self.a.g, r)
        if player is not None:
            r.cold.now.opponent = player
            r.seat = -1 if self.a.g.player[r.cold.now.opponent] == CALLER else max(r.seat, 0)
        if seat is not None and r.seat >= 0:
            r.seat = seat
        return r.seat

    def open_choice(self, Py_ssize_t i, seat, player, bint seed, bint cards):
        """Begin an episode with a choice as far as who plays where, with a seed and a card set if
        they are not given."""
        cdef row_t* r = self.row(i)
        draw_choice(&self.a.g, r, seed, cards)
        if player is not None:
            r.cold.now.opponent = player
            r.seat = -1 if self.a.g.player[r.cold.now.opponent] == CALLER else max(r.seat, 0)
        if seat is not None and r.seat >= 0:
            r.seat = seat
        r.where = IN_RESET
        r.waits = CARD_SET

    def begin_choice(self, Py_ssize_t i):
        """... from there on; the card set is there, or waited for."""
        cdef row_t* r = self.row(i)
        cdef const set_t* source = set_of(&self.a, i)
        if source.cards is not NULL and source.key == set_key(&self.a.g, r):
            choose(&self.a, i)
        go_on(&self.a, i)

    def kept(self, Py_ssize_t i):
        """All of a row, for `put_back`: what a refused `reset` must not change."""
        cdef row_t* r = self.row(i)
        return ((<char*>r)[:sizeof(row_t)], (<char*>r.cold)[:sizeof(cold_t)],
                (<char*>&self.a.own_sets[i])[:sizeof(set_t)], self.row_sets[i])

    def put_back(self, Py_ssize_t i, kept):
        """A row as it was when it was `kept`, and what it showed then."""
        cdef row_t* r = self.row(i)
        cdef bytes row, cold, own
        row, cold, own, self.row_sets[i] = kept
        memcpy(r.cold, <const char*>cold, sizeof(cold_t))
        memcpy(r, <const char*>row, sizeof(row_t))
        memcpy(&self.a.own_sets[i], <const char*>own, sizeof(set_t))
        show(&self.a, i)

    def begin_with(self, Py_ssize_t i, State state not None):
        """... from a position, which has at most 64 cards that matter."""
        cdef row_t* r = self.row(i)
        if self.a.g.episode != BATTLE_EPISODE:
            raise ValueError("state: episodes that begin with a choice have none")
        if state.table.t.rules != self.a.g.rules:
            raise ValueError(f"state: expected one of rules {self.rules}, got {state.rules}")
        if won_by(&state.s) >= 0:
            raise ValueError("state: the game is over")
        shorten(&r.s, &r.cold.table, &state.s, &state.table.t)
        r.cold.now.dealt = 0
        r.cold.now.set = -1
        self.row_sets[i] = state.table
        self.a.own_sets[i].cards = NULL
        start_row(&self.a.g, r)
        r.waits = NOTHING
        go_on(&self.a, i)

    def seed(self, Py_ssize_t i, seed):
        """Begin a row's random stream anew: from 64 bits, or from where a generator of numpy is,
        which episodes with a choice follow from."""
        cdef row_t* r = self.row(i)
        if isinstance(seed, np.random.Generator):
            numpy_take(&r.cold.random, seed)
        else:
            r.stream = stream_start(<uint64_t>(seed & 0xFFFFFFFFFFFFFFFF), 0)
        r.episode = 0

    def give_own_set(self, Py_ssize_t i, Table table not None, decks=None):
        """The card set of an episode that is begun with options, and decks of it if they follow."""
        cdef int who, j
        self.row(i).cold.now.set = -1
        self.row_sets[i] = table
        self.a.own_sets[i].cards = &table.t.cards[table.t.n_instances]
        self.show_set(&self.a.own_sets[i], table)
        if decks is not None:
            for who in range(2):
                for j in range(len(decks[who])):
                    self.a.own_sets[i].decks[who][j] = decks[who][j]

    def take_seeds(self, Py_ssize_t i, seed, seeds):
        """... and the seeds of its match, from which the offers of 1.x follow."""
        cdef row_t* r = self.row(i)
        cdef int j
        r.cold.now.seed = seed
        for j in range(self.a.g.n_seeds):
            r.cold.now.seeds[j] = seeds[j]
        self.a.own_sets[i].key = set_key(&self.a.g, r)
        if self.a.g.rules != RULES_15:
            draw_triplets(r.cold.now.seeds[0], self.a.g.allowed, self.a.g.n_allowed,
                          r.cold.now.triplets)

    def begin_dealt(self, Py_ssize_t i, seed, seeds, decks):
        """... from the seeds of a match and decks of indices; the card set has been given."""
        cdef row_t* r = self.row(i)
        cdef int who, j
        self.take_seeds(i, seed, seeds)
        self.a.own_sets[i].key = set_key(&self.a.g, r)
        for who in range(2):
            for j in range(MAX_DECK):
                r.cold.now.decks[who][j] = decks[who][j]
        r.where = IN_RESET
        r.waits = NOTHING
        deal_row(&self.a.g, r, self.cards_of(i))
        go_on(&self.a, i)

    # -- what rows wait for

    def waiting(self):
        """(row, what it waits for, slot of its opponent) of each row that waits: for 1 a card set,
        2 decks, 3 its opponent, 4 a search, 5 battles."""
        cdef Py_ssize_t i
        return [(i, self.a.rows[i].waits, self.a.rows[i].cold.now.opponent)
                for i in range(self.a.n) if self.a.rows[i].waits != NOTHING]

    def ask(self, rows, observations, masks, uint64_t[::1] seeds, layout):
        """Write what the players that rows wait for see, one row after the other, in any layout,
        and draw 64 bits for each from the random stream of its row unless `seeds` is None."""
        cdef int code = LAYOUT_CODES[layout]
        cdef Py_ssize_t size = layout_size(code, self.a.g.rules) * layout_item(code)
        cdef Py_ssize_t n = len(rows), j
        cdef list held = []
        cdef uint8_t* seen = address(held, "obs", observations, n * size)
        cdef int8_t* legal = <int8_t*>address(held, "masks", masks, n * self.battle_actions)
        cdef row_t* r
        if seeds is not None and seeds.shape[0] != n:
            raise ValueError(f"seeds: expected {n}, got {seeds.shape[0]}")
        for j in range(n):
            r = self.row(rows[j])
            write_known(code, seen + j * size, &r.k, &r.s, table_of(r), r.s.turn & 1)
            write_mask(legal + j * self.battle_actions, &r.s, table_of(r), r.s.turn & 1)
            if seeds is not None:
                seeds[j] = draw_bits(&r.stream)

    def answer(self, rows, int64_t[::1] actions):
        """An action of the player that each row waits for; the row goes on from there.

        Rows with an illegal one go on waiting, and `IllegalActionError` names the first of them.
        """
        cdef Py_ssize_t j, bad = -1
        cdef row_t* r
        if actions.shape[0] != len(rows):
            raise ValueError(f"actions: expected {len(rows)}, got {actions.shape[0]}")
        for j in range(len(rows)):
            r = self.row(rows[j])
            if r.waits != OPPONENT:
                raise ValueError(f"row {rows[j]} waits for no opponent")
            if not (0 <= actions[j] < self.battle_actions
                    and state_is_legal(&r.s, table_of(r), <int>actions[j])):
                bad = j if bad < 0 else bad
                continue
            r.length += 1
            known_apply(&r.k, &r.s, table_of(r), <int>actions[j])
            go_on(&self.a, rows[j])
        if bad >= 0:
            raise IllegalActionError(
                f"row {rows[bad]}: action {actions[bad]} of the opponent is not legal",
                self.state(rows[bad]))

    def waits_for(self, Py_ssize_t i):
        """... of one row; 0 for nothing."""
        return self.row(i).waits

    def proceed(self, Py_ssize_t i):
        """Go on with a row after what it waited for has been done."""
        cdef row_t* r = self.row(i)
        if r.waits == CARD_SET:
            choose(&self.a, i)
        if r.where != OVER:
            go_on(&self.a, i)

    def search(self, Py_ssize_t i):
        """Play the turn that a row waits for; False if its set or prior has to be given before."""
        cdef bint done
        if self.row(i).waits != SEARCH:
            raise ValueError(f"row {i} waits for no search")
        self.watch()
        with nogil:
            done = search(&self.a, i, 0)
        self.raise_stop()
        return done

    def play_battles(self, Py_ssize_t i):
        """Play the battles that a row waits for; False if its set or a prior has to be given
        before, or a battler is external."""
        cdef bint done
        if self.row(i).waits != BATTLES:
            raise ValueError(f"row {i} waits for no battles")
        self.watch()
        with nogil:
            done = play_battles(&self.a, i, 0)
        self.raise_stop()
        return done

    def draw_battles(self, Py_ssize_t i):
        """For each battle of a choice the seeds of its shuffles and of its players."""
        cdef row_t* r = self.row(i)
        cdef int64_t shuffles[2]
        cdef int64_t seeds[2]
        cdef int number
        found = []
        for number in range(self.a.g.battles):
            draw_battle(&self.a.g, r, number, shuffles, seeds)
            found.append(((shuffles[0], shuffles[1]), (seeds[0], seeds[1])))
        return found

    def end_battles(self, Py_ssize_t i, winners):
        """Who won the battles that a row waits for, -1 for nobody."""
        cdef int number
        if self.row(i).waits != BATTLES or len(winners) != self.a.g.battles:
            raise ValueError(f"row {i} waits for no {len(winners)} battles")
        for number in range(self.a.g.battles):
            self.a.winners[i * self.a.g.battles + number] = winners[number]
        finish_choice(&self.a, i)

    def winners(self, Py_ssize_t i):
        """Who won the battles of the row's last choice."""
        cdef int number
        self.row(i)
        return [self.a.winners[i * self.a.g.battles + number]
                for number in range(self.a.g.battles)]

    cdef int watch(self) except -1:
        """Let searches look for signals if this is the main thread."""
        cdef Searcher searcher
        for found in (*self.searchers, *self.battlers):
            if isinstance(found, int):
                continue
            if found is not None:
                searcher = found
                searcher.watch(current_thread() is main_thread())
        return 0

    def raise_stop(self):
        """Raise what a signal has that ended the searches: rows go on waiting for them."""
        cdef Searcher searcher
        if not self.a.stopped:
            return
        self.a.stopped = False
        for found in (*self.searchers, *self.battlers):
            if found is not None and not isinstance(found, int):
                searcher = found
                error, searcher.error = searcher.error, None
                if error is not None:
                    raise error

    def wanted_prior(self, Py_ssize_t i):
        """The place and the key of the set for which the searchers of a row want a prior."""
        cdef row_t* r = self.row(i)
        cdef int64_t number = r.cold.now.set
        return number if number >= 0 else self.a.g.n_sets + i, set_key(&self.a.g, r)

    def searcher(self, Py_ssize_t i):
        """What searches for a row's opponent."""
        return self.searchers[self.row(i).cold.now.opponent]

    def set_seed(self, Py_ssize_t i):
        """The cardGenSeed of a row's set."""
        return self.row(i).cold.now.seeds[0]

    def has_set(self, Py_ssize_t i):
        """Whether a row's set has been given."""
        cdef row_t* r = self.row(i)
        cdef const set_t* source = set_of(&self.a, i)
        return source.cards is not NULL and source.key == set_key(&self.a.g, r)

    def give_set(self, Py_ssize_t i, Table table not None, decks):
        """The card set that a row waits for: a table whose pool it is, and decks of it, [] for a
        seat whose deck does not follow from it."""
        cdef row_t* r = self.row(i)
        cdef set_t* target = set_of(&self.a, i)
        cdef int who, j
        if table.t.n_cards - table.t.n_instances != self.a.g.n_cards:
            raise ValueError(f"cards: expected {self.a.g.n_cards} different ones")
        if r.cold.now.set >= 0:
            if self.tables[r.cold.now.set] is not None and self.a.g.episode != BATTLE_EPISODE:
                # Rows may still choose from it.
                self.retire(self.tables[r.cold.now.set])
            self.tables[r.cold.now.set] = table
        else:
            self.row_sets[i] = table
        target.cards = &table.t.cards[table.t.n_instances]
        target.key = set_key(&self.a.g, r)
        self.show_set(target, table)
        if decks is not None:
            for who in range(2):
                for j in range(len(decks[who])):
                    target.decks[who][j] = decks[who][j]

    cdef int show_set(self, set_t* target, Table table) except -1:
        """Make what the choice phase shows of the cards of a set."""
        if self.a.g.episode == BATTLE_EPISODE:
            return 0
        target.shown = self.shown_rows(table)
        return 0

    cdef const int8_t* shown_rows(self, Table table) except NULL:
        """The cards of a table as the choice phase shows them, kept with it."""
        cdef uintptr_t where = <uintptr_t>&table.t.cards[table.t.n_instances]
        cdef bytes rows
        if where not in self.retired or self.retired[where][0] is not table:
            rows = bytes(HAND_ROW * self.a.g.n_cards)
            write_cards(<int8_t*><char*>rows, <const card_t*>where, self.a.g.n_cards)
            self.retired[where] = table, rows
        rows = self.retired[where][1]
        return <const int8_t*><const char*>rows

    cdef int retire(self, Table table) except -1:
        """Forget card sets whose place others have, unless rows choose from them."""
        cdef Py_ssize_t i
        if len(self.retired) > MOST_RETIRED:
            used = {<uintptr_t>&table.t.cards[table.t.n_instances]}
            for i in range(self.a.n):
                used.add(<uintptr_t>self.cold[i].cards)
                used.add(<uintptr_t>self.a.own_sets[i].cards)
            for i in range(len(self.tables)):
                used.add(<uintptr_t>self.a.sets[i].cards)
            self.retired = {where: old for where, old in self.retired.items() if where in used}
        return 0

    cdef const card_t* cards_of(self, Py_ssize_t i) except NULL:
        cdef Table table = self.table_of_set(i)
        return &table.t.cards[table.t.n_instances]

    cdef Table table_of_set(self, Py_ssize_t i):
        cdef row_t* r = self.row(i)
        if r.cold.now.set < 0:
            return self.row_sets[i]
        if set_of(&self.a, i).key != set_key(&self.a.g, r):     # another one has its place now
            return self.options["find_set"](r.cold.now.seeds[0])
        return self.tables[r.cold.now.set]

    def pool(self, Py_ssize_t i):
        """The table that has the cards of the row's set as its pool."""
        return self.table_of_set(i)

    def offers(self, Py_ssize_t i):
        """1.x: 30 triplets of indices into the cards."""
        cdef row_t* r = self.row(i)
        return [[r.cold.now.triplets[j][k] for k in range(3)] for j in range(MAX_DECK)]

    def give_decks(self, Py_ssize_t i, decks):
        """Decks of a row that waits for them, as indices into its cards; [] for the caller's."""
        cdef row_t* r = self.row(i)
        cdef int who, j
        for who in range(2):
            for j in range(len(decks[who])):
                r.cold.now.decks[who][j] = decks[who][j]
        r.waits = NOTHING
        if self.a.g.episode == BATTLE_EPISODE:
            deal_row(&self.a.g, r, self.cards_of(i))

    def draw(self, Py_ssize_t i):
        """64 bits of the row's random stream."""
        cdef row_t* r = self.row(i)
        if r.phase == IN_CHOICE:
            return numpy_next(&r.cold.random)
        return draw_bits(&r.stream)

    # -- looking at rows

    def observe(self, Py_ssize_t i, int player, observation, mask=None, layout=None, hidden=None):
        """Write what a player sees, in the layout of the rows or another one; and all cards."""
        cdef row_t* r = self.row(i)
        cdef int code = self.a.g.layout if layout is None else LAYOUT_CODES[layout]
        cdef list held = []
        cdef uint8_t* out
        cdef int8_t* legal = <int8_t*>address(held, "mask", mask, self.n_actions)
        cdef int8_t* cards = <int8_t*>address(held, "hidden", hidden, HIDDEN_ROWS * HAND_ROW)
        if code == self.a.g.layout:
            out = address(held, "obs", observation, self.a.g.size)
            view_row(&self.a, i, player & 1, out, legal, cards)
            return
        if r.phase != IN_BATTLE:
            raise ValueError("the battle has not begun")
        out = address(held, "obs", observation,
                      layout_size(code, self.a.g.rules) * layout_item(code))
        if out is not NULL:
            write_known(code, out, &r.k, &r.s, table_of(r), player & 1)
        view_row(&self.a, i, player & 1, NULL, legal, cards)

    def show_all(self, bint over=False):
        """Write what all rows show, or those that are over, into the arrays again."""
        cdef Py_ssize_t i
        for i in range(self.a.n):
            if not over or self.a.rows[i].where == OVER:
                show(&self.a, i)

    def fresh(self, observation, mask, bint in_info, hidden=None):
        """A function that gives copies of what has been written for row 0, and an info."""
        return Fresh(self, observation, mask, in_info, hidden)

    def state(self, Py_ssize_t i):
        """A copy of a row's state, all that is hidden included."""
        cdef row_t* r = self.row(i)
        cdef Table table = Table.__new__(Table)
        cdef State state = State.__new__(State)
        cdef Table pool
        if r.phase != IN_BATTLE:
            raise ValueError("the battle has not begun")
        pool = self.table_of_set(i)
        table.t.rules = self.a.g.rules
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
        """The slot of the row's opponent."""
        return self.row(i).cold.now.opponent

    def mover(self, Py_ssize_t i):
        """Who is to move, 0 or 1; where the caller plays one seat, that one."""
        return mover_of(self.row(i))

    def phase(self, Py_ssize_t i):
        """ "choice" or "battle"."""
        return "choice" if self.row(i).phase == IN_CHOICE else "battle"

    def picked(self, Py_ssize_t i, int player):
        """The cards that a player has chosen so far, as indices."""
        cdef row_t* r = self.row(i)
        cdef int j
        return [r.cold.now.decks[player & 1][j] for j in range(r.picked[player & 1])]

    def winner(self, Py_ssize_t i):
        """-1 while nobody has won the battle."""
        cdef const row_t* r = self.row(i)
        return won_by(&r.s) if r.phase == IN_BATTLE else -1

    def turn(self, Py_ssize_t i):
        """Turns of both players, from 0; -1 in the choice phase."""
        cdef const row_t* r = self.row(i)
        return r.s.turn if r.phase == IN_BATTLE else -1

    def length(self, Py_ssize_t i):
        """Actions of both players in this episode."""
        return self.row(i).length

    def over(self, Py_ssize_t i):
        """Whether the row's episode has ended and no other has begun."""
        return self.row(i).where == OVER

    def outcome(self, Py_ssize_t i):
        """What the last step has written: reward, whether it terminated, whether it truncated."""
        cdef bint terminated, truncated
        self.row(i)
        terminated = self.a.out.terminated[i]
        truncated = self.a.out.truncated[i]
        return self.a.out.reward[i], terminated, truncated

    def result(self, Py_ssize_t i):
        """Of the row's last finished episode: winner, seat, length, turn, healths, illegal,
        the opponent's slot, returns; seed, derived seeds, triplets (30 times 3) and decks (2 times
        30) as
        bytes; None for the last four if the position was given."""
        cdef row_t* r = self.row(i)
        cdef const end_t* e = &r.cold.last
        cdef int won = winner_of(e)
        score = float((won == 0) - (won == 1))
        if e.turn < 0 and not e.illegal:
            score = r.cold.score
        head = (won, e.seat, e.length, e.turn, (e.health[0], e.health[1]), bool(e.illegal),
                e.opponent, (score, -score))
        if not e.dealt:
            return (*head, None, None, None, None)
        return (*head, e.seed, [e.seeds[j] for j in range(self.a.g.n_seeds)],
                (<const char*>e.triplets)[:sizeof(e.triplets)],
                (<const char*>e.decks)[:sizeof(e.decks)])

    def movers(self, int8_t[::1] out):
        """Who is to move in each row: where the caller has one seat, that is theirs."""
        cdef Py_ssize_t i
        cdef const row_t* r
        if out.shape[0] != self.a.n:
            raise ValueError(f"expected {self.a.n} rows, got {out.shape[0]}")
        for i in range(self.a.n):
            r = &self.a.rows[i]
            out[i] = mover_of(r)

    def seats(self):
        """int8 array of the caller's seats, -1 for both."""
        cdef Py_ssize_t i
        found = np.empty(self.a.n, np.int8)
        cdef int8_t[::1] out = found
        for i in range(self.a.n):
            out[i] = self.a.rows[i].seat
        return found

    def masks(self, out):
        """The legal actions of each row, as a step writes them."""
        cdef list held = []
        cdef rows_t a = self.a
        cdef Py_ssize_t i
        memset(&a.out, 0, sizeof(out_t))
        a.out.mask = <int8_t*>address(held, "masks", out, self.a.n * self.n_actions)
        for i in range(self.a.n):
            show(&a, i)

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
        if sizes != {self.a.n}:
            raise ValueError(f"expected {self.a.n} rows, got {sizes}")
        for i in range(self.a.n):
            if not marked[i]:
                continue
            e = &self.a.rows[i].cold.last
            won = winner_of(e)
            winner[i] = won
            seat[i] = e.seat
            length[i] = e.length
            turn[i] = e.turn
            health[i, 0] = e.health[0]
            health[i, 1] = e.health[1]
            bad[i] = e.illegal
            if e.turn < 0 and not e.illegal:
                returns[i, 0] = self.a.rows[i].cold.score
                returns[i, 1] = -self.a.rows[i].cold.score
            elif won >= 0:
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

    def observation(self, Py_ssize_t i, int player):
        """What a player is shown, the learner's last turn included."""
        cdef row_t* r = self.row(i)
        cdef Observation seen = Observation.__new__(Observation)
        state_seen(&r.s, table_of(r), player, &seen.o)
        seen.o.n_actions = r.cold.n_acts
        memcpy(seen.o.actions, r.cold.acts, r.cold.n_acts * sizeof(shown_action_t))
        return seen

    def seeds(self, Py_ssize_t i):
        """The seed of the row's episode and those that follow from it."""
        cdef row_t* r = self.row(i)
        return r.cold.now.seed, [r.cold.now.seeds[j] for j in range(self.a.g.n_seeds)]

    @cython.boundscheck(False)
    def sample(self, uint64_t seed, int64_t[::1] out):
        """A uniformly random legal action for each row; PASS for ended ones."""
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
                    out[i] = sampled_pick(&self.a, i, &stream)
                else:
                    out[i] = state_kth(&r.s, table_of(r), stream_below(
                        &stream, state_count(&r.s, table_of(r))))

    # -- pickling and copying

    def __reduce__(self):
        cdef Searcher searcher
        players = []
        for slot in range(SLOTS):
            searcher = self.searchers[slot]
            players.append((self.a.g.player[slot], None, None) if searcher is None else (
                0, searcher, searcher.knowledge()))
        return _rows_of, (
            self.a.n, self.options, players, self.battlers, self.drawn,
            (<const char*>self.a.winners)[:self.a.n * self.a.g.battles],
            (<const char*>self.a.results)[:sizeof(self.a.results)],
            (<const char*>self.a.rows)[:self.a.n * sizeof(row_t)],
            (<const char*>self.cold)[:self.a.n * sizeof(cold_t)], self.row_sets,
            [self.a.own_sets[i].key for i in range(self.a.n)],
            {number: (table, self.a.sets[number].key,
                      (<const char*>self.a.sets[number].decks)[:2 * MAX_DECK])
             for number, table in enumerate(self.tables) if table is not None})


cdef int sampled_pick(const rows_t* a, Py_ssize_t i, uint64_t* stream) noexcept nogil:
    """A uniformly random legal pick of the player who is to choose."""
    cdef choice_t c
    cdef int pick, n = choice_actions(a.g.rules)
    choice_of(&a.g, &a.rows[i], mover_of(&a.rows[i]), &c)
    while True:
        pick = stream_below(stream, n)
        if choice_is_legal(&c, pick):
            return a.g.first_pick + pick


def _rows_of(n, options, players, battlers, drawn, winners, results, data, cold_data, row_sets,
             own_keys, tables):
    """Inverse of `Rows.__reduce__`. The arrays have to be bound again."""
    cdef Rows rows = Rows(n, options)
    cdef bytes raw = data, raw_cold = cold_data, played = results, decks, won = winners
    cdef Searcher searcher
    cdef Table table
    cdef set_t* target
    cdef Py_ssize_t i
    if (len(raw) != n * <Py_ssize_t>sizeof(row_t)
            or len(raw_cold) != n * <Py_ssize_t>sizeof(cold_t)):
        raise ValueError("rows of another size")
    for slot, (kind, found, knowledge) in enumerate(players):
        if found is None:
            rows.put_player(slot, kind)
        else:
            searcher = found
            rows.put_player(slot, searcher)
            searcher.know(knowledge)
    rows.draw_from(drawn[0], drawn[1])
    rows.set_battlers(battlers)
    memcpy(rows.a.winners, <const char*>won, len(won))
    memcpy(rows.a.results, <const char*>played, sizeof(rows.a.results))
    memcpy(rows.a.rows, <const char*>raw, len(raw))
    memcpy(rows.cold, <const char*>raw_cold, len(raw_cold))
    for i in range(n):
        rows.a.rows[i].cold = &rows.cold[i]
        target = &rows.a.own_sets[i]
        table = rows.row_sets[i] = row_sets[i]
        target.key = own_keys[i]
        if table is not None and rows.cold[i].now.dealt:
            target.cards = &table.t.cards[table.t.n_instances]
            rows.show_set(target, table)
    for number, (given, key, chosen) in tables.items():
        table = given
        decks = chosen
        target = &rows.a.sets[number]
        rows.tables[number] = table
        target.cards = &table.t.cards[table.t.n_instances]
        target.key = key
        rows.show_set(target, table)
        memcpy(target.decks, <const char*>decks, 2 * MAX_DECK)
    for i in range(n):
        if rows.a.rows[i].phase == IN_CHOICE and rows.a.rows[i].where != OVER:
            table = rows.table_of_set(i)
            rows.cold[i].cards = &table.t.cards[table.t.n_instances]
            rows.cold[i].shown = rows.shown_rows(table)
        elif rows.a.rows[i].phase == IN_CHOICE:
            rows.cold[i].cards = NULL       # not to be shown again
    return rows


cdef enum:
    MOST_RETIRED = 4096         # card sets that are kept for rows that may choose from them

cdef enum:
    CHUNK = 16                  # arrays that a `Source` cuts out of one


cdef class Source:
    """Arrays of their own for each step: parts of a larger one, which is made in half the time.

    Whoever keeps one of them keeps the other 15 of its chunk.
    """

    cdef object make            # () -> an array of CHUNK rows
    cdef object chunk
    cdef uint8_t* data
    cdef const uint8_t* source
    cdef Py_ssize_t size, used

    def __cinit__(self, array not None):
        self.make = partial(np.empty, (CHUNK, *array.shape), array.dtype)
        held = []
        self.source = address(held, "array", array, array.nbytes)
        self.size = array.nbytes
        self.used = CHUNK

    cdef object next(self):
        """A copy of what the array has now."""
        cdef Py_buffer view
        cdef Py_ssize_t i = self.used
        if i == CHUNK:
            i = 0
            self.chunk = self.make()
            PyObject_GetBuffer(self.chunk, &view, PyBUF_SIMPLE | PyBUF_WRITABLE)
            self.data = <uint8_t*>view.buf
            PyBuffer_Release(&view)
        self.used = i + 1
        memcpy(self.data + i * self.size, self.source, self.size)
        return PySequence_GetItem(self.chunk, i)


@cython.final
cdef class Fresh:
    """What a single environment returns: arrays of its own for each step, and an info."""

    cdef Rows rows
    cdef tuple held
    cdef Source observation, mask, hidden
    cdef bint in_info

    def __cinit__(self, Rows rows not None, observation, mask, bint in_info, hidden):
        self.rows = rows
        self.held = observation, mask, hidden
        self.observation = Source(observation)
        self.mask = Source(mask)
        self.in_info = in_info
        self.hidden = None if hidden is None else Source(hidden)

    def step(self, int64_t action):
        """What an ordinary step returns; None if something is left to do after it."""
        cdef row_t* r = &self.rows.a.rows[0]
        cdef int64_t episode = r.serial
        clear(&self.rows.a.out, 0, 1)
        advance(&self.rows.a, 0, action)
        if r.waits != NOTHING or r.serial != episode or r.where == OVER:
            return None
        observation, info = self.shown()
        return observation, self.rows.a.out.reward[0], False, False, info

    def __call__(self):
        return self.shown()

    cdef tuple shown(self):
        cdef const row_t* r = &self.rows.a.rows[0]
        cdef int seat = mover_of(r)
        cdef dict info
        if r.phase == IN_BATTLE:
            info = {"turn": r.s.turn, "seat": seat}
        else:
            info = {"turn": -1, "seat": seat, "step": r.picked[seat]}
        if self.in_info:
            info["action_mask"] = self.mask.next()
            return self.observation.next(), info
        if self.hidden is not None:
            return ({"observation": self.observation.next(), "action_mask": self.mask.next(),
                     "state": self.hidden.next()}, info)
        return {"observation": self.observation.next(), "action_mask": self.mask.next()}, info


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
