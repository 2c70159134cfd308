"""What a whole position looks like: as text, and as a picture for notebooks."""

from locmsim._core import State
from locmsim.art.board import Place, Side, board_svg
from locmsim.rules.rulesets import RULES

__all__ = ["board_html", "board_text"]


def _head(state: State) -> str:
    head = f"LOCM {state.rules}, turn {state.turn}, player "
    if state.winner is None:
        return head + f"{state.turn & 1} to move"
    return head + f"{state.winner} has won"


def board_text(state: State) -> str:
    """``str(state)``: the other player above, the player to move below."""
    mover = state.turn & 1
    return "\n".join((_head(state), _player_text(state, 1 - mover), _player_text(state, mover)))


def _player_text(state: State, player: int) -> str:
    view = state.players[player]
    rules = RULES[state.rules]
    lines = [
        f"player {player}: {view.health} health, {view.mana}/{view.max_mana} mana, "
        f"{view.deck_size} in deck, draws {view.next_draw}"
        + (f", runes {view.runes}" if rules.draft else "")
    ]
    board = view.board
    for lane in range(rules.lanes):
        creatures = [
            f"#{c.id} {c.attack}/{c.defense} {c.abilities}" + ("*" if c.can_attack else "")
            for c in board
            if c.lane == lane
        ]
        lines.append(f"  lane {lane}: " + (", ".join(creatures) or "-"))
    cards = [
        f"#{held.id} {held.card.type.name.lower()} {held.card.cost}: "
        f"{held.card.attack}/{held.card.defense} {held.card.abilities}"
        for held in view.hand
    ]
    lines.append("  hand: " + (", ".join(cards) or "-"))
    return "\n".join(lines)


def board_html(state: State) -> str:
    """A picture of both sides."""
    sides = []
    for player, view in enumerate(state.players):
        words = (
            f"player {player}: {view.health} health, {view.mana}/{view.max_mana} mana,"
            f" {view.deck_size} in the deck"
        )
        creatures = [Place(c.card, c.attack, c.defense, c.abilities, c.lane) for c in view.board]
        sides.append(Side(words, [held.card for held in view.hand], 0, creatures))
    mover = state.turn & 1
    lanes = RULES[state.rules].lanes
    return board_svg(sides[1 - mover], sides[mover], lanes=lanes, title=_head(state))
