"""Whole matches: docs/rules.md, sections 1, 3, 4, 8 and 10."""

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from amounts import amount
from helpers import (
    RULE_SETS,
    Game,
    GoldenChunk,
    begun_match,
    contest,
    each_rules,
    game_cards,
    game_name,
    golden_chunks,
    golden_match,
    python,
    raises,
    some_golden_chunks,
)

from locmsim import Match, State
from locmsim.agents import make_agent
from locmsim.contract import Fault, FaultKind, TurnResult
from locmsim.errors import GameOverError
from locmsim.game._match import CompiledCards, MatchCore
from locmsim.game.choice import choice_observations, chosen_by
from locmsim.game.positions import start_position
from locmsim.javarandom import JavaRandom
from locmsim.policy import choice_tensor
from locmsim.rules.cards import Card, cards_1x, save_cards
from locmsim.rules.generator import generate_cards

# ------------------------------------------------------------------------------- golden games


def legal_texts(state: State) -> list[str]:
    return sorted(state.action_to_string(action) for action in state.legal_actions())


def play_choice_phase(match: Match, game: Game) -> None:
    """Answer as in the golden game and compare what the match asks."""
    choices, inputs, limits = game["choices"], game["choice_inputs"], game["choice_limits"]
    assert len(choices[0]) == len(choices[1])
    for step in range(len(choices[0])):
        assert match.phase == "choice"
        assert match.to_ask == (0, 1)
        order = (0, 1) if step % 3 else (1, 0)
        for player in order:
            assert match.input_text(player) == inputs[player][step]
            assert match.time_limit_ms(player) == limits[player][step]
        first = match.submit(order[0], choices[order[0]][step])
        assert first == TurnResult([], [], None)
        assert match.to_ask == (order[1],)
        assert match.phase == "choice"
        # Texts and limits stay those of the step until both answers are in.
        assert match.input_text(order[0]) == inputs[order[0]][step]
        assert match.time_limit_ms(order[0]) == limits[order[0]][step]
        second = match.submit(order[1], choices[order[1]][step])
        assert second == TurnResult([], [], match.error)


def play_turn(match: Match, turn: dict[str, Any]) -> None:
    """Answer as in the golden turn and compare all that can be seen."""
    player = turn["player"]
    state = match.state
    assert state is not None
    assert match.phase == "battle"
    assert match.to_ask == (player,)
    assert match.input_text(player) == turn["input"]
    assert match.time_limit_ms(player) == turn["limit"]
    assert match.observation(player).legal_actions() == state.legal_actions()
    here = state.clone()
    for k, snapshot in enumerate(turn["states"]):
        assert here.snapshot() == snapshot
        # The golden lists also have what would be legal in a game that is won.
        won = snapshot["winner"] != -1
        assert legal_texts(here) == ([] if won else turn["legal"][k])
        if k < len(turn["applied"]):
            here.apply_action(here.string_to_action(turn["applied"][k]))
    result = match.submit(player, turn["output"])
    assert result == TurnResult(turn["applied"], turn["ignored"], match.error)
    if match.phase == "over":
        assert state.snapshot() == turn["states"][-1]


def check_start(match: Match, game: Game) -> None:
    """Check that the snapshot before the first turn leads to the state at the first answer."""
    start = State.from_snapshot(game["start"], game_cards(game), match.decks, game["rules"])
    assert start.snapshot() == game["start"]
    start.apply_action(0)
    assert start == match.state


@pytest.mark.parametrize("games", amount(some_golden_chunks(), golden_chunks()), ids=str)
def test_golden_games(games: GoldenChunk) -> None:
    for game in games:
        try:
            replay_golden(game)
        except Exception as error:
            error.add_note(game_name(game))
            raise


def replay_golden(game: Game) -> None:
    match = golden_match(game)
    assert match.params == {"seed": game["seed"], **game["params"]}
    columns = 10 if game["rules"] == "1.5" else 9
    offers = json.loads(json.dumps(match.offers, default=lambda card: card.to_row()[:columns]))
    assert offers == game["cards"]
    assert (match.state, match.winner, match.scores, match.error) == (None, None, None, None)
    play_choice_phase(match, game)
    assert match.chosen == game["chosen"]
    assert match.decks == game["decks"]
    if game["start"] is not None:
        check_start(match, game)
    for turn in game["turns"]:
        assert match.winner is None
        play_turn(match, turn)
    assert match.phase == "over"
    assert match.to_ask == ()
    assert match.winner == game["winner"]
    assert match.scores == game["scores"]
    error = match.error
    assert (error and {"player": error.player, "message": error.message}) == game["error"]
    log = json.loads(json.dumps(match.log))
    again = Match.replay(log)
    assert again.log == log
    assert again.state == match.state
    assert (again.chosen, again.decks, again.offers) == (match.chosen, match.decks, match.offers)


# ------------------------------------------------------------------------------- small matches


battle = partial(begun_match, seed=3)
each_ids = pytest.mark.parametrize(
    ("rules", "ids"), [("1.5", "new"), ("1.5", "old"), ("1.2", "new"), ("1.0", "new")]
)


