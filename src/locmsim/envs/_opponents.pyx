"""Opponents that need no more than the kernel, and potentials for rewards.

They are the agents of the same names, in `locmsim.agents`, without decks of their own; greedy has
its hand-set weights. "max-attack" and "osl" are those of gym-locm that papers compare with: osl is
what gym-locm calls greedy. All choose one action at a time. Where actions are equally good, the
first one in gym-locm's order counts: creatures before the player as targets, otherwise the order of
the numbers.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from locmsim._core cimport (
    ATTACK,
    CREATURE,
    GUARD,
    GUARDED,
    LETHAL,
    MAX_ACTIONS,
    MAX_BOARD,
    MAX_HAND,
    OCCUPIED,
    PASS,
    READY,
    RULES_10,
    USE,
    WARD,
    State,
    card_t,
    creature_t,
    decode_action,
    move_t,
    player_t,
    state_apply,
    state_count,
    state_kth,
    state_list,
    state_next_draw,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
)

from locmsim.search._evaluation cimport Evaluator, eval_t, evaluate

from locmsim.agents.greedy import HAND_SET_WEIGHTS

__all__ = ["OPPONENTS", "POTENTIALS", "choose_action", "play_battle", "potentials_of"]

#: Opponents of the kernel: name -> code.
OPPONENTS = {"pass": PASSES, "random": PLAYS_RANDOM, "max-attack": MAX_ATTACK, "osl": OSL,
             "greedy": GREEDY}

#: What shaping can be made of, in the order of `potentials`; "health" is the sum of the first two.
POTENTIALS = ("player-health", "opponent-health", "player-board-presence",
              "opponent-board-presence", "coac")

cdef Evaluator HAND_SET = Evaluator(HAND_SET_WEIGHTS)
cdef eval_t GREEDY_WEIGHTS = HAND_SET.e     # none of them is for cards in hand: it suits any table

cdef enum:
    KILL = 1000                 # osl
    HEALTH_WORTH = 2
    DEAD = 100000               # coac
    COAC_UNIT = 2000


# ---- opponents -----------------------------------------------------------------------------------

cdef inline int osl_value(const state_t* s, int who) noexcept nogil:
    """Health twice, attack and defense on the board, and a kill."""
    cdef const player_t* me = &s.p[who]
    cdef const player_t* op = &s.p[1 - who]
    cdef int slot
    cdef int value = HEALTH_WORTH * (me.health - op.health)
    if op.health <= 0:
        value += KILL
    if me.health <= 0:
        value -= KILL
    for slot in range(MAX_BOARD):       # empty slots are zero
        value += me.board[slot].attack + me.board[slot].defense
        value -= op.board[slot].attack + op.board[slot].defense
    return value


cdef inline bint on_player(const table_t* t, int action) noexcept nogil:
    cdef move_t m = decode_action(t, action)
    return (m.kind == USE or m.kind == ATTACK) and m.target == 0


cdef int osl_action(const state_t* s, const table_t* t) noexcept nogil:
    """The action other than PASS after which `osl_value` is highest."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef int who = s.turn & 1
    cdef int n = state_list(s, t, actions)
    cdef int best = PASS, most = 0, value, i
    cdef bint late = False
    for i in range(1, n):
        child = s[0]
        state_apply(&child, t, actions[i])
        value = osl_value(&child, who)
        # Of the actions of one card the one on the player comes first here, in gym-locm last: so a
        # later equal one of the same card takes its place.
        if best == PASS or value > most:
            best = actions[i]
            most = value
            late = on_player(t, best)
        elif late and value == most and same_source(t, best, actions[i]):
            best = actions[i]
            late = False
    return best


