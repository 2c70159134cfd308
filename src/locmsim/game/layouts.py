"""Observation layouts: a player's view of a position as a vector of numbers.

A layout is a table of blocks, each with rows of named features (`locmsim.game.layout_tables`). The
compiled writers in `_layout.pyx` fill it. Everything in it is a function of what the protocol has
shown the player so far, so that a bot in the arena gets the same observations as in training.

    >>> from locmsim.policy import get_layout
    >>> layout = get_layout("entities")
    >>> layout.shape, layout.dtype, layout.version
    ((440,), dtype('int8'), 1)
    >>> layout.names[0], float(layout.scale[0])
    ('own.health', 30.0)
    >>> layout.split(np.zeros((5, 440), np.int8))["hand"].shape
    (5, 8, 24)
    >>> from locmsim.game.positions import start_position
    >>> seen = start_position(1).observation_tensor(0, layout.name)
    >>> print(layout.describe(seen).splitlines()[0])
    own: health 30, mana 1, max mana 1, next draw 1, lost or runes 0, deck 25, hand 5
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from locmsim._batch import StateArray
from locmsim._core import State
from locmsim.game._layout import (
    LAYOUT_CODES,
    entities_scale,
    observe,
    observe_batch,
    observe_choice,
    sizes,
)
from locmsim.game.choice import compiled_choice
from locmsim.game.layout_tables import (
    ENTITIES_BLOCKS,
    Block,
    choice_table,
    gym_locm_table,
)
from locmsim.options.declarations import Option
from locmsim.options.texts import did_you_mean
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES, get_rules

#: Names of the layouts of battles.
LAYOUTS = tuple(LAYOUT_CODES)
#: The name of the layout of the choice phase.
CHOICE = "choice"
#: The option that names one of `LAYOUTS`.
LayoutName = Annotated[
    str,
    Option(
        "what the numbers of an observation mean",
        choices=LAYOUTS,
        more='Environments with whole matches have "entities".',
    ),
]


@dataclass(frozen=True)
class Layout:
    """How a position becomes a vector: its size, its bounds and what each number means.

    `get_layout` returns layouts. All arrays are read-only and have the shape `shape`.

    Environments do not use the instance ids of a match: if two creatures on a board are equal
    cards, ``copy`` and ``came`` of "entities" may be set for either of them.

    Parameters
    ----------
    name : str
        "entities", "entities-f32" or "gym-locm"; "choice" for the choice phase.
    rules : str
        The rule set. "gym-locm" and "choice" depend on it; the other layouts are the same for all.
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
    actions : int
        The number of actions: those of a battle, or the cards of an offer.
    code : int
        The number of the layout for the compiled writer; -1 for "choice".
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
    actions: int
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

    def __deepcopy__(self, memo: object) -> Self:
        return self  # as nothing can change it

    def describe(self, row: NDArray[Any] | Sequence[float]) -> str:
        """Return an observation in words, with a line for each block, card and creature.

        Empty places and slots are left out, and numbers that are 0 where that says nothing.

        Parameters
        ----------
        row : array of shape (size,)
            One observation.

        Returns
        -------
        str
            For example ``hand 0: creature, cost 2, attack 3, defense 2, guard, affordable``.

        Raises
        ------
        ValueError
            It has another shape.
        """
        values = np.asarray(row)
        if values.shape != self.shape:
            raise ValueError(f"row: expected shape {self.shape}, got {values.shape}")
        scale = self.scale if self.name == "entities-f32" else 1
        lines = []
        for label, block, start in self._rows():
            end = start + len(block.features)
            numbers = (values * scale)[start:end].tolist()
            words = _words(block, numbers)
            if words:
                lines.append(f"{label}: {', '.join(words)}")
        return "\n".join(lines)

    def table(self) -> str:
        """Return the meaning of all numbers as tables of Markdown, one for each block.

        The index of a number in row r of a block is shown as ``24 + 24 r``.
        """
        parts = []
        for block in self.blocks:
            width = len(block.features)
            rows = f", {block.rows} rows of {width}" if block.rows else ""
            parts.append(
                f"**{block.name}** ({block.start} to {block.start + block.size - 1}{rows})"
            )
            parts.append(block.text)
            lines = ["| index | name | meaning | unit | scale | range | rules |", "|---" * 7 + "|"]
            for i, feature in enumerate(block.features):
                index = f"{block.start + i} + {width} r" if block.rows else f"{block.start + i}"
                name = f"{block.name}{'r' if block.rows else ''}.{feature.name}"
                scale = max(feature.scale, feature.divisor)
                bounds = [self.low[block.start + i], self.high[block.start + i]]
                low, high = (f"{bound:.4g}" for bound in bounds)
                rules = ", ".join(feature.rules) or "all"
                text = f"{feature.text} (history)" if feature.history else feature.text
                lines.append(
                    f"| {index} | `{name}` | {text} | {feature.unit or 'flag'} | {scale:g} |"
                    f" {low} to {high} | {rules} |"
                )
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def _rows(self) -> Iterator[tuple[str, Block, int]]:
        """Yield the name of each row, its block and its first index."""
        for block in self.blocks:
            for row in range(max(1, block.rows)):
                label = block.name.replace("_", " ") + (f" {row}" if block.rows else "")
                yield label, block, block.start + row * len(block.features)

    def __repr__(self) -> str:
        return f"<Layout {self.name!r} rules={self.rules} {self.dtype}{list(self.shape)}>"


