"""The battle of Legends of Code and Magic: the compiled kernel and the `State` around it.

The structs and the meanings of their fields are in _core.pxd, and the functions follow its order.
Section numbers refer to docs/rules.md.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_AsUnsignedLongLongMask
from cpython.ref cimport Py_INCREF, PyObject
from libc.string cimport memcmp, memcpy, memset

import re
import struct
import zlib
from collections import namedtuple
from importlib import import_module

from locmsim._checks import MOST_THREADS, integer, player_number, seed_bits, whole
from locmsim._spiel import SpielPosition
from locmsim.rules.actions import Action, ActionKind
from locmsim.rules.cards import ABILITY_BITS, ABILITY_TEXTS, Card
from locmsim.errors import GameOverError, IllegalActionError, InvalidActionError
from locmsim.rules.rulesets import RULES_NAMES, get_rules
from locmsim.parallel import in_threads

__all__ = ["ABI_VERSION", "BLANKS", "CardInHand", "Creature", "Determinizer", "PlayerView", "State",
           "Table", "build_state", "instance_id", "keywords_number", "original_of", "parse_integer",
           "parse_line", "places_of", "table_rows", "whole_number", "with_hand"]

cdef extern from *:
    """
    /* A branch that is (un)likely to be taken. A barrier across which the compiler moves no loads:
       without it gcc computes parts of the next action's choice at the end of every branch of this
       one, and spills them (2 to 4 % of the playouts' speed). */
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
    """
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
cdef uint64_t LOW_BYTES[9]              # ones in the lowest n bytes
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
    for n in range(1, 9):
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
    """One byte of the marks: a mask of board slots."""
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
    """The slot of the i-th creature, lane 0 before lane 1."""
    cdef int first
    if rules == RULES_10:
        return i
    first = COUNT[p.marks >> OCCUPIED & 7]
    return i + (3 - first) * (i >= first)


cdef inline move_t kth_attack(
    const player_t* me, const player_t* op, int k, const int rules
) noexcept nogil:
    """The k-th attack: lane by lane, attacker by attacker. With two lanes one table holds it:
    dividing and looking up both parts would be a long chain of dependent steps, which costs 1 % of
    the speed in 1.5 and 4 % in 1.2."""
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
    """The k-th summon or use, in the order of the hand."""
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
    """The k-th legal action, in the order of state_kth."""
    if k == 0:
        return MOVES[0][PASS]
    if k <= <int>l.attacks:
        return kth_attack(me, op, k - 1, rules)
    return kth_play(me, op, l.plays, k - 1 - l.attacks, rules)


cdef inline int action_of(move_t m, const bint one) noexcept nogil:
    """The number of a decoded action: the inverse of `move_of`."""
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
# `shown` (a literal) says whether to maintain what only the protocol shows: board order over both
# lanes, forgotten effects. Playouts don't.

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
    player_t* p, const card_t* c, const bint copy, int lane, const int rules, const bint shown
) noexcept nogil:
    """Append a creature to a lane that has room."""
    cdef int slot = COUNT[marked(p, OCCUPIED)] if rules == RULES_10 else (
        3 * lane + COUNT[p.marks >> (OCCUPIED + 3 * lane) & 7])
    p.board[slot] = c.creature
    if copy:
        p.board[slot].copy = 1
    p.marks |= c.marks << slot
    if shown:
        p.order = p.order << 1 | lane


cdef inline void remove_creature(
    player_t* p, int slot, const int rules, const bint shown
) noexcept nogil:
    """Take a creature off the board and close the gap in its lane."""
    cdef bint one = rules == RULES_10
    cdef int j, lane, i, bit
    cdef int start = 0 if one else 3 * (slot + 1 >> 2)      # of its lane; no comparison, no branch
    cdef creature_t* first = &p.board[start]
    cdef int size = MAX_BOARD if one else 3
    if shown:
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
    # as the number of draws is hard to predict: those of the first entry for a card that is not
    # drawn. The word may reach beyond the deck, but not beyond the state.
    cdef uint64_t cards, cost_kinds, rest, drawn = LOW_BYTES[n]
    cdef int h
    memcpy(&rest, top, 8)
    rest = low_first_(rest)
    cards = rest & drawn
    cost_kinds = t.cards[cards & 255].cost_kind | <uint64_t>t.cards[cards >> 8 & 255].cost_kind << 8
    for h in range(2, n):
        cost_kinds |= <uint64_t>t.cards[cards >> 8 * h & 255].cost_kind << 8 * h
    h = 8 * p.hand_size & 63                # the hand may be full if n is 0
    p.hand |= cards << h
    p.cost_kinds |= (cost_kinds & drawn) << h
    rest = low_first_(rest ^ cards)
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
    player_t* me, player_t* op, const table_t* t, int h, int lane, const int rules, const bint shown
) noexcept nogil:
    cdef const card_t* c = &t.cards[me.hand >> 8 * h & 255]
    cdef int times = 1
    remove_from_hand(me, h)
    me.mana -= c.cost
    add_creature(me, c, False, lane, rules, shown)
    if rules == RULES_15:
        lane ^= c.area == AREA_LANE2
        if (c.area != AREA_TARGET) & (not marked(me, OCCUPIED) >> (3 * lane + 2) & 1):
            add_creature(me, c, True, lane, rules, shown)
            times = 2
    return effects(me, op, c, times, rules)


cdef inline bint attack_player(
    player_t* me, player_t* op, int slot, const int rules, const bint shown
) noexcept nogil:
    cdef creature_t* x = &me.board[slot]
    if shown and rules != RULES_15:
        x.forgotten = 1
    me.marks = (me.marks & ~(1U << READY << slot)) | 1U << SPENT << slot
    change_health(op, -x.attack, rules)
    change_health(me, x.attack * (x.keywords >> 2 & 1), rules)      # Drain
    return check_win(me, op)


cdef inline int16_t short(int value) noexcept nogil:
    """Clip a number to what a creature can have. Only constructed positions and creatures with a
    negative printed attack, which gain defense in every fight, can reach the bound."""
    return value if value < MAX_STAT else MAX_STAT


cdef inline bint attack_creature(
    player_t* me, player_t* op, int slot, int target, const int rules, const bint shown
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
        remove_creature(me, slot, rules, shown)
    else:
        me.marks = (me.marks & ~(1U << READY << slot)) | 1U << SPENT << slot
        x.defense = short(x_left)
        if y.attack > 0:
            x.keywords &= ~WARD
        if shown and rules != RULES_15:
            x.forgotten = 1
    if y_dies:
        remove_creature(op, target, rules, shown)
    else:
        y.defense = short(y_left)
        if attack > 0:
            y.keywords &= ~WARD
        if shown and rules != RULES_15:
            y.forgotten = 1
    me.health += attack * (keywords >> 2 & (dealt > 0))       # Drain
    if keywords & BREAKTHROUGH and y_left < 0:
        change_health(op, y_left, rules)
        return check_win(me, op)
    return False


cdef inline void use_on(
    player_t* p, const card_t* c, int slot, const int rules, const bint shown
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
            remove_creature(p, slot, rules, shown)
        return
    x.attack = short(attack) if attack > 0 else 0
    x.defense = short(defense)
    x.keywords = keywords
    p.marks = (p.marks & ~(1U << GUARDED << slot)) | (keywords >> 3 & 1) << GUARDED << slot
    if c.type == GREEN and c.keywords & CHARGE:     # it is ready unless it has attacked
        p.marks = (p.marks & ~(1U << READY << slot)) | (
            ~p.marks >> SPENT >> slot & 1) << READY << slot
    if shown and rules != RULES_15:
        x.forgotten = 1


cdef inline player_t* chosen(player_t* me, player_t* op, bint other) noexcept nogil:
    """`op if other else me`, without a branch."""
    return <player_t*>(<uint64_t>me ^ (<uint64_t>me ^ <uint64_t>op) & -<uint64_t>other)


cdef inline bint use(
    player_t* me, player_t* op, const table_t* t, int h, int target, const int rules,
    const bint shown
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
    p = chosen(me, op, target >= 7)
    slot = target - 1 - 6 * (target >= 7)
    if rules != RULES_15:
        use_on(p, c, slot, rules, shown)
        return effects(me, op, c, 1, rules)
    hit = marked(p, OCCUPIED) & REACH[c.area][slot]
    times = COUNT[hit]
    for i in range(times - 1, -1, -1):              # from the end: a removal moves those behind it
        use_on(p, c, NTH[8 * hit + i], rules, shown)
    return effects(me, op, c, times, rules)


cdef inline bint end_turn(
    state_t* s, const table_t* t, player_t* op, player_t* me, const int rules, const bint shown
) noexcept nogil:
    """Change the turn (section 4): `op` has just played, `me` is next."""
    cdef int n
    op.marks &= 63 << OCCUPIED | 63 << GUARDED
    if shown:
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
    if shown:
        me.shown_draw = n
    me.next_draw = 1
    me.lost = 0
    return check_win(me, op)


cdef inline bint play(
    const table_t* t, player_t* me, player_t* op, move_t m, const int rules, const bint shown
) noexcept nogil:
    """Apply a decoded action other than PASS; returns whether the game has ended."""
    if m.kind == ATTACK:
        if m.target == 0:
            return attack_player(me, op, m.source, rules, shown)
        return attack_creature(me, op, m.source, m.target - 1, rules, shown)
    if m.kind == SUMMON:
        return summon(me, op, t, m.source, m.target, rules, shown)
    return use(me, op, t, m.source, m.target, rules, shown)


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


cdef void state_draw(state_t* s, const table_t* t, int p, int n) noexcept nogil:
    """Let player p draw n cards as at the start of a turn."""
    draw(s, t, p, &s.p[p], n, t.rules)


# ---- playouts ------------------------------------------------------------------------------------

cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """A bijection on 64 bits in which each output bit depends on all input bits."""
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL
    return x ^ x >> 32


cdef uint64_t stream_start(uint64_t seed, uint64_t i) noexcept nogil:
    return mix(mix(seed + 0x9E3779B97F4A7C15ULL) ^ i)


cdef inline uint64_t below(uint64_t* stream, uint64_t n) noexcept nogil:
    """Uniform in 0..n-1, n <= 155: the upper half of a 32-bit random number times n. Each outcome
    gets floor or ceil of 2^32 / n of the numbers, so no probability is off by more than 2^-32.
    The generator is Knuth's 64-bit congruential one, of which the result takes the best bits."""
    stream[0] = stream[0] * 6364136223846793005ULL + 1442695040888963407ULL
    return (stream[0] >> 32) * n >> 32


cdef uint32_t stream_below(uint64_t* stream, uint32_t n) noexcept nogil:
    return <uint32_t>below(stream, n)


cdef int playout_winner(const state_t* s) noexcept nogil:
    """The winner; of an unfinished game, the player with more health (1 if equal)."""
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


cdef enum:
    MAX_PERFT = 100             # a position on the stack for each level
    PERFT_UNBROKEN = 4          # levels counted without checking for signals: some milliseconds
    PLAYOUTS_A_CALL = 4096      # playouts without checking: about as long


