"""Observation layouts: a player's view of a position as a vector of numbers.

A layout is a table of blocks, each with rows of named features. The compiled writers in
`_layout.pyx` fill it. Everything in it is a function of what the protocol has shown the player so
far, so that a bot in the arena gets the same observations as in training.

    >>> from locmsim.policy import get_layout
    >>> layout = get_layout("entities")
    >>> layout.shape, layout.dtype, layout.version
    ((440,), dtype('int8'), 1)
    >>> layout.names[0], float(layout.scale[0])
    ('own.health', 30.0)
    >>> layout.split(np.zeros((5, 440), np.int8))["hand"].shape
    (5, 8, 24)
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim._core import State
from locmsim._specs import did_you_mean
from locmsim.game._layout import LAYOUT_CODES, entities_scale, observe, observe_batch, sizes
from locmsim.rules.rulesets import DECK_SIZE, RULES, get_rules

__all__ = ["LAYOUTS", "Block", "ChoiceLayout", "Feature", "Layout", "get_layout"]

#: Names of the layouts.
LAYOUTS = tuple(LAYOUT_CODES)

_KEYWORDS = ("breakthrough", "charge", "drain", "guard", "lethal", "ward")
_TYPES = ("creature", "green", "red", "blue")
#: Numbers of a card in hand, and of a pile of cards, in "entities".
HAND_ROW, PILE = 24, 16
#: Bounds of all numbers of "entities", and of the integers behind "gym-locm".
_BYTE = 127
_STAT = 1000


class Feature(NamedTuple):
    """One number of a layout."""

    name: str
    #: Divisor for "entities-f32"; 1 for "gym-locm", whose numbers are already divided.
    scale: float
    low: float
    high: float
    #: Whether it depends on the history: 0 in `State.observation_tensor`, which has none.
    history: bool = False


class Block(NamedTuple):
    """Consecutive numbers of a layout: `rows` rows of the same features (0: once, no rows)."""

    name: str
    start: int
    rows: int
    features: tuple[Feature, ...]

    @property
    def size(self) -> int:
        """Numbers in the block."""
        return max(1, self.rows) * len(self.features)


@dataclass(frozen=True)
class Layout:
    """How a position becomes a vector: its size, its bounds and what each number means.

    `get_layout` returns layouts. All arrays are read-only and have the shape `shape`.

    Environments do not use the instance ids of a match: if two creatures on a board are equal
    cards, ``copy`` and ``came`` of "entities" may be set for either of them.

    Parameters
    ----------
    name : str
        "entities", "entities-f32" or "gym-locm".
    rules : str
        The rule set. "gym-locm" depends on it; the other layouts are the same for all.
    version : int
        Changes whenever the meaning of any number does; stored in the files of policies.
    shape : tuple of int
        Shape of an observation, ``(size,)``.
    dtype : numpy.dtype
        Their type.
    blocks : tuple of Block
        Groups of consecutive numbers.
    names : tuple of str
        The name of each number.
    scale : array of float32
        Divisor of each number of "entities" for "entities-f32"; ones in the other layouts.
    low, high : array
        Bounds of each number; the writers clip to them.
    history : tuple of str
        Names of the numbers that depend on the history of the game. They are 0 for a `State`,
        which has none.
    code : int
        The number of the layout for the compiled writer.
    """

    name: str
    rules: str
    version: int
    shape: tuple[int]
    dtype: np.dtype[Any]
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    scale: NDArray[np.float32]
    low: NDArray[Any]
    high: NDArray[Any]
    history: tuple[str, ...]
    code: int

    def split(self, observations: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return named views of the blocks, without copying.

        Parameters
        ----------
        observations : array of shape (..., size)

        Returns
        -------
        dict
            Name of a block -> view of shape (..., rows, features), or (..., features) for a block
            that is not a table.

        Raises
        ------
        ValueError
            The last axis has the wrong size.
        """
        if observations.shape[-1:] != self.shape:
            raise ValueError(
                f"observations: expected {self.shape[0]} numbers in the last axis,"
                f" got shape {observations.shape}"
            )
        views = {}
        for block in self.blocks:
            part = observations[..., block.start : block.start + block.size]
            if block.rows:
                part = part.reshape(*part.shape[:-1], block.rows, len(block.features))
            views[block.name] = part
        return views

    def __repr__(self) -> str:
        return f"<Layout {self.name!r} rules={self.rules} {self.dtype}{list(self.shape)}>"


