# Opponents that search: beam search bounded by nodes, with a belief of their own, without the GIL.

from libc.stdint cimport int64_t, uint8_t

from locmsim._core cimport (
    MAX_DECK, card_t, shown_action_t, shown_t, state_t, table_t, unknown_t)
from locmsim.networks._drafts cimport DraftNetworks, draft_value_t
from locmsim.networks._network cimport Network
from locmsim.search._belief cimport belief_t, pool_t, prior_t
from locmsim.search._engine cimport MAX_PATH, engine_t
from locmsim.search._evaluation cimport Evaluator, eval_t, weights_t
from locmsim.search._work cimport options_t

ctypedef struct believer_t:         # what the opponent in a row knows, from what it was shown
    belief_t b
    int64_t serial              # of the episode that it is about; 0: none
    int64_t seed                # of the agent that it plays as, 63 bits
    int64_t turns               # that it has played in it
    float worth[MAX_DECK][3]    # 1.x: of the cards of each offer, if there are values of drafts

ctypedef struct prior_scores_t:  # how likely cards of a set are chosen
    int64_t key                 # of the set
    const double* scores        # NULL: not known
    const uint8_t* copies       # 1.5: in a deck that others may find; NULL: there is none

ctypedef struct workspace_t:      # the memory of a thread
    engine_t e
    weights_t weights
    eval_t eval
    shown_t shown
    table_t pool_table          # the cards that may be in the game
    pool_t pool
    table_t table               # of the root
    state_t root
    unknown_t unknown

ctypedef struct searcher_t:     # an opponent
    int64_t nodes               # of a turn
    prior_t prior
    const draft_value_t* draft  # 1.x: by which others draft, NULL: by scores
    int drafts                  # sampled for it
    workspace_t** workspaces        # by thread
    believer_t* believers               # by row; by thread and seat where whole battles are played
    bint* stopped               # of all rows: a signal has ended the searches
    prior_scores_t* set_priors  # by set, then by row for rows with a set of their own

# A game begins: the player's seat, deck and offers (1.x), as indices into the set.
cdef void believer_start(
    const searcher_t* q, believer_t* m, int64_t serial, int64_t seed, int rules, int who,
    const card_t* cards, const uint8_t* deck, const uint8_t (*triplets)[3]) noexcept nogil
# The actions of a turn, which begins; returns their number.
cdef int search_turn(
    const searcher_t* q, workspace_t* k, believer_t* m, const prior_scores_t* set_prior,
    const state_t* s, const table_t* t, const shown_action_t* acts, int n_acts,
    const card_t* cards, int n_cards,
    const uint8_t (*triplets)[3], uint8_t* path) noexcept nogil

cdef class Searcher:
    cdef searcher_t q
    cdef options_t o
    cdef Evaluator evaluator
    cdef Network network
    cdef DraftNetworks draft
    cdef tuple arguments
    cdef int n_threads
    cdef Py_ssize_t n_believers
    cdef Py_ssize_t n_priors
    cdef list held              # what `set_priors` points into
    cdef object error           # what a signal raised
    cdef int watch(self, bint on) except -1
    cdef int reserve(
        self, Py_ssize_t n_rows, Py_ssize_t n_sets, int n_threads, Py_ssize_t n_believers) except -1
    cdef bytes knowledge(self)
    cdef int know(self, bytes knowledge) except -1
