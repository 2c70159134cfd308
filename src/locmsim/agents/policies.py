"""What options of agents name files of: policies, and ways to choose cards."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from locmsim.support.files import file_stamp
from locmsim.support.plugins import file_version

_T = TypeVar("_T")


def cached_for_file(path: str, make: Callable[..., _T], *arguments: str) -> _T:
    """Return what ``make(path, *arguments)`` returns, the same object until the file is replaced.

    Parameters
    ----------
    path : str
        A file, what a file of Python defines as ``file.py:NAME``, or any other text.
    make : function
        What makes it.
    *arguments : str
        What else it is made of.
    """
    file, python, _ = path.partition(".py:")
    version = (*file_version(f"{file}.py").items(),) if python else file_stamp(path)
    found: _T = _cached(make, path, arguments, version)
    return found


@lru_cache(maxsize=512)
def _cached(
    make: Callable[..., Any], path: str, arguments: tuple[str, ...], version: object
) -> Any:
    return make(path, *arguments)


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
        return cached_for_file(path, _load, rules, layout)
    except OSError as error:
        raise ValueError(f"path: {error.filename or path}: {error.strerror or error}") from None


def _load(path: str, rules: str, layout: str) -> Any:
    from locmsim.policy import load_policy  # numpy, which is slow to import

    return load_policy(path, rules=rules, layout=layout)
