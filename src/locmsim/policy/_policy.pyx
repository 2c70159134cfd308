"""Compiled inference of policies: the entity network, and plain multi-layer perceptrons.

`locmsim.policy.policy` describes the networks. The shapes of the arrays determine the sizes of
the layers.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport sqrtf
from libc.string cimport memcpy, memset

from locmsim._core cimport MAX_BOARD, MAX_HAND, RULES_10, RULES_15, num_actions
from locmsim._math cimport tanh32
from locmsim.game._layout cimport (
    BOARD_ROW,
    DECK,
    ENTITIES_SIZE,
    HAND_START,
    HAND_ROW,
    OWN_BOARD_START,
    PILE,
)
from locmsim.networks._layers cimport add_relu, add_row, relu
from locmsim.networks._wide cimport wide_of_, wide_t

__all__ = ["EntityRunner", "MlpRunner", "entity_shapes", "set_vector_bits"]

cdef enum:
    GLOBALS = HAND_START + 2 * PILE   # player, opponent, game, the player's deck, cards seen
    LANES = 2
    SUMS = 5                    # of units: over the hand, and over each lane of each side
    UNITS = 48                  # default sizes: of encoders, of the trunk's layers, of keys
    TRUNK = 160
    KEY = 32
    MAX_LAYERS = 16             # of a perceptron
    LINE = 16                   # numbers in a line of the cache
    TOGETHER = 16               # rows that share the weights in the CPU's first cache

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

cdef enum:                      # matrices of layers with the same inputs, side by side
    AFTER_TRUNK = ENTITY_ARRAYS     # contexts, and keys of players and lanes: see `activations_t`
    OF_CARD                     # queries of summons and uses
    OF_OWN                      # keys of own creatures, queries of attacks
    OF_ENEMY                    # keys for uses and for attacks
    ALL_ARRAYS

cdef wide_t WIDE = wide_of_(512)


def set_vector_bits(int most):
    """Use vector instructions of at most `most` bits from now on; the results are the same."""
    global WIDE
    WIDE = wide_of_(most)


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


cdef float* copied_numbers(arrays, const float** starts, int n, size_t more=0) except NULL:
    """Return a copy of the numbers of n arrays, which the caller must free, and write their starts.

    They begin with lines of the cache, so that few vectors lie across two. The last start is that
    of room for `more` numbers.
    """
    cdef size_t size = more + LINE
    cdef float* copied
    cdef float* at
    cdef const float[::1] numbers
    cdef int i
    for array in arrays.values():
        size += <size_t>array.size + LINE
    copied = <float*>PyMem_Malloc(size * sizeof(float))
    if copied is NULL:
        raise MemoryError("too little memory for a policy")
    at = line_at(copied)
    for i, array in enumerate(arrays.values()):
        numbers = array.ravel()
        memcpy(at, &numbers[0], numbers.shape[0] * sizeof(float))
        starts[i] = at
        at = line_at(at + numbers.shape[0])
    starts[n] = at
    return copied


cdef inline float* line_at(float* at) noexcept nogil:
    """Return the first place from `at` on where a line of the cache begins."""
    return at + (-(<size_t>at // sizeof(float)) & (LINE - 1))


ctypedef struct sizes_t:
    int units                   # of each encoder
    int trunk                   # of each layer after them
    int key
    bint one                    # one lane

ctypedef struct activations_t:  # the results for an observation
    unsigned int held           # a bit for each card
    unsigned int present[2]     # ... creature
    # The inputs of the trunk:
    float* joined               # [GLOBALS]
    float* sums                 # [SUMS][units]
    float* hand                 # [MAX_HAND][units]
    float* board                # [own, enemy][MAX_BOARD][units]
    float* first                # [trunk]
    float* trunk                # [trunk]
    # The outputs of AFTER_TRUNK:
    float* context              # [hand, own, enemy][units]
    float* player_use           # [key]
    float* player_attack        # [key]
    float* lane_key             # [key]: what the trunk adds to each lane's


cdef inline int row_size(const sizes_t* z) noexcept nogil:
    """Return how many numbers a row's results take."""
    return GLOBALS + (SUMS + MAX_HAND + 2 * MAX_BOARD + 3) * z.units + 2 * z.trunk + 3 * z.key


