"""A game whose module is imported quickly, as the processes that look at its players do."""

from dataclasses import dataclass
from typing import Any, ClassVar

from locmsim.contract import View
from vestrock.game import VestrockGame


@dataclass(frozen=True)
class Hostile(VestrockGame):
    """A game that tries to put more than a picture on the page."""

    title: ClassVar[str] = "<b>Hostile"

    def view(self, match: Any) -> View:
        from helpers import HOSTILE

        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{HOSTILE}</svg>\udc80'
        return View("<i>text", "<u>words", (1, 2), drawing)
