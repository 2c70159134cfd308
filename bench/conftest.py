"""Benchmarks of locmsim under pytest-benchmark, for comparing one version with another.

    pytest bench --benchmark-enable --benchmark-autosave
    pytest bench --benchmark-enable --benchmark-compare --benchmark-group-by=group

The groups: "playouts", "kernel" (from compiled code), "python" (calls from Python), "batch",
"match" (protocol and whole matches), "arena" and "referee". All but the last two use the positions
of `locmsim bench`, which is the quick way to a table. Where one call is many operations,
``extra_info`` has their number and the time each of them took.
"""

import pytest

from locmsim.rules.rulesets import RULES


@pytest.fixture(params=list(RULES))
def rules(request):
    """Each rule set in turn."""
    return request.param
