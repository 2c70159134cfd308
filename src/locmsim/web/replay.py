"""A match as one HTML file that needs nothing else: no network, no server, no other file.

The file holds the match as data (`replay_data`) and a small program that shows it. Names, chat and
what bots wrote to their standard error are text of strangers: the page puts them in as text only,
and its content security policy runs no script but its own.
"""

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

from locmsim._core import State
from locmsim.art import card_art, card_title
from locmsim.errors import InvalidActionError
from locmsim.game.ids2022 import OldIds
from locmsim.game.match import Match
from locmsim.networks._network import Network
from locmsim.referee.play import Call, Result
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES
from locmsim.search.evaluation import Evaluation

__all__ = ["replay_data", "replay_html"]

#: What is shown of a bot's standard error, in characters, counted from its end.
_STDERR_SHOWN = 8000


def replay_data(result: Result[Match], names: tuple[str, str] = ("", "")) -> dict[str, Any]:
    """A match step by step, as plain dicts, lists, numbers and strings.

    Parameters
    ----------
    result : Result
        The result of a match of LOCM, from `locmsim.referee.play` or a replay.
    names : tuple of str
        What the page calls the players; empty for "Player 0" and "Player 1".

    Returns
    -------
    dict
        ``rules``, ``names``, ``scores``, ``winner``, ``fault`` (None or its text), ``params``,
        ``stderr`` (one text a player), ``cards`` (base id to row, title and picture), ``ids``
        (instance id to base id), ``choice`` (what each player took), ``steps``. A step has
        ``turn``, ``player``, ``action`` (text, or None where a turn begins), ``state`` (the
        snapshot after it, docs/rules.md, section 13) and, where a turn begins, ``ms``, ``answer``,
        ``ignored``; ``odds`` is player 0's chance of winning by the value network, where the rule
        set has one.
    """
    match = result.match
    cards = {card.base_id: card for card in match.cards}
    ids = _instances(match)
    shown = sorted({*ids.values(), *(base for chosen in match.chosen for base in chosen)})
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
        "params": dict(match.params),
        "stderr": [text[-_STDERR_SHOWN:] for text in result.stderr],
        "lanes": RULES[match.rules].lanes,
        "cards": {base: _card(cards[base]) for base in shown},
        "ids": ids,
        "choice": match.chosen,
        "steps": list(_steps(match, result.calls)),
    }


def replay_html(result: Result[Match], names: tuple[str, str] = ("", "")) -> str:
    """The page that shows a match, whole.

    Parameters
    ----------
    result : Result
        As for `replay_data`.
    names : tuple of str
        As for `replay_data`.

    Returns
    -------
    str
        An HTML document.
    """
    folder = resources.files("locmsim.web") / "static"
    script = (folder / "replay.js").read_text(encoding="utf-8")
    style = (folder / "replay.css").read_text(encoding="utf-8")
    data = json.dumps(replay_data(result, names), separators=(",", ":"))
    # Nothing in the data can end the element it stands in.
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    page = (folder / "replay.html").read_text(encoding="utf-8")
    for place, text in (("POLICY", policy), ("STYLE", style), ("DATA", data), ("SCRIPT", script)):
        page = page.replace(f"%{place}%", text, 1)
    return page


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _card(card: Card) -> dict[str, Any]:
    return {
        "row": card.to_row(),
        "name": card.name,
        "title": card_title(card),
        "art": card_art(card),
    }


def _steps(match: Match, calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
    """The state at the start of each turn and after each action, in today's instance ids."""
    old_ids = OldIds() if match.log["ids"] == "old" else None
    network = Evaluation(rules=match.rules).network
    again = _fresh(match)
    for call in calls:
        state = again.state
        line = call.answer
        if state is None:
            again.submit(call.player, line)
            continue
        state = state.clone()
        step = {"turn": state.turn, "player": call.player}
        yield {
            **step,
            "action": None,
            "answer": line,
            "ignored": call.result.ignored,
            "ms": round(call.elapsed_ns / 1e6, 1),
            "state": state.snapshot(),
            **_odds(network, state),
        }
        try:
            if line is not None and old_ids is not None:
                line = old_ids.new_line(state, line)
            applied = again.submit(call.player, line).applied
        except InvalidActionError:  # the malformed answer that ended the match
            return
        for text in applied:
            state.apply_action(state.string_to_action(text))
            yield {**step, "action": text, "state": state.snapshot(), **_odds(network, state)}


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
