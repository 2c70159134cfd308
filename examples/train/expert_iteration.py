"""Expert iteration: a network plays itself with a tree search and learns from the results.

    python expert_iteration.py --folder runs/expert --from runs/first/policy.npz
    locmsim arena policy:path=runs/expert/policy.npz learned --games 400

Each round plays a number of games of self-play. Both players search (`locmsim.search.PolicySearch`
with Gumbel noise), and all games advance in step, so that one call of the network serves them all.
Then the network's policy learns from the improved policies of the searches and from the wins found
within a turn; its value learns from the results of the games. The folder holds the policy of each
round, the checkpoint and `log.csv`; the same command with `--resume` continues after the last
round. The network, the league and the checkpoints come from `ppo.py` in this folder.
"""

import argparse
import time
from pathlib import Path

import numpy as np

try:
    import torch
    from ppo import (
        League,
        Net,
        find_device,
        keep_lines,
        load_checkpoint,
        load_start,
        masked,
        one_line,
        save_checkpoint,
        write_lines,
    )
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim import Match
from locmsim.agents.base import BelievingAgent
from locmsim.policy import Policy
from locmsim.policy.tracker import PlayerTracker
from locmsim.search import BeamOptions, BeamSearch, PolicySearch, SearchPosition
from locmsim.tuning.evaluate import evaluate

#: Maximum number of positions in the search for a win within a turn.
WIN_NODES = 5_000


class Seat(BelievingAgent):
    """A player of a game, with their deck and belief."""

    def act(self, observation):
        raise NotImplementedError("turns are searched, see `Game`")


class Game:
    """A match played action by action, and the examples collected from it."""

    def __init__(self, seed, decks, wins):
        self.match, self.wins = Match(seed=seed), wins
        self.seats = [Seat(deck=decks) for _ in range(2)]
        self.trackers = [PlayerTracker(), PlayerTracker()]
        self.examples = []  # observation, mask, policy, player
        for player, seat in enumerate(self.seats):
            self.match.submit(player, seat.choose(self.match.observation(player)))
        self.next_turn()

    def next_turn(self):
        """Start the next turn in which there is something to decide."""
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
                if self.play_win():
                    return
            self.match.submit(self.player, ";".join(self.texts) or "PASS")

    def play_win(self):
        """Play a win if one was found; return whether the turn has more to decide by search."""
        for action in self.plan:
            policy = np.zeros(self.view.n_actions, np.float32)
            policy[action] = 1
            self.record(policy)
            self.apply(action)
        return not self.plan and not self.view.over and len(self.state.legal_actions()) > 1

    def record(self, policy):
        seen, mask = np.empty(440, np.int8), np.empty(self.view.n_actions, np.int8)
        self.view.observe("entities", seen, mask)
        self.examples.append((seen, mask, policy.astype(np.float32), self.player))

    def apply(self, action):
        self.texts.append(self.state.action_to_string(action))
        self.state.apply_action(action)
        self.view.apply(action)
        self.done.append(action)

    def position(self):
        """Return the position to search."""
        belief = self.seats[self.player].belief
        return SearchPosition(self.observation, belief, tuple(self.done), self.view)

    def answer(self, result):
        """Play the action that a search found, and record its policy."""
        self.record(result.policy)
        if result.action:
            self.apply(result.action)
            if self.play_win():
                return
        self.match.submit(self.player, ";".join(self.texts) or "PASS")
        self.next_turn()


class Batches:
    """The network as an evaluator: the leaves of all trees form one batch on its device."""

    layout = "entities"

    def __init__(self, net, device):
        self.net, self.device, self.rules = net, device, net.rules

    @torch.no_grad()
    def evaluate(self, observations):
        seen = torch.from_numpy(np.ascontiguousarray(observations)).to(self.device)
        logits, values = self.net(seen)
        return logits.float().cpu().numpy(), values.float().cpu().numpy()


