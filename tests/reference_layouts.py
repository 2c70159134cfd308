"""The observation layouts in slow, plain Python, as a reference for the compiled writers.

They are written from the tables of the layouts. `Past` watches a game from outside, action by
action, and uses only `State.players`.
"""

from collections import Counter
from functools import cache

import numpy as np

from locmsim import State
from locmsim.rules.cards import ABILITIES, Area, Card, CardType
from locmsim.rules.rulesets import get_rules

SLOTS = 6


def clip(value: int) -> int:
    return max(-127, min(127, value))


class Past:
    """The history of a game so far, for both players."""

    def __init__(self, state: State) -> None:
        self.state = state.clone()
        self.began = [self.board_ids(p) for p in (0, 1)]
        self.drawn: list[set[int]] = [set(), set()]
        self.shown: list[list[Card]] = [[], []]
        self.actions = 0

    @classmethod
    def of_deal(cls, state: State) -> "Past":
        """Return the history at the first action of a battle, when player 0 has drawn one card."""
        past = cls(state)
        past.drawn[0] = {state.players[0].hand[-1].id}
        return past

    def board_ids(self, player: int) -> set[int]:
        return {creature.id for creature in self.state.players[player].board}

    def hand_ids(self, player: int) -> set[int]:
        return {card.id for card in self.state.players[player].hand}

    def apply(self, action: int) -> None:
        mover = self.state.turn & 1
        text = self.state.action_to_string(action)
        if text == "PASS":
            other = 1 - mover
            before = self.hand_ids(other)
            self.state.apply_action(action)
            self.drawn[other] = self.hand_ids(other) - before
            self.began[other] = self.board_ids(other)
            self.actions = 0
            return
        self.actions += 1
        word, number = text.split()[:2]
        if word != "ATTACK":
            cards = {card.id: card.card for card in self.state.players[mover].hand}
            self.shown[mover].append(cards[int(number)])
        self.state.apply_action(action)


def slots(state: State, player: int) -> list:
    """Return a player's creatures by slot, with None for an empty slot."""
    result: list = [None] * SLOTS
    size = 6 if state.rules == "1.0" else 3
    for creature in state.players[player].board:
        place = size * creature.lane
        while result[place] is not None:
            place += 1
        result[place] = creature
    return result


def keywords(abilities: str) -> list[int]:
    return [int(letter in abilities) for letter in ABILITIES]


def pile(cards: list[Card]) -> list[int]:
    counts = [sum(card.type == kind for card in cards) for kind in CardType]
    counts += [sum(min(card.cost, 7) == cost for card in cards) for cost in range(8)]
    creatures = [card for card in cards if card.type == CardType.CREATURE]
    return [
        *counts,
        clip(sum(card.card_draw for card in cards)),
        sum(card.area != Area.TARGET for card in cards),
        sum("C" in card.abilities for card in creatures),
        sum("G" in card.abilities for card in creatures),
    ]


