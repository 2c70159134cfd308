"""Vestrock in the arena, and whole tournaments in this process.

`ArenaGame` makes matches and players for `locmsim.arena`, and `ArenaMatch` is a match as a referee
needs it. A player's answer is all commands of a turn without the match, joined by ``;``; one that
is refused is left out. `play_tournament` plays what a server plays, without sockets and clock: a
turn ends as soon as its player has answered.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from locmsim.arena import tournament as core
from locmsim.contract import Fault, FaultKind, TurnResult
from locmsim.stats import Sprt
from locmsim.vestrock._core import Table
from locmsim.vestrock.bots import BOTS, Bot, make_bot
from locmsim.vestrock.deck import Card, generate_deck
from locmsim.vestrock.match import Match
from locmsim.vestrock.tournament import Tournament
from locmsim.vestrock.views import Views

__all__ = ["Arena", "ArenaGame", "ArenaMatch", "Contestant", "play_tournament"]

#: What a turn lasts at a server, in ms.
_TURN_MS = 1000.0
_NAME = "vestrock"


class Contestant:
    """A bot as a player of the arena.

    Parameters
    ----------
    bot : str or Bot
        As for `locmsim.vestrock.bots.make_bot`, or a ready one.

    Raises
    ------
    ValueError
        The text describes no bot.
    TypeError
        It is something else.
    """

    def __init__(self, bot: str | Bot) -> None:
        #: The text that makes such bots; None for a ready one.
        self.spec = bot if isinstance(bot, str) else None
        self.bot: Bot = make_bot(bot) if isinstance(bot, str) else bot
        if not callable(getattr(self.bot, "turn", None)):
            raise TypeError(f"expected a bot with a method turn, got {bot!r}")

    @property
    def time_ms(self) -> float:
        """How long the bot thinks about a turn; 0 if its answers do not depend on time."""
        if getattr(self.bot, "nodes", None) is not None:
            return 0.0
        return float(getattr(self.bot, "time_ms", 0.0))

    def reset(self, seed: int = 0) -> None:
        """A new match begins; everything random of a bot of this package depends on `seed`."""
        if self.spec is not None:
            self.bot = make_bot(self.spec, seed)


class ArenaMatch:
    """A match in progress, as a referee needs it.

    Parameters
    ----------
    seed : int
        Of the deck.
    deck : sequence of Card
        Top first.
    parameters : mapping
        As for `locmsim.vestrock.Match`.
    """

    def __init__(self, seed: int, deck: Sequence[Card], parameters: Mapping[str, int]) -> None:
        self._seed = seed
        self._match = Match(Table(deck, **parameters))
        self._error: Fault | None = None

    @property
    def to_ask(self) -> Sequence[int]:
        """The player whose turn it is, 0 or 1; nobody at the end."""
        return () if self._error else self._match.to_ask

    @property
    def turn(self) -> int | None:
        """The turn, counted over both players from 0."""
        return int(self._match.state.turn) - 1

    def input_text(self, player: int) -> str:
        """What a program is sent: the replies of a server to the questions about the position.

        They are those to ``GET_TURN_INFO``, ``GET_HP``, ``GET_CARD_LIMITS``, ``GET_DECK``,
        ``GET_HANDS``, ``GET_BOARD`` and ``GET_ATTACKERS``, without their first lines.
        """
        name = self._match.players[player]
        lines: list[str] = []
        for question in Views.questions(self._match.match_id):
            lines += self._match.command(name, question)[1:]
        return "".join(f"{line}\n" for line in lines)

    def consult(self, agent: Contestant, player: int) -> Callable[[], str]:
        """A function that asks a bot, and returns its answer."""
        state = self._match.state.clone()
        return lambda: agent.bot.turn(state)

    def time_limit_ms(self, player: int) -> float:
        """The time for an answer in ms."""
        return _TURN_MS

    def submit(self, player: int, line: str | None) -> TurnResult:
        """Take the commands of a turn, which ends.

        At a server who says nothing only loses a turn. In the arena no answer means that a bot has
        crashed or is too slow, and it loses the match, as in other games there.
        """
        if line is None:
            if player not in self.to_ask:
                raise ValueError(f"player: {player} is not asked now")
            self._error = Fault(player, FaultKind.TIMEOUT, "No answer.")
            return TurnResult([], [], self._error)
        result = self._match.submit(player, line)
        return TurnResult(result.applied, result.ignored)

    @property
    def winner(self) -> int | None:
        """The player with the higher score; None before the end and for equal scores."""
        return 1 - self._error.player if self._error else self._match.winner

    @property
    def scores(self) -> Sequence[int] | None:
        """Both scores; None before the end. Who gives no answer counts as killed."""
        if self._error is None:
            return self._match.scores
        state, loser = self._match.state, self._error.player
        health = int(state.health[1 - loser])
        scores = [3 * int(state.table.parameters["init_hp"]) + health] * 2
        scores[loser] = -health
        return scores

    @property
    def error(self) -> Fault | None:
        """The answer that was missing."""
        return self._error

    def explain(self) -> str:
        """What ended the match, for people."""
        return self._error.message if self._error else ""

    @property
    def params(self) -> Mapping[str, int | str]:
        """The deck's seed and the parameters: `ArenaGame` makes the same match of them."""
        return {"seed": self._seed, **self._match.state.table.parameters}

    @property
    def log(self) -> Mapping[str, Any]:
        """All of the match so far as plain dicts, lists, numbers and strings."""
        return {
            "game": _NAME,
            "params": dict(self.params),
            "deck": [str(card) for card in self._match.state.table.cards],
            "actions": [list(entry) for entry in self._match.log],
            "scores": list(self.scores) if self.scores else None,
        }


