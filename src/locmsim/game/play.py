"""A match between agents of this process."""

from collections.abc import Callable, Sequence
from typing import Protocol

from locmsim.game.match import Match
from locmsim.game.observation import Observation

__all__ = ["Player", "play_match"]


class Player(Protocol):
    """Whoever answers observations, as `locmsim.agents.Agent` does."""

    def choose(self, observation: Observation, /) -> str:
        """The answer line of the choice phase."""

    def act(self, observation: Observation, /) -> str:
        """The answer line of a battle turn."""


def play_match(
    match: Match,
    agents: Sequence[Player],
    on_answer: Callable[[Match, int, str], object] = lambda match, player, line: None,
) -> Match:
    """Play a match to its end, from wherever it stands.

    Parameters
    ----------
    match : Match
        It is played on; `Match.clone` keeps one as it is.
    agents : sequence of two agents
        Who answers for player 0 and for player 1, as their `reset` left them. Agents of a match
        that has begun have to have been shown what was asked so far.
    on_answer : function, optional
        Called with the match, the player and the line that they answered, before the match takes
        it.

    Returns
    -------
    Match
        `match` itself, finished.

    Raises
    ------
    ValueError
        Unless there are two agents.
    """
    if len(agents) != 2:
        raise ValueError(f"agents: expected two, got {len(agents)}")
    while match.to_ask:
        for player in match.to_ask:
            line = match.consult(agents[player], player)()
            on_answer(match, player, line)
            match.submit(player, line)
    return match
