"""From the protocol to what a policy acts on: the same numbers that environments show."""

from locmsim._core import State
from locmsim.game._turn_view import TurnView
from locmsim.game.observation import HAND, Observation
from locmsim.rules.rulesets import RULES
from locmsim.search.belief import Belief

__all__ = ["PlayerTracker", "TurnView"]


class PlayerTracker:
    """Follows a game by what one player is shown, and gives a `TurnView` for each of their turns.

    Show it the observations of the battle in order, once each, together with a `Belief` that has
    seen them too (and the choice phase before).
    """

    def __init__(self) -> None:
        self._hand: frozenset[int] | None = None

    def view(self, observation: Observation, belief: Belief) -> tuple[State, TurnView]:
        """Return a state that stands for the observation, and the view of it.

        Parameters
        ----------
        observation : Observation
            Of the battle.
        belief : Belief
            That has just seen it.

        Raises
        ------
        ValueError
            For an observation of the choice phase.
        """
        state = belief.sample(0)
        hand = [row.instance_id for row in observation.at(HAND)]
        if self._hand is None:  # the opening hand is older than the first draw
            new = hand[len(hand) - min(len(hand), observation.me.draw) :]
        else:
            new = [number for number in hand if number not in self._hand]
        self._hand = frozenset(hand)
        came: set[int] = set()
        for _, text in observation.opponent_actions:
            word, number = text.split(" ")[:2]
            if word == "SUMMON":
                came.add(int(number))
                if RULES[observation.rules].areas:  # an area copy has the next id
                    came.add(int(number) + 1)
        cards = {card.base_id: card for card in state.table.pool}
        shown = [cards[base] for base in belief.opponent_cards if base in cards]
        played = [cards[base] for base in belief.played_cards if base in cards]
        return state, TurnView(state, new, came, shown, played)
