"""The tuned bot as one C file."""

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files

import numpy as np

from locmsim.agents.turn_search import SHARE, TIME_MS, SearchAgent
from locmsim.decks import CARD_TERMS
from locmsim.decks.builders import RESTARTS
from locmsim.decks.draft_value import DRAFTS
from locmsim.decks.draft_value import SHAPES as DRAFT_SHAPES
from locmsim.decks.value import SHAPES as DECK_SHAPES
from locmsim.export.conditions import resolve
from locmsim.export.kernel import template
from locmsim.export.minify import minify
from locmsim.export.numbers import Packed, decimals, list_of
from locmsim.networks.weights import Arrays, Weights, WeightsFile, default_weights
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES_NAMES, get_rules
from locmsim.search import TERMS, BeamOptions, MCTSOptions, SearchOptions
from locmsim.search.belief import DRAFT_TEMPERATURE, OWN_COPY, TEMPERATURES

__all__ = ["LIMIT", "Bot", "export_bot"]

_LOG = logging.getLogger(__name__)

#: Characters that the site takes.
LIMIT = 100_000
_SEARCHES: Mapping[str, type[SearchOptions]] = {"beam": BeamOptions, "mcts": MCTSOptions}
#: Cards in rules 1.5.
_OFFERED = 120

_HEAD = """\
// A bot for Legends of Code and Magic, rules {rules}: {search} search with {weights}.
//
// Made by `locmsim export` from the sources of locmsim; do not edit it, export it again. For C17
// and C++17, with nothing to link but the library of mathematics. An argument bounds the search by
// that many {bound} in place of time: answers then only depend on what was shown.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC optimize("O2,no-tree-slp-vectorize")
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef INLINE
#elif defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline, unused))
#else
#define INLINE static inline
#endif
"""


@dataclass(frozen=True)
class Bot:
    """A bot in C, and what it plays by.

    Attributes
    ----------
    text
        The file as the site takes it, or a readable one.
    weights
        The numbers in it: rounded, and so a little different from those that were given.
    """

    text: str
    weights: WeightsFile

    @property
    def fits(self) -> bool:
        """Whether the site takes a file of that size."""
        return len(self.text) <= LIMIT


def export_bot(
    rules: str,
    weights: Mapping[str, Weights] | None = None,
    *,
    search: str = "beam",
    options: SearchOptions | None = None,
    time_ms: float = TIME_MS,
    share: float = SHARE,
    readable: bool = False,
    ascii: bool = False,
) -> Bot:
    """Return the bot of one rule set as one C file.

    Parameters
    ----------
    rules : str
        The rule set.
    weights : mapping of rule sets to Weights, optional
        What it plays by; the weights of the package by default. Of an ensemble that values decks
        the tables have 25 levels. With `ascii` it is distilled to one network
        (`locmsim.tuning.distilling`), which for another one than the package's takes minutes and
        needs the extra `train`.
    search : str
        "beam" or "mcts".
    options : SearchOptions, optional
        `BeamOptions` or `MCTSOptions`, whichever the search takes.
    time_ms : float
        Milliseconds for a turn, at most `share` of the limit of the rules; five times as much for
        the first one, as agents have it.
    share : float
        See `time_ms`.
    readable : bool
        With names and comments, for learning.
    ascii : bool
        With networks in ASCII, which takes more than twice the characters. Otherwise a character
        has 14 bits of them, and the file is to be kept as UTF-8.

    Returns
    -------
    Bot

    Raises
    ------
    ValueError
        An argument makes no sense.
    ImportError
        An ensemble is to be distilled, and PyTorch is missing.
    """
    rule_set = get_rules(rules)
    if search not in _SEARCHES:
        raise ValueError(f"search: expected one of {', '.join(_SEARCHES)}, got {search!r}")
    options = options or _SEARCHES[search]()
    if not isinstance(options, _SEARCHES[search]):
        raise ValueError(f"options: expected {_SEARCHES[search].__name__}, got {options!r}")
    if not (time_ms > 0 and 0 < share <= 1):
        raise ValueError(f"time_ms, share: expected more than 0, got {time_ms} and {share}")
    used_weights = (weights or WeightsFile())[rules]
    first, later = rule_set.battle_limits_ms
    turn = min(time_ms, share * later)
    data = _Data(ascii)
    data.define("RULES", RULES_NAMES.index(rules))
    data.define("RULES_NAME", f'"{rules}"')
    data.define("IS_TREE", int(search == "mcts"))
    data.define("TURN_MS", int(turn))
    data.define("FIRST_MS", int(min(SearchAgent.FIRST_TURN * turn, share * first)))
    data.options(options)
    rounded = _weights(data, rules, used_weights)
    text = "\n".join(
        [
            _HEAD.format(
                rules=rules,
                search=search,
                weights="a network" if used_weights.network is not None else "linear weights",
                bound="visits" if search == "mcts" else "nodes",
            ),
            template("search"),
            template("state"),
            data.text(),
            template("draft" if rule_set.draft else "deck"),
            template("main"),
        ]
    )
    text = resolve(text, data.macros)
    return Bot(text if readable else minify(text), WeightsFile({rules: rounded}))


