"""Analyse a position: find the best lines, and the cards that the opponent may hold."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from locmsim._core import Determinizer, State
from locmsim.game.observation import Observation
from locmsim.options.checks import MOST_WORK, whole
from locmsim.rules.cards import Card
from locmsim.search.belief import Belief
from locmsim.search.results import SearchResult
from locmsim.search.turn_search import MCTS, BeamSearch, determinizer_at

#: Number of searches that share the time of an analysis; each has its own random stream.
_SEARCHES = 6
#: Positions that a visit of a tree search is assumed to create, including its part of the beam;
#: measured values are 140 to 600.
_NODES_A_VISIT = 256


@dataclass(frozen=True, slots=True)
class LineEstimate:
    """The result of the searches of one kind that found a turn.

    Attributes
    ----------
    value : float
        The expected result, from -1 to 1: the mean of these searches, by their visits.
    visits : int
        Number of sampled results in `value`.
    searches : int
        Number of these searches that found this turn.
    """

    value: float
    visits: int
    searches: int


@dataclass(frozen=True, slots=True)
class Line:
    """A turn that the searches found.

    Attributes
    ----------
    line : str
        The answer line, "PASS" for nothing.
    value : float
        The expected result, from -1 to 1: the mean of the searches that found it, by their visits.
    visits : int
        Number of sampled results in `value`.
    searches : int
        Number of searches that found this turn.
    depth : int
        Length of the longest sequence of the player's actions that was searched.
    by : dict of str to LineEstimate
        The results of each kind of search that found it, "beam" and "mcts".
    """

    line: str
    value: float
    visits: int
    searches: int
    depth: int
    by: dict[str, LineEstimate]


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card that the opponent may have in hand.

    Attributes
    ----------
    card : Card
        The card.
    chance : float
        Probability that the opponent holds at least one, from 0 to 1.
    expected : float
        The expected number of copies.
    """

    card: Card
    chance: float
    expected: float

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: ``card`` (its row), ``name``, ``chance`` and ``expected``."""
        card = {"card": self.card.to_row(), "name": self.card.name}
        return {**card, "chance": self.chance, "expected": self.expected}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of `analyse`.

    Attributes
    ----------
    lines : list of Line
        The turns found, those found by most searches first, then by value.
    opponent_hand : list of HeldCard
        The cards that the opponent may hold by the belief, the most probable first.
    searches : int
        Number of searches.
    nodes : int
        Number of positions evaluated in all searches.
    elapsed : float
        Duration of the searches in seconds.
    """

    lines: list[Line]
    opponent_hand: list[HeldCard]
    searches: int
    nodes: int
    elapsed: float

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: the attributes by name, ``elapsed`` as ``seconds``."""
        return {
            "lines": [asdict(line) for line in self.lines],
            "opponent_hand": [held.to_json() for held in self.opponent_hand],
            "searches": self.searches,
            "nodes": self.nodes,
            "seconds": self.elapsed,
        }


def analyse(
    observation: Observation | State,
    *,
    time_ms: float | None = 2000.0,
    nodes: int | None = None,
    seed: int = 0,
    belief: Belief | None = None,
    search: Any = None,
    worlds: int = 400,
    done: str | Iterable[int] = (),
    on_search: Callable[[int], None] = lambda done: None,
    check: Callable[[], object] | None = None,
) -> Analysis:
    """Search a position several times, each time with different random worlds.

    Beam search and tree search alternate. A turn that all searches find is clearly the best; where
    they differ, the other turns are alternatives.

    Parameters
    ----------
    observation : Observation or State
        The battle turn to analyse; of a `State` its mover knows what `Belief.of_state` says.
    time_ms : float or None
        Time for all searches together; None for none.
    nodes : int or None
        Positions for each search, None for no such bound; `MCTS` makes a visit for every 256.
        Without `time_ms`, the result depends only on the arguments.
    seed : int
        Seed of all random numbers.
    belief : Belief or None
        What is known from earlier turns. It must have seen the observation.
    search : object, mapping of str to such objects, or None
        A `BeamSearch`, an `MCTS` or another object with the method ``search`` of `BeamSearch`, or
        several by name, which alternate. None for ``{"beam": BeamSearch(), "mcts": MCTS()}``.
    worlds : int
        Number of samples of the opponent's hand.
    done : str or iterable of int
        Actions that the player has already played in this turn, as for `Search.search`: the lines
        are the rest of it.
    on_search : function
        Called with the number of finished searches.
    check : function, optional
        Called about twenty times a second by the package's searches; an exception that it raises
        ends the analysis.

    Returns
    -------
    Analysis
        The turns found and the opponent's hand.

    Raises
    ------
    ValueError
        It is not a battle turn, the game is over, there is no bound, `belief` has not seen the
        observation last, an action in `done` is not legal, or `search` is empty.

    Examples
    --------
    >>> from locmsim.game.match import Match
    >>> match = Match(seed=3)
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    >>> found = analyse(match.observation(0), time_ms=None, nodes=2000)
    >>> found.lines[0].searches <= found.searches
    True
    """
    if isinstance(observation, Observation) and observation.phase != "battle":
        raise ValueError(
            "an analysis needs a battle turn, but this is an observation of the choice phase"
        )
    done = done if isinstance(done, str) else [*done]
    _, root, known = determinizer_at(observation, belief, done, seed)
    more: dict[str, Any] = {"done": done} if done else {}
    if check is not None:
        more["check"] = check
    if search is None:
        search = {"beam": BeamSearch(), "mcts": MCTS()}
    elif not isinstance(search, Mapping):
        search = {"mcts" if isinstance(search, MCTS) else "beam": search}
    elif not search:
        raise ValueError("search: expected at least one search, got none")
    share = None if time_ms is None else time_ms / _SEARCHES
    results: list[SearchResult] = []
    names = [[*search][i % len(search)] for i in range(_SEARCHES)]
    for i, name in enumerate(names):
        bound: dict[str, int | None] = {"nodes": nodes}
        if isinstance(search[name], MCTS):
            bound = {"iterations": nodes and max(1, nodes // _NODES_A_VISIT)}
        results.append(
            search[name].search(
                observation, time_ms=share, seed=seed + i, belief=known, **bound, **more
            )
        )
        on_search(i + 1)
    return Analysis(
        lines=_lines(root, results, names),
        opponent_hand=held_cards(known, worlds, seed),
        searches=_SEARCHES,
        nodes=sum(result.nodes for result in results),
        elapsed=sum(result.elapsed for result in results),
    )


def line_value(
    belief: Belief | Determinizer, line: str, *, worlds: int = 32, seed: int = 0
) -> float:
    """Return the expected result of a line by a beam search's playouts, from -1 to 1.

    Parameters
    ----------
    belief : Belief or Determinizer
        The belief of the player in that turn, or what its worlds are drawn from.
    line : str
        The answer.
    worlds : int
        Number of sampled worlds in which the next turns are played, limited by the memory of a
        `BeamSearch`.
    seed : int
        Seed of these samples.

    Returns
    -------
    float
        The mean result, comparable between lines of the same turn.

    Raises
    ------
    InvalidActionError
        The line is malformed.
    ValueError
        `worlds` is not an integer of 1 or more.
    """
    worlds = whole("worlds", worlds, 1, MOST_WORK)
    worlds_of = belief.determinizer() if isinstance(belief, Belief) else belief
    root = worlds_of.sample(seed)
    engine = BeamSearch().prepare(root.rules)
    return engine.turn_value(worlds_of, root, root.actions_of(line), worlds, seed)


def _lines(root: State, results: list[SearchResult], names: list[str]) -> list[Line]:
    """Return the distinct turns: those that end in the same position are one."""
    turns: dict[bytes, list[tuple[str, SearchResult]]] = {}
    for name, result in zip(names, results, strict=True):
        end = root.clone()
        for action in result.actions:
            end.apply_action(action)
        turns.setdefault(end.key(), []).append((name, result))
    lines = []
    for found in turns.values():
        same = [result for _, result in found]
        of_all = _estimate(same)
        by = {
            name: _estimate([result for other, result in found if other == name])
            for name in dict.fromkeys(name for name, _ in found)
        }
        depth = max(result.depth for result in same)
        lines.append(Line(same[0].line, of_all.value, of_all.visits, of_all.searches, depth, by))
    return sorted(lines, key=lambda line: (-line.searches, -line.value))


def _estimate(same: list[SearchResult]) -> LineEstimate:
    """Return the mean result of searches that found the same turn."""
    visits = sum(result.visits for result in same)
    if visits:
        value = sum(result.value * result.visits for result in same) / visits
    else:
        value = sum(result.value for result in same) / len(same)
    return LineEstimate(value, visits, len(same))


def held_cards(belief: Belief, worlds: int = 400, seed: int = 0) -> list[HeldCard]:
    """Return the cards that the opponent may have in hand, with probabilities.

    Parameters
    ----------
    belief : Belief
        The belief of the player in a turn.
    worlds : int
        Number of samples.
    seed : int
        Seed of the first sample.

    Returns
    -------
    list of HeldCard
        The cards that the opponent holds in any sample, the most probable first.
    """
    copies: Counter[Card] = Counter()
    there: Counter[Card] = Counter()
    for i in range(worlds):
        state = belief.sample(seed + i)
        # In a decided position nobody is to move; the belief's seat tells whose view it is.
        me = belief.seat or 0 if state.is_terminal() else state.current_player()
        hand = Counter(held.card for held in state.players[1 - me].hand)
        copies.update(hand)
        there.update(hand.keys())
    return [
        HeldCard(card, there[card] / worlds, copies[card] / worlds)
        for card in sorted(there, key=lambda card: (-there[card], card.cost, card.base_id))
    ]