def pass_turns(match: Match, n: int) -> None:
    for _ in range(n):
        match.submit(match.to_ask[0], "PASS")


def deathbed(rules: str) -> Match:
    """Return a match in which the player to be asked has just died from their draw."""
    match = battle(rules)
    for _ in range(200):
        assert match.state is not None
        if match.state.is_terminal():
            return match
        pass_turns(match, 1)
    raise AssertionError("nobody died")


def state_of(match: Match) -> State:
    assert match.state is not None
    return match.state


# ------------------------------------------------------------------------------- construction


def test_seeds_follow_from_the_seed() -> None:
    for rules, names in {
        "1.5": ["cardGenSeed", "constructedChoicesSeed"],
        "1.2": ["draftChoicesSeed"],
        "1.0": ["draftChoicesSeed"],
    }.items():
        rng = JavaRandom(-77)
        names = [*names, "shufflePlayer0Seed", "shufflePlayer1Seed"]
        expected = {"seed": -77} | {name: rng.next_long() for name in names}
        assert Match(rules, seed=-77).params == expected
        assert Match(rules, params={"seed": "-77"}).params == expected
        assert Match(rules, seed=-77, params={"seed": 5}).params == expected
        assert Match(rules, seed=-77, params={names[-1]: "+012"}).params == {
            **expected,
            "shufflePlayer1Seed": 12,
        }


def test_without_a_seed_one_is_drawn() -> None:
    matches = [Match(), Match()]
    assert matches[0].params != matches[1].params
    assert Match(params=matches[0].params).offers == matches[0].offers


@pytest.mark.parametrize(
    "text",
    ["", "+", "x", "1.0", " 7", "7 ", "1_0", "9223372036854775808", 1 << 63, "--7", "\U0001d7d9"],
)
def test_seeds_that_are_no_64_bit_integers_are_ignored(text: str | int) -> None:
    usual = Match(seed=1).params
    assert Match(seed=1, params={"cardGenSeed": text}).params == usual
    assert Match(seed=1, params={"draftChoicesSeed": "4047"}).params == usual  # of other rules
    assert (
        Match(params={"seed": text, **{k: 1 for k in usual if k != "seed"}}).params["seed"] != text
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-9223372036854775808", -(1 << 63)),
        ("9223372036854775807", (1 << 63) - 1),
        ("0" * 5000 + "42", 42),
        ("-" + "0" * 5000 + "42", -42),
        ("-0", 0),
        ("\u0664\u0662", 42),  # Arabic-Indic digits
        ("\uff14\uff12", 42),  # full-width digits
    ],
)
def test_seeds_as_java_reads_them(text: str, value: int) -> None:
    assert Match(seed=1, params={"cardGenSeed": text}).params["cardGenSeed"] == value


@pytest.mark.parametrize(
    ("rules", "params", "message"),
    [
        (
            "1.5",
            {"predefinedDraftIds": "1"},
            "unknown parameter 'predefinedDraftIds' for rules 1.5",
        ),
        ("1.2", {"cardGenSeed": 1}, "unknown parameter 'cardGenSeed' for rules 1.2"),
        ("1.2", {"league": 4}, "unknown parameter 'league' for rules 1.2"),
        ("1.5", {"Seed": 1}, "unknown parameter 'Seed'"),
        ("1.5", {"seed": 1.5}, "seed: expected a string or an integer, got 1.5"),
        ("1.5", {"seed": None}, "seed: expected a string or an integer, got None"),
        ("1.5", {"seed": True}, "seed: expected a string or an integer, got True"),
        ("1.5", {"predefinedConstructedIds": "1,2"}, "predefinedConstructedIds: not supported"),
        (
            "1.5",
            {"predefinedCardListFile": "/no/such/file"},
            "predefinedCardListFile: .*no/such/file",
        ),
        ("1.0", {"league": 0}, "league: expected one of .*, got 0"),
        ("1.0", {"league": "5"}, "league: expected one of .*, got '5'"),
        ("1.0", {"league": "gold"}, "league: expected one of .*, got 'gold'"),
        ("1.2", {"predefinedDraftIds": "1 2 3"}, "predefinedDraftIds: expected 30 triplets, got 1"),
        ("1.2", {"predefinedDraftIds": "1 2 3," * 29 + "1 2"}, "triplet 29: .*'1 2'"),
        ("1.2", {"predefinedDraftIds": "1 2 161," * 30}, "triplet 0: .*'1 2 161'"),
        ("1.2", {"predefinedDraftIds": "1 x 3," * 30}, "triplet 0: .*'1 x 3'"),
        ("1.2", {"predefinedDraftIds": ",".join(["1 2 3"] * 14)}, "expected 30 triplets, got 14"),
    ],
)
def test_bad_parameters(rules: str, params: dict[str, Any], message: str) -> None:
    raises(ValueError, message, Match, rules, params=params)


