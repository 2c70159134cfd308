"""Measures the cost of the simulator's operations, and computes a signature of its behaviour.

docs/figures.md explains how each figure is measured. bench/ passes the same functions to
pytest-benchmark.
"""

import atexit
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from hashlib import blake2b
from importlib.util import find_spec
from itertools import chain, count, cycle
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locmsim import __version__, envs, get_include
from locmsim._bench import (
    COMPILER,
    COMPILER_COMMAND,
    STATE_SIZE,
    KernelLoops,
    fair_playouts,
    game_lengths,
    greedy_turns,
    packed_worlds,
    random_turns,
)
from locmsim._core import State
from locmsim.agents import Agent, make_agent
from locmsim.agents.learned import shipped_policy
from locmsim.batch import StateBatch
from locmsim.contract import play_match
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.game.positions import random_game, start_position
from locmsim.policy import Policy
from locmsim.referee.process_match import play
from locmsim.rules.cards import Card
from locmsim.rules.generator import generate_cards
from locmsim.search import (
    MCTS,
    BeamSearch,
    Belief,
)
from locmsim.support.measure import (
    Case,
    Counted,
    Measured,
    Ratio,
    calls,
    hardware,
    table,
    usable_cores,
)
from locmsim.support.measure import Figure as Figure
from locmsim.support.measure import Watch as Watch
from locmsim.support.measure import measure as figures_of

PAIRS = 64  # number of pairs of random decks
GROUP = 64  # positions for each pair, as `KernelLoops` expects
_SIGNATURE_GAMES = 8
_SIGNATURE_PLAYOUTS = 250


# ---------------------------------------------------------------------------------- positions


@cache
def starts(rules: str) -> tuple[State, ...]:
    """Return the starts of 64 battles between random decks."""
    return tuple(start_position(seed, rules) for seed in range(1, PAIRS + 1))


@cache
def groups(rules: str) -> tuple[tuple[State, ...], ...]:
    """Return 64 positions of random games from each of `starts`."""
    shuffle = random.Random(1).shuffle
    found = []
    for start in starts(rules):
        positions: list[State] = []
        for seed in range(1, 1000):
            if len(positions) >= 4 * GROUP:
                break
            positions += [state for state, _ in random_game(start, seed)]
        shuffle(positions)
        found.append(tuple(positions[:GROUP]))
    return tuple(found)


def typical(rules: str) -> list[tuple[State, int]]:
    """Return 256 positions with five or six legal actions, and one of these actions for each."""
    choice = random.Random(1).choice
    found = []
    for state in chain.from_iterable(groups(rules)):
        actions = state.legal_actions()
        if len(actions) in (5, 6):
            found.append((state, choice(actions)))
    return found[:256]


# ---------------------------------------------------------------------------------- playouts


