"""Notation of positions: one line of text, and snapshots (docs/rules.md, section 13).

`State.to_text`, `State.from_text` and `State.from_snapshot` are implemented here. Both parsers
check every field and name a wrong one; then the kernel fills in the players.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from operator import index
from typing import Any

from locmsim._core import State, build_state, keywords_number, places_of, table_rows, whole_number
from locmsim.rules.cards import Card, CardType, cards_1x
from locmsim.rules.rulesets import (
    DECK_SIZE,
    HAND_LIMIT,
    MAX_CARDS,
    MAX_DRAW,
    MAX_HEALTH,
    MAX_INSTANCE_ID,
    MAX_LOST,
    MAX_MANA,
    MAX_STAT,
    MAX_TURN,
    RULES,
    get_rules,
)

#: The second player's bonus included.
_MOST_MANA = MAX_MANA + 1

Deck = list[tuple[int, Card]]


def _runes_number(runes: Iterable[int]) -> int:
    """Return runes as the kernel has them: a bit for each five points of health."""
    number = 0
    for rune in runes:
        number |= 1 << rune // 5 - 1
    return number


def _cards_to_draw(draw: int, lost: int, where: str) -> int:
    """Return the cards to draw without those for lost health."""
    if draw < lost // 5:
        raise ValueError(
            f"{where}: expected at least {lost // 5}, a card for every 5 of {lost} health lost"
        )
    return draw - lost // 5


def _see(seen: set[int], number: int, where: str) -> None:
    """Check that no instance occurs twice."""
    if number in seen:
        raise ValueError(f"{where}: instance id {number} occurs twice")
    seen.add(number)


# ---- text ----------------------------------------------------------------------------------------
# Blanks separate fields, commas the entries of lists, colons the parts of an entry, and slashes the
# parts of a player. Cards are named by their places in the list of cards, which begins with the
# pool.

_INTEGER = re.compile(r"-?[0-9]{1,10}")
_FIELDS = ("rules", "turn", "winner", "player", "player", "pool", "cards")
_PLAYER_PARTS = ("numbers", "hand", "board", "deck")
_NUMBERS = (
    ("health", -MAX_HEALTH, MAX_HEALTH),
    ("max_mana", 0, _MOST_MANA),
    ("mana", 0, _MOST_MANA),
    ("bonus", 0, 1),
    ("next_draw", 0, MAX_DRAW),
    ("shown_draw", 0, MAX_DRAW),
)
_CARD_PARTS = (
    *("base", "type", "cost", "attack", "defense", "abilities", "my", "opponent", "draw", "area"),
)
_CREATURE_PARTS = ("id", "card", "attack", "defense", "abilities", "lane", "flags")


@cache
def _fixed_rows() -> dict[int, list[Any]]:
    return {card.base_id: list(card.to_row()) for card in cards_1x()}


def state_text(state: State) -> str:
    """Return a state as text: `State.to_text`."""
    first, ids, rows = table_rows(state.table)  # of the pool's entries
    fixed = {} if state.rules == "1.5" else _fixed_rows()

    def card_text(entry: int) -> str:
        """Return a row of the list of cards; only the base id for a card fixed in 1.x."""
        row = rows[entry]
        return str(row[0]) if fixed.get(row[0]) == row else ":".join(map(str, row))

    cards = [card_text(entry) for entry in range(first, len(rows))]
    pool = len(cards)
    numbers: dict[str, int] = {}
    for i, text in enumerate(cards):
        numbers.setdefault(text, i)

    def named(entry: int, copy: int = 0) -> str:
        plus = "+" if copy else ""
        pooled = ids[entry] > MAX_INSTANCE_ID
        if pooled and entry >= first:
            return f"?{plus}:{entry - first}"
        text = card_text(entry)
        number = numbers.setdefault(text, len(cards))
        if number == len(cards):
            cards.append(text)
        return f"{'?' if pooled else ids[entry]}{plus}:{number}"

    snapshot = state.snapshot()
    players = []
    for fields, (hand, deck, board) in zip(snapshot["p"], places_of(state), strict=True):
        values = [fields[name] for name in ("hp", "maxMana", "mana", "bonus", "draw", "shown")]
        special = fields["lost"] if "lost" in fields else ".".join(map(str, fields["runes"]))
        # The deck comes before the board, as cards are numbered in the order in which they occur.
        held, left = (",".join(map(named, entries)) for entries in (hand, deck))
        creatures = []
        for row, (entry, copy, forgotten) in zip(fields["board"], board, strict=True):
            _, _, attack, defense, abilities, lane, ready, spent = row
            flags = "r" * ready + "s" * spent + "f" * forgotten
            creatures.append(
                f"{named(entry, copy)}:{attack}:{defense}:{abilities}:{lane}:{flags or '-'}"
            )
        head = ",".join(map(str, [*values, "-" if special == "" else special]))
        players.append("/".join(part or "-" for part in (head, held, ",".join(creatures), left)))
    winner = "-" if state.winner is None else state.winner
    return (
        f"{state.rules} {state.turn} {winner} {players[0]} {players[1]} {pool}"
        f" {','.join(cards) or '-'}"
    )


def _split(text: str, mark: str, where: str, names: Sequence[str]) -> list[str]:
    """Split a field into as many parts as there are names."""
    parts = text.split(mark)
    if len(parts) != len(names):
        raise ValueError(f"{where}: expected {mark.join(names)}, got {text!r}")
    return parts


def _listed(text: str, where: str) -> list[tuple[str, str]]:
    """Split a list into its entries, each with its name; a dash is an empty list."""
    entries = [] if text == "-" else text.split(",")
    return [(entry, f"{where}[{i}]") for i, entry in enumerate(entries)]


def _integer(text: str, where: str, low: int, high: int) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{where}: expected an integer, got {text!r}")
    return whole_number(int(text), where, low, high)


def _card(text: str, where: str, rules: str) -> Card:
    """Return the card of a row of the list of cards."""
    try:
        return _card_of_row(text, rules)
    except ValueError as error:
        raise ValueError(f"{where}{error}") from None


@lru_cache(maxsize=1024)
def _card_of_row(text: str, rules: str) -> Card:
    """Return a card; positions of one game list the same ones. Errors begin after its place."""
    row: list[Any] | None
    if ":" not in text and rules != "1.5":
        row = _fixed_rows().get(_integer(text, "", 0, 65535))
        if row is None:
            raise ValueError(f": no card of 1.x has the base id {text}")
    else:
        parts = _split(text, ":", "", _CARD_PARTS)
        row = [
            part if name == "abilities" else _integer(part, f".{name}", -500, 65535)
            for name, part in zip(_CARD_PARTS, parts, strict=True)
        ]
    try:
        return Card.from_row(row)
    except ValueError as error:
        raise ValueError(f": {error}") from None


class _Instances:
    """The cards that a position text refers to by number."""

    def __init__(self, cards: list[Card], pool: int) -> None:
        self.cards = cards
        self.pool = pool
        self.found: dict[int, int] = {}  # instance id -> number of its card
        self._seen: set[int] = set()

    def read(self, entry: str, where: str) -> int:
        """Return what `note` does of an entry of a hand or a deck."""
        id, card = _split(entry, ":", where, ("id", "card"))
        return self.note(id, card, where)

    def note(self, id: str, card: str, where: str, copy: bool = False) -> int:
        """Check a card's id and place in the list; return the id, -1 - i for card i of the pool."""
        k = _integer(card, f"{where}.card", 0, len(self.cards) - 1)
        if id == "?":
            if k >= self.pool:
                raise ValueError(
                    f"{where}: a card without an id must be one of the {self.pool} of the pool"
                )
            return -1 - k
        number = _integer(id, f"{where}.id", 0, MAX_INSTANCE_ID)
        _see(self._seen, number + copy, f"{where}.id")
        if self.found.setdefault(number, k) != k:
            raise ValueError(
                f"{where}.card: instance {number} is card {self.found[number]} elsewhere"
            )
        return number