def test_bad_arguments() -> None:
    raises(ValueError, r"unknown rules '1\.1'", Match, "1.1")
    raises(ValueError, "seed: expected a signed 64-bit integer", Match, seed=1 << 63)
    raises(ValueError, "seed: expected an integer, got '1'", Match, seed="1")
    raises(ValueError, r"cards: rules 1\.2 have a fixed card list", Match, "1.2", cards=cards_1x())
    raises(ValueError, "cards: the list is empty", Match, cards=[])
    raises(ValueError, "cards: base id 7 occurs 2 times", Match, cards=[*cards_1x(), cards_1x()[6]])
    with pytest.raises(ValueError, match=r"cards: expected Card objects, got \[1, 0\] at index 0"):
        Match(cards=[[1, 0]])  # type: ignore[list-item]


def test_given_cards_are_offered_in_the_order_of_seeds() -> None:
    cards = cards_1x()
    match = Match(seed=1, cards=cards)
    assert match.cards == list(cards)
    assert len(match.offers) == 120
    keys = [(card.cost, card.base_id) for card in match.offers]
    assert keys == sorted(keys)
    backwards = Match(seed=1, cards=cards[::-1])
    again = Match.replay(json.loads(json.dumps(backwards.log)))
    assert backwards.cards == again.cards == list(cards)
    assert [card.name for card in again.cards] == [card.name for card in cards]
    assert again.offers == backwards.offers
    # The same indices are drawn, but they refer to other cards.
    assert {161 - card.base_id for card in match.offers} == {c.base_id for c in backwards.offers}
    assert len(Match(seed=1, cards=cards[:20]).offers) == 20


def test_card_list_file(tmp_path: Path) -> None:
    path = tmp_path / "cards.txt"
    save_cards(path, cards_1x()[::-1])
    params = {"predefinedCardListFile": str(path)}
    match = battle(seed=5, params=params)
    assert match.offers == Match(seed=5, cards=cards_1x()).offers
    assert match.params["predefinedCardListFile"] == str(path)
    log = match.log
    path.unlink()
    assert Match.replay(log).cards == match.cards
    # The argument takes precedence over the file, which is not read.
    assert Match(seed=5, params=params, cards=cards_1x()[:40]).cards == list(cards_1x()[:40])
    path.write_text("1 ; no card\n")
    raises(ValueError, "line 1", Match, params=params)


def test_predefined_draft() -> None:
    triplets = ["1_2_3", " 4  4\t5 ", "6 6 6", "7_8_9_10", *(f"{i}_{i + 1}_160" for i in range(26))]
    match = Match(
        "1.2", params={"predefinedDraftIds": ",".join(triplets).replace("0_1_160", "1_1_1")}
    )
    ids = [[card.base_id for card in triplet] for triplet in match.offers]
    assert ids[:5] == [[1, 2, 3], [4, 4, 5], [6, 6, 6], [7, 8, 9], [1, 1, 1]]
    assert ids[29] == [25, 26, 160]
    more = Match("1.2", params={"predefinedDraftIds": "1 2 3," * 31})
    assert len(more.offers) == 30


def test_leagues_draft_from_fewer_cards() -> None:
    def drafted(league: int) -> set[Card]:
        found: set[Card] = set()
        for seed in range(30):
            for triplet in Match("1.0", seed=seed, params={"league": league}).offers:
                assert len({card.base_id for card in triplet}) == 3
                found.update(triplet)
        return found

    def hard(card: Card) -> bool:
        return bool(set(card.abilities) & set("DLW"))

    everything = set(cards_1x())
    creatures = {card for card in everything if card.type == 0}
    assert drafted(4) == everything
    assert drafted(3) == {card for card in everything if not hard(card)}
    assert drafted(2) == {card for card in creatures if not hard(card)}
    assert drafted(1) == {
        card
        for card in creatures
        if card.abilities == "------"
        and (card.my_health_change, card.opponent_health_change, card.card_draw) == (0, 0, 0)
    }
    assert Match("1.0", seed=1, params={"league": "4"}).offers == Match("1.0", seed=1).offers


# ------------------------------------------------------------------------------- whom to ask


@pytest.mark.parametrize("player", [1.0, True, "1", None])
def test_players_are_numbers(player: Any) -> None:
    """What only equals a player's number is refused before anything is recorded."""
    match = Match("1.2", seed=1)
    for ask in (lambda: match.submit(player, "PASS"), lambda: match.input_text(player)):
        raises(ValueError, f"player: expected 0 or 1, got {player!r}", ask)
    for answer in (5, b"PASS", ["PASS"]):
        raises(TypeError, "answer: expected a string, or None for", match.submit, 0, answer)
    assert match.to_ask == (0, 1)
    assert match.log == Match("1.2", seed=1).log
    match.submit(np.int64(1), "PASS")
    assert Match.replay(match.log).log == match.log


