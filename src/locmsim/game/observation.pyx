"""The input of a bot: `Observation` parses and formats the text that a player is sent.

Sources: docs/rules.md, section 9 (battle) and section 3 (choice phase).
"""

from operator import index

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcmp, memset

from locmsim._core cimport (
    ATTACK,
    CREATURE,
    MAX_BOARD,
    MAX_HAND,
    MAX_SHOWN_ACTIONS,
    MAX_SHOWN_NUMBER,
    NO_TARGET,
    OFFERED,
    OFFER_SIZE,
    RULES_10,
    RULES_12,
    RULES_15,
    SUMMON,
    USE,
    Shown,
    State,
    player_of,
    shown_action_t,
    shown_card_t,
    shown_player_t,
    shown_t,
    state_seen,
)

from locmsim._core import whole_number
from locmsim.errors import ProtocolError
from locmsim.game.protocol_lines import (
    ENEMY_BOARD,
    HAND,
    MY_BOARD,
    CardInPlay,
    OpponentAction,
    PlayerLine,
)
from locmsim.rules.cards import ABILITY_BITS, ABILITY_TEXTS
from locmsim.rules.rulesets import HAND_LIMIT, RULES, RULES_NAMES, get_rules

__all__ = [
    "ENEMY_BOARD",
    "HAND",
    "MY_BOARD",
    "CardInPlay",
    "Observation",
    "OpponentAction",
    "PlayerLine",
    "read_observation",
]

cdef enum:
    MAX_DIGITS = 10             # those of the greatest bound

cdef enum:                      # kinds of lines
    OWN_LINE = 0
    THEIR_LINE = 1
    COUNTS = 2
    ACTION_LINES = 3
    NUMBER_OF_CARDS = 4
    CARD_ROWS = 5

cdef enum:                      # faults of a line or a row
    WRONG_COUNT = 1             # number of columns
    WRONG_COLUMN = 2
    WRONG_ACTION = 3
    WRONG_END = 4               # text after the last line
    WRONG_PHASE = 5             # both cards on offer and cards in play
    WRONG_LANE = 6
    WRONG_TYPE = 7
    WRONG_OFFER = 8             # an offered card on a board
    WRONG_NUMBER = 9            # too many cards


cdef inline bint is_blank(char c) noexcept nogil:
    # All ASCII characters at which `str.split` splits.
    return c == b' ' or 9 <= c <= 13 and c != b'\n' or 28 <= c <= 31


cdef int split(const char* text, int size, int at, split_line_t* line) noexcept nogil:
    """Split the line that begins at `at`; return where the next one begins."""
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
    const char* text, split_line_t* line, int column, int low, int high, int32_t* value
) noexcept nogil:
    """Read a column that is an integer from `low` to `high`."""
    cdef int i = line.start[column], end = line.end[column]
    cdef bint negative = text[i] == b'-'
    cdef int64_t x = 0
    line.bad = column
    i += negative
    if i == end or end - i > MAX_DIGITS:
        return False
    while i < end:
        if text[i] < b'0' or text[i] > b'9':
            return False
        x = 10 * x + text[i] - 48          # '0'
        i += 1
    x = -x if negative else x
    if not low <= x <= high:
        return False
    value[0] = <int32_t>x
    return True


cdef bint is_word(
    const char* text, const split_line_t* line, int column, const char* word
) noexcept nogil:
    cdef int i = line.start[column]
    while i < line.end[column] and word[0] == text[i]:
        word += 1
        i += 1
    return i == line.end[column] and word[0] == 0


cdef enum:
    ANY = MAX_SHOWN_NUMBER


cdef int read_player(
    const char* text, split_line_t* line, shown_player_t* p, int rules
) noexcept nogil:
    cdef bint runes = rules != RULES_15
    if line.n != 4 + runes:
        return WRONG_COUNT
    p.rune = 0
    return 0 if (
        number(text, line, 0, -ANY, ANY, &p.health)
        and number(text, line, 1, -ANY, ANY, &p.max_mana)
        and number(text, line, 2, -ANY, ANY, &p.deck_size)
        and (not runes or number(text, line, 3, -ANY, ANY, &p.rune))
        and number(text, line, 3 + runes, -ANY, ANY, &p.draw)
    ) else WRONG_COLUMN


