"""Files of policies, as options of agents name them."""

from functools import cache
from typing import Any

__all__ = ["load_as_option"]


@cache
def load_as_option(path: str, rules: str, layout: str) -> Any:
    """Return the policy of a path, the same object for the same file.

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
    from locmsim.policy import load_policy  # numpy, which is slow to import

    if not path:
        raise ValueError("path: expected the file of a policy")
    try:
        return load_policy(path, rules=rules, layout=layout)
    except OSError as error:
        raise ValueError(f"path: {error.filename or path}: {error.strerror or error}") from None
