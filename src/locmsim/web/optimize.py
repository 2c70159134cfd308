"""The page *Tuning*: the runs of ``locmsim optimize`` as they are played, from their folders."""

import os
import threading
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from locmsim._io import file_stamp
from locmsim.tuning.optimization import Optimization
from locmsim.web.endpoints import get
from locmsim.web.site import Page, Site

__all__ = ["page"]

#: Points of a curve: more cannot be seen.
_POINTS = 400
#: The seconds between two looks at the folders, while a page follows the runs.
_LOOK = 2.0


class _Runs:
    """The runs in the folders named on the command line."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = folders
        self._found: dict[str, Optimization] = {}
        self._lock = threading.Lock()

    def runs(self, request: Request) -> object:
        """Return how far each run is, and the value of each of its parameters over the games."""
        with self._lock:
            return {"runs": [self._run(folder) for folder in self._folders]}

    def version(self, key: str) -> object:
        """Return another value when a run has new results."""
        return [_stamp(folder) for folder in self._folders]

    def _run(self, folder: str) -> dict[str, Any]:
        try:
            if folder not in self._found:
                self._found[folder] = Optimization.load(folder)
            run = self._found[folder]
            progress = run.update()
        except (ValueError, ImportError) as error:
            # Not an error of the request: the run may still begin.
            self._found.pop(folder, None)
            return {"folder": folder, "error": str(error)}
        history = run.history[:: max(1, len(run.history) // _POINTS)]
        if history[-1] is not run.history[-1]:
            history.append(run.history[-1])
        return {
            "folder": folder,
            "error": None,
            "player": run.settings.player,
            "against": [*run.settings.against],
            "method": run.settings.method,
            "games": progress.games,
            "goal": run.settings.games,
            "score": progress.score,
            "parameters": [
                {
                    "name": one.name,
                    "value": progress.values[one.name],
                    "games": [games for games, _ in history],
                    "values": [one.value(point[i]) for _, point in history],
                }
                for i, one in enumerate(run.parameters)
            ],
        }


def _stamp(folder: str) -> object:
    """Return another value when a file of a folder has changed."""
    with suppress(OSError):
        names = sorted(os.listdir(folder))
        return [(name, file_stamp(os.path.join(folder, name))) for name in names]
    return None


def page(site: Site) -> Page:
    """Return the page and its endpoint; without runs there is no page."""
    runs = _Runs(tuple(site.runs))
    site.news.add("optimize", runs.version, _LOOK)
    title, address = ("Tuning", "/optimize") if site.runs else ("", "")
    return Page("optimize", title, [get("/api/optimize", runs.runs)], address)
