"""Train the choice of cards, alone or with the battle: the trainer of ppo.py with other networks.

    python choose.py draft --rules 1.2 --decks curve --folder runs/draft
    python choose.py construct --decks classic --folder runs/construct
    python choose.py match --decks classic --opponents greedy --folder runs/match
    locmsim arena "greedy:deck=policy:path=runs/construct/choice.npz" greedy --games 200

`--decks` sets how the other player chooses. A draft or a construction is followed by a battle
between two scripted `--battlers`. Its result says little about each of the thirty picks: `--value`
adds the values that the package's networks give both decks, which have no noise.
"""

import numpy as np

try:
    import torch
    from ppo import Net, Rollout, arguments, one_line, positive, precision, train_seeds
    from torch import nn
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim.envs import LocmVectorEnv, Pool
from locmsim.policy import Policy, get_layout
from locmsim.stats import PairCounts, score_interval
from locmsim.tuning.evaluate import HELD_OUT, WinRate

EPISODES = {"draft": "choice", "construct": "choice", "match": "match"}
CARD, PILE, UNITS, CONTEXT = 24, 16, 64, 128
#: The options without an effect: those of a league, and those of battles or of a match's opponents.
LEAGUE = ("past", "fixed", "snapshot_every", "league")
UNUSED = {"match": (*LEAGUE, "battlers", "battles", "value")}
UNUSED |= dict.fromkeys(("draft", "construct"), (*LEAGUE, "opponents"))


class ChoiceNet(nn.Module):
    """Rates each offered card: `locmsim.policy.card_network` describes it and names the layers."""

    def __init__(self, rules):
        super().__init__()
        self.rules, self.draft = rules, rules != "1.5"
        self.layout = get_layout("choice", rules)
        self.register_buffer("scale", torch.tensor(self.layout.scale))
        self.card = nn.Linear(CARD, UNITS)
        self.context = nn.Linear(2 * UNITS + PILE + 1, CONTEXT)
        self.offer, self.adjust = nn.Linear(UNITS + 1, CONTEXT), nn.Linear(CONTEXT, CONTEXT)
        self.rating, self.value = nn.Linear(CONTEXT, 1), nn.Linear(CONTEXT, 1)

    def forward(self, observations):
        """Return logits (rows, offered cards) and values (rows,) of int8 observations."""
        parts = self.layout.split(observations.float() / self.scale)
        offer, chosen = functional.relu(self.card(parts["offer"])), parts["chosen"]
        if self.draft:
            sums = (functional.relu(self.card(chosen)) * chosen[..., :1]).sum(1)
            copies = torch.zeros_like(offer[..., :1])
        else:
            copies = chosen
            sums = (offer * copies).sum(1)
        counts = [parts["pile"], parts["step"]]
        context = functional.relu(self.context(torch.cat([offer.mean(1), sums / 10, *counts], 1)))
        seen = self.offer(torch.cat([offer, copies], 2)) + self.adjust(context)[:, None]
        value = torch.tanh(self.value(context))[:, 0]
        return self.rating(functional.relu(seen))[..., 0], value

    def layers(self):
        """Yield each parameter with its name in a `Policy`."""
        for name in ("card", "context", "offer", "adjust", "rating", "value"):
            yield f"{name}.w", getattr(self, name).weight
            yield f"{name}.b", getattr(self, name).bias

    @torch.no_grad()
    def load(self, policy):
        """Load the network of a `Policy` that chooses cards."""
        if (policy.kind, policy.rules) != ("cards", self.rules):
            raise ValueError(f"expected a network of cards of rules {self.rules}, got {policy!r}")
        for name, parameter in self.layers():
            array = policy.arrays[name].T
            if array.shape != parameter.shape:
                raise ValueError(f"{name}: expected {tuple(parameter.shape)}, got {array.shape}")
            parameter.copy_(torch.tensor(array))

    def chooser(self, training=""):
        """Return the network as a `Policy`, which does not need PyTorch."""
        meta = {
            "kind": "cards", "layout": self.layout.name, "layout_version": self.layout.version,
            "rules": self.rules, "training": training,
        }  # fmt: skip
        arrays = {name: p.detach().cpu().numpy().T.copy() for name, p in self.layers()}
        return Policy(arrays, meta)

    def save(self, folder, training):
        """Write the network as a policy file, the `deck` or `draft` of any agent."""
        self.chooser(training).save(f"{folder}/choice.npz")


class MatchNet(ChoiceNet):
    """Two networks, for the choice phase and for the battle; each sees its part."""

    def __init__(self, rules):
        super().__init__(rules)
        self.battle = Net(rules)

    def load(self, policy):
        """Start the network of a policy's phase from it."""
        if policy.kind == "cards":
            super().load(policy)
        else:
            self.battle.load(policy)

    def save(self, folder, training):
        """Write both networks as policy files."""
        super().save(folder, training)
        self.battle.save(folder, training)

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
            "episode": EPISODES[options.phase],
            "decks": decks or self.decks,
            "seat": seat,
            "threads": options.threads,
        }
        if options.rules == "1.5":
            settings["card_sets"] = sets or options.sets
        if options.phase == "match":
            opponents = Pool(dict.fromkeys(options.opponents, 1.0))
            return LocmVectorEnv(rows, opponent=opponents, **settings)
        settings["battlers"] = options.battlers, options.battlers
        settings["reward"] = f"deck-value={options.value},win-loss={1 - options.value}"
        return LocmVectorEnv(rows, battles=battles or options.battles, **settings)

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
    def win_rate(self, net, opponent, games):
        """Return the `WinRate` of the best-rated choices against another deck builder."""
        pairs = games // 2
        wins = np.zeros((2, pairs), int)
        for number, seat in enumerate(("first", "second")):
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
                    wins[number, ended] = (info["winner"] == info["seat"])[ended]
                over |= ended
            env.close()
        low, high = score_interval(PairCounts(*np.bincount(wins.sum(0), minlength=3).tolist()))
        return WinRate(int(wins.sum()), 2 * pairs, low, high)


def add_options(parser):
    """Add the options of choices to those of ppo.py."""
    parser.add_argument(
        "--battlers", default="greedy", help="agent that plays the battles for both decks"
    )
    parser.add_argument("--battles", type=positive, default=1, help="battles per episode")
    parser.add_argument("--value", type=float, default=0.0, help="weight of the decks' values")


def refuse_unused(parser, options, phase):
    """Exit with one line if an option was changed that has no effect on this phase."""
    for name in UNUSED[phase]:
        if getattr(options, name) != parser.get_default(name):
            raise SystemExit(f"--{name.replace('_', '-')} has no effect on the phase {phase}")


def choice_arguments():
    """Return the options, most of them those of ppo.py."""
    parser = arguments()
    parser.description = __doc__.split("\n")[0]
    parser.add_argument("phase", choices=tuple(EPISODES))
    add_options(parser)
    parser.set_defaults(
        past=0.0, opponents=["greedy"], rows=256, steps=30, batch=1024, yardsticks=["random"]
    )
    return parser


def main():
    parser = choice_arguments()
    options = parser.parse_args()
    if options.phase == "draft" and options.rules == "1.5":
        options.rules = "1.2"
    if options.phase == "construct" and options.rules != "1.5":
        raise SystemExit(f"--rules: {options.rules} has a draft: train with the phase draft")
    refuse_unused(parser, options, options.phase)
    if not options.opponents:
        raise SystemExit("--opponents: expected at least one agent")
    train_seeds(options, MatchNet if options.phase == "match" else ChoiceNet, Choices)


if __name__ == "__main__":
    with one_line():
        main()
