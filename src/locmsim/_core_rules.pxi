# The rules of the battle and playouts, without the GIL: legal actions, their effects, invariants
# and hashes. Part of _core.pyx, which includes it.

from libc.string cimport memcpy

# A branch that is (un)likely to be taken. A barrier across which the compiler moves no loads:
# without it gcc computes parts of the next action's choice at the end of every branch of this one,
# and spills them (2 to 4 % of the playouts' speed).
cdef extern from *:
    """
    #if defined(__GNUC__)
    #define likely_(x) __builtin_expect(!!(x), 1)
    #define unlikely_(x) __builtin_expect(!!(x), 0)
    #define reload_() __asm__ volatile("" ::: "memory")
    #else
    #define likely_(x) (x)
    #define unlikely_(x) (x)
    #define reload_()
    #endif
    /* Eight bytes of memory as a word with the first byte lowest, and back. */
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define low_first_(x) __builtin_bswap64(x)
    #else
    #define low_first_(x) (x)
    #endif
    /* Fails to compile unless a constant condition holds. */
    #define static_assert_(x) ((void)sizeof(char[(x) ? 1 : -1]))
    """
    void static_assert_(bint) noexcept nogil
    bint likely_(bint) noexcept nogil
    bint unlikely_(bint) noexcept nogil
    void reload_() noexcept nogil
    uint64_t low_first_(uint64_t) noexcept nogil
    const int LOCMSIM_DEBUG

# ---- lookup tables -------------------------------------------------------------------------------
# Filled once, below. Counting and finding bits by table instead of by instruction keeps a plain
# x86-64 build, which has no POPCNT, as fast as a tuned one. A game touches few lines of the tables.

ctypedef struct mine_t:             # what counting legal actions needs of the mover's board
    uint16_t attackers              # creatures that can attack, plus 256 times those of lane 1
    int8_t creatures                # number of creatures, less `lanes`
    int8_t lanes                    # lanes with a free slot

ctypedef struct theirs_t:           # ... and of the opponent's
    uint16_t targets                # targets of an attacker in lane 1, plus 256 * in lane 0
    int8_t creatures
    uint8_t _pad

cdef uint8_t COUNT[256]             # bits set in a byte
cdef uint8_t NTH[256 * 8]           # [8 * byte + n]: position of the n-th set bit
cdef uint64_t LOW_BYTES[MAX_DECK + 1]   # ones in the lowest n bytes, in all eight from n = 8
cdef uint8_t QUOTIENT[8 * 64]       # [64 * n + k]: k // n, a load instead of a division
cdef mine_t MINE[2][4096]           # [one lane?][ready and occupied slots]
cdef theirs_t THEIRS[2][4096]       # [one lane?][slots: occupied, and with Guard]
cdef uint16_t TARGETS[2][4096]      # ... what an attacker in lane 0 (low byte) or 1 may attack:
#                                     bit 0 the player, bit 1 + i enemy i of that lane
cdef uint8_t ATTACKS[8 * 16 * 16]   # [attackers of a lane, what they may attack, k]: k-th attack,
#                                     attacker + 16 * target (0 the player); two lanes only
cdef uint32_t KEEP[2][MAX_BOARD]    # [one lane?][slot]: marks that stay when the slot is removed
cdef uint32_t CLOSE[2][MAX_BOARD]   # ... and those that move down, after a shift by one
cdef move_t MOVES[2][MAX_ACTIONS]   # [one lane?][action]: the decoded action
cdef uint8_t REACH[3][MAX_BOARD]    # [area][slot]: slots that an item on this one reaches
cdef uint8_t RUNES_HIT[32]          # [health, at most 26]: runes lost when it is reached

cdef enum:
    ALL_MARKS = 0x041041            # times a mask of board slots: the mask in each of the `marks`
    FIRST_USE = 17                  # first action numbers, with two lanes and with one
    FIRST_ATTACK = 121
    FIRST_USE_1 = 9
    FIRST_ATTACK_1 = 113


cdef mine_t mine_of(uint32_t ready, uint32_t occupied, bint one) noexcept nogil:
    cdef mine_t m
    if one:
        m.attackers = COUNT[ready]
        m.lanes = occupied != 63
    else:
        m.attackers = COUNT[ready & 7] | COUNT[ready >> 3] << 8
        m.lanes = 2 - (occupied >> 2 & 1) - (occupied >> 5)     # which last slots are free
    m.creatures = COUNT[occupied] - m.lanes
    return m


cdef theirs_t theirs_of(uint32_t occupied, uint32_t targets) noexcept nogil:
    cdef theirs_t m
    m.targets = COUNT[targets >> 8] | COUNT[targets & 255] << 8
    m.creatures = COUNT[occupied]
    m._pad = 0
    return m


cdef uint16_t targets_of(uint32_t occupied, uint32_t guarded, bint one) noexcept nogil:
    if one:
        return guarded << 1 if guarded else occupied << 1 | 1
    return targets_of(occupied & 7, guarded & 7, True) | (
        targets_of(occupied >> 3, guarded >> 3, True) << 8)


cdef void fill_tables() noexcept:
    cdef int i, j, n, one, low, last, action
    for i in range(256):
        n = 0
        for j in range(8):
            if i >> j & 1:
                NTH[8 * i + n] = j
                n += 1
        COUNT[i] = n
    for n in range(1, MAX_DECK + 1):
        LOW_BYTES[n] = LOW_BYTES[n - 1] << 8 | 255
    for n in range(1, 8):
        for i in range(64):
            QUOTIENT[64 * n + i] = i // n
    for one in range(2):
        for i in range(4096):
            MINE[one][i] = mine_of(i & 63, i >> 6, one)
            TARGETS[one][i] = targets_of(i & 63, i >> 6, one)
            THEIRS[one][i] = theirs_of(i & 63, TARGETS[one][i])
        for i in range(MAX_BOARD):
            last = 2 if i < 3 and not one else 5
            low = (1 << i) - 1
            KEEP[one][i] = <uint32_t>ALL_MARKS * ((low | ~((2 << last) - 1)) & 63)
            CLOSE[one][i] = <uint32_t>ALL_MARKS * (((1 << last) - 1) & ~low)
        for action in range(MAX_ACTIONS):
            MOVES[one][action] = move_of(action, one)
    for i in range(8 * 16):
        n = 0
        for j in range(3):
            for low in range(4):
                if i >> 4 >> j & 1 and i >> low & 1:
                    ATTACKS[16 * i + n] = j | low << 4
                    n += 1
    for i in range(MAX_BOARD):
        REACH[AREA_TARGET][i] = 1 << i
        REACH[AREA_LANE1][i] = 7 if i < 3 else 56
        REACH[AREA_LANE2][i] = 63
    for i in range(32):
        n = 0
        for j in range(5):
            if i <= 5 * (j + 1):
                n |= 1 << j
        RUNES_HIT[i] = n


