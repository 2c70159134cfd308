"""Alpha-beta over whole turns, for the bot `search`.

A turn is built in three steps, each a small beam: how to block; what to draw, burn and play; which
creatures attack. A turn's value is that of the position after the opponent's blocks. The best turns
are then searched more deeply: the opponent's best turns after them, and so on.

Actions that are never better than others are left out: tapping for mana that pays for nothing,
harming the player, helping the enemy, cards without effect. Positions that differ only in the IDs
of equal cards count as one.
"""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from locmsim.gamekit cimport now_ns_
from vestrock._core cimport (
    ACTIVE,
    ATTACKING,
    BLOCKING,
    BUFF,
    BURN,
    CREATURE,
    DAMAGE,
    END_TURN,
    FINISH_BLOCK,
    HEAL,
    MAX_CARDS,
    TAKE,
    State,
    Table,
    board_of,
    card_t,
    creature_t,
    end_turn,
    hand_of,
    mover_of,
    place_of,
    side_of,
    state_copy,
    state_t,
    table_t,
)
from vestrock.bots._policy cimport (
    MAX_SIDE,
    do_attack,
    do_block,
    do_discard,
    do_play,
    do_simple,
    draw_all,
    has_room,
    line_t,
    mana_within_reach,
    pay,
    rule_attacks,
    rule_block,
)

from collections import namedtuple

from locmsim.gamekit import budget, whole

__all__ = ["DEFAULT_WEIGHTS", "WEIGHTS", "SearchResult", "TurnSearch", "evaluate"]

#: The terms of the evaluation, in the order of their weights.
WEIGHTS = ("health", "low_health", "creature", "attack", "toughness", "both", "mana", "more_mana",
           "hand", "hand_cost", "blocker", "threat", "deadly", "deck")
# Found by SPSA: 900 steps of 32 matches of the search against itself, 1,500 positions a turn.
DEFAULT_WEIGHTS = (1.04, 7.5, 0.82, 1.27, 0.66, 0.61, 3.8, 0.51, 0.63, 0.18, 0.31, 0.47, 7.9, 1.08)

SearchResult = namedtuple("SearchResult", "actions value nodes depth candidates")
SearchResult.__doc__ = """The turn that was found: its actions, its value for the mover, the number
of positions evaluated, how many whole turns it looked ahead, and how many turns it compared."""

cdef enum:
    N_WEIGHTS = 14
    MAX_DEPTH = 8
    ROOT_WIDTH = 24             # positions kept after each card played, in the first turn
    ROOT_TURNS = 24             # turns searched more deeply
    ROOT_BLOCKS = 8             # ways to block from which the turn continues
    INNER_WIDTH = 6             # the same in later turns
    INNER_TURNS = 6
    INNER_BLOCKS = 3
    ROOT_CARDS = 14             # most cards played in a turn
    INNER_CARDS = 8
    FULL_MANA = 6               # mana beyond it is worth less
    MOST_MANA = 14              # mana beyond it is worth nothing

cdef double WIN = 1000.0


ctypedef struct slot_t:         # a position within or after a turn, and its actions
    double value                # for the player whose turn it is or was
    uint64_t hash
    state_t* s
    line_t line

ctypedef struct list_t:         # slots in descending order of value
    int n
    int cap
    slot_t** items              # `cap` of them

ctypedef struct level_t:        # memory for the turns of one depth
    list_t blocks               # two beams for blocks, two for cards
    list_t blocks2
    list_t beam
    list_t beam2
    list_t open                 # turns before their attacks
    list_t turns                # whole turns
    slot_t scratch
    state_t* temporary

ctypedef struct search_t:
    const table_t* t
    uint64_t kinds[MAX_CARDS]   # equal for cards that differ only in their ID
    double w[N_WEIGHTS]
    level_t levels[MAX_DEPTH]
    state_t* probe              # for evaluations
    int64_t nodes
    int64_t node_limit
    int64_t deadline
    bint stop


# ---- positions -----------------------------------------------------------------------------------

cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL
    return x ^ (x >> 32)


