"""Searches that divide their worlds among threads: `SharedEngine`.

One thread finds the plans. Then each thread plays out all remaining plans in its own worlds, and
the results are combined after each round, in the order of the threads. With a bound of nodes or
visits, the answer therefore depends on the number of threads but not on timing. This is a separate
module because exported bots have one thread.
"""

from dataclasses import replace
from threading import Thread

from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
)
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from locmsim._core cimport mixed, state_t
from locmsim._locks cimport wait_for
from locmsim.networks._network cimport Network
from locmsim.search._beam cimport (
    beam_search,
    end_round,
    halving_t,
    put_best_first,
    settle,
    start_halving,
)
from locmsim.search._engine cimport (
    UNLIMITED,
    Engine,
    engine_answer,
    engine_begin,
    engine_end_plans,
    engine_start_plans,
    engine_t,
    engine_wins,
    found_t,
)
from locmsim.search._evaluation cimport Evaluator
from locmsim.search._mcts cimport add_node, mean_result, node_t, turns_t, visit
from locmsim.search._work cimport MAX_PLANS, budget_t, is_late, play_on, work_t, world_of

from locmsim.search.options import MCTSOptions

__all__ = ["SharedEngine"]

cdef enum:
    NODES_A_ROUND = 1 << 14     # approximate nodes of each thread, 1 or 2 ms

ctypedef struct part_t:         # the work of one thread
    engine_t* e
    PyThread_type_lock go
    PyThread_type_lock done
    int32_t passes              # in this round; one tries all plans that are left in one world
    int32_t completed           # passes that were finished in time
    int32_t worlds              # worlds used in the search so far
    float total[MAX_PLANS]      # sums of results in this round


