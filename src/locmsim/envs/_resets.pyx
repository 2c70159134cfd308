"""Beginning an episode of a row with options of `reset`."""

cimport cython
from libc.string cimport memcpy

from locmsim._core cimport MAX_DECK, RULES_15, State
from locmsim.envs._block cimport RowBlock
from locmsim.envs._card_sets cimport CardSets
from locmsim.envs._deal cimport draw_triplets
from locmsim.envs._row cimport (
    BATTLE_EPISODE,
    CALLER,
    CARD_SET,
    IN_RESET,
    NOTHING,
    choose,
    cold_t,
    deal_row,
    draw_choice,
    draw_episode,
    go_on,
    row_t,
    set_key,
    set_of,
    set_t,
    show,
    start_row,
    won_by,
)
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

    def reseat(self, Py_ssize_t i, seat, player=None):
        """Draw or set who plays where in the episode that `begin_with` or `begin_dealt` begins.

        `player` is a slot. Returns the caller's seat, -1 for both.
        """
        cdef row_t* r = self.block.row(i)
        draw_episode(&self.a.g, r)
        if player is not None:
            r.cold.now.opponent = player
            r.seat = -1 if self.a.g.player[r.cold.now.opponent] == CALLER else max(r.seat, 0)
        if seat is not None and r.seat >= 0:
            r.seat = seat
        return r.seat

    def open_choice(self, Py_ssize_t i, seat, player, bint seed, bint cards):
        """Draw or set who plays where in an episode that `begin_choice` begins.

        `seed` and `cards` say whether a seed and a card set are drawn, too.
        """
        cdef row_t* r = self.block.row(i)
        draw_choice(&self.a.g, r, seed, cards)
        if player is not None:
            r.cold.now.opponent = player
            r.seat = -1 if self.a.g.player[r.cold.now.opponent] == CALLER else max(r.seat, 0)
        if seat is not None and r.seat >= 0:
            r.seat = seat
        r.where = IN_RESET
        r.waits = CARD_SET

    def begin_choice(self, Py_ssize_t i):
        """Begin an episode after `open_choice`; without its card set the row waits for it."""
        cdef row_t* r = self.block.row(i)
        cdef const set_t* source = set_of(self.a, i)
        if source.cards is not NULL and source.key == set_key(&self.a.g, r):
            choose(self.a, i)
        go_on(self.a, i)

    def begin_with(self, Py_ssize_t i, State state not None):
        """Begin an episode after `reseat` from a position."""
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
        go_on(self.a, i)

    def take_seeds(self, Py_ssize_t i, seed, seeds):
        """Set the seeds of the row's match; the offers of 1.x follow from them."""
        cdef row_t* r = self.block.row(i)
        cdef int j
        r.cold.now.seed = seed
        for j in range(self.a.g.n_seeds):
            r.cold.now.seeds[j] = seeds[j]
        self.a.own_sets[i].key = set_key(&self.a.g, r)
        if self.a.g.rules != RULES_15:
            draw_triplets(r.cold.now.seeds[0], self.a.g.allowed, self.a.g.n_allowed,
                          r.cold.now.triplets)

    def begin_dealt(self, Py_ssize_t i, seed, seeds, decks):
        """Begin an episode after `reseat` from a match's seeds and decks of indices.

        The card set must have been set.
        """
        cdef row_t* r = self.block.row(i)
        cdef int who, j
        self.take_seeds(i, seed, seeds)
        self.a.own_sets[i].key = set_key(&self.a.g, r)
        for who in range(2):
            for j in range(MAX_DECK):
                r.cold.now.decks[who][j] = decks[who][j]
        r.where = IN_RESET
        r.waits = NOTHING
        deal_row(&self.a.g, r, self.card_sets.cards_of(i))
        go_on(self.a, i)

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
