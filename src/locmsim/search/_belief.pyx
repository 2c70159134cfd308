"""Keep what one player knows about a game: `Knowledge` and `CardPool`, which `Belief` uses."""

cimport cython
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    ATTACK,
    COPIES_PER_CARD,
    MAX_BOARD,
    MAX_CARDS,
    MAX_DECK,
    MAX_HAND,
    MAX_MANA,
    MAX_WEIGHT,
    OCCUPIED,
    POOL_ID,
    ROWS_FIT,
    RULES_15,
    Determinizer,
    Shown,
    State,
    Table,
    append_card,
    card_of_row,
    card_t,
    cards_fault,
    check_battle,
    check_rows,
    complete_unknown,
    entry_with,
    ids_fault,
    original_id,
    owner_of_id,
    player_t,
    rows_fault_t,
    shown_action_t,
    shown_card_t,
    shown_t,
    state_fill_deck,
    state_fill_hand,
    state_show,
    state_t,
    table_t,
    unknown_t,
)
from locmsim._math cimport exp64

__all__ = ["Knowledge", "CardPool", "attractions_of"]

# ---- knowledge -----------------------------------------------------------------------------------

cdef void belief_reset(belief_t* b) noexcept nogil:
    memset(b, 0, sizeof(belief_t))
    b.seat = b.turn = -1


cdef void belief_chose(belief_t* b, int32_t base_id) noexcept nogil:
    cdef int i = 0
    while i < b.n_kinds and b.chosen[i] != base_id:
        i += 1
    if i == MAX_CARDS:
        return
    if i == b.n_kinds:
        b.chosen[i] = base_id
        b.copies[i] = 0
        b.n_kinds += 1
    b.copies[i] += 1
    b.n_chosen += 1


cdef void note(belief_t* b, int whose, int32_t id, int32_t base_id) noexcept nogil:
    """Record a card that was seen."""
    cdef int i = 0
    id = original_id(b.rules, id)
    while i < b.n_seen[whose] and b.seen_id[whose][i] != id:
        i += 1
    if i == MAX_CARDS:
        return
    b.seen_id[whose][i] = id
    b.seen[whose][i] = base_id
    if i == b.n_seen[whose]:
        b.n_seen[whose] += 1


cdef int find_seat(const belief_t* b, const shown_t* o) noexcept nogil:
    """Tell the players apart by their instance ids (section 1)."""
    cdef int who
    for who in range(2):
        if b.n_seen[who]:
            return owner_of_id(b.rules, b.seen_id[who][0]) ^ who
    # Without any card, mana decides: in the second player's turn both usually have the same, in the
    # first player's turn that player is one ahead.
    return o.player[0].max_mana == o.player[1].max_mana


cdef int own_turns(const belief_t* b, const shown_t* o) noexcept nogil:
    """Return the player's earlier turns, which player 0's mana counts up to its limit."""
    cdef int first = o.player[b.seat].max_mana
    cdef int least = MAX_MANA - 1
    if first < MAX_MANA:
        return first - 1
    if b.seat == 0 and o.player[1].max_mana > MAX_MANA:
        least += 1
    return max(least, b.turn + 1)


cdef void belief_see(belief_t* b, const shown_t* o) noexcept nogil:
    cdef int i
    b.rules = o.rules
    for i in range(o.n_cards):
        note(b, o.cards[i].location == -1, o.cards[i].id, o.cards[i].base_id)
    for i in range(o.n_actions):
        note(b, 1, o.actions[i].id, o.actions[i].base_id)
    if b.seat < 0:
        b.seat = find_seat(b, o)
    b.turn = own_turns(b, o)


# ---- how likely cards are ------------------------------------------------------------------------