@each_rules
def test_the_order_of_a_turn_s_actions_does_not_change_the_key(rules: str) -> None:
    """... where it changes nothing but the order of the creatures."""
    reordered = 0
    for seed in range(10):
        match, agent = Match(rules, seed=seed), make_agent("random")
        agent.reset(seed)
        while match.phase != "over":
            for player in match.to_ask:
                if match.phase == "battle":
                    reordered += keys_of_orders(match, player)
                match.submit(player, match.ask(agent, player)())
    assert reordered > 3


def keys_of_orders(match: Match, player: int) -> bool:
    """Compare the keys after a turn's summons in both orders; return whether the states differ."""
    assert match.state is not None
    plain = {card.id for card in match.state.players[player].hand if card.card.area == 0}
    texts = [text for text in legal_texts(match.state) if text.startswith("SUMMON")]
    line = [text for text in texts if int(text.split()[1]) in plain][::2][:2]
    matches = match.clone(), match.clone()
    done = [
        one.submit(player, ";".join(part)).applied
        for one, part in zip(matches, (line, line[::-1]), strict=True)
    ]
    if sorted(done[0]) != sorted(done[1]):
        return False
    assert matches[0].state_key() == matches[1].state_key() != match.state_key()
    return matches[0].state != matches[1].state


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_answers_of_legal_picks_are_accepted(rules: str) -> None:
    """The match accepts the legal picks, and no others."""
    match = Match(rules, seed=3)
    random = Random(rules)
    while match.phase == "choice":
        for player in (0, 1):
            offer = match.observation(player).offer
            picks: list[int] = []
            while len(picks) < match.picks:
                legal = match.legal_picks(picks)
                copies = [picks.count(place) for place in range(len(offer))]
                assert legal == [place for place, n in enumerate(copies) if n < 2]
                picks.append(legal[0] if random.random() < 0.5 else random.choice(legal))
            match.submit(player, match.choice_line(picks))
    assert match.error is None
    assert (match.picks, match.legal_picks()) == (0, [])
    assert match.phase == "battle"


def test_only_the_asked_player_answers() -> None:
    match = battle()
    before = match.log
    for call in (
        lambda: match.submit(1, "PASS"),
        lambda: match.submit(2, "PASS"),
        lambda: match.submit(0, "PASS\n"),
        lambda: match.submit(0, "PASS\rPASS"),
        lambda: match.input_text(1),
        lambda: match.time_limit_ms(1),
        lambda: match.observation(-1),
    ):
        raises(ValueError, r"is not asked|must not|single line|0 or 1", call)
    assert match.log == before
    assert match.to_ask == (0,)
    match.submit(0, "PASS")
    assert match.to_ask == (1,)


# ------------------------------------------------------------------------------- choice phase


def answered(rules: str, line: str | None, **kwargs: Any) -> tuple[list[int], str | None]:
    """Return what player 0 has chosen after `line`, and the error message without their name."""
    match = Match(rules, seed=4, **kwargs)
    match.submit(1, "PASS")
    error = match.submit(0, line).error
    return match.chosen[0], None if error is None else error.message.removeprefix("$0")


NO_INTEGER = ': Invalid "CHOOSE" argument. Expected integer (card base id).'
NOT_OFFERED = ': Invalid action format. "CHOOSE" argument should be valid card\'s base id.'
NO_WORD_15 = ': Invalid action. Expected  "CHOOSE id" or "PASS".'
THIRD_COPY = ": Invalid action argument. Card can be chosen at most 2 times."
WRONG_SIZE = " didn't choose correct number of cards!"
FILLED = [card for card in range(15) for _ in range(2)]


@pytest.mark.parametrize(
    ("line", "chosen"),
    [
        ("PASS", FILLED),
        (" ;\t; PASS \x00;;", FILLED),
        ("PASS;PASS", FILLED),
        ("PASS\t", FILLED),
        ("CHOOSE 7;PASS", [7, *FILLED[:14], 7, *FILLED[16:]]),
        ("PASS one;PASS", FILLED),
        ("PASS 1 2;CHOOSE 0;PASS", FILLED),
        ("CHOOSE +119;PASS", [119, *FILLED[:29]]),
        ("CHOOSE 0119 text ; CHOOSE 119 more text\t;PASS", [119, 119, *FILLED[:28]]),
        ("CHOOSE \u0661\u0661\uff19;PASS", [119, *FILLED[:29]]),
        (";".join(["PASS x"] * 30), FILLED),
        (";".join(f"CHOOSE {i}" for i in range(30)), list(range(30))),
    ],
)
def test_construct_answers_that_are_fine(line: str, chosen: list[int]) -> None:
    assert answered("1.5", line) == (chosen, None)


