"""Prints which lines of the kernel the tests do not reach, including nogil code.

    LOCMSIM_COVERAGE=1 python setup.py build_ext --inplace --force
    python -m pytest tests
    python tools/kernel_coverage.py

That build counts, for gcov, how often each line of the generated C runs; in the C, a mark with its
number stands before each Cython line. A Cython line counts as reached if the first counted line of
C after one of its marks does. The command fails if more than 2 % of the lines were not reached.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEEDED = 98.0

#: gcov's output: how often a line was run ("-": no code, "#####": never), its number, the line.
_COUNTED = re.compile(r" *(-|#####|=====|\d+\*?): *\d+:(.*)")
_MARK = re.compile(r"__Pyx_TraceLine\((\d+),[\d,]*\s*__PYX_ERR\((\d+),")
#: The C's list of the files whose lines it numbers.
_FILES = re.compile(r"__pyx_f\[\] = \{(.*?)\};", re.DOTALL)


def reached(gcov_lines):
    """Return a dict from (number of a Cython file, line) to whether the line was reached."""
    lines = {}
    marked = None
    for text in gcov_lines:
        if not (counted := _COUNTED.match(text)):
            continue
        count, code = counted.groups()
        if mark := _MARK.search(code):
            marked = int(mark[2]), int(mark[1])
        elif marked is not None and count != "-":
            lines[marked] = lines.get(marked, False) or count[0].isdigit()
            marked = None
    return lines


def main():
    found = list(ROOT.glob("build/temp*/**/locmsim/_core.gcda"))
    if len(found) != 1:
        raise SystemExit(
            f"{len(found)} times locmsim/_core.gcda under build: expected one build and a run"
        )
    # Run it where the C was compiled: gcov knows the file by its relative name.
    command = ["gcov", "--stdout", "--object-directory", found[0].parent, found[0]]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    lines = reached(done.stdout.splitlines())
    c = (ROOT / "src/locmsim/_core.c").read_text(encoding="utf-8")
    files = [Path(name).name for name in re.findall(r'"(.*?)"', _FILES.search(c)[1])]
    lines = {
        (files[i], number): was
        for (i, number), was in lines.items()
        if files[i].startswith("_core") and not files[i].endswith(".pxd")
    }
    sources = {name: (ROOT / "src/locmsim" / name).read_text().splitlines() for name, _ in lines}
    for name, number in sorted(place for place, was in lines.items() if not was):
        print(f"{name}:{number:<5} {sources[name][number - 1]}")
    percent = 100 * sum(lines.values()) / len(lines)
    print(f"{sum(lines.values())} of {len(lines)} lines: {percent:.1f} %")
    sys.exit(percent < NEEDED)


if __name__ == "__main__":
    main()
