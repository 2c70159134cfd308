"""The rule of thumb of the bot `rule`, for whole turns, and playouts by it.

It makes blocks that cost little, plays the best affordable card as often as there is one, and then
attacks where the opponent's blockers do not punish it, as long as enough creatures stay to block.
"""

from cpython.long cimport PyLong_AsUnsignedLongLongMask
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport abs

from vestrock._core cimport (
    ACTIVE,
    ADD_MANA,
    ATTACK,
    ATTACKING,
    BLOCK,
    BLOCKED,
    BLOCKING,
    BUFF,
    BURN,
    CREATURE,
    DAMAGE,
    DISCARD,
    DRAW,
    END_TURN,
    FINISH_BLOCK,
    HEAL,
    PLAY,
    State,
    TAKE,
    action_of,
    attack_with,
    board_of,
    burn_card,
    card_t,
    creature_t,
    discard_card,
    draw_card,
    end_turn,
    fight,
    finish_block,
    hand_of,
    mover_of,
    play_card,
    side_of,
    state_copy,
    state_score,
    state_t,
    stream_below,
    stream_start,
    table_t,
    tap,
)

from operator import index

from vestrock._core import _playout_scores

__all__ = ["rule_line", "rule_playouts"]


# ---- single actions ------------------------------------------------------------------------------

cdef bint has_room(const line_t* line, int actions) noexcept nogil:
    """Return whether there is room for some more actions and the end of the turn."""
    return line == NULL or line.n + actions + 2 <= MAX_LINE


cdef inline void note(line_t* line, const table_t* t, int kind, int a, int b) noexcept nogil:
    if line != NULL:
        line.actions[line.n] = action_of(t, kind, a, b)
        line.n += 1


cdef void do_simple(state_t* s, const table_t* t, int kind, line_t* line) noexcept nogil:
    note(line, t, kind, 0, 0)
    if kind == DRAW:
        draw_card(s, t)
    elif kind == BURN:
        burn_card(s)
    elif kind == FINISH_BLOCK:
        finish_block(s, t)
    else:
        end_turn(s, t)


cdef void do_discard(state_t* s, const table_t* t, int h, line_t* line) noexcept nogil:
    note(line, t, DISCARD, hand_of(s, t, mover_of(s))[h], 0)
    discard_card(s, t, h)


cdef void do_attack(state_t* s, const table_t* t, int place, line_t* line) noexcept nogil:
    note(line, t, ATTACK, board_of(s, t)[place].card, 0)
    attack_with(s, t, place)


cdef void do_block(
        state_t* s, const table_t* t, int attacker, int blocker, line_t* line) noexcept nogil:
    note(line, t, BLOCK, board_of(s, t)[attacker].card, board_of(s, t)[blocker].card)
    fight(s, t, attacker, blocker)


cdef void do_play(state_t* s, const table_t* t, int h, int target, line_t* line) noexcept nogil:
    cdef int b
    if line != NULL:
        if target >= 0:
            b = board_of(s, t)[target].card
        else:
            b = t.n + (2 if target == -1 else -5 - target)
        note(line, t, PLAY, hand_of(s, t, mover_of(s))[h], b)
    play_card(s, t, h, target)


cdef void draw_all(state_t* s, const table_t* t, line_t* line) noexcept nogil:
    while (s.draws and s.deck_pos < t.n and s.n_hand[mover_of(s)] < t.hand_limit
           and has_room(line, 1)):
        do_simple(s, t, DRAW, line)


cdef int mana_within_reach(const state_t* s, const table_t* t) noexcept nogil:
    """Return the mana that the mover would have after tapping every active creature."""
    cdef int me = mover_of(s)
    cdef const creature_t* own = side_of(s, t, me)
    cdef int sum = s.mana
    cdef int i
    for i in range(s.n_board[me]):
        if own[i].flags & ACTIVE:
            sum += t.cards[own[i].card].mana
    return sum


cdef void pay(state_t* s, const table_t* t, int cost, line_t* line) noexcept nogil:
    """Tap the creatures that are least useful otherwise: little attack first, then little waste."""
    cdef int me = mover_of(s)
    cdef int start = s.n_board[0] if me else 0
    cdef creature_t* board = board_of(s, t)
    cdef int i, best, mana
    cdef int64_t value, best_value
    while s.mana < cost:
        best = -1
        best_value = 0
        for i in range(start, start + s.n_board[me]):
            mana = t.cards[board[i].card].mana
            if not board[i].flags & ACTIVE or mana == 0:
                continue
            # The loss of an attacker first, then mana wasted or still missing.
            value = 64 * <int64_t>board[i].attack * (2 + board[i].health)
            value += 8 * abs(s.mana + mana - cost)
            if best < 0 or value < best_value:
                best = i
                best_value = value
        if best < 0:
            return
        note(line, t, ADD_MANA, board[best].card, 0)
        tap(s, t, best)


