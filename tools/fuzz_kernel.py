"""Feed the compiled kernel random games and damaged input, for builds with sanitizers.

    python tools/fuzz_kernel.py --seconds 60

Whatever its input, the kernel may only raise ``ValueError``, and every state it returns must be
valid. docs/development.md explains how to build with sanitizers. A finding names its round, which
``--seed ROUND`` repeats.
"""

import copy
import json
import pickle
import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from fuzzing import run_rounds

from locmsim import Card, State, StateBatch
from locmsim.rules.cards import ABILITIES
from locmsim.rules.rulesets import RULES

#: Header of both parts of `State.to_bytes`: magic, version, kind, size and checksum of the rest.
HEADER = struct.Struct("=4sHHII")
NUMBERS = (-(2**63), -(2**31), -32769, -501, -500, -7, -1, 0, 1, 2, 3, 5, 6, 7, 8, 12, 30, 49, 50)
BIG_NUMBERS = (
    99,
    100,
    127,
    128,
    255,
    256,
    500,
    501,
    30500,
    30501,
    32768,
    65536,
    2**31,
    2**63,
    2**80,
)
INTEGERS = (*NUMBERS, *BIG_NUMBERS)
VALUES = (*INTEGERS, None, "", "BCDGLW", "------", "x", 0.5, [], {}, [0], True)
WORDS = (
    "PASS",
    "SUMMON",
    "USE",
    "ATTACK",
    ";",
    " ",
    "-1",
    "0",
    "\t",
    "é",
    "\x00",
    "#",
    "+",
    "9" * 30,
)

LONG_GAME = 300  # actions; some games never end

done: Counter[str] = Counter()


def play_round(rng: random.Random) -> None:
    """Play one game and try every operation in some of its positions."""
    state = random_start(rng)
    for _ in range(LONG_GAME):
        if state.is_terminal():
            break
        state.validate()
        if rng.random() < 0.1:
            attempt = rng.choice(ATTEMPTS)
            attempt(state, rng)
        legal = state.legal_actions()
        if rng.random() < 0.02:
            roll_out(state, rng)
            refused(lambda: state.apply_action(rng.choice(INTEGERS)), "odd actions")
            if legal != state.legal_actions():  # the action may have been legal by chance
                continue
        state.apply_action(
            rng.choice(legal[1:] if len(legal) > 1 and rng.random() < 0.8 else legal)
        )
        done["actions"] += 1
    state.validate()
    rng.choice(ATTEMPTS)(state, rng)


def random_start(rng: random.Random) -> State:
    rules = rng.choice(list(RULES))
    scale = rng.choice((5, 130, 500))
    abilities = dict.fromkeys(ABILITIES, 0.3)
    if rng.random() < 0.5:
        abilities["D"] = 0
    cards = [random_card(rng, number, scale, abilities) for number in range(rng.randint(1, 60))]
    decks = [rng.choices(cards, k=rng.choice((0, 5, 29, 30, 30, 30))) for _ in range(2)]
    return State.new(*decks, rules=rules, pool=cards)


def random_card(rng: random.Random, base_id: int, scale: int, abilities: dict[str, float]) -> Card:
    """Return a card within `Card`'s bounds, mostly cheap, so that many are played.

    `abilities` has the probability of each.
    """

    def stat() -> int:
        return rng.choice((rng.randint(-scale, scale), rng.randint(-3, 3), scale, -scale, 0))

    return Card(
        base_id,
        rng.choice((0, 0, 0, 1, 2, 3)),  # type: ignore[arg-type]
        rng.choice((0, 0, 1, 2, 5, 12, 13, 127)),
        stat(),
        stat(),
        "".join(
            letter if rng.random() < probability else "-"
            for letter, probability in abilities.items()
        ),
        rng.choice((0, 0, stat())),
        rng.choice((0, 0, stat())),
        rng.choice((0, 0, 0, 1, 8, 100)),
        rng.randint(0, 2),  # type: ignore[arg-type]
    )


def refused(action: Callable[[], Any], what: str) -> Any:
    """Return the result, or None for a ``ValueError``."""
    done[what] += 1
    try:
        return action()
    except ValueError as error:
        if not str(error):
            raise AssertionError("an error without a message") from error
        return None


def damaged_bytes(state: State, rng: random.Random) -> None:
    whole = state.to_bytes()
    assert State.from_bytes(whole) == state
    middle = HEADER.size + HEADER.unpack_from(whole)[3]
    parts = [bytearray(whole[:middle]), bytearray(whole[middle:])]
    for _ in range(rng.choice((0, 1, 1, 2, 8))):
        part = rng.choice(parts)
        if rng.random() < 0.05:
            del part[rng.randrange(len(part) + 1) :]
        elif part:
            part[rng.randrange(len(part))] = rng.choice((0, 1, 255, rng.randrange(256)))
    if rng.random() < 0.9:
        parts = [sealed_again(part) for part in parts]
    use(refused(lambda: State.from_bytes(b"".join(parts)), "damaged bytes"), rng)


