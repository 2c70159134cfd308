"""Potentials for shaped rewards: how well a player stands, in the units of gym-locm's rewards."""

from libc.stdint cimport uint32_t

from locmsim._core cimport (
    CREATURE,
    GUARD,
    LETHAL,
    MAX_BOARD,
    MAX_HAND,
    OCCUPIED,
    WARD,
    creature_t,
    player_t,
    state_next_draw,
    state_t,
    table_t,
)

__all__ = ["POTENTIALS"]

#: The parts of shaping, in the order of `potentials`; "health" is the sum of the first two.
POTENTIALS = ("player-health", "opponent-health", "player-board-presence",
              "opponent-board-presence", "coac")

cdef enum:                      # coac
    DEAD = 100000
    COAC_UNIT = 2000


cdef inline int coac_creature(const creature_t* x) noexcept nogil:
    cdef int value = 0
    if x.attack > 0:
        value = 20 + 10 * x.attack + 5 * x.defense
        if x.keywords & WARD:
            value += 5 * x.attack
        if x.keywords & LETHAL:
            value += 20
    if x.keywords & GUARD:
        value += 9
    return value


cdef void potentials(const state_t* s, const table_t* t, int who, float* out) noexcept nogil:
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef uint32_t own = me.marks >> OCCUPIED & 63
    cdef uint32_t enemy = op.marks >> OCCUPIED & 63
    cdef int value = 2 * (me.health - op.health)
    cdef int mine = 0, theirs = 0, slot, h
    for slot in range(MAX_BOARD):
        mine += me.board[slot].attack
        theirs += op.board[slot].attack
        if own >> slot & 1:
            value += coac_creature(&me.board[slot])
        if enemy >> slot & 1:
            value -= coac_creature(&op.board[slot])
    for h in range(me.hand_size):
        if t.cards[me.hand >> 8 * h & 255].type != CREATURE:
            value += 21
    if me.hand_size + state_next_draw(s, who) <= MAX_HAND:
        value += 5 * state_next_draw(s, who)
    if me.health < 5:
        value -= 100
    if op.health <= 0:
        value += DEAD
    elif me.health <= 0:
        value -= DEAD
    out[0] = <float>(me.health / 30.0)
    out[1] = <float>(-(op.health if op.health > 0 else 0) / 30.0)
    out[2] = <float>mine
    out[3] = <float>-theirs
    out[4] = <float>(1 if value > COAC_UNIT else -1 if value < -COAC_UNIT else (
        value / <double>COAC_UNIT))
