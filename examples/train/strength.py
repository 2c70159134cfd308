"""Measure a policy's win rates in mirrored games, on card sets that no training has seen.

python strength.py learned.npz
python strength.py agent:learned --opponents osl greedy --games 4000
python strength.py clone-1.npz clone-2.npz clone-3.npz    # the range over seeds
"""

import argparse

from locmsim.agents import make_agent
from locmsim.policy import Policy
from locmsim.tuning import PROOF_SEEDS

try:
    from locmsim.tuning.evaluate import evaluate
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[envs]'") from None

OPPONENTS = ("random", "max-attack", "osl", "greedy")
#: Number of card sets, large enough that single sets do not matter.
SETS = (PROOF_SEEDS[0], PROOF_SEEDS[500])


def table(*policies, games, opponents=OPPONENTS, decks=("random", "classic"), log=print):
    """Print the win rates of a policy, or the range over several, by opponent and deck builder."""
    new = policies[0].rules == "1.5"
    options = {"games": games, "seed": PROOF_SEEDS[0], **({"card_sets": SETS} if new else {})}
    for deck in decks if new else ("random",):
        for opponent in opponents:
            rates = [evaluate(policy, opponent, decks=deck, **options) for policy in policies]
            found = str(rates[0])
            if len(rates) > 1:
                low, high = (100 * end(rate.rate for rate in rates) for end in (min, max))
                found = f"{low:.1f} to {high:.1f} % of {rates[0].games} games each"
            log(f"{deck} decks, against {opponent}: {found}")


def load(text):
    """Return the policy of a file, or of an agent."""
    name, _, agent = text.partition(":")
    if name != "agent":
        return Policy.load(text)
    policy = getattr(make_agent(agent), "policy", None)
    if policy is None:
        raise ValueError(f"agent {agent}: has no policy")
    return policy


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "policies", nargs="+", metavar="policy", help="a file, or agent:NAME for that of an agent"
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="games per opponent and deck builder"
    )
    parser.add_argument(
        "--opponents", nargs="+", default=OPPONENTS, metavar="AGENT", help="who plays against it"
    )
    parser.add_argument(
        "--decks",
        nargs="+",
        default=["random", "classic"],
        metavar="DECK",
        help="deck builders, used by both players",
    )
    return parser


def main():
    parser = arguments()
    options = parser.parse_args()
    try:
        table(
            *map(load, options.policies),
            games=options.games,
            opponents=options.opponents,
            decks=options.decks,
        )
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
