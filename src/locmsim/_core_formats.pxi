# Positions as bytes, keys, fields and snapshots. Part of _core.pyx, which includes it.

import zlib

# ---- bytes ---------------------------------------------------------------------------------------
# A table or a state as it is in memory, after a header that identifies it.

cdef enum:
    FORMAT_VERSION = 2              # version of to_bytes, key and pickles
    TABLE_PART = 1
    STATE_PART = 2
    HEADER_SIZE = 16
    TABLE_FIELDS = 8                # size of rules and n_instances before the cards

_MAGIC = b"LOCM"
_HEADER = struct.Struct("=4sHHII")  # magic, version, part, size and checksum of the rest


cdef bytes sealed(int part, bytes data):
    return _HEADER.pack(_MAGIC, FORMAT_VERSION, part, len(data), zlib.crc32(data)) + data


cdef enum:
    OF_DECKS = 1 << 8           # with the rule set of a table: its `of_decks`


cdef int packed_rules(Table table):
    return table.t.rules | (OF_DECKS if table.of_decks else 0)


cdef bytes sealed_table(Table table):
    """Return the part of a table. It is kept, as the states of a game share their table: adding up
    the checksum takes longer than comparing the bytes."""
    cdef Py_ssize_t header = HEADER_SIZE + TABLE_FIELDS
    cdef Py_ssize_t size = table.t.n_cards * sizeof(card_t)
    cdef bytes kept
    cdef const int32_t* fields
    with cython.critical_section(table):
        kept = table.sealed
        if kept is not None and len(kept) == header + size:
            fields = <const int32_t*>(<const char*>kept + HEADER_SIZE)
            if fields[0] == packed_rules(table) and fields[1] == table.t.n_instances and (
                    memcmp(<const char*>kept + header, table.t.cards, size) == 0):
                return kept
        kept = table.sealed = sealed(TABLE_PART, table.pack())
        return kept


cdef bytes unsealed(int part, data):
    """Return the bytes that `sealed` packed; ``ValueError`` for anything else."""
    cdef bytes raw = bytes(memoryview(data))
    what = "card table" if part == TABLE_PART else "state"
    if raw[:4] != _MAGIC[:len(raw)]:
        raise ValueError(f"no {what} of locmsim: foreign bytes")
    if len(raw) < _HEADER.size:
        raise ValueError(f"no {what} of locmsim: truncated")
    _, version, found, size, checksum = _HEADER.unpack_from(raw)
    if version != FORMAT_VERSION:
        raise ValueError(f"{what} of format {version}, expected {FORMAT_VERSION}")
    raw = raw[_HEADER.size:]
    if found != part or len(raw) != size or zlib.crc32(raw) != checksum:
        raise ValueError(f"no {what} of locmsim: truncated or corrupted")
    return raw


cdef bytes packed(State state):
    return sealed(STATE_PART, (<const char*>&state.s)[:sizeof(state_t)])


