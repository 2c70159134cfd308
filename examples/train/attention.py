"""Train a network of another kind, with attention over cards, and export it as ONNX.

locmsim dataset beam:nodes=3000,time_ms=0,belief=any --games 2000 -o examples.npz
python attention.py examples.npz --output attention.onnx
locmsim arena policy:path=attention.onnx greedy random --mode gauntlet --games 400

Each card in hand and on the board is a token, and so is the rest of the position. The product of
two tokens gives the logit of the action that involves both. The exported file names its observation
layout; playing it needs onnxruntime, but not this script.
"""

import argparse
import time
from pathlib import Path

import numpy as np

try:
    import onnx
    import torch
    from clone import load
    from torch import nn
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim.policy import get_layout, load_policy

WIDTH, HEADS, BLOCKS = 64, 4, 2
BATCH = 512


class Block(nn.Module):
    """A transformer block: attention over all tokens, then a layer on each token."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.look = nn.Linear(WIDTH, 3 * WIDTH)
        self.join = nn.Linear(WIDTH, WIDTH)
        self.inner = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x, absent):
        parts = self.look(self.norm1(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]  # (rows, heads, tokens, width of a head)
        seen = query @ key.transpose(-1, -2) * (WIDTH / HEADS) ** -0.5 + absent
        x = x + self.join((seen.softmax(-1) @ value).transpose(1, 2).flatten(2))
        return x + self.inner(self.norm2(x))


class Attention(nn.Module):
    """The network: logits and values for observations of layout "entities" with two lanes."""

    def __init__(self, rules):
        super().__init__()
        self.register_buffer("scale", torch.tensor(get_layout("entities", rules).scale))
        self.hand, self.own, self.enemy, self.rest = (nn.Linear(n, WIDTH) for n in (24, 16, 16, 56))
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(WIDTH)
        self.summon = nn.Linear(WIDTH, 2)  # into each lane
        self.use, self.target, self.attack, self.victim = (nn.Linear(WIDTH, WIDTH) for _ in "1234")
        self.pass_, self.value = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)

    def forward(self, observations):
        x = observations.float() / self.scale
        hand = x[:, 24:216].unflatten(1, (8, 24))
        own, enemy = (x[:, start : start + 96].unflatten(1, (6, 16)) for start in (216, 312))
        rest = torch.cat([x[:, :24], x[:, 408:]], 1)[:, None]
        cards = [self.hand(hand), self.own(own), self.enemy(enemy), self.rest(rest)]
        there = [part[:, :, 0] for part in (hand, own, enemy)]  # each card begins with "present"
        absent = torch.cat([*there, torch.ones_like(rest[:, :, 0])], 1)
        absent = (1 - absent)[:, None, None] * -1e4
        tokens = torch.cat(cards, 1)
        for block in self.blocks:
            tokens = block(tokens, absent)
        tokens = self.norm(tokens)
        hand, own, enemy, rest = tokens.split([8, 6, 6, 1], 1)
        use = self.use(hand) @ self.target(torch.cat([rest, own, enemy], 1)).transpose(1, 2)
        attack = self.attack(own) @ self.victim(torch.cat([rest, enemy], 1)).transpose(1, 2)
        left, right = attack[:, :3, :4], attack[:, 3:, [0, 4, 5, 6]]  # those in the same lane
        use, left, right = (part.flatten(1) * WIDTH**-0.5 for part in (use, left, right))
        rest = rest[:, 0]
        logits = [self.pass_(rest), self.summon(hand).flatten(1), use, left, right]
        return torch.cat(logits, 1), torch.tanh(self.value(rest))[:, 0]


def train(data, net, options):
    """Train on actions and results; return the share of held-out actions that agree."""
    n = len(data["action"])
    rows = torch.arange(n)[
        data["mask"].sum(1, dtype=torch.int16) > 1
    ]  # with more than one legal action
    held, rows = rows[-len(rows) // 50 :], rows[: -len(rows) // 50]
    optimizer = torch.optim.AdamW(net.parameters(), lr=options.rate)
    batches = options.epochs * -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=batches + 1)
    started, equal = time.process_time(), 0.0

    def ratings(rows):
        logits, value = net(data["obs"][rows])
        return logits.masked_fill(data["mask"][rows] == 0, -1e9), value

    for epoch in range(1, options.epochs + 1):
        for part in rows[torch.randperm(len(rows))].split(BATCH):
            logits, value = ratings(part)
            loss = functional.cross_entropy(logits, data["action"][part].long())
            loss = loss + 0.5 * functional.mse_loss(value, data["result"][part].float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            found = [ratings(part)[0].argmax(1) == data["action"][part] for part in held.split(512)]
        equal, seconds = float(torch.cat(found).float().mean()), time.process_time() - started
        print(f"{seconds:5.0f} s  epoch {epoch}: {100 * equal:.1f} % of held-out actions agree",
              flush=True)  # fmt: skip
    return equal


def export(net, path, rules, seen):
    """Write the ONNX file; return the largest difference of its logits from the network's."""
    dynamic = ({0: torch.export.Dim("rows", min=2)},)
    torch.onnx.export(
        net.eval(), (seen,), path, input_names=["observation"], output_names=["logits", "value"],
        dynamic_shapes=dynamic, dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {"locmsim.rules": rules, "locmsim.layout": "entities"})
    onnx.save(model, path)
    with torch.no_grad():
        ours = net(seen)[0].numpy()
    return float(np.abs(load_policy(path).evaluate(seen.numpy())[0] - ours).max())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("examples", nargs="+", help="files that `locmsim dataset` wrote")
    parser.add_argument("-o", "--output", default="attention.onnx", help="ONNX file to write")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--epochs", type=int, default=3, help="epochs over the examples")
    parser.add_argument("--rate", type=float, default=1e-3, help="highest learning rate")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    parser.add_argument(
        "--seeds", type=int, default=1, help="train with this many seeds: attention-1.onnx, ..."
    )
    return parser


def main():
    options = arguments().parse_args()
    torch.set_num_threads(options.threads)
    data, rules, _ = load(options.examples)
    if rules == "1.0":
        raise SystemExit("expected examples of rules with two lanes, got rules 1.0")
    path, seeds = Path(options.output), range(options.seed, options.seed + options.seeds)
    paths = [path.with_stem(f"{path.stem}-{seed}") if options.seeds > 1 else path for seed in seeds]
    for there in filter(Path.exists, () if options.force else paths):
        raise SystemExit(f"{there} exists: --force replaces it, or choose another --output")
    for seed, output in zip(seeds, paths, strict=True):
        torch.manual_seed(seed)
        net = Attention(rules)
        train(data, net, options)
        difference = export(net, output, rules, data["obs"][:64].float())
        numbers = sum(parameter.numel() for parameter in net.parameters())
        print(f"{output}: {numbers:,} parameters, largest difference {difference:.2g}")


if __name__ == "__main__":
    main()
