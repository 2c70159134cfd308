"""Batches of states with numpy arrays, for reinforcement learning and playout searches."""

from collections.abc import Callable, Iterable, Iterator
from operator import index
from typing import Any, NamedTuple, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from locmsim import _batch
from locmsim._batch import StateArray
from locmsim._core import Determinizer, State
from locmsim.errors import GameOverError, IllegalActionError
from locmsim.options.checks import MOST_THREADS, player_number, seed_bits, whole
from locmsim.processes.threads import in_threads
from locmsim.support.files import counted

_SHOWN_ROWS = 10  # of bad actions, in an error's message
#: Number of playouts that take some milliseconds, after which Ctrl-C is noticed.
_PLAYOUTS_A_CALL = 4096


def row_seeds(seed: SupportsIndex, rows: int) -> NDArray[np.uint64]:
    """Return a seed for each of some rows, derived from one."""
    seeds = np.empty(rows, np.uint64)
    _batch.row_seeds(seed_bits(seed), seeds)
    return seeds


class _Believer(Protocol):
    """A belief about hidden information, such as `locmsim.search.Belief`."""

    def determinizer(self) -> Determinizer:
        """Return a sampler of worlds."""


class BatchActions(NamedTuple):
    """Actions of the states of a batch; each array has an entry per action.

    Creatures are numbered by slot: 3 * lane + index in the lane, in summon order; in 1.0, which has
    one lane, by index.

    Attributes
    ----------
    row : int64 array
        The row of its state.
    action : int64 array
        Its number, as `StateBatch.step` takes it.
    kind : int8 array
        An `ActionKind`.
    source : int8 array
        SUMMON, USE: index of the card in hand order, 0 to 7. ATTACK: slot of the attacker, 0 to 5.
        PASS: -1.
    target : int8 array
        USE, ATTACK: -1 for a player, 0 to 5 for a slot of the mover, 6 to 11 for 6 + one of the
        opponent. Otherwise -1.
    lane : int8 array
        The lane of the creature that is summoned, attacks or is the target of an item, 0 or 1;
        -1 without a lane.
    """

    row: NDArray[np.int64]
    action: NDArray[np.int64]
    kind: NDArray[np.int8]
    source: NDArray[np.int8]
    target: NDArray[np.int8]
    lane: NDArray[np.int8]


#: Result of a batch evaluator: values, (rows,), and optionally priors, (rows, actions).
BatchResult: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike | None]
#: A batch evaluator; `StateBatch.values` has the contract.
BatchFunction: TypeAlias = Callable[["StateBatch"], BatchResult]


class _HasBatchFunction(Protocol):
    """An object with a batch evaluator, such as `locmsim.search.Evaluation`."""

    def results(self, batch: "StateBatch") -> BatchResult:
        """Return the batch evaluator."""


