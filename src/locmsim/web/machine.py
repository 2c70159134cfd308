"""The machine of the server: it answers about a battle what the engine in a page's file answers.

A page has a match as a list of actions, with PASS at the end of each turn, and asks about the
position after a part of it, the path (``static/machine.js`` has the same messages). What follows
from hidden cards is drawn from what the player of a turn was shown, as a bot would have to.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from locmsim._core import State
from locmsim.errors import IllegalActionError
from locmsim.game.action_text import line_words
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.process_match import Call
from locmsim.referee.turn_report import WORLDS
from locmsim.rules.rulesets import RULES
from locmsim.search.analysis import analyse, line_value
from locmsim.search.belief import Belief
from locmsim.search.turn_search import determinizer_at
from locmsim.web.engine_panel import HELD, LINES, SAMPLES, SEED
from locmsim.web.match_data import Cards, action_steps, board_data, legal_texts
from locmsim.web.positions import Position


class Place(NamedTuple):
    """What a path leads to."""

    #: The position.
    state: State
    #: The match at the start of the turn.
    match: Match
    #: What the player of the turn was shown at its start, and what they know of earlier turns.
    seen: Observation | State
    belief: Belief | None
    #: The actions of the turn so far.
    done: list[str]


class Machine:
    """Answers about the positions of a battle."""

    def __init__(
        self,
        match: Match,
        beliefs: Sequence[Belief],
        names: Sequence[str],
        cards: Cards,
        first: tuple[Observation | State, Belief | None] | None = None,
    ) -> None:
        self._match, self._beliefs, self._first = match, beliefs, first
        self.names, self.cards = names, cards

    def at(self, path: Sequence[str]) -> Place:
        """Return what a path leads to; `IllegalActionError` if an action of it is illegal."""
        match, beliefs = self._match.clone(), [one.clone() for one in self._beliefs]
        state, done = _battle(match), list[str]()
        place = self._place(match, beliefs, self._first)
        for text in path:
            state.apply_action(state.string_to_action(text))
            if text != "PASS":
                done.append(text)
                continue
            match.submit(match.to_ask[0], ";".join(done) or "PASS")
            state, done = _battle(match), []
            place = self._place(match, beliefs)
        return place._replace(state=state, done=done)

    def _place(
        self,
        match: Match,
        beliefs: Sequence[Belief],
        first: tuple[Observation | State, Belief | None] | None = None,
    ) -> Place:
        state = _battle(match)
        if match.to_ask and not state.is_terminal():
            player = match.to_ask[0]
            seen = match.observation(player)
            beliefs[player].see(seen)
            if first is not None:
                return Place(state, match, *first, [])
            return Place(state, match, seen, beliefs[player], [])
        return Place(state, match, state, None, [])

    # The following are answers to messages, each from the position after `path`.

    def walk(
        self, path: Sequence[str], actions: Sequence[str], hidden: int | None, known: int = 0
    ) -> dict[str, Any]:
        """Return the positions after each of some actions, up to a win, and what is legal then."""
        state = self.at(path).state
        board = board_data(state, self.cards, hidden)
        steps = action_steps(state, actions, self.cards, self.names, hidden)
        boards, words = [one["board"] for one in steps], [one["words"] for one in steps]
        # What is legal tells of the hand.
        told = not state.is_terminal() and state.current_player() != hidden
        legal = legal_texts(state) if told else []
        drawn = self.cards.to_json(start=known)["cards"]
        return {"board": board, "boards": boards, "words": words, "actions": legal, "cards": drawn}

    def chance(
        self, path: Sequence[str], line: str, worlds: int = WORLDS, seed: int = SEED
    ) -> dict[str, Any]:
        """Return the chance of winning with a line, by worlds in which it is played on."""
        place = self.at(path)
        actions = [] if line == "PASS" else [*filter(None, line.split(";"))]
        player = place.state.current_player()
        return {"chance": self.chance_at(place, actions, worlds, seed), "player": player}

    def chance_at(
        self, place: Place, actions: Sequence[str], worlds: int = WORLDS, seed: int = SEED
    ) -> float:
        """Return it for the whole turn, or from here on where a card was drawn in the turn."""
        whole = [*place.done, *actions]
        for done, rest in (("", whole), (";".join(place.done), actions)):
            drawn, root, _ = determinizer_at(place.seen, place.belief, done, seed)
            line = ";".join(rest) or "PASS"
            if len(root.actions_of(line)) == len(rest):
                return (1 + line_value(drawn, line, worlds=worlds, seed=seed)) / 2
        raise IllegalActionError(f"illegal: {line}")

    def analyse(
        self,
        path: Sequence[str],
        *,
        seed: int = 0,
        ms: float | None = None,
        nodes: int | None = None,
        check: Callable[[], object] | None = None,
    ) -> dict[str, Any]:
        """Return the best lines from here on, with their chances, and the opponent's hand."""
        place = self.at(path)
        found = analyse(
            place.seen,
            time_ms=ms,
            nodes=nodes,
            seed=seed,
            belief=place.belief,
            done=";".join(place.done),
            worlds=SAMPLES,
            check=check,
        )
        lines: list[dict[str, Any]] = []
        for line in found.lines[:LINES]:
            actions = [] if line.line == "PASS" else line.line.split(";")
            chance = self.chance_at(place, actions)
            words = line_words(place.state, actions, self.names, self.cards.titles)
            searches = line.searches
            lines.append(
                {"actions": actions, "chance": chance, "words": words, "searches": searches}
            )
        lines.sort(key=lambda line: -line["chance"])
        held = [
            (one.card.base_id, one.chance, self.cards.title(one.card))
            for one in found.opponent_hand[:HELD]
        ]
        effort = {"searches": found.searches, "nodes": found.nodes, "seconds": found.elapsed}
        return {**effort, "lines": lines, "held": held}


def _battle(match: Match) -> State:
    assert match.state is not None
    return match.state.clone()


def machine_of_match(
    match: Match, calls: Iterable[Call], names: Sequence[str], cards: Cards | None = None
) -> Machine:
    """Return the machine of a match that has come to its battle; ``ValueError`` if it had none."""
    beliefs = (Belief(), Belief())
    chosen = [iter(one) for one in match.chosen]
    begun = match.root()
    for call in calls:
        if begun.state is not None:
            break
        known, taken = beliefs[call.player], chosen[call.player]
        known.see(begun.observation(call.player))
        known.chose([next(taken)] if RULES[match.rules].draft else taken)
        begun.submit(call.player, call.answer)
    if begun.state is None:
        raise ValueError("the match ended before the battle")
    return Machine(begun, beliefs, names, cards or Cards(match.cards))


def machine_of_position(position: Position) -> Machine:
    """Return the machine of a position, whose hidden cards are as in `Position.whole`."""
    match = Match(start=position.whole())
    first = position.seen, position.belief
    cards = Cards(position.cards)
    return Machine(match, (Belief(), Belief()), position.names, cards, first)
