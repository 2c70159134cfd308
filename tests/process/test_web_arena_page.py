"""Browser tests of the page Arena: running tournaments, and hostile names of players."""

import re
from pathlib import Path
from typing import Any

import pytest
from browser import browser, sync_api
from helpers import HOSTILE, growing_results, locmsim, wait_for
from web_server import Opener, Server, command, server, visit

from locmsim.arena import Arena, Player, Sprt

__all__ = ["browser", "command", "server", "visit"]

pytestmark = pytest.mark.slow


NAMES = (HOSTILE, f"b{HOSTILE}", "x" * 200)
expect = sync_api.expect


def figures(page: Any) -> list[list[str]]:
    """Return the rows of the players' table, read in one step because the page may redraw them."""
    rows: list[list[str]] = page.evaluate(
        "() => [...document.querySelectorAll('#players tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText))"
    )
    return rows


def boxes(page: Any, chart: str) -> list[dict[str, float]]:
    """Return the boxes of a chart and of the dot in it, read in one step."""
    found: list[dict[str, float]] = page.evaluate(
        "(chart) => [chart, `${chart} .dot`].map((place) =>"
        " document.querySelector(place).getBoundingClientRect().toJSON())",
        f"#{chart}",
    )
    return found


def test_a_tournament_as_it_is_played(command: Server, visit: Opener, tmp_path: Path) -> None:
    played, db = tmp_path / "played.db", tmp_path / "live.db"
    with Arena(played, ["one=greedy", "two=random"], games=12, seed=1) as arena:
        arena.run(jobs=1)
        records = [arena.record(number) for number in range(1, 13)]
    address = command("--db", str(db))
    page = visit(address, "arena")
    expect(page.locator("#notice")).to_contain_text("live.db: no such file")
    test = Sprt(-40, 40)
    players = ["one=greedy", "two=random"]
    with growing_results(db, players, games=12, seed=1, sprt=test) as store:
        store.add_all(records[:4])
        expect(page.locator("#state")).to_have_text(re.compile("^4 of 12 matches of rules 1.5"))
        expect(page.locator("#notice")).to_be_hidden()
        expect(page.locator("#verdict")).to_contain_text("undecided after 2 pairs (SPRT of Elo")
        expect(page.locator("#matches tbody tr")).to_have_count(4)
        store.add_all(records[4:])
        expect(page.locator("#state")).to_have_text(
            re.compile(r"^12 of 12 matches of rules 1\.5, [0-9.]+ turns a match, finished$")
        )
        expect(page.locator("#matches tbody tr")).to_have_count(12)
    with Arena.load(db) as arena:
        results = arena.to_json()
    for row, one in zip(figures(page), results["players"], strict=True):
        assert row[:3] == [one["name"], str(one["games"]), str(one["wins"])]
        assert row[3] == f"{100 * one['wins'] / one['games']:.1f}"
        low, high = one["interval"]
        assert row[6] == f"{100 * low:.1f} \u2013 {100 * high:.1f}"
        assert row[7].startswith("+" if one["score"] > 0.5 else "\u2212")
        assert row[10:12] == [f"{one['mean_turn_cpu_ms']:.2f}", f"{one['worst_turn_cpu_ms']:.1f}"]
        assert row[13:] == [str(sum(one[what].values())) for what in ("illegal", "faults")]
    llr = f"{results['sprt']['llr']:.2f}"
    expect(page.locator("#verdict")).to_contain_text(f"LLR {llr.replace('-', chr(0x2212))}")
    expect(page.locator("#llrchart .bound")).to_have_count(2)
    for chart in ("scorechart", "llrchart"):
        box, dot = boxes(page, chart)
        for start, end in (("left", "right"), ("top", "bottom")):
            assert box[start] <= dot[start]
            assert dot[end] <= box[end]
    # With two players, the curve of one is that of the other upside down.
    expect(page.locator("#scorenow")).to_contain_text(
        f"{100 * results['players'][0]['score']:.1f} % after 12 matches"
    )
    page.get_by_role("button", name="two").click()
    expect(page.locator("#scorename")).to_have_text("two")
    expect(page.locator("#scorenow")).to_contain_text(
        f"{100 * results['players'][1]['score']:.1f} % after 12 matches"
    )
    page.locator("#ended").select_option("lost by the first one")
    lost = [o.number for o in (r.outcome for r in records) if o.players[o.winner] == 0]
    rows = page.locator("#matches tbody tr")
    expect(rows).to_have_count(len(lost))
    # Only first cells are read: the text of a row that is being drawn has no blanks between cells.
    assert [int(text) for text in rows.locator("td:first-child").all_inner_texts()] == lost[::-1]
    # A link leads from a game to its replay.
    rows.first.get_by_role("link", name="watch").click()
    expect(page.locator("#outcome")).to_contain_text(f"seed {records[lost[-1] - 1].fixture.seed}")
    expect(page.locator("#outcome")).to_contain_text(": one won")


