"""Train a player of the battle by self-play, in one file: PPO in PyTorch on `SelfPlayVectorEnv`.

    python ppo.py --minutes 30 --out learned.npz
    locmsim arena policy:path=learned.npz random --games 200

Both sides of every game are the learner's, except in the rows that `--past` gives to networks of
earlier updates. An observation is always from the side of the player to move, and in a zero-sum
game what follows counts with the other sign where the other player moves next: that is all there
is to self-play (`locmsim.envs.gae`). Start from a clone of a search (clone.py, `--start`) to save
most of the time.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from locmsim.envs import Mixed, SelfPlayVectorEnv, gae
from locmsim.envs.evaluate import evaluate
from locmsim.policy import Policy, get_layout

UNITS, TRUNK, KEY = 48, 160, 32


class Net(nn.Module):
    """The entity network: `locmsim.policy.policy` says what it looks like.

    Names and shapes are those of `locmsim.policy._policy.ENTITY_SHAPES`, with `.` as `_`.
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
        """Logits (rows, actions) and values (rows,) of int8 observations of layout "entities"."""
        x = observations.float() / self.scale
        hand = x[:, 24:216].view(-1, 8, 24)
        own, enemy = (x[:, at : at + 96].view(-1, 6, 16) for at in (216, 312))
        there = [block[:, :, :1] for block in (hand, own, enemy)]
        # Encoded without the activation: what is seen of the position is added below.
        e_hand, e_own, e_enemy = (
            encoder(block) * mask
            for encoder, block, mask in zip(
                (self.hand, self.own, self.enemy), (hand, own, enemy), there, strict=True
            )
        )
        lanes = [slice(0, 6), slice(6, 6)] if self.one else [slice(0, 3), slice(3, 6)]
        own_sums, enemy_sums = (
            [functional.relu(block[:, lane]).sum(1) for lane in lanes] for block in (e_own, e_enemy)
        )
        rest = torch.cat([x[:, :24], x[:, 408:]], 1)
        joined = [rest, functional.relu(e_hand).sum(1), *own_sums, *enemy_sums]
        trunk = functional.relu(self.trunk1(torch.cat(joined, 1)))
        trunk = functional.relu(self.trunk2(trunk))
        e_hand, e_own, e_enemy = (
            functional.relu(block + context(trunk)[:, None])
            for block, context in (
                (e_hand, self.hand_context),
                (e_own, self.own_context),
                (e_enemy, self.enemy_context),
            )
        )  # fmt: skip
        pairs = zip(own_sums, enemy_sums, strict=True)
        lane_keys = torch.stack([self.lane_key(torch.cat([*pair, trunk], 1)) for pair in pairs], 1)
        # Targets of items: the player, six own and six enemy creatures.
        targets = torch.cat(
            [
                self.player_use_key(trunk)[:, None],
                self.own_key(e_own) * there[1],
                self.enemy_key(e_enemy) * there[2],
            ],
            1,
        )
        summons = self.summon(e_hand) @ lane_keys[:, : 1 if self.one else 2].transpose(1, 2)
        uses = self.use(e_hand) @ targets.transpose(1, 2)
        face = self.player_attack_key(trunk)[:, None]
        keys = self.enemy_attack_key(e_enemy) * there[2]
        queries = self.attack(e_own)
        attacks = torch.cat(
            [
                queries[:, lane] @ torch.cat([face, keys[:, lane]], 1).transpose(1, 2)
                for lane in (lanes[:1] if self.one else lanes)
            ],
            1,
        )
        there_h, there_o = there[0], there[1]
        pointed = [summons * there_h, uses * there_h, attacks * there_o]
        pointed = [block.flatten(1) / KEY**0.5 for block in pointed]
        return torch.cat([self.pass_(trunk), *pointed], 1), torch.tanh(self.value(trunk))[:, 0]

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


def masked(logits, masks):
    return logits.masked_fill(masks == 0, -1e9)


