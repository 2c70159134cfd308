"""States as bytes: they are restored as equal states, and all other bytes are refused."""

import pickle
import struct
import zlib

import pytest
from amounts import amount
from helpers import each_rules, raises
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions

from locmsim import Card, CardType, State, StateBatch
from locmsim._core import PlayerView
from locmsim.game.positions import random_game, start_position

each_protocol = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))

HEADER = struct.Struct("=4sHHII")  # magic, version, part, size, checksum; once for each part


def game(rules="1.5", seed=1):
    return [state for state, _ in random_game(start_position(seed, rules), seed)]


def parts(data):
    """Return the payloads of the table and of the state."""
    found = []
    while data:
        size = HEADER.unpack_from(data)[3]
        found.append(data[HEADER.size : HEADER.size + size])
        data = data[HEADER.size + size :]
    return found


def assemble(*payloads):
    """Put payloads together with right checksums, the inverse of `parts`."""
    return b"".join(
        HEADER.pack(b"LOCM", 2, number, len(payload), zlib.crc32(payload)) + payload
        for number, payload in enumerate(payloads, 1)
    )


# ---- there and back -----------------------------------------------------------------------------


@each_rules
@given(data=st.data())
def test_any_position_both_ways(rules, data):
    position = data.draw(positions(rules))
    state = State.from_snapshot(position.snapshot, position.cards, position.decks, rules)
    for again in (State.from_bytes(state.to_bytes()), pickle.loads(pickle.dumps(state))):
        again.validate()
        assert (again, again.key(), again.rules) == (state, state.key(), rules)
        assert (again.to_bytes(), again.snapshot()) == (state.to_bytes(), state.snapshot())
        assert again.table.pool == state.table.pool
        assert again.rollouts(20, 3).tolist() == state.rollouts(20, 3).tolist()
        assert [view.hand for view in again.players] == [view.hand for view in state.players]
        assert [view.board for view in again.players] == [view.board for view in state.players]


@each_protocol
def test_pickles_of_many_states_share_their_table(protocol):
    states = game()
    again = pickle.loads(pickle.dumps(states, protocol))
    assert again == states
    assert len({id(state.table) for state in again}) == 1
    copies = [state.clone() for state in states for _ in range(10)]
    size, tens = (len(pickle.dumps(some, protocol)) for some in (states, copies))
    limit = 350 if protocol >= 3 else 1300  # older protocols escape bytes; a table has over 5000
    assert (tens - size) / (len(copies) - len(states)) < limit


def test_bytes_of_any_kind_of_buffer():
    state = start_position(1)
    data = state.to_bytes()
    assert type(data) is bytes
    for kind in (bytearray, memoryview):
        assert State.from_bytes(kind(data)) == state
    for wrong in (len(data), None, data.decode("latin-1"), [1, 2], 10**15):
        with pytest.raises(TypeError):
            State.from_bytes(wrong)


def test_views_are_not_pickled():
    with pytest.raises(TypeError):
        pickle.dumps(PlayerView(start_position(1), 0))


# ---- what is refused ----------------------------------------------------------------------------


def test_truncated_bytes():
    data = start_position(1).to_bytes()
    for size in range(len(data)):
        raises(ValueError, "of locmsim", State.from_bytes, data[:size])
    for more in (b"\0", data, b"LOCM"):
        raises(ValueError, "corrupted", State.from_bytes, data + more)
    for foreign in (b"\0" * 5000, b"LOCM" + b"\xff" * 5000, pickle.dumps([1, 2, 3])):
        raises(ValueError, r"locmsim|format", State.from_bytes, foreign)


def test_every_byte_counts():
    data = game()[9].to_bytes()
    for position in range(len(data)):
        for bit in amount((1,), (1, 0x80)):
            changed = bytearray(data)
            changed[position] ^= bit
            raises(ValueError, r"locmsim|format", State.from_bytes, changed)


@given(st.binary(max_size=600))
def test_random_bytes(data):
    for start in (b"", b"LOCM", b"LOCM\x02\x00\x01\x00"):
        raises(ValueError, r"locmsim|format", State.from_bytes, start + data)


def test_parts_that_are_wrong():
    whole = start_position(1).to_bytes()
    table, state = parts(whole)
    assert len(state) == 256
    assert assemble(table, state) == whole
    newer = len(whole) - 256 - HEADER.size
    for place, number, message in (
        (4, 1, "card table of format 1, expected 2"),
        (newer + 4, 3, "state of format 3, expected 2"),
    ):
        data = bytearray(whole)
        data[place] = number
        raises(ValueError, message, State.from_bytes, data)
    raises(ValueError, "no card table of locmsim", State.from_bytes, assemble(state, table))
    with pytest.raises(ValueError, match="no state of locmsim: wrong size"):
        State.from_bytes(assemble(table, state[:-4]))
    with pytest.raises(ValueError, match="no card table of locmsim: wrong length"):
        State.from_bytes(assemble(table[:-1], state))
    # Four bytes of each player are unused and must be zero: equal states have equal bytes.
    for place in (159, 255):
        changed = bytearray(state)
        changed[place] = 1
        raises(ValueError, "padding that is not zero", State.from_bytes, assemble(table, changed))


