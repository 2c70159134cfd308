"""Monte-Carlo tree search over whole turns; _mcts.pxd says what its structs are."""

from libc.math cimport expf, sqrtf
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from locmsim._core cimport state_end_turn, state_t, state_winner
from locmsim._platform cimport now_ns_
from locmsim.search._beam cimport ranked_plans
from locmsim.search._evaluation cimport squashed
from locmsim.search._mcts cimport node_t, tree_t, turns_t
from locmsim.search._work cimport (
    MAX_PLANS,
    MAX_REPLY_WIDTH,
    narrow_turns,
    options_t,
    put_world,
    result_of,
    work_t,
    world_of,
)


cdef enum:
    MAX_DEPTH = 32              # turns that a visit follows


cdef void set_priors(tree_t* tree, const turns_t* turns, float temperature) noexcept nogil:
    """The priors of the turns of a position: the better a turn's value, the higher."""
    cdef node_t* nodes = &tree.nodes[turns.first]
    cdef float best = -1, total = 0
    cdef int i
    for i in range(turns.n):
        best = max(best, nodes[i].value)
    for i in range(turns.n):
        nodes[i].prior = expf((nodes[i].value - best) / temperature)
        total += nodes[i].prior
    for i in range(turns.n):
        nodes[i].prior /= total


cdef node_t* add_node(tree_t* tree, const state_t* s, float value) noexcept nogil:
    cdef node_t* node = &tree.nodes[tree.n_nodes]
    memset(node, 0, sizeof(node_t))
    node.s = s[0]
    node.value = value
    tree.n_nodes += 1
    return node


cdef bint expand(
    work_t* w, tree_t* tree, const options_t* o, const state_t* s, turns_t* turns
) noexcept nogil:
    """Look for the turns of the player to move; False if there is no room for them."""
    cdef state_t kept[MAX_REPLY_WIDTH]
    cdef float values[MAX_REPLY_WIDTH]
    cdef int who = s.turn & 1
    cdef int n, i
    if tree.n_nodes + MAX_REPLY_WIDTH > tree.max_nodes:
        return False
    n = narrow_turns(w, s, kept, values)
    turns.first = tree.n_nodes
    turns.n = n
    for i in range(n):
        if w.network is NULL and state_winner(&kept[i]) < 0:
            add_node(tree, &kept[i], squashed(values[i], w.eval))
        else:
            add_node(tree, &kept[i], result_of(w, &kept[i], who))
    set_priors(tree, turns, o.temperature)
    return True


cdef inline float mean_result(const node_t* node, float static_visits) noexcept nogil:
    """The mean of the results of visits and of the expected one, which counts as so many."""
    if node.visits == 0:
        return node.value
    return <float>(
        (node.total + static_visits * node.value) / (node.visits + static_visits))


cdef node_t* select_turn(tree_t* tree, const turns_t* turns, const options_t* o) noexcept nogil:
    """The turn with the highest sum of mean result and of exploration by prior (PUCT)."""
    cdef node_t* nodes = &tree.nodes[turns.first]
    cdef node_t* best = nodes
    cdef float highest = -1e9, root, x
    cdef int visits = 1, i
    for i in range(turns.n):
        visits += nodes[i].visits
    root = o.exploration * sqrtf(<float>visits)
    for i in range(turns.n):
        x = mean_result(&nodes[i], 1) + root * nodes[i].prior / (1 + nodes[i].visits)
        if x > highest:
            highest = x
            best = &nodes[i]
    return best


cdef node_t* best_by_value(tree_t* tree, const turns_t* turns) noexcept nogil:
    cdef node_t* nodes = &tree.nodes[turns.first]
    cdef node_t* best = nodes
    cdef int i
    for i in range(1, turns.n):
        if nodes[i].value > best.value:
            best = &nodes[i]
    return best


