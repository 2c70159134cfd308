"""The schedule of a tournament: players and seeds of every game, by its number.

Games are numbered from 1 in rounds. In a round every pairing plays once, or twice with mirrored
pairs: with the same seed, and so the same cards and shuffles, but swapped seats. All pairings of a
round share its seed, so that their results differ by the players and not by the cards.
"""

import contextlib
import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

from locmsim.arena.fixtures import Fixture, Player, Task
from locmsim.arena.registry import game_from_json, game_to_json
from locmsim.arena.seeds import Seeds, parse_seeds
from locmsim.contract import Game
from locmsim.options.checks import OptionError, whole
from locmsim.options.common import Clock, Lenient, MatchLimit, MemoryLimit, Seed, TimeoutScale
from locmsim.options.declarations import Option, check, documented
from locmsim.processes.usage import check_measurable
from locmsim.referee.players import Seat
from locmsim.stats import Sprt
from locmsim.support.identity import home_of, identity
from locmsim.support.plugins import place_of
from locmsim.support.seeds import derived_seed

Mode = Literal["round-robin", "gauntlet"]
#: All players against each other, or the first against each of the others.
MODES: tuple[Mode, ...] = ("round-robin", "gauntlet")

_NAME = re.compile(r"\S.*")
#: Far more games than anybody can play, and less than what a file of results can count.
_MOST_GAMES = 2_000_000_000
#: Games per pairing by default.
_DEFAULT_GAMES = 200
_MOST_RATING = 100_000


class Segment(NamedTuple):
    """A part of the schedule of a pool: some rounds of some pairings.

    Parameters
    ----------
    pairings : tuple of tuple of int
        Pairs of indices of players.
    rounds : int
        The number of rounds.
    first : int
        The round whose seed the part begins with, from 0.
    """

    pairings: tuple[tuple[int, int], ...]
    rounds: int
    first: int = 0


class Draw(NamedTuple):
    """Games of a pool whose pairings are not known yet: they depend on results until then.

    Parameters
    ----------
    players : tuple of int
        Indices of the players of whom each game has one; empty for all.
    opponents : tuple of int
        Indices of the only opponents of those; empty for all.
    meetings : int
        The number of mirrored pairs, or of games that are not mirrored.
    step : int
        How many of them are drawn at a time.
    """

    players: tuple[int, ...]
    opponents: tuple[int, ...]
    meetings: int
    step: int


class SettingValues(TypedDict, total=False):
    """The types of those `Settings` that are declared, for keyword arguments; None: not given."""

    games: int | None
    mode: Mode | None
    seed: int | None
    seeds: Sequence[int] | None
    mirror: bool | None
    pairs_per_set: int | None
    timeout_scale: float | None
    match_limit: float | None
    clock: Literal["wall", "cpu"] | None
    memory_limit: float | None
    lenient: bool | None
    decks: str | None
    pilot: str | None


