"""Write a trained policy as ONNX for other programs, and compare the logits of both.

python onnx_export.py learned.npz learned.onnx
"""

import argparse

import numpy as np

try:
    import onnx
    import torch
    from ppo import Net
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install 'locmsim[train]'") from None

from locmsim.envs import LocmVectorEnv
from locmsim.policy import Policy, load_policy


def export(policy, path):
    """Write an entity network; return the greatest difference of its logits from the policy's.

    They are compared on observations of random games, for legal actions: others mean nothing.
    """
    net = Net(policy.rules)
    net.load(policy)
    env = LocmVectorEnv(64, opponent="caller", rules=policy.rules, card_sets=8)
    env.reset(seed=1)
    for number in range(20):
        shown = env.step(env.sample(number))[0]
    seen, masks = shown["observation"], shown["action_mask"]
    rows = torch.export.Dim("rows", min=2)
    torch.onnx.export(
        net.eval(), (torch.from_numpy(seen),), path, input_names=["observation"],
        output_names=["logits", "value"], dynamic_shapes=({0: rows},), dynamo=True,
    )  # fmt: skip
    model = onnx.load(path)  # record in the file which observations it expects
    onnx.helper.set_model_props(
        model, {"locmsim.rules": policy.rules, "locmsim.layout": policy.layout}
    )
    onnx.save(model, path)
    theirs = load_policy(path).evaluate(seen)
    logits, values = (np.abs(a - b) for a, b in zip(policy.evaluate(seen), theirs, strict=True))
    return float(max(logits[masks != 0].max(), values.max()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("policy", metavar="POLICY", help="the policy, such as learned.npz")
    parser.add_argument("output", metavar="OUTPUT", help="the file to write, such as learned.onnx")
    options = parser.parse_args()
    try:
        difference = export(Policy.load(options.policy), options.output)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(f"{options.output}: its logits differ by {difference:.2g} at most")


if __name__ == "__main__":
    main()
