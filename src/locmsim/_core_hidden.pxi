# What players see, and what they do not: observations and states made of them, and hidden cards
# drawn anew by _core_draws.pxi. Part of _core.pyx, which includes it.

# ---- observations --------------------------------------------------------------------------------

cdef void see_player(const player_t* p, shown_player_t* line) noexcept nogil:
    cdef int i
    line.health = p.health
    line.max_mana = p.max_mana
    line.deck_size = p.deck_left
    line.draw = p.shown_draw
    line.rune = 0
    for i in range(5):
        if p.runes >> i & 1:
            line.rune = 5 * (i + 1)


cdef void see_card(
    const card_t* c, int location, int lane, shown_card_t* row
) noexcept nogil:
    row.base_id = c.base_id
    row.id = c.id
    row.location = location
    row.type = c.type
    row.cost = c.cost
    row.attack = c.attack
    row.defense = c.defense
    row.keywords = c.keywords
    row.my_health = c.my_health
    row.opponent_health = c.opponent_health
    row.draw = c.draw
    row.area = c.area
    row.lane = lane


cdef void state_seen(const state_t* s, const table_t* t, int who, shown_t* o) noexcept nogil:
    cdef int side, h, bit, lane
    cdef int following[2]
    cdef int areas = ~0 if t.rules == RULES_15 else 0   # elsewhere they are not shown
    cdef const player_t* p = &s.p[who]
    cdef const creature_t* x
    cdef shown_card_t* row
    o.rules = t.rules
    o.opponent_hand = s.p[1 - who].hand_size
    o.n_actions = 0
    for h in range(p.hand_size):
        see_card(hand_card(p, t, h), 0, -1, &o.cards[h])
        o.cards[h].area &= areas
    o.n_cards = p.hand_size
    for side in range(2):
        p = &s.p[who if side == 0 else 1 - who]
        see_player(p, &o.player[side])
        following[0] = 0
        following[1] = 3
        for bit in range(COUNT[marked(p, OCCUPIED)] - 1, -1, -1):
            lane = p.order >> bit & 1           # board order is summon order
            x = &p.board[following[lane]]
            following[lane] += 1
            row = &o.cards[o.n_cards]
            o.n_cards += 1
            see_card(&t.cards[x.card], 1 if side == 0 else -1, 0 if t.rules == RULES_10 else lane,
                     row)
            row.area &= areas
            row.id += x.copy
            row.attack = x.attack
            row.defense = x.defense
            row.keywords = x.keywords
            if x.forgotten:
                row.my_health = row.opponent_health = row.draw = 0


cdef void card_of_row(card_t* c, const shown_card_t* row, int entry) noexcept nogil:
    c.attack = <int16_t>clip(row.attack, MAX_CARD_STAT)
    c.defense = <int16_t>clip(row.defense, MAX_CARD_STAT)
    c.my_health = <int16_t>row.my_health
    c.opponent_health = <int16_t>row.opponent_health
    c.cost = <uint8_t>row.cost
    c.draw = <uint8_t>row.draw
    c.type = <uint8_t>row.type
    c.keywords = <uint8_t>row.keywords
    c.area = <uint8_t>row.area
    c.id = <uint8_t>row.id
    c.base_id = <uint16_t>row.base_id
    complete_card(c, entry)


cdef bint row_has_place(const shown_card_t* row, int places) noexcept nogil:
    """Return whether a row belongs to a battle and its place is free."""
    cdef int most = MAX_STAT if row.location else MAX_CARD_STAT
    return (
        places > 0 and -1 <= row.location <= 1 and 0 <= row.id < POOL_ID
        and 0 <= row.base_id <= MAX_BASE_ID and 0 <= row.type <= BLUE and 0 <= row.cost <= MAX_COST
        and 0 <= row.area <= AREA_LANE2 and 0 <= row.draw <= MAX_CARD_DRAW
        and clip(row.my_health, MAX_CARD_STAT) == row.my_health
        and clip(row.opponent_health, MAX_CARD_STAT) == row.opponent_health
        and clip(row.attack, most) == row.attack and clip(row.defense, most) == row.defense
        and (row.location == 0 or row.type == CREATURE)
    )


cdef int original_entry(const table_t* t, const shown_card_t* row) noexcept nogil:
    """Return the entry of which a creature is the area copy (section 7); -1 for any other one."""
    cdef int i
    if is_copy_id(t.rules, row.id):
        for i in range(t.n_cards):
            if t.cards[i].id == original_id(t.rules, row.id) and (
                    t.cards[i].base_id == row.base_id):
                return i
    return -1


