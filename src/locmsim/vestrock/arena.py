"""Vestrock as the arena sees a game, and whole tournaments in this process.

`ArenaGame` makes matches and players, and `ArenaMatch` is a match as a referee needs it: who is
asked, the text for a program, the time limit, the answer, the result. A player's answer is all
commands of a turn without the match, joined by ``;``. `play_tournament` plays what a server plays,
without sockets and clock: a turn ends as soon as its player has answered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from locmsim.vestrock._core import Table
from locmsim.vestrock.bots import BOTS, Bot, make_bot
from locmsim.vestrock.deck import Card, generate_deck
from locmsim.vestrock.match import Match, TurnResult
from locmsim.vestrock.tournament import Tournament
from locmsim.vestrock.views import Views

__all__ = ["ArenaGame", "ArenaMatch", "Contestant", "play_tournament"]

#: What a turn lasts at a server, in ms.
_TURN_MS = 1000.0


class Contestant:
    """A bot as a player of the arena.

    Parameters
    ----------
    spec : str
        As for `locmsim.vestrock.bots.make_bot`.
    """

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self.bot: Bot = make_bot(spec)

    @property
    def time_ms(self) -> float:
        """How long the bot thinks about a turn; 0 if its answers do not depend on time."""
        if getattr(self.bot, "nodes", None) is not None:
            return 0.0
        return float(getattr(self.bot, "time_ms", 0.0))

    def reset(self, seed: int = 0) -> None:
        """A new match begins; everything random depends on `seed`."""
        self.bot = make_bot(self._spec, seed)


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

    @property
    def to_ask(self) -> Sequence[int]:
        """The player whose turn it is, 0 or 1; nobody at the end."""
        return self._match.to_ask

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
        """Take the commands of a turn, which ends; without an answer nothing is done in it."""
        return self._match.submit(player, line)

    @property
    def winner(self) -> int | None:
        """The player with the higher score; None before the end and for equal scores."""
        return self._match.winner

    @property
    def scores(self) -> Sequence[int] | None:
        """Both scores; None before the end."""
        return self._match.scores

    @property
    def error(self) -> None:
        """None: no answer ends a match but by health."""
        return None

    def explain(self) -> str:
        """Nothing: there is no fatal answer."""
        return ""

    @property
    def params(self) -> Mapping[str, int | str]:
        """The deck's seed and the parameters: `ArenaGame` makes the same match of them."""
        return {"seed": self._seed, **self._match.state.table.parameters}

    @property
    def log(self) -> Mapping[str, Any]:
        """All of the match so far as plain dicts, lists, numbers and strings."""
        return {
            "game": ArenaGame.name,
            "params": dict(self.params),
            "deck": [str(card) for card in self._match.state.table.cards],
            "actions": [list(entry) for entry in self._match.log],
            "scores": self.scores and list(self.scores),
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

    name = "vestrock"

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
        """The match with the deck of `card_seed`, or else of `seed`, before its first answer."""
        seed = seed if card_seed is None else card_seed
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

    def to_json(self) -> dict[str, Any]:
        """All of it as plain dicts, lists, numbers and strings."""
        return {"game": self.name, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`; ``ValueError`` if it is something else."""
        values = dict(data)
        if values.pop("game", None) != cls.name:
            raise ValueError(f"not the settings of {cls.name}: {dict(data)!r}")
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"not the settings of {cls.name}: {error}") from None


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
