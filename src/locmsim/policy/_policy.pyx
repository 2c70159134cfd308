"""Compiled inference of policies: the entity network, and plain multi-layer perceptrons.

`locmsim.policy.policy` describes the networks. The shapes of the arrays determine the sizes of
the layers.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport sqrtf, tanhf
from libc.string cimport memcpy, memset

from locmsim.networks._layers cimport add_relu, add_row, relu
from locmsim.networks._network cimport put_arrays
from locmsim.networks._wide cimport wide_of_, wide_t

__all__ = ["EntityRunner", "MlpRunner", "entity_shapes"]

cdef enum:
    ENTITIES = 440              # numbers of an observation
    GLOBALS = 56                # player, opponent, game, the player's deck, cards seen
    HAND = 8
    HAND_ROW = 24
    BOARD = 6
    BOARD_ROW = 16
    LANES = 2
    SUMS = 5                    # of units: over the hand, and over each lane of each side
    UNITS = 48                  # default sizes: of encoders, of the trunk's layers, of keys
    TRUNK = 160
    KEY = 32
    MAX_LAYERS = 16             # of a perceptron

cdef enum:                      # arrays of the entity network, in the order of `entity_shapes`
    HAND_W
    HAND_B
    OWN_W
    OWN_B
    ENEMY_W
    ENEMY_B
    TRUNK1_W
    TRUNK1_B
    TRUNK2_W
    TRUNK2_B
    HAND_CONTEXT
    OWN_CONTEXT
    ENEMY_CONTEXT
    SUMMON
    USE
    ATTACK
    OWN_KEY
    ENEMY_KEY
    ENEMY_ATTACK_KEY
    LANE_KEY
    PLAYER_USE_KEY
    PLAYER_ATTACK_KEY
    PASS_W
    PASS_B
    VALUE_W
    VALUE_B
    ENTITY_ARRAYS

cdef wide_t WIDE = wide_of_(512)


def entity_shapes(units=UNITS, trunk=TRUNK, key=KEY):
    """Return the shapes of an entity network's arrays by name.

    `units` is the size of each encoder, `trunk` that of each layer after them; `key` is the length
    of queries and keys.
    """
    return {
        "hand.w": (HAND_ROW, units), "hand.b": (units,),
        "own.w": (BOARD_ROW, units), "own.b": (units,),
        "enemy.w": (BOARD_ROW, units), "enemy.b": (units,),
        "trunk1.w": (GLOBALS + SUMS * units, trunk), "trunk1.b": (trunk,),
        "trunk2.w": (trunk, trunk), "trunk2.b": (trunk,),
        "hand_context.w": (trunk, units), "own_context.w": (trunk, units),
        "enemy_context.w": (trunk, units),
        "summon.w": (units, key), "use.w": (units, key), "attack.w": (units, key),
        "own_key.w": (units, key), "enemy_key.w": (units, key), "enemy_attack_key.w": (units, key),
        "lane_key.w": (2 * units + trunk, key), "player_use_key.w": (trunk, key),
        "player_attack_key.w": (trunk, key),
        "pass.w": (trunk,), "pass.b": (), "value.w": (trunk,), "value.b": (),
    }


cdef float* copied_numbers(arrays) except NULL:
    """Return a copy of all numbers, which the caller must free."""
    cdef float* copied = <float*>PyMem_Malloc(
        sum([array.size for array in arrays.values()]) * sizeof(float))
    if copied is NULL:
        raise MemoryError("too little memory for a policy")
    put_arrays(copied, arrays)
    return copied


cdef inline int scratch_size(int units, int trunks, int key) noexcept nogil:
    """Return how many numbers a row needs in memory: its scaled observation, and the results of
    `entity_row`."""
    return (
        ENTITIES + GLOBALS + (SUMS + HAND + 2 * BOARD + 3) * units + 2 * trunks
        + (LANES + 3 + 3 * BOARD) * key
    )


cdef inline void put_in_context(
    const float* trunk, int trunks, const float* w, float* context, float* things, int n,
    unsigned int present, int units
) noexcept nogil:
    """Add the trunk's output to each present one of n cards or creatures, and apply the ReLU."""
    cdef int i
    memset(context, 0, units * sizeof(float))
    WIDE.dense(trunk, trunks, w, context, units)
    for i in range(n):
        if present >> i & 1:
            add_row(things + i * units, 1, context, units)
            relu(things + i * units, units)