cdef bint add_seen_card(seen_cards_t* seen, const shown_card_t* row) noexcept nogil:
    cdef shown_card_t* old
    cdef int i = 0
    while i < seen.n and seen.row[i].base_id != row.base_id:
        i += 1
    if i == seen.n:
        if i < MAX_CARDS:
            seen.row[i] = row[0]
            seen.n = i + 1
        return True
    # A card in hand shows its printed values; on a board they may all have changed, except the base
    # id.
    old = &seen.row[i]
    if row.location != 0 or (
        old.location == 0 and old.type == row.type and old.cost == row.cost
        and old.attack == row.attack and old.defense == row.defense
        and old.keywords == row.keywords and old.my_health == row.my_health
        and old.opponent_health == row.opponent_health and old.draw == row.draw
        and old.area == row.area
    ):
        return False
    old[0] = row[0]
    return True


cdef void attractions(
    const double* scores, const uint8_t* copies, int n, double temperature, double per_copy,
    double* weights
) noexcept nogil:
    cdef double best = 0, most = 0, x
    # Any card may be chosen, so weights stay above 0, whatever the unit of the scores.
    cdef double least = -50.0
    cdef int i
    for i in range(n):
        if i == 0 or scores[i] > best:
            best = scores[i]
    for i in range(n):
        x = (scores[i] - best) / temperature
        weights[i] = exp64(x if x > least else least)
        if copies is not NULL:
            weights[i] += per_copy * copies[i]
        most = max(most, weights[i])
    for i in range(n):
        weights[i] /= most


cdef void pool_of_table(
    pool_t* pool, const table_t* t, const uint8_t* order, int n
) noexcept nogil:
    cdef int i
    pool.t = t
    pool.n = n
    pool.n_triplets = 0
    for i in range(n):
        pool.entry[i] = order[i]


cdef void pool_of_seen(pool_t* pool, table_t* t, const seen_cards_t* seen) noexcept nogil:
    cdef uint8_t order[MAX_CARDS]
    cdef int i, j, entry
    for i in range(seen.n):
        entry = 0
        for j in range(seen.n):
            entry += seen.row[j].base_id < seen.row[i].base_id
        order[i] = <uint8_t>entry
        card_of_row(&t.cards[entry], &seen.row[i], entry)
        t.cards[entry].id = POOL_ID
    t.n_cards = seen.n
    pool_of_table(pool, t, order, seen.n)


cdef void pool_set_weights(
    pool_t* pool, const double* scores, const uint8_t* copies, const prior_t* prior
) noexcept nogil:
    attractions(scores, copies, pool.n, prior.temperature, prior.per_copy, pool.weight)


cdef void pool_offer(
    pool_t* pool, const uint8_t* entries, const double* values, double temperature
) noexcept nogil:
    cdef double different[3]
    cdef int turn = pool.n_triplets, n = 0, i, j
    for i in range(3):
        j = 0
        while j < n and pool.triplet[turn][j] != entries[i]:
            j += 1
        if j == n:
            pool.triplet[turn][n] = entries[i]
            different[n] = values[i]
            n += 1
    attractions(different, NULL, n, temperature, 0, pool.triplet_weight[turn])
    pool.triplet_size[turn] = <uint8_t>n
    pool.n_triplets = turn + 1


# ---- the position --------------------------------------------------------------------------------

cdef bint pool_add(pool_t* pool, table_t* t, const shown_card_t* row) noexcept nogil:
    cdef int i = pool.n
    pool.t = t
    if entry_with(t, row.base_id) >= 0:
        return True
    if i >= <int>MAX_CARDS - <int>MAX_HAND - 2 * <int>MAX_BOARD:
        return False
    card_of_row(&t.cards[i], row, i)
    t.cards[i].id = POOL_ID
    pool.entry[i] = <uint8_t>i
    pool.weight[i] = 1
    pool.n = t.n_cards = i + 1
    return True


cdef void hide(
    const shown_t* o, int seat, const table_t* pool, state_t* s, table_t* t
) noexcept nogil:
    """Add the pool to the table of visible cards, and its first card in all hidden places."""
    cdef int i, first = t.n_cards
    for i in range(pool.n_cards):
        append_card(t, &pool.cards[i], pool.cards[i].id)
    state_fill_deck(s, seat, <uint8_t>first, o.player[0].deck_size)
    state_fill_deck(s, 1 - seat, <uint8_t>first, o.player[1].deck_size)
    state_fill_hand(s, t, 1 - seat, <uint8_t>first, o.opponent_hand)