def self_play(net, options, number, device):
    """Play a round; return observations, masks, improved policies and results."""
    # One core runs the compiled network row by row about as fast as PyTorch in batches.
    evaluator = net.policy() if device.type == "cpu" else Batches(net, device)
    search = PolicySearch(
        evaluator, options.simulations, noise=options.noise, considered=options.considered,
        value_scale=options.value_scale, exploration=options.exploration, mix=options.mix,
    )  # fmt: skip
    wins = BeamSearch(BeamOptions(width=64, worlds=1, plans=1)).prepare(options.rules)
    random = np.random.default_rng((options.seed, number))
    seeds = iter(random.integers(1 << 62, size=options.games).tolist())
    playing, parts, step, first = [], [], 0, 0
    while True:
        for seed in seeds:
            playing.append(Game(seed, options.decks, wins))
            if len(playing) == options.concurrent_games:
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
    """Train some epochs on the examples; return the mean losses of policy and value."""
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
    """Play and learn for all rounds; return the network."""
    device, folder = find_device(options.device), Path(options.folder)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    net = Net(options.rules).to(device)
    initial = load_start(net, options.start, options.rules)
    optimizer = torch.optim.Adam(net.parameters(), lr=options.rate)
    league, number, recent = League(options.league), 0, []
    path = folder / "checkpoint.pt"
    identity = {"search": options.simulations, "seed": options.seed, "games": options.games}
    if path.exists():
        if not options.resume:
            raise SystemExit(f"{path} exists: continue with --resume, or choose another --folder")
        content = load_checkpoint(path, identity)
        net.load_state_dict(content["net"])
        optimizer.load_state_dict(content["optimizer"])
        league.load_state_dict(content["league"])
        number, recent = content["number"], content["recent"]
        if number >= options.rounds:
            print(f"{folder}: finished after {number} rounds, nothing was changed.")
            print("To go on: more --rounds.")
            return net
    else:
        league.add("start", initial)
    folder.mkdir(parents=True, exist_ok=True)
    keep_lines(folder / "log.csv", number, "round")
    while number < options.rounds:
        started = time.perf_counter()
        # Each round has a stream of its own, so that a run that was resumed ends like any other.
        torch.manual_seed((options.seed << 20) + number)
        data, first = self_play(net, options, number, device)
        played = time.perf_counter()
        recent = [*recent, data][-options.window :]
        joined = [torch.cat(columns) for columns in zip(*recent, strict=True)]
        actor, critic = learn(net, optimizer, joined, options, device)
        number += 1
        policy = net.policy(
            f"{initial.meta.get('training', '')}; {number * options.games} games of search"
        )
        policy.save(folder / "policy.npz")
        policy.save(folder / f"round-{number}.npz")
        row = {
            "round": number, "games": number * options.games, "positions": len(data[0]),
            "policy_loss": round(actor, 4), "value_loss": round(critic, 4),
            "first_player": round(first, 3), "play_seconds": round(played - started, 1),
            "learn_seconds": round(time.perf_counter() - played, 1),
        }  # fmt: skip
        results = {}
        for name, past in league.past.items() if options.test_games else ():
            # Past selves in the league play with a temperature; here both sides play their best.
            other = Policy(past.arrays, past.meta)
            rate = evaluate(policy, other, games=options.test_games, decks=options.decks)
            results[name] = rate.won, rate.games
            if name == "start":
                row |= {"against_start": round(rate.rate, 4)}
                row |= {"low": round(rate.low, 4), "high": round(rate.high, 4)}
        league.count(results)
        write_lines(folder / "log.csv", [row])
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        league.add(f"round-{number}", net.policy())
        save_checkpoint(path, {
            "identity": identity, "net": net.state_dict(), "optimizer": optimizer.state_dict(),
            "league": league.state_dict(), "number": number, "recent": recent,
        })  # fmt: skip
    return net


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--folder", default="runs/expert", help="folder of the policy, checkpoint and log")
    add(
        "--resume",
        action="store_true",
        help="continue from the checkpoint in the folder, if any",
    )
    add("--from", dest="start", default="learned", help="initial policy: a file, or learned")
    add("--rounds", type=int, default=3, help="number of rounds")
    add("--games", type=int, default=1000, help="games of self-play per round")
    add("--concurrent-games", type=int, default=64, help="games played in step")
    add("--decks", default="default", help="deck builder of both players")
    add("--rules", default="1.5", choices=("1.5",), help="rule set")
    add("--simulations", type=int, default=32, help="simulations per decision")
    add("--noise", type=float, default=1.0, help="scale of the Gumbel noise at the root")
    add("--considered", type=int, default=8, help="actions compared at the root")
    add("--exploration", type=float, default=0.3, help="exploration constant of the search")
    add("--value-scale", type=float, default=0.4, help="weight of values in improved policies")
    add("--mix", type=float, default=0.5, help="weight of the package's value network in values")
    add("--window", type=int, default=3, help="number of recent rounds to learn from")
    add("--epochs", type=int, default=2, help="epochs over these rounds after each round")
    add("--batch", type=int, default=512, help="batch size")
    add("--rate", type=float, default=2e-4, help="learning rate")
    add("--value-weight", type=float, default=0.5, help="weight of the value loss")
    add("--league", type=int, default=4, help="number of past selves to test against")
    add("--test-games", type=int, default=400, help="games per past self after a round; 0: none")
    add("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"), help="PyTorch device")
    add("--threads", type=int, default=1, help="threads of PyTorch")
    add("--seed", type=int, default=1, help="seed of all random numbers")
    return parser


if __name__ == "__main__":
    with one_line():
        train(arguments().parse_args())
