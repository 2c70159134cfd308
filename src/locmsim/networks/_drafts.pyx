"""The value of a draft; see _drafts.pxd. Section numbers refer to docs/rules.md."""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport MAX_DECK, stream_below, stream_start
from locmsim.networks._layers cimport relu_dot
from locmsim.networks._network import packed, unpacked

__all__ = ["DRAFT_SHAPES", "DraftNetworks"]


cdef inline void add_sum(draft_sum_t* to, const draft_sum_t* x, float times) noexcept nogil:
    cdef int k
    for k in range(DRAFT_LAYER):
        to.units[k] += times * x.units[k]
    to.direct += times * x.direct


cdef inline float value_with(
    const draft_value_t* v, const draft_sum_t* s, const draft_sum_t* card
) noexcept nogil:
    """Return the output of the units for a sum and one more card."""
    return relu_dot(s.direct + card.direct, s.units, card.units, v.output, DRAFT_LAYER)


cdef inline void start_sum(draft_sum_t* s, const draft_value_t* v) noexcept nogil:
    memset(s, 0, sizeof(draft_sum_t))
    memcpy(s.units, v.bias, sizeof(s.units))


cdef void draft_fill(
    draft_value_t* v, const draft_network_t* networks, int n_networks
) noexcept nogil:
    cdef draft_sum_t usual
    cdef float worth[DRAFT_CARDS]
    cdef int i, j, k
    memset(v, 0, sizeof(draft_value_t))
    for i in range(n_networks):
        for k in range(DRAFT_UNITS):
            v.bias[DRAFT_UNITS * i + k] = networks[i].bias[k]
            v.output[DRAFT_UNITS * i + k] = networks[i].output[k] / n_networks
            for j in range(DRAFT_CARDS):
                v.card[j].units[DRAFT_UNITS * i + k] = networks[i].card[j][k]
        for j in range(DRAFT_CARDS):
            v.card[j].direct += networks[i].direct[j] / n_networks
    start_sum(&usual, v)
    for i in range(DRAFT_CARDS):
        add_sum(&usual, &v.card[i], <float>(MAX_DECK - 1) / DRAFT_CARDS)
    for i in range(DRAFT_CARDS):
        worth[i] = value_with(v, &usual, &v.card[i])
        j = i
        while j > 0 and worth[v.order[j - 1]] < worth[i]:
            v.order[j] = v.order[j - 1]
            j -= 1
        v.order[j] = i


cdef float draft_value(const draft_value_t* v, const uint8_t* deck, int n) noexcept nogil:
    cdef draft_sum_t s
    cdef int i
    start_sum(&s, v)
    for i in range(n):
        add_sum(&s, &v.card[deck[i]], 1)
    return value_with(v, &s, &v.card[NO_CARD])


cdef int draw_pool(
    const bint* offered, uint8_t* pool, uint64_t* stream
) noexcept nogil:
    """Sample the pool of a draft, including all `offered` cards; return its size."""
    cdef uint8_t others[DRAFT_CARDS]
    cdef int n = 0, n_others = 0, i, k
    for i in range(DRAFT_CARDS):
        if offered[i]:
            pool[n] = i
            n += 1
        else:
            others[n_others] = i
            n_others += 1
    while n < DRAFT_POOL:
        k = <int>stream_below(stream, n_others)
        pool[n] = others[k]
        n += 1
        n_others -= 1
        others[k] = others[n_others]
    return n


cdef void usual_card(
    const draft_value_t* v, const uint8_t* pool, int n, draft_sum_t* usual
) noexcept nogil:
    """Return the expected contribution of a pick from a pool: mostly the best of three."""
    cdef bint there[DRAFT_CARDS]
    cdef int i, below = n
    memset(there, 0, sizeof(there))
    memset(usual, 0, sizeof(draft_sum_t))
    for i in range(n):
        there[pool[i]] = True
    for i in range(DRAFT_CARDS):
        if there[v.order[i]]:
            below -= 1
            # The other two cards of the offer are among those after it.
            add_sum(usual, &v.card[v.order[i]],
                    <float>(below * (below - 1)) * 3 / (n * (n - 1) * (n - 2)))


cdef float played_out(
    const draft_value_t* v, const draft_sum_t* start, const draft_sum_t* usual,
    const uint8_t* dealt, int turns
) noexcept nogil:
    """Return the final value from a sum of cards and the offers that follow."""
    cdef draft_sum_t s = start[0], filled
    cdef float x, best
    cdef int turn, i, chosen
    for turn in range(turns):
        filled = s
        add_sum(&filled, usual, turns - 1 - turn)
        best = 0
        chosen = -1
        for i in range(3):
            x = value_with(v, &filled, &v.card[dealt[3 * turn + i]])
            if chosen < 0 or x > best:
                best = x
                chosen = dealt[3 * turn + i]
        add_sum(&s, &v.card[chosen], 1)
    return value_with(v, &s, &v.card[NO_CARD])


cdef void deal(const uint8_t* pool, int n, uint8_t* offer, uint64_t* stream) noexcept nogil:
    """Deal three different cards (section 3)."""
    cdef int i = 0, j
    while i < 3:
        offer[i] = pool[stream_below(stream, n)]
        j = 0
        while offer[j] != offer[i]:
            j += 1
        i += j == i


