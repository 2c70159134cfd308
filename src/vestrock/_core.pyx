"""The match of Vestrock: the compiled kernel and the `State` around it.

The structs and the meanings of their fields are in _core.pxd, the functions in the files that this
one includes. Section numbers refer to docs/vestrock/rules.md.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.long cimport PyLong_AsUnsignedLongLongMask
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memcmp

import struct
import zlib
from collections import namedtuple
from hashlib import blake2b
from operator import index

from locmsim.errors import GameOverError, IllegalActionError, InvalidActionError
from locmsim.gamekit import OptionError, declared
from locmsim.processes.threads import in_threads
from vestrock.deck import TYPES, Card, check_deck
from vestrock.options import Parameters

__all__ = ["ABI_VERSION", "ACTION_WORDS", "DEFAULTS", "Creature", "State", "Table"]

_PARAMETERS = declared(Parameters)
#: The parameters of a match and their defaults (section 1).
DEFAULTS = {name: one.default for name, one in _PARAMETERS.items()}

#: The words of the kinds of action, in the order of their numbers.
ACTION_WORDS = ("END_TURN", "FINISH_BLOCK", "DRAW_CARD", "BURN_CARD", "DISCARD_CARD", "ADD_MANA",
                "ATTACK", "PLAY_CARD", "BLOCK")
_KINDS = {word: kind for kind, word in enumerate(ACTION_WORDS)}
_ARGUMENTS = (0, 0, 0, 0, 1, 1, 1, 2, 2)    # ... and how many cards they name

Creature = namedtuple(
    "Creature", "card attack health max_health active attacking blocked", module=__name__)
Creature.__doc__ = """A creature on a board.

Parameters
----------
card : Card
    The card as it was in the deck.
attack, health, max_health : int
    Its present values.
active : bool
    Whether it can attack, be tapped or block.
attacking, blocked : bool
    Whether it attacks, and whether the attack is blocked.
