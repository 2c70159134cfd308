"""Whole matches with either instance ids: agents and the stdin bot play the same game."""

import io
import itertools
from collections.abc import Callable

import pytest
from amounts import amount

from locmsim import Match
from locmsim.agents import Agent, make_agent
from locmsim.bot import answer_all
from locmsim.game.ids2022 import IdTranslator
from locmsim.game.observation import Observation
from locmsim.search import Belief

#: Searches of so little work that answers depend on nothing but the seed.
KINDS = (
    "greedy",
    "beam:time_ms=0,nodes=60",
    "mcts:time_ms=0,iterations=60",
    "search:simulations=8",
    "learned",
)


class Bot:
    """What the stdin bot does with each text, without a process."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.translator = IdTranslator()

    def ask(self, match: Match, player: int) -> str:
        shown = self.translator.read(Observation.parse(match.input_text(player)))
        assert shown == match.observation(player)
        answer = self.agent.choose if shown.phase == "choice" else self.agent.act
        return self.translator.write(answer(shown))


def played(ids: str, seed: int, kinds: tuple[str, str], bots: tuple[bool, bool]) -> list[object]:
    """Play a match; return all that happened, in today's ids."""
    match = Match(seed=seed, ids=ids)
    beliefs = Belief(), Belief()
    ask: list[Callable[[Match, int], str]] = []
    for kind, is_bot in zip(kinds, bots, strict=True):
        agent = make_agent(kind)
        agent.reset(seed)
        ask.append(
            Bot(agent).ask if is_bot else lambda match, p, agent=agent: match.ask(agent, p)()
        )
    told: list[object] = []
    while match.to_ask:
        for player in match.to_ask:
            shown, belief = match.observation(player), beliefs[player]
            belief.see(shown)
            if shown.phase == "battle":
                assert match.state is not None
                assert shown.replace(opponent_actions=()) == match.state.observation(player)
                told.append((belief.seat, belief.opponent_cards, belief.played_cards))
                assert belief.seat == player
            result = match.submit(player, ask[player](match, player))
            assert match.error is None
            assert [text for text in result.ignored if text != "PASS"] == []
            told.append((player, result.applied))
        if match.state is not None and match.turn == 0:
            for belief, chosen in zip(beliefs, match.chosen, strict=True):
                belief.chose(chosen)
    return [*told, match.winner]


def same_games(kinds: tuple[str, str], seed: int) -> None:
    plain = played("new", seed, kinds, (False, False))
    assert played("old", seed, kinds, (False, False)) == plain
    assert played("old", seed, kinds, (True, seed % 2 == 0)) == plain
    assert played("new", seed, kinds, (seed % 2 == 0, True)) == plain


def test_a_copy_that_died_in_its_turn() -> None:
    """In this game an area copy attacks in the turn of its summon and dies in it."""
    same_games(("learned", "learned"), 151)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [*itertools.combinations_with_replacement(KINDS, 2)])
def test_many_matches_are_the_same_with_either_ids(kinds: tuple[str, str]) -> None:
    for seed in range(amount(20, most=300)):
        same_games(kinds, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(amount(10, 20, 60)))
def test_copies_are_followed_in_games_of_many(seed: int) -> None:
    """Cheap players with many area copies: the rules play decks of them."""
    same_games(("rule", "greedy"), 100 + seed)


def test_the_stdin_bot_recognises_the_ids() -> None:
    """The reported failure: the copy 61 was attacked with as the card 60."""
    match = Match(seed=3, ids="old")
    agents = [make_agent("greedy"), make_agent("greedy")]
    texts = ["", ""]
    answers: list[list[str]] = [[], []]
    while match.to_ask:
        for player in match.to_ask:
            texts[player] += match.input_text(player)
            answers[player].append(match.ask(agents[player], player)())
            result = match.submit(player, answers[player][-1])
            assert [text for text in result.ignored if text != "PASS"] == []
    for player in (0, 1):
        for ids in (None, "old"):
            out = io.StringIO()
            with pytest.raises(EOFError):
                answer_all(make_agent("greedy"), io.StringIO(texts[player]), out, ids)  # type: ignore[arg-type]
            assert out.getvalue().splitlines() == answers[player]
