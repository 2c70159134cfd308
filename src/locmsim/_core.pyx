"""The battle of Legends of Code and Magic: the compiled kernel and the `State` around it.

The structs and the meanings of their fields are in _core.pxd, the functions in the files that this
one includes. Section numbers refer to docs/rules.md.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_AsUnsignedLongLongMask
from cpython.ref cimport Py_INCREF, PyObject
from libc.string cimport memcmp, memset

import struct
from collections import namedtuple
from importlib import import_module

from locmsim.options.checks import MOST_THREADS, integer, player_number, seed_bits, whole
from locmsim.support.spiel import SpielPosition
from locmsim.rules.actions import Action
from locmsim.rules.cards import ABILITY_BITS, ABILITY_TEXTS, Card
from locmsim.errors import GameOverError, IllegalActionError, InvalidActionError
from locmsim.rules.rulesets import RULES_NAMES, get_rules
from locmsim.processes.threads import in_threads

__all__ = ["ABI_VERSION", "BLANKS", "CardInHand", "Creature", "Determinizer", "PlayerView", "State",
           "Table", "build_state", "instance_id", "keywords_number", "original_of", "parse_line",
           "places_of", "table_rows", "whole_number", "with_hand"]

# One compilation unit, so that the loop of playouts is inlined and calls between parts are cheap.
include "_core_rules.pxi"       # rules and playouts, without the GIL
include "_core_text.pxi"        # answer lines, names of actions
include "_core_formats.pxi"     # bytes, keys, fields, snapshots
include "_core_hidden.pxi"      # observations, hidden cards drawn anew


# ---- the card table ------------------------------------------------------------------------------

CardInHand = namedtuple("CardInHand", "id card", module=__name__)
CardInHand.__doc__ = """A card in hand.

    Attributes
    ----------
    id : int
        Its instance id.
    card : Card
        The printed card.
    """
Creature = namedtuple(
    "Creature", "id card attack defense abilities lane can_attack has_attacked", module=__name__)
Creature.__doc__ = """A creature on the board.

    Attributes
    ----------
    id : int
        Its instance id.
    card : Card
        The printed card.
    attack, defense : int
        Its present values.
    abilities : str
        Its present keywords, six letters or dashes.
    lane : int
        Its lane.
    can_attack, has_attacked : bool
        Whether it may attack this turn, and whether it has.
    """

cdef str abilities_of(int keywords):
    return ABILITY_TEXTS[keywords]


@cython.final
@cython.freelist(8)
cdef class Table:
    """The cards and the rule set of a game, shared by all its states.

    Parameters
    ----------
    cards : iterable of Card
        The cards that hidden places may hold, the `pool`. There are no instances: those of a game
        are in the table of its state.
    rules : str
        The rule set: "1.5", "1.2" or "1.0".

    Raises
    ------
    ValueError
        The rule set is unknown, there are too many cards, or two of them have the same base id.
    """

    # New objects are all zeros, and so is `t`. Compiled code makes a table without cards and fills
    # it in before anybody else sees it.

    def __cinit__(self, cards=None, rules="1.5"):
        self.cards = [None] * MAX_CARDS
        if cards is None:
            self.is_made = True
            return
        self.t.rules = RULES_NAMES.index(get_rules(rules).name)
        self.complete_with_pool(_cards("cards", cards))
        fault = cards_fault(&self.t, self.t.n_cards)
        if fault is not NULL:
            raise ValueError(f"cards: {fault.decode()}")

    def __init__(self, cards=None, rules="1.5"):
        if self.is_made:
            raise TypeError("a table is made of cards, and immutable")
        self.is_made = True

    cdef int add(self, card, int id) except -1:
        """Append an entry and return its index."""
        cdef card_t row
        cdef card_t* c = &row
        if not isinstance(card, Card):
            raise ValueError(f"expected a Card, got {card!r}")
        c.attack = card.attack
        c.defense = card.defense
        c.my_health = card.my_health_change
        c.opponent_health = card.opponent_health_change
        c.cost = card.cost
        c.draw = card.card_draw
        c.type = card.type
        c.keywords = ABILITY_BITS[card.abilities]
        c.area = card.area
        c.base_id = card.base_id
        complete_card(c, 0)
        return self.append(c, id, card)

    cdef int append(self, const card_t* c, int id, card) except -1:
        """Append an entry of another table, and its `Card` or None; return its index."""
        if self.t.n_cards == MAX_CARDS:
            raise ValueError(f"more than {MAX_CARDS} cards in one game, hidden ones included")
        self.cards[self.t.n_cards] = card
        return append_card(&self.t, c, id)

    cdef object card(self, int entry):
        """Return the `Card` of an entry."""
        cdef const card_t* c = &self.t.cards[entry]
        card = self.cards[entry]
        if card is None:
            card = self.cards[entry] = Card(
                c.base_id, c.type, c.cost, c.attack, c.defense, abilities_of(c.keywords),
                c.my_health, c.opponent_health, c.draw, c.area)
        return card

    cdef int complete_with_pool(self, pool) except -1:
        """Complete the instances and append the cards that hidden places may hold, each once.

        They may come from another table, which is much faster.
        """
        cdef Table other
        cdef int i
        self.t.n_instances = self.t.n_cards
        if not isinstance(pool, Table):
            for card in sorted(set(pool), key=Card.to_row):
                self.add(card, POOL_ID)
            return 0
        other = pool
        self.of_decks = other.of_decks
        for i in range(other.t.n_instances, other.t.n_cards):
            self.append(&other.t.cards[i], POOL_ID, other.cards[i])
        return 0

    cdef bytes pack(self):
        return struct.pack("<ii", packed_rules(self), self.t.n_instances) + (
            <const char*>self.t.cards)[:self.t.n_cards * sizeof(card_t)]

    @property
    def rules(self):
        """The name of the rule set."""
        return RULES_NAMES[self.t.rules]

    @property
    def pool(self):
        """The cards that hidden places may hold, in ascending order of their base ids."""
        return [self.card(i) for i in range(self.t.n_instances, self.t.n_cards)]

    def __reduce__(self):
        return _unpack_table, (sealed_table(self),)


cdef Table new_table(rules):
    cdef Table table = Table.__new__(Table)
    table.t.rules = RULES_NAMES.index(get_rules(rules).name)
    return table


# ---- state ---------------------------------------------------------------------------------------

# Functions of a state in plain Python, from the packages above: imported when first needed.
_LATER = {
    "CardInPlay": "game.observation",
    "Observation": "game.observation",
    "board_html": "game.boards",
    "board_text": "game.boards",
    "game": "envs.openspiel",
    "seen_text": "game.boards",
    "state_of_snapshot": "game.notation",
    "state_of_text": "game.notation",
    "state_text": "game.notation",
    "write_state": "game.layouts",
}
cdef dict _FOUND = {}


cdef object late_import(str name):
    found = _FOUND.get(name)
    if found is None:
        found = _FOUND[name] = getattr(import_module(f"locmsim.{_LATER[name]}"), name)
    return found


# Loaded when first needed: many users never need it, and it loads slowly.
cdef object _NUMPY = None
cdef object _ARRAY = None


cdef int load_numpy() except -1:
    global _ARRAY, _NUMPY
    if _NUMPY is None:
        import numpy as np
        _ARRAY = np.ndarray
        _NUMPY = np
    return 0


cdef bint view_mask(out, Py_buffer* view, int size) except -1:
    """Get the memory of a writable C-contiguous int8 array of a length; False for another one."""
    try:
        PyObject_GetBuffer(out, view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT)
    except (BufferError, ValueError):
        return False
    if view.ndim == 1 and view.shape[0] == size and view.format[0] == b"b":
        return True
    PyBuffer_Release(view)
    return False


cdef Table NO_TABLE = Table.__new__(Table)


cdef inline State new_state(Table table):
    cdef State state = State.__new__(State)
    state.table = table
    return state


cdef int as_action(action) except? -1:
    """Return the value of a Python or NumPy integer; -2 if it is beyond all action numbers."""
    cdef Py_ssize_t number
    if type(action) is bool:
        integer("action", action, TypeError)    # raises
    try:
        number = action                         # calls __index__
    except OverflowError:
        return -2
    except TypeError:
        integer("action", action, TypeError)    # raises, with the message of all such checks
        raise
    return <int>number if -2 < number < MAX_ACTIONS else -2


@cython.final
@cython.freelist(64)
@cython.no_gc
cdef class State:
    """A position in the battle: cheap to copy, and changed in place by actions.

    `State.new`, `State.from_snapshot`, `State.from_observation`, `State.from_text` and
    `State.from_bytes` make states. A state is mutable and therefore unhashable; `key` gives
    something to put into a set. Only one thread may use a state at a time.
    """

    def __cinit__(self):
        self.table = NO_TABLE       # so that State.__new__ makes nothing that could crash

    def __init__(self):
        raise TypeError("use State.new, State.from_snapshot or State.from_bytes")

    # -- making states

    @staticmethod
    def new(deck0, deck1, *, rules="1.5", ids=None, pool=None):
        """Return the position at the start of player 0's first turn, after their draw.

        The rules of the start are in docs/rules.md, section 4.

        Parameters
        ----------
        deck0, deck1 : sequence of Card
            At most 30 cards for each player, in draw order.
        rules : str
            The rule set: "1.5", "1.2" or "1.0".
        ids : pair of sequences of int, optional
            Instance ids in draw order. By default the i-th card has 2 * i (player 0) or 60 + 2 * i
            (player 1) in 1.5, and 2 * i + player + 1 in 1.x.
        pool : iterable of Card, or the `table` of a state, optional
            The cards that a player may suspect in hidden places (see `resample_hidden`). By default
            those of both decks, which tells something about them; a pool with all cards of the game
            does not. Searches do not use that default: to them the cards of the game are unknown,
            as to `Belief.of_state`. A table passes on its pool.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            An argument is wrong; the message names it.
        """
        cdef Table table = new_table(rules)
        cdef State state = new_state(table)
        cdef int p
        decks = [_cards("deck0", deck0), _cards("deck1", deck1)]
        if pool is None:
            pool = decks[0] + decks[1]
            table.of_decks = True
        elif not isinstance(pool, Table):
            pool = _cards("pool", pool)
        if ids is not None:
            ids = list(ids)
            if len(ids) != 2:
                raise ValueError(f"ids: expected one sequence for each player, got {len(ids)}")
        for p, deck in enumerate(decks):
            if len(deck) > MAX_DECK:
                raise ValueError(f"deck{p}: {len(deck)} cards, expected at most {MAX_DECK}")
            if ids is None:
                numbers = [card_id(table.t.rules, p, i) for i in range(len(deck))]
            else:
                numbers = [whole_number(number, f"ids[{p}][{i}]", 0, POOL_ID - 1)
                           for i, number in enumerate(ids[p])]
                if len(numbers) != len(deck):
                    raise ValueError(f"ids[{p}]: {len(numbers)} ids for {len(deck)} cards")
            decks[p] = list(zip(numbers, deck))
        add_instances(table, decks)
        table.complete_with_pool(pool)
        fault = cards_fault(&table.t, table.t.n_cards)
        if fault is not NULL:
            raise ValueError(f"cards: {fault.decode()}")
        memset(&state.s, 0, sizeof(state_t))
        state.s.turn = -1
        for p in range(2):
            player_start(&state.s.p[p], table.t.rules)
            place_deck(state, p, [number for number, _ in decks[p]])
            state_draw_opening(&state.s, &table.t, p)
        fault = ids_fault(&state.s, &table.t)
        if fault is not NULL:
            raise ValueError(f"ids: {fault.decode()}")
        state.s.p[1].max_mana = state.s.p[1].mana = state.s.p[1].bonus = 1
        state_end_turn(&state.s, &table.t)
        return state

    @staticmethod
    def from_snapshot(snapshot, cards, decks, rules="1.5"):
        """Return any position: the inverse of `snapshot` (docs/rules.md, section 13).

        Parameters
        ----------
        snapshot : mapping
            As `snapshot` returns it. In 1.x a snapshot does not tell whether a creature's effects
            are still shown. A ninth value in the creature's row may say so (1: forgotten); without
            it, they are forgotten if the creature has attacked or differs from its card.
        cards : mapping or iterable of Card
            Base id -> card, or just the cards. Hidden places may hold any of them; if a table
            cannot hold so many, only those in use.
        decks : pair of sequences
            For each player the cards as ``[instance id, base id]`` in draw order. The last ones are
            the deck; those before them say what the ids in the hand are.
        rules : str
            The rule set: "1.5", "1.2" or "1.0".

        Returns
        -------
        State

        Raises
        ------
        ValueError
            A field is wrong; the message names it.
        """
        return late_import("state_of_snapshot")(snapshot, cards, decks, rules)

    @staticmethod
    def from_observation(Shown observation not None):
        """Return what a player sees as a state in which they are player 0 and to move.

        Everything they do not see is empty: both decks and the opponent's hand. So the player's
        turn can be played in this state, but nothing after it.

        Parameters
        ----------
        observation : Observation
            An observation of the battle.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            The observation belongs to the choice phase, or is impossible.
        """
        cdef Table table = Table.__new__(Table)
        cdef State state = new_state(table)
        fill_from_observation(&state.s, &table.t, observation)
        return state

    def clone(self):
        """Return a new, independent state of the same position."""
        cdef State state = new_state(self.table)
        state.s = self.s
        return state

    def copy_from(self, State other not None):
        """Overwrite this state with another one, without allocating memory.

        Parameters
        ----------
        other : State
            The state to copy.

        Raises
        ------
        TypeError
            `other` is not a `State`.
        """
        self.s = other.s
        self.table = other.table

    def child(self, action):
        """Return the position after a legal action as a new state.

        Parameters
        ----------
        action : int
            A legal action, as for `apply_action`, which also says what is raised.

        Returns
        -------
        State
        """
        cdef State state = self.clone()
        state.apply_action(action)
        return state

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()

    # -- what is legal

    def legal_actions(self, player=None):
        """Return the legal actions in ascending order (docs/rules.md, sections 6 and 12).

        Parameters
        ----------
        player : int, optional
            The player who is asked; by default the player to move.

        Returns
        -------
        list of int
            Empty when the game is over, and for a player who is not to move.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef int i, n
        cdef list result
        cdef bint over = self.s.p[0].won | self.s.p[1].won
        # `current_player` of a finished game is accepted there, as by OpenSpiel.
        if player is not None and not (over and player == TERMINAL_PLAYER):
            if player_of(player) != state_player(&self.s):
                return []
        if over:
            return []
        n = state_list(&self.s, &self.table.t, actions)
        result = PyList_New(n)
        for i in range(n):
            number = <object>ACTION_NUMBERS[actions[i]]
            Py_INCREF(number)
            PyList_SET_ITEM(result, i, number)
        return result

    def legal_actions_mask(self, player=None, *, out=None):
        """Return an array that has 1 for each legal action and 0 for all others.

        Parameters
        ----------
        player : int, optional
            As for `legal_actions`.
        out : array, optional
            A C-contiguous int8 array of the same shape, to be filled and returned.

        Returns
        -------
        array of int8, shape (num_distinct_actions,)

        Raises
        ------
        ValueError
            `out` is of another kind, or `player` is neither 0 nor 1.
        """
        cdef uint8_t actions[MAX_ACTIONS + 1]
        cdef Py_buffer view
        cdef int8_t* mask
        cdef int i, n
        cdef int size = num_actions(self.table.t.rules)
        cdef bint over = self.s.p[0].won | self.s.p[1].won
        cdef bint listed = player is None or not (over and player == TERMINAL_PLAYER) and (
            player_of(player) == state_player(&self.s))
        load_numpy()
        if out is None:
            out = _NUMPY.empty(size, dtype="b")
        if not isinstance(out, _ARRAY) or not view_mask(out, &view, size):
            raise ValueError(f"out: expected a writable C-contiguous int8 array of shape ({size},)")
        mask = <int8_t*>view.buf
        memset(mask, 0, size)
        try:
            if listed and not over:
                n = state_list(&self.s, &self.table.t, actions)
                for i in range(n):
                    mask[actions[i]] = 1
        finally:
            PyBuffer_Release(&view)
        return out

    # -- what happens

    def apply_action(self, action):
        """Apply a legal action.

        Parameters
        ----------
        action : int
            A legal action; Python's and numpy's integers are accepted.

        Raises
        ------
        IllegalActionError
            The action is not legal here. The state is unchanged.
        GameOverError
            The game is over. The state is unchanged.
        """
        cdef int number = as_action(action)
        if self.s.p[0].won | self.s.p[1].won:
            raise GameOverError(f"action {action}: the game is over", self.clone())
        if not state_is_legal(&self.s, &self.table.t, number):
            raise IllegalActionError(
                f"action {describe_action(self, number, action)} is not legal here", self.clone())
        state_apply(&self.s, &self.table.t, number)
        if LOCMSIM_DEBUG:
            self.validate()

    def apply_unchecked(self, Py_ssize_t action):
        """Apply an action that is known to be legal, without any check.

        Anything but a legal action leaves the state undefined and may crash the process.

        Parameters
        ----------
        action : int
            A legal action.
        """
        state_apply(&self.s, &self.table.t, <int>action)
        if LOCMSIM_DEBUG:
            self.validate()

    def actions_of(self, str line not None):
        """Return the legal actions that an answer line carries out, without PASS.

        The state is unchanged.

        Parameters
        ----------
        line : str
            A whole answer, as for `apply_line`.

        Returns
        -------
        list of int
            Actions, each legal after those before it. What the referee would ignore is left out.

        Raises
        ------
        InvalidActionError
            The line is malformed.
        """
        cdef State after = self.clone()
        return [number for _, number, applied in play_line(after, line) if applied]

    def apply_line(self, str line not None):
        """Carry out a whole answer line as the referee does, then end the turn.

        The turn does not end if somebody has won (docs/rules.md, section 8).

        Parameters
        ----------
        line : str
            Actions with ``;`` between them.

        Returns
        -------
        applied, ignored : list of str
            Canonical texts of the actions carried out, and of those ignored because they were PASS
            or were illegal when their time came. Once somebody has won, the actions that follow are
            ignored up to the first one that would be legal: there the referee stops, and says
            nothing of the rest.

        Raises
        ------
        InvalidActionError
            The line is malformed; nothing was applied.
        """
        cdef int rules = self.table.t.rules
        cdef list applied = []
        cdef list ignored = []
        for parsed, _, legal in play_line(self, line):
            (applied if legal else ignored).append(text_of(parsed, rules))
        if not self.s.p[0].won | self.s.p[1].won:
            state_end_turn(&self.s, &self.table.t)
        if LOCMSIM_DEBUG:
            self.validate()
        return applied, ignored

    # -- whose turn it is and who has won

    def current_player(self):
        """Return the player to move, 0 or 1; -4 when the game is over, as in OpenSpiel."""
        return TERMINAL_PLAYER if self.is_terminal() else state_player(&self.s)

    def is_terminal(self):
        """Return whether somebody has won."""
        return bool(self.s.p[0].won | self.s.p[1].won)

    @property
    def winner(self):
        """The winner, 0 or 1; None while nobody has won."""
        cdef int winner = state_winner(&self.s)
        return None if winner < 0 else winner

    def returns(self):
        """Return [1.0, -1.0] or [-1.0, 1.0] for the players; [0.0, 0.0] before the end."""
        cdef int winner = state_winner(&self.s)
        return [0.0, 0.0] if winner < 0 else [1.0, -1.0] if winner == 0 else [-1.0, 1.0]

    @property
    def turn(self):
        """The number of the turn, counted from 0 over both players (-1 before the first turn)."""
        return self.s.turn

    @property
    def rules(self):
        """The name of the rule set: "1.5", "1.2" or "1.0"."""
        return RULES_NAMES[self.table.t.rules]

    def num_distinct_actions(self):
        """Return 145 (155 in 1.0): all action numbers are below it."""
        return num_actions(self.table.t.rules)

    # What else OpenSpiel's states have. An extension type cannot have a base class in Python.
    chance_outcomes = SpielPosition.chance_outcomes
    history_str = SpielPosition.history_str
    is_chance_node = SpielPosition.is_chance_node
    is_player_node = SpielPosition.is_player_node
    is_simultaneous_node = SpielPosition.is_simultaneous_node
    num_players = SpielPosition.num_players
    player_return = SpielPosition.player_return
    player_reward = SpielPosition.player_reward
    resample_from_infostate = SpielPosition.resample_from_infostate
    rewards = SpielPosition.rewards

    def get_game(self):
        """Return the game object of `locmsim.openspiel` for this rule set."""
        return late_import("game")(self.rules)

    # -- actions in words

    def action(self, action):
        """Return what an action number means in this position.

        Parameters
        ----------
        action : int
            An action number; Python's and numpy's integers are accepted.

        Returns
        -------
        Action
            ``str(state.action(a)) == state.action_to_string(a)``.

        Raises
        ------
        IllegalActionError
            The number names nothing in this position.
        """
        found = action_fields(self, as_action(action))
        if found is None:
            raise IllegalActionError(
                f"action {action} names nothing in this position", self.clone())
        return found

    def action_number(self, action not None):
        """Return the number of a legal action, the inverse of `action`.

        Parameters
        ----------
        action : Action
            Its card, if it has one, must be the card that has the instance id `source` here.

        Returns
        -------
        int

        Raises
        ------
        IllegalActionError
            The action is not legal here.
        GameOverError
            The game is over.
        """
        cdef int number
        if not isinstance(action, Action):
            raise TypeError(f"expected an Action, got {action!r}")
        if self.is_terminal():
            raise GameOverError(f"{action}: the game is over", self.clone())
        kind, card, source, target, lane = action
        if kind not in _KINDS:
            raise IllegalActionError(f"{kind!r} is not a kind of action", self.clone())
        second = target
        if kind == SUMMON:
            second = 0 if self.table.t.rules == RULES_10 and lane is None else lane
        number = PASS if kind == PASS else find_action(self, (
            kind, _word_of(source), _word_of(second)))
        if not state_is_legal(&self.s, &self.table.t, number) or (
                card is not None and action_fields(self, number).card != card):
            raise IllegalActionError(f"{action} is not legal here", self.clone())
        return number

    def action_to_string(self, *args):
        """Return the referee's text of an action, such as "ATTACK 36 -1".

        It is called as ``action_to_string(action)``, or as in OpenSpiel ``action_to_string(player,
        action)``.

        Parameters
        ----------
        player : int, optional
            0 or 1; it makes no difference.
        action : int
            An action number.

        Returns
        -------
        str

        Raises
        ------
        IllegalActionError
            The number names nothing in this position.
        """
        action = _last_argument("action_to_string", args)
        cdef int number = as_action(action)
        text = action_text(self, number)
        if text is None:
            raise IllegalActionError(
                f"action {action} names nothing in this position", self.clone())
        return text

    def string_to_action(self, *args):
        """Return the number of a legal action from its canonical text.

        It is called as ``string_to_action(text)``, or as in OpenSpiel ``string_to_action(player,
        text)``.

        Parameters
        ----------
        player : int, optional
            0 or 1; it makes no difference.
        text : str
            One action, PASS included, without a comment and without ``;``.

        Returns
        -------
        int

        Raises
        ------
        InvalidActionError
            The text is malformed.
        IllegalActionError
            The action is not legal here.
        GameOverError
            The game is over.
        """
        text = _last_argument("string_to_action", args)
        cdef int rules = self.table.t.rules
        cdef int number
        if not isinstance(text, str):
            raise TypeError(f"expected a string, got {text!r}")
        if ";" in text or not text.strip(BLANKS):
            raise InvalidActionError(f"expected one action, got {text!r}")
        parsed = parse_part(text, rules)
        if text_of(parsed, rules) != text:
            raise InvalidActionError(
                f"{text!r} is not the canonical form {text_of(parsed, rules)!r}")
        if self.is_terminal():
            raise GameOverError(f"{text}: the game is over", self.clone())
        number = find_action(self, parsed)
        if not state_is_legal(&self.s, &self.table.t, number):
            raise IllegalActionError(f"{text} is not legal here", self.clone())
        return number

    def __str__(self):
        """Return a readable board: the player to move below, the other player above."""
        return late_import("board_text")(self)

    def __repr__(self):
        return f"<State rules={self.rules} turn={self.turn} winner={self.winner}>"

    def _repr_html_(self):
        """Return a picture of both sides for notebooks."""
        return late_import("board_html")(self)

    # -- looking inside

    @property
    def players(self):
        """Two read-only views of the players, which always show the state as it is now."""
        return PlayerView(self, 0), PlayerView(self, 1)

    def snapshot(self):
        """Return the position as plain dicts, lists, ints and strings (docs/rules.md, section 13).
        """
        return {
            "turn": self.s.turn,
            "cur": state_player(&self.s),
            "winner": state_winner(&self.s),
            "p": [snapshot_player(self, 0), snapshot_player(self, 1)],
        }

    def observation(self, player, opponent_actions=()):
        """Return what a player sees.

        Parameters
        ----------
        player : int
            0 or 1, whether to move or not.
        opponent_actions : sequence of str
            The opponent's actions in the previous turn, which a state does not know.

        Returns
        -------
        Observation
            As from `locmsim.Observation.of`, which also says what is raised.
        """
        return late_import("Observation").of(self, player, opponent_actions)

    def observation_tensor(self, player=None, layout="entities-f32", *, out=None):
        """Return what a player sees as numbers, in a layout of `locmsim.policy`.

        A state has no past, so the numbers of `Layout.history` are 0.

        Parameters
        ----------
        player : int, optional
            0 or 1; by default the player to move.
        layout : str
            "entities", "entities-f32" or "gym-locm".
        out : array, optional
            A C-contiguous array of the layout's shape and type, to be filled and returned.

        Returns
        -------
        array
            Of the layout's shape and type.

        Raises
        ------
        ValueError
            The layout or the player is unknown, or `out` does not fit.
        """
        return late_import("write_state")(self, self.viewer(player), layout, out)

    cdef int viewer(self, player) except -1:
        return state_player(&self.s) if player is None else player_of(player)

    def observation_string(self, player=None):
        """Return what a player sees as text; two texts are equal exactly if the player sees the
        same.

        Parameters
        ----------
        player : int, optional
            0 or 1, whether to move or not; by default the player to move.

        Returns
        -------
        str
            The first line has what the protocol leaves out, because it only speaks at the start of
            a turn: the turn, the player to move, the mana both have left, and which of the player's
            creatures can attack and have attacked. The protocol's text (docs/rules.md, section 9)
            follows, without the opponent's actions, which a state does not know.

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1.
        """
        return late_import("seen_text")(self, self.viewer(player))

    def validate(self):
        """Check all invariants of the representation; an `AssertionError` names the broken one."""
        fault = state_fault(&self.s, &self.table.t)
        if fault is not NULL:
            raise AssertionError(fault.decode())

    # -- playouts

    def rollout(self, seed):
        """Play one uniformly random playout from here and return its winner.

        It is game 0 of `rollouts`.

        Parameters
        ----------
        seed : int
            The seed of the random actions.

        Returns
        -------
        int
            0 or 1.
        """
        cdef state_t s = self.s
        cdef uint64_t applied = 0, stream = stream_start(seed_of(seed), 0)
        cdef int winner
        with nogil:
            winner = state_rollout(&s, &self.table.t, stream, &applied)
        return winner

    def rollouts(self, n, seed, threads=1):
        """Play n uniformly random playouts from here and return their winners.

        Every action is drawn uniformly from the legal ones. Game i depends only on (seed, i). The
        GIL is released.

        Parameters
        ----------
        n : int
            How many playouts.
        seed : int
            The seed of the random actions.
        threads : int
            How many threads share the playouts; it makes no difference to the result.

        Returns
        -------
        array of int8, shape (n,)

        Raises
        ------
        ValueError
            An argument is out of bounds.
        """
        return self.rollouts_counted(n, seed, threads)[0]

    def rollouts_counted(self, n, seed, threads=1):
        """Play `rollouts`, and count the actions applied, PASS included.

        Parameters
        ----------
        n, seed, threads : int
            As for `rollouts`.

        Returns
        -------
        winners : array of int8, shape (n,)
        actions : int
        """
        import numpy as np
        winners = np.empty(whole_number(n, "n", 0, 10**12), dtype=np.int8)
        cdef uint64_t bits = seed_of(seed)
        return winners, sum(in_threads(
            lambda start, end: run_rollouts(self, bits, start, winners[start:end]),
            len(winners), whole_number(threads, "threads", 1, MOST_THREADS), PLAYOUTS_A_CALL))

    def perft(self, depth):
        """Count the sequences of `depth` legal actions from here; a finished game has none.

        Parameters
        ----------
        depth : int
            0 or more.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            `depth` is not an integer from 0 to 100. No computer counts that far from any position
            with a choice, and one without a choice would take the memory of so many calls.
        """
        if self.is_terminal():
            return int(whole_number(depth, "depth", 0, 1 << 62) == 0)
        return perft_with_signals(
            &self.s, &self.table.t, <int>whole_number(depth, "depth", 0, MAX_PERFT))

    def resample_hidden(self, player, seed):
        """Return a new state in which everything that a player cannot see is drawn anew.

        What `player` sees stays the same. Their own deck is shuffled. The opponent's hand and deck
        are filled from the pool of the game; in 1.5 with at most two copies of a card, counting
        those on the board, if the pool is large enough. A belief (`locmsim.search.Belief`) knows
        more than a position: what was offered and played before.

        In 1.5 the cards of the player's deck keep their instance ids. All other hidden cards have
        none, as in the samples of a belief: texts and observations show 255, that of a copy is 256,
        and actions with them are told apart by their numbers only. The new state shares its table
        with this one, so that its bytes still contain all cards of both decks, though not where
        they are.

        Parameters
        ----------
        player : int
            0 or 1, the player whose knowledge is kept.
        seed : int
            The result depends only on this seed and on what `player` can know.

        Returns
        -------
        State

        Raises
        ------
        ValueError
            `player` is neither 0 nor 1, the pool is needed and empty, or in 1.x it lacks a card of
            the player's deck, whose id would tell its place.
        """
        cdef State drawn = self.clone()
        cdef uint64_t stream = stream_start(seed_of(seed), 0)
        check_resampled(state_resample(
            &drawn.s, &self.table.t, player_of(player), &stream))
        return drawn

    # -- equality and bytes

    def __eq__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        if self.table is (<State>other).table:
            return memcmp(&self.s, &(<State>other).s, sizeof(state_t)) == 0
        return self.key() == (<State>other).key()

    __hash__ = None

    def key(self):
        """Return bytes that are equal exactly for equal positions, whatever the order of their
        tables.
        """
        return canonical_key(self)

    def hash64(self):
        """Return 64 bits of everything that `key` contains.

        Equal positions have equal hashes, on every machine. Different positions have equal hashes
        only by chance, 1 in 2**64.

        Returns
        -------
        int
            0 <= x < 2**64.
        """
        return state_hash(&self.s, &self.table.t)

    def turn_hash(self):
        """Return 64 bits of what can change within a turn, whatever the order of the actions was.

        Two ways to play a turn have equal hashes if they lead to the same hands and boards, apart
        from the order of cards and creatures: what the transposition table of a search within one
        turn needs. Cards in hand count by their base ids, creatures by their present values. The
        turn number, the decks and the opponent's hand, which no action of the turn changes, do not
        count.

        Returns
        -------
        int
            0 <= x < 2**64, the same on every machine; equal states have equal hashes.
        """
        return turn_hash(&self.s, &self.table.t)

    def to_bytes(self):
        """Return the state and its table as bytes for `from_bytes`, on machines of the same byte
        order.
        """
        return sealed_table(self.table) + packed(self)

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
            The bytes are foreign, truncated or corrupted.
        """
        cdef bytes raw = bytes(memoryview(data))
        cdef Py_ssize_t size = _HEADER.size         # size of the table's part
        if len(raw) >= size:
            size += _HEADER.unpack_from(raw)[3]
        return _unpack_state(_unpack_table(raw[:size]), raw[size:])

    def to_text(self):
        """Return the position as one line of text that is exact and readable (docs/rules.md,
        section 13).

        `from_text` is its inverse. The text includes the pool of hidden cards, but not the names of
        cards.
        """
        return late_import("state_text")(self)

    @staticmethod
    def from_text(text):
        """Return the state of a position text (docs/rules.md, section 13).

        Parameters
        ----------
        text : str
            One line as `to_text` returns it; blanks around it do not matter.

        Returns
        -------
        State
            Equal to the state that was written, with an equal pool.

        Raises
        ------
        ValueError
            A field is wrong; the message names it, such as ``players[0].board[2]``.
        """
        return late_import("state_of_text")(text)

    def __reduce__(self):
        return _unpack_state, (self.table, packed(self))


@cython.final
cdef class PlayerView:
    """A read-only view of one player of a `State`."""

    cdef State state
    cdef const player_t* p
    cdef int who

    def __cinit__(self, State state not None, player):
        self.state = state
        self.who = player_of(player)
        self.p = &state.s.p[self.who]

    @property
    def health(self):
        return self.p.health

    @property
    def max_mana(self):
        return self.p.max_mana

    @property
    def mana(self):
        """The mana left in this turn."""
        return self.p.mana

    @property
    def bonus_mana(self):
        """1 while this player holds the second player's bonus mana (docs/rules.md, section 4)."""
        return self.p.bonus

    @property
    def next_draw(self):
        """The cards to draw at the start of their next turn, including those for lost health."""
        return state_next_draw(&self.state.s, self.who)

    @property
    def shown_draw(self):
        """The draw number that the protocol prints for them."""
        return self.p.shown_draw

    @property
    def lost_health(self):
        """In 1.5 the health lost since their last draw; 0 in 1.x."""
        return self.p.lost

    @property
    def runes(self):
        """In 1.x the remaining runes in ascending order; [] in 1.5."""
        return [5 * (i + 1) for i in range(5) if self.p.runes >> i & 1]

    @property
    def hand_size(self):
        return self.p.hand_size

    @property
    def hand(self):
        """The hand, a list of `CardInHand(id, card)` in draw order."""
        return cards_at(self.state.table, hand_entries(self.p))

    @property
    def deck_size(self):
        return self.p.deck_left

    @property
    def deck(self):
        """The deck, a list of `CardInHand(id, card)` in draw order: hidden from both players."""
        return cards_at(self.state.table, deck_entries(&self.state.s, self.who))

    @property
    def board(self):
        """The board, a list of `Creature` in summon order over both lanes."""
        cdef const table_t* t = &self.state.table.t
        return [
            Creature(creature_id(&self.p.board[slot], t),
                     self.state.table.card(self.p.board[slot].card),
                     self.p.board[slot].attack, self.p.board[slot].defense,
                     abilities_of(self.p.board[slot].keywords), lane_of(slot, t),
                     bool(marked(self.p, READY) >> slot & 1),
                     bool(marked(self.p, SPENT) >> slot & 1))
            for slot in board_order(self.p, t)
        ]

    @property
    def effects_forgotten(self):
        """In 1.x, for each creature in board order whether the protocol shows its effects as 0."""
        return [bool(self.p.board[slot].forgotten)
                for slot in board_order(self.p, &self.state.table.t)]

    def __repr__(self):
        return (f"<PlayerView health={self.health} mana={self.mana}/{self.max_mana} "
                f"hand={self.p.hand_size} deck={self.deck_size}>")


