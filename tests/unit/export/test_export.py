"""The tools that make exported files: numbers as text, and C in few characters."""

import random
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from helpers import raises

from locmsim.decks.value import DeckValue
from locmsim.export import export_bot, kernel_header
from locmsim.export.conditions import resolve
from locmsim.export.kit import DATA
from locmsim.export.minify import minify
from locmsim.export.numbers import Packed, decimals, pack, pack_rows, unpack, unpack_rows
from locmsim.networks import default_weights
from locmsim.rules.generator import generate_cards
from locmsim.search import BeamOptions
from locmsim.tuning.proposals import propose_deck


@pytest.fixture(params=[True, False], ids=["ascii", "ideographs"])
def ascii(request):
    return request.param


def test_packed_numbers_are_near_the_ones_given(ascii):
    array = np.random.default_rng(1).standard_normal((167, 3)).astype(np.float32)
    text, scale = pack(array, ascii=ascii)
    again = unpack(text, scale, array.shape)
    assert again.shape == array.shape
    assert np.abs(again - array).max() <= scale / 2 * 1.001
    assert again[np.unravel_index(np.abs(array).argmax(), array.shape)] == pytest.approx(
        array.flat[np.abs(array).argmax()]
    )
    # They stay as they are when they are packed again.
    assert (unpack(*pack(again, ascii=ascii), array.shape) == again).all()


def test_packed_text_in_ascii_means_nothing_in_c():
    array = np.random.default_rng(3).standard_normal(5000).astype(np.float32)
    text, _ = pack(array, ascii=True)
    assert len(text) == 12_500
    assert not set(text) & set('"\\?')
    assert set(map(len, (text, text.encode("ascii")))) == {12_500}
    # Other text has 14 bits a character.
    text, _ = pack(array)
    assert len(text) == -(-5000 * 16 // 14)
    assert all("\u4e00" <= character <= "\u8dff" for character in text)
    assert len(text.encode()) == 3 * len(text)


def test_rows_of_25_levels_are_near_the_ones_given():
    rng = np.random.default_rng(4)
    array = rng.standard_normal((58, 64)) * rng.lognormal(size=(58, 1))
    text, unit = pack_rows(array.astype(np.float32))
    assert len(text) == 58 + -(-58 * 64 // 3)
    assert all("\u4e00" <= character <= "\u8dff" for character in text)
    again = unpack_rows(text, unit, array.shape)
    size = np.sqrt((array**2).mean(axis=1))
    assert (np.sqrt(((again - array) ** 2).mean(axis=1)) < 0.1 * size).all()
    assert all(len(set(row)) <= 25 for row in np.abs(again) * np.sign(array))


def test_rows_stay_as_they_are_when_packed_again():
    array = np.random.default_rng(5).standard_normal((20, 10)).astype(np.float32)
    array[3] = 0
    array[7] *= 1e-6  # tiny compared with the others
    array[8, 1:] = 0
    text, unit = pack_rows(array)
    once = unpack_rows(text, unit, array.shape)
    assert (once[3] == 0).all()
    assert once[8, 0] == pytest.approx(array[8, 0], rel=1e-3)
    assert pack_rows(once) == (text, unit)
    assert (unpack_rows(*pack_rows(np.zeros((2, 4), np.float32)), (2, 4)) == 0).all()


def test_arrays_of_zeros_and_single_numbers_are_packed(ascii):
    arrays = {"none": np.zeros(3, np.float32), "one": np.array(-2.5, np.float32)}
    packed = Packed(arrays, ascii=ascii)
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
        ("char c = ' '; char *d = '\\'';", "char a=' ',*b='\\'';\n"),
        ("int a; long b; long c = f(a);", "int a;long b,c=f(a);\n"),
        (
            "int f(int x) {\n  if (x) { x = 1; }\n  return x;\n}",
            "int a(int b){if(b)b=1;return b;}\n",
        ),
        (
            "int f(int x) {\n  while (x) { if (x) { x--; } }\n  return x;\n}",
            "int a(int b){while(b)if(b)b--;return b;}\n",
        ),
        (
            "int f(int x) {\n  if (x) { if (x) x--; } else x++;\n  return x;\n}",
            "int a(int b){if(b){if(b)b--;}else b++;return b;}\n",
        ),
        ("if (a) return b; else return c;", "if(a)return b;else return c;\n"),
        ("x = y >> 3 & 0x1F; z = 1e-5f;", "a=b>>3&0x1F;c=1e-5f;\n"),
    ],
)
def test_c_is_written_in_few_characters(text, short):
    assert _renamed(minify(text)) == _renamed(short)


