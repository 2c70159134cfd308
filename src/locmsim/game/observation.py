"""The text that a player is sent, both ways: `Observation` is what one player sees when asked.

Sources: docs/rules.md, section 9 (battle) and section 3 (choice phase).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from locmsim._core import State, shown_cards
from locmsim.errors import ProtocolError
from locmsim.game._protocol import read_lines, read_text
from locmsim.rules.cards import ABILITIES, BOUNDS, Card, CardType
from locmsim.rules.rulesets import HAND_LIMIT, RULES, RuleSet, get_rules

if TYPE_CHECKING:
    from locmsim._core import PlayerView
    from locmsim.art import Place

__all__ = [
    "ENEMY_BOARD",
    "HAND",
    "MY_BOARD",
    "CardInPlay",
    "Observation",
    "OpponentAction",
    "PlayerLine",
    "read_observation",
    "seen_text",
]

#: Locations of a card.
HAND, MY_BOARD, ENEMY_BOARD = 0, 1, -1
_LOCATION_NAMES = {HAND: "hand", MY_BOARD: "own board", ENEMY_BOARD: "opponent's board"}

#: Instance id of the cards offered in the choice phase.
_OFFERED = -1

_ACTION = re.compile(r"SUMMON -?[0-9]+|(?:SUMMON|ATTACK|USE) -?[0-9]+ -?[0-9]+")
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


@lru_cache(maxsize=1024)
def _printed(base_id: int, kind: int, *values: Any) -> Card:
    """Remembered: the same 120 offers are read again and again, and a `Card` checks its values."""
    return Card(base_id, CardType(kind), *values)


# Named tuples rather than frozen dataclasses, which take several times as long to make: an
# observation has up to 20 rows of 13 fields, and every turn of every simulated match needs one.


class PlayerLine(NamedTuple):
    """What the text tells about a player; `rune` is 0 in 1.5, which has no runes."""

    health: int
    max_mana: int
    deck_size: int
    #: Own line: cards drawn (or tried to) this turn. Opponent's: as their last turn ended.
    draw: int
    rune: int = 0


class OpponentAction(NamedTuple):
    """An action that the opponent carried out in their last turn, and the base id of its card."""

    base_id: int
    text: str


class CardInPlay(NamedTuple):
    """One card row: a card in hand, a creature on a board, or a card offered in the choice phase.

    On a board, attack, defense and abilities are the creature's present ones. In 1.x the last three
    effects are shown as 0 once a creature fought or was a target. `area` is 0 where the rule set
    has none, `lane` is -1 off the board and 0 in the one lane of 1.0.
    """

    base_id: int
    instance_id: int
    location: int
    type: int
    cost: int
    attack: int
    defense: int
    abilities: str
    my_health_change: int
    opponent_health_change: int
    card_draw: int
    area: int = 0
    lane: int = -1

    @classmethod
    def offer(cls, card: Card) -> Self:
        """The row that shows `card` in the choice phase."""
        base_id, *values = card.to_row()
        return cls(base_id, _OFFERED, HAND, *values)  # type: ignore[arg-type]

    def card(self) -> Card:
        """The printed card of a row of the hand or the offer (a creature's is not known)."""
        return _printed(self.base_id, self.type, *self[4:12])


@dataclass(frozen=True, slots=True)
class Observation:
    """What a player sees at the moment when they are asked."""

    #: Name of the rule set.
    rules: str
    me: PlayerLine
    opponent: PlayerLine
    opponent_hand: int
    opponent_actions: tuple[OpponentAction, ...]
    #: Own hand, own board, opponent's board; in the choice phase the offer.
    cards: tuple[CardInPlay, ...]

    @property
    def phase(self) -> Literal["choice", "battle"]:
        """The phase of the game: only offered cards have no instance id."""
        return "choice" if self.cards and self.cards[0].instance_id == _OFFERED else "battle"

    @property
    def offer(self) -> tuple[Card, ...]:
        """The cards to choose from, as presented; empty in the battle."""
        return tuple(row.card() for row in self.cards) if self.phase == "choice" else ()

    def at(self, location: int) -> list[CardInPlay]:
        """The rows of one location in their order; empty in the choice phase."""
        if self.phase == "choice":
            return []
        return [row for row in self.cards if row.location == location]

    @staticmethod
    def parse(text: str, rules: str | None = None) -> "Observation":
        """The observation that `text` shows; lost trailing blanks and line ends do not matter.

        Without `rules` the rule set is recognised by the columns: 4 in the player lines are 1.5;
        5 are 1.x, where card rows of 12 columns are 1.2 and 11 are 1.0. 1.x text without any card
        row fits both and is taken for 1.2.

        ``ProtocolError`` names the line and what is wrong there; ``ValueError``: unknown `rules`.
        """
        found = read_text(
            text, rules and get_rules(rules).name, PlayerLine, OpponentAction, CardInPlay
        )
        if found is not None:
            return Observation(*found)
        # Something is unusual: the slow reader says what is wrong, and where.
        lines = iter(text.split("\n"))
        reader = _Reader(lambda: next(lines, ""), rules)
        observation = reader.read()
        for line in lines:
            reader.number += 1
            if line.strip():
                raise reader.error(f"nothing may follow the last card row, got {line!r}")
        return observation

    @classmethod
    def of(
        cls, state: "State", player: int, opponent_actions: Iterable[OpponentAction] = ()
    ) -> "Observation":
        """What `player` sees of `state`; a state does not know what was done before.

        The state is meant to be as it is when the player is asked. ``ValueError`` for any `player`
        but 0 and 1.
        """
        if player not in (0, 1):
            raise ValueError(f"player: expected 0 or 1, got {player!r}")
        players = state.players
        me, opponent = players[player], players[1 - player]
        return cls(
            state.rules,
            _line_of(me),
            _line_of(opponent),
            opponent.hand_size,
            tuple(opponent_actions),
            shown_cards(state, player, CardInPlay),
        )

    def format(self) -> str:
        """The text that a referee would send, byte for byte."""
        rules = RULES[self.rules]
        lines = [
            _format_player(self.me, rules),
            _format_player(self.opponent, rules),
            f"{self.opponent_hand} {len(self.opponent_actions)}",
            *(f"{base_id} {text}" for base_id, text in self.opponent_actions),
            str(len(self.cards)),
        ]
        columns = _row_columns(rules)
        # Every card row ends in a blank.
        lines += [" ".join([str(row[column]) for column in columns]) + " " for row in self.cards]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        """One line; `format` has all of it."""
        me, opponent = self.me, self.opponent
        if self.phase == "choice":
            return f"{self.rules} choice: {len(self.cards)} cards offered, {me.deck_size} taken"
        return (
            f"{self.rules} battle: {me.health} health, {me.max_mana} mana,"
            f" {len(self.at(HAND))} in hand, {len(self.at(MY_BOARD))} on the board,"
            f" {me.deck_size} in the deck; opponent: {opponent.health} health,"
            f" {self.opponent_hand} in hand, {len(self.at(ENEMY_BOARD))} on the board,"
            f" {opponent.deck_size} in the deck"
        )

    def _repr_html_(self) -> str:
        """A picture of what the player sees, as notebooks show it."""
        from locmsim.art import Side, board_svg, sheet_svg

        if self.phase == "choice":
            return sheet_svg(self.offer)
        sides = (
            Side(
                f"opponent: {self.opponent.health} health, {self.opponent.deck_size} in the deck",
                (),
                self.opponent_hand,
                [_place(row) for row in self.at(ENEMY_BOARD)],
            ),
            Side(
                f"me: {self.me.health} health, {self.me.max_mana} mana,"
                f" {self.me.deck_size} in the deck",
                [row.card() for row in self.at(HAND)],
                0,
                [_place(row) for row in self.at(MY_BOARD)],
            ),
        )
        return board_svg(*sides, lanes=RULES[self.rules].lanes, title=f"LOCM {self.rules}")

    def legal_actions(self) -> list[int]:
        """The legal actions of the turn's start in ascending order, numbered as those of `State`.

        That is when the text is sent: nothing has been spent and every own creature may attack.
        Empty in the choice phase and when one of the players is dead.

        Raises
        ------
        ValueError
            What is shown cannot be, such as two cards with one instance id.
        """
        if self.phase == "choice":
            return []
        return State.from_observation(self).legal_actions()


def seen_text(state: State, player: int) -> str:
    """`State.observation_string`."""
    me, opponent = state.players[player], state.players[1 - player]
    board = me.board
    ready = ",".join([str(creature.id) for creature in board if creature.can_attack])
    spent = ",".join([str(creature.id) for creature in board if creature.has_attacked])
    return (
        f"turn {state.turn} player {state.current_player()} mana {me.mana} {opponent.mana} "
        f"can attack {ready or '-'} has attacked {spent or '-'}\n"
        + state.observation(player).format()
    )


def read_observation(readline: Callable[[], str], rules: str | None = None) -> Observation | None:
    """Read one observation's lines, and no more, from a stream such as ``sys.stdin.readline``.

    Returns None if the stream ends before the first line. Rule sets and errors are those of
    `Observation.parse`; a stream that ends too early is a ``ProtocolError`` too.
    """
    lines: list[str] = []
    name = rules and get_rules(rules).name

    def next_line() -> str:
        try:
            return readline()
        except EOFError:  # a reader may say so; first the lines before have to make sense
            if not lines:
                raise
            return ""

    found = read_lines(next_line, lines, name, PlayerLine, OpponentAction, CardInPlay)
    if found is not None:
        return Observation(*found)
    if not lines[0]:
        return None
    # Something is unusual: the slow reader says what is wrong, and where, or asks for more.
    while not lines[-1]:
        lines.pop()
    lines.reverse()
    return _Reader(lambda: lines.pop() if lines else readline(), rules).read()


def _row_columns(rules: RuleSet) -> list[int]:
    """Which fields of `CardInPlay` a card row of this rule set shows."""
    columns = list(range(len(CardInPlay._fields)))
    if rules.lanes == 1:
        columns.remove(CardInPlay._fields.index("lane"))
    if not rules.areas:
        columns.remove(CardInPlay._fields.index("area"))
    return columns


def _place(row: CardInPlay) -> "Place":
    """A creature for a picture: what it had when it was printed is not known."""
    from locmsim.art import Place

    low, high = BOUNDS["attack"]
    attack, defense = (min(max(value, low), high) for value in (row.attack, row.defense))
    card = row._replace(attack=attack, defense=defense).card()
    return Place(card, row.attack, row.defense, row.abilities, row.lane)


def _line_of(view: "PlayerView") -> PlayerLine:
    runes = view.runes
    return PlayerLine(
        view.health, view.max_mana, view.deck_size, view.shown_draw, runes[-1] if runes else 0
    )


def _format_player(line: PlayerLine, rules: RuleSet) -> str:
    health, max_mana, deck_size, draw, rune = line
    if rules.runes:
        return f"{health} {max_mana} {deck_size} {rune} {draw}"
    return f"{health} {max_mana} {deck_size} {draw}"


class _Reader:
    """Reads one observation line by line; knows at any time whether another line must follow."""

    def __init__(self, readline: Callable[[], str], rules: str | None) -> None:
        self.readline = readline
        self.number = 0  # of the line read last
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
        n = self.integer("number of actions", n_actions, 0)
        actions = tuple([self.action() for _ in range(n)])
        n = self.integer("number of card rows", self.columns("number of card rows", 1)[0], 0)
        cards = tuple([self.card() for _ in range(n)])
        if self.rules is None:  # 1.x without a card row to tell which
            self.rules = RULES["1.2"]
        return Observation(self.rules.name, me, opponent, opponent_hand, actions, cards)

    def columns(self, what: str, *counts: int) -> list[str]:
        """The next line split at blanks; it must have one of the given numbers of columns."""
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

    def player(self, whose: str) -> PlayerLine:
        counts = (4, 5) if self.runes is None else (5,) if self.runes else (4,)
        columns = self.columns(f"{whose} player line", *counts)
        self.runes = len(columns) == 5
        if not self.runes:
            self.rules = RULES["1.5"]
        rune = self.integer("rune", columns.pop(3)) if self.runes else 0
        names = PlayerLine._fields[:4]
        values = [self.integer(name, text) for name, text in zip(names, columns, strict=True)]
        return PlayerLine(*values)._replace(rune=rune)

    def action(self) -> OpponentAction:
        self.number += 1
        line = self.readline().rstrip()
        base_id, _, text = line.partition(" ")
        if not _ACTION.fullmatch(text):
            raise self.error(f"opponent's action: expected a base id and an action, got {line!r}")
        return OpponentAction(self.integer("base id of an action", base_id, 0), text)

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
        """Refuse rows that cannot be together."""
        if not self.places:
            self.offered = row.instance_id == _OFFERED
        elif self.offered != (row.instance_id == _OFFERED):
            raise self.error("cards on offer (instance id -1) and cards in play do not mix")
        place = row.location, row.lane
        self.places[place] += 1
        where = _LOCATION_NAMES[row.location]
        if (row.location == HAND) != (row.lane == -1) or row.lane >= rules.lanes:
            raise self.error(f"a card in the {where} cannot have lane {row.lane}")
        if row.location != HAND and row.type != CardType.CREATURE:
            raise self.error(f"a card on the {where} cannot have type {row.type}")
        if row.location != HAND and self.offered:
            raise self.error("a card on offer (instance id -1) must have location 0")
        room = HAND_LIMIT if row.location == HAND else rules.lane_size
        if self.places[place] > room and not self.offered:
            lane = "" if row.location == HAND else f", lane {row.lane}"
            raise self.error(f"{where}{lane}: more than {room} cards")
