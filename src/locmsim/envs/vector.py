"""Many episodes at once: the native vector environments of Gymnasium."""

from collections.abc import Sequence
from typing import Annotated, Any, Unpack

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.envs.base import LocmEnvBase
from locmsim.envs.episodes import EpisodeMatch
from locmsim.envs.options import Options, OptionValues, RenderMode, spaces_of
from locmsim.envs.resets import autoreset_of, by_row, drawn_seed, mask_of, stream_bits
from locmsim.options.checks import MOST_ROWS, MOST_THREADS
from locmsim.options.declarations import Option, documented


@documented(Options)
class LocmVectorEnv(LocmEnvBase, VectorEnv[Any, Any, Any]):
    """`num_envs` episodes side by side, stepped in compiled code: what ``gym.make_vec`` makes.

    Parameters
    ----------
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
        num_envs: Annotated[int, Option("number of rows", 1, MOST_ROWS)] = 1,
        *,
        threads: Annotated[
            int,
            Option(
                "number of threads that share the rows",
                1,
                MOST_THREADS,
                more="Results do not depend on it.",
            ),
        ] = 1,
        autoreset_mode: Annotated[
            AutoresetMode | str,
            Option(
                "when a row whose episode has ended begins the next one",
                kind="gymnasium.vector.AutoresetMode or str",
                more="SAME_STEP: the observation of an ended row is that of its next episode.",
            ),
        ] = AutoresetMode.SAME_STEP,
        copy: Annotated[
            bool,
            Option(
                "whether the returned arrays are copies",
                more="Otherwise they are the buffers that the next step overwrites.",
            ),
        ] = True,
        final_obs: Annotated[
            bool,
            Option(
                "whether the info has ``final_obs``, the last observations of ended rows"
                " (SAME_STEP), in the form of observations; without the ``state`` of"
                " `Options.privileged`"
            ),
        ] = False,
        render_mode: RenderMode = None,
        **options: Unpack[OptionValues],
    ) -> None:
        super().__init__()
        self.num_envs = num_envs
        self.copy = copy
        self.autoreset_mode, autoreset = autoreset_of(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        how = {"threads": threads, "autoreset": autoreset, "final_obs": final_obs}
        self._play(num_envs, options, render_mode, **how)
        self.single_observation_space, self.single_action_space = spaces_of(self.options)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False
        self.games.bind()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | NDArray[np.integer[Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each row.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Row i has `seed` + i, or its own of a sequence, and then does what a single environment
            with that seed does. So seeds that are close to each other share most of their episodes:
            leave at least `num_envs` between those of two environments or experiments.
        options : dict, optional
            ``match``, ``cards``, ``decks``, ``state``, ``seat`` and ``player``, see
            `Games.begin`: a value for all rows, or a sequence with one for each, in which None
            leaves a row to its seed. ``state`` may be a `StateBatch`. ``reset_mask``: a bool array
            of the rows that begin anew; the first reset begins all rows.

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
        if not self._started and len(rows) < self.num_envs:
            raise ValueError("reset_mask: the first reset has to begin all rows")
        generator = self._np_random, self._np_random_seed
        self._own_arrays()
        try:
            starts, wanted = self._starts(seed), by_row(options, self.num_envs)
            self.games.begin(rows, [starts[i] for i in rows], wanted and [wanted[i] for i in rows])
        except BaseException:
            self._np_random, self._np_random_seed = generator
            raise
        self._started = True
        return self._shown(("to_move",) if self.games.players.has_caller_twice() else ())

    def _starts(self, seed: Any) -> Sequence[int | None]:
        """What each row begins with; None goes on. Without a seed the first ones are drawn."""
        if seed is None and self._started:
            return [None] * self.num_envs
        if seed is None:
            seed = [drawn_seed(self.np_random) for _ in range(self.num_envs)]
        bits = stream_bits(seed, self.num_envs)
        if not isinstance(seed, Sequence | np.ndarray):
            self._np_random, self._np_random_seed = seeding.np_random(int(seed))
        return bits

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
            Before the first `reset`, or after an opponent raised an exception; then it names the
            rows to be reset.
        IllegalActionError
            With ``illegal="raise"``. Nothing has changed then.
        RuntimeError
            While another thread steps or resets the environment.

        Notes
        -----
        Who is paid when, and what is reset when, by `autoreset_mode`. In the row of an episode that
        this step ends:

        ====================================  ================  ==================  ==============
        ..                                    SAME_STEP         NEXT_STEP           DISABLED
        ====================================  ================  ==================  ==============
        observation, mask, to_move            next episode's    the last ones       the last ones
        final_obs in the info                 the last ones     missing             missing
        final_obs of a reward function        the last ones     the last ones       the last ones
        reward, terminated, truncated, acted  this episode's    this episode's      this episode's
        rewards_both, winner, health, match   this episode's    this episode's      this episode's
        the step after it                     acts in the next  begins the next,    does nothing
                                              episode           reward 0, acted -1  until a reset
        ====================================  ================  ==================  ==============

        ``final_obs`` is in the info if the environment was made with it.
        """
        self.games.check_rewards()
        both = self.games.players.has_caller_twice()  # after the step other seats may be played
        self._own_arrays()
        special = self.games.step(actions)
        arrays = self.games.arrays
        observations, info = self._shown(("rewards_both", "to_move", "acted") if both else ())
        if special and (ended := arrays["terminated"] | arrays["truncated"]).any():
            final = arrays["final_obs"] if self.games.shows_final else None
            info.update(self.games.results.infos(ended, final))
        ends = (self._returned(name) for name in ("rewards", "terminated", "truncated"))
        return observations, *ends, info

    def _shown(self, names: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Observations, and an info with these arrays."""
        info = {name: self._returned(name) for name in names}
        if self.options.mask == "info":
            info["action_mask"] = self._returned("masks")
        if self.render_mode == "human":
            self.render()
        return self.games.observed(self.copy), info

    def _returned(self, name: str) -> NDArray[Any]:
        """Return an array for the caller."""
        array = self.games.arrays[name]
        return array.copy() if self.copy else array

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
        ResetNeeded, RuntimeError
            As `step`.
        """
        possible = {
            "obs": obs, "masks": masks, "rewards": rewards, "rewards_both": rewards_both,
            "terminated": terminated, "truncated": truncated, "to_move": to_move, "acted": acted,
            "winner": winner, "length": length, "final_obs": final_obs, "state": state,
        }  # fmt: skip
        arrays: dict[str, Any] = {k: v for k, v in possible.items() if v is not None}
        if rewards is not None:
            self.games.check_rewards()
        changed = self.games.bind(arrays)
        special = self.games.step(actions)
        if changed and self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self.games.rows.show_all(over=True)  # rows that did nothing
        return special

    def render(self) -> Any:
        """Show the caller's view of each row: texts, printed with "human", or uint8 arrays."""
        shown = [self.games.shown(i, self.render_mode) for i in range(self.num_envs)]
        return tuple(shown) if self.render_mode in ("ansi", "rgb_array") else None

    @property
    def to_move(self) -> NDArray[np.int8]:
        """Who is to move, int8 (num_envs,); the caller's seat where they have one."""
        return self.games.movers()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, a bool array (num_envs, actions)."""
        return self.games.masks()

    def match(self, row: int) -> EpisodeMatch | None:
        """Return the match of a row's last finished episode; None if it began with a position.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        return self.games.results.match(row)

    def sample(self, seed: int | None = None) -> NDArray[np.int64]:
        """Return a uniformly random legal action for each row.

        Parameters
        ----------
        seed : int, optional
            By default one is drawn from `np_random`.

        Returns
        -------
        int64 array (num_envs,)
        """
        return self.games.sample(drawn_seed(self.np_random) if seed is None else seed)

    def states(self) -> list[State]:
        """Copies of the states of all rows, with what is hidden from the caller."""
        return [self.games.rows.views.state(i) for i in range(self.num_envs)]

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if "games" in self.__dict__:  # the constructor raised no exception
            self.games.close()
