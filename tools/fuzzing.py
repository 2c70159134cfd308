"""Rounds of a fuzzer, each of which its number repeats."""

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable


def run_rounds(doc: str | None, play: Callable[[int], object], done: Counter[str]) -> None:
    """Play rounds for the seconds of the command line; print how many, and what was `done`.

    Parameters
    ----------
    doc : str
        The text of the tool, whose first line is its description.
    play : function
        Plays the round of a number; a finding is an exception.
    done : Counter
        What the rounds count.
    """
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of the run")
    parser.add_argument("--seed", type=int, default=0, help="number of the first round")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    for number in itertools.count(options.seed):
        if time.monotonic() >= end:
            break
        try:
            play(number)
        except BaseException:
            print(f"finding in round {number}", file=sys.stderr, flush=True)
            raise
    counts = ", ".join(f"{count:,} {what}" for what, count in sorted(done.items()))
    print(f"{number - options.seed:,} rounds: {counts}; no finding")
