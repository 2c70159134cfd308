"""Browser tests of the pages of `locmsim web`: whole games by clicks, and hostile text."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from amounts import amount
from browser import browser, long_game, sync_api
from helpers import (
    HOSTILE,
    RULE_SETS,
    golden_games,
    golden_result,
    locmsim,
    log_line,
    match_of,
    wait_for,
    write_log,
)
from web_server import Opener, Server, command, server, visit, watch

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.arena import Arena
from locmsim.arena.registry import game_to_json, make_game
from locmsim.art import card_titles
from locmsim.contract import LIVE_SUFFIX
from locmsim.decks.report import report_decks
from locmsim.game.positions import start_position
from locmsim.referee import play
from locmsim.referee.live import LiveLog
from locmsim.rules.generator import generate_cards
from locmsim.web import load_replay

__all__ = ["browser", "command", "server", "visit", "watch"]


pytestmark = pytest.mark.slow

expect = sync_api.expect

TALKER = """
from locmsim.agents import RandomAgent

class Talker(RandomAgent):
    def act(self, observation):
        return "PASS " + {words!r}
"""
ASKED = "body[data-asked=true]"
OVER = "body[data-over=true]"


def begin(page: Any, rules: str, opponent: str, seat: int = 0, seed: int = 5) -> None:
    page.select_option("#rules", rules)
    page.select_option("#opponent", opponent)
    page.select_option("#seat", str(seat))
    page.fill("#seed", str(seed))
    page.click("#begin")


def draft(page: Any) -> None:
    """Take the first card of all thirty offers."""
    for pick in range(30):
        page.locator(f"{ASKED} h1", has_text=f": {pick + 1} of 30").wait_for()
        page.locator("#offer .pick").first.click()


def until(page: Any, expression: str) -> None:
    """Wait until a JavaScript expression is true on a page."""
    wait_for(lambda: page.evaluate(expression), 20)


def version(page: Any) -> str:
    return str(page.get_attribute("body", "data-version"))


def changed(page: Any, before: str) -> None:
    page.wait_for_selector(f"body:not([data-version='{before}'])")


def press(page: Any, button: str) -> None:
    """Click on a button that changes the match."""
    before = version(page)
    page.click(button)
    changed(page, before)


def table_of(page: Any) -> str:
    """Return the lanes and the hands as HTML, without the texts around them."""
    found: str = page.evaluate(
        "[...document.querySelectorAll('.lanes, .side')].map((one) => one.innerHTML).join('')"
    )
    return found


def await_table(page: Any, good: Callable[[str], bool]) -> None:
    """Wait until the table is as expected, since it is drawn only after the server has answered."""
    wait_for(lambda: good(table_of(page)), 20)


def play_turns(page: Any) -> int:
    """Play by clicking the first possible move until the game ends; return the number of turns."""
    turns = 0
    while True:
        page.wait_for_selector(f"{ASKED}, {OVER}")
        if page.locator(OVER).count():
            return turns
        turns += 1
        while page.locator(ASKED).count() and page.locator(".can").count():
            before = version(page)
            page.locator(".can").first.click()
            expect(page.locator(".can.picked")).to_have_count(1)
            page.locator(".aim").first.click()
            changed(page, before)
        if page.locator(ASKED).count():
            press(page, "#end")


@pytest.mark.parametrize("rules", amount(["1.5"], most=RULE_SETS))
def test_a_whole_game_by_clicks(rules: str, server: Server, visit: Opener, tmp_path: Path) -> None:
    page = visit(server(folder=str(tmp_path)))
    begin(page, rules, "agent-random", seat=int(rules == "1.2"))
    if rules == "1.5":
        page.wait_for_selector("#offer")
        creatures, counts = page.locator("#offer .pick"), page.locator("#counts")
        expect(creatures).to_have_count(120)
        creatures.nth(3).click()
        creatures.nth(5).click()
        expect(counts).to_contain_text("2 of 30")
        page.reload()
        for button, cards in (("hint", 30), ("undo", 2), ("clear", 0), ("undo", 2), ("clear", 0)):
            page.click(f"#{button}")
            expect(counts).to_contain_text(f"{cards} of 30")
            if cards < 30:
                expect(page.locator("#offer .pick.picked")).to_have_count(cards)
        page.select_option("#order", "attack")
        page.select_option("#kind", "0")
        for i in range(13):
            creatures.nth(i).click(click_count=2)
        expect(counts).to_have_text("26 of 30: 26 creatures, 0 items")
        creatures.nth(0).click()
        expect(page.locator("#notice")).to_contain_text("At most 2")
        page.locator("#deck .list button").first.click()
        page.locator("#deck .list button").first.click()
        page.select_option("#kind", "1")
        for i in range(3):
            creatures.nth(i).click(click_count=2)
        expect(counts).to_contain_text("30 of 30: 24 creatures, 6 items")
        expect(page.locator("#deck .curve i")).to_have_count(13)
        page.click("#ready")
    else:
        for pick in range(30):
            heading = page.locator(f"{ASKED} h1", has_text=f": {pick + 1} of 30")
            heading.wait_for()
            expect(page.locator("#counts")).to_contain_text(f"{pick} of 30")
            if pick == 3:
                page.click("#hint")
                page.locator(".advised").click()
            else:
                page.locator("#offer .pick").nth(pick % 3).click()
    page.wait_for_selector(".board")
    turns = play_turns(page)
    page.wait_for_selector("#watch")
    (path,) = tmp_path.glob("locmsim-*.json")
    expect(page.locator("#ending")).to_contain_text(f"Saved as {path}")
    result, names = load_replay(str(path))
    seat = names.index("You")
    expect(page.locator("#ending h2.result")).to_have_text(
        "You won" if result.winner == seat else "You lost"
    )
    asked = [call for call in result.calls if call.player == seat and call.turn is not None]
    assert len(asked) == turns > 2
    assert sum(len(call.result.applied) for call in asked) > 3
    assert all(call.result.ignored in ([], ["PASS"]) for call in asked)
    expect(page.locator(".board .prompt")).to_have_text("The match is over.")
    # The links beside it leave the button room for its text in one line.
    assert page.locator("#rematch").bounding_box()["height"] < 50
    expect(page.locator("#toreport")).to_have_attribute("href", re.compile("^/match/m.*#report$"))
    page.click("#watch")
    page.wait_for_selector("#slider")
    expect(page.locator(".side.lower .name")).to_have_text("You")
    page.click("#tab-engine")
    page.wait_for_selector("#search")


def test_hint_undo_and_keyboard(server: Server, visit: Opener) -> None:
    page = visit(server())
    begin(page, "1.5", "agent-random")
    page.click("#hint")
    page.locator("#counts", has_text="30 of 30").wait_for()
    page.click("#ready")
    page.wait_for_selector(f"{ASKED} .board")
    page.click("#hint")
    expect(page.locator("#lines button").first).to_contain_text("%")
    expect(page.locator("#chance")).to_contain_text("chance of winning if the turn ends here")
    while not page.locator(".can").count():
        press(page, "#end")
        page.wait_for_selector(ASKED)
    table = table_of(page)
    page.locator(".can").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".aim").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".aim")).to_have_count(0)
    page.locator(".can").first.press("Enter")
    before = version(page)
    page.locator(".aim").first.press(" ")
    changed(page, before)
    await_table(page, lambda shown: shown != table)
    press(page, "#back")
    await_table(page, lambda shown: shown == table)
    page.reload()
    page.wait_for_selector(f"{ASKED} .board")
    await_table(page, lambda shown: shown == table)


def test_two_pages_of_one_game(server: Server, visit: Opener) -> None:
    url = server()
    first = visit(url)
    begin(first, "1.0", "agent-random")
    first.wait_for_selector("#offer .pick")
    second = visit(url, refusals=1)
    # The second page gets no news of what the first one does.
    second.route("**/api/news*", lambda route: None)
    # `first.url` would be late: it is updated some time after the script has changed the address.
    address = first.evaluate("location.href")
    second.goto(address)
    second.wait_for_selector("#offer .pick")
    before = version(second)
    first.locator("#offer .pick").first.click()
    first.locator("h1", has_text=": 2 of 30").wait_for()
    assert version(second) == before
    second.locator("#offer .pick").first.click()
    second.locator("h1", has_text=": 2 of 30").wait_for()
    expect(second.locator("#notice")).to_contain_text("in another page")
    # A page that gets the news shows the change at once.
    third = visit(url)
    third.goto(address)
    third.locator("h1", has_text=": 2 of 30").wait_for()
    first.locator("#offer .pick").first.click()
    third.locator("h1", has_text=": 3 of 30").wait_for()
    expect(third.locator("#notice")).to_contain_text("in another page")
    expect(first.locator("#notice")).to_be_hidden()


def test_an_answer_that_comes_late(server: Server, visit: Opener) -> None:
    """An answer that arrives after the news of what it answers blocks no clicks.

    Nor are the news, or the second click of a double one, taken for another page's doing.
    """
    page = visit(server())
    page.add_init_script(
        """{
            const asked = fetch;
            let chosen = () => {};
            const first = new Promise((done) => (chosen = done));
            window.fetch = async (url, how) => {
                if (url.includes("/api/play/state")) await first;
                const answer = await asked(url, how);
                if (url.includes("/api/play/choose")) chosen();
                if (how) await new Promise((done) => setTimeout(done, 300));
                return answer;
            };
        }"""
    )
    page.reload()
    begin(page, "1.0", "agent-random")
    for pick in range(4):
        page.locator(f"{ASKED} h1", has_text=f": {pick + 1} of 30").wait_for()
        page.locator("#offer .pick").first.evaluate("(card) => [card.click(), card.click()]")
        expect(page.locator("#notice")).to_be_hidden()


def test_your_turn_cannot_be_ended_while_the_opponents_moves_are_shown(
    server: Server, visit: Opener
) -> None:
    """While the opponent's moves are shown, a click on the button only ends the animation."""
    page = visit(server(), reduced_motion="no-preference")
    begin(page, "1.2", "agent-osl", seat=1)
    draft(page)
    moving = "#log li:not(.turn):last-child"
    for _ in range(6):  # until a turn of the opponent is being shown
        page.wait_for_selector("#end:enabled")
        moves = page.locator("#log li:not(.turn)").count()
        page.click("#end")
        page.wait_for_selector("#end:disabled")
        page.wait_for_selector(f"#end:enabled, {moving}")
        if page.locator("#log li:not(.turn)").count() > moves:
            break
    assert page.locator("#end").is_disabled()
    turn = version(page)
    box = page.locator("#end").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#end:enabled")
    page.wait_for_timeout(300)
    assert version(page) == turn
    assert page.locator(ASKED).count() == 1


