"""Matches that begin here, and the messages of the machine (`locmsim.web.machine`) about any match.

The server keeps of each its `Match`, with all that is hidden, its bots and the list of actions. A
page changes the list by the number of the version that it shows, so that a second page cannot play
on in a position that is gone; each has its own copy of the list, and asks for it after a change.
What a person may not see yet does not leave the server: they are told of positions on the list and
in their own turn, and a turn that was ended cannot be taken back.

Nothing waits for a person. Their answers are given to the referee when the page sends them; bots
are processes, which can hang, crash or flood their output as they like, and are asked in the
request that wants their turn.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any, cast

from locmsim._core import State
from locmsim.arena.game_store import GameRow
from locmsim.decks import build_deck, deck_line, pick
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.options.common import Seconds, Seed
from locmsim.options.declarations import declaration
from locmsim.referee.process_match import Call, Sitting
from locmsim.referee.transcript import result_log
from locmsim.rules.cards import Card
from locmsim.rules.options import Rules
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES
from locmsim.search.belief import Belief
from locmsim.support.files import write_whole
from locmsim.web.endpoints import (
    Query,
    Refusal,
    get,
    post,
    text_of,
    texts_of,
    whole_of,
)
from locmsim.web.engine_panel import CHANCES
from locmsim.web.file_replay import chat_of
from locmsim.web.forms import form_of, up_to, values_of
from locmsim.web.jobs import StoppedError
from locmsim.web.keys import Key, KeyKind
from locmsim.web.machine import Machine, machine_of_match
from locmsim.web.match_data import PERSON, Cards, match_page, told_apart, turn_step
from locmsim.web.opponents import Opponent, opponent_of
from locmsim.web.site import Page, Site

_log = logging.getLogger(__name__)

#: The fields of a new match, besides who plays.
_FORM = (declaration("rules", Rules, "1.5"), declaration("seed", Seed, None))
#: The options of a search, and the most searches at a time.
_SEARCH = (up_to(declaration("seconds", Seconds, 2.0), 30.0), declaration("seed", Seed, 0))
_SEARCHES = 2
_NOTE = f"Chances of winning, the same as in the report: {CHANCES}"
#: The most matches that are played at a time, and the most that are over and still have a page.
_MATCHES, _OVER = 12, 64
#: A person's match that no page has shown for so many seconds can make room for another one, and
#: one that none has shown for so many is given up.
_IDLE, _ABANDONED = 600.0, 6 * 3600.0
#: A match that a page has shown within so many seconds is live, another one is paused.
_SEEN = 60.0
#: The time that the bots of a match get to end, in seconds.
_ENDING = 15.0


class _Person:
    """An agent whose answers come from a page."""

    line = "PASS"

    def choose(self, observation: Observation) -> str:
        return self.line

    def act(self, observation: Observation) -> str:
        """Return the answer; who has died from drawing is asked, but can do nothing."""
        dead = min(observation.me.health, observation.opponent.health) <= 0
        return "PASS" if dead else self.line


class HostedMatch:
    """A match that is played on the pages."""

    def __init__(
        self,
        key: str,
        players: Sequence[Opponent | None],
        rules: str,
        *,
        site: Site,
        seed: int | None = None,
        start: State | None = None,
    ) -> None:
        if [*players].count(None) > 1:
            raise ValueError("two persons cannot play each other here")
        self.key = key
        self.players = players
        self.start = start
        self._site = site
        self._match = Match(rules, seed=seed, start=start)
        self.seat = [*players].index(None) if None in players else None
        self._agents = [one.agent or one.command if one else "" for one in players]
        names = [PERSON if player is None else player.name for player in players]
        self.names = names[0], names[1]
        self._called = told_apart(names)
        self.cards = Cards(self._match.cards)
        #: When a page last asked about it.
        self._asked_at = time.monotonic()
        self._person = _Person()
        self._sitting: Sitting[Match] | None = None
        self._machine: Machine | None = None
        #: Held while a bot is asked; `_lock` guards the following.
        self._asking = threading.Lock()
        self._lock = threading.RLock()
        self._calls: list[Call] = []
        self.path: list[str] = []
        #: Where the turn begins that is being played.
        self._begun = 0
        #: What bots said in their turns, by turn.
        self._chats: dict[int, str] = {}
        self.version = 0
        self._over: dict[str, Any] | None = None
        self._left = False
        if start is not None:
            beliefs = (Belief(), Belief())
            self._machine = Machine(self._match.clone(), beliefs, self._called, self.cards)
        self._offers()

    # ---------------------------------------------------------------------- what bots are asked

    def run(self) -> None:
        """Play a match of two bots to its end."""
        while not self.over:
            self.turn([*self.path])

    def turn(self, path: Sequence[str]) -> dict[str, Any]:
        """Return the actions of a bot's turn, which was asked for it once."""
        with self._asking:
            if [*path] == self.path and not self.over and self.seat not in self._match.to_ask:
                self._ask()
        with self._lock:
            if [*path] != self.path[: len(path)]:
                raise self._outdated("the match went on in another page")
            rest = self.path[len(path) :]
        actions = rest[: rest.index("PASS")] if "PASS" in rest else rest
        return {"actions": actions, **self.standing()}

    def _ask(self, line: str | None = None) -> None:
        """Give the person's answer, if there is one, and ask bots up to the end of a turn.

        In the choice phase they are asked until it is over, or the person must answer again.
        """
        match = self._match
        self._person.line = line or "PASS"
        choosing = match.state is None
        try:
            sitting = self._sitting = self._sitting or self._seated()
            while match.to_ask and not self._left:
                if choosing and match.to_ask[0] == self.seat:
                    if line is None:
                        break
                    line = None
                # Who has died from drawing is asked, too.
                dead = match.state is not None and match.state.is_terminal()
                call = sitting.step()
                with self._lock:
                    if not self._left:
                        self._took(call, dead)
                if match.state is not None and (choosing or not match.state.is_terminal()):
                    break
            if not match.to_ask and not self._left:
                self._finish(sitting)
        except Exception as error:  # OSError: this machine has no process or descriptor left
            if not self._left:
                _log.exception("match %s", self.key)
                self._end({"error": f"the match broke off: {error}"})

    def _seated(self) -> Sitting[Match]:
        seed = int(self._match.params["seed"]) & (1 << 62) - 1
        players = [self._person if one is None else one.player(seed) for one in self.players]
        return Sitting(players, self._match, timeout_scale=self._site.timeout_scale)

    def _took(self, call: Call, dead: bool) -> None:
        """Note an answer that was submitted."""
        match = self._match
        self._calls.append(call)
        if call.turn is None:
            if match.state is not None:
                begun = machine_of_match(match, self._calls, self._called, self.cards)
                self._machine = begun
        elif match.state is not None and not dead:
            ended = ["PASS"] if match.state.turn != call.turn else []
            self.path = [*self.path[: self._begun], *call.result.applied, *ended]
            self._begun = len(self.path)
            if self.players[call.player] is not None and call.answer:
                self._chats[call.turn] = chat_of(call.answer, RULES[match.rules].lanes)
        self.version += 1

    def _finish(self, sitting: Sitting[Match]) -> None:
        result = sitting.result()
        sitting.close()
        path, error = self._save(result_log(result, self.names))
        key = self._site.library.add(result, self.names, path=path, agents=self._agents)
        self._end(
            {
                "winner": result.winner,
                "fault": result.fault and result.fault.row(),
                "stderr": list(result.stderr),
                "replay": key,
                "path": path,
                "error": error,
            }
        )

    def _save(self, log: dict[str, Any]) -> tuple[str, str]:
        """Save the log; return its path, and why there is none."""
        folder = os.fspath(self._site.folder)
        if not folder:
            return "", ""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = os.path.join(folder, f"locmsim-{stamp}-{self.key}.json")
        try:
            write_whole(path, json.dumps(log, separators=(",", ":")) + "\n")
        except OSError as error:
            return "", f"{path}: {error.strerror}"
        return path, ""

    def _end(self, over: dict[str, Any]) -> None:
        with self._lock:
            self._over = over
            self.version += 1

    def leave(self) -> None:
        """End the match and its bots, if it is not over; nothing is saved."""
        with self._lock:
            if self.over:
                return
            self._left = True
            self._end({"error": "this match was left"})
        sitting = self._sitting
        for bot in sitting.processes if sitting else ():
            bot.kill()
        if self._asking.acquire(timeout=_ENDING):
            if self._sitting:
                self._sitting.close()
            self._asking.release()

    # ------------------------------------------------------------------------------ the pages

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._over is not None

    @property
    def idle(self) -> float:
        """The seconds since a page asked about it."""
        return time.monotonic() - self._asked_at

    def look(self) -> int:
        """Return the number of the last change, for a page that follows the match."""
        self._asked_at = time.monotonic()
        return self.version

    def row(self) -> GameRow:
        """Return what a list shows of it."""
        return GameRow(
            self.names,
            turns=self._match.turn or 0,
            rules=self._match.rules,
            source="played here",
            key=self.key,
            live="live" if self.idle < _SEEN else "paused",
        )

    @property
    def _hidden(self) -> int | None:
        """The player whose hand nobody may see yet."""
        return None if self.seat is None or self.over else 1 - self.seat

    def standing(self) -> dict[str, Any]:
        """Return how the match stands: what a page needs besides the answers to its messages."""
        self._asked_at = time.monotonic()
        with self._lock:
            match = self._match
            return {
                "match": self.key,
                "version": self.version,
                "choosing": match.state is None and not self.over,
                "chosen": [self.cards.key(card) for card in self._had()],
                "path": [*self.path],
                "chats": dict(self._chats),
                "over": self._over,
            }

    def data(self) -> dict[str, Any]:
        """Return its page, as `locmsim.web.replay_data` does, with `standing` as ``play``."""
        with self._lock:
            over = self._over or {}
            steps = []
            if self._machine is not None:
                steps = [turn_step(self._machine.at([]).state, self.cards, self._hidden)]
            known = {name: over[name] for name in ("winner", "fault", "stderr") if name in over}
            return match_page(
                self._match.rules,
                self._called,
                self.cards,
                steps,
                agents=self._agents,
                seat=self.seat,
                running=True,
                players=[one.key if one else None for one in self.players],
                size=DECK_SIZE,
                copies=COPIES_PER_CARD,
                play=self.standing(),
                **known,
            )

    def _had(self) -> list[Card]:
        """Return the cards that the person has chosen."""
        by_id = {card.base_id: card for card in self._match.cards}
        chosen = [] if self.seat is None else self._match.chosen[self.seat]
        return [by_id[base_id] for base_id in chosen]

    def _offers(self) -> list[list[str]]:
        """Return what the person was offered so far, as keys."""
        match = self._match
        if self.start is not None:
            return []
        draft = RULES[match.rules].draft
        shown = len(match.chosen[self.seat or 0]) + 1 if draft else 1
        offers = cast("list[list[Card]]", match.offers if draft else [match.offers])
        return [[self.cards.key(card) for card in offer] for offer in offers[:shown]]

    # The following are answers to messages of pages.

    def offers(self, known: int) -> dict[str, Any]:
        """Return what the person was offered so far, step by step, as keys of cards."""
        with self._lock:
            offers = self._offers()
            return {"offers": offers, "cards": self.cards.to_json(start=known)["cards"]}

    def answers(self) -> list[str]:
        """Return what the deck builder or the draft picker would answer in the person's place."""
        match, seat = self._match, self.seat
        if seat is None or match.state is not None or self.over:
            raise ValueError("the cards are chosen already")
        with self._lock:
            observation = match.observation(seat)
            if not RULES[match.rules].draft:
                return [deck_line(build_deck(observation.offer))]
            had = self._had()
            earlier = cast("list[list[Card]]", match.offers)[: len(had)]
        return [f"PICK {pick(observation.offer, had, match.rules, earlier=earlier)}"]

    def choose(self, version: int, keys: Sequence[str]) -> None:
        """Take a deck, or one card of a draft, by keys of `cards`, or raise ``ValueError``."""
        with self._asking:
            with self._lock:
                self._check(version)
                if self.seat is None or self._match.state is not None:
                    raise ValueError("the cards are chosen already")
                line = self._choice_line(keys)
            self._ask(line)

    def _choice_line(self, keys: Sequence[str]) -> str:
        match = self._match
        offer = self._offers()[-1]
        for key in keys:
            if key not in offer:
                raise ValueError(f"card {key!r} is not offered")
        if RULES[match.rules].draft:
            if len(keys) != 1:
                raise ValueError(f"expected one card, got {len(keys)}")
            return f"PICK {offer.index(keys[0])}"
        if len(keys) != DECK_SIZE:
            raise ValueError(f"a deck has {DECK_SIZE} cards, got {len(keys)}")
        if max(map(keys.count, keys)) > COPIES_PER_CARD:
            raise ValueError(f"a deck has at most {COPIES_PER_CARD} of a card")
        cards = cast("list[Card]", match.offers)
        return deck_line([cards[offer.index(key)].base_id for key in keys])

    def play(self, version: int, path: Sequence[str]) -> None:
        """Make a path the list of actions: what the person did in their turn, or its end."""
        with self._asking:
            with self._lock:
                self._check(version)
                start, turn = self.path[: self._begun], [*path[self._begun :]]
                if [*path[: self._begun]] != start or self.seat not in self._match.to_ask:
                    raise ValueError("it is not your turn")
                if "PASS" in turn[:-1]:
                    raise ValueError("a turn ends with PASS")
                state = self.machine.at(path).state
                if not state.is_terminal() and turn[-1:] != ["PASS"]:
                    self.path = [*path]
                    self.version += 1
                    return
            self._ask(";".join(one for one in turn if one != "PASS") or "PASS")

    def walk(self, path: Sequence[str], actions: Sequence[str], known: int) -> dict[str, Any]:
        """Return positions of the list of actions, or in the person's turn."""
        with self._lock:
            self._check_visible(path, actions)
            return self.machine.walk(path, actions, self._hidden, known)

    def advice_at(self, path: Sequence[str], actions: Sequence[str] = ()) -> Machine:
        """Return the machine, for advice to the person in a turn of theirs."""
        with self._lock:
            self._check_visible(path, actions)
            if self.machine.at(path).state.current_player() != self.seat:
                raise ValueError("the engine advises you in your own turns")
            return self.machine

    @property
    def machine(self) -> Machine:
        """The machine of the match; ``ValueError`` before the battle."""
        if self._machine is None:
            raise ValueError("the battle has not begun")
        return self._machine

    def _check_visible(self, path: Sequence[str], actions: Sequence[str] = ()) -> None:
        """Raise an error for what the person may not see: what comes after their turn."""
        whole = [*path, *actions]
        pairs = zip(whole, self.path, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if same == len(whole) or self.over:
            return
        begun = same - [*reversed(whole[:same]), "PASS"].index("PASS")
        mover = self.machine.at(whole[:begun]).state
        if "PASS" in whole[same:] or mover.is_terminal() or mover.current_player() != self.seat:
            raise ValueError("the engine advises you in your own turns")

    def _check(self, version: int) -> None:
        """Raise an error if the match is not as the page shows it."""
        if self.over:
            raise self._outdated("the match is over")
        if version != self.version:
            raise self._outdated("the match went on in another page")

    def _outdated(self, why: str) -> Refusal:
        """Return the answer to a page that shows an earlier version of the match."""
        return Refusal(why, 409, standing=self.standing())


class _Hosted:
    """The matches of a site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._matches: dict[str, HostedMatch] = {}
        self._numbers: Iterator[int] = count(1)
        #: Guards the matches: they start in several threads.
        self._lock = threading.Lock()
        self._closed = False

    def new(self, data: dict[str, Any]) -> HostedMatch:
        """Start a match of ``players``, two keys of opponents, null for the person."""
        rules, seed = values_of(data, _FORM).values()
        start = None
        if "again" in data:
            start = self.get(text_of(data, "again")).start
        if "from" in data:
            start = self._site.state(text_of(data, "from"), whole_of(data, "step", 0))
        rules = start.rules if start else rules
        keys = data.get("players")
        if not isinstance(keys, list) or len(keys) != 2:
            raise Refusal("players: expected two keys of opponents, null for a person")
        players = [
            None if key is None else opponent_of(self._site.opponents, key, rules) for key in keys
        ]
        with self._lock:
            if self._closed:
                raise Refusal("the site is closing", 503)
            self._free_place()
            key = str(Key(KeyKind.HOSTED, next(self._numbers)))
            match = HostedMatch(key, players, rules, site=self._site, seed=seed, start=start)
            self._matches[key] = match
        if match.seat is None:
            threading.Thread(target=match.run, name=f"match {key}", daemon=True).start()
        self._site.library.changed()
        return match

    def _free_place(self) -> None:
        """Forget old matches; raise `Refusal` if too many are being played."""
        played = [match for match in self._matches.values() if not match.over]
        idle = sorted(
            (match for match in played if match.idle > _IDLE), key=lambda match: -match.idle
        )
        for match in idle:
            if match.idle > _ABANDONED or len(played) >= _MATCHES:
                match.leave()
                played.remove(match)
        if len(played) >= _MATCHES:
            raise Refusal(
                f"{_MATCHES} matches are being played here: finish one, or leave it by New match",
                429,
            )
        over = [match for match in self._matches.values() if match.over]
        for match in over[:-_OVER]:
            del self._matches[match.key]

    def rows(self) -> list[GameRow]:
        """Return what a list shows of the matches being played, by the numbers in their keys."""
        with self._lock:
            return [match.row() for match in self._matches.values() if not match.over]

    def get(self, key: str) -> HostedMatch:
        """Return the match of a key."""
        match = self._matches.get(key)
        if match is None:
            raise Refusal("this match is over or never was: begin a new one", 404)
        return match

    def close(self) -> None:
        """End all matches and their bots, and let none start any more."""
        with self._lock:
            self._closed = True
            matches = [*self._matches.values()]
        for match in matches:
            match.leave()


def page(site: Site) -> Page:  # noqa: C901 (endpoints with what they share)
    """Return the endpoints: new matches, a person's answers, and the messages of the machine."""
    table = _Hosted(site)
    site.closing.append(table.close)
    site.library.playing = table.rows
    site.data[KeyKind.HOSTED] = lambda key: table.get(key).data()
    site.news.add("match", lambda key: table.get(key).look())
    #: The names that pages give to the searches that they wait for, by what stops them. One that is
    #: told to stop leaves room for another at once, although it takes a moment to end.
    searches: dict[threading.Event, str] = {}
    lock = threading.Lock()

    def choices(query: Query) -> object:
        return {
            "fields": form_of(_FORM),
            "opponents": [
                {"key": o.key, "name": o.name, "rules": o.rules or [*RULES]}
                for o in site.opponents.values()
            ],
        }

    def match_of(data: Mapping[str, Any]) -> HostedMatch:
        return table.get(text_of(data, "match"))

    def choose(data: dict[str, Any]) -> object:
        match = match_of(data)
        match.choose(whole_of(data, "version"), texts_of(data, "cards"))
        return match.standing()

    def machine(data: dict[str, Any], advice: Sequence[str] | None = None) -> Machine:
        """Return the machine of a request; in a running match, for advice after these actions."""
        key = text_of(data, "match")
        if Key.parse(key).kind == KeyKind.HOSTED:
            return table.get(key).advice_at(texts_of(data, "path"), advice or ())
        return site.machine(key)

    def walked(data: dict[str, Any]) -> object:
        key = text_of(data, "match")
        path, actions = texts_of(data, "path"), texts_of(data, "actions")
        if Key.parse(key).kind != KeyKind.HOSTED:
            position = site.positions.get(key)
            return site.machine(key).walk(path, actions, position.hidden if position else None)
        match = table.get(key)
        if "version" in data:
            match.play(whole_of(data, "version"), [*path, *actions])
        return {**match.walk(path, actions, whole_of(data, "known", 0)), **match.standing()}

    def chance(data: dict[str, Any]) -> object:
        line = text_of(data, "line")
        return machine(data, [*filter(None, line.split(";"))]).chance(texts_of(data, "path"), line)

    def analyse(data: dict[str, Any]) -> object:
        seconds, seed = values_of(data, _SEARCH).values()
        done, path = texts_of(data, "done"), texts_of(data, "path")
        found = machine(data, done)
        stopped = threading.Event()
        with lock:
            if len(searches) >= _SEARCHES:
                raise Refusal("other searches are running: wait for them", 429)
            searches[stopped] = text_of(data, "search", "")

        def check() -> None:
            if stopped.is_set():
                raise StoppedError

        try:
            lines = found.analyse([*path, *done], ms=1000 * seconds, seed=seed, check=check)
            return {**lines, "note": _NOTE, "stopped": False}
        except StoppedError:
            return {"stopped": True}
        finally:
            searches.pop(stopped, None)

    def left(data: dict[str, Any]) -> None:
        """End a search the next time it checks, several times a second."""
        name = text_of(data, "search", "")
        with lock:
            for stopped in [event for event, known in searches.items() if known == name]:
                del searches[stopped]
                stopped.set()

    def offers(data: dict[str, Any]) -> object:
        return match_of(data).offers(whole_of(data, "known", 0))

    return Page(
        "play",
        "",
        [
            get("/api/play/choices", choices),
            get("/api/play/state", lambda query: match_of(query).standing()),
            post("/api/play/new", lambda data: {"match": table.new(data).key}),
            post("/api/play/choose", choose),
            post("/api/play/leave", lambda data: match_of(data).leave()),
            post("/api/machine/offers", offers),
            post("/api/machine/answers", lambda data: match_of(data).answers()),
            post("/api/machine/turn", lambda data: match_of(data).turn(texts_of(data, "path"))),
            post("/api/machine/walk", walked),
            post("/api/machine/chance", chance),
            post("/api/machine/analyse", analyse, left=left),
            post("/api/machine/stop", lambda data: left(data)),
        ],
    )