cdef move_t move_of(int action, bint one) noexcept nogil:
    """Decode an action number (section 12), to fill `MOVES`."""
    cdef move_t m
    cdef int first_use = FIRST_USE_1 if one else FIRST_USE
    cdef int first_attack = FIRST_ATTACK_1 if one else FIRST_ATTACK
    cdef int width = 7 if one else 4
    memset(&m, 0, sizeof(move_t))
    if action == 0 or action >= (MAX_ACTIONS if one else TWO_LANE_ACTIONS):
        m.kind = PASS
    elif action < first_use:
        m.kind = SUMMON
        m.source = action - 1 if one else (action - 1) // 2
        m.target = 0 if one else (action - 1) % 2
    elif action < first_attack:
        m.kind = USE
        m.source = (action - first_use) // 13
        m.target = (action - first_use) % 13
    else:
        m.kind = ATTACK
        m.source = (action - first_attack) // width
        m.target = (action - first_attack) % width
        if m.target and not one and m.source >= 3:
            m.target += 3           # 1 + i in the lane -> 1 + slot
    return m


fill_tables()


# ---- reading a state -----------------------------------------------------------------------------

cdef int state_player(const state_t* s) noexcept nogil:
    return s.turn & 1


cdef int state_winner(const state_t* s) noexcept nogil:
    if s.p[0].won:
        return 0
    return 1 if s.p[1].won else -1


cdef move_t decode_action(const table_t* t, int action) noexcept nogil:
    return MOVES[t.rules == RULES_10][action]


cdef inline uint32_t marked(const player_t* p, int which) noexcept nogil:
    """Return one byte of the marks: a mask of board slots."""
    return p.marks >> which & 63


# ---- legal actions (section 6) -------------------------------------------------------------------

ctypedef struct legal_t:
    uint64_t attacks
    uint64_t plays          # byte h: summons and uses of hand positions 0..h together


cdef inline uint64_t count_legal(
    const player_t* me, const player_t* op, legal_t* l, const int rules
) noexcept nogil:
    """Count the legal actions, PASS included, and write their parts into `l`."""
    cdef const mine_t* mine = &MINE[rules == RULES_10][me.marks & 4095]
    cdef const theirs_t* theirs = &THEIRS[rules == RULES_10][op.marks >> OCCUPIED & 4095]
    # Byte h: choices for hand position h, at most 7: the lanes with room, and for an item the
    # difference between its targets and these. One multiplication sums them, and its partial sums
    # find the k-th below.
    cdef int64_t lanes = mine.lanes
    cdef uint64_t choices = (
        lanes * BYTES
        + (me.cost_kinds & BYTES)
        + (me.cost_kinds >> 1 & BYTES) * <uint64_t>mine.creatures
        + (me.cost_kinds >> 2 & BYTES) * <uint64_t>(theirs.creatures - lanes)
    )
    cdef uint64_t paid = affordable_cards(me)
    l.plays = (choices & (paid << 8) - paid) * BYTES
    # (a + 256 b) * (d + 256 c) has a * c + b * d, both lanes' attacks, in its second byte.
    l.attacks = <uint32_t>mine.attackers * theirs.targets >> 8 & 255
    return 1 + l.attacks + (l.plays >> 56)


cdef inline int slot_of(const player_t* p, int i, const int rules) noexcept nogil:
    """Return the slot of the i-th creature, lane 0 before lane 1."""
    cdef int first
    if rules == RULES_10:
        return i
    first = COUNT[p.marks >> OCCUPIED & 7]
    return i + (3 - first) * (i >= first)


cdef inline move_t kth_attack(
    const player_t* me, const player_t* op, int k, const int rules
) noexcept nogil:
    """Return the k-th attack: lane by lane, attacker by attacker. With two lanes one table holds
    it: dividing and looking up both parts would be a long chain of dependent steps, which costs 1 %
    of the speed in 1.5 and 4 % in 1.2."""
    cdef bint one = rules == RULES_10
    cdef uint32_t index = op.marks >> OCCUPIED & 4095
    cdef uint32_t targets = TARGETS[one][index]
    cdef const mine_t* mine = &MINE[one][me.marks & 4095]
    cdef int first = (mine.attackers & 255) * (THEIRS[one][index].targets >> 8)
    cdef int lane = 0 if one else k >= first
    cdef int n, attacker
    cdef move_t m
    m.kind = ATTACK
    m._pad = 0
    k -= first * lane
    targets = targets >> 8 * lane & 255
    if one:
        n = COUNT[targets]
        attacker = QUOTIENT[64 * n + k]
        k = NTH[8 * targets + k - attacker * n]
        m.source = NTH[8 * (me.marks & 63) + attacker]
        m.target = k
    else:
        n = ATTACKS[(me.marks >> 3 * lane & 7) << 8 | targets << 4 | k]
        k = n >> 4
        m.source = 3 * lane + (n & 15)
        m.target = k + 3 * lane * (k != 0)
    return m


cdef inline move_t kth_play(
    const player_t* me, const player_t* op, uint64_t plays, uint64_t n, const int rules
) noexcept nogil:
    """Return the k-th summon or use, in the order of the hand."""
    # Byte h has its top bit set if positions 0..h have at most k plays; the number of such bytes is
    # the position.
    cdef uint64_t before = n * BYTES + (0x80 * BYTES - plays)
    cdef int h = <int>((before >> 7 & BYTES) * BYTES >> 56)
    cdef uint32_t cost_kind = <uint32_t>(me.cost_kinds >> 8 * h)
    cdef bint blue = cost_kind & IS_BLUE
    cdef bint green = cost_kind >> 1 & 1
    cdef move_t m
    cdef int k = <int>(n - (plays << 8 >> 8 * h & 255))
    m.source = h
    m._pad = 0
    if cost_kind & (IS_GREEN | ON_ENEMIES) == 0:
        m.kind = SUMMON
        # If lane 0 is full: lane 1.
        m.target = 0 if rules == RULES_10 else k | (me.marks >> (OCCUPIED + 2) & 1)
    else:
        m.kind = USE
        m.target = 7 - 6 * green + slot_of(me if green else op, k - blue, rules)
        m.target = m.target * (k >= blue)       # a blue item's first target is the player
    return m


cdef inline move_t kth_legal(
    const player_t* me, const player_t* op, const legal_t* l, int k, const int rules
) noexcept nogil:
    """Return the k-th legal action, in the order of state_kth."""
    if k == 0:
        return MOVES[0][PASS]
    if k <= <int>l.attacks:
        return kth_attack(me, op, k - 1, rules)
    return kth_play(me, op, l.plays, k - 1 - l.attacks, rules)


cdef inline int action_of(move_t m, const bint one) noexcept nogil:
    """Return the number of a decoded action: the inverse of `move_of`."""
    if m.kind == PASS:
        return 0
    if m.kind == SUMMON:
        return 1 + m.source if one else 1 + 2 * m.source + m.target
    if m.kind == USE:
        return (FIRST_USE_1 if one else FIRST_USE) + 13 * m.source + m.target
    if one:
        return FIRST_ATTACK_1 + 7 * m.source + m.target
    return FIRST_ATTACK + 4 * m.source + m.target - (3 if m.target and m.source >= 3 else 0)


cdef int encode_action(const table_t* t, move_t m) noexcept nogil:
    return action_of(m, t.rules == RULES_10)