class _Data:
    """The part of the file that differs between bots."""

    def __init__(self, ascii: bool) -> None:
        self.ascii = ascii
        self.lines = ["// ---- numbers ----", ""]
        self.setting: list[str] = []
        #: What decides conditions in the templates.
        self.macros = {"IS_ASCII": int(ascii), "HAS_ROWS": 0}

    def define(self, name: str, value: object) -> None:
        self.lines.append(f"#define {name} {value}")
        if isinstance(value, int):
            self.macros[name] = value

    def options(self, options: SearchOptions) -> None:
        """What the search is told."""
        lines = [f"  o->{f.name} = {getattr(options, f.name)};" for f in fields(options)]
        self.lines += ["static void set_options(options_t *o) {", *lines, "}", ""]

    def array(self, type: str, name: str, values: list[object]) -> None:
        self.lines += [f"static const {type} {name}[] = {list_of(values)};", ""]

    def packed(self, name: str, place: str, parts: Sequence[Packed]) -> None:
        """Arrays of networks one behind the other, as they lie in structs of floats."""
        first, count = parts[0], len(parts) * len(parts[0].sizes)
        text = "\n    ".join(f'"{text}"' for part in parts for text in part.texts)
        self.lines += [f"static const char *const {name}_text =\n    {text};", ""]
        sizes = [
            -size if has_rows else size  # as `unpack_all` knows the kinds
            for size, has_rows in zip(first.sizes, first.has_rows, strict=True)
        ]
        self.macros["HAS_ROWS"] |= int(any(first.has_rows))
        self.array("int", f"{name}_sizes", [*sizes])
        scales = [np.float32(scale) for part in parts for scale in part.scales]
        self.array("float", f"{name}_scales", [*scales])
        arrays = f"{name}_text, {name}_sizes, {len(sizes)}, {name}_scales, {count}"
        self.setting.append(f"unpack_all((float *){place}, {arrays});")

    def text(self) -> str:
        unpack = [template("unpack")] if any("unpack" in line for line in self.setting) else []
        setting = ["static void set_weights(void) {", *(f"  {x}" for x in self.setting), "}", ""]
        return "\n".join([*self.lines, *unpack, *setting])


def _weights(data: _Data, rules: str, weights: Weights) -> Weights:
    """Write the numbers; returns them as they are in the file."""
    data.array("float", "term_weights", [weights.evaluation[name] for name in TERMS])
    data.setting.append("memcpy(&weights, term_weights, sizeof(weights));")
    numbers = f"{TEMPERATURES[rules]}, {DRAFT_TEMPERATURE}, {OWN_COPY}"
    data.lines += [f"static const prior_t prior = {{{numbers}}};", ""]
    network = None
    data.define("HAS_NETWORK", int(weights.network is not None))
    if weights.network is not None:
        packed = Packed(weights.network, ascii=data.ascii)
        network = packed.arrays
        data.packed("network", "&network", [packed])
    deck_value = None
    if weights.deck_score is not None:
        data.array("double", "score_weights", [weights.deck_score.get(t, 0.0) for t in CARD_TERMS])
        data.macros["HAS_CHOICE_VALUE"] = int(weights.deck_value is not None)
    if weights.deck_value is not None:
        ensemble = [_one(weights.deck_value)] if data.ascii else weights.deck_value
        coarse = len(ensemble) > 1
        parts = [
            Packed({name: arrays[name] for name in DECK_SHAPES}, ascii=data.ascii, coarse=coarse)
            for arrays in ensemble
        ]
        deck_value = [part.arrays for part in parts]
        data.define("DECK_NETWORKS", len(parts))
        data.define("RESTARTS", RESTARTS)
        data.array("short", "restarts", [*_restarts()])
        data.lines += ["static deck_network_t deck_networks[DECK_NETWORKS];", ""]
        data.packed("deck", "deck_networks", parts)
    draft = None
    if weights.draft is not None:
        scores, unit = decimals(weights.draft.get(i, 0.0) for i in range(1, 161))
        draft = {i: scores[i - 1] / unit for i in weights.draft}
        data.define("SCORE_UNIT", f"{unit}.0")
        data.array("short", "card_scores", [*scores])
    draft_value = None
    if weights.draft is not None:
        networks = weights.draft_value or ()
        parts = [
            Packed({name: arrays[name] for name in DRAFT_SHAPES}, ascii=data.ascii)
            for arrays in networks
        ]
        data.define("HAS_CHOICE_VALUE", int(bool(parts)))
        if parts:
            draft_value = [part.arrays for part in parts]
            data.define("DRAFT_NETWORKS", len(parts))
            data.define("DRAFTS", DRAFTS)
            data.lines += [
                "static draft_network_t draft_networks[DRAFT_NETWORKS];",
                "static draft_value_t draft_values;",
                "",
            ]
            data.packed("draft", "draft_networks", parts)
    return Weights(weights.evaluation, network, weights.deck_score, deck_value, draft, draft_value)


def _one(networks: Sequence[Arrays]) -> Arrays:
    """Return a network in place of an ensemble, which is too long in ASCII."""
    if len(networks) == 1:
        return networks[0]
    ours = default_weights("1.5").deck_value or ()
    if len(networks) == len(ours) and all(map(_same, networks, ours)):
        with files("locmsim.export").joinpath("data/deck-value.npz").open("rb") as file:
            archive = np.load(file)
            return {name: archive[name] for name in archive.files}
    from locmsim.tuning.distilling import distilled_deck_value  # slow to import

    _LOG.info("distilling the %d networks of the deck value: some minutes", len(networks))
    return distilled_deck_value(networks)


def _same(a: Arrays, b: Arrays) -> bool:
    return all(np.array_equal(a[name], b[name]) for name in a)


def _restarts() -> Iterator[int]:
    """Yield random decks for `SwapBuilder` to improve: indices in two rows of the offer."""
    rng = random.Random(0)
    for _ in range(RESTARTS):
        yield from rng.sample(range(COPIES_PER_CARD * _OFFERED), DECK_SIZE)
