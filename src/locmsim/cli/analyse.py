"""``locmsim analyse``: find the best lines of a position, or where a game was lost."""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from locmsim.cli._common import Failure, Parser, WrongUsage, interruptible, value_errors, width
from locmsim.cli._player_reports import report_on_players
from locmsim.cli._positions import POSITION_HELP, read_position
from locmsim.cli._puzzles import BUILT_IN, score_agents
from locmsim.cli._shared import add_shared
from locmsim.options.commands import add_option
from locmsim.options.declarations import Declared, Option
from locmsim.support.database import is_database

if TYPE_CHECKING:
    from locmsim._core import State
    from locmsim.decks.report import DeckReport
    from locmsim.game.match import Match
    from locmsim.game.observation import Observation
    from locmsim.referee.process_match import Result
    from locmsim.referee.turn_report import GameReport, TurnReport
    from locmsim.rules.cards import Card
    from locmsim.search.analysis import Analysis
    from locmsim.search.belief import Belief
    from locmsim.search.variations import Tree, Turn

#: Number of cards listed for the opponent's hand.
_CARDS = 12
#: Default number of positions searched in each turn of a whole match, or of a tree of variations.
_REPORT_NODES = 5000
#: The instance ids of all that is printed, whichever the match had.
_IDS = "new"


def add_options(parser: Parser) -> None:
    """Declare the options."""
    parser.description = (
        "Search a position several times, by beam search and by MCTS, and print the best lines"
        " for this turn and the cards that the opponent probably holds. The position is a turn of"
        " an earlier match (a log FILE or DB:NUMBER, with --turn), the text of a position"
        " (State.to_text), or a bot's input (--file). With --report, the decks of a match are"
        " judged, and every turn is compared with the best one found; with results (DB), the same"
        " is summed up over a player's games. With --puzzles, agents are asked for the one winning"
        " turn of each of many positions."
    )
    add = parser.add_argument
    add(
        "source",
        nargs="*",
        metavar="GAME",
        help="a position, as for --file; with --turn or --report, a log (FILE) or a game of results"
        " (DB:NUMBER); with --report, also DB; with --puzzles, agents",
    )
    add(
        "--report",
        action="store_true",
        help="report on the whole match: what the decks were worth, the picks that cost most, the"
        " loss of each turn, and the worst turns; on many games of DB: what a player's turns and"
        " decks gave away",
    )
    add_shared(
        parser,
        "--player",
        action="append",
        help="with --report DB: whose games (default: the first player's); given twice, two players"
        " side by side, on the same seeds",
    )
    add_shared(parser, "--lost", help="with --report DB: only games that the (first) player lost")
    add_shared(parser, "--games", help="with --report DB: look at most at so many games")
    add_shared(
        parser,
        "--jobs",
        help="with --report DB and --puzzles: number of processes (default: all cores)",
    )
    add(
        "--puzzles",
        metavar="FILE",
        help=f"count how many puzzles of a file agents solve; {BUILT_IN}: those of the package",
    )
    add_shared(parser, "--turn")
    add("--file", metavar="FILE", help=POSITION_HELP)
    add_shared(
        parser,
        "--rules",
        help="rule set (default: that of the text or log); with --puzzles: only those of it",
    )
    add_shared(
        parser,
        "--ids",
        help="instance ids of a log or an input (default: detected); answers have the new ones",
    )
    add_shared(
        parser, "--seconds", default=2.0, help="time for the analysis (default: %(default)g)"
    )
    add_shared(
        parser,
        "--nodes",
        help=f"positions per search, instead of a time (with --report and --tree: {_REPORT_NODES})",
    )
    add_shared(
        parser,
        "--done",
        default="",
        help="actions already played in the turn: find the rest of it",
    )
    add(
        "--tree",
        action="store_true",
        help="continue beyond the turn: the opponent's best replies and the next turn, in sampled"
        " worlds, each named by its seed",
    )
    add_option(parser, Declared("worlds", int, 3, Option("number of worlds for --tree", 1, 4096)))
    add(
        "--hand",
        default="",
        metavar="CARD,CARD",
        help="for --tree: cards that the opponent holds in all worlds, by base id or name",
    )
    add_shared(
        parser, "--seed", default=0, help="seed of searches and agents (default: %(default)s)"
    )
    add_shared(parser, "--json")
    parser.rules_out("--file", "GAME", "--turn", "--report")
    parser.rules_out(
        *("--puzzles", "--file", "--report", "--turn", "--ids", "--seconds", "--nodes", "--done"),
        *("--tree", "--worlds", "--hand"),
    )
    parser.needs("--report", "--player", "--lost", "--games")
    parser.needs("--report or --puzzles", "--jobs")
    parser.rules_out("--report", "--turn", "--done", "--tree", "--worlds", "--hand", "--seconds")
    parser.rules_out("--nodes", "--seconds")
    parser.rules_out("--tree", "--seconds")
    parser.needs("--tree", "--worlds", "--hand")


