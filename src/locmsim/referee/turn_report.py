"""Where a game was lost: each turn of a match against the best turn that a search finds."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Final

from locmsim._core import State
from locmsim.decks.report import DeckReport, report_decks
from locmsim.errors import InvalidActionError
from locmsim.game.action_text import answer_actions
from locmsim.game.answers import answer_line
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.options.checks import whole
from locmsim.referee.knowledge import known_turns
from locmsim.referee.process_match import Result
from locmsim.search.analysis import line_value
from locmsim.search.belief import Belief
from locmsim.search.turn_search import BeamSearch

__all__ = [
    "LEAST_LOSS",
    "GameReport",
    "TurnReport",
    "answer_value",
    "compare_turn",
    "report_game",
    "report_turns",
]

#: Sampled worlds in which the turn played and the best one are compared.
WORLDS = 32
#: A smaller loss is noise.
LEAST_LOSS: Final = 0.02
#: Turns of each player that are shown as their worst.
WORST = 3
#: The value of an answer that ends the match.
_LOST: Final = -1.0


@dataclass(frozen=True, slots=True)
class TurnReport:
    """A turn and the best one that was found in its place.

    Attributes
    ----------
    turn : int
        Counted over both players from 0.
    player : int
        Whose turn it was.
    played : str or None
        The answer, None for none.
    best : str
        The best turn: the one found, or the one played if it was at least as good.
    value_best, value_played : float
        The player's expected results of both, from -1 to 1: the means of the same sampled worlds,
        in which the opponent's reply and the next turns are played on.
    before, after : float
        Player 0's chance of winning with the best turn and with the one played, from 0 to 1: the
        expected results from player 0's side. They differ by `loss`.
    start : State
        The position as the turn began, with any cards in the places that its player does not see.
    """

    turn: int
    player: int
    played: str | None
    best: str
    value_best: float
    value_played: float
    start: State = field(compare=False, repr=False)

    @property
    def before(self) -> float:
        """See the attributes of the class."""
        return _probability(self.value_best, self.player)

    @property
    def after(self) -> float:
        """See the attributes of the class."""
        return _probability(self.value_played, self.player)

    @property
    def loss(self) -> float:
        """What the turn played gave away of the expected result, as a share of wins from 0 to 1."""
        return (self.value_best - self.value_played) / 2

    def to_json(self) -> dict[str, Any]:
        """Return the turn as plain dicts, numbers and strings."""
        shown = {item.name: getattr(self, item.name) for item in fields(self)}
        del shown["start"]
        return {**shown, "before": self.before, "after": self.after, "loss": self.loss}


@dataclass(frozen=True, slots=True)
class GameReport:
    """All turns of a match.

    Attributes
    ----------
    turns : list of TurnReport
        In order. Turns of a player who has died from drawing are not among them.
    budget : str
        The search and what it was allowed, for people.
    decks : tuple of DeckReport, optional
        The decks of both players; None if they are not judged, or were never chosen.
    """

    turns: list[TurnReport]
    budget: str
    decks: tuple[DeckReport, DeckReport] | None = None

    def worst(self, player: int, count: int = WORST) -> list[TurnReport]:
        """Return a player's turns with the greatest losses, the worst first.

        Parameters
        ----------
        player : int
            0 or 1.
        count : int
            How many turns at most.
        """
        lost = [turn for turn in self.turns if turn.player == player and turn.loss > 0]
        return sorted(lost, key=lambda turn: (-turn.loss, turn.turn))[:count]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain dicts, lists, numbers and strings.

        Returns
        -------
        dict
            ``budget``; ``decks``, of each player, or None; ``turns``, each as its attributes but
            ``start``, and ``loss``; ``worst``, for each player the numbers of turns.
        """
        return {
            "budget": self.budget,
            "decks": self.decks and [deck.to_json() for deck in self.decks],
            "turns": [turn.to_json() for turn in self.turns],
            "worst": [[turn.turn for turn in self.worst(player)] for player in (0, 1)],
        }


def report_budget(nodes: int) -> str:
    """Describe to people what `report_turns` does with a number of positions."""
    return (
        f"beam search of at most {nodes:,} positions a turn, from what its player had been shown;"
        f" the turn played and the best one are compared in {WORLDS} sampled worlds"
    )


