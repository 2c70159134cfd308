"""The agents that play a trained network without a search."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from locmsim._core import State
from locmsim.agents.base import BaseAgent
from locmsim.agents.policies import load_as_option
from locmsim.game.answers import answer_line
from locmsim.game.observation import Observation
from locmsim.options.checks import number
from locmsim.options.declarations import Option, check, documented

if TYPE_CHECKING:
    from locmsim.policy import BatchPolicy
    from locmsim.policy.tracker import TurnView

# Networks need numpy, which is slow to import and which no other agent needs: imported on use.


@documented()
@dataclass
class PolicyAgent(BaseAgent):
    """A trained network that plays one action at a time, the one with the highest logit.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        The file cannot be read or holds no such policy, or the game has other rules.
    """

    path: Annotated[
        str,
        Option(
            "anything that `locmsim.policy.load_policy` loads: a policy file, an ONNX file, or"
            " ``file.py:NAME``"
        ),
    ] = field(default="", kw_only=True)
    temperature: Annotated[
        float,
        Option(
            "if above 0, actions are sampled in proportion to exp(logit / temperature)", 0.0, 1e6
        ),
    ] = field(default=0.0, kw_only=True)
    rules: Annotated[str, Option("rule set of the network, if its file does not name it")] = field(
        default="", kw_only=True
    )
    layout: Annotated[str, Option("layout of the network, if its file does not name it")] = field(
        default="", kw_only=True
    )

    #: Maximum number of actions in a turn: cards in hand, and attacks.
    MOST_ACTIONS = 60

    def __post_init__(self) -> None:
        check(self)
        if self.temperature:
            number("temperature", self.temperature, 1e-6, 1e6)
        from locmsim.policy import PolicyCaller, RatingPolicy

        self.policy: Any = self.load()
        self._caller = PolicyCaller(self.policy, self.path, temperature=self.temperature)
        #: Whether actions may depend on seeds: only those of our networks without a temperature
        #: certainly do not.
        self._draws = bool(self.temperature) or not isinstance(self.policy, RatingPolicy)
        super().__post_init__()

    def load(self) -> "BatchPolicy":
        """Load the network and return it."""
        policy: BatchPolicy = load_as_option(self.path, self.rules, self.layout)
        return policy

    @property
    def only_rules(self) -> str:
        """The rule set that the network was trained on."""
        return self._caller.rules

    def reset(self, seed: int = 0) -> None:
        from locmsim.policy.tracker import PlayerTracker

        super().reset(seed)
        self.tracker = PlayerTracker()
        #: What a recurrent policy keeps during the game.
        self.memory = self._caller.start(1)

    def choose(self, observation: Observation) -> str:
        self._check_rules(observation)
        return super().choose(observation)

    def act(self, observation: Observation) -> str:
        self._check_rules(observation)
        self.belief.see(observation)
        state, view = self.tracker.view(observation, self.belief)
        return "PASS" if state.is_terminal() else self.answer(state, view)

    def plan(self, state: State, started: float) -> list[int]:
        raise NotImplementedError("a policy acts on what it sees, see `act`")

    def answer(self, state: State, view: "TurnView") -> str:
        """Return the answer line of a turn.

        Parameters
        ----------
        state : State
            The position, which gives the texts of actions; it is changed.
        view : TurnView
            The player's view of the same position, with its history.
        """
        import numpy as np

        from locmsim.batch import row_seeds

        layout = self._caller.layout
        observation = np.empty((1, *layout.shape), layout.dtype)
        mask = np.empty((1, view.n_actions), np.int8)
        texts: list[str] = []
        while not view.over and len(texts) < self.MOST_ACTIONS:
            view.observe(layout.name, observation[0], mask[0])
            seeds = row_seeds(self.random.getrandbits(62) if self._draws else 0, 1)
            action = int(self._caller.act(observation, mask, seeds, self.memory)[0])
            if action == 0:
                break
            texts.append(state.action_to_string(action))
            state.apply_action(action)
            view.apply(action)
        return answer_line(texts)

    def _check_rules(self, observation: Observation) -> None:
        if observation.rules != self.only_rules:
            raise ValueError(
                f"the policy was trained on rules {self.only_rules}, this is a game of"
                f" {observation.rules}"
            )
