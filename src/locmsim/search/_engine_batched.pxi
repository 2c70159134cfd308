# Search with a function that evaluates many positions per call: `BatchEngine`.
#
# Such searches create the same positions in the same order as those by weights, but in larger
# steps: the beam evaluates a whole level at once, and the turns after the player's advance in step,
# for all plans in a world or all visits of a pass. A function that computes what the weights do
# leads to the same answers. Part of _engine.pyx.

cdef enum:
    MAX_BATCH = 1 << 16         # positions in one call of the function
    FIRST_CAPACITY = 1 << 10    # positions that a new engine has memory for

cdef float LEAST_LOG = -60.0    # of a prior, so that the logarithm of 0 is finite

ctypedef struct query_t:        # a position to evaluate
    uint64_t hash               # in the beam
    float log_prior             # logarithm of the prior of the actions so far
    int32_t parent              # place in the previous level
    uint8_t action

ctypedef struct playout_t:         # a turn after the player's, advanced together with others
    state_t s                   # first its start, then its end
    float value                 # value of `s` to the player whose turn it is
    int32_t who
    bint active
    int32_t n_here              # the level: positions after equally many actions
    state_t here[MAX_REPLY_WIDTH]
    int32_t row[MAX_REPLY_WIDTH]        # ... their rows in the last call
    float log_here[MAX_REPLY_WIDTH]     # ... logarithms of the priors of their actions
    float best
    turn_ends_t ends            # the best ends
    float log_ends[MAX_REPLY_WIDTH]     # [place]: logarithms of the priors of their actions
    int32_t first, end          # its positions in the last call


# ---- steps ---------------------------------------------------------------------------------------

cdef float batched_value(void* owner) noexcept with gil:
    """Return the value of the root by a function; 0 if it fails, which ends the search."""
    cdef BatchEngine engine = <BatchEngine>owner
    try:
        engine.n_queued = 0
        engine.enqueue(&engine.e.w.root, -1, PASS, 0)
        engine.deal(0)
        engine.evaluate()
        return engine.values[0]
    except BaseException as error:
        engine.fail(error)
        return 0


cdef int batched_children(void* owner, int n_here, int now, bint* complete) noexcept with gil:
    """Do what `make_children` does, with one call of a function for all positions."""
    cdef BatchEngine engine = <BatchEngine>owner
    try:
        return engine.make_children(n_here, now, complete)
    except BaseException as error:
        engine.fail(error)
        return -1


cdef int32_t batched_play(void* owner, halving_t* h, int32_t passes) noexcept with gil:
    """Play plans on in one pass; return 1, or 0 if time was up before."""
    cdef BatchEngine engine = <BatchEngine>owner
    try:
        if engine.e.w.failed:
            return 0
        if engine.e.o.is_tree:
            return engine.play_visits(h)
        return engine.play_world(h)
    except BaseException as error:
        engine.fail(error)
        return 0


