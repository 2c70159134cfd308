"""The interface of a policy: its layout, and logits of actions for many rows at once."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from locmsim.batch import row_seeds
from locmsim.game.layouts import get_layout
from locmsim.options.checks import number
from locmsim.rules.rulesets import get_rules

_Array = NDArray[np.float32]


class RatingPolicy(ABC):
    """A policy that returns logits of all actions for a batch of observations in a layout.

    Parameters
    ----------
    rules, layout : str
        Names of a rule set and of a layout (`locmsim.policy.get_layout`).

    Raises
    ------
    ValueError
        A name is unknown, or the rule set does not support the layout.
    """

    #: Default temperature of `act_batch`; 0 for the best action. Environments use it for the
    #: policies in their table.
    temperature: float = 0.0

    def __init__(self, rules: str, layout: str) -> None:
        self._rules = get_rules(rules)
        self._layout = get_layout(layout, self._rules.name)

    @property
    def layout(self) -> str:
        """Name of the layout of observations."""
        return self._layout.name

    @property
    def rules(self) -> str:
        """Name of the rule set."""
        return self._rules.name

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a policy with attributes of its own and the same weights, which do not change."""
        again = object.__new__(type(self))
        again.__dict__.update(self.__dict__)
        return again

    @abstractmethod
    def rate(self, observations: _Array) -> tuple[_Array, _Array]:
        """Return logits and values of valid observations, as `evaluate` does.

        Parameters
        ----------
        observations : array of float32, shape (rows, numbers)
            Observations of the policy's layout.

        Returns
        -------
        logits : array of float32, shape (rows, actions)
        values : array of float32, shape (rows,)
        """

    def evaluate(self, observations: NDArray[Any]) -> tuple[_Array, _Array]:
        """Return logits of all actions, legal or not, and values of positions.

        Parameters
        ----------
        observations : array (rows, size of the layout)

        Returns
        -------
        logits : float32 array (rows, actions)
        values : float32 array (rows,)
            The value to the player of the observation; NaN if the network has no value head.

        Raises
        ------
        ValueError
            `observations` has the wrong shape.
        """
        array = np.asarray(observations)
        if array.ndim != 2 or array.shape[1:] != self._layout.shape:
            raise ValueError(
                f"observations: expected shape (rows, {self._layout.shape[0]}), got {array.shape}"
            )
        return self.rate(np.ascontiguousarray(array, np.float32))

    def act_batch(
        self,
        observations: NDArray[Any],
        masks: NDArray[Any],
        seeds: NDArray[np.uint64] | int = 0,
        *,
        temperature: float | None = None,
    ) -> NDArray[np.int64]:
        """Return an action for each row, independent of all other rows.

        Parameters
        ----------
        observations : array (rows, size of the layout)
        masks : array (rows, actions)
            Nonzero where an action is legal; at least one in each row.
        seeds : uint64 array (rows,) or int
            Seeds for sampling if the temperature is above 0: one for each row, or one from which
            those of all rows are derived.
        temperature : float, optional
            With 0, the legal action with the highest logit is returned; otherwise actions are
            sampled in proportion to exp(logit / temperature). Defaults to the attribute
            `temperature`.

        Returns
        -------
        int64 array (rows,)

        Raises
        ------
        ValueError
            A shape is wrong, a row has no legal action, or the temperature is neither 0 nor from
            1e-6 to 1e6.
        """
        temperature = self.temperature if temperature is None else temperature
        if temperature:  # beyond these the sums are not finite
            temperature = number("temperature", temperature, 1e-6, 1e6)
        logits, _ = self.evaluate(observations)
        legal = np.asarray(masks) != 0
        if legal.shape != logits.shape:
            raise ValueError(f"masks: expected shape {logits.shape}, got {legal.shape}")
        if not legal.any(axis=1).all():
            raise ValueError("masks: a row without a legal action")
        ratings = np.where(legal, logits, -np.inf)
        if temperature > 0:
            ratings = ratings / temperature + _gumbel(seeds, *logits.shape)
        chosen: NDArray[np.int64] = ratings.argmax(axis=1)
        return chosen


def _gumbel(seeds: NDArray[np.uint64] | int, rows: int, actions: int) -> NDArray[np.float64]:
    """Return Gumbel noise, hashed from each row's seed and the action's number."""
    from locmsim.search._engine import gumbel  # only policies that sample need the searches

    if isinstance(seeds, int | np.integer):
        keys = row_seeds(int(seeds), rows)
    else:
        keys = np.asarray(seeds).astype(np.uint64)
        if keys.shape != (rows,):
            raise ValueError(f"seeds: expected an int or shape ({rows},), got {keys.shape}")
    steps = np.arange(1, actions + 1, dtype=np.uint64) * _GOLDEN
    bits = _mixed(np.asarray(_mixed(keys).reshape(rows, 1) + steps, np.uint64))
    uniform: NDArray[np.float64] = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    gumbel(uniform)
    return uniform


#: Increment of the generator SplitMix64, whose output function is `_mixed`.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
