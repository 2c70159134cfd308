"""Logs in the format of the Java referee: written from a match, and replayed.

This module also formats results for tournament tools.
"""

import itertools
import json
import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from locmsim._core import State, parse_line
from locmsim.game.match import Match
from locmsim.referee.log_reader import (
    OWN,
    TIME,
    fault_of,
    own_part,
    referee_log,
    what_is_wrong,
)
from locmsim.referee.process_match import Call, Result, replay_calls
from locmsim.rules.cards import Card

#: Maximum number of bytes per entry of standard error in the referee's log.
_ENTRY = 4096
#: The parameter that names a file with the cards of a match.
_CARD_FILE = "predefinedCardListFile"
#: Number of dropped actions that a frame lists before it only counts them.
_WARNINGS = 3
#: Frames without a call between the construct phase and the battle, where the Java referee's viewer
#: shows the deck and clears the table. They take the rest of a text of more than one entry.
_CONSTRUCT_PAUSE = 6
_DATA = re.compile(
    r"\[([TP])DATA(\+?)\](?:\[([0-9]+)\])?\s*([^\s=]+)\s*=\s*(.*?)\s*", re.IGNORECASE
)


# ------------------------------------------------------------------------------ the referee's log


def log_line(result: Result[Match], names: Sequence[str | None] = ("", "")) -> str:
    """Return `result_log` as one line of JSON, without line end."""
    return json.dumps(result_log(result, names), separators=(",", ":"))


def result_log(result: Result[Match], names: Sequence[str | None] = ("", "")) -> dict[str, Any]:
    """Return the log of a match in the format of the Java referee.

    One frame a call and one for each action carried out. ``errors`` has what a bot then wrote to
    its standard error, ``outputs`` what it answered, under "0" and "1", null in the frames of the
    other player and where nothing was written; ``summaries`` says what happened and how long each
    call took; ``views`` is empty frames, there are no pictures here; ``failCause`` is null without
    a fault; ``stderr`` is the end of what each bot wrote there, or an agent's traceback; ``rules``
    and ``ids`` are those of the match, ``cards`` the rows and names of a card list that follows
    from no seed, else null; ``sent`` is what was sent to each player, text by text; ``written`` is
    what bots wrote to their standard errors, each text with the number of the answer; ``decks`` is
    the agent who chose the cards of both players in their place, or null: these seven are under the
    key ``locmsim``.
    ``agents`` has the players' `names`.
    """
    match, fault = result.match, result.fault
    frames = _Frames()
    frames.add(None, _card_list(match))
    choice = [call for call in result.calls if call.turn is None]
    battle = [call for call in result.calls if call.turn is not None]
    _add_choice(frames, match, choice)
    if battle:
        for i in range(_CONSTRUCT_PAUSE if match.rules == "1.5" else 0):
            frames.add(i % 2, key_frame=i % 2 == 1)
        frames.add(0)  # shows the first position
    for call in battle:
        _add_turn(frames, match, call)
    frames.summaries[-1] += _ending(match)
    frames.flush()
    return {
        "errors": frames.errors,
        "outputs": frames.outputs,
        "summaries": frames.summaries,
        "views": frames.views,
        "scores": {str(player): score for player, score in enumerate(result.scores)},
        "gameParameters": [params_text(match)],
        OWN: {
            "rules": match.rules,
            "ids": match.log["ids"],
            "cards": _own_cards(match),
            "stderr": dict(zip(("0", "1"), result.stderr, strict=True)),
            "sent": {str(p): [c.text for c in result.calls if c.player == p] for p in (0, 1)},
            "written": [[i, call.stderr] for i, call in enumerate(result.calls) if call.stderr],
            "decks": result.decks or None,
            **({"start": match.log["start"]} if "start" in match.log else {}),
        },
        "metadata": "{}\n",
        "failCause": fault and f"${fault.player}: {fault}",
        "tooltips": [],
        "agents": [
            {"index": player, "name": name or f"Player {player}"}
            for player, name in enumerate(names)
        ],
    }


