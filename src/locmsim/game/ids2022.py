"""The instance ids of LOCM 1.5 in the 2022 contest (docs/rules.md, section 1).

At that time, cards had the numbers 1 to 60 in the order of the choice, and an area copy got the
next free number. Everything else was as it is now, so translating text both ways is enough. Inside
the package only today's ids are known: `OldIds` is the codec of a match, which knows both players'
turns; `IdTranslator` is that of a bot, which knows what one player is shown.
"""

from collections.abc import Callable
from typing import Literal

from locmsim._core import BLANKS, State, instance_id, parse_line
from locmsim.game.choice import chosen_by
from locmsim.game.observation import ENEMY_BOARD, HAND, CardInPlay, Observation, OpponentAction
from locmsim.rules.cards import Area, Card
from locmsim.rules.rulesets import DECK_SIZE, RULES

_RULES = "1.5"
_LANE = RULES[_RULES].lane_size
#: Today's ids by player, in the order of the choice.
_TODAY = [[instance_id(_RULES, player, i) for i in range(DECK_SIZE)] for player in (0, 1)]
#: The old ones.
_OLD = [[DECK_SIZE * player + i + 1 for i in range(DECK_SIZE)] for player in (0, 1)]
#: All ids that a card can have, of either numbering, are below this.
_END = 4 * DECK_SIZE


class OldIds:
    """The translation of one match, updated whenever area copies appear."""

    def __init__(self) -> None:
        self._old = dict(zip(_TODAY[0] + _TODAY[1], _OLD[0] + _OLD[1], strict=True))
        self._old[-1] = -1  # the opponent themselves
        self._new = {old: new for new, old in self._old.items()}
        self._next = 2 * DECK_SIZE + 1

    def clone(self) -> "OldIds":
        """Return an independent copy."""
        copy = OldIds.__new__(OldIds)
        copy._old = dict(self._old)
        copy._new = dict(self._new)
        copy._next = self._next
        return copy

    def old(self, new: int) -> int:
        """Return the old id of a card or creature; for an id that none has, one that none has."""
        return self._old[new] if new in self._old else _nobody(new, self._old, self._new)

    def new(self, old: int) -> int:
        """Return today's id of a card or creature; for an id that none has, one that none has."""
        return self._new[old] if old in self._new else _nobody(old, self._new, self._old)

    def knows(self, old: int) -> bool:
        """Return whether a card or creature has had this old id."""
        return self._new.get(old, _END) < _END

    def learn(self, new: int, old: int | None = None) -> int:
        """Give an area copy, by its id of today, an old id, the next one by default; return it."""
        old = self._next if old is None else old
        # Earlier actions that named the number had no target; they keep their translations.
        self._old[new] = old
        self._new[old] = new
        self._next = max(self._next, old + 1)
        return old

    def old_action(self, text: str) -> str:
        """Return a canonical action in old ids."""
        return _with_ids(text, self.old)

    def old_observation(self, seen: Observation) -> Observation:
        """Return an observation in old ids; offered cards have no ids."""
        return _observation(seen, self.old)

    def new_observation(self, seen: Observation) -> Observation:
        """Return an observation in today's ids; offered cards have no ids."""
        return _observation(seen, self.new)

    def new_line(self, state: State, line: str) -> str:
        """Convert the answer `line` to `state` to today's ids.

        The answer may name creatures that its own summons create, by the numbers they will get;
        from then on these are known. ``InvalidActionError`` as for any malformed line.
        """
        return self._line(state, line, to_old=False)

    def old_line(self, state: State, line: str) -> str:
        """Convert the answer `line` to `state` to old ids, otherwise as `new_line`."""
        return self._line(state, line, to_old=True)

    def _line(self, state: State, line: str, to_old: bool) -> str:
        state = state.clone()
        parts = []
        parse_line(line, _RULES)  # all of it, before anything is learned
        for part in line.split(";"):
            for text in parse_line(part, _RULES):
                translated = _with_ids(text, self.old if to_old else self.new)
                comment = part.strip(BLANKS).split(" ", text.count(" ") + 1)[text.count(" ") + 1 :]
                parts.append(" ".join([translated, *comment]))
                self._play(state, text if to_old else translated)
        return ";".join(parts)

    def _play(self, state: State, action: str) -> None:
        """Play an action in today's ids, if it is legal, and learn of the copy that it makes."""
        if action == "PASS" or state.is_terminal():
            return
        try:
            number = state.string_to_action(action)
        except ValueError:
            return
        player = state.current_player()
        state.apply_action(number)
        for creature in state.players[player].board:
            if self._old.get(creature.id, _END) >= _END:
                self.learn(creature.id)


