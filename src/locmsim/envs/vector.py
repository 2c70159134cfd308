"""Many battles at once: the native vector environments."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.batch import StateBatch
from locmsim.envs.base import LocmEnvBase
from locmsim.envs.games import HIDDEN_SIZE, Games, options_of, seed_bits, spaces_of
from locmsim.envs.rendering import (
    RENDER_MODES,
    check_render_mode,
    show,
)
from locmsim.envs.single import named_options
from locmsim.envs.workers import Workers
from locmsim.errors import IllegalActionError

__all__ = ["ConstructVectorEnv", "DraftVectorEnv", "LocmVectorEnv", "MatchVectorEnv"]

_AUTORESETS: dict[AutoresetMode, Literal["next", "same", "disabled"]] = {
    AutoresetMode.NEXT_STEP: "next",
    AutoresetMode.SAME_STEP: "same",
    AutoresetMode.DISABLED: "disabled",
}
_SHOWN_ROWS = 10


def _autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    """A mode by its value or its name, in any case; ``ValueError`` tells both."""
    if isinstance(mode, str):
        for known in AutoresetMode:
            if mode.lower() in (known.name.lower(), known.value.lower()):
                return known
    elif isinstance(mode, AutoresetMode):
        return mode
    raise ValueError(
        f"autoreset_mode: expected {', '.join(known.name for known in AutoresetMode)}, got {mode!r}"
    )


def _by_row(options: dict[str, Any] | None, n: int) -> Sequence[dict[str, Any] | None]:
    """The options of each row: a value of a reset is for all of them, or a sequence for each."""
    if not options:
        return [None] * n
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for name, value in options.items():
        if value is None or name == "reset_mask":
            continue
        if name in _SCALAR and not _SCALAR[name](value):
            values = list(value)
            if len(values) != n:
                raise ValueError(f"{name}: expected one for all rows or {n}, got {len(values)}")
        else:
            values = [value] * n
        for row, one in zip(rows, values, strict=True):
            row[name] = one
    return rows


def _is_pair_of_decks(value: Any) -> bool:
    if not isinstance(value, Sequence | np.ndarray):
        return True  # whatever it is, it is refused for each row
    first = value[0] if len(value) == 2 else None
    return first is not None and len(first) > 0 and isinstance(first[0], int | np.integer)


#: Option of a reset -> whether a value is one for all rows.
_SCALAR: dict[str, Callable[[Any], bool]] = {
    "seat": lambda value: np.ndim(value) == 0,
    "player": lambda value: isinstance(value, str),
    "match": lambda value: isinstance(value, Mapping),
    "state": lambda value: not isinstance(value, Sequence | StateBatch),
    "decks": _is_pair_of_decks,
}


class LocmVectorEnv(LocmEnvBase, VectorEnv[Any, Any, Any]):
    """`num_envs` episodes side by side, in compiled code: ``gym.make_vec`` makes this one.

    Parameters
    ----------
    num_envs : int
    threads : int
        Threads that share the rows; results do not depend on it.
    autoreset_mode : gymnasium.vector.AutoresetMode
        SAME_STEP: the observation of an ended row is that of its next episode.
    copy : bool
        False: the returned arrays are the buffers that the next step overwrites.
    final_obs : bool
        Whether the info has ``final_obs``, the last observations of ended rows (SAME_STEP).
    render_mode : "ansi", "human", "rgb_array" (extra ``png``) or None
    **options
        See `Options`. With ``players=("caller", "caller")`` the caller plays both seats; with a
        `Pool` in which "caller" is one of several they do in some episodes.

    Notes
    -----
    Row i does what a single environment with the same seed does. Infos are arrays, with ``_name``
    telling which rows they are for, and only there if a row has ended.

    Where the caller plays both seats, `step` moves the player to move. It returns what the *next*
    one sees and the reward of the one **who moved**; the info has ``to_move`` (who is next),
    ``acted`` (who moved; -1 in a row that only began anew) and ``rewards_both`` (num_envs, 2). A
    player's shaping is paid when they are to move again, or at the end, so that it is in
    ``rewards_both`` only: take that, and `gae` with ``mode="per-player"``. In rows in which the
    other seat is somebody else's, ``to_move`` is the caller's seat, and the entry of
    ``rewards_both`` for the other one is without shaping.
    """

    metadata = {  # noqa: RUF012
        "render_modes": RENDER_MODES,
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    #: The threads; no pickle has them. None: the constructor has raised an exception.
    _workers: Workers | None = None
    #: What the options of a subclass are those of.
    _name = ""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        final_obs: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if value < 1:
                raise ValueError(f"{name}: expected at least 1, got {value}")
        self.render_mode = check_render_mode(render_mode)
        self.num_envs = num_envs
        self.threads = threads
        self.copy = copy
        self.autoreset_mode = _autoreset(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.options = options_of(named_options(self._name, options) if self._name else options)
        self.games = Games(num_envs, self.options, autoreset=_AUTORESETS[self.autoreset_mode])
        self._rows = self.games.rows
        observation, action = spaces_of(self.options)
        self.single_observation_space, self.single_action_space = observation, action
        self.observation_space = batch_space(observation, num_envs)
        self.action_space = batch_space(action, num_envs)
        shape, dtype = self.games.observation_shape
        self._observations = np.zeros((num_envs, *shape), dtype)
        self._masks = np.zeros((num_envs, self._rows.n_actions), np.int8)
        self._to_move = np.zeros(num_envs, np.int8)
        self._acted = np.zeros(num_envs, np.int8)
        self._both_rewards = np.zeros((num_envs, 2), np.float32)
        self._hidden = (
            np.zeros((num_envs, HIDDEN_SIZE), np.int8) if self.options.privileged else None
        )
        self._rewards = np.zeros(num_envs, np.float32)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._truncated = np.zeros(num_envs, np.bool_)
        self._final = np.zeros_like(self._observations) if final_obs else None
        self._in_info = self.options.mask == "info"
        #: Whether decks are given that not every episode allows: a reset may be refused then.
        self._may_refuse = not isinstance(self.options.decks, str)
        self._shaped = any(self.options.rewards()[2])
        self._started = False
        self._start()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_workers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    # ------------------------------------------------------------------------------ episodes

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """An action for each row.

        Parameters
        ----------
        actions : int64 array (num_envs,)

        Returns
        -------
        observations, rewards (float32), terminated (bool), truncated (bool), info
        """
        info = self._step(actions)
        if self._in_info:
            info["action_mask"] = self._masks.copy() if self.copy else self._masks
        rewards, terminated, truncated = self._rewards, self._terminated, self._truncated
        if self.copy:
            rewards, terminated = rewards.copy(), terminated.copy()
            truncated = truncated.copy()
        if self.render_mode == "human":
            self.render()
        return self._observed(), rewards, terminated, truncated, info

    def _add_final(self, info: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        """Add the last observations of the rows that ended, if they are wanted."""
        if self._final is not None and self.autoreset_mode is AutoresetMode.SAME_STEP:
            info["final_obs"] = self._final.copy()
            info["_final_obs"] = ended

    def _observed(self) -> Any:
        """Observations for the caller."""
        observations = self._observations.copy() if self.copy else self._observations
        if self._in_info:
            return observations
        masks = self._masks.copy() if self.copy else self._masks
        seen = {"observation": observations, "action_mask": masks}
        if self._hidden is not None:
            seen["state"] = self._hidden.copy() if self.copy else self._hidden
        return seen

    def _reset_rows(self, options: dict[str, Any] | None) -> list[int]:
        """The rows that `reset` is about."""
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return list(range(self.num_envs))
        if not (
            isinstance(mask, np.ndarray)
            and mask.dtype == np.bool_
            and mask.shape == (self.num_envs,)
            and mask.any()
        ):
            raise ValueError(
                f"reset_mask: expected a bool array of shape ({self.num_envs},) with a row to reset"
            )
        return [int(i) for i in np.flatnonzero(mask)]

    def _row_seeds(self, seed: int | Sequence[int | None] | None) -> list[Any]:
        """What each row begins with, of `seed` + i or its own of a sequence; None goes on.

        Without any the first ones are drawn.
        """
        n = self.num_envs
        if seed is None:
            return [
                None if self._started else self._start_of(seed_bits(self.np_random))
                for _ in range(n)
            ]
        if isinstance(seed, int | np.integer):
            self._np_random, self._np_random_seed = seeding.np_random(int(seed))
            return [self._start_of(int(seed) + i) for i in range(n)]
        if len(seed) != n:
            raise ValueError(f"seed: expected {n}, got {len(seed)}")
        return [None if one is None else self._start_of(one) for one in seed]

    def _start_of(self, seed: int) -> Any:
        """What a single environment makes of its seed."""
        return self.games.start_of(seeding.np_random(seed)[0])

    def _actions(self, actions: Any) -> NDArray[np.int64]:
        """Actions as the array that they have to be."""
        if not isinstance(actions, np.ndarray) or actions.dtype != np.int64:
            array = np.asarray(actions)
            if array.dtype.kind not in "iu":
                raise TypeError(f"actions: expected integers, got {array.dtype}")
            actions = array.astype(np.int64)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions: expected shape ({self.num_envs},), got {actions.shape}")
        return np.ascontiguousarray(actions)

    def _refuse(self, bad: Sequence[int], actions: NDArray[np.int64]) -> None:
        """Say which rows have illegal actions."""
        shown = ", ".join(f"row {i}: {actions[i]}" for i in bad[:_SHOWN_ROWS])
        raise IllegalActionError(f"illegal actions, nothing was applied; {shown}")

    def render(self) -> Any:
        """What the learner sees in each row: texts, printed with "human", or uint8 arrays."""
        if self.render_mode is None:
            return None
        shown = [
            show(self.render_mode, partial(self.games.text, i), partial(self.games.frame, i))
            for i in range(self.num_envs)
        ]
        return None if self.render_mode == "human" else tuple(shown)

    def _start(self) -> None:
        self._workers = Workers(self._rows, self.threads)
        self._bound: dict[str, Any] = {}
        self._own_arrays()

    # ------------------------------------------------------------------------------- arrays

    def _bind(self, arrays: dict[str, Any]) -> bool:
        """Have the rows write into these arrays; whether they wrote into others before."""
        bound = self._bound
        if len(bound) == len(arrays) and all(bound.get(k) is v for k, v in arrays.items()):
            return False
        n = self.num_envs
        shape, dtype = self.games.observation_shape
        one = np.dtype(np.float32)
        fitting = {
            "obs": (dtype, (n, *shape)),
            "masks": (np.dtype(np.int8), (n, self._rows.n_actions)),
            "rewards": (one, (n,)),
            "rewards_both": (one, (n, 2)),
            "terminated": (np.dtype(np.bool_), (n,)),
            "truncated": (np.dtype(np.bool_), (n,)),
            "to_move": (np.dtype(np.int8), (n,)),
            "acted": (np.dtype(np.int8), (n,)),
            "winner": (np.dtype(np.int8), (n,)),
            "length": (np.dtype(np.int32), (n,)),
            "final_obs": (dtype, (n, *shape)),
            "state": (np.dtype(np.int8), (n, HIDDEN_SIZE)),
        }
        for name, array in arrays.items():
            dtype, shape = fitting[name]
            byte = dtype.itemsize == 1 and array.dtype.kind in "iub" and array.itemsize == 1
            if not (array.dtype == dtype or byte) or array.shape != shape:
                raise ValueError(
                    f"{name}: expected {dtype} of shape {shape}, got {array.dtype} {array.shape}"
                )
        self._rows.bind(**arrays)
        self._bound = arrays
        return True

    def _all_arrays(self) -> dict[str, Any]:
        arrays = {
            "obs": self._observations, "masks": self._masks, "rewards": self._rewards,
            "rewards_both": self._both_rewards, "terminated": self._terminated,
            "truncated": self._truncated, "to_move": self._to_move, "acted": self._acted,
        }  # fmt: skip
        if self._final is not None:
            arrays["final_obs"] = self._final
        if self._hidden is not None:
            arrays["state"] = self._hidden
        return arrays

    def _own_arrays(self) -> None:
        if self._bind(self._all_arrays()) and self._started:
            self._rows.show_all()  # what other arrays were shown

    # ------------------------------------------------------------------------------ episodes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each row.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Row i has `seed` + i, or its own of a sequence, and then does what a single environment
            with that seed does.
        options : dict, optional
            ``match``, ``decks``, ``state``, ``seat`` and ``player`` as of `Games.begin`: one for
            all rows, or a sequence of one for each, in which None leaves a row to its seed
            (``state`` may be a `StateBatch`). ``reset_mask``: a bool array of the rows that begin
            anew.

        Returns
        -------
        observations, info
            The info has ``to_move`` if the caller may play both seats.

        Raises
        ------
        ValueError
            For a value that cannot be used; no row has begun anew then.
        """
        rows = self._reset_rows(options)
        generator = self._np_random, self._np_random_seed
        kept: list[tuple[int, Any]] = []
        self._own_arrays()
        try:
            seeds = self._row_seeds(seed)
            of_row = _by_row(options, self.num_envs)
            for i in rows:
                if options or self._may_refuse:
                    kept.append((i, self._rows.resets.kept(i)))
                self.games.begin(i, seeds[i], of_row[i])
        except BaseException:
            self._np_random, self._np_random_seed = generator
            for i, row in kept:
                self._rows.resets.put_back(i, row)
            raise
        self._terminated[rows] = self._truncated[rows] = False
        self._rewards[rows] = 0
        self._started = True
        info: dict[str, Any] = {}
        if self.games.players.has_caller_twice():
            info["to_move"] = self.to_move
        if self._in_info:
            info["action_mask"] = self._masks.copy()
        if self.render_mode == "human":
            self.render()
        return self._observed(), info

    def _advance(self, actions: Any) -> int:
        """Step all rows; the number of those in which something special happened."""
        actions = self._actions(actions)
        if self.games.failed:
            self.games.check()
        if self.options.illegal == "raise" and (bad := self._rows.bad_rows(actions)):
            self._refuse(bad, actions)
        assert self._workers is not None
        special = self.games.run(self._workers, actions)
        if special >> 32:  # rows that wait
            self.games.serve()
        return special

    def _step(self, actions: Any) -> dict[str, Any]:
        both = self.games.players.has_caller_twice()
        if both:
            self._check_rewards()
        self._own_arrays()
        info: dict[str, Any] = {}
        special = self._advance(actions)
        if callable(self.options.reward):
            self._rewards[:] = self.games.reward_of(self._bound)
        if special and (ended := self._terminated | self._truncated).any():
            info.update(self._results(ended))
            self._add_final(info, ended)
        if both:
            for name, array in (
                ("rewards_both", self._both_rewards),
                ("to_move", self._to_move),
                ("acted", self._acted),
            ):
                info[name] = array.copy() if self.copy else array
        return info

    def _check_rewards(self) -> None:
        if self._shaped:
            raise ValueError(
                "rewards: where the caller plays both seats, shaping is in rewards_both only: call"
                " step_into with rewards_both, and without rewards"
            )

    def step_into(
        self,
        actions: NDArray[np.int64],
        *,
        obs: NDArray[Any] | None = None,
        masks: NDArray[np.int8] | None = None,
        rewards: NDArray[np.float32] | None = None,
        rewards_both: NDArray[np.float32] | None = None,
        terminated: NDArray[np.bool_] | None = None,
        truncated: NDArray[np.bool_] | None = None,
        to_move: NDArray[np.int8] | None = None,
        acted: NDArray[np.int8] | None = None,
        winner: NDArray[np.int8] | None = None,
        length: NDArray[np.int32] | None = None,
        final_obs: NDArray[Any] | None = None,
        state: NDArray[np.int8] | None = None,
    ) -> int:
        """As `step`, but what comes of it is written into the caller's arrays.

        Parameters
        ----------
        actions : int64 array (num_envs,)
        obs, masks, rewards, terminated, truncated : arrays, optional
            C-contiguous, of the shapes and types of `step`.
        rewards_both : float32 array (num_envs, 2), optional
        to_move, acted : int8 arrays (num_envs,), optional
            Who is to move, and who acted; -1 in a row that only began anew.
        winner : int8 array (num_envs,), optional
            Who won an episode that ended; -1 for nobody, and where none ended.
        length : int32 array (num_envs,), optional
            Actions of both players in an episode that ended; 0 where none ended.
        final_obs : array, optional
            As `obs`: written where an episode ended (SAME_STEP), all others are left as they are.
        state : int8 array (num_envs, `HIDDEN_SIZE`), optional
            All cards in hands and decks, see `Options.privileged`.

        Returns
        -------
        int
            0 if nothing has happened but ordinary steps; if not, episodes may have ended.

        Raises
        ------
        ValueError
            For an array that does not fit; for `rewards` with shaping where the caller plays both
            seats.
        """
        arrays = {
            "obs": obs, "masks": masks, "rewards": rewards, "rewards_both": rewards_both,
            "terminated": terminated, "truncated": truncated, "to_move": to_move, "acted": acted,
            "winner": winner, "length": length, "final_obs": final_obs, "state": state,
        }  # fmt: skip
        if rewards is not None and self.games.players.has_caller_twice():
            self._check_rewards()
        bound = {name: array for name, array in arrays.items() if array is not None}
        own = callable(self.options.reward) and rewards is not None
        if own:  # the function is shown all arrays
            bound = {**self._all_arrays(), **bound}
        changed = self._bind(bound)
        special = self._advance(actions)
        if own:
            bound["rewards"][:] = self.games.reward_of(bound)
        if changed and self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._rows.show_all(over=True)  # rows that did nothing
        return special

    def _results(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Results of the rows that ended, as arrays, and which rows they are for."""
        n = self.num_envs
        result: dict[str, Any] = {
            "winner": np.zeros(n, np.int8),
            "seat": np.zeros(n, np.int8),
            "length": np.zeros(n, np.int32),
            "turn": np.zeros(n, np.int32),
            "health": np.zeros((n, 2), np.int32),
            "illegal": np.zeros(n, np.bool_),
            "returns": np.zeros((n, 2), np.float32),
        }
        self._rows.views.results(
            ended, result["winner"], result["seat"], result["length"], result["turn"],
            result["health"], result["illegal"], result["returns"],
        )  # fmt: skip
        if self.options.episode == "choice":
            result["winners"] = np.zeros((n, self.options.battles), np.int8)
            for i in np.flatnonzero(ended & ~result["illegal"]).tolist():
                result["winners"][i] = self._rows.views.winners(i)
        return result | {f"_{name}": ended for name in result}

    # ------------------------------------------------------------------------------- players

    # --------------------------------------------------------------------------------- more

    @property
    def to_move(self) -> NDArray[np.int8]:
        """int8 array (num_envs,): who is to move; the caller's seat where they have one."""
        out = np.empty(self.num_envs, np.int8)
        self._rows.views.movers(out)
        return out

    def action_masks(self) -> NDArray[np.bool_]:
        """bool array (rows, actions) of the legal actions."""
        out = np.empty((self.num_envs, self._rows.n_actions), np.bool_)
        self._rows.views.masks(out)
        return out

    def match(self, row: int) -> Any:
        """How the last finished episode of a row came about: see `EpisodeMatch`."""
        return self.games.match(row)

    def sample(self, seed: int | None = None) -> NDArray[np.int64]:
        """A uniformly random legal action for each row."""
        out = np.empty(self.num_envs, np.int64)
        self._rows.sample(seed_bits(self.np_random) if seed is None else seed, out)
        return out

    def states(self) -> list[State]:
        """Copies of all states, with what is hidden."""
        return [self._rows.views.state(i) for i in range(self.num_envs)]

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if self._workers is not None:
            self._workers.close()


class ConstructVectorEnv(LocmVectorEnv):
    """`num_envs` times ``locmsim/Construct-v0``."""

    _name = "Construct"


class DraftVectorEnv(LocmVectorEnv):
    """`num_envs` times ``locmsim/Draft-v0``."""

    _name = "Draft"


class MatchVectorEnv(LocmVectorEnv):
    """`num_envs` times ``locmsim/Match-v0``."""

    _name = "Match"