cdef int move_entry(table_t* known, const table_t* t, int entry, int16_t* moved) noexcept nogil:
    """Return the new entry of a visible card, which is added if it was not seen before."""
    cdef int to = moved[entry]
    if to < 0:
        to = moved[entry] = <int16_t>append_card(known, &t.cards[entry], t.cards[entry].id)
        known.n_instances = to + 1
    return to


cdef bint state_forget(
    const state_t* s, const table_t* t, int who, state_t* seen, table_t* known
) noexcept nogil:
    cdef int16_t moved[MAX_CARDS]       # the new entry of each; -1: none yet
    cdef player_t* p = &seen.p[who]
    cdef uint64_t hand = 0
    cdef int side, i
    memset(moved, 0xFF, sizeof(moved))
    known.rules = t.rules
    known.n_cards = known.n_instances = 0
    seen[0] = s[0]
    memset(seen.deck, 0, sizeof(seen.deck))
    for i in range(p.hand_size):
        hand |= <uint64_t>move_entry(known, t, p.hand >> 8 * i & 255, moved) << 8 * i
    p.hand = hand
    for side in range(2):
        p = &seen.p[side]
        p.deck_left = 0
        for i in range(MAX_BOARD):
            if p.marks >> OCCUPIED >> i & 1:
                p.board[i].card = <uint8_t>move_entry(known, t, p.board[i].card, moved)
    p = &seen.p[1 - who]
    p.hand = p.cost_kinds = 0
    p.hand_size = 0
    for i in range(known.n_cards):
        if known.cards[i].id == POOL_ID:
            return False
    return True


cdef rows_fault_t belief_root(
    const belief_t* b, const shown_t* o, const table_t* pool, state_t* s, table_t* t
) noexcept nogil:
    cdef int seat = b.seat if b.seat > 0 else 0
    cdef int mine = o.player[0].max_mana, theirs = o.player[1].max_mana
    cdef int i, entry, mana, lost = 0
    cdef const shown_action_t* a
    cdef rows_fault_t fault = state_show(s, t, o, seat, pool)
    if fault != ROWS_FIT:
        return fault
    s.turn = 2 * b.turn + seat
    # With the bonus, the second player's mana is a turn ahead, up to its limit.
    s.p[seat].bonus = seat == 1 and mine == min(<int>MAX_MANA + 1, b.turn + 2)
    s.p[1 - seat].bonus = seat == 0 and theirs == min(<int>MAX_MANA + 1, b.turn + 1)
    # The mana that the opponent had left: the bonus is lost after a turn that ends with 0. In 1.5,
    # also the health that the opponent's own cards cost them, which counts towards the next draw:
    # each card is assumed to have had its effect once. No generated card harms its player.
    mana = theirs
    for i in range(o.n_actions):
        a = &o.actions[i]
        entry = -1 if a.kind == ATTACK or pool is NULL else entry_with(pool, a.base_id)
        if entry >= 0:
            mana -= pool.cards[entry].cost
            if t.rules == RULES_15 and pool.cards[entry].my_health < 0:
                lost -= pool.cards[entry].my_health
    s.p[1 - seat].mana = <uint8_t>(mana if mana > 0 else 0)
    lost = min(lost, 5 * o.player[1].draw + 4)
    s.p[seat].next_draw = 1
    s.p[1 - seat].lost = lost
    s.p[1 - seat].next_draw = o.player[1].draw - lost // 5
    if pool is not NULL:
        hide(o, seat, pool, s, t)
    return ROWS_FIT


# ---- hidden cards --------------------------------------------------------------------------------

cdef void add_candidate(
    unknown_t* u, int who, int group, int entry, double weight, double scale
) noexcept nogil:
    cdef int i = u.n[who]
    cdef uint32_t scaled = <uint32_t>(weight * scale)
    u.entry[who][i] = <uint8_t>entry
    u.group[who][i] = <uint8_t>group
    u.weight[who][i] = scaled if scaled > 1 else 1
    u.n[who] = i + 1


