"""What all environments share: options, spaces, card sets, decks, what Python does for rows.

`Games` owns the compiled rows (`locmsim.envs._rows.Rows`) and does for them what they cannot do
without the interpreter. The environments around it only translate to an interface.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import index
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._core import State, Table
from locmsim.agents import BeamAgent, did_you_mean, make_agent
from locmsim.agents._scripted import SCRIPTED
from locmsim.contract import play_match
from locmsim.decks import DECK_BUILDERS, DRAFT_PICKERS, build_deck, pick
from locmsim.envs._potentials import POTENTIALS
from locmsim.envs._rows import Rows
from locmsim.envs._searcher import Searcher
from locmsim.envs.players import (
    CALLER,
    Players,
    Pool,
    search_agent,
    searcher_of,
    show_choice,
)
from locmsim.envs.rendering import battle_frame, battle_text, choice_frame, choice_text
from locmsim.envs.workers import Workers
from locmsim.game.layouts import ChoiceLayout, Layout, get_layout
from locmsim.game.match import Match
from locmsim.rules.cards import Card, cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RuleSet, get_rules
from locmsim.search.belief import prior

__all__ = [
    "HIDDEN_SIZE",
    "EpisodeMatch",
    "Games",
    "Options",
    "card_range",
    "deck_choosers",
    "indices_of",
    "options_of",
    "seed_bits",
    "spaces_of",
]

#: What a row waits for.
_CARD_SET, _DECKS, _OPPONENT, _SEARCH, _BATTLES = range(1, 6)
_EPISODES = ("battle", "choice", "match")
_SEATS = ("random", "first", "second", "alternate")
_ILLEGAL = ("lose", "pass", "raise")
_MASKS = ("obs", "info")
#: Cards of a generated set, and the most that are offered.
_OFFER = 120
#: Numbers of a privileged state: 24 for each card, of two hands of 8 and two decks of 30.
HIDDEN_SIZE = 24 * 2 * (8 + 30)
#: Potentials by name: weights of those in `POTENTIALS`.
_SHAPING: dict[str, dict[str, float]] = {
    **{name: {name: 1.0} for name in POTENTIALS},
    "health": {"player-health": 1.0, "opponent-health": 1.0},
    "board-presence": {"player-board-presence": 1.0, "opponent-board-presence": 1.0},
}

#: Cards of a choice -> base ids (1.5), or a draft picker (1.x).
Chooser = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the environments.

    All values that are no objects can be written as JSON, so that an `EnvSpec` can.
    ``ValueError`` names the option that is wrong.
    """

    #: "1.5", "1.2" or "1.0".
    rules: str = "1.5"
    #: "battle"; "choice": thirty picks, and a reward for what others make of the deck; "match": the
    #: picks, then the battle.
    episode: str = "battle"
    #: Who plays the seat that the caller does not. In compiled code: "pass", "random",
    #: "max-attack", "osl", "greedy", and "beam:nodes=N" with any other options but a time. Asked in
    #: batches: a `Policy`, the file of one, "policy:path=FILE,temperature=T", an ONNX session, any
    #: object with ``act_batch(observations, masks, seeds) -> actions`` (arrays with an entry for
    #: each row, seeds of 64 bits; with the attribute ``layout`` in that layout; with
    #: ``state_shape`` it is given ``state=`` too, float32 of that shape for each row, which it
    #: changes in place and which is 0 when an episode begins). One row at a time: a text for
    #: `make_agent`, an `Agent` (in one row only), a function (observation, mask) -> action.
    #: "caller": the caller plays both seats. A `Pool` draws one of them for each episode.
    opponent: Any = "greedy"
    #: "random", "first", "second" or "alternate": where the caller plays.
    seat: str = "random"
    #: The same by seats, instead of `opponent` and `seat`: a pair of which one is "caller".
    players: Any = None
    #: For both seats or as a pair: "random", the name of a deck builder (1.x: draft picker), base
    #: ids, or a function such as those. A `Pool` of these, of which each episode draws one.
    decks: Any = "random"
    #: A fixed list of at most 120 cards with different base ids (1.5).
    cards: Any = None
    #: "choice": who plays the battles with the caller's deck, and with the other one: compiled
    #: agents and searches, or texts for `make_agent`, which play row by row.
    battlers: tuple[str, str] = ("beam:nodes=500", "beam:nodes=500")
    #: "choice": the battles that are played; the reward is the mean of their results, each 1 or -1.
    #: The first one has the shuffles of the match, each other one its own.
    battles: int = 1
    #: 1.5: card sets are those of cardGenSeed 0, 1, ... below this number, or of a pair (first,
    #: end); None: new cards in each episode, which takes a millisecond.
    card_sets: Any = 1024
    #: After so many episodes of a row the set of the lowest cardGenSeed leaves its choice, and the
    #: next one above all comes in; 0: never.
    refresh: int = 0
    #: "entities", "entities-f32" or "gym-locm".
    layout: str = "entities"
    #: "obs": observations are dicts with an ``action_mask``; "info": the mask is in the info.
    mask: str = "obs"
    #: "win-loss": 1 or -1 at the end. "gym-locm:coac=1,win-loss=2": the weighted differences that
    #: gym-locm adds up. A function of a mapping of the arrays of a step, with an entry for each row
    #: (``obs``, ``masks``, ``rewards`` and ``rewards_both`` of "win-loss" with `shaping`,
    #: ``terminated``, ``truncated``, ``to_move``, ``acted``), which returns the rewards.
    reward: Any = "win-loss"
    #: Name of a potential -> weight: adds ``gamma * phi(s') - phi(s)`` over the learner's
    #: decisions, phi being 0 at the end, which changes no optimal policy.
    shaping: Mapping[str, float] = field(default_factory=dict)
    gamma: float = 1.0
    #: An illegal action loses at once, counts as PASS, or raises `IllegalActionError`.
    illegal: str = "lose"
    #: Actions of both players after which an episode is truncated; the referee of 1.5 ends a game
    #: there.
    max_actions: int = 1400
    #: Observations have a ``state`` too: all cards in hands and decks, int8 of `HIDDEN_SIZE`, for
    #: critics that may know everything. Agents that are to play must not see it.
    privileged: bool = False

    def __post_init__(self) -> None:
        get_rules(self.rules)
        if self.players is not None:
            self._take_players()
        for name, known in (
            ("episode", _EPISODES), ("seat", _SEATS), ("illegal", _ILLEGAL), ("mask", _MASKS),
        ):  # fmt: skip
            value = getattr(self, name)
            if value not in known:
                raise ValueError(
                    f"{name}: expected one of {', '.join(known)},"
                    f" got {value!r}{did_you_mean(str(value), known)}"
                )
        if self.battles < 1:
            raise ValueError(f"battles: expected at least 1, got {self.battles}")
        if isinstance(self.battlers, str) or len(self.battlers) != 2:
            raise ValueError(f"battlers: expected two, got {self.battlers!r}")
        if self.episode == "match" and self.layout != "entities":
            raise ValueError(f"layout: expected entities, got {self.layout!r}")
        if not isinstance(self.max_actions, int) or self.max_actions < 1:
            raise ValueError(f"max_actions: expected at least 1, got {self.max_actions!r}")
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"gamma: expected 0..1, got {self.gamma!r}")
        if not isinstance(self.refresh, int) or self.refresh < 0:
            raise ValueError(f"refresh: expected 0 or more, got {self.refresh!r}")
        if self.privileged and self.mask != "obs":
            raise ValueError("privileged: expected mask='obs', as observations have to be dicts")
        if self.cards is not None and get_rules(self.rules).draft:
            raise ValueError(f"cards: rules {self.rules} have a fixed card list")

    def _take_players(self) -> None:
        """Make `opponent` and `seat` of a pair of players."""
        if self.seat != "random" or self.opponent != "greedy":
            raise ValueError("players: does not go together with opponent and seat")
        if isinstance(self.players, str) or len(self.players) != 2:
            raise ValueError(f"players: expected one for each seat, got {self.players!r}")
        first, second = self.players
        if not any(isinstance(one, str) and one == CALLER for one in (first, second)):
            raise ValueError(f"players: expected 'caller' for one seat, got {self.players!r}")
        mine = isinstance(first, str) and first == CALLER
        object.__setattr__(self, "opponent", second if mine else first)
        object.__setattr__(self, "seat", "first" if mine else "second")

    @property
    def observation_layout(self) -> Layout:
        """The layout as an object; ``ValueError`` if the rule set does not have it."""
        return get_layout(self.layout, self.rules)

    def rewards(self) -> tuple[float, bool, list[float]]:
        """The worth of a win, whether potentials count undiscounted, their weights."""
        if callable(self.reward):
            return 1.0, False, _weights("shaping", self.shaping)
        if not isinstance(self.reward, str):
            raise ValueError(
                f"reward: expected win-loss or gym-locm:NAME[=WEIGHT],..., got {self.reward!r}"
            )
        if self.reward == "win-loss":
            return 1.0, False, _weights("shaping", self.shaping)
        kind, colon, rest = self.reward.partition(":")
        if kind != "gym-locm" or not colon:
            raise ValueError(
                f"reward: expected win-loss or gym-locm:NAME[=WEIGHT],..., got {self.reward!r}"
            )
        if self.shaping:
            raise ValueError(f"shaping: does not go together with reward {self.reward!r}")
        weights: dict[str, float] = {}
        for part in rest.split(","):
            name, equals, weight = part.partition("=")
            try:
                weights[name] = float(weight) if equals else 1.0
            except ValueError:
                raise ValueError(f"reward: {name}: expected a number, got {weight!r}") from None
        win = weights.pop("win-loss", 0.0)
        return win, True, _weights("reward", weights)


