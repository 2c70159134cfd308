"""What happens to a row of games beside its battle: see _row.pxd."""

from libc.string cimport memset

from locmsim._core cimport (
    ATTACK,
    PASS,
    RULES_15,
    SUMMON,
    card_t,
    decode_action,
    move_t,
    player_t,
    stream_below,
    table_t,
)
from locmsim.envs._deal cimport deal, derive_seeds
from locmsim.envs._opponents cimport potentials
from locmsim.policy._layout cimport known_apply, known_start


# ---- chance --------------------------------------------------------------------------------------

cdef uint64_t draw_bits(uint64_t* stream) noexcept nogil:
    cdef uint64_t bits = 0
    cdef int _i
    for _i in range(4):
        bits = bits << 16 | stream_below(stream, 65536)
    return bits


# ---- rewards -------------------------------------------------------------------------------------

cdef inline float potential(const game_t* g, const row_t* r, int who) noexcept nogil:
    cdef float values[N_POTENTIALS]
    cdef float total = 0
    cdef int i
    potentials(&r.s, table_of(r), who, values)
    for i in range(N_POTENTIALS):
        total += g.shaping[i] * values[i]
    return total


cdef float shaping(const game_t* g, row_t* r, int who, bint ended) noexcept nogil:
    """What the potential gives a player since their last decision."""
    cdef float before = r.phi[who]
    if not g.shaped:
        return 0
    r.phi[who] = 0 if ended and not g.raw_potentials else potential(g, r, who)
    return (r.phi[who] if g.raw_potentials else g.gamma * r.phi[who]) - before


# ---- an episode ----------------------------------------------------------------------------------

cdef void draw_episode(const game_t* g, row_t* r) noexcept nogil:
    """Seat, opponent and seeds of the next episode."""
    cdef uint32_t x
    cdef int i = 0
    memset(&r.cold.now, 0, sizeof(end_t))
    r.cold.now.dealt = 1
    if g.both:
        r.seat = -1
    elif g.seat == RANDOM_SEAT:
        r.seat = stream_below(&r.stream, 2)
    elif g.seat == ALTERNATE:
        r.seat = r.episode & 1
    else:
        r.seat = g.seat == SECOND
    r.episode += 1
    r.serial += 1
    if g.n_opponents > 1:
        x = stream_below(&r.stream, 65536)
        while i < g.n_opponents - 1 and x >= g.weight[i]:
            x -= g.weight[i]
            i += 1
    r.cold.now.opponent = i
    r.cold.now.seed = <int64_t>(draw_bits(&r.stream) >> 1)
    derive_seeds(r.cold.now.seed, g.n_seeds, r.cold.now.seeds)
    if g.n_sets:
        r.cold.now.set = draw_bits(&r.stream) % <uint64_t>g.n_sets
        if g.rules == RULES_15 and g.first_set >= 0:
            r.cold.now.seeds[0] = g.first_set + r.cold.now.set


cdef void deal_row(const game_t* g, row_t* r, const card_t* cards) noexcept nogil:
    """The battle of the episode's decks."""
    deal(&r.s, table_of(r), cards, r.cold.now.decks, g.rules, &r.cold.now.seeds[g.n_seeds - 2])
    start_row(g, r)


cdef void start_row(const game_t* g, row_t* r) noexcept nogil:
    known_start(&r.k, &r.s, table_of(r))
    r.length = 0
    r.cold.n_acts = 0
    r.where = IN_RESET
    if r.s.turn < 0:
        known_apply(&r.k, &r.s, table_of(r), PASS)      # the first turn begins


cdef void settle_start(const game_t* g, row_t* r) noexcept nogil:
    cdef int who
    for who in range(2):
        r.phi[who] = potential(g, r, who) if g.shaped else 0
    r.where = IN_STEP


cdef void note_action(row_t* r, int action) noexcept nogil:
    """Keep what the protocol will show the opponent of an action of the learner."""
    cdef const table_t* t = table_of(r)
    cdef const player_t* me = &r.s.p[r.s.turn & 1]
    cdef const player_t* op = &r.s.p[~r.s.turn & 1]
    cdef const card_t* c
    cdef move_t m = decode_action(t, action)
    cdef act_t* a = &r.cold.acts[r.cold.n_acts if r.cold.n_acts < MAX_ACTS else MAX_ACTS - 1]
    if r.k.actions == 0:
        r.cold.n_acts = 0
        a = &r.cold.acts[0]
    if action == PASS:
        return
    r.cold.n_acts += r.cold.n_acts < MAX_ACTS
    a.kind = m.kind
    a.target = -1
    if m.kind == ATTACK:
        c = &t.cards[me.board[m.source].card]
        a.source = c.id + me.board[m.source].copy
        if m.target:
            a.target = t.cards[op.board[m.target - 1].card].id + op.board[m.target - 1].copy
    else:
        c = &t.cards[me.hand >> 8 * m.source & 255]
        a.source = c.id
        if m.kind == SUMMON:
            a.target = m.target
        elif m.target >= 7:
            a.target = t.cards[op.board[m.target - 7].card].id + op.board[m.target - 7].copy
        elif m.target:
            a.target = t.cards[me.board[m.target - 1].card].id + me.board[m.target - 1].copy
    a.base_id = c.base_id


cdef void note_end(row_t* r, bint illegal) noexcept nogil:
    r.cold.now.winner = won_by(&r.s)
    r.cold.now.length = r.length
    r.cold.now.turn = r.s.turn
    r.cold.now.health[0] = r.s.p[0].health
    r.cold.now.health[1] = r.s.p[1].health
    r.cold.now.illegal = illegal
    r.cold.now.loser = r.s.turn & 1
    r.cold.now.seat = r.seat
    r.cold.last = r.cold.now


cdef int winner_of(const end_t* e) noexcept nogil:
    """Who has won an episode, -1 for nobody; an illegal action loses."""
    return 1 - e.loser if e.illegal else e.winner
