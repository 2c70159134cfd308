"""Sample hidden information: full states that are consistent with one player's observations.

Players see neither the order of their deck nor any card in the opponent's hand and deck. `Belief`
collects what the texts of a game tell one of them and samples full states from it
(determinizations), which depend only on the observations and the seed. Facts that a text implies
without printing them, such as the second player's bonus mana, are inferred (docs/rules.md, sections
4, 5 and 9).

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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from locmsim._core import Determinizer, State, Table
from locmsim.decks import DECK_BUILDERS, CardScore, DeckBuilder, build_deck, card_score
from locmsim.decks.draft_value import DraftValue, default_draft_value
from locmsim.game.observation import Observation, OpponentAction
from locmsim.options.checks import player_number
from locmsim.rules.cards import Card, cards_1x
from locmsim.rules.rulesets import (
    COPIES_PER_CARD,
    DECK_SIZE,
    RULES,
)
from locmsim.search._belief import CardPool, Knowledge, attractions_of

#: A card is exp(score / temperature) times as likely to be chosen as one of score 0, by the scores
#: of the default heuristics. That of 1.5 makes the recorded decks of the contest's winner
#: likeliest, drawn card by card as a `Determinizer` draws: the mean log-likelihood of a card is
#: -3.9, at 0.04 and at 0.1 lower, with all 120 alike -4.8.
TEMPERATURES = {"1.5": 0.06, "1.2": 1.3, "1.0": 1.3}
#: Added likelihood of the cards in our own deck (1.5), relative to the best card by score: others
#: may find the same deck. The same decks have -3.7 with it, -3.8 with 0.1, -3.7 with 1.
OWN_DECK = 0.4
#: The same for each copy in that deck.
OWN_COPY = OWN_DECK / COPIES_PER_CARD
#: The same as `TEMPERATURES` for the values of decks that drafts are expected to come to, log-odds.
DRAFT_TEMPERATURE = 0.05


class Belief:
    """Keeps what one player knows about a game, and samples full states from it.

    Show it every observation of the game once, in order, and tell it what the player chose. It can
    also start in the middle of a game; then it makes assumptions about what it was not shown. The
    opponent's possible cards are computed only when the first state is sampled.

    Parameters
    ----------
    scores : mapping of rule sets to card scores, optional
        The scores by which opponents are expected to choose; by default those of the package's
        heuristics.
    deck : deck builder, optional
        A deck builder that opponents may use too (1.5); by default the package's, or none if
        `scores` are given.
    drafts : mapping of rule sets to draft values, optional
        The values by which opponents are expected to draft (1.x); by default the package's, or the
        scores alone if `scores` are given.
    """

    def __init__(
        self,
        scores: Mapping[str, CardScore] | None = None,
        deck: DeckBuilder | None = None,
        drafts: Mapping[str, DraftValue] | None = None,
    ) -> None:
        if scores is not None and not scores:
            raise ValueError("scores: expected card scores for at least one rule set, got none")
        self._scores = scores
        self._deck = deck
        self._drafts = drafts
        self._rules = RULES["1.5"]
        self._offers: list[tuple[Card, ...]] = []
        self._offered: dict[int, Card] = {}  # their cards by base id
        self._state_pool: CardPool | None = None  # the pool of a state
        self._observation: Observation | None = None
        self._determinizer: Determinizer | None = None
        self._knowledge = Knowledge()

    @classmethod
    def of_state(
        cls, state: State, player: int, opponent_actions: Iterable[OpponentAction] = ()
    ) -> "Belief":
        """Return what a player knows who is shown a position, and nothing of the game before it.

        Whatever is public comes from the state itself: the seat, the turn, the mana of both players
        and the pool of the game. Hidden cards are forgotten.

        Parameters
        ----------
        state : State
            The position, at any point of a turn.
        player : int
            0 or 1.
        opponent_actions : iterable of OpponentAction
            The opponent's actions in the previous turn, which a state does not know.

        Raises
        ------
        ValueError
            `player` is not 0 or 1, or the state is a sampled world in which a card without an
            instance id is visible.
        """
        belief = cls()
        belief.see_state(state, player, opponent_actions)
        return belief

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the sampler, which is rebuilt when it is needed."""
        return {**self.__dict__, "_determinizer": None}

    def clone(self) -> "Belief":
        """Return an independent copy: neither `see` nor `chose` of one changes the other.

        Returns
        -------
        Belief
            It expects opponents to choose by the same scores, deck builder and draft values.
        """
        copy = type(self).__new__(type(self))
        vars(copy).update(vars(self))
        copy._offers = self._offers[:]
        copy._offered = dict(self._offered)
        copy._knowledge = self._knowledge.clone()
        return copy

    def __copy__(self) -> "Belief":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> "Belief":
        return self.clone()

    # ----------------------------------------------------------------------------- what is known

    @property
    def observation(self) -> Observation:
        """The last observation; ``ValueError`` if there is none yet."""
        if self._observation is None:
            raise ValueError("nothing was observed yet")
        return self._observation

    @property
    def seat(self) -> int | None:
        """The seat of the player, 0 or 1; None while it is unknown."""
        return self._knowledge.seat

    @property
    def opponent_cards(self) -> list[int]:
        """Base ids of the cards of the opponent that have been seen."""
        return self._knowledge.opponent_cards

    @property
    def played_cards(self) -> list[int]:
        """Base ids of the player's cards that the opponent has seen: those that left the hand."""
        return self._knowledge.played_cards

    @property
    def offers(self) -> Sequence[tuple[Card, ...]]:
        """The offers of the choice phase that were seen, in order."""
        return tuple(self._offers)

    def possible_cards(self) -> dict[int, Card]:
        """Return the cards that may be in the game by base id, as far as that is known."""
        return {card.base_id: card for card in self._pool().cards}

    def of_opponent(self) -> "Belief":
        """Return the opponent's belief before the battle, with what was shown to both.

        Returns
        -------
        Belief
            Tell it what they chose, and show it what they see.
        """
        other = Belief(self._scores, self._deck, self._drafts)
        other._rules = self._rules
        other._offers = self._offers[:]
        other._offered = dict(self._offered)
        other._state_pool = self._state_pool
        other._knowledge.seat = None if self.seat is None else 1 - self.seat
        return other

    def chose(self, base_ids: Iterable[int]) -> None:
        """Record cards that the player chose, in addition to those of earlier calls.

        Parameters
        ----------
        base_ids : iterable of int
            Their base ids.
        """
        for base_id in base_ids:
            self._knowledge.chose(base_id)
        self._determinizer = None

    def see(self, observation: Observation) -> None:
        """Add an observation; call this once for each time the player is asked.

        Parameters
        ----------
        observation : Observation

        Raises
        ------
        ValueError
            No game can show this observation.
        TypeError
            It is not an observation.
        """
        if not isinstance(observation, Observation):
            raise TypeError(f"expected an Observation, got {observation!r}")
        if observation.phase == "choice":
            self._see_offer(observation)
        else:
            news = self._knowledge.see(observation)
            self._rules = RULES[observation.rules]
            # Where all cards of the game are known, no row shows another one.
            if news and not self._knows_all():
                self._knowledge.use(None)
        self._observation = observation
        self._determinizer = None

    def see_state(
        self, state: State, player: int, opponent_actions: Iterable[OpponentAction] = ()
    ) -> None:
        """Add a position as one player sees it, for `see`; what is public comes from the state.

        A belief that has seen nothing else also takes the pool of the state.

        Parameters
        ----------
        state, player, opponent_actions
            As for `of_state`.

        Raises
        ------
        ValueError
            As for `of_state`.
        """
        observation = state.observation(player, opponent_actions)
        self._knowledge.see_state(state, player_number(player), observation)
        self._rules = RULES[observation.rules]
        if self._observation is None:
            self._state_pool = CardPool.of_state(state)
        self._observation = observation
        self._determinizer = None

    def check_seen(self, observation: Observation, of_state: bool = False) -> None:
        """Check that an observation is the last one that was seen.

        Parameters
        ----------
        observation : Observation
            The observation.
        of_state : bool
            Whether it comes from a state, which does not know the opponent's last actions.

        Raises
        ------
        ValueError
            The last observation was a different one.
        """
        seen = self._observation
        if of_state and seen is not None:
            seen = seen.replace(opponent_actions=())
        if seen is not observation and seen != observation:
            raise ValueError("belief: its last observation is not this one; add it with `see`")

    def _see_offer(self, observation: Observation) -> None:
        """Add an observation of the choice phase."""
        offer = observation.offer
        self._rules = RULES[observation.rules]
        self._offers.append(offer)
        self._knowledge.use(None)
        self._offered.update((card.base_id, card) for card in offer)
        if self._rules.draft:  # the second player sees the opponent one turn ahead
            self._knowledge.seat = observation.opponent.deck_size - observation.me.deck_size
        if self._knows_all():  # now, while there is time for it
            self._pool()

    # -------------------------------------------------------------------------------- sampling

    def sample(self, seed: int) -> State:
        """Sample a full state in which the player is to move, at the start of their turn.

        Everything visible is as in the last observation. The player's deck is shuffled. The
        opponent's hand and deck are filled with possible cards, attractive ones more often: in 1.5
        from the offer, at most two of each; in 1.x one from each draft turn except the turns that
        the cards already seen came from. Hidden cards have no instance ids of their own.

        Parameters
        ----------
        seed : int
            The same seed gives the same state.

        Raises
        ------
        ValueError
            No battle was observed, or the observation is impossible.
        """
        return self.determinizer().sample(seed)

    def root(self) -> State:
        """Return the position seen last, with arbitrary cards in the hidden places.

        This is enough for anything that only concerns the player's turn, and fast, since nothing is
        sampled. The numbers of hidden cards are right, and so is whatever follows from the game so
        far, such as the second player's bonus mana.

        Returns
        -------
        State
            The mover is the player, at the start of their turn.

        Raises
        ------
        ValueError
            As for `sample`.
        """
        return self.knowledge.root()

    @property
    def knowledge(self) -> Knowledge:
        """The compiled part of the belief, for compiled players; errors as for `root`.

        :meta private:
        """
        self._check_battle()
        self._pool()
        return self._knowledge

    def determinizer(self) -> Determinizer:
        """Return the sampler behind `sample`, for the last observation.

        Compiled searches deal its worlds into copies of a state of this belief, whose table has all
        cards of the worlds.
        """
        if self._determinizer is None:
            self._check_battle()
            self._weighted_pool()
            self._determinizer = self._knowledge.determinizer()
        return self._determinizer

    def prepare(self) -> None:
        """Compute in advance what opponents may hold, if all cards are known."""
        if self._knows_all():
            self._weighted_pool()

    def undrafted(self, base_ids: Iterable[int]) -> int | None:
        """Return the first card that the opponent cannot have drafted, with those seen.

        Parameters
        ----------
        base_ids : iterable of int
            Cards that the opponent may hold.

        Returns
        -------
        int or None
            Its base id; None if all can come from different offers, if not all offers were seen,
            and in 1.5.
        """
        self._weighted_pool()
        return self._knowledge.undrafted(base_ids)

    def _check_battle(self) -> None:
        """Raise an error if no battle was observed."""
        if self.observation.phase == "choice":
            raise ValueError("there is nothing to sample before the battle")

    def _pool(self) -> CardPool:
        """Return the cards that may be in the game, which the compiled part gets, too."""
        pool = self._knowledge.pool
        if pool is None:
            pool = self._state_pool
            if self._knows_offers() or pool is None:
                cards = [*self._possible().values()]
                pool = CardPool(Table(cards, self._rules.name), cards)
            self._knowledge.use(pool)
        return pool

    def _possible(self) -> dict[int, Card]:
        """Return all cards that may be in the game by base id, if no state tells them."""
        if self._knows_offers():
            return self._offered
        if self._rules.draft:
            return {card.base_id: card for card in cards_1x()}
        # Only the cards seen are known; the rest of the set may be like any other set.
        return _some_set() | {card.base_id: card for card in self._knowledge.seen_cards()}

    def _knows_offers(self) -> bool:
        """Return whether all cards that may be in the game were offered."""
        return self._is_complete() if self._rules.draft else bool(self._offers)

    def _knows_all(self) -> bool:
        """Return whether all cards that may be in the game are known."""
        return self._state_pool is not None or self._knows_offers()

    def _is_complete(self) -> bool:
        """Return whether all turns of a draft were seen."""
        return self._rules.draft and len(self._offers) == DECK_SIZE

    def _weighted_pool(self) -> None:
        """Give the compiled part a pool with the attractiveness of its cards."""
        pool, rules = self._pool(), self._rules.name
        if pool.weighted:
            return
        if self._scores is not None and rules not in self._scores:
            raise ValueError(f"scores: none for rules {rules}")
        usual = self._scores is None and self._deck is None and rules not in (self._drafts or {})
        if usual and pool is self._state_pool:
            self._knowledge.use(_usual_pool(pool, rules))
            return
        score, builder, value = prior(
            rules,
            None if self._scores is None else self._scores[rules],
            self._deck,
            (self._drafts or {}).get(rules),
        )
        # Without an offer the set is unknown, and so are the decks that others may find in it.
        known = pool is self._state_pool or bool(self._offers)
        offers = self._offers if self._is_complete() else []
        self._knowledge.use(_weighed(pool, rules, score, builder if known else None, value, offers))


