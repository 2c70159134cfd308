"""One reader decides whether a text is an agent or a command, with one wording of what is wrong."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from helpers import raises

from locmsim import Match
from locmsim.agents import BeamAgent, GreedyAgent
from locmsim.arena import Arena, LocmGame
from locmsim.cli._common import Failure, value_errors
from locmsim.cli._players import seat_from
from locmsim.referee import FaultKind, IsolatedAgent, play
from locmsim.referee.again import asked_again
from locmsim.referee.locm_agents import LocmAgents
from locmsim.referee.players import Agents, Seat, seat_of


@pytest.mark.parametrize("game", [LocmAgents(), LocmGame()])
def test_agents_and_commands(game: Agents, tmp_path: Path) -> None:
    (tmp_path / "my bots.py").write_text("from locmsim.agents import GreedyAgent as Mine\n")
    assert isinstance(seat_of("greedy", "A", game).make(), GreedyAgent)
    assert isinstance(seat_of(f"{tmp_path / 'my bots.py'}:Mine", "A", game).make(), GreedyAgent)
    assert isinstance(seat_of("beam:plans=3", "A", game).make(), BeamAgent)
    for command in ("./greedy", "python3 mybot.py", "sh -c 'x y'", "gredy"):
        assert seat_of(command, "A", game).process
    for text, message in [
        ("beam:plan=3", "A: agent beam: unknown option 'plan'"),
        ("nosuch:Mine", "A: agent nosuch:Mine: no module 'nosuch'"),
        (" ", "A: the command is empty"),
        ("./bot 'open", "A: No closing quotation"),
    ]:
        raises(ValueError, message, lambda text=text: seat_of(text, "A", game).make())


def in_play(game: Agents, text: str) -> None:
    with value_errors():
        seat_from(text, "-p1", game).player(1)


def in_an_arena(text: str) -> None:
    with Arena(None, [text, "greedy"], games=2) as arena:
        arena.run(jobs=1)


@pytest.mark.parametrize(
    "read", [*(partial(in_play, game) for game in (LocmAgents(), LocmGame())), in_an_arena]
)
def test_one_wording(read: Callable[[str], None], tmp_path: Path) -> None:
    """A name that nobody has is refused alike everywhere, with what was probably meant."""
    script = tmp_path / "mine.py"
    script.write_text("class Mine: ...\n")
    for text, message in [
        ("gredy", "no program and no agent is called 'gredy'; did you mean 'greedy'"),
        (str(script), "is a Python file: name its class, .*mine.py:Mine, or the command"),
        ("beam:plan=3", "agent beam: unknown option 'plan'"),
        ("", "the command is empty"),
    ]:
        raises((ValueError, Failure), message, read, text)


def test_programs() -> None:
    Seat("sh -c 'exit 1'", LocmAgents(), "A").check_program()
    with pytest.raises(ValueError, match=r"A: no program and no agent is called '\./nosuch'"):
        Seat("./nosuch --x", LocmAgents(), "A").check_program()


def test_who_plays_where(tmp_path: Path) -> None:
    """What a referee gets: a program, an agent in a process of its own, or None for this one."""
    (tmp_path / "mine.py").write_text("from locmsim.agents import GreedyAgent as Mine\n")
    mine, game = f"{tmp_path / 'mine.py'}:Mine", LocmAgents()
    command = [sys.executable, "-P", "-m", "locmsim.bot", "--agent", "greedy", "--seed", "3"]
    for seat, options, kind in [
        (seat_of("./bot --x", "A", game), {"isolate": True}, "./bot --x"),
        (seat_of("greedy", "A", game), {}, None),
        (seat_of("greedy", "A", game), {"isolate": True}, command),
        (seat_of("greedy", "A", game, "beam"), {}, None),
        (seat_of("greedy", "A", game, "beam"), {"isolate": True}, IsolatedAgent),
        (seat_of("greedy", "A", game, mine), {}, IsolatedAgent),
        (seat_of(mine, "A", game), {}, IsolatedAgent),
        (seat_of(mine, "A", game), {"apart": False}, None),
        (Seat("greedy", game, agent=GreedyAgent), {}, None),
    ]:
        found = seat.outside(3, **options)
        assert type(found) is kind if kind is IsolatedAgent else found == kind, (seat, options)


def test_asked_again_within_the_limits() -> None:
    """The clock of a match is that of every question put again, wherever the bot is."""
    result = play((GreedyAgent(), GreedyAgent()), Match(seed=1))
    for bot in (GreedyAgent(), seat_of("greedy", "A", LocmAgents()).outside(0, isolate=True)):
        first = next(asked_again(result, 0, bot, timeout_scale=0))
        assert first.fault is None
        assert first.line == first.call.answer
        (last,) = asked_again(result, 0, bot, timeout_scale=1e-9)
        assert last.fault is not None
        assert last.fault.kind == FaultKind.TIMEOUT
