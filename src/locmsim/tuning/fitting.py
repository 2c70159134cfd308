"""Logistic regression of results on terms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]


def fit_logistic(
    x: NDArray[Any], won: NDArray[Any], prior: _Array, precision: _Array | float = 0.0
) -> tuple[_Array, float, float]:
    """Fit the log-odds of results as a weighted sum of terms and a constant.

    Parameters
    ----------
    x
        Shape (rows, terms).
    won
        Shape (rows,): the results, 0 or 1.
    prior
        Shape (terms,): the prior mean of the coefficients, which terms that never vary keep.
    precision
        The precision of the prior, for all terms or for each: the inverse variance; 0 for no prior.

    Returns
    -------
    coefficients : float64 array
        Shape (terms,).
    constant : float
        The log-odds where all terms are 0.
    loss : float
        The mean log loss over the rows in nats, including the penalty of the prior.

    Raises
    ------
    ValueError
        There are no rows.
    ImportError
        scipy is not installed.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    if not len(won):
        raise ValueError("nothing to fit: no games")
    deviation = x.std(axis=0, dtype=np.float64)
    used = deviation > 1e-9
    z = np.column_stack([x[:, used] / deviation[used], np.ones(len(x))])  # ... the constant
    centre = np.append(prior[used] * deviation[used], 0.0)
    penalty = np.append(np.broadcast_to(precision, prior.shape)[used] / deviation[used] ** 2, 0.0)
    sign = np.where(won > 0, -1.0, 1.0)

    def loss(b: _Array) -> tuple[float, _Array]:
        logits, off = z @ b, b - centre
        # Of the wrong side: the derivative of log(1 + exp(sign * logit)).
        wrong = sign * expit(sign * logits)
        value = np.logaddexp(0, sign * logits).sum() + penalty * off @ off / 2
        return float(value), z.T @ wrong + penalty * off

    def hessian(b: _Array) -> _Array:
        probability = expit(z @ b)
        curvature: _Array = (z.T * (probability * (1 - probability))) @ z + np.diag(penalty)
        return curvature

    # Newton's method, because first-order methods need hundreds of steps with correlated terms and
    # strong penalties.
    found = minimize(loss, centre, jac=True, hess=hessian, method="trust-ncg")
    coefficients = prior.astype(np.float64)
    coefficients[used] = found.x[:-1] / deviation[used]
    return coefficients, float(found.x[-1]), float(found.fun) / len(won)


def rows_as_precision(x: NDArray[Any], rows: float) -> _Array:
    """Return the precision of a prior that weighs as much as `rows` rows at even odds."""
    precision: _Array = rows / 4 * x.var(axis=0, dtype=np.float64)
    return precision
