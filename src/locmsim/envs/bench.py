"""How fast environments are: what `locmsim bench` prints and bench/test_envs.py measures.

Actions come from lists that were drawn before or from `sample`, whose time is taken off.
"""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from locmsim.envs._gae import gae
from locmsim.envs.battle import BattleEnv
from locmsim.envs.vector import LocmVectorEnv, SelfPlayVectorEnv

__all__ = ["figures", "single_steps", "vector_steps"]

_ROWS = 1024
#: Sets are made before anything is measured.
_SETS: dict[str, Any] = {"card_sets": 8}


def _best(action: Callable[[], int], seconds: float) -> float:
    """Seconds for each of the things that `action` does and counts, at best."""
    end = perf_counter() + seconds
    best = float("inf")
    while True:
        start = perf_counter()
        n = action()
        now = perf_counter()
        best = min(best, (now - start) / n)
        if now > end:
            return best


def _warm(env: Any) -> None:
    """Make all card sets."""
    env.reset(seed=1)
    for _ in range(60):
        env.reset()


def single_steps(rules: str, opponent: str | None, seconds: float, wrapped: bool = False) -> float:
    """Steps a second of the single environment, resets included.

    Parameters
    ----------
    rules : str
    opponent : str or None
        None: both sides by the caller, with one row of `SelfPlayVectorEnv`'s games.
    seconds : float
        To measure for.
    wrapped : bool
        Whether the environment is the one that ``gym.make`` gives.
    """
    env: Any
    if wrapped:
        import gymnasium

        env = gymnasium.make("locmsim/Battle-v0", rules=rules, opponent=opponent, **_SETS)
    else:
        env = BattleEnv(rules=rules, opponent=opponent or "pass", **_SETS)
    _warm(env)
    rows = env.unwrapped._rows
    out = np.zeros(1, np.int64)
    calls = 2000

    def steps() -> int:
        step, sample = env.step, rows.sample
        for number in range(calls):
            sample(number, out)
            if step(out[0])[2]:
                env.reset()
        return calls

    def samples() -> int:
        sample = rows.sample
        for number in range(calls):
            sample(number, out)
            out[0]
        return calls

    # On a busy machine the difference of two times may come out as nothing.
    return 1 / max(_best(steps, seconds) - _best(samples, seconds / 4), 1e-9)


def resets(rules: str, seconds: float) -> float:
    """Resets a second of the single environment, with card sets that are there."""
    env = BattleEnv(rules=rules, opponent="random", seat="first", **_SETS)
    _warm(env)

    def run() -> int:
        for _ in range(500):
            env.reset()
        return 500

    return 1 / _best(run, seconds)


def vector_steps(
    rules: str,
    layout: str,
    opponent: str | None,
    seconds: float,
    *,
    rows: int = _ROWS,
    threads: int = 1,
) -> float:
    """Steps a second of the vector environments with `step_into`, masks included.

    `opponent` None is for both sides by the caller.
    """
    env: Any
    if opponent is None:
        env = SelfPlayVectorEnv(rows, rules=rules, layout=layout, threads=threads, **_SETS)
    else:
        env = LocmVectorEnv(
            rows, rules=rules, layout=layout, opponent=opponent, threads=threads, **_SETS
        )
    _warm(env)
    arrays: dict[str, Any] = {
        "obs": np.zeros((rows, *env.layout.shape), env.layout.dtype),
        "masks": np.zeros((rows, env.single_action_space.n), np.int8),
        "rewards": np.zeros(rows, np.float32),
        "dones": np.zeros(rows, np.bool_),
    }
    if opponent is None:
        arrays["to_move"] = np.zeros(rows, np.int8)
    actions = np.zeros(rows, np.int64)
    sample = env._rows.sample
    best = float("inf")
    end = perf_counter() + seconds
    number = 0
    while number < 20 or perf_counter() < end:
        number += 1
        taken = 0.0
        for part in range(8):
            sample(8 * number + part, actions)
            start = perf_counter()
            env.step_into(actions, **arrays)
            taken += perf_counter() - start
        best = min(best, taken / 8)
    env.close()
    return rows / best


def advantages(seconds: float) -> float:
    """Positions a second of `gae`."""
    random = np.random.default_rng(1)
    shape = (64, _ROWS)
    rewards, values = random.normal(size=(2, *shape)).astype(np.float32)
    dones = random.random(shape) < 0.02
    to_move = random.integers(0, 2, shape).astype(np.int8)
    last = values[0], to_move[0]
    out = np.empty(shape, np.float32)

    def run() -> int:
        gae(rewards, values, dones, to_move, *last, out=out)
        return int(rewards.size)

    return 1 / _best(run, seconds)


def decisions(seconds: float) -> float:
    """Decisions a second of the entity network."""
    from locmsim.policy import Policy

    policy = Policy.random()
    env = SelfPlayVectorEnv(256, **_SETS)
    env.reset(seed=1)
    for number in range(30):
        seen = env.step(env.sample(number))[0]

    def run() -> int:
        policy.act_batch(seen["observation"], seen["action_mask"])
        return 256

    return 1 / _best(run, seconds)


def figures(
    rules: str, seconds: float, kernel: Callable[[], float] | None = None
) -> Iterator[tuple[str, float, str]]:
    """Name, value and unit of each figure.

    `kernel` measures how many actions of random games the kernel does in a second: compared with
    it, figures of different machines say the same.
    """
    share = seconds / 15
    opponents = {"random": _ROWS, "osl": _ROWS, "greedy": _ROWS, "beam:nodes=500": 16}

    def compared(name: str, value: float, unit: str) -> Iterator[tuple[str, float, str]]:
        """A figure, and how many actions of random games take as long as one of it."""
        yield name, value, unit
        if kernel is not None:
            yield f"... {name}, in random actions", kernel() / value, "x"

    yield from compared("single, against pass", single_steps(rules, "pass", share), "steps/s")
    through = single_steps(rules, "pass", share, True)
    yield from compared("single, through gym.make", through, "steps/s")
    yield from compared("single, against random", single_steps(rules, "random", share), "steps/s")
    yield "single, against greedy", single_steps(rules, "greedy", share), "steps/s"
    yield from compared("resets", resets(rules, share), "/s")
    for layout in ("gym-locm", "entities"):
        if (rules, layout) != ("1.0", "gym-locm"):
            value = vector_steps(rules, layout, None, share)
            yield from compared(f"{_ROWS} rows, both sides, {layout}", value, "steps/s")
    for opponent, rows in opponents.items():
        value = vector_steps(rules, "entities", opponent, share, rows=rows)
        yield f"{rows} rows against {opponent}", value, "steps/s"
    alone = vector_steps(rules, "entities", None, share, rows=2048)
    two = vector_steps(rules, "entities", None, share, rows=2048, threads=2)
    yield "2048 rows, threads=2 over threads=1", two / alone, "x"
    yield "gae", advantages(share), "positions/s"
    yield "entity network", decisions(share), "decisions/s"