cdef float entity_row(
    const float* const* w, const float* x, float* logits, bint one, float* scratch, int units,
    int trunks, int key
) noexcept nogil:
    """Write the logits of an observation and return its value."""
    cdef float* joined = scratch
    cdef float* sums = joined + GLOBALS
    cdef float* hand = sums + SUMS * units              # [HAND][units]
    cdef float* board = hand + HAND * units             # [own, enemy][BOARD][units]
    cdef float* context = board + 2 * BOARD * units
    cdef float* lane = context + units                  # [own, enemy][units]
    cdef float* first = lane + 2 * units
    cdef float* trunk = first + trunks
    cdef float* lane_keys = trunk + trunks              # [LANES][key]
    cdef float* player_attack = lane_keys + LANES * key
    cdef float* target_keys = player_attack + key       # of items: player, [own, enemy][BOARD]
    cdef float* attack_keys = target_keys + (1 + 2 * BOARD) * key       # [BOARD][key]
    cdef float* query = attack_keys + BOARD * key
    cdef const float* inputs
    cdef float* encoded
    cdef float scale = 1 / sqrtf(<float>key)
    cdef unsigned int held = 0                          # a bit for each card
    cdef unsigned int present[2]                        # ... creature
    cdef float value
    cdef int h, side, slot, which, base, n, size
    memcpy(joined, x, 24 * sizeof(float))               # own, enemy, game
    memcpy(joined + 24, x + 408, 32 * sizeof(float))    # the player's deck, cards seen
    # Sums are added to, and missing cards and creatures must be 0.
    memset(sums, 0, (SUMS + HAND + 2 * BOARD) * units * sizeof(float))
    memset(lane_keys, 0, (LANES + 2 + 3 * BOARD) * key * sizeof(float))
    for h in range(HAND):
        inputs = x + 24 + HAND_ROW * h
        if inputs[0] == 0:
            continue
        held |= <unsigned int>1 << h
        encoded = hand + h * units
        memcpy(encoded, w[HAND_B], units * sizeof(float))
        WIDE.dense(inputs, HAND_ROW, w[HAND_W], encoded, units)
        add_relu(sums, encoded, units)
    for side in range(2):
        present[side] = 0
        for slot in range(BOARD):
            inputs = x + 216 + BOARD_ROW * (BOARD * side + slot)
            if inputs[0] == 0:
                continue
            present[side] |= <unsigned int>1 << slot
            encoded = board + (BOARD * side + slot) * units
            memcpy(encoded, w[ENEMY_B] if side else w[OWN_B], units * sizeof(float))
            WIDE.dense(inputs, BOARD_ROW, w[ENEMY_W] if side else w[OWN_W], encoded, units)
            which = 1 if slot >= 3 and not one else 0
            add_relu(sums + (1 + 2 * side + which) * units, encoded, units)
    memcpy(first, w[TRUNK1_B], trunks * sizeof(float))
    WIDE.dense(joined, GLOBALS + SUMS * units, w[TRUNK1_W], first, trunks)
    relu(first, trunks)
    memcpy(trunk, w[TRUNK2_B], trunks * sizeof(float))
    WIDE.dense(first, trunks, w[TRUNK2_W], trunk, trunks)
    relu(trunk, trunks)

    # Put each card and creature in the context of the position.
    put_in_context(trunk, trunks, w[HAND_CONTEXT], context, hand, HAND, held, units)
    put_in_context(trunk, trunks, w[OWN_CONTEXT], context, board, BOARD, present[0],
                   units)
    put_in_context(trunk, trunks, w[ENEMY_CONTEXT], context, board + BOARD * units, BOARD,
                   present[1], units)

    # Keys of everything that an action may target.
    for which in range(LANES):
        memcpy(lane, sums + (1 + which) * units, units * sizeof(float))
        memcpy(lane + units, sums + (3 + which) * units, units * sizeof(float))
        WIDE.dense(lane, 2 * units, w[LANE_KEY], lane_keys + which * key, key)
        WIDE.dense(trunk, trunks, w[LANE_KEY] + 2 * units * key, lane_keys + which * key, key)
    WIDE.dense(trunk, trunks, w[PLAYER_USE_KEY], target_keys, key)
    WIDE.dense(trunk, trunks, w[PLAYER_ATTACK_KEY], player_attack, key)
    for slot in range(BOARD):
        if present[0] >> slot & 1:
            WIDE.dense(board + slot * units, units, w[OWN_KEY], target_keys + (1 + slot) * key, key)
        if present[1] >> slot & 1:
            encoded = board + (BOARD + slot) * units
            WIDE.dense(
                encoded, units, w[ENEMY_KEY], target_keys + (1 + BOARD + slot) * key, key)
            WIDE.dense(encoded, units, w[ENEMY_ATTACK_KEY], attack_keys + slot * key, key)

    # Logits in the order of the action numbers; 0 where a card or creature is missing.
    memset(logits, 0, (155 if one else 145) * sizeof(float))
    WIDE.dots(trunk, w[PASS_W], trunks, 1, 1, logits)
    logits[0] += w[PASS_B][0]
    base = 9 if one else 17
    for h in range(HAND):
        if not held >> h & 1:
            continue
        memset(query, 0, key * sizeof(float))
        WIDE.dense(hand + h * units, units, w[SUMMON], query, key)
        if one:
            WIDE.dots(query, lane_keys, key, 1, scale, logits + 1 + h)
        else:
            WIDE.dots(query, lane_keys, key, 3, scale, logits + 1 + 2 * h)
        memset(query, 0, key * sizeof(float))
        WIDE.dense(hand + h * units, units, w[USE], query, key)
        WIDE.dots(query, target_keys, key, 1 | present[0] << 1 | present[1] << (1 + BOARD), scale,
                  logits + base + 13 * h)
    base += 13 * HAND
    size = 6 if one else 3
    for slot in range(BOARD):
        if not present[0] >> slot & 1:
            continue
        memset(query, 0, key * sizeof(float))
        WIDE.dense(board + slot * units, units, w[ATTACK], query, key)
        n = base + (size + 1) * slot
        WIDE.dots(query, player_attack, key, 1, scale, logits + n)
        which = 0 if one or slot < 3 else 3             # the first enemy that it may attack
        WIDE.dots(query, attack_keys + which * key, key,
                  present[1] >> which & ((<unsigned int>1 << size) - 1), scale, logits + n + 1)
    WIDE.dots(trunk, w[VALUE_W], trunks, 1, 1, &value)
    return tanhf(w[VALUE_B][0] + value)


