"""The referee and the arena's core play any game that keeps `locmsim.contract`.

The game of these tests is as far from Legends of Code and Magic as possible: nobody chooses cards,
games can be drawn, scores are points, and the answers of agents are numbers.
"""

import ast
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from helpers import raises

import locmsim
from locmsim.arena import GAMES, Arena, Sprt, StoreError, known_games, make_game
from locmsim.contract import (
    BaseGame,
    Fault,
    FaultKind,
    Game,
    Match,
    Part,
    TurnResult,
    play_match,
    require,
)
from locmsim.referee import play, replay_calls


class Dice:
    """A game of six turns, in which a number below 10 counts if it beats the previous one."""

    def __init__(self, seed: int, luck: int, turns: int = 6) -> None:
        self.turns = turns
        self.params: dict[str, int | str] = {"seed": seed, "luck": luck}
        self.turn: int | None = 0
        self.to_ask: tuple[int, ...] = (0,)
        self.last = random.Random(f"{seed} {luck}").randrange(10)
        self.totals = [0, 0]
        self.answers: list[tuple[int, str | None]] = []
        self.error: Fault | None = None

    def input_text(self, player: int) -> str:
        return f"{self.last}\n"

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        return lambda: f"{agent.say(self.last)}"

    def time_limit_ms(self, player: int) -> float:
        return 1000

    def submit(self, player: int, line: str | None) -> TurnResult:
        assert self.turn is not None
        self.answers.append((player, line))
        if line is None or not (line.isdecimal() and len(line) == 1):
            kind = FaultKind.TIMEOUT if line is None else FaultKind.MALFORMED
            self.error = Fault(player, kind, f"player {player}: no digit")
            self.to_ask = ()
            return TurnResult([], [], self.error)
        number = int(line)
        if better := number > self.last:
            self.totals[player] += number
        self.last = number
        self.turn += 1
        self.to_ask = () if self.turn == self.turns else (1 - player,)
        return TurnResult([line] if better else [], [] if better else [line])

    @property
    def scores(self) -> list[int] | None:
        if self.to_ask:
            return None
        return [
            -99 if self.error and self.error.player == seat else total
            for seat, total in enumerate(self.totals)
        ]

    @property
    def winner(self) -> int | None:
        scores = self.scores or [0, 0]
        return None if scores[0] == scores[1] else scores.index(max(scores))

    def explain(self) -> str:
        return "expected one digit"

    def root(self) -> "Dice":
        return Dice(int(self.params["seed"]), int(self.params["luck"]), self.turns)

    def state_key(self) -> object:
        return self.turn, self.last, *self.totals

    @property
    def log(self) -> dict[str, Any]:
        return {"params": self.params, "answers": self.answers}


class Sayer:
    """An agent that always gives the same number, or a random one."""

    def __init__(self, number: int | None = None) -> None:
        self.number = number

    def reset(self, seed: int = 0) -> None:
        self.random = random.Random(seed)

    def say(self, last: int) -> int:
        return self.random.randrange(10) if self.number is None else self.number


@dataclass(frozen=True)
class DiceGame(BaseGame):
    turns: int = 6

    title = "dice"
    turn_name = "throw"
    scored = True
    agents: ClassVar = {"any": lambda: Sayer(None), "always": Sayer}

    def new_match(self, seed: int, card_seed: int | None = None) -> Dice:
        return Dice(seed, seed if card_seed is None else card_seed, self.turns)


@pytest.fixture(autouse=True)
def dice_are_known() -> Iterator[None]:
    GAMES["dice"] = DiceGame
    yield
    del GAMES["dice"]


BOT = f"{sys.executable} -S -E -c 'while True: print(min(9, int(input()) + 1), flush=True)'"


def test_the_contract_is_kept() -> None:
    """The lines are for mypy, which checks their types; they cannot fail when run."""
    match: Match = Dice(1, 1)
    game: Game = DiceGame()
    assert (match.to_ask, game.title) == ((0,), "dice")


@pytest.mark.process
def test_referee() -> None:
    result = play([Sayer(5), BOT], Dice(3, 3), timeout_scale=25)
    assert [call.text for call in result.calls] == [None, "5\n"] * 3
    assert [call.answer for call in result.calls] == ["5", "6"] * 3
    assert result.turns == 6
    assert result.scores[1] == 18
    assert result.winner == 1
    answers = [(call.player, call.answer, call.elapsed_ns) for call in result.calls]
    again = replay_calls(Dice(3, 3), answers, timeout_scale=25)
    assert (again.scores, again.winner, again.turns) == (result.scores, 1, 6)


def test_draw_and_fault() -> None:
    drawn = play([Sayer(0), Sayer(0)], Dice(3, 3))
    assert (drawn.winner, drawn.scores, drawn.fault) == (None, (0, 0), None)
    failed = play([Sayer(12), Sayer(0)], Dice(3, 3))
    assert failed.fault == Fault(0, FaultKind.MALFORMED, "expected one digit; answer: '12'")
    assert (failed.winner, failed.scores) == (1, (-99, 0))


