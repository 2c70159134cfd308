"""Protocol text: docs/rules.md, sections 3 and 9."""

import contextlib
import io
from collections.abc import Callable

import pytest
from helpers import (
    GoldenChunk,
    each_rules,
    game_cards,
    game_name,
    golden_games,
    raises,
    some_golden_chunks,
)
from hypothesis import given
from hypothesis import strategies as st
from reference_protocol import SlowReader, slow_text

from locmsim import State
from locmsim.errors import ProtocolError
from locmsim.game.observation import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    Observation,
    OpponentAction,
    PlayerLine,
    read_observation,
)
from locmsim.rules.cards import Card


def lines_with_blanks(*lines: str) -> str:
    """Return protocol text: every card row, and no other line, ends in a blank."""
    return "".join(line + (" \n" if len(line.split()) > 10 else "\n") for line in lines)


BATTLE_15 = lines_with_blanks(
    "30 2 24 1",
    "28 1 25 1",
    "5 2",
    "7 SUMMON 60 1",
    "7 ATTACK 60 -1",
    "4",
    "3 8 0 0 2 2 2 ---G-- 0 0 1 2 -1",
    "9 10 0 3 1 0 -2 ------ 0 -1 0 0 -1",
    "5 4 1 0 1 2 1 -C---- 0 0 0 1 0",
    "7 60 -1 0 1 1 3 BCDGLW 1 -2 1 2 1",
)
BATTLE_12 = lines_with_blanks(
    "30 2 24 25 1", "28 1 25 25 1", "5 1", "7 SUMMON 2 1", "1", "7 2 -1 0 1 1 3 -----W 1 -2 1 1"
)
BATTLE_10 = lines_with_blanks(
    "30 2 24 25 1", "28 1 25 25 1", "5 1", "7 SUMMON 2", "1", "7 2 -1 0 1 1 3 -----W 1 -2 1"
)
NO_SUMMON_12 = BATTLE_12.replace("SUMMON", "USE")
NO_ROWS_1X = lines_with_blanks("30 2 24 25 1", "28 1 25 25 1", "5 0", "0")
CHOICE_15 = lines_with_blanks(
    "30 0 0 0", "30 0 0 0", "0 0", "1", "11 -1 0 2 1 -2 -2 B----- 0 0 0 0 -1"
)
CHOICE_10 = lines_with_blanks(
    "30 0 3 25 0", "30 0 4 25 0", "0 0", "1", "11 -1 0 0 1 2 2 B----- 0 0 0"
)


def test_fields() -> None:
    seen = Observation.parse(BATTLE_15)
    assert seen.rules == "1.5"
    assert seen.phase == "battle"
    assert seen.me == PlayerLine(health=30, max_mana=2, deck_size=24, draw=1)
    assert seen.opponent == PlayerLine(health=28, max_mana=1, deck_size=25, draw=1)
    assert seen.opponent_hand == 5
    assert seen.opponent_actions == (
        OpponentAction(base_id=7, text="SUMMON 60 1"),
        OpponentAction(base_id=7, text="ATTACK 60 -1"),
    )
    assert [row.instance_id for row in seen.cards] == [8, 10, 4, 60]
    assert [row.instance_id for row in seen.at(HAND)] == [8, 10]
    assert [row.instance_id for row in seen.at(MY_BOARD)] == [4]
    (enemy,) = seen.at(ENEMY_BOARD)
    assert (enemy.instance_id, enemy.location, enemy.lane) == (60, -1, 1)
    assert enemy.card() == Card(7, 0, 1, 1, 3, "BCDGLW", 1, -2, 1, 2)
    assert seen.offer == ()
    choice = Observation.parse(CHOICE_15)
    assert choice.offer == (Card(11, 2, 1, -2, -2, "B-----"),)
    assert choice.at(HAND) == ()
    assert CardInPlay.offer(choice.offer[0]) == choice.cards[0]


def test_runes_stand_before_the_draw() -> None:
    seen = Observation.parse("30 2 24 20 3\n28 1 25 15 1\n5 0\n0\n")
    assert seen.me == PlayerLine(health=30, max_mana=2, deck_size=24, draw=3, rune=20)
    assert seen.opponent == PlayerLine(health=28, max_mana=1, deck_size=25, draw=1, rune=15)


