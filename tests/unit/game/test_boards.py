"""Positions and observations as text, word by word, and the words of their pictures."""

import re

from locmsim import State
from locmsim.game.boards import board_text

CARDS = "3:0:1:2:2:------:0:0:0:0,5:0:4:1:6:B-DG--:1:-2:1:2,9:2:2:0:-3:-----W:0:0:0:1"
SEAT_0 = "25,6,4,0,2,1,0/9:0/7:0:2:2:-----W:0:r,8:1:3:1:-C----:1:s,10:0:1:1:------:1:-/11:2"
#: The second player's turn; their last creature has attacked.
STATE = State.from_text(
    f"1.5 7 - {SEAT_0} 30,5,5,1,1,1,3/62:1,66:2/64:1:1:6:B-DG--:1:s/- 3 {CARDS}"
)
HAND_1 = (
    "hand: #62 creature 4: 1/6 B-DG-- own health +1 enemy health -2 draw 1 lane2,"
    " #66 red 2: 0/-3 -----W lane1"
)


def texts(svg: str) -> list[str]:
    """Return the words of a picture, without those of its cards."""
    return re.findall(r"<text [^>]*>([^<]*[a-z][^<]+|LOCM [^<]*)</text>", svg)


def test_a_board() -> None:
    """The player to move is below."""
    above = (
        "player 0: 25 health, 4/6 mana, 1 in deck, draws 2\n"
        "  lane 0: #7 2/2 -----W*\n"
        "  lane 1: #8 3/1 -C----, #10 1/1 ------\n"
    )
    below = (
        "player 1: 30 health, 5/5 mana, 0 in deck, draws 1\n  lane 0: -\n  lane 1: #64 1/6 B-DG--\n"
    )
    head = "LOCM 1.5, turn 7, player 1 to move\n"
    assert str(STATE) == f"{head}{above}  hand: #9 creature 1: 2/2 ------\n{below}  {HAND_1}"
    assert board_text(STATE, 1) == f"{head}{above}  hand: 1 card\n{below}  {HAND_1}"
    seen = f"{head}{below}  hand: 2 cards\n{above}  hand: #9 creature 1: 2/2 ------"
    assert board_text(STATE, 0) == seen


def test_runes_one_lane_and_who_may_attack() -> None:
    me, other = "12,3,2,0,1,1,5.10/-/4:1:1:3:--D---:0:r/-", "28,4,0,1,2,1,5/9:2/-/8:3"
    state = State.from_text(f"1.0 4 - {me} {other} 160 {','.join(map(str, range(1, 161)))}")
    words = (
        "player 0: 12 health, 2/3 mana, 0 in deck, draws 1, runes [5, 10]\n"
        "  lane 0: #4 1/3 --D---*\n"
        "  hand: -"
    )
    assert board_text(state, 0).endswith(
        f"draws 2, runes [5]\n  lane 0: -\n  hand: 1 card\n{words}"
    )
    over = State.from_text(state.to_text().replace("1.0 4 - 12", "1.0 4 1 -1"))
    assert str(over).startswith("LOCM 1.0, turn 4, player 1 has won\nplayer 1: 28 health")


def test_what_a_player_sees() -> None:
    first, *lines = STATE.observation_string(1).splitlines()
    assert first == "turn 7 player 1 mana 5 4 can attack - has attacked 64"
    assert "\n".join(lines) == STATE.observation(1).format().rstrip("\n")
    first = STATE.observation_string(0).splitlines()[0]
    assert first == "turn 7 player 1 mana 4 5 can attack 7 has attacked 8"
    later = STATE.clone()
    later.apply_action(0)
    first = later.observation_string(0).splitlines()[0]
    assert first == "turn 8 player 0 mana 7 5 can attack 7,8,10 has attacked 8"
    assert str(STATE.observation(1)) == (
        "1.5 battle: 30 health, 5 mana, 2 in hand, 1 on the board, 0 in the deck;"
        " opponent: 25 health, 1 in hand, 3 on the board, 1 in the deck"
    )


def test_words_of_the_pictures() -> None:
    assert texts(STATE._repr_html_()) == [
        "LOCM 1.5, turn 7, player 1 to move",
        "player 0: 25 health, 4/6 mana, 1 in the deck",
        "player 1: 30 health, 5/5 mana, 0 in the deck",
    ]
    assert texts(STATE.observation(1)._repr_html_()) == [
        "LOCM 1.5",
        "opponent: 25 health, 1 in the deck",
        "me: 30 health, 5 mana, 0 in the deck",
    ]
