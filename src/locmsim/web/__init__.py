"""Pages to watch matches in."""

from locmsim.web.replay import replay_data, replay_html
from locmsim.web.sources import load_replay

__all__ = ["load_replay", "replay_data", "replay_html"]