def _playouts(rules: str) -> Iterator[Measured | Ratio | Counted]:
    games = 500

    def play() -> None:
        for state in starts(rules):
            state.rollouts(games, 1)

    @cache
    def lengths() -> tuple[int, int]:
        return game_lengths(starts(rules), games, 1)

    def case(number: Callable[[], int]) -> Callable[[], Case]:
        def make() -> Case:
            number_of, _ = number(), starts(rules)

            def run() -> int:
                play()
                return number_of

            return Case(run)

        return make

    yield Measured("games", "/s", case(lambda: games * PAIRS))
    yield Measured("actions", "/s", case(lambda: lengths()[0]))
    yield Counted("actions a game", "", lambda: lengths()[0] / games / PAIRS)
    yield Counted("turns a game", "", lambda: lengths()[1] / games / PAIRS)
    if len(usable_cores()) > 1:
        states = cycle(range(PAIRS))

        def threads(number: int) -> Callable[[], Case]:
            def run(state: State) -> int:
                return len(state.rollouts(50_000, 1, threads=number))

            return lambda: Case(run, lambda: (starts(rules)[next(states) // 2],))

        yield Ratio("threads=2 over threads=1", threads(1), threads(2))


_KERNEL_OPERATIONS: dict[Literal["clone", "apply", "count", "list", "kth"], str] = {
    "clone": "clone",
    "apply": "apply a random legal action",
    "list": "list the legal actions",
    "count": "count the legal actions",
    "kth": "k-th legal action without listing",
}


def _kernel(rules: str) -> Iterator[Measured | Counted]:
    rounds = 10

    @cache
    def loops() -> KernelLoops:
        return KernelLoops(groups(rules), 1)

    def case(operation: Any) -> Callable[[], Case]:
        def run() -> int:
            loops().run(operation, rounds)
            return rounds * PAIRS * GROUP

        return lambda: Case(run, less=lambda: loops().run("copy", rounds))

    yield Counted("state", "bytes", lambda: STATE_SIZE)
    for operation, name in _KERNEL_OPERATIONS.items():
        yield Measured(name, "ns", case(operation))

    def perft() -> Case:
        state, _ = typical(rules)[0]
        return Case(lambda: state.perft(6))

    yield Measured("perft(6)", "nodes/s", perft)


# ------------------------------------------------------------------------------------- calls

_PYTHON_CALLS = {
    "clone": "for state, action in pairs: state.clone()",
    "copy_from": "for state, action in pairs: scratch.copy_from(state)",
    "copy_from + apply_unchecked": (
        "for state, action in pairs: scratch.copy_from(state); scratch.apply_unchecked(action)"
    ),
    "copy_from + apply_action": (
        "for state, action in pairs: scratch.copy_from(state); scratch.apply_action(action)"
    ),
    "copy_from + apply_action(np.int64)": (
        "for state, action in numpy_pairs: scratch.copy_from(state); scratch.apply_action(action)"
    ),
    "child": "for state, action in pairs: state.child(action)",
    "legal_actions, 5-6 actions": "for state, action in pairs: state.legal_actions()",
    "legal_actions_mask(out=)": "for state, action in pairs: state.legal_actions_mask(out=mask)",
    "hash64": "for state, action in pairs: state.hash64()",
    "key": "for state, action in pairs: state.key()",
    "snapshot": "for state, action in pairs: state.snapshot()",
    "to_bytes": "for state, action in pairs: state.to_bytes()",
}


def _python(rules: str) -> Iterator[Measured]:
    def case(statement: str) -> Callable[[], Case]:
        def make() -> Case:
            pairs = typical(rules)
            return calls(
                statement,
                len(pairs),
                pairs=pairs,
                numpy_pairs=[(state, np.int64(action)) for state, action in pairs],
                scratch=pairs[0][0].clone(),
                mask=pairs[0][0].legal_actions_mask(),
            )

        return make

    for name, statement in _PYTHON_CALLS.items():
        yield Measured(name, "ns", case(statement))


@cache
def _ten_actions(rules: str) -> tuple[Belief, int, list[int]]:
    """Return the belief of a position's mover, the mover, and ten actions."""
    state = next(s for s in chain.from_iterable(groups(rules)) if len(s.legal_actions()) >= 10)
    belief = Belief()
    belief.see(state.observation(state.current_player()))
    root = belief.root()
    return belief, root.current_player(), root.legal_actions()[:10]


def _batch(rules: str) -> Iterator[Measured | Ratio]:  # noqa: C901 (a list of measurements)
    size = 10_000

    def start() -> StateBatch:
        return StateBatch.repeat(starts(rules)[0], size)

    def step() -> Case:
        plies = cycle(range(20))
        batch = start()

        def setup() -> tuple[StateBatch, NDArray[np.int64]]:
            nonlocal batch
            if (ply := next(plies)) == 0:
                batch = start()
            return batch, batch.sample_actions(ply)

        def run(batch: StateBatch, actions: NDArray[np.int64]) -> int:
            batch.step(actions)
            return int((actions >= 0).sum())

        return Case(run, setup)

    def masks() -> Case:
        batch = start()
        return Case(lambda: len(batch.legal_actions_mask()))

    def rollouts() -> Case:
        batch = start()
        return Case(lambda: len(batch.rollouts(1, 1)))

    def one_ply() -> Case:
        belief, player, actions = _ten_actions(rules)

        def run() -> int:
            worlds = StateBatch.sample(belief, 100, seed=1)
            for action in actions:
                after = worlds.clone()
                after.step(np.full(len(after), action))
                wins = (after.rollouts(10, seed=2) == player).mean()
                assert 0 <= wins <= 1
            return len(actions)

        return Case(run)

    def its_playouts() -> Case:
        belief, _, actions = _ten_actions(rules)
        worlds = StateBatch.sample(belief, 100, seed=1)
        children = []
        for action in actions:
            children.append(worlds.clone())
            children[-1].step(np.full(len(worlds), action))

        def run() -> int:
            for child in children:
                child.rollouts(10, seed=2)
            return len(children)

        return Case(run)

    yield Measured("steps", "/s", step)
    yield Measured("masks, a state", "ns", masks)
    yield Measured("playouts", "/s", rollouts)
    name = "one-ply search over its playouts: 10 actions, 100 worlds"
    yield Ratio(name, one_ply, its_playouts)


_BELIEF_CALLS = {
    "Belief.see": "for state, belief, seen in places: belief.see(seen)",
    "Belief.root": "for state, belief, seen in places: belief.root()",
    "Belief.sample": "for state, belief, seen in places: belief.sample(1)",
    "State.resample_hidden": "for state, belief, seen in places: state.resample_hidden(0, 1)",
}


def _beliefs(rules: str) -> Iterator[Measured]:  # noqa: C901 (a list of measurements)
    @cache
    def places() -> list[tuple[State, Belief, Observation]]:
        found = []
        for state, _ in typical(rules)[:64]:
            belief = Belief()
            belief.see(seen := state.observation(state.current_player()))
            belief.sample(1)  # the first sample computes what the opponent may hold
            found.append((state, belief, seen))
        return found

    def case(statement: str) -> Callable[[], Case]:
        return lambda: calls(statement, len(places()), places=places())

    for name, statement in _BELIEF_CALLS.items():
        yield Measured(name, "us", case(statement))

    games = 100

    def one_world() -> Case:
        worlds = [belief.sample(1) for _, belief, _ in places()]

        def run() -> int:
            for world in worlds:
                world.rollouts(games, 1)
            return games * len(worlds)

        return Case(run)

    def new_worlds() -> Case:
        beliefs = [belief.determinizer() for _, belief, _ in places()]

        def run() -> int:
            for worlds in beliefs:
                fair_playouts(worlds, games, 1)
            return games * len(beliefs)

        return Case(run)

    yield Measured("playouts: one world for all", "/s", one_world)

    def from_python() -> Case:
        beliefs = [belief.determinizer() for _, belief, _ in places()]

        def run() -> int:
            for seed in range(games // 10):
                for worlds in beliefs:
                    worlds.sample(seed).rollout(seed)
            return games // 10 * len(beliefs)

        return Case(run)

    def turns(play: Callable[[State], object]) -> Callable[[], Case]:
        def make() -> Case:
            worlds = [belief.sample(1) for _, belief, _ in places()]
            replies = [world.child(0) for world in worlds]
            open_ones = [state for state in replies if not state.is_terminal()]

            def run() -> int:
                for state in open_ones:
                    play(state)
                return games * len(open_ones)

            return Case(run)

        return make

    yield Measured("fair playouts: a new world each", "/s", new_worlds)
    yield Measured("fair playouts from Python", "/s", from_python)
    random_turn = turns(lambda state: random_turns(state, games, 1))
    yield Measured("an opponent's turn in a world, at random", "/s", random_turn)
    greedy_turn = turns(lambda state: greedy_turns(state, games))
    yield Measured("an opponent's turn in a world, greedily", "/s", greedy_turn)
    yield from _header_playouts(places)


#: Plays fair playouts in each position that it reads, and prints how many a player 0 has won.
_HEADER_PROGRAM = """
#include "locm.h"
#include <stdio.h>
#include <stdlib.h>

static locm_table_t table;
static locm_unknown_t unknown;

int main(int argc, char **argv) {
  int i, games = argc > 1 ? atoi(argv[1]) : 0, wins = 0;
  locm_state_t state;
  locm_fill_tables();
  while (fread(&table, sizeof table, 1, stdin) && fread(&unknown, sizeof unknown, 1, stdin) &&
         fread(&state, sizeof state, 1, stdin)) {
    for (i = 0; i < games; i++) {
      uint64_t actions = 0, stream = locm_stream_start(1, (uint64_t)i);
      locm_state_t world = state;
      locm_state_deal(&world, &table, &unknown, &stream);
      wins += locm_state_rollout(&world, &table, stream, &actions) == 0;
    }
  }
  printf("%d\\n", wins);
  return 0;
}
"""


def _header_playouts(
    places: Callable[[], list[tuple[State, Belief, Observation]]],
) -> Iterator[Measured]:
    """Measure fair playouts in C with the exported header, if there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return

    def make() -> Case:
        data = b"".join(packed_worlds(belief.determinizer()) for _, belief, _ in places())
        program = header_program(compiler)
        games = 1000

        def run() -> int:
            subprocess.run([program, str(games)], input=data, stdout=subprocess.DEVNULL, check=True)
            return games * len(places())

        return Case(run)

    yield Measured("fair playouts in C, with the header", "/s", make)


@cache
def header_program(compiler: str) -> str:
    """Build the program of fair playouts, which is removed at the end; return its path."""
    folder = tempfile.mkdtemp(prefix="locmsim-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, program = os.path.join(folder, "fair.c"), os.path.join(folder, "fair")
    with open(source, "w", encoding="utf-8") as file:
        file.write(_HEADER_PROGRAM)
    options = ["-O2", "-fno-tree-slp-vectorize", "-I", get_include()]
    subprocess.run([compiler, *options, "-o", program, source], check=True)
    return program


_OBSERVATION_CALLS = {
    "Observation.of": "for state, player, text in seen: of(state, player)",
    "Observation.of(...).format": "for state, player, text in seen: of(state, player).format()",
    "Observation.parse": "for state, player, text in seen: parse(text)",
}


def _match(rules: str) -> Iterator[Measured]:
    @cache
    def seen() -> list[tuple[State, int, str]]:
        found = []
        for state, _ in typical(rules)[:64]:
            player = state.current_player()
            found.append((state, player, Observation.of(state, player).format()))
        return found

    def case(statement: str) -> Callable[[], Case]:
        names = {"of": Observation.of, "parse": Observation.parse}
        return lambda: calls(statement, len(seen()), seen=seen(), **names)

    # Use a new seed each time, as the cards of the last ones are cached.
    seeds = count(1)

    def new() -> int:
        Match(rules, seed=next(seeds))
        return 1

    def played(cards: list[Card] | None = None) -> Case:
        agents = make_agent("random"), make_agent("random")

        def run() -> int:
            seed = next(seeds)
            for agent in agents:
                agent.reset(seed)
            play(agents, Match(rules, seed=seed, cards=cards))
            return 1

        return Case(run)

    for name, statement in _OBSERVATION_CALLS.items():
        yield Measured(name, "us", case(statement))
    if rules == "1.5":
        make = partial(calls, "generate(1)", 1, generate=generate_cards)
        yield Measured("generate_cards", "ms", make)
    yield Measured("Match, cards included", "ms", lambda: Case(new))
    yield Measured("matches of two random agents", "/s", played)
    if rules == "1.5":
        same_cards = partial(played, generate_cards(1))
        yield Measured("matches of two random agents, cards given", "/s", same_cards)


# ---------------------------------------------------------------------------------- searches


@cache
def search_positions(rules: str) -> tuple[tuple[Observation, Belief], ...]:
    """Return starts of turns with many choices, and the beliefs of their movers."""
    found = []
    for start in starts(rules)[:16]:
        turns: dict[int, State] = {}
        for state, _ in random_game(start, 1):
            turns.setdefault(state.turn, state)
        state = max(turns.values(), key=lambda state: len(state.legal_actions()))
        # Skip turns with a win, which would end the searches at once.
        belief = Belief()
        belief.see(observation := state.observation(state.current_player()))
        if BeamSearch().search(observation, nodes=20_000, belief=belief).value < 1:
            found.append((observation, belief))
    return tuple(found)


#: Name -> search, the unit of its budget and its rate, and the budget of a sample.
_SEARCHES: dict[str, tuple[Any, str, int]] = {
    "beam": (BeamSearch(), "nodes", 200_000),
    "MCTS": (MCTS(), "iterations", 500),
}


def _searches(rules: str) -> Iterator[Measured]:
    def case(search: Any, unit: str, budget: int) -> Callable[[], Case]:
        def make() -> Case:
            seen = cycle(search_positions(rules))

            def run(observation: Observation, belief: Belief) -> int:
                result = search.search(observation, belief=belief, **{unit: budget})
                done: int = getattr(result, unit)
                return done

            return Case(run, lambda: next(seen))

        return make

    for name, (search, unit, budget) in _SEARCHES.items():
        yield Measured(name, f"{unit}/s", case(search, unit, budget))


def _network(rules: str) -> Iterator[Counted]:
    name = "the compiled network over numpy's products"
    yield Counted(name, "x", partial(_in_one_thread, f"bench.decision_over_products({rules!r})"))


def decision_over_products(rules: str) -> float:
    """Return how long a decision of the compiled network takes, over numpy's products alone.

    The network is the one of the library, or random weights where there is none; the products are
    those of its layers. Both work on 256 positions at a time.
    """
    positions = [state for group in groups(rules)[:4] for state in group]
    layers = Policy.random(rules=rules, seed=1) if rules == "1.0" else shipped_policy(rules)
    seen = np.stack(
        [state.observation_tensor(state.current_player(), layers.layout) for state in positions]
    )
    masks = np.stack([state.legal_actions_mask() for state in positions])
    #: How often a layer is used in a decision, if not once: cards in hand, creatures, lanes.
    times = dict.fromkeys(("hand.w", "summon.w", "use.w"), 8) | {"lane_key.w": 2}
    for name in ("own", "enemy", "attack", "own_key", "enemy_key", "enemy_attack_key"):
        times[f"{name}.w"] = 6
    random = np.random.default_rng(1)
    products = []
    for name, matrix in layers.arrays.items():
        if matrix.ndim == 2:
            rows = len(positions) * times.get(name, 1)
            inputs = random.random((rows, matrix.shape[0]), np.float32)
            products.append((inputs, matrix, np.empty((rows, matrix.shape[1]), np.float32)))

    def decide() -> int:
        return len(layers.act_batch(seen, masks))

    def multiply() -> int:
        for inputs, matrix, out in products:
            np.matmul(inputs, matrix, out=out)
        return len(positions)

    return Ratio("", lambda: Case(decide), lambda: Case(multiply)).value(0.2)


def _in_one_thread(expression: str) -> float:
    """Return a figure from another process, in which numpy uses one thread."""
    libraries = ("OPENBLAS", "MKL", "OMP", "VECLIB", "BLIS")
    found = subprocess.run(
        [sys.executable, "-c", f"from locmsim import bench; print({expression})"],
        env=os.environ | {f"{library}_NUM_THREADS": "1" for library in libraries},
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(found.stdout)


class _Listener:
    """Wraps an agent, and records what it is sent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.texts: list[str] = []

    def choose(self, observation: Observation) -> str:
        self.texts.append(observation.format())
        return self.agent.choose(observation)

    def act(self, observation: Observation) -> str:
        self.texts.append(observation.format())
        return self.agent.act(observation)


@cache
def turn_texts(rules: str) -> tuple[list[str], list[str]]:
    """Return what a player is sent in a game between two agents: in the choice phase, in turns."""
    listener = _Listener(make_agent("rule"))
    play_match(Match(rules, seed=1), (listener, make_agent("rule")))
    phases = [Observation.parse(text, rules).phase for text in listener.texts]
    choices = phases.count("choice")
    return listener.texts[:choices], listener.texts[choices:]


def _turns(rules: str) -> Iterator[Measured]:
    """Measure a turn without its search, which gets one node: from the text to the answer line."""
    spec = "beam:time_ms=0,nodes=1"

    def agent() -> Case:
        choices, turns = turn_texts(rules)
        player = make_agent(spec)

        def setup() -> tuple[()]:
            player.reset(1)
            for text in choices:
                player.choose(Observation.parse(text, rules))
            return ()

        def run() -> int:
            for text in turns:
                player.act(Observation.parse(text, rules))
            return len(turns)

        return Case(run, setup)

    def bot() -> Case:
        choices, turns = turn_texts(rules)
        command = [sys.executable, "-m", "locmsim.bot", "--agent", spec]
        pipe = subprocess.PIPE

        def ask(bot: subprocess.Popen[str], text: str) -> None:
            assert bot.stdin is not None
            assert bot.stdout is not None
            print(text, end="", file=bot.stdin, flush=True)
            bot.stdout.readline()

        def setup() -> tuple[subprocess.Popen[str]]:
            bot = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
            for text in choices:
                ask(bot, text)
            return (bot,)

        def run(bot: subprocess.Popen[str]) -> int:
            for text in turns:
                ask(bot, text)
            bot.kill()
            bot.communicate()
            return len(turns)

        return Case(run, setup)

    yield Measured("as an agent", "us", agent)
    yield Measured("as a bot on pipes", "us", bot)


# ------------------------------------------------------------------------------ environments

# Actions come from lists that were drawn before or from `sample`, whose time is taken off.

_ROWS = 1024
#: Sets are made before anything is measured.
_SETS: dict[str, Any] = {"card_sets": 8}


def _warm_env(env: Any) -> None:
    """Make all card sets."""
    env.reset(seed=1)
    for _ in range(60):
        env.reset()


def _single_env(rules: str, opponent: str, wrapped: bool = False) -> Case:
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
        env = envs.LocmEnv(rules=rules, opponent=opponent, **_SETS)
    _warm_env(env)
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


def _resets(rules: str) -> Case:
    """Return the figure of resets of the single environment, with cached card sets."""
    env = envs.LocmEnv(rules=rules, opponent="random", seat="first", **_SETS)
    _warm_env(env)

    def run() -> int:
        for _ in range(500):
            env.reset()
        return 500

    return Case(run)


def _vector_env(
    rules: str,
    layout: str,
    opponent: Any = "caller",
    rows: int = _ROWS,
    threads: int = 1,
    **options: Any,
) -> Case:
    """Steps of the vector environment with `step_into`, masks included."""
    env = envs.LocmVectorEnv(
        rows, rules=rules, layout=layout, opponent=opponent, threads=threads, **_SETS, **options
    )
    _warm_env(env)
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


def _against_network(rules: str) -> Case:
    """Steps against an entity network of the usual size."""
    return _vector_env(rules, "entities", Policy.random(rules=rules))


def _advantages() -> Case:
    """Return the measured figure of `gae`, in positions."""
    random = np.random.default_rng(1)
    shape = (64, _ROWS)
    rewards, values = random.normal(size=(2, *shape)).astype(np.float32)
    dones = random.random(shape) < 0.02
    acted = random.integers(0, 2, shape).astype(np.int8)
    last = values[0], acted[0]
    out = np.empty(shape, np.float32)

    def run() -> int:
        envs.gae(rewards, values, dones, acted, *last, out=out)
        return int(rewards.size)

    return Case(run)


def _decisions() -> Case:
    """Decisions of the entity network."""
    policy = Policy.random()
    env = envs.LocmVectorEnv(256, opponent="caller", **_SETS)
    env.reset(seed=1)
    for number in range(30):
        seen = env.step(env.sample(number))[0]

    def run() -> int:
        policy.act_batch(seen["observation"], seen["action_mask"])
        return 256

    return Case(run)


def _environments(rules: str) -> Iterator[Measured | Ratio | Counted]:
    """Measure the learning environments, if the extra ``envs`` is installed.

    Random games of the kernel are compared with them: such figures of different machines say the
    same.
    """
    if find_spec("gymnasium") is None:
        return

    def kernel() -> Case:
        states = starts(rules)[:16]
        return Case(lambda: game_lengths(states, 8, 1)[0])

    def compared(name: str, make: Callable[[], Case], per: str) -> Iterator[Measured | Ratio]:
        """Yield a figure, and the number of random actions that take as long."""
        yield Measured(name, per, make)
        yield Ratio(f"... {name}, in random actions", make, kernel)

    yield from compared("single, against pass", partial(_single_env, rules, "pass"), "steps/s")
    wrapped = partial(_single_env, rules, "pass", wrapped=True)
    yield from compared("single, through gym.make", wrapped, "steps/s")
    yield from compared("single, against random", partial(_single_env, rules, "random"), "steps/s")
    yield Measured("single, against greedy", "steps/s", partial(_single_env, rules, "greedy"))
    yield from compared("resets", partial(_resets, rules), "/s")
    for layout in ("gym-locm", "entities"):
        if (rules, layout) != ("1.0", "gym-locm"):
            make = partial(_vector_env, rules, layout)
            yield from compared(f"{_ROWS} rows, both sides, {layout}", make, "steps/s")
    for opponent in ("random", "osl", "greedy"):
        make = partial(_vector_env, rules, "entities", opponent)
        yield Measured(f"{_ROWS} rows against {opponent}", "steps/s", make)
    policy = partial(_vector_env, rules, "entities", _LastLegal())
    yield Measured(f"{_ROWS} rows against a policy", "steps/s", policy)
    network = partial(_against_network, rules)
    yield Measured(f"{_ROWS} rows against a network", "steps/s", network)
    matches = partial(_vector_env, rules, "entities", episode="match")
    yield from compared(f"{_ROWS} rows of matches, both sides", matches, "steps/s")
    picks = partial(
        _vector_env, rules, "entities", "pass", episode="choice", battlers=("pass", "pass")
    )
    yield from compared(f"{_ROWS} rows of picks", picks, "steps/s")
    make = partial(_vector_env, rules, "entities", "beam:nodes=500", 16)
    yield Measured("16 rows against beam:nodes=500", "steps/s", make)
    two, one = (
        partial(_vector_env, rules, "entities", "caller", 2048, threads) for threads in (2, 1)
    )
    yield Ratio("2048 rows, threads=2 over threads=1", one, two)
    yield Measured("gae", "positions/s", _advantages)
    yield Measured("entity network", "decisions/s", _decisions)


def _start(rules: str) -> Iterator[Measured]:
    def run(code: str) -> int:
        subprocess.run([sys.executable, "-c", code], check=True)
        return 1

    def make() -> Case:
        return Case(lambda: run("import locmsim"), less=lambda: run("pass"))

    yield Measured("import locmsim", "ms", make)


# ------------------------------------------------------------------------------------ groups

_Functions = Callable[[str], Iterable[Measured | Ratio | Counted]]


class _Group(NamedTuple):
    title: str
    functions: _Functions
    #: The group's share of the time, relative to other groups.
    share: int = 1
    #: Whether the group is measured when no groups are named.
    default: bool = True


#: What can be measured, by the names that `locmsim bench --group` takes.
GROUPS: dict[str, _Group] = {
    "playouts": _Group("random playouts, one core", _playouts, 4),
    "kernel": _Group("compiled callers", _kernel),
    "python": _Group("Python callers", _python, 2),
    "beliefs": _Group("what a player knows", _beliefs),
    "batch": _Group("StateBatch of 10,000", _batch),
    "match": _Group("protocol and matches", _match),
    "search": _Group("search, one core", _searches),
    "turns": _Group("a turn without its search", _turns),
    "environments": _Group("learning environments", _environments, 3),
    "start": _Group("start", _start, 2),
    "network": _Group("a decision of a network, one thread", _network, default=False),
}


def measure(
    rules: str = "1.5",
    seconds: float = 12.0,
    groups: Sequence[str] = (),
    *,
    watch: Watch | None = None,
    on_group: Callable[[str, float], None] = lambda name, done: None,
) -> list[Figure]:
    """Measure the figures of a rule set for about `seconds`.

    Preparing the positions takes about a second more.

    Parameters
    ----------
    rules : str
        The rule set.
    seconds : float
        Time for all figures together.
    groups : sequence of str, optional
        Keys of `GROUPS`; by default all except those that are only measured by name.
    watch : Watch, optional
        Checks the machine before each group of figures and at the end.
    on_group : function, optional
        Called before each group with its title and the part of the time that has passed, from 0
        to 1; at the end with "" and 1.
    """
    chosen = [GROUPS[name] for name in groups] or [g for g in GROUPS.values() if g.default]
    shares = sum(group.share for group in chosen)
    figures: list[Figure] = []
    done = 0
    for group in chosen:
        on_group(group.title, done / shares)
        if watch is not None:
            watch.look()
        figures += figures_of(group.title, group.functions(rules), seconds * group.share / shares)
        done += group.share
    if watch is not None:
        watch.look()
    on_group("", 1.0)
    return figures


# ---------------------------------------------------------------------------------- behaviour


def signature(rules: str) -> str:
    """Return 16 hexadecimal digits that change only if the behaviour of the rules changes.

    They cover positions and legal actions throughout games from fixed seeds, and winners and
    lengths of playouts: the card generator, the rules, the order of legal actions, the random
    streams.
    """
    digest = blake2b(digest_size=8)
    for seed, start in enumerate(starts(rules)[:_SIGNATURE_GAMES]):
        for state, action in random_game(start, seed):
            position = json.dumps(state.snapshot(), separators=(",", ":"))
            digest.update(f"{position}{state.legal_actions()}{action}".encode())
        winners, applied = start.rollouts_counted(_SIGNATURE_PLAYOUTS, seed)
        digest.update(winners.tobytes() + applied.to_bytes(8, "little"))
    return digest.hexdigest()


# ---------------------------------------------------------------------------------- reports


def machine() -> dict[str, str]:
    """Return what the figures depend on besides the code."""
    return {
        **hardware(),
        "compiler": COMPILER,
        "command": COMPILER_COMMAND,
        "numpy": np.__version__,
        "locmsim": __version__,
    }


def report(rules: str, figures: list[Figure]) -> str:
    """Return the figures as a table for people."""
    lines = [f"{key:<9} {value}" for key, value in machine().items()]
    lines += [f"{'rules':<9} {rules}", f"{'signature':<9} {signature(rules)}"]
    return "\n".join([*lines, *table(figures)]) + "\n"


def to_json(rules: str, figures: list[Figure], warnings: Sequence[str] = ()) -> dict[str, Any]:
    """Return the figures for programs, with the `Watch.warnings`."""
    return {
        "machine": machine(),
        "warnings": [*warnings],
        "rules": rules,
        "signature": signature(rules),
        "figures": [asdict(figure) for figure in figures],
    }
