"""Reading the text that a player is sent; see _protocol.pxd."""

from libc.stdint cimport int32_t

from locmsim._core cimport (
    ATTACK,
    CREATURE,
    MAX_BOARD,
    MAX_HAND,
    MAX_SHOWN,
    MAX_SHOWN_ACTIONS,
    RULES_10,
    RULES_12,
    RULES_15,
    SUMMON,
    USE,
    shown_action_t,
    shown_card_t,
    shown_player_t,
    shown_t,
)

__all__ = ["read_text"]

cdef enum:
    MAX_COLUMNS = 13
    MAX_DIGITS = 9

ctypedef struct line_t:         # a line, split at blanks
    int32_t n                   # columns; more than MAX_COLUMNS are not told apart
    int32_t start[MAX_COLUMNS + 1]
    int32_t end[MAX_COLUMNS + 1]


cdef inline bint is_blank(char c) noexcept nogil:
    return c == b' ' or c == b'\t' or c == b'\r'


cdef int split(const char* text, int size, int at, line_t* line) noexcept nogil:
    """Split the line that begins at `at`; returns where the next one does."""
    line.n = 0
    while at < size and text[at] != b'\n':
        if is_blank(text[at]):
            at += 1
            continue
        if line.n <= MAX_COLUMNS:
            line.start[line.n] = at
        while at < size and text[at] != b'\n' and not is_blank(text[at]):
            at += 1
        if line.n <= MAX_COLUMNS:
            line.end[line.n] = at
            line.n += 1
    return at + 1


cdef bint number(
    const char* text, const line_t* line, int column, int low, int high, int32_t* value
) noexcept nogil:
    """Read a column that is an integer from `low` to `high`."""
    cdef int i = line.start[column], end = line.end[column]
    cdef bint negative = text[i] == b'-'
    cdef int32_t x = 0
    i += negative
    if i == end or end - i > MAX_DIGITS:
        return False
    while i < end:
        if text[i] < b'0' or text[i] > b'9':
            return False
        x = 10 * x + text[i] - 48          # '0'
        i += 1
    value[0] = -x if negative else x
    return low <= value[0] <= high


cdef bint is_word(
    const char* text, const line_t* line, int column, const char* word
) noexcept nogil:
    cdef int i = line.start[column]
    while i < line.end[column] and word[0] == text[i]:
        word += 1
        i += 1
    return i == line.end[column] and word[0] == 0


cdef enum:
    ANY = 999999999


cdef bint read_player(
    const char* text, const line_t* line, shown_player_t* p, int rules
) noexcept nogil:
    cdef bint runes = rules != RULES_15
    if line.n != 4 + runes:
        return False
    p.rune = 0
    return (
        number(text, line, 0, -ANY, ANY, &p.health)
        and number(text, line, 1, -ANY, ANY, &p.max_mana)
        and number(text, line, 2, -ANY, ANY, &p.deck_size)
        and (not runes or number(text, line, 3, -ANY, ANY, &p.rune))
        and number(text, line, 3 + runes, -ANY, ANY, &p.draw)
    )


cdef bint read_action(
    const char* text, const line_t* line, shown_action_t* a
) noexcept nogil:
    cdef int32_t target
    cdef int i
    if line.n < 3 or not number(text, line, 0, 0, ANY, &a.base_id):
        return False
    if text[line.start[0] - 1] != b'\n':
        return False
    for i in range(line.n - 1):         # single blanks, so that the text is canonical
        if line.start[i + 1] != line.end[i] + 1 or text[line.end[i]] != b' ':
            return False
    a.kind = SUMMON if is_word(text, line, 1, b"SUMMON") else (
        USE if is_word(text, line, 1, b"USE") else ATTACK)
    if a.kind == ATTACK and not is_word(text, line, 1, b"ATTACK"):
        return False
    if not number(text, line, 2, -ANY, ANY, &a.id):
        return False
    if line.n == 3:
        return a.kind == SUMMON
    return line.n == 4 and number(text, line, 3, -ANY, ANY, &target)


cdef bint read_keywords(
    const char* text, const line_t* line, int column, int32_t* keywords
) noexcept nogil:
    cdef const char* letters = b"BCDGLW"
    cdef int i, start = line.start[column]
    keywords[0] = 0
    if line.end[column] - start != 6:
        return False
    for i in range(6):
        if text[start + i] == letters[i]:
            keywords[0] |= 1 << i
        elif text[start + i] != b'-':
            return False
    return True


