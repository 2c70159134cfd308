"""Hidden information: full states that are consistent with what one player saw.

A player does not see the order of his deck, and nothing of the opponent's hand and deck. `Belief`
collects what the texts of a game tell him and draws full states from it (determinizations); it
depends on what he was shown and on the seed only. What a text does not print but what follows from
it, such as the second player's bonus mana, is inferred (docs/rules.md, sections 4, 5 and 9).

    >>> from locmsim.game.match import Match
    >>> match = Match(seed=3)
    >>> belief = Belief()
    >>> belief.see(match.observation(0))
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")  # both take the first 15 cards twice
    >>> belief.chose(match.chosen[0])
    >>> belief.see(match.observation(0))
    >>> state = belief.sample(seed=1)
    >>> state.observation(0) == match.observation(0)
    True
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from locmsim._core import Determinizer, State
from locmsim.decks.building import CardScore, build_deck, card_score
from locmsim.game.observation import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    Observation,
    PlayerLine,
)
from locmsim.rules.cards import Card, CardType, cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import (
    COPIES_PER_CARD,
    DECK_SIZE,
    DEFAULT_RUNES,
    MAX_MANA,
    RULES,
    RuleSet,
)

__all__ = ["Belief", "attractions"]

#: A card is exp(score / temperature) times as likely to be chosen as one of score 0, by the scores
#: of the default heuristics. That of 1.5 makes the recorded decks of the contest's winner
#: likeliest, drawn card by card as a `Determinizer` draws: the mean log-likelihood of a card is
#: -3.9, at 0.04 and at 0.1 lower, with all 120 alike -4.8.
_TEMPERATURES = {"1.5": 0.06, "1.2": 1.3, "1.0": 1.3}
#: What the cards of our own deck (1.5) are more likely than that, the best card by score being 1:
#: others may find the same deck. The same decks have -3.7 with it, -3.8 with 0.1, -3.7 with 1.
_OWN_DECK = 0.4

#: Ids at this distance belong to different players (1.5: 30 cards each, every second id).
_IDS_PER_PLAYER = 2 * DECK_SIZE

#: `copies` cards out of the alternatives, each with its weight: see `Determinizer`.
_Group = tuple[int, list[tuple[Card, float]]]


class Belief:
    """What one player knows about a game.

    Show it every observation of the game once, in order, and tell it what the player chose. It can
    also start in the middle of a game; then it assumes what it was not shown. `scores` are the
    card scores, by rule set, by which opponents are taken to choose (default: those of our own
    heuristics).
    """

    def __init__(self, scores: Mapping[str, CardScore] | None = None) -> None:
        self._scores = scores
        self._rules = RULES["1.5"]
        self._offers: list[tuple[Card, ...]] = []
        self._chosen: Counter[int] = Counter()
        self._cards: dict[int, Card] = {}  # by base id, all that may be in the game
        self._seen: tuple[dict[int, int], dict[int, int]] = ({}, {})  # own, theirs: id -> base id
        self._seat: int | None = None
        self._turn = -1  # number of own turns before the present one
        self._observation: Observation | None = None
        self._determinizer: Determinizer | None = None
        self._wanted: dict[int, float] | None = (
            None  # the pool's attractions by base id, or not yet
        )

    # ----------------------------------------------------------------------------- what is known

    @property
    def observation(self) -> Observation:
        """What was seen last; ``ValueError`` before that."""
        if self._observation is None:
            raise ValueError("nothing was observed yet")
        return self._observation

    @property
    def seat(self) -> int | None:
        """Which player is looking, 0 or 1; None as long as nothing tells."""
        return self._seat

    @property
    def opponent_cards(self) -> list[int]:
        """Base ids of the cards of the opponent that have been seen."""
        return list(self._seen[1].values())

    def chose(self, base_ids: Iterable[int]) -> None:
        """Cards that the player took, in addition to those of earlier calls."""
        self._chosen.update(base_ids)

    def see(self, observation: Observation) -> None:
        """Take in what the player is shown when he is asked: once for each time he is asked."""
        self._rules = RULES[observation.rules]
        self._observation = observation
        self._determinizer = None
        if observation.phase == "choice":
            self._see_offer(observation)
        else:
            self._see_battle(observation)

    def _see_offer(self, observation: Observation) -> None:
        offer = observation.offer
        self._offers.append(offer)
        self._wanted = None
        self._cards.update((card.base_id, card) for card in offer)
        if self._rules.draft:  # the second player is shown the opponent as a turn ahead
            self._seat = observation.opponent.deck_size - observation.me.deck_size

    def _see_battle(self, observation: Observation) -> None:
        for row in observation.cards:
            self._learn(row)
            self._note(0 if row.location != ENEMY_BOARD else 1, row.instance_id, row.base_id)
        for base_id, text in observation.opponent_actions:
            self._note(1, int(text.split(" ")[1]), base_id)
        if self._seat is None:
            self._seat = self._find_seat(observation)
        self._turn = self._own_turns(observation.me, observation.opponent)

    def _learn(self, row: CardInPlay) -> None:
        """Remember a card that no offer showed, as well as a row shows it."""
        if row.base_id in self._cards and row.location != HAND:
            return
        values = [*row[4:6], row.defense, *row[7:12]]
        if row.location != HAND:  # present values: good enough, but they may be out of bounds
            values[1:3] = [max(-500, min(500, value)) for value in (row.attack, row.defense)]
        card = Card(row.base_id, CardType(row.type), *values)  # type: ignore[arg-type]
        if self._cards.get(row.base_id) != card:
            self._cards[row.base_id] = card
            self._wanted = None

    def _note(self, whose: int, instance_id: int, base_id: int) -> None:
        # An area copy has the id of its original plus one, and originals have even ids (1.5).
        if self._rules.areas:
            instance_id &= ~1
        self._seen[whose][instance_id] = base_id

    def _find_seat(self, observation: Observation) -> int:
        """Instance ids tell the players apart (docs/rules.md, section 1)."""
        for who, seen in enumerate(self._seen):
            for instance_id in seen:
                if self._rules.draft:
                    return (instance_id + 1 + who) % 2
                return (instance_id // _IDS_PER_PLAYER + who) % 2
        # Without any card: the second player has as much mana as the first, mostly; on his own turn
        # the first is one ahead.
        return int(observation.me.max_mana == observation.opponent.max_mana)

    def _own_turns(self, me: PlayerLine, opponent: PlayerLine) -> int:
        """Turns that he had before this one: player 0's mana counts them, up to its limit."""
        first = me if self._seat == 0 else opponent
        if first.max_mana < MAX_MANA:
            return first.max_mana - 1
        least = MAX_MANA - 1
        if self._seat == 0 and opponent.max_mana > MAX_MANA:
            least += 1
        return max(least, self._turn + 1)

    def root(self) -> State:
        """The position that was seen last, with any cards in the hidden places.

        Enough for all that looks at one's own turn only. What the opponent may hold is not thought
        about, which takes longer than all else here.

        Returns
        -------
        State
            The mover is the player, at the start of their turn.

        Raises
        ------
        ValueError
            No battle was observed.
        """
        if self.observation.phase == "choice":
            raise ValueError("there is no position before the battle")
        return self._visible_state(self._pool(), self._seat or 0)

    # -------------------------------------------------------------------------------- sampling

    def sample(self, seed: int) -> State:
        """A full state, the mover being the player at the start of his turn.

        What he sees in it is what he saw last, his own deck is shuffled, the opponent's hand and
        deck are filled with cards that he may have: in 1.5 from the offer, at most two of each, in
        1.x one from each draft turn, cards by which he was recognised excepted, and attractive
        cards more often. Hidden cards have no instance ids of their own. The same seed gives the
        same state. ``ValueError`` unless a battle was observed.
        """
        return self.determinizer().sample(seed)

    def determinizer(self) -> Determinizer:
        """What `sample` draws from, for the position that was seen last."""
        if self._determinizer is None:
            self._determinizer = self._make_determinizer()
        return self._determinizer

    def _make_determinizer(self) -> Determinizer:
        observation = self.observation
        if observation.phase == "choice":
            raise ValueError("there is nothing to sample before the battle")
        me, opponent = observation.me, observation.opponent
        pool = self._pool()
        mine = self._own_groups(pool, me.deck_size)
        theirs = self._their_groups(pool, observation.opponent_hand + opponent.deck_size)
        seat = self._seat or 0
        groups = [mine, theirs] if seat == 0 else [theirs, mine]
        return Determinizer(self._visible_state(pool, seat), seat, groups)

    def _pool(self) -> dict[int, Card]:
        """All cards that may be in the game, by base id."""
        if self._rules.draft:
            complete = len(self._offers) == DECK_SIZE
            return self._cards if complete else {card.base_id: card for card in cards_1x()}
        if self._offers:
            return self._cards
        # Nothing is known about the set but what was seen; the rest may be like any other set.
        return {card.base_id: card for card in generate_cards(0)} | self._cards

    def _own_groups(self, pool: Mapping[int, Card], places: int) -> list[_Group]:
        left = self._chosen - Counter(self._seen[0].values())
        if left.total() == places and self._chosen.total() == DECK_SIZE:
            return [(copies, [(pool[base_id], 1.0)]) for base_id, copies in left.items()]
        return self._likely_groups(pool, self._seen[0], places)

    def _their_groups(self, pool: Mapping[int, Card], places: int) -> list[_Group]:
        if self._rules.draft and len(self._offers) == DECK_SIZE:
            shown = list(self._seen[1].values())
            turns = _open_triplets(self._offers, shown)
            if len(turns) >= places:
                return [(1, self._weighted(self._offers[turn])) for turn in turns]
        return self._likely_groups(pool, self._seen[1], places)

    def _likely_groups(
        self, pool: Mapping[int, Card], seen: Mapping[int, int], places: int
    ) -> list[_Group]:
        """Two of each card less those seen; more if that is too little for the hidden places."""
        counts = Counter(seen.values())
        copies = {
            base_id: left for base_id in pool if (left := COPIES_PER_CARD - counts[base_id]) > 0
        }
        missing = places - sum(copies.values())
        if missing > 0:
            more = -(-missing // len(pool))
            copies = {base_id: copies.get(base_id, 0) + more for base_id in pool}
        if self._wanted is None:
            weighted = self._weighted([*pool.values()])
            self._wanted = {card.base_id: weight for card, weight in weighted}
        return [(n, [(pool[base_id], self._wanted[base_id])]) for base_id, n in copies.items()]

    def _weighted(self, cards: Sequence[Card]) -> list[tuple[Card, float]]:
        rules = self._rules.name
        return attractions(cards, rules, None if self._scores is None else self._scores[rules])

    # --------------------------------------------------------------------------- visible things

    def _visible_state(self, pool: Mapping[int, Card], seat: int) -> State:
        """The state with any cards in the hidden places."""
        observation, rules = self.observation, self._rules
        me, opponent = observation.me, observation.opponent
        any_card = next(iter(pool))
        used = {row.instance_id for row in observation.cards}
        free = (number for number in range(254, -1, -1) if number not in used)
        hidden = [[next(free), any_card] for _ in range(me.deck_size)]
        others = [
            [next(free), any_card] for _ in range(observation.opponent_hand + opponent.deck_size)
        ]
        hand = [[row.instance_id, row.base_id] for row in observation.at(HAND)]
        # With the bonus the second player's mana is a turn ahead, up to its limit.
        most = MAX_MANA + 1
        players = [
            {
                "hp": me.health,
                "maxMana": me.max_mana,
                "mana": me.max_mana,
                "bonus": int(seat == 1 and me.max_mana == min(most, self._turn + 2)),
                "draw": 1,
                "shown": me.draw,
                "lost": 0,
                "runes": _runes(me.rune),
                "hand": [number for number, _ in hand],
                "deck": me.deck_size,
                "board": _board(observation.at(MY_BOARD), pool, rules, ready=True),
            },
            {
                "hp": opponent.health,
                "maxMana": opponent.max_mana,
                "mana": self._mana_left(pool),
                "bonus": int(seat == 0 and opponent.max_mana == min(most, self._turn + 1)),
                "draw": opponent.draw,
                "shown": opponent.draw,
                "lost": min(self._health_lost(pool), 5 * opponent.draw + 4),
                "runes": _runes(opponent.rune),
                "hand": [number for number, _ in others[: observation.opponent_hand]],
                "deck": opponent.deck_size,
                "board": _board(observation.at(ENEMY_BOARD), pool, rules, ready=False),
            },
        ]
        decks = [hand + hidden, others]
        if seat == 1:
            players.reverse()
            decks.reverse()
        snapshot = {
            "turn": 2 * self._turn + seat,
            "cur": seat,
            # A player who dies when he draws is still asked.
            "winner": 1 - seat if me.health <= 0 else seat if opponent.health <= 0 else -1,
            "p": players,
        }
        return State.from_snapshot(snapshot, pool, decks, rules.name)

    def _mana_left(self, pool: Mapping[int, Card]) -> int:
        """What the opponent kept of his mana; he loses the bonus after a turn that ends with 0."""
        spent = sum(
            pool[base_id].cost
            for base_id, text in self.observation.opponent_actions
            if not text.startswith("ATTACK") and base_id in pool
        )
        return max(0, self.observation.opponent.max_mana - spent)

    def _health_lost(self, pool: Mapping[int, Card]) -> int:
        """1.5: what the opponent's own cards cost him; it counts towards his next draw.

        Each card is taken to have had its effect once. No generated card harms its player.
        """
        if self._rules.runes:
            return 0
        return sum(
            max(0, -pool[base_id].my_health_change)
            for base_id, text in self.observation.opponent_actions
            if not text.startswith("ATTACK") and base_id in pool
        )


def attractions(
    cards: Iterable[Card], rules: str, score: CardScore | None = None
) -> list[tuple[Card, float]]:
    """The different ones of `cards`, each with the weight, up to 1, of being chosen by anyone.

    `score` tells how attractive a card is. By default that is the one of our own heuristics, and
    the cards of the deck that we should choose count for more (1.5).
    """
    rate = score or card_score(rules)
    scores = {card: rate(card) for card in cards}
    best = max(scores.values())
    heat = _TEMPERATURES[rules]
    deck: Counter[int] = Counter()
    if score is None and not RULES[rules].draft and len(scores) * COPIES_PER_CARD >= DECK_SIZE:
        deck.update(build_deck([*scores]))
    more = _OWN_DECK / COPIES_PER_CARD
    # Anything may be chosen: weights stay above 0, whatever the unit of the score.
    weights = {
        card: math.exp(max(-50.0, (value - best) / heat)) + more * deck[card.base_id]
        for card, value in scores.items()
    }
    most = max(weights.values())
    return [(card, weight / most) for card, weight in weights.items()]


def _runes(highest: int) -> list[int]:
    """The runes left, the highest being known: they go from the top (docs/rules.md, section 5)."""
    return [rune for rune in DEFAULT_RUNES if rune <= highest]


def _board(
    rows: Iterable[CardInPlay], pool: Mapping[int, Card], rules: RuleSet, ready: bool
) -> list[list[object]]:
    """Board rows of a snapshot; at a turn's start its player's creatures are ready, no others."""
    board: list[list[object]] = []
    for row in rows:
        creature = [row.instance_id, row.base_id, row.attack, row.defense, row.abilities, row.lane]
        values: list[object] = [*creature, int(ready), 0]
        if rules.forgets_effects:
            card = pool[row.base_id]
            printed = card.my_health_change, card.opponent_health_change, card.card_draw
            shown = row.my_health_change, row.opponent_health_change, row.card_draw
            values.append(int(shown != printed))
        board.append(values)
    return board


def _open_triplets(offers: Sequence[Sequence[Card]], shown: Sequence[int]) -> list[int]:
    """The draft turns that none of the `shown` cards need have come from.

    Each shown card is matched to a turn that offered it, as many as can be (augmenting paths).
    """
    owner: dict[int, int] = {}  # draft turn -> index of the shown card

    def place(i: int, tried: set[int]) -> bool:
        for turn, triplet in enumerate(offers):
            if turn not in tried and any(card.base_id == shown[i] for card in triplet):
                tried.add(turn)
                if turn not in owner or place(owner[turn], tried):
                    owner[turn] = i
                    return True
        return False

    for i in range(len(shown)):
        place(i, set())
    return [turn for turn in range(len(offers)) if turn not in owner]
