"""Run whole searches for Python with engines, and games between engines for tuning."""

from copy import copy
from dataclasses import replace
from threading import Thread, current_thread, main_thread

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
)
from libc.math cimport sqrtf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from locmsim._batch cimport StateArray
from locmsim._core cimport (
    AREA_TARGET,
    ATTACK,
    BREAKTHROUGH,
    DRAIN,
    GUARD,
    GUARDED,
    LETHAL,
    MAX_ACTIONS,
    MAX_BOARD,
    MAX_DECK,
    PASS,
    READY,
    RULES_10,
    WARD,
    Determinizer,
    State,
    Table,
    card_t,
    encode_action,
    fill_card_keys,
    lane_slots,
    mixed,
    move_t,
    player_of,
    player_t,
    seed_of,
    state_apply,
    state_deal,
    state_end_turn,
    state_list,
    state_player,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
    turn_hash_by,
    unknown_t,
)
from locmsim._locks cimport wait_for
from locmsim._math cimport atanh64, exp32, exp64, log64, tanh32, tanh64
from locmsim._platform cimport now_ns_
from locmsim.networks._network cimport Network, network_t, network_value
from locmsim.search._wins cimport (
    can_kill,
    is_useful,
    missing_damage,
    most_damage,
    prepare_wins,
    wins_t,
)

from locmsim.search.options import MCTSOptions

__all__ = [
    "TERMS",
    "BatchEngine",
    "CompiledEvaluation",
    "EngineResult",
    "SearchEngine",
    "SharedEngine",
    "exp",
    "expected_results",
    "gumbel",
    "log",
    "play_game",
    "seed_of_turn",
    "tanh",
]

include "_engine_evaluation.pxi"
include "_engine_work.pxi"
include "_engine_beam.pxi"
include "_engine_mcts.pxi"
include "_engine_halving.pxi"

cdef enum:
    MAX_RECORDS = 1 << 18
    SEEN_SIZE = 1 << 17         # size of the table of hashes
    WIN_WIDTH = 256             # width of the beam that looks for a win
    VISIT_NODES = 256           # nodes for each visit of the beam that looks for plans
    MAX_GAME = 400              # turns of a game between engines


# ---- plain functions -----------------------------------------------------------------------------

cdef uint64_t turn_seed(uint64_t seed, uint64_t turn) noexcept nogil:
    return stream_start(seed, turn) >> 1


def seed_of_turn(seed, uint64_t turn):
    """Return the seed of an agent's turn, 63 bits; `seed` is that of the game, any integer."""
    return turn_seed(seed_of(seed), turn)


cdef int engine_init(engine_t* e, const options_t* o) noexcept nogil:
    cdef work_t* w = &e.w
    cdef int i
    e.o = o[0]
    w.reply_width = o.reply_width
    w.max_worlds = o.worlds
    w.max_width = e.o.width
    w.max_candidates = 64 * w.max_width
    w.max_records = MAX_RECORDS
    w.seen_mask = SEEN_SIZE - 1
    w.salt = 1
    w.records = <record_t*>malloc(w.max_records * sizeof(record_t))
    w.candidates = <candidate_t*>malloc(w.max_candidates * sizeof(candidate_t))
    w.seen = <uint64_t*>calloc(SEEN_SIZE, sizeof(uint64_t))
    w.worlds = <state_t*>malloc(w.max_worlds * sizeof(state_t))
    if w.records is NULL or w.candidates is NULL or w.seen is NULL or w.worlds is NULL:
        return -1
    for i in range(2):
        w.level[i] = <state_t*>malloc(w.max_width * sizeof(state_t))
        w.level_records[i] = <int32_t*>malloc(w.max_width * sizeof(int32_t))
        if w.level[i] is NULL or w.level_records[i] is NULL:
            return -1
    if not o.is_tree:
        return 0
    e.tree.max_nodes = o.plans + o.max_nodes
    e.tree.nodes = <turn_node_t*>malloc(e.tree.max_nodes * sizeof(turn_node_t))
    e.tree.replies = <turns_t*>malloc(o.plans * o.worlds * sizeof(turns_t))
    return -1 if e.tree.nodes is NULL or e.tree.replies is NULL else 0


cdef void engine_free(engine_t* e) noexcept nogil:
    cdef int i
    free(e.w.records)
    for i in range(2):
        free(e.w.level[i])
        free(e.w.level_records[i])
    free(e.w.candidates)
    free(e.w.seen)
    free(e.w.worlds)
    free(e.tree.nodes)
    free(e.tree.replies)


