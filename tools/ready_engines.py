"""Makes the compiled engines that the wheels of a release have (docs/releasing.md).

    python tools/ready_engines.py [FOLDER]

It needs the installed package with its extra `browser`, or clang with lld. The modules are not in
git, nor in source archives; without a folder they are put where builds of a wheel find them.
"""

import sys
from pathlib import Path

from locmsim.export import compile_engine, export_engine
from locmsim.export.wasm import module_name
from locmsim.rules.rulesets import RULES

FOLDER = Path(__file__).resolve().parents[1] / "src" / "locmsim" / "export" / "data"


def write(folder: Path) -> list[Path]:
    """Write the modules of all rule sets in place of older ones; return the files."""
    for old in folder.glob("engine-*.wasm"):
        old.unlink()
    files = []
    for rules in RULES:
        text = export_engine(rules).text
        files.append(folder / module_name(text))
        files[-1].write_bytes(compile_engine(text))
    return files


def main() -> None:
    for file in write(Path(sys.argv[1]) if sys.argv[1:] else FOLDER):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
