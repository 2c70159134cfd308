"""A position with its history as one player knows it: see `locmsim.policy.tracker`."""

cimport cython
from libc.stdint cimport int8_t, uint8_t, uint64_t
from libc.string cimport memset

from locmsim._core cimport (
    MAX_BOARD,
    MAX_CARDS,
    MAX_DECK,
    OCCUPIED,
    SHORT_CARDS,
    State,
    Table,
    is_copy_id,
    num_actions,
    original_id,
    player_t,
    short_table_t,
    state_is_legal,
    state_t,
    state_winner,
    table_of_short,
    table_t,
)
from locmsim.game._layout cimport (
    count_card,
    known_apply,
    known_hand,
    known_start,
    layout_item,
    layout_size,
    write_known,
    write_mask,
)

from locmsim.errors import IllegalActionError
from locmsim.game._layout import LAYOUT_CODES
from locmsim.rules.rulesets import RULES_NAMES

__all__ = ["TurnView"]


cdef int shorten(
    state_t* s, short_table_t* t, const state_t* from_state, const table_t* from_table
) except -1:
    cdef int n = shorten_cards(s, t, from_state, from_table)
    if n > SHORT_CARDS:
        raise ValueError(f"state: {n} different cards, expected at most {SHORT_CARDS}")
    return 0


cdef int shorten_cards(
    state_t* s, short_table_t* t, const state_t* from_state, const table_t* from_table
) noexcept nogil:
    cdef uint8_t places[2][MAX_CARDS]   # [player]: entry -> 1 + its entry in the short table
    cdef player_t* p
    cdef uint64_t hand
    cdef int who, i, n = 0
    memset(places, 0, sizeof(places))
    s[0] = from_state[0]
    # Visible cards come first: their entries must be among those with a history.
    for who in range(2):
        p = &s.p[who]
        for i in range(MAX_BOARD):
            if p.marks >> (OCCUPIED + i) & 1:
                p.board[i].card = place_of(places[who], t, from_table, p.board[i].card, &n)
        hand = 0
        for i in range(p.hand_size):
            hand |= <uint64_t>place_of(
                places[who], t, from_table, p.hand >> 8 * i & 255, &n) << 8 * i
        p.hand = hand
    for who in range(2):
        for i in range(MAX_DECK - s.p[who].deck_left, MAX_DECK):
            s.deck[who][i] = place_of(places[who], t, from_table, s.deck[who][i], &n)
    t.rules = from_table.rules
    t.n_instances = t.n_cards = n
    return n


cdef uint8_t place_of(
    uint8_t* places, short_table_t* to, const table_t* t, int entry, int* n
) noexcept nogil:
    # Each card gets its own entry, even two cards of one entry of the pool while there is room:
    # their histories differ.
    if not places[entry] or entry >= t.n_instances and n[0] < SHORT_CARDS:
        if n[0] < SHORT_CARDS:
            to.cards[n[0]] = t.cards[entry]
            to.cards[n[0]].creature.card = <uint8_t>n[0]
        n[0] += 1
        places[entry] = <uint8_t>(n[0] if n[0] <= SHORT_CARDS else 1)
    return places[entry] - 1


@cython.final
cdef class TurnView:
    """A position at the start of a player's turn, with what they have seen before.

    Parameters
    ----------
    state : State
        The position; the player is to move, and hidden cards are arbitrary.
    drawn : iterable of int
        Instance ids of the cards that the player has just drawn.
    came : iterable of int
        Instance ids of the cards that the opponent summoned in their last turn.
    shown : iterable of Card
        The opponent's cards that the player has seen.
    played : iterable of Card
        The player's cards that the opponent has seen; needed for the opponent's view in searches.
    """

    def __cinit__(self, State state not None, drawn=(), came=(), shown=(), played=()):
        cdef set new = set(drawn), recent = set(came)
        cdef player_t* p
        cdef int who, i, id, entry
        memset(&self.t, 0, sizeof(short_table_t))
        shorten(&self.s, &self.t, &state.s, &state.table.t)
        # An area copy that has outlived its original is recognised by its id.
        for who in range(2):
            p = &self.s.p[who]
            for i in range(MAX_BOARD):
                entry = p.board[i].card
                id = self.t.cards[entry].id
                if p.marks >> (OCCUPIED + i) & 1 and is_copy_id(self.t.rules, id):
                    self.t.cards[entry].id = <uint8_t>original_id(self.t.rules, id)
                    p.board[i].copy = 1
        known_start(&self.k, &self.s, table_of_short(&self.t))
        self.n_actions = num_actions(self.t.rules)
        self.player = who = self.s.turn & 1
        p = &self.s.p[who]
        for i in range(p.hand_size):
            if self.t.cards[p.hand >> 8 * i & 255].id in new:
                self.k.drawn[who] |= <uint64_t>1 << (p.hand >> 8 * i & 63)
        known_hand(&self.k, &self.s, table_of_short(&self.t), who)
        p = &self.s.p[1 - who]
        for i in range(MAX_BOARD):
            if p.marks >> (OCCUPIED + i) & 1:
                if self.t.cards[p.board[i].card].id in recent:
                    self.k.began[1 - who][p.board[i].copy] &= ~(
                        <uint64_t>1 << (p.board[i].card & 63))
        self.count_seen(1 - who, list(shown))
        self.count_seen(who, list(played))

    cdef int count_seen(self, int whose, list shown) except -1:
        """Count the cards that a player has shown."""
        cdef Table cards
        cdef int i
        if not shown:
            return 0
        cards = Table(shown, RULES_NAMES[self.t.rules])
        entries = {cards.card(i): i for i in range(cards.t.n_cards)}
        for card in shown:
            i = entries[card]
            count_card(self.k.seen[whose], &self.k.draws[1][whose], &cards.t.cards[i], 1)
            self.k.n_seen[whose] += 1
        return 0

    def observe(self, str layout, out, int8_t[::1] mask):
        """Write what the player sees in a layout, and the mask, into contiguous arrays.

        Parameters
        ----------
        layout : str
            Name of the layout.
        out : array (size of the layout,)
            Of the type of the layout.
        mask : int8 array (actions,)
            1 is written where an action is legal, else 0.
        """
        cdef uint8_t[::1] buffer = memoryview(out).cast("B")
        cdef int code = LAYOUT_CODES[layout]
        if buffer.shape[0] != layout_size(code, self.t.rules) * layout_item(code):
            raise ValueError(f"out: {buffer.shape[0]} bytes do not fit layout {layout!r}")
        if mask.shape[0] != self.n_actions:
            raise ValueError(f"mask: expected {self.n_actions} numbers, got {mask.shape[0]}")
        write_known(
            code, &buffer[0], &self.k, &self.s, table_of_short(&self.t), self.player)
        write_mask(&mask[0], &self.s, table_of_short(&self.t), self.player)

    def apply(self, int action):
        """Take an action of the player's turn; PASS is refused, because it reads hidden cards.

        Parameters
        ----------
        action : int
            A legal action.
        """
        if action == 0 or state_winner(&self.s) >= 0 or not state_is_legal(
                &self.s, table_of_short(&self.t), action):
            raise IllegalActionError(f"action {action} is not legal in this turn")
        known_apply(&self.k, &self.s, table_of_short(&self.t), action)

    @property
    def over(self):
        """Return whether somebody has won."""
        return state_winner(&self.s) >= 0
