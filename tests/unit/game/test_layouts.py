"""Observation layouts: the compiled writers against slow ones that read the layouts' tables."""

import hashlib
import math
import re
from dataclasses import astuple, replace
from itertools import pairwise

import numpy as np
import pytest
import reference_layouts
from helpers import RULE_SETS, each_rules, raises
from reference_layouts import Past
from rows_access import mask_of
from states import game_positions

from locmsim.envs import Games, Options
from locmsim.game._layout import observe
from locmsim.game.positions import random_game, start_position
from locmsim.policy import LAYOUTS, get_layout
from locmsim.rules.cards import CardType

CASES = [
    (rules, layout)
    for rules in RULE_SETS
    for layout in ("entities", "gym-locm")
    if (rules, layout) != ("1.0", "gym-locm")
]
each_case = pytest.mark.parametrize(("rules", "layout"), CASES)


def written(rows, row, player, layout, mask=None):
    """Return what rows write for a player, in any layout."""
    out = np.empty(get_layout(layout, rows.rules).shape, get_layout(layout).dtype)
    rows.views.observe(row, player, out, mask, layout)
    return out


def seen(state, player, layout):
    """Return what is written for a state without a past."""
    kind = get_layout(layout, state.rules)
    out = np.empty(kind.shape, kind.dtype)
    observe(state, player, kind.code, out)
    return out


def played(rules, games=3, seed=0):
    """Yield the rows of random games and what a slow observer knows, before every action."""
    for number in range(games):
        rows = Games(1, Options(rules=rules, card_sets=4, opponent="caller"))
        rows.begin(0, seed + number)
        past = Past.of_deal(rows.rows.views.state(0))
        random = np.random.default_rng(number)
        while True:
            yield rows.rows, past
            if past.state.is_terminal():
                break
            action = int(random.choice(past.state.legal_actions()))
            past.apply(action)
            rows.rows.step_row(0, action)


@each_case
def test_rows_write_what_the_tables_say(rules, layout):
    for rows, past in played(rules):
        for player in (0, 1):
            expected = reference_layouts.WRITERS[layout](past.state, player, past)
            np.testing.assert_array_equal(written(rows, 0, player, layout), expected)


@each_case
def test_states_are_written_without_a_past(rules, layout):
    history = get_layout(layout, rules).history
    for state, _ in random_game(start_position(5, rules), 1):
        for player in (0, 1):
            expected = reference_layouts.WRITERS[layout](state, player)
            np.testing.assert_array_equal(seen(state, player, layout), expected)
    assert bool(history) == (layout == "entities")


@each_rules
def test_the_float_layout_is_the_scaled_one(rules):
    scale = get_layout("entities", rules).scale
    for state, _ in random_game(start_position(6, rules), 2):
        expected = seen(state, 0, "entities").astype(np.float32) / scale
        np.testing.assert_array_equal(seen(state, 0, "entities-f32"), expected)


@pytest.mark.parametrize("name", LAYOUTS)
@each_rules
def test_layouts_describe_themselves(name, rules):
    if (name, rules) == ("gym-locm", "1.0"):
        raises(ValueError, r"gym-locm does not support rules 1\.0", get_layout, name, rules)
        return
    layout = get_layout(name, rules)
    assert layout is get_layout(name, rules)
    size = layout.shape[0]
    assert len(layout.names) == len(set(layout.names)) == size
    assert all(a.start + a.size == b.start for a, b in pairwise(layout.blocks))
    assert (layout.low < layout.high).all()
    assert (layout.scale > 0).all()
    assert layout.low.dtype == layout.dtype
    batch = np.arange(2 * size).reshape(2, size)
    views = layout.split(batch)
    assert sum(view[0].size for view in views.values()) == size
    assert all(np.shares_memory(view, batch) for view in views.values())
    assert views["hand"].shape[:2] == (2, 8)
    raises(ValueError, "in the last axis", layout.split, batch[:, 1:])
    for state, _ in random_game(start_position(7, rules), 3):
        values = seen(state, 1, name)
        assert (values >= layout.low).all()
        assert (values <= layout.high).all()


def test_unknown_layouts_and_wrong_arrays_are_refused():
    raises(ValueError, "unknown layout 'pixels': expected one of entities", get_layout, "pixels")
    raises(ValueError, "did you mean 'entities'", get_layout, "entity")
    state = start_position(1)
    raises(ValueError, "do not fit the layout", observe, state, 0, 0, np.empty(439, np.int8))
    with pytest.raises(ValueError, match="expected 0 or 1, and a layout"):
        observe(state, 2, 0, np.empty(440, np.int8))


