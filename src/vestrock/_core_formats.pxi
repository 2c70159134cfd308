# Positions from bytes and snapshots, and what is wrong with them. Part of _core.pyx, which includes
# it.

def _restore(Table table, bytes data):
    """Return the state that `State._own_bytes` wrote; ``ValueError`` for other bytes."""
    cdef State state = new_state(table)
    cdef state_t* s = state.s
    cdef creature_t* c
    cdef int i, p
    try:
        values = struct.unpack_from("<5i6H2B", data)
        counts = values[7:11]
        if counts[0] > table.t.hand_cap or counts[1] > table.t.hand_cap:
            raise ValueError("more cards in a hand than its limit")
        if counts[2] + counts[3] > (table.t.state_size - table.t.board_at) // sizeof(creature_t):
            raise ValueError("more creatures than the deck has")
        if len(data) != 34 + 2 * (counts[0] + counts[1]) + 16 * (counts[2] + counts[3]):
            raise ValueError("wrong length")
        (s.health[0], s.health[1], s.mana, s.draws, s.burns, s.turn, s.deck_pos, s.n_hand[0],
         s.n_hand[1], s.n_board[0], s.n_board[1], s.phase, s.over) = values
        s._pad = 0
        at = 34
        for p in range(2):
            for i in range(s.n_hand[p]):
                hand_of(s, state.t, p)[i] = struct.unpack_from("<H", data, at)[0]
                at += 2
        for i in range(s.n_board[0] + s.n_board[1]):
            c = board_of(s, state.t) + i
            c.card, c.flags, c.attack, c.health, c.max_health = struct.unpack_from(
                "<2H3i", data, at)
            at += 16
    except struct.error as error:
        raise ValueError(f"no state: {error}") from None
    fault = _fault(state)
    if fault is not None:
        raise ValueError(f"no state that can be: {fault}")
    return state


cdef _fault(State state):
    """Return what is wrong with a state, or None. All counts must be within their arrays."""
    cdef state_t* s = state.s
    cdef const table_t* t = state.t
    cdef const creature_t* c
    cdef int p, i, last
    if not 1 <= s.turn <= t.turns:
        return f"turn: expected 1..{t.turns}, got {s.turn}"
    if s.phase > 1 or s.over > 1:
        return "phase: expected blocking or action"
    if s.deck_pos > t.n:
        return f"deck: {s.deck_pos} of {t.n} cards drawn"
    for name, value in (("mana", s.mana), ("draws", s.draws), ("burns", s.burns)):
        if not 0 <= value <= 101 * MAX_CARDS:
            return f"{name}: expected 0..{101 * MAX_CARDS}, got {value}"
    if s.mana and s.phase == BLOCKING:
        return f"mana: expected 0 in the blocking phase, got {s.mana}"
    low = 0 if s.over else 1
    for p in range(2):
        if not low <= s.health[p] <= t.init_hp:
            return f"health[{p}]: expected {low}..{t.init_hp}, got {s.health[p]}"
    if not s.health[0] and not s.health[1]:
        return "health: only one player can be at 0"
    seen = set()
    for p in range(2):
        last = -1
        for i in range(s.n_hand[p]):
            card = hand_of(s, t, p)[i]
            if card <= last or card >= t.n or card in seen or t.place[card] >= s.deck_pos:
                return f"hands[{p}][{i}]: not in order, or in two zones"
            seen.add(card)
            last = card
        last = -1
        for i in range(s.n_board[p]):
            c = side_of(s, t, p) + i
            if c.card <= last or c.card >= t.n or c.card in seen or t.place[c.card] >= s.deck_pos:
                return f"boards[{p}][{i}]: not in order, or in two zones"
            seen.add(c.card)
            last = c.card
            number = t.cards[c.card].id
            if t.cards[c.card].type != CREATURE:
                return f"boards[{p}]: card {number} is not a creature"
            if not 0 <= c.attack <= 100 * MAX_CARDS:
                return f"creature {number}: attack {c.attack}"
            if not 0 < c.health <= c.max_health <= 100 * MAX_CARDS:
                return f"creature {number}: health {c.health} of {c.max_health}"
            if c.flags >= 8 or c.flags & ACTIVE and c.flags & (ATTACKING | BLOCKED):
                return f"creature {number}: an attacker is inactive"
            if c.flags & BLOCKED and (s.phase == ACTION or not c.flags & ATTACKING):
                return f"creature {number}: blocked, but no attacker of the blocking phase"
            if c.flags & ATTACKING and (mover_of(s) == p) != (s.phase == ACTION):
                return f"creature {number}: attacks in the other player's turn"
    return None


cdef _whole(value, name, int low, int high):
    """Return a field of a snapshot as an integer."""
    try:
        number = index(value)
    except TypeError:
        raise ValueError(f"{name}: expected an integer, got {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: expected {low}..{high}, got {number}")
    return number


def _from_snapshot(snapshot, Table table):
    cdef State state = new_state(table)
    cdef state_t* s = state.s
    cdef const table_t* t = state.t
    cdef creature_t* c
    cdef int p, i, total = 0
    cdef int most = 101 * MAX_CARDS
    cdef int creatures = (t.state_size - t.board_at) // <int>sizeof(creature_t)
    state_start(s, t)
    try:
        s.turn = _whole(snapshot["turn"], "turn", 1, t.turns)
        if snapshot["phase"] not in ("blocking", "action"):
            raise ValueError(f"phase: expected blocking or action, got {snapshot['phase']!r}")
        s.phase = snapshot["phase"] == "action"
        s.over = bool(snapshot.get("over", False))
        s.mana = _whole(snapshot["mana"], "mana", 0, most)
        s.draws = _whole(snapshot["draws"], "draws", 0, most)
        s.burns = _whole(snapshot["burns"], "burns", 0, most)
        s.deck_pos = t.n - _whole(snapshot["deck"], "deck", 0, t.n)
        for p in range(2):
            s.health[p] = _whole(snapshot["health"][p], f"health[{p}]", 0, t.init_hp)
            hand = sorted(_index(table, number, f"hands[{p}]") for number in snapshot["hands"][p])
            if len(hand) > t.hand_cap:
                raise ValueError(f"hands[{p}]: {len(hand)} cards, the limit is {t.hand_cap}")
            s.n_hand[p] = len(hand)
            for i in range(s.n_hand[p]):
                hand_of(s, t, p)[i] = hand[i]
            board = sorted(snapshot["boards"][p], key=lambda row: row["id"])
            if total + len(board) > creatures:
                raise ValueError(f"boards: more creatures than the deck has ({creatures})")
            for row in board:
                c = board_of(s, t) + total
                c.card = _index(table, row["id"], f"boards[{p}]")
                name = f"creature {row['id']}"
                c.attack = _whole(row["attack"], f"{name}: attack", 0, most)
                c.health = _whole(row["health"], f"{name}: health", 0, most)
                c.max_health = _whole(row["max_health"], f"{name}: max_health", 0, most)
                c.flags = (ACTIVE * bool(row["active"]) | ATTACKING * bool(row["attacking"])
                           | BLOCKED * bool(row["blocked"]))
                total += 1
            s.n_board[p] = len(board)
    except (KeyError, IndexError) as error:
        raise ValueError(f"snapshot: {error} is missing") from None
    fault = _fault(state)
    if fault is not None:
        raise ValueError(fault)
    return state


cdef _index(Table table, number, name):
    """Return the index of a card's ID."""
    try:
        return table.indices[number]
    except KeyError:
        raise ValueError(f"{name}: no card {number} in the deck") from None