cdef void engine_use(
    engine_t* e, const eval_t* eval, const network_t* network, void* owner
) noexcept nogil:
    cdef work_t* w = &e.w
    w.eval = eval
    w.network = network
    w.owner = owner
    # A network chooses from more plans than it keeps.
    w.max_plans = max(1, min(
        <int32_t>MAX_PLANS, e.o.plans * (1 if network is NULL else <int32_t>PLANS_SEEN)))


cdef void engine_begin(
    engine_t* e, const state_t* root, const table_t* t, const unknown_t* unknown, bint knows_deck,
    uint64_t seed, int64_t deadline, int64_t nodes
) noexcept nogil:
    cdef work_t* w = &e.w
    w.table = t
    w.root = root[0]
    w.who = state_player(root)
    w.unknown = unknown
    w.knows_deck = knows_deck
    w.world_seed = seed
    w.n_worlds = 0
    w.n_records = 0
    w.n_plans = 0
    w.won = False
    w.failed = False
    w.nodes = 0
    w.depth = 0
    w.budget.deadline = deadline
    w.budget.nodes = w.budget.allotted = nodes
    w.budget.until_clock = 0
    w.budget.over = False


cdef int finish(const work_t* w, uint8_t* path, int n) noexcept nogil:
    """Add the attacks on the opponent that end a winning turn after n actions."""
    cdef state_t s = w.root
    cdef const player_t* me = &s.p[w.who]
    cdef const player_t* op = &s.p[1 - w.who]
    cdef bint one = w.table.rules == RULES_10
    cdef int i, slot
    cdef uint32_t guarded
    cdef move_t m
    for i in range(n):
        state_apply(&s, w.table, path[i])
    for slot in range(MAX_BOARD):
        guarded = op.marks >> GUARDED & lane_slots(slot, one)
        if me.won or guarded or not me.marks >> READY >> slot & 1 or me.board[slot].attack <= 0:
            continue
        m.kind = ATTACK
        m.source = slot
        m.target = 0
        path[n] = encode_action(w.table, m)
        state_apply(&s, w.table, path[n])
        n += 1
    return n


cdef void find_win(engine_t* e) noexcept nogil:
    """Look for a win; that may take its share of the budget where a win is possible at all."""
    cdef work_t* w = &e.w
    cdef budget_t whole = begin_share(w, e.o.wins_share, UNLIMITED)
    search_wins(w, min(w.max_width, <int32_t>WIN_WIDTH))
    end_share(w, &whole)


