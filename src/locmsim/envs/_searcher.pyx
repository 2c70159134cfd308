"""Opponents that search without the interpreter: what `beam:nodes=N` is in an environment.

They play what the agent of that name plays, to the action: `search_turn` makes of a row what the
protocol would show the player who is to move, and from there on only that is used, by the functions
that the agent's belief and search are made of. All that they keep is a `mind_t` for each row.
"""

cimport cython
from libc.math cimport exp
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    MAX_CARDS,
    MAX_DECK,
    RULES_15,
    card_t,
    complete_card,
    fill_card_keys,
    shown_action_t,
    state_deal,
    state_seen,
    state_t,
    stream_start,
    table_t,
)
from locmsim.networks._network cimport Network, network_t
from locmsim.search._belief cimport (
    belief_chose,
    belief_reset,
    belief_root,
    belief_see,
    belief_unknown,
    pool_t,
)
from locmsim.search._engine cimport (
    UNLIMITED,
    engine_begin,
    engine_free,
    engine_init,
    engine_run,
    engine_use,
    fill_options,
    found_t,
)
from locmsim.search._evaluation cimport Evaluator, eval_use_table
from locmsim.search._work cimport value_function_t

from locmsim.search.belief import TEMPERATURES

__all__ = ["Searcher", "python_seeds"]

cdef enum:                      # the Mersenne Twister
    MT_WORDS = 624
    MT_MIDDLE = 397

cdef double LEAST = -50.0       # exponent of an attraction, as in locmsim.search.belief


# ---- seeds ---------------------------------------------------------------------------------------

cdef void twister_start(uint32_t* x, uint64_t seed) noexcept nogil:
    """`random.Random(seed)`."""
    cdef uint32_t key[2]
    cdef int n_keys = 2 if seed >> 32 else 1
    cdef int i, j = 0, _step
    key[0] = <uint32_t>seed
    key[1] = <uint32_t>(seed >> 32)
    x[0] = 19650218
    for i in range(1, MT_WORDS):
        x[i] = 1812433253U * (x[i - 1] ^ x[i - 1] >> 30) + <uint32_t>i
    i = 1
    for _step in range(MT_WORDS):
        x[i] = (x[i] ^ (x[i - 1] ^ x[i - 1] >> 30) * 1664525U) + key[j] + <uint32_t>j
        i += 1
        j = (j + 1) % n_keys
        if i == MT_WORDS:
            x[0] = x[MT_WORDS - 1]
            i = 1
    for _step in range(MT_WORDS - 1):
        x[i] = (x[i] ^ (x[i - 1] ^ x[i - 1] >> 30) * 1566083941U) - <uint32_t>i
        i += 1
        if i == MT_WORDS:
            x[0] = x[MT_WORDS - 1]
            i = 1
    x[0] = 0x80000000U


cdef void twister_next(uint32_t* x) noexcept nogil:
    """The next 624 words."""
    cdef uint32_t y
    cdef int i
    for i in range(MT_WORDS):
        y = (x[i] & 0x80000000U) | (x[(i + 1) % MT_WORDS] & 0x7FFFFFFFU)
        x[i] = x[(i + MT_MIDDLE) % MT_WORDS] ^ y >> 1 ^ (0x9908B0DFU if y & 1 else 0)


cdef uint32_t tempered(uint32_t y) noexcept nogil:
    y ^= y >> 11
    y ^= y << 7 & 0x9D2C5680U
    y ^= y << 15 & 0xEFC60000U
    return y ^ y >> 18


cdef uint64_t turn_seed(int64_t seed, int64_t turn) noexcept nogil:
    """What `random.Random(seed).getrandbits(63)` gives the agent in a turn, from 0 on.

    It starts from the seed each time, which takes little beside a search and leaves no state.
    """
    cdef uint32_t x[MT_WORDS]
    cdef int64_t word = 2 * turn
    cdef uint64_t low
    twister_start(x, <uint64_t>seed)
    twister_next(x)
    while word >= MT_WORDS:
        twister_next(x)
        word -= MT_WORDS
    low = tempered(x[word])
    return low | <uint64_t>(tempered(x[word + 1]) >> 1) << 32