cdef void likely(
    const belief_t* b, int whose, const pool_t* pool, int places, int first, unknown_t* u, int who
) noexcept nogil:
    """List two copies of each card minus those seen; more if that is too few for the places."""
    cdef int left[MAX_CARDS]            # of the entries of the pool's table
    cdef int i, j, entry, group = 0, missing = places - COPIES_PER_CARD * pool.n, more = 0
    cdef double most = 0, scale
    memset(left, 0, sizeof(left))
    for i in range(pool.n):
        left[pool.entry[i]] = COPIES_PER_CARD
    for j in range(b.n_seen[whose]):
        entry = entry_with(pool.t, b.seen[whose][j])
        if entry >= 0 and left[entry] > 0:
            left[entry] -= 1
            missing += 1
    if missing > 0:
        more = (missing + pool.n - 1) // pool.n
    for i in range(pool.n):
        left[pool.entry[i]] += more
        if left[pool.entry[i]] and pool.weight[i] > most:
            most = pool.weight[i]
    scale = <double>MAX_WEIGHT / most if most > 0 else 0
    for i in range(pool.n):
        if left[pool.entry[i]]:
            u.copies[who][group] = <uint8_t>left[pool.entry[i]]
            add_candidate(u, who, group, first + pool.entry[i], pool.weight[i], scale)
            group += 1


cdef bint list_own_deck(
    const belief_t* b, const pool_t* pool, int places, int first, unknown_t* u, int who
) noexcept nogil:
    """List the chosen cards that were not seen yet; False if they do not fit the player's deck."""
    cdef int left[MAX_CARDS]
    cdef int i, j, group = 0, total = 0
    if b.n_chosen != MAX_DECK:
        return False
    for i in range(b.n_kinds):
        left[i] = b.copies[i]
    for j in range(b.n_seen[0]):
        for i in range(b.n_kinds):
            if b.chosen[i] == b.seen[0][j] and left[i] > 0:
                left[i] -= 1
    for i in range(b.n_kinds):
        total += left[i]
        if left[i] and entry_with(pool.t, b.chosen[i]) < 0:
            return False
    if total != places:
        return False
    for i in range(b.n_kinds):
        if left[i]:
            u.copies[who][group] = <uint8_t>left[i]
            add_candidate(
                u, who, group, first + entry_with(pool.t, b.chosen[i]), 1.0, MAX_WEIGHT)
            group += 1
    return True


cdef bint offers(const pool_t* pool, int turn, int entry) noexcept nogil:
    """Return whether a draft turn offered a card."""
    cdef int i
    for i in range(pool.triplet_size[turn]):
        if pool.triplet[turn][i] == entry:
            return True
    return False


cdef bint assign(
    const pool_t* pool, const int* entries, int i, int* owner, bint* tried
) noexcept nogil:
    """Match a card to a draft turn that offered it, moving others if necessary."""
    cdef int turn
    for turn in range(pool.n_triplets):
        if not tried[turn] and offers(pool, turn, entries[i]):
            tried[turn] = True
            if owner[turn] < 0 or assign(pool, entries, owner[turn], owner, tried):
                owner[turn] = i
                return True
    return False


cdef int match_offers(const pool_t* pool, const int* entries, int n, int* owner) noexcept nogil:
    """Match as many cards as possible to draft turns that offered them (augmenting paths).

    Fills in the card that each turn gives, or -1. Returns the first card that no turn is left for,
    -1 if there is none.
    """
    cdef bint tried[MAX_DECK]
    cdef int i, missing = -1
    for i in range(pool.n_triplets):
        owner[i] = -1
    for i in range(n):
        memset(tried, 0, sizeof(tried))
        if not assign(pool, entries, i, owner, tried) and missing < 0:
            missing = i
    return missing


