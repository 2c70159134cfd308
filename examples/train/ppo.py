"""Train agents by self-play against themselves and a league: PPO in PyTorch, in one file.

    python ppo.py --folder runs/first --total-timesteps 20_000_000
    locmsim arena policy:path=runs/first/policy.npz greedy random --mode gauntlet --games 200
    torchrun --nproc-per-node 2 ppo.py --folder runs/two    # the same training on two processes

The folder of a run holds the policy, the checkpoint, `log.csv`, `opponents.csv` and the files of
TensorBoard; with `--resume` the same command continues where it was stopped, also with a larger
`--total-timesteps`.
`--seeds 5` trains with five seeds, each in a folder of its own, and draws their mean. Random
numbers are derived from the seed, the update and the row: neither a pause nor the number of
processes changes the result. In self-play each observation is that of the player to move, and the
advantage estimate changes sign wherever the other player moves next (`locmsim.envs.gae`).
"""

import argparse
import contextlib
import csv
import os
import time
from collections import Counter, deque
from pathlib import Path

import numpy as np

try:
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim.agents.learned import shipped_policy
from locmsim.envs import LocmVectorEnv, PlayerResults, Pool, gae
from locmsim.envs.cards import for_both
from locmsim.policy import Policy, get_layout
from locmsim.tuning.evaluate import evaluate

UNITS, TRUNK, KEY = 48, 160, 32
PART = 64  # batches are padded to multiples of this: PyTorch compiles kernels for each size


class Net(nn.Module):
    """The entity network: `locmsim.policy.policy` describes it and names the layers."""

    def __init__(self, rules="1.5"):
        super().__init__()
        self.rules, self.one = rules, rules == "1.0"  # one lane
        self.register_buffer("scale", torch.tensor(get_layout("entities", rules).scale))
        self.hand, self.own, self.enemy = (nn.Linear(size, UNITS) for size in (24, 16, 16))
        self.trunk1, self.trunk2 = nn.Linear(56 + 5 * UNITS, TRUNK), nn.Linear(TRUNK, TRUNK)
        for size, keys, names in (
            (TRUNK, UNITS, "hand_context own_context enemy_context"),
            (UNITS, KEY, "summon use attack own_key enemy_key enemy_attack_key"),
            (TRUNK, KEY, "player_use_key player_attack_key"), (2 * UNITS + TRUNK, KEY, "lane_key"),
        ):  # fmt: skip
            for name in names.split():
                setattr(self, name, nn.Linear(size, keys, bias=False))
        self.pass_, self.value = nn.Linear(TRUNK, 1), nn.Linear(TRUNK, 1)

    def forward(self, observations):
        """Return logits (rows, actions) and values (rows,) of observations of layout "entities".

        Observations are int8. Logits of illegal actions are meaningless.
        """
        n = observations.shape[0]  # `len` would be a constant of an exported network
        x = observations.float() * self.scale.reciprocal()
        # Encoded without the activation: the context of the position is added below.
        hand, own, enemy = (
            self.encode(layer, x[:, start : start + rows * size].reshape(n, rows, size))
            for layer, start, rows, size in (
                (self.hand, 24, 8, 24), (self.own, 216, 6, 16), (self.enemy, 312, 6, 16),
            )
        )  # fmt: skip
        lanes = [slice(0, 6), slice(6, 6)] if self.one else [slice(0, 3), slice(3, 6)]
        own_sums, enemy_sums = (
            torch.stack([functional.relu(cards[:, lane]).sum(1) for lane in lanes], 1)
            for cards in (own, enemy)
        )
        sums = [functional.relu(hand).sum(1), own_sums.flatten(1), enemy_sums.flatten(1)]
        joined = torch.cat([x[:, :24], x[:, 408:], *sums], 1)
        trunk = functional.relu(self.trunk2(functional.relu(self.trunk1(joined))))
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
        lane_keys = functional.linear(torch.cat([own_sums, enemy_sums], 2), of_sums) + lane[:, None]
        # Targets of items: the player, six own and six enemy creatures.
        targets = torch.cat([player_use[:, None], own_key, enemy_key], 1)
        summons = summon @ lane_keys[:, : 1 if self.one else 2].transpose(1, 2)
        uses = use @ targets.transpose(1, 2)
        attacks = attack @ torch.cat([face[:, None], attack_key], 1).transpose(1, 2)
        if not self.one:  # only the pairs within one lane
            left, right = attacks[:, :3, :4], attacks[:, 3:]
            attacks = torch.cat([left, torch.cat([right[:, :, :1], right[:, :, 4:]], 2)], 1)
        pointed = torch.cat([block.flatten(1) for block in (summons, uses, attacks)], 1)
        logits = torch.cat([pass_ + self.pass_.bias, pointed * KEY**-0.5], 1)
        return logits, torch.tanh(value + self.value.bias)[:, 0]

    @staticmethod
    def encode(layer, cards):
        """Encode cards; an empty slot, whose feature "present" is 0, is encoded as zeros."""
        weight = layer.weight.t()
        return cards @ torch.cat([weight[:1] + layer.bias, weight[1:]])

    @staticmethod
    def keys(block, context, *layers):
        """Compute queries or keys of cards with several layers, in the context of the position."""
        seen = functional.relu(block + context[:, None])
        return product(seen, *[layer.weight for layer in layers])

    def named(self):
        """Yield each parameter with its name in a `Policy`."""
        for name, parameter in self.named_parameters():
            layer, _, kind = name.rpartition(".")
            yield f"{layer.strip('_')}.{kind[0]}", parameter

    def policy(self, training=""):
        """Return the network as a `Policy`, which does not need PyTorch."""
        layout = get_layout("entities", self.rules)
        meta = {
            "kind": "entities", "layout": layout.name, "layout_version": layout.version,
            "rules": self.rules, "training": training,
        }  # fmt: skip
        arrays = {name: p.detach().cpu().numpy().T for name, p in self.named()}
        return Policy({name: array.squeeze().copy() for name, array in arrays.items()}, meta)

    def save(self, folder, training):
        """Write the network as a policy file."""
        self.policy(training).save(Path(folder) / "policy.npz")

    @torch.no_grad()
    def load(self, policy):
        """Load the network of a `Policy`; ``ValueError`` if its sizes or rules differ."""
        if (policy.kind, policy.rules) != ("entities", self.rules):
            raise ValueError(f"expected an entity network of rules {self.rules}, got {policy!r}")
        for name, parameter in self.named():
            array = policy.arrays[name].T
            if array.size != parameter.numel():
                sizes = f"expected {parameter.numel()} numbers, got {array.size}"
                raise ValueError(f"{name}: {sizes}: a network with other UNITS or TRUNK")
            parameter.copy_(torch.tensor(array).reshape(parameter.shape))


