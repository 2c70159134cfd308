"""Analyses of positions from Python."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import wins_data
from helpers import begun_match, each_rules, raises

from locmsim import InvalidActionError, Match
from locmsim.agents import make_agent
from locmsim.game.positions import start_position
from locmsim.referee import play
from locmsim.referee.turn_report import report_turns
from locmsim.search import MCTS, BeamOptions, BeamSearch, Belief, analyse
from locmsim.search.analysis import line_value
from locmsim.search.variations import variations


def test_lines_are_distinct_turns() -> None:
    match = begun_match(seed=3)
    told: list[int] = []
    found = analyse(match.observation(0), time_ms=None, nodes=3000, on_search=told.append)
    assert told == list(range(1, found.searches + 1))
    assert sum(line.searches for line in found.lines) == found.searches
    assert len({line.line for line in found.lines}) == len(found.lines)
    assert [line.searches for line in found.lines] == sorted(
        (line.searches for line in found.lines), reverse=True
    )
    assert all(-1 <= line.value <= 1 for line in found.lines)
    assert found.nodes > 0
    assert match.state is not None
    for line in found.lines:
        assert match.state.clone().apply_line(line.line)[1] in ([], ["PASS"])


def test_beam_search_and_tree_search_take_turns() -> None:
    found = analyse(begun_match(seed=3).observation(0), time_ms=None, nodes=3000)
    assert sum(line.by["beam"].searches for line in found.lines if "beam" in line.by) == 3
    assert sum(line.by["mcts"].searches for line in found.lines if "mcts" in line.by) == 3
    for line in found.lines:
        assert line.searches == sum(evaluation.searches for evaluation in line.by.values())
        assert line.visits == sum(evaluation.visits for evaluation in line.by.values())
        values = [evaluation.value for evaluation in line.by.values()]
        assert min(values) - 1e-9 <= line.value <= max(values) + 1e-9
    alone = analyse(begun_match(seed=3).observation(0), time_ms=None, nodes=3000, search=MCTS())
    assert {name for line in alone.lines for name in line.by} == {"mcts"}
    # Each descent of a tree search is a visit, unless it ends in a decided position.
    assert sum(line.visits for line in alone.lines) <= 6 * (3000 // 24)


class StopError(Exception):
    """The exception that ends a search."""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("search", "bound"), [(BeamSearch(), "nodes"), (MCTS(), "iterations")], ids=["beam", "mcts"]
)
def test_a_check_ends_a_search(search: BeamSearch | MCTS, bound: str, threads: int) -> None:
    """A check ends the search at once, in any thread, and has no effect on the next search."""
    observation = begun_match(seed=3).observation(0)
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        raise StopError

    def work() -> None:
        with pytest.raises(StopError):
            search.search(observation, threads=threads, check=check, **{bound: 1 << 60})

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    assert looks == 1
    few = {bound: 500}
    found = search.search(observation, threads=threads, **few)
    assert (found.line, looks) == (
        type(search)().search(observation, threads=threads, **few).line,
        1,
    )


def test_a_check_ends_what_is_made_of_searches() -> None:
    """No further search follows the one that was stopped."""
    match = begun_match(seed=3)
    ended: list[object] = []

    def check() -> None:
        raise StopError

    with pytest.raises(StopError):
        analyse(match.observation(0), time_ms=1e6, on_search=ended.append, check=check)
    with pytest.raises(StopError):
        variations(match.observation(0), on_search=ended.append, check=check)
    agents = [make_agent("random"), make_agent("random")]
    result = play(agents, Match(seed=1), timeout_scale=0)
    with pytest.raises(StopError):
        ended += report_turns(result, check=check)
    assert ended == []


def test_both_see_a_win() -> None:
    state = wins_data.position("charge")
    mover = state.current_player()
    found = analyse(state, time_ms=None, nodes=40_000)
    belief = Belief()
    belief.see(state.observation(mover))
    assert line_value(belief, found.lines[0].line) == 1
    assert all(evaluation.value == 1 for line in found.lines for evaluation in line.by.values())
    assert {name for line in found.lines for name in line.by} == {"beam", "mcts"}
    for line in found.lines:
        end = state.clone()
        end.apply_line(line.line)
        assert end.winner == mover


def test_opponent_hand() -> None:
    """The expected copies add up to the cards in hand, without cards that were played.

    With nodes alone, it is repeatable.
    """
    observation = begun_match(seed=3).observation(0)
    found, again = (
        analyse(observation, time_ms=None, nodes=500, worlds=100, seed=7) for _ in range(2)
    )
    assert (found.lines, found.opponent_hand) == (again.lines, again.opponent_hand)
    expected = sum(held.expected for held in found.opponent_hand)
    assert expected == pytest.approx(observation.opponent_hand)
    chances = [held.chance for held in found.opponent_hand]
    assert chances == sorted(chances, reverse=True)
    assert all(held.chance <= held.expected for held in found.opponent_hand)


def test_state_belief_and_search() -> None:
    match = begun_match(seed=3)
    assert match.state is not None
    of_state = analyse(match.state, time_ms=None, nodes=500)
    assert of_state.lines
    belief = Belief()
    belief.see(match.observation(0))

    class Few:
        """A tree search that is bounded by iterations."""

        def search(self, observation: object, nodes: int | None, **rest: object) -> object:
            return MCTS().search(observation, iterations=nodes, **rest)  # type: ignore[arg-type]

    found = analyse(match.observation(0), time_ms=None, nodes=50, belief=belief, search=Few())
    assert found.lines[0].visits > 0


def test_what_cannot_be_analysed() -> None:
    raises(ValueError, "needs a battle turn", analyse, Match(seed=1).observation(0))
    with pytest.raises(ValueError, match="one of time_ms and nodes is needed"):
        analyse(begun_match(seed=3).observation(0), time_ms=None)


@each_rules
def test_a_line_is_worth_what_the_search_that_found_it_says(rules: str) -> None:
    """The value in the same worlds is the search's; PASS is worth less, and a win 1."""
    state = start_position(5, rules=rules)
    for _ in range(8):
        state.apply_line("PASS")
    belief = Belief()
    belief.see(state.observation(0))
    search = BeamSearch(BeamOptions(static_worlds=0, plans=2, worlds=16))
    found = search.search(state, nodes=10**6, seed=3, belief=belief)
    value = line_value(belief, found.line, worlds=16, seed=3)
    assert found.visits == 16
    assert value == pytest.approx(found.value, abs=1e-6)
    assert line_value(belief, "PASS", seed=3) < value
    with pytest.raises(InvalidActionError):
        line_value(belief, "NOTHING 1", seed=3)
