"""Prints which lines of `_core.pyx` the tests do not reach, including nogil code.

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
_MARK = re.compile(r"__Pyx_TraceLine\((\d+),")


def reached(gcov_lines):
    """Return a dict from Cython lines to whether they were reached."""
    lines = {}
    marked = None
    for text in gcov_lines:
        if not (counted := _COUNTED.match(text)):
            continue
        count, code = counted.groups()
        if mark := _MARK.search(code):
            marked = int(mark[1])
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
    source = (ROOT / "src/locmsim/_core.pyx").read_text().splitlines()
    for number in sorted(number for number, was in lines.items() if not was):
        print(f"{number:5}  {source[number - 1]}")
    percent = 100 * sum(lines.values()) / len(lines)
    print(f"{sum(lines.values())} of {len(lines)} lines: {percent:.1f} %")
    sys.exit(percent < NEEDED)


if __name__ == "__main__":
    main()
