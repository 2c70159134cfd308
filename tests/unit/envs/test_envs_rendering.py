"""Pictures and texts of environments: they have one size and show nothing that is hidden."""

import contextlib
import itertools

import gymnasium as gym
import numpy as np
import pytest
from amounts import FEW
from env_checks import EPISODES
from gymnasium.error import DependencyNotInstalled
from helpers import each_rules, raises

from locmsim.envs import LocmEnv, LocmVectorEnv, aec
from locmsim.envs.rendering import battle_frame, battle_text

SIZE = (600, 800, 3)
each_episode = pytest.mark.parametrize("episode", EPISODES)


def make(episode, mode, **options):
    name, given = EPISODES[episode]
    return gym.make(name, render_mode=mode, **given, **options)


def legal(env, which=-1):
    return int(env.get_wrapper_attr("action_masks")().nonzero()[0][which])


def picture_of(frame):
    assert frame.dtype == np.uint8
    assert frame.shape == SIZE
    assert frame.flags.c_contiguous
    return frame


def positions(rules, games):
    """Yield states of random games."""
    env = LocmEnv(opponent="random", rules=rules, **FEW)
    for seed in range(games):
        env.reset(seed=seed)
        over = False
        while not over:
            yield env.state
            over = env.step(env.sample())[2]
        yield env.state


# ------------------------------------------------------------------------------------ pictures


@pytest.mark.slow
@each_episode
def test_frames_have_one_size_all_episode_long(episode):
    pytest.importorskip("cairosvg")
    env = make(episode, "rgb_array", **FEW)
    env.reset(seed=1)
    frames = [picture_of(env.render())]
    over = False
    while not over:
        over = env.step(legal(env))[2]
        frames.append(picture_of(env.render()))
    changes = sum((a != b).any() for a, b in itertools.pairwise(frames))
    # Where both seats pick, they see the same offers, so fewer frames change.
    assert changes > (0.4 if "both" in episode else 0.8) * (len(frames) - 1)
    assert len(set(map(bytes, frames[0].reshape(-1, 3)[::50]))) > 50
    frames[0][:] = 0  # the renderer must not use this array again
    env.reset(seed=1)
    assert env.render().any()


@pytest.mark.slow
@each_episode
def test_vector_environments_show_what_single_ones_do(episode):
    pytest.importorskip("cairosvg")
    name, given = EPISODES[episode]
    rows = {
        mode: gym.make_vec(name, 2, render_mode=mode, **given, **FEW)
        for mode in ("rgb_array", "ansi")
    }
    singles = {mode: [make(episode, mode, **FEW) for _ in range(2)] for mode in rows}
    for mode, venv in rows.items():
        venv.reset(seed=7)
        for i, single in enumerate(singles[mode]):
            single.reset(seed=7 + i)
        for _ in range(3):
            actions = [legal(single) for single in singles[mode]]
            venv.step(np.array(actions))
            for single, action in zip(singles[mode], actions, strict=True):
                single.step(action)
            shown = venv.render()
            assert isinstance(shown, tuple)
            for one, single in zip(shown, singles[mode], strict=True):
                np.testing.assert_array_equal(one, single.render())
        venv.close()


def test_without_cairosvg_the_message_says_what_to_install(missing):
    missing("cairosvg.parser")
    env = LocmEnv(opponent="pass", render_mode="rgb_array", cards=None, card_sets=(77, 78))
    env.reset(seed=1)
    raises(DependencyNotInstalled, r'pip install "locmsim\[png\]"', env.render)


# --------------------------------------------------------------------------------------- texts


@each_episode
def test_texts_are_returned_or_printed_at_every_step(episode, capsys):
    ansi, human = make(episode, "ansi", **FEW), make(episode, "human", **FEW)
    ansi.reset(seed=1)
    human.reset(seed=1)
    for _ in range(33):
        assert capsys.readouterr().out == ansi.render() + "\n"
        action = legal(ansi)
        over = ansi.step(action)[2]
        human.step(action)
        if over:
            break
    assert make(episode, None, **FEW).unwrapped.render() is None


@each_episode
def test_vector_environments_print_every_step(episode, capsys):
    name, given = EPISODES[episode]
    options = {**given, **FEW}
    texts, printed = (
        gym.make_vec(name, 2, render_mode=mode, **options) for mode in ("ansi", "human")
    )
    texts.reset(seed=1)
    printed.reset(seed=1)
    assert capsys.readouterr().out == "".join(f"{text}\n" for text in texts.render())
    actions = np.array([mask.nonzero()[0][-1] for mask in texts.action_masks()])
    texts.step(actions)
    printed.step(actions)
    assert capsys.readouterr().out == "".join(f"{text}\n" for text in texts.render())
    assert printed.render() is None


# --------------------------------------------------------------------------------------- leaks


