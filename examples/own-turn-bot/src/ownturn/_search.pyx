"""A search over the player's own turn that ignores the opponent: cards first, then attacks.

It calls the kernel of the installed locmsim, whose structs and functions are declared in
``locmsim/_core.pxd``, and shares nothing with `locmsim.search`.

The turn ends where the evaluation is best. The evaluation uses only what the player can see, never
the cards in the opponent's hand or the order of a deck.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from locmsim._core cimport (
    ABI_VERSION,
    ATTACK,
    BREAKTHROUGH,
    DRAIN,
    GUARD,
    GUARDED,
    LETHAL,
    MAX_ACTIONS,
    MAX_BOARD,
    MAX_CARDS,
    MAX_HAND,
    OCCUPIED,
    PASS,
    READY,
    RULES_10,
    SPENT,
    WARD,
    State,
    card_t,
    creature_t,
    decode_action,
    player_t,
    state_apply,
    state_list,
    state_next_draw,
    state_t,
    state_winner,
    table_t,
)
from locmsim._platform cimport now_ns_

import locmsim

__all__ = ["OTHER_TERMS", "SIDE_TERMS", "OwnTurn"]

# This module contains the structs of the locmsim that it was built with.
if locmsim.ABI_VERSION != ABI_VERSION:
    raise ImportError(
        f"built for version {ABI_VERSION} of locmsim's structs, but {locmsim.ABI_VERSION} is "
        "installed: build own-turn-bot again")

#: What the evaluation counts for each player; weights are named "own.NAME" and "their.NAME".
SIDE_TERMS = {
    "health": "each point of health",
    "low_health": "each point of health that is missing to 12",
    "creature": "each creature",
    "attack": "each point of attack on the board",
    "defense": "each point of defense on the board",
    "guard": "each point of defense of a creature with Guard",
    "lethal": "each creature with Lethal",
    "ward": "each point of attack of a creature with Ward",
    "drain": "each point of attack of a creature with Drain",
    "breakthrough": "each point of attack of a creature with Breakthrough",
    "room": "each lane with room for a creature",
    "card": "each card in hand after the next draw",
    "many_cards": "each of them beyond four",
    "low_deck": "each card that is missing to ten in the deck after the next draw",
    "deck_out": "each card that the next draw will miss in the deck",
    "open_attack": "each point of attack in lanes without an enemy Guard",
    "kill": "that being enough to kill",
}
#: What it counts for the player alone: their hand, and the comparison of ways to play cards.
OTHER_TERMS = {
    "hand.green": "each green item in hand",
    "hand.red": "each red item in hand",
    "hand.blue": "each blue item in hand",
    "hand.cost": "each point of mana that the cards in hand cost",
    "ready": "each point of attack that may go to the opponent at once, before attacks are tried",
}

cdef enum:
    LOW_HEALTH = 12
    MANY_CARDS = 4
    LOW_DECK = 10
    MAX_PLAYS = 128             # ways to play cards after which attacks are searched
    MAX_LINE = 64               # most actions of a turn
    PLACES = 1 << 16            # size of the direct-mapped table of hashes
    CLOCK_PERIOD = 32           # nodes between two readings of the clock
    ATTACK_NODES = 4000         # most nodes for the attacks after one way to play cards

cdef float WON = 1e6            # above any sum of other terms

ctypedef struct side_t:
    float health, low_health
    float creature, attack, defense, guard, lethal, ward, drain, breakthrough
    float places, card, many_cards, low_deck, deck_out, open_attack, kill

ctypedef struct line_t:         # actions from the root, the position after them, its value
    float value
    int32_t length
    uint8_t actions[MAX_LINE]
    state_t end

ctypedef struct search_t:
    const table_t* table
    side_t own
    side_t their
    float by_type[4]            # cards in hand
    float cost
    float ready
    int32_t who
    int64_t deadline            # by now_ns_
    int64_t nodes               # actions that may still be applied
    int32_t until_clock
    bint over
    uint64_t card_keys[MAX_CARDS]
    uint64_t salt               # tells the hashes of this search from those left in `seen`
    uint64_t* seen
    line_t* plays               # the best ways to play cards, in no order
    int32_t n_plays
    int32_t worst               # ... index of the worst of them
    line_t best                 # the best whole turn


# ---- evaluation ----------------------------------------------------------------------------------

cdef inline int open_attack(
    const player_t* p, const player_t* other, uint32_t who, bint one_lane
) noexcept nogil:
    """Return the attack of the creatures in the mask `who` in lanes without enemy Guards."""
    cdef uint32_t guarded = other.marks >> GUARDED & 63
    cdef int slot, total = 0
    if one_lane:
        if guarded:
            who = 0
    else:
        if guarded & 7:
            who &= ~7
        if guarded & 56:
            who &= 7
    for slot in range(MAX_BOARD):
        if who >> slot & 1:
            total += p.board[slot].attack
    return total


cdef float side_value(
    const search_t* w, const state_t* s, int p, const side_t* weights
) noexcept nogil:
    cdef const player_t* me = &s.p[p]
    cdef const creature_t* x
    cdef uint32_t occupied = me.marks >> OCCUPIED & 63
    cdef int slot, missing, hand, damage, left
    cdef bint one_lane = w.table.rules == RULES_10
    cdef int draws = min(state_next_draw(s, p), MAX_HAND - me.hand_size)
    cdef float value = weights.health * me.health
    if me.health < LOW_HEALTH:
        value -= weights.low_health * (LOW_HEALTH - me.health)
    for slot in range(MAX_BOARD):
        if occupied >> slot & 1:
            x = &me.board[slot]
            value += weights.creature + weights.attack * x.attack + weights.defense * x.defense
            if x.keywords & GUARD:
                value += weights.guard * x.defense
            if x.keywords & LETHAL:
                value += weights.lethal
            if x.keywords & WARD:
                value += weights.ward * x.attack
            if x.keywords & DRAIN:
                value += weights.drain * x.attack
            if x.keywords & BREAKTHROUGH:
                value += weights.breakthrough * x.attack
    if one_lane:
        value += weights.places * (occupied != 63)
    else:
        value += weights.places * (((occupied & 7) != 7) + ((occupied & 56) != 56))
    missing = max(0, draws - me.deck_left)
    hand = me.hand_size + draws - missing
    left = me.deck_left - draws + missing
    value += weights.card * hand + weights.deck_out * missing
    if hand > MANY_CARDS:
        value += weights.many_cards * (hand - MANY_CARDS)
    if left < LOW_DECK:
        value += weights.low_deck * (LOW_DECK - left)
    damage = open_attack(me, &s.p[1 - p], occupied, one_lane)
    return value + weights.open_attack * damage + weights.kill * (damage >= s.p[1 - p].health)


cdef float evaluate(const search_t* w, const state_t* s) noexcept nogil:
    cdef int winner = state_winner(s)
    cdef const player_t* me = &s.p[w.who]
    cdef const card_t* c
    cdef float value
    cdef int h
    if winner >= 0:
        return WON if winner == w.who else -WON
    value = side_value(w, s, w.who, &w.own) - side_value(w, s, 1 - w.who, &w.their)
    for h in range(me.hand_size):
        c = &w.table.cards[me.hand >> 8 * h & 255]
        value += w.by_type[c.type] + w.cost * c.cost
    return value


cdef float promise(const search_t* w, const state_t* s, float value) noexcept nogil:
    """Return the value by which ways to play cards are compared before their attacks are known."""
    cdef const player_t* me = &s.p[w.who]
    cdef const player_t* op = &s.p[1 - w.who]
    cdef int damage = open_attack(me, op, me.marks >> READY & 63, w.table.rules == RULES_10)
    if damage >= op.health:
        value += WON / 2
    return value + w.ready * damage


# ---- positions seen ------------------------------------------------------------------------------

cdef inline uint64_t scrambled(uint64_t x) noexcept nogil:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL
    x = (x ^ x >> 27) * 0x94D049BB133111EBULL
    return x ^ x >> 31


cdef uint64_t position_hash(const search_t* w, const state_t* s) noexcept nogil:
    """Return a hash of a position that ignores the order of cards and of a lane's creatures."""
    cdef const player_t* p
    cdef uint64_t total = 0, word
    cdef int who, slot, h
    for who in range(2):
        p = &s.p[who]
        for slot in range(MAX_BOARD):
            if p.marks >> OCCUPIED >> slot & 1:
                word = <uint16_t>p.board[slot].attack
                word = word << 16 | <uint16_t>p.board[slot].defense
                word = word << 8 | p.board[slot].keywords
                word = word << 1 | (p.marks >> READY >> slot & 1)
                word = word << 1 | (p.marks >> SPENT >> slot & 1)
                word = word << 1 | (slot >= 3 and w.table.rules != RULES_10)
                total += scrambled(word << 1 | who)     # a sum: the order makes no difference
        word = <uint32_t>p.health
        total += scrambled(word << 24 | <uint64_t>state_next_draw(s, who) << 1 | who | 1ULL << 62)
        word = <uint32_t>p.lost
        total += scrambled(word << 1 | who | 1ULL << 61)
    p = &s.p[w.who]
    for h in range(p.hand_size):
        total += w.card_keys[p.hand >> 8 * h & 255]
    return scrambled(total + p.mana)


