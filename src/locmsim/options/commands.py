"""The base of command line tools: parsers, failures, and how errors and signals end them.

A tool parses its words with a `Parser`, and `run` does the work: every error that a user can cause
ends it with one line.
"""

import argparse
import codecs
import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from locmsim.errors import EndedBySignal
from locmsim.options.checks import OptionError
from locmsim.options.declarations import Declared

_OUTPUT_ERRORS = (errno.ENOSPC, errno.EIO, errno.EBADF)
#: Replacements for terminals that cannot show a character.
_PLAIN = {"\u00b1": "+-"}
#: Windows lacks some of them.
_ENDING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


#: Seconds that the cleanup may go on after a second signal.
_PATIENCE = 1.0
#: How argparse, and `parsed`, begin the message about an unknown option.
_UNRECOGNIZED = "unrecognized arguments: "
#: How argparse begins a message about one option.
_ARGUMENT = "argument "


class Failure(Exception):
    """End the tool with the exit code 1 and a message, one line: a text, or an error with it."""


class WrongUsage(Failure):
    """End the tool with the exit code 2, its usage and a message."""


@contextlib.contextmanager
def value_errors(where: str = "", kind: type[Failure] = WrongUsage) -> Iterator[None]:
    """Turn ``ValueError`` into a `Failure` that says where the value stands."""
    try:
        yield
    except ValueError as error:
        raise kind(f"{where}: {error}" if where else error) from None


def sentence(summary: str) -> str:
    """Return the summary of a command as the sentence with which its help begins."""
    return f"{summary[:1].upper()}{summary[1:]}."


def prepare_streams() -> None:
    """Make the standard streams safe to use; a tool calls this first.

    Closed ones, as by ``>&-``, are opened on nothing, since a file opened later, such as a log,
    would have the number of the stream and programs would write into it. Characters that the
    output cannot encode are replaced.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (open to the end)
            setattr(sys, name, nothing)
    if hasattr(sys.stdout, "reconfigure"):
        codecs.register_error("locmsim", _replaced)
        sys.stdout.reconfigure(errors="locmsim")


def run(name: str, parse: Callable[[], argparse.Namespace | None]) -> int:
    """Run a tool.

    Parameters
    ----------
    name : str
        The tool and its command in messages, such as ``"locmsim play"``.
    parse : function
        Returns the parsed words, with the attributes ``run``, a function of them that does the
        work and may return the exit status, and ``parser``, whose name begins messages. None if
        there is nothing to do.

    Returns
    -------
    int
        The exit status: 0, 1 for a failure, 130 after Ctrl-C.

    Raises
    ------
    SystemExit
        With 2 for wrong usage, and with 128 + n when signal n ends the tool.
    """
    try:
        options = parse()
        status = 0 if options is None else _run(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of the output, such as head, has closed it.
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        place = error.filename
        if place is None and error.errno in _OUTPUT_ERRORS:
            place = "cannot write to the standard output"
        tool = name.partition(" ")[0]
        print(f"{tool}: {f'{place}: ' if place else ''}{error.strerror or error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    try:
        status = options.run(options)
        sys.stdout.flush()
    except Failure as failure:
        (error,) = failure.args
        own = isinstance(error, OptionError)
        message = error.spelt(options.parser.flag) if own else str(error)
        if isinstance(failure, WrongUsage):
            options.parser.error(message)
        print(f"{options.parser.prog}: {message}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        print(f"{options.parser.prog}: {stopped.message}", file=sys.stderr)
        raise
    return int(status or 0)


def parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Return the words as options, whose `parser` reports an unknown one."""
    options, unknown = parser.parse_known_args(words)
    if unknown:
        options.parser.error(f"{_UNRECOGNIZED}{' '.join(unknown)}")
    return options


