"""What exported files are made with: numbers as text, and C in few characters."""

import random
import re

import numpy as np
import pytest
from amounts import amount

from locmsim.decks.value import SHAPES, DeckValue
from locmsim.export import export_bot, kernel_header
from locmsim.export.minify import minify
from locmsim.export.numbers import Packed, decimals, pack, unpack
from locmsim.networks.weights import default_weights
from locmsim.rules.generator import generate_cards
from locmsim.search import BeamOptions
from locmsim.tuning.decks import propose_deck
from locmsim.tuning.distilling import distilled_deck_value


def test_packed_numbers_are_near_the_ones_given():
    array = np.random.default_rng(1).standard_normal((7, 3)).astype(np.float32)
    text, scale = pack(array)
    again = unpack(text, scale, array.shape)
    assert again.shape == array.shape
    assert np.abs(again - array).max() <= scale / 2 * 1.001
    assert again[np.unravel_index(np.abs(array).argmax(), array.shape)] == pytest.approx(
        array.flat[np.abs(array).argmax()]
    )


def test_packed_numbers_stay_as_they_are_when_packed_again():
    array = np.random.default_rng(2).standard_normal(501).astype(np.float32)
    once = unpack(*pack(array), array.shape)
    assert (unpack(*pack(once), array.shape) == once).all()


def test_packed_text_means_nothing_in_c():
    array = np.random.default_rng(3).standard_normal(50_000).astype(np.float32)
    text, _ = pack(array)
    assert len(text) == 125_000
    assert not set(text) & set('"\\?')
    assert set(map(len, (text, text.encode("ascii")))) == {125_000}


def test_arrays_of_zeros_and_single_numbers_are_packed():
    packed = Packed({"none": np.zeros(3, np.float32), "one": np.array(-2.5, np.float32)})
    assert (packed.arrays["none"] == 0).all()
    assert packed.arrays["one"] == -2.5
    assert packed.sizes == [3, 1]


@pytest.mark.parametrize(
    ("values", "whole", "unit"),
    [
        ([1.0, -2.0], [1, -2], 1),
        ([0.25, 8.16], [25, 816], 100),
        ([1 / 3, 300.0], [33, 30000], 100),
        ([1 / 3], [3333], 10_000),
        ([1e9], [32767], 1),
        ([], [], 1),
    ],
)
def test_decimals_fit_16_bits(values, whole, unit):
    assert decimals(values) == (whole, unit)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("int first = 1; // one\n", "int a=1;\n"),
        ("/* a\n b */ int first;", "int a;\n"),
        ('const char *text = "// no comment /* here";', 'const char*a="// no comment /* here";\n'),
        ("int first = a - -b + +c;", "int b=a- -c+ +d;\n"),
        ("enum { LOW = -1, HIGH = 2 };\nint first = HIGH - LOW;", "int a=2-(-1);\n"),
        ("#define TWICE(x) (2 * (x))\nint first = TWICE(3);", "#define a(b)(2*(b))\nint c=a(3);\n"),
        ("#define VALUE (3)\nint first = VALUE;", "#define a (3)\nint b=a;\n"),
        ('#define NAME "1.0"\nputs("rules " NAME);', '#define a "1.0"\nputs("rules " a);\n'),
        ("#include <math.h>\nfloat first = sqrtf(2);", "#include <math.h>\nfloat a=sqrtf(2);\n"),
        ("char c = ' '; char d = '\\'';", "char a=' ';char b='\\'';\n"),
        ("if (a) return b; else return c;", "if(a)return b;else return c;\n"),
        ("x = y >> 3 & 0x1F; z = 1e-5f;", "a=b>>3&0x1F;c=1e-5f;\n"),
    ],
)
def test_c_is_written_in_few_characters(text, short):
    assert _renamed(minify(text)) == _renamed(short)


def _renamed(text):
    """The text with one-letter names in the order in which they come."""
    names = {}
    strings = re.compile(r'"[^"]*"|\'(?:\\.|[^\'])\'|#\w+|\b[a-z]\b')

    def name(found):
        word = found[0]
        return names.setdefault(word, f"<{len(names)}>") if len(word) == 1 else word

    return strings.sub(name, text)


def test_names_to_keep_stay():
    assert minify("int first(int second);", keep=["first"]) == "int first(int a);\n"


def test_the_header_names_nothing_without_its_prefix():
    text = kernel_header()
    for line in text.splitlines():
        if line.startswith(("LOCM_FUNCTION", "LOCM_INLINE", "typedef")):
            assert "locm_" in line, line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "2.0"}, "unknown rules '2.0'"),
        ({"rules": "1.0", "search": "depth"}, "search: expected one of beam, mcts, got 'depth'"),
        ({"rules": "1.0", "search": "mcts", "options": BeamOptions()}, "expected MCTSOptions"),
        ({"rules": "1.0", "time_ms": 0}, "expected more than 0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        export_bot(**arguments)


def test_options_of_the_search_are_in_the_file():
    options = BeamOptions(plans=7, worlds=33)
    text = export_bot("1.0", options=options, readable=True).text
    assert "o->plans = 7;" in text
    assert "o->worlds = 33;" in text


def test_the_numbers_returned_are_those_of_the_file():
    bot = export_bot("1.5")
    given, rounded = default_weights("1.5"), bot.weights["1.5"]
    assert rounded.evaluation == given.evaluation
    assert rounded.deck_score == given.deck_score
    assert len(rounded.deck_value) == 1
    for name, array in given.network.items():
        assert np.abs(rounded.network[name] - array).max() < 1e-3
        assert rounded.network[name].dtype == np.float32
    again = export_bot("1.5", bot.weights)
    assert again.text == bot.text


def test_a_distilled_network_is_nearer_to_the_ensemble_than_its_start():
    networks = [  # further apart than those of the package
        {**arrays, "direct": np.asarray(arrays["direct"]) * (0.7 + 0.2 * number)}
        for number, arrays in enumerate(default_weights("1.5").deck_value)
    ]
    one = distilled_deck_value(networks, sets=amount(2, 4), epochs=amount(12, 30))
    assert {name: array.shape for name, array in one.items()} == SHAPES
    chance = random.Random(1)
    cards = generate_cards(-2)  # one of those that it has learned from
    decks = [propose_deck(cards, networks, chance) for _ in range(40)]

    def values(*networks):
        found = np.array([DeckValue(*networks)(deck) for deck in decks])
        return found - found.mean()

    wanted = values(*networks)
    errors = [np.abs(values(arrays) - wanted).mean() for arrays in (one, networks[0])]
    assert errors[0] < 0.9 * errors[1]
