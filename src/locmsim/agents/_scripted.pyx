"""The scripted agents, compiled: an action depends only on the state and on random numbers.

Agents, and opponents in learning environments, use them by name. "max-attack" and "osl" are agents
of gym-locm that papers compare with; gym-locm calls osl "greedy". All choose one action at a time.
Among equally good actions they play the first in gym-locm's order: as targets, creatures come
before the player; otherwise the lower action number comes first.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from locmsim._core cimport (
    ATTACK,
    CREATURE,
    GUARDED,
    MAX_ACTIONS,
    MAX_ACTION_TEXT,
    MAX_BOARD,
    MAX_SHOWN_ACTIONS,
    OCCUPIED,
    PASS,
    READY,
    RULES_10,
    USE,
    Shown,
    State,
    card_t,
    decode_action,
    fill_from_observation,
    hand_card,
    move_t,
    player_t,
    seed_of,
    state_apply,
    state_count,
    state_kth,
    state_list,
    state_t,
    state_winner,
    state_write,
    stream_below,
    stream_start,
    table_t,
)

from locmsim.search._belief cimport Knowledge
from locmsim.search._engine cimport CompiledEvaluation, eval_t, evaluate

from locmsim.search._engine import TERMS

__all__ = [
    "HAND_SET_WEIGHTS",
    "SCRIPTED",
    "choose_action",
    "greedy_line",
    "play_battle",
    "slipped_line",
    "turn_line",
]

#: The scripted agents: name -> code.
SCRIPTED = {"pass": PASSES, "random": PLAYS_RANDOM, "max-attack": MAX_ATTACK, "osl": OSL,
            "greedy": GREEDY}

# The weights of greedy's evaluation, in points of attack on the board: set by hand and never
# changed, so that results against the agent stay comparable.
_SIDE = {
    "health": 0.25,
    "low_health": 0.3,
    "creature": 0.4,
    "attack": 1.0,
    "defense": 0.7,
    "guard_defense": 0.15,
    "lethal": 1.5,
    "ward_attack": 0.4,
    "drain_attack": 0.3,
    "breakthrough_attack": 0.1,
    "card": 1.6,
    "room": 0.2,
    "open_attack": 0.1,
    "kill": 4.0,
}
#: The weights of greedy's evaluation, the same for all rule sets.
HAND_SET_WEIGHTS = {
    **dict.fromkeys(TERMS, 0.0),
    **{f"{side}.{name}": weight for side in ("own", "their") for name, weight in _SIDE.items()},
    "scale": 12.0,
}

cdef CompiledEvaluation HAND_SET = CompiledEvaluation(HAND_SET_WEIGHTS)
cdef eval_t GREEDY_WEIGHTS = HAND_SET.e     # has no weights for cards in hand: fits any table

cdef table_t TABLE              # of the turn being answered; used with the GIL only

cdef enum:
    KILL = 1000                 # osl
    HEALTH_WORTH = 2


# ---- actions ----------------------------------------------------------------------------------

cdef inline int osl_value(const state_t* s, int who) noexcept nogil:
    """Return twice the health, plus attack and defense on the board, plus a kill."""
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
    """Return the action other than PASS after which `osl_value` is highest."""
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
        # Among the actions of one card, the one on the player comes first here, but last in
        # gym-locm. So an equally good later action of the same card replaces it.
        if best == PASS or value > most:
            best = actions[i]
            most = value
            late = on_player(t, best)
        elif late and value == most and same_source(t, best, actions[i]):
            best = actions[i]
            late = False
    return best


cdef double error_of(uint64_t* stream) noexcept nogil:
    """Draw an error that is near enough to a normal distribution of deviation 1."""
    cdef double total = -6
    cdef int _
    for _ in range(12):
        total += (stream_below(stream, 128) + 0.5) / 128
    return total


cdef int improving_action(
    const state_t* s, const table_t* t, double* most, double blur, uint64_t* stream
) noexcept nogil:
    """Return the action that leads to the best position, or PASS if none is better than `most`.

    Evaluations have errors of deviation `blur`, drawn from the stream, if there is one.
    """
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef int who = s.turn & 1, best = PASS, i
    cdef int n = state_list(s, t, actions)
    cdef double value
    for i in range(1, n):
        child = s[0]
        state_apply(&child, t, actions[i])
        value = evaluate(&child, t, &GREEDY_WEIGHTS, who)
        if stream is not NULL:
            value += blur * error_of(stream)
        if value > most[0]:
            best = actions[i]
            most[0] = value
    return best


cdef inline bint same_source(const table_t* t, int a, int b) noexcept nogil:
    cdef move_t m = decode_action(t, a)
    cdef move_t n = decode_action(t, b)
    return m.kind == n.kind and m.source == n.source


cdef int max_attack_action(const state_t* s, const table_t* t) noexcept nogil:
    """Attack with the strongest creature of lane 0, then of lane 1: the first Guard, else the
    player. Then summon the creature with the highest attack, in the first lane with room."""
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
        c = hand_card(me, t, h)
        if c.type == CREATURE and c.cost <= me.mana and (
                best < 0 or c.attack > hand_card(me, t, best).attack):
            best = h
    if best < 0:
        return PASS
    return 1 + best if one else 1 + 2 * best + lane


cdef int scripted_action(
    int kind, const state_t* s, const table_t* t, uint64_t* stream
) noexcept nogil:
    cdef double most
    if kind == PLAYS_RANDOM:
        return state_kth(s, t, stream_below(stream, state_count(s, t)))
    if kind == MAX_ATTACK:
        return max_attack_action(s, t)
    if kind == OSL:
        return osl_action(s, t)
    if kind == GREEDY:
        most = evaluate(s, t, &GREEDY_WEIGHTS, s.turn & 1)
        return improving_action(s, t, &most, 0, NULL)
    return PASS


# ---- for Python ----------------------------------------------------------------------------------

def choose_action(str name, State state not None, seed=0):
    """Return the action of a scripted agent in a state; ``ValueError`` if the game is over."""
    cdef uint64_t stream = stream_start(seed_of(seed), 0)
    if state_winner(&state.s) >= 0:
        raise ValueError("the game is over")
    return scripted_action(SCRIPTED[name], &state.s, &state.table.t, &stream)


cdef str line_of(int kind, state_t* s, const table_t* t, seed):
    """Play a turn in the state and return its answer line; "PASS" if there are no actions."""
    cdef uint64_t stream = stream_start(seed_of(seed), 0)
    cdef char line[MAX_SHOWN_ACTIONS * (MAX_ACTION_TEXT + 1)]
    cdef int length = 0, action, n = 0
    while state_winner(s) < 0 and n < MAX_SHOWN_ACTIONS:
        action = scripted_action(kind, s, t, &stream)
        if action == PASS:
            break
        if n:
            line[length] = b";"
            length += 1
        length += state_write(s, t, action, line + length)
        state_apply(s, t, action)
        n += 1
    return line[:length].decode("ascii") if n else "PASS"


def turn_line(str name, Shown observation not None, seed=0):
    """Return the answer line of a scripted agent other than greedy to an observation.

    ``ValueError`` for an observation of the choice phase, and for one that is impossible.
    """
    cdef state_t s
    fill_from_observation(&s, &TABLE, observation)
    return line_of(SCRIPTED[name], &s, &TABLE, seed)


def greedy_line(Knowledge known not None):
    """Return the answer of greedy, which also counts cards in decks and the opponent's hand."""
    cdef state_t s
    known.fill_root(&s, &TABLE)
    return line_of(GREEDY, &s, &TABLE, 0)


