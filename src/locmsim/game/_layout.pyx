"""The writers of observation layouts: see _layout.pxd, and `locmsim.game.layouts` for the tables.
"""

from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from locmsim._batch cimport StateArray
from locmsim._core cimport (
    AREA_LANE1,
    AREA_LANE2,
    AREA_TARGET,
    ATTACK,
    CHARGE,
    CREATURE,
    GUARD,
    GUARDED,
    IS_BLUE,
    MAX_BOARD,
    MAX_DECK,
    MAX_HAND,
    OCCUPIED,
    OFFER_SIZE,
    PASS,
    READY,
    RULES_10,
    RULES_15,
    SPENT,
    State,
    affordable_cards,
    bits_of,
    card_t,
    clip,
    creature_t,
    decode_action,
    hand_card,
    move_t,
    num_actions,
    player_next_draw,
    player_t,
    state_apply,
    state_next_draw,
    state_t,
    table_t,
)
from locmsim._platform cimport count_bits_, lowest_bit_
from locmsim.game._match cimport (
    DRAFT_OFFER,
    MAX_SET,
    CompiledCards,
    match_begin,
    match_t,
    picks_left,
)

from locmsim._core import whole_number

__all__ = [
    "LAYOUT_CODES", "entities_scale", "observe", "observe_batch", "observe_choice", "sizes"]

LAYOUT_CODES = {"entities": ENTITIES, "gym-locm": GYM_LOCM, "entities-f32": ENTITIES_F32}

cdef enum:
    AFFORDABLE = 19             # column in a row of the hand
    COPIES = 20
    FRESH = 21
    # Offsets in a pile: counts by type, then by cost up to LAST_COST or more, then
    COSTS = 4
    LAST_COST = 7
    DRAWS = 12
    AREAS = 13
    CHARGES = 14
    GUARDS = 15
    # Numbers of "gym-locm" come from tables: a division takes longer.
    FLOATS = 512
    FLOAT_OFFSET = 128


cdef extern from *:
    """
    #include <string.h>
    /* Writes eight numbers of one byte each, the first one lowest. Rows are built in registers:
       which cards are present is hard to predict, so branches would cost more than they save. */
    static inline void put_(void* out, uint64_t word) {
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        memcpy(out, &word, 8);
    }
    #define byte_(x, i) ((uint64_t)(uint8_t)(x) << 8 * (i))
    #if defined(__GNUC__)
    #define unlikely_(x) __builtin_expect(!!(x), 0)
    /* Hides a size from the compiler, which would use "rep stos": that is slow to start. */
    static inline size_t some_(size_t n) { __asm__("" : "+r"(n)); return n; }
    #else
    #define unlikely_(x) (x)
    #define some_(n) (n)
    #endif
    """
    void put_(void* out, uint64_t word) noexcept nogil
    uint64_t byte_(int x, int i) noexcept nogil
    bint unlikely_(bint x) noexcept nogil
    size_t some_(size_t n) noexcept nogil


# ---- lookup tables -------------------------------------------------------------------------------

cdef uint64_t KEYWORDS[64]          # a byte for each of BCDGLW
cdef float KEYWORDS_F32[64][6]
cdef float TWELFTHS[FLOATS]         # x / 12 for x - FLOAT_OFFSET
cdef uint64_t BITS[256]             # a byte for each bit
cdef uint64_t PAIRS[16]             # two bytes for each bit, the first of which is the bit
cdef float SCALE[ENTITIES_SIZE]     # divisors of "entities-f32"


cdef void fill_tables() noexcept:
    cdef int i, j
    for i in range(64):
        for j in range(6):
            KEYWORDS[i] |= <uint64_t>(i >> j & 1) << 8 * j
            KEYWORDS_F32[i][j] = <float>(i >> j & 1)
    for i in range(FLOATS):
        TWELFTHS[i] = <float>((i - FLOAT_OFFSET) / 12.0)
    for i in range(256):
        for j in range(8):
            BITS[i] |= <uint64_t>(i >> j & 1) << 8 * j
    for i in range(16):
        for j in range(4):
            PAIRS[i] |= <uint64_t>(i >> j & 1) << 16 * j
    for i in range(ENTITIES_SIZE):
        SCALE[i] = 1


