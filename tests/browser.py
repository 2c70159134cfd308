"""A browser for tests of pages: fixtures, and the content of a replay page.

The browser is the distribution's Chromium. Without it, or without playwright, the tests that import
this are skipped. Where the environment variable LOCMSIM_SCREENSHOTS names a folder, the pages are
kept there as they look at the end of each test.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import Game, golden_games, golden_result

from locmsim.web import replay_html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
sync_api.expect.set_options(timeout=20_000)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium on this machine", allow_module_level=True)

DESK = {"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

#: A script that returns what the page shows now: the numbers of both players and their cards.
SHOWN = """(() => [0, 1].map((player) => {
    const side = document.getElementById(`side${player}`);
    const text = (card, name) => card.querySelector(`text.${name}`)?.textContent ?? null;
    const fact = (name) => side.querySelector(`[data-fact=${name}]`)?.textContent ?? null;
    const lanes = [...document.querySelectorAll(".lane")].map((lane) =>
        [...lane.querySelectorAll(`[data-player="${player}"] .card:not(.gone)`)].map((card) => [
            Number(card.dataset.id), text(card, "attack"), text(card, "defense"),
            [...card.querySelectorAll("text.ability")].map((e) => e.textContent).join("")]));
    return {
        health: fact("health"), mana: fact("mana"), draws: fact("draws"), deck: fact("deck"),
        size: fact("hand"), runes: fact("runes"),
        hand: [...side.querySelectorAll(".hand .card")].map((card) => text(card, "cost")),
        backs: side.querySelectorAll(".hand .back").length,
        lanes,
    };
}))()"""
#: A script that returns the same for each step, from first to last, with the right arrow key.
ALL_SHOWN = f"""() => {{
    const shown = [];
    for (let i = 0; i <= Number(document.getElementById("slider").max); i++) {{
        shown.push({SHOWN});
        document.body.dispatchEvent(
            new KeyboardEvent("keydown", {{ key: "ArrowRight", bubbles: true }}));
    }}
    return shown;
}}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
                *("--disable-background-networking", "--disable-component-update"),
                "--disable-sync",
            ],
        )
        yield browser
        browser.close()


Opener = Callable[..., Any]


@contextlib.contextmanager
def watched_pages(browser: Any, name: str) -> Iterator[tuple[Opener, list[Any], list[str]]]:
    """Yield a function that makes pages, the pages, and the addresses that they ask for.

    None may report an error. The pictures of those that are open at the end get that name.
    """
    pages: list[Any] = []
    complaints: list[str] = []
    asked: list[str] = []

    def new_page(refusals: int = 0, script: str = "", **options: Any) -> Any:
        context = browser.new_context(**options)
        if script:  # runs before those of the page
            context.add_init_script(script)
        page, left = context.new_page(), [refusals]
        pages.append(page)

        def complain(message: Any) -> None:
            # The browser also reports each request that the server refuses.
            if "status of 4" in message.text and left[0]:
                left[0] -= 1
                return
            complaints.append(message.text)

        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url.split("#")[0]))
        return page

    yield new_page, pages, asked
    folder = os.environ.get("LOCMSIM_SCREENSHOTS")
    shown = [one for page in pages for one in page.context.pages] if folder else []
    for number, page in enumerate(shown):
        file = re.sub(r"[^A-Za-z0-9.]+", "-", f"{name}-{number}").strip("-")
        page.screenshot(path=Path(folder or "", f"{file}.png"))
    for page in pages:
        page.context.close()
    assert complaints == []


@pytest.fixture
def open_page(browser: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Open pages from disk; none may report an error or load another file."""
    with watched_pages(browser, request.node.name) as (new_page, pages, asked):

        def open_page(html: str, place: str = "", **options: Any) -> Any:
            path = tmp_path / f"page{len(pages)}.html"
            path.write_text(html, encoding="utf-8")
            page = new_page(**options)
            page.goto(path.as_uri() + place)
            return page

        yield open_page
    # The worker of a page with an engine is made from the page itself.
    requests = {address for address in asked if not address.startswith("blob:")}
    assert requests == {(tmp_path / f"page{i}.html").as_uri() for i in range(len(pages))}


def expected(game: Game, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what `SHOWN` should find, from a snapshot and the golden game's own cards."""
    rows = game["cards"] if game["rules"] == "1.5" else [r for t in game["cards"] for r in t]
    cost = {row[0]: row[2] for row in rows}
    costs = {instance: cost[base] for deck in game["decks"] for instance, base in deck}
    lanes = 1 if game["rules"] == "1.0" else 2
    areas = {row[0]: row[9] for row in game["cards"]} if game["rules"] == "1.5" else {}
    sides = []
    for side in state["p"]:
        shown: list[list[Any]] = [[] for _ in range(lanes)]
        for instance, base, attack, defense, abilities, lane, *_ in side["board"]:
            letters = abilities.replace("-", "") + (str(areas[base]) if areas.get(base) else "")
            numbers = [str(value).replace("-", "\u2212") for value in (attack, defense)]
            shown[lane].append([instance, *numbers, letters])
        sides.append(
            {
                "health": str(side["hp"]).replace("-", "\u2212"),
                "mana": f"{side['mana']}/{side['maxMana']}",
                "draws": str(side["draw"]),
                "deck": str(side["deck"]),
                "size": str(len(side["hand"])),
                "runes": " ".join(map(str, side["runes"])) or "none" if "runes" in side else None,
                "hand": [str(costs[instance]) for instance in side["hand"]],
                "backs": 0,
                "lanes": shown,
            }
        )
    return sides


def check_game(open_page: Opener, game: Game) -> None:
    page = open_page(replay_html(golden_result(game)))
    states = [state for turn in game["turns"] for state in turn["states"]]
    assert page.locator("#slider").get_attribute("max") == str(len(states) - 1)
    for i, (shown, state) in enumerate(zip(page.evaluate(ALL_SHOWN), states, strict=True)):
        assert shown == expected(game, state), f"step {i}"
    assert step_of(page) == len(states) - 1
    page.close()


def long_game(rules: str) -> Game:
    """Return an eventful golden game that is not too long."""
    games = [game for game in golden_games(rules) if game["turns"] and not game["error"]]
    return sorted(games, key=lambda game: sum(len(turn["states"]) for turn in game["turns"]))[
        len(games) * 3 // 4
    ]


def step_of(page: Any) -> int:
    return int(page.locator("#slider").input_value())


def play_out(page: Any) -> str:
    """Do nothing until the match is over; return what the page says of its end."""
    ending = page.locator(".result:not([hidden])")
    for _ in range(60):
        sync_api.expect(page.locator("#end:enabled").or_(ending).first).to_be_visible()
        if ending.is_visible():
            return str(ending.inner_text())
        page.click("#end")
    raise AssertionError("the match does not end")
