"""Logs of matches as others write them: every version of the Java referee, and CodinGame's replays.

All are read as the log of today's Java referee, to which ours add what it does not say under the
one key `OWN`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from locmsim.contract import Fault, FaultKind

#: The key of what our logs say beyond those of the Java referee.
OWN = "locmsim"
#: A key that only `referee_log` writes: the log is a replay of CodinGame.
REPLAY = "locmsim replay"
#: A line of a summary: who answered, the time in nanoseconds.
TIME = re.compile(r"^\$([01]) ([0-9]+)ns at turn ", re.MULTILINE)
_FAULT = re.compile(rf"\$([01]): ({'|'.join(FaultKind)}): (.*)", re.DOTALL)


class NoJSONError(ValueError):
    """What should be a log is not JSON."""


def no_json(error: ValueError) -> NoJSONError:
    """Return the error for what cannot be decoded or is not JSON."""
    got = "bytes that are no text"
    if isinstance(error, json.JSONDecodeError):
        shown = error.doc[error.pos :].partition("\n")[0][:40]
        got = f"{repr(shown) if shown else 'the end'} in line {error.lineno}"
    return NoJSONError(f"not a log: expected JSON, got {got}")


def read_log(data: bytes) -> Any:
    """Return the first JSON value of a file, a log in the form of `referee_log`.

    Some tools print scores and parameters behind it. `NoJSONError`, or ``ValueError`` if
    another log follows: each line that begins with a brace is one.
    """
    try:
        text = data.decode(json.detect_encoding(data), "surrogatepass").lstrip("\ufeff")
        start = len(text) - len(text.lstrip())
        log, end = json.JSONDecoder().raw_decode(text, start)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise no_json(error) from None
    except RecursionError as error:
        raise ValueError(f"no JSON: {error}") from None
    if not isinstance(log, Mapping):
        raise ValueError(f"not a referee's log: expected an object, got {text[start:end][:40]}")
    if re.search(r"^\s*\{", text[end:], re.MULTILINE):
        raise ValueError("there are several logs in it, expected one: `locmsim web` lists them")
    return referee_log(log)


def referee_log(log: Any) -> Any:
    """Return a log in the form of today's Java referee; whatever is none is returned unchanged.

    ``ValueError`` for a replay of CodinGame that cannot be read.
    """
    if not isinstance(log, Mapping):
        return log
    for wrapper in ("success", "gameResult"):
        inner = log.get(wrapper)
        if isinstance(inner, Mapping) and "frames" in inner:
            log = inner
    if "frames" in log and "outputs" not in log:
        return _of_replay(log)
    if "gameParameters" not in log and "uinput" in log:  # the referee of 1.2
        return {**log, "gameParameters": log["uinput"]}
    return log


def own_part(log: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a log of ours says beyond the Java referee's; {} for other logs."""
    own = log.get(OWN)
    return own if isinstance(own, Mapping) else {}


def fault_of(log: Mapping[str, Any]) -> Fault | None:
    """Return the fault by which a match ended, if its log says one."""
    cause = log.get("failCause")
    found = _FAULT.fullmatch(cause) if isinstance(cause, str) else None
    return Fault(int(found[1]), FaultKind(found[2]), found[3]) if found else None


def is_log(log: Any) -> bool:
    """Return whether a JSON value has the form of a log: ours, the Java referee's, a replay."""
    return is_of_another_game(log) or "outputs" in referee_log(log)


def is_of_another_game(log: Any) -> bool:
    """Return whether a log is one of `locmsim play -l` of another game."""
    return isinstance(log, Mapping) and isinstance(log.get("game"), Mapping) and "answers" in log


def _of_replay(replay: Mapping[str, Any]) -> dict[str, Any]:
    if "refereeInput" not in replay:
        raise ValueError("a replay of CodinGame without its refereeInput, which has the seeds")
    outputs: dict[str, list[str | None]] = {"0": [], "1": []}
    errors: dict[str, list[str | None]] = {"0": [], "1": []}
    summaries = []
    try:
        for frame in replay["frames"]:
            if (player := str(frame.get("agentId"))) in outputs:
                outputs[player].append(frame.get("stdout"))
                errors[player].append(frame.get("stderr"))
            summaries.append(frame.get("summary") or frame.get("gameInformation") or "")
        first, second = map(int, replay["scores"])
        names = [_name(agent) for agent in replay.get("agents") or ()]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"a replay of CodinGame in an unknown form: {what_is_wrong(error)}"
        ) from None
    return {
        "errors": errors,
        "outputs": outputs,
        "summaries": summaries,
        "scores": {"0": first, "1": second},
        "gameParameters": [replay["refereeInput"]],
        "agents": [{"index": i, "name": name} for i, name in enumerate(names)],
        REPLAY: True,
    }


def _name(agent: Mapping[str, Any]) -> str:
    """Return the name of a player of the site, or of one of its bosses."""
    for key, name in (("codingamer", "pseudo"), ("arenaboss", "nickname")):
        if isinstance(known := agent.get(key), Mapping):
            return str(known.get(name) or "")
    return str(agent.get("name") or "")


def what_is_wrong(error: Exception) -> str:
    """Return what a log lacks, or else the exception that reading it raised."""
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else repr(error)
