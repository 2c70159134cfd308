"""Play without the influence of decks, and decks without that of play."""

import contextlib
import json
import shlex
import sqlite3
from pathlib import Path

import pytest
from helpers import BOT, RULE_SETS, log_line, main, output_of, raises, tournament

from locmsim import Match
from locmsim.agents import RandomAgent, make_agent
from locmsim.agents.combined import CombinedAgent
from locmsim.arena import Arena
from locmsim.contract import play_match
from locmsim.envs import LocmEnv
from locmsim.referee.locm_text import match_text
from locmsim.support.seeds import agent_seed
from locmsim.web import load_replay, replay_data


def random_decks(rules: str, seed: int) -> list[list[int]]:
    """Return what two agents with the seeds of their seats choose at random."""
    agents = [RandomAgent(), RandomAgent()]
    for seat, agent in enumerate(agents):
        agent.reset(agent_seed(seed, seat))
    return play_match(Match(rules, seed=seed), agents).chosen


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("isolate", [False, True])
def test_both_seats_have_the_decks_of_an_agent(rules: str, isolate: bool) -> None:
    """In each game of a pair the seats have the same decks, whoever plays them."""
    with Arena(
        None,
        ["greedy", "beam:nodes=30,time_ms=0"],
        seeds=[7],
        rules=rules,
        decks="random",
        timeout_scale=0,
    ) as arena:
        arena.run(jobs=1, isolate=isolate)
        assert ", decks of random" in arena.table().splitlines()[0]
        for number in (1, 2):
            assert arena.replay(number).match.chosen == random_decks(rules, 7)


class Lines(RandomAgent):
    """Chooses cards by other words than those of the library's agents."""

    def choose(self, observation) -> str:
        if len(observation.offer) > 3:
            first = observation.offer[5].base_id
            return f"PASS 17 wishes ;CHOOSE {first};;PASS"
        if len(self.chosen) % 2:
            return f"CHOOSE {observation.offer[2].base_id} please"
        return "PASS"


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(
    ("chooser", "spec"),
    [
        (RandomAgent, "beam:nodes=30,time_ms=0"),
        *((RandomAgent, spec) for spec in ("greedy", "rule", "osl")),
        (Lines, "greedy"),
    ],
)
def test_the_pilot_knows_the_deck(rules: str, chooser: type[RandomAgent], spec: str) -> None:
    """It plays as it would if it had chosen these cards itself, by whatever legal line."""
    agents = [CombinedAgent(chooser(), make_agent(spec)) for _ in range(2)]
    for seat, agent in enumerate(agents):
        agent.reset(seat)
    match = play_match(Match(rules, seed=5), agents)
    assert match.error is None
    for agent, chosen in zip(agents, match.chosen, strict=True):
        assert agent.pilot.chosen == chosen
        assert len(chosen) == 30


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_wrong_choice_is_judged_by_the_match(rules: str) -> None:
    class Wrong(RandomAgent):
        def choose(self, observation) -> str:
            return "CHOOSE 1;CHOOSE 2"

    agents = [CombinedAgent(Wrong(), make_agent("greedy")), make_agent("greedy")]
    match = play_match(Match(rules, seed=5), agents)
    assert (match.error.player, match.error.kind) == (0, "malformed answer")


def test_same_agents_with_their_own_decks() -> None:
    """With the player itself as the pilot, or as the one who chooses, nothing changes."""
    found = []
    for more in ({}, {"pilot": "greedy"}, {"decks": "greedy"}):
        with tournament(
            None, ["greedy", "a=greedy"], seeds=[1, 2], timeout_scale=0, **more
        ) as arena:
            numbers = range(1, 5)
            found.append([[one[:2] for one in arena.record(n).answers] for n in numbers])
    assert found[0] == found[1] == found[2]


def test_a_pilot_plays_the_decks_of_the_players() -> None:
    players = ["one=random", "two=rule:deck=score"]
    with tournament(None, players, seeds=[3], pilot="greedy", timeout_scale=0) as arena:
        assert ", played by greedy" in arena.table().splitlines()[0]
        first, second = (arena.replay(number).match for number in (1, 2))
        # The player who does not draw at random has one deck in both seats.
        assert first.chosen[1] == second.chosen[0]
        assert first.chosen[0] == random_decks("1.5", 3)[0]
        assert second.chosen[1] == random_decks("1.5", 3)[1]


@pytest.mark.process
def test_programs_are_asked_and_their_choice_is_replaced(tmp_path: Path) -> None:
    db = str(tmp_path / "results.db")
    words = [f"bot={shlex.join(BOT)}", "greedy", "--seeds", "7", "--decks", "random"]
    assert main(["arena", *words, "--timeout-scale", "0", "--jobs", "1", "--db", db]) == 0
    with Arena.load(db) as arena:
        assert [arena.replay(number).match.chosen for number in (1, 2)] == [
            random_decks("1.5", 7)
        ] * 2
        assert arena.replay(1).decks == arena.settings.decks
        assert not arena.tally.players[0].faults
        assert arena.verify(jobs=1) == []


