"""The options of environments, each declared once: what it may be, and what it means."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from numbers import Real
from typing import Annotated, Any, TypedDict

import numpy as np
from gymnasium import spaces

from locmsim.agents import did_you_mean, is_agent
from locmsim.agents._scripted import SCRIPTED
from locmsim.agents.registry import refuse_own_cards
from locmsim.envs._potentials import POTENTIALS
from locmsim.envs.pool import CALLER
from locmsim.envs.rendering import RENDER_MODES
from locmsim.game.layouts import CHOICE, Layout, LayoutName, battle_layout, get_layout
from locmsim.options.declarations import Option, check, documented
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import get_rules

__all__ = [
    "HIDDEN_SIZE",
    "OptionValues",
    "Options",
    "RenderMode",
    "SharedOptionValues",
    "options_of",
    "spaces_of",
]

#: Numbers of a privileged state: 24 for each card, of two hands of 8 and two decks of 30.
HIDDEN_SIZE = 24 * 2 * (8 + 30)
#: The largest number of battles and actions.
_MOST = 2**31 - 1
#: The card sets by default.
_CARD_SETS = 1024
#: Rewards at the end of an episode.
_RESULTS = {"win-loss", "deck-value"}
#: Potentials by name: weights of those in `POTENTIALS`.
_SHAPING: dict[str, dict[str, float]] = {
    **{name: {name: 1.0} for name in POTENTIALS},
    "health": {"player-health": 1.0, "opponent-health": 1.0},
    "board-presence": {"player-board-presence": 1.0, "opponent-board-presence": 1.0},
}


#: An option of all environments, besides `Options`.
RenderMode = Annotated[
    str | None,
    Option(
        "what `render` shows: a text, the same printed, or a picture as an array",
        choices=tuple(RENDER_MODES),
        more='"rgb_array" needs the extra ``png``.',
    ),
]


class SharedOptionValues(TypedDict, total=False):
    """The types of those `Options` that do not say who plays, for keyword arguments."""

    rules: str
    episode: str
    decks: Any
    cards: Any
    battlers: tuple[str, str]
    battles: int
    deck_values: bool
    card_sets: Any
    refresh: int
    layout: str
    mask: str
    reward: Any
    shaping: Mapping[str, float]
    gamma: float
    illegal: str
    max_actions: int
    privileged: bool


class OptionValues(SharedOptionValues, total=False):
    """The types of `Options`, for the keyword arguments of constructors."""

    opponent: Any
    seat: str
    players: Any


@documented()
@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of an environment, checked.

    Values other than objects and functions can be written as JSON, and so can the `EnvSpec` of an
    environment that is made with them.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        For a value that cannot be used; the message names the option.
    """

    rules: Rules = "1.5"
    episode: Annotated[
        str,
        Option(
            "what an episode is: a battle; the choice of a deck, rewarded by the battles that"
            " others play with it; or the choice and then the battle",
            choices=("battle", "choice", "match"),
        ),
    ] = "battle"
    opponent: Annotated[
        Any,
        Option(
            "who plays the other seat",
            kind="str, Policy, Agent, callable or Pool",
            more='Compiled: "pass", "random", "max-attack", "osl", "greedy" and "beam:nodes=N",'
            " which takes all options of the agent except time limits. Asked in batches: a"
            ' `Policy` or its file, "policy:path=FILE,temperature=T", an ONNX session, or any'
            " object with ``act_batch(observations, masks, seeds) -> actions``. The arrays have one"
            " entry per row, and seeds have 64 bits. If the object has the attribute ``layout``,"
            " observations have that layout. If it has ``state_shape``, it is also passed"
            " ``state=``, a float32 array of that shape for each row, which it changes in place and"
            " which is zero when an episode begins. Asked row by row: the name of any agent, an"
            " `Agent` object (in environments with one row), or a function (observation, mask) ->"
            " action. Agents of the library are named without the options ``deck`` and ``draft``,"
            ' which `decks` replaces. "caller": the caller plays both seats. A `Pool` draws one of'
            " these for each episode. An environment has 64 players at most, those included that"
            " still play running episodes.",
        ),
    ] = "greedy"
    seat: Annotated[
        str,
        Option("where the caller plays", choices=("random", "first", "second", "alternate")),
    ] = "random"
    players: Annotated[
        Any,
        Option(
            'a player for each seat, one of them "caller"; replaces `opponent` and `seat`',
            kind="pair",
        ),
    ] = None
    decks: Annotated[
        Any,
        Option(
            "how decks are chosen, for both seats or for each",
            kind="str, list of int, callable, pair of these, or Pool",
            more='It is "random", the name of a deck builder (1.5) or draft picker (1.x), base ids,'
            ' or a function like a builder or picker. "classic/random" is a pair of names. A `Pool`'
            " of these draws one for each episode.",
        ),
    ] = "random"
    cards: Annotated[
        Any,
        Option(
            "1.5: a card list to be used in all episodes, of 15 to 120 cards with different base"
            " ids",
            kind="list of Card",
        ),
    ] = None
    battlers: Annotated[
        tuple[str, str],
        Option(
            "the agents that play the battles after a choice, first with the caller's deck, then"
            " with the other one",
            kind="pair of str",
            needs=("episode", "choice"),
            more='Scripted agents and "beam:nodes=N" are compiled; any other agent plays row by'
            " row.",
        ),
    ] = ("beam:nodes=500", "beam:nodes=500")
    battles: Annotated[
        int,
        Option(
            "number of battles that are played after a choice",
            1,
            _MOST,
            needs=("episode", "choice"),
            more="The reward is the mean of their results, 1 or -1 each. The first battle has the"
            " shuffled decks of the match, the others are shuffled anew.",
        ),
    ] = 1
    deck_values: Annotated[
        bool,
        Option(
            "let the info at the end of a choice have ``deck_values``, the value of both decks by"
            " the networks that build decks and draft",
            needs=("episode", "choice"),
            more="The difference is the log-odds of winning: a baseline with less noise than the"
            " results of battles.",
        ),
    ] = False
    card_sets: Annotated[
        Any,
        Option(
            "1.5: the card sets, generated with cardGenSeed 0, 1, ... below this number, or with"
            " those of a pair (first, end)",
            kind="int, pair of int, or None",
            more="None: new cards in each episode, at the cost of a millisecond. It does not apply"
            " with `cards`; rules 1.x, with their one card list, take and ignore it, so that the"
            " same options serve all rule sets.",
        ),
    ] = _CARD_SETS
    refresh: Annotated[
        int,
        Option(
            "number of episodes of a row after which the set with the lowest cardGenSeed is"
            " replaced by the one after the highest; 0 for never",
            0,
            _MOST,
            more="It does not apply with `cards` or without `card_sets`; rules 1.x take and ignore"
            " it, like `card_sets`.",
        ),
    ] = 0
    layout: LayoutName = "entities"
    mask: Annotated[
        str,
        Option(
            "where the action mask is",
            choices=("obs", "info"),
            more='With "obs" observations are dicts with an ``action_mask``, with "info" they are'
            " plain arrays and the mask is in the info.",
        ),
    ] = "obs"
    reward: Annotated[
        Any,
        Option(
            "what is paid",
            kind="str or callable",
            more='"win-loss": 1 or -1 at the end. "deck-value", for episodes of "choice": the'
            " result that the networks that build decks and draft expect of the two decks, tanh of"
            " half the difference of their values, with less noise than battles."
            ' "deck-value=0.5,win-loss=0.5": both, weighted. An illegal pick counts as a lost'
            ' battle in each. "gym-locm:coac=1,win-loss=2": the weighted differences that gym-locm'
            " 2.0.0b1 adds up. A function receives a mapping of the arrays of a step, which have"
            " one entry per row (``obs``, ``masks``, ``rewards`` and ``rewards_both`` as with"
            ' "win-loss" and `shaping`, ``terminated``, ``truncated``, ``to_move``, ``acted``),'
            " and returns the rewards. ``final_obs`` has the positions after the step, also where"
            " an episode has ended and ``obs`` is already that of the next one.",
        ),
    ] = "win-loss"
    shaping: Annotated[
        Mapping[str, float],
        Option(
            "weights of potentials",
            kind="mapping of str to float",
            more="Adds ``gamma * phi(s') - phi(s)`` between decisions of the caller, where phi is 0"
            " at the end, so that optimal policies stay the same. The opponent's potentials are"
            " negative (minus their health over 30), so positive weights count for the caller.",
        ),
    ] = field(default_factory=dict)
    gamma: Annotated[
        float, Option("discount factor of `shaping`, without which it does not apply", 0.0, 1.0)
    ] = 1.0
    illegal: Annotated[
        str,
        Option(
            "what an illegal action does: it loses at once, counts as PASS, or raises"
            " `IllegalActionError`",
            choices=("lose", "pass", "raise"),
        ),
    ] = "lose"
    max_actions: Annotated[
        int,
        Option(
            "number of actions of both players after which an episode is truncated",
            1,
            _MOST,
            more="The referee of 1.5 ends games after 1,400.",
        ),
    ] = 1400
    privileged: Annotated[
        bool,
        Option(
            "add a ``state`` to observations: all cards in hands and decks, int8 of `HIDDEN_SIZE`",
            needs=("mask", "obs"),
            more="It is meant for critics; a policy that is to play must not see it.",
        ),
    ] = False

    def __post_init__(self) -> None:
        get_rules(self.rules)
        self.who_plays()
        self._check_battlers()
        check(self)
        if self.episode == "match" and self.layout != "entities":
            raise ValueError(f'layout: {self.layout} does not apply with episode="match"')
        if self.cards is not None and get_rules(self.rules).draft:
            raise ValueError(f"cards: rules {self.rules} have a fixed card list")
        self._check_without_effect()

    def _check_without_effect(self) -> None:
        """Refuse options that another one leaves without effect."""
        if self.gamma != 1 and not self.shaping:
            raise ValueError("gamma: needs shaping, of which it is the discount factor")
        if self.cards is not None:
            if self.card_sets != _CARD_SETS:
                raise ValueError("card_sets: does not apply with cards")
            if self.refresh:
                raise ValueError("refresh: does not apply with cards")
        if self.refresh and self.card_sets is None:
            raise ValueError("refresh: does not apply with card_sets=None")

    def _check_battlers(self) -> None:
        if not isinstance(self.battlers, tuple | list) or len(self.battlers) != 2:
            raise ValueError(f"battlers: expected two, got {self.battlers!r}")
        for agent in self.battlers:
            if not isinstance(agent, str):
                raise ValueError(f"battlers: expected names of agents, got {agent!r}")
            if agent not in SCRIPTED and not is_agent(agent):
                guess = did_you_mean(agent.partition(":")[0])
                raise ValueError(f"battlers: unknown agent {agent!r}{guess}")
            if agent not in SCRIPTED:
                refuse_own_cards(agent, "battlers", "who play decks that others have chosen")

    def who_plays(self) -> tuple[Any, str]:
        """Return the player of the other seat and where the caller plays, however it was said."""
        if self.players is None:
            return self.opponent, self.seat
        if self.seat != "random" or self.opponent != "greedy":
            other = "opponent" if self.seat == "random" else "seat"
            raise ValueError(f"players: does not apply with {other}")
        if not isinstance(self.players, tuple | list) or len(self.players) != 2:
            raise ValueError(f"players: expected one for each seat, got {self.players!r}")
        callers = [isinstance(one, str) and one == CALLER for one in self.players]
        if not any(callers):
            raise ValueError(f"players: expected 'caller' for one seat, got {self.players!r}")
        seat = callers.index(True)
        return self.players[1 - seat], ("first", "second")[seat]

    @property
    def observation_layout(self) -> Layout:
        """The layout as an object; ``ValueError`` if the rule set does not have it."""
        return battle_layout(self.layout, self.rules)

    def rewards(self) -> tuple[float, float, bool, list[float]]:
        """Return the worth of a win and of a better deck, and of potentials whether they count
        undiscounted, with their weights."""
        if callable(self.reward):
            return 1.0, 0.0, False, _weights("shaping", self.shaping)
        weights: dict[str, float] = {}
        text = self.reward if isinstance(self.reward, str) else ""
        potentials = text.startswith("gym-locm:")
        for part in text.removeprefix("gym-locm:").split(","):
            name, equals, weight = part.partition("=")
            try:
                weights[name] = float(weight) if equals else 1.0
            except ValueError:
                raise ValueError(f"reward: {name}: expected a number, got {weight!r}") from None
            if not isfinite(weights[name]):
                raise ValueError(f"reward: {name}: expected a finite number, got {weight!r}")
        if potentials:
            if self.shaping:
                raise ValueError(f"shaping: does not apply with reward {self.reward!r}")
            win = weights.pop("win-loss", 0.0)
            return win, 0.0, True, _weights("reward", weights)
        if weights.keys() - _RESULTS:
            raise ValueError(
                "reward: expected win-loss, deck-value, both as deck-value=0.5,win-loss=0.5, or"
                f" gym-locm:NAME[=WEIGHT],..., got {self.reward!r}"
                f"{did_you_mean(text, sorted(_RESULTS))}"
            )
        win, deck = (weights.get(name, 0.0) for name in ("win-loss", "deck-value"))
        if "deck-value" in weights and self.episode != "choice":
            raise ValueError('reward: deck-value needs episode="choice"')
        return win, deck, False, _weights("shaping", self.shaping)