cdef int read_action(
    const char* text, split_line_t* line, int begin, shown_action_t* a, shown_t* o
) noexcept nogil:
    """Read an action line; a summon tells by its lane which rules of 1.x they are."""
    cdef int i
    if line.n != 3 and line.n != 4 or line.start[0] != begin:
        return WRONG_ACTION
    for i in range(line.n - 1):         # single blanks
        if line.start[i + 1] != line.end[i] + 1 or text[line.end[i]] != b' ':
            return WRONG_ACTION
    a.kind = SUMMON if is_word(text, line, 1, b"SUMMON") else (
        USE if is_word(text, line, 1, b"USE") else ATTACK)
    if a.kind == ATTACK and not is_word(text, line, 1, b"ATTACK"):
        return WRONG_ACTION
    if not number(text, line, 2, -ANY, ANY, &a.id):
        return WRONG_ACTION
    if line.n == 3:
        if a.kind != SUMMON:
            return WRONG_ACTION
        a.target = NO_TARGET
    elif not number(text, line, 3, -ANY, ANY, &a.target):
        return WRONG_ACTION
    if a.kind == SUMMON:
        if o.rules < 0:
            o.rules = RULES_10 if line.n == 3 else RULES_12
        if (line.n == 3) != (o.rules == RULES_10):
            return WRONG_ACTION
    return 0 if number(text, line, 0, 0, ANY, &a.base_id) else WRONG_COLUMN


cdef bint read_keywords(
    const char* text, split_line_t* line, int column, int32_t* keywords
) noexcept nogil:
    cdef const char* letters = b"BCDGLW"
    cdef int i, start = line.start[column]
    line.bad = column
    keywords[0] = 0
    if line.end[column] - start != 6:
        return False
    for i in range(6):
        if text[start + i] == letters[i]:
            keywords[0] |= 1 << i
        elif text[start + i] != b'-':
            return False
    return True


cdef int read_card(
    const char* text, split_line_t* line, shown_card_t* c, int rules
) noexcept nogil:
    if rules < 0 or line.n != (13 if rules == RULES_15 else 12 if rules == RULES_12 else 11):
        return WRONG_COUNT
    if not (
        number(text, line, 0, 0, ANY, &c.base_id)
        and number(text, line, 1, OFFERED, ANY, &c.id)
        and number(text, line, 2, -1, 1, &c.location) and number(text, line, 3, 0, 3, &c.type)
        and number(text, line, 4, -ANY, ANY, &c.cost)
        and number(text, line, 5, -ANY, ANY, &c.attack)
        and number(text, line, 6, -ANY, ANY, &c.defense)
        and read_keywords(text, line, 7, &c.keywords)
        and number(text, line, 8, -ANY, ANY, &c.my_health)
        and number(text, line, 9, -ANY, ANY, &c.opponent_health)
        and number(text, line, 10, -ANY, ANY, &c.draw)
    ):
        return WRONG_COLUMN
    c.area = 0
    if rules == RULES_10:
        c.lane = -1 if c.location == 0 else 0
        return 0
    if rules == RULES_15 and not number(text, line, 11, 0, 2, &c.area):
        return WRONG_COLUMN
    return 0 if number(text, line, 11 + (rules == RULES_15), -1, 1, &c.lane) else WRONG_COLUMN


cdef int row_fault(
    const shown_t* o, const shown_card_t* c, int32_t (*places)[3]
) noexcept nogil:
    """Return why a row, whose fields are in range, contradicts the rows before it."""
    cdef bint offered = o.cards[0].id == OFFERED
    cdef int capacity = MAX_BOARD if o.rules == RULES_10 else MAX_BOARD // 2
    if c.location == 0:
        capacity = MAX_HAND
    if (c.id == OFFERED) != offered:
        return WRONG_PHASE
    if (c.location == 0) != (c.lane == -1) or c.lane >= (1 if o.rules == RULES_10 else 2):
        return WRONG_LANE
    if c.location != 0 and c.type != CREATURE:
        return WRONG_TYPE
    if c.location != 0 and offered:
        return WRONG_OFFER
    places[c.location + 1][c.lane + 1] += 1
    if places[c.location + 1][c.lane + 1] > capacity and not offered:
        return WRONG_NUMBER
    return 0


cdef void reader_start(reader_t* r, shown_t* o, int rules) noexcept nogil:
    memset(r, 0, sizeof(reader_t))
    o.rules = rules
    o.n_actions = o.n_cards = 0


