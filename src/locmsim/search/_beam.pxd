# Beam search over the own turn, first for a win within it; then the choice between whole turns.

from libc.stdint cimport int32_t

from locmsim.search._work cimport work_t

# A winning turn ends these: `w.won` and `w.win`. The second fills `w.plans`.
cdef void search_wins(work_t* w, int width) noexcept nogil
cdef void beam_search(work_t* w, int width) noexcept nogil
# The best of them by what is expected at their own ends, which go to `w.ends`.
cdef int ranked_plans(work_t* w, int plans, int32_t* order) noexcept nogil
# The plan with the best mean result over sampled worlds.
cdef int best_plan(work_t* w, int turns, int plans, float static_worlds) noexcept nogil