cdef class Shown:
    """The struct inside an `Observation`: what a player is shown."""


# ---- helpers of the class ------------------------------------------------------------------------

cdef PyObject* ACTION_NUMBERS[MAX_ACTIONS]      # the ints, so that lists of actions allocate none
_ACTION_NUMBERS = list(range(MAX_ACTIONS))      # ... kept alive here
for _i in range(MAX_ACTIONS):
    ACTION_NUMBERS[_i] = <PyObject*>_ACTION_NUMBERS[_i]


cdef list _cards(str name, cards):
    """Return the cards of an argument as a list."""
    cdef list result = list(cards)
    for i, card in enumerate(result):
        if not isinstance(card, Card):
            raise ValueError(f"{name}[{i}]: expected a Card, got {card!r}")
    return result


cdef int player_of(player) except -1:
    if type(player) is int and (player == 0 or player == 1):
        return player
    return player_number(player)


cdef list cards_at(Table table, list entries):
    return [CardInHand(table.t.cards[<int>entry].id, table.card(entry)) for entry in entries]


cdef int lane_of(int slot, const table_t* t) noexcept:
    return 0 if t.rules == RULES_10 else slot // 3


cdef list board_order(const player_t* p, const table_t* t):
    """Return the occupied slots in summon order over both lanes."""
    cdef int bit, lane
    cdef int bits = COUNT[marked(p, OCCUPIED)]
    cdef list slots = []
    cdef int[2] following = [0, 3]
    for bit in range(bits - 1, -1, -1):
        lane = p.order >> bit & 1
        slots.append(following[lane])
        following[lane] += 1
    return slots


