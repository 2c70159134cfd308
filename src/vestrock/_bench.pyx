"""Loops that time the kernel's functions as compiled callers use them, see `vestrock.bench`."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t, uint64_t

from vestrock._core cimport (
    State,
    Table,
    state_apply,
    state_bound,
    state_copy,
    state_list,
    state_t,
    stream_below,
    table_t,
)
from vestrock.bots._policy cimport rule_turn

__all__ = ["StateLoops"]

cdef enum:
    CLONE
    APPLY
    LEGAL
    TURN

_OPERATIONS = {"clone": CLONE, "apply": APPLY, "legal": LEGAL, "turn": TURN}


@cython.final
cdef class StateLoops:
    """Loops of operations over positions of one match, to be timed.

    Parameters
    ----------
    states
        Positions of the same match, none of them over.

    Raises
    ------
    ValueError
        There are no states, or they belong to several matches.
    """

    cdef Table table
    cdef char* states
    cdef char* copies
    cdef int32_t* actions
    cdef int32_t* buffer
    cdef readonly uint64_t found        # legal actions, so that no list is optimised away
    cdef int n
    cdef int size

    def __cinit__(self, states):
        cdef State state
        cdef int i, count, most = 0
        cdef uint64_t stream = 1
        if not states:
            raise ValueError("states: expected at least one")
        self.table = states[0].table
        self.n = len(states)
        self.size = (self.table.t.state_size + 15) & ~15
        self.states = <char*>PyMem_Malloc(self.n * self.size)
        self.copies = <char*>PyMem_Malloc(self.n * self.size)
        self.actions = <int32_t*>PyMem_Malloc(self.n * sizeof(int32_t))
        for state in states:
            if state.table is not self.table or state.s.over:
                raise ValueError("states: expected positions of one match that runs")
            most = max(most, state_bound(state.s, state.t))
        self.buffer = <int32_t*>PyMem_Malloc(most * sizeof(int32_t))
        if not (self.states and self.copies and self.actions and self.buffer):
            raise MemoryError
        for i in range(self.n):
            state = states[i]
            state_copy(self.at(self.states, i), state.s, state.t)
            count = state_list(state.s, state.t, self.buffer)
            self.actions[i] = self.buffer[stream_below(&stream, count)]

    def __dealloc__(self):
        PyMem_Free(self.states)
        PyMem_Free(self.copies)
        PyMem_Free(self.actions)
        PyMem_Free(self.buffer)

    cdef inline state_t* at(self, char* states, int i) noexcept nogil:
        return <state_t*>(states + i * self.size)

    def run(self, operation, int loops):
        """Do an operation `loops` times for each position: "clone" makes a copy, "apply" executes a
        legal action in one, which was drawn beforehand, "turn" plays a turn by the rule of thumb in
        one; "legal" lists the legal actions.
        """
        cdef const table_t* t = &self.table.t
        cdef int what = _OPERATIONS[operation]
        cdef state_t* copy
        cdef int found = 0, i, _
        with nogil:
            for _ in range(loops):
                for i in range(self.n):
                    if what == LEGAL:
                        found ^= state_list(self.at(self.states, i), t, self.buffer)
                        continue
                    copy = self.at(self.copies, i)
                    state_copy(copy, self.at(self.states, i), t)
                    if what == APPLY:
                        state_apply(copy, t, self.actions[i])
                    elif what == TURN:
                        rule_turn(copy, t, NULL, NULL)
        self.found = found