class ChoiceLayout:
    """Observation of the choice phase: offer, chosen cards, their summary, and the step.

    ``offer``: 3 (1.x) or 120 rows as of the hand in layout "entities", in 1.5 by ascending base id;
    ``chosen``: in 1.x the picks so far as 30 such rows, in 1.5 how many of each card; ``pile``: the
    chosen cards as ``own_deck`` there; ``step``: how many have been chosen. All are int8.

    Parameters
    ----------
    rules : str
        Name of a rule set.
    """

    def __init__(self, rules: str) -> None:
        draft = get_rules(rules).draft
        #: Different picks: the cards of an offer.
        self.picks = 3 if draft else 120
        #: Name -> first and last index of the block.
        self.blocks: dict[str, tuple[int, int]] = {}
        start = 0
        for name, size in (
            ("offer", self.picks * HAND_ROW),
            ("chosen", DECK_SIZE * HAND_ROW if draft else self.picks),
            ("pile", PILE),
            ("step", 1),
        ):
            self.blocks[name] = (start, start + size)
            start += size
        self.shape = (start,)
        self.dtype = np.dtype(np.int8)
        #: The smallest and the largest numbers.
        self.low = np.full(start, -_BYTE, np.int8)
        self.high = np.full(start, _BYTE, np.int8)

    def split(self, observations: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return named views of the blocks."""
        return {name: observations[..., a:b] for name, (a, b) in self.blocks.items()}


def get_layout(name: str, rules: str = "1.5") -> Layout:
    """Return the layout of a name for a rule set, always the same object.

    Parameters
    ----------
    name : str
        One of `LAYOUTS`.
    rules : str
        "1.5", "1.2" or "1.0".

    Raises
    ------
    ValueError
        The name or the rule set is unknown, or it is "gym-locm" with rules 1.0, which gym-locm
        does not support.
    """
    if name not in LAYOUTS:
        raise ValueError(
            f"unknown layout {name!r}: expected one of {', '.join(LAYOUTS)}"
            f"{did_you_mean(str(name), LAYOUTS)}"
        )
    return _layout(name, get_rules(rules).name)


def write_state(
    state: State, player: int, name: str, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Implement `State.observation_tensor`."""
    layout = get_layout(name, state.rules)
    out = _output_array(layout, layout.shape, out)
    observe(state, player, layout.code, out)
    return out


def write_states(
    array: StateArray, player: int, name: str, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Implement `StateBatch.observation_tensor`."""
    layout = get_layout(name, array.rule_set)
    out = _output_array(layout, (array.size, *layout.shape), out)
    observe_batch(array, player, layout.code, out)
    return out


def _output_array(layout: Layout, shape: tuple[int, ...], out: NDArray[Any] | None) -> NDArray[Any]:
    """Return `out` if it fits, or a new array if it is None."""
    if out is None:
        return np.empty(shape, layout.dtype)
    if not (
        isinstance(out, np.ndarray)
        and out.dtype == layout.dtype
        and out.shape == shape
        and out.flags.c_contiguous
        and out.flags.writeable
    ):
        raise ValueError(
            f"out: expected a writable C-contiguous {layout.dtype} array of shape {shape}"
        )
    return out


# ---------------------------------------------------------------------------------- entities


def _count(name: str, scale: float = 1, high: int = _BYTE, history: bool = False) -> Feature:
    return Feature(name, scale, 0, high, history)


def _number(name: str, scale: float) -> Feature:
    return Feature(name, scale, -_BYTE, _BYTE)


def _flags(*names: str, history: bool = False) -> tuple[Feature, ...]:
    return tuple([_count(name, 1, 1, history) for name in names])


def _spare(n: int) -> tuple[Feature, ...]:
    return tuple([Feature(f"spare{i}", 1, 0, 1) for i in range(n)])


def _pile(history: bool) -> tuple[Feature, ...]:
    """Return a pile of cards, without an order."""
    costs = [f"cost{cost}" for cost in range(7)] + ["cost7+"]
    return (
        *[_count(kind, 8, 30, history) for kind in _TYPES],
        *[_count(cost, 8, 30, history) for cost in costs],
        *[_count(name, 4, _BYTE, history) for name in ("draw", "area", "charge", "guard")],
    )


_OWN = (
    _number("health", 30), _count("mana", 12), _count("max_mana", 12), *_flags("bonus"),
    _count("next_draw", 3), _count("lost_or_runes", 5), _count("deck", 30, 30),
    _count("hand", 8, 8),
)  # fmt: skip
_ENEMY = (
    *[feature for feature in _OWN if feature.name != "mana"],
    _count("shown", 30, 30, history=True),
)
_GAME = (
    _count("turn", 50), *_flags("seat"), _count("actions", 10, history=True),
    *_flags("rules1.5", "rules1.2", "rules1.0", "two_lanes"), _count("draws", 3),
)  # fmt: skip
_HAND_CARD = (
    *_flags("present", *_TYPES), _count("cost", 6), _number("attack", 6), _number("defense", 6),
    _number("my_health", 6), _number("opponent_health", 6), _count("draw", 2),
    *_flags(*_KEYWORDS, "area_lane1", "area_lane2", "affordable"), _count("copies", 2, 30),
    *_flags("new", history=True), *_spare(2),
)  # fmt: skip
_CREATURE = (
    *_flags("present", "lane1"), _number("attack", 6), _number("defense", 6),
    *_flags(*_KEYWORDS, "can_attack", "has_attacked"), *_flags("came", history=True),
    *_flags("copy"), _count("cost", 6), *_spare(1),
)  # fmt: skip

_ENTITIES = (
    ("own", 0, _OWN),
    ("enemy", 0, _ENEMY),
    ("game", 0, _GAME),
    ("hand", 8, _HAND_CARD),
    ("own_board", 6, _CREATURE),
    ("enemy_board", 6, _CREATURE),
    ("own_deck", 0, _pile(False)),
    ("enemy_seen", 0, _pile(True)),
)


# ---------------------------------------------------------------------------------- gym-locm


def _real(name: str, unit: float, low: int = -_STAT, high: int = _STAT) -> Feature:
    """An integer that is divided by `unit`; 0 is always possible."""
    return Feature(name, 1, low / unit, high / unit)


def _gym_locm(rules: str) -> tuple[tuple[str, int, tuple[Feature, ...]], ...]:
    areas, runes = RULES[rules].areas, RULES[rules].runes
    player = (_real("health", 30), _real("mana", 13, 0, 13))
    rune = (_real("rune", 30, 0, 25),) if runes else ()
    draw = (_real("next_draw", 6, 0),)
    card = (
        *_flags(*_TYPES), _real("cost", 12, 0, 127), _real("attack", 12, -500, 500),
        _real("defense", 12, -12, 500), _real("my_health", 12, -500, 500),
        _real("opponent_health", 12, -500, 500), _real("draw", 2, 0, 100), *_flags(*_KEYWORDS),
    )  # fmt: skip
    if areas:
        card += (_real("area", 2, 0, 2),)
    body = (_real("attack", 12), _real("defense", 12))
    return (
        ("own", 0, (*player, *rune, *draw)),
        ("enemy", 0, (*player, *rune, *draw)),
        ("hand", 8, card),
        ("own_board", 6, (*body, *_flags("can_attack"), *_flags(*_KEYWORDS))),
        ("enemy_board", 6, (*body, *_flags(*_KEYWORDS))),
    )


@cache
def _layout(name: str, rules: str) -> Layout:
    if name == "gym-locm" and rules == "1.0":
        raise ValueError("layout 'gym-locm': gym-locm does not support rules 1.0")
    table = _gym_locm(rules) if name == "gym-locm" else _ENTITIES
    blocks = []
    start = 0
    for label, rows, features in table:
        blocks.append(Block(label, start, rows, features))
        start += blocks[-1].size
    assert start == sizes()[name][rules]
    columns = [
        (block.name if not block.rows else f"{block.name}{row}", feature)
        for block in blocks
        for row in range(max(1, block.rows))
        for feature in block.features
    ]
    dtype = np.dtype(np.int8 if name == "entities" else np.float32)
    scale = np.array([feature.scale for _, feature in columns], np.float32)
    low = np.array([feature.low for _, feature in columns], np.float32)
    high = np.array([feature.high for _, feature in columns], np.float32)
    if name == "entities-f32":
        low, high = low / scale, high / scale
    names = [f"{label}.{feature.name}" for label, feature in columns]
    arrays = [scale, low.astype(dtype), high.astype(dtype)]
    for array in arrays:
        array.flags.writeable = False
    return Layout(
        name=name,
        rules=rules,
        version=1,
        shape=(start,),
        dtype=dtype,
        blocks=tuple(blocks),
        names=tuple(names),
        scale=arrays[0],
        low=arrays[1],
        high=arrays[2],
        history=tuple(
            [name for name, (_, feature) in zip(names, columns, strict=True) if feature.history]
        ),
        code=LAYOUT_CODES[name],
    )


entities_scale([float(number) for number in _layout("entities", "1.5").scale])
