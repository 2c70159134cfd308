"""The page of a match, over or being played, or of a position: one address, one format."""

import base64
import json
import threading
from typing import Any

from starlette.responses import Response

from locmsim.referee.transcript import result_log
from locmsim.web.endpoints import Query, Refusal, get, post, text_of, whole_of
from locmsim.web.file_capture import is_capture, questions_of
from locmsim.web.file_replay import replay_data, replay_html
from locmsim.web.keys import Key, KeyKind
from locmsim.web.match_data import Cards, legal_texts, match_page, turn_step
from locmsim.web.positions import Position, position_of_text
from locmsim.web.site import Page, Site
from locmsim.web.sources import played_in

#: The longest log that is dropped onto a page, in bytes.
_LOG = 1 << 25
#: The seconds between two looks at a file that a page follows.
_LOOK = 0.25


def page(site: Site) -> Page:  # noqa: C901 (endpoints with what they share)
    """Return the page and its endpoints: its data, downloads, and what can be opened."""

    library = site.library
    site.closing.append(library.close)
    #: Guards the readers of matches that other programs play.
    lock = threading.Lock()

    def live(key: str) -> dict[str, Any]:
        reader = library.live.get(key)
        with lock:
            reader.update()
            if reader.game is not None:
                return _drawn(library.any_match(key))
            shown = replay_data(reader.result(), reader.names)
        after = library.live.after(key) if reader.over else None
        return {**shown, "agents": reader.agents, "live": not reader.over, "next_key": after}

    def data_of(key: str) -> dict[str, Any]:
        source = site.data.get(Key.parse(key).kind)
        if source is not None:
            return source(key)
        try:
            result, names = library.load(key)
        except ValueError:  # of another game, or a second error says the same
            return _drawn(library.any_match(key))
        return {**replay_data(result, names), "agents": library.agents(key)}

    def data(query: Query) -> object:
        """Return what a page shows of a match of any game, from the step ``have`` on."""
        key, have = _key(query), whole_of(query, "have", 0)
        shown = {"key": key, "kind": Key.parse(key).kind.name.lower(), **data_of(key)}
        shown["start"] = max(0, min(have, len(shown["steps"])))
        return {**shown, "steps": shown["steps"][shown["start"] :]}

    def log(query: Query) -> Response:
        result, names = library.load(_key(query))
        text = json.dumps(result_log(result, names), separators=(",", ":")) + "\n"
        return _download(text, "application/json", "match.json")

    def file(query: Query) -> Response:
        result, names = library.load(_key(query))
        return _download(replay_html(result, names), "text/html", "match.html")

    def position(query: Query) -> Response:
        step = whole_of(query, "step", 0)
        key = _key(query)
        # What is not known of a position stays so in its text.
        known = site.positions.get(key)
        text = (known.root if known else site.state(key, step)).to_text() + "\n"
        return _download(text, "text/plain", "position.txt")

    def setup(data: dict[str, Any]) -> object:
        rules = text_of(data, "rules", "") or None
        return {"match": site.keep(position_of_text(text_of(data, "text"), rules))}

    def opened(data: dict[str, Any]) -> object:
        """Open what was dropped onto a page: a log, what a bot was sent, or a position."""
        text, name = text_of(data, "text"), text_of(data, "name", "")[:200]
        if is_capture(text) and len([*questions_of(text, None)]) > 1:
            raise Refusal(
                "this is what a bot was sent in a whole match: locmsim replay FILE makes a page of"
                " it; the text of one turn opens here"
            )
        if not text.lstrip().startswith("{"):
            return {"match": site.keep(position_of_text(text))}
        played = played_in(text.encode(errors="replace")).of_locm()
        return {"match": library.add(*played, name or "dropped here", log=text)}

    site.data[KeyKind.LIVE] = live
    site.news.add("live", library.any_version, _LOOK)
    site.data[KeyKind.POSITION] = lambda key: position_data(_found(site.positions, key))
    return Page(
        "match",
        "",
        [
            get("/api/match", data),
            get("/api/match/log", log),
            get("/api/match/page", file),
            get("/api/match/position", position),
            post("/api/match/setup", setup),
            post("/api/match/open", opened, most=_LOG),
        ],
        address="/match/{key}",
    )


def _drawn(match: dict[str, Any]) -> dict[str, Any]:
    """Return a match of another game, with its drawings as addresses of images."""
    for step in match["steps"]:
        if drawing := step.pop("drawing"):
            drawn = base64.b64encode(drawing.encode("utf-8", "replace")).decode()
            # For an ``<img>``, where no script of it runs.
            step["image"] = f"data:image/svg+xml;base64,{drawn}"
    return {**match, "kind": "other"}


def _key(query: Query) -> str:
    return query.get("match", "")


def _found(things: dict[str, Any], key: str) -> Any:
    if key not in things:
        raise Refusal("this position is no longer known: set it up again", 404)
    return things[key]


def _download(text: str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    content = text.encode("utf-8", "replace")
    return Response(content, media_type=f"{kind}; charset=utf-8", headers=headers)


def position_data(position: Position) -> dict[str, Any]:
    """Return the page of one position."""
    root = position.root
    hidden = position.hidden
    cards = Cards(position.cards)
    step = turn_step(root, cards, hidden)
    return match_page(
        root.rules,
        position.names,
        cards,
        [step],
        params={} if position.belief is not None else {"position": root.to_text()},
        seat=position.mover,
        actions=legal_texts(root),
        running=True,
    )
