"""Many episodes at once: the native vector environments of Gymnasium."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs.base import LocmEnvBase
from locmsim.envs.episode_match import EpisodeMatch
from locmsim.envs.games import seed_bits
from locmsim.envs.options import OptionValues, spaces_of, spelled_out
from locmsim.envs.rendering import show
from locmsim.envs.resets import by_row, mask_of

__all__ = ["ConstructVectorEnv", "DraftVectorEnv", "LocmVectorEnv", "MatchVectorEnv"]

_AUTORESETS: dict[AutoresetMode, Literal["next", "same", "disabled"]] = {
    AutoresetMode.NEXT_STEP: "next",
    AutoresetMode.SAME_STEP: "same",
    AutoresetMode.DISABLED: "disabled",
}


def _autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    """A mode by its value or its name, in any case; ``ValueError`` tells both."""
    for known in AutoresetMode:
        names = known.name.lower(), known.value.lower()
        if mode is known or (isinstance(mode, str) and mode.lower() in names):
            return known
    raise ValueError(
        f"autoreset_mode: expected {', '.join(known.name for known in AutoresetMode)}, got {mode!r}"
    )


@spelled_out()
class LocmVectorEnv(LocmEnvBase, VectorEnv[Any, Any, Any]):
    """`num_envs` episodes side by side, stepped in compiled code: what ``gym.make_vec`` makes.

    Parameters
    ----------
    num_envs : int
        Number of rows.
    threads : int
        Threads that share the rows. Results do not depend on it.
    autoreset_mode : gymnasium.vector.AutoresetMode or str
        SAME_STEP: the observation of an ended row is that of its next episode.
    copy : bool
        False: the returned arrays are the buffers that the next step overwrites.
    final_obs : bool
        Whether the info has ``final_obs``, the last observations of ended rows (SAME_STEP).
    render_mode : {"ansi", "human", "rgb_array"}, optional
        "rgb_array" needs the extra ``png``.
    options

    Raises
    ------
    ValueError
        For an option that is unknown or has a value that cannot be used.

    Notes
    -----
    Row i does what `LocmEnv` does with the same seed. The info has arrays, and only if a row has
    ended; ``_name`` tells which rows have ``name``.

    Where the caller plays both seats, `step` moves the player to move. It returns what the *next*
    one sees and the reward of the one **who moved**. The info has ``to_move`` (who is next),
    ``acted`` (who moved; -1 in a row that only began anew) and ``rewards_both`` (num_envs, 2). A
    player's shaping is paid when they are to move again, or at the end, so that only
    ``rewards_both`` has it: use that, and `gae` with ``mode="per-player"``. In rows in which
    somebody else plays the other seat, ``to_move`` is the caller's seat, and the entry of
    ``rewards_both`` for the other one is without shaping.
    """

    metadata = {  # noqa: RUF012
        **LocmEnvBase.metadata,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        final_obs: bool = False,
        render_mode: str | None = None,
        **options: Unpack[OptionValues],
    ) -> None:
        super().__init__()
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if value < 1:
                raise ValueError(f"{name}: expected at least 1, got {value}")
        self.num_envs = num_envs
        self.copy = copy
        self.autoreset_mode = _autoreset(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._play(
            num_envs,
            options,
            render_mode,
            threads=threads,
            autoreset=_AUTORESETS[self.autoreset_mode],
            final_obs=final_obs,
        )
        self.single_observation_space, self.single_action_space = spaces_of(self.options)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False
        self.games.bind()

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
            ``match``, ``cards``, ``decks``, ``state``, ``seat`` and ``player``, see
            `Games.begin_rows`: a value for all rows, or a sequence with one for each, in which None
            leaves a row to its seed. ``state`` may be a `StateBatch`. ``reset_mask``: a bool array
            of the rows that begin anew.

        Returns
        -------
        observations, info
            The info has ``to_move`` if the caller may play both seats.

        Raises
        ------
        ValueError
            For a value that cannot be used. All rows are as they were before.
        """
        rows = mask_of(options, self.num_envs)
        generator = self._np_random, self._np_random_seed
        self._own_arrays()
        try:
            seeds, wanted = self._seeds(seed), by_row(options, self.num_envs)
            self.games.begin_rows(
                rows, [seeds[i] for i in rows], wanted and [wanted[i] for i in rows]
            )
        except BaseException:
            self._np_random, self._np_random_seed = generator
            raise
        for name in ("terminated", "truncated", "rewards"):
            self.games.arrays[name][rows] = 0
        self._started = True
        info: dict[str, Any] = {}
        if self.games.players.has_caller_twice():
            info["to_move"] = self.to_move
        if self.options.mask == "info":
            info["action_mask"] = self.games.arrays["masks"].copy()
        if self.render_mode == "human":
            self.render()
        return self.games.observed(self.copy), info

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[Any]:
        """What each row begins with; None goes on. Without a seed the first ones are drawn."""
        n = self.num_envs
        if seed is None and self._started:
            return [None] * n
        if isinstance(seed, int | np.integer):
            self._np_random, self._np_random_seed = seeding.np_random(int(seed))
            seed = [int(seed) + i for i in range(n)]
        seeds = [seed_bits(self.np_random) for _ in range(n)] if seed is None else seed
        if len(seeds) != n:
            raise ValueError(f"seed: expected {n}, got {len(seeds)}")
        return [
            None if one is None else self.games.start_of(seeding.np_random(one)[0]) for one in seeds
        ]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in each row.

        Parameters
        ----------
        actions : int64 array (num_envs,)

        Returns
        -------
        observations, rewards (float32), terminated (bool), truncated (bool), info

        Raises
        ------
        ResetNeeded
            After an opponent raised an exception; it names the rows to be reset.
        IllegalActionError
            With ``illegal="raise"``. Nothing has changed then.
        """
        both = self.games.players.has_caller_twice()
        if both:
            self._check_rewards()
        self._own_arrays()
        arrays = self.games.arrays
        info: dict[str, Any] = {}
        special = self.games.step(actions)
        if callable(self.options.reward):
            arrays["rewards"][:] = self.games.reward_of(arrays)
        if special and (ended := arrays["terminated"] | arrays["truncated"]).any():
            info.update(self.games.end_infos(ended))
        kept = ("rewards_both", "to_move", "acted") if both else ()
        info.update((name, self._returned(name)) for name in kept)
        if self.options.mask == "info":
            info["action_mask"] = self._returned("masks")
        if self.render_mode == "human":
            self.render()
        ends = (self._returned(name) for name in ("rewards", "terminated", "truncated"))
        return self.games.observed(self.copy), *ends, info

    def _returned(self, name: str) -> NDArray[Any]:
        """An array for the caller."""
        array = self.games.arrays[name]
        return array.copy() if self.copy else array

    def _check_rewards(self) -> None:
        if self.games.shaped:
            raise ValueError(
                "rewards: where the caller plays both seats, shaping is in rewards_both only: call"
                " step_into with rewards_both, and without rewards"
            )

    def _own_arrays(self) -> None:
        if self.games.bind() and self._started:
            self.games.rows.show_all()  # what other arrays were shown

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
        """Take an action in each row, as `step`, and write the results into the caller's arrays.

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
            As `obs`: written where an episode ended (SAME_STEP); other rows are left as they are.
        state : int8 array (num_envs, `HIDDEN_SIZE`), optional
            All cards in hands and decks, see `Options.privileged`.

        Returns
        -------
        int
            0 if no episode has ended. Any other number means that some may have.

        Raises
        ------
        ValueError
            For an array that does not fit; for `rewards` with shaping where the caller plays both
            seats.
        """
        possible = {
            "obs": obs, "masks": masks, "rewards": rewards, "rewards_both": rewards_both,
            "terminated": terminated, "truncated": truncated, "to_move": to_move, "acted": acted,
            "winner": winner, "length": length, "final_obs": final_obs, "state": state,
        }  # fmt: skip
        arrays: dict[str, Any] = {
            name: array for name, array in possible.items() if array is not None
        }
        if rewards is not None and self.games.players.has_caller_twice():
            self._check_rewards()
        own = callable(self.options.reward) and rewards is not None
        if own:  # the function is shown all arrays
            arrays = {**self.games.arrays, **arrays}
        changed = self.games.bind(arrays)
        special = self.games.step(actions)
        if own:
            arrays["rewards"][:] = self.games.reward_of(arrays)
        if changed and self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self.games.rows.show_all(over=True)  # rows that did nothing
        return special

    def render(self) -> Any:
        """Show the caller's view of each row: texts, printed with "human", or uint8 arrays."""
        games, mode = self.games, self.render_mode
        rows = range(self.num_envs if mode is not None else 0)
        shown = [show(mode, partial(games.text, i), partial(games.frame, i)) for i in rows]
        return tuple(shown) if mode in ("ansi", "rgb_array") else None

    @property
    def to_move(self) -> NDArray[np.int8]:
        """int8 array (num_envs,): who is to move; the caller's seat where they have one."""
        out = np.empty(self.num_envs, np.int8)
        self.games.rows.views.movers(out)
        return out

    def action_masks(self) -> NDArray[np.bool_]:
        """Return a bool array (num_envs, actions) of the legal actions."""
        out = np.empty((self.num_envs, self.games.rows.n_actions), np.bool_)
        self.games.rows.views.masks(out)
        return out

    def match(self, row: int) -> EpisodeMatch | None:
        """Return the match of a row's last finished episode; None if it began with a position."""
        return self.games.match(row)

    def sample(self, seed: int | None = None) -> NDArray[np.int64]:
        """Return a uniformly random legal action for each row."""
        out = np.empty(self.num_envs, np.int64)
        self.games.rows.sample(seed_bits(self.np_random) if seed is None else seed, out)
        return out

    def states(self) -> list[State]:
        """Copies of the states of all rows, with what is hidden from the caller."""
        return [self.games.rows.views.state(i) for i in range(self.num_envs)]

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if "games" in self.__dict__:  # the constructor raised no exception
            self.games.close()


@spelled_out("Construct")
class ConstructVectorEnv(LocmVectorEnv):
    """`num_envs` times ``locmsim/Construct-v0``."""

    _name = "Construct"


@spelled_out("Draft")
class DraftVectorEnv(LocmVectorEnv):
    """`num_envs` times ``locmsim/Draft-v0``."""

    _name = "Draft"


@spelled_out("Match")
class MatchVectorEnv(LocmVectorEnv):
    """`num_envs` times ``locmsim/Match-v0``."""

    _name = "Match"
