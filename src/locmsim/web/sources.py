"""Where matches to watch come from: logs in files, and the matches of an arena's results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from locmsim.arena.game_worker import replayed
from locmsim.arena.locm import LocmGame
from locmsim.arena.registry import find_log_part, game_from_json
from locmsim.arena.store import Store
from locmsim.contract import Game, Part, require
from locmsim.game.match import Match
from locmsim.referee.log_reader import (
    REPLAY,
    is_of_another_game,
    own_part,
    read_log,
    what_is_wrong,
)
from locmsim.referee.process_match import Result, replay_calls
from locmsim.referee.transcript import replay_log
from locmsim.rules.rulesets import RULES
from locmsim.support.database import is_database, numbered_entry

_PERFORMED = re.compile(r"^(?:Player )?\$([01]) performed action: (.*?) *$", re.MULTILINE)


class Played(NamedTuple):
    """An earlier match of any game."""

    result: Result[Any]
    #: Names of its players, as far as they are known.
    names: tuple[str, str]
    game: Game

    def of_locm(self) -> tuple[Result[Match], tuple[str, str]]:
        """Return the match and the names; ``ValueError`` for a match of another game."""
        if Part.REPLAY not in self.game.parts:
            title = self.game.title
            raise ValueError(f"a match of {title}, of which `locmsim web FILE` shows the log")
        return self.result, self.names


def load_replay(
    source: str, rules: str | None = None, ids: str | None = None
) -> tuple[Result[Match], tuple[str, str]]:
    """Return an earlier match, and what its players are called.

    Parameters
    ----------
    source : str
        The file of a log, or a file of an arena's results with a number, such as ``results.db:3``.
    rules : str, optional
        The rule set; by default what the log says, or what its texts allow.
    ids : str, optional
        "new" or "old", the instance ids of the log; recognised by default.

    Returns
    -------
    tuple of Result and tuple of str
        The match as the referee's result, and the names of the players.

    Raises
    ------
    ValueError
        If the file holds no such match.
    """
    played = load_played(source, rules, ids)
    if numbered_entry(source) is not None:
        require(played.game, Part.REPLAY)
    return played.of_locm()


def load_played(source: str, rules: str | None = None, ids: str | None = None) -> Played:
    """Return an earlier match of any game; arguments and errors as for `load_replay`."""
    if (entry := numbered_entry(source)) is not None:
        return arena_match(*entry)
    if is_database(source):
        raise ValueError(f"the results of many games: give one by its number, as in {source}:1")
    with open(source, "rb") as file:
        return played_in(file.read(), rules, ids)


def played_in(data: bytes, rules: str | None = None, ids: str | None = None) -> Played:
    """Return the match of a log's bytes, see `load_played`, or raise ``ValueError``."""
    log = read_log(data)
    if is_of_another_game(log):
        return _other_match(log)
    result = _logged_match(log, rules, ids)
    return Played(result, _log_names(log), LocmGame(result.match.rules, result.match.log["ids"]))


def arena_match(db: str, number: int) -> Played:
    """Return a match of an arena's results, or raise ``ValueError`` or `StoreError`."""
    with Store(db) as store:
        settings = store.settings
        record = store.game(number)
    first, second = (settings.players[i].name for i in record.fixture.players)
    return Played(replayed(settings, record), (first, second), settings.game)


def begun_match(begun: Mapping[str, Any]) -> tuple[Game, Any]:
    """Return a game and its match before the first answer, from a live log's first line."""
    game = game_from_json(begun["game"])
    return game, game.new_match(begun["seed"], begun["card_seed"])


def _other_match(log: Mapping[str, Any]) -> Played:
    """Return the match of a log of `locmsim play -l` of another game, or raise ``ValueError``."""
    game = game_from_json(log["game"])
    try:
        match = game.new_match(int(log["params"]["seed"]))
        answers = [(int(seat), line, 0) for seat, line in log["answers"]]
        scores = log["scores"]
    except (KeyError, TypeError) as error:
        what = f"{game.title}: no log of a match: {what_is_wrong(error)}"
        raise ValueError(what) from None
    result = replay_calls(match, answers)
    if list(result.scores) != scores:
        raise ValueError(f"it ended {scores}, and {list(result.scores)} when replayed")
    return Played(result, _log_names(log), game)


