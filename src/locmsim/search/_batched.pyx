"""Searches that evaluate many positions per call of a function: `BatchEngine`.

They create the same positions in the same order as searches by weights, but in larger steps: the
beam evaluates a whole level at once, and the turns after the player's advance in step, for all
plans in a world or all visits of a pass. A function that computes what the weights do leads to the
same answers. This is a separate module because exported bots do not need it.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from locmsim._batch cimport StateArray
from locmsim._core cimport (
    MAX_ACTIONS,
    PASS,
    State,
    mixed,
    state_apply,
    state_end_turn,
    state_list,
    state_t,
    state_winner,
    turn_hash,
)
from locmsim._math cimport atanh64, exp32, log64
from locmsim.search._beam cimport KEPT, WINNING, make_level, select_best, sift
from locmsim.search._engine cimport Engine
from locmsim.search._evaluation cimport MAX_VALUE, squashed
from locmsim.search._halving cimport add_visits
from locmsim.search._mcts cimport (
    add_node,
    descend,
    end_visit,
    enter_new,
    set_priors,
    start_visit,
    turn_node_t,
    turn_tree_t,
    turns_t,
    visit_t,
)
from locmsim.search._wins cimport can_kill
from locmsim.search._work cimport (
    MAX_PLANS,
    MAX_REPLY_WIDTH,
    MAX_TURN_ACTIONS,
    halving_t,
    is_late,
    is_new,
    note_plan,
    place_of,
    put_world,
    spend,
    steps_t,
    work_t,
    world_of,
)

from locmsim.batch import StateBatch, checked_results

__all__ = ["BatchEngine"]

cdef enum:
    MAX_BATCH = 1 << 16         # positions in one call of the function
    FIRST_CAPACITY = 1 << 10    # positions that a new engine has memory for

cdef float LEAST_LOG = -60.0    # of a prior, so that the logarithm of 0 is finite

ctypedef struct query_t:        # a position to evaluate
    uint64_t hash               # in the beam
    float log_prior             # logarithm of the prior of the actions so far
    int32_t parent              # place in the previous level
    uint8_t action

ctypedef struct line_t:         # a turn after the player's, advanced together with others
    state_t s                   # first its start, then its end
    float value                 # value of `s` to the player whose turn it is
    int32_t who
    bint active
    int32_t n_here              # the level: positions after equally many actions
    state_t here[MAX_REPLY_WIDTH]
    int32_t row[MAX_REPLY_WIDTH]        # ... their rows in the last call
    float log_here[MAX_REPLY_WIDTH]     # ... logarithms of the priors of their actions
    float best
    int32_t n_kept              # the best ends, best first
    state_t kept[MAX_REPLY_WIDTH]
    float values[MAX_REPLY_WIDTH]
    float log_kept[MAX_REPLY_WIDTH]
    int32_t first, end          # its positions in the last call


# ---- steps ---------------------------------------------------------------------------------------

cdef void find_plans(void* owner) noexcept with gil:
    """Find whole turns by a function; passing is always one of them."""
    cdef BatchEngine engine = <BatchEngine>owner
    cdef work_t* w = &engine.e.w
    try:
        engine.find_plans()
    except BaseException as error:
        engine.fail(error)
    if w.n_plans == 0:
        note_plan(w, 0, turn_hash(&w.root, w.table, w.card_keys), -1, PASS)


cdef int32_t play(void* owner, halving_t* h, int32_t passes) noexcept with gil:
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


cdef class BatchEngine(Engine):
    """An `Engine` that evaluates with a function of a `StateBatch`, see `StateBatch.values`.

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
    cdef line_t* lines
    cdef visit_t* visits
    cdef steps_t steps

    def __cinit__(self, options, evaluation, network, function):
        self.function = function
        self.steps.find_plans = find_plans
        self.steps.play = play
        self.steps.threads = 1
        self.steps.owner = <void*>self
        self.e.w.steps = &self.steps
        self.greedy = options.reply_width == 1 and not self.e.o.is_tree
        self.lines = <line_t*>malloc(MAX_PLANS * sizeof(line_t))
        self.visits = <visit_t*>malloc(MAX_PLANS * sizeof(visit_t))
        if self.lines is NULL or self.visits is NULL or self.grow() < 0:
            raise MemoryError("too little memory for a search by batches")

    def __dealloc__(self):
        free(self.states)
        free(self.queue)
        free(self.values)
        free(self.lines)
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
        self.e.w.failed = True
        return 0

    cdef int find_plans(self) except -1:
        """Do what `beam_search` does."""
        cdef work_t* w = &self.e.w
        cdef int width = 16
        self.n_queued = 0
        self.enqueue(&w.root, -1, PASS, 0)
        self.evaluate()
        note_plan(w, self.values[0], turn_hash(&w.root, w.table, w.card_keys), -1, PASS)
        while not w.budget.over:
            width = min(width, self.e.o.width)
            if self.follow(width) or w.won or width == self.e.o.width:
                return 0
            width *= 4
        return 0

    cdef bint follow(self, int width) except -1:
        """Do what `beam_pass` does, except for its search for wins."""
        cdef work_t* w = &self.e.w
        cdef query_t* a
        cdef int n_here = 1, n_next, depth = 0, now = 0, i, ended
        cdef bint complete = True
        w.salt = mixed(w.salt + 1)
        w.level[0][0] = w.root
        w.level_records[0][0] = -1
        is_new(w, turn_hash(&w.root, w.table, w.card_keys))
        while n_here and depth < <int>MAX_TURN_ACTIONS - 1:
            depth += 1
            with nogil:
                ended = self.make_children(n_here, now, &complete)
            if w.won:
                return True
            if self.n_queued:
                self.evaluate()
            n_next = <int>self.n_queued
            for i in range(n_next):
                a = &self.queue[i]
                w.candidates[i].value = self.values[i]
                w.candidates[i].parent = a.parent
                w.candidates[i].action = a.action
                note_plan(
                    w, self.values[i], a.hash, w.level_records[now][a.parent], a.action)
            if ended:
                return False
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

    cdef bint make_children(self, int n_here, int now, bint* complete) noexcept nogil:
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
        return False

    # ---- turns after the player's ---------------------------------------------------------------

    cdef int play_turns(self, int n) except -1:
        """Play the turns of the first `n` lines that are active, each as `narrow_turns` would, or
        `greedy_turn` if they are `greedy`."""
        cdef work_t* w = &self.e.w
        cdef line_t* line
        cdef int active = 0, i, _step
        self.n_queued = 0
        for i in range(n):
            line = &self.lines[i]
            if line.active:
                self.start_line(line)
                active += line.active
        if active:
            self.evaluate()
        for i in range(n):
            line = &self.lines[i]
            if line.active:
                line.best = line.values[0] = self.values[line.row[0]]
                line.log_kept[0] = self.log_prior(line.row[0], PASS)
        for _step in range(MAX_TURN_ACTIONS):
            if active == 0 or is_late(w):
                break
            with nogil:
                self.n_queued = 0
                for i in range(n):
                    if self.lines[i].active:
                        self.expand(&self.lines[i])
            if self.n_queued:
                self.evaluate()
            active = 0
            with nogil:
                for i in range(n):
                    if self.lines[i].active:
                        self.go_on(&self.lines[i])
                        active += self.lines[i].active
        for i in range(n):
            self.lines[i].active = False
        return 0

    cdef void start_line(self, line_t* line) noexcept nogil:
        """Enqueue the start of a turn, unless attacks alone win there."""
        line.who = line.s.turn & 1
        line.n_here = line.n_kept = 1
        line.kept[0] = line.here[0] = line.s
        line.log_kept[0] = line.log_here[0] = 0
        if can_kill(&line.s, self.e.w.table):
            self.win_line(line, &line.s)
            return
        line.row[0] = <int32_t>self.n_queued
        self.enqueue(&line.s, 0, PASS, 0)

    cdef void win_line(self, line_t* line, const state_t* end) noexcept nogil:
        """End a winning turn after its remaining attacks; that is the line's only end."""
        line.active = False
        line.n_kept = 1
        line.kept[0] = end[0]
        line.kept[0].p[line.who].won = 1
        line.values[0] = MAX_VALUE
        line.log_kept[0] = 0

    cdef void expand(self, line_t* line) noexcept nogil:
        """Enqueue the positions one action later, unless one of them wins."""
        cdef work_t* w = &self.e.w
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef state_t child
        cdef bint wins
        cdef int n, i, j
        line.first = line.end = <int32_t>self.n_queued
        for i in range(line.n_here):
            n = state_list(&line.here[i], w.table, actions)
            w.nodes += n - 1
            w.budget.nodes -= n - 1
            w.budget.until_clock -= n - 1
            for j in range(1, n):
                child = line.here[i]
                state_apply(&child, w.table, actions[j])
                if child.p[1 - line.who].won:
                    continue
                wins = child.p[line.who].won
                if wins or not self.greedy and can_kill(&child, w.table):
                    self.n_queued = line.first
                    self.win_line(line, &child)
                    return
                if self.enqueue(
                    &child, i, actions[j],
                    line.log_here[i] + self.log_prior(line.row[i], actions[j]),
                ) is NULL:
                    return
        line.end = <int32_t>self.n_queued

    cdef void go_on(self, line_t* line) noexcept nogil:
        """Make the best positions of the last call the next level; stop when none is better."""
        cdef work_t* w = &self.e.w
        cdef float values[MAX_REPLY_WIDTH]
        cdef int32_t rows[MAX_REPLY_WIDTH]
        cdef int n = 0, i, k, row
        for row in range(line.first, line.end):
            k = place_of(values, n, w.reply_width, self.values[row], True)
            if k < 0:
                continue
            if n < w.reply_width:
                n += 1
            for i in range(n - 1, k, -1):
                values[i] = values[i - 1]
                rows[i] = rows[i - 1]
            values[k] = self.values[row]
            rows[k] = row
        line.n_here = n
        for i in range(n):
            line.here[i] = self.states[rows[i]]
            line.row[i] = rows[i]
            line.log_here[i] = self.queue[rows[i]].log_prior
            if not self.greedy:
                self.keep(line, i, values[i])
        if n == 0 or values[0] <= line.best:
            line.active = False
            return
        line.best = values[0]
        if self.greedy:
            line.kept[0] = line.here[0]
            line.values[0] = values[0]
            line.log_kept[0] = line.log_here[0] + self.log_prior(line.row[0], PASS)

    cdef void keep(self, line_t* line, int place, float value) noexcept nogil:
        """Add a position of the level to the ends if it is one of the best."""
        cdef int most = self.e.w.reply_width, i
        cdef int k = place_of(line.values, line.n_kept, most, value, False)
        if k < 0:
            return
        if line.n_kept < most:
            line.n_kept += 1
        for i in range(line.n_kept - 1, k, -1):
            line.values[i] = line.values[i - 1]
            line.kept[i] = line.kept[i - 1]
            line.log_kept[i] = line.log_kept[i - 1]
        line.values[k] = value
        line.kept[k] = line.here[place]
        line.log_kept[k] = line.log_here[place] + self.log_prior(line.row[place], PASS)

    # ---- playing plans on -----------------------------------------------------------------------

    cdef int32_t play_world(self, halving_t* h) except -1:
        """Play the ends of the plans that are left on in the next world."""
        cdef work_t* w = &self.e.w
        cdef int i
        for i in range(h.alive):
            self.lines[i].s = w.ends[h.plan[h.order[i]]]
            put_world(w, &self.lines[i].s, world_of(w, <int>h.done))
        self.play_on(h.alive, self.e.o.turns)
        if is_late(w):          # a world counts only if all plans were tried in it
            return 0
        for i in range(h.alive):
            h.value[h.order[i]] += self.result(&self.lines[i])
        return 1

    cdef int play_on(self, int n, int turns) except -1:
        """Play further turns from the ends of turns in the first `n` lines."""
        cdef work_t* w = &self.e.w
        cdef line_t* line
        cdef bint over[MAX_PLANS]
        cdef int i, _turn
        memset(over, 0, sizeof(over))
        for _turn in range(turns):
            for i in range(n):
                line = &self.lines[i]
                line.active = False
                if over[i]:
                    continue
                state_end_turn(&line.s, w.table)
                line.active = state_winner(&line.s) < 0
                if not line.active:
                    over[i] = True
                    line.value = MAX_VALUE if line.s.p[line.s.turn & 1].won else -MAX_VALUE
            self.play_turns(n)
            for i in range(n):
                line = &self.lines[i]
                if not over[i]:
                    line.s = line.kept[0]
                    line.value = line.values[0]
                    over[i] = state_winner(&line.s) >= 0
        return 0

    cdef double played_on(self, const state_t* end, int n) except? -2:
        cdef double total = 0
        cdef int i, world, part
        for world in range(0, n, MAX_PLANS):
            part = min(n - world, <int>MAX_PLANS)
            for i in range(part):
                self.lines[i].s = end[0]
                put_world(&self.e.w, &self.lines[i].s, world_of(&self.e.w, world + i))
            self.play_on(part, self.e.o.turns)
            for i in range(part):
                total += self.result(&self.lines[i])
        return total

    cdef float result(self, const line_t* line) noexcept nogil:
        """Return the expected result of a line for the searching player."""
        cdef float value = squashed(line.value, self.e.w.eval)
        return value if (line.s.turn & 1) == self.e.w.who else -value

    # ---- the tree -------------------------------------------------------------------------------

    cdef int32_t play_visits(self, halving_t* h) except -1:
        """Follow the plans that are left as `visit` does, all of them in step."""
        cdef work_t* w = &self.e.w
        cdef turn_tree_t* tree = &self.e.tree
        cdef int waiting = 1, i
        cdef bint late
        for i in range(h.alive):
            start_visit(w, tree, &self.visits[i], h.order[i])
        while waiting and not is_late(w):
            waiting = 0
            for i in range(h.alive):
                self.lines[i].active = descend(w, tree, &self.e.o, &self.visits[i], waiting)
                if self.lines[i].active:
                    self.lines[i].s = self.visits[i].s
                    waiting += 1
            if waiting:
                self.add_turns(h.alive)
        late = is_late(w)
        if not late:
            for i in range(h.alive):
                end_visit(w, &self.visits[i], &tree.nodes[h.order[i]])
        add_visits(h, tree)
        return not late

    cdef int add_turns(self, int n) except -1:
        """Add the turns that visits wait for to the tree, and enter the best one of each."""
        cdef bint waits[MAX_PLANS]
        cdef turn_tree_t* tree = &self.e.tree
        cdef line_t* line
        cdef visit_t* v
        cdef int i, j
        for i in range(n):
            waits[i] = self.lines[i].active
        self.play_turns(n)
        for i in range(n):
            if not waits[i]:
                continue
            line = &self.lines[i]
            v = &self.visits[i]
            v.turns.first = tree.n_nodes
            v.turns.n = line.n_kept
            for j in range(line.n_kept):
                add_node(tree, &line.kept[j], squashed(line.values[j], self.e.w.eval))
            if self.priors is None:
                set_priors(tree, v.turns, self.e.o.temperature)
            else:
                self.use_priors(v.turns, line)
            enter_new(tree, &self.e.o, v)
        return 0

    cdef void use_priors(self, const turns_t* turns, const line_t* line) noexcept nogil:
        """Set the prior of each turn to the product of its actions' priors, final PASS included."""
        cdef turn_node_t* nodes = &self.e.tree.nodes[turns.first]
        cdef float most = line.log_kept[0], total = 0
        cdef int i
        for i in range(turns.n):
            most = max(most, line.log_kept[i])
        for i in range(turns.n):
            nodes[i].prior = exp32(line.log_kept[i] - most)
            total += nodes[i].prior
        for i in range(turns.n):
            nodes[i].prior /= total