def _unpack_table(data):
    """Return the table that `Table.pack` packed; ``ValueError`` for anything else."""
    cdef Table table = Table.__new__(Table)
    cdef bytes raw = unsealed(TABLE_PART, data)
    cdef Py_ssize_t size = len(raw) - 8
    if size < 0 or size % sizeof(card_t) or size > <Py_ssize_t>sizeof(table.t.cards):
        raise ValueError("no card table of locmsim: wrong length")
    rules, instances = struct.unpack("<ii", raw[:8])
    table.t.rules = rules & ~OF_DECKS
    table.of_decks = rules & OF_DECKS != 0
    table.t.n_instances = instances
    table.t.n_cards = <int32_t>(size // sizeof(card_t))
    memcpy(table.t.cards, <const char*>raw + 8, size)
    fault = table_fault(&table.t)
    if fault is not NULL:
        raise ValueError(f"no card table of locmsim: {fault.decode()}")
    for entry in range(table.t.n_cards):
        complete_card(&table.t.cards[entry], entry)
    return table


def _unpack_state(Table table not None, data):
    """Return the state that `packed` packed; ``ValueError`` for anything else."""
    cdef State state = new_state(table)
    cdef bytes raw = unsealed(STATE_PART, data)
    if len(raw) != sizeof(state_t):
        raise ValueError("no state of locmsim: wrong size")
    memcpy(&state.s, <const char*>raw, sizeof(state_t))
    fault = state_fault(&state.s, &table.t)
    if fault is not NULL:
        raise ValueError(f"no state of locmsim: {fault.decode()}")
    return state


# ---- canonical bytes -----------------------------------------------------------------------------

cdef bytes canonical_key(State state):
    """Return everything that `==` compares, with cards by id and base id instead of table entry."""
    cdef uint8_t buffer[MAX_KEY_SIZE]
    cdef uint8_t* to = buffer
    cdef const table_t* t = &state.table.t
    cdef const player_t* p
    cdef const creature_t* x
    cdef int who, i
    to = put(to, FORMAT_VERSION, 4)
    to = put(to, t.rules, 4)
    to = put(to, state.s.turn, 4)
    for who in range(2):
        p = &state.s.p[who]
        to = put(to, p.health, 4)
        to = put(to, p.lost, 4)
        to = put(to, p.next_draw, 4)
        to = put(to, p.shown_draw, 4)
        to = put(to, p.mana, 1)
        to = put(to, p.max_mana, 1)
        to = put(to, p.bonus, 1)
        to = put(to, p.hand_size, 1)
        to = put(to, p.deck_left, 1)
        to = put(to, p.runes, 1)
        to = put(to, p.order, 1)
        to = put(to, p.won, 1)
        to = put(to, p.marks, 4)
        for i in range(p.hand_size):
            to = put_card(to, hand_card(p, t, i), 0)
        for i in range(MAX_DECK - p.deck_left, MAX_DECK):
            to = put_card(to, &t.cards[state.s.deck[who][i]], 0)
        for i in range(MAX_BOARD):
            if marked(p, OCCUPIED) >> i & 1:
                x = &p.board[i]
                to = put(to, x.attack, 2)
                to = put(to, x.defense, 2)
                to = put(to, x.keywords, 1)
                to = put(to, x.forgotten, 1)
                to = put_card(to, &t.cards[x.card], x.copy)
    return (<const char*>buffer)[:to - buffer]


cdef enum:
    CARD_KEY_SIZE = 17              # bytes of a card in a key
    MAX_KEY_SIZE = 2048             # of 12 + 2 * (28 + 38 * 17 + 6 * (6 + 17))


cdef inline uint8_t* put(uint8_t* to, int64_t value, const int size) noexcept nogil:
    """Append the lowest `size` bytes of a number, lowest first."""
    cdef int i
    for i in range(size):
        to[i] = <uint8_t>(value >> 8 * i)
    return to + size


cdef inline uint8_t* put_card(uint8_t* to, const card_t* c, int copy) noexcept nogil:
    to = put(to, c.attack, 2)
    to = put(to, c.defense, 2)
    to = put(to, c.my_health, 2)
    to = put(to, c.opponent_health, 2)
    to = put(to, c.cost, 1)
    to = put(to, c.draw, 1)
    to = put(to, c.type, 1)
    to = put(to, c.keywords, 1)
    to = put(to, c.area, 1)
    to = put(to, c.base_id, 2)
    return put(to, c.id + copy, 2)


# ---- positions by their fields -------------------------------------------------------------------
# The raw fields that game/notation.py reads and writes, after its own checks.

def table_rows(Table table not None):
    """Return where a table's pool begins, the entries' instance ids, and their cards as rows."""
    cdef const card_t* c
    cdef int i
    cdef list row, rows = []
    cdef list ids = []
    for i in range(table.t.n_cards):
        c = &table.t.cards[i]
        ids.append(c.id)
        # In two steps, as Cython needs minutes for a list of so many C numbers.
        row = [c.base_id, c.type, c.cost, c.attack, c.defense, abilities_of(c.keywords)]
        row += [c.my_health, c.opponent_health, c.draw, c.area]
        rows.append(row)
    return table.t.n_instances, ids, rows


def places_of(State state not None):
    """Return for each player the table entries of hand, deck and board.

    Those of the board are in board order, each with two flags: whether it is an area copy, and
    whether its effects are forgotten.
    """
    cdef const player_t* p
    cdef int who
    cdef list players = []
    for who in range(2):
        p = &state.s.p[who]
        players.append((
            hand_entries(p), deck_entries(&state.s, who),
            [(p.board[slot].card, p.board[slot].copy, p.board[slot].forgotten)
             for slot in board_order(p, &state.table.t)]))
    return players


cdef list hand_entries(const player_t* p):
    cdef int i
    return [p.hand >> 8 * i & 255 for i in range(p.hand_size)]


cdef list deck_entries(const state_t* s, int who):
    cdef int i
    return [s.deck[who][i] for i in range(MAX_DECK - s.p[who].deck_left, MAX_DECK)]


def keywords_number(abilities):
    """Return the bits of a text such as "B-D---"; -1 for anything else."""
    return ABILITY_BITS.get(abilities, -1) if isinstance(abilities, str) else -1


def build_state(str rules, turn, winner, instances, pool, str name, players):
    """Return the state of fields that are each in range.

    The entries of its table are `instances`, pairs of an id and a card, then the cards of `pool`.
    A player has health, greatest mana, mana, bonus, cards to draw without those for lost health,
    shown draw, lost health, runes (a bit each), the entries of the hand and of the deck, and for
    each creature the entry, whether it is an area copy, attack, defense, keywords, lane and whether
    it can attack, has attacked and has forgotten effects. ``ValueError`` calls the players `name`.
    """
    cdef Table table = new_table(rules)
    cdef State state = new_state(table)
    cdef int who
    for number, card in instances:
        table.add(card, number)
    table.t.n_instances = table.t.n_cards
    for card in pool:
        table.add(card, POOL_ID)
    memset(&state.s, 0, sizeof(state_t))
    state.s.turn = turn
    for who in range(2):
        fill_player(state, who, f"{name}[{who}]", players[who])
        state.s.p[who].won = winner == who
    fault = state_fault(&state.s, &table.t)
    if fault is not NULL:
        raise ValueError(f"position: {fault.decode()}")
    return state


cdef int fill_player(State state, int who, str where, tuple fields) except -1:
    cdef const table_t* t = &state.table.t
    cdef player_t* p = &state.s.p[who]
    cdef creature_t x
    cdef int lane
    cdef bint ready, spent
    player_start(p, t.rules)
    (p.health, p.max_mana, p.mana, p.bonus, p.next_draw, p.shown_draw, p.lost, p.runes,
     hand, deck, board) = fields
    if len(hand) > MAX_HAND:
        raise ValueError(f"{where}.hand: {len(hand)} cards, expected at most {MAX_HAND}")
    if len(deck) > MAX_DECK:
        raise ValueError(f"{where}.deck: {len(deck)} cards, expected at most {MAX_DECK}")
    for entry in hand:
        add_to_hand(p, t, entry)
    p.deck_left = <uint8_t>len(deck)
    for i, entry in enumerate(deck, MAX_DECK - len(deck)):
        state.s.deck[who][<int>i] = entry
    for i, creature in enumerate(board):
        (x.card, x.copy, x.attack, x.defense, x.keywords, lane, ready, spent,
         x.forgotten) = creature
        if free_places(p, lane, t) < 1:
            raise ValueError(f"{where}.board[{i}]: no room in lane {lane}")
        place_creature(p, t, &x, lane, ready, spent)
    return 0


# ---- snapshots (section 13) ----------------------------------------------------------------------

cdef dict snapshot_player(State state, int who):
    cdef const player_t* p = &state.s.p[who]
    cdef const table_t* t = &state.table.t
    cdef dict result = {
        "hp": p.health,
        "maxMana": p.max_mana,
        "mana": p.mana,
        "bonus": p.bonus,
        "draw": state_next_draw(&state.s, who),
        "shown": p.shown_draw,
    }
    if t.rules == RULES_15:
        result["lost"] = p.lost
    else:
        result["runes"] = [5 * (i + 1) for i in range(5) if p.runes >> i & 1]
    result["hand"] = [t.cards[<int>entry].id for entry in hand_entries(p)]
    result["deck"] = p.deck_left
    result["board"] = [
        [creature_id(&p.board[slot], t), t.cards[p.board[slot].card].base_id,
         p.board[slot].attack, p.board[slot].defense, abilities_of(p.board[slot].keywords),
         lane_of(slot, t), marked(p, READY) >> slot & 1, marked(p, SPENT) >> slot & 1]
        for slot in board_order(p, t)
    ]
    return result