def test_the_form_of_a_new_match(server: Server, visit: Opener) -> None:
    """It has the opponents that play the rules, and a double click begins one match."""
    page = visit(server())
    keys = "[...document.querySelectorAll('#opponent option')].map((one) => one.value)"
    page.select_option("#rules", "1.5")
    every = page.evaluate(keys)
    assert "agent-learned" in every
    page.select_option("#opponent", "agent-osl")
    page.select_option("#rules", "1.2")
    assert set(every) - set(page.evaluate(keys)) == {"agent-learned", "agent-search"}
    assert page.input_value("#opponent") == "agent-osl"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#begin").dblclick()
    page.wait_for_selector("#offer, #leave")
    page.wait_for_timeout(300)
    assert len([url for url in asked if "/api/play/new?" in url]) == 1


def test_a_hint_of_a_draft_and_leaving(server: Server, visit: Opener) -> None:
    """The hint stands with the cards, and leaving is asked again once the game went on."""
    page = visit(server())
    begin(page, "1.2", "agent-random")
    page.wait_for_selector("#offer .pick")
    page.click("#hint")
    prompt = page.locator(".choosing .prompt")
    expect(prompt).to_have_text(re.compile(r"^The bot would take .+\.$"))
    expect(page.locator(".pick.advised")).to_have_count(1)
    expect(page.locator("#notice")).to_be_hidden()
    page.click("#leave")
    page.wait_for_selector("text=Press New match again")
    page.locator("#offer .pick").first.click()
    page.locator(f"{ASKED} h1", has_text=": 2 of 30").wait_for()
    expect(prompt).to_have_text("")
    assert "Press New match again" not in page.locator("body").inner_text()
    page.click("#leave")
    page.wait_for_selector("text=Press New match again")
    assert page.locator("#begin").count() == 0
    page.click("#leave")
    page.wait_for_selector("#begin")


