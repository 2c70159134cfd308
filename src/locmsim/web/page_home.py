"""The first page: a position to play at once, a new match, the latest ones and what is running."""

from functools import cache

from locmsim.agents import make_agent
from locmsim.game.match import Match
from locmsim.referee.process_match import Result, play
from locmsim.web.endpoints import Query, get
from locmsim.web.match_data import PERSON
from locmsim.web.positions import Position, position_of_state, state_at_step
from locmsim.web.site import Page, Site

#: The seed of the match that the position is from, and its turn: both players can still win.
_SEED, _TURN = 38, 14


def page(site: Site) -> Page:
    """Return the page and its endpoint: a position to play at once."""

    key = ""

    def home(query: Query) -> object:
        nonlocal key
        if key not in site.positions:
            key = site.keep(_position())
        return {"position": key}

    return Page("home", "Play", [get("/api/home", home)], address="/")


@cache
def _played() -> Result[Match]:
    agents = [make_agent("osl"), make_agent("greedy")]
    return play(agents, Match(seed=_SEED), timeout_scale=0)


def _position() -> Position:
    """Return a position in the middle of a match between two simple agents."""
    result = _played()
    step = 0
    for call in result.calls:
        if call.turn is None:
            continue
        if call.turn == _TURN:
            break
        step += 1 + len(call.result.applied)
    return position_of_state(state_at_step(result, step), PERSON)
