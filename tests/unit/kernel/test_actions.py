"""Actions in words, answer lines as actions, hashes of positions, and matches in the process."""

import copy
from dataclasses import replace
from itertools import combinations, permutations

from amounts import amount
from helpers import begun_match, contest, each_rules
from hypothesis import given
from hypothesis import strategies as st
from states import CREATURE, game_positions, rebuilt

from locmsim import (
    Action,
    ActionKind,
    IllegalActionError,
    Match,
    State,
    play_match,
)
from locmsim.agents import make_agent
from locmsim.game.positions import random_game, start_position
from locmsim.rules.rulesets import RULES

# ---- actions -------------------------------------------------------------------------------------


@each_rules
def test_an_action_in_words_and_back(rules):
    kinds = set()
    for state in game_positions(rules):
        me = state.players[state.current_player()] if not state.is_terminal() else None
        for number in state.legal_actions():
            action = state.action(number)
            assert type(action) is Action
            assert type(action.kind) is ActionKind
            assert str(action) == state.action_to_string(number)
            assert state.action_number(action) == number
            assert state.action_number(action._replace(card=None)) == number
            kinds.add(action.kind)
            if action.kind == ActionKind.PASS:
                assert action == (ActionKind.PASS, None, None, None, None)
                continue
            places = me.board if action.kind == ActionKind.ATTACK else me.hand
            (card,) = (item.card for item in places if item.id == action.source)
            assert action.card == card
            summoned = action.kind == ActionKind.SUMMON
            assert (action.target is None) == summoned
            assert (action.lane is None) == (not summoned or rules == "1.0")
    assert kinds == set(ActionKind)


@each_rules
def test_numbers_that_name_nothing_have_no_action(rules):
    for state in game_positions(rules)[::3]:
        for number in range(state.num_distinct_actions()):
            found = []
            for describe in (state.action_to_string, state.action):
                try:
                    found.append(str(describe(number)))
                except IllegalActionError as error:
                    found.append(str(error))
            assert found[0] == found[1]


# ---- answer lines as actions ---------------------------------------------------------------------


@each_rules
@given(data=st.data())
def test_actions_of_a_line_are_those_the_referee_would_apply(rules, data):
    state = data.draw(st.sampled_from(game_positions(rules)))
    texts = ["PASS", "ATTACK 250 -1", "USE 3 -1"]
    texts += [state.action_to_string(number) for number in state.legal_actions()]
    line = ";".join(data.draw(st.lists(st.sampled_from(texts), max_size=8)))
    before = state.to_bytes()
    numbers = state.actions_of(line)
    assert state.to_bytes() == before
    one, other = state.clone(), state.clone()
    applied, _ = one.apply_line(line)
    played = []
    for number in numbers:
        played.append(other.action_to_string(number))
        other.apply_action(number)
    assert played == applied
    if not other.is_terminal():
        other.apply_action(0)
    assert other == one


# ---- hashes --------------------------------------------------------------------------------------


@each_rules
def test_equal_states_have_equal_hashes_and_others_do_not(rules):
    found = list(game_positions(rules)[: amount(100, 400)])
    found += [rebuilt(state) for state in found]
    facts = [(state.key(), state.hash64(), state.turn_hash()) for state in found]
    for (key, whole, turn), (key_2, whole_2, turn_2) in combinations(facts, 2):
        assert (key == key_2) is (whole == whole_2)
        assert turn == turn_2 or key != key_2
    assert len({key for key, _, _ in facts}) <= len(found) // 2


@each_rules
def test_no_two_of_many_positions_have_one_hash(rules):
    keys, hashes = set(), set()
    for seed in range(amount(40, 400)):
        for state, _ in random_game(start_position(seed, rules), seed):
            keys.add(state.key())
            hashes.add(state.hash64())
    assert len(keys) == len(hashes) > 1000


