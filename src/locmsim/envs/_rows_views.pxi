# Reading rows: what players see, positions, results. Part of _rows.pyx, which includes it.

from collections import namedtuple

from locmsim._core cimport shown_action_t, state_seen
from locmsim.envs._row cimport episode_t, view_row
from locmsim.game._layout cimport write_known
from locmsim.game._match cimport NO_FAULT, match_winner
from locmsim.game.observation cimport Observation


EpisodeResult = namedtuple(
    "EpisodeResult", "winner seat length turn health illegal opponent returns match",
    module=__name__)
EpisodeResult.__doc__ = """The result of an episode.

`winner` is -1 for nobody; `seat` is the caller's, -1 for both; `health` and `returns` are of both
players; `opponent` is a slot. `match` is None if the episode began at a position, else how it was
dealt: the seed, the seeds derived from it, the decks (2 times 30 indices) and the triplets (30
times 3) as bytes.
"""


@cython.final
cdef class Views:
    """Reads the rows of a block; no method changes a row."""

    def __cinit__(self, RowBlock block not None, CardSets card_sets not None):
        self.block = block
        self.a = &block.a
        self.card_sets = card_sets

    def observe(self, Py_ssize_t i, int player, observation, mask=None, layout=None, hidden=None):
        """Write what a player sees, in the layout of the rows or another one, and hidden cards."""
        cdef row_t* r = self.block.row(i)
        cdef int code = self.a.g.layout if layout is None else LAYOUT_CODES[layout]
        cdef list held = []
        cdef uint8_t* out
        cdef int8_t* legal = <int8_t*>address(held, "mask", mask, self.block.n_actions)
        cdef int8_t* cards = <int8_t*>address(held, "hidden", hidden, HIDDEN_ROWS * HAND_ROW)
        if code == self.a.g.layout:
            out = address(held, "obs", observation, self.a.g.size)
            view_row(self.a, i, player & 1, out, legal, cards)
            return
        if r.phase != IN_BATTLE:
            raise ValueError("the battle has not begun")
        out = address(held, "obs", observation,
                      layout_size(code, self.a.g.rules) * layout_item(code))
        if out is not NULL:
            write_known(code, out, &r.k, &r.s, table_of(r), player & 1)
        view_row(self.a, i, player & 1, NULL, legal, cards)

    def state(self, Py_ssize_t i):
        """Return a copy of a row's state, hidden cards included."""
        cdef row_t* r = self.block.row(i)
        cdef Table table = Table.__new__(Table)
        cdef State state = State.__new__(State)
        cdef Table pool
        if r.phase != IN_BATTLE:
            raise ValueError("the battle has not begun")
        pool = self.card_sets.table_of_set(i)
        table.t.rules = self.a.g.rules
        table.t.n_cards = r.cold.table.n_cards
        memcpy(table.t.cards, r.cold.table.cards, table.t.n_cards * sizeof(card_t))
        table.complete_with_pool(pool)
        state.table = table
        state.s = r.s
        return state

    def observation(self, Py_ssize_t i, int player):
        """Return what a player is shown, including the caller's last turn."""
        cdef row_t* r = self.block.row(i)
        cdef Observation seen = Observation.__new__(Observation)
        state_seen(&r.s, table_of(r), player, &seen.o)
        seen.o.n_actions = r.cold.n_acts
        memcpy(seen.o.actions, r.cold.acts, r.cold.n_acts * sizeof(shown_action_t))
        return seen

    def seat(self, Py_ssize_t i):
        """Return the caller's seat, -1 if they play both."""
        return self.block.row(i).seat

    def has_both_seats(self):
        """Return whether the caller plays both seats in the last episode of any row."""
        cdef Py_ssize_t i
        for i in range(self.a.n):
            if self.a.rows[i].seat < 0:
                return True
        return False

    def opponent(self, Py_ssize_t i):
        """Return the slot of the row's opponent."""
        return self.block.row(i).cold.now.opponent

    def mover(self, Py_ssize_t i):
        """Return the player to move, 0 or 1; where the caller plays one seat, that one."""
        return mover_of(self.block.row(i))

    def phase(self, Py_ssize_t i):
        """Return the phase of a row's episode: "choice" or "battle"."""
        return "choice" if self.block.row(i).phase == IN_CHOICE else "battle"

    def picked(self, Py_ssize_t i, int player):
        """Return the cards that a player has chosen so far, as indices into the set."""
        cdef const match_t* m = &self.block.row(i).cold.now.m
        cdef int j
        return [m.decks[player & 1][j] for j in range(m.picked[player & 1])]

    def winner(self, Py_ssize_t i):
        """Return who won the battle, -1 for nobody yet."""
        cdef const row_t* r = self.block.row(i)
        return won_by(&r.s) if r.phase == IN_BATTLE else -1

    def turn(self, Py_ssize_t i):
        """Return the turn, counted for both players from 0; -1 in the choice phase."""
        cdef const row_t* r = self.block.row(i)
        return r.s.turn if r.phase == IN_BATTLE else -1

    def length(self, Py_ssize_t i):
        """Return the number of actions of both players in this episode."""
        return self.block.row(i).length

    def over(self, Py_ssize_t i):
        """Return whether the row's episode has ended and no other has begun."""
        return self.block.row(i).where == OVER

    def outcome(self, Py_ssize_t i):
        """Return what the last step wrote: the reward, terminated and truncated."""
        cdef bint terminated, truncated
        self.block.row(i)
        terminated = self.a.out.terminated[i]
        truncated = self.a.out.truncated[i]
        return self.a.out.reward[i], terminated, truncated

    def winners(self, Py_ssize_t i):
        """Return who won the battles after the row's last choice phase."""
        cdef int number
        self.block.row(i)
        return [self.a.winners[i * self.a.g.battles + number]
                for number in range(self.a.g.battles)]

    def result(self, Py_ssize_t i):
        """Return the `EpisodeResult` of the row's last finished episode."""
        cdef row_t* r = self.block.row(i)
        cdef const episode_t* e = &r.cold.last
        cdef const match_t* m = &e.m
        cdef int won = match_winner(m)
        cdef bint illegal = m.fault != NO_FAULT
        cdef object score = float((won == 0) - (won == 1))
        cdef object match = None
        cdef list values, seeds
        if e.turn < 0 and not illegal:
            score = r.cold.score
        if e.dealt:
            seeds = [m.seeds[j] for j in range(n_seeds_of(self.a.g.rules))]
            match = (m.seed, seeds, (<const char*>m.decks)[:sizeof(m.decks)],
                     (<const char*>m.triplets)[:sizeof(m.triplets)])
        # In steps, as Cython needs minutes for a list of so many C numbers.
        values = [won, e.seat, e.length, e.turn]
        values.append((e.health[0], e.health[1]))
        values.append(illegal)
        values.append(e.opponent)
        values.append((score, -score))
        values.append(match)
        return tuple.__new__(EpisodeResult, values)     # as `_make`, but compiled

    @cython.boundscheck(False)
    def results(self, ended, int8_t[::1] winner, int8_t[::1] seat, int32_t[::1] length,
                int32_t[::1] turn, int32_t[:, ::1] health, illegal, float[:, ::1] returns):
        """Write the first results of `result` for all rows that `ended` marks into arrays."""
        cdef const uint8_t[::1] marked = ended.view("u1")
        cdef uint8_t[::1] bad = illegal.view("u1")
        cdef const episode_t* e
        cdef Py_ssize_t i
        cdef int won
        sizes = {marked.shape[0], winner.shape[0], seat.shape[0], length.shape[0], turn.shape[0],
                 health.shape[0], bad.shape[0], returns.shape[0]}
        if sizes != {self.a.n}:
            raise ValueError(f"expected {self.a.n} rows, got {sizes}")
        for i in range(self.a.n):
            if not marked[i]:
                continue
            e = &self.a.rows[i].cold.last
            won = match_winner(&e.m)
            winner[i] = won
            seat[i] = e.seat
            length[i] = e.length
            turn[i] = e.turn
            health[i, 0] = e.health[0]
            health[i, 1] = e.health[1]
            bad[i] = e.m.fault != NO_FAULT
            if e.turn < 0 and not bad[i]:
                returns[i, 0] = self.a.rows[i].cold.score
                returns[i, 1] = -self.a.rows[i].cold.score
            elif won >= 0:
                returns[i, won] = 1
                returns[i, 1 - won] = -1

    def movers(self, int8_t[::1] out):
        """Write the player to move in each row; where the caller plays one seat, that one."""
        cdef Py_ssize_t i
        cdef const row_t* r
        if out.shape[0] != self.a.n:
            raise ValueError(f"expected {self.a.n} rows, got {out.shape[0]}")
        for i in range(self.a.n):
            r = &self.a.rows[i]
            out[i] = mover_of(r)

    def masks(self, out):
        """Write the legal actions of each row, as a step does."""
        cdef list held = []
        cdef rows_t a = self.a[0]
        cdef Py_ssize_t i
        memset(&a.out, 0, sizeof(out_t))
        a.out.mask = <int8_t*>address(held, "masks", out, self.a.n * self.block.n_actions)
        for i in range(self.a.n):
            show(&a, i)

    def decks(self, Py_ssize_t i):
        """Return the decks of a dealt row as indices into its cards, in the order of choice."""
        cdef const match_t* m = &self.block.row(i).cold.now.m
        return [[m.decks[who][j] for j in range(MAX_DECK)] for who in range(2)]

    def dealt(self, Py_ssize_t i):
        """Return whether a row's episode was dealt, as opposed to begun from a position."""
        return bool(self.block.row(i).cold.now.dealt)

    def episode(self, Py_ssize_t i):
        """Return a number that identifies the episode among those of the row."""
        return self.block.row(i).serial

    def seeds(self, Py_ssize_t i):
        """Return the seed of the row's episode and the seeds derived from it."""
        cdef const match_t* m = &self.block.row(i).cold.now.m
        return m.seed, [m.seeds[j] for j in range(n_seeds_of(m.rules))]
