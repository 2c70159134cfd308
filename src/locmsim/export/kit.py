"""The templates in C, with the numbers of one bot, and the parts that can be chosen from them."""

import logging
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Annotated

import numpy as np

from locmsim.decks import CARD_TERMS
from locmsim.decks.builders import RESTARTS
from locmsim.decks.draft_value import DRAFT_SHAPES, DRAFTS
from locmsim.decks.value import DECK_SHAPES
from locmsim.export.numbers import Packed, decimals, list_of
from locmsim.networks._network import LARGE_SHAPES, shapes_of
from locmsim.networks.weights import Arrays, Weights, default_weights
from locmsim.options.declarations import Option
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES_NAMES, get_rules
from locmsim.search import TERMS, BeamOptions, MCTSOptions, SearchOptions
from locmsim.search.belief import DRAFT_TEMPERATURE, OWN_COPY, TEMPERATURES

_LOG = logging.getLogger(__name__)

#: The folder of the templates.
DATA = files("locmsim.export").joinpath("data")
#: What can be added to the kernel, and the parts that each needs.
PARTS = {
    "tests": (),
    "deck": ("belief",),
    "draft": ("belief",),
    "evaluation": (),
    "belief": (),
    "network": (),
    "search": ("belief", "evaluation"),
}
#: The options of each search.
SEARCHES: dict[str, type[SearchOptions]] = {"beam": BeamOptions, "mcts": MCTSOptions}
#: Options of bots and of the parts of kernels.
SearchName = Annotated[str, Option("search algorithm of the bot", choices=tuple(SEARCHES))]
Ascii = Annotated[
    bool,
    Option(
        "use ASCII characters only, for editors that garble others",
        more="Networks take more than twice as many characters then. Otherwise a character holds 14"
        " bits, and the file must be stored as UTF-8.",
    ),
]
#: The most characters of a string: ISO C promises no more than 4095 bytes.
_CHUNK = 1300
#: Cards in rules 1.5, and in the others.
_OFFERED = 120
_CARDS = 160


def template(name: str) -> str:
    """Return a C file of the package."""
    return DATA.joinpath(f"{name}.h").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Kit:
    """The kernel and further parts in C, with what they do not need.

    Attributes
    ----------
    text
        The templates and numbers.
    macros
        The macros that decide their conditions.
    weights
        The weights in them, which are rounded.
    """

    text: str
    macros: dict[str, int]
    weights: Weights


def check_names(parts: Collection[str]) -> None:
    """Raise ``ValueError`` if a part is unknown."""
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"unknown part {part!r}: expected some of {', '.join(PARTS)}")


def check_parts(rules: str, parts: Collection[str]) -> set[str]:
    """Return the parts with those that they need, without the choice of cards of other rules.

    Raises
    ------
    ValueError
        A part is unknown, or the rules have no such part.
    """
    check_names(parts)
    chosen = {"draft"} if get_rules(rules).draft else {"deck"}
    (other,) = {"deck", "draft"} - chosen
    if other in parts and not chosen & {*parts}:
        raise ValueError(f"rules {rules} have no {other}: ask for {', '.join(chosen)}")
    kept = {*parts} - {other}
    return kept.union(*(PARTS[part] for part in kept))


def make_kit(
    rules: str,
    parts: Collection[str],
    weights: Weights,
    *,
    search: str = "beam",
    options: SearchOptions | None = None,
    ascii: bool = False,
) -> Kit:
    """Return the templates and numbers of some parts; `options` are those of the search.

    ``ValueError`` for options of another search.
    """
    if options is not None and not isinstance(options, SEARCHES[search]):
        raise ValueError(f"options: expected {SEARCHES[search].__name__}, got {options!r}")
    numbers = _Numbers(ascii)
    numbers.macros["RULES"] = RULES_NAMES.index(rules)
    numbers.macros["IS_TREE"] = int(search == "mcts")
    numbers.macros["HAS_OFFERS"] = int("belief" in parts)
    rounded = weights
    if "belief" in parts:
        rounded = numbers.belief(rules, rounded)
    if "deck" in parts:
        rounded = numbers.deck(rounded)
    if "draft" in parts:
        rounded = numbers.draft(rounded)
    if "evaluation" in parts:
        numbers.array("float", "locmi_term_weights", [weights.evaluation[t] for t in TERMS])
    if "network" in parts and weights.network is None:
        raise ValueError("network: the weights have none; leave this part out")
    if {"network", "search"} & {*parts}:
        rounded = numbers.network(rounded)
    if "search" in parts:
        numbers.options(options or SEARCHES[search]())
    files_of = {"evaluation": "evaluation", "belief": "game"}
    names = [
        files_of.get(part, part)
        for part in ("evaluation", "belief", "deck", "draft", "network", "search")
        if part in parts
    ]
    texts = [template("kit"), numbers.text(), *map(template, names)]
    return Kit("\n".join(texts), numbers.macros, rounded)


