"""The options of environments: what each may be, and how constructors spell them out."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from math import isfinite
from numbers import Real
from typing import Any, TypedDict, TypeVar

import numpy as np
from gymnasium import spaces

from locmsim._checks import number, whole
from locmsim.agents import did_you_mean, is_agent
from locmsim.agents._scripted import SCRIPTED
from locmsim.envs._potentials import POTENTIALS
from locmsim.envs.players import CALLER
from locmsim.game.layouts import CHOICE, Layout, battle_layout, get_layout
from locmsim.rules.rulesets import get_rules

__all__ = [
    "HIDDEN_SIZE",
    "IDS",
    "OptionValues",
    "Options",
    "options_of",
    "spaces_of",
    "spelled_out",
]

_CHOICES = {
    "episode": ("battle", "choice", "match"),
    "seat": ("random", "first", "second", "alternate"),
    "illegal": ("lose", "pass", "raise"),
    "mask": ("obs", "info"),
}
#: Numbers of a privileged state: 24 for each card, of two hands of 8 and two decks of 30.
HIDDEN_SIZE = 24 * 2 * (8 + 30)
#: The largest number of battles and actions.
_MOST = 2**31 - 1
#: Rewards at the end of an episode.
_RESULTS = {"win-loss", "deck-value"}
#: Potentials by name: weights of those in `POTENTIALS`.
_SHAPING: dict[str, dict[str, float]] = {
    **{name: {name: 1.0} for name in POTENTIALS},
    "health": {"player-health": 1.0, "opponent-health": 1.0},
    "board-presence": {"player-board-presence": 1.0, "opponent-board-presence": 1.0},
}
#: Name of an id -> the options that it stands for; `episode` cannot be another one.
IDS: dict[str, dict[str, str]] = {
    "Battle": {"episode": "battle"},
    "Construct": {"episode": "choice"},
    "Draft": {"episode": "choice", "rules": "1.2"},
    "Match": {"episode": "match"},
}


class OptionValues(TypedDict, total=False):
    """The types of `Options`, for the keyword arguments of constructors."""

    rules: str
    episode: str
    opponent: Any
    seat: str
    players: Any
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


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of an environment, checked.

    Values other than objects and functions can be written as JSON, and so can the `EnvSpec` of an
    environment that is made with them.

    Parameters
    ----------
    rules : {"1.5", "1.2", "1.0"}
        The rule set.
    episode : {"battle", "choice", "match"}
        What an episode is: a battle; the choice of a deck, rewarded by the battles that others play
        with it; or the choice and then the battle.
    opponent : str, Policy, Agent, callable or Pool
        Who plays the other seat. Compiled: "pass", "random", "max-attack", "osl", "greedy" and
        "beam:nodes=N", which takes all options of the agent except time limits. Asked in batches: a
        `Policy` or its file, "policy:path=FILE,temperature=T", an ONNX session, or any object with
        ``act_batch(observations, masks, seeds) -> actions``. The arrays have one entry per row, and
        seeds have 64 bits. If the object has the attribute ``layout``, observations have that
        layout. If it has ``state_shape``, it is also passed ``state=``, a float32 array of that
        shape for each row, which it changes in place and which is zero when an episode begins.
        Asked row by row: the name of any agent, an `Agent` object (in environments with one row),
        or a function (observation, mask) -> action. "caller": the caller plays both seats. A `Pool`
        draws one of these for each episode.
        An environment has 64 players at most, those included that still play running episodes.
    seat : {"random", "first", "second", "alternate"}
        Where the caller plays.
    players : pair, optional
        A player for each seat, one of them "caller"; replaces `opponent` and `seat`.
    decks : str, list of int, callable, pair of these, or Pool
        How decks are chosen, for both seats or for each: "random", the name of a deck builder (1.5)
        or draft picker (1.x), base ids, or a function like a builder or picker. "classic/random" is
        a pair of names. A `Pool` of these draws one for each episode.
    cards : list of Card, optional
        1.5: a card list to be used in all episodes, of 15 to 120 cards with different base ids.
    battlers : pair of str
        Episodes of "choice": the agents that play the battles, first with the caller's deck, then
        with the other one. Scripted agents and "beam:nodes=N" are compiled; any other agent plays
        row by row.
    battles : int
        Episodes of "choice": how many battles are played. The reward is the mean of their results,
        1 or -1 each. The first battle has the shuffled decks of the match, the others are shuffled
        anew.
    deck_values : bool
        Episodes of "choice": the info at the end has ``deck_values``, the value of both decks by
        the networks that build decks and draft. The difference is the log-odds of winning: a
        baseline with less noise than the results of battles.
    card_sets : int, pair of int, or None
        1.5: card sets are generated with cardGenSeed 0, 1, ... below this number, or with those of
        a pair (first, end). None: new cards in each episode, at the cost of a millisecond.
    refresh : int
        After this many episodes of a row, the set with the lowest cardGenSeed is replaced by the
        one after the highest; 0 for never.
    layout : {"entities", "entities-f32", "gym-locm"}
        What the numbers of an observation mean. Matches have "entities".
    mask : {"obs", "info"}
        Where the action mask is: "obs" for observations that are dicts with an ``action_mask``,
        "info" for plain arrays with the mask in the info.
    reward : str or callable
        "win-loss": 1 or -1 at the end. "deck-value", for episodes of "choice": the result that
        the networks that build decks and draft expect of the two decks, tanh of half the difference
        of their values, with less noise than battles. "deck-value=0.5,win-loss=0.5": both,
        weighted.
        An illegal pick counts as a lost battle in each. "gym-locm:coac=1,win-loss=2": the weighted
        differences that gym-locm 2.0.0b1 adds up. A function receives a mapping of the arrays of a
        step, which have one entry per row (``obs``, ``masks``, ``rewards`` and ``rewards_both`` as
        with "win-loss" and `shaping`, ``terminated``, ``truncated``, ``to_move``, ``acted``), and
        returns the rewards. ``final_obs`` has the positions after the step, also where an episode
        has ended and ``obs`` is already that of the next one.
    shaping : mapping of str to float
        Weights of potentials. Adds ``gamma * phi(s') - phi(s)`` between decisions of the caller,
        where phi is 0 at the end, so that optimal policies stay the same.
    gamma : float
        The discount factor of `shaping`.
    illegal : {"lose", "pass", "raise"}
        What an illegal action does: it loses at once, counts as PASS, or raises
        `IllegalActionError`.
    max_actions : int
        Actions of both players after which an episode is truncated. The referee of 1.5 ends games
        after 1,400.
    privileged : bool
        Add a ``state`` to observations: all cards in hands and decks, int8 of `HIDDEN_SIZE`. It is
        meant for critics; a policy that is to play must not see it.

    Raises
    ------
    ValueError
        For a value that cannot be used; the message names the option.
    """

    rules: str = "1.5"
    episode: str = "battle"
    opponent: Any = "greedy"
    seat: str = "random"
    players: Any = None
    decks: Any = "random"
    cards: Any = None
    battlers: tuple[str, str] = ("beam:nodes=500", "beam:nodes=500")
    battles: int = 1
    deck_values: bool = False
    card_sets: Any = 1024
    refresh: int = 0
    layout: str = "entities"
    mask: str = "obs"
    reward: Any = "win-loss"
    shaping: Mapping[str, float] = field(default_factory=dict)
    gamma: float = 1.0
    illegal: str = "lose"
    max_actions: int = 1400
    privileged: bool = False

    def __post_init__(self) -> None:
        get_rules(self.rules)
        if self.players is not None:
            self._take_players()
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise ValueError(
                    f"{name}: expected one of {', '.join(known)},"
                    f" got {value!r}{did_you_mean(str(value), known)}"
                )
        for name, least in (("battles", 1), ("max_actions", 1), ("refresh", 0)):
            object.__setattr__(self, name, whole(name, getattr(self, name), least, _MOST))
        self._check_battlers()
        for name in ("battlers", "battles"):
            default = type(self).__dataclass_fields__[name].default
            if self.episode != "choice" and getattr(self, name) != default:
                raise ValueError(f'{name}: expected episode="choice", whose decks others play')
        if self.episode == "match" and self.layout != "entities":
            raise ValueError(f"layout: expected entities, got {self.layout!r}")
        number("gamma", self.gamma, 0, 1)
        if self.privileged and self.mask != "obs":
            raise ValueError("privileged: expected mask='obs', as observations have to be dicts")
        if self.deck_values and self.episode != "choice":
            raise ValueError('deck_values: expected episode="choice"')
        if self.cards is not None and get_rules(self.rules).draft:
            raise ValueError(f"cards: rules {self.rules} have a fixed card list")

    def _check_battlers(self) -> None:
        if not isinstance(self.battlers, tuple | list) or len(self.battlers) != 2:
            raise ValueError(f"battlers: expected two, got {self.battlers!r}")
        for agent in self.battlers:
            if not isinstance(agent, str):
                raise ValueError(f"battlers: expected names of agents, got {agent!r}")
            if agent not in SCRIPTED and not is_agent(agent):
                guess = did_you_mean(agent.partition(":")[0])
                raise ValueError(f"battlers: unknown agent {agent!r}{guess}")

    def _take_players(self) -> None:
        """Make `opponent` and `seat` of a pair of players."""
        if self.seat != "random" or self.opponent != "greedy":
            raise ValueError("players: does not go together with opponent and seat")
        if not isinstance(self.players, tuple | list) or len(self.players) != 2:
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
                raise ValueError(f"shaping: does not go together with reward {self.reward!r}")
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
            raise ValueError('reward: deck-value is for episode="choice"')
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


