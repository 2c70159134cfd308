"""The agent "search", a tree search guided by a network."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from locmsim._core import State
from locmsim.agents.policy import PolicyAgent
from locmsim.agents.turn_search import turn_times
from locmsim.game.answers import answer_line, played
from locmsim.game.observation import Observation
from locmsim.options.common import Share, TimeMs
from locmsim.options.declarations import Option, check, documented
from locmsim.rules.actions import ActionKind
from locmsim.search._engine import seed_of_turn
from locmsim.search.options import PolicyOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from locmsim.policy import RatingPolicy
    from locmsim.policy.tracker import TurnView
    from locmsim.search import PolicyResult, PolicySearch


@documented(PolicyOptions)
@dataclass
class PolicySearchAgent(PolicyAgent):
    """A tree search guided by a network, action by action, after a search for a win in the turn.

    The search is `locmsim.search.PolicySearch`.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option is out of bounds, or the game has other rules than the network.
    """

    path: str = field(default="", init=False)
    temperature: float = field(default=1.0, init=False)
    policy: Annotated[
        Any,
        Option(
            'file of a network, as `path` of `PolicyAgent`, or "learned" for the library\'s'
            " network",
            kind="str or policy",
        ),
    ] = field(default="learned", kw_only=True)
    simulations: Annotated[
        int, Option("number of simulations per decision; 0 to search by time", 0, 1 << 24)
    ] = field(default=0, kw_only=True)
    time_ms: TimeMs = field(default=0.0, kw_only=True)
    share: Share = field(default=0.6, kw_only=True)
    proposal: Annotated[
        float,
        Option(
            "share of a turn's time in which a beam search proposes a turn",
            0.0,
            0.99,
            more="A search limited only by simulations has no proposal.",
        ),
    ] = field(default=0.7, kw_only=True)
    proposal_weight: Annotated[
        float, Option("bonus added to the logarithm of the proposed action's prior", 0.0, 1e6)
    ] = field(default=40.0, kw_only=True)
    root: str = field(default="gumbel", kw_only=True)
    considered: int = field(default=8, kw_only=True)
    exploration: float = field(default=0.3, kw_only=True)
    value_scale: float = field(default=0.4, kw_only=True)
    visit_offset: float = field(default=50.0, kw_only=True)
    mix: float = field(default=0.5, kw_only=True)

    #: Share of the remaining time of a turn that a decision takes.
    DECISION_SHARE: ClassVar[float] = 0.4
    #: Factor of the time for the first turn.
    FIRST_TURN: ClassVar[int] = 5
    #: Maximum number of positions in the search for a win.
    WIN_NODES: ClassVar[int] = 20_000

    def __post_init__(self) -> None:
        self.path = str(self.policy)
        if not self.simulations and not self.time_ms:
            self.time_ms = 120.0
        check(self)
        self._check_without_effect()
        super().__post_init__()
        from locmsim.search import BeamOptions, BeamSearch

        self.search = self._search()
        self._wins = BeamSearch(BeamOptions(width=256, worlds=1, plans=1))
        self._beam = BeamSearch() if self.time_ms and self.proposal else None

    def _check_without_effect(self) -> None:
        """Refuse options that another one leaves without effect."""
        needed = {}
        if self.root != "gumbel":
            needed = dict.fromkeys(("considered", "proposal", "proposal_weight"), 'root="gumbel"')
        if not self.time_ms:
            needed |= dict.fromkeys(("share", "proposal", "proposal_weight"), "time_ms")
        for name, other in needed.items():
            value, usual = getattr(self, name), self.__dataclass_fields__[name].default
            if value != usual and (name, value) != ("proposal", 0):  # there is none anyway
                raise ValueError(f"{name}: needs {other}")

    def load(self) -> "RatingPolicy":
        if self.path == "learned":
            from locmsim.agents.learned import shipped_policy

            shipped = shipped_policy(self.rules or "1.5")
            if self.layout not in ("", shipped.layout):
                raise ValueError(f"layout: the network learned has {shipped.layout}")
            return shipped
        policy: Any = super().load()
        if not hasattr(policy, "evaluate"):
            raise ValueError(
                f"policy: {self.path} returns no logits and values: a search needs the method"
                " evaluate of a RatingPolicy"
            )
        return policy  # type: ignore[no-any-return]

    def _search(self) -> "PolicySearch":
        from locmsim.search import PolicySearch

        more: dict[str, Any] = {} if self.root == "puct" else {"considered": self.considered}
        return PolicySearch(
            self.policy,
            self.simulations or 64,
            root=self.root,
            **more,
            exploration=self.exploration,
            value_scale=self.value_scale,
            visit_offset=self.visit_offset,
            mix=self.mix,
        )

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self._seed = seed
        self._turns = 0
        #: Results of the search for each decision of the last turn; empty after a winning turn.
        self.results: list[PolicyResult] = []

    def choose(self, observation: Observation) -> str:
        line = super().choose(observation)
        self.belief.prepare()
        self._wins.prepare(observation.rules)
        if self._beam is not None:
            self._beam.prepare(observation.rules)
        return line

    def act(self, observation: Observation) -> str:
        self._started = time.perf_counter()
        self._observation = observation
        return super().act(observation)

    def answer(self, state: State, view: "TurnView") -> str:
        observation = self._observation
        seed = seed_of_turn(self._seed, self._turns)
        until = None
        if self.time_ms:
            times = turn_times(observation.rules, self.time_ms, self.share, self.FIRST_TURN)
            until = self._started + times[self._turns > 0] / 1000
        self._turns += 1
        self.results = []
        actions = self._wins.prepare(observation.rules).find_win(self.belief.root(), self.WIN_NODES)
        if actions is not None:
            return answer_line(played(state, actions))
        texts: list[str] = []
        proposed = self._proposed(seed, until)
        done: list[int] = []
        while not view.over and len(done) < self.MOST_ACTIONS and len(state.legal_actions()) > 1:
            left = None
            if until is not None:
                left = 1000 * self.DECISION_SHARE * (until - time.perf_counter())
            result = self.search.search(
                observation,
                belief=self.belief,
                done=done,
                view=view,
                bonus=self._bonus(state, proposed),
                seed=seed,
                simulations=self.simulations or None,
                time_ms=left if left is None else max(0.0, left),
            )
            self.results.append(result)
            action = result.action
            if proposed and _alike(state, action, proposed[0]):
                # Of two equal cards, play the one in the proposal: the rest of the proposal refers
                # to it.
                action = proposed.pop(0)
            else:
                proposed = []
            if action == 0:
                break
            texts.append(state.action_to_string(action))
            state.apply_action(action)
            view.apply(action)
            done.append(action)
        return answer_line(texts)

    def _proposed(self, seed: int, until: float | None) -> list[int]:
        """Return the turn that the beam search proposes, with PASS at its end; [] without one."""
        if self._beam is None or until is None:
            return []
        time_ms = 1000 * self.proposal * max(0.0, until - time.perf_counter())
        found = self._beam.search(self._observation, belief=self.belief, seed=seed, time_ms=time_ms)
        return [*found.actions, 0]

    def _bonus(self, state: State, proposed: list[int]) -> "NDArray[np.float64] | None":
        if not proposed:
            return None
        import numpy as np

        bonus = np.zeros(state.num_distinct_actions())
        for action in state.legal_actions():
            if _alike(state, action, proposed[0]):
                bonus[action] = self.proposal_weight
        return bonus


def _alike(state: State, one: int, other: int) -> bool:
    """Return whether two legal actions differ only in which of two equal cards is played."""
    if one == other or not one or not other:
        return one == other
    a, b = state.action(one), state.action(other)
    in_hand = a.kind in (ActionKind.SUMMON, ActionKind.USE)
    return in_hand and a._replace(source=b.source) == b
