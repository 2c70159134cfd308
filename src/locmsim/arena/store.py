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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from locmsim._database import Kind
from locmsim.arena.game_store import (
    ALL_GAMES,
    GameQuery,
    GameStore,
    ListedGame,
    index_statements,
)
from locmsim.arena.records import Answer, Outcome, Record, Times
from locmsim.arena.schedule import Settings
from locmsim.arena.tally import Tally
from locmsim.contract import Fault, FaultKind, Part
from locmsim.stats import Sprt

__all__ = ["Goal", "NoResultsError", "Store", "StoreError"]

_log = logging.getLogger(__name__)

_TABLES = f"""
CREATE TABLE tournament (
    settings TEXT NOT NULL,
    games INTEGER,
    sprt TEXT
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
    late0 INTEGER NOT NULL,
    turns1 INTEGER NOT NULL,
    total_ns1 INTEGER NOT NULL,
    worst_ns1 INTEGER NOT NULL,
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
#: Sums after several numbers of games, so that tables need not read all games.
_SUMS = "CREATE TABLE IF NOT EXISTS sums (games INTEGER PRIMARY KEY, data TEXT NOT NULL)"
#: Games per pairing between two stored sums.
_BLOCK = 16
_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * 26)})"
_OUTCOME = (
    "SELECT game, player0, player1, winner, score0, score1, turns, fault_seat, fault_kind,"
    " fault_message, turns0, total_ns0, worst_ns0, late0, turns1, total_ns1, worst_ns1, late1,"
    " illegal0, illegal1"
)
#: Quick, and answers shrink to about a third: lists of cards and actions repeat themselves.
_ZLIB_LEVEL = 1
_RECORD = f"{_OUTCOME}, stderr0, stderr1, words, elapsed_ns, answers"


class Goal(NamedTuple):
    """The condition under which a tournament ends.

    Parameters
    ----------
    games : int
        The number of its last game.
    sprt : Sprt or None
        A sequential test that may end it earlier.
    """

    games: int
    sprt: Sprt | None


class StoreError(RuntimeError):
    """A file of results cannot be read or written; the message names it."""


class NoResultsError(StoreError):
    """The file does not exist or is still empty."""


class Store(GameStore):
    """An open file of results; a context manager.

    With `write`, the file is created if it does not exist, is locked against other writers, and
    `begin` stores the tournament. Otherwise it must exist and is only read. `StoreError` says what
    is wrong with the file.
    """

    kind = Kind(
        application=0x4C4F434D,  # "LOCM"
        version=5,
        tables=_TABLES,
        file="a file of results",
        content="results of an arena",
        writer="process",
        error=StoreError,
        missing=NoResultsError,
    )

    def __init__(self, path: str | os.PathLike[str], *, write: bool = False) -> None:
        super().__init__(path, write=write)
        #: The tournament in the file; None for an empty file until `begin`.
        self.settings: Settings | None = None
        #: Sums of the first games, a multiple of the block size.
        self._sums: Tally | None = None
        try:
            with self._errors("open"):
                self.settings = self._stored_settings()
            if self.settings is None and not write:
                self._refuse_empty()
        except BaseException:
            self.close()
            raise

    def check_same(self, settings: Settings) -> None:
        """Raise `StoreError` if the file belongs to another tournament."""
        if self.settings is not None and (differences := self.settings.differences(settings)):
            raise StoreError(
                f"{self.path}: has the results of another tournament: {'; '.join(differences)}"
            )

    def begin(self, settings: Settings) -> None:
        """Start or resume a tournament; `StoreError` if the file belongs to another one."""
        self.check_same(settings)
        with self._errors("write to"):
            self._log_ahead()
            if self.settings is None:
                self._create(settings)
            self._connection.execute(_SUMS)
        # The same settings, with agents as objects.
        self.settings = settings

    def renew(self, settings: Settings) -> None:
        """Store other settings with the same games so far, and the players that are new."""
        assert self.settings is not None
        with self._errors("write to"), self._transaction():
            execute = self._connection.execute
            execute("UPDATE tournament SET settings = ?", [json.dumps(settings.to_json())])
            for i, player in enumerate(settings.players):
                row = [i, player.name, player.spec]
                execute("INSERT OR IGNORE INTO players VALUES (?, ?, ?)", row)
            if (len(settings.players), settings.pairings) != (
                len(self.settings.players),
                self.settings.pairings,
            ):
                execute("DELETE FROM sums")
                self._sums = None
        self.settings = settings

    def missing(self, count: int) -> Iterator[int]:
        """Yield the games of 1 to `count` that are to be played and are not."""
        assert self.settings is not None
        played = self.numbers()
        for number in range(1, count + 1):
            if number not in played and self.settings.is_played(number):
                yield number

    def _stored_settings(self) -> Settings | None:
        """Read the settings; None for an empty file."""
        with self._transaction("DEFERRED"):  # one consistent snapshot
            if self._is_empty():
                return None
            ((text,),) = self._connection.execute("SELECT settings FROM tournament")
        try:
            return Settings.from_json(json.loads(text))
        except ValueError as error:
            raise StoreError(f"{self.path}: {error}") from None

    def _create(self, settings: Settings) -> None:
        execute = self._connection.execute
        with self._transaction():
            self._make_tables()
            text = json.dumps(settings.to_json())
            execute("INSERT INTO tournament (settings) VALUES (?)", [text])
            for i, player in enumerate(settings.players):
                execute("INSERT INTO players VALUES (?, ?, ?)", [i, player.name, player.spec])
        _log.info("%s: new file of results", self.path)

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

    # -------------------------------------------------------------------------------- goal

    @property
    def goal(self) -> Goal | None:
        """The goal of the tournament; None if it was never stored."""
        if self.settings is None:
            return None
        with self._errors("read"):
            ((games, sprt),) = self._connection.execute("SELECT games, sprt FROM tournament")
        if games is None:
            return None
        return Goal(games, None if sprt is None else Sprt(**json.loads(sprt)))

    def set_goal(self, goal: Goal) -> None:
        """Store a new goal."""
        sprt = None if goal.sprt is None else json.dumps(asdict(goal.sprt))
        with self._errors("write to"), self._transaction():
            self._connection.execute(
                "UPDATE tournament SET games = ?, sprt = ?", [goal.games, sprt]
            )
        self._sums = None  # a new test starts from the beginning

    # ------------------------------------------------------------------------------- games

    def add(self, record: Record) -> None:
        """Write one game; `StoreError` if that fails or if the game is already stored."""
        self.add_all([record])

    def add_all(self, records: list[Record]) -> None:
        """Write games, all or, with a `StoreError`, none."""
        rows = [_row(record) for record in records]
        self.check_present()
        with self._errors("write to"), self._transaction():
            self._connection.executemany(_INSERT, rows)
            self._sum_up()

    def _sum_up(self) -> None:
        """Store the sums of further complete blocks of games."""
        if self.settings is None:
            return
        if self._sums is None:
            goal = self.goal or Goal(0, None)
            self._sums = self.sums(goal.sprt)
            if self._sums is None:
                self._sums = Tally(self.settings, goal.sprt)
                self._connection.execute("DELETE FROM sums")
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

    def tally(self, sprt: Sprt | None) -> Tally:
        """Return the sums of all games: those stored, with the games behind them one by one."""
        assert self.settings is not None
        tally = self.sums(sprt) or Tally(self.settings, sprt)
        for outcome in self.outcomes(tally.games + 1):
            tally.add(outcome)
        return tally

    def sums(self, sprt: Sprt | None) -> Tally | None:
        """Return the stored sums of the first games; None if they were not stored."""
        assert self.settings is not None
        for data in self._summed("ORDER BY games DESC LIMIT 1"):
            if data["sprt"] == (None if sprt is None else asdict(sprt)):
                return Tally.from_json(data, self.settings, sprt)
        return None

    def sums_between(self, points: int) -> list[Tally]:
        """Return sums as `sums` does, at about `points` places up to there, without the test."""
        assert self.settings is not None
        (last,) = self._summed("ORDER BY games DESC LIMIT 1") or [{"games": 0}]
        block = _BLOCK * len(self.settings.pairings)
        step = block * -(-last["games"] // (block * points)) or block
        places = ", ".join(map(str, range(step, last["games"] + 1, step)))
        found = self._summed(f"WHERE games IN ({places}) ORDER BY games")
        return [Tally.from_json(data, self.settings, None) for data in found]

    def _summed(self, where: str) -> list[dict[str, Any]]:
        with self._errors("read"):
            known = "SELECT 1 FROM sqlite_master WHERE name = 'sums'"
            if not self._connection.execute(known).fetchone():
                return []
            rows = self._connection.execute(f"SELECT data FROM sums {where}")
            return [json.loads(data) for (data,) in rows]

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
    ) -> list[ListedGame]:
        """Return what a list shows of games, the latest first; arguments as of `endings`."""
        assert self.settings is not None
        rules, title = self.rules, ""
        if Part.REPLAY not in self.settings.game.parts:
            title = self.settings.game.title
        names = [player.name for player in self.settings.players]
        endings = self.endings(query, before, count)
        messages = self.fault_messages(one.number for one in endings if one.fault)
        return [
            ListedGame(
                number=one.number,
                names=(names[one.players[0]], names[one.players[1]]),
                winner=one.winner,
                turns=one.turns,
                fault=one.fault and (*one.fault, messages[one.number]),
                rules=rules,
                title=title,
                source=self.path,
                place=one.number,
            )
            for one in endings
        ]

    def player(self, name: str) -> int | None:
        """Return the number of a player; None if there is no such player."""
        assert self.settings is not None
        names = [player.name for player in self.settings.players]
        return names.index(name) if name in names else None

    @property
    def rules(self) -> str | None:
        """The rule set of all games; None if pages cannot replay them."""
        assert self.settings is not None
        game: Any = self.settings.game
        rules: str | None = game.rules if Part.REPLAY in game.parts else None
        return rules

    def rule_sets(self) -> set[str]:
        """Return the rule sets of the games."""
        return set() if self.rules is None else {self.rules}

    def fault_messages(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the messages of the faults that ended some games, by the number of the game."""
        chosen = ", ".join(map(str, numbers))
        with self._errors("read"):
            query = f"SELECT game, ifnull(fault_message, '') FROM games WHERE game IN ({chosen})"
            return dict(self._connection.execute(query).fetchall())

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
        assert self.settings is not None
        *columns, stderr0, stderr1, words, elapsed_ns, packed = row
        written = dict(json.loads(_unpacked(words) or "[]"))
        outcome = _outcome(columns)
        return Record(
            fixture=self.settings.fixture(outcome.number),
            outcome=outcome,
            answers=tuple(
                [
                    Answer(seat, line, ns, written.get(place, ""))
                    for place, (seat, line, ns) in enumerate(json.loads(zlib.decompress(packed)))
                ]
            ),
            stderr=(_unpacked(stderr0), _unpacked(stderr1)),
            elapsed_ns=elapsed_ns,
        )


def _row(record: Record) -> list[object]:
    outcome, fault = record.outcome, record.outcome.fault
    answers = json.dumps([answer[:3] for answer in record.answers], separators=(",", ":"))
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
        times=(Times(*times[0:3]), Times(*times[4:7])),
        late=(times[3], times[7]),
        illegal=(
            json.loads(illegal0) if illegal0 else {},
            json.loads(illegal1) if illegal1 else {},
        ),
    )
