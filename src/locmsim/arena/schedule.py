"""Who meets whom, with which seeds: every game of a tournament by its number alone.

Games are numbered from 1 in rounds. In a round every pairing plays once, with mirrored pairs twice:
the same seed and so the same cards and shuffles, seats swapped. All pairings of a round share its
seed, so that their results differ by the players and not by the cards.
"""

import contextlib
import hashlib
import importlib.util
import itertools
import math
import os
import random
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from locmsim.arena.registry import game_from_json, game_to_json
from locmsim.contract import Game

__all__ = ["MODES", "Fixture", "Player", "Settings"]

Mode = Literal["round-robin", "gauntlet"]
#: Every player against every other one, or the first against each of the others.
MODES: tuple[Mode, ...] = ("round-robin", "gauntlet")

_NAME = re.compile(r"\S.*")
_SEED_BITS = 63
_MODULE = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Player:
    """A contestant: an agent that plays in this process, or a command over stdin."""

    #: How tables call it.
    name: str
    #: What makes it: a description of an agent of the game, or a command line.
    spec: str
    #: True for a command.
    process: bool
    #: Whether it was given ready and `spec` does not make its like.
    ready: bool = False
    #: `named_files` when the tournament began; None where that was not kept.
    files: Mapping[str, str] | None = field(default=None, compare=False, repr=False)
    #: The agent's class, or a ready agent, of which each seat and worker gets a copy.
    agent: Any = field(default=None, compare=False, repr=False)