def test_clicks_while_a_hint_is_carried_out_do_nothing(server: Server, visit: Opener) -> None:
    page = visit(server())
    begin(page, "1.2", "agent-random")
    draft(page)
    page.wait_for_selector("#end:enabled")
    page.click("#hint")
    line = page.locator("#lines button:not([data-place='PASS'])").first
    for _ in range(12):  # until the hint contains an action
        page.wait_for_selector("#lines button")
        if line.count():
            break
        press(page, "#end")
        page.wait_for_selector("#end:enabled")
    actions = str(line.get_attribute("data-place")).split(";")
    line.click()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(str(request.post_data)))
    # Click other cards between the steps of the hint, as fast as the page can.
    page.locator("#follow").wait_for()
    page.evaluate(
        "() => { document.querySelector('#follow').click();"
        " window.clicker = setInterval(() => document.querySelectorAll("
        "'.board button, .board [tabindex]').forEach((one) => one.click()), 1); }"
    )
    page.wait_for_selector("#back:enabled")
    page.wait_for_timeout(300)
    page.evaluate("clearInterval(window.clicker)")
    played = [json.loads(text)["actions"] for text in sent if '"version"' in text]
    assert [one for actions in played for one in actions][: len(actions)] == actions


def test_a_turn_chosen_while_a_search_runs(watch: Opener) -> None:
    """If another turn is shown during a search, old lines vanish and the new turn is searched."""
    game = next(iter(golden_games("1.5")))
    page = watch(golden_result(game), refusals=99)
    page.click("#tab-engine")
    page.wait_for_selector("#lines button")
    legal = "() => [...document.querySelectorAll('#lines button')].map((b) => b.dataset.place)"
    first = page.evaluate(legal)
    page.keyboard.press("ArrowDown")
    until(page, "!document.querySelector('#lines button')")
    page.wait_for_selector("#lines button")
    states = [turn["states"][0] for turn in game["turns"]]
    mine = states[1]["p"][1]
    owned = {row[0] for row in mine["board"]} | set(mine["hand"])
    owned |= {one + 1 for one in mine["hand"]}  # copies of cards have the next id
    for line in page.evaluate(legal):
        assert line == "PASS" or {int(a.split(" ")[1]) for a in line.split(";")} <= owned
    assert first
    # If the server is busy with other searches, the page asks again.
    full = {"status": 429, "content_type": "application/json", "body": '{"error": "wait"}'}
    page.route("**/api/machine/analyse*", lambda route: route.fulfill(**full), times=1)
    page.keyboard.press("ArrowDown")
    until(page, "!document.querySelector('#lines button')")
    page.wait_for_selector("#lines button")
    expect(page.locator("#search")).to_have_text("Stop")
    page.click("#search")
    expect(page.locator("#search")).to_have_text("Search")


