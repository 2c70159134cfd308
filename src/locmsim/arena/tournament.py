"""A tournament in any game, with its file of results."""

import contextlib
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Annotated, Any, Self, Unpack

from locmsim.arena import report
from locmsim.arena.cards import CardRow, card_rows
from locmsim.arena.fixtures import Player
from locmsim.arena.game_worker import forget_agents, replayed, seats_of
from locmsim.arena.pool import drawn, grown, widened
from locmsim.arena.records import Outcome, Record
from locmsim.arena.registry import game_name, make_game
from locmsim.arena.runner import ArenaError, play_missing
from locmsim.arena.schedule import (
    Settings,
    SettingValues,
    checked,
    identified,
    random_seed,
    unique_names,
)
from locmsim.arena.store import Store, StoreError
from locmsim.arena.tally import Tally
from locmsim.arena.verification import Difference, differences
from locmsim.contract import Game
from locmsim.options.checks import OptionError, whole
from locmsim.options.common import Cores, Dask, Isolate, Jobs
from locmsim.options.declarations import Option, check_values, declared, documented
from locmsim.processes.workers import (
    Workers,
    WorkersError,
    available_cores,
    dask_workers,
    end_if_imported_again,
    local_workers,
)
from locmsim.referee.agent_process import AgentFacts, facts_of
from locmsim.referee.players import Agents, Seat, seat_of
from locmsim.referee.process_match import Result
from locmsim.stats import Sprt
from locmsim.support.files import MEMORY, counted
from locmsim.support.identity import difference
from locmsim.support.plugins import is_importable, shared_name

# Silent by default, including warnings.
logging.getLogger("locmsim").addHandler(logging.NullHandler())

_Progress = Annotated[
    bool,
    Option("show a progress bar with the score and its interval on the standard error"),
]

_LABEL = re.compile(r"([\w.+-]+)=(.*)", re.DOTALL)


