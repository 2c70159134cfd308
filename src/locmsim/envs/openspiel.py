"""The game object that OpenSpiel's algorithms in Python ask for; `State` has OpenSpiel's methods.

    >>> import numpy as np
    >>> from open_spiel.python.algorithms import mcts
    >>> import locmsim
    >>> game = locmsim.openspiel.game("1.5")
    >>> state = game.new_initial_state(seed=1)
    >>> random = np.random.RandomState(1)
    >>> evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=random)
    >>> bot = mcts.MCTSBot(game, 2.0, 20, evaluator, random_state=random)
    >>> state.apply_action(bot.step(state))

Such a search **sees hidden cards**: a state holds both hands and the order of both decks. A player
that does not cheat is `ISMCTSBot`, which draws what is hidden anew for each simulation:

    >>> from open_spiel.python.algorithms import ismcts
    >>> bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 10, random_state=random,
    ...                        use_observation_string=True)
    >>> state.apply_action(bot.step(state))

`Game.new_match_state` is a whole match, from the choice of the decks on, that also knows its
history and the information states of the players.

`rl_environment.Environment(game)` takes the game too, with `State.observation_tensor` as what its
agents see.

What OpenSpiel has in C++ takes only its own states and refuses these with a ``TypeError``: the bots
and `evaluate_bots` of `pyspiel`, and `pyspiel.Bot.inform_action`, with which the `evaluate_bots` in
Python tells a bot what the other one did. The game cannot be loaded by name.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any

import numpy as np

from locmsim._core import State
from locmsim._options import Option, check_values, documented
from locmsim.envs.openspiel_match import MatchState
from locmsim.game.layouts import get_layout
from locmsim.game.match import Match
from locmsim.game.positions import start_position
from locmsim.rules.cards import Card
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import (
    DECK_SIZE,
    DEFAULT_RUNES,
    MAX_BOARD,
    TURN_LIMIT,
    RuleSet,
    get_rules,
)

__all__ = ["Game", "MatchState", "Observer", "game"]

_FloatLayout = Annotated[
    str,
    Option("what the numbers of a tensor mean", choices=("entities-f32", "gym-locm")),
]
#: Calls and executed actions together after which the referee of 1.5 ends a game.
_REFEREES_CAP = 1400


@documented()
class Game:
    """A rule set as a game of OpenSpiel, for `MCTSBot` and other algorithms in Python.

    `game` makes it.

    Parameters
    ----------
    options
    """

    def __init__(self, rules: Rules) -> None:
        self._rules: RuleSet = get_rules(rules)

    @property
    def rules(self) -> str:
        """Name of the rule set."""
        return self._rules.name

    def new_initial_state(
        self,
        deck0: Iterable[Card] | None = None,
        deck1: Iterable[Card] | None = None,
        *,
        seed: int | None = None,
        ids: Sequence[Iterable[int]] | None = None,
        pool: Iterable[Card] | None = None,
    ) -> State:
        """Return the start of a battle.

        Parameters
        ----------
        deck0, deck1 : iterable of Card, optional
            The decks in the order of drawing; by default both are random.
        seed : int, optional
            Of random decks. By default they are different ones each time.
        ids, pool : optional
            As of `State.new`, for decks that are given.

        Raises
        ------
        ValueError
            For arguments that do not fit together, and those of `State.new`.
        """
        if deck0 is None and deck1 is None:
            if ids is not None or pool is not None:
                raise ValueError("ids, pool: need decks")
            return start_position(secrets.randbits(63) if seed is None else seed, self.rules)
        if deck0 is None or deck1 is None:
            raise ValueError("expected two decks or none, got one")
        if seed is not None:
            raise ValueError("seed: does not apply with decks")
        return State.new(deck0, deck1, rules=self.rules, ids=ids, pool=pool)

    def new_initial_states(self) -> list[State]:
        """Return the only start of a battle, with random decks: see `new_initial_state`."""
        return [self.new_initial_state()]

    def new_match_state(self, match: Match | None = None, *, seed: int | None = None) -> MatchState:
        """Return a whole match from its choice phase on, with its history, see `MatchState`.

        Parameters
        ----------
        match : Match, optional
            Of this rule set, at its beginning; by default a new one.
        seed : int, optional
            Of the new match; without it there is another one each time.

        Raises
        ------
        ValueError
            For both arguments at once, a match of other rules, and those of `MatchState`.
        """
        if match is None:
            match = Match(self.rules, seed=seed)
        elif seed is not None:
            raise ValueError("seed: does not apply with match")
        elif match.rules != self.rules:
            raise ValueError(f"match: its rules are {match.rules}, not {self.rules}")
        return MatchState(match)

    def get_type(self) -> Any:
        """Return the ``pyspiel.GameType``: zero-sum, rewards at the end, no chance nodes.
        because the decks are shuffled before the battle."""
        import pyspiel

        kind = pyspiel.GameType
        return kind(
            short_name=f"locm_{self.rules}",
            long_name=f"Legends of Code and Magic {self.rules}, battle",
            dynamics=kind.Dynamics.SEQUENTIAL,
            chance_mode=kind.ChanceMode.DETERMINISTIC,
            information=kind.Information.IMPERFECT_INFORMATION,
            utility=kind.Utility.ZERO_SUM,
            reward_model=kind.RewardModel.TERMINAL,
            max_num_players=2,
            min_num_players=2,
            provides_information_state_string=False,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=True,
        )

    def num_players(self) -> int:
        """Return 2."""
        return 2

    def num_distinct_actions(self) -> int:
        """Return 145, or 155 in rules 1.0."""
        return self._rules.num_actions

    def max_utility(self) -> float:
        """Return 1.0, the utility of a win."""
        return 1.0

    def min_utility(self) -> float:
        """Return -1.0, the utility of a loss."""
        return -1.0

    def utility_sum(self) -> float:
        """Return 0.0, the sum of both players' utilities."""
        return 0.0

    def observation_tensor_size(self) -> int:
        """Return the number of entries of `State.observation_tensor`."""
        return get_layout("entities-f32", self.rules).shape[0]

    def observation_tensor_shape(self) -> list[int]:
        """Return the shape of `State.observation_tensor`, which is a vector."""
        return [self.observation_tensor_size()]

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> "Observer":
        """Return what `open_spiel.python.observation.make_observation` returns for this game.

        Parameters
        ----------
        iig_obs_type : pyspiel.IIGObservationType, optional
            Without perfect recall, which a state alone cannot give.
        params : mapping, optional
            ``layout``: "entities-f32" (the default) or "gym-locm".

        Raises
        ------
        ValueError
            For perfect recall and unknown parameters.
        """
        if iig_obs_type is not None and iig_obs_type.perfect_recall:
            raise ValueError("a state has no past: perfect recall is not available")
        return Observer(self.rules, **(params or {}))

    def max_game_length(self) -> int:
        """Most actions of a game, PASS included.

        In 1.x no game can be longer. In 1.5 it is where the referee would end it: in theory two
        sides whose attackers drain could go on, although random games end after some 50 actions.
        """
        if not self._rules.runes:
            return _REFEREES_CAP
        # From their 51st turn on each player loses a rune a turn, or else the game. A turn has
        # one PASS and at most one attack of each creature that stood there; every card is played
        # once, and may attack in the turn in which it came.
        turns = 2 * (TURN_LIMIT + len(DEFAULT_RUNES))
        return turns * (1 + MAX_BOARD) + 2 * (2 * DECK_SIZE)

    def __repr__(self) -> str:
        return f"locmsim.openspiel.game({self.rules!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return game, (self.rules,)


