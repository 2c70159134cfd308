"""The page *Arena*: tournaments as they are played, from the files that they are written to."""

import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from locmsim.arena import Settings, StoreError
from locmsim.arena.cards import card_rows
from locmsim.arena.follow import ResultsReader
from locmsim.arena.records import Record
from locmsim.arena.store import Store
from locmsim.contract import Part
from locmsim.options.declarations import Declared, Option, declaration, declared
from locmsim.processes.supervisor import Child, Supervisor, python_command
from locmsim.rules.options import Rules
from locmsim.web.endpoints import Query, Refusal, get, post, whole_of
from locmsim.web.forms import form_of, values_of
from locmsim.web.jobs import Job, Jobs
from locmsim.web.opponents import opponent_of
from locmsim.web.site import Page, Site

#: The matches that are read at once for the table of cards.
_BLOCK = 100
#: The most players of a tournament that is started here.
_PLAYERS = 16
#: The fields of a new one, besides its players.
_FORM = (
    declaration("rules", Rules, "1.5"),
    declared(Settings)["mode"],
    Declared("games", int, 100, Option("number of matches per pairing", 1, 100_000)),
    declared(Settings)["seed"]._replace(default=None),
)
#: The most tournaments at a time, and the most characters that are shown of what one wrote last.
_RUNNING, _SHOWN = 2, 1000
#: What one writes at its start, which is no failure.
_TO_PLAY = re.compile("^locmsim arena: .*[0-9] games? to play\n", re.MULTILINE)
#: The seconds between two looks at a file that a page follows.
_LOOK = 2.0
#: The time that the tournaments get to end, in seconds.
_ENDING = 10.0


@dataclass
class _Arena:
    """A tournament that is followed; one that was started here has a process."""

    reader: ResultsReader
    process: Child | None = None
    #: What the process writes to its standard error.
    written: IO[bytes] | None = None
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def runs(self) -> bool:
        """Whether it was started here and has not ended."""
        return self.process is not None and self.process.exit_code() is None

    def failure(self) -> str:
        """Return why it has broken off; empty if it has not."""
        if self.written is None or self.stopped or self.runs:
            return ""
        size = self.written.seek(0, os.SEEK_END)
        self.written.seek(max(0, size - _SHOWN))
        text = self.written.read().decode(errors="replace")
        return _TO_PLAY.sub("", text).strip()

    def row(self) -> dict[str, Any]:
        """Return what a list shows of it."""
        path, failure = self.reader.path, self.failure()
        row = {"path": path, "name": os.path.basename(path), "running": self.runs}
        with self.lock:
            try:
                games, goal = self.reader.update().games, self.reader.settings.count
            except StoreError as error:
                return {**row, "error": str(error), "failure": failure}
        # One that came to its end may have written as well.
        failure = "" if games >= goal else failure
        return {**row, "error": None, "games": games, "goal": goal, "failure": failure}


