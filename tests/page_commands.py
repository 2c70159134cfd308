"""A folder in which tests run the commands of the pages as written."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from helpers import BOT

DOCS = Path(__file__).parents[1] / "docs"
BRUTALTESTER = Path(__file__).parent / "bots" / "brutaltester.py"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: A script that runs the tool with wide time limits, as tests may run on a busy machine.
LOCMSIM = """#!/bin/sh
case "$1 $2" in
    "arena show" | "arena --verify" | "play --replay") ;;
    arena* | play*) command=$1; shift; set -- "$command" --timeout-scale 25 "$@" ;;
esac
exec {python} -m locmsim "$@"
"""


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text()
    return [block for found, block in _BLOCK.findall(text) if found == language]


class Desk:
    """A folder with two bots, where commands of the pages are run as written."""

    def __init__(self, folder: Path, tools: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        self.environment["HOME"] = str(folder)

    def run(self, commands: str, code: int = 0) -> str:
        """Return what the commands print; they must not print messages."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, (commands, done.stdout, done.stderr)
        return done.stdout


def script(path: Path, *command: str, arguments: str = '"$@"') -> None:
    path.write_text(f"#!/bin/sh\nexec {shlex.join(command)} {arguments}\n")
    path.chmod(0o755)


def new_desk(tmp_path: Path) -> Desk:
    """Return a `Desk` with the commands that the pages use and two bots in its folder."""
    tools, folder = tmp_path / "tools", tmp_path / "desk"
    tools.mkdir()
    folder.mkdir()
    (tools / "locmsim").write_text(LOCMSIM.format(python=shlex.quote(sys.executable)))
    (tools / "locmsim").chmod(0o755)
    script(tools / "python", sys.executable)
    script(tools / "java", sys.executable, str(BRUTALTESTER))
    for name in ("dask", "psyleague"):
        path = Path(sys.executable).parent / name
        if path.exists():
            script(tools / name, str(path))
    for name in ("mybot", "mybot-before"):
        # Without arguments: to this bot, --fast would be a way to misbehave.
        script(folder / name, *BOT, arguments="")
    return Desk(folder, tools)


@contextlib.contextmanager
def in_background(desk: Desk, command: str) -> Iterator[None]:
    process = subprocess.Popen(
        shlex.split(command),
        cwd=desk.folder,
        env=desk.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
