"""Games by name: those of the library and of installed packages.

A description is a name, optionally followed by a colon and options: ``"locm:rules=1.2"``,
``"nim:heaps=5,most=9"``. A package gives its game a name by an entry point of the group
``locmsim.games``; any other game is named by its class, ``"module:Class"``.
"""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import fields
from typing import Any

from locmsim.contract import Game, LogPart
from locmsim.options.texts import make, read_options
from locmsim.support.plugins import Registry, place_of

__all__ = [
    "GAMES",
    "find_log_part",
    "game_from_json",
    "game_name",
    "game_to_json",
    "known_games",
    "make_game",
]

_registry = Registry(
    "game",
    "locmsim.games",
    {"locm": "locmsim.arena.locm:LocmGame"},
)

#: The games of the library by name. Games added here are known only in this process.
GAMES: MutableMapping[str, Callable[..., Game]] = _registry


def known_games() -> list[str]:
    """Return the names of all games, those of the library first."""
    return _registry.names()


def make_game(description: str, like: Game | None = None, /, **options: Any) -> Game:
    """Return the game of a description.

    Parameters
    ----------
    description : str
        Such as ``"nim:heaps=5"``.
    like : Game, optional
        If it has the same name, it supplies the options that are not given.
    **options
        Further options of the game's class; they take precedence over those of the description.

    Raises
    ------
    ValueError
        The game or an option is unknown, or a value is wrong.
    """
    name, text = _registry.split(description)
    where = f"game {name}"
    if ".py:" in name:
        raise ValueError(
            f"{where}: worker processes need a game that they can import: module:Class"
        )
    factory = _registry.find(name)
    texts = read_options(where, text)
    known = {} if like is None or type(like) is not factory else _options(like)
    values = {option: value for option, value in known.items() if option not in texts}
    game: Game = make(where, factory, texts, **{**values, **options})
    return game


def game_name(game: Game) -> str:
    """Return the name by which `make_game` finds the class of a game.

    Parameters
    ----------
    game : Game
        A game, of any package.
    """
    for name in _registry.names():
        try:
            if _registry.find(name) is type(game):
                return name
        except (ValueError, ImportError):  # a broken entry point of another package
            continue
    return place_of(type(game))


def _options(game: Game) -> dict[str, Any]:
    return {field.name: getattr(game, field.name) for field in fields(game)}


def game_to_json(game: Game) -> dict[str, Any]:
    """Return name and options of a game as plain values.

    Parameters
    ----------
    game : Game
        A game, of any package.
    """
    return {"game": game_name(game), **_options(game)}


def game_from_json(data: Mapping[str, Any]) -> Game:
    """Create the game that `game_to_json` wrote; ``ValueError`` for other values.

    Parameters
    ----------
    data : mapping
        A result of `game_to_json`.
    """
    options = dict(data)
    name = options.pop("game", None)
    try:
        factory = _registry.find(_registry.split(str(name))[0])
    except ValueError as error:
        raise ValueError(f"results of a game called {name!r}: {error}") from None
    try:
        game: Game = factory(**options)
    except TypeError as error:
        raise ValueError(f"results of another version of {name}: {error}") from None
    return game


def find_log_part(event: Mapping[str, Any], name: str = "") -> tuple[str, LogPart] | None:
    """Return the game whose logs have a part that begins with this event, by name, and the part.

    Only the game of a name is asked, or, without a name, all of them; None if it is of no game.

    Parameters
    ----------
    event : mapping
        The JSON object of the first line of a log.
    name : str
        The name of a game.
    """
    for known in [name] if name else _registry.names():
        try:
            part: LogPart | None = _registry.find(known).log_part(event)
        except (ValueError, ImportError, AttributeError):  # a broken entry point; no such logs
            continue
        if part is not None:
            return known, part
    return None
