"""Many choices or whole matches at once: the vector environments of `locmsim.envs.choice`."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs.battle import seed_bits
from locmsim.envs.choice import ChoiceEnv, ConstructEnv, DraftEnv, MatchEnv
from locmsim.envs.games import Games, Options, options_of
from locmsim.envs.vector import VectorBase
from locmsim.envs.workers import Workers
from locmsim.game.layouts import Layout

__all__ = ["ConstructVectorEnv", "DraftVectorEnv", "MatchVectorEnv"]

#: What a single environment's info has and that of all rows has not, or in another form.
_NOT_IN_INFO = ("action_mask", "match")


class _Rows(VectorBase):
    """Rows that are single environments, which write into the arrays of all."""

    def _make_rows(
        self, options: dict[str, Any]
    ) -> tuple[Options, spaces.Space[Any], spaces.Discrete]:
        self._rows = rows = self._singles(options)
        self._over = np.ones(self.num_envs, np.bool_)
        self._matches: list[Any] = [None] * self.num_envs
        return rows[0].options, rows[0].observation_space, rows[0].action_space

    def _singles(self, options: dict[str, Any]) -> list[Any]:
        """The environments."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------ episodes

    def _begin_row(
        self, i: int, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> None:
        self._put(i, *self._rows[i].reset(seed=seed, options=options))
        self._over[i] = False

    def _keep(self, i: int) -> Any:
        hidden = None if self._hidden is None else self._hidden[i].copy()
        shown = self._observations[i].copy(), self._masks[i].copy(), hidden, self._over[i]
        return self._rows[i].kept(), shown

    def _put_back(self, i: int, kept: Any) -> None:
        row, (self._observations[i], self._masks[i], hidden, self._over[i]) = kept
        self._rows[i].put_back(row)
        if self._hidden is not None:
            self._hidden[i] = hidden

    def _put(self, i: int, seen: Any, info: dict[str, Any]) -> None:
        """Write what a row's environment shows into the arrays."""
        if self._in_info:
            self._observations[i], self._masks[i] = seen, info["action_mask"]
            return
        self._observations[i], self._masks[i] = seen["observation"], seen["action_mask"]
        if self._hidden is not None:
            self._hidden[i] = seen["state"]

    def _step(self, actions: Any) -> dict[str, Any]:
        actions = self._actions(actions)
        if self.options.illegal == "raise":
            size = self._masks.shape[1]
            legal = self._masks[np.arange(self.num_envs), actions.clip(0, size - 1)] == 1
            bad = np.flatnonzero(~self._over & ~(legal & (actions >= 0) & (actions < size)))
            if len(bad):
                self._refuse(bad.tolist(), actions)
        self._rewards[:] = 0
        self._terminated[:] = self._truncated[:] = False
        again = self._over.copy()
        results = self._step_rows(np.flatnonzero(~again), actions)
        info: dict[str, Any] = {}
        for i, result in results:
            self._over[i] = True
            self._matches[i] = result.get("match")
            info = self._add_info(
                info, {k: v for k, v in result.items() if k not in _NOT_IN_INFO}, i
            )
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                if self._final is not None:
                    self._final[i] = self._observations[i]
                self._begin_row(i)
        if results:
            self._add_final(info, self._terminated | self._truncated)
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            for i in np.flatnonzero(again).tolist():
                self._begin_row(i)
        return info

    def _step_rows(
        self, rows: NDArray[np.intp], actions: NDArray[np.int64]
    ) -> list[tuple[int, dict[str, Any]]]:
        """Actions of rows that are not over; the info of those that have ended."""
        raise NotImplementedError

    def _take(self, i: int, result: Any) -> list[tuple[int, dict[str, Any]]]:
        """Write what a row's own step has returned; its info if it has ended."""
        seen, self._rewards[i], self._terminated[i], self._truncated[i], info = result
        self._put(i, seen, info)
        return [(i, info)] if self._terminated[i] or self._truncated[i] else []

    # --------------------------------------------------------------------------------- more

    def match(self, row: int) -> Any:
        """How the last finished episode of a row came about, as its info says it for one."""
        return self._matches[row]

    def sample(self, seed: int | None = None) -> NDArray[np.int64]:
        """A uniformly random legal action for each row."""
        random = self.np_random if seed is None else np.random.default_rng(seed)
        keys = random.random(self._masks.shape)
        best: NDArray[np.int64] = np.where(self._masks == 1, keys, -1.0).argmax(axis=1)
        return best

    def _text(self, i: int) -> str:
        text: str = self._rows[i].text()
        return text

    def _frame(self, i: int) -> NDArray[np.uint8]:
        frame: NDArray[np.uint8] = self._rows[i].frame()
        return frame


class _ChoiceVector(_Rows):
    """Rows of thirty picks, whose battles `threads` threads play."""

    _single: type[ChoiceEnv]

    def _singles(self, options: dict[str, Any]) -> list[Any]:
        return [self._single(**options) for _ in range(self.num_envs)]

    def _start(self) -> None:
        self._process = os.getpid()
        self._workers = ThreadPoolExecutor(self.threads)

    def _step_rows(
        self, rows: NDArray[np.intp], actions: NDArray[np.int64]
    ) -> list[tuple[int, dict[str, Any]]]:
        def step(i: int) -> Any:
            return self._rows[i].step(actions[i])

        if self._process != os.getpid():
            self._start()  # a process that was forked has none of the threads
        last = [int(i) for i in rows if self._rows[i].last_pick]
        results = dict(zip(last, self._workers.map(step, last), strict=True))
        ended: list[tuple[int, dict[str, Any]]] = []
        for i in map(int, rows):
            ended += self._take(i, results[i] if i in results else step(i))
        return ended

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if self._workers is not None:
            self._workers.shutdown()


class DraftVectorEnv(_ChoiceVector):
    """`num_envs` times ``locmsim/Draft-v0``: ``gym.make_vec`` makes this one.

    Parameters
    ----------
    num_envs, threads, autoreset_mode, copy, final_obs, render_mode
        As of `locmsim.envs.LocmVectorEnv`; the threads play battles.
    **options
        Those of `DraftEnv`.

    Notes
    -----
    Row i does what `DraftEnv` with the same seed does. Infos are arrays, with ``_name`` telling
    which rows they are for, and only there if a row has ended; `match` has how that came about.
    """

    _single = DraftEnv


class ConstructVectorEnv(_ChoiceVector):
    """`num_envs` times ``locmsim/Construct-v0``: as `DraftVectorEnv`, of `ConstructEnv`."""

    _single = ConstructEnv


# -------------------------------------------------------------------------------- whole matches


class _RowBattle:
    """The battle of a row, as far as `MatchEnv` asks for it."""

    def __init__(self, owner: "MatchVectorEnv", row: int) -> None:
        self._owner = owner
        self._row = row

    @property
    def action_space(self) -> spaces.Discrete:
        return spaces.Discrete(self._owner.games.rows.n_actions)

    @property
    def layout(self) -> Layout:
        return self._owner.games.layout

    @property
    def state(self) -> State:
        return self._owner.games.rows.state(self._row)

    def reset(self, *, seed: int, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin the battle, as `BattleEnv` does."""
        owner, i = self._owner, self._row
        owner.games.begin(i, seed_bits(seeding.np_random(seed)[0]), options)
        rows = owner.games.rows
        return owner.battle_seen(i), {"turn": rows.turn(i), "seat": rows.seat(i)}


class _RowMatch(MatchEnv):
    """A row's choice phase; its battle is one of many."""

    def __init__(self, battle: _RowBattle, options: Options) -> None:
        self._set_up(battle, options)


class MatchVectorEnv(_Rows):
    """`num_envs` times ``locmsim/Match-v0``: ``gym.make_vec`` makes this one.

    Parameters
    ----------
    num_envs, threads, autoreset_mode, copy, final_obs, render_mode
        As of `locmsim.envs.LocmVectorEnv`; the threads share the rows that are in their battles.
    **options
        Those of `MatchEnv`.

    Notes
    -----
    Row i does what `MatchEnv` with the same seed does; its info says how an episode ended, in
    arrays, and `match` how it came about. Battles are stepped in compiled code, all at once.
    """

    def _singles(self, options: dict[str, Any]) -> list[Any]:
        n, chosen = self.num_envs, options_of(options)
        self.games = Games(n, chosen)
        self._size = self.games.layout.shape[0]
        self._battle_observations = np.zeros((n, self._size), np.int8)
        self._battle_masks = np.zeros((n, self.games.rows.n_actions), np.int8)
        self._battle_rewards = np.zeros(n, np.float32)
        self._battle_ends = np.zeros((2, n), np.bool_)
        return [_RowMatch(_RowBattle(self, i), chosen) for i in range(n)]

    def _start(self) -> None:
        self.games.rows.bind(
            self._battle_observations, self._battle_masks, self._battle_rewards,
            terminated=self._battle_ends[0], truncated=self._battle_ends[1], state=self._hidden,
        )  # fmt: skip
        self._workers = Workers(self.games.rows, self.threads)

    def battle_seen(self, i: int) -> dict[str, Any]:
        """What a row's battle shows now."""
        seen = {"observation": self._battle_observations[i], "action_mask": self._battle_masks[i]}
        return seen if self._hidden is None else {**seen, "state": self._hidden[i]}

    def _step_rows(
        self, rows: NDArray[np.intp], actions: NDArray[np.int64]
    ) -> list[tuple[int, dict[str, Any]]]:
        ended: list[tuple[int, dict[str, Any]]] = []
        fighting = np.array([i for i in rows if self._rows[i].phase == "battle"], np.intp)
        if len(fighting):
            ended += self._step_battles(fighting, actions)
        for i in map(int, np.setdiff1d(rows, fighting, assume_unique=True)):
            ended += self._take(i, self._rows[i].step(actions[i]))
        return sorted(ended, key=lambda end: end[0])

    def _step_battles(
        self, rows: NDArray[np.intp], actions: NDArray[np.int64]
    ) -> list[tuple[int, dict[str, Any]]]:
        n_actions = self.games.rows.n_actions
        self.games.check()
        special = self.games.run(self._workers, np.where(actions < n_actions, actions, -1))
        if special >> 32:  # rows that wait
            self.games.serve()
        self._observations[rows, : self._size] = self._battle_observations[rows]
        self._masks[rows, :n_actions] = self._battle_masks[rows]
        self._rewards[rows] = self._battle_rewards[rows]
        self._terminated[rows], self._truncated[rows] = self._battle_ends[:, rows]
        ended = rows[self._terminated[rows] | self._truncated[rows]]
        for i in ended:
            self._rows[i].phase = "over"
        return [(int(i), self.games.end_info(int(i))) for i in ended]

    def set_opponent(self, opponent: Any) -> None:
        """Play against another opponent from the next battles on."""
        self.games.players.replace(opponent)
