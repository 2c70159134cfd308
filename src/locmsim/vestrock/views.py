"""What a client needs to know of its matches: states from replies, quickly.

All matches of a tournament have one deck, so that its cards are read once; after that a state takes
some tens of microseconds. `locmsim.vestrock.state_from_replies` does the same for a single position
of an unknown match.
"""

from collections.abc import Sequence
from typing import Any

from locmsim.vestrock._core import State, Table
from locmsim.vestrock.deck import Card
from locmsim.vestrock.positions import state_from_replies
from locmsim.vestrock.protocol import Reply

__all__ = ["Views"]

#: What is asked at the start of a turn; mana is 0 and no attacker is blocked then.
_QUESTIONS = (
    "GET_TURN_INFO",
    "GET_HP",
    "GET_CARD_LIMITS",
    "GET_DECK",
    "GET_HANDS",
    "GET_BOARD",
    "GET_ATTACKERS",
)


class Views:
    """Reads the matches of one tournament.

    The deck comes from a match in its first turn. Without such a one, as after a late login, the
    states have decks of the cards that can be seen, and take longer.
    """

    def __init__(self) -> None:
        self.table: Table | None = None

    @staticmethod
    def questions(match: int) -> list[str]:
        """The commands whose replies `state` reads, to be sent at the start of a turn."""
        return [f"{word} {match}" for word in _QUESTIONS]

    def learn(self, replies: Sequence[Reply]) -> None:
        """Take deck and parameters from the replies of a match, if it is in its first turn."""
        if self.table is not None or any(reply.error for reply in replies):
            return
        info, health, limits, deck, hands, board, _ = (reply.lines for reply in replies)
        left = _numbers(info[0])[1]
        # In the first turn, an odd one, all cards are in the deck. If it only looks like the first
        # one, the deck is smaller, which `state` notices where a match has other cards.
        if left % 2 or hands[0] != "0 0" or board[0] != "0 0":
            return
        draws, burns, hand_limit = _numbers(limits[0])
        self.table = Table(
            [Card.parse(line) for line in deck[1:]],
            init_hp=_numbers(health[0])[0],
            turns=left,
            draws=draws,
            burns=burns,
            hand_limit=hand_limit,
        )

    def state(self, replies: Sequence[Reply]) -> State | None:
        """The position at the start of the caller's turn.

        Parameters
        ----------
        replies : sequence of Reply
            Those to `questions`.

        Returns
        -------
        State or None
            None if it is not the caller's turn or the match is over.

        Raises
        ------
        ValueError
            The replies fit no position.
        """
        if any(reply.error for reply in replies):
            return None
        info, health, limits, deck, hands, board, attackers = (reply.lines for reply in replies)
        own, left = _numbers(info[0])
        if not own:
            return None
        self.learn(replies)
        table = self.table
        if table is None:
            return self._unknown(replies, left)
        turn = table.parameters["turns"] - left + 1
        order = 1 if turn % 2 else -1  # from own and opponent's to the first and second player's
        attacking = {line.split(" ", 1)[0] for line in attackers[1:]}
        own_hand, _ = _numbers(hands[0])
        ids = [int(line.split(" ", 1)[0]) for line in hands[1:]]
        own_board, _ = _numbers(board[0])
        rows = [_creature(line, attacking) for line in board[1:]]
        draws, burns, _ = _numbers(limits[0])
        snapshot: dict[str, Any] = {
            "turn": turn,
            "phase": "blocking",
            "health": _numbers(health[0])[1:][::order],
            "mana": 0,
            "draws": draws,
            "burns": burns,
            "deck": int(deck[0]),
            "hands": [ids[:own_hand], ids[own_hand:]][::order],
            "boards": [rows[:own_board], rows[own_board:]][::order],
        }
        try:
            return State.from_snapshot(snapshot, table)
        except ValueError:
            return self._unknown(replies, left)

    @staticmethod
    def _unknown(replies: Sequence[Reply], left: int) -> State:
        """The position of a match whose deck was never seen whole."""
        words = {reply.command.partition(" ")[0]: reply.lines for reply in replies}
        draws, burns, _ = _numbers(words["GET_CARD_LIMITS"][0])
        return state_from_replies(words, turns=left + left % 2, draws=draws, burns=burns)


def _numbers(line: str) -> list[int]:
    return [int(word) for word in line.split(" ")]


def _creature(line: str, attacking: set[str]) -> dict[str, Any]:
    card, _, attack, health, max_health, _, _, active = line.split(" ")
    return {
        "id": int(card),
        "attack": int(attack),
        "health": int(health),
        "max_health": int(max_health),
        "active": active == "1",
        "attacking": card in attacking,
        "blocked": False,
    }
