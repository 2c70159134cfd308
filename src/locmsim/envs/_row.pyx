"""The steps of a row: see _row.pxd."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    ATTACK,
    NO_TARGET,
    PASS,
    RULES_10,
    SUMMON,
    card_t,
    creature_id,
    decode_action,
    move_t,
    player_t,
    shown_action_t,
    state_apply,
    state_is_legal,
    stream_below,
    stream_start,
    table_t,
)
from locmsim.agents._scripted cimport scripted_action
from locmsim.envs._potentials cimport potentials
from locmsim.envs._searcher cimport believer_start, believer_t, prior_scores_t, search_turn
from locmsim.game._layout cimport (
    GYM_LOCM,
    HAND_ROW,
    HIDDEN_ROWS,
    known_apply,
    known_start,
    write_choice,
    write_choice_hidden,
    write_choice_mask,
    write_hidden,
    write_known,
    write_mask,
)
from locmsim.game._match cimport (
    ILLEGAL,
    NO_FAULT,
    are_offered,
    deal_with,
    first_pick,
    is_legal_pick,
    match_begin,
    match_deal,
    match_end,
    match_offer,
    match_pick,
    match_seed,
    match_winner,
    n_seeds_of,
    random_deck,
    won_by,
)
from locmsim.search._engine cimport MAX_PATH


# The numbers of _row.pxd that Python needs.
__all__ = [
    "BATTLES", "BY_CALLER", "BY_PYTHON", "BY_SEARCH", "CARD_SET", "DECKS", "IN_BATTLE", "IN_CHOICE",
    "NOTHING", "OPPONENT", "SEARCH"]


# ---- random numbers -----------------------------------------------------------------------------

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


cdef float shaping(
    const game_t* g, row_t* r, int who, bint ended, bint forfeited
) noexcept nogil:
    """Return the shaped reward of a player since their last decision.

    Having `forfeited` is worth no more than having died: an illegal action must not save what was
    at stake.
    """
    cdef float before = r.phi[who]
    cdef int32_t health = r.s.p[who].health
    if not g.shaped:
        return 0
    if forfeited and g.raw_potentials:
        r.s.p[who].health = min(health, 0)
        r.phi[who] = min(before, potential(g, r, who))
        r.s.p[who].health = health
        return r.phi[who] - before
    r.phi[who] = 0 if ended and not g.raw_potentials else potential(g, r, who)
    return (r.phi[who] if g.raw_potentials else g.gamma * r.phi[who]) - before


# ---- an episode ----------------------------------------------------------------------------------

cdef inline void draw_opponent(const game_t* g, row_t* r, uint32_t x) noexcept nogil:
    """Set the opponent of the next episode by their weights; `x` is random, below 65,536."""
    cdef int i = 0
    while i < g.n_opponents - 1 and x >= g.weight[i]:
        x -= g.weight[i]
        i += 1
    r.cold.now.opponent = g.slot[i]
    if g.player[g.slot[i]] == BY_CALLER:
        r.seat = -1


cdef void begin(const game_t* g, row_t* r) noexcept nogil:
    """Draw seat, opponent, seeds and card set of the next episode, and wait for the cards."""
    cdef match_t* m = &r.cold.now.m
    cdef int64_t number, first = 0
    memset(&r.cold.now, 0, sizeof(episode_t))
    match_begin(m, g.rules, g.n_cards)
    r.cold.now.dealt = 1
    if g.self_play:
        r.seat = -1
    elif g.seat == RANDOM_SEAT:
        r.seat = stream_below(&r.stream, 2)
    elif g.seat == ALTERNATE:
        r.seat = r.episode & 1
    else:
        r.seat = g.seat == SECOND
    r.episode += 1
    r.serial += 1
    draw_opponent(g, r, stream_below(&r.stream, 65536) if g.n_opponents > 1 else 0)
    match_seed(m, <int64_t>(draw_bits(&r.stream) >> 1))
    r.cold.now.set = -1
    if g.n_sets:
        number = draw_bits(&r.stream) % <uint64_t>g.n_sets
        r.cold.now.set = number
        if g.generated:
            if g.refresh:           # n_sets sets from `first` on, each at its seed mod n_sets
                first = (r.episode - 1) // g.refresh
                number = first + (number - first % g.n_sets + g.n_sets) % g.n_sets
            m.seeds[0] = g.first_set + number
    if g.episode != BATTLE_EPISODE:
        r.phase = IN_CHOICE
        r.length = 0
    r.where = IN_RESET
    r.waits = CARD_SET


cdef void deal_row(const game_t* g, row_t* r) noexcept nogil:
    """Deal the battle of the episode's decks."""
    r.cold.now.offered = are_offered(&r.cold.now.m)
    match_deal(&r.cold.now.m, &r.s, table_of(r))
    start_row(g, r)


