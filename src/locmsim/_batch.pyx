"""Loops over many states in one block of memory: the compiled part of `locmsim.batch`.

This is a separate module because more callers beside the kernel's functions would change how the
compiler inlines them.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from locmsim._core cimport (
    ATTACK,
    MAX_ACTIONS,
    MAX_BOARD,
    RULES_10,
    SUMMON,
    TERMINAL_PLAYER,
    USE,
    Determinizer,
    State,
    Table,
    check_resampled,
    decode_action,
    move_t,
    state_apply,
    state_count,
    state_deal,
    state_hash,
    state_is_legal,
    state_kth,
    state_list,
    state_player,
    state_resample,
    state_rollout,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
)

from locmsim.rules.rulesets import RULES_NAMES

__all__ = ["StateArray", "row_seeds"]


@cython.final
@cython.boundscheck(False)
cdef class StateArray:
    """Holds states of one rule set, each with its card table; all loops run without the GIL.

    Sizes of arrays and row numbers are checked once, before a loop: ``ValueError`` and
    ``IndexError``.
    """

    def __cinit__(self, Py_ssize_t size, State state not None):
        """Make `size` copies of a state."""
        cdef Py_ssize_t i
        if size < 0 or <size_t>size > <size_t>-1 // (2 * sizeof(state_t)):
            raise ValueError(f"a batch cannot have {size} states")
        self.states = <state_t*>PyMem_Malloc(size * sizeof(state_t))
        if self.states is NULL:
            raise MemoryError(f"{size} states")
        self.tables = <const table_t**>PyMem_Malloc(size * sizeof(table_t*))
        if self.tables is NULL:
            raise MemoryError(f"{size} states")
        self.size = size
        self.owners = [state.table] * size
        self.template = State.__new__(State)    # a copy: `state` may change
        self.template.table = state.table
        self.num_actions = state.num_distinct_actions()
        self.rules = state.table.t.rules
        for i in range(size):
            self.states[i] = state.s
            self.tables[i] = &state.table.t

    def __dealloc__(self):
        PyMem_Free(self.states)
        PyMem_Free(self.tables)

    cdef int check_row(self, Py_ssize_t i) except -1:
        if not 0 <= i < self.size:
            raise IndexError(f"row {i} of {self.size}")
        return 0

    cdef int check_rows(self, Py_ssize_t rows) except -1:
        if rows != self.size:
            raise ValueError(f"expected {self.size} rows, got {rows}")
        return 0

    def __reduce__(self):
        return _restored, (self.template.table, [self.get(i) for i in range(self.size)])

    @property
    def rule_set(self):
        """The name of the rule set."""
        return RULES_NAMES[self.rules]

    def get(self, Py_ssize_t i):
        """Return a copy of state i."""
        cdef State state = State.__new__(State)
        self.check_row(i)
        state.table = self.owners[i]
        state.s = self.states[i]
        return state

    def set(self, Py_ssize_t i, State state not None):
        """Make state i a copy of `state`; `ValueError` if that has other rules."""
        self.check_row(i)
        if state.table.t.rules != self.rules:
            raise ValueError("the state has other rules than the batch")
        self.owners[i] = state.table
        self.tables[i] = &state.table.t
        self.states[i] = state.s

    def copy(self):
        """Return an independent copy of all states."""
        cdef StateArray other = StateArray(self.size, self.template)
        memcpy(other.states, self.states, self.size * sizeof(state_t))
        memcpy(other.tables, self.tables, self.size * sizeof(table_t*))
        other.owners = list(self.owners)
        return other

    def step(self, const int64_t[::1] actions, uint8_t[::1] bad):
        """Apply an action to each state; -1 leaves a state as it is.

        If any action is not legal, none is applied. Marks the rows of illegal actions in `bad`, and
        returns their number.
        """
        cdef const state_t* s
        cdef Py_ssize_t i, n = 0
        self.check_rows(actions.shape[0])
        self.check_rows(bad.shape[0])
        with nogil:
            for i in range(self.size):
                s = &self.states[i]
                if state_winner(s) >= 0:
                    bad[i] = actions[i] != -1
                else:
                    bad[i] = actions[i] != -1 and not (
                        0 <= actions[i] < MAX_ACTIONS and state_is_legal(
                            s, self.tables[i], <int>actions[i]))
                n += bad[i]
            if n == 0:
                for i in range(self.size):
                    if actions[i] >= 0:
                        state_apply(&self.states[i], self.tables[i], <int>actions[i])
        return n

    def sample(self, uint64_t seed, int64_t[::1] out):
        """Write a uniformly random legal action of each state, -1 where the game is over."""
        cdef const state_t* s
        cdef const table_t* t
        cdef uint64_t stream
        cdef Py_ssize_t i
        self.check_rows(out.shape[0])
        with nogil:
            for i in range(self.size):
                s = &self.states[i]
                if state_winner(s) >= 0:
                    out[i] = -1
                else:
                    t = self.tables[i]
                    stream = stream_start(seed, i)
                    out[i] = state_kth(s, t, stream_below(&stream, state_count(s, t)))

    def masks(self, int8_t[:, ::1] out):
        """Write 1 for each legal action into `out`, which has a column for each action number."""
        cdef uint8_t[MAX_ACTIONS + 1] actions
        cdef Py_ssize_t i
        cdef int n, k
        self.check_rows(out.shape[0])
        if out.shape[1] != self.num_actions:
            raise ValueError(f"expected {self.num_actions} columns, got {out.shape[1]}")
        with nogil:
            for i in range(self.size):
                if state_winner(&self.states[i]) < 0:
                    n = state_list(&self.states[i], self.tables[i], actions)
                    for k in range(n):
                        out[i, actions[k]] = 1

    def legal(self, int64_t[::1] rows, int64_t[::1] actions):
        """Write every legal action of every state, by row and ascending, and the row of each."""
        cdef uint8_t[MAX_ACTIONS + 1] found
        cdef Py_ssize_t i, place = 0, length = actions.shape[0]
        cdef int n, k
        if rows.shape[0] != length:
            raise ValueError(f"expected {length} rows, got {rows.shape[0]}")
        with nogil:
            for i in range(self.size):
                if state_winner(&self.states[i]) >= 0:
                    continue
                n = state_list(&self.states[i], self.tables[i], found)
                for k in range(min(<Py_ssize_t>n, length - place)):
                    rows[place + k] = i
                    actions[place + k] = found[k]
                place += n
        if place != length:
            raise ValueError(f"expected room for {place} actions, got {length}")

    def moves(self):
        """Return the meaning of all action numbers: (actions, 4), kind, source, target and lane."""
        cdef move_t m
        cdef int a, slot, per_lane = MAX_BOARD if self.rules == RULES_10 else MAX_BOARD // 2
        found = []
        for a in range(self.num_actions):
            m = decode_action(self.tables[0] if self.size else &self.template.table.t, a)
            if m.kind == SUMMON:
                found.append((m.kind, m.source, -1, m.target))
            elif m.kind == ATTACK:
                slot = -1 if m.target == 0 else m.target - 1 + MAX_BOARD
                found.append((m.kind, m.source, slot, m.source // per_lane))
            elif m.kind == USE:
                slot = m.target - 1
                found.append((
                    m.kind, m.source, slot, slot % MAX_BOARD // per_lane if slot >= 0 else -1))
            else:
                found.append((m.kind, -1, -1, -1))
        return found

    def take(self, const int64_t[::1] rows):
        """Return copies of the states in `rows`, in that order; a row may occur several times."""
        cdef StateArray other = StateArray(rows.shape[0], self.template)
        cdef Py_ssize_t i, row
        for i in range(rows.shape[0]):
            row = rows[i]
            self.check_row(row)
            other.states[i] = self.states[row]
            other.tables[i] = self.tables[row]
            other.owners[i] = self.owners[row]
        return other

    def counts(self, int32_t[::1] out):
        """Write the number of legal actions of each state, 0 where the game is over."""
        cdef Py_ssize_t i
        self.check_rows(out.shape[0])
        with nogil:
            for i in range(self.size):
                out[i] = 0 if state_winner(&self.states[i]) >= 0 else (
                    state_count(&self.states[i], self.tables[i]))

    def deal(self, Determinizer worlds not None, const uint64_t[::1] seeds):
        """Make each state the sample of `worlds` with its seed."""
        cdef const table_t* t = &worlds.state.table.t
        cdef uint64_t stream
        cdef Py_ssize_t i
        self.check_rows(seeds.shape[0])
        if t.rules != self.rules:
            raise ValueError("the worlds have other rules than the batch")
        self.owners = [worlds.state.table] * self.size
        with nogil:
            for i in range(self.size):
                stream = stream_start(seeds[i], 0)
                self.tables[i] = t
                self.states[i] = worlds.state.s
                state_deal(&self.states[i], t, &worlds.u, &stream)

    def resample(self, const int8_t[::1] viewers, const uint64_t[::1] seeds):
        """Do `State.resample_hidden` in each state, with its viewer, 0 or 1, and seed."""
        cdef uint64_t stream
        cdef Py_ssize_t i
        cdef int fault = 0
        self.check_rows(viewers.shape[0])
        self.check_rows(seeds.shape[0])
        with nogil:
            for i in range(self.size):
                stream = stream_start(seeds[i], 0)
                fault |= state_resample(
                    &self.states[i], self.tables[i], viewers[i] & 1, &stream)
        check_resampled(fault)

    def hashes(self, uint64_t[::1] out):
        """Write `State.hash64` of each state."""
        cdef Py_ssize_t i
        self.check_rows(out.shape[0])
        with nogil:
            for i in range(self.size):
                out[i] = state_hash(&self.states[i], self.tables[i])

    def winners(self, int8_t[::1] out):
        """Write the winner of each state, -1 while nobody has won."""
        cdef Py_ssize_t i
        self.check_rows(out.shape[0])
        with nogil:
            for i in range(self.size):
                out[i] = state_winner(&self.states[i])

    def players(self, int8_t[::1] out):
        """Write `State.current_player` of each state."""
        cdef Py_ssize_t i
        self.check_rows(out.shape[0])
        with nogil:
            for i in range(self.size):
                out[i] = TERMINAL_PLAYER if state_winner(&self.states[i]) >= 0 else (
                    state_player(&self.states[i]))

    def movers(self, int8_t[::1] out):
        """Write the player whose turn it is, or was when the game ended."""
        cdef Py_ssize_t i
        self.check_rows(out.shape[0])
        with nogil:
            for i in range(self.size):
                out[i] = state_player(&self.states[i])

    def rollouts(
        self, const uint64_t[::1] seeds, Py_ssize_t first, Py_ssize_t start, int8_t[:, ::1] out
    ):
        """Write the winners of playouts start, start + 1, ... of rows first, first + 1, ... .

        The shape of `out` says how many rows and playouts.
        """
        cdef state_t s
        cdef uint64_t applied = 0
        cdef Py_ssize_t i, k
        self.check_rows(seeds.shape[0])
        if first < 0 or out.shape[0] > self.size - first:
            raise IndexError(f"rows {first}..{first + out.shape[0] - 1} of {self.size}")
        with nogil:
            for i in range(out.shape[0]):
                for k in range(out.shape[1]):
                    s = self.states[first + i]
                    out[i, k] = state_rollout(
                        &s, self.tables[first + i], stream_start(seeds[first + i], start + k),
                        &applied)


def row_seeds(uint64_t seed, uint64_t[::1] out):
    """Write a seed for each row, derived from one."""
    cdef Py_ssize_t i
    for i in range(out.shape[0]):
        out[i] = stream_start(seed, i)


def _restored(Table table not None, list states not None):
    """Restore what `StateArray.__reduce__` returned."""
    cdef State template = State.__new__(State)
    template.table = table
    array = StateArray(len(states), states[0] if states else template)
    for i, state in enumerate(states):
        array.set(i, state)
    return array