cdef int add_instances(Table table, decks) except -1:
    """Fill the table with the cards of both players, `[(id, Card), ...]`, by ascending id: the
    order of the entries must say nothing about the order of the decks."""
    seen = set()
    for p in range(2):
        for number, card in sorted(decks[p], key=_first):
            if not 0 <= number < POOL_ID:
                raise ValueError(f"instance id {number} of player {p}: expected 0..{POOL_ID - 1}")
            if number in seen:
                raise ValueError(f"instance id {number} of player {p} occurs twice")
            seen.add(number)
            table.add(card, number)
    return 0


def _first(pair):
    return pair[0]


cdef int entry_of(Table table, int64_t id) noexcept:
    """Return the entry of an instance id; -1 for an unknown id."""
    cdef int i
    cdef int n = table.t.n_instances or table.t.n_cards
    for i in range(n):
        if table.t.cards[i].id == id:
            return i
    return -1


cdef int place_deck(State state, int p, ids) except -1:
    """Make the instances `ids`, in draw order, the deck of player p."""
    cdef int i = MAX_DECK - <int>len(ids)
    state.s.p[p].deck_left = <uint8_t>len(ids)
    for number in ids:
        state.s.deck[p][i] = <uint8_t>entry_of(state.table, number)
        i += 1
    return 0


