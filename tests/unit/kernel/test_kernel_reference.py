"""The compiled battle against its slow reference: same positions, same actions, same errors."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import reference_rules
from amounts import amount
from helpers import RULE_SETS, each_rules
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from strategies import MAX_STAT, ODD_PARTS, answer_lines, card_lists, decks_of, positions

from locmsim import Card, State
from locmsim._core import parse_line
from locmsim.errors import GameOverError, IllegalActionError, InvalidActionError
from locmsim.rules.cards import CardType, cards_1x
from locmsim.rules.generator import generate_cards

#: The reference's errors -> the kernel's errors that stand for them.
ERRORS = {
    reference_rules.GameOver: GameOverError,
    reference_rules.IllegalAction: IllegalActionError,
    reference_rules.InvalidAction: InvalidActionError,
}

generated = cache(generate_cards)


def official_cards(rules):
    """Draw a set of the generator, or take the 160 fixed cards."""
    if rules == "1.5":
        return st.integers(0, 50).map(generated)
    return st.just(cards_1x())


def both_from_snapshot(rules, snapshot, cards, decks):
    """Return the position for the kernel and for the reference."""
    kernel = State.from_snapshot(snapshot, cards, decks, rules)
    return kernel, reference_rules.Battle.from_snapshot(rules, snapshot, cards, decks)


def both_from_decks(rules, decks):
    """Return the start of player 0's first turn, for the kernel and for the reference."""
    first = (0, 60) if rules == "1.5" else (1, 2)
    entries = [
        [(first[player] + 2 * i, card) for i, card in enumerate(deck)]
        for player, deck in enumerate(decks)
    ]
    battle = reference_rules.Battle.begin(rules, entries)
    battle.change_turn()
    return State.new(*decks, rules=rules), battle


def expect_same(kernels, references, argument):
    """Check that results are equal, or that the kernel's error stands for the reference's."""
    try:
        expected = references(argument)
    except tuple(ERRORS) as error:
        expected = error
    if not isinstance(expected, tuple(ERRORS)):
        assert kernels(argument) == expected
        return
    with pytest.raises(ERRORS[type(expected)]) as raised:
        kernels(argument)
    assert type(raised.value) is ERRORS[type(expected)]
    if isinstance(expected, reference_rules.InvalidAction):
        assert str(raised.value) == str(expected)


class KernelAndReference(RuleBasedStateMachine):
    """A machine that plays one game with both and compares everything after every step."""

    rule_set: str

    @initialize(data=st.data())
    def begin(self, data):
        if data.draw(st.booleans(), label="from a position"):
            position = data.draw(positions(self.rule_set))
            self.cards, self.decks = position.cards, position.decks
            self.kernel, self.reference = both_from_snapshot(*position)
            # A snapshot of 1.x does not tell which creatures have lost their effects.
            self.comparable_text = self.rule_set == "1.5"
        else:
            known = data.draw(st.one_of(card_lists(), official_cards(self.rule_set)))
            decks = data.draw(st.tuples(decks_of(known), decks_of(known)))
            self.cards = {card.base_id: card for card in known}
            self.kernel, self.reference = both_from_decks(self.rule_set, decks)
            self.decks = [
                [(held.id, held.card.base_id) for held in player.hand + player.deck]
                for player in self.reference.players
            ]
            self.comparable_text = True

    # -- steps

    @precondition(lambda self: self.reference.winner == -1)
    @rule(data=st.data())
    def apply_legal_actions(self, data):
        for _ in range(data.draw(st.integers(1, 6))):
            action = data.draw(st.sampled_from(self.reference.legal_actions()[1:] or ["PASS"]))
            number = self.reference.number_of(action)
            assert self.kernel.string_to_action(action) == number
            assert self.kernel.action_to_string(number) == action
            self.reference.apply_number(number)
            self.kernel.apply_action(data.draw(st.sampled_from([int, np.int64, np.uint8]))(number))
            self.same_position()
            if self.reference.winner != -1:
                break

    @precondition(lambda self: self.reference.winner == -1)
    @rule(unchecked=st.booleans())
    def end_turn(self, unchecked):
        self.reference.apply_number(0)
        if unchecked:
            self.kernel.apply_unchecked(0)
        else:
            self.kernel.apply_action(0)

    @rule(number=st.one_of(st.integers(-3, 160), st.integers()))
    def use_any_number(self, number):
        expect_same(self.kernel.action_to_string, self.reference.text_of, number)
        expect_same(self.kernel.apply_action, self.reference.apply_number, number)

    @rule(data=st.data())
    def answer(self, data):
        def parse(line):
            return reference_rules.parse_line(self.rule_set, line)

        def run(line):
            result = self.reference.run_line(line)
            if self.reference.winner == -1:
                self.reference.change_turn()
            return result

        line = data.draw(answer_lines(self.reference.legal_actions()))
        expect_same(lambda text: parse_line(text, self.rule_set), parse, line)
        expect_same(self.kernel.apply_line, run, line)

    @rule()
    def rebuild(self):
        """Continue from a snapshot."""
        again = State.from_snapshot(self.kernel.snapshot(), self.cards, self.decks, self.rule_set)
        if self.rule_set == "1.5":
            assert again == self.kernel
        else:
            self.comparable_text = False
        self.kernel = again

    # -- what has to hold

    @invariant()
    def same_position(self):
        assert self.kernel.snapshot() == self.reference.snapshot()
        self.kernel.validate()

    @invariant()
    def same_legal_actions(self):
        numbers = self.reference.legal_numbers()
        assert self.kernel.legal_actions() == numbers
        assert np.flatnonzero(self.kernel.legal_actions_mask()).tolist() == numbers

    @invariant()
    def same_text(self):
        """Compare the texts that the player to move is sent."""
        if self.comparable_text:
            performed = [entry.split(" ", 1) for entry in self.reference.opponent.performed]
            actions = [(int(base_id), action) for base_id, action in performed]
            seen = self.kernel.observation(self.reference.active, actions)
            assert seen.format() == self.reference.input_text()


