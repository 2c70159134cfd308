# Beam search over the player's turn: for a win, and for the whole turns that are then compared.

from libc.stdint cimport uint8_t, uint64_t

from locmsim._core cimport state_t, turn_hash
from locmsim.search._wins cimport can_kill
from locmsim.search._work cimport is_new, work_t


cdef enum:                      # what `sift` finds
    LEFT_OUT = 0
    KEPT = 1
    WINNING = 2


cdef inline int sift(
    work_t* w, const state_t* child, int record, uint8_t action, uint64_t* hash
) noexcept nogil:
    """Decide what to do with the position after an action before evaluating it; write its hash."""
    if child.p[1 - w.who].won:
        return LEFT_OUT
    if child.p[w.who].won or can_kill(child, w.table):
        w.won = True
        w.win.parent = record
        w.win.action = action
        return WINNING
    hash[0] = turn_hash(child, w.table, w.card_keys)
    return KEPT if is_new(w, hash[0]) else LEFT_OUT


# Both end at a winning turn, which sets `w.won` and `w.win`. The second fills `w.plans`.
cdef void search_wins(work_t* w, int width) noexcept nogil
cdef void beam_search(work_t* w, int width) noexcept nogil