cdef uint64_t hash_of(const search_t* g, const state_t* s) noexcept nogil:
    """Return a hash, equal for positions that differ only in the IDs of equal cards."""
    cdef const table_t* t = g.t
    cdef const creature_t* c = board_of(s, t)
    cdef const uint16_t* hand
    cdef int p, i
    cdef uint64_t x
    cdef uint64_t sum = mix(<uint64_t>s.health[0] << 32 | <uint64_t>s.health[1])
    sum += mix(<uint64_t>s.mana << 36 | <uint64_t>s.draws << 18 | <uint64_t>s.burns | 1ULL << 62)
    sum += mix(<uint64_t>s.turn << 32 | <uint64_t>s.deck_pos << 8 | s.phase << 1 | s.over
               | 1ULL << 63)
    for p in range(2):
        hand = hand_of(s, t, p)
        for i in range(s.n_hand[p]):
            sum += mix(g.kinds[hand[i]] + p)
    for i in range(s.n_board[0] + s.n_board[1]):
        x = <uint64_t>(c.attack + 1) * 0x9E3779B97F4A7C15ULL
        x = (x ^ <uint64_t>c.health) * 0xC2B2AE3D27D4EB4FULL
        x = (x ^ <uint64_t>c.max_health) * 0x165667B19E3779F9ULL
        x ^= <uint64_t>t.cards[c.card].mana << 8 | <uint64_t>c.flags << 4 | (i >= s.n_board[0])
        sum += mix(x)
        c += 1
    return sum


cdef double card_value(const search_t* g, int card) noexcept nogil:
    """Return the value of a card in a hand."""
    return g.w[8] + g.w[9] * g.t.cards[card].cost


cdef double side_value(const search_t* g, const state_t* s, int p) noexcept nogil:
    """Return the value of one player's board and hand."""
    cdef const table_t* t = g.t
    cdef const creature_t* c = side_of(s, t, p)
    cdef const uint16_t* hand = hand_of(s, t, p)
    cdef const double* w = &g.w[0]
    cdef double value = 0
    cdef int mana = 0
    cdef int i
    for i in range(s.n_board[p]):
        mana += t.cards[c[i].card].mana
        value += w[2] + w[3] * c[i].attack + w[4] * c[i].health
        if c[i].attack:
            value += w[5] * sqrt(<double>c[i].attack * c[i].health)
    value += w[6] * min(mana, <int>FULL_MANA)
    if mana > FULL_MANA:
        value += w[7] * (min(mana, <int>MOST_MANA) - FULL_MANA)
    for i in range(s.n_hand[p]):
        value += card_value(g, hand[i])
    return value


cdef double static_value(const search_t* g, const state_t* s, int me) noexcept nogil:
    """Return the value for player `me` of a position right after the mover's blocks."""
    cdef const table_t* t = g.t
    cdef const double* w = &g.w[0]
    cdef int mover = mover_of(s)
    cdef int other = 1 - mover
    cdef const creature_t* c
    cdef double value, scale, later
    cdef int i, threat = 0, attackers = 0, blockers = 0, left
    # Cards on the board count less when few turns are left to use them.
    scale = (t.turns - s.turn) * 0.125
    if scale > 1:
        scale = 1
    value = side_value(g, s, mover) - side_value(g, s, other)
    # The next cards of the deck: the mover's this turn, then the other player's.
    for i in range(min(2 * t.draws, t.n - s.deck_pos)):
        later = w[13] * card_value(g, t.order[s.deck_pos + i])
        value += later if i < t.draws else -0.7 * later
    c = side_of(s, t, mover)
    for i in range(s.n_board[mover]):
        threat += c[i].attack
        attackers += c[i].attack > 0
    c = side_of(s, t, other)
    for i in range(s.n_board[other]):
        blockers += c[i].flags & ACTIVE
    value -= w[10] * blockers
    value *= scale
    if attackers > blockers:
        left = threat * (attackers - blockers) // attackers
        value += w[11] * min(left, s.health[other])
        if left >= s.health[other]:
            value += w[12]
    value += w[0] * (s.health[mover] - s.health[other])
    value -= w[1] * (1.0 / (1 + s.health[mover]) - 1.0 / (1 + s.health[other])) * 4
    return value if me == mover else -value


