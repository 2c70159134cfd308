# The card sets of rows: shared ones, from which episodes draw, and those of single rows. Part of
# _rows.pyx, which includes it.

from locmsim._core cimport card_t
from locmsim.envs._row cimport set_key, set_of
from locmsim.game._layout cimport write_cards


cdef enum:
    SPARE = 64                  # card sets that nobody needs to keep before looking for them


@cython.final
cdef class CardSets:
    """The card sets that rows are dealt from; Python makes each when it is first needed."""

    def __cinit__(self, RowBlock block not None):
        self.block = block
        self.a = &block.a
        self.tables = [None] * max(block.a.g.n_sets, 1)
        self.row_sets = [None] * block.n
        self.retired = {}

    def seed(self, Py_ssize_t i):
        """Return the cardGenSeed of a row's set."""
        return self.block.row(i).cold.now.m.seeds[0]

    def has(self, Py_ssize_t i):
        """Return whether a row's set has been made."""
        cdef row_t* r = self.block.row(i)
        cdef const set_t* source = set_of(self.a, i)
        return source.cards is not NULL and source.key == set_key(&self.a.g, r)

    def give(self, Py_ssize_t i, Table table not None, decks):
        """Set the card set that a row waits for.

        `table` has the set as its pool. `decks` are two decks of it, or None; [] stands for a seat
        whose deck does not depend on the set.
        """
        cdef row_t* r = self.block.row(i)
        cdef set_t* target = set_of(self.a, i)
        cdef int who, j
        if table.t.n_cards - table.t.n_instances != self.a.g.n_cards:
            raise ValueError(f"cards: expected {self.a.g.n_cards} different cards")
        if r.cold.now.set >= 0:
            self.tables[r.cold.now.set] = table
        else:
            self.row_sets[i] = table
        target.cards = &table.t.cards[table.t.n_instances]
        target.key = set_key(&self.a.g, r)
        self.show_set(target, table)
        if decks is not None:
            for who in range(2):
                for j in range(len(decks[who])):
                    target.decks[who][j] = decks[who][j]

    def offers(self, Py_ssize_t i):
        """Return the offers of a draft (1.x): 30 triplets of indices into the cards."""
        cdef row_t* r = self.block.row(i)
        return [[r.cold.now.m.triplets[j][k] for k in range(3)] for j in range(MAX_DECK)]

    cdef int show_set(self, set_t* target, Table table) except -1:
        """Write the cards of a set as the choice phase shows them."""
        if self.a.g.episode == BATTLE_EPISODE:
            return 0
        target.shown = self.shown_rows(table)
        return 0

    cdef const int8_t* shown_rows(self, Table table) except NULL:
        """Return the cards of a table as the choice phase shows them; kept with the table."""
        cdef uintptr_t where = <uintptr_t>&table.t.cards[table.t.n_instances]
        cdef bytes rows
        if where not in self.retired or self.retired[where][0] is not table:
            self.forget()
            rows = bytes(HAND_ROW * self.a.g.n_cards)
            write_cards(<int8_t*><char*>rows, <const card_t*>where, self.a.g.n_cards)
            self.retired[where] = table, rows
        rows = self.retired[where][1]
        return <const int8_t*><const char*>rows

    cdef dict shown_in(self, Py_ssize_t i):
        """Return the part of `retired` that a row needs."""
        cdef uintptr_t now = <uintptr_t>self.block.cold[i].now.m.cards
        cdef uintptr_t own = <uintptr_t>self.a.own_sets[i].cards
        return {where: self.retired[where] for where in (now, own) if where in self.retired}

    cdef int forget(self) except -1:
        """Forget card sets that are shown no more: rows may be choosing from a replaced one."""
        cdef Py_ssize_t i
        if len(self.retired) > 4 * self.a.n + 2 * len(self.tables) + SPARE:
            used = set()
            for i in range(self.a.n):
                used.add(<uintptr_t>self.block.cold[i].now.m.cards)
                used.add(<uintptr_t>self.a.own_sets[i].cards)
            for i in range(len(self.tables)):
                used.add(<uintptr_t>self.a.sets[i].cards)
            self.retired = {where: old for where, old in self.retired.items() if where in used}
        return 0

    cdef Table table_of_set(self, Py_ssize_t i):
        cdef row_t* r = self.block.row(i)
        if r.cold.now.set < 0:
            return self.row_sets[i]
        if set_of(self.a, i).key != set_key(&self.a.g, r):     # replaced by another set since
            return self.block.options["find_set"](r.cold.now.m.seeds[0])
        return self.tables[r.cold.now.set]