fill_tables()


def entities_scale(scale):
    """Set the divisors of "entities-f32", one for each number of "entities"."""
    cdef int i
    if len(scale) != ENTITIES_SIZE:
        raise ValueError(f"scale: expected {ENTITIES_SIZE} numbers, got {len(scale)}")
    for i in range(ENTITIES_SIZE):
        SCALE[i] = scale[i]


ctypedef struct view_t:         # the view of one player
    const int8_t* hand          # MAX_HAND rows
    const int8_t* deck          # the player's
    const int8_t* seen          # the opponent's
    const uint64_t* began[2]    # [copy], both players' creatures on board when their turn began
    const uint8_t* costs        # costs of entries
    uint8_t n_seen
    uint8_t actions             # the player's actions in this turn

ctypedef struct scratch_t:      # memory for a view of a state without history
    int8_t hand[MAX_HAND][HAND_ROW]
    uint64_t began[2]
    int8_t deck[PILE]
    int8_t seen[PILE]
    uint8_t costs[MAX_CARDS]


# ---- knowledge -----------------------------------------------------------------------------------

cdef inline int clip8(int x) noexcept nogil:
    """Bring a number into what the int8 layout can hold."""
    return clip(x, 127)


cdef inline void card_row(int8_t* row, const card_t* c, int copies, bint fresh) noexcept nogil:
    """Write the row of a card in hand, except whether it is affordable."""
    cdef uint64_t keywords = KEYWORDS[c.keywords]
    put_(row, byte_(1, 0) | byte_(1, 1 + c.type) | byte_(c.cost, 5) | byte_(clip8(c.attack), 6)
         | byte_(clip8(c.defense), 7))
    put_(row + 8, byte_(clip8(c.my_health), 0) | byte_(clip8(c.opponent_health), 1)
         | byte_(c.draw, 2) | keywords << 24)
    put_(row + 16, keywords >> 40 | byte_(c.area == AREA_LANE1, 1)
         | byte_(c.area == AREA_LANE2, 2) | byte_(copies, 4) | byte_(fresh, 5))


cdef void write_card(int8_t* row, const card_t* c) noexcept nogil:
    card_row(row, c, 0, 0)


cdef void count_card(int8_t* pile, int32_t* draws, const card_t* c, int n) noexcept nogil:
    pile[c.type] += n
    pile[COSTS + (c.cost if c.cost < LAST_COST else LAST_COST)] += n
    draws[0] += n * c.draw
    pile[DRAWS] = clip8(draws[0])
    pile[AREAS] += n * (c.area != AREA_TARGET)
    pile[CHARGES] += n * ((c.type == CREATURE) & (c.keywords & CHARGE != 0))
    pile[GUARDS] += n * ((c.type == CREATURE) & (c.keywords & GUARD != 0))


cdef inline void add_equal(
    known_t* k, const table_t* t, uint8_t* heads, uint8_t* chain, uint64_t* placed, int entry,
    bint in_deck
) noexcept nogil:
    """Add a card of a player to the ring of equal cards."""
    cdef int base = t.cards[entry].base_id
    cdef int other = heads[base & 255]      # 1 + the last entry whose base id has these low bits
    if not placed[0] >> (entry & 63) & 1:   # a deck may have the same entry of a pool twice
        placed[0] |= <uint64_t>1 << (entry & 63)
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


cdef inline void known_board(known_t* k, const player_t* p, int who) noexcept nogil:
    """Record which creatures a player has at the start of their turn."""
    cdef uint32_t slots = p.marks >> OCCUPIED & 63
    cdef const creature_t* x
    k.began[who][0] = k.began[who][1] = 0
    while slots:
        x = &p.board[lowest_bit_(slots)]
        slots &= slots - 1
        k.began[who][x.copy] |= <uint64_t>1 << (x.card & 63)


