"""Train a player of the battle by self-play, in one file: PPO in PyTorch on `LocmVectorEnv`.

    python ppo.py --minutes 30 --out learned.npz
    locmsim arena policy:path=learned.npz random --games 200

Both sides of every game are the learner's, except in the games that `--past` gives to networks of
earlier updates. An observation is always from the side of the player to move, and in a zero-sum
game what follows counts with the other sign where the other player moves next: that is all there
is to self-play (`locmsim.envs.gae`). Start from a clone of a search (clone.py, `--start`) to save
most of the time.
"""

import argparse
import time
from functools import cache

import numpy as np
import torch
from strength import table
from torch import nn
from torch.nn import functional

from locmsim.decks import DECK_BUILDERS
from locmsim.envs import LocmVectorEnv, Pool, gae
from locmsim.policy import Policy, get_layout

UNITS, TRUNK, KEY = 48, 160, 32


class Net(nn.Module):
    """The entity network: `locmsim.policy.policy` says what it looks like.

    Names and shapes are those of `locmsim.policy._policy.entity_shapes`, with `.` as `_`.
    """

    def __init__(self, rules="1.5"):
        super().__init__()
        self.rules = rules
        self.one = rules == "1.0"
        self.register_buffer("scale", torch.tensor(get_layout("entities", rules).scale))
        self.hand, self.own, self.enemy = (
            nn.Linear(24, UNITS), nn.Linear(16, UNITS), nn.Linear(16, UNITS),
        )  # fmt: skip
        self.trunk1 = nn.Linear(56 + 5 * UNITS, TRUNK)
        self.trunk2 = nn.Linear(TRUNK, TRUNK)

        def plain(inputs, outputs=KEY):
            return nn.Linear(inputs, outputs, bias=False)

        self.hand_context, self.own_context, self.enemy_context = (
            plain(TRUNK, UNITS) for _ in range(3)
        )
        self.summon, self.use, self.attack = plain(UNITS), plain(UNITS), plain(UNITS)
        self.own_key, self.enemy_key, self.enemy_attack_key = (plain(UNITS) for _ in range(3))
        self.lane_key = plain(2 * UNITS + TRUNK)
        self.player_use_key, self.player_attack_key = plain(TRUNK), plain(TRUNK)
        self.pass_ = nn.Linear(TRUNK, 1)
        self.value = nn.Linear(TRUNK, 1)

    def forward(self, observations):
        """Logits (rows, actions) and values (rows,) of int8 observations of layout "entities".

        Logits of actions that are not legal mean nothing. Layers with the same inputs are one
        product, which halves the time of small networks.
        """
        n = observations.shape[0]  # `len` would be a constant of an exported network
        x = observations.float() * self.scale.reciprocal()
        # Encoded without the activation: what is seen of the position is added below.
        hand, own, enemy = (
            self.encode(layer, x[:, start : start + rows * size].reshape(n * rows, size), n)
            for layer, start, rows, size in (
                (self.hand, 24, 8, 24), (self.own, 216, 6, 16), (self.enemy, 312, 6, 16),
            )
        )  # fmt: skip
        lanes = [slice(0, 6), slice(6, 6)] if self.one else [slice(0, 3), slice(3, 6)]
        own_sums, enemy_sums = (
            [block[:, lane].sum(1) for lane in lanes]
            for block in (functional.relu(own), functional.relu(enemy))
        )
        rest = torch.cat([x[:, :24], x[:, 408:]], 1)
        joined = [rest, functional.relu(hand).sum(1), *own_sums, *enemy_sums]
        trunk = functional.relu(self.trunk1(torch.cat(joined, 1)))
        trunk = functional.relu(self.trunk2(trunk))
        of_sums, of_trunk = self.lane_key.weight.split([2 * UNITS, TRUNK], 1)
        c_hand, c_own, c_enemy, player_use, face, lane, pass_, value = product(
            trunk,
            self.hand_context.weight, self.own_context.weight, self.enemy_context.weight,
            self.player_use_key.weight, self.player_attack_key.weight, of_trunk,
            self.pass_.weight, self.value.weight,
        )  # fmt: skip
        summon, use = self.keys(hand, c_hand, self.summon, self.use)
        attack, own_key = self.keys(own, c_own, self.attack, self.own_key)
        enemy_key, attack_key = self.keys(enemy, c_enemy, self.enemy_key, self.enemy_attack_key)
        lane_keys = torch.stack(
            [
                functional.linear(torch.cat(pair, 1), of_sums) + lane
                for pair in zip(own_sums, enemy_sums, strict=True)
            ],
            1,
        )
        # Targets of items: the player, six own and six enemy creatures.
        targets = torch.cat([player_use[:, None], own_key, enemy_key], 1)
        summons = summon @ lane_keys[:, : 1 if self.one else 2].transpose(1, 2)
        uses = use @ targets.transpose(1, 2)
        attacks = attack @ torch.cat([face[:, None], attack_key], 1).transpose(1, 2)
        if not self.one:  # of all pairs those in the same lane
            left, right = attacks[:, :3, :4], attacks[:, 3:]
            attacks = torch.cat([left, torch.cat([right[:, :, :1], right[:, :, 4:]], 2)], 1)
        pointed = torch.cat([block.flatten(1) for block in (summons, uses, attacks)], 1)
        logits = torch.cat([pass_ + self.pass_.bias, pointed * KEY**-0.5], 1)
        return logits, torch.tanh(value + self.value.bias)[:, 0]

    @staticmethod
    def encode(layer, cards, n):
        """The encoding of cards; where there is none all is zero, also what is called present."""
        weight = layer.weight.t()
        weight = torch.cat([weight[:1] + layer.bias, weight[1:]])
        return (cards @ weight).view(n, -1, UNITS)

    @staticmethod
    def keys(block, context, *layers):
        """Queries or keys of cards, by several layers, given what the position makes of them."""
        seen = functional.relu(block + context[:, None]).flatten(0, 1)
        return [
            keys.view(*block.shape[:2], KEY)
            for keys in product(seen, *[layer.weight for layer in layers])
        ]

    def policy(self, training=""):
        """The network as a `Policy`, which needs no torch."""
        arrays = {}
        for name, tensor in self.state_dict().items():
            if name == "scale":
                continue
            layer, _, kind = name.rpartition(".")
            array = tensor.detach().cpu().numpy()
            array = array.T if kind == "weight" else array
            if layer in ("pass_", "value"):
                array = array.reshape(TRUNK) if kind == "weight" else array.reshape(())
            arrays[f"{layer.strip('_')}.{'w' if kind == 'weight' else 'b'}"] = array
        layout = get_layout("entities", self.rules)
        meta = {
            "kind": "entities", "layout": layout.name, "layout_version": layout.version,
            "rules": self.rules, "training": training,
        }  # fmt: skip
        return Policy(arrays, meta)

    def take(self, policy):
        """Become the network of a `Policy`."""
        state = self.state_dict()
        for name, tensor in state.items():
            if name == "scale":
                continue
            layer, _, kind = name.rpartition(".")
            array = policy.arrays[f"{layer.strip('_')}.{'w' if kind == 'weight' else 'b'}"]
            array = torch.tensor(array)
            tensor.copy_((array.T if array.ndim == 2 else array).reshape(tensor.shape))


