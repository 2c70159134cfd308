"""Pages to watch matches in."""

from locmsim.web.matches import play_html
from locmsim.web.replay import replay_data, replay_html
from locmsim.web.sources import load_replay

__all__ = ["load_replay", "play_html", "replay_data", "replay_html"]
