"""Vestrock in slow, plain Python, to be read as a specification and used as a reference.

It was written from docs/vestrock/rules.md, whose sections the comments name, and shares only the
cards with the compiled kernel. Cards are their IDs, zones are sets and dicts, and each command is
checked from scratch.
"""

from dataclasses import dataclass, field

NAMES = {
    900: "NoCardWithSuchId",
    901: "NotEnoughMana",
    903: "NotYourCard",
    905: "InactiveCard",
    906: "CardNotInHand",
    907: "DrawLimitExceeded",
    908: "BurnLimitExceeded",
    910: "NoSuchAttacker",
    911: "BlockingAlreadyFinished",
    912: "CardNotOnBoard",
    913: "NotYourTurn",
    915: "WrongTarget",
    916: "SpellTargetNotOnBoard",
    918: "DeckIsEmpty",
    919: "HandLimitExceeded",
    932: "GameHasEnded",
    933: "GameHasNotEndedYet",
}
ACTIONS = ("DRAW_CARD", "BURN_CARD", "DISCARD_CARD", "ADD_MANA", "PLAY_CARD", "ATTACK")


class Refused(Exception):
    """A command is refused; the argument is the number of the error."""


@dataclass
class Fighter:
    attack: int
    health: int
    most: int
    active: bool = False