class _Numbers:
    """The part of the text that differs between bots."""

    def __init__(self, ascii: bool) -> None:
        self.ascii = ascii
        self.lines = ["// ---- numbers ----", ""]
        self.setting: list[str] = []
        self.longest = 0  # bytes of a text
        #: Macros that decide conditions in the templates.
        self.macros = {"IS_ASCII": int(ascii), "HAS_ROWS": 0, "HAS_NETWORK": 0}
        self.macros["HAS_CHOICE_VALUE"] = 0

    def define(self, name: str, value: object) -> None:
        self.lines += [f"#define {name} {value}", ""]

    def options(self, options: SearchOptions) -> None:
        """Write the options of the search."""
        lines = [f"  o->{f.name} = {getattr(options, f.name)};" for f in fields(options)]
        head = "static void locmi_set_options(locmi_options_t *o) {"
        self.lines += [head, *lines, "}", ""]

    def array(self, type: str, name: str, values: list[object]) -> None:
        self.lines += [f"static const {type} {name}[] = {list_of(values)};", ""]

    def packed(self, name: str, place: str, parts: Sequence[Packed]) -> None:
        """Write the arrays of networks in the order of the structs of floats."""
        name = f"locmi_{name}"
        first, count = parts[0], len(parts) * len(parts[0].sizes)
        text = "".join(text for part in parts for text in part.texts)
        chunks = [text[i : i + _CHUNK] for i in range(0, len(text), _CHUNK)]
        lines = ",\n    ".join(f'"{chunk}"' for chunk in chunks)
        self.lines += [f"static const char *const {name}_text[] = {{\n    {lines}}};", ""]
        self.longest = max(self.longest, len(text.encode()))
        sizes = [
            -size if has_rows else size  # the kinds of `unpack_all`
            for size, has_rows in zip(first.sizes, first.has_rows, strict=True)
        ]
        self.macros["HAS_ROWS"] |= int(any(first.has_rows))
        self.array("int", f"{name}_sizes", [*sizes])
        scales = [np.float32(scale) for part in parts for scale in part.scales]
        self.array("float", f"{name}_scales", [*scales])
        arrays = f"{name}_text, {len(chunks)}, {name}_sizes, {len(sizes)}, {name}_scales, {count}"
        self.setting.append(f"locmi_unpack_all((float *){place}, {arrays});")

    # -- the weights of each part; the methods return them as rounded

    def belief(self, rules: str, weights: Weights) -> Weights:
        numbers = f"{TEMPERATURES[rules]}, {DRAFT_TEMPERATURE}, {OWN_COPY}"
        self.lines += [f"static const locmi_prior_t locmi_prior = {{{numbers}}};", ""]
        if weights.deck_score is not None:
            scores = [weights.deck_score.get(term, 0.0) for term in CARD_TERMS]
            self.array("double", "locmi_score_weights", [*scores])
        if weights.draft is None:
            return weights
        wholes, unit = decimals(weights.draft.get(i, 0.0) for i in range(1, _CARDS + 1))
        self.define("LOCMI_SCORES", _CARDS)
        self.define("LOCMI_SCORE_UNIT", f"{unit}.0")
        self.array("short", "locmi_card_scores", [*wholes])
        return replace(weights, draft={i: wholes[i - 1] / unit for i in weights.draft})

    def deck(self, weights: Weights) -> Weights:
        if weights.deck_value is None:
            return weights
        ensemble = [_one(weights.deck_value)] if self.ascii else weights.deck_value
        coarse = len(ensemble) > 1
        parts = [
            Packed({name: arrays[name] for name in DECK_SHAPES}, ascii=self.ascii, coarse=coarse)
            for arrays in ensemble
        ]
        self.define("LOCMI_RESTARTS", RESTARTS)
        self.array("short", "locmi_restarts", [*_restarts()])
        return replace(weights, deck_value=self.ensemble("deck", parts))

    def draft(self, weights: Weights) -> Weights:
        if not weights.draft_value:
            return replace(weights, draft_value=None)
        parts = [
            Packed({name: arrays[name] for name in DRAFT_SHAPES}, ascii=self.ascii)
            for arrays in weights.draft_value
        ]
        self.define("LOCMI_DRAFTS", DRAFTS)
        return replace(weights, draft_value=self.ensemble("draft", parts))

    def ensemble(self, kind: str, parts: Sequence[Packed]) -> list[Arrays]:
        """Write the networks by which cards are chosen."""
        name, count = f"locmi_{kind}_networks", f"LOCMI_{kind.upper()}_NETWORKS"
        self.macros["HAS_CHOICE_VALUE"] = 1
        self.define(count, len(parts))
        self.lines += [f"static locmi_{kind}_network_t {name}[{count}];", ""]
        self.packed(kind, name, parts)
        return [part.arrays for part in parts]

    def network(self, weights: Weights) -> Weights:
        if weights.network is None:
            return weights
        packed = Packed(weights.network, ascii=self.ascii)
        self.macros["HAS_NETWORK"] = 1
        self.lines += ["static locmi_network_t locmi_network;", ""]
        self.packed("network", "locmi_network.numbers", [packed])
        large = shapes_of(packed.arrays) is LARGE_SHAPES
        self.setting.append(f"locmi_network.large = {int(large)};")
        return replace(weights, network=packed.arrays)

    def text(self) -> str:
        if self.setting:
            self.define("LOCMI_TEXT_SIZE", self.longest + 1)
        unpack = [template("unpack")] if self.setting else []
        head = "static void locmi_set_weights(void) {"
        return "\n".join([*self.lines, *unpack, head, *(f"  {x}" for x in self.setting), "}", ""])


def _one(networks: Sequence[Arrays]) -> Arrays:
    """Return a network in place of an ensemble, which is too long in ASCII."""
    if len(networks) == 1:
        return networks[0]
    ours = default_weights("1.5").deck_value or ()
    if len(networks) == len(ours) and all(map(_same, networks, ours)):
        with DATA.joinpath("deck-value.npz").open("rb") as file:
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
