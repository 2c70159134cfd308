"""Choosing cards: ``locmsim/Draft-v0`` (1.2, 1.0), ``Construct-v0`` (1.5) and ``Match-v0``.

The choice phase as an environment picks one card a step, thirty times; the battle that follows is
played by others (Draft, Construct) or by the learner too (Match).
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.agents import Agent, make_agent
from locmsim.agents._scripted import SCRIPTED, play_battle
from locmsim.contract import play_match
from locmsim.envs.battle import BattleEnv
from locmsim.envs.choice_phase import Choice, ChoiceLayout, battle_of, choice_of
from locmsim.envs.games import HIDDEN_SIZE, Options, options_of
from locmsim.envs.players import search_agent, show_choice
from locmsim.envs.rendering import (
    RENDER_MODES,
    battle_frame,
    battle_text,
    check_render_mode,
    choice_frame,
    choice_text,
    show,
)
from locmsim.errors import IllegalActionError
from locmsim.game.layouts import get_layout
from locmsim.game.match import Match
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import DECK_SIZE, get_rules

__all__ = ["ChoiceEnv", "ConstructEnv", "DraftEnv", "MatchEnv", "joint_spaces"]


# --------------------------------------------------------------------------- draft, construct


class ChoiceEnv(gymnasium.Env[Any, Any]):
    """Thirty picks, and a reward for what others make of the deck.

    Parameters
    ----------
    battlers : pair of str
        Who plays the battle: the learner's deck and the other one. Opponents of the kernel, or
        anything that `make_agent` takes; in "beam:nodes=N" nothing but nodes bounds the search.
    battles : int
        Battles that are played; the reward is the mean of their results, each 1 or -1. Each has
        other shuffles, the first one those of the match.
    render_mode : "ansi", "human", "rgb_array" (extra ``png``) or None
    **options
        Of `locmsim.envs.Options`: `rules`, `seat`, `decks` (the other seat's), `cards` (120),
        `card_sets`, `refresh`, `mask`, `illegal`, `privileged`.

    Notes
    -----
    Observations are int8 vectors of `ChoiceLayout`; masks have an entry for each offered card. With
    ``privileged`` there is a ``state`` too, of the form that `BattleEnv` has: the hands are empty,
    and of the decks, in the order of choice, the other player's is there from the start.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012
    #: Whether it drafts (1.x) or constructs (1.5).
    drafts: bool
    _default_rules: str

    def __init__(
        self,
        *,
        battlers: tuple[str, str] = ("beam:nodes=500", "beam:nodes=500"),
        battles: int = 1,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.options = options_of({"rules": self._default_rules, **options})
        rules = get_rules(self.options.rules)
        if rules.draft != self.drafts:
            raise ValueError(
                f"rules: {rules.name} has {'a draft' if rules.draft else 'no draft'}, expected"
                f" {'1.2 or 1.0' if self.drafts else '1.5'}"
            )
        if battles < 1:
            raise ValueError(f"battles: expected at least 1, got {battles}")
        if len(battlers) != 2:
            raise ValueError(f"battlers: expected two, got {battlers!r}")
        self.battlers = tuple(battlers)
        self._agents = [_battler(battler, self.battlers) for battler in self.battlers]
        self.battles = battles
        self._choice = choice_of(self.options)
        self.layout = self._choice.layout
        box = spaces.Box(-127, 127, self.layout.shape, np.int8)
        self.observation_space, self.action_space = _spaces(box, self._choice.actions, self.options)
        #: "choice" or "over".
        self.phase = "over"
        self._episode = 0
        self.seat = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a choice; `options` may have ``match`` (the referee's parameters) and ``seat``."""
        kept = self.kept()
        try:
            super().reset(seed=seed)
            self._begin(options or {}, 0 if seed is not None else self._episode)
        except BaseException:
            self.put_back(kept)
            raise
        if self.render_mode == "human":
            self.render()
        return self._seen(), self._info()

    def _begin(self, given: dict[str, Any], episode: int) -> None:
        """Begin the choice phase of an episode."""
        self.seat = _seat(self.options.seat, given.get("seat"), episode, self.np_random)
        self._choice.begin(self.np_random, episode, given.get("match"))
        self._other = self._choice.other_deck(self.seat, self.np_random)
        self._episode = episode + 1
        self.phase = "choice"

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pick a card. The last pick is followed by the battles."""
        result = self._take(action)
        if self.render_mode == "human":
            self.render()
        return result

    def _take(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.phase == "over":
            raise ResetNeeded("no episode is running: call reset first")
        action = int(action)
        mask = self._choice.mask()
        if not (0 <= action < len(mask) and mask[action]):
            if self.options.illegal == "raise":
                raise IllegalActionError(f"card {action} cannot be picked")
            if self.options.illegal == "lose":
                self.phase = "over"
                return self._seen(), -1.0, True, False, {**self._info(), "illegal": True}
            action = int(mask.argmax())
        self._choice.pick(action)
        if len(self._choice.chosen) < DECK_SIZE:
            return self._seen(), 0.0, False, False, self._info()
        self.phase = "over"
        reward, info = self._play()
        return self._seen(), reward, True, False, {**self._info(), **info, "illegal": False}

    def _seen(self) -> Any:
        observation = np.empty(self.layout.shape, np.int8)
        self._choice.write(observation)
        if self.options.mask == "info":
            return observation
        seen = {"observation": observation, "action_mask": self._mask()}
        if self.options.privileged:
            seen["state"] = self._choice.hidden(self._other)
        return seen

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"seat": self.seat, "step": len(self._choice.chosen)}
        if self.options.mask == "info":
            info["action_mask"] = self._mask()
        return info

    def _mask(self) -> NDArray[np.int8]:
        """1 for each card that may be picked; only the first one when the episode is over."""
        mask = self._choice.mask()
        if self.phase == "over":
            mask[:] = 0
            mask[0] = 1
        return mask

    def _play(self) -> tuple[float, dict[str, Any]]:
        """The battles: the mean result, and how they ended."""
        choice, random = self._choice, self.np_random
        decks = [[card.base_id for card in choice.chosen], self._other]
        battlers, agents = list(self.battlers), list(self._agents)
        if self.seat == 1:
            for pair in (decks, battlers, agents):
                pair.reverse()
        match = choice.match
        assert match is not None
        params = dict(match.params)
        lines = choice.lines(decks)
        winners = []
        for number in range(self.battles):
            battle = battle_of(choice.again(random) if number else match, lines)
            winners.append(_winner(battle, battlers, agents, random))
        won = [1.0 if winner == self.seat else -1.0 if winner >= 0 else 0.0 for winner in winners]
        about = {"rules": choice.rules.name, "params": params, "choices": lines}
        return float(np.mean(won)), {"winner": winners[0], "winners": winners, "match": about}

    @property
    def last_pick(self) -> bool:
        """Whether a legal pick is followed by the battles."""
        return self.phase == "choice" and len(self._choice.chosen) == DECK_SIZE - 1

    def action_masks(self) -> NDArray[np.bool_]:
        """bool array of the cards that may be picked."""
        return self._mask().astype(np.bool_)

    def render(self) -> Any:
        """The offered cards: a text, printed with "human", or uint8 (600, 800, 3)."""
        return show(self.render_mode, self.text, self.frame)

    def text(self) -> str:
        """The offered cards, and how many have been chosen."""
        return choice_text(self._choice.offer, self._choice.chosen)

    def frame(self) -> NDArray[np.uint8]:
        """The offered cards and the chosen ones as an array."""
        return choice_frame(self.options.rules, self._choice.offer, self._choice.chosen)

    def kept(self) -> tuple[Any, ...]:
        """All of the environment, for `put_back`: what a refused `reset` must not change."""
        return _kept(self)

    def put_back(self, kept: tuple[Any, ...]) -> None:
        """The environment as it was when it was `kept`."""
        _put_back(self, kept)


class DraftEnv(ChoiceEnv):
    """``locmsim/Draft-v0``: one card of three, thirty times (rules 1.2 and 1.0)."""

    drafts = True
    _default_rules = "1.2"


class ConstructEnv(ChoiceEnv):
    """``locmsim/Construct-v0``: thirty of 120 cards, none more than twice (rules 1.5)."""

    drafts = False
    _default_rules = "1.5"


def _kept(env: Any) -> tuple[Any, ...]:
    random = env._np_random
    return dict(env.__dict__), env._choice.kept(), random and random.bit_generator.state


def _put_back(env: Any, kept: tuple[Any, ...]) -> None:
    attributes, choice, random = kept
    env.__dict__.update(attributes)
    env._choice.put_back(choice)
    if random:
        env._np_random.bit_generator.state = random


def _seat(kind: str, given: Any, episode: int, random: np.random.Generator) -> int:
    drawn = int(random.integers(2))
    if given is not None:
        if given not in (0, 1):
            raise ValueError(f"seat: expected 0 or 1, got {given!r}")
        return int(given)
    return {"first": 0, "second": 1, "random": drawn, "alternate": episode % 2}[kind]


def _battler(name: str, battlers: tuple[str, ...]) -> Agent | None:
    """The agent who plays battles; None if the kernel plays all of them."""
    if all(battler in SCRIPTED for battler in battlers):
        return None
    if name == "pass":
        raise ValueError("battlers: 'pass' plays against opponents of the kernel only")
    return search_agent(name) or make_agent(name)


def _winner(
    match: Match, battlers: list[str], agents: list[Agent | None], random: np.random.Generator
) -> int:
    """Who wins a battle; -1 for nobody."""
    seeds = [int(random.integers(1 << 62)) for _ in battlers]
    assert match.state is not None
    if agents[0] is None:
        return play_battle(match.state, battlers[0], battlers[1], seeds[0])
    offers = [o if isinstance(o, list) else None for o in match.offers]
    shown = [o for o in offers if o] or [[c for c in match.offers if isinstance(c, Card)]]
    players = [agent for agent in agents if agent is not None]
    for player, agent in enumerate(players):
        agent.reset(seeds[player])
        show_choice(agent, match.rules, shown, player, match.chosen[player])
    winner = play_match(match, players).winner
    return -1 if winner is None else winner


def _spaces(
    box: spaces.Box, n_actions: int, options: Options
) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """The spaces of observations and actions."""
    actions = spaces.Discrete(n_actions)
    if options.mask == "info":
        return box, actions
    parts: dict[str, spaces.Space[Any]] = {
        "observation": box,
        "action_mask": spaces.Box(0, 1, (n_actions,), np.int8),
    }
    if options.privileged:
        parts["state"] = spaces.Box(-127, 127, (HIDDEN_SIZE,), np.int8)
    return spaces.Dict(parts), actions


# -------------------------------------------------------------------------------- whole matches


class MatchEnv(gymnasium.Env[Any, Any]):
    """``locmsim/Match-v0``: the choice phase, then the battle.

    Parameters
    ----------
    render_mode : "ansi", "human", "rgb_array" (extra ``png``) or None
    **options
        Of `locmsim.envs.Options`, `layout` being "entities".

    Notes
    -----
    Actions of the battle keep their numbers; picks come after them: 145 + i in 1.5 (the i-th card
    by base id) and 1.2 (of three), 155 + i in 1.0. An observation is the vector of the battle's
    layout, then that of `ChoiceLayout`; the part of the other phase is 0. A ``state`` (privileged)
    is that of `ChoiceEnv`, then that of `BattleEnv`.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.render_mode = check_render_mode(render_mode)
        self._set_up(BattleEnv(**{**options, "mask": "obs"}), options_of(options))

    def _set_up(self, battle: Any, options: Options) -> None:
        """Begin with a `battle`, an environment of its own or a row of many."""
        self._battle = battle
        self.options = options
        self._choice = choice_of(self.options)
        self.first_pick: int = battle.action_space.n
        self.observation_space, self.action_space = joint_spaces(
            self.options, self._choice, self.first_pick
        )
        self._size: int = battle.layout.shape[0]
        #: "choice", "battle" or "over".
        self.phase = "over"
        self._in_battle = False
        self._episode = 0
        self.seat = 0

    @property
    def choice_layout(self) -> ChoiceLayout:
        """What the numbers behind those of the battle mean."""
        return self._choice.layout

    @property
    def state(self) -> State:
        """A copy of the battle's state; ``ValueError`` in the choice phase."""
        if not self._in_battle:
            raise ValueError("the battle has not begun")
        state: State = self._battle.state
        return state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a match; `options` may have ``match`` (the referee's parameters) and ``seat``."""
        kept = self.kept()
        try:
            super().reset(seed=seed)
            self._begin(options or {}, 0 if seed is not None else self._episode)
        except BaseException:
            self.put_back(kept)
            raise
        if self.render_mode == "human":
            self.render()
        return self._answer(None, {"turn": -1, "seat": self.seat})

    def _begin(self, given: dict[str, Any], episode: int) -> None:
        """Begin the choice phase of an episode."""
        self.seat = _seat(self.options.seat, given.get("seat"), episode, self.np_random)
        self._choice.begin(self.np_random, episode, given.get("match"))
        self._other = self._choice.other_deck(self.seat, self.np_random)
        self._episode = episode + 1
        self.phase = "choice"
        self._in_battle = False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pick a card, or take an action of the battle."""
        result = self._take(action)
        if self.render_mode == "human":
            self.render()
        return result

    def _take(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.phase == "over":
            raise ResetNeeded("no episode is running: call reset first")
        action = int(action)
        if self.phase == "choice":
            return self._pick(action)
        legal = action if action < self.first_pick else -1
        seen, reward, terminated, truncated, info = self._battle.step(legal)
        if terminated or truncated:
            self.phase = "over"
        observation, info = self._answer(seen, info)
        return observation, reward, terminated, truncated, info

    def _pick(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        number = action - self.first_pick
        mask = self._choice.mask()
        info: dict[str, Any] = {"turn": -1, "seat": self.seat}
        if not (0 <= number < len(mask) and mask[number]):
            if self.options.illegal == "raise":
                raise IllegalActionError(f"action {action} is not legal in the choice phase")
            if self.options.illegal == "lose":
                self.phase = "over"
                returns = np.array([1, -1] if self.seat else [-1, 1], np.float32)
                info |= {"illegal": True, "winner": 1 - self.seat, "returns": returns}
                seen, info = self._answer(None, info)
                return seen, -1.0, True, False, info
            number = int(mask.argmax())
        self._choice.pick(number)
        if len(self._choice.chosen) < DECK_SIZE:
            seen, info = self._answer(None, info)
            return seen, 0.0, False, False, info
        choice = self._choice
        assert choice.match is not None
        decks = [[card.base_id for card in choice.chosen], self._other]
        if self.seat == 1:
            decks.reverse()
        names = ("seed", *choice.rules.seed_names)
        params = {name: choice.match.params[name] for name in names}
        begin = {"match": params, "decks": decks, "seat": self.seat}
        shown, info = self._battle.reset(seed=int(self.np_random.integers(1 << 31)), options=begin)
        self.phase = "battle"
        self._in_battle = True
        seen, info = self._answer(shown, info)
        return seen, 0.0, False, False, info

    def _answer(self, seen: Any, info: dict[str, Any]) -> tuple[Any, Any]:
        """Observation and info; `seen` is the battle's observation, None in the choice phase."""
        observation = np.zeros(self._size + self._choice.layout.shape[0], np.int8)
        if seen is None:
            self._choice.write(observation[self._size :])
        else:
            observation[: self._size] = seen["observation"]
        mask = self._mask(seen)
        if self.options.mask == "info":
            return observation, {**info, "action_mask": mask}
        answer = {"observation": observation, "action_mask": mask}
        if self.options.privileged:
            answer["state"] = self._choice.hidden(self._other) if seen is None else seen["state"]
        return answer, info

    def _mask(self, seen: Any) -> NDArray[np.int8]:
        mask = np.zeros(self.first_pick + self._choice.actions, np.int8)
        if seen is not None:
            mask[: self.first_pick] = seen["action_mask"]
        elif self.phase == "over":
            mask[0] = 1
        else:
            mask[self.first_pick :] = self._choice.mask()
        self._last_mask = mask
        return mask

    def action_masks(self) -> NDArray[np.bool_]:
        """bool array of the legal actions."""
        return self._last_mask.astype(np.bool_)

    def set_opponent(self, opponent: Any) -> None:
        """Play against another opponent from the next battle on."""
        self._battle.set_opponent(opponent)

    def render(self) -> Any:
        """What the learner sees: a text, printed with "human", or uint8 (600, 800, 3)."""
        return show(self.render_mode, self.text, self.frame)

    def text(self) -> str:
        """The board; before the battle the offered cards."""
        if self._in_battle:
            return battle_text(self.state, self.seat)
        return choice_text(self._choice.offer, self._choice.chosen)

    def frame(self) -> NDArray[np.uint8]:
        """The board as an array; before the battle the offered cards and the chosen ones."""
        if self._in_battle:
            return battle_frame(self.state, self.seat)
        return choice_frame(self.options.rules, self._choice.offer, self._choice.chosen)

    def kept(self) -> tuple[Any, ...]:
        """All but the battle, for `put_back`: what a refused `reset` must not change."""
        return _kept(self)

    def put_back(self, kept: tuple[Any, ...]) -> None:
        """The environment as it was when it was `kept`."""
        _put_back(self, kept)


def joint_spaces(
    options: Options, choice: Choice, first_pick: int
) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """The spaces of choice and battle together; picks are numbered from `first_pick` on."""
    if options.layout != "entities":
        raise ValueError(f"layout: expected entities, got {options.layout!r}")
    layout = get_layout("entities", options.rules)
    size = choice.layout.shape[0]
    low = np.concatenate([layout.low, np.full(size, -127, np.int8)])
    high = np.concatenate([layout.high, np.full(size, 127, np.int8)])
    box = spaces.Box(low, high, low.shape, np.int8)
    return _spaces(box, first_pick + choice.actions, options)
