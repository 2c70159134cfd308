"""Draws the figures of docs/explanation: ``python tools/figures.py``, in about a minute.

Everything in them is counted, computed or listed here, with fixed seeds; the SVG needs no other
package.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from locmsim import Match, State, generate_cards, play_match
from locmsim.agents import make_agent
from locmsim.decks import build_deck
from locmsim.decks.value import default_value
from locmsim.game.positions import random_game, start_position
from locmsim.search import Belief

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 28, 48
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")

Points = Sequence[tuple[float, float]]


def svg(parts: Sequence[str], title: str) -> str:
    """Return a picture on white, so that it is readable on dark pages too."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
            f' font-family="sans-serif" font-size="12" fill="#333">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def chart(
    title: str,
    across: str,
    up: str,
    lines: dict[str, Points],
    *,
    most: float,
    ticks: Sequence[float],
    logarithmic: bool = False,
) -> str:
    """Draw lines over whole numbers, each with its name at its end."""
    xs = sorted({x for points in lines.values() for x, _ in points})

    def at(x: float, y: float) -> tuple[float, float]:
        part = np.log10(max(y, 1)) / np.log10(most) if logarithmic else y / most
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return LEFT + width * (x - xs[0]) / (xs[-1] - xs[0]), HEIGHT - BOTTOM - height * part

    parts = [text(LEFT, 18, up, 'font-weight="bold"')]
    for y in ticks:
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at(0, y)[1]:.1f}" y2="{at(0, y)[1]:.1f}"'
            ' stroke="#ddd"/>'
        )
        parts.append(text(LEFT - 8, at(0, y)[1] + 4, f"{y:,g}", 'text-anchor="end"'))
    parts += [text(at(x, 0)[0], HEIGHT - BOTTOM + 18, f"{x:g}", 'text-anchor="middle"') for x in xs]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, 'text-anchor="middle"'))
    for (name, points), colour in zip(lines.items(), COLOURS, strict=False):
        path = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in points:
            cx, cy = at(x, y)
            parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3" fill="{colour}"/>')
        cx, cy = at(*points[-1])
        parts.append(text(cx + 8, cy + 4, name, f'fill="{colour}"'))
    return svg(parts, title)


# ------------------------------------------------------------------------------------- the search


def orders(positions: int = 40, depth: int = 6) -> dict[str, Points]:
    """Return the mean numbers of action sequences of a turn and of the positions they lead to."""
    sequences, different = np.zeros(depth + 1), np.zeros(depth + 1)
    found = 0
    seed = 0
    while found < positions:
        seed += 1
        for state, _ in random_game(start_position(seed), seed):
            if state.turn == 12 and len(state.legal_actions()) > 8:
                found += 1
                for i, (many, few) in enumerate(turn_counts(state, depth)):
                    sequences[i] += many
                    different[i] += few
                break
    means = {"sequences": sequences / positions, "different positions": different / positions}
    return {name: list(enumerate(numbers.tolist())) for name, numbers in means.items()}


def turn_counts(state: State, depth: int) -> list[tuple[int, int]]:
    """Count sequences and positions after 0, 1, ... actions without PASS."""
    level: Counter[bytes] = Counter({state.to_bytes(): 1})
    counts = [(1, 1)]
    for _ in range(depth):
        below: Counter[bytes] = Counter()
        kept: dict[bytes, bytes] = {}
        for data, ways in level.items():
            here = State.from_bytes(data)
            for action in here.legal_actions():
                if action:
                    child = here.child(action)
                    key = child.key()
                    below[kept.setdefault(key, child.to_bytes())] += ways
        level = below
        counts.append((sum(level.values()), len(level)))
    return counts


def search() -> str:
    """Draw why searches compare positions and not sequences."""
    return chart(
        "Sequences and positions",
        "actions of the turn",
        "rules 1.5, a turn in the middle of a game: mean of 40 positions",
        orders(),
        most=1e5,
        ticks=(1, 10, 100, 1000, 10_000, 100_000),
        logarithmic=True,
    )


# ------------------------------------------------------------------------------------- the belief


