"""The rules in slow, plain Python, to be read as a specification and used as a reference.

Section numbers are those of docs/rules.md. Nothing here is shared with the compiled battle except
the description of a card. Integers are unbounded, and each action is looked up in the list of legal
actions before it is executed.

Actions are canonical texts: ``SUMMON 4 1`` (1.0: ``SUMMON 4``), ``ATTACK 4 -1``, ``USE 6 11``,
``PASS``. Positions are read and written as snapshots (section 13).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from locmsim.rules.cards import Card, CardType

Snapshot = dict[str, Any]

# ---- section 0: constants ------------------------------------------------------------------------

DECK_SIZE = 30
HAND_LIMIT = 8
BOARD_LIMIT = 6  # of one player, all lanes together
TURN_LIMIT = 50  # of one player
ABILITIES = "BCDGLW"


def lanes_of(rules: str) -> int:
    return 1 if rules == "1.0" else 2


class InvalidAction(Exception):
    """The text is not an action; the message is that of the referee."""


class IllegalAction(Exception):
    """The action is not legal."""


class GameOver(IllegalAction):
    """The game is already won."""


# ---- section 3: the choice phase -----------------------------------------------------------------


def construct_text(offer: Sequence[Card]) -> str:
    """Return what both players are sent in rules 1.5."""
    rows = [card_row("1.5", card, -1, 0, -1) for card in offer]
    return lines("30 0 0 0", "30 0 0 0", "0 0", len(rows), *rows)


def draft_text(rules: str, turn: int, player: int, triplet: Sequence[Card]) -> str:
    """Return what a player is sent in a draft turn 0..29 of rules 1.0 and 1.2."""
    rows = [card_row(rules, card, -1, 0, -1) for card in triplet]
    return lines(f"30 0 {turn} 25 0", f"30 0 {turn + player} 25 0", "0 0", len(rows), *rows)


def check_construct(offer: Sequence[Card], line: str | None) -> tuple[list[int], str | None]:
    """Return the base ids of an answer in rules 1.5, and the referee's message if it is fatal."""
    chosen: list[int] = []

    def first_available() -> int:
        for card in offer:
            if chosen.count(card.base_id) < 2:
                return card.base_id
        raise InvalidAction(": Something went horrible wrong. No card available to choose.")

    def take(command: str) -> int:
        words = command.split(" ", 2)
        if words[0] == "PASS":
            return first_available()
        if words[0] != "CHOOSE":
            raise InvalidAction(': Invalid action. Expected  "CHOOSE id" or "PASS".')
        try:
            base_id = parse_int(words[1])
        except (IndexError, ValueError):
            raise InvalidAction(
                ': Invalid "CHOOSE" argument. Expected integer (card base id).'
            ) from None
        if base_id not in [card.base_id for card in offer]:
            raise InvalidAction(
                ': Invalid action format. "CHOOSE" argument should be valid card\'s base id.'
            )
        if chosen.count(base_id) >= 2:
            raise InvalidAction(": Invalid action argument. Card can be chosen at most 2 times.")
        return base_id

    if line is None:
        return chosen, " timeout!"
    try:
        for command in split_line(line):
            if command == "PASS":
                while len(chosen) < DECK_SIZE:
                    chosen.append(first_available())
            else:
                chosen.append(take(command))
    except InvalidAction as error:
        return chosen, str(error)
    if len(chosen) != DECK_SIZE:
        return chosen, " didn't choose correct number of cards!"
    return chosen, None


