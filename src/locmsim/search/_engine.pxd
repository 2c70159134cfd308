# A search: its memory, its budget and its steps. Plain functions on a plain struct, without the
# GIL; the class at the end is the interface to Python.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from locmsim._core cimport MAX_BOARD, Determinizer, State, Table, state_t, table_t, unknown_t
from locmsim.networks._network cimport Network, network_t
from locmsim.search._evaluation cimport CompiledEvaluation, eval_t
from locmsim.search._mcts cimport turn_tree_t
from locmsim.search._work cimport MAX_TURN_ACTIONS, options_t, work_t

cdef enum:
    MAX_PATH = 2 * MAX_TURN_ACTIONS + MAX_BOARD     # actions of an answer

ctypedef struct engine_t:
    work_t w
    turn_tree_t tree            # MCTS only
    options_t o

ctypedef struct found_t:
    uint8_t path[MAX_PATH]      # actions of the turn without PASS
    int32_t length
    float value                 # expected result, from -1 to 1
    int32_t visits              # number of results behind that mean; 0: none was sampled
    int64_t iterations          # descents of the tree

# Allocates memory for searches; -1 if that fails. Call engine_free in both cases.
cdef int engine_init(engine_t* e, const options_t* o) noexcept nogil
cdef void engine_free(engine_t* e) noexcept nogil
# Sets the evaluation: weights, and a network or NULL. `owner` is passed to the watch.
cdef void engine_use(
    engine_t* e, const eval_t* eval, const network_t* network, void* owner) noexcept nogil
# Prepares a search for the player to move, from a root whose hidden places hold arbitrary cards.
cdef void engine_begin(
    engine_t* e, const state_t* root, const table_t* t, const unknown_t* unknown, bint own_deck,
    uint64_t seed, int64_t deadline, int64_t nodes
) noexcept nogil
cdef void engine_run(engine_t* e, int64_t iterations, found_t* found) noexcept nogil
# Plays `s` to its end, or for `max_turns` turns. Each player's turns come from an engine that knows
# its own deck except for the order. Returns the number of turns; `ends`, unless NULL, gets the
# state at the end of each turn.
cdef int engine_game(
    engine_t** engines, const unknown_t** worlds, const int64_t* nodes, state_t* s,
    const table_t* t, uint64_t seed, int max_turns, state_t* ends
) noexcept nogil

# Converts a dataclass of options.py to a struct, which must be all zero.
cdef int fill_options(options_t* o, options) except -1
# Returns the seed of an agent's turn, 63 bits; `seed` is that of the game, turns count from 0.
cdef uint64_t turn_seed(uint64_t seed, uint64_t turn) noexcept nogil

cdef class SearchEngine:
    cdef engine_t e
    cdef CompiledEvaluation evaluator
    cdef Network network
    cdef object error           # the exception that a function, a signal or `check` raised
    cdef object check           # called several times a second, or None; an exception ends a search
    cdef bint running
    cdef Table table
    cdef int run(self, int64_t iterations, found_t* found) except -1
    cdef double played_on(self, const state_t* end, int n) except? -2
    cdef int use_table(self, Table table) except -1
    cdef int begin(
        self, State root, const unknown_t* unknown, uint64_t seed, int64_t until, int64_t nodes,
        check) except -1
    cdef int end(self) except -1
    cdef int refuse_to_share(self) except -1
    cdef object engine_result(self, const found_t* found)
