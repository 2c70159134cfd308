"""Tournaments from Python: playing, resuming, replaying, and their tables."""

import csv
import inspect
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from amounts import slow_after
from helpers import (
    BOT,
    NO_TIMES,
    change,
    log_line,
    played,
    raises,
    run_on,
    tournament,
    without_times,
)

from locmsim import Match
from locmsim.agents import AGENTS, RandomAgent
from locmsim.arena import (
    Arena,
    ArenaError,
    LocmGame,
    Outcome,
    Player,
    Settings,
    Sprt,
    StoreError,
    Tally,
    Times,
    available_cores,
)
from locmsim.arena.game_worker import play_games
from locmsim.arena.records import record_of
from locmsim.arena.report import as_json, lost_games, running_score, tables
from locmsim.arena.schedule import SettingValues
from locmsim.game.observation import Observation
from locmsim.options.declarations import declared
from locmsim.referee import Fault, FaultKind, replay_calls

PLAYERS = ["greedy", "random"]
#: With so much time that no answer is late on a busy machine.
SLOWLY: dict[str, Any] = {"seed": 3, "timeout_scale": 25.0}

# ------------------------------------------------------------------------------ playing


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_games_are_those_of_the_schedule(rules: str) -> None:
    with tournament(None, PLAYERS, games=6, rules=rules, **SLOWLY) as arena:
        assert arena.tally.games == 6
        settings = arena.settings
        for number in range(1, 7):
            record = arena.record(number)
            fixture = settings.fixture(number)
            assert record.fixture == fixture
            result = arena.replay(number)
            assert result.match.params == Match(rules, seed=fixture.seed).params
            assert (result.scores, result.winner) == (record.outcome.scores, record.outcome.winner)
            assert result.turns == record.outcome.turns
            # The replayed match has all texts that were sent, so that its log is complete.
            assert all(call.text for call in result.calls)
            log = json.loads(log_line(result))
            assert log["scores"] == {"0": record.outcome.scores[0], "1": record.outcome.scores[1]}
        assert played(arena) == {
            record.outcome.number: without_times(record)
            for record in play_games(settings.task(range(1, 7)))
        }


@pytest.mark.process
def test_agents_and_commands_mixed() -> None:
    bot = Player("bot", " ".join(BOT), True)
    with tournament(None, ["random", bot, "greedy"], games=4, seed=2, timeout_scale=25.0) as arena:
        assert arena.tally.games == 12
        assert [sum(player.games) for player in arena.tally.players] == [8, 8, 8]
        assert all(not player.faults for player in arena.tally.players)
        # What a bot process answers is what the same bot answers in a match of the referee.
        lines = {answer.line for answer in arena.record(1).answers if answer.seat == 1}
        assert lines == {"PASS"}


class Failing(RandomAgent):
    """An agent that fails in its second turn."""

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.turns = 0

    def act(self, observation: Observation) -> str:
        self.turns += 1
        if self.turns == 2:
            raise RuntimeError("lost the thread")
        return super().act(observation)


def test_failing_agent_loses_that_game_only(registered: Callable[..., None]) -> None:
    registered(AGENTS, "failing", Failing)
    with tournament(None, ["random", "failing"], games=4, seed=2, timeout_scale=25.0) as arena:
        assert arena.tally.games == 4
        faults = arena.tally.players[1].faults
        assert set(faults) <= {FaultKind.CRASHED}
        assert faults.total() > 0
        assert "faults of failing" in arena.table()
        fault = arena.record(1).outcome.fault
        assert fault == Fault(1, FaultKind.CRASHED, "raised RuntimeError: lost the thread")
        assert arena.replay(1).fault == fault


# ---------------------------------------------------------------------------- going on


