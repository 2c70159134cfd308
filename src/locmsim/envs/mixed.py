"""Self-play against frozen opponents: each network plays its rows in one batch."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from locmsim.envs.vector import SelfPlayVectorEnv

__all__ = ["Mixed"]


class BatchPolicy(Protocol):
    """What plays many rows at once, such as `locmsim.policy.Policy`."""

    def act_batch(
        self, observations: NDArray[Any], masks: NDArray[np.int8], *, seed: int = 0
    ) -> NDArray[np.int64]:
        """An action for each row."""


class Mixed:
    """Rows of a `SelfPlayVectorEnv` in which frozen policies play one side.

    Parameters
    ----------
    venv : SelfPlayVectorEnv
        With SAME_STEP resets.
    learner_rows : int
        The learner plays both sides of the first rows, and one side of all others.
    policies : sequence
        What plays the other side there; row i has policy ``i % len(policies)``. The seat changes
        from row to row and from episode to episode.
    seed : int
        For what the policies draw.

    Notes
    -----
    `act` gives the actions of the frozen ones; `learner` says where the learner is to act. A step
    of the environment is then taken for all rows at once, so that no row waits.
    """

    def __init__(
        self,
        venv: SelfPlayVectorEnv,
        learner_rows: int,
        policies: Sequence[BatchPolicy],
        *,
        seed: int = 0,
    ) -> None:
        if not 0 <= learner_rows <= venv.num_envs:
            raise ValueError(f"learner_rows: expected 0..{venv.num_envs}, got {learner_rows}")
        if learner_rows < venv.num_envs and not policies:
            raise ValueError("policies: expected at least one for the rows without a learner")
        self.venv = venv
        self.policies = list(policies)
        self._random = np.random.default_rng(seed)
        rows = np.arange(venv.num_envs)
        #: int8 array: the learner's seat in each row, -1 for both.
        self.seats = np.where(rows < learner_rows, -1, rows // max(1, len(policies)) % 2).astype(
            np.int8
        )
        self._policy = rows % max(1, len(policies))

    def learner(self, to_move: NDArray[np.int8]) -> NDArray[np.bool_]:
        """bool array: the rows in which the learner is to act."""
        rows: NDArray[np.bool_] = (self.seats < 0) | (self.seats == to_move)
        return rows

    def act(
        self,
        actions: NDArray[np.int64],
        observations: NDArray[Any],
        masks: NDArray[np.int8],
        to_move: NDArray[np.int8],
    ) -> NDArray[np.int64]:
        """Replace the actions of rows in which a frozen policy is to act; returns `actions`."""
        frozen = ~self.learner(to_move)
        for number, policy in enumerate(self.policies):
            rows = np.flatnonzero(frozen & (self._policy == number))
            if len(rows):
                actions[rows] = policy.act_batch(
                    observations[rows], masks[rows], seed=int(self._random.integers(1 << 62))
                )
        return actions

    def ended(self, dones: NDArray[np.bool_]) -> None:
        """Change seats where an episode has ended."""
        change = dones & (self.seats >= 0)
        self.seats[change] = 1 - self.seats[change]