cdef bint their_picks(
    const belief_t* b, const pool_t* pool, int places, int first, unknown_t* u, int who
) noexcept nogil:
    """Find the draft turns that the cards seen need not have come from.

    False if too few turns are left.
    """
    cdef int entries[MAX_CARDS]
    cdef int owner[MAX_DECK]
    cdef int turn, i, group = 0, n_open = 0
    cdef double most = 0
    for i in range(b.n_seen[1]):
        entries[i] = entry_with(pool.t, b.seen[1][i])
    match_offers(pool, entries, b.n_seen[1], owner)
    for turn in range(pool.n_triplets):
        if owner[turn] < 0:
            n_open += 1
            for i in range(pool.triplet_size[turn]):
                most = max(most, pool.triplet_weight[turn][i])
    if n_open < places:
        return False
    for turn in range(pool.n_triplets):
        if owner[turn] < 0:
            u.copies[who][group] = 1
            for i in range(pool.triplet_size[turn]):
                add_candidate(
                    u, who, group, first + pool.triplet[turn][i], pool.triplet_weight[turn][i],
                    <double>MAX_WEIGHT / most)
            group += 1
    return True


cdef void belief_unknown(
    const belief_t* b, const shown_t* o, const pool_t* pool, int first, unknown_t* u
) noexcept nogil:
    cdef int seat = b.seat if b.seat > 0 else 0
    cdef int mine = o.player[0].deck_size
    cdef int theirs = o.opponent_hand + o.player[1].deck_size
    memset(u, 0, sizeof(unknown_t))
    u.viewer = seat
    if not list_own_deck(b, pool, mine, first, u, seat):
        likely(b, 0, pool, mine, first, u, seat)
    if not (pool.n_triplets and their_picks(b, pool, theirs, first, u, 1 - seat)):
        likely(b, 1, pool, theirs, first, u, 1 - seat)
    complete_unknown(u, mine, theirs)


# ---- for Python ----------------------------------------------------------------------------------

cdef int check_count(str name, int value, int most) except -1:
    if not 0 <= value <= most:
        raise ValueError(f"{name}: expected 0 to {most}, got {value}")
    return 0


@cython.final
cdef class CardPool:
    """Holds the cards that a game may have, in a fixed order, and how likely opponents choose them.

    `table` has these cards and no instances, and `cards`, if given, their order; otherwise it is
    that of the table. Pools of the same cards in the same order are equal, whatever their weights.
    """

    def __cinit__(self, Table table not None, cards=None):
        cdef uint8_t order[MAX_CARDS]
        cdef int i
        self.table = table
        if cards is None:
            for i in range(table.t.n_cards):
                order[i] = <uint8_t>i
        else:
            for i, card in enumerate(cards):
                order[i] = self.entry(card)
        pool_of_table(&self.p, &table.t, order, table.t.n_cards)
        self.content = table.pack() + (<char*>order)[:table.t.n_cards]

    @staticmethod
    def of_state(State state not None):
        """Return the pool of a state; None if it is empty or would tell both decks."""
        cdef Table table = Table.__new__(Table)
        if state.table.of_decks:
            return None
        table.t.rules = state.table.t.rules
        table.complete_with_pool(state.table)
        return CardPool(table) if table.t.n_cards else None

    def __reduce__(self):
        """Pickle without the weights."""
        return CardPool, (self.table, self.cards)

    def __hash__(self):
        return hash(self.content)

    def __eq__(self, other):
        return isinstance(other, CardPool) and self.content == (<CardPool>other).content

    @property
    def cards(self):
        """The cards in their order, a new list."""
        return [self.table.card(self.p.entry[i]) for i in range(self.p.n)]

    cdef int entry(self, card) except -1:
        """Return the entry of a card."""
        cdef int i
        if self.entries is None:
            self.entries = {self.table.card(i): i for i in range(self.table.t.n_cards)}
        return self.entries[card]

    def weigh(self, scores, copies, temperature, per_copy, offers=()):
        """Return the pool with weights: see `attractions_of`.

        `offers` are those of a complete draft, each with three cards, their values, and the
        temperature of these.
        """
        cdef CardPool pool = CardPool(self.table)
        cdef prior_t prior
        cdef double values[MAX_CARDS]
        cdef uint8_t counts[MAX_CARDS]
        cdef uint8_t entries[3]
        cdef int i
        prior.temperature = temperature
        prior.draft_temperature = 0
        prior.per_copy = per_copy
        pool.p = self.p
        pool.content = self.content
        for i in range(self.p.n):
            values[i] = scores[i]
            counts[i] = 0 if copies is None else copies[i]
        pool_set_weights(&pool.p, values, counts, &prior)
        for cards, worth, warmth in offers:
            if pool.p.n_triplets == MAX_DECK or not len(cards) == len(worth) == 3:
                raise ValueError(f"expected {MAX_DECK} offers of three cards")
            for i in range(3):
                entries[i] = self.entry(cards[i])
                values[i] = worth[i]
            pool_offer(&pool.p, entries, values, warmth)
        pool.weighted = True
        return pool