class IdTranslator:
    """Translates between a referee and a bot, which sees and writes today's ids only.

    Parameters
    ----------
    ids : {"new", "old"}, optional
        The ids that the referee writes. By default they are recognised in the first turn of the
        battle, by the ids that the bot's own choices come back with.

    >>> translator = IdTranslator()
    >>> translator.ids is None
    True
    """

    def __init__(self, ids: Literal["new", "old"] | None = None) -> None:
        if ids not in (None, "new", "old"):
            raise ValueError(f"ids: expected 'new' or 'old', got {ids!r}")
        self._wanted = ids
        self._start(())

    def _start(self, offer: tuple[Card, ...]) -> None:
        self.ids = self._wanted
        self._offer = offer
        self._chosen: list[int] = []
        self._codec = OldIds()
        self._seen: Observation | None = None
        # Where the opponent's creatures are as their turn begins, by old id; None if unknown.
        self._lanes: dict[int, int] | None = None

    #: The ids that the referee writes, "new" or "old"; None until they are recognised.
    ids: Literal["new", "old"] | None

    def read(self, observation: Observation) -> Observation:
        """Return an observation in today's ids.

        Parameters
        ----------
        observation : Observation
            What the referee wrote, each observation of a game once, in order.

        Returns
        -------
        Observation
            The same one where ids are today's.
        """
        if observation.rules != _RULES:
            self.ids = "new"
            return observation
        if observation.phase == "choice":
            self._start(observation.offer)
            return observation
        if self.ids is None:
            self.ids = _recognised(observation, self._chosen)
        if self.ids == "new":
            return observation
        self._follow(observation)
        self._learn_copies(observation)
        self._seen = self._codec.new_observation(observation)
        return self._seen

    def write(self, line: str) -> str:
        """Return an answer as the referee reads it.

        Parameters
        ----------
        line : str
            The answer to the observation that was read last, in today's ids.

        Returns
        -------
        str
            The same one where ids are today's.

        Raises
        ------
        InvalidActionError
            The line is malformed, and has to be translated.
        """
        if self._offer and self.ids is None:
            self._chosen = chosen_by(line, self._offer)
            return line
        if self._seen is None:
            return line
        state = State.from_observation(self._seen)
        old = self._codec.old_line(state, line)
        state.apply_line(line)
        opponent = state.players[1]
        self._lanes = {self._codec.old(creature.id): creature.lane for creature in opponent.board}
        return old

    def _follow(self, seen: Observation) -> None:
        """Follow the opponent's turn: a summon makes a copy where its lane has room.

        Of their creatures, only attackers die in it, and each attacks once.
        """
        areas = {card.base_id: card.area for card in self._offer}
        # Before their first turn the opponent has nothing on the board.
        lanes = {} if self._lanes is None and self._seen is None else self._lanes
        if lanes is None or not areas:
            return
        alive = {row.instance_id for row in seen.at(ENEMY_BOARD)}
        for base_id, text in seen.opponent_actions:
            word, *numbers = text.split(" ")
            source = int(numbers[0])
            if word == "ATTACK" and source not in alive:
                lanes.pop(source, None)
            if word == "SUMMON":
                area = areas.get(base_id, Area.TARGET)  # of a card that was not offered: none
                lane = lanes[source] = int(numbers[1])
                lane ^= area == Area.LANE2
                has_room = [*lanes.values()].count(lane) < _LANE
                if area != Area.TARGET and has_room and self._is_free(source):
                    copy = self._codec.learn(_copy_of(source))
                    lanes[copy] = lane
        self._lanes = None

    def _learn_copies(self, seen: Observation) -> None:
        """Find originals of area copies that were not followed, because the start was late.

        Numbers are in the order of the summons. All copies of the opponent's turn are in sight: on
        the board, or among the attackers.
        """
        names = [(action.base_id, action.text.split(" ")) for action in seen.opponent_actions]
        summoned = [(base, int(text[1])) for base, text in names if text[0] == "SUMMON"]
        shown: dict[int, tuple[int, int | None]] = {}  # copy -> base id, the creature before it
        for base, text in names:
            if text[0] == "ATTACK":
                shown[int(text[1])] = base, None
        before: CardInPlay | None = None
        for row in seen.cards:
            if row.location != HAND:
                same = before is not None and before[:3:2] == row[:3:2]
                shown[row.instance_id] = (
                    row.base_id,
                    before.instance_id if same and before else None,
                )
                before = row
        mine = {row.instance_id for row in seen.cards if row.location != ENEMY_BOARD}
        for copy in sorted(number for number in shown if not self._codec.knows(number)):
            base, neighbour = shown[copy]
            rest = [number for base_id, number in summoned if base_id == base]
            original = neighbour if neighbour in rest else next(iter(rest), neighbour)
            if original is not None and self._is_free(original):
                summoned = [pair for pair in summoned if pair[1] != original]
            else:
                original = self._lost(copy in mine, mine)
            self._codec.learn(_copy_of(original), copy)

    def _is_free(self, original: int) -> bool:
        """Return whether a card, by its old id, has no copy yet."""
        return 1 <= original <= 2 * DECK_SIZE and self._codec.old(_copy_of(original)) >= _END

    def _lost(self, is_mine: bool, mine: set[int]) -> int:
        """Return an old id that can stand for an original that was never seen."""
        seat = next((number > DECK_SIZE for number in mine if number <= 2 * DECK_SIZE), False)
        ids = _OLD[seat if is_mine else not seat]
        return next((old for old in reversed(ids) if self._is_free(old)), ids[0])