cdef inline bint is_new(search_t* w, const state_t* s) noexcept nogil:
    cdef uint64_t key = position_hash(w, s)
    cdef uint64_t* place = &w.seen[key % PLACES]
    key ^= w.salt
    if place[0] == key:
        return False
    place[0] = key
    return True


# ---- the search ----------------------------------------------------------------------------------

cdef inline bint spend(search_t* w) noexcept nogil:
    """Take one node of the budget; False if it is used up."""
    w.nodes -= 1
    w.until_clock -= 1
    if w.until_clock <= 0:
        w.until_clock = CLOCK_PERIOD
        if now_ns_() >= w.deadline:
            w.over = True
    if w.nodes < 0:
        w.over = True
    return not w.over


cdef int successors(
    search_t* w, const state_t* s, bint attacks, uint8_t* actions, float* values
) noexcept nogil:
    """Write the new positions after one play or attack, best first; return their number."""
    cdef uint8_t legal[MAX_ACTIONS + 1]
    cdef int n = state_list(s, w.table, legal)
    cdef int i, k, found = 0
    cdef float value
    cdef state_t child
    for i in range(n):
        if legal[i] == PASS or (decode_action(w.table, legal[i]).kind == ATTACK) != attacks:
            continue
        if not spend(w):
            break
        child = s[0]
        state_apply(&child, w.table, legal[i])
        if not is_new(w, &child):
            continue
        value = evaluate(w, &child)
        if not attacks:
            value = promise(w, &child, value)
        k = found
        while k > 0 and values[k - 1] < value:
            values[k] = values[k - 1]
            actions[k] = actions[k - 1]
            k -= 1
        values[k] = value
        actions[k] = legal[i]
        found += 1
    return found