cdef inline int list_legal(
    const player_t* me, const player_t* op, uint8_t* out, const int rules
) noexcept nogil:
    """Write all legal actions in ascending order; return their number."""
    cdef bint one = rules == RULES_10
    cdef int first = FIRST_USE_1 if one else FIRST_USE
    cdef int width = 7 if one else 4
    cdef uint32_t hand = bits_of(affordable_cards(me))
    cdef uint32_t items = bits_of((me.cost_kinds >> 1 | me.cost_kinds >> 2) & BYTES)
    cdef uint32_t own = marked(me, OCCUPIED)
    cdef uint32_t enemy = marked(op, OCCUPIED)
    cdef uint32_t left, mask, cost_kind
    cdef int n, h, slot, base, lane
    out[0] = 0
    n = 1
    left = hand & ~items
    while left:
        h = NTH[8 * left]
        left &= left - 1
        if one:
            out[n] = 1 + h
            n += own != 63
        else:
            out[n] = 1 + 2 * h
            n += ~own >> 2 & 1
            out[n] = 2 + 2 * h
            n += ~own >> 5 & 1
    # Items in hand order: 13 targets each; the masks below are the legal ones.
    left = hand & items
    while left:
        h = NTH[8 * left]
        left &= left - 1
        base = first + 13 * h
        cost_kind = <uint32_t>(me.cost_kinds >> 8 * h)
        if cost_kind & IS_GREEN:
            mask = own
            base += 1
        else:
            out[n] = base
            n += cost_kind & IS_BLUE
            mask = enemy
            base += 7
        while mask:
            out[n] = base + NTH[8 * mask]
            n += 1
            mask &= mask - 1
    left = marked(me, READY)
    while left:
        slot = NTH[8 * left]
        left &= left - 1
        lane = 0 if one else slot >= 3
        base = (FIRST_ATTACK_1 if one else FIRST_ATTACK) + width * slot
        mask = TARGETS[one][op.marks >> OCCUPIED & 4095] >> 8 * lane & 255
        while mask:
            out[n] = base + NTH[8 * mask]
            n += 1
            mask &= mask - 1
    return n


cdef inline bint move_is_legal(
    const player_t* me, const player_t* op, move_t m, const int rules
) noexcept nogil:
    cdef uint32_t cost_kind
    cdef int lane
    if m.kind == PASS:
        return True
    if m.kind == ATTACK:
        if not marked(me, READY) >> m.source & 1:
            return False
        lane = 0 if rules == RULES_10 else m.source >= 3
        return TARGETS[rules == RULES_10][op.marks >> OCCUPIED & 4095] >> (
            8 * lane + m.target - (3 if lane and m.target else 0)) & 1
    if not affordable_cards(me) >> 8 * m.source & 1:
        return False
    cost_kind = <uint32_t>(me.cost_kinds >> 8 * m.source)
    if m.kind == SUMMON:
        if cost_kind & (IS_GREEN | ON_ENEMIES):
            return False
        if rules == RULES_10:
            return marked(me, OCCUPIED) != 63
        return not marked(me, OCCUPIED) >> (3 * m.target + 2) & 1
    if m.target == 0:
        return cost_kind & IS_BLUE
    if m.target < 7:
        return cost_kind >> 1 & marked(me, OCCUPIED) >> (m.target - 1) & 1
    return cost_kind >> 2 & marked(op, OCCUPIED) >> (m.target - 7) & 1


cdef int state_count(const state_t* s, const table_t* t) noexcept nogil:
    cdef legal_t l
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    if t.rules == RULES_10:
        return <int>count_legal(me, op, &l, RULES_10)
    return <int>count_legal(me, op, &l, RULES_15)        # 1.2 has the same legal actions


cdef int state_list(const state_t* s, const table_t* t, uint8_t* actions) noexcept nogil:
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    if t.rules == RULES_10:
        return list_legal(me, op, actions, RULES_10)
    return list_legal(me, op, actions, RULES_15)


cdef int state_kth(const state_t* s, const table_t* t, int k) noexcept nogil:
    cdef legal_t l
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    if t.rules == RULES_10:
        count_legal(me, op, &l, RULES_10)
        return action_of(kth_legal(me, op, &l, k, RULES_10), True)
    count_legal(me, op, &l, RULES_15)
    return action_of(kth_legal(me, op, &l, k, RULES_15), False)


cdef bint state_is_legal(const state_t* s, const table_t* t, int action) noexcept nogil:
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    if t.rules == RULES_10:
        return 0 <= action < MAX_ACTIONS and move_is_legal(me, op, MOVES[1][action], RULES_10)
    return 0 <= action < TWO_LANE_ACTIONS and move_is_legal(me, op, MOVES[0][action], RULES_15)


# ---- hand, board, health -------------------------------------------------------------------------
# `protocol` (a literal) says whether to maintain what only the protocol shows: board order over
# both lanes, forgotten effects. Playouts don't.

cdef inline void add_to_hand(player_t* p, const table_t* t, uint8_t entry) noexcept nogil:
    cdef const card_t* c = &t.cards[entry]
    cdef int h = p.hand_size
    p.hand |= <uint64_t>entry << 8 * h
    p.cost_kinds |= <uint64_t>c.cost_kind << 8 * h
    p.hand_size = h + 1


cdef inline void remove_from_hand(player_t* p, int h) noexcept nogil:
    # x moves down by one place from position h on: below it keep x, from there take x shifted.
    cdef uint64_t below = (1ULL << 8 * h) - 1
    cdef uint64_t hand = p.hand >> 8
    cdef uint64_t cost_kinds = p.cost_kinds >> 8
    p.hand = hand ^ ((hand ^ p.hand) & below)
    p.cost_kinds = cost_kinds ^ ((cost_kinds ^ p.cost_kinds) & below)
    p.hand_size -= 1


cdef inline void add_creature(
    player_t* p, const card_t* c, const bint copy, int lane, const int rules, const bint protocol
) noexcept nogil:
    """Append a creature to a lane that has room."""
    cdef int slot = COUNT[marked(p, OCCUPIED)] if rules == RULES_10 else (
        3 * lane + COUNT[p.marks >> (OCCUPIED + 3 * lane) & 7])
    p.board[slot] = c.creature
    if copy:
        p.board[slot].copy = 1
    p.marks |= c.marks << slot
    if protocol:
        p.order = p.order << 1 | lane


cdef inline void remove_creature(
    player_t* p, int slot, const int rules, const bint protocol
) noexcept nogil:
    """Take a creature off the board and close the gap in its lane."""
    cdef bint one = rules == RULES_10
    cdef int j, lane, i, bit
    cdef int start = 0 if one else 3 * (slot + 1 >> 2)      # of its lane; no comparison, no branch
    cdef creature_t* first = &p.board[start]
    cdef int size = MAX_BOARD if one else 3
    if protocol:
        # Find the creature's bit in the order: the i-th bit of its lane from the top.
        lane = 0 if one else slot >= 3
        i = slot - 3 * lane
        bit = COUNT[marked(p, OCCUPIED)]
        while i >= 0:
            bit -= 1
            i -= (p.order >> bit & 1) == lane
        p.order = (p.order >> (bit + 1) << bit) | (p.order & ((1 << bit) - 1))
    p.marks = (p.marks & KEEP[one][slot]) | (p.marks >> 1 & CLOSE[one][slot])
    slot -= start
    for j in range(size - 1):
        first[j] = first[j + (j >= slot)]       # no branch: the slot is hard to predict
    memset(&first[size - 1], 0, sizeof(creature_t))


