"""Train with MaskablePPO of sb3-contrib, and save the network as a policy for the arena.

python sb3.py --steps 200000 --output sb3.npz
locmsim arena policy:path=sb3.npz random --games 200
"""

import argparse
import os

try:
    from sb3_contrib import MaskablePPO
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim.envs import LocmVectorEnv
from locmsim.envs.sb3 import SB3VecEnv
from locmsim.policy import Policy, get_layout
from locmsim.tuning.evaluate import evaluate


def policy_of(model, layout="gym-locm", rules="1.5", training=""):
    """Return the network of a model with an `MlpPolicy` as a `Policy`, which needs no PyTorch."""
    weights = model.policy.state_dict()
    arrays = {}
    for head, body, last in (
        ("policy", "mlp_extractor.policy_net", "action_net"),
        ("value", "mlp_extractor.value_net", "value_net"),
    ):
        names = sorted({name.rsplit(".", 1)[0] for name in weights if name.startswith(body)})
        for i, name in enumerate([*names, last]):
            arrays[f"{head}.{i}.w"] = weights[f"{name}.weight"].cpu().numpy().T
            arrays[f"{head}.{i}.b"] = weights[f"{name}.bias"].cpu().numpy()
    activation = type(model.policy.mlp_extractor.policy_net[1]).__name__.lower()
    version = get_layout(layout, rules).version
    meta = {
        "kind": "mlp", "layout": layout, "layout_version": version, "rules": rules,
        "activation": activation, "training": training,
    }  # fmt: skip
    return Policy(arrays, meta)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--steps", type=int, default=200_000, help="actions to learn from (default: 200,000)")
    add("--rows", type=int, default=64, help="battles at the same time (default: 64)")
    add("--opponent", default="osl", help="whom it learns against (default: osl)")
    add("-o", "--output", default="sb3.npz", help="the policy to write (default: sb3.npz)")
    add("--force", action="store_true", help="replace a policy that exists")
    add("--games", type=int, default=400, help="games of each test at the end (default: 400)")
    options = parser.parse_args()
    if os.path.exists(options.output) and not options.force:
        parser.error(f"{options.output} exists: --force replaces it, or choose another --output")
    try:
        venv = LocmVectorEnv(
            options.rows, opponent=options.opponent, layout="gym-locm", mask="info", final_obs=True
        )
    except ValueError as error:
        parser.error(str(error))
    model = MaskablePPO(
        "MlpPolicy", SB3VecEnv(venv), n_steps=256, batch_size=4096, gamma=1.0, verbose=1,
        policy_kwargs={"net_arch": [192, 192]}, seed=1, device="cpu",
    )  # fmt: skip
    model.learn(options.steps)
    policy = policy_of(model, training=f"MaskablePPO, {options.steps} steps")
    policy.save(options.output)
    for opponent in ("random", "osl"):
        print(f"against {opponent}: {evaluate(policy, opponent, games=options.games)}")


if __name__ == "__main__":
    main()
