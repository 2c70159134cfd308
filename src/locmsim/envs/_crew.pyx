"""What the threads that share the rows of a vector environment run: see `locmsim.envs.workers`."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
)
from libc.stdint cimport int64_t
from libc.string cimport memset

from locmsim.envs._env cimport Rows
from locmsim.envs._row cimport part_t, steps

__all__ = ["Crew"]


@cython.final
cdef class Crew:
    """What the threads that share the rows have in common: see `locmsim.envs.workers`.

    They wait in C without the GIL: handing that from one to the other takes as long as a step of
    a thousand rows.
    """

    cdef Rows rows
    cdef readonly int n             # parts of the rows; the caller of `run` steps the first one
    cdef part_t* parts
    cdef const int64_t* actions
    cdef bint over

    def __cinit__(self, Rows rows not None, int n):
        cdef int i
        self.rows = rows
        self.n = n
        rows.set_threads(n)
        self.parts = <part_t*>PyMem_Malloc(n * sizeof(part_t))
        if self.parts is NULL:
            raise MemoryError(f"{n} threads")
        memset(self.parts, 0, n * sizeof(part_t))
        for i in range(n):
            self.parts[i].start = rows.n * i // n
            self.parts[i].end = rows.n * (i + 1) // n
            self.parts[i].go = PyThread_allocate_lock()
            self.parts[i].done = PyThread_allocate_lock()
            if self.parts[i].go is NULL or self.parts[i].done is NULL:
                raise MemoryError(f"{n} threads")
            PyThread_acquire_lock(self.parts[i].go, 1)
            PyThread_acquire_lock(self.parts[i].done, 1)

    def __dealloc__(self):
        cdef int i
        if self.parts is not NULL:
            for i in range(self.n):
                if self.parts[i].go is not NULL:
                    PyThread_free_lock(self.parts[i].go)
                if self.parts[i].done is not NULL:
                    PyThread_free_lock(self.parts[i].done)
        PyMem_Free(self.parts)

    def serve(self, int i):
        """What thread i does until the end."""
        cdef part_t* p = &self.parts[i]
        with nogil:
            while True:
                PyThread_acquire_lock(p.go, 1)
                if self.over:
                    break
                p.found = steps(&self.rows.a, self.actions, p.start, p.end, i)
                PyThread_release_lock(p.done)

    def run(self, const int64_t[::1] actions):
        """An action for each row; the sum of what `steps` returns.

        After `stop` the caller's thread does it alone.
        """
        cdef int64_t found
        cdef int i, n = 1 if self.over else self.n
        if actions.shape[0] != self.rows.n:
            raise ValueError(f"actions: expected {self.rows.n}, got {actions.shape[0]}")
        self.actions = &actions[0]
        with nogil:
            for i in range(1, n):
                PyThread_release_lock(self.parts[i].go)
            found = steps(
                &self.rows.a, self.actions, 0, self.parts[0].end if n > 1 else self.rows.n, 0)
            for i in range(1, n):
                PyThread_acquire_lock(self.parts[i].done, 1)
                found += self.parts[i].found
        return found

    def stop(self):
        """Let the threads end."""
        cdef int i
        self.over = True
        for i in range(1, self.n):
            PyThread_release_lock(self.parts[i].go)
