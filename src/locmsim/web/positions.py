"""Positions that pages ask about: of a turn of a match, or that were set up."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from locmsim._core import State
from locmsim.game.action_text import cards_of
from locmsim.game.ids2022 import read_input
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.knowledge import knowledge_at, replayed
from locmsim.referee.process_match import Call, Result
from locmsim.rules.cards import Card
from locmsim.search.belief import Belief
from locmsim.web.match_data import told_apart


@dataclass
class Position:
    """A position with what the player to move knows."""

    #: What searches are given.
    seen: Observation | State
    #: What is known from earlier turns.
    belief: Belief | None
    #: What clicks act on; the hidden places of an observation hold any cards.
    root: State
    #: What the players are called.
    names: tuple[str, str]
    #: The turn of its match, if it is from one.
    turn: int | None = None
    #: The cards of its match, or those that it shows: they get their titles together.
    cards: tuple[Card, ...] = ()

    @property
    def mover(self) -> int:
        """Whose turn it is."""
        return self.root.current_player()

    @property
    def hidden(self) -> int | None:
        """The player whose hand is not known; None if both are."""
        return None if self.belief is None else 1 - self.mover

    def whole(self) -> State:
        """Return the position with cards in all places: as it is, or one that is possible."""
        if isinstance(self.seen, State) or self.belief is None:
            return self.root.clone()
        return _numbered(self.belief.sample(0))

    def after(self, actions: list[str]) -> State:
        """Return the position after actions; raise ``ValueError`` if one of them is illegal."""
        state = self.root.clone()
        for text in actions:
            state.apply_action(state.string_to_action(text))
        return state


def position_of_match(result: Result[Match], names: tuple[str, str], turn: int) -> Position:
    """Return the position at the start of a turn of a match."""
    observation, belief = knowledge_at(result, turn)
    first, second = told_apart(names)
    cards = tuple(result.match.cards)
    return _checked(Position(observation, belief, belief.root(), (first, second), turn, cards))


def position_of_state(state: State, mover: str = "The player to move") -> Position:
    """Return a position of which all is known, with what the player to move is called."""
    return Position(state, None, state, _names(state, mover), cards=(*cards_of(state),))


def position_of_text(text: str, rules: str | None = None) -> Position:
    """Return a position from its text, or else from what a bot is sent."""
    text = text.strip()
    if not text:
        raise ValueError("there is no text")
    if "\n" not in text:
        try:
            state = State.from_text(text)
        except ValueError as error:
            raise ValueError(
                f"one line is the text of a position (State.to_text), but: {error}"
            ) from None
        return _checked(position_of_state(state))
    observation = read_input(text + "\n", rules)
    if observation.phase == "choice":
        raise ValueError("this is of the choice phase: there is no position yet")
    belief = Belief()
    belief.see(observation)
    root = belief.root()
    return _checked(replace(position_of_state(root), seen=observation, belief=belief))


def _numbered(state: State) -> State:
    """Return a sampled position, in which hidden cards get instance ids that no other card has."""
    text = state.to_text()
    used = {int(number) for number in re.findall(r"(?<=[/,])(\d+):", text)}
    fields = text.split(" ")
    for player in (0, 1):
        first = 60 * player if state.rules == "1.5" else player + 1
        own = [one for one in range(first, 240, 2) if one not in used]
        shown, *hidden = re.split(r"\?(?=:)", fields[3 + player])
        parts = [f"{number}{part}" for number, part in zip(own, hidden, strict=False)]
        fields[3 + player] = "".join([shown, *parts])
        used.update(own[: len(parts)])
    return State.from_text(" ".join(fields))


def state_at_step(result: Result[Match], step: int) -> State:
    """Return the state at a step of a match."""
    left = step
    for _, state, applied in played_turns(result):
        if 0 <= left <= len(applied):
            for text in applied[:left]:
                state.apply_action(state.string_to_action(text))
            return state
        left -= 1 + len(applied)
    raise ValueError(f"the match has no step {step}")


def played_turns(result: Result[Match]) -> Iterator[tuple[Call, State, list[str]]]:
    """Return the turns of a match, in the instance ids of this version."""
    for call, match in replayed(result):
        if match.state is not None:
            yield call, match.state.clone(), call.result.applied


def _names(state: State, mover: str) -> tuple[str, str]:
    other = "The opponent"
    return (mover, other) if state.current_player() == 0 else (other, mover)


def _checked(position: Position) -> Position:
    if position.root.is_terminal():
        raise ValueError("the match is decided in this position")
    return position
