"""What the decks of a match were worth, and which choices of cards cost most."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from locmsim.decks.builders import build_deck
from locmsim.decks.chances import calibration, probability_of, value_of_decks
from locmsim.decks.draft_value import DraftValue
from locmsim.decks.drafts import pick
from locmsim.decks.value import DeckValue
from locmsim.game.match import Match
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import get_rules

__all__ = ["DeckReport", "PickReport", "decks_note", "report_decks"]

#: Number of choices that are listed as the worst ones.
WORST = 5


@dataclass(frozen=True, slots=True)
class PickReport:
    """A choice of a card, and a better one.

    Attributes
    ----------
    turn : int or None
        The turn of a draft, from 0; None in rules 1.5, where all cards are chosen at once.
    picked, better : Card
        The card that was chosen, and the one that should have been.
    copies : int
        How many copies of the card should have been others, 1 or 2.
    loss : float
        What the choice gave away of the chance of winning, from 0 to 1.
    """

    turn: int | None
    picked: Card
    better: Card
    copies: int
    loss: float

    def to_json(self) -> dict[str, Any]:
        """Return the choice as plain data; cards are base ids."""
        return {
            "turn": self.turn,
            "picked": self.picked.base_id,
            "better": self.better.base_id,
            "copies": self.copies,
            "loss": self.loss,
        }


@dataclass(frozen=True, slots=True)
class DeckReport:
    """A player's deck.

    Attributes
    ----------
    player : int
        Whose deck it is.
    probability : float
        The player's chance of winning with this deck against the opponent's, from 0 to 1, if one
        agent played both (`locmsim.decks.chances.calibration`).
    with_package : float
        The same with the deck that the package would have chosen from these offers.
    package_deck : list of Card
        That deck, in the order of choice.
    worst : list of PickReport
        The choices that cost most, the worst first. In rules 1.5 they are exchanges, each with the
        ones before already made. In a draft each pick is judged by what was known then: the loss
        is that of the expected final deck.
    """

    player: int
    probability: float
    with_package: float
    package_deck: list[Card]
    worst: list[PickReport]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data; cards are base ids."""
        return {
            "player": self.player,
            "probability": self.probability,
            "with_package": self.with_package,
            "package_deck": [card.base_id for card in self.package_deck],
            "worst": [one.to_json() for one in self.worst],
        }


def decks_note(rules: str) -> str:
    """Describe to people what the chances of `report_decks` mean.

    Parameters
    ----------
    rules : str
        The rule set.

    Raises
    ------
    ValueError
        There is no such rule set.
    """
    fitted = calibration(rules)
    how = "each exchange comes after those above it"
    if get_rules(rules).draft:
        how = "each pick is judged by the offers until then"
    return (
        "the chance of winning with these two decks before a card is played, by the package's value"
        f" of decks, calibrated on {fitted.games:,} games that {fitted.pilot} played with decks of"
        f" all kinds; {how}"
    )


def report_decks(match: Match, count: int = WORST) -> tuple[DeckReport, DeckReport]:
    """Judge the decks of a match by the package's deck and draft values.

    Parameters
    ----------
    match : Match
        A match whose choice phase is over.
    count : int
        The most choices that are listed for each player.

    Returns
    -------
    tuple of DeckReport
        For both players.

    Raises
    ------
    ValueError
        The match is still in its choice phase, or has ended there.

    Examples
    --------
    >>> match = Match("1.2", seed=3)
    >>> while match.phase == "choice":
    ...     _ = match.submit(0, "PICK 0"), match.submit(1, "PICK 2")
    >>> first, second = report_decks(match)
    >>> round(first.probability + second.probability, 9), first.probability < first.with_package
    (1.0, True)
    """
    if match.state is None:
        raise ValueError("no decks: the match has not left its choice phase")
    by_id = {card.base_id: card for card in match.cards}
    decks = [[by_id[base_id] for _, base_id in deck] for deck in match.decks]
    value = value_of_decks(match.rules)
    values = [value(deck) for deck in decks]
    package = _package_deck(match)

    def report(player: int) -> DeckReport:
        theirs = values[1 - player]

        def probability(mine: float) -> float:
            return probability_of(match.rules, mine - theirs, player)

        if isinstance(value, DeckValue):
            worst = _exchanges(value, decks[player], _offered(match), probability, count)
        else:
            picked = [by_id[base_id] for base_id in match.chosen[player]]
            worst = _picks(value, _offers(match), picked, probability, count)
        return DeckReport(
            player, probability(values[player]), probability(value(package)), package, worst
        )

    return report(0), report(1)


def _offers(match: Match) -> list[list[Card]]:
    """Return the three cards of each turn of a draft."""
    return [offer for offer in match.offers if not isinstance(offer, Card)]


def _offered(match: Match) -> list[Card]:
    """Return the cards on offer in 1.5, which may be fewer than those of the match."""
    return [card for card in match.offers if isinstance(card, Card)]


def _package_deck(match: Match) -> list[Card]:
    """Return the deck that the package chooses from the offers of a match."""
    offers, picked = _offers(match), list[Card]()
    if not offers:
        offered = _offered(match)
        by_id = {card.base_id: card for card in offered}
        return [by_id[base_id] for base_id in build_deck(offered)]
    for turn, offer in enumerate(offers):
        picked.append(offer[pick(offer, picked, match.rules, earlier=offers[:turn])])
    return picked


def _exchanges(
    value: DeckValue,
    deck: Sequence[Card],
    cards: Sequence[Card],
    probability: Callable[[float], float],
    count: int,
) -> list[PickReport]:
    """Return the best exchange of a deck, the best one after that, and so on."""
    by_id = {card.base_id: card for card in cards}
    left = Counter(card.base_id for card in deck)
    before = probability(value(deck))
    found: list[PickReport] = []
    while len(found) < count:
        best = value.best_exchange([*left.elements()], cards)
        if best is None:
            break
        out, into, copies, worth = best
        left[out] -= copies
        left[into] += copies
        found.append(PickReport(None, by_id[out], by_id[into], copies, probability(worth) - before))
        before = probability(worth)
    return found


def _picks(
    value: DraftValue,
    offers: Sequence[Sequence[Card]],
    picked: Sequence[Card],
    probability: Callable[[float], float],
    count: int,
) -> list[PickReport]:
    """Return the picks of a draft after which the final deck was expected to be worth less."""
    final = value(picked)
    found = []
    for turn, (offer, card) in enumerate(zip(offers, picked, strict=True)):
        values = value.expected(offers[: turn + 1], picked[:turn])
        best = max(range(len(offer)), key=values.__getitem__)
        chosen = next(i for i, other in enumerate(offer) if other.base_id == card.base_id)
        if values[best] > values[chosen]:
            loss = probability(final + values[best] - values[chosen]) - probability(final)
            found.append(PickReport(turn, card, offer[best], 1, loss))
    return sorted(found, key=lambda one: -one.loss)[:count]