cdef bint read_card(
    const char* text, const line_t* line, shown_card_t* c, int rules
) noexcept nogil:
    c.area = 0
    if line.n != (13 if rules == RULES_15 else 12 if rules == RULES_12 else 11):
        return False
    if not (
        number(text, line, 0, 0, ANY, &c.base_id) and number(text, line, 1, -1, ANY, &c.id)
        and number(text, line, 2, -1, 1, &c.location) and number(text, line, 3, 0, 3, &c.type)
        and number(text, line, 4, -ANY, ANY, &c.cost)
        and number(text, line, 5, -ANY, ANY, &c.attack)
        and number(text, line, 6, -ANY, ANY, &c.defense)
        and read_keywords(text, line, 7, &c.keywords)
        and number(text, line, 8, -ANY, ANY, &c.my_health)
        and number(text, line, 9, -ANY, ANY, &c.opponent_health)
        and number(text, line, 10, -ANY, ANY, &c.draw)
    ):
        return False
    if rules == RULES_10:
        c.lane = -1 if c.location == 0 else 0
        return True
    if rules == RULES_15 and not number(text, line, 11, 0, 2, &c.area):
        return False
    return number(text, line, 11 + (rules == RULES_15), -1, 1, &c.lane)


cdef bint fits(const shown_t* o) noexcept nogil:
    """Whether the rows can be together."""
    cdef const shown_card_t* c
    cdef int places[3][3]
    cdef bint offered = o.n_cards > 0 and o.cards[0].id == -1
    cdef int i, j
    for i in range(3):
        for j in range(3):
            places[i][j] = 0
    for i in range(o.n_cards):
        c = &o.cards[i]
        if (c.id == -1) != offered or (c.location == 0) != (c.lane == -1):
            return False
        if c.location != 0 and (c.type != CREATURE or offered):
            return False
        places[c.location + 1][c.lane + 1] += 1
        if not offered and places[c.location + 1][c.lane + 1] > (
                <int>MAX_HAND if c.location == 0 else
                <int>MAX_BOARD if o.rules == RULES_10 else <int>MAX_BOARD // 2):
            return False
    return True


cdef int shown_read(
    shown_t* o, spans_t* spans, const char* text, int size, int rules
) noexcept nogil:
    cdef line_t line
    cdef int at, i
    at = split(text, size, 0, &line)
    if rules < 0 and line.n == 4:
        rules = RULES_15
    # 1.x that a card row has to tell: the player lines are the same.
    o.rules = rules
    if not read_player(text, &line, &o.player[0], rules):
        return -1
    at = split(text, size, at, &line)
    if not read_player(text, &line, &o.player[1], rules):
        return -1
    at = split(text, size, at, &line)
    if line.n != 2 or not (
        number(text, &line, 0, 0, ANY, &o.opponent_hand)
        and number(text, &line, 1, 0, MAX_SHOWN_ACTIONS, &o.n_actions)
    ):
        return -1
    for i in range(o.n_actions):
        at = split(text, size, at, &line)
        if not read_action(text, &line, &o.actions[i]):
            return -1
        spans.start[i] = line.start[1]
        spans.end[i] = line.end[line.n - 1]
    at = split(text, size, at, &line)
    if line.n != 1 or not number(text, &line, 0, 0, MAX_SHOWN, &o.n_cards):
        return -1
    for i in range(o.n_cards):
        at = split(text, size, at, &line)
        if o.rules < 0:
            o.rules = RULES_10 if line.n == 11 else RULES_12
        if not read_card(text, &line, &o.cards[i], o.rules):
            return -1
    if o.rules < 0:
        o.rules = RULES_12
    while at < size:
        at = split(text, size, at, &line)
        if line.n:
            return -1
    return 0 if fits(o) else -1


cdef tuple ABILITIES = tuple([
    "".join([letter if bits >> i & 1 else "-" for i, letter in enumerate("BCDGLW")])
    for bits in range(64)])
cdef tuple RULES_NAMES = ("1.5", "1.2", "1.0")


def read_text(str text not None, rules, player_type, action_type, row_type):
    """The fields of the `Observation` that a text shows; None if it is not what a referee writes.

    `rules` is the name of the rule set or None, the types are those of the fields.
    """
    cdef shown_t o
    cdef spans_t spans
    cdef const shown_card_t* c
    cdef const shown_player_t* p
    cdef bytes raw
    cdef int code = -1 if rules is None else RULES_NAMES.index(rules)
    cdef int i
    if not text.isascii():
        return None
    raw = text.encode()
    if shown_read(&o, &spans, raw, <int>len(raw), code) < 0:
        return None
    players = []
    for i in range(2):
        p = &o.player[i]
        players.append(player_type(p.health, p.max_mana, p.deck_size, p.draw, p.rune))
    actions = tuple([
        action_type(o.actions[i].base_id, text[spans.start[i]:spans.end[i]])
        for i in range(o.n_actions)])
    rows = []
    for i in range(o.n_cards):
        c = &o.cards[i]
        rows.append(row_type(
            c.base_id, c.id, c.location, c.type, c.cost, c.attack, c.defense,
            ABILITIES[c.keywords], c.my_health, c.opponent_health, c.draw, c.area, c.lane))
    return RULES_NAMES[o.rules], players[0], players[1], o.opponent_hand, actions, tuple(rows)
