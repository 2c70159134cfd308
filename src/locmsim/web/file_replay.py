"""A match as one HTML file that needs nothing else: no network, no server, no other file.

The file holds the match as data (`replay_data`) and a small program that shows it. Names, chat and
what bots wrote to their standard error come from others: the page shows them as text only, and its
content security policy runs no script but its own.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from locmsim._core import State
from locmsim.game.match import Match
from locmsim.networks._network import Network
from locmsim.referee.any_game import written_text
from locmsim.referee.illegal import illegal_actions
from locmsim.referee.locm_text import IDS_NOTE
from locmsim.referee.process_match import Result
from locmsim.referee.transcript import log_line
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES
from locmsim.search.evaluation import Evaluation
from locmsim.web.file_parts import joined, packed_json, program
from locmsim.web.match_data import (
    PERSON,
    Cards,
    action_steps,
    match_page,
    told_apart,
    turn_step,
)
from locmsim.web.positions import played_turns

#: The most characters that are shown of a bot's standard error, from its end.
_STDERR_SHOWN = 8000
#: What is shown of an answer and of its words for people, in characters, and of its illegal
#: actions: a bot may send as much as it likes.
_ANSWER_SHOWN = 2000
_CHAT_SHOWN = 300
_ILLEGAL = 20


def replay_data(result: Result[Match], names: tuple[str, str] = ("", "")) -> dict[str, Any]:
    """Return a match step by step, as plain dicts, lists, numbers and strings.

    Parameters
    ----------
    result : Result
        The result of a match of LOCM, from `locmsim.referee.process_match` or a replay.
    names : tuple of str
        What the page calls the players; empty for "Player 0" and "Player 1".

    Returns
    -------
    dict
        ``rules``, ``lanes``, ``names``, ``scores``, ``winner``, ``fault`` (None or its text),
        ``params`` (texts), ``stderr`` (one text a player), ``seat`` (of the person who played, who
        sits below; None for a match of two bots), the cards as of `locmsim.web.match_data.Cards`,
        ``choice`` (keys of what each player took), ``offers`` (keys of what both chose from: one
        list, or one for each pick of 1.x), ``choice_stderr`` (of each player), ``steps``.

        A step has ``turn``, ``player``, ``action`` (text, or None where a turn begins), ``words``
        (the same for people), ``board`` (the position after it, as of
        `locmsim.web.match_data.board_data`) and, where a turn begins, ``ms``, ``answer``, ``chat``
        (the words after its actions), ``illegal`` (the first illegal actions of the answer, each
        with its reason) and ``stderr`` (what the bot wrote to its standard error in that turn, of a
        long text the two ends). ``value`` is what the value network says at the end of the last
        turn that ended, -1 to 1 for player 0, where the rule set has such a network.
    """
    match = result.match
    cards = Cards(match.cards)
    shown = told_apart(names)
    steps = list(_steps(result, cards, shown))
    known = {card.base_id: card for card in match.cards}
    choice = [[cards.key(known[base]) for base in chosen] for chosen in match.chosen]
    drawn = cards.known()
    offers: list[list[str]] = [[]]
    for offer in match.offers:  # a card of the one list that both choose from, or a pick of 1.x
        if isinstance(offer, Card):
            offers[0].append(cards.key(offer))
        else:
            offers.append([cards.key(card) for card in offer])
    # As texts: the numbers of JavaScript cannot hold 64 bits.
    params = {key: str(value) for key, value in match.params.items()}
    if match.ids == "old":
        params["ids"] = IDS_NOTE
    if result.decks:
        params["decks"] = f"chosen by {result.decks}"
    return match_page(
        match.rules,
        shown,
        cards,
        steps,
        drawn=drawn,
        scores=list(result.scores),
        winner=result.winner,
        fault=result.fault and result.fault.row(),
        params=params,
        stderr=[text[-_STDERR_SHOWN:] for text in result.stderr],
        seat=shown.index(PERSON) if PERSON in shown else None,
        choice=choice,
        choice_stderr=_choice_stderr(result),
        offers=[offer for offer in offers if offer],
    )


def replay_html(
    result: Result[Match],
    names: tuple[str, str] = ("", ""),
    *,
    view: int | None = None,
    engine: bool = False,
) -> str:
    """Return the page that shows a match, complete in one file.

    Parameters
    ----------
    result : Result
        As for `replay_data`.
    names : tuple of str
        As for `replay_data`.
    view : int, optional
        0 or 1 to begin with that player below and with their hand only; the page can change it.
    engine : bool
        Whether the page has the engine in it, which searches its positions and plays on from them.

    Returns
    -------
    str
        An HTML document.

    Raises
    ------
    ValueError
        The match ended before the battle, which leaves nothing to an engine.
    ImportError
        The engine must be compiled, and there is no compiler for WebAssembly.
    """
    data = {**replay_data(result, names), "view": view, "files": _files(result, names)}
    if engine:
        from locmsim.web.file_engine import packed_engine  # imports NumPy

        data["engine"] = packed_engine(result.match.rules, result)
    return page_html(data, "engine" if engine else "replay")


def _files(result: Result[Match], names: tuple[str, str]) -> str:
    """Return what the page lets people save: its log, and each position as text."""
    positions = []
    for _, state, applied in played_turns(result):
        positions.append(state.to_text())
        for text in applied:
            state.apply_action(state.string_to_action(text))
            positions.append(state.to_text())
    return packed_json({"log": log_line(result, names), "positions": positions})


def page_html(data: dict[str, Any], kind: str = "replay") -> str:
    """Return a page of one file: for "replay" and "engine", it shows the data of `replay_data`,
    with ``view`` and ``engine`` added."""
    text = json.dumps(data, separators=(",", ":"))
    # Nothing in the data can end the element it stands in.
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    page = joined("replay.html")
    scripts, styles = _FILES[kind]
    parts = {
        "POLICY": replay_policy(kind),
        "STYLE": joined(*styles),
        "DATA": text,
        "SCRIPT": program(*scripts),
    }
    # All at once: what is inserted may look like a placeholder, too.
    return re.sub("%([A-Z]+)%", lambda place: parts[place[1]], page)


@cache
def replay_policy(kind: str = "replay") -> str:
    """Return the content security policy of `replay_html`: its script and style, no other.

    Parameters
    ----------
    kind : str
        "replay"; or "engine" or "play" for a page with an engine, which it compiles and runs in a
        worker of its own.

    Returns
    -------
    str
        The value of the header.
    """
    scripts, styles = _FILES[kind]
    script = f"script-src '{_digest(program(*scripts))}'"
    has_engine = kind != "replay"
    return "; ".join(
        (
            "default-src 'none'",
            f"{script} 'wasm-unsafe-eval'" if has_engine else script,
            *(["worker-src blob:"] if has_engine else []),
            f"style-src '{_digest(joined(*styles))}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


_VIEWER = (
    *("dom.js", "packed.js", "words.js", "cards.js", "cardtext.js", "board.js", "chart.js"),
    *("curve.js", "written.js", "moves.js", "panels.js", "playback.js", "matchpanels.js"),
    "viewer.js",
)
_ENGINE = (*_VIEWER, "enginepanel.js", "local.js", "matchtext.js", "playedmatch.js", "filematch.js")
#: The modules of each kind of page, each behind those that it imports, and its styles.
_FILES = {
    "replay": ((*_VIEWER, "file-replay.js"), ("base.css", "board.css")),
    "engine": ((*_ENGINE, "file-engine.js"), ("base.css", "board.css")),
    "play": (
        (*_ENGINE, "choice.js", "help.js", "file-play.js"),
        ("base.css", "board.css", "site.css"),
    ),
}


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _steps(result: Result[Match], cards: Cards, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return the position at the start of each turn and after each action."""
    rules = result.match.rules
    network = Evaluation(rules=rules).network
    illegal: dict[int, list[str]] = {}
    for one in illegal_actions(result):
        illegal.setdefault(one.turn, []).append(f"{one.action} ({one.reason})")
    value: dict[str, float] = {}
    for call, state, applied in played_turns(result):
        start = turn_step(state, cards, None)
        line = call.answer
        start["answer"] = None if line is None else line[:_ANSWER_SHOWN]
        start["chat"] = chat_of(line or "", RULES[rules].lanes)
        start["illegal"] = illegal.get(start["turn"], [])[:_ILLEGAL]
        start["stderr"] = written_text(call)
        start["ms"] = round(call.elapsed_ns / 1e6, 1)
        steps = [start, *action_steps(state, applied, cards, names, None)]
        for step in steps:
            step.update(value)
        # The network judges the ends of turns, seen by the player whose turn ends. Until the next
        # one its last value stands.
        value = _value(network, state)
        steps[-1].update(value)
        yield from steps


