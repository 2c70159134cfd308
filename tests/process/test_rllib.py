"""Tests of examples/train/rllib.py on a Ray cluster on this machine, one of whose workers dies.

Ray requires an older Gymnasium than other packages, so that only .ci/nightly installs it.
"""

import importlib
import importlib.util
import os
import signal
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "train" / "rllib.py"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None or not EXAMPLE.exists(),
    reason="training on a Ray cluster is not tested: there is no Ray (.ci/nightly installs it)",
)


@pytest.mark.filterwarnings("default")  # Ray causes warnings
def test_a_worker_dies_and_training_goes_on(tmp_path, monkeypatch):
    import ray

    from locmsim.policy import Policy
    from locmsim.tuning.evaluate import evaluate

    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    example = importlib.import_module("rllib")
    ray.cloudpickle.register_pickle_by_value(example)  # workers do not have the path of the example
    ray.init(num_cpus=3, include_dashboard=False)
    try:
        algorithm = example.configuration(workers=2, opponent="random", steps=512).build_algo()
        group = algorithm.env_runner_group

        def processes():
            found = group.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
            return [pid for pid in found if isinstance(pid, int)]

        def sampled(result):
            return result["env_runners"]["num_env_steps_sampled_lifetime"]

        before = sampled(algorithm.train())
        first = processes()
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        after = [sampled(algorithm.train())]
        while len(second := processes()) < 2 and len(after) < 60:  # the new one has to start
            after.append(sampled(algorithm.train()))
        assert len({*second, *first}) == 3
        assert after[-1] >= before + 512 * (len(after) - 1)
        policy = example.policy_of(algorithm.get_module(), "1.5")
        algorithm.stop()
    finally:
        ray.shutdown()
    policy.save(tmp_path / "a.npz")
    assert evaluate(Policy.load(tmp_path / "a.npz"), "random", games=4).games == 4
