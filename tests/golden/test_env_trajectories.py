"""Digests of episodes of each environment, which change if any shown number does.

Actions are drawn with numpy from the masks, so that a seed always gives the same episode.
"""

from hashlib import sha256

import numpy as np
import pytest
from amounts import amount
from helpers import env_of

pytest.importorskip("gymnasium")

#: Of four and of twenty episodes.
SIGNATURES = {
    "Battle 1.5 greedy": ("ecb45f82dcb9c358", "bf984c129fa0c3c7"),
    "Battle 1.2 osl": ("361e66606efc475d", "e8ed4ae4ab827594"),
    "Battle 1.0 max-attack": ("1fc8a087e37982ca", "a009870943354fa8"),
    "Battle 1.5 random gym-locm": ("7bd6b38af1eea87c", "601a7404402bb4ff"),
    "Battle 1.5 random entities-f32": ("20b9427af004aae0", "9cc215e23de325fc"),
    "Construct 1.5": ("f5e7fc4dc62c7e67", "4a37c6eb1e1764ac"),
    "Draft 1.2": ("0adad1fe347ded04", "5e094b16509e60f2"),
    "Draft 1.0 first": ("7df0cab0d60efaef", "0022f819447163cb"),
    "Match 1.5 random": ("bb4d202ac2994da6", "8c1d0888e84881bd"),
    "Match 1.0 random": ("62884cdd56d9c628", "98acad60d2e02ba9"),
}


def signature(name, options, episodes):
    env = env_of(name, card_sets=4, **options)
    digest = sha256()
    for seed in range(episodes):
        random = np.random.default_rng(seed)
        seen, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            mask = seen["action_mask"]
            digest.update(np.ascontiguousarray(seen["observation"]).astype("<f4").tobytes())
            digest.update(mask.tobytes())
            action = int(random.choice(np.flatnonzero(mask)))
            seen, reward, terminated, truncated, _ = env.step(action)
            digest.update(np.array([reward], "<f4").tobytes())
            ended = terminated or truncated
        digest.update(np.ascontiguousarray(seen["observation"]).astype("<f4").tobytes())
    return digest.hexdigest()[:16]


CASES = [
    ("Battle", {"rules": "1.5", "opponent": "greedy"}),
    ("Battle", {"rules": "1.2", "opponent": "osl"}),
    ("Battle", {"rules": "1.0", "opponent": "max-attack"}),
    ("Battle", {"rules": "1.5", "opponent": "random", "layout": "gym-locm"}),
    ("Battle", {"rules": "1.5", "opponent": "random", "layout": "entities-f32"}),
    ("Construct", {"rules": "1.5"}),
    ("Draft", {"rules": "1.2"}),
    ("Draft", {"rules": "1.0", "seat": "first"}),
    ("Match", {"rules": "1.5", "opponent": "random"}),
    ("Match", {"rules": "1.0", "opponent": "random"}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_episodes_are_the_same_as_ever(name, options):
    key = " ".join([name, *options.values()])
    assert signature(name, options, amount(4, 20)) == SIGNATURES[key][amount(0, 1)]
