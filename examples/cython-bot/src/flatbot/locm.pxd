# What the bot uses of `locm.h`, under the names of `locmsim/_core.pxd`.

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t


cdef extern from "locm.h" nogil:
    ctypedef struct creature_t "locm_creature_t":
        int16_t attack
        int16_t defense
        uint8_t keywords

    ctypedef struct player_t "locm_player_t":
        creature_t board[6]
        int32_t health
        uint8_t hand_size
        uint8_t deck_left

    ctypedef struct state_t "locm_state_t":
        int32_t turn
        player_t p[2]

    ctypedef struct table_t "locm_table_t":
        pass

    ctypedef struct unknown_t "locm_unknown_t":
        pass

    void fill_tables "locm_fill_tables" ()
    int state_winner "locm_state_winner" (const state_t* s)
    int state_next_draw "locm_state_next_draw" (const state_t* s, int p)
    int state_count "locm_state_count" (const state_t* s, const table_t* t)
    int state_list "locm_state_list" (const state_t* s, const table_t* t, uint8_t* actions)
    int state_kth "locm_state_kth" (const state_t* s, const table_t* t, int k)
    void state_apply "locm_state_apply" (state_t* s, const table_t* t, int action)
    void state_deal "locm_state_deal" (
        state_t* s, const table_t* t, const unknown_t* u, uint64_t* stream)
    uint64_t stream_start "locm_stream_start" (uint64_t seed, uint64_t i)
    uint32_t stream_below "locm_stream_below" (uint64_t* stream, uint32_t n)