@pytest.mark.process
@pytest.mark.parametrize("isolate", [[], ["--isolate"]])
def test_play_with_decks(isolate: list[str], tmp_path: Path) -> None:
    log = tmp_path / "match.json"
    words = ["play", "greedy", shlex.join(BOT), "-d", "seed=7", "--decks", "random"]
    assert main([*words, "--timeout-scale", "0", "-l", str(log), *isolate]) == 0
    result, names = load_replay(str(log))
    assert result.match.chosen == random_decks("1.5", 7)
    # The log says so, and what is made of it.
    told = json.loads(log.read_text())["locmsim"]["decks"]
    assert told == result.decks
    assert "random" in told
    assert json.loads(log_line(result, names))["locmsim"]["decks"] == told
    assert match_text(result).startswith(f"cards of both players chosen by {told}\n")
    assert replay_data(result)["params"]["decks"] == f"chosen by {told}"


def test_an_option_of_that_name_of_others_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from locmsim.agents import RandomAgent\n"
        "class Mine(RandomAgent):\n"
        "    def __init__(self, deck=3): RandomAgent.__init__(self)\n"
    )
    with Arena(None, ["random", f"{tmp_path}/mine.py:Mine:deck=4"], decks="random"):
        pass


@pytest.mark.parametrize("player", ["greedy:deck=classic", "beam:nodes=9,draft=order"])
def test_the_own_cards_of_an_agent_are_refused(player: str, tmp_path: Path) -> None:
    """Its option for them would have no effect, wherever others choose the cards."""
    name = "deck" if "deck" in player else "draft"
    message = f"{name}: does not apply with {{}}decks, which chooses the cards: {player}"
    raises(ValueError, message.format(""), Arena, None, [player, "random"], decks="random")
    raises(ValueError, message.format(""), LocmEnv, opponent=player)
    with pytest.raises(ValueError, match=f"{name}: does not apply with battlers, who play decks"):
        LocmEnv(episode="choice", battlers=("greedy", player))
    db = str(tmp_path / "a.db")
    for words in (
        ["play", player, "random"],
        ["play", "random", player, "--isolate"],
        ["arena", player, "random", "--db", db],
    ):
        last = output_of(*words, "--decks", "random", code=2).err.splitlines()[-1]
        assert last == f"locmsim {words[0]}: error: {message.format('--')}"
    assert [*tmp_path.iterdir()] == []
    # A pilot's cards are those of the players.
    with Arena(db, [player, "random"], pilot="greedy"):
        pass
    with Arena(None, ["random", "greedy"], decks="random") as arena:
        raises(ValueError, message.format(""), arena.add, [f"new={player}"])


def test_older_files_are_still_read(tmp_path: Path) -> None:
    """They may have players whose own way to choose cards is not used."""
    db = tmp_path / "old.db"
    with Arena(db, ["greedy", "random"], decks="random", games=2, timeout_scale=0) as arena:
        arena.run(jobs=1)
    with contextlib.closing(sqlite3.connect(db)) as file, file:
        (text,) = file.execute("SELECT settings FROM tournament").fetchone()
        old = text.replace('"greedy"', '"greedy:deck=classic"')
        assert old != text
        file.execute("UPDATE tournament SET settings = ?", [old])
    with tournament(db, games=4) as arena:
        assert arena.tally.games == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--decks", "nobody"],
            "--decks: expected an agent or a way to choose cards, got 'nobody'",
        ),
        (["--decks", "rule:x=1"], "--decks: agent rule: unknown option 'x'"),
        (["--pilot", "greedy"], "--pilot: 'b' is a program, whose cards nobody else plays"),
        (["--decks", "rule", "--game", "vestrock"], "--decks: nobody chooses cards in Vestrock"),
        (
            ["--pilot", "greedy:draft=order"],
            "draft: does not apply with --pilot, who plays the cards of the players: greedy:draft",
        ),
    ],
)
def test_what_cannot_be_combined(options: list[str], message: str, tmp_path: Path) -> None:
    players = ["rule", "search:nodes=9"] if "vestrock" in options else ["greedy", "random"]
    if options == ["--pilot", "greedy"]:
        players[1] = "b=./bot"
    lines = [["arena", *players, *options, "--db", str(tmp_path / "x.db")]]
    if "--decks" in options:
        lines.append(["play", "rule", "rule", *options])
    for words in lines:
        assert message in output_of(*words, code=2).err.splitlines()[-1]
