# The choice among whole turns: sequential halving, the one driver of both searches.
#
# A search has plans, whole turns of its player. In rounds of one or more passes, a step plays the
# ends of those that are left on: each in the next sampled world (beam search), or each by a visit
# of its tree (MCTS). The steps are `play_pass`, one thread by weights, and those of `BatchEngine`
# and `SharedEngine`. Part of _engine.pyx.

cdef enum:
    NODES_A_ROUND = 1 << 14     # approximate nodes of each thread, 1 or 2 ms


cdef void put_best_first(int32_t* order, const float* values, int n) noexcept nogil:
    """Sort by value, the highest first, keeping the order of equal values."""
    cdef int32_t x
    cdef int i, j
    for i in range(1, n):
        x = order[i]
        j = i
        while j > 0 and values[order[j - 1]] < values[x]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = x


cdef void rank_plans(work_t* w, int32_t* order) noexcept nogil:
    """Order the plans by the results expected at their ends, best first.

    Sets their results to that, and their ends in `w.ends`.
    """
    cdef uint8_t path[MAX_TURN_ACTIONS + 2]
    cdef float results[MAX_PLANS]
    cdef int i, j, length
    for i in range(w.n_plans):
        w.ends[i] = w.root
        length = path_of(w, w.plans[i].parent, w.plans[i].action, path)
        for j in range(length):
            state_apply(&w.ends[i], w.table, path[j])
        if w.network is NULL:
            results[i] = squashed(w.plans[i].value, w.eval)
        else:
            results[i] = result_of(w, &w.ends[i], w.who)
        w.plans[i].visits = 0
        w.plans[i].result = results[i]
        order[i] = i
    put_best_first(order, results, w.n_plans)


cdef void start_halving(
    work_t* w, halving_t* h, const options_t* o, int64_t most
) noexcept nogil:
    """Rank the plans and begin to compare the best, at most `o.plans` and at most `most`.

    A small budget suffices for fewer plans only.
    """
    cdef float result
    cdef int i
    h.start = now_ns_()
    h.nodes = h.left = w.budget.nodes
    h.cost = 24 * o.turns * w.reply_width
    h.n = min(w.n_plans, o.plans)
    h.done = 0
    rank_plans(w, h.plan)
    while h.n > 1 and (h.cost * h.n > h.nodes or h.n > most):
        h.n >>= 1
    start_cuts(&h.cuts, h.n)
    for i in range(h.n):
        result = w.plans[h.plan[i]].result
        h.value[i] = result if o.is_tree else o.static_worlds * result
        h.order[i] = i