class _Arenas:
    """The tournaments of the files named on the command line and of those started here.

    What is started is the command ``locmsim arena``; it ends with the site, even if that is killed.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._all = [_Arena(ResultsReader(path)) for path in site.library.dbs]
        self._supervisor = Supervisor()
        self._lock = threading.Lock()
        self._closed = False

    def files(self, query: Query) -> object:
        """Return the files, how far each tournament is, and which can be stopped."""
        return {"files": [one.row() for one in self._all]}

    def version(self, key: str) -> object:
        """Return another value when a tournament has new matches, or has ended."""
        one = self._arena(int(key))
        with one.lock, suppress(StoreError):
            one.reader.update()
        return one.reader.version, one.runs

    def results(self, query: Query) -> object:
        """Return a tournament's figures, that there are no new ones, or why there are none."""
        number = whole_of(query, "db", 0)
        arena, player = self._arena(number), whole_of(query, "player", 0)
        known = query.get("known", "")
        reader, row = arena.reader, arena.row()
        with arena.lock:
            try:
                tally = reader.update()
            except StoreError as error:
                # Not an error of the request: the file may still be created.
                return {**row, "version": "", "same": False, "error": str(error)}
            # Another tournament in the file may have fewer players.
            if not 0 <= player < len(tally.players):
                player = 0
            version = f"{number}.{reader.version}.{player}"
            if known == version:
                return {**row, "version": version, "same": True}
            settings = reader.settings
            return {
                **row,
                "version": version,
                "same": False,
                "title": settings.game.title,
                "turn": settings.game.turn_name,
                "scored": settings.game.scored,
                "watched": Part.REPLAY in settings.game.parts,
                "cards": hasattr(settings.game, "cards_of"),
                "finished": reader.finished,
                "player": player,
                "results": reader.to_json(),
                "score": reader.score_curve(player),
                "llr": reader.llr_curve(),
            }

    def cards(self, data: dict[str, Any], jobs: Jobs) -> Job:
        """Start to count what became of the cards of a player, or of all: every match is replayed.

        The result has ``games`` and ``rows``, as of `locmsim.arena.Arena.cards`.
        """
        number, player = whole_of(data, "db", 0), whole_of(data, "player", -1)
        arena = self._arena(number)
        reader = arena.reader
        with arena.lock:
            try:
                tally = reader.update()
            except StoreError as error:
                raise Refusal(error, 409) from None
            settings, games, version = reader.settings, tally.games, reader.version
        if not -1 <= player < len(settings.players):
            raise Refusal(f"player: expected -1 to {len(settings.players) - 1}, got {player}")

        def work(job: Job) -> None:
            done = 0

            def records() -> Iterator[Record]:
                nonlocal done
                for record in _records(reader.path):
                    if done % _BLOCK == 0:
                        job.update(done, games, None)
                    done += 1
                    yield record

            try:
                rows = card_rows(settings, records(), None if player < 0 else player)
            except StoreError as error:
                raise ValueError(error) from None
            job.update(done, done, {"games": done, "rows": [row.to_json() for row in rows]})

        return jobs.start(("cards", number, version, player), work)

    def start(self, data: dict[str, Any]) -> object:
        """Start one between opponents of the list, and return the number of its file."""
        keys = data.get("players")
        if not isinstance(keys, list) or not 2 <= len(keys) <= _PLAYERS:
            raise Refusal(f"choose 2 to {_PLAYERS} players")
        values = values_of(data, _FORM)
        specs = []
        for key in keys:
            opponent = opponent_of(self._site.opponents, key, values["rules"])
            # Opponents of the command line already have their names in them.
            named = opponent.key.startswith("bot") and opponent.key[3:].isdecimal()
            specs.append(self._site.bots[int(opponent.key[3:])] if named else opponent.agent)
        with self._lock:
            if self._closed:
                raise Refusal("the site is closing", 503)
            if sum(one.runs for one in self._all) >= _RUNNING:
                raise Refusal(f"{_RUNNING} arenas are running: stop one, or wait for it", 429)
            path = os.path.join(self._site.results_folder(), f"arena-{time.time_ns()}.db")
            words = ["--db", path, "--jobs", "1", "--timeout-scale", str(self._site.timeout_scale)]
            words += [f"--{name}={value}" for name, value in values.items() if value is not None]
            command = python_command("locmsim.cli.main", "main", "arena", *words, "--", *specs)
            written = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
            with open(os.devnull, "r+b") as file:
                null = file.fileno()
                process = self._supervisor.start(
                    command, stdin=null, stdout=null, stderr=written.fileno()
                )
            self._all.append(_Arena(ResultsReader(path), process, written))
            self._site.library.dbs = [*self._site.library.dbs, path]
            return {"db": len(self._all) - 1}

    def stop(self, data: dict[str, Any]) -> object:
        """End one; the matches that were played stay."""
        arena = dict(enumerate(self._all)).get(whole_of(data, "db"))
        if arena is None or arena.process is None:
            raise Refusal("this arena was not begun here", 404)
        arena.stopped = True
        arena.process.signal(signal.SIGINT)
        return {}

    def close(self) -> None:
        """End all; what does not end by itself is killed."""
        with self._lock:
            self._closed = True
        started = [(one.process, one.written) for one in self._all if one.process and one.written]
        for process, _ in started:
            process.signal(signal.SIGINT)
        deadline = time.monotonic() + _ENDING
        for process, _ in started:
            process.wait(max(0.0, deadline - time.monotonic()))
        self._supervisor.end()
        for _, written in started:
            written.close()

    def _arena(self, number: int) -> _Arena:
        if not 0 <= number < len(self._all):
            raise Refusal("no such file of results: name it with --db", 404)
        return self._all[number]


def _records(path: str) -> Iterator[Record]:
    """Yield all matches of a file, which is open only while it is read."""
    last = 0
    while True:
        with Store(path) as store:
            block = [*store.records(last, _BLOCK)]
        if not block:
            return
        last = block[-1].outcome.number
        yield from block


def page(site: Site) -> Page:
    """Return the page and its endpoints: files, figures, cards, a new tournament."""
    arenas = _Arenas(site)
    site.closing.append(arenas.close)
    site.news.add("arena", arenas.version, _LOOK)
    return Page(
        "arena",
        "Arena",
        [
            get("/api/arena", arenas.files),
            get("/api/arena/form", lambda query: {"fields": form_of(_FORM)}),
            get("/api/arena/results", arenas.results),
            post("/api/arena/cards", lambda data: arenas.cards(data, site.jobs)),
            post("/api/arena/start", arenas.start),
            post("/api/arena/stop", arenas.stop),
        ],
        address="/arena",
    )
