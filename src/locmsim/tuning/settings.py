"""The settings of a tuning, and the seeds that it may use."""

import random
from dataclasses import dataclass
from typing import Annotated

from locmsim.options.checks import OptionError
from locmsim.options.common import SearchedNodes, Seed
from locmsim.options.declarations import Option, check, documented
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import get_rules

#: Seeds of card sets and drafts. Tuning uses only the first range; figures of strength come from
#: the second, so that weights are tested on other cards than they were tuned on.
TUNING_SEEDS = range(1, 1_000_000)
PROOF_SEEDS = range(10_000_000, 11_000_000)
#: Card sets of rules 1.5 in the first range that self-play excludes: a contest's games were
#: recorded on them, and decks were compared with those of its winner.
RECORDED_SEEDS = frozenset((4047, 8564, 20913, 27813))

#: Part that can be tuned -> the fields of `Weights` that it changes.
PARTS = {
    "eval": ("evaluation",),
    "deck": ("deck_score", "deck_value"),
    "draft": ("draft", "draft_value"),
    "network": ("network",),
}

#: The most games of an iteration or a match.
_MOST = 10**12


TotalIterations = Annotated[
    int, Option("total number of iterations, those that are done included", 0, 10**6)
]


@documented()
@dataclass(frozen=True)
class TuningSettings:
    """The settings of a tuning.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        A field is not valid; the message names it.
    """

    rules: Rules = "1.5"
    parts: Annotated[
        tuple[str, ...],
        Option(
            f"parts to tune, of {','.join(PARTS)}; by default eval, and deck in rules 1.5",
            kind="tuple of str",
        ),
    ] = ()
    games: Annotated[int, Option("number of games of self-play per iteration", 2, _MOST)] = 4000
    match_games: Annotated[
        int,
        Option("number of games of each match that decides on new weights", 2, _MOST),
    ] = 1000
    nodes: SearchedNodes = 2000
    pools: Annotated[
        int,
        Option(
            "number of card sets, or drafts, in self-play; matches use new ones each time",
            1,
            len(TUNING_SEEDS),
        ),
    ] = 1000
    seed: Seed = 1
    network_size: Annotated[
        str,
        Option(
            "size of the value network: that of the present one, small or large",
            choices=("same", "small", "large"),
        ),
    ] = "same"

    def __post_init__(self) -> None:
        draft = get_rules(self.rules).draft
        chosen = self.parts or (("eval",) if draft else ("eval", "deck"))
        if unknown := set(chosen).difference(PARTS):
            raise OptionError("parts", f"expected some of {','.join(PARTS)}, got {min(unknown)!r}")
        object.__setattr__(self, "parts", tuple(part for part in PARTS if part in chosen))
        if "deck" in self.parts and draft:
            raise OptionError("parts", f"rules {self.rules} have a draft, not a deck to choose")
        if "draft" in self.parts and not draft:
            raise OptionError("parts", f"rules {self.rules} have a deck to choose, not a draft")
        if self.network_size != "same" and "network" not in self.parts:
            raise OptionError("network_size", "needs the part network")
        check(self)

    def card_sets(self) -> list[int]:
        """Return the seeds of the cards of self-play; those of `RECORDED_SEEDS` are replaced."""
        seeds = self.random("pools").sample(TUNING_SEEDS, self.pools)
        return [seed + (seed in RECORDED_SEEDS) for seed in seeds]

    def random(self, *purpose: object) -> random.Random:
        """Return random numbers for one purpose, the same for the same settings.

        Parameters
        ----------
        *purpose : object
            Words and numbers that name the purpose.
        """
        return random.Random(f"{self.seed} {self.rules} {purpose}")