cdef void note_play(search_t* w, const line_t* line) noexcept nogil:
    cdef int i
    if w.n_plays < MAX_PLAYS:
        i = w.n_plays
        w.n_plays += 1
    elif line.value > w.plays[w.worst].value:
        i = w.worst
    else:
        return
    w.plays[i] = line[0]
    if w.n_plays == MAX_PLAYS:
        w.worst = 0
        for i in range(1, MAX_PLAYS):
            if w.plays[i].value < w.plays[w.worst].value:
                w.worst = i


cdef void follow(search_t* w, line_t* line, bint attacks) noexcept nogil:
    """Search depth first everything that plays, or attacks, can reach from a line's end."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef float values[MAX_ACTIONS + 1]
    cdef state_t here
    cdef int i, n
    if state_winner(&line.end) >= 0 or line.length == MAX_LINE - MAX_BOARD:
        return
    here = line.end
    n = successors(w, &here, attacks, actions, values)
    line.length += 1
    for i in range(n):
        line.end = here
        state_apply(&line.end, w.table, actions[i])
        line.actions[line.length - 1] = actions[i]
        line.value = values[i]
        if not attacks:
            note_play(w, line)
        elif line.value > w.best.value:
            w.best = line[0]
        if w.best.value >= WON:
            break
        if not w.over:
            follow(w, line, attacks)
    line.length -= 1


cdef void finish(search_t* w) noexcept nogil:
    """Add actions that are still worth doing after the attacks, as in lanes that they cleared."""
    cdef uint8_t legal[MAX_ACTIONS + 1]
    cdef state_t child
    cdef state_t better
    cdef float value
    cdef int i, n, chosen
    while state_winner(&w.best.end) < 0 and w.best.length < MAX_LINE:
        n = state_list(&w.best.end, w.table, legal)
        chosen = PASS
        for i in range(n):
            if legal[i] == PASS or not spend(w):
                continue
            child = w.best.end
            state_apply(&child, w.table, legal[i])
            value = evaluate(w, &child)
            if value > w.best.value:
                w.best.value = value
                chosen = legal[i]
                better = child
        if chosen == PASS:
            return
        w.best.actions[w.best.length] = chosen
        w.best.length += 1
        w.best.end = better


cdef void run(search_t* w, const state_t* root, int64_t deadline, int64_t nodes) noexcept nogil:
    cdef int64_t now = now_ns_()
    cdef int64_t left, share
    cdef line_t line
    cdef int i, _tried
    w.who = root.turn & 1
    w.salt = scrambled(w.salt + 1)
    line.length = 0
    line.end = root[0]
    line.value = evaluate(w, root)
    w.best = line
    line.value = promise(w, root, line.value)
    w.n_plays = 0
    is_new(w, root)
    note_play(w, &line)
    # Half of the budget is for the cards, a sixteenth for actions after the attacks.
    w.over = False
    w.until_clock = 0
    w.deadline = now + (deadline - now) // 2
    w.nodes = nodes // 2
    follow(w, &line, False)
    left = nodes - nodes // 2 - nodes // 16 + max(w.nodes, 0)
    w.deadline = deadline - (deadline - now) // 16
    for _tried in range(w.n_plays):
        w.worst = 0
        for i in range(1, w.n_plays):
            if w.plays[i].value > w.plays[w.worst].value:
                w.worst = i
        line = w.plays[w.worst]
        w.plays[w.worst].value = -2 * WON
        line.value = evaluate(w, &line.end)
        if line.value > w.best.value:
            w.best = line
        share = min(ATTACK_NODES, max(left // 8, 1))
        w.nodes = share
        w.over = False
        w.until_clock = 0
        follow(w, &line, True)
        left -= share - max(w.nodes, 0)
        if w.best.value >= WON or left <= 0 or now_ns_() >= w.deadline:
            break
    w.nodes = nodes // 16 + max(left, 0)
    w.deadline = deadline
    w.over = False
    w.until_clock = 0
    finish(w)


@cython.final
cdef class OwnTurn:
    """The search and its memory, 0.6 MB; for one thread at a time.

    `weights` maps "own." and "their." with each name of `SIDE_TERMS`, and the names of
    `OTHER_TERMS`, to numbers. ``ValueError`` names one that is missing or unknown.
    """

    cdef search_t w

    def __cinit__(self, weights):
        left = dict(weights)
        self.w.seen = <uint64_t*>calloc(PLACES, sizeof(uint64_t))
        self.w.plays = <line_t*>malloc(MAX_PLAYS * sizeof(line_t))
        if self.w.seen is NULL or self.w.plays is NULL:
            raise MemoryError
        try:
            read_side(&self.w.own, left, "own.")
            read_side(&self.w.their, left, "their.")
            for i, name in enumerate(("green", "red", "blue"), 1):
                self.w.by_type[i] = left.pop(f"hand.{name}")
            self.w.cost = left.pop("hand.cost")
            self.w.ready = left.pop("ready")
        except KeyError as error:
            raise ValueError(f"weights: {error.args[0]} is missing") from None
        if left:
            raise ValueError(f"weights: unknown term {min(left)!r}")

    def __dealloc__(self):
        free(self.w.seen)
        free(self.w.plays)

    def search(self, State state not None, *, time_ns=None, nodes=None):
        """Return the actions of the rest of the turn, without PASS.

        At least one bound must be given. With a bound of `nodes` (applied actions) alone, the same
        state always gives the same answer. ``ValueError`` for a finished game or without a bound.
        """
        cdef const table_t* table = &state.table.t
        cdef int64_t unlimited = <int64_t>1 << 62
        cdef int64_t deadline = unlimited, most = unlimited
        cdef int i
        if time_ns is None and nodes is None:
            raise ValueError("one of time_ns and nodes must be given")
        if state_winner(&state.s) >= 0:
            raise ValueError("the game is over")
        if time_ns is not None:
            deadline = now_ns_() + <int64_t>time_ns
        if nodes is not None:
            most = nodes
        self.w.table = table
        for i in range(table.n_cards):      # copies of a card are alike
            self.w.card_keys[i] = scrambled(table.cards[i].base_id + 1)
        with nogil:
            run(&self.w, &state.s, deadline, most)
        return [self.w.best.actions[i] for i in range(self.w.best.length)]


cdef int read_side(side_t* side, dict left, str prefix) except -1:
    side.health = left.pop(prefix + "health")
    side.low_health = left.pop(prefix + "low_health")
    side.creature = left.pop(prefix + "creature")
    side.attack = left.pop(prefix + "attack")
    side.defense = left.pop(prefix + "defense")
    side.guard = left.pop(prefix + "guard")
    side.lethal = left.pop(prefix + "lethal")
    side.ward = left.pop(prefix + "ward")
    side.drain = left.pop(prefix + "drain")
    side.breakthrough = left.pop(prefix + "breakthrough")
    side.places = left.pop(prefix + "room")
    side.card = left.pop(prefix + "card")
    side.many_cards = left.pop(prefix + "many_cards")
    side.low_deck = left.pop(prefix + "low_deck")
    side.deck_out = left.pop(prefix + "deck_out")
    side.open_attack = left.pop(prefix + "open_attack")
    side.kill = left.pop(prefix + "kill")
    return 0
