"""The compiled loop of the threads of a vector environment: see `locmsim.envs.threads`."""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
)
from libc.stdint cimport int64_t
from libc.string cimport memset

from locmsim._locks cimport wait_for
from locmsim.envs._rows cimport Rows
from locmsim.envs._row cimport add_, steps

__all__ = ["ThreadPool"]

cdef enum:
    CHUNK = 64                  # rows that a thread takes at a time: whole cache lines of outputs
    CHUNKS = 8                  # a thread takes fewer rows where that gives it fewer chunks

ctypedef struct part_t:         # the state of one thread
    PyThread_type_lock go
    PyThread_type_lock done
    int64_t found               # result of its rows in the last step


@cython.final
cdef class ThreadPool:
    """Shares the rows among threads: see `locmsim.envs.threads`.

    The threads wait in C without the GIL: handing it from one to another takes as long as a step of
    a thousand rows. Each takes some rows at a time, so that nobody waits for a thread that wakes
    late.
    """

    cdef Rows rows
    cdef readonly int n             # threads; the caller of `run` is the first one
    cdef part_t* parts
    cdef Py_ssize_t chunk           # rows that a thread takes at a time
    cdef int64_t next_row           # the first row that no thread has taken
    cdef const int64_t* actions
    cdef bint over

    def __cinit__(self, Rows rows not None, int n):
        cdef int i
        self.rows = rows
        self.n = n
        rows.players.set_threads(n)
        self.parts = <part_t*>PyMem_Malloc(n * sizeof(part_t))
        if self.parts is NULL:
            raise MemoryError(f"{n} threads")
        memset(self.parts, 0, n * sizeof(part_t))
        self.chunk = max(1, min(CHUNK, rows.n // (CHUNKS * n)))
        for i in range(n):
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

    cdef int64_t work(self, int thread) noexcept nogil:
        """Step rows until all have been taken; return the sum of the results of `steps`."""
        cdef int64_t found = 0
        cdef Py_ssize_t start
        while True:
            start = add_(&self.next_row, self.chunk)
            if start >= self.rows.n:
                return found
            found += steps(self.rows.a, self.actions, start, min(start + self.chunk, self.rows.n),
                           thread)

    def serve(self, int i):
        """Run thread i until `stop`."""
        cdef part_t* p = &self.parts[i]
        with nogil:
            while True:
                PyThread_acquire_lock(p.go, 1)
                if self.over:
                    break
                p.found = self.work(i)
                PyThread_release_lock(p.done)

    def run(self, const int64_t[::1] actions):
        """Play an action in each row; return the sum of the results of `steps`.

        After `stop` the caller's thread does all rows.
        """
        cdef int64_t found
        cdef int i, n = 1 if self.over else self.n
        if actions.shape[0] != self.rows.n:
            raise ValueError(f"actions: expected {self.rows.n}, got {actions.shape[0]}")
        self.actions = &actions[0]
        self.rows.players.watch()
        if n == 1:
            with nogil:
                found = steps(self.rows.a, self.actions, 0, self.rows.n, 0)
            self.rows.players.raise_stop()
            return found
        with nogil:
            self.next_row = 0
            for i in range(1, n):
                PyThread_release_lock(self.parts[i].go)
            found = self.work(0)
            for i in range(1, n):
                wait_for(self.parts[i].done)
                found += self.parts[i].found
        self.rows.players.raise_stop()
        return found

    def stop(self):
        """End the threads."""
        cdef int i
        self.over = True
        for i in range(1, self.n):
            PyThread_release_lock(self.parts[i].go)
