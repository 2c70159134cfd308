"""The compiled part of `locmsim.search`: evaluation, beam search, Monte-Carlo tree search.

The structs and what their fields mean are in _search.pxd and, where only this file needs them, in
front of the functions that do. Section numbers are those of docs/rules.md.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport expf, sqrtf, tanhf
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    AREA_LANE2,
    AREA_TARGET,
    ATTACK,
    BLUE,
    BREAKTHROUGH,
    CHARGE,
    CREATURE,
    DRAIN,
    GREEN,
    GUARD,
    GUARDED,
    LETHAL,
    MAX_ACTIONS,
    MAX_BOARD,
    MAX_CARDS,
    MAX_DECK,
    MAX_HAND,
    OCCUPIED,
    PASS,
    READY,
    RULES_10,
    RULES_15,
    SPENT,
    SUMMON,
    WARD,
    Determinizer,
    State,
    Table,
    card_t,
    creature_t,
    decode_action,
    move_t,
    player_t,
    state_apply,
    state_deal,
    state_end_turn,
    state_list,
    state_play_turn,
    state_player,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
    unknown_t,
)
from locmsim.networks._network cimport Network, network_t, network_value
from locmsim._platform cimport count_bits_, lowest_bit_, now_ns_

__all__ = ["TERMS", "Engine", "Evaluator", "Outcome", "play_game", "turn_key"]


# ---- evaluation ----------------------------------------------------------------------------------

# What each term counts; "own." is the player whose turn ends, "their." the other one.
_SIDE_TERMS = {
    "health": "each point of health",
    "low_health": "... and each point that is missing to 12",
    "lowest_health": "... and each point that is missing to 6",
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
    **{f"their.{name}": text for name, text in _SIDE_TERMS.items()},
    **_OTHER_TERMS,
}


cdef int fill_side(side_t* w, weights, prefix) except -1:
    cdef int i
    cdef float least = weights[prefix + "balance"]
    for i in range(64):
        w.by_keywords[i][0] = weights[prefix + "creature"]
        w.by_keywords[i][1] = weights[prefix + "attack"]
        w.by_keywords[i][2] = weights[prefix + "defense"]
        w.by_keywords[i][3] = least
        if i & GUARD:
            w.by_keywords[i][0] += <float>weights[prefix + "guard"]
            w.by_keywords[i][2] += <float>weights[prefix + "guard_defense"]
        if i & LETHAL:
            w.by_keywords[i][0] += <float>weights[prefix + "lethal"]
        if i & WARD:
            w.by_keywords[i][0] += <float>weights[prefix + "ward"]
            w.by_keywords[i][1] += <float>weights[prefix + "ward_attack"]
        if i & DRAIN:
            w.by_keywords[i][1] += <float>weights[prefix + "drain_attack"]
        if i & BREAKTHROUGH:
            w.by_keywords[i][1] += <float>weights[prefix + "breakthrough_attack"]
    w.health_more = weights[prefix + "health"]
    for i in range(HEALTH_STEPS):
        w.health[i] = (w.health_more * i - <float>weights[prefix + "low_health"] * max(0, 12 - i)
                       - <float>weights[prefix + "lowest_health"] * max(0, 6 - i))
    for i in range(16):
        w.hand[i] = (<float>weights[prefix + "card"] * i
                     + <float>weights[prefix + "fifth_card"] * max(0, i - 4))
    for i in range(32):
        w.deck[i] = <float>weights[prefix + "low_deck"] * max(0, 10 - i)
    w.near_card = weights[prefix + "near_card"]
    for i in range(3):
        w.room[i] = <float>weights[prefix + "room"] * i
    w.open_attack = weights[prefix + "open_attack"]
    w.kill = weights[prefix + "kill"]
    w.rune = weights[prefix + "rune"]
    return 0


@cython.final
cdef class Evaluator:
    """The weights of an evaluation in the form that a search uses.

    `weights` maps the names in `TERMS` to numbers. ``ValueError`` names one that is missing,
    unknown or no finite number, and a scale that is not above 0.
    """

    cdef eval_t e
    cdef float by_type[4]
    cdef float cost, draw, area

    def __cinit__(self, weights):
        for name in TERMS:
            if name not in weights:
                raise ValueError(f"weights: {name} is missing")
        for name, value in weights.items():
            if name not in TERMS:
                raise ValueError(f"weights: unknown term {name!r}")
            if not isinstance(value, (int, float)) or not abs(value) < MAX_VALUE:
                raise ValueError(f"weights: {name}: expected a number of less than {MAX_VALUE}, "
                                 f"got {value!r}")
        if not weights["scale"] > 0:
            raise ValueError(f"weights: scale: expected more than 0, got {weights['scale']!r}")
        fill_side(&self.e.side[0], weights, "own.")
        fill_side(&self.e.side[1], weights, "their.")
        for i, name in enumerate(("creature", "green", "red", "blue")):
            self.by_type[i] = weights[f"hand.{name}"]
        self.cost = weights["hand.cost"]
        self.draw = weights["hand.draw"]
        self.area = weights["hand.area"]
        self.e.bonus = weights["bonus_mana"]
        self.e.scale = weights["scale"]

    cdef void use_table(self, const table_t* t) noexcept nogil:
        """Fill in what depends on the cards of the game."""
        cdef const card_t* c
        cdef int i
        for i in range(t.n_cards):
            c = &t.cards[i]
            self.e.hand_card[i] = (self.by_type[c.type] + self.cost * c.cost + self.draw * c.draw
                                   + self.area * (c.area != AREA_TARGET))

    def __call__(self, State state not None, player):
        """The value of a position to `player`, whose turn is ending."""
        if player not in (0, 1):
            raise ValueError(f"player: expected 0 or 1, got {player!r}")
        self.use_table(&state.table.t)
        return evaluate(&state.s, &state.table.t, &self.e, player)


cdef inline float evaluate_side(
    const player_t* p, const table_t* t, const side_t* w, int32_t* attack
) noexcept nogil:
    """What one player has; and the attack on his board by lane."""
    cdef const creature_t* x
    cdef const float* by
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef bint one = t.rules == RULES_10
    cdef int slot, health, draws, taken, hand, lanes
    cdef float value
    attack[0] = attack[1] = 0
    if one:
        lanes = left != 63
    else:
        lanes = 2 - (left >> 2 & 1) - (left >> 5)
    value = w.room[lanes]
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        x = &p.board[slot]
        by = w.by_keywords[x.keywords]
        attack[0 if one else slot >= 3] += x.attack
        value += by[0] + by[1] * x.attack + by[2] * x.defense
        value += by[3] * (x.attack if x.attack < x.defense else x.defense)
    # The next draw: up to the hand limit, and with damage for each card that the deck lacks.
    hand = p.hand_size
    draws = p.next_draw + p.lost // 5
    taken = MAX_HAND - hand
    if taken > draws:
        taken = draws
    if taken > p.deck_left:
        taken = p.deck_left
    hand += taken
    health = p.health
    if draws > taken and hand < MAX_HAND:
        health -= (10 if t.rules == RULES_15 else 5) * (draws - taken)
    if health >= HEALTH_STEPS:
        value += w.health[HEALTH_STEPS - 1] + w.health_more * (health - HEALTH_STEPS + 1)
    else:
        value += w.health[health if health > 0 else 0]
    value += w.hand[hand] + w.deck[p.deck_left - taken]
    if t.rules == RULES_15:
        return value + w.near_card * (p.lost % 5)
    return value + w.rune * count_bits_(p.runes)


cdef inline int open_attack(const player_t* other, const int32_t* attack, bint one) noexcept nogil:
    """The attack in lanes in which the other player has no Guard."""
    cdef uint32_t guarded = other.marks >> GUARDED & 63
    if one:
        return 0 if guarded else attack[0]
    return (0 if guarded & 7 else attack[0]) + (0 if guarded >> 3 else attack[1])


cdef float evaluate(const state_t* s, const table_t* t, const eval_t* e, int who) noexcept nogil:
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef int32_t mine[2]
    cdef int32_t theirs[2]
    cdef bint one = t.rules == RULES_10
    cdef int damage
    cdef uint64_t hand
    cdef float value
    if me.won | op.won:
        return MAX_VALUE if me.won else -MAX_VALUE
    value = evaluate_side(me, t, &e.side[0], mine) - evaluate_side(op, t, &e.side[1], theirs)
    damage = open_attack(op, mine, one)
    value += e.side[0].open_attack * damage + e.side[0].kill * (damage >= op.health)
    damage = open_attack(me, theirs, one)
    value -= e.side[1].open_attack * damage + e.side[1].kill * (damage >= me.health)
    hand = me.hand
    for _ in range(me.hand_size):
        value += e.hand_card[hand & 255]
        hand >>= 8
    return value + e.bonus * me.bonus


cdef inline float squashed(float value, const eval_t* e) noexcept nogil:
    """A value as an expected result, from -1 to 1."""
    return tanhf(value / e.scale)


# ---- order-independent hash ----------------------------------------------------------------------

cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    x *= 0x9E3779B97F4A7C15ULL
    return (x ^ x >> 29) * 0xBF58476D1CE4E5B9ULL


cdef inline uint64_t board_hash(const player_t* p, uint64_t salt, bint one) noexcept nogil:
    # A sum, so that the order within a lane makes no difference. Which card a creature was does not
    # matter any more, what it is does.
    cdef uint64_t total = 0, word
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef const creature_t* x
    cdef int slot
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        x = &p.board[slot]
        word = <uint64_t>(<uint32_t>x.attack & 0xFFFF)
        word |= <uint64_t>(<uint32_t>x.defense & 0xFFFF) << 16
        word |= <uint64_t>x.keywords << 32
        word |= <uint64_t>(p.marks >> READY >> slot & 1) << 40
        word |= <uint64_t>(p.marks >> SPENT >> slot & 1) << 41
        word |= <uint64_t>(slot >= 3 and not one) << 42
        total += mixed(word ^ salt)
    return total


cdef uint64_t turn_hash(
    const state_t* s, const table_t* t, const uint64_t* card_keys
) noexcept nogil:
    cdef int me = s.turn & 1
    cdef const player_t* p = &s.p[me]
    cdef const player_t* op = &s.p[1 - me]
    cdef uint64_t total, hand = p.hand
    cdef bint one = t.rules == RULES_10
    total = board_hash(p, 0x5555ULL << 44, one) + board_hash(op, 0xAAAAULL << 44, one)
    for _ in range(p.hand_size):
        total += card_keys[hand & 255]
        hand >>= 8
    total += mixed(<uint64_t><uint32_t>p.health << 32 | <uint32_t>op.health)
    total += mixed(<uint64_t>p.mana << 56 | <uint64_t>(p.next_draw & 0xFFFFF) << 28
                   | <uint64_t>(op.next_draw & 0xFFFFF) | 1ULL << 63)
    total += mixed(<uint64_t><uint32_t>p.lost << 32 | <uint32_t>op.lost | 1ULL << 63)
    return mixed(total)


cdef void fill_card_keys(uint64_t* keys, const table_t* t) noexcept nogil:
    """A random number for each card: copies of a card are alike."""
    cdef int i
    for i in range(t.n_cards):
        keys[i] = mixed((<uint64_t>t.cards[i].base_id + 1) * 0xD6E8FEB86659FD93ULL)


# ---- what a search works with --------------------------------------------------------------------

cdef enum:
    MAX_PLANS = 256             # whole turns compared by the opponent's replies
    PLANS_SEEN = 4              # as many times more are looked at by a network
    MAX_TURN_ACTIONS = 64       # no turn is followed further
    MAX_REPLY_WIDTH = 16        # positions of the beam in turns that are played on
    CLOCK_PERIOD = 32           # nodes between two looks at the clock, some 3 microseconds

ctypedef struct budget_t:
    int64_t deadline            # of now_ns_
    int64_t nodes               # that may still be made; a node is an action applied and evaluated
    int32_t until_clock
    bint over

ctypedef struct record_t:       # how a position was reached
    int32_t parent              # record; -1 for the root
    uint8_t action

ctypedef struct candidate_t:    # a position of the next level of the beam
    float value
    int32_t parent              # place in this level
    uint8_t action

ctypedef struct plan_t:         # a whole turn
    float value                 # of the position at its end
    int32_t parent              # record, and the last action from there; PASS: the root itself
    uint8_t action
    uint64_t hash

ctypedef struct work_t:
    const table_t* table
    const eval_t* eval
    const network_t* network    # foretells results in the place of `eval`, or NULL
    void* callback              # Python function used instead of `eval`, or NULL
    void* engine                # ... and who keeps its exception
    int32_t who
    state_t root
    uint64_t card_keys[MAX_CARDS]
    budget_t budget
    int64_t made                # nodes made
    int32_t depth               # longest sequence of actions looked at
    record_t* records
    int32_t n_records, max_records
    state_t* level[2]           # positions of the present and the next level of the beam
    int32_t* level_records[2]
    int32_t max_width
    candidate_t* candidates
    int32_t max_candidates
    uint64_t* seen              # direct-mapped table of hashes: a position forgotten is made twice
    uint64_t seen_mask
    uint64_t salt               # makes what earlier searches left in `seen` differ
    plan_t plans[MAX_PLANS]     # the best whole turns, best first
    int32_t n_plans, max_plans
    state_t ends[MAX_PLANS]     # ... and the positions at their ends
    bint won                    # a winning turn was found; attacks on the player may follow it:
    plan_t win                  # ... by a beam
    int32_t n_win               # ... in the tree: its number of actions
    int32_t reply_width         # 1: turns are played on greedily
    state_t* worlds             # samples of what is hidden, drawn when they are first used
    int32_t n_worlds, max_worlds
    uint64_t world_seed
    const unknown_t* unknown    # ... from this; NULL: what the root has is taken for true
    bint own_deck               # ... except the own deck, of which the root knows all but the order


cdef inline bint spend(work_t* w) noexcept nogil:
    """Take one node of the budget; False if there is none."""
    cdef budget_t* b = &w.budget
    if b.over:
        return False
    b.nodes -= 1
    b.until_clock -= 1
    if b.nodes < 0:
        b.over = True
        return False
    if b.until_clock <= 0:
        b.until_clock = CLOCK_PERIOD
        if now_ns_() >= b.deadline:
            b.over = True
            return False
    w.made += 1
    return True


cdef float value_of(work_t* w, const state_t* s, int who) noexcept nogil:
    if w.callback is NULL:
        return evaluate(s, w.table, w.eval, who)
    with gil:
        return (<Engine>w.engine).call_back(s, who)


cdef float result_of(work_t* w, const state_t* s, int who) noexcept nogil:
    """The expected result for `who`, whose turn ends, from -1 to 1."""
    if w.network is NULL or state_winner(s) >= 0:
        return squashed(value_of(w, s, who), w.eval)
    return tanhf(network_value(w.network, s, w.table, who) / 2)


cdef inline bint is_new(work_t* w, uint64_t hash) noexcept nogil:
    """Whether a position was not seen yet; notes it."""
    cdef uint64_t key = hash ^ w.salt
    cdef uint64_t* place = &w.seen[hash & w.seen_mask]
    if place[0] == key:
        return False
    place[0] = key
    return True


cdef inline int32_t add_record(work_t* w, int32_t parent, uint8_t action) noexcept nogil:
    cdef record_t* r
    if w.n_records == w.max_records:
        return -2
    r = &w.records[w.n_records]
    r.parent = parent
    r.action = action
    w.n_records += 1
    return w.n_records - 1


cdef int path_of(const work_t* w, int32_t record, int action, uint8_t* path) noexcept nogil:
    """The actions up to a record, and one more if it isn't PASS; their number."""
    cdef int n = 0, i
    cdef int32_t r = record
    while r >= 0:
        n += 1
        r = w.records[r].parent
    i = n
    r = record
    while r >= 0:
        i -= 1
        path[i] = w.records[r].action
        r = w.records[r].parent
    if action != PASS:
        path[n] = action
        n += 1
    return n