cdef double final_value(const search_t* g, const state_t* s, int me) noexcept nogil:
    """Return the value of a finished match: it is better to win early and with much health."""
    cdef int mine = s.health[me], theirs = s.health[1 - me]
    cdef double late = 2.0 * s.turn
    if theirs == 0:
        return WIN + mine - late
    if mine == 0:
        return -WIN - theirs + late
    return 0.1 * WIN * ((mine > theirs) - (mine < theirs)) + 3 * (mine - theirs)


cdef double leaf_value(search_t* g, const state_t* s, int me) noexcept nogil:
    """Return the value of a position at the start of a turn, after quick blocks."""
    g.nodes += 1
    if s.over:
        return final_value(g, s, me)
    state_copy(g.probe, s, g.t)
    if s.phase == BLOCKING:
        rule_block(g.probe, g.t, NULL)
        if g.probe.over:
            return final_value(g, g.probe, me)
    return static_value(g, g.probe, me)


cdef bint out_of_time(search_t* g) noexcept nogil:
    if not g.stop and (g.nodes >= g.node_limit or g.deadline and now_ns_() >= g.deadline):
        g.stop = True
    return g.stop


# ---- lists of positions --------------------------------------------------------------------------

cdef slot_t* insert(list_t* list, double value, uint64_t hash) noexcept nogil:
    """Return the slot for a position of this value; NULL if it is known or not good enough."""
    cdef slot_t* slot
    cdef int i
    if list.n == list.cap and value <= list.items[list.n - 1].value:
        return NULL
    for i in range(list.n):
        if list.items[i].hash == hash:
            return NULL
    if list.n < list.cap:
        list.n += 1
    i = list.n - 1
    slot = list.items[i]
    while i > 0 and list.items[i - 1].value < value:
        list.items[i] = list.items[i - 1]
        i -= 1
    list.items[i] = slot
    slot.value = value
    slot.hash = hash
    return slot


cdef inline void copy_line(line_t* to, const line_t* line) noexcept nogil:
    memcpy(to, line, sizeof(line.n) + line.n * sizeof(line.actions[0]))


cdef void keep(
        const search_t* g, list_t* list, const slot_t* from_, double value) noexcept nogil:
    """Put a copy of a position into a list, if it is good enough."""
    cdef slot_t* slot
    if list.n == list.cap and value <= list.items[list.n - 1].value:
        return
    slot = insert(list, value, hash_of(g, from_.s))
    if slot != NULL:
        state_copy(slot.s, from_.s, g.t)
        copy_line(&slot.line, &from_.line)


cdef inline void load(const search_t* g, slot_t* to, const slot_t* slot) noexcept nogil:
    state_copy(to.s, slot.s, g.t)
    copy_line(&to.line, &slot.line)


# ---- blocks --------------------------------------------------------------------------------------

cdef double blocks_value(search_t* g, const state_t* s, int me) noexcept nogil:
    """Return the value of a position without further blocks."""
    g.nodes += 1
    state_copy(g.probe, s, g.t)
    g.probe.phase = BLOCKING
    do_simple(g.probe, g.t, FINISH_BLOCK, NULL)
    if g.probe.over:
        return final_value(g, g.probe, me)
    return static_value(g, g.probe, me)


