"""``locmsim tune``: improve weights by self-play."""

import argparse
import os
import shlex

from locmsim.cli._common import Failure, Parser, add_verbose, check_target, start_logging
from locmsim.cli._runs import (
    check_proof,
    failures,
    progress,
    resumable,
    show_proof,
)
from locmsim.cli._shared import SHARED, add_shared, default_jobs
from locmsim.options.commands import add_option, argument_of
from locmsim.options.declarations import declared

#: Settings that are options of their own name, besides the parts.
_PLAIN = ("rules", "games", "match_games", "nodes", "pools", "seed", "network_size")


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
    for name in _PLAIN[1:]:
        if (flag := f"--{name}") in SHARED:
            add_shared(parser, flag, help=argument_of(known[name])["help"])
        else:  # what is given is compared with a run that is resumed
            add_option(parser, known[name], default=None)
    add_shared(parser, "--proof-games", default=1000)
    where = parser.add_mutually_exclusive_group()
    add_shared(where, "--jobs", help="number of processes (default: one per core)")
    add_shared(where, "--dask", help="play on the cluster of this Dask scheduler")
    add_verbose(parser)


def run(options: argparse.Namespace) -> None:
    """Improve weights until all iterations are done."""
    from locmsim.tuning import Tuner

    check_proof(options)
    _check_output(options.output)
    start_logging(options.verbose)
    words = ["locmsim", "tune"]
    for name, value in vars(options).items():
        if name not in ("run", "parser", "jobs", "dask", "verbose") and value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    settings = {name: value for name in _PLAIN if (value := getattr(options, name)) is not None}
    if options.parts is not None:
        settings["parts"] = (*options.parts.split(","),)
    with failures():
        tuner = Tuner(
            settings, start=options.weights, folder=options.state, command=shlex.join(words)
        )
        tuner.check_target(options.output)

        def lost() -> str:
            written = os.path.exists(options.output)
            best = f"the best weights are in {options.output}, " if written else ""
            return f"{best}games played since then are"

        jobs = default_jobs(options)
        with resumable(options, lambda: f"{tuner.iteration} complete iterations", lost):
            with progress() as (show, say):
                for line in tuner.run(
                    options.iterations, jobs=jobs, dask=options.dask, on_games=show
                ):
                    tuner.write(options.output)
                    say(line)
            tuner.write(options.output)  # a killed process may have left an older one, or none
            for match in tuner.accepted:
                won = f"{100 * match['score']:.1f} % of {match['games']} games"
                print(f"iteration {match['iteration']}: {match['parts']} won {won}")
            if tuner.accepted:
                show_proof(options, "the tuned weights", tuner.prove)
            else:
                print("no new weights were accepted")


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
