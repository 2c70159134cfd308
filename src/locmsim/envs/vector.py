"""Many battles at once: the native vector environments."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs.battle import battle_spaces, seed_bits
from locmsim.envs.games import HIDDEN_SIZE, Games, Options, options_of
from locmsim.envs.rendering import (
    RENDER_MODES,
    battle_frame,
    battle_text,
    check_render_mode,
    show,
)
from locmsim.envs.workers import Workers
from locmsim.errors import IllegalActionError
from locmsim.game.layouts import Layout

__all__ = ["LocmVectorEnv", "SelfPlayVectorEnv", "VectorBase"]

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


class VectorBase(VectorEnv[Any, Any, Any]):
    """What all vector environments here have in common: arrays for all rows, episodes, threads.

    A subclass makes the rows (`_make_rows`), begins their episodes (`_begin_row`) and the threads
    that work on them (`_start`), and steps them.
    """

    metadata = {  # noqa: RUF012
        "render_modes": RENDER_MODES,
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    #: What works on the rows; no pickle has it. None: the constructor has raised an exception.
    _workers: Any = None

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
        self.options, observation, action = self._make_rows(options)
        self.single_observation_space, self.single_action_space = observation, action
        self.observation_space = batch_space(observation, num_envs)
        self.action_space = batch_space(action, num_envs)
        box = observation["observation"] if isinstance(observation, spaces.Dict) else observation
        assert box.shape is not None
        self._observations = np.zeros((num_envs, *box.shape), box.dtype)
        self._masks = np.zeros((num_envs, int(action.n)), np.int8)
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
        self._started = False
        self._start()

    def _make_rows(
        self, options: dict[str, Any]
    ) -> tuple[Options, spaces.Space[Any], spaces.Discrete]:
        """Make the rows, and arrays of this kind alone; options and spaces of one."""
        raise NotImplementedError

    def _start(self) -> None:
        """Begin the threads, with all arrays there: of a new environment and after a pickle."""
        raise NotImplementedError

    def _begin_row(self, i: int, seed: int | None, options: dict[str, Any] | None) -> None:
        """Begin an episode of a row and write what it shows; None goes on with its chance."""
        raise NotImplementedError

    def _keep(self, i: int) -> Any:
        """All of a row, for `_put_back`: a `reset` that is refused changes nothing."""
        raise NotImplementedError

    def _put_back(self, i: int, kept: Any) -> None:
        """A row as it was, and what it shows."""
        raise NotImplementedError

    def _own_arrays(self) -> None:
        """Have the rows write into the arrays of this object."""

    def _step(self, actions: Any) -> dict[str, Any]:
        """Step all rows, which write into the arrays; the info, but for the mask."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_workers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

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
            Those of a single environment for all rows, and ``reset_mask``: a bool array of the
            rows that begin anew.

        Returns
        -------
        observations, info

        Raises
        ------
        ValueError
            For a value that cannot be used.
        """
        rows = self._reset_rows(options)
        generator = self._np_random, self._np_random_seed
        kept: list[tuple[int, Any]] = []
        self._own_arrays()
        try:
            seeds = self._row_seeds(seed)
            for i in rows:
                if options or self._may_refuse:
                    kept.append((i, self._keep(i)))
                self._begin_row(i, seeds[i], options)
        except BaseException:
            self._np_random, self._np_random_seed = generator
            for i, row in kept:
                self._put_back(i, row)
            raise
        self._terminated[rows] = self._truncated[rows] = False
        self._rewards[rows] = 0
        self._started = True
        info: dict[str, Any] = {}
        if self._in_info:
            info["action_mask"] = self._masks.copy()
        if self.render_mode == "human":
            self.render()
        return self._given(), info

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
        return self._given(), rewards, terminated, truncated, info

    def _add_final(self, info: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        """Add the last observations of the rows that ended, if they are wanted."""
        if self._final is not None and self.autoreset_mode is AutoresetMode.SAME_STEP:
            info["final_obs"] = self._final.copy()
            info["_final_obs"] = ended

    def _given(self) -> Any:
        """Observations for the caller."""
        observations = self._observations.copy() if self.copy else self._observations
        if self._in_info:
            return observations
        masks = self._masks.copy() if self.copy else self._masks
        given = {"observation": observations, "action_mask": masks}
        if self._hidden is not None:
            given["state"] = self._hidden.copy() if self.copy else self._hidden
        return given

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

    def _row_seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """The seed of each row: `seed` + i, or its own of a sequence; None goes on with its chance.

        Without any the first ones are drawn.
        """
        n = self.num_envs
        if seed is None:
            return [None if self._started else seed_bits(self.np_random) for _ in range(n)]
        if isinstance(seed, int | np.integer):
            self._np_random, self._np_random_seed = seeding.np_random(int(seed))
            return [int(seed) + i for i in range(n)]
        if len(seed) != n:
            raise ValueError(f"seed: expected {n}, got {len(seed)}")
        return list(seed)

    def _actions(self, actions: Any) -> NDArray[np.int64]:
        """Actions as the array that they have to be."""
        if not isinstance(actions, np.ndarray) or actions.dtype != np.int64:
            given = np.asarray(actions)
            if given.dtype.kind not in "iu":
                raise TypeError(f"actions: expected integers, got {given.dtype}")
            actions = given.astype(np.int64)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions: expected shape ({self.num_envs},), got {actions.shape}")
        return np.ascontiguousarray(actions)

    def _refuse(self, bad: Sequence[int], actions: NDArray[np.int64]) -> None:
        """Say which rows have illegal actions."""
        shown = ", ".join(f"row {i}: {actions[i]}" for i in bad[:_SHOWN_ROWS])
        raise IllegalActionError(f"illegal actions, nothing was applied; {shown}")

    def action_masks(self) -> NDArray[np.bool_]:
        """bool array (rows, actions) of the legal actions."""
        return self._masks.astype(np.bool_)

    def _text(self, i: int) -> str:
        """What `render` shows of a row."""
        raise NotImplementedError

    def _frame(self, i: int) -> NDArray[np.uint8]:
        """... as an array."""
        raise NotImplementedError

    def render(self) -> Any:
        """What the learner sees in each row: texts, printed with "human", or uint8 arrays."""
        if self.render_mode is None:
            return None
        shown = [
            show(self.render_mode, partial(self._text, i), partial(self._frame, i))
            for i in range(self.num_envs)
        ]
        return None if self.render_mode == "human" else tuple(shown)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if self._workers is not None:
            self._workers.close()


class _Vector(VectorBase):
    """What both vector environments of battles have in common: compiled rows."""

    #: Whether the caller plays both sides.
    _both: bool

    def _make_rows(
        self, options: dict[str, Any]
    ) -> tuple[Options, spaces.Space[Any], spaces.Discrete]:
        n, chosen = self.num_envs, options_of(options)
        autoreset = _AUTORESETS[self.autoreset_mode]
        self.games = Games(n, chosen, both=self._both, autoreset=autoreset)
        self._rows = self.games.rows
        self._to_move = np.zeros(n, np.int8)
        self._acted = np.zeros(n, np.int8)
        self._both_rewards = np.zeros((n, 2), np.float32) if self._both else None
        return chosen, *battle_spaces(chosen, self._rows.n_actions)

    def _start(self) -> None:
        self._workers = Workers(self._rows, self.threads)
        self._bound: tuple[Any, ...] = ()
        self._own_arrays()

    @property
    def layout(self) -> Layout:
        """What the numbers of an observation mean."""
        return self.games.layout

    # ------------------------------------------------------------------------------- arrays

    def _bind(
        self, observations: Any, masks: Any, rewards: Any, terminated: Any, to_move: Any, both: Any
    ) -> None:
        """Have the rows write into these arrays."""
        wanted = (observations, masks, rewards, terminated, to_move, both)
        if len(self._bound) == 6 and all(a is b for a, b in zip(wanted, self._bound, strict=True)):
            return
        n, layout = self.num_envs, self.layout
        for name, array, dtype, shape in (
            ("obs", observations, layout.dtype, (n, *layout.shape)),
            ("masks", masks, np.dtype(np.int8), (n, self._rows.n_actions)),
            ("rewards", rewards, np.dtype(np.float32), (n,)),
            ("dones", terminated, np.dtype(np.bool_), (n,)),
            ("to_move", to_move, np.dtype(np.int8), (n,)),
            ("rewards_both", both, np.dtype(np.float32), (n, 2)),
        ):
            if array is None:
                continue
            byte = dtype.itemsize == 1 and array.dtype.kind in "iub" and array.itemsize == 1
            if not (array.dtype == dtype or byte) or array.shape != shape:
                raise ValueError(
                    f"{name}: expected {dtype} of shape {shape}, got {array.dtype} {array.shape}"
                )
        self._bound = ()
        self._rows.bind(
            observations, masks, rewards, terminated, self._truncated, to_move, self._acted, both,
            self._final, self._hidden,
        )  # fmt: skip
        self._bound = wanted

    def _own_arrays(self) -> None:
        self._bind(
            self._observations, self._masks, self._rewards, self._terminated, self._to_move,
            self._both_rewards,
        )  # fmt: skip

    # ------------------------------------------------------------------------------ episodes

    def _begin_row(self, i: int, seed: int | None, options: dict[str, Any] | None) -> None:
        self.games.begin(i, seed, options)

    def _keep(self, i: int) -> Any:
        return self._rows.kept(i)

    def _put_back(self, i: int, kept: Any) -> None:
        self._rows.put_back(i, kept)

    def _row_seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """64 bits for each row, as a single environment makes them of its seed."""
        return [
            None if one is None else seed_bits(seeding.np_random(one)[0])
            for one in super()._row_seeds(seed)
        ]

    def _advance(self, actions: Any) -> int:
        """Step all rows; the number of those in which something special happened."""
        actions = self._actions(actions)
        if self.games.failed:
            self.games.check()
        if self.options.illegal == "raise" and (bad := self._rows.bad_rows(actions)):
            self._refuse(bad, actions)
        special = self.games.run(self._workers, actions)
        if special >> 32:  # rows that wait
            self.games.serve()
        return special

    def _step(self, actions: Any) -> dict[str, Any]:
        self._own_arrays()
        info: dict[str, Any] = {}
        if self._advance(actions) and (ended := self._terminated | self._truncated).any():
            info.update(self._results(ended))
            self._add_final(info, ended)
        return info

    def _step_into(
        self, actions: Any, obs: Any, masks: Any, rewards: Any, dones: Any, to_move: Any, both: Any
    ) -> int:
        """... and `step_into`."""
        self._bind(obs, masks, rewards, dones, to_move, both)
        special = self._advance(actions)
        if special:
            np.logical_or(dones, self._truncated, out=dones)
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
        self._rows.results(
            ended, result["winner"], result["seat"], result["length"], result["turn"],
            result["health"], result["illegal"], result["returns"],
        )  # fmt: skip
        return result | {f"_{name}": ended for name in result}

    # --------------------------------------------------------------------------------- more

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
        return [self._rows.state(i) for i in range(self.num_envs)]

    def _viewer(self, i: int, state: State) -> int:
        """The learner's seat; the player to move if all are the caller's."""
        seat = self._rows.seat(i)
        return state.turn & 1 if seat < 0 else seat

    def _text(self, i: int) -> str:
        state = self._rows.state(i)
        return battle_text(state, self._viewer(i, state))

    def _frame(self, i: int) -> NDArray[np.uint8]:
        state = self._rows.state(i)
        return battle_frame(state, self._viewer(i, state))


class LocmVectorEnv(_Vector):
    """`num_envs` battles against opponents, in compiled code: ``gym.make_vec`` makes this one.

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
        See `Options`.

    Notes
    -----
    Row i does what `BattleEnv` with the same seed does. Infos are arrays, with ``_name`` telling
    which rows they are for, and only there if a row has ended.
    """

    _both = False

    def step_into(
        self,
        actions: NDArray[np.int64],
        *,
        obs: NDArray[Any],
        masks: NDArray[np.int8],
        rewards: NDArray[np.float32],
        dones: NDArray[np.bool_],
    ) -> int:
        """As `step`, but what comes of it is written into the caller's arrays.

        Parameters
        ----------
        actions : int64 array (num_envs,)
        obs, masks, rewards, dones : arrays
            C-contiguous, of the shapes and types of `step`; `dones` is True where an episode ended.

        Returns
        -------
        int
            0 if nothing has happened but ordinary steps; if not, episodes may have ended.

        Raises
        ------
        ValueError
            For an array that does not fit.
        """
        return self._step_into(actions, obs, masks, rewards, dones, None, None)

    def set_opponent(self, opponent: Any) -> None:
        """Play against another opponent from the next episodes on."""
        self.games.set_opponent(opponent)


class SelfPlayVectorEnv(_Vector):
    """`num_envs` battles of which the caller plays both sides.

    Parameters
    ----------
    As those of `LocmVectorEnv`; `opponent` and `seat` do not matter.

    Notes
    -----
    `step` moves in each row the player to move; it returns what the *next* one sees, the reward of
    the one **who moved** and, in the info, ``to_move`` (who is next), ``acted`` (who moved; -1 in a
    row that only began anew) and ``rewards_both`` (num_envs, 2). A player's shaping is paid when
    they are to move again, or at the end. `gae` computes advantages from these arrays.
    """

    _both = True

    @property
    def to_move(self) -> NDArray[np.int8]:
        """int8 array (num_envs,): who is to move."""
        return self._to_move.copy()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """As of `LocmVectorEnv`; the info has ``to_move``."""
        observations, info = super().reset(seed=seed, options=options)
        info["to_move"] = self.to_move
        return observations, info

    def _step(self, actions: Any) -> dict[str, Any]:
        info = super()._step(actions)
        both, to_move, acted = self._both_rewards, self._to_move, self._acted
        assert both is not None
        if self.copy:
            both, to_move, acted = both.copy(), to_move.copy(), acted.copy()
        info.update({"rewards_both": both, "to_move": to_move, "acted": acted})
        return info

    def step_into(
        self,
        actions: NDArray[np.int64],
        *,
        obs: NDArray[Any],
        masks: NDArray[np.int8],
        rewards: NDArray[np.float32],
        dones: NDArray[np.bool_],
        to_move: NDArray[np.int8],
        rewards_both: NDArray[np.float32] | None = None,
    ) -> int:
        """As `step`, but what comes of it is written into the caller's arrays.

        Parameters
        ----------
        actions : int64 array (num_envs,)
        obs, masks, rewards, dones, to_move, rewards_both : arrays
            C-contiguous, of the shapes and types of `step`; `dones` is True where an episode ended.

        Returns
        -------
        int
            0 if nothing has happened but ordinary steps; if not, episodes may have ended.

        Raises
        ------
        ValueError
            For an array that does not fit.
        """
        return self._step_into(actions, obs, masks, rewards, dones, to_move, rewards_both)
