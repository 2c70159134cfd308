"""Agents: what they answer, in whole matches and in positions with one right answer."""

import itertools
from collections import Counter

import pytest
from helpers import RULE_SETS, begun_match, each_rules, raises
from oracles.agents import osl_choices
from states import asked_positions

from locmsim import Match, State
from locmsim.agents import (
    AGENTS,
    Agent,
    BaseAgent,
    RandomAgent,
    make_agent,
)
from locmsim.agents._scripted import choose_action
from locmsim.agents.greedy import HAND_SET_WEIGHTS, greedy_turn
from locmsim.game.observation import Observation
from locmsim.policy import Policy
from locmsim.rules.cards import Card, CardType
from locmsim.search import Evaluation, SearchResult

SMALL_BEAM = "beam:time_ms=0,nodes=1000"
SMALL_MCTS = "mcts:time_ms=0,iterations=20"
SPECS = ["random", "greedy", "rule", "osl", "max-attack", SMALL_BEAM, SMALL_MCTS]
VALUE = Evaluation(HAND_SET_WEIGHTS, network=None)


def answer(agent: Agent, observation: Observation) -> str:
    ask = agent.choose if observation.phase == "choice" else agent.act
    return ask(observation)


def play(match: Match, agents: tuple[Agent, Agent]) -> list[str]:
    """Play a match out and return the answers. Each action must be legal when its turn comes."""
    lines = []
    while match.to_ask:
        player = match.to_ask[0]
        lines.append(answer(agents[player], match.observation(player)))
        result = match.submit(player, lines[-1])
        assert result.error is None
        assert result.ignored in ([], ["PASS"])
    return lines


@each_rules
@pytest.mark.parametrize(
    ("specs", "seeds"),
    [
        (("random", "greedy"), [5]),
        (("greedy", "osl"), [5]),
        (("max-attack", "random"), [5]),
        (("rule", "random"), range(3)),
        ((SMALL_BEAM, SMALL_MCTS), [5]),
    ],
)
def test_whole_matches(rules, specs, seeds):
    for seed, seats in itertools.product(seeds, (specs, specs[::-1])):
        agents = tuple(map(make_agent, seats))
        for agent in agents:
            agent.reset(1)
        match = Match(rules, seed=seed)
        play(match, agents)
        assert match.scores == [1 - match.winner, match.winner]
        if "random" in seats:
            assert match.winner == 1 - seats.index("random")


@each_rules
@pytest.mark.parametrize("spec", SPECS)
def test_the_seed_decides(rules, spec):
    """... whatever the agent has played before."""
    agents = make_agent(spec), make_agent("random")

    def game(seed: int) -> list[str]:
        for agent in agents:
            agent.reset(seed)
        return play(Match(rules, seed=1), agents)

    first = game(1)
    assert game(2) != first
    assert game(1) == first


@pytest.mark.parametrize("spec", SPECS)
@each_rules
def test_what_is_hidden_does_not_matter(rules, spec):
    """An agent gives the same answer when the deck's order and the opponent's hand are redrawn."""
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
    assert spec == "random" or lines != {"PASS"}


def play_until(match: Match, turn: int) -> None:
    agents = make_agent("greedy"), make_agent("greedy")
    while match.state is None or match.state.turn < turn:
        player = match.to_ask[0]
        match.submit(player, answer(agents[player], match.observation(player)))


def test_dead_from_drawing_but_asked(tmp_path):
    Policy.random().save(tmp_path / "a.npz")
    match = Match(seed=1)
    play_until(match, turn=2)
    snapshot = match.state.snapshot()
    snapshot["p"][0]["hp"] = -5
    snapshot["winner"] = 1
    cards = {card.base_id: card for card in match.cards}
    decks = [[[c.id, c.card.base_id] for c in (*p.hand, *p.deck)] for p in match.state.players]
    observation = State.from_snapshot(snapshot, cards, decks).observation(0)
    for name in AGENTS:
        options = {"path": str(tmp_path / "a.npz")} if name == "policy" else {}
        assert make_agent(name, **options).act(observation) == "PASS"


# -------------------------------------------------------------------------------------- random


def at_random(observation, seeds):
    """Yield what random agents with these seeds answer."""
    for seed in range(seeds):
        agent = RandomAgent()
        agent.reset(seed)
        yield answer(agent, observation)


