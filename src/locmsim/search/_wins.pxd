# A search for a win within the turn considers only actions that can matter, ordered by the damage
# still missing. `beam_pass` in _engine_beam.pxi does the search.

from libc.stdint cimport int16_t, int32_t, uint32_t
from libc.string cimport memset

from locmsim._core cimport (
    AREA_LANE2,
    AREA_TARGET,
    ATTACK,
    BLUE,
    BREAKTHROUGH,
    CHARGE,
    CREATURE,
    GREEN,
    GUARD,
    GUARDED,
    LETHAL,
    MAX_BOARD,
    MAX_CARDS,
    OCCUPIED,
    READY,
    RULES_10,
    SPENT,
    SUMMON,
    WARD,
    card_t,
    creature_t,
    decode_action,
    hand_card,
    lane_slots,
    move_t,
    player_t,
    state_t,
    table_t,
)
from locmsim._platform cimport count_bits_, lowest_bit_


ctypedef struct wins_t:
    int16_t potential[MAX_CARDS]    # the most damage that a card of the hand can add
    bint wakes                      # some card may ready a creature
    bint needs_creatures            # some card used on the player's creatures harms the opponent


cdef inline int open_attack(const player_t* other, const int32_t* attack, bint one) noexcept nogil:
    """Return the attack in lanes where the other player has no Guard."""
    cdef uint32_t guarded = other.marks >> GUARDED & 63
    if one:
        return 0 if guarded else attack[0]
    return (0 if guarded & 7 else attack[0]) + (0 if guarded >> 3 else attack[1])


cdef inline int ready_attack(const state_t* s, const table_t* t, bint everywhere) noexcept nogil:
    """Return the attack of the ready creatures; `everywhere`: including lanes with Guards."""
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
    """Return the opponent's health after all direct attacks that are possible now."""
    return s.p[~s.turn & 1].health - ready_attack(s, t, False)


cdef inline bint can_kill(const state_t* s, const table_t* t) noexcept nogil:
    """Return whether direct attacks that are possible now win."""
    return missing_damage(s, t) <= 0


cdef inline int harm(const card_t* c) noexcept nogil:
    """Return the damage that a card's effects do to the opponent."""
    return -c.opponent_health if c.opponent_health < 0 else 0


cdef inline int potential_of(
    const card_t* c, const wins_t* l, int enemies, int sleeper, const table_t* t
) noexcept nogil:
    """Return the most damage that a card of the hand can add in this turn."""
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


cdef inline void prepare_wins(wins_t* l, const state_t* s, const table_t* t) noexcept nogil:
    """Find out how much damage each card of the hand can add."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef const card_t* c
    cdef int h, slot, sleeper = 0
    memset(l, 0, sizeof(wins_t))
    for slot in range(MAX_BOARD):
        sleeper = max(sleeper, me.board[slot].attack)
    for h in range(me.hand_size):
        c = hand_card(me, t, h)
        if c.type == CREATURE:
            sleeper = max(sleeper, c.attack)
        elif c.type == GREEN:
            l.wakes |= c.keywords & CHARGE != 0
            l.needs_creatures |= harm(c) > 0
    for h in range(me.hand_size):
        l.potential[me.hand >> 8 * h & 255] = potential_of(
            hand_card(me, t, h), l, count_bits_(op.marks >> OCCUPIED & 63), sleeper, t)


cdef inline int most_damage(const wins_t* l, const state_t* s, const table_t* t) noexcept nogil:
    """Return an upper bound of the damage beyond attacks that are possible now: attackers blocked
    by Guards, and the best affordable set of cards (a knapsack)."""
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
    """Return the creatures that an item used on this one affects."""
    if c.area == AREA_TARGET:
        return 1U << slot
    return occupied & lane_slots(slot, c.area == AREA_LANE2)


cdef inline bint is_useful(
    const wins_t* l, const state_t* s, const table_t* t, int action
) noexcept nogil:
    """Return whether an action may help to win in this turn: one that harms the opponent,
    strengthens or readies an attacker, removes or attacks a Guard, or makes room for a card."""
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
            return False                # attacks on the opponent are played last, all at once
        x = &me.board[m.source]
        y = &op.board[m.target - 1]
        if y.keywords & GUARD and x.attack > 0:
            return True
        lane = lane_slots(m.source, t.rules == RULES_10)
        return (
            (me.marks >> OCCUPIED & lane) == lane and not x.keywords & WARD and y.attack > 0
            and (y.attack >= x.defense or y.keywords & LETHAL != 0)
        )
    c = hand_card(me, t, m.source)
    if m.kind == SUMMON:
        return l.needs_creatures or l.potential[me.hand >> 8 * m.source & 255] > 0
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
