"""Bots that play Vestrock in this process: ``random``, ``rule`` and ``search``.

A bot's answer for a turn is the turn's commands without the match, joined by ``;``. `make_bot`
makes one by name; docs/vestrock.md says how strong they are.
"""

from random import Random
from typing import Protocol

from locmsim._specs import did_you_mean, make, read_options
from locmsim.vestrock._core import State

__all__ = ["BOTS", "Bot", "make_bot", "play_match", "share_of_time"]

#: Names that `make_bot` knows, weakest first.
BOTS = ("random", "rule", "search")


class Bot(Protocol):
    """What plays a side of a match, or of several at a time."""

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """The commands of the mover's turn from here to its end.

        Parameters
        ----------
        state
            A position of a match that is not over. It does not change.
        time_ms
            How long the bot may think, in milliseconds; None for its own default.

        Returns
        -------
        str
            Commands without the match, joined by ``;``. The end of the turn is no command.
        """
        ...


def as_line(state: State, actions: list[int]) -> str:
    """Actions as the answer of a bot; the end of the turn is left out."""
    return ";".join(state.action_to_string(action) for action in actions if action)


class RandomBot:
    """Plays uniformly random legal actions until the end of the turn is drawn."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)

    def turn(self, state: State, time_ms: float | None = None) -> str:
        after = state.clone()
        actions = []
        while not after.is_terminal():
            actions.append(self._random.choice(after.legal_actions()))
            if actions[-1] == 0:
                break
            after.apply_unchecked(actions[-1])
        return as_line(state, actions)


class RuleBot:
    """Plays by the rules of thumb of `locmsim.vestrock.bots._policy`; nothing is left to chance."""

    def turn(self, state: State, time_ms: float | None = None) -> str:
        from locmsim.vestrock.bots._policy import rule_line

        return as_line(state, rule_line(state))


def make_bot(name: str, seed: int = 0) -> Bot:
    """A bot by its name.

    Parameters
    ----------
    name
        One of `BOTS`. ``search`` may have settings after a colon, such as ``search:time_ms=5`` or
        ``search:nodes=2000,depth=2``.
    seed
        Where a bot's random numbers start.

    Returns
    -------
    Bot
        It keeps nothing from turn to turn but its random numbers: one bot can play many matches.

    Raises
    ------
    ValueError
        If there is no such bot or setting.
    """
    kind, _, settings = name.partition(":")
    if kind not in BOTS:
        raise ValueError(
            f"no bot {name!r}: expected one of {', '.join(BOTS)}{did_you_mean(kind, BOTS)}"
        )
    where = f"bot {kind}"
    options = read_options(where, settings)
    if kind == "search":
        from locmsim.vestrock.bots.search import SearchBot

        bot: Bot = make(where, SearchBot, options)
        return bot
    if options:
        raise ValueError(f"{where}: unknown option {next(iter(options))!r}, expected none")
    return RandomBot(seed) if kind == "random" else RuleBot()


def share_of_time(left_ms: float, matches_left: int, reserve_ms: float = 50.0) -> float:
    """How long to think about the next of several matches that are on the move.

    Parameters
    ----------
    left_ms
        Time until the turn ends, in milliseconds.
    matches_left
        Matches that have no answer yet, this one included.
    reserve_ms
        What to keep for sending the commands.

    Returns
    -------
    float
        An equal share in milliseconds, at least 0. Time that a match has not used goes to those
        after it.
    """
    return max(0.0, left_ms - reserve_ms) / max(1, matches_left)


def play_match(
    state: State, bots: tuple[Bot, Bot], time_ms: float | None = None
) -> tuple[int, int]:
    """Let two bots play a match to its end.

    Parameters
    ----------
    state
        Where they start; it does not change.
    bots
        The first and the second player.
    time_ms
        What each may think in a turn, in milliseconds; None for their own defaults.

    Returns
    -------
    tuple of int
        The scores of the first and the second player.

    Raises
    ------
    ValueError
        If a bot's command is refused.
    """
    from locmsim.vestrock.match import Match

    match = Match.from_state(state.clone())
    while match.to_ask:
        (player,) = match.to_ask
        line = bots[player].turn(match.state, time_ms)
        result = match.submit(player, line)
        if result.ignored:
            raise ValueError(f"turn {match.state.turn}: refused: {', '.join(result.ignored)}")
    scores = match.scores
    assert scores is not None
    return scores[0], scores[1]
