"""Tuning the numbers of any bot, of any game, by matches between its versions.

`Optimization` plays them; what to try next is a method's work (`locmsim.tuning.methods`).
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

from locmsim.arena.fixtures import Fixture, Player, Task
from locmsim.arena.game_worker import play_games
from locmsim.arena.pool import players_in
from locmsim.arena.registry import game_from_json, game_to_json
from locmsim.arena.runner import BatchRunner
from locmsim.arena.tournament import split_player
from locmsim.contract import Game
from locmsim.options.checks import OptionError
from locmsim.options.common import Lenient, MatchLimit, Seed, TimeoutScale
from locmsim.options.declarations import Option, check, documented
from locmsim.processes.workers import Workers
from locmsim.stats import Interval
from locmsim.support.files import numbered
from locmsim.support.identity import difference, home_of, identity
from locmsim.support.seeds import derived_seed
from locmsim.tuning.methods import METHODS, Point
from locmsim.tuning.run import Proof, Run, workers_for
from locmsim.tuning.trials import AHEAD, CHECK, Trials
from locmsim.tuning.versions import Versions, is_program

#: A bot that fails in more of its games is not tuned, from this number of games on.
_FAULTY, _FAULTY_FROM = 0.05, 40


class _Played(NamedTuple):
    """What a worker returns for a trial."""

    #: Points of the first player of each mirrored pair, 0 to 2.
    points: list[float]
    #: How versions of the bot failed.
    faults: list[str]
    elapsed_ns: int


def play_trials(trials: Sequence[Sequence[Task]], again: bool, apart: bool) -> list[_Played]:
    """Play the mirrored pairs of some trials, in a worker, as `play_games` does."""
    return [_play_trial(pairs, again, apart) for pairs in trials]


def _play_trial(pairs: Sequence[Task], again: bool, apart: bool) -> _Played:
    points, faults, elapsed = [], [], 0
    for pair in pairs:
        points.append(0.0)
        for record in play_games(pair, again=again, apart=apart):
            outcome = record.outcome
            elapsed += record.elapsed_ns
            won = None if outcome.winner is None else outcome.players[outcome.winner]
            points[-1] += 0.5 if won is None else float(won == 0)
            if outcome.fault is not None:
                seat = outcome.fault.player
                if not pair.players[outcome.players[seat]].name.startswith(_AGAINST):
                    last = record.stderr[seat].strip().splitlines()[-1:]
                    faults.append(": ".join([outcome.fault.message, *last]))
    return _Played(points, faults, elapsed)


#: What the name of an opponent that is not tuned begins with, before the opponent itself.
_AGAINST = "against "


@documented()
@dataclass(frozen=True, slots=True)
class OptimizationSettings:
    """The settings of an optimization.

    Parameters
    ----------
    player : str
        The bot: a command or an agent, with placeholders.
    game : Game
        The game.
    against : tuple of str
        The opponents: commands, agents, ``"DB:NAME"`` for a player in a file of results, or
        ``"DB"`` for all of its players who are not retired; by default versions of the bot play
        each other.
    template : str or None
        The content of a file with placeholders; ``{file}`` in the command is the path of the file
        that is made from it.
    options

    Raises
    ------
    ValueError
        A field is wrong; the message names it.
    """

    player: str
    game: Game
    against: tuple[str, ...] = ()
    games: Annotated[int, Option("number of games of the tuning", 2 * CHECK, 10**12)] = 4000
    method: Annotated[
        str, Option("algorithm that chooses the values to try", choices=tuple(METHODS))
    ] = next(iter(METHODS))
    seed: Seed = 1
    template: str | None = None
    timeout_scale: TimeoutScale = 1.0
    match_limit: MatchLimit | None = None
    lenient: Lenient = False

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain dicts, lists, numbers and strings."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**values, "game": game_to_json(self.game), "against": list(self.against)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_json` made plain.

        Parameters
        ----------
        data : mapping
            What `to_json` returned.
        """
        more = {"game": game_from_json(data["game"]), "against": tuple(data["against"])}
        return cls(**{**data, **more})


class Progress(NamedTuple):
    """How far an optimization is.

    Parameters
    ----------
    games : int
        Games that were played.
    values : mapping
        The present value of each parameter, as the bot gets it.
    score : Interval or None
        The score of the present values against the start, or what they score more against the
        opponents; None before the first games between them.
    """

    games: int
    values: Mapping[str, str]
    score: Interval | None


