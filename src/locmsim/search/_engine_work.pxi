# Evaluates positions and plays turns on, for both searches. Part of _engine.pyx.

UNLIMITED = 1LL << 62


cdef bint must_end(work_t* w) noexcept nogil:
    """Return whether time is up or the search must end."""
    cdef int64_t now = now_ns_()
    if w.watch is not NULL and now >= w.next_watch:
        w.next_watch = now + WATCH_PERIOD
        if w.watch(w.owner) < 0:
            w.failed = True
    return w.failed or now >= w.budget.deadline


cdef inline bint spend(work_t* w) noexcept nogil:
    """Take one node of the budget; False if it is used up."""
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
        if must_end(w):
            b.over = True
            return False
    w.nodes += 1
    return True


cdef budget_t begin_share(work_t* w, float share, int64_t most) noexcept nogil:
    """Begin a part of the search with a share of the budget; return the whole budget.

    `most` bounds the nodes where neither time nor nodes do.
    """
    cdef budget_t whole = w.budget
    cdef budget_t* part = &w.budget
    cdef int64_t now = now_ns_()
    if part.deadline < UNLIMITED:
        part.deadline = now + <int64_t>(share * (part.deadline - now))
    if part.nodes < UNLIMITED:
        part.nodes = <int64_t>(share * part.nodes)
    elif part.deadline >= UNLIMITED:
        part.nodes = most
    part.allotted = part.nodes
    part.until_clock = 0
    return whole


cdef void end_share(work_t* w, const budget_t* whole) noexcept nogil:
    """Continue with the whole budget, minus the nodes that the part used."""
    cdef int64_t left = w.budget.nodes if w.budget.nodes > 0 else 0
    cdef int64_t used = w.budget.allotted - left
    w.budget = whole[0]
    if whole.nodes < UNLIMITED:         # else the bounds of later parts would no longer apply
        w.budget.nodes -= used
    w.budget.over = w.failed


cdef inline bint is_new(work_t* w, uint64_t hash) noexcept nogil:
    """Return whether a position was not seen yet, and record it."""
    cdef uint64_t key = hash ^ w.salt
    cdef uint64_t* place = &w.seen[hash & w.seen_mask]
    if place[0] == key:
        return False
    place[0] = key
    return True


cdef inline int32_t add_record(work_t* w, int32_t parent, uint8_t action) noexcept nogil:
    """Record how a position was reached; return the number of the record, -2 if none is left."""
    cdef record_t* r
    if w.n_records == w.max_records:
        return -2
    r = &w.records[w.n_records]
    r.parent = parent
    r.action = action
    w.n_records += 1
    return w.n_records - 1


cdef inline int insert(
    float* values, uint8_t* places, int n, int most, float value, bint once
) noexcept nogil:
    """Insert a value after the equal or better of `n` values, of which the best `most` are kept.

    Returns the place for what belongs to it, which is `n` if their number grows; -1 if it is not
    among the best or, with `once`, the same value is there. Nothing else has to be moved.
    """
    cdef int k = n, i, place
    while k > 0 and values[k - 1] < value:
        k -= 1
    if k == most or once and k > 0 and values[k - 1] == value:
        return -1
    place = n if n < most else places[most - 1]
    for i in range(n if n < most else most - 1, k, -1):
        values[i] = values[i - 1]
        places[i] = places[i - 1]
    values[k] = value
    places[k] = <uint8_t>place
    return place


cdef inline void put_world(const work_t* w, state_t* s, const state_t* world) noexcept nogil:
    """Fill the hidden places with the cards of a sampled world."""
    cdef int op = 1 - w.who
    s.p[op].hand = world.p[op].hand
    s.p[op].cost_kinds = world.p[op].cost_kinds
    memcpy(s.deck, world.deck, sizeof(s.deck))


cdef float value_of(const work_t* w, const state_t* s, int who) noexcept nogil:
    """Evaluate by weights; not inlined, so that callers keep their registers."""
    return evaluate(s, w.table, w.eval, who)


cdef float result_of(work_t* w, const state_t* s, int who) noexcept nogil:
    """Return the expected result for `who`, whose turn ends, from -1 to 1."""
    if w.network is NULL or state_winner(s) >= 0:
        return squashed(value_of(w, s, who), w.eval)
    return tanh32(network_value(w.network, s, w.table, who) / 2)


cdef int path_of(const work_t* w, int32_t record, int action, uint8_t* path) noexcept nogil:
    """Write the actions up to a record, and one more unless it is PASS; return their number."""
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


cdef void greedy_turn(work_t* w, state_t* s) noexcept nogil:
    """Play a turn action by action, always the best one, as long as it improves the position.

    Of a win by attacks alone only the result is set; the attacks are not played.
    """
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t children[2]
    cdef int who = s.turn & 1
    cdef int n, i, free = 0
    cdef float best, value
    cdef bint improved
    if can_kill(s, w.table):
        s.p[who].won = 1
        return
    best = value_of(w, s, who)
    for _ in range(MAX_TURN_ACTIONS):
        improved = False
        n = state_list(s, w.table, actions)
        for i in range(1, n):
            w.nodes += 1
            children[free] = s[0]
            state_apply(&children[free], w.table, actions[i])
            value = value_of(w, &children[free], who)
            if value > best:
                best = value
                improved = True
                free = 1 - free
        w.budget.nodes -= n - 1
        w.budget.until_clock -= n - 1
        if not improved:
            return
        s[0] = children[1 - free]
        if s.p[who].won:
            return


