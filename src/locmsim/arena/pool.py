"""Pools: tournaments to which players are added, and from which players retire.

The games of a pool are numbered like those of any tournament, one after the other. What is added
later is scheduled behind what was scheduled before, so that no number ever changes.
"""

from collections.abc import Sequence
from dataclasses import replace

from locmsim.arena.schedule import Player, Segment, Settings

__all__ = ["grown", "retired"]


def retired(settings: Settings, names: Sequence[str]) -> Settings:
    """Return the settings of a tournament in which players play no more games.

    Raises ``ValueError`` if nobody has such a name.
    """
    indices = [settings.index(name, "retire: ") for name in names]
    return replace(settings, retired=tuple(sorted({*settings.retired, *indices})))


def grown(
    settings: Settings, games: int, added: Sequence[Player], against: Sequence[str] = ()
) -> Settings:
    """Return the settings of a tournament with further players, and the games that they play.

    Parameters
    ----------
    settings : Settings
        The tournament.
    games : int
        Its number of games.
    added : sequence of Player
        The new players. Each plays as many games against each opponent as two players of the first
        schedule play against each other.
    against : sequence of str
        Names of opponents; by default all players who are not retired, and the other new ones.

    Raises
    ------
    ValueError
        A name is not known, or is taken, or an opponent is retired.
    """
    known = {player.name for player in settings.players}
    for player in added:
        if player.name in known:
            raise ValueError(
                f"add: {player.name!r} is in the pool; a changed bot is a new player, under another"
                " name"
            )
        known.add(player.name)
    segments = settings.segments or (_whole(settings, games),)
    old = [i for i in range(len(settings.players)) if i not in settings.retired]
    new = range(len(settings.players), len(settings.players) + len(added))
    settings = replace(settings, players=(*settings.players, *added), segments=segments)
    opponents = [settings.index(name, "against: ") for name in against]
    for index in opponents:
        if index in settings.retired:
            raise ValueError(f"against: {settings.players[index].name!r} is retired")
    others = opponents or [*old, *new]
    pairings = {(min(i, j), max(i, j)): None for j in new for i in others if i != j}
    segment = Segment(tuple(pairings), segments[0].rounds)
    return replace(settings, segments=(*segments, segment))


def _whole(settings: Settings, games: int) -> Segment:
    """Return the schedule of a tournament that was no pool so far."""
    rounds = games // (settings.pairing_count * settings.games_per_meeting)
    return Segment(tuple(settings.pairings), rounds)
