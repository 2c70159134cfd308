"""Train on a Ray cluster with PPO of RLlib, whose workers play battles on all machines.

    python rllib.py --jobs 2 --iterations 50 --output rllib.npz        # Ray on this machine
    python rllib.py --address auto --jobs 200 --output rllib.npz       # this machine's cluster
    locmsim arena policy:path=rllib.npz random --games 200

`ray[rllib]` pins its own version of Gymnasium, so install it in a separate virtual environment. A
worker that dies is replaced, and training continues. The result is a plain network saved as a
`Policy`: playing it needs neither Ray nor PyTorch.
"""

import argparse
import os

try:
    import gymnasium as gym
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core import Columns
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.tune.registry import register_env
    from torch import nn
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'ray[rllib]' torch") from None

from locmsim.policy import Policy, get_layout

LAYOUT = "entities-f32"


def network(inputs, outputs, units=192):
    return nn.Sequential(
        nn.Linear(inputs, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh(),
        nn.Linear(units, outputs),
    )  # fmt: skip


class Masked(TorchRLModule, ValueFunctionAPI):
    """Two plain networks; illegal actions get probability zero."""

    def setup(self):
        inputs = self.observation_space["observation"].shape[0]
        self.policy, self.values = network(inputs, self.action_space.n), network(inputs, 1)

    def _forward(self, batch, **_):
        seen = batch[Columns.OBS]
        logits = self.policy(seen["observation"])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, -1e9)}

    def compute_values(self, batch, embeddings=None):
        return self.values(batch[Columns.OBS]["observation"])[:, 0]


def battle(config):
    return gym.make("locmsim.envs:locmsim/Battle-v0", layout=LAYOUT, **config)


def configuration(workers, rules="1.5", opponent="osl", steps=8192):
    """Build PPO with a number of workers, 16 battles each, and of steps per iteration."""
    register_env("locmsim-battle", battle)
    return (
        PPOConfig()
        .environment("locmsim-battle", env_config={"rules": rules, "opponent": opponent})
        .env_runners(num_env_runners=workers, num_envs_per_env_runner=16)
        .fault_tolerance(restart_failed_env_runners=True)
        .training(
            gamma=1.0, lambda_=0.95, lr=5e-4, entropy_coeff=0.005,
            train_batch_size_per_learner=steps, minibatch_size=min(1024, steps), num_epochs=3,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=Masked))
        .debugging(seed=1)
    )  # fmt: skip


def policy_of(module, rules, training=""):
    """Return the networks as a `Policy`."""
    arrays = {}
    for head, net in (("policy", module.policy), ("value", module.values)):
        for i, layer in enumerate(layer for layer in net if isinstance(layer, nn.Linear)):
            arrays[f"{head}.{i}.w"] = layer.weight.detach().cpu().numpy().T.copy()
            arrays[f"{head}.{i}.b"] = layer.bias.detach().cpu().numpy().copy()
    version = get_layout(LAYOUT, rules).version
    meta = {
        "kind": "mlp", "layout": LAYOUT, "layout_version": version, "rules": rules,
        "activation": "tanh", "training": training,
    }  # fmt: skip
    return Policy(arrays, meta)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--address", help="address of a Ray cluster (default: Ray on this machine)")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes that play")
    parser.add_argument("--iterations", type=int, default=50, help="number of iterations")
    parser.add_argument("--steps", type=int, default=8192, help="steps per iteration")
    parser.add_argument("--rules", default="1.5", help="rule set")
    parser.add_argument("--opponent", default="osl", help="agent to play against")
    parser.add_argument("-o", "--output", default="rllib.npz", help="policy file to write")
    parser.add_argument("--force", action="store_true", help="replace a policy that exists")
    options = parser.parse_args()
    if os.path.exists(options.output) and not options.force:
        parser.error(f"{options.output} exists: --force replaces it, or choose another --output")
    torch.set_num_threads(1)
    ray.init(address=options.address)
    configured = configuration(options.jobs, options.rules, options.opponent, options.steps)
    algorithm = configured.build_algo()
    for number in range(options.iterations):
        found = algorithm.train()
        played = found["env_runners"]
        print(
            f"{number + 1}: {played['num_env_steps_sampled_lifetime']:.0f} steps, "
            f"{found['time_total_s']:.0f} s, return {played.get('episode_return_mean', 0):+.2f}, "
            f"{algorithm.env_runner_group.num_healthy_remote_workers()} workers",
            flush=True,
        )
    training = f"PPO of RLlib, {options.iterations} iterations of {options.steps} steps"
    policy_of(algorithm.get_module(), options.rules, training).save(options.output)
    algorithm.stop()


if __name__ == "__main__":
    main()