@pytest.mark.parametrize(
    ("line", "chosen", "message"),
    [
        (None, [], " timeout!"),
        ("", [], WRONG_SIZE),
        (" ; ", [], WRONG_SIZE),
        ("CHOOSE 1", [1], WRONG_SIZE),
        ("PASS;PASS x", [*FILLED, 15], WRONG_SIZE),
        ("PASS;CHOOSE 15;PASS", [*FILLED, 15], WRONG_SIZE),
        ("CHOOSE 1;CHOOSE 1;CHOOSE 1;PASS", [1, 1], THIRD_COPY),
        ("PASS;CHOOSE 0", FILLED, THIRD_COPY),
        ("CHOOSE 120;PASS", [], NOT_OFFERED),
        ("CHOOSE -1;PASS", [], NOT_OFFERED),
        ("CHOOSE 5;CHOOSE;PASS", [5], NO_INTEGER),
        ("CHOOSE  5;PASS", [], NO_INTEGER),
        ("CHOOSE x;PASS", [], NO_INTEGER),
        ("CHOOSE 5x;PASS", [], NO_INTEGER),
        ("CHOOSE 3.0;PASS", [], NO_INTEGER),
        ("CHOOSE 5\t6;PASS", [], NO_INTEGER),
        ("CHOOSE 2147483648;PASS", [], NO_INTEGER),
        ("CHOOSE 1_0;PASS", [], NO_INTEGER),
        ("CHOOSE " + "9" * 5000 + ";PASS", [], NO_INTEGER),
        ("CHOOSE \U0001d7d9;PASS", [], NO_INTEGER),
        ("PICK 1;PASS", [], NO_WORD_15),
        ("choose 1;PASS", [], NO_WORD_15),
        ("pass", [], NO_WORD_15),
        ("PASSS", [], NO_WORD_15),
        ("PASS\tx", [], NO_WORD_15),
        ("CHOOSE\t1;PASS", [], NO_WORD_15),
        ("CHOOSE 1;SUMMON 1 1;PASS", [1], NO_WORD_15),
    ],
)
def test_construct_answers_that_lose(line: str | None, chosen: list[int], message: str) -> None:
    assert answered("1.5", line) == (chosen, message)


def test_too_few_cards_for_a_deck() -> None:
    message = ": Something went horrible wrong. No card available to choose."
    chosen = [card.base_id for card in cards_1x()[:14] for _ in range(2)]
    found = answered("1.5", "PASS", cards=cards_1x()[:14])
    assert (sorted(found[0]), found[1]) == (chosen, message)


NO_WORD_1X = ': Invalid action. Expected  "PICK [0,1,2]" or "PASS".'
TRIPLETS = {"predefinedDraftIds": "17 160 33," + "1 2 3," * 29}
NOT_IN_TRIPLET = (
    ': Invalid action format. "CHOOSE" argument should be valid card\'s base id [160, 17, 33].'
)
NO_SUCH_PICK = ': Invalid action format. "PICK" argument should be 0, 1 or 2.'


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
@pytest.mark.parametrize(
    ("line", "base_id"),
    [
        ("PASS", 17),
        ("PASS  anything ; PICK 2", 17),
        ("PASS PICK 2", 17),
        ("PICK 0", 17),
        ("PICK 2 a comment; with semicolon", 33),
        ("PICK 1 ", 160),
        ("PICK +1", 160),
        ("PICK 0002", 33),
        ("PICK \u0661", 160),
        ("PICK 1  two blanks", 160),
        ("CHOOSE 33", 33),
        ("CHOOSE 160 x", 160),
    ],
)
def test_draft_answers_that_are_fine(rules: str, line: str, base_id: int) -> None:
    assert answered(rules, line, params=TRIPLETS) == ([base_id], None)


@pytest.mark.parametrize("rules", ["1.2", "1.0"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (None, " timeout!"),
        ("", NO_WORD_1X),
        (" ", NO_WORD_1X),
        (" PICK 1", NO_WORD_1X),
        ("PICK", NO_WORD_1X),
        ("PICK ", NO_WORD_1X),
        ("PICK  1", NO_WORD_1X),
        ("PICK 1;", NO_WORD_1X),
        ("PICK 1\t", NO_WORD_1X),
        ("PICK x", NO_WORD_1X),
        ("PICK\t1", NO_WORD_1X),
        ("pick 1", NO_WORD_1X),
        ("pass", NO_WORD_1X),
        ("PASS;", NO_WORD_1X),
        ("PASS\t", NO_WORD_1X),
        ("1", NO_WORD_1X),
        ("PICK 3", NO_SUCH_PICK),
        ("PICK -1", NO_SUCH_PICK),
        ("PICK 2147483647", NO_SUCH_PICK),
        ("PICK 2147483648", NO_WORD_1X),
        ("CHOOSE", NO_WORD_1X),
        ("CHOOSE 34", NOT_IN_TRIPLET),
        ("CHOOSE 1 x", NOT_IN_TRIPLET),
    ],
)
def test_draft_answers_that_lose(rules: str, line: str | None, message: str) -> None:
    assert answered(rules, line, params=TRIPLETS) == ([], message)


def test_triplet_in_a_message_has_no_card_twice() -> None:
    params = {"predefinedDraftIds": "17 33 17," + "1 2 3," * 29}
    _, message = answered("1.2", "CHOOSE 5", params=params)
    assert message is not None
    assert message.endswith("base id [17, 33].")


