"""Play the games behind figures of the pages that are the same on every machine, and compare.

python tools/exact_figures.py                        # all of them, some hours on one core
python tools/exact_figures.py drafts.md --write      # those of a page; put new ones into it
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
#: Of rows with one share: percentage and interval.
SHARE = r"(?P<shown>[\d.]+ % \| [\d.]+ - [\d.]+)"
#: Of tables with many shares.
CELL = r"(?P<shown>[\d.]+ \([\d.]+ - [\d.]+\))"
FORM, CELL_FORM = "{wins:.1f} % | {low:.1f} - {high:.1f}", "{wins:.1f} ({low:.1f} - {high:.1f})"


class Figures(NamedTuple):
    """Cells of a page and how they are made."""

    page: str
    #: An expression for rows of its tables, with the group `shown`.
    row: str
    #: What `locmsim arena` plays, or the words after `strength.py`; with the groups of `row`.
    command: str
    form: str = FORM
    #: Whose share it is.
    player: int = 0


FIGURES = [
    Figures(
        "drafts.md",
        rf"\| (?P<rules>1\.\d) \| `(?P<a>\w+)` \| `(?P<b>\w+)` \| {SHARE} \|",
        "greedy:draft={a} greedy:draft={b} --rules {rules} --seeds 10000000..10000399",
    ),
    *(
        Figures(
            "web.md",
            rf"\| (?P<rules>1\.\d) \|(?: \d+ \|){{{k - 1}}} (?P<shown>\d+) \|",
            f"level:k={k} {f'level:k={k - 1}' if k > 1 else 'greedy'}"
            " --rules {rules} --games 400 --seed 1",
            "{wins:.0f}",
        )
        for k in range(1, 10)
    ),
    *(
        Figures(page, rf"\| {SHARE} \| `(?P<words>[^`]+) --timeout-scale 0` \|", "{words}")
        for page in ("figures.md", "training.md")
    ),
    Figures(
        "figures.md",
        rf"\| (?P<rules>1\.[02]) \| [^|]+ \| [^|]+ \| {SHARE} \| `(?P<words>[^`]+)` \|",
        "{words} --rules {rules} --seeds 10000000..10000199",
    ),
    Figures(
        "figures.md",
        rf"\| 1\.5 \| `(?P<change>[\w=.-]+)` \| {SHARE} \|",
        "beam:nodes=5000,time_ms=0,{change} beam:nodes=5000,time_ms=0 --seeds 10521000..10521199",
    ),
    Figures(
        "figures.md",
        rf"\| (?P<rules>1\.[02]) \| `(?P<change>[\w=.-]+)` \| {SHARE} \|",
        "mcts:iterations=200,time_ms=0,{change} mcts:iterations=200,time_ms=0 --rules {rules}"
        " --seeds 10521000..10521199",
    ),
    *(
        Figures(
            "training.md",
            rf"\| {row} \|(?: [^|]+\|){{{i}}} {CELL} \|",
            f"agent:learned{command} --opponents {opponent}",
            CELL_FORM,
        )
        for row, command in (
            ("(?P<decks>random|classic|default)", " --games 10000 --decks {decks}"),
            (r"random, at 1\.2", ":rules=1.2 --games 4000"),
        )
        for i, opponent in enumerate(("random", "max-attack", "osl", "greedy"))
    ),
    Figures(
        "training.md",
        rf"\| `(?P<agent>[\w:=]+)` \| {CELL} \|",
        "{agent} beam:nodes=3000,time_ms=0 --decks random --games 1000 --seed 10000000",
        CELL_FORM,
        player=1,
    ),
    Figures(
        "vestrock/rules.md",
        r"\| `(?P<a>[^`]+)` against `(?P<b>[^`]+)` \| (?P<shown>[\d.]+ % \| [\d.]+ to [\d.]+) \|",
        "{a} {b} --game vestrock --games 800 --seed 1",
        "{wins:.1f} % | {low:.1f} to {high:.3g}",
    ),
]


@cache
def played(command: str, player: int, jobs: int) -> dict[str, float]:
    """Return the share of a player in percent, and its interval."""
    words = command.split()
    if words[0].startswith("agent:"):
        tool = [sys.executable, str(ROOT / "examples" / "train" / "strength.py")]
        found = re.search(r"([\d.]+) % of \d+ games \(([\d.]+) to ([\d.]+)\)", _run(tool, words))
        assert found
        return dict(zip(("wins", "low", "high"), map(float, found.groups()), strict=True))
    tool = [sys.executable, "-m", "locmsim", "arena", "--timeout-scale", "0", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        more = ["--jobs", str(jobs), "--db", f"{folder}/games.db"]
        result = json.loads(_run(tool, [*words, *more]))
    score = result["players"][player]
    low, high = score["interval"]
    return {"wins": 100 * score["score"], "low": 100 * low, "high": 100 * high}


def _run(tool: list[str], words: list[str]) -> str:
    done = subprocess.run(
        [*tool, *words], cwd=ROOT / "docs" / "data", capture_output=True, text=True
    )
    if done.returncode:
        raise ValueError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def cells(docs: Path, pages: list[str]) -> Iterator[tuple[Path, re.Match[str], Figures]]:
    """Yield each cell in its row."""
    for one in FIGURES:
        if not pages or one.page in pages:
            path = docs / one.page
            for row in re.finditer(f"(?m)^.*?{one.row}", path.read_text(encoding="utf-8")):
                yield path, row, one


def compare(
    docs: Path, pages: list[str], jobs: int, write: bool, log: Callable[[str], None] = print
) -> int:
    """Say which figures differ, and return their number; `write` puts the new ones in."""
    wrong = 0
    for path, row, one in cells(docs, pages):
        command = one.command.format(**row.groupdict())
        try:
            now = one.form.format(**played(command, one.player, jobs))
        except ValueError as error:
            log(f"{one.page}: not played: {error}")  # such as an agent that is not installed
            continue
        if now == row["shown"]:
            continue
        wrong += 1
        log(f"{one.page}: {row['shown']}, now {now}: {command}")
        if write:
            start, end = (at - row.start() for at in row.span("shown"))
            text = path.read_text(encoding="utf-8")
            line = row[0][:start] + now + row[0][end:]
            path.write_text(text.replace(row[0], line, 1), encoding="utf-8")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as drafts.md")
    parser.add_argument("--write", action="store_true", help="put new figures into the pages")
    parser.add_argument("--jobs", type=int, default=2, help="games played at once")
    options = parser.parse_args()
    return int(compare(ROOT / "docs", options.pages, options.jobs, options.write) > 0)


if __name__ == "__main__":
    sys.exit(main())
