# A search: its evaluation, its memory, its budget and its steps. Plain functions on plain structs,
# without the GIL; the classes at the end are the interface to Python.
#
# Read _core.pxd first. A search is for one player, `who`, who is to move. Everything hidden from
# them is arbitrary in the root and never read: hidden cards come from `worlds`, which are sampled
# from the player's belief (`state_deal`).

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from locmsim._core cimport (
    MAX_BOARD,
    MAX_CARDS,
    OCCUPIED,
    RULES_10,
    RULES_15,
    Determinizer,
    State,
    Table,
    creature_t,
    player_after_draw,
    player_t,
    state_t,
    table_t,
    unknown_t,
)
from locmsim._platform cimport count_bits_, lowest_bit_
from locmsim.networks._network cimport Network, network_t
from locmsim.search._wins cimport open_attack

# ---- the evaluation ------------------------------------------------------------------------------

# The evaluation of a position is linear in named terms: see `TERMS` in _engine_evaluation.pxi.
#
# Tables hold all values that a term can take, so that evaluating takes a few loads for a player and
# three for a creature. Section numbers refer to docs/rules.md.

cdef enum:
    HEALTH_STEPS = 64           # each point of health beyond is worth `health_more`
    MAX_VALUE = 1000            # value of a won position; no other comes near it

ctypedef struct side_t:         # the weights of one side
    # Of a creature, by keywords: for being there, attack, defense, and the lesser of the two.
    float by_keywords[64][4]
    float health[HEALTH_STEPS]
    float health_more           # each point beyond
    float hand[16]              # cards in hand after the next draw
    float deck[32]              # cards in the deck after the next draw
    float near_card             # 1.5: each point of health lost towards a further card
    float room[3]               # lanes with room
    float open_attack           # each point of attack that no Guard holds back
    float kill                  # added if that attack is enough to kill
    float rune                  # 1.x: each rune left

ctypedef struct eval_t:
    side_t side[2]              # of the player whose turn ends, and of the other one
    float hand_card[MAX_CARDS]  # [table entry]: value of the card in the hand of the first side
    float bonus                 # 1.5: bonus mana
    float scale                 # the value that is a win with probability 0.88: tanh(1) = 0.76

ctypedef struct terms_t:        # the weights of one side, as named in `TERMS` and in that order
    float health, low_health, lowest_health
    float creature, attack, defense, balance
    float guard, guard_defense, lethal, ward, ward_attack, drain_attack, breakthrough_attack
    float card, fifth_card, low_deck, near_card, room, open_attack, kill, rune

ctypedef struct weights_t:
    terms_t side[2]
    float hand_type[4]          # creature, green, red, blue
    float hand_cost, hand_draw, hand_area
    float bonus_mana, scale

# Fill in the tables from weights: the first all but those that depend on the cards of a game, the
# second these.
cdef void eval_fill(eval_t* e, const weights_t* w) noexcept nogil
cdef void eval_use_table(eval_t* e, const weights_t* w, const table_t* t) noexcept nogil


cdef inline float evaluate_side(
    const player_t* p, const table_t* t, const side_t* w, int32_t* attack
) noexcept nogil:
    """Return the value of one side, and write the attack on its board by lane."""
    cdef const creature_t* x
    cdef const float* by
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef bint one = t.rules == RULES_10
    cdef int slot, health, hand, deck, lanes
    cdef float value
    attack[0] = attack[1] = 0
    if one:
        lanes = left != 63
    else:
        lanes = 2 - (left >> 2 & 1) - (left >> 5)
    value = w.room[lanes]
    while left:
        slot = lowest_bit_(left)
        left &= left - 1
        x = &p.board[slot]
        by = w.by_keywords[x.keywords]
        attack[0 if one else slot >= 3] += x.attack
        value += by[0] + by[1] * x.attack + by[2] * x.defense
        value += by[3] * (x.attack if x.attack < x.defense else x.defense)
    # The next draw goes up to the hand limit; each card that the deck lacks does damage.
    health = player_after_draw(p, t.rules, &hand, &deck)
    if health >= HEALTH_STEPS:
        value += w.health[HEALTH_STEPS - 1] + w.health_more * (health - HEALTH_STEPS + 1)
    else:
        value += w.health[health if health > 0 else 0]
    value += w.hand[hand] + w.deck[deck]
    if t.rules == RULES_15:
        return value + w.near_card * (p.lost % 5)
    return value + w.rune * count_bits_(p.runes)


