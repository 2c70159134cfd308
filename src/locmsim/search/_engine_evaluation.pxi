# The evaluation: checks its weights, and computes the tables that searches use from them. Part of
# _engine.pyx.

# What each term counts; "own." is for the player whose turn ends, "their." for the other one, whose
# terms are subtracted.
_SIDE_TERMS = {
    "health": "each point of health",
    "low_health": "... and, with the opposite sign, each point that is missing to 12",
    "lowest_health": "... and, with the opposite sign, each point that is missing to 6",
    "creature": "each creature",
    "attack": "each point of attack on the board",
    "defense": "each point of defense on the board",
    "balance": "the lesser of a creature's attack and defense",
    "guard": "each Guard",
    "guard_defense": "each point of defense of a Guard",
    "lethal": "each creature with Lethal",
    "ward": "each creature with Ward",
    "ward_attack": "each point of attack of a creature with Ward",
    "drain_attack": "each point of attack of a creature with Drain",
    "breakthrough_attack": "each point of attack of a creature with Breakthrough",
    "card": "each card in hand after the next draw",
    "fifth_card": "... and each of them beyond four",
    "low_deck": "each card that is missing to ten in the deck after the next draw",
    "near_card": "1.5: each point of health lost that does not give a card yet",
    "room": "each lane with room for a creature",
    "open_attack": "each point of attack in lanes without an enemy Guard",
    "kill": "that being at least the enemy's health",
    "rune": "1.x: each rune left",
}
_OTHER_TERMS = {
    "hand.creature": "each creature card in the player's own hand",
    "hand.green": "each green item in it",
    "hand.red": "each red item in it",
    "hand.blue": "each blue item in it",
    "hand.cost": "each point of mana that the cards in it cost",
    "hand.draw": "each card that they let draw",
    "hand.area": "1.5: each of them with an area",
    "bonus_mana": "1.5: having the second player's bonus mana",
    "scale": "no term: the value that makes a win likely (it divides values that are averaged)",
}
#: Names of the weights of an evaluation, and what each counts.
TERMS = {
    **{f"own.{name}": text for name, text in _SIDE_TERMS.items()},
    **{f"their.{name}": f"subtracted: {text}" for name, text in _SIDE_TERMS.items()},
    **_OTHER_TERMS,
}


cdef void fill_side(side_t* w, const terms_t* terms) noexcept nogil:
    """Fill in the tables of one side."""
    cdef int i
    for i in range(64):
        w.by_keywords[i][0] = terms.creature
        w.by_keywords[i][1] = terms.attack
        w.by_keywords[i][2] = terms.defense
        w.by_keywords[i][3] = terms.balance
        if i & GUARD:
            w.by_keywords[i][0] += terms.guard
            w.by_keywords[i][2] += terms.guard_defense
        if i & LETHAL:
            w.by_keywords[i][0] += terms.lethal
        if i & WARD:
            w.by_keywords[i][0] += terms.ward
            w.by_keywords[i][1] += terms.ward_attack
        if i & DRAIN:
            w.by_keywords[i][1] += terms.drain_attack
        if i & BREAKTHROUGH:
            w.by_keywords[i][1] += terms.breakthrough_attack
    w.health_more = terms.health
    for i in range(HEALTH_STEPS):
        w.health[i] = (terms.health * i - terms.low_health * max(0, 12 - i)
                       - terms.lowest_health * max(0, 6 - i))
    for i in range(16):
        w.hand[i] = terms.card * i + terms.fifth_card * max(0, i - 4)
    for i in range(32):
        w.deck[i] = terms.low_deck * max(0, 10 - i)
    w.near_card = terms.near_card
    for i in range(3):
        w.room[i] = terms.room * i
    w.open_attack = terms.open_attack
    w.kill = terms.kill
    w.rune = terms.rune


cdef void eval_fill(eval_t* e, const weights_t* w) noexcept nogil:
    """Fill in everything that does not depend on the cards of a game."""
    fill_side(&e.side[0], &w.side[0])
    fill_side(&e.side[1], &w.side[1])
    e.bonus = w.bonus_mana
    e.scale = w.scale


cdef void eval_use_table(eval_t* e, const weights_t* w, const table_t* t) noexcept nogil:
    """Fill in what depends on the cards of a game."""
    cdef const card_t* c
    cdef int i
    for i in range(t.n_cards):
        c = &t.cards[i]
        e.hand_card[i] = (w.hand_type[c.type] + w.hand_cost * c.cost + w.hand_draw * c.draw
                          + w.hand_area * (c.area != AREA_TARGET))


cdef inline float squashed(float value, const eval_t* e) noexcept nogil:
    """Convert a value to an expected result, from -1 to 1."""
    return tanh32(value / e.scale)


@cython.final
cdef class CompiledEvaluation:
    """Holds the weights of an evaluation in the form that a search uses.

    `weights` maps the names in `TERMS` to numbers. ``ValueError`` names a weight that is missing,
    unknown or not finite, and a scale that is not above 0.
    """

    def __cinit__(self, weights):
        cdef float* to = <float*>&self.weights
        for name in TERMS:
            if name not in weights:
                raise ValueError(f"weights: {name} is missing")
        for name, value in weights.items():
            if name not in TERMS:
                raise ValueError(f"weights: unknown term {name!r}")
            if (isinstance(value, bool) or not isinstance(value, (int, float))
                    or not abs(value) < MAX_VALUE):
                raise ValueError(f"weights: {name}: expected a number of less than {MAX_VALUE}, "
                                 f"got {value!r}")
        if not weights["scale"] > 0:
            raise ValueError(f"weights: scale: expected more than 0, got {weights['scale']!r}")
        assert sizeof(weights_t) == len(TERMS) * sizeof(float)
        for name in TERMS:
            to[0] = weights[name]
            to += 1
        eval_fill(&self.e, &self.weights)

    def __reduce__(self):
        cdef const float* of = <const float*>&self.weights
        return CompiledEvaluation, ({name: of[i] for i, name in enumerate(TERMS)},)

    def __call__(self, State state not None, player):
        """Return the value of a position to `player`, whose turn is ending."""
        cdef int who = player_of(player)
        cdef eval_t e = self.e      # a copy: other threads may use it for other cards
        eval_use_table(&e, &self.weights, &state.table.t)
        return evaluate(&state.s, &state.table.t, &e, who)
