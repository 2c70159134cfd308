"""The answers of all searches in 2,000 positions of each rule set, to the last bit.

`tests/data/search_answers.json` has a digest of the answers in every 100 positions, by rule set and
search. After an intended change of answers, or with a new search, this writes it again (minutes):

    python tests/slow/test_search_answers.py [--positions N] [--check] [SEARCH ...]

``--check`` compares instead, and ``--positions`` takes only the first ones.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from locmsim import Observation, StateBatch
from locmsim.game.positions import random_game, start_position
from locmsim.policy import Policy
from locmsim.rules.rulesets import RULES_NAMES
from locmsim.search import (
    MCTS,
    BeamOptions,
    BeamSearch,
    Belief,
    Evaluation,
    MCTSOptions,
    PolicySearch,
)

FILE = Path(__file__).parents[1] / "data" / "search_answers.json"
POSITIONS = 2000
STEP = 100

#: What a player sees at the start of a turn, and what they have done since then.
Seen = tuple[Observation, list[int]]
#: The answer of a search in a position, with a seed.
Asked = Callable[[Seen, int], Any]


def positions(rules: str) -> Iterator[Seen]:
    """Yield starts of turns, and every fifth time the position after the first action."""
    found = 0
    for seed in range(1 << 20):
        last = -1
        for state, action in random_game(start_position(seed, rules), seed):
            begins = state.turn > last
            last = state.turn
            if begins and len(state.legal_actions()) > 2:
                found += 1
                after = state.child(action)
                middle = found % 5 == 0 and action and not after.is_terminal()
                yield state.observation(state.current_player()), [action] if middle else []


@cache
def taken(rules: str) -> tuple[Seen, ...]:
    return tuple(islice(positions(rules), POSITIONS))


def whole_turns(search: Any, **more: int) -> Asked:
    def ask(seen: Seen, seed: int) -> Any:
        found = search.search(seen[0], done=seen[1], seed=seed, **more)
        plans = [(plan.actions, plan.visits, plan.value) for plan in found.plans]
        numbers = found.value, found.visits, found.nodes, found.iterations, found.depth
        return found.actions, numbers, plans

    return ask


def single_actions(search: PolicySearch) -> Asked:
    def ask(seen: Seen, seed: int) -> Any:
        found = search.search(seen[0], done=seen[1], seed=seed)
        arrays = [a.tolist() for a in (found.policy, found.visits, found.values)]
        return found.action, found.value, found.pv, found.nodes, arrays

    return ask


def values_of_turns(search: BeamSearch) -> Asked:
    def ask(seen: Seen, seed: int) -> Any:
        belief = Belief()
        belief.see(seen[0])
        worlds = belief.determinizer()
        root = worlds.sample(seed)
        actions = seen[1] or root.legal_actions()[1:2]
        return search.prepare(root.rules).turn_value(worlds, root, actions, 3, seed)

    return ask


def searches(rules: str) -> dict[str, Asked]:
    """Return the searches by name: by weights, by the network, by functions, in threads."""
    weights = Evaluation(rules=rules, network=None)
    policy = Policy.random(seed=1, rules=rules)
    few = MCTSOptions(plans=6, worlds=2)

    def with_priors(batch: StateBatch) -> Any:
        masks = batch.legal_actions_mask()
        return weights.results(batch), masks / masks.sum(1, keepdims=True)

    greedy = BeamOptions(reply_width=1, plans=12, wins_share=0.1)
    return {
        "beam": whole_turns(BeamSearch(), nodes=3000),
        "beam, greedy replies": whole_turns(BeamSearch(greedy), nodes=2000),
        "beam, by weights": whole_turns(BeamSearch(evaluation=weights), nodes=3000),
        "beam, no replies": whole_turns(BeamSearch(BeamOptions(turns=0)), nodes=1000),
        "beam, 3 threads": whole_turns(BeamSearch(), nodes=4000, threads=3),
        "beam, by a function": whole_turns(BeamSearch(evaluation=weights.results), nodes=3000),
        "beam, greedy by a function": whole_turns(
            BeamSearch(greedy, evaluation=weights.results), nodes=1000
        ),
        "mcts": whole_turns(MCTS(), iterations=16),
        "mcts, few plans": whole_turns(MCTS(few), iterations=60),
        "mcts, little memory": whole_turns(MCTS(MCTSOptions(max_nodes=64)), iterations=20),
        "mcts, 2 threads": whole_turns(MCTS(few), iterations=60, threads=2),
        "mcts, by a function": whole_turns(MCTS(few, evaluation=weights.results), iterations=24),
        "mcts, by priors": whole_turns(MCTS(few, evaluation=with_priors), iterations=12),
        "turn": values_of_turns(BeamSearch()),
        "turn, by a function": values_of_turns(BeamSearch(evaluation=weights.results)),
        "forest, by the network": single_actions(
            PolicySearch(Evaluation(rules=rules), 16, mix=0.5, noise=1.0)
        ),
        "forest, puct": single_actions(PolicySearch(weights.results, 16, root="puct")),
        "forest, by a policy": single_actions(PolicySearch(policy, 16, leaves=4)),
    }


def digests(rules: str, name: str, count: int) -> list[str]:
    """Return a digest of the answers in every `STEP` of the first positions."""
    ask = searches(rules)[name]
    found = []
    for first in range(0, count, STEP):
        digest = hashlib.sha256()
        for seed, seen in enumerate(taken(rules)[first : min(first + STEP, count)], first):
            digest.update(repr(ask(seen, seed)).encode())
        found.append(digest.hexdigest()[:16])
    return found


@pytest.mark.parametrize("name", searches("1.5"))
@pytest.mark.parametrize("rules", RULES_NAMES)
def test_answers_are_those_of_before(name: str, rules: str, pytestconfig: pytest.Config) -> None:
    expected = json.loads(FILE.read_text())[rules][name]
    count = POSITIONS if pytestconfig.getoption("most") else 300
    assert digests(rules, name, count) == expected[: count // STEP]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("searches", nargs="*", metavar="SEARCH")
    parser.add_argument("--positions", type=int, default=POSITIONS)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    wrong = []
    for rules in RULES_NAMES:
        for name in arguments.searches or searches(rules):
            found = digests(rules, name, arguments.positions)
            if not arguments.check:
                known.setdefault(rules, {})[name] = found
            elif found != known[rules][name][: len(found)]:
                wrong.append(f"{rules}: {name}")
                print(wrong[-1], "answers differently", flush=True)
    if not arguments.check:
        FILE.write_text(json.dumps(known, indent=1) + "\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
