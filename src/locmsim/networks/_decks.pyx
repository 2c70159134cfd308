"""The value of whole decks by an ensemble of small networks; see _decks.pxd."""

cimport cython
from libc.math cimport NAN
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    BLUE,
    CHARGE,
    COPIES_PER_CARD,
    CREATURE,
    DRAIN,
    GUARD,
    MAX_CARDS,
    RED,
    WARD,
    Table,
    card_t,
)
from locmsim.networks._layers cimport dense, relu_dot

from locmsim.networks._network import packed, unpacked

__all__ = [
    "COST_COLUMNS", "DECK_SHAPES", "ENOUGH", "DeckNetworks", "stored_rows", "term_rows",
    "weighted_scores"]

cdef enum:
    # Maximum number of exchanges, several times what is ever needed: with very large numbers,
    # rounding errors could otherwise look like gains forever.
    MAX_EXCHANGES = 200


cdef inline double note(
    float* terms, int term, int value, const double* weights, double score
) noexcept nogil:
    if value:
        terms[term] = <float>value
        score += weights[term] * value
    return score


cdef double write_terms(const double* weights, const card_t* c, float* terms) noexcept nogil:
    cdef int carrier = <int>c.type if c.type < BLUE else RED
    cdef int sign = 1 if c.type < RED else -1
    cdef int attack = min(sign * c.attack, <int>ENOUGH)
    cdef int defense = min(sign * c.defense, <int>ENOUGH)
    cdef double score = 0
    cdef int i
    memset(terms, 0, DECK_TERMS * sizeof(float))
    i = <int>c.cost if c.cost < COST_COLUMNS else <int>COST_COLUMNS - 1
    score = note(terms, <int>COSTS + i, 1, weights, score)
    score = note(terms, <int>TYPES + c.type, 1, weights, score)
    score = note(terms, <int>STATS + 2 * c.type, attack, weights, score)
    score = note(terms, <int>STATS + 2 * c.type + 1, defense, weights, score)
    score = note(terms, DRAW, c.draw, weights, score)
    score = note(terms, HEAL, c.my_health, weights, score)
    score = note(terms, DAMAGE, -c.opponent_health, weights, score)
    if c.area:
        score = note(terms, <int>LANES + c.area - 1, 1, weights, score)
        score = note(terms, <int>AREA_STATS + 2 * c.type, attack, weights, score)
        score = note(terms, <int>AREA_STATS + 2 * c.type + 1, defense, weights, score)
        score = note(terms, AREA_DRAW, c.draw, weights, score)
        score = note(terms, AREA_HEAL, c.my_health, weights, score)
        score = note(terms, AREA_DAMAGE, -c.opponent_health, weights, score)
    for i in range(6):
        if not c.keywords >> i & 1:
            continue
        score = note(terms, <int>KEYWORDS + 6 * carrier + i, 1, weights, score)
        if c.type != CREATURE:
            continue
        if 1 << i == CHARGE:
            score = note(terms, CHARGE_ATTACK, c.attack, weights, score)
        elif 1 << i == DRAIN:
            score = note(terms, DRAIN_ATTACK, c.attack, weights, score)
        elif 1 << i == WARD:
            score = note(terms, WARD_ATTACK, c.attack, weights, score)
        elif 1 << i == GUARD:
            score = note(terms, GUARD_DEFENSE, c.defense, weights, score)
    return score


cdef void offer_start(
    offer_t* o, const deck_network_t* networks, int n_networks, float* hidden
) noexcept nogil:
    cdef int i, k
    o.n_networks = n_networks
    o.n_cards = 0
    o.hidden = hidden
    for i in range(n_networks):
        for k in range(DECK_UNITS):
            o.bias[DECK_UNITS * i + k] = networks[i].hidden_bias[k]
            o.output[DECK_UNITS * i + k] = networks[i].output[k] / n_networks


cdef void offer_add(
    offer_t* o, const deck_network_t* networks, const float* terms
) noexcept nogil:
    cdef const deck_network_t* n
    cdef float units[DECK_UNITS]
    cdef float sums[DECK_SUMS]
    cdef float total, direct = 0
    cdef float* row
    cdef int i, j
    for i in range(o.n_networks):
        n = &networks[i]
        memcpy(units, n.card_bias, sizeof(units))
        dense(terms, DECK_TERMS, n.card[0], units, DECK_UNITS)
        for j in range(DECK_TERMS):
            sums[j] = terms[j]
        for j in range(DECK_UNITS):
            sums[DECK_TERMS + j] = units[j] if units[j] > 0 else 0
        row = &o.hidden[(o.n_cards * o.n_networks + i) * DECK_UNITS]
        memset(row, 0, DECK_UNITS * sizeof(float))
        dense(sums, DECK_SUMS, n.hidden[0], row, DECK_UNITS)
        total = 0
        for j in range(DECK_SUMS):
            total += sums[j] * n.direct[j]
        direct += total / o.n_networks
    o.direct[o.n_cards] = direct
    o.n_cards += 1