cdef int entry_with(const table_t* t, int32_t base_id) noexcept nogil:
    cdef int i
    for i in range(t.n_cards):
        if t.cards[i].base_id == base_id:
            return i
    return -1


cdef void show_players(
    state_t* s, const table_t* t, const shown_t* o, int who
) noexcept nogil:
    """Fill in the values of the player lines of an observation."""
    cdef player_t* p
    cdef int side
    for side in range(2):
        p = &s.p[who if side == 0 else 1 - who]
        player_start(p, t.rules)
        p.health = o.player[side].health
        p.max_mana = p.mana = <uint8_t>o.player[side].max_mana
        p.shown_draw = o.player[side].draw
        if t.rules != RULES_15:
            p.runes = (1 << min(max(o.player[side].rune, 0), <int>HIGHEST_RUNE) // 5) - 1
    s.p[1 - who].won = o.player[0].health <= 0
    s.p[who].won = o.player[1].health <= 0 < o.player[0].health


cdef const shown_card_t* printed_row(const shown_t* o, const shown_card_t* row) noexcept nogil:
    """Return the row that tells most about the printed values of a creature's card."""
    cdef const shown_card_t* other
    cdef const shown_card_t* best = NULL
    cdef int i
    for i in range(o.n_cards):
        other = &o.cards[i]
        if other.base_id != row.base_id:
            continue
        if other.location == 0:         # a creature's present values may differ from them
            return other
        if best is NULL or (        # in 1.x its effects may be forgotten
            best.my_health == 0 and best.opponent_health == 0 and best.draw == 0
        ):
            best = other
    return best


cdef int show_card(
    table_t* t, const shown_t* o, const shown_card_t* row, const table_t* pool
) noexcept nogil:
    """Return the entry of a row: a new one, except for an area copy."""
    cdef card_t c
    cdef int same, entry = -1
    if row.location != 0:
        entry = original_entry(t, row)
    if entry >= 0:
        return entry
    same = entry_with(pool, row.base_id) if row.location != 0 and pool is not NULL else -1
    if same >= 0:
        entry = append_card(t, &pool.cards[same], row.id)
    else:
        card_of_row(&c, printed_row(o, row) if row.location != 0 else row, 0)
        entry = append_card(t, &c, row.id)
    t.n_instances = t.n_cards
    return entry


cdef rows_fault_t state_show(
    state_t* s, table_t* t, const shown_t* o, int who, const table_t* pool
) noexcept nogil:
    cdef player_t* p
    cdef const shown_card_t* row
    cdef const card_t* printed
    cdef creature_t x
    cdef uint64_t[4] seen
    cdef int i, entry
    memset(s, 0, sizeof(state_t))
    memset(seen, 0, sizeof(seen))
    s.turn = who
    show_players(s, t, o, who)
    for i in range(o.n_cards):
        row = &o.cards[i]
        p = &s.p[1 - who if row.location == -1 else who]
        if not row_has_place(
                row, MAX_HAND - p.hand_size if row.location == 0 else free_places(p, row.lane, t)):
            return i
        if seen[row.id >> 6] >> (row.id & 63) & 1:
            return ID_REPEATED + i
        seen[row.id >> 6] |= <uint64_t>1 << (row.id & 63)
        entry = show_card(t, o, row, pool)
        if row.location == 0:
            add_to_hand(p, t, entry)
            continue
        printed = &t.cards[entry]
        x.card = <uint8_t>entry
        x.copy = printed.id != row.id
        x.attack = <int16_t>row.attack
        x.defense = <int16_t>row.defense
        x.keywords = <uint8_t>row.keywords
        x.forgotten = t.rules != RULES_15 and (
            row.my_health != printed.my_health
            or row.opponent_health != printed.opponent_health or row.draw != printed.draw)
        place_creature(p, t, &x, row.lane, row.location == 1, False)
    return ROWS_FIT


cdef void state_fill_deck(state_t* s, int who, uint8_t entry, int n) noexcept nogil:
    memset(&s.deck[who][MAX_DECK - n], entry, n)
    s.p[who].deck_left = <uint8_t>n


cdef void state_fill_hand(
    state_t* s, const table_t* t, int who, uint8_t entry, int n
) noexcept nogil:
    for _ in range(n):
        add_to_hand(&s.p[who], t, entry)


# ---- checks of observations ----------------------------------------------------------------------

cdef int check_line(const shown_t* o, int side, str who) except -1:
    cdef const shown_player_t* p = &o.player[side]
    for name, value, low, high in (
        ("health", p.health, -MAX_HEALTH, MAX_HEALTH),
        ("max_mana", p.max_mana, 0, MAX_MANA + 1),
        ("draw", p.draw, 0, MAX_DRAW),
        ("rune", p.rune, 0, MAX_SHOWN_NUMBER if o.rules == RULES_15 else HIGHEST_RUNE),
    ):
        whole_number(value, f"{who}.{name}", low, high)
    return 0


cdef int check_battle(const shown_t* o) except -1:
    cdef const shown_player_t* p
    cdef int side
    if o.n_cards and o.cards[0].id == OFFERED:
        raise ValueError("an observation of the choice phase shows no battle")
    for side in range(2):
        p = &o.player[side]
        if not (
            -MAX_HEALTH <= p.health <= MAX_HEALTH and 0 <= p.max_mana <= MAX_MANA + 1
            and 0 <= p.draw <= MAX_DRAW and (o.rules == RULES_15 or 0 <= p.rune <= HIGHEST_RUNE)
        ):
            check_line(o, side, "opponent" if side else "me")
    return 0


cdef int check_rows(rows_fault_t fault, const shown_t* o) except -1:
    cdef const shown_card_t* row
    if fault == ROWS_FIT:
        return 0
    if fault >= ID_REPEATED:
        fault -= ID_REPEATED
        raise ValueError(f"cards[{fault}]: instance id {o.cards[fault].id} occurs twice")
    row = &o.cards[fault]
    shown = late_import("CardInPlay")(
        row.base_id, row.id, row.location, row.type, row.cost, row.attack, row.defense,
        abilities_of(row.keywords), row.my_health, row.opponent_health, row.draw, row.area,
        row.lane)
    raise ValueError(f"cards[{fault}]: {shown!r} does not fit")


cdef int fill_from_observation(state_t* s, table_t* t, Shown observation) except -1:
    cdef const char* wrong
    check_battle(&observation.o)
    t.rules = observation.o.rules
    t.n_cards = 0
    t.n_instances = 0
    check_rows(state_show(s, t, &observation.o, 0, NULL), &observation.o)
    wrong = cards_fault(t, t.n_cards)
    if wrong is NULL:
        wrong = ids_fault(s, t)
    if wrong is not NULL:
        raise ValueError(f"cards: {wrong.decode()}")
    return 0


# ---- hidden information --------------------------------------------------------------------------

include "_core_draws.pxi"       # cards for hidden places


@cython.final
cdef class Determinizer:
    """Draw states that look to one player exactly as `state` does.

    Parameters
    ----------
    state : State
        The position.
    viewer : int
        0 or 1, the player whose knowledge is kept. Their hidden places are their deck; the other
        player's are their hand and their deck.
    groups : pair of sequences
        For each player groups of cards for their hidden places, as ``(copies, [(card, weight),
        ...])``: that many cards come from the group, whichever they are. A card that a constructed
        deck may hold twice is a group ``(2, [(card, weight)])``, a triplet of a draft ``(1, [(a,
        1.0), (b, 2.5), (c, 0.4)])``. While places are left, a card is drawn from all groups with a
        probability proportional to its weight, a positive number. The cards must be in the pool of
        the state.

    Raises
    ------
    ValueError
        An argument is wrong; the message names it.

    Notes
    -----
    Hidden cards have no instance ids of their own, so texts of actions name only cards that
    `viewer` sees in the position itself.
    """

    def __cinit__(self, State state not None, viewer, groups):
        cdef int who, number, i, places
        cdef int hidden[2]
        self.state = state.clone()      # samples come from the state that was checked here
        self.u.viewer = player_of(viewer)
        if groups is None:              # compiled code fills in `u`
            return
        entries = {state.table.card(i): i
                   for i in range(state.table.t.n_instances, state.table.t.n_cards)}
        for who in range(2):
            i = 0
            places = 0
            heaviest = max([w for _, group in groups[who] for _, w in group], default=1)
            scale = MAX_WEIGHT / heaviest if heaviest > 0 else 0        # 0: refused below
            for number, (copies, group) in enumerate(groups[who]):
                where = f"groups[{who}][{number}]"
                if number == MAX_CARDS or i + len(group) > MAX_CARDS:
                    raise ValueError(f"{where}: more than {MAX_CARDS} cards")
                self.u.copies[who][number] = <uint8_t>whole_number(
                    copies, f"{where}: copies", 1, 255)
                places += self.u.copies[who][number]
                if not group:
                    raise ValueError(f"{where}: no cards")
                for card, weight in group:
                    if card not in entries:
                        raise ValueError(f"{where}: {card!r} is not in the pool of the state")
                    if not weight > 0:
                        raise ValueError(f"{where}: weight {weight!r} is not positive")
                    self.u.entry[who][i] = <uint8_t>entries[card]
                    self.u.group[who][i] = <uint8_t>number
                    self.u.weight[who][i] = max(1, int(weight * scale))
                    i += 1
            self.u.n[who] = i
            hidden[who] = state.s.p[who].deck_left + (
                0 if who == self.u.viewer else state.s.p[who].hand_size)
            if places < hidden[who]:
                raise ValueError(f"groups[{who}]: {places} cards for {hidden[who]} hidden places")
        complete_unknown(&self.u, hidden[self.u.viewer], hidden[1 - self.u.viewer])

    def sample(self, seed):
        """Return a new state that depends only on the seed.

        Parameters
        ----------
        seed : int
            Any integer.
        """
        cdef State state = self.state.clone()
        cdef uint64_t stream = stream_start(seed_of(seed), 0)
        state_deal(&state.s, &state.table.t, &self.u, &stream)
        return state

    def after(self, actions):
        """Return the same worlds after actions of the mover; errors as for `State.apply_action`.

        Parameters
        ----------
        actions : iterable of int
            Legal actions, in order.
        """
        cdef Determinizer moved = Determinizer(self.state, self.u.viewer, None)
        moved.u = self.u
        for action in actions:
            moved.state.apply_action(action)
        return moved


def with_hand(State state not None, int player, hand):
    """Return a position in which a player holds given cards, and hidden cards have ids.

    The first cards of the hand become those of the base ids `hand`, which must be in the pool: each
    comes from the rest of the hand or from the deck if it is there, else takes the place of another
    card. Cards of the pool, wherever they are, become instances with ids of their own.
    """
    cdef Table table = Table.__new__(Table)
    cdef const table_t* t = &state.table.t
    cdef State result = new_state(table)
    cdef player_t* p
    cdef int who, slot
    cdef list zones = [
        (held, deck, [entry for entry, _, _ in board]) for held, deck, board in places_of(state)]
    cdef dict places = {}
    take_in_hand(t, zones[player][0], zones[player][1], hand)
    table.t.rules = t.rules
    for number, entry in name_entries(t, zones):
        places[number] = table.append(&t.cards[<int>entry], number, state.table.cards[entry])
    table.complete_with_pool(state.table)
    result.s = state.s
    for who, (held, deck, board) in enumerate(zones):
        p = &result.s.p[who]
        clear_hand(p)
        for number in held:
            add_to_hand(p, &table.t, places[number])
        for i, number in enumerate(deck, MAX_DECK - p.deck_left):
            result.s.deck[who][<int>i] = places[number]
        for slot, number in zip(board_order(p, t), board):
            p.board[slot].card = places[number]
    return result


cdef int take_in_hand(const table_t* t, list held, list deck, hand) except -1:
    """Make the first entries of a hand those of base ids, which come from hand, deck or pool."""
    cdef int place, i
    for place, base_id in enumerate(hand):
        bases = [t.cards[<int>other].base_id for other in held]
        in_deck = [t.cards[<int>other].base_id for other in deck]
        if base_id in bases[place:]:
            i = bases.index(base_id, place)
            held[place], held[i] = held[i], held[place]
        elif base_id in in_deck:
            i = in_deck.index(base_id)
            held[place], deck[i] = deck[i], held[place]
        else:
            held[place] = pool_entry(t, base_id)
    return 0


cdef list name_entries(const table_t* t, list zones):
    """Replace entries by instance ids, free ones for those of the pool; return the pairs of both,
    ordered by id."""
    cdef int who, i, entry
    cdef set used_ids = set()
    named = set()
    for lists in zones:
        for entries in lists:
            used_ids.update([original_id(t.rules, t.cards[<int>other].id)
                             for other in entries if other < t.n_instances])
    for who, lists in enumerate(zones):
        free = free_ids(t.rules, who, used_ids)
        for entries in lists:
            for i, entry in enumerate(entries):
                number = next(free) if entry >= t.n_instances else t.cards[entry].id
                entries[i] = number
                named.add((number, entry))
    return sorted(named)


cdef int pool_entry(const table_t* t, base_id) except -1:
    cdef int i
    for i in range(t.n_instances, t.n_cards):
        if t.cards[i].base_id == base_id:
            return i
    raise ValueError(f"hand: no card {base_id} can occur in this game")


def free_ids(int rules, int who, set used_ids):
    """Yield a player's ids that no card has, then others."""
    cdef int i
    own = [card_id(rules, who, i) for i in range(MAX_DECK)]
    for number in (*own, *range(2 * IDS_PER_PLAYER, POOL_ID - 1, 2)):
        if number not in used_ids:
            used_ids.add(number)
            yield number


# ---- hidden cards without any knowledge of the past ----------------------------------------------

cdef int in_pool(const table_t* t, const card_t* card) noexcept nogil:
    """Return the place of a card in the pool; -1 if it is not there."""
    cdef const card_t* pool = &t.cards[t.n_instances]
    cdef int n = t.n_cards - t.n_instances
    cdef int i = card.base_id - pool[0].base_id if n else 0
    if not (0 <= i < n and pool[i].base_id == card.base_id):    # usually there is no gap
        i = 0
        while i < n and pool[i].base_id != card.base_id:
            i += 1
    return i if i < n and compare_printed(&pool[i], card) == 0 else -1


cdef inline void suspect(
    unknown_t* u, int who, int entry, int copies, int weight
) noexcept nogil:
    """Add a group of one candidate for a player's hidden places."""
    cdef int i = u.n[who]
    u.entry[who][i] = <uint8_t>entry
    u.group[who][i] = <uint8_t>i
    u.copies[who][i] = <uint8_t>copies
    u.weight[who][i] = weight
    u.n[who] = i + 1


cdef bint suspect_deck(unknown_t* u, const state_t* s, const table_t* t, int who) noexcept nogil:
    """Make the cards of the viewer's own deck the candidates for it, by entry: nothing may depend
    on their order. In 1.x their ids would tell it; False if the pool, without ids, lacks one."""
    cdef uint8_t copies[MAX_CARDS]
    cdef int i, entry
    memset(copies, 0, sizeof(copies))
    for i in range(MAX_DECK - s.p[who].deck_left, MAX_DECK):
        entry = s.deck[who][i]
        if t.rules != RULES_15 and entry < t.n_instances:
            entry = in_pool(t, &t.cards[entry])
            if entry < 0:
                return False
            entry += t.n_instances
        copies[entry] += 1
    for entry in range(t.n_cards):
        if copies[entry]:
            suspect(u, who, entry, copies[entry], 1)
    return True


cdef void suspect_pool(
    unknown_t* u, const state_t* s, const table_t* t, int who, int places
) noexcept nogil:
    """Make all copies of the cards of the pool candidates for the other player's hidden places."""
    cdef uint8_t left[MAX_CARDS]
    cdef const player_t* p = &s.p[who]
    cdef int size = t.n_cards - t.n_instances, total = COPIES_PER_CARD * size
    cdef int slot, i, j
    memset(left, COPIES_PER_CARD, size)
    for slot in range(MAX_BOARD if t.rules == RULES_15 else 0):
        if marked(p, OCCUPIED) >> slot & 1:
            i = 0
            while p.board[i].card != p.board[slot].card or not marked(p, OCCUPIED) >> i & 1:
                i += 1
            j = in_pool(t, &t.cards[p.board[slot].card])
            if i == slot and j >= 0 and left[j]:    # an area copy is none of its original's
                left[j] -= 1
                total -= 1
    if t.rules != RULES_15 or total < places:
        memset(left, places, size)
        total = MAX_CARDS + 1
    for i in range(size):
        if total > MAX_CARDS:
            suspect(u, who, t.n_instances + i, left[i], 1)
            continue
        # Each copy that is left is as likely as any other.
        for _ in range(left[i]):
            suspect(u, who, t.n_instances + i, 1, 1)


cdef int state_resample(
    state_t* s, const table_t* t, int viewer, uint64_t* stream
) noexcept nogil:
    cdef unknown_t u
    cdef int own = s.p[viewer].deck_left
    cdef int places = s.p[1 - viewer].hand_size + s.p[1 - viewer].deck_left
    if t.n_cards == t.n_instances and places > 0:
        return 1
    u.viewer = viewer
    u.n[0] = u.n[1] = 0
    if not suspect_deck(&u, s, t, viewer):
        return 2
    suspect_pool(&u, s, t, 1 - viewer, places)
    complete_unknown(&u, own, places)
    state_deal(s, t, &u, stream)
    return 0


cdef int check_resampled(int fault) except -1:
    if fault:
        raise ValueError(
            "the pool of the game, from which hidden cards are drawn, " + (
                "is empty" if fault == 1 else "lacks a card of the player's own deck")
            + ": see `pool` of `State.new`")
    return 0
