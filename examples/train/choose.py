"""Train the choice of cards, alone or with the battle: the trainer of ppo.py with other networks.

    python choose.py draft --rules 1.2 --decks curve --folder runs/draft
    python choose.py construct --decks classic --folder runs/construct
    python choose.py match --decks classic --opponents greedy --folder runs/match

`--decks` sets how the other player chooses. A draft or a construction is followed by a battle
between two scripted `--battlers`. Its result says little about each of the thirty picks: `--value`
adds the values that the package's networks give both decks, which have no noise.
"""

import numpy as np
import torch
from ppo import Net, Rollout, arguments, precision, train
from torch import nn
from torch.nn import functional

from locmsim.envs import ConstructVectorEnv, DraftVectorEnv, MatchVectorEnv
from locmsim.policy import get_layout
from locmsim.tuning.evaluate import HELD_OUT

ENVIRONMENTS = {"draft": DraftVectorEnv, "construct": ConstructVectorEnv, "match": MatchVectorEnv}
CARD, PILE, UNITS, CONTEXT = 24, 16, 64, 128


class ChoiceNet(nn.Module):
    """Rates each offered card by its features and by the cards chosen so far.

    All cards share an encoder. The context is the mean of the offered cards, the sum of the chosen
    cards, and the counts in the observation.
    """

    def __init__(self, rules):
        super().__init__()
        self.rules, self.draft = rules, rules != "1.5"
        scale = get_layout("entities", rules).scale
        self.register_buffer("card_scale", torch.tensor(scale[24 : 24 + CARD]))
        self.register_buffer("pile_scale", torch.tensor([*scale[408 : 408 + PILE], 30.0]))
        self.card = nn.Linear(CARD, UNITS)
        self.context = nn.Linear(2 * UNITS + PILE + 1, CONTEXT)
        self.offer, self.adjust = nn.Linear(UNITS + 1, CONTEXT), nn.Linear(CONTEXT, CONTEXT)
        self.rating, self.value = nn.Linear(CONTEXT, 1), nn.Linear(CONTEXT, 1)

    def forward(self, observations):
        """Return logits (rows, offered cards) and values (rows,) of int8 observations."""
        n, x = observations.shape[0], observations.float()
        offered = 3 if self.draft else 120
        offer, chosen = x[:, : offered * CARD].view(n, offered, CARD), x[:, offered * CARD :]
        offer = functional.relu(self.card(offer / self.card_scale))
        if self.draft:
            cards = chosen[:, : 30 * CARD].view(n, 30, CARD)
            there = cards[..., :1]
            sums = (functional.relu(self.card(cards / self.card_scale)) * there).sum(1)
            copies = torch.zeros_like(offer[..., :1])
        else:
            copies = chosen[:, :offered, None]
            sums = (offer * copies).sum(1)
        pile = chosen[:, -PILE - 1 :] / self.pile_scale
        context = functional.relu(self.context(torch.cat([offer.mean(1), sums / 10, pile], 1)))
        seen = self.offer(torch.cat([offer, copies], 2)) + self.adjust(context)[:, None]
        value = torch.tanh(self.value(context))[:, 0]
        return self.rating(functional.relu(seen))[..., 0], value

    def load(self, policy):
        """Refuse a policy: it plays battles, and this training starts without one."""
        raise ValueError("a policy plays battles, so it can only start the training of a match")

    def save(self, folder, training):
        """Write the weights: `torch.load(..., weights_only=True)` and `load_state_dict`."""
        torch.save({"training": training, "net": self.state_dict()}, f"{folder}/choice.pt")


class MatchNet(ChoiceNet):
    """Two networks, for the choice phase and for the battle; each sees its part."""

    def __init__(self, rules):
        super().__init__(rules)
        self.battle = Net(rules)

    def load(self, policy):
        """Start the network of the battle from that of a policy."""
        self.battle.load(policy)

    def forward(self, observations):
        size = get_layout("entities", self.rules).shape[0]
        choosing = (observations[:, :size] == 0).all(1)
        ratings, value = super().forward(observations[choosing, size:])
        logits, battle_value = self.battle(observations[~choosing, :size])
        # Each row is of one phase: the other phase's actions are masked, whatever their logits.
        both = logits.new_zeros(len(observations), logits.shape[1] + ratings.shape[1])
        both[choosing, logits.shape[1] :] = ratings.to(both.dtype)
        both[~choosing, : logits.shape[1]] = logits
        values = battle_value.new_zeros(len(observations))
        values[choosing] = value.to(values.dtype)
        values[~choosing] = battle_value
        return both, values


