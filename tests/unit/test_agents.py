"""Agents: what they answer, in whole matches and in positions with one right answer."""

import itertools
from collections import Counter

import lethal_data
import pytest
from helpers import DATA, RULE_SETS
from lethal_data import KINDS

from locmsim import State
from locmsim.agents import (
    AGENTS,
    Agent,
    BaselineAgent,
    GreedyAgent,
    RandomAgent,
    make_agent,
    turnsearch,
)
from locmsim.agents.lethal import find_lethal
from locmsim.agents.turnsearch import Budget, Evaluation, beam_search, greedy_turn
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.game.positions import load_position
from locmsim.rules.cards import CardType
from locmsim.rules.rulesets import RULES
from locmsim.search import Evaluation as SearchEvaluation
from locmsim.search import SearchResult

EVALUATION = Evaluation()
SMALL_BASELINE = "baseline:time_ms=0,nodes=100"
SMALL_BEAM = "beam:time_ms=0,iterations=2000"
SMALL_MCTS = "mcts:time_ms=0,iterations=40"


def answer(agent: Agent, observation: Observation) -> str:
    ask = agent.choose if observation.phase == "choice" else agent.act
    return ask(observation)


def play(match: Match, agents: tuple[Agent, Agent]) -> list[str]:
    """Play a match out; the answers. Every action has to be legal when its time comes."""
    lines = []
    while match.to_ask:
        player = match.to_ask[0]
        lines.append(answer(agents[player], match.observation(player)))
        result = match.submit(player, lines[-1])
        assert result.error is None
        assert result.ignored in ([], ["PASS"])
    return lines


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(
    "specs", [("random", "greedy"), ("greedy", SMALL_BASELINE), (SMALL_BEAM, SMALL_MCTS)]
)
def test_whole_matches(rules, specs):
    for seats in (specs, specs[::-1]):
        agents = tuple(map(make_agent, seats))
        match = Match(rules, seed=5)
        play(match, agents)
        assert match.scores == [1 - match.winner, match.winner]
        if "random" in seats:
            assert match.winner == seats.index("greedy")


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("spec", ["random", "greedy", SMALL_BASELINE, SMALL_BEAM, SMALL_MCTS])
def test_the_seed_decides(rules, spec):
    def game(seed: int) -> list[str]:
        agents = make_agent(spec), make_agent("random")
        for agent in agents:
            agent.reset(seed)
        return play(Match(rules, seed=1), agents)

    assert game(1) == game(1)
    assert game(1) != game(2)


def test_a_new_game_starts_afresh():
    agents = make_agent("greedy"), make_agent("greedy")
    games = []
    for _ in range(2):
        for agent in agents:
            agent.reset(3)
        games.append(play(Match("1.2", seed=4), agents))
    assert games[0] == games[1]


@pytest.mark.parametrize("spec", ["random", "greedy", SMALL_BASELINE, SMALL_BEAM, SMALL_MCTS])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_what_is_hidden_does_not_matter(rules, spec):
    """Two matches that differ in the deck's order and in the opponent's hand: the same answer."""
    match = Match(rules, seed=9)
    play_until(match, turn=6)
    player = match.to_ask[0]
    lines = set()
    for seed in range(3):
        state = match.state.resample_hidden(player, seed)
        assert state.players[1 - player].hand != match.state.players[1 - player].hand
        agent = make_agent(spec)
        agent.reset(1)
        lines.add(agent.act(state.observation(player)))
    assert len(lines) == 1


def play_until(match: Match, turn: int) -> None:
    agents = make_agent("greedy"), make_agent("greedy")
    while match.state is None or match.state.turn < turn:
        player = match.to_ask[0]
        match.submit(player, answer(agents[player], match.observation(player)))


def test_dead_from_drawing_but_asked():
    match = Match(seed=1)
    play_until(match, turn=2)
    snapshot = match.state.snapshot()
    snapshot["p"][0]["hp"] = -5
    cards = {card.base_id: card for card in match.cards}
    decks = [[[c.id, c.card.base_id] for c in (*p.hand, *p.deck)] for p in match.state.players]
    observation = State.from_snapshot(snapshot, cards, decks).observation(0)
    for name in AGENTS:
        assert make_agent(name).act(observation) == "PASS"