@cython.final
cdef class EntityRunner:
    """Runs the entity network. `arrays` must be valid and in the order of `entity_shapes`.

    Numbers of observations are divided by `scale`.
    """

    cdef float scale[ENTITIES]
    cdef float* numbers         # of all arrays, concatenated
    cdef const float* w[ENTITY_ARRAYS]
    cdef int units
    cdef int trunk
    cdef int key

    def __cinit__(self, arrays, const float[::1] scale):
        cdef const float* at
        cdef int i
        for i in range(ENTITIES):
            self.scale[i] = scale[i]
        self.units, self.key = arrays["summon.w"].shape
        self.trunk = arrays["trunk1.b"].size
        self.numbers = copied_numbers(arrays)
        at = self.numbers
        for i, array in enumerate(arrays.values()):
            self.w[i] = at
            at += <Py_ssize_t>array.size

    def __dealloc__(self):
        PyMem_Free(self.numbers)

    @cython.boundscheck(False)
    def run(self, const float[:, ::1] x, float[:, ::1] logits, float[::1] values):
        """Write the logits (rows, 145 or 155) and the values of observations."""
        cdef Py_ssize_t i
        cdef int j
        cdef float* scratch
        cdef bint one = logits.shape[1] == 155
        if x.shape[1] != ENTITIES or logits.shape[0] != x.shape[0] or values.shape[0] != x.shape[0]:
            raise ValueError("the sizes of the arrays do not match")
        if logits.shape[1] != 145 and not one:
            raise ValueError(f"expected 145 or 155 actions, got {logits.shape[1]}")
        scratch = <float*>PyMem_Malloc(
            scratch_size(self.units, self.trunk, self.key) * sizeof(float))
        if scratch is NULL:
            raise MemoryError("too little memory for a policy")
        with nogil:
            for i in range(x.shape[0]):
                for j in range(ENTITIES):
                    scratch[j] = x[i, j] / self.scale[j]
                values[i] = entity_row(self.w, scratch, &logits[i, 0], one, scratch + ENTITIES,
                                       self.units, self.trunk, self.key)
        PyMem_Free(scratch)


