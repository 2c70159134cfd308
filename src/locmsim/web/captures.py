"""A match as one bot saw it: the text that it was sent, captured, as data for the replay page."""

from collections.abc import Iterator, Sequence
from typing import Any

from locmsim.art import BADGES, FRAMES, NUMBER_SHAPES
from locmsim.errors import ProtocolError
from locmsim.game.observation import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    Observation,
    PlayerLine,
    read_observation,
)
from locmsim.rules.cards import BOUNDS, Card, CardType, cards_1x
from locmsim.rules.rulesets import RULES
from locmsim.web.replay import page_html
from locmsim.web.views import card_view

__all__ = ["capture_data", "capture_html", "is_capture"]

#: In place of the instance ids of cards that the bot does not see.
_HIDDEN = -1


def is_capture(text: str) -> bool:
    """Whether a text may be what a bot was sent: its first line are a player's numbers."""
    words = text.split("\n", 1)[0].split()
    return len(words) in (4, 5) and all(word.removeprefix("-").isdecimal() for word in words)


def capture_html(
    text: str,
    names: tuple[str, str] = ("", ""),
    *,
    view: int | None = None,
    rules: str | None = None,
) -> str:
    """The page that shows what a bot saw.

    Parameters
    ----------
    text, rules : str
        As for `capture_data`.
    names : tuple of str
        What the page calls player 0 and player 1; empty for "the bot" and "the opponent".
    view : int, optional
        As for `locmsim.web.replay_html`.

    Returns
    -------
    str
        An HTML document.

    Raises
    ------
    ValueError
        As for `capture_data`.
    """
    data = capture_data(text, rules)
    shown = [given or name for given, name in zip(names, data["names"], strict=True)]
    return page_html({**data, "names": shown, "view": view, "analyse": ""})


def capture_data(text: str, rules: str | None = None) -> dict[str, Any]:
    """What a bot was sent in a match, step by step.

    Parameters
    ----------
    text : str
        All that it read from its standard input, in order; the choice phase may be missing, and the
        end may be cut off (docs/rules.md, sections 3 and 9).
    rules : str, optional
        The rule set; by default the text shows it.

    Returns
    -------
    dict
        As `locmsim.web.replay_data`, with a step for each turn of the bot. What it did itself, the
        opponent's hand and how the match ended are not in the text: ``captured`` is the bot's seat,
        ``winner`` and ``choice`` are empty, hidden cards have an instance id below 0, the
        opponent's mana is "?". ``theirs`` of a step are the actions of the opponent's last turn.

    Raises
    ------
    ValueError
        The text is none of the protocol, or of more than one match; the message names the line.
    """
    choice: list[Observation] = []
    turns: list[Observation] = []
    for line, observation in _observations(text, rules):
        if observation.phase == "battle":
            turns.append(observation)
        elif turns:
            raise ValueError(f"line {line}: the choice phase of another match begins")
        else:
            choice.append(observation)
    if not turns:
        raise ValueError("there is no turn of a battle in it")
    # Who is asked second has one mana more than the opponent, in their first turn.
    me = int(turns[0].me.max_mana > turns[0].opponent.max_mana)
    name = turns[0].rules
    cards = _cards(name, choice, turns)
    ids = {row.instance_id: row.base_id for seen in turns for row in seen.cards}
    # The opponent's items are in no row.
    for action in (action for seen in turns for action in seen.opponent_actions):
        ids.setdefault(int(action.text.split()[1]), action.base_id)
    played = set(ids.values())
    names = ["the opponent", "the opponent"]
    names[me] = "the bot"
    return {
        "rules": name,
        "names": names,
        "scores": [0, 0],
        "winner": None,
        "captured": me,
        "fault": None,
        "params": {},
        "stderr": ["", ""],
        "lanes": RULES[name].lanes,
        "cards": {base: card_view(card, base in played) for base, card in sorted(cards.items())},
        "badges": BADGES,
        "frames": [FRAMES[kind][:2] for kind in CardType],
        "numbers": NUMBER_SHAPES,
        "ids": ids,
        "choice": [[], []],
        "offers": [[card.base_id for card in seen.offer] for seen in choice],
        "steps": [_step(seen, me, 2 * i + me) for i, seen in enumerate(turns)],
    }


def _observations(text: str, rules: str | None) -> Iterator[tuple[int, Observation]]:
    """Each observation and the line that it begins in."""
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
    """The printed cards by base id, as far as they were seen."""
    if RULES[rules].draft:
        return {card.base_id: card for card in cards_1x()}
    cards: dict[int, Card] = {}
    for seen in turns:
        for row in seen.cards:
            if row.location != HAND:
                # What a creature had when it was printed is not known yet.
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


def _step(seen: Observation, me: int, turn: int) -> dict[str, Any]:
    sides: list[dict[str, Any]] = [{}, {}]
    hand = [row.instance_id for row in seen.at(HAND)]
    sides[me] = _side(seen, seen.me, hand, seen.at(MY_BOARD), seen.me.max_mana)
    hidden = [_HIDDEN] * seen.opponent_hand
    sides[1 - me] = _side(seen, seen.opponent, hidden, seen.at(ENEMY_BOARD), "?")
    return {
        "turn": turn,
        "player": me,
        "action": None,
        "theirs": [action.text for action in seen.opponent_actions],
        "state": {"turn": turn, "cur": me, "winner": -1, "p": sides},
    }


def _side(
    seen: Observation, line: PlayerLine, hand: list[int], board: list[CardInPlay], mana: int | str
) -> dict[str, Any]:
    side: dict[str, Any] = {
        "hp": line.health,
        "mana": mana,
        "maxMana": line.max_mana,
        "draw": line.draw,
        "hand": hand,
        "deck": line.deck_size,
        "board": [
            [row.instance_id, row.base_id, row.attack, row.defense, row.abilities, row.lane, 1, 0]
            for row in board
        ],
    }
    if RULES[seen.rules].draft:
        # Only the next one is in the text.
        side["runes"] = [line.rune] if line.rune else []
    return side
