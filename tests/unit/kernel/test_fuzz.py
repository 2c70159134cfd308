"""The first rounds of the fuzzing; builds with sanitizers run it for longer."""

import random

import fuzz_kernel
import pytest


@pytest.mark.parametrize("number", range(40))
def test_round(number: int) -> None:
    fuzz_kernel.play_round(random.Random(number))
