"""The bots of Vestrock: legal and reproducible turns, and a search that finds the best ones."""

import pytest
from helpers import raises
from vestrock_data import position
from vestrock_help import rule_line

from locmsim.arena import Arena
from vestrock import Match, State, extreme_deck, generate_deck
from vestrock.bots import BOTS, make_bot, share_of_time
from vestrock.bots._search import DEFAULT_WEIGHTS, WEIGHTS, TurnSearch, evaluate


def play(start, bots, time_ms=None):
    """Play a match from a position to its end; all commands must be accepted."""
    match = Match.from_state(start.clone())
    while match.to_ask:
        (player,) = match.to_ask
        assert match.submit(player, bots[player].turn(match.state, time_ms)).ignored == []


SMALL = [
    "t3 bl A10 B10 | A b5,20 | B b3!,4! | D 7",
    "t3 ac A10 B10 | A h7,19 b1,3 | B b4,20 | D 2",
    "t3 ac A6 B5 m1 | A h8,10 b3,4 | B b19,5-",
    "t5 bl A8 B9 | A h15 b3,4- | B b6!,12! | D 2",
    "t9 bl A8 B8 | A b4,5 | B b3!,12!",
    "t4 ac A8 B8 m2 | A b3,20 | B h11,19 b4,5",
]


def best_by_trying_everything(state):
    """Return the highest value of all possible turns."""
    me, seen, best = state.mover, set(), -1e9
    stack = [state.clone()]
    while stack:
        now = stack.pop()
        for action in now.legal_actions():
            after = now.child(action)
            if after.is_terminal():
                if after.scores[me] > after.scores[1 - me]:
                    return float("inf")
                continue
            if action == 0:
                best = max(best, -evaluate(after))
            elif after.key() not in seen:
                seen.add(after.key())
                stack.append(after)
    return best


@pytest.mark.parametrize("text", SMALL)
def test_no_turn_is_better_than_the_one_found(text):
    state = position(text)
    found = TurnSearch().search(state, depth=1)
    best = best_by_trying_everything(state)
    if best == float("inf"):
        assert found.value > 900
    else:
        assert found.value == pytest.approx(best)
    after = state.clone()
    for action in found.actions:
        after.apply_action(action)
    if not after.is_terminal():
        assert found.value == pytest.approx(-evaluate(after))


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        # Nine damage leaves one health, so both spells are needed, the second paid by a creature.
        ("t3 ac A10 B10 | A h8,13 b1,3 | B b20", {"PLAY_CARD 13 -6", "PLAY_CARD 8 -6"}),
        # Whoever does not block dies.
        ("t3 bl A5 B10 | A b20 | B b12!", {"BLOCK 12 20"}),
        # Two blockers for the strong attacker, weakest first.
        ("t3 bl A9 B9 | A b3,19 | B b12(1/4/5)!", {"BLOCK 12 19", "BLOCK 12 3"}),
    ],
)
def test_turns_that_have_to_be_found(text, commands):
    line = make_bot("search:nodes=3000").turn(position(text))
    assert commands <= set(line.split(";"))


@pytest.mark.parametrize("bot", [*BOTS, "search:nodes=200", "search:nodes=1"])
@pytest.mark.parametrize("n", [1, 20, 150])
def test_all_commands_are_taken(bot, n):
    """The bots' commands are accepted, even on decks with values all over their bounds."""
    for seed in (0, 2):
        for deck in (generate_deck(seed, n), extreme_deck(seed, n)):
            start = State.new(deck, init_hp=200, turns=14, draws=10, hand_limit=1 + 20 * seed)
            bots = (make_bot(bot, seed), make_bot("rule"))
            play(start, bots, time_ms=2)
            play(start, bots[::-1], time_ms=2)


def test_a_thousand_cards():
    start = State.new(extreme_deck(1, 1000), turns=6, draws=400, hand_limit=1000)
    for bot in ("rule", "search:nodes=500"):
        play(start, (make_bot(bot), make_bot("random", 3)))


def test_answers_are_reproducible():
    state = State.new(generate_deck(5))
    while state.turn < 9:
        state.apply_action(rule_line(state, seed=2)[0])
    before = state.key()
    for bot in ("rule", "search:nodes=1500", "random"):
        assert make_bot(bot, 3).turn(state) == make_bot(bot, 3).turn(state)
    assert state.key() == before
    # Earlier searches have no effect on later ones.
    used = make_bot("search:nodes=1500")
    used.turn(State.new(generate_deck(6)))
    assert used.turn(state) == make_bot("search:nodes=1500").turn(state)


def test_names_of_equal_cards_do_not_matter():
    """A position is searched in the same way if its cards have other ids."""
    deck = generate_deck(4)
    other = [card._replace(id=card.id + 500) for card in deck]
    for nodes in (300, 3000):
        one = TurnSearch().search(State.new(deck), nodes=nodes)
        two = TurnSearch().search(State.new(other), nodes=nodes)
        assert one == two


def test_limits_of_a_search():
    state = State.new(generate_deck(1))
    for line in rule_line(state):
        state.apply_action(line)
    few = TurnSearch().search(state, nodes=100)
    many = TurnSearch().search(state, nodes=5000)
    assert few.nodes < 400 < many.nodes < 5400
    assert many.depth > few.depth
    assert TurnSearch().search(state, depth=2).depth == 2
    assert few.actions[-1] == 0
    for bad in (0, 9):
        with pytest.raises(ValueError, match=rf"depth: expected 1 to 8, got {bad}"):
            TurnSearch().search(state, depth=bad)
    over = position("[t60 bl A1 B1]")
    over.end_turn()
    raises(ValueError, "the match is over", TurnSearch().search, over)
    raises(ValueError, "the match is over", rule_line, over)


def test_weights():
    assert len(WEIGHTS) == len(DEFAULT_WEIGHTS)
    raises(ValueError, "weights: expected 14 numbers, got 1", TurnSearch, [1.0])
    state = position("[t3 ac A10 B7]")
    health_only = [1.0] + [0.0] * 13
    assert evaluate(state, health_only) == 3
    assert evaluate(position("[t4 ac A10 B7]"), health_only) == -3


def test_search_beats_the_rule_of_thumb():
    with Arena(None, ["search:nodes=1000", "rule"], game="vestrock", games=24, seed=1) as arena:
        arena.run(jobs=1)
        assert sum(arena.tally.players[0].wins) >= 18


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chess", "no bot 'chess': expected one of random, rule, search"),
        ("rule:depth=1", "bot rule: unknown option 'depth', expected none"),
        ("serch", "did you mean 'search'"),
        ("search:width=1", "bot search: unknown option 'width', expected time_ms, nodes, depth"),
        ("search:nodes=x", "bot search: nodes: expected an integer, got 'x'"),
        ("search:nodes", "bot search: expected option=value, got 'nodes'"),
    ],
)
def test_unknown_bots(name, message):
    raises(ValueError, message, make_bot, name)


def test_time_is_shared():
    assert share_of_time(1000, 10, 100) == 90
    assert share_of_time(10, 3, 100) == 0
    assert share_of_time(1000, 0, 0) == 1000