cdef void known_start(known_t* k, const state_t* s, const table_t* t) noexcept nogil:
    memset(k, 0, sizeof(known_t))
    known_fill(k, s, t)


cdef void known_resume(
    known_t* k, const state_t* s, const table_t* t, const past_t* past
) noexcept nogil:
    cdef const player_t* p = &s.p[s.turn & 1]
    cdef const creature_t* x
    cdef int who, i
    memset(k, 0, sizeof(known_t))
    for i in range(p.hand_size):
        if past.drawn >> i & 1:
            k.drawn[s.turn & 1] |= <uint64_t>1 << (p.hand >> 8 * i & 63)
    known_fill(k, s, t)
    k.actions = past.actions
    for who in range(2):
        k.n_seen[who] = past.n_seen[who]
        k.draws[1][who] = past.draws[who]
        memcpy(k.seen[who], past.seen[who], PILE)
        for i in range(MAX_BOARD):
            x = &s.p[who].board[i]
            if s.p[who].marks >> (OCCUPIED + i) & 1 and not past.began[who] >> i & 1:
                k.began[who][x.copy] &= ~(<uint64_t>1 << (x.card & 63))


cdef void past_of(past_t* past, const known_t* k, const state_t* s) noexcept nogil:
    cdef const player_t* p = &s.p[s.turn & 1]
    cdef const creature_t* x
    cdef int who, i
    memset(past, 0, sizeof(past_t))
    for i in range(p.hand_size):
        past.drawn |= <uint8_t>((k.drawn[s.turn & 1] >> (p.hand >> 8 * i & 63) & 1) << i)
    past.actions = k.actions
    for who in range(2):
        past.n_seen[who] = k.n_seen[who]
        past.draws[who] = k.draws[1][who]
        memcpy(past.seen[who], k.seen[who], PILE)
        for i in range(MAX_BOARD):
            x = &s.p[who].board[i]
            if s.p[who].marks >> (OCCUPIED + i) & 1:
                past.began[who] |= <uint8_t>((k.began[who][x.copy] >> (x.card & 63) & 1) << i)


cdef void known_fill(known_t* k, const state_t* s, const table_t* t) noexcept nogil:
    """Fill in what follows from the cards; `k` must be zero except for `drawn`."""
    cdef uint8_t heads[256]
    cdef uint8_t chain[256]
    cdef uint64_t placed
    cdef const player_t* p
    cdef int who, i
    for i in range(t.n_cards if t.n_cards < KNOWN_ENTRIES else KNOWN_ENTRIES):
        k.costs[i] = t.cards[i].cost
    for who in range(2):
        p = &s.p[who]
        known_board(k, p, who)
        memset(heads, 0, sizeof(heads))
        placed = 0
        for i in range(p.hand_size):
            add_equal(k, t, heads, chain, &placed, p.hand >> 8 * i & 255, False)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            add_equal(k, t, heads, chain, &placed, s.deck[who][i], True)
            count_card(k.deck[who], &k.draws[0][who], &t.cards[s.deck[who][i]], 1)
        known_hand(k, s, t, who)


cdef void known_hand(known_t* k, const state_t* s, const table_t* t, int who) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    cdef int h, entry
    memset(k.hand[who], 0, sizeof(k.hand[who]))
    for h in range(p.hand_size):
        entry = p.hand >> 8 * h & 63
        card_row(k.hand[who][h], &t.cards[entry], k.left[entry], k.drawn[who] >> entry & 1)