cdef void note_plan(
    work_t* w, float value, uint64_t hash, int32_t parent, uint8_t action
) noexcept nogil:
    """Keep a whole turn if it is one of the best and no other leads to the same position."""
    cdef int i
    if w.n_plans == w.max_plans and value <= w.plans[w.n_plans - 1].value:
        return
    for i in range(w.n_plans):
        if w.plans[i].hash == hash:
            return
    if w.n_plans < w.max_plans:
        w.n_plans += 1
    i = w.n_plans - 1
    while i > 0 and w.plans[i - 1].value < value:
        w.plans[i] = w.plans[i - 1]
        i -= 1
    w.plans[i].value = value
    w.plans[i].hash = hash
    w.plans[i].parent = parent
    w.plans[i].action = action


# ---- a win within the turn -----------------------------------------------------------------------
# The beam search below looks for one first, over the actions that can matter only and ordered by
# the damage still missing.

ctypedef struct lethal_t:
    int16_t potential[MAX_CARDS]    # more damage than this a card of the hand cannot add
    bint wakes                      # some card may wake a creature
    bint counts_creatures           # some card harms the opponent for each own creature


cdef inline int ready_attack(const state_t* s, const table_t* t, bint everywhere) noexcept nogil:
    """The attack of the creatures that are ready; `everywhere`: also where Guards hold it back."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef uint32_t left = me.marks >> READY & 63
    cdef int32_t attack[2]
    cdef int slot
    attack[0] = attack[1] = 0
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        if me.board[slot].attack > 0:
            attack[0 if t.rules == RULES_10 else slot >= 3] += me.board[slot].attack
    return attack[0] + attack[1] if everywhere else open_attack(op, attack, t.rules == RULES_10)


cdef inline int missing_damage(const state_t* s, const table_t* t) noexcept nogil:
    """The opponent's health after all attacks on him that are possible at once."""
    return s.p[~s.turn & 1].health - ready_attack(s, t, False)