def python_seeds(seed, int n):
    """The first n seeds of an agent that was reset with a seed of 63 bits; for tests."""
    return [turn_seed(seed, i) for i in range(n)]


# ---- what may be hidden --------------------------------------------------------------------------

cdef void mind_start(
    mind_t* m, int64_t serial, int64_t seed, int rules, int who, const card_t* cards,
    const uint8_t* deck
) noexcept nogil:
    cdef int i
    belief_reset(&m.b)
    m.serial = serial
    m.seed = seed
    m.turns = 0
    if rules != RULES_15:       # a draft tells
        m.b.seat = who
    for i in range(MAX_DECK):
        belief_chose(&m.b, cards[deck[i]].base_id)


cdef void constructed_pool(
    thinker_t* k, const card_t* cards, int n_cards, const double* weights
) noexcept nogil:
    """All cards of the set, in the order in which they are offered."""
    cdef pool_t* pool = &k.pool
    cdef int i, cost = 0
    memcpy(k.pool_table.cards, cards, n_cards * sizeof(card_t))
    k.pool_table.n_cards = n_cards
    while pool.n < n_cards:
        for i in range(n_cards):
            if cards[i].cost == cost:
                pool.entry[pool.n] = <uint8_t>i
                pool.weight[pool.n] = weights[pool.n]
                pool.n += 1
        cost += 1


cdef inline double attraction(double score, double best, double heat) noexcept nogil:
    cdef double x = (score - best) / heat
    return exp(x if x > LEAST else LEAST)


cdef void drafted_pool(
    thinker_t* k, const card_t* cards, int n_cards, const double* scores, double heat,
    const uint8_t (*triplets)[3]
) noexcept nogil:
    """The cards that were offered, in the order in which they first were."""
    cdef pool_t* pool = &k.pool
    cdef table_t* t = &k.pool_table
    cdef uint8_t place[MAX_CARDS]
    cdef bint offered[MAX_CARDS]
    cdef double best, most = scores[triplets[0][0]]
    cdef int turn, i, card
    memset(offered, 0, sizeof(offered))
    for turn in range(MAX_DECK):
        for i in range(3):
            offered[triplets[turn][i]] = True
            most = max(most, scores[triplets[turn][i]])
    for card in range(n_cards):
        if offered[card]:
            place[card] = <uint8_t>t.n_cards
            t.cards[t.n_cards] = cards[card]
            complete_card(&t.cards[t.n_cards], t.n_cards)
            t.n_cards += 1
    for turn in range(MAX_DECK):
        best = scores[triplets[turn][0]]
        for i in range(1, 3):
            best = max(best, scores[triplets[turn][i]])
        for i in range(3):
            card = triplets[turn][i]
            pool.triplet[turn][i] = place[card]
            pool.triplet_weight[turn][i] = attraction(scores[card], best, heat)
            if offered[card]:
                offered[card] = False
                pool.entry[pool.n] = place[card]
                pool.weight[pool.n] = attraction(scores[card], most, heat)
                pool.n += 1
        pool.triplet_size[turn] = 3
    pool.n_triplets = MAX_DECK


# ---- a turn --------------------------------------------------------------------------------------

cdef int search_turn(
    const searcher_t* q, thinker_t* k, mind_t* m, const taste_t* taste, const state_t* s,
    const table_t* t, const shown_action_t* acts, int n_acts, const card_t* cards, int n_cards,
    const uint8_t (*triplets)[3], uint8_t* path
) noexcept nogil:
    cdef found_t found
    cdef uint64_t seed = turn_seed(m.seed, m.turns)
    cdef uint64_t stream = stream_start(seed, 0)
    m.turns += 1
    state_seen(s, t, s.turn & 1, &k.shown)
    k.shown.n_actions = n_acts
    memcpy(k.shown.actions, acts, n_acts * sizeof(shown_action_t))
    # From here on nothing looks at the row.
    belief_see(&m.b, &k.shown)
    k.pool_table.rules = k.table.rules = t.rules
    k.pool_table.n_instances = k.pool_table.n_cards = 0
    k.pool.t = &k.pool_table
    k.pool.n = k.pool.n_triplets = 0
    if t.rules == RULES_15:
        constructed_pool(k, cards, n_cards, taste.numbers)
    else:
        drafted_pool(k, cards, n_cards, taste.numbers, q.heat, triplets)
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