cdef void draft_expected(
    const draft_value_t* v, const uint8_t offers[MAX_DECK][3], const uint8_t* picked, int n_offers,
    int drafts, float* values
) noexcept nogil:
    cdef bint offered[DRAFT_CARDS]
    cdef uint8_t pool[DRAFT_CARDS]
    cdef uint8_t dealt[3 * MAX_DECK]
    cdef draft_sum_t chosen, start, usual
    cdef uint64_t stream
    cdef int turns = MAX_DECK - n_offers, number, i, k, n
    memset(offered, 0, sizeof(offered))
    for i in range(n_offers):
        for k in range(3):
            if offers[i][k] < DRAFT_CARDS:
                offered[offers[i][k]] = True
    start_sum(&chosen, v)
    for i in range(n_offers - 1):
        add_sum(&chosen, &v.card[picked[i]], 1)
    values[0] = values[1] = values[2] = 0
    if turns <= 0:
        drafts = 1              # the last turn: there is nothing to sample
    for number in range(drafts):
        # All three cards are compared in the same continuations, whoever calls.
        stream = stream_start(n_offers, number)
        n = draw_pool(offered, pool, &stream)
        usual_card(v, pool, n, &usual)
        for i in range(turns):
            deal(pool, n, &dealt[3 * i], &stream)
        for i in range(3):
            start = chosen
            add_sum(&start, &v.card[offers[n_offers - 1][i]], 1)
            values[i] += played_out(v, &start, &usual, dealt, turns) / drafts


cdef void draft_follow(
    const draft_value_t* v, const uint8_t (*offers)[3], int n_offers, int drafts,
    float (*values)[3]
) noexcept nogil:
    cdef uint8_t picked[MAX_DECK]
    cdef int turn, i, best
    for turn in range(n_offers):
        draft_expected(v, offers, picked, turn + 1, drafts, values[turn])
        best = 0
        for i in range(1, 3):
            if values[turn][i] > values[turn][best]:
                best = i
        picked[turn] = offers[turn][best]


cdef int draft_number(int base_id) noexcept nogil:
    return base_id - 1 if 1 <= base_id <= DRAFT_CARDS else NO_CARD


#: Name -> shape of the arrays of a network, in their order in `draft_network_t`.
DRAFT_SHAPES = {
    "card": (DRAFT_CARDS, DRAFT_UNITS),
    "bias": (DRAFT_UNITS,),
    "output": (DRAFT_UNITS,),
    "direct": (DRAFT_CARDS,),
}


@cython.final
cdef class DraftNetworks:
    """An ensemble of networks: `networks` has for each an array for each name in `DRAFT_SHAPES`.

    ``ValueError`` names an array that is missing, unknown, of another shape or not finite, or says
    that there are no networks or too many.
    """

    def __cinit__(self, networks):
        cdef draft_network_t all_of_them[MAX_DRAFT_NETWORKS]
        cdef bytes numbers
        cdef int i
        self.numbers = tuple([packed("draft value", arrays, DRAFT_SHAPES) for arrays in networks])
        if not 1 <= len(self.numbers) <= MAX_DRAFT_NETWORKS:
            raise ValueError(
                f"draft value: expected 1 to {MAX_DRAFT_NETWORKS} networks,"
                f" got {len(self.numbers)}")
        for i, numbers in enumerate(self.numbers):
            memcpy(&all_of_them[i], <const char*>numbers, sizeof(draft_network_t))
        draft_fill(&self.v, all_of_them, <int>len(self.numbers))

    @property
    def arrays(self):
        """Of each network: name -> float32 array, which cannot be changed."""
        return tuple([unpacked(numbers, DRAFT_SHAPES) for numbers in self.numbers])

    def __reduce__(self):
        return DraftNetworks, (self.arrays,)

    def __deepcopy__(self, memo):
        return self  # nothing changes it

    def value(self, deck):
        """Return the value of a deck of at most 30 base ids; ids outside the 160 do not count."""
        cdef uint8_t cards[MAX_DECK]
        cdef int n = <int>len(deck), i
        if n > MAX_DECK:
            raise ValueError(f"deck: expected at most {MAX_DECK} cards, got {n}")
        for i in range(n):
            cards[i] = draft_number(deck[i])
        return draft_value(&self.v, cards, n)

    def expected(self, offers, picked, drafts):
        """Return the three expected values of the final deck, one per card of the last offer.

        `offers` has the base ids of all offers so far, `picked` those of the cards taken from the
        earlier ones; `drafts` is the number of sampled continuations. ``ValueError`` if they do not
        fit together.
        """
        cdef uint8_t seen[MAX_DECK][3]
        cdef uint8_t chosen[MAX_DECK]
        cdef float values[3]
        cdef int n = read_offers(offers, seen), most = drafts, i
        if len(picked) != n - 1:
            raise ValueError(f"picked: expected {n - 1} cards, got {len(picked)}")
        if most < 1:
            raise ValueError(f"drafts: expected 1 or more, got {drafts}")
        for i in range(n - 1):
            chosen[i] = draft_number(picked[i])
        with nogil:
            draft_expected(&self.v, seen, chosen, n, most, values)
        return [values[0], values[1], values[2]]

    def followed(self, offers, drafts):
        """Return the expected values in each turn of a draft that always takes the best card.

        The arguments are as for `expected`.
        """
        cdef uint8_t seen[MAX_DECK][3]
        cdef float values[MAX_DECK][3]
        cdef int n = read_offers(offers, seen), most = drafts
        if most < 1:
            raise ValueError(f"drafts: expected 1 or more, got {drafts}")
        with nogil:
            draft_follow(&self.v, seen, n, most, values)
        return [[values[turn][i] for i in range(3)] for turn in range(n)]


cdef int read_offers(offers, uint8_t seen[MAX_DECK][3]) except -1:
    cdef int n = <int>len(offers), i, k
    if not 1 <= n <= MAX_DECK:
        raise ValueError(f"offers: expected 1 to {MAX_DECK}, got {n}")
    for i in range(n):
        if len(offers[i]) != 3:
            raise ValueError(f"offers: expected three cards, got {len(offers[i])}")
        for k in range(3):
            seen[i][k] = draft_number(offers[i][k])
    return n