cdef inline bint can_kill(const state_t* s, const table_t* t) noexcept nogil:
    return missing_damage(s, t) <= 0


cdef inline int harm(const card_t* c) noexcept nogil:
    """What each effect of a card costs the opponent."""
    return -c.opponent_health if c.opponent_health < 0 else 0


cdef int potential_of(
    const card_t* c, const lethal_t* l, int enemies, int sleeper, const table_t* t
) noexcept nogil:
    cdef int size = 1
    if c.type == CREATURE:
        size = 1 if c.area == AREA_TARGET else 2
        return size * (harm(c) + (c.attack if c.attack > 0 and (
            l.wakes or c.keywords & CHARGE) else 0))
    if c.area != AREA_TARGET:
        size = MAX_BOARD if c.area == AREA_LANE2 else MAX_BOARD // 2
    if c.type == GREEN:
        return size * (harm(c) + (c.attack if c.attack > 0 else 0)
                       + (sleeper if c.keywords & CHARGE else 0))
    size = harm(c) * min(size, enemies)
    if c.type == BLUE:
        return max(size, -c.defense - c.opponent_health)
    return size


cdef void prepare_lethal(lethal_t* l, const state_t* s, const table_t* t) noexcept nogil:
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef const card_t* c
    cdef int h, slot, sleeper = 0
    memset(l, 0, sizeof(lethal_t))
    for slot in range(MAX_BOARD):
        sleeper = max(sleeper, me.board[slot].attack)
    for h in range(me.hand_size):
        c = &t.cards[me.hand >> 8 * h & 255]
        if c.type == CREATURE:
            sleeper = max(sleeper, c.attack)
        elif c.type == GREEN:
            l.wakes |= c.keywords & CHARGE != 0
            l.counts_creatures |= c.area != AREA_TARGET and harm(c) > 0
    for h in range(me.hand_size):
        l.potential[me.hand >> 8 * h & 255] = potential_of(
            &t.cards[me.hand >> 8 * h & 255], l, count_bits_(op.marks >> OCCUPIED & 63), sleeper, t)


cdef int most_damage(const lethal_t* l, const state_t* s, const table_t* t) noexcept nogil:
    """More than this cannot be added to the attacks that are possible at once: the attackers behind
    Guards, and the best cards that can be paid together (a knapsack)."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef int best[128]
    cdef int h, entry, left, cost
    for left in range(me.mana + 1):
        best[left] = 0
    for h in range(me.hand_size):
        entry = me.hand >> 8 * h & 255
        cost = t.cards[entry].cost
        if l.potential[entry] > 0:
            for left in range(me.mana, cost - 1, -1):
                best[left] = max(best[left], best[left - cost] + l.potential[entry])
    return best[me.mana] + ready_attack(s, t, True) - ready_attack(s, t, False)


cdef inline uint32_t reach(const card_t* c, int slot, uint32_t occupied) noexcept nogil:
    """The creatures that an item used on this one affects."""
    if c.area == AREA_TARGET:
        return 1U << slot
    return occupied & (63 if c.area == AREA_LANE2 else 7 if slot < 3 else 56)


cdef bint is_useful(
    const lethal_t* l, const state_t* s, const table_t* t, int action
) noexcept nogil:
    """Whether an action may help to win in this turn: one that harms the opponent, strengthens or
    wakes an attacker, takes a Guard away, attacks a Guard, or makes room for such a card."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef move_t m = decode_action(t, action)
    cdef const card_t* c
    cdef const creature_t* x
    cdef const creature_t* y
    cdef uint32_t hit
    cdef uint32_t guards = op.marks >> GUARDED & 63
    cdef uint32_t lane
    cdef int slot
    if m.kind == ATTACK:
        if m.target == 0:
            return False                # these come last, all at once
        x = &me.board[m.source]
        y = &op.board[m.target - 1]
        if y.keywords & GUARD and x.attack > 0:
            return True
        lane = 63 if t.rules == RULES_10 else 7 if m.source < 3 else 56
        return (
            (me.marks >> OCCUPIED & lane) == lane and not x.keywords & WARD and y.attack > 0
            and (y.attack >= x.defense or y.keywords & LETHAL != 0)
        )
    c = &t.cards[me.hand >> 8 * m.source & 255]
    if m.kind == SUMMON:
        return l.counts_creatures or l.potential[me.hand >> 8 * m.source & 255] > 0
    if harm(c):
        return True
    if m.target == 0:
        return c.defense + c.opponent_health < 0
    if c.type == GREEN:
        hit = reach(c, m.target - 1, me.marks >> OCCUPIED & 63)
        while hit:
            slot = lowest_bit_(hit)
            hit &= hit - 1
            if me.marks >> SPENT >> slot & 1 or not (me.marks >> READY >> slot & 1 or l.wakes):
                continue
            if c.keywords & CHARGE and not me.marks >> READY >> slot & 1:
                return True
            if c.attack > 0 or (guards and c.keywords & (BREAKTHROUGH | LETHAL)):
                return True
        return False
    return (c.defense < 0 or c.keywords & (GUARD | WARD)) and (
        reach(c, m.target - 7, op.marks >> OCCUPIED & 63) & guards) != 0