@lru_cache(maxsize=32)
def _usual_pool(pool: CardPool, rules: str) -> CardPool:
    """Return the pool of a state with weights by the package's own scores."""
    score, builder, value = prior(rules)
    return _weighed(pool, rules, score, builder, value, [])


def _weighed(
    pool: CardPool,
    rules: str,
    score: CardScore,
    builder: DeckBuilder | None,
    value: DraftValue | None,
    offers: Sequence[Sequence[Card]],
) -> CardPool:
    """Return a pool with the attractiveness of its cards, in a draft by its complete offers."""
    cards = pool.cards
    warmth = TEMPERATURES[rules] if value is None else DRAFT_TEMPERATURE
    worth = _worth(offers, score, value) if offers else []
    return pool.weigh(
        [*map(score, cards)],
        _copies(cards, rules, builder),
        TEMPERATURES[rules],
        OWN_COPY,
        [(offer, values, warmth) for offer, values in zip(offers, worth, strict=True)],
    )


@cache
def _some_set() -> dict[int, Card]:
    """Return a generated card set by base id."""
    from locmsim.rules.generator import generate_cards  # not needed if the whole game was seen

    return {card.base_id: card for card in generate_cards(0)}


def prior(
    rules: str,
    score: CardScore | None = None,
    builder: DeckBuilder | None = None,
    value: DraftValue | None = None,
) -> tuple[CardScore, DeckBuilder | None, DraftValue | None]:
    """Return how opponents are expected to choose: scores, deck (1.5), draft values (1.x).

    Missing arguments are the package's own; with a `score`, in any unit, nothing else is used.
    """
    if RULES[rules].draft:
        if value is None and score is None:
            value = default_draft_value(rules)
        return score or card_score(rules), None, value
    if builder is None and score is None:
        builder = DECK_BUILDERS["default"]
    return score or card_score(rules), builder, None