@cython.final
cdef class Searcher:
    """A beam search of at most `nodes` positions a turn, as an opponent in rows.

    `options` are a `BeamOptions`; `evaluator` and `network` judge positions.
    """

    def __cinit__(self, options, Evaluator evaluator not None, Network network, rules, nodes):
        memset(&self.q, 0, sizeof(searcher_t))
        memset(&self.o, 0, sizeof(options_t))
        fill_options(&self.o, options)
        self.made_with = (options, evaluator, network, rules, nodes)
        self.evaluator = evaluator
        self.network = network
        self.q.nodes = nodes
        self.q.heat = TEMPERATURES[rules]

    def __dealloc__(self):
        cdef int i
        if self.q.thinkers is not NULL:
            for i in range(self.n_threads):
                if self.q.thinkers[i] is not NULL:
                    engine_free(&self.q.thinkers[i].e)
                free(self.q.thinkers[i])
        free(self.q.thinkers)
        free(self.q.minds)
        free(self.q.tastes)

    cdef int room_for(self, Py_ssize_t n_rows, Py_ssize_t n_sets, int n_threads) except -1:
        """Take memory for rows, sets and threads; rows and sets are the same in all calls."""
        cdef const network_t* network = NULL if self.network is None else &self.network.n
        cdef thinker_t** thinkers
        cdef thinker_t* k
        cdef int i
        if self.q.minds is NULL:
            self.n_rows = n_rows
            self.n_tastes = n_rows + n_sets
            self.q.minds = <mind_t*>calloc(n_rows, sizeof(mind_t))
            self.q.tastes = <taste_t*>calloc(self.n_tastes, sizeof(taste_t))
            self.held = [None] * self.n_tastes
        if n_threads > self.n_threads:
            thinkers = <thinker_t**>calloc(n_threads, sizeof(thinker_t*))
            if thinkers is not NULL:
                for i in range(self.n_threads):
                    thinkers[i] = self.q.thinkers[i]
                free(self.q.thinkers)
                self.q.thinkers = thinkers
        if self.q.minds is NULL or self.q.tastes is NULL or self.q.thinkers is NULL:
            raise MemoryError(f"{n_rows} opponents that search")
        for i in range(self.n_threads, n_threads):
            k = <thinker_t*>calloc(1, sizeof(thinker_t))
            if k is NULL:
                raise MemoryError(f"too little memory for {n_threads} searches")
            self.q.thinkers[i] = k
            self.n_threads = i + 1
            if engine_init(&k.e, &self.o) < 0:
                raise MemoryError(f"too little memory for {n_threads} searches")
            k.weights = self.evaluator.weights
            k.eval = self.evaluator.e
            engine_use(&k.e, &k.eval, network, <value_function_t>NULL, NULL)
        return 0

    def give(self, Py_ssize_t slot, key, numbers):
        """What the cards of a set are taken to be chosen for: float64, see `taste_t`."""
        cdef const double[::1] data = numbers
        if not 0 <= slot < self.n_tastes:
            raise IndexError(f"set {slot} of {self.n_tastes}")
        self.held[slot] = numbers
        self.q.tastes[slot].key = key
        self.q.tastes[slot].numbers = &data[0]

    cdef bytes knowledge(self):
        """What was made of what was shown, for a copy."""
        return (<const char*>self.q.minds)[:self.n_rows * sizeof(mind_t)]

    cdef int know(self, bytes knowledge) except -1:
        if len(knowledge) != self.n_rows * <Py_ssize_t>sizeof(mind_t):
            raise ValueError("opponents of another size")
        memcpy(self.q.minds, <const char*>knowledge, len(knowledge))
        return 0

    def __reduce__(self):
        """Without rows."""
        return Searcher, self.made_with
