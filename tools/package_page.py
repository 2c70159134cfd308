"""The package's addresses and long description for a package index; ``setup.py`` uses both.

All addresses derive from that of the public repository, which the publisher of the package sets in
pyproject.toml (``tool.locmsim.repository``).
"""

import re
from pathlib import PurePosixPath

__all__ = ["long_description", "urls"]

#: A link or, with "!", a picture of Markdown whose target is a path of the repository.
_RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def urls(repository: str, version: str) -> dict[str, str]:
    """Return the addresses that an index shows beside the package.

    ``ValueError`` if the repository is not an https address.
    """
    if not repository:
        return {}
    base = _base(repository)
    return {
        "Source": base,
        "Documentation": f"{base}/tree/v{version}/docs",
        "Changelog": f"{base}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{base}/issues",
    }


def long_description(readme: str, repository: str, version: str) -> str:
    """Return README.md with links and pictures that work on any page.

    They lead to the files of this version in the repository. Without a repository, a link becomes
    its text and a picture is left out: a page without links is better than one with dead links.
    """

    def absolute(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        if not repository:
            return "" if picture else text
        kind = "raw" if picture else "blob"
        path = PurePosixPath(target)
        if not picture and "." not in path.name:
            kind = "tree"  # a folder
        return f"{picture}[{text}]({_base(repository)}/{kind}/v{version}/{target})"

    return _RELATIVE.sub(absolute, readme)


def _base(repository: str) -> str:
    if not repository.startswith("https://"):
        raise ValueError(f"tool.locmsim.repository: expected an https address, got {repository!r}")
    return repository.rstrip("/")
