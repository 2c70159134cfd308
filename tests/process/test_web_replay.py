"""Browser tests of the replay page: each step shows the match, and hostile text stays text."""

import itertools
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from amounts import amount
from browser import (
    ALL_SHOWN,
    SHOWN,
    Opener,
    browser,
    check_game,
    expected,
    long_game,
    open_page,
    step_of,
    sync_api,
)
from helpers import HOSTILE, RULE_SETS, golden_games, golden_result, wait_for

from locmsim.referee import replay_calls
from locmsim.referee.illegal import illegal_actions
from locmsim.web import replay_data, replay_html
from locmsim.web.file_capture import capture_html

__all__ = ["browser", "open_page"]

pytestmark = pytest.mark.slow

screenshots = pytest.importorskip("screenshots", reason="what it needs is not installed")


@pytest.mark.parametrize("rules", amount(["1.5"], most=RULE_SETS))
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
    # The address of a step leads to that step, and also works as a link within the page.
    page.keyboard.press("Home")
    turn = f"#turn={game['turns'][3]['states'][0]['turn']}"
    page.evaluate(f"location.hash = '{turn}'")
    sync_api.expect(page.locator("#slider")).to_have_value(str(starts[3]))
    page.keyboard.press("ArrowRight")
    # The address changes shortly after the last step.
    wait_for(lambda: page.evaluate("location.hash") != turn)
    # `page.url` would be late: it is updated some time after the script has changed the address.
    page = open_page(replay_html(golden_result(game)), page.evaluate("location.hash"))
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
    # The last position says who has won; the others say nothing.
    prompt = page.locator(".board .prompt")
    winner = golden_result(game).winner
    assert prompt.inner_text().strip("\u2068\u2069 ").startswith(("one", "two")[winner])
    assert prompt.inner_text().endswith("won.")
    page.locator("#slider").fill("5")
    assert prompt.inner_text() == ""
    page.locator("#view").focus()
    assert page.evaluate(SHOWN)[0]["health"] == str(
        [state for turn in game["turns"] for state in turn["states"]][5]["p"][0]["hp"]
    )
    page.locator("#log li").nth(3).click()
    assert step_of(page) == 3
    shown = page.evaluate(SHOWN)
    assert shown[0]["backs"] == 0
    assert shown[1]["backs"] == int(shown[1]["size"]) > 0
    page.locator("#view").select_option("1")
    shown = page.evaluate(SHOWN)
    assert shown[0]["backs"] == int(shown[0]["size"]) > 0
    assert shown[1]["backs"] == 0
    page.click("#tab-decks")
    table = page.locator("#decks table tr")
    assert table.count() == 1 + len(game["cards"])
    taken = [row.split("\t")[1:] for row in table.all_inner_texts()[1:]]
    for player in (0, 1):
        assert sum(int(n[player]) for n in taken if n[player] != "\u2013") == 30


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_it_fits_the_screen(width: int, height: int, open_page: Opener) -> None:
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
        for part in (".controls", ".lanes", ".side.lower", ".side.upper", ".side.lower .hand"):
            box = page.locator(part).bounding_box()
            assert box["y"] + box["height"] <= height + 1
        names = page.evaluate(
            "[...document.querySelectorAll('.card')].map((e) => getComputedStyle(e).animationName)"
        )
        assert set(names) == {"none"}
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (light == "rgb(239, 234, 224)") == (scheme == "light")


