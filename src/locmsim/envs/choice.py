"""Choosing cards: ``locmsim/Draft-v0`` (1.2, 1.0), ``Construct-v0`` (1.5) and ``Match-v0``.

The choice phase as an environment picks one card a step, thirty times; the battle that follows is
played by others (Draft, Construct) or by the learner too (Match).
"""

from functools import lru_cache
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.agents import make_agent
from locmsim.decks import build_deck, pick
from locmsim.envs._opponents import OPPONENTS, play_battle
from locmsim.envs.battle import RENDER_MODES, BattleEnv
from locmsim.envs.games import Options, card_range, deck_choosers
from locmsim.envs.outside import show_choice
from locmsim.errors import IllegalActionError
from locmsim.game.match import Match
from locmsim.policy.layouts import get_layout
from locmsim.rules.cards import ABILITIES, Area, Card, CardType
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RuleSet, get_rules

__all__ = ["ChoiceEnv", "ChoiceLayout", "ConstructEnv", "DraftEnv", "MatchEnv"]

_ROW = 24
_PILE = 16
_OFFER = 120
_TRIPLET = 3


# ------------------------------------------------------------------------------- observations


@lru_cache(maxsize=4096)
def _row(card: Card) -> NDArray[np.int8]:
    """A card as in the hand of layout "entities", without what depends on a position."""
    kinds = [int(card.type == kind) for kind in CardType]
    numbers = [card.attack, card.defense, card.my_health_change, card.opponent_health_change]
    keywords = [int(letter in card.abilities) for letter in ABILITIES]
    areas = [int(card.area == Area.LANE1), int(card.area == Area.LANE2)]
    row = [1, *kinds, card.cost, *np.clip(numbers, -127, 127), card.card_draw, *keywords, *areas]
    return np.array([*row, *[0] * (_ROW - len(row))], np.int8)


def _pile(cards: list[Card]) -> list[int]:
    """Cards without an order, as the deck in layout "entities"."""
    counts = [0] * _PILE
    for card in cards:
        counts[card.type] += 1
        counts[4 + min(card.cost, 7)] += 1
        counts[12] += card.card_draw
        counts[13] += card.area != Area.TARGET
        if card.type == CardType.CREATURE:
            counts[14] += "C" in card.abilities
            counts[15] += "G" in card.abilities
    counts[12] = min(counts[12], 127)
    return counts


