# A small neural network that predicts the result at the end of a turn, without the GIL.
#
# Its inputs are integers (`inputs_t`). All creatures of a side share their weights and are summed
# by lane, and cards are summed over the hand, so that their order does not matter. There are two
# sizes, each with code of its own: with sizes from the file, a whole search took 22 to 30 % longer.
# The same network in PyTorch, for training, is in locmsim.tuning.positions.

from libc.stdint cimport int16_t

from locmsim._core cimport MAX_BOARD, MAX_HAND, state_t, table_t

cdef enum:
    CREATURE_INPUTS = 16
    CARD_INPUTS = 20
    OTHER_INPUTS = 39
    # Units of a small and of a large network: summed over creatures, and over cards; units that see
    # both sides of a lane; those of the two last hidden layers.
    SUMS = 8
    LANE = 16
    HIDDEN = 16
    DEEPER = 16
    LARGE_SUMS = 16
    LARGE_LANE = 32
    LARGE_HIDDEN = 48
    LARGE_DEEPER = 32
    # Lanes, the player's creatures, the opponent's, the player's cards, and the other inputs.
    JOINED = LANE + 3 * SUMS + OTHER_INPUTS
    LARGE_JOINED = LARGE_LANE + 3 * LARGE_SUMS + OTHER_INPUTS
    LARGE_NUMBERS = (
        (2 * CREATURE_INPUTS + CARD_INPUTS) * LARGE_SUMS + (2 * LARGE_SUMS + 1) * LARGE_LANE
        + (LARGE_JOINED + 1) * LARGE_HIDDEN + (LARGE_HIDDEN + 2) * LARGE_DEEPER + LARGE_JOINED + 1)

ctypedef struct inputs_t:
    int16_t creatures[2][MAX_BOARD][CREATURE_INPUTS]    # both sides' slots; 0 in an empty one
    int16_t lane[MAX_BOARD]                             # of each slot
    int16_t hand[MAX_HAND][CARD_INPUTS]                 # the player's
    int16_t other[OTHER_INPUTS]

ctypedef struct network_t:      # a ReLU follows each layer but the output
    bint large
    float numbers[LARGE_NUMBERS]    # the arrays of `SHAPES` or `LARGE_SHAPES`, one after another

# Returns the log-odds that `who`, whose turn ends, wins; the game must not be over.
cdef float network_value(
    const network_t* n, const state_t* s, const table_t* t, int who) noexcept nogil

cdef class Network:
    cdef network_t n
    cdef Py_ssize_t size            # of the numbers in it, in bytes