def _own_cards(match: Match) -> list[list[Any]] | None:
    """Return the card list of a match, rows and names, if no seed generates it."""
    cards: list[list[Any]] | None = match.log["cards"]
    if cards is None and _CARD_FILE in match.params:
        cards = [[*card.to_row(), card.name] for card in match.cards]
    return cards


def params_text(match: Match) -> str:
    """Return the effective parameters as lines ``key=value``."""
    return "".join(f"{key}={value}\n" for key, value in match.params.items())


class _Frames:
    """The lists of the log, each with one entry per frame."""

    def __init__(self) -> None:
        self.errors: dict[str, list[str | None]] = {"0": [], "1": [], "referee": []}
        self.outputs: dict[str, list[str | None]] = {"0": [], "1": [], "referee": []}
        self.summaries: list[str] = []
        self.views: list[str] = []
        self._unlogged: tuple[deque[str], deque[str]] = (deque(), deque())

    def add(
        self,
        player: int | None,
        summary: str = "",
        *,
        call: Call | None = None,
        key_frame: bool = True,
    ) -> None:
        """Add a frame of `player`, None for the one before the game, with their `call` if any."""
        for other in (0, 1):
            self.errors[str(other)].append(None)
            self.outputs[str(other)].append("" if other == player else None)
        self.errors["referee"].append("")
        self.outputs["referee"].append("")
        if player is not None:
            unlogged = self._unlogged[player]
            if call:
                unlogged.extend(_entries(call.stderr))
            if unlogged:
                self.errors[str(player)][-1] = unlogged.popleft()
            if call and call.answer is not None:
                self.outputs[str(player)][-1] = call.answer + "\n"
        number = len(self.views)
        self.views.append(
            f"KEY_FRAME {number}\n{{}}\n" if key_frame else f"INTERMEDIATE_FRAME {number}\n"
        )
        self.summaries.append(summary)

    def flush(self) -> None:
        """Add frames for the rest of long texts if the match ended before they were in one."""
        for player in (0, 1):
            while self._unlogged[player]:
                self.add(player)


def _entries(text: str) -> Iterator[str]:
    """Yield the parts of a text that are an entry each, cut between characters."""
    data = text.encode(errors="replace")
    while data:
        entry = data[:_ENTRY].decode(errors="ignore")
        data = data[len(entry.encode()) :]
        yield entry


def _card_list(match: Match) -> str:
    if match.rules != "1.5":
        return ""
    rows = (f"-1 {' '.join(map(str, card.to_row()))}" for card in match.cards)
    return f"Generated cards: {' , '.join(rows)}\n"


