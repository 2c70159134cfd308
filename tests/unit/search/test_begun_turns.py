"""Searches of a turn that has begun: what was done so far holds in every world."""

import random

import pytest
from amounts import amount
from helpers import each_rules, raises
from states import after

from locmsim import IllegalActionError
from locmsim.agents import make_agent
from locmsim.game.positions import random_game, start_position
from locmsim.search import MCTS, BeamSearch, Belief, analyse
from locmsim.search.turn_search import determinizer_at

SEARCHES = {"beam": (BeamSearch(), {"nodes": 2000}), "mcts": (MCTS(), {"iterations": 20})}

PUBLIC = (
    "health", "max_mana", "mana", "bonus_mana", "next_draw", "shown_draw", "lost_health", "runes",
    "hand_size", "deck_size", "effects_forgotten",
)  # fmt: skip

each_search = pytest.mark.parametrize("search", SEARCHES)


def turn_starts(seed, rules):
    turns = {}
    for state, _ in random_game(start_position(seed, rules), seed):
        turns.setdefault(state.turn, state)
    return [*turns.values()]


def begun_turns(rules, seeds=range(1, 13)):
    """Yield starts of turns, some random actions, and the state after them with a move left."""
    for seed in seeds:
        rng = random.Random(seed)
        for start in turn_starts(seed, rules)[4::5]:
            state, done = start.clone(), []
            for _ in range(rng.randint(1, 3)):
                actions = [action for action in state.legal_actions() if action]
                if not actions:
                    break
                done.append(rng.choice(actions))
                state.apply_action(done[-1])
            if done and not state.is_terminal() and len(state.legal_actions()) > 1:
                yield start, done, state


def public(state):
    """Return all that both players know of a position."""
    found = [state.rules, state.turn, state.current_player(), state.winner]
    for player in state.players:
        found += [getattr(player, name) for name in PUBLIC]
        found.append([(c.id, c.card, c.attack, c.defense, c.abilities) for c in player.board])
    return found


@each_rules
def test_worlds_are_those_after_what_was_done(rules):
    found = 0
    for start, done, state in begun_turns(rules):
        me = state.current_player()
        of_start = determinizer_at(start.observation(me), None, done, seed=1)[1]
        of_state = determinizer_at(state, None, (), seed=1)[1]
        for world in (of_start, of_state):
            mover = world.current_player()
            seen = state.observation(me)
            assert world.observation(mover) == seen.replace(opponent_actions=())
            assert world.legal_actions() == state.legal_actions()
        assert public(of_state) == public(state)
        found += 1
    assert found > 20


@each_rules
@each_search
def test_the_rest_of_a_turn_is_found(rules, search):
    search, budget = SEARCHES[search]
    for start, done, state in list(begun_turns(rules))[: amount(4, 6)]:
        observation = start.observation(start.current_player())
        line = ";".join(_texts(start, done))
        rest = search.search(observation, done=done, seed=3, **budget)
        same = search.search(observation, done=line, seed=3, **budget)
        assert (same.actions, same.line) == (rest.actions, rest.line)
        for asked, before in ((start, done), (state, ())):
            of_state = search.search(asked, done=before, seed=3, **budget)
            assert state.actions_of(of_state.line) == of_state.actions
            assert of_state.value == pytest.approx(rest.value, abs=0.6)
        assert state.actions_of(rest.line) == rest.actions
        assert search.search(observation, done="", seed=3, **budget).actions == (
            search.search(observation, seed=3, **budget).actions
        )


def _texts(state, actions):
    state = state.clone()
    for action in actions:
        yield state.action_to_string(action)
        state.apply_action(action)


@each_rules
@each_search
def test_a_win_is_found_from_its_middle(rules, search):
    """After any part of a winning turn, the search finds a rest that wins."""
    search, budget = SEARCHES[search]
    found = 0
    for seed in range(1, 60):
        for state in turn_starts(seed, rules)[12:]:
            whole = search.search(state, seed=1, **budget)
            if whole.value < 1 or len(whole.actions) < 3:
                continue
            for n in range(1, len(whole.actions)):
                middle = after(state, whole.actions[:n])
                for asked, done in ((state, whole.actions[:n]), (middle, ())):
                    rest = search.search(asked, done=done, seed=1, **budget)
                    assert rest.value == 1
                    end = after(middle, rest.actions)
                    assert end.returns()[state.current_player()] == 1
            found += 1
            break
        if found == amount(2, 3):
            break
    assert found == amount(2, 3)


@each_rules
def test_an_analysis_of_the_rest(rules):
    start, done, state = next(begun_turns(rules))
    observation = start.observation(start.current_player())
    of_done = analyse(observation, done=done, time_ms=None, nodes=500, worlds=5)
    of_state = analyse(state, time_ms=None, nodes=500, worlds=5)
    for found in (of_done, of_state):
        assert sum(line.searches for line in found.lines) == found.searches
        for line in found.lines:
            ids = [word.split()[1] for word in line.line.split(";") if word != "PASS"]
            assert len(state.actions_of(line.line)) == len(ids)


@each_rules
def test_an_agent_goes_on_with_its_turn(rules):
    start, done, state = next(begun_turns(rules))
    agent = make_agent("beam:time_ms=0,nodes=1000")
    raises(ValueError, "there is no turn yet", agent.continue_turn, done)
    agent.act(start.observation(start.current_player()))
    line = agent.continue_turn(done)
    assert agent.result.line == line
    assert state.actions_of(line) == agent.result.actions


def test_what_is_refused():
    start, done, state = next(begun_turns("1.5"))
    observation = start.observation(start.current_player())
    search = BeamSearch()
    illegal = next(a for a in range(1, 145) if a not in start.legal_actions())
    raises(IllegalActionError, r"^done: ", search.search, observation, nodes=10, done=[illegal])
    with pytest.raises(ValueError, match="done: the turn is over after it"):
        search.search(observation, nodes=10, done=[*done, 0])
    raises(ValueError, r"^done: ", search.search, observation, nodes=10, done="SUMMON x")
    belief = Belief()
    belief.see(state.observation(state.current_player()))
    with pytest.raises(ValueError, match="give the observation of its start and `done`"):
        search.search(state, nodes=10, belief=belief)
    belief = Belief.of_state(state, state.current_player())
    with pytest.raises(ValueError, match="its last observation is not this one"):
        search.search(start, nodes=10, belief=belief)
    assert search.search(state, nodes=10, belief=belief).actions
