"""Placeholders of the numbers that are tuned."""

import json
import math

import pytest
from helpers import raises
from hypothesis import given
from hypothesis import strategies as st

from locmsim.tuning.parameters import Parameter, Template, read_parameters


def read(text: str) -> tuple[Parameter, ...]:
    return read_parameters(Template(text, "player").placeholders)


def test_placeholders_are_read_and_filled() -> None:
    text = "./bot {attack=1.5} {width=40:1..200:int} '{{x}}' {rate=2:0.5..8:log:step=2} {attack}"
    attack, width, rate = read(text)
    assert (attack.name, attack.start, attack.kind, attack.step) == ("attack", 1.5, "float", 0.375)
    assert (width.low, width.high, width.kind) == (1, 200, "int")
    assert width.step == pytest.approx(19.9)
    assert (rate.kind, rate.step, rate.reach) == ("log", 2, (-2, 2))
    values = {"attack": "7", "width": "3", "rate": "0.5"}
    assert Template(text, "player").fill(values) == "./bot 7 3 '{x}' 0.5 7"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("./bot 3", r"there is no placeholder, such as \{width"),
        (
            "./bot {a=1:0..2} {a=1:0..3}",
            r"parameter a: declared twice, as 1:0\.\.2 and as 1:0\.\.3",
        ),
        ("./bot {a}", r"parameter a: it has no start; write \{a=START\}"),
        (
            "./bot {a=7:0..5}",
            "parameter a: the start is outside its bounds: expected 0 to 5, got 7",
        ),
        ("./bot {a=x}", "parameter a: start: expected a number, got 'x'"),
        ("./bot {a=1:2..x}", "parameter a: the upper bound: expected a number, got 'x'"),
        ("./bot {a=1:1..1}", r"parameter a: expected two different bounds, got 1\.\.1"),
        ("./bot {a=1.5:int}", "parameter a: expected an integer as start, got 1.5"),
        ("./bot {a=0:log}", "parameter a: the kind log needs a start and bounds above 0"),
        ("./bot {a=1:0..2:log}", "parameter a: the kind log needs a start and bounds above 0"),
        ("./bot {a=1:step=0}", "parameter a: step: expected more than 0, got 0"),
        ("./bot {a=1:log:step=1}", "parameter a: step: expected more than 1, got 1"),
        ("./bot {a=1:real}", "parameter a: 'real': expected bounds such as"),
        ("./bot {a=nan}", "parameter a: start: expected a number, got 'nan'"),
        ("./bot {1=2}", r"player: \{1=2\} is no placeholder"),
        ("./bot {a=1", "player: a single '{'"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    raises(ValueError, message, read, text)


def test_braces_of_a_file_stand_for_themselves() -> None:
    """JSON, TOML and C need no doubled ones; two around a name are for texts with such names."""
    text = """{"search": {"width": {width=40:1..200:int}, "none": {}, "set": [{"a": {a=1}}]},
 "again": {width}, "text": "hello {{name}}, {{a=1}} {x y} {9}"}"""
    template = Template(text, "template", file=True)
    assert [one.name for one in read_parameters(template.placeholders)] == ["width", "a"]
    filled = template.fill({"width": "7", "a": "2.5"})
    assert json.loads(filled) == {
        "search": {"width": 7, "none": {}, "set": [{"a": 2.5}]},
        "again": 7,
        "text": "hello {name}, {a=1} {x y} {9}",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": {a=1},\n "b": {b}}', "^template, line 2: parameter b: it has no start"),
        ("{\n\n{a=x}\n}", "^template, line 3: parameter a: start: expected a number"),
        ("{a=1}\n{a=2}", "^template, line 2: parameter a: declared twice, as 1 and as 2"),
        ("{\n}", "^there is no placeholder"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_its_line(text: str, message: str) -> None:
    raises(ValueError, message, read_parameters, Template(text, "template", file=True).placeholders)


@given(
    start=st.floats(0.01, 100),
    steps=st.floats(-1e6, 1e6),
    kind=st.sampled_from(("float", "int", "log")),
)
def test_values_stay_within_their_bounds(start: float, steps: float, kind: str) -> None:
    start = float(round(start)) or 1.0 if kind == "int" else start
    one = Parameter("a", start, 0.01 if kind == "log" else 0.0, 100.0, kind)  # type: ignore[arg-type]
    value = one.value(steps)
    assert one.low <= value <= one.high
    assert math.isclose(one.value(0), start)
    assert float(one.text(value)) == pytest.approx(value, rel=1e-5)
    assert kind != "int" or one.text(value).lstrip("-").isdecimal()