@documented(Settings)
class Arena:
    """A tournament and its results, used as a context manager.

    The file is opened if it has a tournament already, which the arguments must agree with, except
    for `games`. Otherwise it is created when players are added. Each change is stored whole or not
    at all, and `run` plays what is missing.

    Parameters
    ----------
    db : str or path, optional
        An SQLite file for the results; by default they are kept in memory.
    players : sequence, optional
        The contestants, as for `add`.
    game : str or Game, optional
        The game: a description such as ``"nim:heaps=5"`` (see `locmsim.arena.registry`) or
        a `locmsim.contract.Game`. By default the game of the file, or ``"locm"``.
    rules, ids : str, optional
        The rule set and the instance ids of LOCM, as for `Match`.
    force : bool
        Go on even if players have changed since the first games; the tables say so.
    options

    Raises
    ------
    ValueError
        An argument is not valid.
    StoreError
        The file cannot be read or written, or has the results of another tournament.
    """

    def __init__(
        self,
        db: str | os.PathLike[str] | None = None,
        players: Sequence[Any] | None = None,
        *,
        game: str | Game | None = None,
        rules: str | None = None,
        ids: str | None = None,
        force: bool = False,
        **options: Unpack[SettingValues],
    ) -> None:
        given = _settings_of(options)
        _check_alone(seed=given.get("seed"), seeds=given.get("seeds"))
        end_if_imported_again()
        #: Description -> what is known of the agent.
        self._known: dict[str, AgentFacts] = {}
        self._force = force
        self._held = False
        self._tally: Tally | None = None
        self._store = Store(MEMORY if db is None else db, write=True)
        try:
            stored = self._store.settings if self._store.begun else None
            of_game = {k: v for k, v in (("rules", rules), ("ids", ids)) if v is not None}
            game = _game(game, None if stored is None else stored.game, of_game)
            if stored is None:
                given.setdefault("seed", random_seed() if "seeds" not in given else 0)
                #: The settings of the tournament.
                self.settings = Settings((), game, **given)
                if players is not None:
                    self.add(players)
            else:
                self._resume(stored, players, {**given, "game": game})
        except BaseException:
            self.close()
            raise

    def _resume(
        self, stored: Settings, players: Sequence[Any] | None, given: dict[str, Any]
    ) -> None:
        """Go on with the tournament of the file, if it is the one that is meant."""
        games = given.pop("games", None)
        if players is not None:
            given["players"] = self._players(players, given["game"])
        wanted = checked(replace(stored, **given))
        if differences := stored.differences(wanted):
            raise StoreError(
                f"{self._store.path}: has the results of another tournament:"
                f" {'; '.join(differences)}"
            )
        known = zip(stored.players, wanted.players, strict=True)
        self.settings = replace(
            wanted, players=tuple(replace(old, agent=new.agent) for old, new in known)
        )
        self._store.settings = self.settings  # with agents as objects
        self._know_shared(wanted)
        if games is not None:
            self.set_games(games)

    # ----------------------------------------------------------------------------- changes

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes one: all are stored at the end, or none.

        Raises
        ------
        StoreError
            The file cannot be written, or players have changed.
        """
        before, self._held = self.settings, True
        try:
            yield
            self._held = False
            self._save()
        except BaseException:
            self.settings, self._tally = before, None
            raise
        finally:
            self._held = False

    def _change(self, settings: Settings, new: Sequence[Player] = ()) -> None:
        """Store other settings, once they are known to be possible."""
        if settings.players:
            settings = checked(settings, new)
            self._know_shared(settings)
        before, self.settings, self._tally = self.settings, settings, None
        try:
            self._save()
        except BaseException:
            self.settings = before
            raise

    def _save(self) -> None:
        """Store the settings, with what their players are now; refuse players who have changed."""
        if self._held or not self.settings.players:
            return
        self.settings, changed = _identified(self.settings)
        if changed and not self._force:
            raise self._changed(changed, pool=bool(self.settings.segments))
        if changed:
            after = f"continued after {counted(len(self._store), 'game')}"
            notes = [f"{what} ({', '.join(names)}); {after}" for what, names in changed.items()]
            self.settings = replace(self.settings, notes=(*self.settings.notes, *notes))
        if not self._store.begun or self.settings != self._store.settings:
            self._store.save(self.settings)
            self._tally = None

    def add(
        self, players: Sequence[Any], *, against: Sequence[str] = (), more: int | None = None
    ) -> None:
        """Add players: the first ones make a tournament, all others a pool of it.

        A changed bot is a new player, under another name.

        Parameters
        ----------
        players : sequence
            Descriptions for `parse_player`, agent classes, agents, or `Player` objects. Those of a
            pool play as many games against each of the others as the first ones among themselves.
        against : sequence of str
            Names of their only opponents in a pool.
        more : int, optional
            The number of games of the new players of a pool in all, which are played where they
            tell most about the ratings.

        Raises
        ------
        ValueError
            A player cannot be made, a name is taken, or the number of games is not possible.
        StoreError
            The file cannot be written, or other players have changed.
        """
        settings, new = self.settings, self._players(players, self.settings.game)
        if settings.players:
            settings = grown(settings, new, against, more)
        elif against or more is not None:
            raise OptionError("against" if against else "more", "needs players to play against")
        else:
            settings = replace(settings, players=new)
        self._change(settings, new)

    def retire(self, names: Sequence[str]) -> None:
        """Let players play no more games. Those that they have played stay.

        Parameters
        ----------
        names : sequence of str
            The names of the players.

        Raises
        ------
        ValueError
            Nobody has such a name.
        """
        indices = {self.settings.index(name, "retire") for name in names}
        retired = tuple(sorted(indices.union(self.settings.retired)))
        self._change(replace(self.settings, retired=retired))

    def more(self, games: int, *, against: Sequence[str] = ()) -> None:
        """Play further games, in all, where they tell most about the ratings.

        A tournament becomes a pool by it.

        Parameters
        ----------
        games : int
            The number of further games.
        against : sequence of str
            Names of players, one of whom is in each game.

        Raises
        ------
        ValueError
            The number is not possible, or the tournament has a sequential test.
        """
        self._need_players()
        self._change(widened(self.settings, games, against))

    def set_games(self, games: int) -> None:
        """Set the goal of a tournament.

        Parameters
        ----------
        games : int
            The number of games per pairing.

        Raises
        ------
        ValueError
            The number is not possible, or the tournament is a pool.
        """
        if self.settings.segments:
            reason = "a pool has no number of games per pairing: --more N (in Python more(N))"
            raise OptionError("games", f"{reason} plays further games")
        self._change(replace(self.settings, games=games))

    def set_test(self, sprt: Sprt | None, of: str | None = None) -> None:
        """Set the sequential test that may end a tournament of two players early.

        Parameters
        ----------
        sprt : Sprt or None
            The test, in place of any other one; None for no test.
        of : str, optional
            The name of the player whose Elo the test is about, in place of ``sprt.player``.

        Raises
        ------
        ValueError
            There are more players, or nobody has that name.
        """
        if sprt is not None and of is not None:
            sprt = replace(sprt, player=self.settings.index(of, "sprt_of"))
        self._change(replace(self.settings, sprt=sprt))

    def set_anchor(self, name: str, elo: float) -> None:
        """Set the rating of a player, which those of the others are relative to.

        Without an anchor, the mean of all ratings is 0.

        Parameters
        ----------
        name : str
            The name of the player.
        elo : float
            Their rating.

        Raises
        ------
        ValueError
            Nobody has that name, or the rating is not possible.
        """
        self._change(replace(self.settings, anchor=(name, elo)))

    def _need_players(self) -> None:
        if not self.settings.players:
            raise OptionError("players", "expected at least two; add() adds them")

    def _players(self, players: Sequence[Any], game: Game) -> tuple[Player, ...]:
        parsed = []
        for entry in players:
            if isinstance(entry, Player):
                parsed.append(entry)
                continue
            if isinstance(entry, str):
                player, known = as_player(entry, game)
            else:
                spec, agent = game.describe(entry)
                kind = entry if isinstance(entry, type) else type(entry)
                ready = spec is None
                kept = entry if ready or isinstance(entry, type) else None
                player = Player(kind.__name__, spec or kind.__qualname__, False, ready, agent=kept)
                known = facts_of(agent)
            if known is not None:
                self._known[player.spec] = known
            parsed.append(player)
        names = unique_names([player.name for player in parsed])
        return tuple(replace(p, name=name) for name, p in zip(names, parsed, strict=True))

    @classmethod
    def load(cls, db: str | os.PathLike[str]) -> Self:
        """Open a file of results for reading, even while games are played.

        Parameters
        ----------
        db : str or path
            The SQLite file.

        Raises
        ------
        StoreError
            The file cannot be read.
        """
        arena = cls.__new__(cls)
        arena._known, arena._tally = {}, None
        arena._force = arena._held = False
        arena._store = Store(db)
        arena.settings = arena._store.settings
        return arena

    @property
    def tally(self) -> Tally:
        """The sums of all games that were played."""
        self._need_players()
        if self._tally is None:
            self._tally = self._store.tally()
        return self._tally

    @property
    def left(self) -> int:
        """The number of games that `run` plays; fewer if a sequential test decides before."""
        return 0 if self.tally.decided else self._store.left()

    @documented()
    def run(
        self,
        *,
        jobs: Jobs | None = None,
        cores: Cores = 1,
        dask: Dask | None = None,
        isolate: Isolate = False,
        progress: _Progress = False,
        on_games: Callable[[int], None] = lambda games: None,
    ) -> None:
        """Play the missing games, or until the sequential test has decided.

        On this machine each game has its own core, or as many as `cores` says. Games with time
        limits, and games of agents with a ``time_ms``, never share a core. Programs have as many
        cores each, if there are enough for all. Otherwise both players of a game share its cores:
        what one computes in the other's turn takes the other's time.

        By default there are as many jobs as there are cores for. With one job, games are played in
        this process, unless a description names an agent of others. On a cluster, each agent that
        is not part of the package plays in a process of its own.

        If a process dies in a game, the game is played again with each agent that is not part of
        the package in a process of its own: the agent that dies then loses. If none does, the
        game counts, and its standard errors say that a process died.

        Parameters
        ----------
        options
        on_games : callable, optional
            Called with the number of games that have arrived.

        Raises
        ------
        ValueError
            More jobs than the cores allow, an option that does not apply, or a cluster whose
            workers have several threads.
        ArenaError, StoreError
            The tournament cannot continue. As after a ``KeyboardInterrupt``, all finished games are
            stored, and another call resumes.
        """
        self._need_players()
        self._check_described()
        self._save()
        with (
            self._at_work(jobs=jobs, cores=cores, dask=dask, isolate=isolate) as workers,
            self._bar(on_games) if progress else nullcontext(on_games) as report,
        ):
            # A cluster gives up when too many workers die.
            self._play(workers, report, isolate, apart=dask is not None)
        self._store.check_present()

    def _play(
        self, workers: Workers, report: Callable[[int], None], isolate: bool, apart: bool
    ) -> None:
        """Play what is missing; in a pool, the results so far decide who plays on."""
        while True:
            play_missing(self._store, self.tally, workers, report, isolate, apart)
            if not self.settings.draws:
                return
            self.settings = drawn(self.settings, self.tally.pairs)
            self._store.save(self.settings)
            self.tally.grow(self.settings)

    def _check_described(self) -> None:
        for player in self.settings.players:
            if player.ready and player.agent is None:
                raise ValueError(
                    f"player {player.name!r}: {self._store.path} was created with an agent object"
                    " that no text describes: pass it again"
                )

    @documented()
    def verify(
        self,
        games: Iterable[int] | None = None,
        *,
        jobs: Jobs | None = None,
        cores: Cores = 1,
        isolate: Isolate = False,
        force: bool = False,
        on_games: Callable[[int], None] = lambda games: None,
    ) -> list[Difference]:
        """Play stored games again, and compare every answer. Nothing is stored.

        Everything random follows from the seeds of the games, so all answers of agents are the
        same unless they depend on time. Those of programs are if the program decides alike in
        equal situations.

        Parameters
        ----------
        games : iterable of int, optional
            The numbers of the games; by default all that were played.
        options
        force : bool
            Play even if files of the players have changed since the first games.
        on_games : callable, optional
            Called with the number of games that were compared.

        Returns
        -------
        list of Difference
            The first difference of each game that has one, by number.

        Raises
        ------
        ValueError
            As for `run`.
        StoreError
            A game was not played, or files of the players have changed.
        ArenaError
            A game cannot be played.
        """
        self._check_described()
        _, changed = _identified(self.settings)
        if changed and not force:
            raise self._changed(changed)
        played = self._store.numbers()
        numbers = sorted(played if games is None else set(games))
        if missing := [number for number in numbers if number not in played]:
            raise StoreError(f"{self._store.path}: has no game {missing[0]}")
        with self._at_work(jobs=jobs, cores=cores, isolate=isolate) as workers:
            found = differences(
                self.settings, self._store.game, numbers, workers, isolate, on_games
            )
            return sorted(found, key=lambda one: one.number)

    @contextlib.contextmanager
    def _at_work(self, **options: Any) -> Iterator[Workers]:
        """Return the workers; their end is an error of the arena."""
        try:
            with self.workers(**options) as workers:
                yield workers
        except WorkersError as error:
            raise ArenaError(str(error)) from None
        finally:
            forget_agents()

    def _changed(self, changed: Mapping[str, Sequence[str]], pool: bool = False) -> StoreError:
        what = "; ".join(f"{how} (of {', '.join(names)})" for how, names in changed.items())
        then = "--force (in Python force=True) continues, with both versions in one table"
        if pool:
            then += "; --retire OLD --add NEW=... in one command keeps them apart"
        return StoreError(f"{self._store.path}: {what}; {then}")

    @contextlib.contextmanager
    def _bar(self, on_games: Callable[[int], None]) -> Iterator[Callable[[int], None]]:
        """Return a progress bar."""
        from tqdm import tqdm  # slow to import

        with tqdm(
            total=self.settings.count, initial=self.tally.games, unit="game", file=sys.stderr
        ) as bar:

            def show(games: int) -> None:
                bar.set_postfix_str(report.running_score(self.tally), refresh=False)
                bar.update(games)
                on_games(games)

            yield show

    @documented()
    def workers(
        self,
        *,
        jobs: Jobs | None = None,
        cores: Cores = 1,
        dask: Dask | None = None,
        isolate: Isolate = False,
    ) -> AbstractContextManager[Workers]:
        """Return the workers that games of these players need, as a context manager.

        Parameters
        ----------
        options

        Raises
        ------
        ValueError
            More jobs than the cores allow, or a player who cannot be started or sent to workers.
        """
        check_values(Arena.workers, jobs=jobs)
        _check_alone(jobs=jobs, dask=dask)
        _check_alone(cores=None if cores == 1 else cores, dask=dask)
        self._know_shared(self.settings)
        for index, player in enumerate(self.settings.players):
            more = "" if player.name == player.spec or player.process else f" ({player.spec})"
            where, process = f"player {player.name!r}{more}", player.process
            seat = Seat(player.spec, self.settings.game, where, process, player.agent)
            if player.agent is not None:
                if isolate or jobs != 1:
                    seat.check_sent()
            elif not process and index not in self.settings.retired:
                self._know(seat)
            elif process and dask is None:
                seat.check_program()
        if dask is not None:
            return dask_workers(dask, one_thread=self._timed)
        available = available_cores()
        whole("cores", cores, 1, len(available))
        if jobs is None:
            jobs = len(available) // cores
        if jobs * cores > len(available) and self._timed:
            reason = (
                f"{counted(jobs, 'game')} with time limits would need"
                f" {counted(jobs * cores, 'core')}, this machine has {len(available)}"
                + "; --timeout-scale 0 plays without limits"
                * bool(self.settings.timeout_scale)
            )
            raise OptionError("jobs", reason)
        apart = any(
            one.agent is None and one.foreign and is_importable(one.text, "locmsim.agents")
            for one in seats_of(self.settings).values()
        )
        return local_workers(jobs, available, cores, seats=2, apart=apart)

    def _know_shared(self, settings: Settings) -> None:
        for name, spec in (("decks", settings.decks), ("pilot", settings.pilot)):
            if not spec:
                continue
            self._know(Seat(spec, settings.game, name))
            for player in settings.players:
                if not player.process and (shared := shared_name(spec, player.spec)):
                    raise ValueError(
                        f"{name}: {spec} and {player.spec} play in one process, and have different"
                        f" modules {shared!r}: rename one"
                    )

    def _know(self, seat: Seat) -> None:
        """Look at an agent: what is wrong with it is said before any game."""
        if seat.text not in self._known and (known := seat.known()):
            self._known[seat.text] = known

    @property
    def _timed(self) -> bool:
        """Whether results depend on the processor time that a game gets."""
        return bool(self.settings.timeout_scale) or any(one.timed for one in self._known.values())

    def table(self, width: int | None = None) -> str:
        """Return the results as text.

        Parameters
        ----------
        width : int, optional
            Width of the text in columns; by default as wide as necessary.
        """
        return report.tables(self.tally, width, self._store.failed())

    def faults(self) -> str:
        """Return for each player and kind of fault the first such game, with the player's last
        words.

        The last words are the end of a program's standard error, or an agent's traceback. The text
        is empty if no player failed.
        """
        return report.faults_text(self.settings, self._store.failed())

    def to_json(self) -> dict[str, Any]:
        """Return the results as plain dicts, lists, numbers and strings."""
        return {
            **report.as_json(self.tally),
            "faults": report.faults_json(self.settings, self._store.failed()),
        }

    def to_csv(self) -> str:
        """Return a CSV text with a header and a line for each game that was played."""
        return report.as_csv(self.settings, self.games())

    def lost_table(self, player: str | None = None, width: int | None = None) -> str:
        """Return a table of the games that a player lost; empty if there are none.

        Parameters
        ----------
        player : str, optional
            The name of the player; by default the first one.
        width : int, optional
            Width of the text in columns; by default as wide as necessary.

        Raises
        ------
        ValueError
            No player has that name.
        """
        index = 0 if player is None else self.settings.index(player)
        found = self.games(self.settings.players[index].name)
        rows = report.lost_games(self.settings, found, index)
        return report.lost_table(rows, width, f"{self.settings.game.turn_name}s") if rows else ""

    def ratings(self, anchor: tuple[str, float] | None = None) -> dict[str, tuple[float, float]]:
        """Return each player's Elo, and how far it may be off in either direction at 95 %.

        Parameters
        ----------
        anchor : tuple of str and float, optional
            A player and their rating, which the others' are relative to; by default the anchor of
            the tournament. Without one, the mean of all ratings is 0.

        Returns
        -------
        dict of str to tuple
            By the players' names; empty while games that connect all players are missing.

        Raises
        ------
        ValueError
            Nobody has that name.
        """
        found = report.ratings_of(self.tally, anchor or self.settings.anchor)
        if found is None:
            return {}
        names = [player.name for player in self.settings.players]
        values = zip(found.elo, found.error, strict=True)
        return {name: (float(a), float(b)) for name, (a, b) in zip(names, values, strict=True)}

    def cards(self, player: str | None = None) -> list[CardRow]:
        """Return what became of each card, and who won; every game is replayed.

        For rules 1.x there is a row for each card; the cards of 1.5 are new in each match and are
        counted by cost, type, keyword, area and draw. Intervals are those of independent games; the
        two games of a mirrored pair have the same cards.

        Parameters
        ----------
        player : str, optional
            The name of the player whose cards count; by default those of both players of each game.

        Raises
        ------
        ValueError
            No player has that name, or the game does not say what became of its cards.
        """
        index = None if player is None else self.settings.index(player)
        return card_rows(self.settings, self._store.records(), index)

    def games(self, lost_by: str | None = None) -> Iterator[Outcome]:
        """Yield how the games ended that were played, by number.

        Parameters
        ----------
        lost_by : str, optional
            The name of a player: only the games that they lost.

        Raises
        ------
        ValueError
            No player has that name.
        """
        if lost_by is not None:
            self.settings.index(lost_by)
        return self._store.outcomes(lost_by=lost_by or "")

    def record(self, number: int) -> Record:
        """Return the stored record of a game.

        Parameters
        ----------
        number : int
            The number of the game.

        Raises
        ------
        StoreError
            The game was not played.
        """
        return self._store.game(number)

    def replay(self, number: int) -> Result[Any]:
        """Replay a game and return it as the referee's result.

        Parameters
        ----------
        number : int
            The number of the game.

        Raises
        ------
        StoreError
            The game was not played.
        ValueError
            Its answers cannot be replayed.
        """
        return replayed(self.settings, self.record(number))

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _identified(settings: Settings) -> tuple[Settings, dict[str, list[str]]]:
    """Return the settings with what their players are now, and who has changed and how.

    Those who have retired play no more, and do not matter.
    """
    known = [*settings.players]
    changed: dict[str, list[str]] = {}
    for index, player in enumerate(settings.players):
        if index not in settings.retired:
            known[index] = identified(settings, index)
            if what := difference(player.identity or {}, known[index].identity or {}):
                changed.setdefault(what, []).append(player.name)
    return replace(settings, players=tuple(known)), changed


def _settings_of(options: SettingValues) -> dict[str, Any]:
    """Return the settings that are given; ``TypeError`` for others, as from any function."""
    for name in options:
        if name not in declared(Settings):
            raise TypeError(f"Arena() got an unexpected keyword argument {name!r}")
    return {name: value for name, value in options.items() if value is not None}


def _check_alone(**arguments: object) -> None:
    """Raise ``ValueError`` if more than one of these arguments is given."""
    first, *others = [name for name, value in arguments.items() if value is not None] or [""]
    if others:
        raise OptionError(first, "does not apply with ", others[0])


def _game(game: str | Game | None, stored: Game | None, options: Mapping[str, str]) -> Game:
    """Return the game from the argument or the file."""
    if game is None:
        if not options and stored is not None:
            return stored
        game = "locm" if stored is None else stored
    if isinstance(game, str):
        return make_game(game, stored, **options)
    return make_game(game_name(game), game, **options) if options else game


def parse_player(text: str, game: str | Game = "locm") -> Player:
    """Return the player that a text describes.

    A text that describes an agent of the game is an agent; everything else is a command.

    Parameters
    ----------
    text : str
        Such as ``"mcts:time_ms=50"``, ``"./mybot --fast"`` or, with a name, ``"new=./mybot"``.
    game : str or Game
        The game that the player is for.

    Raises
    ------
    ValueError
        The agent is unknown, one of its options is wrong, or the command is empty.
    """
    player, _ = as_player(text, make_game(game) if isinstance(game, str) else game)
    return player


def split_player(text: str) -> tuple[str, str]:
    """Return the name and the description of a player; without a name, that is the description."""
    label = _LABEL.fullmatch(text)
    return (label[1], label[2]) if label else (text, text)


def as_player(text: str, game: Agents) -> tuple[Player, AgentFacts | None]:
    """Create a player from ``"description"`` or ``"name=description"``.

    What is known of an agent is returned too. ``ValueError`` for an agent that cannot be made and
    for an empty command.
    """
    name, spec = split_player(text)
    known = seat_of(spec, f"player {text!r}", game).known()
    return Player(name, spec, known is None), known
