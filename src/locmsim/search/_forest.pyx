"""Search trees for many positions together, guided by one evaluator: `Forest`.

Its loops run without the GIL; between them, the owner of the forest evaluates all leaves in one
batch. A node stands for a sequence of actions, an edge for an action as players see it: the card
and its target, not its place in a hand. The player to move at a node has different actions in
different worlds, and each simulation chooses among those of its own world. A simulation ends at the
first action that the node does not know yet; the evaluator then returns priors and a value.

tests/reference_forest.py is a slow reference implementation in Python.
"""

cimport cython
from libc.math cimport sqrt
from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from locmsim._batch cimport StateArray
from locmsim._core cimport (
    ATTACK,
    MAX_ACTIONS,
    MAX_BOARD,
    OCCUPIED,
    PASS,
    Determinizer,
    decode_action,
    is_copy_id,
    move_t,
    num_actions,
    player_t,
    short_table_t,
    state_apply,
    state_deal,
    state_list,
    state_t,
    state_winner,
    stream_start,
    table_of_short,
    table_t,
    unknown_t,
)
from locmsim._math cimport exp64, log64, tanh64
from locmsim.game._layout cimport (
    known_apply,
    known_resume,
    known_t,
    layout_item,
    layout_size,
    past_of,
    past_t,
    write_known,
    write_mask,
)
from locmsim.game._turn_view cimport TurnView, shorten_cards
from locmsim.networks._network cimport Network, network_value
from locmsim.search._engine cimport cuts_t, left_after, start_cuts, turn_seed
from locmsim.search._wins cimport can_kill

from locmsim.game._layout import LAYOUT_CODES

__all__ = ["Forest"]

cdef enum:
    MAX_SIMULATION = 128        # actions of a simulation; a longer one is cut off and evaluated
    FIRST_EDGES = 64            # capacity of a new tree

