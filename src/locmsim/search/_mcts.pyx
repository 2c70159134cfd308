"""Monte-Carlo tree search; _mcts.pxd says what its structs are."""

from libc.math cimport expf, sqrtf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from locmsim._core cimport (
    MAX_ACTIONS,
    PASS,
    state_apply,
    state_end_turn,
    state_list,
    state_play_turn,
    state_t,
    state_winner,
    stream_start,
)
from locmsim._platform cimport now_ns_
from locmsim.search._evaluation cimport MAX_VALUE, squashed
from locmsim.search._keys cimport mixed, turn_hash
from locmsim.search._mcts cimport tree_t, node_t, edge_t
from locmsim.search._wins cimport can_kill
from locmsim.search._work cimport (
    MAX_TURN_ACTIONS,
    options_t,
    work_t,
    spend,
    put_world,
    value_of,
    greedy_turn,
    world_of,
    play_on,
)


cdef int32_t find_node(tree_t* tree, const state_t* s, uint64_t hash, bint ended) noexcept nogil:
    """The node of a position, made if need be; -1 if there is no room."""
    cdef uint64_t i = hash & tree.places_mask
    cdef node_t* node
    while tree.places[i] >= 0:
        if tree.nodes[tree.places[i]].hash == hash:
            return tree.places[i]
        i = (i + 1) & tree.places_mask
    if tree.n_nodes == tree.max_nodes:
        return -1
    tree.places[i] = tree.n_nodes
    node = &tree.nodes[tree.n_nodes]
    node.s = s[0]
    node.hash = hash
    node.total = 0
    node.visits = 0
    node.first = 0
    node.n_edges = -1
    node.ended = ended
    tree.n_nodes += 1
    return tree.n_nodes - 1


cdef bint expand(
    work_t* w, tree_t* tree, node_t* node, const options_t* o, bint* won
) noexcept nogil:
    """Give a node its edges, sorted by the static values of where they lead. False if there is no
    room, or no budget. Sets `won` for an edge that wins, which comes first."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef float values[MAX_ACTIONS + 1]
    cdef state_t child
    cdef edge_t* edges = &tree.edges[tree.n_edges]
    cdef int n = state_list(&node.s, w.table, actions)
    cdef int i, j, k = 0
    cdef float value, total = 0
    if tree.n_edges + n > tree.max_edges:
        return False
    for i in range(n):
        child = node.s
        if actions[i] == PASS:
            value = value_of(w, &child, w.who)
        else:
            if not spend(w):
                return False
            state_apply(&child, w.table, actions[i])
            if child.p[1 - w.who].won:
                continue
            if child.p[w.who].won or can_kill(&child, w.table):
                value = MAX_VALUE
                won[0] = True
            else:
                value = value_of(w, &child, w.who)
        j = k
        while j > 0 and values[j - 1] < value:
            values[j] = values[j - 1]
            edges[j] = edges[j - 1]
            j -= 1
        values[j] = value
        edges[j].action = actions[i]
        edges[j].node = -1
        edges[j].visits = 0
        k += 1
    for i in range(k):
        edges[i].prior = expf((values[i] - values[0]) / o.temperature)
        total += edges[i].prior
    for i in range(k):
        edges[i].prior /= total
    node.first = tree.n_edges
    node.n_edges = k
    tree.n_edges += k
    return True


cdef edge_t* select_edge(tree_t* tree, const node_t* node, const options_t* o) noexcept nogil:
    """The edge with the highest sum of mean result and of exploration by prior (PUCT), among the
    first ones: the more visits the more of them (progressive widening)."""
    cdef edge_t* edges = &tree.edges[node.first]
    cdef edge_t* best = edges
    cdef float root = sqrtf(<float>node.visits)
    cdef int n = 1 + <int>(o.widening * root)
    cdef float mean = <float>(node.total / node.visits) if node.visits else 0
    cdef float highest = -1e9, x
    cdef int i
    if n > node.n_edges:
        n = node.n_edges
    for i in range(n):
        x = mean
        if edges[i].visits:
            x = <float>(tree.nodes[edges[i].node].total / tree.nodes[edges[i].node].visits)
        x += o.exploration * edges[i].prior * root / (1 + edges[i].visits)
        if x > highest:
            highest = x
            best = &edges[i]
    return best


cdef float random_replies(
    work_t* w, const state_t* end, const state_t* world, int playouts, uint64_t* stream
) noexcept nogil:
    """The mean value after random turns of the opponent, as a result from -1 to 1."""
    cdef state_t begin = end[0]
    cdef state_t s
    cdef float total = 0
    put_world(w, &begin, world)
    state_end_turn(&begin, w.table)
    if state_winner(&begin) >= 0:
        return 1 if begin.p[w.who].won else -1
    for _ in range(playouts):
        s = begin
        state_play_turn(&s, w.table, stream)
        total += value_of(w, &s, 1 - w.who)
    w.budget.nodes -= playouts
    return -squashed(total / playouts, w.eval)


cdef float leaf_value(
    work_t* w, node_t* node, const options_t* o, uint64_t* stream
) noexcept nogil:
    """The result of a visit that goes no further in the tree."""
    cdef const state_t* world = world_of(w, min(node.visits % w.max_worlds, w.n_worlds))
    cdef state_t s
    if o.playouts:
        return random_replies(w, &node.s, world, o.playouts, stream)
    if node.ended:
        return play_on(w, &node.s, world, o.turns)
    s = node.s
    greedy_turn(w, &s, NULL)
    if s.p[w.who].won:
        return 1
    return play_on(w, &s, world, o.turns)


cdef bint follow(work_t* w, state_t* s, const node_t* node, uint8_t* action) noexcept nogil:
    """Apply the action that leads from `s` to a node. The node may have been made by actions in
    another order, in which creatures have other places and so actions other numbers."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef int n = state_list(s, w.table, actions), i
    for i in range(1, n):
        child = s[0]
        state_apply(&child, w.table, actions[i])
        if turn_hash(&child, w.table, w.card_keys) == node.hash:
            s[0] = child
            action[0] = actions[i]
            return True
    return False


