"""Games that begin here: a person against a bot, or two bots to watch."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from starlette.requests import Request

from locmsim._common_options import Seed
from locmsim._options import declaration
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import RULES
from locmsim.web.endpoints import Refusal, get, json_response, post, text_of, whole_of
from locmsim.web.forms import form_of, values_of
from locmsim.web.games import OutdatedError, PageGame
from locmsim.web.keys import Key, KeyKind
from locmsim.web.opponents import opponent_of, opponents
from locmsim.web.site import Page, Site

__all__ = ["page"]

#: The fields of a new game, besides who plays.
_FORM = (declaration("rules", Rules, "1.5"), declaration("seed", Seed, None))
#: The most games that are played at a time, and the most that are over and still have a page.
_GAMES, _OVER = 12, 64
#: A person's game that no page has shown for so many seconds can make room for another one, and
#: one that none has shown for so many is given up.
_IDLE, _ABANDONED = 600.0, 6 * 3600.0
#: A game that a page has shown within so many seconds is live, another one is paused.
_SEEN = 60.0
#: The time that all bots together get to end, in seconds; they are killed, one after the other.
_ENDING = 15.0


class _Table:
    """The games of a site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._games: dict[str, PageGame] = {}
        self._numbers: Iterator[int] = count(1)
        #: Games that others replaced, while their bots are ended.
        self._left: list[PageGame] = []
        #: Guards all of the above: games start in several threads.
        self._lock = threading.Lock()
        self._closed = False
        self.opponents = {opponent.key: opponent for opponent in opponents(site.bots)}

    def new(self, data: dict[str, Any]) -> PageGame:
        """Start a game of ``players``, two keys of opponents, null for the person."""
        rules, seed = values_of(data, _FORM).values()
        start = None
        if "from" in data:
            start = self._site.state(text_of(data, "from"), whole_of(data, "step", 0))
            rules = start.rules
        keys = data.get("players")
        if not isinstance(keys, list) or len(keys) != 2:
            raise Refusal("players: expected two keys of opponents, null for a person")
        players = [None if key is None else opponent_of(self.opponents, key, rules) for key in keys]
        with self._lock:
            if self._closed:
                raise Refusal("the site is closing", 503)
            self._free_place()
            key = str(Key(KeyKind.GAME, next(self._numbers)))
            game = PageGame(
                key,
                players,
                rules,
                seed=seed,
                start=start,
                timeout_scale=self._site.timeout_scale,
                folder=self._site.folder,
                ended=self._site.library.add,
            )
            self._games[key] = game
            game.start()
        self._site.library.changed()
        return game

    def _free_place(self) -> None:
        """Forget old games; raise `Refusal` if too many are being played."""
        played = [game for game in self._games.values() if not game.over]
        idle = sorted((game for game in played if game.idle > _IDLE), key=lambda game: -game.idle)
        for game in idle:
            if game.idle > _ABANDONED or len(played) >= _GAMES:
                game.leave()
                played.remove(game)
        if len(played) >= _GAMES:
            raise Refusal(
                f"{_GAMES} games are being played here: finish one, or leave it by New game", 429
            )
        over = [game for game in self._games.values() if game.over]
        for game in over[:-_OVER]:
            del self._games[game.key]
        self._left = [game for game in (*self._left, *over[:-_OVER]) if game.running]

    def rows(self) -> list[dict[str, Any]]:
        """Return what a list shows of the games being played, by the numbers in their keys."""
        with self._lock:
            return [
                {**game.row(), "live": "live" if game.idle < _SEEN else "paused"}
                for game in self._games.values()
                if not game.over
            ]

    def get(self, key: str) -> PageGame:
        """Return the game of a key."""
        game = self._games.get(key)
        if game is None:
            raise Refusal("this game is over or never was: begin a new one", 404)
        return game

    def close(self) -> None:
        """End all games and their bots, and let none start any more."""
        with self._lock:
            self._closed = True
            games = [*self._games.values(), *self._left]
        for game in games:
            game.leave()
        deadline = time.monotonic() + _ENDING
        for game in games:
            game.join(max(0.0, deadline - time.monotonic()))


def page(site: Site) -> Page:
    """Return the page *Play* and its endpoints: new games, and a person's actions in one."""
    table = _Table(site)
    site.closing.append(table.close)
    site.library.playing = table.rows
    site.data[KeyKind.GAME] = lambda key: table.get(key).data()
    site.news.add("game", lambda key: table.get(key).look())

    def choices(request: Request) -> object:
        return {
            "fields": form_of(_FORM),
            "opponents": [
                {"key": o.key, "name": o.name, "rules": o.rules or [*RULES]}
                for o in table.opponents.values()
            ],
        }

    def new(request: Request, data: dict[str, Any]) -> object:
        return {"game": table.new(data).key}

    def state(request: Request) -> object:
        query = request.query_params
        game = table.get(query.get("game", ""))
        return game.view(*(whole_of(query, name, 0, text=True) for name in ("have", "known")))

    def change(
        work: Callable[[PageGame, int, str, dict[str, Any]], None],
    ) -> Callable[[Request, dict[str, Any]], object]:
        def changed(request: Request, data: dict[str, Any]) -> object:
            game = table.get(text_of(data, "game"))
            try:
                work(game, whole_of(data, "version"), text_of(data, "client", "")[:40], data)
            except OutdatedError as error:
                return json_response({"error": str(error), "view": view(game, data)}, 409)
            return view(game, data)

        return changed

    def view(game: PageGame, data: dict[str, Any]) -> dict[str, Any]:
        return game.view(whole_of(data, "have", 0), whole_of(data, "known", 0))

    def chosen(data: dict[str, Any]) -> list[str]:
        keys = data.get("cards")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise Refusal("cards: expected a list of texts")
        return keys

    def leave(request: Request, data: dict[str, Any]) -> object:
        table.get(text_of(data, "game")).leave()
        return {}

    def hint(request: Request, data: dict[str, Any]) -> object:
        game = table.get(text_of(data, "game"))
        return game.hint(time_ms=site.hint_ms or None, nodes=site.hint_nodes or None)

    return Page(
        "play",
        "",
        [
            get("/api/play/choices", choices),
            get("/api/play/state", state),
            post("/api/play/new", new),
            post(
                "/api/play/cards", change(lambda g, v, c, data: g.choose_cards(v, c, chosen(data)))
            ),
            post("/api/play/do", change(lambda g, v, c, data: g.do(v, c, text_of(data, "action")))),
            post("/api/play/undo", change(lambda g, v, c, data: g.undo(v, c))),
            post("/api/play/end", change(lambda g, v, c, data: g.end_turn(v, c))),
            post("/api/play/leave", leave),
            post("/api/play/hint", hint),
        ],
    )
