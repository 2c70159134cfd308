"""Copies of a belief: whatever one is told, the others do not change."""

import copy
import pickle
from collections.abc import Callable

import pytest

from locmsim import Match
from locmsim.search import BeamSearch, Belief

COPIES: list[Callable[[Belief], Belief]] = [
    Belief.clone, copy.copy, copy.deepcopy, lambda belief: pickle.loads(pickle.dumps(belief))
]  # fmt: skip


def begun() -> tuple[Match, Belief]:
    """Return a match after two turns of the battle, and what player 0 knows at its first one."""
    match, belief = Match(seed=3), Belief()
    belief.see(match.observation(0))
    for player in (0, 1):
        match.submit(player, "PASS")
    belief.chose(match.chosen[0])
    belief.see(match.observation(0))
    first = match.state
    assert first is not None
    line = first.action_to_string(first.legal_actions()[1])
    match.submit(0, line)
    match.submit(1, "PASS")
    return match, belief


@pytest.mark.parametrize("copied", COPIES)
def test_copies_share_nothing_that_changes(copied: Callable[[Belief], Belief]) -> None:
    match, belief = begun()
    before = belief.sample(1), belief.observation, belief.possible_cards()
    other = copied(belief)
    assert other.sample(1) == before[0]
    seen = match.observation(0)
    other.see(seen)
    other.sample(2)  # what is told after a sample counts as well
    other.chose([1])
    with pytest.raises(ValueError, match="its last observation is not this one"):
        BeamSearch().search(seen, nodes=10, belief=belief)
    BeamSearch().search(seen, nodes=10, belief=other)
    assert (belief.sample(1), belief.observation, belief.possible_cards()) == before
    assert other.sample(1) != before[0]
    third = copied(other)
    belief.see(seen)
    assert third.sample(2) == other.sample(2)
