"""Features and scores of cards, deck builders, draft pickers and the value of decks."""

from locmsim.decks.builders import (
    DECK_BUILDERS,
    DeckBuilder,
    GreedyBuilder,
    SwapBuilder,
    build_deck,
    deck_builder,
    deck_line,
)
from locmsim.decks.drafts import (
    DRAFT_PICKERS,
    CurvePicker,
    DraftPicker,
    ExpectedPicker,
    HistoryPicker,
    draft_picker,
    pick,
)
from locmsim.decks.features import CARD_TERMS, card_terms
from locmsim.decks.scores import (
    CardScore,
    TableScore,
    WeightedScore,
    card_score,
    score_of,
    static_order,
)

__all__ = [
    "CARD_TERMS",
    "DECK_BUILDERS",
    "DRAFT_PICKERS",
    "CardScore",
    "CurvePicker",
    "DeckBuilder",
    "DraftPicker",
    "ExpectedPicker",
    "GreedyBuilder",
    "HistoryPicker",
    "SwapBuilder",
    "TableScore",
    "WeightedScore",
    "build_deck",
    "card_score",
    "card_terms",
    "deck_builder",
    "deck_line",
    "draft_picker",
    "pick",
    "score_of",
    "static_order",
]
