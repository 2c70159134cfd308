"""The stdin bot, ``python -m locmsim.bot``, which speaks the protocol of docs/rules.md, section 9.

It needs no options: the rule set is detected from the input. It ends with exit code 0 when the
input ends, when its output is closed, and on Ctrl-C.
"""

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TextIO

from locmsim.agents import Agent, describe_agents, make_agent, parse_spec
from locmsim.contract import start_turn
from locmsim.errors import ProtocolError
from locmsim.game.ids2022 import IdTranslator
from locmsim.game.observation import Observation, read_observation
from locmsim.options.commands import Parser, add_option
from locmsim.options.common import Seed, TimeMs
from locmsim.options.declarations import declaration
from locmsim.rules.rulesets import RULES


class _Parser(Parser):
    """A parser whose help lists the agents, which takes a while for installed packages."""

    def format_help(self) -> str:
        import shutil

        width = min(100, shutil.get_terminal_size().columns)
        self.epilog = describe_agents(width)
        return super().format_help()


class _Best:
    """The tree search in rule sets where it beats `beam` (docs/figures.md), else `beam`."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._agent = make_agent("mcts", **options)
        self._seed = 0
        self._rules = ""

    def reset(self, seed: int = 0) -> None:
        self._agent.reset(seed)
        self._seed = seed

    def choose(self, observation: Observation) -> str:
        return self._for(observation).choose(observation)

    def act(self, observation: Observation) -> str:
        return self._for(observation).act(observation)

    def _for(self, observation: Observation) -> Agent:
        if not self._rules and observation.rules == "1.5":
            self._agent = make_agent("beam", **self._options)
            self._agent.reset(self._seed)
        self._rules = observation.rules
        return self._agent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bot on the standard streams; return 0, or 1 for malformed input.

    Raises ``SystemExit`` with 2 for wrong usage.
    """
    parser = command_parser()
    options = parser.parse_args(arguments)
    chosen = {"time_ms": options.time_ms, "deck": options.deck, "draft": options.draft}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    try:
        spec = options.agent or options.search
        for name in chosen.keys() & (parse_spec(spec).options if spec else {}):
            parser.error(f"{_flag(name)}: does not apply with --agent, which has {name}")
        with contextlib.redirect_stdout(sys.stderr):
            agent: Agent = make_agent(spec, **chosen) if spec else _Best(chosen)
    except ValueError as error:
        for name in chosen:
            if f"unknown option {name!r}" in str(error):
                parser.error(f"{_flag(name)}: does not apply with --agent {options.agent}")
        parser.error(str(error))
    with contextlib.redirect_stdout(sys.stderr):
        agent.reset(options.seed)
    # There are no reference cycles that would justify a pause in the middle of a turn.
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        answers = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):  # prints of agents must not become answers
            answer_all(agent, sys.stdin, answers, options.ids)
    except (EOFError, KeyboardInterrupt):
        pass
    except BrokenPipeError:
        # Keep the interpreter from complaining at exit that the output is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ProtocolError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def command_parser() -> Parser:
    """Return the parser of the bot's options."""
    parser = _Parser(
        prog="python -m locmsim.bot",
        description="A bot for Legends of Code and Magic.\n\nIt reads the referee's input from the"
        " standard input and writes its answers\nto the standard output.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--search",
        choices=("beam", "mcts"),
        help="search algorithm (default: mcts, in rules 1.5 beam)",
    )
    add(
        "--agent",
        metavar="AGENT",
        help='any agent instead: "greedy", "beam:plans=8", "mybots:Mine", "mybots.py:Mine:depth=3"',
    )
    add_option(parser, declaration("time_ms", TimeMs, None))
    add("--deck", metavar="NAME", help="how the deck of rules 1.5 is built: random, classic, ...")
    add("--draft", metavar="NAME", help="how cards are picked in 1.2 and 1.0: random, curve, ...")
    add_option(parser, declaration("seed", Seed, 0))
    add(
        "--ids",
        choices=("new", "old"),
        help="instance ids: the current ones or those of the 2022 contest (default: detected)",
    )
    parser.rules_out("--agent", "--search")
    return parser


def answer_all(
    agent: Agent, source: TextIO, target: TextIO, ids: Literal["new", "old"] | None = None
) -> None:
    """Answer every observation from `source` with a line to `target`.

    The referee's `ids` are recognised if they are not given: see `IdTranslator`.
    ``EOFError`` when the input ends, ``ProtocolError`` when it is malformed.
    """

    def readline() -> str:
        line = source.readline()
        if not line:
            raise EOFError
        return line

    rules = None
    translator = IdTranslator(ids)
    asked = turns = 0
    while observation := read_observation(readline, rules):
        if observation.cards:  # without a card 1.0 looks like 1.2
            rules = observation.rules
        observation = translator.read(observation)
        answer = agent.choose if observation.phase == "choice" else agent.act
        rule = RULES[observation.rules]
        if observation.phase == "choice":
            limit_ms = rule.choice_limits_ms[asked > 0]
        else:
            limit_ms = rule.battle_limits_ms[turns > 0]
            turns += 1
        asked += 1
        start_turn(agent, limit_ms)
        target.write(translator.write(answer(observation)) + "\n")
        target.flush()


if __name__ == "__main__":
    sys.exit(main())
