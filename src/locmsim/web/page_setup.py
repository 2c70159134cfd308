"""The page *Set up*: a position by clicks, from a text, or from what a bot was sent."""

from typing import Annotated

from locmsim.options.declarations import Declared, Option, declaration
from locmsim.rules.cards import cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import RULES
from locmsim.web.endpoints import Query, get
from locmsim.web.forms import form_of, values_of
from locmsim.web.match_data import Cards
from locmsim.web.site import Page, Site

#: What says which cards there are, and the numbers of a player.
_CARDS = (
    declaration("rules", Rules, "1.5"),
    declaration("seed", Annotated[int, Option("card seed", -(1 << 63), (1 << 63) - 1)], 1),
)
_PLAYERS = (
    Declared("health", int, 30, Option("health", 1, 99)),
    Declared("mana", int, 8, Option("mana", 0, 12)),
)


def page(site: Site) -> Page:
    """Return the page and its endpoints: the cards to put onto a board, and their badges."""

    def cards(query: Query) -> object:
        rules, seed = values_of(query, _CARDS).values()
        cards = cards_1x() if RULES[rules].draft else generate_cards(seed)
        registry = Cards(cards)
        keys = [registry.key(card) for card in cards]
        return {"rules": rules, "lanes": RULES[rules].lanes, "keys": keys, **registry.to_json()}

    def badges(query: Query) -> object:
        return {"badges": Cards().to_json()["badges"]}

    def form(query: Query) -> object:
        return {"cards": form_of(_CARDS), "players": form_of(_PLAYERS)}

    routes = [get("/api/setup/cards", cards), get("/api/setup/badges", badges)]
    routes.append(get("/api/setup/form", form))
    return Page("setup", "Set up", routes, address="/setup")
