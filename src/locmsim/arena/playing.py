"""Playing the games of a tournament: what a worker process does."""

from collections.abc import Sequence

from locmsim.agents import Agent, make_agent
from locmsim.arena.records import Record, record_of
from locmsim.arena.schedule import Game, Player, Settings
from locmsim.game.match import Match
from locmsim.referee.play import Result, play, retrace

__all__ = ["new_match", "play_games", "replay"]


def play_games(settings: Settings, numbers: Sequence[int]) -> list[Record]:
    """Play the games of these numbers.

    A bot or agent that fails loses its game. ``OSError`` is about this machine, ``ValueError``
    about a player's description.
    """
    # By seat, because an agent may play itself.
    agents: dict[tuple[str, int], Agent] = {}

    def contestant(player: Player, game: Game, seat: int) -> str | Agent:
        if player.process:
            return player.spec
        key = player.spec, seat
        if key not in agents:
            agents[key] = make_agent(player.spec)
        agents[key].reset(settings.agent_seed(game.number, seat))
        return agents[key]

    records = []
    for number in numbers:
        game = settings.game(number)
        players = [
            contestant(settings.players[index], game, seat)
            for seat, index in enumerate(game.players)
        ]
        result = play(
            players,
            new_match(settings, game),
            timeout_scale=settings.timeout_scale,
            match_limit=settings.match_limit,
            lenient=settings.lenient,
        )
        records.append(record_of(game, result))
    return records


def replay(settings: Settings, record: Record) -> Result:
    """The result of a stored game, with all that was sent to the players.

    ``ValueError`` if the answers do not lead to the stored result.
    """
    result = retrace(
        new_match(settings, record.game),
        record.answers,
        fault=record.outcome.fault,
        timeout_scale=settings.timeout_scale,
    )
    if (result.scores, result.turns) != (record.scores, record.outcome.turns):
        raise ValueError(
            f"game {record.game.number}: ended {record.scores} after {record.outcome.turns} turns,"
            f" and {result.scores} after {result.turns} when replayed"
        )
    return result


def new_match(settings: Settings, game: Game) -> Match:
    """The match of a game before its first answer."""
    params = {} if game.card_seed is None else {"cardGenSeed": game.card_seed}
    return Match(settings.rules, seed=game.seed, params=params, ids=settings.ids)