cdef int reader_take(
    reader_t* r, shown_t* o, const char* text, int size, int* at
) noexcept nogil:
    cdef split_line_t* line = &r.line
    cdef int stage = r.stage, i = r.done
    r.number += 1
    r.begin = at[0]
    at[0] = split(text, size, at[0], line)
    if stage == OWN_LINE or stage == THEIR_LINE:
        if o.rules < 0 and stage == OWN_LINE and line.n == 4:
            o.rules = RULES_15
        r.fault = read_player(text, line, &o.player[stage], o.rules)
    elif stage == COUNTS:
        if line.n != 2:
            r.fault = WRONG_COUNT
        elif not (number(text, line, 0, 0, ANY, &o.opponent_hand)
                  and number(text, line, 1, 0, MAX_SHOWN_ACTIONS, &o.n_actions)):
            r.fault = WRONG_COLUMN
        if o.n_actions == 0:
            stage += 1              # no action lines follow
    elif stage == ACTION_LINES:
        r.fault = read_action(text, line, r.begin, &o.actions[i], o)
        r.done += 1
        if r.fault == 0 and r.done < o.n_actions:
            return 1
    elif stage == NUMBER_OF_CARDS:
        if line.n != 1:
            r.fault = WRONG_COUNT
        elif not number(text, line, 0, 0, OFFER_SIZE, &o.n_cards):
            r.fault = WRONG_COLUMN
        r.done = 0
        if o.n_cards == 0:
            stage += 1
    else:
        # 1.2 and 1.0 have the same player lines; summons and the columns of a card row decide.
        if o.rules < 0 and (line.n == 11 or line.n == 12):
            o.rules = RULES_10 if line.n == 11 else RULES_12
        r.fault = read_card(text, line, &o.cards[i], o.rules)
        if r.fault == 0:
            r.fault = row_fault(o, &o.cards[i], r.places)
        r.done += 1
        if r.fault == 0 and r.done < o.n_cards:
            return 1
    if r.fault:
        return -1
    r.stage = stage + 1
    if r.stage <= CARD_ROWS:
        return 1
    if o.rules < 0:
        o.rules = RULES_12
    return 0


cdef int shown_read(
    shown_t* o, reader_t* r, const char* text, int size, int rules
) noexcept nogil:
    cdef int at = 0, more = 1
    reader_start(r, o, rules)
    while more > 0:
        more = reader_take(r, o, text, size, &at)
    while more == 0 and at < size:
        r.number += 1
        r.begin = at
        at = split(text, size, at, &r.line)
        if r.line.n:
            r.fault = WRONG_END
            more = -1
    return more


# ---- writing -------------------------------------------------------------------------------------

cdef inline char* put_number(char* to, int32_t value, char end) noexcept nogil:
    """Append a number and the character after it."""
    cdef char digits[12]
    cdef int n = 0
    cdef uint32_t left = <uint32_t>value
    if value < 0:
        to[0] = b'-'
        to += 1
        left = 0 - left
    while True:
        digits[n] = <char>(48 + left % 10)          # '0'
        n += 1
        left //= 10
        if left == 0:
            break
    while n:
        n -= 1
        to[0] = digits[n]
        to += 1
    to[0] = end
    return to + 1


cdef char* put_word(char* to, const char* word) noexcept nogil:
    while word[0]:
        to[0] = word[0]
        word += 1
        to += 1
    return to


cdef char* put_action(char* to, const shown_action_t* a, char end) noexcept nogil:
    to = put_word(to, b"SUMMON " if a.kind == SUMMON else b"USE " if a.kind == USE else b"ATTACK ")
    if a.target == NO_TARGET:
        return put_number(to, a.id, end)
    return put_number(put_number(to, a.id, b' '), a.target, end)