cdef void start_row(const game_t* g, row_t* r) noexcept nogil:
    known_start(&r.k, &r.s, table_of(r))
    r.phase = IN_BATTLE
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


cdef void note_action(row_t* r, int action, bint first) noexcept nogil:
    """Record what the protocol will show the opponent of an action; `first` begins the turn."""
    cdef const table_t* t = table_of(r)
    cdef const player_t* me = &r.s.p[r.s.turn & 1]
    cdef const player_t* op = &r.s.p[~r.s.turn & 1]
    cdef const card_t* c
    cdef move_t m = decode_action(t, action)
    cdef shown_action_t* a = &r.cold.acts[min(r.cold.n_acts, MAX_ACTS - 1)]
    if first:
        r.cold.n_acts = 0
        a = &r.cold.acts[0]
    if action == PASS:
        return
    r.cold.n_acts += r.cold.n_acts < MAX_ACTS
    a.kind = m.kind
    a.target = -1
    if m.kind == ATTACK:
        c = &t.cards[me.board[m.source].card]
        a.id = creature_id(&me.board[m.source], t)
        if m.target:
            a.target = creature_id(&op.board[m.target - 1], t)
    else:
        c = &t.cards[me.hand >> 8 * m.source & 255]
        a.id = c.id
        if m.kind == SUMMON:
            a.target = NO_TARGET
            if t.rules != RULES_10:
                a.target = m.target
        elif m.target >= 7:
            a.target = creature_id(&op.board[m.target - 7], t)
        elif m.target:
            a.target = creature_id(&me.board[m.target - 1], t)
    a.base_id = c.base_id


cdef void note_end(const rows_t* a, Py_ssize_t i, bint illegal) noexcept nogil:
    cdef row_t* r = &a.rows[i]
    cdef episode_t* e = &r.cold.now
    cdef int winner
    e.length = r.length
    e.seat = r.seat
    if r.phase == IN_BATTLE:
        winner = won_by(&r.s)
        e.turn = r.s.turn
        e.health[0] = r.s.p[0].health
        e.health[1] = r.s.p[1].health
    else:
        winner = -1 if illegal else a.winners[i * a.g.battles]
        e.turn = -1
        e.dealt = not illegal       # after an illegal pick the decks are incomplete
    match_end(&e.m, winner, r.acted if illegal else -1, ILLEGAL if illegal else NO_FAULT)
    r.cold.last = e[0]


# ---- steps ---------------------------------------------------------------------------------------

cdef bint is_legal(const game_t* g, const row_t* r, int64_t action) noexcept nogil:
    if not 0 <= action < g.n_actions:
        return False
    if r.phase == IN_CHOICE:
        return is_legal_pick(&r.cold.now.m, mover_of(r), <int>action - g.first_pick)
    return action < g.battle_actions and state_is_legal(&r.s, table_of(r), <int>action)


cdef void view_choice(
    const rows_t* a, Py_ssize_t i, int who, uint8_t* observation, int8_t* mask, int8_t* hidden
) noexcept nogil:
    """Write what a player sees in the choice phase, as `view_row` does."""
    cdef const game_t* g = &a.g
    cdef const row_t* r = &a.rows[i]
    cdef const match_t* m = &r.cold.now.m
    cdef bint begun = m.cards is not NULL
    if observation is not NULL:
        memset(observation, 0, g.battle_size if begun else g.size)
        if begun:
            write_choice(<int8_t*>observation + g.battle_size, m, who, r.cold.shown)
    if mask is not NULL:
        if r.where == OVER or mover_of(r) != who or m.picked[who] == MAX_DECK:
            memset(mask, 0, g.n_actions)
            mask[PASS] = 1
        else:
            memset(mask, 0, g.first_pick)
            write_choice_mask(mask + g.first_pick, m, who)
    if hidden is not NULL:
        if begun:
            write_choice_hidden(hidden, m, who, r.cold.shown)
        else:
            memset(hidden, 0, HIDDEN_ROWS * HAND_ROW)