def _choice_stderr(result: Result[Match]) -> list[str]:
    """Return what each bot wrote to its standard error in the choice phase."""
    written: list[list[str]] = [[], []]
    for call in result.calls:
        if call.turn is None and call.stderr:
            written[call.player].append(written_text(call).rstrip("\n"))
    return ["\n".join(texts)[-_STDERR_SHOWN:] for texts in written]


def chat_of(answer: str, lanes: int) -> str:
    """Return what a bot says to spectators: the words that follow its actions.

    Parameters
    ----------
    answer : str
        Its answer line.
    lanes : int
        The number of lanes, 1 or 2.

    Returns
    -------
    str
        Text that others wrote, at most 300 characters.
    """
    counts = {"PASS": 1, "SUMMON": 2 if lanes == 1 else 3, "ATTACK": 3, "USE": 3}
    spoken = []
    for part in answer.split(";"):
        words = part.split()
        spoken += words[counts.get(words[0], len(words)) :] if words else []
    return " ".join(spoken)[:_CHAT_SHOWN]


def _value(network: Network | None, state: State) -> dict[str, float]:
    """Return player 0's search value by the network, to a thousandth."""
    if state.is_terminal():
        return {"value": 1.0 - 2.0 * (state.winner or 0)}
    if network is None:
        return {}
    # The network judges the ends of turns, seen by the player whose turn ends.
    player = state.current_player()
    value = math.tanh(network(state, player) / 2)
    return {"value": round(value if player == 0 else -value, 3)}
