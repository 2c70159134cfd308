"""The agents of Legends of Code and Magic, for commands that start before any game is imported."""

import re
import sys
from typing import Any

#: Text that may name an agent. Most commands of programs do not match, and then the agents are
#: not imported: a referee is started once for every game.
_MAYBE_AGENT = re.compile(r"[\w.+-]+(:.*)?|.+\.py:[^\W\d]\w*(:.*)?", re.DOTALL)


def may_be_agent(text: str) -> bool:
    """Return whether a text has the form of an agent's description; most commands do not."""
    return bool(_MAYBE_AGENT.fullmatch(text))


class LocmAgents:
    """The agents of Legends of Code and Magic, of one rule set or all, imported when needed."""

    #: The rule set that they must play; None for any.
    rules: str | None = None

    def __init__(self, rules: str | None = None) -> None:
        self.rules = rules

    def is_agent(self, spec: str) -> bool:
        """Return whether a text describes an agent, see `locmsim.agents.registry`.

        Parameters
        ----------
        spec : str
            A description or a command.
        """
        if not may_be_agent(spec):
            return False
        from locmsim.agents.registry import is_agent

        return is_agent(spec)

    def is_foreign(self, spec: str) -> bool:
        """Return whether the description of an agent names code that is not of the library.

        Parameters
        ----------
        spec : str
            A description for which `is_agent` holds.
        """
        from locmsim.agents.registry import is_foreign

        return is_foreign(spec)

    def make_agent(self, spec: str) -> Any:
        """Return the agent that a text describes.

        Parameters
        ----------
        spec : str
            A description.

        Raises
        ------
        ValueError
            The agent is unknown or plays only another rule set.
        """
        from locmsim.agents.registry import check_rules, make_agent

        agent = make_agent(spec)
        return agent if self.rules is None else check_rules(agent, self.rules)

    def command_of(self, spec: str, seed: int) -> list[str]:
        """Return the command of a program that plays as an agent.

        Parameters
        ----------
        spec : str
            A description.
        seed : int
            The seed of the agent.
        """
        # -P: a file in the working directory must not replace a module of the library.
        command = [sys.executable, "-P", "-m", "locmsim.bot"]
        return [*command, "--agent", spec, "--seed", str(seed)]

    def combined(self, chooser: Any, pilot: Any) -> Any:
        """Return the agent who plays with the cards that another one chooses.

        Parameters
        ----------
        chooser, pilot : Agent
            The two agents.
        """
        from locmsim.agents.combined import CombinedAgent

        return CombinedAgent(chooser, pilot)

    def refuse_own_cards(self, spec: str, other: str, why: str) -> None:
        """Check that a description does not say how the agent chooses cards where others do.

        Parameters
        ----------
        spec : str
            A description.
        other : str
            The option by which others choose them.

        Raises
        ------
        ValueError
            It does, as in `locmsim.agents.registry.refuse_own_cards`.
        """
        from locmsim.agents.registry import refuse_own_cards

        refuse_own_cards(spec, other, why)

    def chooser(self, text: str) -> str:
        """Return the description of an agent that chooses cards as a text says.

        Parameters
        ----------
        text : str
            An agent's description, or a value of the options ``deck`` and ``draft`` of agents.

        Raises
        ------
        ValueError
            It is neither.
        """
        from locmsim.agents.combined import chooser_description

        return chooser_description(text)

    def suggest(self, name: str) -> str:
        """Return the end of a message that names the agent that was probably meant.

        Parameters
        ----------
        name : str
            An unknown name.
        """
        from locmsim.agents.registry import suggest

        return suggest(name)
