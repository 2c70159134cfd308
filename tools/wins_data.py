"""Selects the positions of `tests/data/wins.txt`, in each of which the mover can win at once.

    python tools/wins_data.py            writes the file
    python tools/wins_data.py --check    verifies it

Both use exhaustive search, which needs only the rules. The positions come from games between two
agents. The opponent's health is set to the greatest damage that the turn can do, so that the win
needs all of it. Each position belongs to one of the kinds below: without the card or keyword that
names the kind, less damage is possible. No position belongs to two kinds. Of the positions found
for a kind, the one with the most positions within the turn is kept. Decks do not matter and are
left out.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from helpers import DATA

from locmsim import Card, State
from locmsim.agents import Agent, make_agent
from locmsim.contract import play_match
from locmsim.decks import GreedyBuilder
from locmsim.game.match import Match
from locmsim.game.positions import load_positions, save_positions
from locmsim.rules.cards import Area, CardType

PATH = DATA / "wins.txt"
CANDIDATES = 8  # positions compared for each kind
SEEDS = 150  # most games to play
LARGEST = 20_000  # most positions of an exhaustive search
ENDLESS = 10_000  # more health than any turn can take

Row = list[Any]


def position(kind: str) -> State:
    """Return the stored position of a kind."""
    return _positions()[kind].clone()


@cache
def _positions() -> dict[str, State]:
    return dict(zip(KINDS, load_positions(PATH), strict=True))


# ------------------------------------------------------------------------------- exhaustive search


class TooLarge(Exception):
    """Raised if an exhaustive search would need too many positions."""


def damage(state: State, largest: int = LARGEST) -> tuple[int, int]:
    """Return the most damage the mover can deal in this turn, and the positions examined.

    `TooLarge` if there are more than `largest` of them.
    """
    player = state.current_player()
    state = with_health(state, ENDLESS)
    seen = {state.hash64()}
    left = [state]
    least = ENDLESS
    while left:
        node = left.pop()
        for action in node.legal_actions()[1:]:  # without PASS
            child = node.child(action)
            key = child.hash64()
            if key not in seen:
                if len(seen) == largest:
                    raise TooLarge
                seen.add(key)
                left.append(child)
                least = min(least, child.players[1 - player].health)
    return ENDLESS - least, len(seen)


def with_health(state: State, health: int) -> State:
    """Return the position with another opponent's health, and the mover safe."""
    snapshot = state.snapshot()
    snapshot["p"][state.current_player()]["hp"] = 30
    weak = snapshot["p"][1 - state.current_player()]
    weak["hp"] = health
    if "runes" in weak:  # of 1.x: those below the health are left
        weak["runes"] = [rune for rune in weak["runes"] if rune < health]
    return _rebuilt(state, snapshot)


# ------------------------------------------------------------------- what a win may depend on


def _hand(change: Callable[[Card], Card | None]) -> Callable[[State], State]:
    """Return the position with some of the mover's cards changed, or removed by None."""

    def changed(state: State) -> State:
        view = state.players[state.current_player()]
        return _edited(state, {item.id: change(item.card) for item in view.hand}, lambda row: row)

    return changed


def _board(change: Callable[[Row], Row]) -> Callable[[State], State]:
    """Return the position with some of the mover's creatures changed."""
    return lambda state: _edited(state, {}, change)


def _edited(state: State, cards: dict[int, Card | None], change_row: Callable[[Row], Row]) -> State:
    snapshot = state.snapshot()
    known: dict[int, Card] = {}
    decks: list[list[list[int]]] = [[], []]
    for player, view in enumerate(state.players):
        known.update((creature.card.base_id, creature.card) for creature in view.board)
        own = player == state.current_player()
        hand = snapshot["p"][player]["hand"] = []
        for number, printed in view.hand:
            card = cards.get(number, printed) if own else printed
            if card is not None:
                # A base id of its own, as other copies of the card may stay as they are.
                card = replace(card, base_id=1000 + number)
                known[card.base_id] = card
                decks[player].append([number, card.base_id])
                hand.append(number)
        snapshot["p"][player]["deck"] = 0
        if own:
            snapshot["p"][player]["board"] = [
                change_row(row) for row in snapshot["p"][player]["board"]
            ]
    return State.from_snapshot(snapshot, known, decks)


def _rebuilt(state: State, snapshot: dict[str, Any]) -> State:
    """Return the state of `snapshot`, which has the cards of `state`."""
    held = [[(item.id, item.card) for item in (*p.hand, *p.deck)] for p in state.players]
    played = [creature.card for p in state.players for creature in p.board]
    known = {card.base_id: card for card in (*state.table.pool, *played)}
    decks = [[(number, card.base_id) for number, card in pairs] for pairs in held]
    return State.from_snapshot(snapshot, known, decks, state.rules)


