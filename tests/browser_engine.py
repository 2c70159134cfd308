"""The engine for pages, under node: the module and the script that a page has."""

# ruff: noqa: F401 (tests import from here what stands deep in the package)

import json
import shutil
import subprocess
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from locmsim import Match
from locmsim.export import engine_module
from locmsim.referee import Result
from locmsim.web.file_engine import battle_data, packed_engine
from locmsim.web.match_data import legal_texts
from locmsim.web.positions import played_turns, position_of_match, state_at_step


@cache
def need_compiler(rules: str, search: str = "beam") -> bytes:
    """Return the module of an engine, which the user's cache may have; else skip the test."""
    try:
        return engine_module(rules, search=search)
    except ImportError as error:
        pytest.skip(str(error))


def need_node() -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    return node


class Machine:
    """A process that has the engine of a match and answers questions."""

    def __init__(
        self,
        result: Result[Match],
        folder: Path,
        search: str = "beam",
        battle: dict[str, Any] | None = None,
    ) -> None:
        node = need_node()
        static = resources.files("locmsim.web") / "static"
        for script in static.iterdir():
            if script.name.endswith(".js"):
                (folder / script.name).write_bytes(script.read_bytes())
        (folder / "package.json").write_text('{"type": "module"}')
        module, file = folder / "engine.wasm", folder / "battle.json"
        module.write_bytes(need_compiler(result.match.rules, search))
        file.write_text(json.dumps(battle or battle_data(result)))
        command = [node, str(Path(__file__).with_name("machine.mjs")), str(folder)]
        self.process = subprocess.Popen(
            [*command, str(module), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, what: str, **asked: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({"what": what, "asked": asked}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["answer"]

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
