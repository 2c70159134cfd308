"""What the engine would do in a person's place, from what that person was sent."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from locmsim._core import State
from locmsim.decks import build_deck, pick
from locmsim.game.action_text import line_words
from locmsim.game.observation import Observation
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES
from locmsim.search.belief import Belief
from locmsim.search.turn_search import BeamSearch
from locmsim.web.views import Cards

__all__ = ["Question", "hint"]


class Question(NamedTuple):
    """What a person is asked, and what they know."""

    #: All observations so far, the last of which is asked about.
    seen: list[Observation]
    #: The cards that they have chosen, by base id.
    picked: list[int]
    #: The state at the start of their turn; None in the choice phase.
    start: State | None

    @property
    def belief(self) -> Belief:
        """What they know of the opponent."""
        belief = Belief()
        chosen = iter(self.picked)
        for shown in self.seen:
            belief.see(shown)
            if shown.phase == "choice":
                belief.chose([next(chosen)] if RULES[shown.rules].draft else chosen)
        return belief


def hint(
    question: Question,
    cards: Cards,
    by_id: Mapping[int, Card],
    names: tuple[str, str],
    *,
    time_ms: float | None,
    nodes: int | None,
) -> dict[str, Any]:
    """Return what the deck builder, the draft picker or the beam search would do.

    Parameters
    ----------
    question : Question
        What is asked.
    cards : Cards
        Those of the page.
    by_id : mapping
        The cards on offer by base id.
    names : tuple of str
        Of the players.
    time_ms, nodes : float, int
        Bounds of the search; None for none.

    Returns
    -------
    dict
        As of `locmsim.web.games.PageGame.hint`.
    """
    observation = question.seen[-1]
    if observation.phase == "choice":
        return {"cards": [cards.key(by_id[base_id]) for base_id in _choice(question, by_id)]}
    assert question.start is not None
    found = BeamSearch().search(observation, time_ms=time_ms, nodes=nodes, belief=question.belief)
    actions = [] if found.line == "PASS" else found.line.split(";")
    words = line_words(question.start, actions, names, cards.titles)
    return {"actions": actions, "words": words, "chance": (1 + found.value) / 2}


def _choice(question: Question, by_id: Mapping[int, Card]) -> list[int]:
    """Return the base ids of a deck, or of one card of a draft."""
    observation = question.seen[-1]
    if not RULES[observation.rules].draft:
        return [*build_deck(observation.offer)]
    had = [by_id[base_id] for base_id in question.picked]
    earlier = [shown.offer for shown in question.seen[: len(had)]]
    choice = pick(observation.offer, had, observation.rules, earlier=earlier)
    return [observation.offer[choice].base_id]