cdef uint64_t perft_with_signals(const state_t* s, const table_t* t, int depth) except? 0:
    """Return `state_perft`; other threads run meanwhile, and Ctrl-C ends it."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef uint64_t total = 0
    cdef int n, i
    if depth <= PERFT_UNBROKEN:
        with nogil:
            total = state_perft(s, t, depth)
        PyErr_CheckSignals()
        return total
    if state_winner(s) >= 0:
        return 0
    n = state_list(s, t, actions)
    for i in range(n):
        child = s[0]
        state_apply(&child, t, actions[i])
        total += perft_with_signals(&child, t, depth - 1)
    return total


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


cdef const char* player_fault(const state_t* s, const table_t* t, int who) noexcept nogil:
    cdef const player_t* p = &s.p[who]
    cdef const creature_t* x
    cdef bint one = t.rules == RULES_10
    cdef uint32_t own = marked(p, OCCUPIED)
    cdef uint64_t cost_kinds = 0
    cdef int i, n = COUNT[own], order
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
            cost_kinds |= <uint64_t>t.cards[p.hand >> 8 * i & 255].cost_kind << 8 * i
        elif p.hand >> 8 * i & 255:
            return "card beyond the end of the hand"
    if cost_kinds != p.cost_kinds:
        return "costs or kinds are not those of the hand"
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
    order = p.order
    if order >> n != 1:
        return "board order of another length"
    for i in range(n):
        own = own - (order >> i & 1)        # leaves out those of lane 1; compared below
    if not one and marked(p, OCCUPIED) - own != COUNT[marked(p, OCCUPIED) >> 3]:
        return "board order of other lanes"
    if one and order != 1 << n:
        return "board order of other lanes"
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
    cdef uint16_t first[512]            # 1 + the first entry of a base id, which is hashed
    cdef int i, place
    memset(first, 0, sizeof(first))
    for i in range(n):
        place = <uint32_t>t.cards[i].base_id * 40503 >> 4 & 511
        while first[place] and t.cards[first[place] - 1].base_id != t.cards[i].base_id:
            place = place + 1 & 511
        if first[place] == 0:
            first[place] = <uint16_t>(i + 1)
        elif compare_printed(&t.cards[first[place] - 1], &t.cards[i]):
            return "two different cards have the same base id"
    return NULL


cdef inline bint take_id(uint64_t* used, const table_t* t, int entry, int copy) noexcept nogil:
    """Note the id of what is in a place; return whether it was taken. Pool cards have none."""
    cdef int id = t.cards[entry].id + copy
    cdef bint twice
    if entry >= t.n_instances or t.cards[entry].id == POOL_ID:
        return False
    twice = used[id >> 6] >> (id & 63) & 1
    used[id >> 6] |= <uint64_t>1 << (id & 63)
    return twice


cdef inline bint will_clash(const uint64_t* used, const table_t* t, int entry) noexcept nogil:
    """Return whether an area copy of a card to come would get the id of another instance."""
    cdef int id = t.cards[entry].id + 1
    return entry < t.n_instances and t.rules == RULES_15 and id < POOL_ID and (
        t.cards[entry].area != AREA_TARGET and t.cards[entry].type == CREATURE
        and used[id >> 6] >> (id & 63) & 1)


cdef const char* ids_fault(const state_t* s, const table_t* t) noexcept nogil:
    """Return why the instances of a position cannot be in one game, or NULL (section 1)."""
    cdef uint64_t used[4]
    cdef const player_t* p
    cdef int who, i
    cdef bint twice = False, clash = False
    memset(used, 0, sizeof(used))
    for who in range(2):
        p = &s.p[who]
        for i in range(p.hand_size):
            twice |= take_id(used, t, p.hand >> 8 * i & 255, 0)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            twice |= take_id(used, t, s.deck[who][i], 0)
        for i in range(MAX_BOARD):
            if marked(p, OCCUPIED) >> i & 1:
                twice |= take_id(used, t, p.board[i].card, p.board[i].copy)
    for who in range(2):
        p = &s.p[who]
        for i in range(p.hand_size):
            clash |= will_clash(used, t, p.hand >> 8 * i & 255)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            clash |= will_clash(used, t, s.deck[who][i])
    if twice:
        return "an instance id occurs twice"
    if clash:
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
    """A term of `state_hash` from two words and their place."""
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
            total += hash_card(&t.cards[p.hand >> 8 * i & 255], 0, place + i)
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


# ---- action text (section 8) ---------------------------------------------------------------------
# Lines are parsed as in the referee's language, which trims and reads integers in its own way.

BLANKS = "".join(map(chr, range(33)))           # characters trimmed off both ends
_INTEGER = re.compile(r"[+-]?\d+")
_WORDS = {"PASS": PASS, "SUMMON": SUMMON, "USE": USE, "ATTACK": ATTACK}
_KIND_NAMES = ("PASS", "SUMMON", "USE", "ATTACK")


def parse_integer(text, bits=32):
    """Return the signed integer of `bits` bits that the referee reads in `text`, or None.

    An integer is an optional sign and decimal digits of any script that take one UTF-16 unit each.
    """
    if not _INTEGER.fullmatch(text) or max(text) > "\uffff":
        return None
    if len(text) > 20:      # may have leading zeros; `int` refuses thousands of digits
        digits = "".join([str(int(digit)) for digit in text.lstrip("+-")]).lstrip("0")
        if len(digits) > 19:
            return None
        text = "-" * text.startswith("-") + (digits or "0")
    value = int(text)
    return value if -1 << bits - 1 <= value < 1 << bits - 1 else None


cdef tuple parse_part(str part, int rules):
    """Return (kind, first, second) of one trimmed, non-empty part of a line."""
    cdef list words = part.split(" ", 1)
    cdef str word = words[0].strip(BLANKS)
    cdef list args
    cdef int needed
    kind = _WORDS.get(word)
    if kind is None:
        raise InvalidActionError(
            "Invalid action name. Should be SUMMON, ATTACK,  USE or PASS." if rules == RULES_15
            else "Invalid action name. Should be SUMMON, ATTACK, or USE.")
    if kind == PASS:
        return (PASS, -1, -1)
    needed = 1 if kind == SUMMON and rules == RULES_10 else 2
    args = words[1].split(" ", needed) if len(words) > 1 else []
    values = [parse_integer(arg) for arg in args[:needed]]
    if len(values) < needed or None in values:
        raise InvalidActionError(
            "Invalid SUMMON argument. Expected integer (card id)." if needed == 1 else
            f"Invalid {word} arguments. Expected two integers "
            f"(card id and {'lane' if kind == SUMMON else 'target id'}).")
    return (kind, values[0], values[1] if needed == 2 else 0)


cdef list parse_parts(str line, int rules):
    cdef list parts = []
    cdef str part
    for part in line.split(";"):
        part = part.strip(BLANKS)
        if part:
            parts.append(parse_part(part, rules))
    return parts


cdef str text_of(tuple parsed, int rules):
    """Return the canonical text of a parsed action."""
    kind, first, second = parsed
    if kind == PASS:
        return "PASS"
    if kind == SUMMON and rules == RULES_10:
        return f"SUMMON {first}"
    return f"{_KIND_NAMES[kind]} {first} {second}"


def parse_line(line, rules="1.5"):
    """Return the actions of an answer line of the battle as canonical texts, PASS included.

    Raises `InvalidActionError` with the referee's message if any part of the line is malformed
    (docs/rules.md, section 8).
    """
    cdef int code = RULES_NAMES.index(get_rules(rules).name)
    return [text_of(parsed, code) for parsed in parse_parts(line, code)]


# ---- bytes ---------------------------------------------------------------------------------------
# A table or a state as it is in memory, after a header that identifies it.

cdef enum:
    FORMAT_VERSION = 2              # version of to_bytes, key and pickles
    TABLE_PART = 1
    STATE_PART = 2
    HEADER_SIZE = 16
    TABLE_FIELDS = 8                # size of rules and n_instances before the cards

_MAGIC = b"LOCM"
_HEADER = struct.Struct("=4sHHII")  # magic, version, part, size and checksum of the rest


cdef bytes sealed(int part, bytes data):
    return _HEADER.pack(_MAGIC, FORMAT_VERSION, part, len(data), zlib.crc32(data)) + data


cdef bytes sealed_table(Table table):
    """Return the part of a table. It is kept, as the states of a game share their table: adding up
    the checksum takes longer than comparing the bytes."""
    cdef Py_ssize_t header = HEADER_SIZE + TABLE_FIELDS
    cdef Py_ssize_t size = table.t.n_cards * sizeof(card_t)
    cdef bytes kept = table.sealed
    cdef const int32_t* fields
    if kept is not None and len(kept) == header + size:
        fields = <const int32_t*>(<const char*>kept + HEADER_SIZE)
        if fields[0] == table.t.rules and fields[1] == table.t.n_instances and (
                memcmp(<const char*>kept + header, table.t.cards, size) == 0):
            return kept
    kept = table.sealed = sealed(TABLE_PART, table.pack())
    return kept


cdef bytes unsealed(int part, data):
    """Return the bytes that `sealed` packed; ``ValueError`` for anything else."""
    cdef bytes raw = bytes(memoryview(data))
    what = "card table" if part == TABLE_PART else "state"
    if raw[:4] != _MAGIC[:len(raw)]:
        raise ValueError(f"no {what} of locmsim: foreign bytes")
    if len(raw) < _HEADER.size:
        raise ValueError(f"no {what} of locmsim: truncated")
    _, version, found, size, checksum = _HEADER.unpack_from(raw)
    if version != FORMAT_VERSION:
        raise ValueError(f"{what} of format {version}, expected {FORMAT_VERSION}")
    raw = raw[_HEADER.size:]
    if found != part or len(raw) != size or zlib.crc32(raw) != checksum:
        raise ValueError(f"no {what} of locmsim: truncated or corrupted")
    return raw


# ---- the card table ------------------------------------------------------------------------------

CardInHand = namedtuple("CardInHand", "id card", module=__name__)
CardInHand.__doc__ = "A card in hand: its instance id and the `Card`."
Creature = namedtuple(
    "Creature", "id card attack defense abilities lane can_attack has_attacked", module=__name__)
Creature.__doc__ = "A creature on the board, with its present attack, defense and abilities."

cdef str abilities_of(int keywords):
    return ABILITY_TEXTS[keywords]


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


@cython.final
@cython.freelist(8)
cdef class Table:
    """The cards and the rule set of a game, shared by all its states.

    Parameters
    ----------
    cards : iterable of Card
        The cards that hidden places may hold, the `pool`. There are no instances: those of a game
        are in the table of its state.
    rules : str
        The rule set: "1.5", "1.2" or "1.0".

    Raises
    ------
    ValueError
        The rule set is unknown, there are too many cards, or two of them have the same base id.
    """

    # New objects are all zeros, and so is `t`.

    def __init__(self, cards, rules="1.5"):
        if self.t.n_cards:
            raise TypeError("a table is immutable")
        self.t.rules = RULES_NAMES.index(get_rules(rules).name)
        self.add_pool(_cards("cards", cards))
        fault = cards_fault(&self.t, self.t.n_cards)
        if fault is not NULL:
            raise ValueError(f"cards: {fault.decode()}")

    cdef int add(self, card, int id) except -1:
        """Append an entry and return its index."""
        cdef card_t* c
        cdef int entry = self.t.n_cards
        if not isinstance(card, Card):
            raise ValueError(f"expected a Card, got {card!r}")
        if entry == MAX_CARDS:
            raise ValueError(f"more than {MAX_CARDS} cards in one game, hidden ones included")
        c = &self.t.cards[entry]
        c.attack = card.attack
        c.defense = card.defense
        c.my_health = card.my_health_change
        c.opponent_health = card.opponent_health_change
        c.cost = card.cost
        c.draw = card.card_draw
        c.type = card.type
        c.keywords = ABILITY_BITS[card.abilities]
        c.area = card.area
        c.id = id
        c.base_id = card.base_id
        complete_card(c, entry)
        self.shown()[entry] = card
        self.t.n_cards = entry + 1
        return entry

    cdef list shown(self):
        """The `Card` of each entry; None until it is first needed."""
        cdef int i, pool = self.t.n_instances
        if self.cards is None:
            self.cards = [None] * MAX_CARDS
            if self.named is not None:
                for i in range(self.t.n_cards):
                    self.cards[i] = self.named[
                        self.origin[i] if i < pool else self.named_pool + i - pool]
                self.named = None
        return self.cards

    cdef object card(self, int entry):
        """The `Card` of an entry."""
        cdef const card_t* c = &self.t.cards[entry]
        cdef list shown = self.shown()
        card = shown[entry]
        if card is None:
            card = shown[entry] = Card(
                c.base_id, c.type, c.cost, c.attack, c.defense, abilities_of(c.keywords),
                c.my_health, c.opponent_health, c.draw, c.area)
        return card

    cdef int add_pool(self, pool) except -1:
        """Complete the instances and append the cards that hidden places may hold, each once.

        They may come from another table, which is much faster.
        """
        cdef Table other
        cdef int i, entry
        self.t.n_instances = self.t.n_cards
        if not isinstance(pool, Table):
            for card in sorted(set(pool), key=Card.to_row):
                self.add(card, POOL_ID)
            return 0
        other = pool
        if self.t.n_cards + other.t.n_cards - other.t.n_instances > MAX_CARDS:
            raise ValueError(f"more than {MAX_CARDS} cards in one game, hidden ones included")
        names = other.cards if other.named is None else other.shown()
        for i in range(other.t.n_instances, other.t.n_cards):
            entry = self.t.n_cards
            self.t.cards[entry] = other.t.cards[i]
            complete_card(&self.t.cards[entry], entry)
            if names is not None:
                self.shown()[entry] = names[i]
            self.t.n_cards = entry + 1
        return 0

    cdef bytes pack(self):
        return struct.pack("<ii", self.t.rules, self.t.n_instances) + (
            <const char*>self.t.cards)[:self.t.n_cards * sizeof(card_t)]

    @property
    def rules(self):
        """The name of the rule set."""
        return RULES_NAMES[self.t.rules]

    @property
    def pool(self):
        """The cards that hidden places may hold, in ascending order of their base ids."""
        return [self.card(i) for i in range(self.t.n_instances, self.t.n_cards)]

    def __reduce__(self):
        return _unpack_table, (sealed_table(self),)


cdef Table new_table(rules):
    cdef Table table = Table.__new__(Table)
    table.t.rules = RULES_NAMES.index(get_rules(rules).name)
    return table


def _unpack_table(data):
    """Return the table that `Table.pack` packed; ``ValueError`` for anything else."""
    cdef Table table = Table.__new__(Table)
    cdef bytes raw = unsealed(TABLE_PART, data)
    cdef Py_ssize_t size = len(raw) - 8
    if size < 0 or size % sizeof(card_t) or size > <Py_ssize_t>sizeof(table.t.cards):
        raise ValueError("no card table of locmsim: wrong length")
    rules, instances = struct.unpack("<ii", raw[:8])
    table.t.rules = rules
    table.t.n_instances = instances
    table.t.n_cards = <int32_t>(size // sizeof(card_t))
    memcpy(table.t.cards, <const char*>raw + 8, size)
    fault = table_fault(&table.t)
    if fault is not NULL:
        raise ValueError(f"no card table of locmsim: {fault.decode()}")
    for entry in range(table.t.n_cards):
        complete_card(&table.t.cards[entry], entry)
    return table


# ---- state ---------------------------------------------------------------------------------------

# Functions of a state in plain Python, from the packages above: imported when first needed.
_LATER = {
    "Observation": "game.observation",
    "board_html": "game.boards",
    "board_text": "game.boards",
    "game": "envs.openspiel",
    "seen_text": "game.boards",
    "state_of_snapshot": "game.notation",
    "state_of_text": "game.notation",
    "state_text": "game.notation",
    "write_state": "game.layouts",
}
cdef dict _FOUND = {}


cdef object later(str name):
    found = _FOUND.get(name)
    if found is None:
        found = _FOUND[name] = getattr(import_module(f"locmsim.{_LATER[name]}"), name)
    return found


# Loaded when first needed: many users never need it, and it loads slowly.
cdef object _NUMPY = None
cdef object _ARRAY = None


cdef int load_numpy() except -1:
    global _ARRAY, _NUMPY
    if _NUMPY is None:
        import numpy as np
        _ARRAY = np.ndarray
        _NUMPY = np
    return 0


cdef bint view_mask(out, Py_buffer* view, int size) except -1:
    """Get the memory of a writable C-contiguous int8 array of a length; False for another one."""
    try:
        PyObject_GetBuffer(out, view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT)
    except (BufferError, ValueError):
        return False
    if view.ndim == 1 and view.shape[0] == size and view.format[0] == b"b":
        return True
    PyBuffer_Release(view)
    return False


cdef Table NO_TABLE = Table.__new__(Table)


cdef inline State new_state(Table table):
    cdef State state = State.__new__(State)
    state.table = table
    return state


cdef int as_action(action) except? -1:
    """Return the value of a Python or NumPy integer; -2 if it is beyond all action numbers."""
    cdef Py_ssize_t number
    if type(action) is not int:
        action = integer("action", action, TypeError)
    try:
        number = action
    except OverflowError:
        return -2
    return <int>number if -2 < number < MAX_ACTIONS else -2


@cython.final
@cython.freelist(64)
@cython.no_gc
cdef class State:
    """A position in the battle: cheap to copy, and changed in place by actions.

    `State.new`, `State.from_snapshot`, `State.from_observation`, `State.from_text` and
    `State.from_bytes` make states. A state is mutable and therefore unhashable; `key` gives
    something to put into a set. Only one thread may use a state at a time.
    """

    def __cinit__(self):
        self.table = NO_TABLE       # so that State.__new__ makes nothing that could crash

    def __init__(self):
        raise TypeError("use State.new, State.from_snapshot or State.from_bytes")

    # -- making states

    @staticmethod
    def new(deck0, deck1, *, rules="1.5", ids=None, pool=None):
        """Return the position at the start of player 0's first turn, after their draw.

        The rules of the start are in docs/rules.md, section 4.

        Parameters
        ----------
        deck0, deck1 : sequence of Card
            At most 30 cards for each player, in draw order.
        rules : str
            The rule set: "1.5", "1.2" or "1.0".
        ids : pair of sequences of int, optional
            Instance ids in draw order. By default the i-th card has 2 * i (player 0) or 60 + 2 * i
            (player 1) in 1.5, and 2 * i + player + 1 in 1.x.
        pool : iterable of Card, or the `table` of a state, optional
            The cards that a player may suspect in hidden places (see `resample_hidden`). By default
            those of both decks, which tells something about them; a pool with all cards of the game
            does not. A table passes on its pool.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            An argument is wrong; the message names it.
        """
        cdef Table table = new_table(rules)
        cdef State state = new_state(table)
        cdef int p
        decks = [_cards("deck0", deck0), _cards("deck1", deck1)]
        if pool is None:
            pool = decks[0] + decks[1]
        elif not isinstance(pool, Table):
            pool = _cards("pool", pool)
        if ids is not None:
            ids = list(ids)
            if len(ids) != 2:
                raise ValueError(f"ids: expected one sequence for each player, got {len(ids)}")
        for p, deck in enumerate(decks):
            if len(deck) > MAX_DECK:
                raise ValueError(f"deck{p}: {len(deck)} cards, expected at most {MAX_DECK}")
            if ids is None:
                numbers = [card_id(table.t.rules, p, i) for i in range(len(deck))]
            else:
                numbers = [whole_number(number, f"ids[{p}][{i}]", 0, POOL_ID - 1)
                           for i, number in enumerate(ids[p])]
                if len(numbers) != len(deck):
                    raise ValueError(f"ids[{p}]: {len(numbers)} ids for {len(deck)} cards")
            decks[p] = list(zip(numbers, deck))
        add_instances(table, decks)
        table.add_pool(pool)
        fault = cards_fault(&table.t, table.t.n_cards)
        if fault is not NULL:
            raise ValueError(f"cards: {fault.decode()}")
        memset(&state.s, 0, sizeof(state_t))
        state.s.turn = -1
        for p in range(2):
            player_start(&state.s.p[p], table.t.rules)
            place_deck(state, p, [number for number, _ in decks[p]])
            state_draw_opening(&state.s, &table.t, p)
        fault = ids_fault(&state.s, &table.t)
        if fault is not NULL:
            raise ValueError(f"ids: {fault.decode()}")
        state.s.p[1].max_mana = state.s.p[1].mana = state.s.p[1].bonus = 1
        state_end_turn(&state.s, &table.t)
        return state

    @staticmethod
    def from_snapshot(snapshot, cards, decks, rules="1.5"):
        """Return any position: the inverse of `snapshot` (docs/rules.md, section 13).

        Parameters
        ----------
        snapshot : mapping
            As `snapshot` returns it. In 1.x a snapshot does not tell whether a creature's effects
            are still shown. A ninth value in the creature's row may say so (1: forgotten); without
            it, they are forgotten if the creature has attacked or differs from its card.
        cards : mapping or iterable of Card
            Base id -> card, or just the cards. Hidden places may hold any of them; if a table
            cannot hold so many, only those in use.
        decks : pair of sequences
            For each player the cards as ``[instance id, base id]`` in draw order. The last ones are
            the deck; those before them say what the ids in the hand are.
        rules : str
            The rule set: "1.5", "1.2" or "1.0".

        Returns
        -------
        State

        Raises
        ------
        ValueError
            A field is wrong; the message names it.
        """
        return later("state_of_snapshot")(snapshot, cards, decks, rules)

    @staticmethod
    def from_observation(Shown observation not None):
        """Return what a player sees as a state in which they are player 0 and to move.

        Everything they do not see is empty: both decks and the opponent's hand. So the player's
        turn can be played in this state, but nothing after it.

        Parameters
        ----------
        observation : Observation
            An observation of the battle.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            The observation belongs to the choice phase, or is impossible.
        """
        cdef Table table = Table.__new__(Table)
        cdef State state = new_state(table)
        fill_from_observation(&state.s, &table.t, observation)
        return state

    def clone(self):
        """Return a new, independent state of the same position."""
        cdef State state = new_state(self.table)
        state.s = self.s
        return state

    def copy_from(self, State other not None):
        """Overwrite this state with another one, without allocating memory.

        Parameters
        ----------
        other : State
            The state to copy.

        Raises
        ------
        TypeError
            `other` is not a `State`.
        """
        self.s = other.s
        self.table = other.table

    def child(self, action):
        """Return the position after a legal action as a new state.

        Parameters
        ----------
        action : int
            A legal action, as for `apply_action`, which also says what is raised.

        Returns
        -------
        State
        """
        cdef State state = self.clone()
        state.apply_action(action)
        return state

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()

    # -- what is legal

    def legal_actions(self, player=None):
        """Return the legal actions in ascending order (docs/rules.md, sections 6 and 12).

        Parameters
        ----------
        player : int, optional
            The player who is asked; by default the player to move.

        Returns
        -------
        list of int
            Empty when the game is over, and for a player who is not to move.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef int i, n
        cdef list result
        cdef bint over = self.s.p[0].won | self.s.p[1].won
        # `current_player` of a finished game is accepted there, as by OpenSpiel.
        if player is not None and not (over and player == TERMINAL_PLAYER):
            if _player_number(player) != state_player(&self.s):
                return []
        if over:
            return []
        n = state_list(&self.s, &self.table.t, actions)
        result = PyList_New(n)
        for i in range(n):
            number = <object>ACTION_NUMBERS[actions[i]]
            Py_INCREF(number)
            PyList_SET_ITEM(result, i, number)
        return result

    def legal_actions_mask(self, player=None, *, out=None):
        """Return an array that has 1 for each legal action and 0 for all others.

        Parameters
        ----------
        player : int, optional
            As for `legal_actions`.
        out : array, optional
            A C-contiguous int8 array of the same shape, to be filled and returned.

        Returns
        -------
        array of int8, shape (num_distinct_actions,)

        Raises
        ------
        ValueError
            `out` is of another kind, or `player` is neither 0 nor 1.
        """
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef Py_buffer view
        cdef int8_t* mask
        cdef int i, n
        cdef int size = num_actions(self.table.t.rules)
        load_numpy()
        if out is None:
            out = _NUMPY.empty(size, dtype="b")
        if not isinstance(out, _ARRAY) or not view_mask(out, &view, size):
            raise ValueError(f"out: expected a writable C-contiguous int8 array of shape ({size},)")
        mask = <int8_t*>view.buf
        memset(mask, 0, size)
        try:
            if not self.s.p[0].won | self.s.p[1].won and (
                    player is None or _player_number(player) == state_player(&self.s)):
                n = state_list(&self.s, &self.table.t, actions)
                for i in range(n):
                    mask[actions[i]] = 1
        finally:
            PyBuffer_Release(&view)
        return out

    # -- what happens

    def apply_action(self, action):
        """Apply a legal action.

        Parameters
        ----------
        action : int
            A legal action; Python's and numpy's integers are accepted.

        Raises
        ------
        IllegalActionError
            The action is not legal here. The state is unchanged.
        GameOverError
            The game is over. The state is unchanged.
        """
        cdef int number = as_action(action)
        if self.s.p[0].won | self.s.p[1].won:
            raise GameOverError(f"action {action}: the game is over", self.clone())
        if not state_is_legal(&self.s, &self.table.t, number):
            raise IllegalActionError(
                f"action {describe_action(self, number, action)} is not legal here", self.clone())
        state_apply(&self.s, &self.table.t, number)
        if LOCMSIM_DEBUG:
            self.validate()

    def apply_unchecked(self, Py_ssize_t action):
        """Apply an action that is known to be legal, without any check.

        Anything but a legal action leaves the state undefined and may crash the process.

        Parameters
        ----------
        action : int
            A legal action.
        """
        state_apply(&self.s, &self.table.t, <int>action)
        if LOCMSIM_DEBUG:
            self.validate()

    def actions_of(self, str line not None):
        """Return the legal actions that an answer line carries out, without PASS.

        The state is unchanged.

        Parameters
        ----------
        line : str
            A whole answer, as for `apply_line`.

        Returns
        -------
        list of int
            Actions, each legal after those before it. What the referee would ignore is left out.

        Raises
        ------
        InvalidActionError
            The line is malformed.
        """
        cdef State after = self.clone()
        return [number for _, number, applied in play_line(after, line) if applied]

    def apply_line(self, str line not None):
        """Carry out a whole answer line as the referee does, then end the turn.

        The turn does not end if somebody has won (docs/rules.md, section 8).

        Parameters
        ----------
        line : str
            Actions with ``;`` between them.

        Returns
        -------
        applied, ignored : list of str
            Canonical texts of the actions carried out, and of those ignored because they were PASS
            or were illegal when their time came. Once somebody has won, the actions that follow are
            ignored up to the first one that would be legal: there the referee stops, and says
            nothing of the rest.

        Raises
        ------
        InvalidActionError
            The line is malformed; nothing was applied.
        """
        cdef int rules = self.table.t.rules
        cdef list applied = []
        cdef list ignored = []
        for parsed, _, legal in play_line(self, line):
            (applied if legal else ignored).append(text_of(parsed, rules))
        if not self.s.p[0].won | self.s.p[1].won:
            state_end_turn(&self.s, &self.table.t)
        if LOCMSIM_DEBUG:
            self.validate()
        return applied, ignored

    # -- whose turn it is and who has won

    def current_player(self):
        """Return the player to move, 0 or 1; -4 when the game is over, as in OpenSpiel."""
        return TERMINAL_PLAYER if self.is_terminal() else state_player(&self.s)

    def is_terminal(self):
        """Return whether somebody has won."""
        return bool(self.s.p[0].won | self.s.p[1].won)

    @property
    def winner(self):
        """The winner, 0 or 1; None while nobody has won."""
        cdef int winner = state_winner(&self.s)
        return None if winner < 0 else winner

    def returns(self):
        """Return [1.0, -1.0] or [-1.0, 1.0] for the players; [0.0, 0.0] before the end."""
        cdef int winner = state_winner(&self.s)
        return [0.0, 0.0] if winner < 0 else [1.0, -1.0] if winner == 0 else [-1.0, 1.0]

    @property
    def turn(self):
        """The number of the turn, counted from 0 over both players (-1 before the first turn)."""
        return self.s.turn

    @property
    def rules(self):
        """The name of the rule set: "1.5", "1.2" or "1.0"."""
        return RULES_NAMES[self.table.t.rules]

    def num_distinct_actions(self):
        """Return 145 (155 in 1.0): all action numbers are below it."""
        return num_actions(self.table.t.rules)

    # What else OpenSpiel's states have. An extension type cannot have a base class in Python.
    chance_outcomes = SpielPosition.chance_outcomes
    history_str = SpielPosition.history_str
    is_chance_node = SpielPosition.is_chance_node
    is_player_node = SpielPosition.is_player_node
    is_simultaneous_node = SpielPosition.is_simultaneous_node
    num_players = SpielPosition.num_players
    player_return = SpielPosition.player_return
    player_reward = SpielPosition.player_reward
    resample_from_infostate = SpielPosition.resample_from_infostate
    rewards = SpielPosition.rewards

    def get_game(self):
        """Return the game object of `locmsim.openspiel` for this rule set."""
        return later("game")(self.rules)

    # -- actions in words

    def action(self, action):
        """Return what an action number means in this position.

        Parameters
        ----------
        action : int
            An action number; Python's and numpy's integers are accepted.

        Returns
        -------
        Action
            ``str(state.action(a)) == state.action_to_string(a)``.

        Raises
        ------
        IllegalActionError
            The number names nothing in this position.
        """
        found = action_fields(self, as_action(action))
        if found is None:
            raise IllegalActionError(
                f"action {action} names nothing in this position", self.clone())
        return found

    def action_number(self, action not None):
        """Return the number of a legal action, the inverse of `action`.

        Parameters
        ----------
        action : Action
            Its card, if it has one, must be the card that has the instance id `source` here.

        Returns
        -------
        int

        Raises
        ------
        IllegalActionError
            The action is not legal here.
        GameOverError
            The game is over.
        """
        cdef int number
        if not isinstance(action, Action):
            raise TypeError(f"expected an Action, got {action!r}")
        if self.is_terminal():
            raise GameOverError(f"{action}: the game is over", self.clone())
        kind, card, source, target, lane = action
        if kind not in _KINDS:
            raise IllegalActionError(f"{kind!r} is not a kind of action", self.clone())
        second = target
        if kind == SUMMON:
            second = 0 if self.table.t.rules == RULES_10 and lane is None else lane
        number = PASS if kind == PASS else find_action(self, (
            kind, _word_of(source), _word_of(second)))
        if not state_is_legal(&self.s, &self.table.t, number) or (
                card is not None and action_fields(self, number).card != card):
            raise IllegalActionError(f"{action} is not legal here", self.clone())
        return number

    def action_to_string(self, *args):
        """Return the referee's text of an action, such as "ATTACK 36 -1".

        It is called as ``action_to_string(action)``, or as in OpenSpiel ``action_to_string(player,
        action)``.

        Parameters
        ----------
        player : int, optional
            0 or 1; it makes no difference.
        action : int
            An action number.

        Returns
        -------
        str

        Raises
        ------
        IllegalActionError
            The number names nothing in this position.
        """
        action = _last_argument("action_to_string", args)
        cdef int number = as_action(action)
        text = action_text(self, number)
        if text is None:
            raise IllegalActionError(
                f"action {action} names nothing in this position", self.clone())
        return text

    def string_to_action(self, *args):
        """Return the number of a legal action from its canonical text.

        It is called as ``string_to_action(text)``, or as in OpenSpiel ``string_to_action(player,
        text)``.

        Parameters
        ----------
        player : int, optional
            0 or 1; it makes no difference.
        text : str
            One action, PASS included, without a comment and without ``;``.

        Returns
        -------
        int

        Raises
        ------
        InvalidActionError
            The text is malformed.
        IllegalActionError
            The action is not legal here.
        GameOverError
            The game is over.
        """
        text = _last_argument("string_to_action", args)
        cdef int rules = self.table.t.rules
        cdef int number
        if not isinstance(text, str):
            raise TypeError(f"expected a string, got {text!r}")
        if ";" in text or not text.strip(BLANKS):
            raise InvalidActionError(f"expected one action, got {text!r}")
        parsed = parse_part(text, rules)
        if text_of(parsed, rules) != text:
            raise InvalidActionError(
                f"{text!r} is not the canonical form {text_of(parsed, rules)!r}")
        if self.is_terminal():
            raise GameOverError(f"{text}: the game is over", self.clone())
        number = find_action(self, parsed)
        if not state_is_legal(&self.s, &self.table.t, number):
            raise IllegalActionError(f"{text} is not legal here", self.clone())
        return number

    def __str__(self):
        """Return a readable board: the player to move below, the other player above."""
        return later("board_text")(self)

    def __repr__(self):
        return f"<State rules={self.rules} turn={self.turn} winner={self.winner}>"

    def _repr_html_(self):
        """Return a picture of both sides for notebooks."""
        return later("board_html")(self)

    # -- looking inside

    @property
    def players(self):
        """Two read-only views of the players, which always show the state as it is now."""
        return PlayerView(self, 0), PlayerView(self, 1)

    def snapshot(self):
        """Return the position as plain dicts, lists, ints and strings (docs/rules.md, section 13).
        """
        return {
            "turn": self.s.turn,
            "cur": state_player(&self.s),
            "winner": state_winner(&self.s),
            "p": [snapshot_player(self, 0), snapshot_player(self, 1)],
        }

    def observation(self, player, opponent_actions=()):
        """Return what a player sees.

        Parameters
        ----------
        player : int
            0 or 1, whether to move or not.
        opponent_actions : sequence of str
            The opponent's actions in the previous turn, which a state does not know.

        Returns
        -------
        Observation
            As from `locmsim.Observation.of`, which also says what is raised.
        """
        return later("Observation").of(self, player, opponent_actions)

    def observation_tensor(self, player=None, layout="entities-f32", *, out=None):
        """Return what a player sees as numbers, in a layout of `locmsim.policy`.

        A state has no past, so the numbers of `Layout.history` are 0.

        Parameters
        ----------
        player : int, optional
            0 or 1; by default the player to move.
        layout : str
            "entities", "entities-f32" or "gym-locm".
        out : array, optional
            A C-contiguous array of the layout's shape and type, to be filled and returned.

        Returns
        -------
        array
            Of the layout's shape and type.

        Raises
        ------
        ValueError
            The layout or the player is unknown, or `out` does not fit.
        """
        return later("write_state")(self, self.viewer(player), layout, out)

    cdef int viewer(self, player) except -1:
        return state_player(&self.s) if player is None else _player_number(player)

    def observation_string(self, player=None):
        """Return what a player sees as text; two texts are equal exactly if the player sees the
        same.

        Parameters
        ----------
        player : int, optional
            0 or 1, whether to move or not; by default the player to move.

        Returns
        -------
        str
            The first line has what the protocol leaves out, because it only speaks at the start of
            a turn: the turn, the player to move, the mana both have left, and which of the player's
            creatures can attack and have attacked. The protocol's text (docs/rules.md, section 9)
            follows, without the opponent's actions, which a state does not know.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        return later("seen_text")(self, self.viewer(player))

    def validate(self):
        """Check all invariants of the representation; an `AssertionError` names the broken one."""
        fault = state_fault(&self.s, &self.table.t)
        if fault is not NULL:
            raise AssertionError(fault.decode())

    # -- playouts

    def rollout(self, seed):
        """Play one uniformly random playout from here and return its winner.

        It is game 0 of `rollouts`.

        Parameters
        ----------
        seed : int
            The seed of the random actions.

        Returns
        -------
        int
            0 or 1.
        """
        return int(self.rollouts(1, seed)[0])

    def rollouts(self, n, seed, threads=1):
        """Play n uniformly random playouts from here and return their winners.

        Every action is drawn uniformly from the legal ones. Game i depends only on (seed, i). The
        GIL is released.

        Parameters
        ----------
        n : int
            How many playouts.
        seed : int
            The seed of the random actions.
        threads : int
            How many threads share the playouts; it makes no difference to the result.

        Returns
        -------
        array of int8, shape (n,)

        Raises
        ------
        ValueError
            An argument is out of bounds.
        """
        return self.rollouts_counted(n, seed, threads)[0]

    def rollouts_counted(self, n, seed, threads=1):
        """Play `rollouts`, and count the actions applied, PASS included.

        Parameters
        ----------
        n, seed, threads : int
            As for `rollouts`.

        Returns
        -------
        winners : array of int8, shape (n,)
        actions : int
        """
        import numpy as np
        winners = np.empty(whole_number(n, "n", 0, 10**12), dtype=np.int8)
        cdef uint64_t bits = seed_of(seed)
        return winners, sum(in_threads(
            lambda start, end: run_rollouts(self, bits, start, winners[start:end]),
            len(winners), whole_number(threads, "threads", 1, MOST_THREADS), PLAYOUTS_A_CALL))

    def perft(self, depth):
        """Count the sequences of `depth` legal actions from here; a finished game has none.

        Parameters
        ----------
        depth : int
            0 or more.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            `depth` is not an integer from 0 to 100. No computer counts that far from any position
            with a choice, and one without a choice would take the memory of so many calls.
        """
        if self.is_terminal():
            return int(whole_number(depth, "depth", 0, 1 << 62) == 0)
        return perft_with_signals(
            &self.s, &self.table.t, <int>whole_number(depth, "depth", 0, MAX_PERFT))

    def resample_hidden(self, player, seed):
        """Return a new state in which everything that a player cannot see is drawn anew.

        What `player` sees stays the same. Their own deck is shuffled. The opponent's hand and deck
        are filled from the pool of the game; in 1.5 with at most two copies of a card, counting
        those on the board, if the pool is large enough. The player knows all instance ids of hidden
        cards, but not where they are: they stay in draw order in 1.x and are shuffled in 1.5.

        Parameters
        ----------
        player : int
            0 or 1, the player whose knowledge is kept.
        seed : int
            The result depends only on this seed and on what `player` can know.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1, or the pool is needed and empty.
        """
        return resampled(self, _player_number(player), seed_of(seed))

    # -- equality and bytes

    def __eq__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        if self.table is (<State>other).table:
            return memcmp(&self.s, &(<State>other).s, sizeof(state_t)) == 0
        return self.key() == (<State>other).key()

    __hash__ = None

    def key(self):
        """Return bytes that are equal exactly for equal positions, whatever the order of their
        tables.
        """
        return canonical_key(self)

    def hash64(self):
        """Return 64 bits of everything that `key` contains.

        Equal positions have equal hashes, on every machine. Different positions have equal hashes
        only by chance, 1 in 2**64.

        Returns
        -------
        int
            0 <= x < 2**64.
        """
        return state_hash(&self.s, &self.table.t)

    def turn_hash(self):
        """Return 64 bits of what can change within a turn, whatever the order of the actions was.

        Two ways to play a turn have equal hashes if they lead to the same hands and boards, apart
        from the order of cards and creatures: what the transposition table of a search within one
        turn needs. Cards in hand count by their base ids, creatures by their present values. The
        turn number, the decks and the opponent's hand, which no action of the turn changes, do not
        count.

        Returns
        -------
        int
            0 <= x < 2**64, the same on every machine; equal states have equal hashes.
        """
        cdef uint64_t card_keys[MAX_CARDS]
        cdef const player_t* me = &self.s.p[state_player(&self.s)]
        cdef int h, entry
        for h in range(me.hand_size):
            entry = me.hand >> 8 * h & 255
            card_keys[entry] = hand_key(&self.table.t.cards[entry])
        return turn_hash(&self.s, &self.table.t, card_keys)

    def to_bytes(self):
        """Return the state and its table as bytes for `from_bytes`, on machines of the same byte
        order.
        """
        return sealed_table(self.table) + packed(self)

    @staticmethod
    def from_bytes(data):
        """Return the state that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            The bytes are foreign, truncated or corrupted.
        """
        cdef bytes raw = bytes(memoryview(data))
        cdef Py_ssize_t size = _HEADER.size         # size of the table's part
        if len(raw) >= size:
            size += _HEADER.unpack_from(raw)[3]
        return _unpack_state(_unpack_table(raw[:size]), raw[size:])

    def to_text(self):
        """Return the position as one line of text that is exact and readable (docs/rules.md,
        section 13).

        `from_text` is its inverse. The text includes the pool of hidden cards, but not the names of
        cards.
        """
        return later("state_text")(self)

    @staticmethod
    def from_text(text):
        """Return the state of a position text (docs/rules.md, section 13).

        Parameters
        ----------
        text : str
            One line as `to_text` returns it; blanks around it do not matter.

        Returns
        -------
        State
            Equal to the state that was written, with an equal pool.

        Raises
        ------
        ValueError
            A field is wrong; the message names it, such as ``players[0].board[2]``.
        """
        return later("state_of_text")(text)

    def __reduce__(self):
        return _unpack_state, (self.table, packed(self))


cdef bytes packed(State state):
    return sealed(STATE_PART, (<const char*>&state.s)[:sizeof(state_t)])


def _unpack_state(Table table not None, data):
    """Return the state that `packed` packed; ``ValueError`` for anything else."""
    cdef State state = new_state(table)
    cdef bytes raw = unsealed(STATE_PART, data)
    if len(raw) != sizeof(state_t):
        raise ValueError("no state of locmsim: wrong size")
    memcpy(&state.s, <const char*>raw, sizeof(state_t))
    fault = state_fault(&state.s, &table.t)
    if fault is not NULL:
        raise ValueError(f"no state of locmsim: {fault.decode()}")
    return state


@cython.final
cdef class PlayerView:
    """A read-only view of one player of a `State`."""

    cdef State state
    cdef const player_t* p
    cdef int who

    def __cinit__(self, State state not None, player):
        self.state = state
        self.who = _player_number(player)
        self.p = &state.s.p[self.who]

    @property
    def health(self):
        return self.p.health

    @property
    def max_mana(self):
        return self.p.max_mana

    @property
    def mana(self):
        """The mana left in this turn."""
        return self.p.mana

    @property
    def bonus_mana(self):
        """1 while this player holds the second player's bonus mana (docs/rules.md, section 4)."""
        return self.p.bonus

    @property
    def next_draw(self):
        """The cards to draw at the start of their next turn, including those for lost health."""
        return state_next_draw(&self.state.s, self.who)

    @property
    def shown_draw(self):
        """The draw number that the protocol prints for them."""
        return self.p.shown_draw

    @property
    def lost_health(self):
        """In 1.5 the health lost since their last draw; 0 in 1.x."""
        return self.p.lost

    @property
    def runes(self):
        """In 1.x the remaining runes in ascending order; [] in 1.5."""
        return [5 * (i + 1) for i in range(5) if self.p.runes >> i & 1]

    @property
    def hand_size(self):
        return self.p.hand_size

    @property
    def hand(self):
        """The hand, a list of `CardInHand(id, card)` in draw order."""
        return [
            CardInHand(self.state.table.t.cards[self.p.hand >> 8 * h & 255].id,
                       self.state.table.card(self.p.hand >> 8 * h & 255))
            for h in range(self.p.hand_size)
        ]

    @property
    def deck_size(self):
        return self.p.deck_left

    @property
    def deck(self):
        """The deck, a list of `CardInHand(id, card)` in draw order: hidden from both players."""
        return [
            CardInHand(self.state.table.t.cards[self.state.s.deck[self.who][i]].id,
                       self.state.table.card(self.state.s.deck[self.who][i]))
            for i in range(MAX_DECK - self.p.deck_left, MAX_DECK)
        ]

    @property
    def board(self):
        """The board, a list of `Creature` in summon order over both lanes."""
        cdef const table_t* t = &self.state.table.t
        return [
            Creature(creature_id(&self.p.board[slot], t),
                     self.state.table.card(self.p.board[slot].card),
                     self.p.board[slot].attack, self.p.board[slot].defense,
                     abilities_of(self.p.board[slot].keywords), lane_of(slot, t),
                     bool(marked(self.p, READY) >> slot & 1),
                     bool(marked(self.p, SPENT) >> slot & 1))
            for slot in board_order(self.p, t)
        ]

    @property
    def effects_forgotten(self):
        """In 1.x, for each creature in board order whether the protocol shows its effects as 0."""
        return [bool(self.p.board[slot].forgotten)
                for slot in board_order(self.p, &self.state.table.t)]

    def __repr__(self):
        return (f"<PlayerView health={self.health} mana={self.mana}/{self.max_mana} "
                f"hand={self.p.hand_size} deck={self.deck_size}>")