cdef void visit(
    work_t* w, tree_t* tree, const options_t* o, node_t* plan, int number
) noexcept nogil:
    """Follow a plan in one of the worlds: through the turns that are known by PUCT, and then
    through new ones, each the best by its value, until `turns` have followed the plan and its own
    player has moved last."""
    cdef node_t* path[MAX_DEPTH]
    cdef node_t* node = plan
    cdef int world = plan.visits % w.max_worlds
    cdef turns_t* turns = &tree.replies[number * w.max_worlds + world]
    cdef state_t s = plan.s
    cdef float result
    cdef bint new = False
    cdef int depth = 0, i
    put_world(w, &s, world_of(w, world))
    while True:
        state_end_turn(&s, w.table)
        if state_winner(&s) >= 0:
            # For the player of `node`, whose turn has just ended.
            result = 1 if s.p[(w.who + depth) & 1].won else -1
            break
        if turns.n == 0:
            if not expand(w, tree, o, &s, turns):
                result = node.value
                break
            new = True
        node = best_by_value(tree, turns) if new else select_turn(tree, turns, o)
        path[depth] = node
        depth += 1
        result = node.value
        if state_winner(&node.s) >= 0 or depth == MAX_DEPTH:
            break
        if new and depth >= o.turns and (depth - o.turns) % 2 == 0:
            break
        s = node.s
        turns = &node.next
    # `result` is for the player of the last turn.
    for i in range(depth - 1, -1, -1):
        path[i].visits += 1
        path[i].total += result
        result = -result
    plan.visits += 1
    plan.total += result


cdef void put_best_first(
    const tree_t* tree, int32_t* plans, int n, float static_visits
) noexcept nogil:
    """Sort plans by their mean results; those of the same one keep their order."""
    cdef int32_t plan
    cdef float mean
    cdef int i, j
    for i in range(1, n):
        plan = plans[i]
        mean = mean_result(&tree.nodes[plan], static_visits)
        j = i
        while j > 0 and mean_result(&tree.nodes[plans[j - 1]], static_visits) < mean:
            plans[j] = plans[j - 1]
            j -= 1
        plans[j] = plan


cdef int64_t tree_search(
    work_t* w, tree_t* tree, const options_t* o, int64_t iterations, int* best
) noexcept nogil:
    cdef int32_t order[MAX_PLANS]           # of plans in `w.plans`
    cdef int32_t plans[MAX_PLANS]           # nodes, the best first
    cdef int64_t now, start = now_ns_(), nodes = w.budget.nodes, before, done = 0
    # The nodes of a visit: a guess at first. A small budget is for fewer plans.
    cdef int64_t cost = 24 * o.turns * w.reply_width
    cdef int n, alive, rounds = 0, round = 0, i
    cdef float used
    cdef node_t* plan
    n = ranked_plans(w, o.plans, order)
    while n > 1 and (cost * n > w.budget.nodes or n > iterations):
        n >>= 1
    tree.n_nodes = 0
    for i in range(n):
        add_node(tree, &w.ends[order[i]], w.plans[order[i]].result)
        plans[i] = i
    memset(tree.replies, 0, n * w.max_worlds * sizeof(turns_t))
    alive = n
    while (1 << rounds) < n:
        rounds += 1
    # Sequential halving: after each part of the budget the worse half drops out.
    while round < rounds and w.budget.nodes >= cost * alive and done + alive <= iterations:
        before = w.budget.nodes
        for i in range(alive):
            if w.failed or now_ns_() >= w.budget.deadline:
                break
            visit(w, tree, o, &tree.nodes[plans[i]], plans[i])
            w.budget.nodes -= 1             # a visit may need none
            done += 1
        cost = 1 + (before - w.budget.nodes) // alive
        used = max(<float>done / iterations, <float>(nodes - w.budget.nodes) / nodes)
        now = now_ns_()
        if w.failed or now >= w.budget.deadline:
            used = 1
        else:
            used = max(used, <float>(now - start) / (w.budget.deadline - start))
        while round < rounds and used * rounds >= round + 1:
            round += 1
            put_best_first(tree, plans, alive, o.static_worlds)
            alive = (alive + 1) >> 1
    put_best_first(tree, plans, alive, o.static_worlds)
    for i in range(n):
        plan = &tree.nodes[i]
        if plan.visits:
            w.plans[order[i]].visits = plan.visits
            w.plans[order[i]].result = mean_result(plan, o.static_worlds)
    best[0] = order[plans[0]]
    return done