cdef inline void known_draw(
    known_t* k, const state_t* s, const table_t* t, int who, int n
) noexcept nogil:
    """Record that the last n cards of a hand have just been drawn."""
    cdef const player_t* p = &s.p[who]
    cdef int i, entry, other
    cdef int before = p.hand_size - n
    k.drawn[who] = 0
    for i in range(before, p.hand_size):
        entry = p.hand >> 8 * i & 255
        k.drawn[who] |= <uint64_t>1 << (entry & 63)
        count_card(k.deck[who], &k.draws[0][who], &t.cards[entry], -1)
        other = entry
        while True:
            k.left[other] -= 1
            other = k.equal[other]
            if other == entry:
                break
    for i in range(before):
        k.hand[who][i][COPIES] = k.left[p.hand >> 8 * i & 63]
        k.hand[who][i][FRESH] = 0
    for i in range(before, p.hand_size):
        entry = p.hand >> 8 * i & 63
        card_row(k.hand[who][i], &t.cards[entry], k.left[entry], True)


cdef void known_apply(known_t* k, state_t* s, const table_t* t, int action) noexcept nogil:
    cdef int who = s.turn & 1
    cdef int cards
    cdef move_t m
    if action == PASS:
        who = 1 - who
        cards = s.p[who].hand_size
        state_apply(s, t, PASS)
        known_draw(k, s, t, who, s.p[who].hand_size - cards)
        known_board(k, &s.p[who], who)
        k.actions = 0
        return
    k.actions += k.actions < 255
    m = decode_action(t, action)
    if m.kind != ATTACK:
        count_card(k.seen[who], &k.draws[1][who], hand_card(&s.p[who], t, m.source), 1)
        k.n_seen[who] += 1
        memmove(k.hand[who][m.source], k.hand[who][m.source + 1],
                (s.p[who].hand_size - m.source) * sizeof(k.hand[who][0]))
    state_apply(s, t, action)


cdef inline void view_of(const known_t* k, const state_t* s, int who, view_t* v) noexcept nogil:
    v.hand = &k.hand[who][0][0]
    v.deck = &k.deck[who][0]
    v.seen = &k.seen[1 - who][0]
    v.began[0] = &k.began[who][0]
    v.began[1] = &k.began[1 - who][0]
    v.costs = &k.costs[0]
    v.n_seen = k.n_seen[1 - who]
    v.actions = k.actions if s.turn & 1 == who else 0


cdef void view_of_state(
    const state_t* s, const table_t* t, int who, view_t* v, scratch_t* scratch
) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    cdef int32_t draws = 0
    cdef int copies[MAX_HAND]
    cdef int h, i
    memset(v, 0, sizeof(view_t))
    memset(scratch, 0, sizeof(scratch_t))
    memset(copies, 0, sizeof(copies))
    memset(scratch.began, 255, sizeof(scratch.began))
    v.hand = &scratch.hand[0][0]
    v.deck = scratch.deck
    v.seen = scratch.seen
    v.began[0] = v.began[1] = scratch.began
    v.costs = scratch.costs
    for i in range(MAX_DECK - p.deck_left, MAX_DECK):
        count_card(scratch.deck, &draws, &t.cards[s.deck[who][i]], 1)
        for h in range(p.hand_size):
            copies[h] += hand_card(p, t, h).base_id == t.cards[s.deck[who][i]].base_id
    for h in range(p.hand_size):
        card_row(scratch.hand[h], hand_card(p, t, h), copies[h], False)
    for h in range(2):
        for i in range(MAX_BOARD):
            if s.p[h].marks >> (OCCUPIED + i) & 1:
                scratch.costs[s.p[h].board[i].card] = t.cards[s.p[h].board[i].card].cost


# ---- layouts -------------------------------------------------------------------------------------

cdef int layout_size(int layout, int rules) noexcept nogil:
    if layout == GYM_LOCM:
        return GYM_LOCM_SIZE_15 if rules == RULES_15 else (
            GYM_LOCM_SIZE_12 if rules != RULES_10 else 0)
    return ENTITIES_SIZE


cdef int layout_item(int layout) noexcept nogil:
    return 1 if layout == ENTITIES else 4


