"""What became of cards over many games, against a slow count of what each game shows."""

import csv
import io
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from helpers import RULE_SETS, main, output_of, raises, tournament

from locmsim import Card, CardType
from locmsim.arena import Arena
from locmsim.arena.cards import CASES
from locmsim.art import card_title

TYPES = {
    CardType.CREATURE: "creature",
    CardType.GREEN: "itemGreen",
    CardType.RED: "itemRed",
    CardType.BLUE: "itemBlue",
}
WORDS = {word[0].upper(): word for word in ("breakthrough", "charge", "drain", "guard", "ward")}
WORDS["L"] = "lethal"


def names(card: Card, rules: str) -> list[str]:
    if rules != "1.5":
        return [f"{card.base_id} {card_title(card)}"]
    words = [WORDS[letter] for letter in card.abilities.replace("-", "")]
    cost = f"cost {card.cost}" if card.cost < 8 else "cost 8 or more"
    area = ("target", "lane1", "lane2")[card.area]
    return [cost, TYPES[card.type], *(words or ["no keyword"]), area, f"draw {card.card_draw}"]


def slow_count(arena: Arena, player: int | None) -> dict[tuple[str, str], list[int]]:
    """Count by what each player was shown, turn by turn."""
    rules = arena.settings.game.rules
    found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for outcome in arena.games():
        result = arena.replay(outcome.number)
        for seat, index in enumerate(outcome.players):
            if player not in (None, index):
                continue
            cards: dict[str, list[Card]] = {case: [] for case in CASES}
            by_id: dict[int, Card] = {}
            match = result.match.root()
            for call in result.calls:
                if call.player == seat:
                    seen = match.observation(seat)
                    cards["offered"] += seen.offer if seen.phase == "choice" else []
                if match.state is not None:
                    for held in match.state.players[seat].hand:
                        by_id.setdefault(held.id, held.card)
                done = match.submit(call.player, call.answer).applied
                if call.player == seat:
                    played = [text.split() for text in done if not text.startswith("ATTACK")]
                    cards["played"] += [by_id[int(words[1])] for words in played]
                if match.state is not None:
                    for held in match.state.players[seat].hand:
                        by_id.setdefault(held.id, held.card)
            whole = {card.base_id: card for card in match.cards}
            cards["chosen"] = [whole[base] for base in match.chosen[seat]]
            cards["in deck"] = [whole[base] for _, base in match.decks[seat]]
            cards["drawn"] = [*by_id.values()]
            for case, some in cards.items():
                for name, copies in Counter(n for card in some for n in names(card, rules)).items():
                    counted = found[name, case]
                    counted[0] += 1
                    counted[1] += outcome.winner == seat
                    counted[2] += copies
    return found


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("player", [None, "second"])
def test_cards_are_counted(rules: str, player: str | None) -> None:
    players = ["first=greedy", "second=random"]
    with tournament(None, players, games=6, seed=3, rules=rules, timeout_scale=0) as arena:
        rows = arena.cards(player)
        expected = slow_count(arena, None if player is None else 1)
    found = {
        (row.name, case): [count.games, count.won, count.copies]
        for row in rows
        for case, count in row.cases.items()
        if count.games
    }
    assert found == expected
    order = [row.name for row in rows]
    if rules == "1.5":
        assert order[:2] == ["cost 0", "cost 1"]
        assert order.index("cost 8 or more") < order.index("creature") < order.index("guard")
    else:
        numbers = [int(name.split()[0]) for name in order]
        assert numbers == sorted(numbers)


def test_what_cannot_be_counted() -> None:
    with Arena(None, ["greedy", "random"], games=2, seed=3, timeout_scale=0) as arena:
        assert arena.cards() == []
        raises(ValueError, "no player is called 'x'", arena.cards, "x")
    with Arena(None, ["rule", "search:nodes=20"], game="vestrock", games=2, seed=3) as arena:
        raises(ValueError, "Vestrock does not say what became of its cards", arena.cards)


def test_command(tmp_path: Path) -> None:
    db, table = str(tmp_path / "results.db"), tmp_path / "cards.csv"
    with tournament(db, ["greedy", "random"], games=4, seed=3, timeout_scale=0) as arena:
        rows = arena.cards("random")
    out = output_of("arena", "show", db, "--cards", "--player", "random").out
    head, _, *lines = out.splitlines()
    assert head == "cards of random"
    assert lines[0].split()[:4] == ["card", "copies", "chosen", "offered"]
    assert len(lines) == 1 + len(rows)
    case = rows[0].cases["offered"]
    assert lines[1].split()[:5] == ["cost", "0", *map(str, [case.copies, lines[1].split()[3], 4])]
    # Without a name, they are the first player's: what both choose wins half of all games.
    shown = output_of("arena", "show", db, "--cards").out
    assert output_of("arena", "show", db, "--cards", "--player", "greedy").out == shown
    assert shown.startswith("cards of greedy\n")
    words = ["arena", "show", db, "--cards", "--player", "random", "--csv", str(table)]
    assert main(words) == main(words) == 0  # it may be overwritten
    (first, *_) = csv.DictReader(io.StringIO(table.read_text()))
    assert first["card"] == rows[0].name
    assert int(first["drawn_games"]) == rows[0].cases["drawn"].games
    assert float(first["offered_share"]) == pytest.approx(case.share, abs=1e-4)
    out = output_of("arena", "show", db, "--cards", "--player", "random", "--json").out
    assert json.loads(out)[0]["cases"]["offered"]["copies"] == case.copies
