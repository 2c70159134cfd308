"""The base of every command: its parser, and how signals end it."""

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

__all__ = ["Parser", "Stopped", "ended_by_signals"]

#: Windows lacks some of them.
_ENDING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages show the usage in one line."""

    def error(self, message: str) -> NoReturn:
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter = argparse.HelpFormatter(f"{self.prog} [options]", width=1000)
        formatter.add_usage(None, shown, [])
        self.exit(2, f"{formatter.format_help().strip()}\n{self.prog}: error: {message}\n")


class Stopped(SystemExit):
    """Raised when a signal ends the command; `message` is shown to the user."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
        self.message = "stopped"


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the tool as Ctrl-C does, so that cleanup code stops the bots."""
    numbers = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]

    def end(number: int, frame: FrameType | None) -> None:
        for other in numbers:  # nothing may interrupt the cleanup
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

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


def _signal_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # the main thread may be blocked
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