cdef inline void write_board(
    int8_t* out, const player_t* p, bint one, const uint64_t* began, const uint8_t* costs, bint own
) noexcept nogil:
    """Write one side of the board; only the player's creatures show whether they can attack."""
    cdef const creature_t* x
    cdef uint64_t keywords
    cdef uint32_t marks = p.marks
    cdef uint32_t slots = marks >> OCCUPIED & 63
    cdef int attack, defense, slot
    memset(out, 0, some_(BOARD_ROW * MAX_BOARD))
    while slots:
        slot = lowest_bit_(slots)
        slots &= slots - 1
        x = &p.board[slot]
        keywords = KEYWORDS[x.keywords]
        attack = x.attack
        defense = x.defense
        if unlikely_(<uint32_t>(attack + 127) > 254 or <uint32_t>(defense + 127) > 254):
            attack = clip8(attack)
            defense = clip8(defense)
        put_(out + BOARD_ROW * slot, byte_(1, 0) | byte_((slot >= 3) & (not one), 1)
             | byte_(attack, 2) | byte_(defense, 3) | keywords << 32)
        keywords = (keywords >> 32 | byte_(~began[x.copy] >> (x.card & 63) & 1, 4)
                    | byte_(x.copy, 5) | byte_(costs[x.card], 6))
        if own:
            keywords |= byte_(marks >> (READY + slot) & 1, 2) | byte_(
                marks >> (SPENT + slot) & 1, 3)
        put_(out + BOARD_ROW * slot + 8, keywords)


cdef void write_entities(
    int8_t* out, const state_t* s, const table_t* t, int who, const view_t* v
) noexcept nogil:
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef uint64_t affordable
    cdef bint is_15 = t.rules == RULES_15        # lost health gives cards, instead of runes
    cdef bint mine = s.turn & 1 == who
    cdef int h
    put_(out + OWN, byte_(clip8(me.health), 0) | byte_(me.mana, 1) | byte_(me.max_mana, 2)
         | byte_(me.bonus, 3) | byte_(clip8(player_next_draw(me)), 4)
         | byte_(<uint32_t>me.lost % 5 if is_15 else count_bits_(me.runes), 5)
         | byte_(me.deck_left, 6) | byte_(me.hand_size, 7))
    put_(out + ENEMY, byte_(clip8(op.health), 0) | byte_(op.max_mana, 1) | byte_(op.bonus, 2)
         | byte_(clip8(player_next_draw(op)), 3)
         | byte_(<uint32_t>op.lost % 5 if is_15 else count_bits_(op.runes), 4)
         | byte_(op.deck_left, 5) | byte_(op.hand_size, 6) | byte_(v.n_seen, 7))
    put_(out + GAME, byte_(clip8(s.turn >> 1), 0) | byte_(who, 1) | byte_(clip8(v.actions), 2)
         | byte_(1, 3 + t.rules) | byte_(t.rules != RULES_10, 6)
         | byte_(clip8(me.shown_draw) * mine, 7))
    affordable = affordable_cards(me)
    memcpy(out + HAND_START, v.hand, some_(HAND_ROW * MAX_HAND))     # rows beyond the hand are zero
    for h in range(MAX_HAND):
        out[HAND_START + HAND_ROW * h + AFFORDABLE] = <int8_t>(affordable >> 8 * h)
    write_board(out + OWN_BOARD_START, me, t.rules == RULES_10, v.began[0], v.costs, 1)
    write_board(out + ENEMY_BOARD_START, op, t.rules == RULES_10, v.began[1], v.costs, 0)
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


cdef inline float twelfth(int x) noexcept nogil:
    if 0 <= x + FLOAT_OFFSET < FLOATS:
        return TWELFTHS[x + FLOAT_OFFSET]
    return <float>(clip(x, STAT_LIMIT) / 12.0)