def test_in_one_line() -> None:
    assert str(Observation.parse(CHOICE_15)) == "1.5 choice: 1 cards offered, 0 taken"
    seen = Observation.parse(BATTLE_15)
    counts = [len(seen.at(location)) for location in (HAND, MY_BOARD, ENEMY_BOARD)]
    assert str(seen) == (
        f"1.5 battle: {seen.me.health} health, {seen.me.max_mana} mana, {counts[0]} in hand,"
        f" {counts[1]} on the board, {seen.me.deck_size} in the deck;"
        f" opponent: {seen.opponent.health} health, {seen.opponent_hand} in hand,"
        f" {counts[2]} on the board, {seen.opponent.deck_size} in the deck"
    )


def test_hint_decides_where_columns_do_not() -> None:
    assert Observation.parse(NO_ROWS_1X).rules == "1.2"
    assert Observation.parse(NO_ROWS_1X, rules="1.0").rules == "1.0"
    raises(ValueError, r"unknown rules '1\.1'", Observation.parse, NO_ROWS_1X, rules="1.1")


def test_lane_of_the_only_lane() -> None:
    (row,) = Observation.parse(BATTLE_10).cards
    assert row.lane == 0
    (row,) = Observation.parse(CHOICE_10).cards
    assert row.lane == -1


@pytest.mark.parametrize("text", [BATTLE_15, BATTLE_12, BATTLE_10, CHOICE_15, NO_ROWS_1X])
def test_lost_blanks_and_line_ends_do_not_matter(text: str) -> None:
    whole = Observation.parse(text)
    assert Observation.parse(text.removesuffix("\n")) == whole
    assert Observation.parse(text.replace(" \n", "\n")) == whole
    assert Observation.parse(text.rstrip()) == whole
    assert Observation.parse(text.replace("\n", "\r\n")) == whole
    assert whole.format() == text


def edited(line: int, new: str, text: str = BATTLE_15) -> str:
    lines = text.splitlines()
    lines[line - 1] = new
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "own player line: expected 4 or 5"),
        ("30 1 26\n", 1, "own player line: expected 4 or 5"),
        ("30 1 26 1 25 1\n", 1, "own player line: expected 4 or 5"),
        ("30 x 26 1\n", 1, "max_mana: expected an integer, got 'x'"),
        ("30 1_0 26 1\n", 1, "max_mana: expected an integer, got '1_0'"),
        ("30 1 26 25 1\n30 1 26 1\n", 2, "opponent's player line: expected 5"),
        ("30 1 26 1\n", 2, "opponent's player line: expected 4 .* got an empty line or the end"),
        (edited(3, "5"), 3, "hand size and number of actions: expected 2 value"),
        (edited(3, "-1 2"), 3, "opponent's hand size: expected at least 0, got -1"),
        (edited(3, "5 -2"), 3, "number of actions: expected at least 0, got -2"),
        (edited(3, "5 1"), 5, "number of card rows: expected 1 value"),
        (edited(3, "5 3"), 6, "opponent's action: .* got '4'"),
        (edited(3, "5 65"), 3, r"number of actions: expected 0\.\.64, got 65"),
        (edited(6, "121"), 6, r"number of card rows: expected 0\.\.120, got"),
        (edited(4, "7 JUMP 3 4"), 4, "opponent's action: .* got '7 JUMP 3 4'"),
        (edited(4, "SUMMON 60 1"), 4, "opponent's action: .* got 'SUMMON 60 1'"),
        (edited(4, "x SUMMON 60 1"), 4, "base id of an action: expected an integer, got 'x'"),
        (edited(4, "7 ATTACK 60"), 4, "opponent's action"),
        (edited(6, "many"), 6, "number of card rows: expected an integer, got 'many'"),
        (edited(6, "-4"), 6, "number of card rows: expected at least 0"),
        (edited(6, "5"), 11, "card row: expected 13 value.* the end"),
        (edited(6, "3"), 10, "nothing may follow the last card row, got '7 60"),
        (edited(7, "3 8 0 0 2 2 2 ---G-- 0 0 1 2"), 7, "card row: expected 13 value"),
        (edited(7, "3 8 2 0 2 2 2 ---G-- 0 0 1 2 -1"), 7, r"location: expected -1\.\.1, got 2"),
        (edited(7, "3 8 0 4 2 2 2 ---G-- 0 0 1 2 -1"), 7, r"type: expected 0\.\.3, got 4"),
        (edited(7, "3 8 0 0 2 2 2 G----- 0 0 1 2 -1"), 7, "abilities: .* got 'G-----'"),
        (edited(7, "3 8 0 0 2 2 2 ---G-- 0 0 1 3 -1"), 7, r"area: expected 0\.\.2, got 3"),
        (edited(7, "3 8 0 0 2 2 2 ---G-- 0 0 1 2 0"), 7, "card in the hand cannot have lane 0"),
        (edited(7, "-3 8 0 0 2 2 2 ---G-- 0 0 1 2 0"), 7, "base_id: expected at least 0, got -3"),
        (edited(7, "3 -1 0 0 2 2 2 ---G-- 0 0 1 2 -1"), 8, "on offer .* do not mix"),
        (edited(9, "5 4 1 0 1 2 1 -C---- 0 0 0 1 -1"), 9, "player's board cannot have lane -1"),
        (edited(9, "5 4 1 0 1 2 1 -C---- 0 0 0 1 2"), 9, r"lane: expected -1\.\.1, got 2"),
        (edited(9, "5 4 1 2 1 2 1 -C---- 0 0 0 1 0"), 9, "player's board cannot have type 2"),
        (edited(5, "11 -1 1 0 1 2 2 B----- 0 0 0 0 1", CHOICE_15), 5, "must have location 0"),
        (edited(5, "7 2 -1 0 1 1 3 -----W 1 -2 1", BATTLE_12), 5, "number of card rows"),
        (edited(6, "7 2 -1 0 1 1 3 -----W 1 -2", NO_SUMMON_12), 6, "card row: expected 12 or 11"),
        (edited(6, "7 2 -1 0 1 1 3 -----W 1 -2 1 0 1", NO_SUMMON_12), 6, "expected 12 or 11"),
        (edited(6, "7 2 -1 0 1 1 3 -----W 1 -2 1", BATTLE_12), 6, "card row: expected 12 value"),
        (edited(6, "7 2 -1 0 1 1 3 -----W 1 -2 1 1", BATTLE_10), 6, "card row: expected 11 value"),
        (edited(5, "2", BATTLE_12) + "\n7 4 -1 0 1 1 3 -----W 1 -2 1", 7, "expected 12 value"),
    ],
)
def test_errors_name_the_line_and_what_is_wrong(text: str, line: int, what: str) -> None:
    raises(ProtocolError, rf"^line {line}: .*{what}", Observation.parse, text)


