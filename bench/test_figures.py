"""The measurements of `locmsim bench` and `vestrock bench` as benchmarks.

They are compared with earlier runs.
"""

import pytest

from locmsim.bench import GROUPS
from locmsim.rules.rulesets import RULES
from locmsim.support.measure import Counted, Ratio, seconds
from vestrock import bench as vestrock


def functions():
    """Yield each measured function with its group for each rule set, and those of Vestrock."""
    for one in vestrock.functions():
        yield pytest.param("vestrock", one, id=f"vestrock-{one.name}")
    for name, group in GROUPS.items():
        for rules in RULES:
            for one in group.functions(rules):
                if not isinstance(one, (Counted, Ratio)):
                    yield pytest.param(group.title, one, id=f"{name}-{rules}-{one.name}")


@pytest.mark.parametrize(("group", "function"), [*functions()])
def test_figure(benchmark, group, function):
    benchmark.group = group
    case = function.make()
    done = []

    def run(*arguments):
        done.append(case.run(*arguments))

    benchmark.pedantic(run, setup=lambda: (case.setup(), {}), rounds=20, warmup_rounds=1)
    assert min(done) > 0
    benchmark.extra_info["operations"] = done[-1]
    if benchmark.stats is not None:
        less = min(seconds(case.less) for _ in range(5)) if case.less else 0.0
        each = (benchmark.stats["median"] - less) / done[-1]
        benchmark.extra_info["seconds each"] = each
