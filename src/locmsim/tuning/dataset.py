"""Examples to learn from: what players saw, what they did, and who won.

A file of examples is one .npz. It has a row for each action, in the order of play, game by game:

=====================  =================  ======================================================
``obs``                (n, layout size)   what the player saw, in a layout; `Layout.describe` says
                                          a row in words
``mask``               (n, actions) int8  1 where an action was legal
``action``             (n,) int16         what the player did, by number (docs/rules.md, section
                                          12)
``result``             (n,) int8          1 if that player won the game, -1 if they lost, 0
                                          without a winner
``turn``               (n,) int16         the number of the turn, counted over both players
``game``               (n,) int32         the number of the game
``cards``              (n, 20, 2) int16   base id and instance id of the 8 places in hand, the
                                          player's 6 slots and the opponent's 6, as in the layout;
                                          -1 where nothing is
``card_seed``          (n,) int64         cardGenSeed of the game, from which `generate_cards`
                                          makes the cards of its base ids; 0 in 1.x and for cards
                                          of other lists or weights
``layout``, ``rules``  texts              the layout of ``obs``, and the rule set
``layout_version``     a number           the version of the layout
``source``             a text             the agent or the file that the games come from
``made``               a text             JSON: the options, and what the library was
=====================  =================  ======================================================
"""

import io
import json
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.agents import make_agent
from locmsim.agents.choosers import deck_builder_of, draft_picker_of, is_foreign_chooser
from locmsim.agents.registry import refuse_own_cards
from locmsim.arena.locm import LocmGame
from locmsim.contract import play_match
from locmsim.envs.asked import show_choice
from locmsim.envs.cards import for_both
from locmsim.envs.episodes import EpisodeMatch
from locmsim.envs.games import Games
from locmsim.envs.options import Options
from locmsim.envs.pool import CALLER
from locmsim.errors import InvalidActionError
from locmsim.game.match import Match
from locmsim.options import common
from locmsim.options.checks import OptionError
from locmsim.options.declarations import check_values, documented
from locmsim.processes.workers import TaskRunner, dask_workers, local_workers
from locmsim.referee.agent_process import UnusableAgentError, asked, look_at
from locmsim.referee.locm_agents import LocmAgents
from locmsim.referee.players import Seat
from locmsim.referee.process import BotFault
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import OFFER_SIZE, get_rules
from locmsim.support.files import numbered, write_whole
from locmsim.support.identity import library
from locmsim.support.seeds import derived_seed

__all__ = ["Examples", "add_log", "examples_of_agent"]

#: Games that a worker is given at a time, with a search a tenth of a second of work: those of whole
#: card sets, of sets with very many games no more than the second number.
_TASK = 8, 64
#: Cards in hand and slots of a board, as in the layouts.
_HAND, _SLOTS = 8, 6
#: The arrays of one game.
_Part = dict[str, NDArray[Any]]


