"""What pages say of the program is so: names in tables, sizes, figures that follow from data."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from locmsim import Match, play_match
from locmsim.agents import known_agents, make_agent
from locmsim.contract import FaultKind
from locmsim.decks import DECK_BUILDERS, DRAFT_PICKERS
from locmsim.export import LIMIT, export_bot, kernel_header
from locmsim.stats import PairCounts, score_interval

DOCS = Path(__file__).parents[3] / "docs"


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next one of any level."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.split(r"(?m)^#+ ", text.partition(f"# {heading}\n")[2])[0]


def first_cells(text: str) -> list[str]:
    """Return the code in the first cells of the rows of a table."""
    cells = re.findall(r"(?m)^\| ([^|]+) \|", text)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


# ---------------------------------------------------------------------------------- docs/agents.md


def test_the_table_of_agents_has_all_of_them():
    names = {name.partition(":")[0] for name in first_cells(section("agents.md", "Agents"))}
    assert names == {info.name for info in known_agents()}


def test_the_table_of_decks_has_all_builders():
    assert first_cells(section("agents.md", "How decks are chosen (1.5)"))[1:] == [*DECK_BUILDERS]


@pytest.mark.parametrize("agent", ["greedy", "rule", "beam"])
def test_agents_have_the_decks_that_the_page_names(agent):
    row = re.search(rf"(?m)^\| `{agent}` \| (.+) \|$", section("agents.md", "Agents"))
    deck = re.search(r"deck `(\w+)`", row[1])
    assert make_agent(agent).deck == (deck[1] if deck else "default")


# ---------------------------------------------------------------------------------- docs/drafts.md


def test_the_tables_of_drafts_have_the_pickers():
    names = first_cells((DOCS / "drafts.md").read_text("utf-8").partition("\n## ")[0])
    assert sorted(names[1:]) == sorted(DRAFT_PICKERS)
    rows = re.findall(
        r"(?m)^\| 1\.\d \| `(\w+)` \| `(\w+)` \|", section("drafts.md", "What they are worth")
    )
    assert rows
    assert {name for row in rows for name in row} <= DRAFT_PICKERS.keys()


# --------------------------------------------------------------------------------- docs/referee.md


def test_the_table_of_faults_has_all_kinds():
    kinds = first_cells(section("referee.md", "Faults"))
    assert sorted(kinds) == sorted(FaultKind)


def test_troubles_have_the_names_of_faults():
    kinds = first_cells(section("troubleshooting.md", "The bot does not answer"))
    assert len(kinds) == 5
    assert {*kinds} <= {*FaultKind}


# ------------------------------------------------------------------------------- docs/codingame.md

SIZES = {
    rules: sizes
    for rules, *sizes in re.findall(
        r"(?m)^\| (1\.\d) \| ([\d,]+) \| ([\d,]+) \| ", (DOCS / "codingame.md").read_text("utf-8")
    )
} if DOCS.exists() else {}  # fmt: skip


#: How far a size may be from the page's: the sources of the files change often.
NEAR = 0.015


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.slow
@pytest.mark.parametrize("rules", SIZES)
def test_exported_bots_have_the_sizes_of_the_page(rules):
    sizes = [len(export_bot(rules, search=search).text) for search in ("beam", "mcts")]
    assert sizes == pytest.approx([number(size) for size in SIZES[rules]], rel=NEAR)
    assert max(sizes) <= LIMIT == 100_000


@pytest.mark.slow
def test_other_exported_files_have_the_sizes_of_the_page():
    text = " ".join((DOCS / "codingame.md").read_text(encoding="utf-8").split())
    found = re.search(r"the files then have ([\d,]+) to ([\d,]+) characters", text)
    sizes = [len(export_bot(rules, ascii=True).text) for rules in SIZES]
    assert [min(sizes), max(sizes)] == pytest.approx([*map(number, found.groups())], rel=NEAR)
    found = re.search(
        r"plays all three \(([\d,]+) characters\).*"
        r"\(([\d,]+) characters at most with one rule set, ([\d,]+) with all\)",
        text,
    )
    sizes = [
        len(kernel_header()),
        max(len(kernel_header(rules, minified=True)) for rules in SIZES),
        len(kernel_header(minified=True)),
    ]
    assert sizes == pytest.approx([*map(number, found.groups())], rel=NEAR)


# --------------------------------------------------------------------------------- docs/figures.md


def linked_games() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield file, winner, games, share and interval of each row that has a table of its games."""
    for line in (DOCS / "figures.md").read_text(encoding="utf-8").splitlines():
        link = re.search(r"\(\[games\]\(data/([\w-]+\.csv)\)\) \|$", line)
        if link:
            agent, _, games, share, interval = line.split(" | ")[:5]
            yield link[1], agent.strip("| `"), games, share, interval


