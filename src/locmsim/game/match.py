"""One whole game as the referee runs it, without processes or clocks.

Sources: docs/rules.md, sections 1 (seeds and parameters), 3 (choice phase), 4 (turns), 8 (answer
lines and scores) and 10 (time limits).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from locmsim._core import State, original_of
from locmsim.contract import Fault, TurnResult
from locmsim.errors import GameOverError, InvalidActionError
from locmsim.game._match import MALFORMED, NO_ANSWER, base_ids
from locmsim.game.choice import fault_kind, fault_text, start_match
from locmsim.game.explain import explain
from locmsim.game.ids2022 import OldIds
from locmsim.game.legality import illegal_actions
from locmsim.game.observation import Observation, OpponentAction
from locmsim.game.params import effective_params, fixed_cards
from locmsim.options.checks import OptionError, player_number
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import DECK_SIZE, RuleSet, get_rules

_LOG_OF_PLAY = ("rules", "ids", "params", "cards", "answers")
#: The least time for a first answer in a match that begins in a position, in ms.
_FIRST_MS = 1000
_LOG_OF_RESULT = ("winner", "scores", "error")


class _Shown(NamedTuple):
    """A request to a player: a choice step, or a state with the opponent's last actions."""

    at: int | State
    actions: tuple[OpponentAction, ...]
    line: str | None


