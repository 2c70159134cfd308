# Waiting for locks in threads that hand work to each other without the GIL.

from cpython.pythread cimport PyThread_acquire_lock, PyThread_type_lock

cdef enum:
    LOCK_TRIES = 1000           # tries before a thread sleeps, some 20 us


cdef inline void wait_for(PyThread_type_lock lock) noexcept nogil:
    """Acquire a lock that will soon be free: try for a while, because waking up takes longer."""
    cdef int _i
    for _i in range(LOCK_TRIES):
        if PyThread_acquire_lock(lock, 0):
            return
    PyThread_acquire_lock(lock, 1)
