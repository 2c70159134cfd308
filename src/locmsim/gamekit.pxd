# The clock for compiled code of games: see gamekit.py.

from locmsim._platform cimport now_ns_