def state_of_text(text: str) -> State:
    """Return the state of a text: `State.from_text`, the inverse of `state_text`."""
    if not isinstance(text, str):
        raise TypeError(f"expected a string, got {text!r}")
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"expected {len(_FIELDS)} fields ({' '.join(_FIELDS)}), got {len(fields)}")
    rules = fields[0]
    if rules not in RULES:
        raise ValueError(f"rules: expected {', '.join(RULES)}, got {rules!r}")
    turn = _integer(fields[1], "turn", -1, MAX_TURN)
    if fields[2] not in ("-", "0", "1"):
        raise ValueError(f"winner: expected -, 0 or 1, got {fields[2]!r}")
    winner = -1 if fields[2] == "-" else int(fields[2])
    cards = [_card(part, where, rules) for part, where in _listed(fields[6], "cards")]
    if len(cards) > MAX_CARDS:
        raise ValueError(f"cards: {len(cards)} cards, expected at most {MAX_CARDS}")
    pool = _integer(fields[5], "pool", 0, len(cards))
    instances = _Instances(cards, pool)
    players = [
        _player_of_text(part, instances, rules, f"players[{who}]")
        for who, part in enumerate(fields[3:5])
    ]
    # The first entries of the table are the instances in ascending order of ids, then the pool.
    ids = sorted(instances.found)
    entries = {number: i for i, number in enumerate([*ids, *range(-1, -1 - pool, -1)])}
    filled = [
        (
            *values,
            [entries[number] for number in hand],
            [entries[number] for number in deck],
            [(entries[number], *creature) for number, *creature in board],
        )
        for values, hand, board, deck in players
    ]
    held = [(number, cards[instances.found[number]]) for number in ids]
    return build_state(rules, turn, winner, held, cards[:pool], "players", filled)


