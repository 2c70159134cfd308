"""Makes the pictures of README, of docs/web.md and of the tour on the site's first page.

    python tools/screenshots.py FOLDER

Needs playwright and the distribution's Chromium.
"""

import argparse
import contextlib
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.referee import Result
from locmsim.referee.process_match import play, replay_calls
from locmsim.web import replay_html
from locmsim.web.library import Library
from locmsim.web.server import serving
from locmsim.web.site import Site

#: Name, width, height, colour scheme.
SCREENS = (
    ("replay", 1280, 720, "light"),
    ("replay-dark", 1280, 720, "dark"),
    ("replay-phone", 390, 844, "light"),
)
#: The pictures of the tour that nothing else shows.
TOUR = ("tour-cards", "tour-battle", "tour-engine", "tour-arena")
TOUR_SIZE = {"width": 960, "height": 600}
#: The match: its seed, a step at which creatures fight in both lanes, and a turn to analyse.
SEED, STEP, TURN = 2, 62, 6


def played() -> Result:
    """Return a match without answer times, so that the screenshots are reproducible."""
    agents = [make_agent("beam:nodes=2000"), make_agent("greedy")]
    result = play(agents, Match(seed=SEED), timeout_scale=0)
    assert result.fault is None, result.fault
    return replay_calls(Match(seed=SEED), [(call.player, call.answer, 0) for call in result.calls])


def replays(browser: Any, result: Result, folder: Path) -> None:
    """Show the one-file page of a match on three screens."""
    with tempfile.TemporaryDirectory() as temporary:
        page_file = Path(temporary) / "match.html"
        page_file.write_text(replay_html(result, ("beam", "greedy")), encoding="utf-8")
        for name, width, height, scheme in SCREENS:
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(f"{page_file.as_uri()}#step={STEP}")
            page.screenshot(path=folder / f"{name}.png")


def home(browser: Any, result: Result, folder: Path) -> None:
    """Show the first page with a few games."""
    library = Library()
    agents = {"random": "random", "greedy": "greedy", "level 4": "level:k=4", "osl": "osl"}
    for names in pairwise(agents):
        players = [make_agent(agents[name]) for name in names]
        library.add(play(players, Match(seed=11), timeout_scale=0), names)
    library.add(result, ("beam", "greedy"))
    with serving(Site(library)) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        page.wait_for_selector(".board .can")
        page.screenshot(path=folder / "web.png")
        page.close()


def advised(page: Any) -> None:
    """Wait for the person's turn, and ask for a hint."""
    page.wait_for_selector("body[data-asked=true] #end:enabled")
    page.click("#hint")
    page.wait_for_selector("#lines button")


def tour(browser: Any, result: Result, folder: Path) -> None:
    """Choose cards, play with a hint, analyse a turn, and follow a tournament."""
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        players = ["beam=beam:nodes=2000,time_ms=0", "rule", "greedy", "osl"]
        with Arena("agents.db", players, games=20, seed=1) as arena:
            arena.run(jobs=1)
        library = Library([], ["agents.db"])
        key = library.add(result, ("beam", "greedy"))
        with serving(Site(library)) as address:
            parts = urlsplit(address)

            def opened(path: str) -> Any:
                page = browser.new_page(viewport=TOUR_SIZE, reduced_motion="reduce")
                page.goto(parts._replace(path=path).geturl())
                return page

            page = opened("")
            page.select_option("#opponent", "level4")
            page.fill("#seed", "5")
            page.click("#begin")
            page.click("#hint")
            page.locator("#counts", has_text="30 of 30").wait_for()
            page.screenshot(path=folder / "tour-cards.png")
            page.click("#ready")
            for _ in range(2):
                advised(page)
                best = page.locator("#lines button").first
                line = str(best.get_attribute("data-place"))
                if line != "PASS":
                    moves = page.locator("#log li:not(.turn)")
                    done = moves.count() + len(line.split(";"))
                    best.click()
                    page.click("#follow")
                    moves.nth(done - 1).wait_for(state="attached")
                    page.wait_for_selector("#end:enabled")
                before = page.get_attribute("body", "data-version")
                page.click("#end")
                page.wait_for_selector(f"body:not([data-version='{before}'])")
            advised(page)
            page.screenshot(path=folder / "tour-battle.png")
            page.close()

            page = opened(f"match/{key}")
            page.wait_for_selector("#out", state="attached")
            for _ in range(TURN):
                page.keyboard.press("ArrowDown")
            page.click("#tab-engine")
            page.wait_for_selector("#lines button")
            page.wait_for_timeout(3000)
            page.screenshot(path=folder / "tour-engine.png")
            page.close()

            page = opened("arena")
            page.wait_for_selector("#players tbody tr")
            page.screenshot(path=folder / "tour-arena.png")
            page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder for the screenshots")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    result = played()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        replays(browser, result, folder)
        home(browser, result, folder)
        tour(browser, result, folder)
        browser.close()


if __name__ == "__main__":
    main()
