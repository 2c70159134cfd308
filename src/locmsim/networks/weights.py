"""Weights: all numbers for evaluating positions and choosing cards, in one file.

A weights file is an .npz with the arrays of networks and one JSON text ``meta``, which holds the
named weights and the record of their training. The package's own weights are such a file, and
`locmsim tune` writes them.

    >>> from locmsim.networks.weights import WeightsFile, default_weights
    >>> default_weights("1.5").network["output"].shape
    (16,)
    >>> ours = WeightsFile()
    >>> ours["1.2"] == default_weights("1.2")
    True

numpy is imported only when there are arrays to show.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar
from zipimport import zipimporter

from locmsim.networks._decks import DECK_SHAPES
from locmsim.networks._drafts import DRAFT_SHAPES
from locmsim.networks._network import SHAPES, packed, shapes_of
from locmsim.networks.archives import (
    StoredArray,
    array_of,
    json_of,
    meta_of,
    object_of,
    read_archive,
    write_archive,
)
from locmsim.rules.rulesets import RULES, get_rules
from locmsim.support.files import data_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    #: The arrays of a network by name, float32.
    Arrays: TypeAlias = Mapping[str, NDArray[np.float32]]
else:  # numpy is slow to import
    Arrays = Mapping

#: Format number of the files; any other number is refused.
FORMAT = 1
_WHAT = "weights file"

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of one rule set, for evaluating positions and choosing cards.

    Two objects are equal if all their numbers are.

    Attributes
    ----------
    evaluation
        The linear evaluation: a weight for each name in `locmsim.search.TERMS`.
    network
        The value network that predicts results, see `locmsim.networks.SHAPES` and `LARGE_SHAPES`;
        if None, the linear evaluation predicts them.
    deck_score
        Rules 1.5: the effect of one copy of a card on the log-odds of winning, a weight for each of
        `locmsim.decks.CARD_TERMS`. None in rules with a draft.
    deck_value
        Rules 1.5: the ensemble that rates whole decks, see `locmsim.decks.value.DECK_SHAPES`; if
        None, a deck consists of the best cards by `deck_score`.
    draft
        Rules with a draft: base id -> value of the card, in hundredths of a game at even odds.
        None in rules without a draft.
    draft_value
        Rules with a draft: the ensemble that rates decks in a draft, see
        `locmsim.decks.draft_value.DRAFT_SHAPES`; if None, the values of cards decide.
    """

    evaluation: Mapping[str, float]
    network: Arrays | None = None
    deck_score: Mapping[str, float] | None = None
    deck_value: Sequence[Arrays] | None = None
    draft: Mapping[int, float] | None = None
    draft_value: Sequence[Arrays] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weights):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return len(a) == len(b) and all(map(_same, a, b))
    if hasattr(a, "tobytes") and hasattr(b, "tobytes"):
        return bool(a.shape == b.shape and (a == b).all())
    return bool(a == b)


