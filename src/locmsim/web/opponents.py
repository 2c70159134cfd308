"""Who can be played against on the pages, and how the referee gets them."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from locmsim.agents import LEVELS, known_agents, make_agent
from locmsim.arena.tournament import as_player
from locmsim.referee.agent_process import IsolatedAgent
from locmsim.referee.locm_agents import LocmAgents
from locmsim.referee.players import Seat
from locmsim.web.endpoints import Refusal


@dataclass(frozen=True)
class Opponent:
    """An opponent to play against."""

    #: What the page calls it.
    key: str
    #: What people call it.
    name: str
    #: The description of an agent; empty for a program.
    agent: str = ""
    #: The command of a program.
    command: str = ""
    #: The rule sets that they play; empty for all.
    rules: tuple[str, ...] = ()

    def player(self, seed: int) -> str | Sequence[str] | IsolatedAgent:
        """Return the player for the referee, always a process: the package's agents are programs.

        An agent of others tells its author why it failed.
        """
        if not self.agent:
            return self.command
        agents = LocmAgents()
        return Seat(self.agent, agents).outside(seed) or agents.command_of(self.agent, seed)


def opponents(bots: Sequence[str] = ()) -> list[Opponent]:
    """Return who can be played against."""
    found = []
    for i, text in enumerate(bots):
        player, known = as_player(text, LocmAgents())  # of all rule sets
        kind: dict[str, Any] = {"command" if player.process else "agent": player.spec}
        rules = _rules_of(known)
        found.append(Opponent(f"bot{i}", player.name, **kind, rules=rules))
    found += [
        Opponent(f"level{k}", f"Level {k}", agent=f"level:k={k}")
        for k in range(1, 1 + min(map(len, LEVELS.values())))
    ]
    for info in known_agents():
        if info.name == "level":
            continue
        agent: object = info.factory
        if info.package == "locmsim":
            try:
                agent = make_agent(info.name)
            except ValueError:  # it needs an option
                continue
        elif agent is None or inspect.Parameter.empty in info.options.values():
            continue
        # Agents of installed packages are not made here: their classes tell which rules they play.
        key, rules = f"agent-{info.name}", _rules_of(agent)
        found.append(Opponent(key, info.name, agent=info.name, rules=rules))
    return found


def _rules_of(agent: object) -> tuple[str, ...]:
    """Return the rule sets that an agent, or agents of a class, play; () for all."""
    only = getattr(agent, "only_rules", None)
    return (only,) if isinstance(only, str) else ()  # a property, in a class


def opponent_of(known: Mapping[str, Opponent], key: object, rules: str) -> Opponent:
    """Return the opponent of a key, or raise `Refusal`: there is none, or not for these rules."""
    opponent = known.get(key) if isinstance(key, str) else None
    if opponent is None:
        raise Refusal("there is no such opponent")
    if opponent.rules and rules not in opponent.rules:
        raise Refusal(f"{opponent.name} plays rules {' and '.join(opponent.rules)} only")
    return opponent
