"""Checks what the archives contain: ``python .ci/check_archives.py SDIST.tar.gz WHEEL.whl``."""

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

sys.path.append("tools")

import pack_examples

#: The packages of the distribution.
PACKAGES = ("locmsim", "vestrock")
SOURCES = {path.relative_to("src") for name in PACKAGES for path in Path("src", name).rglob("*")}
MODULES = {path.with_suffix("") for path in SOURCES if path.suffix == ".pyx"}
GENERATED = {".c", ".wasm", ".so", ".pyd", ".pyc"}
#: Files in the archives but not in git: C for exported bots, which builds from an archive do not
#: translate again, and the examples that `locmsim new` writes.
EXAMPLES = Path("locmsim/data/examples.zip")
MADE = {Path("locmsim/include/locm.h"), Path("locmsim/export/data/kit.h"), EXAMPLES}
#: The most bytes of the examples.
MOST = 100_000
NOT_SHIPPED = {*GENERATED, ".pyx", ".pxi", ""}


def main() -> None:
    with tarfile.open(sys.argv[1]) as archive:
        # The first folder is the archive's own.
        names = {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    package = inside(names, "src")
    check("archive", package, shipped() | of(SOURCES, ".pyx", ".pxi") | MADE)
    # Everything in git except .ci and other names that begin with a dot.
    kept = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True).stdout
    check("archive", names, {Path(name) for name in kept.split("\0") if name and name[0] != "."})
    check("archive", names, {Path("README.md"), Path("CHANGELOG.md"), Path("LICENSE")})
    refuse("archive", names - {PurePosixPath(name) for name in kept.split("\0")}, GENERATED)

    with zipfile.ZipFile(sys.argv[2]) as wheel:
        names = {PurePosixPath(name) for name in wheel.namelist()}
        modules = [file for file in wheel.infolist() if file.filename.endswith((".so", ".pyd"))]
        examples(wheel.read(EXAMPLES.as_posix()))
    check("wheel", names, shipped() | MADE)
    compiled = {name.with_name(name.name.split(".")[0]) for name in of(names, ".so", ".pyd")}
    check("wheel", compiled, MODULES | {PurePosixPath("locmsim/_cyutility")})
    refuse("wheel", names, {".c", ".pyx", ".pxi", ".pyc"})
    size = sum(file.file_size for file in modules) / 1e6
    print("the archives have all they need and nothing generated")
    print(f"{len(modules)} compiled modules of {size:.2f} MB together")


def examples(data: bytes) -> None:
    """Check that the examples in the wheel are those of this tree, and not too large."""
    if len(data) > MOST:
        raise SystemExit(f"wheel: {EXAMPLES} has {len(data):,} bytes, more than {MOST:,}")
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        for kind in pack_examples.KINDS:
            for name, path in pack_examples.files(kind).items():
                if packed.read(f"{kind}/{name}") != path.read_bytes():
                    raise SystemExit(f"wheel: {EXAMPLES}: {kind}/{name} differs")


def shipped() -> set:
    """Return all files of the packages that are needed after it is built."""
    return {p for p in SOURCES if p.suffix not in NOT_SHIPPED and "__pycache__" not in p.parts}


def of(names: set, *suffixes: str) -> set:
    return {name for name in names if name.suffix in suffixes and "__pycache__" not in name.parts}


def inside(names: set[PurePosixPath], folder: str) -> set[PurePosixPath]:
    return {name.relative_to(folder) for name in names if name.is_relative_to(folder)}


def check(what: str, names: set, needed: set) -> None:
    if missing := set(map(str, needed)) - set(map(str, names)):
        raise SystemExit(f"{what}: missing {', '.join(sorted(missing))}")


def refuse(what: str, names: set[PurePosixPath], suffixes: set[str]) -> None:
    if found := sorted(str(name) for name in names if name.suffix in suffixes):
        raise SystemExit(f"{what}: generated files {', '.join(found)}")


if __name__ == "__main__":
    main()