def test_resuming(tmp_path: Path) -> None:
    """Several runs have the results of a single one, and no game is played twice."""
    with Arena(None, ["greedy", "random"], games=12, seed=4, timeout_scale=25.0) as whole:
        whole.run(jobs=1)
        expected = played(whole)
    db = tmp_path / "results.db"
    seen: list[int] = []

    def interrupt(games: int) -> None:
        seen.append(games)
        raise KeyboardInterrupt

    with Arena(db, ["greedy", "random"], games=4, seed=4, timeout_scale=25.0) as arena:
        arena.run(jobs=1, on_games=seen.append)
    with Arena(db, games=12) as arena:
        assert arena.settings.seed == 4
        assert arena.tally.games == 4
        with pytest.raises(KeyboardInterrupt):
            arena.run(jobs=1, on_games=interrupt)
    with Arena(db) as arena:
        assert arena.tally.games == sum(seen) < 12
        arena.run(jobs=1, on_games=seen.append)
        assert played(arena) == expected
        assert arena.to_json()["players"][0]["wins"] == sum(whole.tally.players[0].wins)
    with Arena(db) as arena:
        assert arena.settings.count == 12
        arena.run(jobs=1, on_games=seen.append)
    assert sum(seen) == 12


def test_opened_again(tmp_path: Path) -> None:
    """To look at it, with the same settings, and not with others or a game that does not fit."""
    db = tmp_path / "results.db"
    with tournament(db, PLAYERS, games=4, **SLOWLY) as arena, Arena.load(db) as loaded:
        assert loaded.table() == arena.table()
        assert loaded.to_json() == arena.to_json()
        assert loaded.record(2) == arena.record(2)
    raises(StoreError, "no such file", Arena.load, tmp_path / "other.db")
    seed_and_players = "players: greedy=.*, now random=.*; seed: 3, now 5$"
    other_player = "random=random, now greedy=greedy, rule"
    raises(StoreError, seed_and_players, Arena, db, seed=5, players=["random"] * 2)
    raises(StoreError, "rules: 1.5, now 1.2", Arena, db, rules="1.2")
    raises(StoreError, other_player, Arena, db, players=["greedy", "rule:deck=score"])
    with Arena(db, PLAYERS, **SLOWLY) as arena:
        assert arena.tally.games == 4
    change(db, "UPDATE games SET score0 = 1 - score0 WHERE game = 1")
    with Arena.load(db) as arena:
        raises(ValueError, "game 1: ended", arena.replay, 1)
        assert arena.replay(2).match.phase == "over"


def test_no_players_yet() -> None:
    with Arena(None, games=2, seed=1) as arena:
        for read in (arena.run, arena.table, arena.ratings, lambda: arena.more(2)):
            raises(ValueError, "players: expected at least two", read)
        arena.add(["greedy", "random"])
        arena.run(jobs=1)
        assert arena.tally.games == 2