cdef class BatchEngine(SearchEngine):
    """Searches as a `SearchEngine` does, but evaluates with a function, see `StateBatch.values`.

    The function returns expected results. Internally they are converted to the unit of the weights,
    and back where results are averaged.
    """

    cdef object function
    cdef int64_t capacity, n_queued
    cdef state_t* states            # the positions to evaluate
    cdef query_t* queue
    cdef float* values              # ... and their values
    cdef object priors              # an array, or None
    cdef const float* prior         # ... its numbers, or NULL
    cdef int num_actions
    cdef bint greedy                # whether turns are played action by action
    cdef bint deals                 # whether the function is shown the player's turn in a world
    cdef playout_t* playouts
    cdef visit_t* visits
    cdef steps_t steps

    def __cinit__(self, options, evaluation, network, function, bint deals=False):
        self.function = function
        self.deals = deals
        self.steps.value_of_root = batched_value
        self.steps.make_children = batched_children
        self.steps.play = batched_play
        self.steps.threads = 1
        self.steps.owner = <void*>self
        self.e.w.steps = &self.steps
        self.greedy = options.reply_width == 1 and not self.e.o.is_tree
        self.playouts = <playout_t*>malloc(MAX_PLANS * sizeof(playout_t))
        self.visits = <visit_t*>malloc(MAX_PLANS * sizeof(visit_t))
        if self.playouts is NULL or self.visits is NULL or self.grow() < 0:
            raise MemoryError("too little memory for a search by batches")

    def __dealloc__(self):
        free(self.states)
        free(self.queue)
        free(self.values)
        free(self.playouts)
        free(self.visits)

    # ---- asking ---------------------------------------------------------------------------------

    cdef int grow(self) noexcept nogil:
        """Double the capacity; -1 if memory runs out."""
        cdef int64_t capacity = 2 * self.capacity if self.capacity else <int64_t>FIRST_CAPACITY
        cdef void* grown = realloc(self.states, capacity * sizeof(state_t))
        if grown is NULL:
            return -1
        self.states = <state_t*>grown
        grown = realloc(self.queue, capacity * sizeof(query_t))
        if grown is NULL:
            return -1
        self.queue = <query_t*>grown
        grown = realloc(self.values, capacity * sizeof(float))
        if grown is NULL:
            return -1
        self.values = <float*>grown
        self.capacity = capacity
        return 0

    cdef query_t* enqueue(
        self, const state_t* s, int32_t parent, uint8_t action, float log_prior
    ) noexcept nogil:
        """Add a position to the next call; return NULL if memory runs out."""
        cdef query_t* a
        if self.n_queued == self.capacity and self.grow() < 0:
            self.e.w.failed = True
            return NULL
        self.states[self.n_queued] = s[0]
        a = &self.queue[self.n_queued]
        a.parent = parent
        a.action = action
        a.log_prior = log_prior
        self.n_queued = self.n_queued + 1    # `+=` checks for overflow with the GIL in debug builds
        return a

    cdef int evaluate(self) except -1:
        """Evaluate the positions that were added, in calls of the function."""
        cdef int64_t first, i, n
        cdef StateArray array
        cdef State template
        cdef double x, scale = self.evaluator.e.scale
        cdef const double[::1] values
        cdef const float[:, ::1] priors
        from locmsim.batch import StateBatch, checked_results   # loads numpy, which bots never need

        if self.e.w.failed and self.error is None:
            raise MemoryError("too little memory for a search by batches")
        self.priors = None
        self.prior = NULL
        parts = []
        template = State.__new__(State)
        template.table = self.table
        for first in range(0, self.n_queued, MAX_BATCH):
            n = min(self.n_queued - first, <int64_t>MAX_BATCH)
            template.s = self.states[first]
            array = StateArray(n, template)
            memcpy(array.states, &self.states[first], n * sizeof(state_t))
            self.num_actions = array.num_actions
            answer = self.function(StateBatch._of(array))
            found, part = checked_results(answer, n, array.num_actions)
            values = found
            for i in range(n):
                x = min(max(values[i], -1 + 1e-12), 1 - 1e-12)
                x = scale * atanh64(x)
                self.values[first + i] = <float>min(max(x, 1.0 - MAX_VALUE), MAX_VALUE - 1.0)
            if part is not None:
                parts.append(part)
        if len(parts) * MAX_BATCH >= self.n_queued and parts:
            if len(parts) > 1:
                import numpy as np

                parts = [np.concatenate(parts)]
            self.priors = parts[0]
            priors = parts[0]
            self.prior = &priors[0, 0]
        return 0

    cdef float log_prior(self, int64_t row, int action) noexcept nogil:
        """Return the logarithm of an action's prior in the last call; 0 without priors."""
        cdef float x
        if self.prior is NULL:
            return 0
        x = self.prior[row * self.num_actions + action]
        return max(LEAST_LOG, <float>log64(x)) if x > 0 else LEAST_LOG

    # ---- the beam over the player's turn --------------------------------------------------------

    cdef int fail(self, error) except -1:
        """End the search with an exception."""
        if self.error is None:
            self.error = error
        self.e.w.failed = self.e.w.budget.over = True
        return 0

    cdef int make_children(self, int n_here, int now, bint* complete) except? -1:
        """Fill in and evaluate the candidates after a level; return their number.

        Returns -1 at a winning turn and at the end of the budget, up to which all are evaluated.
        """
        cdef work_t* w = &self.e.w
        cdef query_t* a
        cdef bint ended
        cdef int i
        with nogil:
            ended = self.enqueue_children(n_here, now, complete)
        if w.won:
            return -1
        if self.n_queued:
            self.evaluate()
        for i in range(<int>self.n_queued):
            a = &self.queue[i]
            w.candidates[i].value = self.values[i]
            w.candidates[i].parent = a.parent
            w.candidates[i].action = a.action
            note_plan(w, self.values[i], a.hash, w.level_records[now][a.parent], a.action)
        return -1 if ended else <int>self.n_queued

    cdef bint enqueue_children(self, int n_here, int now, bint* complete) noexcept nogil:
        """Enqueue all new positions after a level; True at the end of the budget or at a win."""
        cdef work_t* w = &self.e.w
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef state_t child
        cdef state_t* here
        cdef query_t* a
        cdef uint64_t hash
        cdef int n, i, j, look
        self.n_queued = 0
        for i in range(n_here):
            here = &w.level[now][i]
            n = state_list(here, w.table, actions)
            for j in range(1, n):
                if self.n_queued == w.max_candidates:
                    complete[0] = False
                    break
                if not spend(w):
                    return True
                child = here[0]
                state_apply(&child, w.table, actions[j])
                look = sift(w, &child, w.level_records[now][i], actions[j], &hash)
                if look == WINNING:
                    return True
                if look == KEPT:
                    a = self.enqueue(&child, i, actions[j], 0)
                    if a is NULL:
                        return True
                    a.hash = hash
                    self.deal(self.n_queued - 1)
        return False

    cdef void deal(self, int64_t number) noexcept nogil:
        """Fill in the hidden cards of a position of the player's turn, where the function asks."""
        if self.deals:
            put_world(&self.e.w, &self.states[number], sampled_world(&self.e.w, 0))

    # ---- turns after the player's ---------------------------------------------------------------

    cdef int play_turns(self, int n) except -1:
        """Play the turns of the first `n` playouts that are active.

        Each is played as by `narrow_turns`, or by `greedy_turn` if they are `greedy`.
        """
        cdef work_t* w = &self.e.w
        cdef playout_t* playout
        cdef int active = 0, i, _step
        self.n_queued = 0
        for i in range(n):
            playout = &self.playouts[i]
            if playout.active:
                self.start_turn(playout)
                active += playout.active
        if active:
            self.evaluate()
        for i in range(n):
            playout = &self.playouts[i]
            if playout.active:
                playout.best = playout.ends.values[0] = self.values[playout.row[0]]
                playout.log_ends[0] = self.log_prior(playout.row[0], PASS)
        for _step in range(MAX_TURN_ACTIONS):
            if active == 0 or must_end(w):
                break
            with nogil:
                self.n_queued = 0
                for i in range(n):
                    if self.playouts[i].active:
                        self.expand(&self.playouts[i])
            if self.n_queued:
                self.evaluate()
            active = 0
            with nogil:
                for i in range(n):
                    if self.playouts[i].active:
                        self.go_on(&self.playouts[i])
                        active += self.playouts[i].active
        for i in range(n):
            self.playouts[i].active = False
        return 0

    cdef void start_turn(self, playout_t* playout) noexcept nogil:
        """Enqueue the start of a turn, unless attacks alone win there."""
        playout.who = playout.s.turn & 1
        playout.n_here = 1
        playout.here[0] = playout.s
        playout.log_here[0] = 0
        self.only_end(playout, &playout.s, 0)
        if can_kill(&playout.s, self.e.w.table):
            self.win_turn(playout, &playout.s)
            return
        playout.row[0] = <int32_t>self.n_queued
        self.enqueue(&playout.s, 0, PASS, 0)

    cdef void win_turn(self, playout_t* playout, const state_t* end) noexcept nogil:
        """End a winning turn after its remaining attacks; that is the playout's only end."""
        playout.active = False
        self.only_end(playout, end, MAX_VALUE)
        playout.ends.s[0].p[playout.who].won = 1

    cdef void only_end(self, playout_t* playout, const state_t* end, float value) noexcept nogil:
        """Make a position the only end of a turn."""
        start_ends(&playout.ends, end, value)
        playout.log_ends[0] = 0

    cdef void expand(self, playout_t* playout) noexcept nogil:
        """Enqueue the positions one action later, unless one of them wins."""
        cdef work_t* w = &self.e.w
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef state_t child
        cdef bint wins
        cdef int n, i, j
        playout.first = playout.end = <int32_t>self.n_queued
        for i in range(playout.n_here):
            n = state_list(&playout.here[i], w.table, actions)
            w.nodes += n - 1
            w.budget.nodes -= n - 1
            w.budget.until_clock -= n - 1
            for j in range(1, n):
                child = playout.here[i]
                state_apply(&child, w.table, actions[j])
                if child.p[1 - playout.who].won:
                    continue
                wins = child.p[playout.who].won
                if wins or not self.greedy and can_kill(&child, w.table):
                    self.n_queued = playout.first
                    self.win_turn(playout, &child)
                    return
                if self.enqueue(
                    &child, i, actions[j],
                    playout.log_here[i] + self.log_prior(playout.row[i], actions[j]),
                ) is NULL:
                    return
        playout.end = <int32_t>self.n_queued

    cdef void go_on(self, playout_t* playout) noexcept nogil:
        """Make the best positions of the last call the next level; stop when none is better."""
        cdef work_t* w = &self.e.w
        cdef float values[MAX_REPLY_WIDTH]
        cdef uint8_t places[MAX_REPLY_WIDTH]
        cdef int32_t rows[MAX_REPLY_WIDTH]
        cdef int n = 0, i, place, row
        for row in range(playout.first, playout.end):
            place = insert(values, places, n, w.reply_width, self.values[row], True)
            if place >= 0:
                rows[place] = row
                n = max(n, place + 1)
        playout.n_here = n
        for i in range(n):
            row = rows[places[i]]
            playout.here[i] = self.states[row]
            playout.row[i] = row
            playout.log_here[i] = self.queue[row].log_prior
            if not self.greedy:
                self.keep(playout, i, values[i])
        if n == 0 or values[0] <= playout.best:
            playout.active = False
            return
        playout.best = values[0]
        if self.greedy:
            self.only_end(playout, &playout.here[0], values[0])
            playout.log_ends[0] = playout.log_here[0] + self.log_prior(playout.row[0], PASS)

    cdef void keep(self, playout_t* playout, int i, float value) noexcept nogil:
        """Add a position of the level to the ends if it is one of the best."""
        cdef turn_ends_t* ends = &playout.ends
        cdef int place = insert(
            ends.values, ends.places, ends.n, self.e.w.reply_width, value, False)
        if place < 0:
            return
        ends.n = max(ends.n, place + 1)
        ends.s[place] = playout.here[i]
        playout.log_ends[place] = playout.log_here[i] + self.log_prior(playout.row[i], PASS)

    # ---- playing plans on -----------------------------------------------------------------------

    cdef int32_t play_world(self, halving_t* h) except -1:
        """Play the ends of the plans that are left on in the next world."""
        cdef work_t* w = &self.e.w
        cdef int i
        for i in range(h.cuts.alive):
            self.playouts[i].s = w.ends[h.plan[h.order[i]]]
            put_world(w, &self.playouts[i].s, sampled_world(w, <int>h.done))
        self.play_on(h.cuts.alive, self.e.o.turns)
        if must_end(w):         # a world counts only if all plans were tried in it
            return 0
        for i in range(h.cuts.alive):
            h.value[h.order[i]] += self.result(&self.playouts[i])
        return 1

    cdef int play_on(self, int n, int turns) except -1:
        """Play further turns from the ends of turns in the first `n` playouts."""
        cdef work_t* w = &self.e.w
        cdef playout_t* playout
        cdef bint over[MAX_PLANS]
        cdef int i, _turn
        memset(over, 0, sizeof(over))
        for _turn in range(turns):
            for i in range(n):
                playout = &self.playouts[i]
                playout.active = False
                if over[i]:
                    continue
                state_end_turn(&playout.s, w.table)
                playout.active = state_winner(&playout.s) < 0
                if not playout.active:
                    over[i] = True
                    playout.value = MAX_VALUE if playout.s.p[playout.s.turn & 1].won else -MAX_VALUE
            self.play_turns(n)
            for i in range(n):
                playout = &self.playouts[i]
                if not over[i]:
                    playout.s = playout.ends.s[playout.ends.places[0]]
                    playout.value = playout.ends.values[0]
                    over[i] = state_winner(&playout.s) >= 0
        return 0

    cdef double played_on(self, const state_t* end, int n) except? -2:
        cdef double total = 0
        cdef int i, world, part
        for world in range(0, n, MAX_PLANS):
            part = min(n - world, <int>MAX_PLANS)
            for i in range(part):
                self.playouts[i].s = end[0]
                put_world(&self.e.w, &self.playouts[i].s, sampled_world(&self.e.w, world + i))
            self.play_on(part, self.e.o.turns)
            for i in range(part):
                total += self.result(&self.playouts[i])
        return total

    cdef float result(self, const playout_t* playout) noexcept nogil:
        """Return the expected result of a playout for the searching player."""
        cdef float value = squashed(playout.value, self.e.w.eval)
        return value if (playout.s.turn & 1) == self.e.w.who else -value

    # ---- the tree -------------------------------------------------------------------------------

    cdef int32_t play_visits(self, halving_t* h) except -1:
        """Follow the plans that are left as `visit` does, all of them in step."""
        cdef work_t* w = &self.e.w
        cdef turn_tree_t* tree = &self.e.tree
        cdef int waiting = 1, i
        cdef bint cut_off
        for i in range(h.cuts.alive):
            start_visit(w, tree, &self.visits[i], h.order[i])
        while waiting and not must_end(w):
            waiting = 0
            for i in range(h.cuts.alive):
                self.playouts[i].active = descend(w, tree, &self.e.o, &self.visits[i], waiting)
                if self.playouts[i].active:
                    self.playouts[i].s = self.visits[i].s
                    waiting += 1
            if waiting:
                self.add_turns(h.cuts.alive)
        cut_off = must_end(w)
        if not cut_off:
            for i in range(h.cuts.alive):
                end_visit(w, &self.visits[i], &tree.nodes[h.order[i]])
        add_visits(h, tree)
        return not cut_off

    cdef int add_turns(self, int n) except -1:
        """Add the turns that visits wait for to the tree, and enter the best one of each."""
        cdef bint waits[MAX_PLANS]
        cdef turn_tree_t* tree = &self.e.tree
        cdef playout_t* playout
        cdef visit_t* v
        cdef int i, j
        for i in range(n):
            waits[i] = self.playouts[i].active
        self.play_turns(n)
        for i in range(n):
            if not waits[i]:
                continue
            playout = &self.playouts[i]
            v = &self.visits[i]
            v.turns.first = tree.n_nodes
            v.turns.n = playout.ends.n
            for j in range(playout.ends.n):
                add_node(
                    tree, &playout.ends.s[playout.ends.places[j]],
                    squashed(playout.ends.values[j], self.e.w.eval))
            if self.priors is None:
                set_priors(tree, v.turns, self.e.o.temperature)
            else:
                self.use_priors(v.turns, playout)
            enter_new(tree, &self.e.o, v)
        return 0

    cdef void use_priors(self, const turns_t* turns, const playout_t* playout) noexcept nogil:
        """Set the prior of each turn to the product of its actions' priors, final PASS included."""
        cdef turn_node_t* nodes = &self.e.tree.nodes[turns.first]
        cdef float most = playout.log_ends[playout.ends.places[0]], total = 0
        cdef int i
        for i in range(turns.n):
            most = max(most, playout.log_ends[playout.ends.places[i]])
        for i in range(turns.n):
            nodes[i].prior = exp32(playout.log_ends[playout.ends.places[i]] - most)
            total += nodes[i].prior
        for i in range(turns.n):
            nodes[i].prior /= total
