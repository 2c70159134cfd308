"""Why a player loses: the turns and decks of many games of an arena's results.

`locmsim.referee.turn_report` does the same for one game.
"""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from locmsim._core import State
from locmsim.arena.tournament import Arena
from locmsim.contract import Part, require
from locmsim.decks.report import report_decks
from locmsim.errors import InvalidActionError
from locmsim.options.checks import MOST_THREADS, OptionError, whole
from locmsim.processes.workers import TaskRunner, local_workers
from locmsim.referee.knowledge import replayed
from locmsim.referee.turn_report import LEAST_LOSS, TurnReport, report_turns
from locmsim.rules.actions import ActionKind

__all__ = ["GameLosses", "PlayerReport", "TurnLosses", "report_players"]

#: Turns that are shown as the worst.
WORST = 10


class TurnLosses(NamedTuple):
    """A turn of a player, and what was left undone in it.

    Attributes
    ----------
    report : TurnReport
        The turn and the best one.
    missed_win : bool
        Whether the best turn won at once in every sampled world, and the one played did not.
    unspent : int
        Mana that was left although a card in hand could still have been played with it.
    """

    report: TurnReport
    missed_win: bool
    unspent: int


class GameLosses(NamedTuple):
    """A game, as one of its players lost or won it.

    Attributes
    ----------
    number : int
        The number of the game in the results.
    seat : int
        The player's seat.
    score : float
        1 for a win, 0.5 for a draw, 0 for a loss.
    deck, package : float or None
        The chance of winning with the player's deck, and with the deck that the package would have
        chosen, as of `locmsim.decks.report.DeckReport`; None if no decks were chosen.
    turns : list of TurnLosses
        The player's turns, in order.
    """

    number: int
    seat: int
    score: float
    deck: float | None
    package: float | None
    turns: list[TurnLosses]


