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


def load_result(game: str, option: str, rules: str = "1.5", ids: str = "new") -> "Result[Match]":
    """The match of a log (``FILE``) or of an arena's results (``DB:NUMBER``), played again.

    `Failure` names the option that the text came from.
    """
    db, colon, number = game.rpartition(":")
    try:
        if not os.path.exists(game) and colon and number.isdecimal():
            from locmsim.arena import Arena, StoreError

            try:
                with Arena.load(db) as arena:
                    return arena.replay(int(number))
            except StoreError as error:
                raise Failure(f"{option}: {error}") from None
        with open(game, "rb") as file:
            data = file.read()
        if data.startswith(_SQLITE):
            raise Failure(
                f"{option}: {game} has the results of many games: give one by its number, as in"
                f" {game}:1"
            )
        return replay_log(json.loads(data), rules, ids)
    except OSError as error:
        raise Failure(f"{option}: {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"{option}: {game}: {error}") from None