#: A function in JavaScript that asks for a search of some seconds.
ASK = """const ask = async (seconds) => {
    const asked = { path: [], done: [], seconds, seed: 0 };
    const body = JSON.stringify({ match: location.pathname.slice(7), ...asked });
    const headers = { "content-type": "application/json" };
    const sent = { method: "POST", headers, body };
    return (await fetch(`/api/machine/analyse${location.search}`, sent)).status;
};"""


def test_the_engine_searches_while_one_looks(watch: Opener) -> None:
    """With the engine's panel open, a position is searched if it is shown for a moment."""
    game = next(iter(golden_games("1.5")))
    page = watch(golden_result(game), refusals=99)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(urlsplit(request.url).path.split("/")[-1]))
    page.wait_for_selector("#out", state="attached")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(1000)
    assert "analyse" not in sent  # the panel is closed
    page.click("#tab-engine")
    expect(page.locator("#lines")).to_contain_text("of 6 searches")
    expect(page.locator("#search")).to_have_text("Stop")
    # The board stays where it is until it is known what is legal in another position.
    before, after, prompt = page.evaluate(
        """() => {
            const height = () => document.querySelector(".lanes").getBoundingClientRect().height;
            const before = height();
            document.querySelector("#nextturn").click();
            return [before, height(), document.querySelector(".board .prompt").textContent];
        }"""
    )
    assert (before, prompt) == (after, "")
    page.keyboard.press("ArrowUp")
    page.wait_for_selector("#lines button")
    # Positions that are passed quickly are not searched, and the running search ends.
    sent.clear()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_selector("#lines button")
    assert sent.count("analyse") <= 2, sent
    assert sent.count("stop") == 1
    # The search ends when the panel is hidden, and continues when it is shown again.
    page.click("#tab-moves")
    until(page, "document.querySelector('#search').textContent === 'Search'")
    sent.clear()
    page.wait_for_timeout(500)
    assert "analyse" not in sent
    page.click("#tab-engine")
    expect(page.locator("#search")).to_have_text("Stop")
    assert page.locator("#lines button").count() > 0
    # After Stop, other positions are not searched either, until the search is started again.
    page.click("#search")
    sent.clear()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.wait_for_selector("#chance")
    page.wait_for_timeout(1000)
    assert "analyse" not in sent
    # The server can run two searches at a time; it ends those of a page that was left, here one of
    # half a minute, as soon as it knows: under load it may be asked something else before.
    page.click("#search")
    page.evaluate(f"() => {{ {ASK} ask(30).catch(() => 0); }}")
    address = page.url
    page.goto("about:blank")
    page.goto(address.split("#")[0])
    statuses = page.evaluate(
        f"""async () => {{
            {ASK}
            const end = performance.now() + 20_000;
            while (true) {{
                const found = await Promise.all([ask(0.2), ask(0.2)]);
                if (found.every((status) => status === 200) || performance.now() > end)
                    return found;
            }}
        }}"""
    )
    assert statuses == [200, 200]


