"""Tests of the training examples of docs/training.md, with small numbers; most need PyTorch."""

import contextlib
import re
import runpy
import shlex
import sys
import warnings
from importlib import import_module
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers import output_of, python, raises

from locmsim.agents.learned import shipped_policy
from locmsim.arena import Arena
from locmsim.game.positions import start_position
from locmsim.policy import OnnxPolicy, Policy, load_policy
from locmsim.tuning.evaluate import evaluate

EXAMPLES = Path(__file__).parents[2] / "examples" / "train"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="not the source tree")


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))


def run(*command, cwd):
    """Run a module in a process of its own, a script in this one, which has PyTorch."""
    if command[0] == "-m":
        return python(*command, cwd=cwd, timeout=None).stdout
    words = [str(word) for word in command]
    with (
        contextlib.chdir(cwd), mock.patch.object(sys, "argv", words),
        warnings.catch_warnings(action="ignore"),
    ):  # fmt: skip
        return output_of(program=lambda _: runpy.run_path(words[0], run_name="__main__") and 0).out


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_the_network_in_torch_is_ours(rules):
    torch = pytest.importorskip("torch")
    from ppo import Net

    from locmsim.envs import LocmVectorEnv

    torch.manual_seed(1)
    net = Net(rules)
    env = LocmVectorEnv(32, opponent="caller", rules=rules, card_sets=4)
    env.reset(seed=1)
    for number in range(30):
        shown = env.step(env.sample(number))[0]
    seen, legal = shown["observation"], shown["action_mask"] != 0
    with torch.no_grad():
        logits, values = net(torch.from_numpy(seen))
    ours = net.policy().evaluate(seen)
    np.testing.assert_allclose(ours[0][legal], logits.numpy()[legal], atol=1e-5)
    np.testing.assert_allclose(ours[1], values.numpy(), atol=1e-5)
    other = Net(rules)
    other.load(net.policy())
    state = zip(net.state_dict().values(), other.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in state)


def test_training_starts_from_the_network_of_the_library():
    pytest.importorskip("torch")
    from ppo import Net, load_start

    for rules in ("1.5", "1.2"):
        net = Net(rules)
        policy = load_start(net, "learned", rules)
        assert policy is shipped_policy(rules)
        loaded = net.policy().arrays
        assert loaded.keys() == policy.arrays.keys()
        for name, array in loaded.items():
            np.testing.assert_array_equal(array, policy.arrays[name])
    raises(SystemExit, r"--from: .*1\.0", load_start, Net("1.0"), "learned", "1.0")


@pytest.mark.parametrize("rules", ["1.5", "1.2"])
def test_the_other_lane(rules):
    """The mirrored observations of clone.py are those of the game played with swapped lanes."""
    torch = pytest.importorskip("torch")
    from clone import Mirror

    from locmsim.envs import LocmVectorEnv

    mirror = Mirror(rules)
    envs = [LocmVectorEnv(64, opponent="caller", rules=rules, card_sets=4) for _ in range(2)]
    seen, reference = (env.reset(seed=1)[0] for env in envs)
    for number in range(60):
        alike = mirror.observations(torch.from_numpy(seen["observation"])).numpy()
        np.testing.assert_array_equal(alike, reference["observation"])
        np.testing.assert_array_equal(
            seen["action_mask"][:, mirror.actions.numpy()], reference["action_mask"]
        )
        actions = envs[0].sample(number)
        seen = envs[0].step(actions)[0]
        reference = envs[1].step(mirror.actions[torch.from_numpy(actions)].numpy())[0]