cdef inline void change_health(player_t* p, int change, const int rules) noexcept nogil:
    """Change health by an action; losses give cards (section 5)."""
    cdef uint32_t hit
    p.health += change
    if rules == RULES_15:
        p.lost -= change & change >> 31             # only negative changes
    elif change < 0:
        hit = p.runes & RUNES_HIT[0 if p.health < 0 else 26 if p.health > 26 else p.health]
        p.runes ^= hit
        p.next_draw += COUNT[hit]


cdef inline void take_cards(
    state_t* s, const table_t* t, int who, player_t* p, int n
) noexcept nogil:
    """Move the top n cards of the deck to the hand; the deck and the hand must allow it."""
    cdef uint8_t* top = &s.deck[who][MAX_DECK - p.deck_left]
    # Eight cards as one word, of which n are drawn. The costs of two are looked up in any case,
    # as the number of draws is hard to predict, and without waiting for it, which costs 2 % of the
    # speed. The word may reach beyond the deck into bytes of the state that stay as they are: the
    # other deck's, or the turn and the start of the other player.
    static_assert_(sizeof(s.deck) == 2 * MAX_DECK)
    static_assert_(sizeof(state_t) == sizeof(s.deck) + sizeof(s.turn) + sizeof(s.p))
    cdef uint64_t cards, cost_kinds, rest, drawn = LOW_BYTES[n]
    cdef int h
    memcpy(&rest, top, 8)
    rest = low_first_(rest)
    cards = rest & LOW_BYTES[p.deck_left]       # the first entry where the deck has no card
    cost_kinds = t.cards[cards & 255].cost_kind | <uint64_t>t.cards[cards >> 8 & 255].cost_kind << 8
    for h in range(2, n):
        cost_kinds |= <uint64_t>t.cards[cards >> 8 * h & 255].cost_kind << 8 * h
    h = 8 * p.hand_size & 63                # the hand may be full if n is 0
    p.hand |= (cards & drawn) << h
    p.cost_kinds |= (cost_kinds & drawn) << h
    rest = low_first_(rest & ~drawn)
    memcpy(top, &rest, 8)
    p.hand_size += n
    p.deck_left -= n


cdef inline void draw(
    state_t* s, const table_t* t, int who, player_t* p, int n, const int rules
) noexcept nogil:
    """Draw at the start of a turn (section 5) for player `who`, which is `p`; set no winner."""
    cdef int drawn, rune
    cdef bint late = unlikely_(s.turn >= 2 * TURN_LIMIT)
    if rules == RULES_15:
        if late:
            p.health -= 10
        drawn = MAX_HAND - p.hand_size
        if drawn > n:
            drawn = n
        if unlikely_(drawn > p.deck_left):
            drawn = p.deck_left
        n -= drawn
        take_cards(s, t, who, p, drawn)
        p.health -= 10 * n * (p.hand_size < MAX_HAND)       # the deck is empty if n is not 0
        return
    if not late and n <= p.deck_left:
        drawn = MAX_HAND - p.hand_size
        take_cards(s, t, who, p, n if n < drawn else drawn)
        return
    while n > 0:
        n -= 1
        if late or p.deck_left == 0:
            if p.runes == 0:
                p.health = 0
                return
            rune = 4
            while not p.runes >> rune & 1:
                rune -= 1
            p.runes ^= 1 << rune
            p.health = 5 * (rune + 1)
        elif p.hand_size == MAX_HAND:
            return
        else:
            take_cards(s, t, who, p, 1)


cdef inline bint check_win(player_t* me, player_t* op) noexcept nogil:
    """Set and return the winner; the player to move wins if both are dead (section 5)."""
    if likely_((me.health - 1 | op.health - 1) >= 0):
        return False
    if op.health <= 0:
        me.won = 1
    else:
        op.won = 1
    return True


# ---- actions (section 7) -------------------------------------------------------------------------
# Each function returns whether the game has ended.

cdef inline bint effects(
    player_t* me, player_t* op, const card_t* c, int times, const int rules
) noexcept nogil:
    """Apply the health changes and draws of a card `times` times, each as one change."""
    me.next_draw += times * c.draw
    change_health(me, times * c.my_health, rules)
    change_health(op, times * c.opponent_health, rules)
    return check_win(me, op)


cdef inline bint summon(
    player_t* me, player_t* op, const table_t* t, int h, int lane, const int rules,
    const bint protocol
) noexcept nogil:
    cdef const card_t* c = hand_card(me, t, h)
    cdef int times = 1
    remove_from_hand(me, h)
    me.mana -= c.cost
    add_creature(me, c, False, lane, rules, protocol)
    if rules == RULES_15:
        lane ^= c.area == AREA_LANE2
        if (c.area != AREA_TARGET) & (not marked(me, OCCUPIED) >> (3 * lane + 2) & 1):
            add_creature(me, c, True, lane, rules, protocol)
            times = 2
    return effects(me, op, c, times, rules)


cdef inline bint attack_player(
    player_t* me, player_t* op, int slot, const int rules, const bint protocol
) noexcept nogil:
    cdef creature_t* x = &me.board[slot]
    if protocol and rules != RULES_15:
        x.forgotten = 1
    me.marks = (me.marks & ~(1U << READY << slot)) | 1U << SPENT << slot
    change_health(op, -x.attack, rules)
    change_health(me, x.attack * (x.keywords >> 2 & 1), rules)      # Drain
    return check_win(me, op)


cdef inline int16_t clip_stat(int value) noexcept nogil:
    """Clip a number to what a creature can have. Only constructed positions and creatures with a
    negative printed attack, which gain defense in every fight, can reach the bound."""
    return value if value < MAX_STAT else MAX_STAT


cdef inline bint attack_creature(
    player_t* me, player_t* op, int slot, int target, const int rules, const bint protocol
) noexcept nogil:
    cdef creature_t* x = &me.board[slot]
    cdef creature_t* y = &op.board[target]
    cdef int attack = x.attack
    cdef int dealt = 0 if y.keywords & WARD else attack
    cdef int received = 0 if x.keywords & WARD else y.attack
    cdef int x_left = x.defense - received
    cdef int y_left = y.defense - dealt
    cdef uint32_t keywords = x.keywords
    cdef bint x_dies = x_left <= 0 or (y.keywords & LETHAL and received > 0)
    cdef bint y_dies = y_left <= 0 or (keywords & LETHAL and dealt > 0)
    if x_dies:
        remove_creature(me, slot, rules, protocol)
    else:
        me.marks = (me.marks & ~(1U << READY << slot)) | 1U << SPENT << slot
        x.defense = clip_stat(x_left)
        if y.attack > 0:
            x.keywords &= ~WARD
        if protocol and rules != RULES_15:
            x.forgotten = 1
    if y_dies:
        remove_creature(op, target, rules, protocol)
    else:
        y.defense = clip_stat(y_left)
        if attack > 0:
            y.keywords &= ~WARD
        if protocol and rules != RULES_15:
            y.forgotten = 1
    me.health += attack * (keywords >> 2 & (dealt > 0))       # Drain
    if keywords & BREAKTHROUGH and y_left < 0:
        change_health(op, y_left, rules)
        return check_win(me, op)
    return False


