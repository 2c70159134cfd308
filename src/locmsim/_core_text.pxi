# Answer lines and the names of actions. Part of _core.pyx, which includes it.

from locmsim.rules.actions import ActionKind
from locmsim.rules.cards import parse_integer

# ---- action text (section 8) ---------------------------------------------------------------------
# Lines are parsed as in the referee's language, which trims and reads integers in its own way.

BLANKS = "".join(map(chr, range(33)))           # characters trimmed off both ends
_WORDS = {"PASS": PASS, "SUMMON": SUMMON, "USE": USE, "ATTACK": ATTACK}
_KIND_NAMES = ("PASS", "SUMMON", "USE", "ATTACK")


cdef tuple parse_part(str part, int rules):
    """Return (kind, first, second) of one trimmed, non-empty part of a line."""
    cdef list words = part.split(" ", 1)
    cdef str word = words[0].strip(BLANKS)
    cdef list args
    cdef int needed
    kind = _WORDS.get(word)
    if kind is None:
        raise InvalidActionError(
            "Invalid action name. Should be SUMMON, ATTACK,  USE or PASS." if rules == RULES_15
            else "Invalid action name. Should be SUMMON, ATTACK, or USE.")
    if kind == PASS:
        return (PASS, -1, -1)
    needed = 1 if kind == SUMMON and rules == RULES_10 else 2
    args = words[1].split(" ", needed) if len(words) > 1 else []
    values = [parse_integer(arg) for arg in args[:needed]]
    if len(values) < needed or None in values:
        raise InvalidActionError(
            "Invalid SUMMON argument. Expected integer (card id)." if needed == 1 else
            f"Invalid {word} arguments. Expected two integers "
            f"(card id and {'lane' if kind == SUMMON else 'target id'}).")
    return (kind, values[0], values[1] if needed == 2 else 0)


cdef list parse_parts(str line, int rules):
    cdef list parts = []
    cdef str part
    for part in line.split(";"):
        part = part.strip(BLANKS)
        if part:
            parts.append(parse_part(part, rules))
    return parts


cdef str text_of(tuple parsed, int rules):
    """Return the canonical text of a parsed action."""
    kind, first, second = parsed
    if kind == PASS:
        return "PASS"
    if kind == SUMMON and rules == RULES_10:
        return f"SUMMON {first}"
    return f"{_KIND_NAMES[kind]} {first} {second}"


def parse_line(line, rules="1.5"):
    """Return the actions of an answer line of the battle as canonical texts, PASS included.

    Raises `InvalidActionError` with the referee's message if any part of the line is malformed
    (docs/rules.md, section 8).
    """
    cdef int code = RULES_NAMES.index(get_rules(rules).name)
    return [text_of(parsed, code) for parsed in parse_parts(line, code)]


# ---- actions of a position -----------------------------------------------------------------------

cdef list play_line(State state, str line):
    """Apply the actions of an answer line. Return for each, up to the first one after
    a win, how it was parsed, its number, and whether it was legal and applied."""
    cdef state_t* s = &state.s
    cdef const table_t* t = &state.table.t
    cdef list found = []
    cdef int number
    cdef bint legal
    for parsed in parse_parts(line, t.rules):
        number = find_action(state, parsed)
        legal = number > PASS and state_is_legal(s, t, number)
        if legal:
            if s.p[0].won | s.p[1].won:
                break
            state_apply(s, t, number)
        found.append((parsed, number, legal))
    return found


cdef tuple _KINDS = tuple(ActionKind)


cdef object action_fields(State state, int number):
    """Return the `Action` of a number; None if it names an empty place."""
    cdef const table_t* t = &state.table.t
    cdef const player_t* me = &state.s.p[state_player(&state.s)]
    cdef named_t named
    cdef move_t m
    cdef int entry
    if not name_action(&state.s, t, number, &named):
        return None
    if named.kind == PASS:
        return tuple.__new__(Action, (_KINDS[PASS], None, None, None, None))
    m = MOVES[t.rules == RULES_10][number]
    entry = me.board[m.source].card if m.kind == ATTACK else me.hand >> 8 * m.source & 255
    if m.kind == SUMMON:
        return tuple.__new__(Action, (
            _KINDS[SUMMON], state.table.card(entry), named.source, None,
            None if t.rules == RULES_10 else named.target))
    return tuple.__new__(
        Action, (_KINDS[m.kind], state.table.card(entry), named.source, named.target, None))