def test_hostile_text_stays_text(open_page: Opener) -> None:
    """Hostile names, chat and standard error of bots are shown as text."""
    game = json.loads(json.dumps(long_game("1.0")))
    chat = f"PASS {HOSTILE.replace(';', '')}"
    game["turns"][0]["output"] += f";{chat}"
    page = open_page(replay_html(golden_result(game, stderr=(HOSTILE, "")), (HOSTILE, HOSTILE)))
    assert page.title() == f"{HOSTILE} (first) against {HOSTILE} (second)"
    said = " ".join(chat.split()[1:])
    assert page.locator("#side0 .chat").text_content() == f"\u201c{said}\u201d"
    assert page.locator("#side0 .who bdi").first.text_content() == f"{HOSTILE} (first)"
    page.click("#tab-about")
    assert page.locator("#stderr pre").text_content() == HOSTILE
    # The text did not create elements, and it is isolated from the text around it.
    assert page.locator("script").count() == 2
    assert page.locator("[onload]").count() == 0
    isolated = page.evaluate(
        "[...document.querySelectorAll('bdi')].map((e) => getComputedStyle(e).unicodeBidi)"
    )
    assert set(isolated) == {"isolate"}
    for place in ("#value", "#outcome", "#said"):
        assert HOSTILE not in page.evaluate(
            "(place) => [...document.querySelector(place).childNodes]"
            ".filter((node) => node.nodeType === Node.TEXT_NODE)"
            ".map((node) => node.data).join(' ')",
            place,
        )
    option = page.locator("#view option").nth(1).text_content()
    assert option == f"only \u2068{HOSTILE} (first)\u2069"
    # A long name leaves space for the choice beside it.
    assert page.locator("#speed").bounding_box()["width"] > 50
    page.evaluate(ALL_SHOWN)
    assert page.title() == f"{HOSTILE} (first) against {HOSTILE} (second)"


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_what_bots_wrote_and_illegal_actions(width: int, height: int, open_page: Opener) -> None:
    """Each turn has what its bot wrote, and its illegal actions with their reasons, as text."""
    game = json.loads(json.dumps(long_game("1.2")))
    game["turns"][1]["output"] += ";SUMMON 999 0;ATTACK 998 -1"
    plain = golden_result(game)
    words = {0: f"choosing {HOSTILE}", 60: HOSTILE, 61: "one\n" + 100 * "a long line " + "\nend\n"}
    answers = [(c.player, c.answer, 0, words.get(i, "")) for i, c in enumerate(plain.calls)]
    result = replay_calls(plain.match.root(), answers)
    viewport = {"width": width, "height": height}
    page = open_page(replay_html(result, (HOSTILE, "two")), viewport=viewport)
    turns = page.locator("#log li.turn")
    expect = sync_api.expect
    expect(turns.nth(1).locator(".illegal")).to_have_text(
        re.compile(
            r"^not legal: .*SUMMON 999 0 \(not in hand\); ATTACK 998 -1 \(not on the board\)$"
        )
    )
    played = {one.turn for one in illegal_actions(result)}
    expect(page.locator("#log .illegal")).to_have_count(len(played))
    boxes = page.locator("#log .written")
    expect(boxes).to_have_count(2)
    expect(boxes.locator("pre").first).to_be_hidden()
    # One click opens all, and leads to no other step.
    page.click("#last")
    at = step_of(page)
    boxes.first.locator("summary").click()
    assert boxes.locator("pre").all_text_contents() == [words[60], words[61]]
    expect(boxes.locator("pre").nth(1)).to_be_visible()
    boxes.first.locator("pre").click()
    assert step_of(page) == at
    boxes.nth(1).locator("summary").press("Enter")
    expect(boxes.locator("pre").first).to_be_hidden()
    page.click("#tab-decks")
    page.locator("#decks .written summary").click()
    expect(page.locator("#decks .written pre")).to_have_text(words[0])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script").count() == 2
    assert page.locator("[onload]").count() == 0


def test_a_match_that_ended_before_the_battle(open_page: Opener) -> None:
    game = next(g for g in golden_games("1.2") if not g["turns"])
    page = open_page(replay_html(golden_result(game)))
    assert page.locator("#said").inner_text() == "The match ended before the battle."
    assert "lost by a fault" in page.locator("#outcome").inner_text()
    page.keyboard.press("ArrowRight")
    page.click("#tab-decks")
    assert page.locator("#decks table tr").count() == 31


def test_deaths_and_damage_are_animated(open_page: Opener) -> None:
    """Deaths and damage are animated unless the user prefers reduced motion."""
    for game in golden_games("1.5"):
        boards = [
            [{row[0]: row[3] for row in side["board"]} for side in state["p"]]
            for turn in game["turns"]
            for state in turn["states"]
        ]
        pairs = list(enumerate(itertools.pairwise(boards), 1))
        deaths = [i for i, (old, new) in pairs if any(map(lost, old, new))]
        hits = [i for i, (old, new) in pairs if any(map(hurt, old, new))]
        if deaths and hits:
            break
    for motion in ("no-preference", "reduce"):
        page = open_page(replay_html(golden_result(game)), reduced_motion=motion)
        shown = {}
        for name, step in (("gone", deaths[0]), ("hit", hits[0])):
            page.evaluate(f"location.hash = '#step={step}'")
            sync_api.expect(page.locator("#slider")).to_have_value(str(step))
            shown[name] = page.locator(f".card.{name}").count()
            if name == "gone":
                animated = page.locator(".card.gone").first.evaluate(
                    "(card) => getComputedStyle(card).animationName"
                )
        assert min(shown.values()) > 0
        assert page.locator(".card.hit .change").first.text_content().startswith("\u2212")
        assert animated == ("gone" if motion == "no-preference" else "none")


def lost(old: dict[int, int], new: dict[int, int]) -> bool:
    return not old.keys() <= new.keys()


def hurt(old: dict[int, int], new: dict[int, int]) -> bool:
    return any(new[card] < old[card] for card in old.keys() & new.keys())


