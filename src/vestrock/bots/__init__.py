"""Bots that play Vestrock in this process: ``random``, ``rule`` and ``search``.

A bot's answer for a turn consists of the commands of the turn without the match id, joined by
``;``. `make_bot` creates a bot by name; docs/vestrock/rules.md lists their strengths.
"""

from collections.abc import Callable
from typing import Any, Final

from locmsim.gamekit import did_you_mean, make, read_options
from vestrock.bots.base import Bot, RandomBot, RuleBot, share_of_time
from vestrock.bots.search import SearchBot

__all__ = ["BOTS", "Bot", "RandomBot", "RuleBot", "SearchBot", "make_bot", "share_of_time"]

#: The classes by the names that `make_bot` knows, weakest first.
BOTS: Final[dict[str, Callable[..., Any]]] = {
    "random": RandomBot,
    "rule": RuleBot,
    "search": SearchBot,
}


def make_bot(description: str, seed: int = 0) -> Bot:
    """Create a bot by its name.

    Parameters
    ----------
    description
        One of `BOTS`; its options may follow after a colon, such as ``search:time_ms=5`` or
        ``search:nodes=2000,depth=2``.
    seed
        Seed of the bot's random numbers.

    Returns
    -------
    Bot
        A bot. Its only state is its random numbers, so that one bot can play many matches.

    Raises
    ------
    ValueError
        The bot or an option is unknown.
    """
    name, _, options = description.partition(":")
    if name not in BOTS:
        raise ValueError(
            f"no bot {name!r}: expected one of {', '.join(BOTS)}{did_you_mean(name, BOTS)}"
        )
    where = f"bot {name}"
    bot: Bot = make(where, BOTS[name], read_options(where, options))
    bot.reset(seed)
    return bot
