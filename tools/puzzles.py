"""Makes the puzzles of the package, `src/locmsim/data/puzzles.txt`.

    python tools/puzzles.py              writes the file
    python tools/puzzles.py --more       keeps what is in it, and adds what is missing
    python tools/puzzles.py --check      proves again that each puzzle has one winning turn
    python tools/puzzles.py RESULTS.db   takes positions from the games of an arena

Without an arena's results, the positions come from games between two agents. The opponent's health
is set to the greatest damage that the turn can do, so that the win needs all of it. A position is
a puzzle if an exhaustive search, which needs only the rules, finds exactly one set of actions that
wins (`locmsim.search.puzzles`), and two of these or more are no attacks on the opponent. One game
gives at most one puzzle. The opponent's hand and the decks do not matter and are left out.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import wins_data

from locmsim import State
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.game.match import Match
from locmsim.referee.knowledge import replayed
from locmsim.search.puzzles import (
    DIFFICULTIES,
    Puzzle,
    built_in_puzzles,
    puzzle_at,
    save_puzzles,
    winning_turns,
)

PATH = Path(__file__).parents[1] / "src" / "locmsim" / "data" / "puzzles.txt"
#: How many puzzles of each difficulty there are of a rule set.
COUNTS = {"1.5": 12, "1.2": 4, "1.0": 4}
#: The most health of an opponent, and the fewest actions of a winning turn besides attacks on them.
HEALTH = 30
ACTIONS = 2
#: The most games, and the most sequences of three actions in a turn that is looked at.
GAMES = 3000
SEQUENCES = 15_000


def main() -> None:
    if "--check" in sys.argv[1:]:
        for puzzle in built_in_puzzles():
            (line,) = winning_turns(puzzle.state)
            assert set(line.split(";")) == set(puzzle.line.split(";")), puzzle
        return
    first, found = 0, []
    if "--more" in sys.argv[1:]:
        first = GAMES
        known = [puzzle_at(puzzle.state) for puzzle in built_in_puzzles()]
        found = [puzzle for puzzle in known if puzzle is not None]
    for rules, count in COUNTS.items():
        left = Counter(dict.fromkeys(DIFFICULTIES, count))
        left.subtract(puzzle.difficulty for puzzle in found if puzzle.state.rules == rules)
        for states in games(rules, first):
            if not +left:
                break
            puzzle = best_of(states, left)
            if puzzle is not None:
                left[puzzle.difficulty] -= 1
                found.append(puzzle)
                print(rules, dict(left), puzzle.line, flush=True)
    found.sort(key=lambda puzzle: DIFFICULTIES.index(puzzle.difficulty))
    save_puzzles(PATH, found)


def games(rules: str, first: int) -> Iterator[list[State]]:
    """Yield the positions at the starts of the turns of each game."""
    for path in [word for word in sys.argv[1:] if not word.startswith("--")]:
        with Arena.load(path) as arena:
            for outcome in arena.games():
                result = arena.replay(outcome.number)
                if result.match.rules == rules:
                    yield [m.state.clone() for _, m in replayed(result) if m.state is not None]
        return
    for seed in range(first, first + GAMES):
        agents = make_agent("osl"), make_agent("greedy")
        yield wins_data.turns_of(Match(rules, seed=seed), agents)


def best_of(states: list[State], left: Counter[str]) -> Puzzle | None:
    """Return the puzzle of a game that takes most preparation, of a difficulty that is wanted."""
    found = [one for state in states if (one := weakened(state)) and left[one.difficulty] > 0]
    return max(found, key=preparations, default=None)


def preparations(puzzle: Puzzle) -> int:
    """Return the number of actions of a winning turn that are no attacks on the opponent."""
    return sum(
        not (action.startswith("ATTACK") and action.endswith(" -1"))
        for action in puzzle.line.split(";")
    )


def weakened(state: State) -> Puzzle | None:
    """Return the puzzle that a position is with the health that the turn can just take."""
    bare = without_hidden(state)
    if bare.perft(3) > SEQUENCES:
        return None
    try:
        most, _ = wins_data.damage(bare)
        if not 0 < most <= HEALTH:
            return None
        puzzle = puzzle_at(wins_data.with_health(bare, most))
    except (ValueError, wins_data.TooLarge):
        return None
    return None if puzzle is None or preparations(puzzle) < ACTIONS else puzzle


def without_hidden(state: State) -> State:
    """Return the position without the opponent's hand and the decks."""
    snapshot = state.snapshot()
    mover = state.current_player()
    known = {c.card.base_id: c.card for p in state.players for c in p.board}
    decks: list[list[list[int]]] = [[], []]
    for number, card in state.players[mover].hand:
        known[card.base_id] = card
        decks[mover].append([number, card.base_id])
    for player in (0, 1):
        snapshot["p"][player]["deck"] = 0
    snapshot["p"][1 - mover]["hand"] = []
    return State.from_snapshot(snapshot, known, decks, state.rules)


if __name__ == "__main__":
    main()