class Optimization:
    """Finds better values for the parameters of a bot.

    Parameters
    ----------
    settings : OptimizationSettings
        What is tuned, and how.
    folder : str or path, optional
        Where its results are kept; a run that is there is resumed. All settings must be the same,
        but with more games it goes on. Opponents are those with which it has begun, whatever has
        become of a file of results.
    force : bool
        Resume even if the bot or an opponent has changed; `notes` say so.

    Attributes
    ----------
    versions : Versions
        The bot, with ``parameters``.
    trials : Trials
        The number of ``games``, and for a plot the ``history``: games played, and the point that
        was recommended after them.
    notes : list of str
        What has changed since it began, in sentences.

    Raises
    ------
    ValueError
        A setting is wrong, or differs from those of the folder.
    StoreError
        The file of an opponent's results cannot be read.
    ImportError
        The method needs a package that is missing.
    """

    def __init__(
        self,
        settings: OptimizationSettings,
        *,
        folder: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> None:
        self.settings = settings
        self._force = force
        self.versions = Versions(settings.player, settings.template, settings.game)
        self._run = Run(folder, "an optimization")
        self.notes: list[str] = []
        #: Games when it was begun, and each time it was extended.
        self._goals = [settings.games]
        if begun := self._run.content:
            with self._run.reading():
                goals, wanted = begun["goals"], settings.to_json()
                self._rivals = tuple(Player(**one) for one in begun["opponents"])
                self._identity = {**begun["identity"]}
                self.notes += begun["notes"]
                if settings.games > goals[-1]:
                    wanted["games"] = goals[-1]
                    goals = [*goals, settings.games]
            self._goals = goals
            self._run.check_same(begun["settings"], wanted)
        else:
            self._rivals = tuple(self._opponents())
            self._identity = {}
        self.trials = Trials(
            settings.method,
            [one.reach for one in self.versions.parameters],
            self._goals,
            bool(self._rivals),
            derived_seed(settings.seed, "method"),
        )
        self._limits: dict[str, Any] = {
            name: getattr(settings, name) for name in ("timeout_scale", "match_limit", "lenient")
        }

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Open the folder of a run to look at it, even while games are played.

        Parameters
        ----------
        folder : str or path
            The folder.

        Raises
        ------
        ValueError
            There is no run in it, or its files are damaged.
        """
        run = Run(folder, "an optimization")
        with run.reading():
            settings = OptimizationSettings.from_json(run.content["settings"])
        optimization = cls(settings, folder=folder)
        optimization._take_stored()
        return optimization

    def _opponents(self) -> Iterator[Player]:
        game = self.settings.game
        for text in self.settings.against:
            try:
                found = players_in(text, game)
            except ValueError as error:
                raise OptionError("against", error) from None
            for spec in [one.spec for one in found] or [split_player(text)[1]]:
                yield Player(_AGAINST + " ".join(spec.split()), spec, is_program(spec, game))

    @property
    def best(self) -> Point:
        """What is recommended now, in steps from the start of each parameter."""
        return self.trials.best

    @property
    def values(self) -> dict[str, str]:
        """What is recommended now, as the bot gets it."""
        return self.versions.values(self.best)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return Progress(self.trials.games, self.values, self.trials.score)

    # ---------------------------------------------------------------------------- run

    def run(self, *, jobs: int | None = None, dask: str | None = None) -> Iterator[Progress]:
        """Play what is missing; yields the progress whenever results have arrived.

        Parameters
        ----------
        jobs : int, optional
            Processes on this machine; by default one for each core.
        dask : str, optional
            The address of a Dask scheduler, to play on its cluster.

        Yields
        ------
        Progress
            How far it is.

        Raises
        ------
        ValueError
            A player's agent cannot be made, the bot fails in too many of its games, or another
            process uses the folder.
        ArenaError
            The games cannot be played.
        """
        # A cluster gives up when too many workers die.
        apart = dask is not None

        def submit(executor: Executor, numbers: list[int], again: bool) -> Future[list[_Played]]:
            trials = [self._pairs(number) for number in numbers]
            return executor.submit(play_trials, trials, again, apart)

        def name(numbers: Sequence[int]) -> str:
            bot = self.versions.command(self.trials.open[numbers[0]].first)
            return f"{numbered('trial', numbers)} ({bot})"

        faults: list[str] = []
        games = 0
        # In this order, a bot that cannot be made leaves no folder of its settings.
        with self._workers(jobs, dask) as workers, self._claimed():
            for results in BatchRunner(
                workers,
                self.trials.take,
                submit,
                name,
                in_order=True,
                # Each worker needs its part of those that are played at a time.
                most=lambda slots: AHEAD // slots,
            ):
                for played in results:
                    faults += played.faults
                    games += (2 if self._rivals else 4) * len(played.points)
                    if games >= _FAULTY_FROM and len(faults) > _FAULTY * games:
                        raise ValueError(
                            f"the bot failed in {len(faults)} of {games} games, first by:"
                            f" {faults[0]}"
                        )
                    self.trials.tell(played.points)
                    self._run.add("trials", played.points)
                yield self.progress

    def _pairs(self, number: int) -> list[Task]:
        """Return the mirrored pairs of a trial."""
        first, second, deal = self.trials.open[number]
        seed = derived_seed(self.settings.seed, f"cards {deal}")
        games = Fixture(1, (0, 1), seed, None), Fixture(2, (1, 0), seed, None)
        bots = [self.versions.player("bot", first)]
        if second is not None:
            bots.append(self.versions.player("bot with other values", second))
        if self._rivals:
            pairs = [(bot, self._rivals[number % len(self._rivals)]) for bot in bots]
        else:
            pairs = [(bots[0], bots[-1] if second else self._start)]
        return [
            Task(self.settings.game, dict(enumerate(pair)), games, **self._limits) for pair in pairs
        ]

    @property
    def _start(self) -> Player:
        return self.versions.player("start", self.trials.origin)

    def _workers(
        self, jobs: int | None, dask: str | None
    ) -> contextlib.AbstractContextManager[Workers]:
        # The arena knows which workers these players need, and refuses what cannot be played.
        others = {one.name: one for one in self._rivals or (replace(self._start, name="bot"),)}
        players = [self._start, *others.values()]
        return workers_for(players, game=self.settings.game, jobs=jobs, dask=dask, **self._limits)

    @contextlib.contextmanager
    def _claimed(self) -> Iterator[None]:
        """Resume from the folder, if there is one, and keep results there within."""
        with self._run.claimed():
            if self._run.folder is not None:
                self._agree()
                self._take_stored()
            with self._files():
                yield

    def _agree(self) -> None:
        """Check that bot and opponents are those of the run, and store what has begun."""
        # Without the file of a template.
        players = [self.versions.player("", self.trials.origin, ""), *self._rivals]
        package, code = home_of(self.settings.game)
        players += [Player("", one, False) for one in code]
        now: dict[str, str] = {}
        for player in players:
            now |= identity(player.spec, player.process, package)
        if what := difference(self._identity, now):
            if not self._force:
                raise ValueError(
                    f"{self._run.folder}: {what}; --force (in Python force=True) continues anyway"
                )
            self.notes.append(what)
        self._run.save(
            {
                "settings": self.settings.to_json(),
                "goals": self._goals,
                "opponents": [asdict(one) for one in self._rivals],
                "identity": now,
                "notes": self.notes,
            }
        )

    def _take_stored(self) -> None:
        self._run.results("trials", self.trials.tell, self.trials.answered)

    def _files(self) -> contextlib.AbstractContextManager[None]:
        """Files of versions are in the folder within; those of start and tuned one stay."""
        folder = self._run.folder and self._run.folder / "versions"
        return self.versions.written_to(folder, lambda: (self.trials.origin, self.best))

    # -------------------------------------------------------------------------- proof

    def prove(
        self, games: int = 1000, *, jobs: int | None = None, dask: str | None = None
    ) -> Proof:
        """Play a match of the tuned values against the start, on cards that the tuning never saw.

        A sequential test ends it early, once it is clear that they are better by 20 Elo, or not.

        Parameters
        ----------
        games : int
            The most games.
        jobs, dask
            As for `run`.

        Returns
        -------
        Proof
            The result of the match.

        Raises
        ------
        ArenaError, StoreError
            The match cannot be played.
        """
        with self._files():
            return self._run.prove(
                self.trials.games,
                [self.versions.player("tuned", self.best), self._start],
                jobs=jobs,
                dask=dask,
                game=self.settings.game,
                games=games,
                force=self._force,
                seed=derived_seed(self.settings.seed, "proof"),
                **self._limits,
            )
