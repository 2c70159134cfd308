"""Pools: tournaments to which players and games are added, and from which players retire.

The games of a pool are numbered like those of any tournament, one after the other. What is added
later is scheduled behind what was scheduled before, so that no number ever changes.

Games can also be drawn where they tell most about the ratings. They are drawn in steps: the
pairings of a step follow from the results of all games before it, whatever the number of workers,
and are stored before its games are played.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from locmsim.arena.fixtures import Player
from locmsim.arena.registry import game_to_json
from locmsim.arena.schedule import Draw, Segment, Settings, identified
from locmsim.arena.store import Store
from locmsim.contract import Game
from locmsim.options.checks import OptionError
from locmsim.stats import PairCounts, most_telling
from locmsim.support.database import is_database
from locmsim.support.identity import difference

#: Steps in which games are drawn, and the fewest meetings of a step: workers wait at its end.
_STEPS, _LEAST = 12, 8


def players_in(text: str, game: Game) -> list[Player]:
    """Return the players of a file of results that a text such as ``"pool.db:v3"`` names.

    Parameters
    ----------
    text : str
        The file, a colon and the name of a player; or the file alone, for all who are not retired.
    game : Game
        The game that they are to play.

    Returns
    -------
    list of Player
        Empty if the text names no file of results.

    Raises
    ------
    ValueError
        The file is of another game, nobody in it has that name, or a player's files have changed.
    StoreError
        The file cannot be read.
    """
    path, _, name = text.rpartition(":")
    if is_database(text):
        path, name = text, ""
    elif not is_database(path):
        return []
    with Store(path) as store:
        settings = store.settings
    if game_to_json(settings.game) != game_to_json(game):
        raise ValueError(f"{path}: its games are of {settings.game.title}, not of {game.title}")
    if name:
        indices = [settings.index(name, path)]
    else:
        indices = [i for i in range(len(settings.players)) if i not in settings.retired]
    found = []
    for index in indices:
        then, now = settings.players[index], identified(settings, index)
        if then.ready:
            raise ValueError(f"{path}: player {then.name!r} has no description")
        since = f"the games of {then.name!r}"
        if what := difference(then.identity or {}, now.identity or {}, since):
            raise ValueError(f"{path}: {what}")
        found.append(now)
    return found


def grown(
    settings: Settings,
    added: Sequence[Player],
    against: Sequence[str] = (),
    games: int | None = None,
) -> Settings:
    """Return the settings of a tournament with further players, and the games that they play.

    Parameters
    ----------
    settings : Settings
        The tournament.
    added : sequence of Player
        The new players. Each plays as many games against each opponent as two players of the first
        schedule play against each other.
    against : sequence of str
        Names of opponents; by default all players who are not retired, and the other new ones.
    games : int, optional
        The number of games of the new players in all. They are drawn where they tell most.

    Raises
    ------
    ValueError
        A name is not known, or is taken, or an opponent is retired, or the number of games is
        wrong.
    """
    known = {player.name for player in settings.players}
    for player in added:
        if player.name in known:
            reason = "is in the pool; a changed bot is a new player, under another name"
            raise OptionError("add", f"{player.name!r} {reason}")
        known.add(player.name)
    settings = _pool(settings)
    old = [i for i in range(len(settings.players)) if i not in settings.retired]
    new = range(len(settings.players), len(settings.players) + len(added))
    settings = replace(settings, players=(*settings.players, *added))
    opponents = _opponents(settings, against)
    if games is not None:
        return _to_draw(settings, tuple(new), opponents, games)
    others = opponents or [*old, *new]
    pairings = {(min(i, j), max(i, j)): None for j in new for i in others if i != j}
    segment = Segment(tuple(pairings), settings.segments[0].rounds)
    return replace(settings, segments=(*settings.segments, segment))


def widened(settings: Settings, games: int, against: Sequence[str] = ()) -> Settings:
    """Return the settings of a tournament with further games, drawn where they tell most.

    Parameters
    ----------
    settings : Settings
        The tournament.
    games : int
        The number of further games.
    against : sequence of str
        Names of players of whom each game has one; by default all who are not retired.

    Raises
    ------
    ValueError
        A name is not known, or the player is retired, or the number of games is wrong.
    """
    settings = _pool(settings)
    return _to_draw(settings, (), _opponents(settings, against), games)


def drawn(settings: Settings, pairs: Mapping[tuple[int, int], PairCounts]) -> Settings:
    """Return the settings of a pool with the next step of its draws, if there are any.

    Parameters
    ----------
    settings : Settings
        The pool, of which all games whose pairings are known have been played.
    pairs : mapping
        Their results.

    Returns
    -------
    Settings
        With further parts of the schedule and fewer meetings to draw. A draw for which no pairing
        is left, since players have retired or all seeds are used, is dropped.
    """
    if not settings.draws:
        return settings
    draw, *later = settings.draws
    players = len(settings.players)
    begun = _rounds(settings)
    chosen = most_telling(players, pairs, _candidates(settings, draw, begun), draw.step)
    parts = [
        Segment((pairing,), rounds, begun[pairing]) for pairing, rounds in Counter(chosen).items()
    ]
    left = draw.meetings - len(chosen) if chosen else 0
    rest = draw._replace(meetings=left, step=min(draw.step, left))
    return replace(
        settings,
        segments=(*settings.segments, *parts),
        draws=(*([rest] if left else []), *later),
    )


def _to_draw(
    settings: Settings, players: tuple[int, ...], opponents: Sequence[int], games: int
) -> Settings:
    """Return the settings with games that are to be drawn."""
    meetings = settings.meetings(games)
    step = min(meetings, max(_LEAST, -(-meetings // _STEPS)))
    draw = Draw(players, tuple(opponents), meetings, step)
    if not _candidates(settings, draw, _rounds(settings)):
        raise OptionError("more", "no pairing of the pool is left to play")
    return replace(settings, draws=(*settings.draws, draw))


def _candidates(
    settings: Settings, draw: Draw, begun: Counter[tuple[int, int]]
) -> dict[tuple[int, int], int]:
    """Return the pairings of a draw and how often each may still play."""
    active = [i for i in range(len(settings.players)) if i not in settings.retired]
    players, opponents = ({*some} or {*active} for some in (draw.players, draw.opponents))
    found = {}
    for i, j in combinations(active, 2):
        if (i in players and j in opponents) or (j in players and i in opponents):
            left = draw.meetings
            if settings.seeds is not None:
                left = len(settings.seeds) - begun[i, j]
            if left > 0:
                found[i, j] = left
    return found


def _rounds(settings: Settings) -> Counter[tuple[int, int]]:
    """Return how many rounds of each pairing are scheduled."""
    rounds: Counter[tuple[int, int]] = Counter()
    for part in settings.segments:
        for pairing in part.pairings:
            rounds[pairing] += part.rounds
    return rounds


def _opponents(settings: Settings, against: Sequence[str]) -> list[int]:
    """Return the indices of opponents by their names."""
    opponents = [settings.index(name, "against") for name in against]
    for index in opponents:
        if index in settings.retired:
            raise OptionError("against", f"{settings.players[index].name!r} is retired")
    return opponents


def _pool(settings: Settings) -> Settings:
    """Return the settings of a tournament as those of a pool."""
    if settings.segments:
        return settings
    if settings.sprt is not None:
        raise OptionError("sprt", "a tournament with a sequential test cannot grow")
    return replace(settings, segments=(Segment(tuple(settings.pairings), settings.rounds),))