cdef void block_by(search_t* g, level_t* level, const slot_t* slot, list_t* to, int attacker,
                   int me) noexcept nogil:
    """Add positions in which one creature, or two that kill it, block an attacker."""
    cdef const table_t* t = g.t
    cdef slot_t* scratch = &level.scratch
    cdef const creature_t* board = board_of(slot.s, t)
    cdef int start = slot.s.n_board[0] if me else 0
    cdef int end = start + slot.s.n_board[me]
    cdef int i, j, a, b, second, place
    a = place_of(slot.s, t, attacker)
    for i in range(start, end):
        if not board[i].flags & ACTIVE:
            continue
        if i > start and alike(g, board + i, board + i - 1):
            continue
        load(g, scratch, slot)
        do_block(scratch.s, t, a, i, &scratch.line)
        keep(g, to, scratch, blocks_value(g, scratch.s, me))
        if board[i].attack == 0 or board[i].attack >= board[a].health:
            continue
        # A second blocker to finish it off; the one with less attack goes first.
        for j in range(start, end):
            if j == i or not board[j].flags & ACTIVE or board[j].attack < board[i].attack or (
                    board[j].attack == board[i].attack and j < i):
                continue
            if board[i].attack + board[j].attack < board[a].health:
                continue
            second = board[j].card
            load(g, scratch, slot)
            do_block(scratch.s, t, a, i, &scratch.line)
            b = place_of(scratch.s, t, second)
            place = place_of(scratch.s, t, attacker)
            do_block(scratch.s, t, place, b, &scratch.line)
            keep(g, to, scratch, blocks_value(g, scratch.s, me))


cdef bint alike(const search_t* g, const creature_t* x, const creature_t* y) noexcept nogil:
    return (x.attack == y.attack and x.health == y.health and x.max_health == y.max_health
            and x.flags == y.flags and g.t.cards[x.card].mana == g.t.cards[y.card].mana)


cdef list_t* make_blocks(search_t* g, level_t* level, const state_t* s) noexcept nogil:
    """Return the positions after the best ways to block."""
    cdef const table_t* t = g.t
    cdef int me = mover_of(s)
    cdef list_t* now = &level.blocks
    cdef list_t* then = &level.blocks2
    cdef const creature_t* enemy = side_of(s, t, 1 - me)
    cdef uint16_t attackers[MAX_SIDE]
    cdef int n = 0
    cdef int i, j, k
    cdef slot_t* slot
    # The strongest attacker first.
    if s.phase == BLOCKING:
        for i in range(s.n_board[1 - me]):
            if enemy[i].flags & ATTACKING:
                j = n
                while j > 0 and enemy[attackers[j - 1]].attack < enemy[i].attack:
                    attackers[j] = attackers[j - 1]
                    j -= 1
                attackers[j] = i
                n += 1
        for i in range(n):
            attackers[i] = enemy[attackers[i]].card
    now.n = 0
    slot = insert(now, 0, 0)
    state_copy(slot.s, s, t)
    slot.line.n = 0
    for k in range(n):
        then.n = 0
        for i in range(now.n):
            slot = now.items[i]
            keep(g, then, slot, blocks_value(g, slot.s, me))
            if has_room(&slot.line, 4):
                block_by(g, level, slot, then, attackers[k], me)
        now, then = then, now
        if out_of_time(g) and now.n:
            break
    for i in range(now.n):
        slot = now.items[i]
        if slot.s.phase == BLOCKING:
            do_simple(slot.s, t, FINISH_BLOCK, &slot.line)
    return now


# ---- cards ---------------------------------------------------------------------------------------

cdef double open_value(search_t* g, level_t* level, const state_t* s, int me) noexcept nogil:
    """Return the value of a turn that ends here, with attacks by the rule of thumb."""
    if s.over:
        g.nodes += 1
        return final_value(g, s, me)
    state_copy(level.temporary, s, g.t)
    rule_attacks(level.temporary, g.t, NULL)
    end_turn(level.temporary, g.t)
    return leaf_value(g, level.temporary, me)


cdef void offer(search_t* g, level_t* level, list_t* to, int me) noexcept nogil:
    """Keep the position in the scratch slot to continue from, and as an end of the turn."""
    cdef slot_t* scratch = &level.scratch
    cdef double value = open_value(g, level, scratch.s, me)
    keep(g, &level.open, scratch, value)
    if not scratch.s.over:
        keep(g, to, scratch, value)


