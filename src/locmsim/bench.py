"""What the simulator's operations cost on this machine, and a number that tells its behaviour.

docs/performance.md says how each figure is measured. The functions that prepare positions serve the
benchmarks under bench/ too.
"""

import json
import os
import platform
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any, Literal

import numpy as np

from locmsim import __version__
from locmsim._bench import COMPILER, COMPILER_COMMAND, STATE_SIZE, KernelLoops, game_lengths
from locmsim._core import State
from locmsim.agents import Agent, make_agent
from locmsim.batch import StateBatch
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.game.play import play_match
from locmsim.game.positions import random_game, start_position
from locmsim.referee.play import play
from locmsim.rules.generator import generate_cards
from locmsim.search import MCTS, BeamSearch, Belief

__all__ = ["Figure", "Watch", "machine", "measure", "report", "signature", "to_json"]

PAIRS = 64  # of random decks
GROUP = 64  # positions of each, as `KernelLoops` wants them
_SIGNATURE_GAMES = 8
_SIGNATURE_PLAYOUTS = 250


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number: the median of several measurements, unless it is a mere count."""

    group: str
    name: str
    value: float
    unit: str


# ---------------------------------------------------------------------------------- positions


@cache
def starts(rules: str) -> tuple[State, ...]:
    """The starts of 64 battles between random decks."""
    return tuple(start_position(seed, rules) for seed in range(1, PAIRS + 1))


@cache
def groups(rules: str) -> tuple[tuple[State, ...], ...]:
    """For each of `starts` 64 positions out of games of random actions."""
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
    """256 positions with five or six legal actions, and a random one of these."""
    choice = random.Random(1).choice
    found = []
    for state in chain.from_iterable(groups(rules)):
        actions = state.legal_actions()
        if len(actions) in (5, 6):
            found.append((state, choice(actions)))
    return found[:256]


# ---------------------------------------------------------------------------------- measuring


def _median(sample: Callable[[], float], seconds: float) -> float:
    """The median of at least five samples, taken for about `seconds`."""
    end = perf_counter() + seconds
    samples: list[float] = []
    while len(samples) < 5 or perf_counter() < end:
        samples.append(sample())
    return median(samples)


def _seconds(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


def _per_call(statement: str, calls: int, seconds: float, **names: Any) -> float:
    """Seconds that one of the `calls` takes that `statement` makes, its loop included."""
    # As locals, as in the code of a bot; timeit keeps the garbage collector off.
    setup = "; ".join(f"{name} = _names[{name!r}]" for name in names) or "pass"
    timer = Timer(statement, setup, globals={"_names": names})
    return _median(lambda: timer.timeit(4) / 4, seconds) / calls


def _playouts(rules: str, seconds: float) -> Iterator[Figure]:
    group = "random playouts, one core"
    states = starts(rules)
    per_state = 500
    games = per_state * len(states)
    taken = _median(
        lambda: _seconds(lambda: [state.rollouts(per_state, 1) for state in states]), seconds / 2
    )
    actions, turns = game_lengths(states, per_state, 1)
    yield Figure(group, "games", games / taken, "/s")
    yield Figure(group, "actions", actions / taken, "/s")
    yield Figure(group, "actions a game", actions / games, "")
    yield Figure(group, "turns a game", turns / games, "")
    if len(_cores()) > 1:

        def gain() -> float:
            state = random.choice(states)
            alone = _seconds(lambda: state.rollouts(50_000, 1))
            return alone / _seconds(lambda: state.rollouts(50_000, 1, threads=2))

        yield Figure(group, "threads=2 over threads=1", _median(gain, seconds / 2), "x")


_KERNEL_OPERATIONS: dict[Literal["clone", "apply", "count", "list", "kth"], str] = {
    "clone": "clone",
    "apply": "apply a random legal action",
    "list": "list the legal actions",
    "count": "count the legal actions",
    "kth": "k-th legal action without listing",
}


def _kernel(rules: str, seconds: float) -> Iterator[Figure]:
    group = "compiled callers"
    loops = KernelLoops(groups(rules), 1)
    yield Figure(group, "state", STATE_SIZE, "bytes")
    for operation, name in _KERNEL_OPERATIONS.items():

        def sample(operation: Any = operation) -> float:
            return loops.run(operation, 10) - loops.run("copy", 10)

        taken = _median(sample, seconds / len(_KERNEL_OPERATIONS))
        yield Figure(group, name, taken, "ns")


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
}


def _python(rules: str, seconds: float) -> Iterator[Figure]:
    pairs = typical(rules)
    names = {
        "pairs": pairs,
        "numpy_pairs": [(state, np.int64(action)) for state, action in pairs],
        "scratch": pairs[0][0].clone(),
        "mask": pairs[0][0].legal_actions_mask(),
    }
    for name, statement in _PYTHON_CALLS.items():
        taken = _per_call(statement, len(pairs), seconds / len(_PYTHON_CALLS), **names)
        yield Figure("Python callers", name, taken * 1e9, "ns")


def _batch(rules: str, seconds: float) -> Iterator[Figure]:
    size, plies = 10_000, 20
    start = StateBatch.repeat(starts(rules)[0], size)

    def sample() -> float:
        batch = start.clone()
        steps, taken = 0, 0.0
        for seed in range(plies):
            actions = batch.sample_actions(seed)
            steps += int((actions >= 0).sum())
            taken += _seconds(lambda actions=actions: batch.step(actions))  # type: ignore[misc]
        return steps / taken

    yield Figure("StateBatch of 10,000", "steps", _median(sample, seconds / 2), "/s")
    masks = _median(lambda: _seconds(start.legal_actions_mask) / size, seconds / 2)
    yield Figure("StateBatch of 10,000", "masks, a state", masks * 1e9, "ns")


_BELIEF_CALLS = {
    "Belief.see": "for state, belief, seen in places: belief.see(seen)",
    "Belief.root": "for state, belief, seen in places: belief.root()",
    "Belief.sample": "for state, belief, seen in places: belief.sample(1)",
    "State.resample_hidden": "for state, belief, seen in places: state.resample_hidden(0, 1)",
}


def _beliefs(rules: str, seconds: float) -> Iterator[Figure]:
    places = []
    for state, _ in typical(rules)[:64]:
        belief = Belief()
        belief.see(seen := state.observation(state.current_player()))
        belief.sample(1)  # the opponent's cards are guessed
        places.append((state, belief, seen))
    for name, statement in _BELIEF_CALLS.items():
        taken = _per_call(statement, len(places), seconds / len(_BELIEF_CALLS), places=places)
        yield Figure("what a player knows", name, taken * 1e6, "us")


_MATCH_CALLS = {
    "Observation.of": "for state, player, text in seen: of(state, player)",
    "Observation.of(...).format": "for state, player, text in seen: of(state, player).format()",
    "Observation.parse": "for state, player, text in seen: parse(text)",
}


def _match(rules: str, seconds: float) -> Iterator[Figure]:
    group = "protocol and matches"
    share = seconds / (len(_MATCH_CALLS) + 3)
    seen = []
    for state, _ in typical(rules)[:64]:
        player = state.current_player()
        seen.append((state, player, Observation.of(state, player).format()))
    names = {"seen": seen, "of": Observation.of, "parse": Observation.parse}
    for name, statement in _MATCH_CALLS.items():
        yield Figure(group, name, _per_call(statement, len(seen), share, **names) * 1e6, "us")
    if rules == "1.5":
        taken = _per_call("generate_cards(1)", 1, share, generate_cards=generate_cards)
        yield Figure(group, "generate_cards", taken * 1e3, "ms")
    # A seed of its own each time: the cards of the last ones are kept.
    seeds = count(1)
    taken = _median(lambda: _seconds(lambda: Match(rules, seed=next(seeds))), share)
    yield Figure(group, "Match, cards included", taken * 1e3, "ms")
    agents = make_agent("random"), make_agent("random")

    def match() -> None:
        seed = next(seeds)
        for agent in agents:
            agent.reset(seed)
        play(agents, Match(rules, seed=seed))

    games = 1 / _median(lambda: _seconds(match), share)
    yield Figure(group, "matches of two random agents", games, "/s")


def search_positions(rules: str) -> list[tuple[Observation, Belief]]:
    """Starts of turns with much to decide, and what their movers believe."""
    found = []
    for start in starts(rules)[:16]:
        turns: dict[int, State] = {}
        for state, _ in random_game(start, 1):
            turns.setdefault(state.turn, state)
        state = max(turns.values(), key=lambda state: len(state.legal_actions()))
        # Nobody wins in this turn: the searches would be over at once.
        belief = Belief()
        belief.see(observation := state.observation(state.current_player()))
        if BeamSearch().search(observation, nodes=20_000, belief=belief).value < 1:
            found.append((observation, belief))
    return found


#: Name -> search, what its budget and its rate count, the budget of a sample.
SEARCHES: dict[str, tuple[Any, str, int]] = {
    "beam": (BeamSearch(), "nodes", 200_000),
    "MCTS": (MCTS(), "iterations", 500),
}


def _searches(rules: str, seconds: float) -> Iterator[Figure]:
    seen = search_positions(rules)
    for name, (search, unit, budget) in SEARCHES.items():

        def rate(search: Any = search, unit: str = unit, budget: int = budget) -> float:
            observation, belief = random.choice(seen)
            result = search.search(observation, belief=belief, **{unit: budget})
            return float(getattr(result, unit) / result.elapsed)

        yield Figure("search, one core", name, _median(rate, seconds / len(SEARCHES)), f"{unit}/s")


class _Listener:
    """Another agent, and what it is sent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.texts: list[str] = []

    def choose(self, observation: Observation) -> str:
        self.texts.append(observation.format())
        return self.agent.choose(observation)

    def act(self, observation: Observation) -> str:
        self.texts.append(observation.format())
        return self.agent.act(observation)


