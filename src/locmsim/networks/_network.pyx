"""A small neural network that predicts the result of a game; see _network.pxd.

Section numbers refer to docs/rules.md.
"""

cimport cython
from libc.stdint cimport int16_t, uint32_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    AREA_LANE1,
    AREA_LANE2,
    BREAKTHROUGH,
    CREATURE,
    DRAIN,
    GUARD,
    GUARDED,
    MAX_BOARD,
    MAX_DECK,
    MAX_HAND,
    OCCUPIED,
    RULES_10,
    RULES_15,
    WARD,
    State,
    card_t,
    clip,
    creature_t,
    lane_slots,
    player_after_draw,
    player_next_draw,
    player_of,
    player_t,
    state_t,
    table_t,
)
from locmsim._platform cimport count_bits_
from locmsim.networks._layers cimport add_relu, add_row

from math import prod
from types import MappingProxyType

from locmsim.networks.archives import StoredArray


__all__ = [
    "BLOCKS",
    "LARGE_SHAPES",
    "SHAPES",
    "Network",
    "checked",
    "inputs",
    "packed",
    "shapes_of",
    "unpacked",
]

cdef enum:
    MOST = 20                   # printed values above this count as this


# ---- inputs --------------------------------------------------------------------------------------


cdef int see_board(
    inputs_t* o, int side, const player_t* p, const player_t* op, bint one
) noexcept nogil:
    """Fill in the creatures of a side; return the attack in lanes without enemy Guards."""
    cdef uint32_t left = p.marks >> OCCUPIED & 63
    cdef uint32_t guarded = op.marks >> GUARDED & 63
    cdef const creature_t* x
    cdef int16_t* f
    cdef int slot, i, a, d, free = 0
    for slot in range(MAX_BOARD):
        if not left >> slot & 1:
            continue
        x = &p.board[slot]
        f = o.creatures[side][slot]
        a = clip(x.attack, MOST)
        d = clip(x.defense, MOST)
        if not guarded & lane_slots(slot, one):
            free += a
        f[0] = 1
        f[1] = a
        f[2] = d
        f[3] = min(a, d)
        for i in range(6):
            f[4 + i] = x.keywords >> i & 1
        f[10] = a if x.keywords & BREAKTHROUGH else 0
        f[11] = a if x.keywords & DRAIN else 0
        f[12] = a if x.keywords & WARD else 0
        f[13] = d if x.keywords & GUARD else 0
        f[14] = min(a, 3)
        f[15] = min(d, 3)
    return free


cdef inline int see_player(int16_t* f, const player_t* p, const table_t* t) noexcept nogil:
    """Fill in a player's other inputs; return their health after the next draw (4)."""
    cdef int hand, left
    cdef int health = max(-10, min(50, player_after_draw(p, t.rules, &hand, &left)))
    f[0] = health
    f[1] = max(0, 12 - health)
    f[2] = max(0, 6 - health)
    f[3] = hand
    f[4] = max(0, hand - 5)
    f[5] = left
    f[6] = max(0, 10 - left)
    f[7] = max(0, 4 - left)
    if t.rules == RULES_15:
        f[8] = p.lost % 5
    else:
        f[8] = count_bits_(p.runes)
    f[9] = p.max_mana
    f[10] = p.bonus
    f[11] = min(player_next_draw(p), 12)
    return health


cdef void see(inputs_t* o, const state_t* s, const table_t* t, int who) noexcept nogil:
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef const card_t* c
    cdef int16_t* f
    cdef bint one = t.rules == RULES_10
    cdef int i, j, mine, theirs, my_health, their_health
    memset(o, 0, sizeof(inputs_t))
    for i in range(MAX_BOARD):
        o.lane[i] = 0 if one else i >= 3
    mine = see_board(o, 0, me, op, one)
    theirs = see_board(o, 1, op, me, one)
    for i in range(me.hand_size):
        c = &t.cards[me.hand >> 8 * i & 255]
        f = o.hand[i]
        f[0] = 1
        f[1 + c.type] = 1
        f[5] = c.cost
        f[6] = clip(c.attack, MOST)
        f[7] = clip(c.defense, MOST)
        for j in range(6):
            f[8 + j] = c.keywords >> j & 1
        f[14] = clip(c.my_health, MOST)
        f[15] = clip(c.opponent_health, MOST)
        f[16] = c.draw
        f[17] = c.area == AREA_LANE1
        f[18] = c.area == AREA_LANE2
        f[19] = c.cost >= 4
    f = o.other
    my_health = see_player(f, me, t)
    their_health = see_player(f + 12, op, t)
    f[24] = min(s.turn, 40)
    f[25] = max(0, 4 - s.turn)
    for i in range(MAX_DECK - me.deck_left, MAX_DECK):
        c = &t.cards[s.deck[who][i]]
        f[26] += c.cost
        f[27] += c.draw
        f[28] += c.type == CREATURE
        f[29] += c.area != 0
        f[30] += c.cost <= 1
    f[31] = min(mine, 40)
    f[32] = min(theirs, 40)
    f[33] = mine >= their_health
    f[34] = theirs >= my_health
    f[35] = max(-20, min(20, their_health - mine))
    f[36] = max(-20, min(20, my_health - theirs))
    f[37] = max(0, -f[35])
    f[38] = max(0, -f[36])


