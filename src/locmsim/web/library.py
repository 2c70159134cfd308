"""The matches that the pages show: logs in files, arenas' results, and what was played here."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from locmsim.arena import LocmGame, StoreError
from locmsim.arena.game_index import GameQuery
from locmsim.arena.store import Store
from locmsim.contract import LIVE_SUFFIX, Fault, Game, Part
from locmsim.game.match import Match
from locmsim.referee.any_game import view_steps
from locmsim.referee.live_reader import LiveReader
from locmsim.referee.log_reader import is_of_another_game, read_log
from locmsim.referee.process_match import Result
from locmsim.web.keys import Key, KeyKind
from locmsim.web.logs import LogIndex, error_text, part_view
from locmsim.web.sources import (
    arena_game,
    arena_match,
    begun_match,
    load_replay,
    logged_match,
    replay_of,
)
from locmsim.web.stream import News

__all__ = ["ALL", "Filter", "Library"]

_Loaded = tuple[Result[Match], tuple[str, str]]
#: The number of games that are kept after they were read.
_KEPT = 64
#: The most matches that are watched at a time while they are played.
_LIVE = 64


@dataclass(frozen=True)
class Filter:
    """A filter of games.

    Attributes
    ----------
    player, lost_by : str
        Only those of a player of that name, or that such a one lost; empty for all.
    fault : str
        "any" or "none", or one kind of `locmsim.contract.FaultKind`; empty for all.
    least, most : int
        Turns, those of both players counted; None for no bound.
    rules : str
        The rule set; empty for all.
    source : str
        The key of a source, see `Library.choices`; empty for all.
    """

    player: str = ""
    lost_by: str = ""
    fault: str = ""
    least: int | None = None
    most: int | None = None
    rules: str = ""
    source: str = ""

    def takes(self, names: Sequence[str], winner: int | None, kind: str | None, turns: int) -> bool:
        """Return whether a game is wanted, but for its rules and its source."""
        if self.player and self.player not in names:
            return False
        if self.lost_by and (winner is None or names[1 - winner] != self.lost_by):
            return False
        if self.fault and self.fault not in (("any", kind) if kind else ("none",)):
            return False
        return (self.least or 0) <= turns and (self.most is None or turns <= self.most)

    def query(self, players: Mapping[str, int] | None = None) -> GameQuery:
        """Return the same for an index of games, with numbers of names where these are given."""

        def known(name: str) -> str | int:
            return name if players is None else players[name]

        return GameQuery(
            players=[known(self.player)] if self.player else [],
            lost_by=known(self.lost_by) if self.lost_by else None,
            fault=self.fault,
            least=self.least,
            most=self.most,
            rules=self.rules,
        )


ALL = Filter()
#: A place in a source, and the row of the game there.
_Found = tuple[int, dict[str, Any]]
#: Returns the games of a source that a filter takes, the latest first: only those below a number,
#: if one is given, and at least so many of them if there are.
_Source = Callable[[Filter, int | None, int], Iterable[_Found]]


class Library:
    """The matches there are, each with a key (`locmsim.web.keys.Key`).

    Nothing of a game is kept but what an index has of it and the ones that were looked at last.

    Parameters
    ----------
    files : sequence of str
        Paths of logs, and of folders with logs.
    dbs : sequence of str
        Paths of arenas' results. They are read anew each time, so games appear as they are played;
        a file need not be there yet.
    """

    def __init__(self, files: Sequence[str] = (), dbs: Sequence[str] = ()) -> None:
        self.files, self.dbs = files, dbs
        #: Wakes those who follow the list, or anything else of the site.
        self.news = News()
        #: The number of changes of the list.
        self.version = 0
        self._stamp: object = None
        #: The rows of games that are played on the pages; a number follows the letter of each key.
        self.playing: Callable[[], list[dict[str, Any]]] = list
        self.logs = LogIndex(files, self.changed)
        self._played: list[tuple[dict[str, Any], str, _Loaded | None]] = []
        self._loaded: OrderedDict[object, _Loaded] = OrderedDict()
        self._lock = threading.Lock()
        #: The descriptions of the players of matches that were played here.
        self._agents: dict[str, tuple[str, str]] = {}
        #: Matches that are being played, by key, and the keys by path.
        self._live: dict[str, LiveReader] = {}
        self._live_paths: dict[str, str] = {}
        self._live_count = 0
        #: The keys that some of them have afterwards.
        self._after: dict[str, str] = {}
        #: Folders that were made so that arenas show their matches.
        self._created: list[str] = []

    def changed(self) -> None:
        """Tell those who follow the list that it has changed. Any thread may call it."""
        with self._lock:
            self.version += 1
        self.news.wake()

    def look(self) -> int:
        """Return the version of the list, after a look at the files."""
        stamp = self.stamp()
        if stamp != self._stamp:
            first, self._stamp = self._stamp is None, stamp
            if not first:
                self.changed()
        return self.version

    def add(
        self,
        result: Result[Match],
        names: tuple[str, str],
        label: str = "",
        *,
        path: str = "",
        live: str = "",
        agents: Sequence[str] = (),
    ) -> str:
        """Add a match that was played here.

        Parameters
        ----------
        result : Result
            The match.
        names : tuple of str
            Of the players.
        label : str
            What the list calls its source; its path by default.
        path : str
            The path of its log; empty if there is none.
        live : str
            The key under which it was watched as it was played; empty if it was not.
        agents : sequence of str
            The descriptions or commands of the players; by default nothing but their names.

        Returns
        -------
        str
            Its key.
        """
        if path:
            self.logs.skip(path)
        row = {
            "source": label or path or "played here",
            "number": None,
            "names": [name or f"Player {player}" for player, name in enumerate(names)],
            "winner": result.winner,
            "fault": _fault(result.fault),
            "turns": result.turns,
            "rules": result.match.rules,
            "game": "",
            "live": "",
        }
        with self._lock:
            key = str(Key(KeyKind.OVER, len(self._played)))
            if agents:
                self._agents[key] = (agents[0], agents[1])
            # One that is in a file is read again when it is wanted.
            self._played.append(({"key": key, **row}, path, None if path else (result, names)))
            self._after[live] = key
        self.changed()
        return key

    # ------------------------------------------------------------------------- live matches

    def live(self) -> list[tuple[str, LiveReader]]:
        """Return the matches that are being played, with their keys."""
        with self._lock:
            for folder in self._live_folders():
                with suppress(OSError):
                    for name in sorted(os.listdir(folder)):
                        path = os.path.join(folder, name)
                        if name.endswith(LIVE_SUFFIX) and path not in self._live_paths:
                            self._watch(path)
            self._live_paths = {
                path: key
                for path, key in self._live_paths.items()
                if os.path.exists(path) or not self._live[key].over
            }
            return [(key, reader) for key, reader in self._live.items() if not reader.over]

    def _watch(self, path: str) -> None:
        if sum(not reader.over for reader in self._live.values()) >= _LIVE:
            return
        key = str(Key(KeyKind.LIVE, self._live_count))
        self._live[key] = LiveReader(path, begun_match)
        self._live_paths[path] = key
        self._live_count += 1
        for old in [key for key, reader in self._live.items() if reader.over][:-_KEPT]:
            del self._live[old]

    def _live_folders(self) -> Iterator[str]:
        yield from filter(os.path.isdir, self.files)
        for path in self.dbs:
            folder = f"{path}{LIVE_SUFFIX}"
            # Such a file stands beside the results while they are written.
            if os.path.exists(f"{path}-wal") and not os.path.isdir(folder):
                with suppress(OSError):
                    os.mkdir(folder)  # the sign for whoever plays
                    self._created.append(folder)
            if os.path.isdir(folder):
                yield folder

    def live_match(self, key: str) -> LiveReader:
        """Return a match that is being played, or was a moment ago, or raise ``ValueError``."""
        with self._lock:
            if key not in self._live:
                raise ValueError(f"there is no match {key!r}")
            return self._live[key]

    def after_live(self, key: str) -> str | None:
        """Return the key that a match has once it is over; None if it is nowhere."""
        path = self.live_match(key).path
        if key in self._after:
            return self._after[key]
        folder, name = os.path.split(path)
        number = name.removesuffix(LIVE_SUFFIX)
        for i, db in enumerate(self.dbs):
            if folder == f"{db}{LIVE_SUFFIX}" and number.isdecimal():
                with suppress(OSError, StoreError), Store(db) as store:
                    store.game(int(number))
                    return str(Key(KeyKind.RESULT, i, int(number)))
        log = path.removesuffix(LIVE_SUFFIX)
        if folder in self.files and os.path.exists(log):
            self.logs.refresh()
            return self.logs.key(log)
        return None

    def close(self) -> None:
        """Close what follows the matches that are being played."""
        self.news.close()
        with self._lock:
            for reader in self._live.values():
                reader.close()
            for folder in self._created:
                with suppress(OSError):
                    os.rmdir(folder)
            self._created.clear()

    # -------------------------------------------------------------------------------- a match

    def load(self, key: str) -> _Loaded:
        """Return a match by its key.

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
        kind, place, number = self._place_of(key)
        path = key
        try:
            if number is not None:
                path = self.dbs[place]
                return self._arena_game(path, number)
            if kind == KeyKind.LOG:
                return self._log(place)
            _, path, loaded = self._played[place]
            return loaded or self._kept((path, os.stat(path).st_mtime), lambda: load_replay(path))
        except (OSError, StoreError, ValueError) as error:
            raise ValueError(error_text(path, error)) from None

    def agents(self, key: str) -> tuple[str, str]:
        """Return the descriptions of a match's players, from which they can be made again.

        Empty where nothing but their names is known; ``ValueError`` as for `load`.
        """
        _, place, number = self._place_of(key)
        if number is None:
            return self._agents.get(key, ("", ""))
        path = self.dbs[place]
        try:
            with Store(path) as store:
                assert store.settings is not None
                first, second = store.settings.fixture(number).players
                return store.settings.players[first].spec, store.settings.players[second].spec
        except (OSError, StoreError) as error:
            raise ValueError(error_text(path, error)) from None

    def view(self, key: str) -> dict[str, Any]:
        """Return a match of any game, step by step, as its game shows it.

        Parameters
        ----------
        key : str
            As in the rows of `games`.

        Returns
        -------
        dict
            ``title`` of the game, ``turn`` (what one answer is called), ``names``, ``scores``,
            ``winner``, ``fault``, ``steps`` as of `locmsim.referee.any_game.view_steps`, and
            ``running``, whether more of them may come.

        Raises
        ------
        ValueError
            As for `load`.
        """
        if (shown := self._of_server(key)) is not None:
            return shown
        running = False
        if Key.parse(key).kind == KeyKind.LIVE:
            reader = self.live_match(key)
            reader.update()
            result, names, running = reader.result(), reader.names, not reader.over
            game = reader.game or LocmGame(result.match.rules)
        else:
            result, names, game = self._of_any_game(key)
        return {
            "title": game.title,
            "turn": game.turn_name,
            "names": [name or f"Player {player}" for player, name in enumerate(names)],
            "scores": list(result.scores),
            "winner": result.winner,
            "fault": _fault(result.fault),
            "steps": [*view_steps(result, game)],
            "running": running,
        }

    def view_version(self, key: str) -> object:
        """Return another value when a match that `view` shows may have new steps."""
        if Key.parse(key).kind == KeyKind.LIVE:
            reader = self.live_match(key)
            reader.update()
            return len(reader.calls), reader.over
        stat = os.stat(self.logs.place(self._place_of(key).place).path)
        return stat.st_mtime_ns, stat.st_size

    def _of_server(self, key: str) -> dict[str, Any] | None:
        """Return a match in the log of a game's own server; None if it is another one."""
        if Key.parse(key).kind != KeyKind.LOG:
            return None
        try:
            place = self.logs.place(self._place_of(key).place)
            if place.number is None:
                return None
            with open(place.path, "rb") as file:
                file.seek(place.start)
                lines = file.read(place.size).splitlines(keepends=True)
            return part_view(place.server, lines, place.number)
        except (OSError, ValueError) as error:
            raise ValueError(error_text(key, error)) from None

    def _of_any_game(self, key: str) -> tuple[Result[Any], tuple[str, str], Game]:
        try:
            kind, place, number = self._place_of(key)
            if number is not None:
                return arena_match(self.dbs[place], number)
            if kind == KeyKind.LOG:
                found = self.logs.place(place)
                with open(found.path, "rb") as file:
                    file.seek(found.start)
                    log = read_log(file.read(found.size))
                if is_of_another_game(log):
                    return logged_match(log)
        except (OSError, StoreError, ValueError, RecursionError) as error:
            raise ValueError(error_text(key, error)) from None
        result, names = self.load(key)
        return result, names, LocmGame(result.match.rules)

    def _place_of(self, text: str) -> Key:
        """Return the parts of a key; raise ``ValueError`` if there is no such match."""
        key = Key.parse(text)
        if key.kind == KeyKind.LOG and not self.logs.count:
            self.logs.refresh()
        counts = {
            KeyKind.LOG: self.logs.count,
            KeyKind.RESULT: len(self.dbs),
            KeyKind.OVER: len(self._played),
        }
        if key.place >= counts.get(key.kind, 0):
            raise ValueError(f"there is no match {text!r}")
        return key

    def _log(self, number: int) -> _Loaded:
        place = self.logs.place(number)

        def read() -> _Loaded:
            with open(place.path, "rb") as file:
                file.seek(place.start)
                return replay_of(file.read(place.size))

        try:
            return self._kept(place, read)
        except (OSError, ValueError) as error:
            raise ValueError(error_text(place.path, error)) from None

    def _arena_game(self, path: str, number: int) -> _Loaded:
        """Return a game of an arena's results, which never changes once it was played."""
        key = path, os.stat(path).st_ino, number
        return self._kept(key, lambda: arena_game(path, number))

    def _kept(self, key: object, read: Callable[[], _Loaded]) -> _Loaded:
        """Return what was read before, or what is read now."""
        with self._lock:
            if key in self._loaded:
                self._loaded.move_to_end(key)
                return self._loaded[key]
        loaded = read()
        with self._lock:
            self._loaded[key] = loaded
            while len(self._loaded) > _KEPT:
                self._loaded.popitem(last=False)
        return loaded

    # ------------------------------------------------------------------------------- the list

    def games(self, wanted: Filter = ALL, after: str = "", count: int = 100) -> dict[str, Any]:
        """Return a part of the games that a filter takes.

        First come those that are being played, then those played here, those of files and those of
        arenas; of each source the latest first. However many games there are, and however few of
        them a filter takes, an answer reads about as many entries of an index as it has rows.

        Parameters
        ----------
        wanted : Filter
            The filter.
        after : str
            Where the part begins: ``next`` of the previous one, empty for the first one.
        count : int
            The largest number of games in it.

        Returns
        -------
        dict
            ``games``, rows with ``key``, ``source``, ``number``, ``names``, ``winner``, ``fault``,
            ``turns``, ``rules`` (None if that is not known), ``game`` (the title of another game,
            or empty) and ``live`` ("live" while it is played, "paused" if nobody has its page open,
            or empty); ``next``, None at the end; ``reading``, whether files are still
            read; ``version`` of the list; ``errors``, what cannot be read and why.

        Raises
        ------
        ValueError
            `after` is not a value that an answer had.
        """
        self.logs.refresh()
        version = self.version
        errors = self.logs.errors
        first, _, place = after.partition(":")
        sources = self._sources()
        if after and not (first in sources and place.isdecimal() and len(place) < 19):
            raise ValueError(f"after: there is no place {after!r} in the list")
        rows: list[dict[str, Any]] = []
        last, following = after, None
        keys = [*sources]
        for key in keys[keys.index(first) if after else 0 :]:
            if wanted.source not in ("", key):
                continue
            before = int(place) if after and key == first else None
            left = count - len(rows)
            try:
                found = [*islice(sources[key](wanted, before, left + 1), left + 1)]
            except (OSError, StoreError, ValueError) as error:
                errors.append(error_text(self.dbs[int(key[1:])] if key[0] == "d" else key, error))
                continue
            rows += [row for _, row in found[:left]]
            if left and found:
                last = f"{key}:{found[:left][-1][0]}"
            if len(found) > left:  # there is one more
                following = last
                break
        return {
            "games": rows,
            "next": following,
            "reading": self.logs.reading,
            "version": version,
            "errors": errors,
        }

    def _sources(self) -> dict[str, _Source]:
        """Return the sources by key."""
        return {
            "g": self._of_playing,
            "l": self._of_live,
            "p": self._of_played,
            "f": self._of_logs,
            **{f"d{i}": partial(self._of_arena, i) for i in range(len(self.dbs))},
        }

    def _of_playing(self, wanted: Filter, before: int | None, count: int) -> Iterator[_Found]:
        for row in reversed(self.playing()):
            number = Key.parse(row["key"]).place
            if (before is None or number < before) and _takes(wanted, row):
                yield number, row

    def _of_live(self, wanted: Filter, before: int | None, count: int) -> Iterator[_Found]:
        for key, reader in reversed(self.live()):
            number = Key.parse(key).place
            if before is not None and number >= before:
                continue
            reader.update()
            if reader.match is None or reader.over:
                continue
            turns = sum(call.turn is not None for call in reader.calls)
            row = {
                "key": key,
                "source": reader.path,
                "number": None,
                "names": [name or f"Player {seat}" for seat, name in enumerate(reader.names)],
                "winner": None,
                "fault": None,
                "turns": turns,
                "rules": None if reader.game else reader.match.rules,
                "game": reader.game.title if reader.game else "",
                "live": "live",
            }
            if _takes(wanted, row):
                yield number, row

    def _of_played(self, wanted: Filter, before: int | None, count: int) -> Iterator[_Found]:
        with self._lock:
            played = self._played[:before]
        for i in reversed(range(len(played))):
            row = played[i][0]
            if _takes(wanted, row):
                yield i, dict(row)

    def _of_logs(self, wanted: Filter, before: int | None, count: int) -> list[_Found]:
        return self.logs.rows(wanted.query(), before, count)

    def _of_arena(
        self, index: int, wanted: Filter, before: int | None, count: int
    ) -> Iterator[_Found]:
        path = self.dbs[index]
        with Store(path) as store:
            assert store.settings is not None
            game: Any = store.settings.game
            watched = Part.REPLAY in game.parts
            rules = game.rules if watched else None
            if wanted.rules and wanted.rules != rules:
                return
            names = [player.name for player in store.settings.players]
            if not {wanted.player, wanted.lost_by} <= {"", *names}:
                return
            query = wanted.query({name: index for index, name in enumerate(names)})
            endings = store.endings(query, before, count)
            messages = store.fault_messages([one.number for one in endings if one.fault])
        for ending in endings:
            fault = None
            if ending.fault is not None:
                seat, kind = ending.fault
                fault = {"player": seat, "kind": kind, "message": messages[ending.number]}
            yield (
                ending.number,
                {
                    "key": str(Key(KeyKind.RESULT, index, ending.number)),
                    "source": path,
                    "number": ending.number,
                    "names": [names[player] for player in ending.players],
                    "winner": ending.winner,
                    "fault": fault,
                    "turns": ending.turns,
                    "rules": rules,
                    "game": "" if watched else game.title,
                    "live": "",
                },
            )

    def choices(self) -> dict[str, Any]:
        """Return what the filters can be set to.

        Returns
        -------
        dict
            ``players``, ``kinds`` of faults, ``rules``, and ``sources`` with ``key``, ``path`` and
            ``games``, how many there are.
        """
        with self._lock:
            rows = [row for row, *_ in self._played]
        players = {name for row in rows for name in row["names"]} | {*self.logs.names()}
        kinds = {row["fault"]["kind"] for row in rows if row["fault"]} | {*self.logs.kinds()}
        rules = {row["rules"] for row in rows} | {*self.logs.rules()}
        games = []
        for path in self.dbs:
            games.append(0)
            with suppress(OSError, StoreError, ValueError), Store(path) as store:
                assert store.settings is not None
                players |= {player.name for player in store.settings.players}
                kinds |= store.fault_kinds()
                rules |= {getattr(store.settings.game, "rules", None)}
                games[-1] = store.last()
        here = {"key": "p", "path": "played here", "games": len(rows)}
        files = {"key": "f", "path": "files", "games": self.logs.count}
        return {
            "players": sorted(players),
            "kinds": sorted(kinds),
            "rules": sorted(filter(None, rules), reverse=True),
            "sources": [
                *([here] if rows else []),
                *([files] if self.files else []),
                *(
                    {"key": f"d{i}", "path": path, "games": count}
                    for i, (path, count) in enumerate(zip(self.dbs, games, strict=True))
                ),
            ],
        }

    def stamp(self) -> object:
        """Return another value when a file has changed; the value itself means nothing."""
        stamps = []
        for path in self.dbs:
            for name in (path, f"{path}-wal"):
                with suppress(OSError):
                    stat = os.stat(name)
                    stamps.append((name, stat.st_mtime_ns, stat.st_size))
        return stamps, self.logs.stamp(), [key for key, _ in self.live()]


def _takes(wanted: Filter, row: dict[str, Any]) -> bool:
    """Return whether a row is wanted."""
    kind = row["fault"]["kind"] if row["fault"] else None
    return wanted.rules in ("", row["rules"]) and wanted.takes(
        row["names"], row["winner"], kind, row["turns"]
    )


def _fault(fault: Fault | None) -> dict[str, Any] | None:
    if fault is None:
        return None
    return {"player": fault.player, "kind": str(fault.kind), "message": fault.message}