def check_pick(triplet: Sequence[Card], line: str | None) -> tuple[int | None, str | None]:
    """Return the base id that an answer picks in rules 1.0 and 1.2, or None and the message."""
    if line is None:
        return None, " timeout!"
    words = line.split(" ", 2)
    ids = [card.base_id for card in triplet]
    try:
        if words[0] == "PASS":
            return ids[0], None
        if words[0] == "PICK":
            number = parse_int(words[1])
            if not 0 <= number <= 2:
                return None, ': Invalid action format. "PICK" argument should be 0, 1 or 2.'
            return ids[number], None
        if words[0] == "CHOOSE":
            base_id = parse_int(words[1])
            if base_id not in ids:
                # The referee prints a hash set: each id once, in the order of its 16 buckets.
                shown = sorted(dict.fromkeys(ids), key=lambda i: i % 16)
                return None, (
                    ': Invalid action format. "CHOOSE" argument should be valid card\'s base id '
                    f"{shown}."
                )
            return base_id, None
    except (IndexError, ValueError):
        pass
    return None, ': Invalid action. Expected  "PICK [0,1,2]" or "PASS".'


def check_choices(
    rules: str,
    offers: Sequence[Any],
    answers: Sequence[Sequence[str | None]],
) -> tuple[list[list[int]], tuple[int, str] | None]:
    """Play the choice phase; return the base ids that both players took, and who made which error.

    `offers` is the list of cards (1.5) or the 30 triplets (1.0 and 1.2); `answers` has the lines of
    player 0 and of player 1. Player 0 is checked first; after an error nothing else is checked.
    """
    chosen: list[list[int]] = [[], []]
    for step in range(max(map(len, answers))):
        for player in (0, 1):
            line = answers[player][step]
            if rules == "1.5":
                chosen[player], message = check_construct(offers, line)
            else:
                base_id, message = check_pick(offers[step], line)
                if base_id is not None:
                    chosen[player].append(base_id)
            if message is not None:
                return chosen, (player, f"${player}{message}")
    return chosen, None


# ---- section 8: answer lines ---------------------------------------------------------------------

BLANKS = "".join(map(chr, range(ord(" ") + 1)))


def split_line(line: str) -> list[str]:
    """Split a line at ``;`` into parts without surrounding blanks; empty parts are left out."""
    parts = [part.strip(BLANKS) for part in line.split(";")]
    return [part for part in parts if part]


def parse_int(text: str) -> int:
    """Parse an integer as Java does: a sign, decimal digits of any script, 32 bits."""
    if not re.fullmatch(r"[+-]?\d+", text) or max(text) > "\uffff":
        raise ValueError(text)
    number = int(text)
    if not -(2**31) <= number < 2**31:
        raise ValueError(text)
    return number


def parse_line(rules: str, line: str) -> list[str]:
    """Parse an answer line into actions, PASS included; `InvalidAction` if a part is malformed."""
    return [parse_action(rules, part) for part in split_line(line)]


def parse_action(rules: str, part: str) -> str:
    word, *rest = part.split(" ", 1)
    word = word.strip(BLANKS)
    if word == "PASS":
        return "PASS"
    if word == "SUMMON" and rules == "1.0":
        needed, message = 1, "Invalid SUMMON argument. Expected integer (card id)."
    elif word == "SUMMON":
        needed, message = 2, "Invalid SUMMON arguments. Expected two integers (card id and lane)."
    elif word in ("ATTACK", "USE"):
        needed = 2
        message = f"Invalid {word} arguments. Expected two integers (card id and target id)."
    elif rules == "1.5":
        raise InvalidAction("Invalid action name. Should be SUMMON, ATTACK,  USE or PASS.")
    else:
        raise InvalidAction("Invalid action name. Should be SUMMON, ATTACK, or USE.")
    arguments = rest[0].split(" ") if rest else []
    try:
        numbers = [parse_int(arguments[i]) for i in range(needed)]
    except (IndexError, ValueError):
        raise InvalidAction(message) from None
    return " ".join([word, *map(str, numbers)])


# ---- sections 4 to 7: the battle -----------------------------------------------------------------


@dataclass
class InHand:
    """A card in a hand or a deck."""

    id: int
    card: Card


@dataclass
class Creature:
    id: int
    card: Card
    attack: int
    defense: int
    abilities: str
    lane: int
    can_attack: bool
    has_attacked: bool = False
    effects_forgotten: bool = False  # 1.0 and 1.2; matters only for the protocol (section 9)

    def has(self, ability: str) -> bool:
        return ability in self.abilities


