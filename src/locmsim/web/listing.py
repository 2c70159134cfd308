"""The list of games, from all of its sources, and what its filters can be set to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from locmsim.arena import StoreError
from locmsim.arena.log_store import LogStore
from locmsim.arena.store import Store
from locmsim.web.filters import Filter, game_row
from locmsim.web.keys import Key, KeyKind
from locmsim.web.sources import error_text

__all__ = ["Choices", "ListPart", "Source", "part_of", "result_rows"]

#: Returns numbers and rows of the games of a source that a filter takes, the latest first: only
#: those below a number, if one is given, and at least so many of them if there are.
_Rows = Callable[[Filter, int | None, int], Iterable[tuple[int, dict[str, Any]]]]


class Source(NamedTuple):
    """A source of games."""

    #: What messages call it.
    name: str
    rows: _Rows


class ListPart(NamedTuple):
    """A part of the list."""

    games: list[dict[str, Any]]
    #: Where the next part begins; None at the end.
    following: str | None
    #: What is wrong with sources.
    errors: list[str]


def part_of(sources: Mapping[str, Source], wanted: Filter, after: str, count: int) -> ListPart:
    """Return a part of the list, see `locmsim.web.library.Library.games`.

    Parameters
    ----------
    sources : mapping
        The sources by key, in the order of the list.
    wanted : Filter
        The filter.
    after : str
        Where the part begins, empty for the beginning of the list.
    count : int
        The largest number of games in it.

    Raises
    ------
    ValueError
        There is no such place as `after`.
    """
    first, _, place = after.partition(":")
    if after and not (first in sources and place.isdecimal() and len(place) < 19):
        raise ValueError(f"after: there is no place {after!r} in the list")
    games: list[dict[str, Any]] = []
    errors = []
    last = after
    keys = [*sources]
    for key in keys[keys.index(first) if after else 0 :]:
        if wanted.source not in ("", key):
            continue
        before = int(place) if after and key == first else None
        left = count - len(games)
        try:
            found = [*islice(sources[key].rows(wanted, before, left + 1), left + 1)]
        except (OSError, StoreError, ValueError) as error:
            errors.append(error_text(sources[key].name, error))
            continue
        games += [row for _, row in found[:left]]
        if left and found:
            last = f"{key}:{found[:left][-1][0]}"
        if len(found) > left:  # there is one more
            return ListPart(games, last, errors)
    return ListPart(games, None, errors)


def result_rows(
    index: int, path: str, wanted: Filter, before: int | None, count: int
) -> list[tuple[int, dict[str, Any]]]:
    """Return numbers and rows of an arena's games that a filter takes, the latest first.

    Parameters
    ----------
    index : int
        The number of the file.
    path : str
        Its path.
    wanted, before, count
        As of a source.
    """
    with Store(path) as store:
        query = wanted.query(store.player_number)
        if query is None or wanted.rules not in ("", store.rules):
            return []
        games = store.listed(query, before, count)
    return [(one.number, game_row(Key(KeyKind.RESULT, index, one.number), one)) for one in games]


@dataclass
class Choices:
    """What the filters can be set to: of all sources that were added."""

    players: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    sources: list[dict[str, Any]] = field(default_factory=list)

    def add_logs(self, key: str, name: str, store: LogStore) -> None:
        """Add a source of logs."""
        self._add(store, store.names())
        self.sources.append({"key": key, "path": name, "games": store.count})

    def add_results(self, key: str, path: str) -> None:
        """Add an arena's results, which may not be there yet."""
        games = 0
        with suppress(OSError, StoreError, ValueError), Store(path) as store:
            assert store.settings is not None
            self._add(store, [player.name for player in store.settings.players])
            games = store.last()
        self.sources.append({"key": key, "path": path, "games": games})

    def _add(self, store: LogStore | Store, players: Sequence[str]) -> None:
        self.players.update(players)
        self.kinds |= store.fault_kinds()
        self.rules |= store.rule_sets()

    def to_json(self) -> dict[str, Any]:
        """Return them as `locmsim.web.library.Library.choices` does."""
        return {
            "players": sorted(self.players),
            "kinds": sorted(self.kinds),
            "rules": sorted(self.rules, reverse=True),
            "sources": self.sources,
        }
