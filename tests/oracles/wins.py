"""The search for a win within the turn, in plain Python; sections refer to docs/rules.md."""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeAlias

from locmsim import State
from locmsim.rules.cards import Area, Card, CardType
from locmsim.rules.rulesets import HAND_LIMIT, MAX_BOARD, RULES, RuleSet
from oracles.turnsearch import Budget, Snapshot, turn_key

Row: TypeAlias = list[Any]
Slots: TypeAlias = dict[int, Row]

# Columns of a board row of a snapshot (section 13).
ATTACK, DEFENSE, ABILITIES, LANE, READY, SPENT = range(2, 8)


def find_win(state: State, budget: Budget) -> list[int] | None:
    """Return actions with which the player to move wins at once; None if none are found.

    Best-first by the damage still missing, over what can matter: cards that harm the opponent,
    strengthen or wake attackers or take Guards away; attacks on Guards; attacks that make room for
    such cards. Attacks on the opponent come last, all together. Left out are positions where not
    even the most optimistic sum of damage is enough.
    """
    return _WinSearch(state, budget).run()


class _Move(NamedTuple):
    """A decoded action (section 12)."""

    kind: str
    source: int  # SUMMON, USE: position in hand; ATTACK: own slot
    target: int  # SUMMON: lane; USE: 0 player, 1 + own slot, 7 + enemy slot; ATTACK: 0, 1 + slot


