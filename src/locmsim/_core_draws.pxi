# Cards for hidden places, drawn from the candidates in `unknown_t`: at most 38 for a player, of
# groups that give so many cards each. Part of _core_hidden.pxi, which includes it.
#
# `state_deal` is what others call. It calls `draw_hidden` for each player, which draws by what
# holds in the position:
#
#   draw_fixed    The groups give exactly the cards that are drawn, so no draw changes another: one
#                 random number for each card whose group has a choice.
#   draw_slots    The groups give more. Two draws from one random number and the table of all
#                 candidates; those of a group that has given its copies are in vain. It gives up
#                 after too many. As it has no branch for a draw that is one too many, it may write
#                 one entry more than asked for, for which `state_deal` has room.
#   draw_listed   What is left then; and all where some of the exact cards are known by now, for
#                 which there is no table. One random number a draw, from a list of who is left.
#
# Each takes random numbers in its own way. A seed means their sequence: in place of one another
# they would give other worlds, as likely, for the same seeds.

cdef enum:
    MISSES = 64                 # draws of cards that are gone, before the rest is listed
    PICKS = 5                   # of `shuffle` from one random number
    FRACTION = 56               # ... of so many bits


cdef inline uint64_t random_bits(uint64_t* stream) noexcept nogil:
    """Return 64 random bits for several draws. They come from the generator of `below`, whose lower
    bits are poor: the upper ones are mixed into them."""
    cdef uint64_t x
    stream[0] = stream[0] * 6364136223846793005ULL + 1442695040888963407ULL
    x = stream[0]
    return (x ^ x >> 32) * 0xD6E8FEB86659FD93ULL


cdef void shuffle(uint8_t* cards, int n, uint64_t* stream) noexcept nogil:
    """Put at most 38 cards into random order.

    38^5 < 2^27, so the picks from one number are equally likely up to a factor of 1 +- 2^-29.
    """
    cdef uint64_t x, state = stream[0]
    cdef uint8_t card
    cdef int j, last
    while n > 1:
        last = n - PICKS if n > PICKS else 1
        x = random_bits(&state)
        x >>= 64 - FRACTION
        while n > last:
            x *= <uint64_t>n
            j = <int>(x >> FRACTION)
            x &= (1ULL << FRACTION) - 1
            n -= 1
            card = cards[n]
            cards[n] = cards[j]
            cards[j] = card
    stream[0] = state


cdef inline void set_slot(
    unknown_t* u, int who, int i, int of, uint32_t keep
) noexcept nogil:
    cdef slot_t* slot = &u.slot[who][i]
    slot.keep = keep
    slot.entry[0] = u.entry[who][i]
    slot.entry[1] = u.entry[who][of]
    slot.group[0] = u.group[who][i]
    slot.group[1] = u.group[who][of]


cdef void fill_slots(unknown_t* u, int who, int first, int n) noexcept nogil:
    """Make an alias table of n candidates (Walker 1977, Vose 1991).

    The weights are cut into n slots of equal size, each with parts of at most two candidates.
    """
    cdef const uint32_t* weight = &u.weight[who][first]
    cdef uint32_t share[MAX_CARDS]      # what is left of a candidate, in parts of a slot of `total`
    cdef uint8_t order[MAX_CARDS]       # from the front those with less than a slot, then the rest
    cdef uint32_t total = 0
    cdef double scale
    cdef int i, of, is_less, less = 0, more = n
    cdef uint32_t differ = 0
    for i in range(n):
        total += weight[i]
        differ |= weight[i] ^ weight[0]
    if differ == 0:
        for i in range(n):
            set_slot(u, who, first + i, first + i, 0xFFFFFFFFU)
        return
    for i in range(n):
        share[i] = weight[i] * <uint32_t>n
        is_less = share[i] < total
        order[less if is_less else more - 1] = <uint8_t>i
        less += is_less
        more -= 1 - is_less
    scale = 4294967296.0 / total
    while less > 0 and more < n:
        less -= 1
        i = order[less]
        of = order[more]
        set_slot(u, who, first + i, first + of, <uint32_t><int64_t>(share[i] * scale))
        share[of] -= total - share[i]
        is_less = share[of] < total
        order[less] = <uint8_t>of
        less += is_less
        more += is_less
    for i in range(less):
        set_slot(u, who, first + order[i], first + order[i], 0xFFFFFFFFU)
    for i in range(more, n):
        set_slot(u, who, first + order[i], first + order[i], 0xFFFFFFFFU)


cdef void complete_unknown(unknown_t* u, int own_places, int other_places) noexcept nogil:
    cdef const uint8_t* group
    cdef int who, n, places, first, end, total
    for who in range(2):
        group = u.group[who]
        n = u.n[who]
        places = own_places if who == u.viewer else other_places
        total = 0
        for first in range(n):
            if first == 0 or group[first] != group[first - 1]:
                total += u.copies[who][group[first]]
        u.fixed[who] = places if total == places else 0
        if total != places:
            fill_slots(u, who, 0, n)
            continue
        places = 0
        first = 0
        while first < n:
            end = first + 1
            while end < n and group[end] == group[first]:
                end += 1
            fill_slots(u, who, first, end - first)
            for _ in range(u.copies[who][group[first]]):
                u.first[who][places] = <uint8_t>first
                u.size[who][places] = <uint16_t>(end - first)
                places += 1
            first = end


