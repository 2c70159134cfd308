"""The instance ids of the 2022 contest: their translation both ways, and the ids of area copies."""

import pytest
from helpers import begun_match, raises

from locmsim import Card, InvalidActionError, Match, State
from locmsim.game.ids2022 import IdTranslator, OldIds
from locmsim.game.observation import HAND, CardInPlay, Observation, OpponentAction, PlayerLine
from locmsim.rules.cards import Area, CardType

PAIR = Card(1, CardType.CREATURE, 0, 2, 3, area=Area.LANE1)
ROW = Card(2, CardType.CREATURE, 0, 2, 3, "-C----", area=Area.LANE2)


def battle(card: Card) -> State:
    """Return a state in which player 0 holds this card five times, as new ids 0, 2, 4, 6 and 8."""
    return State.new([card] * 6, [card] * 6)


def test_numbers_of_cards() -> None:
    ids = OldIds()
    assert [ids.old(new) for new in (0, 2, 58, 60, 118)] == [1, 2, 30, 31, 60]
    assert ids.old(-1) == ids.new(-1) == -1
    # Ids that no card has stay such ids, and come back as they were.
    for number in (1, 59, 120, -7, 2**31 - 1):
        assert ids.new(ids.old(number)) == number
        assert ids.old(number) not in range(61)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("PASS", "PASS"),
        ("SUMMON 0 0", "SUMMON 1 0"),
        ("SUMMON 4 0", "SUMMON 3 0"),
        ("USE 2 60", "USE 2 31"),
        ("USE 2 -1", "USE 2 -1"),
        ("ATTACK 6 62", "ATTACK 4 32"),
    ],
)
def test_actions(new: str, old: str) -> None:
    assert OldIds().old_action(new) == old


def test_an_answer_names_what_its_summons_make() -> None:
    """The answer that makes an area copy can name it, since the copy gets the next free number."""
    ids = OldIds()
    state = battle(ROW)
    line = "SUMMON 1 0; SUMMON 2 1;ATTACK 61 -1;ATTACK 62 -1 ;ATTACK 1 -1"
    new = "SUMMON 0 0;SUMMON 2 1;ATTACK 1 -1;ATTACK 3 -1;ATTACK 0 -1"
    assert ids.new_line(state, line) == new
    assert state == battle(ROW)
    assert ids.old_action("ATTACK 1 3") == "ATTACK 61 62"
    state.apply_line(new)
    # Known ids stay valid, and the next copy, of player 1 here, gets the next number.
    assert ids.new_line(state, "SUMMON 31 0;ATTACK 31 62;ATTACK 63 61") == (
        "SUMMON 60 0;ATTACK 60 3;ATTACK 61 1"
    )
    assert [ids.old(new) for new in (1, 3, 61)] == [61, 62, 63]


def test_an_answer_in_todays_ids_names_what_its_summons_make() -> None:
    ids = OldIds()
    line = "SUMMON 0 0 hello; SUMMON 2 1;ATTACK 1 -1;ATTACK 3 -1;ATTACK 5 -1"
    old = ids.old_line(battle(ROW), line)
    assert old.startswith("SUMMON 1 0 hello;SUMMON 2 1;ATTACK 61 -1;ATTACK 62 -1;ATTACK ")
    assert ids.clone().new_line(battle(ROW), old).endswith("ATTACK 1 -1;ATTACK 3 -1;ATTACK 5 -1")


def test_a_number_that_is_named_too_early_is_nothing_until_then() -> None:
    ids = OldIds()
    state = battle(ROW)
    first = ids.new_line(state, "ATTACK 61 -1;ATTACK 77 61;SUMMON 1 0;ATTACK 61 -1").split(";")
    words = [action.split() for action in first]
    assert words[0][1] == words[1][2] != words[1][1]
    assert words[2:] == [["SUMMON", "0", "0"], ["ATTACK", "1", "-1"]]
    # Both become ids that no card has, and are translated back to the original text.
    assert min(int(words[0][1]), int(words[1][1])) >= 120
    assert [ids.old_action(action) for action in first] == [
        "ATTACK 61 -1", "ATTACK 77 61", "SUMMON 1 0", "ATTACK 61 -1",
    ]  # fmt: skip


def test_what_is_not_possible_makes_no_copies() -> None:
    ids = OldIds()
    state = battle(ROW)
    assert ids.new_line(state, "PASS;SUMMON 31 0;SUMMON 1 0") == "PASS;SUMMON 60 0;SUMMON 0 0"
    assert (ids.old(1), ids.knows(62)) == (61, False)
    with pytest.raises(InvalidActionError):
        ids.new_line(state, "SUMMON x 0")


