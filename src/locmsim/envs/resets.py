"""How episodes begin, and what is said of it: seeds, values for all rows or one for each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.agents import did_you_mean
from locmsim.batch import StateBatch
from locmsim.envs._rows import Rows
from locmsim.envs.cards import indices_of
from locmsim.envs.episodes import Episodes
from locmsim.envs.players import Players
from locmsim.game.params import effective_params
from locmsim.options.checks import player_number, whole
from locmsim.rules.cards import Card

#: The option of vector environments that names the rows to reset.
_MASK = "reset_mask"
_AUTORESETS: dict[AutoresetMode, Literal["next", "same", "disabled"]] = {
    AutoresetMode.NEXT_STEP: "next",
    AutoresetMode.SAME_STEP: "same",
    AutoresetMode.DISABLED: "disabled",
}


def autoreset_of(
    mode: AutoresetMode | str,
) -> tuple[AutoresetMode, Literal["next", "same", "disabled"]]:
    """Return a mode given by value or name, and its name for rows.

    ``ValueError`` names all modes.
    """
    for known, name in _AUTORESETS.items():
        names = known.name.lower(), known.value.lower()
        if mode is known or (isinstance(mode, str) and mode.lower() in names):
            return known, name
    raise ValueError(
        f"autoreset_mode: expected {', '.join(known.name for known in AutoresetMode)}, got {mode!r}"
    )


def drawn_seed(random: np.random.Generator) -> int:
    """Return the 64 bits from which the random stream of a row is derived."""
    return int(random.integers(0, 2**64, dtype=np.uint64))


def one_seed(seed: Any) -> int | None:
    """Return a seed of an environment, of Python or of NumPy, as one of Python; None for None."""
    return None if seed is None else whole("seed", seed, 0)


def stream_bits(seeds: Any, n: int) -> list[int | None]:
    """Return the bits for the streams of `n` rows from their seeds, or from one to count up from.

    ``ValueError`` for another number of seeds.
    """
    if not isinstance(seeds, Sequence | np.ndarray) or isinstance(seeds, str):
        first = whole("seed", seeds, 0)
        seeds = range(first, first + n)
    if len(seeds) != n:
        raise ValueError(f"seed: expected {n}, got {len(seeds)}")
    checked = [one_seed(one) for one in seeds]
    return [None if one is None else drawn_seed(seeding.np_random(one)[0]) for one in checked]


def known(options: Mapping[str, Any] | None, also: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options of `Games.begin` that are not None.

    `also` are names that an environment reads itself; ``ValueError`` for any other.
    """
    if not options:
        return {}
    for name in options:
        if name not in _IS_ONE and name not in also:
            names = [*_IS_ONE, *also]
            raise ValueError(
                f"options: unknown {name!r}{did_you_mean(str(name), names)}: expected"
                f" {', '.join(names)}"
            )
    return {name: options[name] for name in _IS_ONE if options.get(name) is not None}


def by_row(options: Mapping[str, Any] | None, n: int) -> Sequence[dict[str, Any]] | None:
    """Return the known options for each of `n` rows, or None if there are none.

    ``ValueError`` for a sequence of another length.
    """
    named = known(options, (_MASK,))
    if not named:
        return None
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for name, value in named.items():
        is_one = _IS_ONE[name]
        values = [value] * n if is_one(value) else list(value)
        if len(values) != n:
            raise ValueError(f"{name}: expected one for all rows or {n}, got {len(values)}")
        for row, one in zip(rows, values, strict=True):
            if one is not None:
                row[name] = one
    return rows


def _is_pair_of_decks(value: Any) -> bool:
    if not isinstance(value, Sequence | np.ndarray):
        return True  # whatever it is, it is refused for each row
    first = value[0] if len(value) == 2 else None
    return (
        isinstance(first, Sequence | np.ndarray)
        and len(first) > 0
        and isinstance(first[0], int | np.integer)
    )


def _is_card_list(value: Any) -> bool:
    """Cards, or rows of numbers that describe them; not lists of those."""
    if not isinstance(value, Sequence) or not value:
        return True
    first = value[0]
    return isinstance(first, Card) or (
        isinstance(first, Sequence) and bool(first) and not isinstance(first[0], Sequence | Card)
    )


#: Option -> whether a value is one for all rows.
_IS_ONE: dict[str, Callable[[Any], bool]] = {
    "cards": _is_card_list,
    "decks": _is_pair_of_decks,
    "match": lambda value: isinstance(value, Mapping) or not isinstance(value, Sequence),
    "player": lambda value: isinstance(value, str) or not isinstance(value, Sequence),
    "seat": lambda value: np.ndim(value) == 0,
    "state": lambda value: not isinstance(value, Sequence | StateBatch),
}


def mask_of(options: Mapping[str, Any] | None, n: int) -> list[int]:
    """Return the rows that ``reset_mask`` names, or all of `n` without a mask.

    ``ValueError`` for what is no bool array of them.
    """
    mask = (options or {}).get(_MASK)
    if mask is None:
        return list(range(n))
    if not (
        isinstance(mask, np.ndarray)
        and mask.dtype == np.bool_
        and mask.shape == (n,)
        and mask.any()
    ):
        raise ValueError(f"{_MASK}: expected a bool array of shape ({n},) with a row to reset")
    return [int(i) for i in np.flatnonzero(mask)]


