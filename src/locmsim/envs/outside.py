"""Opponents that Python plays for: agents, functions and policies.

None of them is given a state. An agent is shown the `Observation` that the referee would send, a
function or a policy the numbers of an observation layout and the mask.
"""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from locmsim.agents import make_agent
from locmsim.game.layouts import get_layout
from locmsim.game.observation import CardInPlay, Observation, PlayerLine
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import DEFAULT_RUNES, START_HEALTH

if TYPE_CHECKING:
    from locmsim.envs.games import Games

__all__ = ["Outside", "choice_observations", "outside_opponent", "show_choice"]


class Outside(Protocol):
    """Plays an opponent's turns in one row."""

    def play(self, games: "Games", row: int) -> None:
        """Play actions until the learner is to move or the episode is over."""


def outside_opponent(opponent: Any, games: "Games") -> Outside:
    """What plays for an opponent of `Options.opponent`; ``ValueError`` if nothing can."""
    if isinstance(opponent, str):
        return _AgentPlayer(make_agent(opponent))
    if hasattr(opponent, "act_batch") and hasattr(opponent, "layout"):
        return _PolicyPlayer(opponent)
    if hasattr(opponent, "act") and hasattr(opponent, "reset"):
        return _AgentPlayer(opponent)
    if callable(opponent):
        return _FunctionPlayer(opponent)
    raise ValueError(
        "opponent: expected a name, an Agent, a Policy, a Pool or a function"
        f" (observation, mask) -> action, got {opponent!r}"
    )


class _FunctionPlayer:
    """A function (observation, mask) -> action, in the layout of the rows."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __deepcopy__(self, memo: dict[int, Any]) -> "_FunctionPlayer":
        return self  # all rows ask the same function: that of a network in training, say

    def play(self, games: "Games", row: int) -> None:
        rows = games.rows
        who = 1 - rows.seat(row)
        going = True
        while going:
            observation = np.empty(games.layout.shape, games.layout.dtype)
            mask = np.empty(rows.n_actions, np.int8)
            rows.observe(row, who, observation, mask)
            going = rows.play(row, int(self.function(observation, mask)))


class _PolicyPlayer:
    """A policy, in its own layout."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def __deepcopy__(self, memo: dict[int, Any]) -> "_PolicyPlayer":
        return _PolicyPlayer(self.policy)  # never changed by playing

    def play(self, games: "Games", row: int) -> None:
        rows = games.rows
        who = 1 - rows.seat(row)
        layout = get_layout(self.policy.layout, games.rules.name)
        observation = np.empty((1, *layout.shape), layout.dtype)
        mask = np.empty((1, rows.n_actions), np.int8)
        going = True
        while going:
            rows.observe(row, who, observation, mask, layout.name)
            action = self.policy.act_batch(observation, mask, seed=rows.draw(row))[0]
            going = rows.play(row, int(action))


class _AgentPlayer:
    """An `Agent`: it is shown the choice phase and then a text for each of its turns."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.episode: int | None = None

    def play(self, games: "Games", row: int) -> None:
        rows = games.rows
        who = 1 - rows.seat(row)
        state = rows.state(row)
        if self.episode != rows.episode(row):
            self.episode = rows.episode(row)
            self.agent.reset(rows.draw(row) >> 1)
            _show_deal(self.agent, games, row, who)
        observation = rows.observation(row, who)
        going = True
        for action in state.actions_of(self.agent.act(observation)):
            going = going and rows.play(row, action)
        if going:
            rows.play(row, 0)


def choice_observations(rules: str, offers: list[list[Card]], player: int) -> list[Observation]:
    """What a player is shown in the choice phase: one offer (1.5) or a draft's."""
    result = []
    for step, offer in enumerate(offers):
        rows = tuple(map(CardInPlay.offer, offer))
        if rules == "1.5":
            me = opponent = PlayerLine(START_HEALTH, 0, 0, 0)
        else:
            me = PlayerLine(START_HEALTH, 0, step, 0, max(DEFAULT_RUNES))
            opponent = me._replace(deck_size=step + player)
        result.append(Observation(rules, me, opponent, 0, (), rows))
    return result


def show_choice(
    agent: Any, rules: str, offers: list[list[Card]], player: int, chosen: list[int]
) -> None:
    """Let an agent's belief see a choice phase, with the deck that it has been given."""
    belief = getattr(agent, "belief", None)
    if belief is None:
        return
    for observation in choice_observations(rules, offers, player):
        belief.see(observation)
    belief.chose(chosen)


def _show_deal(agent: Any, games: "Games", row: int, who: int) -> None:
    if not games.rows.dealt(row):
        return
    cards = games.cards(row)
    if games.rules.draft:
        offers = [[cards[i] for i in triplet] for triplet in games.rows.offers(row)]
    else:
        offers = [sorted(cards, key=lambda card: (card.cost, card.base_id))]
    deck = [cards[i].base_id for i in games.rows.decks(row)[who]]
    show_choice(agent, games.rules.name, offers, who, deck)
