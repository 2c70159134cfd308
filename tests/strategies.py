"""Hypothesis strategies for cards, decks, positions and answer lines, usual and extreme."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from locmsim.rules.cards import ABILITIES, Area, Card, CardType

#: Numbers at which fixed-width integers overflow.
EDGES = [
    edge + step for edge in (127, 128, 255, 256, 500) for step in (-1, 0, 1) if edge + step <= 500
]

#: A bound for values of creatures: one card and 60 items of 500 each, the maximum of `Card`.
MAX_STAT = 30_500


one_of = cache(st.one_of)  # as those with the same parts are drawn from again and again


@cache
def numbers(low: int, high: int, low_edge: int, high_edge: int) -> SearchStrategy[int]:
    """Draw from low..high mostly, else from `EDGES` or any number in low_edge..high_edge."""
    usual = st.integers(low, high)
    edges = [n for edge in EDGES for n in (edge, -edge) if low_edge <= n <= high_edge]
    if not edges:
        return usual
    return one_of(usual, usual, st.sampled_from(edges), st.integers(low_edge, high_edge))


abilities = st.lists(st.booleans(), min_size=6, max_size=6).map(
    lambda has: "".join(a if h else "-" for a, h in zip(ABILITIES, has, strict=True))
)
#: Abilities as usual: mostly one or two, with Ward and Guard more often than at random.
usual_abilities = st.one_of(
    st.just("------"),
    st.sampled_from(["-----W", "---G--", "-C----", "---G-W", "B-D-L-"]),
    abilities,
)


@st.composite
def cards(draw: DrawFn, base_id: int, *, wild: bool) -> Card:
    """Draw a card within the bounds of `Card`; without `wild`, one that a generator could make."""
    kind = draw(st.sampled_from(CardType))
    with_abilities = usual_abilities
    if kind == CardType.GREEN:  # Charge has an effect at once, so it should be frequent
        with_abilities = one_of(st.just("-C----"), usual_abilities)
    edge = 500 if wild else 3
    attack = draw(numbers(0, 6, -edge, edge))
    defense = draw(numbers(1, 6, -edge, edge))
    if kind in (CardType.RED, CardType.BLUE) and not (wild and draw(st.booleans())):
        attack, defense = -abs(attack), -abs(defense)
    effect = one_of(st.just(0), numbers(-3, 3, -edge, edge))
    return Card(
        base_id,
        kind,
        draw(one_of(st.integers(0, 3), st.integers(0, 127 if wild else 12))),
        attack,
        defense,
        draw(with_abilities),
        draw(effect),
        draw(effect),
        draw(one_of(st.just(0), st.integers(0, 3), st.integers(0, 100 if wild else 3))),
        draw(st.sampled_from(Area)),
    )


@st.composite
def card_lists(draw: DrawFn) -> list[Card]:
    """Draw a few different cards, so that decks have duplicates; at least one is a creature."""
    wild = draw(st.booleans())
    found = [draw(cards(base_id, wild=wild)) for base_id in range(draw(st.integers(2, 10)))]
    if all(card.type != CardType.CREATURE for card in found):
        found[0] = Card(0, CardType.CREATURE, 1, 2, 2)
    return found


def some_of(known: Sequence[Card], size: int) -> SearchStrategy[list[Card]]:
    """Draw `size` of the cards, by one draw of bytes because a draw per card would be slow."""
    picks = st.binary(min_size=size, max_size=size)
    return picks.map(lambda numbers: [known[number % len(known)] for number in numbers])


def decks_of(known: Sequence[Card]) -> SearchStrategy[list[Card]]:
    """Draw a deck in draw order, usually of 30 cards, sometimes of few."""
    return st.sampled_from([30, 30, 30, 8]).flatmap(lambda size: some_of(known, size))


class Position(NamedTuple):
    """The arguments of `from_snapshot`."""

    rules: str
    snapshot: dict[str, Any]
    cards: Mapping[int, Card]
    decks: Sequence[Sequence[tuple[int, int]]]


@st.composite
def positions(draw: DrawFn, rules: str) -> Position:
    """Draw any position within a turn of a game that is not over, with cards of one list."""
    known = draw(card_lists())
    turn = draw(one_of(st.integers(0, 20), st.integers(94, 110)))
    step = 2 if rules == "1.5" else 1
    ids = iter(range(0, 254, step) if rules == "1.5" else range(1, 254))
    near_the_bounds = draw(st.booleans()) and all(
        card.type != CardType.CREATURE or card.attack >= 0 for card in known
    )
    hand_sizes = one_of(st.integers(0, 8), st.just(8), st.just(0))
    deck_sizes = one_of(st.just(0), st.integers(0, 3), st.integers(0, 20))
    sizes = draw(st.tuples(st.tuples(hand_sizes, deck_sizes), st.tuples(hand_sizes, deck_sizes)))
    # All cards that are left may be items, each of which changes a creature by up to 500.
    largest = MAX_STAT - 500 * sum(map(sum, sizes)) if near_the_bounds else 300
    players: list[dict[str, Any]] = []
    decks = []
    for hand_size, deck_size in sizes:
        entries = [
            (next(ids), card.base_id) for card in draw(some_of(known, hand_size + deck_size))
        ]
        # Can attack, has attacked: never both, and neither once a player's turn is over.
        flags = [(1, 0), (0, 0), (0, 1)] if len(players) == turn % 2 else [(0, 0)]
        board = draw_board(draw, rules, known, ids, largest, flags)
        lost = draw(one_of(st.integers(0, 9), st.integers(0, 2000))) if rules == "1.5" else 0
        players.append(
            {
                "hp": draw(one_of(st.integers(1, 35), st.integers(1, 5000))),
                "maxMana": draw(st.integers(0, 13)),
                "mana": draw(one_of(st.integers(0, 13), st.just(12))),
                "bonus": draw(st.integers(0, 1)),
                "draw": lost // 5 + draw(one_of(st.integers(0, 3), st.integers(0, 300))),
                "shown": draw(st.integers(0, 9)),
                **(
                    {"lost": lost}
                    if rules == "1.5"
                    else {"runes": sorted(draw(st.sets(st.sampled_from([5, 10, 15, 20, 25]))))}
                ),
                "hand": [card_id for card_id, _ in entries[:hand_size]],
                "deck": deck_size,
                "board": board,
            }
        )
        decks.append(entries)
    snapshot = {"turn": turn, "cur": turn % 2, "winner": -1, "p": players}
    return Position(rules, snapshot, {card.base_id: card for card in known}, decks)


def draw_board(
    draw: DrawFn,
    rules: str,
    known: list[Card],
    ids: Any,
    largest: int,
    flags: list[tuple[int, int]],
) -> list[list[Any]]:
    """Draw creatures in some order, with full lanes more often than at random."""
    creatures = [card for card in known if card.type == CardType.CREATURE]
    lanes = 1 if rules == "1.0" else 2
    size = 6 // lanes
    places = [
        lane
        for lane in range(lanes)
        for _ in range(draw(one_of(st.integers(0, size), st.just(size))))
    ]
    board = []
    large = st.integers(max(1, largest - 500), largest)
    for lane in draw(st.permutations(places)):
        card = draw(st.sampled_from(creatures))
        copied = rules == "1.5" and draw(st.booleans())
        board.append(
            [
                next(ids) + copied,
                card.base_id,
                draw(one_of(st.just(max(0, card.attack)), st.integers(0, 9), large)),
                draw(one_of(st.just(max(1, card.defense)), st.integers(1, 9), large)),
                draw(usual_abilities),
                lane,
                *draw(st.sampled_from(flags)),
            ]
        )
    return board


#: Parts of an answer line that are malformed or look as if they were.
ODD_PARTS = [
    "",
    "  ",
    "\t",
    "PASS",
    " PASS and more",
    "pass",
    "PASSED",
    "SUMMON",
    "SUMMON ",
    "SUMMON 1",
    "SUMMON 1 ",
    "SUMMON  1 0",
    "SUMMON\t1 0",
    "SUMMON\t 1 0",
    "SUMMON +1 00",
    "SUMMON 1 0 with a comment 3",
    "SUMMON 1\t0",
    "SUMMON 1 5",
    "SUMMON 1 0x",
    "SUMMON 1 comment",
    "ATTACK -1 -1",
    "ATTACK 1",
    "ATTACK 1  2",
    "ATTACK 1 2 ",
    "ATTACK 1 2\t",
    "ATTACK 2147483647 -2147483648",
    "ATTACK 2147483648 1",
    "ATTACK 1 -2147483649",
    "ATTACK 1 +",
    "ATTACK 1 -",
    "ATTACK 1 --1",
    "ATTACK 1 1_0",
    "ATTACK 1 \u0661",
    "ATTACK 1 \U0001d7cf",
    "ATTACK 1 \u00b2",
    "ATTACK 1\u00a0-1",
    "\u00a0PASS",
    "USE -0 -01",
    "USE 1 -1 ; USE 1 -1",
    "USE 5x -1",
    "USE 3.0 -1",
    "USE 1 -1\x00",
    "USE",
    "CHOOSE 3",
]


def answer_lines(legal: Sequence[str]) -> SearchStrategy[str]:
    """Draw an answer line of legal actions, other actions, and odd or malformed parts."""
    ids = st.one_of(st.integers(-2, 130), st.integers(0, 20))
    some_action = st.builds(
        "{} {} {}".format, st.sampled_from(["SUMMON", "ATTACK", "USE"]), ids, st.integers(-1, 130)
    )
    good = st.sampled_from(list(legal))
    commented = st.builds("{} {}".format, good, st.text(max_size=5))
    sound = st.lists(st.one_of(good, good, commented, some_action), max_size=12)
    odd = st.one_of(st.sampled_from(ODD_PARTS), st.text(max_size=12))
    broken = st.lists(st.one_of(good, some_action, odd), max_size=4)
    return st.builds(
        lambda parts, mark: mark.join(parts),
        st.one_of(sound, sound, broken),
        st.sampled_from([";", " ; ", ";;"]),
    )