def test_clones_are_independent() -> None:
    ids = OldIds()
    state = battle(ROW)
    ids.new_line(state, "SUMMON 1 0")
    copied = ids.clone()
    assert copied.new_line(state, "SUMMON 2 0;ATTACK 61 62") == "SUMMON 2 0;ATTACK 1 3"
    assert (copied.old(1), copied.old(3)) == (61, 62)
    assert ids.old(1) == 61
    assert copied.knows(62)
    assert not ids.knows(62)


def test_actions_of_the_opponent() -> None:
    seen = State.new([ROW] * 6, [ROW] * 6)
    seen.apply_line("SUMMON 0 1")
    observation = seen.observation(1)
    ids = OldIds()
    ids.new_line(battle(ROW), "SUMMON 1 1")
    actions = (OpponentAction(2, "SUMMON 0 1"),)
    shown = ids.old_observation(observation.replace(opponent_actions=actions))
    assert shown.opponent_actions == (OpponentAction(2, "SUMMON 1 1"),)
    theirs = [card.instance_id for card in shown.cards if card.instance_id in (1, 61)]
    assert sorted(theirs) == [1, 61]


# ------------------------------------------------------------------------- the translator of a bot


def offered(match: Match, player: int, translator: IdTranslator, line: str) -> None:
    shown = Observation.parse(match.input_text(player))
    assert translator.read(shown) == shown
    assert translator.write(line) == line
    match.submit(player, line)


@pytest.mark.parametrize("ids", ["new", "old"])
@pytest.mark.parametrize("seed", range(8))
def test_the_ids_are_recognised_by_what_was_chosen(ids: str, seed: int) -> None:
    match = Match(seed=seed, ids=ids)
    translators = IdTranslator(), IdTranslator()
    for player, translator in enumerate(translators):
        base_ids = [card.base_id for card in match.observation(player).offer[player * 9 :]]
        offered(match, player, translator, ";".join(f"CHOOSE {n}" for n in base_ids[:10]) + ";PASS")
    for player, translator in enumerate(translators):
        assert translator.ids is None
        shown = Observation.parse(match.input_text(player))
        assert translator.read(shown) == match.observation(player)
        assert translator.ids == ids
        match.submit(player, translator.write("PASS"))


def test_the_ids_may_be_given() -> None:
    raises(ValueError, "ids: expected 'new' or 'old', got 'older'", IdTranslator, "older")
    match = begun_match(seed=1, ids="old")
    shown = Observation.parse(match.input_text(0))
    assert IdTranslator("old").read(shown) == match.observation(0)
    assert IdTranslator("new").read(shown) is shown


def test_1x_has_one_numbering() -> None:
    translator = IdTranslator("old")
    shown = Match("1.2", seed=1).observation(0)
    assert translator.read(shown) is shown
    assert translator.ids == "new"


def test_a_translator_that_starts_late_gives_each_copy_an_id_of_its_own() -> None:
    """An unknown copy is taken for that of the creature before it, else of any card."""

    def row(instance: int, location: int, base_id: int = 2) -> CardInPlay:
        lane = -1 if location == HAND else 0
        return CardInPlay(base_id, instance, location, 0, 0, 2, 3, "------", 0, 0, 0, 2, lane)

    line = PlayerLine(30, 5, 20, 1)
    rows = (row(3, 0), row(61, 1), row(40, -1), row(64, -1), row(62, -1))
    seen = IdTranslator("old").read(Observation("1.5", line, line, 3, (), rows))
    ids = [card.instance_id for card in seen.cards]
    assert ids[0] == 4
    assert ids[2:4] == [78, 79]
    assert len(set(ids)) == 5
    assert ids[1] in range(1, 60, 2)
    assert ids[4] in range(61, 120, 2)


@pytest.mark.parametrize(
    "action", ["999 SUMMON 31 0", "5 SUMMON 200 0", "5 SUMMON 0 1", "5 USE 7 -1"]
)
def test_actions_that_cannot_be_placed(action: str) -> None:
    """The game goes on, as with today's ids."""
    match = Match(seed=4, ids="old")
    translator = IdTranslator("old")
    translator.read(Observation.parse(match.input_text(0)))
    translator.write("PASS")
    for player in (0, 1):
        match.submit(player, "PASS")
    text = match.input_text(0).split("\n")
    text[2:3] = [f"{text[2].split()[0]} 1", action]
    seen = translator.read(Observation.parse("\n".join(text)))
    assert [row[1:] for row in seen.cards] == [row[1:] for row in match.observation(0).cards]
    assert translator.write("PASS") == "PASS"
