"""The functions of `locmsim._math`: their errors, their ends, and bits that no system changes."""

import hashlib
import re
from decimal import Context, Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from rows_access import math_of

import locmsim
import vestrock

#: Greatest errors, in units in the last place.
BOUNDS = {
    ("exp", "float32"): 1.1,
    ("tanh", "float32"): 2.5,
    ("exp", "float64"): 1.1,
    ("log", "float64"): 1.1,
    ("tanh", "float64"): 3.0,
    ("atanh", "float64"): 5.0,
}


def precise(name, x):
    """The function of a number, to 40 digits."""
    with localcontext(Context(prec=60)):
        x = Decimal(float(x))
        if name == "exp":
            return x.exp()
        if name == "log":
            return x.ln()
        if name == "tanh":
            return 1 - 2 / ((2 * x).exp() + 1)
        return ((1 + x) / (1 - x)).ln() / 2


def numbers(name, kind):
    """Numbers of all sizes, the more the smaller, up to where the function's result ends."""
    rng = np.random.default_rng(1)
    if name == "log":
        x = np.concatenate([2.0 ** rng.uniform(-1022, 1023, 300), rng.uniform(0.4, 2.5, 300)])
        return np.concatenate([x, 1 + rng.normal(0, 1e-9, 100), [5e-324, 1e-310]])
    most = {"exp": 700 if kind == "float64" else 87, "tanh": 22, "atanh": 1 - 1e-12}[name]
    x = np.concatenate([rng.uniform(-most, most, 300), rng.uniform(-0.4, 0.4, 300)])
    return np.concatenate([x, rng.normal(0, 1e-6, 100)]).astype(kind)


@pytest.mark.parametrize(("name", "kind"), BOUNDS)
def test_errors(name, kind):
    x = numbers(name, kind)
    for one, got in zip(x, math_of(name, x), strict=True):
        expected = precise(name, one)
        unit = Decimal(float(np.spacing(np.abs(x.dtype.type(expected)))))
        assert abs(Decimal(float(got)) - expected) <= Decimal(BOUNDS[name, kind]) * unit, one


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_ends(kind):
    inf, nan = np.inf, np.nan
    x = np.array([0, inf, -inf, nan, -1000, 1000], kind)
    np.testing.assert_array_equal(math_of("exp", x), [1, inf, 0, nan, 0, inf])
    np.testing.assert_array_equal(math_of("tanh", x), [0, 1, -1, nan, -1, 1])


def test_logarithms_at_the_ends():
    inf, nan = np.inf, np.nan
    x = np.array([0, 1, inf, -1, -inf, nan])
    np.testing.assert_array_equal(math_of("log", x), [-inf, 0, inf, nan, nan, nan])
    assert math_of("exp", np.array([-745.0]))[0] == 5e-324


def test_functions_of_32_bits_keep_the_order():
    x = np.linspace(-12, 12, 100_001, dtype=np.float32)
    assert (np.diff(math_of("tanh", x)) >= -np.float32(2e-7)).all()
    assert (math_of("tanh", -x) == -math_of("tanh", x)).all()


#: Of their results for fixed numbers: a digest of the bits, the same on every machine.
DIGESTS = {
    ("exp", "float32"): "380eb329a3180f3d",
    ("tanh", "float32"): "77c8dce57c88f953",
    ("exp", "float64"): "c3f6d8393534b069",
    ("log", "float64"): "dd35c53152d16624",
    ("tanh", "float64"): "bffd851b707d4603",
    ("atanh", "float64"): "1ad16dfdf8fab57b",
}


@pytest.mark.parametrize(("name", "kind"), BOUNDS)
def test_the_bits_are_the_same_everywhere(name, kind):
    # Exact fractions: no function of a library makes the numbers.
    x = (np.arange(1, 4001) / 4096).astype(kind)
    if name != "atanh":
        x = x * np.array(16, kind)
    found = math_of(name, x).tobytes()
    assert hashlib.sha256(found).hexdigest()[:16] == DIGESTS[name, kind]


def test_no_compiled_code_uses_the_functions_of_the_c_library():
    """Square roots are exact by the standard; other functions differ by library."""
    sources = [
        path
        for package in (locmsim, vestrock)
        for path in Path(package.__file__).parent.rglob("*.p[yx]*")
        if path.suffix in (".pyx", ".pxd", ".pxi")
    ]
    assert len(sources) > 20  # an installed package has no .pyx
    for path in sources:
        for names in re.findall(r"from libc\.math cimport (.*)", path.read_text()):
            assert {*names.split(", ")} <= {"sqrt", "sqrtf", "NAN"}, path.name
