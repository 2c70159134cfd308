"""A search of a `State` knows what is public in it, and nothing that is hidden."""

import json
from collections.abc import Iterator
from pathlib import Path

from helpers import begun_match, each_rules, output_of, raises
from test_begun_turns import public

from locmsim import State
from locmsim.game.positions import random_game, start_position
from locmsim.rules.generator import generate_cards
from locmsim.search import BeamSearch, Belief, analyse

SEEDS = range(1, 7)


def positions(rules: str) -> Iterator[State]:
    """Yield every third position of some random games."""
    for seed in SEEDS:
        for number, (state, _) in enumerate(random_game(start_position(seed, rules), seed)):
            if number % 3 == 0:
                yield state.clone()


def hand_of(state: State, player: int) -> list[tuple[int, object]]:
    return [(held.id, held.card) for held in state.players[player].hand]


@each_rules
def test_whatever_is_public_is_as_in_the_state(rules: str) -> None:
    late = 0
    for state in positions(rules):
        late += state.turn > 24
        for player in (0, 1):
            belief = Belief.of_state(state, player)
            assert belief.seat == player
            for drawn in (belief.root(), belief.sample(3)):
                drawn.validate()
                assert public(drawn) == public(state)
                assert hand_of(drawn, player) == hand_of(state, player)
                assert drawn.observation(player) == state.observation(player)
    assert late > 0


@each_rules
def test_what_is_hidden_makes_no_difference(rules: str) -> None:
    for state in [*positions(rules)][::9]:
        for player in (0, 1):
            other = state.resample_hidden(player, 5)
            one, two = (Belief.of_state(s, player) for s in (state, other))
            assert one.root().to_text() == two.root().to_text()
            assert [one.sample(i).to_text() for i in range(3)] == [
                two.sample(i).to_text() for i in range(3)
            ]


@each_rules
def test_a_position_knows_its_pool(rules: str) -> None:
    match = begun_match(rules, seed=3)
    offers = [c for offer in match.offers for c in offer] if rules != "1.5" else match.offers
    found = analyse(match.state, time_ms=None, nodes=200, worlds=100)
    assert {held.card for held in found.opponent_hand} <= {*offers}
    belief = Belief.of_state(match.state, 0)
    assert {*belief.possible_cards().values()} == {*match.state.table.pool}


def test_the_command_takes_the_pool_of_the_position(tmp_path: Path) -> None:
    match = begun_match(seed=3)
    file = tmp_path / "position.txt"
    file.write_text(match.state.to_text() + "\n")
    found = json.loads(output_of("analyse", str(file), "--nodes", "200", "--json").out)
    held = found["opponent_hand"]
    known = {tuple(card.to_row()) for card in match.cards}
    assert held
    assert {tuple(card["card"]) for card in held} <= known


def test_decks_are_not_told_where_no_pool_was_given() -> None:
    """The pool of such a state is that of both decks, which its players do not know."""
    first, second, third = (generate_cards(seed) for seed in (1, 2, 3))
    decks = [first[:30], [card for card in second if card.base_id >= 60][:30]]
    other = [decks[0], [card for card in third if card.base_id >= 60][:30]]
    states = [State.new(*both) for both in (decks, other)]
    states += [State.from_bytes(state.to_bytes()) for state in states]
    states.append(states[0].child(0).child(0))
    states += [state.resample_hidden(0, 7) for state in states[:2]]
    for one, two in ((states[0], states[1]), (states[2], states[3]), (states[5], states[6])):
        assert one.table.pool != two.table.pool
        texts = [Belief.of_state(state, 0).sample(1).to_text() for state in (one, two)]
        assert texts[0] == texts[1]
    hidden = {card for seed in range(20) for card in deck(Belief.of_state(states[4], 0), seed)}
    assert not hidden <= {*decks[0], *decks[1]}
    # A pool that was given is used, also that of a text.
    named = State.from_text(states[0].to_text())
    for state in (named, State.new(*decks, pool=[*decks[0], *decks[1]])):
        assert {*Belief.of_state(state, 0).possible_cards().values()} == {*decks[0], *decks[1]}


def deck(belief: Belief, seed: int) -> list[object]:
    return [held.card for held in belief.sample(seed).players[1].deck]


def test_the_turn_limit_is_known() -> None:
    """PASS wins at the last turn: the opponent's empty deck costs them the game."""
    creature = "3:0:1:2:2:------:0:0:0:0"
    text = f"1.5 100 - 30,12,12,0,1,1,0/-/-/- 9,12,0,0,1,1,0/-/-/- 1 {creature}"
    state = State.from_text(text)
    assert state.child(0).winner == 0
    assert Belief.of_state(state, 0).sample(1).child(0).winner == 0
    assert BeamSearch().search(state, nodes=100).value > 0.99


def test_the_seat_is_not_told_by_ids() -> None:
    cards = generate_cards(3)
    ids = [range(60, 120, 2), range(0, 60, 2)]
    state = State.new(cards[:30], cards[30:60], ids=ids, pool=cards).child(0)
    assert state.current_player() == 1
    belief = Belief.of_state(state, 1)
    assert (belief.root().turn, belief.root().current_player()) == (1, 1)
    assert public(belief.sample(1)) == public(state)


def test_actions_of_the_opponent_count_for_what_they_may_hold() -> None:
    match = begun_match(seed=3)
    state = match.state
    assert state is not None
    action = next(a for a in state.legal_actions() if a)
    played = state.action(action)
    after = state.child(action).child(0)
    known = Belief.of_state(after, 1, [(played.card.base_id, str(played))])
    assert known.opponent_cards == [played.card.base_id]
    assert known.observation == after.observation(1, [(played.card.base_id, str(played))])
    raises(ValueError, "player", Belief.of_state, state, 2)


def test_a_belief_of_a_state_goes_on_with_observations() -> None:
    match = begun_match(seed=3)
    assert match.state is not None
    match.submit(0, "PASS")
    belief = Belief.of_state(match.state, 1)
    for _ in range(2):
        match.submit(1, "PASS")
        match.submit(0, "PASS")
        belief.see(match.observation(1))
        assert public(belief.root()) == public(match.state)
        assert {*belief.possible_cards().values()} == {*match.cards}


def test_a_refused_observation_changes_nothing() -> None:
    state = start_position(1)
    belief = Belief.of_state(state, 0)
    before = belief.sample(1)
    seen = start_position(1, "1.2").observation(0)
    wrong = seen.replace(me=seen.me._replace(max_mana=99))
    raises(ValueError, "max_mana", belief.see, wrong)
    assert belief.sample(1) == before
    assert belief.determinizer().sample(1).rules == "1.5"
    belief.see(state.observation(0))
    assert belief.sample(1).rules == "1.5"
