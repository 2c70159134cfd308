"""Browser tests of what all pages share: news, files, help, and the text of cards."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from amounts import amount
from browser import PHONE, browser, long_game, sync_api
from helpers import golden_result, log_line, match_of, write_log
from test_web_pages import begin, draft
from web_server import Library, Opener, Server, Site, server, serving, visit, watch

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.contract import LIVE_SUFFIX
from locmsim.referee import play
from locmsim.referee.live import LiveLog

__all__ = ["browser", "server", "visit", "watch"]

pytestmark = pytest.mark.slow

expect = sync_api.expect


def test_many_tabs_hear_of_a_change(server: Server, visit: Opener) -> None:
    """Many open games leave the browser room for requests, and all of them hear of a change.

    A browser has six connections to a server.
    """
    first = visit(server())
    begin(first, "1.2", "agent-random")
    first.wait_for_selector("#offer .pick")
    address = first.evaluate("location.href")
    pages = [first]
    for _ in range(amount(7, most=19)):
        page = first.context.new_page()
        page.set_default_timeout(20_000)
        page.server = first.server
        page.goto(address)
        page.wait_for_selector("#offer .pick")
        pages.append(page)
    first.locator("#offer .pick").first.click()
    for page in pages:
        page.locator("h1", has_text=": 2 of 30").wait_for()
    for page in pages[1:]:
        page.close()
    first.locator("#offer .pick").first.click()
    first.locator("h1", has_text=": 3 of 30").wait_for()


def test_a_hidden_page_asks_nothing(server: Server, visit: Opener) -> None:
    """It asks at once when it is seen again; only a search that is followed goes on."""
    site = Site(Library())
    asked: list[str] = []
    page = visit(server(site=site), "matches")
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_request("**/api/news*"):
        pass
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    page.wait_for_timeout(100)
    asked.clear()
    site.library.add(match_of(), ("ann", "bob"))
    page.wait_for_timeout(1500)
    assert not asked
    page.evaluate(hide, False)
    page.locator("#count", has_text="1 to 1 of 1").wait_for()
    # A search that no page asks for ends.
    page.evaluate(hide, True)
    page.evaluate("import('/static/follow.js').then(({ follow }) => follow('job:j1', () => {}))")
    with page.expect_request("**/api/news?*job*"):
        pass


def test_a_page_says_that_the_server_has_gone(browser: Any) -> None:
    """It goes on when the same one is back, and says so if it is another one."""
    site = Site(Library())
    context = browser.new_context()
    page = context.new_page()
    told = page.locator("#server")
    with serving(site) as url:
        page.goto(url.replace("/?", "/matches?"))
        page.locator("#count", has_text="no matches").wait_for()
        with page.expect_response("**/api/news*"):
            pass
        expect(told).to_be_hidden()
    expect(told).to_contain_text("The server does not answer")
    port = urlsplit(url).port or 0
    again = Site(Library(), token=site.token)
    with serving(again, port=port):
        expect(told).to_be_hidden()
        again.library.add(match_of(), ("ann", "bob"))
        page.locator("#count", has_text="1 to 1 of 1").wait_for()
    with serving(Site(Library()), port=port):
        expect(told).to_contain_text("open the address that the terminal printed")
    context.close()


def test_a_live_match_is_followed_after_a_failure(
    server: Server, visit: Opener, tmp_path: Path
) -> None:
    """One question that fails does not end it."""
    match = Match(seed=4)
    site = Site(Library([str(tmp_path)]))
    with LiveLog(tmp_path / f"a{LIVE_SUFFIX}", match, ("a", "b")) as log:
        calls: list[Any] = []
        play([make_agent("greedy"), make_agent("random")], match, timeout_scale=0,
             on_call=calls.append)  # fmt: skip
        for call in calls[:6]:
            log.add(call)
        site.library.matches()
        page = visit(server(site=site), "match/l0", refusals=99)
        page.wait_for_selector("#slider")
        fail = [True]

        def route(route: Any) -> None:
            if fail and fail.pop():
                route.fulfill(status=404, content_type="application/json", body='{"error": "busy"}')
            else:
                route.continue_()

        page.route("**/api/match?*have=*", route)
        log.add(calls[6])
        expect(page.locator("#notice")).to_have_text("busy")
        log.add(calls[7])
        page.locator("#log li.turn", has_text="Turn 5").wait_for(state="attached")


def test_keys_are_the_helps_while_it_is_open(server: Server, visit: Opener) -> None:
    """It opens once, and nothing behind it hears its keys."""
    page = visit(server())
    begin(page, "1.2", "agent-random")
    draft(page)
    page.wait_for_selector("#end:enabled")
    version = page.get_attribute("body", "data-version")
    page.evaluate("for (const _ of [1, 2, 3]) document.querySelector('#help').click()")
    page.wait_for_selector("#help-box")
    for key in ("e", "u", "h", "f", "ArrowLeft", "End"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.locator("#help-box").count() == 1
    assert page.get_attribute("body", "data-version") == version
    page.keyboard.press("Escape")
    expect(page.locator("#help-box")).to_have_count(0)
    page.keyboard.press("Shift+E")
    page.wait_for_selector(f"body:not([data-version='{version}'])")


def test_what_is_set_up_is_checked_and_kept(server: Server, visit: Opener) -> None:
    """An answer about other rules that comes late changes nothing."""
    late = """((get) => { window.fetch = async (...asked) => {
        if (/rules=1.5/.test(asked)) await new Promise((go) => setTimeout(go, 700));
        return get(...asked); }; })(fetch)"""
    page = visit(server(), "setup", script=late)
    page.select_option("#boardrules", "1.0")
    page.get_by_role("button", name="Lane, below", exact=True).click()
    creature = page.locator("#catalogue .pick", has=page.locator("title", has_text="creature"))
    creature.first.click()
    assert page.locator("#places button", has_text="Left").count() == 0
    for value in ("", "0", "1.5"):
        page.fill("#health1", value)
        page.click("#setup")
        expect(page.locator("#notice")).to_have_text(
            "health above: expected a whole number from 1 to 99."
        )
    page.fill("#health1", "7")
    page.click("#setup")
    page.wait_for_selector("#tab-engine")
    page.go_back()
    page.wait_for_selector("#places .spot .card")
    assert page.input_value("#health1") == "7"
    assert page.input_value("#boardrules") == "1.0"
    expect(page.locator("#notice")).to_be_hidden()


def test_a_file_is_opened_by_a_button(server: Server, visit: Opener, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write_log(path, match_of(), ("ann", "bob"))
    page = visit(server(), **PHONE)
    page.set_input_files("#open-file input", str(path))
    expect(page.locator("#title")).to_have_text("ann against bob")


def test_a_tap_shows_what_a_card_says(watch: Opener) -> None:
    """On a phone at 1.2: names, runes and the text of cards."""
    page = watch(golden_result(long_game("1.2")), ("A long name of a bot", "b"), **PHONE)
    page.wait_for_selector("#out", state="attached")
    page.select_option("#view", "1")
    names = page.locator(".side .name")
    for i in (0, 1):
        box = names.nth(i).bounding_box()
        assert box["width"] > 10
        runes = page.locator(".fact.of-runes").nth(i).bounding_box()
        for back in page.locator(".back").all():
            hidden = back.bounding_box()
            assert (
                hidden["y"] >= runes["y"] + runes["height"]
                or hidden["y"] + hidden["height"] <= runes["y"]
            )
    card = page.locator(".hand .card").first
    card.tap()
    text = page.locator("#card-text")
    expect(text).to_be_visible()
    title = card.locator("title").text_content()
    assert text.locator("b").inner_text() == title.split(":")[0]
    assert text.bounding_box()["width"] > 2 * card.bounding_box()["width"]
    # Its numbers and badges are large enough to read.
    assert all(one.bounding_box()["height"] >= 16 for one in text.locator("svg text").all())
    page.locator("#said").tap()
    expect(text).to_be_hidden()


def test_the_mouse_and_the_focus_show_it_too(server: Server, visit: Opener) -> None:
    page = visit(server())
    begin(page, "1.5", "agent-random")
    guard = page.locator("#offer .pick", has=page.locator("title", has_text="Guard")).first
    guard.scroll_into_view_if_needed()
    guard.hover()
    text = page.locator("#card-text")
    expect(text).to_contain_text("Guard: must be attacked before other creatures")
    page.mouse.move(2, 2)
    expect(text).to_be_hidden()
    guard.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(text).to_contain_text("Guard: must be attacked")
    page.keyboard.press("Escape")
    expect(text).to_be_hidden()
    # The number of copies that were taken stands below a card.
    picks = page.locator("#offer .pick")
    picks.nth(2).click(click_count=2)
    for one in (picks.nth(2), picks.nth(40)):
        badge, card = (one.locator(part).bounding_box() for part in (".copies", "svg"))
        assert badge["y"] >= card["y"] + card["height"] - 1


def test_a_long_list_is_short_on_a_phone(server: Server, visit: Opener, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    log = json.loads(log_line(match_of(), ("a name of some length", "another one")))
    path.write_text("".join(json.dumps({**log, "number": i}) + "\n" for i in range(100)))
    page = visit(server(str(path)), "matches", **PHONE)
    page.locator("#count", has_text="1 to 25").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    names = page.locator("#rows bdi", has_text="a name of some length")
    assert names.count() >= 25


def test_you_are_not_a_third_person(watch: Opener) -> None:
    page = watch(match_of(), ("You", "b"))
    page.wait_for_selector("#out", state="attached")
    page.keyboard.press("End")
    assert "You wins" not in page.locator("body").inner_text()
    assert page.locator("#value").inner_text() == "Value network, for You: +1.00"
