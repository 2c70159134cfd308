"""Find the opponent's best replies and the next turn after them, in numbered worlds."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from locmsim._core import Determinizer, State, with_hand
from locmsim.game.answers import answer_line, played
from locmsim.game.observation import Observation, OpponentAction
from locmsim.options.checks import OptionError, whole
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, RULES
from locmsim.search.belief import Belief
from locmsim.search.results import SearchResult
from locmsim.search.turn_search import BeamSearch, determinizer_at

__all__ = ["Branch", "Tree", "Turn", "World", "check_hand", "variations"]


@dataclass(slots=True)
class Turn:
    """A turn in a world.

    Attributes
    ----------
    actions : list of str
        Its actions, without the end of the turn.
    value : float
        The expected result of the player at the root, from -1 to 1.
    visits : int
        Number of sampled results in `value`; 0 for a turn that wins.
    start, state : State
        The positions before its actions and after them, before the turn ends.
    next : Turn or None
        The best turn of the other player after it.
    """

    actions: list[str]
    value: float
    visits: int
    start: State
    state: State
    next: "Turn | None" = None

    @property
    def line(self) -> str:
        """The answer line."""
        return answer_line(self.actions)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: ``line``, ``value``, ``visits`` and ``next``."""
        then = None if self.next is None else self.next.to_json()
        return {"line": self.line, "value": self.value, "visits": self.visits, "next": then}


@dataclass(slots=True)
class World:
    """A sample of the hidden cards, and the turns that were found in it.

    Attributes
    ----------
    seed : int
        The number of the world, from which its hidden cards follow.
    hand : list of Card
        The opponent's hand.
    replies : list of Turn
        The opponent's best turns, the best one first; each has the root player's next one. The list
        is empty if the game was over before.
    """

    seed: int
    hand: list[Card]
    replies: list[Turn] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: ``seed``, ``hand`` (base ids) and ``replies``."""
        hand = [card.base_id for card in self.hand]
        return {"seed": self.seed, "hand": hand, "replies": [t.to_json() for t in self.replies]}


@dataclass(slots=True)
class Branch:
    """A turn of the player at the root.

    Attributes
    ----------
    turn : Turn
        The turn, as the search at the root sees it.
    worlds : list of World
        The worlds in which it was played on, each with the opponent's replies.
    """

    turn: Turn
    worlds: list[World] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: that of the turn, and ``worlds``."""
        return {**self.turn.to_json(), "worlds": [world.to_json() for world in self.worlds]}