def turn_texts(rules: str) -> list[str]:
    """What a player is sent in a game between two agents, the choice phase included."""
    listener = _Listener(make_agent("rule"))
    play_match(Match(rules, seed=1), (listener, make_agent("rule")))
    return listener.texts


def _turns(rules: str, seconds: float) -> Iterator[Figure]:
    """All of a turn but the search, which may make one node: from the text to the answer line."""
    group = "a turn without its search"
    spec = "beam:time_ms=0,nodes=1"
    texts = turn_texts(rules)
    phases = [Observation.parse(text, rules).phase for text in texts]
    choices, turns = texts[: phases.count("choice")], texts[phases.count("choice") :]
    agent = make_agent(spec)

    def as_agent() -> float:
        agent.reset(1)
        for text in choices:
            agent.choose(Observation.parse(text, rules))
        return _seconds(lambda: [agent.act(Observation.parse(text, rules)) for text in turns])

    command = [sys.executable, "-m", "locmsim.bot", "--agent", spec]

    def as_bot() -> float:
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as bot:
            assert bot.stdin is not None
            assert bot.stdout is not None

            def ask(text: str) -> str:
                print(text, end="", file=bot.stdin, flush=True)
                return bot.stdout.readline()  # type: ignore[union-attr]

            for text in choices:
                ask(text)
            taken = _seconds(lambda: [ask(text) for text in turns])
            bot.stdin.close()
        return taken

    taken = _median(as_agent, seconds / 2) / len(turns)
    yield Figure(group, "as an agent", taken * 1e6, "us")
    yield Figure(group, "as a bot on pipes", _median(as_bot, seconds / 2) / len(turns) * 1e6, "us")