def _player_of_text(
    text: str, instances: _Instances, rules: str, where: str
) -> tuple[list[int], list[int], list[tuple[int, ...]], list[int]]:
    """Return a player's numbers, hand, board and deck; cards as `_Instances.note` gives them."""
    special = "runes" if RULES[rules].draft else "lost"
    numbers, *zones = _split(text, "/", where, _PLAYER_PARTS)
    hand, board, deck = (
        _listed(part, f"{where}.{name}")
        for name, part in zip(_PLAYER_PARTS[1:], zones, strict=True)
    )
    parts = _split(numbers, ",", where, [*[name for name, _, _ in _NUMBERS], special])
    values = [
        _integer(part, f"{where}.{name}", low, high)
        for part, (name, low, high) in zip(parts, _NUMBERS, strict=False)
    ]
    lost = runes = 0
    if special == "lost":
        lost = _integer(parts[6], f"{where}.lost", 0, MAX_LOST)
        values[4] = _cards_to_draw(values[4], lost, f"{where}.next_draw")
    elif parts[6] != "-":
        for rune in parts[6].split("."):
            if rune not in ("5", "10", "15", "20", "25"):
                raise ValueError(f"{where}.runes: expected 5, 10, 15, 20 or 25, got {rune!r}")
        runes = _runes_number(map(int, parts[6].split(".")))
    held = [instances.read(part, here) for part, here in hand]
    creatures = [_creature_of_text(part, here, instances, rules) for part, here in board]
    left = [instances.read(part, here) for part, here in deck]
    return [*values, lost, runes], held, creatures, left


def _creature_of_text(text: str, where: str, instances: _Instances, rules: str) -> tuple[int, ...]:
    id, card, *numbers, abilities, lane, flags = _split(text, ":", where, _CREATURE_PARTS)
    number = instances.note(id.removesuffix("+"), card, where, id.endswith("+"))
    kind = instances.cards[int(card)].type
    if kind != CardType.CREATURE:
        raise ValueError(f"{where}.card: a card of type {kind} is not a creature")
    lane_number = _integer(lane, f"{where}.lane", 0, RULES[rules].lanes - 1)
    attack, defense = (
        _integer(number, f"{where}.{name}", -MAX_STAT, MAX_STAT)
        for number, name in zip(numbers, ("attack", "defense"), strict=True)
    )
    keywords = keywords_number(abilities)
    if keywords < 0:
        raise ValueError(f"{where}.abilities: expected a form of BCDGLW, got {abilities!r}")
    allowed = "rsf" if RULES[rules].draft else "rs"
    letters = set(flags if flags != "-" else "")
    if len(letters) != len(flags.replace("-", "")) or letters - set(allowed):
        raise ValueError(f"{where}.flags: expected - or some of rs, in 1.x rsf, got {flags!r}")
    marks = [letter in letters for letter in "rsf"]
    return (number, id.endswith("+"), attack, defense, keywords, lane_number, *marks)


# ---- snapshots -----------------------------------------------------------------------------------


def _field(mapping: Any, name: str, where: str) -> Any:
    try:
        return mapping[name]
    except (KeyError, TypeError, IndexError):
        raise ValueError(f"{where}{name}: missing") from None


def _list_in(mapping: Any, name: str, where: str) -> Sequence[Any]:
    value = _field(mapping, name, where)
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where}{name}: expected a list, got {value!r}")
    return value


def _number_in(mapping: Any, name: str, where: str, low: int, high: int) -> int:
    return whole_number(_field(mapping, name, where), where + name, low, high)


