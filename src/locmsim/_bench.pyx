"""Loops that time the kernel's C functions as compiled callers use them: see `locmsim.bench`."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint8_t, uint64_t

from locmsim._core cimport (
    MAX_ACTIONS,
    Determinizer,
    State,
    state_apply,
    state_count,
    state_deal,
    state_kth,
    state_list,
    state_play_turn,
    state_rollout,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
    unknown_t,
)

from locmsim.agents._scripted cimport GREEDY, scripted_action

from time import perf_counter_ns

__all__ = [
    "COMPILER", "COMPILER_COMMAND", "CYTHON", "KernelLoops", "STATE_SIZE", "TARGET",
    "fair_playouts", "game_lengths", "greedy_turns", "kth_actions", "packed_worlds",
    "random_turns"]

cdef extern from *:
    """
    #if defined(__clang__)
    #  define LOCMSIM_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #  define LOCMSIM_COMPILER "gcc " __VERSION__
    #elif defined(_MSC_VER)
    #  define LOCMSIM_STRING_(x) #x
    #  define LOCMSIM_STRING(x) LOCMSIM_STRING_(x)
    #  define LOCMSIM_COMPILER "MSVC " LOCMSIM_STRING(_MSC_VER)
    #else
    #  define LOCMSIM_COMPILER "unknown compiler"
    #endif
    #ifndef LOCMSIM_COMMAND
    #  define LOCMSIM_COMMAND "unknown command"
    #endif
    #if defined(__AVX512F__)
    #  define LOCMSIM_TARGET "x86-64 with AVX-512"
    #elif defined(__AVX2__)
    #  define LOCMSIM_TARGET "x86-64 with AVX2"
    #elif defined(__x86_64__) || defined(_M_X64)
    #  define LOCMSIM_TARGET "any x86-64"
    #elif defined(__aarch64__) || defined(_M_ARM64)
    #  define LOCMSIM_TARGET "any aarch64"
    #else
    #  define LOCMSIM_TARGET "another CPU"
    #endif
    """
    const long CYTHON_HEX_VERSION
    const char* LOCMSIM_COMPILER
    const char* LOCMSIM_TARGET
    const char* LOCMSIM_COMMAND

# All compiled modules are built with one command line; setup.py records it here.
COMPILER = LOCMSIM_COMPILER.decode().strip()
COMPILER_COMMAND = LOCMSIM_COMMAND.decode()
TARGET = LOCMSIM_TARGET.decode()    # the CPUs that it runs on
CYTHON = ".".join(str((CYTHON_HEX_VERSION >> shift) & 255) for shift in (24, 16, 8))
STATE_SIZE = sizeof(state_t)

cdef enum:
    GROUP = 64                  # positions worked on at a time: 16 KB fit the level 1 cache
    COPY = 0
    CLONE = 1
    APPLY = 2
    COUNT = 3
    LIST = 4
    KTH = 5

_OPERATIONS = {"copy": COPY, "clone": CLONE, "apply": APPLY, "count": COUNT, "list": LIST,
               "kth": KTH}


@cython.final
cdef class KernelLoops:
    """Times an operation in a loop over many positions.

    `groups` are sequences of 64 unfinished states that share a table. For ``apply`` and ``kth``,
    `seed` determines a random legal action of each.
    """

    cdef state_t* positions
    cdef const table_t** tables         # one for each group
    cdef uint8_t* actions
    cdef uint8_t* numbers               # `k` of state_kth for each position
    cdef Py_ssize_t n_groups
    cdef readonly uint64_t checked      # sum of all results, so that none is optimised away
    cdef list owners

    def __cinit__(self, groups, seed):
        cdef uint64_t stream = stream_start(seed, 0)
        cdef State state
        cdef Py_ssize_t i = 0
        self.owners = [list(group) for group in groups]
        self.n_groups = len(self.owners)
        self.positions = <state_t*>PyMem_Malloc(self.n_groups * GROUP * sizeof(state_t))
        self.tables = <const table_t**>PyMem_Malloc(self.n_groups * sizeof(table_t*))
        self.actions = <uint8_t*>PyMem_Malloc(self.n_groups * GROUP)
        self.numbers = <uint8_t*>PyMem_Malloc(self.n_groups * GROUP)
        if not (self.positions and self.tables and self.actions and self.numbers):
            raise MemoryError()
        for group in self.owners:
            if len(group) != GROUP:
                raise ValueError(f"group of {len(group)} states, expected {GROUP}")
            for state in group:
                if state.table is not (<State>group[0]).table or state.is_terminal():
                    raise ValueError("a group needs unfinished states that share a table")
                self.tables[i // GROUP] = &state.table.t
                self.positions[i] = state.s
                self.numbers[i] = stream_below(&stream, state_count(&state.s, &state.table.t))
                self.actions[i] = state_kth(&state.s, &state.table.t, self.numbers[i])
                i += 1

    def __dealloc__(self):
        PyMem_Free(self.positions)
        PyMem_Free(self.tables)
        PyMem_Free(self.actions)
        PyMem_Free(self.numbers)

    def run(self, operation, rounds):
        """Return the mean number of nanoseconds that an operation takes for one position.

        Every operation works on fresh copies of 64 positions at a time; "copy" only makes them.
        `operation` is one of "copy", "clone", "apply", "count", "list" and "kth".
        """
        cdef int what = _OPERATIONS[operation]
        cdef Py_ssize_t times = rounds
        cdef uint64_t checked
        start = perf_counter_ns()
        with nogil:
            checked = self.loop(what, times)
        self.checked += checked
        return (perf_counter_ns() - start) / (times * self.n_groups * GROUP)

    cdef uint64_t loop(self, int what, Py_ssize_t times) noexcept nogil:
        cdef state_t copies[GROUP]
        cdef state_t clones[GROUP]
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef const state_t* positions
        cdef const table_t* t
        cdef const uint8_t* chosen
        cdef const uint8_t* numbers
        cdef Py_ssize_t g
        cdef uint64_t checked = 0
        cdef int i
        for _ in range(times):
            for g in range(self.n_groups):
                t = self.tables[g]
                positions = self.positions + g * GROUP
                chosen = self.actions + g * GROUP
                numbers = self.numbers + g * GROUP
                # Not in order, or the compiler would replace the loop by one large copy.
                for i in range(GROUP):
                    copies[i * 5 % GROUP] = positions[i * 5 % GROUP]
                if what == CLONE:
                    for i in range(GROUP):
                        clones[i * 5 % GROUP] = copies[i * 5 % GROUP]
                    checked += clones[numbers[0]].turn
                elif what == APPLY:
                    for i in range(GROUP):
                        state_apply(&copies[i], t, chosen[i])
                elif what == COUNT:
                    for i in range(GROUP):
                        checked += state_count(&copies[i], t)
                elif what == LIST:
                    for i in range(GROUP):
                        checked += state_list(&copies[i], t, actions)
                elif what == KTH:
                    for i in range(GROUP):
                        checked += state_kth(&copies[i], t, numbers[i])
                checked += copies[numbers[0]].turn
        return checked


def game_lengths(states, n, seed):
    """Return the total actions (PASS included) and turns of n random playouts from each state."""
    cdef State state
    cdef state_t s
    cdef uint64_t actions = 0
    cdef Py_ssize_t turns = 0
    cdef Py_ssize_t i, games = n
    cdef uint64_t bits = seed
    for state in states:
        with nogil:
            for i in range(games):
                s = state.s
                state_rollout(&s, &state.table.t, stream_start(bits, i), &actions)
                turns += s.turn + 1 - state.s.turn
    return actions, turns


def fair_playouts(Determinizer worlds not None, n, seed):
    """Return how many of n random playouts player 0 wins, each from a world dealt for it."""
    cdef state_t s
    cdef uint64_t stream, actions = 0
    cdef Py_ssize_t i, games = n, wins = 0
    cdef uint64_t bits = seed
    with nogil:
        for i in range(games):
            s = worlds.state.s
            stream = stream_start(bits, i)
            state_deal(&s, &worlds.state.table.t, &worlds.u, &stream)
            wins += state_rollout(&s, &worlds.state.table.t, stream, &actions) == 0
    return wins


def random_turns(State state not None, n, seed):
    """Play the rest of a turn n times at random, each in a copy; return the mana left in all."""
    cdef state_t s
    cdef Py_ssize_t i, times = n
    cdef uint64_t stream, bits = seed, left = 0
    with nogil:
        for i in range(times):
            s = state.s
            stream = stream_start(bits, i)
            state_play_turn(&s, &state.table.t, &stream)
            left += s.p[s.turn & 1].mana
    return left


def greedy_turns(State state not None, n):
    """Play the rest of the turn n times as "greedy" does, each in a copy; return the actions."""
    cdef state_t s
    cdef Py_ssize_t times = n
    cdef uint64_t stream = 0, actions = 0
    cdef int action
    with nogil:
        for _ in range(times):
            s = state.s
            action = -1
            while action != 0 and state_winner(&s) < 0:
                action = scripted_action(GREEDY, &s, &state.table.t, &stream)
                actions += 1
                if action:
                    state_apply(&s, &state.table.t, action)
    return actions


def packed_worlds(Determinizer worlds not None):
    """Return the structs of a sampler, table first, for a program on the exported header."""
    cdef const table_t* t = &worlds.state.table.t
    return ((<const char*>t)[:sizeof(table_t)] + (<const char*>&worlds.u)[:sizeof(unknown_t)]
            + (<const char*>&worlds.state.s)[:sizeof(state_t)])


def kth_actions(State state not None):
    """Return all legal actions in the order of `state_kth`, which finds each without a list."""
    cdef int k
    if state.is_terminal():
        return []
    return [
        state_kth(&state.s, &state.table.t, k)
        for k in range(state_count(&state.s, &state.table.t))]