cdef inline void use_on(
    player_t* p, const card_t* c, int slot, const int rules, const bint protocol
) noexcept nogil:
    """Apply an item to one creature of `p`."""
    cdef creature_t* x = &p.board[slot]
    cdef uint32_t keywords = x.keywords | c.keywords if c.type == GREEN else (
        x.keywords & ~<uint32_t>c.keywords)
    cdef int attack = x.attack + c.attack
    cdef int defense = x.defense
    if c.defense < 0 and keywords & WARD:
        keywords ^= WARD
    else:
        defense += c.defense
    if defense <= 0:
        # 1.x: a green item that would kill leaves its target as it was.
        if rules == RULES_15 or c.type != GREEN:
            remove_creature(p, slot, rules, protocol)
        return
    x.attack = clip_stat(attack) if attack > 0 else 0
    x.defense = clip_stat(defense)
    x.keywords = keywords
    p.marks = (p.marks & ~(1U << GUARDED << slot)) | (keywords >> 3 & 1) << GUARDED << slot
    if c.type == GREEN and c.keywords & CHARGE:     # it is ready unless it has attacked
        p.marks = (p.marks & ~(1U << READY << slot)) | (
            ~p.marks >> SPENT >> slot & 1) << READY << slot
    if protocol and rules != RULES_15:
        x.forgotten = 1


cdef inline player_t* select_player(player_t* me, player_t* op, bint other) noexcept nogil:
    """Return `op if other else me`, without a branch."""
    return <player_t*>(<uint64_t>me ^ (<uint64_t>me ^ <uint64_t>op) & -<uint64_t>other)


cdef inline bint use(
    player_t* me, player_t* op, const table_t* t, int h, int target, const int rules,
    const bint protocol
) noexcept nogil:
    cdef const card_t* c = &t.cards[<uint8_t>(me.hand >> 8 * h)]
    cdef player_t* p
    cdef int slot, times, i
    cdef uint32_t hit
    remove_from_hand(me, h)
    me.mana -= c.cost
    if target == 0:                                 # blue on the player: one change, no area
        change_health(op, c.defense + c.opponent_health, rules)
        change_health(me, c.my_health, rules)
        me.next_draw += c.draw
        return check_win(me, op)
    p = select_player(me, op, target >= 7)
    slot = target - 1 - 6 * (target >= 7)
    if rules != RULES_15:
        use_on(p, c, slot, rules, protocol)
        return effects(me, op, c, 1, rules)
    hit = marked(p, OCCUPIED) & REACH[c.area][slot]
    times = COUNT[hit]
    for i in range(times - 1, -1, -1):              # from the end: a removal moves those behind it
        use_on(p, c, NTH[8 * hit + i], rules, protocol)
    return effects(me, op, c, times, rules)


cdef inline bint end_turn(
    state_t* s, const table_t* t, player_t* op, player_t* me, const int rules, const bint protocol
) noexcept nogil:
    """Change the turn (section 4): `op` has just played, `me` is next."""
    cdef int n
    op.marks &= 63 << OCCUPIED | 63 << GUARDED
    if protocol:
        op.shown_draw = player_next_draw(op)
    s.turn += 1
    me.max_mana += me.max_mana < MAX_MANA + me.bonus
    n = me.bonus & (me.mana == 0)
    me.bonus -= n
    me.max_mana -= n
    me.mana = me.max_mana
    me.marks |= marked(me, OCCUPIED) << READY
    n = player_next_draw(me)
    draw(s, t, s.turn & 1, me, n, rules)
    if protocol:
        me.shown_draw = n
    me.next_draw = 1
    me.lost = 0
    return check_win(me, op)


cdef inline bint play(
    const table_t* t, player_t* me, player_t* op, move_t m, const int rules, const bint protocol
) noexcept nogil:
    """Apply a decoded action other than PASS; returns whether the game has ended."""
    if m.kind == ATTACK:
        if m.target == 0:
            return attack_player(me, op, m.source, rules, protocol)
        return attack_creature(me, op, m.source, m.target - 1, rules, protocol)
    if m.kind == SUMMON:
        return summon(me, op, t, m.source, m.target, rules, protocol)
    return use(me, op, t, m.source, m.target, rules, protocol)


cdef inline void apply_with(
    state_t* s, const table_t* t, int action, const int rules
) noexcept nogil:
    cdef player_t* me = &s.p[s.turn & 1]
    cdef player_t* op = &s.p[~s.turn & 1]
    if action == PASS:
        end_turn(s, t, me, op, rules, True)
    else:
        play(t, me, op, MOVES[rules == RULES_10][action], rules, True)


cdef void state_apply(state_t* s, const table_t* t, int action) noexcept nogil:
    if t.rules == RULES_15:
        apply_with(s, t, action, RULES_15)
    elif t.rules == RULES_12:
        apply_with(s, t, action, RULES_12)
    else:
        apply_with(s, t, action, RULES_10)


cdef void state_end_turn(state_t* s, const table_t* t) noexcept nogil:
    state_apply(s, t, PASS)


# ---- playouts ------------------------------------------------------------------------------------

cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """Map 64 bits one to one, so that each output bit depends on all input bits."""
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL
    return x ^ x >> 32


cdef uint64_t stream_start(uint64_t seed, uint64_t i) noexcept nogil:
    return mix(mix(seed + 0x9E3779B97F4A7C15ULL) ^ i)


cdef inline uint64_t below(uint64_t* stream, uint64_t n) noexcept nogil:
    """Draw from 0..n-1, n <= 155: the upper half of a 32-bit random number times n. Each outcome
    gets floor or ceil of 2^32 / n of the numbers, so no probability is off by more than 2^-32.
    The generator is Knuth's 64-bit congruential one, of which the result takes the best bits."""
    stream[0] = stream[0] * 6364136223846793005ULL + 1442695040888963407ULL
    return (stream[0] >> 32) * n >> 32


cdef uint32_t stream_below(uint64_t* stream, uint32_t n) noexcept nogil:
    return <uint32_t>below(stream, n)


cdef int playout_winner(const state_t* s) noexcept nogil:
    """Return the winner; of an unfinished game, the player with more health (1 if equal)."""
    return state_winner(s) if state_winner(s) >= 0 else s.p[0].health <= s.p[1].health


cdef inline int rollout_with(
    state_t* s, const table_t* t, uint64_t stream, uint64_t* applied, const int rules
) noexcept nogil:
    """Play uniformly random legal actions to the end; returns the winner."""
    cdef legal_t l
    cdef player_t* me = &s.p[s.turn & 1]
    cdef player_t* op = &s.p[~s.turn & 1]
    cdef uint64_t k
    cdef uint64_t actions = 0
    cdef bint over = False
    cdef int last = s.turn + PLAYOUT_TURNS
    while not over:
        actions += 1
        reload_()
        k = below(&stream, count_legal(me, op, &l, rules))
        if k == 0:
            over = end_turn(s, t, me, op, rules, False) | (s.turn == last)
            me, op = op, me
        elif k <= l.attacks:
            over = play(t, me, op, kth_attack(me, op, <int>k - 1, rules), rules, False)
        else:
            k -= 1 + l.attacks
            over = play(t, me, op, kth_play(me, op, l.plays, k, rules), rules, False)
    applied[0] += actions
    return playout_winner(s)


