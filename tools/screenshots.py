"""Makes the pictures of the README and docs/web.md: a match on three screens, and the home page.

    python tools/screenshots.py FOLDER

Needs playwright and the distribution's Chromium.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from locmsim import Match
from locmsim.agents import make_agent
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder for the screenshots")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    agents = [make_agent("beam:nodes=2000"), make_agent("greedy")]
    played = play(agents, Match(seed=11), timeout_scale=0)
    assert played.fault is None, played.fault
    # Without answer times, so that the screenshots are reproducible.
    result = replay_calls(Match(seed=11), [(call.player, call.answer, 0) for call in played.calls])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        page_file = Path(temporary) / "match.html"
        page_file.write_text(replay_html(result, ("beam", "greedy")), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, width, height, scheme in SCREENS:
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(f"{page_file.as_uri()}#turn=8")
            page.keyboard.press("ArrowRight")
            page.screenshot(path=folder / f"{name}.png")
        library = Library()
        for first, second in (("random", "greedy"), ("greedy", "level:k=4"), ("level:k=4", "osl")):
            players = [make_agent(first), make_agent(second)]
            library.add(play(players, Match(seed=11), timeout_scale=0), (first, second))
        library.add(result, ("beam", "greedy"))
        with serving(Site(library)) as address:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_selector(".board .can")
            page.screenshot(path=folder / "web.png")
        browser.close()


if __name__ == "__main__":
    main()