cdef inline void place_row(activations_t* r, float* scratch, const sizes_t* z) noexcept nogil:
    """Lay out a row's results in memory."""
    r.joined = scratch
    r.sums = r.joined + GLOBALS
    r.hand = r.sums + SUMS * z.units
    r.board = r.hand + MAX_HAND * z.units
    r.first = r.board + 2 * MAX_BOARD * z.units
    r.trunk = r.first + z.trunk
    r.context = r.trunk + z.trunk
    r.player_use = r.context + 3 * z.units
    r.player_attack = r.player_use + z.key
    r.lane_key = r.player_attack + z.key


cdef float* put_beside(
    float* to, int rows, const float* const* w, const int* sizes, int n
) noexcept nogil:
    """Write n matrices, of `sizes` outputs, side by side; return the end."""
    cdef int i, k
    for i in range(rows):
        for k in range(n):
            memcpy(to, w[k] + i * sizes[k], sizes[k] * sizeof(float))
            to += sizes[k]
    return to


cdef void join_layers(const float** w, float* to, const sizes_t* z) noexcept nogil:
    """Put layers with the same inputs side by side, as one layer takes less time."""
    cdef int units = z.units, key = z.key
    cdef int *sizes = [units, units, units, key, key, key]
    cdef const float** parts = [
        w[HAND_CONTEXT], w[OWN_CONTEXT], w[ENEMY_CONTEXT], w[PLAYER_USE_KEY], w[PLAYER_ATTACK_KEY],
        w[LANE_KEY] + 2 * units * key, w[SUMMON], w[USE], w[OWN_KEY], w[ATTACK], w[ENEMY_KEY],
        w[ENEMY_ATTACK_KEY],
    ]
    cdef int k
    w[AFTER_TRUNK] = to
    to = put_beside(to, z.trunk, parts, sizes, 6)
    for k in range(3):
        w[OF_CARD + k] = to
        to = put_beside(to, units, parts + 6 + 2 * k, sizes + 3, 2)


cdef inline void put_in_context(
    const float* context, float* things, int n, unsigned int present, int units
) noexcept nogil:
    """Add the trunk's output to each present one of n cards or creatures, and apply the ReLU."""
    cdef int i
    for i in range(n):
        if present >> i & 1:
            add_row(things + i * units, 1, context, units)
            relu(things + i * units, units)


cdef inline void dense(
    const float* x, int n, const float* w, float* to, int m
) noexcept nogil:
    """Add x @ w to `to`."""
    WIDE.dense(1, x, 0, n, w, to, 0, m)


cdef void encode_row(
    const float* const* w, const float* x, activations_t* r, const sizes_t* z
) noexcept nogil:
    """Encode the cards and creatures of an observation, and join what the trunk reads."""
    cdef const float* inputs
    cdef float* encoded
    cdef int h, side, slot, which, units = z.units
    memcpy(r.joined, x, HAND_START * sizeof(float))           # own, enemy, game
    memcpy(r.joined + HAND_START, x + DECK, 2 * PILE * sizeof(float))     # ... and cards seen
    # Sums are added to, and missing cards and creatures must be 0.
    memset(r.sums, 0, (SUMS + MAX_HAND + 2 * MAX_BOARD) * units * sizeof(float))
    r.held = 0
    for h in range(MAX_HAND):
        inputs = x + HAND_START + HAND_ROW * h
        if inputs[0] == 0:
            continue
        r.held |= <unsigned int>1 << h
        encoded = r.hand + h * units
        memcpy(encoded, w[HAND_B], units * sizeof(float))
        dense(inputs, HAND_ROW, w[HAND_W], encoded, units)
        add_relu(r.sums, encoded, units)
    for side in range(2):
        r.present[side] = 0
        for slot in range(MAX_BOARD):
            inputs = x + OWN_BOARD_START + BOARD_ROW * (MAX_BOARD * side + slot)
            if inputs[0] == 0:
                continue
            r.present[side] |= <unsigned int>1 << slot
            encoded = r.board + (MAX_BOARD * side + slot) * units
            memcpy(encoded, w[ENEMY_B] if side else w[OWN_B], units * sizeof(float))
            dense(inputs, BOARD_ROW, w[ENEMY_W] if side else w[OWN_W], encoded, units)
            which = 1 if slot >= 3 and not z.one else 0
            add_relu(r.sums + (1 + 2 * side + which) * units, encoded, units)