def _weights(option: str, weights: Mapping[str, float]) -> list[float]:
    if not isinstance(weights, Mapping):
        raise ValueError(f"{option}: expected a mapping of potentials to weights, got {weights!r}")
    total = dict.fromkeys(POTENTIALS, 0.0)
    for name, weight in weights.items():
        if name not in _SHAPING:
            raise ValueError(
                f"{option}: unknown potential {name!r}{did_you_mean(name, _SHAPING)}: expected one"
                f" of {', '.join(_SHAPING)}"
            )
        if not isinstance(weight, Real) or not isfinite(weight):
            raise ValueError(f"{option}: {name}: expected a finite number, got {weight!r}")
        for part, factor in _SHAPING[name].items():
            total[part] += factor * weight
    return list(total.values())


def options_of(values: Mapping[str, Any]) -> Options:
    """Return `Options` with these values.

    Parameters
    ----------
    values : mapping
        Name -> value.

    Raises
    ------
    ValueError
        For an unknown option, with a suggestion.
    """
    known = [option.name for option in fields(Options)]
    for option in values:
        if option not in known:
            raise ValueError(
                f"unknown option {option!r}{did_you_mean(option, known)}: expected"
                f" {', '.join(known)}"
            )
    return Options(**values)


def spaces_of(options: Options) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """Return the spaces of observations and actions.

    Parameters
    ----------
    options : Options

    Returns
    -------
    observations, actions : gymnasium.spaces.Space
    """
    rules = get_rules(options.rules)
    n_actions, parts = 0, []
    if options.episode != "choice":
        layout = options.observation_layout
        n_actions += rules.num_actions
        parts.append((layout.low, layout.high, layout.dtype))
    if options.episode != "battle":
        choice = get_layout(CHOICE, rules.name)
        n_actions += choice.actions
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
