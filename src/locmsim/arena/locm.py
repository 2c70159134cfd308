"""Legends of Code and Magic as a game of the arena; the other modules work for any game."""

import inspect
import json
import pickle
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, ClassVar

from locmsim.agents.base import Agent
from locmsim.agents.registry import agent_spec, check_rules, make_agent
from locmsim.arena.locm_cards import GROUPS, cards_of
from locmsim.arena.locm_checks import check_agent, checks
from locmsim.contract import LogPart, Part, View
from locmsim.game.match import Match
from locmsim.game.params import effective_params
from locmsim.options.texts import written
from locmsim.referee.checks import Check
from locmsim.referee.locm_agents import LocmAgents
from locmsim.rules.cards import Card, load_cards
from locmsim.rules.generator import generate_cards, load_weights
from locmsim.rules.rulesets import get_rules


@dataclass(frozen=True, slots=True)
class LocmGame(LocmAgents):
    """The `locmsim.contract.Game` of a rule set of LOCM.

    Parameters
    ----------
    rules : str
        The rule set: "1.5", "1.2" or "1.0".
    ids : str
        The instance ids, as for `Match`.
    cards : str
        At 1.5 a card list file, from which all matches are offered cards; afterwards its content,
        which is kept with results.
    weights : str
        At 1.5 a file of weights of the generator that makes the cards; afterwards its content.

    Raises
    ------
    ValueError
        A file cannot be used, both are given, or the rule set has fixed cards.
    """

    rules: str = "1.5"
    ids: str = "new"
    cards: str = ""
    weights: str = ""
    scored: ClassVar[bool] = False
    turn_name: ClassVar[str] = "turn"
    parts: ClassVar[Collection[Part]] = tuple(Part)
    card_groups: ClassVar[Sequence[str]] = GROUPS

    def __post_init__(self) -> None:
        if not (own := self.cards or self.weights):
            return
        name = "cards" if self.cards else "weights"
        if get_rules(self.rules).draft:
            raise ValueError(f"{name}: rules {self.rules} have a fixed card set")
        if self.cards and self.weights:
            raise ValueError("weights: does not apply with cards")
        if own[0] not in "[{":  # as JSON, it is the content of a file
            data: Any
            try:
                if self.cards:
                    data = [[*card.to_row(), card.name] for card in load_cards(own)]
                else:
                    data = load_weights(own)
            except OSError as error:
                raise ValueError(f"{name}: {own}: {error.strerror}") from None
            object.__setattr__(self, name, json.dumps(data, separators=(",", ":")))
        self.own_cards(0)  # unusable ones are refused here

    @property
    def title(self) -> str:
        """The name of the game in tables."""
        if not (own := self.cards or self.weights):
            return f"rules {self.rules}"
        from hashlib import sha256  # it loads OpenSSL, and each worker process imports this

        digest = sha256(own.encode()).hexdigest()[:6]
        return f"rules {self.rules} with other {'cards' if self.cards else 'weights'} ({digest})"

    def own_cards(self, seed: int) -> list[Card] | None:
        """Return the cards of a match if they are not those of the rules.

        Parameters
        ----------
        seed : int
            The match's ``cardGenSeed``.
        """
        if self.cards:
            return [*_listed(self.cards)]
        return [*_generated(self.weights, seed)] if self.weights else None

    def match_of(self, params: Mapping[str, int | str], seed: int | None = None) -> Match:
        """Return the match of the referee's parameters.

        Parameters
        ----------
        params : mapping
            As for `Match`.
        seed : int, optional
            The seed of the match.
        """
        params = effective_params(get_rules(self.rules), seed, params)
        cards = self.own_cards(int(params.get("cardGenSeed", 0)))
        return Match(self.rules, params=params, cards=cards, ids=self.ids)

    def new_match(self, seed: int, card_seed: int | None = None) -> Match:
        """Return the match of a seed.

        Parameters
        ----------
        seed : int
            The seed of the match.
        card_seed : int, optional
            The seed of the cards, if it differs from `seed`.

        Raises
        ------
        ValueError
            A `card_seed` is given for a rule set whose cards are fixed.
        """
        if card_seed is not None and (self.cards or get_rules(self.rules).draft):
            raise ValueError(f"{self.title} have a fixed card set")
        return self.match_of({} if card_seed is None else {"cardGenSeed": card_seed}, seed)

    def view(self, match: Match) -> View:
        """Return the board as text, and the health of both players.

        Parameters
        ----------
        match : Match
            A match of this game.
        """
        if match.state is None:
            texts = [match.input_text(player) for player in match.to_ask[:1]]
            return View("".join(texts), scores=_pair(match.scores))
        first, second = match.state.players
        return View(str(match.state), scores=(first.health, second.health))

    @classmethod
    def log_part(cls, event: Mapping[str, Any]) -> LogPart | None:
        """Return None: the game has no logs but those of the referee.

        Parameters
        ----------
        event : mapping
            A line of a log.
        """
        return None

    def cards_of(
        self, match: Match, answers: Iterable[tuple[int, str | None]]
    ) -> tuple[Mapping[str, Mapping[tuple[str, str], int]], ...]:
        """Return what became of the cards in a match, for `Arena.cards`.

        Parameters
        ----------
        match : Match
            A new match; it is over afterwards.
        answers : iterable of tuple
            Seats and answers.

        Returns
        -------
        tuple of mapping
            For each player and case, the numbers of cards by group and name of their row.
        """
        return cards_of(match, answers)

    def checks(self) -> list[Check]:
        """Return the matches by which `locmsim check` tests a bot."""
        return checks(self.rules)

    def check_agent(self, spec: str) -> Any:
        """Return an agent of these matches.

        Parameters
        ----------
        spec : str
            Its description in `checks`.
        """
        return check_agent(spec)

    def describe(self, agent: Any) -> tuple[str | None, Agent]:
        """Return the text that describes an agent or class, and an agent.

        Parameters
        ----------
        agent : class or agent
            An agent's class, or an agent.

        Returns
        -------
        spec : str or None
            None if no text describes it.
        agent : Agent
        """
        agent = check_rules(make_agent(agent), self.rules)
        return _spec_of(agent), agent


