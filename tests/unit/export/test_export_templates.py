"""The C in the package is generated from the sources; what cannot be translated is refused."""

import itertools
import os
from unittest.mock import patch

import pytest
from helpers import raises

pytest.importorskip("Cython")

import export_templates
from export_templates import KIT, MACROS, SOURCES

from locmsim.export.conditions import resolve

of_the_sources = pytest.mark.skipif(not SOURCES.exists(), reason="not the source tree")


@of_the_sources
@pytest.mark.slow
def test_the_c_in_the_package_is_that_of_the_sources():
    """After a change of the sources, run python tools/export_templates.py."""
    for name, text in export_templates.templates().items():
        assert (SOURCES / name).read_text() == text, name


@of_the_sources
@pytest.mark.slow
def test_the_template_gives_what_is_translated_for_every_choice():
    text = (SOURCES / KIT).read_text()
    for choice in itertools.product(*MACROS.values()):
        wanted = export_templates.specialised(choice)
        assert resolve(text, dict(zip(MACROS, choice, strict=True))) == wanted


def test_woven_texts_come_out_again():
    choices = [*itertools.product(*MACROS.values())]
    texts = {
        choice: "\n".join(
            [
                "first",
                *(f"{n}: {x}" for n, x in enumerate(choice)),
                f"{sum(choice) % 3}",
                "last",
                "",
            ]
        )
        for choice in choices
    }
    woven = export_templates.woven(texts)
    assert woven.count("first") == woven.count("last") == 1
    for choice, text in texts.items():
        assert resolve(woven, dict(zip(MACROS, choice, strict=True))) == text


@pytest.fixture
def checkout(tmp_path):
    """Make a source tree with one source, whose translation is a number that grows."""
    source = tmp_path / "src" / "locmsim" / "one.pyx"
    source.parent.mkdir(parents=True)
    source.write_text("")
    tool = tmp_path / "tool.py"
    tool.write_text("")
    for path in (source, tool):
        os.utime(path, (1000, 1000))
    files = (export_templates.HEADER, export_templates.KIT)
    numbers = itertools.count(1)
    for name in ("frame.h", "common.h", "functions.toml"):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (1000, 1000))

    def built():
        export_templates.write_new()
        (text,) = {(source.parent / name).read_text() for name in files}
        return text

    with patch.multiple(
        export_templates,
        ROOT=tmp_path,
        SOURCES=source.parent,
        DATA=tmp_path,
        __file__=str(tool),
        templates=lambda: dict.fromkeys(files, str(next(numbers))),
    ):
        yield tmp_path, source, built


def test_a_build_from_a_checkout_translates_what_has_changed(checkout):
    _, source, built = checkout
    assert built() == "1"
    assert built() == "1"
    source.write_text("changed")
    os.utime(source, (2**33, 2**33))
    assert built() == "2"
    os.utime(source, (1000, 1000))
    (source.parent / export_templates.HEADER).unlink()
    assert built() == "3"


def test_a_build_from_a_source_archive_does_not_translate(checkout):
    folder, source, built = checkout
    assert built() == "1"
    (folder / "PKG-INFO").write_text("")
    os.utime(source, (2**33, 2**33))  # an archive may be unpacked with other times
    assert built() == "1"


def translated(tmp_path, source):
    import cython_to_c  # with Cython, which is slow to import

    path = tmp_path / "m.pyx"
    path.write_text(source)
    program = cython_to_c.Program({"m": [path]})
    return cython_to_c.translate(program, cython_to_c.Style(), ["f"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("    return x / 2\n", "true division of whole numbers"),
        ("    print(x)\n    return 0\n", "unknown name print"),
        ("    return g(x)\n", "unknown name g"),
        ("    return x ** 2\n", "a power"),
        ("    with gil:\n        return x\n", "statement GILStatNode"),
        ("    return x and 2\n", "the value of and/or is another one in C"),
        ("    return 1 if x in (1, 2) else 0\n", "expression TupleNode"),
        ("    for y in [1, 2]:\n        x += y\n    return x\n", "a loop over something else"),
    ],
)
def test_what_is_not_understood_is_named_with_its_place(tmp_path, body, what):
    from cython_to_c import Unsupported

    source = "cdef int f(int x) noexcept nogil:\n" + body
    raises(Unsupported, rf"m\.pyx:[23]: {what}", translated, tmp_path, source)


@pytest.mark.slow
def test_constants_that_all_callers_give_are_filled_in(tmp_path):
    source = """
cdef enum:
    MANY = 5

cdef inline int part(int x, const int rules) noexcept nogil:
    if rules == 3:
        return x * MANY
    return x

cdef int f(int x) noexcept nogil:
    return part(x, 3)
"""
    text = translated(tmp_path, source)
    assert "part(int x)" in text
    assert "return x * MANY;" in text
    assert "rules" not in text
    assert "return x;" not in text


@pytest.mark.slow
def test_whole_numbers_beside_floats_are_doubles(tmp_path):
    """As in what Cython makes: otherwise the last bit of the result is another one."""
    source = """
cdef enum:
    MANY = 5

cdef float f(float x, int n) noexcept nogil:
    x = x / (x + 2) - n * x + (2 * MANY) * x
    return -3 * (1 - x)
"""
    text = translated(tmp_path, source)
    assert "x = x / (x + 2.0) - n * x + 10 * x;" in text
    assert "return -3.0 * (1.0 - x);" in text


@pytest.mark.slow
def test_parameters_that_nothing_reads_are_left_out(tmp_path):
    source = """
cdef int deaf(int x, int y) noexcept nogil:
    return x

cdef int part(int x, int y) noexcept nogil:
    return deaf(x, y)

cdef int kept(int x, int y) noexcept nogil:
    return x

cdef int f(int x, int y, int z) noexcept nogil:
    return part(x, y) + part(y, x) + kept(x, part(y, y)) + kept(y, x)
"""
    text = translated(tmp_path, source)
    assert "return part(x) + part(y) + kept(x, part(y)) + kept(y, x);" in text
    assert "int part(int x) {\n  return deaf(x);" in text
    # An unused parameter stays if a call is passed for it, which may have effects, or in a root.
    assert "int kept(int x, int y) {\n  (void)y;" in text
    assert "int f(int x, int y, int z) {\n  (void)z;" in text


@of_the_sources
def test_a_template_of_fixed_rules_has_no_code_of_others():
    text = resolve((SOURCES / KIT).read_text(), dict(zip(MACROS, (2, 0, 1), strict=True)))
    for name in ("rollout_12", "LOCMI_ROLLOUT", "tree_search", "by_function", "summon_copy"):
        assert name not in text
    assert "locmi_draft_expected" in text
    assert "locmi_deck_improve" not in text
    assert "o->rules = 2;" in text  # for readers outside
    text = resolve((SOURCES / KIT).read_text(), dict(zip(MACROS, (3, 0, 1), strict=True)))
    assert "locmi_rollout_12" in text
    assert "locmi_engine_run" not in text