def _renamed(text):
    """Return the text with one-letter names, given in the order of their first use."""
    names = {}
    strings = re.compile(r'"[^"]*"|\'(?:\\.|[^\'])\'|#\w+|\b[a-z]\b')

    def name(found):
        word = found[0]
        return names.setdefault(word, f"<{len(names)}>") if len(word) == 1 else word

    return strings.sub(name, text)


def test_frequent_words_become_macros_behind_what_is_included():
    many = "".join(f"static unsigned long first{n}(void);\n" for n in range(20))
    text = minify(f"#include <math.h>\n#if defined(__GNUC__)\n#include <time.h>\n#endif\n{many}")
    lines = text.splitlines()
    assert lines[:4] == [
        "#include <math.h>", "#if defined(__GNUC__)", "#include <time.h>", "#endif"
    ]  # fmt: skip
    macros = dict(line.split()[1:] for line in lines[4:] if line.startswith("#define"))
    assert set(macros.values()) == {"static", "unsigned", "long", "void"}
    again = re.sub(r"\w+", lambda found: macros.get(found[0], found[0]), lines[-1])
    assert re.sub(r"long \w+\(", "long first(", again) == "static unsigned long first(void);" * 20
    assert "static" in minify(many, keep=["static"]).splitlines()[-1]


@pytest.mark.slow
def test_short_names_are_none_of_the_library():
    text = minify(
        "#include <math.h>\n" + "".join(f"static int first{n};\n" for n in range(4000)),
        keep=["static", "int"],
    )
    names = set(re.findall(r"int (\w+)", text))
    assert len(names) == 4000
    assert not names & {"do", "if", "j0", "j1", "jn", "y0", "y1", "yn"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("#if A == 1\none\n#elif A == 2\ntwo\n#else\nother\n#endif", "one"),
        ("#if A == 2\ntwo\n#elif A == 1\none\n#else\nother\n#endif", "one"),
        ("#if A == 2\ntwo\n#elif A == 3\nthree\n#else\nother\n#endif", "other"),
        ("#if A == 2 || A != 1 && B\none\n#endif\nlast", "last"),
        ("#if A != 2 && !B\none\n#endif\nlast", "one\nlast"),
        ("#if A\n# if B\ninner\n# else\none\n# endif\n#endif", "one"),
        ("#if B\n#if UNKNOWN\ninner\n#endif\n#endif\nlast", "last"),
        ("#if B\n#ifdef UNKNOWN\n#if A\n#endif\n#else\n#endif\n#else\nlast\n#endif", "last"),
        (
            "#if defined(X)\n#if A\none\n#else\nother\n#endif\n#else\nlast\n#endif",
            "#if defined(X)\none\n#else\nlast\n#endif",
        ),
        ("#ifndef A\none\n#endif", "#ifndef A\none\n#endif"),
        ("#if A == 1 && UNKNOWN\none\n#elif A\ntwo\n#endif",) * 2,
    ],
)
def test_branches_that_macros_drop_are_left_out(text, kept):
    assert resolve(text, {"A": 1, "B": 0}) == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#if A\n", "an #if has no #endif"),
        ("one\n#endif\n", "line 2: #endif without #if"),
        ("#else\n", "line 1: #else without #if"),
        ("#if B\n#elif UNKNOWN\n#endif\n", "line 2: the branches before this one are decided"),
    ],
)
def test_conditions_that_do_not_match_are_named(text, message):
    raises(ValueError, message, resolve, text, {"A": 1, "B": 0})


def test_names_to_keep_stay():
    assert minify("int first(int second);", keep=["first"]) == "int first(int a);\n"


