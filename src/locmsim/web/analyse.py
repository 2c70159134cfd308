"""The page *Analyse*: the best turns of a position, and what another one would lead to."""

import math
import threading
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from locmsim._core import State
from locmsim.art import card_title
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.knowledge import knowledge_at
from locmsim.referee.matches import Result
from locmsim.search.analysis import analyse
from locmsim.search.belief import Belief
from locmsim.search.evaluation import Evaluation
from locmsim.web.endpoints import Refusal, post, text_of, whole_of
from locmsim.web.site import Page, Site
from locmsim.web.views import Cards, board_view, legal_texts, named

__all__ = ["page"]

#: Seconds of a search, at most, and searches at a time.
_SECONDS = 30.0
_SEARCHES = 2
#: Lines, cards of the opponent's hand and actions that are shown or taken, at most.
_LINES = 8
_HELD = 12
_ACTIONS = 60
#: Characters of an answer.
_ANSWER = 2000


@dataclass
class _Position:
    """A position that a page asks about."""

    #: What the searches are given, with what is known from before.
    seen: Observation | State
    belief: Belief | None
    #: What the clicks act on; the hidden places of an observation hold any cards.
    root: State
    names: tuple[str, str]
    turn: int | None = None
    turns: tuple[dict[str, Any], ...] = ()

    @property
    def mover(self) -> int:
        """Whose turn it is."""
        return self.root.current_player()


def page(site: Site) -> Page:
    """The page and its endpoints: a position, the search in it, and the position after actions."""
    running = threading.BoundedSemaphore(_SEARCHES)

    def opened(request: Request, data: dict[str, Any]) -> object:
        position = _position(site, data)
        cards = Cards()
        return {
            **_after(position, cards, []),
            **cards.to_json(),
            "rules": position.root.rules,
            "seat": position.mover,
            "names": position.names,
            "turn": position.turn,
            "turns": position.turns,
        }

    def step(request: Request, data: dict[str, Any]) -> object:
        return _after(_position(site, data), Cards(), _actions(data))

    def search(request: Request, data: dict[str, Any]) -> object:
        position = _position(site, data)
        seconds = data.get("seconds", 2.0)
        if type(seconds) not in (int, float) or not 0 < seconds <= _SECONDS:
            raise Refusal(f"seconds: expected a number above 0, up to {_SECONDS:g}")
        if not running.acquire(blocking=False):
            raise Refusal("other searches are running: wait for them", 429)
        try:
            found = analyse(
                position.seen,
                time_ms=1000 * seconds,
                seed=whole_of(data, "seed", 0),
                belief=position.belief,
            )
        finally:
            running.release()
        cards = Cards()
        board_view(position.root, cards, hidden=1 - position.mover)  # so the keys are those of open
        lines = []
        for line in found.lines[:_LINES]:
            actions = [] if line.line == "PASS" else line.line.split(";")
            lines.append(
                {
                    "actions": actions,
                    "chance": (1 + line.value) / 2,
                    "found": line.found,
                    "visits": line.visits,
                    "board": _after(position, cards, actions)["board"],
                }
            )
        return {
            "lines": lines,
            "searches": found.searches,
            "nodes": found.nodes,
            "seconds": found.elapsed,
            "opponent_hand": [
                {"title": card_title(named(held.card)), "chance": held.chance}
                for held in found.opponent_hand[:_HELD]
            ],
        }

    return Page(
        "analyse",
        "Analyse",
        [
            post("/api/analyse/open", opened),
            post("/api/analyse/step", step),
            post("/api/analyse/search", search),
        ],
    )


def _position(site: Site, data: dict[str, Any]) -> _Position:
    """The position of a game's turn, or of a text."""
    if "game" in data:
        result, names = site.library.load(text_of(data, "game"))
        return _of_game(result, names, None if data.get("turn") is None else whole_of(data, "turn"))
    return _of_text(text_of(data, "text"), text_of(data, "rules", "") or None)


def _of_game(result: Result[Match], names: tuple[str, str], turn: int | None) -> _Position:
    shown = [name or f"Player {player}" for player, name in enumerate(names)]
    turns = tuple(
        {"turn": call.turn, "player": call.player, "answer": (call.answer or "")[:_ANSWER]}
        for call in result.calls
        if call.turn is not None
    )
    if not turns:
        raise Refusal("the match ended before the battle")
    wanted = 0 if turn is None else turn
    observation, belief = knowledge_at(result, wanted)
    root = belief.root()
    if root.is_terminal() and turn is None:
        raise Refusal("the match has no turn to analyse")
    return _checked(_Position(observation, belief, root, (shown[0], shown[1]), wanted, turns))


def _of_text(text: str, rules: str | None) -> _Position:
    """From the text of a position, or else from what a bot is sent."""
    text = text.strip()
    if not text:
        raise Refusal("there is no text")
    if "\n" not in text:
        try:
            state = State.from_text(text)
        except ValueError as error:
            raise Refusal(
                f"one line is the text of a position (State.to_text), but: {error}"
            ) from None
        return _checked(_Position(state, None, state, _names(state)))
    observation = Observation.parse(text + "\n", rules)
    if observation.phase == "choice":
        raise Refusal("this is of the choice phase: there is no position yet")
    belief = Belief()
    belief.see(observation)
    root = belief.root()
    return _checked(_Position(observation, belief, root, _names(root)))


def _names(state: State) -> tuple[str, str]:
    names = ["the opponent", "the opponent"]
    if not state.is_terminal():
        names[state.current_player()] = "the player to move"
    return names[0], names[1]


def _checked(position: _Position) -> _Position:
    if position.root.is_terminal():
        raise Refusal("the game is decided in this position")
    return position


def _actions(data: dict[str, Any]) -> list[str]:
    actions = data.get("actions")
    if (
        not isinstance(actions, list)
        or len(actions) > _ACTIONS
        or not all(isinstance(action, str) for action in actions)
    ):
        raise Refusal("actions: expected a list of texts")
    return actions


def _after(position: _Position, cards: Cards, actions: list[str]) -> dict[str, Any]:
    """The position after actions, what is legal there, and who wins by the network if it ends."""
    mover = position.mover
    state = position.root.clone()
    before = board_view(state, cards, hidden=1 - mover)
    for text in actions:
        state.apply_action(state.string_to_action(text))
    board = board_view(state, cards, hidden=1 - mover)
    return {
        "board": board,
        "before": before,
        "done": actions,
        "actions": [] if state.is_terminal() else legal_texts(state),
        "chance": _chance(state, mover),
    }


def _chance(state: State, player: int) -> float | None:
    """By the value network, which judges the ends of turns; None where there is none."""
    if state.is_terminal():
        return float(state.winner == player)
    network = Evaluation(rules=state.rules).network
    return None if network is None else 1 / (1 + math.exp(-network(state, player)))
