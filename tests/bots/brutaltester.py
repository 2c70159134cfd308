"""Stands in for ``java -jar cg-brutaltester.jar``: calls a referee as brutaltester does.

The referee's command is split at single blanks, without quotes or a shell; a player's command is
one argument. Scores are the first integers on its standard output, in the order of the arguments;
what comes before them, a negative one, and anything on the standard error are problems. The rest is
kept for a command that repeats the game. Here problems are printed and make the exit code 1. Games
run one after the other, whatever ``-t`` says.
"""

import argparse
import json
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-jar", required=True)
    for option in ("-r", "-p1", "-p2"):
        parser.add_argument(option, required=True)
    parser.add_argument("-t", type=int, default=1)
    parser.add_argument("-n", type=int, default=1)
    parser.add_argument("-l")
    parser.add_argument("-s", action="store_true")
    options = parser.parse_args()

    bots = [options.p1, options.p2]
    games = []
    for number in range(options.n * (2 if options.s else 1)):
        seats = [1, 0] if options.s and number % 2 else [0, 1]
        command = options.r.split(" ")
        command += ["-p1", bots[seats[0]], "-p2", bots[seats[1]]]
        if options.s:
            command += ["-d", f"seed={1000 + number // 2}"]
        if options.l is not None:
            command += ["-l", f"{options.l}/game{number + 1}.json"]
        games.append(play(command, seats))
    print(json.dumps(games))
    return any(game["problems"] for game in games)


def play(command, seats):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    problems = [f"standard error: {done.stderr}"] if done.stderr else []
    found = re.match(r"\s*([+-]?[0-9]+)(?!\S)\s*([+-]?[0-9]+)(?!\S)[^\n]*\n?", done.stdout)
    if not found:
        return {"scores": None, "problems": [*problems, f"no scores first: {done.stdout}"]}
    scores = [0, 0]
    for seat, text in zip(seats, found.groups(), strict=True):
        scores[seat] = int(text)
        if scores[seat] < 0:
            problems.append(f"negative score: {text}")
    data = done.stdout[found.end() :]
    return {
        "scores": scores,
        "problems": problems,
        "replay": [*command, "-s", "-d", data],
    }


if __name__ == "__main__":
    sys.exit(main())