# Called through pointers, so that the compiler does not merge them: each has all registers.
ctypedef int (*rollout_t)(state_t*, const table_t*, uint64_t, uint64_t*) noexcept nogil
cdef rollout_t ROLLOUT[3]


cdef int rollout_15(state_t* s, const table_t* t, uint64_t stream, uint64_t* n) noexcept nogil:
    return rollout_with(s, t, stream, n, RULES_15)


cdef int rollout_12(state_t* s, const table_t* t, uint64_t stream, uint64_t* n) noexcept nogil:
    return rollout_with(s, t, stream, n, RULES_12)


cdef int rollout_10(state_t* s, const table_t* t, uint64_t stream, uint64_t* n) noexcept nogil:
    return rollout_with(s, t, stream, n, RULES_10)


ROLLOUT = [rollout_15, rollout_12, rollout_10]


cdef int state_rollout(
    state_t* s, const table_t* t, uint64_t stream, uint64_t* applied
) noexcept nogil:
    """Play out `s` to the end, overwriting it; count the actions, PASS included."""
    if state_winner(s) >= 0:
        return state_winner(s)
    return ROLLOUT[t.rules](s, t, stream, applied)


cdef inline void play_turn_with(
    state_t* s, const table_t* t, uint64_t* stream, const int rules
) noexcept nogil:
    cdef legal_t l
    cdef player_t* me = &s.p[s.turn & 1]
    cdef player_t* op = &s.p[~s.turn & 1]
    cdef int k
    while True:
        k = <int>below(stream, count_legal(me, op, &l, rules))
        if k == 0 or play(t, me, op, kth_legal(me, op, &l, k, rules), rules, False):
            return


cdef inline void set_order(player_t* p, const int rules) noexcept nogil:
    """Set the summon order to that of the slots; without one that fits the board, a removal would
    search for its creature forever."""
    cdef int n = COUNT[marked(p, OCCUPIED)]
    cdef int right = 0 if rules == RULES_10 else COUNT[p.marks >> (OCCUPIED + 3) & 7]
    p.order = 1 << n | ((1 << right) - 1)


cdef void state_play_turn(state_t* s, const table_t* t, uint64_t* stream) noexcept nogil:
    """Play the rest of a turn at random until PASS is drawn, which is not applied."""
    if t.rules == RULES_15:
        play_turn_with(s, t, stream, RULES_15)
    elif t.rules == RULES_12:
        play_turn_with(s, t, stream, RULES_12)
    else:
        play_turn_with(s, t, stream, RULES_10)
    set_order(&s.p[0], t.rules)
    set_order(&s.p[1], t.rules)


cdef uint64_t state_perft(const state_t* s, const table_t* t, int depth) noexcept nogil:
    """Count the sequences of `depth` legal actions; a finished game has none."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef uint64_t total = 0
    cdef int n, i
    if depth == 0:
        return 1
    if state_winner(s) >= 0:
        return 0
    n = state_list(s, t, actions)
    if depth == 1:
        return n
    for i in range(n):
        child = s[0]
        state_apply(&child, t, actions[i])
        total += state_perft(&child, t, depth - 1)
    return total


# ---- the start of a battle, and positions of any kind --------------------------------------------

cdef inline void clear_hand(player_t* p) noexcept nogil:
    p.hand = 0
    p.cost_kinds = 0
    p.hand_size = 0


cdef void player_start(player_t* p, int rules) noexcept nogil:
    memset(p, 0, sizeof(player_t))
    clear_hand(p)
    p.health = START_HEALTH
    p.next_draw = 1
    p.shown_draw = 1
    p.order = 1
    p.runes = 0 if rules == RULES_15 else ALL_RUNES


cdef void state_draw_opening(state_t* s, const table_t* t, int p) noexcept nogil:
    cdef int n = OPENING_HAND + p
    while n > 0 and s.p[p].deck_left > 0:
        n -= 1
        take_cards(s, t, p, &s.p[p], 1)


cdef int free_places(const player_t* p, int lane, const table_t* t) noexcept nogil:
    """Return the free slots of a lane; 0 if there is no such lane."""
    if t.rules == RULES_10:
        return MAX_BOARD - COUNT[marked(p, OCCUPIED)] if lane == 0 else 0
    return 3 - COUNT[p.marks >> (OCCUPIED + 3 * lane) & 7] if lane == 0 or lane == 1 else 0


cdef void place_creature(
    player_t* p, const table_t* t, const creature_t* x, int lane, bint ready, bint spent
) noexcept nogil:
    """Append a creature with its present values to a lane that has room."""
    cdef bint one = t.rules == RULES_10
    cdef int slot = COUNT[p.marks >> (OCCUPIED + 3 * lane) & (63 if one else 7)] + 3 * lane
    add_creature(p, &t.cards[x.card], x.copy, lane, t.rules, True)
    p.board[slot] = x[0]
    p.marks &= ~(<uint32_t>(1 << READY | 1 << GUARDED | 1 << SPENT) << slot)
    p.marks |= (<uint32_t>ready << READY | <uint32_t>spent << SPENT
                | (1U << GUARDED if x.keywords & GUARD else 0)) << slot


# ---- cards ---------------------------------------------------------------------------------------

cdef void complete_card(card_t* c, int entry) noexcept nogil:
    """Fill in the derived fields of an entry."""
    memset(&c.creature, 0, sizeof(creature_t))
    c.creature.attack = c.attack
    c.creature.defense = c.defense
    c.creature.card = entry
    c.creature.keywords = c.keywords
    c.marks = 1 << OCCUPIED
    if c.keywords & CHARGE:
        c.marks |= 1 << READY
    if c.keywords & GUARD:
        c.marks |= 1 << GUARDED
    c.cost_kind = 8 * (15 - (c.cost if c.cost < 14 else 14))
    if c.type != CREATURE:
        c.cost_kind |= IS_GREEN if c.type == GREEN else ON_ENEMIES
        c.cost_kind |= c.type == BLUE       # IS_BLUE


cdef int compare_printed(const card_t* a, const card_t* b) noexcept nogil:
    """Compare cards in the order of `Card.to_row`: below, at or above zero."""
    cdef int first = a.keywords ^ b.keywords
    if a.base_id != b.base_id:
        return <int>a.base_id - b.base_id
    if a.type != b.type:
        return <int>a.type - b.type
    if a.cost != b.cost:
        return <int>a.cost - b.cost
    if a.attack != b.attack:
        return <int>a.attack - b.attack
    if a.defense != b.defense:
        return <int>a.defense - b.defense
    if first:                       # the first letter that only one card has
        return 1 if a.keywords & first & -first else -1
    if a.my_health != b.my_health:
        return <int>a.my_health - b.my_health
    if a.opponent_health != b.opponent_health:
        return <int>a.opponent_health - b.opponent_health
    if a.draw != b.draw:
        return <int>a.draw - b.draw
    return <int>a.area - b.area


# ---- instance ids (section 1) --------------------------------------------------------------------

cdef enum:
    IDS_PER_PLAYER = 2 * MAX_DECK       # 1.5: those of area copies included


cdef int card_id(int rules, int who, int i) noexcept nogil:
    return IDS_PER_PLAYER * who + 2 * i if rules == RULES_15 else 2 * i + who + 1


cdef int owner_of_id(int rules, int id) noexcept nogil:
    return id // IDS_PER_PLAYER & 1 if rules == RULES_15 else id + 1 & 1


cdef int creature_id(const creature_t* x, const table_t* t) noexcept nogil:
    return t.cards[x.card].id + x.copy


# ---- invariants ----------------------------------------------------------------------------------

cdef enum:
    START_HEALTH = 30
    OPENING_HAND = 4                # cards of player 0; player 1 has one more
    ALL_RUNES = 31                  # at 5, 10, 15, 20 and
    HIGHEST_RUNE = 25
    ALL_KEYWORDS = 63
    MAX_COST = 127                  # of a card, as are the next two
    MAX_CARD_DRAW = 100
    MAX_BASE_ID = 65535
    MAX_HEALTH = 1_000_000_000
    MAX_LOST = MAX_HEALTH // 10
    MAX_DRAW = MAX_HEALTH // 20     # cards to draw, those for lost health included
    MAX_TURN = 1 << 30


cdef const char* places_fault(const state_t* s, const table_t* t, int who) noexcept nogil:
    """Return what is wrong with a player's hand or deck, or NULL."""
    cdef const player_t* p = &s.p[who]
    cdef uint64_t cost_kinds = 0
    cdef int i
    if p.hand_size > MAX_HAND:
        return "hand_size exceeds 8"
    if p.deck_left > MAX_DECK:
        return "deck_left exceeds 30"
    for i in range(MAX_DECK):
        if i < MAX_DECK - p.deck_left:
            if s.deck[who][i]:
                return "a drawn card is still in the deck"
        elif s.deck[who][i] >= t.n_cards:
            return "deck entry beyond the table"
    for i in range(MAX_HAND):
        if i < p.hand_size:
            if <int>(p.hand >> 8 * i & 255) >= t.n_cards:
                return "hand entry beyond the table"
            cost_kinds |= <uint64_t>hand_card(p, t, i).cost_kind << 8 * i
        elif p.hand >> 8 * i & 255:
            return "card beyond the end of the hand"
    if cost_kinds != p.cost_kinds:
        return "costs or kinds are not those of the hand"
    return NULL


