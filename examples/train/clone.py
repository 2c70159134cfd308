"""Learn from examples what `locmsim dataset` wrote: the actions of a search, and who won.

locmsim dataset beam:nodes=200 --games 20000 -o examples.npz
python clone.py examples.npz --out clone.npz
python ppo.py --start clone.npz --rate 5e-4 --entropy 0.004
"""

import argparse
import time

import numpy as np
import torch
from ppo import Net, masked
from torch.nn import functional


def clone(path, *, epochs=3, rate=1.5e-3, seed=1, log=print):
    """The network that imitates the examples of a file, and how often it does on others."""
    torch.manual_seed(seed)
    with np.load(path) as file:
        data = {name: torch.from_numpy(file[name]) for name in ("obs", "mask", "action", "result")}
        rules, layout = str(file["rules"]), str(file["layout"])
    if layout != "entities":
        raise SystemExit(f"{path}: expected layout entities, got {layout}")
    net = Net(rules)
    n = len(data["action"])
    held = max(1, n // 50)
    order = torch.randperm(n)
    test, train = order[:held], order[held:]
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    batches = epochs * (len(train) // 2048 + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=batches + 1)
    started = time.perf_counter()
    for epoch in range(epochs):
        for rows in train[torch.randperm(len(train))].split(2048):
            logits, value = net(data["obs"][rows])
            loss = functional.cross_entropy(
                masked(logits, data["mask"][rows]), data["action"][rows].long()
            )
            loss = loss + 0.5 * functional.mse_loss(value, data["result"][rows].float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            logits, _ = net(data["obs"][test])
            equal = (masked(logits, data["mask"][test]).argmax(1) == data["action"][test]).float()
        log(
            f"{time.perf_counter() - started:5.0f} s  epoch {epoch + 1}:"
            f" {100 * equal.mean():.1f} % of other actions are the same"
        )
    return net, float(equal.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("examples", help="a file that `locmsim dataset` wrote")
    parser.add_argument("--out", default="clone.npz")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    net, equal = clone(options.examples, epochs=options.epochs, seed=options.seed)
    net.policy(f"cloned, {100 * equal:.1f} % of actions equal").save(options.out)