def sealed_again(part: bytearray) -> bytearray:
    """Fix length and checksum, so that the contents themselves are checked."""
    if len(part) < HEADER.size:
        return part
    magic, version, kind, *_ = HEADER.unpack_from(part)
    rest = part[HEADER.size :]
    return bytearray(HEADER.pack(magic, version, kind, len(rest), zlib.crc32(rest))) + rest


def batches(state: State, rng: random.Random) -> None:
    before, batch = state.key(), StateBatch.repeat(state, 3)
    for _ in range(rng.randint(1, 30)):
        batch.step(batch.sample_actions(rng.getrandbits(64)))
        for one, mask, count in zip(
            batch, batch.legal_actions_mask(), batch.legal_counts, strict=True
        ):
            one.validate()
            assert mask.sum() == count == len(one.legal_actions())
        actions = rng.choices([n for n in INTEGERS if abs(n) < 2**63], k=3)
        earlier = [one.key() for one in batch]
        if refused(lambda actions=actions: batch.step(actions) or True, "odd steps") is None:
            assert earlier == [one.key() for one in batch]
    assert state.key() == before


def damaged_snapshot(state: State, rng: random.Random) -> None:
    position = {
        "snapshot": state.snapshot(),
        "decks": [[[c.id, c.card.base_id] for c in (*p.hand, *p.deck)] for p in state.players],
    }
    cards = list(state.table.pool)
    for _ in range(rng.choice((0, 1, 1, 1, 3))):
        damage(position, rng)
    use(
        refused(
            lambda: State.from_snapshot(
                position.get("snapshot"),
                rng.sample(cards, len(cards) - 1) if rng.random() < 0.1 else cards,
                position.get("decks"),
                state.rules,
            ),
            "damaged snapshots",
        ),
        rng,
    )


def damage(value: Any, rng: random.Random) -> None:
    """Change a random value in nested lists and dicts."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.85:
            value = value[key]
            continue
        kind = rng.randrange(4)
        if kind == 0:
            del value[key]
        elif kind == 1 and isinstance(value, list):
            value.insert(rng.randint(0, len(value)), copy.deepcopy(value[key]))
        elif kind == 2 and isinstance(value[key], int):
            value[key] += rng.choice((-1, 1))
        else:
            value[key] = copy.deepcopy(rng.choice(VALUES))
        return


def odd_lines(state: State, rng: random.Random) -> None:
    ids = [str(item.id) for p in state.players for item in (*p.hand, *p.board)]
    words = rng.choices(
        (*WORDS, *map(str, NUMBERS), *ids, *("PASS", ";", " ") * 8), k=rng.randint(0, 25)
    )
    line = rng.choice(("", " ")).join(words)
    clone = state.clone()
    if refused(lambda: clone.apply_line(line), "odd lines") is None:
        assert clone == state
    clone.validate()
    refused(lambda: state.string_to_action(line), "odd actions")


def copies(state: State, rng: random.Random) -> None:
    """Call every method that returns another state and every one that only reads."""
    for other in (state.clone(), copy.copy(state), pickle.loads(pickle.dumps(state))):
        assert other == state
        assert other.key() == state.key()
    for player in (0, 1):
        use(state.resample_hidden(player, rng.getrandbits(64)), rng)
        state.observation(player).format()
    assert json.dumps(state.snapshot())
    assert len(state.legal_actions_mask()) == state.num_distinct_actions()
    assert [state.string_to_action(state.action_to_string(a)) for a in state.legal_actions()] == (
        state.legal_actions()
    )
    assert str(state)
    assert repr(state)
    state.perft(2)
    done["copies"] += 1


def use(state: State | None, rng: random.Random) -> None:
    """Check that an accepted state is valid and can be played to its end."""
    if state is None:
        return
    done["states accepted"] += 1
    state.validate()
    str(state)
    state.snapshot()
    roll_out(state, rng)
    for _ in range(LONG_GAME):
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))
        state.validate()


def roll_out(state: State, rng: random.Random) -> None:
    state.rollouts(3, rng.getrandbits(64))
    done["playouts"] += 3


ATTEMPTS = (damaged_bytes, damaged_snapshot, odd_lines, copies, batches)


def main() -> None:
    run_rounds(__doc__, lambda number: play_round(random.Random(number)), done)


if __name__ == "__main__":
    main()
