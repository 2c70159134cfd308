"""Positions and observations as text, and as pictures for notebooks."""

from locmsim._core import State
from locmsim.art import Place, Side, board_svg, sheet_svg
from locmsim.game.observation import ENEMY_BOARD, HAND, MY_BOARD, CardInPlay, Observation
from locmsim.rules.cards import BOUNDS, Card
from locmsim.rules.rulesets import RULES


def _head(state: State) -> str:
    head = f"LOCM {state.rules}, turn {state.turn}, player "
    if state.winner is None:
        return head + f"{state.turn & 1} to move"
    return head + f"{state.winner} has won"


def board_text(state: State, viewer: int | None = None) -> str:
    """Return ``str(state)``: the other player above, the player to move below.

    With a `viewer`, the viewer is below, and only the size of the other player's hand is shown.
    """
    below = state.turn & 1 if viewer is None else viewer
    above = _player_text(state, 1 - below, hidden=viewer is not None)
    return "\n".join((_head(state), above, _player_text(state, below)))


def _player_text(state: State, player: int, *, hidden: bool = False) -> str:
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
    if hidden:
        size = len(view.hand)
        lines.append(f"  hand: {size} card{'' if size == 1 else 's'}")
        return "\n".join(lines)
    cards = [
        f"#{held.id} {held.card.type.name.lower()} {held.card.cost}: "
        + " ".join(
            (f"{held.card.attack}/{held.card.defense}", held.card.abilities, *effects(held.card))
        )
        for held in view.hand
    ]
    lines.append("  hand: " + (", ".join(cards) or "-"))
    return "\n".join(lines)


def effects(card: Card) -> list[str]:
    """Return what a card does when it is played, besides its numbers and keywords."""
    parts = []
    if card.my_health_change:
        parts.append(f"own health {card.my_health_change:+d}")
    if card.opponent_health_change:
        parts.append(f"enemy health {card.opponent_health_change:+d}")
    if card.card_draw:
        parts.append(f"draw {card.card_draw}")
    if card.area:
        parts.append(card.area.name.lower())
    return parts


def board_html(state: State) -> str:
    """Draw both sides of a position."""
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


def one_line(seen: Observation) -> str:
    """Return `str` of an observation."""
    me, opponent = seen.me, seen.opponent
    if seen.phase == "choice":
        return f"{seen.rules} choice: {len(seen.cards)} cards offered, {me.deck_size} taken"
    return (
        f"{seen.rules} battle: {me.health} health, {me.max_mana} mana,"
        f" {len(seen.at(HAND))} in hand, {len(seen.at(MY_BOARD))} on the board,"
        f" {me.deck_size} in the deck; opponent: {opponent.health} health,"
        f" {seen.opponent_hand} in hand, {len(seen.at(ENEMY_BOARD))} on the board,"
        f" {opponent.deck_size} in the deck"
    )


def observation_svg(seen: Observation) -> str:
    """Draw a player's view as SVG."""
    if seen.phase == "choice":
        return sheet_svg(seen.offer)
    me, opponent = seen.me, seen.opponent
    sides = (
        Side(
            f"opponent: {opponent.health} health, {opponent.deck_size} in the deck",
            (),
            seen.opponent_hand,
            [_place(row) for row in seen.at(ENEMY_BOARD)],
        ),
        Side(
            f"me: {me.health} health, {me.max_mana} mana, {me.deck_size} in the deck",
            [row.card() for row in seen.at(HAND)],
            0,
            [_place(row) for row in seen.at(MY_BOARD)],
        ),
    )
    return board_svg(*sides, lanes=RULES[seen.rules].lanes, title=f"LOCM {seen.rules}")


def seen_text(state: State, player: int) -> str:
    """Return `State.observation_string`."""
    me, opponent = state.players[player], state.players[1 - player]
    board = me.board
    ready = ",".join([str(creature.id) for creature in board if creature.can_attack])
    spent = ",".join([str(creature.id) for creature in board if creature.has_attacked])
    return (
        f"turn {state.turn} player {state.current_player()} mana {me.mana} {opponent.mana} "
        f"can attack {ready or '-'} has attacked {spent or '-'}\n"
        + state.observation(player).format()
    )


def _place(row: CardInPlay) -> Place:
    """Return a creature for a picture: its printed values are not known."""
    low, high = BOUNDS["attack"]
    attack, defense = (min(max(value, low), high) for value in (row.attack, row.defense))
    card = row._replace(attack=attack, defense=defense).card()
    return Place(card, row.attack, row.defense, row.abilities, row.lane)
