"""The settings of a tuning, and the seeds that it may use."""

import random
from dataclasses import dataclass

from locmsim._checks import whole
from locmsim.rules.rulesets import get_rules

__all__ = ["PARTS", "PROOF_SEEDS", "RECORDED_SEEDS", "TUNING_SEEDS", "TuningSettings"]

#: Seeds of card sets and drafts. Tuning uses only the first range; figures of strength come from
#: the second, so that weights are tested on other cards than they were tuned on.
TUNING_SEEDS = range(1, 1_000_000)
PROOF_SEEDS = range(10_000_000, 11_000_000)
#: Card sets of rules 1.5 in the first range that self-play excludes: a contest's games were
#: recorded on them, and decks are compared with those of its winner (`tools/recorded_decks.py`).
RECORDED_SEEDS = frozenset((4047, 8564, 20913, 27813))

#: Part that can be tuned -> the fields of `Weights` that it changes.
PARTS = {
    "eval": ("evaluation",),
    "deck": ("deck_score", "deck_value"),
    "draft": ("draft", "draft_value"),
    "network": ("network",),
}

#: The smallest values, and the largest.
_LEAST = {"games": 2, "match_games": 2, "nodes": 1, "pools": 1, "seed": 0}
_MOST = (1 << 63) - 1


@dataclass(frozen=True)
class TuningSettings:
    """The settings of a tuning.

    Attributes
    ----------
    rules
        The rule set.
    parts
        The parts to tune, names in `PARTS`. By default ``("eval", "deck")`` for rules 1.5, else
        ``("eval",)``.
    games
        Games of self-play per iteration.
    match_games
        Games of each match that decides whether new weights are accepted.
    nodes
        Budget of the searches: positions per turn.
    pools
        Number of card sets, or drafts, in self-play; matches use new ones each time.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueError
        A field is not valid; the message names it.
    """

    rules: str = "1.5"
    parts: tuple[str, ...] = ()
    games: int = 4000
    match_games: int = 1000
    nodes: int = 2000
    pools: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        draft = get_rules(self.rules).draft
        if not self.parts:
            object.__setattr__(self, "parts", ("eval",) if draft else ("eval", "deck"))
        if self.parts != tuple(part for part in PARTS if part in self.parts):
            raise ValueError(
                f"parts: expected some of {','.join(PARTS)} in this order,"
                f" got {','.join(self.parts)!r}"
            )
        if "deck" in self.parts and draft:
            raise ValueError(f"parts: rules {self.rules} have a draft, not a deck to choose")
        if "draft" in self.parts and not draft:
            raise ValueError(f"parts: rules {self.rules} have a deck to choose, not a draft")
        for name, least in _LEAST.items():
            object.__setattr__(self, name, whole(name, getattr(self, name), least, _MOST))
        if self.pools > len(TUNING_SEEDS):
            raise ValueError(f"pools: expected at most {len(TUNING_SEEDS)}, got {self.pools}")

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
