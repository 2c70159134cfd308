"""What is said of resets: when a row begins anew, and values for all rows, or one for each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode

from locmsim._checks import integer
from locmsim.agents import did_you_mean
from locmsim.batch import StateBatch
from locmsim.rules.cards import Card

__all__ = ["autoreset_of", "by_row", "drawn_seed", "known", "mask_of", "row_seeds"]

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


def row_seeds(seeds: Any, n: int) -> list[int | None]:
    """Return the bits for the streams of `n` rows from their seeds, or from one to count up from.

    ``ValueError`` for another number of seeds.
    """
    if not isinstance(seeds, Sequence | np.ndarray) or isinstance(seeds, str):
        try:
            first = integer("seed", seeds)
        except ValueError:
            raise ValueError(f"seed: expected an integer or {n} of them, got {seeds!r}") from None
        seeds = range(first, first + n)
    if len(seeds) != n:
        raise ValueError(f"seed: expected {n}, got {len(seeds)}")
    return [None if one is None else drawn_seed(seeding.np_random(one)[0]) for one in seeds]


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
