"""Agents that end in many ways: one class for each, named by what it does in its third turn."""

import contextlib
import ctypes
import importlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from locmsim.agents import GreedyAgent
from locmsim.game.observation import Observation


class Agent(GreedyAgent):
    """Plays well; `bad` is called once."""

    turns = 0

    def act(self, observation: Observation) -> str:
        self.turns += 1
        answer = self.bad() if self.turns == 3 else None
        return super().act(observation) if answer is None else answer

    def bad(self) -> object:
        raise NotImplementedError


def doing(call: Callable[..., object], *words: object) -> type[Agent]:
    """Return an agent that calls a function, whose result is its answer."""

    class Does(Agent):
        def bad(self) -> object:
            return call(*words)

    return Does


class HostileError(Exception):
    def __str__(self) -> str:
        raise KeyError("no text")


class Raises(Agent):
    def bad(self) -> object:
        raise ValueError("lost")


class RaisesSurrogate(Agent):
    def bad(self) -> object:
        raise ValueError("half a character: \ud800")


class RaisesWithoutText(Agent):
    def bad(self) -> object:
        raise HostileError


class RaisesInReset(Agent):
    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        if seed:
            raise RuntimeError("not ready")


class RaisesInChoose(Agent):
    def choose(self, observation: Observation) -> str:
        raise RuntimeError("no deck")


class Interrupts(Agent):
    def bad(self) -> object:
        raise GeneratorExit


class RaisesAsItIsMade(Agent):
    def __init__(self) -> None:
        raise KeyError("no")


class ExitsAsItIsMade(Agent):
    def __init__(self) -> None:
        sys.exit(5)


class EndsAsItIsMade(Agent):
    def __init__(self) -> None:
        os._exit(6)


Exits = doing(sys.exit, 1)
ExitsAtOnce = doing(os._exit, 3)


class ExitsInReset(Agent):
    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        if seed:
            os._exit(4)


Segfaults = doing(ctypes.string_at, 0)
Aborts = doing(os.abort)


class IsKilled(Agent):
    """As by the system when memory runs out."""

    def bad(self) -> object:
        print("last words")
        os.kill(os.getpid(), signal.SIGKILL)
        return None


class TakesAllMemory(Agent):
    def bad(self) -> object:
        return "x" * (1 << 46)


class Recurses(Agent):
    def bad(self) -> object:
        return self.bad()


Sleeps = doing(time.sleep, 1000)


class SleepsInChoose(Agent):
    def choose(self, observation: Observation) -> str:
        time.sleep(1000)
        return ""


class SwallowsEverything(Agent):
    def bad(self) -> object:
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(1000)


#: Holds the interpreter's lock, so that no Python code runs any more.
HangsInC = doing(ctypes.PyDLL(None).sleep, 1000)
# NumPy is imported by this one only: each of the others would wait for it.
AnswersNumpyText = doing(lambda: importlib.import_module("numpy").str_("PASS"))
AnswersNumber = doing(int, 5)
AnswersBytes = doing(bytes, b"PASS")
AnswersTwoLines = doing(str, "PASS\nPASS")
AnswersSurrogate = doing(str, "\ud800")
AnswersMegabyte = doing(str, "PASS " + "x" * (1 << 20))
AnswersNul = doing(str, "PA\0SS")


class Prints(Agent):
    def bad(self) -> object:
        print("a word")
        os.write(1, b"another\n")
        return None


ClosesOutput = doing(os.close, 1)
ClosesInput = doing(os.close, 0)


class ClosesStreams(Agent):
    def bad(self) -> object:
        for stream in sys.stdin, sys.stdout, sys.stderr:
            stream.close()
        return None


class LeavesThread(Agent):
    def bad(self) -> object:
        threading.Thread(target=time.sleep, args=[1000]).start()
        return None


class LeavesChild(Agent):
    def bad(self) -> object:
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
        return None


class EndsButNotItsChild(Agent):
    """The child keeps all pipes open."""

    def bad(self) -> object:
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(7)


class LeavesDaemon(Agent):
    def bad(self) -> object:
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
            os._exit(0)
        return None


class LeavesHiddenDaemon(Agent):
    """A daemon in a session of its own, with an empty environment and without a parent."""

    def bad(self) -> object:
        if (child := os.fork()) == 0:
            os.setsid()
            if os.fork() == 0:
                script = f"sleep 1000; : {os.environ.get('LOCMSIM_TEST')}"
                os.execve("/bin/sh", ["sh", "-c", script], {})
            os._exit(0)
        os.waitpid(child, 0)
        return None


class AnswersLate(Agent):
    """Answers a little too late, if there is a limit."""

    deadline = math.inf

    def start_turn(self, deadline: float) -> None:
        self.deadline = deadline

    def bad(self) -> object:
        if self.deadline < math.inf:
            time.sleep(max(0.0, self.deadline - time.perf_counter()) + 0.3)
        return None