cdef class SharedEngine(Engine):
    """An `Engine` with several `threads`, of which the calling one is the first."""

    cdef int n
    cdef part_t* parts
    cdef list others                # engines of the other threads
    cdef bint over
    # The present round:
    cdef const int32_t* order       # plans; those of the tree are its first nodes
    cdef int32_t alive

    def __cinit__(self, options, Evaluator evaluation not None, Network network, int threads):
        cdef Engine other
        cdef int i
        self.n = threads
        self.parts = <part_t*>calloc(threads, sizeof(part_t))
        if self.parts is NULL:
            raise MemoryError(f"{threads} threads")
        if isinstance(options, MCTSOptions):    # each has a share of the worlds and of the tree
            options = replace(
                options, worlds=-(-options.worlds // threads),
                max_nodes=max(16, options.max_nodes // threads))
            self.e.w.max_worlds = options.worlds
        self.others = [
            Engine(replace(options, width=1), evaluation, network) for _ in range(1, threads)]
        self.parts[0].e = &self.e
        for i in range(1, threads):
            other = self.others[i - 1]
            self.parts[i].e = &other.e
            self.parts[i].go = PyThread_allocate_lock()
            self.parts[i].done = PyThread_allocate_lock()
            if self.parts[i].go is NULL or self.parts[i].done is NULL:
                raise MemoryError(f"{threads} threads")
            PyThread_acquire_lock(self.parts[i].go, 1)
            PyThread_acquire_lock(self.parts[i].done, 1)

    def __dealloc__(self):
        cdef int i
        if self.parts is not NULL:
            for i in range(1, self.n):
                if self.parts[i].go is not NULL:
                    PyThread_free_lock(self.parts[i].go)
                if self.parts[i].done is not NULL:
                    PyThread_free_lock(self.parts[i].done)
        free(self.parts)

    def evaluate_by(self, Evaluator evaluation not None, Network network=None):
        Engine.evaluate_by(self, evaluation, network)
        for other in self.others:
            other.evaluate_by(evaluation, network)

    # ---- the threads ----------------------------------------------------------------------------

    def serve(self, int i):
        """Run another thread until the search is over."""
        with nogil:
            while True:
                wait_for(self.parts[i].go)
                if self.over:
                    break
                self.work(&self.parts[i])
                PyThread_release_lock(self.parts[i].done)

    cdef void work(self, part_t* p) noexcept nogil:
        """Play the passes of one thread."""
        cdef engine_t* e = p.e
        cdef float results[MAX_PLANS]
        cdef const state_t* world = NULL
        cdef int i, k, _pass
        p.completed = 0
        for i in range(self.alive):
            p.total[i] = 0
        for _pass in range(p.passes):
            if not e.o.is_tree:
                world = world_of(&e.w, p.worlds)
            for i in range(self.alive):
                if is_late(&e.w):
                    return              # a world counts only if all plans were tried in it
                k = self.order[i]
                if e.o.is_tree:
                    visit(&e.w, &e.tree, &e.o, &e.tree.nodes[k], k)
                    e.w.budget.nodes -= 1
                else:
                    results[i] = play_on(&e.w, &self.e.w.ends[k], world, e.o.turns)
            for i in range(self.alive):
                p.total[i] += results[i] if not e.o.is_tree else 0
            p.completed += 1
            p.worlds += 1

    cdef int play_round(self, int64_t passes, const int32_t* order, int32_t alive) noexcept nogil:
        """Distribute the passes; return how many were played."""
        cdef work_t* w = &self.e.w
        cdef work_t* other
        cdef int completed, i
        self.order = order
        self.alive = alive
        for i in range(self.n):
            self.parts[i].passes = <int32_t>(passes // self.n + (i < passes % self.n))
        for i in range(1, self.n):
            PyThread_release_lock(self.parts[i].go)
        self.work(&self.parts[0])
        completed = self.parts[0].completed
        for i in range(1, self.n):
            wait_for(self.parts[i].done)
            completed += self.parts[i].completed
            other = &self.parts[i].e.w
            w.budget.nodes -= UNLIMITED - other.budget.nodes
            w.nodes += other.nodes
            other.budget.nodes = UNLIMITED
            other.nodes = 0
        return completed

    # ---- the search -----------------------------------------------------------------------------

    cdef int run(self, int64_t iterations, found_t* found) except -1:
        cdef work_t* w = &self.e.w
        cdef budget_t whole, part
        cdef int n = 0
        found.iterations = 0
        with nogil:
            engine_wins(&self.e)
            if not w.won:
                engine_start_plans(&self.e, iterations, &whole, &part)
                beam_search(w, self.e.o.width)
                engine_end_plans(&self.e, &whole, &part)
        if not w.won:
            self.begin_parts()
            threads = [
                Thread(target=self.serve, args=(i,), daemon=True) for i in range(1, self.n)]
            self.over = False
            for thread in threads:
                thread.start()
            with nogil:
                if self.e.o.is_tree:
                    found.iterations = self.search_tree(iterations, &n)
                else:
                    n = self.choose_plan()
                self.over = True
                for i in range(1, self.n):
                    PyThread_release_lock(self.parts[i].go)
            for thread in threads:
                thread.join()
        engine_answer(&self.e, n, found)
        return 0

    cdef int begin_parts(self) except -1:
        """Prepare the other engines for the same search, in other worlds."""
        cdef work_t* w = &self.e.w
        cdef Engine other
        cdef int i
        self.parts[0].worlds = 0
        for i in range(1, self.n):
            other = self.others[i - 1]
            other.use_table(self.table)
            other.e.w.watch = NULL      # the first thread checks for signals
            engine_begin(
                &other.e, &w.root, w.table, w.unknown, w.own_deck, mixed(w.world_seed + i),
                w.budget.deadline, UNLIMITED)
            self.parts[i].worlds = 0
        return 0

    cdef int64_t passes_left(self, const halving_t* h, int64_t bound) noexcept nogil:
        """The passes of the next round: at least one for each thread, if there are nodes for it.

        A round is long compared with the time that the threads need to meet, and at most half as
        long as the time until the next plans drop out, by nodes or by the `bound` of all passes.
        """
        cdef int64_t nodes = min(<int64_t>NODES_A_ROUND, h.nodes // (2 * h.rounds * self.n))
        cdef int64_t each = 1       # while the cost of a plan is a guess
        if h.left < h.nodes:
            each = min(nodes // (h.cost * h.alive), bound // (2 * h.rounds * self.n))
        return min(self.n * max(each, 1), self.e.w.budget.nodes // (h.cost * h.alive))

    cdef int choose_plan(self) noexcept nogil:
        """Do what `best_plan` does."""
        cdef work_t* w = &self.e.w
        cdef float total[MAX_PLANS]
        cdef int32_t order[MAX_PLANS]
        cdef float static_worlds = self.e.o.static_worlds
        cdef halving_t h
        cdef int64_t passes
        cdef int worlds = 0, completed, i, k
        start_halving(w, &h, self.e.o.turns, self.e.o.plans, self.e.o.plans, order)
        if self.e.o.turns == 0:
            return order[0]
        for i in range(w.n_plans):
            total[i] = static_worlds * w.plans[i].result
        while h.round < h.rounds:
            passes = min(
                self.passes_left(&h, w.max_worlds), <int64_t>(w.max_worlds - worlds))
            if passes < 1:
                break
            completed = self.play_round(passes, order, h.alive)
            for i in range(h.alive):
                for k in range(self.n):
                    total[order[i]] += self.parts[k].total[i]
                w.plans[order[i]].visits += completed
            worlds += completed
            end_round(w, &h, <float>worlds / w.max_worlds, order, total)
            h.cost = 1 + (h.cost - 1) // passes
        settle(w, total, static_worlds)
        put_best_first(order, total, h.alive)
        return order[0]

    cdef int64_t search_tree(self, int64_t iterations, int* best) noexcept nogil:
        """Do what `tree_search` does."""
        cdef work_t* w = &self.e.w
        cdef engine_t* e
        cdef int32_t order[MAX_PLANS]
        cdef int32_t plans[MAX_PLANS]
        cdef float means[MAX_PLANS]
        cdef node_t sums[MAX_PLANS]
        cdef halving_t h
        cdef int64_t done = 0, passes
        cdef int n, i, k
        start_halving(w, &h, self.e.o.turns, self.e.o.plans, iterations, order)
        n = h.alive
        for i in range(n):
            means[i] = w.plans[order[i]].result
            plans[i] = i
        for k in range(self.n):
            e = self.parts[k].e
            e.tree.n_nodes = 0
            for i in range(n):
                add_node(&e.tree, &w.ends[order[i]], means[i])
            memset(e.tree.replies, 0, n * e.w.max_worlds * sizeof(turns_t))
        while h.round < h.rounds:
            passes = min(
                self.passes_left(&h, iterations // h.alive), (iterations - done) // h.alive)
            if passes < 1:
                break
            self.play_round(passes, plans, h.alive)
            done = 0
            for i in range(n):
                sums[i] = self.parts[0].e.tree.nodes[i]
                for k in range(1, self.n):
                    sums[i].visits += self.parts[k].e.tree.nodes[i].visits
                    sums[i].total += self.parts[k].e.tree.nodes[i].total
                done += sums[i].visits
                if sums[i].visits:
                    means[i] = mean_result(&sums[i], self.e.o.static_worlds)
                    w.plans[order[i]].visits = sums[i].visits
                    w.plans[order[i]].result = means[i]
            end_round(w, &h, <float>done / iterations, plans, means)
            h.cost = 1 + (h.cost - 1) // passes
        put_best_first(plans, means, h.alive)
        best[0] = order[plans[0]]
        return done