cdef int winning_turn(
    work_t* w, const tree_t* tree, const int32_t* path, int depth, uint8_t* actions
) noexcept nogil:
    """The actions along a path of nodes, and the winning one at its end; their number."""
    cdef uint8_t legal[MAX_ACTIONS + 1]
    cdef state_t s = w.root
    cdef state_t child
    cdef int n, i
    for i in range(depth):
        follow(w, &s, &tree.nodes[path[i + 1]], &actions[i])
    n = state_list(&s, w.table, legal)
    for i in range(1, n):
        child = s
        state_apply(&child, w.table, legal[i])
        if not child.p[1 - w.who].won and (child.p[w.who].won or can_kill(&child, w.table)):
            actions[depth] = legal[i]
            return depth + 1
    return depth


cdef bint visit(
    work_t* w, tree_t* tree, const options_t* o, uint64_t* stream, uint8_t* actions
) noexcept nogil:
    """One descent. False if it found a winning turn, which is then in `actions`, `w.n_win` long."""
    cdef int32_t path[MAX_TURN_ACTIONS]
    cdef node_t* node = &tree.nodes[0]
    cdef edge_t* edge
    cdef state_t child
    cdef float result
    cdef int32_t at = 0
    cdef int depth = 0, i
    cdef uint64_t hash
    cdef bint won = False
    path[0] = 0
    while True:
        if node.ended or depth == MAX_TURN_ACTIONS - 1:
            break
        if node.n_edges < 0:
            if node.visits == 0 and at != 0:
                break                       # the first visit to a node goes no further
            if not expand(w, tree, node, o, &won):
                break
            if won:
                w.won = True
                w.n_win = winning_turn(w, tree, path, depth, actions)
                return False
        edge = select_edge(tree, node, o)
        if edge.node < 0:
            child = node.s
            if edge.action == PASS:
                hash = mixed(node.hash)
            else:
                state_apply(&child, w.table, edge.action)
                hash = turn_hash(&child, w.table, w.card_keys)
            edge.node = find_node(tree, &child, hash, edge.action == PASS)
            if edge.node < 0:
                break
        edge.visits += 1
        at = edge.node
        node = &tree.nodes[at]
        depth += 1
        path[depth] = at
    result = leaf_value(w, node, o, stream)
    for i in range(depth + 1):
        tree.nodes[path[i]].visits += 1
        tree.nodes[path[i]].total += result
    w.depth = max(w.depth, depth)
    return True


cdef int64_t tree_search(
    work_t* w, tree_t* tree, const options_t* o, int64_t iterations, uint8_t* actions
) noexcept nogil:
    """Visits until the budget is used up, or a winning turn is found; their number."""
    cdef uint64_t stream = stream_start(w.world_seed, 1ULL << 32)
    cdef int64_t done = 0
    cdef uint64_t i
    for i in range(tree.places_mask + 1):
        tree.places[i] = -1
    tree.n_nodes = 0
    tree.n_edges = 0
    find_node(tree, &w.root, turn_hash(&w.root, w.table, w.card_keys), False)
    while done < iterations and not w.budget.over and w.budget.nodes > 0:
        if now_ns_() >= w.budget.deadline:
            break
        if not visit(w, tree, o, &stream, actions):
            break
        w.budget.nodes -= 1             # a reply may need none
        done += 1
    return done


cdef int most_visited(
    work_t* w, tree_t* tree, uint8_t* path, float* value, int32_t* visits
) noexcept nogil:
    """The turn along the most visited edges, finished greedily where visits are few."""
    cdef node_t* node = &tree.nodes[0]
    cdef edge_t* edge
    cdef edge_t* best
    cdef state_t s = w.root
    cdef int n = 0, i
    if node.visits:
        value[0] = <float>(node.total / node.visits)
    while not node.ended and node.n_edges > 0 and n < MAX_TURN_ACTIONS:
        best = NULL
        for i in range(node.n_edges):
            edge = &tree.edges[node.first + i]
            if edge.node >= 0 and (best is NULL or edge.visits > best.visits):
                best = edge
        if best is NULL:
            break
        if n == 0:
            visits[0] = best.visits
            value[0] = <float>(tree.nodes[best.node].total / max(1, tree.nodes[best.node].visits))
        node = &tree.nodes[best.node]
        if not node.ended:
            if not follow(w, &s, node, &path[n]):
                return n
            n += 1
    if not node.ended and n < MAX_TURN_ACTIONS // 2:
        n += greedy_turn(w, &s, &path[n])
    return n
