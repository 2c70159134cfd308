# The rules of the match and playouts, without the GIL. Part of _core.pyx, which includes it.

from libc.string cimport memcpy, memmove


# ---- the deck, the hands, the boards -------------------------------------------------------------

cdef void state_start(state_t* s, const table_t* t) noexcept nogil:
    s.health[0] = s.health[1] = t.init_hp
    s.mana = 0
    s.draws = t.draws
    s.burns = t.burns
    s.turn = 1
    s.deck_pos = 0
    s.n_hand[0] = s.n_hand[1] = 0
    s.n_board[0] = s.n_board[1] = 0
    s.phase = BLOCKING
    s.over = 0
    s._pad = 0


cdef void state_copy(state_t* to, const state_t* s, const table_t* t) noexcept nogil:
    memcpy(to, s, used_size(s, t))


cdef int state_score(const state_t* s, const table_t* t, int p) noexcept nogil:
    cdef int mine = s.health[p], theirs = s.health[1 - p]
    if theirs == 0:
        return mine + 3 * t.init_hp
    if mine == 0:
        return -theirs
    return mine - theirs + t.init_hp // 2 * 3


cdef int hand_place(const state_t* s, const table_t* t, int p, int card) noexcept nogil:
    cdef const uint16_t* hand = hand_of(s, t, p)
    cdef int h
    for h in range(s.n_hand[p]):
        if hand[h] == card:
            return h
    return -1


cdef inline int place_on(const state_t* s, const table_t* t, int p, int card) noexcept nogil:
    """Return the place of a creature of player p on the boards, or -1."""
    cdef const creature_t* board = board_of(s, t)
    cdef int start = s.n_board[0] if p else 0
    cdef int i
    for i in range(start, start + s.n_board[p]):
        if board[i].card == card:
            return i
    return -1


cdef int place_of(const state_t* s, const table_t* t, int card) noexcept nogil:
    cdef const creature_t* board = board_of(s, t)
    cdef int i
    for i in range(s.n_board[0] + s.n_board[1]):
        if board[i].card == card:
            return i
    return -1


cdef inline void remove_creature(state_t* s, const table_t* t, int place) noexcept nogil:
    cdef creature_t* board = board_of(s, t)
    cdef int after = s.n_board[0] + s.n_board[1] - place - 1
    s.n_board[place >= s.n_board[0]] -= 1
    memmove(board + place, board + place + 1, after * sizeof(creature_t))


cdef inline void insert_creature(state_t* s, const table_t* t, int p, int card) noexcept nogil:
    cdef creature_t* board = board_of(s, t)
    cdef int total = s.n_board[0] + s.n_board[1]
    cdef int start = s.n_board[0] if p else 0
    cdef int place = start + s.n_board[p]
    cdef const card_t* c = &t.cards[card]
    while place > start and board[place - 1].card > card:
        place -= 1
    memmove(board + place + 1, board + place, (total - place) * sizeof(creature_t))
    board[place].card = card
    board[place].flags = 0
    board[place].attack = c.attack
    board[place].health = c.health
    board[place].max_health = c.max_health
    s.n_board[p] += 1


cdef inline void remove_from_hand(state_t* s, const table_t* t, int p, int h) noexcept nogil:
    cdef uint16_t* hand = hand_of(s, t, p)
    cdef int i
    s.n_hand[p] -= 1
    for i in range(h, s.n_hand[p]):
        hand[i] = hand[i + 1]


# ---- what players do (sections 3 to 5) -----------------------------------------------------------

cdef void finish_block(state_t* s, const table_t* t) noexcept nogil:
    cdef int me = mover_of(s)
    cdef creature_t* own = side_of(s, t, me)
    cdef creature_t* enemy = side_of(s, t, 1 - me)
    cdef int damage = 0
    cdef int i
    for i in range(s.n_board[1 - me]):
        if enemy[i].flags & (ATTACKING | BLOCKED) == ATTACKING:
            damage += enemy[i].attack
        enemy[i].flags &= ACTIVE
    for i in range(s.n_board[me]):
        own[i].flags = ACTIVE
    s.phase = ACTION
    s.health[me] -= damage
    if s.health[me] <= 0:
        s.health[me] = 0
        s.over = 1


cdef void end_turn(state_t* s, const table_t* t) noexcept nogil:
    if s.phase == BLOCKING:
        finish_block(s, t)
        if s.over:
            return
    if s.turn >= t.turns:
        s.over = 1
        return
    s.turn += 1
    s.mana = 0
    s.draws = t.draws
    s.burns = t.burns
    s.phase = BLOCKING


