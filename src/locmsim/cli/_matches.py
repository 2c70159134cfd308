"""Loading of earlier matches: logs, and games from an arena's results."""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from locmsim.cli._common import Failure

if TYPE_CHECKING:
    from locmsim.contract import Game
    from locmsim.game.match import Match
    from locmsim.referee.process_match import Result

__all__ = ["Played", "load_played", "load_result"]


class Played(NamedTuple):
    """An earlier match, with its game and the names of its players."""

    result: "Result[Any]"
    #: Names of its players, as far as they are known.
    names: tuple[str, str]
    game: "Game"


def load_played(
    source: str, option: str, rules: str | None = None, ids: str | None = None
) -> Played:
    """Load a match of any game from a log (``FILE``) or an arena's results (``DB:NUMBER``).

    Raises `Failure`, which names the option that the text came from.
    """
    from locmsim.arena import Arena, LocmGame, StoreError

    db, colon, number = source.rpartition(":")
    if os.path.exists(source) or not (colon and number.isdecimal()):
        result, names = load_result(source, option, rules, ids)
        return Played(result, names, LocmGame(result.match.rules, result.match.log["ids"]))
    try:
        with Arena.load(db) as arena:
            players = arena.settings.players
            first, second = (players[i].name for i in arena.record(int(number)).fixture.players)
            return Played(arena.replay(int(number)), (first, second), arena.settings.game)
    except StoreError as error:
        raise Failure(f"{option}: {error}") from None
    except ValueError as error:
        raise Failure(f"{option}: {source}: {error}") from None


def load_result(
    game: str, option: str, rules: str | None = None, ids: str | None = None
) -> tuple["Result[Match]", tuple[str, str]]:
    """Load a match as `load_played` does, of Legends of Code and Magic only."""
    from locmsim.arena import StoreError
    from locmsim.web import load_replay

    try:
        return load_replay(game, rules, ids)
    except StoreError as error:
        raise Failure(f"{option}: {error}") from None
    except OSError as error:
        raise Failure(f"{option}: {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"{option}: {game}: {error}") from None