def test_replays(server: Server, visit: Opener, tmp_path: Path) -> None:
    db, log = tmp_path / "results.db", tmp_path / "log.json"
    broken = f"broken={shlex.join([sys.executable, '-c', 'raise SystemExit(3)'])}"
    with Arena(db, ["one=greedy", "two=random", broken], games=2, seed=4, timeout_scale=0) as arena:
        arena.run(jobs=1)
    game = next(golden_games("1.2"))
    write_log(log, golden_result(game))
    page = visit(server(str(log), dbs=[str(db)]), "matches")
    count = page.locator("#count")
    expect(count).to_contain_text("1 to 7 of 7")
    for name, value, found in (
        ("fault", "any", "1 to 4 of 4"),
        ("lost_by", "one", "no matches"),
        ("fault", "", "no matches"),
        ("lost_by", "broken", "of 4"),
        ("lost_by", "", "of 7"),
    ):
        page.select_option(f"#{name}", value)
        expect(count).to_contain_text(found)
    page.fill("#least", "1")
    page.locator("#least").press("Enter")
    expect(count).to_contain_text("of 3")
    page.locator("[data-key='d0:1'] a", has_text="watch").click()
    page.click("#tab-about")
    # The tab shows the description of the player, which differs from its name.
    expect(page.locator("#about dd", has_text="one").locator(".copy").first).to_have_text("greedy")
    page.go_back()
    page.locator("[data-key^=m] a", has_text="watch").click()
    states = sum(len(turn["states"]) for turn in game["turns"])
    expect(page.locator("#slider")).to_have_attribute("max", str(states - 1))


def test_where_the_game_was_lost(watch: Opener) -> None:
    """The report shows the progress and the worst turns, each of which leads to its position."""
    page = watch(match_of("1.2", seed=3), ("one", "two"), "matches")
    page.set_default_timeout(90_000)
    page.locator("[data-key^=m] a", has_text="report").click()
    # The link starts the report.
    page.locator("#report-start", has_text="Again").wait_for(timeout=90_000)
    chart = page.locator("#report-found svg.chart")
    expect(chart.locator(".value")).to_have_count(1)
    expect(chart.locator(".column")).to_have_count(page.locator("#report-turns li").count())
    worst = page.locator("#report-found ul.worst").nth(1).locator("button")
    chances = [[*map(int, re.findall(r"(\d+) %", text))] for text in worst.all_inner_texts()]
    losses = [best - played for played, best in chances]
    assert 1 <= len(losses) <= 3
    assert losses == sorted(losses, reverse=True)
    turn = worst.first.get_attribute("data-turn")
    worst.first.click()
    page.wait_for_selector("#better li")
    expect(page.locator("#said")).to_have_text(f"Turn {turn}, two")
    words = page.locator("#better li").all_inner_texts()
    page.locator("#better button").click()
    if words != ["End the turn"]:
        expect(page.locator("#said")).to_have_text(words[0])


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_what_the_decks_were_worth(rules: str, watch: Opener) -> None:
    """The report begins with the decks; hostile names of players and cards are text."""
    cards = [replace(card, name=HOSTILE) for card in generate_cards(3)] if rules == "1.5" else None
    result = match_of(rules, seed=3, cards=cards)
    page = watch(result, (HOSTILE, "two"), viewport={"width": 390, "height": 844})
    page.click("#tab-report")
    page.click("#report-start")
    decks = page.locator("#report-decks")
    decks.wait_for()
    page.click("#report-start")
    titles = card_titles(result.match.cards)
    for report, name in zip(report_decks(result.match), (HOSTILE, "two"), strict=True):
        assert decks.locator("h2").nth(report.player).text_content() == f"Deck of {name}"
        chances = [f"{round(100 * x)} %" for x in (report.probability, report.with_package)]
        expect(decks.locator("h2 + p").nth(report.player)).to_have_text(
            f"{chances[0]} chance of winning with these decks, {chances[1]} with the deck that the"
            " package would have chosen."
        )
    (worst,) = decks.locator("details").all()[-1:]
    expect(worst.locator("li").first).to_be_hidden()
    worst.locator("summary").click()
    for row, one in zip(worst.locator("li").all(), report.worst, strict=True):
        text = row.text_content()
        assert text.startswith(f"{100 * one.loss:.1f} %: ")
        assert f"{titles[one.better]} instead of {titles[one.picked]}" in text
        assert (one.turn is None) == (rules == "1.5")
        assert one.turn is None or f"pick {one.turn + 1}, " in text
        assert ("2 copies" in text) == (one.copies == 2)
    expect(decks).to_contain_text("before a card is played")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("main script, main svg[onload]")).to_have_count(0)


