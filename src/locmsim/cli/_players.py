"""Bots on the command line: the command of a program, or the name of an agent."""

from functools import cache
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import WrongUsage, value_errors

if TYPE_CHECKING:
    from argparse import Namespace

    from locmsim.referee.players import Agents, KeptAgents, Seat


@cache
def kept_agents() -> "KeptAgents":
    """Return the agents of this process, or worker, that play one match after the other."""
    from locmsim.referee.players import KeptAgents

    return KeptAgents()


def game_of(options: "Namespace") -> Any:
    """Return the game of ``--game``, with ``--rules`` and ``--ids`` as far as a command has them.

    These are options of Legends of Code and Magic: with another game, or one that says the same,
    they are an error.
    """
    from locmsim.arena import make_game

    chosen = check_game(options)
    with value_errors("--game"):
        return make_game(options.game or "locm", **chosen)


def check_game(options: "Namespace") -> dict[str, str]:
    """Return ``--rules`` and ``--ids`` as far as they are given; `Failure` as for `game_of`."""
    from locmsim.options.texts import read_options

    chosen = {one: value for one in ("rules", "ids") if (value := getattr(options, one, None))}
    if options.game is None:
        return chosen
    name, _, rest = options.game.partition(":")
    with value_errors("--game"):
        stated = read_options(f"game {name}", rest) if name == "locm" else chosen
    for one in chosen:
        if one in stated:
            raise WrongUsage(f"--{one}: does not apply with --game {options.game}")
    return chosen


def seat_from(text: str, option: str, game: "Agents", decks: str = "") -> "Seat":
    """Return who a text is; `Failure` names the option that it came from.

    With `decks`, an agent has the cards that the agent of this description chooses.
    """
    from locmsim.referee.players import seat_of

    with value_errors():
        seat = seat_of(text, option, game, decks)
        # Any other bot that cannot be started loses, as tools that run a referee expect.
        if seat.process and (text.endswith(".py") or _meant_an_agent(text, game)):
            seat.check_program()
        return seat


def _meant_an_agent(command: str, game: "Agents") -> bool:
    """Return whether a command looks like an agent's name that was not written correctly."""
    from locmsim.referee.locm_agents import LocmAgents, may_be_agent

    if not may_be_agent(command):
        return False
    name = command.partition(":")[0]
    if not isinstance(game, LocmAgents):
        return bool(game.suggest(name))
    from locmsim.agents.registry import did_you_mean

    return bool(did_you_mean(name))