def test_from_examples_to_the_arena(tmp_path):
    """The commands of the page lead from a dataset by clone.py and ppo.py to the arena."""
    pytest.importorskip("torch")
    teacher = "beam:nodes=100,time_ms=0,belief=any"
    run("-m", "locmsim", "dataset", teacher, "--games", 400, "-o", "examples.npz", cwd=tmp_path)
    out = run(
        EXAMPLES / "clone.py", "examples.npz", "examples.npz", "--epochs", 3, "-o", "clone.npz",
        cwd=tmp_path,
    )  # fmt: skip
    assert "of held-out actions agree" in out
    run(
        EXAMPLES / "clone.py", "examples.npz", "--epochs", 1, "-o", "some.npz", "--seeds", 2,
        "--seed", 4, cwd=tmp_path,
    )  # fmt: skip
    texts = [
        run(EXAMPLES / "strength.py", *files, "--games", 4, "--opponents", "osl", "--decks",
            "random", cwd=tmp_path)
        for files in (["some-4.npz"], ["some-5.npz"], ["some-4.npz", "some-5.npz"])
    ]  # fmt: skip
    low, high = sorted(float(text.partition(": ")[2].split()[0]) for text in texts[:2])
    assert texts[2] == f"random decks, against osl: {low:.1f} to {high:.1f} % of 4 games each\n"
    rate = evaluate(Policy.load(tmp_path / "clone.npz"), "random", games=200)
    assert rate.rate > 0.6
    run(
        EXAMPLES / "ppo.py", "--from", "clone.npz", "--total-timesteps", 2048, "--rows", 64,
        "--steps", 8, "--decks", "random", "classic/area", "--games", 10, "--epochs", 1,
        "--fixed", 0.3, "--bfloat16", "--folder", "run", cwd=tmp_path,
    )  # fmt: skip
    assert list((tmp_path / "run").glob("events.out.tfevents*"))
    learnt = tmp_path / "run" / "policy.npz"
    training = Policy.load(learnt).meta["training"]
    assert training.startswith("cloned ")
    assert teacher in training
    assert training.endswith("PPO")
    out = run(
        EXAMPLES / "strength.py", learnt, "--games", 4, "--opponents", "osl", "random",
        "--decks", "random", "classic", cwd=tmp_path,
    )  # fmt: skip
    found = [line.partition(":")[0] for line in out.splitlines()]
    assert found == [
        f"{decks} decks, against {who}"
        for decks in ("random", "classic")
        for who in ("osl", "random")
    ]
    out = run(
        "-m", "locmsim", "arena", f"policy:path={learnt}", "random", "--games", 4, cwd=tmp_path
    )
    assert "policy" in out