cdef int shown_write(const shown_t* o, char* to) noexcept nogil:
    cdef const char* letters = b"BCDGLW"
    cdef const shown_player_t* p
    cdef const shown_card_t* c
    cdef char* first = to
    cdef int i, bit
    for i in range(2):
        p = &o.player[i]
        to = put_number(put_number(put_number(to, p.health, b' '), p.max_mana, b' '),
                        p.deck_size, b' ')
        if o.rules != RULES_15:
            to = put_number(to, p.rune, b' ')
        to = put_number(to, p.draw, b'\n')
    to = put_number(put_number(to, o.opponent_hand, b' '), o.n_actions, b'\n')
    for i in range(o.n_actions):
        to = put_action(put_number(to, o.actions[i].base_id, b' '), &o.actions[i], b'\n')
    to = put_number(to, o.n_cards, b'\n')
    for i in range(o.n_cards):
        c = &o.cards[i]
        to = put_number(put_number(to, c.base_id, b' '), c.id, b' ')
        to = put_number(put_number(to, c.location, b' '), c.type, b' ')
        to = put_number(put_number(to, c.cost, b' '), c.attack, b' ')
        to = put_number(to, c.defense, b' ')
        for bit in range(6):
            to[bit] = b'-'
            if c.keywords >> bit & 1:
                to[bit] = letters[bit]
        to[6] = b' '
        to = put_number(put_number(to + 7, c.my_health, b' '), c.opponent_health, b' ')
        to = put_number(to, c.draw, b' ')
        if o.rules == RULES_15:
            to = put_number(to, c.area, b' ')
        if o.rules != RULES_10:
            to = put_number(to, c.lane, b' ')
        to[0] = b'\n'              # every card row ends in a blank
        to += 1
    return <int>(to - first)


# ---- faults --------------------------------------------------------------------------------------

cdef dict LOCATION_NAMES = {
    HAND: "hand", MY_BOARD: "player's board", ENEMY_BOARD: "opponent's board"}
#: The bounds of the fields of a row; other fields have none.
cdef dict ROW_BOUNDS = {
    "base_id": (0, None), "instance_id": (OFFERED, None), "location": (-1, 1), "type": (0, 3),
    "area": (0, 2), "lane": (-1, 1)}
cdef tuple CARD_COLUMNS = tuple(
    [tuple([name for name in CardInPlay._fields
            if (rules.areas or name != "area") and (rules.lanes > 1 or name != "lane")])
     for rules in (RULES[name] for name in RULES_NAMES)])