def product(x, *weights):
    """Compute several layers without bias in one product: twice as fast for small layers."""
    return (x @ torch.cat(weights).t()).split([len(weight) for weight in weights], -1)


def masked(logits, masks):
    return logits.masked_fill(masks == 0, -1e9)


def draw(logits, masks, uniform):
    """Sample an action for each row by a number in 0..1; return actions and log-probabilities."""
    logs = functional.log_softmax(masked(logits.float(), masks), 1)
    below = logs.exp().cumsum(1)
    action = (below > uniform[:, None] * below[:, -1:] * (1 - 1e-6)).int().argmax(1)
    return action, logs.gather(1, action[:, None])[:, 0]


def precision(bfloat16, device="cpu"):
    """Return a context in which products are computed in bfloat16 if requested."""
    return torch.autocast(torch.device(device).type, dtype=torch.bfloat16, enabled=bfloat16)


class Processes:
    """The processes that torchrun started, or only this one; each has a share of the rows."""

    def __init__(self):
        self.rank, self.size = (int(os.environ.get(*n)) for n in (("RANK", 0), ("WORLD_SIZE", 1)))
        if self.size > 1 and not dist.is_initialized():  # gloo for CPUs, nccl for GPUs
            dist.init_process_group()

    def sum(self, tensor):
        """Sum a tensor over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor


def generator(*key):
    """Return a generator derived from a seed, an update and a purpose."""
    return torch.Generator().manual_seed(int(np.random.SeedSequence(key).generate_state(1)[0]))


class League:
    """Past selves that the learner plays against, stronger ones more often (PFSP).

    `results` maps each past self and fixed opponent to the learner's wins and games in the last
    `window` updates.
    """

    def __init__(self, size=12, window=50):
        self.size, self.recent = size, deque(maxlen=window)  # by update: name -> (wins, games)
        self.past, self.results = {}, {}  # by name: policies; (wins, games)

    def add(self, name, policy):
        """Add a past self; a full league drops the one that the learner beats most often."""
        if len(self.past) >= self.size:
            beaten = min(self.past, key=self.weights().get)
            for results in (self.past, self.results, *self.recent):
                results.pop(beaten, None)
        policy.temperature = 1.0
        self.past[name] = policy

    def rate(self, name):
        """Return the learner's win rate against a player; one half before the first game."""
        wins, games = self.results.get(name, (0, 0))
        return (wins + 1) / (games + 2)

    def weights(self):
        """Return the probability of each past self, about proportional to its squared win rate."""
        weights = {name: (1 - self.rate(name)) ** 2 + 0.001 for name in self.past}
        return {name: weight / sum(weights.values()) for name, weight in weights.items()}

    def count(self, results):
        """Add the results of an update: name -> (wins, games)."""
        self.recent.append({name: (*pair,) for name, pair in results.items() if pair[1]})
        self.results = {}
        for update in self.recent:
            for name, (wins, games) in update.items():
                before = self.results.get(name, (0, 0))
                self.results[name] = before[0] + wins, before[1] + games

    def summary(self):
        """Return the share of recent games won, all past selves together, as text."""
        wins, games = Counter(), Counter()
        for name, pair in self.results.items():
            name = "past selves" if name in self.past else name
            wins[name], games[name] = wins[name] + pair[0], games[name] + pair[1]
        shares = {name: f"{100 * wins[name] / n:.1f} % of {n:,.0f}" for name, n in games.items()}
        return "  ".join(f"{name} {share}" for name, share in shares.items())

    def state_dict(self):
        past = {name: (p.meta, {k: torch.tensor(a) for k, a in p.arrays.items()})
                for name, p in self.past.items()}  # fmt: skip
        return {"past": past, "recent": [*self.recent]}

    def load_state_dict(self, state):
        self.past = {}
        for results in state["recent"]:
            self.count(results)
        for name, (meta, arrays) in state["past"].items():
            self.add(name, Policy({key: array.numpy() for key, array in arrays.items()}, meta))