# ---- blocks --------------------------------------------------------------------------------------

cdef inline int worth(const table_t* t, const creature_t* c) noexcept nogil:
    """Return roughly what a creature is worth."""
    return 3 * c.attack + 2 * c.health + 4 * t.cards[c.card].mana


cdef void rule_block(state_t* s, const table_t* t, line_t* line) noexcept nogil:
    """Block the strongest attackers first, where it is cheap or necessary; ends the phase."""
    cdef int me = mover_of(s)
    cdef creature_t* board = board_of(s, t)
    cdef creature_t* a
    cdef creature_t* b
    cdef int own_start, enemy_start, i, attacker, best, value, best_value, danger, strongest
    # The next attacker has an attack of at most `limit` (among equals, a higher place).
    cdef int limit = 1 << 30
    cdef int limit_card = -1
    while True:
        board = board_of(s, t)
        own_start = s.n_board[0] if me else 0
        enemy_start = 0 if me else s.n_board[0]
        danger = 0
        attacker = -1
        strongest = -1
        for i in range(enemy_start, enemy_start + s.n_board[1 - me]):
            a = board + i
            if a.flags & (ATTACKING | BLOCKED) != ATTACKING:
                continue
            danger += a.attack
            if (a.attack < limit or a.attack == limit and a.card > limit_card) and (
                    a.attack > strongest):
                attacker = i
                strongest = a.attack
        if attacker < 0 or not has_room(line, 1):
            break
        a = board + attacker
        limit = a.attack
        limit_card = a.card
        if limit == 0:
            break
        best = -1
        best_value = 0
        for i in range(own_start, own_start + s.n_board[me]):
            b = board + i
            if not b.flags & ACTIVE:
                continue
            value = a.attack * 2                        # health saved
            if b.attack >= a.health:
                value += worth(t, a)
            else:
                value += b.attack
            if a.attack >= b.health:
                value -= worth(t, b)
                if danger >= s.health[me]:              # better than to die
                    value += 1000
            else:
                value -= a.attack
            if value > best_value:
                best = i
                best_value = value
        if best >= 0:
            do_block(s, t, attacker, best, line)
    do_simple(s, t, FINISH_BLOCK, line)


# ---- attacks -------------------------------------------------------------------------------------

cdef void rule_attacks(state_t* s, const table_t* t, line_t* line) noexcept nogil:
    """Attack with what the enemy's blockers do not punish, or with all if that wins the race."""
    cdef int me = mover_of(s)
    cdef creature_t* board = board_of(s, t)
    cdef int own_start = s.n_board[0] if me else 0
    cdef int enemy_start = 0 if me else s.n_board[0]
    cdef creature_t* a
    cdef creature_t* b
    cdef int total = 0, absorbed = 0, threat = 0, guard = 0, blockers = 0
    cdef int i, j
    cdef bint all_in, killed, traded
    for i in range(own_start, own_start + s.n_board[me]):
        if board[i].flags & ACTIVE:
            total += board[i].attack
            guard += 1
    for i in range(enemy_start, enemy_start + s.n_board[1 - me]):
        threat += board[i].attack
        if board[i].flags & ACTIVE:
            blockers += 1
    # The strongest attackers are blocked, one by each blocker.
    if guard > 0:
        absorbed = total // guard * blockers
    all_in = total - absorbed >= s.health[1 - me]
    for i in range(own_start, own_start + s.n_board[me]):
        a = board + i
        if not a.flags & ACTIVE or a.attack == 0 or not has_room(line, 1):
            continue
        killed = traded = False
        for j in range(enemy_start, enemy_start + s.n_board[1 - me]):
            b = board + j
            if not b.flags & ACTIVE or b.attack < a.health:
                continue
            if a.attack < b.health or worth(t, b) < worth(t, a):
                killed = True
            else:
                traded = True
        if not all_in:
            if killed:
                continue
            # Who stays can block: one of the enemy's creatures each.
            if threat >= s.health[me] and guard <= s.n_board[1 - me]:
                continue
            if traded and blockers > 1:
                continue
        guard -= 1
        do_attack(s, t, i, line)


# ---- cards ---------------------------------------------------------------------------------------

