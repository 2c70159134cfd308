"""The illegal actions of a match, each with its reason."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from locmsim.contract import Match
from locmsim.referee.process_match import Result
from locmsim.support.files import counted


class IllegalAction(NamedTuple):
    """A part of an answer that had no effect because it was not legal."""

    player: int
    #: The turn, counted over both players from 0.
    turn: int
    action: str
    reason: str


def illegal_actions(result: Result[Any]) -> list[IllegalAction]:
    """Return the illegal actions of a match in order.

    Reasons are those of ``match.illegal_actions(line)`` (as for `locmsim.game.match.Match`); in a
    game without this method they are what its results say after a colon.
    """
    # Most matches have none, and need not be replayed.
    if not any(text != "PASS" for call in result.calls for text in call.result.ignored):
        return []
    if hasattr(result.match, "illegal_actions"):
        return [*_replayed(result)]
    found = []
    for call in result.calls:
        for text in call.result.ignored:
            action, _, reason = text.partition(": ")
            if action != "PASS" and call.turn is not None:
                found.append(IllegalAction(call.player, call.turn, action, reason or "not legal"))
    return found


def _replayed(result: Result[Any]) -> Iterator[IllegalAction]:
    match: Match = result.match.root()
    for call in result.calls:
        if call.answer is not None and call.turn is not None:
            for action, reason in match.illegal_actions(call.answer):  # type: ignore[attr-defined]
                yield IllegalAction(call.player, call.turn, action, reason)
        match.submit(call.player, call.answer)


def illegal_text(result: Result[Any], turn_name: str = "turn") -> str:
    """Return a line for each player who played illegal actions, with the first one."""
    found = illegal_actions(result)
    lines = []
    for player in (0, 1):
        if mine := [one for one in found if one.player == player]:
            first = mine[0]
            lines.append(
                f"player {player} played {counted(len(mine), 'illegal action')}, first in"
                f" {turn_name} {first.turn}: {first.action} ({first.reason})\n"
            )
    return "".join(lines)