def options_of(values: Mapping[str, Any], name: str = "") -> Options:
    """Return `Options` with these values, added to those that an environment id stands for.

    Parameters
    ----------
    values : mapping
        Name -> value.
    name : str
        That of an id; none by default.

    Raises
    ------
    ValueError
        For an unknown option, with a suggestion, and for options of another id.
    """
    known = [option.name for option in fields(Options)]
    for option in values:
        if option not in known:
            raise ValueError(
                f"unknown option {option!r}{did_you_mean(option, known)}: expected"
                f" {', '.join(known)}"
            )
    options = Options(**{**IDS.get(name, {}), **values})
    if name and options.episode != IDS[name]["episode"]:
        raise ValueError(
            f"episode: expected {IDS[name]['episode']!r} for {name}, got {options.episode!r}"
        )
    if name in ("Construct", "Draft") and get_rules(options.rules).draft != (name == "Draft"):
        has, expected = ("no draft", "1.2 or 1.0") if name == "Draft" else ("a draft", "1.5")
        raise ValueError(f"rules: {options.rules} has {has}, expected {expected}")
    return options


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


# ----------------------------------------------------------------------------- spelling them out

_Target = TypeVar("_Target", bound=Callable[..., Any])
_HEADING = "Parameters\n----------\n"


def spelled_out(name: str = "", without: tuple[str, ...] = ()) -> Callable[[_Target], _Target]:
    """Return a decorator that lists the options in the docstring of a class or function.

    Parameters
    ----------
    name : str
        That of an id, whose defaults are shown.
    without : tuple of str
        Options that are not shown.

    Returns
    -------
    callable
        It puts an entry for each option in place of the line ``options`` in the docstring, and in
        place of ``**options`` in the signature: of a function, in the one that the site shows.
    """

    def spell(target: _Target) -> _Target:
        defaults = IDS.get(name, {})
        hidden = {"episode", *without} if name else set(without)
        if defaults.get("episode", "choice") != "choice":
            hidden |= {"battlers", "battles"}
        shown = [option for option in fields(Options) if option.name not in hidden]
        # Sphinx reads the source of functions for their defaults, and takes no other signature.
        place = "__signature__" if inspect.isclass(target) else "__signature_of_options__"
        setattr(target, place, _signature(target, shown, defaults))
        if target.__doc__:  # not with -OO
            target.__doc__ = _completed(target, hidden)
        return target

    return spell


