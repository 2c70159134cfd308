"""Loading of earlier matches: logs, and games from an arena's results."""

import contextlib
import os
from collections.abc import Iterator
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
    from locmsim.arena import Arena
    from locmsim.web.sources import load_log

    db, colon, number = source.rpartition(":")
    with _failures(source, option):
        if os.path.exists(source) or not (colon and number.isdecimal()):
            return Played(*load_log(source, rules, ids))
        with Arena.load(db) as arena:
            players = arena.settings.players
            first, second = (players[i].name for i in arena.record(int(number)).fixture.players)
            return Played(arena.replay(int(number)), (first, second), arena.settings.game)


def load_result(
    game: str, option: str, rules: str | None = None, ids: str | None = None
) -> tuple["Result[Match]", tuple[str, str]]:
    """Load a match as `load_played` does, of Legends of Code and Magic only."""
    from locmsim.web import load_replay

    with _failures(game, option):
        return load_replay(game, rules, ids)


@contextlib.contextmanager
def _failures(source: str, option: str) -> Iterator[None]:
    """Turn what is wrong with a source into a `Failure`."""
    from locmsim.arena import StoreError

    try:
        yield
    except StoreError as error:
        raise Failure(f"{option}: {error}") from None
    except OSError as error:
        raise Failure(f"{option}: {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"{option}: {source}: {error}") from None
