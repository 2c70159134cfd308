"""Vestrock as a game of the arena, and tournaments in this process."""

import json
import pickle
from pathlib import Path

import pytest
from helpers import output_of, raises
from vestrock_help import Standings, Tournament, Views, tool

from locmsim.arena import Arena, StoreError, make_game
from locmsim.arena.registry import game_from_json, game_to_json
from locmsim.contract import play_match
from vestrock import Match, generate_deck
from vestrock.bots import make_bot
from vestrock.game import VestrockGame
from vestrock.protocol import Reply

GAME = VestrockGame(turns=30, init_hp=10)


def played(seed: int, *specs: str) -> Match:
    match = GAME.new_match(seed)
    agents = [GAME.make_agent(spec) for spec in specs]
    for agent in agents:
        agent.reset(seed)
    return play_match(match, agents)


def test_a_match_is_played_and_its_log_is_plain() -> None:
    match = played(3, "rule", "random")
    assert match.scores is not None
    assert sum(match.scores) == 30
    assert match.winner == (match.scores[0] < match.scores[1])
    assert json.loads(json.dumps(match.log)) == match.log
    assert match.log == played(3, "rule", "random").log
    assert match.log != played(4, "rule", "random").log
    assert match.params == {
        "seed": 3,
        "init_hp": 10,
        "turns": 30,
        "draws": 2,
        "burns": 2,
        "hand_limit": 10,
    }


def test_the_seed_makes_the_deck() -> None:
    assert GAME.new_match(5).log["deck"] == GAME.new_match(5).log["deck"]
    assert GAME.new_match(3).log["deck"] != GAME.new_match(5).log["deck"]
    # All matches with the same deck and bots are equal, so they would count several times.
    with pytest.raises(ValueError, match="pairs_per_set: matches of Vestrock with the same deck"):
        Arena(None, ["rule", "random"], game=GAME, pairs_per_set=2)


def test_an_empty_answer_is_an_idle_turn() -> None:
    match = GAME.new_match(1)
    for turn in range(30):
        assert match.turn == turn
        assert match.to_ask == (turn % 2,)
        assert match.time_limit_ms(turn % 2) == 1000
        match.submit(turn % 2, "")
    assert list(match.scores or ()) == [15, 15]
    assert (match.winner, match.error, match.explain()) == (None, None, "")
    assert not match.to_ask


def test_no_answer_loses_the_match() -> None:
    match = GAME.new_match(1)
    match.submit(0, "")
    raises(ValueError, "it is the turn of player 1, got 0", match.submit, 0, None)
    raises(ValueError, r"player: expected an integer, got 1\.0", match.submit, 1.0, None)
    result = match.submit(1, None)
    assert result.error == match.error
    assert (match.error and match.error.player, match.winner) == (1, 0)
    assert list(match.scores or ()) == [40, -10]
    assert match.explain() == "No answer."
    assert not match.to_ask


def test_a_program_is_sent_what_a_client_can_ask() -> None:
    match = GAME.new_match(2)
    bot = make_bot("rule")
    for _ in range(6):
        (player,) = match.to_ask
        lines = match.input_text(player).splitlines()
        # The text is cut into the replies of which it consists.
        replies = []
        for question in Views.questions(1):
            count = 1
            if question.split()[0] in ("GET_DECK", "GET_HANDS", "GET_BOARD", "GET_ATTACKERS"):
                count += sum(map(int, lines[0].split()))
            replies.append(Reply(question, 0, lines[:count]))
            del lines[:count]
        assert lines == []
        views = Views()
        view = views.state(replies)
        assert view is not None
        line = bot.turn(view)
        assert match.submit(player, line).ignored == []


def test_commands_that_are_refused_are_named() -> None:
    match = GAME.new_match(1)
    result = match.submit(0, "DRAW_CARD;ATTACK 5000;GET_HP; DRAW_CARD ;NONSENSE")
    assert result.applied == ["DRAW_CARD", "DRAW_CARD"]
    assert [text.partition(":")[0] for text in result.ignored] == [
        "ATTACK 5000",
        "GET_HP",
        "NONSENSE",
    ]


def test_a_game_as_json_and_in_a_worker() -> None:
    game = VestrockGame(cards=40, draws=3)
    assert game_from_json(json.loads(json.dumps(game_to_json(game)))) == game
    assert make_game("vestrock:cards=40,draws=3") == game
    assert pickle.loads(pickle.dumps(game)) == game
    assert len(game.new_match(1).log["deck"]) == 40
    for data in ({}, {"game": "chess"}, {"game": "vestrock", "speed": 1}):
        raises(ValueError, "results of ", game_from_json, data)
    raises(ValueError, "turns", VestrockGame, turns=3)
    raises(ValueError, "cards: expected 1 to 1000", VestrockGame, cards=0)


