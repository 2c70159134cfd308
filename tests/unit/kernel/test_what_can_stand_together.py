"""All constructors of a state ask one validator: what one accepts, all do."""

from helpers import each_rules
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions

from locmsim import Card, State
from locmsim._core import with_hand
from locmsim.game.observation import Observation
from locmsim.rules.cards import CardType
from locmsim.search.turn_search import determinizer_at


@each_rules
@given(data=st.data())
def test_what_one_accepts_all_do(rules: str, data: st.DataObject) -> None:
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    state.validate()
    assert State.from_text(state.to_text()) == state
    assert State.from_text(state.to_text()).to_text() == state.to_text()
    assert State.from_bytes(state.to_bytes()) == state
    for player in (0, 1):
        seen = state.observation(player)
        assert Observation.parse(seen.format(), rules) == seen
        shown = State.from_observation(seen)
        shown.validate()
        assert shown.observation(0).cards == seen.cards
        assert State.from_text(shown.to_text()) == shown
        assert State.from_bytes(shown.to_bytes()) == shown
        assert with_hand(state, player, []).snapshot()["turn"] == state.turn


CREATURE = "7:0:2:2:------:0:r"
TEXT = f"1.5 2 - 30,1,1,0,1,1,0/-/{CREATURE}/- 30,1,1,1,1,1,0/-/-/- 1 3:0:1:2:2:------:0:0:0:0"


def test_the_greatest_numbers_come_back() -> None:
    state = State.from_text(
        TEXT.replace(" 30,1,1,0,1,1", " -1000000000,1,1,0,1,50000000").replace(" - ", " 1 ")
    )
    assert State.from_text(state.to_text()) == state
    seen = state.observation(0)
    assert (seen.me.health, seen.me.draw) == (-1_000_000_000, 50_000_000)
    assert Observation.parse(seen.format()) == seen


def test_a_named_world_keeps_area_copies() -> None:
    """It failed with "instance id 2 occurs twice" where a board had an area copy."""
    pair = Card(1, CardType.CREATURE, 0, 2, 3, area=1)
    state = State.new([pair] * 30, [pair] * 30)
    state.apply_line("SUMMON 0 0")
    state.apply_line("SUMMON 60 1")
    worlds = determinizer_at(state, None, (), 0)[0]
    for hand in ([], [1, 1]):
        world = with_hand(worlds.sample(1), 1, hand)
        world.validate()
        assert [c.id for side in world.players for c in side.board] == [0, 1, 60, 61]
        assert world.players[1].hand_size == state.players[1].hand_size
        assert State.from_text(world.to_text()) == world


def test_what_play_leads_to_can_be() -> None:
    """A negative printed attack heals, so that defense grows in every fight: up to the bound."""
    healers = [f"{number}:0:-500:30400:---G--:0:r" for number in (7, 8)]
    state = State.from_text(
        f"1.5 2 - 30,1,1,0,1,1,0/-/{healers[0]}/- 30,1,1,1,1,1,0/-/{healers[1]}/- "
        "1 3:0:1:-500:400:---G--:0:0:0:0"
    )
    state.apply_line("ATTACK 7 8")
    state.validate()
    assert State.from_text(state.to_text()) == state
    assert [creature.defense for side in state.players for creature in side.board] == [30500] * 2
