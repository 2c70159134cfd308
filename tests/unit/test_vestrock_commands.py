"""The commands ``locmsim vestrock deck`` and ``duel``."""

import pytest

from locmsim.cli.main import main
from locmsim.vestrock import extreme_deck, format_deck, generate_deck


def test_deck(capsys):
    assert main(["vestrock", "deck", "5"]) == 0
    assert capsys.readouterr().out == format_deck(generate_deck(5))
    assert main(["vestrock", "deck", "5", "-n", "7", "--extreme"]) == 0
    assert capsys.readouterr().out == format_deck(extreme_deck(5, 7))


def test_duel(capsys):
    words = ["vestrock", "duel", "rule", "random", "--decks", "2", "--init-hp", "4", "--seed", "3"]
    assert main(words) == 0
    assert capsys.readouterr().out == (
        "rule against random: 4 matches, 4 won (100.0 %), 0 drawn, 0 lost, mean score 16.00\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["deck", "1", "-n", "1001"], "n: expected 1..1000, got 1001"),
        (["duel", "rule", "chess"], "no bot 'chess'"),
        (["duel", "rule", "rule", "--decks", "0"], "decks: expected at least 1, got 0"),
        (["duel", "rule", "rule", "--turns", "3"], "turns: expected an even number, got 3"),
    ],
)
def test_wrong_usage(capsys, words, message):
    with pytest.raises(SystemExit) as error:
        main(["vestrock", *words])
    assert error.value.code == 2
    assert message in capsys.readouterr().err
