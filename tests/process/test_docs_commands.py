"""Tests that run the commands of README.md, docs/compare.md and docs/tools.md with fewer games."""

import csv
import json
import re
import shlex
import shutil
import socket
import tomllib

import pytest
from helpers import BOT
from page_commands import DOCS, Desk, blocks, in_background, script

from locmsim.arena import Arena


def fewer(commands: str, **numbers: int) -> str:
    """Replace numbers of games in commands: ``n1000=4`` replaces 1000 by 4."""
    for old, new in numbers.items():
        changed = re.sub(rf"(--games|--more|-n) {old[1:]}\b", rf"\1 {new}", commands)
        assert changed != commands, (old, commands)
        commands = changed
    return commands


# -------------------------------------------------------------------------------------- README.md


def readme(part: str) -> str:
    """Return the command block of the README that contains `part`, ready for `Desk.run`."""
    (command,) = [block for block in blocks("../README.md", "sh") if part in block]
    return command.replace(".venv/bin/", "")


def test_watching_as_in_the_readme(desk: Desk) -> None:
    desk.run(readme("locmsim replay").replace(" --open", ""))
    assert (desk.folder / "match.html").read_text().startswith("<!doctype html>")


def test_comparing_as_in_the_readme(desk: Desk) -> None:
    for name in ("old", "new"):
        agent = "from locmsim.agents import RuleAgent\n\n\nclass Mine(RuleAgent): ...\n"
        (desk.folder / f"{name}.py").write_text(agent)
    printed = desk.run(fewer(readme("locmsim arena new.py"), n20000=4))
    claim = (
        "whether new.py:Mine is at least 20 Elo better than old.py:Mine: undecided after 2 pairs"
    )
    assert claim in printed
    with Arena.load(desk.folder / "results.db") as arena:
        assert arena.tally.games == 4


def test_training_as_in_the_readme(desk: Desk) -> None:
    pytest.importorskip("torch")
    install, commands = readme("clone.py").split("\n", 1)
    assert install == 'pip install "locmsim[train]"'  # without compiling again
    commands = commands.replace("examples/train", str(DOCS.parent / "examples" / "train"))
    printed = desk.run(fewer(commands, n4000=300, n400=6))
    assert "12 games of rules 1.5" in printed


# ------------------------------------------------------------------------------ docs/compare.md


