"""Loading of earlier matches: logs, and games from an arena's results."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from locmsim.cli._common import Failure, WrongUsage
from locmsim.support.database import numbered_entry

if TYPE_CHECKING:
    from locmsim.game.match import Match
    from locmsim.referee.process_match import Result
    from locmsim.web.sources import Played


def load_played(
    source: str, option: str, rules: str | None = None, ids: str | None = None
) -> "Played":
    """Load a match of any game from a log (``FILE``) or an arena's results (``DB:NUMBER``).

    Raises `Failure`, which names the option that the text came from.
    """
    from locmsim.arena import LocmGame
    from locmsim.web import sources

    check_log(source, rules, ids)
    with _failures(source, option):
        played = sources.load_played(source, rules, ids)
    if not isinstance(played.game, LocmGame):
        _refuse(f"{source}, a match of {played.game.title}", rules, ids)
    return played


def load_result(
    game: str, option: str, rules: str | None = None, ids: str | None = None
) -> tuple["Result[Match]", tuple[str, str]]:
    """Load a match as `load_played` does, of Legends of Code and Magic only."""
    from locmsim.web import load_replay

    check_log(game, rules, ids)
    with _failures(game, option):
        return load_replay(game, rules, ids)


def check_log(source: str, rules: str | None, ids: str | None) -> None:
    """Refuse ``--rules`` and ``--ids`` for results, which say what was played: `Failure`."""
    if numbered_entry(source) is not None:
        _refuse(f"{source}, a game of an arena's results", rules, ids)


def _refuse(what: str, rules: str | None, ids: str | None) -> None:
    """Fail for the first of these options that is given."""
    for name, value in (("rules", rules), ("ids", ids)):
        if value is not None:
            raise WrongUsage(f"--{name}: does not apply to {what}")


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
