"""Results as tables and as JSON."""

import csv
import io
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from locmsim.arena.records import Outcome
from locmsim.arena.schedule import Settings
from locmsim.arena.tally import Tally
from locmsim.contract import FaultKind, turn_words
from locmsim.referee.any_game import end_of_stderr
from locmsim.stats import Ratings, bradley_terry, elo_of, score_interval
from locmsim.support.files import counted, printable

#: Games that may end by faults while their results tell how strong the players are.
_FAULTY = 0.02
#: Maximum width of a name in a table of limited width.
_NAME_WIDTH = 24
#: Number of last characters of what a failed player wrote that JSON has.
_LAST_CHARACTERS = 2000


def running_score(tally: Tally) -> str:
    """Return the first player's score so far, for a line of progress."""
    name = tally.settings.players[0].name
    counts = tally.player_pairs(0)
    low, high = score_interval(counts)
    text = f"{name} {_percent(counts.score)} [{_percent(low)}, {_percent(high)}]"
    if tally.sprt_state is not None:
        text += f" LLR {tally.sprt_state.llr:.2f}"
    return text


def tables(
    tally: Tally, width: int | None = None, failed: Iterable[tuple[Outcome, str]] = ()
) -> str:
    """Return all results as text tables, wrapped to `width` columns if it is given.

    `failed` are games with a fault, as for `faults_text`.
    """
    parts = [_heading(tally), _player_table(tally, width)]
    if len(tally.settings.players) > 2:
        parts.append(_head_to_head(tally, width))
    notes = "\n".join(f"note: {note}" for note in tally.settings.notes)
    texts = _pairs_text(tally), _late_text(tally), _faults(tally, failed), _sprt_text(tally)
    parts += filter(None, (*texts, notes))
    if width is not None:
        parts = ["\n".join(_wrapped(line, width) for line in p.split("\n")) for p in parts]
    return "\n\n".join(parts) + "\n"


def _wrapped(line: str, width: int) -> str:
    return line if len(line) <= width else "\n".join(textwrap.wrap(line, width))


def _heading(tally: Tally) -> str:
    settings = tally.settings
    seeds = f"seed {settings.seed}" if settings.seeds is None else "given seeds"
    pairs = "mirrored pairs" if settings.mirror else "single games"
    text = f"{counted(tally.games, 'game')} of {settings.game.title}, {pairs}, {seeds}"
    for what, spec in (("decks of", settings.decks), ("played by", settings.pilot)):
        text += f", {what} {spec}" if spec else ""
    if tally.games:
        text += f", {tally.turns / tally.games:.1f} {settings.game.turn_name}s a game"
    return text


def _player_table(tally: Tally, width: int | None) -> str:
    settings = tally.settings
    game = settings.game
    ratings = _ratings(tally)
    drawn = any(any(sums.draws) for sums in tally.players)
    rows = []
    for index, player in enumerate(settings.players):
        sums = tally.players[index]
        counts = tally.player_pairs(index)
        low, high = score_interval(counts)
        times = zip(sums.times.in_ms, (2, 1, 2, 1), strict=True)
        extra = [str(sum(sums.draws))] if drawn else []
        if game.scored:
            extra.append(f"{sums.points / max(1, sum(sums.games)):.2f}")
        rows.append(
            [
                player.name + " (retired)" * (index in settings.retired),
                str(sum(sums.games)),
                str(sum(sums.wins)),
                *extra,
                _rate(sum(sums.wins), sum(sums.games)),
                _rate(sums.wins[0], sums.games[0]),
                _rate(sums.wins[1], sums.games[1]),
                f"{_percent(low)} - {_percent(high)}" if counts.total else "-",
                _elo_text(tally, index, ratings),
                *["-" if ms is None else f"{ms:.{digits}f}" for ms, digits in times],
                str(sums.late),
                str(sums.illegal.total()),
                str(sums.faults.total()),
            ]
        )
    if len(settings.players) > 2:
        order = sorted(range(len(rows)), key=lambda i: -_strength(tally, i, ratings))
        rows = [rows[i] for i in order]
    header = [
        "player", "games", "wins", *["draws"][:drawn], *["score"][: game.scored], "win %", "first",
        "second", "95 % interval", "Elo", f"ms/{game.turn_name}", "worst", f"cpu/{game.turn_name}",
        "worst cpu", "late", "illegal", "faults",
    ]  # fmt: skip
    return grid(header, rows, width)


