# Beam search over the own turn, first for a win within it; then the choice between whole turns.

from libc.stdint cimport int32_t, int64_t

from locmsim.search._work cimport work_t


# Sequential halving of the plans: after each part of the budget the worse half drops out.
ctypedef struct halving_t:
    int64_t start               # of now_ns_
    int64_t nodes               # of the budget at the start
    int64_t left                # ... after the last round
    int64_t cost                # nodes of one plan in the last round; a guess at first
    int32_t alive               # plans
    int32_t rounds, round       # how often half of them drop out; how often that was


# A winning turn ends these: `w.won` and `w.win`. The second fills `w.plans`.
cdef void search_wins(work_t* w, int width) noexcept nogil
cdef void beam_search(work_t* w, int width) noexcept nogil
# What compares the best of them, in `order`: each round tries all that are alive once, from their
# ends in `w.ends`, and gives them values.
cdef void start_halving(
    work_t* w, halving_t* h, int turns, int plans, int64_t most, int32_t* order) noexcept nogil
cdef void end_round(
    const work_t* w, halving_t* h, float used, int32_t* order, const float* values) noexcept nogil
cdef void put_best_first(int32_t* order, const float* values, int n) noexcept nogil
# The plan with the best mean result over sampled worlds.
cdef int best_plan(work_t* w, int turns, int plans, float static_worlds) noexcept nogil
