"""Players and decks of which one is drawn for each episode."""

from collections.abc import Mapping
from math import inf
from typing import Any

from locmsim.agents import did_you_mean
from locmsim.options.checks import number

#: The name of the player whose actions are the environment's.
CALLER = "caller"


class Pool:
    """Players of which one is drawn for each episode, from the row's random stream.

    Parameters
    ----------
    opponents : mapping
        Player -> weight, a positive number; players as for `Options.opponent`, "caller" included,
        or names for those in `named`.
    named : mapping, optional
        Name -> player, for objects that a mapping cannot have as keys.

    Raises
    ------
    ValueError
        If there is none, a weight is not positive, or a name in `named` has no weight. An
        environment refuses a pool of more than 64 players.

    Examples
    --------
    >>> Pool({"greedy": 0.8, "random": 0.2}).weights
    (0.8, 0.2)
    """

    def __init__(
        self, opponents: Mapping[Any, float], named: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(opponents, Mapping):
            raise ValueError(
                "opponents: expected a mapping of opponents to weights, such as"
                f" {{'greedy': 0.8, 'random': 0.2}}, got {opponents!r}"
            )
        if not opponents:
            raise ValueError("opponents: expected some, got none")
        for opponent, weight in opponents.items():
            number(f"weight of {opponent!r}", weight, 0, above=True)
        if not sum(opponents.values()) < inf:
            raise ValueError("weights: expected a finite sum")
        named = named or {}
        for name in named:
            if name not in opponents:
                known = [one for one in opponents if isinstance(one, str)]
                raise ValueError(
                    f"named: {name!r} has no weight{did_you_mean(name, known)}: expected one of"
                    f" {', '.join(known)}"
                )
        #: Tuples: an environment takes them as they are when it is given the pool.
        self.members = tuple(named.get(name, name) for name in opponents)
        self.names = tuple(
            name if isinstance(name, str) else f"{type(name).__name__}-{i}"
            for i, name in enumerate(opponents)
        )
        self.weights = tuple(float(weight) for weight in opponents.values())

    def __repr__(self) -> str:
        members = zip(self.names, self.weights, strict=True)
        return f"Pool({', '.join(f'{member}: {weight:g}' for member, weight in members)})"
