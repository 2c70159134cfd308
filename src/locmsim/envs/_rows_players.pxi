# The players of rows besides the caller, and those who play the battles after a choice phase.
# Part of _rows.pyx, which includes it.

from threading import current_thread, main_thread

from libc.stdint cimport uint32_t

from locmsim.envs._row cimport BY_PYTHON, BY_SEARCH


#: Players of a table, those of running episodes included that have been replaced.
MOST_PLAYERS = SLOTS


@cython.final
cdef class PlayerTable:
    """The players of a block's rows, by slot, and those who play battles after a choice phase."""

    def __cinit__(self, RowBlock block not None):
        cdef int i
        self.block = block
        self.a = &block.a
        self.n_threads = 1
        self.searchers = [None] * SLOTS
        for i in range(SLOTS):
            self.a.g.player[i] = BY_CALLER
        self.draw_from([0], [1.0])
        self.battlers = [BY_PYTHON, BY_PYTHON]

    def free_slots(self):
        """Return the slots whose players no running episode is played against."""
        cdef bint busy[SLOTS]
        cdef Py_ssize_t row
        memset(busy, 0, sizeof(busy))
        for row in range(self.a.n):
            if self.a.rows[row].where != OVER:
                busy[self.a.rows[row].cold.now.opponent] = True
        return [slot for slot in range(SLOTS) if not busy[slot]]

    def put(self, int slot, kind):
        """Put a player into a slot.

        `kind` is the number of a scripted player, BY_PYTHON, BY_CALLER, or a `Searcher`.
        """
        cdef searcher_t* search
        cdef game_t* g = &self.a.g
        cdef int i
        if not 0 <= slot < SLOTS:
            raise IndexError(f"slot {slot} of {SLOTS}")
        search = self.joined(kind, self.a.n)
        g.player[slot] = kind if search is NULL else BY_SEARCH
        self.a.searchers[slot] = search
        self.searchers[slot] = None if search is NULL else kind
        memset(self.a.results[slot], 0, sizeof(self.a.results[slot]))
        g.notes = False
        for i in range(SLOTS):
            g.notes = g.notes or g.player[i] == BY_PYTHON or g.player[i] == BY_SEARCH

    cdef searcher_t* joined(self, kind, Py_ssize_t n_believers) except? NULL:
        """Prepare a `Searcher` for so many games at a time; NULL for any other player."""
        cdef Searcher searcher
        if not isinstance(kind, Searcher):
            return NULL
        searcher = kind
        searcher.reserve(self.a.n, self.a.g.n_sets, self.n_threads, n_believers)
        searcher.q.stopped = &self.a.stopped
        return &searcher.q

    cdef list searching(self):
        """Return all players that search."""
        return [one for one in (*self.searchers, *self.battlers) if isinstance(one, Searcher)]

    def draw_from(self, list slots, list weights):
        """Set the players that new episodes are played against, and how often each is drawn.

        Running episodes keep their player.
        """
        cdef game_t* g = &self.a.g
        cdef int i
        total = sum(weights)
        g.self_play = True
        for i in range(<int>len(slots)):
            g.slot[i] = slots[i]
            g.weight[i] = <uint32_t>round(65536 * weights[i] / total)
            g.self_play = g.self_play and g.player[g.slot[i]] == BY_CALLER
        g.n_opponents = <int>len(slots)
        self.drawn = (slots, weights)

    def played(self, int slot):
        """Count the finished episodes against a player: without a winner, won and lost.

        They are won by the caller, or by player 0 where the caller plays both seats.
        """
        if not 0 <= slot < SLOTS:
            raise IndexError(f"slot {slot} of {SLOTS}")
        return self.a.results[slot][0], self.a.results[slot][1], self.a.results[slot][2]

    def set_battlers(self, battlers):
        """Set who plays the battles after a choice phase.

        The first plays the caller's deck, the second the other one; both are kinds as for `put`.
        """
        cdef int i
        self.battlers = list(battlers)
        for i in range(2):
            self.a.battlers[i] = self.joined(battlers[i], 2 * self.n_threads)
            self.a.g.battler[i] = battlers[i] if self.a.battlers[i] is NULL else BY_SEARCH

    def set_threads(self, int n):
        """Set how many threads step rows at a time."""
        self.n_threads = n
        for found in self.searchers:
            self.joined(found, self.a.n)
        self.set_battlers(self.battlers)

    def searcher(self, Py_ssize_t i):
        """Return the `Searcher` that plays a row's opponent."""
        return self.searchers[self.block.row(i).cold.now.opponent]

    cdef int watch(self) except -1:
        """Let searches check for signals if this is the main thread."""
        cdef Searcher searcher
        for searcher in self.searching():
            searcher.watch(current_thread() is main_thread())
        return 0

    def raise_stop(self):
        """Raise the exception of a signal that ended the searches; rows keep waiting for them."""
        cdef Searcher searcher
        if not self.a.stopped:
            return
        self.a.stopped = False
        for searcher in self.searching():
            error, searcher.error = searcher.error, None
            if error is not None:
                raise error