def _by_base_id(cards: Mapping[int, Card] | Iterable[Card]) -> dict[int, Card]:
    found: dict[int, Card] = {}
    for i, card in enumerate(cards.values() if isinstance(cards, Mapping) else cards):
        if not isinstance(card, Card):
            raise ValueError(f"cards[{i}]: expected a Card, got {card!r}")
        if found.setdefault(card.base_id, card) != card:
            raise ValueError(f"cards: two different cards with base id {card.base_id}")
    if isinstance(cards, Mapping) and found.keys() != cards.keys():
        raise ValueError("cards: keys that are not the base ids of their cards")
    return found


def _card_of(by_id: Mapping[int, Card], base_id: Any, where: str) -> Card:
    card = by_id.get(whole_number(base_id, where, 0, 65535))
    if card is None:
        raise ValueError(f"{where}: no card with base id {base_id}")
    return card


def _deck_in(decks: Any, who: int, by_id: Mapping[int, Card]) -> Deck:
    """Return `decks[who]` as instance ids and cards."""
    try:
        pairs = [tuple(pair) for pair in decks[who]]
    except (TypeError, IndexError, KeyError):
        raise ValueError(f"decks[{who}]: expected a list of [instance id, base id]") from None
    if len(pairs) > DECK_SIZE:
        raise ValueError(f"decks[{who}]: {len(pairs)} cards, expected at most {DECK_SIZE}")
    found = []
    for i, pair in enumerate(pairs):
        where = f"decks[{who}][{i}]"
        if len(pair) != 2:
            raise ValueError(f"{where}: expected [instance id, base id], got {list(pair)!r}")
        number = whole_number(pair[0], f"{where}[0]", 0, MAX_INSTANCE_ID)
        found.append((number, _card_of(by_id, pair[1], f"{where}[1]")))
    return found


def state_of_snapshot(  # noqa: C901 (one check for each field)
    snapshot: Any, cards: Mapping[int, Card] | Iterable[Card], decks: Any, rules: str
) -> State:
    """Return the state of a snapshot: `State.from_snapshot`, the inverse of `State.snapshot`."""
    rules = get_rules(rules).name
    by_id = _by_base_id(cards)
    held = [_deck_in(decks, 0, by_id), _deck_in(decks, 1, by_id)]
    players = _list_in(snapshot, "p", "")
    if len(players) != 2:
        raise ValueError(f"p: expected two players, got {players!r}")
    turn = _number_in(snapshot, "turn", "", -1, MAX_TURN)
    if _number_in(snapshot, "cur", "", 0, 1) != turn & 1:
        raise ValueError(f"cur: expected {turn & 1} in turn {turn}")
    winner = _number_in(snapshot, "winner", "", -1, 1)
    # The last cards are still in the deck; those before them say what is in the hand.
    left = []
    known = {number for deck in held for number, _ in deck}
    for who, fields in enumerate(players):
        left.append(_cards_left(fields, held[who], who))
        _add_creatures(fields, held[who], by_id, known, who)
    instances: Deck = []
    entries: dict[int, int] = {}
    for who, deck in enumerate(held):
        for number, card in sorted(deck, key=lambda pair: pair[0]):
            if number > MAX_INSTANCE_ID:
                raise ValueError(
                    f"instance id {number} of player {who}: expected 0..{MAX_INSTANCE_ID}"
                )
            if number in entries:
                raise ValueError(f"instance id {number} of player {who} occurs twice")
            entries[number] = len(instances)
            instances.append((number, card))
    pool = set(by_id.values())
    if len(instances) + len(pool) > MAX_CARDS:
        pool = {card for _, card in instances}
    filled = [
        _player_of_snapshot(fields, left[who], instances, entries, rules, who)
        for who, fields in enumerate(players)
    ]
    seen: set[int] = set()
    for who, fields in enumerate(players):
        for i, number in enumerate(fields["hand"]):
            _see(seen, number, f"p[{who}].hand[{i}]")
        for i, row in enumerate(fields["board"]):
            _see(seen, index(row[0]), f"p[{who}].board[{i}][0]")
        for number in left[who]:
            _see(seen, number, f"decks[{who}]")
    in_order = sorted(pool, key=Card.to_row)
    return build_state(rules, turn, winner, instances, in_order, "p", filled)


def _cards_left(fields: Any, deck: Deck, who: int) -> list[int]:
    """Return the instance ids of a player's deck, and check those of the hand."""
    left = _number_in(fields, "deck", f"p[{who}].", 0, DECK_SIZE)
    if left > len(deck):
        raise ValueError(f"p[{who}].deck: {left} cards left, but decks[{who}] has {len(deck)}")
    own = {number for number, _ in deck}
    hand = _list_in(fields, "hand", f"p[{who}].")
    if len(hand) > HAND_LIMIT:
        raise ValueError(f"p[{who}].hand: {len(hand)} cards, expected at most {HAND_LIMIT}")
    for i, number in enumerate(hand):
        if whole_number(number, f"p[{who}].hand[{i}]", 0, MAX_INSTANCE_ID) not in own:
            raise ValueError(f"p[{who}].hand[{i}]: card {number} is missing in decks[{who}]")
    return [number for number, _ in deck[len(deck) - left :]]


