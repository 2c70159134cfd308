"""Players as texts: each is the description of an agent of a game, or the command of a program."""

import os
import re
import shlex
import shutil
from typing import Any

from locmsim.contract import Game

__all__ = ["agent_of", "check_program", "meant_an_agent"]

#: Text that may name an agent. Most commands of programs do not match, and then the agents are
#: not imported: a referee is started once for every game.
_MAYBE_AGENT = re.compile(r"[\w.+-]+(:.*)?|.+\.py:[^\W\d]\w*(:.*)?", re.DOTALL)


def agent_of(text: str, where: str, game: Game | None = None, rules: str | None = None) -> Any:
    """Return a new agent if a text describes one, and None if it is the command of a program.

    Parameters
    ----------
    text : str
        Such as ``"beam:time_ms=50"``, ``"bots/mine.py:Mine"`` or ``"./mybot --fast"``.
    where : str
        What gave the text: an option, or a player. Messages begin with it.
    game : Game, optional
        The game; by default Legends of Code and Magic, with the agents of all rule sets.
    rules : str, optional
        Without a `game`, the rule set that the agent must play.

    Raises
    ------
    ValueError
        The agent cannot be created, or the command is empty or not quoted correctly.
    """
    try:
        if game is not None:
            if game.is_agent(text):
                return game.make_agent(text)
        elif _MAYBE_AGENT.fullmatch(text):
            from locmsim.agents.registry import check_rules, is_agent, make_agent

            if is_agent(text):
                agent = make_agent(text)
                return agent if rules is None else check_rules(agent, rules)
        if not shlex.split(text):
            raise ValueError("the command is empty")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return None


def meant_an_agent(command: str, game: Game | None = None) -> bool:
    """Return whether a command looks like an agent's name that was not written correctly."""
    if not _MAYBE_AGENT.fullmatch(command):
        return False
    if game is not None:
        return bool(game.suggest(command.partition(":")[0]))
    from locmsim.agents.registry import did_you_mean

    return bool(did_you_mean(command.partition(":")[0]))


def check_program(command: str, where: str, game: Game | None = None) -> None:
    """Raise ``ValueError`` if this machine has no program of that name, and say what was meant.

    Parameters
    ----------
    command : str
        A text for which `agent_of` returns None.
    where, game
        As for `agent_of`.
    """
    if hint := _python_file_hint(command):
        raise ValueError(f"{where}: {hint}")
    program = shlex.split(command)[0]
    if shutil.which(program) is None:
        if game is None:
            from locmsim.agents.registry import suggest
        else:
            suggest = game.suggest
        hint = suggest(command.partition(":")[0])
        raise ValueError(f"{where}: no program and no agent is called {program!r}{hint}")


def _python_file_hint(command: str) -> str:
    """Suggest a command for a Python file that cannot be run as it is; "" for anything else."""
    if not command.endswith(".py") or not os.path.isfile(command) or os.access(command, os.X_OK):
        return ""
    with open(command, encoding="utf-8", errors="replace") as file:
        classes = re.findall(r"^class (\w+)", file.read(), re.MULTILINE)
    return (
        f"{command!r} is a Python file: name its class, {command}:"
        f"{classes[0] if classes else 'CLASS'}, or the command, 'python {command}'"
    )