# ---- beam search over the own turn ---------------------------------------------------------------

cdef void select_best(candidate_t* c, int n, int k) noexcept nogil:
    """Move the k best of n candidates to the front (quickselect)."""
    cdef int low = 0, high = n - 1, i, j
    cdef float pivot
    cdef candidate_t x
    while low < high:
        pivot = c[(low + high) >> 1].value
        i = low
        j = high
        while i <= j:
            while c[i].value > pivot:
                i += 1
            while c[j].value < pivot:
                j -= 1
            if i <= j:
                x = c[i]
                c[i] = c[j]
                c[j] = x
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


cdef bint beam_pass(work_t* w, int width, const lethal_t* lethal) noexcept nogil:
    """Follow the `width` best positions after each number of actions, to the end of the budget.

    Returns whether none had to be left out. A winning turn ends it. With `lethal` only winning
    turns are looked for.
    """
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef state_t* here
    cdef candidate_t* c
    cdef uint64_t hash
    cdef float value
    cdef int n_here = 1, n_next, n, i, j, depth = 0, now = 0
    cdef bint complete = True
    w.salt = mixed(w.salt + 1)
    w.level[0][0] = w.root
    w.level_records[0][0] = -1
    is_new(w, turn_hash(&w.root, w.table, w.card_keys))
    while n_here and depth < MAX_TURN_ACTIONS - 1:
        depth += 1
        n_next = 0
        for i in range(n_here):
            here = &w.level[now][i]
            n = state_list(here, w.table, actions)
            for j in range(1, n):
                if n_next == w.max_candidates:
                    complete = False
                    break
                if lethal is not NULL and not is_useful(lethal, here, w.table, actions[j]):
                    continue
                if not spend(w):
                    return False
                child = here[0]
                state_apply(&child, w.table, actions[j])
                if child.p[1 - w.who].won:
                    continue
                if child.p[w.who].won or can_kill(&child, w.table):
                    w.won = True
                    w.win.parent = w.level_records[now][i]
                    w.win.action = actions[j]
                    return True
                hash = turn_hash(&child, w.table, w.card_keys)
                if not is_new(w, hash):
                    continue
                if lethal is not NULL:
                    if missing_damage(&child, w.table) > most_damage(lethal, &child, w.table):
                        continue
                    value = -missing_damage(&child, w.table)
                else:
                    value = value_of(w, &child, w.who)
                    note_plan(w, value, hash, w.level_records[now][i], actions[j])
                c = &w.candidates[n_next]
                c.value = value
                c.parent = i
                c.action = actions[j]
                n_next += 1
        if n_next:
            w.depth = max(w.depth, depth)
        if n_next > width:
            select_best(w.candidates, n_next, width)
            n_next = width
            complete = False
        for i in range(n_next):
            c = &w.candidates[i]
            j = add_record(w, w.level_records[now][c.parent], c.action)
            if j < 0:
                return False
            w.level_records[1 - now][i] = j
            w.level[1 - now][i] = w.level[now][c.parent]
            state_apply(&w.level[1 - now][i], w.table, c.action)
        n_here = n_next
        now = 1 - now
    return complete


cdef void search_lethal(work_t* w, int width) noexcept nogil:
    """Look for a winning turn; the budget that it takes is small where none is possible."""
    cdef lethal_t lethal
    if can_kill(&w.root, w.table):
        w.won = True
        w.win.parent = -1
        w.win.action = PASS
        return
    prepare_lethal(&lethal, &w.root, w.table)
    if missing_damage(&w.root, w.table) <= most_damage(&lethal, &w.root, w.table):
        beam_pass(w, width, &lethal)


cdef void beam_search(work_t* w, int width) noexcept nogil:
    """Beams of growing width, as long as the budget lasts or until nothing is left out."""
    cdef int this_width = 16
    note_plan(w, value_of(w, &w.root, w.who), turn_hash(&w.root, w.table, w.card_keys), -1, PASS)
    while not w.budget.over:
        if this_width > width:
            this_width = width
        if beam_pass(w, this_width, NULL) or w.won or this_width == width:
            return
        this_width *= 4


# ---- the opponent's reply ------------------------------------------------------------------------

cdef int greedy_turn(work_t* w, state_t* s, uint8_t* path) noexcept nogil:
    """Play a turn action by action, each the best by its result, as long as that improves it.

    Returns the number of actions, which go to `path` if it isn't NULL. A kill by attacks alone is
    not carried out, only its result.
    """
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t children[2]
    cdef int who = s.turn & 1
    cdef int n, i, free = 0, action = PASS, length = 0
    cdef float best, value
    cdef bint improved
    if can_kill(s, w.table):
        s.p[who].won = 1
        return 0
    best = value_of(w, s, who)
    while True:
        improved = False
        n = state_list(s, w.table, actions)
        for i in range(1, n):
            w.made += 1
            children[free] = s[0]
            state_apply(&children[free], w.table, actions[i])
            value = value_of(w, &children[free], who)
            if value > best:
                best = value
                improved = True
                action = actions[i]
                free = 1 - free
        w.budget.nodes -= n - 1
        w.budget.until_clock -= n - 1
        if not improved:
            return length
        s[0] = children[1 - free]
        if path is not NULL:
            path[length] = action
        length += 1
        if s.p[who].won or length == MAX_TURN_ACTIONS:
            return length


