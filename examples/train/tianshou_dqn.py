"""DQN of Tianshou with masked actions: ``python tianshou_dqn.py 5`` trains for 5 epochs."""

import sys

try:
    import gymnasium as gym
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install tianshou 'locmsim[train]'") from None


class Masked(gym.Wrapper):  # uses the names that Tianshou expects; it would store infos
    def reset(self, **options):
        return self.named(self.env.reset(**options)[0]), {}

    def step(self, action):
        seen, *rest, _ = self.env.step(action)
        return self.named(seen), *rest, {}

    def named(self, seen):
        return {"obs": seen["observation"], "mask": seen["action_mask"].astype(bool)}


def make():
    return Masked(gym.make("locmsim.envs:locmsim/Battle-v0", layout="entities-f32"))


shape, actions = make().observation_space["observation"].shape, make().action_space
network = Net(state_shape=shape, action_shape=actions.n, hidden_sizes=[128])
policy = DiscreteQLearningPolicy(model=network, action_space=actions, eps_training=0.1)
dqn = DQN(policy=policy, optim=AdamOptimizerFactory(1e-3), gamma=1.0, target_update_freq=200)
rows, buffer = DummyVectorEnv([make] * 8), VectorReplayBuffer(50_000, 8)
training, test = Collector(dqn, rows, buffer, exploration_noise=True), Collector(dqn, rows)
print(dqn.run_training(OffPolicyTrainerParams(
    training_collector=training, test_collector=test, batch_size=256, max_epochs=int(sys.argv[1]),
    epoch_num_steps=4096, update_step_num_gradient_steps_per_sample=0.1,
)))  # fmt: skip
