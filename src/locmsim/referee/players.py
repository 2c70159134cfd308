"""Players as texts: each is the description of an agent of a game, or the command of a program."""

import os
import re
import shlex
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from locmsim.referee.agent_process import AgentFacts

__all__ = ["Agents", "agent_of", "check_program", "is_foreign_text", "known_of"]


class Agents(Protocol):
    """The agents of a game: what a `locmsim.contract.Game` says of them."""

    def is_agent(self, spec: str) -> bool:
        """Return whether a text describes an agent."""

    def make_agent(self, spec: str) -> Any:
        """Return a new agent; ``ValueError`` says what is wrong with its description."""

    def suggest(self, name: str) -> str:
        """Return the end of a message about an unknown name."""


def agent_of(text: str, where: str, game: Agents) -> Any:
    """Return a new agent if a text describes one, and None if it is the command of a program.

    Parameters
    ----------
    text : str
        Such as ``"beam:time_ms=50"``, ``"bots/mine.py:Mine"`` or ``"./mybot --fast"``.
    where : str
        What gave the text: an option, or a player. Messages begin with it.
    game : Agents
        The game.

    Raises
    ------
    ValueError
        The agent cannot be created, or the command is empty or not quoted correctly.
    """
    try:
        if game.is_agent(text):
            return game.make_agent(text)
        if not shlex.split(text):
            raise ValueError("the command is empty")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return None


def is_foreign_text(text: str, game: Agents) -> bool:
    """Return whether a text describes an agent with code that is not part of the library.

    Nothing is imported. Agents of other games are parts of these games.
    """
    is_foreign = getattr(game, "is_foreign", None)
    return is_foreign is not None and game.is_agent(text) and bool(is_foreign(text))


def known_of(text: str, where: str, game: Agents) -> "AgentFacts | None":
    """Return what is known of the agent that a text describes; None for a command of a program.

    An agent of others is made in a process of its own: whatever it does does not end this one.

    Parameters
    ----------
    text, where, game
        As for `agent_of`.

    Raises
    ------
    ValueError
        As for `agent_of`; or the agent ended its process, or was not made within two minutes.
    OSError
        The machine has no processes, descriptors or memory left.
    """
    from locmsim.referee.agent_process import UnusableAgentError, facts_of, look_at

    if not is_foreign_text(text, game):
        agent = agent_of(text, where, game)
        return None if agent is None else facts_of(agent)
    try:
        return look_at(partial(agent_of, text, where, game))
    except UnusableAgentError as error:
        message = str(error)
        prefix = "" if message.startswith(f"{where}: ") else f"{where}: "
        raise ValueError(f"{prefix}{message}") from None


def check_program(command: str, where: str, game: Agents) -> None:
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
    from locmsim.referee.process import quoting_hint

    program = shlex.split(command)[0]
    if shutil.which(program) is None:
        hint = quoting_hint(command) or game.suggest(command.partition(":")[0])
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