def entities(state: State, player: int, past: Past | None = None) -> np.ndarray:
    """Return the observation in layout "entities"; without `past`, fields that need it are 0."""
    me, op = state.players[player], state.players[1 - player]
    mine = state.turn & 1 == player

    def third(view) -> int:
        return view.lost_health % 5 if state.rules == "1.5" else len(view.runes)

    shown = past.shown[1 - player] if past else []
    rows = [
        clip(me.health), me.mana, me.max_mana, me.bonus_mana, clip(me.next_draw), third(me),
        me.deck_size, me.hand_size,
        clip(op.health), op.max_mana, op.bonus_mana, clip(op.next_draw), third(op), op.deck_size,
        op.hand_size, len(shown),
        clip(state.turn // 2), player, past.actions if past and mine else 0,
        *[int(state.rules == rules) for rules in ("1.5", "1.2", "1.0")],
        int(state.rules != "1.0"), clip(me.shown_draw) if mine else 0,
    ]  # fmt: skip
    deck = [card.card for card in me.deck]
    hand = np.zeros((8, 24), int)
    for h, (number, card) in enumerate(me.hand):
        kinds = [int(card.type == kind) for kind in CardType]
        hand[h, :22] = [
            1, *kinds, card.cost, clip(card.attack), clip(card.defense),
            clip(card.my_health_change), clip(card.opponent_health_change), card.card_draw,
            *keywords(card.abilities),
            card.area == Area.LANE1, card.area == Area.LANE2, card.cost <= me.mana,
            sum(other.base_id == card.base_id for other in deck),
            bool(past) and number in past.drawn[player],
        ]  # fmt: skip
    boards = []
    for who in (player, 1 - player):
        board = np.zeros((SLOTS, 16), int)
        for slot, creature in enumerate(slots(state, who)):
            if creature is None:
                continue
            own = who == player
            board[slot, :15] = [
                1, creature.lane, clip(creature.attack), clip(creature.defense),
                *keywords(creature.abilities), own and creature.can_attack,
                own and creature.has_attacked,
                bool(past) and creature.id not in past.began[who],
                state.rules == "1.5" and creature.id % 2, creature.card.cost,
            ]  # fmt: skip
        boards.append(board)
    parts = [rows, hand.ravel(), *[board.ravel() for board in boards], pile(deck), pile(shown)]
    return np.concatenate(parts).astype(np.int8)


def gym_locm(state: State, player: int, past: Past | None = None) -> np.ndarray:
    """Return the observation in layout "gym-locm"; without `past`, `can_attack` is unchanged."""
    me, op = state.players[player], state.players[1 - player]

    def head(view, mana: int) -> list[float]:
        rune = [max(view.runes, default=0) / 30] if state.rules != "1.5" else []
        return [view.health / 30, mana / 13, *rune, view.next_draw / 6]

    hand = np.zeros((8, 17 if state.rules == "1.5" else 16))
    for h, (_, card) in enumerate(me.hand):
        area = [card.area / 2] if state.rules == "1.5" else []
        hand[h] = [
            *[card.type == kind for kind in CardType], card.cost / 12, card.attack / 12,
            max(-12, card.defense) / 12, card.my_health_change / 12,
            card.opponent_health_change / 12, card.card_draw / 2, *keywords(card.abilities), *area,
        ]  # fmt: skip
    own, enemy = np.zeros((SLOTS, 9)), np.zeros((SLOTS, 8))
    for slot, creature in enumerate(slots(state, player)):
        if creature is not None:
            ready = creature.can_attack and (not past or creature.id in past.began[player])
            values = creature.attack / 12, creature.defense / 12, ready
            own[slot] = [*values, *keywords(creature.abilities)]
    for slot, creature in enumerate(slots(state, 1 - player)):
        if creature is not None:
            values = creature.attack / 12, creature.defense / 12
            enemy[slot] = [*values, *keywords(creature.abilities)]
    heads = head(me, me.mana) + head(op, op.max_mana)
    parts = [heads, hand.ravel(), own.ravel(), enemy.ravel()]
    return np.concatenate(parts).astype(np.float32)


WRITERS = {"entities": entities, "gym-locm": gym_locm}


@cache
def card_row(card: Card) -> list[int]:
    """Return a card as it is in the hand of layout "entities"."""
    row = [1, *(int(card.type == kind) for kind in CardType), card.cost, card.attack, card.defense]
    row += [card.my_health_change, card.opponent_health_change, card.card_draw]
    row += keywords(card.abilities)
    row += [int(card.area == Area.LANE1), int(card.area == Area.LANE2)]
    return [clip(number) for number in row] + [0] * (24 - len(row))


def choice(rules: str, cards: list[Card], offer: list[Card], chosen: list[Card]) -> list[int]:
    """Return the observation of the choice phase for a player who has chosen some cards."""
    draft = get_rules(rules).draft
    numbers = [number for card in offer for number in card_row(card)]
    numbers += [0] * (24 * (3 if draft else 120) - len(numbers))
    if draft:
        picks = [number for card in chosen for number in card_row(card)]
        numbers += picks + [0] * (24 * 30 - len(picks))
    else:
        counts = Counter(chosen)
        numbers += [counts[card] for card in cards]
    costs = [sum(min(card.cost, 7) == cost for card in chosen) for cost in range(8)]
    creatures = [card for card in chosen if card.type == CardType.CREATURE]
    numbers += [sum(card.type == kind for card in chosen) for kind in CardType] + costs
    numbers += [min(127, sum(card.card_draw for card in chosen))]
    numbers += [sum(card.area != Area.TARGET for card in chosen)]
    numbers += [sum("C" in card.abilities for card in creatures)]
    numbers += [sum("G" in card.abilities for card in creatures)]
    return [*numbers, len(chosen)]