cdef inline float* write_player(
    float* out, const state_t* s, int who, int mana, int rules
) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    out[0] = <float>(clip(p.health, STAT_LIMIT) / 30.0)
    out[1] = <float>(mana / 13.0)
    out += 2
    if rules != RULES_15:
        out[0] = <float>(5 * count_bits_(p.runes) / 30.0)       # the highest one is next
        out += 1
    out[0] = <float>(clip(state_next_draw(s, who), STAT_LIMIT) / 6.0)
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
    memset(out, 0, some_(sizeof(float) * (GYM_LOCM_SIZE_15 if areas else GYM_LOCM_SIZE_12)))
    out = write_player(out, s, who, me.mana, t.rules)
    out = write_player(out, s, 1 - who, op.max_mana, t.rules)
    for h in range(me.hand_size):
        c = hand_card(me, t, h)
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
        row[2] = <float>(me.marks >> (READY + slot) & v.began[0][x.copy] >> (x.card & 63) & 1)
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


cdef inline void write_layout(
    int layout, void* out, const state_t* s, const table_t* t, int who, const view_t* v
) noexcept nogil:
    if layout == ENTITIES:
        write_entities(<int8_t*>out, s, t, who, v)
    elif layout == GYM_LOCM:
        write_gym_locm(<float*>out, s, t, who, v)
    else:
        write_entities_f32(<float*>out, s, t, who, v)


cdef void write_known(
    int layout, void* out, const known_t* k, const state_t* s, const table_t* t, int who
) noexcept nogil:
    cdef view_t view
    view_of(k, s, who, &view)
    write_layout(layout, out, s, t, who, &view)