class Examples:
    """Examples as they are collected.

    Parameters
    ----------
    rules : str
    layout : str
        Name of an observation layout.
    players : tuple of int
        Whose actions are taken.
    """

    def __init__(
        self, rules: str = "1.5", layout: str = "entities", players: tuple[int, ...] = (0, 1)
    ) -> None:
        self.rules = rules
        self.players = players
        self._options = Options(rules=rules, layout=layout, opponent=CALLER)
        self._dealer = _Dealer(self._options)
        self.layout = self._dealer.games.layout
        self.games = 0
        #: By the number of the game.
        self._parts: dict[int, _Part] = {}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, start: Match, turns: Iterable[tuple[int, list[int]]]) -> None:
        """Add a battle.

        Parameters
        ----------
        start : Match
            At the start of its battle.
        turns : iterable
            The player and their actions, PASS not among them, of each turn.
        """
        known = ("seed", *get_rules(self.rules).seed_names)
        params = {name: start.params[name] for name in known}
        own = _own_cards(start)
        rows = self._dealer.begin(0, own, match=params, decks=start.chosen).rows
        size, n_actions = self.layout.shape[0], rows.n_actions
        seen, masks, actions, movers, numbers, cards = [], [], [], [], [], []
        assert start.state is not None
        state = start.state.clone()  # it has the instance ids of the match
        for player, turn in turns:
            for action in [*turn, 0]:
                if rows.views.winner(0) >= 0:
                    break
                if player in self.players:
                    observation = np.empty(size, self.layout.dtype)
                    mask = np.empty(n_actions, np.int8)
                    rows.views.observe(0, player, observation, mask)
                    seen.append(observation)
                    masks.append(mask)
                    actions.append(action)
                    movers.append(player)
                    numbers.append(rows.views.turn(0))
                    cards.append(_cards_of(state, player))
                rows.step_row(0, action)
                state.apply_action(action)
        winner = rows.views.winner(0)
        part: _Part = {}
        if actions:
            results = [0 if winner < 0 else 1 if winner == player else -1 for player in movers]
            part = {
                "obs": np.stack(seen),
                "mask": np.stack(masks),
                "action": np.array(actions, np.int16),
                "result": np.array(results, np.int8),
                "turn": np.array(numbers, np.int16),
                "cards": np.stack(cards),
                "card_seed": np.full(
                    len(actions), 0 if own else int(start.params.get("cardGenSeed", 0))
                ),
            }
        self._put(self.games, part)

    def _put(self, number: int, part: _Part) -> None:
        """Add the arrays of a game."""
        if part:
            self._parts[number] = part
            self._length += len(part["action"])
        self.games += 1

    def _take(self) -> _Part:
        """Return the arrays of the only game, which is removed."""
        part = self._parts.pop(0, {})
        self.games = self._length = 0
        return part

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all examples, game by game.

        Returns
        -------
        dict of arrays
            ``obs``, ``mask``, ``action``, ``result``, ``turn``, ``game``, ``cards`` and
            ``card_seed``, which `locmsim.tuning.dataset` explains.

        Raises
        ------
        ValueError
            If there are no examples.
        """
        if not self._parts:
            raise ValueError("there are no examples")
        numbers = sorted(self._parts)
        parts = [self._parts[number] for number in numbers]
        result = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        lengths = [len(part["action"]) for part in parts]
        result["game"] = np.repeat(np.array(numbers, np.int32), lengths)
        return result

    def save(
        self, path: str | os.PathLike[str], source: str, options: Mapping[str, Any] | None = None
    ) -> None:
        """Write the file.

        Parameters
        ----------
        path : str or path
        source : str
            Where the examples come from.
        options : mapping, optional
            How they were made, as plain data.

        Raises
        ------
        ValueError
            If there are no examples.
        """
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            **self.arrays(),  # type: ignore[arg-type]
            layout=np.array(self.layout.name),
            layout_version=np.array(self.layout.version),
            rules=np.array(self.rules),
            source=np.array(source),
            made=np.array(json.dumps({**(options or {}), "library": library("locmsim")})),
        )
        write_whole(path, buffer.getvalue())


def _own_cards(match: Match) -> list[Card] | None:
    """Return what a match offers if it follows neither from the rules nor from a seed."""
    if match.log["cards"] is None:
        return None
    return [card for card in match.offers if isinstance(card, Card)]


class _Dealer:
    """A row that deals matches, also those of other cards than the rules'."""

    def __init__(self, options: Options) -> None:
        self.games = Games(1, options)
        self._few = self.games

    def begin(self, seed: int, cards: list[Card] | None, **wanted: Any) -> Games:
        """Begin an episode; return its row."""
        games = self.games
        if cards is not None and len(cards) == OFFER_SIZE:
            wanted["cards"] = cards
        elif cards is not None:  # all episodes of such a row have the same cards
            if self._few.options.cards != cards:
                options = replace(games.options, cards=cards, card_sets=Options.card_sets)
                self._few = Games(1, options)
            games = self._few
        games.begin(0, seed, wanted)
        return games


def _cards_of(state: State, player: int) -> NDArray[np.int16]:
    """Return base id and instance id of what the layouts show of hand and boards."""
    found = np.full((_HAND + 2 * _SLOTS, 2), -1, np.int16)
    for place, held in enumerate(state.players[player].hand):
        found[place] = held.card.base_id, held.id
    size = _SLOTS if state.rules == "1.0" else _SLOTS // 2
    for side in range(2):
        lanes = [0, 0]
        for creature in state.players[player ^ side].board:
            slot = size * creature.lane + lanes[creature.lane]
            lanes[creature.lane] += 1
            found[_HAND + _SLOTS * side + slot] = creature.card.base_id, creature.id
    return found


