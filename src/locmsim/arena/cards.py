"""What became of each card in many games, and how often its player won."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from locmsim.arena.game_worker import new_match
from locmsim.arena.records import Record
from locmsim.arena.report import grid
from locmsim.arena.schedule import Settings
from locmsim.options.checks import OptionError
from locmsim.stats import Interval, PairCounts, score_interval

#: What can become of a card, from the first case to the last.
CASES = ("offered", "chosen", "in deck", "drawn", "played")


@dataclass(slots=True)
class CardCase:
    """The games in which something became of a card, each counted once for each player.

    Parameters
    ----------
    games, won : int
        The games with at least one such card, and those that its player won.
    copies : int
        The number of cards in all of them.
    """

    games: int = 0
    won: int = 0
    copies: int = 0

    def add(self, copies: int, won: bool) -> None:
        """Count a game.

        Parameters
        ----------
        copies : int
            The number of cards.
        won : bool
            Whether their player won.
        """
        self.games += 1
        self.won += won
        self.copies += copies

    @property
    def share(self) -> float | None:
        """The share of games won; None without games."""
        return self.won / self.games if self.games else None

    @property
    def interval(self) -> Interval:
        """Wilson's interval of the share at 95 %."""
        return score_interval(PairCounts(lost=self.games - self.won, won=self.won))


@dataclass(slots=True)
class CardRow:
    """A card of rules 1.x, or a kind of cards of 1.5, whose cards are new in each match.

    Parameters
    ----------
    group : str
        "card", or what the kind is about: "cost", "type", "keyword", "area" or "draw".
    name : str
        The card's base id and name, or the kind, such as "cost 3" or "guard".
    cases : dict
        A `CardCase` for each of "offered", "chosen", "in deck", "drawn" and "played".
    """

    group: str
    name: str
    cases: dict[str, CardCase] = field(default_factory=lambda: {case: CardCase() for case in CASES})

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain dicts, lists, numbers and strings.

        Returns
        -------
        dict
            ``group``, ``name`` and ``cases``, each with its attributes; ``share`` and ``interval``
            are None without games.
        """
        cases = {
            case: {
                **asdict(found),
                "share": found.share,
                "interval": [*found.interval] if found.games else None,
            }
            for case, found in self.cases.items()
        }
        return {"group": self.group, "name": self.name, "cases": cases}


def card_rows(
    settings: Settings, records: Iterable[Record], player: int | None = None
) -> list[CardRow]:
    """Return what became of each card.

    The game says it by two optional members: ``cards_of(match, answers)`` plays the answers and
    returns for each player the cards of each case, counted by group and name of their row, and
    ``card_groups`` has the groups in order.

    Parameters
    ----------
    settings : Settings
        The tournament.
    records : iterable of Record
        Its games.
    player : int, optional
        The index of the player whose cards count; by default those of both players of each game.

    Returns
    -------
    list of CardRow
        By group, and in a group by the first number in the name, then by name.

    Raises
    ------
    ValueError
        The game has no such members, or a game cannot be replayed.
    """
    game = settings.game
    cards_of = getattr(game, "cards_of", None)
    if cards_of is None:
        raise OptionError("cards", f"{game.title} does not say what became of its cards")
    rows: dict[tuple[str, str], CardRow] = {}
    for record in records:
        answers = [(answer.seat, answer.line) for answer in record.answers]
        became = cards_of(new_match(settings, record.fixture), answers)
        for seat, index in enumerate(record.fixture.players):
            if player not in (None, index):
                continue
            won = record.outcome.winner == seat
            for case, found in became[seat].items():
                for key, copies in found.items():
                    if key not in rows:
                        rows[key] = CardRow(*key)
                    rows[key].cases[case].add(copies, won)
    groups: Sequence[str] = game.card_groups  # type: ignore[attr-defined]
    return sorted(rows.values(), key=lambda row: _place(row, groups))


def _place(row: CardRow, groups: Sequence[str]) -> tuple[int, int, str]:
    """Return where a row stands in the table."""
    numbers = [int(word) for word in row.name.split(" ") if word.isdecimal()]
    return groups.index(row.group), numbers[0] if numbers else 0, row.name


def cards_table(rows: Sequence[CardRow], width: int | None = None) -> str:
    """Return the rows as a table.

    ``copies`` and the column beside it are the cards that were offered and chosen; then, for each
    case, games with such a card, and the percentage of them that its player won.
    """
    header = ["card", "copies", "chosen"]
    for case in CASES:
        header += [case, "win %"]
    lines = []
    for row in rows:
        offered, chosen = row.cases["offered"].copies, row.cases["chosen"].copies
        line = [row.name, str(offered), str(chosen)]
        for case in CASES:
            found = row.cases[case]
            line += [str(found.games), *_percent(found)]
        lines.append(line)
    return grid(header, lines, width) + "\n"


def _percent(case: CardCase) -> Iterator[str]:
    low, high = case.interval
    share = case.share
    yield "-" if share is None else f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def cards_csv(rows: Iterable[CardRow]) -> str:
    """Return a CSV text with a header and a line for each row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [case.replace(" ", "_") for case in CASES]
    columns = ("copies", "games", "won", "share", "low", "high")
    writer.writerow(["group", "card", *(f"{name}_{of}" for name in names for of in columns)])
    for row in rows:
        line: list[object] = [row.group, row.name]
        for case in row.cases.values():
            shares = (None,) * 3 if case.share is None else (case.share, *case.interval)
            line += [case.copies, case.games, case.won]
            line += [None if share is None else f"{share:.4f}" for share in shares]
        writer.writerow(line)
    return text.getvalue()