def guesses(matches: int = 40, worlds: int = 10) -> dict[str, Points]:
    """Return the percentage of unseen cards that a sampled world has right, by turn."""
    sums: dict[str, dict[int, list[float]]] = {"by the score": {}, "any card": {}}
    equal = {"1.5": lambda card: 0.0}
    for seed in range(1, matches + 1):
        match = Match(seed=seed)
        agents = make_agent("greedy"), make_agent("greedy")
        beliefs = {"by the score": Belief(), "any card": Belief(equal)}
        for player, agent in enumerate(agents):
            agent.reset(seed + player)

        def note(
            match: Match, player: int, line: str, beliefs: dict[str, Belief] = beliefs
        ) -> None:
            if player == 1:
                return
            for name, belief in beliefs.items():
                belief.see(match.observation(0))
                if match.phase == "choice":
                    belief.chose(int(part.split()[1]) for part in line.split(";"))
                elif match.turn <= 16:
                    share = np.mean([right(belief.sample(i), match) for i in range(worlds)])
                    sums[name].setdefault(match.turn // 2 + 1, []).append(float(share))

        play_match(match, agents, note)
    return {
        name: [(turn, 100 * float(np.mean(shares))) for turn, shares in sorted(by_turn.items())]
        for name, by_turn in sums.items()
    }


def right(world: State, match: Match) -> float:
    """Return the share of the opponent's hidden cards that a world has too."""
    cards = [
        Counter(held.card.base_id for held in (*state.players[1].hand, *state.players[1].deck))
        for state in (world, match.state)
    ]
    return (cards[0] & cards[1]).total() / max(1, cards[1].total())


def belief() -> str:
    """Draw how much a belief knows about cards that were never shown."""
    return chart(
        "What a belief guesses",
        "own turn",
        "% of the opponent's hidden cards that a sampled world has right",
        guesses(),
        most=100,
        ticks=(0, 20, 40, 60, 80, 100),
    )


# -------------------------------------------------------------------------------------- the decks


def deck_values(sets: int = 30) -> dict[str, list[float]]:
    """Return the values of the builders' decks for the same offers, minus `default`'s."""
    value = default_value()
    names = ("random", "cheapest", "bodies", "classic", "area", "score")
    found: dict[str, list[float]] = {name: [] for name in names}
    for seed in range(1, sets + 1):
        cards = generate_cards(seed)
        by_id = {card.base_id: card for card in cards}

        def worth(deck: Sequence[int], by_id: dict = by_id) -> float:
            return value([by_id[i] for i in deck])

        best = worth(build_deck(cards, "default"))
        for name in names:
            if name == "random":
                copies = sorted(by_id) * 2
                deck = np.random.default_rng(seed).permutation(copies)[:30].tolist()
            else:
                deck = build_deck(cards, name)
            found[name].append(worth(deck) - best)
    return found


def decks() -> str:
    """Draw a dot for each offer and builder."""
    found = deck_values()
    least = min(min(values) for values in found.values())
    low = float(np.floor(least / 2) * 2)

    def at(x: float) -> float:
        return 80 + (WIDTH - 100) * (x - low) / -low

    parts = [
        text(20, 18, "Value of decks, less that of default (log-odds of winning)",
            'font-weight="bold"'),
    ]  # fmt: skip
    for tick in np.arange(low, 1, 2):
        parts.append(
            f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="30" y2="270" stroke="#ddd"/>'
        )
        parts.append(text(at(tick), 288, f"{tick:g}", 'text-anchor="middle"'))
    for i, (name, values) in enumerate(found.items()):
        y = 50 + 40 * i
        parts.append(text(70, y + 4, name, 'text-anchor="end"'))
        parts += [
            f'<circle cx="{at(value):.1f}" cy="{y}" r="4" fill="{COLOURS[0]}" fill-opacity="0.35"/>'
            for value in values
        ]
        mean = at(float(np.mean(values)))
        parts.append(
            f'<line x1="{mean:.1f}" x2="{mean:.1f}" y1="{y - 12}" y2="{y + 12}"'
            f' stroke="{COLOURS[1]}" stroke-width="2"/>'
        )
    parts.append(text(WIDTH / 2, 310, "a dot for each of 30 offers; a line for their mean",
        'text-anchor="middle"'))  # fmt: skip
    return svg(parts, "Value of decks")


FIGURES: dict[str, Callable[[], str]] = {
    "search": search,
    "belief": belief,
    "decks": decks,
}


def main() -> None:
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw())


if __name__ == "__main__":
    main()
