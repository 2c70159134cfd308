"""Second look at changes that no test noticed: ``python mutation_again.py``, beside ``mutants``.

mutmut changes functions of modules that are imported already. What a module calls while it is
imported (tables of rules, of readers), and what is kept between calls, has then happened
unchanged. Here each such change gets a process of its own, from its start, and the tests of its
module. Prints what is still not noticed, and the share of all changes that were; at least 85 % have
to be.
"""

import os
import subprocess
import sys
from collections import Counter

from mutmut.__main__ import walk_mutatable_files
from mutmut.mutation.data import SourceFileMutationData
from mutmut.stats import status_by_exit_code

NEEDED = 0.85
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
NOTICED = ("killed", "timeout", "segfault")
#: The tests of each module; the first name with which that of a change begins counts.
TESTS = {
    "locmsim.rules.generator.": ["unit/test_generator.py"],
    "locmsim.rules.cards.": ["unit/test_cards.py", "unit/test_generator.py"],
    "locmsim.rules.": ["unit/test_rulesets.py"],
    "locmsim.game.observation.": [
        "unit/test_protocol.py",
        "unit/test_from_observation.py",
        "unit/test_match.py",
    ],
    "locmsim.game.positions.": ["process/test_perft_cli.py"],
    "locmsim.game.": ["unit/test_match.py", "unit/test_match_text.py"],
    "locmsim.stats.": ["unit/test_statistics.py", "unit/test_arena_inference.py"],
}


def is_noticed(change: str) -> bool:
    """Whether a test fails in a new process with this change."""
    tests = next(tests for start, tests in TESTS.items() if change.startswith(start))
    try:
        done = subprocess.run(
            [*PYTEST, *(f"tests/{name}" for name in tests)],
            cwd="mutants",
            env={**os.environ, "MUTANT_UNDER_TEST": change, "PYTHONPATH": "src"},
            capture_output=True,
            timeout=300,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main() -> None:
    # The clean run: without a change all pass.
    for start in TESTS:
        if is_noticed(start):
            raise SystemExit(f"the tests of {start}* do not pass without a change")
    changes: Counter[str] = Counter()
    unnoticed: Counter[str] = Counter()
    for path in walk_mutatable_files():
        results = SourceFileMutationData(path=path)
        results.load()
        for change, code in results.exit_code_by_key.items():
            if code is None:
                continue  # not asked for
            module = change.rpartition(".x")[0]
            changes[module] += 1
            if status_by_exit_code[code] not in NOTICED and not is_noticed(change):
                unnoticed[module] += 1
                print(f"    {change}", flush=True)
    for module, count in sorted(changes.items()):
        print(f"{module}: {count - unnoticed[module]} of {count}")
    share = 1 - unnoticed.total() / changes.total()
    print(f"{changes.total()} changes, {share:.1%} were noticed")
    raise SystemExit(share < NEEDED)


if __name__ == "__main__":
    main()
