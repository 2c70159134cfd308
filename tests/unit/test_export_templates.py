"""The C in the package is what the sources give, and what cannot be translated is refused."""

import pytest

pytest.importorskip("Cython")

import cython_to_c
import export_templates
from export_templates import SOURCES, TARGET

of_the_sources = pytest.mark.skipif(not SOURCES.exists(), reason="not the source tree")


@of_the_sources
@pytest.mark.slow
def test_the_c_in_the_package_is_that_of_the_sources():
    """If it is not: python tools/export_templates.py"""
    texts = export_templates.templates()
    for name, text in texts.items():
        assert (TARGET / name).read_text() == text, name
    by_hand = {"deck.h", "draft.h", "main.h", "state.h", "unpack.h"}
    assert {path.name for path in TARGET.glob("*.h")} - by_hand == set(texts)


def translated(tmp_path, source):
    path = tmp_path / "m.pyx"
    path.write_text(source)
    program = cython_to_c.Program({"m": [path]})
    return cython_to_c.translate(program, cython_to_c.Style(), ["f"])


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
    source = "cdef int f(int x) noexcept nogil:\n" + body
    with pytest.raises(cython_to_c.Unsupported, match=rf"m\.pyx:[23]: {what}"):
        translated(tmp_path, source)


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


@of_the_sources
def test_what_the_roots_do_not_reach_is_left_out():
    text = (TARGET / "beam-1.0.h").read_text()
    for name in ("state_perft", "tree_search", "rollout_10", "by_function", "summon_copy"):
        assert name not in text