cdef void try_card(search_t* g, level_t* level, const slot_t* slot, list_t* to, int h, int target,
                   int me) noexcept nogil:
    """Pay for a card and play it, drawing the cards that this allows."""
    cdef slot_t* scratch = &level.scratch
    cdef int cost = g.t.cards[hand_of(slot.s, g.t, me)[h]].cost
    load(g, scratch, slot)
    pay(scratch.s, g.t, cost, &scratch.line)
    do_play(scratch.s, g.t, h, target, &scratch.line)
    if not scratch.s.over:
        draw_all(scratch.s, g.t, &scratch.line)
    offer(g, level, to, me)


cdef void play_cards(
        search_t* g, level_t* level, const slot_t* slot, list_t* to, int me) noexcept nogil:
    """Add all positions after one more card."""
    cdef const table_t* t = g.t
    cdef const state_t* s = slot.s
    cdef const uint16_t* hand = hand_of(s, t, me)
    cdef const creature_t* board = board_of(s, t)
    cdef const card_t* c
    cdef int reach = mana_within_reach(s, t)
    cdef int own = s.n_board[0] if me else 0
    cdef int enemy = 0 if me else s.n_board[0]
    cdef int own_end = own + s.n_board[me]
    cdef int enemy_end = enemy + s.n_board[1 - me]
    cdef int h, i, worst
    cdef bint known
    if not has_room(&slot.line, 4 + s.n_board[me]):
        return
    for h in range(s.n_hand[me]):
        c = &t.cards[hand[h]]
        if c.cost > reach:
            continue
        known = False
        for i in range(h):
            known = known or g.kinds[hand[i]] == g.kinds[hand[h]]
        if known:
            continue
        if c.type == CREATURE:
            try_card(g, level, slot, to, h, -1, me)
        elif c.type == TAKE:
            if s.deck_pos < t.n and c.attack:
                try_card(g, level, slot, to, h, -5, me)
        elif c.type == HEAL:
            if s.health[me] < t.init_hp:
                try_card(g, level, slot, to, h, -5, me)
            for i in range(own, own_end):
                if board[i].health < board[i].max_health:
                    try_card(g, level, slot, to, h, i, me)
        elif c.type == DAMAGE:
            try_card(g, level, slot, to, h, -6, me)
            for i in range(enemy, enemy_end):
                if not (i > enemy and alike(g, board + i, board + i - 1)):
                    try_card(g, level, slot, to, h, i, me)
        elif c.type == BUFF:
            for i in range(own, own_end):
                if not (i > own and alike(g, board + i, board + i - 1)):
                    try_card(g, level, slot, to, h, i, me)
        else:
            for i in range(enemy, enemy_end):
                if board[i].flags & ACTIVE and not (
                        i > enemy and alike(g, board + i, board + i - 1)):
                    try_card(g, level, slot, to, h, i, me)
    # A full hand: make room for a draw.
    if s.draws and s.deck_pos < t.n and s.n_hand[me] >= t.hand_limit:
        worst = 0
        for h in range(1, s.n_hand[me]):
            if card_value(g, hand[h]) < card_value(g, hand[worst]):
                worst = h
        load(g, &level.scratch, slot)
        do_discard(level.scratch.s, t, worst, &level.scratch.line)
        draw_all(level.scratch.s, t, &level.scratch.line)
        offer(g, level, to, me)


cdef void start_cards(search_t* g, level_t* level, const slot_t* slot, list_t* to, int me,
                      bint burn) noexcept nogil:
    """Try draws, with burns before, between and after them."""
    cdef const table_t* t = g.t
    cdef slot_t* scratch = &level.scratch
    cdef int before, after, _
    if slot.s.over:
        keep(g, &level.open, slot, final_value(g, slot.s, me))
        return
    for before in range(min(3, slot.s.burns + 1) if burn else 1):
        for after in range(min(3, slot.s.burns - before + 1) if burn else 1):
            if before + after and (slot.s.deck_pos + before + after > t.n
                                   or not has_room(&slot.line, 8)):
                break
            load(g, scratch, slot)
            for _ in range(before):
                do_simple(scratch.s, t, BURN, &scratch.line)
            draw_all(scratch.s, g.t, &scratch.line)
            for _ in range(after):
                if scratch.s.deck_pos < t.n:
                    do_simple(scratch.s, t, BURN, &scratch.line)
            offer(g, level, to, me)