cdef inline float evaluate(
    const state_t* s, const table_t* t, const eval_t* e, int who
) noexcept nogil:
    """Return the value of a position for `who`, whose turn ends; +/- MAX_VALUE if won or lost."""
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef int32_t mine[2]
    cdef int32_t theirs[2]
    cdef bint one = t.rules == RULES_10
    cdef int damage
    cdef uint64_t hand
    cdef float value
    if me.won | op.won:
        return MAX_VALUE if me.won else -MAX_VALUE
    value = evaluate_side(me, t, &e.side[0], mine) - evaluate_side(op, t, &e.side[1], theirs)
    damage = open_attack(op, mine, one)
    value += e.side[0].open_attack * damage + e.side[0].kill * (damage >= op.health)
    damage = open_attack(me, theirs, one)
    value -= e.side[1].open_attack * damage + e.side[1].kill * (damage >= me.health)
    hand = me.hand
    for _ in range(me.hand_size):
        value += e.hand_card[hand & 255]
        hand >>= 8
    return value + e.bonus * me.bonus


# ---- budget, positions within the turn, whole turns, sampled worlds ------------------------------

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
# _engine_halving.pxi.
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
    make_children_t make_children   # evaluates positions of the beam
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
    bint knows_deck             # ... except the player's deck, of which the order alone is unknown


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


# ---- Monte-Carlo tree search over whole turns ----------------------------------------------------

# The edges of the root are the plans of a beam search, which are legal in every sampled world.
# Below a plan, each world has its own tree of turns, which a narrow beam finds.

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

# ---- the search ----------------------------------------------------------------------------------

cdef enum:
    MAX_PATH = 2 * MAX_TURN_ACTIONS + MAX_BOARD     # actions of an answer

ctypedef struct engine_t:
    work_t w
    turn_tree_t tree            # MCTS only
    options_t o

ctypedef struct found_t:
    uint8_t path[MAX_PATH]      # actions of the turn without PASS
    int32_t length
    float value                 # expected result, from -1 to 1
    int32_t visits              # number of results behind that mean; 0: none was sampled
    int64_t iterations          # descents of the tree

# Allocates memory for searches; -1 if that fails. Call engine_free in both cases.
cdef int engine_init(engine_t* e, const options_t* o) noexcept nogil
cdef void engine_free(engine_t* e) noexcept nogil
# Sets the evaluation: weights, and a network or NULL. `owner` is passed to the watch.
cdef void engine_use(
    engine_t* e, const eval_t* eval, const network_t* network, void* owner) noexcept nogil
# Prepares a search for the player to move, from a root whose hidden places hold arbitrary cards.
cdef void engine_begin(
    engine_t* e, const state_t* root, const table_t* t, const unknown_t* unknown, bint knows_deck,
    uint64_t seed, int64_t deadline, int64_t nodes
) noexcept nogil
cdef void engine_run(engine_t* e, int64_t iterations, found_t* found) noexcept nogil
# Plays `s` to its end, or for `max_turns` turns. Each player's turns come from an engine that knows
# its own deck except for the order. Returns the number of turns; `ends`, unless NULL, gets the
# state at the end of each turn.
cdef int engine_game(
    engine_t** engines, const unknown_t** worlds, const int64_t* nodes, state_t* s,
    const table_t* t, uint64_t seed, int max_turns, state_t* ends
) noexcept nogil

# Converts a dataclass of options.py to a struct, which must be all zero.
cdef int fill_options(options_t* o, options) except -1
# Returns the seed of an agent's turn, 63 bits; `seed` is that of the game, turns count from 0.
cdef uint64_t turn_seed(uint64_t seed, uint64_t turn) noexcept nogil

cdef class CompiledEvaluation:
    cdef weights_t weights
    cdef eval_t e

cdef class SearchEngine:
    cdef engine_t e
    cdef CompiledEvaluation evaluator
    cdef Network network
    cdef object error           # the exception that a function, a signal or `check` raised
    cdef object check           # called several times a second, or None; an exception ends a search
    cdef bint running
    cdef Table table
    cdef int run(self, int64_t iterations, found_t* found) except -1
    cdef double played_on(self, const state_t* end, int n) except? -2
    cdef int use_table(self, Table table) except -1
    cdef int begin(
        self, State root, const unknown_t* unknown, uint64_t seed, int64_t until, int64_t nodes,
        check) except -1
    cdef int end_or_raise(self) except -1
    cdef int refuse_to_share(self) except -1
    cdef object engine_result(self, const found_t* found)