def options_of(options: Mapping[str, Any]) -> Options:
    """`Options` of these names and values; ``ValueError`` suggests what an unknown name meant."""
    known = [option.name for option in fields(Options)]
    for name in options:
        if name not in known:
            raise ValueError(
                f"unknown option {name!r}{did_you_mean(name, known)}: expected {', '.join(known)}"
            )
    return Options(**options)


def _weights(option: str, weights: Mapping[str, float]) -> list[float]:
    total = dict.fromkeys(POTENTIALS, 0.0)
    for name, weight in weights.items():
        if name not in _SHAPING:
            raise ValueError(
                f"{option}: unknown potential {name!r}{did_you_mean(name, _SHAPING)}: expected one"
                f" of {', '.join(_SHAPING)}"
            )
        for part, factor in _SHAPING[name].items():
            total[part] += factor * weight
    return list(total.values())


def spaces_of(options: Options) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """The spaces of observations and actions."""
    rules = get_rules(options.rules)
    n_actions, parts = 0, []
    if options.episode != "choice":
        layout = options.observation_layout
        n_actions += rules.num_actions
        parts.append((layout.low, layout.high, layout.dtype))
    if options.episode != "battle":
        choice = ChoiceLayout(rules.name)
        n_actions += choice.picks
        parts.append((choice.low, choice.high, choice.dtype))
    low, high = (np.concatenate([part[i] for part in parts]) for i in range(2))
    box = spaces.Box(low, high, low.shape, parts[0][2].type)
    actions = spaces.Discrete(n_actions)
    if options.mask == "info":
        return box, actions
    boxes: dict[str, spaces.Space[Any]] = {
        "observation": box,
        "action_mask": spaces.Box(0, 1, (n_actions,), np.int8),
    }
    if options.privileged:
        boxes["state"] = spaces.Box(-127, 127, (HIDDEN_SIZE,), np.int8)
    return spaces.Dict(boxes), actions


