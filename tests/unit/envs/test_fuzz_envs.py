"""The first rounds of the fuzzing of environments; builds with sanitizers run it for longer."""

import random

import pytest

pytest.importorskip("gymnasium")
import fuzz_envs
from amounts import amount


@pytest.mark.slow
@pytest.mark.parametrize("number", amount((0, 3, 5, 8, 11, 17), range(30)))
def test_round(number: int) -> None:
    fuzz_envs.play_round(random.Random(number))


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_envs.py", "--seconds", "0.2", "--seed", "1000"])
    fuzz_envs.main()
    assert capsys.readouterr().out.endswith("; no finding\n")


def test_findings_name_their_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz_envs.py", "--seconds", "60", "--seed", "7"])
    monkeypatch.setattr(fuzz_envs, "play_round", lambda rng: [].pop())
    with pytest.raises(IndexError):
        fuzz_envs.main()
    assert capsys.readouterr().err == "finding in round 7\n"
