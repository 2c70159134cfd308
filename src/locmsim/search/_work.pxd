# Data of both searches: budget, positions within the turn, whole turns, sampled worlds.
#
# Read _core.pxd first. A search is for one player, `who`, who is to move. Everything hidden from
# them is arbitrary in the root and never read: hidden cards come from `worlds`, which are sampled
# from the player's belief (`state_deal`).

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from locmsim._core cimport MAX_CARDS, PASS, state_t, table_t, unknown_t
from locmsim.networks._network cimport network_t
from locmsim.search._evaluation cimport eval_t


cdef enum:
    MAX_PLANS = 256             # whole turns compared by the opponent's replies
    PLANS_SEEN = 4              # a network evaluates this many times as many
    MAX_TURN_ACTIONS = 64       # actions after which a turn is not followed further
    MAX_REPLY_WIDTH = 16        # width of the beam in later turns
    CLOCK_PERIOD = 32           # nodes between two readings of the clock, some 3 microseconds
    WATCH_PERIOD = 50_000_000   # nanoseconds between two calls of `watch`

cdef int64_t UNLIMITED          # time or nodes without bound

# The budget of a search, or of the part of it that is in progress: see `begin_share`.
ctypedef struct budget_t:
    int64_t deadline            # by now_ns_
    int64_t nodes               # nodes left; a node is an action applied and evaluated
    int64_t allotted            # nodes at the start of this part
    int32_t until_clock
    bint over

ctypedef struct record_t:       # how a position was reached
    int32_t parent              # record before the last action; -1 for the root
    uint8_t action

ctypedef struct candidate_t:    # a position of the next level of the beam
    float value
    int32_t parent              # place in this level
    uint8_t action

ctypedef struct plan_t:         # a whole turn
    float value                 # of the position at its end
    int32_t parent              # record before the last action; PASS: the root itself
    uint8_t action
    uint64_t hash
    int32_t visits              # number of playouts from its end
    float result                # their mean, -1 to 1, including the result expected at its end

ctypedef struct options_t:      # see the dataclasses in options.py
    bint is_tree                # MCTS, not beam search; options that one of them lacks are 0:
    int32_t turns
    int32_t reply_width         # 1: turns are played on greedily
    int32_t worlds
    float wins_share
    int32_t width
    int32_t plans
    float static_worlds
    float plan_share
    float exploration           # MCTS
    float temperature
    int32_t max_nodes

# Called several times a second; a negative result ends the search. `owner` is passed through.
ctypedef int (*watch_t)(void* owner) noexcept nogil

# Sequential halving: after each of `rounds` equal shares of the budget the worse half drops out.
ctypedef struct cuts_t:
    int32_t alive               # those that are left
    int32_t rounds, round       # number of halvings; those done so far

# That of the plans: each pass plays all that are left on in one more world. The driver is in
# _halving.pyx.
ctypedef struct halving_t:
    int64_t start               # time at the start, by now_ns_
    int64_t nodes               # nodes of the budget at the start
    int64_t left                # nodes of the budget after the last round
    int64_t cost                # nodes of one plan in a pass of the last round; a guess at first
    cuts_t cuts
    int32_t finished            # passes of the last round that were finished in time
    int32_t n                   # plans at the start
    int32_t plan[MAX_PLANS]     # those at the start, in `work_t.plans`; first by expected result
    int32_t order[MAX_PLANS]    # places in `plan`; those that are left come first
    float value[MAX_PLANS]      # [place]: what they are compared by, a sum or a mean of results
    int64_t done                # worlds that all plans were played on in, or visits of the tree
    # [place] Tree: visits of a plan and the sum of their results. The step adds up both anew.
    int32_t visits[MAX_PLANS]
    double total[MAX_PLANS]

# The steps of a search whose positions are not evaluated by weights, or whose plans are not played
# on by one thread.
ctypedef float (*value_of_root_t)(void* owner) noexcept nogil
ctypedef int (*make_children_t)(void* owner, int n, int now, bint* complete) noexcept nogil
ctypedef void (*start_t)(void* owner, const halving_t* h) noexcept nogil
ctypedef int32_t (*play_t)(void* owner, halving_t* h, int32_t passes) noexcept nogil

ctypedef struct steps_t:
    value_of_root_t value_of_root   # NULL, like the next one: by weights
    make_children_t make_children   # evaluates positions of the beam, see _beam.pyx
    start_t start               # called before the first round, or NULL
    play_t play                 # plays `passes` passes on; returns those that were finished in time
    int32_t threads             # that share the passes of a round
    void* owner                 # passed to the functions

ctypedef struct turn_ends_t:    # positions of a turn, by value: see `insert`
    int32_t n
    float values[MAX_REPLY_WIDTH]       # best first
    uint8_t places[MAX_REPLY_WIDTH]     # ... where each of them is in `s`
    state_t s[MAX_REPLY_WIDTH]