@each_rules
@given(data=st.data())
def test_damage_under_a_right_checksum(rules, data):
    """Damaged bytes give an error, or a state that can be used for anything without harm."""
    states = game(rules)
    payloads = [bytearray(part) for part in parts(data.draw(st.sampled_from(states)).to_bytes())]
    for _ in range(data.draw(st.integers(1, 4))):
        part = data.draw(st.sampled_from(payloads))
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
    try:
        state = State.from_bytes(assemble(*payloads))
    except ValueError:
        return
    state.validate()
    for seed in range(20):
        if not state.is_terminal():
            actions = state.legal_actions()
            action = actions[seed % len(actions)]
            assert state.string_to_action(state.action_to_string(action)) in actions
            state.apply_action(action)
    for use in (str, repr, State.key, State.snapshot, State.clone, State.legal_actions_mask):
        use(state)
    for viewer in (0, 1):
        state.resample_hidden(viewer, 1)
        state.observation(viewer).format()
    assert State.from_bytes(state.to_bytes()) == state
    assert pickle.loads(pickle.dumps(state)) == state


def test_damaged_pickles():
    """Damage to the bytes of our format is detected; the rest of a pickle is checked by pickle."""
    state = game()[9]
    pickled = pickle.dumps(state)
    ours = [at for at in range(len(pickled)) if pickled.startswith(b"LOCM", at)]
    assert len(ours) == 2
    for start in ours:
        end = start + HEADER.size + HEADER.unpack_from(pickled, start)[3]
        for position in range(start, end, 7):
            changed = bytearray(pickled)
            changed[position] ^= 0x10
            raises(ValueError, r"locmsim|format", pickle.loads, changed)


def state_with_a_creature(rules):
    """Return a state whose only creature is player 0's, in lane 0 where there are two."""
    deck = [Card(1, CardType.CREATURE, 1, 2, 2)] * 12
    return State.new(deck, deck, rules=rules).child(1)


#: Offsets of the fields of a state_t (_core.pxd); player 1's follow `NEXT` bytes later.
TURN, COST_KINDS, MARKS, HEALTH, LOST, NEXT_DRAW, SHOWN_DRAW = 60, 72, 80, 132, 136, 140, 144
MANA, HAND_SIZE, DECK_LEFT, RUNES, ORDER, WON, PAD, NEXT = 148, 151, 152, 153, 154, 155, 156, 96


@pytest.mark.parametrize(
    ("rules", "changes", "fault"),
    [
        ("1.5", {HAND_SIZE: b"\x09"}, "hand_size exceeds 8"),
        ("1.5", {DECK_LEFT: b"\x1f"}, "deck_left exceeds 30"),
        ("1.5", {COST_KINDS: b"\xff"}, "costs or kinds are not those of the hand"),
        ("1.5", {MARKS + 3: b"\x01"}, "mark outside the board"),
        ("1.5", {NEXT + MARKS: b"\x80"}, "gap in a lane"),
        ("1.0", {NEXT + MARKS: b"\x80"}, "gap on the board"),
        ("1.5", {NEXT + MARKS: b"\x01"}, "mark on an empty slot"),
        ("1.2", {NEXT + ORDER: b"\x02"}, "board order of another length"),
        ("1.5", {ORDER: b"\x03"}, "board order of other lanes"),
        ("1.0", {ORDER: b"\x03"}, "board order of other lanes"),
        ("1.5", {MANA: b"\x80"}, "mana out of range"),
        ("1.5", {SHOWN_DRAW: b"\xff" * 4}, "negative counter"),
        ("1.5", {HEALTH: b"\xff\xff\xff\x7f"}, "health out of range"),
        ("1.5", {LOST: b"\xff\xff\xff\x7f"}, "counter out of range"),
        ("1.5", {NEXT_DRAW: b"\xff\xff\xff\x7f"}, "counter out of range"),
        ("1.5", {RUNES: b"\x01"}, "runes and lost health of another rule set"),
        ("1.2", {LOST: b"\x01"}, "runes and lost health of another rule set"),
        ("1.5", {WON: b"\x02"}, "won is neither 0 nor 1"),
        ("1.5", {WON: b"\x01", NEXT + WON: b"\x01"}, "two winners"),
        ("1.5", {TURN: b"\xfe\xff\xff\xff"}, "turn out of range"),
    ],
)
def test_broken_invariants_are_named(rules, changes, fault):
    table, payload = map(bytearray, parts(state_with_a_creature(rules).to_bytes()))
    for place, value in changes.items():
        assert payload[place : place + len(value)] != value
        payload[place : place + len(value)] = value
    raises(ValueError, f"no state of locmsim: {fault}", State.from_bytes, assemble(table, payload))


def test_batches_and_cards_in_hand():
    batch = StateBatch([start_position(seed) for seed in range(3)])
    batch.step(batch.sample_actions(1))
    copy = pickle.loads(pickle.dumps(batch))
    assert list(copy) == list(batch)
    copy.step(copy.sample_actions(2))
    assert list(copy) != list(batch)
    empty = pickle.loads(pickle.dumps(StateBatch.repeat(start_position(1, "1.0"), 0)))
    assert len(empty) == 0
    assert empty.num_distinct_actions() == 155
    held = start_position(1).players[0].hand[0]
    assert pickle.loads(pickle.dumps(held)) == held
    state = start_position(1)
    state.apply_action(next(a for a in state.legal_actions()[1:]))
    assert pickle.loads(pickle.dumps(state.players[0].board)) == state.players[0].board
