# A small neural network that predicts the result at the end of a turn, without the GIL.
#
# Its inputs are integers (`inputs_t`). All creatures of a side share their weights and are summed
# by lane, and cards are summed over the hand, so that their order does not matter. The sizes are
# constants: with sizes from the file, a whole search took 22 to 30 % longer. The same network in
# PyTorch, for training, is in locmsim.tuning.positions.

from libc.stdint cimport int16_t

from locmsim._core cimport MAX_BOARD, MAX_HAND, state_t, table_t

cdef enum:
    CREATURE_INPUTS = 16
    CARD_INPUTS = 20
    OTHER_INPUTS = 39
    SUMS = 8                    # units that are summed over creatures, and over cards
    LANE = 16                   # units that see both sides of a lane
    HIDDEN = 16                 # units in each of the two last hidden layers
    # Lanes, the player's creatures, the opponent's, the player's cards, and the other inputs.
    JOINED = LANE + 3 * SUMS + OTHER_INPUTS

ctypedef struct inputs_t:
    int16_t creatures[2][MAX_BOARD][CREATURE_INPUTS]    # both sides' slots; 0 in an empty one
    int16_t lane[MAX_BOARD]                             # of each slot
    int16_t hand[MAX_HAND][CARD_INPUTS]                 # the player's
    int16_t other[OTHER_INPUTS]

ctypedef struct network_t:      # a ReLU follows each layer but the output
    float creature[2][CREATURE_INPUTS][SUMS]
    float card[CARD_INPUTS][SUMS]
    float lane[2 * SUMS][LANE]
    float lane_bias[LANE]
    float hidden[JOINED][HIDDEN]
    float hidden_bias[HIDDEN]
    float deeper[HIDDEN][HIDDEN]
    float deeper_bias[HIDDEN]
    float output[HIDDEN]
    float direct[JOINED]        # from the joined inputs to the output
    float output_bias

# Returns the log-odds that `who`, whose turn ends, wins; the game must not be over.
cdef float network_value(
    const network_t* n, const state_t* s, const table_t* t, int who) noexcept nogil

# Copies float32 arrays in order into a struct of floats; returns its end.
cdef float* put_arrays(float* to, dict arrays) except NULL

cdef class Network:
    cdef network_t n
    cdef readonly object arrays     # name -> float32 array; neither can be changed
