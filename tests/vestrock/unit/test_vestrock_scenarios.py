"""Replies of the protocol in 65 short matches, written from the rules by hand."""

import pytest
from vestrock_data import scenario_matches, scenario_step, scenarios

from vestrock.protocol import parse


def reply_to(matches, player, line):
    """Return the reply of the match that the command names, or all of them for GET_MY_MATCHES."""
    if line == "GET_MY_MATCHES":
        replies = [match.command(player, line) for match in matches.values()]
        ids = [reply[2] for reply in replies if reply[1] == "1"]
        return ["OK", str(len(ids)), " ".join(ids)]
    command = parse(line.encode())
    number = command.arguments[0] if not isinstance(command, int) and command.arguments else 1
    return matches.get(number, matches[1]).command(player, line)


@pytest.mark.parametrize("name", scenarios())
def test_scenario(name):
    text, also, steps = scenarios()[name]
    matches = scenario_matches(text, also)
    first = matches[1]
    for step in steps:
        if step == "TICK":
            for match in matches.values():
                match.end_turn()
            continue
        speaker, line, expected = scenario_step(step, first.players[first.state.mover])
        assert reply_to(matches, speaker, line) == expected, f"{name}: {step}"
        for match in matches.values():
            match.state.validate()


def test_there_are_65_scenarios():
    steps = [step for _, _, steps in scenarios().values() for step in steps]
    assert len(scenarios()) == 65
    assert sum("=>" in step for step in steps) == 377