@documented()
@dataclass(frozen=True, slots=True)
class Settings:
    """What determines the games of a tournament and how they are played.

    Parameters
    ----------
    players : tuple of Player
        The contestants.
    game : Game
        The game.
    options
    sprt : Sprt, optional
        A sequential test that may end the tournament early, for two players.
    segments : tuple of Segment
        The schedule of a pool; empty for other tournaments, whose rounds have all pairings.
    draws : tuple of Draw
        What will be appended to this schedule as results arrive.
    retired : tuple of int
        The players who play no more games.
    anchor : tuple of str and float, optional
        The name of a player and the rating they have; the others' follow from it.
    notes : tuple of str
        What has changed while games were played, in sentences.
    """

    players: tuple[Player, ...]
    game: Game
    games: Annotated[
        int | None,
        Option(
            "games per pairing",
            1,
            more="By default 200, or one for each seed and seating if `seeds` are given.",
        ),
    ] = None
    mode: Annotated[
        Mode,
        Option(
            "who plays whom; a gauntlet is the first player against each of the others",
            choices=MODES,
        ),
    ] = "round-robin"
    seed: Seed = 0
    seeds: Annotated[
        Seeds | None,
        Option(
            "seeds of the rounds, all different, which limit their number",
            kind="sequence of int",
            more="Everything random follows from them. Without them they are derived from `seed`.",
        ),
    ] = None
    mirror: Annotated[
        bool,
        Option(
            "play each seed twice, with the seats swapped",
            more="Otherwise the seats alternate from round to round.",
        ),
    ] = True
    pairs_per_set: Annotated[
        int,
        Option(
            "number of consecutive rounds that share their cards",
            1,
            10**9,
            more="They share nothing else that depends on seeds.",
        ),
    ] = 1
    timeout_scale: TimeoutScale = 1.0
    match_limit: MatchLimit | None = None
    clock: Clock = "wall"
    memory_limit: MemoryLimit | None = None
    lenient: Lenient = False
    decks: Annotated[
        str,
        Option(
            "description of an agent who chooses the cards in both seats",
            more="Then only their play tells players apart. A program is asked for its choice as"
            " usual, and this replaces it.",
        ),
    ] = ""
    pilot: Annotated[
        str,
        Option(
            "description of an agent who plays in both seats, with the cards that the players have"
            " chosen",
            more="It is for agents only.",
        ),
    ] = ""
    sprt: Sprt | None = None
    segments: tuple[Segment, ...] = ()
    draws: tuple[Draw, ...] = ()
    retired: tuple[int, ...] = ()
    anchor: tuple[str, float] | None = None
    notes: tuple[str, ...] = ()

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The pairings, as indices of players."""
        if self.segments:
            return [*dict.fromkeys(pair for part in self.segments for pair in part.pairings)]
        return [self.pairing(i) for i in range(self.pairing_count)]

    @property
    def pairing_count(self) -> int:
        """The number of pairings."""
        n = len(self.players)
        return n - 1 if self.mode == "gauntlet" else n * (n - 1) // 2

    def pairing(self, index: int) -> tuple[int, int]:
        """Return one of the pairings.

        Parameters
        ----------
        index : int
            Its place among them, from 0.

        Returns
        -------
        tuple of int
            The indices of two players, in the order of ``itertools.combinations``.
        """
        if self.mode == "gauntlet":
            return 0, index + 1
        # Counted from the end, the pairings of the last k + 1 players are k * (k + 1) / 2.
        left = self.pairing_count - 1 - index
        k = (math.isqrt(8 * left + 1) - 1) // 2
        first = len(self.players) - 2 - k
        return first, len(self.players) - 1 - (left - k * (k + 1) // 2)

    def index(self, name: str, what: str = "") -> int:
        """Return the index of a player.

        Parameters
        ----------
        name : str
            The player's name.
        what : str
            The option or the file that names the player.

        Raises
        ------
        ValueError
            Nobody is called that.
        """
        names = [player.name for player in self.players]
        if name not in names:
            known = ", ".join(names)
            reason = f"no player is called {name!r}: expected one of {known}"
            raise OptionError(what, reason) if what else ValueError(reason)
        return names.index(name)

    @property
    def games_per_meeting(self) -> int:
        """Games per pairing in a round."""
        return 2 if self.mirror else 1

    @property
    def rounds(self) -> int:
        """The number of rounds of a tournament, with which a pool begins."""
        if self.games is None and self.seeds is not None:
            return len(self.seeds)
        return (self.games or _DEFAULT_GAMES) // self.games_per_meeting

    @property
    def scheduled(self) -> int:
        """The number of games whose pairings are known."""
        meetings = sum(len(part.pairings) * part.rounds for part in self.segments)
        if not self.segments:
            meetings = self.pairing_count * self.rounds
        return meetings * self.games_per_meeting

    @property
    def count(self) -> int:
        """The number of games of the tournament."""
        return self.scheduled + sum(draw.meetings for draw in self.draws) * self.games_per_meeting

    def meetings(self, games: int, most: int = _MOST_GAMES, what: str = "more") -> int:
        """Return the number of mirrored pairs that games make, or of games that are not mirrored.

        Parameters
        ----------
        games : int
            A number of games.
        most : int
            The most that are possible.
        what : str
            The option that has the number.

        Raises
        ------
        ValueError
            The number is not possible.
        """
        meetings, rest = divmod(whole(what, games, 1, most), self.games_per_meeting)
        if rest:
            raise OptionError(what, f"mirrored pairs need an even number, got {games}")
        return meetings

    def fixture(self, number: int) -> Fixture:
        """Return a game by its number.

        Parameters
        ----------
        number : int
            From 1.
        """
        meeting, swapped = divmod(number - 1, self.games_per_meeting)
        round_, (a, b) = self._meeting(meeting)
        if swapped or (not self.mirror and round_ % 2):
            a, b = b, a
        card_seed = None
        if self.pairs_per_set > 1:
            first_of_set = self._round_seed(round_ - round_ % self.pairs_per_set)
            card_seed = derived_seed(first_of_set, "cards")
        return Fixture(number, (a, b), self._round_seed(round_), card_seed)

    def _meeting(self, number: int) -> tuple[int, tuple[int, int]]:
        """Return the round and the pairing of a meeting, counted from 0."""
        for part in self.segments:
            meetings = len(part.pairings) * part.rounds
            if number < meetings:
                round_, place = divmod(number, len(part.pairings))
                return part.first + round_, part.pairings[place]
            number -= meetings
        if self.segments:
            raise ValueError(f"the pool has no meeting {number} behind its last one")
        round_, place = divmod(number, self.pairing_count)
        return round_, self.pairing(place)

    def task(self, numbers: Iterable[int]) -> Task:
        """Return some games as a worker plays them.

        Parameters
        ----------
        numbers : iterable of int
            The numbers of the games.
        """
        fixtures = tuple(self.fixture(number) for number in numbers)
        players = {index: self.players[index] for one in fixtures for index in one.players}
        how = {name: getattr(self, name) for name in Task._fields[3:]}
        return Task(self.game, players, fixtures, **how)

    def _round_seed(self, round_: int) -> int:
        if self.seeds is not None:
            return self.seeds[round_]
        return derived_seed(self.seed, f"round {round_}")

    def fields(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain dicts, lists, numbers and strings."""
        players = [
            {
                "name": player.name,
                "spec": player.spec,
                "process": player.process,
                "ready": player.ready,
                "identity": dict(player.identity or {}),
            }
            for player in self.players
        ]
        seeds = None if self.seeds is None else str(self.seeds)
        return {
            **self.fields(),
            "players": players,
            "game": game_to_json(self.game),
            "seeds": seeds,
            "sprt": self.sprt and asdict(self.sprt),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Settings":
        """Return the settings that `to_json` wrote.

        Parameters
        ----------
        data : dict
            What `to_json` returned.

        Raises
        ------
        ValueError
            `data` is not the settings of a tournament.
        """
        try:
            players = tuple(Player(**player) for player in data["players"])
            seeds = None if data["seeds"] is None else parse_seeds(data["seeds"])
            game = game_from_json(data["game"])
            sprt, anchor = data["sprt"], data["anchor"]
            return cls(
                **{
                    **data,
                    "players": players,
                    "seeds": seeds,
                    "game": game,
                    "sprt": sprt and Sprt(**sprt),
                    "segments": tuple(
                        Segment(tuple((a, b) for a, b in pairings), *rounds)
                        for pairings, *rounds in data["segments"]
                    ),
                    "draws": tuple(
                        Draw(tuple(players), tuple(opponents), *numbers)
                        for players, opponents, *numbers in data["draws"]
                    ),
                    "retired": tuple(data["retired"]),
                    "anchor": anchor and (anchor[0], anchor[1]),
                    "notes": tuple(data["notes"]),
                }
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the settings of a tournament: {error!r}") from None

    def differences(self, other: "Settings") -> list[str]:
        """List the differences from other settings for people.

        Parameters
        ----------
        other : Settings
            The settings to compare with.
        """
        mine, theirs = ({**some.fields(), **game_to_json(some.game)} for some in (self, other))
        if mine["game"] != theirs["game"]:
            return [f"game: {mine['game']}, now {theirs['game']}"]
        for some in (mine, theirs):
            some["players"] = ", ".join(f"{p.name}={p.spec}" for p in some["players"])
        return [
            f"{name}: {_brief(value)}, now {_brief(theirs[name])}"
            for name, value in mine.items()
            if value != theirs[name]
        ]


def checked(settings: Settings, new: Sequence[Player] = ()) -> Settings:
    """Return settings that are possible, with all seeds as `Seeds`.

    Parameters
    ----------
    settings : Settings
        Settings of which nothing is known.
    new : sequence of Player
        The players whose options must not choose cards that others choose: those of older files
        may say so.

    Raises
    ------
    ValueError
        A field is wrong; the message names it.
    """
    _check_names([player.name for player in settings.players])
    settings = replace(settings, seeds=None if settings.seeds is None else Seeds(settings.seeds))
    check(settings)
    check_measurable(settings.clock, settings.memory_limit)
    # A match and a referee would raise this too, but only after creating the file of results.
    settings.game.new_match(0, None)
    if settings.pairs_per_set > 1:
        try:
            settings.game.new_match(0, 0)
        except ValueError as error:
            raise OptionError("pairs_per_set", error) from None
    _check_games(settings)
    for name in ("decks", "pilot"):
        if getattr(settings, name):
            settings = _with_chooser(settings, name, new)
    if settings.anchor is not None:
        settings.index(settings.anchor[0], "anchor")
        if not abs(settings.anchor[1]) <= _MOST_RATING:
            reason = f"expected at most {_MOST_RATING} Elo, got {settings.anchor[1]}"
            raise OptionError("anchor", reason)
    return settings


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise OptionError("players", f"expected at least two, got {len(names)}")
    for name in names:
        if not _NAME.fullmatch(name):
            raise OptionError("players", f"{name!r} is not a valid name")
        if names.count(name) > 1:
            raise OptionError("players", f"two are called {name!r}")


def _check_games(settings: Settings) -> None:
    """Check how many games there are, and what may end them early."""
    if settings.seeds is not None and not settings.seeds:
        raise OptionError("seeds", "expected at least one")
    if settings.sprt and (len(settings.players) > 2 or settings.segments):
        raise OptionError("sprt", "expected two players of a tournament, not of a pool")
    if settings.games is None or settings.segments:
        return
    rounds = settings.meetings(settings.games, _MOST_GAMES // settings.pairing_count, "games")
    if settings.seeds is not None and rounds > len(settings.seeds):
        most = len(settings.seeds) * settings.games_per_meeting
        reason = f"{len(settings.seeds)} seeds allow at most {most}, got {settings.games}"
        raise OptionError("games", reason)


def _with_chooser(settings: Settings, name: str, new: Sequence[Player]) -> Settings:
    """Check who chooses the cards or plays for all players, and who of them may say so."""
    game, spec = settings.game, getattr(settings, name)
    if settings.decks and settings.pilot:
        raise OptionError("pilot", "does not apply with ", "decks")
    if not hasattr(game, "combined"):
        raise OptionError(name, f"nobody chooses cards in {game.title}")
    if name == "pilot" and not game.is_agent(spec):
        raise OptionError(name, f"expected an agent, got {spec!r}")
    try:
        if name == "decks":
            spec = game.chooser(spec)  # type: ignore[attr-defined]
        Seat(spec, game).check()  # an arena makes those of others elsewhere
    except ValueError as error:
        raise OptionError(name, error) from None
    programs = [player.name for player in settings.players if player.process]
    if name == "pilot" and programs:
        raise OptionError("pilot", f"{programs[0]!r} is a program, whose cards nobody else plays")
    refuse: Callable[[str, str, str], None] | None = getattr(game, "refuse_own_cards", None)
    if refuse is not None and name == "decks":
        for player in new:
            if not (player.process or player.ready):
                refuse(player.spec, "decks", "which chooses the cards")
    elif refuse is not None and len(new) == len(settings.players):
        refuse(spec, "pilot", "who plays the cards of the players")
    return replace(settings, **{name: spec})


def identified(settings: Settings, index: int) -> Player:
    """Return a player as they are now.

    Parameters
    ----------
    settings : Settings
        The tournament.
    index : int
        The player's index.
    """
    player = settings.players[index]
    if player.ready and player.agent is None:  # it was not passed again, and does not play
        return player
    specs = [(player.spec, player.process)]
    if player.agent is not None:
        kind = player.agent if isinstance(player.agent, type) else type(player.agent)
        with contextlib.suppress(ValueError):
            specs = [(place_of(kind), False)]
    specs += [(spec, False) for spec in (settings.decks, settings.pilot) if spec]
    package, code = home_of(settings.game)
    specs += [(spec, False) for spec in code]
    now: dict[str, str] = {}
    for spec, process in specs:
        now |= identity(spec, process, package)
    return replace(player, identity=now)


def _brief(value: object) -> str:
    """Return a value as a text; of a long one, such as a card list, only its beginning."""
    text = str(value)
    return text if len(text) <= 1000 else f"{text[:40]}..."


def random_seed() -> int:
    """Return a random seed."""
    return random.SystemRandom().getrandbits(32)


def unique_names(names: Sequence[str]) -> list[str]:
    """Return `names` with ``#2``, ``#3`` ... appended to repeated ones."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result
