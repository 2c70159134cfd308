# Opponents that search: beam search bounded by nodes, with a belief of their own, without the GIL.

from libc.stdint cimport int64_t, uint8_t

from locmsim._core cimport card_t, shown_action_t, shown_t, state_t, table_t, unknown_t
from locmsim.networks._network cimport Network
from locmsim.search._belief cimport belief_t, pool_t
from locmsim.search._engine cimport MAX_PATH, engine_t
from locmsim.search._evaluation cimport Evaluator, eval_t, weights_t
from locmsim.search._work cimport options_t

ctypedef struct mind_t:         # what the opponent in a row knows, from what it was shown
    belief_t b
    int64_t serial              # of the episode that it is about; 0: none
    int64_t seed                # of the agent that it plays as, 63 bits
    int64_t turns               # that it has played in it

ctypedef struct taste_t:        # what cards of a set are taken to be chosen for
    int64_t key                 # of the set
    const double* numbers       # NULL: not known. 1.5: weights by cost and base id; 1.x: scores

ctypedef struct thinker_t:      # the memory of a thread
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
    double heat                 # 1.x: what differences of scores are divided by
    thinker_t** thinkers        # by thread
    mind_t* minds               # by row
    taste_t* tastes             # by set, then by row for rows with a set of their own

# A game begins: the player's seat and deck, as indices into the set.
cdef void mind_start(
    mind_t* m, int64_t serial, int64_t seed, int rules, int who, const card_t* cards,
    const uint8_t* deck) noexcept nogil
# The actions of a turn, which begins; returns their number. `triplets` are the offers of 1.x.
cdef int search_turn(
    const searcher_t* q, thinker_t* k, mind_t* m, const taste_t* taste, const state_t* s,
    const table_t* t, const shown_action_t* acts, int n_acts, const card_t* cards, int n_cards,
    const uint8_t (*triplets)[3], uint8_t* path) noexcept nogil

cdef class Searcher:
    cdef searcher_t q
    cdef options_t o
    cdef Evaluator evaluator
    cdef Network network
    cdef tuple made_with
    cdef int n_threads
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_tastes
    cdef list held              # what `tastes` point into
    cdef int room_for(self, Py_ssize_t n_rows, Py_ssize_t n_sets, int n_threads) except -1
    cdef bytes knowledge(self)
    cdef int know(self, bytes knowledge) except -1