@each_rules
def test_every_field_counts_for_the_hash(rules):
    """Each field changes the hash, even if random games seldom change it alone."""
    state = next(
        state
        for state in game_positions(rules)
        if all(player.board and player.hand for player in state.players)
    )
    snapshot = state.snapshot()
    cards = {card.base_id: card for card in state.table.pool}
    for player in state.players:
        cards |= {item.card.base_id: item.card for item in (*player.hand, *player.deck)}
        cards |= {creature.card.base_id: creature.card for creature in player.board}
    decks = [
        [[item.id, item.card.base_id] for item in (*player.hand, *player.deck)]
        for player in state.players
    ]
    changes = []
    for who in range(2):
        for name in ("hp", "bonus", "mana", "maxMana", "draw", "shown", "lost"):
            changed = copy.deepcopy(snapshot)
            if name in changed["p"][who]:
                changed["p"][who][name] += 1 - 2 * (changed["p"][who][name] > 0)
                if name == "bonus":
                    changed["p"][who][name] = 1 - snapshot["p"][who][name]
                changes.append(changed)
        for place, value in ((2, 7), (3, 9), (4, "BCDGLW"), (6, None), (7, None)):
            changed = copy.deepcopy(snapshot)
            row = changed["p"][who]["board"][0]
            row[place] = 1 - row[place] if value is None else value
            changes.append(changed)
    states = [State.from_snapshot(one, cards, decks, rules) for one in (snapshot, *changes)]
    swapped = [[*deck] for deck in decks]
    swapped[0][-1], swapped[0][-2] = swapped[0][-2], swapped[0][-1]
    states.append(State.from_snapshot(snapshot, cards, swapped, rules))
    different = {one.key() for one in states}
    assert len(different) == len({one.hash64() for one in states}) > len(changes) - 4


def test_the_order_of_actions_makes_no_difference_to_the_turn():
    cheap = replace(CREATURE, cost=0)
    state = State.new([cheap] * 30, [cheap] * 30)
    summons = [Action(ActionKind.SUMMON, cheap, 2 * i, lane=i % 2) for i in range(3)]
    ends = []
    for order in permutations(summons):
        end = state.clone()
        for action in order:
            end.apply_action(end.action_number(action))
        ends.append(end)
    assert len({end.turn_hash() for end in ends}) == 1
    assert len({end.key() for end in ends}) > 1
    assert ends[0].turn_hash() != state.turn_hash()


def test_hashes_are_the_same_on_every_machine():
    facts = []
    for rules in RULES:
        for number, (state, _) in enumerate(random_game(start_position(3, rules), 5)):
            if number == 40:
                facts.append((state.hash64(), state.turn_hash()))
    assert facts == HASHES


#: For each rule set: `hash64` and `turn_hash`.
HASHES = [
    (0xCCE830029ACBBDA7, 0xD192A3AE6031364F),
    (0xFF853C721B6E2155, 0x5B8E3F73103723D1),
    (0xD113F195C8E0CB1F, 0xAB0C6154E9D6D6FC),
]


# ---- matches -------------------------------------------------------------------------------------


@each_rules
def test_a_match_between_two_agents(rules):
    match = Match(rules, seed=5)
    expected = match.clone()
    agents = [make_agent("greedy"), make_agent("rule")]
    assert play_match(match, agents) is match
    assert match.phase == "over"
    assert match.winner is not None
    assert match.error is None
    contest(expected, ("greedy", "rule"))
    assert match.log == expected.log


def test_a_match_is_played_on_from_where_it_stands():
    match = begun_match(seed=5)
    agents = [make_agent("max-attack"), make_agent("max-attack")]
    assert play_match(match, agents).winner is not None
    assert play_match(match, agents) is match


@each_rules
def test_what_is_called_before_each_answer(rules):
    match = Match(rules, seed=3)
    noted = []

    def note(now, player, line):
        assert now is match
        assert player in now.to_ask
        noted.append([player, line])

    play_match(match, (make_agent("random"), make_agent("greedy")), note)
    assert noted == match.log["answers"]
