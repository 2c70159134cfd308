# Dealing a game as the referee does: `java.util.Random`, offers, decks, the battle's first turn.

from libc.stdint cimport int64_t, uint8_t, uint64_t

from locmsim._core cimport MAX_DECK, card_t, state_t, table_t

cdef enum:
    MAX_SET = 256               # cards of a set
    MAX_SEEDS = 4
    DRAFT_POOL = 60

cdef uint64_t java_start(int64_t seed) noexcept nogil
cdef int java_below(uint64_t* random, int n) noexcept nogil
cdef int64_t java_long(uint64_t* random) noexcept nogil
# Derives n seeds from one (docs/rules.md, section 1).
cdef void derive_seeds(int64_t seed, int n, int64_t* out) noexcept nogil
# Draws the 30 triplets of a draft (1.x) as indices into a card set.
cdef void draw_triplets(
    int64_t seed, const uint8_t* allowed, int n, uint8_t (*triplets)[3]) noexcept nogil
# Draws a uniformly random legal deck, as indices into a set of n cards: one card of each triplet,
# or, with `triplets` NULL, 30 cards of two copies of each.
cdef void random_deck(
    uint64_t* stream, int n, const uint8_t (*triplets)[3], uint8_t* deck) noexcept nogil
# Deals the battle between two decks, given in the order in which their cards were chosen, up to the
# first action.
cdef void deal(
    state_t* s, table_t* t, const card_t* cards, const uint8_t (*decks)[MAX_DECK], int rules,
    const int64_t* shuffles) noexcept nogil