class _Setting(NamedTuple):
    """What all games of an agent with itself have in common."""

    agent: str
    rules: str
    game: LocmGame | None
    layout: str
    decks: Any
    card_sets: Any
    #: Another one for each call: what it names may have changed since the last.
    call: str

    def __str__(self) -> str:
        """Who may have failed, for messages."""
        return " with decks ".join([self.agent, *_foreign_choosers(self.decks)])

    def dealer(self) -> _Dealer:
        """Return a row that deals the games."""
        options = Options(
            rules=self.rules, decks=self.decks, card_sets=self.card_sets, opponent=CALLER
        )
        return _Dealer(options)


class _Player:
    """An agent that plays against itself, and notes what it saw and did."""

    def __init__(self, setting: _Setting) -> None:
        self.setting = setting
        self._examples = Examples(setting.rules, setting.layout)
        self._dealer = setting.dealer()
        self._agents = make_agent(setting.agent), make_agent(setting.agent)

    def game(self, seed: int) -> _Part:
        """Return the arrays of the game of a seed of its own."""
        rules, game = self.setting.rules, self.setting.game
        own = None if game is None else _own_cards(game.new_match(seed))
        games = self._dealer.begin(seed, own)
        first, derived = games.rows.views.seeds(0)
        dealt = first, derived, games.rows.views.decks(0), games.rows.card_sets.offers(0)
        match = EpisodeMatch(rules, dealt, games.cards(0), fixed=own is not None).match()
        start = match.clone()
        for player, agent in enumerate(self._agents):
            agent.reset(derived_seed(seed, f"seat {player}"))
            shown = [offer for offer in match.offers if isinstance(offer, list)]
            offers = shown or [[card for card in match.offers if isinstance(card, Card)]]
            show_choice(agent, rules, offers, player, match.chosen[player])
        turns: list[tuple[int, list[int]]] = []
        play_match(
            match,
            self._agents,
            lambda match, player, line: turns.append((player, _actions(match, line))),
        )
        self._examples.add(start, turns)
        return self._examples._take()


#: The `player` of each thread's last call: workers of a cluster may have several threads.
_mine = threading.local()


def _play(setting: _Setting, seeds: list[int]) -> list[_Part]:
    """Play games in a worker process; ``ValueError`` if the agent fails."""
    parts: list[_Part] = []
    try:
        for seed in seeds:
            asked(lambda: parts.append(_game(setting, seed)), None, None)  # noqa: B023 - at once
        return parts
    except BotFault as fault:
        words = "\n".join(filter(None, [f"{setting} {fault.message}", fault.traceback]))
        raise ValueError(words.rstrip()) from None


def _game(setting: _Setting, seed: int) -> _Part:
    player: _Player | None = getattr(_mine, "player", None)
    if player is None or player.setting != setting:
        player = _mine.player = _Player(setting)
    return player.game(seed)