def test_variations_in_sampled_worlds(watch: Opener) -> None:
    """The tree has variations beyond the end of the turn, which a click shows on the board."""
    page = watch(golden_result(long_game("1.2")))
    page.wait_for_selector("#tab-tree")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    turn = page.locator("#said").inner_text()
    page.click("#tab-tree")
    page.click("#tree-start")
    page.locator("#tree details", has_text="they hold").first.wait_for()
    page.evaluate(
        """() => new Promise((done) => setInterval(() => {
            const button = document.querySelector("#tree .branch button");
            if (button) { button.click(); done(); }
        }, 50))"""
    )
    until(page, f"document.querySelector('#said').innerText !== {turn!r}")
    assert int(page.locator("#said").inner_text().split()[1].rstrip(",")) == 7
    page.click("#tree-hold")
    page.wait_for_selector("#tree-card option", state="attached")
    assert "Card " not in page.locator("#tree-card").inner_text()
    nothing = {"size": 0, "possible": [], "cards": {}}
    page.route("**/api/tree/holdable*", lambda route: route.fulfill(json=nothing))
    page.click("#tree-hold")
    expect(page.locator("#tree-held")).to_have_text("They hold no cards.")
    page.keyboard.press("Home")


def test_a_position_is_set_up_and_played_out(server: Server, visit: Opener) -> None:
    page = visit(server(), "setup", refusals=1)
    state = start_position(2, "1.0")
    page.fill("#text", "1.5 nothing")
    page.click("#open")
    page.locator("#notice", has_text="expected 7 fields").wait_for()
    page.fill("#text", state.observation(0).format())
    page.click("#open")
    page.wait_for_selector("#search")
    expect(page.locator("#outcome")).to_contain_text("LOCM 1.0")
    page.locator("nav a", has_text="Set up").click()
    page.wait_for_selector("#catalogue .card")
    page.locator("#catalogue .pick").nth(2).click()
    page.locator("#places button", has_text="Left lane, above").click()
    creature = page.evaluate(
        """() => [...document.querySelectorAll("#catalogue .pick")].find(
            (one) => one.textContent.includes(": creature")).dataset.card"""
    )
    page.locator(f"#catalogue [data-card='{creature}']").click()
    page.click("#setup")
    page.wait_for_selector("#search")
    assert page.locator("#side0 .hand .card").count() == 1
    assert page.locator("[data-player='1'] .card").count() == 1
    page.click("#tab-about")
    page.select_option("#out-opponent", "agent-random")
    page.click("#out")
    page.wait_for_selector("#end:enabled")
    page.keyboard.press("e")  # one letter alone ends no turn
    page.keyboard.press("Shift+E")
    page.wait_for_selector("text=Turn 22")


def test_the_first_page(server: Server, visit: Opener) -> None:
    """It has a position, whose first move begins a match, and opens a log that is dropped."""
    page = visit(server())
    page.locator(".board .can").first.click()
    page.locator(".aim").first.click()
    page.wait_for_url("**/match/g1?**")
    page.wait_for_selector("#back:enabled")
    assert page.locator("#log li").count() == 2
    text = log_line(golden_result(next(golden_games("1.2"))))
    page.go_back()
    page.wait_for_selector(".board .card")
    page.evaluate(
        """(text) => {
            const files = new DataTransfer();
            files.items.add(new File([text], "game.json"));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
        }""",
        text,
    )
    page.wait_for_url("**/match/m*?**")
    expect(page.locator("#outcome")).to_contain_text("LOCM 1.2")


