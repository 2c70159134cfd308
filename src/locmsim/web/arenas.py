"""The page *Arena*: tournaments as they are played, from the files that they are written to."""

import os
import threading
from typing import Any

from starlette.requests import Request

from locmsim.arena import StoreError
from locmsim.arena.follow import Ending, ResultsReader
from locmsim.contract import Part
from locmsim.web.endpoints import Refusal, get, whole_of
from locmsim.web.site import Page, Site

__all__ = ["page"]

#: Rows in one answer, at most.
_ROWS = 200


class _Arenas:
    """The tournaments of the files named on the command line, each followed."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._readers = [ResultsReader(path) for path in paths]
        self._locks = [threading.Lock() for _ in paths]

    def files(self, request: Request) -> object:
        """The files, and how far each tournament is."""
        return {"files": [self._file(number) for number in range(len(self._readers))]}

    def _file(self, number: int) -> dict[str, Any]:
        reader = self._readers[number]
        row: dict[str, Any] = {"path": reader.path, "name": os.path.basename(reader.path)}
        with self._locks[number]:
            try:
                games = reader.update().games
            except StoreError as error:
                return {**row, "error": str(error)}
            return {**row, "error": None, "games": games, "goal": reader.goal.games}

    def results(self, request: Request) -> object:
        """All figures of a tournament, only that there are none new, or why there are none."""
        query = request.query_params
        number = self._number(request)
        player = whole_of(query, "player", 0, text=True)
        known = query.get("known", "")
        reader = self._readers[number]
        with self._locks[number]:
            try:
                tally = reader.update()
            except StoreError as error:
                # Nothing wrong with the question: the file may come yet.
                return {"version": "", "same": False, "error": str(error)}
            # Another tournament in the file may have fewer players.
            if not 0 <= player < len(tally.players):
                player = 0
            version = f"{number}.{reader.version}.{player}"
            if known == version:
                return {"version": version, "same": True}
            settings = reader.settings
            return {
                "version": version,
                "same": False,
                "error": None,
                "path": reader.path,
                "title": settings.game.title,
                "turn": settings.game.turn_name,
                "scored": settings.game.scored,
                "watched": Part.REPLAY in settings.game.parts,
                "done": reader.done,
                "player": player,
                "results": reader.to_json(),
                "score": reader.score_curve(player),
                "llr": reader.llr_curve(),
            }

    def games(self, request: Request) -> object:
        """The games of a player, the last ones first."""
        query = request.query_params
        number = self._number(request)
        player = whole_of(query, "player", -1, text=True)
        other = whole_of(query, "other", -1, text=True)
        lost = query.get("lost") == "1"
        start = whole_of(query, "start", 0, text=True)
        count = whole_of(query, "count", 50, text=True)
        if start < 0 or not 0 < count <= _ROWS:
            raise Refusal(f"start: expected 0 or more, count: 1 to {_ROWS}")
        reader = self._readers[number]
        with self._locks[number]:
            try:
                reader.update()
            except StoreError as error:
                raise Refusal(error, 409) from None
            endings = [reader.endings[game] for game in sorted(reader.endings, reverse=True)]
        wanted = [ending for ending in endings if _wanted(ending, player, other, lost)]
        return {
            "total": len(wanted),
            "games": [
                {
                    "key": f"d{number}:{ending.number}",
                    "number": ending.number,
                    "players": ending.players,
                    "winner": ending.winner,
                    "turns": ending.turns,
                    "fault": ending.fault,
                }
                for ending in wanted[start : start + count]
            ],
        }

    def _number(self, request: Request) -> int:
        number = whole_of(request.query_params, "db", 0, text=True)
        if not 0 <= number < len(self._readers):
            raise Refusal("no such file of results: name it with --db", 404)
        return number


def _wanted(ending: Ending, player: int, other: int, lost: bool) -> bool:
    """Whether both took part, each of them anybody if negative, and whether `player` lost it."""
    seats = ending.players
    if (player >= 0 and player not in seats) or (other >= 0 and other not in seats):
        return False
    return not lost or (ending.winner is not None and seats[1 - ending.winner] == player)


def page(site: Site) -> Page:
    """The page and its endpoints: the files, a tournament's figures, and its games."""
    arenas = _Arenas(tuple(site.library.dbs))
    return Page(
        "arena",
        "Arena",
        [
            get("/api/arena", arenas.files),
            get("/api/arena/results", arenas.results),
            get("/api/arena/games", arenas.games),
        ],
        address="/arena",
    )
