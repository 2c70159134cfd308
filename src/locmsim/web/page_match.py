"""A match in which a person has all the time, and which is watched."""

from collections.abc import Callable
from typing import Any

from locmsim._core import State, original_of
from locmsim.contract import TurnResult
from locmsim.game._match import base_ids
from locmsim.game.match import Match

__all__ = ["PageMatch", "match_from"]

#: The least time for a bot's first answer in ms: what the rules give it for that.
_FIRST_MS = 1000


class PageMatch(Match):
    """A match in which a person has all the time, and which is watched."""

    #: The person's seat; -1 if two bots play.
    person: int = -1
    #: The seats that have answered before.
    answered: frozenset[int] = frozenset()
    #: Called with the player, the state before, the actions and the line of each turn.
    watch: Callable[[int, State, list[str], str], object] = staticmethod(lambda *turn: None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out who watches: an agent in a process of its own has a copy of the match."""
        return {name: value for name, value in vars(self).items() if name != "watch"}

    def time_limit_ms(self, player: int) -> int:
        if player == self.person:
            return 0
        limit = super().time_limit_ms(player)
        # The first answer has to wait for the bot's start, as the choice of cards does.
        return limit if player in self.answered else max(limit, _FIRST_MS)

    def submit(self, player: int, line: str | None) -> TurnResult:
        before = None if self.state is None else self.state.clone()
        result = super().submit(player, line)
        self.answered |= {player}
        if before is not None:
            self.watch(player, before, result.applied, line or "")
        return result


def match_from(state: State) -> PageMatch:
    """Return a match that begins in a position; its log, without a choice, cannot be replayed."""
    match = PageMatch(state.rules, seed=0)
    match.state = state.clone()
    for side in state.players:
        held = [(card.id, card.card) for card in (*side.hand, *side.deck)]
        held += [(creature.id, creature.card) for creature in side.board]
        found = [(original_of(state.rules, instance), card.base_id) for instance, card in held]
        match._base_ids.update(base_ids(state.rules, found))
    match._to_ask = (state.current_player(),)
    return match
