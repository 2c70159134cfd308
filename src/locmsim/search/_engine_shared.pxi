# Divides the worlds of a search among threads: `SharedEngine`.
#
# One thread finds the plans. Then each thread plays out all remaining plans in its own worlds, and
# the results are combined after each round, in the order of the threads. With a bound of nodes or
# visits, the answer therefore depends on the number of threads but not on timing. Part of
# _engine.pyx.

ctypedef struct share_t:        # the work of one thread
    engine_t* e
    void* go                    # locks of cpython.pythread
    void* done
    int32_t passes              # in this round
    int32_t completed           # passes that were finished in time
    int32_t worlds              # worlds used in the search so far
    float total[MAX_PLANS]      # sums of results in this round

ctypedef struct thread_group_t:         # the threads, of which the calling one is the first
    int32_t n
    share_t* parts
    bint over
    const halving_t* h          # of the present round
    void* engine                # the `SharedEngine`


# ---- a round -------------------------------------------------------------------------------------

cdef void work(const thread_group_t* group, share_t* p) noexcept nogil:
    """Play the passes of one thread: the plans that are left, each time in its next world."""
    cdef engine_t* e = p.e
    cdef const halving_t* h = group.h
    cdef const state_t* ends = group.parts[0].e.w.ends
    cdef float results[MAX_PLANS]
    cdef const state_t* world = NULL
    cdef int i, k, _pass
    p.completed = 0
    for i in range(h.cuts.alive):
        p.total[i] = 0
    for _pass in range(p.passes):
        if not e.o.is_tree:
            world = sampled_world(&e.w, p.worlds)
        for i in range(h.cuts.alive):
            if must_end(&e.w):
                return              # a world counts only if all plans were tried in it
            k = h.order[i]
            if e.o.is_tree:
                visit(&e.w, &e.tree, &e.o, k)
            else:
                results[i] = play_on(&e.w, &ends[h.plan[k]], world, e.o.turns)
        if not e.o.is_tree:
            for i in range(h.cuts.alive):
                p.total[i] += results[i]
        p.completed += 1
        p.worlds += 1


cdef int32_t shared_play(void* owner, halving_t* h, int32_t passes) noexcept nogil:
    """Distribute the passes of a round; add up their results in the order of the threads."""
    cdef thread_group_t* group = <thread_group_t*>owner
    cdef share_t* parts = group.parts
    cdef int32_t completed = 0
    cdef int i, k
    if parts[0].e.w.failed:
        return 0
    group.h = h
    for k in range(group.n):
        parts[k].passes = passes // group.n + (k < passes % group.n)
    for k in range(1, group.n):
        PyThread_release_lock(parts[k].go)
    work(group, &parts[0])
    for k in range(group.n):
        if k:
            wait_for(parts[k].done)
            take_nodes(&parts[0].e.w, &parts[k].e.w)
        completed += parts[k].completed
        if parts[k].e.o.is_tree:
            add_visits(h, &parts[k].e.tree)
            continue
        for i in range(h.cuts.alive):
            h.value[h.order[i]] += parts[k].total[i]
    return completed


cdef void take_nodes(work_t* w, work_t* other) noexcept nogil:
    """Move the nodes that another thread used in this round to the first one's count."""
    w.budget.nodes -= UNLIMITED - other.budget.nodes
    w.nodes += other.nodes
    other.budget.nodes = UNLIMITED
    other.nodes = 0


cdef void shared_start(void* owner, const halving_t* h) noexcept with gil:
    """Start the other threads."""
    cdef SharedEngine engine = <SharedEngine>(<thread_group_t*>owner).engine
    try:
        engine.start_threads(h)
    except BaseException as error:
        engine.error = error
        engine.e.w.failed = True


cdef class SharedEngine(SearchEngine):
    """Searches as a `SearchEngine` does, with several `threads`; the calling one is the first."""

    cdef thread_group_t group
    cdef steps_t steps
    cdef list others                # engines of the other threads
    cdef list threads               # those that run

    def __cinit__(
        self, options, CompiledEvaluation evaluation not None, Network network, int threads
    ):
        cdef share_t* parts = <share_t*>calloc(threads, sizeof(share_t))
        cdef SearchEngine other
        cdef int i
        if parts is NULL:
            raise MemoryError(f"{threads} threads")
        self.group.n = threads
        self.group.parts = parts
        self.group.engine = <void*>self
        self.steps.start = shared_start
        self.steps.play = shared_play
        self.steps.threads = threads
        self.steps.owner = &self.group
        self.e.w.steps = &self.steps
        self.threads = []
        if isinstance(options, MCTSOptions):    # each has a share of the worlds and of the tree
            options = replace(
                options, worlds=-(-options.worlds // threads),
                max_nodes=max(16, options.max_nodes // threads))
            self.e.w.max_worlds = options.worlds
        self.others = [
            SearchEngine(replace(options, width=1), evaluation, network) for _ in range(1, threads)]
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
        if self.group.parts is not NULL:
            for i in range(1, self.group.n):
                if self.group.parts[i].go is not NULL:
                    PyThread_free_lock(self.group.parts[i].go)
                if self.group.parts[i].done is not NULL:
                    PyThread_free_lock(self.group.parts[i].done)
        free(self.group.parts)

    def evaluate_by(self, CompiledEvaluation evaluation not None, Network network=None):
        SearchEngine.evaluate_by(self, evaluation, network)
        for other in self.others:
            other.evaluate_by(evaluation, network)

    def serve(self, int i):
        """Run another thread until the search is over."""
        with nogil:
            while True:
                wait_for(self.group.parts[i].go)
                if self.group.over:
                    break
                work(&self.group, &self.group.parts[i])
                PyThread_release_lock(self.group.parts[i].done)

    cdef int run(self, int64_t iterations, found_t* found) except -1:
        cdef int i
        with nogil:
            engine_run(&self.e, iterations, found)
        self.group.over = True
        threads, self.threads = self.threads, []
        for i in range(1, len(threads) + 1):
            PyThread_release_lock(self.group.parts[i].go)
        for thread in threads:
            thread.join()
        return 0

    cdef int start_threads(self, const halving_t* h) except -1:
        """Prepare the other engines for the same search in other worlds, and start their threads.

        If too few can be started, the first one has failed, and no round is played.
        """
        cdef work_t* w = &self.e.w
        cdef SearchEngine other
        cdef int i
        self.group.parts[0].worlds = 0
        self.group.over = False
        for i in range(1, self.group.n):
            other = self.others[i - 1]
            other.use_table(self.table)
            other.e.w.watch = NULL      # the first thread checks for signals
            engine_begin(
                &other.e, &w.root, w.table, w.unknown, w.knows_deck, mixed(w.world_seed + i),
                w.budget.deadline, UNLIMITED)
            if other.e.o.is_tree:
                start_tree(w, &other.e.tree, h)
            self.group.parts[i].worlds = 0
        for i in range(1, self.group.n):
            thread = Thread(target=self.serve, args=(i,), daemon=True)
            thread.start()
            self.threads.append(thread)
        return 0
