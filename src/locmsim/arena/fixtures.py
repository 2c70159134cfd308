"""What a worker needs to know of the games that it plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from locmsim.contract import Game
from locmsim.support.seeds import agent_seed


@dataclass(frozen=True, slots=True)
class Player:
    """A contestant: an agent that plays in this process, or a command over stdin.

    Parameters
    ----------
    name : str
        The name in tables.
    spec : str
        The description of an agent, or a command line.
    process : bool
        True for a command.
    ready : bool
        Whether `agent` is an object that `spec` cannot recreate.
    identity : mapping, optional
        What the player was when the tournament began, with who chooses their cards or plays for
        them (`locmsim.support.identity`).
    agent : class or agent, optional
        The agent's class, or an agent, which is copied for each seat and worker.
    """

    name: str
    spec: str
    process: bool
    ready: bool = False
    identity: Mapping[str, str] | None = field(default=None, compare=False, repr=False)
    agent: Any = field(default=None, compare=False, repr=False)


class Fixture(NamedTuple):
    """One game of a tournament, before it is played.

    Parameters
    ----------
    number : int
        The number of the game, from 1.
    players : tuple of int
        Indices of the players by seat.
    seed : int
        The match's ``seed``.
    card_seed : int or None
        The seed of the cards, if they do not follow from `seed`.
    """

    number: int
    players: tuple[int, int]
    seed: int
    card_seed: int | None

    def agent_seed(self, seat: int) -> int:
        """Return the seed by which the agent in a seat is reset.

        It follows from the match's seed, as in `locmsim play`: the game can be played again.

        Parameters
        ----------
        seat : int
            The seat of the agent.
        """
        return agent_seed(self.seed, seat)


class Task(NamedTuple):
    """Some games for a worker, with all that it takes to play them.

    Parameters
    ----------
    game : Game
        The game.
    players : mapping
        Those who play in these games, by their indices.
    fixtures : tuple of Fixture
        The games.
    timeout_scale, match_limit, clock, memory_limit, lenient, decks, pilot
        As of `Settings`.
    """

    game: Game
    players: Mapping[int, Player]
    fixtures: tuple[Fixture, ...]
    timeout_scale: float = 1.0
    match_limit: float | None = None
    clock: Literal["wall", "cpu"] = "wall"
    memory_limit: float | None = None
    lenient: bool = False
    decks: str = ""
    pilot: str = ""
