"""The simulator alone, as a header for bots in C or C++."""

from importlib.resources import files

__all__ = ["kernel_header", "template"]


def template(name: str) -> str:
    """Return a C file generated from the sources of the package."""
    return files("locmsim.export").joinpath(f"data/{name}.h").read_text(encoding="utf-8")


def kernel_header() -> str:
    """Return the header ``locm.h`` of `locmsim.get_include`.

    Returns
    -------
    str
        Valid C17 and C++17, with nothing to link.

    >>> "locm_state_apply" in kernel_header()
    True
    """
    return files("locmsim").joinpath("include/locm.h").read_text(encoding="utf-8")