# ---- the network ---------------------------------------------------------------------------------


cdef inline void add_eights(float* to, float x, const float* row, int n) noexcept nogil:
    """Add a multiple of a row of n weights, a multiple of 8.

    gcc keeps the sums of eight units in registers, while longer loops stay loops.
    """
    cdef int k
    add_row(to, x, row, 8)
    if n > 8:
        add_row(to + 8, x, row + 8, 8)
    for k in range(16, n, 8):
        add_row(to + k, x, row + k, 8)


cdef inline float value_by_units(
    const float* w, const inputs_t* seen, int cards, int n_sums, int n_lane, int n_hidden,
    int n_deeper
) noexcept nogil:
    """Return the output of a network with constant numbers of units, given its arrays."""
    cdef float units[LARGE_LANE]            # units of the present layer
    cdef float sums[4 * LARGE_SUMS]         # by lane and side
    cdef float joined[LARGE_JOINED]
    cdef float hidden[LARGE_HIDDEN]
    cdef float deeper[LARGE_DEEPER]
    cdef int n_joined = n_lane + 3 * n_sums + OTHER_INPUTS
    cdef const float* of_card = w + 2 * CREATURE_INPUTS * n_sums
    cdef const float* of_lane = of_card + CARD_INPUTS * n_sums
    cdef const float* of_hidden = of_lane + (2 * n_sums + 1) * n_lane
    cdef const float* of_deeper = of_hidden + (n_joined + 1) * n_hidden
    cdef const float* output = of_deeper + (n_hidden + 1) * n_deeper
    cdef const float* direct = output + n_deeper
    cdef const float* row
    cdef float value = direct[n_joined]
    cdef int side, slot, lane, i
    memset(sums, 0, 4 * n_sums * sizeof(float))
    memset(joined, 0, n_joined * sizeof(float))
    for side in range(2):
        for slot in range(MAX_BOARD):
            if seen.creatures[side][slot][0]:
                memset(units, 0, n_sums * sizeof(float))
                row = w + side * CREATURE_INPUTS * n_sums
                for i in range(CREATURE_INPUTS):
                    add_eights(units, seen.creatures[side][slot][i], row + i * n_sums, n_sums)
                add_relu(&sums[(2 * seen.lane[slot] + side) * n_sums], units, n_sums)
    for lane in range(2):
        memcpy(units, of_lane + 2 * n_sums * n_lane, n_lane * sizeof(float))
        for i in range(2 * n_sums):
            add_eights(units, sums[2 * n_sums * lane + i], of_lane + i * n_lane, n_lane)
            joined[n_lane + i] += sums[2 * n_sums * lane + i]
        add_relu(joined, units, n_lane)
    for slot in range(cards):
        memset(units, 0, n_sums * sizeof(float))
        for i in range(CARD_INPUTS):
            add_eights(units, seen.hand[slot][i], of_card + i * n_sums, n_sums)
        add_relu(&joined[n_lane + 2 * n_sums], units, n_sums)
    for i in range(OTHER_INPUTS):
        joined[n_lane + 3 * n_sums + i] = seen.other[i]
    memcpy(hidden, of_hidden + n_joined * n_hidden, n_hidden * sizeof(float))
    memcpy(deeper, of_deeper + n_hidden * n_deeper, n_deeper * sizeof(float))
    for i in range(n_joined):
        value += joined[i] * direct[i]
        add_eights(hidden, joined[i], of_hidden + i * n_hidden, n_hidden)
    for i in range(n_hidden):
        add_eights(deeper, hidden[i] if hidden[i] > 0 else 0, of_deeper + i * n_deeper, n_deeper)
    for i in range(n_deeper):
        value += deeper[i] * output[i] if deeper[i] > 0 else 0
    return value


cdef float network_value(
    const network_t* n, const state_t* s, const table_t* t, int who
) noexcept nogil:
    cdef inputs_t seen
    cdef int cards = s.p[who].hand_size
    see(&seen, s, t, who)
    if n.large:
        return value_by_units(
            n.numbers, &seen, cards, LARGE_SUMS, LARGE_LANE, LARGE_HIDDEN, LARGE_DEEPER)
    return value_by_units(n.numbers, &seen, cards, SUMS, LANE, HIDDEN, DEEPER)