cdef double LEAST_PRIOR = 1e-30     # its logarithm is finite

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define fetch_(p) __builtin_prefetch(p)
    #else
    #define fetch_(p) ((void)(p))
    #endif
    """
    void fetch_(const void* p) noexcept nogil


cdef inline void fetch(const void* start, size_t size) noexcept nogil:
    """Prefetch memory: waiting for it is most of the cost of a large forest."""
    cdef size_t i
    for i in range(0, size, 64):
        fetch_(<const char*>start + i)


ctypedef struct edge_t:         # 40 bytes: thousands of trees are larger than any cache
    double prior                # the mean of `n_priors`
    double total                # results to the player to move
    uint32_t key                # the action as everybody sees it, see `key_of`
    int32_t next                # next edge of the same node; -1 after the last one
    int32_t child               # node, or -1
    int32_t visits              # simulations through this edge,
    int32_t n_priors
    uint16_t waiting            # ... of which these wait for their evaluation
    uint8_t action              # action number in the world where it was first seen
    uint8_t _pad

ctypedef struct node_t:
    int32_t first, last         # edges, or -1
    int32_t visits              # number of results
    double total                # their sum, for the player to move
    double value                # the first result
    uint8_t who                 # the player to move

ctypedef struct tree_t:
    state_t root                # with arbitrary hidden cards
    const table_t* table
    const unknown_t* unknown
    past_t past
    uint8_t copies[2]           # slots of creatures that are area copies
    uint64_t seed
    node_t* nodes
    edge_t* edges               # those of the root first
    int32_t n_nodes, max_nodes, n_edges, max_edges
    int32_t n_root              # edges of the root
    int32_t wanted, started     # simulations
    cuts_t cuts                 # root actions that are still visited, one pass after the other
    int32_t level               # visits of each of them before this pass
    int32_t in_pass             # how many this pass has visited

ctypedef struct leaf_t:
    int32_t tree
    int32_t row                 # row of the evaluator's input; -1 if the value is exact
    bint ended                  # the evaluator is shown the end of the last turn, its player's view
    int32_t node                # -1 if the game is over
    int32_t depth
    int32_t edges[MAX_SIMULATION]    # the edges to it
    int32_t nodes[MAX_SIMULATION]
    int32_t n_legal             # actions,
    uint8_t legal[MAX_ACTIONS + 1]
    uint8_t same[MAX_ACTIONS + 1]       # ... index of each among the different actions:
    int32_t n                   # different actions
    uint8_t actions[MAX_ACTIONS + 1]
    uint32_t keys[MAX_ACTIONS + 1]
    double value                # to `who`
    uint8_t who
    double predicted            # by the network of `mix`

ctypedef struct simulation_t:   # a way through the tree in one world
    state_t s                   # the position at `at`
    state_t before              # ... before the last action, if that was PASS
    const table_t* t
    known_t known               # what each player has been shown; only where leaves are observed
    int32_t at                  # node
    bint passed                 # whether the last action was PASS
    bint observed               # whether leaves are observations, not states

ctypedef struct forest_options_t:
    bint gumbel                 # Gumbel at the root; else PUCT there, too
    int32_t considered
    double exploration
    double visit_offset
    double value_scale
    double temperature
    double mix


cdef inline uint32_t key_of(const state_t* s, const table_t* t, int action) noexcept nogil:
    """Return the key of an action as everybody sees it: equal cards in a hand have equal keys."""
    cdef move_t m
    if action == PASS:
        return 0
    m = decode_action(t, action)
    if m.kind == ATTACK:
        return <uint32_t>m.kind << 28 | <uint32_t>m.source << 8 | m.target
    return <uint32_t>m.kind << 28 | <uint32_t>t.cards[
        s.p[s.turn & 1].hand >> 8 * m.source & 255].base_id << 8 | m.target


cdef inline void list_actions(leaf_t* leaf, const state_t* s, const table_t* t) noexcept nogil:
    """List the legal actions; copies of a card in hand count as one."""
    cdef uint64_t seen[4]           # a bit for each hash of a key
    cdef uint32_t key, hash
    cdef int i, j
    memset(seen, 0, sizeof(seen))
    leaf.n_legal = state_list(s, t, leaf.legal)
    leaf.n = 0
    for i in range(leaf.n_legal):
        key = key_of(s, t, leaf.legal[i])
        hash = (key * 0x9E3779B1U) >> 24
        j = leaf.n
        if seen[hash >> 6] >> (hash & 63) & 1:
            j = 0
            while j < leaf.n and leaf.keys[j] != key:
                j += 1
        seen[hash >> 6] |= <uint64_t>1 << (hash & 63)
        if j == leaf.n:
            leaf.keys[j] = key
            leaf.actions[j] = leaf.legal[i]
            leaf.n = j + 1
        leaf.same[i] = <uint8_t>j


cdef inline int find_edge(const tree_t* tree, int first, int hint, uint32_t key) noexcept nogil:
    """Return the edge with a key, or -1; the search begins at `hint` (-1: at the first edge)."""
    cdef int e = hint
    while e >= 0:
        if tree.edges[e].key == key:
            return e
        e = tree.edges[e].next
    if hint == first:
        return -1
    e = first
    while e != hint:
        if tree.edges[e].key == key:
            return e
        e = tree.edges[e].next
    return -1


cdef int new_node(tree_t* tree, int who) noexcept nogil:
    """Add a node; -1 if memory runs out."""
    cdef int32_t size
    cdef void* grown
    cdef node_t* node
    if tree.n_nodes == tree.max_nodes:
        size = 2 * tree.max_nodes
        grown = realloc(tree.nodes, size * sizeof(node_t))
        if grown is NULL:
            return -1
        tree.nodes = <node_t*>grown
        tree.max_nodes = size
    node = &tree.nodes[tree.n_nodes]
    memset(node, 0, sizeof(node_t))
    node.first = node.last = -1
    node.who = <uint8_t>who
    tree.n_nodes += 1
    return tree.n_nodes - 1


cdef int new_edge(tree_t* tree, int at, uint32_t key, int action) noexcept nogil:
    """Add an edge to a node; -1 if memory runs out."""
    cdef int32_t size
    cdef void* grown
    cdef edge_t* edge
    cdef node_t* node = &tree.nodes[at]
    cdef int e = tree.n_edges
    if e == tree.max_edges:
        size = 2 * tree.max_edges
        grown = realloc(tree.edges, size * sizeof(edge_t))
        if grown is NULL:
            return -1
        tree.edges = <edge_t*>grown
        tree.max_edges = size
    edge = &tree.edges[e]
    memset(edge, 0, sizeof(edge_t))
    edge.key = key
    edge.next = edge.child = -1
    edge.action = <uint8_t>action
    if node.first < 0:
        node.first = e
    else:
        tree.edges[node.last].next = e
    node.last = e
    tree.n_edges = e + 1
    return e


# ---- the root ------------------------------------------------------------------------------------

cdef inline double mean_of(const edge_t* edge) noexcept nogil:
    """Return the mean result of the visits; those that still wait count as lost."""
    return (edge.total - edge.waiting) / edge.visits


cdef inline double log_prior(const edge_t* edge) noexcept nogil:
    return log64(edge.prior if edge.prior > LEAST_PRIOR else LEAST_PRIOR)


cdef inline double mixed_value(const tree_t* tree) noexcept nogil:
    """Return the assumed value of root actions that were not visited."""
    cdef const node_t* root = &tree.nodes[0]
    cdef double weight = 0, total = 0
    cdef int e, visits = 0
    for e in range(tree.n_root):
        if tree.edges[e].visits:
            visits += tree.edges[e].visits
            weight += tree.edges[e].prior
            total += tree.edges[e].prior * mean_of(&tree.edges[e])
    if visits == 0 or weight <= 0:
        return root.value
    return (root.value + visits * total / weight) / (1 + visits)


@cython.final
cdef class Forest:
    """Grows trees of one rule set, each for the position of a `Determinizer`.

    Parameters
    ----------
    worlds : sequence of Determinizer
        The view of the player to move at the root of each tree.
    views : sequence of TurnView or None
        What the player to move has been shown, for layouts.
    seeds : array of uint64
        The seed of each tree's worlds.
    noise : array of float64 (trees, actions)
        Added to the logarithms of the priors at the root.
    layout : str or None
        The layout of the observations; with None, leaves are states.
    leaves : int
        Maximum number of simulations of a tree in one round.
    turn_ends : bool
        Whether leaves are evaluated as ends of turns: those after PASS by the state before it.
    network : Network or None
        Also predicts results at leaves, with the weight `mix`.
    """

    cdef tree_t* trees
    cdef leaf_t* leaves
    cdef readonly int size
    cdef readonly int num_actions
    cdef int per_tree
    cdef int n_leaves
    cdef int n_rows
    cdef int layout             # -1 for states
    cdef int item               # size of an observation in bytes
    cdef bint turn_ends
    cdef bint failed            # memory ran out
    cdef forest_options_t o
    cdef short_table_t small_table      # of the world of the present simulation
    cdef list worlds
    cdef StateArray array
    cdef Network network
    cdef object noise
    cdef const double[:, ::1] added

    def __cinit__(
        self, worlds, views, seeds, noise, options, layout, int leaves, bint turn_ends=False,
        Network network=None
    ):
        cdef Determinizer one
        cdef const uint64_t[::1] numbers = seeds
        cdef int i, most
        self.worlds = list(worlds)
        self.size = <int>len(self.worlds)
        self.per_tree = leaves
        self.turn_ends = turn_ends
        self.network = network
        self.layout = -1 if layout is None else LAYOUT_CODES[layout]
        self.o.gumbel = options.root == "gumbel"
        self.o.considered = options.considered
        self.o.exploration = options.exploration
        self.o.visit_offset = options.visit_offset
        self.o.value_scale = options.value_scale
        self.o.temperature = options.temperature
        self.o.mix = 0 if network is None else options.mix
        self.noise = noise
        self.added = noise
        self.trees = <tree_t*>calloc(self.size, sizeof(tree_t))
        self.leaves = <leaf_t*>calloc(self.size * leaves, sizeof(leaf_t))
        if self.trees is NULL or self.leaves is NULL:
            raise MemoryError("too little memory for a forest")
        one = self.worlds[0]
        self.num_actions = num_actions(one.state.table.t.rules)
        if self.layout >= 0:
            self.item = layout_size(self.layout, one.state.table.t.rules) * layout_item(
                self.layout)
        if numbers.shape[0] != self.size or self.added.shape[0] != self.size or (
                self.added.shape[1] != self.num_actions):
            raise ValueError("seeds and noise do not fit the positions")
        most = options.simulations
        for i in range(self.size):
            self.plant(&self.trees[i], self.worlds[i], views[i], numbers[i], most)
        if self.layout < 0:
            self.array = StateArray(self.size * leaves, one.state)

    cdef int plant(
        self, tree_t* tree, Determinizer worlds, view, uint64_t seed, int simulations
    ) except -1:
        """Prepare a tree."""
        cdef TurnView seen
        cdef const player_t* p
        cdef int who, i, entry
        if worlds.state.table.t.rules != (<Determinizer>self.worlds[0]).state.table.t.rules:
            raise ValueError("positions: all must have the same rule set")
        tree.root = worlds.state.s
        tree.table = &worlds.state.table.t
        tree.unknown = &worlds.u
        tree.seed = seed
        tree.wanted = simulations
        tree.max_nodes = FIRST_EDGES
        tree.max_edges = FIRST_EDGES
        tree.nodes = <node_t*>calloc(tree.max_nodes, sizeof(node_t))
        tree.edges = <edge_t*>calloc(tree.max_edges, sizeof(edge_t))
        if tree.nodes is NULL or tree.edges is NULL:
            raise MemoryError("too little memory for a forest")
        new_node(tree, tree.root.turn & 1)
        for who in range(2):
            p = &tree.root.p[who]
            tree.past.began[who] = p.marks >> OCCUPIED & 63
            for i in range(MAX_BOARD):
                entry = p.board[i].card
                if p.marks >> (OCCUPIED + i) & 1 and (p.board[i].copy or is_copy_id(
                        tree.table.rules, tree.table.cards[entry].id)):
                    tree.copies[who] |= <uint8_t>(1 << i)
        if view is None:
            return 0
        seen = view
        for who in range(2):
            if (seen.s.turn & 1) != (tree.root.turn & 1) or (
                seen.s.p[who].marks != tree.root.p[who].marks
                or seen.s.p[who].hand_size != tree.root.p[who].hand_size
                or seen.s.p[who].health != tree.root.p[who].health
                or seen.s.p[who].deck_left != tree.root.p[who].deck_left
            ):
                raise ValueError("view: belongs to another position")
        past_of(&tree.past, &seen.k, &seen.s)
        return 0

    def __dealloc__(self):
        cdef int i
        if self.trees is not NULL:
            for i in range(self.size):
                free(self.trees[i].nodes)
                free(self.trees[i].edges)
        free(self.trees)
        free(self.leaves)

    # ---- a round --------------------------------------------------------------------------------

    @cython.boundscheck(False)
    def gather(self, observations, int8_t[:, ::1] masks):
        """Send simulations to leaves of their trees; return how many must be evaluated.

        The arrays have a row for each simulation of a round. They are None for a forest without a
        layout, whose leaves are in `states`. Returns -1 when everything is done.
        """
        cdef uint8_t* out = NULL
        cdef uint8_t[::1] buffer
        cdef int i, n, _k
        cdef tree_t* tree
        if self.layout >= 0:
            buffer = memoryview(observations).cast("B")
            if buffer.shape[0] < self.size * self.per_tree * self.item or (
                    masks.shape[0] < self.size * self.per_tree
                    or masks.shape[1] != self.num_actions):
                raise ValueError("the arrays do not fit the forest")
            out = &buffer[0]
        self.n_leaves = self.n_rows = 0
        with nogil:
            for i in range(self.size):
                tree = &self.trees[i]
                if i + 2 < self.size:
                    fetch(&self.trees[i + 2], sizeof(tree_t))
                if i + 1 < self.size:
                    fetch(self.trees[i + 1].nodes, sizeof(node_t))
                    fetch(self.trees[i + 1].edges, self.trees[i + 1].n_root * sizeof(edge_t))
                n = self.due(tree)
                for _k in range(n):
                    self.leaves[self.n_leaves].tree = i
                    self.descend(
                        tree, &self.leaves[self.n_leaves], out,
                        &masks[0, 0] if out is not NULL else NULL)
                    self.n_leaves = self.n_leaves + 1
                    if self.failed:
                        break
        if self.failed:
            raise MemoryError("too little memory for a forest")
        return self.n_rows if self.n_leaves else -1

    def states(self):
        """Return the leaves that must be evaluated, for a forest without a layout."""
        cdef int i, row
        cdef list owners = self.array.owners
        for i in range(self.n_leaves):
            row = self.leaves[i].row
            if row >= 0:
                owners[row] = (<Determinizer>self.worlds[self.leaves[i].tree]).state.table
        cdef StateArray part = StateArray(self.n_rows, self.array.template)
        for i in range(self.n_rows):
            part.states[i] = self.array.states[i]
            part.tables[i] = self.array.tables[i]
        part.owners = owners[:self.n_rows]
        return part

    @cython.boundscheck(False)
    def scatter(self, const float[:, ::1] priors, const double[::1] values, bint are_logits):
        """Add the evaluator's results for the leaves: values to the player to move, and priors.

        Priors, if not None, are logits of all actions, or proportional to probabilities.
        """
        cdef int i
        cdef leaf_t* leaf
        cdef const float* row
        if values.shape[0] != self.n_rows or priors is not None and (
                priors.shape[0] != self.n_rows or priors.shape[1] != self.num_actions):
            raise ValueError("values and priors: expected one row for each leaf")
        cdef bint uniform = priors is None
        with nogil:
            for i in range(self.n_leaves):
                leaf = &self.leaves[i]
                if i + 2 < self.n_leaves:
                    self.fetch_leaf(&self.leaves[i + 2])
                if leaf.row >= 0:
                    leaf.value = -values[leaf.row] if leaf.ended else values[leaf.row]
                    if self.o.mix != 0:
                        leaf.value = (1 - self.o.mix) * leaf.value + self.o.mix * leaf.predicted
                    row = NULL
                    if not uniform:
                        row = &priors[leaf.row, 0]
                    self.expand(&self.trees[leaf.tree], leaf, row, are_logits)
                    if self.failed:
                        break
                back_up(&self.trees[leaf.tree], leaf)
            self.n_leaves = self.n_rows = 0
        if self.failed:
            raise MemoryError("too little memory for a forest")

    cdef void fetch_leaf(self, const leaf_t* leaf) noexcept nogil:
        """Prefetch what `scatter` will read."""
        cdef const tree_t* tree = &self.trees[leaf.tree]
        fetch_(leaf)
        fetch_(leaf.nodes)
        fetch_(leaf.legal)
        fetch_(leaf.same)
        fetch_(leaf.actions)
        fetch_(leaf.keys)
        fetch_(&tree.nodes)
        fetch_(&tree.nodes[0])
        fetch(&tree.edges[tree.n_edges], 8 * sizeof(edge_t))

    cdef int due(self, tree_t* tree) noexcept nogil:
        """Return the number of simulations that a tree sends in this round."""
        cdef int n
        if tree.nodes[0].visits == 0:
            return 1                    # the root itself
        n = min(self.per_tree, tree.wanted - tree.started)
        if not self.o.gumbel:
            return n
        if tree.cuts.alive == 0:
            start_cuts(&tree.cuts, min(tree.n_root, self.o.considered))
        elif tree.in_pass == tree.cuts.alive:
            tree.level += 1
            tree.in_pass = 0
            tree.cuts.alive = left_after(&tree.cuts, <float>tree.started / tree.wanted)
        return min(n, tree.cuts.alive - tree.in_pass)

    # ---- descending -----------------------------------------------------------------------------

    cdef double weighed(self, double value, int visits) noexcept nogil:
        """Return a value scaled so that it can be added to logarithms of priors."""
        return (self.o.visit_offset + visits) * self.o.value_scale * value

    @cython.boundscheck(False)
    cdef int choose_candidate(self, const tree_t* tree, int number) noexcept nogil:
        """Return the best root action among those that this pass has not visited yet."""
        cdef const edge_t* edge
        cdef double score, most = 0
        cdef int e, best = -1
        for e in range(tree.n_root):
            edge = &tree.edges[e]
            if edge.visits != tree.level:
                continue
            score = self.added[number, edge.action] + log_prior(edge)
            if tree.level:
                score = score + self.weighed(mean_of(edge), tree.level)
            if best < 0 or score > most:
                best = e
                most = score
        return best

    cdef int choose(
        self, const tree_t* tree, const leaf_t* leaf, int at, int* action
    ) noexcept nogil:
        """Return the edge that PUCT chooses in this world; -1 if it has an unknown action."""
        cdef const node_t* node = &tree.nodes[at]
        cdef const edge_t* edge
        cdef int32_t found[MAX_ACTIONS + 1]
        cdef double root, unvisited, score, most = 0
        cdef int i, e, hint = node.first, total = 0, best = -1
        if hint < 0:
            return -1
        for i in range(leaf.n):
            e = find_edge(tree, node.first, hint, leaf.keys[i])
            if e < 0:
                return -1
            found[i] = e
            total += tree.edges[e].visits
            hint = tree.edges[e].next
            if hint < 0:
                hint = node.first
        root = sqrt(<double>(total if total else 1))
        unvisited = node.total / node.visits
        for i in range(leaf.n):
            edge = &tree.edges[found[i]]
            score = unvisited
            if edge.visits:
                score = mean_of(edge)
            score = score + self.o.exploration * edge.prior * root / (1 + edge.visits)
            if best < 0 or score > most:
                best = found[i]
                most = score
                action[0] = leaf.actions[i]
        return best

    cdef void descend(
        self, tree_t* tree, leaf_t* leaf, uint8_t* observations, int8_t* masks
    ) noexcept nogil:
        """Follow a tree in a world to a leaf, and record what must be evaluated."""
        cdef simulation_t m
        cdef int e, action = PASS
        leaf.depth = 0
        leaf.row = -1
        e = self.choose_at_root(tree, leaf, &action)
        self.deal(tree, &m, 0 if e < 0 else tree.edges[e].visits, observations is not NULL)
        while True:
            if e >= 0 and not self.follow(tree, leaf, &m, e, action):
                return
            list_actions(leaf, &m.s, m.t)
            e = -1
            if leaf.depth and leaf.depth < MAX_SIMULATION:
                e = self.choose(tree, leaf, m.at, &action)
            if e < 0:
                break
        leaf.node = m.at
        leaf.who = m.s.turn & 1
        if can_kill(&m.s, m.t) and leaf.depth:
            leaf.value = 1
            return
        self.ask(leaf, &m, observations, masks)

    cdef int choose_at_root(self, tree_t* tree, leaf_t* leaf, int* action) noexcept nogil:
        """Return the root action of the next simulation; -1 if there are none yet."""
        cdef int e, i
        if tree.nodes[0].visits == 0:
            return -1
        tree.started += 1
        if self.o.gumbel:
            e = self.choose_candidate(tree, leaf.tree)
            tree.in_pass += 1
        else:
            leaf.n = tree.n_root
            for i in range(leaf.n):
                leaf.actions[i] = tree.edges[i].action
                leaf.keys[i] = tree.edges[i].key
            e = self.choose(tree, leaf, 0, action)
        action[0] = tree.edges[e].action
        return e

    cdef void deal(
        self, const tree_t* tree, simulation_t* m, int world, bint observed
    ) noexcept nogil:
        """Begin a simulation in a world; root actions are compared in the same worlds."""
        cdef state_t dealt = tree.root
        cdef uint64_t stream = stream_start(turn_seed(tree.seed, world), 0)
        cdef int who, i
        m.at = 0
        m.passed = False
        m.observed = observed
        state_deal(&dealt, tree.table, tree.unknown, &stream)
        if not observed:
            m.s = dealt
            m.t = tree.table
            return
        shorten_cards(&m.s, &self.small_table, &dealt, tree.table)
        m.t = table_of_short(&self.small_table)
        for who in range(2):
            for i in range(MAX_BOARD):
                if tree.copies[who] >> i & 1:
                    m.s.p[who].board[i].copy = 1
        known_resume(&m.known, &m.s, m.t, &tree.past)

    cdef bint follow(
        self, tree_t* tree, leaf_t* leaf, simulation_t* m, int e, int action
    ) noexcept nogil:
        """Follow an edge; False if the game is over there, or memory ran out."""
        cdef edge_t* edge = &tree.edges[e]
        cdef int child
        leaf.edges[leaf.depth] = e
        leaf.nodes[leaf.depth] = m.at
        leaf.depth += 1
        edge.visits += 1
        edge.waiting += 1
        m.passed = action == PASS
        if m.passed:
            m.before = m.s
        if m.observed:
            known_apply(&m.known, &m.s, m.t, action)
        else:
            state_apply(&m.s, m.t, action)
        if state_winner(&m.s) >= 0:
            leaf.node = -1
            leaf.who = <uint8_t>state_winner(&m.s)
            leaf.value = 1
            return False
        if edge.child < 0:
            child = new_node(tree, m.s.turn & 1)
            if child < 0:
                self.failed = True
                return False
            edge.child = child
        m.at = edge.child
        # Most edges of a node were added together.
        if tree.nodes[m.at].first >= 0:
            fetch(&tree.edges[tree.nodes[m.at].first], 16 * sizeof(edge_t))
        return True

    cdef void ask(
        self, leaf_t* leaf, simulation_t* m, uint8_t* observations, int8_t* masks
    ) noexcept nogil:
        """Write what the evaluator is shown of a leaf, and predict its result by the network."""
        leaf.row = self.n_rows
        self.n_rows = self.n_rows + 1
        if self.o.mix != 0:
            # A network predicts the result for the player whose turn ends.
            if m.passed:
                leaf.predicted = -tanh64(
                    network_value(&self.network.n, &m.before, m.t, m.before.turn & 1) / 2.0)
            else:
                leaf.predicted = tanh64(
                    network_value(&self.network.n, &m.s, m.t, leaf.who) / 2.0)
        leaf.ended = self.turn_ends and m.passed
        if not m.observed:
            self.array.states[leaf.row] = m.before if leaf.ended else m.s
            self.array.tables[leaf.row] = m.t
            return
        write_known(
            self.layout, observations + <size_t>leaf.row * self.item, &m.known, &m.s, m.t, leaf.who)
        write_mask(masks + <size_t>leaf.row * self.num_actions, &m.s, m.t, leaf.who)

    # ---- the evaluator's results -----------------------------------------------------------------

    cdef void expand(
        self, tree_t* tree, const leaf_t* leaf, const float* raw_priors, bint are_logits
    ) noexcept nogil:
        """Add the edges of its world to the leaf, each with its share of the priors."""
        cdef node_t* node = &tree.nodes[leaf.node]
        cdef edge_t* edge
        cdef double priors[MAX_ACTIONS + 1]
        cdef double shares[MAX_ACTIONS + 1]
        cdef double total = 0, most = 0
        cdef int i, e, hint
        for i in range(leaf.n_legal):
            if raw_priors is NULL:
                priors[i] = 1
            else:
                priors[i] = raw_priors[leaf.legal[i]]
                if are_logits:
                    priors[i] /= self.o.temperature
            if i == 0 or priors[i] > most:
                most = priors[i]
        if raw_priors is not NULL and are_logits:
            for i in range(leaf.n_legal):
                priors[i] = exp64(priors[i] - most)
        for i in range(leaf.n_legal):
            total += priors[i]
        if not total > 0:
            for i in range(leaf.n_legal):
                priors[i] = 1
            total = leaf.n_legal
        for i in range(leaf.n):
            shares[i] = 0
        for i in range(leaf.n_legal):
            shares[leaf.same[i]] += priors[i]
        hint = node.first
        for i in range(leaf.n):
            e = find_edge(tree, node.first, hint, leaf.keys[i])
            if e < 0:
                e = new_edge(tree, leaf.node, leaf.keys[i], leaf.actions[i])
                if e < 0:
                    self.failed = True
                    return
            edge = &tree.edges[e]
            hint = edge.next if edge.next >= 0 else node.first
            edge.n_priors += 1
            edge.prior += (shares[i] / total - edge.prior) / edge.n_priors
        if leaf.node == 0:
            tree.n_root = tree.n_edges

    # ---- results ---------------------------------------------------------------------------------

    @cython.boundscheck(False)
    cdef int decision(self, const tree_t* tree, int number) noexcept nogil:
        """Return the edge of the best root action."""
        cdef const edge_t* edge
        cdef double score, most = 0
        cdef int e, visits = 0, best = -1
        for e in range(tree.n_root):
            visits = max(visits, tree.edges[e].visits)
        for e in range(tree.n_root):
            edge = &tree.edges[e]
            if edge.visits != visits:
                continue
            score = 0
            if self.o.gumbel:
                score = self.added[number, edge.action] + log_prior(edge)
            if visits:
                score = score + self.weighed(mean_of(edge), visits)
            if best < 0 or score > most:
                best = e
                most = score
        return best

    @cython.boundscheck(False)
    def results(
        self, int32_t[::1] actions, double[:, ::1] policies, double[:, ::1] means,
        int32_t[:, ::1] visits, double[::1] values
    ):
        """Fill arrays of zeros, a row for each tree, with the results at the roots."""
        cdef const tree_t* tree
        cdef const edge_t* edge
        cdef double completed[MAX_ACTIONS + 1]
        cdef double logits[MAX_ACTIONS + 1]
        cdef double unvisited, most, total
        cdef int i, e, n
        if not (
            actions.shape[0] == policies.shape[0] == means.shape[0] == self.size
            and visits.shape[0] == values.shape[0] == self.size
            and policies.shape[1] == means.shape[1] == visits.shape[1] == self.num_actions
        ):
            raise ValueError("arrays that do not fit the forest")
        with nogil:
            for i in range(self.size):
                tree = &self.trees[i]
                n = 0
                for e in range(tree.n_root):
                    n = max(n, tree.edges[e].visits)
                unvisited = mixed_value(tree)
                most = total = 0
                for e in range(tree.n_root):
                    edge = &tree.edges[e]
                    completed[e] = unvisited
                    if edge.visits:
                        completed[e] = mean_of(edge)
                    logits[e] = log_prior(edge) + self.weighed(completed[e], n)
                    if e == 0 or logits[e] > most:
                        most = logits[e]
                for e in range(tree.n_root):
                    if self.o.gumbel or n == 0:
                        logits[e] = exp64(logits[e] - most)
                    else:
                        logits[e] = tree.edges[e].visits
                    total += logits[e]
                for e in range(tree.n_root):
                    edge = &tree.edges[e]
                    policies[i, edge.action] = logits[e] / total
                    means[i, edge.action] = completed[e]
                    visits[i, edge.action] = edge.visits
                    values[i] += logits[e] / total * completed[e]
                actions[i] = tree.edges[self.decision(tree, i)].action

    def variation(self, int i):
        """Return the best root action of tree i and the most visited actions after it."""
        cdef const tree_t* tree
        cdef int e, best, at
        if not 0 <= i < self.size:
            raise IndexError(f"tree {i} of {self.size}")
        tree = &self.trees[i]
        best = self.decision(tree, i)
        found = []
        while True:
            found.append(tree.edges[best].action)
            at = tree.edges[best].child
            if tree.edges[best].action == PASS or at < 0 or tree.nodes[at].first < 0:
                return found
            best = e = tree.nodes[at].first
            while e >= 0:
                if tree.edges[e].visits > tree.edges[best].visits:
                    best = e
                e = tree.edges[e].next
            if tree.edges[best].visits == 0:
                return found

    def nodes(self, int i):
        """Return the number of nodes of tree i."""
        if not 0 <= i < self.size:
            raise IndexError(f"tree {i} of {self.size}")
        return self.trees[i].n_nodes


cdef void back_up(tree_t* tree, const leaf_t* leaf) noexcept nogil:
    """Add a result to all nodes and edges on the path."""
    cdef edge_t* edge
    cdef node_t* node
    cdef double x
    cdef int i
    if leaf.node >= 0:
        node = &tree.nodes[leaf.node]
        if node.visits == 0:
            node.value = leaf.value
        node.visits += 1
        node.total += leaf.value
    for i in range(leaf.depth - 1, -1, -1):
        node = &tree.nodes[leaf.nodes[i]]
        edge = &tree.edges[leaf.edges[i]]
        x = leaf.value if node.who == leaf.who else -leaf.value
        edge.waiting -= 1
        edge.total += x
        node.visits += 1
        node.total += x
