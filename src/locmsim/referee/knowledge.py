"""What a player knew in a turn of a match that was played."""

from typing import Any

from locmsim._core import State
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.matches import Result
from locmsim.rules.rulesets import RULES
from locmsim.search.belief import Belief

__all__ = ["knowledge_at", "state_at"]


def knowledge_at(result: Result[Match], turn: int) -> tuple[Observation, Belief]:
    """What was shown to the player of a turn, then and until then.

    Parameters
    ----------
    result : Result
        A match of the referee, or one that was replayed.
    turn : int
        The turn, counted over both players from 0.

    Returns
    -------
    observation : Observation
        What they were shown at its start.
    belief : Belief
        It has seen all that they were shown until then, and knows what they chose.

    Raises
    ------
    ValueError
        The match has no such turn.
    """
    players = {call.turn: call.player for call in result.calls if call.turn is not None}
    if turn not in players:
        raise ValueError(f"the match has turns 0 to {max(players, default=-1)}, got {turn}")
    player = players[turn]
    belief = Belief()
    taken = iter(result.match.chosen[player])
    unfinished: dict[str, Any] = {"answers": [], "winner": None, "scores": None, "error": None}
    match = Match.replay({**result.match.log, **unfinished})
    for call in result.calls:
        if call.player == player:
            observation = match.observation(player)
            belief.see(observation)
            if call.turn == turn:
                break
            if call.turn is None:
                belief.chose([next(taken)] if RULES[match.rules].draft else taken)
        match.submit(call.player, call.answer)
    return observation, belief


def state_at(result: Result[Match], turn: int) -> State:
    """The position at the start of a turn of a match; ``ValueError`` if there is no such turn."""
    turns = [call.turn for call in result.calls if call.turn is not None]
    if turn not in turns:
        raise ValueError(f"the match has turns 0 to {max(turns, default=-1)}, got {turn}")
    unfinished: dict[str, Any] = {"answers": [], "winner": None, "scores": None, "error": None}
    match = Match.replay({**result.match.log, **unfinished})
    for call in result.calls:
        if call.turn == turn:
            break
        match.submit(call.player, call.answer)
    assert match.state is not None
    return match.state.clone()