cdef enum:
    MAX_PERFT = 100             # a position on the stack for each level
    PERFT_UNBROKEN = 4          # levels counted without checking for signals: some milliseconds
    PLAYOUTS_A_CALL = 4096      # playouts without checking: about as long


cdef uint64_t perft_with_signals(const state_t* s, const table_t* t, int depth) except? 0:
    """Return `state_perft`; other threads run meanwhile, and Ctrl-C ends it."""
    cdef uint8_t actions[MAX_ACTIONS + 1]
    cdef state_t child
    cdef uint64_t total = 0
    cdef int n, i
    if depth <= PERFT_UNBROKEN:
        with nogil:
            total = state_perft(s, t, depth)
        PyErr_CheckSignals()
        return total
    if state_winner(s) >= 0:
        return 0
    n = state_list(s, t, actions)
    for i in range(n):
        child = s[0]
        state_apply(&child, t, actions[i])
        total += perft_with_signals(&child, t, depth - 1)
    return total


cdef object run_rollouts(State state, uint64_t seed, Py_ssize_t start, int8_t[::1] winners):
    """Do playouts start, start + 1, ... of a seed, one per element; return the actions applied."""
    cdef state_t s
    cdef uint64_t applied = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(winners.shape[0]):
            s = state.s
            winners[i] = state_rollout(&s, &state.table.t, stream_start(seed, start + i), &applied)
    return applied


