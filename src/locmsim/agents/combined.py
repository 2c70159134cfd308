"""Two agents as one: one chooses the cards, the other plays them."""

from typing import Any

from locmsim.agents.base import Agent, ChoosingAgent
from locmsim.agents.choosers import deck_builder_of, draft_picker_of
from locmsim.agents.registry import is_agent, is_foreign, make_agent, parse_spec
from locmsim.game.choice import chosen_by
from locmsim.game.observation import Observation
from locmsim.rules.rulesets import DECK_SIZE, get_rules


class CombinedAgent:
    """An agent that plays the deck of another one.

    Parameters
    ----------
    chooser : Agent
        Chooses the cards.
    pilot : Agent
        Plays the battle. One that derives from `ChoosingAgent` knows the deck as its own; any other
        is asked as usual, and its choice is replaced.
    """

    def __init__(self, chooser: Agent, pilot: Agent) -> None:
        self.chooser = chooser
        self.pilot = pilot

    def __getattr__(self, name: str) -> Any:
        """Return an optional attribute of the pilot, such as ``time_ms``."""
        if name in ("chooser", "pilot"):  # while a copy is made
            raise AttributeError(name)
        return getattr(self.pilot, name)

    def reset(self, seed: int = 0) -> None:
        """Start a new game.

        Parameters
        ----------
        seed : int
            The answers depend only on the seed and the observations.
        """
        self.chooser.reset(seed)
        self.pilot.reset(seed)

    def choose(self, observation: Observation) -> str:
        """Return the chooser's answer, which the pilot takes for its own.

        Parameters
        ----------
        observation : Observation
            The observation of the player.
        """
        line = self.chooser.choose(observation)
        draft = get_rules(observation.rules).draft
        chosen = chosen_by(line, observation.offer, observation.rules)
        if isinstance(self.pilot, ChoosingAgent) and len(chosen) == (1 if draft else DECK_SIZE):
            base_ids = [card.base_id for card in observation.offer]
            name = "pick" if draft else "build"
            setattr(self.pilot, name, _Fixed(base_ids.index(chosen[0]) if draft else chosen))
            try:
                self.pilot.choose(observation)
            finally:
                delattr(self.pilot, name)
        else:
            self.pilot.choose(observation)
        return line

    def act(self, observation: Observation) -> str:
        """Return the pilot's answer.

        Parameters
        ----------
        observation : Observation
            The observation of the player.
        """
        return self.pilot.act(observation)


def chooser_description(text: str) -> str:
    """Return the description of an agent that chooses cards as a text says.

    Parameters
    ----------
    text : str
        The description of an agent, or a value of the options ``deck`` or ``draft`` of agents, see
        `locmsim.agents.choosers`; a function of a file only as such an option of an agent.

    Raises
    ------
    ValueError
        A policy can neither choose cards nor play, or a name is unknown.
    """
    refused = ValueError(f"expected an agent or a way to choose cards, got {text!r}")
    if is_agent(text):
        if is_foreign(text) or parse_spec(text).name != "policy":
            return text
        try:
            make_agent(text)
            return text
        except ValueError as error:
            refused = error  # it may choose cards and play no battles
    elif ":" in text:
        raise refused
    value = '"{}"'.format(text.replace('"', '""'))
    options = []
    for option, chooser_of in (("deck", deck_builder_of), ("draft", draft_picker_of)):
        try:
            chooser_of(text)
            options.append(f"{option}={value}")
        except ValueError:
            pass
    if not options:
        raise refused
    return f"random:{','.join(options)}"


class _Fixed:
    """A heuristic that returns one choice, whatever it is offered."""

    def __init__(self, choice: Any) -> None:
        self._choice = choice

    def __call__(self, *offer: object) -> Any:
        return self._choice
