"""The benchmarks of Vestrock run, and the kernel behaves as before."""

import pytest

from locmsim.vestrock import State, generate_deck
from locmsim.vestrock._bench import StateLoops
from locmsim.vestrock.bench import measure, median_positions, positions, signature


def test_figures():
    figures = measure(rounds=1, loops=1)
    assert len({figure.name for figure in figures}) == len(figures) == 10
    assert all(figure.value > 0 for figure in figures if figure.unit == "1/s")


def test_behaviour_has_not_changed():
    """If the rules or the rule of thumb are meant to do something else now, so is the number."""
    assert signature() == 1533413451


def test_positions():
    for state in median_positions():
        assert state.phase == "action"
        assert 15 <= len(state.legal_actions()) <= 25
    assert len(positions()) == 64
    with pytest.raises(ValueError, match="none"):
        StateLoops([])
    with pytest.raises(ValueError, match="positions of one match"):
        StateLoops([State.new(generate_deck(1)), State.new(generate_deck(2))])
