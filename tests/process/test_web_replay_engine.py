"""A page with an engine in Chromium: the one-file page from disk, and the server's page.

The pages ask two machines by the same messages, and the tests of one are those of the other.
"""

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amounts import amount, slow_after
from browser import (
    DESK,
    PHONE,
    Opener,
    browser,
    long_game,
    open_page,
    play_out,
    step_of,
    sync_api,
)
from browser_engine import legal_texts, need_compiler, played_turns, state_at_step
from helpers import RULE_SETS, golden_games, golden_result, log_line, main, write_log
from web_server import server, visit, watch

from locmsim.web import load_replay, replay_html

__all__ = ["browser", "open_page", "server", "visit", "watch"]

pytestmark = pytest.mark.slow

#: The most bytes of a page.
MOST = 900_000
SCREENS = ["desk", "phone"]


def page_of(rules, engine=True):
    need_compiler(rules)
    return replay_html(golden_result(long_game(rules)), ("ann", "bob"), engine=engine)


Show = Callable[..., Any]


@pytest.fixture(params=["file", "server"])
def show(request: pytest.FixtureRequest, open_page: Opener, watch: Opener) -> Show:
    """Return what opens the page of the match of some rules, which asks one of both machines."""
    if request.param == "file":
        return lambda rules, place="", **options: open_page(page_of(rules), place, **options)

    def visited(rules: str, place: str = "", **options: Any) -> Any:
        page = watch(golden_result(long_game(rules)), ("ann", "bob"), **options)
        page.wait_for_selector("#out", state="attached")
        page.evaluate("(place) => { location.hash = place; }", place)
        return page

    return visited


def play_on(page, seat, press):
    """Play on against level 5 from the step that is shown."""
    press("#tab-engine")
    in_file = page.locator("#engine #out").count() == 1
    if not in_file:
        press("#tab-about")
    page.select_option("#out-seat", str(seat))
    page.select_option("#out-opponent", "5" if in_file else "level5")
    press("#out")
    # Until the page of the match is there, a click would try a turn on that of the replay.
    sync_api.expect(page.locator("#title")).to_contain_text("You")


def open_engine(page, touch=False):
    """Open the panel, and wait until lines are there and the search is over or stopped."""
    (page.tap if touch else page.click)("#tab-engine")
    sync_api.expect(page.locator("#lines button").first).to_contain_text("%")


@pytest.mark.parametrize(
    ("screen", "rules"),
    amount([("desk", "1.5"), ("phone", "1.2")], most=[*itertools.product(SCREENS, RULE_SETS)]),
)
def test_it_searches_and_tries_turns(rules, screen, show: Show):
    touch = screen == "phone"
    result = golden_result(long_game(rules))
    assert len(page_of(rules).encode()) <= MOST
    turns = [state for _, state, _ in played_turns(result)]
    turn = max(range(len(turns)), key=lambda i: len(legal_texts(turns[i])))
    page = show(rules, f"#turn={turn}", **(PHONE if touch else DESK))
    press = page.tap if touch else page.click
    open_engine(page, touch)
    at = step_of(page)
    state = state_at_step(result, at)
    sync_api.expect(page.locator("#chance")).to_contain_text("chance of winning if the turn ends")
    for line in page.locator("#lines button").all():
        actions = line.get_attribute("data-place")
        assert actions == "PASS" or state.actions_of(actions)
    # What can be done is what is legal; a line that is clicked is shown beside the match.
    sources = {text.split(" ")[1] for text in legal_texts(state)}
    sync_api.expect(page.locator(".card.can").first).to_be_visible()
    assert {card.get_attribute("data-id") for card in page.locator(".card.can").all()} == sources
    # A card stays chosen while the same position is drawn again.
    picked = page.locator(".card.picked")
    chosen = page.locator(".card.can").first
    (chosen.tap if touch else chosen.click)()
    sync_api.expect(picked).to_have_count(1)
    for _ in range(3):
        page.keyboard.press("v")
    sync_api.expect(picked).to_have_count(1)
    (picked.tap if touch else picked.click)()
    sync_api.expect(picked).to_have_count(0)
    press("#search")
    sync_api.expect(page.locator("#search")).to_have_text("Search")
    line = page.locator("#lines button:not([data-place='PASS'])").first
    actions = line.get_attribute("data-place").split(";")
    line.focus()
    assert page.locator(".arrows .advised").count() > 0  # the arrows of the line
    line.click()
    words = page.locator("#said")
    sync_api.expect(words).not_to_have_text(re.compile("^Turn"))
    undo = "() => (document.querySelector('#undo').click(), document.querySelector('.can'))"
    for _ in actions:
        sync_api.expect(page.locator("#undo")).to_be_enabled()
        page.wait_for_selector("#chance")  # the legal actions of this position have arrived
        # After an undo, the legal actions of the later position must not be offered.
        assert page.evaluate(undo) is None
    sync_api.expect(page.locator("#undo")).to_be_disabled()
    assert step_of(page) == at
    press(".card.can")
    press(".aim")
    sync_api.expect(page.locator("#undo")).to_be_enabled()
    sync_api.expect(page.locator("#chance")).to_contain_text("if the turn ends here")


