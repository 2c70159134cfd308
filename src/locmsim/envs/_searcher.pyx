"""Opponents that search without the interpreter: `beam:nodes=N` in an environment.

They play exactly the actions of the agent of that name. `search_turn` extracts from a row what the
protocol would show the player to move; from there on it uses nothing else, and calls the functions
that the agent's belief and search are built from. For each row they keep one `believer_t`.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    MAX_CARDS,
    MAX_DECK,
    RULES_15,
    append_card,
    card_t,
    fill_card_keys,
    shown_action_t,
    state_deal,
    state_seen,
    state_t,
    stream_start,
    table_t,
)
from locmsim.networks._drafts cimport DraftNetworks, draft_follow, draft_number
from locmsim.networks._network cimport Network, network_t
from locmsim.search._belief cimport (
    belief_chose,
    belief_reset,
    belief_root,
    belief_see,
    belief_unknown,
    pool_of_table,
    pool_offer,
    pool_set_weights,
)
from locmsim.search._engine cimport (
    UNLIMITED,
    CompiledEvaluation,
    engine_begin,
    engine_free,
    engine_init,
    engine_run,
    engine_use,
    eval_use_table,
    fill_options,
    found_t,
    turn_seed,
    watch_t,
)

from locmsim.decks.draft_value import DRAFTS
from locmsim.search.belief import DRAFT_TEMPERATURE, OWN_COPY, TEMPERATURES

__all__ = ["Searcher"]

# ---- hidden cards --------------------------------------------------------------------------------

cdef void believer_start(
    const searcher_t* q, believer_t* m, int64_t serial, int64_t seed, int rules, int who,
    const card_t* cards, const uint8_t* deck, const uint8_t (*triplets)[3]
) noexcept nogil:
    cdef uint8_t offers[MAX_DECK][3]
    cdef int i, j
    belief_reset(&m.b)
    m.serial = serial
    m.seed = seed
    m.turns = 0
    for i in range(MAX_DECK):
        belief_chose(&m.b, cards[deck[i]].base_id)
    if rules == RULES_15:
        return
    m.b.seat = who              # known in a draft
    if q.draft is not NULL:
        for i in range(MAX_DECK):
            for j in range(3):
                offers[i][j] = <uint8_t>draft_number(cards[triplets[i][j]].base_id)
        draft_follow(q.draft, offers, MAX_DECK, q.drafts, m.worth)


cdef int in_order(
    const card_t* cards, int n_cards, int rules, const uint8_t (*triplets)[3], uint8_t* order
) noexcept nogil:
    """Write the cards that may be in the game in the order of the agent's belief.

    They are the whole set in the order of the offer (1.5), or the offered cards in the order in
    which they first appeared. Returns their number.
    """
    cdef bint listed[MAX_CARDS]
    cdef int n = 0, cost = 0, turn, i, card
    if rules == RULES_15:
        while n < n_cards:
            for i in range(n_cards):
                if cards[i].cost == cost:
                    order[n] = <uint8_t>i
                    n += 1
            cost += 1
        return n
    memset(listed, 0, sizeof(listed))
    for turn in range(MAX_DECK):
        for i in range(3):
            card = triplets[turn][i]
            if not listed[card]:
                listed[card] = True
                order[n] = <uint8_t>card
                n += 1
    return n


cdef void make_pool(
    const searcher_t* q, workspace_t* k, const believer_t* m, const prior_scores_t* set_prior,
    const card_t* cards, int n_cards, int rules, const uint8_t (*triplets)[3]
) noexcept nogil:
    """Fill the pool: how likely the opponent has chosen each card, as the player expects."""
    cdef table_t* t = &k.pool_table
    cdef uint8_t order[MAX_CARDS]
    cdef uint8_t place[MAX_CARDS]           # table entry of each card; by ascending base id
    cdef uint8_t copies[MAX_CARDS]
    cdef uint8_t offer[3]
    cdef bint there[MAX_CARDS]
    cdef double scores[MAX_CARDS]
    cdef double worth[3]
    cdef int n, i, turn
    memset(order, 0, sizeof(order))
    n = in_order(cards, n_cards, rules, triplets, order)
    memset(there, 0, sizeof(there))
    for i in range(n):
        there[order[i]] = True
        scores[i] = set_prior.scores[order[i]]
        copies[i] = 0 if set_prior.copies is NULL else set_prior.copies[order[i]]
    t.rules = rules
    t.n_instances = t.n_cards = 0
    for i in range(n_cards):
        if there[i]:
            place[i] = <uint8_t>append_card(t, &cards[i], cards[i].id)
    for i in range(n):
        order[i] = place[order[i]]
    pool_of_table(&k.pool, t, order, n)
    pool_set_weights(&k.pool, scores, copies, &q.prior)
    if rules == RULES_15:
        return
    for turn in range(MAX_DECK):
        for i in range(3):
            offer[i] = place[triplets[turn][i]]
            worth[i] = set_prior.scores[triplets[turn][i]] if q.draft is NULL else m.worth[turn][i]
        pool_offer(&k.pool, offer, worth,
                   q.prior.temperature if q.draft is NULL else q.prior.draft_temperature)


# ---- a turn --------------------------------------------------------------------------------------

cdef int search_turn(
    const searcher_t* q, workspace_t* k, believer_t* m, const prior_scores_t* set_prior,
    const state_t* s, const table_t* t, const shown_action_t* acts, int n_acts,
    const card_t* cards, int n_cards,
    const uint8_t (*triplets)[3], uint8_t* path
) noexcept nogil:
    cdef found_t found
    cdef uint64_t seed = turn_seed(m.seed, m.turns)
    cdef uint64_t stream = stream_start(seed, 0)
    m.turns += 1
    state_seen(s, t, s.turn & 1, &k.shown)
    k.shown.n_actions = n_acts
    memcpy(k.shown.actions, acts, n_acts * sizeof(shown_action_t))
    # From here on nothing reads the row: the search sees what a player would.
    belief_see(&m.b, &k.shown)
    make_pool(q, k, m, set_prior, cards, n_cards, t.rules, triplets)
    k.table.rules = t.rules
    k.table.n_instances = k.table.n_cards = 0
    belief_root(&m.b, &k.shown, &k.pool_table, &k.root, &k.table)
    belief_unknown(&m.b, &k.shown, &k.pool, k.table.n_instances, &k.unknown)
    state_deal(&k.root, &k.table, &k.unknown, &stream)
    eval_use_table(&k.eval, &k.weights, &k.table)
    fill_card_keys(k.e.w.card_keys, &k.table)
    engine_begin(&k.e, &k.root, &k.table, &k.unknown, False, seed, UNLIMITED, q.nodes)
    engine_run(&k.e, UNLIMITED, &found)
    memcpy(path, found.path, found.length)
    return found.length


cdef int look_for_signals(void* owner) noexcept with gil:
    """Return -1 if a signal raised an exception, as Ctrl-C does; the `Searcher` keeps it."""
    cdef Searcher searcher = <Searcher>owner
    try:
        PyErr_CheckSignals()
        return 0
    except BaseException as error:
        searcher.error = error
        searcher.q.stopped[0] = True
        return -1


@cython.final
cdef class Searcher:
    """Plays an opponent in rows by a beam search of at most `nodes` positions a turn.

    `options` is a `BeamOptions`; `evaluator` and `network` evaluate positions. `draft` predicts how
    the other player drafts (1.x); with None, card scores do.
    """

    def __cinit__(
        self, options, CompiledEvaluation evaluator not None, Network network, DraftNetworks draft,
        rules, nodes,
    ):
        memset(&self.q, 0, sizeof(searcher_t))
        memset(&self.o, 0, sizeof(options_t))
        fill_options(&self.o, options)
        self.arguments = (options, evaluator, network, draft, rules, nodes)
        self.evaluator = evaluator
        self.network = network
        self.draft = draft
        self.q.nodes = nodes
        self.q.draft = NULL
        if draft is not None:
            self.q.draft = &draft.v
        self.q.drafts = DRAFTS
        self.q.prior.temperature = TEMPERATURES[rules]
        self.q.prior.draft_temperature = DRAFT_TEMPERATURE
        self.q.prior.per_copy = OWN_COPY

    def __dealloc__(self):
        cdef int i
        if self.q.workspaces is not NULL:
            for i in range(self.n_threads):
                if self.q.workspaces[i] is not NULL:
                    engine_free(&self.q.workspaces[i].e)
                free(self.q.workspaces[i])
        free(self.q.workspaces)
        free(self.q.believers)
        free(self.q.set_priors)

    cdef int reserve(
        self, Py_ssize_t n_rows, Py_ssize_t n_sets, int n_threads, Py_ssize_t n_believers
    ) except -1:
        """Allocate memory for rows, sets and threads, and for `n_believers` games at a time.

        Rows and sets must be the same in all calls.
        """
        cdef const network_t* network = NULL if self.network is None else &self.network.n
        cdef workspace_t** workspaces
        cdef workspace_t* k
        cdef int i
        if n_believers > self.n_believers:
            free(self.q.believers)      # no games are running now
            self.n_believers = n_believers
            self.q.believers = <believer_t*>calloc(n_believers, sizeof(believer_t))
        if self.q.set_priors is NULL:
            self.n_priors = n_rows + n_sets
            self.q.set_priors = <prior_scores_t*>calloc(self.n_priors, sizeof(prior_scores_t))
            self.held = [None] * self.n_priors
        if n_threads > self.n_threads:
            workspaces = <workspace_t**>calloc(n_threads, sizeof(workspace_t*))
            if workspaces is not NULL:
                for i in range(self.n_threads):
                    workspaces[i] = self.q.workspaces[i]
                free(self.q.workspaces)
                self.q.workspaces = workspaces
        if self.q.believers is NULL or self.q.set_priors is NULL or self.q.workspaces is NULL:
            raise MemoryError(f"too little memory for {n_rows} searching opponents")
        for i in range(self.n_threads, n_threads):
            k = <workspace_t*>calloc(1, sizeof(workspace_t))
            if k is NULL:
                raise MemoryError(f"too little memory for {n_threads} searches")
            self.q.workspaces[i] = k
            self.n_threads = i + 1
            if engine_init(&k.e, &self.o) < 0:
                raise MemoryError(f"too little memory for {n_threads} searches")
            k.weights = self.evaluator.weights
            k.eval = self.evaluator.e
            engine_use(&k.e, &k.eval, network, <void*>self)
        return 0

    cdef int watch(self, bint on) except -1:
        """Set whether searches of the first thread check for signals, as the main thread must."""
        if self.n_threads:
            self.q.workspaces[0].e.w.watch = look_for_signals if on else <watch_t>NULL
        return 0

    def give(self, Py_ssize_t slot, key, scores, copies):
        """Set how likely the cards of a set are chosen: see `prior_scores_t`.

        `scores` is a float64 array, `copies` a uint8 array or None.
        """
        cdef const double[::1] numbers = scores
        cdef const uint8_t[::1] counts = copies
        if not 0 <= slot < self.n_priors:
            raise IndexError(f"set {slot} of {self.n_priors}")
        self.held[slot] = scores, copies
        self.q.set_priors[slot].key = key
        self.q.set_priors[slot].scores = &numbers[0]
        self.q.set_priors[slot].copies = NULL
        if copies is not None:
            self.q.set_priors[slot].copies = &counts[0]

    cdef bytes knowledge(self):
        """Return what the opponents know in all games, for a copy."""
        return (<const char*>self.q.believers)[:self.n_believers * sizeof(believer_t)]

    cdef int know(self, bytes knowledge) except -1:
        if len(knowledge) != self.n_believers * <Py_ssize_t>sizeof(believer_t):
            raise ValueError("the pickled opponents have another size")
        memcpy(self.q.believers, <const char*>knowledge, len(knowledge))
        return 0

    def __reduce__(self):
        """Pickle the settings; what is known in rows is pickled with the rows."""
        return Searcher, self.arguments
