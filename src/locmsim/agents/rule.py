"""The agent "rule", which plays by rules of thumb in plain Python."""

from collections.abc import Callable
from dataclasses import dataclass

from locmsim._core import PlayerView, State
from locmsim.agents.base import BaseAgent, Deck
from locmsim.options.declarations import documented
from locmsim.rules.actions import ActionKind
from locmsim.rules.cards import Area, Card
from locmsim.rules.rulesets import RULES


@documented()
@dataclass
class RuleAgent(BaseAgent):
    """Play by rules of thumb, without a search.

    `rule_turn` has the rules. The deck of 1.5 consists mainly of area cards, like those of
    rule-based bots in the contest of 2022.

    Parameters
    ----------
    options
    """

    deck: Deck = "area"

    def plan(self, state: State, started: float) -> list[int]:
        return rule_turn(state)


# ------------------------------------------------------------------------------------- the rules

# Value of a creature's keywords, in addition to its attack and defense.
_KEYWORDS = {"B": 0.5, "C": 0.0, "D": 1.0, "G": 1.5, "L": 3.0, "W": 2.0}
#: Minimum effect per mana for which red and blue items are used.
REMOVAL_WORTH = 1.5
#: Weight of a point of the opponent's health in that effect.
HEALTH_WORTH = 0.3
#: A creature is traded for one that is worth this much more.
TRADE_GAIN = 1.0
#: Blue items are used on an opponent with at most this much health, or with a hand this full.
BURN_HEALTH = 10
BURN_HAND = 7


def rule_turn(state: State) -> list[int]:
    """Return the actions of a turn by fixed rules, without PASS.

    First a kill, if one of a few fixed orders of items and attacks achieves it. Otherwise red and
    blue items on enemy creatures, then creatures, the most expensive first, green items where they
    help most, and attacks: on Guards in the way, in good trades, else on the opponent. Then
    everything that has become possible.
    """
    for prepare in ("", "boost", "remove boost", "charge boost"):
        turn = _Turn(state.clone())
        for step in prepare.split():
            getattr(turn, step)()
        turn.attack_opponent()
        turn.burn()
        if turn.state.winner == turn.player:
            return turn.actions
    turn = _Turn(state.clone())
    turn.remove()
    turn.summon()
    turn.strengthen()
    turn.attack()
    turn.remove()
    turn.summon()
    turn.strengthen()
    if turn.opponent.health <= BURN_HEALTH or turn.me.hand_size >= BURN_HAND:
        turn.burn()
    return turn.actions