@pytest.mark.parametrize("rules", amount(["1.0"], most=RULE_SETS))
def test_it_plays_on_against_a_level(rules, show: Show, tmp_path):
    # Two turns before the end, the one who was to lose does nothing.
    game = long_game(rules)
    loser, last = 1 - game["winner"], len(game["turns"]) - 1
    turn = last - 2 if game["turns"][last - 2]["player"] == loser else last - 3
    page = show(rules, f"#turn={turn}", **DESK)
    play_on(page, loser, page.click)
    names = ["Level 5", "Level 5"]
    names[loser] = "You"
    sync_api.expect(page.locator("#title")).to_have_text(" against ".join(names))
    assert play_out(page) == "You lost"
    # The log is that of the whole match: up to here that of the file, and then what was played. On
    # the server the match begins in the position.
    in_file = page.locator("#save-log").count() == 1
    with page.expect_download() as download:
        page.click("#save-log" if in_file else "#ending a[download]")
    log = tmp_path / "played.json"
    log.write_bytes(Path(download.value.path()).read_bytes())
    played, found = load_replay(str(log))
    assert [*found] == names
    assert played.winner == 1 - loser
    applied = [actions for _, _, actions in played_turns(played)]
    before = [actions for _, _, actions in played_turns(golden_result(game))]
    if not in_file:
        assert applied[0] == []
        return
    assert applied[:turn] == before[:turn]
    assert applied[turn] == []
    page.click("#leave")
    sync_api.expect(page.locator("#title")).to_have_text("ann against bob")
    assert page.evaluate("location.hash").startswith(f"#turn={turn}")


@pytest.mark.parametrize("screen", amount(["phone"], most=SCREENS))
def test_a_person_acts_and_takes_back(screen, show: Show):
    """By the mouse and by touch: a card is played, taken back, played again, and the turn ends."""
    result = golden_result(long_game("1.5"))
    turns = [state for _, state, _ in played_turns(result)]
    turn = next(
        i for i, s in enumerate(turns) if i > 0 and any("SUMMON" in x for x in legal_texts(s))
    )
    touch = screen == "phone"
    page = show("1.5", f"#turn={turn}", **(PHONE if touch else DESK))
    press = page.tap if touch else page.click
    play_on(page, turn % 2, press)
    action = next(text for text in legal_texts(turns[turn]) if "SUMMON" in text)
    _, card, lane = action.split(" ")

    def summon():
        press(f".card.can[data-id='{card}']")
        press(f"[data-place='lane{lane}']")
        sync_api.expect(page.locator(f".lane .card[data-id='{card}']")).to_be_visible()

    summon()
    # The engine advises in the person's own turns, and in no others: it knows what players hold.
    press("#tab-engine")
    sync_api.expect(page.locator("#lines button").first).to_contain_text("%")
    # A match that goes on from a file has all earlier turns; one on the server begins here.
    earlier = turn if page.locator("#log li.turn").count() > 1 else 0
    if earlier:
        press("#prevturn")
        press("#prevturn")
        sync_api.expect(page.locator("#engine-fault")).to_contain_text("in your own turns")
        assert page.locator("#lines button").count() == 0
        press("#last")
        sync_api.expect(page.locator("#engine-fault")).to_have_count(0)
    press("#back")
    sync_api.expect(page.locator(f".hand .card[data-id='{card}']")).to_be_visible()
    sync_api.expect(page.locator(".card.can").first).to_be_visible()
    summon()
    press("#end")
    sync_api.expect(page.locator("#log li.turn").nth(earlier + 2)).to_be_attached()
    sync_api.expect(page.locator("#end")).to_be_enabled()


def test_its_log_and_positions_are_saved(show: Show):
    result = golden_result(long_game("1.2"))
    page = show("1.2", **DESK)
    page.click("#tab-about")
    sync_api.expect(page.locator("[title='Copy player 1']")).to_have_text("bob")
    for _ in range(3):
        page.click("#next")
    saved = {}
    for what in ("Log", "Position"):
        with page.expect_download() as download:
            page.locator("#about").get_by_text(what, exact=True).click()
        saved[what] = Path(download.value.path()).read_text()
    assert json.loads(saved["Log"]) == json.loads(log_line(result, ("ann", "bob")))
    assert saved["Position"] == state_at_step(result, 3).to_text() + "\n"


@pytest.mark.parametrize("broken", slow_after(1, ["no WebAssembly", "damaged"]))
def test_the_replay_works_without_the_engine(broken, open_page: Opener):
    html = page_of("1.5")
    script = "delete globalThis.WebAssembly" if broken == "no WebAssembly" else ""
    if broken == "damaged":
        place = html.index('"module":"') + 2000
        html = html[:place] + ("A" * 400) + html[place + 400 :]
    page = open_page(html, script=script, **DESK)
    page.click("#tab-engine")
    sync_api.expect(page.locator("#engine-fault")).to_contain_text(broken)
    page.keyboard.press("End")
    states = sum(len(turn["states"]) for turn in long_game("1.5")["turns"])
    assert step_of(page) == states - 1


def test_the_command(tmp_path, capsys):
    need_compiler("1.0")
    game = next(game for game in golden_games("1.0") if len(game["turns"]) > 9)
    log, page = tmp_path / "log.json", tmp_path / "page.html"
    write_log(log, golden_result(game))
    assert main(["replay", str(log), "--engine", "-o", str(page)]) == 0
    assert "worker-src blob:" in page.read_text()
    before = page.read_bytes()
    early = next(game for game in golden_games("1.2") if not game["turns"])
    write_log(log, golden_result(early))
    assert main(["replay", str(log), "--engine", "-o", str(page)]) == 1
    assert "ended before the battle" in capsys.readouterr().err
    text = "".join(turn["input"] for turn in game["turns"] if turn["player"] == 0)
    log.write_text("".join(game["choice_inputs"][0]) + text)
    with pytest.raises(SystemExit):
        main(["replay", str(log), "--engine", "-o", str(page)])
    assert f"--engine: does not apply to {log}, a bot's input" in capsys.readouterr().err
    assert page.read_bytes() == before
