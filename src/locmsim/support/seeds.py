"""Seeds that are derived from others, so that neighbouring seeds have nothing in common."""

try:
    from _blake2 import blake2b
except ImportError:  # other Pythons; hashlib loads OpenSSL, which takes longer than all the rest
    from hashlib import blake2b

#: Random number generators everywhere take a seed of this size, signed ones too.
_BITS = 63


def derived_seed(seed: int, what: object) -> int:
    """Return 63 bits that are independent of those for other seeds and other texts.

    `what` says what they are for, and its number, such as ``"game 7"``.
    """
    digest = blake2b(f"{seed} {what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> (64 - _BITS)


def agent_seed(match_seed: int, seat: int) -> int:
    """Return the seed by which the agent in a seat of a match is reset."""
    return derived_seed(match_seed, f"seat {seat}")
