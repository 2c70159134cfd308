"""`JavaRandom` against numbers that java.util.Random gave (tests/data/javarandom.jsonl)."""

import json
import pickle
from typing import Any

import oracles.javarandom
import pytest
from helpers import golden_path, raises
from hypothesis import given
from hypothesis import strategies as st

from locmsim.javarandom import JavaRandom

CASES = [json.loads(line) for line in golden_path("javarandom.jsonl").read_text().splitlines()]


@pytest.fixture(params=CASES, ids=lambda case: f"seed={case['seed']}")
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.param


def test_integers(case):
    random = JavaRandom(case["seed"])
    assert [random.next_int() for _ in case["nextInt"]] == case["nextInt"]
    random = JavaRandom(case["seed"])
    assert [random.next_long() for _ in case["nextLong"]] == case["nextLong"]


def test_bounded_integers(case):
    for bound, expected in case["nextIntBound"].items():
        random = JavaRandom(case["seed"])
        assert [random.next_int(int(bound)) for _ in expected] == expected, bound


def test_doubles(case):
    expected = [float.fromhex(text) for text in case["nextDoubleHex"]]
    assert expected == case["nextDouble"]
    random = JavaRandom(case["seed"])
    assert [random.next_double() for _ in expected] == expected


def test_many_doubles_leave_the_generator_where_single_ones_do(case):
    at_once, one_by_one = JavaRandom(case["seed"]), JavaRandom(case["seed"])
    assert at_once.next_doubles(7) == [one_by_one.next_double() for _ in range(7)]
    assert at_once.next_doubles(0) == []
    assert at_once.next_int() == one_by_one.next_int()


def test_shuffles(case):
    random = JavaRandom(case["seed"])
    items = list(range(30))
    for name in ("shuffle30_1", "shuffle30_2", "shuffle30_3"):
        random.shuffle(items)
        assert items == case[name]
    items = list(range(5))
    JavaRandom(case["seed"]).shuffle(items)
    assert items == case["shuffle5"]


def test_shuffling_less_than_two_items_draws_nothing():
    random = JavaRandom(3)
    random.shuffle([])
    random.shuffle(["only"])
    assert random.next_int() == JavaRandom(3).next_int()


def test_only_48_bits_of_a_seed_count():
    assert JavaRandom(-1).next_long() == JavaRandom(2**64 - 1).next_long()
    assert JavaRandom(5).next_long() == JavaRandom(5 + 2**48).next_long()


@pytest.mark.parametrize("bound", [0, -1, 2**31])
def test_bound_out_of_range(bound):
    raises(ValueError, f"bound.*got {bound}", JavaRandom(0).next_int, bound)


@pytest.mark.parametrize("seed", ["1", 1.0, None])
def test_seed_must_be_an_integer(seed):
    with pytest.raises(TypeError):
        JavaRandom(seed)


def test_shuffle_draws_as_next_int_does():
    """The first seed is one of the few with which a number is rejected and drawn again."""
    multiplier, mask = 0x5DEECE66D, (1 << 48) - 1
    last = (1 << 31) - 1 << 17  # the state whose 31 upper bits are all ones
    seed = (last - 0xB) * pow(multiplier, -1, 1 << 48) & mask ^ multiplier
    for start in (seed, seed + 1, 7):
        for size in (1, 2, 3, 30, 64):
            items, expected = list(range(size)), list(range(size))
            shuffling, drawing = JavaRandom(start), JavaRandom(start)
            shuffling.shuffle(items)
            for i in range(size, 1, -1):
                other = drawing.next_int(i)
                expected[i - 1], expected[other] = expected[other], expected[i - 1]
            assert items == expected
            assert shuffling.next_int() == drawing.next_int()
    once = JavaRandom(seed)
    once.shuffle(list(range(3)))
    twice = JavaRandom(seed)
    twice.next_doubles(1)
    assert once.next_int() != twice.next_int()  # two numbers were not enough for three items


@given(st.integers(), st.lists(st.integers(1, (1 << 31) - 1), max_size=20))
def test_numbers_are_those_of_the_slow_twin(seed, bounds):
    fast, slow = JavaRandom(seed), oracles.javarandom.JavaRandom(seed)
    assert [fast.next_int(bound) for bound in bounds] == [slow.next_int(bound) for bound in bounds]
    assert fast.next_long() == slow.next_long()
    assert fast.next_double() == slow.next_double()
    assert fast.next_int() == slow.next_int()


def test_a_copy_draws_the_same_numbers():
    random = JavaRandom(5)
    random.next_int()
    assert pickle.loads(pickle.dumps(random)).next_long() == random.next_long()