def _strength(tally: Tally, index: int, ratings: Ratings | None) -> float:
    return tally.player_pairs(index).score if ratings is None else float(ratings.elo[index])


def _ratings(tally: Tally) -> Ratings | None:
    """Return ratings; None for two players, where the interval suffices."""
    return ratings_of(tally, tally.settings.anchor) if _is_rated(tally) else None


def ratings_of(tally: Tally, anchor: tuple[str, float] | None) -> Ratings | None:
    """Return ratings, if games connect all players.

    They do not depend on the order of the players, not even by rounding.
    """
    settings = tally.settings
    count = len(settings.players)
    order = sorted(range(count), key=lambda index: settings.players[index].name)
    rank = {index: place for place, index in enumerate(order)}
    pairs = {
        (min(rank[a], rank[b]), max(rank[a], rank[b])): (
            counts if rank[a] < rank[b] else counts.reversed()
        )
        for (a, b), counts in tally.pairs.items()
    }
    fixed = None if anchor is None else (rank[settings.index(anchor[0], "anchor")], anchor[1])
    found = bradley_terry(count, dict(sorted(pairs.items())), fixed)
    if found is None:
        return None
    places = [rank[index] for index in range(count)]
    return Ratings(found.elo[places], found.error[places])


def _late_text(tally: Tally) -> str:
    """Say what late answers are: some were let pass, as a strict referee would not."""
    lines = []
    for player, sums in zip(tally.settings.players, tally.players, strict=True):
        if sums.late:
            lost = min(sums.late, sums.faults[FaultKind.TIMEOUT])
            lines.append(
                f"late answers of {player.name}: {sums.late} after the time limit of the rules,"
                f" {lost} of them lost by it; a strict referee lets none pass"
            )
    return "\n".join(lines)


def _is_rated(tally: Tally) -> bool:
    """Return whether the Elo of a player is a rating, and not that of a score and its interval."""
    return len(tally.settings.players) > 2 or tally.settings.anchor is not None


def _faulty(tally: Tally, index: int) -> bool:
    """Return whether too many games of a player, of two of either, end by faults."""
    some = tally.players if len(tally.players) == 2 else [tally.players[index]]
    return any(one.faults.total() > _FAULTY * sum(one.games) for one in some)


def _elo_text(tally: Tally, index: int, ratings: Ratings | None) -> str:
    if _faulty(tally, index):
        return "-"
    if ratings is not None:
        elo, error = float(ratings.elo[index]), ratings.error[index]
        # A rating next to an anchor's is no difference.
        text = _signed(elo) if tally.settings.anchor is None else f"{elo:.0f}"
        return f"{text} \u00b1 {error:.0f}"
    counts = tally.player_pairs(index)
    if _is_rated(tally) or not counts.total:
        return "-"
    low, high = map(elo_of, score_interval(counts))
    return f"{_signed(elo_of(counts.score))} [{_signed(low)}, {_signed(high)}]"


def _signed(elo: float) -> str:
    """Round a number, to +0 if it is close to 0 on either side."""
    return f"{round(elo):+d}" if math.isfinite(elo) else f"{elo:+.0f}"


def _head_to_head(tally: Tally, width: int | None) -> str:
    """Return the row player's score against the column's in percent, its interval, and pairs."""
    names = [player.name for player in tally.settings.players]
    rows = []
    for a, name in enumerate(names):
        row = [name]
        for b in range(len(names)):
            counts = tally.pairs_of(a, b)
            if not counts.total:
                row.append("-")
            else:
                low, high = map(_percent, score_interval(counts))
                won, lost = counts.won + counts.mostly_won, counts.lost + counts.mostly_lost
                score = f"{_percent(counts.score)} [{low}, {high}]"
                row.append(f"{score} ({won}/{counts.split}/{lost})")
        rows.append(row)
    noun = "pairs won/split/lost" if tally.settings.mirror else "games won/drawn/lost"
    columns = names if width is None else [*_cut_names(names).values()]
    return grid([f"% against [95 %] ({noun})", *columns], rows, width)


