"""Why an action is not legal: the reasons that the author of a bot can act on."""

from locmsim._core import State, parse_line
from locmsim.errors import IllegalActionError, InvalidActionError
from locmsim.rules.cards import CardType
from locmsim.rules.rulesets import get_rules


def illegal_actions(state: State, line: str) -> list[tuple[str, str]]:
    """Return the illegal actions of an answer, each with its reason.

    Actions after the end of the match do not count, and a line that is malformed has none.

    Parameters
    ----------
    state : State
        The position in which the answer is given; it is unchanged.
    line : str
        The answer, with today's instance ids.

    Returns
    -------
    list of tuple of str
        Canonical texts and reasons, see `illegal_reason`.
    """
    try:
        actions = parse_line(line, state.rules)
    except InvalidActionError:
        return []
    state = state.clone()
    found = []
    for text in actions:
        if state.is_terminal():
            break
        if text == "PASS":
            continue
        try:
            state.apply_action(state.string_to_action(text))
        except IllegalActionError:
            found.append((text, illegal_reason(state, text)))
    return found


def illegal_reason(state: State, text: str) -> str:
    """Return why an action is not legal now (docs/rules.md, section 6).

    Parameters
    ----------
    state : State
        The position.
    text : str
        The canonical text of an action that is not legal in it.

    Returns
    -------
    str
        "not in hand", "no mana", "lane full", "not a creature", "not an item", "not on the board",
        "summoned this turn", "has attacked", "guard" (another creature of the lane must be attacked
        first) or "no such target".
    """
    word, *numbers = text.split(" ")
    if word == "ATTACK":
        return _attack(state, *map(int, numbers))
    me = state.players[state.current_player()]
    source, where = (*map(int, numbers), 0)[:2]
    card = next((held.card for held in me.hand if held.id == source), None)
    if card is None:
        return "not in hand"
    if (card.type == CardType.CREATURE) != (word == "SUMMON"):
        return "not a creature" if word == "SUMMON" else "not an item"
    if card.cost > me.mana:
        return "no mana"
    if word == "SUMMON":
        lane = [creature for creature in me.board if creature.lane == where]
        full = len(lane) >= get_rules(state.rules).lane_size
        return "lane full" if full else "not legal"
    return "no such target"


def _attack(state: State, source: int, target: int) -> str:
    player = state.current_player()
    attacker = next((one for one in state.players[player].board if one.id == source), None)
    if attacker is None:
        return "not on the board"
    if attacker.has_attacked:
        return "has attacked"
    if not attacker.can_attack:
        return "summoned this turn"
    enemies = [one for one in state.players[1 - player].board if one.lane == attacker.lane]
    if target != -1 and all(enemy.id != target for enemy in enemies):
        return "no such target"
    guarded = any("G" in enemy.abilities and enemy.id != target for enemy in enemies)
    return "guard" if guarded else "not legal"
