"""Long comparisons of Vestrock's kernel with its reference, also in matches of the rule bot."""

import sys
from pathlib import Path
from random import Random

import pytest
from reference_vestrock import Reference
from vestrock_help import rule_line

from vestrock import Match

sys.path.append(str(Path(__file__).parents[1] / "unit"))
import test_vestrock_reference as fast


@pytest.mark.parametrize("part", range(4))
def test_same_replies(part):
    for seed in range(60 * part, 60 * (part + 1)):
        fast.test_same_replies.hypothesis.inner_test(seed)


@pytest.mark.parametrize("part", range(4))
def test_matches_by_rule(part):
    """In eventful matches, played by rules of thumb, the reference agrees on each command."""
    for seed in range(20 * part, 20 * (part + 1)):
        random = Random(seed)
        deck, parameters = fast.any_match(random)
        match = Match(deck, **parameters)
        reference = Reference.new(deck, **parameters)
        while not match.is_over:
            for action in rule_line(match.state, random.getrandbits(32)):
                text = match.state.action_to_string(action)
                if text == "END_TURN":
                    match.end_turn()
                    reference.end_turn()
                    continue
                word, *rest = text.split()
                arguments = list(map(int, rest))
                line = " ".join([word, "1", *rest])
                reply = match.command("AB"[match.state.mover], line)
                assert reply[0] == "OK"
                assert reply == reference.command(reference.me, word, *arguments)
            match.state.validate()
            for ours, theirs in fast.replies_of_both(match, reference):
                assert ours == theirs
        assert reference.over
        assert reference.scores() == match.scores