ctypedef struct work_t:
    const table_t* table
    const eval_t* eval
    const network_t* network    # predicts results instead of `eval`, or NULL
    watch_t watch               # or NULL
    int64_t next_watch          # by now_ns_
    void* owner
    const steps_t* steps        # NULL: by weights, in one thread
    bint failed                 # the watch has ended the search
    int32_t who
    state_t root
    uint64_t card_keys[MAX_CARDS]
    budget_t budget
    int64_t nodes               # nodes so far
    int32_t depth               # longest sequence of actions so far
    record_t* records
    int32_t n_records, max_records
    state_t* level[2]           # positions of the present and the next level of the beam
    int32_t* level_records[2]
    int32_t max_width
    candidate_t* candidates
    int32_t max_candidates
    uint64_t* seen              # direct-mapped table of hashes: overwritten ones are forgotten
    uint64_t seen_mask
    uint64_t salt               # tells the hashes of this search from those left in `seen`
    plan_t plans[MAX_PLANS]     # the best whole turns, best first
    int32_t n_plans, max_plans
    state_t ends[MAX_PLANS]     # ... and the positions at their ends
    bint won                    # a winning turn was found; attacks on the player may follow it:
    plan_t win
    int32_t reply_width         # 1: turns are played on greedily
    state_t* worlds             # samples of the hidden cards, drawn when they are first used
    int32_t n_worlds, max_worlds
    uint64_t world_seed
    const unknown_t* unknown    # ... from this
    bint own_deck               # ... except the player's deck, of which the order alone is unknown


# Returns whether time is up or the search must end.
cdef bint is_late(work_t* w) noexcept nogil
# Begins a part of the search with a share of the budget, of which `most` bounds the nodes where
# neither time nor nodes do; returns the whole budget. The second continues with that, minus the
# nodes that the part used.
cdef budget_t begin_share(work_t* w, float share, int64_t most) noexcept nogil
cdef void end_share(work_t* w, const budget_t* whole) noexcept nogil


cdef inline bint spend(work_t* w) noexcept nogil:
    """Take one node of the budget; False if it is used up."""
    cdef budget_t* b = &w.budget
    if b.over:
        return False
    b.nodes -= 1
    b.until_clock -= 1
    if b.nodes < 0:
        b.over = True
        return False
    if b.until_clock <= 0:
        b.until_clock = CLOCK_PERIOD
        if is_late(w):
            b.over = True
            return False
    w.nodes += 1
    return True


cdef inline void start_cuts(cuts_t* cuts, int32_t n) noexcept nogil:
    """Begin with n candidates."""
    cuts.alive = n
    cuts.rounds = cuts.round = 0
    while (1 << cuts.rounds) < n:
        cuts.rounds += 1


cdef inline int32_t left_after(cuts_t* cuts, float used) noexcept nogil:
    """Return how many candidates are left after a share of the budget, and count the halvings."""
    cdef int32_t left = cuts.alive
    while cuts.round < cuts.rounds and used * cuts.rounds >= cuts.round + 1:
        cuts.round += 1
        left = (left + 1) >> 1
    return left


cdef inline bint is_new(work_t* w, uint64_t hash) noexcept nogil:
    """Return whether a position was not seen yet, and record it."""
    cdef uint64_t key = hash ^ w.salt
    cdef uint64_t* place = &w.seen[hash & w.seen_mask]
    if place[0] == key:
        return False
    place[0] = key
    return True


cdef inline int32_t add_record(work_t* w, int32_t parent, uint8_t action) noexcept nogil:
    """Record how a position was reached; return the number of the record, -2 if none is left."""
    cdef record_t* r
    if w.n_records == w.max_records:
        return -2
    r = &w.records[w.n_records]
    r.parent = parent
    r.action = action
    w.n_records += 1
    return w.n_records - 1


cdef inline int insert(
    float* values, uint8_t* places, int n, int most, float value, bint once
) noexcept nogil:
    """Insert a value after the equal or better of `n` values, of which the best `most` are kept.

    Returns the place for what belongs to it, which is `n` if their number grows; -1 if it is not
    among the best or, with `once`, the same value is there. Nothing else has to be moved.
    """
    cdef int k = n, i, place
    while k > 0 and values[k - 1] < value:
        k -= 1
    if k == most or once and k > 0 and values[k - 1] == value:
        return -1
    place = n if n < most else places[most - 1]
    for i in range(n if n < most else most - 1, k, -1):
        values[i] = values[i - 1]
        places[i] = places[i - 1]
    values[k] = value
    places[k] = <uint8_t>place
    return place


cdef inline void put_world(const work_t* w, state_t* s, const state_t* world) noexcept nogil:
    """Fill the hidden places with the cards of a sampled world."""
    cdef int op = 1 - w.who
    s.p[op].hand = world.p[op].hand
    s.p[op].cost_kinds = world.p[op].cost_kinds
    memcpy(s.deck, world.deck, sizeof(s.deck))


# Return the value of a position for `who`, whose turn ends; and the expected result, -1 to 1.
cdef float value_of(const work_t* w, const state_t* s, int who) noexcept nogil
cdef float result_of(work_t* w, const state_t* s, int who) noexcept nogil
cdef int path_of(const work_t* w, int32_t record, int action, uint8_t* path) noexcept nogil
cdef void note_plan(
    work_t* w, float value, uint64_t hash, int32_t parent, uint8_t action) noexcept nogil
# Later turns, of either player.
cdef void start_ends(turn_ends_t* ends, const state_t* s, float value) noexcept nogil
cdef void narrow_turns(work_t* w, const state_t* start, turn_ends_t* ends) noexcept nogil
cdef const state_t* sampled_world(work_t* w, int i) noexcept nogil
cdef float play_on(work_t* w, const state_t* end, const state_t* world, int turns) noexcept nogil