def seed_bits(random: np.random.Generator) -> int:
    """64 bits from which the random stream of a row follows."""
    return int(random.integers(0, 2**64, dtype=np.uint64))


# --------------------------------------------------------------------------------- card sets


@lru_cache(maxsize=4096)
def _generated(seed: int) -> tuple[Table, list[Card]]:
    """The cards of a cardGenSeed, as the pool of a table and as a list."""
    cards = generate_cards(seed)
    return State.new((), (), pool=cards).table, cards


def _generated_table(seed: int) -> Table:
    return _generated(seed)[0]


@lru_cache(maxsize=2)
def _fixed(rules: str) -> tuple[Table, list[Card]]:
    cards = list(cards_1x())
    return State.new((), (), rules=rules, pool=cards).table, cards


def _table_of(cards: Any) -> tuple[Table, list[Card]]:
    cards = [card if isinstance(card, Card) else Card.from_row(card) for card in cards]
    if not DECK_SIZE // COPIES_PER_CARD <= len(cards) <= _OFFER:
        raise ValueError(
            f"cards: expected {DECK_SIZE // COPIES_PER_CARD}..{_OFFER}, got {len(cards)}"
        )
    if len({card.base_id for card in cards}) != len(cards):
        raise ValueError("cards: a base id occurs twice")
    cards.sort(key=lambda card: card.base_id)
    return State.new((), (), pool=cards).table, cards


# ----------------------------------------------------------------------------------- matches


