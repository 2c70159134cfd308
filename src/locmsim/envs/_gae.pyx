"""Generalised advantage estimation for games of two players, in compiled code."""

cimport cython
from libc.stdint cimport int8_t, uint8_t

import numpy as np

__all__ = ["gae"]


cdef inline float discount(uint8_t done, bint same_player, float gamma) noexcept nogil:
    """Return what a step counts of the next position; no branches: it is hard to predict."""
    return (done == 0) * (2 * same_player - 1) * gamma


@cython.boundscheck(False)
cdef void zero_sum(
    const float[:, ::1] rewards, const float[:, ::1] values, const uint8_t[:, ::1] dones,
    const int8_t[:, ::1] acted, const float[::1] last_values, const int8_t[::1] last_to_move,
    float gamma, float lam, float[:, ::1] out
) noexcept nogil:
    cdef Py_ssize_t t, i
    cdef Py_ssize_t last = rewards.shape[0] - 1
    cdef float factor
    for i in range(rewards.shape[1] if last >= 0 else 0):
        factor = discount(dones[last, i], last_to_move[i] == acted[last, i], gamma)
        out[last, i] = rewards[last, i] + factor * last_values[i] - values[last, i]
    for t in range(last - 1, -1, -1):
        for i in range(rewards.shape[1]):
            factor = discount(dones[t, i], acted[t + 1, i] == acted[t, i], gamma)
            out[t, i] = (rewards[t, i] + factor * (values[t + 1, i] + lam * out[t + 1, i])
                         - values[t, i])


@cython.boundscheck(False)
cdef void per_player(
    const float[:, :, ::1] rewards, const float[:, ::1] values, const uint8_t[:, ::1] dones,
    const int8_t[:, ::1] acted, const float[:, ::1] last_values, float gamma, float lam,
    float[:, ::1] out
) noexcept nogil:
    """Treat each player's decisions as one sequence; rewards between two of them add up."""
    cdef Py_ssize_t t, i
    cdef int p
    cdef float value[2]
    cdef float carry[2]
    cdef float earned[2]
    for i in range(values.shape[1]):
        for p in range(2):
            value[p] = last_values[i, p]
            carry[p] = earned[p] = 0
        for t in range(values.shape[0] - 1, -1, -1):
            if dones[t, i]:
                for p in range(2):
                    value[p] = carry[p] = earned[p] = 0
            for p in range(2):
                earned[p] += rewards[t, i, p]
            p = acted[t, i]
            carry[p] = earned[p] + gamma * (value[p] + lam * carry[p]) - values[t, i]
            out[t, i] = carry[p]
            value[p] = values[t, i]
            earned[p] = 0


cdef object players_of(str name, given, tuple shape, int least):
    """Return an int8 array of players; `least` is -1 where nobody may have acted."""
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    if array.size and not least <= array.min() <= array.max() <= 1:
        wrong = array[(array < least) | (array > 1)][0]
        expected = "0 or 1" if least == 0 else "0, 1, or -1 where nobody acted"
        raise ValueError(f"{name}: expected {expected}, got {wrong}")
    return np.ascontiguousarray(array, np.int8)


def gae(rewards, values, dones, acted, last_values, last_to_move=None, *, gamma=1.0, lam=0.95,
        mode="zero-sum", out=None):
    """Compute the advantages of both players' decisions.

    Parameters
    ----------
    rewards : float32 array (steps, rows), or (steps, rows, 2) with ``mode="per-player"``
        The reward of the player who moved, for each step: ``rewards`` of a `LocmVectorEnv` in which
        the caller plays both seats. With ``mode="per-player"``, ``rewards_both``.
    values : float32 array (steps, rows)
        The value of the position before each step, for the player to move.
    dones : bool array (steps, rows)
        Whether the episode ended with the step.
    acted : int8 array (steps, rows)
        The player who made the step. -1 where nobody did and a row only began anew: its advantage
        is 0, and the steps before it earn nothing of what follows.
    last_values : float32 array (rows,), or (rows, 2) with ``mode="per-player"``
        The value of the position after the last step, for the player to move there or for both
        players.
    last_to_move : int8 array (rows,), optional
        The player to move after the last step; needed for ``mode="zero-sum"``.
    gamma, lam : float
        Discount and lambda.
    mode : "zero-sum" or "per-player"
        "zero-sum": where the other player moves next, everything that follows counts with the
        opposite sign. "per-player": each player's decisions are a sequence of their own, and a
        decision earns all of that player's rewards until their next one; for rewards that do not
        sum to 0.
    out : float32 array (steps, rows), optional
        The array to write to and return; by default a new one.

    Returns
    -------
    float32 array (steps, rows)
        ``advantages + values`` are the returns to train the value on.

    Raises
    ------
    ValueError
        If an array has another shape or other numbers than those of players, if `last_to_move` is
        missing, or the mode is unknown.
    """
    if mode not in ("zero-sum", "per-player"):
        raise ValueError(f"mode: expected zero-sum or per-player, got {mode!r}")
    both = mode == "per-player"
    values = np.ascontiguousarray(values, np.float32)
    shape = values.shape
    if len(shape) != 2:
        raise ValueError(f"values: expected shape (steps, rows), got {shape}")
    pair = (2,) if both else ()
    arrays = {}
    for name, array, dtype, expected in (
        ("rewards", rewards, np.float32, shape + pair),
        ("dones", dones, np.bool_, shape),
        ("last_values", last_values, np.float32, shape[1:] + pair),
    ):
        array = np.ascontiguousarray(array, dtype)
        if array.shape != expected:
            raise ValueError(f"{name}: expected shape {expected}, got {array.shape}")
        arrays[name] = array
    acted = players_of("acted", acted, shape, -1)
    if not both:
        if last_to_move is None:
            raise ValueError('last_to_move: mode="zero-sum" needs it')
        last_to_move = players_of("last_to_move", last_to_move, shape[1:], 0)
    nobody = None
    if acted.size and acted.min() < 0:      # such a step is one of its own, and nobody's
        nobody = acted < 0
        acted = np.where(nobody, np.int8(0), acted)
        arrays["dones"] = arrays["dones"].copy()
        arrays["dones"][:shape[0] - 1] |= nobody[1:]
    if out is None:
        out = np.empty(shape, np.float32)
    elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError(f"out: expected a C-contiguous float32 array of shape {shape}")
    if both:
        per_player(arrays["rewards"], values, arrays["dones"].view("u1"), acted,
                   arrays["last_values"], gamma, lam, out)
    else:
        zero_sum(arrays["rewards"], values, arrays["dones"].view("u1"), acted,
                 arrays["last_values"], last_to_move, gamma, lam, out)
    if nobody is not None:
        out[nobody] = 0
    return out