class _Words:
    """Names of the cards in a position, and answer lines in words."""

    def __init__(
        self, start: "State", cards: "Sequence[Card]" = (), names: Sequence[str] = ()
    ) -> None:
        from locmsim.art import card_titles
        from locmsim.game.action_text import cards_of

        self._start = start
        self._names = names
        #: The titles of the match's cards, or of those of the position.
        self.titles: Mapping[Card, str] = card_titles(cards or cards_of(start))

    def title(self, card: "Card") -> str:
        from locmsim.art import card_title

        return self.titles.get(card) or card_title(card)

    def line(self, line: str | None, start: "State | None" = None) -> str:
        """Return an answer line in words; a line that ended the match is returned unchanged."""
        from locmsim.game.action_text import answer_actions, line_words
        from locmsim.referee.locm_text import sentences

        state = self._start if start is None else start
        actions = answer_actions(state, line)
        if not actions and line not in (None, "", "PASS"):
            return str(line)
        return sentences(line_words(state, actions, self._names, self.titles))

    def cards_in(self, lines: Iterable[str]) -> "list[Card]":
        """Return the cards that the lines use, in order of first use."""
        from locmsim.game.action_text import answer_actions

        cards: dict[Card, None] = {}
        for line in lines:
            state = self._start.clone()
            for text in answer_actions(state, line):
                number = state.string_to_action(text)
                if (card := state.action(number).card) is not None:
                    cards[card] = None
                state.apply_action(number)
        return [*cards]

    def base_ids(self, hand: str, possible: "Mapping[int, Card]") -> list[int]:
        """Return the cards named in a comma-separated text, by base id or name."""
        found = []
        ids = {self.title(card).lower(): base_id for base_id, card in possible.items()}
        for word in filter(None, map(str.strip, hand.split(","))):
            number = int(word) if word.isdecimal() else ids.get(word.lower())
            if number is None:
                raise WrongUsage(f"--hand: no card {word!r} can occur in this game")
            found.append(number)
        return found


class _Asked(NamedTuple):
    """What is analysed."""

    position: "Observation | State"
    #: What its player knows; None for a position whose history is unknown.
    belief: "Belief | None"
    #: The answer that was given in an earlier match.
    played: str | None = None
    #: Cards and names of players of that match.
    cards: "Sequence[Card]" = ()
    names: Sequence[str] = ()


def run(options: argparse.Namespace) -> None:
    """Analyse the position and print the result."""
    if options.puzzles is not None:
        score_agents(options)
        return
    if len(options.source) > 1:
        raise WrongUsage(f"expected one GAME, got {len(options.source)}")
    (options.source,) = options.source or [None]
    if (options.source is None) == (options.file is None):
        raise WrongUsage("expected one of GAME and --file")
    if options.nodes is None and (options.report or options.tree):
        options.nodes = _REPORT_NODES
    if options.report:
        if is_database(options.source):
            report_on_players(options)
        else:
            _report(options)
        return
    asked = _asked(options)
    with value_errors(kind=Failure):
        start, root, belief = _roots(asked.position, asked.belief, options)
    words = _Words(root, asked.cards, asked.names)
    if options.tree:
        _grow(options, asked.position, asked.belief, belief, words)
        return
    with value_errors(kind=Failure):
        analysis, values = interruptible(lambda: _analysed(options, asked))
    if options.json:
        print(json.dumps(_as_json(analysis, asked.played, values), indent=1))
        return
    before = _Words(start, asked.cards, asked.names)
    _print(analysis, words, before.line(asked.played) if asked.played else "", values)


def _asked(options: argparse.Namespace) -> _Asked:
    """Read the position or the turn of a match; `Failure` if nothing can be played there."""
    from locmsim._core import State

    if options.file is not None:
        asked = _Asked(_read(options, options.file, "--file"), None)
    elif options.turn is None:
        asked = _Asked(_read(options, options.source, "GAME"), None)
    else:
        asked = _Asked(*_from_game(options))
    if isinstance(asked.position, State) and asked.position.is_terminal():
        raise Failure("the game is over")
    return asked


