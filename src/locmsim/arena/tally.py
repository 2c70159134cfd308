"""Results added up, one game at a time."""

from collections import Counter
from dataclasses import astuple, dataclass, field, fields
from typing import Any, NamedTuple

from locmsim.arena.records import Outcome, Times
from locmsim.arena.schedule import Settings
from locmsim.stats import PairCounts, SprtState


class PairResult(NamedTuple):
    """The result of a mirrored pair of games, or of one game if games are not mirrored.

    Attributes
    ----------
    number : int
        Position in the schedule, from 0.
    pairing : pair of int
        Indices of the two players.
    score : float
        The first player's score, 0 to 1.
    """

    number: int
    pairing: tuple[int, int]
    score: float


@dataclass(slots=True)
class PlayerTally:
    """The totals of one player.

    Parameters
    ----------
    games, wins, draws : list of int
        Games by seat.
    points : int
        The sum of the match's scores, for games in which not only the winner matters.
    times : Times
        The number of turns and their times.
    late : int
        Number of turns that took longer than the rules allow.
    faults : Counter
        Faults by kind.
    illegal : Counter
        Illegal actions by reason.
    """

    games: list[int] = field(default_factory=lambda: [0, 0])
    wins: list[int] = field(default_factory=lambda: [0, 0])
    draws: list[int] = field(default_factory=lambda: [0, 0])
    points: int = 0
    times: Times = field(default_factory=lambda: Times(0, 0, 0))
    late: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    illegal: Counter[str] = field(default_factory=Counter)


class Tally:
    """The running totals behind all tables.

    Parameters
    ----------
    settings : Settings
        The tournament.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sprt = sprt = settings.sprt
        #: Number of games and of turns in them.
        self.games = 0
        self.turns = 0
        self.players = [PlayerTally() for _ in settings.players]
        #: Pairs by pairing, counted for its first player.
        self.pairs = {pairing: PairCounts() for pairing in settings.pairings}
        # Incomplete pairs by number.
        self._open: dict[int, float] = {}
        # The sequential test counts pairs in the order of the schedule, not in the order in which
        # they end: otherwise short games would have more weight.
        self._tested = PairCounts()
        self._untested: dict[int, float] = {}  # None once it has decided
        #: The state of the test, which no longer changes after its decision.
        self.sprt_state: SprtState | None = None if sprt is None else sprt.state(self._tested)

    def add(self, outcome: Outcome) -> PairResult | None:
        """Count one game.

        Parameters
        ----------
        outcome : Outcome
            How the game ended.

        Returns
        -------
        PairResult or None
            The pair that this game completed, if any.
        """
        self.games += 1
        self.turns += outcome.turns
        for seat, index in enumerate(outcome.players):
            player = self.players[index]
            player.games[seat] += 1
            player.wins[seat] += outcome.winner == seat
            player.draws[seat] += outcome.winner is None
            player.points += outcome.scores[seat]
            player.times = player.times.plus(outcome.times[seat])
            player.late += outcome.late[seat]
            player.illegal.update(outcome.illegal[seat])
        if outcome.fault is not None:
            self.players[outcome.players[outcome.fault.player]].faults[outcome.fault.kind] += 1
        return self._add_to_pair(outcome)

    def _add_to_pair(self, outcome: Outcome) -> PairResult | None:
        first, second = outcome.players
        pairing = (first, second) if (first, second) in self.pairs else (second, first)
        score = 0.5
        if outcome.winner is not None:
            score = float(outcome.players[outcome.winner] == pairing[0])
        pair = (outcome.number - 1) // self.settings.games_per_meeting
        if self.settings.mirror:
            if pair not in self._open:
                self._open[pair] = score
                return None
            score = (score + self._open.pop(pair)) / 2
        self.pairs[pairing].add(score)
        if self.sprt is not None and not self.decided:
            self._untested[pair] = score if self.sprt.player == pairing[0] else 1 - score
            while not self.decided and self._tested.total in self._untested:
                self._tested.add(self._untested.pop(self._tested.total))
                self.sprt_state = self.sprt.state(self._tested)
        return PairResult(pair, pairing, score)

    def grow(self, settings: Settings) -> None:
        """Count on with further pairings.

        Parameters
        ----------
        settings : Settings
            The tournament, with a longer schedule.
        """
        self.settings = settings
        for pairing in settings.pairings:
            self.pairs.setdefault(pairing, PairCounts())

    def player_pairs(self, index: int) -> PairCounts:
        """Return all pairs of a player, counted for that player.

        Parameters
        ----------
        index : int
            The index of the player.
        """
        total = PairCounts()
        for other in range(len(self.players)):
            total.add_all(self.pairs_of(index, other))
        return total

    def pairs_of(self, index: int, other: int) -> PairCounts:
        """Return the pairs of two players, counted for the first of them.

        Parameters
        ----------
        index, other : int
            The indices of the players.
        """
        counts = self.pairs.get((other, index), PairCounts()).reversed()
        return self.pairs.get((index, other), counts)

    def to_json(self) -> dict[str, Any]:
        """Return the totals as plain data; ``ValueError`` while a pair is incomplete."""
        if self._open or (self._untested and not self.decided):
            raise ValueError("a game of a pair is missing")
        return {
            "games": self.games,
            "turns": self.turns,
            "players": [
                {item.name: getattr(sums, item.name) for item in fields(sums)}
                for sums in self.players
            ],
            "pairs": [astuple(counts) for counts in self.pairs.values()],
            "tested": astuple(self._tested),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], settings: Settings) -> "Tally":
        """Return the totals that `to_json` returned.

        Parameters
        ----------
        data : dict
            What `to_json` returned.
        settings : Settings
            The tournament that the sums belong to.
        """
        tally = cls(settings)
        tally.games, tally.turns = data["games"], data["turns"]
        tally.players = [
            PlayerTally(
                **{
                    **sums,
                    "times": Times(*sums["times"]),
                    "faults": Counter(sums["faults"]),
                    "illegal": Counter(sums["illegal"]),
                }
            )
            for sums in data["players"]
        ]
        tally.pairs = {
            pairing: PairCounts(*counts)
            for pairing, counts in zip(settings.pairings, data["pairs"], strict=True)
        }
        tally._tested = PairCounts(*data["tested"])
        if tally.sprt is not None:
            tally.sprt_state = tally.sprt.state(tally._tested)
        return tally

    @property
    def decided(self) -> bool:
        """Whether the sequential test has ended."""
        return self.sprt_state is not None and self.sprt_state.accepted is not None
