"""Train the network of the agent `learned` from nothing: ``python tools/learned.py``.

    python tools/learned.py --folder runs/learned --seeds 1 2 3
    python tools/learned.py --folder runs/learned --seeds 1 2 3 --pause-after 10

The steps are those of examples/train, which this command runs one after the other: games of a
search with itself are examples, a network learns to imitate them (`clone.py`), and goes on by
self-play against a league (`ppo.py`), all of it once for each seed. Of the networks that come of
it, the best on card sets that no training has seen is ``learned.npz`` of the folder, beside
``strength.txt``, what it wins on the proof seeds, and ``curves.csv``, what all of them won during
training. ``curves.svg`` is its picture (needs matplotlib).

What is finished stays: the same command goes on where an earlier one was stopped. With
``--pause-after`` it stops after so many minutes, where it can go on later; its
exit status is 3 then.
"""

import argparse
import csv
import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from locmsim._io import write_whole
from locmsim.envs.dataset import examples_of_agent
from locmsim.envs.evaluate import evaluate
from locmsim.policy import Policy
from locmsim.tuning import PROOF_SEEDS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "train"))

import clone
import ppo
import strength

#: Who plays the games that the clone learns from; without knowledge of the opponent's deck.
TEACHER = "beam:nodes=3000,time_ms=0,belief=any"
#: Games of a file of examples: at most a minute of one core.
GAMES = 2000
#: By rule set: the part of the examples that has these decks, and the decks of self-play.
DECKS = {
    "1.5": ({"random": 0.6, "default": 0.3, "classic": 0.1},
            ["random"] * 5 + ["default", "default", "classic", "default/classic"]),
    "1.2": ({"random": 0.6, "curve": 0.4}, ["random", "curve"]),
}  # fmt: skip
#: Who the networks of all seeds are compared against, and with which decks.
YARDSTICKS = [("random", "osl"), ("random", "greedy")]
PAUSED = 3


class Paused(Exception):
    """The time is over; there is more to do."""


class Clock:
    """Minutes of the command."""

    def __init__(self, minutes: float) -> None:
        self.minutes, self.began = minutes, time.monotonic()

    def left(self) -> float:
        """Minutes; infinitely many without a bound."""
        if not self.minutes:
            return float("inf")
        return self.minutes - (time.monotonic() - self.began) / 60

    def check(self) -> None:
        """``Paused`` if the time is over."""
        if self.left() <= 0:
            raise Paused


def examples(options: argparse.Namespace, clock: Clock) -> list[Path]:
    """The files of examples, those that are missing made."""
    paths = []
    for decks, share in DECKS[options.rules][0].items():
        games = int(share * options.games)
        for first in range(0, games, GAMES):
            path = Path(options.folder) / f"examples-{decks}-{first}.npz"
            paths.append(path)
            if path.exists():
                continue
            number = min(GAMES, games - first)
            for found in examples_of_agent(
                TEACHER, number, rules=options.rules, decks=decks, seed=first, jobs=options.jobs
            ):
                done = found
            done.save(path, f"{TEACHER} with {decks} decks")
            print(f"{path}: {len(done)} examples of {number} games", flush=True)
            clock.check()
    return paths


def cloned(
    options: argparse.Namespace, folder: Path, seed: int, paths: list[Path], clock: Clock
) -> Path:
    """The network that imitates the examples."""
    path = folder / "clone.npz"
    if not path.exists():
        command = [*map(str, paths), "--seed", str(seed), "--epochs", str(options.epochs)]
        net, training = clone.clone(
            clone.arguments().parse_args(command + ["--bfloat16"] * options.bfloat16),
            lambda line: print(line, flush=True),
        )
        net.policy(training).save(path)
        clock.check()
    return path


def trained(
    options: argparse.Namespace, folder: Path, seed: int, begin: Path, clock: Clock
) -> Path:
    """The network after self-play."""
    path = folder / "policy.npz"
    command = [
        "--folder", str(folder), "--resume", "--from", str(begin), "--seed", str(seed),
        "--rules", options.rules, "--total-timesteps", str(options.total_timesteps),
        "--decks", *DECKS[options.rules][1], "--opponents", "greedy", "beam:nodes=500",
        "--fixed", "0.2", "--past", "0.2", "--rate", "5e-4", "--entropy", "0.004",
        "--batch", "2048", "--yardsticks", "osl", "greedy", "--games", "1000",
        "--device", options.device, *options.more,
    ]  # fmt: skip
    if clock.minutes:
        command += ["--pause-after", str(max(clock.left(), 1e-6))]
    chosen = ppo.arguments().parse_args(command + ["--bfloat16"] * options.bfloat16)
    if not finished(folder, chosen):
        ppo.train(chosen)
        if not finished(folder, chosen):
            raise Paused
        clock.check()
    return path


