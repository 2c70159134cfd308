"""Fast conversion of replies to states, for clients with many matches.

All matches of a tournament share a deck, so that its cards need to be parsed only once; after that,
the conversion to a state takes some tens of microseconds. For a single position,
`vestrock.state_from_replies` is simpler.
"""

from collections.abc import Sequence

from vestrock import replies as read
from vestrock._core import State, Table
from vestrock.positions import state_from_replies
from vestrock.protocol import POSITION_QUESTIONS, Reply

#: Commands at the start of a turn, when mana is 0 and no attacker is blocked.
_QUESTIONS = tuple(word for word in POSITION_QUESTIONS if word != "GET_CURRENT_MANA")


class Views:
    """Converts the replies about the matches of one tournament to states.

    The deck is learned from a match in its first turn. After a late login, no match is in its first
    turn: then the decks of the states consist of the visible cards, and the conversion is slower.
    """

    def __init__(self) -> None:
        self.table: Table | None = None

    @staticmethod
    def questions(match: int) -> list[str]:
        """Return the commands whose replies `state` reads, to send at the start of a turn."""
        return [f"{word} {match}" for word in _QUESTIONS]

    def learn(self, replies: Sequence[Reply]) -> None:
        """Read deck and parameters from the replies of a match, if it is in its first turn."""
        if self.table is not None or any(reply.error for reply in replies):
            return
        lines = _lines(replies)
        left = read.turn_info(lines["GET_TURN_INFO"]).left
        # In the first turn, the number of turns left is even, and hands and boards are empty. If a
        # later turn looks like that, its deck lacks cards, which `state` notices when another match
        # has them.
        if left % 2 or lines["GET_HANDS"][0] != "0 0" or lines["GET_BOARD"][0] != "0 0":
            return
        draws, burns, hand_limit = read.limits(lines["GET_CARD_LIMITS"])
        self.table = Table(
            read.cards(lines["GET_DECK"]),
            init_hp=read.health(lines["GET_HP"]).initial,
            turns=left,
            draws=draws,
            burns=burns,
            hand_limit=hand_limit,
        )

    def state(self, replies: Sequence[Reply]) -> State | None:
        """Return the position at the start of the caller's turn.

        Parameters
        ----------
        replies : sequence of Reply
            The replies to `questions`.

        Returns
        -------
        State or None
            None if it is not the caller's turn or the match is over.

        Raises
        ------
        ValueError
            The replies do not describe a valid position.
        """
        if any(reply.error for reply in replies):
            return None
        lines = _lines(replies)
        own, left = read.turn_info(lines["GET_TURN_INFO"])
        if not own:
            return None
        self.learn(replies)
        if self.table is not None:
            try:
                snapshot = read.snapshot(lines, self.table.parameters["turns"])
                return State.from_snapshot(snapshot, self.table)
            except ValueError:  # a match with another deck
                pass
        draws, burns, _ = read.limits(lines["GET_CARD_LIMITS"])
        return state_from_replies(lines, turns=left + left % 2, draws=draws, burns=burns)


def _lines(replies: Sequence[Reply]) -> dict[str, list[str]]:
    """Return the lines of the replies by the command words of the questions."""
    return dict(zip(_QUESTIONS, [reply.lines for reply in replies], strict=True))