def test_why_a_card_cannot_be_played(server: Server, visit: Opener) -> None:
    page = visit(server(), "setup")
    page.wait_for_selector("#catalogue .card")
    page.fill("#mana0", "1")
    page.locator("#catalogue .pick").last.click()  # the most expensive card
    page.click("#setup")
    page.wait_for_selector(".hand .cannot")
    page.locator(".hand .cannot").click()
    expect(page.locator(".prompt")).to_contain_text("mana; there is 1")


def test_foreign_text_is_text(server: Server, visit: Opener, tmp_path: Path) -> None:
    """Hostile text in names, paths, and output of bots is shown as text."""
    log = tmp_path / f"{HOSTILE.replace('/', '')}.json"
    program = tmp_path / "bot.py"
    program.write_text(f"import sys\ninput()\nsys.stderr.write({HOSTILE!r})\nsys.exit(3)\n")
    loud = f"{shlex.join([sys.executable, str(program)])} {shlex.quote(HOSTILE)}"
    result = golden_result(next(golden_games("1.0")), stderr=(HOSTILE, HOSTILE))
    write_log(log, result, (HOSTILE, HOSTILE))
    talker = tmp_path / "talker.py"
    talker.write_text(TALKER.format(words=HOSTILE))
    url = server(str(log), bots=[loud, f"talker={talker}:Talker"])

    def untouched(page: Any) -> None:
        assert page.title() != "hacked"
        expect(page.locator("main script, main svg[onload]")).to_have_count(0)

    page = visit(url, "matches")
    page.locator("[data-key^=m]").wait_for()
    expect(page.locator("[data-key^=m] td").nth(1)).to_contain_text(HOSTILE)
    untouched(page)
    page.locator("[data-key^=m] a", has_text="analyse").click()
    page.wait_for_selector("#search")
    expect(page.locator(".who bdi").first).to_contain_text(HOSTILE)
    untouched(page)
    page = visit(url)
    page.wait_for_selector("#begin")
    name = page.locator("#opponent option").first.inner_text()
    assert "<svg onload=" in name
    assert "\u202e" in name
    begin(page, "1.0", "bot0")
    page.locator("#offer .pick").first.click()
    page.wait_for_selector(OVER)
    expect(page.locator("#ending")).to_contain_text("lost by a fault: crashed")
    expect(page.locator("#ending pre")).to_contain_text(HOSTILE)
    untouched(page)
    page.click("#again")
    begin(page, "1.5", "bot1", seat=1)
    page.click("#hint")
    page.locator("#counts", has_text="30 of 30").wait_for()
    page.click("#ready")
    page.locator("#log bdi", has_text="<svg onload").first.wait_for()
    untouched(page)


def test_the_command_without_the_token(command: Server, visit: Opener) -> None:
    url = f"{command().partition('?')[0]}?"
    for name in ("", "matches", "practice", "arena", "setup", "match/d0:1"):
        visit(url, name).locator("#notice", has_text="token").wait_for()


def test_a_port_that_is_taken(server: Server) -> None:
    port = server().partition("/?")[0].rpartition(":")[2]
    done = locmsim("web", "--port", port, code=1)
    assert f"port {port}: Address already in use" in done.stderr


def test_a_phone_shows_board_hand_and_button(server: Server, visit: Opener) -> None:
    """On a phone, all that is needed to play is visible without scrolling."""
    page = visit(server(), viewport={"width": 390, "height": 844})

    def check_seen(*parts: str) -> None:
        assert page.evaluate("scrollY") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for part in parts:
            box = page.locator(part).first.bounding_box()
            assert box is not None, part
            assert box["x"] >= 0, part
            assert box["y"] >= 0, part
            assert box["x"] + box["width"] <= 390, part
            assert box["y"] + box["height"] <= 844, part

    page.wait_for_selector(".board .can")
    check_seen(".lanes", ".side.lower", ".side.upper")
    page.select_option("#opponent", "agent-random")
    page.click("#begin")
    page.locator("#offer .pick").first.wait_for()
    page.click("#hint")
    page.locator("#counts", has_text="30 of 30").wait_for()
    page.click("#ready")
    page.wait_for_selector("#end:enabled")
    check_seen(".lanes", ".side.lower", ".side.upper", ".side.lower .hand", "#end")


