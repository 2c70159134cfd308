// Legends of Code and Magic: the exact simulator of locmsim for bots in C (C11) and C++ (C++17).
//
// Made by `locmsim export --kernel` from the sources of the package; do not edit it. @ABOUT@
// "Section n" is one of docs/rules.md, which also has the numbers of the actions (section 12).
//
// These functions are for you; what begins with locmi_ or LOCMI_ is internal, and may change.
//
@TABLE@
//
// Functions check nothing and never fail unless they say so: actions must be legal. A state has 256
// bytes and no pointers: copy it to try things. What it refers to is in a table of cards, which
// stays as it is while states of it are in use.
//
@EXAMPLE@
//
// Where the compiler is run without optimisation, as on the site, gcc is told to optimise what
// follows; define LOCM_NO_PRAGMA to leave that out.
#ifndef LOCM_H
#define LOCM_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__) && !defined(LOCM_NO_PRAGMA)
#pragma GCC optimize("O2,no-tree-slp-vectorize")
#endif

#include <stdint.h>
@INCLUDES@
#include <string.h>
@COMMON@
@BODY@
#endif