@dataclass(frozen=True, slots=True)
class ArenaGame:
    """Matches with decks of the generator and these parameters.

    Raises
    ------
    ValueError
        Naming the parameter that is out of bounds.
    """

    #: Number of cards of a deck.
    cards: int = 100
    init_hp: int = 20
    turns: int = 60
    draws: int = 2
    burns: int = 2
    hand_limit: int = 10

    def __post_init__(self) -> None:
        self.new_match(0)

    @property
    def title(self) -> str:
        """What tables say was played."""
        return "Vestrock"

    @property
    def parameters(self) -> dict[str, int]:
        """Those of a match, by name."""
        return {key: value for key, value in asdict(self).items() if key != "cards"}

    def new_match(self, seed: int, card_seed: int | None = None) -> ArenaMatch:
        """The match with the deck of `seed`, before its first answer.

        ``ValueError`` for a `card_seed`: nothing but the deck depends on a seed, so matches with
        the same one would be the same.
        """
        if card_seed is not None:
            raise ValueError("matches of Vestrock with the same deck are the same")
        return ArenaMatch(seed, generate_deck(seed, self.cards), self.parameters)

    def is_agent(self, spec: str) -> bool:
        """Whether the text describes a bot of this package; ``ValueError`` for wrong settings."""
        if spec.partition(":")[0] not in BOTS:
            return False
        make_bot(spec)
        return True

    def make_agent(self, spec: str) -> Contestant:
        """The bot that a text describes; ``ValueError`` names what is wrong."""
        return Contestant(spec)

    def describe(self, agent: Any) -> tuple[str | None, Contestant]:
        """The text for a ready bot, None if none makes its like; and the player."""
        made = agent if isinstance(agent, Contestant) else Contestant(agent)
        return made.spec, made

    def suggest(self, name: str) -> str:
        """The bot that was meant, for a message."""
        close = get_close_matches(name, BOTS, n=1)
        return f"; did you mean {close[0]!r}?" if close else f"; the bots are {', '.join(BOTS)}"

    def to_json(self) -> dict[str, Any]:
        """All of it as plain dicts, lists, numbers and strings."""
        return {"game": _NAME, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ArenaGame":
        """The inverse of `to_json`; ``ValueError`` if it is something else."""
        values = dict(data)
        name = values.pop("game", None)
        if name != _NAME:
            raise ValueError(f"results of a game called {name!r}, not of {_NAME!r}")
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"results of another version of {_NAME}: {error}") from None


class Arena(core.Tournament):
    """Many matches between players with their results, as `locmsim.arena.Arena`.

    Parameters
    ----------
    players : sequence
        Bots of this package (``"search:nodes=500"``), commands, ``NAME=`` either, or ready objects
        with a method ``turn`` as of `locmsim.vestrock.bots.Bot`.
    game : ArenaGame, optional
        What is played; default the one in the file, or that of the rules.
    db : str or path
        SQLite file of results; default in memory.
    games : int, optional
        Of each pairing, default 200. Two follow each other with the same deck and seats swapped.
    sprt : Sprt, optional
        Stop as soon as it is clear which difference holds.
    **settings
        The other fields of `locmsim.arena.Settings`.

    Raises
    ------
    ValueError
        Arguments that make no sense.
    StoreError
        The file is that of other matches, or cannot be used.
    """

    game_type = ArenaGame

    def __init__(
        self,
        players: Sequence[Any] | None = None,
        *,
        game: ArenaGame | None = None,
        db: str | os.PathLike[str] = ":memory:",
        games: int | None = None,
        sprt: Sprt | None = None,
        **settings: Any,
    ) -> None:
        def chosen(stored: ArenaGame | None) -> ArenaGame:
            return game or stored or ArenaGame()

        super().__init__(players, game=chosen, db=db, games=games, sprt=sprt, **settings)


def play_tournament(
    number: int,
    deck: Sequence[Card],
    bots: Mapping[str, Bot],
    parameters: Mapping[str, int] | None = None,
    *,
    time_ms: float | None = None,
) -> Tournament:
    """Play a tournament to its end: every two bots meet twice.

    Parameters
    ----------
    number : int
        Which tournament it is.
    deck : sequence of Card
        Top first.
    bots : mapping of str to Bot
        The players by name, at least two.
    parameters : mapping
        Parameters of the matches, as for `locmsim.vestrock.Match`.
    time_ms : float, optional
        What each bot may think about a turn of a match; None for their own defaults.

    Returns
    -------
    Tournament
        With all results.

    Raises
    ------
    ValueError
        Wrong arguments, or a bot whose command is refused.
    """
    tournament = Tournament(number, deck, bots, parameters)
    for match in tournament.matches.values():
        for player in _askings(match):
            line = bots[match.players[player]].turn(match.state, time_ms)
            result = match.submit(player, line)
            if result.ignored:
                name = match.players[player]
                raise ValueError(f"{name}: refused: {', '.join(result.ignored)}")
    while not tournament.over:
        tournament.end_turn()
    return tournament


def _askings(match: Match) -> Iterator[int]:
    """Who is asked, one after another, until the match is over."""
    while match.to_ask:
        yield match.to_ask[0]
