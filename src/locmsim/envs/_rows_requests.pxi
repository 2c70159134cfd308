# The requests of rows that wait for Python, and the ways to continue them. Part of _rows.pyx,
# which includes it.

import numpy as np

from locmsim._core cimport state_is_legal
from locmsim.envs._row cimport (
    AHEAD,
    BATTLES,
    CARDS_AHEAD,
    OPPONENT,
    SEARCH,
    deal_row,
    draw_battle,
    draw_bits,
    fetch_cards,
    fetch_row,
    finish_choice,
    play_battles,
    search,
)
from locmsim.game._layout cimport known_apply, write_mask

from locmsim.errors import IllegalActionError


@cython.final
cdef class Requests:
    """The requests of a block's rows.

    A row waits for a card set, decks, an action of a player that Python asks, a search, or battles
    after a choice phase.
    """

    def __cinit__(
        self, RowBlock block not None, PlayerTable players not None, CardSets card_sets not None,
        Views views not None,
    ):
        self.block = block
        self.a = &block.a
        self.players = players
        self.card_sets = card_sets
        self.views = views

    def waiting(self, const int64_t[::1] rows=None):
        """Return what all rows wait for, or those in `rows`.

        The result is a dict from the slot of a player that Python asks to an int64 array of the
        rows that wait for it, and a list of (row, request) for the others: CARD_SET, DECKS, SEARCH
        or BATTLES of _row.pxd.
        """
        cdef Py_ssize_t n = self.a.n if rows is None else rows.shape[0]
        cdef Py_ssize_t i, j
        cdef Py_ssize_t counts[SLOTS]
        cdef int64_t* found[SLOTS]
        cdef int64_t[::1] view
        cdef const row_t* r
        cdef int slot
        memset(counts, 0, sizeof(counts))
        asked, others = {}, []
        for j in range(n):
            i = j if rows is None else rows[j]
            r = self.block.row(i)
            if r.waits == OPPONENT:
                counts[r.cold.now.opponent] += 1
            elif r.waits != NOTHING:
                others.append((i, r.waits))
        for slot in range(SLOTS):
            if counts[slot]:
                view = asked[slot] = np.empty(counts[slot], np.int64)
                found[slot] = &view[0]
        if asked:
            for j in range(n):
                i = j if rows is None else rows[j]
                r = &self.a.rows[i]
                if r.waits == OPPONENT:
                    found[r.cold.now.opponent][0] = i
                    found[r.cold.now.opponent] += 1
        return asked, others

    def waits_for(self, Py_ssize_t i):
        """Return what a row waits for: NOTHING, OPPONENT or a request as above."""
        return self.block.row(i).waits

    def resume(self, Py_ssize_t i):
        """Continue a row after its request has been met."""
        self.block.row(i)
        resume(self.a, i)

    @cython.boundscheck(False)
    def ask(self, const int64_t[::1] rows, observations, masks, uint64_t[::1] seeds, layout):
        """Write what the players that `rows` wait for see, in the order of `rows`, in any layout.

        Unless `seeds` is None, 64 bits are drawn for each from the random stream of its row.
        """
        cdef int code = LAYOUT_CODES[layout]
        cdef Py_ssize_t size = layout_size(code, self.a.g.rules) * layout_item(code)
        cdef Py_ssize_t n = rows.shape[0], j
        cdef list held = []
        cdef uint8_t* seen = address(held, "obs", observations, n * size)
        cdef int8_t* legal = <int8_t*>address(held, "masks", masks, n * self.block.battle_actions)
        cdef row_t* r
        if seeds is not None and seeds.shape[0] != n:
            raise ValueError(f"seeds: expected {n}, got {seeds.shape[0]}")
        for j in range(n):
            if j + AHEAD < n:
                fetch_row(self.block.row(rows[j + AHEAD]))
            r = self.block.row(rows[j])
            write_known(code, seen + j * size, &r.k, &r.s, table_of(r), r.s.turn & 1)
            write_mask(legal + j * self.block.battle_actions, &r.s, table_of(r), r.s.turn & 1)
            if seeds is not None:
                seeds[j] = draw_bits(&r.stream)

    @cython.boundscheck(False)
    def answer(self, const int64_t[::1] rows, const int64_t[::1] actions):
        """Play an action of the player that each row waits for, and continue the row.

        Rows with an illegal action keep waiting; `IllegalActionError` names the first of them.
        """
        cdef Py_ssize_t j, bad = -1
        cdef row_t* r
        if actions.shape[0] != rows.shape[0]:
            raise ValueError(f"actions: expected {rows.shape[0]}, got {actions.shape[0]}")
        for j in range(rows.shape[0]):
            if j + AHEAD < rows.shape[0]:
                fetch_row(self.block.row(rows[j + AHEAD]))
            if j + CARDS_AHEAD < rows.shape[0]:
                fetch_cards(self.block.row(rows[j + CARDS_AHEAD]), actions[j + CARDS_AHEAD], False)
            r = self.block.row(rows[j])
            if r.waits != OPPONENT:
                raise ValueError(f"row {rows[j]} does not wait for an opponent")
            if not (0 <= actions[j] < self.block.battle_actions
                    and state_is_legal(&r.s, table_of(r), <int>actions[j])):
                bad = j if bad < 0 else bad
                continue
            r.length += 1
            known_apply(&r.k, &r.s, table_of(r), <int>actions[j])
            resume(self.a, rows[j])
        if bad >= 0:
            raise IllegalActionError(
                f"row {rows[bad]}: action {actions[bad]} of the opponent is not legal",
                self.views.state(rows[bad]))

    def search(self, Py_ssize_t i):
        """Play the turn that a row waits for; False if its card set or prior is missing."""
        cdef bint done
        if self.block.row(i).waits != SEARCH:
            raise ValueError(f"row {i} does not wait for a search")
        self.players.watch()
        with nogil:
            done = search(self.a, i, 0)
        self.players.raise_stop()
        return done

    def play_battles(self, Py_ssize_t i):
        """Play the battles that a row waits for.

        Returns False if the row's card set or a prior is missing, or if Python plays one side.
        """
        cdef bint done
        if self.block.row(i).waits != BATTLES:
            raise ValueError(f"row {i} does not wait for battles")
        self.players.watch()
        with nogil:
            done = play_battles(self.a, i, 0)
        self.players.raise_stop()
        return done

    def draw_battles(self, Py_ssize_t i):
        """Draw the seeds of the shuffles and players of each battle after a choice phase."""
        cdef row_t* r = self.block.row(i)
        cdef int64_t shuffles[2]
        cdef int64_t seeds[2]
        cdef int number
        found = []
        for number in range(self.a.g.battles):
            draw_battle(r, number, shuffles, seeds)
            found.append(((shuffles[0], shuffles[1]), (seeds[0], seeds[1])))
        return found

    def end_battles(self, Py_ssize_t i, winners):
        """Set who won the battles that a row waits for; -1 stands for nobody."""
        cdef int number
        if self.block.row(i).waits != BATTLES or len(winners) != self.a.g.battles:
            raise ValueError(f"row {i} does not wait for {len(winners)} battles")
        for number in range(self.a.g.battles):
            self.a.winners[i * self.a.g.battles + number] = winners[number]
        finish_choice(self.a, i)

    def wanted_prior(self, Py_ssize_t i):
        """Return the slot and the key of the card set for which a row's searchers need a prior."""
        cdef row_t* r = self.block.row(i)
        cdef int64_t number = r.cold.now.set
        return number if number >= 0 else self.a.g.n_sets + i, set_key(&self.a.g, r)

    def give_decks(self, Py_ssize_t i, decks):
        """Set the decks that a row waits for, as indices into its cards; [] for the caller's."""
        cdef row_t* r = self.block.row(i)
        take_decks(&r.cold.now.m, decks)
        r.waits = NOTHING
        if self.a.g.episode == BATTLE_EPISODE:
            deal_row(&self.a.g, r)

    def draw(self, Py_ssize_t i):
        """Draw 64 bits from the row's random stream."""
        return draw_bits(&self.block.row(i).stream)