@dataclass(slots=True)
class PlayerReport:
    """The games of a player. All numbers are shares from 0 to 1 unless they are counts.

    Attributes
    ----------
    name : str
        The player.
    db : str
        The file of results.
    chosen : int
        The number of games to look at.
    games : list of GameLosses
        Those that were looked at so far, by number.
    """

    name: str
    db: str
    chosen: int
    games: list[GameLosses] = field(default_factory=list)

    def worst(self, count: int = WORST) -> list[tuple[int, TurnReport]]:
        """Return the turns that lost most, but no noise, each after the number of its game.

        Parameters
        ----------
        count : int
            How many turns at most.
        """
        lost = [
            (g.number, t.report) for g in self.games for t in g.turns if t.report.loss >= LEAST_LOSS
        ]
        return sorted(lost, key=lambda one: (-one[1].loss, one[0], one[1].turn))[:count]

    def command(self, number: int, turn: int) -> str:
        """Return the command that analyses a turn.

        Parameters
        ----------
        number, turn : int
            The numbers of the game and of the turn.
        """
        return f"locmsim analyse {shlex.quote(f'{self.db}:{number}')} --turn {turn}"

    def summary(self) -> dict[str, float | None]:
        """Return means over the games; None for what no game tells.

        Returns
        -------
        dict
            ``score``, the mean score; ``deck`` and ``package``, the mean chances of winning with
            the player's deck and with the package's; ``lost_by_deck``, their difference, and
            ``lost_by_turns``, what the turns of a game gave away; ``deck_share``, the deck's share
            of both; ``missed_wins``, their number; ``unspent``, the mana unspent in a turn.
        """
        decks = [(g.deck, g.package) for g in self.games if g.deck is not None and g.package]
        turns = [turn for game in self.games for turn in game.turns]
        deck = _mean([mine for mine, _ in decks])
        package = _mean([theirs for _, theirs in decks])
        by_deck = None if deck is None or package is None else package - deck
        by_turns = _mean([sum(turn.report.loss for turn in game.turns) for game in self.games])
        share = None
        if by_deck is not None and by_turns is not None and max(by_deck, 0) + by_turns > 0:
            share = max(by_deck, 0) / (max(by_deck, 0) + by_turns)
        return {
            "score": _mean([game.score for game in self.games]),
            "deck": deck,
            "package": package,
            "lost_by_deck": by_deck,
            "lost_by_turns": by_turns,
            "deck_share": share,
            "missed_wins": sum(turn.missed_win for turn in turns),
            "unspent": _mean([turn.unspent for turn in turns]),
        }

    def by_turn(self) -> list[dict[str, Any]]:
        """Return what the player's first, second and further turns gave away.

        Returns
        -------
        list of dict
            ``turn``, counted over the player's own turns from 1; ``games``, the number of games
            with such a turn; the means ``loss`` and ``unspent``; the number of ``missed_wins``.
        """
        found: dict[int, list[TurnLosses]] = {}
        for game in self.games:
            for number, turn in enumerate(game.turns, 1):
                found.setdefault(number, []).append(turn)
        return [
            {
                "turn": number,
                "games": len(turns),
                "loss": _mean([turn.report.loss for turn in turns]),
                "unspent": _mean([turn.unspent for turn in turns]),
                "missed_wins": sum(turn.missed_win for turn in turns),
            }
            for number, turns in sorted(found.items())
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain dicts, lists, numbers and strings.

        Returns
        -------
        dict
            ``name``; ``chosen``, the number of games to look at; ``games``, each with its
            ``number``, ``seat``, ``score``, ``deck``, ``package`` and ``turns``, which are as of
            `TurnReport.to_json`, with ``missed_win`` and ``unspent``; ``summary`` and ``by_turn``
            as of the methods; ``worst``, turns with ``game``, ``turn``, ``loss`` and ``command``.
        """
        return {
            "name": self.name,
            "chosen": self.chosen,
            "summary": self.summary(),
            "by_turn": self.by_turn(),
            "worst": [
                {
                    "game": number,
                    "turn": turn.turn,
                    "loss": turn.loss,
                    "command": self.command(number, turn.turn),
                }
                for number, turn in self.worst()
            ],
            "games": [
                {
                    **game._asdict(),
                    "turns": [
                        {
                            **turn.report.to_json(),
                            "missed_win": turn.missed_win,
                            "unspent": turn.unspent,
                        }
                        for turn in game.turns
                    ],
                }
                for game in self.games
            ],
        }


def report_players(
    db: str | os.PathLike[str],
    players: Sequence[str] = (),
    *,
    lost: bool = False,
    games: int | None = None,
    nodes: int = 5000,
    seed: int = 0,
    jobs: int = 1,
) -> Iterator[list[PlayerReport]]:
    """Judge the decks and turns of players over many games, as `report_game` does for one.

    Parameters
    ----------
    db : str or path
        The results of an arena.
    players : sequence of str
        Names of players; by default the first one. Several are compared on the same seeds, in the
        same seats.
    lost : bool
        Only the games that the first of them lost, and those of the others with the same seeds.
    games : int, optional
        The most games of each player.
    nodes : int
        Positions of the search in each turn.
    seed : int
        Everything random follows from it.
    jobs : int
        The number of processes.

    Yields
    ------
    list of PlayerReport
        One for each player: the same ones before the first game and after each.

    Raises
    ------
    ValueError
        An argument is not valid, or the players have no such games.
    StoreError
        The file cannot be read.
    WorkersError
        The processes are gone.
    """
    whole("nodes", nodes, 1)
    whole("jobs", jobs, 1, MOST_THREADS)
    db = os.fspath(db)
    with Arena.load(db) as arena:
        require(arena.settings.game, Part.ANALYSIS)
        names = [*(players or [arena.settings.players[0].name])]
        found = _chosen(arena, names, lost, games)
    reports = [PlayerReport(name, db, len(own)) for name, own in zip(names, found, strict=True)]
    yield reports
    #: The players of each game, with their seats.
    tasks: dict[int, list[tuple[PlayerReport, int]]] = {}
    for report, own in zip(reports, found, strict=True):
        for number, seat in own:
            tasks.setdefault(number, []).append((report, seat))
    with local_workers(min(jobs, len(tasks)), ()) as workers:
        runner = TaskRunner(
            workers,
            tasks,
            lambda executor, number: executor.submit(
                _losses, db, number, [seat for _, seat in tasks[number]], nodes, seed
            ),
            name=lambda number: f"game {number}",
        )
        for number, future in runner:
            for (report, _), game in zip(tasks[number], future.result(), strict=True):
                report.games.append(game)
                report.games.sort(key=lambda one: one.number)
            yield reports


def _chosen(
    arena: Arena, names: Sequence[str], lost: bool, games: int | None
) -> list[list[tuple[int, int]]]:
    """Return each player's games with the seats; the n-th ones have the same seed and seat."""
    indices = [arena.settings.index(name, "player") for name in names]
    if len({*indices}) < len(indices):
        raise OptionError("player", "the same one is named twice")
    found: list[dict[tuple[int, int, int], int]] = [{} for _ in names]
    seen: Counter[tuple[int, int, int]] = Counter()
    for outcome in sorted(arena.games(), key=lambda one: one.number):
        seed = arena.settings.fixture(outcome.number).seed
        for seat, player in enumerate(outcome.players):
            if player in indices:
                # A seed is played against each of the opponents.
                rank = seen[player, seed, seat]
                seen[player, seed, seat] += 1
                if not lost or player != indices[0] or outcome.winner == 1 - seat:
                    found[indices.index(player)][seed, seat, rank] = outcome.number
    keys = [key for key in found[0] if all(key in other for other in found)]
    if not keys:
        what = f"{'lost' if lost else 'have'} no game{' of one seed' * (len(names) > 1)}"
        raise OptionError("player", f"{' and '.join(names)} {what}")
    return [[(own[key], key[1]) for key in islice(keys, games)] for own in found]


def _losses(db: str, number: int, seats: Sequence[int], nodes: int, seed: int) -> list[GameLosses]:
    """Return a game as seen from some seats; runs in a worker."""
    with Arena.load(db) as arena:
        result = arena.replay(number)
    # Without what could be exchanged in the decks, which takes as long as the turns.
    decks = report_decks(result.match, 0) if result.match.decks[0] else None
    turns = [*report_turns(result, nodes=nodes, seed=seed, players=seats)]
    unspent = {
        call.turn: _unspent(match.state, call.answer)
        for call, match in replayed(result)
        if call.player in seats and match.state is not None
    }
    found = []
    for seat in seats:
        own = [
            TurnLosses(turn, _wins_at_once(turn), unspent[turn.turn])
            for turn in turns
            if turn.player == seat
        ]
        score = 0.5 if result.winner is None else float(result.winner == seat)
        deck = decks and decks[seat]
        mine, package = (deck.probability, deck.with_package) if deck else (None, None)
        found.append(GameLosses(number, seat, score, mine, package, own))
    return found


def _wins_at_once(turn: TurnReport) -> bool:
    """Return whether the best turn won at once in all worlds, and the one played did not."""
    if turn.value_best < 1 or turn.value_played >= 1:
        return False
    state = turn.start.clone()
    state.apply_line(turn.best)
    return state.winner == turn.player


def _unspent(state: State, answer: str | None) -> int:
    """Return the mana left after an answer, if a card could still have been played with it."""
    after, player = state.clone(), state.current_player()
    try:
        for action in state.actions_of(answer or ""):
            after.apply_action(action)
    except InvalidActionError:  # the match ended
        return 0
    kinds = {after.action(number).kind for number in after.legal_actions()}
    playable = kinds & {ActionKind.SUMMON, ActionKind.USE}
    return after.players[player].mana if playable else 0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
