"""The opponents that searches are measured against: rules of thumb, a search of the own turn."""

import time
from collections import Counter

import lethal_data
import pytest
from helpers import RULE_SETS
from lethal_data import KINDS

from locmsim import Card, CardType, State
from locmsim.agents import OwnTurnAgent, RuleAgent, make_agent
from locmsim.agents._ownturn import OTHER_TERMS, SIDE_TERMS, OwnTurn
from locmsim.agents.own_turn import own_turn_weights
from locmsim.agents.rule import rule_turn
from locmsim.game.match import Match
from locmsim.game.positions import load_position
from locmsim.rules.cards import Area
from locmsim.rules.rulesets import RULES

OWN_TURN = "own-turn:time_ms=0,nodes=500"
SPECS = ["rule", OWN_TURN]


def play(match: Match, specs: tuple[str, str], seed: int = 1) -> list[str]:
    """Play a match out; the answers. Every action has to be legal when its time comes."""
    agents = [make_agent(spec) for spec in specs]
    for agent in agents:
        agent.reset(seed)
    lines = []
    while match.to_ask:
        player = match.to_ask[0]
        observation = match.observation(player)
        choice = observation.phase == "choice"
        lines.append((agents[player].choose if choice else agents[player].act)(observation))
        result = match.submit(player, lines[-1])
        assert result.error is None
        assert result.ignored in ([], ["PASS"])
    return lines


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("spec", SPECS)
def test_whole_matches(rules, spec):
    for seed in range(3):
        for seat, specs in enumerate([(spec, "random"), ("random", spec)]):
            match = Match(rules, seed=seed)
            play(match, specs)
            assert match.winner == seat


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("spec", SPECS)
def test_the_same_every_time(rules, spec):
    games = [play(Match(rules, seed=4), (spec, OWN_TURN)) for _ in range(2)]
    assert games[0] == games[1]


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("spec", SPECS)
def test_what_is_hidden_does_not_matter(rules, spec):
    """The deck's order and the opponent's hand change, and with them the seed: the same answer."""
    match = Match(rules, seed=9)
    while match.state is None or match.state.turn < 6:
        player = match.to_ask[0]
        observation = match.observation(player)
        agent = make_agent("greedy")
        ask = agent.choose if observation.phase == "choice" else agent.act
        match.submit(player, ask(observation))
    player = match.to_ask[0]
    lines = set()
    for seed in range(4):
        agent = make_agent(spec)
        agent.reset(seed)
        lines.add(agent.act(match.state.resample_hidden(player, seed).observation(player)))
    assert len(lines) == 1
    assert lines != {"PASS"}


# ------------------------------------------------------------------------------ rules of thumb


def battle(*hand: Card) -> State:
    """Player 0 to move in his twelfth turn, with these cards in hand."""
    filler = Card(90, CardType.CREATURE, 13, 0, 1)  # too dear
    decks = [[*hand, *[filler] * (30 - len(hand))], [filler] * 30]
    snapshot = State.new(*decks).snapshot()
    snapshot["p"][0].update(mana=12, maxMana=12)
    return rebuilt(State.new(*decks), snapshot)


def rebuilt(state: State, snapshot: dict) -> State:
    cards = {c.card.base_id: c.card for p in state.players for c in (*p.hand, *p.deck)}
    decks = [[[c.id, c.card.base_id] for c in (*p.hand, *p.deck)] for p in state.players]
    return State.from_snapshot(snapshot, cards, decks)


def creature(number: int, attack: int, defense: int, ready: int, abilities: str = "------") -> list:
    return [number, 90, attack, defense, abilities, 0, ready, 0]


def with_boards(state: State, mine: list[list], theirs: list[list], health: int = 30) -> State:
    """The creatures take the place of cards of the decks; all in the left lane."""
    snapshot = state.snapshot()
    for player, board in zip(snapshot["p"], (mine, theirs), strict=True):
        player["board"] = board
        player["deck"] -= len(board)
    snapshot["p"][1]["hp"] = health
    cards = {c.card.base_id: c.card for p in state.players for c in (*p.hand, *p.deck)}
    decks = []
    for player, board in zip(state.players, (mine, theirs), strict=True):
        used = {row[0] for row in board}
        decks.append(
            [[c.id, c.card.base_id] for c in (*player.hand, *player.deck) if c.id not in used]
        )
    return State.from_snapshot(snapshot, cards, decks)


def texts(state: State) -> list[str]:
    found = []
    for action in rule_turn(state):
        found.append(state.action_to_string(action))
        state.apply_action(action)
    return found


def test_rules_kill():
    state = with_boards(battle(), [creature(56, 4, 4, 1)], [creature(118, 3, 3, 0)], health=4)
    assert texts(state) == ["ATTACK 56 -1"]
    assert state.winner == 0


def test_rules_kill_with_all_items():
    green = Card(1, CardType.GREEN, 1, 2, 0)
    blue = Card(2, CardType.BLUE, 1, 0, -3)
    state = with_boards(battle(green, blue), [creature(56, 4, 4, 1)], [], health=9)
    assert texts(state) == ["USE 0 56", "ATTACK 56 -1", "USE 2 -1"]
    assert state.winner == 0