cdef void fight(state_t* s, const table_t* t, int p_enemy, int p_own) noexcept nogil:
    cdef creature_t* board = board_of(s, t)
    cdef creature_t* enemy = board + p_enemy
    cdef creature_t* own = board + p_own
    enemy.health -= own.attack
    own.health -= enemy.attack
    enemy.flags |= BLOCKED
    own.flags = 0
    cdef bint enemy_dead = enemy.health <= 0
    cdef bint own_dead = own.health <= 0
    # The later one first: the first removal must not move the other card.
    if p_enemy > p_own:
        if enemy_dead:
            remove_creature(s, t, p_enemy)
        if own_dead:
            remove_creature(s, t, p_own)
    else:
        if own_dead:
            remove_creature(s, t, p_own)
        if enemy_dead:
            remove_creature(s, t, p_enemy)


cdef void draw_card(state_t* s, const table_t* t) noexcept nogil:
    cdef int me = mover_of(s)
    cdef int card = t.order[s.deck_pos]
    cdef uint16_t* hand = hand_of(s, t, me)
    cdef int h = s.n_hand[me]
    while h and hand[h - 1] > card:
        hand[h] = hand[h - 1]
        h -= 1
    hand[h] = card
    s.n_hand[me] += 1
    s.deck_pos += 1
    s.draws -= 1


cdef void burn_card(state_t* s) noexcept nogil:
    s.deck_pos += 1
    s.burns -= 1


cdef void discard_card(state_t* s, const table_t* t, int h) noexcept nogil:
    remove_from_hand(s, t, mover_of(s), h)


cdef void tap(state_t* s, const table_t* t, int place) noexcept nogil:
    cdef creature_t* creature = board_of(s, t) + place
    creature.flags = 0
    s.mana += t.cards[creature.card].mana


cdef void attack_with(state_t* s, const table_t* t, int place) noexcept nogil:
    board_of(s, t)[place].flags = ATTACKING


cdef inline void change_health(state_t* s, const table_t* t, int p, int change) noexcept nogil:
    """Heal (up to the initial health) or hurt a player; at 0 the match is over."""
    cdef int health = s.health[p] + change
    if health > t.init_hp:
        health = t.init_hp
    if health <= 0:
        health = 0
        s.over = 1
    s.health[p] = health


cdef void play_card(state_t* s, const table_t* t, int h, int target) noexcept nogil:
    cdef int me = mover_of(s)
    cdef int card = hand_of(s, t, me)[h]
    cdef const card_t* c = &t.cards[card]
    cdef creature_t* creature = board_of(s, t) + target
    remove_from_hand(s, t, me, h)
    s.mana -= c.cost
    if c.type == CREATURE:
        insert_creature(s, t, me, card)
    elif c.type == HEAL:
        if target < 0:
            change_health(s, t, me if target == -5 else 1 - me, c.health)
        else:
            creature.health += c.health
            if creature.health > creature.max_health:
                creature.health = creature.max_health
    elif c.type == DAMAGE:
        if target < 0:
            change_health(s, t, me if target == -5 else 1 - me, -c.attack)
        else:
            creature.health -= c.attack
            if creature.health <= 0:
                remove_creature(s, t, target)
    elif c.type == TAKE:
        s.draws += c.attack
    elif c.type == BUFF:
        creature.attack += c.attack
        creature.health += c.health
        creature.max_health += c.health
    else:
        creature.flags &= ~ACTIVE


# ---- commands and actions (sections 6 and 7) -----------------------------------------------------

