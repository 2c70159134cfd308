"""Files of policies, as options of agents name them."""

import os
from functools import lru_cache
from typing import Any

__all__ = ["file_version", "load_as_option"]


def file_version(path: str) -> tuple[int, int] | None:
    """Return what tells a file from one that replaces it; None if there is no such file.

    Parameters
    ----------
    path : str
        Any text.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def load_as_option(path: str, rules: str, layout: str) -> Any:
    """Return the policy of a path, the same object for the same file until it is replaced.

    Parameters
    ----------
    path : str
        As for `locmsim.policy.load_policy`.
    rules, layout : str
        Its rule set and layout, if the file does not name them.

    Raises
    ------
    ValueError
        The file cannot be read or holds no policy.
    """
    if not path:
        raise ValueError("path: expected the file of a policy")
    try:
        return _loaded(path, rules, layout, file_version(path))
    except OSError as error:
        raise ValueError(f"path: {error.filename or path}: {error.strerror or error}") from None


@lru_cache(maxsize=256)
def _loaded(path: str, rules: str, layout: str, version: object) -> Any:
    from locmsim.policy import load_policy  # numpy, which is slow to import

    return load_policy(path, rules=rules, layout=layout)
