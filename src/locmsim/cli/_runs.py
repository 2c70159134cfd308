"""What the commands of long runs share: errors, progress, and how one that was stopped goes on."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator

from locmsim.cli._common import Failure, Stopped, ended_by_signals

__all__ = ["failures", "progress", "resumable"]


@contextlib.contextmanager
def failures() -> Iterator[None]:
    """End the command with a message for errors within that a user can cause."""
    from locmsim.arena import ArenaError, StoreError
    from locmsim.processes.workers import WorkersError

    try:
        yield
    except ValueError as error:
        raise Failure(error, code=2) from None
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