def _analysed(
    options: argparse.Namespace, asked: _Asked
) -> "tuple[Analysis, tuple[float, float] | None]":
    """Return the analysis, with the values of the answer then and of the best line."""
    from locmsim.referee.turn_report import WORLDS
    from locmsim.search.analysis import analyse, line_value

    known, played = asked.belief, asked.played
    analysis = analyse(
        asked.position,
        time_ms=None if options.nodes is not None else 1000 * options.seconds,
        nodes=options.nodes,
        seed=options.seed,
        belief=known,
        done=options.done,
    )
    if known is None or played is None or options.done or not analysis.lines:
        return analysis, None
    try:
        then, best = (
            line_value(known, line, worlds=WORLDS, seed=options.seed)
            for line in (played, analysis.lines[0].line)
        )
    except ValueError:  # the answer was malformed
        return analysis, None
    return analysis, (then, best)


def _read(options: argparse.Namespace, name: str, option: str) -> "State | Observation":
    return read_position(name, option, options.rules, options.ids)


def _roots(
    position: "Observation | State", belief: "Belief | None", options: argparse.Namespace
) -> "tuple[State, State, Belief]":
    """Return the position at the start of the turn, the one after `done`, and the belief."""
    from locmsim.game.observation import Observation
    from locmsim.search.turn_search import determinizer_at

    if isinstance(position, Observation) and position.phase != "battle":
        raise ValueError(
            "an analysis needs a battle turn, but this is an observation of the choice phase"
        )
    _, start, known = determinizer_at(position, belief, "", options.seed)
    try:
        _, root, _ = determinizer_at(position, belief, options.done, options.seed)
    except ValueError as error:  # it is about `done`
        raise Failure(f"--{error}") from None
    return start, root, known


def _grow(
    options: argparse.Namespace,
    position: "Observation | State",
    belief: "Belief | None",
    known: "Belief",
    words: _Words,
) -> None:
    """Print the tree of variations."""
    from locmsim.search.variations import variations

    nodes, hand = options.nodes, words.base_ids(options.hand, known.possible_cards())

    def work() -> "Tree":
        return variations(
            position,
            belief=belief,
            done=options.done,
            worlds=options.worlds,
            hand=hand,
            nodes=nodes,
            seed=options.seed,
        )

    with value_errors(kind=Failure):
        tree = interruptible(work)
    if options.json:
        print(json.dumps({"ids": _IDS, "nodes": nodes, **tree.to_json()}, indent=1))
        return

    def tell(turn: "Turn", indent: int) -> None:
        space = " " * indent
        shown = words.line(turn.line, turn.start)
        _wrapped(f"{space}{turn.value:+.2f} {turn.visits:6}  ", shown)

    for branch in tree.branches:
        tell(branch.turn, 0)
        for world in branch.worlds:
            held = ", ".join(map(words.title, world.hand)) or "nothing"
            _wrapped(f"    world {world.seed}: they hold ", held)
            for reply in world.replies:
                tell(reply, 4)
                if reply.next is not None:
                    tell(reply.next, 8)
    print(
        f"\nbeam search of at most {nodes:,} positions for each turn; value: the expected result of"
        " the player to move, from -1 to 1, and the sampled results that it comes from"
    )


def _wrapped(start: str, text: str) -> None:
    """Print a text after a prefix, wrapped into lines below each other."""
    import textwrap

    space = " " * len(start)
    print(textwrap.fill(text, width(), initial_indent=start, subsequent_indent=space))


def _load(options: argparse.Namespace) -> "tuple[Result[Match], tuple[str, str]]":
    """Return the match and its players' names; say so if its bots know other instance ids."""
    from locmsim.cli._matches import load_result
    from locmsim.referee.locm_text import IDS_NOTE

    result, names = load_result(options.source, "GAME", options.rules, options.ids)
    if result.match.ids == "old" and not options.json:
        print(f"{IDS_NOTE}\n")
    return result, names


def _report(options: argparse.Namespace) -> None:
    """Print the report on a whole match."""
    from locmsim.referee.turn_report import report_game

    why = "does not apply to one game; name the results only"
    options.parser.refuse(why, "--player", "--lost", "--games", "--jobs")
    result, names = _load(options)
    with value_errors(kind=Failure):
        report = interruptible(lambda: report_game(result, nodes=options.nodes, seed=options.seed))
    if options.json:
        shown = [name or f"Player {player}" for player, name in enumerate(names)]
        content = {"ids": _IDS, "names": shown, "winner": result.winner, **report.to_json()}
        print(json.dumps(content, indent=1))
    else:
        _print_report(report, names, result.match)