cdef class Shown:
    """The struct inside an `Observation`: what a player is shown."""


# ---- helpers of the class ------------------------------------------------------------------------

cdef PyObject* ACTION_NUMBERS[MAX_ACTIONS]      # the ints, so that lists of actions allocate none
_ACTION_NUMBERS = list(range(MAX_ACTIONS))      # ... kept alive here
for _i in range(MAX_ACTIONS):
    ACTION_NUMBERS[_i] = <PyObject*>_ACTION_NUMBERS[_i]


cdef list play_line(State state, str line):
    """Apply the actions of an answer line. Return for each, up to the first one after
    a win, how it was parsed, its number, and whether it was legal and applied."""
    cdef state_t* s = &state.s
    cdef const table_t* t = &state.table.t
    cdef list found = []
    cdef int number
    cdef bint legal
    for parsed in parse_parts(line, t.rules):
        number = find_action(state, parsed)
        legal = number > PASS and state_is_legal(s, t, number)
        if legal:
            if s.p[0].won | s.p[1].won:
                break
            state_apply(s, t, number)
        found.append((parsed, number, legal))
    return found


cdef tuple _KINDS = tuple(ActionKind)


cdef object action_fields(State state, int number):
    """Return the `Action` of a number; None if it names an empty place."""
    cdef const table_t* t = &state.table.t
    cdef const player_t* me = &state.s.p[state_player(&state.s)]
    cdef named_t named
    cdef move_t m
    cdef int entry
    if not name_action(&state.s, t, number, &named):
        return None
    if named.kind == PASS:
        return tuple.__new__(Action, (_KINDS[PASS], None, None, None, None))
    m = MOVES[t.rules == RULES_10][number]
    entry = me.board[m.source].card if m.kind == ATTACK else me.hand >> 8 * m.source & 255
    if m.kind == SUMMON:
        return tuple.__new__(Action, (
            _KINDS[SUMMON], state.table.card(entry), named.source, None,
            None if t.rules == RULES_10 else named.target))
    return tuple.__new__(
        Action, (_KINDS[m.kind], state.table.card(entry), named.source, named.target, None))