def test_stream_that_ends_early() -> None:
    lines = BATTLE_15.splitlines(keepends=True)
    for n in range(1, len(lines)):
        with pytest.raises(ProtocolError, match=f"^line {n + 1}: "):
            read_observation(io.StringIO("".join(lines[:n])).readline)
    assert read_observation(io.StringIO().readline) is None


def test_no_more_cards_than_can_be() -> None:
    creature = "5 4 1 0 1 2 1 -C---- 0 0 0 1 0 "
    card = "3 8 0 0 2 2 2 ---G-- 0 0 1 2 -1 "
    head = "30 2 24 1\n28 1 25 1\n5 0\n"
    assert len(Observation.parse(head + "8\n" + (card + "\n") * 8).cards) == 8
    with pytest.raises(ProtocolError, match="line 13: hand: more than 8 cards"):
        Observation.parse(head + "9\n" + (card + "\n") * 9)
    assert len(Observation.parse(head + "3\n" + (creature + "\n") * 3).cards) == 3
    with pytest.raises(ProtocolError, match="line 8: player's board, lane 0: more than 3 cards"):
        Observation.parse(head + "4\n" + (creature + "\n") * 4)


def action_texts(seen: Observation) -> dict[int, str]:
    """Return the text of each possible action by its number, as in docs/rules.md, section 12."""
    hand = [row.instance_id for row in seen.at(HAND)]
    slots: dict[int, dict[int, int]] = {}
    lanes = 1 if seen.rules == "1.0" else 2
    size = 6 // lanes
    for location in (MY_BOARD, ENEMY_BOARD):
        slots[location] = {}
        for lane in range(lanes):
            ids = [row.instance_id for row in seen.at(location) if row.lane == lane]
            slots[location].update({size * lane + i: x for i, x in enumerate(ids)})
    mine, theirs = slots[MY_BOARD], slots[ENEMY_BOARD]
    texts = {0: "PASS"}
    for h, card in enumerate(hand):
        if lanes == 1:
            texts[1 + h] = f"SUMMON {card}"
        else:
            texts |= {1 + 2 * h + lane: f"SUMMON {card} {lane}" for lane in range(2)}
        use = (9 if lanes == 1 else 17) + 13 * h
        texts[use] = f"USE {card} -1"
        texts |= {use + 1 + slot: f"USE {card} {x}" for slot, x in mine.items()}
        texts |= {use + 7 + slot: f"USE {card} {x}" for slot, x in theirs.items()}
    for slot, attacker in mine.items():
        attack = 113 + 7 * slot if lanes == 1 else 121 + 4 * slot
        texts[attack] = f"ATTACK {attacker} -1"
        first = slot // size * size
        for i in range(size):
            if first + i in theirs:
                texts[attack + 1 + i] = f"ATTACK {attacker} {theirs[first + i]}"
    return texts