class WeightsFile(Mapping[str, Weights]):
    """The weights of every rule set, as read from a file: rule set -> `Weights`.

    Rule sets missing in `weights` have the package's weights.

    Parameters
    ----------
    weights : mapping of str to Weights, optional
        Weights by rule set.
    record : iterable of mappings
        The history of the weights as JSON objects, oldest first. `locmsim tune` adds one with its
        command, the version and the number of games.

    Raises
    ------
    ValueError
        A rule set is unknown, or a number is not valid; the message names it.
    """

    def __init__(
        self, weights: Mapping[str, Weights] | None = None, record: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        self.weights = {get_rules(rules).name: own for rules, own in (weights or {}).items()}
        self.record = [dict(entry) for entry in record]
        for rules, own in self.weights.items():
            _check(rules, own)

    def __getitem__(self, rules: str) -> Weights:
        if rules not in RULES:
            raise KeyError(rules)
        return self.weights.get(rules) or default_weights(rules)

    def replaced(self, rules: str, weights: Weights, record: Mapping[str, Any]) -> "WeightsFile":
        """Return a file with other weights of a rule set, and one more record.

        Parameters
        ----------
        rules : str
        weights : Weights
        record : mapping
        """
        return WeightsFile({**self.weights, rules: weights}, [*self.record, record])

    def __iter__(self) -> Iterator[str]:
        return iter(RULES)

    def __len__(self) -> int:
        return len(RULES)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "WeightsFile":
        """Read a weights file.

        Missing parts of a rule set are taken from the package, except that linear weights are not
        combined with a network that was trained with others: with an ``evaluation`` but no
        ``network`` there is no network, with a ``deck_score`` but no ``deck_value`` no deck value,
        and with a ``draft`` but no ``draft_value`` no draft value.

        A JSON file with only linear weights can be read too: rule set -> ``{term: weight}``, and
        ``"deck"`` -> ``{term: weight}`` for the deck score of 1.5. Missing terms have their
        default.

        Parameters
        ----------
        path : path-like
            Path of the file.

        Raises
        ------
        ValueError
            The file is not valid; the message names it and what is wrong.
        OSError
            The file cannot be read.
        """
        try:
            with open(path, "rb") as file:
                start = file.read(2)
                file.seek(0)
                parts, record = _read(file) if start == b"PK" else _read_json(file.read())
            weights = {
                rules: _filled(rules, _own(found, copy=True)) for rules, found in parts.items()
            }
            return cls(weights, record)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a weights file with `weights` and the record atomically.

        Parameters
        ----------
        path : path-like
            Path of the file; an existing one is replaced.
        """
        import numpy as np

        meta: dict[str, Any] = {"format": FORMAT}
        arrays: dict[str, Any] = {}
        for rules, weights in self.weights.items():
            tables = {name: getattr(weights, name) for name in _TABLES}
            meta[rules] = {name: dict(table) for name, table in tables.items() if table is not None}
            for name, array in (weights.network or {}).items():
                arrays[f"{rules}/network/{name}"] = array
            for part in _ENSEMBLES:
                for name in _ENSEMBLES[part] if getattr(weights, part) else ():
                    stack = np.stack([network[name] for network in getattr(weights, part)])
                    arrays[f"{rules}/{part}/{name}"] = stack
        meta["record"] = self.record
        write_archive(path, meta, arrays)


def default_weights(rules: str) -> Weights:
    """Return the package's weights of a rule set; ``ValueError`` for unknown rules.

    The tables are the caller's own; arrays cannot be written to.

    Parameters
    ----------
    rules : str
        The rule set.
    """
    ours = shared_weights(get_rules(rules).name)
    return Weights(**{field.name: _own(getattr(ours, field.name)) for field in fields(ours)})


@cache
def shared_weights(name: str) -> Weights:
    """Return the weights that `default_weights` copies: nobody may change them.

    :meta private:
    """
    get = zipimporter(data_file("weights.npz")).get_data  # `zipfile` is slow to import
    parts = _tables(name, meta_of(get("meta.npy"), _WHAT)[name])
    for part, shapes in {"network": SHAPES, **_ENSEMBLES}.items():
        with suppress(OSError):  # the rule set has no such part
            members = {short: f"{name}/{part}/{short}" for short in shapes}
            parts[part] = {short: array_of(get(f"{m}.npy"), m) for short, m in members.items()}
            if part in _ENSEMBLES:
                parts[part] = _unstacked(part, parts[part])
    return Weights(**parts)


def _own(part: Any, copy: bool = False) -> Any:
    """Return a copy of a part; unless they are copied too, its arrays cannot be written to."""
    if isinstance(part, Mapping):
        return {name: _own(value, copy) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_own(entry, copy) for entry in part]
    if isinstance(part, StoredArray):
        return part.array.copy() if copy else part.array
    return part


# --------------------------------------------------------------------------------- reading

_TABLES = "evaluation", "deck_score", "draft"
#: Part that is an ensemble of networks -> name and shape of their arrays.
_ENSEMBLES = {"deck_value": DECK_SHAPES, "draft_value": DRAFT_SHAPES}
_NETWORKS = "network", *_ENSEMBLES
_Parts: TypeAlias = dict[str, dict[str, Any]]


def _read(file: IO[bytes]) -> tuple[_Parts, list[dict[str, Any]]]:
    """Return the parts in a file by rule set, and the record."""
    meta, arrays = read_archive(file, _WHAT)
    if meta.pop("format", None) != FORMAT:
        raise ValueError(f"meta: not a weights file of format {FORMAT}")
    record = meta.pop("record", [])
    if not isinstance(record, list) or not all(isinstance(x, dict) for x in record):
        raise ValueError("meta: record: expected a list of objects")
    parts = {rules: _tables(rules, tables) for rules, tables in meta.items()}
    for name, array in arrays.items():
        rules, _, rest = name.partition("/")
        part, _, short = rest.partition("/")
        if rules not in parts or part not in _NETWORKS:
            raise ValueError(f"unknown array {name!r}")
        parts[rules].setdefault(part, {})[short] = array
    for rules, found in parts.items():
        for part in found.keys() & _ENSEMBLES.keys():
            found[part] = _unstacked(f"{rules}/{part}", found[part])
    return parts, record


def _unstacked(name: str, stacks: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the networks of an ensemble, which are stacked along the first axis."""
    counts = {stack.shape[0] if stack.ndim else 0 for stack in stacks.values()}
    if len(counts) != 1 or not counts.isdisjoint({0}):
        raise ValueError(f"{name}: expected arrays of the same number of networks")
    return [{key: stack[i] for key, stack in stacks.items()} for i in range(counts.pop())]


def _tables(rules: str, tables: Any) -> dict[str, Any]:
    parts = object_of(tables, rules)
    for name in parts:
        if name not in _TABLES:
            raise ValueError(f"{rules}: unknown part {name!r}")
        parts[name] = object_of(parts[name], f"{rules}: {name}")
    if "draft" in parts:
        try:
            parts["draft"] = {int(base_id): value for base_id, value in parts["draft"].items()}
        except ValueError:
            raise ValueError(f"{rules}: draft: expected base ids and values") from None
    return parts


def _read_json(content: bytes) -> tuple[_Parts, list[dict[str, Any]]]:
    parts: _Parts = {}
    for name, table in object_of(json_of(content, _WHAT), "linear weights").items():
        rules, part = ("1.5", "deck_score") if name == "deck" else (name, "evaluation")
        parts.setdefault(rules, {})[part] = object_of(table, name)
    return parts, []


def _filled(rules: str, parts: dict[str, Any]) -> Weights:
    """Combine the given parts with the package's where that makes sense."""
    if rules not in RULES:
        raise ValueError(f"unknown rule set {rules!r}: expected one of {', '.join(RULES)}")
    ours = default_weights(rules)
    for table, network in (
        ("evaluation", "network"),
        ("deck_score", "deck_value"),
        ("draft", "draft_value"),
    ):
        default = getattr(ours, table)
        if default is None:
            continue
        if table not in parts and network not in parts:
            parts[network] = getattr(ours, network)
        if table == "draft":  # not by names: all cards or none
            parts.setdefault(table, default)
        else:
            parts[table] = {**default, **parts.get(table, {})}
    return Weights(**parts)


# -------------------------------------------------------------------------------- checking


def _check(rules: str, weights: Weights) -> None:
    """Raise ``ValueError`` naming a number that is not valid."""
    ours = default_weights(rules)
    try:
        for part in _TABLES:
            _check_table(part, getattr(weights, part), getattr(ours, part))
        if weights.network is not None:
            packed("network", weights.network, shapes_of(weights.network))
        for part, shapes in _ENSEMBLES.items():
            networks = getattr(weights, part)
            if networks is not None and (part == "draft_value") != get_rules(rules).draft:
                raise ValueError(f"{part}: these rules have no {part.split('_')[0]}")
            for arrays in networks or ():
                packed(part, arrays, shapes)
    except ValueError as error:
        raise ValueError(f"{rules}: {error}") from None


def _check_table(
    part: str, table: Mapping[_T, float] | None, ours: Mapping[_T, float] | None
) -> None:
    if (table is None) != (ours is None):
        raise ValueError(f"{part}: expected {'no' if ours is None else 'some'} weights")
    for name, weight in (table or {}).items():
        if name not in (ours or {}):
            raise ValueError(f"{part}: unknown term {name!r}")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise ValueError(f"{part}: {name}: expected a number, got {weight!r}")
        if not math.isfinite(weight):
            raise ValueError(f"{part}: {name}: expected a finite number, got {weight!r}")
    if missing := [name for name in ours or {} if name not in (table or {})]:
        raise ValueError(f"{part}: {missing[0]} is missing")