def test_the_header_names_nothing_without_its_prefix():
    text = kernel_header()
    for line in text.splitlines():
        if line.startswith(("LOCMI_FUNCTION", "LOCMI_INLINE", "typedef", "struct")):
            assert re.search("locmi?_", line), line
        if line.startswith(("static", "#define", "  LOCM")):
            assert re.search("(?i)locmi?_", line) or "WIN32" in line, line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "2.0"}, "unknown rules '2.0'"),
        ({"rules": "1.0", "search": "depth"}, "search: expected one of beam, mcts, got 'depth'"),
        ({"rules": "1.0", "search": "mcts", "options": BeamOptions()}, "expected MCTSOptions"),
        (
            {"rules": "1.0", "time_ms": 0},
            "time_ms: expected more than 0 and at most .*, got 0",
        ),
        ({"rules": "1.0", "share": 2}, "share: expected more than 0 and at most 1, got 2"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    raises(ValueError, message, export_bot, **arguments)


def test_options_of_the_search_are_in_the_file():
    options = BeamOptions(plans=7, worlds=33)
    text = export_bot("1.0", options=options, readable=True).text
    assert "o->plans = 7;" in text
    assert "o->worlds = 33;" in text


@pytest.mark.slow
def test_the_numbers_returned_are_those_of_the_file(ascii):
    bot = export_bot("1.5", ascii=ascii)
    given, rounded = default_weights("1.5"), bot.weights["1.5"]
    assert rounded.evaluation == given.evaluation
    assert rounded.deck_score == given.deck_score
    assert len(rounded.deck_value) == (1 if ascii else len(given.deck_value))
    for name, array in given.network.items():
        assert np.abs(rounded.network[name] - array).max() < 1e-3
        assert rounded.network[name].dtype == np.float32
    again = export_bot("1.5", bot.weights, ascii=ascii)
    assert again.text == bot.text


@pytest.mark.slow
def test_the_ensemble_in_a_file_values_decks_as_the_one_given():
    rng = random.Random(1)
    whole = default_weights("1.5").deck_value
    cards = generate_cards(7)
    decks = [propose_deck(cards, whole, rng) for _ in range(40)]

    def values(ascii):
        networks = export_bot("1.5", ascii=ascii).weights["1.5"].deck_value
        return np.array([DeckValue(*networks)(deck) for deck in decks])

    wanted = np.array([DeckValue(*whole)(deck) for deck in decks])
    wanted -= wanted.mean()
    ensemble, distilled = (
        np.abs(found - found.mean() - wanted).mean() for found in map(values, (False, True))
    )
    assert ensemble < 0.5 * distilled


def test_the_reference_lists_the_functions_of_the_header():
    page = Path(__file__).parents[3] / "docs" / "reference" / "export.md"
    if not page.exists():
        pytest.skip("not the source tree")
    rows = re.findall(r"(?m)^\| (.*) \| `locm_(\w+)` \| (.+) \|$", page.read_text(encoding="utf-8"))
    wanted = tomllib.loads(DATA.joinpath("functions.toml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, str]] = {}
    group = ""
    for first, name, line in rows:
        group = first.strip(" `") or group
        found.setdefault(group, {})[name] = line
    assert found == wanted["kernel"] | wanted["parts"]
    assert 20 <= sum(map(len, wanted["kernel"].values())) <= 30
    header = kernel_header()
    for group, lines in wanted["kernel"].items():
        assert f"\n// {group}\n" in header
        for name, line in lines.items():
            assert re.search(rf"\n//   locm_{name} +{re.escape(line)}\n", header)
    functions = re.findall(r"(?m)^LOCMI_(?:FUNCTION|INLINE).*?\blocm_(\w+)\(", header)
    assert {*functions} == {name for lines in wanted["kernel"].values() for name in lines}


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_a_minified_kernel_of_one_rule_set_is_small_and_keeps_names_for_users(rules):
    text = kernel_header(rules, minified=True)
    assert len(text) <= 29_500
    wanted = kernel_header(rules)
    words = set(re.findall(r"\w+", re.sub("//.*", "", wanted)))
    kept = set(re.findall(r"\w+", text))
    assert {word for word in words if word.lower().startswith("locm_")} <= kept
    assert {"cards", "board", "deck_left", "keywords", "opponent_hand"} <= kept
    assert not {word for word in kept if word.lower().startswith("locmi_")}
    defined = re.findall(r"(?m)^#define (\w+)", text)
    left = {*defined} - {*re.findall(r"(?m)^#undef (\w+)", text)}
    assert {word for word in left if len(word) == 1} == set()


def test_a_header_has_what_is_asked_for_and_nothing_else():
    kernel = kernel_header("1.0")
    assert "locmi_engine" not in kernel
    assert "tanh" not in kernel
    evaluation = kernel_header("1.0", ["evaluation"])
    assert "locm_evaluate(" in evaluation
    assert "locm_game_see" not in evaluation
    assert "locmi_card_scores" not in evaluation
    belief = kernel_header("1.0", ["belief"])
    assert "locm_game_see(" in belief
    assert "locmi_draft_networks" not in belief
    assert "locm_evaluate(" not in belief
    assert "locm_state_perft" not in belief
    both = kernel_header("1.0", ["deck", "draft"])
    assert both == kernel_header("1.0", ["draft"])
    assert "locmi_draft_networks" in both
    assert "locm_game_search" in kernel_header("1.0", ["search"])
    assert "locm_state_perft" in kernel_header(None, ["tests"])
