"""Selects the positions of `tests/data/perft.json` and counts their nodes.

    python tools/perft_data.py            writes the file
    python tools/perft_data.py --check    counts everything again with the reference implementation

The first command takes positions from the golden games in `tests/data`. For each rule set they
cover every feature below; positions with many features come first, and among equals those with few
nodes. Decks are cut to their first cards, cards that do not occur are left out, and stalled games
are moved to just before the turn limit. The counts are those of `State.perft`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import reference_rules
from helpers import (
    DATA,
    RULE_SETS,
    Game,
    Snapshot,
    card_rows,
    game_name,
    golden_lines,
    subset_path,
)

from locmsim import Card, State
from locmsim.rules.cards import Area, CardType
from locmsim.rules.rulesets import TURN_LIMIT

PERFT = DATA / "perft.json"
DEPTH = 4
POSITIONS = 20  # least number of positions per rule set
DECK_LEFT = 6  # most cards left in each deck
NODES = range(500, 1_000_000)  # at full depth

Position = dict[str, Any]


def main() -> None:
    chosen = {rules: choose(rules) for rules in RULE_SETS}
    lists = {
        rules: "[\n" + ",\n".join(map(json.dumps, positions)) + "\n]"
        for rules, positions in chosen.items()
    }
    body = ",\n".join(f'"{rules}": {text}' for rules, text in lists.items())
    PERFT.write_text("{\n" + body.replace(", ", ",") + "\n}\n")
    for rules, positions in chosen.items():
        print(rules, len(positions), "positions,", sum(p["nodes"][-1] for p in positions), "nodes")


def choose(rules: str) -> list[Position]:
    """Choose the positions of one rule set."""
    found = [(position, features(position, rules)) for position in candidates(rules)]
    found.sort(key=lambda pair: pair[0]["nodes"][-1])
    chosen: list[Position] = []
    missing = set().union(*(shown for _, shown in found))
    while missing or len(chosen) < POSITIONS:
        position, shown = max(
            (pair for pair in found if pair[0] not in chosen),
            key=lambda pair: (len(pair[1] & missing), len(pair[1])),
        )
        chosen.append(position)
        missing -= shown
    return chosen


def candidates(rules: str) -> Iterator[Position]:
    """Yield the golden games' states with a medium number of sequences of four actions."""
    for line in golden_lines(subset_path(rules)):
        game = json.loads(line)
        for turn in game["turns"]:
            for k, snapshot in enumerate(turn["states"]):
                if snapshot["winner"] != -1:
                    continue
                if game["tag"] == "stall":
                    snapshot["turn"] = 2 * TURN_LIMIT - 2 + snapshot["cur"]
                position = cut(game, snapshot)
                position["from"] += f" turn={turn['states'][0]['turn']} action={k}"
                state = state_of(position, rules)
                if len(state.legal_actions()) > 40:
                    continue
                position["nodes"] = [state.perft(depth) for depth in range(1, DEPTH + 1)]
                if position["nodes"][-1] in NODES:
                    yield position


def cut(game: Game, snapshot: Snapshot) -> Position:
    """Return the position with short decks and without unused cards."""
    decks = []
    for player, deck in zip(snapshot["p"], game["decks"], strict=True):
        left = deck[len(deck) - player["deck"] :][:DECK_LEFT]
        player["deck"] = len(left)
        decks.append([pair for pair in deck if pair[0] in player["hand"]] + left)
    bases = {base_id for deck in decks for _, base_id in deck}
    bases |= {creature[1] for player in snapshot["p"] for creature in player["board"]}
    return {
        "from": game_name(game),
        "snapshot": snapshot,
        "cards": [row for base_id, row in card_rows(game).items() if base_id in bases],
        "decks": decks,
    }


def state_of(position: Position, rules: str) -> State:
    """Return the position for the kernel."""
    cards = [Card.from_row(row) for row in position["cards"]]
    return State.from_snapshot(position["snapshot"], cards, position["decks"], rules)


def battle_of(position: Position, rules: str) -> reference_rules.Battle:
    """Return the position for the reference implementation."""
    cards = {row[0]: Card.from_row(row) for row in position["cards"]}
    return reference_rules.Battle.from_snapshot(
        rules, position["snapshot"], cards, position["decks"]
    )


def features(position: Position, rules: str) -> set[str]:
    """Describe in short phrases what a position allows and what is on its boards."""
    state = state_of(position, rules)
    me, other = state.players if state.current_player() == 0 else state.players[::-1]
    hand = {held.id: held.card for held in me.hand}
    board = {c.id: c for c in [*me.board, *other.board]}
    found = set()
    for action in map(state.action_to_string, state.legal_actions()[1:]):
        word, first, *rest = action.split(" ")
        if word != "ATTACK":
            card = hand[int(first)]
            on = " on player" if word == "USE" and rest == ["-1"] else ""
            found.add(f"{word} {CardType(card.type).name} {Area(card.area).name}{on}")
        elif rest == ["-1"]:
            found.add("attack on player")
        else:
            found |= {f"attack on creature with {a}" for a in board[int(first)].abilities}
            found |= {f"attack on creature that has {a}" for a in board[int(rest[0])].abilities}
    lane_size = 6 if rules == "1.0" else 3
    for player in (me, other):
        lanes = [creature.lane for creature in player.board]
        if lane_size in (lanes.count(0), lanes.count(1)):
            found.add("full lane")
        if len(player.hand) == 8:
            found.add("full hand")
        if player.deck_size == 0:
            found.add("empty deck")
    if state.turn >= 2 * TURN_LIMIT - 2:
        found.add("turn limit")
    if any(state.child(action).is_terminal() for action in state.legal_actions()):
        found.add("the game can end now")
    return found


def check() -> None:
    """Count everything with the reference implementation of the rules, which takes minutes."""
    for rules, positions in json.loads(PERFT.read_text()).items():
        for number, position in enumerate(positions):
            battle = battle_of(position, rules)
            nodes = [battle.perft(depth) for depth in range(1, DEPTH + 1)]
            if nodes != position["nodes"]:
                raise SystemExit(f"{rules}, position {number}: {nodes}, not {position['nodes']}")
            print(rules, number, nodes, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        main()
