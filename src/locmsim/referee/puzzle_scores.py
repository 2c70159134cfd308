"""How many puzzles an agent solves."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from locmsim.contract import Fault, FaultKind, TurnResult
from locmsim.errors import InvalidActionError
from locmsim.referee.agent_process import IsolatedAgent, ready
from locmsim.referee.players import KeptAgents
from locmsim.referee.process_match import play
from locmsim.rules.rulesets import RULES
from locmsim.search.puzzles import DIFFICULTIES, Puzzle
from locmsim.stats import PairCounts, score_interval

__all__ = ["Attempt", "Solved", "attempt", "count_solved"]

#: Multiplies the time limit of a first turn: puzzles are no race.
_PATIENCE = 25.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """An agent's answer to a puzzle.

    Attributes
    ----------
    puzzle : Puzzle
        The puzzle.
    answer : str or None
        The answer, None if there was none.
    solved : bool
        Whether it wins.
    fault : Fault or None
        What was wrong with it.
    """

    puzzle: Puzzle
    answer: str | None
    solved: bool
    fault: Fault | None


class Solved(NamedTuple):
    """The number of puzzles of a difficulty that were solved.

    Attributes
    ----------
    difficulty : str
        The difficulty; empty for all puzzles.
    solved : int
        The number of puzzles that were solved.
    of : int
        The number of puzzles that were tried.
    interval : (float, float)
        The 95 % interval of the share that is solved.
    """

    difficulty: str
    solved: int
    of: int
    interval: tuple[float, float]


def attempt(
    player: Any, puzzle: Puzzle, *, seed: int = 0, kept: KeptAgents | None = None
) -> Attempt:
    """Let an agent solve a puzzle; it is asked as in the first turn of a match without a choice.

    Parameters
    ----------
    player : Agent, IsolatedAgent or Seat
        The agent; that of a seat is one of `kept`.
    puzzle : Puzzle
        The puzzle.
    seed : int
        The seed by which an agent of this process is reset.
    kept : KeptAgents, optional
        Agents that solve one puzzle after the other.

    Returns
    -------
    Attempt
        Its answer; an agent that fails has not solved the puzzle.

    Raises
    ------
    ValueError
        An `IsolatedAgent` cannot be made.
    OSError
        The machine cannot run it.
    """
    match = _OneTurn(puzzle)
    players: list[Any] = [None, None]
    if kept is not None:
        player = kept.player(player, seed, match)
    elif not isinstance(player, IsolatedAgent):
        player = ready(player, seed)
    players[match.mover] = player
    result = play(players, match, timeout_scale=_PATIENCE)
    if result.fault is not None and kept is not None:
        kept.end()
    return Attempt(puzzle, result.calls[0].answer, result.winner == match.mover, result.fault)


def count_solved(attempts: Iterable[Attempt]) -> list[Solved]:
    """Count the puzzles that were solved: all of them, then those of each difficulty there is.

    Parameters
    ----------
    attempts : iterable of Attempt
        What was answered, in any order.

    Returns
    -------
    list of Solved
        First of all puzzles together, then of each difficulty in the order of `DIFFICULTIES`.
    """
    done = [*attempts]
    found = [_counted("", done)]
    for difficulty in DIFFICULTIES:
        some = [one for one in done if one.puzzle.difficulty == difficulty]
        if some:
            found.append(_counted(difficulty, some))
    return found


def _counted(difficulty: str, attempts: Sequence[Attempt]) -> Solved:
    solved, of = sum(one.solved for one in attempts), len(attempts)
    interval = score_interval(PairCounts(lost=of - solved, won=solved))
    return Solved(difficulty, solved, of, interval)


class _OneTurn:
    """A match (`locmsim.contract.Match`) of one turn; who is asked wins by solving the puzzle."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.mover = puzzle.state.current_player()
        self.to_ask: tuple[int, ...] = (self.mover,)
        self.turn: int | None = puzzle.state.turn
        self.winner: int | None = None
        self.scores: tuple[int, int] | None = None
        self.error: Fault | None = None
        self.params: dict[str, int | str] = {}

    def input_text(self, player: int) -> str:
        return self.puzzle.state.observation(player).format()

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        return partial(agent.act, self.puzzle.state.observation(player))

    def time_limit_ms(self, player: int) -> float:
        return RULES[self.puzzle.state.rules].battle_limits_ms[0]

    def submit(self, player: int, line: str | None) -> TurnResult:
        solved = False
        if line is None:
            self.error = Fault(player, FaultKind.TIMEOUT, "there was no answer")
        else:
            try:
                solved = self.puzzle.solved_by(line)
            except InvalidActionError as error:
                self.error = Fault(player, FaultKind.MALFORMED, str(error))
        self.to_ask = ()
        self.winner = player if solved else 1 - player
        self.scores = (int(self.winner == 0), int(self.winner == 1))
        return TurnResult([], [], self.error)

    def explain(self) -> str:
        return "" if self.error is None else self.error.message

    def root(self) -> "_OneTurn":
        return _OneTurn(self.puzzle)

    def state_key(self) -> object:
        return self.winner

    @property
    def log(self) -> dict[str, Any]:
        return {"position": self.puzzle.state.to_text(), "winner": self.winner}
