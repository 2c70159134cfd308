"""Matches of any game as text and JSON, and the effect of other answers in them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from locmsim.contract import Game, turn_words
from locmsim.referee.illegal import illegal_text
from locmsim.referee.process_match import Call, Result
from locmsim.support.files import printable

#: How many lines of a standard error people are shown.
_STDERR_LINES = 15
#: Maximum number of characters shown of an answer, and of its ignored parts.
_ANSWER, _IGNORED = 2000, 20
#: Maximum number of characters that a page shows of what a bot wrote in a turn.
_WRITTEN = 2000


#: The names of players who have none.
NAMELESS = ("", "")


def called(player: int, names: Sequence[str]) -> str:
    """Return what a player is called: the seat, and the name if there is one."""
    return f"player {player} ({names[player]})" if names[player] else f"player {player}"


def heading(call: Call, who: str, turn_name: str = "turn") -> str:
    """Return what a list says of an answer before it: when it was given, and by whom."""
    return f"{turn_words(call.turn, turn_name).removeprefix('the ')}, {who}:"


def plain_text(
    result: Result[Any], turn_name: str = "turn", names: Sequence[str] = NAMELESS
) -> str:
    """Return the answers of a match, one per line, what was dropped, and how it ended."""
    lines = []
    for call in result.calls:
        answer = "no answer" if call.answer is None else printable(call.answer)
        begin = heading(call, called(call.player, names), turn_name)
        lines.append(f"{begin} {answer}{', late' if call.late else ''}")
        if call.result.ignored:
            lines.append(f"    not done: {printable('; '.join(call.result.ignored))}")
        lines += written_lines(call)
    if fault := fault_text(result, words=True, names=names):
        lines.append(fault)
    lines.append(_ended(result, names))
    return "\n".join(lines) + "\n"


def written_lines(call: Call) -> list[str]:
    """Return what a bot wrote to its standard error in a turn, in lines that show what they are."""
    return [f"    | {line}" for line in printable(call.stderr.rstrip()).splitlines()]


def written_text(call: Call) -> str:
    """Return what a bot wrote to its standard error in a turn, of a long text its two ends."""
    text, half = call.stderr, _WRITTEN // 2
    return text if len(text) <= _WRITTEN else f"{text[:half]}\n[...]\n{text[-half:]}"


def stderr_text(
    result: Result[Any], turn_name: str = "turn", names: Sequence[str] = NAMELESS
) -> str:
    """Return what both players wrote to their standard errors, answer by answer.

    Parameters
    ----------
    result : Result
        The match.
    turn_name : str
        What the game calls a turn.
    names : sequence of str
        The names of the players.

    Returns
    -------
    str
        For each answer a line that says whose it is, and the lines that were written.
    """
    who = [called(player, names) for player in (0, 1)]
    lines = []
    for call in result.calls:
        if call.stderr:
            lines += [heading(call, who[call.player], turn_name), *written_lines(call)]
    for player in (0, 1):
        if not any(call.stderr for call in result.calls if call.player == player):
            lines += last_words(result, player, names) or [f"{who[player]}: nothing"]
    return "\n".join(lines) + "\n"


def view_steps(result: Result[Any], game: Game) -> Iterator[dict[str, Any]]:
    """Return the views of a match of any game: at the start and after each answer.

    Parameters
    ----------
    result : Result
        The match.
    game : Game
        The game.

    Yields
    ------
    dict
        The attributes of a `locmsim.contract.View`; ``turn`` (None at the start and in a choice
        phase), ``player`` (None at the start), ``answer``, ``ignored``, the parts of it that had no
        effect, and ``stderr``, what the bot then wrote to its standard error.
    """
    match = result.match.root()
    step: dict[str, Any] = {"turn": None, "player": None, "answer": None}
    yield {**step, "ignored": [], "stderr": "", **asdict(game.view(match))}
    for call in result.calls:
        match.submit(call.player, call.answer)
        answer = None if call.answer is None else call.answer[:_ANSWER]
        step = {"turn": call.turn, "player": call.player, "answer": answer}
        step |= {"ignored": call.result.ignored[:_IGNORED], "stderr": written_text(call)}
        yield {**step, **asdict(game.view(match))}


def plain_log(result: Result[Any], game: dict[str, Any], names: tuple[str, str]) -> str:
    """Return a match as one line of JSON: game, players, answers and the match's log.

    `game` is given as in files of results.
    """
    data = {
        "game": game,
        "agents": [{"index": i, "name": name or f"Player {i}"} for i, name in enumerate(names)],
        "scores": list(result.scores),
        "winner": result.winner,
        "fault": result.fault and result.fault.row(),
        "params": dict(result.match.params),
        "answers": [[call.player, call.answer] for call in result.calls],
        "stderr": list(result.stderr),
        "log": result.match.log,
    }
    return json.dumps(data, separators=(",", ":"))


def position_after(result: Result[Any], turn: int, line: str) -> object:
    """Return the `state_key` of the position after answering `line` in a turn of the match.

    Lines with the same key have the same effect. None if the line is a fault.
    ``ValueError`` if the match has no such turn.
    """
    match = result.match.root()
    for call in result.calls:
        if call.turn == turn:
            try:
                fault = match.submit(call.player, line).error
            except ValueError:  # more than a line
                return None
            return None if fault else match.state_key()
        match.submit(call.player, call.answer)
    raise ValueError(f"turn: the match has no turn {turn}")


def _ended(result: Result[Any], names: Sequence[str]) -> str:
    return "a draw" if result.winner is None else f"{called(result.winner, names)} wins"


def summary_text(
    result: Result[Any], turn_name: str = "turn", names: Sequence[str] = NAMELESS
) -> str:
    """Return who won and why, the bots' times, illegal actions, and a failed bot's last words."""
    fault = result.fault
    seconds = result.elapsed_ns / 1e9
    lines = [f"{_ended(result, names)} after {result.turns} {turn_name}s and {seconds:.2f} s"]
    if fault:
        lines.append(fault_text(result, names=names))
    for player in (0, 1):
        calls = [call for call in result.calls if call.player == player]
        text = f"{called(player, names)}: {len(calls)} answers"
        for what, name in ((",", "elapsed_ns"), ("; processor time:", "cpu_ns")):
            times = [getattr(call, name) / 1e6 for call in calls]
            if any(times) or what == ",":
                mean = sum(times) / max(1, len(times))
                text += f"{what} mean {mean:.1f} ms, worst {max(times, default=0):.1f} ms"
        lines.append(text)
    lines += illegal_text(result, turn_name).splitlines()
    if fault:
        lines += last_words(result, fault.player, names)
    return "\n".join(lines) + "\n"


def fault_text(result: Result[Any], *, words: bool = False, names: Sequence[str] = NAMELESS) -> str:
    """Describe the fault in one line; with `words`, add the end of the standard error."""
    fault = result.fault
    if fault is None:
        return ""
    who, at = called(fault.player, names), turn_words(result.calls[-1].turn)
    lines = [f"{who} failed in {at} ({fault.kind}): {fault.message}"]
    return "\n".join([*lines, *(last_words(result, fault.player, names) if words else [])])


def last_words(result: Result[Any], player: int, names: Sequence[str] = NAMELESS) -> list[str]:
    """Return the last lines of a player's standard error; [] if there was no output."""
    lines = [f"    {line}" for line in end_of_stderr(result.stderr[player])]
    return [f"{called(player, names)}, end of standard error:", *lines] if lines else []


def end_of_stderr(text: str) -> list[str]:
    """Return the last lines of a standard error, as many as people are shown."""
    return printable(text.rstrip()).splitlines()[-_STDERR_LINES:]
