# Beam search over the player's turn, first for a win; then the choice between whole turns.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from locmsim._core cimport state_t, turn_hash
from locmsim.search._wins cimport can_kill
from locmsim.search._work cimport candidate_t, is_new, work_t


cdef enum:                      # what `sift` finds
    LEFT_OUT = 0
    KEPT = 1
    WINNING = 2


# Sequential halving of the plans: after each share of the budget the worse half drops out.
ctypedef struct halving_t:
    int64_t start               # time at the start, by now_ns_
    int64_t nodes               # nodes of the budget at the start
    int64_t left                # nodes of the budget after the last round
    int64_t cost                # nodes of one plan in the last round; a guess at first
    int32_t alive               # plans that are left
    int32_t rounds, round       # number of halvings; those done so far


cdef inline int sift(
    work_t* w, const state_t* child, int record, uint8_t action, uint64_t* hash
) noexcept nogil:
    """Decide what to do with the position after an action before evaluating it; write its hash."""
    if child.p[1 - w.who].won:
        return LEFT_OUT
    if child.p[w.who].won or can_kill(child, w.table):
        w.won = True
        w.win.parent = record
        w.win.action = action
        return WINNING
    hash[0] = turn_hash(child, w.table, w.card_keys)
    return KEPT if is_new(w, hash[0]) else LEFT_OUT


# Levels of the beam: moves the k best candidates to the front.
cdef void select_best(candidate_t* c, int n, int k) noexcept nogil
cdef int make_level(work_t* w, int n, int now) noexcept nogil
# Both end at a winning turn, which sets `w.won` and `w.win`. The second fills `w.plans`.
cdef void search_wins(work_t* w, int width) noexcept nogil
cdef void beam_search(work_t* w, int width) noexcept nogil
# Compares the best plans, listed in `order`: each round tries all that are left once, from their
# ends in `w.ends`, and updates their values.
cdef void start_halving(
    work_t* w, halving_t* h, int turns, int plans, int64_t most, int32_t* order) noexcept nogil
cdef void end_round(
    const work_t* w, halving_t* h, float used, int32_t* order, const float* values) noexcept nogil
# Sets the mean result of each plan over the worlds it was tried in; the result expected at its end
# counts as `static_worlds` of them.
cdef void settle(work_t* w, const float* total, float static_worlds) noexcept nogil
cdef void put_best_first(int32_t* order, const float* values, int n) noexcept nogil
# Returns the plan with the best mean result over sampled worlds.
cdef int best_plan(work_t* w, int turns, int plans, float static_worlds) noexcept nogil
