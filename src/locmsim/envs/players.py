"""Who plays the seats that the caller does not: the table of players.

Scripted agents and searches play in compiled code. All others are asked by Python: see
`locmsim.envs.asked`.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from functools import partial
from math import inf
from typing import Any, NamedTuple, NoReturn

from locmsim.agents import BeamAgent, did_you_mean, is_agent
from locmsim.agents._scripted import SCRIPTED
from locmsim.agents.registry import refuse_own_cards
from locmsim.envs._row import BY_CALLER, BY_PYTHON
from locmsim.envs._rows import MOST_PLAYERS
from locmsim.envs.asked import AgentPlayer, Asked, asked_player, search_agent, searcher_of
from locmsim.envs.episodes import Episodes
from locmsim.envs.pool import CALLER, Pool
from locmsim.options.checks import number

__all__ = ["PlayerResults", "Players"]


class PlayerResults(NamedTuple):
    """Episodes against a player that have ended, from the side of the caller.

    Where the caller plays both seats, that is the side of player 0.

    Attributes
    ----------
    won, lost : int
        Episodes.
    drawn : int
        Episodes without a winner.
    """

    won: int = 0
    lost: int = 0
    #: Without a winner.
    drawn: int = 0

    def since(self, earlier: "PlayerResults") -> "PlayerResults":
        """Return the results of the episodes that ended after `earlier` was read.

        Parameters
        ----------
        earlier : PlayerResults
            Earlier results against the same player.
        """
        return PlayerResults(*(now - then for now, then in zip(self, earlier, strict=True)))

    @property
    def games(self) -> int:
        """All of them."""
        return sum(self)

    @property
    def rate(self) -> float:
        """Won, and half of those without a winner, of all; 0.5 if there was none."""
        return (self.won + 0.5 * self.drawn) / self.games if self.games else 0.5


class Players(MutableMapping[str, Any]):
    """The players of an environment by name, with the weight by which each is drawn.

    A player that is put in is drawn once it has a weight. One that is replaced or deleted plays the
    episodes to their ends that run against it, and counts until then: there are 64 players at most.

    Parameters
    ----------
    episodes : Episodes
        Whose players they are.
    opponent
        As `Options.opponent`.

    Examples
    --------
    >>> from locmsim.envs import LocmVectorEnv, Pool
    >>> env = LocmVectorEnv(4, opponent=Pool({"caller": 0.8, "random": 0.2}))
    >>> env.players["past-1"] = "greedy"
    >>> env.set_weights({"caller": 0.5, "past-1": 0.5})
    >>> env.players.weights
    {'caller': 0.5, 'past-1': 0.5}
    >>> env.players.results["past-1"].games
    0
    """

    def __init__(self, episodes: Episodes, opponent: Any) -> None:
        self._episodes = episodes
        self._members: dict[str, Any] = {}
        self._slots: dict[str, int] = {}
        self._weights: dict[str, float] = {}
        self._draws_caller = False
        #: Whether episodes may run in which the caller plays other seats than the weights say.
        self.seats_differ = False
        self._past: dict[str, PlayerResults] = {}  # of slots that names had before
        #: Slot -> how Python asks who plays there.
        self.external: dict[int, Asked] = {}
        #: Slot -> the agent that a compiled search plays as.
        self.agents: dict[int, BeamAgent] = {}
        self.replace(opponent)

    # ------------------------------------------------------------------------------- a mapping

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __setitem__(self, name: str, player: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name: expected a text, got {name!r}")
        kind, external, agent = self._prepared(player)
        slot = self._free_slot(name)
        past = self._results(name) if name in self._slots else PlayerResults()
        self._episodes.rows.players.put(slot, kind)  # the last that may fail
        self._past[name] = past
        for table, value in ((self.external, external), (self.agents, agent)):
            table.pop(slot, None)
            if value is not None:
                table[slot] = value  # type: ignore[assignment]
        self._members[name], self._slots[name] = player, slot
        if name in self._weights:
            self._draw()

    def __delitem__(self, name: str) -> None:
        if name not in self._members:
            raise KeyError(name)
        if len(self._weights) == 1 and name in self._weights:
            raise ValueError(f"{name!r} is the only player with a weight")
        self._leave(name)
        del self._members[name]
        if self._weights.pop(name, None) is not None:
            self._draw()

    def __repr__(self) -> str:
        return f"Players({', '.join(self._members)}; weights {self.weights})"

    # ---------------------------------------------------------------------------------- drawing

    @property
    def weights(self) -> dict[str, float]:
        """Name -> weight of those that new episodes are played against."""
        return dict(self._weights)

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Draw the players of new episodes by other weights.

        Parameters
        ----------
        weights : mapping
            Name -> weight, of which one is positive at least; players that are not in it are not
            drawn.

        Raises
        ------
        ValueError
            For a name that no player has, or weights that cannot be used.
        """
        for name, weight in weights.items():
            if name not in self._members:
                raise ValueError(
                    f"there is no player {name!r}{did_you_mean(name, self._members)}: expected"
                    f" {', '.join(self._members)}"
                )
            number(f"weight of {name!r}", weight, 0)
        if not 0 < sum(weights.values()) < inf:
            raise ValueError("weights: expected one that is positive, and a finite sum")
        self._weights = {name: float(weight) for name, weight in weights.items() if weight}
        self._draw()

    def replace(self, opponent: Any) -> None:
        """Have other players only.

        Parameters
        ----------
        opponent
            As `Options.opponent`.

        Raises
        ------
        ValueError
            If one of them cannot play, or there are more than 64, those included who still play
            running episodes. Nothing is replaced then.
        """
        if isinstance(opponent, Pool):
            pool = opponent
        elif isinstance(opponent, str):
            pool = Pool({opponent: 1.0})
        else:
            pool = Pool({"opponent": 1.0}, {"opponent": opponent})
        for member in pool.members:
            self._prepared(member)  # nothing is replaced if one of them cannot play
        n_free = len(self._episodes.rows.players.free_slots())
        if len(pool.members) > n_free:
            self._refuse(MOST_PLAYERS - n_free)
        for name in list(self._members):
            self._leave(name)
        self._members, self._weights = {}, {}
        for name, member in zip(pool.names, pool.members, strict=True):
            self[name] = member
        self.set_weights(dict(zip(pool.names, pool.weights, strict=True)))

    @property
    def results(self) -> dict[str, PlayerResults]:
        """Name -> how episodes against that player have ended."""
        return {name: self._results(name) for name in self._members}

    def slot(self, name: str) -> int:
        """Return the number of a player in the rows.

        Parameters
        ----------
        name : str

        Raises
        ------
        ValueError
            No player has the name.
        """
        if not isinstance(name, str) or name not in self._slots:
            raise ValueError(
                f"player: there is no {name!r}{did_you_mean(str(name), self._members)}: expected"
                f" {', '.join(self._members)}"
            )
        return self._slots[name]

    def has_caller_twice(self) -> bool:
        """Return whether the caller plays both seats in a row, or may in its next episode."""
        if self._draws_caller:
            return True
        if self.seats_differ:
            self.seats_differ = self._episodes.rows.views.has_both_seats()
        return self.seats_differ

    def _draw(self) -> None:
        slots = [self._slots[name] for name in self._weights]
        self._episodes.rows.players.draw_from(slots, list(self._weights.values()))
        self._draws_caller = any(_is_caller(self._members[name]) for name in self._weights)
        self.seats_differ = True  # running episodes keep their players

    def _results(self, name: str) -> PlayerResults:
        drawn, won, lost = self._episodes.rows.players.played(self._slots[name])
        past = self._past.get(name, PlayerResults())
        return PlayerResults(past.won + won, past.lost + lost, past.drawn + drawn)

    def _leave(self, name: str) -> None:
        """Keep the results of a name that gives up its slot."""
        if name in self._slots:
            self._past[name] = self._results(name)
            del self._slots[name]

    def _free_slot(self, name: str) -> int:
        """Return a slot for a name; the one that it has, unless episodes run against it."""
        in_use = {slot for other, slot in self._slots.items() if other != name}
        free = [slot for slot in self._episodes.rows.players.free_slots() if slot not in in_use]
        if not free:
            self._refuse(MOST_PLAYERS - len(in_use))
        return free[0]

    def _refuse(self, leaving: int) -> NoReturn:
        """Refuse another player; `leaving` are replaced players who still play episodes."""
        but = ""
        if leaving:
            but = f", of whom {leaving} are replaced or deleted and still play their episodes"
        raise ValueError(f"players: an environment has {MOST_PLAYERS} at most{but}")

    # --------------------------------------------------------------------------------- kinds

    def _prepared(self, player: Any) -> tuple[Any, Asked | None, BeamAgent | None]:
        """Return the kind of a player for the rows, how Python asks it, what a search plays as."""
        rules = self._episodes.rules.name
        if isinstance(player, str):
            if player == CALLER:
                return BY_CALLER, None, None
            if player in SCRIPTED:
                return SCRIPTED[player], None, None
            if is_agent(player):
                refuse_own_cards(player)
            agent = search_agent(player)
            if agent is not None:
                return searcher_of(agent, rules), AgentPlayer(partial(search_agent, player)), agent
        return BY_PYTHON, asked_player(player, self._episodes), None


def _is_caller(player: Any) -> bool:
    return isinstance(player, str) and player == CALLER