class StateBatch:
    """Many states of one rule set in one block of memory, a state in each row.

    The states may belong to one game or to many. Loops run without the GIL. Only one thread may use
    a batch at a time; `rollouts` can use several threads by itself.

    Actions are numbered as in `State`, and -1 stands for no action: `step` leaves such a row
    unchanged, and finished games accept nothing else.

    Parameters
    ----------
    states : iterable of State
        The states to copy, at least one, all of one rule set.

    Raises
    ------
    ValueError
        There are no states, or their rule sets differ.
    """

    def __init__(self, states: Iterable[State]) -> None:
        """Copy the states."""
        states = list(states)
        if not states:
            raise ValueError("states: expected at least one")
        self._array = StateArray(len(states), states[0])
        for row, state in enumerate(states):
            self[row] = state

    @classmethod
    def repeat(cls, state: State, n: int) -> "StateBatch":
        """Return a batch of n copies of one state.

        Parameters
        ----------
        state : State
            The state to copy.
        n : int
            The number of rows, 0 or more.

        Raises
        ------
        ValueError
            `n` is negative.
        """
        return cls._of(StateArray(n, state))

    @classmethod
    def sample(cls, belief: _Believer, n: int, seed: SupportsIndex) -> "StateBatch":
        """Return a batch of sampled worlds that a player may be in.

        Parameters
        ----------
        belief : Belief
            A belief that has seen the position (`locmsim.search.Belief`).
        n : int
            The number of worlds.
        seed : int
            Row i is ``belief.sample(batch.row_seeds(seed)[i])``.

        Returns
        -------
        StateBatch
            `n` states at the start of the player's turn, with the player to move.

        Raises
        ------
        ValueError
            `n` is negative, the belief has seen no battle, or what it has seen is impossible.
        """
        worlds = belief.determinizer()
        batch = cls._of(StateArray(n, worlds.sample(0)))
        batch._array.deal(worlds, batch.row_seeds(seed))
        return batch

    @classmethod
    def children(cls, state: State) -> tuple["StateBatch", NDArray[np.int64]]:
        """Return the states after each legal action of a state, and the actions.

        Parameters
        ----------
        state : State
            The position, of a game that is not over.

        Returns
        -------
        children : StateBatch
            A row for each action.
        actions : array of int64
            The legal actions in ascending order; PASS is 0.

        Raises
        ------
        GameOverError
            The game is over.
        """
        actions = np.array(state.legal_actions(), np.int64)
        if not len(actions):
            raise GameOverError("the game is over")
        batch = cls.repeat(state, len(actions))
        batch.step(actions)
        return batch, actions

    def resample_hidden(self, players: ArrayLike, seed: SupportsIndex) -> "StateBatch":
        """Return the same positions with everything resampled that one player cannot see.

        Parameters
        ----------
        players : int or array of int
            The player whose knowledge is kept, 0 or 1: one for all rows, or one for each row.
        seed : int
            Row i is ``batch[i].resample_hidden(players[i], batch.row_seeds(seed)[i])``.

        Raises
        ------
        ValueError
            A player is not 0 or 1, the number of players differs from that of rows, or a pool
            cannot be drawn from, as for `State.resample_hidden`.
        """
        try:
            lookers = np.broadcast_to(np.asarray(players), len(self))
        except ValueError:
            shape = np.shape(players)
            raise ValueError(f"players: expected shape ({len(self)},), got {shape}") from None
        for player in {*lookers.tolist()}:
            player_number(player)
        drawn = self.clone()
        drawn._array.resample(lookers.astype(np.int8), self.row_seeds(seed))
        return drawn

    @classmethod
    def _of(cls, array: StateArray) -> "StateBatch":
        batch = cls.__new__(cls)
        batch._array = array
        return batch

    def clone(self) -> "StateBatch":
        """Return an independent copy."""
        return self._of(self._array.copy())

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> "StateBatch":
        return self.clone()

    def __len__(self) -> int:
        return self._array.size

    def __getitem__(self, row: SupportsIndex) -> State:
        """Return a copy of one state; negative rows count from the end."""
        return self._array.get(self._row(row))

    def __setitem__(self, row: SupportsIndex, state: State) -> None:
        """Replace one state by a copy of `state`; ``ValueError`` if it has other rules."""
        try:
            self._array.set(self._row(row), state)
        except ValueError as error:
            raise ValueError(f"row {index(row)}: {error}") from None

    def __iter__(self) -> Iterator[State]:
        return map(self._array.get, range(len(self)))

    def take(self, rows: ArrayLike) -> "StateBatch":
        """Return copies of some rows, in any order and with repetitions, as `numpy.take` does.

        Parameters
        ----------
        rows : array of int
            Row numbers; negative ones count from the end.

        Returns
        -------
        StateBatch
            Row i is ``batch[rows[i]]``.

        Raises
        ------
        IndexError
            A row does not exist.
        TypeError
            `rows` are not integers.
        ValueError
            `rows` have another shape.
        """
        array = np.asarray(rows)
        if array.ndim != 1:
            raise ValueError(f"rows: expected shape (n,), got {array.shape}")
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"rows: expected integers, got {array.dtype}")
        # Compared before they are converted, where huge ones would wrap.
        wrong = (array < -len(self)) | (array >= len(self))
        if wrong.any():
            raise IndexError(f"row {array[wrong][0]} of {len(self)}")
        numbers = array.astype(np.int64)
        return self._of(self._array.take(np.where(numbers < 0, numbers + len(self), numbers)))

    def _row(self, row: SupportsIndex) -> int:
        number = index(row)
        if not -len(self) <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        return number % len(self)

    def num_distinct_actions(self) -> int:
        """Return the number of distinct actions: 145, or 155 in rules 1.0."""
        return self._array.num_actions

    def step(self, actions: ArrayLike) -> None:
        """Apply one action to each state.

        Parameters
        ----------
        actions : array of int
            An action for each row; -1 leaves a state unchanged and is required for finished games.

        Raises
        ------
        IllegalActionError
            Some actions are illegal; the message names the rows. Nothing was applied.
        GameOverError
            All of the illegal actions are for finished games. Nothing was applied.
        TypeError
            `actions` are not integers.
        ValueError
            The number of actions differs from that of rows.
        """
        array = np.asarray(actions)
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"actions: expected integers, got {array.dtype}")
        if array.shape != (len(self),):
            raise ValueError(f"actions: expected shape ({len(self)},), got {array.shape}")
        if array.dtype == np.uint64:  # its highest numbers would become negative
            array = np.minimum(array, np.iinfo(np.int64).max)
        numbers = np.ascontiguousarray(array, dtype=np.int64)
        bad = np.zeros(len(self), dtype=np.uint8)
        if self._array.step(numbers, bad):
            self._refuse(numbers, np.flatnonzero(bad).tolist())

    def _refuse(self, actions: NDArray[np.int64], rows: list[int]) -> None:
        over = self.is_terminal()[rows]
        shown = [
            f"row {row}: {actions[row]}" + " (the game is over)" * int(is_over)
            for row, is_over in zip(rows[:_SHOWN_ROWS], over, strict=False)
        ]
        if len(rows) > _SHOWN_ROWS:
            shown.append(f"{counted(len(rows) - _SHOWN_ROWS, 'more row')}")
        error = GameOverError if over.all() else IllegalActionError
        raise error(f"illegal actions, nothing was applied; {', '.join(shown)}")

    def sample_actions(self, seed: SupportsIndex) -> NDArray[np.int64]:
        """Draw a uniformly random legal action for each state.

        Parameters
        ----------
        seed : int
            Row i depends only on (seed, i) and its state, so that each step needs a new seed.

        Returns
        -------
        array of int64, shape (rows,)
            Actions for `step`; -1 for finished games.
        """
        out = np.empty(len(self), dtype=np.int64)
        self._array.sample(seed_bits(seed), out)
        return out

    def legal_actions_mask(self, out: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
        """Return an array that has 1 for each legal action and 0 for all others.

        Parameters
        ----------
        out : array, optional
            A writable, C-contiguous int8 array of the same shape, to be filled and returned.

        Returns
        -------
        array of int8, shape (rows, num_distinct_actions)
            The row of a finished game is 0.

        Raises
        ------
        ValueError
            `out` has the wrong shape or type.
        """
        shape = len(self), self.num_distinct_actions()
        if out is None:
            out = np.zeros(shape, dtype=np.int8)
        elif (
            isinstance(out, np.ndarray)
            and out.dtype == np.int8
            and out.shape == shape
            and out.flags.c_contiguous
            and out.flags.writeable
        ):
            out.fill(0)
        else:
            raise ValueError(f"out: expected a writable C-contiguous int8 array of shape {shape}")
        self._array.masks(out)
        return out

    def observation_tensor(
        self,
        player: int | None = None,
        layout: str = "entities-f32",
        *,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return `State.observation_tensor` of each state.

        Parameters
        ----------
        player : int, optional
            0 or 1; by default the player to move in each row.
        layout : str
            "entities", "entities-f32" or "gym-locm".
        out : array, optional
            A C-contiguous array of the same shape and type, to be filled and returned.

        Returns
        -------
        array, shape (rows, numbers)
            Observations with the type of the layout.

        Raises
        ------
        ValueError
            The layout or the player is unknown, or `out` does not fit.
        """
        from locmsim.game.layouts import write_states

        if player is not None:
            player = player_number(player)
        return write_states(self._array, -1 if player is None else player, layout, out)

    def actions(self) -> BatchActions:
        """Return every legal action of every state as arrays, by row and ascending.

        Finished games have none. This creates all children of all states::

            legal = batch.actions()
            children = batch.take(legal.row)
            children.step(legal.action)
        """
        rows = np.empty(self.legal_counts.sum(), np.int64)
        actions = np.empty_like(rows)
        self._array.legal(rows, actions)
        moves = _moves(self._array)[actions]
        return BatchActions(rows, actions, *np.ascontiguousarray(moves.T))

    def values(self, evaluation: _HasBatchFunction | BatchFunction) -> NDArray[np.float64]:
        """Return the value of each state to the player whose turn it is, if the turn ended there.

        Parameters
        ----------
        evaluation : Evaluation, or a function of a StateBatch
            A function returns for each row the expected result from -1 (lost) to 1 (won) for the
            player whose turn it is: an array (rows,), or a pair of it and of priors (rows,
            `num_distinct_actions`), which are not used here. It is called only with unfinished
            games.

        Returns
        -------
        array of float64, shape (rows,)
            From -1 to 1. For a finished game 1 or -1, to the player whose turn it was when it
            ended.

        Raises
        ------
        ValueError
            The function returned the wrong number of values, or a value outside -1 to 1.
        """
        function = evaluation_function(evaluation)
        found = np.empty(len(self))
        movers = np.empty(len(self), np.int8)
        self._array.movers(movers)
        over = self.winner >= 0
        found[over] = np.where(self.winner[over] == movers[over], 1.0, -1.0)
        going = np.flatnonzero(~over)
        if len(going):
            answer = function(self.take(going))  # which may change what it is given
            found[going] = checked_results(answer, len(going), self.num_distinct_actions())[0]
        return found

    @property
    def legal_counts(self) -> NDArray[np.int32]:
        """The number of legal actions of each state (int32); 0 for finished games."""
        out = np.empty(len(self), dtype=np.int32)
        self._array.counts(out)
        return out

    @property
    def winner(self) -> NDArray[np.int8]:
        """The winner of each state (int8); -1 while nobody has won."""
        out = np.empty(len(self), dtype=np.int8)
        self._array.winners(out)
        return out

    def hash64(self) -> NDArray[np.uint64]:
        """Return `State.hash64` of each state (uint64)."""
        out = np.empty(len(self), dtype=np.uint64)
        self._array.hashes(out)
        return out

    def is_terminal(self) -> NDArray[np.bool_]:
        """Return whether each state is finished (bool)."""
        return self.winner >= 0

    def returns(self) -> NDArray[np.float64]:
        """Return `State.returns` of each state (float64, shape (rows, 2))."""
        won = self.winner[:, None] == np.arange(2)
        return np.where(self.is_terminal()[:, None], np.where(won, 1.0, -1.0), 0.0)

    def current_player(self) -> NDArray[np.int8]:
        """Return the player to move in each state (int8); -4 for finished games."""
        out = np.empty(len(self), dtype=np.int8)
        self._array.players(out)
        return out

    def row_seeds(self, seed: SupportsIndex) -> NDArray[np.uint64]:
        """Return the seed of each row in `rollouts` and the other methods with a seed.

        Parameters
        ----------
        seed : int
            The seed of the whole batch.

        Returns
        -------
        array of uint64, shape (rows,)
        """
        return row_seeds(seed, len(self))

    def rollouts(self, n: int, seed: SupportsIndex, threads: int = 1) -> NDArray[np.int8]:
        """Play n uniformly random playouts from each state and return their winners.

        Parameters
        ----------
        n : int
            Number of playouts per state, 0 or more.
        seed : int
            Row i is ``batch[i].rollouts(n, batch.row_seeds(seed)[i])``.
        threads : int
            Number of threads; the result does not depend on it.

        Returns
        -------
        array of int8, shape (rows, n)

        Raises
        ------
        ValueError
            `n` is negative, or `threads` is below 1.
        """
        n = whole("n", n, 0, 10**12)
        threads = whole("threads", threads, 1, MOST_THREADS)
        out = np.empty((len(self), n), dtype=np.int8)
        seeds = self.row_seeds(seed)

        blocks = max(1, -(-n // _PLAYOUTS_A_CALL))  # chunks of a row's playouts

        def play(first: int, last: int) -> None:
            row, block = divmod(first, blocks)
            start = block * _PLAYOUTS_A_CALL
            rows = row + 1 if blocks > 1 else last
            self._array.rollouts(seeds, row, start, out[row:rows, start : start + _PLAYOUTS_A_CALL])

        chunk = 1 if blocks > 1 else max(1, _PLAYOUTS_A_CALL // max(n, 1))
        in_threads(play, len(self) * blocks, threads, chunk)
        return out

    def __repr__(self) -> str:
        return f"<StateBatch of {len(self)} states, {int(self.is_terminal().sum())} finished>"


#: By rule set, (actions, 4): kind, source, target and lane of each action number.
_MOVES: dict[str, NDArray[np.int8]] = {}


def _moves(array: StateArray) -> NDArray[np.int8]:
    if array.rule_set not in _MOVES:
        _MOVES[array.rule_set] = np.array(array.moves(), np.int8)
    return _MOVES[array.rule_set]


def checked_results(
    answer: Any, rows: int, actions: int
) -> tuple[NDArray[np.float64], NDArray[np.float32] | None]:
    """Check a batch evaluator's values and priors; ``ValueError`` names what is wrong."""
    values, priors = answer if isinstance(answer, tuple) else (answer, None)
    values = np.ascontiguousarray(values, np.float64)
    if values.shape == (rows, 1):  # of a network with one output
        values = values[:, 0]
    if values.shape != (rows,):
        raise ValueError(f"evaluation: expected values of shape ({rows},), got {values.shape}")
    wrong = ~(np.abs(values) <= 1)
    if wrong.any():
        raise ValueError(f"evaluation: expected values from -1 to 1, got {values[wrong][0]}")
    if priors is None:
        return values, None
    priors = np.ascontiguousarray(priors, np.float32)
    if priors.shape != (rows, actions):
        raise ValueError(
            f"evaluation: expected priors of shape {(rows, actions)}, got {priors.shape}"
        )
    if not (priors >= 0).all():
        raise ValueError("evaluation: expected priors of 0 or more")
    return values, priors


def evaluation_function(evaluation: Any) -> BatchFunction:
    """Return the batch evaluator that an object is or has."""
    function: BatchFunction = getattr(evaluation, "results", evaluation)
    return function
