"""Results in an SQLite file, written as games finish.

A file holds one tournament: its settings and a row for each game that was played. While it runs,
the file is in WAL mode with synchronous=NORMAL: a killed process loses nothing, a power cut at most
the last games, and other processes can read. At the end it is a single file again.
"""

import contextlib
import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from locmsim.arena.game_store import (
    ALL_GAMES,
    GameQuery,
    GameRow,
    GameStore,
    fault_row,
    index_statements,
)
from locmsim.arena.records import Answer, Outcome, Record, Times
from locmsim.arena.schedule import Settings
from locmsim.arena.tally import Tally
from locmsim.contract import Fault, FaultKind, Part
from locmsim.support.database import Kind

_log = logging.getLogger(__name__)

_TABLES = f"""
CREATE TABLE tournament (
    settings TEXT NOT NULL
);
CREATE TABLE sums (
    games INTEGER PRIMARY KEY,
    data TEXT NOT NULL
);
CREATE TABLE players (
    player INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    spec TEXT NOT NULL
);
CREATE TABLE games (
    game INTEGER PRIMARY KEY,
    player0 INTEGER NOT NULL REFERENCES players,
    player1 INTEGER NOT NULL REFERENCES players,
    seed INTEGER NOT NULL,
    winner INTEGER,
    score0 INTEGER NOT NULL,
    score1 INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    fault_seat INTEGER,
    fault_kind TEXT,
    fault_message TEXT,
    turns0 INTEGER NOT NULL,
    total_ns0 INTEGER NOT NULL,
    worst_ns0 INTEGER NOT NULL,
    cpu_ns0 INTEGER NOT NULL,
    worst_cpu_ns0 INTEGER NOT NULL,
    late0 INTEGER NOT NULL,
    turns1 INTEGER NOT NULL,
    total_ns1 INTEGER NOT NULL,
    worst_ns1 INTEGER NOT NULL,
    cpu_ns1 INTEGER NOT NULL,
    worst_cpu_ns1 INTEGER NOT NULL,
    late1 INTEGER NOT NULL,
    illegal0 TEXT,
    illegal1 TEXT,
    stderr0 BLOB,
    stderr1 BLOB,
    words BLOB,
    elapsed_ns INTEGER NOT NULL,
    answers BLOB NOT NULL
);
{index_statements()}CREATE VIEW results AS
    SELECT games.game, first.name AS first, second.name AS second, games.seed,
        CASE winner WHEN 0 THEN first.name WHEN 1 THEN second.name END AS winner,
        score0, score1, turns, fault_kind, fault_message
    FROM games
    JOIN players AS first ON first.player = player0
    JOIN players AS second ON second.player = player1;
"""
#: Games per pairing between two stored sums, from which tables are made without reading all games.
_BLOCK = 16
_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * 30)})"
_OUTCOME = (
    "SELECT game, player0, player1, winner, score0, score1, turns, fault_seat, fault_kind,"
    " fault_message, turns0, total_ns0, worst_ns0, cpu_ns0, worst_cpu_ns0, late0, turns1,"
    " total_ns1, worst_ns1, cpu_ns1, worst_cpu_ns1, late1,"
    " illegal0, illegal1"
)
#: The index of lists has all but the message.
_LISTED = (
    "game, player0, player1, winner, turns, fault_seat, fault_kind,"
    " CASE WHEN fault_kind IS NOT NULL THEN"
    " (SELECT fault_message FROM games AS whole WHERE whole.game = games.game) END"
)
#: Quick, and answers shrink to about a third: lists of cards and actions repeat themselves.
_ZLIB_LEVEL = 1
_RECORD = f"{_OUTCOME}, stderr0, stderr1, words, elapsed_ns, answers"


class StoreError(RuntimeError):
    """A file of results cannot be read or written; the message names it."""


class NoResultsError(StoreError):
    """The file does not exist or is still empty."""