def _pairs_text(tally: Tally) -> str:
    """Return the results of the pairs of two players."""
    settings = tally.settings
    if len(settings.players) > 2 or not settings.mirror:
        return ""
    counts = tally.player_pairs(0)
    text = f"{settings.players[0].name}: {counted(counts.won, 'pair')} won, "
    if counts.mostly_won or counts.mostly_lost:
        text += f"{counts.mostly_won} won and drawn, {counts.split} split,"
        text += f" {counts.mostly_lost} lost and drawn, "
    else:
        text += f"{counts.split} split, "
    return text + f"{counts.lost} lost"


def _faults(tally: Tally, failed: Iterable[tuple[Outcome, str]]) -> str:
    """Return what went wrong with each player, and the first fault of each."""
    first: dict[int, str] = {}
    players = tally.settings.players
    wanted = sum(bool(sums.faults) for sums in tally.players)
    for outcome, words in failed if wanted else ():
        if outcome.fault is not None:
            index = outcome.players[outcome.fault.player]
            first.setdefault(index, _first_fault(tally.settings, outcome, words))
            if len(first) == wanted:
                break
    lines = []
    for index, (player, sums) in enumerate(zip(players, tally.players, strict=True)):
        if sums.illegal:
            reasons = ", ".join(f"{count} {why}" for why, count in sums.illegal.most_common())
            lines.append(f"illegal actions of {player.name}: {reasons}")
        if sums.faults:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sums.faults.most_common())
            lines.append(f"faults of {player.name}: {kinds}")
            lines += [first[index]] if index in first else []
            if (share := sums.faults.total() / sum(sums.games)) > _FAULTY:
                lines.append(f"    in {_percent(share)} % of the games: too many to tell strength")
    return "\n".join(lines)


def _first_fault(settings: Settings, outcome: Outcome, words: str) -> str:
    """Describe a fault in one line, with its turn and the last line of a traceback."""
    assert outcome.fault is not None
    at = turn_words(outcome.turns - 1 if outcome.turns else None, settings.game.turn_name)
    last = words.rstrip().rpartition("\n")[2].strip()
    last = re.sub(r"^(\w+\.)+(?=\w+: )", "", last)  # the module of an exception
    text = f"    first in game {outcome.number}, {at}: {outcome.fault.message}"
    return printable(text if not last or last in text else f"{text} ({last})")


def _sprt_text(tally: Tally) -> str:
    state, test = tally.sprt_state, tally.sprt
    if state is None or test is None:
        return ""
    noun = "pairs" if tally.settings.mirror else "games"
    return (
        f"{_verdict(tally)} after {state.pairs} {noun} (SPRT of Elo {test.elo0:+g} against"
        f" {test.elo1:+g}, LLR {state.llr:.2f}, bounds {state.lower:.2f} and {state.upper:.2f})"
    )


def _verdict(tally: Tally) -> str:
    """Return what the sequential test is about, and what it says so far."""
    state, test = tally.sprt_state, tally.sprt
    assert state is not None
    assert test is not None
    names = [player.name for player in tally.settings.players]
    name, other = names[test.player], names[1 - test.player]
    if state.accepted is None:
        return f"whether {test.claim(name, other)}: undecided"
    return f"{test.claim(name, other, state.accepted)}: accepted"


def lost_games(settings: Settings, outcomes: Iterable[Outcome], index: int) -> list[list[str]]:
    """Return a row per lost game of a player: game, seed, seat, opponent, turns, reason."""
    rows = []
    for outcome in outcomes:
        if index not in outcome.players:
            continue
        seat = outcome.players.index(index)
        if outcome.winner == 1 - seat:
            opponent = settings.players[outcome.players[1 - seat]].name
            fault = outcome.fault
            reason = "on the board" if fault is None else str(fault)
            seed = settings.fixture(outcome.number).seed
            rows.append(
                [str(outcome.number), str(seed), str(seat), opponent, str(outcome.turns), reason]
            )
    return rows