# ---- attacks -------------------------------------------------------------------------------------

cdef double attack_value(search_t* g, level_t* level, const state_t* s, const uint8_t* chosen,
                         int me) noexcept nogil:
    """Return the value of a turn that ends with attacks by the creatures at the chosen places."""
    cdef creature_t* own
    cdef int i
    state_copy(level.temporary, s, g.t)
    own = side_of(level.temporary, g.t, me)
    for i in range(s.n_board[me]):
        if chosen[i]:
            own[i].flags = ATTACKING
    end_turn(level.temporary, g.t)
    return leaf_value(g, level.temporary, me)


cdef void finish_turn(search_t* g, level_t* level, const slot_t* slot, const uint8_t* chosen,
                      double value, int me) noexcept nogil:
    """Add the turn with these attacks to the whole turns."""
    cdef slot_t* scratch = &level.scratch
    cdef int start = slot.s.n_board[0] if me else 0
    cdef int i
    load(g, scratch, slot)
    for i in range(slot.s.n_board[me]):
        if chosen[i] and has_room(&scratch.line, 1):
            do_attack(scratch.s, g.t, start + i, &scratch.line)
    do_simple(scratch.s, g.t, END_TURN, &scratch.line)
    keep(g, &level.turns, scratch, value)


cdef void add_attacks(search_t* g, level_t* level, const slot_t* slot, int me,
                      bint root) noexcept nogil:
    """Add the turn with the best attacks that hill climbing finds; at the root, others too."""
    cdef const state_t* s = slot.s
    cdef const creature_t* own = side_of(s, g.t, me)
    cdef uint8_t chosen[MAX_SIDE]
    cdef uint8_t other[MAX_SIDE]
    cdef int n = s.n_board[me]
    cdef int i, kind, _
    cdef double value, best = 0
    cdef bint better = True
    if s.over:
        keep(g, &level.turns, slot, final_value(g, s, me))
        return
    for kind in range(3):                   # by the rule of thumb; all; none
        if kind == 0:
            state_copy(level.temporary, s, g.t)
            rule_attacks(level.temporary, g.t, NULL)
            own = side_of(level.temporary, g.t, me)
            for i in range(n):
                other[i] = own[i].flags & ATTACKING != 0
            own = side_of(s, g.t, me)
        else:
            for i in range(n):
                other[i] = kind == 1 and own[i].flags & ACTIVE and own[i].attack > 0
        value = attack_value(g, level, s, other, me)
        if root:
            finish_turn(g, level, slot, other, value, me)
        if kind == 0 or value > best:
            best = value
            memcpy(chosen, other, n)
    for _ in range(2 if root else 1):
        if not better:
            break
        better = False
        for i in range(n):
            if not own[i].flags & ACTIVE or own[i].attack == 0:
                continue
            chosen[i] = not chosen[i]
            value = attack_value(g, level, s, chosen, me)
            if value > best:
                best = value
                better = True
            else:
                chosen[i] = not chosen[i]
        if out_of_time(g):
            break
    finish_turn(g, level, slot, chosen, best, me)


# ---- turns ---------------------------------------------------------------------------------------

cdef void make_turns(search_t* g, level_t* level, const state_t* s, bint root) noexcept nogil:
    """Write the mover's best turns, best first, into `level.turns`; at least one."""
    cdef int me = mover_of(s)
    cdef list_t* blocks = make_blocks(g, level, s)
    cdef list_t* now = &level.beam
    cdef list_t* then = &level.beam2
    cdef int cards = ROOT_CARDS if root else INNER_CARDS
    cdef int i, _
    now.n = level.open.n = level.turns.n = 0
    for i in range(blocks.n):
        start_cards(g, level, blocks.items[i], now, me, root)
        if out_of_time(g):
            break
    for _ in range(cards):
        then.n = 0
        for i in range(now.n):
            play_cards(g, level, now.items[i], then, me)
            if out_of_time(g):
                break
        if then.n == 0 or g.stop:
            break
        now, then = then, now
    for i in range(level.open.n):
        add_attacks(g, level, level.open.items[i], me, root)
        if out_of_time(g):
            break


