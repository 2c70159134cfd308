"""What a policy is to those who play it: a layout, and ratings of actions for many rows at once."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.game.layouts import get_layout
from locmsim.rules.rulesets import get_rules

__all__ = ["RatingPolicy"]

_Array = NDArray[np.float32]


class RatingPolicy(ABC):
    """Rates all actions of many positions at a time, as they are shown by a layout.

    Parameters
    ----------
    rules, layout : str
        Names of a rule set and of a layout (`locmsim.policy.LAYOUTS`).

    Raises
    ------
    ValueError
        There is none of that name, or the rule set has no such layout.
    """

    def __init__(self, rules: str, layout: str) -> None:
        self._rules = get_rules(rules)
        self._layout = get_layout(layout, self._rules.name)

    @property
    def layout(self) -> str:
        """Name of the layout that observations are to have."""
        return self._layout.name

    @property
    def rules(self) -> str:
        """Name of the rule set."""
        return self._rules.name

    @abstractmethod
    def rate(self, observations: _Array) -> tuple[_Array, _Array]:
        """As `evaluate`, of observations that have been checked, float32."""

    def evaluate(self, observations: NDArray[Any]) -> tuple[_Array, _Array]:
        """Ratings of all actions, legal or not, and values of positions.

        Parameters
        ----------
        observations : array (rows, size of the layout)

        Returns
        -------
        logits : float32 array (rows, actions)
        values : float32 array (rows,)
            To the player who is shown the observation; NaN if the network has no value.

        Raises
        ------
        ValueError
            For another shape.
        """
        given = np.asarray(observations)
        if given.ndim != 2 or given.shape[1:] != self._layout.shape:
            raise ValueError(
                f"observations: expected shape (rows, {self._layout.shape[0]}), got {given.shape}"
            )
        return self.rate(np.ascontiguousarray(given, np.float32))

    def act_batch(
        self,
        observations: NDArray[Any],
        masks: NDArray[Any],
        *,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> NDArray[np.int64]:
        """An action for each row.

        Parameters
        ----------
        observations : array (rows, size of the layout)
        masks : array (rows, actions)
            Nonzero where an action is legal; at least one of each row.
        seed : int
            For what is drawn if the temperature is above 0.
        temperature : float
            0: the legal action with the highest rating. Else each is drawn with a probability
            proportional to exp(rating / temperature).

        Returns
        -------
        int64 array (rows,)

        Raises
        ------
        ValueError
            For other shapes, a row without a legal action, a negative temperature.
        """
        if not temperature >= 0:
            raise ValueError(f"temperature: expected 0 or more, got {temperature}")
        logits, _ = self.evaluate(observations)
        legal = np.asarray(masks) != 0
        if legal.shape != logits.shape:
            raise ValueError(f"masks: expected shape {logits.shape}, got {legal.shape}")
        if not legal.any(axis=1).all():
            raise ValueError("masks: a row without a legal action")
        ratings = np.where(legal, logits, -np.inf)
        if temperature > 0:
            noise = np.random.default_rng(seed).gumbel(size=ratings.shape)
            ratings = ratings / temperature + noise
        chosen: NDArray[np.int64] = ratings.argmax(axis=1)
        return chosen
