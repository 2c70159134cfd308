"""How strong the bots are, over 400 matches on 200 decks from both seats."""

from locmsim.vestrock.bots import play_series

DECKS = 200


def test_rule_against_random():
    series = play_series("rule", "random", DECKS, seed=5000)
    assert series.wins >= 0.95 * series.matches


def test_search_against_rule():
    series = play_series("search:nodes=4000", "rule", DECKS, seed=5000)
    assert series.wins >= 0.85 * series.matches


def test_search_uses_its_time():
    """The same search with a tenth of the positions is weaker."""
    series = play_series("search:nodes=6000", "search:nodes=600", DECKS // 2, seed=5000)
    assert series.wins > 0.55 * series.matches