class Rollout:
    """An environment and the arrays it fills: `steps` steps of all rows of this process.

    Each episode draws its decks and its opponent: the learner, a past self or a fixed opponent.
    """

    def __init__(self, options, processes, device):
        self.options, self.processes, self.device = options, processes, device
        n, over = divmod(options.rows, processes.size)
        if over:
            raise SystemExit(f"--rows: {options.rows} rows for {processes.size} processes")
        self.decks = options.decks[0] if len(options.decks) == 1 else Pool(Counter(options.decks))
        self.results, self.env = {}, self.make(n)
        # Rows are numbered over all processes, so that results do not depend on how many there are.
        self.numbers = processes.rank * n + np.arange(n)
        t, space = options.steps, self.env.single_observation_space["observation"]
        for name, dtype, *size in (
            ("obs", torch.int8, t + 1, n, *space.shape), ("to_move", torch.int8, t + 1, n),
            ("masks", torch.int8, t + 1, n, int(self.env.single_action_space.n)),
            ("actions", torch.int64, t, n), ("rewards", torch.float32, t, n),
            ("terminated", torch.bool, t, n), ("truncated", torch.bool, t, n),
            ("length", torch.int32, t, n), ("values", torch.float32, t + 1, n),
            ("logps", torch.float32, t, n),
        ):  # fmt: skip
            setattr(self, name, torch.zeros(size, dtype=dtype, pin_memory=device.type == "cuda"))

    def make(self, rows):
        """Create the environment."""
        options = self.options
        return LocmVectorEnv(
            rows, opponent=Pool(dict.fromkeys(("caller", *options.opponents), 1.0)),
            rules=options.rules, decks=self.decks,
            card_sets=options.sets, threads=options.threads, max_actions=400,
        )  # fmt: skip

    def meet(self, league):
        """Set the weights by which new episodes draw their opponents."""
        options, players = self.options, self.env.players
        weights = {name: options.past * weight for name, weight in league.weights().items()}
        weights |= {name: options.fixed / len(options.opponents) for name in options.opponents}
        weights["caller"] = max(0.0, 1 - sum(weights.values()))
        for name in {*players} - {*weights}:
            players.pop(name)
        for name in league.past.keys() - {*players}:
            players[name] = league.past[name]
        self.env.set_weights(weights)

    def played(self):
        """Return the learner's wins and games by player since the last call, in this process."""
        old, self.results = self.results, self.env.players.results
        new = {n: one.since(old.get(n, PlayerResults())) for n, one in self.results.items()}
        new.pop("caller", None)
        return {name: (one.won + one.drawn / 2, one.games) for name, one in new.items()}

    def win_rate(self, net, opponent, games):
        """Return the network's `WinRate` on card sets that are never trained on."""
        decks = for_both(self.options.decks[0])[0]
        return evaluate(net.policy(), opponent, games=games, decks=decks)

    def begin(self, update, league):
        """Start new episodes in all rows: at the start and after each checkpoint."""
        self.meet(league)
        seeds = np.random.SeedSequence((self.options.seed, update))
        seeds = seeds.generate_state(self.options.rows)[self.numbers]
        seen, _ = self.env.reset(seed=seeds.tolist())
        arrays = seen["observation"], seen["action_mask"], self.env.to_move
        self.obs[-1], self.masks[-1], self.to_move[-1] = map(torch.from_numpy, arrays)

    @torch.no_grad()
    def collect(self, net, update):
        """Play `steps` steps and return sums of statistics."""
        for array in (self.obs, self.masks, self.to_move):
            array[0] = array[-1]
        options, random, seconds = self.options, generator(self.options.seed, update, 2), 0.0
        uniform = torch.rand(options.steps, options.rows, generator=random)[:, self.numbers]
        with precision(options.bfloat16, self.device):
            for t in range(options.steps):
                self.act(net, t, uniform[t])
                started = time.perf_counter()
                self.step(t)
                seconds += time.perf_counter() - started
            self.act(net, options.steps)
        legal = self.masks[:-1].gather(2, self.actions[..., None])
        return {
            "games": (self.terminated | self.truncated).sum().item(), "env_seconds": seconds,
            "length": self.length.sum().item(), "illegal": (legal == 0).sum().item(),
        }  # fmt: skip

    def step(self, t):
        """Step the environments, which write their results into the arrays."""
        into = {name: getattr(self, name)[t + 1].numpy() for name in ("obs", "masks", "to_move")}
        for name in ("rewards", "terminated", "truncated", "length"):
            into[name] = getattr(self, name)[t].numpy()
        self.env.step_into(self.actions[t].numpy(), **into)

    def act(self, net, t, uniform=None):
        """Evaluate positions and, with `uniform`, choose actions."""
        logits, values = net(self.obs[t].to(self.device, non_blocking=True))
        self.values[t] = values.float().cpu()
        if uniform is not None:
            masks = self.masks[t].to(self.device, non_blocking=True)
            action, logp = draw(logits, masks, uniform.to(self.device))
            self.logps[t], self.actions[t] = logp.cpu(), action.cpu()

    def examples(self):
        """Return the data of this process, and the numbers of the positions that all learn from."""
        # A quarter of the positions leave only PASS: there is nothing to decide.
        decides = self.masks[:-1].sum(2, dtype=torch.int16) > 1
        values, to_move, chosen = self.values.numpy(), self.to_move.numpy(), decides.numpy()
        rewards, dones = self.rewards.numpy(), (self.terminated | self.truncated).numpy()
        for t in reversed(range(len(rewards))):  # forced steps get the value of the next position
            after = np.where(to_move[t] == to_move[t + 1], values[t + 1], -values[t + 1])
            values[t] = np.where(chosen[t], values[t], rewards[t] + np.where(dones[t], 0, after))
        advantages = torch.from_numpy(
            gae(rewards, values[:-1], dones, to_move[:-1], values[-1], to_move[-1], lam=0.95)
        )
        part = advantages[decides].double()
        sums = torch.stack([part.new_tensor(len(part)), part.sum(), (part**2).sum()])
        count, total, squares = self.processes.sum(sums).tolist()
        deviation = max(squares / count - (total / count) ** 2, 0) ** 0.5
        everywhere = torch.zeros(len(rewards), self.options.rows, dtype=torch.int32)
        everywhere[:, self.numbers] = decides.int()
        data = {
            "obs": self.obs[:-1], "masks": self.masks[:-1], "action": self.actions,
            "logp": self.logps, "advantage": (advantages - total / count) / (deviation + 1e-8),
            "return": advantages + self.values[:-1],
        }  # fmt: skip
        places = self.processes.sum(everywhere).flatten().nonzero()[:, 0]
        return {name: part.flatten(0, 1).to(self.device) for name, part in data.items()}, places