@each_rules
def test_masks_of_any_position(rules):
    for state in game_positions(rules):
        for player in (0, 1):
            mask = np.full(state.num_distinct_actions(), 7, np.int8)
            mask_of(state, player, mask)
            assert np.flatnonzero(mask).tolist() == (state.legal_actions(player) or [0])
            assert mask.max() == 1


ALL = [*((rules, "choice") for rules in RULE_SETS), *CASES, ("1.5", "entities-f32")]


@pytest.mark.parametrize(("rules", "name"), ALL)
def test_every_number_has_a_meaning(rules, name):
    """The table has each index once, with a sentence, bounds and the rule sets."""
    layout = get_layout(name, rules)
    indices, table = [], layout.table()
    for line in table.splitlines():
        if not line.startswith("| ") or line.startswith("| index"):
            continue
        index, number, text, _, scale, bounds, _ = line.strip("| ").split(" | ")
        assert re.fullmatch("[A-Z1](?!X)[^|]*[a-z0-9]\\.( \\(history\\))?", text), line
        first, _, width = index.removesuffix(" r").partition(" + ")
        block = next(b for b in layout.blocks if b.start <= int(first) < b.start + b.size)
        rows = range(block.rows) if width else [0]
        indices += [int(first) + int(width or 0) * row for row in rows]
        low, high = map(float, bounds.split(" to "))
        for i in indices[-len(rows) :]:
            assert layout.names[i].split(".", 1)[1] == number.strip("`").split(".", 1)[1]
            assert math.isclose(layout.low[i], low, rel_tol=1e-3)
            assert math.isclose(layout.high[i], high, rel_tol=1e-3)
        if name != "gym-locm":
            assert float(scale) == layout.scale[indices[-1]]
    assert sorted(indices) == list(range(*layout.shape))
    assert all(re.fullmatch("[A-Z](?!X).*[a-z]\\.", block.text) for block in layout.blocks)


#: By layout: a hash of what each number of version 1 is in all rule sets, in their order.
VERSION_1 = {
    "choice": "8f90655dfb883ef9",
    "entities": "4f17c4b5ccf5a0fa",
    "entities-f32": "4f89fef3dc8611f3",
    "gym-locm": "4e9a3bb4357393d6",
}


@pytest.mark.parametrize("name", VERSION_1)
def test_policies_of_version_1_can_still_be_used(name):
    """Another number, order, unit, scale or bound needs a new version of the layout."""
    found = []
    for layout in [get_layout(name, rules) for rules, of in ALL if of == name]:
        blocks = [
            [block.name, block.rows, [astuple(replace(one, text="")) for one in block.features]]
            for block in layout.blocks
        ]
        arrays = [layout.scale.tolist(), layout.low.tolist(), layout.high.tolist()]
        found.append([layout.version, blocks, layout.names, arrays, layout.history])
    assert hashlib.sha256(repr(found).encode()).hexdigest()[:16] == VERSION_1[name]


@each_rules
def test_numbers_of_other_rule_sets_are_0(rules):
    layout = get_layout("entities", rules)
    features = [one for block in layout.blocks for one in block.features * max(1, block.rows)]
    others = [i for i, one in enumerate(features) if one.rules and rules not in one.rules]
    assert others
    for seed in range(4):
        for state, _ in random_game(start_position(seed, rules), seed):
            assert not seen(state, 0, "entities")[others].any()


@pytest.mark.parametrize(("rules", "name"), [*CASES, ("1.5", "entities-f32")])
def test_a_row_in_words(rules, name):
    state = start_position(4, rules)
    me = state.players[0]
    row = state.observation_tensor(0, name)
    words = get_layout(name, rules).describe(row).splitlines()
    assert words[0].startswith(f"own: health 30, mana {me.mana}, ")
    hands = [line for line in words if line.startswith("hand ")]
    assert len(hands) == len(me.hand)
    for line, held in zip(hands, me.hand, strict=True):
        card = held.card
        parts = line.split(": ")[1].split(", ")
        expected = f"cost {card.cost}", f"attack {card.attack}", f"defense {card.defense}"
        assert {*expected} <= {*parts}
        assert (parts[0] == "creature") == (card.type == CardType.CREATURE)
        assert ("guard" in line) == ("G" in card.abilities)
    assert not any(line.startswith(("own board", "enemy board")) for line in words)
    raises(ValueError, "row: expected shape", get_layout(name, rules).describe, row[1:])
