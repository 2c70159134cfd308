"""The matches that the pages show: logs in files, arenas' results, and what was played here."""

import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from locmsim.arena import Arena, StoreError
from locmsim.contract import Fault, Part, require
from locmsim.game.match import Match
from locmsim.referee.matches import Result
from locmsim.web.sources import arena_game, load_replay

__all__ = ["ALL", "Filter", "Library"]

_Loaded = tuple[Result[Match], tuple[str, str]]
#: Games of arenas that are kept after they were read.
_KEPT = 64


@dataclass(frozen=True)
class Filter:
    """Which games are wanted.

    Attributes
    ----------
    lost_by : str
        Only those that a player of that name lost; empty for all.
    fault : str
        "any" or "none", or one kind of `locmsim.contract.FaultKind`; empty for all.
    least, most : int
        Turns, those of both players counted; None for no bound.
    """

    lost_by: str = ""
    fault: str = ""
    least: int | None = None
    most: int | None = None

    def takes(self, game: dict[str, Any]) -> bool:
        """Whether a row of `Library.games` is wanted."""
        winner, fault, turns = game["winner"], game["fault"], game["turns"]
        if self.lost_by and (winner is None or game["names"][1 - winner] != self.lost_by):
            return False
        if self.fault and self.fault not in (*(("any", fault["kind"]) if fault else ("none",)),):
            return False
        return (self.least or 0) <= turns and (self.most is None or turns <= self.most)


ALL = Filter()


@dataclass
class Library:
    """The matches there are, each with a key: ``f0``, ``d0:17``, ``p2``.

    Attributes
    ----------
    files : sequence of str
        Paths of logs.
    dbs : sequence of str
        Paths of arenas' results. They are read anew each time, so games appear as they are played;
        a file need not be there yet.
    """

    files: Sequence[str] = ()
    dbs: Sequence[str] = ()
    _played: list[tuple[_Loaded, str]] = field(default_factory=list)
    _read: dict[str, tuple[float, _Loaded]] = field(default_factory=dict)
    _arena: dict[tuple[str, int, int], _Loaded] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, result: Result[Match], names: tuple[str, str], label: str = "") -> str:
        """Add a match that was played here.

        Parameters
        ----------
        result : Result
            The match.
        names : tuple of str
            Of the players.
        label : str
            Where it is kept, such as the path of its log; empty if nowhere.

        Returns
        -------
        str
            Its key.
        """
        with self._lock:
            self._played.append(((result, names), label))
            return f"p{len(self._played) - 1}"

    def load(self, key: str) -> _Loaded:
        """A match by its key.

        Parameters
        ----------
        key : str
            As in the rows of `games`.

        Returns
        -------
        result : Result
            The match, played again.
        names : tuple of str
            Of the players.

        Raises
        ------
        ValueError
            There is no such match, or it cannot be read; the message says why.
        """
        kind, (place, _, number) = key[:1], key[1:].partition(":")
        sources: dict[str, Sequence[Any]] = {"f": self.files, "d": self.dbs, "p": self._played}
        if not (
            place.isdecimal() and len(place) < 9 and int(place) < len(sources.get(kind, ()))
        ) or (kind == "d") != (number.isdecimal() and len(number) < 18):
            raise ValueError(f"there is no match {key!r}")
        if kind == "p":
            return self._played[int(place)][0]
        path = sources[kind][int(place)]
        try:
            return self._file(path) if kind == "f" else self._arena_game(path, int(number))
        except (OSError, StoreError, ValueError) as error:
            raise ValueError(_told(path, error)) from None

    def games(self, wanted: Filter = ALL, start: int = 0, count: int = 100) -> dict[str, Any]:
        """The games that a filter takes.

        Parameters
        ----------
        wanted : Filter
            Which ones.
        start, count : int
            Which part of them.

        Returns
        -------
        dict
            ``games``, rows with ``key``, ``source``, ``number``, ``names``, ``winner``, ``fault``,
            ``turns`` and ``rules``; ``total``, how many the filter takes; ``players``, all names;
            ``kinds`` of faults there are; ``errors``, what cannot be read and why.
        """
        rows: list[dict[str, Any]] = []
        errors: list[str] = []
        players: dict[str, None] = {}
        kinds: dict[str, None] = {}
        total = 0
        for game in self._all(errors):
            players.update(dict.fromkeys(game["names"]))
            if game["fault"]:
                kinds[game["fault"]["kind"]] = None
            if wanted.takes(game):
                if start <= total < start + count:
                    rows.append(game)
                total += 1
        return {
            "games": rows,
            "total": total,
            "players": sorted(players),
            "kinds": sorted(kinds),
            "errors": errors,
        }

    def _all(self, errors: list[str]) -> Iterator[dict[str, Any]]:
        with self._lock:
            played = list(enumerate(self._played))
        for i, (loaded, label) in reversed(played):
            yield _row(f"p{i}", label or "played here", loaded)
        for i, path in enumerate(self.files):
            try:
                yield _row(f"f{i}", path, self._file(path))
            except (OSError, ValueError) as error:
                errors.append(_told(path, error))
        for i, path in enumerate(self.dbs):
            try:
                yield from _arena_rows(f"d{i}", path)
            except (OSError, StoreError, ValueError) as error:
                errors.append(_told(path, error))

    def _file(self, path: str) -> _Loaded:
        """The match of a log, read again only if the file has changed."""
        changed = os.stat(path).st_mtime
        with self._lock:
            known = self._read.get(path)
        if known is None or known[0] != changed:
            known = changed, load_replay(path)
            with self._lock:
                self._read[path] = known
        return known[1]

    def _arena_game(self, path: str, number: int) -> _Loaded:
        """A game of an arena's results, which never changes once it was played."""
        key = path, os.stat(path).st_ino, number
        with self._lock:
            known = self._arena.get(key)
        if known is None:
            known = arena_game(path, number)
            with self._lock:
                self._arena[key] = known
                for old in [*self._arena][:-_KEPT]:
                    del self._arena[old]
        return known


def _row(key: str, source: str, loaded: _Loaded) -> dict[str, Any]:
    result, names = loaded
    shown = [name or f"Player {player}" for player, name in enumerate(names)]
    return {
        "key": key,
        "source": source,
        "number": None,
        "names": shown,
        "winner": result.winner,
        "fault": _fault(result.fault),
        "turns": result.turns,
        "rules": result.match.rules,
    }


def _arena_rows(key: str, path: str) -> Iterator[dict[str, Any]]:
    with Arena.load(path) as arena:
        names = [player.name for player in arena.settings.players]
        game: Any = arena.settings.game
        require(game, Part.REPLAY)
        for outcome in arena.outcomes():
            yield {
                "key": f"{key}:{outcome.number}",
                "source": path,
                "number": outcome.number,
                "names": [names[i] for i in outcome.players],
                "winner": outcome.winner,
                "fault": _fault(outcome.fault),
                "turns": outcome.turns,
                "rules": game.rules,
            }


def _fault(fault: Fault | None) -> dict[str, Any] | None:
    if fault is None:
        return None
    return {"player": fault.player, "kind": str(fault.kind), "message": fault.message}


def _told(path: str, error: Exception) -> str:
    """What is wrong with a file, in one line that names it."""
    if isinstance(error, json.JSONDecodeError):
        return f"{path}: not a log, which is JSON: {error}"
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return words if path in words else f"{path}: {words}"
