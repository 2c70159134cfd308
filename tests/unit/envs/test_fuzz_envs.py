"""The first rounds of the fuzzing of environments; builds with sanitizers run it for longer."""

import random

import pytest

pytest.importorskip("gymnasium")
import fuzz_envs
from amounts import amount


@pytest.mark.slow
@pytest.mark.parametrize("number", amount((0, 3, 5, 8, 11, 17), range(30)))
def test_round(number: int) -> None:
    fuzz_envs.play_round(random.Random(number))
