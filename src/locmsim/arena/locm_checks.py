"""The checks of Legends of Code and Magic, and the agents that bring a bot into odd positions."""

import json
from typing import Any

from locmsim._core import State
from locmsim.agents.registry import make_agent
from locmsim.decks.builders import deck_line
from locmsim.game.answers import answer_line
from locmsim.game.observation import Observation
from locmsim.referee.checks import Check
from locmsim.rules.actions import ActionKind
from locmsim.rules.cards import Area, Card, CardType
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules
from locmsim.support.files import data_file

#: How many creatures are in the deck of a player whose deck is to run out.
_FEW = 6


class _Passive:
    """Takes the first cards and never acts: the hand fills up, and turns begin to hurt."""

    def reset(self, seed: int = 0) -> None:
        """Start a new game."""
        self._chosen: list[Card] = []

    def choose(self, observation: Observation) -> str:
        """Choose the cards of the highest `_worth`, each as often as the rules allow."""
        offer = observation.offer
        draft = get_rules(observation.rules).draft
        wanted = 1 if draft else DECK_SIZE
        picked: list[int] = []
        while len(picked) < wanted:
            free = [i for i in range(len(offer)) if picked.count(i) < COPIES_PER_CARD]
            picked.append(max(free, key=lambda i: self._worth(offer[i])))
            self._chosen.append(offer[picked[-1]])
        return f"PICK {picked[0]}" if draft else deck_line([offer[i].base_id for i in picked])

    def _worth(self, card: Card) -> float:
        return 0.0

    def act(self, observation: Observation) -> str:
        """End the turn."""
        return "PASS"


class _Crowd(_Passive):
    """Summons and improves creatures and never attacks: boards are full. Prefers areas."""

    def _worth(self, card: Card) -> float:
        return 100 * (card.type == CardType.CREATURE) + 20 * (card.area != Area.TARGET) - card.cost

    def act(self, observation: Observation) -> str:
        """Play cards as long as there is a creature to summon or to improve."""
        state, words = State.from_observation(observation), []
        while actions := [a for a in state.legal_actions() if self._wanted(state, a)]:
            words.append(state.action_to_string(actions[-1]))
            state.apply_action(actions[-1])
        return answer_line(words)

    def _wanted(self, state: State, number: int) -> bool:
        action = state.action(number)
        if action.kind == ActionKind.USE:
            return action.card is not None and action.card.type == CardType.GREEN
        return action.kind == ActionKind.SUMMON


class _Spender(_Crowd):
    """Plays all cards and attacks creatures only, so that the deck runs out."""

    def _worth(self, card: Card) -> float:
        creatures = sum(one.type == CardType.CREATURE for one in self._chosen)
        if creatures < _FEW:
            return 100 * (card.type == CardType.CREATURE) - card.cost
        kinds = (CardType.CREATURE, CardType.RED, CardType.BLUE, CardType.GREEN)
        # The opponent should live long.
        hurt = card.opponent_health_change + (card.type == CardType.BLUE) * card.defense
        return 100 * kinds.index(CardType(card.type)) - card.cost + 20 * min(0, hurt)

    def _wanted(self, state: State, number: int) -> bool:
        action = state.action(number)
        return action.kind != ActionKind.PASS and (
            action.kind != ActionKind.ATTACK or action.target != -1
        )


_AGENTS = {"passive": _Passive, "crowd": _Crowd, "spender": _Spender}


def check_agent(spec: str) -> Any:
    """Return the agent of a check."""
    return _AGENTS[spec]() if spec in _AGENTS else make_agent(spec)


def checks(rules: str) -> list[Check]:
    """Return the checks of a rule set."""
    found = [
        Check("a match, going first", ("", "greedy"), 1),
        Check("a match, going second", ("greedy", ""), 2),
        Check("an opponent who only passes", ("", "passive"), 3),
        Check("an opponent who only passes, going second", ("passive", ""), 4),
        Check("full boards", ("crowd", "crowd"), 5, seat=0),
        Check("full boards, going second", ("crowd", "crowd"), 6, seat=1),
        Check("empty boards and full hands", ("passive", "passive"), 7, seat=0),
        Check("empty boards and full hands, going second", ("passive", "passive"), 8, seat=1),
        Check("a long match and an empty deck", ("spender", "crowd"), 10, seat=0),
        Check("an opponent with an empty deck", ("spender", "crowd"), 10, seat=1),
        Check("attacks on a full board", ("max-attack", "crowd"), 11, seat=1),
        Check("lines that end in CR LF", ("greedy", "greedy"), 12, seat=0, line_end="\r\n"),
    ]
    if get_rules(rules).areas:
        found.append(Check("copies of cards with an area", ("crowd", "greedy"), 13, seat=0))
    return [*found, *_recorded(get_rules(rules).name)]


def _recorded(rules: str) -> list[Check]:
    """Return the checks with positions of recorded matches (tools/check_positions.py)."""
    with open(data_file("check-positions.json"), encoding="utf-8") as file:
        matches = json.load(file)[rules]
    return [
        Check(
            f"recorded match {number}: {', '.join(one['shows'])}",
            ("", ""),
            one["seed"],
            seat=one["seat"],
            answers=tuple((seat, line) for seat, line in one["answers"]),
        )
        for number, one in enumerate(matches, 1)
    ]
