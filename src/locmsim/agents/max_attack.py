"""gym-locm's agent max-attack, which fights as the contest's second baseline did."""

from dataclasses import dataclass

from locmsim._core import State
from locmsim.agents.base import BaseAgent
from locmsim.decks import DeckBuilder
from locmsim.rules.actions import Action, ActionKind
from locmsim.rules.cards import CardType
from locmsim.rules.rulesets import RULES

__all__ = ["MaxAttackAgent", "max_attack_action"]


@dataclass
class MaxAttackAgent(BaseAgent):
    """gym-locm's max-attack: attacks with the strongest, then summons the strongest; no items.

    See `max_attack_action`.
    """

    deck: str | DeckBuilder = "classic"

    def plan(self, state: State, started: float) -> list[int]:
        actions = []
        state = state.clone()
        while action := max_attack_action(state):
            actions.append(action)
            state.apply_action(action)
        return actions


def max_attack_action(state: State) -> int:
    """The next action: an attack if there is one, else a summoning, else PASS.

    In the first lane in which a creature may attack, the one with the highest attack does: the
    first Guard if there is one, else the opponent. Without attacks the creature in hand with the
    highest attack that there is mana for is summoned, in the first lane with room. Of equal ones
    it is the first.

    Parameters
    ----------
    state : State
        At any point of its mover's turn, or finished.

    Returns
    -------
    int
    """
    if state.is_terminal():
        return 0
    rules = RULES[state.rules]
    player = state.current_player()
    me, opponent = state.players[player], state.players[1 - player]
    for lane in range(rules.lanes):
        ready = [c for c in me.board if c.lane == lane and c.can_attack]
        guards = [c.id for c in opponent.board if c.lane == lane and "G" in c.abilities]
        if ready:
            strongest = max(ready, key=lambda creature: creature.attack)
            target = guards[0] if guards else -1
            return state.action_number(
                Action(ActionKind.ATTACK, strongest.card, strongest.id, target)
            )
    affordable = [held for held in me.hand if held.card.cost <= me.mana]
    creatures = [held for held in affordable if held.card.type == CardType.CREATURE]
    taken = [sum(c.lane == lane for c in me.board) for lane in range(rules.lanes)]
    room = [lane for lane, number in enumerate(taken) if number < rules.lane_size]
    if not creatures or not room:
        return 0
    strongest_card = max(creatures, key=lambda held: held.card.attack)
    card, number = strongest_card.card, strongest_card.id
    where = room[0] if rules.lanes > 1 else None
    return state.action_number(Action(ActionKind.SUMMON, card, number, lane=where))