def test_player_0_is_judged_first() -> None:
    for order in ((0, 1), (1, 0)):
        lines = ["CHOOSE 3;CHOOSE x", "CHOOSE 4;PICK 1"]
        match = Match(seed=1)
        assert match.submit(order[0], lines[order[0]]) == TurnResult([], [], None)
        raises(ValueError, f"player {order[0]} must not answer now", match.submit, order[0], "PASS")
        error = Fault(0, FaultKind.MALFORMED, "$0" + NO_INTEGER)
        assert match.submit(order[1], lines[order[1]]) == TurnResult([], [], error)
        assert (match.error, match.winner, match.scores) == (error, 1, [-1, 0])
        # The other answer was accepted, but never evaluated.
        assert match.chosen == [[3], []]
        assert match.decks == [[], []]
        assert match.state is None
        assert len(match.log["answers"]) == 2


# ------------------------------------------------------------------------------- battle


@each_rules
def test_fatal_lines(rules: str) -> None:
    """A fault after death costs no more than a point either."""
    long = "ATTACK " + "9" * 5000 + " -1"
    alive, dying = battle(rules), deathbed(rules)
    pass_turns(alive, 1)
    for line in ("SUMMON", "attack 1 2", "PASS;USE 1 x;SUMMON 1 1", long, None):
        for match, won in ((alive.clone(), 0), (dying.clone(), 1)):
            (player,) = match.to_ask
            before = state_of(match).clone()
            assert match.submit(player, line) == TurnResult([], [], match.error)
            assert match.error is not None
            assert match.error.player == player
            said = " timeout!" if line is None else ": Invalid "
            assert match.error.message.startswith(f"${player}{said}")
            assert (match.winner, match.to_ask) == (1 - player, ())
            assert match.scores == [-1 if p == player else won for p in (0, 1)]
            assert match.state == before


def test_answers_that_do_nothing_are_no_fault() -> None:
    match = battle()
    assert match.submit(0, "") == TurnResult([], [], None)
    assert match.submit(1, " ; \t;") == TurnResult([], [], None)
    zeros = "ATTACK +" + "0" * 5000 + "1 -01 why; PASS for now"
    assert match.submit(0, zeros) == TurnResult([], ["ATTACK 1 -1", "PASS"], None)
    assert match.to_ask == (1,)


def test_long_card_lists_have_a_battle() -> None:
    cards = [Card(7 * i, 0, i % 5, 1, 2) for i in range(1000)]
    match = battle(cards=cards)
    assert len(match.offers) == 120
    assert state_of(match).snapshot()["p"][0]["hand"] == [x for x, _ in match.decks[0][:5]]
    assert set(state_of(match).table.pool) == set(match.offers)


@each_rules
def test_asked_after_death(rules: str) -> None:
    match = deathbed(rules)
    (player,) = match.to_ask
    state = state_of(match)
    before = state.clone()
    assert match.phase == "battle"
    assert (match.winner, match.scores, match.error) == (None, None, None)
    assert state.winner == 1 - player
    assert state.legal_actions() == []
    assert match.observation(player).legal_actions() == []
    assert match.input_text(player).startswith(f"{state.players[player].health} ")
    # After a win, actions are checked as if nobody had won, up to the first legal one.
    (legal, *_) = [
        text for text in candidates(state) if text not in before.clone().apply_line(text)[1]
    ]
    line = f"PASS; USE 9999 1 ;ATTACK 1 9999 no;{legal};ATTACK 2 9999;PASS"
    result = match.submit(player, line)
    assert result == TurnResult([], ["PASS", "USE 9999 1", "ATTACK 1 9999"], None)
    assert (match.winner, match.phase) == (1 - player, "over")
    assert match.scores == [int(p != player) for p in (0, 1)]
    assert match.state == before


def candidates(state: State) -> Iterator[str]:
    """Yield texts that may be legal for the player whose turn it is."""
    me = state.players[state.turn % 2]
    lanes = [""] if state.rules == "1.0" else [" 0", " 1"]
    for card in me.hand:
        yield f"USE {card.id} -1"
        for lane in lanes:
            yield f"SUMMON {card.id}{lane}"
    for creature in me.board:
        yield f"ATTACK {creature.id} -1"


# ------------------------------------------------------------------------------- log


@each_rules
def test_log_of_an_unfinished_match(rules: str) -> None:
    match = battle(rules)
    pass_turns(match, 3)
    log = match.log
    assert json.loads(json.dumps(log)) == log
    again = Match.replay(log)
    assert (again.state, again.to_ask, again.phase) == (match.state, match.to_ask, "battle")
    assert again.input_text(1) == match.input_text(1)
    half = Match(rules, seed=1)
    half.submit(1, "PASS")
    assert Match.replay(half.log).to_ask == (0,)


