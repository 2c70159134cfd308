"""A bot and the files that it includes as one file, as the site wants it."""

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from locmsim.agents.registry import make_agent
from locmsim.export.bot import LIMIT
from locmsim.export.header import function_groups
from locmsim.export.kernel import kernel_header, short_header
from locmsim.export.kit import DATA, PARTS, check_parts
from locmsim.game.match import Match
from locmsim.referee.process_match import play

_INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<(locm\.h)>)')
#: The rule set of a header, and of one that is minified.
_RULES = re.compile(
    r"^#define LOCM_RULES LOCM_RULES_(\d)(\d)$|of locmsim, rules (\d)\.(\d);", re.MULTILINE
)
_FUNCTION = re.compile(r"\blocm_(\w+)")
_OURS = "// Legends of Code and Magic: the exact simulator of locmsim"
#: As the site compiles: without optimisation, except for what a file itself asks for.
_COMPILERS = {".c": ["gcc", "-std=c17"]}
_OTHER = ["g++", "-std=c++17"]
_LIBRARIES = ["-lm", "-lpthread", "-ldl"]
#: The site's limits are not those of a machine that compiles at the same time.
_PATIENCE = 25.0


def paste(path: Path, rules: str | None = None) -> str:
    """Return a bot with the files that it includes, compiled and checked.

    Files in quotes are looked for beside the file that includes them, ``locm.h`` in the package
    too. If the whole is too long for the site, headers of locmsim are minified.

    Parameters
    ----------
    path : Path
        The bot, C if its name ends in ``.c``, else C++.
    rules : str, optional
        The rule set of the matches that it plays as a check; by default that of its header, or 1.5.

    Raises
    ------
    ValueError
        It is too long, does not compile, or has a fault in a match.
    OSError
        A file cannot be read, or there is no compiler.
    """
    head = f"// {path.name} and what it includes, by locmsim export\n"
    text = head + "".join(_pasted(path, set(), short=False))
    if len(text) > LIMIT:
        text = head + "".join(_pasted(path, set(), short=True))
    if len(text) > LIMIT:
        raise ValueError(f"{path}: {len(text):,} characters, but the site allows {LIMIT:,}")
    _check(path, text, rules or _rules(text) or "1.5")
    return text


def _rules(text: str) -> str | None:
    found = _RULES.search(text)
    return ".".join(filter(None, found.groups())) if found else None


def _pasted(path: Path, seen: set[Path], *, short: bool) -> Iterator[str]:
    """Yield the lines of a file and of the files that it includes, each of these once."""
    text = path.read_text(encoding="utf-8")
    if short and text.startswith(_OURS) and "#define LOCM_H\n" in text:
        text = short_header(text, _rules(text))
    for line in text.splitlines(keepends=True):
        named = _INCLUDE.match(line)
        name = named and (named[1] or named[2])
        beside = path.parent / name if name else path
        if not name or not (beside.is_file() or name == "locm.h"):
            yield line
        elif beside.resolve() not in seen:
            seen.add(beside.resolve())
            if beside.is_file():
                yield from _pasted(beside, seen, short=short)
            else:
                yield kernel_header(minified=short)


def _check(path: Path, text: str, rules: str) -> None:
    """Compile a bot, and let it play from both seats: ``ValueError`` for a failure."""
    with tempfile.TemporaryDirectory() as folder:
        source, bot = Path(folder) / f"paste{path.suffix or '.cpp'}", Path(folder) / "bot"
        source.write_text(text, encoding="utf-8")
        compiler, *flags = _COMPILERS.get(path.suffix, _OTHER)
        if shutil.which(compiler) is None:
            raise FileNotFoundError(2, "no such compiler; install it to check the file", compiler)
        command = [compiler, *flags, str(source), "-o", str(bot), *_LIBRARIES]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            errors = [line for line in made.stderr.splitlines() if "error" in line]
            first = (errors or [f"exit code {made.returncode}"])[0].removeprefix(f"{folder}/")
            remedy = _remedy(path, text, made.stderr, rules)
            raise ValueError(f"{path}: {compiler} {' '.join(flags)}: {first}{remedy}")
        for seat in (0, 1):
            players: list[Any] = [[str(bot)], make_agent("greedy")]
            fault = play(
                players[:: 1 - 2 * seat], Match(rules, seed=1), timeout_scale=_PATIENCE
            ).fault
            if fault is not None and fault.player == seat:
                raise ValueError(f"{path}: as player {seat} of rules {rules}: {fault}")


def _remedy(path: Path, text: str, said: str, rules: str) -> str:
    """Return which command makes the header, if a compiler misses functions of parts."""
    parts = sorted(check_parts(rules, PARTS))
    groups = function_groups(DATA, parts)
    undeclared = "".join(line for line in said.splitlines() if "declar" in line)
    missing, wanted = (
        [part for part in parts if groups[part].keys() & {*_FUNCTION.findall(names)}]
        for names in (undeclared, text)
    )
    if not missing:
        return ""
    header = shlex.quote(str(path.with_name("locm.h")))
    options = f"--rules {rules} --with {','.join(wanted)} -o {header}"
    return f"; it needs the header of locmsim export --kernel {options}"