# -------------------------------------------------------------------------------------- random


def test_random_decks_are_any_decks():
    match = Match(seed=2)
    chosen = Counter()
    twice = 0
    for seed in range(40):
        agent = RandomAgent()
        agent.reset(seed)
        line = agent.choose(match.observation(0))
        deck = [int(part.removeprefix("CHOOSE ")) for part in line.split(";")]
        assert len(deck) == 30
        assert max(Counter(deck).values()) <= 2
        chosen.update(deck)
        twice += max(Counter(deck).values()) == 2
    assert len(chosen) == 120
    assert max(chosen.values()) < 25
    assert twice > 0


def test_random_picks_are_any_picks():
    observation = Match("1.2", seed=2).observation(0)
    picks = Counter()
    for seed in range(90):
        agent = RandomAgent()
        agent.reset(seed)
        picks[agent.choose(observation)] += 1
    assert set(picks) == {"PICK 0", "PICK 1", "PICK 2"}
    assert max(picks.values()) < 45


def test_random_actions_are_uniform_until_one_is_pass():
    match = Match(seed=9)
    play_until(match, turn=6)
    observation = match.observation(0)
    legal = [match.state.action_to_string(action) for action in match.state.legal_actions()]
    first = Counter()
    for seed in range(300):
        agent = RandomAgent()
        agent.reset(seed)
        first[agent.act(observation).split(";")[0]] += 1
    assert set(first) == set(legal)
    assert max(first.values()) < 3 * 300 / len(legal)


# ---------------------------------------------------------------------------------- evaluation


def turns(rules: str, seeds: range) -> list[State]:
    """Positions in which players are asked, in games of greedy agents."""
    states = []
    for seed in seeds:
        match = Match(rules, seed=seed)
        agents = make_agent("greedy"), make_agent("greedy")
        while match.to_ask:
            player = match.to_ask[0]
            if match.state is not None and not match.state.is_terminal():
                states.append(match.state.clone())
            match.submit(player, answer(agents[player], match.observation(player)))
    return states


def value(state: State, player: int) -> float:
    return EVALUATION(state.snapshot(), player, RULES[state.rules])


@pytest.mark.parametrize("rules", RULE_SETS)
def test_evaluation_has_no_favourite(rules):
    for state in turns(rules, range(2)):
        assert value(state, 0) == pytest.approx(-value(state, 1))


def changed(state: State, **fields: int) -> float:
    """What the player to move gains if he has other numbers."""
    snapshot = state.snapshot()
    player = state.current_player()
    before = EVALUATION(snapshot, player, RULES[state.rules])
    snapshot["p"][player].update(fields)
    return EVALUATION(snapshot, player, RULES[state.rules]) - before


def test_terms_of_the_evaluation():
    match = Match(seed=5)
    play_until(match, turn=4)
    state = match.state
    me = state.snapshot()["p"][0]
    base = {"hp": 25, "draw": 1, "deck": 10}
    snapshot = state.snapshot()
    snapshot["p"][0].update(base)

    def gain(**fields: object) -> float:
        other = {**snapshot, "p": [{**snapshot["p"][0], **fields}, snapshot["p"][1]]}
        rules = RULES["1.5"]
        return EVALUATION(other, 0, rules) - EVALUATION(snapshot, 0, rules)

    assert gain(hp=26) == pytest.approx(EVALUATION.health)
    assert gain(hp=9) < -16 * EVALUATION.health  # low health costs more
    hand = me["hand"]
    assert len(hand) < 7
    assert gain(draw=2) == pytest.approx(EVALUATION.card)
    assert gain(draw=8) == gain(draw=8 - len(hand))  # no room in the hand for more
    assert gain(deck=0) == pytest.approx(EVALUATION.deck_out - EVALUATION.card)
    assert gain(hand=[*hand, 90]) == pytest.approx(EVALUATION.card)