class EpisodeMatch(Mapping[str, Any]):
    """How an episode came about, so that the referee can play it again: a mapping.

    ``rules``; ``params``: the referee's own parameters; ``choices``: for each player the answer
    lines of the choice phase; ``cards``: rows of the card list if it follows from no seed. None is
    known of an episode that began with a given position. Texts are made when they are asked for.
    """

    def __init__(self, rules: str, result: tuple[Any, ...], cards: list[Card], fixed: bool) -> None:
        self._rules = rules
        self._result = result
        self._cards = cards
        self._fixed_cards = fixed
        self._log: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._log is None:
            seed, seeds, decks, triplets = self._result
            if isinstance(decks, bytes):  # most matches are never looked at
                decks = np.frombuffer(decks, np.uint8).reshape(2, -1).tolist()
                triplets = np.frombuffer(triplets, np.uint8).reshape(-1, 3).tolist()
            rules = get_rules(self._rules)
            params: dict[str, Any] = {
                "seed": seed,
                **dict(zip(rules.seed_names, seeds, strict=True)),
            }
            bases = [card.base_id for card in self._cards]
            if rules.draft:
                if any(card not in triplet for deck in decks
                       for card, triplet in zip(deck, triplets, strict=True)):  # fmt: skip
                    # Decks that no draft gave: one that offers their cards does.
                    triplets = [[a, b, a] for a, b in zip(*decks, strict=True)]
                    params["predefinedDraftIds"] = ",".join(
                        "_".join(str(bases[card]) for card in triplet) for triplet in triplets
                    )
                choices = [
                    [f"PICK {t.index(card)}" for card, t in zip(deck, triplets, strict=True)]
                    for deck in decks
                ]
            else:
                choices = [[";".join(f"CHOOSE {bases[card]}" for card in deck)] for deck in decks]
            self._log = {"rules": self._rules, "params": params, "choices": choices}
            if self._fixed_cards:
                self._log["cards"] = [card.to_row() for card in self._cards]
        return self._log

    def __getitem__(self, key: str) -> Any:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def match(self) -> Match:
        """The match at the start of its battle."""
        cards = [Card.from_row(row) for row in self["cards"]] if "cards" in self else None
        match = Match(self["rules"], params=self["params"], cards=cards)
        for lines in zip(*self["choices"], strict=True):
            for player, line in enumerate(lines):
                match.submit(player, line)
        return match

    def __repr__(self) -> str:
        return f"EpisodeMatch({self._all()!r})"


# ------------------------------------------------------------------------------------- games


