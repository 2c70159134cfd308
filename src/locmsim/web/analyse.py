"""What the searches find in a position, and what other turns would lead to."""

import threading
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from locmsim._common_options import Seconds, Seed
from locmsim._options import declaration
from locmsim.game.action_text import answer_actions, line_words
from locmsim.referee.turn_report import WORLDS
from locmsim.search.analysis import analyse, line_value
from locmsim.search.turn_search import determinizer_at
from locmsim.web.endpoints import Refusal, actions_of, post, text_of, whole_of
from locmsim.web.forms import up_to, values_of
from locmsim.web.jobs import StoppedError
from locmsim.web.panel import CHANCES, HELD, LINES, SAMPLES, SEED
from locmsim.web.positions import Position
from locmsim.web.site import Page, Site
from locmsim.web.views import Cards, seat_names, steps_after

__all__ = ["page"]

#: The options of a search, and the most searches at a time.
_SEARCH = (up_to(declaration("seconds", Seconds, 2.0), 30.0), declaration("seed", Seed, 0))
_SEARCHES = 2
_NOTE = f"Chances of winning, the same as in the report: {CHANCES}"
#: The most characters that are shown of the answer that was given.
_ANSWER = 2000


def page(site: Site) -> Page:  # noqa: C901 (endpoints with what they share)
    """Return the endpoints of the panel *Engine*: a search, and the position after actions."""
    #: The names that pages give to the searches that they wait for, by what stops them. One that is
    #: told to stop leaves room for another at once, although it takes a moment to end.
    searches: dict[threading.Event, str] = {}
    lock = threading.Lock()

    def step(request: Request, data: dict[str, Any]) -> object:
        key = text_of(data, "game")
        names: Sequence[str]
        if key in site.positions:
            names, cards = site.positions[key].names, Cards(site.positions[key].cards)
        else:
            result, names = site.library.load(key)
            cards = Cards(result.match.cards)
        state = site.state(key, whole_of(data, "step", 0))
        return steps_after(state, actions_of(data), cards, seat_names(names))

    def chance(request: Request, data: dict[str, Any]) -> object:
        """Return the chance of winning of the player to move if the turn ends after actions."""
        position = site.asked(data)
        done = actions_of(data)
        return {"chance": _chance(position, done), "mover": position.mover}

    def search(request: Request, data: dict[str, Any]) -> object:
        position = site.asked(data)
        done = actions_of(data)
        seconds, seed = values_of(data, _SEARCH).values()
        state = position.after(done)
        if state.is_terminal():
            raise Refusal("the game is decided in this position")
        stopped = threading.Event()
        with lock:
            if len(searches) >= _SEARCHES:
                raise Refusal("other searches are running: wait for them", 429)
            searches[stopped] = text_of(data, "search", "")

        def check() -> None:
            if stopped.is_set():
                raise StoppedError

        try:
            found = analyse(
                position.seen,
                time_ms=1000 * seconds,
                seed=seed,
                belief=position.belief,
                done=";".join(done),
                worlds=SAMPLES,
                check=check,
            )
        except StoppedError:
            return {"stopped": True}
        finally:
            searches.pop(stopped, None)
        cards = Cards(position.cards)
        lines: list[dict[str, Any]] = []
        for line in found.lines[:LINES]:
            actions = [] if line.line == "PASS" else line.line.split(";")
            lines.append(
                {
                    "actions": actions,
                    "words": line_words(state, actions, position.names, cards.titles),
                    "chance": _chance(position, [*done, *actions]),
                    "searches": line.searches,
                }
            )
        lines.sort(key=lambda line: -line["chance"])
        return {
            "stopped": False,
            "note": _NOTE,
            "lines": lines,
            "searches": found.searches,
            "nodes": found.nodes,
            "seconds": found.elapsed,
            "played": position.answer[:_ANSWER],
            "played_words": line_words(
                position.root,
                answer_actions(position.root, position.answer),
                position.names,
                cards.titles,
            ),
            "opponent_hand": [
                {"title": cards.title(held.card), "chance": held.chance}
                for held in found.opponent_hand[:HELD]
            ],
        }

    def left(data: dict[str, Any]) -> None:
        """End a search the next time it checks, several times a second."""
        name = text_of(data, "search", "")
        with lock:
            for stopped in [event for event, known in searches.items() if known == name]:
                del searches[stopped]
                stopped.set()

    def stop(request: Request, data: dict[str, Any]) -> object:
        left(data)
        return {}

    return Page(
        "analyse",
        "",
        [
            post("/api/analyse/step", step),
            post("/api/analyse/chance", chance),
            post("/api/analyse/search", search, left=left),
            post("/api/analyse/stop", stop),
        ],
    )


def _chance(position: Position, actions: Sequence[str]) -> float:
    """Return the chance of winning of the player to move by a turn, as a report compares turns."""
    drawn, _, _ = determinizer_at(position.seen, position.belief, "", SEED)
    return (1 + line_value(drawn, ";".join(actions) or "PASS", worlds=WORLDS, seed=SEED)) / 2