cdef inline bint next_level(
    work_t* w, const turn_ends_t* level, turn_ends_t* next
) noexcept nogil:
    """Fill in the best positions one action later; True if one of them, `next.s[0]`, wins.

    Positions with equal values are treated as the same position.
    """
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef const state_t* s
    cdef int who = level.s[0].turn & 1
    cdef int n, i, j, place
    cdef float value
    next.n = 0
    for i in range(level.n):
        s = &level.s[level.places[i]]
        n = state_list(s, w.table, actions)
        w.nodes += n - 1
        w.budget.nodes -= n - 1
        w.budget.until_clock -= n - 1
        for j in range(1, n):
            child = s[0]
            state_apply(&child, w.table, actions[j])
            if child.p[1 - who].won:
                continue
            value = value_of(w, &child, who)
            if value >= MAX_VALUE or can_kill(&child, w.table):
                next.s[0] = child
                return True
            place = insert(next.values, next.places, next.n, w.reply_width, value, True)
            if place >= 0:
                next.s[place] = child
                next.n = max(next.n, place + 1)
    return False


cdef void start_ends(turn_ends_t* ends, const state_t* s, float value) noexcept nogil:
    """Make a position the only one."""
    ends.n = 1
    ends.values[0] = value
    ends.places[0] = 0
    ends.s[0] = s[0]


cdef void narrow_turns(work_t* w, const state_t* start, turn_ends_t* ends) noexcept nogil:
    """Find the best ends of a turn by a beam of `reply_width` positions.

    Ends may have any number of actions. The beam stops when one more action has not improved any
    position. A winning end is the only one.
    """
    cdef turn_ends_t level[2]
    cdef const turn_ends_t* here
    cdef int who = start.turn & 1
    cdef int i, place, now = 0
    cdef float best
    start_ends(ends, start, MAX_VALUE)
    if can_kill(start, w.table):
        ends.s[0].p[who].won = 1
        return
    best = value_of(w, start, who)
    ends.values[0] = best
    start_ends(&level[0], start, best)
    for _ in range(MAX_TURN_ACTIONS):
        if next_level(w, &level[now], &level[1 - now]):
            start_ends(ends, &level[1 - now].s[0], MAX_VALUE)
            ends.s[0].p[who].won = 1
            return
        now = 1 - now
        here = &level[now]
        for i in range(here.n):
            place = insert(
                ends.values, ends.places, ends.n, w.reply_width, here.values[i], False)
            if place >= 0:
                ends.s[place] = here.s[here.places[i]]
                ends.n = max(ends.n, place + 1)
        if here.n == 0 or here.values[0] <= best:
            break
        best = here.values[0]


cdef void narrow_turn(work_t* w, state_t* s) noexcept nogil:
    """Play the best turn that a narrow beam finds: a stronger reply than a greedy one.

    A network chooses among the best ends.
    """
    cdef turn_ends_t ends
    cdef int who = s.turn & 1
    cdef int i, k = 0
    cdef float value, best = 0
    narrow_turns(w, s, &ends)
    if w.network is not NULL and ends.n > 1:
        for i in range(ends.n):
            value = network_value(w.network, &ends.s[ends.places[i]], w.table, who)
            if (i == 0 or value > best) and ends.values[i] > -MAX_VALUE:
                best = value
                k = i
    s[0] = ends.s[ends.places[k]]


cdef const state_t* sampled_world(work_t* w, int i) noexcept nogil:
    """Return the i-th sample; i is at most the number of samples drawn so far."""
    cdef state_t* world = &w.worlds[i]
    cdef uint64_t stream
    cdef uint8_t* deck
    cdef int j, k
    if i < w.n_worlds:
        return world
    w.n_worlds = i + 1
    world[0] = w.root
    stream = stream_start(w.world_seed, i)
    state_deal(world, w.table, w.unknown, &stream)
    if w.knows_deck:
        deck = &world.deck[w.who][MAX_DECK - w.root.p[w.who].deck_left]
        memcpy(world.deck[w.who], w.root.deck[w.who], MAX_DECK)
        for j in range(w.root.p[w.who].deck_left - 1, 0, -1):
            k = stream_below(&stream, j + 1)
            deck[j], deck[k] = deck[k], deck[j]
    return world


cdef float play_on(work_t* w, const state_t* end, const state_t* world, int turns) noexcept nogil:
    """Return the result, -1 to 1, after playing `turns` more turns greedily."""
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
            greedy_turn(w, &s)
        if state_winner(&s) >= 0:
            break
    mover = s.turn & 1
    cdef float value = result_of(w, &s, mover)
    return value if mover == w.who else -value