cdef const char* board_fault(const player_t* p, const table_t* t) noexcept nogil:
    """Return what is wrong with a player's creatures, or NULL."""
    cdef const creature_t* x
    cdef bint one = t.rules == RULES_10
    cdef uint32_t own = marked(p, OCCUPIED)
    cdef int i, n = COUNT[own], order = p.order
    if p.marks >> 24:
        return "mark outside the board"
    if one:
        if own & (own + 1):
            return "gap on the board"
    elif own & 7 & (own & 7) + 1 or own >> 3 & (own >> 3) + 1:
        return "gap in a lane"
    if (marked(p, READY) | marked(p, GUARDED) | marked(p, SPENT)) & ~own:
        return "mark on an empty slot"
    for i in range(MAX_BOARD):
        x = &p.board[i]
        if own >> i & 1:
            if x.card >= t.n_cards or t.cards[x.card].type != CREATURE:
                return "creature whose card is not a creature"
            if clip(x.attack, MAX_STAT) != x.attack or clip(x.defense, MAX_STAT) != x.defense:
                return "attack or defense out of range"
            if x.keywords > ALL_KEYWORDS or (
                    x.keywords & GUARD != 0) != marked(p, GUARDED) >> i & 1:
                return "guard mark and keyword differ"
            if x.copy > 1 or x.forgotten > 1:
                return "creature flag that is neither 0 nor 1"
            if x.forgotten and t.rules == RULES_15:
                return "forgotten effects in 1.5"
        elif x.attack or x.defense or x.card or x.keywords or x.copy or x.forgotten:
            return "empty slot that is not zero"
    if order >> n != 1:
        return "board order of another length"
    for i in range(n):
        own = own - (order >> i & 1)        # leaves out those of lane 1; compared below
    if not one and marked(p, OCCUPIED) - own != COUNT[marked(p, OCCUPIED) >> 3]:
        return "board order of other lanes"
    if one and order != 1 << n:
        return "board order of other lanes"
    return NULL


cdef const char* player_fault(const state_t* s, const table_t* t, int who) noexcept nogil:
    """Return the invariant of a player that does not hold, or NULL."""
    cdef const player_t* p = &s.p[who]
    cdef const char* fault = places_fault(s, t, who)
    if fault is NULL:
        fault = board_fault(p, t)
    if fault is not NULL:
        return fault
    if p.mana > MAX_MANA + 1 or p.max_mana > MAX_MANA + 1 or p.bonus > 1:
        return "mana out of range"
    if p._pad:
        return "padding that is not zero"
    if p.lost < 0 or p.next_draw < 0 or p.shown_draw < 0:
        return "negative counter"
    # No game comes near these bounds; within them no sum at the end of a turn overflows 32 bits.
    if not -MAX_HEALTH <= p.health <= MAX_HEALTH:
        return "health out of range"
    if p.lost > MAX_LOST or p.shown_draw > MAX_DRAW or p.next_draw > MAX_DRAW - p.lost // 5:
        return "counter out of range"
    if p.runes > ALL_RUNES or (p.runes and t.rules == RULES_15) or (p.lost and t.rules != RULES_15):
        return "runes and lost health of another rule set"
    if p.won > 1:
        return "won is neither 0 nor 1"
    return NULL


cdef const char* table_fault(const table_t* t) noexcept nogil:
    cdef const card_t* c
    cdef int i
    if t.rules < 0 or t.rules > RULES_10:
        return "unknown rules"
    if t.n_cards < 0 or t.n_cards > MAX_CARDS or t.n_instances < 0 or t.n_instances > t.n_cards:
        return "card counts out of range"
    for i in range(t.n_cards):
        c = &t.cards[i]
        if not (clip(c.attack, MAX_CARD_STAT) == c.attack
                and clip(c.defense, MAX_CARD_STAT) == c.defense
                and clip(c.my_health, MAX_CARD_STAT) == c.my_health
                and clip(c.opponent_health, MAX_CARD_STAT) == c.opponent_health
                and c.cost <= MAX_COST and c.draw <= MAX_CARD_DRAW and c.type <= BLUE
                and c.keywords <= ALL_KEYWORDS and c.area <= AREA_LANE2):
            return "card value out of range"
    return cards_fault(t, t.n_cards)


