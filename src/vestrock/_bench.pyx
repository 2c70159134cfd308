"""Loops that time the kernel's functions as compiled callers use them, see `vestrock.bench`."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t, int64_t, uint64_t

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
from locmsim.gamekit cimport now_ns_
from vestrock.bots._policy cimport rule_turn

__all__ = ["StateLoops"]


@cython.final
cdef class StateLoops:
    """Times operations in loops over copies of positions of one match.

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

    def clone(self, int loops):
        """Return the nanoseconds for a copy."""
        cdef const table_t* t = &self.table.t
        cdef int64_t start
        cdef int i, _
        with nogil:
            start = now_ns_()
            for _ in range(loops):
                for i in range(self.n):
                    state_copy(self.at(self.copies, i), self.at(self.states, i), t)
            start = now_ns_() - start
        return <double>start / loops / self.n

    def apply(self, int loops):
        """Return the nanoseconds for a copy and a legal action, which was drawn beforehand."""
        cdef const table_t* t = &self.table.t
        cdef int64_t start
        cdef int i, _
        with nogil:
            start = now_ns_()
            for _ in range(loops):
                for i in range(self.n):
                    state_copy(self.at(self.copies, i), self.at(self.states, i), t)
                    state_apply(self.at(self.copies, i), t, self.actions[i])
            start = now_ns_() - start
        return <double>start / loops / self.n

    def legal(self, int loops):
        """Return the nanoseconds for listing the legal actions."""
        cdef const table_t* t = &self.table.t
        cdef int64_t start
        cdef int i, _
        cdef int64_t sum = 0
        with nogil:
            start = now_ns_()
            for _ in range(loops):
                for i in range(self.n):
                    sum += state_list(self.at(self.states, i), t, self.buffer)
            start = now_ns_() - start
        return <double>start / loops / self.n if sum else 0.0

    def turn(self, int loops):
        """Return the nanoseconds for a copy and a turn by the rule of thumb."""
        cdef const table_t* t = &self.table.t
        cdef int64_t start
        cdef int i, _
        with nogil:
            start = now_ns_()
            for _ in range(loops):
                for i in range(self.n):
                    state_copy(self.at(self.copies, i), self.at(self.states, i), t)
                    rule_turn(self.at(self.copies, i), t, NULL, NULL)
            start = now_ns_() - start
        return <double>start / loops / self.n