def _environments(rules: str, seconds: float) -> Iterator[Figure]:
    """Figures of the learning environments, if the extra ``envs`` is installed."""
    try:
        from locmsim.envs import bench
    except ImportError:
        return

    def kernel() -> float:
        best = float("inf")
        for _ in range(20):
            start = perf_counter()
            actions, _ = game_lengths(starts(rules)[:16], 8, 1)
            best = min(best, (perf_counter() - start) / actions)
        return 1 / best

    for name, value, unit in bench.figures(rules, seconds, kernel):
        yield Figure("learning environments", name, value, unit)


def _import(rules: str, seconds: float) -> Iterator[Figure]:
    def run(code: str) -> float:
        return _seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True))

    added = _median(lambda: run("import locmsim") - run("pass"), seconds)
    yield Figure("start", "import locmsim", added * 1e3, "ms")


class Watch:
    """Whether the machine has other things to do while it is measured.

    `look` is called now and then. It times a loop that always does the same, with the wall clock.
    """

    #: A loop that takes so much longer than at its best, or so much load for each core, is noted.
    MOST = 1.1
    LOAD = 0.5
    _TIMES = 9

    def __init__(self) -> None:
        #: Processes that ran or waited in the last minute, on average; None: not known here.
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        self._cores = len(_cores())
        self._loops: list[float] = []

    def look(self) -> None:
        """Time the loop some times, for about 20 ms."""
        self._loops += (_seconds(lambda: sum(range(100_000))) for _ in range(self._TIMES))

    @property
    def warnings(self) -> list[str]:
        """Sentences about what makes the figures doubtful; none on a quiet machine."""
        found = []
        if self.load is not None and self.load > self.LOAD * self._cores:
            found.append(
                f"the machine was busy at the start: a load of {self.load:.1f} on {self._cores}"
                " cores; the figures are too low"
            )
        best = min(self._loops, default=1.0)
        usual = median(self._loops or [1.0])
        if usual > self.MOST * best:
            found.append(
                "the machine was busy: a loop that always does the same took"
                f" {1e3 * best:.1f} ms at best and {1e3 * usual:.1f} ms as a rule;"
                " the figures are too low"
            )
        return found


