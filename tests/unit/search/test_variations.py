"""Trees of variations: named worlds, replies, and what the opponent is expected to hold."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import wins_data
from helpers import each_rules, match_of, output_of, raises, write_log

from locmsim import Observation, State
from locmsim._core import with_hand
from locmsim.game.action_text import line_words
from locmsim.referee.knowledge import knowledge_at, state_at
from locmsim.search import Belief
from locmsim.search.turn_search import determinizer_at
from locmsim.search.variations import Tree, check_hand, variations


@pytest.mark.slow
@each_rules
def test_turns_follow_each_other(rules: str) -> None:
    result = match_of(rules)
    observation, belief = knowledge_at(result, 5)
    told: list[tuple[int, int]] = []
    tree = variations(
        observation, belief=belief, nodes=3000, on_search=lambda t: told.append((t.done, t.of))
    )
    assert told == sorted(told)
    assert told[-1] == (tree.of, tree.of)
    assert tree.player == 1
    assert 2 <= len(tree.branches) <= 3
    assert len({branch.turn.state.key() for branch in tree.branches}) == len(tree.branches)
    for branch in tree.branches:
        assert [world.seed for world in branch.worlds] == [0, 1, 2]
        for world in branch.worlds:
            state = named_world(observation, world.seed, belief)
            assert [held.card for held in state.players[0].hand] == world.hand
            # Each line leads from the named world to the position that the tree states.
            ids = [held.id for held in state.players[0].hand]
            assert len(set(ids)) == len(ids)
            state.apply_line(branch.turn.line)
            values = [reply.value for reply in world.replies]
            assert 1 <= len(values) <= 2
            assert all(-1 <= value <= 1 for value in values)
            for reply in world.replies:
                after = state.clone()
                assert after.apply_line(reply.line)[1] in ([], ["PASS"])
                if reply.next is None:
                    assert after.is_terminal()
                else:
                    assert after.apply_line(reply.next.line)[1] in ([], ["PASS"])
    again = variations(observation, belief=belief, nodes=3000)
    assert shape(again) == shape(tree)


def named_world(
    observation: Observation, seed: int, belief: Belief, hand: Sequence[int] = ()
) -> State:
    """Return a world of the tree, in which the opponent holds given cards."""
    worlds, _, _ = determinizer_at(observation, belief, (), seed)
    state = worlds.sample(seed)
    return with_hand(state, 1 - state.current_player(), hand)


def shape(tree: Tree) -> object:
    return [
        (branch.turn.line, [[(r.line, r.value) for r in w.replies] for w in branch.worlds])
        for branch in tree.branches
    ]


def test_hands_are_not_looked_at() -> None:
    """The root search depends on what the player sees, and the reply on what the opponent sees."""
    state = state_at(match_of(), 6)
    other = state.resample_hidden(0, 99)
    assert state != other
    trees = [variations(position, nodes=2000, worlds=1) for position in (state, other)]
    assert shape(trees[0]) == shape(trees[1])


def test_a_win_has_no_replies() -> None:
    state = wins_data.position("charge")
    tree = variations(state, nodes=20_000, worlds=2)
    best = tree.branches[0]
    assert best.turn.value == 1
    assert best.turn.state.is_terminal()
    assert [world.replies for world in best.worlds] == [[], []]
    assert tree.done == tree.of


def test_a_begun_turn_goes_on() -> None:
    result = match_of()
    observation, belief = knowledge_at(result, 4)
    done = result.calls[2 + 4].result.applied[:1]
    root = belief.root()
    tree = variations(observation, belief=belief, done=done[0], nodes=2000, worlds=1)
    root.apply_action(root.string_to_action(done[0]))
    for branch in tree.branches:
        state = root.clone()
        for text in branch.turn.actions:
            state.apply_action(state.string_to_action(text))
        assert state.key() == branch.turn.state.key() or state.players[0].hand_size > 0
    assert tree.branches[0].worlds[0].replies


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_what_if_they_hold(rules: str) -> None:
    result = match_of(rules)
    observation, belief = knowledge_at(result, 6)
    plain = named_world(observation, 3, belief)
    size = plain.players[1].hand_size
    before = [held.card.base_id for held in plain.players[1].hand]
    for base_id in [*belief.possible_cards()]:
        try:
            check_hand(belief, plain, [base_id])
        except ValueError:
            continue
        state = named_world(observation, 3, belief, [base_id])
        after = [held.card.base_id for held in state.players[1].hand]
        assert after[0] == base_id or base_id in after
        assert len(after) == size
        # Only one card changes, to make room for the named one.
        assert sum((Counter(before) - Counter(after)).values()) <= 1
        assert state.observation(0) == plain.observation(0) == belief.root().observation(0)
        deck = [*after, *deck_of(state, 1)]
        if rules == "1.5":
            assert max(Counter([*deck, *belief.opponent_cards]).values()) <= 2
    tree = variations(observation, belief=belief, hand=[after[0]], nodes=300, worlds=2)
    for world in tree.branches[0].worlds:
        assert after[0] in [card.base_id for card in world.hand]


def deck_of(state: State, player: int) -> list[int]:
    fields = state.to_text().split(" ")
    bases = [int(row.split(":")[0]) for row in fields[6].split(",")]
    deck = fields[3 + player].split("/")[3]
    return [] if deck == "-" else [bases[int(card.split(":")[1])] for card in deck.split(",")]


def test_hands_that_cannot_be() -> None:
    result = match_of()
    observation, belief = knowledge_at(result, 6)
    root = belief.root()
    seen = belief.opponent_cards[0]
    message = f"3 of card {seen}, of which a deck has 2 at most"
    raises(ValueError, message, check_hand, belief, root, [seen] * 3)
    for wrong, message in (
        ({"hand": [500]}, "no card 500 can occur in this game"),
        ({"hand": [1] * 9}, r"the opponent holds \d cards, got 9"),
        *(({n: 0}, f"{n}: expected 1 or more") for n in ("lines", "worlds", "replies", "nodes")),
    ):
        raises(ValueError, message, variations, observation, belief=belief, **wrong)


def test_a_draft_has_one_card_of_each_offer() -> None:
    _, belief = knowledge_at(match_of("1.2"), 6)
    offers = [{card.base_id for card in offer} for offer in belief.offers]
    counts = Counter(base for offer in offers for base in offer)
    once = next(base for offer in offers for base in sorted(offer) if counts[base] == 1)
    check_hand(belief, belief.root(), [once])
    with pytest.raises(ValueError, match=f"card {once} cannot have been drafted"):
        check_hand(belief, belief.root(), [once, once])
    both = next(
        pair
        for offer in offers
        for pair in [[base for base in sorted(offer) if counts[base] == 1][:2]]
        if len(pair) == 2
    )
    with pytest.raises(ValueError, match="cannot have been drafted with the others"):
        check_hand(belief, belief.root(), both)


def test_the_command_prints_a_tree(tmp_path: Path) -> None:
    result = match_of()
    observation, belief = knowledge_at(result, 6)
    tree = variations(observation, belief=belief, nodes=2000, worlds=2, seed=3)
    log = tmp_path / "a.log"
    write_log(log, result, ("ann", "bob"))
    words = ["analyse", str(log), "--turn", "6", "--tree", "--worlds", "2", "--seed", "3"]
    words += ["--nodes", "2000"]
    lines = output_of(*words).out.splitlines()
    assert sum(line.startswith("    world 4: they hold ") for line in lines) == len(tree.branches)
    for branch in tree.branches:
        words_of = line_words(branch.turn.start, branch.turn.actions, ("ann", "bob"))
        start = f"{branch.turn.value:+.2f} {branch.turn.visits:6}  {'; '.join(words_of)}"
        assert any(start.startswith(line) for line in lines if line[:1] in "+-")
    shown = json.loads(output_of(*words, "--json").out)
    assert [line["line"] for line in shown["lines"]] == [b.turn.line for b in tree.branches]
    refused = output_of(*words, "--hand", "999", code=1).err
    assert "no card 999 can occur in this game" in refused
