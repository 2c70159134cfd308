"""`Observation` as a value: equality, copies, changes, and what it refuses."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from helpers import raises

from locmsim import Match, Observation
from locmsim.agents import make_agent
from locmsim.game.observation import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    OpponentAction,
    PlayerLine,
)
from locmsim.search import Belief

FIELDS = ("rules", "me", "opponent", "opponent_hand", "opponent_actions", "cards")
LINE = PlayerLine(30, 5, 9, 1)
IN_HAND = CardInPlay(7, 3, HAND, 0, 3, 2, 2, "------", 0, 0, 0, 0, -1)
MINE = IN_HAND._replace(instance_id=5, location=MY_BOARD, lane=1)
THEIRS = IN_HAND._replace(instance_id=61, location=ENEMY_BOARD, lane=0)
ACTIONS = (OpponentAction(7, "SUMMON 61 0"), OpponentAction(7, "ATTACK 61 -1"))
SEEN = Observation("1.5", LINE, LINE, 4, ACTIONS, (IN_HAND, MINE, THEIRS))

#: A value other than that of SEEN for each field.
CHANGES = {
    "rules": "1.2",
    "me": LINE._replace(health=29),
    "opponent": LINE._replace(draw=2),
    "opponent_hand": 5,
    "opponent_actions": (ACTIONS[0], OpponentAction(7, "ATTACK 61 5")),
    "cards": (IN_HAND, MINE, THEIRS._replace(card_draw=1)),
}


def played(rules: str, seed: int) -> list[Observation]:
    """Return what the players of a match are shown."""
    match, agents = Match(rules, seed=seed), [make_agent("random") for _ in range(2)]
    shown = []
    for player, agent in enumerate(agents):
        agent.reset(seed + player)
    while match.phase != "over":
        for player in match.to_ask:
            shown.append(match.observation(player))
            match.submit(player, match.ask(agents[player], player)())
    return shown


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_all_ways_to_one_value(rules: str) -> None:
    for seen in played(rules, 3):
        fields = {name: getattr(seen, name) for name in FIELDS}
        for same in (
            Observation(**fields),
            Observation.parse(seen.format(), rules),
            pickle.loads(pickle.dumps(seen)),
            copy.copy(seen),
            copy.deepcopy(seen),
            seen.replace(),
            seen.replace(**fields),
        ):
            assert same == seen
            assert hash(same) == hash(seen)
            assert repr(same) == repr(seen)
            assert same.format() == seen.format()
            assert same.offer == seen.offer
        assert seen != fields


@pytest.mark.parametrize("name", FIELDS)
def test_a_change_of_any_field_is_another_value(name: str) -> None:
    changed = SEEN.replace(**{name: CHANGES[name]})
    assert changed != SEEN
    assert hash(changed) != hash(SEEN)
    assert len({changed, SEEN, pickle.loads(pickle.dumps(changed))}) == 2
    for other in FIELDS:
        assert getattr(changed, other) == (CHANGES if other == name else vars_of(SEEN))[other]


def vars_of(seen: Observation) -> dict[str, Any]:
    return {name: getattr(seen, name) for name in FIELDS}


def test_fields_cannot_be_set() -> None:
    for name in FIELDS:
        with pytest.raises(AttributeError):
            setattr(SEEN, name, CHANGES[name])
    raises(TypeError, "Observation has no field 'hand'", SEEN.replace, hand=3)


def test_fields_by_position() -> None:
    match SEEN:
        case Observation("1.5", me, _, 4, actions, cards):
            assert (me, actions, cards) == (LINE, ACTIONS, (IN_HAND, MINE, THEIRS))
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "1.1"}, "unknown rules '1.1'"),
        ({"me": LINE._replace(health=10**10)}, r"me\.health: expected "),
        ({"opponent": LINE._replace(draw="x")}, r"opponent\.draw: expected an integer, got 'x'"),
        ({"me": (1, 2)}, r"me: expected 5 numbers, got \(1, 2\)"),
        ({"opponent_hand": None}, "opponent_hand: expected an integer, got None"),
        ({"opponent_actions": [(7, "JUMP 3")]}, r"opponent_actions\[0\]: .* got \(7, 'JUMP 3'\)"),
        ({"opponent_actions": [ACTIONS[0], (7, "USE 3 4\n")]}, r"opponent_actions\[1\]: "),
        ({"opponent_actions": [(-7, "USE 3 4")]}, r"opponent_actions\[0\]: "),
        ({"cards": [MINE, IN_HAND._replace(cost=1.5)]}, r"cards\[1\]: .*: cost: .* got 1\.5$"),
        ({"cards": [IN_HAND._replace(type=4)]}, r"cards\[0\]: .*: type: expected 0 to 3, got 4$"),
        ({"cards": [IN_HAND._replace(abilities="CB----")]}, "abilities: expected a form of BCDGLW"),
        ({"cards": [IN_HAND._replace(attack=2**31)]}, "attack: expected .*, got 2147483648"),
        ({"cards": [IN_HAND[:9]]}, "expected 13 fields"),
        ({"cards": [IN_HAND._replace(lane=0)]}, "a card in the hand cannot have lane 0"),
        ({"cards": [MINE._replace(type=2)]}, "a card on the player's board cannot have type 2"),
        ({"cards": [MINE] * 4}, r"cards\[3\]: .*: player's board, lane 1: more than 3 cards"),
        ({"cards": [IN_HAND] * 9}, r"cards\[8\]: .*: hand: more than 8 cards"),
        ({"cards": [IN_HAND, IN_HAND._replace(instance_id=-1)]}, "do not mix"),
        ({"rules": "1.0", "opponent_actions": ()}, "player's board cannot have lane 1"),
        ({"rules": "1.0"}, r"opponent_actions\[0\]: .* got .*text='SUMMON 61 0'"),
        ({"opponent_actions": [(7, "SUMMON 3")]}, r"opponent_actions\[0\]: .*'SUMMON 3'"),
        ({"opponent": LINE._replace(rune=5)}, r"opponent\.rune: rules 1\.5 have no runes"),
        (
            {"rules": "1.2", "cards": [MINE._replace(area=1)]},
            r"cards\[0\]: area: rules 1\.2 have no areas",
        ),
    ],
)
def test_what_cannot_be_is_named(change: dict[str, Any], message: str) -> None:
    before = repr(SEEN)
    raises(ValueError, message, SEEN.replace, **change)
    raises(ValueError, message, Observation, **{**vars_of(SEEN), **change})
    assert repr(SEEN) == before


def test_longest_text() -> None:
    """The writer has room for the longest numbers and the most rows that it accepts."""
    most = 10**9
    line = PlayerLine(*[-most] * 4)
    row = CardInPlay(most, -1, 0, 3, -most, -most, -most, "BCDGLW", -most, -most, -most, 2, -1)
    actions = [OpponentAction(999999999, "ATTACK -99999999 -99999999")] * 64
    seen = Observation("1.5", line, line, most, actions, [row] * 120)
    rows = seen.format().splitlines()
    assert len(rows) == 4 + 64 + 120
    assert rows[-1] == " ".join(map(str, row)) + " "


def test_threads_share_one() -> None:
    """Several threads can read an observation, whose fields are made on first use."""
    seen = played("1.5", 5)[-1]
    expected = vars_of(seen), seen.format(), hash(seen)

    def look(_: int) -> bool:
        return all((vars_of(seen), seen.format(), hash(seen)) == expected for _ in range(200))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(look, range(4)))


def test_belief_learns_a_card_from_the_rows_that_show_it() -> None:
    """A creature shows its card as changed in battle; once seen, the printed card counts."""
    weak = MINE._replace(base_id=500, attack=1, abilities="-C----")
    printed = IN_HAND._replace(base_id=500, attack=9, abilities="BC----")
    belief = Belief()
    for rows, card in (
        ([weak], weak.card()),
        ([printed], printed.card()),
        ([weak._replace(defense=8)], printed.card()),
        ([printed, weak], printed.card()),
        ([printed._replace(cost=1)], printed._replace(cost=1).card()),
    ):
        belief.see(SEEN.replace(cards=rows))
        assert belief.possible_cards()[500] == card
        assert copy.deepcopy(belief).root() == belief.root()


def test_the_offer_is_made_once_and_is_that_of_its_cards() -> None:
    seen = Match("1.2", seed=1).observation(0)
    assert seen.offer is seen.offer
    changed = seen.replace(cards=seen.cards[:2])
    assert changed.offer == seen.offer[:2]
    assert [card.base_id for card in copy.copy(changed).offer] == [
        row.base_id for row in changed.cards
    ]
