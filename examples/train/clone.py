"""Train a network to imitate the examples of `locmsim dataset`: a search's actions and results.

locmsim dataset beam:nodes=3000,time_ms=0,belief=any --games 20000 -o examples.npz
python clone.py examples.npz --output clone.npz
python ppo.py --from clone.npz --rate 5e-4 --entropy 0.004
"""

import argparse
import time
import zipfile
from pathlib import Path

import numpy as np

try:
    import torch
    from ppo import Net, load_start, masked, precision
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim.policy import get_layout

BATCH = 2048


class Mirror:
    """Swaps the lanes of a position and its actions: the rules treat both lanes alike."""

    def __init__(self, rules):
        layout = get_layout("entities", rules)
        size = layout.shape[0]
        places = np.arange(size)
        for block in layout.blocks:
            if block.name in ("own_board", "enemy_board"):
                part = slice(block.start, block.start + block.size)
                places[part] = np.roll(places[part].reshape(2, -1), 1, axis=0).ravel()
        self.places = torch.from_numpy(places)
        names = layout.names
        self.lanes = torch.tensor(
            [i for i, name in enumerate(names) if name.endswith(".lane1") and "board" in name]
        )
        self.present = torch.tensor([names.index(names[i][:-5] + "present") for i in self.lanes])
        slots = np.roll(np.arange(6), 3)
        targets = np.concatenate([[0], 1 + slots, 7 + slots])
        summons = 1 + (np.arange(16).reshape(8, 2)[:, ::-1]).ravel()
        uses = (17 + 13 * np.arange(8)[:, None] + targets).ravel()
        attacks = (121 + 4 * slots[:, None] + np.arange(4)).ravel()
        self.actions = torch.from_numpy(np.concatenate([[0], summons, uses, attacks]))

    def observations(self, obs):
        obs = obs[:, self.places]
        obs[:, self.lanes] = obs[:, self.present] - obs[:, self.lanes]
        return obs


def load(paths):
    """Return the examples of all files, their rule set and their players."""
    parts, rules, sources = [], set(), set()
    for path in paths:
        try:
            with np.load(path) as file:
                found = {name: str(file[name]) for name in ("layout", "rules", "source")}
                parts.append({name: file[name] for name in ("obs", "mask", "action", "result")})
        except OSError as error:
            raise SystemExit(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, zipfile.BadZipFile):
            raise SystemExit(f"{path}: no examples of `locmsim dataset`") from None
        if found["layout"] != "entities":
            raise SystemExit(f"{path}: expected layout entities, got {found['layout']}")
        rules.add(found["rules"])
        sources.add(found["source"])
    if len(rules) > 1:
        raise SystemExit(f"examples of different rules: {', '.join(sorted(rules))}")
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    data = {name: torch.from_numpy(array) for name, array in joined.items()}
    return data, rules.pop(), " and ".join(sorted(sources))


def clone(options, log=print):
    """Train on files of examples; return the network and a description of its training."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    data, rules, sources = load(options.examples)
    net = Net(rules)
    if options.start:
        load_start(net, options.start, rules, "--start")
    mirror = None if rules == "1.0" else Mirror(rules)
    n = len(data["action"])
    held = max(1, n // 50)
    # Whole games at the end are held out: positions of one game are too similar.
    test, train = torch.arange(n - held, n), torch.arange(n - held)
    # Where PASS is the only action there is nothing to learn.
    train, test = (rows[data["mask"][rows].sum(1, dtype=torch.int16) > 1] for rows in (train, test))
    optimizer = torch.optim.Adam(net.parameters(), lr=options.rate)
    batches = options.epochs * -(-len(train) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=batches + 1)
    started = time.process_time()
    for epoch in range(options.epochs):
        # Every other batch is mirrored, a different half in each epoch.
        for number, rows in enumerate(train[torch.randperm(len(train))].split(BATCH)):
            obs, mask, action = (data[name][rows] for name in ("obs", "mask", "action"))
            action = action.long()
            if mirror is not None and number % 2:
                obs, mask, action = (
                    mirror.observations(obs), mask[:, mirror.actions], mirror.actions[action],
                )  # fmt: skip
            with precision(options.bfloat16):
                logits, value = net(obs)
            loss = functional.cross_entropy(masked(logits.float(), mask), action)
            loss = loss + 0.5 * functional.mse_loss(value.float(), data["result"][rows].float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            logits, value = net(data["obs"][test])
            equal = (masked(logits, data["mask"][test]).argmax(1) == data["action"][test]).float()
            equal = float(equal.mean())
            error = functional.mse_loss(value, data["result"][test].float())
        log(
            f"{time.process_time() - started:5.0f} s  epoch {epoch + 1}:"
            f" {100 * equal:.1f} % of held-out actions agree, value loss {error:.3f}"
        )
    training = f"cloned {len(data['action'])} actions of {sources}, {100 * equal:.1f} % agree"
    return net, f"{training}, seed {options.seed}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("examples", nargs="+", help="files that `locmsim dataset` wrote")
    parser.add_argument("-o", "--output", default="clone.npz", help="policy file to write")
    parser.add_argument("--force", action="store_true", help="replace a policy that exists")
    parser.add_argument("--start", help="initial policy: a file, or learned")
    parser.add_argument("--epochs", type=int, default=6, help="epochs over the examples")
    parser.add_argument("--rate", type=float, default=2e-3, help="highest learning rate")
    parser.add_argument(
        "--bfloat16", action="store_true", help="bfloat16: slow without AMX or AVX512-BF16"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    parser.add_argument(
        "--seeds", type=int, default=1, help="train with this many seeds: clone-1.npz, clone-2.npz"
    )
    return parser


if __name__ == "__main__":
    options = arguments().parse_args()
    path, seeds = Path(options.output), range(options.seed, options.seed + options.seeds)
    several = options.seeds > 1
    paths = [path.with_stem(f"{path.stem}-{seed}") if several else path for seed in seeds]
    for there in filter(Path.exists, () if options.force else paths):
        raise SystemExit(f"{there} exists: --force replaces it, or choose another --output")
    for options.seed, output in zip(seeds, paths, strict=True):
        net, training = clone(options)
        net.policy(training).save(output)
