"""Classes and ready agents as players of an arena."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers import locmsim, raises, tournament
from players import Counting, Stubborn

from locmsim.agents import GreedyAgent, MCTSAgent, RandomAgent
from locmsim.arena import Arena, Player, StoreError


def lines(arena: Arena, index: int) -> set[str | None]:
    """Return the answers of a player in the turns after the choice."""
    found = set()
    for number in range(1, arena.tally.games + 1):
        record = arena.record(number)
        turns = record.answers[2:]
        found |= {a.line for a in turns if record.outcome.players[a.seat] == index}
    return found


def test_classes_and_ready_agents(tmp_path: Path) -> None:
    """A file can be resumed without the objects, since their descriptions recreate them."""
    db = tmp_path / "results.db"
    players = [Stubborn, Stubborn(line="PASS # thinking"), RandomAgent(), GreedyAgent(), "random"]
    with Arena(db, players, games=2, seed=1, mode="gauntlet", timeout_scale=0) as arena:
        names = [(player.name, player.spec) for player in arena.settings.players]
        assert names == [
            ("Stubborn", "players:Stubborn"),
            ("Stubborn#2", "players:Stubborn:line=PASS # thinking"),
            ("RandomAgent", "random"),
            ("GreedyAgent", "greedy"),
            ("random", "random"),
        ]
        assert not any(player.ready for player in arena.settings.players)
        arena.run(jobs=1)
        assert lines(arena, 0) == {"PASS"}
        assert lines(arena, 1) == {"PASS # thinking"}
    with tournament(db, games=4) as arena:
        assert lines(arena, 1) == {"PASS # thinking"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [lambda: Counting([7]), lambda: MCTSAgent(iterations=9, time_ms=0), lambda: altered()]
)
def test_ready_agents_without_description(tmp_path: Path, make: type) -> None:
    """Agents without a description can play, but resuming their file requires them again."""
    db = tmp_path / "results.db"
    agent = make()
    with Arena(db, [agent, "random"], games=2, seed=1, timeout_scale=0) as arena:
        name = type(agent).__qualname__
        assert arena.settings.players[0] == Player(name, name, False, True)
        arena.run(jobs=1)
    with Arena(db, games=4) as arena:
        raises(ValueError, r"created with an agent object .* pass it again", arena.run, jobs=1)
        assert arena.tally.games == 2
    with tournament(db, [make(), "random"], games=4) as arena:
        assert arena.tally.games == 4
    with pytest.raises(StoreError, match="another tournament"):
        Arena(db, [type(agent).__name__ + "=random", "random"])


def altered() -> RandomAgent:
    agent = RandomAgent()
    agent.depth = 3  # type: ignore[attr-defined]
    return agent


@pytest.mark.process
def test_ready_agents_in_other_processes() -> None:
    """Agents that were passed as objects are sent to the worker processes."""
    with Arena(None, [Counting([7]), "random"], games=8, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=2)
        assert arena.tally.games == 8
        assert not arena.tally.players[0].faults


def test_what_cannot_be_sent() -> None:
    agent = Counting([7])
    agent.numbers = lambda: 7  # type: ignore[assignment]
    with Arena(None, [agent, "random"], games=2, seed=1, timeout_scale=0) as arena:
        refused = r"'Counting' cannot be sent to other processes \(.*jobs=1"
        raises(ValueError, refused, arena.run, jobs=2)


SCRIPT = """
from locmsim.agents import RandomAgent
from locmsim.arena import Arena

class Mine(RandomAgent):
    pass

{guard}
    with Arena({db!r}, [Mine, "random"], games=4, seed=1, timeout_scale=0) as arena:
        arena.run(jobs={jobs})
        print(arena.tally.games, arena.settings.players[0].spec)
"""


def script(folder: Path, guard: str, jobs: int) -> subprocess.CompletedProcess[str]:
    path = folder / "script.py"
    path.write_text(SCRIPT.format(guard=guard, jobs=jobs, db=str(folder / "results.db")))
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.process
def test_agent_of_a_script(tmp_path: Path) -> None:
    """Workers import the agent's class from the script, as the command line does on resuming."""
    done = script(tmp_path, 'if __name__ == "__main__":', 2)
    assert (done.stdout, done.stderr) == (f"4 {tmp_path}/script.py:Mine\n", "")
    done = locmsim("arena", "--db", "results.db", "--games", "6", cwd=tmp_path)
    assert done.stdout.startswith("6 games")
    assert "faults of" not in done.stdout


@pytest.mark.slow
@pytest.mark.process
def test_script_without_a_main_guard(tmp_path: Path) -> None:
    """Several processes need the guard, and an error of one line says so; one does not."""
    done = script(tmp_path, "if True:", 2)
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert 'put what it runs under `if __name__ == "__main__":`' in last
    assert done.stderr.count("Traceback") == 1
    assert not (tmp_path / "results.db").exists()
    done = script(tmp_path, "if True:", 1)
    assert done.stdout.startswith("4 ")
