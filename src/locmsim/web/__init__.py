"""Pages to watch matches in."""

from locmsim.web.replay import replay_data, replay_html

__all__ = ["replay_data", "replay_html"]
