"""The one-file page in which whole matches are played, in Chromium from disk."""

from pathlib import Path

import pytest
from amounts import amount
from browser import DESK, PHONE, Opener, browser, open_page, play_out, sync_api
from browser_engine import need_compiler
from helpers import main, raises

from locmsim.web import load_replay, play_html

__all__ = ["browser", "open_page"]


@pytest.mark.slow
@pytest.mark.parametrize("seat", amount([1], most=[0, 1]))
@pytest.mark.parametrize("rules", ["1.0", "1.2"])
def test_a_draft_and_its_log(rules, seat, open_page: Opener, tmp_path):
    need_compiler(rules)
    page = open_page(play_html(rules), **DESK)
    page.select_option("#level", "5")
    page.select_option("#seat", str(seat))
    page.click("#begin")
    for pick in range(30):
        sync_api.expect(page.locator("h1")).to_contain_text(f"{pick + 1} of 30")
        page.locator("#offer .pick").nth(pick % 3).click()
    names = ["Level 5", "Level 5"]
    names[seat] = "You"
    sync_api.expect(page.locator("#title")).to_have_text(" against ".join(names))
    lost = play_out(page) == "You lost"
    sync_api.expect(page.locator("#view")).to_be_visible()
    page.select_option("#view", str(1 - seat))
    with page.expect_download() as download:
        page.click("#save-log")
    log = tmp_path / "log.json"
    log.write_bytes(Path(download.value.path()).read_bytes())
    result, found = load_replay(str(log))
    assert found == tuple(names)
    assert result.match.rules == rules
    assert (result.winner == seat) != lost
    page.click("#leave")
    sync_api.expect(page.locator("#begin")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("screen", [DESK, PHONE])
def test_a_deck_is_built(screen, open_page: Opener):
    need_compiler("1.5")
    page = open_page(play_html("1.5", sets=2), **screen)
    sync_api.expect(page.locator("#menu")).to_contain_text("2 sets of 120 cards")
    page.select_option("#seat", "0")
    page.click("#begin")
    cards = page.locator("#offer .pick")
    sync_api.expect(cards).to_have_count(120)
    for place in range(15):
        cards.nth(place).click()
        cards.nth(place).click()
    page.click("#ready")
    sync_api.expect(page.locator("#end")).to_be_enabled()
    assert page.locator("#side0 .hand .card").count() >= 4
    assert page.locator("#side1 .hand .card").count() == 0  # backs
    sync_api.expect(page.locator("#view")).to_be_hidden()
    page.keyboard.press("v")
    assert page.locator("#side1 .hand .card").count() == 0


@pytest.mark.slow
def test_a_match_survives_a_reload_and_a_deck_has_help(open_page: Opener):
    need_compiler("1.5")
    page = open_page(play_html("1.5", sets=2), **DESK)
    expect = sync_api.expect
    page.select_option("#seat", "0")
    page.select_option("#level", "1")
    page.click("#begin")
    cards, counts = page.locator("#offer .pick"), page.locator("#counts")
    cards.nth(1).click()
    expect(counts).to_contain_text("1 of 30")
    page.click("#help")
    expect(page.locator("#help-box .legend svg").first).to_be_visible()
    page.click("#help-close")
    page.reload()
    expect(counts).to_contain_text("1 of 30")
    page.click("#hint")
    expect(counts).to_contain_text("30 of 30")
    page.click("#undo")
    expect(counts).to_contain_text("1 of 30")
    page.click("#hint")
    page.click("#ready")
    for _ in range(4):
        expect(page.locator("#end")).to_be_enabled()
        page.click("#end")
    expect(page.locator("#end")).to_be_enabled()
    moves = page.locator("#log li").all_inner_texts()
    hand = page.locator("#side0 .hand .card").count()
    page.reload()
    expect(page.locator("#end")).to_be_enabled()
    assert page.locator("#log li").all_inner_texts() == moves
    assert page.locator("#side0 .hand .card").count() == hand
    page.click("#leave")
    expect(page.locator("#begin")).to_be_visible()
    page.reload()
    expect(page.locator("#begin")).to_be_visible()


@pytest.mark.slow
def test_the_command(tmp_path):
    need_compiler("1.2")
    target = tmp_path / "play.html"
    assert main(["replay", "--play", "--rules", "1.2", "-o", str(target)]) == 0
    assert "worker-src blob:" in target.read_text()
    assert target.stat().st_size <= 300_000  # docs/browser.md


def test_too_few_sets():
    raises(ValueError, "sets: expected 1 or more, got 0", play_html, "1.5", sets=0)


@pytest.mark.slow
def test_the_file_says_what_cannot_run(open_page: Opener):
    need_compiler("1.0")
    page = open_page(play_html("1.0"), script="delete globalThis.WebAssembly", **DESK)
    page.click("#begin")
    sync_api.expect(page.locator("#notice")).to_contain_text("no WebAssembly")
    sync_api.expect(page.locator("#begin")).to_be_visible()
