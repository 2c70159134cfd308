# Beam search over the player's turn: for a win, and for the whole turns that are then compared.
# Both end at a winning turn, which sets `w.won` and `w.win`. Part of _engine.pyx.

cdef enum:                      # what `sift` finds
    LEFT_OUT = 0
    KEPT = 1
    WINNING = 2


cdef inline int sift(
    work_t* w, const state_t* child, int record, uint8_t action, uint64_t* hash
) noexcept nogil:
    """Decide what to do with the position after an action before evaluating it; write its hash."""
    if child.p[1 - w.who].won:
        return LEFT_OUT
    if child.p[w.who].won or can_kill(child, w.table):
        w.won = True
        w.win.parent = record
        w.win.action = action
        return WINNING
    hash[0] = turn_hash_by(child, w.table, w.card_keys)
    return KEPT if is_new(w, hash[0]) else LEFT_OUT


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


cdef inline int look_at(
    work_t* w, const state_t* child, const wins_t* wins, int record, uint8_t action, float* value
) noexcept nogil:
    """Return what to do with the position after an action, and its value if it is kept."""
    cdef uint64_t hash
    cdef int missing
    cdef int look = sift(w, child, record, action, &hash)
    if look != KEPT:
        return look
    if wins is not NULL:
        missing = missing_damage(child, w.table)
        value[0] = -missing
        return LEFT_OUT if missing > most_damage(wins, child, w.table) else KEPT
    value[0] = value_of(w, child, w.who)
    note_plan(w, value[0], hash, record, action)
    return KEPT


cdef int make_level(work_t* w, int n, int now) noexcept nogil:
    """Make the first `n` candidates the level after level `now`; -1 if no records are left."""
    cdef candidate_t* c
    cdef int i, record
    for i in range(n):
        c = &w.candidates[i]
        record = add_record(w, w.level_records[now][c.parent], c.action)
        if record < 0:
            return -1
        w.level_records[1 - now][i] = record
        w.level[1 - now][i] = w.level[now][c.parent]
        state_apply(&w.level[1 - now][i], w.table, c.action)
    return n


cdef inline int make_children(
    work_t* w, int n_here, int now, const wins_t* wins, bint* complete
) noexcept nogil:
    """Fill in the candidates, the new positions one action after a level of `n_here`.

    Returns their number; -1 at a winning turn and at the end of the budget. `complete` becomes
    False if there is no place for all of them.
    """
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef state_t* here
    cdef candidate_t* c
    cdef int n_next = 0, n, i, j, look
    for i in range(n_here):
        here = &w.level[now][i]
        n = state_list(here, w.table, actions)
        for j in range(1, n):
            if n_next == w.max_candidates:
                complete[0] = False
                break
            if wins is not NULL and not is_useful(wins, here, w.table, actions[j]):
                continue
            if not spend(w):
                return -1
            child = here[0]
            state_apply(&child, w.table, actions[j])
            c = &w.candidates[n_next]
            look = look_at(w, &child, wins, w.level_records[now][i], actions[j], &c.value)
            if look == WINNING:
                return -1
            if look == KEPT:
                c.parent = i
                c.action = actions[j]
                n_next += 1
    return n_next


cdef bint beam_pass(work_t* w, int width, const wins_t* wins) noexcept nogil:
    """Follow the `width` best positions after each number of actions, to the end of the budget.

    Returns whether no position had to be left out. A winning turn ends the search. With `wins`, it
    looks for winning turns only.
    """
    cdef int n_here = 1, n_next, depth = 0, now = 0
    cdef bint complete = True
    w.salt = mixed(w.salt + 1)
    w.level[0][0] = w.root
    w.level_records[0][0] = -1
    is_new(w, turn_hash_by(&w.root, w.table, w.card_keys))
    while n_here and depth < MAX_TURN_ACTIONS - 1:
        depth += 1
        if wins is NULL and w.steps is not NULL and w.steps.make_children is not NULL:
            n_next = w.steps.make_children(w.steps.owner, n_here, now, &complete)
        else:
            n_next = make_children(w, n_here, now, wins, &complete)
        if n_next < 0:
            return w.won
        if n_next:
            w.depth = max(w.depth, depth)
        if n_next > width:
            select_best(w.candidates, n_next, width)
            n_next = width
            complete = False
        n_here = make_level(w, n_next, now)
        if n_here < 0:
            return False
        now = 1 - now
    return complete


cdef void search_wins(work_t* w, int width) noexcept nogil:
    """Look for a winning turn; that costs little where no turn can win."""
    cdef wins_t wins
    if can_kill(&w.root, w.table):
        w.won = True
        w.win.parent = -1
        w.win.action = PASS
        return
    prepare_wins(&wins, &w.root, w.table)
    if missing_damage(&w.root, w.table) <= most_damage(&wins, &w.root, w.table):
        beam_pass(w, width, &wins)


cdef void beam_search(work_t* w, int width) noexcept nogil:
    """Fill `w.plans` by beams of growing width, until the budget is used up or nothing left out."""
    cdef int this_width = 16
    cdef float value
    if w.steps is not NULL and w.steps.value_of_root is not NULL:
        value = w.steps.value_of_root(w.steps.owner)
    else:
        value = value_of(w, &w.root, w.who)
    note_plan(w, value, turn_hash_by(&w.root, w.table, w.card_keys), -1, PASS)
    while not w.budget.over:
        if this_width > width:
            this_width = width
        if beam_pass(w, this_width, NULL) or w.won or this_width == width:
            return
        this_width *= 4