def test_expert_iteration(tmp_path):
    """Expert iteration runs for a round, resumes for another one, and writes its files."""
    pytest.importorskip("torch")
    Policy.random(seed=1).save(tmp_path / "random.npz")
    command = (
        EXAMPLES / "expert_iteration.py", "--from", "random.npz", "--folder", "run", "--games", 4,
        "--simulations", 4, "--decks", "classic", "--test-games", 4, "--device", "cpu",
    )  # fmt: skip
    run(*command, "--rounds", 1, cwd=tmp_path)
    out = run(*command, "--rounds", 2, "--resume", cwd=tmp_path)
    assert out.startswith("round 2  games 8 ")
    lines = (tmp_path / "run" / "log.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["round", "1", "2"]
    assert b"\r" not in (tmp_path / "run" / "log.csv").read_bytes()
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    out = run(*command, "--rounds", 2, "--resume", cwd=tmp_path)
    assert out.startswith("run: finished after 2 rounds, nothing was changed.")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    learnt = Policy.load(tmp_path / "run" / "policy.npz")
    assert learnt.meta["training"].endswith("8 games of search")
    before = Policy.load(tmp_path / "run" / "round-1.npz")
    assert any((learnt.arrays[name] != before.arrays[name]).any() for name in learnt.arrays)
    run(*command, "--rounds", 2, "--folder", "whole", cwd=tmp_path)
    whole = Policy.load(tmp_path / "whole" / "policy.npz")
    assert all(np.array_equal(learnt.arrays[name], whole.arrays[name]) for name in learnt.arrays)
    raises(AssertionError, "continue with --resume", run, *command, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "words", "message"),
    [
        ("strength.py", ["none.npz"], "No such file or directory: 'none.npz'"),
        ("strength.py", ["agent:greedy"], "agent greedy: has no policy"),
        ("strength.py", ["a.npz", "--opponents", "nobody"], "unknown agent 'nobody'"),
        ("clone.py", ["none.npz"], "none.npz: No such file or directory"),
        ("attention.py", ["a.npz"], "a.npz: no examples of `locmsim dataset`"),
        ("expert_iteration.py", ["--from", "none.npz", "--folder", "b"], "--from: [Errno 2]"),
        ("clone.py", ["b.npz", "-o", "a.npz"], "a.npz exists: --force replaces it"),
        ("sb3.py", ["-o", "a.npz"], "a.npz exists: --force replaces it"),
        ("sb3.py", ["--opponent", "nobody"], "unknown agent 'nobody'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(script, words, message, tmp_path):
    if script != "strength.py":
        pytest.importorskip("torch")
        pytest.importorskip("sb3_contrib" if script == "sb3.py" else "onnx")
    Policy.random(seed=1).save(tmp_path / "a.npz")
    with pytest.raises(AssertionError, match=re.escape(message)) as caught:
        run(EXAMPLES / script, *words, cwd=tmp_path)
    assert "Traceback" not in str(caught.value)


def test_stock_tools(tmp_path):
    """MaskablePPO trains on the native vector environment, and its network plays in an arena."""
    pytest.importorskip("sb3_contrib")
    run(EXAMPLES / "sb3.py", "--steps", 4096, "--rows", 16, "--games", 10, cwd=tmp_path)
    policy = Policy.load(tmp_path / "sb3.npz")
    assert (policy.kind, policy.layout) == ("mlp", "gym-locm")
    run("-m", "locmsim", "arena", "policy:path=sb3.npz", "random", "--games", 2, cwd=tmp_path)


def test_onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("torch")
    Policy.random(seed=1).save(tmp_path / "a.npz")
    out = run(EXAMPLES / "onnx_export.py", "a.npz", "a.onnx", cwd=tmp_path)
    found = re.search(r"^a.onnx: its logits differ by (\S+) at most$", out, re.M)
    assert found is not None
    assert float(found[1]) < 1e-5
    network, file = (load_policy(tmp_path / name) for name in ("a.npz", "a.onnx"))
    states = [start_position(seed) for seed in range(7)]  # not the batch size of the export
    seen = np.array([state.observation_tensor(0, "entities") for state in states])
    masks = np.array([state.legal_actions_mask() for state in states])
    assert (network.act_batch(seen, masks) == file.act_batch(seen, masks)).all()
    np.testing.assert_allclose(network.evaluate(seen)[1], file.evaluate(seen)[1], atol=1e-4)
    run("-m", "locmsim", "arena", "policy:path=a.onnx", "random", "--games", 2, cwd=tmp_path)
    for words, message in (([], "required: POLICY, OUTPUT"), (["none.npz", "b.onnx"], "none.npz")):
        said = f"onnx_export.py: error: .*{message}"
        raises(AssertionError, said, run, EXAMPLES / "onnx_export.py", *words, cwd=tmp_path)


def test_a_network_unlike_ours_plays_as_it_was_trained(tmp_path, monkeypatch):
    """A network with another architecture plays in the arena exactly as PyTorch computes it."""
    pytest.importorskip("onnxruntime")
    torch = pytest.importorskip("torch")
    import attention

    run("-m", "locmsim", "dataset", "greedy", "--games", 40, "-o", "a.npz", cwd=tmp_path)
    small = ["a.npz", "--epochs", 1, "--seeds", 2, "--output", "a.onnx"]
    out = run(EXAMPLES / "attention.py", *small, cwd=tmp_path)
    assert out.count("epoch 1: ") == 2
    files = [(tmp_path / f"a-{seed}.onnx").read_bytes() for seed in (1, 2)]
    assert files[0] != files[1]
    torch.manual_seed(3)
    net = attention.Attention("1.5").eval()
    with warnings.catch_warnings(action="ignore"):  # of other libraries
        attention.export(net, tmp_path / "b.onnx", "1.5", torch.zeros(3, 440))
    asked = []
    act_batch = OnnxPolicy.act_batch

    def noted(self, observations, masks, *args, **options):
        chosen = act_batch(self, observations, masks, *args, **options)
        asked.append((observations.copy(), masks.copy(), chosen))
        return chosen

    monkeypatch.setattr(OnnxPolicy, "act_batch", noted)
    players = [f"policy:path={tmp_path / 'b.onnx'}", "greedy"]
    with Arena(None, players, games=30, seed=1, timeout_scale=0) as arena:
        arena.run(jobs=1)
        assert arena.tally.games == 30
    seen, masks, chosen = (np.concatenate(part) for part in zip(*asked, strict=True))
    with torch.no_grad():
        logits = net(torch.from_numpy(seen))[0].numpy()
    ratings = np.where(masks != 0, logits, -np.inf)
    # Logits may differ by rounding, so nearly equal actions may be swapped.
    assert (ratings[np.arange(len(chosen)), chosen] >= ratings.max(axis=1) - 1e-5).all()
    assert (ratings.argmax(axis=1) == chosen).mean() > 0.999
    assert len(np.unique(chosen)) > 40
    run("-m", "locmsim", "arena", "policy:path=a-1.onnx", "random", "--games", 2, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_a_missing_package_is_one_line_that_says_what_to_install(script):
    code = (
        "import runpy, sys; path = sys.argv[1]; sys.argv = [path, '--help']\n"
        "foreign = 'gymnasium onnx ray sb3_contrib tensordict tianshou torch torchrl'\n"
        "sys.modules.update(dict.fromkeys(foreign.split()))\n"
        "sys.path.insert(0, path.rpartition('/')[0]); runpy.run_path(path, run_name='__main__')"
    )
    done = python("-c", code, EXAMPLES / script, code=1)
    assert re.fullmatch(r"import of (\w+) halted; .+: pip install .+\n", done.stderr)


def test_stable_baselines_makes_environments_of_the_id():
    """Stable-Baselines3 makes environments from the id, for which it first asks for pictures."""
    env_util = pytest.importorskip("stable_baselines3.common.env_util")
    env = env_util.make_vec_env("locmsim.envs:locmsim/Battle-v0", 2, env_kwargs={"card_sets": 2})
    env.reset()
    env.step([0, 0])
    assert [picture.ndim for picture in env.get_images()] == [3, 3]
    env.close()


def test_attributes_of_all_rows_for_stable_baselines():
    pytest.importorskip("stable_baselines3")
    from locmsim.envs import LocmVectorEnv
    from locmsim.envs.sb3 import SB3VecEnv

    env = SB3VecEnv(LocmVectorEnv(3, opponent="pass", mask="info", final_obs=True, card_sets=2))
    env.reset()
    asked = []
    env.set_attr("opponent", lambda observation, mask: asked.append(1) or 0)
    env.reset()
    env.step(np.zeros(3, np.int64))
    assert len(asked) >= 3
    raises(AttributeError, "no attribute 'oponent'", env.set_attr, "oponent", "osl")
    with pytest.raises(ValueError, match="attributes are those of all rows"):
        env.set_attr("opponent", "osl", indices=[0])


# ------------------------------------------------------------------------------- other libraries

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
#: The programs of the page, by the library that they use.
RECIPES = {
    next(name for name in ("sb3_contrib", "RecordVideo") if name in block): block
    for block in re.findall(r"^```python\n(import.*?)^```$", PAGE.read_text(), re.M | re.S)
} if PAGE.exists() else {}  # fmt: skip


def test_the_page_has_the_programs():
    assert RECIPES.keys() == {"sb3_contrib", "RecordVideo"}


@pytest.mark.parametrize(
    ("name", "needs"),
    [("sb3_contrib", ["sb3_contrib"]), ("RecordVideo", ["moviepy", "cairosvg"])],
)
def test_programs_of_the_page(name, needs, tmp_path):
    for module in needs:
        pytest.importorskip(module)
    program = RECIPES[name].replace("16, **", "2, **").replace("=512", "=128")
    (tmp_path / "program.py").write_text(program.replace("=2048", "=256").replace("s=20", "s=2"))
    run("program.py", cwd=tmp_path)
    if name == "RecordVideo":
        assert list(tmp_path.glob("videos/*.mp4"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "library", "says"),
    [("torchrl_ppo", "torchrl", "mean reward"), ("tianshou_dqn", "tianshou", "best_reward")],
)
def test_programs_of_other_libraries(program, library, says, tmp_path):
    pytest.importorskip(library)
    file = EXAMPLES / f"{program}.py"
    assert len(file.read_text().splitlines()) <= 45
    assert says in run(file, 1, cwd=tmp_path)


def trainings(page):
    """Yield the script and the arguments of each command of a page that runs a script."""
    for block in re.findall(r"(?m)^```sh\n(.*?)^```$", page.read_text(), re.S):
        for line in block.replace("\\\n", "").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["python"] and words[1].startswith(("examples/train/", "trainer/")):
                yield Path(words[1]).stem, words[2:]


@pytest.mark.parametrize("page", [PAGE, PAGE.parent / "tutorials" / "train.md"])
def test_scripts_take_the_options_of_the_pages(page):
    pytest.importorskip("torch")
    commands = list(trainings(page))
    assert commands
    for script, words in commands:
        module = import_module(script)
        if script == "exploit":
            module.arguments("choice" if "choice" in words else "battle").parse_args(words)
        elif script == "choose":
            parser = module.choice_arguments()
            options = parser.parse_args(words)
            module.refuse_unused(parser, options, options.phase)
        else:
            module.arguments().parse_args(words)


def test_results_of_training_are_ranges_over_seeds():
    """What one run came to says little: no page gives it as the result of a training."""
    for page in (PAGE, PAGE.parent / "tutorials" / "train.md"):
        assert not re.search(r"(?i)one run,|one run with|one seed|with seed 1", page.read_text())