cdef int refusal(const state_t* s, const table_t* t, int kind, int a, int b) noexcept nogil:
    """Return why the mover may not do this, as the number of an error; 0 if they may.

    `a` and `b` are indices of cards or -1 for an unknown ID; `b` of PLAY is a target.
    """
    cdef int me = mover_of(s)
    cdef int place
    cdef int type
    if kind == END_TURN:
        return 0
    if kind == FINISH_BLOCK or kind == BLOCK:
        if s.phase == ACTION:
            return 911
        if kind == FINISH_BLOCK:
            return 0
        if a < 0:
            return 900
        place = place_on(s, t, 1 - me, a)
        if place < 0 or not board_of(s, t)[place].flags & ATTACKING:
            return 910
        if b < 0:
            return 900
        place = place_on(s, t, me, b)
        if place < 0:
            return 903 if held(s, t, 1 - me, b) else 912
        return 0 if board_of(s, t)[place].flags & ACTIVE else 905
    if kind == DRAW or kind == BURN:
        if s.deck_pos >= t.n:
            return 918
        if kind == BURN:
            return 0 if s.burns else 908
        if not s.draws:
            return 907
        return 919 if s.n_hand[me] >= t.hand_limit else 0
    if a < 0:
        return 900
    if kind == ADD_MANA or kind == ATTACK:
        place = place_on(s, t, me, a)
        if place < 0:
            return 903 if held(s, t, 1 - me, a) else 912
        # At the end of the blocking phase all creatures become active.
        return 0 if s.phase == BLOCKING or board_of(s, t)[place].flags & ACTIVE else 905
    if hand_place(s, t, me, a) < 0:
        return 903 if held(s, t, 1 - me, a) else 906
    if kind == DISCARD:
        return 0
    if t.cards[a].cost > s.mana:
        return 901
    type = t.cards[a].type
    if type == CREATURE:
        return 0 if b == t.n + TO_NOTHING else 915
    if type == TAKE:
        return 0 if b == t.n + TO_MOVER else 915
    if b == t.n + TO_UNKNOWN:
        return 900
    if b >= t.n + TO_NOTHING:
        return 915
    if b >= t.n:
        return 0 if type == HEAL or type == DAMAGE else 915
    return 0 if place_of(s, t, b) >= 0 else 916


cdef bint held(const state_t* s, const table_t* t, int p, int card) noexcept nogil:
    """Return whether the card is in the hand or on the board of player p."""
    return hand_place(s, t, p, card) >= 0 or place_on(s, t, p, card) >= 0


cdef void perform(state_t* s, const table_t* t, int kind, int a, int b) noexcept nogil:
    """Do what `refusal` allows; in the action phase except for END_TURN, BLOCK and FINISH_BLOCK."""
    cdef int me = mover_of(s)
    if kind == END_TURN:
        end_turn(s, t)
    elif kind == FINISH_BLOCK:
        finish_block(s, t)
    elif kind == DRAW:
        draw_card(s, t)
    elif kind == BURN:
        burn_card(s)
    elif kind == DISCARD:
        discard_card(s, t, hand_place(s, t, me, a))
    elif kind == ADD_MANA:
        tap(s, t, place_on(s, t, me, a))
    elif kind == ATTACK:
        attack_with(s, t, place_on(s, t, me, a))
    elif kind == PLAY:
        if b < t.n:
            b = place_of(s, t, b)
        elif b == t.n + TO_NOTHING:
            b = -1
        else:
            b = -5 if b == t.n + TO_MOVER else -6
        play_card(s, t, hand_place(s, t, me, a), b)
    else:
        fight(s, t, place_on(s, t, 1 - me, a), place_on(s, t, me, b))


cdef int state_command(state_t* s, const table_t* t, int kind, int a, int b) noexcept nogil:
    cdef int code = refusal(s, t, kind, a, b)
    if code:
        return code
    if s.phase == BLOCKING and DRAW <= kind <= PLAY:
        finish_block(s, t)
        if s.over:
            return 932
    perform(s, t, kind, a, b)
    return 0


cdef int action_of(const table_t* t, int kind, int a, int b) noexcept nogil:
    if kind < DISCARD:
        return kind
    if kind < PLAY:
        return DISCARD + (kind - DISCARD) * t.n + a
    if kind == PLAY:
        return t.first_play + (t.n + 3) * a + b
    return t.first_block + t.n * a + b


cdef inline int decode(const table_t* t, int action, int* a, int* b) noexcept nogil:
    """Decode an action number into its kind and arguments."""
    cdef uint32_t rest
    a[0] = b[0] = 0
    if action < DISCARD:
        return action
    if action < t.first_play:
        rest = action - DISCARD
        if rest < <uint32_t>t.n:
            a[0] = rest
            return DISCARD
        rest -= t.n
        if rest < <uint32_t>t.n:
            a[0] = rest
            return ADD_MANA
        a[0] = rest - t.n
        return ATTACK
    if action < t.first_block:
        rest = action - t.first_play
        a[0] = rest // <uint32_t>(t.n + 3)
        b[0] = rest - a[0] * (t.n + 3)
        return PLAY
    rest = action - t.first_block
    a[0] = rest // <uint32_t>t.n
    b[0] = rest - a[0] * t.n
    return BLOCK


cdef int state_bound(const state_t* s, const table_t* t) noexcept nogil:
    cdef int me = mover_of(s)
    if s.phase == BLOCKING:
        return 2 + s.n_board[0] * s.n_board[1]
    return 3 + 2 * s.n_board[me] + s.n_hand[me] * (s.n_board[0] + s.n_board[1] + 3)


