"""LOCM as a game of OpenSpiel: a battle, or a whole match from the choice of the decks on.

    >>> import numpy as np
    >>> from open_spiel.python.algorithms import mcts
    >>> import locmsim
    >>> game = locmsim.openspiel.game("1.5")
    >>> state = game.new_initial_state(seed=1)
    >>> random = np.random.RandomState(1)
    >>> evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=random)
    >>> bot = mcts.MCTSBot(game, 2.0, 20, evaluator, random_state=random)
    >>> state.apply_action(bot.step(state))

The first node is one of chance: its outcome is the seed that everything random follows from. So
seeds reach the game as they reach others, by ``rl_environment.Environment(game).seed(1)`` or by the
generator that an algorithm draws chance outcomes with.

A search of states **sees hidden cards**: a state holds both hands and the order of both decks. A
player that does not cheat is `ISMCTSBot`, which draws what is hidden anew for each simulation:

    >>> from open_spiel.python.algorithms import ismcts
    >>> bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 10, random_state=random,
    ...                        use_observation_string=True)
    >>> state.apply_action(bot.step(state))

Python's search bots take a `locmsim.State` as well, which is a few times as fast.

The games are registered as ``locm_1.5``, ``locm_1.5_match`` and so on: once this module has been
imported, `pyspiel.load_game` knows them.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from locmsim._core import State
from locmsim.errors import IllegalActionError
from locmsim.game.answers import answer_line
from locmsim.game.layouts import get_layout
from locmsim.game.match import Match
from locmsim.game.positions import start_position
from locmsim.options.checks import whole
from locmsim.options.declarations import Option, check_values, documented
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import (
    DECK_SIZE,
    DEFAULT_RUNES,
    MAX_BOARD,
    RULES,
    TURN_LIMIT,
    RuleSet,
    get_rules,
)

_Game: Any = object
_State: Any = object
try:
    import pyspiel

    _Game, _State = pyspiel.Game, pyspiel.State
except ImportError:  # `game` says so
    pyspiel = None

__all__ = ["BattleState", "Game", "MatchState", "Observer", "game"]

_FloatLayout = Annotated[
    str,
    Option("what the numbers of a tensor mean", choices=("entities-f32", "gym-locm")),
]
#: Calls and executed actions together after which the referee of 1.5 ends a game.
_REFEREES_CAP = 1400
#: The seeds that a game may begin with.
_SEEDS = 4096


class Game(_Game):  # type: ignore[misc]
    """A rule set as a ``pyspiel.Game``: zero-sum, for two players, with rewards at the end.

    `game` makes it.

    Parameters
    ----------
    rules : {"1.5", "1.2", "1.0"}
        The rule set.
    match : bool
        Whether a game is a whole match.
    params : mapping, optional
        None are known; OpenSpiel passes an empty mapping.
    """

    def __init__(
        self, rules: Rules, match: bool = False, params: Mapping[str, Any] | None = None
    ) -> None:
        self._rules: RuleSet = get_rules(rules)
        self._match = match
        longest = _longest(self._rules) + 2 * DECK_SIZE * match
        info = pyspiel.GameInfo(
            num_distinct_actions=self._rules.num_actions,
            max_chance_outcomes=_SEEDS,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=longest,
        )
        super().__init__(_kind(rules, match), info, params or {})

    @property
    def rules(self) -> str:
        """Name of the rule set."""
        return self._rules.name

    @property
    def match(self) -> bool:
        """Whether a game is a whole match."""
        return self._match

    def new_initial_state(self, seed: int | None = None) -> Any:
        """Return the start of a game, a `BattleState` or a `MatchState`.

        Parameters
        ----------
        seed : int, optional
            The outcome of the chance node that a game begins with, below 4,096. Without it, the
            state is that node.

        Raises
        ------
        ValueError
            For a seed that is no outcome.
        """
        state = MatchState(self) if self._match else BattleState(self)
        if seed is not None:
            state.apply_action(whole("seed", seed, 0, _SEEDS - 1))
        return state

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> "Observer":
        """Return what `open_spiel.python.observation.make_observation` returns for this game.

        Parameters
        ----------
        iig_obs_type : pyspiel.IIGObservationType, optional
            With perfect recall, which a match has and a battle alone has not.
        params : mapping, optional
            ``layout``: "entities-f32" (the default) or "gym-locm", of a battle.

        Raises
        ------
        ValueError
            For perfect recall of a battle, and unknown parameters.
        """
        recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        return Observer(self.rules, self._match, recall, **(params or {}))

    def __repr__(self) -> str:
        return f"locmsim.openspiel.game({self.rules!r}{', match=True' * self._match})"

    def __reduce__(self) -> tuple[Any, ...]:
        return game, (self.rules, self._match)


def _longest(rules: RuleSet) -> int:
    """The most actions of a battle, PASS included.

    In 1.x no battle can be longer. In 1.5 it is where the referee would end it: in theory two sides
    whose attackers drain could go on, although random games end after some 50 actions.
    """
    if not rules.runes:
        return _REFEREES_CAP
    # From their 51st turn on each player loses a rune a turn, or else the game. A turn has one PASS
    # and at most one attack of each creature that stood there; every card is played once, and may
    # attack in the turn in which it came.
    turns = 2 * (TURN_LIMIT + len(DEFAULT_RUNES))
    return turns * (1 + MAX_BOARD) + 2 * (2 * DECK_SIZE)


class BattleState(_State):  # type: ignore[misc]
    """A battle as a ``pyspiel.State``, first a chance node whose outcome is the seed.

    Parameters
    ----------
    game : Game
        Which makes it.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._rules = game.rules
        self._battle: State | None = None

    @property
    def state(self) -> State | None:
        """A copy of the battle's `State`, with all that is hidden; None before it."""
        return None if self._battle is None else self._battle.clone()

    def current_player(self) -> int:
        """Return 0 or 1, -1 for chance, or -4 at the end."""
        return -1 if self._battle is None else self._battle.current_player()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return all seeds, each as probable as the others."""
        return [(seed, 1 / _SEEDS) for seed in range(_SEEDS)]

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self._battle is not None and self._battle.is_terminal()

    def returns(self) -> list[float]:
        """Return [1.0, -1.0] or [-1.0, 1.0] for the players; [0.0, 0.0] before the end."""
        return [0.0, 0.0] if self._battle is None else self._battle.returns()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> Any:
        """Return a state that looks the same to a player: see `State.resample_from_infostate`.

        Parameters
        ----------
        player : int
            0 or 1, the player whose knowledge is kept.
        sampler : callable
            Returns random numbers, 0 <= x < 1.

        Returns
        -------
        BattleState
            Its history is not its own.
        """
        assert self._battle is not None
        found = self.clone()
        found._battle = self._battle.resample_from_infostate(player, sampler)
        return found

    # What OpenSpiel calls, by its names.

    def _legal_actions(self, player: int) -> list[int]:
        assert self._battle is not None
        return self._battle.legal_actions(player)

    def _apply_action(self, action: int) -> None:
        if self._battle is None:
            self._begin(action)
        else:
            self._battle.apply_action(action)

    def _begin(self, seed: int) -> None:
        self._battle = start_position(seed, self._rules)

    def _action_to_string(self, player: int, action: int) -> str:
        if self._battle is None:
            return f"seed {action}"
        return self._battle.action_to_string(action)

    def _seen(self, player: int, recall: bool) -> str:
        """What a player sees, or with `recall` all that they have been shown."""
        return "" if self._battle is None else self._battle.observation_string(player)

    def __str__(self) -> str:
        return "before the deal" if self._battle is None else str(self._battle)


class MatchState(BattleState):
    """A match in which players act one after the other, as a ``pyspiel.State``.

    In the choice phase of 1.5 player 0 takes 30 cards, then player 1, who is not shown them: action
    i takes the i-th card of the offer. In a draft both take one of three, player 0 first, and
    neither sees what the other one takes. In the battle actions are those of `locmsim.State`;
    ``PASS`` hands in the turn. A player who dies from the cards that they draw is not asked.

    Parameters
    ----------
    game : Game
        Which makes it.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._match: Match | None = None
        self._turn: list[str] = []  # actions of this turn, or in the choice phase the cards taken
        self._picks: list[int] = []  # ... as places in the offer

    @property
    def match(self) -> Match | None:
        """A copy of the match, which knows of turns that were handed in; None before the deal."""
        return None if self._match is None else self._match.clone()

    def current_player(self) -> int:
        """Return 0 or 1, -1 for chance, or -4 when the match is over."""
        if self._match is None:
            return -1
        return self._match.to_ask[0] if self._match.to_ask else -4

    def is_terminal(self) -> bool:
        """Return whether the match is over."""
        return self._match is not None and not self._match.to_ask

    def returns(self) -> list[float]:
        """Return [1.0, -1.0] or [-1.0, 1.0] for the players; [0.0, 0.0] before the end."""
        winner = None if self._match is None else self._match.winner
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2.0 * winner - 1]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> Any:
        """Raise ``NotImplementedError``: what is hidden in a match is not drawn anew.

        Parameters
        ----------
        player, sampler
            As of `BattleState`.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            "what is hidden in a match is not drawn anew: expected a battle, game(rules)"
        )

    def _legal_actions(self, player: int) -> list[int]:
        assert self._match is not None
        if player != self.current_player():
            return []
        if self._battle is not None:
            return self._battle.legal_actions()
        return self._match.legal_picks(self._picks)

    def _begin(self, seed: int) -> None:
        self._match = Match(self._rules, seed=seed)

    def _apply_action(self, action: int) -> None:
        if self._match is None:
            self._begin(action)
            return
        if action not in self._legal_actions(self.current_player()):
            raise IllegalActionError(f"action {action} is not legal here: {self}")
        text = self._action_to_string(self.current_player(), action)
        if text != "PASS":
            self._turn.append(text)
        if self._battle is None:
            self._picks.append(action)
            ends = len(self._picks) == self._match.picks
        else:
            if text != "PASS":
                self._battle.apply_action(action)
            ends = text == "PASS" or self._battle.is_terminal()
        if ends:
            self._hand_in(self._match)

    def _hand_in(self, match: Match) -> None:
        """Submit the actions of the mover, then for a player who has died from their draw."""
        match.submit(match.to_ask[0], answer_line(self._turn))
        self._turn, self._picks = [], []
        if match.state is not None and match.to_ask and match.state.is_terminal():
            match.submit(match.to_ask[0], "PASS")
        self._battle = None if match.state is None else match.state.clone()

    def _action_to_string(self, player: int, action: int) -> str:
        if self._match is None or self._battle is not None:
            return super()._action_to_string(player, action)
        if action not in self._match.legal_picks():
            raise IllegalActionError(f"action {action} names nothing here: {self}")
        return self._match.choice_line([action])

    def _seen(self, player: int, recall: bool) -> str:
        if self._match is None:
            return ""
        if not recall and self._battle is not None:
            return super()._seen(player, recall)
        # The player to move knows what they have done since they were asked.
        turn = self._turn if player == self.current_player() else []
        if recall:
            return self._match.information_state_string(player) + "".join([f"{t};" for t in turn])
        taken = [str(base_id) for base_id in self._match.chosen[player]] + turn
        return f"player {player} has {' '.join(taken) or '-'}\n{self._match.input_text(player)}"

    def __str__(self) -> str:
        if self._match is None or self._battle is not None:
            return super().__str__()
        return f"LOCM {self._rules}, player {self.current_player()} chooses"


@documented()
class Observer:
    """What a player sees of a state, as OpenSpiel's observers have it.

    `set_from` fills `tensor`; the views in `dict` are parts of it. Those of a match are empty.

    Parameters
    ----------
    options
    match : bool
        Whether states are of matches.
    recall : bool
        Whether texts have all that a player has been shown.

    Raises
    ------
    ValueError
        If the rule set has no such layout, or a battle is to have a past.
    """

    def __init__(
        self,
        rules: Rules,
        match: bool = False,
        recall: bool = False,
        layout: _FloatLayout = "entities-f32",
    ) -> None:
        check_values(Observer, layout=layout)
        if recall and not match:
            raise ValueError(
                "a battle has no past and so no information states: expected a match,"
                f" game({rules!r}, match=True)"
            )
        kind = get_layout(layout, rules)
        self._layout, self._recall = layout, recall
        #: float32 array, changed in place.
        self.tensor = np.zeros((0,) if match else kind.shape, np.float32)
        #: Name of a block -> view of `tensor`.
        self.dict = {} if match else kind.split(self.tensor)

    def set_from(self, state: Any, player: int) -> None:
        """Fill `tensor` with what `player` sees of `state`.

        Parameters
        ----------
        state : State or BattleState
        player : int
            0 or 1.
        """
        battle = state._battle if isinstance(state, BattleState) else state
        if len(self.tensor) and battle is not None:
            battle.observation_tensor(player, self._layout, out=self.tensor)

    def string_from(self, state: Any, player: int) -> str:
        """Return the view of `player` as text.

        Parameters
        ----------
        state : State or BattleState
        player : int
            0 or 1.
        """
        if isinstance(state, BattleState):
            return state._seen(player, self._recall)
        text: str = state.observation_string(player)
        return text


def _kind(rules: str, match: bool) -> Any:
    """Return the ``pyspiel.GameType`` of a game."""
    kind = pyspiel.GameType
    return kind(
        short_name=f"locm_{rules}{'_match' * match}",
        long_name=f"Legends of Code and Magic {rules}, {'match' if match else 'battle'}",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=match,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=not match,
        parameter_specification={},
    )


_game = cache(Game)


def game(rules: str, match: bool = False) -> Game:
    """Return the game object of a rule set.

    Parameters
    ----------
    rules : {"1.5", "1.2", "1.0"}
    match : bool
        Whether a game is a whole match, from the choice of the decks on.

    Returns
    -------
    Game
        Always the same object.

    Raises
    ------
    ValueError
        For unknown rules.
    ModuleNotFoundError
        Without OpenSpiel.
    """
    if pyspiel is None:
        raise ModuleNotFoundError("locmsim.openspiel needs OpenSpiel: pip install open_spiel")
    return _game(rules, match)


def _register(rules: str, match: bool) -> None:
    def make(params: Mapping[str, Any]) -> Game:
        return Game(rules, match, params)

    vars(make)["itself"] = make  # OpenSpiel lets go of it when there is no interpreter any more
    pyspiel.register_game(_kind(rules, match), make)


if pyspiel is not None:
    for _rules in RULES:
        _register(_rules, False)
        _register(_rules, True)