def test_the_text_of_a_card_covers_no_hand_and_cards_fit_a_phone_held_sideways(
    watch: Opener,
) -> None:
    page = watch(golden_result(long_game("1.5")))
    page.wait_for_selector("#log li")
    for side in ("lower", "upper"):
        hand = page.locator(f".side.{side} .hand")
        hand.locator(".card").nth(1).hover()
        text = page.locator("#card-text")
        expect(text).to_be_visible()
        box, around = text.bounding_box(), hand.bounding_box()
        assert box["y"] + box["height"] <= around["y"] or box["y"] >= around["y"] + around["height"]
    page.set_viewport_size({"width": 844, "height": 390})
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    cards = page.locator(".lane .card, .hand .card").all()
    assert len(cards) > 4
    assert all(card.bounding_box()["height"] < 100 for card in cards)
    assert page.evaluate("document.documentElement.scrollWidth") <= 844
    lanes = page.locator(".lanes").bounding_box()
    assert lanes["y"] + lanes["height"] <= 390


@pytest.mark.parametrize("game", [None, "vestrock:turns=8"], ids=["locm", "other"])
def test_a_match_is_watched_as_it_is_played(
    game: str | None, server: Server, visit: Opener, tmp_path: Path
) -> None:
    """A page of a running match follows it if the last step is shown; else it stays where it is."""
    folder = tmp_path / "games"
    folder.mkdir()
    path = folder / f"a{LIVE_SUFFIX}"
    if game is None:
        match, begun = Match(seed=4), None
        players = [make_agent("greedy"), make_agent("random")]
    else:
        other = make_game(game)
        match = other.new_match(4)
        begun = {"game": game_to_json(other), "seed": 4, "card_seed": None}
        players = [other.make_agent("rule"), other.make_agent("random")]
    calls = list(play(players, match.root(), timeout_scale=0).calls)
    half = len(calls) // 2
    with LiveLog(path, match if game is None else None, ("ann", "bob"), begun) as log:
        for call in calls[:half]:
            log.add(call)
        page = visit(server(str(folder)), "matches")
        links = page.locator("[data-key=l0] a")
        expect(links).to_have_text(["live"])
        links.first.click()
        entries = page.locator("#log li")
        entries.first.wait_for()
        before = entries.count()
        expect(page.locator("#slider")).to_have_value(page.get_attribute("#slider", "max") or "")
        log.add(calls[half])
        expect(entries).not_to_have_count(before)
        expect(page.locator("#slider")).to_have_value(page.get_attribute("#slider", "max") or "")
        page.keyboard.press("Home")
        before = entries.count()
        for call in calls[half + 1 :]:
            log.add(call)
        expect(entries).not_to_have_count(before)
        expect(page.locator("#slider")).to_have_value("0")
    if game:
        slider, last = page.locator("#slider"), page.get_attribute("#slider", "max") or ""
        for name, value in (("next", "1"), ("last", last), ("prev", str(int(last) - 1))):
            page.click(f"#{name}")
            expect(slider).to_have_value(value)
        assert page.locator("#flip, #nextturn").count() == 0
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Home")
        page.keyboard.press(" ")
        expect(page.locator("#play")).to_have_attribute("aria-label", "Pause")
        expect(slider).not_to_have_value("0")
        page.keyboard.press("End")  # where nothing follows
        expect(page.locator("#play")).to_have_attribute("aria-label", "Play")
        # Long words are above the buttons; on a phone the picture can be read.
        page.keyboard.press("Home")
        for _ in range(int(last)):
            page.keyboard.press("ArrowRight")
            said, controls = (page.locator(one).bounding_box() for one in ("#said", ".controls"))
            assert said["y"] + said["height"] <= controls["y"]
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.locator("img.drawing").bounding_box()["width"] >= 640
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1280, "height": 720})
        # The picture is drawn for a light page and must be readable on a dark one too.
        page.emulate_media(color_scheme="dark")
        expect(page.locator("img.drawing")).to_have_css("background-color", "rgb(255, 253, 246)")
        # The picture is an image, so that its markup cannot affect the page.
        assert page.locator("img.drawing").get_attribute("src").startswith("data:image/svg+xml")
        expect(page.locator("#outcome")).to_have_text(
            re.compile("^Vestrock(: ann won|: bob won)?$")
        )
