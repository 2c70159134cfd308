"""Games that begin here: a person against a bot, or two bots to watch."""

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from locmsim.agents import LEVELS, known_agents, make_agent
from locmsim.arena.tournament import as_player
from locmsim.referee.agent_process import is_foreign
from locmsim.referee.locm_agents import LocmAgents
from locmsim.rules.rulesets import RULES, get_rules
from locmsim.web.endpoints import Refusal, get, json_response, post, text_of, whole_of
from locmsim.web.games import Game, Opponent, OutdatedError
from locmsim.web.site import Page, Site

__all__ = ["opponent_of", "opponents", "page"]

#: The most games at a time; with one more the oldest is ended.
_GAMES = 12
#: How long a page waits for news before it asks again, in seconds.
_PATIENCE = 20.0
#: The time that all bots together get to end, in seconds; they are killed, one after the other.
_ENDING = 15.0


def opponents(bots: Sequence[str] = ()) -> list[Opponent]:
    """Return who can be played against.

    Parameters
    ----------
    bots : sequence of str
        Descriptions of agents and commands, each with an optional ``name=`` before it.

    Returns
    -------
    list of Opponent
        Those, the levels of the bundled bot, and all agents that have a name and need no option.

    Raises
    ------
    ValueError
        One of `bots` describes an agent that is not there, or is an empty command.
    """
    found = []
    for i, text in enumerate(bots):
        player, agent = as_player(text, LocmAgents())  # of all rule sets
        kind: dict[str, Any] = {"command" if player.process else "agent": player.spec}
        foreign = agent is not None and is_foreign(type(agent), player.spec)
        found.append(
            Opponent(f"bot{i}", player.name, **kind, rules=_rules_of(agent), foreign=foreign)
        )
    found += [
        Opponent(f"level{k}", f"Level {k}", agent=f"level:k={k}")
        for k in range(1, 1 + min(map(len, LEVELS.values())))
    ]
    for info in known_agents():
        if info.name == "level":
            continue
        known: object = info.factory
        if info.package == "locmsim":
            try:
                known = make_agent(info.name)
            except ValueError:  # it needs an option
                continue
        elif known is None or inspect.Parameter.empty in info.options.values():
            continue
        # Agents of installed packages are not made here: their classes tell which rules they play.
        key, rules = f"agent-{info.name}", _rules_of(known)
        foreign = info.package != "locmsim"
        found.append(Opponent(key, info.name, agent=info.name, rules=rules, foreign=foreign))
    return found


def _rules_of(agent: object) -> tuple[str, ...]:
    """Return the rule sets that an agent, or agents of a class, play; () for all."""
    only = getattr(agent, "only_rules", None)
    return (only,) if isinstance(only, str) else ()  # a property, in a class


def opponent_of(known: Mapping[str, Opponent], key: object, rules: str) -> Opponent:
    """Return the opponent of a key, or raise `Refusal`: there is none, or not for these rules."""
    opponent = known.get(key) if isinstance(key, str) else None
    if opponent is None:
        raise Refusal("there is no such opponent")
    if opponent.rules and rules not in opponent.rules:
        raise Refusal(f"{opponent.name} plays rules {' and '.join(opponent.rules)} only")
    return opponent


class _Table:
    """The games of a site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._games: dict[str, Game] = {}
        self._numbers: Iterator[int] = count(1)
        #: Games that others replaced, while their bots are ended.
        self._left: list[Game] = []
        #: Guards all of the above: games start in several threads.
        self._lock = threading.Lock()
        self._closed = False
        self.opponents = {opponent.key: opponent for opponent in opponents(site.bots)}

    def new(self, data: dict[str, Any]) -> Game:
        """Start a game of ``players``, two keys of opponents, null for the person."""
        rules = text_of(data, "rules", "1.5")
        start = None
        if "from" in data:
            start = self._site.state(text_of(data, "from"), whole_of(data, "step", 0))
            rules = start.rules
        get_rules(rules)
        keys = data.get("players")
        if not isinstance(keys, list) or len(keys) != 2:
            raise Refusal("players: expected two keys of opponents, null for a person")
        players = [None if key is None else opponent_of(self.opponents, key, rules) for key in keys]
        seed = None if data.get("seed") is None else whole_of(data, "seed", text=True)
        if seed is not None and not -(1 << 63) <= seed < 1 << 63:
            raise Refusal("seed: expected a signed 64-bit integer")
        with self._lock:
            if self._closed:
                raise Refusal("the site is closing", 503)
            key = f"g{next(self._numbers)}"
            game = Game(
                key,
                players,
                rules,
                seed=seed,
                start=start,
                timeout_scale=self._site.timeout_scale,
                folder=self._site.saving_folder(),
                ended=self._site.library.add,
            )
            self._games[key] = game
            for old in [*self._games.values()][:-_GAMES]:
                old.leave()
                self._games.pop(old.key, None)
                self._left = [*(game for game in self._left if game.running), old]
            game.start()
        self._site.library.news.changed()
        return game

    def rows(self) -> list[dict[str, Any]]:
        """Return what a list shows of the games being played, by the numbers in their keys."""
        with self._lock:
            return [game.row() for game in self._games.values() if not game.over]

    def get(self, key: str) -> Game:
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
    site.data["g"] = lambda key: table.get(key).data()

    def choices(request: Request) -> object:
        return {
            "rules": [*RULES],
            "opponents": [
                {"key": o.key, "name": o.name, "rules": o.rules or [*RULES]}
                for o in table.opponents.values()
            ],
        }

    def new(request: Request, data: dict[str, Any]) -> object:
        return {"game": table.new(data).key}

    async def news(request: Request) -> Response:
        query = request.query_params
        game = table.get(query.get("game", ""))
        numbers = [whole_of(query, name, 0, text=True) for name in ("have", "known")]
        await _newer(game, whole_of(query, "after", -1, text=True))
        return json_response(game.view(*numbers))

    def change(
        work: Callable[[Game, int, str, dict[str, Any]], None],
    ) -> Callable[[Request, dict[str, Any]], object]:
        def changed(request: Request, data: dict[str, Any]) -> object:
            game = table.get(text_of(data, "game"))
            try:
                work(game, whole_of(data, "version"), text_of(data, "client", "")[:40], data)
            except OutdatedError as error:
                return json_response({"error": str(error), "view": view(game, data)}, 409)
            return view(game, data)

        return changed

    def view(game: Game, data: dict[str, Any]) -> dict[str, Any]:
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
            Route("/api/play/news", news, methods=["GET"]),
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


async def _newer(game: Game, after: int) -> None:
    """Wait until a game has a later version, for a while."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    end = game.listen(lambda: loop.call_soon_threadsafe(changed.set))
    try:
        if game.version <= after and not game.over:
            async with asyncio.timeout(_PATIENCE):
                await changed.wait()
    except TimeoutError:
        pass
    finally:
        end()
