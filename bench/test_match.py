"""Protocol text, cards and matches."""

from itertools import count

import pytest

from locmsim import Match, Observation, generate_cards
from locmsim.agents import make_agent
from locmsim.bench import typical
from locmsim.referee import play


@pytest.fixture
def observation(rules):
    state, _ = typical(rules)[0]
    return Observation.of(state, state.current_player())


@pytest.mark.benchmark(group="match")
class TestMatch:
    def test_observation_of_a_state(self, benchmark, rules):
        state, _ = typical(rules)[0]
        benchmark(Observation.of, state, state.current_player())

    def test_format(self, benchmark, observation):
        benchmark(observation.format)

    def test_parse(self, benchmark, observation):
        assert benchmark(Observation.parse, observation.format(), observation.rules) == observation

    def test_legal_actions_of_an_observation(self, benchmark, observation):
        assert benchmark(observation.legal_actions)

    def test_generate_cards(self, benchmark):
        assert len(benchmark(generate_cards, 1)) == 120

    def test_new_match(self, benchmark, rules):
        """With another seed each time: the cards of the last ones are kept."""
        seeds = count(1)
        benchmark(lambda: Match(rules, seed=next(seeds)))

    @pytest.mark.parametrize("player", ["random", "greedy"])
    def test_match(self, benchmark, rules, player):
        """A whole match between agents of this process."""
        seeds = count(1)
        agents = make_agent(player), make_agent(player)

        def match():
            seed = next(seeds)
            for agent in agents:
                agent.reset(seed)
            return play(agents, Match(rules, seed=seed))

        assert benchmark(match).fault is None
