"""The simulator alone, as a header for bots in C or C++."""

from importlib.resources import files

__all__ = ["kernel_header", "template"]

_HEAD = """\
// Legends of Code and Magic: the exact simulator of locmsim as one header, for C17 and C++17.
//
// Made by `locmsim export --kernel` from the sources of the package; do not edit it. It has the
// battle of rule sets 1.5, 1.2 and 1.0: states, legal actions, what actions do, random playouts,
// the text that a player is sent, and full states that are consistent with what they saw. "Section
// n" is one of docs/rules.md, which also has the numbers of the actions (section 12).
//
//   #include "locm.h"
//   int main(void) {
//     locm_fill_tables();                       // once, before anything else
//     static locm_table_t offered, table;       // cards; all a state points to are their entries
//     static locm_pool_t pool;                  // which of them may be hidden, and how likely
//     static locm_shown_t seen;                 // what the text of a turn shows
//     static locm_reader_t reader;
//     static locm_belief_t belief;              // what the game so far has shown
//     locm_state_t state;                       // 256 bytes, no pointers: copy it to try things
//     locm_belief_reset(&belief);
//     for (;;) {
//       locm_reader_start(&reader, &seen, LOCM_RULES_12);
//       ... locm_reader_take(&reader, &seen, line, length, &at) for each line, until it returns 0
//       if (seen.n_cards && seen.cards[0].id == -1) ...            // an offer: the choice phase,
//         ... locm_pool_add(&pool, &offered, &seen.cards[i]) for each card
//       locm_belief_see(&belief, &seen);
//       table.rules = seen.rules;
//       table.n_cards = 0;
//       locm_belief_root(&belief, &seen, &offered, &state, &table); // or locm_state_show
//       uint8_t actions[LOCM_MAX_ACTIONS + 1];
//       int n = locm_state_list(&state, &table, actions);
//       locm_state_apply(&state, &table, actions[n - 1]);
//     }
//   }
//
// Functions never fail unless they say so, and check nothing: actions have to be legal. A table
// stays as it is while states of it are in use. The functions that have no comment, or a short one,
// are parts of others. Where the compiler is run without optimisation, as on the site, gcc is told
// to optimise what follows; define LOCM_NO_PRAGMA to leave that out.
#ifndef LOCM_H
#define LOCM_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__) && !defined(LOCM_NO_PRAGMA)
#pragma GCC optimize("O2,no-tree-slp-vectorize")
#endif

#include <stdint.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__)
#define LOCM_FUNCTION static __attribute__((unused))
#define LOCM_INLINE static inline __attribute__((always_inline, unused))
#else
#define LOCM_FUNCTION static inline
#define LOCM_INLINE static inline
#endif

"""
_TAIL = """
// The time in nanoseconds, from any start: for a bot that has to answer by a deadline.
LOCM_FUNCTION int64_t locm_now_ns(void) {
  struct timespec now;
#if defined(CLOCK_MONOTONIC)
  clock_gettime(CLOCK_MONOTONIC, &now);
#else
  timespec_get(&now, TIME_UTC);
#endif
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
"""


def template(name: str) -> str:
    """A file of C made from the sources of the package."""
    return files("locmsim.export").joinpath(f"data/{name}.h").read_text(encoding="utf-8")


def kernel_header() -> str:
    """The header.

    Returns
    -------
    str
        Valid C17 and C++17, with nothing to link.

    >>> "locm_state_apply" in kernel_header()
    True
    """
    return _HEAD + template("kernel") + _TAIL