cdef int best_target(
        const state_t* s, const table_t* t, const card_t* c, int* value) noexcept nogil:
    """Find the best target of a card by the rule of thumb; a value of 0 means not to play it."""
    cdef int me = mover_of(s)
    cdef const creature_t* board = board_of(s, t)
    cdef int own_start = s.n_board[0] if me else 0
    cdef int enemy_start = 0 if me else s.n_board[0]
    cdef const creature_t* x
    cdef int best = -1
    cdef int i, gain
    value[0] = 0
    if c.type == CREATURE:
        value[0] = 10 + 3 * c.attack + 2 * c.health + 4 * c.mana
        return -1
    if c.type == TAKE:
        gain = min(<int>c.attack, t.n - s.deck_pos)
        gain = min(gain, t.hand_limit - s.n_hand[me] + 1)
        value[0] = 6 * gain if gain > 0 else 0
        return -5
    if c.type == HEAL:
        gain = min(<int>c.health, t.init_hp - s.health[me])
        value[0] = gain * (5 if 3 * s.health[me] < t.init_hp else 2)
        return -5
    if c.type == DAMAGE:
        if c.attack >= s.health[1 - me]:
            value[0] = 1 << 20
            return -6
        value[0] = c.attack if 2 * s.health[1 - me] < t.init_hp else 0
        best = -6
        for i in range(enemy_start, enemy_start + s.n_board[1 - me]):
            x = board + i
            if x.health <= c.attack:
                gain = worth(t, x) - 2 * (c.attack - x.health)
                if gain > value[0]:
                    value[0] = gain
                    best = i
        return best
    if c.type == BUFF:
        for i in range(own_start, own_start + s.n_board[me]):
            x = board + i
            gain = 3 * c.attack + 2 * c.health + (x.attack > 0) + (x.flags & ACTIVE)
            if gain > value[0]:
                value[0] = gain
                best = i
        return best
    for i in range(enemy_start, enemy_start + s.n_board[1 - me]):
        x = board + i
        if x.flags & ACTIVE and x.attack + x.health > value[0]:
            value[0] = x.attack + x.health
            best = i
    return best


cdef void rule_turn(state_t* s, const table_t* t, line_t* line, uint64_t* stream) noexcept nogil:
    """Play a whole turn; with a random stream, values vary by up to a quarter."""
    cdef int me = mover_of(s)
    cdef int reach, h, best, target, best_target_, value, best_value
    cdef const uint16_t* hand
    if s.phase == BLOCKING:
        rule_block(s, t, line)
        if s.over:
            return
    while True:
        draw_all(s, t, line)
        reach = mana_within_reach(s, t)
        best = -1
        best_value = best_target_ = 0
        hand = hand_of(s, t, me)
        for h in range(s.n_hand[me]):
            if t.cards[hand[h]].cost > reach:
                continue
            target = best_target(s, t, &t.cards[hand[h]], &value)
            if value <= 0:
                continue
            if stream != NULL:
                value = value * (48 + <int>stream_below(stream, 32))
            if value > best_value:
                best = h
                best_value = value
                best_target_ = target
        if best < 0 or not has_room(line, 1 + s.n_board[me]):
            break
        pay(s, t, t.cards[hand[best]].cost, line)
        do_play(s, t, best, best_target_, line)
        if s.over:
            return
    rule_attacks(s, t, line)
    do_simple(s, t, END_TURN, line)


# ---- for Python ----------------------------------------------------------------------------------

def rule_line(State state, seed=None):
    """Return a turn by the rule of thumb.

    Parameters
    ----------
    state
        A position of a match that is not over; it does not change.
    seed
        An integer makes the values of cards vary a little; with None they do not.

    Returns
    -------
    list of int
        The turn's actions, with END_TURN at the end unless the match ends before.

    Raises
    ------
    ValueError
        If the match is over.
    """
    cdef line_t line
    cdef uint64_t stream
    cdef State after
    if state.s.over:
        raise ValueError("state: the match is over")
    after = state.clone()
    line.n = 0
    if seed is None:
        rule_turn(after.s, after.t, &line, NULL)
    else:
        stream = stream_start(PyLong_AsUnsignedLongLongMask(index(seed)), 0)
        rule_turn(after.s, after.t, &line, &stream)
    return [line.actions[i] for i in range(line.n)]


def rule_playouts(State state, n, seed, threads=1):
    """Return the first player's scores after playouts by the rule of thumb, with varied values.

    Parameters
    ----------
    state
        Any position; it does not change.
    n
        How many playouts.
    seed
        Any integer; its lowest 64 bits count. Playout i depends on (seed, i) only.
    threads
        How many threads share the work, without the GIL.

    Returns
    -------
    numpy.ndarray
        int32, shape ``(n,)``.

    Raises
    ------
    ValueError
        If `n` is negative or `threads` below 1.
    """
    return _playout_scores(_play_out, state, n, seed, threads)


def _play_out(State state, int32_t[::1] scores, int start, int end, uint64_t seed):
    """Play playouts `start` to `end` - 1 of `rule_playouts`."""
    cdef const table_t* t = state.t
    cdef state_t* s = <state_t*>PyMem_Malloc(t.state_size)
    cdef uint64_t stream
    cdef int i
    if s == NULL:
        raise MemoryError
    with nogil:
        for i in range(start, end):
            stream = stream_start(seed, i)
            state_copy(s, state.s, t)
            while not s.over:
                rule_turn(s, t, NULL, &stream)
            scores[i] = state_score(s, t, 0)
    PyMem_Free(s)
