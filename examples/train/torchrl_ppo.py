"""PPO of TorchRL with masked actions: ``python torchrl_ppo.py 20`` trains on 20 batches."""

import sys

try:
    import gymnasium as gym
    import torch
    from tensordict.nn import TensorDictModule
    from torch import nn
    from torchrl.envs import GymWrapper
    from torchrl.envs.utils import check_env_specs
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install torchrl 'locmsim[train]'") from None

options = {"layout": "entities-f32", "opponent": "osl", "autoreset_mode": "DISABLED"}
venv = gym.make_vec("locmsim.envs:locmsim/Battle-v0", 16, **options)
env = GymWrapper(venv, categorical_action_encoding=True)
check_env_specs(env)
size, actions = venv.layout.shape[0], int(venv.single_action_space.n)
body = nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, actions))
actor = ProbabilisticActor(
    TensorDictModule(body, ["observation"], ["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=lambda logits, mask: MaskedCategorical(logits=logits, mask=mask.bool()),
    spec=env.action_spec,
    return_log_prob=True,
)
critic = ValueOperator(nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 1)))
loss, advantages = ClipPPOLoss(actor, critic), GAE(gamma=1.0, lmbda=0.95, value_network=critic)
optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
for _ in range(int(sys.argv[1])):
    with torch.no_grad():
        batch = env.rollout(128, actor, break_when_any_done=False)
    for _ in range(4):
        advantages(batch)
        terms = loss(batch)
        optimizer.zero_grad()
        (terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]).backward()
        optimizer.step()
    print("mean reward", batch["next", "reward"][batch["next", "done"]].mean().item())