def test_random_decks_are_any_decks():
    chosen = Counter()
    twice = 0
    for line in at_random(Match(seed=2).observation(0), 40):
        deck = [int(part.removeprefix("CHOOSE ")) for part in line.split(";")]
        assert len(deck) == 30
        assert max(Counter(deck).values()) <= 2
        chosen.update(deck)
        twice += max(Counter(deck).values()) == 2
    assert len(chosen) == 120
    assert max(chosen.values()) < 25
    assert twice > 0


def test_random_picks_are_any_picks():
    picks = Counter(at_random(Match("1.2", seed=2).observation(0), 90))
    assert set(picks) == {"PICK 0", "PICK 1", "PICK 2"}
    assert max(picks.values()) < 45


def test_random_actions_are_uniform_until_one_is_pass():
    match = Match(seed=9)
    play_until(match, turn=6)
    legal = [match.state.action_to_string(action) for action in match.state.legal_actions()]
    first = Counter(line.split(";")[0] for line in at_random(match.observation(0), 300))
    assert set(first) == set(legal)
    assert max(first.values()) < 3 * 300 / len(legal)


# --------------------------------------------------------------- one action after the other


@each_rules
def test_greedy_takes_the_best_action_each_time(rules):
    for state in asked_positions(rules, range(2), "greedy", "greedy"):
        player = state.current_player()
        for action in [*greedy_turn(state, VALUE), None]:
            values = {a: VALUE(state.child(a), player) for a in state.legal_actions()[1:]}
            if action is None:
                assert max(values.values(), default=-2000.0) <= VALUE(state, player)
            else:
                assert values[action] == max(values.values()) > VALUE(state, player)
                state.apply_action(action)


@each_rules
def test_greedy_needs_no_guess_at_hidden_cards(rules, monkeypatch):
    """Agents that look at their own turn only need no belief, which is slow to compute."""
    monkeypatch.setattr("locmsim.search.belief.prior", None)
    for spec in ("random", "greedy", "osl", "max-attack", "rule"):
        match = Match(rules, seed=3)
        play(match, (make_agent(spec), make_agent("random")))
        assert match.winner is not None


def test_greedy_evaluates_by_hand_set_weights():
    """The weights are the same for both players in all rule sets, and are not tuned ones."""
    assert {
        f"own.{name[6:]}": w for name, w in HAND_SET_WEIGHTS.items() if name[:6] == "their."
    } == {name: weight for name, weight in HAND_SET_WEIGHTS.items() if name[:4] == "own."}
    for rules in RULE_SETS:
        state = asked_positions(rules, range(1), "greedy", "greedy")[6]
        assert VALUE(state, 0) == pytest.approx(-VALUE(state, 1))
    agent = make_agent("greedy", evaluation=lambda state, player: 0.0)
    assert agent.plan(asked_positions("1.5", range(1), "greedy", "greedy")[4], 0.0) == []


@each_rules
def test_scripted_agents_answer_what_they_choose_action_by_action(rules):
    """A turn computed from the observation alone is the one that the slow references play."""
    for spec in ("osl", "max-attack", "greedy"):
        agent = make_agent(spec)
        slow = make_agent("greedy", evaluation=VALUE.compiled)
        for state in asked_positions(rules, range(2), spec, spec):
            observation = state.observation(state.current_player())
            if spec == "greedy":
                agent.reset()
                slow.reset()
                assert agent.act(observation) == slow.act(observation)
                continue
            expected = []
            while not state.is_terminal() and (action := choose_action(spec, state)):
                expected.append(state.action_to_string(action))
                state.apply_action(action)
            assert agent.act(observation) == (";".join(expected) or "PASS")


def test_osl_breaks_ties_as_gym_locm_does():
    """Creatures are preferred to the player, whose number is lower, and lane 0 to lane 1."""
    blue = Card(1, CardType.BLUE, 0, -2, -2)
    body = Card(2, CardType.CREATURE, 0, 2, 4)
    state = State.new([blue] * 30, [body] * 30)
    state.apply_action(0)
    first, second, *_ = (held.id for held in state.players[1].hand)
    state.apply_action(state.string_to_action(f"SUMMON {first} 1"))
    state.apply_action(state.string_to_action(f"SUMMON {second} 0"))
    state.apply_action(0)
    item = state.players[0].hand[0].id
    # Two points of attack and two of defense are worth as much as two of health.
    expected = [f"USE {item} {second}", f"USE {item} {first}", f"USE {item} -1"]
    assert osl_choices(state) == expected
    assert state.action_to_string(choose_action("osl", state)) == expected[0]