@pytest.mark.parametrize("row", [*linked_games()], ids=lambda row: row[0])
def test_rows_follow_from_the_games_that_they_link(row):
    file, agent, games, share, interval = row
    name = "bot" if "bot" in agent else agent
    with (DOCS / "data" / file).open() as table:
        played = list(csv.DictReader(table))
    assert len(played) == int(games)
    pairs = PairCounts()
    for first, second in zip(played[::2], played[1::2], strict=True):
        assert first["seed"] == second["seed"]
        assert first["player0"] == second["player1"]
        pairs.add(((first["winner"] == name) + (second["winner"] == name)) / 2)
    low, high = score_interval(pairs)
    wins = sum(game["winner"] == name for game in played)
    assert f"{100 * wins / len(played):.1f} %" == share
    assert f"{100 * low:.1f} - {100 * high:.1f}" == interval
    won = f"{pairs.won}, {pairs.split} and {pairs.lost} "
    assert won in (DOCS / "figures.md").read_text(encoding="utf-8")
    assert not any(game["failed"] for game in played)


def test_examples_that_need_the_installed_library_are_installed_as_their_readme_says():
    text = " ".join((DOCS / "figures.md").read_text(encoding="utf-8").split())
    found = re.findall(r"`([^`]*pip install (?:--[\w-]+ )*\./examples/([\w-]+))`", text)
    assert found
    for command, name in found:
        readme = (DOCS.parent / "examples" / name / "README.md").read_text(encoding="utf-8")
        options = re.search(r"(?m)^    pip install ((?:--[\w-]+ )*)\.$", readme)[1]
        assert f"pip install {options}./examples/{name}" in command


# -------------------------------------------------------------------------------- docs/learning.md


def test_the_table_of_ids_has_the_actions_of_each():
    gym = pytest.importorskip("gymnasium")
    rows = re.findall(r"(?m)^\| `(locmsim/\w+-v0)`.* \| (.+) \|$", section("learning.md", "Ids"))
    found = {}
    for name, actions in rows:
        rules = "1.2" if "Draft" in name else "1.5"
        found[name] = gym.make(f"locmsim.envs:{name}", rules=rules, card_sets=1).action_space.n
        if actions[0].isdigit():
            assert str(found[name]) == re.split(r"\D", actions)[0]
    assert len(rows) == 4
    assert found["locmsim/Match-v0"] == 145 + 120
    one_lane = gym.make("locmsim.envs:locmsim/Battle-v0", rules="1.0")
    assert one_lane.action_space.n == 155


# ---------------------------------------------------------------- README.md, docs/vestrock, others


def test_extras_are_added_without_compiling_again():
    """`pip install ".[web]"` builds the package once more: only a first installation does."""
    pages = [DOCS.parent / "README.md", *DOCS.rglob("*.md"), *DOCS.parent.glob("examples/**/*.md")]
    found = [
        (page.name, line)
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.search(r"pip install [^`|]*\.\[", line)
    ]
    assert found == []


def test_what_the_readme_calls_stronger_wins():
    """`beam` against `greedy`, as in `docs/figures.md`, with little work and few games."""
    wins = 0
    for seed in range(10_000_000, 10_000_010):
        match = play_match(
            Match(seed=seed), (make_agent("beam:nodes=2000,time_ms=0"), make_agent("greedy"))
        )
        wins += match.winner == 0
    assert wins >= 7
