# Monte-Carlo tree search over whole turns. Part of _engine.pyx.
#
# The edges of the root are the plans of a beam search, which are legal in every sampled world.
# Below a plan, each world has its own tree of turns, which a narrow beam finds. In a visit, PUCT
# chooses among known turns; after them the best new turn by value follows, until `turns` have
# followed the plan and its own player has moved last.

cdef inline float mean_with(
    double total, int32_t visits, float expected, float weight
) noexcept nogil:
    """Return the mean of some results, where the expected one counts as `weight` of them."""
    return <float>((total + weight * expected) / (visits + weight))


# ---- the tree ------------------------------------------------------------------------------------

cdef void add_node(turn_tree_t* tree, const state_t* s, float value) noexcept nogil:
    cdef turn_node_t* node = &tree.nodes[tree.n_nodes]
    memset(node, 0, sizeof(turn_node_t))
    node.s = s[0]
    node.value = value
    tree.n_nodes += 1


cdef void start_tree(const work_t* w, turn_tree_t* tree, const halving_t* h) noexcept nogil:
    """Begin a tree for the plans that are compared."""
    cdef int i
    tree.n_nodes = 0
    for i in range(h.n):
        add_node(tree, &w.ends[h.plan[i]], w.plans[h.plan[i]].result)
    memset(tree.replies, 0, h.n * w.max_worlds * sizeof(turns_t))


cdef void set_priors(turn_tree_t* tree, const turns_t* turns, float temperature) noexcept nogil:
    """Set the priors of a position's turns: the better a turn's value, the higher its prior."""
    cdef turn_node_t* nodes = &tree.nodes[turns.first]
    cdef float best = -1, total = 0
    cdef int i
    for i in range(turns.n):
        best = max(best, nodes[i].value)
    for i in range(turns.n):
        nodes[i].prior = exp32((nodes[i].value - best) / temperature)
        total += nodes[i].prior
    for i in range(turns.n):
        nodes[i].prior /= total


cdef void expand(
    work_t* w, turn_tree_t* tree, const options_t* o, const state_t* s, turns_t* turns
) noexcept nogil:
    """Add the turns of the player to move."""
    cdef turn_ends_t ends
    cdef const state_t* end
    cdef int who = s.turn & 1
    cdef int i
    narrow_turns(w, s, &ends)
    turns.first = tree.n_nodes
    turns.n = ends.n
    for i in range(ends.n):
        end = &ends.s[ends.places[i]]
        if w.network is NULL and state_winner(end) < 0:
            add_node(tree, end, squashed(ends.values[i], w.eval))
        else:
            add_node(tree, end, result_of(w, end, who))
    set_priors(tree, turns, o.temperature)


cdef turn_node_t* select_turn(
    turn_tree_t* tree, const turns_t* turns, const options_t* o
) noexcept nogil:
    """Return the turn with the highest sum of mean result and exploration term (PUCT)."""
    cdef turn_node_t* nodes = &tree.nodes[turns.first]
    cdef turn_node_t* best = nodes
    cdef float highest = -1e9, root, x
    cdef int visits = 1, i
    for i in range(turns.n):
        visits += nodes[i].visits
    root = o.exploration * sqrtf(<float>visits)
    for i in range(turns.n):
        x = nodes[i].value
        if nodes[i].visits:
            x = mean_with(nodes[i].total, nodes[i].visits, x, 1)
        x += root * nodes[i].prior / (1 + nodes[i].visits)
        if x > highest:
            highest = x
            best = &nodes[i]
    return best


# ---- a visit -------------------------------------------------------------------------------------

cdef void start_visit(work_t* w, turn_tree_t* tree, visit_t* v, int place) noexcept nogil:
    cdef turn_node_t* plan = &tree.nodes[place]
    cdef int world = plan.visits % w.max_worlds
    v.node = plan
    v.turns = &tree.replies[place * w.max_worlds + world]
    v.s = plan.s
    v.depth = 0
    v.new = v.over = False
    put_world(w, &v.s, sampled_world(w, world))


cdef void enter(const options_t* o, visit_t* v, turn_node_t* node) noexcept nogil:
    """Enter a turn; it may be the last one of a visit."""
    v.node = node
    v.path[v.depth] = node
    v.depth += 1
    v.result = node.value
    v.over = (
        state_winner(&node.s) >= 0 or v.depth == MAX_TURNS
        or v.new and v.depth >= o.turns and (v.depth - o.turns) % 2 == 0)
    if not v.over:
        v.s = node.s
        v.turns = &node.next


cdef void enter_new(turn_tree_t* tree, const options_t* o, visit_t* v) noexcept nogil:
    """Enter the best by value of the turns that were added for a visit."""
    cdef turn_node_t* nodes = &tree.nodes[v.turns.first]
    cdef turn_node_t* best = nodes
    cdef int i
    for i in range(1, v.turns.n):
        if nodes[i].value > best.value:
            best = &nodes[i]
    v.new = True
    enter(o, v, best)


cdef bint descend(
    const work_t* w, turn_tree_t* tree, const options_t* o, visit_t* v, int waiting
) noexcept nogil:
    """Follow known turns; return whether new ones are needed. `waiting` other visits need some."""
    while not v.over:
        state_end_turn(&v.s, w.table)
        if state_winner(&v.s) >= 0:
            # For the player of `node`, whose turn has just ended.
            v.result = 1 if v.s.p[(w.who + v.depth) & 1].won else -1
            v.over = True
        elif v.turns.n:
            enter(o, v, select_turn(tree, v.turns, o))
        elif tree.n_nodes + (1 + waiting) * MAX_REPLY_WIDTH <= tree.max_nodes:
            return True
        else:
            v.result = v.node.value
            v.over = True
    return False


cdef void end_visit(work_t* w, visit_t* v, turn_node_t* plan) noexcept nogil:
    cdef float result = v.result
    cdef int i
    for i in range(v.depth - 1, -1, -1):
        v.path[i].visits += 1
        v.path[i].total += result
        result = -result
    plan.visits += 1
    plan.total += result
    w.budget.nodes -= 1             # so that visits without new nodes end, too


cdef void visit(work_t* w, turn_tree_t* tree, const options_t* o, int place) noexcept nogil:
    """Follow the plan of a place in its next world, and add the result."""
    cdef visit_t v
    start_visit(w, tree, &v, place)
    while descend(w, tree, o, &v, 0):
        expand(w, tree, o, &v.s, v.turns)
        enter_new(tree, o, &v)
    end_visit(w, &v, &tree.nodes[place])
