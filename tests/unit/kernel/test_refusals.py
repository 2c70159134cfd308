"""What positions, batches and matches refuse, in their own words: it changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers import each_rules
from states import CREATURE, finished, small_state

from locmsim import (
    Action,
    ActionKind,
    Card,
    CardType,
    GameOverError,
    IllegalActionError,
    InvalidActionError,
    Match,
    Observation,
    State,
    StateBatch,
    generate_cards,
    play_match,
)
from locmsim._batch import StateArray
from locmsim._core import PlayerView, Table, instance_id, original_of
from locmsim.agents import make_agent
from locmsim.game.positions import divide, start_position
from locmsim.search import Belief, Evaluation

CARDS = generate_cards(1)
OTHER = Card(1, CardType.CREATURE, 1, 2, 3, "-C-G--", card_draw=1)
PAIR, SINGLE = Card(2, CardType.CREATURE, 0, 1, 1, area=1), Card(3, CardType.CREATURE, 0, 1, 1)
MANY = [Card(i, CardType.RED, 0, 0, 0) for i in range(257)]
SUMMON = Action(ActionKind.SUMMON, CREATURE, 0, None, 0)
MASKS = r"int8 array of shape \(145,\)"
ROWS = np.zeros((3, 145), np.int8)
READ_ONLY = ROWS.copy()
READ_ONLY.flags.writeable = False
PLAYER = "player: expected 0 or 1, got 2"

#: Kinds of errors -> calls for a state and a batch of three, and what is said.
REFUSED: dict[type, list[tuple[Callable[[Any, Any], Any], str]]] = {
    ValueError: [
        # What a state is made of.
        (lambda s, b: State.new([CREATURE] * 31, []), "deck0: 31 cards, expected at most 30"),
        (
            lambda s, b: State.new([], [CREATURE, "card"]),
            r"deck1\[1\]: expected a Card, got 'card'",
        ),
        (lambda s, b: new(ids=[[1]]), "ids: expected one sequence for each player, got 1"),
        (lambda s, b: new(ids=[[], []]), r"ids\[0\]: 0 ids for 1 cards"),
        (lambda s, b: new(ids=[["1"], []]), r"ids\[0\]\[0\]: expected an integer, got '1'"),
        (lambda s, b: new(ids=[[255], []]), r"ids\[0\]\[0\]: expected 0 to 254, got 255"),
        (
            lambda s, b: State.new([CREATURE], [CREATURE], ids=[[7], [7]]),
            "id 7 of player 1 occurs twice",
        ),
        (lambda s, b: new(rules="1.4"), "unknown rules '1.4'"),
        (lambda s, b: new(rules=1.5), r"unknown rules 1\.5: expected one of '1\.5', "),
        (lambda s, b: new(pool=[1]), r"pool\[0\]: expected a Card, got 1"),
        (lambda s, b: State.new([], [], pool=MANY), "more than 256 cards"),
        (lambda s, b: State.new([CREATURE], [OTHER]), "two different cards have the same base id"),
        (lambda s, b: new(pool=[CREATURE, OTHER]), "two different cards have the same base id"),
        (
            lambda s, b: State.new([PAIR, SINGLE], [], ids=[[0, 1], []]),
            "ids: an instance id is that of another card's area copy",
        ),
        (lambda s, b: Table(CARDS, "2"), "unknown rules '2'"),
        (lambda s, b: Table([CARDS[0], 7]), r"cards\[1\]: expected a Card, got 7"),
        (
            lambda s, b: Table([CARDS[0], replace(CARDS[1], base_id=CARDS[0].base_id)]),
            "cards: two different cards have the same base id",
        ),
        (lambda s, b: instance_id("1.1", 0, 0), "unknown rules '1.1'"),
        (lambda s, b: instance_id("1.5", 2, 0), PLAYER),
        (lambda s, b: instance_id("1.5", 0, 30), "i: expected 0 to 29, got 30"),
        (lambda s, b: instance_id("1.2", 0, 0, copy=True), r"copy: rules 1\.2 have no area copies"),
        (lambda s, b: original_of("1.5", -1), "id: expected 0 to 254, got -1"),
        (lambda s, b: original_of("1.5", 1.0), "id: expected an integer, got 1.0"),
        # What a state is asked.
        (lambda s, b: s.perft(10**9), "depth: expected 0 to 100, got 1000000000"),
        (lambda s, b: s.perft(2**31), "depth: expected 0 to 100"),
        (lambda s, b: s.perft(-1), "depth: expected 0 to 100, got -1"),
        (lambda s, b: s.perft(True), "depth: expected an integer, got True"),
        (lambda s, b: [*divide(s, 0)], "depth: expected 1 to 100, got 0"),
        (lambda s, b: s.legal_actions(7), "player: expected 0 or 1, got 7"),
        (lambda s, b: s.legal_actions(True), "player: expected 0 or 1, got True"),
        (lambda s, b: finished().legal_actions(-3), "player: expected 0 or 1, got -3"),
        (lambda s, b: s.legal_actions_mask(7), "player: expected 0 or 1, got 7"),
        (lambda s, b: finished().legal_actions_mask(7), "player: expected 0 or 1, got 7"),
        (lambda s, b: s.observation(2), PLAYER),
        (lambda s, b: s.observation_string(2), PLAYER),
        (lambda s, b: s.player_reward(2), PLAYER),
        (lambda s, b: s.player_return(2), PLAYER),
        (lambda s, b: PlayerView(s, 2), PLAYER),
        (
            lambda s, b: s.observation(0, ["PASS"]),
            r"opponent_actions\[0\]: expected a base id and an action, got 'PASS'",
        ),
        (lambda s, b: s.legal_actions_mask(out=np.zeros(145, np.uint8)), MASKS),
        (lambda s, b: s.legal_actions_mask(out=np.zeros(145, np.int64)), MASKS),
        (lambda s, b: s.legal_actions_mask(out=np.zeros(144, np.int8)), MASKS),
        (lambda s, b: s.legal_actions_mask(out=np.zeros(155, np.int8)), MASKS),
        (lambda s, b: s.legal_actions_mask(out=np.zeros((1, 145), np.int8)), MASKS),
        (lambda s, b: s.legal_actions_mask(out=np.zeros(290, np.int8)[::2]), MASKS),
        (lambda s, b: s.legal_actions_mask(out=np.frombuffer(bytes(145), np.int8)), MASKS),
        (lambda s, b: s.legal_actions_mask(out=[0] * 145), MASKS),
        (lambda s, b: s.legal_actions_mask(out=bytearray(145)), MASKS),
        # Playouts and hidden cards.
        (lambda s, b: s.rollouts(-1, 1), "n: expected 0 to 1000000000000, got -1"),
        (lambda s, b: s.rollouts(1.0, 1), "n: expected an integer, got 1.0"),
        (lambda s, b: s.rollouts(10**30, 1), "n: expected 0 to 1000000000000, got 1000"),
        (lambda s, b: s.rollouts(3, 1.5), "seed: expected an integer, got 1.5"),
        (lambda s, b: s.rollouts(1, "1"), "seed: expected an integer, got '1'"),
        (lambda s, b: s.rollouts(1, 1, 0), "threads: expected 1 to 65536, got 0"),
        (lambda s, b: s.rollouts(1, 1, "2"), "threads: expected an integer, got '2'"),
        (lambda s, b: b.rollouts(-1, 1), "n: expected 0 to 1000000000000, got -1"),
        (lambda s, b: b.rollouts(2.5, 1), "n: expected an integer, got 2.5"),
        (lambda s, b: b.rollouts(2, 1, threads=0), "threads: expected 1 to 65536, got 0"),
        *(
            (call, f"seed: expected an integer, got {seed!r}")
            for seed in (1.5, 1.0, "1", None)
            for call in (
                lambda s, b, seed=seed: b.rollouts(1, seed),
                lambda s, b, seed=seed: b.sample_actions(seed),
            )
        ),
        (lambda s, b: s.resample_hidden(0, None), "seed: expected an integer"),
        (lambda s, b: b.resample_hidden(0, None), "seed: expected an integer"),
        (lambda s, b: b.resample_hidden(2, seed=4), "expected 0 or 1, got 2"),
        (lambda s, b: b.resample_hidden([0, 1], 4), r"players: expected shape \(3,\), got \(2,"),
        (lambda s, b: s.resample_from_infostate(2, lambda: 0.5), PLAYER),
        *(
            (
                lambda s, b, number=number: s.resample_from_infostate(0, lambda: number),
                r"sampler: expected numbers in \[0, 1\)",
            )
            for number in (1.0, -0.1, float("nan"))
        ),
        # Matches.
        (lambda s, b: Match(seed=1.5), "seed: expected an integer, got 1.5"),  # type: ignore[arg-type]
        (lambda s, b: Match(seed=True), "seed: expected an integer, got True"),
        (lambda s, b: play_match(Match(), [make_agent("osl")]), "agents: expected two, got 1"),
        # Batches.
        (lambda s, b: StateBatch([]), "expected at least one"),
        (
            lambda s, b: StateBatch([start_position(1, "1.2"), start_position(1, "1.0")]),
            "row 1: the state has other rules",
        ),
        (lambda s, b: b.__setitem__(2, start_position(2, "1.2")), "row 2: the state has other"),
        (lambda s, b: StateBatch.repeat(s, -1), "a batch cannot have -1 states"),
        (lambda s, b: StateBatch.repeat(s, 2**60), f"a batch cannot have {2**60} states"),
        (
            lambda s, b: StateBatch.sample(Belief.of_state(s, 0), -1, seed=1),
            "cannot have -1 states",
        ),
        (lambda s, b: StateBatch.sample(Belief(), 3, seed=1), "nothing was observed"),
        (lambda s, b: b.observation_tensor(2, "entities"), PLAYER),
        (lambda s, b: b.observation_tensor(0, "pixels"), "layout"),
        *(
            (lambda s, b, out=out: b.observation_tensor(out=out), "out: expected a writable")
            for out in (np.zeros((2, 440), np.int8), np.zeros((3, 440)), np.zeros((3, 880))[:, ::2])
        ),
        *(
            (
                lambda s, b, out=out: b.legal_actions_mask(out),
                "expected a writable C-contiguous int8 array of shape",
            )
            for out in (
                *(ROWS.astype(np.uint8), ROWS[:-1], np.zeros((3, 155), np.int8), READ_ONLY),
                *(np.zeros((3, 290), np.int8)[:, ::2], ROWS.tolist()),
            )
        ),
        *(
            (lambda s, b, a=actions: b.step(a), r"actions: expected shape \(3,\), got")
            for actions in ([0], [0] * 4, [[0, 0, 0]], 0, [], np.zeros((3, 1), int))
        ),
        (lambda s, b: b.take([[0, 1], [2, 0]]), r"rows: expected shape \(n,\), got \(2, 2\)"),
        (lambda s, b: b.take(3), r"rows: expected shape \(n,\), got \(\)"),
        *(
            (lambda s, b, answer=answer: b.values(lambda given: answer), f"^evaluation: {message}")
            for answer, message in (
                ([0.0], r"expected values of shape \(3,\), got \(1,\)"),
                ([0.0, 1.5, 0.0], "expected values from -1 to 1, got 1.5"),
                ([0.0, 0.0, float("nan")], "expected values from -1 to 1, got nan"),
                (([0.0] * 3, ROWS[:2]), r"expected priors of shape \(3, 145\), got \(2, 145\)"),
                (([0.0] * 3, ROWS - 1), "expected priors of 0 or more"),
            )
        ),
        (lambda s, b: b.values(Evaluation(rules="1.2")), r"it is for rules 1\.2, the states for 1"),
        # Compiled methods write into the arrays that they get.
        *(
            (call, r"expected 3 rows, got 2|expected 145 columns")
            for call in (
                lambda s, b: array().step(np.zeros(2, np.int64), np.zeros(3, np.uint8)),
                lambda s, b: array().step(np.zeros(3, np.int64), np.zeros(2, np.uint8)),
                lambda s, b: array().sample(1, np.zeros(2, np.int64)),
                lambda s, b: array().counts(np.zeros(2, np.int32)),
                lambda s, b: array().winners(np.zeros(2, np.int8)),
                lambda s, b: array().players(np.zeros(2, np.int8)),
                lambda s, b: array().masks(ROWS[:2]),
                lambda s, b: array().masks(np.zeros((3, 144), np.int8)),
                lambda s, b: array().rollouts(np.zeros(2, np.uint64), 0, 0, np.zeros((1, 1), "b")),
            )
        ),
    ],
    IndexError: [
        *(
            (call, f"row {row} of 3")
            for row in (3, -4, 2**63, 2**64 - 1, 2**70)
            for call in (
                lambda s, b, row=row: b[row],
                lambda s, b, row=row: b.__setitem__(row, s),
                *([lambda s, b, row=row: b.take(rows_of(row))] if row < 2**64 else []),
            )
        ),
        *((lambda s, b, r=row: array().get(r), f"row {row} of 3") for row in (-1, 3)),
        *((lambda s, b, r=row: array().set(r, s), f"row {row} of 3") for row in (-1, 3)),
        *(
            (
                lambda s, b, first=first, rows=rows: array().rollouts(
                    np.zeros(3, np.uint64), first, 0, np.zeros((rows, 1), np.int8)
                ),
                "rows",
            )
            for first, rows in ((-1, 1), (0, 4), (3, 1), (2**62, 1))
        ),
    ],
    TypeError: [
        (lambda s, b: State(), r"use State\.new"),
        (lambda s, b: type("Mine", (State,), {}), "not an acceptable base type"),
        (lambda s, b: hash(s), "unhashable"),
        (lambda s, b: StateBatch.repeat("state", 3), ""),  # type: ignore[arg-type]
        (lambda s, b: StateBatch([s, None]), ""),  # type: ignore[list-item]
        (lambda s, b: b.__setitem__(2, None), ""),
        *((lambda s, b, row=row: b[row], "") for row in (1.0, "1", slice(2), None)),
        *((lambda s, b, wrong=wrong: s.copy_from(wrong), "") for wrong in (None, 1, "state")),
        *((lambda s, b, wrong=wrong: s.apply_line(wrong), "") for wrong in (None, 3, b"PASS")),
        (lambda s, b: s.actions_of(None), ""),
        (lambda s, b: s.action_number(tuple(SUMMON)), "expected an Action"),
        (lambda s, b: s.action_number(None), ""),
        *((lambda s, b, a=a: s.action_to_string(*a), "one or two arg") for a in ((), (0, 0, 0))),
        *((lambda s, b, a=a: s.string_to_action(*a), "one or two arg") for a in ((), (0, 0, 0))),
        (lambda s, b: s.string_to_action(0), "expected a string, got 0"),
        (lambda s, b: b.take([0.5]), "rows: expected integers, got float64"),
        *(
            (lambda s, b, actions=actions: b.step(actions), "actions: expected integers, got")
            for actions in ([0.0] * 3, ["0"] * 3, [None] * 3, [True] * 3, np.zeros(3))
        ),
        *(
            (
                lambda s, b, name=name, wrong=wrong: getattr(s, name)(wrong),
                "action: expected an integer, got "
                if isinstance(wrong, bool | np.bool_ | float) and name != "apply_unchecked"
                else "",
            )
            for name in ("apply_action", "apply_unchecked", "child", "action_to_string")
            for wrong in (
                *(1.0, 0.0, "1", b"1", None, np.float64(1), [1], np.array([1, 2])),
                *((True, np.True_) if name != "apply_unchecked" else ()),
            )
        ),
    ],
    InvalidActionError: [
        (lambda s, b: s.actions_of("PASS;JUMP 1"), ""),
        (lambda s, b: finished().string_to_action("pass"), ""),
        (lambda s, b: s.apply_line("SUMMON 0 0;SUMMON"), ""),
        (lambda s, b: s.apply_line("SUMMON 0 0; dance"), ""),
        *(
            (lambda s, b, text=text: s.string_to_action(text), "")
            for text in (
                *("", "summon 0 0", "SUMMON 0 0;", "SUMMON 0 0 now"),
                *("SUMMON  0 0", " PASS", "PASS;"),
            )
        ),
    ],
    IllegalActionError: [
        *(
            (lambda s, b, text=text: s.string_to_action(text), f"^{text} is not legal here$")
            for text in ("SUMMON 2 0", "ATTACK 0 -1", "USE 2 -1", "SUMMON 0 2", "ATTACK 300 -1")
        ),
        *(
            (lambda s, b, wrong=wrong: s.action_number(wrong), "is not legal here")
            for wrong in (
                SUMMON._replace(source=250),
                SUMMON._replace(source=None),
                SUMMON._replace(source=10**30),
                SUMMON._replace(lane=2),
                SUMMON._replace(lane=None),
                SUMMON._replace(card=replace(CREATURE, cost=CREATURE.cost + 1)),
                Action(ActionKind.USE, None, 0, -1),
                Action(ActionKind.ATTACK, None, 0, -1),
            )
        ),
        (
            lambda s, b: s.action_number(Action(1, None, 99, None, 0)),
            "SUMMON 99 0 is not legal here",
        ),  # type: ignore[arg-type]
        (lambda s, b: s.action_number(Action(77)), "77 is not a kind of action"),  # type: ignore[arg-type]
        *((lambda s, b, n=n: s.action(n), f"action {n} names nothing") for n in (-1, 155, 10**30)),
        *(
            (lambda s, b, name=name, number=number: getattr(s, name)(number), f"action {number} ")
            for name in ("apply_action", "child", "action_to_string")
            for number in (
                *(-1, -2, 155, 1000, 2**31, 2**32 + 1, 2**63, -(2**63) - 1, 10**100),
                np.uint64(2**64 - 1),
            )
        ),
        (lambda s, b: s.child(144), ""),
        *(
            (
                lambda s, b, bad=bad: b.step(np.array([bad, 0, bad])),
                f"nothing was applied; row 0: {bad}, row 2: {bad}$",
            )
            for bad in (-2, 144, 145, 155, 300, 2**31, 2**32, 2**32 - 1, 2**63 - 1, -(2**63))
        ),
        (
            lambda s, b: b.step(np.array([0, 2**64 - 1, 0], np.uint64)),
            r"row 1: 9223372036854775807$",
        ),
        (
            lambda s, b: StateBatch.repeat(s, 50).step(np.full(50, 144)),
            r"row 9: 144, 40 more rows$",
        ),
        (
            lambda s, b: StateBatch([s, finished()]).step([144, 0]),
            r"row 0: 144, row 1: 0 \(the game is over\)$",
        ),
    ],
    GameOverError: [
        (lambda s, b: finished().action_number(Action(ActionKind.PASS)), "PASS: the game is over"),
        (lambda s, b: finished().string_to_action("PASS"), "PASS: the game is over"),
        (lambda s, b: finished().child(0), ""),
        (lambda s, b: StateBatch.children(finished()), ""),
        (
            lambda s, b: StateBatch([s, finished()]).step([0, 0]),
            r"nothing was applied; row 1: 0 \(the game is over\)$",
        ),
    ],
}


def new(**options: Any) -> State:
    return State.new([CREATURE], [], **options)


def array() -> StateArray:
    return StateArray(3, small_state())


def rows_of(row: int) -> Any:
    return np.array([row], np.uint64 if row >= 2**63 else np.int64)


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [(error, *case) for error, cases in REFUSED.items() for case in cases],
)
def test_refused(error: type[Exception], call: Callable[[Any, Any], Any], message: str) -> None:
    state = small_state()
    batch = StateBatch.repeat(state, 3)
    with pytest.raises(error, match=message or None) as raised:
        call(state, batch)
    assert isinstance(raised.value, GameOverError) == (error is GameOverError)
    assert state == small_state()
    assert [*batch] == [state] * 3
    assert not ROWS.any()


def test_numbers_beyond_int64_in_a_list() -> None:
    batch = StateBatch.repeat(small_state(), 2)
    with pytest.raises((TypeError, IllegalActionError, OverflowError)):
        batch.step([0, 2**70])
    assert [*batch] == [small_state()] * 2
    assert len(batch.take(np.array([1, 0], np.uint64))) == 2


@each_rules
def test_observations_show_no_more_than_their_texts(rules: str) -> None:
    """Areas mean nothing in 1.x and are not shown there."""
    cards = [Card(i + 1, CardType.CREATURE, 0, 1, 2, area=1) for i in range(30)]
    state = State.new(cards, cards, rules=rules)
    state.apply_action(state.legal_actions()[1])
    for player in (0, 1):
        seen = state.observation(player)
        assert Observation.parse(seen.format(), rules) == seen
        assert {row.area for row in seen.cards} == {rules == "1.5"}
        assert isinstance(seen.at(0), tuple)


@each_rules
def test_offers_of_a_match_are_copies(rules: str) -> None:
    match = Match(rules, seed=1)
    assert isinstance(match.observation(0).at(0), tuple)
    before = match.input_text(0)
    offer = match.offers[0]
    if isinstance(offer, list):
        offer.clear()
    match.offers.clear()
    assert match.input_text(0) == before
    assert match.clone().input_text(0) == before
