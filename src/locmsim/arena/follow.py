"""The results of a tournament as they grow, read from a file that another process writes."""

import os
from collections.abc import Sequence
from typing import Any

from locmsim.arena.records import Outcome
from locmsim.arena.report import as_json
from locmsim.arena.schedule import Settings
from locmsim.arena.store import Ending, Goal, Store
from locmsim.arena.tally import PairResult, Tally
from locmsim.stats import PairCounts, Sprt, score_interval

__all__ = ["Ending", "ResultsReader", "llr_curve", "score_curve"]


class ResultsReader:
    """The results in a file, brought up to date by `update`, which reads only what is new.

    The file is open only while it is read, so that its writer can close it in order. Used by
    one thread at a time.

    Parameters
    ----------
    path : str or path
        The file; it need not be there yet.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._forget()
        #: Another number whenever there is something new.
        self.version = 0

    def _forget(self) -> None:
        self.tally: Tally | None = None
        self.goal = Goal(0, None)
        #: The games by number.
        self.endings: dict[int, Ending] = {}
        self._pairs: list[PairResult] = []
        # The number of the first game that has not been played.
        self._gap = 1

    def update(self) -> Tally:
        """Read what is new.

        Returns
        -------
        Tally
            All results so far.

        Raises
        ------
        StoreError
            The file cannot be read, or holds no results of a game that is known here.
        """
        with Store(self.path) as store:
            assert store.settings is not None
            goal = store.goal or Goal(0, None)
            known = self.tally
            if (
                known is None
                or known.settings != store.settings
                or goal.sprt != self.goal.sprt
                or len(store) < len(self.endings)  # another tournament with the same settings
            ):
                self._forget()
                self.tally = known = Tally(store.settings, goal.sprt)
                self.version += 1
            if goal != self.goal:
                self.goal = goal
                self.version += 1
            before = len(self.endings)
            for outcome in store.outcomes(self._gap):
                if outcome.number not in self.endings:
                    self._add(known, outcome)
            self.version += len(self.endings) > before
        while self._gap in self.endings:
            self._gap += 1
        return known

    def _add(self, tally: Tally, outcome: Outcome) -> None:
        fault = outcome.fault
        self.endings[outcome.number] = Ending(
            outcome.number,
            outcome.players,
            outcome.winner,
            outcome.turns,
            None if fault is None else (fault.player, str(fault.kind)),
        )
        if (pair := tally.add(outcome)) is not None:
            self._pairs.append(pair)

    @property
    def settings(self) -> Settings:
        """Of the tournament that was read last."""
        assert self.tally is not None
        return self.tally.settings

    @property
    def done(self) -> bool:
        """Whether nothing more is to be played."""
        tally = self.tally
        return tally is not None and (tally.games >= self.goal.games > 0 or tally.decided)

    def to_json(self) -> dict[str, Any]:
        """The results as `locmsim.arena.Arena.to_json` has them, but for the list of faults."""
        assert self.tally is not None
        return {**as_json(self.tally), "goal": self.goal.games}

    def score_curve(self, player: int, points: int = 200) -> dict[str, list[float]]:
        """How the score of a player developed, see `score_curve`."""
        return score_curve(self._pairs, player, self.settings.games_per_meeting, points)

    def llr_curve(self, points: int = 200) -> dict[str, list[float]] | None:
        """How the sequential test developed, see `llr_curve`; None without one."""
        if self.goal.sprt is None:
            return None
        return llr_curve(self._pairs, self.goal.sprt, points)


def score_curve(
    pairs: Sequence[PairResult], player: int, games_per_pair: int, points: int
) -> dict[str, list[float]]:
    """A player's score and its 95 % interval after more and more games.

    Parameters
    ----------
    pairs : sequence of PairResult
        In any order; they count in that of the schedule.
    player : int
        Index of the player.
    games_per_pair : int
        As the tournament has it.
    points : int
        How many points the curve has at most, at least 2; the last one stands for all pairs.

    Returns
    -------
    dict
        ``games``, ``score``, ``low`` and ``high``: lists of equal length.
    """
    curve: dict[str, list[float]] = {"games": [], "score": [], "low": [], "high": []}
    mine = [pair for pair in sorted(pairs) if player in pair.pairing]
    counts = PairCounts()
    shown = _shown(len(mine), points)
    for i, pair in enumerate(mine, 1):
        counts.add(pair.score if pair.pairing[0] == player else 1 - pair.score)
        if i in shown:
            curve["games"].append(i * games_per_pair)
            curve["score"].append(counts.score)
            low, high = score_interval(counts)
            curve["low"].append(low)
            curve["high"].append(high)
    return curve


def llr_curve(pairs: Sequence[PairResult], sprt: Sprt, points: int) -> dict[str, list[float]]:
    """The logarithm of the likelihood ratio after more and more pairs.

    Parameters
    ----------
    pairs : sequence of PairResult
        In any order. They count in that of the schedule: up to the first one that is missing, or to
        the one at which the test decides.
    sprt : Sprt
        The test.
    points : int
        How many points the curve has at most, at least 2; the last one is where the test stands.

    Returns
    -------
    dict
        ``pairs`` and ``llr``: lists of equal length.
    """
    counts = PairCounts()
    steps: list[float] = []
    for number, pair in enumerate(sorted(pairs)):
        if pair.number != number:
            break
        counts.add(pair.score)
        state = sprt.state(counts)
        steps.append(state.llr)
        if state.accepted is not None:
            break
    shown = sorted(_shown(len(steps), points))
    return {"pairs": [float(i) for i in shown], "llr": [steps[i - 1] for i in shown]}


def _shown(count: int, points: int) -> set[int]:
    """At most so many of 1..count, evenly spread, the last one among them."""
    return {round(count * i / points) for i in range(1, points + 1)} - {0}
