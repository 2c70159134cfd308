"""The benchmarks of Vestrock run, and the kernel behaves as before."""

import pytest
from helpers import raises

from vestrock import State, generate_deck
from vestrock._bench import StateLoops
from vestrock.bench import functions, median_positions, positions, signature


def test_all_that_is_measured_can_be():
    found = [*functions()]
    assert len({function.name for function in found}) == len(found) == 13
    for function in found:
        assert function.make().run() > 0


def test_behaviour_has_not_changed():
    """Update the signature when the rules or the rule of thumb change on purpose."""
    assert signature() == 1533413451


def test_positions():
    for state in median_positions():
        assert state.phase == "action"
        assert 15 <= len(state.legal_actions()) <= 25
    assert len(positions()) == 64
    raises(ValueError, "at least one", StateLoops, [])
    with pytest.raises(ValueError, match="positions of one match"):
        StateLoops([State.new(generate_deck(1)), State.new(generate_deck(2))])
