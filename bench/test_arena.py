"""The arena's games in this process, and the referee's turns over pipes."""

import sys
from itertools import count
from pathlib import Path
from statistics import median

import pytest

from locmsim import Match
from locmsim.arena import Arena
from locmsim.referee import play

GAMES = 400
MATCHES = 20
#: Answers PASS to every question.
BOT = [sys.executable, "-S", "-E", str(Path(__file__).parent / "pass_bot.py")]


@pytest.mark.benchmark(group="arena")
@pytest.mark.parametrize("pairs_per_set", [1, 50])
def test_games_between_random_agents(benchmark, tmp_path, pairs_per_set):
    """All that `locmsim arena random random` does for a game: cards, decks, answers, storing."""
    numbers = count(1)

    def arena():
        seed = next(numbers)
        return Arena(
            ["random", "other=random"],
            db=tmp_path / f"{seed}.db",
            games=GAMES,
            seed=seed,
            pairs_per_set=pairs_per_set,
        )

    def run(arena):
        with arena:
            arena.run(jobs=1)
            return arena.tally.games

    assert benchmark.pedantic(run, setup=lambda: ((arena(),), {}), rounds=10) == GAMES
    if benchmark.stats is not None:
        per_minute = round(60 * GAMES / benchmark.stats["median"])
        benchmark.extra_info["games a minute"] = per_minute
        print(f"{per_minute} games a minute, pairs that share a card set: {pairs_per_set}")


@pytest.mark.benchmark(group="referee")
def test_turns_over_pipes(benchmark):
    """Bots that answer at once: "own" leaves out what passes until an answer is read."""
    own, all_of_it = [], []

    def match():
        result = play([BOT, BOT], Match(seed=len(own)), timeout_scale=0)
        assert result.fault is None
        calls = len(result.calls)
        own.append((result.elapsed_ns - sum(call.elapsed_ns for call in result.calls)) / calls)
        all_of_it.append(result.elapsed_ns / calls)

    benchmark.pedantic(match, rounds=MATCHES)
    for name, times in (("own ms a turn", own), ("ms a turn", all_of_it)):
        benchmark.extra_info[name] = median(times) / 1e6
        print(f"{name}: {median(times) / 1e6:.3f}")
