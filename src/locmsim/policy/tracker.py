"""From the protocol to a policy's input: the same observations as in environments."""

from locmsim._core import State
from locmsim.game._turn_view import TurnView
from locmsim.game.observation import HAND, Observation
from locmsim.search.belief import Belief

__all__ = ["PlayerTracker", "TurnView"]


class PlayerTracker:
    """Tracks a game from one player's observations and returns a `TurnView` for each turn.

    Pass it the observations of the battle in order, once each, together with a `Belief` that has
    seen them too, including those of the choice phase.
    """

    def __init__(self) -> None:
        self._hand: frozenset[int] | None = None

    def view(self, observation: Observation, belief: Belief) -> tuple[State, TurnView]:
        """Return a state that stands for the observation, and the view of it.

        Parameters
        ----------
        observation : Observation
            An observation of the battle.
        belief : Belief
            A belief whose last observation is this one.

        Raises
        ------
        ValueError
            The observation is one of the choice phase.
        """
        state = belief.sample(0)
        hand = [row.instance_id for row in observation.at(HAND)]
        if self._hand is None:  # the opening hand is older than the first draw
            new = hand[len(hand) - min(len(hand), observation.me.draw) :]
        else:
            new = [number for number in hand if number not in self._hand]
        self._hand = frozenset(hand)
        came = {
            int(text.split(" ")[1])
            for _, text in observation.opponent_actions
            if text.startswith("SUMMON")
        }
        cards = {card.base_id: card for card in state.table.pool}
        shown = [cards[base] for base in belief.opponent_cards if base in cards]
        played = [cards[base] for base in belief.played_cards if base in cards]
        return state, TurnView(state, new, came, shown, played)
