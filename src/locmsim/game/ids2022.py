"""The instance ids of LOCM 1.5 in the 2022 contest (docs/rules.md, section 1).

At that time, cards had the numbers 1 to 60 in the order of the choice, and an area copy got the
next free number. Everything else was as it is now, so that translating text both ways is enough.
"""

from collections.abc import Callable

from locmsim._core import State, parse_line
from locmsim.game.observation import Observation, OpponentAction
from locmsim.rules.rulesets import DECK_SIZE

__all__ = ["OldIds"]

_RULES = "1.5"


class OldIds:
    """The translation of one match, updated whenever area copies appear."""

    def __init__(self) -> None:
        self._old = {2 * i: i + 1 for i in range(2 * DECK_SIZE)}
        self._new = {old: new for new, old in self._old.items()}
        self._new[-1] = -1  # the opponent themselves
        self._next = 2 * DECK_SIZE + 1

    def clone(self) -> "OldIds":
        """Return an independent copy."""
        copy = OldIds()
        copy._old = dict(self._old)
        copy._new = dict(self._new)
        copy._next = self._next
        return copy

    def old(self, new: int) -> int:
        """Return the old id of a card or creature; an id without one is unchanged."""
        return self._old.get(new, new)

    def old_action(self, text: str) -> str:
        """Return a canonical action in old ids."""
        return _with_ids(text, self.old)

    def old_observation(self, seen: Observation) -> Observation:
        """Return an observation in old ids; offered cards have no ids."""
        if seen.phase == "choice":
            return seen
        cards = tuple([row._replace(instance_id=self.old(row.instance_id)) for row in seen.cards])
        actions = tuple(
            [
                OpponentAction(base_id, self.old_action(text))
                for base_id, text in seen.opponent_actions
            ]
        )
        return seen.replace(cards=cards, opponent_actions=actions)

    def new_line(self, state: State, line: str) -> str:
        """Convert the answer `line` to `state` to current ids.

        The answer may name creatures that its own summons create, by the numbers they will get;
        from then on these are known. ``InvalidActionError`` as for any malformed line.
        """
        state = state.clone()
        actions = []
        for text in parse_line(line, _RULES):
            action = _with_ids(text, self._new_or_unknown)
            actions.append(action)
            if action != "PASS" and not state.is_terminal() and _is_legal(state, action):
                player = state.current_player()
                state.apply_action(state.string_to_action(action))
                for creature in state.players[player].board:
                    self._learn(creature.id)
        return ";".join(actions)

    def _learn(self, new: int) -> None:
        if new not in self._old:
            self._old[new] = self._next
            # Earlier actions in the line that named this number had no target; they stay
            # translated.
            self._new[self._next] = new
            self._next += 1

    def _new_or_unknown(self, old: int) -> int:
        if old not in self._new:
            unknown = -2 - len(self._new)  # an id that no card has, and no other unknown one
            self._new[old] = unknown
            self._old[unknown] = old
        return self._new[old]


def _is_legal(state: State, action: str) -> bool:
    try:
        state.string_to_action(action)
    except ValueError:
        return False
    return True


def _with_ids(text: str, translate: Callable[[int], int]) -> str:
    word, *numbers = text.split(" ")
    # A lane follows the card of a SUMMON.
    ids = 1 if word == "SUMMON" else 2
    translated = [str(translate(int(n))) if i < ids else n for i, n in enumerate(numbers)]
    return " ".join([word, *translated])