@pytest.mark.parametrize("spec", ["beam", "mcts"])
@pytest.mark.parametrize(("rules", "limits"), [("1.5", (1000, 200)), ("1.0", (1000, 100))])
def test_searches_keep_well_below_the_limits(spec, rules, limits):
    """A search gets at most six tenths of a turn's limit, less the time already used.

    The limit of the first turn is higher, so it gets more there.
    """
    agent = make_agent(spec, time_ms=1000.0)
    given = []

    def search(observation, *, time_ms, **_):
        given.append(time_ms)
        return SearchResult([], "PASS", 0.0, 0, 0, 0, 0, [], 0.0)

    agent.search.search = search
    match = Match(rules, seed=2)
    play(match, (agent, make_agent("random")))
    first, *others = given
    assert 0.3 * limits[1] < first <= 0.6 * limits[0]
    assert len(others) > 3
    assert all(0.3 * limits[1] < time_ms <= 0.6 * limits[1] for time_ms in others)
    # A referee that waits longer allows more time.
    given.clear()
    agent.share = 2.0
    agent.reset()
    play(Match(rules, seed=2), (agent, make_agent("random")))
    first, *others = given
    assert all(limits[1] < time_ms <= 2 * limits[1] for time_ms in others)


@pytest.mark.parametrize("name", ["beam", "mcts"])
def test_search_agents_take_the_options_of_their_search(name):
    agent = make_agent(f"{name}:worlds=7,turns=2,wins_share=0.5", deck="bodies")
    assert (agent.deck, agent.search.options.worlds) == ("bodies", 7)
    assert agent.search.options.turns == 2
    assert agent.search.options.wins_share == 0.5
    agent = make_agent(name, evaluation=Evaluation({"own.health": 0.9}))
    assert agent.search.evaluation["own.health"] == 0.9


@pytest.mark.parametrize("name", ["beam", "mcts"])
def test_search_agents_take_all_cards_for_likely_if_told_to(name):
    """The two beliefs differ in the cost of hidden cards, summed over samples."""

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


# ------------------------------------------------------------------------------------- registry


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("beam:belief=no", "agent beam: belief: expected one of score, any, got 'no'"),
        ("beam:share=0.0", "agent beam: share: expected more than 0, got 0.0"),
        ("beam:time_ms=0", "agent beam: one of time_ms and nodes must be above 0"),
        ("mcts:time_ms=0,iterations=9,share=0.5", "agent mcts: share: needs time_ms"),
        ("beam:exploration=1.0", "agent beam: unknown option 'exploration', expected deck"),
        ("mcts:worlds=0", "agent mcts: worlds: expected 1 to 4096, got 0"),
        ("", "unknown agent ''"),
        (
            "greedy:deck=best",
            "agent greedy: deck: expected one of default, score, classic, .*, got 'best'",
        ),
        ("greedy:draft=best", "agent greedy: draft: expected one of default, .*, got 'best'"),
        ("greedy:evaluation=x", "agent greedy: unknown option 'evaluation', expected deck, draft"),
    ],
)
def test_make_agent_says_what_is_wrong(spec, message):
    raises(ValueError, message, make_agent, spec)
    raises(ValueError, "agent greedy: unknown option 'nodes'", make_agent, "greedy", nodes=3)


def test_a_deck_builder_of_ones_own():
    def creatures(cards):
        wanted = [card.base_id for card in cards if card.type == CardType.CREATURE]
        return list(itertools.islice((b for b in wanted for _ in range(2)), 30))

    match = Match(seed=1)
    agent = make_agent("greedy", deck=creatures)
    chosen = agent.choose(match.observation(0))
    assert chosen == ";".join(f"CHOOSE {b}" for b in creatures(match.cards))


@pytest.mark.parametrize("plan", [None, 3, "PASS"])
def test_a_plan_is_a_list_of_actions(plan: object) -> None:
    """A `plan` that forgets to return its actions, or returns an answer line, is told so."""

    class Mine(BaseAgent):
        def plan(self, state: State, started: float) -> list[int]:
            return plan  # type: ignore[return-value]

    match = begun_match(seed=1)
    agent = Mine()
    agent.reset()
    with pytest.raises(TypeError, match=f"plan: expected a list of actions, got {plan!r}"):
        agent.act(match.observation(0))
