"""Rate all agents of the library against each other: ``python tools/ratings.py``.

Each pair of agents plays each rule set in mirrored pairs, on card sets that nothing was tuned on.
Searches are bounded by their work, so that the results depend only on the seeds. They are written
to docs/data/ratings.json and, as tables, to docs/ratings.md, in about ten minutes on one core.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from locmsim.agents import AGENTS
from locmsim.arena import Arena
from locmsim.bench import machine
from locmsim.rules.rulesets import RULES
from locmsim.tuning import PROOF_SEEDS

DOCS = Path(__file__).parents[1] / "docs"
#: The options with which agents are rated; () leaves an agent out. A search needs a bound other
#: than time, `level` has many strengths, and `policy` needs a file.
OPTIONS = {
    "beam": ("beam:nodes=2000,time_ms=0", "beam:nodes=50000,time_ms=0"),
    "mcts": ("mcts:iterations=200,time_ms=0",),
    "level": ("level:k=1", "level:k=3", "level:k=5", "level:k=7", "level:k=9"),
    "policy": (),
    "search": (),  # its games take long: docs/figures.md has them
}
ONLY_15 = ("learned",)
HEAD = """# Ratings of all agents

All agents of the library against each other, in mirrored pairs. Elo is a maximum-likelihood
estimate (Bradley-Terry, mean 0) with its 95 % interval; win % counts all games. Each agent plays
its own deck or draft ([which](bot.md#agents)), so a rating measures both. The searches are bounded
by their work and not by time, so the results do not depend on the machine. 50,000 nodes take a few
milliseconds; the [figures](figures.md#how-strong) have `beam` with the time limits of the game. The
command, here on {cpu}, {compiler}, Python {python}:

    python tools/ratings.py --games {games} --cpu "{cpu}"

[data/ratings.json](data/ratings.json) has every pairing.
"""


def players(rules: str) -> list[str]:
    """Return the agents to rate in a rule set, with their options."""
    names = [name for name in AGENTS if rules == "1.5" or name not in ONLY_15]
    return [spec for name in names for spec in OPTIONS.get(name, (name,))]


def rate(rules: str, specs: Sequence[str], games: int, jobs: int | None) -> dict[str, Any]:
    """Return the results of one rule set: players, the best first, and pairings."""
    seeds = PROOF_SEEDS[: games // 2]
    with Arena(
        specs, rules=rules, games=games, seeds=list(seeds), timeout_scale=0.0
    ) as arena:  # fmt: skip
        arena.run(jobs=jobs, progress=True)
        result = arena.to_json()
    if any(player["faults"] for player in result["players"]):
        raise SystemExit(f"rules {rules}: {result['faults']}")
    fields = ("name", "games", "wins", "elo")
    rated = [{key: player[key] for key in fields} for player in result["players"]]
    pairings = [{key: p[key] for key in ("players", "score")} for p in result["pairings"]]
    rated.sort(key=lambda player: -player["wins"])
    return {"players": rated, "pairings": pairings}


def page(results: dict[str, Any]) -> str:
    """Return the text of the page, with a table for each rule set."""
    meta = results["meta"]
    lines = [HEAD.format(**meta)]
    for rules, result in results["rules"].items():
        lines += [f"## Rules {rules}", "", "| agent | Elo | win % |", "|---|---|---|"]
        for player in result["players"]:
            elo, (low, _) = player["elo"]["value"], player["elo"]["interval"]
            lines.append(
                f"| `{player['name']}` | {elo:+.0f} ± {elo - low:.0f} |"
                f" {100 * player['wins'] / player['games']:.1f} |"
            )
        games = result["players"][0]["games"]
        lines += ["", f"{games:,} games per agent, {meta['games']} per pairing.", ""]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Rate all agents against each other.")
    add = parser.add_argument
    add(
        "--games",
        type=int,
        default=60,
        metavar="N",
        help="games per pairing (default: %(default)s)",
    )
    add(
        "--jobs",
        type=int,
        metavar="N",
        help="number of games played at once (default: one per core)",
    )
    add("--cpu", metavar="NAME", help="name of the processor, for the page")
    add("--docs", type=Path, default=DOCS, metavar="FOLDER", help="folder of the pages")
    options = parser.parse_args(arguments)
    here = machine()
    results: dict[str, Any] = {
        "meta": {
            "games": options.games,
            "cpu": options.cpu or here["CPU"],
            "compiler": here["compiler"],
            "python": here["Python"].split()[-1],
        },
        "rules": {},
    }
    for rules in RULES:
        results["rules"][rules] = rate(rules, players(rules), options.games, options.jobs)
    (options.docs / "data").mkdir(exist_ok=True)
    text = json.dumps(results, indent=1) + "\n"
    (options.docs / "data" / "ratings.json").write_text(text)
    (options.docs / "ratings.md").write_text(page(results))


if __name__ == "__main__":
    main()
