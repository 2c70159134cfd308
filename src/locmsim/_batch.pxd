# Many states in one block of memory, for compiled code that reads them: see `locmsim.batch`.

from locmsim._core cimport State, state_t, table_t

cdef class StateArray:
    cdef state_t* states
    cdef const table_t** tables     # the card table of each state
    cdef list owners                # the `Table` objects that these belong to
    cdef State template             # of the first table; its position does not matter
    cdef int rules
    cdef readonly Py_ssize_t size
    cdef readonly int num_actions   # one more than the highest action number
    cdef int check_row(self, Py_ssize_t i) except -1
    cdef int check_rows(self, Py_ssize_t rows) except -1