@pytest.mark.parametrize("games", some_golden_chunks(), ids=str)
def test_golden_inputs(games: GoldenChunk) -> None:
    for game in games:
        rules = game["rules"]
        for text in game["choice_inputs"][0] + game["choice_inputs"][1]:
            seen = Observation.parse(text)
            assert (seen.rules, seen.phase) == (rules, "choice"), game_name(game)
            assert seen.format() == text, game_name(game)
            assert seen.legal_actions() == []
        for turn in game["turns"]:
            text = turn["input"]
            seen = Observation.parse(text)
            if not seen.cards:
                seen = Observation.parse(text, rules)
            assert (seen.rules, seen.phase) == (rules, "battle"), game_name(game)
            assert seen.format() == text, game_name(game)
            assert read_observation(io.StringIO(text + text).readline, rules) == seen
            actions = seen.legal_actions()
            assert actions == sorted(set(actions))
            if turn["states"][0]["winner"] == -1:
                texts = action_texts(seen)
                assert sorted(texts[a] for a in actions) == turn["legal"][0], game_name(game)
            else:
                assert actions == []


@each_rules
def test_both_players_see_the_same_boards(rules: str) -> None:
    game = next(game for game in golden_games(rules) if len(game["turns"]) > 12)
    snapshot = game["turns"][12]["states"][0]
    state = State.from_snapshot(snapshot, game_cards(game), game["decks"], rules)
    done = [OpponentAction(7, "ATTACK 1 -1")]
    ours, theirs = state.observation(0, done), Observation.of(state, 1)
    assert ours.opponent_actions == tuple(done)
    assert theirs.opponent_actions == ()
    assert (ours.me, ours.opponent) == (theirs.opponent, theirs.me)
    assert len(ours.at(HAND)) == theirs.opponent_hand == len(snapshot["p"][0]["hand"])
    assert len(theirs.at(HAND)) == ours.opponent_hand == len(snapshot["p"][1]["hand"])
    for seen, other in ((ours, theirs), (theirs, ours)):
        mirrored = [row._replace(location=ENEMY_BOARD) for row in seen.at(MY_BOARD)]
        assert tuple(mirrored) == other.at(ENEMY_BOARD)
        assert Observation.parse(seen.format(), rules) == seen
    assert ours.at(MY_BOARD) + theirs.at(MY_BOARD) != ()
    raises(ValueError, "player: expected 0 or 1, got 2", Observation.of, state, 2)


