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

from locmsim._core cimport mixed, state_t
from locmsim._locks cimport wait_for
from locmsim.networks._network cimport Network
from locmsim.search._engine cimport Engine, engine_begin, engine_run, engine_t, found_t
from locmsim.search._evaluation cimport Evaluator
from locmsim.search._halving cimport add_visits
from locmsim.search._mcts cimport start_tree, visit
from locmsim.search._work cimport (
    MAX_PLANS,
    UNLIMITED,
    halving_t,
    is_late,
    play_on,
    steps_t,
    work_t,
    world_of,
)

from locmsim.search.options import MCTSOptions

__all__ = ["SharedEngine"]

ctypedef struct part_t:         # the work of one thread
    engine_t* e
    PyThread_type_lock go
    PyThread_type_lock done
    int32_t passes              # in this round
    int32_t completed           # passes that were finished in time
    int32_t worlds              # worlds used in the search so far
    float total[MAX_PLANS]      # sums of results in this round

ctypedef struct crew_t:         # the threads, of which the calling one is the first
    int32_t n
    part_t* parts
    bint over
    const halving_t* h          # of the present round
    void* engine                # the `SharedEngine`


# ---- a round -------------------------------------------------------------------------------------

cdef void work(const crew_t* crew, part_t* p) noexcept nogil:
    """Play the passes of one thread: the plans that are left, each time in its next world."""
    cdef engine_t* e = p.e
    cdef const halving_t* h = crew.h
    cdef const state_t* ends = crew.parts[0].e.w.ends
    cdef float results[MAX_PLANS]
    cdef const state_t* world = NULL
    cdef int i, k, _pass
    p.completed = 0
    for i in range(h.alive):
        p.total[i] = 0
    for _pass in range(p.passes):
        if not e.o.is_tree:
            world = world_of(&e.w, p.worlds)
        for i in range(h.alive):
            if is_late(&e.w):
                return              # a world counts only if all plans were tried in it
            k = h.order[i]
            if e.o.is_tree:
                visit(&e.w, &e.tree, &e.o, k)
            else:
                results[i] = play_on(&e.w, &ends[h.plan[k]], world, e.o.turns)
        if not e.o.is_tree:
            for i in range(h.alive):
                p.total[i] += results[i]
        p.completed += 1
        p.worlds += 1


cdef int32_t play(void* owner, halving_t* h, int32_t passes) noexcept nogil:
    """Distribute the passes of a round; add up their results in the order of the threads."""
    cdef crew_t* crew = <crew_t*>owner
    cdef part_t* parts = crew.parts
    cdef int32_t completed = 0
    cdef int i, k
    if parts[0].e.w.failed:
        return 0
    crew.h = h
    for k in range(crew.n):
        parts[k].passes = passes // crew.n + (k < passes % crew.n)
    for k in range(1, crew.n):
        PyThread_release_lock(parts[k].go)
    work(crew, &parts[0])
    for k in range(crew.n):
        if k:
            wait_for(parts[k].done)
            take_nodes(&parts[0].e.w, &parts[k].e.w)
        completed += parts[k].completed
        if parts[k].e.o.is_tree:
            add_visits(h, &parts[k].e.tree)
            continue
        for i in range(h.alive):
            h.value[h.order[i]] += parts[k].total[i]
    return completed


cdef void take_nodes(work_t* w, work_t* other) noexcept nogil:
    """Move the nodes that another thread used in this round to the first one's count."""
    w.budget.nodes -= UNLIMITED - other.budget.nodes
    w.nodes += other.nodes
    other.budget.nodes = UNLIMITED
    other.nodes = 0


cdef void start(void* owner, const halving_t* h) noexcept with gil:
    """Start the other threads."""
    cdef SharedEngine engine = <SharedEngine>(<crew_t*>owner).engine
    try:
        engine.start_threads(h)
    except BaseException as error:
        engine.error = error
        engine.e.w.failed = True


