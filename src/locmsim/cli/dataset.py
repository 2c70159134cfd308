"""``locmsim dataset``: write training examples."""

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from locmsim.cli._common import (
    NOTHING,
    Failure,
    Parser,
    WrongUsage,
    check_target,
    ended_by_signals,
    start_logging,
)
from locmsim.cli._players import game_of
from locmsim.cli._shared import add_shared, default_jobs
from locmsim.options.commands import add_option
from locmsim.options.declarations import declaration
from locmsim.support.database import is_database
from locmsim.support.files import counted
from locmsim.support.lazy import named_extra

if TYPE_CHECKING:
    from locmsim.tuning.dataset import Examples

#: Endings of names for what is not written.
_OTHERS = (".csv", ".json", ".jsonl", ".npy", ".parquet", ".tsv", ".txt")


def add_options(parser: Parser) -> None:
    """Declare the options."""
    from locmsim.game.layouts import LayoutName

    parser.description = (
        "Write training examples: the player's observation (in a layout), the mask of legal"
        " actions, the action played and the winner of the game. They come from the games of an"
        " arena's results (DB), or from new games of an agent against itself."
    )
    add = parser.add_argument
    add("source", metavar="DB|AGENT", help='results of an arena, or an agent such as "greedy"')
    add_shared(parser, "--output", required=True, help="the .npz file to write")
    add_shared(
        parser,
        "--games",
        default=1000,
        help="games to play, or at most to take from DB (default: %(default)s)",
    )
    add_shared(parser, "--rules", help="rule set (default: 1.5)")
    add_shared(
        parser, "--game", help='an agent\'s game, such as "locm:cards=FILE" or "locm:weights=FILE"'
    )
    add_option(parser, declaration("layout", LayoutName, "entities"))
    add(
        "--decks",
        default="random",
        metavar="NAME",
        help="how decks are chosen in an agent's games: random, a deck builder (1.5) or a draft"
        " picker (1.x) (default: %(default)s)",
    )
    add_shared(parser, "--player", help="with DB: whose actions to write (default: both players')")
    where = parser.add_mutually_exclusive_group()
    add_shared(where, "--jobs", help="processes that play an agent's games (default: one per core)")
    add_shared(where, "--dask", help="play them on the cluster of this Dask scheduler")
    add_shared(parser, "--force", help="overwrite a file")
    add_shared(
        parser,
        "--seed",
        default=0,
        help="seed from which those of an agent's games are derived (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> None:
    """Collect the examples and write them to the file."""
    from tqdm import tqdm

    from locmsim.processes.workers import WorkersError

    start_logging(0)
    if os.path.splitext(options.output)[1] in _OTHERS:
        raise WrongUsage(f"--output: {options.output}: the file is of NumPy; name it .npz")
    # Games that took hours are not replaced in passing.
    check_target(options.output, NOTHING, options.force)
    games = options.games
    examples: Examples | None = None
    with ended_by_signals():
        try:
            with contextlib.redirect_stdout(sys.stderr):  # output of agents
                database = is_database(options.source)
                _check_source(options, database)
                found = _of_database(options) if database else _of_agent(options)
                for examples in tqdm(found, total=games, unit="game", disable=None):
                    if examples.games >= games:
                        break
            if examples is None or not len(examples):
                of_rules = f" of rules {options.rules}" if options.rules else ""
                raise Failure(f"{options.source}: no examples{of_rules}")
            names = ("player",) if database else ("decks", "seed", "game")
            made = {name: getattr(options, name) for name in ("games", *names)}
            examples.save(options.output, options.source, made)
        except ImportError as error:
            raise Failure(named_extra(error)) from None
        except (ValueError, WorkersError) as error:
            raise Failure(error) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{place}{error.strerror or error}") from None
    print(f"{len(examples):,} examples of {counted(examples.games, 'game')}: {options.output}")


def _check_source(options: argparse.Namespace, database: bool) -> None:
    """Fail for options that do not apply to results, or to an agent."""
    what, *names = "an agent", "--player"
    if database:
        what, *names = "results of an arena", "--decks", "--jobs", "--dask", "--seed", "--game"
    options.parser.refuse(f"does not apply to {what}, as {options.source} is", *names)


def _of_agent(options: argparse.Namespace) -> "Iterator[Examples]":
    from locmsim.arena.locm import LocmGame
    from locmsim.tuning.dataset import examples_of_agent

    game = game_of(options)
    if not isinstance(game, LocmGame):
        raise WrongUsage(f"--game: {game.title}: there are examples of the game locm only")
    return examples_of_agent(
        options.source,
        options.games,
        rules=game.rules,
        game=game if options.game else None,
        layout=options.layout,
        decks=options.decks,
        seed=options.seed,
        jobs=default_jobs(options) or 1,
        dask=options.dask,
    )


def _of_database(options: argparse.Namespace) -> "Iterator[Examples]":
    from locmsim.arena import Arena, StoreError
    from locmsim.contract import Part, require
    from locmsim.tuning.dataset import Examples, add_log

    try:
        with Arena.load(options.source) as arena:
            game: Any = arena.settings.game
            require(game, Part.ANALYSIS)
            total = Examples(options.rules or game.rules, options.layout)
            names = [player.name for player in arena.settings.players]
            if options.player is not None and options.player not in names:
                raise ValueError(f"--player: expected one of {', '.join(names)}")
            for outcome in sorted(arena.games(), key=lambda outcome: outcome.number):
                seats = tuple(
                    seat
                    for seat, player in enumerate(outcome.players)
                    if options.player in (None, names[player])
                )
                if seats and add_log(total, arena.replay(outcome.number).match.log, seats):
                    yield total
    except StoreError as error:
        raise Failure(f"{options.source}: {error}") from None
