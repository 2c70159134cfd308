"""What is the same is continued, what has changed is refused: arena, pools, workers, optimize."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import forget_agents, main, play_games, raises

from locmsim.arena import Arena, LocmGame, StoreError
from locmsim.support import identity
from locmsim.tuning import Optimization, OptimizationSettings

#: An agent that knows a helper and says which, and fails if it is not that of its folder.
BOT = """
import helper
from locmsim.agents import {base} as Base

class Bot(Base):
    def __init__(self, weight: float = 1.0):
        super().__init__()

    def act(self, observation):
        with open("found", "a") as file:
            print({word!r}, helper.WORD, file=file)
        assert helper.WORD == {word!r}, helper.WORD
        return super().act(observation)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_bot(folder: Path, word: str, base: str = "GreedyAgent") -> str:
    folder.mkdir()
    (folder / "bot.py").write_text(BOT.format(word=word, base=base))
    (folder / "helper.py").write_text(f"WORD = {word!r}\n")
    return f"{word}={folder.name}/bot.py:Bot"


def play(*players: str, db: str, games: int = 2, **options: Any) -> None:
    with Arena(db, players, games=games, seed=1, timeout_scale=0, **options) as arena:
        arena.run(jobs=1)


@pytest.mark.parametrize("how", ["decks", "pilot"])
def test_who_chooses_the_cards_or_plays_is_watched(folder: Path, how: str) -> None:
    (folder / "other.py").write_text("from locmsim.agents import GreedyAgent as Other\n")
    play("greedy", "random", db="a.db", **{how: "other.py:Other"})
    (folder / "other.py").write_text("from locmsim.agents import RandomAgent as Other\n")
    with Arena("a.db") as arena:
        raises(StoreError, r"other\.py has changed since game 1", arena.run)


def test_cards_and_play_of_one_process_have_no_two_modules_of_a_name(folder: Path) -> None:
    for word in ("old", "new"):
        write_bot(folder / word, word)
    with pytest.raises(ValueError, match=r"^decks: .* have different modules 'bot': rename one$"):
        Arena(None, ["old/bot.py:Bot", "greedy"], games=2, decks="new/bot.py:Bot")


def test_another_version_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = f"bot={sys.executable} -m locmsim.bot --agent random"
    play(bot, "greedy", db="a.db")
    monkeypatch.setattr(identity, "library", lambda package: "0.1.0 with other weights")
    changed = r"locmsim has changed since game 1 \(of bot, greedy\)"
    raises(StoreError, changed, Arena, "a.db", games=4)
    with Arena("a.db", games=4, force=True) as arena:
        arena.run(jobs=1)
        assert "note: locmsim has changed since game 1" in arena.table()
    with Arena("a.db", games=4) as arena:
        assert "continued after 2 games" in arena.table()


def test_workers_that_live_on_make_the_agents_of_each_run(folder: Path) -> None:
    """As on a cluster: the same settings, and weights that have changed."""
    weights, played = folder / "w.json", []
    weights.write_text("{}")
    players = ["beam:weights=w.json,nodes=20,time_ms=0", "random"]
    with Arena(None, players, seeds=[1], timeout_scale=0) as arena:
        for value in (0.0, 5.0, 0.0):
            weights.write_text(f'{{"1.5": {{"own.attack": {value}, "own.health": {1 - value}}}}}')
            records = play_games(arena.settings.task([1]), run=str(len(played)))
            played.append([answer[:2] for answer in records[0].answers])
    assert played[0] == played[2] != played[1]


def test_what_is_not_the_bot_does_not_lock_a_pool(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bot.py").write_text("import sys\n[print('PASS') for line in sys.stdin]\n")
    (folder / "game.txt").write_text("")
    python = folder / "bin" / "python3"
    python.parent.mkdir()
    command = "bot=python3 bot.py --log game.txt"
    play(command, "greedy", "random", db="pool.db")
    with Arena("pool.db") as arena:
        arena.add(["osl=osl"], more=2)
    python.symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
    (folder / "game.txt").write_text("what it has written")
    with Arena("pool.db") as arena:
        arena.more(2)
    (folder / "bot.py").write_text("import sys\n[print('PASS;') for line in sys.stdin]\n")
    with Arena("pool.db") as arena:
        raises(StoreError, r"bot\.py has changed since game 1.*--retire", arena.more, 2)
    with Arena("pool.db", force=True) as arena:
        arena.more(2)
        assert "note: bot.py has changed since game 1 (bot)" in arena.table()


def test_two_folders_with_modules_of_one_name(folder: Path) -> None:
    """Each has its own helpers, whatever the current folder has."""
    (folder / "helper.py").write_text("WORD = 'wrong'\n")
    players = [write_bot(folder / word, word) for word in ("old", "new")]
    old, new = (one.partition("=")[2] for one in players)
    settings = OptimizationSettings(
        f"{new}:weight={{weight}}", LocmGame(), (old,), 20, timeout_scale=0
    )
    with Arena(None, players, games=2, seed=1, timeout_scale=0) as arena:
        for play, result in (
            (lambda: arena.run(jobs=1), None),
            (lambda: arena.verify(jobs=2), []),
            (lambda: main(["play", old, new, "--json"]), 0),
            (lambda: next(Optimization(settings).run(jobs=1)).games, 4),
        ):
            assert play() == result
            found = (folder / "found").read_text().splitlines()
            assert {*found} == {"old old", "new new"}
            (folder / "found").unlink()
        assert [outcome.fault for outcome in arena.games()] == [None] * 2


def test_an_agent_in_a_process_of_its_own_fails_alone(folder: Path) -> None:
    """Its process lasts for the games of a run; after a fault there is another one."""
    for word in ("old", "new"):
        write_bot(folder / word, word)
    code = (folder / "new" / "bot.py").read_text().replace("assert", "import os; assert")
    code = code.replace(
        "        return", "        os.path.exists('go') or os._exit(3)\n        return"
    )
    (folder / "new" / "bot.py").write_text(code)
    with Arena(
        None, ["old/bot.py:Bot", "new/bot.py:Bot"], seeds=[1, 2, 3], timeout_scale=0
    ) as arena:
        found = []
        for number in (1, 3, 5):
            if number == 3:
                (folder / "go").touch()
            found += play_games(arena.settings.task([number]), run="this one")
        forget_agents()
    faults = [record.outcome.fault for record in found]
    assert ["exited with code 3" in fault.message for fault in faults if fault] == [True]
    assert faults[1:] == [None] * 2


def test_processes_of_a_bot_may_be_spawned(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "bots").mkdir()
    (folder / "bots" / "spawning.py").write_text(
        "import functools, multiprocessing, tools\nfrom locmsim.agents import GreedyAgent\n\n"
        "class Bot(GreedyAgent):\n"
        "    def reset(self, seed=0):\n"
        "        super().reset(seed)\n"
        "        spawn()\n\n"
        "@functools.cache\n"
        "def spawn():\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        assert pool.apply(tools.word) == 'right'\n"
        "        assert pool.apply(tools.name, (Bot,)) == 'Bot'\n"
    )
    (folder / "bots" / "tools.py").write_text(
        "def word():\n    return 'right'\n\ndef name(kind):\n    return kind.__name__\n"
    )
    words = ["bots/spawning.py:Bot", "random", "--games", "2", "--timeout-scale", "0"]
    assert main(["arena", *words, "--jobs", "1", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["faults"] == []
    assert main(["play", *words[:2], "--timeout-scale", "0", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["fault"] is None