@documented(Options)
def examples_of_agent(
    agent: str,
    games: common.Games,
    *,
    rules: str = "1.5",
    game: LocmGame | None = None,
    layout: str = "entities",
    decks: Any = "random",
    card_sets: Any = 1024,
    seed: common.Seed = 0,
    jobs: common.Jobs = 1,
    dask: common.Dask | None = None,
) -> Iterator[Examples]:
    """Games of an agent with itself; the examples so far after each.

    The seeds of the games are derived from `seed` and from their numbers, so that no two seeds
    share games. With one job, this process plays. The examples of an agent without a bound of time
    do not depend on the processes.

    Parameters
    ----------
    agent : str
        A text for `make_agent`, without the options ``deck`` and ``draft``: `decks` replaces them.
    game : LocmGame, optional
        The game, if it has other cards than the rules; its rule set takes precedence over `rules`.
    options

    Yields
    ------
    Examples
        Always the same object, to which a game has been added.

    Raises
    ------
    ValueError
        An option is not valid, or the agent or what chooses the cards cannot be made or raises an
        exception in a game.
    ImportError, OSError
        Without dask.distributed, or where the scheduler does not answer.
    WorkersError
        The processes are gone, or the agent ends them.
    """
    check_values(examples_of_agent, games=games, seed=seed, jobs=jobs)
    if dask is not None and jobs != 1:
        raise OptionError("jobs", "does not apply with ", "dask")
    if game is not None:
        rules = game.rules
    examples = Examples(rules, layout)
    setting = _Setting(agent, rules, game, layout, decks, card_sets, secrets.token_hex())
    choosers = _foreign_choosers(decks)
    # What is wrong with them is said here. Code of others must not end this process.
    refuse_own_cards(agent)
    seat = Seat(agent, LocmAgents())
    seat.known()
    for text in choosers:
        _check_chooser(text, rules)
    dealer = (setting._replace(decks="random") if choosers else setting).dealer().games

    def seed_of(number: int) -> int:
        return derived_seed(seed, f"game {number}")

    def card_set(number: int) -> int:
        dealer.rows.begin(0, seed_of(number))
        return dealer.rows.card_sets.seed(0)

    # An agent that plays all games with a card set computes its preparations only once.
    sets: dict[int, list[int]] = {}
    for number in range(games):
        sets.setdefault(card_set(number), []).append(number)
    least, most = _TASK
    tasks: list[list[int]] = []
    for numbers in sets.values():
        if not tasks or len(tasks[-1]) >= least:
            tasks.append([])
        tasks[-1] += numbers
    tasks = [task[i : i + most] for task in tasks for i in range(0, len(task), most)]
    count = min(jobs, max(1, len(tasks)))
    apart = seat.foreign or bool(choosers)
    shared = dask_workers(dask) if dask else local_workers(count, (), apart=apart)
    with shared as workers:
        runner = TaskRunner(
            workers,
            tasks,
            lambda executor, task: executor.submit(_play, setting, [*map(seed_of, task)]),
            parts=lambda task: [[number] for number in task],
            name=lambda task: f"{setting}: {numbered('game', task)}",
        )
        for task, future in runner:
            for number, part in zip(task, future.result(), strict=True):
                examples._put(number, part)
                yield examples


def _foreign_choosers(decks: Any) -> list[str]:
    """Return the texts of `Options.decks` that name code that is not part of the library."""
    pair = for_both(decks)
    texts = pair if isinstance(pair, tuple | list) else ()
    return sorted({one for one in texts if isinstance(one, str) and is_foreign_chooser(one)})


def _check_chooser(text: str, rules: str) -> None:
    """Load a builder or picker of others in a process of its own."""
    draft = get_rules(rules).draft
    try:
        look_at(partial(draft_picker_of if draft else deck_builder_of, text))
    except UnusableAgentError as error:
        reason = str(error).removeprefix("draft: ").removeprefix("deck: ")
        raise OptionError("decks", reason) from None


def add_log(examples: Examples, log: Mapping[str, Any], players: tuple[int, ...] = (0, 1)) -> bool:
    """Add what players did in an earlier match.

    Parameters
    ----------
    examples : Examples
        What they are added to.
    log : mapping
        As `Match.log`.
    players : tuple of int
        Whose actions are taken.

    Returns
    -------
    bool
        False, and nothing is added, for a match of another rule set, or that began in a position
        or ended in the choice phase.
    """
    if log["rules"] != examples.rules or "start" in log:
        return False
    cards = log["cards"] and [Card(*row) for row in log["cards"]]
    match = Match(log["rules"], params=log["params"], cards=cards, ids=log["ids"])
    turns: list[tuple[int, list[int]]] = []
    start = None
    for player, line in log["answers"]:
        if match.state is not None:
            start = start or match.clone()
            turns.append((player, _actions(match, line)))
        match.submit(player, line)
    if start is not None:
        examples.players = players
        examples.add(start, turns)
    return start is not None


def _actions(match: Match, line: str | None) -> list[int]:
    """Return the actions that a line carries out."""
    assert match.state is not None
    try:
        return [] if line is None else match.state.actions_of(line)
    except InvalidActionError:
        return []