@dataclass(slots=True)
class Tree:
    """The result of `variations`, which grows while it runs.

    Attributes
    ----------
    player : int
        The player to move at the root.
    branches : list of Branch
        The best turns, the best one first.
    done, of : int
        Number of searches that have ended, and of all searches.
    """

    player: int
    branches: list[Branch]
    done: int
    of: int

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: ``player``, and the branches as ``lines``."""
        return {"player": self.player, "lines": [one.to_json() for one in self.branches]}


#: Finds the best turns of a state: the state, what its mover sees of it, and their belief.
_Find = Callable[[State, Observation | State, Belief | None], list[Turn]]


def variations(
    observation: Observation | State,
    *,
    belief: Belief | None = None,
    done: str | Iterable[int] = (),
    lines: int = 3,
    worlds: int = 3,
    replies: int = 2,
    hand: Sequence[int] = (),
    nodes: int = 5000,
    seed: int = 0,
    on_search: Callable[[Tree], object] = lambda tree: None,
    check: Callable[[], object] | None = None,
) -> Tree:
    """Return the best turns of a position, each with the best replies and the next turn.

    Hidden cards are sampled: each world has a number, and is the same for all lines. The searches
    for the opponent's replies and for the next turn in a world start from what that player would
    see there: nobody looks at the other's cards.

    Parameters
    ----------
    observation : Observation or State
        As for `analyse`.
    belief : Belief, optional
        As for `analyse`.
    done : str or iterable of int
        As for `analyse`.
    lines, worlds, replies : int
        Number of turns, of worlds for each, and of replies in each world.
    hand : sequence of int
        Base ids of cards that the opponent holds in all worlds, if the position allows it.
    nodes : int
        Number of positions of each search; with fewer than some thousands there may be one line
        only.
    seed : int
        The number of the first world, and the seed of the searches.
    on_search : function
        Called after each search with the tree so far. An exception that it raises ends the search.
    check : function, optional
        Called about twenty times a second during the searches. An exception that it raises ends
        them.

    Returns
    -------
    Tree
        The best turns with what follows them in each world.

    Raises
    ------
    ValueError
        As for `analyse`; a number below 1; a hand that cannot be, the message names the card.
    """
    for name, number in (
        ("lines", lines),
        ("worlds", worlds),
        ("replies", replies),
        ("nodes", nodes),
    ):
        whole(name, number, 1)
    done = done if isinstance(done, str) else [*done]
    draws, root, known = determinizer_at(observation, belief, done, seed)
    start = known.root()
    shown = _shown(start, start.actions_of(done) if isinstance(done, str) else done)
    player = root.current_player()
    roots = [_world(draws, known, seed + i, hand) for i in range(worlds)]
    search = BeamSearch()

    def find(
        root: State,
        observation: Observation | State,
        belief: Belief | None,
        done: str | Iterable[int] = "",
    ) -> list[Turn]:
        result = search.search(
            observation, nodes=nodes, seed=seed, belief=belief, done=done, check=check
        )
        return _turns(root, result)

    found = find(root, observation, belief, done)[:lines]
    tree = Tree(player, [Branch(turn) for turn in found], 1, 0)
    tree.of = 1 + len(found) * worlds * (1 + replies)
    on_search(tree)
    for branch in tree.branches:
        for i, start in enumerate(roots):
            world = World(seed + i, [held.card for held in start.players[1 - player].hand])
            branch.worlds.append(world)
            tree.done += 1
            world.replies = _replies(find, known, start, branch.turn, shown)[:replies]
            on_search(tree)
            for reply in world.replies:
                reply.next = _next_turn(find, known, reply, player)
                tree.done += 1
                on_search(tree)
            tree.done += replies - len(world.replies)
    on_search(tree)
    return tree


def _end_turn(state: State) -> bool:
    """End the turn unless the game is over; return whether it goes on."""
    if not state.is_terminal():
        state.apply_action(0)
    return not state.is_terminal()


def _shown(state: State, actions: Iterable[int]) -> list[OpponentAction]:
    """Play actions; return them as the other player is shown them."""
    found = []
    for number in actions:
        action = state.action(number)
        if action.card is not None:  # not PASS
            found.append(OpponentAction(action.card.base_id, str(action)))
        state.apply_action(number)
    return found


def _replies(
    find: _Find, known: Belief, start: State, turn: Turn, shown: Sequence[OpponentAction]
) -> list[Turn]:
    """Return the opponent's turns after a turn in a world, with the values of its player.

    `shown` are the actions of the turn before `start`.
    """
    state = start.clone()
    shown = [*shown, *_shown(state, map(state.string_to_action, turn.actions))]
    if not _end_turn(state):
        return []
    found = find(state, state, _other_side(known, state, shown))
    for reply in found:
        reply.value = -reply.value
    return found


def _next_turn(find: _Find, known: Belief, reply: Turn, player: int) -> Turn | None:
    """Return the best turn of a player after a reply; None if the game is over."""
    state = reply.start.clone()
    shown = _shown(state, map(state.string_to_action, reply.actions))
    if not _end_turn(state):
        return None
    own = known.clone()
    own.see_state(state, player, shown)
    return find(state, state, own)[0]


def _world(draws: Determinizer, known: Belief, seed: int, hand: Sequence[int]) -> State:
    """Return the world with a number, in which the opponent holds these cards."""
    state = draws.sample(seed)
    if hand:
        check_hand(known, state, hand)
    return with_hand(state, 1 - state.current_player(), hand)


def check_hand(belief: Belief, state: State, hand: Sequence[int]) -> None:
    """Raise an error for a hand that the opponent cannot hold.

    Parameters
    ----------
    belief : Belief
        The belief of the player to move.
    state : State
        A sample of that belief.
    hand : sequence of int
        Base ids.

    Raises
    ------
    ValueError
        The hand is smaller, there is no such card in this game, or the opponent cannot have as many
        of them, with those that were seen already.
    """
    size = state.players[1 - state.current_player()].hand_size
    if len(hand) > size:
        raise OptionError("hand", f"the opponent holds {size} cards, got {len(hand)}")
    possible = belief.possible_cards()
    for base_id in hand:
        if base_id not in possible:
            raise OptionError("hand", f"no card {base_id} can occur in this game")
    seen = Counter(belief.opponent_cards)
    if not RULES[state.rules].draft:
        for base_id, count in Counter(hand).items():
            if seen[base_id] + count > COPIES_PER_CARD:
                most = f"of which a deck has {COPIES_PER_CARD} at most"
                reason = f"{count} of card {base_id}, {most}, and {seen[base_id]} were seen"
                raise OptionError("hand", reason)
        return
    missing = belief.undrafted(hand)
    if missing is not None:
        others = "the others of the hand and those that were seen"
        raise OptionError("hand", f"card {missing} cannot have been drafted with {others}")


def _other_side(belief: Belief, state: State, shown: Sequence[OpponentAction]) -> Belief:
    """Return the belief of the player to move in a world, the opponent of the one who believes."""
    player = state.current_player()
    me = state.players[player]
    other = belief.of_opponent()
    hidden = [held.card.base_id for held in (*me.hand, *me.deck)]
    other.chose([*belief.opponent_cards, *hidden])
    other.see_state(state, player, shown)
    return other


def _turns(root: State, result: SearchResult) -> list[Turn]:
    """Return the turns that a search compares, best first, with the mover's values."""
    plans = [(result.actions, result.value, result.visits)]
    plans += [
        (plan.actions, plan.value, plan.visits)
        for plan in sorted(result.plans, key=lambda plan: (-plan.visits, -plan.value))
        if plan.actions != result.actions
    ]
    turns = []
    for actions, value, visits in plans:
        after = root.clone()
        turns.append(Turn(played(after, actions), value, visits, root, after))
    return turns