class Choices(Rollout):
    """Rollouts of choices, in which nobody plays both sides."""

    def make(self, rows, decks=None, seat="alternate", sets=None, battles=None):
        """Create the environment; arguments other than the number of rows are for tests."""
        options = self.options
        settings = {
            "rules": options.rules,
            "decks": decks or self.decks,
            "seat": seat,
            "threads": options.threads,
        }
        if options.rules == "1.5":
            settings["card_sets"] = sets or options.sets
        if options.phase == "match":
            return MatchVectorEnv(rows, opponent=options.opponents[0], **settings)
        kind = ENVIRONMENTS[options.phase]
        settings["battlers"] = options.battlers, options.battlers
        settings["reward"] = f"deck-value={options.value},win-loss={1 - options.value}"
        return kind(rows, battles=battles or options.battles, **settings)

    def meet(self, league):
        """Do nothing: there is no league, as each deck and battle has one opponent."""

    def played(self):
        """Return wins and episodes by opponent; there is only one."""
        ended = self.terminated.numpy()
        return {"opponent": np.array([self.won.sum(), ended.sum()])}

    def begin(self, update, league):
        """Begin new episodes in all rows."""
        key = self.options.seed, update
        seeds = np.random.SeedSequence(key).generate_state(self.options.rows)[self.numbers]
        seen, _ = self.env.reset(seed=seeds.tolist())
        self.obs[-1] = torch.from_numpy(seen["observation"])
        self.masks[-1] = torch.from_numpy(seen["action_mask"])
        self.won, self.age = np.zeros(self.terminated.shape, bool), np.zeros(len(self.numbers), int)

    def step(self, t):
        """Step the environments with the actions of step t."""
        seen, rewards, terminated, truncated, info = self.env.step(self.actions[t].numpy())
        self.won[t] = terminated & (info["winner"] == info["seat"]) if terminated.any() else False
        self.age += 1
        self.length[t] = torch.from_numpy(np.where(terminated, self.age, 0)).int()
        self.age[terminated | truncated] = 0
        self.obs[t + 1] = torch.from_numpy(seen["observation"])
        self.masks[t + 1] = torch.from_numpy(seen["action_mask"])
        self.rewards[t], self.terminated[t] = map(torch.from_numpy, (rewards, terminated))
        self.truncated[t] = torch.from_numpy(truncated)

    @torch.no_grad()
    def win_rate(self, net, opponent):
        """Return the win rate of the best-rated choices against another deck builder."""
        won, pairs = 0, self.options.games // 2
        for seat in ("first", "second"):
            env = self.make(pairs, opponent, seat, HELD_OUT, battles=1)
            seen, _ = env.reset(seed=1_000_000)
            over = np.zeros(pairs, bool)
            while not over.all():
                with precision(self.options.bfloat16, self.device):
                    logits, _ = net(torch.from_numpy(seen["observation"]).to(self.device))
                logits = logits.float().cpu().numpy()
                logits[seen["action_mask"] == 0] = -np.inf
                seen, _, terminated, truncated, info = env.step(logits.argmax(1))
                ended = (terminated | truncated) & ~over
                if ended.any():
                    won += (info["winner"] == info["seat"])[ended].sum()
                over |= ended
            env.close()
        return won / (2 * pairs)


def main():
    parser = arguments()
    parser.description = __doc__.split("\n")[0]
    parser.add_argument("phase", choices=tuple(ENVIRONMENTS))
    parser.add_argument(
        "--battlers", default="greedy", help="agent that plays the battles for both decks"
    )
    parser.add_argument("--battles", type=int, default=1, help="battles per episode")
    parser.add_argument("--value", type=float, default=0.0, help="weight of the decks' values")
    parser.set_defaults(
        past=0.0, opponents=["greedy"], rows=256, steps=30, batch=1024, yardsticks=["random"]
    )
    options = parser.parse_args()
    if options.phase == "draft" and options.rules == "1.5":
        options.rules = "1.2"
    train(options, MatchNet if options.phase == "match" else ChoiceNet, Choices)


if __name__ == "__main__":
    main()
