"""The one-file page in which whole matches are played, in Chromium from disk."""

import json
from pathlib import Path

import pytest
from amounts import amount, slow_after
from browser import Opener, browser, open_page, step_of, sync_api
from browser_engine import need_compiler
from helpers import RULE_SETS

from locmsim import Match, State, generate_cards
from locmsim.agents import make_agent
from locmsim.cli.main import main
from locmsim.referee import play
from locmsim.referee.transcript import log_line
from locmsim.rules.cards import cards_1x
from locmsim.web import load_replay, play_html, replay_data
from locmsim.web.positions import state_at_step

__all__ = ["browser", "open_page"]

DESK = {"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def play_out(page):
    """Do nothing until the match is over."""
    ending = page.locator(".result:not([hidden])")
    for _ in range(60):
        sync_api.expect(page.locator("#end:enabled").or_(ending).first).to_be_visible()
        if ending.is_visible():
            return
        page.click("#end")
    raise AssertionError("the match does not end")


@pytest.mark.slow
@pytest.mark.parametrize("seat", amount([1], [0, 1]))
@pytest.mark.parametrize("rules", ["1.0", pytest.param("1.2", marks=pytest.mark.slow)])
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
    play_out(page)
    lost = page.locator(".result").inner_text() == "You lost"
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
@pytest.mark.parametrize("screen", [DESK, pytest.param(PHONE, marks=pytest.mark.slow)])
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
def test_the_command(tmp_path, capsys):
    need_compiler("1.2")
    target = tmp_path / "play.html"
    assert main(["replay", "--play", "--rules", "1.2", "-o", str(target)]) == 0
    assert "worker-src blob:" in target.read_text()
    assert target.stat().st_size <= 300_000  # docs/browser.md
    with pytest.raises(SystemExit):
        main(["replay", "--play", "log.json", "-o", str(target)])
    assert "GAME: does not apply with --play" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["replay", "-o", str(target)])
    assert "GAME is needed, or --play" in capsys.readouterr().err


def position_of(page, folder):
    """Save the position that is shown; return its text."""
    with page.expect_download() as download:
        page.click("#save-position")
    file = folder / "position.txt"
    file.write_bytes(Path(download.value.path()).read_bytes())
    return file.read_text().strip()


