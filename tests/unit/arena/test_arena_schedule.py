"""The games of a tournament: pairings, seats and seeds follow from the game's number."""

import json
import pickle
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from helpers import raises

from locmsim.arena import LocmGame, Player, Settings, parse_player, parse_seeds
from locmsim.arena.game_worker import new_match
from locmsim.arena.schedule import checked
from locmsim.arena.seeds import Seeds
from locmsim.support.seeds import agent_seed


def settings(players: int = 2, **fields: Any) -> Settings:
    named = tuple(Player(f"p{i}", "random", False) for i in range(players))
    game = LocmGame(**{key: fields.pop(key) for key in ("rules", "ids") if key in fields})
    return checked(Settings(named, game, **fields))


def test_mirrored_pairs() -> None:
    """Both games of a pair have the same cards and shuffles, and swapped seats."""
    two = settings(seed=7)
    for number in range(1, 9, 2):
        first, second = two.fixture(number), two.fixture(number + 1)
        assert (first.players, second.players) == ((0, 1), (1, 0))
        assert first.seed == second.seed
        assert new_match(two, first).params == new_match(two, second).params
    assert len({two.fixture(number).seed for number in range(1, 101)}) == 50
    assert two.fixture(1) != settings(seed=8).fixture(1)


@pytest.mark.parametrize("mode", ["round-robin", "gauntlet"])
@pytest.mark.parametrize("mirror", [True, False])
def test_every_pairing_in_every_round(mode: str, mirror: bool) -> None:
    many = settings(5, mode=mode, mirror=mirror, seed=3, games=8)
    pairs = 10 if mode == "round-robin" else 4
    total = many.count
    assert total == 8 * pairs
    games = [many.fixture(number) for number in range(1, total + 1)]
    assert [game.number for game in games] == list(range(1, total + 1))
    met = Counter(frozenset(game.players) for game in games)
    assert set(met.values()) == {8}
    assert len(met) == pairs
    if mode == "gauntlet":
        assert all(0 in players for players in met)
    # Each player has each seat equally often against every other player.
    assert set(Counter(game.players for game in games).values()) == {4}
    # All pairings of a round share a seed, which differs from those of other rounds.
    rounds = [games[i : i + total // (4 if mirror else 8)] for i in range(0, total, total // 8)]
    assert all(len({game.seed for game in r[: pairs * (1 + mirror)]}) == 1 for r in rounds[::2])
    assert len({game.seed for game in games}) == (4 if mirror else 8)


def test_shared_card_sets() -> None:
    three = settings(seed=1, pairs_per_set=3)
    games = [three.fixture(number) for number in range(1, 19)]
    card_seeds = [game.card_seed for game in games]
    assert [card_seeds[i] for i in (0, 6, 12)] == list(dict.fromkeys(card_seeds))
    assert len({game.seed for game in games}) == 9
    first, other = new_match(three, games[0]), new_match(three, games[2])
    assert first.cards == other.cards
    assert first.params["shufflePlayer0Seed"] != other.params["shufflePlayer0Seed"]
    assert new_match(three, games[6]).cards != first.cards


def test_given_seeds() -> None:
    given = settings(seeds=(5, -7))
    assert [given.fixture(number).seed for number in range(1, 5)] == [5, 5, -7, -7]
    assert given.count == 4
    assert settings(seeds=(5, -7), games=2).count == 2
    assert (settings(3, seeds=(1, 2, 3)).count, settings().count) == (18, 200)
    assert settings(mirror=False, games=3).count == 3
    raises(ValueError, "3 seeds allow at most 6, got 8", settings, seeds=(5, -7, 9), games=8)


def test_agents_have_seeds_of_their_own() -> None:
    """They follow from the match's seed and the seat, whatever else the tournament is."""
    one = settings(seed=1)
    games = [one.fixture(number) for number in range(1, 100, 2)]
    assert len({game.agent_seed(seat) for game in games for seat in (0, 1)}) == 100
    given = settings(3, seeds=[game.seed for game in reversed(games)], seed=7)
    for number in range(1, given.count + 1):
        game = given.fixture(number)
        (same,) = [other for other in games if other.seed == game.seed]
        for seat in (0, 1):
            assert game.agent_seed(seat) == same.agent_seed(seat) == agent_seed(game.seed, seat)


def test_everything_follows_from_given_seeds() -> None:
    """Card sets too: another setting of `seed` changes nothing."""
    one, other = (settings(seeds=range(1, 9), seed=s, pairs_per_set=4) for s in (1, 2))
    games = [one.fixture(number) for number in range(1, 17)]
    assert games == [other.fixture(number) for number in range(1, 17)]
    assert len({game.card_seed for game in games}) == 2


def test_settings_as_json() -> None:
    for some in (settings(), settings(3, seeds=(1, 2), mode="gauntlet", match_limit=30.0)):
        assert Settings.from_json(json.loads(json.dumps(some.to_json()))) == some
    for bad in ({}, {"players": 7}, {**settings().to_json(), "players": [{"name": "x"}]}):
        raises(ValueError, "not the settings", Settings.from_json, bad)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"players": 1}, "players: expected at least two, got 1"),
        ({"mode": "swiss"}, "mode: expected one of round-robin, gauntlet"),
        ({"rules": "1.4"}, "unknown rules '1.4'"),
        ({"ids": "old", "rules": "1.2"}, "ids: "),
        ({"pairs_per_set": 2, "rules": "1.0"}, "pairs_per_set: rules 1.0 have a fixed card set"),
        ({"seeds": ()}, "seeds: expected at least one"),
        ({"games": 0}, "1 or more"),
        ({"games": 3}, "need an even number"),
        ({"games": 10**30}, "expected 1 to 2000000000, got"),
    ],
)
def test_impossible_settings(fields: dict[str, Any], message: str) -> None:
    raises(ValueError, message, settings, **fields)