def _without(letter: str, abilities: str) -> str:
    return abilities.replace(letter, "-")


def _no(letter: str, *types: CardType) -> Callable[[Card], Card]:
    def change(card: Card) -> Card:
        if card.type not in types:
            return card
        return replace(card, abilities=_without(letter, card.abilities))

    return change


def _none_of(*types: CardType) -> Callable[[Card], Card | None]:
    return lambda card: None if card.type in types else card


def _no_area(*types: CardType) -> Callable[[Card], Card]:
    return lambda card: replace(card, area=Area.TARGET) if card.type in types else card


def _no_harm(*types: CardType) -> Callable[[Card], Card]:
    return lambda card: replace(card, opponent_health_change=0) if card.type in types else card


def _row_without(letter: str) -> Callable[[Row], Row]:
    return lambda row: [*row[:4], _without(letter, row[4]), *row[5:]]


CREATURE, GREEN, RED, BLUE = CardType
KINDS: dict[str, Callable[[State], State]] = {
    "card": _hand(lambda card: None),
    "charge": _hand(_no("C", CREATURE)),
    "charge-copy": _hand(_no_area(CREATURE)),
    "summon-harms": _hand(_no_harm(CREATURE)),
    "green": _hand(_none_of(GREEN)),
    "green-attack": _hand(lambda card: replace(card, attack=0) if card.type == GREEN else card),
    "green-area": _hand(_no_area(GREEN)),
    "green-charge": _hand(_no("C", GREEN)),
    "green-breakthrough": _hand(_no("B", GREEN)),
    "green-lethal": _hand(_no("L", GREEN)),
    "green-harms": _hand(_no_harm(GREEN)),
    "red": _hand(_none_of(RED)),
    "red-area": _hand(_no_area(RED)),
    "red-guard": _hand(_no("G", RED)),
    "red-harms": _hand(_no_harm(RED)),
    "blue": _hand(_none_of(BLUE)),
    "blue-harms": _hand(_no_harm(BLUE)),
    "items": _hand(_none_of(GREEN, RED, BLUE)),
    "creature": _hand(_none_of(CREATURE)),
    "breakthrough": _board(_row_without("B")),
    "lethal": _board(_row_without("L")),
    "attackers": _board(lambda row: [*row[:6], 0, row[7]]),
}


# -------------------------------------------------------------------------------------- choosing


def main() -> None:
    best: dict[str, tuple[int, State]] = {}
    found = dict.fromkeys(KINDS, 0)
    for seed in range(SEEDS):
        for state in turns(seed):
            bare = _edited(state, {}, lambda row: row)
            try:
                health, size = damage(bare)
                kinds = [
                    kind
                    for kind in KINDS
                    if found[kind] < CANDIDATES and damage(KINDS[kind](bare))[0] < health
                ]
            except TooLarge:
                continue
            if kinds:
                kind = min(kinds, key=found.__getitem__)  # each position stands for one
                found[kind] += 1
                if kind not in best or size > best[kind][0]:
                    best[kind] = size, with_health(bare, health)
        print(seed, {kind: n for kind, n in found.items() if n < CANDIDATES}, flush=True)
        if min(found.values()) == CANDIDATES:
            break
    save_positions(PATH, [best[kind][1] for kind in KINDS], KINDS)


def turns(seed: int) -> list[State]:
    """Yield the positions in which the players of a game are asked."""
    match = Match(seed=seed)
    decks = [GreedyBuilder(keywords), "default" if seed % 4 < 2 else GreedyBuilder(keywords)]
    if seed % 2:
        decks.reverse()
    agents = [make_agent("greedy", deck=deck) for deck in decks]
    return turns_of(match, agents)


def turns_of(match: Match, agents: Sequence[Agent]) -> list[State]:
    """Return the positions in which the players of a match are asked."""
    found: list[State] = []

    def note(match: Match, player: int, line: str) -> None:
        if match.state is not None and not match.state.is_terminal():
            found.append(match.state.clone())

    play_match(match, agents, note)
    return found


def keywords(card: Card) -> float:
    """Prefer cards with abilities, which other decks rarely have."""
    return 2.0 * sum(letter != "-" for letter in card.abilities) - card.cost


def check(kind: str) -> str:
    """Raise `AssertionError` unless the stored position is as promised; return a summary."""
    state = position(kind)
    health = state.players[1 - state.current_player()].health
    (most, size), (less, _) = damage(state), damage(KINDS[kind](state))
    summary = f"{kind}: {health} health, {most} possible, {less} without, {size} positions"
    assert less < health == most, summary
    return summary


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        print("\n".join(map(check, KINDS)))
    else:
        main()