class _Turn:
    """A partial turn: `actions` have led to `state`."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.player = state.current_player()
        self.actions: list[int] = []

    @property
    def me(self) -> PlayerView:
        return self.state.players[self.player]

    @property
    def opponent(self) -> PlayerView:
        return self.state.players[1 - self.player]

    def legal(self, wanted: ActionKind) -> list[tuple[int, int, int]]:
        """Return the legal actions of a kind: action, card or attacker, target or lane."""
        found = []
        for action in self.state.legal_actions():
            kind, _, source, target, lane = self.state.action(action)
            if kind == wanted and source is not None:
                found.append((action, source, lane or 0 if target is None else target))
        return found

    def do(self, action: int) -> None:
        self.state.apply_action(action)
        self.actions.append(action)

    # ------------------------------------------------------------------------------------- cards

    def remove(self) -> None:
        """Use red and blue items on enemy creatures where they are most effective."""
        while True:
            costs = {number: card.cost for number, card in self.me.hand}
            enemies = {creature.id for creature in self.opponent.board}
            before = _board_worth(self.opponent)
            best, most = 0, 0.0
            for action, item, target in self.legal(ActionKind.USE):
                if target in enemies:
                    after = self.state.child(action).players[1 - self.player]
                    removed = (
                        before
                        - _board_worth(after)
                        + HEALTH_WORTH * (self.opponent.health - after.health)
                    )
                    gain = removed - REMOVAL_WORTH * costs[item]
                    if gain > most:
                        best, most = action, gain
            if not best:
                return
            self.do(best)

    def summon(self, ability: str = "") -> None:
        """Summon creatures, the most expensive first; with `ability`, only those that have it."""
        while True:
            cards = dict(self.me.hand)
            summons = [
                (card.cost, card.attack + card.defense, self.lane_worth(card, lane), action)
                for action, number, lane in self.legal(ActionKind.SUMMON)
                if ability in (card := cards[number]).abilities
            ]
            if not summons:
                return
            self.do(max(summons)[-1])

    def lane_worth(self, card: Card, lane: int) -> float:
        """Choose a lane: Guards face attackers, others go where no Guard is; copies need room."""
        enemies = sum(c.attack + c.defense for c in self.opponent.board if c.lane == lane)
        rules = RULES[self.state.rules]
        copy = (lane + (card.area == Area.LANE2)) % rules.lanes
        occupied = sum(c.lane == copy for c in self.me.board) + (card.area == Area.LANE1)
        worth = -20.0 if card.area != Area.TARGET and occupied >= rules.lane_size else 0.0
        return worth + (enemies if "G" in card.abilities else -enemies)

    def strengthen(self) -> None:
        """Use green items where they help most."""
        self.use(
            lambda: {c.id for c in self.me.board},
            lambda state: _board_worth(state.players[self.player]),
        )

    def boost(self) -> None:
        """Use green items where they add most damage to the opponent."""
        self.use(self.own, self.damage)

    def own(self) -> set[int]:
        return {creature.id for creature in self.me.board}

    def damage(self, state: State) -> float:
        """Return the attack of ready creatures that no Guard stops."""
        guarded = {c.lane for c in state.players[1 - self.player].board if "G" in c.abilities}
        own = state.players[self.player].board
        return float(sum(c.attack for c in own if c.can_attack and c.lane not in guarded))

    def use(self, wanted: Callable[[], set[int]], worth: Callable[[State], float]) -> None:
        """Use items on wanted targets, those first that add most to what a position is worth."""
        while True:
            targets, before = wanted(), worth(self.state)
            best, most = 0, 0.0
            for action, _, target in self.legal(ActionKind.USE):
                if target in targets:
                    gain = worth(self.state.child(action)) - before
                    if gain > most:
                        best, most = action, gain
            if not best:
                return
            self.do(best)

    def burn(self) -> None:
        """Use blue items on the opponent, the most damage first."""
        self.use(lambda: {-1}, lambda state: -state.players[1 - self.player].health)

    def charge(self) -> None:
        """Summon creatures with Charge."""
        self.summon("C")

    # ----------------------------------------------------------------------------------- attacks

    def attack_opponent(self) -> None:
        """Attack the opponent with all creatures that no Guard stops."""
        while attacks := [
            action for action, _, target in self.legal(ActionKind.ATTACK) if target == -1
        ]:
            self.do(attacks[0])

    def attack(self) -> None:
        """Attack the targets that `target` chooses, the weakest attacker first."""
        waiting = sorted(
            (creature for creature in self.me.board if creature.can_attack),
            key=lambda creature: (creature.attack, creature.id),
        )
        for creature in waiting:
            options = [
                (a, target)
                for a, source, target in self.legal(ActionKind.ATTACK)
                if source == creature.id
            ]
            if options and creature.attack > 0 and (action := self.target(options)):
                self.do(action)

    def target(self, options: list[tuple[int, int]]) -> int:
        """Return the attack that one creature makes, 0 for none.

        The best trade if it is good; else the opponent, or a Guard that is in the way.
        """
        mine, theirs = _board_worth(self.me), _board_worth(self.opponent)
        best, most = 0, -1000.0
        face = 0
        for action, target in options:
            if target == -1:
                face = action
                continue
            after = self.state.child(action)
            lost = mine - _board_worth(after.players[self.player])
            gained = theirs - _board_worth(after.players[1 - self.player])
            if gained - lost > most:
                best, most = action, gained - lost
        if face:
            return best if most >= TRADE_GAIN else face
        return best if most > -TRADE_GAIN else 0


def _board_worth(player: PlayerView) -> float:
    """Return attack and defense of the opponent's creatures, plus a value for keywords."""
    return sum(
        1.0 + c.attack + c.defense + sum(_KEYWORDS.get(letter, 0.0) for letter in c.abilities)
        for c in player.board
    )