def named_files(spec: str) -> dict[str, str]:
    """Path -> digest of each file that a player's description names.

    Words of a command, the file or module of a class, and what options name.
    """
    try:
        words = shlex.split(spec)
    except ValueError:
        words = []
    words += re.split(r"[:,=]", spec)
    module = _MODULE.match(spec)
    if module and not os.path.exists(words[0]):
        with contextlib.suppress(ImportError, ValueError, AttributeError):
            found = importlib.util.find_spec(module[1])
            words.append((found and found.origin) or "")
    words += [program for word in words[:1] if (program := shutil.which(word))]
    # What Python runs of a folder.
    words += [os.path.join(word, "__main__.py") for word in words if os.path.isdir(word)]
    files = {}
    for word in words:
        if word and os.path.isfile(word):
            with contextlib.suppress(OSError), open(word, "rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
                files[word] = digest.hexdigest()
    return files


class Fixture(NamedTuple):
    """One game of a tournament, before it is played."""

    #: From 1.
    number: int
    #: Indices of the players by seat.
    players: tuple[int, int]
    #: The match's ``seed``.
    seed: int
    #: The seed of the cards if they do not follow from `seed`.
    card_seed: int | None


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides which games a tournament has and how they are played.

    ``ValueError`` names the field that is wrong.
    """

    players: tuple[Player, ...]
    #: What is played.
    game: Game
    mode: Mode = "round-robin"
    #: The seeds of all rounds follow from this one.
    seed: int = 0
    #: Or they are given, and there are no more rounds than these.
    seeds: tuple[int, ...] | None = None
    #: Play each seed twice, with seats swapped; otherwise seats alternate from round to round.
    mirror: bool = True
    #: Rounds that share their cards: what else follows from seeds still differs.
    pairs_per_set: int = 1
    #: As for `locmsim.referee.process_match.play`.
    timeout_scale: float = 1.0
    match_limit: float | None = None
    lenient: bool = False

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise ValueError(f"players: expected at least two, got {len(self.players)}")
        names = [player.name for player in self.players]
        for name in names:
            if not _NAME.fullmatch(name):
                raise ValueError(f"players: {name!r} cannot be a name")
            if names.count(name) > 1:
                raise ValueError(f"players: two are called {name!r}")
        if self.mode not in MODES:
            raise ValueError(f"mode: expected one of {', '.join(MODES)}, got {self.mode!r}")
        if self.pairs_per_set < 1:
            raise ValueError(f"pairs_per_set: expected 1 or more, got {self.pairs_per_set}")
        if self.seeds is not None and not self.seeds:
            raise ValueError("seeds: expected at least one")
        # A match and a referee would find the same, but after the file of results was made.
        self.game.new_match(0, None)
        if self.pairs_per_set > 1:
            try:
                self.game.new_match(0, 0)
            except ValueError as error:
                raise ValueError(f"pairs_per_set: {error}") from None
        if not (math.isfinite(self.timeout_scale) and self.timeout_scale >= 0):
            raise ValueError(f"timeout_scale: expected 0 or more, got {self.timeout_scale}")
        if self.match_limit is not None and not self.match_limit > 0:
            raise ValueError(f"match_limit: expected more than 0, got {self.match_limit}")

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Indices of the players who meet."""
        n = len(self.players)
        if self.mode == "gauntlet":
            return [(0, other) for other in range(1, n)]
        return list(itertools.combinations(range(n), 2))

    @property
    def games_per_meeting(self) -> int:
        """How many games a pairing plays in a round."""
        return 2 if self.mirror else 1

    def count(self, games: int | None) -> int:
        """How many games the tournament has with `games` for each pairing.

        None stands for all there are seeds for. ``ValueError`` if they do not make whole pairs or
        there are not enough seeds.
        """
        per_round = len(self.pairings) * self.games_per_meeting
        if games is None:
            if self.seeds is None:
                raise ValueError("games: expected a number, as no seeds are given")
            return len(self.seeds) * per_round
        if games < 1:
            raise ValueError(f"games: expected 1 or more, got {games}")
        rounds, rest = divmod(games, self.games_per_meeting)
        if rest:
            raise ValueError(f"games: mirrored pairs need an even number, got {games}")
        if self.seeds is not None and rounds > len(self.seeds):
            most = len(self.seeds) * self.games_per_meeting
            raise ValueError(f"games: {len(self.seeds)} seeds are for at most {most}, got {games}")
        return rounds * per_round

    def fixture(self, number: int) -> Fixture:
        """The game of that number."""
        pairings = self.pairings
        meeting, swapped = divmod(number - 1, self.games_per_meeting)
        round_, pairing = divmod(meeting, len(pairings))
        a, b = pairings[pairing]
        if swapped or (not self.mirror and round_ % 2):
            a, b = b, a
        card_seed = None
        if self.pairs_per_set > 1:
            card_seed = self._derived("cards", round_ // self.pairs_per_set)
        return Fixture(number, (a, b), self._round_seed(round_), card_seed)

    def agent_seed(self, number: int, seat: int) -> int:
        """The seed of an agent in a game."""
        return self._derived(f"seat {seat} of game", number)

    def _round_seed(self, round_: int) -> int:
        return self._derived("round", round_) if self.seeds is None else self.seeds[round_]

    def _derived(self, what: str, index: int) -> int:
        """A number that has nothing to do with those of other indices, as a successor would."""
        text = f"{self.seed} {what} {index}".encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        return int.from_bytes(digest) >> (64 - _SEED_BITS)

    def fields(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_json(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and strings."""
        players = [
            {
                "name": player.name,
                "spec": player.spec,
                "process": player.process,
                "ready": player.ready,
                **({} if player.files is None else {"files": dict(player.files)}),
            }
            for player in self.players
        ]
        return {**self.fields(), "players": players, "game": game_to_json(self.game)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Settings":
        """The inverse of `to_json`; ``ValueError`` if it is something else."""
        try:
            players = tuple(Player(**player) for player in data["players"])
            seeds = None if data["seeds"] is None else tuple(map(int, data["seeds"]))
            game = game_from_json(data["game"])
            return cls(**{**data, "players": players, "seeds": seeds, "game": game})
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the settings of a tournament: {error!r}") from None

    def differences(self, other: "Settings") -> list[str]:
        """What is different in `other`, for people."""
        mine, theirs = ({**some.fields(), **game_to_json(some.game)} for some in (self, other))
        if mine["game"] != theirs["game"]:
            return [f"game: {mine['game']}, now {theirs['game']}"]
        for some in (mine, theirs):
            some["players"] = ", ".join(f"{p.name}={p.spec}" for p in some["players"])
        return [
            f"{name}: {value}, now {theirs[name]}"
            for name, value in mine.items()
            if value != theirs[name]
        ]


def random_seed() -> int:
    """A seed nobody has chosen."""
    return random.SystemRandom().getrandbits(32)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds from ``"5,7,100..199"``; ``ValueError`` names the part that is wrong."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        try:
            low = int(first)
            high = int(last) if dots else low
        except ValueError:
            raise ValueError(f"expected seeds like 5,7,100..199, got {part!r}") from None
        if high < low:
            raise ValueError(f"expected a range from low to high, got {part!r}")
        seeds.extend(range(low, high + 1))
    return tuple(seeds)


def unique_names(names: Sequence[str]) -> list[str]:
    """`names` with ``#2``, ``#3`` ... behind those that came before."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result