cdef inline void write_battle(
    const game_t* g, const row_t* r, int who, uint8_t* observation
) noexcept nogil:
    write_known(g.layout, observation, &r.k, &r.s, table_of(r), who)
    if g.choice_size:
        memset(observation + g.battle_size, 0, g.choice_size)


cdef inline void write_battle_mask(
    const game_t* g, const row_t* r, int who, int8_t* mask
) noexcept nogil:
    if r.where == OVER:         # also where an illegal action ended it
        memset(mask, 0, g.n_actions)
        mask[PASS] = 1
        return
    write_mask(mask, &r.s, table_of(r), who)
    if g.choice_size:
        memset(mask + g.battle_actions, 0, g.n_actions - g.battle_actions)


cdef void view_row(
    const rows_t* a, Py_ssize_t i, int who, uint8_t* observation, int8_t* mask, int8_t* hidden
) noexcept nogil:
    cdef const row_t* r = &a.rows[i]
    if r.phase == IN_CHOICE:
        view_choice(a, i, who, observation, mask, hidden)
        return
    if observation is not NULL:
        write_battle(&a.g, r, who, observation)
    if mask is not NULL:
        write_battle_mask(&a.g, r, who, mask)
    if hidden is not NULL:
        write_hidden(hidden, &r.s, table_of(r), who)


cdef void show(const rows_t* a, Py_ssize_t i) noexcept nogil:
    cdef const row_t* r = &a.rows[i]
    cdef const out_t* out = &a.out
    cdef int who = mover_of(r)
    view_row(a, i, who, NULL if out.observation is NULL else out.observation + i * a.g.size,
             NULL if out.mask is NULL else out.mask + i * a.g.n_actions,
             NULL if out.hidden is NULL else out.hidden + i * HIDDEN_ROWS * HAND_ROW)
    if out.to_move is not NULL:
        out.to_move[i] = who


cdef bint choose(rows_t* a, Py_ssize_t i) noexcept nogil:
    """Set the decks that the caller does not choose; False without the card set."""
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef const set_t* source = set_of(a, i)
    cdef match_t* m = &r.cold.now.m
    cdef bint battle = g.episode == BATTLE_EPISODE
    cdef int who, how
    if source.cards is NULL or source.key != set_key(g, r):
        return False
    m.cards = source.cards
    r.cold.shown = source.shown
    match_offer(m, g.allowed, g.n_allowed)
    r.waits = NOTHING
    for who in range(2):
        if m.picked[who] == MAX_DECK or not battle and (r.seat < 0 or who == r.seat):
            continue
        how = g.decks if battle else g.chooser[who]
        if how == ASKED_DECKS:
            r.waits = DECKS
        elif how == FIXED_DECKS:
            memcpy(m.decks[who], source.decks[who], MAX_DECK)
            m.picked[who] = MAX_DECK
        else:
            random_deck(m, who, &r.stream)
    if battle and r.waits == NOTHING:
        deal_row(g, r)
    return True


