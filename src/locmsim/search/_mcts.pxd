# Monte-Carlo tree search over whole turns.
#
# The edges of the root are the plans of a beam search, which are legal in every sampled world.
# Below a plan, each world has its own tree of turns, which a narrow beam finds.

from libc.stdint cimport int32_t, int64_t

from locmsim._core cimport state_t
from locmsim.search._work cimport options_t, work_t


cdef enum:
    MAX_DEPTH = 32              # turns that a visit follows

ctypedef struct turns_t:        # the turns that may follow a position
    int32_t first               # node
    int32_t n                   # their number; 0: not searched yet

ctypedef struct node_t:         # a turn of one player
    state_t s                   # the state at its end
    double total                # of the results of visits for that player, from -1 to 1
    float value                 # the result expected at its end
    float prior                 # its share among the turns of the same position
    int32_t visits
    turns_t next                # the other player's turns after it; plans have `replies` instead

ctypedef struct tree_t:
    node_t* nodes               # the plans come first, in the order of `w.plans`
    int32_t n_nodes, max_nodes
    turns_t* replies            # [plan * worlds + world]


# Finds the best of the plans in `w.plans` by visits, until the budget or their number is used up;
# returns the number of visits.
cdef int64_t tree_search(
    work_t* w, tree_t* tree, const options_t* o, int64_t iterations, int* best
) noexcept nogil
# Parts of `tree_search`.
cdef void set_priors(tree_t* tree, const turns_t* turns, float temperature) noexcept nogil
cdef node_t* add_node(tree_t* tree, const state_t* s, float value) noexcept nogil
cdef node_t* select_turn(tree_t* tree, const turns_t* turns, const options_t* o) noexcept nogil
cdef node_t* best_by_value(tree_t* tree, const turns_t* turns) noexcept nogil
cdef float mean_result(const node_t* node, float static_visits) noexcept nogil
cdef void visit(
    work_t* w, tree_t* tree, const options_t* o, node_t* plan, int number) noexcept nogil