@pytest.mark.parametrize("names", [("a", "a"), ("", "b"), ("a\n", "b")])
def test_impossible_names(names: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="players: "):
        checked(Settings(tuple(Player(name, "random", False) for name in names), LocmGame()))


@pytest.mark.parametrize("mode", ["round-robin", "gauntlet"])
@pytest.mark.parametrize("players", [2, 3, 7, 40])
def test_pairings_by_number(players: int, mode: str) -> None:
    some = settings(players, mode=mode)
    expected = [
        pair for pair in combinations(range(players), 2) if mode != "gauntlet" or not pair[0]
    ]
    assert some.pairings == expected
    assert some.pairing_count == len(expected)


def test_games_of_many_players_are_found_without_listing_pairings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = settings(300)
    monkeypatch.setattr(Settings, "pairings", property(lambda self: pytest.fail("listed")))
    assert many.fixture(89_700).players == (299, 298)
    assert many.fixture(89_701).players == (0, 1)


def test_parse_seeds() -> None:
    assert [*parse_seeds("5")] == [5]
    seeds = parse_seeds("5, -7,10..12,3..3")
    assert [*seeds] == [5, -7, 10, 11, 12, 3]
    assert [seeds[i] for i in range(-6, 6)] == [*seeds, *seeds]
    assert (seeds[2:4], len(seeds)) == ((10, 11), 6)
    assert parse_seeds(str(seeds)) == seeds == Seeds([5, -7, 10, 11, 12, 3])
    assert parse_seeds("1,2,3..5,6") == Seeds(range(1, 7))
    with pytest.raises(IndexError):
        seeds[6]
    for bad, message in (
        *((bad, ".*expected") for bad in ("", "5,", "x", "1..", "3..1", "1-5")),
        ("7,7,7,7", "seeds: 7 is given twice"),
        ("1..10,20,8..9", "seeds: 8 is given twice"),
        ("1..99999999999", "seeds: expected at most 1000000000, got 99999999999"),
        (f"1..{10**30}", "seeds: expected at most 1000000000, got 1"),
        ("9223372036854775808", "seeds: expected signed 64-bit integers, got 92"),
    ):
        raises(ValueError, f"^{message}", parse_seeds, bad)


def test_a_long_range_of_seeds_takes_no_room() -> None:
    """Files and tasks are as small with a million seeds as with a thousand."""
    short, long = (settings(seeds=parse_seeds(f"1..{last}")) for last in (1000, 1_000_000))
    assert len(json.dumps(long.to_json())) < len(json.dumps(short.to_json())) + 50
    assert long.fixture(2_000_000).seed == 1_000_000


def test_a_task_has_its_games_and_players_only() -> None:
    """Neither seeds nor players of other games go to a worker, nor what files say of players."""
    few, many = settings(2), settings(60, seeds=parse_seeds("1..1000"))
    small, large = (len(pickle.dumps(some.task([1, 2]))) for some in (few, many))
    assert large < small + 50
    task = many.task([3, 4, 120])
    assert [one.number for one in task.fixtures] == [3, 4, 120]
    assert {*task.players} == {index for one in task.fixtures for index in one.players}


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("random", Player("random", "random", False)),
        ("beam:plans=5", Player("beam:plans=5", "beam:plans=5", False)),
        ("new=beam:plans=5", Player("new", "beam:plans=5", False)),
        ("./bot --x=3", Player("./bot --x=3", "./bot --x=3", True)),
        ("v1.2=./bot --x=3", Player("v1.2", "./bot --x=3", True)),
        ("./random", Player("./random", "./random", True)),
        ("bötchen=random", Player("bötchen", "random", False)),
    ],
)
def test_parse_player(text: str, player: Player) -> None:
    assert parse_player(text) == player


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("new=beam:plans=x", "plans: expected an integer"),
        ("name=", "the command is empty"),
        ("", "the command is empty"),
        ("./bot 'open", "No closing quotation"),
    ],
)
def test_no_player(text: str, message: str) -> None:
    raises(ValueError, message, parse_player, text)