def _drop_output() -> None:
    """Keep the interpreter from complaining at exit that the output is closed."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    bad = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in bad), error.end


class _Rule(NamedTuple):
    """Options that apply only with another one, or only without it."""

    other: str
    names: tuple[str, ...]
    needed: bool
    #: More about the other one, at the end of the message.
    more: str = ""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors show the usage in one line and suggest what was meant.

    Options that do not apply are errors: see `needs` and `rules_out`. Which options were given is
    told by `present`, so that a default is no reason to name one twice.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})
        self._rules: list[_Rule] = []
        #: Destinations of what the last command line gave.
        self.present: frozenset[str] = frozenset()

    def needs(self, other: str, *names: str) -> None:
        """Let options apply only together with another one, or one of several: ``"-a or -b"``."""
        self._rules.append(_Rule(other, names, True))

    def rules_out(self, other: str, *names: str, more: str = "") -> None:
        """Let options apply only without another one; `more` about it ends the message."""
        self._rules.append(_Rule(other, names, False, more))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        values = argparse.Namespace() if namespace is None else namespace
        # With None in place of the defaults it is seen what was given.
        own = [a for a in self._actions if argparse.SUPPRESS not in (a.dest, a.default)]
        for action in own:
            vars(values).setdefault(action.dest, None)
        values, unknown = super().parse_known_args(args, values)
        self.present = frozenset(a.dest for a in own if _is_present(a, getattr(values, a.dest)))
        for rule in self._rules:
            self._keep(rule)
        for action in own:
            if getattr(values, action.dest) is None:
                setattr(values, action.dest, action.default)
        return values, unknown

    def _keep(self, rule: _Rule) -> None:
        """End with an error for an option that does not apply."""
        others = (self._named(name).dest for name in rule.other.split(" or "))
        if any(dest in self.present for dest in others) != rule.needed:
            why = "needs" if rule.needed else "does not apply with"
            self.refuse(f"{why} {rule.other}{rule.more}", *rule.names)

    def refuse(self, why: str, *names: str) -> None:
        """End with an error for the first of these options that was given."""
        for name in names:
            if self._named(name).dest in self.present:
                self.error(f"{name}: {why}")

    def _named(self, name: str) -> argparse.Action:
        """Return the action of an option, or of a positional argument by its metavar."""
        for action in self._actions:
            if name in (action.option_strings or (action.metavar,)):
                return action
        raise KeyError(name)

    def flag(self, name: str) -> str:
        """Return the longest name of an option by its attribute, or the name as it is."""
        for action in self._actions:
            if action.option_strings and action.dest == name:
                return max(action.option_strings, key=len)
        return name

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        # Not for a number, where another one is no better guess.
        is_word = isinstance(value, str) and value.replace("-", "").isalpha()
        hint = _did_you_mean(value, choices) if is_word else ""
        message = f"expected one of {', '.join(choices)}, got {value!r}{hint}"
        raise argparse.ArgumentError(action, message)

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix(_ARGUMENT)
        if message.startswith(_UNRECOGNIZED):
            option = message.removeprefix(_UNRECOGNIZED).split()[0].partition("=")[0]
            if option.startswith("-"):
                message += _did_you_mean(option, self._option_string_actions)
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter = argparse.HelpFormatter(f"{self.prog} [options]", width=1000)
        formatter.add_usage(None, shown, [])
        self.exit(2, f"{formatter.format_help().strip()}\n{self.prog}: error: {message}\n")


def add_option(
    container: argparse._ActionsContainer, declared: Declared, *short: str, **more: Any
) -> None:
    """Add an option by its declaration (`locmsim.options.declarations`), with two dashes in front.

    Kind of value, bounds, default and help follow from the declaration; `short` are further
    names, and `more` arguments of `argparse`, which take precedence.
    """
    flag = f"--{declared.name.replace('_', '-')}"
    container.add_argument(*short, flag, **{**argument_of(declared), **more})


def argument_of(declared: Declared) -> dict[str, Any]:
    """Return the arguments of `argparse` for an option: kind of value, default and help."""
    option = declared.option
    default = None if declared.default is MISSING else declared.default
    words = option.text.replace("%", "%%").replace("`", "")
    if declared.type is bool:
        return {"action": "store_true", "help": words}
    if default not in (None, ""):
        words += f" (default: {default if isinstance(default, str) else format(default, 'g')})"
    found = {"default": default, "help": words}
    if option.choices:
        return {**found, "choices": option.choices}
    measure = option.measured_in.upper() or {int: "N", float: "X"}.get(declared.type, "")
    if declared.type in (int, float):
        return {**found, "type": _reader(declared), "metavar": measure}
    return {**found, "metavar": declared.name.upper()}


def _reader(declared: Declared) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return declared.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _is_present(action: argparse.Action, value: Any) -> bool:
    """Whether the value of an argument is not what stands for one that is missing."""
    # A positional argument that may be missing has its default or an empty list then.
    return value is not None and (bool(action.option_strings) or value not in ([], action.default))


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did_you_mean`, imported only where something is misspelt."""
    from locmsim.options.texts import did_you_mean

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
        end_soon(number)

    def lost(what: "sys.UnraisableHookArgs") -> None:
        """Where an exception cannot propagate, as in `__del__`, signal again a little later."""
        if not isinstance(what.exc_value, Stopped):
            hook_before(what)
            return
        for number in numbers:
            signal.signal(number, end)
        expect_again(1)
        threading.Timer(0.01, _signal_main_thread, [what.exc_value.number]).start()

    hook_before = sys.unraisablehook
    before = {number: signal.signal(number, end) for number in numbers}
    sys.unraisablehook = lost
    try:
        with _SecondSignal(numbers):
            yield
    finally:
        sys.unraisablehook = hook_before
        for number, handler in before.items():
            signal.signal(number, handler)


class _SecondSignal:
    """Ends this process soon after a second signal, wherever the main thread is.

    What Python does at a signal has to wait while the main thread is in compiled code. There a
    thread is told of it by the system.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        #: Number of signals that this process sends to itself for one that it had.
        self.again = 0

    def __enter__(self) -> "_SecondSignal":
        _watching.append(self)
        if os.name == "posix":
            source, self._target = os.pipe()
            os.set_blocking(self._target, False)
            threading.Thread(target=self._watch, args=[source], daemon=True).start()
            self._before = signal.set_wakeup_fd(self._target, warn_on_full_buffer=False)
        return self

    def __exit__(self, *exception: object) -> None:
        _watching.remove(self)
        if os.name == "posix":
            signal.set_wakeup_fd(self._before)
            os.close(self._target)

    def _watch(self, source: int) -> None:
        """Count the signals, whose numbers come through a pipe, until it is closed."""
        count = 0
        while numbers := os.read(source, 64):
            for number in numbers:
                count += number in self._numbers
                if count - self.again == 2:
                    end_soon(number)
        os.close(source)


_watching: list[_SecondSignal] = []


def expect_again(number: int) -> None:
    """Tell that signals which this process had are raised once more: they are not further ones."""
    for watch in _watching:
        watch.again += number


def end_soon(number: int) -> None:
    """End this process in a second, after a second signal, unless it ends by itself before.

    What hangs may never let the main thread go on.
    """
    last = threading.Timer(_PATIENCE, _end_now, [number])
    last.daemon = True
    last.start()


def _end_now(number: int) -> None:
    """End this process and all that it started, without further cleanup."""
    if "locmsim.processes.supervisor" in sys.modules:
        with contextlib.suppress(Exception):
            sys.modules["locmsim.processes.supervisor"].kill_all()
    with contextlib.suppress(Exception):
        sys.stderr.write("stopped at once\n")
        sys.stderr.flush()
    os._exit(128 + number)


def _signal_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # the main thread may be blocked
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
