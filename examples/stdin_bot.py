"""A bot in one file without any library, which shows how to read and answer the protocol.

    locmsim arena "python examples/stdin_bot.py" random --games 20

It plays all three rule sets, which it tells apart by the number of columns in its input. It picks
cards by a formula; in a turn it removes enemies, summons, strengthens and attacks, in this order.
"""

from dataclasses import dataclass

CREATURE, GREEN, RED, BLUE = range(4)
HAND, MINE, THEIRS = 0, 1, -1  # where a card is


@dataclass
class Card:
    base_id: int
    id: int
    place: int
    type: int
    cost: int
    attack: int
    defense: int
    abilities: str
    my_health: int
    opponent_health: int
    draw: int
    area: int = 0
    lane: int = 0

    def worth(self, mana: float) -> float:
        """Return the value of a card on offer, minus its cost at `mana` points per mana."""
        effects = 0.5 * self.my_health - 0.7 * self.opponent_health + 2 * self.draw
        if self.type == CREATURE:
            keywords = {"B": 0.5, "C": 1, "D": 1, "G": 1.5, "L": 3, "W": 2, "-": 0}
            body = 1.2 * self.attack + self.defense + sum(keywords[k] for k in self.abilities)
            return (
                body * (1.5 if self.area else 1)
                + effects
                - mana * self.cost
                - 2 * (self.attack == 0)
            )
        return (
            0.8 * (abs(self.attack) + min(12, abs(self.defense))) + effects - mana * self.cost - 1
        )


def numbers() -> list[int]:
    return [int(word) for word in input().split()]


def read() -> tuple[list[int], list[int], list[Card], int]:
    """Read one input of the referee: players, cards, number of lanes; EOFError at the end."""
    me, opponent = numbers(), numbers()
    _, actions = numbers()
    for _ in range(actions):
        input()  # the opponent's actions, which this bot ignores
    cards, lanes = [], 2
    for _ in range(int(input())):
        words = input().split()
        values = [word if i == 7 else int(word) for i, word in enumerate(words)]
        if (
            len(me) == 5
        ):  # 1.2 and 1.0 have runes, but no areas; 1.0 has one lane and no column for it
            values.insert(11, 0)
            lanes = 2 if len(words) == 12 else 1
        cards.append(Card(*values))
    return me, opponent, cards, lanes


def choose(offer: list[Card]) -> str:
    """Return the answer of the choice phase."""
    if len(offer) == 3:  # 1.2 and 1.0 draft card by card
        worths = [card.worth(mana=2) for card in offer]
        return f"PICK {worths.index(max(worths))}"
    # In 1.5 any card can be had, and a deck of cheap cards plays many of them in a turn.
    best = sorted(offer, key=lambda card: card.worth(mana=4), reverse=True)
    creatures = [card for card in best if card.type == CREATURE][:9]
    others = [card for card in best if card not in creatures][:6]
    return ";".join(f"CHOOSE {card.base_id}" for card in [*creatures, *others] for _ in range(2))