cdef int find_action(State state, tuple parsed) except? -1:
    """The number of a parsed action; -1 if one of its ids is in the wrong place."""
    cdef const player_t* me = &state.s.p[state_player(&state.s)]
    cdef const player_t* op = &state.s.p[1 - state_player(&state.s)]
    cdef const table_t* t = &state.table.t
    cdef move_t m
    cdef int kind, found
    cdef int64_t first, second
    kind, first, second = parsed
    if kind == PASS:
        return PASS
    m.kind = kind
    m._pad = 0
    m.target = 0
    found = find_creature(me, t, first) if kind == ATTACK else find_in_hand(me, t, first)
    if found < 0:
        return -1
    m.source = found
    if kind == SUMMON:
        if not 0 <= second < (1 if t.rules == RULES_10 else 2):
            return -1
        if t.cards[me.hand >> 8 * found & 255].type != CREATURE:
            return -1
        m.target = <uint8_t>second
    elif kind == USE:
        if t.cards[me.hand >> 8 * found & 255].type == CREATURE:
            return -1
        if second != -1:
            found = find_creature(me, t, second)
            if found < 0:
                found = find_creature(op, t, second)
                if found < 0:
                    return -1
                found += 6
            m.target = 1 + found
    elif second != -1:
        found = find_creature(op, t, second)
        if found < 0 or (t.rules != RULES_10 and (found >= 3) != (m.source >= 3)):
            return -1
        m.target = 1 + found
    return action_of(m, t.rules == RULES_10)


