"""The choice of cards."""

import pytest

from locmsim import Match, generate_cards
from locmsim.decks import DECK_BUILDERS, DRAFT_PICKERS, build_deck, pick


@pytest.mark.benchmark(group="decks")
class TestDecks:
    @pytest.mark.parametrize("builder", DECK_BUILDERS)
    def test_deck(self, benchmark, builder):
        assert len(benchmark(build_deck, generate_cards(1), builder)) == 30

    @pytest.mark.parametrize("rules", ["1.2", "1.0"])
    @pytest.mark.parametrize("picker", DRAFT_PICKERS)
    def test_draft(self, benchmark, rules, picker):
        """All thirty picks."""
        offers = Match(rules, seed=1).offers

        def draft():
            picked = []
            for turn, offer in enumerate(offers):
                picked.append(offer[pick(offer, picked, rules, picker, offers[:turn])])
            return picked

        assert len(benchmark(draft)) == 30