@cython.final
cdef class MlpRunner:
    """Runs dense layers with the same activation, and without one after the last layer.

    `arrays` must be valid: the matrix of each layer, followed by its biases.
    """

    cdef float* numbers         # of all arrays, concatenated
    cdef int n_layers
    cdef int sizes[MAX_LAYERS + 1]
    cdef const float* w[MAX_LAYERS]
    cdef const float* b[MAX_LAYERS]
    cdef bint tanh

    def __cinit__(self, arrays, bint tanh):
        cdef const float* at
        cdef int i
        matrices = [array for array in arrays.values() if array.ndim == 2]
        if not 1 <= len(matrices) <= MAX_LAYERS:
            raise ValueError(f"expected 1..{MAX_LAYERS} layers, got {len(matrices)}")
        self.n_layers = <int>len(matrices)
        self.tanh = tanh
        self.numbers = copied_numbers(arrays)
        at = self.numbers
        for i, matrix in enumerate(matrices):
            self.sizes[i], self.sizes[i + 1] = matrix.shape
            self.w[i] = at
            self.b[i] = at + <Py_ssize_t>matrix.size
            at = self.b[i] + self.sizes[i + 1]

    def __dealloc__(self):
        PyMem_Free(self.numbers)

    @cython.boundscheck(False)
    def run(self, const float[:, ::1] x, float[:, ::1] out):
        """Write the output of the last layer for each row."""
        cdef int widest = 1
        cdef Py_ssize_t i
        cdef int k, j
        cdef float* one
        cdef float* two
        cdef const float* inputs
        cdef float* to
        if (x.shape[1] != self.sizes[0] or out.shape[0] != x.shape[0]
                or out.shape[1] != self.sizes[self.n_layers]):
            raise ValueError("the sizes of the arrays do not match")
        for k in range(self.n_layers + 1):
            widest = max(widest, self.sizes[k])
        one = <float*>PyMem_Malloc(2 * widest * sizeof(float))
        if one is NULL:
            raise MemoryError()
        two = one + widest
        try:
            with nogil:
                for i in range(x.shape[0]):
                    inputs = &x[i, 0]
                    for k in range(self.n_layers):
                        to = &out[i, 0] if k == self.n_layers - 1 else two if k & 1 else one
                        memcpy(to, self.b[k], self.sizes[k + 1] * sizeof(float))
                        WIDE.dense(inputs, self.sizes[k], self.w[k], to, self.sizes[k + 1])
                        if k < self.n_layers - 1:
                            if self.tanh:
                                for j in range(self.sizes[k + 1]):
                                    to[j] = tanhf(to[j])
                            else:
                                relu(to, self.sizes[k + 1])
                        inputs = to
        finally:
            PyMem_Free(one)
