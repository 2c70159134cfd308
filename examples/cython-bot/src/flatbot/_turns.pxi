# The bot, whichever way its module has the kernel: `_pointers.pyx` or `_inlined.pyx`.

import locmsim

# The structs have been compiled in as they were in the locmsim of the build.
if locmsim.ABI_VERSION != ABI_VERSION:
    raise ImportError(
        f"built for version {ABI_VERSION} of locmsim's structs, but {locmsim.ABI_VERSION} is "
        "installed: build flatbot again")

cdef enum:
    LONGEST = 40            # actions of a turn; more are not tried
    KEPT = 24               # turns that are tried against answers, the best ones
    WON = 10000

ctypedef struct turn_t:
    float value
    int32_t length
    uint8_t actions[LONGEST]
    state_t end             # before PASS


# ---- what positions are worth --------------------------------------------------------------------

cdef float side_value(const state_t* s, int who) noexcept nogil:
    """What one player has, in points of attack."""
    cdef const player_t* p = &s.p[who]
    cdef const creature_t* x
    cdef int draws = min(state_next_draw(s, who), 8 - p.hand_size)
    cdef int drawn = min(draws, p.deck_left)
    cdef float value = 0.25 * p.health + 1.6 * (p.hand_size + drawn) - 4.0 * (draws - drawn)
    cdef int slot
    if p.health < 12:
        value -= 0.3 * (12 - p.health)
    for slot in range(MAX_BOARD):
        x = &p.board[slot]
        if x.defense > 0:   # the slot is not empty
            value += 0.4 + x.attack + 0.7 * x.defense
            if x.keywords & GUARD:
                value += 0.15 * x.defense
            if x.keywords & LETHAL:
                value += 1.5
            if x.keywords & WARD:
                value += 0.4 * x.attack
    return value


cdef float value_of(const state_t* s, int who) noexcept nogil:
    cdef int winner = state_winner(s)
    if winner >= 0:
        return WON if winner == who else -WON
    return side_value(s, who) - side_value(s, 1 - who)


# ---- turns ---------------------------------------------------------------------------------------

cdef void random_turn(
    turn_t* turn, const state_t* root, const table_t* t, uint64_t* stream
) noexcept nogil:
    """Take actions other than PASS until none is left, and keep the best line on the way."""
    cdef state_t s = root[0]
    cdef int who = root.turn & 1
    cdef uint8_t actions[LONGEST]
    cdef int length = 0, n
    cdef float value
    turn.value = value_of(root, who)
    turn.length = 0
    turn.end = root[0]
    while length < LONGEST and state_winner(&s) < 0:
        n = state_count(&s, t)
        if n == 1:
            return
        actions[length] = state_kth(&s, t, 1 + stream_below(stream, n - 1))     # 0 is PASS
        state_apply(&s, t, actions[length])
        length += 1
        value = value_of(&s, who)
        if value > turn.value:
            turn.value = value
            turn.length = length
            turn.actions = actions
            turn.end = s


cdef void answer(state_t* s, const table_t* t) noexcept nogil:
    """Play a turn action by action, each the best by its immediate result."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child, best
    cdef int who = s.turn & 1, n, i
    cdef float value, most = value_of(s, who)
    cdef bint found = True
    while found and state_winner(s) < 0:
        found = False
        n = state_list(s, t, actions)
        for i in range(1, n):
            child = s[0]
            state_apply(&child, t, actions[i])
            value = value_of(&child, who)
            if value > most:
                most = value
                best = child
                found = True
        if found:
            s[0] = best


cdef void keep(turn_t* turns, int* n, const turn_t* turn) noexcept nogil:
    """Put a turn among the best ones, unless one with the same end is there."""
    cdef int i, worst = 0
    for i in range(n[0]):
        if turns[i].value == turn.value and turns[i].length == turn.length:
            return
        if turns[i].value < turns[worst].value:
            worst = i
    if n[0] < KEPT:
        turns[n[0]] = turn[0]
        n[0] += 1
    elif turn.value > turns[worst].value:
        turns[worst] = turn[0]


cdef int best_of(
    turn_t* turns, const state_t* root, const table_t* t, const unknown_t* unknown,
    int tries, int worlds, uint64_t seed
) noexcept nogil:
    """The index of the turn that stands best after answers in sampled worlds."""
    cdef turn_t turn
    cdef state_t s
    cdef int who = root.turn & 1, n = 0, best = 0, _i, i, k
    cdef uint64_t stream = stream_start(seed, 0)
    cdef float total, most = 0
    for _i in range(tries):
        random_turn(&turn, root, t, &stream)
        keep(turns, &n, &turn)
    for i in range(n):
        total = 0
        for k in range(worlds):
            s = turns[i].end
            if state_winner(&s) < 0:
                stream = stream_start(seed, 1 + k)      # the same worlds for all turns
                state_deal(&s, t, unknown, &stream)
                state_apply(&s, t, PASS)
                answer(&s, t)
            total += value_of(&s, who)
        if i == 0 or total > most:
            most = total
            best = i
    return best


def best_turn(State state not None, Determinizer worlds not None, *, int tries=2000,
              int samples=8, uint64_t seed=0):
    """The actions of the best turn found, PASS not among them.

    `tries` random turns are played; the best of them by a simple evaluation are answered by the
    opponent in `samples` states drawn from `worlds`. `state` is the position at the turn's start,
    with any cards in the hidden places: they are not looked at.
    """
    cdef turn_t turns[KEPT]
    cdef int best
    if state_winner(<const state_t*>&state.s) >= 0:
        raise ValueError("the game is over")
    if tries < 1 or samples < 1:
        raise ValueError(f"tries and samples: expected 1 or more, got {tries} and {samples}")
    with nogil:
        best = best_of(
            turns, <const state_t*>&state.s, <const table_t*>&state.table.t,
            <const unknown_t*>&worlds.u, tries, samples, seed)
    return [turns[best].actions[i] for i in range(turns[best].length)]


def evaluate(State state not None, int player):
    """What a position is worth to a player by the evaluation of this bot."""
    return value_of(<const state_t*>&state.s, player & 1)


def playouts(State state not None, int games, uint64_t seed=0):
    """Play random actions to the end, so many times: how often player 0 won, and the actions."""
    cdef const state_t* start = <const state_t*>&state.s
    cdef const table_t* t = <const table_t*>&state.table.t
    cdef state_t s
    cdef uint64_t stream
    cdef int64_t wins = 0, actions = 0
    cdef int i
    with nogil:
        for i in range(games):
            s = start[0]
            stream = stream_start(seed, i)
            while state_winner(&s) < 0:
                state_apply(&s, t, state_kth(&s, t, stream_below(&stream, state_count(&s, t))))
                actions += 1
            wins += state_winner(&s) == 0
    return wins, actions
