"""The time of a turn around the search: from the text of an observation to the answer line.

    python bench/turns.py record turns.json
    python bench/turns.py run turns.json
    python bench/turns.py run turns.json --python OTHER/bin/python

records the first 500 turns of games between two fixed agents, as they were sent, and has an agent
play them again whose search may make one node: as an agent, and as a bot on pipes, from the last
line written to the answer line read. `--python` measures the version that another interpreter has,
on the same turns; the two take turns, and the least time of several rounds counts.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

TURNS = 500


def record(path: Path, rules: str) -> None:
    """Write what one player of each game was sent in the first 500 turns, and their answers."""
    from locmsim import Match
    from locmsim.agents import make_agent

    games, turns, seed = [], 0, 0
    while turns < TURNS:
        match = Match(rules, seed=seed)
        agents = [make_agent("rule"), make_agent("rule")]
        for agent in agents:
            agent.reset(seed)
        texts = []
        while match.phase != "over" and turns < TURNS:
            for player in match.to_ask:
                choice = match.phase == "choice"
                observation = match.observation(player)
                if player == seed % 2:
                    texts.append(match.input_text(player))
                    turns += not choice
                agent = agents[player]
                match.submit(player, (agent.choose if choice else agent.act)(observation))
        games.append(texts)
        seed += 1
    path.write_text(json.dumps({"rules": rules, "games": games}))


def spec(agent: str) -> str:
    """The description of the agent with a budget of one node."""
    from locmsim.agents import make_agent

    for bound in ("nodes", "iterations"):
        try:
            make_agent(f"{agent}:time_ms=0,{bound}=1")
        except ValueError:
            continue
        return f"{agent}:time_ms=0,{bound}=1"
    raise SystemExit(f"{agent}: no agent with a budget of nodes or iterations")


def as_agent(games: list[list[str]], rules: str, agent: str) -> float:
    """Seconds of the battle turns, an agent being given the texts."""
    from locmsim import Observation
    from locmsim.agents import make_agent

    player, taken = make_agent(spec(agent)), 0.0
    for texts in games:
        player.reset(1)
        for text in texts:
            start = perf_counter()
            observation = Observation.parse(text, rules)
            if observation.phase == "choice":
                player.choose(observation)
                continue
            player.act(observation)
            taken += perf_counter() - start
    return taken


def as_bot(games: list[list[str]], rules: str, agent: str) -> float:
    """Seconds of the battle turns, a bot on pipes being sent the texts."""
    from locmsim import Observation

    taken = 0.0
    for texts in games:
        command = [sys.executable, "-m", "locmsim.bot", "--agent", spec(agent)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as bot:
            assert bot.stdin
            assert bot.stdout
            for text in texts:
                choice = Observation.parse(text, rules).phase == "choice"
                start = perf_counter()
                bot.stdin.write(text)
                bot.stdin.flush()
                bot.stdout.readline()
                if not choice:
                    taken += perf_counter() - start
    return taken


def measure(path: Path, agent: str) -> dict[str, float]:
    """Microseconds a turn, as an agent and as a bot."""
    recorded = json.loads(path.read_text())
    games, rules = recorded["games"], recorded["rules"]
    as_agent(games[:2], rules, agent)
    return {
        "agent": 1e6 * as_agent(games, rules, agent) / TURNS,
        "bot": 1e6 * as_bot(games, rules, agent) / TURNS,
    }


def compare(path: Path, agent: str, rounds: int, other: str | None) -> None:
    """Print the figures of this interpreter's version, and of another one's."""
    pythons = {"this": sys.executable} | ({"other": other} if other else {})
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for name, python in pythons.items():
            command = [python, __file__, "measure", str(path), "--agent", agent]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for kind, value in json.loads(output).items():
                found.setdefault((kind, name), []).append(value)
    for kind in ("agent", "bot"):
        times = {name: found[kind, name] for name in pythons}
        text = ", ".join(
            f"{name} {min(t):.0f} us a turn (median {median(t):.0f})" for name, t in times.items()
        )
        share = f", {min(times['this']) / min(times['other']):.2f} of it" if other else ""
        print(f"{agent} as {kind}: {text}{share}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("record", "run", "measure"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--rules", default="1.5", help="of games to record (default: %(default)s)")
    parser.add_argument("--agent", default="beam", help="beam or mcts (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--python", help="the interpreter of another version")
    options = parser.parse_args()
    if options.what == "record":
        record(options.file, options.rules)
    elif options.what == "measure":
        print(json.dumps(measure(options.file, options.agent)))
    else:
        compare(options.file, options.agent, options.rounds, options.python)


if __name__ == "__main__":
    main()