cdef class SharedEngine(Engine):
    """An `Engine` with several `threads`, of which the calling one is the first."""

    cdef crew_t crew
    cdef steps_t steps
    cdef list others                # engines of the other threads
    cdef list threads               # those that run

    def __cinit__(self, options, Evaluator evaluation not None, Network network, int threads):
        cdef part_t* parts = <part_t*>calloc(threads, sizeof(part_t))
        cdef Engine other
        cdef int i
        if parts is NULL:
            raise MemoryError(f"{threads} threads")
        self.crew.n = threads
        self.crew.parts = parts
        self.crew.engine = <void*>self
        self.steps.start = start
        self.steps.play = play
        self.steps.threads = threads
        self.steps.owner = &self.crew
        self.e.w.steps = &self.steps
        self.threads = []
        if isinstance(options, MCTSOptions):    # each has a share of the worlds and of the tree
            options = replace(
                options, worlds=-(-options.worlds // threads),
                max_nodes=max(16, options.max_nodes // threads))
            self.e.w.max_worlds = options.worlds
        self.others = [
            Engine(replace(options, width=1), evaluation, network) for _ in range(1, threads)]
        parts[0].e = &self.e
        for i in range(1, threads):
            other = self.others[i - 1]
            parts[i].e = &other.e
            parts[i].go = PyThread_allocate_lock()
            parts[i].done = PyThread_allocate_lock()
            if parts[i].go is NULL or parts[i].done is NULL:
                raise MemoryError(f"{threads} threads")
            PyThread_acquire_lock(parts[i].go, 1)
            PyThread_acquire_lock(parts[i].done, 1)

    def __dealloc__(self):
        cdef int i
        if self.crew.parts is not NULL:
            for i in range(1, self.crew.n):
                if self.crew.parts[i].go is not NULL:
                    PyThread_free_lock(self.crew.parts[i].go)
                if self.crew.parts[i].done is not NULL:
                    PyThread_free_lock(self.crew.parts[i].done)
        free(self.crew.parts)

    def evaluate_by(self, Evaluator evaluation not None, Network network=None):
        Engine.evaluate_by(self, evaluation, network)
        for other in self.others:
            other.evaluate_by(evaluation, network)

    def serve(self, int i):
        """Run another thread until the search is over."""
        with nogil:
            while True:
                wait_for(self.crew.parts[i].go)
                if self.crew.over:
                    break
                work(&self.crew, &self.crew.parts[i])
                PyThread_release_lock(self.crew.parts[i].done)

    cdef int run(self, int64_t iterations, found_t* found) except -1:
        cdef int i
        with nogil:
            engine_run(&self.e, iterations, found)
        self.crew.over = True
        threads, self.threads = self.threads, []
        for i in range(1, len(threads) + 1):
            PyThread_release_lock(self.crew.parts[i].go)
        for thread in threads:
            thread.join()
        return 0

    cdef int start_threads(self, const halving_t* h) except -1:
        """Prepare the other engines for the same search in other worlds, and start their threads.

        If too few can be started, the first one has failed, and no round is played.
        """
        cdef work_t* w = &self.e.w
        cdef Engine other
        cdef int i
        self.crew.parts[0].worlds = 0
        self.crew.over = False
        for i in range(1, self.crew.n):
            other = self.others[i - 1]
            other.use_table(self.table)
            other.e.w.watch = NULL      # the first thread checks for signals
            engine_begin(
                &other.e, &w.root, w.table, w.unknown, w.own_deck, mixed(w.world_seed + i),
                w.budget.deadline, UNLIMITED)
            if other.e.o.is_tree:
                start_tree(w, &other.e.tree, h)
            self.crew.parts[i].worlds = 0
        for i in range(1, self.crew.n):
            thread = Thread(target=self.serve, args=(i,), daemon=True)
            thread.start()
            self.threads.append(thread)
        return 0
