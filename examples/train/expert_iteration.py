"""Expert iteration: a network plays itself with a tree search and learns from what that finds.

    python expert_iteration.py --folder runs/expert --from runs/first/policy.npz
    locmsim arena policy:path=runs/expert/policy.npz learned --games 400

A round is so many games of self-play. Both players search (`locmsim.search.PolicySearch`, with
Gumbel noise), all games in step, so that one call of the network serves them all. Then the
policy of the network learns the improved policies of the searches and the wins that the search
for wins within a turn has found; its value learns who has won. The folder has the policy of each
round, the checkpoint and `log.csv`; the same command with `--resume` goes on after the last round.
The network, the league and the checkpoints are those of `ppo.py` beside this file.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import torch
from ppo import League, Net, find_device, load_checkpoint, masked, save_checkpoint
from torch.nn import functional

from locmsim import Match
from locmsim.agents.base import BelievingAgent
from locmsim.agents.learned import shipped_policy
from locmsim.envs.evaluate import evaluate
from locmsim.policy import Policy
from locmsim.policy.tracker import PlayerTracker
from locmsim.search import BeamOptions, BeamSearch, PolicySearch, SearchPosition

#: Positions that the search for a win in a turn makes, at most.
WIN_NODES = 5_000


class Seat(BelievingAgent):
    """A player of a game: their deck, and what they know."""

    def act(self, observation):
        raise NotImplementedError("turns are searched, see `Game`")


class Game:
    """A match in which both players are asked action by action, and what is learnt from it."""

    def __init__(self, seed, decks, wins):
        self.match, self.wins = Match(seed=seed), wins
        self.seats = [Seat(deck=decks) for _ in range(2)]
        self.trackers = [PlayerTracker(), PlayerTracker()]
        self.examples = []  # observation, mask, policy, player
        for player, seat in enumerate(self.seats):
            self.match.submit(player, seat.choose(self.match.observation(player)))
        self.begin()

    def begin(self):
        """Begin the next turn that has something to decide."""
        while self.match.to_ask:
            (self.player,) = self.match.to_ask
            belief = self.seats[self.player].belief
            self.observation = self.match.observation(self.player)
            belief.see(self.observation)
            tracker = self.trackers[self.player]
            self.state, self.view = tracker.view(self.observation, belief)
            self.done, self.texts, self.plan = [], [], []
            if not self.state.is_terminal():
                self.plan = self.wins.find_win(belief.root(), WIN_NODES) or []
                if self.go_on():
                    return
            self.match.submit(self.player, ";".join(self.texts) or "PASS")

    def go_on(self):
        """Play the win if there is one; whether there is something to search for."""
        for action in self.plan:
            policy = np.zeros(self.view.n_actions, np.float32)
            policy[action] = 1
            self.learn(policy)
            self.take(action)
        return not self.plan and not self.view.over and len(self.state.legal_actions()) > 1

    def learn(self, policy):
        seen, mask = np.empty(440, np.int8), np.empty(self.view.n_actions, np.int8)
        self.view.observe("entities", seen, mask)
        self.examples.append((seen, mask, policy.astype(np.float32), self.player))

    def take(self, action):
        self.texts.append(self.state.action_to_string(action))
        self.state.apply_action(action)
        self.view.apply(action)
        self.done.append(action)

    def position(self):
        """What is to be searched."""
        belief = self.seats[self.player].belief
        return SearchPosition(self.observation, belief, tuple(self.done), self.view)

    def answer(self, result):
        """Take what a search found, and learn from it."""
        self.learn(result.policy)
        if result.action:
            self.take(result.action)
            if self.go_on():
                return
        self.match.submit(self.player, ";".join(self.texts) or "PASS")
        self.begin()


class Batches:
    """The network as an evaluator: leaves of all trees are one batch on its device."""

    layout = "entities"

    def __init__(self, net, device):
        self.net, self.device, self.rules = net, device, net.rules

    @torch.no_grad()
    def evaluate(self, observations):
        seen = torch.from_numpy(np.ascontiguousarray(observations)).to(self.device)
        logits, values = self.net(seen)
        return logits.float().cpu().numpy(), values.float().cpu().numpy()


def self_play(net, options, number, device):
    """Examples of a round: observations, masks, improved policies, results."""
    # One core runs the compiled network row by row about as fast as PyTorch in batches.
    evaluator = net.policy() if device.type == "cpu" else Batches(net, device)
    search = PolicySearch(
        evaluator, options.simulations, noise=options.noise, considered=options.considered,
        value_scale=options.value_scale, exploration=options.exploration, mix=options.mix,
    )  # fmt: skip
    wins = BeamSearch(BeamOptions(width=64, worlds=1, plans=1)).prepare(options.rules)
    seeds = iter(
        range(options.seed + number * options.games, options.seed + (number + 1) * options.games)
    )
    playing, parts, step, first = [], [], 0, 0
    while True:
        for seed in seeds:
            playing.append(Game(seed, options.decks, wins))
            if len(playing) == options.together:
                break
        over = [game for game in playing if not game.match.to_ask]
        for game in over:
            for seen, mask, policy, player in game.examples:
                parts.append((seen, mask, policy, 1.0 if game.match.winner == player else -1.0))
            first += game.match.winner == 0
        playing = [game for game in playing if game.match.to_ask]
        if not playing:
            break
        step += 1
        seed = (number << 32) + (options.seed << 20) + step
        results = search.search_many([game.position() for game in playing], seed=seed)
        for game, result in zip(playing, results, strict=True):
            game.answer(result)
    columns = zip(*parts, strict=True)
    return [torch.from_numpy(np.array(column)) for column in columns], first / options.games


def learn(net, optimizer, data, options, device):
    """Some epochs over the examples; the means of the two losses."""
    seen, masks, policies, results = (part.to(device) for part in data)
    results = results.float()
    sums = np.zeros(2)
    for _ in range(options.epochs):
        for rows in torch.randperm(len(seen)).split(options.batch):
            logits, values = net(seen[rows])
            logs = functional.log_softmax(masked(logits, masks[rows]), 1)
            actor = -(policies[rows] * logs).sum(1).mean()
            critic = ((values - results[rows]) ** 2).mean()
            optimizer.zero_grad()
            (actor + options.value_weight * critic).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            sums += len(rows) * np.array([actor.item(), critic.item()])
    return sums / (options.epochs * len(seen))


def train(options):
    """The rounds; the network."""
    device, folder = find_device(options.device), Path(options.folder)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    begin = shipped_policy() if options.begin_with == "learned" else Policy.load(options.begin_with)
    net = Net(options.rules).to(device)
    net.take(begin)
    optimizer = torch.optim.Adam(net.parameters(), lr=options.rate)
    league, number, kept = League(options.league), 0, []
    path = folder / "checkpoint.pt"
    identity = {"search": options.simulations, "seed": options.seed, "games": options.games}
    if path.exists():
        if not options.resume:
            raise SystemExit(f"{path} exists: continue with --resume, or choose another --folder")
        content = load_checkpoint(path, identity)
        net.load_state_dict(content["net"])
        optimizer.load_state_dict(content["optimizer"])
        league.load_state_dict(content["league"])
        number, kept = content["number"], content["kept"]
    else:
        league.add("begin", begin)
    folder.mkdir(parents=True, exist_ok=True)
    while number < options.rounds:
        started = time.perf_counter()
        data, first = self_play(net, options, number, device)
        played = time.perf_counter()
        kept = [*kept, data][-options.window :]
        joined = [torch.cat(columns) for columns in zip(*kept, strict=True)]
        actor, critic = learn(net, optimizer, joined, options, device)
        number += 1
        policy = net.policy(
            f"{begin.meta.get('training', '')}; {number * options.games} games of search"
        )
        policy.save(folder / "policy.npz")
        policy.save(folder / f"round-{number}.npz")
        row = {
            "round": number, "games": number * options.games, "positions": len(data[0]),
            "policy_loss": round(actor, 4), "value_loss": round(critic, 4),
            "first_player": round(first, 3), "play_seconds": round(played - started, 1),
            "learn_seconds": round(time.perf_counter() - played, 1),
        }  # fmt: skip
        for name, past in league.past.items() if options.test_games else ():
            # Past selves of a league play with a temperature, here both sides play their best.
            other = Policy(past.arrays, past.meta)
            rate = evaluate(policy, other, games=options.test_games, decks=options.decks)
            league.count({name: (rate.won, rate.games)})
            if name == "begin":
                row |= {"against_begin": round(rate.rate, 4)}
                row |= {"low": round(rate.low, 4), "high": round(rate.high, 4)}
        with (folder / "log.csv").open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        league.add(f"round-{number}", net.policy())
        save_checkpoint(path, {
            "identity": identity, "net": net.state_dict(), "optimizer": optimizer.state_dict(),
            "league": league.state_dict(), "number": number, "kept": kept,
        })  # fmt: skip
    return net


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--folder", default="runs/expert", help="for the policy, the checkpoint and the log")
    add(
        "--resume",
        action="store_true",
        help="continue from the checkpoint in the folder, if there is one",
    )
    add("--from", dest="begin_with", default="learned", help="a policy to begin with, or learned")
    add("--rounds", type=int, default=3)
    add("--games", type=int, default=1000, help="of self-play in a round")
    add("--together", type=int, default=64, help="games that are played in step")
    add("--decks", default="default", help="a deck builder, for both players")
    add("--rules", default="1.5", choices=("1.5",))
    add("--simulations", type=int, default=32, help="of a decision")
    add("--noise", type=float, default=1.0, help="Gumbel noise at the root: how much is explored")
    add("--considered", type=int, default=8, help="actions that are compared at the root")
    add("--exploration", type=float, default=0.3)
    add("--value-scale", type=float, default=0.4)
    add("--mix", type=float, default=0.5, help="part of the values from the package's network")
    add("--window", type=int, default=3, help="rounds that are learnt from")
    add("--epochs", type=int, default=2, help="over them after each round")
    add("--batch", type=int, default=512)
    add("--rate", type=float, default=2e-4, help="of learning")
    add("--value-weight", type=float, default=0.5)
    add("--league", type=int, default=4, help="past selves that are kept and played against")
    add("--test-games", type=int, default=400, help="against each of them after a round; 0: none")
    add("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"))
    add("--threads", type=int, default=1)
    add("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    train(arguments().parse_args())
