"""Matches of before: logs, and games of an arena's results."""

from typing import TYPE_CHECKING

from locmsim.cli._common import Failure

if TYPE_CHECKING:
    from locmsim.game.match import Match
    from locmsim.referee.play import Result

__all__ = ["load_result"]


def load_result(
    game: str, option: str, rules: str | None = None, ids: str | None = None
) -> tuple["Result[Match]", tuple[str, str]]:
    """The match of a log (``FILE``) or of an arena's results (``DB:NUMBER``), played again.

    And what its players are called, as far as that is known; see `locmsim.web.load_replay`.
    `Failure` names the option that the text came from.
    """
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