def test_rules_remove_then_summon_then_attack():
    red = Card(1, CardType.RED, 2, 0, -6)
    small, big = Card(2, CardType.CREATURE, 1, 1, 1), Card(3, CardType.CREATURE, 4, 4, 4)
    state = with_boards(
        battle(red, small, big),
        [creature(56, 2, 2, 1)],
        [creature(118, 6, 6, 0), creature(116, 1, 1, 0)],
    )
    found = texts(state)
    assert found[0] == "USE 0 118"
    # The dearer creature first; in the lane without enemies.
    assert found[1:3] == ["SUMMON 4 1", "SUMMON 2 1"]
    # The trade is free: 2/2 against 1/1.
    assert found[3:] == ["ATTACK 56 116"]


def test_rules_attack_guards_and_make_no_bad_trades():
    state = with_boards(battle(), [creature(56, 2, 2, 1)], [creature(118, 5, 5, 0)])
    assert texts(state) == ["ATTACK 56 -1"]
    state = with_boards(
        battle(),
        [creature(56, 5, 5, 1)],
        [creature(118, 1, 3, 0, "---G--"), creature(116, 9, 9, 0)],
    )
    assert texts(state) == ["ATTACK 56 118"]


def test_the_deck_of_the_rules():
    """Of area cards of cost up to 4, at least as far as there are any; two of each at most."""
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


# ------------------------------------------------------------------------------ own-turn search


@pytest.mark.parametrize("kind", KINDS)
def test_own_turn_wins_when_it_can(kind):
    state = load_position(lethal_data.path(kind))
    player = state.current_player()
    agent = OwnTurnAgent(time_ms=0, nodes=200_000)
    _, ignored = state.apply_line(agent.act(state.observation(player)))
    assert not ignored
    assert state.winner == player


@pytest.mark.parametrize("rules", RULE_SETS)
def test_own_turn_stops_at_the_deadline(rules):
    """As far as a busy machine can tell: the median of its overruns."""
    search = OwnTurn(own_turn_weights(rules))
    overruns = []
    for seed in range(5):
        match = Match(rules, seed=seed)
        state = None
        while match.to_ask:
            player = match.to_ask[0]
            observation = match.observation(player)
            agent = make_agent("greedy")
            if match.state is not None and not match.state.is_terminal():
                state = match.state.clone()
                started = time.perf_counter()
                search.search(state, time_ns=2_000_000)
                overruns.append(time.perf_counter() - started - 0.002)
            ask = agent.choose if observation.phase == "choice" else agent.act
            match.submit(player, ask(observation))
    assert sorted(overruns)[len(overruns) // 2] < 0.002


def test_own_turn_leaves_time(monkeypatch):
    """It asks for what is left of its time, at most the limit less what it spares."""
    asked = []

    class Spy:
        def search(self, state, *, time_ns, nodes):
            asked.append((time_ns, nodes))
            return []

    monkeypatch.setattr("locmsim.agents.own_turn.OwnTurn", lambda weights: Spy())
    for rules, most in (("1.5", 150), ("1.2", 150), ("1.0", 50)):
        deck = Match("1.5", seed=1).cards[:30]
        state = State.new(deck, deck, rules=rules)
        OwnTurnAgent().plan(state, time.perf_counter())
        time_ns, nodes = asked.pop()
        assert nodes is None
        assert most - 40 < time_ns / 1e6 <= most
        OwnTurnAgent().plan(state, time.perf_counter() - 1)
        assert asked.pop() == (0, None)
        OwnTurnAgent(time_ms=0, nodes=5).plan(state, 0.0)
        assert asked.pop() == (None, 5)


def test_own_turn_finds_more_with_more_nodes():
    """Better by the result: a fiftieth of the nodes loses most games."""
    wins = 0
    for seed in range(6):
        for seat in range(2):
            specs = ["own-turn:time_ms=0,nodes=20", "own-turn:time_ms=0,nodes=1000"]
            match = Match("1.5", seed=seed)
            play(match, tuple(specs[:: 1 if seat else -1]))
            wins += match.winner == seat
    assert wins >= 7


def test_own_turn_weights():
    names = {*OTHER_TERMS, *(f"{side}.{name}" for side in ("own", "their") for name in SIDE_TERMS)}
    for rules in RULES:
        assert set(own_turn_weights(rules)) == names
    weights = dict(own_turn_weights("1.5"))
    with pytest.raises(ValueError, match="weights: unknown term 'luck'"):
        OwnTurn({**weights, "luck": 1.0})
    del weights["their.card"]
    with pytest.raises(ValueError, match=r"weights: their\.card is missing"):
        OwnTurn(weights)


def test_own_turn_refuses():
    deck = Match("1.5", seed=1).cards[:30]
    search = OwnTurn(own_turn_weights("1.5"))
    with pytest.raises(ValueError, match="one of time_ns and nodes must be given"):
        search.search(State.new(deck, deck))
    finished = with_boards(battle(), [creature(56, 4, 4, 1)], [], health=4)
    for action in rule_turn(finished):
        finished.apply_action(action)
    with pytest.raises(ValueError, match="the game is over"):
        search.search(finished, nodes=1)
    with pytest.raises(ValueError, match="agent own-turn: one of time_ms and nodes"):
        make_agent("own-turn:time_ms=0")
    with pytest.raises(ValueError, match="agent own-turn: time_ms and nodes: expected 0 or more"):
        make_agent("own-turn:nodes=-1")
