"""States of the battle that several test modules share."""

from collections.abc import Iterable
from functools import cache

from amounts import amount

from locmsim import Card, CardType, Match, State
from locmsim.agents import make_agent
from locmsim.game.positions import random_game, start_position

CREATURE = Card(1, CardType.CREATURE, 1, 2, 3, "-C-G--")
GREEN = Card(2, CardType.GREEN, 1, 1, 1)
RED = Card(3, CardType.RED, 1, -1, -1)
BLUE = Card(4, CardType.BLUE, 1, 0, -2, card_draw=1)


@cache
def game_positions(rules: str, games: int = amount(4, 12)) -> tuple[State, ...]:
    """Return shared positions of random games, finished ones too; clone before changing one."""
    found = []
    for seed in range(games):
        for state, action in random_game(start_position(seed, rules), seed):
            found.append(state)
            last = state.child(action)
        found.append(last)
    return tuple(found)


def running_positions(rules: str, games: int = 4) -> list[State]:
    """Return positions of random games that are not over."""
    return [s.clone() for s in game_positions(rules, games) if not s.is_terminal()]


def asked_positions(rules: str, seeds: range, *specs: str) -> list[State]:
    """Return the positions in which two agents are asked in their games."""
    return [state.clone() for state in _asked_positions(rules, seeds, *specs)]


@cache
def _asked_positions(rules: str, seeds: range, *specs: str) -> list[State]:
    found = []
    for seed in seeds:
        match, agents = Match(rules, seed=seed), [make_agent(spec) for spec in specs]
        while match.to_ask:
            player = match.to_ask[0]
            if match.state is not None and not match.state.is_terminal():
                found.append(match.state.clone())
            match.submit(player, match.ask(agents[player], player)())
    return found


def after(state: State, actions: Iterable[int]) -> State:
    """Return the position after these actions."""
    state = state.clone()
    for action in actions:
        state.apply_action(action)
    return state


def finished(rules: str = "1.5") -> State:
    return game_positions(rules)[-1].clone()


def small_state(rules: str = "1.5") -> State:
    return State.new([CREATURE, GREEN, RED, BLUE] * 3, [CREATURE] * 12, rules=rules)


def rebuilt(state: State, places=None) -> State:
    """Return the same position with a new card table; `places` are each player's hand and deck."""
    players = state.players
    places = places or [p.hand + p.deck for p in players]
    cards = {c.card.base_id: c.card for p in players for c in (*p.hand, *p.deck, *p.board)}
    cards |= {card.base_id: card for card in state.table.pool}
    snapshot = state.snapshot()
    for player, held, shown in zip(players, places, snapshot["p"], strict=True):
        shown["hand"] = [number for number, _ in held[: player.hand_size]]
        for row, forgotten in zip(shown["board"], player.effects_forgotten, strict=True):
            row.append(int(forgotten))
    decks = [[(number, card.base_id) for number, card in held] for held in places]
    return State.from_snapshot(snapshot, cards, decks, state.rules)


def full_position():
    """Return a snapshot of rules 1.5 with all kinds of content, its cards and its decks."""
    cards = {card.base_id: card for card in (CREATURE, GREEN, RED, BLUE)}
    players = [
        {
            "hp": 20,
            "maxMana": 5,
            "mana": 3,
            "bonus": 0,
            "draw": 2,
            "shown": 1,
            "lost": 7,
            "hand": [first, first + 2],
            "deck": 1,
            "board": [[first + 10, 1, 2, 3, "-C-G--", 1, 1, 0]],
        }
        for first in (0, 60)
    ]
    decks = [[[first, 2], [first + 2, 3], [first + 4, 4]] for first in (0, 60)]
    return {"turn": 4, "cur": 0, "winner": -1, "p": players}, cards, decks
