"""The command ``locmsim cards``."""

import pytest
from helpers import main

from locmsim.art import card_titles
from locmsim.rules.generator import generate_cards


def test_generated_cards_are_listed_by_title(capsys: pytest.CaptureFixture[str]) -> None:
    main(["cards", "generate", "4"])
    lines = capsys.readouterr().out.splitlines()[1:]
    titles = card_titles(generate_cards(4)).values()
    assert len(lines) == 120
    assert all(line.endswith(f" {title}") for line, title in zip(lines, titles, strict=True))
