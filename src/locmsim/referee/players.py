"""Who plays a seat of a match: the command of a program, or an agent and where it plays."""

import os
import pickle
import re
import shlex
import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, cast

from locmsim.contract import Contestant, Match
from locmsim.options.texts import make
from locmsim.processes.supervisor import Supervisor
from locmsim.referee.agent_process import (
    AgentFacts,
    AgentProcess,
    IsolatedAgent,
    UnusableAgentError,
    facts_of,
    look_at,
    ready,
)
from locmsim.referee.process import BotFault, quoting_hint


class Agents(Protocol):
    """The agents of a game: what a `locmsim.contract.Game` says of them."""

    def is_agent(self, spec: str) -> bool:
        """Return whether a text describes an agent."""

    def make_agent(self, spec: str) -> Any:
        """Return a new agent; ``ValueError`` says what is wrong with its description."""

    def command_of(self, spec: str, seed: int) -> Sequence[str] | None:
        """Return the command of a program that plays as an agent; None if there is none."""

    def suggest(self, name: str) -> str:
        """Return the end of a message about an unknown name."""


@dataclass(frozen=True)
class Seat:
    """Who plays a seat of matches, and where: the one decision for all that play.

    Parameters
    ----------
    text : str
        The description of an agent, or the command of a program.
    game : Agents
        The game.
    where : str
        What gave the text: an option, or a player. Messages begin with it; empty for none.
    process : bool
        Whether it is a program.
    agent : class or agent, optional
        The agent's class, or the agent, in place of what the text describes.
    decks : str
        The description of the agent who chooses the agent's cards; empty if it does.
    pilot : str
        The description of the agent who plays with the agent's cards; empty if it does.
    """

    text: str
    game: Agents
    where: str = ""
    process: bool = False
    agent: Any = None
    decks: str = ""
    pilot: str = ""

    @cached_property
    def apart(self) -> bool:
        """Whether code of others plays in the agent that other processes find, and may so be there.

        Others than the library and the game's package. Of the text of an agent of Legends of Code
        and Magic nothing is imported.
        """
        if self.process:
            return False
        shared = self.decks or self.pilot
        if shared and Seat(shared, self.game, self.where).apart:
            return True
        is_foreign = getattr(self.game, "is_foreign", None)
        if self.agent is None and is_foreign is not None:
            return self.game.is_agent(self.text) and bool(is_foreign(self.text))
        return self._of_others

    @cached_property
    def foreign(self) -> bool:
        """Whether code of others plays in the agent: also that of a class which only this process
        has in its table.
        """
        return not self.process and (self.apart or self._of_others)

    @property
    def _of_others(self) -> bool:
        if ".py:" in self.text:
            return True
        kind = self.agent
        if kind is None:
            try:
                kind = _kind_of(cast(Hashable, self.game), self.text)
            except ValueError as error:
                raise ValueError(self._said(error)) from error
        return _package(kind) not in ("locmsim", _package(self.game))

    def make(self) -> Contestant:
        """Return a new agent, in this process.

        Raises
        ------
        ValueError
            It cannot be created.
        """
        try:
            game: Any = self.game
            agent: Contestant = self._own()
            if not (self.decks or self.pilot):
                return agent
            other = self.game.make_agent(self.decks or self.pilot)
            both: Contestant = game.combined(*((other, agent) if self.decks else (agent, other)))
            return both
        except ValueError as error:
            if not self.where:
                raise
            raise ValueError(self._said(error)) from error

    def _own(self) -> Any:
        if isinstance(self.agent, type):
            return make(self.where or self.text, self.agent, {})
        return self.game.make_agent(self.text) if self.agent is None else self.agent

    def _said(self, error: object) -> str:
        before = f"{self.where}: " if self.where else ""
        return f"{before}{str(error).removeprefix(before)}"

    def known(self) -> AgentFacts | None:
        """Return what is known of the agent; None for a program.

        An agent of others is made in a process of its own: whatever it does does not end this one.

        Raises
        ------
        ValueError
            It cannot be created; or it ended its process, or was not made within two minutes.
        OSError
            The machine has no processes, descriptors or memory left.
        """
        if self.process:
            return None
        if not self.apart:
            return facts_of(self.make())
        try:
            return look_at(self.make)
        except UnusableAgentError as error:
            raise ValueError(self._said(error)) from None

    def check(self) -> None:
        """Check the description, as far as that needs no code of others: ``ValueError``."""
        if not (self.process or self.apart):
            self.make()

    def check_program(self) -> None:
        """Raise ``ValueError`` if this machine has no such program, and say what was meant."""
        import shutil  # slow to import, and not needed to play

        command = self.text
        if hint := _python_file_hint(command):
            raise ValueError(self._said(hint))
        program = shlex.split(command)[0]
        if shutil.which(program) is None:
            hint = quoting_hint(command) or self.game.suggest(command.partition(":")[0])
            raise ValueError(self._said(f"no program and no agent is called {program!r}{hint}"))

    def check_sent(self) -> None:
        """Raise ``ValueError`` if the agent, an object, cannot be sent to other processes."""
        kind = self.agent if isinstance(self.agent, type) else type(self.agent)
        reason = ""
        if kind.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
            reason = f"{kind.__name__} was defined at a prompt or in a notebook"
        try:
            pickle.dumps(self.agent)
        except Exception as error:
            reason = str(error)
        if reason:
            raise ValueError(
                f"{self.where} cannot be sent to other processes ({reason}): play with jobs=1, or"
                " give its class from a module"
            )

    def outside(
        self, seed: int, *, isolate: bool = False, apart: bool = True, known: bool = False
    ) -> str | Sequence[str] | IsolatedAgent | None:
        """Return the player for the referee if it plays outside this process; None if within it.

        Parameters
        ----------
        seed : int
            The seed of an agent.
        isolate : bool
            Whether all agents play in processes of their own, by the game's protocol if it has one.
        apart : bool
            Whether agents of others do: they must not end this process.
        known : bool
            Whether they were made before, so that an error as one is made is its own.
        """
        if self.process:
            return self.text
        if isolate and self.agent is None and not (self.decks or self.pilot):
            command = self.game.command_of(self.text, seed)
            if command is not None:
                return command
        if isolate or (apart and self.apart):
            return IsolatedAgent(self.make, seed, known=known and self.apart)
        return None

    def player(self, seed: int, *, isolate: bool = False) -> Any:
        """Return the player for the referee, a program or an agent that is reset, wherever it is.

        Parameters
        ----------
        seed, isolate
            As for `outside`.

        Raises
        ------
        ValueError, OSError
            As for `known`.
        """
        if isolate:
            self.known()  # what is wrong with it is said here
        found = self.outside(seed, isolate=isolate)
        return ready(self.make(), seed) if found is None else found