cdef int32_t passes_due(
    const work_t* w, const halving_t* h, const options_t* o, int64_t iterations
) noexcept nogil:
    """Return the passes of the next round, 0 if the budget is used up.

    One thread plays one. Several play at least one each, if there are nodes for it: a round is long
    compared with the time that they need to meet, and at most half as long as the time until the
    next plans drop out.
    """
    cdef int64_t most = iterations // h.cuts.alive if o.is_tree else w.max_worlds
    cdef int64_t left = most - h.done
    if o.is_tree:
        left = (iterations - h.done) // h.cuts.alive
    cdef int64_t passes = 1
    cdef int64_t nodes
    if w.steps is not NULL:
        passes = w.steps.threads
        if passes > 1 and h.left < h.nodes:     # else the cost of a plan is a guess
            nodes = min(<int64_t>NODES_A_ROUND, h.nodes // (2 * h.cuts.rounds * passes))
            nodes = min(nodes // (h.cost * h.cuts.alive), most // (2 * h.cuts.rounds * passes))
            passes *= max(nodes, <int64_t>1)
    return <int32_t>min(min(passes, left), w.budget.nodes // (h.cost * h.cuts.alive))


cdef int32_t play_pass(
    work_t* w, turn_tree_t* tree, const options_t* o, halving_t* h
) noexcept nogil:
    """Play all plans that are left on once; return 1, or 0 if time was up before."""
    cdef float results[MAX_PLANS]
    cdef const state_t* world = NULL
    cdef int i
    if not o.is_tree:
        world = sampled_world(w, <int>h.done)
    for i in range(h.cuts.alive):
        if must_end(w):
            break
        if o.is_tree:
            visit(w, tree, o, h.order[i])
        else:
            results[i] = play_on(w, &w.ends[h.plan[h.order[i]]], world, o.turns)
    else:
        if not o.is_tree:       # a world that not all plans were tried in does not count
            for i in range(h.cuts.alive):
                h.value[h.order[i]] += results[i]
        return 1
    return 0


cdef void add_visits(halving_t* h, const turn_tree_t* tree) noexcept nogil:
    """Add the visits of a tree to those of this round; trees of several threads are added up."""
    cdef int i, k
    for i in range(h.cuts.alive):
        k = h.order[i]
        h.visits[k] += tree.nodes[k].visits
        h.total[k] += tree.nodes[k].total


cdef void play_round(
    work_t* w, turn_tree_t* tree, const options_t* o, halving_t* h, int32_t passes
) noexcept nogil:
    """Play the plans that are left on, by the step of the search, and count the results."""
    cdef plan_t* plan
    cdef int i, k
    if o.is_tree:
        for i in range(h.cuts.alive):
            h.visits[h.order[i]] = 0
            h.total[h.order[i]] = 0
    if w.steps is not NULL:
        h.finished = w.steps.play(w.steps.owner, h, passes)
    else:
        h.finished = play_pass(w, tree, o, h)
        if o.is_tree:
            add_visits(h, tree)
    if not o.is_tree:
        h.done += h.finished
    for i in range(h.cuts.alive):
        k = h.order[i]
        plan = &w.plans[h.plan[k]]
        if not o.is_tree:
            plan.visits += h.finished
        elif h.visits[k]:
            h.done += h.visits[k] - plan.visits
            plan.visits = h.visits[k]
            h.value[k] = mean_with(h.total[k], h.visits[k], plan.result, o.static_worlds)


cdef void end_round(
    const work_t* w, halving_t* h, int32_t passes, float used
) noexcept nogil:
    """Drop the worse half as often as is due, which depends on the used share of the budget.

    `used` is that share by other bounds than nodes and time.
    """
    cdef int64_t now = now_ns_()
    cdef int32_t left
    h.cost = 1 + (h.left - w.budget.nodes) // h.cuts.alive // passes
    h.left = w.budget.nodes
    # The deadline may have passed at the start, if this process had to wait.
    if w.failed or now >= w.budget.deadline:
        used = 1
    else:
        used = max(used, <float>(h.nodes - h.left) / h.nodes)
        used = max(used, <float>(now - h.start) / (w.budget.deadline - h.start))
    left = left_after(&h.cuts, used)
    if left < h.cuts.alive:
        put_best_first(h.order, h.value, h.cuts.alive)
        h.cuts.alive = left


cdef void settle(work_t* w, const halving_t* h, const options_t* o) noexcept nogil:
    """Set the mean result of each plan that was played on.

    The result expected at its end counts as `static_worlds` of them.
    """
    cdef plan_t* plan
    cdef int i
    for i in range(h.n):
        plan = &w.plans[h.plan[i]]
        if plan.visits and o.is_tree:
            plan.result = h.value[i]
        elif plan.visits:
            plan.result = h.value[i] / (plan.visits + o.static_worlds)


cdef int best_plan(
    work_t* w, turn_tree_t* tree, const options_t* o, int64_t iterations, int64_t* visits
) noexcept nogil:
    """Return the best of the plans in `w.plans`, and set their visits and results.

    `iterations` bounds the visits of a tree; `visits` gets their number.
    """
    cdef halving_t h
    cdef int64_t most = iterations if o.is_tree else w.max_worlds
    cdef int32_t passes
    start_halving(w, &h, o, iterations)
    visits[0] = 0
    if o.turns == 0:
        return h.plan[0]
    if o.is_tree:
        start_tree(w, tree, &h)
    if w.steps is not NULL and w.steps.start is not NULL:
        w.steps.start(w.steps.owner, &h)
    while h.cuts.round < h.cuts.rounds:
        passes = passes_due(w, &h, o, iterations)
        if passes < 1:
            break
        play_round(w, tree, o, &h, passes)
        end_round(w, &h, passes, <float>h.done / most)
    settle(w, &h, o)
    put_best_first(h.order, h.value, h.cuts.alive)
    if o.is_tree:
        visits[0] = h.done
    return h.plan[h.order[0]]