_GROUPS: tuple[tuple[str, Callable[[str, float], Iterator[Figure]], int], ...] = (
    ("random playouts", _playouts, 4),
    ("compiled callers", _kernel, 1),
    ("Python callers", _python, 2),
    ("what a player knows", _beliefs, 1),
    ("batches", _batch, 1),
    ("protocol and matches", _match, 1),
    ("searches", _searches, 1),
    ("turns", _turns, 1),
    ("environments", _environments, 3),
    ("start", _import, 2),
)


def measure(
    rules: str = "1.5",
    seconds: float = 12.0,
    *,
    watch: Watch | None = None,
    on_group: Callable[[str, float], None] = lambda name, done: None,
) -> list[Figure]:
    """All figures of a rule set, measured for about `seconds`.

    Positions are prepared before that, which takes about a second.

    Parameters
    ----------
    rules : str
        The rule set.
    seconds : float
        Time for all figures together.
    watch : Watch, optional
        Looks at the machine before each group of figures and at the end.
    on_group : function, optional
        Called before each group with its name and the part of the time that has passed, from 0 to
        1; at the end with "" and 1.

    Returns
    -------
    list of Figure
    """
    shares = sum(share for _, _, share in _GROUPS)
    figures: list[Figure] = []
    done = 0
    for name, group, share in _GROUPS:
        on_group(name, done / shares)
        if watch is not None:
            watch.look()
        figures += group(rules, seconds * share / shares)
        done += share
    if watch is not None:
        watch.look()
    on_group("", 1.0)
    return figures


# ---------------------------------------------------------------------------------- behaviour


def signature(rules: str) -> str:
    """A number, as 16 hexadecimal digits, that changes only if the rules' behaviour changes.

    It covers positions and legal actions throughout games from fixed seeds, and winners and lengths
    of playouts: the card generator, the rules, the order of legal actions, the random streams.
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
    """What the figures depend on besides the code."""
    return {
        "CPU": f"{_cpu()}, {len(_cores())} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": COMPILER,
        "command": COMPILER_COMMAND,
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "locmsim": __version__,
    }


def _cores() -> set[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    except OSError:
        pass  # only Linux has the file
    return platform.processor() or "unknown CPU"


def report(rules: str, figures: list[Figure]) -> str:
    """A table for people."""
    lines = [f"{key:<9} {value}" for key, value in machine().items()]
    lines += [f"{'rules':<9} {rules}", f"{'signature':<9} {signature(rules)}"]
    group = None
    for figure in figures:
        if figure.group != group:
            group = figure.group
            lines += ["", group]
        lines.append(f"  {figure.name:<36} {_number(figure.value):>12} {figure.unit}".rstrip())
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    if value == int(value) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def to_json(rules: str, figures: list[Figure], warnings: Sequence[str] = ()) -> dict[str, Any]:
    """The same for programs, with the `Watch.warnings`."""
    return {
        "machine": machine(),
        "warnings": [*warnings],
        "rules": rules,
        "signature": signature(rules),
        "figures": [asdict(figure) for figure in figures],
    }
