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
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from locmsim._core import State, original_of
from locmsim._io import write_whole
from locmsim.agents.registry import make_agent
from locmsim.arena.locm import LocmGame
from locmsim.contract import TurnResult
from locmsim.decks import build_deck, deck_line, pick
from locmsim.game._match import base_ids
from locmsim.game.action_text import line_words
from locmsim.game.match import Match
from locmsim.game.observation import Observation
from locmsim.referee.agent_process import IsolatedAgent
from locmsim.referee.process import BotProcess
from locmsim.referee.process_match import Result, play
from locmsim.referee.transcript import result_log
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES
from locmsim.search.belief import Belief
from locmsim.search.turn_search import BeamSearch
from locmsim.web.replay import chat_of
from locmsim.web.views import PERSON, Cards, action_steps, legal_texts, turn_step

__all__ = ["Game", "Opponent", "OutdatedError"]

_log = logging.getLogger(__name__)

#: The least time for a bot's first answer in ms: what the rules give it for that.
_FIRST_MS = 1000


class OutdatedError(ValueError):
    """The page that asks shows an earlier version of the game."""


@dataclass(frozen=True)
class Opponent:
    """An opponent to play against.

    Attributes
    ----------
    key : str
        What the page calls it.
    name : str
        What people call it.
    agent : str
        The description of an agent; empty for a program.
    command : str
        The command of a program.
    rules : tuple of str
        The rule sets that they play; empty for all.
    foreign : bool
        Whether code of others than the library plays in the agent.
    """

    key: str
    name: str
    agent: str = ""
    command: str = ""
    rules: tuple[str, ...] = ()
    foreign: bool = False

    def player(self, seed: int) -> str | list[str] | IsolatedAgent:
        """Return the player for the referee, always a process: the package's agents are programs.

        An agent of others tells its author why it failed.
        """
        if not self.agent:
            return self.command
        if self.foreign:
            return IsolatedAgent(partial(make_agent, self.agent), seed)
        return LocmGame().command_of(self.agent, seed)


class _Left(BaseException):
    """The person has left the game."""