"""


# One compilation unit, so that calls between the parts are cheap.
include "_core_rules.pxi"       # rules and playouts, without the GIL


# ---- the table -----------------------------------------------------------------------------------

def _parameter(name, value):
    """Return the value of a parameter as an int; ``ValueError`` if it is out of bounds."""
    _PARAMETERS[name].check(value)
    number = index(value)
    if name in ("init_hp", "turns") and number % 2:
        raise OptionError(name, f"expected an even number, got {number}")
    return number


@cython.final
cdef class Table:
    """The constant part of a match, shared by all its states: the deck and the parameters.

    Parameters
    ----------
    cards
        The deck, top first: 1..1000 `Card` (section 2).
    init_hp, turns : int
        Health of each player at the start, and turns of both players together; both even.
    draws, burns : int
        Cards that a player may draw and burn in a turn.
    hand_limit : int
        Cards in a full hand.

    Raises
    ------
    ValueError
        A card or a parameter is wrong; the message names it.
    """

    def __cinit__(self):
        # So that nothing can crash on the result of Table.__new__ alone.
        self.t.board_at = self.t.state_size = sizeof(state_t)
        self.cards = ()
        self.by_index = []
        self.indices = {}
        self.fingerprint = b""

    def __init__(self, cards, *, init_hp=20, turns=60, draws=2, burns=2, hand_limit=10):
        cdef int i
        cdef table_t* t = &self.t
        if self.cards:
            raise TypeError("a Table is immutable")
        deck = check_deck(cards)
        numbers = (init_hp, turns, draws, burns, hand_limit)
        values = {name: _parameter(name, value) for name, value in zip(DEFAULTS, numbers)}
        self.cards = tuple(deck)
        self.by_index = sorted(deck)
        self.indices = {card.id: i for i, card in enumerate(self.by_index)}
        t.n = len(deck)
        t.init_hp = values["init_hp"]
        t.turns = values["turns"]
        t.draws = values["draws"]
        t.burns = values["burns"]
        t.hand_limit = values["hand_limit"]
        t.hand_cap = min(t.hand_limit, t.n)
        t.board_at = sizeof(state_t) + 4 * t.hand_cap
        t.state_size = t.board_at + sizeof(creature_t) * sum(card.type == "C" for card in deck)
        t.first_play = 4 + 3 * t.n
        t.first_block = t.first_play + t.n * (t.n + 3)
        t.n_actions = t.first_block + t.n * t.n
        for i, card in enumerate(self.by_index):
            t.cards[i].type = TYPES.index(card.type)
            t.cards[i].attack = card.attack
            t.cards[i].health = card.health
            t.cards[i].max_health = card.max_health
            t.cards[i].cost = card.cost
            t.cards[i].mana = card.mana
            t.cards[i].id = card.id
        for i, card in enumerate(deck):
            t.order[i] = self.indices[card.id]
            t.place[t.order[i]] = i
        self.fingerprint = blake2b(self.to_bytes(), digest_size=16).digest()

    @property
    def parameters(self):
        """The five parameters of the match, by name."""
        return {"init_hp": self.t.init_hp, "turns": self.t.turns, "draws": self.t.draws,
                "burns": self.t.burns, "hand_limit": self.t.hand_limit}

    def to_bytes(self):
        """Return parameters and cards as bytes for `from_bytes`: 12 bytes, and 8 for each card."""
        parts = [struct.pack("<6H", *self.parameters.values(), self.t.n)]
        parts += [struct.pack("<Hc5b", card.id, card.type.encode(), *card[2:])
                  for card in self.cards]
        return b"".join(parts)

    @staticmethod
    def from_bytes(data):
        """Return the table that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned.

        Returns
        -------
        Table

        Raises
        ------
        ValueError
            The bytes are not a table.
        """
        try:
            *values, n = struct.unpack_from("<6H", data)
            if len(data) != 12 + 8 * n:
                raise ValueError(f"expected {12 + 8 * n} bytes, got {len(data)}")
            rows = struct.iter_unpack("<Hc5b", data[12:])
            cards = [Card(row[0], row[1].decode("ascii"), *row[2:]) for row in rows]
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"no table: {error}") from None
        return Table(cards, **dict(zip(DEFAULTS, values)))

    def __eq__(self, other):
        if not isinstance(other, Table):
            return NotImplemented
        return self.fingerprint == (<Table>other).fingerprint

    def __hash__(self):
        return hash(self.fingerprint)

    def __reduce__(self):
        return Table.from_bytes, (self.to_bytes(),)

    def __repr__(self):
        return f"<Table of {self.t.n} cards, {self.parameters}>"


# ---- the state -----------------------------------------------------------------------------------

# The table of the result of State.__new__ alone: a match that is over, so that nothing can crash.
cdef Table NO_TABLE = Table.__new__(Table)
cdef state_t NO_STATE
state_start(&NO_STATE, &NO_TABLE.t)
NO_STATE.over = 1


cdef State new_state(Table table):
    """Return a state of the table; its content is not defined yet."""
    cdef State state = State.__new__(State)
    cdef state_t* memory = <state_t*>PyMem_Malloc(table.t.state_size)
    if memory == NULL:
        raise MemoryError
    state.s = memory
    state.table = table
    state.t = &table.t
    return state


@cython.final
@cython.freelist(64)
cdef class State:
    """A position: cheap to copy, and changed in place by actions.

    `State.new`, `State.from_snapshot`, `State.from_text`, `State.from_replies` and
    `State.from_bytes` make states. A state is mutable and therefore unhashable; `key` gives
    something to put into a set. Only one thread may use a state at a time.
    """

    def __cinit__(self):
        self.table = NO_TABLE
        self.t = &NO_TABLE.t
        self.s = &NO_STATE

    def __dealloc__(self):
        if self.s != &NO_STATE:
            PyMem_Free(self.s)

    def __init__(self):
        raise TypeError("use State.new, State.from_snapshot or State.from_bytes")

    # -- making states

    @staticmethod
    def new(deck, *, init_hp=None, turns=None, draws=None, burns=None, hand_limit=None):
        """Return the start of a match: turn 1, blocking phase (section 3).

        Parameters
        ----------
        deck : sequence of Card, or Table
            The deck, top first.
        init_hp, turns, draws, burns, hand_limit : int, optional
            Parameters of the match, as for `Table`, which has the defaults. A `Table` already has
            its own: none may be given with one.

        Returns
        -------
        State
            The position before the first player's first action.

        Raises
        ------
        ValueError
            A card or a parameter is wrong; the message names it.
        """
        cdef State state
        values = zip(DEFAULTS, (init_hp, turns, draws, burns, hand_limit))
        parameters = {name: value for name, value in values if value is not None}
        if isinstance(deck, Table):
            if parameters:
                raise ValueError("parameters: a Table has its own")
            if not (<Table>deck).t.n:
                raise ValueError("deck: an empty Table")
        else:
            deck = Table(deck, **parameters)
        state = new_state(deck)
        state_start(state.s, state.t)
        return state

    @staticmethod
    def from_snapshot(snapshot, table):
        """Return any position: the inverse of `snapshot`.

        Parameters
        ----------
        snapshot : mapping
            As `snapshot` returns it. ``over`` may be missing (false).
        table : Table
            The match that the position belongs to.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            A field is wrong; the message names it.
        """
        return _from_snapshot(snapshot, table)

    @staticmethod
    def from_replies(replies, deck=None, *, turns=60, draws=2, burns=2, action_phase=False):
        """Return the mover's position from the server's replies.

        Parameters
        ----------
        replies, deck, turns, draws, burns, action_phase
            As for `vestrock.state_from_replies`, which also says what is raised.

        Returns
        -------
        State
            The position; the caller is player 0 if the turn is odd.
        """
        from vestrock.positions import state_from_replies

        return state_from_replies(replies, deck, turns=turns, draws=draws, burns=burns,
                                  action_phase=action_phase)

    @staticmethod
    def from_text(text, cards, *, init_hp=20, turns=60, draws=2, burns=2, hand_limit=10):
        """Return the position that a line of text describes, the inverse of `to_text`.

        Parameters
        ----------
        text, cards, init_hp, turns, draws, burns, hand_limit
            As for `vestrock.state_from_text`, which also says what is raised.

        Returns
        -------
        State
            The position.
        """
        from vestrock.positions import state_from_text

        return state_from_text(text, cards, init_hp=init_hp, turns=turns, draws=draws,
                               burns=burns, hand_limit=hand_limit)

    def to_text(self):
        """Return the position as a line of text, the same as ``str(state)``."""
        return str(self)

    def clone(self):
        """Return a copy that shares nothing but the immutable table."""
        cdef State other = new_state(self.table)
        state_copy(other.s, self.s, self.t)
        return other

    def copy_from(self, State other not None):
        """Become a copy of another state of the same match, without a new allocation.

        Parameters
        ----------
        other : State
            The state to copy.

        Raises
        ------
        ValueError
            The other state belongs to another deck or has other parameters.
        """
        if other.t != self.t and other.table != self.table:
            raise ValueError("other: a state of another deck or other parameters")
        state_copy(self.s, other.s, self.t)

    def child(self, action):
        """Return a copy after one legal action.

        Parameters
        ----------
        action : int
            A legal action, as for `apply_action`, which also says what is raised.

        Returns
        -------
        State
        """
        cdef State other = self.clone()
        other.apply_action(action)
        return other

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()

    # -- the position

    @property
    def turn(self):
        """Number of the turn, from 1; the first player moves in odd ones."""
        return self.s.turn

    @property
    def turns_left(self):
        """Turns of both players that are left, including the present one."""
        return self.t.turns - self.s.turn + 1

    @property
    def phase(self):
        """``"blocking"`` or ``"action"``."""
        return "action" if self.s.phase else "blocking"

    @property
    def health(self):
        """Health of the first and the second player."""
        return self.s.health[0], self.s.health[1]

    @property
    def mana(self):
        """The mover's mana; the other player has none."""
        return self.s.mana

    @property
    def draws_left(self):
        """Cards that may still be drawn this turn."""
        return self.s.draws

    @property
    def burns_left(self):
        """Cards that may still be burned this turn."""
        return self.s.burns

    @property
    def deck_size(self):
        """Cards left in the deck."""
        return self.t.n - self.s.deck_pos

    @property
    def deck(self):
        """The cards left in the deck, top first."""
        return list(self.table.cards[self.s.deck_pos:])

    def hand(self, player):
        """Return a player's hand in ascending order of IDs.

        Parameters
        ----------
        player : int
            0 or 1.

        Returns
        -------
        list of Card
        """
        cdef int p = _player(player)
        cdef const uint16_t* hand = hand_of(self.s, self.t, p)
        cdef list cards = self.table.by_index
        return [cards[hand[h]] for h in range(self.s.n_hand[p])]

    def board(self, player):
        """Return a player's board in ascending order of IDs.

        Parameters
        ----------
        player : int
            0 or 1.

        Returns
        -------
        list of Creature
        """
        cdef int p = _player(player)
        cdef const creature_t* own = side_of(self.s, self.t, p)
        cdef list cards = self.table.by_index
        return [Creature(cards[own[i].card], own[i].attack, own[i].health, own[i].max_health,
                         own[i].flags & ACTIVE != 0, own[i].flags & ATTACKING != 0,
                         own[i].flags & BLOCKED != 0)
                for i in range(self.s.n_board[p])]

    @property
    def attackers(self):
        """The creatures that attack now, by ascending ID.

        In the blocking phase these are the opponent's that are alive, including blocked ones; in
        the action phase, the mover's.
        """
        cdef int p = mover_of(self.s)
        if self.s.phase == BLOCKING:
            p = 1 - p
        return [creature for creature in self.board(p) if creature.attacking]

    def creature_lines(self, player, attackers=False):
        """Return a player's creatures in ascending order of IDs, as a server shows them (section
        6).

        Parameters
        ----------
        player : int
            0 or 1.
        attackers : bool
            Whether to return only those that attack, without the flag at the end.

        Returns
        -------
        list of str
            ``ID C AT HP HPMAX COST MANA``, then 1 for an active and 0 for an inactive creature.
        """
        cdef int p = _player(player)
        cdef const creature_t* own = side_of(self.s, self.t, p)
        cdef const creature_t* c
        cdef const card_t* card
        cdef bint only = attackers
        cdef list lines = []
        cdef int i
        for i in range(self.s.n_board[p]):
            c = &own[i]
            if only and not c.flags & ATTACKING:
                continue
            card = &self.t.cards[c.card]
            line = f"{card.id} C {c.attack} {c.health} {c.max_health} {card.cost} {card.mana}"
            lines.append(line if only else line + (" 1" if c.flags & ACTIVE else " 0"))
        return lines

    # -- the course of the match

    def num_players(self):
        """Return 2, the number of players."""
        return 2

    def num_distinct_actions(self):
        """Return 2 n**2 + 6 n + 4 for n cards: all action numbers are below it."""
        return self.t.n_actions

    def is_chance_node(self):
        """Return False: nothing is left to chance."""
        return False

    def is_simultaneous_node(self):
        """Return False: one player moves at a time."""
        return False

    def is_terminal(self):
        """Return whether the match is over."""
        return bool(self.s.over)

    def current_player(self):
        """Return the mover, 0 or 1; -4 when the match is over, as in OpenSpiel."""
        return TERMINAL_PLAYER if self.s.over else mover_of(self.s)

    @property
    def mover(self):
        """Whose turn it is, or was when the match ended: 0 or 1."""
        return mover_of(self.s)

    @property
    def winner(self):
        """The player with the higher score; None while the match runs and for equal scores."""
        if not self.s.over or self.s.health[0] == self.s.health[1]:
            return None
        return 0 if self.s.health[0] > self.s.health[1] else 1

    @property
    def scores(self):
        """Both players' scores (section 5), or None as long as the match runs."""
        if not self.s.over:
            return None
        return [state_score(self.s, self.t, 0), state_score(self.s, self.t, 1)]

    def returns(self):
        """Return the scores, shifted and scaled to -1..1; ``[0.0, 0.0]`` before the end.

        A score S becomes (S - 1.5 init_hp) / (2.5 init_hp); the two add up to 0.
        """
        cdef double value
        if not self.s.over:
            return [0.0, 0.0]
        value = (state_score(self.s, self.t, 0) - 1.5 * self.t.init_hp) / (2.5 * self.t.init_hp)
        return [value, 0.0 - value]

    def legal_actions(self, player=None):
        """Return the legal actions of the player to move, in ascending order (section 7).

        In the blocking phase these are blocks, FINISH_BLOCK and END_TURN: any other action would
        be the same as FINISH_BLOCK followed by the action.

        Parameters
        ----------
        player : int, optional
            0 or 1; by default the mover.

        Returns
        -------
        list of int
            Empty when the match is over or it is not this player's turn.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        cdef int32_t small[512]
        cdef int32_t* out = small
        cdef int n, bound
        if player is not None and _player(player) != mover_of(self.s):
            return []
        bound = state_bound(self.s, self.t)
        if bound > 512:
            out = <int32_t*>PyMem_Malloc(bound * sizeof(int32_t))
            if out == NULL:
                raise MemoryError
        try:
            n = state_list(self.s, self.t, out)
            return [out[i] for i in range(n)]
        finally:
            if out != small:
                PyMem_Free(out)

    def legal_actions_mask(self, player=None):
        """Return the legal actions as an array of ones and zeros, for decks of at most 200 cards.

        Parameters
        ----------
        player : int, optional
            As for `legal_actions`.

        Returns
        -------
        array of int8, shape (num_distinct_actions,)

        Raises
        ------
        ValueError
            The deck has more than 200 cards: the array would have millions of entries.
        """
        import numpy as np

        if self.t.n > 200:
            raise ValueError(f"a mask is for at most 200 cards, the deck has {self.t.n}")
        mask = np.zeros(self.t.n_actions, np.int8)
        mask[self.legal_actions(player)] = 1
        return mask

    def apply_action(self, action):
        """Execute a legal action.

        Parameters
        ----------
        action : int
            One of `legal_actions`.

        Raises
        ------
        IllegalActionError
            The action is not legal here; the message names it and the position. Nothing has
            changed.
        GameOverError
            The match is over.
        """
        number = index(action)
        if not 0 <= number < self.t.n_actions or not state_legal(self.s, self.t, number):
            raise self._illegal(number)
        state_apply(self.s, self.t, number)

    def apply_unchecked(self, int action):
        """Execute an action that is known to be legal; an illegal one corrupts the state.

        Parameters
        ----------
        action : int
            A legal action.
        """
        state_apply(self.s, self.t, action)

    def _illegal(self, number):
        """Return the exception for an illegal action."""
        if self.s.over:
            return GameOverError(f"action {number}: the match is over")
        try:
            text = self.action_to_string(number)
        except ValueError:
            text = f"no number below {self.t.n_actions}"
        return IllegalActionError(f"action {number} ({text}) is not legal in {self}")

    def command(self, player, kind, int a=0, int b=0):
        """Do what a command of the protocol does, any of `ACTION_WORDS` but END_TURN.

        Parameters
        ----------
        player : int
            The player who sends it, 0 or 1.
        kind : int
            The index of the command in `ACTION_WORDS`.
        a, b : int
            Its arguments after the match, as in the command: IDs of cards, or -1, -5, -6.

        Returns
        -------
        int
            0, or the number of the error that the command is answered with (section 6). With an
            error nothing has changed, except for 932 in a blocking phase that ended the match.
        """
        cdef int x, y
        if self.s.over:
            return 932
        if _player(player) != mover_of(self.s):
            return 913
        if not FINISH_BLOCK <= kind <= BLOCK:
            raise ValueError(f"kind: expected 1..8, got {kind}")
        x = self.table.indices.get(a, -1)
        if kind == PLAY:
            if b > 0:
                y = self.table.indices.get(b, self.t.n + TO_UNKNOWN)
            elif b == -1:
                y = self.t.n + TO_NOTHING
            elif b == -5:
                y = self.t.n + TO_MOVER
            elif b == -6:
                y = self.t.n + TO_OPPONENT
            else:
                y = self.t.n + TO_WRONG
        else:
            y = self.table.indices.get(b, -1)
        return state_command(self.s, self.t, kind, x, y)

    def apply_command(self, player, line):
        """Answer a command of the protocol without its match, such as ``"PLAY_CARD 8 -6"``.

        Parameters
        ----------
        player : int
            The player who sends it, 0 or 1.
        line : str
            Any command that names a match.

        Returns
        -------
        list of str
            The lines of the reply, the first one ``OK`` or ``ERR code Name``.
        """
        from vestrock.match import Match

        word, *arguments = line.split() or [""]
        match = Match.from_state(self)
        return match.command("AB"[_player(player)], " ".join([word, "1", *arguments]))

    def end_turn(self):
        """End the turn, as the server's clock does: the same as the action END_TURN.

        Raises
        ------
        GameOverError
            The match is over.
        """
        if self.s.over:
            raise GameOverError("end_turn: the match is over")
        end_turn(self.s, self.t)

    # -- actions as text

    def action_to_string(self, action, action_of_player=None):
        """Return an action as in the protocol, without the match: ``"PLAY_CARD 8 -6"``.

        Parameters
        ----------
        action : int
            An action number, legal here or not. As in OpenSpiel, a player may come before it.
        action_of_player : int, optional
            The action, if the first argument was a player.

        Returns
        -------
        str

        Raises
        ------
        InvalidActionError
            No action has this number.
        """
        cdef int a, b, kind
        number = index(action if action_of_player is None else action_of_player)
        if not 0 <= number < self.t.n_actions:
            raise InvalidActionError(
                f"action: expected a number in 0..{self.t.n_actions - 1}, got {number}")
        kind = decode(self.t, number, &a, &b)
        word = ACTION_WORDS[kind]
        if kind < DISCARD:
            return word
        if kind < PLAY:
            return f"{word} {self.t.cards[a].id}"
        if kind == BLOCK:
            return f"{word} {self.t.cards[a].id} {self.t.cards[b].id}"
        target = self.t.cards[b].id if b < self.t.n else (-5, -6, -1)[b - self.t.n]
        return f"{word} {self.t.cards[a].id} {target}"

    def string_to_action(self, text, text_of_player=None):
        """Return the number of an action, legal here or not: the inverse of `action_to_string`.

        Parameters
        ----------
        text : str
            An action. As in OpenSpiel, a player may come before it.
        text_of_player : str, optional
            The text, if the first argument was a player.

        Returns
        -------
        int

        Raises
        ------
        InvalidActionError
            The text is not an action of this deck.
        """
        cdef int kind
        line = text if text_of_player is None else text_of_player
        words = line.split()
        kind = _KINDS.get(words[0], -1) if words else -1
        if kind < 0 or len(words) != 1 + _ARGUMENTS[kind] or line != " ".join(words):
            raise InvalidActionError(f"no action: {line!r}")
        indices = []
        for i, word in enumerate(words[1:]):
            if kind == PLAY and i == 1 and word in ("-5", "-6", "-1"):
                indices.append(self.t.n + ("-5", "-6", "-1").index(word))
                continue
            number = int(word) if word.isascii() and word.isdigit() else 0
            if str(number) != word or number not in self.table.indices:
                raise InvalidActionError(f"no action: {line!r} (no card {word} in the deck)")
            indices.append(self.table.indices[number])
        indices += [0, 0]
        return action_of(self.t, kind, indices[0], indices[1])

    # -- playouts

    def rollout(self, seed):
        """Play uniformly random actions to the end and return the first player's score.

        Parameters
        ----------
        seed : int
            The seed of the random actions.

        Returns
        -------
        int
        """
        return int(self.rollouts(1, seed)[0])

    def rollouts(self, n, seed, threads=1):
        """Play n playouts of uniformly random actions and return the first player's scores.

        Parameters
        ----------
        n : int
            How many playouts.
        seed : int
            Any integer; its lowest 64 bits count. Playout i depends only on (seed, i).
        threads : int
            How many threads share the playouts, without the GIL.

        Returns
        -------
        array of int32, shape (n,)
            The second player's score is 3 * init_hp less.

        Raises
        ------
        ValueError
            `n` is negative, or `threads` is below 1.
        """
        return _playout_scores(_play_out, self, n, seed, threads)

    # -- bytes

    def key(self):
        """Return bytes that are equal exactly for equal states, for sets and as keys of dicts."""
        cdef state_t* s = self.s
        cdef bytes parts = PyBytes_FromStringAndSize(<char*>s, sizeof(state_t))
        return b"".join([
            self.table.fingerprint, parts,
            PyBytes_FromStringAndSize(<char*>hand_of(s, self.t, 0), 2 * s.n_hand[0]),
            PyBytes_FromStringAndSize(<char*>hand_of(s, self.t, 1), 2 * s.n_hand[1]),
            PyBytes_FromStringAndSize(
                <char*>board_of(s, self.t),
                sizeof(creature_t) * (s.n_board[0] + s.n_board[1])),
        ])

    def __eq__(self, other):
        cdef State o
        cdef int p
        if not isinstance(other, State):
            return NotImplemented
        o = <State>other
        if self.table != o.table or memcmp(self.s, o.s, sizeof(state_t)):
            return False
        for p in range(2):
            if memcmp(hand_of(self.s, self.t, p), hand_of(o.s, o.t, p), 2 * self.s.n_hand[p]):
                return False
        return not memcmp(board_of(self.s, self.t), board_of(o.s, o.t),
                          sizeof(creature_t) * (self.s.n_board[0] + self.s.n_board[1]))

    __hash__ = None

    def to_bytes(self):
        """Return the state with its table as bytes for `from_bytes`, the same on every machine."""
        table = self.table.to_bytes()
        body = b"".join([b"VSTK\x01", struct.pack("<I", len(table)), table, self._own_bytes()])
        return body + struct.pack("<I", zlib.crc32(body))

    def _own_bytes(self):
        """Return the state without its table as bytes."""
        cdef state_t* s = self.s
        cdef const creature_t* c
        cdef int p, i
        parts = [struct.pack("<5i6H2B", s.health[0], s.health[1], s.mana, s.draws, s.burns, s.turn,
                             s.deck_pos, s.n_hand[0], s.n_hand[1], s.n_board[0], s.n_board[1],
                             s.phase, s.over)]
        for p in range(2):
            for i in range(s.n_hand[p]):
                parts.append(struct.pack("<H", hand_of(s, self.t, p)[i]))
        for i in range(s.n_board[0] + s.n_board[1]):
            c = board_of(s, self.t) + i
            parts.append(struct.pack("<2H3i", c.card, c.flags, c.attack, c.health, c.max_health))
        return b"".join(parts)

    @staticmethod
    def from_bytes(data):
        """Return the state that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            The bytes are not a state, or an impossible one.
        """
        data = bytes(data)
        end = len(data) - 4
        if data[:5] != b"VSTK\x01" or end < 9:
            raise ValueError("no state of Vestrock in this version's form")
        if struct.unpack_from("<I", data, end)[0] != zlib.crc32(data[:end]):
            raise ValueError("a damaged state: wrong check sum")
        size = struct.unpack_from("<I", data, 5)[0]
        return _restore(Table.from_bytes(data[9:9 + size]), data[9 + size:end])

    def __reduce__(self):
        return _restore, (self.table, self._own_bytes())

    def snapshot(self):
        """Return the position as plain dicts, lists, ints and strings; `from_snapshot` is the
        inverse.

        Returns
        -------
        dict
            ``turn``, ``phase``, ``over``, ``health`` (first, second), ``mana``, ``draws``,
            ``burns``, ``deck`` (number of cards left), ``hands`` (lists of IDs, first player's and
            second's) and ``boards`` (lists of dicts with ``id``, ``attack``, ``health``,
            ``max_health``, ``active``, ``attacking``, ``blocked``).
        """
        boards = [[{"id": c.card.id, "attack": c.attack, "health": c.health,
                    "max_health": c.max_health, "active": c.active, "attacking": c.attacking,
                    "blocked": c.blocked} for c in self.board(p)] for p in range(2)]
        return {
            "turn": self.turn, "phase": self.phase, "over": self.is_terminal(),
            "health": list(self.health), "mana": self.mana, "draws": self.draws_left,
            "burns": self.burns_left, "deck": self.deck_size,
            "hands": [[card.id for card in self.hand(p)] for p in range(2)], "boards": boards,
        }

    def validate(self):
        """Check the conditions that hold in every possible position (section 7).

        Raises
        ------
        AssertionError
            The message names what is wrong.
        """
        fault = _fault(self)
        if fault is not None:
            raise AssertionError(fault)

    def __str__(self):
        from vestrock.positions import state_to_text

        return state_to_text(self)

    def __repr__(self):
        return f"<State {self}>"


def _player(player):
    p = index(player)
    if not 0 <= p <= 1:
        raise ValueError(f"player: expected 0 or 1, got {player}")
    return p


def _playout_scores(play_out, State state, n, seed, threads):
    """Return the scores that ``play_out(state, scores, start, end, seed)`` fills in, in threads."""
    import numpy as np

    n = index(n)
    if n < 0:
        raise ValueError(f"n: expected at least 0, got {n}")
    seed = PyLong_AsUnsignedLongLongMask(index(seed))
    scores = np.empty(n, np.int32)

    def work(start, end):
        play_out(state, scores, start, end, seed)

    in_threads(work, n, threads, 256)       # 256: some milliseconds, so that Ctrl-C is noticed
    return scores


def _play_out(State state, int32_t[::1] scores, int start, int end, uint64_t seed):
    """Play playouts `start` to `end` - 1 of `State.rollouts`."""
    cdef const table_t* t = state.t
    cdef state_t* s = <state_t*>PyMem_Malloc(t.state_size)
    cdef int32_t* buffer = <int32_t*>PyMem_Malloc(buffer_size(t) * sizeof(int32_t))
    cdef uint64_t stream
    cdef int i
    try:
        if s == NULL or buffer == NULL:
            raise MemoryError
        with nogil:
            for i in range(start, end):
                stream = stream_start(seed, i)
                state_copy(s, state.s, t)
                scores[i] = state_rollout(s, t, &stream, buffer)
    finally:
        PyMem_Free(s)
        PyMem_Free(buffer)


include "_core_formats.pxi"     # positions from bytes and snapshots, and what is wrong with them
