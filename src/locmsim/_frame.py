"""The base of every command: its parser, and how signals end it."""

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, NoReturn

from locmsim.errors import EndedBySignal

__all__ = ["UNRECOGNIZED", "Parser", "Stopped", "ended_by_signals"]

#: Windows lacks some of them.
_ENDING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


#: Seconds that the cleanup may go on after a second signal.
_PATIENCE = 1.0
#: How argparse, and `locmsim.commands`, begin the message about an unknown option.
UNRECOGNIZED = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors show the usage in one line and suggest what was meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            # Not for a number, where another one is no better guess.
            if isinstance(value, str) and value.replace("-", "").isalpha():
                error.message += _did_you_mean(
                    value, [str(choice) for choice in action.choices or ()]
                )
            raise

    def error(self, message: str) -> NoReturn:
        if message.startswith(UNRECOGNIZED):
            option = message.removeprefix(UNRECOGNIZED).split()[0].partition("=")[0]
            if option.startswith("-"):
                message += _did_you_mean(option, self._option_string_actions)
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter = argparse.HelpFormatter(f"{self.prog} [options]", width=1000)
        formatter.add_usage(None, shown, [])
        self.exit(2, f"{formatter.format_help().strip()}\n{self.prog}: error: {message}\n")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did_you_mean`, imported only where something is misspelt."""
    from locmsim._specs import did_you_mean

    return did_you_mean(name, known)


class Stopped(EndedBySignal):
    """Raised when a signal ends the command; `message` is shown to the user."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.message = "stopped"


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the tool as Ctrl-C does, so that cleanup code stops the bots.

    The cleanup is not interrupted by further signals, but the second one gives it at most a second.
    """
    numbers = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]

    def end(number: int, frame: FrameType | None) -> None:
        for other in numbers:  # nothing may interrupt the cleanup
            signal.signal(other, again)
        raise Stopped(number)

    def again(number: int, frame: FrameType | None) -> None:
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        # What hangs may never let the main thread go on.
        last = threading.Timer(_PATIENCE, _end_now, [number])
        last.daemon = True
        last.start()

    def lost(what: "sys.UnraisableHookArgs") -> None:
        """Where an exception cannot propagate, as in `__del__`, signal again a little later."""
        if not isinstance(what.exc_value, Stopped):
            hook_before(what)
            return
        for number in numbers:
            signal.signal(number, end)
        threading.Timer(0.01, _signal_main_thread, [what.exc_value.number]).start()

    hook_before = sys.unraisablehook
    before = {number: signal.signal(number, end) for number in numbers}
    sys.unraisablehook = lost
    try:
        yield
    finally:
        sys.unraisablehook = hook_before
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_now(number: int) -> None:
    """End this process and all that it started, without further cleanup."""
    if "locmsim.supervisor" in sys.modules:
        with contextlib.suppress(Exception):
            sys.modules["locmsim.supervisor"].kill_all()
    with contextlib.suppress(Exception):
        sys.stderr.write("stopped at once\n")
        sys.stderr.flush()
    os._exit(128 + number)


def _signal_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # the main thread may be blocked
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
