"""Why actions are not legal: every illegal action has the reason that is true of it."""

import pytest
from helpers import RULE_SETS, begun_match
from states import game_positions

from locmsim import Card, CardType, Match, State
from locmsim.errors import GameOverError, IllegalActionError
from locmsim.game.legality import illegal_actions, illegal_reason
from locmsim.rules.rulesets import get_rules


def all_texts(state: State) -> list[str]:
    """Return actions with all ids that are somewhere, and with some that are nowhere."""
    me, opponent = (state.players[i] for i in (state.current_player(), 1 - state.current_player()))
    held = [card.id for card in me.hand]
    mine, theirs = ([creature.id for creature in side.board] for side in (me, opponent))
    everywhere = [*held, *mine, *theirs, 999]
    lanes = [f" {lane}" for lane in range(get_rules(state.rules).lanes)]
    texts = [f"SUMMON {i}{lane if len(lanes) > 1 else ''}" for i in everywhere for lane in lanes]
    for source in everywhere:
        for target in (-1, *everywhere):
            texts += [f"USE {source} {target}", f"ATTACK {source} {target}"]
    return texts


def is_true(reason: str, state: State, text: str) -> bool:
    """Check a reason by what the position shows."""
    word, source, *rest = [*text.split(" ")]
    number = int(source)
    mover = state.current_player()
    me, opponent = state.players[mover], state.players[1 - mover]
    card = {card.id: card.card for card in me.hand}.get(number)
    creature = {one.id: one for one in me.board}.get(number)
    target = int(rest[0]) if rest else 0
    in_lane = [one for one in opponent.board if creature and one.lane == creature.lane]
    return {
        "not in hand": word != "ATTACK" and card is None,
        "no mana": card is not None and card.cost > me.mana,
        "not a creature": card is not None and card.type != CardType.CREATURE,
        "not an item": card is not None and card.type == CardType.CREATURE,
        "lane full": word == "SUMMON"
        and sum(one.lane == target for one in me.board) == get_rules(state.rules).lane_size,
        "not on the board": word == "ATTACK" and creature is None,
        "summoned this turn": creature is not None and not creature.can_attack,
        "has attacked": creature is not None and creature.has_attacked,
        "guard": any("G" in one.abilities for one in in_lane),
        "no such target": word == "USE" or target not in [one.id for one in in_lane],
    }[reason]


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_illegal_action_has_a_true_reason(rules: str) -> None:
    found = set()
    for state in game_positions(rules)[::3]:
        if state.is_terminal():
            continue
        for text in all_texts(state):
            try:
                state.string_to_action(text)
            except IllegalActionError:
                reason = illegal_reason(state, text)
                assert is_true(reason, state, text), (state.to_text(), text, reason)
                found.add(reason)
    assert found >= {"no mana", "not in hand", "not on the board", "no such target", "guard"}
    assert found >= {"lane full", "summoned this turn", "not an item"}


PLAIN = Card(1, CardType.CREATURE, 0, 2, 3)
DEAR = Card(2, CardType.CREATURE, 9, 2, 3)


def test_illegal_actions_of_an_answer() -> None:
    """Each is judged when its turn comes; malformed lines and PASS have none."""
    state = State.new([PLAIN] * 4 + [DEAR] * 4, [PLAIN] * 8)
    before = state.clone()
    line = "SUMMON 0 0;SUMMON 2 0;ATTACK 0 -1;PASS;SUMMON 4 0;SUMMON 6 0;SUMMON 0 1;SUMMON 8 1"
    assert illegal_actions(state, line) == [
        ("ATTACK 0 -1", "summoned this turn"),
        ("SUMMON 6 0", "lane full"),
        ("SUMMON 0 1", "not in hand"),
        ("SUMMON 8 1", "no mana"),
    ]
    assert state == before
    assert illegal_actions(state, "SUMMON 0 0;SING") == illegal_actions(state, "PASS") == []


def test_nothing_is_illegal_after_the_end() -> None:
    state = next(state for state in game_positions("1.5") if state.is_terminal())
    assert illegal_actions(state, "ATTACK 999 -1") == []
    with pytest.raises((GameOverError, IllegalActionError)):
        state.string_to_action("ATTACK 999 -1")


@pytest.mark.parametrize("ids", ["new", "old"])
def test_illegal_actions_of_a_match(ids: str) -> None:
    """A match takes answers with its own ids, and what it says has today's."""
    assert Match(seed=3, ids=ids).illegal_actions("SUMMON 0 0") == []  # the choice phase
    match = begun_match(seed=3, ids=ids)
    assert match.state is not None
    (first, *_) = match.state.players[0].hand
    line = match.encode(f"ATTACK {first.id} -1")
    assert match.illegal_actions(line) == [(f"ATTACK {first.id} -1", "not on the board")]
    assert match.submit(0, line).ignored == [f"ATTACK {first.id} -1"]