def _signature(
    target: Any, shown: Sequence[Field[Any]], defaults: Mapping[str, str]
) -> inspect.Signature:
    """Return the signature of a class or function, with options in place of ``**options``."""
    signature = inspect.signature(target)
    own = [
        one
        for one in signature.parameters.values()
        if one.kind is not one.VAR_KEYWORD and one.name not in OptionValues.__annotations__
    ]
    options = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(option.name, {} if option.default is MISSING else option.default),
            annotation=OptionValues.__annotations__[option.name],
        )
        for option in shown
    ]
    return signature.replace(parameters=[*own, *options])


def _completed(target: Any, hidden: set[str]) -> str:
    """Return a docstring with an entry for each option, or the base class's parameters."""
    text = inspect.cleandoc(target.__doc__)
    entries = _descriptions()
    if _HEADING in text:
        shown = "".join(entry for option, entry in entries.items() if option not in hidden)
        return f"{text}\n".replace("\noptions\n", f"\n{shown}").rstrip()
    documented = next(base for base in target.__mro__ if _HEADING in (base.__doc__ or ""))
    parameters = str(documented.__doc__).partition(_HEADING)[2].partition("\n\n")[0] + "\n"
    for option in hidden:
        parameters = parameters.replace(entries[option], "")
    return f"{text}\n\n{_HEADING}{parameters}"


def _descriptions() -> dict[str, str]:
    """Return the entry of each option among the parameters of `Options`."""
    text = inspect.cleandoc(Options.__doc__ or "").partition(_HEADING)[2]
    entries: dict[str, str] = {}
    for line in text.partition("\n\n")[0].splitlines():
        if not line.startswith(" "):
            name = line.partition(" : ")[0]
            entries[name] = ""
        entries[name] += f"{line}\n"
    return entries
