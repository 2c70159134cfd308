"""The engine in a page of one file: the compiled module, and what it must know of a match."""

import base64
from dataclasses import asdict
from typing import Any

from locmsim.agents.level import LEVELS, Level
from locmsim.agents.turn_search import SHARE, TurnSearchAgent, turn_times
from locmsim.export.wasm import engine_module
from locmsim.game.match import Match
from locmsim.referee.knowledge import replayed
from locmsim.referee.process_match import Result
from locmsim.referee.turn_report import WORLDS
from locmsim.web.engine_panel import CHANCES, HELD, LINES, SAMPLES, SEED
from locmsim.web.file_parts import packed, packed_json, program

_NOTE = f"Chances of winning: {CHANCES} The engine knows what the player had been shown."
_WORKER = ("machine.js", "machine-worker.js")


def battle_data(result: Result[Match]) -> dict[str, Any]:
    """Return what the engine must know to follow a match from its battle on."""
    choices: list[list[str]] = [[], []]
    for call, match in replayed(result):
        if match.state is None:
            choices[call.player].append(match.input_text(call.player))
            continue
        start = base64.b64encode(match.state.to_bytes()).decode()
        return {"start": start, "choices": choices, "taken": result.match.chosen}
    raise ValueError("the match ended before the battle: there is nothing to search")


def _level_data(rules: str, level: Level) -> dict[str, float]:
    """Return how a level plays, with the milliseconds of its first turn and of each later one."""
    first, later = turn_times(rules, level.time_ms, SHARE, TurnSearchAgent.FIRST_TURN)
    return {**asdict(level), "first_ms": first, "time_ms": later}


def packed_engine(rules: str, result: Result[Match] | None = None) -> dict[str, Any]:
    """Return the engine for a page."""
    battle = {} if result is None else {"battle": packed_json(battle_data(result))}
    return {
        "module": packed(engine_module(rules)),
        **battle,
        "worker": program(*_WORKER),
        "levels": [_level_data(rules, level) for level in LEVELS[rules]],
        "worlds": WORLDS,
        "seed": SEED,
        "lines": LINES,
        "held": HELD,
        "samples": SAMPLES,
        "note": _NOTE,
    }
