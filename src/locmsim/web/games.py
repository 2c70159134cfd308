"""Games that are played here: between a person and a bot, or two bots that people watch.

The referee plays each in a thread, with its own clock for the bots, which are always processes:
they can hang, crash or flood their output as they like. For the referee the person is an agent
without a time limit, whose answers come from the page. A page changes its game by the number of the
version that it shows, so that a second page cannot play on in a position that is gone.

What a page is told are the steps of a replay (`locmsim.web.replay_data`), as far as the person may
see them.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from locmsim._core import State
from locmsim._io import write_whole
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.process import BotProcess
from locmsim.referee.process_match import Result, play
from locmsim.referee.transcript import result_log
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES
from locmsim.web.hints import hint
from locmsim.web.opponents import Opponent
from locmsim.web.page_match import PageMatch, match_from
from locmsim.web.person import Person
from locmsim.web.replay import chat_of
from locmsim.web.shown_steps import ShownSteps
from locmsim.web.views import PERSON, Cards, fault_row, legal_texts, match_page

__all__ = ["OutdatedError", "PageGame"]

_log = logging.getLogger(__name__)


class OutdatedError(ValueError):
    """The page that asks shows an earlier version of the game."""


class _Left(BaseException):
    """The person has left the game."""


class PageGame:
    """A game that is played on the pages.

    Parameters
    ----------
    key : str
        Its key.
    players : sequence of Opponent or None
        Both players; None is the person.
    rules : str
        The rule set.
    seed : int, optional
        Of the match.
    start : State, optional
        The position that it begins in; without it, it begins with the choice of cards.
    timeout_scale : float
        Multiplies the bot's time limits, 0 for none.
    folder : path
        Where its log goes; empty for nowhere.
    ended : function
        Told the result, the players' names, and by ``path`` and ``agents`` the path of the log or
        "" and the descriptions of the players; returns the key of the match.

    Raises
    ------
    ValueError
        Unknown rules, two persons, or a position in which nobody is to move.
    """

    def __init__(
        self,
        key: str,
        players: Sequence[Opponent | None],
        rules: str,
        *,
        seed: int | None = None,
        start: State | None = None,
        timeout_scale: float,
        folder: str | os.PathLike[str],
        ended: Callable[..., str],
    ) -> None:
        if [*players].count(None) > 1:
            raise ValueError("two persons cannot play each other here")
        if start is not None and start.is_terminal():
            raise ValueError("the game is decided in this position")
        self.key = key
        self._from_start = start is not None
        self._match = PageMatch(rules, seed=seed) if start is None else match_from(start)
        self._seat = [*players].index(None) if None in players else -1
        self._match.person = self._seat
        self._match.watch = self._watched
        self._players = players
        self._timeout_scale = timeout_scale
        self._folder = os.fspath(folder)
        self._ended = ended
        #: When a page last asked about it.
        self._asked_at = time.monotonic()
        offers = [] if start is not None else self._match.offers
        flat = [c for offer in offers for c in ([offer] if isinstance(offer, Card) else offer)]
        self._by_id = {card.base_id: card for card in flat}
        self.cards = Cards(self._by_id.values())
        for card in self._by_id.values():
            self.cards.key(card)
        names = [PERSON if player is None else player.name for player in players]
        self._names = (names[0], names[1])
        #: The player of each seat: the description of an agent, a command, or empty for the person.
        self._agents = [one.agent or one.command if one else "" for one in players]

        # The condition's lock guards all attributes below.
        self._condition = threading.Condition()
        self._version = 0
        #: The page that made the last change that a page made, and when that was.
        self._by = ""
        self._by_version = 0
        self._person = Person(self._match.rules, self.cards, self._by_id)
        hidden = None if self._seat < 0 else 1 - self._seat
        self._steps = ShownSteps(self.cards, self._names, hidden)
        self._answer: str | None = None
        self._over: dict[str, Any] | None = None
        self._left = False
        self._bots: Sequence[BotProcess] = ()
        self._thread = threading.Thread(target=self._run, name=f"game {key}", daemon=True)

    # ------------------------------------------------------------------- the referee's thread

    def start(self) -> None:
        """Start the threads of the game."""
        self._thread.start()

    def _run(self) -> None:
        seed = int(self._match.params["seed"]) & (1 << 62) - 1
        players = [self if one is None else one.player(seed) for one in self._players]
        try:
            result = play(
                players,
                self._match,
                timeout_scale=self._timeout_scale,
                started=self._started,
            )
        except _Left:
            return
        except Exception as error:  # OSError: this machine has no process or descriptor left
            _log.exception("game %s", self.key)
            with self._condition:
                self._person.asked = None
                self._over = {"error": f"the game broke off: {error}"}
                self._changed("")
            return
        if not self._left:
            self._finish(result)

    def _started(self, bots: Sequence[BotProcess]) -> None:
        with self._condition:
            self._bots = bots
            if self._left:
                raise _Left

    def _finish(self, result: Result[PageMatch]) -> None:
        # A match that began in a position has no log that could be replayed.
        path, unsaved = ("", "") if self._from_start else self._save(result)
        key = ""
        if not self._from_start:
            key = self._ended(result, self._names, path=path, agents=self._agents)
        with self._condition:
            state = self._match.state
            if state is not None:
                self._person.now = state.clone()
                self._steps.end(state)
            self._person.asked = None
            self._over = {
                "winner": result.winner,
                "scores": list(result.scores),
                "fault": fault_row(result.fault),
                "stderr": list(result.stderr),
                "replay": key,
                "path": path,
                "error": unsaved,
            }
            self._changed("")

    def _save(self, result: Result[PageMatch]) -> tuple[str, str]:
        """Save the log; return its path, and why there is none."""
        if not self._folder:
            return "", ""
        log = result_log(cast(Result[Match], result))
        for agent in log["agents"]:
            agent["name"] = self._names[agent["index"]]
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = os.path.join(self._folder, f"locmsim-{stamp}-{self.key}.json")
        try:
            write_whole(path, json.dumps(log, separators=(",", ":")) + "\n")
        except OSError as error:
            return "", f"{path}: {error.strerror}"
        return path, ""

    def reset(self, seed: int = 0) -> None:
        """Do nothing: the person needs no seed."""

    def choose(self, observation: Observation) -> str:
        """Return the person's answer in the choice phase, when it comes."""
        return self._wait(observation)

    def act(self, observation: Observation) -> str:
        """Return the person's answer for a turn, when it comes."""
        if min(observation.me.health, observation.opponent.health) <= 0:
            return "PASS"  # dead from drawing, but asked
        return self._wait(observation)

    def _wait(self, observation: Observation) -> str:
        with self._condition:
            self._answer = None
            state = self._match.state
            self._person.ask(observation, state)
            if state is not None:
                self._steps.settle()
                self._steps.start_turn(state)
            self._changed("")
            while self._answer is None:
                if self._left:
                    raise _Left
                self._condition.wait()
            return self._answer

    def _watched(self, player: int, before: State, applied: list[str], line: str) -> None:
        """Show what a bot did in its turn, step by step, and what it said."""
        if player == self._seat:
            return
        chat = chat_of(line, RULES[self._match.rules].lanes)
        with self._condition:
            self._steps.play_turn(before, applied, chat)
            self._changed("")

    # ------------------------------------------------------------------------------ the pages

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._over is not None

    def row(self) -> dict[str, Any]:
        """Return what a list shows of it, as `locmsim.web.library.Library.games` does."""
        state = self._person.now
        return {
            "key": self.key,
            "source": "played here",
            "number": None,
            "names": [*self._names],
            "winner": None,
            "fault": None,
            "turns": 0 if state is None else state.turn,
            "rules": self._match.rules,
            "game": "",
            "live": "live",
        }

    @property
    def idle(self) -> float:
        """The seconds since a page asked about it."""
        return time.monotonic() - self._asked_at

    def look(self) -> int:
        """Return the number of the last change, for a page that follows the game."""
        self._asked_at = time.monotonic()
        return self._version

    def view(self, have: int = 0, known: int = 0) -> dict[str, Any]:
        """Return all that the person, or a spectator of two bots, may know.

        Parameters
        ----------
        have : int
            How many of the steps the page has that no longer change; the others are left out.
        known : int
            How many cards it has.

        Returns
        -------
        dict
            ``steps`` are those from ``start`` on, ``settled`` of all do not change any more.
        """
        self._asked_at = time.monotonic()
        with self._condition:
            person = self._person
            asked, state = person.asked is not None, person.now
            start, steps = self._steps.since(have)
            return {
                "game": self.key,
                "version": self._version,
                "by": self._by,
                "by_version": self._by_version,
                "seat": None if self._seat < 0 else self._seat,
                "names": self._names,
                "players": [one.key if one else None for one in self._players],
                "asked": asked,
                "choice": person.choice() if self._choosing else None,
                "actions": legal_texts(state) if asked and state is not None else [],
                "done": list(person.done),
                "start": start,
                "steps": steps,
                "settled": self._steps.settled,
                "cards": self.cards.to_json(start=known)["cards"],
                "over": self._over,
            }

    @property
    def _choosing(self) -> bool:
        """Whether the person chooses cards."""
        begun = self._from_start or self._person.now is not None
        return self._seat >= 0 and not begun and self._over is None

    def data(self) -> dict[str, Any]:
        """Return the game's page, as `locmsim.web.replay_data` does, with `view` as ``play``."""
        view = self.view()
        params = {} if self._from_start else self._match.params
        over = view["over"] or {}
        known = {name: over[name] for name in ("winner", "fault", "stderr") if name in over}
        return match_page(
            self._match.rules,
            view["names"],
            self.cards,
            view["steps"],
            params={key: str(value) for key, value in params.items()},
            agents=self._agents,
            seat=view["seat"],
            running=True,
            play=view,
            **known,
        )

    def choose_cards(self, version: int, client: str, keys: Sequence[str]) -> None:
        """Take a deck, or one card of a draft, by keys of `cards`, or raise ``ValueError``."""
        with self._condition:
            self._check(version)
            self._give(self._person.choose(keys), client)

    def do(self, version: int, client: str, text: str) -> None:
        """Carry out an action of the person's turn or raise ``ValueError``; a win ends the turn."""
        with self._condition:
            state = self._turn(version)
            self._steps.act(state, [text])
            self._person.done.append(text)
            if state.is_terminal():
                self._give(self._person.line, client)
            else:
                self._changed(client)

    def undo(self, version: int, client: str) -> None:
        """Take the last action back, which is only sent with the turn, or raise ``ValueError``."""
        with self._condition:
            self._turn(version)
            self._person.undo()
            self._steps.take_back()
            self._changed(client)

    def end_turn(self, version: int, client: str) -> None:
        """Send the turn; raise ``ValueError`` if it is not the person's."""
        with self._condition:
            self._turn(version)
            self._give(self._person.line, client)

    def leave(self) -> None:
        """End the game and its bot, if it is not over; nothing is saved."""
        with self._condition:
            if self._over is not None or self._left:
                return
            self._left = True
            self._over = {"error": "this game was left"}
            self._person.asked = None
            for bot in self._bots:
                bot.kill()
            self._changed("")
            self._condition.notify_all()

    @property
    def running(self) -> bool:
        """Whether the referee and the bot are still running."""
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait until the bot has ended."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def hint(self, *, time_ms: float | None, nodes: int | None) -> dict[str, Any]:
        """Return what the beam search would do; raise ``ValueError`` if the person is not asked.

        Returns
        -------
        dict
            In the choice phase ``cards``, keys. In the battle ``actions``, a whole turn from its
            start, the same as ``words``, and ``chance``, that the person wins by it.
        """
        with self._condition:
            question = self._person.question()
        if question is None:
            raise ValueError("it is not your turn")
        return hint(question, self.cards, self._by_id, self._names, time_ms=time_ms, nodes=nodes)

    def _check(self, version: int) -> None:
        """Raise an error if the person is not asked, or not as the page shows it."""
        if self._over is not None:
            raise OutdatedError("the game is over")
        if version != self._version:
            raise OutdatedError("the game went on in another page")
        if self._person.asked is None:
            raise ValueError("it is not your turn")

    def _turn(self, version: int) -> State:
        """Return the state in the person's turn, or raise an error."""
        self._check(version)
        if self._person.now is None:
            raise ValueError("the battle has not begun")
        return self._person.now

    def _give(self, line: str, client: str) -> None:
        """Answer the referee."""
        self._answer = line
        self._person.asked = None
        self._steps.settle()
        self._changed(client)
        self._condition.notify_all()

    def _changed(self, by: str) -> None:
        self._version += 1
        if by:
            self._by = by
            self._by_version = self._version
