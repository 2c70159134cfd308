"""What searches tell: a report on a whole match, and the tree of variations of a position."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from locmsim._core import State
from locmsim.decks.report import DeckReport, decks_note, report_decks
from locmsim.options.common import SearchedNodes, Seed
from locmsim.options.declarations import Declared, Option, declaration
from locmsim.referee.turn_report import (
    LEAST_LOSS,
    GameReport,
    TurnReport,
    report_budget,
    report_turns,
)
from locmsim.search.analysis import held_cards
from locmsim.search.belief import Belief
from locmsim.search.turn_search import determinizer_at
from locmsim.search.variations import Tree, Turn, World, check_hand, variations
from locmsim.web.endpoints import Refusal, post, text_of, texts_of
from locmsim.web.engine_panel import CHANCES
from locmsim.web.forms import up_to, values_of
from locmsim.web.jobs import Job
from locmsim.web.machine import Machine, Place
from locmsim.web.match_data import Cards, action_steps, turn_step
from locmsim.web.site import Page, Site

#: The most positions of a search that can be asked for.
_MOST_NODES = 1_000_000
#: The options of a report.
_REPORT = (
    up_to(declaration("nodes", SearchedNodes, 5000), _MOST_NODES),
    declaration("seed", Seed, 0),
)
#: The positions of the searches of a tree's first round; it ends with the option `nodes`.
_FIRST = 2000
#: The options of a tree.
_TREE = (
    Declared("lines", int, 3, Option("number of lines", 1, 8)),
    Declared("worlds", int, 3, Option("number of sampled worlds of each line", 1, 8)),
    Declared("replies", int, 2, Option("number of replies in each world", 1, 4)),
    declaration("seed", Seed, 0),
    up_to(declaration("nodes", SearchedNodes, 128_000), _MOST_NODES),
)
#: The number of samples of what the opponent holds.
_SAMPLES = 200
#: The note on hidden cards of reports and trees.
_NOTE = (
    "The search knows what the player had been shown in the match so far, and draws the rest:"
    " it does not look at hidden cards."
)


def page(site: Site) -> Page:  # noqa: C901 (endpoints with what they share)
    """Return the endpoints: reports, trees, and what an opponent may hold."""

    def report(data: dict[str, Any]) -> object:
        key = text_of(data, "match")
        nodes, seed = values_of(data, _REPORT).values()
        result, _ = site.library.load(key)
        of = sum(call.turn is not None for call in result.calls)
        if not of:
            raise Refusal("the match ended before the battle")
        note = decks_note(result.match.rules)
        fixed = {"note": _NOTE, "decks_note": note, "least_loss": LEAST_LOSS}

        def work(job: Job) -> None:
            turns: list[TurnReport] = []
            decks = report_decks(result.match) if result.match.decks[0] else None
            cards = Cards(result.match.cards)
            keyed = decks and [_deck_keys(deck, cards) for deck in decks]

            def shown_so_far() -> dict[str, Any]:
                found = GameReport(turns, report_budget(nodes), decks).to_json()
                return {**fixed, **found, "decks": keyed}

            job.update(0, of, shown_so_far())
            for turn in report_turns(result, nodes=nodes, seed=seed, check=job.check):
                turns.append(turn)
                job.update(len(turns), of, shown_so_far())

        return site.jobs.start(("report", site.identity(key), nodes, seed), work)

    def tree(data: dict[str, Any]) -> object:
        machine, place = _place(site, data)
        seen, belief, done = place.seen, place.belief, ";".join(place.done)
        asked: dict[str, Any] = {**values_of(data, _TREE), "hand": _hand(data)}
        last = asked.pop("nodes")
        # Errors are raised now, not in the job's thread.
        _, root, known = determinizer_at(seen, belief, done, asked["seed"])
        check_hand(known, root, asked["hand"])

        @cache
        def chance(*actions: str) -> float:
            """Return the chance of winning with a turn, as the panel Engine tells it."""
            return machine.chance_at(place, actions)

        def work(job: Job) -> None:
            nodes = min(_FIRST, last)
            shown: dict[str, Any] | None = None
            while True:
                first = shown is None

                def tell(tree: Tree, first: bool = first, nodes: int = nodes) -> None:
                    nonlocal shown
                    if first or tree.done == tree.of:
                        shown = _tree(tree, nodes, machine, chance)
                    job.update(tree.done, tree.of, shown)

                variations(
                    seen,
                    belief=belief,
                    done=done,
                    nodes=nodes,
                    on_search=tell,
                    check=job.check,
                    **asked,
                )
                if nodes >= last:
                    return
                nodes = min(4 * nodes, last)

        same = ("tree", site.identity(text_of(data, "match")), repr(sorted(data.items())))
        return site.jobs.start(same, work)

    def holdable(data: dict[str, Any]) -> object:
        machine, place = _place(site, data)
        done, cards = ";".join(place.done), machine.cards
        _, root, known = determinizer_at(place.seen, place.belief, done, 0)
        chances = {held.card.base_id: held for held in held_cards(known, _SAMPLES, 0)}
        possible: list[dict[str, Any]] = []
        for base_id, card in known.possible_cards().items():
            if _can_hold(known, root, [base_id]):
                chance = chances[base_id].chance if base_id in chances else 0.0
                possible.append({"key": cards.key(card), "base_id": base_id, "chance": chance})
        possible.sort(key=lambda row: (-row["chance"], row["base_id"]))
        size = root.players[1 - root.current_player()].hand_size
        return {"size": size, "possible": possible, **cards.to_json()}

    return Page(
        "searches",
        "",
        [
            post("/api/report/start", report),
            post("/api/tree/start", tree),
            post("/api/tree/holdable", holdable),
        ],
    )


def _hand(data: dict[str, Any]) -> list[int]:
    hand = data.get("hand") or []
    if not isinstance(hand, list) or not all(type(card) is int for card in hand):
        raise Refusal("hand: expected a list of base ids")
    return hand


def _can_hold(known: Belief, root: State, hand: list[int]) -> bool:
    try:
        check_hand(known, root, hand)
    except ValueError:
        return False
    return True


def _deck_keys(deck: DeckReport, cards: Cards) -> dict[str, Any]:
    """Return the report on a deck, with the keys by which the page knows the cards."""
    worst = [
        {**one.to_json(), "picked_key": cards.key(one.picked), "better_key": cards.key(one.better)}
        for one in deck.worst
    ]
    return {**deck.to_json(), "worst": worst}


def _place(site: Site, data: dict[str, Any]) -> tuple[Machine, Place]:
    """Return the machine of a request, and the place that it is about."""
    machine = site.machine(text_of(data, "match"))
    return machine, machine.at([*texts_of(data, "path"), *texts_of(data, "done")])


def _tree(tree: Tree, nodes: int, machine: Machine, chance: Callable[..., float]) -> dict[str, Any]:
    """Return the tree as a page draws it; all values are those of the player at the root."""
    cards, names, player = machine.cards, machine.names, tree.player

    def turn(shown: Turn, hidden: int | None) -> dict[str, Any]:
        return {
            "value": shown.value,
            "steps": [
                turn_step(shown.start, cards, hidden),
                *action_steps(shown.start.clone(), shown.actions, cards, names, hidden),
            ],
        }

    def world(shown: World) -> dict[str, Any]:
        return {
            "name": f"world {shown.seed}",
            "seed": shown.seed,
            "hand": [cards.key(card) for card in shown.hand],
            "value": shown.replies[0].value if shown.replies else None,
            "replies": [
                {**turn(reply, None), "next": turn(reply.next, None) if reply.next else None}
                for reply in shown.replies
            ],
        }

    lines: Sequence[dict[str, Any]] = [
        {
            **turn(branch.turn, 1 - player),
            "chance": chance(*branch.turn.actions),
            "worlds": [world(shown) for shown in branch.worlds],
        }
        for branch in tree.branches
    ]
    return {
        "budget": f"beam search of at most {nodes:,} positions for each turn",
        "note": f"Percentages: {CHANCES} With a sign: search value, -1 to 1. {_NOTE}",
        "lines": lines,
        **cards.to_json(),
    }