@pytest.mark.slow
def test_commands_of_compare(desk: Desk) -> None:
    first, again, more, sequential, *others, agents, cluster = blocks("compare.md", "sh")
    several, alone, pool, drawn, looks, cards, export = others
    table = desk.run(fewer(first, n1000=4))
    assert table.startswith("4 games of rules 1.5, mirrored pairs, seed ")
    printed = desk.run(again.replace("1..20", "1..2"))
    assert printed == "2 games played again: all came out the same\n"
    table = desk.run(fewer(more, n2000=6))
    assert table.startswith("6 games of rules 1.5")
    assert "better than old: undecided after 2 pairs (SPRT of Elo +0 against +20," in desk.run(
        fewer(sequential, n20000=4)
    )
    assert desk.run(fewer(several, n200=2)).count("6 pairs") <= 1
    for name, games in (("league", 12), ("gauntlet", 6)):
        with Arena.load(desk.folder / f"{name}.db") as arena:
            assert arena.tally.games == games

    printed = desk.run(fewer(alone, n400=2))
    assert ", decks of random," in printed
    assert ", played by greedy," in printed
    printed = desk.run(fewer(pool, n200=2))
    assert printed.count("6 games of rules 1.5") == 1
    assert printed.count("12 games of rules 1.5") == 2
    assert "v1 (retired)" in printed
    with Arena.load(desk.folder / "pool.db") as arena:
        before = arena.tally.games
    desk.run(fewer(drawn, n400=2, n1000=4, n200=2))
    with Arena.load(desk.folder / "pool.db") as arena:
        assert arena.tally.games == before + 2 + 4 + 2
    assert desk.run(cards).startswith("cards of new\n\ncard  ")

    # With so few games, there is no game 7.
    shown = desk.run(looks.replace(":7", ":3"))
    assert shown.startswith(table)
    assert (
        "lost by old\n(locmsim replay results.db:GAME -o game.html makes a page of one):" in shown
    )
    assert "player 0 (new) chose 30 cards" in shown or "player 0 (old) chose" in shown
    assert "scores" in json.loads((desk.folder / "game7.json").read_text())

    desk.run(export)
    with (desk.folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    result = json.loads((desk.folder / "results.json").read_text())
    assert len(rows) == result["games"] == 6
    page = (DOCS / "compare.md").read_text()
    explained = page[page.index("The columns of the CSV file") : page.index("The file itself")]
    for name in (
        "game",
        "pair",
        "seed",
        "card_seed",
        "player0",
        "winner",
        "turns",
        "failed",
        "fault",
    ):
        assert f"`{name}`" in explained
        assert name in rows[0]
    wins = [sum(row["winner"] == name for row in rows) for name in ("new", "old")]
    assert wins == [player["wins"] for player in result["players"]]

    assert desk.run(fewer(agents, n10000=40)).startswith("40 games")
    assert cluster.count("&\n") == 2


def test_the_columns_are_explained() -> None:
    page = (DOCS / "compare.md").read_text()
    with Arena(None, ["greedy", "random"], games=2, seed=1) as arena:
        arena.run(jobs=1)
        header = arena.table().splitlines()[2]
    shown = next(line for line in page.splitlines() if line.startswith("    player  games"))
    assert shown.split() == header.split()


@pytest.mark.slow
def test_cluster_of_compare(desk: Desk) -> None:
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    block = blocks("compare.md", "sh")[-1]
    assert block.count("8786") == 3
    scheduler, worker, arena = block.replace("8786", str(port)).splitlines()
    # No dashboards: if their ports are taken, Dask warns.
    with (
        in_background(desk, scheduler.removesuffix(" &") + " --no-dashboard"),
        in_background(desk, worker.removesuffix(" &") + " --no-dashboard"),
    ):
        assert desk.run(fewer(arena, n1000=6)).startswith("6 games")
    with Arena.load(desk.folder / "cluster.db") as stored:
        assert stored.tally.games == 6


# -------------------------------------------------------------------------------- docs/tools.md


@pytest.mark.slow
def test_brutaltester(desk: Desk) -> None:
    logged, swapped, *_ = blocks("tools.md", "sh")
    (desk.folder / "logs").mkdir()
    games = json.loads(desk.run(fewer(logged, n100=3)))
    assert [sorted(game["scores"]) for game in games] == [[0, 1]] * 3
    assert [game["problems"] for game in games] == [[]] * 3
    for i, game in enumerate(games):
        log = json.loads((desk.folder / "logs" / f"game{i + 1}.json").read_text())
        assert list(log["scores"].values()) == game["scores"]

    games = json.loads(desk.run(fewer(swapped, n50=2)))
    assert len(games) == 4
    # Both bots are the same, so with swapped seats the other one wins the same seed.
    assert games[0]["scores"] == games[1]["scores"][::-1]
    assert games[2]["scores"] == games[3]["scores"][::-1]

    # The suggested command replays the game: of two -d options, only the last one counts.
    seat, words = games[2]["scores"], games[2]["replay"]
    assert words.count("-d") == 2
    again = desk.run(shlex.join(words)).splitlines()
    assert again[:2] == [str(score) for score in seat]
    parameters = words[-1].splitlines()
    assert again[2 : 2 + len(parameters)] == parameters
    assert again[2 + len(parameters)].startswith("player 0 chose 30 cards")


def test_brutaltester_and_a_bot_that_fails(desk: Desk) -> None:
    script(desk.folder / "mybot", *BOT, "leave", "1", "3", arguments="")
    (desk.folder / "logs").mkdir()
    games = json.loads(desk.run(fewer(blocks("tools.md", "sh")[0], n100=1), code=1))
    assert games[0]["scores"] == [-1, 0]
    assert games[0]["problems"] == ["negative score: -1"]


@pytest.mark.slow
def test_psyleague(desk: Desk) -> None:
    """Psyleague plays a small league with the configuration on the page."""
    if shutil.which("psyleague", path=desk.environment["PATH"]) is None:
        pytest.skip("needs psyleague")
    # The second version prints data in the forms that the page describes.
    text = r"[PDATA] depth = 7\n[PDATA+] nodes = 1000\n[PDATA+] nodes = 500\n[TDATA] kind = 3\n"
    script(desk.folder / "mybot", *BOT, "say_error", "2", text)
    config, league = (block for block in blocks("tools.md", "sh") if "psyleague" in block)
    desk.run(config)
    path = desk.folder / "psyleague.cfg"
    before = path.read_text()
    for line in blocks("tools.md", "toml")[0].splitlines():
        key = line.partition(" = ")[0]
        changed = re.sub(rf"^{key} = .*$", lambda found, line=line: line, before, flags=re.M)
        assert changed != before
        before = changed
    path.write_text(before)

    shown = desk.run(fewer(league, n1000=4))
    games = [
        json.loads(line) for line in (desk.folder / "psyleague.games").read_text().splitlines()
    ]
    assert len(games) == 4
    for game in games:
        assert sorted(game["players"]) == ["v1", "v2"]
        assert sorted(game["ranks"]) == [0, 1]
        assert game["errors"] == [0, 0]
        data = game["player_data"][game["players"].index("v2")]
        assert (data["depth"], data["nodes"]) == (7, 1500)
        assert game["test_data"]["kind"] == 3
    table = shown[shown.index("Pos") :].splitlines()
    assert {"depth", "nodes", "mean_ms", "worst_ms"} <= set(table[0].split())
    assert sorted(line.split()[1] for line in table[2:]) == ["v1", "v2"]


def cgarena(line: str, values: dict[str, list[str]]) -> list[str]:
    """Return a command of the configuration: split as by a shell, with words in braces replaced."""
    return [value for word in shlex.split(line) for value in values.get(word, [word])]


@pytest.mark.slow
def test_cgarena(desk: Desk) -> None:
    """The commands of the configuration print one JSON object, write a log and create its page."""
    config = tomllib.loads(blocks("tools.md", "toml")[1])
    commands = []
    for name in ("1", "2"):
        folder = desk.folder / "bots" / name
        folder.mkdir(parents=True)
        shutil.copyfile(desk.folder / "mybot", folder / "source.txt")
        desk.run(config["cmd_build"].replace("{DIR}", f"bots/{name}"))
        commands.append(config["cmd_run"].replace("{DIR}", f"bots/{name}"))
    log, page = desk.folder / "replay.json", desk.folder / "page"
    page.mkdir()
    values = {"{SEED}": ["42"], "{REPLAY_PATH}": [str(log)], "{PLAYERS}": commands}
    words = cgarena(config["play_match"], values)
    assert words[-2:] == commands
    result = json.loads(desk.run(shlex.join(words)))
    assert sorted(result["ranks"]) == [0, 1]
    assert result["errors"] == [0, 0]
    assert result["attributes"] == []
    assert result["test_data"]["seed"] == 42
    assert list(json.loads(log.read_text())["scores"].values()) == result["scores"]

    values |= {"{REPLAY_DIR}": [str(page)], "{PORT}": ["1"], "{PLAYER_COUNT}": ["2"]}
    words = cgarena(config["watch_replay"], values)
    desk.run(shlex.join(words))
    shown = (page / "test.html").read_text()
    assert shown.startswith("<!doctype html>")
    assert f'"winner":{result["ranks"].index(0)},' in shown


def test_script_of_your_own(desk: Desk) -> None:
    command = blocks("tools.md", "sh")[-1]
    page = (DOCS / "tools.md").read_text()
    result = json.loads(desk.run(command))
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert rows == list(result)
    # These tests have run all blocks of the page.
    assert len(blocks("tools.md", "sh")) == 5
    assert len(blocks("tools.md", "toml")) == 2
