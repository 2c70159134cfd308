# Opponents that search without the GIL: a beam search bounded by nodes, with its own belief.

from libc.stdint cimport int64_t, uint8_t

from locmsim._core cimport (
    MAX_DECK, card_t, shown_action_t, shown_t, state_t, table_t, unknown_t)
from locmsim.networks._drafts cimport DraftNetworks, draft_value_t
from locmsim.networks._network cimport Network
from locmsim.search._belief cimport belief_t, pool_t, prior_t
from locmsim.search._engine cimport CompiledEvaluation, engine_t, eval_t, options_t, weights_t

ctypedef struct believer_t:     # what the opponent in a row knows from what it was shown
    belief_t b
    int64_t serial              # of the episode; 0: none
    int64_t seed                # of the agent that it plays as, 63 bits
    int64_t turns               # turns that it has played in the episode
    float worth[MAX_DECK][3]    # 1.x: value of the cards of each offer, with a network for drafts

ctypedef struct prior_scores_t:  # how likely the cards of a set are chosen
    int64_t key                 # of the set
    const double* scores        # NULL: not known
    const uint8_t* copies       # 1.5: in the deck that a known builder makes; NULL: none is known

ctypedef struct workspace_t:    # the memory of a thread
    engine_t e
    weights_t weights
    eval_t eval
    shown_t shown
    table_t pool_table          # the cards that may be in the game
    pool_t pool
    table_t table               # of the root position
    state_t root
    unknown_t unknown

ctypedef struct searcher_t:     # an opponent
    int64_t nodes               # limit for one turn
    prior_t prior
    const draft_value_t* draft  # 1.x: how others are expected to draft; NULL: by scores
    int drafts                  # number of drafts sampled for it
    workspace_t** workspaces    # by thread
    believer_t* believers       # by row; by thread and seat where whole battles are played
    bint* stopped               # of all rows: a signal has ended the searches
    prior_scores_t* set_priors  # by set, then by row for rows with a set of their own

# Begins a game. `deck` and `triplets` (1.x) are the player's deck and offers, as indices into the
# set.
cdef void believer_start(
    const searcher_t* q, believer_t* m, int64_t serial, int64_t seed, int rules, int who,
    const card_t* cards, const uint8_t* deck, const uint8_t (*triplets)[3]) noexcept nogil
# Searches the actions of a whole turn from its start; returns their number.
cdef int search_turn(
    const searcher_t* q, workspace_t* k, believer_t* m, const prior_scores_t* set_prior,
    const state_t* s, const table_t* t, const shown_action_t* acts, int n_acts,
    const card_t* cards, int n_cards,
    const uint8_t (*triplets)[3], uint8_t* path) noexcept nogil

cdef class Searcher:
    cdef searcher_t q
    cdef options_t o
    cdef CompiledEvaluation evaluator
    cdef Network network
    cdef DraftNetworks draft
    cdef tuple arguments
    cdef int n_threads
    cdef Py_ssize_t n_believers
    cdef Py_ssize_t n_priors
    cdef list held              # the arrays that `set_priors` points into
    cdef object error           # the exception that a signal raised
    cdef int watch(self, bint on) except -1
    cdef int reserve(
        self, Py_ssize_t n_rows, Py_ssize_t n_sets, int n_threads, Py_ssize_t n_believers) except -1
    cdef bytes knowledge(self)
    cdef int know(self, bytes knowledge) except -1