def train(options, log=print):
    """Self-play until the time is over; the network."""
    torch.manual_seed(options.seed)
    n, steps = options.rows, options.steps
    decks = options.decks.split(",")
    # Rows with one way to choose decks each: the network is to play well with all of them.
    counts = [n // len(decks) + (i < n % len(decks)) for i in range(len(decks))]
    venvs = [
        SelfPlayVectorEnv(
            count, rules=options.rules, decks=deck, threads=options.threads, max_actions=400
        )
        for count, deck in zip(counts, decks, strict=True)
    ]
    parts = np.cumsum([0, *counts])
    net = Net(options.rules)
    if options.start:
        net.take(Policy.load(options.start))
    optimizer = torch.optim.Adam(net.parameters(), lr=options.rate, eps=1e-5)
    size, actions = get_layout("entities", options.rules).shape[0], venvs[0].single_action_space.n
    obs = np.zeros((steps + 1, n, size), np.int8)
    masks = np.zeros((steps + 1, n, actions), np.int8)
    to_move = np.zeros((steps + 1, n), np.int8)
    taken = np.zeros((steps, n), np.int64)
    rewards = np.zeros((steps, n), np.float32)
    dones = np.zeros((steps, n), np.bool_)
    values = np.zeros((steps + 1, n), np.float32)
    logps = np.zeros((steps, n), np.float32)
    learns = np.ones((steps, n), np.bool_)
    past = [net.policy()]
    mixed = [Mixed(v, v.num_envs - int(options.past * v.num_envs), past) for v in venvs]
    for number, venv in enumerate(venvs):
        part = slice(parts[number], parts[number + 1])
        seen, info = venv.reset(seed=options.seed + 1000 * number)
        obs[steps, part], masks[steps, part] = seen["observation"], seen["action_mask"]
        to_move[steps, part] = info["to_move"]
    started = time.perf_counter()
    update = games = 0
    while (progress := (time.perf_counter() - started) / (60 * options.minutes)) < 1:
        obs[0], masks[0], to_move[0] = obs[steps], masks[steps], to_move[steps]
        for t in range(steps):
            with torch.no_grad():
                logits, value = net(torch.from_numpy(obs[t]))
                dist = torch.distributions.Categorical(
                    logits=masked(logits, torch.from_numpy(masks[t])), validate_args=False
                )
                action = dist.sample()
                logps[t] = dist.log_prob(action).numpy()
                taken[t], values[t] = action.numpy(), value.numpy()
            for number, venv in enumerate(venvs):
                part = slice(parts[number], parts[number + 1])
                learns[t, part] = mixed[number].learner(to_move[t, part])
                mixed[number].act(taken[t, part], obs[t, part], masks[t, part], to_move[t, part])
                venv.step_into(
                    taken[t, part], obs=obs[t + 1, part], masks=masks[t + 1, part],
                    rewards=rewards[t, part], dones=dones[t, part], to_move=to_move[t + 1, part],
                )  # fmt: skip
                mixed[number].ended(dones[t, part])
        games += int(dones.sum())
        with torch.no_grad():
            values[steps] = net(torch.from_numpy(obs[steps]))[1].numpy()
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
        chosen = np.flatnonzero(learns)
        data = {
            name: torch.from_numpy(array.reshape(steps * n, *array.shape[2:])[chosen])
            for name, array in data.items()
        }
        loss = learn(net, optimizer, data, options, progress)
        update += 1
        if update % 20 == 0:
            past.append(net.policy())
            del past[:-8]
            for one in mixed:
                one.policies = past[: len(one.policies)] if len(past) < 2 else past[-1:]
            log(
                f"{time.perf_counter() - started:6.0f} s  {update * steps * n:,} steps"
                f"  {games:,} games  loss {loss:.3f}"
            )
    return net, f"{games} games of self-play ({update * steps * n} steps), PPO"


def learn(net, optimizer, data, options, progress):
    """Two epochs of PPO over one rollout; the mean loss."""
    entropy_weight = options.entropy * (1 - 0.9 * progress)
    total, count = 0.0, 0
    for _ in range(2):
        for rows in torch.randperm(len(data["action"])).split(4096):
            batch = {name: tensor[rows] for name, tensor in data.items()}
            logits, value = net(batch["obs"])
            logs = functional.log_softmax(masked(logits, batch["masks"]), 1)
            logp = logs.gather(1, batch["action"][:, None])[:, 0]
            advantage = batch["advantage"]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            ratio = (logp - batch["logp"]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            actor = -torch.min(ratio * advantage, clipped * advantage).mean()
            critic = functional.mse_loss(value, batch["return"])
            entropy = -(logs.exp() * logs).sum(1).mean()
            loss = actor + 0.5 * critic - entropy_weight * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            total, count = total + loss.item(), count + 1
    return total / count


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--out", default="learned.npz")
    parser.add_argument("--start", help="a policy to start from, such as one that clone.py made")
    parser.add_argument("--rules", default="1.5")
    parser.add_argument("--decks", default="random", help="ways to choose decks, with commas")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=32, help="of each row in a rollout")
    parser.add_argument("--rate", type=float, default=1.5e-3, help="of learning; 5e-4 with --start")
    parser.add_argument("--entropy", type=float, default=0.01, help="0.004 with --start")
    parser.add_argument(
        "--past", type=float, default=0.0, help="part of the rows against old selves"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=400, help="of each evaluation; 0 for none")
    return parser


if __name__ == "__main__":
    options = arguments().parse_args()
    net, training = train(options)
    policy = net.policy(training)
    policy.save(options.out)
    for opponent in ("random", "max-attack", "osl") if options.games else ():
        for deck in ("random", "classic") if options.rules == "1.5" else ("random",):
            rate = evaluate(policy, opponent, games=options.games, decks=deck)
            print(f"against {opponent}, {deck} decks: {rate}")
