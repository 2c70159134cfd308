"""Positions on the command line: a file of any kind, or the text of a position."""

import os
import sys
from typing import TYPE_CHECKING, Literal

from locmsim.cli._common import Failure, WrongUsage
from locmsim.support.database import numbered_entry

if TYPE_CHECKING:
    from locmsim._core import State
    from locmsim.game.observation import Observation

POSITION_HELP = (
    "the text of a position (State.to_text), or a file that holds this text or a bot's input of"
    " one turn; -: standard input"
)


def read_position(
    name: str, option: str, rules: str | None = None, ids: Literal["new", "old"] | None = None
) -> "State | Observation":
    """Read the position that `name` stands for; `Failure` names the option it came from.

    A bot's input may have the instance ids of 2022, which are recognised; `ids` says which it has.
    """
    try:
        is_file = os.path.exists(name) or (option != "GAME" and " " not in name)
        prefix = "" if option == "FILE" else f"{option}: "
        if name == "-":
            where, text = f"{prefix}-", sys.stdin.read()
        elif is_file:
            where = f"{prefix}{name}"
            with open(name, encoding="utf-8") as file:
                text = file.read()
        else:
            if " " not in name and numbered_entry(name) is not None:
                what = "a game of results needs --turn N, or --report for all its turns"
                raise WrongUsage(f"{prefix}{name}: {what}")
            where, text = f"{option}: neither a file nor the text of a position", name
    except OSError as error:
        raise Failure(f"{prefix}{error.filename}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Failure(f"{prefix}{name}: expected the text of a position, got binary data") from None
    try:
        return _parsed(text, rules, ids)
    except ValueError as error:
        kind = Failure if name == "-" or is_file else WrongUsage
        raise kind(f"{where}: {error}") from None


def _last_question(text: str, rules: str | None) -> str:
    """Return the last question of a bot's whole input; a text of one question unchanged."""
    from locmsim.web.file_capture import questions_of

    asked = []
    try:
        for _, observation in questions_of(text, rules):
            asked.append(observation)
    except ValueError:
        if asked:
            raise
    if len(asked) < 2:
        return text
    print(f"the input has {len(asked)} questions; this is the last one", file=sys.stderr)
    return asked[-1].format()


def _parsed(
    text: str, rules: str | None, ids: Literal["new", "old"] | None
) -> "State | Observation":
    if text.lstrip().startswith("{") and '"outputs"' in text:
        raise ValueError("this is the log of a match: choose one of its turns with --turn")
    first = text.lstrip().partition("\n")[0].split()
    if first and len(first) < 6 and all(word.removeprefix("-").isdecimal() for word in first):
        from locmsim.game.ids2022 import read_input
        from locmsim.game.observation import Observation

        text = _last_question(text, rules)
        observation = read_input(text, rules, ids)
        if observation != Observation.parse(text, rules):
            print("the input has the instance ids of 2022; today's are shown", file=sys.stderr)
        return observation
    from locmsim.game.positions import positions_of

    states = positions_of(text)
    if len(states) != 1:
        raise ValueError(f"expected one position, got {len(states)}")
    (state,) = states
    if rules not in (None, state.rules):
        raise ValueError(f"--rules: the position is of rules {state.rules}, not {rules}")
    if ids is not None:
        raise WrongUsage("--ids: does not apply to the text of a position, only to a bot's input")
    return state