@dataclass
class Reference:
    cards: dict  # ID -> card
    deck: list  # IDs, top first
    init_hp: int = 20
    turns: int = 60
    draws: int = 2
    burns: int = 2
    hand_limit: int = 10
    turn: int = 1
    blocking: bool = True
    over: bool = False
    mana: int = 0
    health: list = field(default_factory=list)
    hands: list = field(default_factory=lambda: [set(), set()])
    boards: list = field(default_factory=lambda: [{}, {}])
    attacking: set = field(default_factory=set)
    blocked: set = field(default_factory=set)

    @classmethod
    def new(cls, deck, **parameters):
        """Return the start of a match (sections 1 and 3)."""
        reference = cls({card.id: card for card in deck}, [card.id for card in deck], **parameters)
        reference.health = [reference.init_hp, reference.init_hp]
        reference.draws_left, reference.burns_left = reference.draws, reference.burns
        return reference

    @property
    def me(self):
        """The mover, which is player 0 in odd turns."""
        return 1 - self.turn % 2

    # -- phases (sections 3 and 4)

    def finish_block(self):
        me = self.me
        enemies = self.boards[1 - me]
        damage = sum(enemies[a].attack for a in self.attacking - self.blocked)
        self.health[me] = max(0, self.health[me] - damage)
        self.attacking, self.blocked = set(), set()
        for fighter in self.boards[me].values():
            fighter.active = True
        self.blocking = False
        self.over = self.health[me] == 0

    def end_turn(self):
        if self.blocking:
            self.finish_block()
        if self.over or self.turn == self.turns:
            self.over = True
            return
        self.turn += 1
        self.mana = 0
        self.draws_left, self.burns_left = self.draws, self.burns
        self.blocking = True

    def bury(self):
        """Remove creatures without health from the board."""
        for board in self.boards:
            for number in [n for n, fighter in board.items() if fighter.health <= 0]:
                del board[number]
                self.attacking.discard(number)
                self.blocked.discard(number)

    # -- the end (section 5)

    def scores(self):
        def score(mine, theirs):
            alpha = 3 if theirs == 0 else 0 if mine == 0 else 1.5
            return mine - theirs + alpha * self.init_hp

        a, b = self.health
        return [int(score(a, b)), int(score(b, a))]

    # -- commands (section 6)

    def command(self, player, word, *numbers):
        """Return the reply to a command; the numbers are the arguments after the match id."""
        try:
            return ["OK", *self.answer(player, word, *numbers)]
        except Refused as refused:
            return [f"ERR {refused.args[0]} {NAMES[refused.args[0]]}"]

    def answer(self, player, word, *numbers):
        if word == "GET_FINAL_SCORE":
            if not self.over:
                raise Refused(933)
            return ["{} {}".format(*self.scores()[:: 1 - 2 * player])]
        if self.over:
            raise Refused(932)
        if word == "GET_TURN_INFO":
            return [f"{int(player == self.me)} {self.turns - self.turn + 1}"]
        if player != self.me:
            raise Refused(913)
        if word.startswith("GET_"):
            return getattr(self, word.lower())()
        if word in ("BLOCK", "FINISH_BLOCK"):
            if not self.blocking:
                raise Refused(911)
        else:
            self.check(word, *numbers)
            if self.blocking:
                self.finish_block()
                if self.over:
                    raise Refused(932)
        return getattr(self, word.lower())(*numbers) or []

    def check(self, word, number=None, target=None):
        """Refuse an action that is impossible, checked as if the blocking phase were over."""
        me = self.me
        if word in ("DRAW_CARD", "BURN_CARD"):
            if not self.deck:
                raise Refused(918)
            if word == "BURN_CARD":
                if self.burns_left == 0:
                    raise Refused(908)
                return
            if self.draws_left == 0:
                raise Refused(907)
            if len(self.hands[me]) >= self.hand_limit:
                raise Refused(919)
            return
        if number not in self.cards:
            raise Refused(900)
        theirs = number in self.hands[1 - me] or number in self.boards[1 - me]
        if word in ("ADD_MANA", "ATTACK"):
            if number not in self.boards[me]:
                raise Refused(903 if theirs else 912)
            if not (self.blocking or self.boards[me][number].active):
                raise Refused(905)
            return
        if number not in self.hands[me]:
            raise Refused(903 if theirs else 906)
        if word == "PLAY_CARD":
            self.check_target(self.cards[number], target)

    def check_target(self, card, target):
        if card.cost > self.mana:
            raise Refused(901)
        on_board = target in self.boards[0] or target in self.boards[1]
        if card.type in "CT":
            if target != {"C": -1, "T": -5}[card.type]:
                raise Refused(915)
        elif target <= 0:
            if card.type in "BI" or target not in (-5, -6):
                raise Refused(915)
        elif target not in self.cards:
            raise Refused(900)
        elif not on_board:
            raise Refused(916)

    def block(self, attacker, blocker):
        me = self.me
        for number, place in ((attacker, 0), (blocker, 1)):
            if number not in self.cards:
                raise Refused(900)
            if place == 0 and number not in self.attacking:
                raise Refused(910)
            if place == 1 and number not in self.boards[me]:
                theirs = number in self.hands[1 - me] or number in self.boards[1 - me]
                raise Refused(903 if theirs else 912)
        a, b = self.boards[1 - me][attacker], self.boards[me][blocker]
        if not b.active:
            raise Refused(905)
        a.health, b.health = a.health - b.attack, b.health - a.attack
        b.active = False
        self.blocked.add(attacker)
        self.bury()

    def draw_card(self):
        number = self.deck.pop(0)
        self.hands[self.me].add(number)
        self.draws_left -= 1
        return [str(self.cards[number])]

    def burn_card(self):
        self.deck.pop(0)
        self.burns_left -= 1

    def discard_card(self, number):
        self.hands[self.me].remove(number)

    def add_mana(self, number):
        self.boards[self.me][number].active = False
        self.mana += self.cards[number].mana

    def attack(self, number):
        self.boards[self.me][number].active = False
        self.attacking.add(number)

    def play_card(self, number, target):
        me = self.me
        card = self.cards[number]
        self.hands[me].remove(number)
        self.mana -= card.cost
        if card.type == "C":
            self.boards[me][number] = Fighter(card.attack, card.health, card.max_health)
            return
        if card.type == "T":
            self.draws_left += card.attack
            return
        if target < 0:
            player = me if target == -5 else 1 - me
            change = card.health if card.type == "H" else -card.attack
            self.health[player] = min(max(self.health[player] + change, 0), self.init_hp)
            self.over = 0 in self.health
            return
        fighter = self.boards[0].get(target) or self.boards[1][target]
        if card.type == "H":
            fighter.health = min(fighter.health + card.health, fighter.most)
        elif card.type == "D":
            fighter.health -= card.attack
            self.bury()
        elif card.type == "B":
            fighter.attack += card.attack
            fighter.health += card.health
            fighter.most += card.health
        else:
            fighter.active = False

    # -- questions

    def get_hp(self):
        return [f"{self.init_hp} {self.health[self.me]} {self.health[1 - self.me]}"]

    def get_card_limits(self):
        return [f"{self.draws_left} {self.burns_left} {self.hand_limit}"]

    def get_current_mana(self):
        return [str(self.mana)]

    def get_deck(self):
        return [str(len(self.deck)), *(str(self.cards[number]) for number in self.deck)]

    def get_hands(self):
        lines = []
        for player in (self.me, 1 - self.me):
            lines += [str(self.cards[number]) for number in sorted(self.hands[player])]
        return [f"{len(self.hands[self.me])} {len(self.hands[1 - self.me])}", *lines]

    def now(self, player, number):
        """Return a creature with its current values as the line of a card."""
        card, fighter = self.cards[number], self.boards[player][number]
        values = (number, "C", fighter.attack, fighter.health, fighter.most, card.cost, card.mana)
        return " ".join(map(str, values))

    def get_board(self):
        boards = [(p, n) for p in (self.me, 1 - self.me) for n in sorted(self.boards[p])]
        lines = [f"{self.now(p, n)} {int(self.boards[p][n].active)}" for p, n in boards]
        return [f"{len(self.boards[self.me])} {len(self.boards[1 - self.me])}", *lines]

    def get_attackers(self):
        owner = 1 - self.me if self.blocking else self.me
        return [
            str(len(self.attacking)),
            *(self.now(owner, number) for number in sorted(self.attacking)),
        ]

    # -- actions for searches (section 7)

    def legal_actions(self):
        """Return all legal actions as texts, in any order."""
        if self.over:
            return []
        me = self.me
        if self.blocking:
            blockers = [n for n, fighter in self.boards[me].items() if fighter.active]
            blocks = [f"BLOCK {a} {b}" for a in self.attacking for b in blockers]
            return ["END_TURN", "FINISH_BLOCK", *blocks]
        tries = [("DRAW_CARD",), ("BURN_CARD",)]
        for number in self.cards:
            tries += [(word, number) for word in ("DISCARD_CARD", "ADD_MANA", "ATTACK")]
            if number in self.hands[me]:
                tries += [("PLAY_CARD", number, target) for target in (-1, -5, -6, *self.cards)]
        return ["END_TURN", *(" ".join(map(str, t)) for t in tries if self.possible(*t))]

    def possible(self, word, *numbers):
        try:
            self.check(word, *numbers)
        except Refused:
            return False
        return True
