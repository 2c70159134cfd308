# The memory of rows of games, and the options that all of them share. Part of _rows.pyx, which
# includes it.

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint8_t, uintptr_t

from locmsim._core cimport RULES_15, num_actions
from locmsim.envs._row cimport ALIGNMENT, AS_PASS, IN_BATTLE, LOSE, game_t
from locmsim.game._layout cimport choice_size, layout_item, layout_size
from locmsim.game._match cimport match_t

from locmsim.game._layout import LAYOUT_CODES


@cython.final
cdef class RowBlock:
    """The memory of `n` rows, and the settings that all of them share.

    `options` is a mapping made by `locmsim.envs.options`; only sizes are checked here.
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
            raise ValueError(f"layout {options['layout']!r} does not support rules {self.rules}")
        if options["episode"] != "choice":
            g.battle_actions = num_actions(g.rules)
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
        self.a.sets = <set_t*>PyMem_Calloc(size, sizeof(set_t))
        self.a.own_sets = <set_t*>PyMem_Calloc(n, sizeof(set_t))
        if self.a.sets is NULL or self.a.own_sets is NULL:
            raise MemoryError(f"{size} card sets")
        size = n * (sizeof(row_t) + sizeof(cold_t)) + ALIGNMENT
        self.block = PyMem_Malloc(size)
        if self.block is NULL:
            raise MemoryError(f"{n} rows")
        memset(self.block, 0, size)
        self.a.rows = <row_t*>(<uintptr_t>(<char*>self.block + ALIGNMENT - 1) & ~<uintptr_t>63)
        self.cold = <cold_t*>(self.a.rows + n)
        self.a.n = self.n = n
        self.a.winners = <int8_t*>PyMem_Calloc(n * g.battles, 1)
        if self.a.winners is NULL:
            raise MemoryError(f"{n * g.battles} battles")
        for i in range(n):
            self.a.rows[i].cold = &self.cold[i]
            self.a.rows[i].stream = stream_start(0, i)
            self.a.rows[i].where = OVER
            self.a.rows[i].phase = IN_BATTLE if g.episode == BATTLE_EPISODE else IN_CHOICE
        for i in range(SLOTS):
            g.player[i] = BY_CALLER

    def __dealloc__(self):
        PyMem_Free(self.block)
        PyMem_Free(self.a.sets)
        PyMem_Free(self.a.own_sets)
        PyMem_Free(self.a.winners)

    cdef row_t* row(self, Py_ssize_t i) except NULL:
        if not 0 <= i < self.a.n:
            raise IndexError(f"row {i} of {self.a.n}")
        return &self.a.rows[i]


cdef uint8_t* address(list held, str name, array, Py_ssize_t size) except? NULL:
    """Return the address of an array's data and keep the array in `held`."""
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


cdef int take_decks(match_t* m, decks) except -1:
    cdef int who, i
    for who in range(2):
        if not decks[who]:
            continue
        if len(decks[who]) != MAX_DECK:
            raise ValueError(f"decks: expected {MAX_DECK} cards, got {len(decks[who])}")
        for i in range(MAX_DECK):
            m.decks[who][i] = decks[who][i]
        m.picked[who] = MAX_DECK
    return 0
