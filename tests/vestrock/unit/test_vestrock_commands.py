"""The command ``locmsim vestrock deck``."""

import pytest

from locmsim.cli.main import main
from vestrock import extreme_deck, format_deck, generate_deck


def test_deck(capsys):
    assert main(["vestrock", "deck", "5"]) == 0
    assert capsys.readouterr().out == format_deck(generate_deck(5))
    assert main(["vestrock", "deck", "5", "-n", "7", "--extreme"]) == 0
    assert capsys.readouterr().out == format_deck(extreme_deck(5, 7))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["deck", "1", "-n", "1001"], "n: expected 1..1000, got 1001"),
        (["tournament", "rule", "chess"], "no bot 'chess'"),
    ],
)
def test_wrong_usage(capsys, words, message):
    with pytest.raises(SystemExit) as error:
        main(["vestrock", *words])
    assert error.value.code == 2
    assert message in capsys.readouterr().err
