"""Results and standings in an SQLite file."""

import logging
import os
import sqlite3
from collections.abc import Iterable, Mapping

from locmsim.gamekit import Database, Kind
from vestrock.tournament import Result, Standing, standings

_log = logging.getLogger(__name__)

_TABLES = """
CREATE TABLE tournaments (
    tournament INTEGER PRIMARY KEY,
    finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE results (
    tournament INTEGER NOT NULL REFERENCES tournaments,
    match INTEGER NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    first_score INTEGER NOT NULL,
    second_score INTEGER NOT NULL,
    PRIMARY KEY (tournament, match)
) WITHOUT ROWID;
CREATE TABLE awards (
    tournament INTEGER NOT NULL REFERENCES tournaments,
    player TEXT NOT NULL,
    award REAL NOT NULL,
    PRIMARY KEY (tournament, player)
) WITHOUT ROWID;
"""

#: Errors of a file that another program is using, which a later attempt may not meet.
_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_Finished = tuple[int, list[Result], dict[str, float]]


class StandingsError(RuntimeError):
    """A file of standings cannot be opened or read; the message names it."""


class Standings(Database):
    """Results of finished tournaments in an SQLite file; a context manager.

    Parameters
    ----------
    path : str or path
        An SQLite file, created if missing; ``":memory:"`` to use memory instead of a file.
    write : bool
        False to open the file, which must exist, for reading only.

    Raises
    ------
    StandingsError
        The file is of another kind or cannot be opened.
    """

    kind = Kind(
        application=0x56455354,  # "VEST"
        version=1,
        tables=_TABLES,
        file="a file of standings",
        content="standings of Vestrock",
        writer="server",
        error=StandingsError,
        missing=StandingsError,
        patience=1.0,
    )

    def __init__(self, path: str | os.PathLike[str] = ":memory:", *, write: bool = True) -> None:
        super().__init__(path, write=write)
        #: Finished tournaments that could not be written yet, and why not.
        self._waiting: list[_Finished] = []
        self._reason = ""
        #: Whether writing has failed for a reason that will not pass, such as a full disk.
        self.failed = False
        try:
            with self._errors("open"):
                self._prepare(write)
        except BaseException:
            super().close()
            raise

    def _prepare(self, write: bool) -> None:
        empty = self._is_empty()
        if empty and not write:
            self._refuse_empty()
        if write:
            self._log_ahead()
        if empty:
            with self._transaction():
                self._make_tables()

    def add(self, number: int, results: Iterable[Result], awards: Mapping[str, float]) -> bool:
        """Store the results of a finished tournament.

        If writing fails, this is logged and the results are kept in memory; the next call and
        `close` try again. `failed` tells whether that is likely to fail too.

        Parameters
        ----------
        number : int
            Number of the tournament.
        results : iterable of Result
            Results of all matches.
        awards : mapping of str to float
            The awards, see `vestrock.tournament.awards`.

        Returns
        -------
        bool
            Whether everything is written.
        """
        self._waiting.append((number, list(results), dict(awards)))
        return self._write()

    def _write(self) -> bool:
        """Write all pending tournaments."""
        while self._waiting:
            number, results, awards = self._waiting[0]
            try:
                with self._transaction():
                    number = self._free(number)
                    self._connection.execute(
                        "INSERT INTO tournaments (tournament) VALUES (?)", [number]
                    )
                    self._connection.executemany(
                        "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)",
                        [(number, id_, *players, *scores) for id_, players, scores in results],
                    )
                    self._connection.executemany(
                        "INSERT INTO awards VALUES (?, ?, ?)",
                        [(number, player, award) for player, award in awards.items()],
                    )
            except sqlite3.Error as error:
                _log.error("cannot write tournament %d to %s: %s", number, self.path, error)
                self._reason = str(error)
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
                self.failed = code & 0xFF not in _PASSING
                return False
            del self._waiting[0]
        self.failed = False
        return True

    def _free(self, number: int) -> int:
        """Return an unused number: the given one, unless another program has used it."""
        query = "SELECT 1 FROM tournaments WHERE tournament = ?"
        if self._connection.execute(query, [number]).fetchone() is None:
            return number
        ((last,),) = self._connection.execute("SELECT max(tournament) FROM tournaments")
        _log.warning("tournament %d is in %s already: written as %d", number, self.path, last + 1)
        return int(last) + 1

    @property
    def last(self) -> int:
        """The number of the last tournament; 0 before the first one. `StandingsError`."""
        with self._errors("read"):
            row = self._connection.execute("SELECT max(tournament) FROM tournaments").fetchone()
        written = row[0] or 0
        return max([written, *(number for number, _, _ in self._waiting)])

    def table(self) -> list[Standing]:
        """Return the standings after all finished tournaments, best first. `StandingsError`."""
        tournaments: dict[int, dict[str, float]] = {}
        with self._errors("read"):
            for number, player, award in self._connection.execute(
                "SELECT tournament, player, award FROM awards ORDER BY tournament"
            ):
                tournaments.setdefault(number, {})[player] = award
        tournaments.update({number: awards for number, _, awards in self._waiting})
        return standings(tournaments.values())

    def results(self, number: int) -> list[Result]:
        """Return a tournament's matches by id; [] if it is unknown. `StandingsError`."""
        with self._errors("read"):
            rows = self._connection.execute(
                "SELECT match, first, second, first_score, second_score FROM results"
                " WHERE tournament = ? ORDER BY match",
                [number],
            ).fetchall()
        return [
            Result(id_, (first, second), (one, other)) for id_, first, second, one, other in rows
        ]

    def close(self) -> None:
        """Write pending results and close the file.

        Raises
        ------
        StandingsError
            Some tournaments are not written; the message has their numbers.
        """
        written = self._write()
        super().close()
        if not written:
            numbers = ", ".join(str(number) for number, _, _ in self._waiting)
            are = "tournament {} is" if len(self._waiting) == 1 else "tournaments {} are"
            raise StandingsError(f"{self.path}: {are.format(numbers)} not written: {self._reason}")


def format_standings(table: Iterable[Standing]) -> str:
    """Format standings, a line per player: place, name, sum of awards, tournaments."""
    rows = list(table)
    width = max([len("player"), *(len(row.player) for row in rows)])
    lines = [f"place  {'player':<{width}}  {'award':>14}  tournaments"]
    lines += [
        f"{row.place:>5}  {row.player:<{width}}  {row.total:>14.4f}  {row.tournaments:>11}"
        for row in rows
    ]
    return "".join(f"{line}\n" for line in lines)