class Games:
    """`n` battles and all that they need from Python.

    Parameters
    ----------
    n : int
        Number of rows.
    options : Options
    autoreset : "next", "same" or "disabled"
    """

    def __init__(
        self,
        n: int,
        options: Options,
        *,
        autoreset: Literal["next", "same", "disabled"] = "disabled",
    ) -> None:
        self.options = options
        self.rules: RuleSet = get_rules(options.rules)
        self.layout = options.observation_layout
        self.n = n
        self._cards: list[Card] | None = None
        first_set, n_sets = 0, 0
        if self.rules.draft:
            self._table, self._cards = _fixed(self.rules.name)
            first_set, n_sets = -1, 1
        elif options.cards is not None:
            self._table, self._cards = _table_of(options.cards)
            first_set, n_sets = -1, 1
        elif options.card_sets is not None:
            first_set, n_sets = card_range(options.card_sets)
        win, raw, weights = options.rewards()
        #: What the numbers of the choice phase mean, None without one.
        self.choice_layout = None if options.episode == "battle" else ChoiceLayout(self.rules.name)
        self._choosers = deck_choosers(options.decks, self.rules)
        self._sources = [_seat_source(chooser, self.rules) for chooser in self._choosers]
        size = len(self._cards) if self._cards is not None else _OFFER
        self._autoreset = autoreset
        self.rows = Rows(
            n,
            {
                "rules": self.rules.name,
                "episode": options.episode,
                "layout": options.layout,
                "seat": options.seat,
                "illegal": options.illegal,
                "autoreset": autoreset,
                "max_actions": options.max_actions,
                "decks": _deck_source(self._choosers, self.rules),
                "choosers": self._sources,
                "battles": options.battles,
                "win": win,
                "gamma": options.gamma,
                "raw_potentials": raw,
                "shaping": weights,
                "first_set": first_set,
                "n_sets": n_sets,
                "refresh": options.refresh,
                "find_set": _generated_table,
                "n_cards": size,
                "allowed": list(range(size)),
            },
        )
        #: Whether what Python does for a row raised an exception since all rows began.
        self.failed = False
        #: Who plays for the other seat.
        self.players = Players(self, options.opponent)
        #: Who plays the battles of a choice: agents that searches play as, or that Python asks.
        self._battlers: list[Any] = [None, None]
        if options.episode == "choice":
            self._set_battlers(options.battlers)

    def _set_battlers(self, texts: Sequence[str]) -> None:
        kinds: list[Any] = []
        known: dict[str, Any] = {}
        for text in texts:
            agent = search_agent(text)
            if agent is not None:
                known.setdefault(text, searcher_of(agent, self.rules.name))
            kinds.append(SCRIPTED.get(text, -1) if agent is None else known[text])
            self._battlers[len(kinds) - 1] = agent
        if -1 in kinds:
            kinds = [-1, -1]
            self._battlers = [search_agent(text) or make_agent(text) for text in texts]
        self.rows.players.set_battlers(kinds)
        self._searches = [kind if isinstance(kind, Searcher) else None for kind in kinds]

    # ------------------------------------------------------------------------- what is shown

    @property
    def observation_shape(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of an observation."""
        size = 0 if self.options.episode == "choice" else self.layout.shape[0]
        if self.choice_layout is not None:
            size += self.choice_layout.shape[0]
        dtype = np.dtype(np.int8) if self.options.episode == "choice" else self.layout.dtype
        return (size,), dtype

    @property
    def shown_layout(self) -> Layout | ChoiceLayout:
        """What the numbers of an observation mean, in the battle if there is one."""
        if self.options.episode == "choice":
            assert self.choice_layout is not None
            return self.choice_layout
        return self.layout

    def start_of(self, random: np.random.Generator) -> int | np.random.Generator:
        """What the random stream of a row begins with: bits, or where the generator is."""
        return seed_bits(random) if self.options.episode == "battle" else random

    def _choice_of(self, row: int) -> tuple[list[Card], list[Card]]:
        """The cards that the player to move may pick, and those that they have chosen."""
        cards, picked = self.cards(row), self.rows.views.picked(row, self.rows.views.mover(row))
        offer: Sequence[int] = range(len(cards))
        if self.rules.draft:
            offer = self.rows.card_sets.offers(row)[len(picked)] if len(picked) < DECK_SIZE else []
        return [cards[i] for i in offer], [cards[i] for i in picked]

    def text(self, row: int) -> str:
        """What the learner sees of a row, or the player to move if all are the caller's."""
        if self.rows.views.phase(row) == "choice":
            return choice_text(*self._choice_of(row))
        return battle_text(self.rows.views.state(row), self._viewer(row))

    def frame(self, row: int) -> NDArray[np.uint8]:
        """... as a picture."""
        if self.rows.views.phase(row) == "choice":
            return choice_frame(self.rules.name, *self._choice_of(row))
        return battle_frame(self.rows.views.state(row), self._viewer(row))

    def _viewer(self, row: int) -> int:
        seat = self.rows.views.seat(row)
        return self.rows.views.turn(row) & 1 if seat < 0 else seat

    # ---------------------------------------------------------------------------- episodes

    def reward_of(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """What the function that is the option `reward` makes of the arrays of a step."""
        rewards = np.asarray(self.options.reward(arrays), np.float32)
        if rewards.shape != (self.n,):
            raise ValueError(f"reward: expected shape ({self.n},), got {rewards.shape}")
        return rewards

    def cards(self, row: int) -> list[Card]:
        """The cards of a row's set, by ascending base id."""
        if self._cards is not None:
            return self._cards
        return _generated(self.rows.card_sets.seed(row))[1]

    def serve(self) -> None:
        """Do what rows wait for until none does: rows that want the same player are asked together.

        After an exception, of an opponent say, the rows go on waiting: `check` refuses them.
        """
        try:
            while waiting := self.rows.requests.waiting():
                self._serve(waiting)
        except BaseException:
            self.failed = True
            raise

    def run(self, workers: Workers, actions: Any) -> int:
        """Step all rows; after a signal those go on waiting that had to be searched in."""
        try:
            return workers.run(actions)
        except BaseException:
            self.failed = True
            raise

    def serve_one(self, row: int) -> None:
        """Do what a row waits for, whatever the others do."""
        try:
            while what := self.rows.requests.waits_for(row):
                self._serve([(row, what, self.rows.views.opponent(row))])
        except BaseException:
            self.failed = True
            raise

    def check(self) -> None:
        """``ResetNeeded`` if rows still wait for an opponent that raised an exception.

        No action of the caller's must be played for somebody else.
        """
        if self.failed:
            waiting = [row for row, _, _ in self.rows.requests.waiting()]
            if waiting:
                raise ResetNeeded(
                    f"the opponent's turn was broken off by an exception in"
                    f" row{'s' * (len(waiting) > 1)} {', '.join(map(str, waiting))}: reset"
                )
            self.failed = False

    def _serve(self, waiting: list[tuple[int, int, int]]) -> None:
        """Do one thing that each of these rows waits for, and let it go on."""
        asked: dict[int, list[int]] = {}
        for row, what, slot in waiting:
            if what == _OPPONENT:
                asked.setdefault(slot, []).append(row)
                continue
            if what == _CARD_SET:
                self._give_set(row)
            elif what == _DECKS:
                self.rows.requests.give_decks(row, self._choose_decks(row))
            elif what == _SEARCH:
                self.search(row)
            elif what == _BATTLES:
                self._play_battles(row)
                if self.rows.requests.waits_for(row):
                    continue  # the next episode has begun and waits for its cards
            self.rows.requests.proceed(row)
        for slot, rows in asked.items():
            self.players.external[slot].play(self, rows)

    def search(self, row: int) -> None:
        """Play the turn of a row's opponent that searches."""
        if not self.rows.requests.search(row):
            self._give_set(row)
            self._give_prior(row, self.rows.players.searcher(row), self._agent(row))
            self.rows.requests.search(row)

    def _agent(self, row: int) -> BeamAgent:
        return self.players.agents[self.rows.views.opponent(row)]

    def _play_battles(self, row: int) -> None:
        """Play the battles of the decks that have been chosen in a row."""
        if self.rows.requests.play_battles(row):
            return
        if all(isinstance(kind, int) and kind < 0 for kind in self.rows.players.battlers):
            self.rows.requests.end_battles(row, self._battles_of_agents(row))
            return
        self._give_set(row)
        for searcher, agent in zip(self._searches, self._battlers, strict=True):
            if searcher is not None:
                self._give_prior(row, searcher, agent)
        self.rows.requests.play_battles(row)

    def _battles_of_agents(self, row: int) -> list[int]:
        rows, names = self.rows, self.rules.seed_names
        seed, seeds = rows.views.seeds(row)
        decks, offers = (
            rows.views.decks(row),
            rows.card_sets.offers(row) if self.rules.draft else [],
        )
        agents = self._battlers[::-1] if rows.views.seat(row) == 1 else self._battlers
        winners = []
        for shuffles, seeds_of_agents in rows.requests.draw_battles(row):
            dealt = (seed, [*seeds[: len(names) - 2], *shuffles], decks, offers)
            fixed = self.options.cards is not None
            match = EpisodeMatch(self.rules.name, dealt, self.cards(row), fixed).match()
            shown = [offer for offer in match.offers if isinstance(offer, list)]
            shown = shown or [[card for card in match.offers if isinstance(card, Card)]]
            for player, agent in enumerate(agents):
                agent.reset(seeds_of_agents[player])
                show_choice(agent, match.rules, shown, player, match.chosen[player])
            winner = play_match(match, agents).winner
            winners.append(-1 if winner is None else winner)
        return winners

    def _give_set(self, row: int) -> None:
        if self.rows.card_sets.has(row):
            return
        if self._cards is not None:
            table, cards = self._table, self._cards
        else:
            table, cards = _generated(self.rows.card_sets.seed(row))
        self.rows.card_sets.give(row, table, self._decks_of_set(cards))

    def _decks_of_set(self, cards: list[Card]) -> list[list[int]] | None:
        """The decks that follow from a card set alone, [] for a seat whose deck does not."""
        if self.options.episode == "battle":
            if _deck_source(self._choosers, self.rules) != "given":
                return None
            return [_deck_of(chooser, cards, self.rules) for chooser in self._choosers]
        return [
            _deck_of(chooser, cards, self.rules) if source == "given" else []
            for chooser, source in zip(self._choosers, self._sources, strict=True)
        ]

    def _give_prior(self, row: int, searcher: Searcher, agent: BeamAgent) -> None:
        """Tell a searcher which cards of a row's set others are taken to choose."""
        slot, key = self.rows.requests.wanted_prior(row)
        score, builder, _ = prior(self.rules.name, *agent.prior(self.rules.name))
        cards = self.cards(row)
        copies = None
        if builder is not None:
            deck = Counter(build_deck(_as_offered(cards), builder))
            copies = np.array([deck[card.base_id] for card in cards], np.uint8)
        searcher.give(slot, key, np.array([*map(score, cards)], np.float64), copies)

    def _choose_decks(self, row: int) -> list[list[int]]:
        """Decks of a row's cards where Python chooses, as indices."""
        cards = self.cards(row)
        offers = self.rows.card_sets.offers(row) if self.rules.draft else None
        if self.options.episode != "battle":
            other = 1 - self.rows.views.seat(row)
            chooser = self._choosers[other]
            random = None
            if isinstance(self.options.decks, Pool):
                random = np.random.default_rng(self.rows.requests.draw(row))
                chooser = self._drawn_choosers(random)[other]
            deck = _deck_of(chooser, cards, self.rules, offers, random)
            if offers is not None and isinstance(chooser, list):
                for turn, (card, offer) in enumerate(zip(deck, offers, strict=True)):
                    if card not in offer:
                        raise ValueError(
                            f"decks: card {chooser[turn]} is not offered in turn {turn}"
                        )
            return [deck if player == other else [] for player in range(2)]
        random = np.random.default_rng(self.rows.requests.draw(row))
        choosers = self._drawn_choosers(random)
        return [_deck_of(chooser, cards, self.rules, offers, random) for chooser in choosers]

    def _drawn_choosers(self, random: np.random.Generator) -> list[Any]:
        """How each seat chooses in an episode."""
        pool = self.options.decks
        if not isinstance(pool, Pool):
            return self._choosers
        weights = np.array(pool.weights) / sum(pool.weights)
        drawn = pool.members[int(random.choice(len(weights), p=weights))]
        return deck_choosers(drawn, self.rules)

    def begin(
        self,
        row: int,
        seed: int | np.random.Generator | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin an episode of a row.

        Parameters
        ----------
        row : int
        seed : int or numpy.random.Generator, optional
            What everything random in the row follows from: 64 bits; for episodes with a choice a
            generator, whose position is copied.
        options : mapping, optional
            ``match``: parameters of the referee; ``decks``: two decks in order of choice, as base
            ids; ``state``: a `State`; ``seat``: 0 or 1; ``player``: the name of the opponent. Other
            keys are ignored.

        Raises
        ------
        ValueError
            For a value that cannot be used.
        """
        wanted = options and {
            key: value
            for key, value in options.items()
            if key in ("match", "decks", "state", "seat", "player") and value is not None
        }
        if not wanted:
            # Given decks may not fit the cards: nothing has changed then.
            kept = (
                self.rows.resets.kept(row) if isinstance(self.options.decks, list | tuple) else None
            )
            try:
                if self.rows.reset(row, seed):
                    self.serve_one(row)
            except ValueError:
                if kept is not None:
                    self.rows.resets.put_back(row, kept)
                raise
            return
        seat = wanted.get("seat")
        if seat not in (None, 0, 1):
            raise ValueError(f"seat: expected 0 or 1, got {seat!r}")
        name = wanted.get("player")
        player = None if name is None else self.players.slot(name)
        kept = self.rows.resets.kept(row)
        try:
            if seed is not None:
                self.rows.seed(row, seed)
            if self.options.episode != "battle":
                self._open_choice(row, seat, player, wanted)
                self.serve_one(row)
                return
            self.rows.resets.reseat(row, seat, player)
            if "state" in wanted:
                if not isinstance(wanted["state"], State):
                    raise ValueError(f"state: expected a State, got {wanted['state']!r}")
                self.rows.resets.begin_with(row, wanted["state"])
            else:
                self._begin_match(row, wanted.get("match"), wanted.get("decks"))
        except BaseException:
            self.rows.resets.put_back(row, kept)
            raise
        self.serve_one(row)

    def _seeds(self, row: int, params: Mapping[str, Any] | None) -> tuple[int, list[int]]:
        """The seeds of a match; what is not given follows from the row's seed."""
        seed, seeds = self.rows.views.seeds(row)
        if params is None:
            return seed, seeds
        effective = Match(self.rules.name, params={"seed": seed, **params}).params
        if set(params) - {"seed", *self.rules.seed_names}:
            raise ValueError(f"match: expected seeds only, got {', '.join(params)}")
        return int(effective["seed"]), [int(effective[name]) for name in self.rules.seed_names]

    def _open_choice(
        self, row: int, seat: int | None, player: int | None, wanted: Mapping[str, Any]
    ) -> None:
        """Begin an episode with a choice, for a seat or with parameters of the referee."""
        for name in ("decks", "state"):
            if name in wanted:
                raise ValueError(f"{name}: episodes that begin with a choice take none")
        params = wanted.get("match")
        self.rows.resets.open_choice(
            row, seat, player, params is None or "seed" not in params, params is None
        )
        if params is not None:
            seed, seeds = self._seeds(row, params)
            table, cards = (
                _generated(seeds[0]) if self._cards is None else (self._table, self._cards)
            )
            self.rows.card_sets.give_own(row, table, self._decks_of_set(cards))
            self.rows.resets.take_seeds(row, seed, seeds)
        self.rows.resets.begin_choice(row)

    def _begin_match(self, row: int, params: Mapping[str, Any] | None, decks: Any) -> None:
        seed, seeds = self._seeds(row, params)
        if self._cards is None:
            table, cards = _generated(seeds[0])
        else:
            table, cards = self._table, self._cards
        self.rows.card_sets.give_own(row, table)
        if decks is None:
            self.rows.resets.take_seeds(row, seed, seeds)
            random = np.random.default_rng(self.rows.requests.draw(row))
            offers = self.rows.card_sets.offers(row) if self.rules.draft else None
            chosen = [
                _deck_of(chooser, cards, self.rules, offers, random)
                for chooser in self._drawn_choosers(random)
            ]
        else:
            if len(decks) != 2:
                raise ValueError(f"decks: expected two, got {len(decks)}")
            chosen = [indices_of(deck, cards, self.rules) for deck in decks]
        self.rows.resets.begin_dealt(row, seed, seeds, chosen)

    # ----------------------------------------------------------------------------- results

    def match(self, row: int) -> EpisodeMatch | None:
        """Of the row's last finished episode; None if it began with a given position."""
        return self._match(self.rows.views.result(row))

    def _match(self, result: tuple[Any, ...]) -> EpisodeMatch | None:
        seed, seeds, triplets, decks = result[8:]
        if seed is None:
            return None
        cards = self._cards if self._cards is not None else _generated(seeds[0])[1]
        return EpisodeMatch(
            self.rules.name, (seed, seeds, decks, triplets), cards, self.options.cards is not None
        )

    def end_info(self, row: int) -> dict[str, Any]:
        """What the info says of the row's last finished episode."""
        result = self.rows.views.result(row)
        winner, seat, length, turn, health, illegal = result[:6]
        more: dict[str, Any] = {}
        if self.options.episode == "choice" and not illegal:
            more["winners"] = np.array(self.rows.views.winners(row), np.int8)
        healths = np.empty(2, np.int32)  # filled one by one: numpy takes long to look at a tuple
        healths[0], healths[1] = health
        return {
            "turn": turn,
            "seat": seat,
            "winner": winner,
            "returns": np.array(result[7], np.float32),
            "length": length,
            "illegal": illegal,
            "health": healths,
            "match": self._match(result),
            **more,
        }


def card_range(value: Any) -> tuple[int, int]:
    """The first cardGenSeed of `Options.card_sets`, and how many there are."""
    first, end = (0, value) if isinstance(value, int) else value
    first, end = index(first), index(end)
    if not 0 <= first < end:
        raise ValueError(f"card_sets: expected a number above 0 or (first, end), got {value!r}")
    return first, end - first


# ------------------------------------------------------------------------------------- decks


def _drawn(*arguments: Any) -> Any:
    """Stands for what a pool draws for each episode."""
    raise AssertionError("a pool is drawn from")


def deck_choosers(decks: Any, rules: RuleSet) -> list[Any]:
    """How each seat chooses: "random", base ids, or a function."""
    if isinstance(decks, Pool):
        for member in decks.members:
            deck_choosers(member, rules)
        return [_drawn, _drawn]
    if isinstance(decks, str) or callable(decks):
        decks = (decks, decks)
    if len(decks) != 2:
        raise ValueError(f"decks: expected one way for both seats or a pair, got {decks!r}")
    known = DRAFT_PICKERS if rules.draft else DECK_BUILDERS
    result: list[Any] = []
    for deck in decks:
        if isinstance(deck, str) and deck != "random" and deck not in known:
            raise ValueError(
                f"decks: expected random, {', '.join(known)}, base ids or a function,"
                f" got {deck!r}{did_you_mean(deck, ('random', *known))}"
            )
        result.append(deck if isinstance(deck, str) or callable(deck) else [index(i) for i in deck])
    return result


def _deck_source(choosers: Sequence[Any], rules: RuleSet) -> str:
    """ "random": the kernel chooses; "given": the same decks whenever a set is played; "asked"."""
    if all(chooser == "random" for chooser in choosers):
        return "random"
    if all(isinstance(chooser, list) for chooser in choosers):
        return "given"
    named = all(isinstance(chooser, str | list) and chooser != "random" for chooser in choosers)
    return "given" if named and not rules.draft else "asked"


def _seat_source(chooser: Any, rules: RuleSet) -> str:
    """... for one seat of an episode with a choice."""
    if chooser == "random":
        return "random"
    return "given" if isinstance(chooser, str) and not rules.draft else "asked"


def _deck_of(
    chooser: Any,
    cards: list[Card],
    rules: RuleSet,
    offers: list[list[int]] | None = None,
    random: np.random.Generator | None = None,
) -> list[int]:
    """A deck as indices into `cards`."""
    if isinstance(chooser, list):
        return indices_of(chooser, cards, rules)
    if rules.draft:
        assert offers is not None
        picked: list[int] = []
        offered = [[cards[i] for i in triplet] for triplet in offers]
        for turn, triplet in enumerate(offers):
            if chooser == "random":
                assert random is not None
                choice = int(random.integers(3))
            else:
                before = [cards[i] for i in picked]
                choice = pick(offered[turn], before, rules.name, chooser, offered[:turn])
            picked.append(triplet[choice])
        return picked
    if chooser == "random":
        assert random is not None
        copies = random.permutation(COPIES_PER_CARD * len(cards))[:DECK_SIZE]
        return [int(i) // COPIES_PER_CARD for i in copies]
    return indices_of(build_deck(_as_offered(cards), chooser), cards, rules)


def _as_offered(cards: list[Card]) -> list[Card]:
    """The order in which the choice phase of 1.5 shows cards."""
    return sorted(cards, key=lambda card: (card.cost, card.base_id))


def indices_of(deck: Sequence[int], cards: list[Card], rules: RuleSet) -> list[int]:
    """The places of a deck's cards, given by base ids; ``ValueError`` if there is no such deck."""
    places = {card.base_id: i for i, card in enumerate(cards)}
    if len(deck) != DECK_SIZE:
        raise ValueError(f"decks: expected {DECK_SIZE} cards, got {len(deck)}")
    for base_id in deck:
        if base_id not in places:
            raise ValueError(f"decks: there is no card with base id {base_id}")
    if not rules.draft and max(map(list(deck).count, deck)) > COPIES_PER_CARD:
        raise ValueError(f"decks: more than {COPIES_PER_CARD} copies of a card")
    return [places[base_id] for base_id in deck]