# -------------------------------------------------------------------------------- one beginning


class Starts:
    """Begins episodes: see `Games.begin`.

    Parameters
    ----------
    episodes : Episodes
    players : Players
        Those of the episodes.
    serve : callable
        Does what rows wait for.
    """

    def __init__(
        self,
        episodes: Episodes,
        players: Players,
        serve: Callable[[NDArray[np.int64] | None], None],
    ) -> None:
        self._episodes = episodes
        self._players = players
        self._serve = serve
        #: Whether decks may not fit the cards of an episode: it is put back then.
        self.may_refuse = not isinstance(episodes.options.decks, str)

    @property
    def _rows(self) -> Rows:
        return self._episodes.rows

    def begin_all(
        self,
        rows: Sequence[int],
        seeds: Sequence[int | None],
        options: Sequence[Mapping[str, Any]] | None,
    ) -> None:
        """Begin an episode in each of these rows, or in none if one of them cannot be begun."""
        kept = []
        try:
            for i, row in enumerate(rows):
                wanted = options[i] if options else None
                if wanted or self.may_refuse:
                    kept.append((row, self._rows.kept(row)))
                self.begin(row, seeds[i], wanted)
        except BaseException:
            for row, before in kept:
                self._rows.put_back(row, before)
            raise

    def begin(self, row: int, seed: int | None, wanted: Mapping[str, Any] | None) -> None:
        """Begin an episode in a row; what is not `wanted` is drawn."""
        if not wanted:
            if self._rows.begin(row, seed):
                self._serve(np.array([row]))
            return
        seat = wanted.get("seat")
        if seat is not None:
            seat = player_number(seat, "seat")
        player = None
        if "player" in wanted:
            player = self._players.slot(wanted["player"])
            self._players.seats_differ = True
        for name in ("decks", "state"):
            if name in wanted and self._episodes.options.episode != "battle":
                raise ValueError(f"{name}: episodes that begin with a choice take none")
        self._rows.draw(row, seed, seat, player)
        if "state" in wanted:
            self._begin_at(row, wanted)
        else:
            if "match" in wanted or "cards" in wanted:
                self._set_match(row, wanted)
            decks = self._wanted_decks(row, wanted["decks"]) if "decks" in wanted else None
            self._rows.begin_drawn(row, decks)
        self._serve(np.array([row]))

    def _begin_at(self, row: int, wanted: Mapping[str, Any]) -> None:
        """Begin an episode at a position."""
        if others := sorted({"match", "cards", "decks"} & wanted.keys()):
            raise ValueError(f"{others[0]}: does not apply with state")
        if not isinstance(wanted["state"], State):
            raise ValueError(f"state: expected a State, got {wanted['state']!r}")
        self._rows.begin_drawn(row, state=wanted["state"])

    def _set_match(self, row: int, wanted: Mapping[str, Any]) -> None:
        """Set the seeds of a row's match, and its cards."""
        seed, seeds = self._seeds(row, wanted)
        table, cards = self._episodes.sets.of(seeds[0])
        self._rows.set_match(row, seed, seeds, table, self._episodes.decks.of_set(cards))

    def _wanted_decks(self, row: int, decks: Any) -> list[list[int]]:
        """Return two decks of base ids as indices into a row's cards."""
        if not isinstance(decks, Sequence | np.ndarray):
            raise ValueError(f"decks: expected two, got {decks!r}")
        if len(decks) != 2:
            raise ValueError(f"decks: expected two, got {len(decks)}")
        return [indices_of(deck, self._episodes.cards(row), self._episodes.rules) for deck in decks]

    def _seeds(self, row: int, wanted: Mapping[str, Any]) -> tuple[int, list[int]]:
        """Return the seeds of a match; missing ones are derived from the row's seed."""
        seed, seeds = self._rows.views.seeds(row)
        params = wanted.get("match")
        if params is not None:
            if not isinstance(params, Mapping):
                raise ValueError(f"match: expected a mapping of seeds, got {params!r}")
            effective = effective_params(self._episodes.rules, None, {"seed": seed, **params})
            if set(params) - {"seed", *self._episodes.rules.seed_names}:
                raise ValueError(f"match: expected seeds only, got {', '.join(params)}")
            seed = int(effective["seed"])
            seeds = [int(effective[name]) for name in self._episodes.rules.seed_names]
        if "cards" in wanted:
            seeds[0] = self._episodes.sets.keep(wanted["cards"], self._sets_in_use)
        return seed, seeds

    def _sets_in_use(self) -> set[int]:
        """Return the cardGenSeeds of all running and last episodes."""
        rows = range(self._episodes.n)
        used = {self._rows.card_sets.seed(row) for row in rows}
        last = [self._rows.views.result(row).match for row in rows]
        return used | {match[1][0] for match in last if match is not None}