@pytest.mark.slow
@each_rules
def test_hidden_cards_change_nothing_that_is_shown(rules):
    """Positions that look the same to a player have the same text and picture."""
    pytest.importorskip("cairosvg")
    differ = 0
    for number, state in enumerate(positions(rules, 2)):
        for player in (0, 1):
            other = state.resample_hidden(player, number)
            assert battle_text(other, player) == battle_text(state, player)
            if number % 4 == 0:
                frame = battle_frame(state, player)
                np.testing.assert_array_equal(battle_frame(other, player), frame)
            differ += other != state
    assert differ > 40


@each_rules
def test_the_learners_hand_is_shown_and_no_other(rules):
    """The environment renders the view of the learner's seat, whichever it is."""
    pytest.importorskip("cairosvg")
    for number, seat in enumerate(("first", "second")):
        pictures = LocmEnv(
            opponent="random", seat=seat, rules=rules, render_mode="rgb_array", **FEW
        )
        texts = LocmEnv(opponent="random", seat=seat, rules=rules, render_mode="ansi", **FEW)
        for env in (pictures, texts):
            env.reset(seed=3)
        state = texts.state
        np.testing.assert_array_equal(pictures.render(), battle_frame(state, number))
        assert (battle_frame(state, number) != battle_frame(state, 1 - number)).any()
        text = texts.render()
        assert text == battle_text(state, number)
        for held in state.players[number].hand:
            assert f"#{held.id} " in text
        for held in state.players[1 - number].hand:
            assert f"#{held.id} " not in text
        assert f"hand: {len(state.players[1 - number].hand)} cards" in text


def test_self_play_shows_the_view_of_the_player_to_move():
    venv = LocmVectorEnv(1, opponent="caller", render_mode="ansi", **FEW)
    venv.reset(seed=1)
    seen = set()
    for number in range(30):
        (state,), mover = venv.states(), int(venv.to_move[0])
        assert venv.render() == (battle_text(state, mover),)
        seen.add(mover)
        venv.step(venv.sample(number))
    assert seen == {0, 1}


@pytest.mark.slow
@each_rules
def test_the_choice_shows_nothing_of_the_other_players_picks(rules):
    pytest.importorskip("cairosvg")
    shown = []
    for which in (0, -1):
        env = aec.raw_env(phase="match", rules=rules, render_mode="rgb_array", **FEW)
        env.reset(seed=1)
        frames, texts = [], []
        for _ in range(6):
            mask = env.observe(env.agent_selection)["action_mask"]
            if env.agent_selection == "player_1":
                frames.append(env.render())
                texts.append(env.games.text(0))
            chosen = which if env.agent_selection == "player_0" else 0
            env.step(int(mask.nonzero()[0][chosen]))
        shown.append((frames, texts))
    np.testing.assert_array_equal(shown[0][0], shown[1][0])
    assert shown[0][1] == shown[1][1]
    assert (shown[0][0][0] != shown[0][0][1]).any()


# -------------------------------------------------------------------------------------- videos


@each_episode
def test_videos_of_single_environments(episode, tmp_path):
    pytest.importorskip("cairosvg")
    pytest.importorskip("moviepy")
    env = gym.wrappers.RecordVideo(
        make(episode, "rgb_array", **FEW),
        str(tmp_path / "videos"),
        episode_trigger=lambda number: True,
    )
    env.reset(seed=1)
    for _ in range(5):
        if env.step(legal(env))[2]:
            break
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    check_video(video, 6)


@pytest.mark.parametrize("mode", list(gym.vector.AutoresetMode))
def test_videos_of_vector_environments(mode, tmp_path):
    pytest.importorskip("cairosvg")
    pytest.importorskip("moviepy")
    name, options = EPISODES["match"]
    venv = gym.make_vec(name, 3, render_mode="rgb_array", autoreset_mode=mode, **options, **FEW)
    # With SAME_STEP, Gymnasium warns that videos lack the last frame of an episode.
    same = pytest.warns(match="will not contain the last frame")
    with same if mode is mode.SAME_STEP else contextlib.nullcontext():
        recorded = gym.wrappers.vector.RecordVideo(venv, str(tmp_path / "videos"), video_length=4)
    recorded.reset(seed=1)
    for _ in range(4):
        recorded.step(np.array([mask.nonzero()[0][0] for mask in venv.action_masks()]))
    recorded.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    check_video(video, 5, columns=3)


def check_video(path, frames, columns=1):
    """Check that a file is a video of this number of frames, side by side."""
    from moviepy import VideoFileClip

    with VideoFileClip(str(path)) as clip:
        assert tuple(clip.size) == (columns * SIZE[1], SIZE[0])
        assert clip.fps == 2
        assert round(clip.duration * clip.fps) == frames
