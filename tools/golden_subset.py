"""Selects the golden games in `tests/data`, and describes what a golden game covers.

    python tools/golden_subset.py FOLDER

reads the full golden games from FOLDER and writes `tests/data/games-*.jsonl.gz`. For each rule set
it takes cheap games until every feature of any game is covered (a greedy set cover, cost =
compressed size), then the cheapest games of each tag and the cheapest battles up to fixed numbers.
The same input gives the same files, byte for byte.
"""

import gzip
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from helpers import RULE_SETS, Game, Snapshot, card_rows, general_message, subset_path

#: The least number of games with a battle by rule set, and of games of each tag.
BATTLES = {"1.5": 80, "1.2": 40, "1.0": 40}
OF_EACH_TAG = 5

TYPES = ("creature", "green item", "red item", "blue item")
AREAS = ("target", "lane1", "lane2")


def features(game: Game) -> set[str]:
    """Describe the features of a game in short phrases."""
    found = {f"tag {game['tag']}", f"player {game['winner']} wins"}
    if error := game["error"]:
        found.add(f"error of player {error['player']}: {general_message(error['message'])}")
    for lines in game["choices"]:
        for line in lines:
            found |= choice_features(game, line)
    previous = game["start"]
    for turn in game["turns"]:
        found |= turn_start_features(game, previous, turn["states"][0])
        found |= line_features(turn)
        if turn["states"][0]["winner"] >= 0:
            found.add("asked after dying from a draw")
            if game["error"]:
                found.add("error after dying from a draw")
        for k, action in enumerate(turn["applied"]):
            found |= action_features(game, action, turn["states"][k], turn["states"][k + 1])
        previous = turn["states"][-1]
    return found


def choice_features(game: Game, line: str | None) -> set[str]:
    """Describe how a line of the choice phase is written."""
    if line is None:
        return {"choice: timeout"}
    parts = [part.strip() for part in line.split(";")] if game["rules"] == "1.5" else [line]
    found = set()
    for part in parts:
        words = part.split(" ")
        if words[0] in ("PASS", "CHOOSE", "PICK"):
            found.add(f"choice: {words[0]}")
            if len(words) > (1 if words[0] == "PASS" else 2):
                found.add(f"choice: {words[0]} with text")
    return found


def turn_start_features(game: Game, before: Snapshot, after: Snapshot) -> set[str]:
    """Describe what mana and draws do at the start of a turn."""
    player = after["cur"]
    old, new = before["p"][player], after["p"][player]
    drawn = old["deck"] - new["deck"]
    found = set()
    if new["maxMana"] == 13:
        found.add("13 mana")
    if new["bonus"] < old["bonus"]:
        found.add(f"bonus mana lost, maximum {new['maxMana'] - old['maxMana']:+d}")
    if new["hp"] < old["hp"]:
        cause = "turn limit" if after["turn"] // 2 >= 50 else "empty deck"
        found.add(f"damage from {cause}")
        if cause == "turn limit" and new["deck"]:
            found.add("damage from turn limit with cards left")
        if len(new["hand"]) == 8:
            found.add(f"damage from {cause} with a full hand")
    if new["shown"] > drawn and old["deck"] > new["deck"]:
        found.add("some draws wasted")
    if new["shown"] and not drawn and new["deck"] and len(new["hand"]) == 8:
        found.add("all draws wasted")
    if new["shown"] > 1:
        found.add(f"{'many' if new['shown'] > 5 else 'several'} cards drawn")
    return found


def line_features(turn: dict[str, Any]) -> set[str]:
    """Describe how the answer line of a turn is written and which parts are dropped."""
    line, applied, ignored = turn["output"], turn["applied"], turn["ignored"]
    if line is None:
        return {"line: timeout"}
    found = set()
    if not line.strip():
        found.add("line: blank")
    if "PASS" in ignored:
        found.add("line: PASS skipped" if applied else "line: PASS only")
    if any(action != "PASS" for action in ignored):
        found.add("line: illegal action dropped")
    if applied and ignored and ignored[0] != "PASS":
        found.add("line: illegal and legal actions")
    for mark, what in ((r"\+\d", "plus sign"), (r" 0\d", "leading zero"), (r"\t", "tab")):
        if re.search(mark, line):
            found.add(f"line: {what}")
    if re.search(r"\d [^-+\d; ]", line):
        found.add("line: comment")
    if re.search(r";\s*;", line):
        found.add("line: empty part")
    return found


