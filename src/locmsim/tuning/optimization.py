"""Tuning the numbers of any bot, of any game, by matches between its versions.

`Optimization` plays them; what to try next is a method's work (`locmsim.tuning.methods`).
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TextIO

from locmsim._common_options import Lenient, MatchLimit, Seed, TimeoutScale
from locmsim._identity import difference, home_of, identity
from locmsim._io import numbered, try_lock, write_whole
from locmsim._options import Option, check, documented
from locmsim._seeds import derived_seed
from locmsim.arena import Arena, ArenaError
from locmsim.arena.fixtures import Fixture, Player, Task
from locmsim.arena.game_worker import play_games
from locmsim.arena.pool import players_in
from locmsim.arena.registry import game_from_json, game_to_json
from locmsim.arena.tournament import split_player
from locmsim.contract import Game
from locmsim.referee.agent_process import AgentFacts, raised
from locmsim.referee.players import Seat, seat_of
from locmsim.stats import Interval, PairCounts, Sprt, score_interval
from locmsim.tuning.methods import METHODS, Method, Point, Trial, make_method
from locmsim.tuning.parameters import Parameter, Template, read_parameters, texts
from locmsim.workers import TaskRunner, Workers, WorkersError

__all__ = ["Optimization", "OptimizationSettings", "Progress", "Proof"]

#: Placeholder of the file that is written for each run.
FILE = "file"
#: Trials that are played at a time, or wait for earlier ones. It is the same for any number of
#: workers, so that the results are.
_AHEAD = 48
#: Every tenth trial the present values meet the start, which tells how much they gain.
_CHECK = 10
#: Trials that the estimate of the gain is made of: older ones are about other values.
_RECENT = 60
#: A bot that fails in more of its games is not tuned, from this number of games on.
_FAULTY, _FAULTY_FROM = 0.05, 40
#: Approximate duration of a task in seconds, if there are trials enough for all workers.
_TASK_SECONDS = 0.2


class _PlayedPair(NamedTuple):
    """What a worker returns for a mirrored pair."""

    #: Points of the first player, 0 to 2.
    points: float
    #: Games that a version of the bot lost by a fault, and the first of these faults.
    faults: int
    fault: str
    elapsed_ns: int


class _Call(NamedTuple):
    """The pairs of some trials, for a worker."""

    numbers: tuple[int, ...]
    pairs: tuple[tuple[Task, ...], ...]
    #: Whether a worker died in them before.
    again: bool = False


def _name_of(call: _Call) -> str:
    """Return what trials are called in messages, with the bot that the first of them plays."""
    return f"{numbered('trial', call.numbers)} ({call.pairs[0][0].players[0].spec})"


def play_pairs(call: _Call, apart: bool = False) -> list[tuple[_PlayedPair, ...]]:
    """Play the mirrored pairs of some trials, in a worker; `again` and `apart` as `play_games`."""
    return [tuple(_play_pair(pair, call, apart) for pair in pairs) for pairs in call.pairs]


def _play_pair(pair: Task, call: _Call, apart: bool) -> _PlayedPair:
    points = 0.0
    faults: list[str] = []
    records = play_games(pair, again=call.again, apart=apart)
    for record in records:
        outcome = record.outcome
        won = None if outcome.winner is None else outcome.players[outcome.winner]
        points += 0.5 if won is None else float(won == 0)
        if outcome.fault is not None:
            seat = outcome.fault.player
            if not pair.players[outcome.players[seat]].name.startswith(_AGAINST):
                last = record.stderr[seat].strip().splitlines()[-1:]
                faults.append(": ".join([outcome.fault.message, *last]))
    elapsed = sum(record.elapsed_ns for record in records)
    return _PlayedPair(points, len(faults), faults[0] if faults else "", elapsed)


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
    games: Annotated[int, Option("number of games of the tuning", 2 * _CHECK, 10**12)] = 4000
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


class Proof(NamedTuple):
    """A match of the tuned values against the start, on cards that the tuning did not see.

    Parameters
    ----------
    games : int
        Its games.
    score : Interval
        The score of the tuned values, with its 95 % interval.
    better : bool or None
        Whether the sequential test says that they are better; None if it did not decide.
    text : str
        The arena's table.
    """

    games: int
    score: Interval
    better: bool | None
    text: str


class _Begun(NamedTuple):
    """What a folder says of the run that was begun in it."""

    settings: OptimizationSettings
    opponents: tuple[Player, ...]
    identity: Mapping[str, str]
    notes: Sequence[str]


def _begun(folder: Path | None) -> _Begun | None:
    """Return what a folder says of its run; None if there is none."""
    if folder is None:
        return None
    path = folder / "settings.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        names = OptimizationSettings.__dataclass_fields__
        more = {"game": game_from_json(data["game"]), "against": tuple(data["against"])}
        settings = OptimizationSettings(**{**{name: data[name] for name in names}, **more})
        opponents = tuple(Player(**one) for one in data["opponents"])
        return _Begun(settings, opponents, {**data["identity"]}, [*data["notes"]])
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the settings of an optimization: {error}") from None


class Optimization:
    """Finds better values for the parameters of a bot.

    Parameters
    ----------
    settings : OptimizationSettings
        What is tuned, and how.
    folder : str or path, optional
        Where its results are kept; a run that is there is resumed. All settings must be the same.
        Opponents are those with which it has begun, whatever has become of a file of results.
    force : bool
        Resume even if the bot or an opponent has changed; `notes` say so.

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
        self._folder = None if folder is None else Path(folder)
        self._force = force
        #: What has changed since it began, in sentences.
        self.notes: list[str] = []
        self._template = Template(settings.player, "player")
        self._file = (
            None
            if settings.template is None
            else Template(settings.template, "template", file=True)
        )
        placeholders = [one for one in self._template.placeholders if one.name != FILE]
        uses_file = len(placeholders) < len(self._template.placeholders)
        if (self._file is not None) != uses_file:
            raise ValueError(
                "template: the command does not say where the file is, by {file}"
                if self._file is not None
                else "player: {file} stands for a file, and no template was given"
            )
        placeholders += [] if self._file is None else self._file.placeholders
        self._known: AgentFacts | None = None
        self.parameters: tuple[Parameter, ...] = read_parameters(placeholders, self._default)
        if uses_file:
            self._files = Path(tempfile.mkdtemp(prefix="locmsim-"))
            weakref.finalize(self, shutil.rmtree, self._files, ignore_errors=True)
        # Checked once; that other values may not be valid is seen when they are played.
        self._process = self._is_program(self.command(self._origin))
        begun = _begun(self._folder)
        self._rivals = tuple(self._opponents()) if begun is None else begun.opponents
        checks = 4 if settings.against else 2
        per_trial = checks if METHODS[settings.method].compares_two else 2
        self._trials = max(1, round(settings.games / (per_trial + checks / (_CHECK - 1))))
        reach = [one.reach for one in self.parameters]
        self._method: Method = make_method(
            settings.method, reach, self._trials, derived_seed(settings.seed, "method")
        )
        self.games = 0
        #: The values after each trial, for a plot: games and point.
        self.history: list[tuple[int, Point]] = [(0, self._origin)]
        self._checks: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        #: The score by these checks, once it was asked for.
        self._gain: Interval | None = None
        self._asked = self._answered = 0
        self._faults = self._own_games = 0
        self._first_fault = ""
        self._open: dict[int, Trial] = {}
        self._to_play: deque[int] = deque()
        self._early: dict[int, tuple[_PlayedPair, ...]] = {}
        self._log: TextIO | None = None
        #: Bytes of its log that `update` has taken.
        self._read = 0

    def _opponents(self) -> Iterator[Player]:
        for text in self.settings.against:
            try:
                found = players_in(text, self.settings.game)
            except ValueError as error:
                raise ValueError(f"against: {error}") from None
            for spec in [one.spec for one in found] or [split_player(text)[1]]:
                yield Player(_AGAINST + " ".join(spec.split()), spec, self._is_program(spec))

    def _identity(self) -> dict[str, str]:
        """Return what the bot, without the file of a template, and its opponents are."""
        players = [Player("", self.command(self._origin, ""), self._process), *self._rivals]
        package, code = home_of(self.settings.game)
        players += [Player("", one, False) for one in code]
        found: dict[str, str] = {}
        for player in players:
            found |= identity(player.spec, player.process, package)
        return found

    def _is_program(self, text: str) -> bool:
        """Check a player's description; agents of others are made when games begin."""
        seat = seat_of(text, f"player {text!r}", self.settings.game)
        seat.check()
        return seat.process

    def _default(self, name: str) -> int | float | None:
        """Return the default of an agent's option, as the start of its parameter."""
        if self._known is None:
            self._known = self._known_without_options()
        return self._known.defaults.get(name)

    def _known_without_options(self) -> AgentFacts:
        """Return what is known of the bot, if it is an agent, without the options it is given."""
        game, before = self.settings.game, self.settings.player.partition("{")[0]
        while ":" in before:
            before = before.rpartition(":")[0]
            with contextlib.suppress(ValueError):
                if game.is_agent(before):
                    return Seat(before, game, "player").known() or AgentFacts()
        return AgentFacts()

    # ------------------------------------------------------------------------ players

    def command(self, point: Point, file: str | None = None) -> str:
        """Return the description of the bot with the values of a point.

        Parameters
        ----------
        point : tuple of float
            The value of each parameter, in steps from its start.
        file : str, optional
            The path that ``{file}`` stands for; by default that of a temporary file with the
            `content` of the point.

        Returns
        -------
        str
            A command, or the description of an agent.
        """
        values = texts(self.parameters, point)
        if file is not None:
            values[FILE] = file
        elif self._file is not None:
            path = self._version(point)
            if not path.exists():
                write_whole(path, self.content(point))
            values[FILE] = str(path)
        return self._template.fill(values)

    def _version(self, point: Point) -> Path:
        """Return the path of the file that is made from the template for a point."""
        digest = hashlib.blake2b(self.content(point).encode(), digest_size=8)
        return self._files / digest.hexdigest()

    def content(self, point: Point) -> str:
        """Return the file that is made from the template for a point; empty without one.

        Parameters
        ----------
        point : tuple of float
            As for `command`.
        """
        return "" if self._file is None else self._file.fill(texts(self.parameters, point))

    def _player(self, name: str, point: Point) -> Player:
        return Player(name, self.command(point), self._process)

    @property
    def _origin(self) -> Point:
        return (0.0,) * len(self.parameters)

    @property
    def _start(self) -> Player:
        return self._player("start", self._origin)

    @property
    def best(self) -> Point:
        """What is recommended now, in steps from the start of each parameter."""
        return self._method.best

    @property
    def values(self) -> dict[str, str]:
        """What is recommended now, as the bot gets it."""
        return texts(self.parameters, self.best)

    # ------------------------------------------------------------------------- trials

    def _ask(self) -> None:
        """Ask the method for trials, as far ahead as it is allowed to."""
        while self._asked - self._answered < _AHEAD and self._asked < self._total:
            number = self._asked + 1
            if number % _CHECK:
                trial = self._method.ask()
                if trial is None:
                    return
            else:
                trial = Trial(self.best, self._origin, number)
            self._asked = number
            self._open[number] = trial
            self._to_play.append(number)

    @property
    def _total(self) -> int:
        """Trials of the method, and of those between them that estimate the gain."""
        return self._trials + (self._trials - 1) // (_CHECK - 1)

    def _pairs(self, number: int) -> tuple[Task, ...]:
        """Return the mirrored pairs of a trial."""
        trial = self._open[number]
        deal = trial.deal if number % _CHECK else f"check {number}"
        first = self._player("bot", trial.first)
        second = self._start
        if trial.second is not None:
            second = self._player("bot with other values", trial.second)
        if not self._rivals:
            return (self._pair(first, second, deal),)
        rival = self._rivals[number % len(self._rivals)]
        alone = trial.second is None
        return tuple(self._pair(one, rival, deal) for one in (first, second)[: 2 - alone])

    def _pair(self, first: Player, second: Player, deal: object) -> Task:
        settings = self.settings
        seed = derived_seed(settings.seed, f"cards {deal}")
        return Task(
            settings.game,
            {0: first, 1: second},
            (Fixture(1, (0, 1), seed, None), Fixture(2, (1, 0), seed, None)),
            timeout_scale=settings.timeout_scale,
            match_limit=settings.match_limit,
            lenient=settings.lenient,
        )

    def _take(self, number: int, points: Sequence[float]) -> None:
        """Take the points, 0 to 2, of the pairs of a trial."""
        trial = self._open.pop(number)
        self._answered = number
        self.games += 2 * len(points)
        if number % _CHECK == 0:
            first, second = points if len(points) == 2 else (points[0], 2 - points[0])
            self._checks.append((first / 2, second / 2))
            self._gain = None
            return
        score = points[0] / 2 if len(points) == 1 else (points[0] - points[1] + 2) / 4
        self._method.tell(trial, score)
        self.history.append((self.games, self._method.best))

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return Progress(self.games, self.values, self._score())

    def _score(self) -> Interval | None:
        if self._gain is None and self._checks:
            counts = PairCounts()
            for first, second in self._checks:
                # Against opponents: one half and half of what it scores more than the start.
                counts.add(first if not self._rivals else round((first - second + 1) * 2) / 4)
            self._gain = score_interval(counts)
        return self._gain

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
        # In this order, a bot that cannot be made leaves no folder of its settings.
        with self._workers(jobs, dask) as workers, self._kept():
            self._ask()
            batches = _Batches(self._to_play, self._pairs)
            runner = TaskRunner(
                workers,
                batches,
                # A cluster gives up when too many workers die.
                lambda executor, call: executor.submit(play_pairs, call, apart=dask is not None),
                parts=lambda call: [
                    call._replace(numbers=(number,), pairs=(pairs,), again=True)
                    for number, pairs in zip(call.numbers, call.pairs, strict=True)
                ],
                name=_name_of,
            )
            batches.slots = runner.current_slots
            try:
                for call, future in runner:
                    results = self._results(call, future)
                    batches.took(results)
                    self._early.update(zip(call.numbers, results, strict=True))
                    self._take_in_order()
                    yield self.progress
            except WorkersError as error:
                raise ArenaError(str(error)) from None

    def _results(
        self, call: _Call, future: "Future[list[tuple[_PlayedPair, ...]]]"
    ) -> list[tuple[_PlayedPair, ...]]:
        try:
            results = future.result()
        except Exception as error:
            raise ArenaError(f"{_name_of(call)}: {raised(error)}") from error
        for played in (pair for pairs in results for pair in pairs):
            self._own_games += 2 if self._rivals else 4
            self._faults += played.faults
            self._first_fault = self._first_fault or played.fault
        if self._own_games >= _FAULTY_FROM and self._faults > _FAULTY * self._own_games:
            raise ValueError(
                f"the bot failed in {self._faults} of {self._own_games} games, first by:"
                f" {self._first_fault}"
            )
        return results

    def _take_in_order(self) -> None:
        lines = []
        while self._answered + 1 in self._early:
            number = self._answered + 1
            points = [played.points for played in self._early.pop(number)]
            self._take(number, points)
            lines.append(f"{number},{','.join(f'{one:g}' for one in points)}\n")
            self._ask()
        if self._log is not None and lines:
            self._log.write("".join(lines))
            self._log.flush()

    @contextlib.contextmanager
    def _workers(self, jobs: int | None, dask: str | None) -> Iterator[Workers]:
        # The arena knows which workers these players need, and refuses what cannot be played.
        others = {one.name: one for one in self._rivals or (self._player("bot", self._origin),)}
        with (
            Arena(
                None,
                [self._start, *others.values()],
                game=self.settings.game,
                games=2,
                timeout_scale=self.settings.timeout_scale,
                match_limit=self.settings.match_limit,
                lenient=self.settings.lenient,
            ) as arena,
            arena.workers(jobs=jobs, dask=dask) as workers,
        ):
            yield workers

    # ------------------------------------------------------------------------- folder

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Resume from the folder, if there is one, and keep results there within."""
        if self._folder is None:
            yield
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "trials.csv").open("a+", encoding="utf-8") as log:
            if not try_lock(log.fileno()):
                raise ValueError(f"{self._folder}: another process is optimizing there")
            self._agree()
            self._resume(log)
            self._log = log
            try:
                with self._versions():
                    yield
            finally:
                self._log = None

    @contextlib.contextmanager
    def _versions(self) -> Iterator[None]:
        """Write the files of versions into the folder within; those of start and tuned one stay."""
        if self._folder is None or self._file is None:
            yield
            return
        self._files = Path(os.path.relpath(self._folder / "versions"))
        self._files.mkdir(exist_ok=True)
        try:
            yield
        finally:
            kept = {self._version(point).name for point in (self._origin, self.best)}
            for path in self._files.iterdir():
                if path.name not in kept:
                    path.unlink()

    def _agree(self) -> None:
        """Check that the folder is of the same run, or make it one."""
        assert self._folder is not None
        mine, now, begun = self.settings.to_json(), self._identity(), _begun(self._folder)
        if begun is not None:
            for name, value in begun.settings.to_json().items():
                if value != mine[name]:
                    raise ValueError(
                        f"{name}: {self._folder} was begun with {value!r}, not {mine[name]!r}"
                    )
            what = difference(begun.identity, now)
            if what and not self._force:
                raise ValueError(
                    f"{self._folder}: {what}; --force (in Python force=True) continues anyway"
                )
            self.notes = [*begun.notes, *([what] if what else [])]
        opponents = [asdict(one) for one in self._rivals]
        known = {**mine, "opponents": opponents, "identity": now, "notes": self.notes}
        write_whole(self._folder / "settings.json", json.dumps(known, indent=1) + "\n")

    def _resume(self, log: TextIO) -> None:
        """Take the results of a log, and drop a last line that was not written whole."""
        log.seek(0)
        log.truncate(self._take_lines(log.read(), log.name))
        log.seek(0, os.SEEK_END)
        self._to_play = deque(number for number in self._to_play if number > self._answered)

    def _take_lines(self, text: str, name: str) -> int:
        """Take the results of further lines of a log; return the bytes of those that are whole."""
        whole = 0
        for line in text.splitlines(keepends=True):
            if not line.endswith("\n"):
                break
            self._ask()
            try:
                number, *points = (float(part) for part in line.split(","))
            except ValueError:
                number, points = -1.0, []
            expected = self._answered + 1
            trial = self._open.get(expected)
            count = -1 if trial is None else 2 if self._rivals and trial.second is not None else 1
            if (number, len(points)) != (expected, count) or not all(0 <= x <= 2 for x in points):
                raise ValueError(f"{name}: line {expected}: not the result of that trial")
            self._take(expected, points)
            whole += len(line.encode())
        return whole

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
        begun = _begun(Path(folder))
        if begun is None:
            raise ValueError(f"{Path(folder) / 'settings.json'}: No such file or directory")
        optimization = cls(begun.settings, folder=folder)
        optimization.update()
        return optimization

    def update(self) -> Progress:
        """Take the results that another process has stored since the last call.

        Returns
        -------
        Progress
            How far it is.

        Raises
        ------
        ValueError
            The file of results is damaged.
        """
        assert self._folder is not None
        path = self._folder / "trials.csv"
        with contextlib.suppress(FileNotFoundError), path.open("rb") as log:
            log.seek(self._read)
            self._read += self._take_lines(log.read().decode(errors="replace"), str(path))
        return self.progress

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
        settings = self.settings
        folder = self._folder
        with (
            self._versions(),
            Arena(
                None if folder is None else folder / "proof.db",
                [self._player("tuned", self.best), self._start],
                game=settings.game,
                games=games,
                force=self._force,
                seed=derived_seed(settings.seed, "proof"),
                timeout_scale=settings.timeout_scale,
                match_limit=settings.match_limit,
                lenient=settings.lenient,
            ) as arena,
        ):
            arena.set_test(Sprt(0, 20))
            arena.run(jobs=jobs, dask=dask)
            counts, state = arena.tally.pairs[(0, 1)], arena.tally.sprt_state
            accepted = None if state is None else state.accepted
            better = None if accepted is None else accepted == "H1"
            return Proof(2 * counts.total, score_interval(counts), better, arena.table(80))


class _Batches(Iterator[_Call]):
    """The trials that can be played now; there may be more later, after it has ended."""

    def __init__(self, queue: deque[int], pairs: Callable[[int], tuple[Task, ...]]) -> None:
        self._queue = queue
        self._pairs = pairs
        self._size = 1
        #: The number of tasks that the workers have at a time.
        self.slots: Callable[[], int] = lambda: 1

    def __next__(self) -> _Call:
        if not self._queue:
            raise StopIteration
        # No more than `_AHEAD` are played at a time: each worker needs its part of them.
        count = min(self._size, max(1, _AHEAD // self.slots()), len(self._queue))
        numbers = tuple(self._queue.popleft() for _ in range(count))
        return _Call(numbers, tuple(map(self._pairs, numbers)))

    def took(self, results: Sequence[tuple[_PlayedPair, ...]]) -> None:
        """Make tasks longer or shorter by the time that the last one took."""
        seconds = sum(pair.elapsed_ns for pairs in results for pair in pairs) / 1e9 / len(results)
        self._size = max(1, min(_AHEAD, int(_TASK_SECONDS / max(seconds, 1e-9))))
