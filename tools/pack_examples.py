"""Packs the examples that `locmsim new` writes into the package: ``data/examples.zip``.

    python tools/pack_examples.py

Builds call `write_new`; the archive is not in git, but source archives contain it. It depends on
the examples alone, not on times or the order of files.
"""

import io
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
TARGET = ROOT / "src" / "locmsim" / "data" / "examples.zip"
#: The kinds of `locmsim new`, and the folder or file of each.
KINDS = {
    "trainer": "train",
    "agent": "course",
    "bot": "stdin_bot.py",
    "cython-bot": "cython-bot",
    "c-bot": "c-bot",
    "cpp-bot": "cpp-bot",
}
#: Suffixes of source files; a build may have left others beside them.
_WRITTEN = {".c", ".cpp", ".md", ".pxd", ".pxi", ".py", ".pyx", ".toml"}


def files(kind: str) -> dict[str, Path]:
    """Return the files of an example by their names in its folder."""
    source = EXAMPLES / KINDS[kind]
    if source.is_file():
        return {source.name: source}
    # C files beside Cython files are generated.
    return {
        path.relative_to(source).as_posix(): path
        for path in sorted(source.rglob("*"))
        if path.suffix in _WRITTEN
        and not (path.suffix == ".c" and path.with_suffix(".pyx").exists())
        and "build" not in path.relative_to(source).parts
    }


def archive() -> bytes:
    """Return the archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for kind in KINDS:
            for name, path in files(kind).items():
                member = zipfile.ZipInfo(f"{kind}/{name}", (1980, 1, 1, 0, 0, 0))
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = 0o644 << 16
                member.create_system = 3  # Unix, on all systems
                packed.writestr(member, path.read_bytes())
    return buffer.getvalue()


def write_new() -> None:
    """Make the archive for a build if it is missing or differs."""
    data = archive()
    if not (TARGET.exists() and TARGET.read_bytes() == data):
        beside = TARGET.with_suffix(".new")  # an interrupted build leaves no incomplete file
        beside.write_bytes(data)
        beside.replace(TARGET)


if __name__ == "__main__":
    write_new()
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")