class KeptAgents:
    """Agents that play one match after the other: each in this process, or in one of its own."""

    def __init__(self) -> None:
        self._agents: dict[str, Contestant] = {}
        self._processes: dict[Hashable, AgentProcess] = {}
        self._supervisor = Supervisor()

    def player(self, seat: Seat, seed: int, match: Match) -> Any:
        """Return the player of a seat for a match, as `Seat.player` does."""
        found = seat.outside(seed)
        if isinstance(found, IsolatedAgent):
            return self.process((seat.text, seed), found, match)
        if found is None:
            if seat.text not in self._agents:
                self._agents[seat.text] = seat.make()
            return ready(self._agents[seat.text], seed)
        return found

    def process(
        self, key: Hashable, isolated: IsolatedAgent, match: Match, cores: Sequence[int] = ()
    ) -> Any:
        """Return the process of an agent, who is to play a match, or the fault that it had."""
        if key in self._processes:
            self._processes[key].renew(match, isolated.seed)
            return self._processes[key]
        try:
            self._processes[key] = AgentProcess(isolated, match, self._supervisor, cores=cores)
        except BotFault as fault:
            return fault
        return self._processes[key]

    def end(self) -> None:
        """End the processes of agents; others are started when they are needed."""
        self._supervisor.end()
        self._processes, self._supervisor = {}, Supervisor()


def seat_of(text: str, where: str, game: Agents, decks: str = "") -> Seat:
    """Return who a text is: an agent if it describes one, and else the command of a program.

    Parameters
    ----------
    text : str
        Such as ``"beam:time_ms=50"``, ``"bots/mine.py:Mine"`` or ``"./mybot --fast"``.
    where, game, decks
        As for `Seat`.

    Raises
    ------
    ValueError
        The command is empty or not quoted correctly.
    """
    process = not game.is_agent(text)
    try:
        if process and not shlex.split(text):
            raise ValueError("the command is empty")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return Seat(text, game, where, process, decks="" if process else decks)


@lru_cache(maxsize=256)
def _kind_of(game: Any, text: str) -> type:
    """Return the class of an agent; every task of a worker asks, and making one may take long."""
    return type(game.make_agent(text))


def _package(thing: object) -> str:
    return str(getattr(thing, "__module__", "")).partition(".")[0]


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
