"""Pictures of cards: well-formed, safe, legible and always the same."""

import re
import zlib
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from amounts import amount
from helpers import HOSTILE, begun_match, output_of, raises

from locmsim import Card, Match, Observation, generate_cards
from locmsim.art import (
    card_art,
    card_description,
    card_svg,
    card_title,
    card_titles,
    motif_of,
    sheet_html,
    sheet_svg,
)
from locmsim.art.cards import NUMBERS
from locmsim.art.motifs import MOTIFS, NOUNS
from locmsim.rules.cards import ABILITIES, Area, CardType, cards_1x

SVG = "{http://www.w3.org/2000/svg}"
#: What a picture may consist of: nothing that runs, loads or is referred to.
TAGS = {"svg", "g", "rect", "path", "text", "title"}
ATTRIBUTES = {
    *("viewBox", "width", "height", "role", "class", "x", "y", "rx", "d", "fill", "fill-opacity"),
    *("transform", "stroke", "stroke-width", "stroke-linejoin", "font-size", "font-family"),
    *("font-weight", "text-anchor"),
}


def parsed(svg: str) -> ElementTree.Element:
    """Return the picture's root, having checked that all elements are harmless."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in TAGS
        assert set(element.attrib) <= ATTRIBUTES
        assert "url(" not in "".join(element.attrib.values())
    return root


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in parsed(svg).iter(f"{SVG}text")]


def transform(card: Card) -> tuple[int, float]:
    """Return angle and size of the motif."""
    found = re.search(r"rotate\((-?\d+)\) scale\(([\d.]+)\)", card_art(card))
    assert found
    return int(found[1]), float(found[2])


def masks(card: Card) -> list[float]:
    """Return how much red, green and blue there is."""
    return [float(value) for value in re.findall(r'fill-opacity="([\d.]+)"', card_art(card))]


@pytest.mark.parametrize("kind", CardType)
def test_every_motif_is_a_picture(kind: CardType) -> None:
    count = len(MOTIFS[kind])
    assert count >= (24 if kind == CardType.CREATURE else 8)
    pictures = set()
    for base_id in range(count):
        card = Card(base_id, kind, 3, 2, 4, "BCDGLW", 1, -2, 1, Area.LANE2, HOSTILE)
        assert motif_of(card) == base_id
        picture = card_svg(card)
        parsed(picture)
        assert picture == card_svg(card)
        pictures.add(re.sub(r"rotate\(-?[0-9]+\)", "", picture))
    assert len(pictures) == count
    assert motif_of(replace(card, base_id=count + 3)) == 3


@pytest.mark.parametrize("kind", CardType)
def test_all_motifs_stay_in_their_square(kind: CardType) -> None:
    for motif in MOTIFS[kind]:
        for tone, path in motif:
            assert tone in {"body", "shade", "light", "ink", "white"}
            assert re.fullmatch(r"[MmLlHhVvQqAaCcz0-9 .\-]+", path), path
            if not re.search(r"[a-y]", path):  # absolute coordinates only
                numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", path)]
                assert min(numbers) >= -6
                assert max(numbers) <= 106


def test_names_are_text() -> None:
    card = Card(1, CardType.CREATURE, 1, 1, 1, name=HOSTILE)
    root = parsed(card_svg(card))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == card_description(card)
    assert HOSTILE in card_description(card)
    assert card_title(card) == HOSTILE


def test_numbers_are_legible() -> None:
    creature = Card(3, CardType.CREATURE, 12, 7, 10, "B--G--", 2, -3, 4, Area.LANE1)
    assert texts(card_svg(creature)) == ["B", "G", "1", "+2", "\u22123", "4", "12", "7", "10"]
    now = card_svg(creature, attack=0, defense=123, abilities="-----W")
    assert texts(now) == ["W", "1", "+2", "\u22123", "4", "12", "0", "123"]
    assert texts(card_svg(creature, abilities="------"))[:2] == ["1", "+2"]
    item = Card(3, CardType.RED, 2, -1, -99)
    assert texts(card_svg(item)) == ["2", "\u22121", "\u221299"]
    plain = Card(3, CardType.BLUE, 0, 0, 0)
    assert texts(card_svg(plain)) == ["0"]
    # At 96 pixels the numbers of a card are at least 12 pixels high.
    for element in parsed(card_svg(creature)).iter(f"{SVG}text"):
        assert float(element.attrib["font-size"]) * 0.96 > 11


@pytest.mark.parametrize("value", [-500, -99, -10, 10, 99, 500])
def test_numbers_stay_on_their_shapes(value: int) -> None:
    """Widths are estimated: a digit of the font is some 0.7 of its size wide, a sign 0.87."""
    for kind in CardType:
        card = Card(3, kind, 12, value, abs(value), "------", value, value, 10)
        picture = card_svg(card, attack=value, defense=-value)
        widths = [width for _, _, width, _, _ in NUMBERS.values()]
        for element in parsed(picture).iter(f"{SVG}text"):
            text = element.text or ""
            size = float(element.attrib["font-size"])
            width = size * sum(0.87 if sign in "+\u2212" else 0.71 for sign in text)
            assert width <= max(widths), (text, size)
            if element.attrib["x"] == "27":  # an effect: from its symbol to the badge's end
                assert width <= 26, (text, size)


@pytest.mark.parametrize("count", range(1, 8))
def test_badges_are_beside_each_other_and_above_the_numbers(count: int) -> None:
    """No badge of a keyword or an area covers another one, and no number covers a badge."""
    card = Card(1, CardType.CREATURE, 3, 12, 12, f"{ABILITIES[: count - 1]:-<6}", area=Area.LANE2)
    place = r'translate\(([\d.]+) ([\d.]+)\)(?: scale\(([\d.]+)\))?"><rect width="16" height="16"'
    found = [
        (float(x), float(y), 16 * float(scale or 1))
        for x, y, scale in re.findall(place, card_svg(card))
    ]
    assert len(found) == count
    ends = [7.0, *(x + size for x, _, size in found)]
    assert all(x >= end - 0.11 for (x, _, _), end in zip(found, ends, strict=False))
    assert ends[-1] <= 93.1
    shapes = [re.findall(r"[\d.]+", NUMBERS[name][4]) for name in ("attack", "defense")]
    top = min(float(y) for points in shapes for y in points[1::2])
    assert max(y + size for _, y, size in found) <= top


def test_masks_size_and_angle_follow_the_statistics() -> None:
    def creature(base_id: int, cost: int, attack: int, defense: int) -> Card:
        return Card(base_id, CardType.CREATURE, cost, attack, defense)

    assert masks(creature(1, 0, 0, 0)) == [0, 0, 0]
    assert masks(creature(1, 0, 12, 0)) == [0.55, 0, 0]
    assert masks(creature(1, 0, 0, 12)) == [0, 0.55, 0]
    assert masks(creature(1, 12, 0, 0)) == [0, 0, 0.55]
    values = [masks(creature(1, 0, attack, 0))[0] for attack in range(13)]
    assert values == sorted(set(values))
    sizes = [transform(creature(1, 0, attack, attack))[1] for attack in range(13)]
    assert sizes == sorted(set(sizes))
    # The motif is tilted: the base id decides the direction, the statistics the angle.
    angles = [transform(creature(1, cost, 3, 4))[0] for cost in range(13)]
    assert len(set(angles)) > 4
    assert min(angles) > 0
    assert [transform(creature(2, cost, 3, 4))[0] for cost in range(13)] == [-a for a in angles]
    assert [transform(creature(33, cost, 3, 4))[0] for cost in range(13)] == angles


@pytest.mark.parametrize("kind", CardType)
def test_titles_say_it_all(kind: CardType) -> None:
    card = Card(9, kind, 5, 3, 2, ABILITIES, 1, -4, 2, Area.LANE1, "Lark")
    title = card_description(card)
    words = ("Lark", "cost 5", "Breakthrough", "Charge", "Drain", "Guard", "Lethal", "Ward")
    for word in (*words, "own health +1", "enemy health -4", "draw 2", "one lane"):
        assert word in title
    assert ("attack +3" in title) == (kind != CardType.CREATURE)


def test_generated_cards_have_names_of_their_own() -> None:
    """Names are unique in a set, and their noun is what the picture shows."""
    for seed in range(amount(20, 200)):
        cards = generate_cards(seed)
        titles = card_titles(cards)
        assert len(set(titles.values())) == len(cards) == 120
        assert all(titles[card] == card_title(card) for card in cards)
        assert all(card.name == "" for card in cards)
    for card in cards:
        assert card_title(card).endswith(f" {NOUNS[card.type][motif_of(card)]}")
    bat = Card(8, CardType.CREATURE, 3, 2, 4)
    assert card_title(bat) == "Sturdy Bat"
    assert card_title(replace(bat, attack=4, defense=2)) == "Fierce Bat"
    assert card_title(replace(bat, abilities="-C--L-")) == "Venomous Bat"
    assert card_description(bat).startswith("Sturdy Bat: creature, cost 3")


def test_names_that_collide_get_their_number() -> None:
    one = Card(8, CardType.CREATURE, 3, 2, 4)
    two = replace(one, base_id=8 + 26 * 5)
    assert card_titles([one, two, one]) == {one: "Sturdy Bat 8", two: "Sturdy Bat 138"}
    assert card_titles([one]) == {one: "Sturdy Bat"}
    # A creature whose statistics have changed is the same card.
    changed = replace(one, defense=one.defense + 1)
    assert card_titles([one, changed]) == {one: "Sturdy Bat", changed: "Sturdy Bat"}


def test_cards_of_1x_have_their_own_names() -> None:
    for card in cards_1x():
        assert card_title(card) == card.name != ""
        assert card_title(Card.from_row(card.to_row())) == card.name


# -------------------------------------------------------------------------- several cards


def cards_in(svg: str) -> int:
    root = parsed(svg)
    return sum(element.get("class") == "locm-card" for element in root.iter(f"{SVG}svg"))


def test_sheet() -> None:
    cards = generate_cards(3)
    assert cards_in(sheet_svg(cards)) == 120
    assert cards_in(sheet_svg([])) == 0
    page = sheet_html(cards, HOSTILE)
    assert "<script" not in page
    assert "<svg onload" not in page
    raises(ValueError, "columns: expected at least 1, got 0", sheet_svg, cards, columns=0)


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_pictures_in_notebooks(rules: str) -> None:
    offered = Match(rules, seed=1).observation(0)
    assert cards_in(offered._repr_html_()) == len(offered.cards)
    match = begun_match(rules, seed=1)
    for _ in range(12):
        state = match.state
        assert state is not None
        actions = [a for a in state.legal_actions() if a][:1]
        line = ";".join(state.action_to_string(a) for a in actions) or "PASS"
        match.submit(match.to_ask[0], line)
        player = match.to_ask[0]
        snapshot = match.state.snapshot()
        boards = sum(len(side["board"]) for side in snapshot["p"])
        hands = [len(side["hand"]) for side in snapshot["p"]]
        svg = match.state._repr_html_()
        assert cards_in(svg) == boards + sum(hands)
        assert f"{snapshot['p'][0]['hp']} health" in svg
        assert cards_in(match.observation(player)._repr_html_()) == boards + hands[player]


def test_cards_have_pictures() -> None:
    card = generate_cards(1)[0]
    assert card._repr_svg_() == card_svg(card, width=120)


def test_an_observation_with_numbers_that_no_card_has() -> None:
    text = "30 1 25 0\n30 1 25 0\n5 0\n1\n1 7 -1 0 1 999 -999 ------ 0 0 0 0 1\n"
    svg = Observation.parse(text)._repr_html_()
    assert "999" in texts(svg)
    assert "\u2212999" in texts(svg)


# ------------------------------------------------------------------------------ the command


def test_draw_a_set(tmp_path) -> None:
    path = tmp_path / "sheet.html"
    assert output_of("cards", "draw", "5", "-o", str(path)).out == ""
    assert path.read_text() == sheet_html(generate_cards(5), "The cards of seed 5")


@pytest.mark.process
def test_draw_a_png(tmp_path, monkeypatch) -> None:
    pytest.importorskip("cairosvg")
    monkeypatch.setattr(
        "locmsim.rules.generator.generate_cards", lambda *given: generate_cards(*given)[:1]
    )
    path = tmp_path / "sheet.png"
    for _ in range(2):
        output_of("cards", "draw", "5", "--png", "-o", str(path))
    drawn = path.read_bytes()
    chunks, at = [], 8
    while at < len(drawn):  # each chunk is complete
        length = int.from_bytes(drawn[at : at + 4])
        kind, checksum = drawn[at + 4 : at + 8], drawn[at + 8 + length : at + 12 + length]
        assert zlib.crc32(drawn[at + 4 : at + 8 + length]) == int.from_bytes(checksum)
        chunks.append(kind)
        at += 12 + length
    assert (chunks[:2], chunks[-1]) == ([b"IHDR", b"tEXt"], b"IEND")
    # A file that locmsim did not write is not overwritten.
    other = drawn[:33] + drawn[33:].replace(b"locmsim", b"another")
    path.write_bytes(other)
    output_of("cards", "draw", "5", "--png", "-o", str(path), code=2)
    assert path.read_bytes() == other


def test_png_without_the_library(tmp_path, missing) -> None:
    missing("cairosvg")
    path = tmp_path / "sheet.png"
    for words in (["--png"], []):  # the name of the file asks for a picture, too
        said = output_of("cards", "draw", "5", *words, "-o", str(path), code=1).err
        assert "pip install 'locmsim[png]'" in said
    assert not path.exists()


def test_draw_into_a_folder(tmp_path) -> None:
    said = output_of("cards", "draw", "5", "-o", str(tmp_path), code=2).err
    assert "it is a folder" in said