def machine(rules):
    made = type(f"KernelAndReference{rules}", (KernelAndReference,), {"rule_set": rules})
    made.TestCase.settings = settings(stateful_step_count=amount(12, 30))
    return made.TestCase


Test15, Test12, Test10 = map(machine, RULE_SETS)


@each_rules
def test_odd_parts_of_lines(rules):
    def kernels(line):
        return parse_line(line, rules)

    def references(line):
        return reference_rules.parse_line(rules, line)

    for part in ODD_PARTS:
        for line in (part, f"{part};", f"PASS;{part} ; USE 3 4 text"):
            expect_same(kernels, references, line)


# Numbers around the limits of 8 and 16 bits.
STATS = [1, 126, 127, 128, 129, 254, 255, 256, 257, 500, MAX_STAT - 500, MAX_STAT]
CHANGES = [-500, -256, -255, -129, -128, -127, -1, 0, 1, 127, 128, 129, 255, 256, 500]
#: Printed statistics; fewer, since each pair takes a whole game.
PRINTED = amount([-500, -1, 0, 127, 128], CHANGES)


def duel(rules, mine, enemy, item=None, flags=(1, 0)):
    """Return a position with one creature a side, with these statistics, and an item to use."""
    creature = Card(0, CardType.CREATURE, 0, 1, 1)
    cards = {0: creature} if item is None else {0: creature, 1: item}
    hands = [[]] * 2 if item is None else [[10], []]
    players = [
        {
            "hp": 100_000,
            "maxMana": 12,
            "mana": 12,
            "bonus": 0,
            "draw": 1,
            "shown": 1,
            **({"lost": 0} if rules == "1.5" else {"runes": []}),
            "hand": hand,
            "deck": 0,
            "board": [[20 + 2 * player, 0, *stats, 0, *flags]],
        }
        for player, (hand, stats) in enumerate(zip(hands, (mine, enemy), strict=True))
    ]
    snapshot = {"turn": 4, "cur": 0, "winner": -1, "p": players}
    return both_from_snapshot(rules, snapshot, cards, [[(10, 1)] if item else [], []])


def check_all_actions(kernel, battle):
    """Check that each legal action, and the end of the turn after it, has the same outcome."""
    for action in battle.legal_actions():
        child = kernel.child(kernel.string_to_action(action))
        expected = battle.copy()
        expected.apply_number(battle.number_of(action))
        assert child.snapshot() == expected.snapshot(), action
        child.validate()


@each_rules
@pytest.mark.parametrize("abilities", ["------", "B-D---"])
def test_fights_across_integer_widths(rules, abilities):
    for attack, defense in product(STATS, STATS):
        kernel, battle = duel(rules, [attack, defense, abilities], [defense, attack, "------"])
        check_all_actions(kernel, battle)


@each_rules
@pytest.mark.parametrize("kind", [CardType.GREEN, CardType.RED, CardType.BLUE])
def test_items_across_integer_widths(rules, kind):
    for stat, change in product(STATS[:-1], CHANGES):
        item = Card(1, kind, 0, change, change, "------", change, -change, 100)
        creature = [stat, stat, "------"]
        kernel, battle = duel(rules, creature, creature, item)
        check_all_actions(kernel, battle)


@each_rules
def test_items_with_every_ability(rules):
    """Charge matters most: it lets a creature attack unless it has attacked before."""
    kinds = (CardType.GREEN, CardType.RED, CardType.BLUE)
    changes = ("-C----", "---G-W", "BCDGLW")
    states = ((1, 0), (0, 0), (0, 1), (1, 1))  # the last one occurs only in made-up positions
    for kind, change, flags, old in product(kinds, changes, states, ("------", "-----W", "BCDGLW")):
        item = Card(1, kind, 0, 1, -1, change)
        check_all_actions(*duel(rules, [2, 2, old], [2, 2, old], item, flags))


@each_rules
def test_printed_stats_across_integer_widths(rules):
    """Creatures with such statistics, even negative ones, are summoned, attack and are attacked."""
    for attack, defense in product(PRINTED, PRINTED):
        cards = [
            Card(0, CardType.CREATURE, 0, attack, defense, "-CD---", attack, defense, 1),
            Card(1, CardType.CREATURE, 0, 1, 300, "-C---W"),
        ]
        kernel, battle = both_from_decks(rules, [cards * 4] * 2)
        for _ in range(4):
            for action in battle.legal_actions()[1:]:
                if action in battle.legal_actions() and battle.winner == -1:
                    number = battle.number_of(action)
                    kernel.apply_action(number)
                    battle.apply_number(number)
                    assert kernel.snapshot() == battle.snapshot()
            if battle.winner == -1:
                kernel.apply_action(0)
                battle.apply_number(0)
