"""Tests that axe-core finds no problem on any page, in light and dark colour schemes."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser import browser, long_game, open_page
from helpers import golden_result, match_of, write_log
from web_server import Opener, Server, log_key, server, visit

from locmsim.arena import Arena
from locmsim.web import replay_html

__all__ = ["browser", "open_page", "server", "visit"]

AXE = Path(__file__).parents[2] / "tools" / "web" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = pytest.mark.slow
if not AXE.is_file():
    pytest.skip("axe-core is not installed: npm ci in tools/web", allow_module_level=True)

RUN = """async () => {
    const found = await axe.run(document, { resultTypes: ["violations"] });
    return found.violations.map((one) => [
        one.id, one.help, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]);
}"""


def check(page: Any, where: str, shown: str = "body") -> None:
    page.wait_for_selector(shown)
    # Not added as a script element, which the content security policy of the pages forbids.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(RUN)
    assert found == [], f"{where}: {json.dumps(found, indent=1)}"


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", (1280, 720)), ("dark", (390, 844))], ids=["desk", "phone"]
)
def test_every_page(
    scheme: str, size: tuple[int, int], server: Server, visit: Opener, tmp_path: Path
) -> None:
    """No page has a problem, with all panels filled and also while a search runs."""
    log, db = tmp_path / "log.json", tmp_path / "results.db"
    write_log(log, match_of())
    with Arena(db, ["greedy", "random", "osl"], games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
    url = server(str(log), dbs=[str(db)])
    options = {"color_scheme": scheme, "viewport": {"width": size[0], "height": size[1]}}
    page = visit(url, **options)
    check(page, "the first page", ".board .can")
    page.locator(".board .can").first.click()
    check(page, "the first page with a card chosen")
    page.click("#help")
    check(page, "help", "#help-box")
    page.click("#help-close")
    page.locator("nav a", has_text="Matches").click()
    check(page, "matches", "[data-key^=m]")
    page.locator("nav a", has_text="Practice").click()
    check(page, "practice", ".board .can")
    page.click("#end")
    page.click("#solve")
    page.wait_for_selector("#arrows")
    page.click("#find")
    check(page, "practice with a solution and mistakes", "#mistakes li")
    page.locator("nav a", has_text="Set up").click()
    page.wait_for_selector("#catalogue .card")
    page.locator("#catalogue .pick").nth(3).click()
    check(page, "setting up")
    page.locator("nav a", has_text="Arena").click()
    page.wait_for_selector("#matches [data-key]")
    page.click("#new-arena summary")
    page.click("#cards-start")
    check(page, "arena", "#cards tbody tr")
    page = visit(url, f"match/{log_key(log)}", **options)
    page.wait_for_selector("#log li")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    for panel in ("moves", "decks", "about", "tree", "report", "engine"):
        page.click(f"#tab-{panel}")
        check(page, panel)
    page.wait_for_selector(".can, .cannot")
    check(page, "lines while a search runs", "#lines button")
    page.click("#search")
    page.click("#tab-tree")
    page.locator("#tree button").first.click()
    page.locator("#tree details summary").first.click()
    check(page, "a tree that grows")
    page.click("#tab-report")
    page.locator("#report button").first.click()
    page.locator("#report-start", has_text="Again").wait_for()
    page.locator("#report-decks summary").first.click()
    check(page, "a report")
    page = visit(url, **options)
    page.select_option("#opponent", "agent-random")
    page.click("#begin")
    check(page, "the choice of cards", "#offer .pick")
    page.click("#hint")
    page.locator("#counts", has_text="30 of 30").wait_for()
    page.click("#ready")
    check(page, "a match", "#end:enabled")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_replays_file(scheme: str, open_page: Any) -> None:
    page = open_page(replay_html(golden_result(long_game("1.2"))), color_scheme=scheme)
    page.keyboard.press("ArrowDown")
    for panel in ("moves", "decks", "about"):
        page.click(f"#tab-{panel}")
        check(page, panel)
