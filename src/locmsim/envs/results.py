"""Results of finished episodes: infos, matches, and rewards that Python computes."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.draft_value import default_draft_value
from locmsim.decks.value import default_value
from locmsim.envs._views import Views
from locmsim.game.match import Match
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import DECK_SIZE, get_rules
from locmsim.search._values import tanh

if TYPE_CHECKING:
    from locmsim.envs.games import Games

__all__ = ["EpisodeMatch", "Results"]


class EpisodeMatch(Mapping[str, Any]):
    """How an episode came about, so that the referee can play it again: a mapping.

    ``rules``; ``params``: the referee's own parameters; ``choices``: for each player the answer
    lines of the choice phase; ``cards``: rows of the card list if it follows from no seed. None is
    known of an episode that began with a given position. Texts are made when they are asked for.

    Parameters
    ----------
    rules : str
    result : tuple
        Seed, derived seeds, both decks as indices into the cards, and the offers.
    cards : list of Card
        The cards of the episode.
    fixed : bool
        Whether the cards follow from no seed.
    """

    def __init__(self, rules: str, result: tuple[Any, ...], cards: list[Card], fixed: bool) -> None:
        self._rules = rules
        self._result = result
        self._cards = cards
        self._fixed_cards = fixed
        self._log: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._log is None:
            seed, seeds, decks, triplets = self._result
            if isinstance(decks, bytes):  # most matches are never looked at
                decks = np.frombuffer(decks, np.uint8).reshape(2, -1).tolist()
                triplets = np.frombuffer(triplets, np.uint8).reshape(-1, 3).tolist()
            rules = get_rules(self._rules)
            params: dict[str, Any] = {
                "seed": seed,
                **dict(zip(rules.seed_names, seeds, strict=True)),
            }
            bases = [card.base_id for card in self._cards]
            if rules.draft:
                if any(card not in triplet for deck in decks
                       for card, triplet in zip(deck, triplets, strict=True)):  # fmt: skip
                    # Decks that no draft gave: one that offers their cards does.
                    triplets = [[a, b, a] for a, b in zip(*decks, strict=True)]
                    params["predefinedDraftIds"] = ",".join(
                        "_".join(str(bases[card]) for card in triplet) for triplet in triplets
                    )
                choices = [
                    [f"PICK {t.index(card)}" for card, t in zip(deck, triplets, strict=True)]
                    for deck in decks
                ]
            else:
                choices = [[";".join(f"CHOOSE {bases[card]}" for card in deck)] for deck in decks]
            self._log = {"rules": self._rules, "params": params, "choices": choices}
            if self._fixed_cards:
                self._log["cards"] = [card.to_row() for card in self._cards]
        return self._log

    def __getitem__(self, key: str) -> Any:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def match(self) -> Match:
        """Return the match at the start of its battle."""
        cards = [Card.from_row(row) for row in self["cards"]] if "cards" in self else None
        match = Match(self["rules"], params=self["params"], cards=cards)
        for lines in zip(*self["choices"], strict=True):
            for player, line in enumerate(lines):
                match.submit(player, line)
        return match

    def __repr__(self) -> str:
        return f"EpisodeMatch({self._all()!r})"


class Results:
    """The results of the rows of some games.

    Parameters
    ----------
    games : Games
    deck_weight : float
        What the values of decks count in rewards.
    """

    def __init__(self, games: "Games", deck_weight: float) -> None:
        self._games = games
        self._options = games.options
        self._deck_weight = deck_weight
        #: Whether `pay` has something to do.
        self.pays = callable(self._options.reward) or deck_weight != 0

    @property
    def _views(self) -> Views:
        return self._games.rows.views  # no pickle has them

    def match(self, row: int) -> EpisodeMatch | None:
        """Of the row's last finished episode; None if it began with a given position."""
        match = self._views.result(row).match
        return None if match is None else self._games.match_of(*match)

    def deck_values(self, row: int) -> NDArray[np.float32]:
        """Return the value networks' ratings of both decks of the row's last finished episode."""
        dealt = self._views.result(row).match
        assert dealt is not None
        _, seeds, decks, _ = dealt
        cards, rules = self._games.sets.of(seeds[0])[1], self._games.rules
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
            "match": None if match is None else self._games.match_of(*match),
        }
        if self._options.episode == "choice" and not illegal:
            info["winners"] = np.array(self._views.winners(row), np.int8)
            if self._options.deck_values:
                info["deck_values"] = self.deck_values(row)
        return info

    def infos(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos of all finished rows as arrays; ``_name`` marks the rows with one."""
        n = self._games.n
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
        if self._games.shows_final:
            info["final_obs"] = self._final_obs()
        return info | {f"_{name}": ended for name in info}

    def _final_obs(self) -> Any:
        """The last observations of ended rows, in the form of observations without a ``state``."""
        final = self._games.arrays["final_obs"].copy()
        if self._options.mask == "info":
            return final
        masks = np.zeros((self._games.n, self._games.rows.n_actions), np.int8)
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
            if rewards.shape != (self._games.n,):
                raise ValueError(f"reward: expected shape ({self._games.n},), got {rewards.shape}")
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
