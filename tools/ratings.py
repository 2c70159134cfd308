"""Rate all agents of the library against each other: ``python tools/ratings.py``.

Each pair of agents plays each rule set in mirrored pairs, on card sets that nothing was tuned on.
Searches are bounded by their work, so that the results depend only on the seeds. They are written
to docs/data/ratings.json and, as a table, to docs/figures.md, in about ten minutes on one core.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import locmsim
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
HEAD = """All agents of the library against each other, {games} games for each pair. Elo is a
maximum-likelihood estimate (Bradley-Terry, mean 0) with its 95 % interval, win % counts all games.
The searches are bounded by work and not by time, so this is the same on every machine; 50,000 nodes
take a few milliseconds. [data/ratings.json](data/ratings.json) has every pairing. {cpu};
{compiler}, Python {python}; version {version};
`python tools/ratings.py --games {games} --cpu "{cpu}"`:
"""


def players(rules: str) -> list[str]:
    """Return the agents to rate in a rule set, with their options."""
    names = [name for name in AGENTS if rules == "1.5" or name not in ONLY_15]
    return [spec for name in names for spec in OPTIONS.get(name, (name,))]


def rate(rules: str, specs: Sequence[str], games: int, jobs: int | None) -> dict[str, Any]:
    """Return the results of one rule set: players, the best first, and pairings."""
    seeds = PROOF_SEEDS[: games // 2]
    with Arena(
        None, specs, rules=rules, games=games, seeds=list(seeds), timeout_scale=0.0
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


def section(results: dict[str, Any]) -> str:
    """Return the section of the page: one table, in the order of the newest rules."""
    rated = [
        {player["name"]: player for player in result["players"]}
        for result in results["rules"].values()
    ]
    rules = [name for name in results["rules"] for _ in range(2)]
    titles = [f"{name}: {what}" for name, what in zip(rules, ("Elo", "win %") * 3, strict=True)]
    lines = [HEAD.format(**results["meta"]), f"| agent | {' | '.join(titles)} |", "|---" * 7 + "|"]
    for name in rated[0]:
        cells = []
        for players in rated:
            if (player := players.get(name)) is None:
                cells += ["-", "-"]
                continue
            elo, (low, _) = player["elo"]["value"], player["elo"]["interval"]
            cells += [
                f"{elo:+.0f} ± {elo - low:.0f}",
                f"{100 * player['wins'] / player['games']:.1f}",
            ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(text: str, results: dict[str, Any]) -> str:
    """Return the text of docs/figures.md with the section of these results."""
    before, title, rest = text.partition("\n## Ratings\n\n")
    _, following, after = rest.partition("\n\n## ")
    return before + title + section(results) + following[1:] + after


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
    add("--check", action="store_true", help="only compare with what the page has: exit status 1")
    options = parser.parse_args(arguments)
    here = machine()
    results: dict[str, Any] = {
        "meta": {
            "games": options.games,
            "cpu": options.cpu or here["CPU"],
            "compiler": here["compiler"],
            "python": here["Python"].split()[-1],
            "version": locmsim.__version__,
        },
        "rules": {},
    }
    for rules in RULES:
        results["rules"][rules] = rate(rules, players(rules), options.games, options.jobs)
    if options.check:
        before = json.loads((DOCS / "data" / "ratings.json").read_text())
        now, then = (section({**before, **one}).splitlines() for one in (results, before))
        sys.exit("\n".join(one for one in now if one[:3] == "| `" and one not in then) or 0)
    (DOCS / "data" / "ratings.json").write_text(json.dumps(results, indent=1) + "\n")
    path = DOCS / "figures.md"
    path.write_text(page(path.read_text(), results))


if __name__ == "__main__":
    main()