numbers = st.integers(-999, 999)
counts = st.integers(0, 999)
abilities = st.tuples(*(st.sampled_from((letter, "-")) for letter in "BCDGLW")).map("".join)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    rules = draw(st.sampled_from(("1.5", "1.2", "1.0")))
    lanes = 1 if rules == "1.0" else 2
    runes = st.just(0) if rules == "1.5" else st.sampled_from((0, 5, 10, 15, 20, 25))
    lines = st.builds(PlayerLine, numbers, counts, counts, counts, runes)

    def row(location: int, lane: int) -> CardInPlay:
        return CardInPlay(
            base_id=draw(counts),
            instance_id=draw(counts),
            location=location,
            type=draw(st.integers(0, 3)) if location == HAND else 0,
            cost=draw(st.integers(0, 12)),
            attack=draw(numbers),
            defense=draw(numbers),
            abilities=draw(abilities),
            my_health_change=draw(numbers),
            opponent_health_change=draw(numbers),
            card_draw=draw(counts),
            area=draw(st.integers(0, 2)) if rules == "1.5" else 0,
            lane=lane,
        )

    rows = [row(HAND, -1) for _ in range(draw(st.integers(0, 8)))]
    for location in (MY_BOARD, ENEMY_BOARD):
        lane_list = [lane for lane in range(lanes) for _ in range(draw(st.integers(0, 6 // lanes)))]
        rows += [row(location, lane) for lane in draw(st.permutations(lane_list))]
    kinds = ["ATTACK {} {}", "USE {} {}", "SUMMON {}" if lanes == 1 else "SUMMON {} {}"]
    texts = st.builds(str.format, st.sampled_from(kinds), counts, st.integers(-1, 99))
    actions = draw(st.lists(st.builds(OpponentAction, counts, texts), max_size=5))
    return Observation(
        rules, draw(lines), draw(lines), draw(st.integers(0, 8)), tuple(actions), tuple(rows)
    )


@given(observations())
def test_parse_and_format_are_inverse(seen: Observation) -> None:
    text = seen.format()
    assert text == slow_text(seen)
    assert Observation.parse(text, seen.rules) == seen
    if seen.cards:
        assert Observation.parse(text) == seen


@pytest.mark.slow
@given(observations(), st.data())
def test_damaged_text_gives_no_other_error(seen: Observation, data: st.DataObject) -> None:
    text = seen.format()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    damaged = text[:start] + data.draw(st.text(max_size=5)) + text[end:]
    with contextlib.suppress(ProtocolError):
        read = Observation.parse(damaged)
        assert Observation.parse(read.format(), read.rules) == read


@given(observations(), st.data())
def test_the_reader_reads_what_the_slow_one_does(seen: Observation, data: st.DataObject) -> None:
    """Slightly damaged texts have the same result or error, read as a text or as a stream."""
    text = seen.format()
    start = data.draw(st.integers(0, len(text)))
    damaged = text[:start] + data.draw(st.sampled_from(["", " ", "\n", "-", "0", "B", "é"]))
    damaged += text[start + data.draw(st.integers(0, 2)) :]
    rules = data.draw(st.sampled_from([None, seen.rules]))

    def slow(readline: Callable[[], str]) -> Observation | None:
        first = [readline()]
        if not first[0]:
            return None
        return SlowReader(lambda: first.pop() if first else readline(), rules).read()

    def outcome(read: Callable[[Callable[[], str]], object]) -> tuple[object, int]:
        stream = io.StringIO(damaged)
        try:
            return read(stream.readline), stream.tell()
        except ProtocolError as error:
            return str(error), stream.tell()

    expected = outcome(slow)
    assert outcome(lambda readline: read_observation(readline, rules)) == expected
    with contextlib.suppress(ProtocolError):
        assert Observation.parse(damaged, rules) == expected[0]


def possible(seen: Observation) -> Observation:
    """Return the observation with numbers as they occur in games, and unique instance ids."""

    def line(line: PlayerLine) -> PlayerLine:
        return line._replace(
            health=line.health % 2001 - 1000,
            max_mana=line.max_mana % 14,
            draw=line.draw % 100,
            rune=5 * (line.rune % 6),
        )

    rows = [
        row._replace(
            base_id=1 + i,
            instance_id=2 * i,  # those between are of area copies
            cost=row.cost % 128,
            attack=row.attack % 1001 - 500,
            defense=row.defense % 1001 - 500,
            my_health_change=row.my_health_change % 1001 - 500,
            opponent_health_change=row.opponent_health_change % 1001 - 500,
            card_draw=row.card_draw % 101,
        )
        for i, row in enumerate(seen.cards)
    ]
    return seen.replace(me=line(seen.me), opponent=line(seen.opponent), cards=tuple(rows))


@given(observations())
def test_legal_actions_have_their_text(seen: Observation) -> None:
    if seen.phase == "battle":
        seen = possible(seen)
    actions = seen.legal_actions()
    texts = action_texts(seen)
    assert actions == sorted(actions)
    assert all(action in texts for action in actions)
    assert (actions == []) == (seen.me.health <= 0 or seen.opponent.health <= 0)


def test_summons_tell_the_rules() -> None:
    """Only in 1.0 a summon has no lane."""
    lines = "30 1 26 0 1\n30 1 26 0 1\n5 1\n{}\n0\n"
    for text, rules in (("7 SUMMON 3", "1.0"), ("7 SUMMON 3 1", "1.2")):
        seen = Observation.parse(lines.format(text))
        assert seen.rules == rules
        assert seen.format() == lines.format(text)
        with pytest.raises(ProtocolError, match="line 4: opponent's action: expected a base"):
            Observation.parse(lines.format(text), "1.2" if rules == "1.0" else "1.0")
    with pytest.raises(ProtocolError, match="line 4: opponent's action: expected a base"):
        Observation.parse(lines.format("7 SUMMON 3").replace(" 0 1", " 1"))
