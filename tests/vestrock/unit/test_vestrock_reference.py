"""The compiled kernel of Vestrock against its slow reference: same replies, same legal actions."""

import pickle
from copy import deepcopy
from itertools import islice
from random import Random

from amounts import amount
from helpers import raises
from hypothesis import given
from hypothesis import strategies as st
from reference_vestrock import Reference
from vestrock_data import CARDS

from vestrock import Card, Match, State, extreme_deck, generate_deck, state_from_text
from vestrock.protocol import COMMANDS

QUESTIONS = [word for word in COMMANDS if word.startswith("GET_") and COMMANDS[word].arguments]
WORDS = [word for word in COMMANDS if COMMANDS[word].arguments]


def small_cards(random):
    """Return cards with small numbers, many of them free, so that much happens in few turns."""
    cards = []
    for number in random.sample(range(1, 1001), random.choice([1, 5, 15, 30, 40])):
        kind = random.choice("CCCCCHDTBI")
        attack, health, more, cost = (random.randrange(n) for n in (4, 4, 3, 2))
        if kind == "C":
            health += 1
            cards.append(Card(number, kind, attack, health, health + more, cost, health % 3))
        else:
            cards.append(Card(number, kind, attack, health, more, cost, -1))
    return cards


def any_match(random):
    """Return a deck and parameters: small, usual and extreme ones."""
    seed, n = random.randrange(9), random.choice([1, 7, 30, 100])
    deck = random.choice(
        [
            small_cards(random),
            small_cards(random),
            random.sample(CARDS, len(CARDS)),
            generate_deck(seed, n),
            extreme_deck(seed, n),
        ]
    )
    parameters = {
        "init_hp": random.choice([2, 10, 20, 200, 10000]),
        "turns": random.choice([2, 30, 60, 60]),
        "draws": random.choice([0, 2, 2, 5, 1000]),
        "burns": random.choice([0, 1, 2]),
        "hand_limit": random.choice([1, 3, 10, 1000]),
    }
    return deck, parameters


SEEDS = st.integers(0, 1 << 32)


def commands(random, reference):
    """Yield endless commands, mostly possible ones, of all kinds alike; None ends a turn."""
    numbers = [*reference.cards, 0, -1, -5, -6, -7, 1001]
    while True:
        legal = {}
        for text in sorted(reference.legal_actions()):
            legal.setdefault(text.split()[0], []).append(text)
        # A blocking phase without attackers has little to offer.
        if random.random() < 0.05 or (legal and random.random() < 0.4 / len(legal)):
            yield None
        elif reference.blocking and random.random() < 0.3:
            own = [
                *reference.hands[reference.me],
                *reference.boards[reference.me],
                *reference.deck[:1],
            ]
            word = random.choice([word for word in WORDS if len(COMMANDS[word].arguments) < 3])
            yield (
                reference.me,
                word,
                [random.choice(own or [1])] * (len(COMMANDS[word].arguments) - 1),
            )
        elif len(legal) > 1 and random.random() < 0.85:
            del legal["END_TURN"]
            for word in ("DISCARD_CARD", "BURN_CARD", "FINISH_BLOCK"):
                if len(legal) > 1 and random.random() < 0.9:
                    legal.pop(word, None)
            word, *rest = random.choice(legal[random.choice(sorted(legal))]).split()
            yield reference.me, word, list(map(int, rest))
        else:
            word = random.choice(WORDS)
            arguments = [random.choice(numbers) for _ in range(len(COMMANDS[word].arguments) - 1)]
            yield random.choice([0, 1, reference.me, reference.me]), word, arguments


def replies_of_both(match, reference):
    """Yield the replies to all questions, from both sides."""
    for player in range(2):
        for word in QUESTIONS:
            yield match.command("AB"[player], f"{word} 1"), reference.command(player, word)


@given(seed=SEEDS)
def test_same_replies(seed):
    random = Random(seed)
    deck, parameters = any_match(random)
    match = Match(deck, **parameters)
    reference = Reference.new(deck, **parameters)
    for step in islice(commands(random, reference), amount(60, 160)):
        if step is None:
            match.end_turn()
            if not reference.over:
                reference.end_turn()
        else:
            player, word, arguments = step
            line = " ".join(map(str, [word, 1, *arguments]))
            assert match.command("AB"[player], line) == reference.command(player, word, *arguments)
        state = match.state
        state.validate()
        for ours, theirs in replies_of_both(match, reference):
            assert ours == theirs
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        assert sorted(texts) == sorted(reference.legal_actions())
        assert state.legal_actions() == sorted(state.legal_actions())
        if reference.over:
            break


def walk(state, random):
    """Play random legal actions, with turns of some length, and yield the states between them."""
    while not state.is_terminal():
        yield state
        legal = state.legal_actions()
        if len(legal) > 1 and random.random() < 0.9:
            del legal[0]
        state.apply_action(random.choice(legal))


@given(seed=SEEDS)
def test_states_after_legal_actions(seed):
    """Copies, bytes, texts and snapshots agree along a match; illegal numbers change nothing."""
    random = Random(seed)
    deck, _ = any_match(random)
    state = State.new(deck, init_hp=10, turns=20)
    other = state.clone()
    for _ in islice(walk(state, random), 100):
        legal = state.legal_actions()
        assert state.legal_actions(1 - state.current_player()) == []
        action = random.choice(legal)
        assert state.string_to_action(state.action_to_string(action)) == action
        before = state.key()
        child = state.child(action)
        assert state.key() == before
        assert child != state
        assert child.key() != before
        other.copy_from(state)
        other.apply_unchecked(action)
        assert other == child
        illegal = random.randrange(state.num_distinct_actions())
        if illegal not in legal:
            raises(ValueError, f"action {illegal} .* is not legal", state.apply_action, illegal)
            assert state.key() == before
        if random.random() < 0.7:
            continue
        for copy in (
            State.from_bytes(state.to_bytes()),
            State.from_snapshot(state.snapshot(), state.table),
            pickle.loads(pickle.dumps(state)),
            deepcopy(state),
        ):
            assert copy == state
            assert copy.key() == state.key()
        again = state_from_text(str(state), state.table.cards, init_hp=10, turns=20)
        assert str(again) == str(state)
        assert again.legal_actions() == legal
        state.validate()
    if state.is_terminal():
        assert state.legal_actions() == []
        assert sum(state.scores) == 30
        assert sum(state.returns()) == 0


@given(seed=SEEDS)
def test_an_action_in_the_blocking_phase_is_finish_block_and_the_action(seed):
    random = Random(seed)
    deck, _ = any_match(random)
    for state in islice(walk(State.new(deck, init_hp=10), random), 100):
        if state.phase == "action":
            continue
        after = state.child(1)
        legal = after.legal_actions()[1:]
        if not legal:
            continue
        action = random.choice(legal)
        after.apply_action(action)
        match = Match.from_state(state.clone())
        word, *rest = state.action_to_string(action).split()
        reply = match.command("AB"[state.mover], " ".join([word, "1", *rest]))
        assert reply[0] == "OK"
        assert match.state == after