def read_input(
    text: str, rules: str | None = None, ids: Literal["new", "old"] | None = None
) -> Observation:
    """Return what one question to a bot shows, in today's ids.

    Parameters
    ----------
    text : str
        What the bot is sent.
    rules : str, optional
        The rule set; by default the text shows it.
    ids : {"new", "old"}, optional
        The ids of the text; by default those that fit the cards in hand, today's if both do.

    Raises
    ------
    ProtocolError
        The text is not of the protocol; the message names the line.
    """
    return IdTranslator(ids).read(Observation.parse(text, rules))


def _copy_of(original: int) -> int:
    """Return today's id of the area copy of a card, from the card's old id."""
    return instance_id(_RULES, *divmod(original - 1, DECK_SIZE), copy=True)


def _recognised(seen: Observation, chosen: list[int]) -> Literal["new", "old"]:
    """Return whose ids the cards in hand have, from what was chosen, if that is known."""
    hand = [(row.instance_id, row.base_id) for row in seen.at(HAND)]
    for player in (0, 1):
        if _fits(hand, _TODAY[player], chosen):
            return "new"
    return "old" if any(_fits(hand, ids, chosen) for ids in _OLD) else "new"


def _fits(hand: list[tuple[int, int]], ids: list[int], chosen: list[int]) -> bool:
    places = {number: i for i, number in enumerate(ids)}
    return all(
        number in places and (not chosen or base_id in chosen[places[number] :][:1])
        for number, base_id in hand
    )


def _nobody(number: int, known: dict[int, int], others: dict[int, int]) -> int:
    """Choose an id that no card has in the other numbering, and remember it both ways."""
    other = number
    while 0 <= other < _END or other in others:
        other += 1000
    known[number], others[other] = other, number
    return other


def _observation(seen: Observation, translate: Callable[[int], int]) -> Observation:
    if seen.phase == "choice":
        return seen
    cards = [row._replace(instance_id=translate(row.instance_id)) for row in seen.cards]
    actions = [
        OpponentAction(base_id, _with_ids(text, translate))
        for base_id, text in seen.opponent_actions
    ]
    return seen.replace(cards=tuple(cards), opponent_actions=tuple(actions))


def _with_ids(text: str, translate: Callable[[int], int]) -> str:
    word, *numbers = text.split(" ")
    # A lane follows the card of a SUMMON.
    ids = 1 if word == "SUMMON" else 2
    translated = [str(translate(int(n))) if i < ids else n for i, n in enumerate(numbers)]
    return " ".join([word, *translated])
