"""The figures of docs/explanation and the ratings are up to date with the tools that make them."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import exact_figures
import figures
import glossary
import pytest
import ratings

from locmsim.art import BADGES
from locmsim.rules.cards import ABILITIES, Area

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.slow
def test_the_figure_of_integers_is_drawn_again():
    assert figures.FIGURES["search"]() == (DOCS / "explanation" / "search.svg").read_text()


def test_figures_are_shown_and_complete():
    shown = set()
    for page in (*(DOCS / "explanation").glob("*.md"), DOCS / "development.md"):
        shown |= set(re.findall(r"!\[[^]]+\]\((?:explanation/)?(\w+)\.svg\)", page.read_text()))
    assert shown == {
        *figures.FIGURES,
        "kernel",
        "processes",
        "row",
    }  # the last three are drawn by hand
    for name in shown:
        root = ElementTree.parse(DOCS / "explanation" / f"{name}.svg").getroot()
        assert root.tag.endswith("svg")


def test_guesses_by_the_score_are_better():
    found = figures.guesses(matches=3, worlds=3)
    first = {name: points[0] for name, points in found.items()}
    assert first["by the score"][0] == first["any card"][0] == 1
    assert first["by the score"][1] > first["any card"][1]


def test_default_decks_are_worth_most():
    found = figures.deck_values(2)
    assert all(value <= 0 for values in found.values() for value in values)


def test_the_table_of_ratings_is_made_of_the_results():
    results = json.loads((DOCS / "data" / "ratings.json").read_text())
    page = (DOCS / "figures.md").read_text()
    assert ratings.section(results) in page
    assert ratings.page(page, results) == page
    for rules, result in results["rules"].items():
        names = [player["name"] for player in result["players"]]
        assert sorted(names) == sorted(ratings.players(rules))
        assert len(result["pairings"]) == len(names) * (len(names) - 1) // 2


def test_ratings_of_few():
    result = ratings.rate("1.2", ["random", "greedy", "osl"], games=6, jobs=1)
    assert result["players"][-1]["name"] == "random"
    assert sum(player["wins"] for player in result["players"]) == 18
    assert {tuple(pairing["players"]) for pairing in result["pairings"]} == {
        ("random", "greedy"),
        ("random", "osl"),
        ("greedy", "osl"),
    }


def test_pictures_of_the_glossary_are_drawn_again_and_all_shown():
    page = (DOCS / "glossary.md").read_text()
    shown = re.findall(r"!\[[^]]+\]\(glossary/(\w+)\.svg\)", page)
    assert sorted(shown) == sorted(glossary.PICTURES)
    for name, draw in glossary.PICTURES.items():
        assert draw() == (DOCS / "glossary" / f"{name}.svg").read_text(encoding="utf-8")


def test_the_glossary_explains_every_keyword_and_area():
    page = (DOCS / "glossary.md").read_text()
    rows = re.findall(r"(?m)^\| !\[(\w)\]\(glossary/\1\.svg\) \| `?(\w+)`? \|", page)
    assert [letter for letter, _ in rows] == [*BADGES]
    assert all(word.startswith(letter) for letter, word in rows if letter in ABILITIES)
    areas = [word for letter, word in rows if letter not in ABILITIES]
    assert areas == [area.name.lower() for area in Area if area != Area.TARGET]


# ------------------------------------------------------------------- figures that are exact


def test_exact_figures_are_those_of_the_list():
    """Other shares with an interval say on which machine, or when, they were measured."""
    found = [*exact_figures.cells(DOCS, [])]
    assert {one for _, _, one in found} == {*exact_figures.FIGURES}
    listed = {(path, row[0].splitlines()[-1]) for path, row, _ in found}
    for path in {path for path, _, _ in found}:
        for section in re.split(r"(?m)^#+ ", path.read_text(encoding="utf-8")):
            if re.search(r"AMD|Intel|[Mm]easured\W+at", section):
                continue
            for line in re.findall(r"(?m)^\|.* \d+\.\d % \| [\d.]+ (?:-|to) [\d.]+ \|.*$", section):
                assert any(at == path and line.startswith(row) for at, row in listed), line


def vestrock_row():
    text = (DOCS / "vestrock" / "rules.md").read_text("utf-8")
    (row,) = re.findall(r"(?m)^\| `rule` against `random` .*$", text)
    return row


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (
            "figures.md",
            "| 100.0 % | 78.2 - 100.0 |"
            " `rule random --game vestrock --games 20 --seed 1 --timeout-scale 0` |",
        ),
        pytest.param("vestrock/rules.md", vestrock_row(), marks=pytest.mark.slow),
    ],
)
def test_an_exact_figure_that_is_wrong_is_found_and_mended(name, row, tmp_path):
    page = tmp_path / name
    page.parent.mkdir(exist_ok=True)
    page.write_text(re.sub(r"\d+\.\d %", "1.0 %", row))
    said: list[str] = []
    assert exact_figures.compare(tmp_path, [name], 1, True, said.append) == 1
    assert said[0].startswith(f"{name}: 1.0 % |")
    assert page.read_text() == row
    assert exact_figures.compare(tmp_path, [name], 1, False, said.append) == 0
