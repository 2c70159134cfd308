"""What is measured of the learning environments.

Actions come from lists that were drawn before or from `sample`, whose time is taken off.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim._measure import Case, Measured, Ratio
from locmsim.envs._gae import gae
from locmsim.envs.single import BattleEnv
from locmsim.envs.vector import LocmVectorEnv

__all__ = ["functions", "single", "vector"]

_ROWS = 1024
#: Sets are made before anything is measured.
_SETS: dict[str, Any] = {"card_sets": 8}


def _warm(env: Any) -> None:
    """Make all card sets."""
    env.reset(seed=1)
    for _ in range(60):
        env.reset()


def single(rules: str, opponent: str, wrapped: bool = False) -> Case:
    """Steps of the single environment, resets included.

    Parameters
    ----------
    rules : str
    opponent : str
    wrapped : bool
        Whether the environment is the one that ``gym.make`` gives.
    """
    env: Any
    if wrapped:
        import gymnasium

        env = gymnasium.make("locmsim/Battle-v0", rules=rules, opponent=opponent, **_SETS)
    else:
        env = BattleEnv(rules=rules, opponent=opponent, **_SETS)
    _warm(env)
    rows = env.unwrapped.games.rows
    out = np.zeros(1, np.int64)
    number_of_steps = 2000

    def steps() -> int:
        step, sample = env.step, rows.sample
        for number in range(number_of_steps):
            sample(number, out)
            if step(out[0])[2]:
                env.reset()
        return number_of_steps

    def samples() -> None:
        sample = rows.sample
        for number in range(number_of_steps):
            sample(number, out)
            out[0]

    return Case(steps, less=samples)


def resets(rules: str) -> Case:
    """Return the figure of resets of the single environment, with cached card sets."""
    env = BattleEnv(rules=rules, opponent="random", seat="first", **_SETS)
    _warm(env)

    def run() -> int:
        for _ in range(500):
            env.reset()
        return 500

    return Case(run)


def vector(
    rules: str,
    layout: str,
    opponent: Any = "caller",
    rows: int = _ROWS,
    threads: int = 1,
    **options: Any,
) -> Case:
    """Steps of the vector environment with `step_into`, masks included."""
    env = LocmVectorEnv(
        rows, rules=rules, layout=layout, opponent=opponent, threads=threads, **_SETS, **options
    )
    _warm(env)
    arrays: dict[str, Any] = {
        "obs": np.zeros_like(env.reset()[0]["observation"]),
        "masks": np.zeros((rows, env.games.rows.n_actions), np.int8),
        "rewards": np.zeros(rows, np.float32),
        "terminated": np.zeros(rows, np.bool_),
        "truncated": np.zeros(rows, np.bool_),
    }
    if opponent == "caller":
        arrays["to_move"] = np.zeros(rows, np.int8)
    actions = np.zeros(rows, np.int64)
    numbers = count()

    def setup() -> tuple[NDArray[np.int64]]:
        env.games.rows.sample(next(numbers), actions)
        return (actions,)

    def run(actions: NDArray[np.int64]) -> int:
        env.step_into(actions, **arrays)
        return rows

    return Case(run, setup)


class _LastLegal:
    """A policy that takes no time to speak of: what is measured is how it is asked."""

    def act_batch(
        self, observations: NDArray[Any], masks: NDArray[np.int8], seeds: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        last: NDArray[np.int64] = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        return last


def against_network(rules: str) -> Case:
    """Steps against an entity network of the usual size."""
    from locmsim.policy import Policy

    return vector(rules, "entities", Policy.random(rules=rules))


def advantages() -> Case:
    """Return the measured figure of `gae`, in positions."""
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

    return Case(run)


def decisions() -> Case:
    """Decisions of the entity network."""
    from locmsim.policy import Policy

    policy = Policy.random()
    env = LocmVectorEnv(256, opponent="caller", **_SETS)
    env.reset(seed=1)
    for number in range(30):
        seen = env.step(env.sample(number))[0]

    def run() -> int:
        policy.act_batch(seen["observation"], seen["action_mask"])
        return 256

    return Case(run)


def functions(rules: str, kernel: Callable[[], Case]) -> Iterator[Measured | Ratio]:
    """Return the measured functions of a rule set.

    `kernel` plays random games, counting actions: compared with it, figures of different machines
    say the same.
    """

    def compared(name: str, make: Callable[[], Case], per: str) -> Iterator[Measured | Ratio]:
        """Yield a figure, and the number of random actions that take as long."""
        yield Measured(name, per, make)
        yield Ratio(f"... {name}, in random actions", make, kernel)

    yield from compared("single, against pass", partial(single, rules, "pass"), "steps/s")
    wrapped = partial(single, rules, "pass", wrapped=True)
    yield from compared("single, through gym.make", wrapped, "steps/s")
    yield from compared("single, against random", partial(single, rules, "random"), "steps/s")
    yield Measured("single, against greedy", "steps/s", partial(single, rules, "greedy"))
    yield from compared("resets", partial(resets, rules), "/s")
    for layout in ("gym-locm", "entities"):
        if (rules, layout) != ("1.0", "gym-locm"):
            make = partial(vector, rules, layout)
            yield from compared(f"{_ROWS} rows, both sides, {layout}", make, "steps/s")
    for opponent in ("random", "osl", "greedy"):
        make = partial(vector, rules, "entities", opponent)
        yield Measured(f"{_ROWS} rows against {opponent}", "steps/s", make)
    policy = partial(vector, rules, "entities", _LastLegal())
    yield Measured(f"{_ROWS} rows against a policy", "steps/s", policy)
    network = partial(against_network, rules)
    yield Measured(f"{_ROWS} rows against a network", "steps/s", network)
    matches = partial(vector, rules, "entities", episode="match")
    yield from compared(f"{_ROWS} rows of matches, both sides", matches, "steps/s")
    picks = partial(vector, rules, "entities", "pass", episode="choice", battlers=("pass", "pass"))
    yield from compared(f"{_ROWS} rows of picks", picks, "steps/s")
    make = partial(vector, rules, "entities", "beam:nodes=500", 16)
    yield Measured("16 rows against beam:nodes=500", "steps/s", make)
    two, one = (partial(vector, rules, "entities", "caller", 2048, threads) for threads in (2, 1))
    yield Ratio("2048 rows, threads=2 over threads=1", one, two)
    yield Measured("gae", "positions/s", advantages)
    yield Measured("entity network", "decisions/s", decisions)
