"""The first rounds of the fuzzing; builds with sanitizers run it for longer."""

import random

import fuzz_kernel
import pytest


@pytest.mark.parametrize("number", range(40))
def test_round(number: int) -> None:
    fuzz_kernel.play_round(random.Random(number))


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_kernel.py", "--seconds", "0.2", "--seed", "1000"])
    fuzz_kernel.main()
    assert capsys.readouterr().out.endswith("; no finding\n")


def test_findings_name_their_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_kernel.py", "--seconds", "60", "--seed", "7"])
    monkeypatch.setattr(fuzz_kernel, "play_round", lambda rng: [].pop())
    with pytest.raises(IndexError):
        fuzz_kernel.main()
    assert capsys.readouterr().err == "finding in round 7\n"
