"""A match as one bot saw it: the text that it was sent, captured, as data for the replay page."""

from collections.abc import Iterator, Sequence
from typing import Any

from locmsim.errors import ProtocolError
from locmsim.game.action_text import sentence
from locmsim.game.observation import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    Observation,
    PlayerLine,
    read_observation,
)
from locmsim.rules.actions import ActionKind
from locmsim.rules.cards import BOUNDS, Card, cards_1x
from locmsim.rules.rulesets import RULES
from locmsim.web.replay import page_html
from locmsim.web.views import Cards, match_page

__all__ = ["capture_data", "capture_html", "is_capture", "questions_of"]


def is_capture(text: str) -> bool:
    """Return whether a text may be a bot's input: its first line holds a player's numbers."""
    words = text.split("\n", 1)[0].split()
    return len(words) in (4, 5) and all(word.removeprefix("-").isdecimal() for word in words)


def capture_html(
    text: str,
    names: tuple[str, str] = ("", ""),
    *,
    view: int | None = None,
    rules: str | None = None,
) -> str:
    """Return the page that shows what a bot saw."""
    return page_html({**capture_data(text, rules, names), "view": view})


def capture_data(
    text: str, rules: str | None = None, names: tuple[str, str] = ("", "")
) -> dict[str, Any]:
    """Return the steps of a match as its bot was sent them."""
    choice: list[Observation] = []
    turns: list[Observation] = []
    for line, observation in questions_of(text, rules):
        if observation.phase == "battle":
            turns.append(observation)
        elif turns:
            raise ValueError(f"line {line}: the choice phase of another match begins")
        else:
            choice.append(observation)
    if not turns:
        raise ValueError("there is no turn of a battle in it")
    # The second player has one mana more than the opponent in their first turn.
    me = int(turns[0].me.max_mana > turns[0].opponent.max_mana)
    name = turns[0].rules
    known = _cards(name, choice, turns)
    cards = Cards(known.values())
    bases = {row.instance_id: row.base_id for seen in turns for row in seen.cards}
    plain = ["the opponent", "the opponent"]
    plain[me] = "the bot"
    shown = [name or word for name, word in zip(names, plain, strict=True)]
    page = _Page(known, bases, cards, me, shown[me])
    steps = [page.step(seen, 2 * i + me) for i, seen in enumerate(turns)]
    drawn = cards.known()
    offers = [[cards.key(card) for card in seen.offer] for seen in choice]
    return match_page(name, shown, cards, steps, drawn=drawn, captured=me, seat=me, offers=offers)


def questions_of(text: str, rules: str | None) -> Iterator[tuple[int, Observation]]:
    """Yield each observation and the line that it begins in."""
    lines = text.splitlines(keepends=True)
    at = 0

    def readline() -> str:
        nonlocal at
        at += 1
        return lines[at - 1] if at <= len(lines) else ""

    some = False
    while at < len(lines):
        begins = at + 1
        try:
            observation = read_observation(readline, rules)
        except ProtocolError as error:
            if some and (at > len(lines) or (at == len(lines) and not lines[-1].endswith("\n"))):
                return  # what was captured is cut off
            raise ValueError(f"in the input that begins in line {begins}: {error}") from None
        if observation is None:
            return
        some = True
        yield begins, observation


def _cards(
    rules: str, choice: Sequence[Observation], turns: Sequence[Observation]
) -> dict[int, Card]:
    """Return the printed cards by base id, as far as they were seen."""
    if RULES[rules].draft:
        return {card.base_id: card for card in cards_1x()}
    cards: dict[int, Card] = {}
    for seen in turns:
        for row in seen.cards:
            if row.location != HAND:
                # The printed values of a creature are not known yet.
                low, high = BOUNDS["attack"]
                numbers = (min(max(value, low), high) for value in (row.attack, row.defense))
                attack, defense = numbers
                row = row._replace(attack=attack, defense=defense)
            cards.setdefault(row.base_id, row.card())
    for seen in turns:
        cards.update({row.base_id: row.card() for row in seen.at(HAND)})
    for seen in choice:
        cards.update({card.base_id: card for card in seen.offer})
    return cards


class _Page:
    """The steps of a captured match, one after the other."""

    def __init__(
        self, known: dict[int, Card], bases: dict[int, int], cards: Cards, me: int, name: str
    ) -> None:
        self._known = known
        self._bases = bases
        self._cards = cards
        self._me = me
        self._name = name

    def step(self, seen: Observation, turn: int) -> dict[str, Any]:
        """Add what is shown at the start of a turn of the bot."""
        sides: list[dict[str, Any]] = [{}, {}]
        hand = [[row.instance_id, self._key(row.base_id)] for row in seen.at(HAND)]
        sides[self._me] = self._side(seen, seen.me, hand, seen.at(MY_BOARD), seen.me.max_mana)
        hidden = [None] * seen.opponent_hand
        sides[1 - self._me] = self._side(seen, seen.opponent, hidden, seen.at(ENEMY_BOARD), "?")
        return {
            "turn": turn,
            "player": self._me,
            "action": None,
            "words": "",
            "theirs": [
                self._words(action.base_id, action.text, RULES[seen.rules].lanes)
                for action in seen.opponent_actions
            ],
            "board": {"turn": turn, "player": self._me, "winner": None, "sides": sides},
        }

    def _key(self, base: int) -> str:
        return self._cards.key(self._known[base])

    def _title(self, base: int | None) -> str:
        card = None if base is None else self._known.get(base)
        return "a card" if card is None else self._cards.title(card)

    def _words(self, base: int, text: str, lanes: int) -> str:
        """Return an action of the opponent in words; the text has only their cards' base ids."""
        word, _, *rest = text.split(" ")
        kind, name = ActionKind[word], self._title(base)
        if kind == ActionKind.SUMMON:
            return sentence(kind, name, lane=int(rest[0]) if lanes > 1 else None)
        aimed = int(rest[0])
        target = self._name if aimed == -1 else self._title(self._bases.get(aimed))
        return sentence(kind, name, target)

    def _side(
        self,
        seen: Observation,
        line: PlayerLine,
        hand: Sequence[list[Any] | None],
        board: Sequence[CardInPlay],
        mana: int | str,
    ) -> dict[str, Any]:
        # The text has only the next rune.
        runes = [line.rune] if line.rune else []
        return {
            "health": line.health,
            "mana": mana,
            "max_mana": line.max_mana,
            "draws": line.draw,
            "deck": line.deck_size,
            "runes": runes if RULES[seen.rules].draft else None,
            "hand": hand,
            "board": [
                [
                    row.instance_id,
                    self._key(row.base_id),
                    row.attack,
                    row.defense,
                    row.abilities,
                    row.lane,
                    1,
                ]
                for row in board
            ],
        }