cdef double look_ahead(search_t* g, int depth, int left, const state_t* s, double alpha,
                       double beta) noexcept nogil:
    """Return the value for the mover of `left` more turns (alpha-beta); undefined after `stop`."""
    cdef level_t* level = &g.levels[depth]
    cdef int me = mover_of(s)
    cdef double value, best
    cdef int i
    if s.over:
        return final_value(g, s, me)
    make_turns(g, level, s, False)
    if left == 1 or g.stop:
        return level.turns.items[0].value
    best = -10 * WIN
    for i in range(level.turns.n):
        if level.turns.items[i].s.over:
            value = final_value(g, level.turns.items[i].s, me)
        else:
            value = -look_ahead(g, depth + 1, left - 1, level.turns.items[i].s, -beta, -alpha)
        if g.stop:
            return 0
        if value > best:
            best = value
        if best > alpha:
            alpha = best
        if alpha >= beta:
            break
    return best


cdef int search_root(search_t* g, const state_t* s, int max_depth, int* reached) noexcept nogil:
    """Deepen while there is time; put the best turn first, and return how many were compared."""
    cdef list_t* turns = &g.levels[0].turns
    cdef int me = mover_of(s)
    cdef int i, j, left, done
    cdef double value, best
    cdef slot_t* slot
    make_turns(g, &g.levels[0], s, True)
    reached[0] = 1
    done = turns.n
    for left in range(1, max_depth):
        if turns.n == 1 or g.stop or turns.items[0].value > 0.9 * WIN:
            break
        best = -10 * WIN
        for i in range(turns.n):
            slot = turns.items[i]
            if slot.s.over:
                value = final_value(g, slot.s, me)
            else:
                value = -look_ahead(g, 1, left, slot.s, -10 * WIN, -best)
            if g.stop:
                break
            done = i + 1
            # A value below the best is only a bound, so such turns keep their order.
            if value > best:
                best = value
                slot.value = value
                for j in range(i, 0, -1):
                    turns.items[j] = turns.items[j - 1]
                turns.items[0] = slot
        if g.stop:
            break
        reached[0] = left + 1
    return done


# ---- for Python ----------------------------------------------------------------------------------

cdef int fill_list(list_t* list, int cap, slot_t* slots, char* states, int size,
                   int used) noexcept:
    """Give a list its slots and their states; return the number of slots used so far."""
    cdef int i
    list.n = 0
    list.cap = cap
    for i in range(cap):
        list.items[i] = &slots[used + i]
        slots[used + i].s = <state_t*>(states + <size_t>(used + i) * size)
    return used + cap


