# A match as the referee runs it: seeds, offers, picks, the deal, faults, the end (docs/rules.md,
# sections 1, 3, 4 and 8). `Match` is its Python face; each row of the environments holds one.
#
# `match_t` is all of a match but the position and the card table of its battle, which functions
# take as those of the kernel do. Cards are indices into a card set, by ascending base id. A pick is
# the index of a card (1.5), or its place in the triplet on offer (1.x).

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from locmsim._core cimport (
    DRAFT_OFFER,
    MAX_DECK,
    OFFER_SIZE,
    RULES_15,
    Table,
    card_t,
    state_t,
    table_t,
)
from locmsim.game.observation cimport Observation

cdef enum:
    MAX_SET = 256               # cards of a set
    MAX_SEEDS = 4
    DRAFT_POOL = 60             # cards that the triplets of a draft are drawn from

cpdef enum:                     # faults, by which a player loses
    NO_FAULT = 0
    NO_ANSWER = 1               # a timeout
    MALFORMED = 2               # a line of the battle
    UNKNOWN_WORD = 3            # the others are of the choice phase
    NO_NUMBER = 4
    NOT_OFFERED = 5             # a base id
    NO_PLACE = 6                # 1.x: a place other than 0, 1 and 2
    THIRD_COPY = 7
    NOTHING_LEFT = 8            # a PASS when all cards have been taken twice
    WRONG_COUNT = 9             # another number of cards than 30
    ILLEGAL = 10                # an action of an environment; a referee ignores it

ctypedef struct match_t:
    const card_t* cards         # the card set; NULL: not known yet
    int64_t seed
    int64_t seeds[MAX_SEEDS]    # one for the cards in 1.5, one for the offer, two for the shuffles
    int32_t rules
    int32_t n_cards             # of the set
    int8_t winner               # of the battle; -1: nobody yet
    int8_t loser                # by a fault; -1: nobody
    uint8_t fault
    uint8_t picked[2]           # number of cards that each player has taken
    uint8_t decks[2][MAX_DECK]  # ... the cards, in the order in which they were taken
    uint8_t triplets[MAX_DECK][DRAFT_OFFER]     # 1.x: what is offered


cdef inline int n_seeds_of(int rules) noexcept nogil:
    return 4 if rules == RULES_15 else 3


cdef inline void match_pick(match_t* m, int who, int pick) noexcept nogil:
    """Take a card by a legal pick."""
    cdef int card = pick if m.rules == RULES_15 else m.triplets[m.picked[who]][pick]
    m.decks[who][m.picked[who]] = <uint8_t>card
    m.picked[who] += 1


cdef inline int won_by(const state_t* s) noexcept nogil:
    """Return what `state_winner` does; that function is in another module, so not inlined."""
    return 0 if s.p[0].won else 1 if s.p[1].won else -1


cdef inline void match_end(match_t* m, int winner, int loser, int fault) noexcept nogil:
    """End a match with the winner of its battle, a player who loses by a fault, or both."""
    m.winner = <int8_t>winner
    m.loser = <int8_t>loser
    m.fault = <uint8_t>fault


cdef inline int match_winner(const match_t* m) noexcept nogil:
    """Return who has won, -1 for nobody yet; a fault loses."""
    return 1 - m.loser if m.loser >= 0 else m.winner


cdef inline int match_score(const match_t* m, int who) noexcept nogil:
    """Return a player's score at the end: -1 for a fault, 1 for who won the battle, or 0."""
    return -1 if m.loser == who else m.winner == who


# Clears a match of n_cards cards that follows; nobody has won it.
cdef void match_begin(match_t* m, int rules, int n_cards) noexcept nogil
# Sets the seeds that follow from one.
cdef void match_seed(match_t* m, int64_t seed) noexcept nogil
# Draws the triplets of a draft from the n cards that may be offered; nothing in 1.5.
cdef void match_offer(match_t* m, const uint8_t* allowed, int n) noexcept nogil

# Writes for each pick how often a player may still take it; returns the number of picks.
cdef int picks_left(const match_t* m, int who, int8_t* left) noexcept nogil
cdef bint is_legal_pick(const match_t* m, int who, int pick) noexcept nogil
cdef int first_pick(const match_t* m, int who) noexcept nogil       # the first legal one
# Draws a uniformly random legal deck for a player.
cdef void random_deck(match_t* m, int who, uint64_t* stream) noexcept nogil
# Returns whether the choice phase allows both decks: they may come from elsewhere.
cdef bint are_offered(const match_t* m) noexcept nogil
# Returns the card with a base id, -1 if there is none.
cdef int card_with(const match_t* m, int base_id) noexcept nogil

# Deals the battle of both decks, up to the first action, which begins the first turn.
cdef void match_deal(const match_t* m, state_t* s, table_t* t) noexcept nogil
# ... with shuffles by other seeds.
cdef void deal_with(
    const match_t* m, state_t* s, table_t* t, const int64_t* shuffles) noexcept nogil


# ---- classes -------------------------------------------------------------------------------------

cdef class CompiledCards:       # a card set, shared by matches
    cdef Table table            # has the cards as its pool, by ascending base id
    cdef readonly tuple offer   # 1.5: the `Card`s in the order of the offer
    cdef uint8_t order[OFFER_SIZE]         # ... as indices
    cdef readonly Observation seen      # ... as both players see them
    cdef tuple printed          # 1.x: the cards as offers show them, without names
    cdef const card_t* cards(self)

cdef class MatchCore:           # the struct inside a `Match`
    cdef match_t m
    cdef readonly CompiledCards cards
    cdef int answer_construct(self, int player, str line, list chosen) except -1
    cdef int answer_draft(self, int player, str line, list chosen) except -1
    cdef int first_left(self, const int8_t* left) noexcept
    cdef int add_offered(self, Table table) except -1