cdef void write_hidden(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil:
    cdef const player_t* p
    cdef int side, i, left
    memset(out, 0, some_(HIDDEN_ROWS * HAND_ROW))
    for side in range(2):
        p = &s.p[who ^ side]
        for i in range(p.hand_size):
            card_row(out + HAND_ROW * (MAX_HAND * side + i), hand_card(p, t, i), 0, 0)
        left = p.deck_left
        for i in range(left):
            card_row(out + HAND_ROW * (2 * MAX_HAND + MAX_DECK * side + i),
                     &t.cards[s.deck[who ^ side][MAX_DECK - left + i]], 0, 0)


# ---- masks ---------------------------------------------------------------------------------------

cdef void write_mask(int8_t* out, const state_t* s, const table_t* t, int who) noexcept nogil:
    """Write the legal actions by kind, as `state_list` finds them, but many bytes at a time: which
    ones are legal is hard to predict. Rows are written in ascending order, because each may write
    beyond its end."""
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef bint one = t.rules == RULES_10
    cdef uint32_t own = me.marks >> OCCUPIED & 63
    cdef uint32_t enemy = op.marks >> OCCUPIED & 63
    cdef uint32_t guards = op.marks >> GUARDED & 63
    cdef uint32_t ready = me.marks >> READY & 63
    cdef uint32_t items, cost_kind, targets
    cdef uint64_t affordable, creatures, lanes, lane1, lane2
    cdef int h, slot
    cdef int8_t* row
    memset(out, 0, some_(num_actions(t.rules)))
    out[0] = 1
    if s.p[0].won | s.p[1].won or s.turn & 1 != who:
        return
    affordable = affordable_cards(me)
    creatures = affordable & ~(me.cost_kinds | me.cost_kinds >> 1 | me.cost_kinds >> 2)
    if one:
        put_(out + 1, creatures * (own != 63))
        row = out + 9
    else:
        lanes = (~own >> 2 & 1) | (~own >> 5 & 1) << 8
        targets = bits_of(creatures)
        put_(out + 1, PAIRS[targets & 15] * lanes)
        put_(out + 9, PAIRS[targets >> 4] * lanes)
        row = out + 17
    items = bits_of(affordable ^ creatures)
    while items:
        h = lowest_bit_(items)
        items &= items - 1
        cost_kind = <uint32_t>(me.cost_kinds >> 8 * h & 255)
        targets = (cost_kind & IS_BLUE) | own << 1 & (0 - (cost_kind >> 1 & 1)) | enemy << 7 & (
            0 - (cost_kind >> 2 & 1))
        put_(row + 13 * h, BITS[targets & 255])
        put_(row + 13 * h + 8, BITS[targets >> 8])
    row += 13 * MAX_HAND
    if one:
        lanes = BITS[guards << 1 if guards else enemy << 1 | 1]
        for slot in range(MAX_BOARD - 1):
            put_(row + 7 * slot, lanes & (0 - <uint64_t>(ready >> slot & 1)))
        lanes &= 0 - <uint64_t>(ready >> 5 & 1)
        put_(row + 34, lanes << 8 | (row[34] & 1))
        return
    lane1 = BITS[(guards & 7) << 1 if guards & 7 else (enemy & 7) << 1 | 1]
    lane2 = BITS[guards >> 3 << 1 if guards >> 3 else enemy >> 3 << 1 | 1]
    # Four bytes for each of the player's slots, two slots at a time.
    put_(row, lane1 * (ready & 1 | <uint64_t>(ready >> 1 & 1) << 32))
    put_(row + 8, lane1 * (ready >> 2 & 1) | lane2 * (ready >> 3 & 1) << 32)
    put_(row + 16, lane2 * (ready >> 4 & 1 | <uint64_t>(ready >> 5 & 1) << 32))


# ---- for Python ----------------------------------------------------------------------------------

def sizes():
    """Return the sizes of the layouts: name -> rule set -> numbers, 0 for a missing layout."""
    found = {
        name: {rules: layout_size(code, number)
               for number, rules in enumerate(("1.5", "1.2", "1.0"))}
        for name, code in LAYOUT_CODES.items()
    }
    found["choice"] = {rules: choice_size(number)
                       for number, rules in enumerate(("1.5", "1.2", "1.0"))}
    return found


def observe(State state not None, int player, int layout, out):
    """Write what `player` sees of a state without history into a writable contiguous array."""
    cdef view_t view
    cdef scratch_t scratch
    cdef uint8_t[::1] buffer = memoryview(out).cast("B")
    if not 0 <= player <= 1 or not ENTITIES <= layout <= ENTITIES_F32:
        raise ValueError(f"player {player}, layout {layout}: expected 0 or 1, and a layout")
    if buffer.shape[0] != layout_size(layout, state.table.t.rules) * layout_item(layout):
        raise ValueError(f"out: {buffer.shape[0]} bytes do not fit the layout")
    view_of_state(&state.s, &state.table.t, player, &view, &scratch)
    write_layout(layout, &buffer[0], &state.s, &state.table.t, player, &view)


def observe_batch(StateArray array not None, int player, int layout, out):
    """Do `observe` for each state; player -1 means the player to move."""
    cdef view_t view
    cdef scratch_t scratch
    cdef uint8_t[::1] buffer = memoryview(out).cast("B") if array.size else None
    cdef Py_ssize_t size, i
    cdef const state_t* s
    cdef int who
    if not -1 <= player <= 1 or not ENTITIES <= layout <= ENTITIES_F32:
        raise ValueError(f"player {player}, layout {layout}: expected -1, 0 or 1, and a layout")
    size = layout_size(layout, array.rules) * layout_item(layout)
    if array.size == 0:
        return
    if buffer.shape[0] != array.size * size:
        raise ValueError(f"out: {buffer.shape[0]} bytes do not fit {array.size} rows of the layout")
    with nogil:
        for i in range(array.size):
            s = &array.states[i]
            who = s.turn & 1 if player < 0 else player
            view_of_state(s, array.tables[i], who, &view, &scratch)
            write_layout(layout, &buffer[0] + i * size, s, array.tables[i], who, &view)


def observe_choice(CompiledCards cards not None, offer, deck, int8_t[::1] out):
    """Write what a player sees in the choice phase who is offered cards (1.x) and has a deck.

    Both are indices of cards; ``ValueError`` if there are too many, or one names no card.
    """
    cdef match_t m
    cdef int8_t rows[HAND_ROW * MAX_SET]
    cdef int i
    match_begin(&m, cards.table.t.rules, cards.table.t.n_cards - cards.table.t.n_instances)
    m.cards = cards.cards()
    if out.shape[0] != choice_size(m.rules):
        raise ValueError(f"out: {out.shape[0]} numbers, expected {choice_size(m.rules)}")
    if len(deck) > MAX_DECK:
        raise ValueError(f"chosen: {len(deck)} cards, expected {MAX_DECK} at most")
    if len(offer) != (0 if m.rules == RULES_15 else DRAFT_OFFER):
        raise ValueError(f"offer: {len(offer)} cards")
    m.picked[0] = <uint8_t>len(deck)
    for i, card in enumerate(deck):
        m.decks[0][i] = <uint8_t>whole_number(card, f"chosen[{i}]", 0, m.n_cards - 1)
    if m.picked[0] < MAX_DECK:
        for i, card in enumerate(offer):
            m.triplets[m.picked[0]][i] = <uint8_t>whole_number(
                card, f"offer[{i}]", 0, m.n_cards - 1)
    write_cards(rows, m.cards, m.n_cards)
    write_choice(&out[0], &m, 0, rows)


# ---- the choice phase ----------------------------------------------------------------------------

cdef enum:
    CONSTRUCT_SIZE = OFFER_SIZE * (HAND_ROW + 1) + PILE + 1
    DRAFT_SIZE = (DRAFT_OFFER + MAX_DECK) * HAND_ROW + PILE + 1


cdef int choice_size(int rules) noexcept nogil:
    return CONSTRUCT_SIZE if rules == RULES_15 else DRAFT_SIZE


cdef int choice_actions(int rules) noexcept nogil:
    return OFFER_SIZE if rules == RULES_15 else DRAFT_OFFER


cdef void write_cards(int8_t* out, const card_t* cards, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        write_card(out + HAND_ROW * i, &cards[i])


cdef inline void copy_rows(
    int8_t* out, const int8_t* rows, const uint8_t* cards, int n
) noexcept nogil:
    cdef int i
    for i in range(n):
        memcpy(out + HAND_ROW * i, rows + HAND_ROW * cards[i], HAND_ROW)


cdef void write_choice(
    int8_t* out, const match_t* m, int who, const int8_t* rows
) noexcept nogil:
    cdef const uint8_t* deck = m.decks[who]
    cdef int n = m.picked[who]
    cdef int32_t draws = 0
    cdef int8_t* pile
    cdef int i
    if m.rules == RULES_15:
        memset(out + HAND_ROW * m.n_cards, 0, CONSTRUCT_SIZE - HAND_ROW * m.n_cards)
        memcpy(out, rows, HAND_ROW * m.n_cards)
        out += HAND_ROW * OFFER_SIZE
        for i in range(n):
            out[deck[i]] += 1
        pile = out + OFFER_SIZE
    else:
        memset(out, 0, DRAFT_SIZE)
        if n < MAX_DECK:
            copy_rows(out, rows, m.triplets[n], DRAFT_OFFER)
        out += HAND_ROW * DRAFT_OFFER
        copy_rows(out, rows, deck, n)
        pile = out + HAND_ROW * MAX_DECK
    for i in range(n):
        count_card(pile, &draws, &m.cards[deck[i]], 1)
    pile[PILE] = <int8_t>n


cdef void write_choice_mask(int8_t* out, const match_t* m, int who) noexcept nogil:
    cdef int8_t left[MAX_SET]
    cdef int i, card, n = picks_left(m, who, left)
    memset(out, 0, choice_actions(m.rules))
    memset(out, m.picked[who] < MAX_DECK, n)
    if m.rules == RULES_15:
        for i in range(m.picked[who]):      # only cards that were taken can be used up
            card = m.decks[who][i]
            out[card] = left[card] > 0


cdef void write_choice_hidden(
    int8_t* out, const match_t* m, int who, const int8_t* rows
) noexcept nogil:
    cdef int8_t* decks = out + HAND_ROW * 2 * MAX_HAND
    memset(out, 0, HIDDEN_ROWS * HAND_ROW)
    copy_rows(decks, rows, m.decks[who], m.picked[who])
    copy_rows(decks + HAND_ROW * MAX_DECK, rows, m.decks[1 - who], m.picked[1 - who])