def test_hostile_names_and_screens(command: Server, visit: Opener, tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    players = [Player(name, "greedy", False) for name in NAMES]
    with Arena(db, players, games=2, seed=1) as arena:
        arena.run(jobs=1)
    address = command("--db", str(db))
    for width, scheme in ((1280, "light"), (390, "dark")):
        viewport = {"width": width, "height": 800}
        page = visit(address, "arena", viewport=viewport, color_scheme=scheme)
        expect(page.locator("#matches tbody tr")).to_have_count(6)
        names = page.locator("#players bdi").all_text_contents()
        assert sorted(names) == sorted(NAMES)
        expect(page.locator("#matrix .heat")).to_have_count(6)
        assert page.title() == "locmsim: Arena"
        expect(page.locator("script:not([src])")).to_have_count(0)
        expect(page.locator("[onload]")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # On a phone, lists are shown as cards and do not scroll sideways.
        for table in ("players", "matrix", "matches"):
            box = page.locator(f".scroll:has(> #{table})")
            assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth"), table
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (light == "rgb(239, 234, 224)") == (scheme == "light")
        heads = page.locator("#matches th.number").all_text_contents()
        assert heads == ["match", "turns"]  # the headings of columns of numbers
    # A field of the heat map selects the games of its two players.
    page.locator("#matrix .heat button").first.click()
    expect(page.locator("#matches tbody tr")).to_have_count(2)
    expect(page.locator("#scorename")).to_have_text(NAMES[0])
    assert page.title() == "locmsim: Arena"


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_the_table_of_cards(
    size: tuple[int, int], command: Server, visit: Opener, tmp_path: Path
) -> None:
    """Cards are counted when asked for, and sorted by each column in both directions."""
    db, empty = tmp_path / "results.db", tmp_path / "other.db"
    for path, game in ((db, "locm:rules=1.2"), (empty, "vestrock:turns=4")):
        with Arena(path, ["one=random", "two=random"], game=game, games=6, seed=3) as arena:
            arena.run(jobs=1)
    with Arena.load(db) as arena:
        everybody, rows = arena.cards(), arena.cards("two")
    viewport = {"width": size[0], "height": size[1]}
    page = visit(command("--db", str(db), "--db", str(empty)), "arena", viewport=viewport)
    names = page.locator("#cards tbody th")
    page.click("#cards-start")
    expect(page.locator("#cards-counted")).to_have_text("6 matches")
    assert names.all_text_contents() == [row.name for row in everybody]
    page.select_option("#cards-player", "two")
    page.click("#cards-start")
    expect(page.locator("#cards-counted")).to_have_text("6 matches")
    assert names.all_text_contents() == [row.name for row in rows]
    case = rows[0].cases["offered"]
    low, high = case.interval
    shown = f"{100 * case.share:.1f} [{100 * low:.1f}, {100 * high:.1f}] of {case.games}"
    cells = page.locator("#cards tbody tr").first.locator("td").all_text_contents()
    assert cells[0] == str(case.copies)
    assert cells[1] == f"{rows[0].cases['chosen'].copies / case.copies:.2f}"
    assert cells[2] == shown
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.select_option("#cards-order", "played")
    shares = [row.cases["played"].share for row in rows]
    known = sorted([share for share in shares if share is not None], reverse=True)

    def column() -> list[float | None]:
        texts = page.locator("#cards tbody td[data-name=played]").all_text_contents()
        return [None if text == "\u2013" else float(text.split(" ")[0]) for text in texts]

    missing = [None] * (len(rows) - len(known))
    assert column() == [*(round(100 * share, 1) for share in known), *missing]
    page.click("#cards-reverse")
    assert column() == [*(round(100 * share, 1) for share in known[::-1]), *missing]
    if size[0] > 1000:
        page.locator("#cards th[scope=col] button", has_text="card").click()
        assert names.all_text_contents() == [row.name for row in rows]
        expect(page.locator("#cards th[aria-sort=ascending]")).to_have_text("card")
    page.select_option("#db", str(empty))
    expect(page.locator("#state")).to_contain_text("Vestrock")
    expect(page.locator("#card-table")).to_be_hidden()


def test_a_file_of_something_else(command: Server, visit: Opener, tmp_path: Path) -> None:
    db = tmp_path / "<b>results.db"
    db.write_text("no results")
    address = command("--db", str(db))
    page = visit(address, "arena")
    expect(page.locator("#notice")).to_contain_text("<b>results.db: file is not a database")
    expect(page.locator("#results")).to_be_hidden()
    db.unlink()
    # A command plays a tournament into the file while the page is open.
    words = ["arena", "greedy", "random", "--games", "20", "--jobs", "1", "--db", str(db)]
    locmsim(*words, "--timeout-scale", "0")
    expect(page.locator("#state")).to_contain_text("20 of 20 matches of rules 1.5")
    expect(page.locator("#state")).to_contain_text("finished")
    assert list(tmp_path.iterdir()) == [db]
    address = command()
    page = visit(address, "arena")
    expect(page.locator("#main")).to_have_text(re.compile("locmsim web --db FILE"))


def test_another_game(command: Server, visit: Opener, tmp_path: Path) -> None:
    """For a game other than Legends of Code and Magic, scores are shown but no links to replays."""
    db = tmp_path / "vestrock.db"
    with Arena(db, ["rule", "random"], game="vestrock:turns=20", games=2, seed=1) as arena:
        arena.run(jobs=1)
        points = [player.points for player in arena.tally.players]
    page = visit(command("--db", str(db)), "arena")
    expect(page.locator("#state")).to_contain_text("2 of 2 matches of Vestrock, 14.5 turns a match")
    titles = page.locator("#players thead th").all_inner_texts()
    assert [row[titles.index("score")] for row in figures(page)] == [
        f"{sum_ / 2:.2f}".replace("-", "\u2212") for sum_ in points
    ]
    expect(page.locator("#matches tbody tr")).to_have_count(2)
    expect(page.locator("#matches a")).to_have_count(0)


def test_a_gauntlet_is_begun(server: Server, visit: Opener) -> None:
    """The form is open where there is nothing else, and asks who plays against all others."""
    page = visit(server(), "arena", refusals=1)
    page.wait_for_selector("#new-players", state="visible")
    expect(page.locator("#files")).to_contain_text("start an arena here")
    page.click("#new-start")
    expect(page.locator("#notice")).to_have_text("choose 2 to 16 players")
    page.select_option("#new-players", ["level1", "level2", "agent-random"])
    expect(page.locator("#new-first")).to_be_hidden()
    page.select_option("#new-mode", "gauntlet")
    page.select_option("#new-first", "agent-random")
    page.fill("#new-games", "2")
    page.click("#new-start")
    page.wait_for_url("**/arena?*db=0*")
    asked = "(what) => fetch(`/api/${what}${location.search}`).then((answer) => answer.json())"
    wait_for(lambda: page.evaluate(asked, "arena")["files"][0].get("games") == 4)
    games = page.evaluate(asked, "matches")["matches"]
    assert len(games) == 4
    assert all("random" in game["names"] for game in games)
