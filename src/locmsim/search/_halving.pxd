# The choice among whole turns: sequential halving, the one driver of both searches.
#
# A search has plans, whole turns of its player. In rounds of one or more passes, a step plays the
# ends of those that are left on: each in the next sampled world (beam search), or each by a visit
# of its tree (MCTS). The steps are `play_pass`, one thread by weights, and those of `BatchEngine`
# and `SharedEngine`.

from libc.stdint cimport int32_t, int64_t

from locmsim.search._mcts cimport turn_tree_t
from locmsim.search._work cimport halving_t, options_t, work_t

# Returns the best of the plans in `w.plans` and sets their visits and results. `iterations` bounds
# the visits of a tree; `visits` gets their number.
cdef int best_plan(
    work_t* w, turn_tree_t* tree, const options_t* o, int64_t iterations, int64_t* visits
) noexcept nogil
# Adds the visits of a tree to those of this round; trees of several threads are added up.
cdef void add_visits(halving_t* h, const turn_tree_t* tree) noexcept nogil
