"""The first rounds of the fuzzing of the protocol's readers; CI runs it for a minute."""

import fuzz_vestrock
import pytest


@pytest.mark.slow
def test_rounds() -> None:
    for number in [*range(200), len(fuzz_vestrock.CHECKS) - 1]:
        fuzz_vestrock.play_round(number)


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_vestrock.py", "--seconds", "0.1", "--seed", "1000"])
    fuzz_vestrock.main()
    assert capsys.readouterr().out.endswith("; no finding\n")


def test_findings_name_their_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_vestrock.py", "--seed", "7"])
    monkeypatch.setattr(fuzz_vestrock, "play_round", lambda number: [].pop())
    with pytest.raises(IndexError):
        fuzz_vestrock.main()
    assert capsys.readouterr().err == "finding in round 7\n"