def test_creatures_of_the_evaluation():
    def creature(attack: int, defense: int, abilities: str, lane: int = 0) -> list[object]:
        return [2, 0, attack, defense, abilities, lane, 0, 0]

    def worth(*board: list[object], enemy_health: int = 30, guard: bool = False) -> float:
        side = {"hp": 30, "hand": [], "draw": 1, "deck": 10, "board": list(board)}
        wall = [[60, 0, 0, 1, "---G--", 0, 0, 0]] if guard else []
        other = {**side, "hp": enemy_health, "board": wall}
        empty = {**side, "board": []}
        rules = RULES["1.5"]
        with_it, without = ({"winner": -1, "p": [mine, other]} for mine in (side, empty))
        return EVALUATION(with_it, 0, rules) - EVALUATION(without, 0, rules)

    plain = worth(creature(3, 3, "------"))
    assert plain > 0
    for abilities in ("B-----", "--D---", "---G--", "----L-", "-----W"):
        assert worth(creature(3, 3, abilities)) > plain
    assert worth(creature(0, 3, "----L-")) == worth(creature(0, 3, "------"))
    assert worth(creature(4, 3, "------")) > plain < worth(creature(3, 4, "------"))
    # Held back by a Guard; enough to kill.
    assert worth(creature(3, 3, "------"), guard=True) == pytest.approx(
        plain - 3 * EVALUATION.open_attack
    )
    assert worth(creature(3, 3, "------"), enemy_health=3) == pytest.approx(
        plain + EVALUATION.threat
    )
    full = [creature(0, 0, "------") for _ in range(3)]
    apart = [*full[:2], creature(0, 0, "------", lane=1)]
    assert worth(*full) == pytest.approx(worth(*apart) - EVALUATION.room)


# ------------------------------------------------------------------------------------- own turn


@pytest.mark.parametrize("rules", RULE_SETS)
def test_greedy_takes_the_best_action_each_time(rules):
    for state in turns(rules, range(1)):
        player = state.current_player()
        for action in [*greedy_turn(state, EVALUATION), None]:
            values = {a: value(state.child(a), player) for a in state.legal_actions()[1:]}
            if action is None:
                assert all(v <= value(state, player) for v in values.values()) or (
                    state.is_terminal()
                )
            else:
                assert values[action] == max(values.values()) > value(state, player)
                state.apply_action(action)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_beam_misses_no_pair_of_actions(rules):
    """The turn found is no worse than the best one of two actions."""
    better = 0
    for state in turns(rules, range(2)):
        player = state.current_player()
        best = value(state, player)
        for first in state.legal_actions()[1:]:
            child = state.child(first)
            values = [value(child.child(a), player) for a in child.legal_actions()[1:]]
            best = max([best, value(child, player), *values])
        found = state.clone()
        for action in beam_search(state, EVALUATION, Budget(), widths=(6, 150)):
            found.apply_action(action)
        assert value(found, player) >= best
        greedy = state.clone()
        for action in greedy_turn(state, EVALUATION):
            greedy.apply_action(action)
        better += value(found, player) > value(greedy, player)
    assert better > 0


def test_beam_counts_orders_once():
    """As many positions as there are sets of actions, not sequences."""
    match = Match(seed=9)
    play_until(match, turn=4)
    state = match.state
    budget = Budget(nodes=10_000)
    beam_search(state, EVALUATION, budget, widths=(10_000,))
    keys = {state.key()}
    left = [state]
    edges = 0
    while left:
        node = left.pop()
        for action in node.legal_actions()[1:]:
            child = node.child(action)
            edges += 1
            if child.key() not in keys:
                keys.add(child.key())
                left.append(child)
    assert 10_000 - budget.nodes <= edges