cdef inline void proceed(rows_t* a, Py_ssize_t i) noexcept nogil:
    """Continue a row until the caller has to act in it, or Python has something to do for it."""
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef const table_t* t = table_of(r)
    cdef int kind, turn
    while True:
        if r.waits == CARD_SET:
            if not choose(a, i):
                return
            continue
        if r.waits != NOTHING:
            if r.waits == DECKS or r.waits == BATTLES:
                return
            r.waits = NOTHING
        if r.phase == IN_CHOICE:
            r.where = IN_STEP
            show(a, i)
            return
        if won_by(&r.s) >= 0 or is_cut(g, r):
            # A battle that is over before the caller could act does not count as an episode.
            if r.where == IN_STEP or g.episode == MATCH_EPISODE:
                finish(a, i, False)
                if r.where == OVER:
                    return
            else:
                begin(g, r)
            continue
        if r.seat >= 0 and r.s.turn & 1 != r.seat:
            kind = g.player[r.cold.now.opponent]
            if kind < 0:
                r.waits = SEARCH if kind == BY_SEARCH and r.cold.now.offered else OPPONENT
                return
            turn = r.s.turn
            while r.s.turn == turn and won_by(&r.s) < 0 and not is_cut(g, r):
                known_apply(&r.k, &r.s, t, scripted_action(kind, &r.s, t, &r.stream))
                r.length += 1
            continue
        if r.where == IN_RESET:
            settle_start(g, r)
        elif g.shaped:
            pay(a, i, False, False)       # without shaping rewards are 0 before the end
        show(a, i)
        return


cdef void resume(rows_t* a, Py_ssize_t i) noexcept nogil:
    if a.rows[i].where != OVER:
        proceed(a, i)


cdef void pay(rows_t* a, Py_ssize_t i, bint ended, bint illegal) noexcept nogil:
    """Write the rewards of a step, after it and the opponents' answers to it."""
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef float rewards[2]
    cdef int winner = match_winner(&r.cold.now.m) if ended else -1
    cdef int who
    for who in range(2):
        rewards[who] = 0
        if r.phase == IN_CHOICE:
            if not illegal:
                rewards[who] = g.win * (-r.cold.score if who else r.cold.score)
            elif winner >= 0:
                rewards[who] = g.win if winner == who else -g.win
            continue
        if winner >= 0:
            rewards[who] = g.win if winner == who else -g.win
        # Where the caller plays both seats, shaping is paid to the player to move.
        if r.seat == who or r.seat < 0 and (winner >= 0 or ended or r.s.turn & 1 == who):
            rewards[who] += shaping(g, r, who, ended, illegal and who == r.acted)
    if a.out.reward is not NULL:
        a.out.reward[i] = rewards[r.acted]
    if a.out.both is not NULL:
        a.out.both[2 * i] = rewards[0]
        a.out.both[2 * i + 1] = rewards[1]


cdef void finish(rows_t* a, Py_ssize_t i, bint illegal) noexcept nogil:
    """End an episode: by a win, an illegal action or the limit of actions."""
    cdef row_t* r = &a.rows[i]
    cdef int who = mover_of(r)
    cdef int winner, result
    cdef bint terminated = illegal or r.phase == IN_CHOICE or won_by(&r.s) >= 0
    note_end(a, i, illegal)
    pay(a, i, terminated, illegal)
    if a.out.terminated is not NULL:
        a.out.terminated[i] = terminated
    if a.out.truncated is not NULL:
        a.out.truncated[i] = not terminated
    winner = match_winner(&r.cold.last.m)
    result = 0 if winner < 0 else 1 if winner == max(r.seat, 0) else 2
    add_(&a.results[r.cold.last.opponent][result], 1)
    if a.out.winner is not NULL:
        a.out.winner[i] = winner
    if a.out.length is not NULL:
        a.out.length[i] = r.length
    if a.g.autoreset == SAME_STEP:
        if a.out.final is not NULL:
            view_row(a, i, who, a.out.final + i * a.g.size, NULL, NULL)
        begin(&a.g, r)
        return
    r.where = OVER
    show(a, i)


cdef bint is_known(
    const set_t* source, const prior_scores_t* set_prior, int64_t key
) noexcept nogil:
    """Return whether a card set was made, and how likely others choose its cards."""
    return (source.cards is not NULL and source.key == key and set_prior.scores is not NULL
            and set_prior.key == key)