def finished(folder: Path, chosen: argparse.Namespace) -> bool:
    """Whether the self-play of a folder has made all its updates."""
    log = folder / "log.csv"
    if not (log.exists() and (folder / "checkpoint.pt").exists()):
        return False
    size = chosen.steps * chosen.rows
    content = ppo.load_checkpoint(folder / "checkpoint.pt", ppo.identity(chosen))
    return bool(content["update"] >= max(1, chosen.total_timesteps // size))


def curve(folder: Path) -> Iterator[dict[str, Any]]:
    """Steps, minutes and win rates that the log of a folder has."""
    minutes = 0.0
    with (folder / "log.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            minutes += float(row["seconds"]) / 60
            if row["win_osl"]:
                rates = {name: float(row[f"win_{name}"]) for name in ("osl", "greedy")}
                yield {"step": int(row["step"]), "minutes": round(minutes, 2), **rates}


def draw(path: Path, curves: dict[int, list[dict[str, Any]]]) -> None:
    """The learning curves as a picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("curves.svg needs matplotlib: pip install matplotlib", file=sys.stderr)
        return
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), ("osl", "greedy"), strict=True):
        for seed, rows in curves.items():
            steps = [row["step"] / 1e6 for row in rows]
            axes.plot(steps, [100 * row[name] for row in rows], label=f"seed {seed}", linewidth=1)
        axes.set(title=f"against {name}", xlabel="million steps")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("games won, %")
    figure.axes[0].legend()
    figure.savefig(path, metadata={"Date": None})


def report(options: argparse.Namespace, paths: dict[int, Path]) -> None:
    """The best network, what it wins, and the curves of all."""
    folder, curves, rates = Path(options.folder), {}, {}
    with (folder / "curves.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ("seed", "step", "minutes", "osl", "greedy"))
        writer.writeheader()
        for seed, path in paths.items():
            curves[seed] = [*curve(path.parent)]
            writer.writerows({"seed": seed, **row} for row in curves[seed])
            policy = Policy.load(path)
            won = [
                evaluate(policy, opponent, games=options.test_games, decks=decks)
                for decks, opponent in YARDSTICKS
            ]
            rates[seed] = sum(one.rate for one in won)
            against = ", ".join(
                f"{name} {one}" for (_, name), one in zip(YARDSTICKS, won, strict=True)
            )
            print(f"seed {seed}: {against}", flush=True)
    draw(folder / "curves.svg", curves)
    best = max(rates, key=rates.__getitem__)
    print(f"the best one is that of seed {best}")
    shutil.copyfile(paths[best], folder / "learned.npz")
    lines: list[str] = []

    def log(line: str) -> None:
        lines.append(line + "\n")
        print(line, flush=True)

    decks = ("random", "classic", "default")[: 3 if options.rules == "1.5" else 1]
    strength.table(
        Policy.load(folder / "learned.npz"), games=options.test_games, decks=decks, log=log
    )
    write_whole(folder / "strength.txt", "".join(lines).encode())


def check_folder(options: argparse.Namespace) -> None:
    """One folder is for one training; ends with one line if it has another one."""
    path = Path(options.folder) / "options.json"
    chosen = {name: getattr(options, name) for name in ("rules", "games", "epochs", "bfloat16")}
    if path.exists() and (known := json.loads(path.read_text())) != chosen:
        raise SystemExit(f"{path}: the training of this folder has {known}, not {chosen}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(chosen).encode())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--folder", default="runs/learned", help="for all that is made")
    add("--seeds", type=int, nargs="+", default=[1], help="one network is trained for each")
    add("--rules", default="1.5", choices=tuple(DECKS))
    add("--games", type=int, default=20_000, help="of the search that is imitated")
    add("--epochs", type=int, default=6, help="of the imitation")
    add("--total-timesteps", type=int, default=60_000_000, help="of the self-play of each seed")
    add("--test-games", type=int, default=10_000, help="of each comparison at the end")
    add("--pause-after", type=float, default=0, help="minutes; 0: go on to the end")
    add("--jobs", type=int, default=1, help="processes that play the games of the search")
    add("--device", default="auto", help="of ppo.py")
    add("--bfloat16", action="store_true", help="of clone.py and ppo.py")
    add("more", nargs="*", help="more options for ppo.py, after --")
    options = parser.parse_args()
    check_folder(options)
    clock = Clock(options.pause_after)
    assert PROOF_SEEDS[0] > 1_001_024, "the seeds of the proof are those of no training"
    try:
        paths = {}
        files = examples(options, clock)
        for seed in options.seeds:
            folder = Path(options.folder) / f"seed-{seed}"
            folder.mkdir(exist_ok=True)
            begin = cloned(options, folder, seed, files, clock)
            paths[seed] = trained(options, folder, seed, begin, clock)
        report(options, paths)
    except Paused:
        print("paused: the same command goes on", flush=True)
        return PAUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
