"""Options that several classes and commands have, each declared once.

See `locmsim.options.declarations`.
"""

from typing import Annotated, Literal

from locmsim.options.checks import MOST_MS, MOST_THREADS, MOST_WORK
from locmsim.options.declarations import Option

Clock = Annotated[
    Literal["wall", "cpu"],
    Option("the time that has limits: wall clock or processor", choices=("wall", "cpu")),
]
Cores = Annotated[int, Option("cores per game, for agents with threads", 1, MOST_THREADS)]
Dask = Annotated[
    str, Option("address of the Dask scheduler on whose cluster the work is done", kind="str")
]
Games = Annotated[int, Option("number of games", 1, 10**12)]
Isolate = Annotated[
    bool,
    Option(
        "play every agent in a process of its own, by the game's protocol if it has one for agents"
    ),
]
Iterations = Annotated[
    int, Option("maximum number of visits of plans per turn; 0 for no limit", 0, MOST_WORK)
]
Jobs = Annotated[int, Option("number of processes on this machine", 1, MOST_THREADS)]
Lenient = Annotated[
    bool, Option("accept output that a bot writes before it is asked for its next answer")
]
MatchLimit = Annotated[
    float,
    Option(
        "total time of a bot for all its answers in a match", 0.0, above=True, measured_in="seconds"
    ),
]
MemoryLimit = Annotated[
    float,
    Option("most resident memory of a program, such as 768M", 0.0, above=True, measured_in="MB"),
]
Nodes = Annotated[int, Option("maximum number of positions per turn; 0 for no limit", 0, MOST_WORK)]
Port = Annotated[int, Option("port of a server; 0: any free one", 0, 65535)]
SearchedNodes = Annotated[int, Option("number of positions that a search may visit", 1, MOST_WORK)]
ProofGames = Annotated[
    int, Option("most games of the match against the start at the end; 0: no match", 0, 10**9)
]
Seconds = Annotated[float, Option("duration", 0.0, above=True, measured_in="seconds")]
Seed = Annotated[int, Option("seed of all random numbers", -(1 << 63), (1 << 63) - 1)]
Share = Annotated[
    float,
    Option("largest share of the rule set's time limit that a turn may take", 0.0, above=True),
]
Threads = Annotated[
    int,
    Option(
        "number of threads that the search divides its sampled worlds among",
        1,
        MOST_THREADS,
        more="The arena binds a game to one core by default, see ``locmsim arena --cores 2``.",
    ),
]
TimeMs = Annotated[
    float,
    Option(
        "time per turn, five times as much for the first one; 0 for no time limit",
        0.0,
        MOST_MS,
        measured_in="ms",
        more="No turn takes more than `share` of the time that the rules allow: the rest is a"
        " reserve for the referee, the pipes and a busy machine.",
    ),
]
TimeoutScale = Annotated[float, Option("factor of all time limits; 0: no limits", 0.0)]
Turn = Annotated[int, Option("number of a turn, counted from 0 over both players' turns", 0, 10**6)]
