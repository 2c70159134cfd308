"""What all pages share: the address's token, the matches there are, and how a page is declared."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from starlette.routing import BaseRoute

from locmsim.web.library import Library

__all__ = ["Page", "Site"]


@dataclass(frozen=True)
class Page:
    """A page: what its module gives to `locmsim.web.app.create_app`.

    Attributes
    ----------
    name : str
        Its address is ``/NAME`` and its script ``static/NAME.js``, an ES module.
    title : str
        What the links to it say.
    routes : sequence of route
        Its endpoints, made by `locmsim.web.endpoints`. Their addresses begin with ``/api/NAME``;
        these need the token.
    """

    name: str
    title: str
    routes: Sequence[BaseRoute] = ()


@dataclass
class Site:
    """What the server of one call of the tool knows.

    Attributes
    ----------
    library : Library
        The matches that can be watched and analysed.
    bots : sequence of str
        Opponents named on the command line: descriptions of agents and commands, each with an
        optional ``name=`` before it.
    timeout_scale : float
        Multiplies the time limits of opponents, 0 for none.
    folder : str
        Where games are saved; empty for a temporary folder that is removed at the end.
    hint_ms, hint_nodes : float, int
        Time in ms and positions of the search for a hint, 0 for no such bound.
    token : str
        What the address needs for everything but the empty pages.
    """

    library: Library
    bots: Sequence[str] = ()
    timeout_scale: float = 5.0
    folder: str = ""
    hint_ms: float = 500.0
    hint_nodes: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    #: What to do at the end, by the pages.
    closing: list[Callable[[], None]] = field(default_factory=list)

    def close(self) -> None:
        """End what the pages have started."""
        while self.closing:
            self.closing.pop()()