class Match:
    """One game: which players to ask, what they are sent, and the effect of their answers.

    Parameters
    ----------
    rules : str
        The rule set: "1.5", "1.2" or "1.0".
    seed : int, optional
        The seed from which all others are derived; it takes precedence over ``params["seed"]``.
        Without any seed a random one is drawn.
    params : mapping, optional
        The referee's own keys with strings or integers: ``seed`` and the seeds of the rule set
        (`RuleSet.seed_names`), ``predefinedCardListFile`` (1.5), ``predefinedDraftIds`` (1.x) and
        ``league`` (1.0; 1 to 4, the lower ones draft from fewer cards). A seed given by name takes
        precedence over the one derived from ``seed``. Like the referee, a match ignores a seed that
        is not a signed 64-bit integer.
    cards : sequence of Card, optional
        The card set of 1.5, in the order in which the offer is drawn from it. It replaces the
        generated set and ``predefinedCardListFile``.
    ids : str
        With "old", `input_text` and `submit` have the instance ids of 1.5 in 2022 (docs/rules.md,
        section 1), as bots of that time expect. Everything else has today's: observations, the
        state, decks, results. `encode` and `decode` translate answers.
    start : State, optional
        The position that the match begins in, with its rules, without a choice of cards. First
        answers have a second at least, as bots must start.

    Raises
    ------
    ValueError
        `rules`, `ids` or a key is unknown, a value cannot be used, `cards` or old ids are given
        in 1.x, or the game is decided at the start.
    """

    #: Per player the base ids accepted so far, in the order of the choice.
    chosen: list[list[int]]
    #: None in the choice phase, then the live state; clone it to search.
    state: State | None
    winner: int | None
    #: 1 for the winner, 0 for the loser, -1 after a fatal answer; None until the end.
    scores: list[int] | None
    error: Fault | None

    def __init__(
        self,
        rules: str = "1.5",
        *,
        seed: int | None = None,
        params: Mapping[str, int | str] | None = None,
        cards: Sequence[Card] | None = None,
        ids: str = "new",
        start: State | None = None,
    ) -> None:
        self._rules = get_rules(rules if start is None else start.rules)
        self._ids = _codec(self._rules, ids)
        # Clones share what nobody changes.
        self._params = effective_params(self._rules, seed, params or {})
        self._fixed_cards = fixed_cards(self._rules, self._params, cards)
        self._cards, self._core = start_match(self._rules, self._params, self._fixed_cards)
        self._offers: Sequence[Sequence[Card]]
        self._offers = self._core.offers() if self._rules.draft else [self._core.cards.offer]
        self._decks: list[list[list[int]]] = [[], []]
        self.chosen = [[], []]
        self.state = None
        self.winner = None
        self.scores = None
        self.error = None
        self._step = 0  # of the choice phase
        self._pending: dict[int, str | None] = {}  # answers of this step, until both are in
        self._to_ask: tuple[int, ...] = (0, 1)
        self._answers: list[tuple[int, str | None]] = []
        self._base_ids: dict[str, int] = {}  # by instance id; an area copy has its original's
        self._performed: list[tuple[OpponentAction, ...]] = [(), ()]
        # Per player each answered observation, and the answer.
        self._shown: tuple[list[_Shown], list[_Shown]] = ([], [])
        self._start = start
        if start is not None:
            self._begin(start)

    def _begin(self, start: State) -> None:
        """Begin in a position."""
        if start.is_terminal():
            raise ValueError("start: the game is decided in this position")
        self._start, self.state = start.clone(), start.clone()
        cards: dict[int, Card] = {}
        for side in start.players:
            held = [(one.id, one.card) for one in (*side.hand, *side.deck)]
            for instance, card in held + [(one.id, one.card) for one in side.board]:
                cards[card.base_id] = card
                original = original_of(self.rules, instance)
                self._base_ids.update(base_ids(self.rules, [(original, card.base_id)]))
        self._cards = [cards[base_id] for base_id in sorted(cards)]
        self._offers = [] if self._rules.draft else [[]]
        self._to_ask = (start.current_player(),)

    def clone(self) -> "Match":
        """Return an independent copy of the match.

        Returns
        -------
        Match
            Answers to one of the two do not change the other.
        """
        copy = Match.__new__(Match)
        vars(copy).update(vars(self))
        copy._core = self._core.clone()
        copy.chosen = [ids[:] for ids in self.chosen]
        copy.state = None if self.state is None else self.state.clone()
        copy.scores = None if self.scores is None else self.scores[:]
        copy._ids = None if self._ids is None else self._ids.clone()
        copy._pending = dict(self._pending)
        copy._answers = self._answers[:]
        copy._performed = self._performed[:]
        copy._shown = (self._shown[0][:], self._shown[1][:])
        return copy

    def root(self) -> "Match":
        """Return the same match before its first answer."""
        return Match(
            self.rules,
            params=self._params,
            cards=self._fixed_cards,
            ids=self.ids,
            start=self._start,
        )

    def state_key(self) -> tuple[object, ...]:
        """Return a key that compares what different answers lead to in one match.

        Matches with the same parameters and equal keys have the same possible continuations. The
        key does not depend on the order of the actions within a turn.
        """
        chosen = tuple(map(tuple, self.chosen))
        state = None if self.state is None else _unordered(self.state)
        pending = tuple(sorted(self._pending.items()))
        return self.rules, self._step, chosen, pending, state, self.winner

    def __copy__(self) -> "Match":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Match":
        return self.clone()

    # ------------------------------------------------------------------------ asking

    @property
    def rules(self) -> str:
        """The name of the rule set."""
        return self._rules.name

    @property
    def params(self) -> dict[str, int | str]:
        """The seeds and other parameters in effect."""
        return dict(self._params)

    @property
    def cards(self) -> list[Card]:
        """All cards of the game in ascending base id."""
        return self._cards[:]

    @property
    def offers(self) -> list[Card] | list[list[Card]]:
        """The offers: a list of cards in 1.5, of 30 triplets in 1.x (docs/rules.md, section 3)."""
        offers = [[*offer] for offer in self._offers]
        return offers if self._rules.draft else offers[0]

    @property
    def decks(self) -> list[list[list[int]]]:
        """Per player ``[instance id, base id]`` in draw order; both empty until the battle."""
        return [[pair[:] for pair in deck] for deck in self._decks]

    @property
    def ids(self) -> Literal["new", "old"]:
        """Whose instance ids `input_text` and `submit` have, today's or those of 2022."""
        return "new" if self._ids is None else "old"

    @property
    def phase(self) -> Literal["choice", "battle", "over"]:
        """The phase of the game."""
        if self.winner is not None:
            return "over"
        return "choice" if self.state is None else "battle"

    @property
    def turn(self) -> int | None:
        """The battle turn, counted over both players from 0; None in the choice phase."""
        return None if self.state is None else self.state.turn

    @property
    def to_ask(self) -> tuple[int, ...]:
        """The players who must answer: both or one in the choice phase, () at the end."""
        return self._to_ask

    def observation(self, player: int) -> Observation:
        """Return the observation of a player who is asked.

        Parameters
        ----------
        player : int
            A player in `to_ask`.

        Raises
        ------
        ValueError
            It is not the player's turn.
        """
        self._check_asked(player)
        if self.state is None:
            return self._core.observation(player, self._step)
        return Observation.of(self.state, player, self._performed[1 - player])

    def input_text(self, player: int) -> str:
        """Return the text that the referee sends to a player.

        Parameters
        ----------
        player : int
            A player in `to_ask`.

        Returns
        -------
        str
            The observation, with the instance ids that `ids` says.

        Raises
        ------
        ValueError
            It is not the player's turn.
        """
        self._check_asked(player)
        return self._text(player, self._question(player, None))

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        """Return a function that asks an agent in a seat for its answer.

        Parameters
        ----------
        agent : Agent
            See `locmsim.agents.Agent`.
        player : int
            The seat, 0 or 1.

        Returns
        -------
        callable
            Without arguments; it returns the answer line, for `submit`.
        """
        observation = self.observation(player)
        answer = agent.choose if observation.phase == "choice" else agent.act
        if self._ids is None:
            return partial(answer, observation)
        return lambda: self.encode(answer(observation))

    def encode(self, line: str) -> str:
        """Return an answer with the instance ids that `submit` expects.

        Parameters
        ----------
        line : str
            An answer to the present question, or actions of a past one, in today's ids.

        Returns
        -------
        str
            The same line if it is malformed, or if ids are today's.
        """
        return self._translated(line, to_old=True)

    def decode(self, line: str) -> str:
        """Return an answer as it was submitted with today's instance ids: the inverse of `encode`.

        Parameters
        ----------
        line : str
            An answer to the present question, or actions of a past one.

        Returns
        -------
        str
            The same line if it is malformed, or if ids are today's.
        """
        return self._translated(line, to_old=False)

    def _translated(self, line: str, to_old: bool) -> str:
        if self._ids is None or self.state is None or not isinstance(line, str):
            return line
        ids = self._ids.clone()
        try:
            return (ids.old_line if to_old else ids.new_line)(self.state, line)
        except InvalidActionError:
            return line

    @property
    def picks(self) -> int:
        """The number of cards to choose in the current step of the choice phase; 0 afterwards."""
        if self.phase != "choice":
            return 0
        return 1 if self._rules.draft else DECK_SIZE

    def legal_picks(self, picks: Sequence[int] = ()) -> list[int]:
        """Return the cards that may be taken in the current step of the choice phase.

        Parameters
        ----------
        picks : sequence of int
            Indices in the offer of the cards that the same answer has already taken.

        Returns
        -------
        list of int
            Indices in `Observation.offer`; [] after the choice phase.
        """
        return self._core.legal_picks(picks) if self.phase == "choice" else []

    def choice_line(self, picks: Sequence[int]) -> str:
        """Return the answer that chooses cards of the current offer.

        Parameters
        ----------
        picks : sequence of int
            Indices of the cards in the offer, as many as the step requires.

        Returns
        -------
        str
            The answer line, such as "PICK 1".
        """
        if self._rules.draft:
            return f"PICK {picks[-1]}"
        offer = self._offer(0)
        return ";".join([f"CHOOSE {offer[place].base_id}" for place in picks])

    def time_limit_ms(self, player: int) -> int:
        """Return the time that a player has for the answer, in milliseconds.

        Parameters
        ----------
        player : int
            A player in `to_ask`.

        Raises
        ------
        ValueError
            It is not the player's turn.
        """
        self._check_asked(player)
        if self.state is None:
            return self._rules.choice_limits_ms[self._step > 0]
        limit = self._rules.battle_limits_ms[self.state.turn > 1]
        if self._start is not None and not self._shown[player]:
            return max(limit, _FIRST_MS)
        return limit

    def information_state_string(self, player: int) -> str:
        """Return everything that `player` has been shown and has answered so far.

        Two matches with equal strings have shown the player the same at every step: this is the
        information state in which a strategy decides.

        Parameters
        ----------
        player : int
            0 or 1, whether in `to_ask` or not.

        Returns
        -------
        str
            A line ``player 0``; then each text that the referee sent, followed by the answer on a
            line that starts with ``> ``, or by a line ``!`` for a timeout. If `player` is asked now
            it ends with the text of the question.

        Raises
        ------
        ValueError
            `player` is not 0 or 1.
        """
        player = player_number(player)
        parts = [f"player {player}\n"]
        for shown in self._shown[player]:
            parts.append(self._text(player, shown))
            parts.append("!\n" if shown.line is None else f"> {shown.line}\n")
        if player in self._to_ask:
            parts.append(self.input_text(player))
        return "".join(parts)

    def history_str(self) -> str:
        """Return all answers in order, as a text that is unique for each history.

        Returns
        -------
        str
            A line for each answer: the player, a colon, a blank and what they answered; the player
            alone for a timeout.
        """
        return "\n".join(
            [str(player) if line is None else f"{player}: {line}" for player, line in self._answers]
        )

    def _question(self, player: int, line: str | None) -> "_Shown":
        """Return the request that `line` answers, to be stored with it."""
        if self.state is None:
            return _Shown(self._step, (), line)
        return _Shown(self.state.clone(), self._performed[1 - player], line)

    def _observation(self, player: int, shown: "_Shown") -> Observation:
        if isinstance(shown.at, int):
            return self._core.observation(player, shown.at)
        return Observation.of(shown.at, player, shown.actions)

    def _text(self, player: int, shown: "_Shown") -> str:
        """Return what was sent for a request; old ids, once assigned, never change."""
        seen = self._observation(player, shown)
        return (seen if self._ids is None else self._ids.old_observation(seen)).format()

    def _check_asked(self, player: int) -> None:
        """Check the player; in the choice phase, both are asked until both have answered."""
        asked = (0, 1) if self.phase == "choice" else self._to_ask
        if player_number(player) not in asked:
            raise ValueError(f"player {player} is not asked now: {_who(asked)}")

    # ------------------------------------------------------------------------ answers

    def submit(self, player: int, line: str | None) -> TurnResult:
        """Submit the answer of a player.

        In the choice phase the answers are checked when both are in; the first one gets an empty
        result.

        Parameters
        ----------
        player : int
            A player of `to_ask`.
        line : str or None
            The answer without its line break, with the instance ids that `ids` says; None for a
            timeout.

        Returns
        -------
        TurnResult
            Its actions have today's instance ids.

        Raises
        ------
        GameOverError
            The match is over.
        ValueError
            The player is not in `to_ask`, or there is a line break in the line. The match is
            unchanged.
        TypeError
            The line is not a string. The match is unchanged.
        """
        if self.phase == "over":
            raise GameOverError("the match is over and accepts no more answers")
        player = player_number(player)
        if player not in self._to_ask:
            raise ValueError(f"player {player} must not answer now: {_who(self._to_ask)}")
        if not (line is None or isinstance(line, str)):
            raise TypeError(f"answer: expected a string, or None for a timeout, got {line!r}")
        if line is not None and ("\n" in line or "\r" in line):
            raise ValueError(f"answer: expected a single line, got {line!r}")
        question = self._question(player, line)
        self._answers.append((player, line))
        self._shown[player].append(question)
        if self.state is not None:
            return self._take_turn(self.state, player, line)
        self._pending[player] = line
        self._to_ask = tuple(p for p in self._to_ask if p != player)
        if not self._to_ask:
            self._apply_choices()
        return TurnResult([], [], self.error)

    def _apply_choices(self) -> None:
        for player in (0, 1):
            line = self._pending[player]
            fault = NO_ANSWER
            if line is not None:
                fault = self._core.answer(player, line, self.chosen[player])
            if fault:
                offer = self._offer(self._step)
                self._fail(player, fault, fault_text(self._rules, player, fault, offer))
                return
        self._pending.clear()
        self._step += 1
        if len(self.chosen[0]) == DECK_SIZE:
            self._start_battle()
            self._to_ask = (0,)
        else:
            self._to_ask = (0, 1)

    def _offer(self, step: int) -> Sequence[Card]:
        return self._offers[step]

    def _start_battle(self) -> None:
        self._decks = self._core.decks()
        self._base_ids = base_ids(self.rules, self._decks[0] + self._decks[1])
        self.state = self._core.deal()

    def _take_turn(self, state: State, player: int, line: str | None) -> TurnResult:
        if line is None:
            return TurnResult([], [], self._fail(player, NO_ANSWER, f"${player} timeout!"))
        turn = state.turn
        ids = self._ids
        try:
            applied, ignored = state.apply_line(line if ids is None else ids.new_line(state, line))
        except InvalidActionError as fault:
            return TurnResult([], [], self._fail(player, MALFORMED, f"${player}: {fault}"))
        if state.turn == turn:  # the turn did not pass: somebody has won
            self._end(state)
        else:
            known = self._base_ids
            self._performed[player] = tuple(
                [OpponentAction(known[text.split(" ", 2)[1]], text) for text in applied]
            )
            self._to_ask = (1 - player,)
        return TurnResult(applied, ignored)

    def _fail(self, player: int, fault: int, message: str) -> Fault:
        """End the match by the fault of `player`."""
        self.error = Fault(player, fault_kind(fault), message)
        self._end(self.state, player, fault)
        return self.error

    def _end(self, state: State | None, *fault: int) -> None:
        self.winner, self.scores = self._core.end(state, *fault)
        self._to_ask = ()

    def explain(self) -> str:
        """Explain to people what was wrong with the answer that ended the match; "" if none did."""
        if self.error is None:
            return ""
        player = self.error.player
        line = next(line for seat, line in reversed(self._answers) if seat == player)
        n_chosen = len(self.chosen[player]) if self.state is None else None
        return explain(self.rules, self.error, line, n_chosen)

    def illegal_actions(self, line: str) -> list[tuple[str, str]]:
        """Return the illegal actions of an answer that is not submitted yet.

        Parameters
        ----------
        line : str
            The answer, with the instance ids that `ids` says.

        Returns
        -------
        list of tuple of str
            The canonical text of each, with today's instance ids, and the reason, such as "no
            mana" (`locmsim.game.legality.illegal_reason`); empty in the choice phase.
        """
        state = self.state
        return [] if state is None else illegal_actions(state, self.decode(line))

    # ------------------------------------------------------------------------ log

    @property
    def log(self) -> dict[str, Any]:
        """All of the match so far as plain dicts, lists, ints and strings, for `Match.replay`.

        ``rules``; ``start``, if the match began in a position, its text; ``ids``, those of the
        answers; ``params``; ``cards``: None, or the card set if
        neither the rules nor a seed determine it, each card as its row and its name; ``answers``:
        ``[player, line]`` in order, line None for a timeout; ``winner``, ``scores``, ``error``
        (None, or ``player``, ``kind`` and ``message``).
        """
        fixed, start = self._fixed_cards, self._start
        return {
            "rules": self.rules,
            **({} if start is None else {"start": start.to_text()}),
            "ids": self.ids,
            "params": self.params,
            "cards": None if fixed is None else [[*card.to_row(), card.name] for card in fixed],
            "answers": [list(answer) for answer in self._answers],
            "winner": self.winner,
            "scores": None if self.scores is None else list(self.scores),
            "error": self.error and self.error.row(),
        }

    @classmethod
    def replay(cls, log: Mapping[str, Any]) -> "Match":
        """Replay the match of a `log`, answer by answer.

        Parameters
        ----------
        log : mapping
            As `Match.log` returns it.

        Raises
        ------
        ValueError
            `log` is not a log, an answer cannot be replayed, or the result differs.
        """
        try:
            rules, ids, params, rows, answers = (log[key] for key in _LOG_OF_PLAY)
            result = {key: log[key] for key in _LOG_OF_RESULT}
            cards = None if rows is None else [Card(*row) for row in rows]
            answers = [(player, line) for player, line in answers]
            params = dict(params)
            start = State.from_text(log["start"]) if "start" in log else None
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a match log: {error!r}") from None
        match = cls(rules, params=params, cards=cards, ids=ids, start=start)
        for i, (player, line) in enumerate(answers):
            try:
                match.submit(player, line)
            except (TypeError, ValueError) as error:
                raise ValueError(f"answer {i} of the log: {error}") from None
        for key, value in result.items():
            if match.log[key] != value:
                raise ValueError(f"{key}: {value!r} in the log, {match.log[key]!r} when replayed")
        return match

    def __repr__(self) -> str:
        return f"<Match {self.rules} seed={self._params['seed']} {self.phase}>"


def _unordered(state: State) -> str:
    """Return what follows from the actions of a battle, without the order of the creatures."""
    seen = state.snapshot()
    for fields, player in zip(seen["p"], state.players, strict=True):
        rows = zip(fields["board"], player.effects_forgotten, strict=True)
        fields["board"] = sorted([*row, forgotten] for row, forgotten in rows)
    return str(seen)


def _codec(rules: RuleSet, ids: str) -> OldIds | None:
    if ids not in ("new", "old"):
        raise OptionError("ids", f"expected new or old, got {ids!r}")
    if ids == "old" and rules.draft:
        raise OptionError("ids", f"does not apply to rules {rules.name}, whose ids never changed")
    return OldIds() if ids == "old" else None


def _who(players: tuple[int, ...]) -> str:
    return f"it is the turn of {players}" if players else "the match is over"