@pytest.mark.process
def test_tournament(tmp_path: Path) -> None:
    """Pairing, statistics, files, resuming and replaying work; tables show draws and points."""
    db = tmp_path / "dice.db"
    players = ["any", f"next={BOT}", "low=always:number=0"]
    options: dict[str, Any] = {"seed": 4, "pairs_per_set": 2, "timeout_scale": 25.0}
    with Arena(db, players, game="dice", games=2, **options) as arena:
        arena.run(jobs=1)
        assert arena.tally.games == 6
    with Arena(db, games=4) as arena:
        arena.run(jobs=1)
        assert arena.settings.game == DiceGame(6)
        tally = arena.tally
        assert tally.games == 12
        assert tally.players[1].wins == [4, 4]
        assert tally.pairs[(0, 1)].lost == tally.pairs[(1, 2)].won == 2
        points = [player.points for player in tally.players]
        records = [arena.record(number) for number in range(1, 13)]
        assert sum(points) == sum(sum(record.outcome.scores) for record in records)
        card_seeds = {record.fixture.card_seed for record in records}
        assert len(card_seeds) == 1
        for number in (1, 12):
            result = arena.replay(number)
            assert result.scores == records[number - 1].outcome.scores
        header = next(line for line in arena.table().splitlines() if "player " in line)
        assert {"score", "ms/throw"} <= {*header.split()}
        assert arena.table().startswith("12 games of dice, mirrored pairs, seed 4, 6.0 throws a")
    raises(StoreError, "another tournament: turns: 6, now 4", Arena, db, game="dice:turns=4")
    raises(StoreError, "another tournament: game: dice, now locm", Arena, db, game="locm")
    raises(ValueError, "game dice: unknown option 'rules', expected turns", Arena, db, rules="1.2")
    with Arena.load(db) as arena:
        assert arena.settings.game == DiceGame(6)
        assert arena.lost_table("low").split()[:5] == ["game", "seed", "seat", "opponent", "throws"]
    del GAMES["dice"]
    raises(StoreError, "results of a game called 'dice': unknown game 'dice'", Arena.load, db)
    GAMES["dice"] = DiceGame


def test_parts_that_only_some_games_have() -> None:
    require(make_game("locm:rules=1.2"), Part.ANALYSIS)
    raises(ValueError, r"^dice has no analysis$", require, DiceGame(), Part.ANALYSIS)


def test_agents_by_name() -> None:
    game = DiceGame()
    assert game.is_agent("always:number=3")
    assert not game.is_agent("./always")
    with pytest.raises(ValueError, match="agent always: unknown option 'numbr', expected number"):
        game.make_agent("always:numbr=3")
    raises(ValueError, "unknown agent 'allways'; did you mean 'always'", game.make_agent, "allways")
    ready = Sayer(3)
    assert game.describe(ready) == (None, ready)
    assert game.describe(Sayer)[0] == "always"
    raises(TypeError, "has no method reset", game.describe, object())


def test_games_by_name() -> None:
    assert known_games()[0] == "locm"
    assert "vestrock" in known_games()
    assert make_game("dice:turns=8") == DiceGame(8)
    assert make_game("dice", DiceGame(8)) == make_game("dice:turns=3", turns=8) == DiceGame(8)
    assert make_game("locm:rules=1.2", make_game("locm:ids=new")).title == "rules 1.2"
    for wrong, message in (
        ("dise", "unknown game 'dise'.*did you mean 'dice'"),
        ("dice:turns=x", "game dice: turns: expected an integer, got 'x'"),
        ("vestrock:turns=3", "game vestrock: turns"),
        ("games/dice.py:DiceGame", "need a game that they can import"),
    ):
        raises(ValueError, message, make_game, wrong)


def test_a_match_in_this_process_and_again() -> None:
    match = play_match(Dice(3, 3), [Sayer(5), Sayer(6)])
    assert match.scores == [5, 18] or match.scores == [0, 18]
    assert match.root().state_key() == Dice(3, 3).state_key()


def test_draws_in_statistics() -> None:
    """Two drawn games count as a split pair, also in the sequential test."""
    with Arena(
        None,
        ["always:number=0", "b=always:number=0"],
        game=DiceGame(),
        games=8,
        seed=4,
    ) as arena:
        arena.set_test(Sprt(0, 50))
        arena.run(jobs=1)
        assert [player.draws for player in arena.tally.players] == [[4, 4], [4, 4]]
        assert arena.tally.player_pairs(0).split == 4
        assert "draws" in arena.table().splitlines()[2].split()
        data = arena.to_json()
        assert [player["draws"] for player in data["players"]] == [8, 8]
        assert data["players"][0]["score"] == 0.5
        assert arena.to_csv().splitlines()[1].split(",")[6:9] == ["", "0", "0"]


# ------------------------------------------------------------------------------- what is imported

#: Modules that must not depend on any game: of the library they may import only each other.
CORE = [
    *(
        f"options/{name}.py"
        for name in ("checks", "commands", "common", "declarations", "texts")
    ),
    *(f"processes/{name}.py" for name in ("reaper", "supervisor", "threads", "usage", "workers")),
    *(
        f"support/{name}.py"
        for name in ("database", "files", "identity", "lazy", "measure", "plugins", "seeds")
    ),
    "contract.py",
    "errors.py",
    "stats.py",
    "referee/live.py",
    "referee/any_game.py",
    "referee/illegal.py",
    "referee/players.py",
    "referee/process_match.py",
    "referee/process.py",
    "referee/agent_process.py",
    *(
        f"arena/{name}.py"
        for name in (
            "cards", "fixtures", "game_store", "game_worker", "pool", "records", "registry",
            "report", "runner", "schedule", "seeds", "store", "tally", "tournament", "verification",
        )
    ),
]  # fmt: skip


def test_core_knows_no_game() -> None:
    package = Path(locmsim.__file__).parent
    allowed = {f"locmsim.{path.removesuffix('.py').replace('/', '.')}" for path in CORE}
    for path in CORE:
        for node in ast.walk(ast.parse((package / path).read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
                if (package.parent / names[0].replace(".", "/")).is_dir():
                    names = [f"{names[0]}.{alias.name}" for alias in node.names]
            for name in names:
                assert not name.startswith("locmsim") or name in allowed, (path, name)
