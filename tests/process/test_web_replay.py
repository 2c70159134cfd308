"""The replay page in a browser: it shows what the match was, at every step, and nothing escapes."""

import json

import pytest
from browser import (
    ALL_SHOWN,
    SHOWN,
    Opener,
    browser,
    check_game,
    long_game,
    open_page,
    step_of,
    sync_api,
)
from helpers import RULE_SETS, golden_games, golden_result

from locmsim.web import replay_html

__all__ = ["browser", "open_page"]

HOSTILE = (
    "<script>document.title='hacked'</script><svg onload=\"document.title='hacked'\">\u202e&'\""
)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_step_shows_the_numbers_of_the_game(rules: str, open_page: Opener) -> None:
    check_game(open_page, long_game(rules))


def test_keyboard(open_page: Opener) -> None:
    game = long_game("1.5")
    starts = [0]
    for turn in game["turns"]:
        starts.append(starts[-1] + len(turn["states"]))
    last = starts.pop() - 1
    page = open_page(replay_html(golden_result(game)))
    presses = {
        "End": last,
        "ArrowRight": last,
        "Home": 0,
        "ArrowLeft": 0,
        "ArrowDown": starts[1],
        "ArrowUp": 0,
    }
    for key, step in presses.items():
        page.keyboard.press(key)
        assert step_of(page) == step, key
    page.locator("#speed").select_option("fast")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    while step_of(page) < 2:
        page.wait_for_timeout(50)
    page.keyboard.press(" ")
    assert page.locator("#play").get_attribute("aria-label") == "Play"
    # A step's address leads back to it, also as a link that is followed later.
    page.keyboard.press("Home")
    page.evaluate(f"location.hash = '#turn={game['turns'][3]['states'][0]['turn']}'")
    sync_api.expect(page.locator("#slider")).to_have_value(str(starts[3]))
    page.keyboard.press("ArrowRight")
    address = page.url
    page = open_page(replay_html(golden_result(game)), "#" + address.split("#")[1])
    assert step_of(page) == starts[3] + 1
    for nonsense in ("#turn=999", "#step=x", "#step=-5", "#%00"):
        page.evaluate(f"location.hash = '{nonsense}'")
        sync_api.expect(page.locator("#slider")).to_have_value("0")
        page.keyboard.press("End")


def test_buttons_chart_and_views(open_page: Opener) -> None:
    game = long_game("1.5")
    page = open_page(replay_html(golden_result(game), ("one", "two"), view=0))
    last = int(page.locator("#slider").get_attribute("max"))
    for button, step in {"last": last, "prev": last - 1, "first": 0, "next": 1}.items():
        page.locator(f"#{button}").click()
        assert step_of(page) == step
    box = page.locator("#chart").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 1, box["y"] + 20)
    assert step_of(page) == last
    page.locator("#log li").nth(3).click()
    assert step_of(page) == 3
    shown = page.evaluate(SHOWN)
    assert shown[0]["backs"] == 0
    assert shown[1]["backs"] == int(shown[1]["size"]) > 0
    page.locator("#view").select_option("only two")
    shown = page.evaluate(SHOWN)
    assert shown[0]["backs"] == int(shown[0]["size"]) > 0
    assert shown[1]["backs"] == 0
    page.locator("#decks summary").click()
    table = page.locator("#decks table tr")
    assert table.count() == 1 + len(game["cards"])
    taken = [row.split("\t")[1:] for row in table.all_inner_texts()[1:]]
    for player in (0, 1):
        assert sum(int(n[player]) for n in taken if n[player] != "\u2013") == 30


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_it_fits_the_screen(size: tuple[int, int], open_page: Opener) -> None:
    width, height = size
    viewport = {"width": width, "height": height}
    for scheme in ("light", "dark"):
        page = open_page(
            replay_html(golden_result(long_game("1.5"))),
            viewport=viewport,
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        page.keyboard.press("End")
        page.keyboard.press("ArrowUp")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width > 1000:
            assert page.evaluate("document.documentElement.scrollHeight") <= height
        footer = page.locator("footer").bounding_box()
        assert footer["y"] + footer["height"] <= height + 1
        names = page.evaluate(
            "[...document.querySelectorAll('.card')].map((e) => getComputedStyle(e).animationName)"
        )
        assert set(names) == {"none"}
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (light == "rgb(243, 239, 230)") == (scheme == "light")


def test_hostile_text_stays_text(open_page: Opener) -> None:
    """Names, chat and standard error of bots."""
    game = json.loads(json.dumps(long_game("1.0")))
    chat = f"PASS {HOSTILE.replace(';', '')}"
    game["turns"][0]["output"] += f";{chat}"
    page = open_page(replay_html(golden_result(game, stderr=(HOSTILE, "")), (HOSTILE, HOSTILE)))
    assert page.title() == f"{HOSTILE} against {HOSTILE}"
    said = " ".join(chat.split()[1:])
    assert page.locator("#side0 .chat").text_content() == f"\u201c{said}\u201d"
    assert page.locator("#side0 .who bdi").first.text_content() == HOSTILE
    page.locator("#stderr summary").click()
    assert page.locator("#stderr pre").text_content() == HOSTILE
    # Nothing of it became an element, and it is set apart from the text around it.
    assert page.locator("script").count() == 2
    assert page.locator("[onload]").count() == 0
    isolated = page.evaluate(
        "[...document.querySelectorAll('bdi')].map((e) => getComputedStyle(e).unicodeBidi)"
    )
    assert set(isolated) == {"isolate"}
    page.evaluate(ALL_SHOWN)
    assert page.title() == f"{HOSTILE} against {HOSTILE}"


def test_a_match_that_ended_before_the_battle(open_page: Opener) -> None:
    game = next(g for g in golden_games("1.2") if not g["turns"])
    page = open_page(replay_html(golden_result(game)))
    assert page.locator("#board").inner_text() == "The match ended before the battle."
    assert "lost by a fault" in page.locator("#outcome").inner_text()
    page.keyboard.press("ArrowRight")
    page.locator("#decks summary").click()
    assert page.locator("#decks table tr").count() == 31