def shapes_of_units(sums, lane, hidden, deeper):
    """Return name -> shape of the arrays of a network, in their order in `network_t`."""
    joined = lane + 3 * sums + OTHER_INPUTS
    return {
        "creature": (2, CREATURE_INPUTS, sums),
        "card": (CARD_INPUTS, sums),
        "lane": (2 * sums, lane),
        "lane_bias": (lane,),
        "hidden": (joined, hidden),
        "hidden_bias": (hidden,),
        "deeper": (hidden, deeper),
        "deeper_bias": (deeper,),
        "output": (deeper,),
        "direct": (joined,),
        "output_bias": (),
    }


#: Name -> shape of the arrays of a network, of the small size and of the large one.
SHAPES = shapes_of_units(SUMS, LANE, HIDDEN, DEEPER)
LARGE_SHAPES = shapes_of_units(LARGE_SUMS, LARGE_LANE, LARGE_HIDDEN, LARGE_DEEPER)
#: Name -> shape of the parts of `inputs_t`, in their order.
BLOCKS = {
    "creatures": (2, MAX_BOARD, CREATURE_INPUTS),
    "lane": (MAX_BOARD,),
    "hand": (MAX_HAND, CARD_INPUTS),
    "other": (OTHER_INPUTS,),
}


def packed(owner, arrays, shapes):
    """Return the numbers of `arrays`, float32 in the order of `shapes`, the expected shapes.

    ``ValueError`` names the owner and an array that is missing, unknown, of the wrong shape or not
    finite.
    """
    cdef const float[::1] numbers
    cdef Py_ssize_t i
    cdef bytes found = b""
    for name in arrays:
        if name not in shapes:
            raise ValueError(f"{owner}: unknown array {name!r}")
    for name, shape in shapes.items():
        if name not in arrays:
            raise ValueError(f"{owner}: {name} is missing")
        array = arrays[name]
        if not isinstance(array, StoredArray):
            import numpy as np  # slow to import, and bots with the package's weights start without

            try:
                array = np.array(array, np.float32, order="C")
            except (TypeError, ValueError):
                raise ValueError(f"{owner}: {name}: expected an array of numbers") from None
        if array.shape != shape:
            raise ValueError(f"{owner}: {name}: expected shape {shape}, got {array.shape}")
        data = array.tobytes()
        numbers = memoryview(data).cast("f")
        for i in range(numbers.shape[0]):
            if numbers[i] - numbers[i] != 0:  # infinite, or no number
                raise ValueError(f"{owner}: {name}: not all numbers are finite")
        found += data
    return found


def unpacked(numbers, shapes):
    """Return what `packed` has packed: arrays by name, which cannot be changed."""
    import numpy as np

    arrays, start = {}, 0
    for name, shape in shapes.items():
        size = prod(shape)
        arrays[name] = np.frombuffer(numbers, np.float32, size, start).reshape(shape)
        start += 4 * size
    return arrays


def checked(owner, arrays, shapes):
    """Return `arrays` as float32 that cannot be changed, checked as by `packed`."""
    return unpacked(packed(owner, arrays, shapes), shapes)


def shapes_of(arrays):
    """Return the shapes that the arrays of a network should have: `LARGE_SHAPES` or `SHAPES`."""
    output = arrays.get("output")
    return LARGE_SHAPES if getattr(output, "shape", None) == LARGE_SHAPES["output"] else SHAPES


@cython.final
cdef class Network:
    """A network for use in searches; `arrays` has those of `SHAPES` or `LARGE_SHAPES`.

    ``ValueError`` names one that is missing, unknown, of the wrong shape or not finite.
    """

    def __cinit__(self, arrays):
        cdef bytes numbers
        shapes = shapes_of(arrays)
        numbers = packed("network", arrays, shapes)
        self.n.large = shapes is LARGE_SHAPES
        self.size = len(numbers)
        memcpy(self.n.numbers, <const char*>numbers, self.size)

    @property
    def arrays(self):
        """The arrays by name; neither they nor the mapping can be changed."""
        shapes = LARGE_SHAPES if self.n.large else SHAPES
        return MappingProxyType(unpacked((<char*>self.n.numbers)[:self.size], shapes))

    def __reduce__(self):
        return Network, (dict(self.arrays),)

    def __deepcopy__(self, memo):
        return self  # nothing changes it

    def __call__(self, State state not None, player):
        """Return the log-odds that `player`, whose turn is ending, wins."""
        return network_value(&self.n, &state.s, &state.table.t, player_of(player))


def inputs(State state not None, player):
    """Return the inputs of a network: int16, the concatenated `BLOCKS`.

    Parameters
    ----------
    state : State
        A position.
    player : int
        0 or 1, whose turn is ending.

    Raises
    ------
    ValueError
        `player` is not 0 or 1.
    """
    import numpy as np

    cdef inputs_t seen
    see(&seen, &state.s, &state.table.t, player_of(player))
    return np.frombuffer((<char*>&seen)[:sizeof(inputs_t)], np.int16)
