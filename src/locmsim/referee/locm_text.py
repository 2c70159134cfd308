"""Played matches as text for people."""

from collections.abc import Iterator, Mapping, Sequence

from locmsim._core import Creature, State
from locmsim.art import card_title, card_titles
from locmsim.contract import turn_words
from locmsim.errors import InvalidActionError
from locmsim.game.action_text import line_words
from locmsim.game.boards import effects
from locmsim.game.match import Match
from locmsim.referee.any_game import NAMELESS, called, heading, last_words, written_lines
from locmsim.referee.process_match import Call, Result
from locmsim.rules.cards import NO_ABILITIES, Card, CardType

_SIDES = ("left", "right")
#: SGR codes of terminals.
_BOLD, _RED, _DIM = "1", "31", "2"
_PLAYERS = ("36", "35")


#: What is said of a match whose bots know other ids than people are shown.
IDS_NOTE = "instance ids are today's; the bots were sent, and answered with, those of 2022"


class _Style:
    """Colours, if any, and names of cards."""

    def __init__(
        self, color: bool, titles: Mapping[Card, str], names: Sequence[str] = NAMELESS
    ) -> None:
        self.color = color
        self.titles = titles
        self.names = names

    def __call__(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.color else text

    def player(self, player: int) -> str:
        return self(_PLAYERS[player], called(player, self.names))

    def name(self, card: Card) -> str:
        return self.titles.get(card) or card_title(card)

    def card(self, card: Card) -> str:
        return card_text(card, self.name(card))

    def creature(self, creature: Creature) -> str:
        letters = _abilities(creature.abilities)
        stats = f"{creature.attack}/{creature.defense}{' ' if letters else ''}{letters}"
        return f"{self.name(creature.card)} #{creature.id} {stats}"


def match_text(
    result: Result[Match], *, color: bool = False, names: Sequence[str] = NAMELESS
) -> str:
    """Return the match turn by turn as text.

    Parameters
    ----------
    result : Result
        A match of the referee, or one that was replayed.
    color : bool
        Mark players and deaths with the codes of terminals.
    names : sequence of str
        The names of the players, empty where they are not known.

    Returns
    -------
    str
        The decks; for each turn the cards drawn, the actions with their effects, the boards after
        each action, illegal actions and the leader; and how the match ended.
    """
    style = _Style(color, card_titles(result.match.cards), names)
    lines = [IDS_NOTE] if result.match.ids == "old" else []
    if result.decks:
        lines.append(f"cards of both players chosen by {result.decks}")
    lines += [line for player in (0, 1) for line in _deck_lines(result.match, player, style)]
    lines += _turns(result, style)
    if result.fault:
        fault = result.fault
        at, who = turn_words(result.calls[-1].turn), called(fault.player, names)
        lines.append(style(_RED, f"in {at} {who} failed: {fault.message}"))
        lines += last_words(result, fault.player, names)
    if result.winner is not None:
        lines.append(style(_BOLD, f"{called(result.winner, names)} wins"))
    return "\n".join(lines) + "\n"


def sentences(words: Sequence[str]) -> str:
    """Return a turn's actions in words, or "The turn ends" if there were none."""
    return "; ".join(words) or "The turn ends"


def answer_words(
    result: Result[Match], turn: int, answers: Sequence[str | None], names: Sequence[str] = ()
) -> list[list[str]]:
    """Return several answers to a turn of a match in words.

    Parameters
    ----------
    result : Result
        The match.
    turn : int
        The turn, counted over both players from 0; ``ValueError`` if there is no such turn.
    answers : sequence of str or None
        Answer lines, with today's instance ids.
    names : sequence of str
        Names of players 0 and 1.

    Returns
    -------
    list of list of str
        For each answer, a sentence for each action that it executes.
    """
    match = result.match.root()
    titles = card_titles(result.match.cards)
    for call in result.calls:
        if call.turn == turn and (state := match.state) is not None:
            found = [_applied(state, answer) for answer in answers]
            return [line_words(state, actions, names, titles) for actions in found]
        match.submit(call.player, call.answer)
    raise ValueError(f"turn: the match has no turn {turn}")


# ------------------------------------------------------------------------------------- cards


def card_text(card: Card, title: str = "") -> str:
    """Return name, cost and effects of a card, such as ``Ant (1: 2/1, C)``.

    Parameters
    ----------
    card : Card
        The card.
    title : str
        Name of the card; by default from `locmsim.art.card_title`.

    Returns
    -------
    str
        One line.
    """
    if card.type == CardType.CREATURE:
        stats = f"{card.attack}/{card.defense}"
    else:
        stats = f"{card.attack:+d}/{card.defense:+d}"
    parts = [stats, *([_abilities(card.abilities)] if card.abilities != NO_ABILITIES else [])]
    parts += effects(card)
    return f"{title or card_title(card)} ({card.cost}: {', '.join(parts)})"


def _abilities(text: str) -> str:
    return text.replace("-", "")


def _deck_lines(match: Match, player: int, style: _Style) -> list[str]:
    chosen = match.chosen[player]
    cards = {card.base_id: card for card in match.cards}
    lines = [f"{style.player(player)} chose {len(chosen)} cards:"]
    lines += [
        f"    {chosen.count(base_id)} x {style.card(cards[base_id])}"
        for base_id in sorted(set(chosen), key=lambda base_id: (cards[base_id].cost, base_id))
    ]
    return lines


# ------------------------------------------------------------------------------------- turns


def _turns(result: Result[Match], style: _Style) -> Iterator[str]:
    """Yield lines for each turn, replaying the match."""
    match = result.match.root()
    before: State | None = None
    for call in result.calls:
        state = match.state
        if call.turn is None or state is None:
            match.submit(call.player, call.answer)
            if call.stderr:
                yield heading(call, style.player(call.player))
                yield from written_lines(call)
            continue
        yield ""
        yield _turn_line(call, state, style)
        yield from _drawn(before, state, call.player, style)
        before = state.clone()
        applied = _applied(state, None if call.answer is None else match.decode(call.answer))
        illegal = match.illegal_actions(call.answer or "")
        match.submit(call.player, call.answer)
        yield from _actions(before, applied, style)
        yield from (f"    not legal: {action} ({why})" for action, why in illegal)
        yield from written_lines(call)
        if match.state is not None:
            yield f"    {_leader(match.state)}"


def _applied(state: State, line: str | None) -> list[str]:
    """Return the executed actions of a line with today's ids."""
    try:
        return [] if line is None else state.clone().apply_line(line)[0]
    except InvalidActionError:
        return []


def _turn_line(call: Call, state: State, style: _Style) -> str:
    me, opponent = state.players[call.player], state.players[1 - call.player]
    late = ", late" if call.late else ""
    return style(_BOLD, f"turn {call.turn}, ") + (
        f"{style.player(call.player)}: {me.health} health, {me.mana} mana, {me.hand_size} in hand,"
        f" {me.deck_size} in the deck; opponent {opponent.health} health"
        f" ({call.elapsed_ns / 1e6:.1f} ms{late})"
    )


def _drawn(before: State | None, state: State, player: int, style: _Style) -> Iterator[str]:
    """Yield the cards that came into a hand since the last turn."""
    had = {card.id for card in before.players[player].hand} if before is not None else set()
    new = [card for card in state.players[player].hand if card.id not in had]
    if new:
        yield f"    draws {', '.join(style.card(card.card) for card in new)}"


def _actions(state: State, actions: list[str], style: _Style) -> Iterator[str]:
    """Yield the effects of each action, and the boards after it."""
    for text in actions:
        after = state.child(state.string_to_action(text))
        yield f"    {_described(state, text, style)}"
        yield from (f"        {line}" for line in _changes(state, after, style))
        yield from (style(_DIM, f"        {line}") for line in _boards(after, style))
        state = after


def _described(state: State, text: str, style: _Style) -> str:
    word, *numbers = text.split(" ")
    source, *rest = (int(number) for number in numbers)
    mover = state.current_player()
    if word == "ATTACK":
        attacker = next(c for c in state.players[mover].board if c.id == source)
        return f"{style.creature(attacker)} attacks {_target(state, rest[0], style)}"
    card = next(held.card for held in state.players[mover].hand if held.id == source)
    if word == "SUMMON":
        lane = f" on the {_SIDES[rest[0]]}" if rest else ""
        return f"summons {style.card(card)} #{source}{lane}"
    return f"uses {style.card(card)} on {_target(state, rest[0], style)}"


def _target(state: State, target: int, style: _Style) -> str:
    for player in (0, 1):
        for creature in state.players[player].board:
            if creature.id == target:
                return style.creature(creature)
    return f"player {1 - state.current_player()}"


def _changes(state: State, after: State, style: _Style) -> Iterator[str]:
    """Yield health lost and gained, creatures that changed or died, and cards drawn."""
    for player in (0, 1):
        old, new = state.players[player], after.players[player]
        if old.health != new.health:
            change = new.health - old.health
            yield f"player {player}: {change:+d} health, {new.health} left"
        here = {creature.id: creature for creature in new.board}
        for creature in old.board:
            now = here.get(creature.id)
            if now is None:
                yield style(_RED, f"{style.name(creature.card)} #{creature.id} dies")
            elif _stats(now) != _stats(creature):
                _, _, stats = style.creature(now).partition(f"#{now.id} ")
                yield f"{style.creature(creature)} -> {stats}"
        if new.next_draw > old.next_draw:
            yield f"player {player} draws {new.next_draw} cards next turn"


def _stats(creature: Creature) -> tuple[int, int, str]:
    return creature.attack, creature.defense, creature.abilities


def _boards(state: State, style: _Style) -> Iterator[str]:
    for player in (0, 1):
        board = state.players[player].board
        yield f"board of {player}: {', '.join(map(style.creature, board)) or '-'}"


def _leader(state: State) -> str:
    """Return who leads by health and creatures: a rough sign of where a match has turned."""
    worth, shown = [], []
    for player in state.players:
        attack = sum(creature.attack for creature in player.board)
        defense = sum(creature.defense for creature in player.board)
        worth.append(player.health + attack + defense)
        shown.append(f"{player.health} health, {attack}/{defense} on the board")
    who = "even" if worth[0] == worth[1] else f"player {int(worth[1] > worth[0])} leads"
    return f"{who}: {shown[0]} against {shown[1]}"
