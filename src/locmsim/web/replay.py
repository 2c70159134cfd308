"""A match as one HTML file that needs nothing else: no network, no server, no other file.

The file holds the match as data (`replay_data`) and a small program that shows it. Names, chat and
what bots wrote to their standard error are text of strangers: the page puts them in as text only,
and its content security policy runs no script but its own.
"""

import base64
import contextlib
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

from locmsim._core import State
from locmsim.art import BADGES, FRAMES, NUMBER_SHAPES
from locmsim.errors import InvalidActionError
from locmsim.game.ids2022 import OldIds
from locmsim.game.match import Match
from locmsim.networks._network import Network
from locmsim.referee.matches import Call, Result
from locmsim.rules.cards import Card, CardType
from locmsim.rules.rulesets import RULES
from locmsim.search.evaluation import Evaluation
from locmsim.web.views import card_view

__all__ = ["chat_of", "page_html", "replay_data", "replay_html", "replay_policy"]

#: What is shown of a bot's standard error, in characters, counted from its end.
_STDERR_SHOWN = 8000
#: What is shown of an answer and of its words for people, in characters, and of its illegal
#: actions: a bot may send as much as it likes.
_ANSWER_SHOWN = 2000
_CHAT_SHOWN = 300
_IGNORED = 20


def replay_data(result: Result[Match], names: tuple[str, str] = ("", "")) -> dict[str, Any]:
    """A match step by step, as plain dicts, lists, numbers and strings.

    Parameters
    ----------
    result : Result
        The result of a match of LOCM, from `locmsim.referee.matches` or a replay.
    names : tuple of str
        What the page calls the players; empty for "Player 0" and "Player 1".

    Returns
    -------
    dict
        ``rules``, ``names``, ``scores``, ``winner``, ``fault`` (None or its text), ``params``
        (texts), ``stderr`` (one text a player), ``lanes``, ``cards`` (base id to row, title and
        picture), ``badges`` and ``frames`` (colours and signs of abilities and types), ``ids``
        (instance id to base id), ``choice`` (what each player took), ``offers`` (the base ids that
        both chose from: one list, or one for each pick of 1.x), ``steps``.

        A step has ``turn``, ``player``, ``action`` (text, or None where a turn begins), ``state``
        (the snapshot after it, docs/rules.md, section 13) and, where a turn begins, ``ms``,
        ``answer``, ``chat`` (the words after its actions), ``ignored``. ``odds`` is player 0's
        chance of winning by the value network at the end of the last turn that ended, where the
        rule set has such a network.
    """
    match = result.match
    cards = {card.base_id: card for card in match.cards}
    ids = _instances(match)
    chosen = {base for player in match.chosen for base in player}
    offers: list[list[int]] = [[]]
    for offer in match.offers:  # a card of the one list that both choose from, or a pick of 1.x
        if isinstance(offer, Card):
            offers[0].append(offer.base_id)
        else:
            offers.append([card.base_id for card in offer])
    offers = [offer for offer in offers if offer]
    shown = sorted({*ids.values(), *chosen, *(base for offer in offers for base in offer)})
    return {
        "rules": match.rules,
        "names": [name or f"Player {player}" for player, name in enumerate(names)],
        "scores": list(result.scores),
        "winner": result.winner,
        "fault": result.fault
        and {
            "player": result.fault.player,
            "kind": str(result.fault.kind),
            "message": result.fault.message,
        },
        # As texts: the numbers of JavaScript have no room for 64 bits.
        "params": {key: str(value) for key, value in match.params.items()},
        "stderr": [text[-_STDERR_SHOWN:] for text in result.stderr],
        "lanes": RULES[match.rules].lanes,
        "cards": {base: card_view(cards[base], base in chosen) for base in shown},
        "badges": BADGES,
        "frames": [FRAMES[kind][:2] for kind in CardType],
        "numbers": NUMBER_SHAPES,
        "ids": ids,
        "choice": match.chosen,
        "offers": offers,
        "steps": list(_steps(match, result.calls)),
    }


def replay_html(
    result: Result[Match],
    names: tuple[str, str] = ("", ""),
    *,
    view: int | None = None,
    analyse: str = "",
) -> str:
    """The page that shows a match, whole.

    Parameters
    ----------
    result : Result
        As for `replay_data`.
    names : tuple of str
        As for `replay_data`.
    view : int, optional
        0 or 1 to begin with the hand of that player only; the page can change it.
    analyse : str
        The address that analyses a turn of this match, to which ``&turn=NUMBER`` is added; empty
        for a page without such a link.

    Returns
    -------
    str
        An HTML document.
    """
    return page_html({**replay_data(result, names), "view": view, "analyse": analyse})