def test_bots_by_their_descriptions() -> None:
    assert GAME.is_agent("rule")
    assert GAME.is_agent("search:nodes=10")
    assert not GAME.is_agent("./my-bot rule")
    raises(ValueError, "agent search: unknown option 'speed'", GAME.make_agent, "search:speed=1")
    assert GAME.suggest("serach") == "; did you mean 'search'?"
    assert GAME.suggest("./program") == "; the agents are random, rule, search"
    ready = make_bot("search:time_ms=9")
    assert GAME.describe(ready) == (None, ready)
    assert GAME.describe(type(make_bot("rule")))[0] == "rule"
    raises(TypeError, "has no method reset", GAME.describe, object())
    times = {spec: getattr(make_bot(spec), "time_ms", 0) for spec in ("rule", "search:time_ms=7")}
    assert times == {"rule": 0, "search:time_ms=7": 7}
    assert getattr(make_bot("search:nodes=10,time_ms=7"), "time_ms", None) == 0


def test_a_tournament_in_this_process() -> None:
    bots = {"ann": make_bot("rule"), "bob": make_bot("random", 1), "carl": make_bot("random", 2)}
    tournament = Tournament(4, generate_deck(1), bots, {"turns": 30})
    tournament.play(bots)
    assert tournament.over
    assert len(tournament.results) == 6
    awards = tournament.awards()
    assert awards["ann"] == max(awards.values())
    assert {sum(result.scores) for result in tournament.results.values()} == {60}


def test_a_bot_that_is_refused_is_named() -> None:
    class Cheat:
        def reset(self, seed: int = 0) -> None:
            pass

        def turn(self, state: object, time_ms: float | None = None) -> str:
            return "DRAW_CARD;" * 3

    tournament = Tournament(1, generate_deck(1), ["ann", "bob"])
    with pytest.raises(ValueError, match="bob: refused: DRAW_CARD: 907"):
        tournament.play({"ann": make_bot("rule"), "bob": Cheat()})


@pytest.mark.process
def test_tournaments_from_the_command_line(tmp_path: Path) -> None:
    db = tmp_path / "standings.db"
    words = [
        "tournament",
        "rule",
        "dice=random",
        "--tournaments=2",
        "--turns=20",
        f"--standings={db}",
    ]
    for rounds in (2, 4):
        table = [line.split() for line in tool(*words).out.splitlines()]
        assert [row[1] for row in table] == ["player", "rule", "dice"]
        assert [row[3] for row in table[1:]] == [str(rounds)] * 2
    with Standings(db, write=False) as standings:
        assert standings.last == 4
    assert "cannot open /missing/db" in tool(*words[:-1], "--standings=/missing/db", code=1).err
    for wrong in (["rule"], ["rule", "rule"], ["rule", "genius"], ["rule", "dice=random:x=1"]):
        tool("tournament", *wrong, "--tournaments=1", code=2)


def test_the_arena_plays_it(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    players = ["rule", "dice=random", "search:nodes=20"]
    with Arena(db, players, game=GAME, games=4, seed=3) as arena:
        arena.run(jobs=1)
        assert arena.tally.games == 12
        assert "12 games of Vestrock" in arena.table()
        for number in range(1, 13):
            record = arena.record(number)
            assert record.outcome.fault is None
            assert sum(record.outcome.scores) == 30
            assert arena.replay(number).scores == record.outcome.scores
        # The two matches of a pair have the same deck.
        assert arena.replay(1).match.params == arena.replay(2).match.params
        rule, dice, _ = arena.tally.players
        assert sum(rule.wins) > sum(dice.wins)
    with Arena(db, players, games=6) as arena:  # the game is that of the file
        assert arena.settings.game == GAME
        assert arena.tally.games == 12
    with Arena.load(db) as arena:
        assert arena.settings.game == GAME
        assert [*arena.games(lost_by="dice")]
    with pytest.raises(StoreError, match="turns"), Arena(db, game=VestrockGame()):
        pass


def test_the_arena_from_the_command_line(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    words = ["arena", f"--db={db}", "--jobs=1", "--games=2"]
    out = output_of(*words, "--game=vestrock:turns=20", "rule", "random", "--seed=1").out
    assert "2 games of Vestrock" in out
    shown = output_of("arena", "show", str(db)).out
    assert "14.5 turns a game" in shown
    assert "lost by rule" not in shown
    shown = output_of("arena", "show", str(db), "--player=random").out
    assert ":GAME --text shows one" in shown
    assert json.loads(output_of(*words, "--json").out)["goal"] == 2
    err = output_of(*words, "--game=vestrock:turns=3", code=2).err
    assert "turns: expected an even number" in err
    assert "players" in output_of(*words, "rule", "search", code=1).err
    assert "game vestrock: unknown option 'rules'" in output_of(*words, "--rules=1.2", code=2).err


def test_the_match_is_the_one_of_the_protocol() -> None:
    match = played(7, "search:nodes=20", "rule")
    replayed = Match.replay(
        generate_deck(7), [tuple(entry) for entry in match.log["actions"]], turns=30, init_hp=10
    )
    while replayed.scores is None:
        replayed.end_turn()
    assert list(replayed.scores) == match.log["scores"]


def test_the_match_again_and_an_answer_in_the_place_of_another() -> None:
    match = played(7, "rule", "random")
    root = match.root()
    assert root.params == match.params
    assert root.state_key() == GAME.new_match(7).state_key()
    later = Match.from_state(root.state.clone())
    later.submit(0, "DRAW_CARD")
    assert later.root().state_key() == root.state_key() != later.state_key()
