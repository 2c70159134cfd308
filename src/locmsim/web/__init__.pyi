from locmsim.web.file_play import play_html as play_html
from locmsim.web.file_replay import replay_data as replay_data
from locmsim.web.file_replay import replay_html as replay_html
from locmsim.web.sources import load_replay as load_replay
