"""Compiled inference of policies: the entity network, and plain multi-layer perceptrons.

`locmsim.policy.policy` says what the networks look like. All matrices are stored with a row for
each input, so that a layer is a sum of rows, of which those of zero inputs are left out: half of
the units behind a ReLU are zero.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport sqrtf, tanhf
from libc.string cimport memcpy, memset

__all__ = ["ENTITY_SHAPES", "EntityRunner", "MlpRunner"]

cdef enum:
    GLOBALS = 56                # own, enemy, game, own deck, cards seen
    HAND = 8
    HAND_ROW = 24
    BOARD = 6
    BOARD_ROW = 16
    UNITS = 48                  # of an encoder
    TRUNK = 160
    KEY = 32                    # length of queries and keys
    JOINED = GLOBALS + 5 * UNITS
    LANES = 2
    SIDE_BY_SIDE = 8            # sums, for vector instructions

#: Arrays of the entity network and their shapes.
ENTITY_SHAPES = {
    "hand.w": (HAND_ROW, UNITS), "hand.b": (UNITS,),
    "own.w": (BOARD_ROW, UNITS), "own.b": (UNITS,),
    "enemy.w": (BOARD_ROW, UNITS), "enemy.b": (UNITS,),
    "trunk1.w": (JOINED, TRUNK), "trunk1.b": (TRUNK,),
    "trunk2.w": (TRUNK, TRUNK), "trunk2.b": (TRUNK,),
    "hand_context.w": (TRUNK, UNITS), "own_context.w": (TRUNK, UNITS),
    "enemy_context.w": (TRUNK, UNITS),
    "summon.w": (UNITS, KEY), "use.w": (UNITS, KEY), "attack.w": (UNITS, KEY),
    "own_key.w": (UNITS, KEY), "enemy_key.w": (UNITS, KEY), "enemy_attack_key.w": (UNITS, KEY),
    "lane_key.w": (2 * UNITS + TRUNK, KEY), "player_use_key.w": (TRUNK, KEY),
    "player_attack_key.w": (TRUNK, KEY),
    "pass.w": (TRUNK,), "pass.b": (), "value.w": (TRUNK,), "value.b": (),
}


cdef inline void dense(
    const float* x, int n, const float* w, float* out, const int m
) noexcept nogil:
    """Add x @ w to `out`."""
    cdef int i, j
    cdef float value
    cdef const float* row
    for i in range(n):
        value = x[i]
        if value != 0:
            row = w + i * m
            for j in range(m):
                out[j] += value * row[j]


cdef inline void relu(float* x, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        x[i] = x[i] if x[i] > 0 else 0


cdef inline float dot(const float* x, const float* y, int n) noexcept nogil:
    """Eight sums side by side, added up in the same order on all CPUs; n is a multiple of 8."""
    cdef float sums[SIDE_BY_SIDE]
    cdef float total = 0
    cdef int i = 0, k
    memset(sums, 0, sizeof(sums))
    while i < n:
        for k in range(SIDE_BY_SIDE):
            sums[k] += x[i + k] * y[i + k]
        i += SIDE_BY_SIDE
    for k in range(SIDE_BY_SIDE):
        total += sums[k]
    return total


@cython.final
cdef class EntityRunner:
    """The entity network with given arrays, all checked."""

    cdef dict arrays
    cdef const float* hand_w
    cdef const float* hand_b
    cdef const float* own_w
    cdef const float* own_b
    cdef const float* enemy_w
    cdef const float* enemy_b
    cdef const float* trunk1_w
    cdef const float* trunk1_b
    cdef const float* trunk2_w
    cdef const float* trunk2_b
    cdef const float* hand_context
    cdef const float* own_context
    cdef const float* enemy_context
    cdef const float* summon
    cdef const float* use
    cdef const float* attack
    cdef const float* own_key
    cdef const float* enemy_key
    cdef const float* enemy_attack_key
    cdef const float* lane_key
    cdef const float* player_use_key
    cdef const float* player_attack_key
    cdef const float* pass_w
    cdef const float* value_w
    cdef float pass_b
    cdef float value_b

    def __cinit__(self, arrays):
        self.arrays = dict(arrays)
        self.hand_w = self.at("hand.w")
        self.hand_b = self.at("hand.b")
        self.own_w = self.at("own.w")
        self.own_b = self.at("own.b")
        self.enemy_w = self.at("enemy.w")
        self.enemy_b = self.at("enemy.b")
        self.trunk1_w = self.at("trunk1.w")
        self.trunk1_b = self.at("trunk1.b")
        self.trunk2_w = self.at("trunk2.w")
        self.trunk2_b = self.at("trunk2.b")
        self.hand_context = self.at("hand_context.w")
        self.own_context = self.at("own_context.w")
        self.enemy_context = self.at("enemy_context.w")
        self.summon = self.at("summon.w")
        self.use = self.at("use.w")
        self.attack = self.at("attack.w")
        self.own_key = self.at("own_key.w")
        self.enemy_key = self.at("enemy_key.w")
        self.enemy_attack_key = self.at("enemy_attack_key.w")
        self.lane_key = self.at("lane_key.w")
        self.player_use_key = self.at("player_use_key.w")
        self.player_attack_key = self.at("player_attack_key.w")
        self.pass_w = self.at("pass.w")
        self.value_w = self.at("value.w")
        self.pass_b = self.at("pass.b")[0]
        self.value_b = self.at("value.b")[0]

    cdef const float* at(self, str name) except NULL:
        cdef const float[::1] data = self.arrays[name].reshape(-1)
        return &data[0]

    @cython.boundscheck(False)
    def run(self, const float[:, ::1] x, float[:, ::1] logits, float[::1] values):
        """Logits (rows, 145 or 155) and values of observations of "entities-f32"."""
        cdef Py_ssize_t i
        cdef bint one = logits.shape[1] == 155
        if x.shape[1] != 440 or logits.shape[0] != x.shape[0] or values.shape[0] != x.shape[0]:
            raise ValueError("arrays of sizes that do not go together")
        if logits.shape[1] != 145 and not one:
            raise ValueError(f"expected 145 or 155 actions, got {logits.shape[1]}")
        with nogil:
            for i in range(x.shape[0]):
                values[i] = self.row(&x[i, 0], &logits[i, 0], one)

    cdef float row(self, const float* x, float* logits, bint one) noexcept nogil:
        cdef float joined[JOINED]
        cdef float hand[HAND][UNITS]
        cdef float board[2][BOARD][UNITS]
        cdef float first[TRUNK]
        cdef float trunk[TRUNK]
        cdef float context[UNITS]
        cdef float use_query[HAND][KEY]
        cdef float lane_keys[LANES][KEY]
        cdef float target_keys[2][BOARD][KEY]       # of items: own, enemy
        cdef float attack_keys[BOARD][KEY]
        cdef float player_use[KEY]
        cdef float player_attack[KEY]
        cdef float query[KEY]
        cdef float lane[2 * UNITS]
        cdef float unit = 1 / sqrtf(<float>KEY)
        cdef float* sums = joined + GLOBALS
        cdef const float* row
        cdef int h, side, slot, which, j, base, n, size
        memcpy(joined, x, 24 * sizeof(float))               # own, enemy, game
        memcpy(joined + 24, x + 408, 32 * sizeof(float))    # own deck, cards seen
        memset(sums, 0, 5 * UNITS * sizeof(float))
        for h in range(HAND):
            row = x + 24 + HAND_ROW * h
            memset(hand[h], 0, sizeof(hand[h]))
            if row[0] == 0:
                continue
            memcpy(hand[h], self.hand_b, sizeof(hand[h]))
            dense(row, HAND_ROW, self.hand_w, hand[h], UNITS)
            for j in range(UNITS):
                sums[j] += hand[h][j] if hand[h][j] > 0 else 0
        for side in range(2):
            for slot in range(BOARD):
                row = x + 216 + 96 * side + BOARD_ROW * slot
                memset(board[side][slot], 0, sizeof(board[side][slot]))
                if row[0] == 0:
                    continue
                memcpy(board[side][slot], self.enemy_b if side else self.own_b,
                       sizeof(board[side][slot]))
                dense(row, BOARD_ROW, self.enemy_w if side else self.own_w, board[side][slot],
                      UNITS)
                which = 1 if slot >= 3 and not one else 0
                for j in range(UNITS):
                    sums[UNITS * (1 + 2 * side + which) + j] += (
                        board[side][slot][j] if board[side][slot][j] > 0 else 0)
        memcpy(first, self.trunk1_b, sizeof(first))
        dense(joined, JOINED, self.trunk1_w, first, TRUNK)
        relu(first, TRUNK)
        memcpy(trunk, self.trunk2_b, sizeof(trunk))
        dense(first, TRUNK, self.trunk2_w, trunk, TRUNK)
        relu(trunk, TRUNK)

        # What each card and creature is in this position.
        memset(context, 0, sizeof(context))
        dense(trunk, TRUNK, self.hand_context, context, UNITS)
        for h in range(HAND):
            for j in range(UNITS):
                hand[h][j] += context[j]
            relu(hand[h], UNITS)
        for side in range(2):
            memset(context, 0, sizeof(context))
            dense(trunk, TRUNK, self.enemy_context if side else self.own_context, context, UNITS)
            for slot in range(BOARD):
                for j in range(UNITS):
                    board[side][slot][j] += context[j]
                relu(board[side][slot], UNITS)

        # Keys of all that an action may be aimed at.
        for which in range(LANES):
            memcpy(lane, sums + UNITS * (1 + which), UNITS * sizeof(float))
            memcpy(lane + UNITS, sums + UNITS * (3 + which), UNITS * sizeof(float))
            memset(lane_keys[which], 0, sizeof(lane_keys[which]))
            dense(lane, 2 * UNITS, self.lane_key, lane_keys[which], KEY)
            dense(trunk, TRUNK, self.lane_key + 2 * UNITS * KEY, lane_keys[which], KEY)
        memset(target_keys, 0, sizeof(target_keys))
        memset(attack_keys, 0, sizeof(attack_keys))
        for slot in range(BOARD):
            if x[216 + BOARD_ROW * slot] != 0:
                dense(board[0][slot], UNITS, self.own_key, target_keys[0][slot], KEY)
            if x[312 + BOARD_ROW * slot] != 0:
                dense(board[1][slot], UNITS, self.enemy_key, target_keys[1][slot], KEY)
                dense(board[1][slot], UNITS, self.enemy_attack_key, attack_keys[slot], KEY)
        memset(player_use, 0, sizeof(player_use))
        dense(trunk, TRUNK, self.player_use_key, player_use, KEY)
        memset(player_attack, 0, sizeof(player_attack))
        dense(trunk, TRUNK, self.player_attack_key, player_attack, KEY)

        # Logits in the order of the action numbers; 0 where there is nothing.
        memset(logits, 0, (155 if one else 145) * sizeof(float))
        logits[0] = self.pass_b + dot(trunk, self.pass_w, TRUNK)
        base = 9 if one else 17
        for h in range(HAND):
            if x[24 + HAND_ROW * h] == 0:
                continue
            memset(query, 0, sizeof(query))
            dense(hand[h], UNITS, self.summon, query, KEY)
            if one:
                logits[1 + h] = unit * dot(query, lane_keys[0], KEY)
            else:
                logits[1 + 2 * h] = unit * dot(query, lane_keys[0], KEY)
                logits[2 + 2 * h] = unit * dot(query, lane_keys[1], KEY)
            memset(use_query[h], 0, sizeof(use_query[h]))
            dense(hand[h], UNITS, self.use, use_query[h], KEY)
            logits[base + 13 * h] = unit * dot(use_query[h], player_use, KEY)
            for side in range(2):
                for slot in range(BOARD):
                    logits[base + 13 * h + 1 + BOARD * side + slot] = unit * dot(
                        use_query[h], target_keys[side][slot], KEY)
        base += 13 * HAND
        size = 6 if one else 3
        for slot in range(BOARD):
            if x[216 + BOARD_ROW * slot] == 0:
                continue
            memset(query, 0, sizeof(query))
            dense(board[0][slot], UNITS, self.attack, query, KEY)
            n = base + (size + 1) * slot
            logits[n] = unit * dot(query, player_attack, KEY)
            for j in range(size):
                which = j if one or slot < 3 else 3 + j
                logits[n + 1 + j] = unit * dot(query, attack_keys[which], KEY)
        return tanhf(self.value_b + dot(trunk, self.value_w, TRUNK))


@cython.final
cdef class MlpRunner:
    """Dense layers with the same activation, and no activation behind the last one."""

    cdef list arrays
    cdef int n_layers
    cdef int sizes[17]
    cdef const float* w[16]
    cdef const float* b[16]
    cdef bint tanh

    def __cinit__(self, layers, bint tanh):
        cdef const float[:, ::1] matrix
        cdef const float[::1] bias
        cdef int i
        if not 1 <= len(layers) <= 16:
            raise ValueError(f"expected 1..16 layers, got {len(layers)}")
        self.arrays = list(layers)
        self.n_layers = <int>len(layers)
        self.tanh = tanh
        for i, (weights, biases) in enumerate(layers):
            matrix = weights
            bias = biases
            if i and matrix.shape[0] != self.sizes[i] or bias.shape[0] != matrix.shape[1]:
                raise ValueError(f"layer {i}: sizes that do not go together")
            self.sizes[i] = <int>matrix.shape[0]
            self.sizes[i + 1] = <int>matrix.shape[1]
            self.w[i] = &matrix[0, 0]
            self.b[i] = &bias[0]

    @cython.boundscheck(False)
    def run(self, const float[:, ::1] x, float[:, ::1] out):
        """The last layer for each row."""
        cdef int widest = 1
        cdef Py_ssize_t i
        cdef int k, j
        cdef float* one
        cdef float* two
        cdef const float* given
        cdef float* to
        if (x.shape[1] != self.sizes[0] or out.shape[0] != x.shape[0]
                or out.shape[1] != self.sizes[self.n_layers]):
            raise ValueError("arrays of sizes that do not go together")
        for k in range(self.n_layers + 1):
            widest = max(widest, self.sizes[k])
        one = <float*>PyMem_Malloc(2 * widest * sizeof(float))
        if one is NULL:
            raise MemoryError()
        two = one + widest
        try:
            with nogil:
                for i in range(x.shape[0]):
                    given = &x[i, 0]
                    for k in range(self.n_layers):
                        to = &out[i, 0] if k == self.n_layers - 1 else two if k & 1 else one
                        memcpy(to, self.b[k], self.sizes[k + 1] * sizeof(float))
                        dense(given, self.sizes[k], self.w[k], to, self.sizes[k + 1])
                        if k < self.n_layers - 1:
                            if self.tanh:
                                for j in range(self.sizes[k + 1]):
                                    to[j] = tanhf(to[j])
                            else:
                                relu(to, self.sizes[k + 1])
                        given = to
        finally:
            PyMem_Free(one)