@dataclass
class Player:
    deck: list[InHand]
    health: int = 30
    max_mana: int = 0
    mana: int = 0
    bonus: int = 0
    next_draw: int = 1
    shown_draw: int = 1
    lost: int = 0  # 1.5: health lost since the last draw
    runes: list[int] = field(default_factory=lambda: [5, 10, 15, 20, 25])  # 1.0 and 1.2
    hand: list[InHand] = field(default_factory=list)
    board: list[Creature] = field(default_factory=list)
    performed: list[str] = field(default_factory=list)  # "base id, action" of the last turn


@dataclass
class Effect:
    """The effect of an action on the players, apart from creatures."""

    mine: int = 0
    opponents: int = 0
    draw: int = 0


def with_abilities(old: str, more: str) -> str:
    return "".join(c if c in old or c in more else "-" for c in ABILITIES)


def without_abilities(old: str, fewer: str) -> str:
    return "".join(c if c in old and c not in fewer else "-" for c in ABILITIES)


class Battle:
    """A position, with everything that can happen in it."""

    def __init__(self, rules: str, players: list[Player], turn: int = -1, active: int = 1):
        self.rules = rules
        self.players = players
        self.turn = turn
        self.active = active
        self.winner = -1

    def copy(self) -> "Battle":
        """Return an independent copy of the position."""
        players = [
            replace(
                player,
                deck=list(player.deck),
                runes=list(player.runes),
                hand=list(player.hand),
                board=[replace(creature) for creature in player.board],
                performed=list(player.performed),
            )
            for player in self.players
        ]
        other = Battle(self.rules, players, self.turn, self.active)
        other.winner = self.winner
        return other

    # -- section 4: turns --

    @classmethod
    def begin(cls, rules: str, decks: Sequence[Iterable[tuple[int, Card]]]) -> "Battle":
        """Return the position after both opening hands; decks have (id, card) in draw order."""
        players = [Player([InHand(*entry) for entry in deck]) for deck in decks]
        players[1].max_mana = players[1].mana = players[1].bonus = 1
        battle = cls(rules, players)
        for player, size in zip(players, (4, 5), strict=True):
            battle.draw(player, size)
        return battle

    @property
    def me(self) -> Player:
        return self.players[self.active]

    @property
    def opponent(self) -> Player:
        return self.players[1 - self.active]

    def change_turn(self) -> None:
        self.check_winner()
        for creature in self.me.board:
            creature.can_attack = creature.has_attacked = False
        self.me.shown_draw = self.me.next_draw

        self.active = 1 - self.active
        self.turn += 1
        me = self.me
        me.performed = []
        if me.max_mana < 12 + (1 if me.bonus > 0 else 0):
            me.max_mana += 1
        if me.bonus > 0 and me.mana == 0:
            me.bonus = 0
            me.max_mana -= 1
        me.mana = me.max_mana
        for creature in me.board:
            creature.can_attack = True

        self.draw(me, me.next_draw)
        me.shown_draw = me.next_draw
        me.next_draw = 1
        me.lost = 0
        self.check_winner()

    def check_winner(self) -> None:
        if self.opponent.health <= 0:
            self.winner = self.active
        elif self.me.health <= 0:
            self.winner = 1 - self.active

    # -- section 5: draws and health --

    def draw(self, player: Player, count: int) -> None:
        too_late = self.turn // 2 >= TURN_LIMIT
        if self.rules == "1.5":
            if too_late:
                player.health -= 10
            for _ in range(count):
                if len(player.hand) == HAND_LIMIT:
                    continue
                if player.deck:
                    player.hand.append(player.deck.pop(0))
                else:
                    player.health -= 10
        else:
            for _ in range(count):
                if too_late or not player.deck:
                    player.health = player.runes.pop() if player.runes else 0
                elif len(player.hand) == HAND_LIMIT:
                    break
                else:
                    player.hand.append(player.deck.pop(0))

    def change_health(self, player: Player, change: int) -> None:
        player.health += change
        if change >= 0:
            return
        if self.rules == "1.5":
            player.next_draw -= player.lost // 5
            player.lost -= change
            player.next_draw += player.lost // 5
        else:
            while player.runes and player.health <= player.runes[-1]:
                player.runes.pop()
                player.next_draw += 1

    # -- section 6: what is legal, whoever has won --

    def legal_actions(self) -> list[str]:
        return ["PASS", *self.summons(), *self.uses(), *self.attacks()]

    def summons(self) -> list[str]:
        lanes = lanes_of(self.rules)
        return [
            f"SUMMON {held.id} {lane}" if lanes == 2 else f"SUMMON {held.id}"
            for held in self.me.hand
            if held.card.type == CardType.CREATURE and held.card.cost <= self.me.mana
            for lane in range(lanes)
            if self.has_room(lane)
        ]

    def has_room(self, lane: int) -> bool:
        return sum(c.lane == lane for c in self.me.board) < BOARD_LIMIT // lanes_of(self.rules)

    def uses(self) -> list[str]:
        actions = []
        for held in self.me.hand:
            if held.card.type == CardType.CREATURE or held.card.cost > self.me.mana:
                continue
            mine = held.card.type == CardType.GREEN
            targets = [c.id for c in (self.me if mine else self.opponent).board]
            if held.card.type == CardType.BLUE:
                targets.append(-1)
            actions += [f"USE {held.id} {target}" for target in targets]
        return actions

    def attacks(self) -> list[str]:
        actions = []
        for attacker in self.me.board:
            if not attacker.can_attack:
                continue
            facing = [c for c in self.opponent.board if c.lane == attacker.lane]
            guards = [c.id for c in facing if c.has("G")]
            targets = guards or [-1, *(c.id for c in facing)]
            actions += [f"ATTACK {attacker.id} {target}" for target in targets]
        return actions

    # -- section 7: what actions do --

    def execute(self, action: str) -> None:
        """Execute a legal action other than PASS."""
        word, *arguments = action.split(" ")
        numbers = [int(argument) for argument in arguments]
        if word == "SUMMON":
            card = self.play(numbers[0])
            effect = self.summon(numbers[0], card, lane=numbers[1] if len(numbers) == 2 else 0)
        elif word == "USE":
            card = self.play(numbers[0])
            effect = self.use(card, target_id=numbers[1])
        else:
            attacker = find(self.me.board, numbers[0])
            card = attacker.card
            effect = self.attack(attacker, target_id=numbers[1])
        self.change_health(self.me, effect.mine)
        self.change_health(self.opponent, effect.opponents)
        self.me.next_draw += effect.draw
        self.me.performed.append(f"{card.base_id} {action}")
        self.check_winner()

    def play(self, card_id: int) -> Card:
        held: InHand = find(self.me.hand, card_id)
        self.me.hand.remove(held)
        self.me.mana -= held.card.cost
        return held.card

    def summon(self, card_id: int, card: Card, lane: int) -> Effect:
        def appear(creature_id: int, lane: int) -> None:
            printed = (card.attack, card.defense, card.abilities)
            charge = "C" in card.abilities
            self.me.board.append(Creature(creature_id, card, *printed, lane, can_attack=charge))

        appear(card_id, lane)
        appeared = 1
        if self.rules == "1.5" and card.area != 0:
            copy_lane = lane if card.area == 1 else 1 - lane
            if self.has_room(copy_lane):
                appear(card_id + 1, copy_lane)
                appeared = 2
        return times(appeared, card)

    def attack(self, attacker: Creature, target_id: int) -> Effect:
        attack = attacker.attack
        attacker.can_attack = False
        attacker.has_attacked = True
        attacker.effects_forgotten = True
        if target_id == -1:
            return Effect(mine=attack if attacker.has("D") else 0, opponents=-attack)

        defender = find(self.opponent.board, target_id)
        defender.effects_forgotten = True
        given = 0 if defender.has("W") else attack
        taken = 0 if attacker.has("W") else defender.attack
        defender_dies = given >= defender.defense
        excess = given - defender.defense if attacker.has("B") and defender_dies else 0
        defender_dies = defender_dies or (attacker.has("L") and given > 0)
        attacker_dies = taken >= attacker.defense or (defender.has("L") and taken > 0)
        drained = attack if attacker.has("D") and given > 0 else 0

        if attack > 0:
            defender.abilities = without_abilities(defender.abilities, "W")
        if defender.attack > 0:
            attacker.abilities = without_abilities(attacker.abilities, "W")
        defender.defense -= given
        attacker.defense -= taken
        if defender_dies:
            self.opponent.board.remove(defender)
        if attacker_dies:
            self.me.board.remove(attacker)
        return Effect(mine=drained, opponents=-excess)

    def use(self, item: Card, target_id: int) -> Effect:
        if target_id == -1:
            return Effect(
                item.my_health_change,
                item.defense + item.opponent_health_change,
                item.card_draw,
            )
        board = (self.me if item.type == CardType.GREEN else self.opponent).board
        target = find(board, target_id)
        if self.rules == "1.5" and item.area == 2:
            reached = list(board)
        elif self.rules == "1.5" and item.area == 1:
            reached = [c for c in board if c.lane == target.lane]
        else:
            reached = [target]
        for creature in reached:
            self.use_on(item, creature, board)
        return times(len(reached), item)

    def use_on(self, item: Card, creature: Creature, board: list[Creature]) -> None:
        green = item.type == CardType.GREEN
        change = with_abilities if green else without_abilities
        abilities = change(creature.abilities, item.abilities)
        defense = creature.defense
        if "W" in abilities and item.defense < 0:
            abilities = without_abilities(abilities, "W")
        else:
            defense += item.defense

        if defense <= 0:
            if self.rules == "1.5" or not green:
                board.remove(creature)
            return  # 1.0 and 1.2: a green item that would kill changes nothing
        creature.abilities = abilities
        creature.attack = max(0, creature.attack + item.attack)
        creature.defense = defense
        creature.effects_forgotten = True
        if green and "C" in item.abilities:
            creature.can_attack = not creature.has_attacked

    # -- section 8: a whole answer --

    def run_line(
        self, line: str, after_action: Callable[[], None] = lambda: None
    ) -> tuple[list[str], list[str]]:
        """Execute the legal actions of a line; return the executed and the dropped ones.

        `after_action` is called after each executed action. The turn does not change.
        """
        pending = parse_line(self.rules, line)
        executed: list[str] = []
        dropped: list[str] = []
        while True:
            legal = self.legal_actions()
            while pending and (pending[0] == "PASS" or pending[0] not in legal):
                dropped.append(pending.pop(0))
            if not pending or self.winner != -1:
                return executed, dropped
            self.execute(pending[0])
            executed.append(pending.pop(0))
            after_action()

    # -- section 9: protocol --

    def input_text(self) -> str:
        """Return what the active player is sent."""
        rows = [card_row(self.rules, held.card, held.id, 0, -1) for held in self.me.hand]
        rows += [self.creature_row(creature, 1) for creature in self.me.board]
        rows += [self.creature_row(creature, -1) for creature in self.opponent.board]
        return lines(
            self.player_line(self.me),
            self.player_line(self.opponent),
            f"{len(self.opponent.hand)} {len(self.opponent.performed)}",
            *self.opponent.performed,
            len(rows),
            *rows,
        )

    def player_line(self, player: Player) -> str:
        rune = "" if self.rules == "1.5" else f" {player.runes[-1] if player.runes else 0}"
        return f"{player.health} {player.max_mana} {len(player.deck)}{rune} {player.shown_draw}"

    def creature_row(self, creature: Creature, location: int) -> str:
        card = creature.card
        effects = [card.my_health_change, card.opponent_health_change, card.card_draw]
        if self.rules != "1.5" and creature.effects_forgotten:
            effects = [0, 0, 0]
        values = [creature.attack, creature.defense, creature.abilities, *effects]
        return row_text(self.rules, card, creature.id, location, values, creature.lane)

    # -- section 12: action numbers --

    @property
    def num_actions(self) -> int:
        return 155 if self.rules == "1.0" else 145

    def slots(self, board: list[Creature]) -> dict[int, int]:
        """Return slots by creature id: 3 * lane + place in the lane (1.0: place on the board)."""
        places = {}
        for creature in board:
            mates = [c.id for c in board if c.lane == creature.lane]
            places[creature.id] = 3 * creature.lane + mates.index(creature.id)
        return places

    def number_of(self, action: str) -> int:
        """Return the number of a legal action."""
        if action == "PASS":
            return 0
        word, *arguments = action.split(" ")
        numbers = [int(argument) for argument in arguments]
        mine, enemy = self.slots(self.me.board), self.slots(self.opponent.board)
        hand = [held.id for held in self.me.hand]
        one_lane = self.rules == "1.0"
        if word == "SUMMON":
            h = hand.index(numbers[0])
            return 1 + h if one_lane else 1 + 2 * h + numbers[1]
        if word == "USE":
            h = hand.index(numbers[0])
            targets = {-1: 0} | {c: 1 + s for c, s in mine.items()}
            targets |= {c: 7 + s for c, s in enemy.items()}
            return (9 if one_lane else 17) + 13 * h + targets[numbers[1]]
        slot = mine[numbers[0]]
        if one_lane:
            return 113 + 7 * slot + ({-1: 0} | {c: 1 + s for c, s in enemy.items()})[numbers[1]]
        return 121 + 4 * slot + ({-1: 0} | {c: 1 + s % 3 for c, s in enemy.items()})[numbers[1]]

    def text_of(self, number: int) -> str:
        """Return the action with a number in this position; `IllegalAction` if there is none."""
        hand = [held.id for held in self.me.hand]
        mine = {slot: c for c, slot in self.slots(self.me.board).items()}
        enemy = {slot: c for c, slot in self.slots(self.opponent.board).items()}
        one_lane = self.rules == "1.0"
        first_use, first_attack = (9, 113) if one_lane else (17, 121)
        try:
            if number == 0:
                return "PASS"
            if 1 <= number < first_use and one_lane:
                return f"SUMMON {hand[number - 1]}"
            if 1 <= number < first_use:
                return f"SUMMON {hand[(number - 1) // 2]} {(number - 1) % 2}"
            if first_use <= number < first_attack:
                h, t = divmod(number - first_use, 13)
                target = -1 if t == 0 else mine[t - 1] if t < 7 else enemy[t - 7]
                return f"USE {hand[h]} {target}"
            if first_attack <= number < self.num_actions:
                slot, t = divmod(number - first_attack, 7 if one_lane else 4)
                lane_start = 0 if one_lane else slot // 3 * 3
                target = -1 if t == 0 else enemy[lane_start + t - 1]
                return f"ATTACK {mine[slot]} {target}"
        except (IndexError, KeyError):
            pass
        raise IllegalAction(f"{number} means nothing here")

    def legal_numbers(self) -> list[int]:
        """Return the numbers of all legal actions, ascending; none once the game is won."""
        if self.winner != -1:
            return []
        return sorted(self.number_of(action) for action in self.legal_actions())

    def apply_number(self, number: int) -> None:
        """Execute an action given by its number; 0 ends the turn."""
        if self.winner != -1:
            raise GameOver(number)
        if number not in self.legal_numbers():
            raise IllegalAction(number)
        if number == 0:
            self.change_turn()
        else:
            self.execute(self.text_of(number))

    def perft(self, depth: int) -> int:
        """Return the number of sequences of `depth` legal actions; 0 if the game is already won."""
        if depth == 0:
            return 1
        numbers = self.legal_numbers()
        if depth == 1:
            return len(numbers)
        total = 0
        for number in numbers:
            child = self.copy()
            child.apply_number(number)
            total += child.perft(depth - 1)
        return total

    # -- section 13: snapshots --

    def snapshot(self) -> Snapshot:
        return {
            "turn": self.turn,
            "cur": self.active,
            "winner": self.winner,
            "p": [self.player_snapshot(player) for player in self.players],
        }

    def player_snapshot(self, player: Player) -> dict[str, Any]:
        return {
            "hp": player.health,
            "maxMana": player.max_mana,
            "mana": player.mana,
            "bonus": player.bonus,
            "draw": player.next_draw,
            "shown": player.shown_draw,
            **({"lost": player.lost} if self.rules == "1.5" else {"runes": list(player.runes)}),
            "hand": [held.id for held in player.hand],
            "deck": len(player.deck),
            "board": [
                [
                    c.id,
                    c.card.base_id,
                    c.attack,
                    c.defense,
                    c.abilities,
                    c.lane,
                    int(c.can_attack),
                    int(c.has_attacked),
                ]
                for c in player.board
            ],
        }

    @classmethod
    def from_snapshot(
        cls,
        rules: str,
        snapshot: Snapshot,
        cards: Mapping[int, Card],
        decks: Sequence[Sequence[tuple[int, int]]],
    ) -> "Battle":
        """Return the position of a snapshot; `decks` name the cards in hand and in the deck.

        They contain [instance id, base id] in draw order; the last ones have not been drawn.
        """
        players = []
        for shown, entries in zip(snapshot["p"], decks, strict=True):
            known = {card_id: InHand(card_id, cards[base_id]) for card_id, base_id in entries}
            left = entries[len(entries) - shown["deck"] :]
            player = Player(
                deck=[known[card_id] for card_id, _ in left],
                health=shown["hp"],
                max_mana=shown["maxMana"],
                mana=shown["mana"],
                bonus=shown["bonus"],
                next_draw=shown["draw"],
                shown_draw=shown["shown"],
                hand=[known[card_id] for card_id in shown["hand"]],
            )
            if rules == "1.5":
                player.lost = shown["lost"]
            else:
                player.runes = list(shown["runes"])
            for card_id, base_id, *values in shown["board"]:
                attack, defense, abilities, lane, ready, spent = values
                place = (abilities, lane, ready == 1, spent == 1)
                player.board.append(Creature(card_id, cards[base_id], attack, defense, *place))
            players.append(player)
        battle = cls(rules, players, snapshot["turn"], snapshot["cur"])
        battle.winner = snapshot["winner"]
        return battle