def get_layout(name: str, rules: str = "1.5") -> Layout:
    """Return the layout of a name for a rule set, always the same object.

    Parameters
    ----------
    name : str
        One of `LAYOUTS`, or "choice".
    rules : str
        "1.5", "1.2" or "1.0".

    Raises
    ------
    ValueError
        The name or the rule set is unknown, or it is "gym-locm" with rules 1.0, which gym-locm
        does not support.
    """
    known = (*LAYOUTS, CHOICE)
    if name not in known:
        raise ValueError(
            f"unknown layout {name!r}: expected one of {', '.join(known)}"
            f"{did_you_mean(str(name), known)}"
        )
    return _layout(name, get_rules(rules).name)


def write_state(
    state: State, player: int, name: str, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Implement `State.observation_tensor`."""
    layout = battle_layout(name, state.rules)
    out = _output_array(layout, layout.shape, out)
    observe(state, player, layout.code, out)
    return out


def write_states(
    array: StateArray, player: int, name: str, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Implement `StateBatch.observation_tensor`."""
    layout = battle_layout(name, array.rule_set)
    out = _output_array(layout, (array.size, *layout.shape), out)
    observe_batch(array, player, layout.code, out)
    return out


def battle_layout(name: str, rules: str) -> Layout:
    """Return a layout of battles; ``ValueError`` for "choice" too.

    Parameters
    ----------
    name : str
        One of `LAYOUTS`.
    rules : str
        The rule set.
    """
    if name == CHOICE:
        raise ValueError(f"layout {name!r} is for the choice phase, expected {', '.join(LAYOUTS)}")
    return get_layout(name, rules)


def choice_tensor(
    rules: str,
    offer: Sequence[Card],
    chosen: Sequence[Card] = (),
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return what a player sees of the choice phase, in the layout "choice".

    Parameters
    ----------
    rules : str
        The rule set.
    offer : sequence of Card
        The present offer: the three cards of a draft, or up to 120 of 1.5, in any order.
    chosen : sequence of Card
        What the player has chosen so far, in that order.
    out : array, optional
        Where it is written to: int8, of the layout's shape.

    Returns
    -------
    int8 array (size of the layout,)

    Raises
    ------
    ValueError
        A card is not of the rule set or the offer, or `out` does not fit.

    Examples
    --------
    >>> from locmsim import generate_cards
    >>> cards = generate_cards(1)
    >>> seen = choice_tensor("1.5", cards, cards[:2])
    >>> print(get_layout("choice").describe(seen).splitlines()[-1])
    step: chosen 2
    """
    layout = get_layout(CHOICE, rules)
    out = _output_array(layout, layout.shape, out)
    observe_choice(*compiled_choice(rules, offer, chosen), out)
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


#: Numbers of cards that are named even where they are 0.
_ALWAYS = {"cost", "attack", "defense"}
#: Blocks without rows, all of whose numbers are named.
_WHOLE = {"own", "enemy", "game", "step"}


def _words(block: Block, numbers: Sequence[float]) -> list[str]:
    """Return the words for the numbers of a row; none if it is empty."""
    if not any(numbers):
        return []
    words = []
    for feature, value in zip(block.features, numbers, strict=True):
        name = feature.name.replace("_", " ")
        if not feature.unit:
            words += [name] * (value != 0 and name != "present")
        elif value or block.name in _WHOLE or (block.rows and feature.name in _ALWAYS):
            words.append(f"{name} {round(value * feature.divisor, 3):g}")
    return words


@cache
def _layout(name: str, rules: str) -> Layout:
    if name == "gym-locm" and rules == "1.0":
        raise ValueError("layout 'gym-locm': gym-locm does not support rules 1.0")
    table = ENTITIES_BLOCKS
    if name in ("gym-locm", CHOICE):
        table = (gym_locm_table if name == "gym-locm" else choice_table)(rules)
    blocks: list[Block] = []
    start = 0
    for label, rows, features, text in table:
        blocks.append(Block(label, start, rows, features, text))
        start += blocks[-1].size
    assert start == sizes()[name][rules]
    columns = [
        (block.name if not block.rows else f"{block.name}{row}", feature)
        for block in blocks
        for row in range(max(1, block.rows))
        for feature in block.features
    ]
    dtype = np.dtype(np.int8 if name in ("entities", CHOICE) else np.float32)
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
        actions=RULES[rules].offer_size if name == CHOICE else RULES[rules].num_actions,
        code=LAYOUT_CODES.get(name, -1),
    )


entities_scale([float(number) for number in _layout("entities", "1.5").scale])
