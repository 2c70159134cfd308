"""A slow, plain reader and writer of protocol text, as a reference for the fast ones."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from locmsim.errors import ProtocolError
from locmsim.game.observation import HAND, CardInPlay, Observation, OpponentAction, PlayerLine
from locmsim.rules.cards import ABILITIES, CardType
from locmsim.rules.rulesets import HAND_LIMIT, RULES, RuleSet, get_rules

_LOCATION_NAMES = {0: "hand", 1: "player's board", -1: "opponent's board"}
_OFFERED = -1
_ACTION = re.compile(r"SUMMON -?[0-9]{1,9}|(?:SUMMON|ATTACK|USE) -?[0-9]{1,9} -?[0-9]{1,9}")
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_ABILITIES = re.compile("".join(f"[{letter}-]" for letter in ABILITIES))
_BOUNDS = {
    "base_id": (0,),
    "instance_id": (_OFFERED,),
    "location": (-1, 1),
    "type": (0, 3),
    "area": (0, 2),
    "lane": (-1, 1),
}


def slow_text(seen: Observation) -> str:
    """Return an observation as text."""
    rules = RULES[seen.rules]
    lines = [
        _format_player(seen.me, rules),
        _format_player(seen.opponent, rules),
        f"{seen.opponent_hand} {len(seen.opponent_actions)}",
        *(f"{base_id} {text}" for base_id, text in seen.opponent_actions),
        str(len(seen.cards)),
    ]
    columns = _row_columns(rules)
    # Each card row ends in a blank.
    lines += [" ".join([str(row[column]) for column in columns]) + " " for row in seen.cards]
    return "\n".join(lines) + "\n"


def _row_columns(rules: RuleSet) -> list[int]:
    """Return the indices of the fields of `CardInPlay` that card rows of a rule set contain."""
    columns = list(range(len(CardInPlay._fields)))
    if rules.lanes == 1:
        columns.remove(CardInPlay._fields.index("lane"))
    if not rules.areas:
        columns.remove(CardInPlay._fields.index("area"))
    return columns


def _format_player(line: PlayerLine, rules: RuleSet) -> str:
    health, max_mana, deck_size, draw, rune = line
    if rules.runes:
        return f"{health} {max_mana} {deck_size} {rune} {draw}"
    return f"{health} {max_mana} {deck_size} {draw}"


class SlowReader:
    """Reads an observation line by line; knows at any time whether another line must follow."""

    def __init__(self, readline: Callable[[], str], rules: str | None) -> None:
        self.readline = readline
        self.number = 0  # number of the line read last
        self.rules = None if rules is None else get_rules(rules)
        self.runes = None if self.rules is None else self.rules.runes
        self.offered = False
        self.places: Counter[tuple[int, int]] = Counter()

    def error(self, what: str) -> ProtocolError:
        return ProtocolError(f"line {self.number}: {what}")

    def read(self) -> Observation:
        me, opponent = self.player("own"), self.player("opponent's")
        what = "opponent's hand size and number of actions"
        hand_size, n_actions = self.columns(what, 2)
        opponent_hand = self.integer("opponent's hand size", hand_size, 0)
        n = self.count("number of actions", n_actions, 64)
        actions = tuple([self.action() for _ in range(n)])
        n = self.count("number of card rows", self.columns("number of card rows", 1)[0], 120)
        cards = tuple([self.card() for _ in range(n)])
        if self.rules is None:  # 1.0 or 1.2: without a card row, they look the same
            self.rules = RULES["1.2"]
        return Observation(self.rules.name, me, opponent, opponent_hand, actions, cards)

    def columns(self, what: str, *counts: int) -> list[str]:
        """Return the columns of the next line; their number must be one of `counts`."""
        self.number += 1
        line = self.readline()
        columns = line.split()
        if len(columns) not in counts:
            wanted = " or ".join(map(str, counts))
            got = repr(line.rstrip()) if columns else "an empty line or the end"
            raise self.error(f"{what}: expected {wanted} value(s), got {got}")
        return columns

    def integer(self, name: str, text: str, low: int | None = None, high: int | None = None) -> int:
        if not _INTEGER.fullmatch(text):
            raise self.error(f"{name}: expected an integer, got {text!r}")
        value = int(text)
        if (low is not None and value < low) or (high is not None and value > high):
            wanted = f"at least {low}" if high is None else f"{low}..{high}"
            raise self.error(f"{name}: expected {wanted}, got {value}")
        return value

    def count(self, name: str, text: str, most: int) -> int:
        """Parse a number of lines, which may be at most `most`."""
        return self.integer(name, text, 0, None if text.startswith("-") else most)

    def player(self, whose: str) -> PlayerLine:
        counts = (4, 5) if self.runes is None else (5,) if self.runes else (4,)
        columns = self.columns(f"{whose} player line", *counts)
        self.runes = len(columns) == 5
        if not self.runes:
            self.rules = RULES["1.5"]
        names = ["health", "max_mana", "deck_size", *["rune"] * self.runes, "draw"]
        values = {n: self.integer(n, text) for n, text in zip(names, columns, strict=True)}
        return PlayerLine(**values)

    def action(self) -> OpponentAction:
        self.number += 1
        line = self.readline().rstrip()
        base_id, _, text = line.partition(" ")
        lanes = 1 if text.count(" ") == 1 else 2  # as a summon tells
        is_summon = text.startswith("SUMMON")
        if not _ACTION.fullmatch(text) or (
            is_summon and self.rules is not None and self.rules.lanes != lanes
        ):
            raise self.error(f"opponent's action: expected a base id and an action, got {line!r}")
        if is_summon and self.rules is None:
            self.rules = RULES["1.0" if lanes == 1 else "1.2"]
        number = self.integer("base id of an action", base_id, 0)
        word, *numbers = text.split(" ")
        return OpponentAction(number, " ".join([word, *(str(int(x)) for x in numbers)]))

    def card(self) -> CardInPlay:
        counts = (12, 11) if self.rules is None else (len(_row_columns(self.rules)),)
        columns = self.columns("card row", *counts)
        if self.rules is None:
            self.rules = RULES["1.2" if len(columns) == 12 else "1.0"]
        values: dict[str, Any] = {}
        for column, text in zip(_row_columns(self.rules), columns, strict=True):
            name = CardInPlay._fields[column]
            if name != "abilities":
                values[name] = self.integer(name, text, *_BOUNDS.get(name, ()))
            elif _ABILITIES.fullmatch(text):
                values[name] = text
            else:
                raise self.error(f"abilities: expected a form of BCDGLW, got {text!r}")
        if self.rules.lanes == 1:
            values["lane"] = -1 if values["location"] == HAND else 0
        row = CardInPlay(**values)
        self.check_place(row, self.rules)
        return row

    def check_place(self, row: CardInPlay, rules: RuleSet) -> None:
        """Refuse a card row that is not valid together with the earlier ones."""
        if not self.places:
            self.offered = row.instance_id == _OFFERED
        elif self.offered != (row.instance_id == _OFFERED):
            raise self.error("cards on offer (instance id -1) and cards in play do not mix")
        place = row.location, row.lane
        self.places[place] += 1
        where = _LOCATION_NAMES[row.location]
        preposition = "in" if row.location == HAND else "on"
        if (row.location == HAND) != (row.lane == -1) or row.lane >= rules.lanes:
            raise self.error(f"a card {preposition} the {where} cannot have lane {row.lane}")
        if row.location != HAND and row.type != CardType.CREATURE:
            raise self.error(f"a card on the {where} cannot have type {row.type}")
        if row.location != HAND and self.offered:
            raise self.error("a card on offer (instance id -1) must have location 0")
        free = HAND_LIMIT if row.location == HAND else rules.lane_size
        if self.places[place] > free and not self.offered:
            lane = "" if row.location == HAND else f", lane {row.lane}"
            raise self.error(f"{where}{lane}: more than {free} cards")
