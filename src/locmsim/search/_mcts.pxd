# Monte-Carlo tree search over the single actions of the own turn.
#
# The tree is that of the own turn, an action an edge; positions that differ in order only are one
# node. A turn that has ended is a leaf, which is played on in another sampled world at each visit.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from locmsim._core cimport state_t
from locmsim.search._work cimport options_t, work_t


ctypedef struct edge_t:
    float prior                 # share of its static value among its siblings'
    int32_t node                # -1: not made yet
    int32_t visits
    uint8_t action

ctypedef struct node_t:
    state_t s
    uint64_t hash
    double total                # of the results of all visits, from -1 to 1
    int32_t visits
    int32_t first               # edge; they are sorted, the highest prior first
    int32_t n_edges             # -1: not expanded
    bint ended                  # the turn ends here

ctypedef struct tree_t:
    node_t* nodes
    int32_t n_nodes, max_nodes
    edge_t* edges
    int32_t n_edges, max_edges
    int32_t* places             # hash table of nodes, -1: free
    uint64_t places_mask


# Visits until the budget or their number is used up, or a winning turn is found, which is then in
# `actions`, `w.n_win` long; returns their number.
cdef int64_t tree_search(
    work_t* w, tree_t* tree, const options_t* o, int64_t iterations, uint8_t* actions
) noexcept nogil
# The turn along the most visited edges; `value` and `visits` are those of its first action.
cdef int most_visited(
    work_t* w, tree_t* tree, uint8_t* path, float* value, int32_t* visits) noexcept nogil