cdef void run_trunk(
    const float* const* w, activations_t* rows, int n, int step, const sizes_t* z
) noexcept nogil:
    """Run the trunk and the layers after it for n rows, each `step` numbers after the last."""
    cdef int i, outputs = 3 * (z.units + z.key)
    for i in range(n):
        memcpy(rows[i].first, w[TRUNK1_B], z.trunk * sizeof(float))
        memcpy(rows[i].trunk, w[TRUNK2_B], z.trunk * sizeof(float))
        memset(rows[i].context, 0, outputs * sizeof(float))
    WIDE.dense(n, rows.joined, step, GLOBALS + SUMS * z.units, w[TRUNK1_W], rows.first, step,
               z.trunk)
    for i in range(n):
        relu(rows[i].first, z.trunk)
    WIDE.dense(n, rows.first, step, z.trunk, w[TRUNK2_W], rows.trunk, step, z.trunk)
    for i in range(n):
        relu(rows[i].trunk, z.trunk)
    WIDE.dense(n, rows.trunk, step, z.trunk, w[AFTER_TRUNK], rows.context, step, outputs)


cdef float rate_actions(
    const float* const* w, const activations_t* r, float* logits, float* scratch, const sizes_t* z
) noexcept nogil:
    """Write the logits of a row and return its value."""
    cdef float* lane = scratch                          # [own, enemy][units]
    cdef float* lane_keys = lane + 2 * z.units          # [LANES][key]
    # Of items: [player, own slots, enemy slots][key].
    cdef float* target_keys = lane_keys + LANES * z.key
    cdef float* attack_keys = target_keys + (1 + 2 * MAX_BOARD) * z.key     # [MAX_BOARD][key]
    cdef float* attacks = attack_keys + MAX_BOARD * z.key       # queries, [MAX_BOARD][key]
    cdef float* pair = attacks + MAX_BOARD * z.key              # [2][key]
    cdef float scale = 1 / sqrtf(<float>z.key)
    cdef float value
    cdef int h, slot, which, n, units = z.units, key = z.key
    cdef int base = 9 if z.one else 17
    cdef int size = 6 if z.one else 3
    # Put each card and creature in the context of the position.
    put_in_context(r.context, r.hand, MAX_HAND, r.held, units)
    put_in_context(r.context + units, r.board, MAX_BOARD, r.present[0], units)
    put_in_context(
        r.context + 2 * units, r.board + MAX_BOARD * units, MAX_BOARD, r.present[1], units)

    # Keys of everything that an action may target.
    for which in range(LANES):
        memcpy(lane, r.sums + (1 + which) * units, units * sizeof(float))
        memcpy(lane + units, r.sums + (3 + which) * units, units * sizeof(float))
        memcpy(lane_keys + which * key, r.lane_key, key * sizeof(float))
        dense(lane, 2 * units, w[LANE_KEY], lane_keys + which * key, key)
    memset(target_keys, 0, (1 + 3 * MAX_BOARD) * key * sizeof(float))
    memcpy(target_keys, r.player_use, key * sizeof(float))
    for slot in range(MAX_BOARD):
        if r.present[0] >> slot & 1:
            memset(pair, 0, 2 * key * sizeof(float))
            dense(r.board + slot * units, units, w[OF_OWN], pair, 2 * key)
            memcpy(target_keys + (1 + slot) * key, pair, key * sizeof(float))
            memcpy(attacks + slot * key, pair + key, key * sizeof(float))
        if r.present[1] >> slot & 1:
            memset(pair, 0, 2 * key * sizeof(float))
            dense(r.board + (MAX_BOARD + slot) * units, units, w[OF_ENEMY], pair, 2 * key)
            memcpy(target_keys + (1 + MAX_BOARD + slot) * key, pair, key * sizeof(float))
            memcpy(attack_keys + slot * key, pair + key, key * sizeof(float))

    # Logits in the order of the action numbers; 0 where a card or creature is missing.
    memset(logits, 0, num_actions(RULES_10 if z.one else RULES_15) * sizeof(float))
    WIDE.dots(r.trunk, w[PASS_W], z.trunk, 1, 1, logits)
    logits[0] += w[PASS_B][0]
    for h in range(MAX_HAND):
        if not r.held >> h & 1:
            continue
        memset(pair, 0, 2 * key * sizeof(float))
        dense(r.hand + h * units, units, w[OF_CARD], pair, 2 * key)
        if z.one:
            WIDE.dots(pair, lane_keys, key, 1, scale, logits + 1 + h)
        else:
            WIDE.dots(pair, lane_keys, key, 3, scale, logits + 1 + 2 * h)
        WIDE.dots(pair + key, target_keys, key,
                  1 | r.present[0] << 1 | r.present[1] << (1 + MAX_BOARD), scale,
                  logits + base + 13 * h)
    base += 13 * MAX_HAND
    for slot in range(MAX_BOARD):
        if not r.present[0] >> slot & 1:
            continue
        n = base + (size + 1) * slot
        WIDE.dots(attacks + slot * key, r.player_attack, key, 1, scale, logits + n)
        which = 0 if z.one or slot < 3 else 3           # the first enemy that it may attack
        WIDE.dots(attacks + slot * key, attack_keys + which * key, key,
                  r.present[1] >> which & ((<unsigned int>1 << size) - 1), scale, logits + n + 1)
    WIDE.dots(r.trunk, w[VALUE_W], z.trunk, 1, 1, &value)
    return tanh32(w[VALUE_B][0] + value)