cdef void narrow_turn(work_t* w, state_t* s) noexcept nogil:
    """Play a turn that a beam of a few positions finds: a stronger reply than a greedy one. It ends
    when an action more has not made any position better. A network chooses from the best of all."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t level[2][MAX_REPLY_WIDTH]
    cdef float values[MAX_REPLY_WIDTH]
    cdef state_t kept[MAX_REPLY_WIDTH]          # the best of all levels, best first
    cdef float kept_values[MAX_REPLY_WIDTH]
    cdef state_t child
    cdef int who = s.turn & 1
    cdef int n_here = 1, n_kept = 1, n_next, n, i, j, k, m, now = 0
    cdef float best, value, odds = 0
    cdef bint improved = True
    if can_kill(s, w.table):
        s.p[who].won = 1
        return
    best = value_of(w, s, who)
    kept[0] = s[0]
    kept_values[0] = best
    level[0][0] = s[0]
    for _ in range(MAX_TURN_ACTIONS):
        if not improved:
            break
        n_next = 0
        for i in range(n_here):
            n = state_list(&level[now][i], w.table, actions)
            w.made += n - 1
            w.budget.nodes -= n - 1
            w.budget.until_clock -= n - 1
            for j in range(1, n):
                child = level[now][i]
                state_apply(&child, w.table, actions[j])
                value = value_of(w, &child, who)
                if value >= MAX_VALUE or can_kill(&child, w.table):
                    s[0] = child
                    s.p[who].won = 1
                    return
                if n_next == w.reply_width and value <= values[n_next - 1]:
                    continue
                # Insert by value. Positions of the same value are taken for the same one.
                k = 0
                while k < n_next and values[k] > value:
                    k += 1
                if k < n_next and values[k] == value:
                    continue
                if n_next < w.reply_width:
                    n_next += 1
                for m in range(n_next - 1, k, -1):
                    values[m] = values[m - 1]
                    level[1 - now][m] = level[1 - now][m - 1]
                values[k] = value
                level[1 - now][k] = child
        now = 1 - now
        n_here = n_next
        improved = n_next > 0 and values[0] > best
        if improved:
            best = values[0]
        for i in range(n_here):
            if n_kept == w.reply_width and values[i] <= kept_values[n_kept - 1]:
                break
            if n_kept < w.reply_width:
                n_kept += 1
            k = n_kept - 1
            while k > 0 and kept_values[k - 1] < values[i]:
                kept_values[k] = kept_values[k - 1]
                kept[k] = kept[k - 1]
                k -= 1
            kept_values[k] = values[i]
            kept[k] = level[now][i]
    k = 0
    if w.network is not NULL:
        for i in range(n_kept):
            value = network_value(w.network, &kept[i], w.table, who)
            if (i == 0 or value > odds) and kept_values[i] > -MAX_VALUE:
                odds = value
                k = i
    s[0] = kept[k]


cdef const state_t* world_of(work_t* w, int i) noexcept nogil:
    """The i-th sample, i at most the number drawn before."""
    cdef state_t* world = &w.worlds[i]
    cdef uint64_t stream
    cdef uint8_t* deck
    cdef int j, k
    if i < w.n_worlds:
        return world
    w.n_worlds = i + 1
    world[0] = w.root
    stream = stream_start(w.world_seed, i)
    if w.unknown is NULL:
        return world
    state_deal(world, w.table, w.unknown, &stream)
    if w.own_deck:
        deck = &world.deck[w.who][MAX_DECK - w.root.p[w.who].deck_left]
        memcpy(world.deck[w.who], w.root.deck[w.who], MAX_DECK)
        for j in range(w.root.p[w.who].deck_left - 1, 0, -1):
            k = stream_below(&stream, j + 1)
            deck[j], deck[k] = deck[k], deck[j]
    return world


cdef inline void put_world(const work_t* w, state_t* s, const state_t* world) noexcept nogil:
    """Give the places that cannot be seen the cards of a sampled world."""
    cdef int op = 1 - w.who
    s.p[op].hand = world.p[op].hand
    s.p[op].prices = world.p[op].prices
    memcpy(s.deck, world.deck, sizeof(s.deck))


cdef float play_on(work_t* w, const state_t* end, const state_t* world, int turns) noexcept nogil:
    """The result, from -1 to 1, when after the own turn `turns` more are played greedily."""
    cdef state_t s = end[0]
    cdef int mover
    put_world(w, &s, world)
    for _ in range(turns):
        state_end_turn(&s, w.table)
        if state_winner(&s) >= 0:
            break
        if w.reply_width > 1:
            narrow_turn(w, &s)
        else:
            greedy_turn(w, &s, NULL)
        if state_winner(&s) >= 0:
            break
    mover = s.turn & 1
    cdef float value = result_of(w, &s, mover)
    return value if mover == w.who else -value


cdef int best_plan(
    work_t* w, int turns, int plans, float prior, float* value
) noexcept nogil:
    """The plan with the best mean result over worlds, the same ones for all plans.

    The best `plans` by the result expected at their own ends are compared, by sequential halving:
    after each part of the budget the worse half drops out. That expectation counts as `prior`
    worlds.
    """
    cdef float total[MAX_PLANS]
    cdef float results[MAX_PLANS]
    cdef int order[MAX_PLANS]
    cdef uint8_t path[MAX_TURN_ACTIONS + 2]
    cdef const state_t* world
    cdef int64_t start = now_ns_()
    cdef int64_t nodes = w.budget.nodes
    # The nodes of playing on once: a guess at first. A small budget is for fewer plans.
    cdef int64_t before, cost = 24 * turns * w.reply_width
    cdef int n = w.n_plans, alive, worlds = 0, rounds = 0, round = 0, i, j, k, length
    cdef float x, used
    for i in range(n):
        w.ends[i] = w.root
        length = path_of(w, w.plans[i].parent, w.plans[i].action, path)
        for j in range(length):
            state_apply(&w.ends[i], w.table, path[j])
        if w.network is NULL:
            results[i] = squashed(w.plans[i].value, w.eval)
        else:
            results[i] = result_of(w, &w.ends[i], w.who)
        total[i] = prior * results[i]
        j = i
        while j > 0 and results[order[j - 1]] < results[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    n = min(n, plans)
    while n > 1 and cost * n > w.budget.nodes:
        n >>= 1
    alive = n
    while turns and (1 << rounds) < n:
        rounds += 1
    while round < rounds and worlds < w.max_worlds and w.budget.nodes >= cost * alive:
        world = world_of(w, worlds)
        before = w.budget.nodes
        for k in range(alive):
            if now_ns_() >= w.budget.deadline:
                break
            results[k] = play_on(w, &w.ends[order[k]], world, turns)
        else:                           # a world that not all plans were tried in does not count
            for k in range(alive):
                total[order[k]] += results[k]
            worlds += 1
        cost = 1 + (before - w.budget.nodes) // alive
        used = max(<float>worlds / w.max_worlds, <float>(nodes - w.budget.nodes) / nodes,
                   <float>(now_ns_() - start) / (w.budget.deadline - start))
        while round < rounds and used * rounds >= round + 1:
            round += 1
            for i in range(1, alive):           # best first
                k = order[i]
                x = total[k]
                j = i
                while j > 0 and total[order[j - 1]] < x:
                    order[j] = order[j - 1]
                    j -= 1
                order[j] = k
            alive = (alive + 1) >> 1
    k = order[0]
    for i in range(1, alive):
        if total[order[i]] > total[k]:
            k = order[i]
    value[0] = total[k] / (worlds + prior) if worlds + prior > 0 else result_of(
        w, &w.ends[k], w.who)
    return k


# ---- Monte-Carlo tree search ---------------------------------------------------------------------
# The tree is that of the own turn, an action an edge; positions that differ in order only are one
# node. A turn that has ended is a leaf, which is played on in another sampled world at each visit.

ctypedef struct edge_t:
    float prior                 # share of its static value among its siblings'
    int32_t node                # -1: not made yet
    int32_t visits
    uint8_t action

ctypedef struct node_t:
    state_t s
    uint64_t hash
    double total                # of the results of all visits, from -1 to 1
    int32_t visits
    int32_t first               # edge; they are sorted, the highest prior first
    int32_t n_edges             # -1: not expanded
    bint ended                  # the turn ends here

ctypedef struct tree_t:
    node_t* nodes
    int32_t n_nodes, max_nodes
    edge_t* edges
    int32_t n_edges, max_edges
    int32_t* places             # hash table of nodes, -1: free
    uint64_t places_mask

ctypedef struct options_t:      # see the dataclasses in search.py
    int32_t width
    int32_t plans
    int32_t turns
    float prior
    float lethal_share
    float plan_share
    float exploration
    float widening
    float temperature
    int32_t playouts


cdef int32_t find_node(tree_t* tree, const state_t* s, uint64_t hash, bint ended) noexcept nogil:
    """The node of a position, made if need be; -1 if there is no room."""
    cdef uint64_t i = hash & tree.places_mask
    cdef node_t* node
    while tree.places[i] >= 0:
        if tree.nodes[tree.places[i]].hash == hash:
            return tree.places[i]
        i = (i + 1) & tree.places_mask
    if tree.n_nodes == tree.max_nodes:
        return -1
    tree.places[i] = tree.n_nodes
    node = &tree.nodes[tree.n_nodes]
    node.s = s[0]
    node.hash = hash
    node.total = 0
    node.visits = 0
    node.first = 0
    node.n_edges = -1
    node.ended = ended
    tree.n_nodes += 1
    return tree.n_nodes - 1


cdef bint expand(
    work_t* w, tree_t* tree, node_t* node, const options_t* o, bint* won
) noexcept nogil:
    """Give a node its edges, sorted by the static values of where they lead. False if there is no
    room, or no budget. Sets `won` for an edge that wins, which comes first."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef float values[MAX_ACTIONS + 1]
    cdef state_t child
    cdef edge_t* edges = &tree.edges[tree.n_edges]
    cdef int n = state_list(&node.s, w.table, actions)
    cdef int i, j, k = 0
    cdef float value, total = 0
    if tree.n_edges + n > tree.max_edges:
        return False
    for i in range(n):
        child = node.s
        if actions[i] == PASS:
            value = value_of(w, &child, w.who)
        else:
            if not spend(w):
                return False
            state_apply(&child, w.table, actions[i])
            if child.p[1 - w.who].won:
                continue
            if child.p[w.who].won or can_kill(&child, w.table):
                value = MAX_VALUE
                won[0] = True
            else:
                value = value_of(w, &child, w.who)
        j = k
        while j > 0 and values[j - 1] < value:
            values[j] = values[j - 1]
            edges[j] = edges[j - 1]
            j -= 1
        values[j] = value
        edges[j].action = actions[i]
        edges[j].node = -1
        edges[j].visits = 0
        k += 1
    for i in range(k):
        edges[i].prior = expf((values[i] - values[0]) / o.temperature)
        total += edges[i].prior
    for i in range(k):
        edges[i].prior /= total
    node.first = tree.n_edges
    node.n_edges = k
    tree.n_edges += k
    return True


