"""The golden games in tests/data cover everything that tests/data/README.md lists."""

import gzip
import json

import pytest
from golden_subset import BATTLES, OF_EACH_TAG, features
from helpers import DATA, RULE_SETS, full_path, golden_lines, subset_path

TAGS = {
    "1.5": {"normal", "stall", "cardlist", "wild", "badChoice", "hardError"},
    "1.2": {"normal", "stall", "predefinedDraft", "badChoice", "hardError"},
    "1.0": {"normal", "stall", "predefinedDraft", "badChoice", "hardError"},
}

BATTLE_ERRORS = {
    "timeout!",
    "Invalid ATTACK arguments. Expected two integers (card id and target id).",
    "Invalid USE arguments. Expected two integers (card id and target id).",
}
TWO_LANES = {"Invalid SUMMON arguments. Expected two integers (card id and lane)."}
ERRORS_1X = BATTLE_ERRORS | {
    'Invalid action. Expected  "PICK [0,1,2]" or "PASS".',
    'Invalid action format. "PICK" argument should be 0, 1 or 2.',
    'Invalid action format. "CHOOSE" argument should be valid card\'s base id [...].',
    "Invalid action name. Should be SUMMON, ATTACK, or USE.",
}
ERRORS = {
    "1.5": BATTLE_ERRORS
    | TWO_LANES
    | {
        "didn't choose correct number of cards!",
        'Invalid "CHOOSE" argument. Expected integer (card base id).',
        "Invalid action argument. Card can be chosen at most 2 times.",
        'Invalid action format. "CHOOSE" argument should be valid card\'s base id.',
        'Invalid action. Expected  "CHOOSE id" or "PASS".',
        "Invalid action name. Should be SUMMON, ATTACK,  USE or PASS.",
    },
    "1.2": ERRORS_1X | TWO_LANES,
    "1.0": ERRORS_1X | {"Invalid SUMMON argument. Expected integer (card id)."},
}

ITEMS = ("green item", "red item", "blue item")

EVERYWHERE = {
    "13 mana",
    "bonus mana lost, maximum +0",
    "bonus mana lost, maximum -1",
    "damage from empty deck",
    "damage from turn limit",
    "damage from turn limit with cards left",
    "damage from turn limit with a full hand",
    "all draws wasted",
    "some draws wasted",
    "several cards drawn",
    "many cards drawn",
    "full board",
    "player 0 wins",
    "player 1 wins",
    "wins by own action",
    "dies by own action",
    "both die",
    "asked after dying from a draw",
    "line: timeout",
    "line: blank",
    "line: PASS only",
    "line: PASS skipped",
    "line: illegal action dropped",
    "line: illegal and legal actions",
    "line: comment",
    "line: empty part",
    "line: leading zero",
    "line: plus sign",
    "choice: timeout",
    "choice: PASS",
    "choice: PASS with text",
    "choice: CHOOSE",
    "choice: CHOOSE with text",
    "choice: PICK",
    "fight against attack 0",
    "fight with attack 0",
    "green item wakes a creature",
    "green item with Charge on a creature that has attacked",
    "red item removes Ward",
    "red item is stopped by Ward",
    "red item cuts attack at 0",
    "red item kills",
    "blue item kills",
    "blue item is stopped by Ward",
    "blue item of area target on the player",
    *(f"{item} of area target on a creature" for item in ITEMS),
    *(f"attack on a player with {ability}" for ability in "BCDGLW"),
    *(f"attack on a creature with {ability}" for ability in "BCDGLW"),
    *(f"attack on a creature that has {ability}" for ability in "BCDGLW"),
    *(
        f"fight, attacker and defender survive: {[a, d]}"
        for a in (False, True)
        for d in (False, True)
    ),
}
RUNES = {
    "own runes lost: 1",
    "enemy runes lost: 1",
    "enemy runes lost: 2",
    "enemy runes lost: 3",
    "own health exactly at a rune",
    "enemy health exactly at a rune",
}
FEATURES = {
    "1.5": EVERYWHERE
    | {
        *(f"{item} of area {area} on a creature" for item in ITEMS for area in ("lane1", "lane2")),
        *(f"blue item of area {area} on the player" for area in ("lane1", "lane2")),
        *(f"creature of area {area} with a copy" for area in ("lane1", "lane2")),
        *(f"creature of area {area} without room for its copy" for area in ("lane1", "lane2")),
        *(
            f"{kind} changes {what}"
            for kind in ("creature", *ITEMS)
            for what in (
                "own health down",
                "own health up",
                "opponent's health down",
                "card draw up",
            )
        ),
        *(f"{kind} changes opponent's health up" for kind in ("creature", *ITEMS)),
        "green item kills",
        "green item cuts attack at 0",
        "green item is stopped by Ward",
        "green item removes Ward",
        "blue item cuts attack at 0",
        "blue item removes Ward",
    },
    "1.2": EVERYWHERE | RUNES,
    "1.0": (EVERYWHERE | RUNES) - {"line: timeout"},  # no golden game of 1.0 has one
}


@pytest.fixture(params=RULE_SETS, scope="module")
def rules(request):
    return request.param


@pytest.fixture(scope="module")
def games(rules):
    return [json.loads(line) for line in golden_lines(subset_path(rules))]


@pytest.fixture(scope="module")
def shown(games):
    return {feature for game in games for feature in features(game)}


def test_number_of_games(rules, games):
    assert sum(bool(game["turns"]) for game in games) >= BATTLES[rules]
    assert len({game["seed"] for game in games}) == len(games)
    assert {game["rules"] for game in games} == {rules}


def test_every_tag(rules, games):
    tags = [game["tag"] for game in games]
    assert set(tags) == TAGS[rules]
    assert min(map(tags.count, TAGS[rules])) >= OF_EACH_TAG


def test_every_error_by_either_player(rules, shown):
    errors = {feature.split(": ", 1)[1] for feature in shown if feature.startswith("error of")}
    assert errors == ERRORS[rules]
    # 1.2 and 1.0 time out once or twice in all their golden games.
    both = ERRORS[rules] if rules == "1.5" else ERRORS[rules] - {"timeout!"}
    for message in both:
        assert f"error of player 1: {message}" in shown, message


def test_every_feature(rules, shown):
    assert FEATURES[rules] <= shown


def test_subset_is_verbatim(rules):
    full = full_path(rules)
    if full is None:
        pytest.skip("LOCMSIM_REFERENCE is not set")
    assert set(golden_lines(subset_path(rules))) <= set(golden_lines(full))


def test_files_are_reproducible(rules):
    """The gzip header has no time stamp and no file name, so that equal games give equal files."""
    header = subset_path(rules).read_bytes()[:10]
    assert header[:4] == b"\x1f\x8b\x08\x00"
    assert header[4:8] == bytes(4)
    assert gzip.decompress(subset_path(rules).read_bytes()).endswith(b"}\n")


def test_data_stays_small():
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 1_000_000