cdef int write_number(char* to, int number) noexcept nogil:
    """Write a blank and an integer of at most nine digits; return their length."""
    cdef char digits[10]
    cdef int n = 0, length = 1
    to[0] = 32                              # ' '
    if number < 0:
        to[length] = 45                     # '-'
        length += 1
        number = -number
    while n == 0 or number > 0:
        digits[n] = 48 + number % 10        # '0'
        number //= 10
        n += 1
    while n > 0:
        n -= 1
        to[length] = digits[n]
        length += 1
    return length


ctypedef struct named_t:            # an action by the instance ids it names
    int kind
    int source                      # instance ids; -1: a player
    int target                      # SUMMON: the lane


cdef bint name_action(
    const state_t* s, const table_t* t, int action, named_t* out
) noexcept nogil:
    """Find what an action names; False if one of these is missing."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef const player_t* p = op
    cdef bint one = t.rules == RULES_10
    cdef move_t m
    cdef int slot
    if action < 0 or action >= (MAX_ACTIONS if one else TWO_LANE_ACTIONS):
        return False
    m = MOVES[one][action]
    out.kind = m.kind
    out.source = out.target = -1
    if m.kind == PASS:
        return True
    slot = m.target - 1
    if m.kind == ATTACK:
        if not marked(me, OCCUPIED) >> m.source & 1:
            return False
        out.source = creature_id(&me.board[m.source], t)
    else:
        if m.source >= me.hand_size:
            return False
        out.source = t.cards[me.hand >> 8 * m.source & 255].id
        if m.kind == SUMMON:
            out.target = m.target
            return True
        if slot >= MAX_BOARD:
            slot -= MAX_BOARD
        else:
            p = me
    if slot >= 0:
        if not marked(p, OCCUPIED) >> slot & 1:
            return False
        out.target = creature_id(&p.board[slot], t)
    return True


cdef int state_write(const state_t* s, const table_t* t, int action, char* to) noexcept nogil:
    cdef named_t named
    cdef const char* word
    cdef int n = 0
    if not name_action(s, t, action, &named):
        return 0
    word = "PASS" if named.kind == PASS else "SUMMON" if named.kind == SUMMON else (
        "USE" if named.kind == USE else "ATTACK")
    while word[n]:
        to[n] = word[n]
        n += 1
    if named.kind == PASS:
        return n
    n += write_number(&to[n], named.source)
    if named.kind != SUMMON or t.rules != RULES_10:
        n += write_number(&to[n], named.target)
    return n


cdef object action_text(State state, int number):
    """Return the canonical text of an action; None if it names an empty place."""
    cdef char text[MAX_ACTION_TEXT]
    cdef int n = state_write(&state.s, &state.table.t, number, text)
    return text[:n].decode("ascii") if n else None


cdef dict snapshot_player(State state, int who):
    cdef const player_t* p = &state.s.p[who]
    cdef const table_t* t = &state.table.t
    cdef dict result = {
        "hp": p.health,
        "maxMana": p.max_mana,
        "mana": p.mana,
        "bonus": p.bonus,
        "draw": state_next_draw(&state.s, who),
        "shown": p.shown_draw,
    }
    if t.rules == RULES_15:
        result["lost"] = p.lost
    else:
        result["runes"] = [5 * (i + 1) for i in range(5) if p.runes >> i & 1]
    result["hand"] = [t.cards[p.hand >> 8 * h & 255].id for h in range(p.hand_size)]
    result["deck"] = p.deck_left
    result["board"] = [
        [creature_id(&p.board[slot], t), t.cards[p.board[slot].card].base_id,
         p.board[slot].attack, p.board[slot].defense, abilities_of(p.board[slot].keywords),
         lane_of(slot, t), marked(p, READY) >> slot & 1, marked(p, SPENT) >> slot & 1]
        for slot in board_order(p, t)
    ]
    return result


cdef int64_t _word_of(number) except? -2:
    """A number of an `Action`; -2, which names nothing, if it is missing or too large."""
    try:
        return -2 if number is None else number
    except OverflowError:
        return -2


cdef str describe_action(State state, int number, action):
    text = action_text(state, number)
    return f"{action}" if text is None else f"{action} ({text})"


cdef object _last_argument(str name, tuple args):
    if not 1 <= len(args) <= 2:
        raise TypeError(f"{name}() takes one or two arguments, got {len(args)}")
    return args[len(args) - 1]


cdef list _cards(str name, cards):
    """Return the cards of an argument as a list."""
    cdef list result = list(cards)
    for i, card in enumerate(result):
        if not isinstance(card, Card):
            raise ValueError(f"{name}[{i}]: expected a Card, got {card!r}")
    return result


cdef inline int _player_number(player) except -1:
    """Return `locmsim._checks.player_number`, quickly for the plain integers."""
    if type(player) is int and (player == 0 or player == 1):
        return player
    return player_number(player)


cdef int lane_of(int slot, const table_t* t) noexcept:
    return 0 if t.rules == RULES_10 else slot // 3


cdef list board_order(const player_t* p, const table_t* t):
    """The occupied slots in summon order over both lanes."""
    cdef int bit, lane
    cdef int bits = COUNT[marked(p, OCCUPIED)]
    cdef list slots = []
    cdef int[2] following = [0, 3]
    for bit in range(bits - 1, -1, -1):
        lane = p.order >> bit & 1
        slots.append(following[lane])
        following[lane] += 1
    return slots


cdef int find_in_hand(const player_t* p, const table_t* t, int64_t id) noexcept:
    cdef int h
    for h in range(p.hand_size):
        if t.cards[p.hand >> 8 * h & 255].id == id:
            return h
    return -1


cdef int find_creature(const player_t* p, const table_t* t, int64_t id) noexcept:
    cdef int slot
    for slot in range(MAX_BOARD):
        if marked(p, OCCUPIED) >> slot & 1 and creature_id(&p.board[slot], t) == id:
            return slot
    return -1


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


cdef int add_instances(Table table, decks) except -1:
    """Fill the table with the cards of both players, `[(id, Card), ...]`, by ascending id: the
    order of the entries must say nothing about the order of the decks."""
    seen = set()
    for p in range(2):
        for number, card in sorted(decks[p], key=_first):
            if not 0 <= number < POOL_ID:
                raise ValueError(f"instance id {number} of player {p}: expected 0..{POOL_ID - 1}")
            if number in seen:
                raise ValueError(f"instance id {number} of player {p} occurs twice")
            seen.add(number)
            table.add(card, number)
    return 0


def _first(pair):
    return pair[0]


cdef int entry_of(Table table, int64_t id) noexcept:
    """The entry of an instance id; -1 for an unknown id."""
    cdef int i
    cdef int n = table.t.n_instances or table.t.n_cards
    for i in range(n):
        if table.t.cards[i].id == id:
            return i
    return -1


cdef int place_deck(State state, int p, ids) except -1:
    """Make the instances `ids`, in draw order, the deck of player p."""
    cdef int i = MAX_DECK - <int>len(ids)
    state.s.p[p].deck_left = <uint8_t>len(ids)
    for number in ids:
        state.s.deck[p][i] = <uint8_t>entry_of(state.table, number)
        i += 1
    return 0


cdef object run_rollouts(State state, uint64_t seed, Py_ssize_t start, int8_t[::1] winners):
    """Do playouts start, start + 1, ... of a seed, one per element; return the actions applied."""
    cdef state_t s
    cdef uint64_t applied = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(winners.shape[0]):
            s = state.s
            winners[i] = state_rollout(&s, &state.table.t, stream_start(seed, start + i), &applied)
    return applied


cdef uint64_t seed_of(seed) except? 0:
    return PyLong_AsUnsignedLongLongMask(seed if type(seed) is int else seed_bits(seed))


cpdef Py_ssize_t whole_number(value, str where, Py_ssize_t low, Py_ssize_t high) except? -1:
    """Return `locmsim._checks.whole`, quickly for small integers of Python."""
    cdef Py_ssize_t number = low - 1
    if type(value) is int:
        try:
            number = value
        except OverflowError:
            pass
        if low <= number <= high:
            return number
    return whole(where, value, low, high)


# ---- positions by their fields -------------------------------------------------------------------
# The raw fields that game/notation.py reads and writes, after its own checks.

def table_rows(Table table not None):
    """Return where a table's pool begins, the entries' instance ids, and their cards as rows."""
    cdef const card_t* c
    cdef int i
    cdef list row, rows = []
    cdef list ids = []
    for i in range(table.t.n_cards):
        c = &table.t.cards[i]
        ids.append(c.id)
        # In two steps, as Cython needs minutes for a list of so many C numbers.
        row = [c.base_id, c.type, c.cost, c.attack, c.defense, abilities_of(c.keywords)]
        row += [c.my_health, c.opponent_health, c.draw, c.area]
        rows.append(row)
    return table.t.n_instances, ids, rows


def places_of(State state not None):
    """Return for each player the table entries of hand, deck and board.

    Those of the board are in board order, each with two flags: whether it is an area copy, and
    whether its effects are forgotten.
    """
    cdef const player_t* p
    cdef int who, i
    cdef list players = []
    for who in range(2):
        p = &state.s.p[who]
        players.append((
            [p.hand >> 8 * i & 255 for i in range(p.hand_size)],
            [state.s.deck[who][i] for i in range(MAX_DECK - p.deck_left, MAX_DECK)],
            [(p.board[slot].card, p.board[slot].copy, p.board[slot].forgotten)
             for slot in board_order(p, &state.table.t)]))
    return players


def keywords_number(abilities):
    """Return the bits of a text such as "B-D---"; -1 for anything else."""
    return ABILITY_BITS.get(abilities, -1) if isinstance(abilities, str) else -1


def build_state(str rules, turn, winner, instances, pool, str name, players):
    """Return the state of fields that are each in range.

    The entries of its table are `instances`, pairs of an id and a card, then the cards of `pool`.
    A player has health, greatest mana, mana, bonus, cards to draw without those for lost health,
    shown draw, lost health, runes (a bit each), the entries of the hand and of the deck, and for
    each creature the entry, whether it is an area copy, attack, defense, keywords, lane and whether
    it can attack, has attacked and has forgotten effects. ``ValueError`` calls the players `name`.
    """
    cdef Table table = new_table(rules)
    cdef State state = new_state(table)
    cdef int who
    for number, card in instances:
        table.add(card, number)
    table.t.n_instances = table.t.n_cards
    for card in pool:
        table.add(card, POOL_ID)
    memset(&state.s, 0, sizeof(state_t))
    state.s.turn = turn
    for who in range(2):
        fill_player(state, who, f"{name}[{who}]", players[who])
        state.s.p[who].won = winner == who
    fault = state_fault(&state.s, &table.t)
    if fault is not NULL:
        raise ValueError(f"position: {fault.decode()}")
    return state


cdef int fill_player(State state, int who, str where, tuple fields) except -1:
    cdef const table_t* t = &state.table.t
    cdef player_t* p = &state.s.p[who]
    cdef creature_t x
    cdef int lane
    cdef bint ready, spent
    player_start(p, t.rules)
    (p.health, p.max_mana, p.mana, p.bonus, p.next_draw, p.shown_draw, p.lost, p.runes,
     hand, deck, board) = fields
    if len(hand) > MAX_HAND:
        raise ValueError(f"{where}.hand: {len(hand)} cards, expected at most {MAX_HAND}")
    if len(deck) > MAX_DECK:
        raise ValueError(f"{where}.deck: {len(deck)} cards, expected at most {MAX_DECK}")
    for entry in hand:
        add_to_hand(p, t, entry)
    p.deck_left = <uint8_t>len(deck)
    for i, entry in enumerate(deck, MAX_DECK - len(deck)):
        state.s.deck[who][<int>i] = entry
    for i, creature in enumerate(board):
        (x.card, x.copy, x.attack, x.defense, x.keywords, lane, ready, spent,
         x.forgotten) = creature
        if free_places(p, lane, t) < 1:
            raise ValueError(f"{where}.board[{i}]: no room in lane {lane}")
        place_creature(p, t, &x, lane, ready, spent)
    return 0


cdef int check_line(const shown_t* o, int side, str who) except -1:
    cdef const shown_player_t* p = &o.player[side]
    for name, value, low, high in (
        ("health", p.health, -MAX_HEALTH, MAX_HEALTH),
        ("max_mana", p.max_mana, 0, MAX_MANA + 1),
        ("draw", p.draw, 0, MAX_DRAW),
        ("rune", p.rune, 0, MAX_SHOWN_NUMBER if o.rules == RULES_15 else HIGHEST_RUNE),
    ):
        whole_number(value, f"{who}.{name}", low, high)
    return 0


cdef int check_battle(const shown_t* o) except -1:
    cdef const shown_player_t* p
    cdef int side
    if o.n_cards and o.cards[0].id == OFFERED:
        raise ValueError("an observation of the choice phase shows no battle")
    for side in range(2):
        p = &o.player[side]
        if not (
            -MAX_HEALTH <= p.health <= MAX_HEALTH and 0 <= p.max_mana <= MAX_MANA + 1
            and 0 <= p.draw <= MAX_DRAW and (o.rules == RULES_15 or 0 <= p.rune <= HIGHEST_RUNE)
        ):
            check_line(o, side, "opponent" if side else "me")
    return 0


cdef int fill_from_observation(state_t* s, table_t* t, Shown shown) except -1:
    cdef const char* wrong
    cdef rows_fault_t fault
    check_battle(&shown.o)
    t.rules = shown.o.rules
    t.n_cards = 0
    t.n_instances = 0
    fault = state_show(s, t, &shown.o, 0, NULL)
    if fault >= ID_REPEATED:
        fault -= ID_REPEATED
        raise ValueError(f"cards[{fault}]: instance id {shown.o.cards[fault].id} occurs twice")
    if fault != ROWS_FIT:
        raise ValueError(f"cards[{fault}]: {shown.cards[fault]!r} does not fit")
    wrong = cards_fault(t, t.n_cards)
    if wrong is NULL:
        wrong = ids_fault(s, t)
    if wrong is not NULL:
        raise ValueError(f"cards: {wrong.decode()}")
    return 0


# ---- canonical bytes -----------------------------------------------------------------------------

cdef bytes canonical_key(State state):
    """Return everything that `==` compares, with cards by id and base id instead of table entry."""
    cdef uint8_t buffer[MAX_KEY_SIZE]
    cdef uint8_t* to = buffer
    cdef const table_t* t = &state.table.t
    cdef const player_t* p
    cdef const creature_t* x
    cdef int who, i
    to = put(to, FORMAT_VERSION, 4)
    to = put(to, t.rules, 4)
    to = put(to, state.s.turn, 4)
    for who in range(2):
        p = &state.s.p[who]
        to = put(to, p.health, 4)
        to = put(to, p.lost, 4)
        to = put(to, p.next_draw, 4)
        to = put(to, p.shown_draw, 4)
        to = put(to, p.mana, 1)
        to = put(to, p.max_mana, 1)
        to = put(to, p.bonus, 1)
        to = put(to, p.hand_size, 1)
        to = put(to, p.deck_left, 1)
        to = put(to, p.runes, 1)
        to = put(to, p.order, 1)
        to = put(to, p.won, 1)
        to = put(to, p.marks, 4)
        for i in range(p.hand_size):
            to = put_card(to, &t.cards[p.hand >> 8 * i & 255], 0)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            to = put_card(to, &t.cards[state.s.deck[who][i]], 0)
        for i in range(MAX_BOARD):
            if marked(p, OCCUPIED) >> i & 1:
                x = &p.board[i]
                to = put(to, x.attack, 2)
                to = put(to, x.defense, 2)
                to = put(to, x.keywords, 1)
                to = put(to, x.forgotten, 1)
                to = put_card(to, &t.cards[x.card], x.copy)
    return (<const char*>buffer)[:to - buffer]


cdef enum:
    CARD_KEY_SIZE = 17              # bytes of a card in a key
    MAX_KEY_SIZE = 2048             # of 12 + 2 * (28 + 38 * 17 + 6 * (6 + 17))


cdef inline uint8_t* put(uint8_t* to, int64_t value, const int size) noexcept nogil:
    """Append the lowest `size` bytes of a number, lowest first."""
    cdef int i
    for i in range(size):
        to[i] = <uint8_t>(value >> 8 * i)
    return to + size


cdef inline uint8_t* put_card(uint8_t* to, const card_t* c, int copy) noexcept nogil:
    to = put(to, c.attack, 2)
    to = put(to, c.defense, 2)
    to = put(to, c.my_health, 2)
    to = put(to, c.opponent_health, 2)
    to = put(to, c.cost, 1)
    to = put(to, c.draw, 1)
    to = put(to, c.type, 1)
    to = put(to, c.keywords, 1)
    to = put(to, c.area, 1)
    to = put(to, c.base_id, 2)
    return put(to, c.id + copy, 2)


# ---- instance ids (section 1) --------------------------------------------------------------------

cdef enum:
    IDS_PER_PLAYER = 2 * MAX_DECK       # 1.5: those of area copies included


cdef int card_id(int rules, int who, int i) noexcept nogil:
    return IDS_PER_PLAYER * who + 2 * i if rules == RULES_15 else 2 * i + who + 1


cdef int owner_of_id(int rules, int id) noexcept nogil:
    return id // IDS_PER_PLAYER & 1 if rules == RULES_15 else id + 1 & 1


cdef bint is_copy_id(int rules, int id) noexcept nogil:
    return rules == RULES_15 and id & 1 != 0


cdef int original_id(int rules, int id) noexcept nogil:
    return id - is_copy_id(rules, id)


cdef int creature_id(const creature_t* x, const table_t* t) noexcept nogil:
    return t.cards[x.card].id + x.copy


def instance_id(rules, player, i, bint copy=False):
    """Return the id of a player's i-th card, in the order of the choice in 1.5, of the deck in 1.x;
    or of its area copy (1.5). ``ValueError`` names an argument that is out of range.
    """
    cdef int code = RULES_NAMES.index(get_rules(rules).name)
    if copy and code != RULES_15:
        raise ValueError(f"copy: rules {rules} have no area copies")
    i = whole_number(i, "i", 0, MAX_DECK - 1)
    return card_id(code, _player_number(player), i) + copy


def original_of(rules, id):
    """Return the id of the card that an area copy was made from; of any other card, its own.

    ``ValueError`` for what is no id.
    """
    cdef int code = RULES_NAMES.index(get_rules(rules).name)
    return original_id(code, whole_number(id, "id", 0, POOL_ID - 1))


# ---- observations --------------------------------------------------------------------------------

cdef void see_player(const player_t* p, shown_player_t* line) noexcept nogil:
    cdef int i
    line.health = p.health
    line.max_mana = p.max_mana
    line.deck_size = p.deck_left
    line.draw = p.shown_draw
    line.rune = 0
    for i in range(5):
        if p.runes >> i & 1:
            line.rune = 5 * (i + 1)


cdef void see_card(
    const card_t* c, int location, int lane, shown_card_t* row
) noexcept nogil:
    row.base_id = c.base_id
    row.id = c.id
    row.location = location
    row.type = c.type
    row.cost = c.cost
    row.attack = c.attack
    row.defense = c.defense
    row.keywords = c.keywords
    row.my_health = c.my_health
    row.opponent_health = c.opponent_health
    row.draw = c.draw
    row.area = c.area
    row.lane = lane


cdef void state_seen(const state_t* s, const table_t* t, int who, shown_t* o) noexcept nogil:
    cdef int side, h, bit, lane
    cdef int following[2]
    cdef const player_t* p = &s.p[who]
    cdef const creature_t* x
    cdef shown_card_t* row
    o.rules = t.rules
    o.opponent_hand = s.p[1 - who].hand_size
    o.n_actions = 0
    for h in range(p.hand_size):
        see_card(&t.cards[p.hand >> 8 * h & 255], 0, -1, &o.cards[h])
    o.n_cards = p.hand_size
    for side in range(2):
        p = &s.p[who if side == 0 else 1 - who]
        see_player(p, &o.player[side])
        following[0] = 0
        following[1] = 3
        for bit in range(COUNT[marked(p, OCCUPIED)] - 1, -1, -1):
            lane = p.order >> bit & 1           # board order is summon order
            x = &p.board[following[lane]]
            following[lane] += 1
            row = &o.cards[o.n_cards]
            o.n_cards += 1
            see_card(&t.cards[x.card], 1 if side == 0 else -1, 0 if t.rules == RULES_10 else lane,
                     row)
            row.id += x.copy
            row.attack = x.attack
            row.defense = x.defense
            row.keywords = x.keywords
            if x.forgotten:
                row.my_health = row.opponent_health = row.draw = 0
    if t.rules != RULES_15:                     # areas are not shown there and mean nothing
        for h in range(o.n_cards):
            o.cards[h].area = 0


cdef void card_of_row(card_t* c, const shown_card_t* row, int entry) noexcept nogil:
    c.attack = <int16_t>clip(row.attack, MAX_CARD_STAT)
    c.defense = <int16_t>clip(row.defense, MAX_CARD_STAT)
    c.my_health = <int16_t>row.my_health
    c.opponent_health = <int16_t>row.opponent_health
    c.cost = <uint8_t>row.cost
    c.draw = <uint8_t>row.draw
    c.type = <uint8_t>row.type
    c.keywords = <uint8_t>row.keywords
    c.area = <uint8_t>row.area
    c.id = <uint8_t>row.id
    c.base_id = <uint16_t>row.base_id
    complete_card(c, entry)


cdef bint row_has_place(const shown_card_t* row, int places) noexcept nogil:
    """Return whether a row belongs to a battle and its place is free."""
    cdef int most = MAX_STAT if row.location else MAX_CARD_STAT
    return (
        places > 0 and -1 <= row.location <= 1 and 0 <= row.id < POOL_ID
        and 0 <= row.base_id <= MAX_BASE_ID and 0 <= row.type <= BLUE and 0 <= row.cost <= MAX_COST
        and 0 <= row.area <= AREA_LANE2 and 0 <= row.draw <= MAX_CARD_DRAW
        and clip(row.my_health, MAX_CARD_STAT) == row.my_health
        and clip(row.opponent_health, MAX_CARD_STAT) == row.opponent_health
        and clip(row.attack, most) == row.attack and clip(row.defense, most) == row.defense
        and (row.location == 0 or row.type == CREATURE)
    )


cdef int original_entry(const table_t* t, const shown_card_t* row) noexcept nogil:
    """The entry of which a creature is the area copy (section 7); -1 for any other creature."""
    cdef int i
    if is_copy_id(t.rules, row.id):
        for i in range(t.n_cards):
            if t.cards[i].id == original_id(t.rules, row.id) and (
                    t.cards[i].base_id == row.base_id):
                return i
    return -1


cdef int entry_like(const table_t* t, int base_id) noexcept nogil:
    """The first entry with a base id; -1 if there is none."""
    cdef int i
    for i in range(t.n_cards):
        if t.cards[i].base_id == base_id:
            return i
    return -1


cdef int free_places(const player_t* p, int lane, const table_t* t) noexcept nogil:
    """The free slots of a lane; 0 if there is no such lane."""
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


cdef void show_players(
    state_t* s, const table_t* t, const shown_t* o, int who
) noexcept nogil:
    """Fill in the values of the player lines of an observation."""
    cdef player_t* p
    cdef int side
    for side in range(2):
        p = &s.p[who if side == 0 else 1 - who]
        player_start(p, t.rules)
        p.health = o.player[side].health
        p.max_mana = p.mana = <uint8_t>o.player[side].max_mana
        p.shown_draw = o.player[side].draw
        if t.rules != RULES_15:
            p.runes = (1 << min(max(o.player[side].rune, 0), <int>HIGHEST_RUNE) // 5) - 1
    s.p[1 - who].won = o.player[0].health <= 0
    s.p[who].won = o.player[1].health <= 0 < o.player[0].health


cdef const shown_card_t* printed_row(const shown_t* o, const shown_card_t* row) noexcept nogil:
    """Return the row that tells most about the printed values of a creature's card."""
    cdef const shown_card_t* other
    cdef const shown_card_t* best = NULL
    cdef int i
    for i in range(o.n_cards):
        other = &o.cards[i]
        if other.base_id != row.base_id:
            continue
        if other.location == 0:         # a creature's present values may differ from them
            return other
        if best is NULL or (        # in 1.x its effects may be forgotten
            best.my_health == 0 and best.opponent_health == 0 and best.draw == 0
        ):
            best = other
    return best


