"""Matches of before: logs, and games of an arena's results."""

import json
import os
from typing import TYPE_CHECKING

from locmsim.cli._common import Failure
from locmsim.referee.transcript import replay_log

if TYPE_CHECKING:
    from locmsim.game.match import Match
    from locmsim.referee.play import Result

__all__ = ["load_result"]

_SQLITE = b"SQLite format 3\0"


def load_result(
    game: str, option: str, rules: str | None = None, ids: str | None = None
) -> tuple["Result[Match]", tuple[str, str]]:
    """The match of a log (``FILE``) or of an arena's results (``DB:NUMBER``), played again.

    And what its players are called, as far as that is known. Without `rules` and `ids` those of a
    log are what it says, else 1.5 and "new". `Failure` names the option that the text came from.
    """
    db, colon, number = game.rpartition(":")
    try:
        if not os.path.exists(game) and colon and number.isdecimal():
            from locmsim.arena import Arena, StoreError

            try:
                with Arena.load(db) as arena:
                    players = arena.record(int(number)).fixture.players
                    first, second = (arena.settings.players[i].name for i in players)
                    return arena.replay(int(number)), (first, second)
            except StoreError as error:
                raise Failure(f"{option}: {error}") from None
        with open(game, "rb") as file:
            data = file.read()
        if data.startswith(_SQLITE):
            raise Failure(
                f"{option}: {game} has the results of many games: give one by its number, as in"
                f" {game}:1"
            )
        return replay_log(json.loads(data), rules, ids), ("", "")
    except OSError as error:
        raise Failure(f"{option}: {error.filename}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Failure(f"{option}: {game}: {error}") from None
