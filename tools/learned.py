"""Train the network of the agent `learned` from nothing: ``python tools/learned.py``.

    python tools/learned.py --folder runs/learned --seeds 1 2 3
    python tools/learned.py --folder runs/learned --seeds 1 2 3 --pause-after 10

This command runs the steps of examples/train one after the other: a search plays games against
itself, a network learns to imitate them (`clone.py`) and is then trained by self-play against a
league (`ppo.py`), once for each seed. The network that is best on card sets that no training has
seen becomes ``learned.npz`` in the folder. Beside it, ``strength.txt`` has its win rates on the
proof seeds, and ``curves.csv`` the win rates of all networks during training.

Finished steps are kept: the same command continues where an earlier one was stopped. With
``--pause-after N`` it stops after about N minutes with exit status 3, and can be continued later.
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

from locmsim.policy import Policy
from locmsim.support.files import write_whole
from locmsim.tuning import PROOF_SEEDS
from locmsim.tuning.dataset import examples_of_agent
from locmsim.tuning.evaluate import evaluate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "train"))

import clone
import ppo
import strength

#: Agent whose games the clone learns from; it assumes nothing about the opponent's deck.
TEACHER = "beam:nodes=3000,time_ms=0,belief=any"
#: Games per file of examples: at most a minute on one core.
GAMES = 2000
#: By rule set: the share of examples per deck builder, and the deck builders of self-play.
DECKS = {
    "1.5": ({"random": 0.6, "default": 0.3, "classic": 0.1},
            ["random"] * 5 + ["default", "default", "classic", "default/classic"]),
    "1.2": ({"random": 0.6, "curve": 0.4}, ["random", "curve"]),
}  # fmt: skip
#: Deck builders and opponents by which the networks of all seeds are compared.
YARDSTICKS = [("random", "osl"), ("random", "greedy")]
PAUSED = 3


class Paused(Exception):
    """Raised when the time is up before the training is complete."""


class Clock:
    """The time that the command has left."""

    def __init__(self, minutes: float) -> None:
        self.minutes, self.began = minutes, time.monotonic()

    def left(self) -> float:
        """Return the minutes left; infinity without a limit."""
        if not self.minutes:
            return float("inf")
        return self.minutes - (time.monotonic() - self.began) / 60

    def check(self) -> None:
        """Raise `Paused` if the time is up."""
        if self.left() <= 0:
            raise Paused


def examples(options: argparse.Namespace, clock: Clock) -> list[Path]:
    """Write the missing files of examples; return the paths of all."""
    paths = []
    for decks, share in DECKS[options.rules][0].items():
        games = int(share * options.games)
        for first in range(0, games, GAMES):
            path = Path(options.folder) / f"examples-{decks}-{first}.npz"
            paths.append(path)
            if path.exists():
                continue
            number = min(GAMES, games - first)
            for growing in examples_of_agent(
                TEACHER, number, rules=options.rules, decks=decks, seed=first, jobs=options.jobs
            ):
                dataset = growing
            dataset.save(path, f"{TEACHER} with {decks} decks")
            print(f"{path}: {len(dataset)} examples of {number} games", flush=True)
            clock.check()
    return paths


def cloned(
    options: argparse.Namespace, folder: Path, seed: int, paths: list[Path], clock: Clock
) -> Path:
    """Train the network that imitates the examples; return its path."""
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
    """Train the network by self-play; return its path."""
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
    """Return whether the self-play of a folder is complete."""
    log = folder / "log.csv"
    if not (log.exists() and (folder / "checkpoint.pt").exists()):
        return False
    size = chosen.steps * chosen.rows
    content = ppo.load_checkpoint(folder / "checkpoint.pt", ppo.identity(chosen))
    return bool(content["update"] >= max(1, chosen.total_timesteps // size))


def curve(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield steps, minutes and win rates from the log of a folder."""
    minutes = 0.0
    with (folder / "log.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            minutes += float(row["seconds"]) / 60
            if row["win_osl"]:
                rates = {name: float(row[f"win_{name}"]) for name in ("osl", "greedy")}
                yield {"step": int(row["step"]), "minutes": round(minutes, 2), **rates}


def report(options: argparse.Namespace, paths: dict[int, Path]) -> None:
    """Write the best network, its win rates, and the learning curves of all networks."""
    folder, curves, rates = Path(options.folder), {}, {}
    with (folder / "curves.csv").open("w", newline="") as file:
        names = ("seed", "step", "minutes", "osl", "greedy")
        writer = csv.DictWriter(file, names, lineterminator="\n")
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
    best = max(rates, key=rates.__getitem__)
    print(f"the best network is that of seed {best}")
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
    """Exit with one line if the folder belongs to a training with other options."""
    path = Path(options.folder) / "options.json"
    chosen = {name: getattr(options, name) for name in ("rules", "games", "epochs", "bfloat16")}
    if path.exists() and (known := json.loads(path.read_text())) != chosen:
        raise SystemExit(
            f"{path}: the training in this folder has the options {known}, not {chosen}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(chosen).encode())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add(
        "--folder", default="runs/learned", help="folder of all files; an existing one is continued"
    )
    add("--seeds", type=int, nargs="+", default=[1], help="seeds; each trains one network")
    add("--rules", default="1.5", choices=tuple(DECKS), help="rule set")
    add("--games", type=int, default=20_000, help="games of the search to imitate")
    add("--epochs", type=int, default=6, help="epochs over these games")
    add("--total-timesteps", type=int, default=60_000_000, help="steps of self-play per seed")
    add("--test-games", type=int, default=10_000, help="games per comparison at the end")
    add("--pause-after", type=float, default=0, help="pause after N minutes; 0: never")
    add("--jobs", type=int, default=1, help="processes that play the games of the search")
    add("--device", default="auto", help="PyTorch device of the self-play")
    add("--bfloat16", action="store_true", help="bfloat16: slow without AMX or AVX512-BF16")
    add("more", nargs="*", help="further options for ppo.py, after --")
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
    except (Paused, KeyboardInterrupt):
        print("paused: the same command continues", flush=True)
        return PAUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
