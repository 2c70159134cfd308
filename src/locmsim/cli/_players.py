"""Bots on the command line: the command of a program, or the name of an agent."""

import re
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import Failure

if TYPE_CHECKING:
    from locmsim.contract import Game

__all__ = ["as_bot"]

#: Text that may name an agent. Most commands of programs do not match, and then the agents are
#: not imported: a referee is started once for every game.
_MAYBE_AGENT = re.compile(r"[\w.+-]+(:.*)?|.+\.py:[^\W\d]\w*(:.*)?", re.DOTALL)


def as_bot(text: str, option: str, *, game: "Game | None" = None, rules: str | None = None) -> Any:
    """Return the agent that a text names, or the text itself if it is a program's command.

    Without a `game`, agents are those of Legends of Code and Magic; with `rules`, an agent that
    does not play them is refused. `Failure` names the option that the text came from.
    """
    if text.endswith(".py"):
        from locmsim.referee.process import python_file_hint

        if hint := python_file_hint(text):
            raise Failure(f"{option}: {hint}", code=2)
    if not _MAYBE_AGENT.fullmatch(text):
        return text
    if game is None:
        from locmsim.agents.registry import check_rules, did_you_mean, is_agent, make_agent

        hint = did_you_mean(text.partition(":")[0])
    else:
        is_agent, make_agent = game.is_agent, game.make_agent  # type: ignore[assignment]
        hint = game.suggest(text.partition(":")[0])
    if is_agent(text):
        try:
            agent = make_agent(text)
            return agent if game or rules is None else check_rules(agent, rules)
        except ValueError as error:
            raise Failure(f"{option}: {error}", code=2) from None
    import shutil

    if hint and shutil.which(text) is None:
        raise Failure(f"{option}: no program and no agent is called {text!r}{hint}", code=2)
    return text