cdef const char* cards_fault(const table_t* t, int n) noexcept nogil:
    """Return why the first n entries of a table cannot be in one game, or NULL."""
    cdef uint8_t first[512]             # the first entry of a base id, which is hashed
    cdef uint64_t occupied[8]           # the places of `first` that have one
    cdef int i, place
    memset(occupied, 0, sizeof(occupied))
    for i in range(n):
        place = <uint32_t>t.cards[i].base_id * 40503 >> 4 & 511
        while occupied[place >> 6] >> (place & 63) & 1 and (
                t.cards[first[place]].base_id != t.cards[i].base_id):
            place = place + 1 & 511
        if not occupied[place >> 6] >> (place & 63) & 1:
            occupied[place >> 6] |= <uint64_t>1 << (place & 63)
            first[place] = <uint8_t>i
        elif compare_printed(&t.cards[first[place]], &t.cards[i]):
            return "two different cards have the same base id"
    return NULL


cdef inline bint take_id(uint64_t* used, const table_t* t, int entry, int copy) noexcept nogil:
    """Note the id of what is in a place; return whether it was taken. Pool cards have none."""
    cdef int id
    cdef bint twice
    if entry >= t.n_instances or t.cards[entry].id == POOL_ID:
        return False
    id = t.cards[entry].id + copy
    twice = used[id >> 6] >> (id & 63) & 1
    used[id >> 6] |= <uint64_t>1 << (id & 63)
    return twice


cdef inline bint take_unplayed(
    uint64_t* used, uint64_t* copies, const table_t* t, int entry
) noexcept nogil:
    """Do `take_id` for a card that is not on the board, and note the id that its area copy will
    have."""
    cdef int id
    if entry >= t.n_instances:
        return False
    if t.cards[entry].area != AREA_TARGET and t.cards[entry].type == CREATURE:
        id = t.cards[entry].id + 1
        if id < POOL_ID:
            copies[id >> 6] |= <uint64_t>1 << (id & 63)
    return take_id(used, t, entry, 0)


cdef const char* ids_fault(const state_t* s, const table_t* t) noexcept nogil:
    """Return why the instances of a position cannot be in one game, or NULL (section 1)."""
    cdef uint64_t used[4]
    cdef uint64_t copies[4]
    cdef const player_t* p
    cdef int who, i
    cdef int n = t.n_instances
    cdef bint twice = False
    memset(used, 0, sizeof(used))
    memset(copies, 0, sizeof(copies))
    for who in range(2):
        p = &s.p[who]
        for i in range(p.hand_size):
            twice |= take_unplayed(used, copies, t, p.hand >> 8 * i & 255)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            if s.deck[who][i] < n:
                twice |= take_unplayed(used, copies, t, s.deck[who][i])
        for i in range(MAX_BOARD):
            if marked(p, OCCUPIED) >> i & 1:
                twice |= take_id(used, t, p.board[i].card, p.board[i].copy)
    if twice:
        return "an instance id occurs twice"
    if t.rules == RULES_15:
        for i in range(4):
            if used[i] & copies[i]:
                return "an instance id is that of another card's area copy"
    return NULL


cdef const char* state_fault(const state_t* s, const table_t* t) noexcept nogil:
    """Return the invariant of _core.pxd that does not hold, or NULL.

    Texts, snapshots, observations, bytes and `State.new` all ask here what can stand together.
    """
    cdef const char* fault = table_fault(t)
    if fault is NULL:
        fault = player_fault(s, t, 0)
    if fault is NULL:
        fault = player_fault(s, t, 1)
    if fault is NULL and s.p[0].won and s.p[1].won:
        fault = "two winners"
    if fault is NULL and not (s.p[0].won or s.p[1].won) and (
            s.p[0].health <= 0 or s.p[1].health <= 0):
        fault = "a player without health, and no winner"
    if fault is NULL:
        fault = ids_fault(s, t)
    if fault is NULL and not -1 <= s.turn <= MAX_TURN:
        fault = "turn out of range"
    return fault


# ---- hashes --------------------------------------------------------------------------------------

cdef inline uint64_t hash_words(uint64_t a, uint64_t b, uint64_t place) noexcept nogil:
    """Return a term of `state_hash` from two words and their place."""
    a += place * 0x9E3779B97F4A7C15ULL
    a = (a ^ a >> 32) * 0xD6E8FEB86659FD93ULL
    a = (a ^ a >> 32 ^ b) * 0xD6E8FEB86659FD93ULL
    a = (a ^ a >> 32) * 0xD6E8FEB86659FD93ULL
    return a ^ a >> 32


cdef inline uint64_t hash_card(const card_t* c, int copy, uint64_t place) noexcept nogil:
    cdef int id = c.id + copy
    return hash_words(
        <uint64_t><uint16_t>c.attack | <uint64_t><uint16_t>c.defense << 16
        | <uint64_t><uint16_t>c.my_health << 32 | <uint64_t><uint16_t>c.opponent_health << 48,
        <uint64_t>c.cost | <uint64_t>c.draw << 8 | <uint64_t>c.type << 16 | <uint64_t>c.area << 20
        | <uint64_t>c.keywords << 24 | <uint64_t>c.base_id << 32 | <uint64_t>id << 48, place)


cdef uint64_t state_hash(const state_t* s, const table_t* t) noexcept nogil:
    # A sum of independent terms. Places are numbered consecutively.
    cdef const player_t* p
    cdef const creature_t* x
    cdef uint64_t place = 1
    cdef uint64_t total = hash_words(<uint64_t><uint32_t>s.turn, <uint64_t>t.rules, 0)
    cdef int who, i
    for who in range(2):
        p = &s.p[who]
        total += hash_words(
            <uint64_t><uint32_t>p.health << 32 | <uint32_t>p.lost,
            <uint64_t><uint32_t>p.next_draw << 32 | <uint32_t>p.shown_draw, place)
        total += hash_words(
            <uint64_t>p.mana | <uint64_t>p.max_mana << 8 | <uint64_t>p.bonus << 16
            | <uint64_t>p.hand_size << 24 | <uint64_t>p.deck_left << 32
            | <uint64_t>p.runes << 40 | <uint64_t>p.order << 48 | <uint64_t>p.won << 56,
            p.marks, place + 1)
        place += 2
        for i in range(p.hand_size):
            total += hash_card(hand_card(p, t, i), 0, place + i)
        place += MAX_HAND
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            total += hash_card(&t.cards[s.deck[who][i]], 0, place + i)
        place += MAX_DECK
        for i in range(MAX_BOARD):
            if marked(p, OCCUPIED) >> i & 1:
                x = &p.board[i]
                total += hash_words(
                    <uint64_t><uint16_t>x.attack | <uint64_t><uint16_t>x.defense << 16,
                    <uint64_t>x.keywords | <uint64_t>x.forgotten << 8, place + i)
                total += hash_card(&t.cards[x.card], x.copy, place + MAX_BOARD + i)
        place += 2 * MAX_BOARD
    return mix(total)


cdef uint64_t turn_hash(const state_t* s, const table_t* t) noexcept nogil:
    cdef uint64_t card_keys[MAX_CARDS]
    cdef const player_t* me = &s.p[state_player(s)]
    cdef int h
    for h in range(me.hand_size):
        card_keys[me.hand >> 8 * h & 255] = hand_key(hand_card(me, t, h))
    return turn_hash_by(s, t, card_keys)