@documented()
class Observer:
    """What a player sees of a state, as OpenSpiel's observers have it.

    `set_from` fills `tensor`; the views in `dict` are parts of it.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        If the rule set has no such layout, or its numbers are not float32.
    """

    def __init__(self, rules: Rules, layout: _FloatLayout = "entities-f32") -> None:
        check_values(Observer, layout=layout)
        kind = get_layout(layout, rules)
        self._layout = layout
        #: float32 array, changed in place.
        self.tensor = np.zeros(kind.shape, np.float32)
        #: Name of a block -> view of `tensor`.
        self.dict = kind.split(self.tensor)

    def set_from(self, state: State, player: int) -> None:
        """Fill `tensor` with what `player` sees of `state`.

        Parameters
        ----------
        state : State
        player : int
            0 or 1.
        """
        state.observation_tensor(player, self._layout, out=self.tensor)

    def string_from(self, state: State, player: int) -> str:
        """Return the view of `player` as text: `State.observation_string`.

        Parameters
        ----------
        state : State
        player : int
            0 or 1.
        """
        return state.observation_string(player)


@cache
def game(rules: str) -> Game:
    """Return the game object of a rule set, always the same; ``ValueError`` for unknown rules.

    Parameters
    ----------
    rules : {"1.5", "1.2", "1.0"}

    Returns
    -------
    Game
        Always the same object.

    Raises
    ------
    ValueError
        For unknown rules.
    """
    return Game(rules)
