"""``locmsim tune``: better weights by self-play."""

import argparse
import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator

from locmsim.cli._common import Failure, check_target, ended_by_signals
from locmsim.rules.rulesets import RULES

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rules", choices=tuple(RULES), help="rule set (default: 1.5)")
    add("--method", choices=("fit", "cmaes"), help="how new weights are found (default: fit)")
    add("--what", metavar="PARTS", help="some of eval,deck,network (default: eval,deck)")
    add("--weights", metavar="FILE", help="weights file to start from (default: our own weights)")
    add(
        "--out",
        metavar="FILE",
        default="tuned.json",
        help="weights file, written after each iteration (default: %(default)s)",
    )
    add("--state", metavar="DIR", help="folder that keeps all; one that exists is gone on with")
    add("--iterations", type=int, default=10, metavar="N", help="in all (default: %(default)s)")
    add("--games", type=int, metavar="N", help="games of an iteration (default: 4000)")
    add("--match-games", type=int, metavar="N", help="games of a deciding match (default: 1000)")
    add("--nodes", type=int, metavar="N", help="positions searched in a turn (default: 2000)")
    add("--pools", type=int, metavar="N", help="different card sets (default: 1000)")
    add("--seed", type=int, metavar="N", help="all that is random follows from it (default: 1)")
    add("--workers", type=int, metavar="N", help="processes (default: one for each core)")


def run(options: argparse.Namespace) -> None:
    from locmsim.tuning.tune import Tuner
    from locmsim.workers import available_cores

    check_target(options.out)
    words = ["locmsim", "tune"]
    for name, value in vars(options).items():
        if name not in ("run", "parser", "workers") and value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    names = ("rules", "method", "games", "match_games", "nodes", "pools", "seed")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.what is not None:
        given["what"] = tuple(sorted(set(options.what.split(",")), reverse=True))
    try:
        tuner = Tuner(given, start=options.weights, folder=options.state, command=shlex.join(words))
        tuner.write(options.out)
        with ended_by_signals(), _tuning_progress() as (on_games, say):
            workers = len(available_cores()) if options.workers is None else options.workers
            for line in tuner.run(options.iterations, workers=workers, on_games=on_games):
                tuner.write(options.out)
                say(line)
    except ValueError as error:
        raise Failure(error, code=2) from None
    except ImportError as error:
        raise Failure(f"{error}: install locmsim[tune]") from None
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    if not tuner.accepted:
        print("no new weights were accepted")
    for match in tuner.accepted:
        print("iteration {iteration}: {what} won {score:.1%} of {games} games".format(**match))


@contextlib.contextmanager
def _tuning_progress() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[str], None]]]:
    """A bar on the terminal for the games that are played, if tqdm is there; lines go above it."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda what, done, count: None, lambda line: print(line, flush=True)
        return
    with tqdm(unit="game", disable=None, file=sys.stderr, leave=False) as bar:

        def show(what: str, done: int, count: int) -> None:
            if bar.disable:
                return
            if bar.desc != f"{what}: ":
                bar.reset(total=count)
                bar.set_description(what, refresh=False)
            bar.update(done - bar.n)

        def say(line: str) -> None:
            tqdm.write(line, file=sys.stdout)
            sys.stdout.flush()

        yield show, say