def learn(net, optimizer, rollout, update, share):
    """Run some epochs of PPO on a rollout; `share` scales learning rate and entropy weight.

    Returns sums of statistics.
    """
    options, processes, device = rollout.options, rollout.processes, rollout.device
    optimizer.param_groups[0]["lr"] = options.rate * share
    (data, places), parameters = rollout.examples(), [*net.parameters()]
    random, n = generator(options.seed, update, 3), len(rollout.numbers)
    sums = torch.zeros(7, dtype=torch.float64, device=device)
    for _ in range(options.epochs):
        order = places[torch.randperm(len(places), generator=random)]
        for batch in order.tensor_split(-(-len(order) // options.batch)):  # of similar size
            # All processes draw the same batch; each learns from the positions of its own rows.
            row = batch % options.rows - int(rollout.numbers[0])
            rows = (batch // options.rows * n + row)[(row >= 0) & (row < n)]
            fill = -len(rows) % PART
            counts = torch.arange(len(rows) + fill, device=device) < len(rows)
            rows = functional.pad(rows, (0, fill)).to(device)
            part = {name: tensor[rows] for name, tensor in data.items()}
            with precision(options.bfloat16, device):
                logits, value = net(part["obs"])
            logs = functional.log_softmax(masked(logits.float(), part["masks"]), 1)
            difference = logs.gather(1, part["action"][:, None])[:, 0] - part["logp"]
            ratio = difference.exp()
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            actor = -torch.min(ratio * part["advantage"], clipped * part["advantage"])
            critic = (value.float() - part["return"]) ** 2
            entropy = -(logs.exp() * logs).sum(1)
            loss = actor + 0.5 * critic - options.entropy * share * entropy
            loss = (loss * counts).sum() / len(batch)
            optimizer.zero_grad()
            loss.backward()
            if processes.size > 1:
                flat = processes.sum(torch.cat([p.grad.flatten() for p in parameters]))
                for p in parameters:
                    p.grad, flat = flat[: p.numel()].view_as(p), flat[p.numel() :]
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
            kl, clipped = ratio - 1 - difference, (ratio != clipped).float()
            stats = [counts, critic, entropy, kl, clipped, part["return"], part["return"] ** 2]
            sums += (torch.stack(stats) * counts).detach().double().sum(1)
    names = ("positions", "value_loss", "entropy", "kl", "clipped", "returns", "squares")
    return dict(zip(names, sums.tolist(), strict=True))


def identity(options):
    """Return the options that must not change between a checkpoint and its continuation."""
    free = "folder resume pause_after device threads compile tensorboard wandb games evaluate_every"
    free += " seeds total_timesteps"
    known = {**vars(options), "start": None, **dict.fromkeys(free.split())}
    layout = get_layout("entities", options.rules)
    return {"layout": f"{layout.name} {layout.version} {layout.shape[0]}", **known}


def start_policy(start, rules):
    """Return the policy of a file, or the library's network for rules if `start` is "learned"."""
    return shipped_policy(rules) if start == "learned" else Policy.load(start)


def load_start(net, start, rules, option="--from"):
    """Load a policy into a network and return it; exit with one line if it does not fit."""
    try:
        policy = start_policy(start, rules)
        net.load(policy)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{option}: {error}") from None
    return policy


def load_checkpoint(path, expected):
    """Return the content of a checkpoint; exit with one line if the file is not one."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        known = content["identity"]
    except Exception as error:  # torch raises many kinds
        reason = (str(error).strip() or type(error).__name__).split("\n")[0]
        raise SystemExit(f"{path}: not a checkpoint, or cut short: {reason}") from None
    for name, value in expected.items():
        if known.get(name) != value:
            raise SystemExit(f"{path}: written with {name} {known.get(name)}, expected {value}")
    return content


def save_checkpoint(path, content):
    """Write a checkpoint; an older file is replaced only when the new one is complete."""
    torch.save(content, path.with_suffix(".part"))
    os.replace(path.with_suffix(".part"), path)


def plain(value):
    """Return a number as text, without powers of ten: 655,360 or 0.00135."""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def keep_lines(path, number, name="update"):
    """Remove the lines of a table after an update or a round: what they log is repeated."""
    done = {name, *map(str, range(number + 1))} if number else ()
    lines = path.read_text().splitlines() if path.exists() else []
    kept = "".join(f"{line}\n" for line in lines if line.split(",")[0] in done)
    path.write_text(kept, newline="\n")


def write_lines(path, rows):
    """Add lines, dicts with the same keys, to a table."""
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if rows and not file.tell():
            writer.writerow(rows[0])
        writer.writerows(row.values() for row in rows)


class Log:
    """The logs of a run: tables, TensorBoard and, if requested, Weights & Biases.

    `log.csv` has a line for each update, `opponents.csv` the results against each player in the
    last updates.
    """

    def __init__(self, options, update):
        self.folder, self.writer, self.wandb = Path(options.folder), None, None
        for name in ("log.csv", "opponents.csv"):
            keep_lines(self.folder / name, update)
        try:
            if options.tensorboard:
                from torch.utils.tensorboard import SummaryWriter

                step = update * options.steps * options.rows
                self.writer = SummaryWriter(options.folder, purge_step=step)
            if options.wandb:
                import wandb

                self.wandb = wandb.init(project=options.wandb, config=vars(options))
        except ImportError as error:
            raise SystemExit(f"{error.name} is missing: pip install {error.name}") from None

    def write(self, values, league, shown):
        """Log the numbers of an update, and where they are `shown` the league's results too."""
        write_lines(self.folder / "log.csv", [values])
        known = {name: value for name, value in values.items() if value != ""}
        known |= {f"league/{name}": league.rate(name) for name in league.results}
        write_lines(self.folder / "opponents.csv", [
            {"update": values["update"], "step": values["step"], "name": name,
             "games": round(games), "won": wins / games}
            for name, (wins, games) in league.results.items() if shown
        ])  # fmt: skip
        for name, value in known.items() if self.writer else ():
            self.writer.add_scalar(name, value, values["step"])
        if self.wandb:
            self.wandb.log(known)


def train(options, make_net=Net, make_rollout=Rollout):  # noqa: C901 (one loop to read)
    """Train according to the options and return the network."""
    device, processes = find_device(options.device), Processes()
    main, size = processes.rank == 0, options.steps * options.rows
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    net = make_net(options.rules).to(device)  # initialised with the seed set above
    history = ""
    if options.start:
        policy = load_start(net, options.start, options.rules)
        history = f"{policy.meta.get('training', '')}; "
    forward = torch.compile(net) if options.compile else net
    optimizer = torch.optim.Adam(net.parameters(), lr=options.rate, eps=1e-5, fused=True)
    league = League(options.league, options.window)
    update, games, folder = 0, 0, Path(options.folder)
    updates = max(1, options.total_timesteps // size)
    path = folder / "checkpoint.pt"
    if path.exists():
        if not options.resume:
            raise SystemExit(f"{path} exists: continue with --resume, or choose another --folder")
        content = load_checkpoint(path, identity(options))
        net.load_state_dict(content["net"])
        optimizer.load_state_dict(content["optimizer"])
        league.load_state_dict(content["league"])
        update, games, history = (content[name] for name in ("update", "games", "history"))
        if not resumable(folder, content, updates, size, main):
            return net
    elif options.past:
        league.add("update-0", net.policy())
    rollout = checked_rollout(options, processes, device, net, make_rollout)
    folder.mkdir(parents=True, exist_ok=True)
    log = Log(options, update) if main else None
    rollout.begin(update, league)
    began = time.monotonic()
    while update < updates:
        started, share = time.perf_counter(), 1 - 0.9 * update / updates
        sums = rollout.collect(forward, update) | learn(forward, optimizer, rollout, update, share)
        results, update = rollout.played(), update + 1
        numbers = [*sums.values(), *np.ravel([*results.values()])]
        numbers = processes.sum(torch.tensor(numbers, dtype=torch.float64))
        sums = dict(zip(sums, numbers.tolist(), strict=False))
        pairs = numbers[len(sums) :].view(-1, 2)
        league.count(dict(zip(results, pairs.tolist(), strict=True)))
        wins, one_sided = pairs.sum(0).tolist()
        games += int(sums["games"])
        seconds = time.perf_counter() - started
        mean = {name: total / sums["positions"] for name, total in sums.items()}
        variance = max(mean["squares"] - mean["returns"] ** 2, 1e-9)
        values = {
            "update": update, "step": update * size, "games": games, "seconds": seconds,
            "steps_per_second": size / seconds, "rate": options.rate * share,
            "environment_share": sums["env_seconds"] / seconds / processes.size,
            "return": (2 * wins - one_sided) / max(1, one_sided),
            "length": sums["length"] / max(1, sums["games"]), "illegal": sums["illegal"] / size,
            "explained_variance": 1 - mean["value_loss"] / variance,
            **{name: mean[name] for name in ("value_loss", "entropy", "kl", "clipped")},
        }  # fmt: skip
        last = update == updates
        if options.past and update % options.snapshot_every == 0:
            league.add(f"update-{update}", net.policy())
        rollout.meet(league)
        if main:
            asked = update % options.evaluate_every == 0 or last
            shown = asked or update % 10 == 0
            rates = {}
            for name in options.yardsticks:
                if asked:
                    rates[name] = rollout.win_rate(net, name, options.games)
                for key, value in (("", "rate"), ("_low", "low"), ("_high", "high")):
                    values[f"win_{name}{key}"] = getattr(rates.get(name), value, "")
            log.write(values, league, shown)
            if shown:
                print("  ".join(f"{name} {plain(v)}" for name, v in values.items()
                                if not name.startswith("win_")))  # fmt: skip
                for name, rate in rates.items():
                    print(f"  won against {name}: {rate}")
                print(f"  won in the last {options.window} updates: {league.summary()}", flush=True)
        # Only here, as games restart: a run that is broken off goes on as if it had never been.
        if update % options.checkpoint_every == 0 or last:
            if main:
                training = f"{history}seed {options.seed}: {games} games with"
                training += f" {' '.join(options.decks)} decks"
                net.save(folder, f"{training} ({update * size} steps), PPO")
                content = {
                    "identity": identity(options), "net": net.state_dict(), "history": history,
                    "optimizer": optimizer.state_dict(), "league": league.state_dict(),
                    "update": update, "updates": updates, "games": games,
                }  # fmt: skip
                save_checkpoint(path, content)
            rollout.begin(update, league)
            minutes = processes.sum(torch.tensor((time.monotonic() - began) / 60)) / processes.size
            if options.pause_after and minutes > options.pause_after:
                break
    return net


def checked_rollout(options, processes, device, net, make_rollout):
    """Return the rollouts; exit with one line if an option is wrong, before anything is trained."""
    if options.games % 2:
        raise SystemExit(f"--games: mirrored pairs need an even number, got {options.games}")
    where = ""
    try:
        rollout = make_rollout(options, processes, device)
        for name in options.yardsticks:
            where = f"--yardsticks {name}: "
            rollout.win_rate(net, name, games=2)
    except (ValueError, OSError, ImportError) as error:
        raise SystemExit(where + str(error).split("\n")[0]) from None
    return rollout


def resumable(folder, content, updates, size, main):
    """Return whether updates are left to do after a checkpoint, and say what is new."""
    update, before = content["update"], content["updates"]
    if update >= updates:
        if main:
            print(
                f"{folder}: finished after {update * size:,} steps, nothing was changed. To go on:"
            )
            print("a larger --total-timesteps, or --from its policy.npz and another --folder.")
        return False
    if updates != before and main:
        print(f"{folder}: continues at {update * size:,} steps. The learning rate and the entropy")
        print(f"weight now fall until {updates * size:,} steps, not until {before * size:,}.")
    return True


def find_device(name):
    """Find a device; exit with one line if it is not available."""
    backends = {"cuda": torch.cuda, "mps": torch.backends.mps}
    there = [*[known for known, backend in backends.items() if backend.is_available()], "cpu"]
    if name not in ("auto", *there):
        raise SystemExit(f"--device: {name} is not available here, only {', '.join(there)}")
    name = there[0] if name == "auto" else name
    return torch.device(name, int(os.environ.get("LOCAL_RANK", 0)) if name == "cuda" else 0)


def positive(text):
    """Return the positive number of a text: the type of options."""
    if not text.replace("_", "").isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.description = __doc__.split("\n")[0]
    add, flag = parser.add_argument, argparse.BooleanOptionalAction
    add("--folder", default="runs/ppo", help="folder of the policy, checkpoint and logs")
    add("--resume", action="store_true", help="continue from the checkpoint in the folder, if any")
    add("--total-timesteps", type=positive, default=20_000_000, help="steps of all rows together")
    add("--pause-after", type=float, default=0, help="stop at the first checkpoint after N minutes")
    add("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"), help="PyTorch device")
    add("--seed", type=int, default=1, help="seed of all random numbers")
    add("--seeds", type=positive, default=1, help="train with this many seeds, each in its folder")
    add("--rules", default="1.5", choices=("1.5", "1.2", "1.0"), help="rule set")
    add("--decks", nargs="+", default=["random"], help="deck builders; a/b: one for each player")
    add("--sets", type=positive, default=1024, help="number of card sets (1.5)")
    add("--rows", type=positive, default=1024, help="concurrent battles, over all processes")
    add("--steps", type=positive, default=32, help="steps of each row per rollout")
    add("--batch", type=positive, default=4096, help="positions per optimizer step")
    add("--epochs", type=positive, default=2, help="epochs over each rollout")
    add("--rate", type=float, default=1.5e-3, help="learning rate, decaying to a tenth")
    add("--entropy", type=float, default=0.01, help="entropy weight, decaying to a tenth")
    add("--clip", type=float, default=0.2, help="clip range of the probability ratio")
    add("--past", type=float, default=0.2, help="share of games against past selves")
    add("--snapshot-every", type=positive, default=20, help="updates between two past selves")
    add("--league", type=positive, default=12, help="number of past selves kept")
    add("--window", type=positive, default=50, help="updates whose results count for players")
    add("--opponents", nargs="*", default=["greedy"], help="fixed opponents, as beam:nodes=100")
    add("--fixed", type=float, default=0.1, help="share of games against fixed opponents")
    add("--yardsticks", nargs="*", default=["random", "osl", "greedy"], help="test opponents")
    add("--evaluate-every", type=positive, default=50, help="updates between two tests")
    add("--games", type=positive, default=400, help="games per test, on card sets never trained on")
    add(
        "--checkpoint-every",
        type=positive,
        default=50,
        help="updates per checkpoint; games restart",
    )
    add("--from", dest="start", help="initial policy: a file, such as one of clone.py, or learned")
    add("--bfloat16", action=flag, default=False, help="bfloat16: slow without AMX or AVX512-BF16")
    add("--compile", action=flag, default=False, help="use torch.compile: a slow start")
    add("--threads", type=positive, default=1, help="threads per process; processes are faster")
    add("--tensorboard", action=flag, default=True, help="write files of TensorBoard")
    add("--wandb", metavar="PROJECT", help="log to Weights & Biases too")
    return parser


def train_seeds(options, *networks):
    """Train once, or with several seeds in folders of their own; draw the mean of their curves."""
    if options.seeds <= 1:
        return train(options, *networks)
    folder, first = Path(options.folder), os.environ.get("RANK", "0") == "0"
    for seed in range(options.seed, options.seed + options.seeds):
        part = argparse.Namespace(**vars(options))
        part.seed, part.folder = seed, str(folder / f"seed-{seed}")
        if first:
            print(f"seed {seed}: {part.folder}", flush=True)
        train(part, *networks)
    if first:
        draw_curves(folder, range(options.seed, options.seed + options.seeds))
    return None


def draw_curves(folder, seeds):
    """Write the mean and the range over seeds of each `win_*` as curves.csv and, if Matplotlib is
    there, curves.svg; print the last ones."""
    runs = []
    for seed in seeds:
        with (folder / f"seed-{seed}" / "log.csv").open(newline="") as file:
            runs.append({int(row["step"]): row for row in csv.DictReader(file)})
    names = [name for name in next(iter(runs[0].values())) if name.startswith("win_")]
    names = [name for name in names if not name.endswith(("_low", "_high"))]
    rows = []
    for step in sorted(set.intersection(*(set(run) for run in runs))):
        for name in names:
            rates = [float(run[step][name]) for run in runs if run[step][name]]
            if len(rates) == len(runs):
                rows.append((step, name, np.mean(rates), min(rates), max(rates)))
    with (folder / "curves.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("step", "name", "mean", "lowest", "highest"), *rows])
    for step, name, mean, low, high in rows[-len(names) :]:
        print(f"{name} after {step:,} steps: {mean:.3f}, {low:.3f} to {high:.3f} over the seeds")
    try:
        import matplotlib
    except ImportError:
        return print("no curves.svg without Matplotlib: pip install matplotlib")
    matplotlib.use("svg")
    from matplotlib import pyplot

    for name in names:
        steps, means, lows, highs = zip(*[(s, m, a, b) for s, n, m, a, b in rows if n == name],
                                        strict=True)  # fmt: skip
        pyplot.plot(steps, means, label=name.removeprefix("win_"))
        pyplot.fill_between(steps, lows, highs, alpha=0.2)
    pyplot.xlabel("steps")
    pyplot.ylabel("share of games won: mean and range over seeds")
    pyplot.legend()
    pyplot.savefig(folder / "curves.svg")
    pyplot.close()
    return None


@contextlib.contextmanager
def one_line():
    """Say in one line that Ctrl-C has ended what runs here."""
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit("stopped: --resume continues from the last checkpoint, if any") from None


if __name__ == "__main__":
    with one_line():
        train_seeds(arguments().parse_args())
