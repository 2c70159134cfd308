"""How often a policy wins, in mirrored games: each deal is played from both seats."""

from typing import Any, NamedTuple

import numpy as np

from locmsim.batch import row_seeds
from locmsim.envs.options import Options
from locmsim.envs.vector import LocmVectorEnv
from locmsim.options.declarations import documented
from locmsim.policy import BatchPolicy, PolicyCaller
from locmsim.stats import PairCounts, score_interval
from locmsim.support.seeds import derived_seed

__all__ = ["HELD_OUT", "WinRate", "evaluate"]

#: The card sets of evaluations (1.5), as in `Options.card_sets`: not those that are trained on.
HELD_OUT = 1_000_000, 1_001_024


class WinRate(NamedTuple):
    """Games won, of all that were played in mirrored pairs.

    Attributes
    ----------
    won, games : int
    low, high : float
        The 95 % interval of the rate, made of pairs.
    """

    won: int
    games: int
    #: 95 % interval of the rate, made of pairs.
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Between 0 and 1."""
        return self.won / self.games

    def __str__(self) -> str:
        return (
            f"{100 * self.rate:.1f} % of {self.games} games"
            f" ({100 * self.low:.1f} to {100 * self.high:.1f})"
        )


@documented(Options, without=("rules", "layout"))
def evaluate(
    policy: BatchPolicy,
    opponent: Any,
    *,
    games: int = 1000,
    decks: Any = "random",
    seed: int = 1_000_000,
    temperature: float = 0.0,
    threads: int = 1,
    cards: Any = None,
    card_sets: Any = HELD_OUT,
    max_actions: int = 1400,
    rules: str = "",
    layout: str = "",
) -> WinRate:
    """Play a policy against an opponent.

    None of the card sets of `HELD_OUT` is one that environments have by default.

    Parameters
    ----------
    policy : BatchPolicy
        A policy, or any object that keeps its contract (`locmsim.policy.contract`).
    options
    games : int
        Rounded up to an even number: each deal is played from both seats.
    seed : int
        The seeds of the deals are derived from it and from their numbers, so that no two seeds
        share deals.
    temperature : float
        As in `Policy.act_batch`; a policy without this argument is refused unless it is 0.
    threads : int
        Threads that share the games.
    rules, layout : str
        Rule set and layout of a policy that does not name them.

    Raises
    ------
    ValueError
        For values that cannot be used, or an object that is not a policy.
    """
    caller = PolicyCaller(policy, rules=rules, layout=layout, temperature=temperature)
    # These are the cards of all games: the card sets that are held out by default do not apply.
    own = cards is not None and card_sets == HELD_OUT
    sets: dict[str, Any] = {} if own else {"card_sets": card_sets}
    pairs = -(-games // 2)
    seeds = [derived_seed(seed, f"deal {number}") for number in range(pairs)]
    wins = np.zeros((2, pairs), np.int64)
    for number, seat in enumerate(("first", "second")):
        env = LocmVectorEnv(
            pairs,
            threads=threads,
            autoreset_mode="Disabled",
            copy=False,
            rules=caller.rules,
            layout=caller.layout.name,
            opponent=opponent,
            seat=seat,
            decks=decks,
            cards=cards,
            **sets,
            max_actions=max_actions,
        )
        seen, _ = env.reset(seed=seeds)
        random = np.random.default_rng(seed)
        memory = caller.start(pairs)
        over = np.zeros(pairs, np.bool_)
        actions = np.zeros(pairs, np.int64)
        while not over.all():
            rows = np.flatnonzero(~over)
            state = None if memory is None else memory[rows]
            actions[rows] = caller.act(
                seen["observation"][rows],
                seen["action_mask"][rows],
                row_seeds(int(random.integers(1 << 62)), len(rows)),
                state,
            )
            if memory is not None:
                memory[rows] = state
            seen, rewards, terminated, truncated, _ = env.step(actions)
            ended = (terminated | truncated) & ~over
            wins[number, ended] = rewards[ended] > 0
            over |= ended
        env.close()
    pairs_by_wins = np.bincount(wins.sum(axis=0), minlength=3)
    low, high = score_interval(PairCounts(*pairs_by_wins.tolist()))
    return WinRate(int(wins.sum()), 2 * pairs, low, high)
