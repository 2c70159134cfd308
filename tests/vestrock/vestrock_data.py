"""The deck and the scenarios that several tests of Vestrock share."""

import re
from functools import cache
from pathlib import Path

from vestrock import Card, Match, State, Table, state_from_text
from vestrock.protocol import ERRORS

SCENARIOS = Path(__file__).parent / "scenarios.txt"

#: The deck of the scenarios, by ascending ID.
CARDS = [
    Card.parse(line)
    for line in """1 C 0 1 1 0 1
2 C 0 1 2 1 2
3 C 2 3 3 2 0
4 C 3 2 4 3 0
5 C 1 5 5 1 1
6 C 4 1 1 4 0
7 H 0 3 0 1 -1
8 D 2 0 0 1 -1
9 T 2 0 0 1 -1
10 B 1 2 0 1 -1
11 I 0 0 0 1 -1
12 C 5 5 5 6 0
13 D 9 0 0 0 -1
14 H 0 2 0 0 -1
15 D 1 0 0 0 -1
16 B 2 0 0 0 -1
17 I 0 0 0 0 -1
18 T 1 0 0 0 -1
19 C 2 2 2 0 0
20 C 0 4 4 0 0""".splitlines()
]


def position(text: str, **parameters: int) -> State:
    """Return the state of a scenario's position, where H is the hand limit; INIT_HP is 10."""
    parameters = {"init_hp": 10, **parameters}
    if match := re.search(r" H(\d+)", text):
        parameters["hand_limit"] = int(match[1])
        text = text.replace(match[0], "")
    return state_from_text(text, CARDS, **parameters)


@cache
def scenarios() -> dict[str, tuple[str, str, list[str]]]:
    """Return the position, the other matches and the steps of all scenarios, by name."""
    found = {}
    for line in SCENARIOS.read_text().splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r"(S\d\d) (\[[^]]*\]) (.*)", line)
        assert match is not None, line
        parts = [part.strip() for part in match[2].strip("[]").split("|")]
        also = "".join(part for part in parts if part.startswith("also"))
        parts = [part for part in parts if not part.startswith("also")]
        steps = [step.strip() for step in re.split(r";", match[3])]
        found[match[1]] = (" | ".join(parts), also, steps)
    return found


def scenario_matches(text: str, also: str) -> dict[int, Match]:
    """Return the matches of a scenario, by number."""
    matches = {1: Match.from_state(position(text))}
    for number, first, second in re.findall(r"(\d):(\w)-(\w)", also):
        table = Table(CARDS, init_hp=10)
        matches[int(number)] = Match(table, players=(first, second), match_id=int(number))
    return matches


def scenario_step(step: str, mover: str) -> tuple[str, str, list[str]]:
    """Return who sends the command, the command with the number of the match, and the reply."""
    command, expected = (part.strip(" ") for part in step.split("=>"))
    speaker = mover
    if match := re.match(r"([A-Z]): ", command):
        speaker, command = match[1], command[3:]
    word, *arguments = command.split()
    word, _, number = word.partition("@")
    # Steps that test the format of a command contain all of its words.
    if word.isupper() and word not in ("WAIT", "GET_MY_MATCHES", "FOO"):
        if word == "GET_HP" and arguments == ["3"]:  # this step has too many arguments
            arguments = ["1", "3"]
        else:
            arguments = [number or "1", *arguments]
    if match := re.fullmatch(r"E(\d+)", expected):
        return speaker, " ".join([word, *arguments]), [f"ERR {match[1]} {ERRORS[int(match[1])]}"]
    return speaker, " ".join([word, *arguments]), re.split(r" /(?: |$)", expected)