@lru_cache(maxsize=4)
def _listed(cards: str) -> tuple[Card, ...]:
    """Return the cards of a list; matches share what they compile of the same objects."""
    # In the order of the referee, which draws from a longer list.
    return tuple(sorted((Card(*row) for row in json.loads(cards)), key=lambda card: card.base_id))


@lru_cache(maxsize=4)
def _generated(weights: str, seed: int) -> tuple[Card, ...]:
    return tuple(generate_cards(seed, json.loads(weights)))


def _pair(scores: Sequence[int] | None) -> tuple[int, int] | None:
    return None if scores is None else (scores[0], scores[1])


def _spec_of(agent: Agent) -> str | None:
    """Return the text that makes agents like this one; None if no text does."""
    kind = type(agent)
    try:
        spec = agent_spec(kind)
    except ValueError:
        return None
    arguments = inspect.signature(kind).parameters.values()
    if is_dataclass(agent) and {p.name for p in arguments} == {f.name for f in fields(agent)}:
        plain = [field for field in fields(agent) if field.default_factory is MISSING]
        changed = {f.name: v for f in plain if (v := getattr(agent, f.name)) != f.default}
        if any(type(value) not in (bool, int, float, str) for value in changed.values()):
            return None
        options = written(changed)
        alike = _alike(agent, make_agent(kind, **changed), derived=True)
        return (f"{spec}:{options}" if options else spec) if alike else None
    if any(p.default is p.empty for p in arguments if p.kind == p.POSITIONAL_OR_KEYWORD):
        return None
    return spec if _alike(agent, make_agent(kind), derived=False) else None


def _alike(agent: Agent, other: Agent, *, derived: bool) -> bool:
    """Return whether two agents of one class have equal attributes.

    Attributes that cannot be compared count as equal if they are `derived` from others.
    """
    mine, theirs = (getattr(some, "__dict__", None) for some in (agent, other))
    if mine is None or theirs is None or mine.keys() != theirs.keys():
        return False
    for name, value in mine.items():
        try:
            same = pickle.dumps(value) == pickle.dumps(theirs[name])
        except Exception:  # whatever objects raise that cannot be pickled
            same = derived
        if not same:
            return False
    return True
