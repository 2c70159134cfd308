"""The agent that plays by rules of thumb."""

from collections import Counter

from locmsim import Card, CardType, Match, State
from locmsim.agents import RuleAgent
from locmsim.agents.rule import rule_turn
from locmsim.rules.cards import Area

# ------------------------------------------------------------------------------ rules of thumb


def creature(number: int, attack: int, defense: int, ready: int, abilities: str = "------") -> list:
    return [number, 90, attack, defense, abilities, 0, ready, 0]


def battle(mine: list[list], theirs: list[list], *hand: Card, health: int = 30) -> State:
    """Return a state with player 0 to move in their twelfth turn, with these cards in hand.

    The creatures are in the left lane, in place of cards of the decks.
    """
    filler = Card(90, CardType.CREATURE, 13, 0, 1)  # costs more than there is mana
    state = State.new([*hand, *[filler] * (30 - len(hand))], [filler] * 30)
    snapshot = state.snapshot()
    snapshot["p"][0].update(mana=12, maxMana=12)
    snapshot["p"][1]["hp"] = health
    cards, decks = {}, []
    for player, shown, board in zip(state.players, snapshot["p"], (mine, theirs), strict=True):
        shown["board"] = board
        shown["deck"] -= len(board)
        used = {row[0] for row in board}
        held = [(c.id, c.card) for c in (*player.hand, *player.deck)]
        cards |= {card.base_id: card for _, card in held}
        decks.append([[number, card.base_id] for number, card in held if number not in used])
    return State.from_snapshot(snapshot, cards, decks)


def texts(state: State) -> list[str]:
    found = []
    for action in rule_turn(state):
        found.append(state.action_to_string(action))
        state.apply_action(action)
    return found


def test_rules_kill_with_all_items():
    state = battle([creature(56, 4, 4, 1)], [creature(118, 3, 3, 0)], health=4)
    assert texts(state) == ["ATTACK 56 -1"]
    assert state.winner == 0
    green = Card(1, CardType.GREEN, 1, 2, 0)
    blue = Card(2, CardType.BLUE, 1, 0, -3)
    state = battle([creature(56, 4, 4, 1)], [], green, blue, health=9)
    assert texts(state) == ["USE 0 56", "ATTACK 56 -1", "USE 2 -1"]
    assert state.winner == 0


def test_rules_remove_then_summon_then_attack():
    red = Card(1, CardType.RED, 2, 0, -6)
    small, big = Card(2, CardType.CREATURE, 1, 1, 1), Card(3, CardType.CREATURE, 4, 4, 4)
    state = battle(
        [creature(56, 2, 2, 1)], [creature(118, 6, 6, 0), creature(116, 1, 1, 0)], red, small, big
    )
    found = texts(state)
    assert found[0] == "USE 0 118"
    # The creature of the higher cost is summoned first, in the lane without enemies.
    assert found[1:3] == ["SUMMON 4 1", "SUMMON 2 1"]
    # The trade is free: 2/2 against 1/1.
    assert found[3:] == ["ATTACK 56 116"]


def test_rules_attack_guards_and_make_no_bad_trades():
    state = battle([creature(56, 2, 2, 1)], [creature(118, 5, 5, 0)])
    assert texts(state) == ["ATTACK 56 -1"]
    state = battle(
        [creature(56, 5, 5, 1)], [creature(118, 1, 3, 0, "---G--"), creature(116, 9, 9, 0)]
    )
    assert texts(state) == ["ATTACK 56 118"]


def test_the_deck_of_the_rules():
    """The deck has area cards of cost up to 4 while there are any, at most two of each card."""
    for seed in range(5):
        match = Match(seed=seed)
        deck = RuleAgent().build(match.observation(0).offer)
        cards = [match.cards[base_id] for base_id in deck]
        assert len(deck) == 30
        assert max(Counter(deck).values()) == 2
        early = {c.base_id for c in match.cards if c.area != Area.TARGET and c.cost <= 4}
        area = sum(card.base_id in early for card in cards)
        # Up to ten creatures come before other types, and no type may take too much room.
        assert area >= min(24, 2 * len(early) - 4)
        assert sum(card.cost for card in cards) < 30 * 2.5