cdef int show_card(
    table_t* t, const shown_t* o, const shown_card_t* row, const table_t* pool
) noexcept nogil:
    """Return the entry of a row: a new one, except for an area copy."""
    cdef int same, entry = -1
    if row.location != 0:
        entry = original_entry(t, row)
    if entry >= 0:
        return entry
    entry = t.n_cards
    same = entry_like(pool, row.base_id) if row.location != 0 and pool is not NULL else -1
    if same >= 0:
        t.cards[entry] = pool.cards[same]
        complete_card(&t.cards[entry], entry)
    elif row.location != 0:
        card_of_row(&t.cards[entry], printed_row(o, row), entry)
    else:
        card_of_row(&t.cards[entry], row, entry)
    t.cards[entry].id = <uint8_t>row.id
    t.n_cards = t.n_instances = entry + 1
    return entry


cdef rows_fault_t state_show(
    state_t* s, table_t* t, const shown_t* o, int who, const table_t* pool
) noexcept nogil:
    cdef player_t* p
    cdef const shown_card_t* row
    cdef const card_t* printed
    cdef creature_t x
    cdef uint64_t[4] seen
    cdef int i, entry
    memset(s, 0, sizeof(state_t))
    memset(seen, 0, sizeof(seen))
    s.turn = who
    show_players(s, t, o, who)
    for i in range(o.n_cards):
        row = &o.cards[i]
        p = &s.p[1 - who if row.location == -1 else who]
        if not row_has_place(
                row, MAX_HAND - p.hand_size if row.location == 0 else free_places(p, row.lane, t)):
            return i
        if seen[row.id >> 6] >> (row.id & 63) & 1:
            return ID_REPEATED + i
        seen[row.id >> 6] |= <uint64_t>1 << (row.id & 63)
        entry = show_card(t, o, row, pool)
        if row.location == 0:
            add_to_hand(p, t, entry)
            continue
        printed = &t.cards[entry]
        x.card = <uint8_t>entry
        x.copy = printed.id != row.id
        x.attack = <int16_t>row.attack
        x.defense = <int16_t>row.defense
        x.keywords = <uint8_t>row.keywords
        x.forgotten = t.rules != RULES_15 and (
            row.my_health != printed.my_health
            or row.opponent_health != printed.opponent_health or row.draw != printed.draw)
        place_creature(p, t, &x, row.lane, row.location == 1, False)
    return ROWS_FIT


