"""A whole match as a state of OpenSpiel: choice phase and battle, and all that has been done.

    >>> import locmsim
    >>> state = locmsim.openspiel.game("1.2").new_match_state(seed=1)
    >>> state.action_to_string(2), state.legal_actions()
    ('PICK 2', [0, 1, 2])
    >>> state.apply_action(2)
    >>> state.history_str(), state.current_player()
    ('2', 1)

A `locmsim.State` is a position and has no past. This has one, and so it knows what each player has
been shown. `locmsim.openspiel.MatchState` is its public name.
"""

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from locmsim._checks import player_number
from locmsim._core import State
from locmsim._spiel import SpielState
from locmsim.errors import GameOverError, IllegalActionError
from locmsim.game.answers import answer_line
from locmsim.game.match import Match
from locmsim.rules.rulesets import COPIES_PER_CARD, get_rules

__all__ = ["MatchState"]

_TERMINAL_PLAYER = -4


class MatchState(SpielState):
    """A match in which players act one after the other.

    In the choice phase of 1.5 player 0 takes 30 cards, then player 1, who is not shown them: action
    i takes the i-th card of the offer. In a draft both take one of three, player 0 first, and
    neither sees what the other one takes. In the battle actions are those of `locmsim.State`;
    ``PASS`` hands in the turn. A player who dies from the cards that they draw is not asked.

    Parameters
    ----------
    match : Match
        At its beginning, which it must be; it is copied.

    Raises
    ------
    ValueError
        If the match has begun, has the ids of 2022, or offers too few cards for a deck.
    """

    def __init__(self, match: Match) -> None:
        if match.history_str():
            raise ValueError("the match has begun")
        if match.log["ids"] != "new":
            raise ValueError("ids: those of 2022 are for texts only")
        if match.picks > COPIES_PER_CARD * len(match.legal_picks()):
            raise ValueError(f"the offer has {len(match.offers)} cards, too few for a deck")
        self._match = match.clone()
        self._state: State | None = None  # the battle, after the actions of this turn
        self._turn: list[str] = []  # those actions, or in the choice phase the cards taken
        self._picks: list[int] = []  # ... as places in the offer
        self._history: list[int] = []

    @property
    def match(self) -> Match:
        """A copy of the match; it knows of turns that were handed in."""
        return self._match.clone()

    def clone(self) -> "MatchState":
        """Return an independent copy."""
        copy = MatchState.__new__(MatchState)
        copy._match = self._match.clone()
        copy._state = None if self._state is None else self._state.clone()
        copy._turn, copy._picks = self._turn[:], self._picks[:]
        copy._history = self._history[:]
        return copy

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> "MatchState":
        return self.clone()

    # ------------------------------------------------------------------------ acting

    def current_player(self) -> int:
        """Return 0 or 1, or -4 when the match is over."""
        return self._match.to_ask[0] if self._match.to_ask else _TERMINAL_PLAYER

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the legal actions, ascending; [] for a player not to move and at the end.

        Parameters
        ----------
        player : int, optional
            By default the player to move.

        Returns
        -------
        list of int
            Ascending; [] for a player not to move and at the end.
        """
        mover = self.current_player()
        if mover < 0 or player not in (None, mover):
            return []
        if self._state is not None:
            return self._state.legal_actions()
        return self._match.legal_picks(self._picks)

    def legal_actions_mask(self, player: int | None = None) -> NDArray[np.int8]:
        """Return an int8 array of `num_distinct_actions()` entries, 1 where an action is legal.

        Parameters
        ----------
        player : int, optional
            By default the player to move.

        Returns
        -------
        int8 array (num_distinct_actions(),)
        """
        mask = np.zeros(self.num_distinct_actions(), np.int8)
        mask[self.legal_actions(player)] = 1
        return mask

    def apply_action(self, action: SupportsIndex) -> None:
        """Apply a legal action.

        Parameters
        ----------
        action : int

        Raises
        ------
        GameOverError
            When the match is over.
        IllegalActionError
            For an action that is not legal. The state is then as it was.
        """
        if self.is_terminal():
            raise GameOverError(f"action {action}: the match is over")
        number = int(action)
        if number not in self.legal_actions():
            raise IllegalActionError(f"action {action} is not legal here: {self}")
        text = self.action_to_string(number)
        self._history.append(number)
        if text != "PASS":
            self._turn.append(text)
        if self._state is None:
            self._picks.append(number)
            ends = len(self._picks) == self._match.picks
        else:
            if text != "PASS":
                self._state.apply_action(number)
            ends = text == "PASS" or self._state.is_terminal()
        if ends:
            self._hand_in()

    def _hand_in(self) -> None:
        """Submit the actions of the mover, then for a player who has died from their draw."""
        match = self._match
        match.submit(match.to_ask[0], answer_line(self._turn))
        self._turn, self._picks = [], []
        if match.state is not None and match.to_ask and match.state.is_terminal():
            match.submit(match.to_ask[0], "PASS")
        self._state = None if match.state is None else match.state.clone()

    def child(self, action: SupportsIndex) -> "MatchState":
        """Return the state after a legal action as a new one; errors as `apply_action`.

        Parameters
        ----------
        action : int
        """
        state = self.clone()
        state.apply_action(action)
        return state

    def action_to_string(self, *args: SupportsIndex) -> str:
        """Return the referee's text of an action: `action_to_string([player,] action)`.

        Parameters
        ----------
        *args : int
            The action, after the player if there are two numbers.

        Raises
        ------
        IllegalActionError
            The number names nothing here.
        """
        number = int(args[-1])
        if self._state is not None:
            return self._state.action_to_string(number)
        if number not in self._match.legal_picks():
            raise IllegalActionError(f"action {number} names nothing here: {self}")
        return self._match.choice_line([number])

    # ------------------------------------------------------------------------ results

    def is_terminal(self) -> bool:
        """Return whether the match is over."""
        return not self._match.to_ask

    def returns(self) -> list[float]:
        """Return [1.0, -1.0] or [-1.0, 1.0] for the players; [0.0, 0.0] before the end."""
        winner = self._match.winner
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2.0 * winner - 1]

    # ------------------------------------------------------------------------ what is known

    def history(self) -> list[int]:
        """Return all actions of both players, in order."""
        return self._history[:]

    def history_str(self) -> str:
        """Return `history` as text, as OpenSpiel writes it: ``"0, 17, 121"``."""
        return ", ".join(map(str, self._history))

    def move_number(self) -> int:
        """Return the number of actions so far."""
        return len(self._history)

    def information_state_string(self, player: int | None = None) -> str:
        """Return everything that a player has been shown and has done so far.

        Parameters
        ----------
        player : int, optional
            By default the player to move.

        Returns
        -------
        str
            `Match.information_state_string`, and for the player to move a last line with the
            actions since then. Equal strings mean that the player cannot tell the states apart, and
            never could.

        Raises
        ------
        ValueError
            For any other `player`, and without one at the end of the match.
        """
        who = _player(self.current_player() if player is None else player)
        known = self._match.information_state_string(who)
        if who == self.current_player():
            known += "".join([f"{text};" for text in self._turn])
        return known

    def observation_string(self, player: int | None = None) -> str:
        """Return the present view of a player, without the history.

        Parameters
        ----------
        player : int, optional
            By default the player to move.

        Returns
        -------
        str
            In the battle `State.observation_string`; in the choice phase the offer, and the cards
            that the player has taken.

        Raises
        ------
        ValueError
            For any other `player`, and without one at the end of the match.
        """
        who = _player(self.current_player() if player is None else player)
        if self._state is not None:
            return self._state.observation_string(who)
        counts = [str(base_id) for base_id in self._match.chosen[who]]
        if who == self.current_player():
            counts += self._turn
        return f"player {who} has {' '.join(counts) or '-'}\n{self._match.input_text(who)}"

    # ------------------------------------------------------------------------ what it is

    def num_distinct_actions(self) -> int:
        """Return 145, or 155 in rules 1.0; actions of the choice phase are below that too."""
        return get_rules(self._match.rules).num_actions

    def get_game(self) -> Any:
        """Return the game object of `locmsim.openspiel` for this rule set."""
        from locmsim.envs.openspiel import game

        return game(self._match.rules)

    def __str__(self) -> str:
        if self._state is not None:
            return str(self._state)
        over = "over" if self.is_terminal() else f"player {self.current_player()} chooses"
        return f"LOCM {self._match.rules}, {over}"

    def __repr__(self) -> str:
        return f"<MatchState of {self._match!r} after {len(self._history)} actions>"


def _player(player: int) -> int:
    player = player_number(player)
    return int(player)