def find(things: list[Any], wanted_id: int) -> Any:
    """Return the card or creature with an id."""
    return next(thing for thing in things if thing.id == wanted_id)


def times(count: int, card: Card) -> Effect:
    """Return the effects of a card on the players, `count` times."""
    return Effect(
        count * card.my_health_change,
        count * card.opponent_health_change,
        count * card.card_draw,
    )


# ---- section 9: text -----------------------------------------------------------------------------


def lines(*content: object) -> str:
    return "".join(f"{line}\n" for line in content)


def card_row(rules: str, card: Card, card_id: int, location: int, lane: int) -> str:
    """Return the row of a card as text."""
    effects = [card.my_health_change, card.opponent_health_change, card.card_draw]
    values = [card.attack, card.defense, card.abilities, *effects]
    return row_text(rules, card, card_id, location, values, lane)


def row_text(
    rules: str, card: Card, card_id: int, location: int, values: Sequence[object], lane: int
) -> str:
    """Return a row of the card list, which ends in a blank."""
    columns = [card.base_id, card_id, location, int(card.type), card.cost, *values]
    if rules == "1.5":
        columns.append(int(card.area))
    if lanes_of(rules) == 2:
        columns.append(lane)
    return " ".join(map(str, columns)) + " "


# ---- section 10: time limits ---------------------------------------------------------------------


def choice_limit(rules: str, step: int) -> int:
    """Return the limit in ms of a call in the choice phase; calls are counted from 0."""
    if rules == "1.5":
        return 4000
    return 1000 if step == 0 else 100


def battle_limit(rules: str, turn: int) -> int:
    """Return the limit in ms of a turn; the turns of both players are counted together, from 0."""
    if turn < 2:
        return 1000
    return 100 if rules == "1.0" else 200
