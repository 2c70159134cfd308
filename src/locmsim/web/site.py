"""What all pages share: the address's token, the matches there are, and how a page is declared."""

import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

from starlette.routing import BaseRoute

from locmsim._core import State
from locmsim.web.jobs import Jobs
from locmsim.web.keys import Key, KeyKind
from locmsim.web.library import Library
from locmsim.web.machine import Machine, machine_of_match, machine_of_position
from locmsim.web.match_data import told_apart
from locmsim.web.news import News
from locmsim.web.opponents import Opponent, opponents
from locmsim.web.positions import Position, state_at_step

#: The number of positions that are kept; with one more the oldest is deleted.
_KEPT = 200


@dataclass(frozen=True)
class Page:
    """A page: what its module gives to `locmsim.web.app.create_app`."""

    #: Its script is ``static/page-NAME.js``, an ES module.
    name: str
    #: What the link to it says; empty for a page that is in no menu.
    title: str
    #: Its endpoints, made by `locmsim.web.endpoints`. Their addresses begin with ``/api/NAME``;
    #: these need the token.
    routes: Sequence[BaseRoute] = ()
    #: Where it is; empty for endpoints without a page.
    address: str = ""


@dataclass
class Site:
    """What the server of one call of the tool knows."""

    #: The matches that can be watched and analysed.
    library: Library
    #: Opponents named on the command line: descriptions of agents and commands, each with an
    #: optional ``name=`` before it.
    bots: Sequence[str] = ()
    #: Multiplies the time limits of opponents, 0 for none.
    timeout_scale: float = 5.0
    #: Where matches and tournaments are saved; empty for nowhere: they last as long as the server.
    folder: str = ""
    #: What the address needs for everything but the empty pages.
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    #: What the pages want to be called at the end.
    closing: list[Callable[[], None]] = field(default_factory=list)
    #: What gives the page of a match, as of `locmsim.web.replay_data`, by the kind of its key;
    #: `load` of the library gives all others.
    data: dict[KeyKind, Callable[[str], dict[str, Any]]] = field(default_factory=dict)
    #: Positions that were set up, by key.
    positions: dict[str, Position] = field(default_factory=dict)
    #: What pages follow.
    news: News = field(default_factory=News)
    #: The searches that take a while.
    jobs: Jobs = field(init=False)
    _numbers: Iterator[int] = field(default_factory=count)
    _temporary: tempfile.TemporaryDirectory[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.news)

    @cached_property
    def opponents(self) -> dict[str, Opponent]:
        """Who can be played against, by key: agents of the command line are made once."""
        return {opponent.key: opponent for opponent in opponents(self.bots)}

    def keep(self, position: Position) -> str:
        """Keep a position that was set up, and return its key."""
        key = str(Key(KeyKind.POSITION, next(self._numbers)))
        self.positions[key] = position
        for old in [*self.positions][:-_KEPT]:
            del self.positions[old]
        return key

    def identity(self, key: str) -> str:
        """Return what a match or a set-up position is, by which what was found of it is kept."""
        return key if key in self.positions else self.library.identity(key)

    def machine(self, key: str) -> Machine:
        """Return what answers about a match that is over, or about a position."""
        if key in self.positions:
            return machine_of_position(self.positions[key])
        result, names = self.library.load(key)
        return machine_of_match(result.match, result.calls, told_apart(names))

    def state(self, key: str, step: int) -> State:
        """Return the state at a step of a match or a set-up position, or raise ``ValueError``."""
        if key in self.positions:
            return self.positions[key].whole()
        return state_at_step(self.library.load(key)[0], step)

    def results_folder(self) -> str:
        """Return the folder for results of tournaments. Any thread may call it."""
        if self.folder:
            return self.folder
        with self._lock:
            if self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="locmsim-")
            return self._temporary.name

    def close(self) -> None:
        """End what the pages have started."""
        self.jobs.close()
        while self.closing:
            self.closing.pop()()
        with self._lock:
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None