cdef str number_fault(str name, str text, low, high):
    """Say what is wrong with a text that should be a number."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS):
        return f"{name}: expected an integer, got {text!r}"
    return bounds_fault(name, int(text), low, high)


cdef str bounds_fault(str name, value, low, high):
    wanted = f"at least {low}" if high is None else f"{low}..{high}"
    return f"{name}: expected {wanted}, got {value}"


cdef str place_fault(const shown_t* o, const shown_card_t* c, int fault):
    """Return the message of a `row_fault`."""
    where = LOCATION_NAMES[c.location]
    if fault == WRONG_PHASE:
        return "cards on offer (instance id -1) and cards in play do not mix"
    if fault == WRONG_LANE:
        return f"a card {'on' if c.location else 'in'} the {where} cannot have lane {c.lane}"
    if fault == WRONG_TYPE:
        return f"a card on the {where} cannot have type {c.type}"
    if fault == WRONG_OFFER:
        return "a card on offer (instance id -1) must have location 0"
    capacity = HAND_LIMIT if c.location == 0 else RULES[RULES_NAMES[o.rules]].lane_size
    lane = "" if c.location == 0 else f", lane {c.lane}"
    return f"{where}{lane}: more than {capacity} cards"


cdef str column_fault(const reader_t* r, const shown_t* o, str text):
    """Say what is wrong with the column `r.line.bad`, which is `text`."""
    column = r.line.bad
    low = high = None
    if r.stage <= THEIR_LINE:
        names = ["health", "max_mana", "deck_size", "draw"]
        if o.rules != RULES_15:
            names.insert(3, "rune")
        name = names[column]
    elif r.stage == COUNTS:
        name = "number of actions" if column else "opponent's hand size"
        low, high = 0, MAX_SHOWN_ACTIONS if column else None
    elif r.stage == ACTION_LINES:
        name, low = "base id of an action", 0
    elif r.stage == NUMBER_OF_CARDS:
        name, low, high = "number of card rows", 0, OFFER_SIZE
    else:
        name = CARD_COLUMNS[o.rules][column]
        if name == "abilities":
            return f"abilities: expected a form of BCDGLW, got {text!r}"
        low, high = ROW_BOUNDS.get(name, (None, None))
    if r.stage < CARD_ROWS and text.startswith("-"):
        high = None                     # a count can only be too low
    return number_fault(name, text, low, high)


cdef str count_fault(const reader_t* r, const shown_t* o, str line):
    """Say what is wrong with a number of columns."""
    if r.stage <= THEIR_LINE:
        what = "opponent's player line" if r.stage else "own player line"
        wanted = "4" if o.rules == RULES_15 else "5"
        if o.rules < 0 and r.stage == OWN_LINE:
            wanted = "4 or 5"
    elif r.stage == COUNTS:
        what, wanted = "opponent's hand size and number of actions", "2"
    elif r.stage == NUMBER_OF_CARDS:
        what, wanted = "number of card rows", "1"
    else:
        what = "card row"
        wanted = "12 or 11" if o.rules < 0 else str(len(CARD_COLUMNS[o.rules]))
    got = repr(line.rstrip()) if line.strip() else "an empty line or the end"
    return f"{what}: expected {wanted} value(s), got {got}"


cdef object fault_of(const reader_t* r, const shown_t* o, bytes text):
    """Return the error that names the line and what is wrong there."""
    cdef int column = r.line.bad
    line = text[r.begin:].split(b"\n", 1)[0].decode("utf-8", "surrogatepass")
    if r.fault == WRONG_COUNT:
        what = count_fault(r, o, line)
    elif r.fault == WRONG_COLUMN:
        raw = text[r.line.start[column]:r.line.end[column]]
        what = column_fault(r, o, raw.decode("utf-8", "surrogatepass"))
    elif r.fault == WRONG_ACTION:
        what = f"opponent's action: expected a base id and an action, got {line.rstrip()!r}"
    elif r.fault == WRONG_END:
        what = f"nothing may follow the last card row, got {line!r}"
    else:
        what = place_fault(o, &o.cards[r.done - 1], r.fault)
    return ProtocolError(f"line {r.number}: {what}")


# ---- fields --------------------------------------------------------------------------------------

cdef tuple LINE_FIELDS = tuple(
    [tuple([f"{who}.{name}" for name in PlayerLine._fields]) for who in ("me", "opponent")])


cdef int rules_code(rules) except? -1:
    return RULES_NAMES.index(get_rules(rules).name)


cdef object line_of(const shown_player_t* p):
    return tuple.__new__(PlayerLine, (p.health, p.max_mana, p.deck_size, p.draw, p.rune))


cdef int take_line(shown_player_t* p, line, tuple names) except -1:
    cdef int32_t* field[5]
    cdef int i
    line = tuple(line)
    field = [&p.health, &p.max_mana, &p.deck_size, &p.draw, &p.rune]
    if len(line) != 5:
        raise ValueError(f"{names[0].partition('.')[0]}: expected 5 numbers, got {line!r}")
    for i, value in enumerate(line):
        field[i][0] = <int32_t>whole_number(value, names[i], -MAX_SHOWN_NUMBER, MAX_SHOWN_NUMBER)
    return 0


cdef object action_of(const shown_action_t* a):
    cdef char[48] text
    cdef char* end = put_action(text, a, b' ')
    return tuple.__new__(OpponentAction, (a.base_id, text[:end - text - 1].decode("ascii")))


cdef int take_actions(shown_t* o, actions) except -1:
    cdef split_line_t line
    cdef bytes raw
    cdef int i
    actions = tuple(actions)
    if len(actions) > MAX_SHOWN_ACTIONS:
        raise ValueError(
            f"opponent_actions: {len(actions)}, expected at most {MAX_SHOWN_ACTIONS}")
    for i, action in enumerate(actions):
        try:
            base_id, text = action
        except (TypeError, ValueError):
            base_id, text = "", action  # refused below
        raw = f"{base_id} {text}".encode("utf-8", "surrogatepass")
        if (
            split(raw, <int>len(raw), 0, &line) <= len(raw)
            or read_action(raw, &line, 0, &o.actions[i], o)
        ):
            raise ValueError(
                f"opponent_actions[{i}]: expected a base id and an action, got {action!r}")
    o.n_actions = <int32_t>len(actions)
    return 0


cdef object card_of(const shown_card_t* c):
    return tuple.__new__(CardInPlay, (
        c.base_id, c.id, c.location, c.type, c.cost, c.attack, c.defense, ABILITY_TEXTS[c.keywords],
        c.my_health, c.opponent_health, c.draw, c.area, c.lane))


cdef str row_text_fault(row):
    """Return the field of a row that is out of range; None if all are in range."""
    if len(row) != 13:
        return "expected 13 fields"
    for name, value in zip(CardInPlay._fields, row):
        if name == "abilities":
            if not isinstance(value, str) or value not in ABILITY_BITS:
                return f"abilities: expected a form of BCDGLW, got {value!r}"
            continue
        low, high = ROW_BOUNDS.get(name, (-MAX_SHOWN_NUMBER, MAX_SHOWN_NUMBER))
        whole_number(value, name, low, MAX_SHOWN_NUMBER if high is None else high)
    return None


cdef int take_row(shown_card_t* c, row) except -1:
    """Return the fields of a row; ``ValueError`` names one that is out of range."""
    (base_id, id, location, type, cost, attack, defense, abilities, my_health, opponent_health,
     draw, area, lane) = row
    # Through __index__: floats are refused.
    c.base_id, c.id, c.location, c.type = index(base_id), index(id), index(location), index(type)
    c.cost, c.attack, c.defense, c.draw = index(cost), index(attack), index(defense), index(draw)
    c.my_health, c.opponent_health = index(my_health), index(opponent_health)
    c.area, c.lane = index(area), index(lane)
    c.keywords = ABILITY_BITS[abilities]
    if not (
        0 <= c.base_id <= MAX_SHOWN_NUMBER and OFFERED <= c.id <= MAX_SHOWN_NUMBER
        and -1 <= c.location <= 1 and 0 <= c.type <= 3 and 0 <= c.area <= 2 and -1 <= c.lane <= 1
        and in_range(c.cost) and in_range(c.attack) and in_range(c.defense)
        and in_range(c.my_health) and in_range(c.opponent_health) and in_range(c.draw)
    ):
        raise ValueError
    return 0


cdef inline bint in_range(int32_t value) noexcept:
    return -MAX_SHOWN_NUMBER <= value <= MAX_SHOWN_NUMBER


cdef int take_cards(shown_t* o, rows) except -1:
    cdef int32_t places[3][3]
    cdef int i, fault
    memset(places, 0, sizeof(places))
    rows = tuple(rows)
    if len(rows) > OFFER_SIZE:
        raise ValueError(f"cards: {len(rows)} rows, expected at most {OFFER_SIZE}")
    for i, row in enumerate(rows):
        what = ""
        try:
            take_row(&o.cards[i], row)
        except (KeyError, OverflowError, TypeError, ValueError):
            try:
                what = row_text_fault(row)
            except (TypeError, ValueError) as error:
                what = str(error)
        else:
            fault = row_fault(o, &o.cards[i], places)
            if fault:
                what = place_fault(o, &o.cards[i], fault)
        if what:
            raise ValueError(f"cards[{i}]: {row!r} does not fit: {what}")
    o.n_cards = <int32_t>len(rows)
    return 0


cdef int check_shown(const shown_t* o) except -1:
    """Refuse what texts of the rule set do not show: runes in 1.5, areas in the others."""
    cdef int i
    if o.rules == RULES_15:
        for i in range(2):
            if o.player[i].rune:
                raise ValueError(f"{LINE_FIELDS[i][4]}: rules 1.5 have no runes")
    else:
        for i in range(o.n_cards):
            if o.cards[i].area:
                raise ValueError(f"cards[{i}]: area: rules {RULES_NAMES[o.rules]} have no areas")
    return 0


cdef inline Observation new_observation():
    return Observation.__new__(Observation)


cdef tuple offer_of(observation):
    """Return the cards to choose from; none in the battle."""
    if observation.phase != "choice":
        return ()
    return tuple([row.card() for row in observation.cards])


@cython.final
@cython.no_gc                   # its fields hold nothing that could hold it
cdef class Observation(Shown):
    """The view of a player at the moment when they are asked.

    Each access to a field creates a new object.

    Parameters
    ----------
    rules : str
        The rule set: "1.5", "1.2" or "1.0".
    me, opponent : PlayerLine
        The player and the opponent.
    opponent_hand : int
        The number of cards in the opponent's hand.
    opponent_actions : iterable of OpponentAction
        The opponent's actions in their last turn.
    cards : iterable of CardInPlay
        The player's hand, the player's board and the opponent's board; in the choice phase the
        offer.

    Raises
    ------
    ValueError
        A field is out of range, or two rows contradict each other.
    """

    __match_args__ = ("rules", "me", "opponent", "opponent_hand", "opponent_actions", "cards")

    def __init__(self, rules, me, opponent, opponent_hand, opponent_actions, cards):
        self.o.n_actions = self.o.n_cards = 0
        self.take({"rules": rules, "me": me, "opponent": opponent, "opponent_hand": opponent_hand,
                   "opponent_actions": opponent_actions, "cards": cards})

    cdef int take(self, dict fields) except -1:
        cdef shown_t* o = &self.o
        self._offer = None
        if "rules" in fields:
            o.rules = rules_code(fields["rules"])
        for i, name in enumerate(("me", "opponent")):
            if name in fields:
                take_line(&o.player[<int>i], fields[name], LINE_FIELDS[i])
        if "opponent_hand" in fields:
            o.opponent_hand = <int32_t>whole_number(
                fields["opponent_hand"], "opponent_hand", -MAX_SHOWN_NUMBER, MAX_SHOWN_NUMBER)
        if "opponent_actions" in fields:
            take_actions(o, fields["opponent_actions"])
        if "cards" in fields:
            take_cards(o, fields["cards"])
        check_shown(o)
        return 0

    def replace(self, **changes):
        """Return a copy with other values in some fields.

        Parameters
        ----------
        **changes
            New values of the fields, which are the parameters of the class.

        Returns
        -------
        Observation

        Raises
        ------
        TypeError
            A field is unknown.
        ValueError
            A field is out of range, or two rows contradict each other.
        """
        cdef Observation observation = new_observation()
        unknown = changes.keys() - set(Observation.__match_args__)
        if unknown:
            raise TypeError(f"Observation has no field {min(unknown)!r}")
        if "rules" in changes:      # other lanes, other places
            changes = {
                "cards": self.cards, "opponent_actions": self.opponent_actions, **changes}
        observation.o = self.o
        observation.take(changes)
        return observation

    __replace__ = replace

    def __reduce__(self):
        return Observation, (self.rules, self.me, self.opponent, self.opponent_hand,
                             self.opponent_actions, self.cards)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __eq__(self, other):
        cdef const shown_t* a = &self.o
        cdef const shown_t* b
        if not isinstance(other, Observation):
            return NotImplemented
        b = &(<Observation>other).o
        return a is b or (
            a.rules == b.rules and a.opponent_hand == b.opponent_hand
            and a.n_actions == b.n_actions and a.n_cards == b.n_cards
            and memcmp(a.player, b.player, sizeof(a.player)) == 0
            and memcmp(a.actions, b.actions, a.n_actions * sizeof(shown_action_t)) == 0
            and memcmp(a.cards, b.cards, a.n_cards * sizeof(shown_card_t)) == 0)

    def __hash__(self):
        cdef const shown_t* o = &self.o
        return hash((
            o.rules, o.opponent_hand, (<const char*>o.player)[:sizeof(o.player)],
            (<const char*>o.actions)[:o.n_actions * sizeof(shown_action_t)],
            (<const char*>o.cards)[:o.n_cards * sizeof(shown_card_t)]))

    @property
    def rules(self):
        """The name of the rule set."""
        return RULES_NAMES[self.o.rules]

    @property
    def me(self):
        """The player."""
        return line_of(&self.o.player[0])

    @property
    def opponent(self):
        """The opponent."""
        return line_of(&self.o.player[1])

    @property
    def opponent_hand(self):
        """The number of cards in the opponent's hand."""
        return self.o.opponent_hand

    @property
    def opponent_actions(self):
        """The opponent's actions in their last turn, a tuple of `OpponentAction`."""
        return tuple([action_of(&self.o.actions[i]) for i in range(self.o.n_actions)])

    @property
    def cards(self):
        """A tuple of `CardInPlay`: the player's hand, their board, the opponent's board; or the
        offer.
        """
        return tuple([card_of(&self.o.cards[i]) for i in range(self.o.n_cards)])

    @property
    def phase(self):
        """The phase of the game, "choice" or "battle". Only offered cards have no instance id."""
        return "choice" if self.o.n_cards and self.o.cards[0].id == OFFERED else "battle"

    @property
    def offer(self):
        """The cards to choose from, as presented; empty in the battle."""
        with cython.critical_section(self):     # matches share observations
            if self._offer is None:
                self._offer = offer_of(self)
            return self._offer

    def at(self, int location):
        """Return the cards of one location in their order.

        Parameters
        ----------
        location : int
            0 for the player's hand, 1 for the player's board, -1 for the opponent's board.

        Returns
        -------
        tuple of CardInPlay
            Empty in the choice phase.
        """
        if self.phase == "choice":
            return ()
        return tuple([card_of(&self.o.cards[i]) for i in range(self.o.n_cards)
                      if self.o.cards[i].location == location])

    @staticmethod
    def parse(str text not None, rules=None):
        """Parse the text that a player is sent.

        Missing trailing blanks and line ends do not matter.

        Parameters
        ----------
        text : str
            One observation (docs/rules.md, section 9; section 3 in the choice phase).
        rules : str, optional
            The rule set. By default the columns tell: player lines with 4 columns are 1.5; with 5
            they are 1.x, where card rows with 12 columns and summons with a lane are 1.2, those
            with 11 and without a lane 1.0. A text of 1.x without any of them is read as 1.2.

        Returns
        -------
        Observation

        Raises
        ------
        ProtocolError
            The text is malformed; the message names the line and what is wrong there.
        ValueError
            `rules` is unknown.
        """
        cdef Observation observation = new_observation()
        cdef reader_t r
        cdef bytes raw = text.encode("utf-8", "surrogatepass")
        cdef int code = -1 if rules is None else rules_code(rules)
        if shown_read(&observation.o, &r, raw, <int>len(raw), code):
            raise fault_of(&r, &observation.o, raw)
        return observation

    @staticmethod
    def of(State state not None, player, opponent_actions=()):
        """Return the observation of a player in a state.

        Parameters
        ----------
        state : State
            The position at the moment when the player is asked.
        player : int
            0 or 1.
        opponent_actions : iterable of OpponentAction
            The opponent's actions in the previous turn, which a state does not know.

        Returns
        -------
        Observation

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        cdef Observation observation = new_observation()
        state_seen(&state.s, &state.table.t, player_of(player), &observation.o)
        take_actions(&observation.o, opponent_actions)
        return observation

    def format(self):
        """Return the text that a referee would send, byte for byte."""
        cdef char[MAX_SHOWN_TEXT] text
        return text[:shown_write(&self.o, text)].decode("ascii")

    def __repr__(self):
        return "Observation(" + ", ".join(
            [f"{name}={getattr(self, name)!r}" for name in Observation.__match_args__]) + ")"

    def __str__(self):
        """Return one line; `format` returns the whole text."""
        from locmsim.game.boards import one_line

        return one_line(self)

    def _repr_html_(self):
        """Return a picture of what the player sees for notebooks."""
        from locmsim.game.boards import observation_svg

        return observation_svg(self)

    def legal_actions(self):
        """Return the legal actions at the start of the turn in ascending order, numbered as in
        `State`.

        At that time no mana has been spent, and all of the player's creatures may attack.

        Returns
        -------
        list of int
            Empty in the choice phase, and when one of the players is dead.

        Raises
        ------
        ValueError
            The observation is impossible, for example because two cards have one instance id.
        """
        return [] if self.phase == "choice" else State.from_observation(self).legal_actions()


def read_observation(readline, rules=None):
    """Read the lines of one observation, and no more, from a stream.

    Parameters
    ----------
    readline : callable
        Returns the next line, as ``sys.stdin.readline`` does.
    rules : str, optional
        As for `Observation.parse`.

    Returns
    -------
    Observation or None
        None if the stream ends before the first line.

    Raises
    ------
    ProtocolError
        The text is malformed, or the stream ends too early.
    """
    cdef Observation observation = new_observation()
    cdef reader_t r
    cdef bytes raw
    cdef str line
    cdef int more = 1, at
    reader_start(&r, &observation.o, -1 if rules is None else rules_code(rules))
    while more > 0:
        line = readline()
        if not line and r.number == 0:
            return None
        raw = line.encode("utf-8", "surrogatepass")
        at = 0
        more = reader_take(&r, &observation.o, raw, <int>len(raw), &at)
        if more < 0:
            raise fault_of(&r, &observation.o, raw)
    return observation