def _print_report(report: "GameReport", names: tuple[str, str], match: "Match") -> None:
    columns, cards = width(), match.cards
    shown = [name or f"player {player}" for player, name in enumerate(names)]

    def words(turn: "TurnReport", line: str | None) -> str:
        return "no answer" if line is None else _Words(turn.start, cards, shown).line(line)

    if report.decks is not None:
        _print_decks(report.decks, names, cards, match.rules)
    print("turn player  before  after   loss  played")
    for turn in report.turns:
        print(
            f"{turn.turn:4} {turn.player:6} {100 * turn.before:5.0f} % {100 * turn.after:4.0f} %"
            f" {100 * turn.loss:4.0f} %  {words(turn, turn.played)}"[:columns]
        )
    for player, name in enumerate(names):
        print(f"\nthe worst turns of player {player}{f', {name}' if name else ''}:")
        for turn in (worst := report.worst(player)):
            print(f"  turn {turn.turn}: {100 * turn.loss:.0f} % given away")
            _wrapped(f"    played {turn.value_played:+.2f}  ", words(turn, turn.played))
            _wrapped(f"    better {turn.value_best:+.2f}  ", words(turn, turn.best))
        if not worst:
            print("  none gave anything away")
    print(f"\n{report.budget}")
    print(
        "before, after: player 0's chance of winning with the best turn and with the one played;"
        " loss: the difference, of the player's own chance; played, better: the expected result,"
        " from -1 to 1"
    )


def _print_decks(
    decks: "Sequence[DeckReport]", names: tuple[str, str], cards: "Sequence[Card]", rules: str
) -> None:
    """Print what both decks were worth, and the choices that cost most."""
    from locmsim.art import card_titles
    from locmsim.decks.report import decks_note
    from locmsim.referee.locm_text import card_text

    titles = card_titles(cards)

    def text(card: "Card", copies: int) -> str:
        return f"{'2 x ' if copies > 1 else ''}{card_text(card, titles.get(card, ''))}"

    for deck, name in zip(decks, names, strict=True):
        print(f"the deck of player {deck.player}{f', {name}' if name else ''}:")
        wins, package = 100 * deck.probability, 100 * deck.with_package
        print(f"  wins {wins:.0f} %; with the package's own deck {package:.0f} %")
        for one in deck.worst:
            when = "" if one.turn is None else f"turn {one.turn}: "
            print(f"  {when}{100 * one.loss:.1f} % given away")
            _wrapped("    chosen ", text(one.picked, one.copies))
            _wrapped("    better ", text(one.better, one.copies))
        print()
    _wrapped("wins: ", decks_note(rules))
    print()


def _from_game(
    options: argparse.Namespace,
) -> "tuple[Observation, Belief, str | None, Sequence[Card], Sequence[str]]":
    """Return a turn: observation, belief, answer, and the match's cards and players."""
    from locmsim.referee.knowledge import knowledge_at, replayed

    result, names = _load(options)
    with value_errors("--turn"):
        observation, belief = knowledge_at(result, options.turn)
    played = next(call.answer for call, _ in replayed(result) if call.turn == options.turn)
    shown = [name or f"player {player}" for player, name in enumerate(names)]
    return observation, belief, played, result.match.cards, shown


def _as_json(
    analysis: "Analysis", played: str | None, values: tuple[float, float] | None
) -> dict[str, Any]:
    then, best = (None, None) if values is None else values
    return {
        "ids": _IDS,
        "played": played,
        "played_value": then,
        "best_value": best,
        **analysis.to_json(),
    }


def _print(
    analysis: "Analysis",
    words: _Words,
    played: str,
    values: tuple[float, float] | None,
) -> None:
    from locmsim.referee.locm_text import card_text

    names = {"beam": "beam search", "mcts": "MCTS"}
    print("".join(f"{name:^21}" for name in names.values()).rstrip())
    print(f"{'value':>6} {'visits':>7} {'found':>5} " * len(names) + " line")
    for line in analysis.lines:
        start = ""
        for name in names:
            if entry := line.by.get(name):
                start += f"{entry.value:+6.2f} {entry.visits:7} {entry.searches:5} "
            else:
                start += f"{'-':>6} {'-':>7} {'-':>5} "
        _wrapped(f"{start} ", words.line(line.line))
    if analysis.lines:
        print(f"\nthe first one as an answer: {analysis.lines[0].line}")
    if played:
        print()
        _wrapped("played then: ", played)
        if values is not None:
            then, best = values
            print(f"played on in worlds it is worth {then:+.2f}, the first line {best:+.2f}")
    if named := words.cards_in(line.line for line in analysis.lines):
        print("\ncards in these lines:")
        for card in named:
            print(f"  {card_text(card, words.title(card))}"[: width()])
    print(
        f"\n{analysis.searches} searches, {analysis.nodes} positions in {analysis.elapsed:.1f} s;"
        " value: the expected result, from -1 to 1"
    )
    if analysis.opponent_hand:
        print("\nthe opponent may hold:")
        columns = width()
        for held in analysis.opponent_hand[:_CARDS]:
            text = card_text(held.card, words.title(held.card))
            print(f"  {100 * held.chance:3.0f} %  {text}"[:columns])