class ChoiceLayout:
    """What is seen in the choice phase: offered cards, what was chosen, a summary of it, the step.

    ``offer``: 3 (1.x) or 120 rows as of the hand in layout "entities", in 1.5 by ascending base
    id; ``chosen``: in 1.x the picks so far as 30 such rows, in 1.5 how many of each card;
    ``pile``: the chosen cards as ``own_deck`` there; ``step``: cards chosen.
    """

    def __init__(self, rules: RuleSet) -> None:
        offered = _TRIPLET if rules.draft else _OFFER
        chosen = DECK_SIZE * _ROW if rules.draft else _OFFER
        #: Name -> where it begins and ends.
        self.blocks: dict[str, tuple[int, int]] = {}
        start = 0
        for name, size in (
            ("offer", offered * _ROW), ("chosen", chosen), ("pile", _PILE), ("step", 1),
        ):  # fmt: skip
            self.blocks[name] = (start, start + size)
            start += size
        self.shape = (start,)
        self.draft = rules.draft

    def write(self, out: NDArray[np.int8], offer: list[Card], chosen: list[Card]) -> None:
        """Fill a vector of this layout."""
        out[:] = 0
        start, end = self.blocks["offer"]
        rows = out[start:end].reshape(-1, _ROW)
        for i, card in enumerate(offer):
            rows[i] = _row(card)
        start, end = self.blocks["chosen"]
        if self.draft:
            rows = out[start:end].reshape(-1, _ROW)
            for i, card in enumerate(chosen):
                rows[i] = _row(card)
        else:
            places = {card.base_id: i for i, card in enumerate(offer)}
            for card in chosen:
                out[start + places[card.base_id]] += 1
        start, end = self.blocks["pile"]
        out[start:end] = _pile(chosen)
        out[-1] = len(chosen)

    def split(self, observations: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Named views of the blocks."""
        return {name: observations[..., a:b] for name, (a, b) in self.blocks.items()}


# -------------------------------------------------------------------------------- the choice


class _Choice:
    """The choice phase of one episode, seen by one seat."""

    def __init__(
        self, rules: RuleSet, choosers: list[Any], sets: tuple[int, int] | None, cards: Any
    ) -> None:
        self.rules = rules
        self.layout = ChoiceLayout(rules)
        self.actions = _TRIPLET if rules.draft else _OFFER
        self._choosers = choosers
        self._sets = sets
        self._cards = cards
        self.match: Match | None = None

    def begin(self, random: np.random.Generator, params: Any = None) -> None:
        """Offers of another match."""
        if params is None:
            params = {"seed": int(random.integers(1 << 63))}
            if self._sets is not None:
                params["cardGenSeed"] = int(random.integers(*self._sets))
        self.match = Match(self.rules.name, params=params, cards=self._cards)
        self.chosen: list[Card] = []

    @property
    def offer(self) -> list[Card]:
        """The cards that may be picked now, by the numbers of actions; [] at the end."""
        assert self.match is not None
        if not self.rules.draft:
            return self.match.cards
        if len(self.chosen) == DECK_SIZE:
            return []
        triplet = self.match.offers[len(self.chosen)]
        assert isinstance(triplet, list)
        return triplet

    def mask(self) -> NDArray[np.int8]:
        """1 for each card that may be picked; only the first one at the end."""
        mask = np.zeros(self.actions, np.int8)
        if len(self.chosen) == DECK_SIZE:
            mask[0] = 1
        elif self.rules.draft:
            mask[:] = 1
        else:
            for i, card in enumerate(self.offer):
                mask[i] = self.chosen.count(card) < COPIES_PER_CARD
        return mask

    def pick(self, action: int) -> None:
        """Take a card; it has to be one that the mask allows."""
        self.chosen.append(self.offer[action])

    def other_deck(self, seat: int, random: np.random.Generator) -> list[int]:
        """The other player's deck in the order of the choice, as base ids."""
        assert self.match is not None
        chooser = self._choosers[1 - seat]
        if isinstance(chooser, list):
            return chooser
        if not self.rules.draft:
            if chooser == "random":
                copies = [card.base_id for card in self.match.cards] * COPIES_PER_CARD
                return [int(base) for base in random.permutation(copies)[:DECK_SIZE]]
            offers = self.match.offers
            return build_deck([card for card in offers if isinstance(card, Card)], chooser)
        picked: list[Card] = []
        for offer in self.match.offers:
            assert isinstance(offer, list)
            if chooser == "random":
                choice = int(random.integers(_TRIPLET))
            else:
                choice = pick(offer, picked, self.rules.name, chooser)
            picked.append(offer[choice])
        return [card.base_id for card in picked]

    def lines(self, decks: list[list[int]]) -> list[list[str]]:
        """The answer lines of both players."""
        if self.rules.draft:
            return [[f"CHOOSE {base}" for base in deck] for deck in decks]
        return [[";".join(f"CHOOSE {base}" for base in deck)] for deck in decks]

    def battle(self, lines: list[list[str]]) -> Match:
        """The match at the start of its battle."""
        assert self.match is not None
        match = self.match.clone()
        for pair in zip(*lines, strict=True):
            for player, line in enumerate(pair):
                match.submit(player, line)
        return match


def _choice_of(options: Options) -> _Choice:
    if options.privileged:
        raise ValueError("privileged: there is no such state in the choice phase")
    rules = get_rules(options.rules)
    cards = options.cards
    if cards is not None:
        cards = [card if isinstance(card, Card) else Card.from_row(card) for card in cards]
        if len(cards) != _OFFER:
            raise ValueError(f"cards: expected {_OFFER}, got {len(cards)}")
    sets = None
    if not rules.draft and cards is None and options.card_sets is not None:
        first, n = card_range(options.card_sets)
        sets = (first, first + n)
    return _Choice(rules, deck_choosers(options.decks, rules), sets, cards)


# --------------------------------------------------------------------------- draft, construct


class ChoiceEnv(gymnasium.Env[Any, Any]):
    """Thirty picks, and a reward for what others make of the deck.

    Parameters
    ----------
    battlers : pair of str
        Who plays the battle: the learner's deck and the other one. Opponents of the kernel, or
        anything that `make_agent` takes.
    battles : int
        Battles that are played; the reward is the mean of their results, each 1 or -1. Each has
        other shuffles, the first one those of the match.
    render_mode : "ansi", "human" or None
    **options
        Of `locmsim.envs.Options`: `rules`, `seat`, `decks` (the other seat's), `cards` (120),
        `card_sets`, `mask`, `illegal`.

    Notes
    -----
    Observations are int8 vectors of `ChoiceLayout`; masks have an entry for each offered card.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012
    #: Whether it drafts (1.x) or constructs (1.5).
    drafts: bool
    _default_rules: str

    def __init__(
        self,
        *,
        battlers: tuple[str, str] = ("osl", "osl"),
        battles: int = 1,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode: expected ansi, human or None, got {render_mode!r}")
        self.render_mode = render_mode
        self.options = Options(**{"rules": self._default_rules, **options})
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
        for battler in self.battlers:
            if battler not in OPPONENTS:
                make_agent(battler)
        self.battles = battles
        self._choice = _choice_of(self.options)
        self.layout = self._choice.layout
        box = spaces.Box(-127, 127, self.layout.shape, np.int8)
        mask = spaces.Box(0, 1, (self._choice.actions,), np.int8)
        self.observation_space = (
            box
            if self.options.mask == "info"
            else spaces.Dict({"observation": box, "action_mask": mask})
        )
        self.action_space = spaces.Discrete(self._choice.actions)
        self._running = False
        self._episode = 0
        self.seat = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a choice; `options` may have ``match`` (the referee's parameters) and ``seat``."""
        super().reset(seed=seed)
        if seed is not None:
            self._episode = 0
        given = options or {}
        self.seat = _seat(self.options.seat, given.get("seat"), self._episode, self.np_random)
        self._episode += 1
        self._choice.begin(self.np_random, given.get("match"))
        self._running = True
        return self._seen(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pick a card. The last pick is followed by the battles."""
        if not self._running:
            raise ResetNeeded("no episode is running: call reset first")
        action = int(action)
        mask = self._choice.mask()
        if not (0 <= action < len(mask) and mask[action]):
            if self.options.illegal == "raise":
                raise IllegalActionError(f"card {action} cannot be picked")
            if self.options.illegal == "lose":
                self._running = False
                return self._seen(), -1.0, True, False, {**self._info(), "illegal": True}
            action = int(mask.argmax())
        self._choice.pick(action)
        if len(self._choice.chosen) < DECK_SIZE:
            return self._seen(), 0.0, False, False, self._info()
        self._running = False
        reward, info = self._play()
        if self.render_mode == "human":
            self.render()
        return self._seen(), reward, True, False, {**self._info(), **info, "illegal": False}

    def _seen(self) -> Any:
        observation = np.empty(self.layout.shape, np.int8)
        self.layout.write(observation, self._choice.offer, self._choice.chosen)
        if self.options.mask == "info":
            return observation
        return {"observation": observation, "action_mask": self._choice.mask()}

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"seat": self.seat, "step": len(self._choice.chosen)}
        if self.options.mask == "info":
            info["action_mask"] = self._choice.mask()
        return info

    def _play(self) -> tuple[float, dict[str, Any]]:
        """The battles: the mean result, and how they ended."""
        choice, random = self._choice, self.np_random
        decks = [[card.base_id for card in choice.chosen], choice.other_deck(self.seat, random)]
        battlers = list(self.battlers)
        if self.seat == 1:
            decks.reverse()
            battlers.reverse()
        assert choice.match is not None
        first = choice.match.params
        lines = choice.lines(decks)
        winners = []
        for number in range(self.battles):
            if number:
                shuffles = {
                    name: int(random.integers(1 << 62)) for name in first if "shuffle" in name
                }
                choice.match = Match(
                    choice.rules.name, params={**first, **shuffles}, cards=choice._cards
                )
            winners.append(_winner(choice.battle(lines), battlers, random))
        won = [1.0 if winner == self.seat else -1.0 if winner >= 0 else 0.0 for winner in winners]
        match = {"rules": choice.rules.name, "params": dict(first), "choices": lines}
        return float(np.mean(won)), {"winner": winners[0], "winners": winners, "match": match}

    def action_masks(self) -> NDArray[np.bool_]:
        """bool array of the cards that may be picked."""
        return self._choice.mask().astype(np.bool_)

    def render(self) -> str | None:
        """The offered cards and the chosen ones as text."""
        if self.render_mode is None:
            return None
        lines = [f"step {len(self._choice.chosen)} of {DECK_SIZE}"]
        lines += [f"  {i}: {card}" for i, card in enumerate(self._choice.offer)]
        text = "\n".join(lines)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None


class DraftEnv(ChoiceEnv):
    """``locmsim/Draft-v0``: one card of three, thirty times (rules 1.2 and 1.0)."""

    drafts = True
    _default_rules = "1.2"


class ConstructEnv(ChoiceEnv):
    """``locmsim/Construct-v0``: thirty of 120 cards, none more than twice (rules 1.5)."""

    drafts = False
    _default_rules = "1.5"


def _seat(kind: str, given: Any, episode: int, random: np.random.Generator) -> int:
    drawn = int(random.integers(2))
    if given is not None:
        if given not in (0, 1):
            raise ValueError(f"seat: expected 0 or 1, got {given!r}")
        return int(given)
    return {"first": 0, "second": 1, "random": drawn, "alternate": episode % 2}[kind]


def _winner(match: Match, battlers: list[str], random: np.random.Generator) -> int:
    """Who wins a battle; -1 for nobody."""
    seeds = [int(random.integers(1 << 62)) for _ in battlers]
    assert match.state is not None
    if all(battler in OPPONENTS for battler in battlers):
        return play_battle(match.state, battlers[0], battlers[1], seeds[0])
    agents = [make_agent(_as_agent(battler)) for battler in battlers]
    offers = [o if isinstance(o, list) else None for o in match.offers]
    for player, agent in enumerate(agents):
        agent.reset(seeds[player])
        shown = [o for o in offers if o] or [[c for c in match.offers if isinstance(c, Card)]]
        show_choice(agent, match.rules, shown, player, match.chosen[player])
    while match.to_ask:
        player = match.to_ask[0]
        match.submit(player, agents[player].act(match.observation(player)))
    return -1 if match.winner is None else match.winner


def _as_agent(battler: str) -> str:
    if battler == "pass":
        raise ValueError("battlers: 'pass' plays against opponents of the kernel only")
    return battler


# -------------------------------------------------------------------------------- whole matches


class MatchEnv(gymnasium.Env[Any, Any]):
    """``locmsim/Match-v0``: the choice phase, then the battle.

    Parameters
    ----------
    render_mode : "ansi", "human" or None
    **options
        Of `locmsim.envs.Options`, `layout` being "entities".

    Notes
    -----
    Actions of the battle keep their numbers; picks come after them: 145 + i in 1.5 (the i-th card
    by base id) and 1.2 (of three), 155 + i in 1.0. An observation is the vector of the battle's
    layout, then that of `ChoiceLayout`; the part of the other phase is 0.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self._battle = BattleEnv(render_mode=render_mode, **{**options, "mask": "obs"})
        self.render_mode = render_mode
        self.options = Options(**options)
        if self.options.layout != "entities":
            raise ValueError(f"layout: expected entities, got {self.options.layout!r}")
        self._choice = _choice_of(self.options)
        self.first_pick = self._battle._rows.n_actions
        self._size = get_layout("entities", self.options.rules).shape[0]
        n_actions = self.first_pick + self._choice.actions
        layout = self._battle.layout
        size = self._choice.layout.shape[0]
        low = np.concatenate([layout.low, np.full(size, -127, np.int8)])
        high = np.concatenate([layout.high, np.full(size, 127, np.int8)])
        box = spaces.Box(low, high, low.shape, np.int8)
        mask = spaces.Box(0, 1, (n_actions,), np.int8)
        self.observation_space = (
            box
            if self.options.mask == "info"
            else spaces.Dict({"observation": box, "action_mask": mask})
        )
        self.action_space = spaces.Discrete(n_actions)
        self._phase = "over"
        self._episode = 0
        self.seat = 0

    @property
    def choice_layout(self) -> ChoiceLayout:
        """What the numbers behind those of the battle mean."""
        return self._choice.layout

    @property
    def state(self) -> State:
        """A copy of the battle's state; ``ValueError`` in the choice phase."""
        if self._phase == "choice":
            raise ValueError("the battle has not begun")
        return self._battle.state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a match; `options` may have ``match`` (the referee's parameters) and ``seat``."""
        super().reset(seed=seed)
        if seed is not None:
            self._episode = 0
        given = options or {}
        self.seat = _seat(self.options.seat, given.get("seat"), self._episode, self.np_random)
        self._episode += 1
        self._choice.begin(self.np_random, given.get("match"))
        self._phase = "choice"
        return self._answer(None, {"turn": -1, "seat": self.seat})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pick a card, or take an action of the battle."""
        if self._phase == "over":
            raise ResetNeeded("no episode is running: call reset first")
        action = int(action)
        if self._phase == "choice":
            return self._pick(action)
        legal = action if action < self.first_pick else -1
        seen, reward, terminated, truncated, info = self._battle.step(legal)
        if terminated or truncated:
            self._phase = "over"
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
                self._phase = "over"
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
        decks = [[card.base_id for card in choice.chosen]]
        decks.append(choice.other_deck(self.seat, self.np_random))
        if self.seat == 1:
            decks.reverse()
        names = ("seed", *choice.rules.seed_names)
        params = {name: choice.match.params[name] for name in names}
        begin = {"match": params, "decks": decks, "seat": self.seat}
        shown, info = self._battle.reset(seed=int(self.np_random.integers(1 << 31)), options=begin)
        self._phase = "battle"
        seen, info = self._answer(shown, info)
        return seen, 0.0, False, False, info

    def _answer(self, seen: Any, info: dict[str, Any]) -> tuple[Any, Any]:
        """Observation and info; `seen` is the battle's observation, None in the choice phase."""
        observation = np.zeros(self._size + self._choice.layout.shape[0], np.int8)
        if seen is None:
            self._choice.layout.write(
                observation[self._size :], self._choice.offer, self._choice.chosen
            )
        else:
            observation[: self._size] = seen["observation"]
        mask = self._mask(seen)
        if self.options.mask == "info":
            return observation, {**info, "action_mask": mask}
        return {"observation": observation, "action_mask": mask}, info

    def _mask(self, seen: Any) -> NDArray[np.int8]:
        mask = np.zeros(self.first_pick + self._choice.actions, np.int8)
        if seen is not None:
            mask[: self.first_pick] = seen["action_mask"]
        elif self._phase == "over":
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

    def render(self) -> str | None:
        """The board as text; what was chosen before the battle."""
        if self._phase != "choice":
            return self._battle.render()
        if self.render_mode is None:
            return None
        text = f"step {len(self._choice.chosen)} of {DECK_SIZE}"
        if self.render_mode == "ansi":
            return text
        print(text)
        return None