cdef uint64_t seed_of(seed) except? 0:
    return PyLong_AsUnsignedLongLongMask(seed if type(seed) is int else seed_bits(seed))


cpdef Py_ssize_t whole_number(value, str where, Py_ssize_t low, Py_ssize_t high) except? -1:
    """Return `locmsim.options.checks.whole`, quickly for small integers of Python."""
    cdef Py_ssize_t number = low - 1
    if type(value) is int:
        try:
            number = value
        except OverflowError:
            pass
        if low <= number <= high:
            return number
    return whole(where, value, low, high)


def instance_id(rules, player, i, bint copy=False):
    """Return the id of a player's i-th card, in the order of the choice in 1.5, of the deck in 1.x;
    or of its area copy (1.5). ``ValueError`` names an argument that is out of range.
    """
    cdef int code = RULES_NAMES.index(get_rules(rules).name)
    if copy and code != RULES_15:
        raise ValueError(f"copy: rules {rules} have no area copies")
    i = whole_number(i, "i", 0, MAX_DECK - 1)
    return card_id(code, player_of(player), i) + copy


def original_of(rules, id):
    """Return the id of the card that an area copy was made from; of any other card, its own.

    ``ValueError`` for what is no id.
    """
    cdef int code = RULES_NAMES.index(get_rules(rules).name)
    return original_id(code, whole_number(id, "id", 0, POOL_ID - 1))