def action_features(game: Game, action: str, before: Snapshot, after: Snapshot) -> set[str]:
    """Describe the effects of an executed action."""
    me = before["cur"]
    mine, enemy = before["p"][me], before["p"][1 - me]
    mine_after, enemy_after = after["p"][me], after["p"][1 - me]
    word, card_id, *rest = action.split()
    found = set()
    if word == "ATTACK":
        attacker = next(c for c in mine["board"] if c[0] == int(card_id))
        target = next((c for c in enemy["board"] if c[0] == int(rest[0])), None)
        where = "player" if target is None else "creature"
        found |= {f"attack on a {where} with {k}" for k in attacker[4] if k != "-"}
        if target is not None:
            found |= {f"attack on a creature that has {k}" for k in target[4] if k != "-"}
            left = [attacker[0] in ids(mine_after), target[0] in ids(enemy_after)]
            found.add(f"fight, attacker and defender survive: {left}")
            if target[2] == 0:
                found.add("fight against attack 0")
            if attacker[2] == 0:
                found.add("fight with attack 0")
    else:
        base_id = dict(map(tuple, game["decks"][me]))[int(card_id)]
        card = card_rows(game)[base_id]
        kind, area = TYPES[card[1]], AREAS[card[9]] if game["rules"] == "1.5" else "target"
        if word == "SUMMON":
            copied = int(card_id) + 1 in ids(mine_after)
            if area == "target":
                found.add(f"summon with {'/'.join(k for k in card[5] if k != '-') or 'nothing'}")
            else:
                how = "with a" if copied else "without room for its"
                found.add(f"{kind} of area {area} {how} copy")
        elif rest[0] == "-1":
            found.add(f"{kind} of area {area} on the player")
        else:
            found.add(f"{kind} of area {area} on a creature")
            found |= item_features(kind, card, before, after, int(rest[0]))
        for column, name in ((6, "own health"), (7, "opponent's health"), (8, "card draw")):
            if card[column]:
                found.add(f"{kind} changes {name} {'up' if card[column] > 0 else 'down'}")
    if any(len(p["board"]) == 6 for p in after["p"]):
        found.add("full board")
    if "runes" in mine:
        for old, new, who in ((mine, mine_after, "own"), (enemy, enemy_after, "enemy")):
            if len(new["runes"]) < len(old["runes"]):
                found.add(f"{who} runes lost: {len(old['runes']) - len(new['runes'])}")
            if old["runes"] and new["hp"] == old["runes"][-1] != old["hp"]:
                found.add(f"{who} health exactly at a rune")
    if after["winner"] >= 0:
        own = "wins by own action" if after["winner"] == me else "dies by own action"
        both = max(mine_after["hp"], enemy_after["hp"]) <= 0
        found.add("both die" if both else own)
    return found


def item_features(
    kind: str, card: list[Any], before: Snapshot, after: Snapshot, target: int
) -> set[str]:
    """Describe what an item does to its target."""
    (old,) = (c for p in before["p"] for c in p["board"] if c[0] == target)
    new = next((c for p in after["p"] for c in p["board"] if c[0] == target), None)
    if new is None:
        return {f"{kind} kills"}
    found = set()
    if "W" in old[4] and "W" not in new[4]:
        found.add(f"{kind} {'removes' if 'W' in card[5] else 'is stopped by'} Ward")
    if new[6] > old[6]:
        found.add(f"{kind} wakes a creature")
    if "C" in card[5] and old[7]:
        found.add(f"{kind} with Charge on a creature that has attacked")
    if new[2] == 0 and old[2] + card[3] < 0:
        found.add(f"{kind} cuts attack at 0")
    return found


def ids(player: dict[str, Any]) -> set[int]:
    """Return the ids of the creatures on a player's board."""
    return {creature[0] for creature in player["board"]}


def select(lines: list[bytes], wanted: int) -> list[bytes]:
    """Select games in file order that cover every feature, tag and length of battle."""
    games = [json.loads(line) for line in lines]
    shows = [features(game) for game in games]
    cost = [len(zlib.compress(line, 9)) for line in lines]
    cheapest_first = sorted(range(len(lines)), key=lambda i: (cost[i], i))
    chosen: set[int] = set()

    missing = set().union(*shows)
    while missing:
        best = max(cheapest_first, key=lambda i: len(shows[i] & missing) / cost[i])
        chosen.add(best)
        missing -= shows[best]

    battles = [i for i in cheapest_first if games[i]["turns"]]
    for tag in {game["tag"] for game in games}:
        have = sum(games[i]["tag"] == tag for i in chosen)
        fresh = [i for i in battles if games[i]["tag"] == tag and i not in chosen]
        chosen.update(fresh[: max(0, OF_EACH_TAG - have)])
    fresh = [i for i in battles if i not in chosen]
    chosen.update(fresh[: max(0, wanted - sum(bool(games[i]["turns"]) for i in chosen))])
    return [lines[i] for i in sorted(chosen)]


def main(folder: Path) -> None:
    for rules in RULE_SETS:
        lines = gzip.decompress((folder / f"traces-{rules}.jsonl.gz").read_bytes()).splitlines()
        chosen = select(lines, BATTLES[rules])
        data = gzip.compress(b"".join(line + b"\n" for line in chosen), 9, mtime=0)
        subset_path(rules).write_bytes(data)
        print(f"{rules}: {len(chosen)} games, {len(data)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
