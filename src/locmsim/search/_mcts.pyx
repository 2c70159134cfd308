"""Monte-Carlo tree search over whole turns; _mcts.pxd describes its structs."""

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from locmsim._core cimport state_end_turn, state_t, state_winner
from locmsim._math cimport exp32
from locmsim.search._beam cimport halving_t, end_round, put_best_first, start_halving
from locmsim.search._evaluation cimport squashed
from locmsim.search._mcts cimport MAX_DEPTH, node_t, tree_t, turns_t
from locmsim.search._work cimport (
    MAX_PLANS,
    MAX_REPLY_WIDTH,
    is_late,
    narrow_turns,
    options_t,
    put_world,
    result_of,
    work_t,
    world_of,
)


cdef void set_priors(tree_t* tree, const turns_t* turns, float temperature) noexcept nogil:
    """Set the priors of a position's turns: the better a turn's value, the higher its prior."""
    cdef node_t* nodes = &tree.nodes[turns.first]
    cdef float best = -1, total = 0
    cdef int i
    for i in range(turns.n):
        best = max(best, nodes[i].value)
    for i in range(turns.n):
        nodes[i].prior = exp32((nodes[i].value - best) / temperature)
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
    """Find the turns of the player to move; False if there is no room for them."""
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


cdef float mean_result(const node_t* node, float static_visits) noexcept nogil:
    """Return the mean of all results, where the expected one counts as `static_visits` visits."""
    if node.visits == 0:
        return node.value
    return <float>(
        (node.total + static_visits * node.value) / (node.visits + static_visits))


cdef node_t* select_turn(tree_t* tree, const turns_t* turns, const options_t* o) noexcept nogil:
    """Return the turn with the highest sum of mean result and exploration term (PUCT)."""
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
    """Follow a plan in one of the worlds.

    PUCT chooses among known turns; after them the best new turn by value follows, until `turns`
    have followed the plan and its own player has moved last.
    """
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


cdef int64_t tree_search(
    work_t* w, tree_t* tree, const options_t* o, int64_t iterations, int* best
) noexcept nogil:
    cdef int32_t order[MAX_PLANS]           # of plans in `w.plans`
    cdef int32_t plans[MAX_PLANS]           # their nodes, the best first
    cdef float means[MAX_PLANS]             # ... and mean results
    cdef halving_t h
    cdef int64_t done = 0
    cdef int n, i, k
    start_halving(w, &h, o.turns, o.plans, iterations, order)
    n = h.alive
    tree.n_nodes = 0
    for i in range(n):
        means[i] = w.plans[order[i]].result
        add_node(tree, &w.ends[order[i]], means[i])
        plans[i] = i
    memset(tree.replies, 0, n * w.max_worlds * sizeof(turns_t))
    while (
        h.round < h.rounds and w.budget.nodes >= h.cost * h.alive and done + h.alive <= iterations
    ):
        for i in range(h.alive):
            if is_late(w):
                break
            k = plans[i]
            visit(w, tree, o, &tree.nodes[k], k)
            means[k] = mean_result(&tree.nodes[k], o.static_worlds)
            w.budget.nodes -= 1             # so that visits without new nodes end, too
            done += 1
        end_round(w, &h, <float>done / iterations, plans, means)
    put_best_first(plans, means, h.alive)
    for i in range(n):
        if tree.nodes[i].visits:
            w.plans[order[i]].visits = tree.nodes[i].visits
            w.plans[order[i]].result = means[i]
    best[0] = order[plans[0]]
    return done