def test_what_a_log_says_of_a_fault() -> None:
    match = battle()
    with pytest.raises(ValueError, match=r"^player 1 is not asked now: it is the turn of \(0,\)$"):
        match.input_text(1)
    match.submit(0, None)
    assert match.log["error"] == {"player": 0, "kind": "timeout", "message": "$0 timeout!"}
    assert (match.log["winner"], match.log["scores"]) == (1, [-1, 0])
    assert repr(match) == f"<Match 1.5 seed={match.params['seed']} over>"
    for ask in (match.input_text, match.time_limit_ms):
        raises(ValueError, r"^player 1 is not asked now: the match is over$", ask, 1)
    answers = match.log["answers"]
    raises(GameOverError, "the match is over", match.submit, 1, "PASS")
    assert (match.log["answers"], match.to_ask) == (answers, ())
    copied = match.clone()
    assert (copied.scores, copied.winner, copied.error) == ([-1, 0], 1, match.error)
    assert copied.scores is not match.scores


def test_bad_logs() -> None:
    match = battle()
    pass_turns(match, 1)
    match.submit(1, "x")
    log = match.log
    for damage, message in [
        ({"winner": 1}, "winner: 1 in the log, 0 when replayed"),
        ({"scores": [1, 0]}, r"scores: \[1, 0\] in the log"),
        ({"error": None}, "error: None in the log"),
        ({"answers": [[1, "PASS"], [1, "PASS"]]}, "answer 1 of the log: player 1 must not"),
        ({"answers": [[0, "PASS"], [1, 5]]}, "answer 1 of the log: "),
        ({"answers": log["answers"] + [[0, "PASS"]]}, "answer 4 of the log: the match is over"),
        ({"answers": [[0]]}, "not a match log"),
        ({"answers": None}, "not a match log"),
        ({"cards": [[1, 2]]}, "not a match log"),
        ({"params": 7}, "not a match log"),
        ({"rules": "2.0"}, "unknown rules"),
        ({"params": {"seeds": 1}}, "unknown parameter 'seeds'"),
    ]:
        raises(ValueError, message, Match.replay, {**log, **damage})
    for key in log:
        with pytest.raises(ValueError, match=f"not a match log: .*{key}"):
            Match.replay({name: value for name, value in log.items() if name != key})


# ------------------------------------------------------------------------------- histories


def some_answer(match: Match, random: JavaRandom) -> str:
    """Return up to four random actions of the turn, or PASS in the choice phase."""
    if match.phase == "choice":
        return "PASS"
    state = state_of(match).clone()
    line = []
    while len(line) < 4 and (actions := state.legal_actions()[1:]):
        action = actions[random.next_int(len(actions))]
        line.append(state.action_to_string(action))
        state.apply_action(action)
    # Read as old ids, most of them name no card, and the turn is empty.
    return ";".join(line) or "PASS"


@each_ids
def test_information_state_is_all_that_was_shown(rules: str, ids: str) -> None:
    match = Match(rules, seed=4, ids=ids)
    random = JavaRandom(1)
    shown = ["player 0\n", "player 1\n"]
    history = []
    for step in range(100):
        for player in (0, 1):
            question = match.input_text(player) if player in match.to_ask else ""
            assert match.information_state_string(player) == shown[player] + question
        assert match.history_str() == "\n".join(history)
        if match.phase == "over":
            break
        player = match.to_ask[step % len(match.to_ask)]
        line = some_answer(match, random)
        shown[player] += f"{match.input_text(player)}> {line}\n"
        history.append(f"{player}: {line}")
        match.submit(player, line)
    assert len(history) == 100 or match.phase == "over"
    raises(ValueError, "player: expected 0 or 1, got 2", match.information_state_string, 2)


def test_a_timeout_is_no_line() -> None:
    texts = set()
    for line in (None, "!", "", "> ", "PASS"):
        match = battle()
        match.submit(0, line)
        texts.add((match.information_state_string(0), match.history_str()))
    assert len({text for text, _ in texts}) == len({text for _, text in texts}) == 5


def test_hidden_cards_are_no_part_of_an_information_state() -> None:
    """It depends neither on the opponent's choice nor on the order of the decks."""
    one, other = Match(seed=3), Match(seed=3, params={"shufflePlayer1Seed": 9})
    for match, line in ((one, "PASS"), (other, f"CHOOSE {one.offers[-1].base_id};PASS")):
        match.submit(1, line)
        match.submit(0, "PASS")
    assert state_of(one) != state_of(other)
    assert one.information_state_string(0) == other.information_state_string(0)
    assert one.information_state_string(1) != other.information_state_string(1)


def pickled(match: Match) -> Match:
    copied = pickle.loads(pickle.dumps(match))
    assert isinstance(copied, Match)
    return copied


