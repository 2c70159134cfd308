"""The networks of `locmsim.policy.Policy` in numpy, as a reference for the compiled ones."""

import numpy as np


def relu(x):
    return np.maximum(x, 0)


def entities(w, x, one):
    """Return logits and value for an observation of "entities-f32"; `one` means rules 1.0."""
    hand, own, enemy = (
        x[24:216].reshape(8, 24), x[216:312].reshape(6, 16), x[312:408].reshape(6, 16),
    )  # fmt: skip
    there = [rows[:, 0] != 0 for rows in (hand, own, enemy)]
    coded = [
        (rows @ w[f"{name}.w"] + w[f"{name}.b"]) * mask[:, None]
        for name, rows, mask in zip(
            ("hand", "own", "enemy"), (hand, own, enemy), there, strict=True
        )
    ]
    lanes = [slice(0, 6), slice(6, 6)] if one else [slice(0, 3), slice(3, 6)]
    sums = [[relu(coded[side][lane]).sum(0) for lane in lanes] for side in (1, 2)]
    joined = np.concatenate([x[:24], x[408:], relu(coded[0]).sum(0), *sums[0], *sums[1]])
    trunk = relu(joined @ w["trunk1.w"] + w["trunk1.b"])
    trunk = relu(trunk @ w["trunk2.w"] + w["trunk2.b"])
    hand, own, enemy = (
        relu(rows + trunk @ w[f"{name}_context.w"])
        for name, rows in zip(("hand", "own", "enemy"), coded, strict=True)
    )
    unit = 1 / np.sqrt(w["summon.w"].shape[1])
    lane_keys = [
        np.concatenate([mine, theirs, trunk]) @ w["lane_key.w"]
        for mine, theirs in zip(*sums, strict=True)
    ]
    use_keys = np.vstack(
        [
            trunk @ w["player_use_key.w"],
            (own @ w["own_key.w"]) * there[1][:, None],
            (enemy @ w["enemy_key.w"]) * there[2][:, None],
        ]
    )
    face = trunk @ w["player_attack_key.w"]
    attack_keys = (enemy @ w["enemy_attack_key.w"]) * there[2][:, None]
    logits = [trunk @ w["pass.w"] + w["pass.b"]]
    for h in range(8):
        query = hand[h] @ w["summon.w"]
        logits += [unit * there[0][h] * (query @ key) for key in lane_keys[: 1 if one else 2]]
    for h in range(8):
        logits += list(unit * there[0][h] * (use_keys @ (hand[h] @ w["use.w"])))
    for slot in range(6):
        lane = lanes[0] if one else lanes[slot // 3]
        keys = np.vstack([face, attack_keys[lane]])
        logits += list(unit * there[1][slot] * (keys @ (own[slot] @ w["attack.w"])))
    return np.array(logits), np.tanh(trunk @ w["value.w"] + w["value.b"])


def mlp(w, x, head, activation):
    """Return the last layer of a head."""
    layers = sum(name.startswith(f"{head}.") and name.endswith(".w") for name in w)
    for i in range(layers):
        x = x @ w[f"{head}.{i}.w"] + w[f"{head}.{i}.b"]
        if i < layers - 1:
            x = np.tanh(x) if activation == "tanh" else relu(x)
    return x