class Turn:
    """The actions of a battle turn; the referee ignores those that turn out to be illegal."""

    def __init__(self, me: list[int], opponent: list[int], cards: list[Card], lanes: int) -> None:
        self.mana = me[1]
        self.enemy_health = opponent[0]
        self.hand = sorted((c for c in cards if c.place == HAND), key=lambda c: -c.cost)
        self.mine = [card for card in cards if card.place == MINE]
        self.enemies = [card for card in cards if card.place == THEIRS]
        self.lanes = lanes
        self.actions: list[str] = []

    def play(self) -> str:
        ready = [*self.mine]  # creatures on the board when a turn begins may attack
        self.remove()
        ready += [card for card in self.summon() if "C" in card.abilities]
        self.strengthen()
        self.attack(sorted(ready, key=lambda card: card.attack))
        self.summon()
        for card in [c for c in self.hand if c.type == BLUE and c.opponent_health + c.defense < 0]:
            if self.pay(card):
                self.actions.append(f"USE {card.id} -1")
        return ";".join(self.actions) or "PASS"

    def pay(self, card: Card) -> bool:
        if card.cost > self.mana:
            return False
        self.mana -= card.cost
        self.hand.remove(card)
        return True

    def hit(self, enemy: Card, damage: int, lethal: bool = False) -> None:
        if damage > 0 and "W" in enemy.abilities:
            enemy.abilities = enemy.abilities.replace("W", "-")
        elif damage >= enemy.defense or (lethal and damage > 0):
            self.enemies.remove(enemy)
        else:
            enemy.defense -= damage

    def remove(self) -> None:
        """Use red and blue items on the strongest enemies that they kill."""
        for card in [c for c in self.hand if c.type in (RED, BLUE) and c.defense < 0]:
            victims = [
                e for e in self.enemies if e.defense <= -card.defense and e.attack >= card.cost
            ]
            victims = [e for e in victims if "W" not in e.abilities or "W" in card.abilities]
            if victims and self.pay(card):
                victim = max(victims, key=lambda e: e.attack + e.defense)
                self.actions.append(f"USE {card.id} {victim.id}")
                self.enemies.remove(victim)

    def summon(self) -> list[Card]:
        """Summon creatures, costly ones first: Guards where enemies are, others elsewhere."""
        summoned = []
        for card in [c for c in self.hand if c.type == CREATURE]:
            size = 6 if self.lanes == 1 else 3
            occupied = [sum(c.lane == lane for c in self.mine) for lane in range(self.lanes)]
            places = [lane for lane in range(self.lanes) if occupied[lane] < size]
            if places and self.pay(card):
                sign = 1 if "G" in card.abilities else -1
                threats = [sum(e.attack for e in self.enemies if e.lane == lane) for lane in (0, 1)]
                card.lane = max(places, key=lambda lane: sign * threats[lane] - 3 * occupied[lane])
                self.actions.append(f"SUMMON {card.id}" + f" {card.lane}" * (self.lanes == 2))
                self.mine.append(card)
                summoned.append(card)
        return summoned

    def strengthen(self) -> None:
        """Use green items on the strongest creature."""
        for card in [c for c in self.hand if c.type == GREEN]:
            if self.mine and self.pay(card):
                target = max(self.mine, key=lambda c: c.attack + c.defense)
                self.actions.append(f"USE {card.id} {target.id}")
                target.attack += card.attack
                target.defense += card.defense

    def attack(self, ready: list[Card]) -> None:
        """Attack Guards that are in the way, make good trades, else attack the opponent."""
        for card in ready:
            if card.attack <= 0:
                continue
            enemies = [e for e in self.enemies if e.lane == card.lane]
            guards = [e for e in enemies if "G" in e.abilities]
            lethal = "L" in card.abilities
            trades = [
                e
                for e in enemies
                if (e.defense <= card.attack or lethal)
                and "W" not in e.abilities
                and (card.defense > e.attack or e.attack + e.defense > card.attack + card.defense)
            ]
            open_attack = sum(c.attack for c in ready if not guards)
            if guards:
                target = min(guards, key=lambda e: e.defense)
            elif trades and open_attack < self.enemy_health:
                target = max(trades, key=lambda e: e.attack)
            else:
                self.actions.append(f"ATTACK {card.id} -1")
                self.enemy_health -= card.attack
                continue
            self.actions.append(f"ATTACK {card.id} {target.id}")
            self.hit(target, card.attack, lethal)


def main() -> None:
    try:
        while True:
            me, opponent, cards, lanes = read()
            choice = cards and cards[0].id == -1
            answer = choose(cards) if choice else Turn(me, opponent, cards, lanes).play()
            print(answer, flush=True)
    except EOFError:
        pass


if __name__ == "__main__":
    main()