class Store(GameStore):
    """An open file of results; a context manager.

    With `write`, the file is created if it does not exist, is locked against other writers, and
    `save` stores the tournament. Otherwise it must exist and is only read. `StoreError` says what
    is wrong with the file.
    """

    kind = Kind(
        application=0x4C4F434D,  # "LOCM"
        version=7,
        tables=_TABLES,
        file="a file of results",
        content="results of an arena",
        writer="process",
        error=StoreError,
        missing=NoResultsError,
    )
    #: The tournament in the file, if there is one.
    settings: Settings

    def __init__(self, path: str | os.PathLike[str], *, write: bool = False) -> None:
        super().__init__(path, write=write)
        #: Whether there is a tournament in the file.
        self.begun = False
        #: Sums of the first games, a multiple of the block size.
        self._sums: Tally | None = None
        self._ahead = False
        try:
            with self._errors("open"):
                self._read_settings()
            if not (self.begun or write):
                self._refuse_empty()
        except BaseException:
            self.close()
            raise

    def save(self, settings: Settings) -> None:
        """Store a new tournament, or other settings of the same one, and players that are new."""
        execute = self._connection.execute
        with self._errors("write to"), self._writing():
            if not self.begun:
                self._make_tables()
            execute("DELETE FROM tournament")
            execute("INSERT INTO tournament VALUES (?)", [json.dumps(settings.to_json())])
            for i, player in enumerate(settings.players):
                row = [i, player.name, player.spec]
                execute("INSERT OR IGNORE INTO players VALUES (?, ?, ?)", row)
            if self.begun and _summed_up(settings) != _summed_up(self.settings):
                execute("DELETE FROM sums")
                self._sums = None
        if not self.begun:
            _log.info("%s: new file of results", self.path)
        self.settings, self.begun = settings, True

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Return a transaction; the first is where the file begins to have a log."""
        if not self._ahead:
            self._log_ahead()
            self._ahead = True
        with self._transaction():
            yield

    def missing(self) -> Iterator[int]:
        """Yield the games with known pairings that are to be played and are not."""
        played, retired = self.numbers(), {*self.settings.retired}
        for number in range(1, self.settings.scheduled + 1):
            if number in played:
                continue
            if not (retired and retired & {*self.settings.fixture(number).players}):
                yield number

    def left(self) -> int:
        """Return how many games are to be played, whatever a sequential test says."""
        count = self.settings.count
        if self.settings.retired:
            return count - self.settings.scheduled + sum(1 for _ in self.missing())
        ((played,),) = self._ask(
            "SELECT count(*) FROM games WHERE game <= :count", {"count": count}
        )
        return count - int(played)

    def _read_settings(self) -> None:
        """Read the settings, if there are any."""
        with self._transaction("DEFERRED"):  # one consistent snapshot
            if self._is_empty():
                return
            ((text,),) = self._connection.execute("SELECT settings FROM tournament")
        try:
            self.settings, self.begun = Settings.from_json(json.loads(text)), True
        except ValueError as error:
            raise StoreError(f"{self.path}: {error}") from None

    def close(self) -> None:
        """Close the file; one that this object has created and that has no games is removed."""
        empty = False
        try:
            # The log of writes is merged into the file; if the disk is full it stays beside it.
            with contextlib.suppress(sqlite3.Error):
                if self._created:
                    ((rows,),) = self._connection.execute("SELECT count(*) FROM sqlite_master")
                    if rows:
                        ((rows,),) = self._connection.execute("SELECT count(*) FROM games")
                    empty = not rows
                if self._lock is not None:
                    self._connection.execute("PRAGMA journal_mode = DELETE")
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            if empty:
                with contextlib.suppress(OSError, StoreError):
                    self.check_present()
                    os.unlink(self.path)
        finally:
            super().close()

    # ------------------------------------------------------------------------------- games

    def add_all(self, records: list[Record]) -> None:
        """Write games that are not stored yet, all or, with a `StoreError`, none."""
        rows = [_row(record) for record in records]
        self.check_present()
        with self._errors("write to"), self._writing():
            self._connection.executemany(_INSERT, rows)
            self._sum_up()

    def _sum_up(self) -> None:
        """Store the sums of further complete blocks of games."""
        if self._sums is None:
            self._sums = self.sums() or Tally(self.settings)
        block = _BLOCK * len(self.settings.pairings)
        while True:
            done = self._sums.games
            query = "SELECT count(*) FROM games WHERE game > ? AND game <= ?"
            ((count,),) = self._connection.execute(query, [done, done + block])
            if count < block:
                return
            query = f"{_OUTCOME} FROM games WHERE game > ? AND game <= ? ORDER BY game"
            for row in self._connection.execute(query, [done, done + block]):
                self._sums.add(_outcome(row))
            text = json.dumps(self._sums.to_json(), separators=(",", ":"))
            self._connection.execute("INSERT INTO sums VALUES (?, ?)", [done + block, text])

    def tally(self) -> Tally:
        """Return the sums of all games: those stored, with the games behind them one by one."""
        tally = self.sums() or Tally(self.settings)
        for outcome in self.outcomes(tally.games + 1):
            tally.add(outcome)
        return tally

    def sums(self) -> Tally | None:
        """Return the stored sums of the first games; None if there are none."""
        return next(iter(self._summed("ORDER BY games DESC LIMIT 1")), None)

    def sums_between(self, points: int) -> list[Tally]:
        """Return sums as `sums` does, at about `points` places up to there."""
        last = self.sums()
        games = 0 if last is None else last.games
        block = _BLOCK * len(self.settings.pairings)
        step = block * -(-games // (block * points)) or block
        places = ", ".join(map(str, range(step, games + 1, step)))
        return self._summed(f"WHERE games IN ({places}) ORDER BY games")

    def _summed(self, where: str) -> list[Tally]:
        rows = self._ask(f"SELECT data FROM sums {where}")
        return [Tally.from_json(json.loads(data), self.settings) for (data,) in rows]

    def numbers(self) -> set[int]:
        """Return the numbers of the games that were played."""
        with self._errors("read"):
            return {number for (number,) in self._connection.execute("SELECT game FROM games")}

    def outcomes(self, first: int = 1, lost_by: str = "") -> Iterator[Outcome]:
        """Return the games from number `first` on, by number, as far as tables need them.

        With `lost_by`, only those that this player lost.
        """
        where, values = self._conditions(GameQuery(lost_by=lost_by))
        conditions = " AND ".join(["game >= :first", *where])
        query = f"{_OUTCOME} FROM games WHERE {conditions} ORDER BY game"
        with self._errors("read"):
            for row in self._connection.execute(query, {**values, "first": first}):
                yield _outcome(row)

    def listed(
        self, query: GameQuery = ALL_GAMES, before: int | None = None, count: int | None = None
    ) -> list[GameRow]:
        """Return what a list shows of games, the latest first.

        Only games with lower numbers than `before`, not more than `count`.
        """
        title = "" if Part.REPLAY in self.settings.game.parts else self.settings.game.title
        names = [player.name for player in self.settings.players]
        return [
            GameRow(
                (names[first], names[second]),
                winner,
                turns,
                fault_row(*fault),
                self.rules,
                title,
                self.path,
                number,
                place=number,
            )
            for number, first, second, winner, turns, *fault in self._select(
                _LISTED, query, before, count
            )
        ]

    def player(self, name: str) -> int | None:
        """Return the number of a player; None if there is no such player."""
        names = [player.name for player in self.settings.players]
        return names.index(name) if name in names else None

    @property
    def rules(self) -> str | None:
        """The rule set of all games; None if pages cannot replay them."""
        game: Any = self.settings.game
        rules: str | None = game.rules if Part.REPLAY in game.parts else None
        return rules

    def rule_sets(self) -> set[str]:
        """Return the rule sets of the games."""
        return set() if self.rules is None else {self.rules}

    def failed(self) -> Iterator[tuple[Outcome, str]]:
        """Yield the games that ended by a fault, with the last output of the player at fault."""
        with self._errors("read"):
            query = (
                f"{_OUTCOME}, stderr0, stderr1 FROM games INDEXED BY games_failed"
                " WHERE fault_kind IS NOT NULL ORDER BY game"
            )
            for *columns, stderr0, stderr1 in self._connection.execute(query):
                outcome = _outcome(columns)
                assert outcome.fault is not None
                yield outcome, _unpacked(stderr1 if outcome.fault.player else stderr0)

    def game(self, number: int) -> Record:
        """Return everything stored of a game; `StoreError` if it was not played."""
        with self._errors("read"):
            query = f"{_RECORD} FROM games WHERE game = ?"
            fits = abs(number) < 1 << 63  # SQLite has no larger ones
            row = self._connection.execute(query, [number]).fetchone() if fits else None
        if row is None:
            raise StoreError(f"{self.path}: has no game {number}")
        return self._record(row)

    def records(self, after: int = 0, count: int | None = None) -> Iterator[Record]:
        """Yield everything stored of the games behind a number, by number; at most `count`."""
        query = f"{_RECORD} FROM games WHERE game > ? ORDER BY game LIMIT ?"
        with self._errors("read"):
            for row in self._connection.execute(query, [after, -1 if count is None else count]):
                yield self._record(row)

    def _record(self, row: Sequence[Any]) -> Record:
        *columns, stderr0, stderr1, words, elapsed_ns, packed = row
        answers = zlib.decompress(packed)
        written = dict(json.loads(_unpacked(words) or "[]"))
        outcome = _outcome(columns)
        return Record(
            fixture=self.settings.fixture(outcome.number),
            outcome=outcome,
            answers=tuple(
                [
                    Answer(seat, line, ns, written.get(place, ""), *cpu_ns)
                    for place, (seat, line, ns, *cpu_ns) in enumerate(json.loads(answers))
                ]
            ),
            stderr=(_unpacked(stderr0), _unpacked(stderr1)),
            elapsed_ns=elapsed_ns,
        )


def _summed_up(settings: Settings) -> object:
    """Return what sums are about."""
    return len(settings.players), settings.pairings, settings.sprt


def _row(record: Record) -> list[object]:
    outcome, fault = record.outcome, record.outcome.fault
    rows = [(*answer[:3], answer.cpu_ns) for answer in record.answers]
    answers = json.dumps(rows, separators=(",", ":"))
    # By the number of the answer; most bots write nothing.
    words = [(place, one.stderr) for place, one in enumerate(record.answers) if one.stderr]
    return [
        outcome.number,
        *outcome.players,
        record.fixture.seed,
        outcome.winner,
        *outcome.scores,
        outcome.turns,
        fault and fault.player,
        fault and str(fault.kind),
        fault and fault.message,
        *outcome.times[0],
        outcome.late[0],
        *outcome.times[1],
        outcome.late[1],
        *[json.dumps(reasons) if reasons else None for reasons in outcome.illegal],
        *[_packed(text) if text else None for text in record.stderr],
        _packed(json.dumps(words)) if words else None,
        record.elapsed_ns,
        _packed(answers),
    ]


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(errors="surrogatepass"), _ZLIB_LEVEL)


def _unpacked(data: bytes | None) -> str:
    return "" if data is None else zlib.decompress(data).decode(errors="surrogatepass")


def _outcome(row: Sequence[Any]) -> Outcome:
    number, player0, player1, winner, score0, score1, turns, seat, kind, message, *rest = row
    *times, illegal0, illegal1 = rest
    return Outcome(
        number=number,
        players=(player0, player1),
        winner=winner,
        scores=(score0, score1),
        turns=turns,
        fault=None if seat is None else Fault(seat, FaultKind(kind), message),
        times=(Times(*times[0:5]), Times(*times[6:11])),
        late=(times[5], times[11]),
        illegal=(
            json.loads(illegal0) if illegal0 else {},
            json.loads(illegal1) if illegal1 else {},
        ),
    )
