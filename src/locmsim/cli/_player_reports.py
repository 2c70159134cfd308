"""``locmsim analyse DB --report``: what players gave away over many games."""

import argparse
import json
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from locmsim.cli._runs import failures, finish
from locmsim.cli._shared import default_jobs

if TYPE_CHECKING:
    from locmsim.arena.player_report import PlayerReport

_SUMMARY = {
    "score": "mean score",
    "deck": "chance with these decks",
    "package": "  with the package's decks",
    "lost_by_deck": "given away by the deck",
    "lost_by_turns": "given away by all turns",
    "deck_share": "  of both, by the deck",
    "missed_wins": "wins missed",
    "unspent": "mana unspent, a turn",
}


def report_on_players(options: argparse.Namespace) -> None:
    """Print the report; after a signal, that on the games so far."""
    from locmsim.arena.player_report import report_players

    why = f"does not apply to {options.source}, an arena's results"
    options.parser.refuse(why, "--rules", "--ids")
    reports: list[PlayerReport] = []

    def steps() -> Generator[tuple[int, int]]:
        nonlocal reports
        for reports in report_players(
            options.source,
            options.player or (),
            lost=options.lost,
            games=options.games,
            nodes=options.nodes,
            seed=options.seed,
            jobs=default_jobs(options) or 1,
        ):
            yield sum(len(one.games) for one in reports), sum(one.chosen for one in reports)

    with failures():
        finish(steps(), "game", lambda: _show(options, reports))


def _show(options: argparse.Namespace, reports: "Sequence[PlayerReport]") -> None:
    """Print the reports side by side."""
    from locmsim.referee.turn_report import report_budget

    budget = report_budget(options.nodes)
    if options.json:
        found = [one.to_json() for one in reports]
        print(json.dumps({"ids": "new", "budget": budget, "players": found}, indent=1))
        return
    column = max(12, *(len(one.name) + 2 for one in reports))

    def row(title: str, shown: Callable[["PlayerReport"], str]) -> None:
        print(f"{title:<26}" + "".join(f"{shown(one):>{column}}" for one in reports))

    row("", lambda one: one.name)
    row("games", lambda one: str(len(one.games)))
    summaries = {one.name: one.summary() for one in reports}
    for key, title in _SUMMARY.items():
        row(title, lambda one, key=key: _value(key, summaries[one.name][key]))  # type: ignore[misc]
    print("\ngiven away by each of the player's turns:")
    by_turn = {one.name: one.by_turn() for one in reports}
    for number in range(max(map(len, by_turn.values()))):

        def loss(one: "PlayerReport", number: int = number) -> str:
            turns: list[dict[str, Any]] = by_turn[one.name]
            return _value("loss", turns[number]["loss"]) if number < len(turns) else "-"

        row(f"  turn {number + 1}", loss)
    for one in reports:
        print(f"\nthe worst turns of {one.name}:")
        for game, turn in one.worst():
            print(f"  {100 * turn.loss:3.0f} % given away: {one.command(game, turn.turn)}")
    print(f"\n{budget}\ngiven away: of the player's chance of winning")


def _value(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key == "missed_wins":
        return str(value)
    return f"{value:.2f}" if key == "unspent" else f"{100 * value:.1f} %"