cdef int list_blocks(const state_t* s, const table_t* t, int32_t* out) noexcept nogil:
    cdef int me = mover_of(s)
    cdef const creature_t* own = side_of(s, t, me)
    cdef const creature_t* enemy = side_of(s, t, 1 - me)
    cdef int n = 2
    cdef int i, j, first
    out[0] = END_TURN
    out[1] = FINISH_BLOCK
    for i in range(s.n_board[1 - me]):
        if not enemy[i].flags & ATTACKING:
            continue
        first = t.first_block + t.n * enemy[i].card
        for j in range(s.n_board[me]):
            out[n] = first + own[j].card
            n += own[j].flags & ACTIVE      # ACTIVE is 1
    return n


cdef int list_plays(const state_t* s, const table_t* t, int32_t* out) noexcept nogil:
    cdef int me = mover_of(s)
    cdef const uint16_t* hand = hand_of(s, t, me)
    cdef const creature_t* left = board_of(s, t)
    cdef const creature_t* right = left + s.n_board[0]
    cdef const creature_t* end = right + s.n_board[1]
    cdef const creature_t* x
    cdef const creature_t* y
    cdef const card_t* c
    cdef int n = 0
    cdef int h, first
    for h in range(s.n_hand[me]):
        c = &t.cards[hand[h]]
        if c.cost > s.mana:
            continue
        first = t.first_play + (t.n + 3) * hand[h]
        if c.type == CREATURE:
            out[n] = first + t.n + TO_NOTHING
            n += 1
            continue
        if c.type == TAKE:
            out[n] = first + t.n + TO_MOVER
            n += 1
            continue
        # Both boards, merged.
        x, y = left, right
        while x < right and y < end:
            if x.card < y.card:
                out[n] = first + x.card
                x += 1
            else:
                out[n] = first + y.card
                y += 1
            n += 1
        while x < right:
            out[n] = first + x.card
            x += 1
            n += 1
        while y < end:
            out[n] = first + y.card
            y += 1
            n += 1
        if c.type == HEAL or c.type == DAMAGE:
            out[n] = first + t.n + TO_MOVER
            out[n + 1] = first + t.n + TO_OPPONENT
            n += 2
    return n


cdef int state_list(const state_t* s, const table_t* t, int32_t* out) noexcept nogil:
    """Write the legal actions in ascending order; return their number."""
    cdef int me = mover_of(s)
    cdef const uint16_t* hand = hand_of(s, t, me)
    cdef const creature_t* own = side_of(s, t, me)
    cdef int n = 1
    cdef int i, first
    if s.over:
        return 0
    if s.phase == BLOCKING:
        return list_blocks(s, t, out)
    out[0] = END_TURN
    if s.deck_pos < t.n:
        if s.draws and s.n_hand[me] < t.hand_limit:
            out[n] = DRAW
            n += 1
        if s.burns:
            out[n] = BURN
            n += 1
    for i in range(s.n_hand[me]):
        out[n] = DISCARD + hand[i]
        n += 1
    first = n
    for i in range(s.n_board[me]):
        out[n] = DISCARD + t.n + own[i].card
        n += own[i].flags & ACTIVE
    for i in range(first, n):               # a creature that can be tapped can attack
        out[n - first + i] = out[i] + t.n
    n += n - first
    return n + list_plays(s, t, out + n)


cdef bint state_legal(const state_t* s, const table_t* t, int action) noexcept nogil:
    cdef int a, b, kind
    if s.over or action < 0 or action >= t.n_actions:
        return False
    kind = decode(t, action, &a, &b)
    if s.phase == BLOCKING and DRAW <= kind <= PLAY:
        return False
    return refusal(s, t, kind, a, b) == 0


cdef void state_apply(state_t* s, const table_t* t, int action) noexcept nogil:
    cdef int a, b
    cdef int kind = decode(t, action, &a, &b)
    perform(s, t, kind, a, b)


cdef int state_rollout(
        state_t* s, const table_t* t, uint64_t* stream, int32_t* buffer) noexcept nogil:
    """Play uniformly random actions to the end; return player 0's score. See `buffer_size`."""
    cdef int n
    while not s.over:
        n = state_list(s, t, buffer)
        state_apply(s, t, buffer[stream_below(stream, n)])
    return state_score(s, t, 0)


cdef int buffer_size(const table_t* t) noexcept nogil:
    """Return an upper bound for the number of legal actions in any state of the match."""
    cdef int blocks = (t.n // 2 + 1) * (t.n // 2 + 1)
    cdef int hand = min(t.hand_cap, t.n)
    return 8 + max(blocks, 2 * t.n + hand * (t.n + 3))
