"""NumPy's random generator without the interpreter: see _numpy_stream.pxd."""

from libc.stdint cimport uint32_t, uint64_t


cdef extern from *:
    """
    /* The upper 64 bits of the product of two 64-bit numbers. */
    static inline uint64_t upper_(uint64_t a, uint64_t b) {
        uint64_t al = a & 0xFFFFFFFF, ah = a >> 32, bl = b & 0xFFFFFFFF, bh = b >> 32;
        uint64_t ll = al * bl, hl = ah * bl, lh = al * bh;
        uint64_t middle = (ll >> 32) + (hl & 0xFFFFFFFF) + (lh & 0xFFFFFFFF);
        return ah * bh + (hl >> 32) + (lh >> 32) + (middle >> 32);
    }
    """
    uint64_t upper_(uint64_t a, uint64_t b) noexcept nogil

cdef enum:
    POOL = 4                    # words of a SeedSequence
    WORDS = 8                   # words that seed a PCG64


cdef inline void advance(numpy_t* random) noexcept nogil:
    cdef uint64_t factor_high = 2549297995355413924u
    cdef uint64_t factor_low = 4865540595714422341u
    cdef uint64_t low = random.low * factor_low
    cdef uint64_t high = (upper_(random.low, factor_low) + random.high * factor_low
                          + random.low * factor_high)
    random.low = low + random.inc_low
    random.high = high + random.inc_high + (random.low < low)


cdef uint64_t numpy_next(numpy_t* random) noexcept nogil:
    cdef uint64_t folded
    cdef int turn
    advance(random)
    folded = random.high ^ random.low
    turn = <int>(random.high >> 58)
    return folded >> turn | folded << (-turn & 63)


cdef inline uint32_t next_half(numpy_t* random) noexcept nogil:
    cdef uint64_t drawn
    if random.has_kept:
        random.has_kept = 0
        return random.kept
    drawn = numpy_next(random)
    random.has_kept = 1
    random.kept = <uint32_t>(drawn >> 32)
    return <uint32_t>drawn


cdef uint64_t numpy_below(numpy_t* random, uint64_t n) noexcept nogil:
    """Draw by Lemire's method, from 32 bits where they suffice."""
    cdef uint64_t product, low, threshold
    if n <= 1:
        return 0
    if n <= 0xFFFFFFFFu:
        product = <uint64_t>next_half(random) * n
        if <uint32_t>product < n:
            threshold = (<uint64_t>0x100000000u - n) % n
            while <uint32_t>product < threshold:
                product = <uint64_t>next_half(random) * n
        return product >> 32
    low = numpy_next(random)
    product = upper_(low, n)
    low *= n
    if low < n:
        threshold = (0 - n) % n
        while low < threshold:
            low = numpy_next(random)
            product = upper_(low, n)
            low *= n
    return product


cdef int numpy_place(numpy_t* random, int most) noexcept nogil:
    cdef uint32_t mask = most
    cdef uint32_t value
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    while True:
        value = next_half(random) & mask
        if value <= <uint32_t>most:
            return <int>value


cdef inline uint32_t hashed(uint32_t value, uint32_t* constant, uint32_t factor) noexcept nogil:
    value ^= constant[0]
    constant[0] *= factor
    value *= constant[0]
    return value ^ value >> 16


cdef void numpy_start(numpy_t* random, uint32_t seed) noexcept nogil:
    """Seed a PCG64 as `PCG64(SeedSequence(seed))` does."""
    cdef uint32_t pool[POOL]
    cdef uint32_t words[WORDS]
    cdef uint32_t constant = 0x43B0D7E5u
    cdef uint32_t mixed
    cdef uint64_t high, low
    cdef int i, j
    for i in range(POOL):
        pool[i] = hashed(seed if i == 0 else 0, &constant, 0x931E8875u)
    for i in range(POOL):
        for j in range(POOL):
            if i != j:
                mixed = (0xCA01F9DDu * pool[j]
                         - 0x4973F715u * hashed(pool[i], &constant, 0x931E8875u))
                pool[j] = mixed ^ mixed >> 16
    constant = 0x8B51F9DDu
    for i in range(WORDS):
        words[i] = hashed(pool[i % POOL], &constant, 0x58F38DEDu)
    high = words[0] | <uint64_t>words[1] << 32
    low = words[2] | <uint64_t>words[3] << 32
    random.inc_low = words[6] | <uint64_t>words[7] << 32
    random.inc_high = (words[4] | <uint64_t>words[5] << 32) << 1 | random.inc_low >> 63
    random.inc_low = random.inc_low << 1 | 1
    random.high = random.low = 0
    advance(random)
    random.low += low
    random.high += high + (random.low < low)
    advance(random)
    random.kept = random.has_kept = 0


cdef int numpy_take(numpy_t* random, generator) except -1:
    """Continue the stream of a `numpy.random.Generator`; ``ValueError`` unless it is a PCG64."""
    state = generator.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise ValueError(f"np_random: expected a PCG64, got {state['bit_generator']}")
    number, increment = state["state"]["state"], state["state"]["inc"]
    random.high = number >> 64
    random.low = number & 0xFFFFFFFFFFFFFFFF
    random.inc_high = increment >> 64
    random.inc_low = increment & 0xFFFFFFFFFFFFFFFF
    random.kept = state["uinteger"]
    random.has_kept = state["has_uint32"]
    return 0
