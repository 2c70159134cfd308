"""``locmsim tune``: improve weights by self-play."""

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from locmsim._options import declared
from locmsim.cli._common import (
    Failure,
    Parser,
    Stopped,
    add_verbose,
    check_target,
    ended_by_signals,
    start_logging,
)
from locmsim.cli._shared import SHARED, add_shared, default_jobs
from locmsim.commands import add_option, argument_of

if TYPE_CHECKING:
    from locmsim.tuning import Tuner

__all__ = ["add_options", "run"]

#: Settings that are options of their own name, besides the rule set and the parts.
_PLAIN = ("games", "match_games", "nodes", "pools", "seed", "network_size")


def add_options(parser: Parser) -> None:
    from locmsim.tuning import Tuner, TuningSettings

    known = declared(TuningSettings)
    add = parser.add_argument
    add_shared(
        parser,
        "--output",
        required=True,
        help="weights file to write, updated in each iteration",
    )
    add_shared(parser, "--rules", help="rule set (default: 1.5)")
    add(
        "--parts",
        metavar="PARTS",
        help=known["parts"].option.text,
    )
    add_shared(
        parser, "--weights", help="weights file to start from (default: the package's weights)"
    )
    add_shared(
        parser, "--state", help="folder for the state of the run; an existing one is resumed"
    )
    add_option(parser, declared(Tuner.run)["iterations"]._replace(default=10))
    for name in _PLAIN:
        if (flag := f"--{name}") in SHARED:
            add_shared(parser, flag, help=argument_of(known[name])["help"])
        else:  # what is given is compared with a run that is resumed
            add_option(parser, known[name], default=None)
    where = parser.add_mutually_exclusive_group()
    add_shared(where, "--jobs", help="number of processes (default: one per core)")
    add_shared(where, "--dask", help="play on the cluster of this Dask scheduler")
    add_verbose(parser)


def run(options: argparse.Namespace) -> None:
    """Improve weights until all iterations are done."""
    from locmsim.tuning import Tuner
    from locmsim.workers import WorkersError

    _check_output(options.output)
    start_logging(options.verbose)
    words = ["locmsim", "tune"]
    for name, value in vars(options).items():
        if name not in ("run", "parser", "jobs", "dask", "verbose") and value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    try:
        tuner = Tuner(
            _settings(options),
            start=options.weights,
            folder=options.state,
            command=shlex.join(words),
        )
        tuner.check_target(options.output)
        _improve(tuner, options)
        if not os.path.exists(options.output):  # no iteration was missing
            tuner.write(options.output)
    except ValueError as error:
        raise Failure(error, code=2) from None
    except (WorkersError, ImportError) as error:
        raise Failure(error) from None
    if not tuner.accepted:
        print("no new weights were accepted")
    for match in tuner.accepted:
        won = f"{100 * match['score']:.1f} % of {match['games']} games"
        print(f"iteration {match['iteration']}: {match['parts']} won {won}")


def _check_output(path: str) -> None:
    """Fail at once if the weights could not be written."""
    check_target(path)
    if os.path.exists(path):
        return
    try:  # some folders look writable but are not, such as /proc
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(path)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the tuner that were given."""
    from locmsim.tuning import PARTS

    names = ("rules", *_PLAIN)
    values = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.parts is not None:
        chosen = set(options.parts.split(","))
        known = [part for part in PARTS if part in chosen]
        values["parts"] = (*known, *sorted(chosen.difference(known)))
    return values


def _improve(tuner: "Tuner", options: argparse.Namespace) -> None:
    """Run the iterations, writing the weights after each; say how to resume if they are stopped."""
    from locmsim.workers import WorkersError

    with ended_by_signals(), _tuning_progress() as (on_games, write_line):
        try:
            for line in tuner.run(
                options.iterations,
                jobs=default_jobs(options),
                dask=options.dask,
                on_games=on_games,
            ):
                tuner.write(options.output)
                write_line(line)
        except (Stopped, WorkersError) as error:
            message = _how_to_resume(options, tuner.iteration)
            if isinstance(error, Stopped):
                error.message = message
            else:
                print(f"locmsim tune: {message}", file=sys.stderr)
            raise


def _how_to_resume(options: argparse.Namespace, iterations: int) -> str:
    message = f"stopped after {iterations} complete iterations"
    if options.state is None:
        best = (
            f"the best weights are in {options.output}, " if os.path.exists(options.output) else ""
        )
        return f"{message}; {best}games played since then are lost: --state FOLDER would keep them"
    words = ["--state", options.state, "--output", options.output]
    words += ["--iterations", str(options.iterations)]
    if options.dask is not None:
        words += ["--dask", options.dask]
    command = shlex.join(["locmsim", "tune", *words])
    return f"{message}; resume with: {command}"


@contextlib.contextmanager
def _tuning_progress() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[str], None]]]:
    """A progress bar for games on the terminal; lines are printed above it."""
    from tqdm import tqdm

    with tqdm(unit="game", disable=None, file=sys.stderr, leave=False) as bar:

        def show(what: str, done: int, count: int) -> None:
            if bar.disable:
                return
            if bar.desc != f"{what}: ":
                bar.reset(total=count)
                bar.set_description(what, refresh=False)
            bar.update(done - bar.n)

        def write_line(line: str) -> None:
            tqdm.write(line, file=sys.stdout)
            sys.stdout.flush()

        yield show, write_line