@pytest.mark.slow
@pytest.mark.parametrize("rules", amount(["1.0"], RULE_SETS))
def test_logs_and_positions_are_opened(rules, open_page: Opener, tmp_path):
    need_compiler(rules)
    agents = [make_agent("greedy"), make_agent("osl")]
    for seed, agent in enumerate(agents):
        agent.reset(seed)
    result = play(agents, Match(rules, seed=1), timeout_scale=0)
    log, text = tmp_path / "log.json", tmp_path / "position.txt"
    log.write_text(log_line(result, ("ann", "bob")))
    page = open_page(play_html(rules, sets=1), **DESK)
    page.set_input_files("#open", log)
    sync_api.expect(page.locator("#title")).to_have_text("ann against bob")
    sync_api.expect(page.locator("#outcome")).to_contain_text(["ann", "bob"][result.winner])
    steps = replay_data(result)["steps"]
    assert page.locator("#slider").get_attribute("max") == str(len(steps) - 1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    state = state_at_step(result, step_of(page))
    assert position_of(page, tmp_path) == state.to_text()
    open_panel(page)
    # A match that is played on has a log of the whole.
    page.select_option("#out-seat", str(1 - result.winner))
    page.select_option("#out-opponent", "5")
    page.click("#out")
    play_out(page)
    with page.expect_download() as download:
        page.click("#save-log")
    file = tmp_path / "played-on.json"
    file.write_bytes(Path(download.value.path()).read_bytes())
    played, names = load_replay(str(file))
    assert names[1 - result.winner] == "You"
    assert played.match.chosen == result.match.chosen
    page.click("#leave")
    # The position alone: it is searched, and played out from there.
    page.click("#new")
    text.write_text(state.to_text() + "\n")
    page.set_input_files("#open", text)
    names = ["The opponent", "The opponent"]
    names[state.current_player()] = "The player to move"
    sync_api.expect(page.locator("#title")).to_have_text(" against ".join(names))
    open_panel(page)
    assert position_of(page, tmp_path) == state.to_text()
    page.select_option("#out-seat", str(state.current_player()))
    page.select_option("#out-opponent", "5")
    page.click("#out")
    play_out(page)
    assert not page.locator("#save-log").count()  # of a position alone nothing tells the match
    page.click("#leave")
    sync_api.expect(page.locator("#title")).to_have_text(" against ".join(names))


def open_panel(page):
    page.click("#tab-engine")
    sync_api.expect(page.locator("#lines button").first).to_contain_text("%")


@pytest.mark.slow
def test_other_cards_have_no_pictures(open_page: Opener, tmp_path):
    """A position with cards that no set of the page has is shown with their numbers."""
    need_compiler("1.5")
    cards = generate_cards(seed=77)
    file = tmp_path / "position.txt"
    file.write_text(State.new(cards[:30], cards[30:60], pool=cards).to_text())
    page = open_page(play_html("1.5", sets=1), **DESK)
    page.set_input_files("#open", file)
    sync_api.expect(page.locator("#side0 .hand .card")).to_have_count(5)
    costs = page.locator("#side0 .hand text.cost").all_text_contents()
    assert costs == [str(card.cost) for card in cards[:5]]
    open_panel(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    slow_after(
        1,
        [
            ("nothing", "This is not a position"),
            ("{", "This is not a log"),
            ("{}", "This is not a log of a match"),
            ('{"outputs": {"0": [], "1": []}, "gameParameters": ["seed=5"]}', "cannot be followed"),
        ],
    ),
)
def test_what_cannot_be_opened(text, why, open_page: Opener, tmp_path):
    need_compiler("1.0")
    file = tmp_path / "file.txt"
    file.write_text(text)
    page = open_page(play_html("1.0"), **DESK)
    page.set_input_files("#open", file)
    sync_api.expect(page.locator("#notice")).to_contain_text(why)
    page.click("#begin")  # the page still plays
    sync_api.expect(page.locator("h1")).to_contain_text("1 of 30")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (1, "257", "players[0].max_mana: expected 0 to 13, got 257"),
        (0, "0", "position: a player without health, and no winner"),
    ],
)
def test_a_refused_position_names_its_field(place, value, why, open_page: Opener, tmp_path):
    need_compiler("1.0")
    cards = cards_1x()
    fields = State.new(cards[:30], cards[30:60], rules="1.0").to_text().split(" ")
    numbers, rest = fields[3].split("/", 1)
    values = numbers.split(",")
    values[place] = value
    fields[3] = "/".join([",".join(values), rest])
    file = tmp_path / "position.txt"
    file.write_text(" ".join(fields))
    page = open_page(play_html("1.0"), **DESK)
    page.set_input_files("#open", file)
    sync_api.expect(page.locator("#notice")).to_have_text(why)
    page.click("#begin")  # the page still plays
    sync_api.expect(page.locator("h1")).to_contain_text("1 of 30")


@pytest.mark.slow
def test_a_log_with_cards_that_the_page_lacks(open_page: Opener, tmp_path):
    need_compiler("1.5")
    agents = [make_agent("greedy"), make_agent("greedy")]
    result = play(agents, Match("1.5", seed=9), timeout_scale=0)
    file = tmp_path / "log.json"
    file.write_text(log_line(result))
    page = open_page(play_html("1.5", sets=1), **DESK)
    page.set_input_files("#open", file)
    words = "does not have the cards of the match with seed 9: a page of this log is made by"
    sync_api.expect(page.locator("#notice")).to_contain_text(words)


def test_too_few_sets():
    with pytest.raises(ValueError, match="sets: expected 1 or more, got 0"):
        play_html("1.5", sets=0)


@pytest.mark.slow
def test_the_file_says_what_cannot_run(open_page: Opener):
    need_compiler("1.0")
    page = open_page(play_html("1.0"), script="delete globalThis.WebAssembly", **DESK)
    page.click("#begin")
    sync_api.expect(page.locator("#notice")).to_contain_text("no WebAssembly")
    assert json.loads(page.evaluate("JSON.stringify(document.querySelector('#begin') !== null)"))