def _copies(cards: Sequence[Card], rules: str, builder: DeckBuilder | None) -> list[int] | None:
    """Return how many of each card are in the deck that `builder` builds, if it can."""
    if builder is None or len(cards) * COPIES_PER_CARD < DECK_SIZE:
        return None
    deck = Counter(build_deck(cards, builder))
    return [deck[card.base_id] for card in cards]


def _worth(
    offers: Sequence[Sequence[Card]], score: CardScore, value: DraftValue | None
) -> list[list[float]]:
    """Return the values of each offer's cards after the best picks from all earlier offers."""
    return [[*map(score, offer)] for offer in offers] if value is None else value.followed(offers)


def attractions(
    cards: Iterable[Card],
    rules: str,
    score: CardScore | None = None,
    builder: DeckBuilder | None = None,
) -> list[tuple[Card, float]]:
    """Return the distinct cards with the relative probability, up to 1, of being chosen.

    `score` rates a card, by default as the package's heuristics do. The cards of the deck that
    `builder` builds count for more (1.5); without a `score` it is the package's builder.
    """
    score, builder, _ = prior(rules, score, builder)
    different = [*dict.fromkeys(cards)]
    weights = attractions_of(
        [*map(score, different)],
        _copies(different, rules, builder),
        TEMPERATURES[rules],
        OWN_COPY,
    )
    return [*zip(different, weights, strict=True)]


def draft_attractions(
    offers: Sequence[Sequence[Card]],
    rules: str,
    score: CardScore | None = None,
    value: DraftValue | None = None,
) -> list[list[tuple[Card, float]]]:
    """Return the distinct cards of each offer of a draft with the weight of being taken.

    Both players get the same offers. They are expected to draft by `value`: a card is likelier the
    higher the expected value of the final deck with it, after the best earlier picks. By default it
    is the package's value; with a `score` alone, cards are rated by it.
    """
    score, _, value = prior(rules, score, value=value)
    temperature = TEMPERATURES[rules] if value is None else DRAFT_TEMPERATURE
    weighted = []
    for offer, values in zip(offers, _worth(offers, score, value), strict=True):
        different = dict(zip(offer, values, strict=True))
        weights = attractions_of([*different.values()], None, temperature, 0.0)
        weighted.append([*zip(different, weights, strict=True)])
    return weighted