def _decode(action: int, rules: RuleSet) -> _Move:
    first_use = 1 + rules.lanes * HAND_LIMIT
    first_attack = first_use + 13 * HAND_LIMIT
    size = rules.lane_size
    if action == 0:
        return _Move("PASS", 0, 0)
    if action < first_use:
        return _Move("SUMMON", *divmod(action - 1, rules.lanes))
    if action < first_attack:
        return _Move("USE", *divmod(action - first_use, 13))
    slot, target = divmod(action - first_attack, size + 1)
    return _Move("ATTACK", slot, target + size * (slot // size) if target else 0)


_MOVES = {
    rules.name: [_decode(action, rules) for action in range(rules.num_actions)]
    for rules in RULES.values()
}
#: The attack of each slot on the player.
_FACE = {
    name: {move.source: a for a, move in enumerate(moves) if move[::2] == ("ATTACK", 0)}
    for name, moves in _MOVES.items()
}


def _slots(board: Iterable[Row], rules: RuleSet) -> Slots:
    """Return the creatures by slot; a board lists both lanes in summon order."""
    following = [lane * rules.lane_size for lane in range(rules.lanes)]
    slots = {}
    for row in board:
        slots[following[row[LANE]]] = row
        following[row[LANE]] += 1
    return slots


def _harm(card: Card) -> int:
    """Return the damage of each effect of a card to the opponent."""
    return max(0, -card.opponent_health_change)


class _WinSearch:
    def __init__(self, state: State, budget: Budget) -> None:
        self.state = state
        self.budget = budget
        self.rules = RULES[state.rules]
        self.moves = _MOVES[state.rules]
        self.player = state.current_player()
        me, op = state.players[self.player], state.players[1 - self.player]
        self.cards: dict[int, Card] = dict(me.hand)
        self.base_ids = {number: card.base_id for number, card in self.cards.items()}
        hand = self.cards.values()
        greens = [card for card in hand if card.type == CardType.GREEN]
        #: Whether some card may wake a creature, and the most attack that this may add.
        self.wakes = any("C" in card.abilities for card in greens)
        sleepers = [creature.attack for creature in me.board if not creature.can_attack]
        sleepers += [card.attack for card in hand if card.type == CardType.CREATURE]
        self.sleeper = max(sleepers, default=0)
        #: Whether some card harms the opponent when used on any of the player's creatures.
        self.needs_creatures = any(_harm(card) for card in greens)
        self.enemies = len(op.board)
        self.potentials = {number: self.potential(card) for number, card in self.cards.items()}
        self.hand_bounds: dict[tuple[int, ...], int] = {}
        #: Positions to continue from, the least damage missing first, then as found.
        self.queue: list[tuple[int, int, State, Snapshot, tuple[int, ...]]] = []
        self.seen: set[Any] = set()

    def run(self) -> list[int] | None:
        found = self.add(self.state, self.state.snapshot(), ())
        while self.queue and not found:
            _, _, node, snapshot, path = heappop(self.queue)
            for action in self.useful_actions(node, snapshot):
                if not self.budget.spend():
                    return None
                child = node.clone()
                child.apply_unchecked(action)
                if not child.is_terminal():
                    found = self.add(child, child.snapshot(), (*path, action))
                elif child.winner == self.player:
                    found = [*path, action]
                if found:
                    break
        return found

    def add(self, node: State, snapshot: Snapshot, path: tuple[int, ...]) -> list[int] | None:
        """Queue what may lead to a win; return the turn if attacks on the player win now."""
        key = turn_key(snapshot, self.player, self.base_ids)
        if key in self.seen:
            return None
        self.seen.add(key)
        me, op = self.both(snapshot)
        guarded = {row[LANE] for row in op["board"] if "G" in row[ABILITIES]}
        missing = op["hp"]
        strikes = []
        ready = [item for item in _slots(me["board"], self.rules).items() if item[1][READY]]
        for slot, row in sorted(ready, key=lambda item: -item[1][ATTACK]):
            if row[LANE] not in guarded:
                missing -= row[ATTACK]
                strikes.append(_FACE[self.rules.name][slot])
                if missing <= 0:
                    return [*path, *strikes]
        attack = sum(row[ATTACK] for _, row in ready)
        if attack + self.hand_bound(me["mana"], tuple(me["hand"])) >= op["hp"]:
            heappush(self.queue, (missing, len(self.seen), node, snapshot, path))
        return None

    def both(self, snapshot: Snapshot) -> tuple[Snapshot, Snapshot]:
        players = snapshot["p"]
        return players[self.player], players[1 - self.player]

    # ----------------------------------------------------------------- the most optimistic damage

    def potential(self, card: Card) -> int:
        """Return an upper bound of the damage that a card can add, whatever it is used on."""
        harm = _harm(card)
        if card.type == CardType.CREATURE:
            strikes = "C" in card.abilities or self.wakes
            return (2 if card.area else 1) * (harm + (card.attack if strikes else 0))
        size = {Area.TARGET: 1, Area.LANE1: self.rules.lane_size, Area.LANE2: MAX_BOARD}[card.area]
        if card.type == CardType.GREEN:
            woken = self.sleeper if "C" in card.abilities else 0
            return size * (harm + max(0, card.attack) + woken)
        harm *= min(size, self.enemies)
        if card.type == CardType.BLUE:
            return max(harm, -card.defense - card.opponent_health_change)
        return harm

    def hand_bound(self, mana: int, hand: tuple[int, ...]) -> int:
        """Return the most damage that cards affordable together may add."""
        bound = self.hand_bounds.get((mana, *hand))
        if bound is None:
            best = [0] * (mana + 1)
            for card in hand:
                potential, cost = self.potentials[card], self.cards[card].cost
                for left in range(mana, cost - 1, -1):
                    best[left] = max(best[left], best[left - cost] + potential)
            bound = self.hand_bounds[mana, *hand] = best[mana]
        return bound

    # -------------------------------------------------------------------------- what can matter

    def useful_actions(self, node: State, snapshot: Snapshot) -> list[int]:
        me, op = self.both(snapshot)
        mine, theirs = _slots(me["board"], self.rules), _slots(op["board"], self.rules)
        hand = [self.cards[number] for number in me["hand"]]
        useful = []
        for action in node.legal_actions():
            kind, source, target = self.moves[action]
            if (
                (kind == "SUMMON" and self.is_useful_summon(hand[source]))
                or (kind == "USE" and self.is_useful_item(hand[source], target, mine, theirs))
                or (
                    kind == "ATTACK"
                    and target
                    and self.is_useful_attack(mine, source, theirs[target - 1], me)
                )
            ):
                useful.append(action)
        return useful

    def is_useful_summon(self, card: Card) -> bool:
        return self.needs_creatures or self.potential(card) > 0

    def is_useful_item(self, card: Card, target: int, mine: Slots, theirs: Slots) -> bool:
        if _harm(card):
            return True
        if target == 0:
            return card.defense + card.opponent_health_change < 0
        if card.type == CardType.GREEN:
            guards = any("G" in row[ABILITIES] for row in theirs.values())
            return any(
                self.strengthens(card, row, guards) for row in self.hit(card, target - 1, mine)
            )
        return (card.defense < 0 or "G" in card.abilities or "W" in card.abilities) and any(
            "G" in row[ABILITIES] for row in self.hit(card, target - 7, theirs)
        )

    def hit(self, card: Card, slot: int, slots: Slots) -> list[Row]:
        """Return the creatures that an item affects."""
        if card.area == Area.TARGET:
            return [slots[slot]]
        rows = slots.values()
        return [row for row in rows if card.area == Area.LANE2 or row[LANE] == slots[slot][LANE]]

    def strengthens(self, card: Card, row: Row, guards: bool) -> bool:
        """Return whether a green item adds to the damage that a creature can still do."""
        if row[SPENT] or not (row[READY] or self.wakes):
            return False
        if "C" in card.abilities and not row[READY]:
            return True
        return card.attack > 0 or (guards and ("B" in card.abilities or "L" in card.abilities))

    def is_useful_attack(self, mine: Slots, slot: int, enemy: Row, me: Snapshot) -> bool:
        """Return whether an attack hits a Guard, or lets a creature die to make room for a card."""
        row = mine[slot]
        if "G" in enemy[ABILITIES] and row[ATTACK] > 0:
            return True
        dies = "W" not in row[ABILITIES] and (
            enemy[ATTACK] >= row[DEFENSE] or (enemy[ATTACK] > 0 and "L" in enemy[ABILITIES])
        )
        in_lane = sum(other[LANE] == row[LANE] for other in mine.values())
        return (
            dies
            and in_lane == self.rules.lane_size
            and any(
                card.type == CardType.CREATURE
                and card.cost <= me["mana"]
                and self.is_useful_summon(card)
                for card in map(self.cards.__getitem__, me["hand"])
            )
        )
