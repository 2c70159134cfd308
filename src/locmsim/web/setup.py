"""The page *Set up*: a position by clicks, from a text, or from what a bot was sent."""

from starlette.requests import Request

from locmsim.rules.cards import cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import RULES, get_rules
from locmsim.web.endpoints import get, whole_of
from locmsim.web.site import Page, Site
from locmsim.web.views import Cards

__all__ = ["page"]


def page(site: Site) -> Page:
    """Return the page and its endpoints: the cards to put onto a board, and their badges."""

    def cards(request: Request) -> object:
        query = request.query_params
        rules = query.get("rules", "1.5")
        get_rules(rules)
        seed = whole_of(query, "seed", 1, text=True)
        shown = cards_1x() if RULES[rules].draft else generate_cards(seed)
        registry = Cards(shown)
        keys = [registry.key(card) for card in shown]
        return {"rules": rules, "lanes": RULES[rules].lanes, "keys": keys, **registry.to_json()}

    def badges(request: Request) -> object:
        return {"badges": Cards().to_json()["badges"]}

    routes = [get("/api/setup/cards", cards), get("/api/setup/badges", badges)]
    return Page("setup", "Set up", routes, address="/setup")
