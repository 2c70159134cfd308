"""``locmsim bench``: its table, its JSON, and the signature that pins the simulator's behaviour."""

import importlib.util
import json
from collections.abc import Callable
from typing import Any

import pytest
from helpers import DATA, RULE_SETS, each_rules, output_of, raises
from parsers import command_parser, options_of, subcommands

from locmsim import _bench, bench
from locmsim.game.positions import random_game, start_position
from locmsim.search import Belief
from locmsim.support import measure as measuring
from locmsim.support.measure import Case

SIGNATURES = json.loads((DATA / "signatures.json").read_text())


@each_rules
def test_signature(rules: str) -> None:
    """Update the signature if a change of behaviour is meant; docs/development.md says how."""
    assert bench.signature(rules) == SIGNATURES[rules]


def test_signatures_from_the_command_line() -> None:
    assert output_of("bench", "--signatures").out == (DATA / "signatures.json").read_text()


def test_positions_are_what_they_are_said_to_be() -> None:
    groups = bench.groups("1.5")
    assert len(groups) == len(bench.starts("1.5")) == 64
    for start, group in zip(bench.starts("1.5"), groups, strict=True):
        assert len(group) == 64
        assert not any(state.is_terminal() for state in group)
        assert {state.table for state in group} == {start.table}
    pairs = bench.typical("1.5")
    assert len(pairs) == 256
    for state, action in pairs:
        assert len(state.legal_actions()) in (5, 6)
        assert action in state.legal_actions()


@pytest.mark.slow
@pytest.mark.parametrize("group", sorted(set(bench.GROUPS) - {"arena", "environments"}))
def test_a_group_alone(group: str) -> None:
    figures = bench.measure("1.2", seconds=0.0, groups=[group])
    assert {figure.group for figure in figures} == {bench.GROUPS[group].title}
    assert len({figure.name for figure in figures}) == len(figures) > 0
    # On a busy machine, the difference of two times may be zero.
    assert all(figure.value > 0 for figure in figures if figure.unit not in ("ns", "ms"))


def test_a_search_that_finished_nothing_in_its_time_has_a_speed() -> None:
    assert Case(lambda: 0).sample() > 0


