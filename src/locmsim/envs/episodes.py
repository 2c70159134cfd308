"""Rows of episodes, with their options and cards: what players, resets and results work on."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from locmsim.envs._rows import Rows
from locmsim.envs.cards import CardSource, Decks, as_offered, generated_table
from locmsim.envs.options import Options
from locmsim.game.layouts import CHOICE, get_layout
from locmsim.game.match import Match
from locmsim.options.checks import MOST_ROWS, whole
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RuleSet, get_rules


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


class Episodes:
    """The rows of some episodes, and what they are played by and with.

    Parameters
    ----------
    n : int
        Number of rows.
    options : Options
    autoreset : {"next", "same", "disabled"}
        When a row whose episode has ended begins the next one.
    """

    def __init__(
        self, n: int, options: Options, autoreset: Literal["next", "same", "disabled"]
    ) -> None:
        n = whole("num_envs", n, 1, MOST_ROWS)
        self.options = options
        self.rules: RuleSet = get_rules(options.rules)
        self.layout = options.observation_layout
        self.n = n
        #: The cards of episodes.
        self.sets = CardSource(self.rules, options.cards, options.card_sets, 2 * n)
        first_set, n_sets = self.sets.range
        win, deck_weight, raw, weights = options.rewards()
        #: What the values of decks count in rewards.
        self.deck_weight = deck_weight
        #: Whether there is shaping, which `rewards_both` alone has for both seats.
        self.shaped = any(weights)
        battle = options.episode == "battle"
        #: What the numbers of the choice phase mean, None without one.
        self.choice_layout = None if battle else get_layout(CHOICE, self.rules.name)
        #: How decks come about.
        self.decks = Decks(options.decks, self.rules, battle)
        self.rows = Rows(
            n,
            {
                "rules": self.rules.name,
                "episode": options.episode,
                "layout": options.layout,
                "seat": options.who_plays()[1],
                "illegal": options.illegal,
                "autoreset": autoreset,
                "max_actions": options.max_actions,
                "decks": self.decks.source,
                "choosers": self.decks.sources,
                "battles": options.battles,
                "win": win,
                "gamma": options.gamma,
                "raw_potentials": raw,
                "shaping": weights,
                "first_set": first_set,
                "n_sets": n_sets,
                "refresh": options.refresh,
                "find_set": generated_table,
                "n_cards": self.sets.size,
                "allowed": list(range(self.sets.size)),
            },
        )

    def cards(self, row: int) -> list[Card]:
        """Return the cards of a row's set, by ascending base id.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        return self.sets.of(self.rows.card_sets.seed(row))[1]

    def offers(self, row: int) -> list[list[Card]]:
        """Return what a row's players are offered: three cards in each step, or all at once.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        cards = self.cards(row)
        if not self.rules.draft:
            return [as_offered(cards)]
        return [[cards[i] for i in triplet] for triplet in self.rows.card_sets.offers(row)]

    def match_of(self, seed: int, seeds: list[int], decks: Any, triplets: Any) -> EpisodeMatch:
        """Return the match of these seeds, decks and offers.

        Parameters
        ----------
        seed : int
            That of the match.
        seeds : list of int
            Those derived from it.
        decks, triplets
            Decks and, in a draft, offers, as indices into the cards.
        """
        listed, cards = self.sets.is_list(seeds[0]), self.sets.of(seeds[0])[1]
        return EpisodeMatch(self.rules.name, (seed, seeds, decks, triplets), cards, listed)
