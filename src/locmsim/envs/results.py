"""Results of finished episodes: infos, matches, and rewards that Python computes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.draft_value import default_draft_value
from locmsim.decks.value import default_value
from locmsim.envs._rows import Views
from locmsim.envs.episodes import EpisodeMatch, Episodes
from locmsim.rules.rulesets import DECK_SIZE
from locmsim.search._engine import tanh


class Results:
    """The results of the rows of some episodes.

    Parameters
    ----------
    episodes : Episodes
    """

    def __init__(self, episodes: Episodes) -> None:
        self._episodes = episodes
        self._options = episodes.options
        self._deck_weight = episodes.deck_weight
        #: Whether `pay` has something to do.
        self.pays = callable(self._options.reward) or self._deck_weight != 0

    @property
    def _views(self) -> Views:
        return self._episodes.rows.views  # no pickle has them

    def match(self, row: int) -> EpisodeMatch | None:
        """Of the row's last finished episode; None if it began with a given position."""
        match = self._views.result(row).match
        return None if match is None else self._episodes.match_of(*match)

    def deck_values(self, row: int) -> NDArray[np.float32]:
        """Return the value networks' ratings of both decks of the row's last finished episode."""
        dealt = self._views.result(row).match
        assert dealt is not None
        _, seeds, decks, _ = dealt
        cards, rules = self._episodes.sets.of(seeds[0])[1], self._episodes.rules
        value = default_draft_value(rules.name) if rules.draft else default_value()
        assert value is not None  # each rule set has one in the package
        both = (decks[:DECK_SIZE], decks[DECK_SIZE:])
        return np.array([value([cards[i] for i in deck]) for deck in both], np.float32)

    def info(self, row: int) -> dict[str, Any]:
        """Return the info about the row's last finished episode."""
        winner, seat, length, turn, health, illegal, _, score, match = self._views.result(row)
        # Filled one by one: NumPy takes long to look at a tuple.
        healths, returns = np.empty(2, np.int32), np.empty(2, np.float32)
        healths[0], healths[1] = health
        returns[0], returns[1] = score
        info: dict[str, Any] = {
            "turn": turn,
            "seat": seat,
            "winner": winner,
            "returns": returns,
            "length": length,
            "illegal": illegal,
            "health": healths,
            "match": None if match is None else self._episodes.match_of(*match),
        }
        if self._options.episode == "choice" and not illegal:
            info["winners"] = np.array(self._views.winners(row), np.int8)
            if self._options.deck_values:
                info["deck_values"] = self.deck_values(row)
        return info

    def infos(self, ended: NDArray[np.bool_], final_obs: NDArray[Any] | None) -> dict[str, Any]:
        """Return the infos of all finished rows as arrays; ``_name`` marks the rows with one.

        `final_obs` are their last observations, if they are to be in it.
        """
        n = self._episodes.n
        info: dict[str, Any] = {
            "winner": np.zeros(n, np.int8),
            "seat": np.zeros(n, np.int8),
            "length": np.zeros(n, np.int32),
            "turn": np.zeros(n, np.int32),
            "health": np.zeros((n, 2), np.int32),
            "illegal": np.zeros(n, np.bool_),
            "returns": np.zeros((n, 2), np.float32),
        }
        self._views.results(ended, *info.values())
        if self._options.episode == "choice":
            info["winners"] = np.zeros((n, self._options.battles), np.int8)
            if self._options.deck_values:
                info["deck_values"] = np.zeros((n, 2), np.float32)
            for i in np.flatnonzero(ended & ~info["illegal"]).tolist():
                info["winners"][i] = self._views.winners(i)
                if self._options.deck_values:
                    info["deck_values"][i] = self.deck_values(i)
        if final_obs is not None:
            info["final_obs"] = self._final_obs(final_obs.copy())
        return info | {f"_{name}": ended for name in info}

    def _final_obs(self, final: NDArray[Any]) -> Any:
        """The last observations of ended rows, in the form of observations without a ``state``."""
        if self._options.mask == "info":
            return final
        masks = np.zeros((self._episodes.n, self._episodes.rows.n_actions), np.int8)
        masks[:, 0] = 1
        return {"observation": final, "action_mask": masks}

    def pay(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Complete the rewards of a step: by the values of decks, or by the function that is the
        option `reward`, which is shown all arrays."""
        if self._deck_weight:
            for row in np.flatnonzero(arrays["terminated"]).tolist():
                worth = self._deck_weight * self._expected(row)
                both = (worth, -worth)
                arrays["rewards"][row] += both[arrays["acted"][row]]
                arrays["rewards_both"][row] += both
        elif callable(self._options.reward):
            rewards = np.asarray(self._options.reward(self._with_final(arrays)), np.float32)
            if rewards.shape != (self._episodes.n,):
                raise ValueError(
                    f"reward: expected shape ({self._episodes.n},), got {rewards.shape}"
                )
            arrays["rewards"][:] = rewards

    def _with_final(self, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Add ``final_obs``: the positions after the step, before any row has begun anew."""
        final = arrays["obs"]
        if "final_obs" in arrays:
            ended = arrays["terminated"] | arrays["truncated"]
            if ended.any():
                final = np.where(ended[:, None], arrays["final_obs"], final)
        return {**arrays, "final_obs": final}

    def _expected(self, row: int) -> float:
        """The result that player 0 may expect of the row's last finished choice, -1 to 1."""
        result = self._views.result(row)
        if result.illegal:  # the choice is lost as a battle would be, whatever was taken so far
            return result.returns[0]
        mine, theirs = self.deck_values(row).tolist()
        return tanh((mine - theirs) / 2)