def test_groups_of_the_command_line() -> None:
    group = options_of(subcommands(command_parser("bench"))["bench"])["--group"]
    assert tuple(bench.GROUPS) == group.choices


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_report(rules: str) -> None:
    told: list[tuple[str, float]] = []
    watch = bench.Watch()
    figures = bench.measure(
        rules, seconds=0.03, watch=watch, on_group=lambda *group: told.append(group)
    )
    assert told[0] == ("random playouts, one core", 0.0)
    assert told[-1] == ("", 1.0)
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert {"a turn without its search", "what a player knows"} <= {f.group for f in figures}
    names = [(figure.group, figure.name) for figure in figures]
    assert len(set(names)) == len(names) > 20
    for figure in figures:
        # On a busy machine, tiny differences of two times may be negative.
        assert figure.value > 0 or figure.unit in ("ns", "ms")
    table = bench.report(rules, figures)
    assert f"rules     {rules}\n" in table
    assert f"signature {SIGNATURES[rules]}\n" in table
    assert f"compiler  {_bench.COMPILER}\n" in table
    assert all(f"  {figure.name} " in table for figure in figures)
    answer = bench.to_json(rules, figures)
    assert json.loads(json.dumps(answer)) == answer
    assert answer["rules"] == rules
    assert answer["signature"] == SIGNATURES[rules]
    assert len(answer["figures"]) == len(figures)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Return a function that sets what a measurement tells; it returns what is asked."""

    def put(load: float | None = None) -> list[Any]:
        asked: list[Any] = []

        def measure(
            rules: str, seconds: float, groups: list[str], watch: bench.Watch, on_group: Any
        ) -> list[bench.Figure]:
            asked.append((rules, seconds, groups))
            watch.load = load
            on_group("searches", 0.25)
            return [bench.Figure("group", "name", 1234567.8, "ns")]

        monkeypatch.setattr(bench, "measure", measure)
        return asked

    return put


def test_command_line(measured: Callable[..., list[Any]]) -> None:
    asked = measured()
    assert "\ngroup\n  name    " in (table := output_of("bench").out)
    assert table.endswith(" 1,234,568 ns\n")
    out = output_of("bench", "--rules", "1.2", "--seconds", "3", "-g", "match", "--json").out
    answer = json.loads(out)
    assert answer["figures"] == [
        {"group": "group", "name": "name", "value": 1234567.8, "unit": "ns"}
    ]
    assert asked == [("1.5", 12.0, []), ("1.2", 3.0, ["match"])]


def test_progress_and_warnings(measured: Callable[..., list[Any]]) -> None:
    """The bar is for terminals and -v; warnings are always shown, and are in the JSON too."""
    measured(0.0)
    output = output_of("bench", "--json")
    assert output.err == ""
    assert json.loads(output.out)["warnings"] == []
    measured(1000.0)
    output = output_of("bench", "--json", "-v")
    assert " 25%|" in output.err
    assert "| searches" in output.err
    (warning,) = json.loads(output.out)["warnings"]
    assert warning.startswith("the machine was busy at the start: a load of 1000.0 on ")
    assert output.err.endswith(f"locmsim bench: warning: {warning}\n")


def test_a_loop_that_varies_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = bench.Watch()
    watch.load = None
    times = iter([0.001] * 9 + [0.0012] * 12 + [0.002] * 6)
    monkeypatch.setattr(measuring, "seconds", lambda action: next(times))
    watch.look()
    assert watch.warnings == []
    watch.look()
    watch.look()
    (warning,) = watch.warnings
    assert "took 1.0 ms at best and 1.2 ms as a rule" in warning


def test_game_lengths_are_those_of_the_playouts() -> None:
    starts = bench.starts("1.5")[:3]
    actions, turns = _bench.game_lengths(starts, 50, 7)
    assert actions == sum(start.rollouts_counted(50, 7)[1] for start in starts)
    assert 3 * 50 < turns < actions


@pytest.mark.parametrize("operation", ["copy", "clone", "apply", "count", "list", "kth"])
def test_loops_do_the_operation(operation: str) -> None:
    """The sum of the results shows that the operation was done, and on all positions."""
    group = bench.groups("1.5")[0]
    loops = _bench.KernelLoops([group], 1)
    base = _bench.KernelLoops([group], 1)
    loops.run(operation, 3)  # type: ignore[arg-type]
    base.run("copy", 3)
    counts = sum(len(state.legal_actions()) for state in group)
    if operation in ("count", "list"):
        assert loops.checked - base.checked == 3 * counts
    elif operation == "copy":
        assert loops.checked == base.checked
    else:
        assert loops.checked > base.checked


def test_loops_refuse_other_positions() -> None:
    group = bench.groups("1.5")[0]
    raises(ValueError, "group of 63 states, expected 64", _bench.KernelLoops, [group[1:]], 1)
    other = bench.starts("1.5")[1]
    raises(ValueError, "share a table", _bench.KernelLoops, [(*group[1:], other)], 1)
    *_, (state, action) = random_game(bench.starts("1.5")[0], 1)
    raises(ValueError, "unfinished", _bench.KernelLoops, [(*group[1:], state.child(action))], 1)


def test_start_positions() -> None:
    for rules in RULE_SETS:
        state = start_position(5, rules)
        assert state.rules == rules
        assert state == start_position(5, rules) != start_position(6, rules)
        for player in state.players:
            ids = [item.card.base_id for item in (*player.hand, *player.deck)]
            assert len(ids) == 30
            assert max(map(ids.count, ids)) <= 2
        state.apply_action(0)
        assert state != start_position(5, rules)  # each call returns a state of its own


def test_the_command_is_that_of_all_modules():
    """The text has one compiler command, then the further options of single modules."""
    assert _bench.COMPILER.split()[0] in ("gcc", "clang")
    assert "-O" in _bench.COMPILER_COMMAND
    command, *others = _bench.COMPILER_COMMAND.split("; ")
    assert "-ffp-contract=off" in command or "cl" in command
    for other in others:
        modules, _, options = other.partition(": ")
        for module in modules.split(", "):
            assert importlib.util.find_spec(f"locmsim.{module}") is not None
        assert options.startswith("-")
    assert "-fassociative-math" not in _bench.COMPILER_COMMAND
    if "-O2" in command:
        assert [other.partition(": ")[2] for other in others] == ["-O3", "-Os"]


@each_rules
def test_fair_playouts_deal_each_world(rules: str) -> None:
    """They are won as often as playouts of worlds sampled one by one."""
    state, _ = bench.typical(rules)[0]
    belief = Belief()
    belief.see(state.observation(state.current_player()))
    games = 2000
    fair = _bench.fair_playouts(belief.determinizer(), games, 1)
    assert fair == _bench.fair_playouts(belief.determinizer(), games, 1)
    sampled = sum(belief.sample(seed).rollout(seed) == 0 for seed in range(games))
    assert fair / games == pytest.approx(sampled / games, abs=0.06)
