"""Examples to learn from: what players saw, what they did, and who won.

A file of examples is one .npz: ``obs`` (n, size of the layout), ``mask`` (n, actions), ``action``
(n,), ``result`` (n,): 1 if the one who acted has won, -1 if not, 0 without a winner; ``turn`` (n,)
and ``game`` (n,); and the texts ``layout``, ``layout_version``, ``rules``, ``source``.
"""

import io
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim._io import write_whole
from locmsim.agents import make_agent
from locmsim.contract import play_match
from locmsim.envs.games import EpisodeMatch, Games, Options
from locmsim.envs.players import CALLER, show_choice
from locmsim.errors import InvalidActionError
from locmsim.game.match import Match
from locmsim.rules.cards import Card

__all__ = ["Examples", "add_log", "examples_of_agent"]


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
        self._games = Games(1, self._options)
        self.layout = self._games.layout
        self.games = 0
        self._parts: list[dict[str, NDArray[Any]]] = []

    def __len__(self) -> int:
        return sum(len(part["action"]) for part in self._parts)

    def add(self, start: Match, turns: Iterable[tuple[int, list[int]]]) -> None:
        """Add a battle.

        Parameters
        ----------
        start : Match
            At the start of its battle.
        turns : iterable
            The player and their actions, PASS not among them, of each turn.
        """
        params = {
            name: value
            for name, value in start.params.items()
            if name not in ("league", "predefinedDraftIds")
        }
        rows = self._games.rows
        self._games.begin(0, 0, {"match": params, "decks": start.chosen})
        size, n_actions = self.layout.shape[0], rows.n_actions
        seen, masks, actions, movers, numbers = [], [], [], [], []
        for player, turn in turns:
            for action in [*turn, 0]:
                if rows.winner(0) >= 0:
                    break
                if player in self.players:
                    observation = np.empty(size, self.layout.dtype)
                    mask = np.empty(n_actions, np.int8)
                    rows.observe(0, player, observation, mask)
                    seen.append(observation)
                    masks.append(mask)
                    actions.append(action)
                    movers.append(player)
                    numbers.append(rows.turn(0))
                rows.step_row(0, action)
        winner = rows.winner(0)
        if actions:
            results = [0 if winner < 0 else 1 if winner == player else -1 for player in movers]
            self._parts.append(
                {
                    "obs": np.stack(seen),
                    "mask": np.stack(masks),
                    "action": np.array(actions, np.int16),
                    "result": np.array(results, np.int8),
                    "turn": np.array(numbers, np.int16),
                    "game": np.full(len(actions), self.games, np.int32),
                }
            )
        self.games += 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All examples; ``ValueError`` if there is none."""
        if not self._parts:
            raise ValueError("there are no examples")
        return {
            name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]
        }

    def save(self, path: str | os.PathLike[str], source: str) -> None:
        """Write the file; `source` says where they come from."""
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            **self.arrays(),  # type: ignore[arg-type]
            layout=np.array(self.layout.name),
            layout_version=np.array(self.layout.version),
            rules=np.array(self.rules),
            source=np.array(source),
        )
        write_whole(path, buffer.getvalue())


def examples_of_agent(
    agent: str,
    games: int,
    *,
    rules: str = "1.5",
    layout: str = "entities",
    decks: Any = "random",
    card_sets: Any = 1024,
    seed: int = 0,
) -> Iterator[Examples]:
    """Games of an agent with itself; the examples so far after each.

    Parameters
    ----------
    agent : str
        A text for `make_agent`.
    games : int
    rules, layout, decks, card_sets
        As in `Options`.
    seed : int
    """
    examples = Examples(rules, layout)
    source = Games(1, Options(rules=rules, decks=decks, card_sets=card_sets, opponent=CALLER))
    players = make_agent(agent), make_agent(agent)
    for number in range(games):
        source.begin(0, seed + number)
        first, derived = source.rows.seeds(0)
        dealt = first, derived, source.rows.decks(0), source.rows.offers(0)
        match = EpisodeMatch(rules, dealt, source.cards(0), given=False).match()
        start = match.clone()
        for player, one in enumerate(players):
            one.reset(2 * (seed + number) + player)
            shown = [offer for offer in match.offers if isinstance(offer, list)]
            offers = shown or [[card for card in match.offers if isinstance(card, Card)]]
            show_choice(one, rules, offers, player, match.chosen[player])
        turns: list[tuple[int, list[int]]] = []
        play_match(
            match,
            players,
            lambda match, player, line, turns=turns: turns.append((player, _actions(match, line))),  # type: ignore[misc]
        )
        examples.add(start, turns)
        yield examples


def add_log(examples: Examples, log: Mapping[str, Any], players: tuple[int, ...] = (0, 1)) -> bool:
    """Add what `players` did in a match of before, given as `Match.log`.

    False, and nothing is added, for a match of another rule set, with a card list of its own or
    that ended in the choice phase.
    """
    if log["rules"] != examples.rules or log["cards"] is not None:
        return False
    match = Match(log["rules"], params=log["params"], ids=log["ids"])
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
    """The actions that a line carries out."""
    assert match.state is not None
    try:
        return [] if line is None else match.state.actions_of(line)
    except InvalidActionError:
        return []