cdef int find_action(State state, tuple parsed) except? -1:
    """Return the number of a parsed action; -1 if one of its ids is in the wrong place."""
    cdef const player_t* me = &state.s.p[state_player(&state.s)]
    cdef const player_t* op = &state.s.p[1 - state_player(&state.s)]
    cdef const table_t* t = &state.table.t
    cdef move_t m
    cdef int kind, found
    cdef int64_t first, second
    kind, first, second = parsed
    if kind == PASS:
        return PASS
    m.kind = kind
    m._pad = 0
    m.target = 0
    found = find_creature(me, t, first) if kind == ATTACK else find_in_hand(me, t, first)
    if found < 0:
        return -1
    m.source = found
    if kind == SUMMON:
        if not 0 <= second < (1 if t.rules == RULES_10 else 2):
            return -1
        if hand_card(me, t, found).type != CREATURE:
            return -1
        m.target = <uint8_t>second
    elif kind == USE:
        if hand_card(me, t, found).type == CREATURE:
            return -1
        if second != -1:
            found = find_creature(me, t, second)
            if found < 0:
                found = find_creature(op, t, second)
                if found < 0:
                    return -1
                found += 6
            m.target = 1 + found
    elif second != -1:
        found = find_creature(op, t, second)
        if found < 0 or (t.rules != RULES_10 and (found >= 3) != (m.source >= 3)):
            return -1
        m.target = 1 + found
    return action_of(m, t.rules == RULES_10)


cdef int find_in_hand(const player_t* p, const table_t* t, int64_t id) noexcept:
    cdef int h
    for h in range(p.hand_size):
        if hand_card(p, t, h).id == id:
            return h
    return -1


cdef int find_creature(const player_t* p, const table_t* t, int64_t id) noexcept:
    cdef int slot
    for slot in range(MAX_BOARD):
        if marked(p, OCCUPIED) >> slot & 1 and creature_id(&p.board[slot], t) == id:
            return slot
    return -1


cdef int write_number(char* to, int number) noexcept nogil:
    """Write a blank and an integer of at most nine digits; return their length."""
    cdef char digits[10]
    cdef int n = 0, length = 1
    to[0] = 32                              # ' '
    if number < 0:
        to[length] = 45                     # '-'
        length += 1
        number = -number
    while n == 0 or number > 0:
        digits[n] = 48 + number % 10        # '0'
        number //= 10
        n += 1
    while n > 0:
        n -= 1
        to[length] = digits[n]
        length += 1
    return length


ctypedef struct named_t:            # an action by the instance ids it names
    int kind
    int source                      # instance ids; -1: a player
    int target                      # SUMMON: the lane


cdef bint name_action(
    const state_t* s, const table_t* t, int action, named_t* out
) noexcept nogil:
    """Find what an action names; False if one of these is missing."""
    cdef const player_t* me = &s.p[s.turn & 1]
    cdef const player_t* op = &s.p[~s.turn & 1]
    cdef const player_t* p = op
    cdef bint one = t.rules == RULES_10
    cdef move_t m
    cdef int slot
    if action < 0 or action >= (MAX_ACTIONS if one else TWO_LANE_ACTIONS):
        return False
    m = MOVES[one][action]
    out.kind = m.kind
    out.source = out.target = -1
    if m.kind == PASS:
        return True
    slot = m.target - 1
    if m.kind == ATTACK:
        if not marked(me, OCCUPIED) >> m.source & 1:
            return False
        out.source = creature_id(&me.board[m.source], t)
    else:
        if m.source >= me.hand_size:
            return False
        out.source = hand_card(me, t, m.source).id
        if m.kind == SUMMON:
            out.target = m.target
            return True
        if slot >= MAX_BOARD:
            slot -= MAX_BOARD
        else:
            p = me
    if slot >= 0:
        if not marked(p, OCCUPIED) >> slot & 1:
            return False
        out.target = creature_id(&p.board[slot], t)
    return True


cdef int state_write(const state_t* s, const table_t* t, int action, char* to) noexcept nogil:
    cdef named_t named
    cdef const char* word
    cdef int n = 0
    if not name_action(s, t, action, &named):
        return 0
    word = "PASS" if named.kind == PASS else "SUMMON" if named.kind == SUMMON else (
        "USE" if named.kind == USE else "ATTACK")
    while word[n]:
        to[n] = word[n]
        n += 1
    if named.kind == PASS:
        return n
    n += write_number(&to[n], named.source)
    if named.kind != SUMMON or t.rules != RULES_10:
        n += write_number(&to[n], named.target)
    return n


cdef object action_text(State state, int number):
    """Return the canonical text of an action; None if it names an empty place."""
    cdef char text[MAX_ACTION_TEXT]
    cdef int n = state_write(&state.s, &state.table.t, number, text)
    return text[:n].decode("ascii") if n else None


cdef str describe_action(State state, int number, action):
    text = action_text(state, number)
    return f"{action}" if text is None else f"{action} ({text})"


cdef int64_t _word_of(number) except? -2:
    """Return a number of an `Action`; -2, which names nothing, if it is missing or too large."""
    try:
        return -2 if number is None else number
    except OverflowError:
        return -2


cdef object _last_argument(str name, tuple args):
    if not 1 <= len(args) <= 2:
        raise TypeError(f"{name}() takes one or two arguments, got {len(args)}")
    return args[len(args) - 1]
