"""The writers of observation layouts: see _layout.pxd, and `locmsim.policy.layouts` for the tables.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    AREA_LANE1,
    AREA_LANE2,
    AREA_TARGET,
    CHARGE,
    CREATURE,
    GUARD,
    GUARDED,
    IS_BLUE,
    IS_GREEN,
    MAX_BOARD,
    MAX_DECK,
    MAX_HAND,
    OCCUPIED,
    ON_ENEMIES,
    PASS,
    READY,
    RULES_10,
    RULES_15,
    SPENT,
    SUMMON,
    USE,
    State,
    card_t,
    creature_t,
    decode_action,
    move_t,
    player_t,
    state_apply,
    state_next_draw,
    state_t,
    state_winner,
    table_t,
)
from locmsim._platform cimport count_bits_, lowest_bit_

__all__ = ["LAYOUT_CODES", "entities_scale", "mask_of", "observe", "sizes"]

LAYOUT_CODES = {"entities": ENTITIES, "gym-locm": GYM_LOCM, "entities-f32": ENTITIES_F32}

cdef enum:
    # Offsets in "entities".
    OWN = 0
    ENEMY = 8
    GAME = 16
    HAND = 24
    HAND_ROW = 24
    OWN_BOARD = 216
    ENEMY_BOARD = 312
    BOARD_ROW = 16
    DECK = 408
    SEEN = 424
    # ... in a pile: counts by type, then by cost up to MAX_COST and more, then
    COSTS = 4
    MAX_COST = 7
    DRAWS = 12
    AREAS = 13
    CHARGES = 14
    GUARDS = 15
    # Numbers of "gym-locm" looked up: a division takes longer.
    FLOATS = 512
    FLOAT_OFFSET = 128


# ---- lookup tables -------------------------------------------------------------------------------

cdef uint8_t KEYWORDS[64][8]        # a byte for each of BCDGLW
cdef float KEYWORDS_F32[64][6]
cdef float TWELFTHS[FLOATS]         # x / 12 for x - FLOAT_OFFSET
cdef uint8_t BITS[128][8]           # a byte for each bit
cdef float SCALE[ENTITIES_SIZE]     # what "entities-f32" divides by


cdef void fill_tables() noexcept:
    cdef int i, j
    for i in range(64):
        for j in range(6):
            KEYWORDS[i][j] = i >> j & 1
            KEYWORDS_F32[i][j] = <float>(i >> j & 1)
        KEYWORDS[i][6] = KEYWORDS[i][7] = 0
    for i in range(FLOATS):
        TWELFTHS[i] = <float>((i - FLOAT_OFFSET) / 12.0)
    for i in range(128):
        for j in range(8):
            BITS[i][j] = i >> j & 1
    for i in range(ENTITIES_SIZE):
        SCALE[i] = 1


fill_tables()


def entities_scale(scale):
    """Set what "entities-f32" divides by: one number for each of "entities"."""
    cdef int i
    if len(scale) != ENTITIES_SIZE:
        raise ValueError(f"scale: expected {ENTITIES_SIZE} numbers, got {len(scale)}")
    for i in range(ENTITIES_SIZE):
        SCALE[i] = scale[i]


# ---- what is known -------------------------------------------------------------------------------

cdef inline int8_t cut(int x) noexcept nogil:
    return <int8_t>(127 if x > 127 else -127 if x < -127 else x)


cdef inline void count_card(int8_t* pile, int32_t* draws, const card_t* c, int n) noexcept nogil:
    """Add a card to a pile, or take it away (n = -1)."""
    pile[c.type] += n
    pile[COSTS + (c.cost if c.cost < MAX_COST else MAX_COST)] += n
    draws[0] += n * c.draw
    pile[DRAWS] = cut(draws[0])
    pile[AREAS] += n * (c.area != AREA_TARGET)
    if c.type == CREATURE:
        pile[CHARGES] += n * (c.keywords & CHARGE != 0)
        pile[GUARDS] += n * (c.keywords & GUARD != 0)


cdef inline void add_equal(
    known_t* k, const table_t* t, uint8_t* heads, uint8_t* chain, int entry, bint in_deck
) noexcept nogil:
    """Put a card of a player into the ring of those that are equal to it."""
    cdef int base = t.cards[entry].base_id
    cdef int other = heads[base & 255]      # 1 + the entry that came last with such a base id
    chain[entry] = other
    heads[base & 255] = entry + 1
    while other and t.cards[other - 1].base_id != base:
        other = chain[other - 1]
    if other:
        k.equal[entry] = k.equal[other - 1]
        k.equal[other - 1] = entry
        k.left[entry] = k.left[other - 1]
    else:
        k.equal[entry] = entry
        k.left[entry] = 0
    if in_deck:
        other = entry
        while True:
            k.left[other] += 1
            other = k.equal[other]
            if other == entry:
                return


cdef void known_start(known_t* k, const state_t* s, const table_t* t) noexcept nogil:
    cdef uint8_t heads[256]
    cdef uint8_t chain[256]
    cdef const player_t* p
    cdef int who, i
    memset(k, 0, sizeof(known_t))
    memset(k.began, 255, sizeof(k.began))
    for who in range(2):
        p = &s.p[who]
        memset(heads, 0, sizeof(heads))
        for i in range(p.hand_size):
            add_equal(k, t, heads, chain, p.hand >> 8 * i & 255, False)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            add_equal(k, t, heads, chain, s.deck[who][i], True)
            count_card(k.deck[who], &k.draws[0][who], &t.cards[s.deck[who][i]], 1)


cdef inline void drew(known_t* k, const state_t* s, const table_t* t, int who, int n) noexcept nogil:
    """The last n cards of a hand have just been drawn."""
    cdef const player_t* p = &s.p[who]
    cdef int i, entry, other
    k.drawn[who] = 0
    for i in range(p.hand_size - n, p.hand_size):
        entry = p.hand >> 8 * i & 255
        k.drawn[who] |= <uint64_t>1 << (entry & 63)
        count_card(k.deck[who], &k.draws[0][who], &t.cards[entry], -1)
        other = entry
        while True:
            k.left[other] -= 1
            other = k.equal[other]
            if other == entry:
                break


cdef inline void stand(known_t* k, const player_t* p, int who) noexcept nogil:
    """Note which creatures a player has as his turn begins."""
    cdef uint32_t slots = p.marks >> OCCUPIED & 63
    cdef const creature_t* x
    k.began[who][0] = k.began[who][1] = 0
    while slots:
        x = &p.board[lowest_bit_(slots)]
        slots &= slots - 1
        k.began[who][x.copy] |= <uint64_t>1 << (x.card & 63)


cdef void known_apply(known_t* k, state_t* s, const table_t* t, int action) noexcept nogil:
    cdef int who = s.turn & 1
    cdef int cards
    cdef move_t m
    if action == PASS:
        who = 1 - who
        cards = s.p[who].hand_size
        state_apply(s, t, PASS)
        drew(k, s, t, who, s.p[who].hand_size - cards)
        stand(k, &s.p[who], who)
        k.actions = 0
        return
    k.actions += k.actions < 255
    m = decode_action(t, action)
    if m.kind == SUMMON or m.kind == USE:
        count_card(k.seen[who], &k.draws[1][who],
                   &t.cards[s.p[who].hand >> 8 * m.source & 255], 1)
        k.shown[who] += 1
    state_apply(s, t, action)


cdef inline uint8_t newcomers(const known_t* k, const player_t* p, int who) noexcept nogil:
    cdef uint32_t slots = p.marks >> OCCUPIED & 63
    cdef const creature_t* x
    cdef int slot
    cdef uint8_t mask = 0
    while slots:
        slot = lowest_bit_(slots)
        slots &= slots - 1
        x = &p.board[slot]
        mask |= <uint8_t>((~k.began[who][x.copy] >> (x.card & 63) & 1) << slot)
    return mask


cdef void view_of(const known_t* k, const state_t* s, int who, view_t* v) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    cdef int h, entry
    v.deck = k.deck[who]
    v.seen = k.seen[1 - who]
    v.shown = k.shown[1 - who]
    v.actions = k.actions if s.turn & 1 == who else 0
    v.fresh = 0
    for h in range(p.hand_size):
        entry = p.hand >> 8 * h & 63
        v.copies[h] = k.left[entry]
        v.fresh |= <uint8_t>((k.drawn[who] >> entry & 1) << h)
    v.came[0] = newcomers(k, p, who)
    v.came[1] = newcomers(k, &s.p[1 - who], 1 - who)


cdef void view_of_state(
    const state_t* s, const table_t* t, int who, view_t* v, int8_t* pile
) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    cdef int32_t draws = 0
    cdef int h, i
    memset(v, 0, sizeof(view_t))
    memset(pile, 0, 2 * PILE)
    v.deck = pile
    v.seen = pile + PILE
    for i in range(MAX_DECK - p.deck_left, MAX_DECK):
        count_card(pile, &draws, &t.cards[s.deck[who][i]], 1)
        for h in range(p.hand_size):
            v.copies[h] += t.cards[p.hand >> 8 * h & 255].base_id == (
                t.cards[s.deck[who][i]].base_id)


# ---- layouts -------------------------------------------------------------------------------------

cdef int layout_size(int layout, int rules) noexcept nogil:
    if layout == GYM_LOCM:
        return GYM_LOCM_SIZE_15 if rules == RULES_15 else (
            GYM_LOCM_SIZE_12 if rules != RULES_10 else 0)
    return ENTITIES_SIZE


cdef int layout_item(int layout) noexcept nogil:
    return 1 if layout == ENTITIES else 4


cdef void write_board(
    int8_t* out, const player_t* p, const table_t* t, uint8_t came, bint own
) noexcept nogil:
    cdef uint32_t slots = p.marks >> OCCUPIED & 63
    cdef bint one = t.rules == RULES_10
    cdef const creature_t* x
    cdef int8_t* row
    cdef int slot
    while slots:
        slot = lowest_bit_(slots)
        slots &= slots - 1
        x = &p.board[slot]
        row = out + BOARD_ROW * slot
        row[0] = 1
        row[1] = slot >= 3 and not one
        row[2] = cut(x.attack)
        row[3] = cut(x.defense)
        memcpy(row + 4, KEYWORDS[x.keywords], 8)
        if own:
            row[10] = p.marks >> (READY + slot) & 1
            row[11] = p.marks >> (SPENT + slot) & 1
        row[12] = came >> slot & 1
        row[13] = x.copy
        row[14] = t.cards[x.card].cost


cdef void write_entities(
    int8_t* out, const state_t* s, const table_t* t, int who, const view_t* v
) noexcept nogil:
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef const card_t* c
    cdef int8_t* row
    cdef int h
    memset(out, 0, DECK)
    out[OWN + 0] = cut(me.health)
    out[OWN + 1] = me.mana
    out[OWN + 2] = me.max_mana
    out[OWN + 3] = me.bonus
    out[OWN + 4] = cut(state_next_draw(s, who))
    out[OWN + 5] = <int8_t>(me.lost % 5 if t.rules == RULES_15 else count_bits_(me.runes))
    out[OWN + 6] = me.deck_left
    out[OWN + 7] = me.hand_size
    out[ENEMY + 0] = cut(op.health)
    out[ENEMY + 1] = op.max_mana
    out[ENEMY + 2] = op.bonus
    out[ENEMY + 3] = cut(state_next_draw(s, 1 - who))
    out[ENEMY + 4] = <int8_t>(op.lost % 5 if t.rules == RULES_15 else count_bits_(op.runes))
    out[ENEMY + 5] = op.deck_left
    out[ENEMY + 6] = op.hand_size
    out[ENEMY + 7] = v.shown
    out[GAME + 0] = cut(s.turn >> 1)
    out[GAME + 1] = who
    out[GAME + 2] = cut(v.actions)
    out[GAME + 3 + t.rules] = 1
    out[GAME + 6] = t.rules != RULES_10
    if s.turn & 1 == who:
        out[GAME + 7] = cut(me.shown_draw)
    for h in range(me.hand_size):
        c = &t.cards[me.hand >> 8 * h & 255]
        row = out + HAND + HAND_ROW * h
        row[0] = 1
        row[1 + c.type] = 1
        row[5] = c.cost
        row[6] = cut(c.attack)
        row[7] = cut(c.defense)
        row[8] = cut(c.my_health)
        row[9] = cut(c.opponent_health)
        row[10] = c.draw
        memcpy(row + 11, KEYWORDS[c.keywords], 8)
        row[17] = c.area == AREA_LANE1
        row[18] = c.area == AREA_LANE2
        row[19] = c.cost <= me.mana
        row[20] = v.copies[h]
        row[21] = v.fresh >> h & 1
    write_board(out + OWN_BOARD, me, t, v.came[0], True)
    write_board(out + ENEMY_BOARD, op, t, v.came[1], False)
    memcpy(out + DECK, v.deck, PILE)
    memcpy(out + SEEN, v.seen, PILE)


cdef void write_entities_f32(
    float* out, const state_t* s, const table_t* t, int who, const view_t* v
) noexcept nogil:
    cdef int8_t values[ENTITIES_SIZE]
    cdef int i
    write_entities(values, s, t, who, v)
    for i in range(ENTITIES_SIZE):
        out[i] = values[i] / SCALE[i]


cdef inline int bounded(int x) noexcept nogil:
    return STAT_LIMIT if x > STAT_LIMIT else -STAT_LIMIT if x < -STAT_LIMIT else x


cdef inline float twelfth(int x) noexcept nogil:
    if 0 <= x + FLOAT_OFFSET < FLOATS:
        return TWELFTHS[x + FLOAT_OFFSET]
    return <float>(bounded(x) / 12.0)


cdef inline float* write_player(
    float* out, const state_t* s, int who, int mana, int rules
) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    out[0] = <float>(bounded(p.health) / 30.0)
    out[1] = <float>(mana / 13.0)
    out += 2
    if rules != RULES_15:
        out[0] = <float>(5 * count_bits_(p.runes) / 30.0)       # the highest one is next
        out += 1
    out[0] = <float>(bounded(state_next_draw(s, who)) / 6.0)
    return out + 1


cdef void write_gym_locm(
    float* out, const state_t* s, const table_t* t, int who, const view_t* v
) noexcept nogil:
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef bint areas = t.rules == RULES_15
    cdef int width = 17 if areas else 16
    cdef const card_t* c
    cdef const creature_t* x
    cdef uint32_t slots
    cdef float* row
    cdef int h, slot
    memset(out, 0, sizeof(float) * (GYM_LOCM_SIZE_15 if areas else GYM_LOCM_SIZE_12))
    out = write_player(out, s, who, me.mana, t.rules)
    out = write_player(out, s, 1 - who, op.max_mana, t.rules)
    for h in range(me.hand_size):
        c = &t.cards[me.hand >> 8 * h & 255]
        row = out + width * h
        row[c.type] = 1
        row[4] = twelfth(c.cost)
        row[5] = twelfth(c.attack)
        row[6] = twelfth(c.defense if c.defense > -12 else -12)
        row[7] = twelfth(c.my_health)
        row[8] = twelfth(c.opponent_health)
        row[9] = <float>(c.draw / 2.0)
        memcpy(row + 10, KEYWORDS_F32[c.keywords], 6 * sizeof(float))
        if areas:
            row[16] = <float>(c.area / 2.0)
    out += MAX_HAND * width
    slots = me.marks >> OCCUPIED & 63
    while slots:
        slot = lowest_bit_(slots)
        slots &= slots - 1
        x = &me.board[slot]
        row = out + 9 * slot
        row[0] = twelfth(x.attack)
        row[1] = twelfth(x.defense)
        row[2] = <float>(me.marks >> (READY + slot) & ~v.came[0] >> slot & 1)
        memcpy(row + 3, KEYWORDS_F32[x.keywords], 6 * sizeof(float))
    out += 9 * MAX_BOARD
    slots = op.marks >> OCCUPIED & 63
    while slots:
        slot = lowest_bit_(slots)
        slots &= slots - 1
        x = &op.board[slot]
        row = out + 8 * slot
        row[0] = twelfth(x.attack)
        row[1] = twelfth(x.defense)
        memcpy(row + 2, KEYWORDS_F32[x.keywords], 6 * sizeof(float))


cdef void write_layout(
    int layout, void* out, const state_t* s, const table_t* t, int who, const view_t* v
) noexcept nogil:
    if layout == ENTITIES:
        write_entities(<int8_t*>out, s, t, who, v)
    elif layout == GYM_LOCM:
        write_gym_locm(<float*>out, s, t, who, v)
    else:
        write_entities_f32(<float*>out, s, t, who, v)


# ---- masks ---------------------------------------------------------------------------------------

cdef inline void write_bits(int8_t* out, uint32_t mask) noexcept nogil:
    """A byte for each of eight bits, the highest one 0."""
    memcpy(out, BITS[mask], 8)


cdef void write_mask(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil:
    """The legal actions by kind, as `state_list` finds them, but written where they belong: listing
    and then scattering them takes three times as long."""
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef bint one = t.rules == RULES_10
    cdef int size = 155 if one else 145
    cdef int first_use = 9 if one else 17
    cdef uint32_t own = me.marks >> OCCUPIED & 63
    cdef uint32_t enemy = op.marks >> OCCUPIED & 63
    cdef uint32_t guards = op.marks >> GUARDED & 63
    cdef uint32_t lanes, price, left, targets
    cdef uint32_t by_lane[2]
    cdef int8_t* row
    cdef int h, slot
    memset(out, 0, size)
    out[0] = 1
    if state_winner(s) >= 0 or s.turn & 1 != who:
        return
    lanes = own != 63 if one else (~own >> 2 & 1) | (~own >> 5 & 1) << 1
    for h in range(me.hand_size):
        price = <uint32_t>(me.prices >> 8 * h & 255)
        if price + 8 * me.mana + 8 < 128:
            continue
        if price & (IS_GREEN | ON_ENEMIES) == 0:
            if one:
                out[1 + h] = lanes
            else:
                out[1 + 2 * h] = lanes & 1
                out[2 + 2 * h] = lanes >> 1
            continue
        row = out + first_use + 13 * h
        if price & IS_GREEN:
            memcpy(row + 1, BITS[own], 6)
        else:
            row[0] = price & IS_BLUE
            memcpy(row + 7, BITS[enemy], 6)
    left = me.marks >> READY & 63
    if one:
        targets = guards << 1 if guards else enemy << 1 | 1
        while left:
            slot = lowest_bit_(left)
            left &= left - 1
            memcpy(out + 113 + 7 * slot, BITS[targets], 7)
        return
    by_lane[0] = (guards & 7) << 1 if guards & 7 else (enemy & 7) << 1 | 1
    by_lane[1] = guards >> 3 << 1 if guards >> 3 else enemy >> 3 << 1 | 1
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        memcpy(out + 121 + 4 * slot, BITS[by_lane[slot >= 3]], 4)


# ---- for Python ----------------------------------------------------------------------------------

def sizes():
    """Sizes of the layouts: name -> rule set -> numbers, 0 where there is no such layout."""
    return {
        name: {rules: layout_size(code, number)
               for number, rules in enumerate(("1.5", "1.2", "1.0"))}
        for name, code in LAYOUT_CODES.items()
    }


def observe(State state not None, int player, int layout, out):
    """Write what `player` sees of a state without a past into a writable contiguous array."""
    cdef view_t view
    cdef int8_t pile[2 * PILE]
    cdef uint8_t[::1] room = memoryview(out).cast("B")
    if not 0 <= player <= 1 or not ENTITIES <= layout <= ENTITIES_F32:
        raise ValueError(f"player {player}, layout {layout}: expected 0 or 1, and a layout")
    if room.shape[0] != layout_size(layout, state.table.t.rules) * layout_item(layout):
        raise ValueError(f"out: {room.shape[0]} bytes do not fit the layout")
    view_of_state(&state.s, &state.table.t, player, &view, pile)
    write_layout(layout, &room[0], &state.s, &state.table.t, player, &view)


def mask_of(State state not None, int player, int8_t[::1] out):
    """The mask of a player, as environments give it: PASS only where he cannot move."""
    if out.shape[0] != (155 if state.table.t.rules == RULES_10 else 145):
        raise ValueError(f"out: {out.shape[0]} numbers do not fit the actions")
    write_mask(&out[0], &state.s, &state.table.t, player & 1)