@cython.final
cdef class TurnSearch:
    """Searches for the best turn, and holds the memory for it; for one thread at a time.

    Parameters
    ----------
    weights
        The weights of the evaluation in the order of `WEIGHTS`; by default
        `DEFAULT_WEIGHTS`.

    Raises
    ------
    ValueError
        The number of weights is wrong.
    """

    cdef search_t g
    cdef slot_t* slots
    cdef slot_t** items
    cdef char* states
    cdef Table table

    def __cinit__(self):
        self.slots = NULL
        self.items = NULL
        self.states = NULL

    def __init__(self, weights=None):
        values = DEFAULT_WEIGHTS if weights is None else tuple(weights)
        if len(values) != N_WEIGHTS:
            raise ValueError(f"weights: expected {N_WEIGHTS} numbers, got {len(values)}")
        for i in range(N_WEIGHTS):
            self.g.w[i] = values[i]

    def __dealloc__(self):
        self._free()

    cdef void _free(self):
        PyMem_Free(self.slots)
        PyMem_Free(self.items)
        PyMem_Free(self.states)
        self.slots = NULL
        self.items = NULL
        self.states = NULL

    cdef _prepare(self, Table table):
        """Allocate memory for the positions of a match, and determine which cards are equal."""
        cdef const table_t* t = &table.t
        cdef level_t* level
        cdef list_t* list
        cdef list_t* lists[6]
        cdef const card_t* c
        cdef int caps[6]
        cdef int depth, k, i, total, used, pointers
        cdef int size = (t.state_size + 15) & ~15
        if self.table is table:
            return
        self.table = None
        self._free()
        total = 1 + (MAX_DEPTH * (2 + 2 * INNER_BLOCKS + 3 * INNER_WIDTH + INNER_TURNS)
                     + 2 * ROOT_BLOCKS + 3 * ROOT_WIDTH + ROOT_TURNS)
        self.slots = <slot_t*>PyMem_Calloc(total, sizeof(slot_t))
        self.items = <slot_t**>PyMem_Calloc(total, sizeof(slot_t*))
        self.states = <char*>PyMem_Calloc(total, size)
        if self.slots == NULL or self.items == NULL or self.states == NULL:
            raise MemoryError
        used = pointers = 0
        for depth in range(MAX_DEPTH):
            level = &self.g.levels[depth]
            caps[0] = caps[1] = INNER_BLOCKS if depth else ROOT_BLOCKS
            caps[2] = caps[3] = caps[4] = INNER_WIDTH if depth else ROOT_WIDTH
            caps[5] = INNER_TURNS if depth else ROOT_TURNS
            lists[0], lists[1] = &level.blocks, &level.blocks2
            lists[2], lists[3] = &level.beam, &level.beam2
            lists[4], lists[5] = &level.open, &level.turns
            for k in range(6):
                list = lists[k]
                list.items = self.items + pointers
                pointers += caps[k]
                used = fill_list(list, caps[k], self.slots, self.states, size, used)
            level.scratch.s = <state_t*>(self.states + <size_t>used * size)
            level.temporary = <state_t*>(self.states + <size_t>(used + 1) * size)
            used += 2
        self.g.probe = <state_t*>(self.states + <size_t>used * size)
        self.g.t = t
        for i in range(t.n):
            c = &t.cards[i]
            self.g.kinds[i] = mix(
                <uint64_t><uint8_t>c.attack << 32 | <uint64_t><uint8_t>c.health << 24
                | <uint64_t><uint8_t>c.max_health << 16 | <uint64_t><uint8_t>c.mana << 8
                | <uint64_t><uint8_t>c.cost << 40 | c.type)
        self.table = table

    def search(self, State state, *, time_ms=None, nodes=None, int depth=3):
        """Return the best turn from a position.

        Parameters
        ----------
        state
            A position of a match that is not over; it does not change.
        time_ms
            The longest time to search, in milliseconds. A first turn always takes some tens of
            microseconds.
        nodes
            The most positions to evaluate. With this limit alone, the result is always the same.
        depth
            Whole turns to look ahead, 1..8.

        Returns
        -------
        SearchResult
            The turn that was found.

        Raises
        ------
        ValueError
            The match is over, or an argument is out of bounds.
        """
        cdef int reached = 0
        cdef int candidates
        cdef line_t* line
        budget(time_ms, nodes=nodes)
        if state.s.over:
            raise ValueError("state: the match is over")
        whole("depth", depth, 1, MAX_DEPTH)
        self._prepare(state.table)
        self.g.nodes = 0
        self.g.stop = False
        self.g.node_limit = 1 << 62 if nodes is None else max(1, nodes)
        self.g.deadline = 0 if time_ms is None else now_ns_() + max(1, int(1e6 * time_ms))
        with nogil:
            candidates = search_root(&self.g, state.s, depth, &reached)
        line = &self.g.levels[0].turns.items[0].line
        actions = [line.actions[i] for i in range(line.n)]
        return SearchResult(actions, self.g.levels[0].turns.items[0].value, self.g.nodes, reached,
                            candidates)


def evaluate(State state, weights=None):
    """Return the value of a position to its mover after quick blocks, for tests and tuning."""
    cdef TurnSearch search = TurnSearch(weights)
    search._prepare(state.table)
    return leaf_value(&search.g, state.s, mover_of(state.s))