cdef float add_up(const offer_t* o, const uint8_t* copies, float* total) noexcept nogil:
    """Sum up what the cards of a deck add to the second layer, and directly to the value."""
    cdef int size = o.n_networks * DECK_UNITS, i, k
    cdef float direct = 0
    memcpy(total, o.bias, size * sizeof(float))
    for i in range(o.n_cards):
        for _ in range(copies[i]):
            direct += o.direct[i]
            for k in range(size):
                total[k] += o.hidden[i * size + k]
    return direct


cdef float deck_value(const offer_t* o, const uint8_t* copies) noexcept nogil:
    cdef float total[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef float none[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef float direct = add_up(o, copies, total)
    memset(none, 0, sizeof(none))
    return relu_dot(0, total, none, o.output, o.n_networks * DECK_UNITS) + direct


cdef void deck_improve(const offer_t* o, uint8_t* copies) noexcept nogil:
    cdef float total[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef float rest[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef int size = o.n_networks * DECK_UNITS, i, j, k, out, into
    cdef float direct, value, best, x
    cdef double least = 1e-4    # an exchange must raise the value by more than this
    for _ in range(MAX_EXCHANGES):
        direct = add_up(o, copies, total)
        value = deck_value(o, copies)
        best = 0
        out = into = -1
        for i in range(o.n_cards):
            if copies[i] == 0:
                continue
            for k in range(size):
                rest[k] = total[k] - o.hidden[i * size + k]
            for j in range(o.n_cards):
                if i == j or copies[j] == COPIES_PER_CARD:
                    continue
                x = relu_dot(0, &o.hidden[j * size], rest, o.output, size)
                x += direct + o.direct[j] - o.direct[i] - value
                if out < 0 or x > best:
                    best = x
                    out = i
                    into = j
        if out < 0 or best <= least:
            return
        copies[out] -= 1
        copies[into] += 1


cdef void deck_exchanges(const offer_t* o, const uint8_t* copies, float* values) noexcept nogil:
    """Value each exchange of a card of the deck (row) for another one (column), NaN if there is
    none: as many copies change as the deck has of one and may have of the other."""
    cdef float total[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef float rest[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef float none[MAX_DECK_NETWORKS * DECK_UNITS]
    cdef int size = o.n_networks * DECK_UNITS, i, j, k, n
    cdef float direct = add_up(o, copies, total)
    memset(none, 0, sizeof(none))
    for i in range(o.n_cards):
        for j in range(o.n_cards):
            n = min(<int>copies[i], <int>COPIES_PER_CARD - copies[j])
            if i == j or n <= 0:
                values[i * o.n_cards + j] = NAN
                continue
            for k in range(size):
                rest[k] = total[k] + n * (o.hidden[j * size + k] - o.hidden[i * size + k])
            values[i * o.n_cards + j] = (
                relu_dot(0, rest, none, o.output, size)
                + direct + n * (o.direct[j] - o.direct[i])
            )


cdef Table table_of(cards):
    cdef Table table = Table.__new__(Table)
    for card in cards:
        table.add(card, 0)
    return table


def term_rows(cards):
    """Return the terms of cards: an array of float32, shape (cards, terms).

    Parameters
    ----------
    cards : sequence of Card
        Any cards.
    """
    import numpy as np  # slow to import, and decks are chosen without it

    return np.asarray(stored_rows(cards)) if cards else np.zeros((0, DECK_TERMS), np.float32)


def stored_rows(cards):
    """Return the terms of at least one card as `term_rows`, as a memoryview."""
    cdef double none[DECK_TERMS]
    cdef Py_ssize_t n = len(cards), i
    cdef Table table
    rows = memoryview(bytearray(4 * n * DECK_TERMS)).cast("f", (n, DECK_TERMS))
    cdef float[:, ::1] to = rows
    memset(none, 0, sizeof(none))
    for start in range(0, n, MAX_CARDS):
        table = table_of(cards[start:start + MAX_CARDS])
        for i in range(table.t.n_cards):
            write_terms(none, &table.t.cards[i], &to[start + i, 0])
    return rows


def weighted_scores(weights, cards):
    """Return the weighted sum of terms of each card as a list; the weights are float64."""
    cdef const double[::1] numbers = weights
    cdef float terms[DECK_TERMS]
    cdef Table table = table_of(cards)
    cdef int i
    if numbers.shape[0] != DECK_TERMS:
        raise ValueError(f"weights: expected {DECK_TERMS} numbers, got {numbers.shape[0]}")
    return [write_terms(&numbers[0], &table.t.cards[i], terms) for i in range(table.t.n_cards)]


#: Name -> shape of the arrays of a network, in their order in `deck_network_t`.
DECK_SHAPES = {
    "card": (DECK_TERMS, DECK_UNITS),
    "card_bias": (DECK_UNITS,),
    "hidden": (DECK_SUMS, DECK_UNITS),
    "hidden_bias": (DECK_UNITS,),
    "output": (DECK_UNITS,),
    "direct": (DECK_SUMS,),
}


@cython.final
cdef class DeckNetworks:
    """An ensemble of networks: `networks` has for each an array for each name in `DECK_SHAPES`.

    ``ValueError`` names an array that is missing, unknown, of another shape or not finite, or says
    that there are no networks or too many.
    """

    cdef deck_network_t* networks
    cdef int count

    def __cinit__(self, networks):
        cdef list found = [packed("deck value", arrays, DECK_SHAPES) for arrays in networks]
        cdef bytes numbers = b"".join(found)
        self.count = <int>len(found)
        if not 1 <= self.count <= MAX_DECK_NETWORKS:
            raise ValueError(
                f"deck value: expected 1 to {MAX_DECK_NETWORKS} networks, got {self.count}")
        self.networks = <deck_network_t*>malloc(len(numbers))
        if self.networks is NULL:
            raise MemoryError("too little memory for the networks of deck values")
        memcpy(self.networks, <const char*>numbers, len(numbers))

    def __dealloc__(self):
        free(self.networks)

    @property
    def arrays(self):
        """Of each network: name -> float32 array, which cannot be changed."""
        return tuple([
            unpacked((<char*>&self.networks[i])[:sizeof(deck_network_t)], DECK_SHAPES)
            for i in range(self.count)
        ])

    def __reduce__(self):
        return DeckNetworks, (self.arrays,)

    def __deepcopy__(self, memo):
        return self  # nothing changes it

    def value(self, terms, copies):
        """Return the value of a deck.

        `terms` has a row of `DECK_TERMS` numbers for each card, by ascending base id, and `copies`
        the number of copies of each in the deck. ``ValueError`` for other shapes.
        """
        return self.run(terms, copies, False, None)[0]

    def improved(self, terms, copies):
        """Return the copies of each card in a deck that no exchange improves."""
        return self.run(terms, copies, True, None)[1]

    def exchanged(self, terms, copies):
        """Return the values of all decks that differ by an exchange, an array (cards, cards).

        The card of the row is replaced by that of the column, both copies if that is allowed; NaN
        where the deck lacks the first or has all copies of the second.
        """
        import numpy as np  # slow to import, and values alone do not need it

        values = np.empty((len(copies), len(copies)), np.float32)
        self.run(terms, copies, False, values)
        return values

    cdef tuple run(self, terms, copies, bint improve, exchanged):
        cdef const float[:, ::1] rows = terms
        cdef float[:, ::1] values = exchanged
        cdef uint8_t counts[MAX_OFFER]
        cdef offer_t o
        cdef float* hidden
        cdef float value
        cdef int n = <int>rows.shape[0], networks = self.count, i
        if rows.shape[1] != DECK_TERMS or not 0 < rows.shape[0] <= MAX_OFFER:
            raise ValueError(f"terms: expected (1 to {MAX_OFFER}, {DECK_TERMS}) numbers")
        if len(copies) != n:
            raise ValueError(f"copies: expected {n}, got {len(copies)}")
        for i in range(n):
            counts[i] = copies[i]
        hidden = <float*>malloc(n * networks * DECK_UNITS * sizeof(float))
        if hidden is NULL:
            raise MemoryError("too little memory for the value of a deck")
        with nogil:
            offer_start(&o, self.networks, networks, hidden)
            for i in range(n):
                offer_add(&o, self.networks, &rows[i, 0])
            if improve:
                deck_improve(&o, counts)
            if values is not None:
                deck_exchanges(&o, counts, &values[0, 0])
            value = deck_value(&o, counts)
        free(hidden)
        return value, [counts[i] for i in range(n)]