def page_html(data: dict[str, Any]) -> str:
    """The page that shows such data, see `replay_data`, with ``view`` and ``analyse`` beside it."""
    folder = resources.files("locmsim.web") / "static"
    text = json.dumps(data, separators=(",", ":"))
    # Nothing in the data can end the element it stands in.
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    page = (folder / "replay.html").read_text(encoding="utf-8")
    parts = {"POLICY": replay_policy(), "STYLE": _style(), "DATA": text, "SCRIPT": _script()}
    # In one go: what is put in may look like a place, too.
    return re.sub("%([A-Z]+)%", lambda place: parts[place[1]], page)


@cache
def replay_policy() -> str:
    """The content security policy of `replay_html`: its own script and style, and nothing else.

    Returns
    -------
    str
        The value of the header.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(_script())}'",
            f"style-src '{_digest(_style())}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


@cache
def _script() -> str:
    """The page's program: its modules one after the other, without imports and exports."""
    return re.sub(r"(?m)^(?:import [^\n]*\n|export )", "", _joined("cards.js", "replay.js"))


def _style() -> str:
    return _joined("base.css", "replay.css")


def _joined(*names: str) -> str:
    folder = resources.files("locmsim.web") / "static"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _steps(match: Match, calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
    """The state at the start of each turn and after each action, in today's instance ids."""
    network = Evaluation(rules=match.rules).network
    odds: dict[str, float] = {}
    for steps, state in _turns(match, calls):
        for step in steps:
            step.update(odds)
        # The network judges the ends of turns, seen by the player whose turn ends. Until the next
        # one its last value stands.
        odds = _odds(network, state)
        steps[-1].update(odds)
        yield from steps


def _turns(match: Match, calls: Sequence[Call]) -> Iterator[tuple[list[dict[str, Any]], State]]:
    """The steps of each turn and the state after its last action."""
    old_ids = OldIds() if match.log["ids"] == "old" else None
    lanes = RULES[match.rules].lanes
    again = _fresh(match)
    for call in calls:
        state = again.state
        line = call.answer
        if state is None:
            again.submit(call.player, line)
            continue
        state = state.clone()
        step = {"turn": state.turn, "player": call.player}
        steps: list[dict[str, Any]] = [
            {
                **step,
                "action": None,
                "answer": None if line is None else line[:_ANSWER_SHOWN],
                "chat": chat_of(line or "", lanes),
                "ignored": [text for text in call.result.ignored if text != "PASS"][:_IGNORED],
                "ms": round(call.elapsed_ns / 1e6, 1),
                "state": state.snapshot(),
            }
        ]
        applied: list[str] = []
        with contextlib.suppress(InvalidActionError):  # the malformed answer that ended the match
            if line is not None and old_ids is not None:
                line = old_ids.new_line(state, line)
            applied = again.submit(call.player, line).applied
        for text in applied:
            state.apply_action(state.string_to_action(text))
            steps.append({**step, "action": text, "state": state.snapshot()})
        yield steps, state


def chat_of(answer: str, lanes: int) -> str:
    """What a bot says to the people who watch: the words that follow its actions.

    Parameters
    ----------
    answer : str
        Its answer line.
    lanes : int
        The number of lanes, 1 or 2.

    Returns
    -------
    str
        Text of strangers, at most 300 characters.
    """
    counts = {"PASS": 1, "SUMMON": 2 if lanes == 1 else 3, "ATTACK": 3, "USE": 3}
    said = []
    for part in answer.split(";"):
        words = part.split()
        said += words[counts.get(words[0], len(words)) :] if words else []
    return " ".join(said)[:_CHAT_SHOWN]


def _fresh(match: Match) -> Match:
    """The match before its first answer, in today's instance ids."""
    rows = match.log["cards"]
    cards = None if rows is None else [Card(*row) for row in rows]
    return Match(match.rules, params=match.params, cards=cards)


def _instances(match: Match) -> dict[int, int]:
    """The base id of each card of the battle by its instance id of today."""
    again = _fresh(match)
    for player, line in match.log["answers"]:
        if again.phase == "choice":
            again.submit(player, line)
    return {instance: base for deck in again.decks for instance, base in deck}


def _odds(network: Network | None, state: State) -> dict[str, float]:
    """Player 0's chance of winning, to a thousandth."""
    if state.is_terminal():
        return {"odds": 1.0 - float(state.winner or 0)}
    if network is None:
        return {}
    # The network judges the ends of turns, seen by the player whose turn ends.
    player = state.current_player()
    chance = 1 / (1 + math.exp(-network(state, player)))
    return {"odds": round(chance if player == 0 else 1 - chance, 3)}
