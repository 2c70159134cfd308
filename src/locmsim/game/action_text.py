"""Actions in words, the same in pages, lists, hints and reports."""

import contextlib
from collections.abc import Mapping, Sequence

from locmsim._core import State
from locmsim.art import card_title
from locmsim.errors import InvalidActionError
from locmsim.rules.actions import ActionKind
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES

_LANES = ("left", "right")


def sentence(kind: ActionKind, name: str, target: str = "", lane: int | None = None) -> str:
    """Return an action in words.

    Parameters
    ----------
    kind : ActionKind
        The kind of action.
    name : str
        Name of the acting card.
    target : str
        Name of the target of an item or an attack.
    lane : int, optional
        The lane that a creature is summoned to, None in rules with one lane.

    Returns
    -------
    str
        A sentence without a full stop.
    """
    if kind == ActionKind.PASS:
        return "The turn ends"
    if kind == ActionKind.SUMMON:
        return f"{name} is summoned" + ("" if lane is None else f" to the {_LANES[lane]} lane")
    return f"{name} {'attacks' if kind == ActionKind.ATTACK else 'is used on'} {target}"


def action_words(
    state: State,
    action: int | str,
    names: Sequence[str] = (),
    titles: Mapping[Card, str] | None = None,
) -> str:
    """Return an action in words that name cards.

    Parameters
    ----------
    state : State
        The position before the action.
    action : int or str
        A legal action, or its canonical text.
    names : sequence of str
        Names of players 0 and 1; by default the other player is "the opponent".
    titles : mapping of Card to str, optional
        Titles of the cards, from `locmsim.art.card_titles`.

    Returns
    -------
    str
        A sentence without a full stop, such as "Grey Bat attacks Old Golem", not HTML-escaped.

    Raises
    ------
    IllegalActionError
        The action is not legal in this position.
    """
    number = state.string_to_action(action) if isinstance(action, str) else action
    done = state.action(number)
    if done.card is None:
        return sentence(done.kind, "")
    target = names[1 - state.current_player()] if names else "the opponent"
    named = titles or {}
    if done.target not in (None, -1):
        aimed = next(
            creature.card
            for side in state.players
            for creature in side.board
            if creature.id == done.target
        )
        target = named.get(aimed) or card_title(aimed)
    name = named.get(done.card) or card_title(done.card)
    lane = done.lane if RULES[state.rules].lanes > 1 else None
    return sentence(done.kind, name, target, lane)


def line_words(
    state: State,
    actions: Sequence[str],
    names: Sequence[str] = (),
    titles: Mapping[Card, str] | None = None,
) -> list[str]:
    """Return consecutive actions in words; the state is unchanged.

    Parameters
    ----------
    state : State
        The position before the first action.
    actions : sequence of str
        Canonical texts of actions.
    names, titles : optional
        As for `action_words`.

    Returns
    -------
    list of str
        A sentence for each action.

    Raises
    ------
    IllegalActionError
        An action is not legal when it is played.
    """
    state = state.clone()
    words = []
    for text in actions:
        number = state.string_to_action(text)
        words.append(action_words(state, number, names, titles))
        state.apply_action(number)
    return words


def answer_actions(state: State, answer: str | None) -> list[str]:
    """Return the actions that an answer line executes.

    Parameters
    ----------
    state : State
        The position in which the answer is given; it is unchanged.
    answer : str or None
        The line, or None for no answer.

    Returns
    -------
    list of str
        Canonical texts, without the end of the turn; empty for an answer that ends the match by a
        fault.
    """
    state, actions = state.clone(), []
    with contextlib.suppress(InvalidActionError):
        for number in state.actions_of(answer or ""):
            actions.append(state.action_to_string(number))
            state.apply_action(number)
    return actions


def cards_of(state: State) -> list[Card]:
    """Return all cards of a position: on the boards, in the hands and in the decks."""
    return [
        held.card
        for side in state.players
        for zone in (side.board, side.hand, side.deck)
        for held in zone
    ]