def part_match(server: str, lines: Sequence[bytes], number: int) -> dict[str, Any]:
    """Return what a page shows of a match in a `LogPart`."""
    events = [event for event in map(_event_of, lines) if event is not None]
    found = find_log_part(events[0], server) if events else None
    if found is None:
        raise ValueError(f"it is not of a server of {server}")
    part = found[1]
    for event in events[1:]:
        part.take(event)
    (match,) = [match for match in part.matches() if match.number == number]
    steps = [
        {
            "turn": one.turn, "player": one.player, "answer": one.answer, "ignored": [],
            "stderr": "", **asdict(one.view),
        }
        for one in part.steps(lines, number)
    ]  # fmt: skip
    return {
        "title": part.game.title,
        "turn": part.game.turn_name,
        "names": list(match.names),
        "scores": steps[-1]["scores"],
        "winner": match.winner,
        "fault": None,
        "steps": steps,
        "running": not match.over,
    }


def _event_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def error_text(path: str, error: Exception) -> str:
    """Return what is wrong with a file, in one line that names it."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return words if path in words else f"{path}: {words}"


def _logged_match(log: Any, rules: str | None, ids: str | None) -> Result[Match]:
    """Return the match of a log whose rules may not be known."""
    if isinstance(log, Mapping):  # ours say it
        own = own_part(log)
        rules, ids = rules or own.get("rules"), ids or own.get("ids")
    tries = [(name, "new") for name in RULES]
    tries.insert(1, ("1.5", "old"))
    tries = [pair for pair in tries if rules in (None, pair[0]) and ids in (None, pair[1])]
    errors, fits = [], []
    for pair in tries:
        try:
            result = replay_log(log, *pair)
        except ValueError as error:
            errors.append(str(error))
            continue
        performed = _performed(log)
        if (performed or REPLAY not in log) and performed != [
            (call.player, result.match.encode(text))
            for call in result.calls
            if call.turn is not None
            for text in call.result.applied
        ]:
            errors.append("other actions were performed than the log says")
        elif _as_sent(log, result):
            return result
        else:
            fits.append(result)
    if fits:
        return fits[0]
    which = "a replay of CodinGame: " if isinstance(log, Mapping) and REPLAY in log else ""
    if len(set(errors)) == 1:
        raise ValueError(f"{which}{errors[0]}")
    found = "; ".join(
        f"{name} with {kind} instance ids: {error}"
        for (name, kind), error in zip(tries, errors, strict=True)
    )
    raise ValueError(
        f"{which}the log fits no rules. {found}" if errors else "no such rules and ids"
    )


def _performed(log: Any) -> list[tuple[int, str]]:
    """Return the actions that a log's summaries list."""
    summaries = "\n".join(filter(None, log["summaries"]))
    return [(int(player), text) for player, text in _PERFORMED.findall(summaries)]


def _as_sent(log: Any, result: Result[Match]) -> bool:
    """Return whether the log has what the players were sent, or beginnings of it.

    A match that ends early may be possible under several rules; the texts tell which ones it was.
    """
    for player in (0, 1):
        entries = (log.get("errors") or {}).get(str(player))
        # The contest's referee lost the blanks at the ends of lines.
        logged = "".join(map(str, filter(None, entries or []))).replace(" \n", "\n")
        sent = "".join(call.text or "" for call in result.calls if call.player == player)
        if not logged or not sent.replace(" \n", "\n").startswith(logged):
            return False
    return True


def _log_names(log: Any) -> tuple[str, str]:
    """Return the players' names in a log; the Java referee writes some, mostly "Player 0"."""
    names = ["", ""]
    agents = log.get("agents") if isinstance(log, Mapping) else None
    for agent in agents if isinstance(agents, list) else ():
        if isinstance(agent, Mapping) and agent.get("index") in (0, 1):
            names[int(agent["index"])] = str(agent.get("name") or "")
    return names[0], names[1]