cdef edge_t* select_edge(tree_t* tree, const node_t* node, const options_t* o) noexcept nogil:
    """The edge with the highest sum of mean result and of exploration by prior (PUCT), among the
    first ones: the more visits the more of them (progressive widening)."""
    cdef edge_t* edges = &tree.edges[node.first]
    cdef edge_t* best = edges
    cdef float root = sqrtf(<float>node.visits)
    cdef int n = 1 + <int>(o.widening * root)
    cdef float mean = <float>(node.total / node.visits) if node.visits else 0
    cdef float highest = -1e9, x
    cdef int i
    if n > node.n_edges:
        n = node.n_edges
    for i in range(n):
        x = mean
        if edges[i].visits:
            x = <float>(tree.nodes[edges[i].node].total / tree.nodes[edges[i].node].visits)
        x += o.exploration * edges[i].prior * root / (1 + edges[i].visits)
        if x > highest:
            highest = x
            best = &edges[i]
    return best


cdef float random_replies(
    work_t* w, const state_t* end, const state_t* world, int playouts, uint64_t* stream
) noexcept nogil:
    """The mean value after random turns of the opponent, as a result from -1 to 1."""
    cdef state_t begin = end[0]
    cdef state_t s
    cdef float total = 0
    put_world(w, &begin, world)
    state_end_turn(&begin, w.table)
    if state_winner(&begin) >= 0:
        return 1 if begin.p[w.who].won else -1
    for _ in range(playouts):
        s = begin
        state_play_turn(&s, w.table, stream)
        total += value_of(w, &s, 1 - w.who)
    w.budget.nodes -= playouts
    return -squashed(total / playouts, w.eval)


cdef float leaf_value(
    work_t* w, node_t* node, const options_t* o, uint64_t* stream
) noexcept nogil:
    """The result of a visit that goes no further in the tree."""
    cdef const state_t* world = world_of(w, min(node.visits % w.max_worlds, w.n_worlds))
    cdef state_t s
    if o.playouts:
        return random_replies(w, &node.s, world, o.playouts, stream)
    if node.ended:
        return play_on(w, &node.s, world, o.turns)
    s = node.s
    greedy_turn(w, &s, NULL)
    if s.p[w.who].won:
        return 1
    return play_on(w, &s, world, o.turns)


