"""The first rounds of the fuzzing of the protocol's readers; CI runs it for a minute."""

import fuzz_vestrock
import pytest


@pytest.mark.slow
def test_rounds() -> None:
    for number in [*range(200), len(fuzz_vestrock.CHECKS) - 1]:
        fuzz_vestrock.play_round(number)
