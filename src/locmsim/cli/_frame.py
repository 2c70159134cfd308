"""The frame of every command: a parser, and how signals end it."""

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

__all__ = ["Parser", "Stopped", "ended_by_signals"]

#: Windows has not all of them.
_ENDING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


class Parser(argparse.ArgumentParser):
    """A parser whose errors show the usage of the command in one line."""

    def error(self, message: str) -> NoReturn:
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter = argparse.HelpFormatter(f"{self.prog} [options]", width=1000)
        formatter.add_usage(None, shown, [])
        self.exit(2, f"{formatter.format_help().strip()}\n{self.prog}: error: {message}\n")


class Stopped(SystemExit):
    """A signal has ended the command; `message` is what is told of that."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
        self.message = "stopped"


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the tool as Ctrl-C does: past the code that ends the bots."""
    numbers = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]

    def end(number: int, frame: FrameType | None) -> None:
        for other in numbers:  # nothing may interrupt the clearing up
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    def lost(what: "sys.UnraisableHookArgs") -> None:
        """Where nothing can be raised, as in `__del__`, the end is put off."""
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
    if hasattr(signal, "pthread_kill"):  # it may wait for something
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
