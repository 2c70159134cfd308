"""The core of all environments: rows of episodes, and what they need from Python.

`Games` owns the compiled rows (`locmsim.envs._rows.Rows`), the arrays that they write into and the
threads that step them, and does for the rows what they cannot do without the interpreter. The
environments around it only translate to an interface.
"""

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim.envs.episodes import Episodes
from locmsim.envs.options import HIDDEN_SIZE, Options
from locmsim.envs.players import Players
from locmsim.envs.rendering import battle_frame, battle_text, choice_frame, choice_text, show
from locmsim.envs.resets import Starts
from locmsim.envs.results import Results
from locmsim.envs.serving import Serving
from locmsim.envs.threads import RowThreads
from locmsim.errors import IllegalActionError
from locmsim.game.layouts import Layout
from locmsim.options.checks import MOST_THREADS, whole
from locmsim.rules.cards import Card

#: For another thread, and for an opponent that steps the environment that asks it.
_IN_USE = "the environment is being stepped or reset: only one thread may do so at a time"
#: Illegal actions that a message names.
_SHOWN = 10


class Games(Episodes):
    """Rows of episodes and all that they need from Python.

    Parameters
    ----------
    n : int
        Number of rows.
    options : Options
    threads : int
        Threads that share the rows in `step`; results do not depend on it.
    autoreset : {"next", "same", "disabled"}
        When a row whose episode has ended begins the next one.
    final_obs : bool
        Whether `arrays` has the last observations of episodes, with "same".
    """

    #: The threads; no pickle has them.
    _row_threads: RowThreads | None = None
    #: Held by the thread that steps or resets; no pickle has it.
    _alone: threading.Lock
    #: The arrays that the rows write into.
    _bound: Mapping[str, NDArray[Any]] | None = None

    def __init__(
        self,
        n: int,
        options: Options,
        *,
        threads: int = 1,
        autoreset: Literal["next", "same", "disabled"] = "disabled",
        final_obs: bool = False,
    ) -> None:
        super().__init__(n, options, autoreset)
        self.threads = whole("threads", threads, 1, MOST_THREADS)
        # A reward of the user's is shown the positions at which episodes ended.
        self._has_final = final_obs or (autoreset == "same" and callable(options.reward))
        #: Whether infos have the last observations of episodes.
        self.shows_final = final_obs and autoreset == "same"
        #: The results of finished episodes.
        self.results = Results(self)
        #: Whether rows have begun.
        self._begun = False
        #: Whether `check` has to look: before the first episodes, and after an exception.
        self._failed = True
        self._alone = threading.Lock()
        #: The player of the other seat.
        self.players = Players(self, options.who_plays()[0])
        #: What does what the rows wait for.
        self.serving = Serving(self, self.players)
        #: What begins episodes.
        self._starts = Starts(self, self.players, self._serve)

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_row_threads", "_bound", "_alone")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._alone = threading.Lock()
        if "arrays" in state:
            self.bind()

    # ----------------------------------------------------------------------------------- arrays

    @property
    def observation_shape(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of an observation."""
        size = 0 if self.options.episode == "choice" else self.layout.shape[0]
        if self.choice_layout is not None:
            size += self.choice_layout.shape[0]
        dtype = np.dtype(np.int8) if self.options.episode == "choice" else self.layout.dtype
        return (size,), dtype

    @cached_property
    def shapes(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and type of each array that rows can write into, by name."""
        n = self.n
        shape, dtype = self.observation_shape
        flag, byte, real = (np.dtype(kind) for kind in (np.bool_, np.int8, np.float32))
        return {
            "obs": ((n, *shape), dtype),
            "masks": ((n, self.rows.n_actions), byte),
            "rewards": ((n,), real),
            "rewards_both": ((n, 2), real),
            "terminated": ((n,), flag),
            "truncated": ((n,), flag),
            "to_move": ((n,), byte),
            "acted": ((n,), byte),
            "winner": ((n,), byte),
            "length": ((n,), np.dtype(np.int32)),
            "final_obs": ((n, *shape), dtype),
            "state": ((n, HIDDEN_SIZE), byte),
        }

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The environment's own arrays: what `Rows.bind` takes, as far as it is needed."""
        left = {"winner", "length"}
        if not self._has_final:
            left.add("final_obs")
        if not self.options.privileged:
            left.add("state")
        return {name: np.zeros(*kind) for name, kind in self.shapes.items() if name not in left}

    def bind(self, arrays: Mapping[str, NDArray[Any]] | None = None) -> bool:
        """Have the rows write into these arrays, or into `arrays` of this object.

        Parameters
        ----------
        arrays : mapping, optional
            Name -> array, as in `shapes`.

        Returns
        -------
        bool
            Whether the rows wrote into others before.

        Raises
        ------
        ValueError
            For an array that does not fit.
        """
        wanted = self.arrays if arrays is None else arrays
        if self.results.pays and ("rewards" in wanted or "rewards_both" in wanted):
            wanted = {**self.arrays, **wanted}  # what completes the rewards is shown all arrays
        bound = self._bound
        if bound is wanted or (
            bound is not None
            and bound.keys() == wanted.keys()
            and all(bound[name] is array for name, array in wanted.items())
        ):
            return False
        for name, array in wanted.items():
            shape, dtype = self.shapes[name]
            byte = dtype.itemsize == 1 and array.dtype.kind in "iub" and array.itemsize == 1
            if not (array.dtype == dtype or byte) or array.shape != shape:
                raise ValueError(
                    f"{name}: expected {dtype} of shape {shape}, got {array.dtype} {array.shape}"
                )
        self.rows.bind(**wanted)
        self._bound = wanted
        return True

    def observed(self, copy: bool = True) -> Any:
        """Return the caller's view of `arrays` in the form of the observation space.

        Parameters
        ----------
        copy : bool
            Whether the arrays are copied.

        Returns
        -------
        array, or dict of arrays
        """
        seen = self.arrays["obs"].copy() if copy else self.arrays["obs"]
        if self.options.mask == "info":
            return seen
        views = {"observation": seen}
        for name, array in (("action_mask", "masks"), ("state", "state")):
            if array in self.arrays:
                views[name] = self.arrays[array].copy() if copy else self.arrays[array]
        return views

    # ----------------------------------------------------------------------------- what is shown

    @property
    def shown_layout(self) -> Layout:
        """What the numbers of an observation mean, in the battle if there is one."""
        if self.options.episode == "choice":
            assert self.choice_layout is not None
            return self.choice_layout
        return self.layout

    def _choice_of(self, row: int) -> tuple[list[Card], list[Card]]:
        """The cards that the player to move may pick, and those that they have chosen."""
        cards, picked = self.cards(row), self.rows.views.picked(row, self.rows.views.mover(row))
        offer = [*self.offers(row), []][len(picked)] if self.rules.draft else cards
        return offer, [cards[i] for i in picked]

    def text(self, row: int) -> str:
        """Return the learner's view of a row as text; in self-play, that of the player to move.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        if self.rows.views.phase(row) == "choice":
            return choice_text(*self._choice_of(row))
        return battle_text(self.rows.views.state(row), self._viewer(row))

    def frame(self, row: int) -> NDArray[np.uint8]:
        """Return the same view as a picture.

        Parameters
        ----------
        row : int
            The number of the row.

        Returns
        -------
        uint8 array (600, 800, 3)
        """
        if self.rows.views.phase(row) == "choice":
            return choice_frame(self.rules.name, *self._choice_of(row))
        return battle_frame(self.rows.views.state(row), self._viewer(row))

    def shown(self, row: int, mode: str | None) -> Any:
        """Return the output of `render` for a row in a mode, see `rendering.show`.

        Parameters
        ----------
        row : int
            The number of the row.
        mode : {"ansi", "human", "rgb_array"}, optional

        Returns
        -------
        str, array or None
        """
        return show(mode, partial(self.text, row), partial(self.frame, row))

    def movers(self) -> NDArray[np.int8]:
        """Return the player to move in each row; the caller's seat where they have one.

        Returns
        -------
        int8 array (n,)
        """
        out = np.empty(self.n, np.int8)
        self.rows.views.movers(out)
        return out

    def masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of each row.

        Returns
        -------
        bool array (n, actions)
        """
        out = np.empty((self.n, self.rows.n_actions), np.bool_)
        self.rows.views.masks(out)
        return out

    def sample(self, seed: int) -> NDArray[np.int64]:
        """Return a uniformly random legal action for each row.

        Parameters
        ----------
        seed : int
            64 bits.

        Returns
        -------
        int64 array (n,)
        """
        out = np.empty(self.n, np.int64)
        self.rows.sample(seed, out)
        return out

    def _viewer(self, row: int) -> int:
        seat = self.rows.views.seat(row)
        return self.rows.views.turn(row) & 1 if seat < 0 else seat

    # ----------------------------------------------------------------------------------- stepping

    def step(self, actions: Any) -> int:
        """Step all rows by actions of the caller.

        After an exception the rows go on waiting for what raised it, and `check` refuses to step.

        Parameters
        ----------
        actions : int64 array (n,)

        Returns
        -------
        int
            The number of rows that did more than to take an action, plus 2^32 times the number
            of those that waited for Python.

        Raises
        ------
        ResetNeeded
            Before the first reset, or if rows still wait for an opponent that raised an exception.
        IllegalActionError
            With ``illegal="raise"``. Nothing was applied.
        RuntimeError
            While another thread steps or resets the rows.
        """
        array = self._actions(actions)
        if not self._alone.acquire(False):
            raise RuntimeError(_IN_USE)
        try:
            return self._step(array)
        finally:
            self._alone.release()

    def _step(self, array: NDArray[np.int64]) -> int:
        if self._failed:
            self.check()
        if self.options.illegal == "raise" and (bad := self.rows.bad_rows(array)):
            shown = ", ".join(f"row {i}: {array[i]}" for i in bad[:_SHOWN])
            raise IllegalActionError(f"illegal actions, nothing was applied; {shown}")
        if self._row_threads is None:
            self._row_threads = RowThreads(self.rows, self.threads)
        try:
            special = self._row_threads.run(array)
        except BaseException:
            self._failed = True
            raise
        if special >> 32:  # rows that wait
            self._serve(None)
        if self.results.pays and self._bound and "rewards" in self._bound:
            self.results.pay(self._bound)
        return special

    def _actions(self, actions: Any) -> NDArray[np.int64]:
        """Actions as the array that they have to be."""
        if not isinstance(actions, np.ndarray) or actions.dtype != np.int64:
            array = np.asarray(actions)
            if array.dtype.kind not in "iu":
                raise TypeError(f"actions: expected integers, got {array.dtype}")
            actions = array.astype(np.int64)
        if actions.shape != (self.n,):
            raise ValueError(f"actions: expected shape ({self.n},), got {actions.shape}")
        return np.ascontiguousarray(actions)

    def check_rewards(self) -> None:
        """Raise ``ValueError`` if there is shaping and the caller plays both seats."""
        if self.shaped and self.players.has_caller_twice():
            raise ValueError(
                "rewards: where the caller plays both seats, shaping is in rewards_both only: call"
                " LocmVectorEnv.step_into with rewards_both, and without rewards"
            )

    def check_alone(self) -> None:
        """Raise ``RuntimeError`` while a thread steps or resets the rows."""
        if self._alone.locked():
            raise RuntimeError(_IN_USE)

    def check(self) -> None:
        """Raise ``ResetNeeded`` before the first episodes and after an opponent's exception.

        Rows may still wait for that opponent: no action of the caller's must be played for somebody
        else.
        """
        if self._failed:
            asked, others = self.rows.requests.waiting()
            waiting = sorted([row for row, _ in others] + [i for r in asked.values() for i in r])
            if waiting:
                raise ResetNeeded(
                    f"the opponent's turn was broken off by an exception in"
                    f" row{'s' * (len(waiting) > 1)} {', '.join(map(str, waiting))}: reset"
                )
            if not self._begun:
                raise ResetNeeded("no episode is running: call reset first")
            self._failed = False

    @property
    def may_refuse(self) -> bool:
        """Whether an episode may be refused that nothing is given for."""
        return self._starts.may_refuse

    def close(self) -> None:
        """End the threads; another step starts them again."""
        if self._row_threads is not None:
            self._row_threads.close()

    # ----------------------------------------------------------------------- what rows wait for

    def serve(self, rows: NDArray[np.int64] | None = None) -> None:
        """Do what all rows wait for, or some, until they wait for nothing.

        Rows that want the same player are asked together. After an exception, of an opponent say,
        the rows go on waiting: `check` refuses them.

        Parameters
        ----------
        rows : int64 array, optional
            By default all.
        """
        if not self._alone.acquire(False):
            raise RuntimeError(_IN_USE)
        try:
            self._serve(rows)
        finally:
            self._alone.release()

    def _serve(self, rows: NDArray[np.int64] | None) -> None:
        """Do what rows wait for, as `serve` does in the thread that has them."""
        try:
            self.serving.serve(rows)
        except BaseException:
            self._failed = True
            raise

    # ---------------------------------------------------------------------------------- episodes

    def begin(
        self,
        rows: int | Sequence[int],
        seeds: Any = None,
        options: Any = None,
    ) -> None:
        """Begin an episode in a row, or in each of several.

        Parameters
        ----------
        rows : int or sequence of int
        seeds : int, or sequence of them
            For each of these rows the 64 bits that everything random in it follows from; None goes
            on with what it has.
        options : mapping, or sequence of mappings
            For each of these rows ``match``: parameters of the referee; ``cards``: a card list
            (1.5); ``decks``: two decks in order of choice, as base ids; ``state``: a `State`;
            ``seat``: 0 or 1; ``player``: the name of the opponent.

        Raises
        ------
        ValueError
            For a value that cannot be used. All rows are as they were before.
        """
        if not self._alone.acquire(False):
            raise RuntimeError(_IN_USE)
        try:
            if not isinstance(rows, int):
                self._begin_all(rows, seeds or (None,) * len(rows), options)
            elif options or self._starts.may_refuse:
                self._begin_all((rows,), (seeds,), (options,))
            elif self.rows.begin(rows, seeds):
                self._serve(np.array([rows]))
        finally:
            self._alone.release()
        self._begun = True

    def _begin_all(self, rows: Sequence[int], seeds: Any, options: Any) -> None:
        self._starts.begin_all(rows, seeds, options)
        if self.n > 1:
            for name in ("terminated", "truncated", "rewards"):  # nothing has ended in these rows
                self.arrays[name][rows] = 0