cdef bint search(rows_t* a, Py_ssize_t i, int thread) noexcept nogil:
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef const set_t* source = set_of(a, i)
    cdef const searcher_t* q = a.searchers[r.cold.now.opponent]
    cdef int64_t number = r.cold.now.set
    cdef const prior_scores_t* set_prior = &q.set_priors[number if number >= 0 else g.n_sets + i]
    cdef believer_t* m = &q.believers[i]
    cdef int who = r.s.turn & 1
    cdef int turn = r.s.turn
    cdef int64_t key = set_key(g, r)
    cdef int n, j
    cdef uint8_t path[MAX_PATH + 1]
    if a.stopped or not is_known(source, set_prior, key):
        return False
    if m.serial != r.serial:
        believer_start(q, m, r.serial, <int64_t>(draw_bits(&r.stream) >> 1), g.rules, who,
                       source.cards, r.cold.now.m.decks[who], r.cold.now.m.triplets)
    n = search_turn(q, q.workspaces[thread], m, set_prior, &r.s, table_of(r), r.cold.acts,
                    r.cold.n_acts, source.cards, g.n_cards, r.cold.now.m.triplets, path)
    if a.stopped:
        return False
    path[n] = PASS
    for j in range(n + 1):
        if won_by(&r.s) >= 0 or is_cut(g, r) or r.s.turn != turn:
            break
        if state_is_legal(&r.s, table_of(r), path[j]):
            known_apply(&r.k, &r.s, table_of(r), path[j])
            r.length += 1
    return True


cdef void draw_battle(row_t* r, int number, int64_t* shuffles, int64_t* seeds) noexcept nogil:
    """Use the shuffles of the match for the first battle, and draw others for the rest."""
    cdef const match_t* m = &r.cold.now.m
    cdef int who
    for who in range(2):
        shuffles[who] = m.seeds[n_seeds_of(m.rules) - 2 + who]
        if number:
            shuffles[who] = <int64_t>(draw_bits(&r.stream) >> 1)
    for who in range(2):
        seeds[who] = <int64_t>(draw_bits(&r.stream) >> 1)


cdef bint play_battles(rows_t* a, Py_ssize_t i, int thread) noexcept nogil:
    """Play the battles after a choice phase; False if something is missing for them."""
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef const set_t* source = set_of(a, i)
    cdef int64_t place = r.cold.now.set if r.cold.now.set >= 0 else g.n_sets + i
    cdef int who, number
    if a.stopped or g.battler[0] == BY_PYTHON or g.battler[1] == BY_PYTHON:
        return False
    for who in range(2):
        if g.battler[who] == BY_SEARCH and not is_known(
                source, &a.battlers[who].set_priors[place], set_key(g, r)):
            return False
    for number in range(g.battles):
        a.winners[i * g.battles + number] = play_battle(a, i, thread, number, place)
        if a.stopped:
            return False
    finish_choice(a, i)
    return True


cdef int play_battle(
    rows_t* a, Py_ssize_t i, int thread, int number, int64_t place
) noexcept nogil:
    """Play a battle and return who wins, -1 for nobody."""
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef const match_t* dealt = &r.cold.now.m
    cdef const table_t* t = table_of(r)
    cdef const searcher_t* q
    cdef believer_t* m
    cdef int64_t shuffles[2]
    cdef int64_t seeds[2]
    cdef uint8_t path[MAX_PATH + 1]
    cdef uint64_t stream
    cdef int who, kind, turn, n, j, length = 0
    cdef int mine = max(r.seat, 0)      # the seat whose deck the first battler plays
    cdef bint first
    cdef bint notes = g.battler[0] == BY_SEARCH or g.battler[1] == BY_SEARCH
    draw_battle(r, number, shuffles, seeds)
    stream = stream_start(<uint64_t>seeds[0], 0)
    deal_with(dealt, &r.s, table_of(r), shuffles)
    state_apply(&r.s, t, PASS)          # the first turn begins
    r.cold.n_acts = 0
    for who in range(2):
        q = a.battlers[who ^ mine]
        if g.battler[who ^ mine] == BY_SEARCH:
            believer_start(q, &q.believers[2 * thread + who], r.serial, seeds[who], g.rules, who,
                           dealt.cards, dealt.decks[who], dealt.triplets)
    while won_by(&r.s) < 0 and length < REFEREES_LIMIT:
        who = r.s.turn & 1
        turn = r.s.turn
        kind = g.battler[who ^ mine]
        n = 0
        if kind == BY_SEARCH:
            q = a.battlers[who ^ mine]
            m = &q.believers[2 * thread + who]
            n = search_turn(q, q.workspaces[thread], m, &q.set_priors[place], &r.s, t, r.cold.acts,
                            r.cold.n_acts, dealt.cards, g.n_cards, dealt.triplets, path)
            if a.stopped:
                return -1
            path[n] = PASS
        j = 0
        first = True
        while r.s.turn == turn and won_by(&r.s) < 0 and length < REFEREES_LIMIT:
            if kind != BY_SEARCH:
                path[0] = <uint8_t>scripted_action(kind, &r.s, t, &stream)
            elif not state_is_legal(&r.s, t, path[j]):
                j += 1
                continue
            if notes:
                note_action(r, path[j], first)
            first = False
            state_apply(&r.s, t, path[j])
            length += 1
            j += kind == BY_SEARCH
    return won_by(&r.s)