class Clock:
    """Stands for the module `time`: each look at it takes a tenth of a millisecond."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        self.now += 1e-4
        return self.now


@pytest.mark.parametrize(("rules", "allowed_ms"), [("1.5", 100), ("1.2", 100), ("1.0", 40)])
def test_baseline_stops_at_the_deadline(rules, allowed_ms, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(turnsearch, "time", clock)
    used = []
    for state in turns(rules, range(2)):
        started = clock.now
        BaselineAgent().plan(state, started)
        used.append(1000 * (clock.now - started))
    assert max(used) == pytest.approx(allowed_ms, abs=1)


@pytest.mark.parametrize("spec", ["beam", "mcts"])
@pytest.mark.parametrize(("rules", "limits"), [("1.5", (1000, 200)), ("1.0", (1000, 100))])
def test_searches_keep_well_below_the_limits(spec, rules, limits, monkeypatch):
    """They are given at most seven tenths of a turn's limit, the time gone by taken off; more for
    the first turn, whose limit is higher."""
    agent = make_agent(spec, time_ms=1000.0)
    given = []

    def search(observation, *, time_ms, **_):
        given.append(time_ms)
        return SearchResult([], "PASS", 0.0, 0, 0, 0, 0, [], 0.0)

    monkeypatch.setattr(agent.search, "search", search)
    match = Match(rules, seed=2)
    play(match, (agent, make_agent("random")))
    first, *others = given
    assert 0.3 * limits[1] < first <= 0.7 * limits[0]
    assert len(others) > 3
    assert all(0.3 * limits[1] < time_ms <= 0.7 * limits[1] for time_ms in others)
    # More, if a referee waits longer.
    given.clear()
    agent.share = 2.0
    agent.reset()
    play(Match(rules, seed=2), (agent, make_agent("random")))
    first, *others = given
    assert all(limits[1] < time_ms <= 2 * limits[1] for time_ms in others)


@pytest.mark.parametrize("name", ["beam", "mcts"])
def test_search_agents_take_the_options_of_their_search(name):
    agent = make_agent(f"{name}:worlds=7,turns=2,lethal_share=0.5")
    assert agent.search.options.worlds == 7
    assert agent.search.options.turns == 2
    assert agent.search.options.lethal_share == 0.5
    agent = make_agent(name, evaluation=SearchEvaluation({"own.health": 0.9}))
    assert agent.search.evaluation["own.health"] == 0.9


@pytest.mark.parametrize("name", ["beam", "mcts"])
def test_search_agents_take_all_cards_for_likely_if_told_to(name):
    """The opponent's hidden cards by either belief, summed over samples: how dear they are."""

    def cost(spec: str) -> int:
        agent, match = make_agent(spec), Match(seed=6)
        for seed in (0, 1):  # in a second game, too
            agent.reset(seed)
        match.submit(0, agent.choose(match.observation(0)))
        match.submit(1, "PASS")
        agent.belief.see(match.observation(0))
        views = [agent.belief.sample(seed).players[1] for seed in range(20)]
        return sum(item.card.cost for view in views for item in view.deck)

    likely, anything = (cost(f"{name}:belief={belief}") for belief in ("score", "any"))
    assert cost(name) == likely
    assert anything > 2 * likely


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("beam:belief=no", "agent beam: belief: expected one of score, any, got 'no'"),
        ("beam:share=0.0", "agent beam: share: expected more than 0, got 0.0"),
        ("beam:time_ms=0", "agent beam: one of time_ms and iterations must be above 0"),
        ("beam:exploration=1.0", "agent beam: unknown option 'exploration', expected deck"),
        ("mcts:worlds=0", "agent mcts: worlds: expected 1 to 4096, got 0"),
        ("mcts:iterations=-1", "agent mcts: time_ms and iterations: expected 0 or more"),
    ],
)
def test_search_agents_refuse(spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def test_baseline_keeps_to_its_nodes():
    for state in turns("1.5", range(1)):
        agent = BaselineAgent(time_ms=0, nodes=50)
        budgets = [agent._budget("1.5", 0.0, share) for share in (agent.LETHAL_SHARE, 1.0)]
        assert [budget.nodes for budget in budgets] == [20, 50]
        agent.plan(state, 0.0)


# --------------------------------------------------------------------------------------- lethal


def test_there_are_enough_positions():
    assert len(KINDS) >= 20
    assert sorted(DATA.glob("lethal-*.json")) == sorted(map(lethal_data.path, KINDS))


@pytest.mark.parametrize("kind", KINDS)
def test_positions_are_what_they_are_called(kind):
    """By exhaustive search: the win takes all damage that is possible, and what the kind names."""
    lethal_data.check(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_baseline_wins_when_it_can(kind):
    """With a third of the positions that it looks at in its time."""
    state = load_position(lethal_data.path(kind))
    player = state.current_player()
    agent = make_agent("baseline", time_ms=0, nodes=1500)
    _, ignored = state.apply_line(agent.act(state.observation(player)))
    assert not ignored
    assert state.winner == player


@pytest.mark.parametrize("kind", KINDS)
def test_no_win_is_made_up(kind):
    """With one more health there is none."""
    state = load_position(lethal_data.path(kind))
    health = state.players[1 - state.current_player()].health
    assert find_lethal(lethal_data.with_health(state, health + 1), Budget()) is None
    for action in find_lethal(state, Budget()):
        state.apply_action(action)
    assert state.is_terminal()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_lethal_misses_nothing_in_games(rules):
    """The same answer as exhaustive search, in games of agents and with any health."""
    wins = 0
    for state in turns(rules, range(3)):
        try:
            most, _ = lethal_data.damage(state, 2000)
        except lethal_data.TooLarge:
            continue
        for health in (most, most + 1):
            if health > 0:
                position = lethal_data.with_health(state, health)
                found = find_lethal(position, Budget())
                assert (found is not None) == (health == most)
        wins += most > 0
    assert wins > 5


# ------------------------------------------------------------------------------------- registry


def test_make_agent():
    assert isinstance(make_agent("random"), RandomAgent)
    assert isinstance(make_agent("greedy:"), GreedyAgent)
    agent = make_agent("baseline:time_ms=50,deck=bodies", nodes=7)
    assert isinstance(agent, BaselineAgent)
    assert (agent.time_ms, agent.deck, agent.nodes) == (50.0, "bodies", 7)
    evaluation = Evaluation(card=0.0)
    assert make_agent("greedy", evaluation=evaluation) == GreedyAgent(evaluation=evaluation)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("minimax", "unknown agent 'minimax': expected one of random, greedy, baseline"),
        ("", "unknown agent ''"),
        ("baseline:fast", "agent baseline: expected option=value, got 'fast'"),
        (
            "baseline:depth=3",
            "agent baseline: unknown option 'depth', expected deck, draft, time_ms",
        ),
        ("random:deck=default", "agent random: unknown option 'deck', expected none"),
        ("baseline:nodes=many", "agent baseline: nodes: expected an integer, got 'many'"),
        (
            "baseline:nodes=-1",
            "agent baseline: time_ms and nodes: expected 0 or more, got 100.0 and -1",
        ),
        ("baseline:time_ms=nan", "agent baseline: time_ms and nodes: expected 0 or more"),
        ("baseline:time_ms=0", "agent baseline: one of time_ms and nodes must be above 0"),
        (
            "greedy:deck=best",
            "agent greedy: deck: expected one of default, score, classic, .*, got 'best'",
        ),
        ("greedy:draft=best", "agent greedy: draft: expected one of default, .*, got 'best'"),
        ("greedy:evaluation=x", "agent greedy: unknown option 'evaluation', expected deck, draft"),
    ],
)
def test_make_agent_says_what_is_wrong(spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def test_make_agent_knows_the_options_given_by_name():
    with pytest.raises(ValueError, match="agent greedy: unknown option 'nodes', expected deck"):
        make_agent("greedy", nodes=3)


def test_agents_of_ones_own():
    class Passer:
        def __init__(self, patience: int = 3) -> None:
            self.patience = patience

        def reset(self, seed: int = 0) -> None:
            pass

        def choose(self, observation: Observation) -> str:
            return "PASS"

        def act(self, observation: Observation) -> str:
            return "PASS"

    AGENTS["passer"] = Passer
    try:
        agent = make_agent("passer:patience=5")
        assert agent.patience == 5
        match = Match(seed=1)
        play(match, (agent, make_agent("greedy")))
        assert match.winner == 1
    finally:
        del AGENTS["passer"]


def test_a_deck_builder_of_ones_own():
    def creatures(cards):
        wanted = [card.base_id for card in cards if card.type == CardType.CREATURE]
        return list(itertools.islice((b for b in wanted for _ in range(2)), 30))

    match = Match(seed=1)
    agent = make_agent("greedy", deck=creatures)
    chosen = agent.choose(match.observation(0))
    assert chosen == ";".join(f"CHOOSE {b}" for b in creatures(match.cards))