cdef void draw_fixed(
    const unknown_t* u, int who, int n, uint8_t* out, uint64_t* stream
) noexcept nogil:
    """Give all n copies of all groups, which stand one after another: no draw changes another."""
    cdef const slot_t* slot
    cdef uint64_t x, state = stream[0]
    cdef int i
    for i in range(n):
        x = 0
        if u.size[who][i] > 1:
            x = random_bits(&state)
            x = (x >> 32) * u.size[who][i]
        slot = &u.slot[who][u.first[who][i] + (x >> 32)]
        out[i] = slot.entry[<uint32_t>x >= slot.keep]
    stream[0] = state


cdef int draw_slots(
    const unknown_t* u, int who, int n, uint8_t* out, uint8_t* copies, uint64_t* stream
) noexcept nogil:
    """Draw entries until there are n, or until too many draws were in vain; return their number.

    A group that has given all its copies is left out from then on: what is drawn of it is drawn
    again. No branch depends on that, since a CPU would have to guess it. One entry more than n may
    be written.
    """
    # Copied, as the compiler has to assume that bytes are stored over what pointers lead to.
    cdef const slot_t* slots = u.slot[who]
    cdef const slot_t* slot
    cdef uint64_t n_slots = <uint64_t>u.n[who], state = stream[0]
    cdef uint64_t bits, x
    cdef int second, left, k = 0, tries = n + MISSES
    while k < n and tries > 0:
        tries -= 2
        bits = random_bits(&state)
        for _ in range(2):
            x = (bits >> 32) * n_slots
            bits <<= 32
            slot = &slots[x >> 32]
            second = <uint32_t>x >= slot.keep
            left = copies[slot.group[second]] > 0
            copies[slot.group[second]] -= <uint8_t>left
            out[k] = slot.entry[second]
            k += left
    stream[0] = state
    return k


cdef inline int candidate_at(const uint32_t* ends, int n, uint32_t x) noexcept nogil:
    """Return the first i with x < ends[i], without a branch that a CPU would have to guess."""
    cdef const uint32_t* base = ends
    cdef int half
    while n > 1:
        half = n >> 1
        base += half & -<int>(base[half - 1] <= x)
        n -= half
    return <int>(base - ends)


cdef void draw_listed(
    const unknown_t* u, int who, int k, int n, uint8_t* out, uint8_t* copies, uint64_t* stream
) noexcept nogil:
    """Draw the entries from number k on out of a list of the candidates that are left.

    It is made again after some draws of groups that have given all their copies by then.
    """
    cdef const uint8_t* group = u.group[who]
    cdef uint8_t number[MAX_CARDS]      # of the candidates that are left
    cdef uint32_t ends[MAX_CARDS]       # sums of their weights
    cdef uint32_t total
    cdef int i, left, misses
    while k < n:
        total = 0
        left = 0
        for i in range(u.n[who]):
            number[left] = <uint8_t>i
            total += u.weight[who][i] if copies[group[i]] else 0
            ends[left] = total
            left += copies[group[i]] > 0
        misses = 0
        while k < n and misses < MISSES:
            # Up to 2^24: probabilities are off by at most a 256th.
            i = number[candidate_at(ends, left, <uint32_t>below(stream, total))]
            if copies[group[i]]:
                copies[group[i]] -= 1
                out[k] = u.entry[who][i]
                k += 1
            else:
                misses += 1


cdef void draw_hidden(
    const unknown_t* u, int who, int n, uint8_t* out, uint64_t* stream
) noexcept nogil:
    """Draw n entries for hidden places one by one, with probabilities by weight.

    Then they are shuffled, because heavier cards tend to be drawn first. One entry more than n may
    be written.
    """
    cdef uint8_t copies[MAX_CARDS]
    cdef int k = 0
    if u.fixed[who] == n:
        draw_fixed(u, who, n, out, stream)
    else:
        memcpy(copies, u.copies[who], sizeof(copies))
        if u.fixed[who] == 0:
            k = draw_slots(u, who, n, out, copies, stream)
        draw_listed(u, who, k, n, out, copies, stream)
    shuffle(out, n, stream)


cdef inline void set_hand(
    player_t* p, const table_t* t, const uint8_t* cards, int n
) noexcept nogil:
    cdef uint64_t hand = 0, cost_kinds = 0
    cdef int i
    for i in range(n):
        hand |= <uint64_t>cards[i] << 8 * i
        cost_kinds |= <uint64_t>t.cards[cards[i]].cost_kind << 8 * i
    p.hand = hand
    p.cost_kinds = cost_kinds
    p.hand_size = <uint8_t>n


cdef void state_deal(
    state_t* s, const table_t* t, const unknown_t* u, uint64_t* stream
) noexcept nogil:
    """Fill the viewer's deck and the other player's hand and deck with candidates."""
    cdef uint8_t cards[MAX_DECK + MAX_HAND + 1]     # a deck as in `state_t`, a hand
    cdef player_t* p
    cdef int who, size
    for who in range(2):
        p = &s.p[who]
        size = 0 if who == u.viewer else p.hand_size
        memset(cards, 0, sizeof(cards))
        draw_hidden(
            u, who, p.deck_left + size, &cards[MAX_DECK - p.deck_left], stream)
        memcpy(s.deck[who], cards, MAX_DECK)
        if who != u.viewer:
            set_hand(p, t, &cards[MAX_DECK], size)
