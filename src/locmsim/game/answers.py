"""Actions as an answer line, the text that a bot prints for a turn (docs/rules.md, section 8)."""

from collections.abc import Iterable

from locmsim._core import State


def played(state: State, actions: Iterable[int]) -> list[str]:
    """Play actions, and return their canonical texts.

    Parameters
    ----------
    state : State
        The position before the first one; it is changed.
    actions : iterable of int
        Actions that are legal in this order.

    Raises
    ------
    IllegalActionError
        An action is not legal when it is played.
    """
    texts = []
    for action in actions:
        texts.append(state.action_to_string(action))
        state.apply_action(action)
    return texts


def answer_line(texts: Iterable[str]) -> str:
    """Return the answer line of a turn: "PASS" if nothing is done in it.

    Parameters
    ----------
    texts : iterable of str
        Canonical texts of its actions.
    """
    return ";".join(texts) or "PASS"
