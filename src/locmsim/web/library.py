"""The matches that the pages show: logs in files, arenas' results, and what was played here."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

from locmsim._io import file_stamp
from locmsim.arena import LocmGame, StoreError
from locmsim.arena.store import Store
from locmsim.contract import Game
from locmsim.game.match import Match
from locmsim.referee.any_game import view_steps
from locmsim.referee.log_reader import is_of_another_game, read_log
from locmsim.referee.process_match import Result
from locmsim.web.filters import ALL, Filter
from locmsim.web.keys import Key, KeyKind
from locmsim.web.listing import Choices, Source, part_of, result_rows
from locmsim.web.live_matches import LiveMatches
from locmsim.web.loaded import Loaded, LoadedMatches
from locmsim.web.log_files import LogFiles
from locmsim.web.played import PlayedMatches
from locmsim.web.sources import (
    arena_game,
    arena_match,
    error_text,
    logged_match,
    part_view,
    replay_of,
)
from locmsim.web.views import fault_row, seat_names

__all__ = ["Library"]


class Library:
    """The matches there are, each with a key (`locmsim.web.keys.Key`).

    Nothing of a game is kept but what a store has of it and the ones that were looked at last.

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
        #: The number of changes of the list.
        self.version = 0
        self._stamp: object = None
        self._lock = threading.Lock()
        #: The rows of games that are played on the pages; a number follows the letter of each key.
        self.playing: Callable[[], list[dict[str, Any]]] = list
        self.logs = LogFiles(files, self.changed)
        self.live = LiveMatches(files, lambda: self.dbs, self.logs)
        self._kept = LoadedMatches()
        self._played = PlayedMatches(self._kept)

    def changed(self) -> None:
        """Tell those who follow the list that it has changed. Any thread may call it."""
        with self._lock:
            self.version += 1

    def look(self) -> int:
        """Return the version of the list, after a look at the files."""
        stamp = self.stamp()
        if stamp != self._stamp:
            first, self._stamp = self._stamp is None, stamp
            if not first:
                self.changed()
        return self.version

    def stamp(self) -> object:
        """Return another value when a file has changed; the value itself means nothing."""
        stamps = [file_stamp(name) for path in self.dbs for name in (path, f"{path}-wal")]
        return stamps, self.logs.stamp(), [key for key, _ in self.live.running()]

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
        key = str(Key(KeyKind.OVER, self._played.add(result, names, label, path, agents)))
        if live:
            self.live.ended(live, key)
        self.changed()
        return key

    def close(self) -> None:
        """Close what follows the matches that are being played."""
        self.live.close()

    # -------------------------------------------------------------------------------- a match

    def load(self, key: str) -> Loaded:
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
            path = self._played.path(place)
            return self._played.load(place)
        except (OSError, StoreError, ValueError) as error:
            raise ValueError(error_text(path, error)) from None

    def identity(self, key: str) -> str:
        """Return the hash of what a match is, which its file may replace; ``ValueError`` as `load`.

        Parameters
        ----------
        key : str
            As in the rows of `games`.
        """
        result, names = self.load(key)
        return blake2b(json.dumps([result.match.log, names]).encode()).hexdigest()

    def agents(self, key: str) -> tuple[str, str]:
        """Return the descriptions of a match's players, from which they can be made again.

        Empty where nothing but their names is known; ``ValueError`` as for `load`.
        """
        kind, place, number = self._place_of(key)
        if number is None:
            return self._played.agents(place) if kind == KeyKind.OVER else ("", "")
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
            reader = self.live.get(key)
            reader.update()
            result, names, running = reader.result(), reader.names, not reader.over
            game = reader.game or LocmGame(result.match.rules)
        else:
            result, names, game = self._of_any_game(key)
        return {
            "title": game.title,
            "turn": game.turn_name,
            "names": seat_names(names),
            "scores": list(result.scores),
            "winner": result.winner,
            "fault": fault_row(result.fault),
            "steps": [*view_steps(result, game)],
            "running": running,
        }

    def view_version(self, key: str) -> object:
        """Return another value when a match that `view` shows may have new steps."""
        if Key.parse(key).kind == KeyKind.LIVE:
            reader = self.live.get(key)
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

    def _log(self, number: int) -> Loaded:
        place = self.logs.place(number)

        def read() -> Loaded:
            with open(place.path, "rb") as file:
                file.seek(place.start)
                return replay_of(file.read(place.size))

        try:
            return self._kept.get(place, read)
        except (OSError, ValueError) as error:
            raise ValueError(error_text(place.path, error)) from None

    def _arena_game(self, path: str, number: int) -> Loaded:
        """Return a game of an arena's results; another tournament may have replaced the file."""
        with Store(path) as store:
            record = store.game(number)
        key = path, record.fixture, record.answers
        return self._kept.get(key, lambda: arena_game(path, number))

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
        wrong = self.logs.errors
        part = part_of(self._sources(), wanted, after, count)
        return {
            "games": part.games,
            "next": part.following,
            "reading": self.logs.reading,
            "version": version,
            "errors": [*wrong, *part.errors],
        }

    def _sources(self) -> dict[str, Source]:
        """Return the sources by key: the first letters of the keys of their games."""
        found = {
            str(KeyKind.GAME): Source("games that are played here", self._of_playing),
            str(KeyKind.LIVE): Source("matches that are being played", self.live.rows),
            str(KeyKind.OVER): Source("games that were played here", self._played.rows),
            str(KeyKind.LOG): Source("files", self.logs.rows),
        }
        for i, path in enumerate(self.dbs):
            found[f"{KeyKind.RESULT}{i}"] = Source(path, partial(result_rows, i, path))
        return found

    def _of_playing(
        self, wanted: Filter, before: int | None, count: int
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for row in reversed(self.playing()):
            number = Key.parse(row["key"]).place
            if (before is None or number < before) and wanted.takes(row):
                yield number, row

    def choices(self) -> dict[str, Any]:
        """Return what the filters can be set to.

        Returns
        -------
        dict
            ``players``, ``kinds`` of faults, ``rules``, and ``sources`` with ``key``, ``path`` and
            ``games``, how many there are.
        """
        choices = Choices()
        if len(self._played):
            choices.add_logs(str(KeyKind.OVER), "played here", self._played.store)
        if self.files:
            choices.add_logs(str(KeyKind.LOG), "files", self.logs.store)
        for i, path in enumerate(self.dbs):
            choices.add_results(f"{KeyKind.RESULT}{i}", path)
        return choices.to_json()