@each_ids
@pytest.mark.parametrize("copied", [Match.clone, copy.copy, copy.deepcopy, pickled])
def test_clones_are_independent(rules: str, ids: str, copied: Callable[[Match], Match]) -> None:
    """The clone of a step plays on as the original would, whatever the original does."""
    lone, match = Match(rules, seed=6, ids=ids), Match(rules, seed=6, ids=ids)
    random = JavaRandom(3)
    steps = 0
    while lone.phase != "over":
        player = lone.to_ask[0]
        line = some_answer(lone, random)
        steps += 1
        if steps % amount(5, 1):  # not at every step, since clones are slow
            assert lone.submit(player, line) == match.submit(player, line)
            continue
        clone, match = match, copied(match)
        assert clone.log == match.log
        assert vars(clone).keys() == vars(match).keys()
        for _ in range(3):
            if clone.phase != "over":
                clone.submit(clone.to_ask[-1], "PASS")
        assert lone.submit(player, line) == match.submit(player, line)
        assert (match.state, match.offers) == (lone.state, lone.offers)
        assert (match.chosen, match.decks, match.scores) == (lone.chosen, lone.decks, lone.scores)
        assert match.log == lone.log
        assert match.information_state_string(player) == lone.information_state_string(player)
        if clone.state is not None and not clone.state.is_terminal():
            clone.state.apply_action(0)
        clone.cards.clear()
        clone.offers.clear()
        clone.params.clear()
        clone.decks[0].clear()
    assert len(match.cards) in (120, 160)
    assert match.params["seed"] == 6


# ------------------------------------------------------------------------------- compiled parts


def test_offers_have_a_bound() -> None:
    """More cards, or a card twice, have no place in an offer."""
    cards = [replace(card, base_id=i) for i, card in enumerate(generate_cards(1) * 3)]
    for call in (
        lambda offer: choice_observations("1.5", [offer], 0),
        lambda offer: choice_tensor("1.5", offer),
        lambda offer: CompiledCards("1.5", offer),
    ):
        raises(ValueError, "offer: expected 120 cards at most, got 360", call, cards)
        raises(ValueError, "offer: card 7 occurs twice", call, [*cards[:20], cards[7]])
    assert chosen_by("CHOOSE 7;CHOOSE 7;CHOOSE 7", [*cards[:20], cards[7]]) == [7, 7]


@pytest.mark.parametrize(
    ("seeds", "options", "message"),
    [
        ((1, 2), {"allowed": bytes(range(160))}, "seeds: expected 3, got 2"),
        ((1, 2, 3), {"allowed": b""}, "allowed: expected 3 or more of the 160 cards"),
        ((1, 2, 3), {"allowed": b"\0\0\0"}, "allowed: expected 3 or more"),
        ((1, 2, 3), {"allowed": b"\0\1\xff"}, "allowed: expected 3 or more"),
        ((1, 2, 3), {"triplets": [[0, 1, 160]] * 30}, r"triplets\[0\]\[2\]: expected 0 to 159"),
    ],
)
def test_a_draft_needs_cards(seeds: Any, options: Any, message: str) -> None:
    cards = CompiledCards("1.2", cards_1x())
    raises(ValueError, message, MatchCore, "1.2", cards, seeds, **options)


def test_compiled_matches_trust_no_number() -> None:
    core = MatchCore("1.2", CompiledCards("1.2", cards_1x()), (1, 2, 3), bytes(range(160)))
    for call in (lambda: core.observation(0, 30), lambda: core.observation(0, -1)):
        raises(ValueError, "step: expected 0 to 29", call)
    for call in (lambda: core.observation(2, 0), lambda: core.answer(2, "PASS", [])):
        raises(ValueError, "player: expected 0 or 1, got 2", call)
    for _ in range(30):
        core.answer(0, "PASS", [])
    raises(ValueError, "step: expected 0 to 29, got 30", core.answer, 0, "PASS", [])


def test_pickles_of_a_match_are_the_same_everywhere() -> None:
    """... in another process, too, where its cards have another address."""
    script = (
        "import pickle, sys, hashlib; from locmsim import Match\n"
        "for rules in sys.argv[2:]:\n"
        "    kept = [Match(rules, seed=n) for n in range(int(sys.argv[1]))]\n"
        "    match = Match(rules, seed=5)\n"
        "    [match.submit(p, 'PASS') for p in (0, 1)]\n"
        "    print(hashlib.sha256(pickle.dumps(match._core)).hexdigest())"
    )
    few, many = (python("-c", script, n, *RULE_SETS).stdout for n in (0, 9))
    assert len({*few.split()}) == len(RULE_SETS)
    assert few == many


@each_rules
def test_a_match_begins_in_a_position(rules: str) -> None:
    """It has no choice of cards; its log says where it began, and is replayed from there."""
    start = start_position(3, rules)
    start.apply_line("PASS")
    match = Match(start=start)
    assert (match.rules, match.phase, match.to_ask) == (rules, "battle", (1,))
    assert (match.offers, match.chosen, match.decks) == ([], [[], []], [[], []])
    assert match.state == start
    assert match.time_limit_ms(1) == 1000  # programs must start
    contest(match, ("osl", "osl"))
    assert start.turn == 1  # the state that was given stays as it was
    again = Match.replay(json.loads(json.dumps(match.log)))
    assert (again.log, again.state) == (match.log, match.state)
    assert match.clone().root().state == start
    raises(ValueError, "decided", Match, start=match.state)
    assert "start" not in Match(rules, seed=1).log
