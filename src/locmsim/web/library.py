"""The matches that the pages show: logs in files, arenas' results, and what was played here."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from locmsim.arena import LocmGame, StoreError
from locmsim.arena.catalogue import Catalogue, LogPlace
from locmsim.arena.game_store import ALL_GAMES, GameQuery, GameRow
from locmsim.arena.log_rows import key_of
from locmsim.arena.store import Store
from locmsim.game.match import Match
from locmsim.referee.any_game import view_steps
from locmsim.referee.process_match import Result
from locmsim.referee.transcript import log_line
from locmsim.support.files import file_stamp
from locmsim.web.keys import Key, KeyKind
from locmsim.web.live_logs import LiveMatches
from locmsim.web.log_files import LogFiles
from locmsim.web.match_data import seat_names, told_apart
from locmsim.web.sources import Played, arena_match, error_text, part_match, played_in

#: The number of matches that were read last and are kept.
_KEPT = 64


class Library:
    """The matches there are, each with a key (`locmsim.web.keys.Key`), in one catalogue.

    The files of arenas' results are read anew each time, and need not be there yet.
    """

    def __init__(self, files: Sequence[str] = (), dbs: Sequence[str] = ()) -> None:
        self.files, self.dbs = files, dbs
        #: The number of changes of the list.
        self.version = 0
        self._stamp: object = None
        self._lock = threading.Lock()
        #: The rows of matches that are played on the pages.
        self.playing: Callable[[], list[GameRow]] = list
        self.catalogue = Catalogue()
        self.logs = LogFiles(files, self.catalogue, self.changed)
        self.live = LiveMatches(files, lambda: self.dbs, self._key_of_log)
        #: Matches that were played here, by key: those that are in no file, and the descriptions of
        #: players.
        self._played: dict[str, Played] = {}
        self._agents: dict[str, tuple[str, str]] = {}
        #: Matches that were read last: reading one again costs nothing. A match of results is known
        #: by what was played, since another tournament may replace the file.
        self._log = lru_cache(_KEPT)(played_in)
        self._result = lru_cache(_KEPT)(lambda path, number, *played: arena_match(path, number))

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
        log: str = "",
    ) -> str:
        """Add a match that was played here, and return its key.

        The list calls its source `label`, by default the path of its log. `live` is the key under
        which it was watched as it was played, `agents` describe the players, and `log` is its log,
        if it is in no file.
        """
        if path:
            with open(path, "rb") as file:
                data = file.read()
        else:
            data = (log or log_line(result, names)).encode(errors="surrogatepass")
        key = key_of(data)
        row = GameRow(
            seat_names(names),
            result.winner,
            result.turns,
            None if result.fault is None else result.fault.row(),
            result.match.rules,
            source=label or path or "played here",
        )
        if agents:
            self._agents[key] = (agents[0], agents[1])
        # One that is in a file is read again when it is wanted.
        if not path:
            self._played[key] = Played(result, names, LocmGame(result.match.rules))
        self.catalogue.add(key, row, LogPlace(path, 0, len(data)) if path else None)
        if live:
            self.live.ended(live, key)
        self.changed()
        return key

    def close(self) -> None:
        """Close what follows the matches that are being played."""
        self.live.close()

    # -------------------------------------------------------------------------------- a match

    def load(self, key: str) -> tuple[Result[Match], tuple[str, str]]:
        """Return a match of LOCM, played again, and the names of its players.

        ``ValueError`` says why it cannot be read, or that there is none.
        """
        return self._load(key).of_locm()

    def _load(self, key: str) -> Played:
        """Return a match of any game; errors as of `load`."""
        kind, _, number = Key.parse(key)
        if (played := self._played.get(key)) is not None:
            return played
        place = None if kind == KeyKind.RESULT else self._place_of(key)
        path = self._results(key) if place is None else place.path
        with _named(path):
            if place is not None:
                return self._log(place.read())
            with Store(path) as store:
                record = store.game(number or 0)
            return self._result(path, number or 0, record.fixture, record.answers)

    def identity(self, key: str) -> str:
        """Return the hash of what a match is, which its file may replace; errors as of `load`."""
        result, names = self.load(key)
        return blake2b(json.dumps([result.match.log, names]).encode()).hexdigest()

    def _results(self, key: str) -> str:
        """Return the file of results of a key."""
        kind, place, _ = Key.parse(key)
        if kind != KeyKind.RESULT or place >= len(self.dbs):
            raise ValueError(f"there is no match {key!r}")
        return self.dbs[place]

    def _place_of(self, key: str) -> LogPlace:
        """Return where a log is, also if a file with it has changed or is gone."""
        if not len(self.catalogue):
            self.logs.refresh()
        problem = f"there is no match {key!r}"
        for place in self.catalogue.places(key):
            try:
                self.logs.look(place.path)
            except OSError as error:
                problem = error_text(place.path, error)
                continue
            for now in self.catalogue.places(key):
                if now.path == place.path:
                    return now
        raise ValueError(problem)

    def _key_of_log(self, path: str) -> str | None:
        """Return the key of the log of a file that has no other one; None if there is none."""
        self.logs.refresh()
        return self.catalogue.alone(path)

    def agents(self, key: str) -> tuple[str, str]:
        """Return the descriptions of a match's players, from which they can be made again.

        Empty where nothing but their names is known; ``ValueError`` as for `load`.
        """
        kind, _, number = Key.parse(key)
        if kind != KeyKind.RESULT:
            return self._agents.get(key, ("", ""))
        path = self._results(key)
        with _named(path), Store(path) as store:
            first, second = store.settings.fixture(number or 0).players
            return store.settings.players[first].spec, store.settings.players[second].spec

    def any_match(self, key: str) -> dict[str, Any]:
        """Return a match of any game, step by step, as its game shows it.

        It has ``title`` of the game, ``turn`` (what one answer is called), ``names``, ``scores``,
        ``winner``, ``fault``, ``steps`` as of `locmsim.referee.any_game.view_steps`, and
        ``running``, whether more of them may come. ``ValueError`` as for `load`.
        """
        kind, running = Key.parse(key).kind, False
        if kind == KeyKind.LIVE:
            reader = self.live.get(key)
            reader.update()
            result, names, running = reader.result(), reader.names, not reader.over
            game = reader.game or LocmGame(result.match.rules)
        else:
            if kind == KeyKind.MATCH and key not in self._played:
                place = self._place_of(key)
                if place.number is not None:
                    with _named(place.path):
                        lines = place.read().splitlines(keepends=True)
                        return part_match(place.server, lines, place.number)
            result, names, game = self._load(key)
        return {
            "title": game.title,
            "turn": game.turn_name,
            "names": told_apart(names),
            "scores": list(result.scores),
            "winner": result.winner,
            "fault": result.fault and result.fault.row(),
            "steps": [*view_steps(result, game)],
            "running": running,
        }

    def any_version(self, key: str) -> object:
        """Return another value when a match of any game may have new steps."""
        if Key.parse(key).kind == KeyKind.LIVE:
            reader = self.live.get(key)
            reader.update()
            return len(reader.calls), reader.over
        return [file_stamp(place.path) for place in self.catalogue.places(key)]

    # ------------------------------------------------------------------------------- the list

    def matches(
        self, wanted: GameQuery = ALL_GAMES, after: str = "", count: int = 100, source: str = ""
    ) -> dict[str, Any]:
        """Return a part of the matches that a filter takes.

        First come those that are being played, then those played here, those of files and those of
        arenas; of each the latest first. However many matches there are, and however few of them a
        filter takes, an answer reads about as many entries of an index as it has rows. `source` is
        the key of one of `choices`, or empty for all.

        The part begins where `after` says: ``next`` of the previous one, empty for the first one;
        ``ValueError`` if that is no such place. The answer has ``matches``, rows as of `_row`,
        ``next``, None at the end, and ``errors``, what cannot be read and why.
        """
        if not source.startswith(KeyKind.RESULT):
            self.logs.refresh()
            self.catalogue.run([*self.live.rows(), *self.playing()])
        errors = self.logs.errors
        sources = ["m", *self._files_of_results()]
        first, _, place = after.partition(":")
        if after and not (first in sources and place.isdecimal() and len(place) < 19):
            raise ValueError(f"after: there is no place {after!r} in the list")
        rows: list[dict[str, Any]] = []
        following = None
        last = after
        for one in sources[sources.index(first) if after else 0 :]:
            if source not in ("", one) and not (one == "m" and source in ("p", "f")):
                continue
            before = int(place) if one == first else None
            left = count - len(rows)
            try:
                found = self._listed(one, wanted, before, left + 1, source)
            except (OSError, StoreError, ValueError) as error:
                errors.append(error_text(self._results(f"{one}:0"), error))
                continue
            rows += [_row(one, row) for row in found[:left]]
            if left and found:
                last = f"{one}:{found[:left][-1].place}"
            if len(found) > left:  # there is one more
                following = last
                break
        return {
            "matches": rows,
            "next": following,
            "errors": errors,
        }

    def _files_of_results(self) -> dict[str, str]:
        """Return the files of results by the beginnings of the keys of their matches."""
        return {f"{KeyKind.RESULT}{i}": path for i, path in enumerate(self.dbs)}

    def _listed(
        self, one: str, wanted: GameQuery, before: int | None, count: int, source: str
    ) -> list[GameRow]:
        if one == "m":
            return self.catalogue.listed(wanted, before, count, source)
        with Store(self._results(f"{one}:0")) as store:
            return store.listed(wanted, before, count)

    def choices(self) -> dict[str, Any]:
        """Return what the filters can be set to.

        These are ``players``, ``kinds`` of faults, ``rules``, and ``sources`` with ``key`` and
        ``path``.
        """
        players, kinds, rules = set[str](), set[str](), set[str]()

        def add(store: Catalogue | Store, names: Sequence[str]) -> None:
            players.update(names)
            kinds.update(store.fault_kinds())
            rules.update(store.rule_sets())

        sources = {"p": "played here"} if self.catalogue.listed(count=1, source="p") else {}
        sources |= {"f": "files"} if self.files else {}
        sources |= self._files_of_results()
        add(self.catalogue, self.catalogue.names())
        for path in self.dbs:
            with suppress(OSError, StoreError, ValueError), Store(path) as store:
                add(store, [player.name for player in store.settings.players])
        return {
            "players": sorted(players),
            "kinds": sorted(kinds),
            "rules": sorted(rules, reverse=True),
            "sources": [{"key": key, "path": path} for key, path in sources.items()],
        }


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Name the file in which something is wrong."""
    try:
        yield
    except (OSError, StoreError, ValueError, RecursionError) as error:
        raise ValueError(error_text(path, error)) from None


def _row(source: str, found: GameRow) -> dict[str, Any]:
    """Return what the page of the list gets of a match."""
    row = {**found._asdict(), "key": found.key or f"{source}:{found.place}"}
    del row["place"]
    return {**row, "names": told_apart(found.names)}