def test_changes_made_together_are_stored_together(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    with tournament(db, ["a=greedy", "b=random"], games=2, seed=1, timeout_scale=0) as arena:
        before = arena.settings

        def change(anchor: str) -> None:
            with arena.together():
                arena.add(["c=osl"])
                arena.retire(["a"])
                arena.set_anchor(anchor, 0)

        raises(ValueError, "anchor: no player is called 'x'", change, "x")
        assert arena.settings == before
        change("b")
    with Arena.load(db) as arena:
        assert arena.settings.retired == (0,)
        assert [player.name for player in arena.settings.players] == ["a", "b", "c"]
        assert arena.left == 2


@pytest.mark.slow
@pytest.mark.process
def test_agents_that_take_time_get_a_core_each(tmp_path: Path) -> None:
    """How well they play depends on their computing time, even where the matches have no limits."""
    many = len(available_cores()) + 1
    file = tmp_path / "mine.py"
    file.write_text(
        "from locmsim.agents import RandomAgent\n\n\nclass Mine(RandomAgent):\n    time_ms = 5\n"
    )
    for player in ("beam:time_ms=5", "mcts:time_ms=5,iterations=9", f"{file}:Mine"):
        with Arena(None, [player, "random"], timeout_scale=0) as arena:
            raises(ValueError, r"games? with time limits would need", arena.run, jobs=many)
            assert arena.tally.games == 0
    with Arena(None, ["mcts:time_ms=0,iterations=9", "random"], games=4, timeout_scale=0) as arena:
        arena.run(jobs=many)
        assert arena.tally.games == 4


# ------------------------------------------------------------------------------- workers


class Recording(Executor):
    """An executor that runs a task, but not the first, whenever three are waiting."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Future[Any], Callable[..., Any], Sequence[Any]]] = []
        self.most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks.append((future, fn, args))
        self.most = max(self.most, len(self.tasks))
        if self.most == 3 and len(self.tasks) == 3:
            ready, fn, args = self.tasks.pop(1)  # not the first
            ready.set_result(fn(*args))
        return future


def test_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    executor = Recording()
    run_on(monkeypatch, executor, 3)
    with Arena(None, ["greedy", "random"], games=6, seed=4, timeout_scale=25.0) as arena:
        with pytest.raises(KeyboardInterrupt):
            arena.run(on_games=_interrupt)
        assert executor.most == 3
        assert arena.tally.games == 1
        assert [outcome.number for outcome in arena.games()] == [2]


def _interrupt(games: int) -> None:
    raise KeyboardInterrupt


def test_task_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Recording):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if len(self.tasks) == 1:
                future.set_exception(MemoryError("no more"))
            else:
                self.tasks.append((future, fn, args))
                future.set_result(fn(*args))
            return future

    run_on(monkeypatch, Failing(), 1)
    with Arena(None, ["greedy", "random"], games=400, seed=4, timeout_scale=25.0) as arena:
        raises(ArenaError, r"games? [0-9]+.*: MemoryError: no more", arena.run)
        assert 400 > arena.tally.games == len(list(arena.games())) >= 1


# ------------------------------------------------------------------------------- early stop


@pytest.mark.slow
def test_sequential_test_ends_the_games(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    with Arena(db, ["greedy", "random"], games=1000, seed=4, timeout_scale=25.0) as arena:
        arena.set_test(Sprt(0, 50))
        arena.run(jobs=1)
        games = arena.tally.games
        assert games < 400
        state = arena.tally.sprt_state
        assert state is not None
        assert state.accepted == "H1"
        assert state.llr >= state.upper
        assert state.pairs == games / 2
        assert sorted(o.number for o in arena.games()) == list(range(1, games + 1))
        claim = "greedy is at least 50 Elo better than random: accepted"
        assert f"{claim} after {games // 2} pairs (SPRT of Elo +0 against +50, " in arena.table()
        test = arena.to_json()["sprt"]
        assert (test["accepted"], test["of"], test["verdict"]) == ("H1", "greedy", claim)
    with tournament(db) as arena:
        assert arena.tally.games == games
        assert arena.tally.sprt_state == state
        assert arena.left == 0
    # A test of smaller differences needs more games; without a test all are played.
    with Arena(db) as arena:
        arena.set_test(Sprt(45, 50))
        assert arena.left == 1000 - games
        with pytest.raises(KeyboardInterrupt):
            arena.run(jobs=1, on_games=_interrupt)
        played_on = arena.tally.games
        assert played_on > games
    goal = played_on + 10 + played_on % 2  # how many were played depends on the speed
    with Arena(db, games=goal) as arena:
        arena.set_test(None)
        assert arena.settings.sprt is None
        arena.run(jobs=1)
        assert arena.tally.games == goal
        assert arena.left == 0
    with Arena(db) as arena:
        assert arena.settings.sprt is None


@pytest.mark.parametrize(
    "players", slow_after(1, [["new=greedy", "old=random"], ["old=random", "new=greedy"]])
)
@pytest.mark.parametrize("of", [None, "new", "old"])
def test_whose_elo_a_test_is_about(players: list[str], of: str | None) -> None:
    """Of players of known strength, whoever is named is judged; by default it is the first."""
    named = of or players[0].partition("=")[0]
    other = "old" if named == "new" else "new"
    with Arena(None, players, games=40, seed=4, timeout_scale=0) as arena:
        arena.set_test(Sprt(0, 200), of)
        arena.run(jobs=1)
        state = arena.tally.sprt_state
        assert state is not None
        if named == "new":
            assert state.accepted == "H1"
            claim = "new is at least 200 Elo better than old: accepted after"
        else:
            assert state.accepted == "H0"
            claim = f"{named} is not better than {other}: accepted after"
        assert claim in arena.table()


def test_a_test_is_about_one_of_the_players() -> None:
    with Arena(None, ["a=greedy", "b=random"]) as arena:
        nobody = "sprt_of: no player is called 'x': expected one of a"
        raises(ValueError, nobody, arena.set_test, Sprt(0, 5), "x")
        arena.set_test(Sprt(0, 5))
        with pytest.raises(ValueError, match="sprt: a tournament with a sequential test cannot g"):
            arena.add(["c=random"])
        assert arena.settings.sprt == Sprt(0, 5)
    with Arena(None, ["random"] * 3) as arena:
        raises(ValueError, "sprt: expected two players", arena.set_test, Sprt(0, 5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs: expected 1 to 65536, got 0"),
        ({"jobs": 1.5}, "jobs: expected an integer, got 1.5"),
        ({"jobs": 10_000}, "jobs: 10000 games with time limits would need 10000 cores, .*"),
        ({"cores": 0}, r"cores: expected 1 to \d+, got 0"),
        ({"jobs": 2, "dask": "tcp://a:1"}, "jobs: does not apply with dask"),
        ({"cores": 2, "dask": "tcp://a:1"}, "cores: does not apply with dask"),
    ],
)
def test_options_of_a_run(options: dict[str, Any], message: str) -> None:
    with Arena(None, ["greedy", "random"], games=2) as arena:
        raises(ValueError, f"^{message}$", arena.run, **options)


def test_settings_are_known_by_their_names() -> None:
    """Arena takes what `Settings` declares, with its type or None; anything else is a mistake."""
    hints, known = get_type_hints(SettingValues), declared(Settings)
    assert [*hints] == [*known]
    for name, hint in hints.items():
        assert type(None) in get_args(hint)
        assert f"\n{name} : " in inspect.getdoc(Arena)
    with pytest.raises(TypeError, match="unexpected keyword argument 'mirrored'"):
        Arena(None, ["greedy", "random"], mirrored=True)  # type: ignore[call-arg]


def outcome(number: int, players: tuple[int, int], winner: int | None, **fields: Any) -> Outcome:
    scores = (int(winner == 0), int(winner == 1))
    default = {"scores": scores, "turns": 10, "fault": None, "times": NO_TIMES}
    return Outcome(number, players, winner, **{**default, **fields})


def tally_of(wins: Sequence[tuple[bool, bool]], **arguments: Any) -> Tally:
    """Return a tally of two players; each item says for a pair whether the first won each game."""
    players = (Player("new", "greedy", False), Player("old", "random", False))
    settings = Settings(players, LocmGame(), seed=1, **arguments)
    tally = Tally(settings)
    for i, (first, second) in enumerate(wins):
        tally.add(outcome(2 * i + 1, (0, 1), 0 if first else 1))
        tally.add(outcome(2 * i + 2, (1, 0), 1 if second else 0))
    return tally


def test_sequential_test_waits_for_the_order() -> None:
    """A pair that ends early does not count before all pairs that precede it in the schedule."""
    tally = tally_of([], sprt=Sprt(0, 100))
    for i in range(200, 2, -1):
        tally.add(outcome(i, (0, 1) if i % 2 else (1, 0), (i + 1) % 2))
        assert not tally.decided
    tally.add(outcome(1, (0, 1), 0))
    assert not tally.decided
    tally.add(outcome(2, (1, 0), 1))
    assert tally.decided
    assert tally.sprt_state is not None
    assert tally.sprt_state.pairs < 100


# ---------------------------------------------------------------------------------- tables


def test_tally_and_table_of_two() -> None:
    tally = tally_of([(True, True)] * 4 + [(True, False)] * 5 + [(False, False)])
    tally.add(outcome(21, (0, 1), 0, fault=Fault(1, FaultKind.TIMEOUT, "late")))
    illegal = ({"no mana": 2, "guard": 1}, {})
    slow = Times(4, 8_000_000, 5_000_000, 6_000_000, 4_000_000)
    times = (slow, Times(3, 9_000_000, 4_000_000))
    tally.add(outcome(22, (1, 0), 0, times=times, turns=7, late=(3, 0), illegal=illegal))
    new, old = tally.players
    assert (new.games, new.wins) == ([11, 11], [10, 4])
    assert (old.games, old.wins) == ([11, 11], [7, 1])
    assert dict(old.faults) == {"timeout": 1}
    assert (old.times, new.times) == times
    lines = tables(tally).splitlines()
    assert lines[0].startswith("22 games of rules 1.5, mirrored pairs, seed 1, 9.9 turns a game")
    header = "player games wins win % first second 95 % interval Elo ms/turn worst cpu/turn"
    header += " worst cpu late illegal faults"
    assert " ".join(lines[2].split()) == header
    assert lines[3].split()[:6] == ["new", "22", "14", "63.6", "90.9", "36.4"]
    assert lines[3].split()[-7:] == ["3.00", "4.0", "-", "-", "0", "0", "0"]
    assert lines[4].split()[:6] == ["old", "22", "8", "36.4", "63.6", "9.1"]
    assert lines[4].split()[-7:] == ["2.00", "5.0", "1.50", "4.0", "3", "3", "1"]
    assert "illegal actions of old: 2 no mana, 1 guard" in lines
    assert "new: 4 pairs won, 6 split, 1 lost" in lines
    assert "faults of old: 1 timeout" in lines
    # So many faults say nothing about strength.
    assert "    in 4.5 % of the games: too many to tell strength" in lines
    assert lines[3].split()[9] == lines[4].split()[9] == "-"
    assert as_json(tally)["players"][0]["elo"] is None
    late = "late answers of old: 3 after the time limit of the rules, 1 of them lost by it;"
    assert f"{late} a strict referee lets none pass" in lines
    assert not any(line.startswith("late answers of new") for line in lines)
    low, high = as_json(tally)["players"][0]["interval"]
    assert f"{100 * low:.1f} - {100 * high:.1f}" in lines[3]
    assert running_score(tally) == f"new 63.6 [{100 * low:.1f}, {100 * high:.1f}]"


def test_elo_of_even_players_and_of_those_who_never_lost() -> None:
    lines = tables(tally_of([(True, False), (False, True)])).splitlines()
    assert " +0 [" in lines[3]
    assert " +0 [" in lines[4]
    assert " +inf [-152, +inf]" in tables(tally_of([(True, True)]))
    data = json.loads(json.dumps(as_json(tally_of([(True, True)] * 3)), allow_nan=False))
    assert data["players"][0]["elo"]["value"] is None
    assert data["players"][1]["elo"]["interval"][0] is None
    assert tables(tally_of([])).startswith("0 games of rules 1.5")
    assert as_json(tally_of([]))["players"][0]["games"] == 0


@pytest.mark.slow
def test_table_of_many() -> None:
    with tournament(None, ["random", "rule:deck=score", "greedy"], games=4, **SLOWLY) as arena:
        lines = arena.table().splitlines()
        # The strongest comes first.
        assert lines[5].startswith("random ")
        assert " \u00b1 " in lines[5]
        data = arena.to_json()
        assert [pairing["players"] for pairing in data["pairings"]] == [
            ["random", "rule:deck=score"],
            ["random", "greedy"],
            ["rule:deck=score", "greedy"],
        ]
        won = data["pairings"][1]
        row = next(line for line in lines if line.startswith("greedy ") and "(" in line)
        low, high = (f"{100 * (1 - end):.1f}" for end in reversed(won["interval"]))
        score = f"{100 * (1 - won['score']):.1f}"
        pairs = f"({won['lost']}/{won['split']}/{won['won']})"
        assert row.split()[1:5] == [score, f"[{low},", f"{high}]", pairs]


def test_gauntlet() -> None:
    players = ["greedy", "random", "second=random"]
    with tournament(None, players, games=2, mode="gauntlet", ids="new", **SLOWLY) as arena:
        assert [sum(player.games) for player in arena.tally.players] == [4, 2, 2]
        assert not any(player.faults for player in arena.tally.players)
        assert arena.replay(4).match.log["ids"] == "new"
        head_to_head = arena.table().split("% against")[1].splitlines()
        assert head_to_head[2].split()[-1] == "-"


def test_single_games() -> None:
    with tournament(None, PLAYERS, games=5, mirror=False, ids="old", **SLOWLY) as arena:
        assert not any(player.faults for player in arena.tally.players)
        assert arena.replay(4).match.log["ids"] == "old"
        assert [player.games for player in arena.tally.players] == [[3, 2], [2, 3]]
        assert arena.tally.player_pairs(0).total == 5
        assert "single games" in arena.table()


class Slow(RandomAgent):
    """An agent that takes 0.3 s for its second turn."""

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.turn = 0

    def act(self, observation: Observation) -> str:
        self.turn += 1
        if self.turn == 2:
            time.sleep(0.3)
        return super().act(observation)


def test_turns_over_the_limit_of_the_rules(tmp_path: Path, registered: Callable[..., None]) -> None:
    """Turns of more than the rules' 200 ms count as late, even if the match allows them."""
    registered(AGENTS, "slow", Slow)
    db = tmp_path / "results.db"
    with tournament(db, ["slow", "random"], games=2, seed=3, timeout_scale=10) as arena:
        assert [player.late for player in arena.tally.players] == [2, 0]
        slow, other = arena.table().splitlines()[3:5]
        assert slow.split()[-3:] == ["2", "0", "0"]
        assert other.split()[-3:] == ["0", "0", "0"]
        assert arena.to_json()["players"][0]["late_turns"] == 2
        stored = [arena.record(number).outcome.late for number in (1, 2)]
        assert stored == [(1, 0), (0, 1)]
        with Arena.load(db) as loaded:
            assert loaded.to_json() == arena.to_json()
        rows = list(csv.DictReader(arena.to_csv().splitlines()))
        assert [(row["late0"], row["late1"]) for row in rows] == [("1", "0"), ("0", "1")]
        assert float(rows[0]["worst_ms0"]) >= 300 > float(rows[0]["worst_ms1"])
    # Only each player's first turn is in time, for which the rules allow 1000 ms.
    match = Match(seed=1)
    result = replay_calls(
        match, ((match.to_ask[0], "PASS", 900_000_000) for _ in range(200) if match.to_ask)
    )
    late = record_of(arena.settings.fixture(1), result).outcome.late
    assert sum(late) == result.turns - 2
    assert late[0] > 0
    assert late[1] > 0


def test_games_as_csv() -> None:
    players = [Player("a,b", "greedy", False), "random"]
    with tournament(None, players, games=4, **SLOWLY) as arena:
        rows = list(csv.DictReader(arena.to_csv().splitlines()))
        records = [arena.record(number) for number in range(1, 5)]
    assert [row["game"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["pair"] for row in rows] == ["1", "1", "2", "2"]
    assert [row["player0"] for row in rows] == ["a,b", "random"] * 2
    for row, record in zip(rows, records, strict=True):
        assert row["seed"] == str(record.fixture.seed)
        assert row["winner"] == row[f"player{record.outcome.winner}"]
        assert row["turns"] == str(record.outcome.turns)
        assert row["card_seed"] == row["failed"] == row["fault"] == ""
    with tournament(
        None, ["random", "greedy"], games=2, seed=3, pairs_per_set=2, timeout_scale=1e-6
    ) as arena:
        (first, second) = csv.DictReader(arena.to_csv().splitlines())
        assert first["card_seed"] == second["card_seed"] == str(arena.settings.fixture(1).card_seed)
        assert (first["failed"], first["fault"]) == ("random", "timeout")
        assert first["winner"] == "greedy"


def test_lost_games() -> None:
    tally = tally_of([])
    outcomes = [
        outcome(1, (0, 1), 1, turns=7),
        outcome(2, (1, 0), 1),
        outcome(3, (0, 1), 1, fault=Fault(0, FaultKind.CRASHED, "it was killed")),
        outcome(4, (1, 0), 0),
    ]
    seeds = [str(tally.settings.fixture(number).seed) for number in (1, 3)]
    assert lost_games(tally.settings, outcomes, 0) == [
        ["1", seeds[0], "0", "old", "7", "on the board"],
        ["3", seeds[1], "0", "old", "10", "crashed: it was killed"],
        ["4", seeds[1], "1", "old", "10", "on the board"],
    ]
    with Arena(None, ["greedy", "random"], games=2, seed=3, timeout_scale=25.0) as arena:
        assert arena.lost_table("random") == ""
        with pytest.raises(ValueError, match="no player is called 'fred': expected one of greedy"):
            arena.lost_table("fred")