cdef void state_fill_deck(state_t* s, int who, uint8_t entry, int n) noexcept nogil:
    memset(&s.deck[who][MAX_DECK - n], entry, n)
    s.p[who].deck_left = <uint8_t>n


cdef void state_fill_hand(
    state_t* s, const table_t* t, int who, uint8_t entry, int n
) noexcept nogil:
    for _ in range(n):
        add_to_hand(&s.p[who], t, entry)


# ---- hidden information --------------------------------------------------------------------------

cdef enum:
    MISSES = 64                 # draws of cards that are gone, before the rest is listed
    PICKS = 5                   # of `shuffle` from one random number
    FRACTION = 56               # ... of so many bits


cdef inline uint64_t random_bits(uint64_t* stream) noexcept nogil:
    """64 random bits for several draws. They come from the generator of `below`, whose lower bits
    are poor: the upper ones are mixed into them."""
    cdef uint64_t x
    stream[0] = stream[0] * 6364136223846793005ULL + 1442695040888963407ULL
    x = stream[0]
    return (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL


cdef void shuffle(uint8_t* cards, int n, uint64_t* stream) noexcept nogil:
    """Put at most 38 cards into random order.

    38^5 < 2^27, so the picks from one number are equally likely up to a factor of 1 +- 2^-29.
    """
    cdef uint64_t x, state = stream[0]
    cdef uint8_t card
    cdef int j, last
    while n > 1:
        last = n - PICKS if n > PICKS else 1
        x = random_bits(&state)
        x >>= 64 - FRACTION
        while n > last:
            x *= <uint64_t>n
            j = <int>(x >> FRACTION)
            x &= (1ULL << FRACTION) - 1
            n -= 1
            card = cards[n]
            cards[n] = cards[j]
            cards[j] = card
    stream[0] = state


cdef inline void set_slot(
    unknown_t* u, int who, int i, int of, uint32_t keep
) noexcept nogil:
    cdef slot_t* slot = &u.slot[who][i]
    slot.keep = keep
    slot.entry[0] = u.entry[who][i]
    slot.entry[1] = u.entry[who][of]
    slot.group[0] = u.group[who][i]
    slot.group[1] = u.group[who][of]


cdef void fill_slots(unknown_t* u, int who, int first, int n) noexcept nogil:
    """Make an alias table of n candidates (Walker 1977, Vose 1991).

    The weights are cut into n slots of equal size, each with parts of at most two candidates.
    """
    cdef const uint32_t* weight = &u.weight[who][first]
    cdef uint32_t share[MAX_CARDS]      # what is left of a candidate, in parts of a slot of `total`
    cdef uint8_t order[MAX_CARDS]       # from the front those with less than a slot, then the rest
    cdef uint32_t total = 0
    cdef double scale
    cdef int i, of, is_less, less = 0, more = n
    for i in range(n):
        total += weight[i]
    for i in range(n):
        share[i] = weight[i] * <uint32_t>n
        is_less = share[i] < total
        order[less if is_less else more - 1] = <uint8_t>i
        less += is_less
        more -= 1 - is_less
    scale = 4294967296.0 / total
    while less > 0 and more < n:
        less -= 1
        i = order[less]
        of = order[more]
        set_slot(u, who, first + i, first + of, <uint32_t><int64_t>(share[i] * scale))
        share[of] -= total - share[i]
        is_less = share[of] < total
        order[less] = <uint8_t>of
        less += is_less
        more += is_less
    for i in range(less):
        set_slot(u, who, first + order[i], first + order[i], 0xFFFFFFFFU)
    for i in range(more, n):
        set_slot(u, who, first + order[i], first + order[i], 0xFFFFFFFFU)


cdef void complete_unknown(unknown_t* u, int own_places, int other_places) noexcept nogil:
    cdef const uint8_t* group
    cdef int who, n, places, first, end, total
    for who in range(2):
        group = u.group[who]
        n = u.n[who]
        places = own_places if who == u.viewer else other_places
        total = 0
        for first in range(n):
            if first == 0 or group[first] != group[first - 1]:
                total += u.copies[who][group[first]]
        u.fixed[who] = places if total == places else 0
        if total != places:
            fill_slots(u, who, 0, n)
            continue
        places = 0
        first = 0
        while first < n:
            end = first + 1
            while end < n and group[end] == group[first]:
                end += 1
            fill_slots(u, who, first, end - first)
            for _ in range(u.copies[who][group[first]]):
                u.first[who][places] = <uint8_t>first
                u.size[who][places] = <uint16_t>(end - first)
                places += 1
            first = end


cdef void draw_fixed(
    const unknown_t* u, int who, int n, uint8_t* out, uint64_t* stream
) noexcept nogil:
    """Give all n copies of all groups, which stand one after another: no draw changes another."""
    cdef const slot_t* slot
    cdef uint64_t x, state = stream[0]
    cdef int i
    for i in range(n):
        x = 0
        if u.size[who][i] > 1:
            x = random_bits(&state)
            x = (x >> 32) * u.size[who][i]
        slot = &u.slot[who][u.first[who][i] + (x >> 32)]
        out[i] = slot.entry[<uint32_t>x >= slot.keep]
    stream[0] = state


cdef int draw_slots(
    const unknown_t* u, int who, int n, uint8_t* out, uint8_t* copies, uint64_t* stream
) noexcept nogil:
    """Draw entries until there are n, or until too many draws were in vain; return their number.

    A group that has given all its copies is left out from then on: what is drawn of it is drawn
    again. No branch depends on that, since a CPU would have to guess it. One entry more than n may
    be written.
    """
    # Copied, as the compiler has to assume that bytes are stored over what pointers lead to.
    cdef const slot_t* slots = u.slot[who]
    cdef const slot_t* slot
    cdef uint64_t n_slots = <uint64_t>u.n[who], state = stream[0]
    cdef uint64_t bits, x
    cdef int second, left, k = 0, tries = n + MISSES
    while k < n and tries > 0:
        tries -= 2
        bits = random_bits(&state)
        for _ in range(2):
            x = (bits >> 32) * n_slots
            bits <<= 32
            slot = &slots[x >> 32]
            second = <uint32_t>x >= slot.keep
            left = copies[slot.group[second]] > 0
            copies[slot.group[second]] -= <uint8_t>left
            out[k] = slot.entry[second]
            k += left
    stream[0] = state
    return k


cdef inline int candidate_at(const uint32_t* ends, int n, uint32_t x) noexcept nogil:
    """Return the first i with x < ends[i], without a branch that a CPU would have to guess."""
    cdef const uint32_t* base = ends
    cdef int half
    while n > 1:
        half = n >> 1
        base += half & -<int>(base[half - 1] <= x)
        n -= half
    return <int>(base - ends)


cdef void draw_listed(
    const unknown_t* u, int who, int k, int n, uint8_t* out, uint8_t* copies, uint64_t* stream
) noexcept nogil:
    """Draw the entries from number k on out of a list of the candidates that are left.

    It is made again after some draws of groups that have given all their copies by then.
    """
    cdef const uint8_t* group = u.group[who]
    cdef uint8_t number[MAX_CARDS]      # of the candidates that are left
    cdef uint32_t ends[MAX_CARDS]       # sums of their weights
    cdef uint32_t total
    cdef int i, left, misses
    while k < n:
        total = 0
        left = 0
        for i in range(u.n[who]):
            number[left] = <uint8_t>i
            total += u.weight[who][i] if copies[group[i]] else 0
            ends[left] = total
            left += copies[group[i]] > 0
        misses = 0
        while k < n and misses < MISSES:
            # Up to 2^24: probabilities are off by at most a 256th.
            i = number[candidate_at(ends, left, <uint32_t>below(stream, total))]
            if copies[group[i]]:
                copies[group[i]] -= 1
                out[k] = u.entry[who][i]
                k += 1
            else:
                misses += 1


cdef void draw_hidden(
    const unknown_t* u, int who, int n, uint8_t* out, uint64_t* stream
) noexcept nogil:
    """Draw n entries for hidden places one by one, with probabilities by weight.

    Then they are shuffled, because heavier cards tend to be drawn first. One entry more than n may
    be written.
    """
    cdef uint8_t copies[MAX_CARDS]
    cdef int k = 0
    if u.fixed[who] == n:
        draw_fixed(u, who, n, out, stream)
    else:
        memcpy(copies, u.copies[who], sizeof(copies))
        if u.fixed[who] == 0:
            k = draw_slots(u, who, n, out, copies, stream)
        draw_listed(u, who, k, n, out, copies, stream)
    shuffle(out, n, stream)


cdef inline void set_hand(
    player_t* p, const table_t* t, const uint8_t* cards, int n
) noexcept nogil:
    cdef uint64_t hand = 0, cost_kinds = 0
    cdef int i
    for i in range(n):
        hand |= <uint64_t>cards[i] << 8 * i
        cost_kinds |= <uint64_t>t.cards[cards[i]].cost_kind << 8 * i
    p.hand = hand
    p.cost_kinds = cost_kinds
    p.hand_size = <uint8_t>n


cdef void state_deal(
    state_t* s, const table_t* t, const unknown_t* u, uint64_t* stream
) noexcept nogil:
    """Fill the viewer's deck and the other player's hand and deck with candidates."""
    cdef uint8_t cards[MAX_DECK + MAX_HAND + 1]     # a deck as in `state_t`, a hand
    cdef player_t* p
    cdef int who, size
    for who in range(2):
        p = &s.p[who]
        size = 0 if who == u.viewer else p.hand_size
        memset(cards, 0, sizeof(cards))
        draw_hidden(
            u, who, p.deck_left + size, &cards[MAX_DECK - p.deck_left], stream)
        memcpy(s.deck[who], cards, MAX_DECK)
        if who != u.viewer:
            set_hand(p, t, &cards[MAX_DECK], size)


@cython.final
cdef class Determinizer:
    """Draw states that look to one player exactly as `state` does.

    Parameters
    ----------
    state : State
        The position.
    viewer : int
        0 or 1, the player whose knowledge is kept. Their hidden places are their deck; the other
        player's are their hand and their deck.
    groups : pair of sequences
        For each player groups of cards for their hidden places, as ``(copies, [(card, weight),
        ...])``: that many cards come from the group, whichever they are. A card that a constructed
        deck may hold twice is a group ``(2, [(card, weight)])``, a triplet of a draft ``(1, [(a,
        1.0), (b, 2.5), (c, 0.4)])``. While places are left, a card is drawn from all groups with a
        probability proportional to its weight, a positive number. The cards must be in the pool of
        the state.

    Raises
    ------
    ValueError
        An argument is wrong; the message names it.

    Notes
    -----
    Hidden cards have no instance ids of their own, so texts of actions name only cards that
    `viewer` sees in the position itself.
    """

    def __cinit__(self, State state not None, viewer, groups):
        cdef int who, number, i, places
        cdef int hidden[2]
        self.state = state.clone()      # samples come from the state that was checked here
        self.u.viewer = _player_number(viewer)
        if groups is None:              # compiled code fills in `u`
            return
        entries = {state.table.card(i): i
                   for i in range(state.table.t.n_instances, state.table.t.n_cards)}
        for who in range(2):
            i = 0
            places = 0
            heaviest = max([w for _, group in groups[who] for _, w in group], default=1)
            scale = MAX_WEIGHT / heaviest if heaviest > 0 else 0        # 0: refused below
            for number, (copies, group) in enumerate(groups[who]):
                where = f"groups[{who}][{number}]"
                if number == MAX_CARDS or i + len(group) > MAX_CARDS:
                    raise ValueError(f"{where}: more than {MAX_CARDS} cards")
                self.u.copies[who][number] = <uint8_t>whole_number(
                    copies, f"{where}: copies", 1, 255)
                places += self.u.copies[who][number]
                if not group:
                    raise ValueError(f"{where}: no cards")
                for card, weight in group:
                    if card not in entries:
                        raise ValueError(f"{where}: {card!r} is not in the pool of the state")
                    if not weight > 0:
                        raise ValueError(f"{where}: weight {weight!r} is not positive")
                    self.u.entry[who][i] = <uint8_t>entries[card]
                    self.u.group[who][i] = <uint8_t>number
                    self.u.weight[who][i] = max(1, int(weight * scale))
                    i += 1
            self.u.n[who] = i
            hidden[who] = state.s.p[who].deck_left + (
                0 if who == self.u.viewer else state.s.p[who].hand_size)
            if places < hidden[who]:
                raise ValueError(f"groups[{who}]: {places} cards for {hidden[who]} hidden places")
        complete_unknown(&self.u, hidden[self.u.viewer], hidden[1 - self.u.viewer])

    def sample(self, seed):
        """Return a new state that depends only on the integer `seed`."""
        cdef State state = self.state.clone()
        cdef uint64_t stream = stream_start(seed_of(seed), 0)
        state_deal(&state.s, &state.table.t, &self.u, &stream)
        return state

    def after(self, actions):
        """Return the same worlds after legal actions of the mover; errors as for
        `State.apply_action`.
        """
        cdef Determinizer later = Determinizer(self.state, self.u.viewer, None)
        later.u = self.u
        for action in actions:
            later.state.apply_action(action)
        return later

    def begun_as(self, State state not None):
        """Return the same worlds in the middle of a turn, at the position of `state`.

        `self` must be the view of the same position at the start of that turn. ``ValueError`` if
        the rules, the boards or the mover's hands differ.
        """
        cdef Determinizer later = Determinizer(self.state, self.u.viewer, None)
        cdef int me = state_player(&state.s), who
        cdef int turned = me ^ state_player(&later.state.s)     # 1: the seats are swapped
        cdef player_t* p
        cdef const player_t* known
        later.u = self.u
        for who in range(2):
            p = &later.state.s.p[who ^ turned]
            known = &state.s.p[who]
            if later.state.table.t.rules != state.table.t.rules:
                raise ValueError("the rules are those of another position")
            if not same_board(p, &later.state.table.t, known, &state.table.t):
                raise ValueError("the boards are those of another position")
            if who == me and not same_hand(p, &later.state.table.t, known, &state.table.t):
                raise ValueError("the hand is that of another position")
            p.marks = known.marks
            if who == me:
                p.mana = known.mana
                p.bonus = known.bonus
            p.lost = known.lost
            p.next_draw = known.next_draw
            p.runes = known.runes
        return later


cdef bint same_board(
    const player_t* a, const table_t* ta, const player_t* b, const table_t* tb
) noexcept:
    cdef int i
    if (a.marks ^ b.marks) >> OCCUPIED & 0xFFF:         # occupied and guarded slots
        return False
    for i in range(MAX_BOARD):
        if marked(a, OCCUPIED) >> i & 1 and not (
            a.board[i].attack == b.board[i].attack and a.board[i].defense == b.board[i].defense
            and a.board[i].keywords == b.board[i].keywords
            and ta.cards[a.board[i].card].base_id == tb.cards[b.board[i].card].base_id
        ):
            return False
    return True


cdef bint same_hand(
    const player_t* a, const table_t* ta, const player_t* b, const table_t* tb
) noexcept:
    cdef int i
    if a.cost_kinds != b.cost_kinds or a.hand_size != b.hand_size:
        return False
    for i in range(a.hand_size):
        if ta.cards[a.hand >> 8 * i & 255].base_id != tb.cards[b.hand >> 8 * i & 255].base_id:
            return False
    return True


def with_hand(State state not None, int player, hand):
    """Return a position in which a player holds given cards, and hidden cards have ids.

    The first cards of the hand become those of the base ids `hand`, which must be in the pool: each
    comes from the rest of the hand or from the deck if it is there, else takes the place of another
    card. Cards of the pool, wherever they are, become instances with ids of their own.
    """
    cdef Table table = Table.__new__(Table)
    cdef const table_t* t = &state.table.t
    cdef State result = new_state(table)
    cdef player_t* p
    cdef int who, i, place, entry
    cdef list zones = []
    cdef set used_ids = set()
    for who in range(2):
        p = &state.s.p[who]
        zones.append((
            [p.hand >> 8 * i & 255 for i in range(p.hand_size)],
            [state.s.deck[who][i] for i in range(MAX_DECK - p.deck_left, MAX_DECK)],
            [p.board[i].card for i in range(MAX_BOARD) if marked(p, OCCUPIED) >> i & 1]))
    held, deck, _ = zones[player]
    for place, base_id in enumerate(hand):
        bases = [t.cards[<int>other].base_id for other in held]
        in_deck = [t.cards[<int>other].base_id for other in deck]
        if base_id in bases[place:]:
            i = bases.index(base_id, place)
            held[place], held[i] = held[i], held[place]
        elif base_id in in_deck:
            i = in_deck.index(base_id)
            held[place], deck[i] = deck[i], held[place]
        else:
            held[place] = pool_entry(t, base_id)
    for lists in zones:
        for entries in lists:
            used_ids.update([original_id(t.rules, t.cards[<int>other].id)
                             for other in entries if other < t.n_instances])
    named = []                          # (id, entry), in the order of the ids
    for who, lists in enumerate(zones):
        free = free_ids(t.rules, who, used_ids)
        for entries in lists:
            for i, entry in enumerate(entries):
                number = next(free) if entry >= t.n_instances else t.cards[entry].id
                entries[i] = number
                named.append((number, entry))
    named = sorted(set(named))
    if len(named) + t.n_cards - t.n_instances > MAX_CARDS:
        raise ValueError(f"more than {MAX_CARDS} cards in one game, hidden ones included")
    table.t.rules = t.rules
    table.t.n_cards = 0
    for number, entry in [*named, *((POOL_ID, i) for i in range(t.n_instances, t.n_cards))]:
        i = table.t.n_cards
        table.t.cards[i] = t.cards[entry]
        table.t.cards[i].id = number
        complete_card(&table.t.cards[i], i)
        table.t.n_cards = i + 1
    table.t.n_instances = <int32_t>len(named)
    places = {number: i for i, (number, _) in enumerate(named)}
    result.s = state.s
    for who, (held, deck, board) in enumerate(zones):
        p = &result.s.p[who]
        clear_hand(p)
        for number in held:
            add_to_hand(p, &table.t, places[number])
        for i, number in enumerate(deck, MAX_DECK - p.deck_left):
            result.s.deck[who][i] = places[number]
        numbers = iter(board)
        for i in range(MAX_BOARD):
            if marked(p, OCCUPIED) >> i & 1:
                p.board[i].card = places[next(numbers)]
    return result


cdef int pool_entry(const table_t* t, base_id) except -1:
    cdef int i
    for i in range(t.n_instances, t.n_cards):
        if t.cards[i].base_id == base_id:
            return i
    raise ValueError(f"hand: no card {base_id} can occur in this game")


def free_ids(int rules, int who, set used_ids):
    """Yield a player's ids that no card has, then others."""
    cdef int i
    own = [card_id(rules, who, i) for i in range(MAX_DECK)]
    for number in (*own, *range(2 * IDS_PER_PLAYER, POOL_ID - 1, 2)):
        if number not in used_ids:
            used_ids.add(number)
            yield number


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


ctypedef struct place_t:            # a card of a player
    uint8_t entry
    uint8_t id                      # its instance id
    uint8_t number                  # number of the place: hand, deck, board
    uint8_t key                     # to sort by


cdef void sort_by_key(place_t* places, int n) noexcept nogil:
    """Sort places by key; those with the same key stay in order."""
    cdef place_t found[MAX_HAND + MAX_DECK + MAX_BOARD]
    cdef uint8_t at[256]            # the first place with a key ...
    cdef uint8_t after[MAX_HAND + MAX_DECK + MAX_BOARD]     # ... and the next ones; 255: no more
    cdef uint32_t present[8]
    cdef uint32_t word, bit
    cdef int i, k, key
    memset(present, 0, sizeof(present))
    for i in range(n - 1, -1, -1):
        found[i] = places[i]
        key = places[i].key
        word = present[key >> 5]
        bit = 1U << (key & 31)
        after[i] = at[key] if word & bit else 255
        at[key] = <uint8_t>i
        present[key >> 5] = word | bit
    k = 0
    for i in range(8):
        word = present[i]
        while word:
            key = at[32 * i + lowest_bit_(word)]
            word &= word - 1
            while key != 255:
                places[k] = found[key]
                key = after[key]
                k += 1


cdef void sort_by_card(place_t* places, int n, const table_t* t) noexcept nogil:
    """Sort places by key, and those with the same key by the cards as printed."""
    cdef place_t x
    cdef int i, k
    sort_by_key(places, n)
    for i in range(1, n):
        x = places[i]
        k = i
        while k > 0 and places[k - 1].key == x.key and compare_printed(
                &t.cards[places[k - 1].entry], &t.cards[x.entry]) > 0:
            places[k] = places[k - 1]
            k -= 1
        places[k] = x


cdef void list_places(
    const state_t* s, const table_t* t, int who, place_t* places
) noexcept nogil:
    """List a player's hand, then their deck."""
    cdef int i, n = s.p[who].hand_size
    for i in range(n):
        places[i].entry = s.p[who].hand >> 8 * i & 255
    for i in range(MAX_DECK - s.p[who].deck_left, MAX_DECK):
        places[n].entry = s.deck[who][i]
        n += 1
    for i in range(n):
        places[i].number = <uint8_t>i
        places[i].id = places[i].key = t.cards[places[i].entry].id


cdef int list_creatures(
    const player_t* p, const table_t* t, int number, place_t* places, uint8_t* numbers
) noexcept nogil:
    """List the cards of a player's creatures, area copies once; return how many there are.

    They are numbered on from `number`; `numbers` gets those of the creatures in each slot.
    """
    cdef int slot, i, n = 0
    for slot in range(MAX_BOARD):
        if marked(p, OCCUPIED) >> slot & 1:
            i = 0
            while i < n and places[i].entry != p.board[slot].card:
                i += 1
            places[i].entry = p.board[slot].card
            places[i].id = places[i].key = t.cards[places[i].entry].id
            places[i].number = numbers[slot] = <uint8_t>(number + i)
            n += i == n
    return n


cdef void deal_draft(
    const place_t* deck, int n, const table_t* t, uint8_t* cards, uint64_t* stream
) noexcept nogil:
    """Shuffle the viewer's deck in 1.x, where the order of ids would tell that of the cards."""
    cdef place_t places[MAX_DECK]
    cdef int i
    for i in range(n):
        places[i] = deck[i]
        places[i].key = <uint8_t>t.cards[places[i].entry].base_id
    sort_by_card(places, n, t)
    for i in range(n):
        cards[i] = places[i].entry
    shuffle(cards, n, stream)


cdef int in_pool(const table_t* t, const card_t* card) noexcept nogil:
    """Return the place of a card in the pool; -1 if it is not there."""
    cdef const card_t* pool = &t.cards[t.n_instances]
    cdef int n = t.n_cards - t.n_instances
    cdef int i = card.base_id - pool[0].base_id if n else 0
    if not (0 <= i < n and pool[i].base_id == card.base_id):    # usually there is no gap
        i = 0
        while i < n and pool[i].base_id != card.base_id:
            i += 1
    return i if i < n and compare_printed(&pool[i], card) == 0 else -1


cdef void draw_suspects(
    const table_t* t, const place_t* board, int on_board, int n, uint8_t* cards, uint64_t* stream
) noexcept nogil:
    """Draw entries of the pool that n hidden places may hold, given the cards on the board.

    They are in random order. One entry more than n may be written.
    """
    cdef uint8_t left[MAX_CARDS]
    cdef int first = t.n_instances, size = t.n_cards - first, total = COPIES_PER_CARD * size
    cdef uint64_t bits, state = stream[0], n_copies = <uint64_t>total
    cdef int i, kept, k = 0
    if t.rules == RULES_15:
        memset(left, COPIES_PER_CARD, size)
        for k in range(on_board):
            i = in_pool(t, &t.cards[board[k].entry])
            if i >= 0 and left[i]:
                left[i] -= 1
                total -= 1
        k = 0
        while total >= n and k < n:
            # Each of the copies that are left is as likely as any other: number i of a card counts
            # if that many were left. Two draws from one number, as in `draw_slots`.
            bits = random_bits(&state)
            for _ in range(2):
                i = <int>((bits >> 32) * n_copies >> 32)
                bits <<= 32
                kept = i % COPIES_PER_CARD < left[i // COPIES_PER_CARD]
                left[i // COPIES_PER_CARD] -= <uint8_t>kept
                cards[k] = <uint8_t>(first + i // COPIES_PER_CARD)
                k += kept
    for i in range(k, n):
        cards[i] = <uint8_t>(first + below(&state, size))
    stream[0] = state


cdef bint redraw(
    state_t* s, const table_t* t, int who, bint own, uint64_t* stream, table_t* known,
    uint8_t* origin
) noexcept nogil:
    """Draw a player's hidden cards anew, and give all their cards entries of `known`, by id.

    In 1.x the ids of hidden cards stay in draw order. False if `known` cannot hold so many.
    """
    cdef place_t places[MAX_HAND + MAX_DECK + MAX_BOARD]
    cdef uint8_t cards[MAX_HAND + MAX_DECK + 1]     # drawn for the hidden places
    cdef uint8_t hidden[MAX_HAND + MAX_DECK + MAX_BOARD]    # the new entries of these, by id
    cdef uint8_t placed[MAX_HAND + MAX_DECK + MAX_BOARD]    # the new entry of each place
    cdef uint8_t numbers[MAX_BOARD]
    cdef player_t* p = &s.p[who]
    cdef int seen = p.hand_size if own else 0       # the first place that is hidden
    cdef int held = p.hand_size + p.deck_left
    cdef int entry = known.n_cards
    cdef bint drawn = not own or t.rules != RULES_15
    cdef int i, n, of, is_hidden, k = 0
    list_places(s, t, who, places)
    n = held + list_creatures(p, t, held, &places[held], numbers)
    if entry + n + t.n_cards - t.n_instances > MAX_CARDS:
        return False
    if not own:
        draw_suspects(t, &places[held], n - held, held, cards, stream)
        sort_by_key(places, n)
    else:
        if drawn:
            deal_draft(&places[seen], held - seen, t, cards, stream)
        sort_by_card(places, n, t)
    for i in range(n):
        is_hidden = seen <= places[i].number < held
        of = cards[k] if is_hidden & drawn else places[i].entry
        hidden[k] = placed[places[i].number] = <uint8_t>entry
        k += is_hidden
        known.cards[entry] = t.cards[of]
        known.cards[entry].creature.card = <uint8_t>entry
        known.cards[entry].id = places[i].id
        origin[entry] = <uint8_t>of
        entry += 1
    known.n_cards = entry
    if t.rules == RULES_15:
        shuffle(hidden, k, stream)
    for i in range(MAX_BOARD):
        if marked(p, OCCUPIED) >> i & 1:
            p.board[i].card = placed[numbers[i]]
    memcpy(&s.deck[who][MAX_DECK - p.deck_left], &hidden[k - p.deck_left], p.deck_left)
    set_hand(p, known, &placed[0] if own else &hidden[0], p.hand_size)
    return True


cdef int state_resample(
    const state_t* s, const table_t* t, int viewer, uint64_t* stream, state_t* drawn,
    table_t* known, uint8_t* origin
) noexcept nogil:
    # Nothing here may depend on the order of the decks or on which cards are in the opponent's
    # hand; not even the order of the new table's entries.
    cdef const player_t* other = &s.p[1 - viewer]
    cdef int who, i, n = t.n_cards - t.n_instances
    if n == 0 and other.hand_size + other.deck_left > 0:
        return 1
    drawn[0] = s[0]
    known.rules = t.rules
    known.n_cards = 0
    for who in range(2):
        if not redraw(drawn, t, who, who == viewer, stream, known, origin):
            return 2
    i = known.n_instances = known.n_cards
    known.n_cards = i + n
    memcpy(&known.cards[i], &t.cards[t.n_instances], n * sizeof(card_t))
    for i in range(known.n_instances, known.n_cards):
        known.cards[i].creature.card = <uint8_t>i
    return 0


cdef State resampled(State state, int viewer, uint64_t seed):
    """Return the result of `State.resample_hidden`."""
    cdef Table table = state.table
    cdef Table known = Table.__new__(Table)
    cdef State drawn = new_state(known)
    cdef uint64_t stream = stream_start(seed, 0)
    cdef int fault
    with nogil:
        fault = state_resample(
            &state.s, &table.t, viewer, &stream, &drawn.s, &known.t, known.origin)
    if fault == 1:
        raise ValueError("the pool of the game, from which hidden cards are drawn, is empty")
    if fault:
        raise ValueError(f"more than {MAX_CARDS} cards in one game, hidden ones included")
    if table.cards is not None or table.named is not None:
        known.named = table.shown()     # it has the names of cards, which `t` does not know
        known.named_pool = table.t.n_instances
    return drawn
