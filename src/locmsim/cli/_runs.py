"""What the commands of long runs share: errors, progress, and how one that was stopped goes on."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from locmsim.cli._common import Failure, Stopped, WrongUsage, ended_by_signals, value_errors
from locmsim.support.files import counted

if TYPE_CHECKING:
    from locmsim.tuning.run import Proof


def check_proof(options: argparse.Namespace) -> None:
    if options.proof_games % 2:
        raise WrongUsage(
            f"--proof-games: mirrored pairs need an even number, got {options.proof_games}"
        )


def show_proof(options: argparse.Namespace, what: str, prove: "Callable[..., Proof]") -> None:
    """Play the match of what was tuned against the start, and say what it tells."""
    if not options.proof_games:
        return
    print("the match against the start, on other cards:", flush=True)
    proof = prove(options.proof_games, jobs=options.jobs, dask=options.dask)
    print(proof.text)
    low, high = proof.score
    won = f"{what} win {100 * low:.1f} to {100 * high:.1f} % of {proof.games} games"
    if proof.better:
        print(f"better: {won} against the start")
    elif proof.better is None and low > 0.5:
        print(f"probably better: {won}; the test did not decide")
    elif proof.better is None:
        print(f"not decided: {won}; more --proof-games would tell")
    else:
        print(f"nothing was gained: {won}")


@contextlib.contextmanager
def failures() -> Iterator[None]:
    """End the command with a message for errors within that a user can cause."""
    from locmsim.arena import ArenaError, StoreError
    from locmsim.processes.workers import WorkersError

    try:
        with value_errors():
            yield
    except (ArenaError, StoreError, WorkersError, ImportError) as error:
        raise Failure(error) from None


@contextlib.contextmanager
def resumable(
    options: argparse.Namespace, done: Callable[[], str], lost: Callable[[], str]
) -> Iterator[None]:
    """Say what is done and how to resume, or what is lost, if signals or lost workers end it."""
    from locmsim.arena import ArenaError
    from locmsim.processes.workers import WorkersError

    try:
        with ended_by_signals():
            yield
    except (Stopped, ArenaError, WorkersError) as error:
        then = "the same command resumes"
        if options.state is None:
            then = f"{lost()} lost: --state FOLDER would keep them"
        message = f"stopped after {done()}; {then}"
        if isinstance(error, Stopped):
            error.message = message
        else:
            print(f"{options.parser.prog}: {message}", file=sys.stderr)
        raise


@contextlib.contextmanager
def progress() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[str], None]]]:
    """A progress bar of games on the terminal: it is set to a task, its games and their total; and
    what prints lines above it."""
    from tqdm import tqdm

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


def finish(steps: Generator[tuple[int, int]], unit: str, show: Callable[[], None]) -> None:
    """Do work with a progress bar, and show its results: after a signal, those that there are.

    Each step says how much is done, and of how much.
    """
    from tqdm import tqdm

    done = total = 0
    bar = tqdm(unit=unit, disable=None, file=sys.stderr, leave=False)
    try:
        with ended_by_signals(), contextlib.closing(steps), bar:
            for done, total in steps:
                bar.total = total
                bar.update(done - bar.n)
    except Stopped as stopped:
        stopped.message = f"stopped after {done} of {counted(total, unit)}"
        if done:
            show()
        raise
    show()