cdef bint follow(work_t* w, state_t* s, const node_t* node, uint8_t* action) noexcept nogil:
    """Apply the action that leads from `s` to a node. The node may have been made by actions in
    another order, in which creatures have other places and so actions other numbers."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef int n = state_list(s, w.table, actions), i
    for i in range(1, n):
        child = s[0]
        state_apply(&child, w.table, actions[i])
        if turn_hash(&child, w.table, w.card_keys) == node.hash:
            s[0] = child
            action[0] = actions[i]
            return True
    return False


cdef int winning_turn(
    work_t* w, const tree_t* tree, const int32_t* path, int depth, uint8_t* actions
) noexcept nogil:
    """The actions along a path of nodes, and the winning one at its end; their number."""
    cdef uint8_t legal[MAX_ACTIONS + 1]
    cdef state_t s = w.root
    cdef state_t child
    cdef int n, i
    for i in range(depth):
        follow(w, &s, &tree.nodes[path[i + 1]], &actions[i])
    n = state_list(&s, w.table, legal)
    for i in range(1, n):
        child = s
        state_apply(&child, w.table, legal[i])
        if not child.p[1 - w.who].won and (child.p[w.who].won or can_kill(&child, w.table)):
            actions[depth] = legal[i]
            return depth + 1
    return depth


cdef bint visit(
    work_t* w, tree_t* tree, const options_t* o, uint64_t* stream, uint8_t* actions
) noexcept nogil:
    """One descent. False if it found a winning turn, which is then in `actions`, `w.n_win` long."""
    cdef int32_t path[MAX_TURN_ACTIONS]
    cdef node_t* node = &tree.nodes[0]
    cdef edge_t* edge
    cdef state_t child
    cdef float result
    cdef int32_t at = 0
    cdef int depth = 0, i
    cdef uint64_t hash
    cdef bint won = False
    path[0] = 0
    while True:
        if node.ended or depth == MAX_TURN_ACTIONS - 1:
            break
        if node.n_edges < 0:
            if node.visits == 0 and at != 0:
                break                       # the first visit to a node goes no further
            if not expand(w, tree, node, o, &won):
                break
            if won:
                w.won = True
                w.n_win = winning_turn(w, tree, path, depth, actions)
                return False
        edge = select_edge(tree, node, o)
        if edge.node < 0:
            child = node.s
            if edge.action == PASS:
                hash = mixed(node.hash)
            else:
                state_apply(&child, w.table, edge.action)
                hash = turn_hash(&child, w.table, w.card_keys)
            edge.node = find_node(tree, &child, hash, edge.action == PASS)
            if edge.node < 0:
                break
        edge.visits += 1
        at = edge.node
        node = &tree.nodes[at]
        depth += 1
        path[depth] = at
    result = leaf_value(w, node, o, stream)
    for i in range(depth + 1):
        tree.nodes[path[i]].visits += 1
        tree.nodes[path[i]].total += result
    w.depth = max(w.depth, depth)
    return True


cdef int64_t tree_search(
    work_t* w, tree_t* tree, const options_t* o, int64_t visits, uint8_t* actions
) noexcept nogil:
    """Visits until the budget is used up, or a winning turn is found; their number."""
    cdef uint64_t stream = stream_start(w.world_seed, 1ULL << 32)
    cdef int64_t done = 0
    cdef uint64_t i
    for i in range(tree.places_mask + 1):
        tree.places[i] = -1
    tree.n_nodes = 0
    tree.n_edges = 0
    find_node(tree, &w.root, turn_hash(&w.root, w.table, w.card_keys), False)
    while done < visits and not w.budget.over and w.budget.nodes > 0:
        if now_ns_() >= w.budget.deadline:
            break
        if not visit(w, tree, o, &stream, actions):
            break
        w.budget.nodes -= 1             # a reply may need none
        done += 1
    return done


cdef int most_visited(
    work_t* w, tree_t* tree, uint8_t* path, float* value, int32_t* visits
) noexcept nogil:
    """The turn along the most visited edges, finished greedily where visits are few."""
    cdef node_t* node = &tree.nodes[0]
    cdef edge_t* edge
    cdef edge_t* best
    cdef state_t s = w.root
    cdef int n = 0, i
    if node.visits:
        value[0] = <float>(node.total / node.visits)
    while not node.ended and node.n_edges > 0 and n < MAX_TURN_ACTIONS:
        best = NULL
        for i in range(node.n_edges):
            edge = &tree.edges[node.first + i]
            if edge.node >= 0 and (best is NULL or edge.visits > best.visits):
                best = edge
        if best is NULL:
            break
        if n == 0:
            visits[0] = best.visits
            value[0] = <float>(tree.nodes[best.node].total / max(1, tree.nodes[best.node].visits))
        node = &tree.nodes[best.node]
        if not node.ended:
            if not follow(w, &s, node, &path[n]):
                return n
            n += 1
    if not node.ended and n < MAX_TURN_ACTIONS // 2:
        n += greedy_turn(w, &s, &path[n])
    return n


# ---- classes -------------------------------------------------------------------------------------

cdef int64_t UNLIMITED = 1LL << 62


class Outcome:
    """What `Engine.search` found; `locmsim.search.SearchResult` says what the fields are."""

    __slots__ = ("actions", "depth", "iterations", "nodes", "value", "visits", "won")


@cython.final
cdef class Engine:
    """Memory of a search, and the search: `method` is "beam" or "mcts".

    `options` has the fields of the dataclasses in `locmsim.search` as attributes. One search at a
    time: an engine belongs to one thread.
    """

    cdef work_t w
    cdef tree_t tree
    cdef options_t o
    cdef bint is_tree
    cdef Evaluator evaluator
    cdef Network network
    cdef object function
    cdef object error
    cdef Table table

    def __cinit__(self, str method, options, evaluation, Network network=None):
        cdef int width = options.width if method == "beam" else 256
        cdef int nodes = options.max_nodes if method == "mcts" else 0
        cdef int places = 1
        self.is_tree = method == "mcts"
        self.o.lethal_share = options.lethal_share
        self.o.turns = options.turns
        self.w.reply_width = options.reply_width
        self.o.width = width
        if self.is_tree:
            self.o.exploration = options.exploration
            self.o.widening = options.widening
            self.o.temperature = options.temperature
            self.o.playouts = options.playouts
        else:
            self.o.plan_share = options.plan_share
            self.o.prior = options.prior
            self.o.plans = options.plans
        self.w.max_worlds = options.worlds
        self.w.max_width = width
        self.w.max_candidates = 64 * width
        self.w.max_records = 1 << 18
        self.w.seen_mask = (1 << 17) - 1
        self.w.salt = 1
        self.w.records = <record_t*>self.memory(self.w.max_records * sizeof(record_t))
        for i in range(2):
            self.w.level[i] = <state_t*>self.memory(width * sizeof(state_t))
            self.w.level_records[i] = <int32_t*>self.memory(width * sizeof(int32_t))
        self.w.candidates = <candidate_t*>self.memory(self.w.max_candidates * sizeof(candidate_t))
        self.w.seen = <uint64_t*>self.memory((self.w.seen_mask + 1) * sizeof(uint64_t))
        memset(self.w.seen, 0, (self.w.seen_mask + 1) * sizeof(uint64_t))
        self.w.worlds = <state_t*>self.memory(self.w.max_worlds * sizeof(state_t))
        if self.is_tree:
            while places < 2 * nodes:
                places *= 2
            self.tree.places_mask = places - 1
            self.tree.max_nodes = nodes
            self.tree.max_edges = 12 * nodes
            self.tree.nodes = <node_t*>self.memory(nodes * sizeof(node_t))
            self.tree.edges = <edge_t*>self.memory(self.tree.max_edges * sizeof(edge_t))
            self.tree.places = <int32_t*>self.memory(places * sizeof(int32_t))
        self.w.engine = <void*>self
        self.evaluate_by(evaluation, network)

    cdef void* memory(self, size_t size) except NULL:
        cdef void* p = PyMem_Malloc(size)
        if p is NULL:
            raise MemoryError(f"no {size} bytes of memory for a search")
        return p

    def __dealloc__(self):
        PyMem_Free(self.w.records)
        for i in range(2):
            PyMem_Free(self.w.level[i])
            PyMem_Free(self.w.level_records[i])
        PyMem_Free(self.w.candidates)
        PyMem_Free(self.w.seen)
        PyMem_Free(self.w.worlds)
        PyMem_Free(self.tree.nodes)
        PyMem_Free(self.tree.edges)
        PyMem_Free(self.tree.places)

    def evaluate_by(self, evaluation, Network network=None):
        """Use an `Evaluator`, or a pair of one and a function of state and player; a network."""
        self.function = None
        if not isinstance(evaluation, Evaluator):
            evaluation, self.function = evaluation
        self.network = network
        self.w.network = NULL if network is None else &network.n
        # A network chooses from more plans than it keeps.
        self.w.max_plans = max(1, min(
            MAX_PLANS, self.o.plans * (1 if network is None else PLANS_SEEN)))
        self.evaluator = evaluation
        self.w.eval = &self.evaluator.e
        self.w.callback = NULL if self.function is None else <void*>self.function

    cdef float call_back(self, const state_t* s, int who):
        cdef State state
        if self.error is not None:
            return 0
        try:
            state = State.__new__(State)
            state.table = self.table
            state.s = s[0]
            return max(-MAX_VALUE, min(MAX_VALUE, float(self.function(state, who))))
        except BaseException as error:
            self.error = error
            self.w.budget.over = True
            return 0

    cdef void begin(
        self, const state_t* root, const table_t* t, const unknown_t* unknown, bint own_deck,
        uint64_t seed, int64_t deadline, int64_t nodes
    ) noexcept nogil:
        cdef work_t* w = &self.w
        w.table = t
        w.root = root[0]
        w.who = state_player(root)
        w.unknown = unknown
        w.own_deck = own_deck
        w.world_seed = seed
        w.n_worlds = 0
        w.n_records = 0
        w.n_plans = 0
        self.tree.n_nodes = 0
        w.won = False
        w.made = 0
        w.depth = 0
        w.budget.deadline = deadline
        w.budget.nodes = nodes
        w.budget.until_clock = 0
        w.budget.over = False

    cdef int run(self, int64_t visits, uint8_t* path, float* value, int32_t* count) noexcept nogil:
        """Search; returns the number of actions in `path`."""
        cdef work_t* w = &self.w
        cdef budget_t given, part
        cdef int64_t now = now_ns_()
        cdef int n
        value[0] = 0
        count[0] = 0
        # The win first: where one is possible at all, it may take its share.
        part = self.share_of(self.o.lethal_share, now)
        given = w.budget
        w.budget = part
        search_lethal(w, min(w.max_width, 256))
        self.restore(&given, &part)
        if not w.won:
            if self.is_tree:
                count[0] = <int32_t>tree_search(w, &self.tree, &self.o, visits, path)
                if not w.won:
                    return most_visited(w, &self.tree, path, value, count)
                value[0] = 1
                return w.n_win + self.finish(path, w.n_win)
            else:
                w.n_records = 0
                part = self.share_of(self.o.plan_share if self.o.turns else 1.0, now_ns_())
                given = w.budget
                w.budget = part
                beam_search(w, self.o.width)
                self.restore(&given, &part)
                if not w.won:
                    n = best_plan(w, self.o.turns, self.o.plans, self.o.prior, value)
                    count[0] = w.n_worlds
                    return path_of(w, w.plans[n].parent, w.plans[n].action, path)
        value[0] = 1
        n = path_of(w, w.win.parent, w.win.action, path)
        return n + self.finish(path, n)

    cdef budget_t share_of(self, float share, int64_t now) noexcept nogil:
        cdef budget_t part = self.w.budget
        if part.deadline < UNLIMITED:
            part.deadline = now + <int64_t>(share * (part.deadline - now))
        if part.nodes < UNLIMITED:
            part.nodes = <int64_t>(share * part.nodes)
        part.until_clock = 0
        return part

    cdef void restore(self, const budget_t* given, const budget_t* part) noexcept nogil:
        """Go on with the whole budget, less the nodes that a part of it used."""
        cdef budget_t* budget = &self.w.budget
        cdef int64_t left = budget.nodes if budget.nodes > 0 else 0
        budget[0] = given[0]
        budget.nodes -= part.nodes - left
        budget.over = self.error_set()

    cdef bint error_set(self) noexcept nogil:
        with gil:
            return self.error is not None

    cdef int finish(self, uint8_t* path, int n) noexcept nogil:
        """The attacks on the opponent that end a winning turn, added behind n actions."""
        cdef state_t s = self.w.root
        cdef const player_t* me = &s.p[self.w.who]
        cdef const player_t* op = &s.p[1 - self.w.who]
        cdef bint one = self.w.table.rules == RULES_10
        cdef int i, slot, added = 0
        cdef uint32_t guarded
        for i in range(n):
            state_apply(&s, self.w.table, path[i])
        for slot in range(MAX_BOARD):
            guarded = op.marks >> GUARDED & (63 if one else 7 if slot < 3 else 56)
            if (me.won or guarded or not me.marks >> READY >> slot & 1
                    or me.board[slot].attack <= 0):
                continue
            path[n + added] = (113 + 7 * slot) if one else (121 + 4 * slot)
            state_apply(&s, self.w.table, path[n + added])
            added += 1
        return added

    def search(self, Determinizer worlds not None, *, time_ns, nodes, visits, seed):
        """An `Outcome` for the player whose turn `worlds` shows; None: no bound of that kind.

        ``ValueError`` if it is not his turn; what an evaluation function raises.
        """
        cdef State root = worlds.sample(seed)
        cdef uint8_t path[2 * MAX_TURN_ACTIONS + MAX_BOARD]
        cdef float value
        cdef int32_t count
        cdef int n, i
        cdef int64_t until = UNLIMITED
        cdef int64_t most = UNLIMITED if nodes is None else nodes
        cdef int64_t descents = UNLIMITED if visits is None else visits
        cdef uint64_t stream = seed & 0xFFFFFFFFFFFFFFFF
        if time_ns is not None:
            until = now_ns_() + <int64_t>time_ns
        if state_player(&root.s) != worlds.u.viewer:
            raise ValueError("a search is made for the player whose turn it is")
        self.error = None
        self.table = root.table
        self.evaluator.use_table(&root.table.t)
        fill_card_keys(self.w.card_keys, &root.table.t)
        with nogil:
            self.begin(&root.s, &root.table.t, &worlds.u, False, stream, until, most)
            n = self.run(descents, path, &value, &count)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        outcome = Outcome()
        outcome.actions = [path[i] for i in range(n)]
        outcome.value = value
        outcome.visits = count
        outcome.won = self.w.won
        outcome.nodes = self.w.made
        outcome.iterations = self.tree.nodes[0].visits if self.tree.n_nodes else 0
        outcome.depth = self.w.depth
        return outcome


def turn_key(State state not None):
    """`turn_hash` of a state: what a search takes for the same position in a turn."""
    cdef uint64_t card_keys[MAX_CARDS]
    fill_card_keys(card_keys, &state.table.t)
    return turn_hash(&state.s, &state.table.t, card_keys)


def play_game(State start not None, engines, worlds, nodes, seed, list ends=None):
    """The winner of a game between two engines, and its turns: what tuning plays by the thousand.

    `start` is where it begins, a battle with all its cards. `engines` are those of player 0 and 1,
    `worlds` a `Determinizer` for the view of each, `nodes` the budget of each for a turn. Each
    knows his own deck, but not its order, and takes the hidden cards of the other one from his
    `worlds` as if he had seen none. A game of over 400 turns has no winner, -1. To `ends` the
    states at the ends of the turns are appended.
    """
    cdef Engine first = engines[0], second = engines[1], engine
    cdef Determinizer of_first = worlds[0], of_second = worlds[1]
    cdef State state
    cdef int64_t budgets[2]
    cdef uint64_t stream = seed & 0xFFFFFFFFFFFFFFFF
    cdef state_t s = start.s
    cdef const table_t* t = &start.table.t
    cdef uint8_t path[2 * MAX_TURN_ACTIONS + MAX_BOARD]
    cdef float value
    cdef int32_t count
    cdef int n, i
    budgets[0] = nodes[0]
    budgets[1] = nodes[1]
    for engine in (first, second):
        engine.error = None
        engine.table = start.table
        engine.evaluator.use_table(t)
        fill_card_keys(engine.w.card_keys, t)
    with nogil:
        while state_winner(&s) < 0 and s.turn < start.s.turn + 400:
            stream = mixed(stream + 1)
            if s.turn & 1:
                second.begin(&s, t, &of_second.u, True, stream, UNLIMITED, budgets[1])
                n = second.run(UNLIMITED, path, &value, &count)
            else:
                first.begin(&s, t, &of_first.u, True, stream, UNLIMITED, budgets[0])
                n = first.run(UNLIMITED, path, &value, &count)
            for i in range(n):
                state_apply(&s, t, path[i])
            if ends is not None:
                with gil:
                    state = start.clone()
                    state.s = s
                    ends.append(state)
            if state_winner(&s) < 0:
                state_end_turn(&s, t)
    return state_winner(&s), s.turn - start.s.turn