cdef void finish_choice(rows_t* a, Py_ssize_t i) noexcept nogil:
    """End an episode of a choice phase after its battles."""
    cdef row_t* r = &a.rows[i]
    cdef int number, winner, total = 0
    for number in range(a.g.battles):
        winner = a.winners[i * a.g.battles + number]
        total += 1 if winner == 0 else -1 if winner == 1 else 0
    r.cold.score = <float>(<double>total / a.g.battles)
    r.waits = NOTHING
    finish(a, i, False)


cdef void pick(rows_t* a, Py_ssize_t i, int64_t action) noexcept nogil:
    """Pick a card for the caller."""
    cdef row_t* r = &a.rows[i]
    cdef const game_t* g = &a.g
    cdef match_t* m = &r.cold.now.m
    cdef int who = mover_of(r)
    cdef bint legal = is_legal(g, r, action)
    r.acted = who
    if a.out.acted is not NULL:
        a.out.acted[i] = who
    if not legal and g.illegal == LOSE:
        finish(a, i, True)
        resume(a, i)
        return
    match_pick(m, who, <int>action - g.first_pick if legal else first_pick(m, who))
    r.length += 1
    if m.picked[0] < MAX_DECK or m.picked[1] < MAX_DECK:
        show(a, i)
    elif g.episode == MATCH_EPISODE:
        deal_row(g, r)
        resume(a, i)
    else:
        r.waits = BATTLES


cdef void advance(rows_t* a, Py_ssize_t i, int64_t action) noexcept nogil:
    """Play one action of the caller in a row, and everything that follows from it."""
    cdef row_t* r = &a.rows[i]
    if r.where == OVER:
        r.acted = -1
        if a.out.acted is not NULL:
            a.out.acted[i] = -1
        if a.g.autoreset == NEXT_STEP:
            begin(&a.g, r)
            resume(a, i)
        return
    if r.phase == IN_CHOICE:
        pick(a, i, action)
        return
    r.acted = r.s.turn & 1      # a row is stepped only in a turn that the caller plays
    if a.out.acted is not NULL:
        a.out.acted[i] = r.acted
    if not (0 <= action < a.g.battle_actions
            and state_is_legal(&r.s, table_of(r), <int>action)):
        if a.g.illegal == LOSE:
            finish(a, i, True)
            resume(a, i)
            return
        action = PASS
    r.length += 1
    if a.g.notes:
        note_action(r, <int>action, r.k.actions == 0)
    known_apply(&r.k, &r.s, table_of(r), <int>action)
    proceed(a, i)


cdef int64_t steps(
    rows_t* a, const int64_t* actions, Py_ssize_t start, Py_ssize_t end, int thread
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t episode, n = 0
    cdef uint8_t where
    clear(&a.out, start, end)
    for i in range(start, end):
        if i + CARDS_AHEAD < end:
            fetch_cards(&a.rows[i + CARDS_AHEAD], actions[i + CARDS_AHEAD],
                        a.g.layout == GYM_LOCM)
        episode = a.rows[i].serial
        where = a.rows[i].where
        advance(a, i, actions[i])
        while (a.rows[i].waits == SEARCH and search(a, i, thread)
               or a.rows[i].waits == BATTLES and play_battles(a, i, thread)):
            resume(a, i)
        n += a.rows[i].serial != episode or a.rows[i].where != where
        n += <int64_t>(a.rows[i].waits != NOTHING) << 32
    return n