def _add_choice(frames: _Frames, match: Match, calls: Sequence[Call]) -> None:
    for step in range(len(calls) // 2):
        pair = calls[2 * step : 2 * step + 2]
        # Only the last step can have failed; of the one to blame and who comes after them nothing
        # was accepted.
        failed = match.error is not None and match.state is None and 2 * step + 2 == len(calls)
        accepted = match.error.player if failed and match.error else 2
        summary = ""
        for call in pair:
            if call.player < accepted:
                summary += f"Player ${call.player} chose {_choice(match, call.player, step)}\n"
            summary += _time(call, step)
        frames.add(pair[0].player, call=pair[0], key_frame=False)
        frames.add(pair[1].player, summary, call=pair[1])


def _choice(match: Match, player: int, step: int) -> str:
    if match.rules == "1.5":
        return f"cards {_deck(match, player)}."
    return f"card {match.chosen[player][step]}."


def _deck(match: Match, player: int) -> str:
    counts = sorted(Counter(match.chosen[player]).items())
    return ", ".join(f"{base_id}x{count}" for base_id, count in counts)


def _add_turn(frames: _Frames, match: Match, call: Call) -> None:
    assert call.turn is not None
    dropped = _dropped(match, call)
    frames.add(call.player, _time(call, call.turn) + next(dropped), call=call)
    for action, warnings in zip(_applied(match, call), dropped, strict=True):
        frames.add(call.player, f"Player ${call.player} performed action: {action}\n" + warnings)


def _applied(match: Match, call: Call) -> list[str]:
    """Return the executed actions with the instance ids of the match."""
    return [match.encode(action) for action in call.result.applied]


def _dropped(match: Match, call: Call) -> Iterator[str]:
    """Yield the warnings about dropped actions before the first executed one and after each."""
    applied = _applied(match, call)
    dropped: list[list[str]] = [[] for _ in range(len(applied) + 1)]
    ignored = len(call.result.ignored)
    executed = 0
    actions = []
    if call.answer is not None and (applied or ignored):
        actions = parse_line(call.answer, match.rules)
    # An action equal to the next executed one is that one: had it been dropped, nothing would have
    # changed until its equal came, and that would have been dropped too.
    for action in actions:
        if executed < len(applied) and action == applied[executed]:
            executed += 1
        elif ignored:
            ignored -= 1
            if action != "PASS":
                dropped[executed].append(action)
    for illegal in dropped:
        warnings = [f"Action is not legal: {action}" for action in illegal[:_WARNINGS]]
        if len(illegal) > _WARNINGS:
            warnings.append(f"Performed another {len(illegal) - _WARNINGS} illegalActions")
        yield "".join(f"[Warning] ${call.player} {warning}\n" for warning in warnings)


def _time(call: Call, turn: int) -> str:
    return f"${call.player} {call.elapsed_ns}ns at turn {turn}\n"


def _ending(match: Match) -> str:
    ending = ""
    if match.error is not None:
        ending += f"\u00a4RED\u00a4{match.error.message}\u00a7RED\u00a7\n"
    if match.scores is not None and 1 in match.scores:
        ending += f"\u00a4GREEN\u00a4${match.winner} won!\u00a7GREEN\u00a7\n"
    return ending


# ------------------------------------------------------------------------------- a log replayed


def replay_log(log: object, rules: str | None = None, ids: str | None = None) -> Result[Match]:
    """Replay the match of a log in the format of the Java referee, or of a replay of CodinGame.

    Java's logs do not name their rule set, nor whether instance ids are those of 2022 (`ids`
    "old"), as ours do. None takes what the log says, or 1.5 and "new" where it says nothing.
    No file is read: a custom card list must be in the log, as it is in ours. ``ValueError``
    if it is not a log, or the match ends differently.
    """
    try:
        log = referee_log(log)
        assert isinstance(log, Mapping)
        own = own_part(log)
        rules = rules or str(own.get("rules") or "1.5")
        ids = ids or str(own.get("ids") or "new")
        params = _params_of(log["gameParameters"])
        answers = [deque(_lines(log["outputs"][p])) for p in ("0", "1")]
        scores = tuple(log["scores"][p] for p in ("0", "1"))
        times: tuple[deque[int], deque[int]] = (deque(), deque())
        for player, elapsed_ns in TIME.findall("\n".join(filter(None, log["summaries"]))):
            times[int(player)].append(int(elapsed_ns))
        rows = own.get("cards")
        cards = None if rows is None else [Card(*row) for row in rows]
        said = [_said(log, p) for p in ("0", "1")]
        words = own.get("stderr") or {"0": "", "1": ""}
        stderr = str(words["0"]), str(words["1"])
        written = None
        if "written" in own:  # which answer a long text belongs to, entries alone do not say
            written = {int(number): str(text) for number, text in own["written"]}
        decks = str(own.get("decks") or "")
        start = State.from_text(str(own["start"])) if "start" in own else None
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a referee's log: {what_is_wrong(error)}") from None

    # A path in a log may name any file of this machine: its cards are those of the log alone.
    if (path := params.pop(_CARD_FILE, None)) is not None and cards is None:
        raise ValueError(
            f"the match was played with the cards of the file {path!r}, which the log does not hold"
        )
    match = Match(rules, params=params, cards=cards, ids=ids, start=start)

    def calls() -> Iterator[tuple[int, str | None, int, str]]:
        for number in itertools.count():
            if match.phase == "over":
                return
            player = match.to_ask[0]
            line = answers[player].popleft().removesuffix("\n") if answers[player] else None
            elapsed_ns = times[player].popleft() if times[player] else 0
            words = said[player].popleft() if said[player] else ""
            yield player, line, elapsed_ns, words if written is None else written.get(number, "")

    result = replay_calls(match, calls(), fault=fault_of(log), stderr=stderr)
    if any(answers) or result.scores != scores:
        left = sum(map(len, answers))
        raise ValueError(
            f"the log ends {scores}, the match replayed {result.scores} with {left} answers left"
        )
    return replace(result, decks=decks)


def _params_of(texts: str | Iterable[str]) -> dict[str, str]:
    """Return the parameters of a text or several, each with lines ``key=value``."""
    lines = "\n".join([texts] if isinstance(texts, str) else texts).splitlines()
    params = {}
    for line in filter(str.strip, lines):
        key, value = line.split("=", 1)
        params[key.strip()] = value.strip()
    return params


def _said(log: Mapping[str, Any], player: str) -> deque[str]:
    """Return what a bot wrote to its standard error, by answer, as far as the frames tell."""
    entries = (log.get("errors") or {}).get(player) or ()
    _lines(entries)
    said = deque([""])  # what it wrote as it started comes with its first answer
    answered = False
    for entry, answer in itertools.zip_longest(entries, log["outputs"][player]):
        if answer and answered:
            said.append("")
        answered = answered or bool(answer)
        said[-1] += entry or ""
    return said


def _lines(texts: Iterable[Any]) -> list[str]:
    """The texts that a log has; ``TypeError`` for a value that is not a text."""
    found = [text for text in texts if text]
    if not all(isinstance(text, str) for text in found):
        raise TypeError("expected texts")
    return found


# ------------------------------------------------------------------------- for tournament tools


def tool_result(result: Result[Any]) -> dict[str, Any]:
    """Return the result for psyleague and cgarena; each ignores the other's keys.

    ``ranks`` (0 for the winner), ``errors`` (1 for a bot that failed), ``scores``; for psyleague
    ``test_data`` and ``player_data``, for cgarena ``attributes``: what the bots wrote to their
    standard error as ``[TDATA] name = value`` about the match and ``[PDATA] name = value`` about
    themselves (``[PDATA+]`` adds values up, ``[PDATA][7]`` is of turn 7). ``fault`` is for people:
    null, or who failed, by what kind of fault, why, and the end of that bot's standard error.
    """
    fault, error = result.fault, result.match.error
    test_data: dict[str, Any] = {"seed": result.match.params.get("seed"), "turns": result.turns}
    player_data: list[dict[str, Any]] = [{}, {}]
    attributes: list[dict[str, Any]] = []
    for player in (0, 1):
        spent = [call.elapsed_ns / 1e6 for call in result.calls if call.player == player]
        own = player_data[player]
        own["mean_ms"] = round(sum(spent) / max(1, len(spent)), 3)
        own["worst_ms"] = round(max(spent, default=0.0), 3)
        for line in result.data[player]:
            found = _DATA.fullmatch(line)
            if not found:
                continue
            whose, plus, turn, name, text = found.groups()
            whose = whose.upper()
            value = _number_or_text(text)
            if whose == "T":
                test_data[name] = value
            elif plus and isinstance(value, float) and isinstance(own.get(name, 0.0), float):
                own[name] = _number_or_text(str(own.get(name, 0.0) + value))
            else:
                own[name] = value
            attributes.append(
                {
                    "name": name,
                    "player": player if whose == "P" else None,
                    "turn": turn and int(turn),
                    "value": text,
                }
            )
    return {
        "ranks": [int(player != result.winner) for player in (0, 1)],
        "errors": [int(error is not None and error.player == player) for player in (0, 1)],
        "scores": list(result.scores),
        "test_data": test_data,
        "player_data": player_data,
        "attributes": attributes,
        "fault": fault and {**fault.row(), "stderr": result.stderr[fault.player]},
    }


def _number_or_text(text: str) -> float | str:
    """Return a finite number, or the text: JSON has no other numbers."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
