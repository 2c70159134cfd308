"""Bots on the command line: the command of a program, or the name of an agent."""

from functools import partial
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import Failure

if TYPE_CHECKING:
    from argparse import Namespace

    from locmsim.contract import Game
    from locmsim.referee.agent_process import AgentFacts

__all__ = ["as_bot", "check_game", "chooser_of", "facts_of_bot", "game_of"]


def game_of(options: "Namespace") -> Any:
    """Return the game of ``--game``, with ``--rules`` and ``--ids`` as far as a command has them.

    These are options of Legends of Code and Magic: with another game, or one that says the same,
    they are an error.
    """
    from locmsim.arena import make_game

    chosen = check_game(options)
    try:
        return make_game(options.game or "locm", **chosen)
    except ValueError as error:
        raise Failure(f"--game: {error}", code=2) from None


def check_game(options: "Namespace") -> dict[str, str]:
    """Return ``--rules`` and ``--ids`` as far as they are given; `Failure` as for `game_of`."""
    from locmsim._specs import read_options

    chosen = {one: value for one in ("rules", "ids") if (value := getattr(options, one, None))}
    if options.game is None:
        return chosen
    name, _, rest = options.game.partition(":")
    try:
        stated = read_options(f"game {name}", rest) if name == "locm" else chosen
    except ValueError as error:
        raise Failure(f"--game: {error}", code=2) from None
    for one in chosen:
        if one in stated:
            raise Failure(f"--{one}: does not apply with --game {options.game}", code=2)
    return chosen


def as_bot(text: str, option: str, *, game: "Game | None" = None, rules: str | None = None) -> Any:
    """Return the agent that a text names, or the text itself if it is a program's command.

    An agent with code of others is not made in this process, which it might end: what makes it
    elsewhere is returned as a ``partial``. Without a `game`, agents are those of Legends of Code
    and Magic; with `rules`, an agent that does not play them is refused. `Failure` names the option
    that the text came from.
    """
    from locmsim.referee.locm_agents import LocmAgents
    from locmsim.referee.players import agent_of, check_program, is_foreign_text

    agents = LocmAgents(rules) if game is None else game
    if is_foreign_text(text, agents):
        return partial(agent_of, text, option, agents)
    try:
        agent = agent_of(text, option, agents)
        # Any other bot that cannot be started loses, as tools that run a referee expect.
        if agent is None and (text.endswith(".py") or _meant_an_agent(text, game)):
            check_program(text, option, agents)
    except ValueError as error:
        raise Failure(error, code=2) from None
    return text if agent is None else agent


def facts_of_bot(bot: Any) -> "AgentFacts | None":
    """Return what is known of an agent that `as_bot` returned; None for a program.

    An agent of others is made in a process of its own; `Failure` if that is not possible.
    """
    if isinstance(bot, str):
        return None
    if not isinstance(bot, partial):
        from locmsim.referee.agent_process import facts_of

        return facts_of(bot)
    from locmsim.referee.players import known_of

    try:
        return known_of(*bot.args)
    except ValueError as error:
        raise Failure(error, code=2) from None


def chooser_of(text: str) -> str:
    """Return the description of the agent of ``--decks``; `Failure` if there is none."""
    from locmsim.agents.combined import chooser_description

    try:
        return chooser_description(text)
    except ValueError as error:
        raise Failure(f"--decks: {error}", code=2) from None


def _meant_an_agent(command: str, game: "Game | None") -> bool:
    """Return whether a command looks like an agent's name that was not written correctly."""
    from locmsim.referee.locm_agents import may_be_agent

    if not may_be_agent(command):
        return False
    name = command.partition(":")[0]
    if game is not None:
        return bool(game.suggest(name))
    from locmsim.agents.registry import did_you_mean

    return bool(did_you_mean(name))