def product(x, *weights):
    """What several layers without bias make of x, computed as one."""
    return (x @ torch.cat(weights).t()).split([len(weight) for weight in weights], 1)


def masked(logits, masks):
    return logits.masked_fill(masks == 0, -1e9)


def train(options, log=print):
    """Self-play until the time is over; the network."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    n, steps = options.rows, options.steps
    decks = [tuple(deck.split("/")) if "/" in deck else deck for deck in options.decks.split(",")]
    # Rows with one way to choose decks each: the network is to play well with all of them.
    counts = [n // len(decks) + (i < n % len(decks)) for i in range(len(decks))]
    remember_decks()
    net = Net(options.rules)
    opponents = {"caller": 1 - options.past, "past": options.past}
    venvs = [
        LocmVectorEnv(
            count,
            rules=options.rules,
            opponent=Pool(opponents, {"past": net.policy()}) if options.past else "caller",
            decks=deck,
            threads=options.threads,
            max_actions=400,
            card_sets=options.sets,
        )
        for count, deck in zip(counts, decks, strict=True)
    ]
    parts = np.cumsum([0, *counts])
    before = ""
    if options.start:
        start = Policy.load(options.start)
        net.take(start)
        before = f"{start.meta.get('training', '')}; "
    optimizer = torch.optim.Adam(net.parameters(), lr=options.rate, eps=1e-5)
    size, actions = get_layout("entities", options.rules).shape[0], venvs[0].single_action_space.n
    obs = np.zeros((steps + 1, n, size), np.int8)
    masks = np.zeros((steps + 1, n, actions), np.int8)
    to_move = np.zeros((steps + 1, n), np.int8)
    taken = np.zeros((steps, n), np.int64)
    rewards = np.zeros((steps, n), np.float32)
    terminated, truncated = np.zeros((2, steps, n), np.bool_)
    values = np.zeros((steps + 1, n), np.float32)
    logps = np.zeros((steps, n), np.float32)
    decides = np.ones((steps, n), np.bool_)
    for number, venv in enumerate(venvs):
        part = slice(parts[number], parts[number + 1])
        seen, info = venv.reset(seed=options.seed + 1000 * number)
        obs[steps, part], masks[steps, part] = seen["observation"], seen["action_mask"]
        to_move[steps, part] = info["to_move"]
        if options.past:
            venv.players["past"] = net.policy()
    started = time.process_time()
    update = games = 0
    while (progress := (time.process_time() - started) / (60 * options.minutes)) < 1:
        obs[0], masks[0], to_move[0] = obs[steps], masks[steps], to_move[steps]
        for t in range(steps):
            # Where PASS alone is left there is nothing to decide, a quarter of the time.
            decides[t] = masks[t].sum(1, dtype=np.int16) > 1
            rows = np.flatnonzero(decides[t])
            with torch.no_grad(), precision(options):
                logits, value = net(torch.from_numpy(obs[t, rows]))
            legal = torch.from_numpy(masks[t, rows])
            logs = functional.log_softmax(masked(logits.float(), legal), 1)
            action = (logs.exp() / torch.empty_like(logs).exponential_()).argmax(1, keepdim=True)
            logps[t, rows] = logs.gather(1, action)[:, 0].numpy()
            taken[t] = 0
            taken[t, rows], values[t, rows] = action[:, 0].numpy(), value.float().numpy()
            for number, venv in enumerate(venvs):
                part = slice(parts[number], parts[number + 1])
                venv.step_into(
                    taken[t, part], obs=obs[t + 1, part], masks=masks[t + 1, part],
                    rewards=rewards[t, part], terminated=terminated[t, part],
                    truncated=truncated[t, part], to_move=to_move[t + 1, part],
                )  # fmt: skip
        dones = terminated | truncated
        games += int(dones.sum())
        with torch.no_grad(), precision(options):
            values[steps] = net(torch.from_numpy(obs[steps]))[1].float().numpy()
        for t in reversed(range(steps)):  # worth what follows
            after = np.where(to_move[t] == to_move[t + 1], values[t + 1], -values[t + 1])
            after = rewards[t] + np.where(dones[t], 0, after)
            values[t] = np.where(decides[t], values[t], after)
        advantages = gae(
            rewards, values[:-1], dones, to_move[:-1], values[-1], to_move[-1], lam=0.95
        )
        rate = options.rate * (1 - 0.9 * progress)
        for group in optimizer.param_groups:
            group["lr"] = rate
        data = {
            "obs": obs[:-1], "masks": masks[:-1], "action": taken, "logp": logps,
            "advantage": advantages, "return": advantages + values[:-1],
        }  # fmt: skip
        chosen = np.flatnonzero(decides)
        data = {
            name: torch.from_numpy(array.reshape(steps * n, *array.shape[2:])[chosen])
            for name, array in data.items()
        }
        loss = learn(net, optimizer, data, options, progress)
        update += 1
        if update % 20 == 0:
            for venv in venvs if options.past else ():
                venv.players["past"] = net.policy()
            told = f"{games} games with {options.decks} decks ({update * steps * n} steps), PPO"
            log(f"{time.process_time() - started:6.0f} s  {told}  {loss}")
            net.policy(before + told).save(options.out)
    told = f"{games} games with {options.decks} decks ({update * steps * n} steps), PPO"
    return net, before + told


def remember_decks():
    """Let the deck builders of the library work once for each card set: some take 50 ms."""
    for name, builder in DECK_BUILDERS.items():
        known = cache(builder)
        DECK_BUILDERS[name] = lambda cards, known=known: known(tuple(cards))


def learn(net, optimizer, data, options, progress):
    """Some epochs of PPO over one rollout; how it went, as a text."""
    entropy_weight = options.entropy * (1 - 0.9 * progress)
    told = []
    advantages = data["advantage"]
    data["advantage"] = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(options.epochs):
        for rows in torch.randperm(len(data["action"])).split(options.batch):
            batch = {name: tensor[rows] for name, tensor in data.items()}
            with precision(options):
                logits, value = net(batch["obs"])
            logs = functional.log_softmax(masked(logits.float(), batch["masks"]), 1)
            logp = logs.gather(1, batch["action"][:, None])[:, 0]
            ratio = (logp - batch["logp"]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            actor = -torch.min(ratio * batch["advantage"], clipped * batch["advantage"]).mean()
            critic = functional.mse_loss(value.float(), batch["return"])
            entropy = -(logs.exp() * logs).sum(1).mean()
            loss = actor + 0.5 * critic - entropy_weight * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            changed = (ratio != clipped).float().mean()
            told.append(torch.stack([critic, entropy, changed]).detach())
    critic, entropy, changed = torch.stack(told).mean(0).tolist()
    return f"value loss {critic:.3f}  entropy {entropy:.3f}  clipped {100 * changed:.1f} %"


def precision(options):
    """Products in bfloat16 where that was asked for."""
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bfloat16)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--minutes", type=float, default=30, help="of processor time, that of all threads together"
    )
    parser.add_argument("--out", default="learned.npz")
    parser.add_argument("--start", help="a policy to start from, such as one that clone.py made")
    parser.add_argument("--rules", default="1.5")
    parser.add_argument(
        "--decks", default="random", help="ways to choose decks, with commas; a/b is a pair"
    )
    parser.add_argument("--sets", type=int, default=1024, help="of cards")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=32, help="of each row in a rollout")
    parser.add_argument("--rate", type=float, default=1.5e-3, help="of learning; 5e-4 with --start")
    parser.add_argument("--entropy", type=float, default=0.01, help="0.004 with --start")
    parser.add_argument(
        "--past", type=float, default=0.0, help="part of the rows against old selves"
    )
    parser.add_argument("--batch", type=int, default=4096, help="positions of a step of learning")
    parser.add_argument("--epochs", type=int, default=2, help="over each rollout")
    parser.add_argument(
        "--bfloat16", action="store_true",
        help="products in half precision: twice as fast on processors that have it (AVX512-BF16)",
    )  # fmt: skip
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=400, help="of each evaluation; 0 for none")
    return parser


if __name__ == "__main__":
    options = arguments().parse_args()
    net, training = train(options)
    policy = net.policy(training)
    policy.save(options.out)
    if options.games:
        table(policy, games=options.games)