class _Match(Match):
    """A match in which a person has all the time, and which is watched."""

    #: The person's seat; -1 if two bots play.
    person: int = -1
    #: The seats that have answered before.
    answered: frozenset[int] = frozenset()
    #: Called with the player, the state before, the actions and the line of each turn.
    watch: Callable[[int, State, list[str], str], object] = staticmethod(lambda *turn: None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out who watches: an agent in a process of its own has a copy of the match."""
        return {name: value for name, value in vars(self).items() if name != "watch"}

    def time_limit_ms(self, player: int) -> int:
        if player == self.person:
            return 0
        limit = super().time_limit_ms(player)
        # The first answer has to wait for the bot's start, as the choice of cards does.
        return limit if player in self.answered else max(limit, _FIRST_MS)

    def submit(self, player: int, line: str | None) -> TurnResult:
        before = None if self.state is None else self.state.clone()
        result = super().submit(player, line)
        self.answered |= {player}
        if before is not None:
            self.watch(player, before, result.applied, line or "")
        return result


def _match_from(state: State) -> _Match:
    """Return a match that begins in a position; its log, without a choice, cannot be replayed."""
    match = _Match(state.rules, seed=0)
    match.state = state.clone()
    for side in state.players:
        held = [(card.id, card.card) for card in (*side.hand, *side.deck)]
        held += [(creature.id, creature.card) for creature in side.board]
        found = [(original_of(state.rules, instance), card.base_id) for instance, card in held]
        match._base_ids.update(base_ids(state.rules, found))
    match._to_ask = (state.current_player(),)
    return match


class Game:
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
    changed : function
        Called after each change, from any thread.

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
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        if [*players].count(None) > 1:
            raise ValueError("two persons cannot play each other here")
        if start is not None and start.is_terminal():
            raise ValueError("the game is decided in this position")
        self.key = key
        self._from_start = start is not None
        self._match = _Match(rules, seed=seed) if start is None else _match_from(start)
        self._seat = [*players].index(None) if None in players else -1
        self._hidden = None if self._seat < 0 else 1 - self._seat
        self._match.person = self._seat
        self._match.watch = self._watched
        self._players = players
        self._timeout_scale = timeout_scale
        self._folder = os.fspath(folder)
        self._ended = ended
        self._tell = changed
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
        self._seen: list[Observation] = []
        self._picked: list[int] = []
        self._asked: Observation | None = None
        self._answer: str | None = None
        self._start: State | None = None  # of the person's turn
        self._now: State | None = None
        self._done: list[str] = []
        self._steps: list[dict[str, Any]] = []
        #: The number of steps that no longer change: all but those of the person's turn.
        self._settled = 0
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
                self._asked = None
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

    def _finish(self, result: Result[_Match]) -> None:
        # A match that began in a position has no log that could be replayed.
        path, unsaved = ("", "") if self._from_start else self._save(result)
        key = ""
        if not self._from_start:
            key = self._ended(result, self._names, path=path, agents=self._agents)
        fault = result.fault
        with self._condition:
            state = self._match.state
            if state is not None:
                self._now = state.clone()
                last = turn_step(state, self.cards, self._hidden)
                if not self._steps or self._steps[-1]["board"] != last["board"]:
                    self._steps.append(last)  # they died from drawing
            self._settled = len(self._steps)
            self._asked = None
            self._over = {
                "winner": result.winner,
                "scores": list(result.scores),
                "fault": fault
                and {"player": fault.player, "kind": str(fault.kind), "message": fault.message},
                "stderr": list(result.stderr),
                "replay": key,
                "path": path,
                "error": unsaved,
            }
            self._changed("")

    def _save(self, result: Result[_Match]) -> tuple[str, str]:
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
            self._seen.append(observation)
            self._asked = observation
            self._answer = None
            if self._match.state is not None:
                self._start = self._match.state.clone()
                self._now = self._start.clone()
                self._done = []
                self._settled = len(self._steps)
                self._steps.append(turn_step(self._start, self.cards, self._hidden))
            self._changed("")
            while self._answer is None:
                if self._left:
                    raise _Left
                self._condition.wait()
            return self._answer

    def _watched(self, player: int, before: State, applied: list[str], line: str) -> None:
        """Keep what a bot did in its turn, step by step, and what it said."""
        if player == self._seat:
            return
        start = turn_step(before, self.cards, self._hidden)
        start["chat"] = chat_of(line, RULES[self._match.rules].lanes)
        actions = action_steps(before, applied, self.cards, self._names, self._hidden)
        with self._condition:
            self._steps += [start, *actions]
            self._settled = len(self._steps)
            self._changed("")

    # ------------------------------------------------------------------------------ the pages

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._over is not None

    def row(self) -> dict[str, Any]:
        """Return what a list shows of it, as `locmsim.web.library.Library.games` does."""
        state = self._now
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
            observation, state = self._asked, self._now
            own = observation is not None and state is not None
            start = have if 0 <= have <= self._settled else 0
            return {
                "game": self.key,
                "version": self._version,
                "by": self._by,
                "by_version": self._by_version,
                "seat": None if self._seat < 0 else self._seat,
                "names": self._names,
                "players": [one.key if one else None for one in self._players],
                "asked": observation is not None,
                "choice": self._choice(),
                "actions": legal_texts(state) if own and state is not None else [],
                "done": list(self._done),
                "start": start,
                "steps": self._steps[start:],
                "settled": self._settled,
                "cards": self.cards.to_json(start=known)["cards"],
                "over": self._over,
            }

    def data(self) -> dict[str, Any]:
        """Return the game's page, as `locmsim.web.replay_data` does, with `view` as ``play``."""
        view = self.view()
        rules = self._match.rules
        params = {} if self._from_start else self._match.params
        over = view["over"] or {}
        return {
            "rules": rules,
            "lanes": RULES[rules].lanes,
            "names": view["names"],
            "scores": over.get("scores"),
            "winner": over.get("winner"),
            "fault": over.get("fault"),
            "params": {key: str(value) for key, value in params.items()},
            "stderr": over.get("stderr", ["", ""]),
            "agents": self._agents,
            "seat": view["seat"],
            **self.cards.to_json(),
            "choice": [[], []],
            "offers": [],
            "steps": view["steps"],
            "running": True,
            "play": view,
        }

    def _choice(self) -> dict[str, Any] | None:
        observation = self._asked
        chosen = [self.cards.key(self._by_id[base_id]) for base_id in self._picked]
        if self._now is not None or self._over is not None or self._seat < 0 or self._from_start:
            return None
        offer = () if observation is None else observation.offer
        draft = RULES[self._match.rules].draft
        return {
            "draft": draft,
            "offer": [self.cards.key(self._by_id[card.base_id]) for card in offer],
            "chosen": chosen,
            "size": DECK_SIZE,
            "copies": COPIES_PER_CARD,
        }

    def choose_cards(self, version: int, client: str, keys: Sequence[str]) -> None:
        """Take a deck, or one card of a draft, by keys of `cards`, or raise ``ValueError``."""
        with self._condition:
            observation = self._checked(version)
            if observation.phase != "choice":
                raise ValueError("the cards are chosen already")
            base_ids = {
                self.cards.key(self._by_id[c.base_id]): c.base_id for c in observation.offer
            }
            for key in keys:
                if key not in base_ids:
                    raise ValueError(f"card {key!r} is not offered")
            chosen = [base_ids[key] for key in keys]
            if RULES[self._match.rules].draft:
                if len(chosen) != 1:
                    raise ValueError(f"expected one card, got {len(chosen)}")
                offer = [card.base_id for card in observation.offer]
                line = f"PICK {offer.index(chosen[0])}"
            else:
                if len(chosen) != DECK_SIZE:
                    raise ValueError(f"a deck has {DECK_SIZE} cards, got {len(chosen)}")
                if max(map(chosen.count, chosen)) > COPIES_PER_CARD:
                    raise ValueError(f"a deck has at most {COPIES_PER_CARD} of a card")
                line = deck_line(chosen)
            self._picked += chosen
            self._give(line, client)

    def do(self, version: int, client: str, text: str) -> None:
        """Carry out an action of the person's turn or raise ``ValueError``; a win ends the turn."""
        with self._condition:
            state = self._turn(version)
            self._steps += action_steps(state, [text], self.cards, self._names, self._hidden)
            self._done.append(text)
            if state.is_terminal():
                self._give(";".join(self._done), client)
            else:
                self._changed(client)

    def undo(self, version: int, client: str) -> None:
        """Take the last action back, which is only sent with the turn, or raise ``ValueError``."""
        with self._condition:
            self._turn(version)
            if not self._done or self._start is None:
                raise ValueError("there is nothing to take back")
            self._done.pop()
            self._steps.pop()
            self._now = self._start.clone()
            for text in self._done:
                self._now.apply_action(self._now.string_to_action(text))
            self._changed(client)

    def end_turn(self, version: int, client: str) -> None:
        """Send the turn; raise ``ValueError`` if it is not the person's."""
        with self._condition:
            self._turn(version)
            self._give(";".join(self._done) or "PASS", client)

    def leave(self) -> None:
        """End the game and its bot, if it is not over; nothing is saved."""
        with self._condition:
            if self._over is not None or self._left:
                return
            self._left = True
            self._over = {"error": "this game was left"}
            self._asked = None
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
            seen, picked, observation = self._seen[:], self._picked[:], self._asked
            start = None if self._start is None else self._start.clone()
        if observation is None:
            raise ValueError("it is not your turn")
        if observation.phase == "choice":
            if RULES[observation.rules].draft:
                had = [self._by_id[base_id] for base_id in picked]
                earlier = [shown.offer for shown in seen[: len(had)]]
                choice = pick(observation.offer, had, observation.rules, earlier=earlier)
                return {"cards": [self.cards.key(self._by_id[observation.offer[choice].base_id])]}
            deck = build_deck(observation.offer)
            return {"cards": [self.cards.key(self._by_id[base_id]) for base_id in deck]}
        assert start is not None
        belief = Belief()
        chosen = iter(picked)
        for shown in seen:
            belief.see(shown)
            if shown.phase == "choice":
                belief.chose([next(chosen)] if RULES[shown.rules].draft else chosen)
        found = BeamSearch().search(observation, time_ms=time_ms, nodes=nodes, belief=belief)
        actions = [] if found.line == "PASS" else found.line.split(";")
        words = line_words(start, actions, self._names, self.cards.titles)
        return {"actions": actions, "words": words, "chance": (1 + found.value) / 2}

    def _checked(self, version: int) -> Observation:
        if self._over is not None:
            raise OutdatedError("the game is over")
        if version != self._version:
            raise OutdatedError("the game went on in another page")
        if self._asked is None:
            raise ValueError("it is not your turn")
        return self._asked

    def _turn(self, version: int) -> State:
        self._checked(version)
        if self._now is None:
            raise ValueError("the battle has not begun")
        return self._now

    def _give(self, line: str, client: str) -> None:
        """Answer the referee."""
        self._answer = line
        self._asked = None
        self._settled = len(self._steps)
        self._changed(client)
        self._condition.notify_all()

    def _changed(self, by: str) -> None:
        self._version += 1
        if by:
            self._by = by
            self._by_version = self._version
        self._tell()
