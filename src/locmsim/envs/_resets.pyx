"""Beginning an episode of a row with options of `reset`."""

cimport cython
from libc.string cimport memcpy

from locmsim._core cimport State
from locmsim.envs._block cimport RowBlock, take_decks
from locmsim.envs._card_sets cimport CardSets
from locmsim.envs._row cimport (
    BATTLE_EPISODE,
    CALLER,
    NOTHING,
    begin,
    cold_t,
    resume,
    row_t,
    set_t,
    show,
    start_row,
    won_by,
)
from locmsim.game._match cimport n_seeds_of
from locmsim.game._turn_view cimport shorten

__all__ = ["Resets"]


@cython.final
cdef class Resets:
    """Begins episodes with a seat, player, cards, decks, seeds or position of the caller's choice.

    What the caller leaves open is drawn from the random stream of the row.
    """

    def __cinit__(self, RowBlock block not None, CardSets card_sets not None):
        self.block = block
        self.a = &block.a
        self.card_sets = card_sets

    def draw(self, Py_ssize_t i, seat=None, player=None):
        """Draw an episode that `begin` or `begin_at` begins; set who plays where if they are given.

        `player` is a slot.
        """
        cdef row_t* r = self.block.row(i)
        begin(&self.a.g, r)
        if player is not None:
            r.cold.now.opponent = player
            r.seat = -1 if self.a.g.player[r.cold.now.opponent] == CALLER else max(r.seat, 0)
        if seat is not None and r.seat >= 0:
            r.seat = seat

    def set_seeds(self, Py_ssize_t i, seed, seeds):
        """Set the seeds of the match of an episode that has been drawn."""
        cdef row_t* r = self.block.row(i)
        cdef int j
        r.cold.now.m.seed = seed
        for j in range(n_seeds_of(self.a.g.rules)):
            r.cold.now.m.seeds[j] = seeds[j]

    def begin(self, Py_ssize_t i, decks=None):
        """Begin an episode that has been drawn, with two decks of indices if they are given.

        Without its card set the row waits for it.
        """
        if decks is not None:
            take_decks(&self.block.row(i).cold.now.m, decks)
        resume(self.a, i)

    def begin_at(self, Py_ssize_t i, State state not None):
        """Begin an episode that has been drawn at a position."""
        cdef row_t* r = self.block.row(i)
        if self.a.g.episode != BATTLE_EPISODE:
            raise ValueError("state: only episodes without a choice phase can start from one")
        if state.table.t.rules != self.a.g.rules:
            raise ValueError(f"state: expected one of rules {self.block.rules}, got {state.rules}")
        if won_by(&state.s) >= 0:
            raise ValueError("state: the game is over")
        shorten(&r.s, &r.cold.table, &state.s, &state.table.t)
        r.cold.now.dealt = 0
        r.cold.now.set = -1
        self.card_sets.row_sets[i] = state.table
        self.a.own_sets[i].cards = NULL
        start_row(&self.a.g, r)
        r.waits = NOTHING
        resume(self.a, i)

    def kept(self, Py_ssize_t i):
        """Return all data of a row for `put_back`: a `reset` that fails must not change it."""
        cdef row_t* r = self.block.row(i)
        return ((<char*>r)[:sizeof(row_t)], (<char*>r.cold)[:sizeof(cold_t)],
                (<char*>&self.a.own_sets[i])[:sizeof(set_t)], self.card_sets.row_sets[i],
                self.card_sets.shown_in(i))

    def put_back(self, Py_ssize_t i, kept):
        """Restore a row from the result of `kept`, and write what it shows."""
        cdef row_t* r = self.block.row(i)
        cdef bytes row, cold, own
        row, cold, own, self.card_sets.row_sets[i], shown = kept
        self.card_sets.retired.update(shown)
        memcpy(r.cold, <const char*>cold, sizeof(cold_t))
        memcpy(r, <const char*>row, sizeof(row_t))
        memcpy(&self.a.own_sets[i], <const char*>own, sizeof(set_t))
        show(self.a, i)
