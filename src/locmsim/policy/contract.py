"""The contract of a policy: what every place that plays one expects of it, and how it is asked.

A policy is any object with these members; `RatingPolicy` and its subclasses have them:

``rules``, ``layout``
    Names of its rule set and of the layout of its observations. An environment takes its own for a
    policy that lacks them.
``act_batch(observations, masks, seeds)``
    The actions of many positions at once, see `BatchPolicy.act_batch`.

Optional members:

``act_batch(..., temperature=T)``
    A policy whose method has this argument can be asked to sample its actions.
``state_shape``, ``act_batch(..., state=array)``
    A recurrent policy: `state`, float32 (rows, \\*state_shape), is what it kept of each row, zeros
    at the beginning of an episode. The method changes it in place.

The same object plays as an opponent in environments, in `locmsim.tuning.evaluate.evaluate`, as the
agent ``policy:path=file.py:NAME`` and, in the layout "choice", as the ``deck`` or ``draft`` of any
agent:

    >>> import numpy as np
    >>> class First:
    ...     rules, layout = "1.5", "entities"
    ...     def act_batch(self, observations, masks, seeds):
    ...         return masks.argmax(axis=1)
    >>> caller = PolicyCaller(First())
    >>> caller.act(np.zeros((2, 440), np.int8), np.ones((2, 145), np.int8), np.arange(2))
    array([0, 0])
    >>> PolicyCaller(object())
    Traceback (most recent call last):
    ...
    ValueError: policy <object>: it lacks act_batch, rules, layout
"""

import inspect
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from locmsim.game.layouts import CHOICE, Layout, battle_layout, get_layout
from locmsim.rules.rulesets import get_rules

__all__ = ["BatchPolicy", "PolicyCaller", "check_policy"]

_ARGUMENTS = ("observations", "masks", "seeds")


class BatchPolicy(Protocol):
    """What a policy must have, see `locmsim.policy.contract`."""

    @property
    def rules(self) -> str:
        """Name of the rule set."""

    @property
    def layout(self) -> str:
        """Name of the layout of observations."""

    def act_batch(
        self, observations: NDArray[Any], masks: NDArray[np.int8], seeds: NDArray[np.uint64], /
    ) -> NDArray[np.integer[Any]]:
        """Return an action for each row.

        Parameters
        ----------
        observations : array (rows, size of the layout)
        masks : int8 array (rows, actions)
            1 where an action is legal; at least one in each row.
        seeds : uint64 array (rows,)
            The only source of randomness, so that games can be repeated.

        Returns
        -------
        array of integers (rows,)
        """


def check_policy(policy: Any, name: str = "", *, defaults: bool = False) -> Any:
    """Return a policy; ``ValueError`` says what an object lacks that is not a policy.

    Parameters
    ----------
    policy : object
        What should be a `BatchPolicy`.
    name : str
        What messages call it.
    defaults : bool
        Whether it may lack `rules` and `layout`.

    Raises
    ------
    ValueError
        A member is missing or has a wrong value, or `act_batch` cannot be called.
    """
    where = f"policy {name or f'<{type(policy).__name__}>'}"
    needed = ("act_batch",) if defaults else ("act_batch", "rules", "layout")
    if missing := [member for member in needed if not hasattr(policy, member)]:
        raise ValueError(f"{where}: it lacks {', '.join(missing)}")
    try:
        memory = {"state": None} if hasattr(policy, "state_shape") else {}
        inspect.signature(policy.act_batch).bind(*_ARGUMENTS, **memory)
    except TypeError as error:
        raise ValueError(f"{where}: act_batch({', '.join(_ARGUMENTS)}): {error}") from None
    except ValueError:  # it is compiled and has no signature
        pass
    try:
        if hasattr(policy, "rules"):
            get_rules(policy.rules)
        if hasattr(policy, "layout"):
            get_layout(policy.layout, getattr(policy, "rules", "1.5"))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return policy


class PolicyCaller:
    """Asks any policy in the same way, and checks its answers.

    Parameters
    ----------
    policy : BatchPolicy
    name : str
        What messages call it.
    rules, layout : str
        Those of a policy that does not name them.
    choice : bool
        Whether the policy has to choose cards, by the layout "choice", or to play battles.
    temperature : float, optional
        The temperature, for a policy that takes one; by default it is the policy's own.

    Raises
    ------
    ValueError
        It is not a policy, or one of the other kind, or takes no temperature other than 0.

    Attributes
    ----------
    layout : Layout
        The layout of its observations.
    """

    def __init__(
        self, policy: Any, name: str = "", *, rules: str = "", layout: str = "",
        choice: bool = False, temperature: float | None = None,
    ) -> None:  # fmt: skip
        self.policy = check_policy(policy, name, defaults=bool(rules and layout))
        where = f"policy {name or f'<{type(policy).__name__}>'}"
        self._where = where
        self.rules: str = getattr(policy, "rules", rules)
        found = getattr(policy, "layout", layout)
        if choice and found != CHOICE:
            raise ValueError(f"{where}: it plays battles: a chooser of cards has layout {CHOICE!r}")
        if found == CHOICE and not choice:
            raise ValueError(
                f"{where}: it chooses cards and plays no battles: use it as deck= (1.5) or draft="
            )
        self.layout: Layout = (get_layout if choice else battle_layout)(found, self.rules)
        shape = getattr(policy, "state_shape", None)
        self._state_shape = None if shape is None else tuple(shape)
        self._options: dict[str, float] = {}
        if temperature is not None and _takes(policy, "temperature"):
            self._options["temperature"] = temperature
        elif temperature:
            raise ValueError(f"{where}: its act_batch has no argument temperature")

    def start(self, rows: int) -> NDArray[np.float32] | None:
        """Return what a recurrent policy keeps of each row at its beginning; None for others.

        Parameters
        ----------
        rows : int
        """
        shape = self._state_shape
        return None if shape is None else np.zeros((rows, *shape), np.float32)

    def act(
        self,
        observations: NDArray[Any],
        masks: NDArray[np.int8],
        seeds: NDArray[Any],
        state: NDArray[np.float32] | None = None,
    ) -> NDArray[np.int64]:
        """Return an action for each row.

        Parameters
        ----------
        observations, masks, seeds : array
            As in `BatchPolicy.act_batch`.
        state : array, optional
            What `start` returned; it is changed.

        Raises
        ------
        ValueError
            The policy returns something else than an integer for each row.
        """
        options: dict[str, Any] = dict(self._options)
        if state is not None:
            options["state"] = state
        seeds = np.asarray(seeds, np.uint64)
        actions = np.asarray(self.policy.act_batch(observations, masks, seeds, **options))
        rows = len(observations)
        if actions.shape != (rows,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"{self._where}: act_batch: expected integers of shape ({rows},), got"
                f" {actions.dtype} {actions.shape}"
            )
        return np.ascontiguousarray(actions, np.int64)


def _takes(policy: Any, argument: str) -> bool:
    try:
        parameters = inspect.signature(policy.act_batch).parameters
    except (TypeError, ValueError):
        return False
    return argument in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
