# Monte-Carlo tree search over whole turns.
#
# The edges of the root are the plans of a beam search, which are legal in every sampled world.
# Below a plan, each world has its own tree of turns, which a narrow beam finds.

from libc.stdint cimport int32_t

from locmsim._core cimport state_t
from locmsim.search._work cimport halving_t, options_t, work_t


cdef enum:
    MAX_TURNS = 32              # turns that a visit follows

ctypedef struct turns_t:        # the turns that may follow a position
    int32_t first               # node
    int32_t n                   # their number; 0: not searched yet

ctypedef struct turn_node_t:    # a turn of one player
    state_t s                   # the state at its end
    double total                # of the results of visits for that player, from -1 to 1
    float value                 # the result expected at its end
    float prior                 # its share among the turns of the same position
    int32_t visits
    turns_t next                # the other player's turns after it; plans have `replies` instead

ctypedef struct turn_tree_t:
    turn_node_t* nodes          # the plans come first, in the order of `halving_t.plan`
    int32_t n_nodes, max_nodes
    turns_t* replies            # [plan * worlds + world]

ctypedef struct visit_t:        # a descent of the tree in one world
    turn_node_t* path[MAX_TURNS]
    turn_node_t* node           # the last turn
    turns_t* turns              # those that may follow it
    state_t s
    int32_t depth
    bint new                    # beyond the turns that the tree had
    bint over
    float result                # for the player of the last turn


# Begins a tree for the plans that are compared.
cdef void start_tree(const work_t* w, turn_tree_t* tree, const halving_t* h) noexcept nogil
# Follows the plan of a place in its next world, and adds the result.
cdef void visit(work_t* w, turn_tree_t* tree, const options_t* o, int place) noexcept nogil

# Parts of `visit`. PUCT chooses among known turns; after them the best new turn by value follows,
# until `turns` have followed the plan and its own player has moved last.
cdef void start_visit(work_t* w, turn_tree_t* tree, visit_t* v, int place) noexcept nogil
# Follows known turns; returns whether new ones are needed. `waiting` other visits need some, too.
cdef bint descend(
    const work_t* w, turn_tree_t* tree, const options_t* o, visit_t* v, int waiting) noexcept nogil
# Enters the best by value of the turns that were added for a visit.
cdef void enter_new(turn_tree_t* tree, const options_t* o, visit_t* v) noexcept nogil
cdef void end_visit(work_t* w, visit_t* v, turn_node_t* plan) noexcept nogil

cdef void add_node(turn_tree_t* tree, const state_t* s, float value) noexcept nogil
# Sets the priors of a position's turns: the better a turn's value, the higher its prior.
cdef void set_priors(turn_tree_t* tree, const turns_t* turns, float temperature) noexcept nogil


cdef inline float mean_with(
    double total, int32_t visits, float expected, float weight
) noexcept nogil:
    """Return the mean of some results, where the expected one counts as `weight` of them."""
    return <float>((total + weight * expected) / (visits + weight))
