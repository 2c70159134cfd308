"""Step 5, a belief: try the best turns of the beam against the opponent's likely answers.

The opponent's cards are hidden, but not unknown. The belief of a `BaseAgent` has seen every
observation of the game: which cards were offered, which the opponent has shown, how many copies of
each are left. The worlds that it samples put likely cards in the hidden places, and they get better
the longer a game lasts. In each world a narrow beam finds the opponent's best answer, and then our
best answer to that; all worlds advance at once.
"""

from dataclasses import dataclass

import numpy as np
from beam import turns

from locmsim import State, StateBatch
from locmsim.agents import BaseAgent
from locmsim.search import Evaluation


@dataclass
class Believer(BaseAgent):
    width: int = 100
    plans: int = 12
    worlds: int = 16
    #: Turns played after ours, the opponent's first, and the width of the beam that finds them.
    follow: int = 2
    narrow: int = 3
    #: The number of worlds that the beam's own value of a turn counts for.
    static: float = 2.0

    def plan(self, state: State, started: float) -> list[int]:
        evaluation = Evaluation(rules=state.rules)
        own = turns(StateBatch([state]), evaluation, self.width)[0][: self.plans]
        if own[0][0] == 1:  # a win
            return own[0][1]
        worlds = StateBatch.sample(self.belief, self.worlds, self.random.getrandbits(60))
        totals = [
            self.static * value + self.play_on(worlds, actions, evaluation).sum()
            for value, actions, _ in own
        ]
        return own[int(np.argmax(totals))][1]

    def play_on(self, worlds: StateBatch, actions: list[int], evaluation: Evaluation) -> np.ndarray:
        """Return the result of a turn in each world, from -1 to 1."""
        player, worlds = worlds[0].current_player(), worlds.clone()
        values = np.empty(len(worlds))
        for action in actions:
            worlds.step(np.full(len(worlds), action))
        for turn in range(self.follow):
            worlds.step(np.where(worlds.is_terminal(), -1, 0))  # PASS
            going = np.flatnonzero(~worlds.is_terminal())
            if len(going):
                best = [ends[0] for ends in turns(worlds.take(going), evaluation, self.narrow)]
                for row, (value, _, end) in zip(going, best, strict=True):
                    values[row] = value if turn % 2 else -value
                    worlds[row] = end
        won = worlds.winner
        return np.where(won < 0, values, np.where(won == player, 1.0, -1.0))
