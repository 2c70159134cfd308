"""The results of a single environment's steps: new arrays for each step."""

from functools import partial

import numpy as np

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.sequence cimport PySequence_GetItem
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from locmsim.envs._rows cimport address
from locmsim.envs._row cimport (
    IN_BATTLE,
    NOTHING,
    OVER,
    advance,
    begin,
    clear,
    mover_of,
    resume,
    row_t,
)
from locmsim.envs._rows cimport Rows, action_of

__all__ = ["Fresh"]


cdef enum:
    CHUNK = 16                  # arrays that a `Copies` object cuts from one allocation


cdef class Copies:
    """Makes a new array for each step, as a view of a larger one: that takes half the time.

    Keeping one of these arrays alive keeps the other 15 of its chunk alive, too.
    """

    cdef object make            # () -> an array of CHUNK rows
    cdef object chunk
    cdef uint8_t* data
    cdef const uint8_t* source
    cdef Py_ssize_t size, used

    def __cinit__(self, array not None):
        self.make = partial(np.empty, (CHUNK, *array.shape), array.dtype)
        held = []
        self.source = address(held, "array", array, array.nbytes)
        self.size = array.nbytes
        self.used = CHUNK

    cdef object next(self):
        """Return a copy of the present contents of the array."""
        cdef Py_buffer view
        cdef Py_ssize_t i = self.used
        if i == CHUNK:
            i = 0
            self.chunk = self.make()
            PyObject_GetBuffer(self.chunk, &view, PyBUF_SIMPLE | PyBUF_WRITABLE)
            self.data = <uint8_t*>view.buf
            PyBuffer_Release(&view)
        self.used = i + 1
        memcpy(self.data + i * self.size, self.source, self.size)
        return PySequence_GetItem(self.chunk, i)


@cython.final
cdef class Fresh:
    """Makes the results of a single environment's steps: new arrays, and an info."""

    cdef Rows rows
    cdef tuple held
    cdef Copies observation, mask, hidden
    cdef bint in_info

    def __cinit__(self, Rows rows not None, observation, mask, bint in_info, hidden=None):
        self.rows = rows
        self.held = observation, mask, hidden
        self.observation = Copies(observation)
        self.mask = Copies(mask)
        self.in_info = in_info
        self.hidden = None if hidden is None else Copies(hidden)

    def step(self, action):
        """Take a step and return its result; None if the caller has something to do first."""
        cdef row_t* r = &self.rows.a.rows[0]
        cdef int64_t episode = r.serial
        cdef int64_t number = action_of(action)
        clear(&self.rows.a.out, 0, 1)
        advance(self.rows.a, 0, number)
        if r.waits != NOTHING or r.serial != episode or r.where == OVER:
            return None
        info = self.info()
        return self.shown(info), self.rows.a.out.reward[0], False, False, info

    def begin(self):
        """Begin an episode and return what a reset does; None as of `step`."""
        cdef row_t* r = &self.rows.a.rows[0]
        begin(&self.rows.a.g, r)
        resume(self.rows.a, 0)
        return None if r.waits != NOTHING else self.begun()

    def __call__(self):
        return self.begun()

    cdef tuple begun(self):
        info = self.info()
        return self.shown(info), info

    cdef dict info(self):
        """Return a new info, without the mask."""
        cdef const row_t* r = &self.rows.a.rows[0]
        cdef int seat = mover_of(r)
        if r.phase == IN_BATTLE:
            return {"turn": r.s.turn, "seat": seat}
        return {"turn": -1, "seat": seat, "step": r.cold.now.m.picked[seat]}

    cdef object shown(self, dict info):
        """Return a new observation; the mask is in it, or put into `info`."""
        if self.in_info:
            info["action_mask"] = self.mask.next()
            return self.observation.next()
        if self.hidden is not None:
            return {"observation": self.observation.next(), "action_mask": self.mask.next(),
                    "state": self.hidden.next()}
        return {"observation": self.observation.next(), "action_mask": self.mask.next()}