def lost_table(
    rows: Sequence[Sequence[str]], width: int | None = None, turns: str = "turns"
) -> str:
    """Return `lost_games` as a table, cut to `width` columns."""
    header = ["game", "seed", "seat", "opponent", turns, "lost"]
    if width is not None:
        short = _cut_names([row[3] for row in rows])
        rows = [[*row[:3], short[row[3]], *row[4:]] for row in rows]
    lines = grid(header, rows, texts=(3, 5)).splitlines()
    return "\n".join(lines if width is None else [_cut(line, width) for line in lines])


def grid(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    texts: Sequence[int] = (0,),
) -> str:
    """Format a table; columns in `texts` are aligned to the left.

    A table wider than `width` is split into several blocks, each with the first column, which is
    shortened if it is long.
    """
    if width is not None:
        short = _cut_names([row[0] for row in rows])
        rows = [[short[row[0]], *row[1:]] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    blocks: list[list[int]] = [[0]]
    used = widths[0]
    for i in range(1, len(widths)):
        if width is not None and used + 2 + widths[i] > width and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(i)
        used += 2 + widths[i]
    parts = []
    for block in blocks:
        lines = []
        for row in (header, *rows):
            cells = [
                row[i].ljust(widths[i]) if i in texts else row[i].rjust(widths[i]) for i in block
            ]
            lines.append("  ".join(cells).rstrip())
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _cut_names(names: Sequence[str]) -> dict[str, str]:
    """Shorten names; equal-looking ones are cut so that their difference is visible."""
    short = {name: _cut(name, _NAME_WIDTH) for name in names}
    for name in list(short):
        alike = [n for n in short if n != name and _cut(n, _NAME_WIDTH) == _cut(name, _NAME_WIDTH)]
        if alike:
            same = min(_shared(name, other) for other in alike)
            start = max(name.rfind(mark, 0, same + 1) + 1 for mark in ",: ")
            head = name[: min(start, 8)]
            short[name] = f"{head}...{_cut(name[start:], _NAME_WIDTH - len(head) - 3)}"
    shown = list(short.values())
    for number, name in enumerate(short, 1):
        if shown.count(short[name]) > 1:  # the difference is too far from the start
            short[name] = f"{_cut(name, _NAME_WIDTH - 3)}#{number}"
    return short


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."


def _rate(wins: int, games: int) -> str:
    return _percent(wins / games) if games else "-"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def faults_text(settings: Settings, failed: Iterable[tuple[Outcome, str]]) -> str:
    """Return the first game of each player and kind of fault: reason and last words.

    `failed` are the games with a fault, with the last output of the player at fault.
    """
    first: dict[tuple[str, str], str] = {}
    for outcome, words in failed:
        fault = outcome.fault
        assert fault is not None
        name = settings.players[outcome.players[fault.player]].name
        key = name, str(fault.kind)
        if key not in first:
            lines = [printable(f"game {outcome.number}, {name} {fault}"), *end_of_stderr(words)]
            first[key] = "\n    ".join(lines)
    return "\n".join(first.values())


def faults_json(settings: Settings, failed: Iterable[tuple[Outcome, str]]) -> list[dict[str, Any]]:
    """Return all games with a fault: player, kind, reason and the player's last words."""
    return [
        {
            "game": outcome.number,
            "player": settings.players[outcome.players[outcome.fault.player]].name,
            "seat": outcome.fault.player,
            "kind": str(outcome.fault.kind),
            "message": outcome.fault.message,
            "stderr": words[-_LAST_CHARACTERS:],
        }
        for outcome, words in failed
        if outcome.fault is not None
    ]


# ------------------------------------------------------------------------------------------- CSV

_COLUMNS = [
    "game", "pair", "seed", "card_seed", "player0", "player1", "winner", "score0", "score1",
    "turns", "mean_ms0", "worst_ms0", "mean_cpu_ms0", "worst_cpu_ms0", "late0", "mean_ms1",
    "worst_ms1", "mean_cpu_ms1", "worst_cpu_ms1", "late1", "failed", "fault",
]  # fmt: skip


def as_csv(settings: Settings, outcomes: Iterable[Outcome]) -> str:
    """Return a header and a line per game; trailing numbers in column names are seats.

    ``pair`` is the number of the game's pair, ``card_seed`` is empty where ``seed`` determines the
    cards; times are those of battle turns, in ms; the player ``failed`` lost by ``fault``.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for outcome in outcomes:
        fixture = settings.fixture(outcome.number)
        names = [settings.players[index].name for index in outcome.players]
        row: list[object] = [
            outcome.number,
            (outcome.number - 1) // settings.games_per_meeting + 1,
            fixture.seed,
            fixture.card_seed,
            *names,
            None if outcome.winner is None else names[outcome.winner],
            *outcome.scores,
            outcome.turns,
        ]
        for times, late in zip(outcome.times, outcome.late, strict=True):
            row += [*[None if ms is None else f"{ms:.3f}" for ms in times.in_ms], late]
        fault = outcome.fault
        row += [None, None] if fault is None else [names[fault.player], fault.kind]
        writer.writerow(row)
    return text.getvalue()


# ------------------------------------------------------------------------------------------ JSON


def as_json(tally: Tally) -> dict[str, Any]:
    """Return the results as plain values for programs; infinite numbers are None."""
    settings = tally.settings
    ratings = _ratings(tally)
    players = []
    for index, player in enumerate(settings.players):
        sums = tally.players[index]
        counts = tally.player_pairs(index)
        mean_ms, worst_ms, mean_cpu_ms, worst_cpu_ms = sums.times.in_ms
        players.append(
            {
                "name": player.name,
                "spec": player.spec,
                "retired": index in settings.retired,
                "games": sum(sums.games),
                "wins": sum(sums.wins),
                "draws": sum(sums.draws),
                "points": sums.points,
                "games_by_seat": sums.games,
                "wins_by_seat": sums.wins,
                "pairs": counts.total,
                "score": counts.score,
                "interval": list(score_interval(counts)),
                "elo": _elo_json(tally, index, ratings),
                "mean_turn_ms": mean_ms,
                "worst_turn_ms": worst_ms,
                "mean_turn_cpu_ms": mean_cpu_ms,
                "worst_turn_cpu_ms": worst_cpu_ms,
                "late_turns": sums.late,
                "illegal": dict(sums.illegal),
                "faults": dict(sums.faults),
            }
        )
    names = [player.name for player in settings.players]
    result: dict[str, Any] = {
        "settings": settings.to_json(),
        "games": tally.games,
        "goal": settings.count,
        "mean_turns": tally.turns / tally.games if tally.games else None,
        "players": players,
        "pairings": [
            {
                "players": [names[a], names[b]],
                **asdict(counts),
                "score": counts.score,
                "interval": list(score_interval(counts)),
            }
            for (a, b), counts in tally.pairs.items()
        ],
    }
    if tally.sprt is not None and tally.sprt_state is not None:
        result["sprt"] = {
            **asdict(tally.sprt),
            **asdict(tally.sprt_state),
            "of": names[tally.sprt.player],
            "verdict": _verdict(tally),
        }
    return result


def _elo_json(tally: Tally, index: int, ratings: Ratings | None) -> dict[str, Any] | None:
    if _faulty(tally, index):
        return None
    if ratings is not None:
        elo, error = float(ratings.elo[index]), float(ratings.error[index])
        return {"value": elo, "interval": [elo - error, elo + error]}
    if len(tally.settings.players) > 2:
        return None
    counts = tally.player_pairs(index)
    value, low, high = (
        elo if math.isfinite(elo) else None
        for elo in map(elo_of, (counts.score, *score_interval(counts)))
    )
    return {"value": value, "interval": [low, high]}
