"""A match as one bot saw it: the text that it was sent, captured, as data for the replay page."""

from collections.abc import Iterator, Sequence
from typing import Any

from locmsim._core import State
from locmsim.errors import ProtocolError
from locmsim.game.action_text import sentence
from locmsim.game.observation import HAND, Observation, read_observation
from locmsim.rules.actions import ActionKind
from locmsim.rules.cards import BOUNDS, Card, cards_1x
from locmsim.rules.rulesets import RULES
from locmsim.search.belief import Belief
from locmsim.web.file_replay import page_html
from locmsim.web.match_data import Cards, match_page, turn_step


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
    turns: list[tuple[Observation, State]] = []
    belief = Belief()
    for line, observation in questions_of(text, rules):
        if observation.phase == "choice" and turns:
            raise ValueError(f"line {line}: the choice phase of another match begins")
        belief.see(observation)
        if observation.phase == "battle":
            turns.append((observation, belief.root()))
        else:
            choice.append(observation)
    if not turns:
        raise ValueError("there is no turn of a battle in it")
    # The second player has one mana more than the opponent in their first turn.
    first = turns[0][0]
    me = int(first.me.max_mana > first.opponent.max_mana)
    known = _cards(first.rules, choice, [seen for seen, _ in turns])
    bases = {row.instance_id: row.base_id for seen, _ in turns for row in seen.cards}
    cards = Cards(known.values())
    plain = ["the opponent", "the opponent"]
    plain[me] = "the bot"
    shown = [name or word for name, word in zip(names, plain, strict=True)]

    def title(base: int | None) -> str:
        return cards.title(known[base]) if base in known else "a card"

    def step(number: int, seen: Observation, root: State) -> dict[str, Any]:
        """Return what is shown at the start of a turn of the bot."""
        found = {**turn_step(root, cards, 1 - me), "turn": 2 * number + me, "player": me}
        sides = found["board"]["sides"]
        sides[1 - me]["mana"] = "?"
        if RULES[seen.rules].draft:  # the text has only the next rune
            for side, line in ((me, seen.me), (1 - me, seen.opponent)):
                sides[side]["runes"] = [line.rune] if line.rune else []
        theirs = []
        for action in seen.opponent_actions:
            # The text has only their cards' base ids.
            word, _, *rest = action.text.split(" ")
            kind, name = ActionKind[word], title(action.base_id)
            if kind == ActionKind.SUMMON:
                lane = int(rest[0]) if RULES[seen.rules].lanes > 1 else None
                theirs.append(sentence(kind, name, lane=lane))
                continue
            aimed = int(rest[0])
            theirs.append(sentence(kind, name, shown[me] if aimed < 0 else title(bases.get(aimed))))
        return {**found, "theirs": theirs}

    steps = [step(number, *turn) for number, turn in enumerate(turns)]
    drawn = cards.known()
    offers = [[cards.key(card) for card in seen.offer] for seen in choice]
    return match_page(
        first.rules, shown, cards, steps, drawn=drawn, captured=me, seat=me, offers=offers
    )


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