def test_a_fault_in_the_battle(open_page: Opener) -> None:
    """The page shows who failed and how, and the end of the standard error of their bot."""
    game = next(game for game in golden_games("1.5") if game["turns"] and game["error"])
    player = game["error"]["player"]
    words = ("Traceback: it was\n  here", "") if player == 0 else ("", "Traceback: it was\n  here")
    page = open_page(replay_html(golden_result(game, stderr=words), ("one", "two")))
    outcome = page.locator("#outcome").inner_text()
    assert f"{('one', 'two')[1 - player]} won; {('one', 'two')[player]} lost by a fault:" in outcome
    # The names are not cut, however long the outcome is.
    title = page.locator("#title")
    assert title.evaluate("(title) => title.scrollWidth <= title.clientWidth")
    page.click("#tab-about")
    assert page.locator("#stderr pre").is_visible()
    assert page.locator("#stderr pre").text_content() == words[player]
    page.keyboard.press("End")
    assert step_of(page) == sum(len(turn["states"]) for turn in game["turns"]) - 1


@pytest.mark.parametrize("rules", amount(["1.2"], most=RULE_SETS))
def test_what_a_bot_was_sent(rules: str, open_page: Opener) -> None:
    """A page of a bot's input shows the position of each of its turns, without hidden cards."""
    game = long_game(rules)
    inputs = [turn["input"] for turn in game["turns"] if turn["player"] == 1]
    page = open_page(capture_html("".join([*game["choice_inputs"][1], *inputs])))
    states = [turn["states"][0] for turn in game["turns"] if turn["player"] == 1]
    for shown, state in zip(page.evaluate(ALL_SHOWN), states, strict=True):
        for player, wanted in enumerate(expected(game, state)):
            assert shown[player]["backs"] == (int(wanted["size"]) if player == 0 else 0)
            for what in ("health", "size", "lanes"):
                assert shown[player][what] == wanted[what]
    assert "as one of the bots saw it" in page.locator("#outcome").inner_text()
    assert page.locator("#log .theirs").count() > 1
    page.click("#tab-decks")
    assert page.locator("#decks table tr").count() > 30
    # The input does not say what the players have chosen.
    heads = ["on offer"] if rules == "1.5" else ["pick", "offered"]
    assert page.locator("#decks table th").all_inner_texts() == heads


def test_pictures(tmp_path: Path) -> None:
    """The script creates the pictures of README and docs/web.md with the right sizes."""
    top = Path(__file__).parents[2]
    script = top / "tools" / "screenshots.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, timeout=300)
    sizes = {"replay": (1280, 720), "web": (1280, 800)}
    sizes |= dict.fromkeys(screenshots.TOUR, tuple(screenshots.TOUR_SIZE.values()))
    for folder, (name, size) in itertools.product((tmp_path, top / "docs"), sizes.items()):
        data = (folder / f"{name}.png").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", data[16:24]) == size
        # The picture of an empty page would be much smaller.
        assert 30_000 < len(data) < 250_000


def test_arrows_lead_to_the_health_of_players(open_page: Opener) -> None:
    """An attack on a player ends at the edge of the player's side, beside their health."""
    result = golden_result(long_game("1.5"))
    steps = replay_data(result)["steps"]
    attacks = [
        (i, step["player"])
        for i, step in enumerate(steps)
        if re.fullmatch(r"ATTACK \d+ -1", step["action"] or "")
    ]
    page = open_page(replay_html(result))
    for (i, player), _ in itertools.product(attacks[:3], ("below", "above")):
        page.evaluate(f"location.hash = '#step={i}'")
        sync_api.expect(page.locator("#slider")).to_have_value(str(i))
        page.click("#flip")
        across, up = page.evaluate(
            """(target) => {
                const box = (path) => document.querySelector(path).getBoundingClientRect();
                const end = /^M([\\d.]+) ([\\d.]+)/.exec(
                    document.querySelector(".arrows .done .head").getAttribute("d"));
                const [board, health] = [box(".board"), box(`#side${target} .of-health`)];
                const side = box(`#side${target}`);
                const edge = side.top > board.top + 9 ? side.top : side.bottom;
                return [board.left + Number(end[1]) - (health.left + health.right) / 2,
                    board.top + Number(end[2]) - edge];
            }""",
            1 - player,
        )
        assert abs(across) < 1
        assert abs(up) < 1
    assert attacks


def test_the_address_follows_when_the_slider_rests(open_page: Opener) -> None:
    """The address changes only after a pause, since Safari blocks pages that change it often."""
    page = open_page(replay_html(golden_result(long_game("1.5"))))
    page.evaluate(
        "() => { window.calls = 0; const old = history.replaceState.bind(history);"
        " history.replaceState = (...all) => { window.calls += 1; old(...all); } }"
    )
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert step_of(page) == 40
    page.wait_for_timeout(600)
    assert page.evaluate("location.hash") != ""
    assert page.evaluate("window.calls") < 12
