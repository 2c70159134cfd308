"""Frames of videos: all have one size, whatever is on them."""

import numpy as np
import pytest
from helpers import needs

from locmsim import generate_cards
from locmsim.art import Place
from locmsim.art.pixels import FRAME, Strip, board_frame, offer_frame

pytestmark = needs("cairosvg")

CARDS = generate_cards(1)
CREATURE = next(card for card in CARDS if card.attack and card.defense)
WORDS = ("player 0", "30 health")


def strip(cards=(), hidden=0, creatures=()):
    return Strip(WORDS, cards, hidden, creatures)


def board(upper, lower, lanes=2):
    frame = board_frame(upper, lower, lanes=lanes, title=("LOCM 1.5",))
    assert frame.shape == (*FRAME, 3)
    assert frame.dtype == np.uint8
    return frame


@pytest.mark.slow
def test_hands_of_any_size_fit():
    empty = board(strip(), strip())
    shown = {empty.tobytes()}
    for size in (1, 8, 9, 30):
        frame = board(strip(hidden=size), strip(CARDS[:size]))
        shown.add(frame.tobytes())
        changed = (frame != empty).any(axis=(0, 2)).nonzero()[0]
        assert changed.min() > 0
        assert changed.max() < FRAME[1] - 1
    assert len(shown) == 5


@pytest.mark.parametrize(("lanes", "size"), [(2, 3), (1, 6)])
def test_full_lanes(lanes, size):
    creatures = [
        Place(CREATURE, 500, -500, "BCDGLW", lane) for lane in range(lanes) for _ in range(size)
    ]
    full = board(strip(creatures=creatures), strip(creatures=creatures), lanes)
    fewer = board(strip(creatures=creatures), strip(creatures=creatures[:-1]), lanes)
    assert (full != fewer).any()


def test_a_creature_shows_what_it_has_now():
    pictures = {
        board(strip(), strip(creatures=[Place(CREATURE, *now, 0)])).tobytes()
        for now in ((3, 4, "------"), (4, 4, "------"), (3, 5, "------"), (3, 4, "---G--"))
    }
    assert len(pictures) == 4


@pytest.mark.slow
def test_offers():
    title = ("LOCM 1.5", "0 of 30 chosen")
    taken = [0] * len(CARDS)
    none = offer_frame(CARDS, taken, (), title=title)
    one = offer_frame(CARDS, [1, *taken[1:]], CARDS[:1], title=title)
    two = offer_frame(CARDS, [2, *taken[1:]], CARDS[:1] * 2, title=title)
    draft = offer_frame(CARDS[:3], [0, 0, 0], CARDS[3:33], title=title)
    over = offer_frame((), (), CARDS[3:33], title=title)
    frames = [none, one, two, draft, over]
    assert {frame.shape for frame in frames} == {(*FRAME, 3)}
    assert len({frame.tobytes() for frame in frames}) == len(frames)


def test_a_frame_belongs_to_the_caller():
    first = board(strip(hidden=3), strip(CARDS[:3]))
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(board(strip(hidden=3), strip(CARDS[:3])), kept)
