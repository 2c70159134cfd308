"""Prepares the package's page in an index: ``python tools/package_page.py https://HOST/REPOSITORY``.

Whoever publishes the package runs it before the source archive is built. It gives README.md links
that work on any page, and pyproject.toml the addresses of the project, all from that of the public
repository. So nothing of the metadata is computed when the package is installed.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

__all__ = ["long_description", "prepare", "urls"]

#: A link or, with "!", a picture of Markdown whose target is a path of the repository.
_RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def urls(repository: str, version: str) -> dict[str, str]:
    """Return the addresses that an index shows beside the package.

    ``ValueError`` if the repository is not an https address.
    """
    base = _base(repository)
    return {
        "Source": base,
        "Documentation": f"{base}/tree/v{version}/docs",
        "Changelog": f"{base}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{base}/issues",
    }


def long_description(readme: str, repository: str, version: str) -> str:
    """Return README.md with links and pictures that work on any page.

    They lead to the files of this version in the repository.
    """

    def absolute(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        kind = "raw" if picture else "blob"
        path = PurePosixPath(target)
        if not picture and "." not in path.name:
            kind = "tree"  # a folder
        return f"{picture}[{text}]({_base(repository)}/{kind}/v{version}/{target})"

    return _RELATIVE.sub(absolute, readme)


def _base(repository: str) -> str:
    if not repository.startswith("https://"):
        raise ValueError(f"repository: expected an https address, got {repository!r}")
    return repository.rstrip("/")


def prepare(folder: Path, repository: str) -> None:
    """Rewrite README.md and pyproject.toml in a source tree."""
    text = (folder / "src" / "locmsim" / "__init__.py").read_text(encoding="utf-8")
    version = re.findall(r'(?m)^__version__ = "(.+)"$', text)[0]
    readme, project = folder / "README.md", folder / "pyproject.toml"
    page = long_description(readme.read_text(encoding="utf-8"), repository, version)
    settings = project.read_text(encoding="utf-8")
    if "[project.urls]" in settings:
        raise ValueError(f"{project}: has addresses already")
    lines = [f'{name} = "{address}"' for name, address in urls(repository, version).items()]
    table = "\n".join(["[project.urls]", *lines])
    readme.write_text(page, encoding="utf-8")
    project.write_text(
        settings.replace("[project.scripts]", f"{table}\n\n[project.scripts]", 1),
        encoding="utf-8",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Prepare the package's page in an index.")
    parser.add_argument("repository", help="https address of the public repository")
    options = parser.parse_args(arguments)
    try:
        prepare(Path(__file__).parents[1], options.repository)
    except ValueError as error:
        raise SystemExit(f"package_page.py: {error}") from None


if __name__ == "__main__":
    main()