cdef int greedy_action(const state_t* s, const table_t* t) noexcept nogil:
    """The action after which the position is worth most, PASS if none improves it."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef int who = s.turn & 1
    cdef int n = state_list(s, t, actions)
    cdef int best = PASS, i
    cdef float most = evaluate(s, t, &GREEDY_WEIGHTS, who), value
    for i in range(1, n):
        child = s[0]
        state_apply(&child, t, actions[i])
        value = evaluate(&child, t, &GREEDY_WEIGHTS, who)
        if value > most:
            best = actions[i]
            most = value
    return best


cdef inline bint same_source(const table_t* t, int a, int b) noexcept nogil:
    cdef move_t m = decode_action(t, a)
    cdef move_t n = decode_action(t, b)
    return m.kind == n.kind and m.source == n.source


cdef int max_attack_action(const state_t* s, const table_t* t) noexcept nogil:
    """Attack with the strongest of lane 0, then lane 1: the first Guard, else the player. Then
    summon the creature with the highest attack, in the first lane with room."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef bint one = t.rules == RULES_10
    cdef int lanes = 1 if one else 2
    cdef int size = MAX_BOARD if one else 3
    cdef uint32_t ready = me.marks >> READY & 63
    cdef uint32_t guards = op.marks >> GUARDED & 63
    cdef uint32_t own = me.marks >> OCCUPIED & 63
    cdef int lane, slot, best, target, h
    cdef const card_t* c
    for lane in range(lanes):
        best = -1
        for slot in range(size * lane, size * (lane + 1)):
            if ready >> slot & 1 and (
                    best < 0 or me.board[slot].attack > me.board[best].attack):
                best = slot
        if best < 0:
            continue
        target = 0
        for slot in range(size * (lane + 1) - 1, size * lane - 1, -1):
            if guards >> slot & 1:
                target = 1 + slot - size * lane
        return 113 + 7 * best + target if one else 121 + 4 * best + target
    lane = 0 if not own >> (size - 1) & 1 else 1
    if lane == lanes or own >> (size * lane + size - 1) & 1:
        return PASS
    best = -1
    for h in range(me.hand_size):
        c = &t.cards[me.hand >> 8 * h & 255]
        if c.type == CREATURE and c.cost <= me.mana and (
                best < 0 or c.attack > t.cards[me.hand >> 8 * best & 255].attack):
            best = h
    if best < 0:
        return PASS
    return 1 + best if one else 1 + 2 * best + lane


cdef int opponent_action(
    int kind, const state_t* s, const table_t* t, uint64_t* stream
) noexcept nogil:
    if kind == PLAYS_RANDOM:
        return state_kth(s, t, stream_below(stream, state_count(s, t)))
    if kind == MAX_ATTACK:
        return max_attack_action(s, t)
    if kind == OSL:
        return osl_action(s, t)
    if kind == GREEDY:
        return greedy_action(s, t)
    return PASS


# ---- potentials ----------------------------------------------------------------------------------

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


# ---- for Python ----------------------------------------------------------------------------------

def choose_action(str name, State state not None, seed=0):
    """The action that an opponent of the kernel takes in a state."""
    cdef uint64_t stream = stream_start(seed & 0xFFFFFFFFFFFFFFFF, 0)
    if state_winner(&state.s) >= 0:
        raise ValueError("the game is over")
    return opponent_action(OPPONENTS[name], &state.s, &state.table.t, &stream)


def play_battle(State state not None, str first, str second, seed=0, int max_actions=1400):
    """The winner of a battle between two opponents of the kernel, -1 after `max_actions`."""
    cdef state_t s = state.s
    cdef const table_t* t = &state.table.t
    cdef uint64_t stream = stream_start(seed & 0xFFFFFFFFFFFFFFFF, 0)
    cdef int kinds[2]
    cdef int n = 0
    kinds = [OPPONENTS[first], OPPONENTS[second]]
    with nogil:
        while state_winner(&s) < 0 and n < max_actions:
            state_apply(&s, t, opponent_action(kinds[s.turn & 1], &s, t, &stream))
            n += 1
    return state_winner(&s)


def potentials_of(State state not None, int player):
    """Name -> value of each potential of a player."""
    cdef float values[N_POTENTIALS]
    potentials(&state.s, &state.table.t, player & 1, values)
    return {name: values[i] for i, name in enumerate(POTENTIALS)}