@cython.final
cdef class Knowledge:
    """Keeps what one player knows; `Belief` adds the cards that may be in the game."""

    def __cinit__(self):
        belief_reset(&self.b)

    def __reduce__(self):
        """Pickle without the pool, which is rebuilt."""
        return _knowledge, (
            (<char*>&self.b)[:sizeof(belief_t)], (<char*>&self.shown)[:sizeof(shown_t)],
            (<char*>self.cards_seen.row)[:self.cards_seen.n * sizeof(shown_card_t)], self.position)

    def clone(self):
        """Return an independent copy, with the pool and its weights."""
        cdef Knowledge copy = Knowledge()
        copy.b = self.b
        copy.shown = self.shown
        copy.position = self.position   # this and the pool are never changed
        copy.pool = self.pool
        copy.cards_seen = self.cards_seen
        return copy

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()

    @property
    def seat(self):
        """Return the player, 0 or 1; None while it is unknown."""
        return None if self.b.seat < 0 else self.b.seat

    @seat.setter
    def seat(self, seat):
        self.b.seat = seat

    @property
    def opponent_cards(self):
        """Return the base ids of the opponent's cards that were seen."""
        return [self.b.seen[1][i] for i in range(self.b.n_seen[1])]

    @property
    def played_cards(self):
        """Return the base ids of the player's cards that were seen and are not in their hand."""
        cdef int i, k
        cdef list found = []
        for i in range(self.b.n_seen[0]):
            for k in range(self.shown.n_cards):
                if self.shown.cards[k].location == 0 and (
                        self.shown.cards[k].id == self.b.seen_id[0][i]):
                    break
            else:
                found.append(self.b.seen[0][i])
        return found

    def seen_cards(self):
        """Return the cards of both players that were seen, as far as their rows told."""
        cdef Table table = Table.__new__(Table)
        cdef pool_t pool
        cdef int i
        table.t.rules = self.b.rules
        pool_of_seen(&pool, &table.t, &self.cards_seen)
        return [table.card(pool.entry[i]) for i in range(pool.n)]

    def chose(self, base_id):
        """Record that the player chose a card."""
        belief_chose(&self.b, base_id)

    def see(self, Shown observation not None):
        """Add an `Observation` of the battle; ``ValueError`` for an impossible one.

        Returns whether it tells something new about a card.
        """
        cdef bint news = False
        cdef int i
        check_battle(&observation.o)
        self.shown = observation.o
        self.position = None
        belief_see(&self.b, &self.shown)
        for i in range(self.shown.n_cards):
            news |= add_seen_card(&self.cards_seen, &self.shown.cards[i])
        return news

    def see_state(self, State state not None, int player, Shown observation not None):
        """Add a position and what a player sees of it, as `see` does."""
        cdef State position = State.__new__(State)
        position.table = Table.__new__(Table)
        check_battle(&observation.o)
        if not state_forget(
                &state.s, &state.table.t, player, &position.s, &position.table.t):
            raise ValueError("a visible card has no instance id: this is a sampled world")
        self.b.seat = player
        self.see(observation)
        self.b.turn = (state.s.turn + 2 - player) // 2 - 1
        self.position = position

    def use(self, CardPool pool):
        """Set the cards that may be in the game; None: not known yet."""
        self.pool = pool

    def undrafted(self, base_ids):
        """Return the first of cards that the opponent cannot have drafted with those seen.

        None if all can have been, or if not all offers are known.
        """
        cdef int entries[MAX_CARDS]
        cdef int owner[MAX_DECK]
        cdef list cards = (self.opponent_cards + list(base_ids))[:MAX_CARDS]
        cdef int i
        if self.pool is None or not self.pool.p.n_triplets:
            return None
        for i, base_id in enumerate(cards):
            entries[i] = entry_with(&self.pool.table.t, base_id)
        i = match_offers(&self.pool.p, entries, <int>len(cards), owner)
        return None if i < 0 else cards[i]

    def root(self):
        """Return the position of the last observation, with arbitrary cards in the hidden places.

        ``ValueError`` if it is impossible.
        """
        cdef State state = State.__new__(State)
        state.table = Table.__new__(Table)
        self.fill_root(&state.s, &state.table.t)
        return state

    cdef int fill_root(self, state_t* s, table_t* t) except -1:
        """Write `root` into a state and a table, whatever they held before."""
        cdef const table_t* pool = &self.pool.table.t
        cdef const table_t* visible
        cdef const shown_t* o = &self.shown
        cdef const char* wrong
        check_count("me.deck_size", o.player[0].deck_size, MAX_DECK)
        check_count("opponent.deck_size", o.player[1].deck_size, MAX_DECK)
        check_count("opponent_hand", o.opponent_hand, MAX_HAND)
        if o.n_cards + pool.n_cards > MAX_CARDS:
            raise ValueError(f"more than {MAX_CARDS} cards in one game, hidden ones included")
        t.rules = self.b.rules
        t.n_cards = 0
        t.n_instances = 0
        if self.position is not None:
            visible = &self.position.table.t
            s[0] = self.position.s
            memcpy(t.cards, visible.cards, visible.n_cards * sizeof(card_t))
            t.n_cards = t.n_instances = visible.n_cards
            hide(o, self.b.seat, pool, s, t)
            return 0
        check_rows(belief_root(&self.b, o, pool, s, t), o)
        wrong = cards_fault(t, t.n_instances)
        if wrong is NULL:
            wrong = ids_fault(s, t)
        if wrong is not NULL:
            raise ValueError(f"cards: {wrong.decode()}")
        return 0

    def determinizer(self):
        """Return a sampler of the cards in the hidden places of that position."""
        cdef State state = self.root()
        cdef Determinizer worlds = Determinizer(state, self.b.seat, None)
        with nogil:
            belief_unknown(
                &self.b, &self.shown, &self.pool.p, state.table.t.n_instances, &worlds.u)
        return worlds