def _add_creatures(
    fields: Any, held: Deck, by_id: Mapping[int, Card], known: set[int], who: int
) -> None:
    """Add creatures that no deck names; area copies share their original's entry."""
    for i, row in enumerate(_list_in(fields, "board", f"p[{who}].")):
        where = f"p[{who}].board[{i}]"
        if not isinstance(row, list | tuple) or len(row) not in (8, 9):
            raise ValueError(f"{where}: expected eight or nine values, got {row!r}")
        number = whole_number(row[0], f"{where}[0]", 0, MAX_INSTANCE_ID + 1)
        card = _card_of(by_id, row[1], f"{where}[1]")
        if card.type != CardType.CREATURE:
            raise ValueError(f"{where}[1]: card {row[1]} is not a creature")
        if (number, card) not in held and (number - 1, card) not in held:
            if number in known:
                raise ValueError(f"{where}[0]: instance id {number} occurs twice")
            known.add(number)
            held.append((number, card))


def _player_of_snapshot(
    fields: Any,
    deck: list[int],
    instances: Deck,
    entries: Mapping[int, int],
    rules: str,
    who: int,
) -> tuple[Any, ...]:
    """Return a player as `build_state` accepts them."""
    where = f"p[{who}]."
    health = _number_in(fields, "hp", where, -MAX_HEALTH, MAX_HEALTH)
    max_mana = _number_in(fields, "maxMana", where, 0, _MOST_MANA)
    mana = _number_in(fields, "mana", where, 0, _MOST_MANA)
    bonus = _number_in(fields, "bonus", where, 0, 1)
    shown = _number_in(fields, "shown", where, 0, MAX_DRAW)
    draw = _number_in(fields, "draw", where, 0, MAX_DRAW)
    lost = runes = 0
    if RULES[rules].draft:
        found = _list_in(fields, "runes", where)
        for i, rune in enumerate(found):
            if whole_number(rune, f"{where}runes[{i}]", 5, 25) % 5:
                raise ValueError(f"{where}runes[{i}]: expected 5, 10, 15, 20 or 25, got {rune!r}")
        runes = _runes_number(map(index, found))
    else:
        lost = _number_in(fields, "lost", where, 0, MAX_LOST)
        draw = _cards_to_draw(draw, lost, f"{where}draw")
    board = [
        _creature_of_snapshot(row, instances, entries, rules, f"{where}board[{i}]")
        for i, row in enumerate(fields["board"])
    ]
    hand = [entries[number] for number in fields["hand"]]
    left = [entries[number] for number in deck]
    return health, max_mana, mana, bonus, draw, shown, lost, runes, hand, left, board


def _creature_of_snapshot(
    row: Sequence[Any], instances: Deck, entries: Mapping[int, int], rules: str, where: str
) -> tuple[int, ...]:
    _, _, attack, defense, abilities, lane, ready, spent = row[:8]
    number, base_id = index(row[0]), index(row[1])
    entry = entries.get(number, -1)
    if entry < 0 or instances[entry][1].base_id != base_id:  # the copy of another card
        entry = entries[number - 1]
    original, card = instances[entry]
    lane = whole_number(lane, f"{where}[5]", 0, RULES[rules].lanes - 1)
    attack = whole_number(attack, f"{where}[2]", -MAX_STAT, MAX_STAT)
    defense = whole_number(defense, f"{where}[3]", -MAX_STAT, MAX_STAT)
    keywords = keywords_number(abilities)
    if keywords < 0:
        raise ValueError(f"{where}[4]: expected abilities as in 'BCDGLW', got {abilities!r}")
    ready = whole_number(ready, f"{where}[6]", 0, 1)
    spent = whole_number(spent, f"{where}[7]", 0, 1)
    forgotten = 0
    if RULES[rules].draft:
        printed = (card.attack, card.defense, card.abilities)
        forgotten = int(spent == 1 or (attack, defense, abilities) != printed)
        if len(row) == 9:
            forgotten = whole_number(row[8], f"{where}[8]", 0, 1)
    return entry, number != original, attack, defense, keywords, lane, ready, spent, forgotten
