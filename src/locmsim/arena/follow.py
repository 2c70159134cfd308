"""The results of a running tournament, read from the file that another process writes."""

import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

from locmsim.arena.records import Outcome
from locmsim.arena.report import as_json
from locmsim.arena.schedule import Settings
from locmsim.arena.store import Store
from locmsim.arena.tally import PairResult, Tally
from locmsim.stats import PairCounts, Sprt, score_interval

#: Number of games up to which a tournament is read game by game, and number of points at which the
#: sums of a longer one are read.
_FEW, _PLACES = 400, 64


class ResultsReader:
    """The results in a file, brought up to date by `update`, which reads only what is new.

    Most games are read as the sums stored in the file, so that opening 100,000 games takes about as
    long as opening a few hundred.

    The file is open only while it is read, so that its writer can close it properly. One object is
    used by one thread at a time.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._forget()
        #: A number that changes whenever there is something new.
        self.version = 0

    def _forget(self) -> None:
        self.tally: Tally | None = None
        #: Sums after some numbers of games, and the pairs after the last of them.
        self._before: list[Tally] = []
        self._pairs: list[PairResult] = []
        #: The number of the first missing game, and the games played after it.
        self._gap = 1
        self._played: set[int] = set()
        self._last = 0
        self._left = 0
        #: Number of games that were read one by one, for tests.
        self.games_read = 0

    def update(self) -> Tally:
        """Read what is new."""
        with Store(self.path) as store:
            known = self.tally
            if (
                known is None
                or known.settings != store.settings
                or store.last() < self._last  # another tournament with the same settings
            ):
                self._forget()
                self.tally = known = self._begin(store)
                self.version += 1
            before = known.games
            for outcome in store.outcomes(self._gap):
                if outcome.number not in self._played:
                    self._add(known, outcome)
            self.version += known.games > before
            self._left = store.left()
        while self._gap in self._played:
            self._played.remove(self._gap)
            self._gap += 1
        return known

    def _begin(self, store: Store) -> Tally:
        """Return the sums of the first games, of none if these are few."""
        if store.last() > _FEW and (known := store.sums()) is not None:
            self._before = store.sums_between(_PLACES)
            self._gap = known.games + 1
            self._last = known.games
            if self._before[-1].games < known.games:
                self._before.append(Tally.from_json(known.to_json(), store.settings))
            return known
        return Tally(store.settings)

    def _add(self, tally: Tally, outcome: Outcome) -> None:
        self.games_read += 1
        self._played.add(outcome.number)
        self._last = max(self._last, outcome.number)
        if (pair := tally.add(outcome)) is not None:
            self._pairs.append(pair)

    @property
    def settings(self) -> Settings:
        """The settings of the tournament that was read last."""
        assert self.tally is not None
        return self.tally.settings

    @property
    def finished(self) -> bool:
        """Whether the tournament is over: all games are played, or its test has decided."""
        return self.tally is not None and (not self._left or self.tally.decided)

    def to_json(self) -> dict[str, Any]:
        """Return the results as `locmsim.arena.Arena.to_json` does, without the list of faults."""
        assert self.tally is not None
        return as_json(self.tally)

    def score_curve(self, player: int, points: int = 200) -> dict[str, list[float]]:
        """Return the score of a player over time, see `score_curve`."""
        before = [tally.player_pairs(player) for tally in self._before]
        return score_curve(self._pairs, player, self.settings.games_per_meeting, points, before)

    def llr_curve(self, points: int = 200) -> dict[str, list[float]] | None:
        """Return the progress of the sequential test, see `llr_curve`, or None without a test."""
        if (sprt := self.settings.sprt) is None:
            return None
        before = [tally.player_pairs(sprt.player) for tally in self._before]
        return llr_curve(self._pairs, sprt, points, before)


def score_curve(
    pairs: Sequence[PairResult],
    player: int,
    games_per_pair: int,
    points: int,
    before: Sequence[PairCounts] = (),
) -> dict[str, list[float]]:
    """Return a player's score and its 95 % interval after increasing numbers of games."""
    curve: dict[str, list[float]] = {"games": [], "score": [], "low": [], "high": []}
    mine = [pair for pair in sorted(pairs) if player in pair.pairing]
    for counts in _growing(before, mine, player, _shown(len(mine), points)):
        if counts.total:
            found = counts.total * games_per_pair, counts.score, *score_interval(counts)
            for values, one in zip(curve.values(), found, strict=True):
                values.append(one)
    return curve


def llr_curve(
    pairs: Sequence[PairResult], sprt: Sprt, points: int, before: Sequence[PairCounts] = ()
) -> dict[str, list[float]]:
    """Return the log-likelihood ratio after increasing numbers of pairs."""
    first = before[-1].total if before else 0
    # Up to the first one that is missing.
    known = [pair for i, pair in enumerate(sorted(pairs), first) if pair.number == i]
    steps = []
    for counts in _growing(before, known, sprt.player):
        state = sprt.state(counts)
        steps.append((float(counts.total), state.llr))
        if state.accepted is not None:
            break
    old = len(before)
    shown = sorted(_shown(max(0, len(steps) - old), points))
    steps = [*steps[:old], *(steps[old + i - 1] for i in shown)]
    return {"pairs": [count for count, _ in steps], "llr": [llr for _, llr in steps]}


def _growing(
    before: Sequence[PairCounts],
    pairs: Sequence[PairResult],
    player: int,
    shown: Container[int] | None = None,
) -> Iterator[PairCounts]:
    """Yield the counts of earlier pairs, then with each of these, or with those at some places."""
    yield from before
    counts = replace(before[-1]) if before else PairCounts()
    for i, pair in enumerate(pairs, 1):
        counts.add(pair.score if pair.pairing[0] == player else 1 - pair.score)
        if shown is None or i in shown:
            yield counts


def _shown(count: int, points: int) -> set[int]:
    """Return at most `points` evenly spread numbers of 1..count, including the last."""
    return {round(count * i / points) for i in range(1, points + 1)} - {0}