def _knowledge(
    bytes belief not None, bytes shown not None, bytes seen not None, State position
):
    """Restore what `Knowledge.__reduce__` returned."""
    cdef Knowledge knowledge = Knowledge()
    if len(belief) != sizeof(belief_t) or len(shown) != sizeof(shown_t) or (
            len(seen) % sizeof(shown_card_t)
            or len(seen) > <Py_ssize_t>sizeof(knowledge.cards_seen.row)):
        raise ValueError("the knowledge was stored by another version")
    memcpy(&knowledge.b, <const char*>belief, sizeof(belief_t))
    memcpy(&knowledge.shown, <const char*>shown, sizeof(shown_t))
    memcpy(knowledge.cards_seen.row, <const char*>seen, len(seen))
    knowledge.cards_seen.n = <int32_t>(len(seen) // sizeof(shown_card_t))
    knowledge.position = position
    return knowledge


def attractions_of(scores, copies, temperature, per_copy):
    """Return how likely each card is to be chosen by anyone, relative to the likeliest.

    A card is exp(score / `temperature`) times as likely as one of score 0; each of its `copies` in
    our deck (None: no deck) adds `per_copy`.
    """
    cdef Py_ssize_t n = len(scores)
    cdef double values[MAX_CARDS]
    cdef double weights[MAX_CARDS]
    cdef uint8_t counts[MAX_CARDS]
    cdef int i
    if not 0 < n <= MAX_CARDS:
        raise ValueError(f"expected 1 to {MAX_CARDS} cards, got {n}")
    for i in range(<int>n):
        values[i] = scores[i]
        counts[i] = 0 if copies is None else copies[i]
    attractions(values, counts, <int>n, temperature, per_copy, weights)
    return [weights[i] for i in range(<int>n)]
