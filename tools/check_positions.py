"""Choose the recorded positions by which `locmsim check` tests a bot.

    python tools/check_positions.py

reads the golden games in `tests/data` and writes `src/locmsim/data/check-positions.json`. Only
games with the usual cards count, "normal" and "stall". A bot in one seat is asked what that seat
was asked, from the beginning up to some turn, so a position costs all turns before it. The tool
takes such parts of games, always the one with the most new features for its turns, until they show
every feature of a position, or the bot would be asked `MOST` turns. The same input gives the same
file.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from golden_subset import line_features, turn_start_features
from helpers import RULE_SETS, Game, golden_lines, subset_path

OUTPUT = Path(__file__).parents[1] / "src/locmsim/data/check-positions.json"
#: The most turns that a bot is asked in one rule set.
MOST = 60
TAGS = ("normal", "stall")
BOARDS = {0: "empty", 6: "full"}
HANDS = {0: "empty", 8: "full"}
#: How much of what is new in a part of a game is named, the rarest first.
NAMED = 3


class Part(NamedTuple):
    """The beginning of a game, up to a question of one seat."""

    game: Game
    seat: int
    turns: int
    asked: int
    shows: frozenset[str]


def features(game: Game, previous: dict[str, Any], turn: dict[str, Any]) -> set[str]:
    """Describe a position in short phrases."""
    state = turn["states"][0]
    mine, enemy = state["p"][turn["player"]], state["p"][1 - turn["player"]]
    found = turn_start_features(game, previous, state)
    for name, player in (("own", mine), ("enemy", enemy)):
        board = player["board"]
        found.add(f"{name} board {BOARDS.get(len(board), 'with creatures')}")
        keywords = {k for creature in board for k in creature[4]} - {"-"}
        found |= {f"{name} creature with {k}" for k in keywords}
        if player["hp"] <= 5:
            found.add(f"{name} health low")
        if player["hp"] > 30:
            found.add(f"{name} health above 30")
        if not player["deck"]:
            found.add(f"{name} deck empty")
        if any(creature[2] == 0 for creature in board):
            found.add(f"{name} creature without attack")
    if len(mine["hand"]) in HANDS:
        found.add(f"hand {HANDS[len(mine['hand'])]}")
    return {text.partition(", ")[0] for text in found}


def parts(rules: str) -> Iterator[Part]:
    """Yield the beginnings of the games of a rule set."""
    for line in golden_lines(subset_path(rules)):
        game = json.loads(line)
        if game["tag"] not in TAGS:
            continue
        for seat in (0, 1):
            shows: set[str] = set()
            asked, previous = 0, game["start"]
            for number, turn in enumerate(game["turns"]):
                if turn["states"][0]["winner"] >= 0 or "line: timeout" in line_features(turn):
                    break
                if turn["player"] == seat:
                    shows |= features(game, previous, turn)
                    asked += 1
                    yield Part(game, seat, number + 1, asked, frozenset(shows))
                previous = turn["states"][-1]


def chosen(rules: str) -> list[dict[str, Any]]:
    """Return the parts that are chosen, as they are stored."""
    left = [*parts(rules)]
    often = Counter(text for part in left for text in part.shows)
    missing = set().union(*(part.shows for part in left))
    asked, found = 0, []
    while missing:
        left = [part for part in left if part.shows & missing and asked + part.asked <= MOST]
        if not left:
            break
        best = max(left, key=lambda part: len(part.shows & missing) / (5 + part.asked))
        new = sorted(best.shows & missing, key=lambda text: (often[text], text))
        found.append(stored(best, new[:NAMED]))
        missing -= best.shows
        asked += best.asked
    print(f"{rules}: {len(found)} games, {asked} positions; missing: {sorted(missing)}")
    return found


def stored(part: Part, new: list[str]) -> dict[str, Any]:
    """Return a part of a game: the seed, the seat, all answers, and what it shows."""
    game = part.game
    steps = range(len(game["choices"][0]))
    answers = [[player, game["choices"][player][step]] for step in steps for player in (0, 1)]
    answers += [
        [turn["player"], ";".join(turn["applied"]) or "PASS"]
        for turn in game["turns"][: part.turns - 1]
    ]
    # What the seat answered last does not matter.
    answers.append([part.seat, None])
    return {"seed": game["seed"], "seat": part.seat, "shows": new, "answers": answers}


def main() -> None:
    data = {rules: chosen(rules) for rules in RULE_SETS}
    rows = [
        f"{json.dumps(rules)}: [\n" + ",\n".join(json.dumps(one) for one in found) + "\n]"
        for rules, found in data.items()
    ]
    OUTPUT.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(f"{OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