@cython.final
cdef class EntityRunner:
    """Runs the entity network. `arrays` must be valid and in the order of `entity_shapes`.

    Numbers of observations are divided by `scale`.
    """

    cdef float scale[ENTITIES_SIZE]
    cdef float* numbers         # of all arrays, concatenated
    cdef const float* w[ALL_ARRAYS]
    cdef sizes_t sizes

    def __cinit__(self, arrays, const float[::1] scale):
        cdef size_t joined
        cdef int i
        for i in range(ENTITIES_SIZE):
            self.scale[i] = scale[i]
        self.sizes.units, self.sizes.key = arrays["summon.w"].shape
        self.sizes.trunk = arrays["trunk1.b"].size
        joined = 3 * self.sizes.trunk * (self.sizes.units + self.sizes.key)
        joined += 6 * self.sizes.units * self.sizes.key
        self.numbers = copied_numbers(arrays, self.w, ENTITY_ARRAYS, joined)
        join_layers(self.w, <float*>self.w[ENTITY_ARRAYS], &self.sizes)

    def __dealloc__(self):
        PyMem_Free(self.numbers)

    @cython.boundscheck(False)
    def run(self, const float[:, ::1] x, float[:, ::1] logits, float[::1] values):
        """Write the logits (rows, 145 or 155) and the values of observations."""
        cdef Py_ssize_t i
        cdef int j, k, n, step
        cdef float* scratch
        cdef float* observation
        cdef activations_t rows[TOGETHER]
        cdef sizes_t z = self.sizes
        z.one = logits.shape[1] == num_actions(RULES_10)
        if x.shape[1] != ENTITIES_SIZE or not (
                logits.shape[0] == values.shape[0] == x.shape[0]):
            raise ValueError("the sizes of the arrays do not match")
        if logits.shape[1] != num_actions(RULES_15) and not z.one:
            raise ValueError(
                f"expected {num_actions(RULES_15)} or {num_actions(RULES_10)} actions, "
                f"got {logits.shape[1]}")
        step = row_size(&z)
        scratch = <float*>PyMem_Malloc(
            (ENTITIES_SIZE + TOGETHER * <size_t>step + 2 * z.units
             + (LANES + 3 + 4 * MAX_BOARD) * z.key)
            * sizeof(float))
        if scratch is NULL:
            raise MemoryError("too little memory for a policy")
        observation = scratch + TOGETHER * step
        with nogil:
            for k in range(TOGETHER):
                place_row(&rows[k], scratch + k * step, &z)
            i = 0
            while i < x.shape[0]:
                n = <int>min(x.shape[0] - i, <Py_ssize_t>TOGETHER)
                for k in range(n):
                    for j in range(ENTITIES_SIZE):
                        observation[j] = x[i + k, j] / self.scale[j]
                    encode_row(self.w, observation, &rows[k], &z)
                run_trunk(self.w, rows, n, step, &z)
                for k in range(n):
                    values[i + k] = rate_actions(
                        self.w, &rows[k], &logits[i + k, 0], observation + ENTITIES_SIZE, &z)
                i += n
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
        cdef const float* starts[2 * MAX_LAYERS + 1]
        cdef int i
        matrices = [array for array in arrays.values() if array.ndim == 2]
        if not 1 <= len(matrices) <= MAX_LAYERS:
            raise ValueError(f"expected 1..{MAX_LAYERS} layers, got {len(matrices)}")
        self.n_layers = <int>len(matrices)
        self.tanh = tanh
        self.numbers = copied_numbers(arrays, starts, 2 * self.n_layers)
        for i, matrix in enumerate(matrices):
            self.sizes[i], self.sizes[i + 1] = matrix.shape
            self.w[i] = starts[2 * i]
            self.b[i] = starts[2 * i + 1]

    def __dealloc__(self):
        PyMem_Free(self.numbers)

    @cython.boundscheck(False)
    def run(self, const float[:, ::1] x, float[:, ::1] out):
        """Write the output of the last layer for each row."""
        cdef int widest = 1
        cdef Py_ssize_t i = 0
        cdef int k, j, n, step
        cdef float* buffers
        cdef const float* inputs
        cdef float* to
        if (x.shape[1] != self.sizes[0] or out.shape[0] != x.shape[0]
                or out.shape[1] != self.sizes[self.n_layers]):
            raise ValueError("the sizes of the arrays do not match")
        for k in range(self.n_layers + 1):
            widest = max(widest, self.sizes[k])
        buffers = <float*>PyMem_Malloc(2 * TOGETHER * <size_t>widest * sizeof(float))
        if buffers is NULL:
            raise MemoryError("too little memory for a policy")
        with nogil:
            while i < x.shape[0]:
                n = <int>min(x.shape[0] - i, <Py_ssize_t>TOGETHER)
                inputs = &x[i, 0]
                for k in range(self.n_layers):
                    step = self.sizes[k + 1]
                    to = &out[i, 0] if k == self.n_layers - 1 else (
                        buffers + (k & 1) * TOGETHER * widest)
                    for j in range(n):
                        memcpy(to + j * step, self.b[k], step * sizeof(float))
                    WIDE.dense(
                        n, inputs, self.sizes[k], self.sizes[k], self.w[k], to, step, step)
                    if k == self.n_layers - 1:
                        break
                    if self.tanh:
                        for j in range(n * step):
                            to[j] = tanh32(to[j])
                    else:
                        relu(to, n * step)
                    inputs = to
                i += n
        PyMem_Free(buffers)
