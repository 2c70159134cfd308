"""Runs the tests again on changes that no test noticed: ``python mutation_again.py``.

It runs beside the folder ``mutants``. mutmut changes functions of modules that have already been
imported: calls during the import (tables of rules, of readers) and values kept between calls come
from unchanged code. Here each such change gets its own new process, with the tests of its module.
Prints the changes that are still not noticed, and the share of all changes that are. At least 85 %
must be noticed; of a module in ``KEPT``, so many changes as stand there.
"""

import os
import signal
import sys
from collections import Counter

import hypothesis  # noqa: F401  imported once, before forking: slow, and not changed
import numpy  # noqa: F401
import pytest
from mutmut.__main__ import walk_mutatable_files
from mutmut.mutation.data import SourceFileMutationData
from mutmut.stats import status_by_exit_code

NEEDED = 0.85
#: How many changes were noticed in a module before its tests were made fewer: no fewer may be now.
KEPT = {"locmsim.agents.rule": 171}
PYTEST = [
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore:Module already imported"),  # hypothesis
]
NOTICED = ("killed", "timeout", "segfault")
#: The tests of each module; the first key that a change's name begins with counts.
TESTS = {
    "locmsim.agents.rule.": [
        "unit/agents/test_rule.py",
        "unit/agents/test_agents.py::test_whole_matches",
    ],
    "locmsim.rules.generator.": ["unit/rules/test_generator.py"],
    "locmsim.rules.cards.": ["unit/rules/test_cards.py", "unit/rules/test_generator.py"],
    "locmsim.rules.actions.": ["unit/kernel/test_actions.py"],
    "locmsim.rules.": ["unit/rules/test_rulesets.py"],
    "locmsim.game.protocol_lines.": [
        "unit/game/test_protocol.py",
        "unit/game/test_from_observation.py",
        "unit/game/test_match.py",
    ],
    "locmsim.game.explain.": ["unit/game/test_explain.py"],
    "locmsim.game.ids2022.": [
        "unit/game/test_ids2022.py",
        "unit/game/test_ids_in_matches.py::test_copies_are_followed_in_games_of_many",
    ],
    "locmsim.game.boards.": ["unit/game/test_boards.py"],
    "locmsim.game.choice.": ["unit/game/test_match.py", "unit/envs/test_deal.py"],
    "locmsim.game.positions.": ["process/test_perft_cli.py"],
    "locmsim.game.layout": ["unit/game/test_layouts.py"],
    "locmsim.game.legality.": ["unit/game/test_legality.py"],
    "locmsim.game.notation.": ["unit/game/test_position_text.py", "unit/game/test_snapshots.py"],
    "locmsim.game.action_text.": ["unit/game/test_action_words.py"],
    "locmsim.game.": ["unit/game/test_match.py", "unit/game/test_match_text.py"],
    "locmsim.stats.": ["unit/ground/test_statistics.py"],
}


def is_noticed(change: str) -> bool:
    """Return whether a test fails in a new process with this change, or does not end."""
    tests = next(tests for start, tests in TESTS.items() if change.startswith(start))
    child = os.fork()
    if child == 0:
        os.environ["MUTANT_UNDER_TEST"] = change
        signal.alarm(300)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os._exit(pytest.main([*PYTEST, *(f"tests/{name}" for name in tests)]))
    return os.waitpid(child, 0)[1] != 0


def main() -> None:
    results_of = [SourceFileMutationData(path=path) for path in walk_mutatable_files()]
    for results in results_of:
        results.load()
    os.chdir("mutants")
    sys.path.insert(0, os.path.abspath("src"))
    # First without a change: all tests must pass.
    for start in TESTS:
        if is_noticed(start):
            raise SystemExit(f"the tests of {start}* do not pass without a change")
    changes: Counter[str] = Counter()
    unnoticed: Counter[str] = Counter()
    for results in results_of:
        for change, code in results.exit_code_by_key.items():
            if code is None:
                continue  # not requested
            module = change.rpartition(".x")[0]
            changes[module] += 1
            if status_by_exit_code[code] not in NOTICED and not is_noticed(change):
                unnoticed[module] += 1
                print(f"    {change}", flush=True)
    fewer = False
    for module, count in sorted(changes.items()):
        noticed, before = count - unnoticed[module], KEPT.get(module)
        print(f"{module}: {noticed} of {count}", f"({before} before)" if before else "")
        fewer |= noticed < (before or 0)
    others = [module for module in changes if module not in KEPT]
    total, missed = (sum(counter[module] for module in others) for counter in (changes, unnoticed))
    share = 1 - missed / total if total else 1.0
    print(f"{total} changes in other modules, {share:.1%} were noticed")
    raise SystemExit(fewer or share < NEEDED)


if __name__ == "__main__":
    main()
