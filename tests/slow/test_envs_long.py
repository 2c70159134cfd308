"""Tests of environments over many games: hidden information, the protocol, and memory."""

import gc
import os
import sys

import pytest
from amounts import amount
from env_checks import Singles, Vector, check_episodes, check_faces, check_games, check_matches
from gymnasium.vector import AutoresetMode
from helpers import each_rules

from locmsim.envs import LocmEnv, LocmVectorEnv


def resident_bytes():
    """Return the resident memory of this process in bytes (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@each_rules
def test_no_leaks(rules):
    assert check_games(rules, range(amount(100, most=300))) > amount(6_500, most=20_000)


@each_rules
def test_the_protocol_tells_all(rules):
    assert check_matches(rules, range(amount(50, most=170))) > amount(1_700, most=6_000)


@each_rules
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_are_single_environments(rules, mode, threads):
    options = {"rules": rules, "opponent": "random", "shaping": {"health": 0.1}, "card_sets": 4}
    rows = Vector(9, mode, threads=threads, copy=threads != 2, **options)
    assert check_faces([rows, Singles(9, mode, **options)], 500, mode=mode) >= 30


@each_rules
@pytest.mark.parametrize("episode", ["battle", "choice", "match"])
@pytest.mark.parametrize("opponent", ["random", "caller"])
def test_episodes_are_those_of_single_environments_and_of_the_referee(rules, episode, opponent):
    check_episodes(rules, episode, opponent, amount(60, 600, 10_000))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow():
    """Memory does not grow over 10^7 steps of a vector environment and 10^5 single resets."""
    venv = LocmVectorEnv(1024, opponent="random", card_sets=16, copy=False)
    venv.reset(seed=1)
    single = LocmEnv(opponent="random", card_sets=16)
    single.reset(seed=1)

    def run(steps, resets):
        for number in range(steps):
            venv.step(venv.sample(number))
        for _ in range(resets):
            single.reset()
        gc.collect()
        return resident_bytes(), len(gc.get_objects())

    before = run(200, 2000)
    after = run(10_000, 100_000)
    assert after[0] - before[0] < 8 << 20
    assert after[1] - before[1] < 100