cdef void find_plans(engine_t* e, int64_t iterations) noexcept nogil:
    """Find whole turns; a search that is bounded by few visits has a small beam, too."""
    cdef work_t* w = &e.w
    cdef int64_t most = VISIT_NODES * min(iterations, UNLIMITED // VISIT_NODES)
    cdef budget_t whole
    w.n_records = 0
    whole = begin_share(w, e.o.plan_share if e.o.turns else <float>1.0, most)
    beam_search(w, e.o.width)
    end_share(w, &whole)


cdef void engine_run(engine_t* e, int64_t iterations, found_t* found) noexcept nogil:
    cdef work_t* w = &e.w
    cdef int n
    found.iterations = 0
    find_win(e)
    if not w.won:
        find_plans(e, iterations)
    if w.won:
        found.value = 1
        found.visits = 0
        n = path_of(w, w.win.parent, w.win.action, found.path)
        found.length = finish(w, found.path, n)
        return
    n = best_plan(w, &e.tree, &e.o, iterations, &found.iterations)
    found.value = w.plans[n].result
    found.visits = w.plans[n].visits
    found.length = path_of(w, w.plans[n].parent, w.plans[n].action, found.path)


cdef int engine_game(
    engine_t** engines, const unknown_t** worlds, const int64_t* nodes, state_t* s,
    const table_t* t, uint64_t seed, int max_turns, state_t* ends
) noexcept nogil:
    cdef engine_t* e
    cdef found_t found
    cdef int turns = 0, who, i
    for who in range(2):
        fill_card_keys(engines[who].w.card_keys, t)
    while state_winner(s) < 0 and turns < max_turns:
        seed = mixed(seed + 1)
        who = state_player(s)
        e = engines[who]
        engine_begin(e, s, t, worlds[who], True, seed, UNLIMITED, nodes[who])
        engine_run(e, UNLIMITED, &found)
        for i in range(found.length):
            state_apply(s, t, found.path[i])
        if ends is not NULL:
            ends[turns] = s[0]
        turns += 1
        if state_winner(s) < 0:
            state_end_turn(s, t)
    return turns


# ---- classes -------------------------------------------------------------------------------------

class EngineResult:
    """Holds the result of a search; `locmsim.search.SearchResult` describes its fields."""

    __slots__ = ("actions", "depth", "iterations", "nodes", "plans", "value", "visits", "won")


cdef int fill_options(options_t* o, options) except -1:
    o.is_tree = isinstance(options, MCTSOptions)
    o.turns = options.turns
    o.reply_width = options.reply_width
    o.worlds = options.worlds
    o.wins_share = options.wins_share
    o.width = options.width
    o.plans = options.plans
    o.static_worlds = options.static_worlds
    o.plan_share = options.plan_share
    if o.is_tree:
        o.exploration = options.exploration
        o.temperature = options.temperature
        o.max_nodes = options.max_nodes
    return 0


cdef int look_for_signals(void* owner) noexcept with gil:
    """Return -1 if a signal (Ctrl-C) or `check` raised an exception, which the engine keeps."""
    cdef SearchEngine engine = <SearchEngine>owner
    try:
        PyErr_CheckSignals()
        if engine.check is not None:
            engine.check()
        return 0
    except BaseException as error:
        engine.error = error
        return -1


cdef class SearchEngine:
    """Runs searches with the given `options` in memory of its own.

    It runs one search at a time and belongs to one thread. ``MemoryError`` if there is too little
    memory for the options.
    """

    def __cinit__(self, options, CompiledEvaluation evaluation not None, Network network=None, *_):
        cdef options_t o
        memset(&o, 0, sizeof(options_t))
        fill_options(&o, options)
        if engine_init(&self.e, &o) < 0:
            raise MemoryError(f"too little memory for a search with {options}")
        SearchEngine.evaluate_by(self, evaluation, network)   # subclasses are not ready yet

    def __dealloc__(self):
        engine_free(&self.e)

    def evaluate_by(self, CompiledEvaluation evaluation not None, Network network=None):
        """Replace the evaluation of the following searches."""
        self.refuse_to_share()
        self.network = network
        # A copy: it depends on the cards of a game, and another engine may be in another game.
        self.evaluator = copy(evaluation)
        engine_use(
            &self.e, &self.evaluator.e, NULL if network is None else &network.n, <void*>self)

    cdef int use_table(self, Table table) except -1:
        """Prepare the evaluation for the cards of a game."""
        self.error = None
        self.table = table
        # Signals reach the main thread only.
        self.e.w.watch = NULL
        if self.check is not None or current_thread() is main_thread():
            self.e.w.watch = look_for_signals
        eval_use_table(&self.evaluator.e, &self.evaluator.weights, &table.t)
        fill_card_keys(self.e.w.card_keys, &table.t)
        return 0

    cdef int run(self, int64_t iterations, found_t* found) except -1:
        """Run a search that was begun."""
        with nogil:
            engine_run(&self.e, iterations, found)
        return 0

    cdef double played_on(self, const state_t* end, int n) except? -2:
        """Return the sum of the results of the end of a turn that is played on in `n` worlds."""
        cdef work_t* w = &self.e.w
        cdef double total = 0
        cdef int i
        with nogil:
            for i in range(n):
                total += play_on(w, end, sampled_world(w, i), self.e.o.turns)
        return total

    cdef int refuse_to_share(self) except -1:
        """Raise an error if a search is running: a second one would overwrite its memory."""
        if self.running:
            raise RuntimeError(
                "this search is already running: what it calls needs a search of its own")
        return 0

    cdef int begin(
        self, State root, const unknown_t* unknown, uint64_t seed, int64_t until, int64_t nodes,
        check
    ) except -1:
        """Prepare a search for the player to move; `end_or_raise` must follow, whatever happens."""
        self.refuse_to_share()
        self.check = check
        self.use_table(root.table)
        engine_begin(&self.e, &root.s, &root.table.t, unknown, False, seed, until, nodes)
        self.running = True
        return 0

    cdef int end_or_raise(self) except -1:
        """End a search; raise the exception that ended it."""
        error, self.error = self.error, None
        self.running = False
        self.check = None
        if error is not None:
            raise error
        return 0

    def find_win(self, State root not None, int64_t nodes):
        """Return actions with which the mover wins in this turn, from the search for wins alone.

        Returns None if it finds no win within `nodes` positions.
        """
        cdef uint8_t path[MAX_PATH]
        cdef work_t* w = &self.e.w
        cdef int n, i
        self.begin(root, NULL, 0, UNLIMITED, nodes, None)
        with nogil:
            search_wins(w, min(w.max_width, <int32_t>WIN_WIDTH))
        self.end_or_raise()
        if not w.won:
            return None
        n = finish(w, path, path_of(w, w.win.parent, w.win.action, path))
        return [path[i] for i in range(n)]

    def turn_value(self, Determinizer worlds not None, State root not None, actions, n, seed):
        """Return the mean result of playouts from the end of a turn in `n` worlds, as in `search`.

        `actions` are legal in `root`, a sample of `worlds`; `n` is at most the number of worlds in
        the options.
        """
        cdef State end = root.clone()
        cdef uint64_t stream = seed_of(seed)
        cdef double total = 0
        cdef int n_worlds = min(<int>n, self.e.w.max_worlds)
        for action in actions:
            end.apply_action(action)
        if end.is_terminal():
            return end.returns()[root.current_player()]
        self.begin(root, &worlds.u, stream, UNLIMITED, UNLIMITED, None)
        try:
            total = self.played_on(&end.s, n_worlds)
        finally:
            self.end_or_raise()
        return total / n_worlds

    def search(
        self, Determinizer worlds not None, State root not None, *, time_ns, nodes, iterations,
        seed, check=None,
    ):
        """Search for the viewer of `worlds`; a bound of None does not limit the search.

        `root` is a sample of `worlds`, at any point of the turn. `check` is called about twenty
        times a second. ``ValueError`` if it is not the viewer's turn, ``RuntimeError`` if a search
        is running; exceptions of `check` and of an evaluation function are passed on.
        """
        cdef found_t found
        cdef int64_t until = UNLIMITED
        cdef int64_t most = UNLIMITED if nodes is None else nodes
        cdef int64_t descents = UNLIMITED if iterations is None else iterations
        if time_ns is not None:
            until = now_ns_() + <int64_t>time_ns
        if state_player(&root.s) != worlds.u.viewer:
            raise ValueError("a search needs the player whose turn it is")
        self.begin(root, &worlds.u, seed_of(seed), until, most, check)
        try:
            self.run(descents, &found)
        finally:
            self.end_or_raise()
        return self.engine_result(&found)

    cdef object engine_result(self, const found_t* found):
        """Return what a search found."""
        cdef uint8_t path[MAX_PATH]
        cdef const work_t* w = &self.e.w
        cdef const plan_t* plan
        cdef int i, k, n
        result = EngineResult()
        result.actions = [found.path[i] for i in range(found.length)]
        result.plans = []
        for i in range(0 if w.won else w.n_plans):
            plan = &w.plans[i]
            if plan.visits:
                n = path_of(w, plan.parent, plan.action, path)
                result.plans.append(([path[k] for k in range(n)], plan.visits, plan.result))
        result.value = found.value
        result.visits = found.visits
        result.won = w.won
        result.nodes = w.nodes
        result.iterations = found.iterations
        result.depth = w.depth
        return result


def play_game(State start not None, engines, worlds, nodes, seed, list ends=None):
    """Play a game between two engines, as tuning does; return its winner and its turns.

    `start` is the first position, a battle with all its cards. For players 0 and 1, `engines` has
    an engine, `worlds` a `Determinizer` of their view, and `nodes` the budget of a turn. Each
    engine knows its own deck, but not its order, and samples the other player's hidden cards from
    its `worlds` as if it had seen none of them. A game of over 400 turns has no winner (-1). The
    states at the ends of the turns are appended to `ends`.
    """
    cdef SearchEngine first = engines[0], second = engines[1]
    cdef Determinizer of_first = worlds[0], of_second = worlds[1]
    cdef engine_t* of_players[2]
    cdef const unknown_t* unknown[2]
    cdef int64_t budgets[2]
    cdef uint64_t stream = seed_of(seed)
    cdef State state = start.clone()
    cdef state_t* at_ends = NULL
    cdef int turns, i
    if type(first) is not SearchEngine or type(second) is not SearchEngine:
        raise TypeError("games are played by compiled evaluations")
    of_players[0] = &first.e
    of_players[1] = &second.e
    unknown[0] = &of_first.u
    unknown[1] = &of_second.u
    budgets[0] = nodes[0]
    budgets[1] = nodes[1]
    first.refuse_to_share()
    second.refuse_to_share()
    first.use_table(start.table)
    second.use_table(start.table)
    if ends is not None:
        at_ends = <state_t*>malloc(MAX_GAME * sizeof(state_t))
        if at_ends is NULL:
            raise MemoryError("too little memory for a game")
    try:
        with nogil:
            turns = engine_game(
                of_players, unknown, budgets, &state.s, &start.table.t, stream, MAX_GAME, at_ends)
        first.end_or_raise()
        second.end_or_raise()
        winner = state_winner(&state.s)
        if ends is not None:
            for i in range(turns):
                end = start.clone()
                (<State>end).s = at_ends[i]
                ends.append(end)
    finally:
        free(at_ends)
    return winner, state.s.turn - start.s.turn


# ---- more of them, which exported bots do not need -----------------------------------------------

include "_engine_batched.pxi"
include "_engine_shared.pxi"
include "_engine_values.pxi"