def report_game(
    result: Result[Match],
    *,
    nodes: int = 5000,
    seed: int = 0,
    players: Collection[int] = (0, 1),
) -> GameReport:
    """Judge the decks of a match, and compare each turn with the best one that a search finds.

    Parameters
    ----------
    result, nodes, seed, players
        As for `report_turns`.

    Returns
    -------
    GameReport
        Both decks and all turns.

    Raises
    ------
    ValueError
        As for `report_turns`.
    """
    decks = report_decks(result.match) if result.match.decks[0] else None
    turns = report_turns(result, nodes=nodes, seed=seed, players=players)
    return GameReport([*turns], report_budget(nodes), decks)


def report_turns(
    result: Result[Match],
    *,
    nodes: int = 5000,
    seed: int = 0,
    players: Collection[int] = (0, 1),
    check: Callable[[], object] | None = None,
) -> Iterator[TurnReport]:
    """Compare the turns of a match, one after the other, with the best ones that a search finds.

    The search knows what the player had been shown by then and nothing of what was hidden from
    them: what turned out badly only because of the opponent's cards is no loss. It finds a turn
    with one seed, and compares it with the turn played in worlds of another.

    Parameters
    ----------
    result : Result
        A match of the referee, or one that was replayed.
    nodes : int
        Positions of the search in each turn.
    seed : int
        Everything random follows from it.
    players : collection of int
        Whose turns.
    check : function, optional
        Called before each turn, and about twenty times a second during a search. What it raises
        ends the report.

    Yields
    ------
    TurnReport
        Of each turn in which the player could act.

    Raises
    ------
    ValueError
        `nodes` is below 1.
    """
    whole("nodes", nodes, 1)
    search = BeamSearch()
    for call, observation, belief in known_turns(result):
        assert call.turn is not None
        if check is not None:
            check()
        if call.player in players and not belief.root().is_terminal():
            yield compare_turn(
                observation,
                belief,
                call.answer,
                turn=call.turn,
                search=search,
                nodes=nodes,
                seed=seed,
                check=check,
            )


def answer_value(belief: Belief, answer: str, *, seed: int = 0) -> float:
    """Return the expected result of an answer, -1 to 1, as `compare_turn` compares it with others.

    Parameters
    ----------
    belief : Belief
        What the player knows in that turn.
    answer : str
        The answer.
    seed : int
        The seed of the report.

    Raises
    ------
    InvalidActionError
        The answer is malformed.
    """
    return line_value(belief, answer, worlds=WORLDS, seed=seed + 1)


def compare_turn(
    observation: Observation,
    belief: Belief,
    answer: str | None,
    *,
    turn: int,
    search: BeamSearch | None = None,
    nodes: int = 5000,
    seed: int = 0,
    check: Callable[[], object] | None = None,
) -> TurnReport:
    """Compare an answer in a turn with the best one that a search finds, as `report_turns` does.

    Parameters
    ----------
    observation, belief
        What the player was shown, as of `locmsim.referee.knowledge.knowledge_at`.
    answer : str or None
        The answer, which need not be the one of the match.
    turn : int
        The turn, counted over both players from 0.
    search : BeamSearch, optional
        The search; by default a new one.
    nodes, seed, check
        As for `report_turns`.

    Returns
    -------
    TurnReport
        Of the same turn the best one that is found and all values are the same each time.
    """
    root = belief.root()
    search = search or BeamSearch()
    found = search.search(observation, nodes=nodes, seed=seed, belief=belief, check=check)
    best, value = found.line, answer_value(belief, found.line, seed=seed)
    value_played = _LOST
    if answer is not None:
        with contextlib.suppress(InvalidActionError):  # it ends the match
            value_played = answer_value(belief, answer, seed=seed)
            if value_played >= value:
                best, value = answer_line(answer_actions(root, answer)), value_played
    return TurnReport(turn, root.current_player(), answer, best, value, value_played, root)


def _probability(value: float, player: int) -> float:
    """Return player 0's chance of winning, from a player's expected result."""
    return (1 + (value if player == 0 else -value)) / 2
