"""Tuning the numbers of a bot by matches between its versions."""

import contextlib
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from amounts import amount
from helpers import raises

from locmsim.arena import Arena
from locmsim.arena.fixtures import Task
from locmsim.arena.registry import make_game
from locmsim.processes.workers import Workers
from locmsim.tuning import Optimization, OptimizationSettings
from locmsim.tuning import optimization as optimizing
from locmsim.tuning import trials as trials_module
from locmsim.tuning.parameter_plot import parameters_svg

AGENT = '''
from dataclasses import dataclass
import random
from locmsim.agents import GreedyAgent

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


@pytest.mark.slow
def test_a_bot_becomes_better(bot: str) -> None:
    optimization = finished(begun(bot))
    assert 180 <= optimization.trials.games <= 200
    assert float(optimization.values["skill"]) > 0.5
    score = optimization.progress.score
    assert score is not None
    assert score[0] > 0.5
    proof = optimization.prove(120, jobs=1)
    assert proof.better
    assert proof.score[0] > 0.5
    assert "tuned" in proof.text
    picture = parameters_svg(optimization.versions.parameters, optimization.trials.history)
    assert picture.startswith("<svg ")
    assert ">skill</text>" in picture


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spsa", "cmaes"])
def test_against_an_opponent(bot: str, method: str) -> None:
    pytest.importorskip("cmaes")
    optimization = finished(begun(bot, 200, against=("mine.py:Mine:skill=0.4",), method=method))
    assert 150 <= optimization.trials.games <= 200
    assert len({point for _, point in optimization.trials.history}) > 1
    if method == "spsa":  # which needs fewer games
        assert float(optimization.values["skill"]) > 0.25


def test_another_run_or_damaged_files_in_the_folder(tmp_path: Path, no_games: None) -> None:
    bot = "beam:time_ms=0,nodes={nodes=4:1..40:int}"
    whole = finished(begun(bot, 120, tmp_path))
    again = begun(bot, 120, tmp_path)
    assert [*again.run(jobs=1)] == []
    assert again.values == whole.values

    def refused(message: str, games: int = 120, **more: object) -> None:
        with pytest.raises(ValueError, match=message):
            finished(begun(bot, games, tmp_path, **more))

    refused(r"games: .* was begun with 120, not 100", 100)
    refused(r"method: .* was begun with 'spsa', not 'cmaes'", 140, method="cmaes")
    (tmp_path / "trials.jsonl").write_text("[7]\n")
    refused("line 1: not a result of an optimization: not the result")
    (tmp_path / "run.json").write_text(json.dumps([]))
    refused("not the state of an optimization")


def test_a_changed_bot_or_opponent_is_another_run(bot: str, tmp_path: Path) -> None:
    (tmp_path / "rival.py").write_text("from locmsim.agents import RandomAgent as Rival\n")
    more: dict[str, Any] = {"folder": tmp_path / "state", "against": ("rival.py:Rival",)}
    finished(begun(bot, 20, **more))
    (tmp_path / "rival.py").write_text("from locmsim.agents import GreedyAgent as Rival\n")
    (tmp_path / "mine.py").write_text(AGENT.replace("PASS", ""))
    refused = begun(bot, 20, **more)
    raises(ValueError, r"mine\.py and rival\.py have changed since game 1; --fo", finished, refused)
    forced = finished(Optimization(refused.settings, folder=tmp_path / "state", force=True))
    assert forced.notes == ["mine.py and rival.py have changed since game 1"]
    assert finished(begun(bot, 20, **more)).notes == forced.notes


@pytest.mark.slow
def test_the_proof_of_a_template_is_resumed(bot: str, tmp_path: Path) -> None:
    """Files of versions are in the folder; in the end those of the start and the tuned one."""
    bot, file = "mine.py:Mine:skill={file}", 'skill {skill=0.2:0..1} "{}"\n'
    (tmp_path / "mine.py").write_text(
        AGENT.replace("skill: float = 0.2", "skill: str = ''").replace(
            "self.skill", "float(open(self.skill).read().split()[1])"
        )
    )
    proofs = []
    for games in (2, 4):
        run = finished(begun(bot, 40, folder=tmp_path / "state", template=file))
        proofs.append(run.prove(games, jobs=1))
        versions = {path.read_text() for path in (tmp_path / "state" / "versions").iterdir()}
        assert versions == {f'skill {value} "{{}}"\n' for value in ("0.2", run.values["skill"])}
    assert [proof.games for proof in proofs] == [2, 4]
    path = run.versions.command(run.best).rpartition("=")[2]
    assert Path(path).read_text() == f'skill {run.values["skill"]} "{{}}"\n'
    run = finished(begun(bot, 100, folder=tmp_path / "state", template=file))
    assert f'skill {run.values["skill"]} "{{}}"\n' not in versions
    assert run.prove(2, jobs=1).games == 2


@pytest.mark.slow
def test_the_proof_has_cards_that_the_tuning_never_saw(
    tmp_path: Path, no_games: None, spied: Callable[..., list[Task]]
) -> None:
    tasks = spied(optimizing, "play_games", lambda task, **how: task)
    run = finished(begun("beam:time_ms=0,nodes={nodes=4:1..40:int}", 2000, tmp_path))
    seen = {one.seed for task in tasks for one in task.fixtures}
    assert len(seen) > 900
    run.prove(20, jobs=1)
    with Arena.load(tmp_path / f"proof-{run.trials.games}.db") as arena:
        proof = {arena.settings.fixture(number).seed for number in range(1, 1001)}
    assert len(proof) == 500
    assert not proof & seen


def test_the_start_is_the_default_of_an_option(bot: str) -> None:
    (skill,) = begun("mine.py:Mine:skill={skill}").versions.parameters
    assert (skill.start, skill.kind) == (0.2, "float")
    raises(ValueError, "parameter crash: it has no start", begun, "mine.py:Mine:crash={crash}")


@pytest.mark.slow
def test_a_bot_that_fails_is_not_tuned(bot: str) -> None:
    with pytest.raises(ValueError, match=r"the bot failed in .* of .* games, first by: .*weights"):
        finished(begun(f"{bot},crash=true"))


def test_what_cannot_be_tuned(bot: str, tmp_path: Path) -> None:
    for player, message in (
        ("greedy", "there is no placeholder"),
        ("mine.py:Mine:skil={skill=1}", "skil"),
        ("mine.py:Mine:skill={skill=2:0..1}", "the start is outside its bounds"),
    ):
        with pytest.raises(ValueError, match=message):
            finished(begun(player, folder=tmp_path / "state"))
        assert not (tmp_path / "state").exists()
    raises(ValueError, r"games: expected 20 to \d+, got 3", begun, bot, 3)
    raises(ValueError, "method: expected one of spsa, cmaes, got 'x'", begun, bot, method="x")
    raises(ValueError, "not say where the file is", begun, "mine.py:Mine", template="{skill=1}")
    message = "stands for a file, and no template was given"
    raises(ValueError, message, begun, "mine.py:Mine:weights={file}")


#: The elapsed time of a pair of games, in ns: that of a fast bot.
FAST = 12_000_000


def decided(task: Task, **how: bool) -> list[SimpleNamespace]:
    """Stand in for the games: results that depend on nothing but the players and the cards."""
    text = repr(([player.spec for player in task.players.values()], [task.fixtures[0].seed]))
    bits = hashlib.blake2b(text.encode()).digest()
    return [
        SimpleNamespace(
            outcome=SimpleNamespace(winner=(0, 1, None)[bit % 3], players=(0, 1), fault=None),
            elapsed_ns=FAST // 2,
        )
        for bit, _ in zip(bits, task.fixtures, strict=False)
    ]


@pytest.fixture
def no_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `decided` stand in for all games."""
    monkeypatch.setattr(optimizing, "play_games", decided)


def trials_of(folder: Path) -> list[str]:
    """Return the results of all trials, each of which depends on what was asked."""
    return (folder / "trials.jsonl").read_text().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("games", amount([3_000], most=[3_000, 100_000]))
def test_a_long_run_that_is_killed_again_and_again_does_not_drift(
    games: int, tmp_path: Path, no_games: None
) -> None:
    """As after SIGKILL: nothing but the file is left, and its last line may not be whole."""
    bot = "beam:time_ms=0,nodes={nodes=4:1..40:int},width={width=40:1..200:int}"
    whole = finished(begun(bot, games, tmp_path / "whole"))
    assert games - 50 <= whole.trials.games <= games
    folder, randomly = tmp_path / "state", random.Random(3)
    kills = sorted(randomly.sample(range(100, games - 100), 12))
    for kill in kills:
        run = begun(bot, games, folder)
        for progress in run.run(jobs=1):
            if progress.games >= kill:
                break
        with (folder / "trials.jsonl").open("a") as file:
            file.write("[1.5]\n"[: randomly.randrange(6)])
    resumed = finished(begun(bot, games, folder))
    assert trials_of(folder) == trials_of(tmp_path / "whole")
    for other in (resumed, Optimization.load(folder)):
        assert (other.trials.games, other.best) == (whole.trials.games, whole.best)
        assert other.trials.history == whole.trials.history
        assert other.progress == whole.progress


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spsa", "cmaes"])
def test_a_run_that_is_killed_at_any_step_or_extended_ends_alike(
    method: str, tmp_path: Path, no_games: None
) -> None:
    """More games go on from what is there, as often as it is killed, and whenever they are wanted;
    a run that was begun with as many is another one, except by a method without a plan.
    """
    pytest.importorskip("cmaes")
    bot = "beam:time_ms=0,nodes={nodes=4:1..40:int},width={width=40:1..200:int}"

    def run(folder: Path, games: int) -> Optimization:
        return begun(bot, games, folder, method=method)

    whole, steps = tmp_path / "whole", []
    for games in (200, 300, 500):
        for _ in run(whole, games).run(jobs=1):
            steps.append((games, tmp_path / f"step{len(steps)}"))
            shutil.copytree(whole, steps[-1][1])
    best = Optimization.load(whole).best
    for number, (games, step) in enumerate(steps[::9]):
        with (step / "trials.jsonl").open("a") as file:
            file.write("[1.5]\n"[: number % 6])
        for more in [one for one in (200, 300, 500) if one >= games]:
            resumed = run(step, more)
            if more == 500:
                finished(resumed)
            else:  # it is extended before it has ended
                next(iter(resumed.run(jobs=1)), None)
        assert trials_of(step) == trials_of(whole)
        assert resumed.best == best
        assert 450 <= resumed.trials.games <= 500
    raises(ValueError, r"games: .*whole was begun with 500, not 300", run, whole, 300)
    at_once = finished(run(tmp_path / "other", 500))
    assert (at_once.best == best) == (method == "cmaes")


@pytest.mark.slow
@pytest.mark.parametrize("slots", [1, 4, 32])
def test_the_trials_are_divided_among_all_workers_in_as_few_tasks_as_they_allow(
    slots: int, no_games: None, monkeypatch: pytest.MonkeyPatch, spied: Callable[..., list[Any]]
) -> None:
    """What a task costs the command is paid once for many games of a fast bot."""
    sizes: list[int] = []
    most = 0

    class Later(Executor):
        """Ends the tasks only when the command waits for them."""

        def __init__(self) -> None:
            self.waiting: list[tuple[Future[Any], Callable[[], Any], int]] = []

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            nonlocal most
            sizes.append(len(args[0]))
            future: Future[Any] = Future()
            self.waiting.append((future, partial(fn, *args, **kwargs), sizes[-1]))
            most = max(most, sum(size for *_, size in self.waiting))
            return future

    later = Later()

    def wait(running: Any, **how: Any) -> Any:
        future, task, _ = later.waiting.pop(0)
        future.set_result(task())
        return type("Done", (), {"done": {future}})

    @contextlib.contextmanager
    def workers(arena: Arena, **how: object) -> Iterator[Workers]:
        yield Workers(later, lambda: slots)

    estimates = spied(trials_module, "score_interval")
    monkeypatch.setattr("locmsim.processes.workers.wait", wait)
    monkeypatch.setattr(Arena, "workers", workers)
    run = finished(begun("beam:time_ms=0,nodes={nodes=4:1..40:int}", 2000))
    trials = run.trials.games // 2
    assert sum(sizes) == trials
    # 0.2 seconds hold 16 of these trials, and 48 are under way at a time.
    expected = {1: 16, 4: 12, 32: 1}[slots]
    assert most <= 48
    assert max(sizes) == expected
    assert len(sizes) <= trials / expected + 2 * slots + 16
    assert len(estimates) <= trials // 10 + 1  # the estimate changes with every tenth trial
