"""A player's knowledge in a turn of a played match."""

from collections.abc import Iterator
from dataclasses import replace

from locmsim._core import State
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.process_match import Call, Result
from locmsim.rules.rulesets import RULES
from locmsim.search.belief import Belief


def replayed(result: Result[Match]) -> Iterator[tuple[Call, Match]]:
    """Yield each call of a match, and the match as it was when the player was asked.

    Parameters
    ----------
    result : Result
        As for `knowledge_at`.

    Yields
    ------
    call : Call
        The call, its answer with today's instance ids.
    match : Match
        The match, which goes on when the next call is requested.
    """
    match = result.match.root()
    for call in result.calls:
        answer = None if call.answer is None else match.decode(call.answer)
        yield replace(call, answer=answer), match
        match.submit(call.player, call.answer)


def knowledge_at(result: Result[Match], turn: int) -> tuple[Observation, Belief]:
    """Return everything that was shown to the player of a turn up to that turn.

    Parameters
    ----------
    result : Result
        A match of the referee, or one that was replayed.
    turn : int
        The turn, counted over both players from 0.

    Returns
    -------
    observation : Observation
        The observation at the start of the turn.
    belief : Belief
        The player's belief, with all their observations and choices until then.

    Raises
    ------
    ValueError
        The match has no such turn.
    """
    _check_turn(result, turn)
    return next((seen, known) for call, seen, known in known_turns(result) if call.turn == turn)


def _check_turn(result: Result[Match], turn: int) -> None:
    turns = [call.turn for call in result.calls if call.turn is not None]
    if turn not in turns:
        raise ValueError(f"the match has turns 0 to {max(turns, default=-1)}, got {turn}")


def known_turns(result: Result[Match]) -> Iterator[tuple[Call, Observation, Belief]]:
    """Yield what was shown to the players, turn by turn.

    Parameters
    ----------
    result : Result
        As for `knowledge_at`.

    Yields
    ------
    call : Call
        The turn, its answer with today's instance ids.
    observation : Observation
        The player's observation at the start of the turn.
    belief : Belief
        As for `knowledge_at`; it is updated when the next turn is requested.
    """
    beliefs = (Belief(), Belief())
    chosen = [iter(chosen) for chosen in result.match.chosen]
    draft = RULES[result.match.rules].draft
    for call, match in replayed(result):
        player, belief = call.player, beliefs[call.player]
        observation = match.observation(player)
        belief.see(observation)
        if call.turn is not None:
            yield call, observation, belief
        else:
            belief.chose([next(chosen[player])] if draft else chosen[player])


def state_at(result: Result[Match], turn: int) -> State:
    """Return the position at the start of a turn; ``ValueError`` if there is no such turn."""
    _check_turn(result, turn)
    match = next(match for call, match in replayed(result) if call.turn == turn)
    assert match.state is not None
    return match.state.clone()
