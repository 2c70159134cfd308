"""Tuning the numbers of a bot by matches between its versions."""

import json
from pathlib import Path

import pytest

from locmsim.arena.registry import make_game
from locmsim.tuning.optimization import Optimization, OptimizationSettings
from locmsim.tuning.parameter_plot import parameters_svg

AGENT = '''
from dataclasses import dataclass
import random
from locmsim.agents.greedy import GreedyAgent

@dataclass(kw_only=True)
class Mine(GreedyAgent):
    """Plays as greedy does in a part of its turns."""

    skill: float = 0.2
    crash: bool = False

    def act(self, observation):
        if self.crash:
            raise OSError("the file of weights is gone")
        played = random.Random(str(observation)).random() < self.skill
        return super().act(observation) if played else "PASS"
'''


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(AGENT)
    return "mine.py:Mine:skill={skill=0.2:0..1}"


def begun(
    player: str, games: int = 200, folder: Path | None = None, **rest: object
) -> Optimization:
    settings = OptimizationSettings(
        player,
        make_game("locm"),
        games=games,
        timeout_scale=0,
        **rest,  # type: ignore[arg-type]
    )
    return Optimization(settings, folder=folder)


def finished(optimization: Optimization) -> Optimization:
    for _ in optimization.run(jobs=1):
        pass
    return optimization


def test_a_bot_becomes_better(bot: str) -> None:
    optimization = finished(begun(bot))
    assert 180 <= optimization.games <= 200
    assert float(optimization.values["skill"]) > 0.5
    score = optimization.progress.score
    assert score is not None
    assert score[0] > 0.5
    proof = optimization.prove(60, jobs=1)
    assert proof.better
    assert proof.score[0] > 0.5
    assert "tuned" in proof.text
    picture = parameters_svg(optimization.parameters, optimization.history)
    assert picture.startswith("<svg ")
    assert ">skill</text>" in picture


@pytest.mark.parametrize("method", ["spsa", "cmaes"])
def test_against_an_opponent(bot: str, method: str) -> None:
    pytest.importorskip("cmaes")
    optimization = finished(begun(bot, 200, against=("mine.py:Mine:skill=0.4",), method=method))
    assert 150 <= optimization.games <= 200
    assert len({point for _, point in optimization.history}) > 1
    if method == "spsa":  # which needs fewer games
        assert float(optimization.values["skill"]) > 0.25


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    bot = "beam:time_ms=0,nodes={nodes=4:1..40:int}"  # an agent of the package needs no processes
    folder = tmp_path / "state"
    whole = finished(begun(bot, 120))
    stopped = begun(bot, 120, folder)
    for progress in stopped.run(jobs=1):
        if progress.games >= 30:
            break
    log = folder / "trials.csv"
    with log.open("a") as file:  # a line that was not written whole
        file.write("77,1.")
    resumed = begun(bot, 120, folder)
    first = next(iter(resumed.run(jobs=1)))
    assert first.games >= 30
    resumed = finished(begun(bot, 120, folder))
    assert resumed.history == whole.history
    assert resumed.values == whole.values
    again = begun(bot, 120, folder)
    assert [*again.run(jobs=1)] == []
    assert again.values == whole.values
    with pytest.raises(ValueError, match=r"games: .*state was begun with 120, not 140"):
        finished(begun(bot, 140, folder))
    log.write_text("1,7\n")
    with pytest.raises(ValueError, match="line 1: not the result of that trial"):
        finished(begun(bot, 120, folder))
    (folder / "settings.json").write_text(json.dumps([]))
    with pytest.raises(ValueError, match="not the settings of an optimization"):
        finished(begun(bot, 120, folder))


def test_values_in_a_file(bot: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        AGENT.replace("skill: float = 0.2", "weights: str = ''").replace(
            "self.skill", "float(open(self.weights).read().split()[1])"
        )
    )
    optimization = finished(
        begun("mine.py:Mine:weights={file}", 60, template='skill {skill=0.2:0..1} "{{}}"\n')
    )
    path = optimization.command(optimization.best).rpartition("=")[2]
    assert Path(path).read_text() == f'skill {optimization.values["skill"]} "{{}}"\n'
    with pytest.raises(ValueError, match="does not say where the file is"):
        begun("mine.py:Mine", template="{skill=1}")
    with pytest.raises(ValueError, match="stands for a file, and no template was given"):
        begun("mine.py:Mine:weights={file}")


def test_the_start_is_the_default_of_an_option(bot: str) -> None:
    (skill,) = begun("mine.py:Mine:skill={skill}").parameters
    assert (skill.start, skill.kind) == (0.2, "float")
    with pytest.raises(ValueError, match="parameter crash: it has no start"):
        begun("mine.py:Mine:crash={crash}")


def test_a_bot_that_fails_is_not_tuned(bot: str) -> None:
    with pytest.raises(ValueError, match=r"the bot failed in .* of .* games, first by: .*weights"):
        finished(begun(f"{bot},crash=true"))


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("greedy", "there is no placeholder"),
        ("mine.py:Mine:skil={skill=1}", "skil"),
        ("mine.py:Mine:skill={skill=2:0..1}", "the start is outside its bounds"),
    ],
)
def test_what_cannot_be_tuned(bot: str, player: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        finished(begun(player, folder=tmp_path / "state"))
    assert not (tmp_path / "state").exists()
    with pytest.raises(ValueError, match=r"games: expected 20 to \d+, got 3"):
        begun(bot, 3)
    with pytest.raises(ValueError, match="method: expected one of spsa, cmaes, tpe, got 'x'"):
        begun(bot, method="x")
