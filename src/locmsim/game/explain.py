"""Explanations of answers that lost a match, in more detail than the referee's message."""

from locmsim._core import BLANKS, parse_line
from locmsim.contract import Fault, FaultKind
from locmsim.errors import InvalidActionError
from locmsim.rules.rulesets import DECK_SIZE, get_rules
from locmsim.support.files import counted

_BYTE_ORDER_MARK = "\ufeff"
_SHOWN = 40


def explain(rules: str, error: Fault, line: str | None, n_chosen: int | None) -> str:
    """Explain what was wrong with `line`, the answer that `error` is about.

    `n_chosen` is the number of cards chosen before the error, None in the battle.
    """
    message = error.message.removeprefix(f"${error.player}").removeprefix(":").strip()
    if error.kind == FaultKind.TIMEOUT or line is None:
        return message
    if line.startswith(_BYTE_ORDER_MARK):
        return f"a byte order mark stands before {_quoted(line[1:])}"
    if n_chosen is None:
        return _of_battle(rules, line, message)
    if not get_rules(rules).draft:
        return _of_deck(line, message, n_chosen)
    return message


def _of_deck(line: str, message: str, n_chosen: int) -> str:
    parts = [part for part in (part.strip(BLANKS) for part in line.split(";")) if part]
    words = {part.split(" ", 1)[0] for part in parts}
    if words <= {"CHOOSE", "PASS"} and "correct number" in message:
        return f"{counted(n_chosen, 'card')}, expected {DECK_SIZE}"
    if "PASS" not in words and n_chosen < len(parts):
        return f"{message} It is part {n_chosen + 1} of {len(parts)}: {_quoted(parts[n_chosen])}"
    return message


def _of_battle(rules: str, line: str, message: str) -> str:
    parts = line.split(";")
    for number, part in enumerate(parts, 1):
        try:
            parse_line(part, rules)
        except InvalidActionError:
            place = f" It is part {number} of {len(parts)}: {_quoted(part)}" if part != line else ""
            return message + place
    return message


def _quoted(text: str) -> str:
    text = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return ascii(text)