def slipped_line(Knowledge known not None, double slips, double blur, seed):
    """Return the answer of greedy with errors of its evaluation, or None if it does not slip.

    `slips` is the share of turns in which it does, `blur` the standard deviation of the errors. The
    engine for pages (export/data/engine.h) draws the same numbers.
    """
    cdef uint64_t stream = stream_start(seed_of(seed), 1)
    cdef double chance = stream_below(&stream, 128) * 128
    cdef state_t s
    cdef list line = []
    cdef char text[MAX_ACTION_TEXT]
    cdef double most = 0
    cdef int action
    chance = (chance + stream_below(&stream, 128)) / 16384
    if not chance < slips:
        return None
    known.fill_root(&s, &TABLE)
    if state_winner(&s) < 0:
        most = evaluate(&s, &TABLE, &GREEDY_WEIGHTS, s.turn & 1) + blur * error_of(&stream)
    while state_winner(&s) < 0:
        action = improving_action(&s, &TABLE, &most, blur, &stream)
        if action == PASS:
            break
        line.append(text[:state_write(&s, &TABLE, action, text)].decode("ascii"))
        state_apply(&s, &TABLE, action)
    return ";".join(line) or "PASS"


def play_battle(State state not None, str first, str second, seed=0, int max_actions=1400):
    """Play a battle between two scripted agents; return the winner, or -1 after `max_actions`."""
    cdef state_t s = state.s
    cdef const table_t* t = &state.table.t
    cdef uint64_t stream = stream_start(seed_of(seed), 0)
    cdef int kinds[2]
    cdef int n = 0
    kinds = [SCRIPTED[first], SCRIPTED[second]]
    with nogil:
        while state_winner(&s) < 0 and n < max_actions:
            state_apply(&s, t, scripted_action(kinds[s.turn & 1], &s, t, &stream))
            n += 1
    return state_winner(&s)
