/* A one in each of the eight bytes. A branch that is nearly always (not) taken. A barrier over
which the compiler moves no load: without it gcc computes parts of the next action's choice
at the end of every branch of this one, and spills them (2 to 4 % of the playouts' speed). */
#define BYTES 0x0101010101010101ULL
#if defined(__GNUC__)
#define likely_(x) __builtin_expect(!!(x), 1)
#define unlikely_(x) __builtin_expect(!!(x), 0)
#define reload_() __asm__ volatile("" ::: "memory")
#else
#define likely_(x) (x)
#define unlikely_(x) (x)
#define reload_()
#endif
/* Eight bytes of memory as a word, the first one lowest; and back. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define low_first_(x) __builtin_bswap64(x)
#else
#define low_first_(x) (x)
#endif

// rule sets
enum {
  LOCM_RULES_15 = 0,
  LOCM_RULES_12 = 1,
  LOCM_RULES_10 = 2,
};

// limits (section 0)
enum {
  LOCM_MAX_DECK = 30,
  LOCM_MAX_HAND = 8,
  LOCM_MAX_BOARD = 6,  // creatures of one player; 3 a lane, or 6 in the one lane of 1.0
  LOCM_MAX_MANA = 12,
  LOCM_TURN_LIMIT = 50,
  LOCM_PLAYOUT_TURNS = 1000,  // of both players, after which a playout is broken off (section 14)
  LOCM_MAX_CARDS = 256,  // entries of a table
  LOCM_POOL_ID = 255,  // no instance: entries of the pool have no id of their own
  LOCM_MAX_ACTIONS = 155,  // no action number reaches this
  LOCM_MAX_ACTION_TEXT = 32,  // characters of an action, more than enough
  LOCM_TERMINAL_PLAYER = -4,  // current player of a finished game, as in OpenSpiel
  // |attack|, |defense| of any creature that Card's bounds allow, 500 printed + 60 items of 500:
  LOCM_MAX_STAT = 30500,  // 16 bits hold it; health takes 32
  LOCM_MAX_CARD_STAT = 500,  // |attack|, |defense|, |health change| that a card can have
};

// card types
enum {
  LOCM_CREATURE = 0,
  LOCM_GREEN = 1,
  LOCM_RED = 2,
  LOCM_BLUE = 3,
};

// what can be done with a card, the low bits of its price
enum {
  LOCM_IS_BLUE = 1,  // use it on the player; a creature has none of the bits
  LOCM_IS_GREEN = 2,  // ... on own creatures
  LOCM_ON_ENEMIES = 4,  // ... on enemy creatures: red and blue items
};

// keywords, the letters of "BCDGLW" from the lowest bit
enum {
  LOCM_BREAKTHROUGH = 1,
  LOCM_CHARGE = 2,
  LOCM_DRAIN = 4,
  LOCM_GUARD = 8,
  LOCM_LETHAL = 16,
  LOCM_WARD = 32,
};

// areas (1.5)
enum {
  LOCM_AREA_TARGET = 0,
  LOCM_AREA_LANE1 = 1,
  LOCM_AREA_LANE2 = 2,
};

// kinds of action, see `move_t`
enum {
  LOCM_PASS = 0,
  LOCM_SUMMON = 1,
  LOCM_USE = 2,
  LOCM_ATTACK = 3,
};

// masks in `player_t.marks`, as shifts
enum {
  LOCM_READY = 0,
  LOCM_OCCUPIED = 6,
  LOCM_GUARDED = 12,
  LOCM_SPENT = 18,
};

enum {
  LOCM_MAX_SHOWN = 120,  // card rows: those of an offer
  LOCM_MAX_SHOWN_ACTIONS = 64,  // of a turn; no rules allow so many
  LOCM_MAX_SHOWN_NUMBER = 1000000000,  // of any field, either way
  LOCM_NO_TARGET = -2000000000,
  LOCM_OFFERED = -1,  // instance id of all cards on offer
};

enum {
  LOCM_MAX_WEIGHT = 65535,
};

enum {
  LOCM_ALL_MARKS = 266305,  // times a mask of board slots: that mask in all of `marks`
  LOCM_FIRST_USE = 17,  // action numbers, two lanes and one
  LOCM_FIRST_ATTACK = 121,
  LOCM_FIRST_USE_1 = 9,
  LOCM_FIRST_ATTACK_1 = 113,
  LOCM_NUM_ACTIONS_2 = 145,
  LOCM_NUM_ACTIONS_1 = 155,
};

enum {
  LOCM_MAX_HEALTH = 1000000000,
  LOCM_MAX_TURN = 1073741824,
};

enum {
  LOCM_MAX_COLUMNS = 13,
  LOCM_MAX_SHOWN_TEXT = 32768,  // characters, more than enough: 64 actions, 120 rows of 13 numbers
};

enum {
  LOCM_MAX_DIGITS = 9,
};

// what the next line is
enum {
  LOCM_OWN_LINE = 0,
  LOCM_THEIR_LINE = 1,
  LOCM_COUNTS = 2,
  LOCM_ACTION_LINES = 3,
  LOCM_NUMBER_OF_CARDS = 4,
  LOCM_CARD_ROWS = 5,
};

// what is wrong with a line, or a row
enum {
  LOCM_WRONG_COUNT = 1,  // of columns
  LOCM_WRONG_COLUMN = 2,
  LOCM_WRONG_ACTION = 3,
  LOCM_WRONG_END = 4,  // something follows
  LOCM_WRONG_PHASE = 5,  // cards on offer and cards in play
  LOCM_WRONG_LANE = 6,
  LOCM_WRONG_TYPE = 7,
  LOCM_WRONG_OFFER = 8,  // an offered card on a board
  LOCM_WRONG_NUMBER = 9,  // too many cards
};

enum {
  LOCM_ANY = 999999999,
};

enum {
  LOCM_COPIES = 2,  // of a card in a deck of 1.5
};

enum {
  LOCM_IDS_PER_PLAYER = 60,  // 1.5: ids at this distance belong to different players
};

typedef struct locm_creature_t locm_creature_t;
typedef struct locm_card_t locm_card_t;
typedef struct locm_table_t locm_table_t;
typedef struct locm_player_t locm_player_t;
typedef struct locm_state_t locm_state_t;
typedef struct locm_move_t locm_move_t;
typedef struct locm_shown_player_t locm_shown_player_t;
typedef struct locm_shown_card_t locm_shown_card_t;
typedef struct locm_shown_action_t locm_shown_action_t;
typedef struct locm_shown_t locm_shown_t;
typedef struct locm_unknown_t locm_unknown_t;
typedef struct locm_mine_t locm_mine_t;
typedef struct locm_theirs_t locm_theirs_t;
typedef struct locm_legal_t locm_legal_t;
typedef struct locm_named_t locm_named_t;
typedef struct locm_line_t locm_line_t;
typedef struct locm_reader_t locm_reader_t;
typedef struct locm_belief_t locm_belief_t;
typedef struct locm_pool_t locm_pool_t;

// 8 bytes, so that closing a gap moves one word a creature
struct locm_creature_t {
  int16_t attack;
  int16_t defense;  // 0 in an empty slot, as everything else
  uint8_t card;  // table entry
  uint8_t keywords;
  uint8_t copy;  // 1: area copy, its id is the entry's id + 1 (section 7)
  uint8_t forgotten;  // 1.x: the protocol shows 0 for my/opp/draw (section 9)
};

// one entry of the table: a card, and the instance id it goes by
struct locm_card_t {
  int16_t attack;
  int16_t defense;
  int16_t my_health;  // health change of the player who plays the card
  int16_t opponent_health;  // ... and of the other player
  uint8_t cost;  // mana, 0..127
  uint8_t draw;  // cards added to the next draw
  uint8_t type;
  uint8_t keywords;
  uint8_t area;
  uint8_t id;  // instance id 0..254 (an area copy has id + 1); 255 in pool entries
  uint16_t base_id;
  // What follows is derived: see `complete_card`.
  locm_creature_t creature;  // as it enters the board
  uint32_t marks;  // ... and its marks, in slot 0
  uint32_t price;  // ... and the card in `player_t.prices`, at hand position 0
};

// immutable; shared by all clones of a state
struct locm_table_t {
  int32_t rules;  // RULES_15, RULES_12 or RULES_10
  int32_t n_instances;
  int32_t n_cards;
  int32_t _pad[5];  // no card lies across two cache lines
  // First the instances of the game, then the pool (each card once): a hidden card may be replaced
  // by any entry, also of the pool. Last, so that a table of few cards can be cut short where many
  // lie side by side; drawing may look at entries beyond, so 8 KB behind it have to be readable.
  locm_card_t cards[LOCM_MAX_CARDS];
};

// 96 bytes
struct locm_player_t {
  // Hand, in draw order without gaps; byte h of each word belongs to position h and is 0 beyond
  // the hand. Packed, because then removing a card is a shift, and what to do with each card and
  // whether there is mana for it is found for all of them at once.
  uint64_t hand;  // table entries
  uint64_t prices;  // 8 * (15 - cost), cost at most 14, plus the bits above
  // Board: slot 3*lane + i (1.0: slot i), in summon order and without gaps within a lane. Four
  // masks of six slots: a turn's end, a removal or an attack changes them all at once, and two
  // masks that are neighbours are one index of a table.
  uint32_t marks;  // READY (can attack), OCCUPIED, GUARDED (Guard), SPENT (attacked)
  locm_creature_t board[LOCM_MAX_BOARD];
  int32_t health;
  int32_t lost;  // 1.5: health lost since their last draw; 5 give a card. 1.x: 0
  int32_t next_draw;  // cards to draw at their next turn, without those for `lost`
  int32_t shown_draw;  // the number that the protocol prints for them (section 9)
  uint8_t mana;  // left this turn
  uint8_t max_mana;
  uint8_t bonus;  // 1 while they hold the second player's bonus mana
  uint8_t hand_size;
  uint8_t deck_left;
  uint8_t runes;  // 1.x: bit i = the rune at health 5 * (i + 1) is left. 1.5: 0
  uint8_t order;  // summon order over both lanes: a one, then each creature's lane
  uint8_t won;  // this player has won
  uint32_t _pad;
};

// 256 bytes
struct locm_state_t {
  // table entries in draw order, the last at MAX_DECK - 1; 0 = drawn
  uint8_t deck[2][LOCM_MAX_DECK];
  int32_t turn;  // turns of both players together, from 0; player turn & 1 is to move
  locm_player_t p[2];
};

struct locm_move_t {
  uint8_t kind;
  uint8_t source;  // SUMMON, USE: hand position; ATTACK: own slot
  uint8_t target;  // SUMMON: lane; USE: 0 player, 1 + own slot, 7 + enemy slot;
  uint8_t _pad;  // ATTACK: 0 player, 1 + enemy slot
};

// a player line of the protocol (section 9)
struct locm_shown_player_t {
  int32_t health;
  int32_t max_mana;
  int32_t deck_size;
  int32_t draw;
  int32_t rune;
};

// a card row
struct locm_shown_card_t {
  int32_t base_id;
  int32_t id;
  int32_t location;  // 0 hand, 1 own board, -1 the opponent's
  int32_t type;
  int32_t cost;
  int32_t attack;
  int32_t defense;
  int32_t keywords;
  int32_t my_health;
  int32_t opponent_health;
  int32_t draw;
  int32_t area;
  int32_t lane;  // -1 off the board
};

// what the opponent did
struct locm_shown_action_t {
  int32_t base_id;
  int32_t kind;  // SUMMON, USE or ATTACK
  int32_t id;  // of the card that did it
  int32_t target;  // instance id, -1 for a player; SUMMON: the lane; or NO_TARGET
};

// an observation
struct locm_shown_t {
  int32_t rules;
  locm_shown_player_t player[2];  // own, the opponent's
  int32_t opponent_hand;
  int32_t n_actions;
  int32_t n_cards;
  locm_shown_action_t actions[LOCM_MAX_SHOWN_ACTIONS];
  locm_shown_card_t cards[LOCM_MAX_SHOWN];
};

// what one player cannot see, and what it may be: see `Determinizer`
struct locm_unknown_t {
  int32_t viewer;
  int32_t n[2];  // candidates for the hidden places of each player
  uint8_t entry[2][LOCM_MAX_CARDS];  // ... their table entries
  uint8_t group[2][LOCM_MAX_CARDS];  // ... the group that each belongs to
  uint32_t weight[2][LOCM_MAX_CARDS];  // ... how likely each is, 1..MAX_WEIGHT
  uint8_t copies[2][LOCM_MAX_CARDS];  // [group]: cards that it gives, whichever of its candidates
};

// what counting legal actions needs to know of one's own board
struct locm_mine_t {
  uint16_t attackers;  // creatures that can attack, + 256 * those of lane 1
  int8_t creatures;  // ... there are, less `lanes`
  int8_t lanes;  // lanes with room for a creature
};

// ... and of the other one
struct locm_theirs_t {
  uint16_t targets;  // of an attacker in lane 1, + 256 * in lane 0
  int8_t creatures;
  uint8_t _pad;
};

struct locm_legal_t {
  uint64_t attacks;
  uint64_t plays;  // byte h: summons and uses of the hand positions 0..h together
};

// Called through pointers, so that the compiler keeps them apart: each has the registers to itself.
typedef int (*locm_rollout_t)(locm_state_t *, const locm_table_t *, uint64_t, uint64_t *);

// an action by what it names
struct locm_named_t {
  int kind;
  int source;  // instance ids; -1: a player
  int target;  // SUMMON: the lane
};

// a line, split at blanks
struct locm_line_t {
  int32_t n;  // columns; more than MAX_COLUMNS are not told apart
  int32_t bad;  // the first column that cannot be what it should
  int32_t start[14];
  int32_t end[14];
};

struct locm_reader_t {
  int32_t stage;  // what the next line is
  int32_t done;  // lines of its kind that were read
  int32_t places[3][3];  // cards so far by location + 1 and lane + 1
  // The line that was read last; in a fault it is the one.
  int32_t number;  // from 1
  int32_t begin;  // where it begins
  int32_t fault;  // what is wrong with it, 0: nothing
  locm_line_t line;
};

struct locm_belief_t {
  int32_t rules;
  int32_t seat;  // 0 or 1; -1 as long as nothing tells
  int32_t turn;  // own turns before the present one
  int32_t n_kinds;
  // Cards taken, in the order in which they were taken first.
  int32_t n_chosen;
  int32_t chosen[LOCM_MAX_CARDS];  // base id
  int32_t copies[LOCM_MAX_CARDS];
  // Cards seen, own and the opponent's, in the order in which they were seen first.
  int32_t n_seen[2];
  int32_t seen_id[2][LOCM_MAX_CARDS];
  int32_t seen[2][LOCM_MAX_CARDS];  // base id
};

// the cards that may be in the game
struct locm_pool_t {
  const locm_table_t *t;  // no instances
  int32_t n;  // cards, in the order in which they are considered:
  uint8_t entry[LOCM_MAX_CARDS];  // ... entry of the table
  double weight[LOCM_MAX_CARDS];  // ... how attractive it is
  int32_t n_triplets;  // of a complete draft, else 0
  uint8_t triplet_size[LOCM_MAX_DECK];
  uint8_t triplet[LOCM_MAX_DECK][3];  // entries of the table
  double triplet_weight[LOCM_MAX_DECK][3];
};

LOCM_INLINE double locm_max_double(double a, double b) {
  return b > a ? b : a;
}

LOCM_INLINE int locm_max_int(int a, int b) {
  return b > a ? b : a;
}

LOCM_INLINE int locm_min_int(int a, int b) {
  return b < a ? b : a;
}

LOCM_FUNCTION int locm_rollout_15(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n);
LOCM_FUNCTION int locm_rollout_12(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n);
LOCM_FUNCTION int locm_rollout_10(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n);

// bits set in a byte
static uint8_t LOCM_COUNT[256];
// [8 * byte + n]: position of the n-th set bit
static uint8_t LOCM_NTH[2048];
// all ones in the lowest n bytes
static uint64_t LOCM_TAKEN[9];
// [64 * n + k]: k // n, a load instead of a division
static uint8_t LOCM_QUOTIENT[512];
// [one lane?][ready and occupied slots]
static locm_mine_t LOCM_MINE[2][4096];
// [one lane?][occupied and guarded slots]
static locm_theirs_t LOCM_THEIRS[2][4096];
// ... what an attacker in lane 0 (low byte) or 1 may attack:
// bit 0 the player, bit 1 + i enemy i of that lane
static uint16_t LOCM_TARGETS[2][4096];
// [attackers of a lane, what they may attack, k]: k-th attack,
// attacker + 16 * target (0 the player); two lanes only
static uint8_t LOCM_ATTACKS[2048];
// [one lane?][slot]: marks that stay when the slot is removed
static uint32_t LOCM_KEEP[2][LOCM_MAX_BOARD];
// ... and, after a shift by one, those that move down
static uint32_t LOCM_CLOSE[2][LOCM_MAX_BOARD];
// [one lane?][action]: the decoded action
static locm_move_t LOCM_MOVES[2][LOCM_MAX_ACTIONS];
// [area][slot]: slots that an item on this one reaches
static uint8_t LOCM_REACH[3][LOCM_MAX_BOARD];
// [health, at most 26]: runes lost when it is reached
static uint8_t LOCM_RUNES_HIT[32];
static locm_rollout_t LOCM_ROLLOUT[3] = {locm_rollout_15, locm_rollout_12, locm_rollout_10};

LOCM_FUNCTION locm_mine_t locm_mine_of(uint32_t ready, uint32_t occupied, int one) {
  locm_mine_t m;
  if (one) {
    m.attackers = LOCM_COUNT[ready];
    m.lanes = occupied != 63;
  }
  else {
    m.attackers = LOCM_COUNT[ready & 7] | (LOCM_COUNT[ready >> 3] << 8);
    // the lanes' last slots are free
    m.lanes = 2 - ((occupied >> 2) & 1) - (occupied >> 5);
  }
  m.creatures = LOCM_COUNT[occupied] - m.lanes;
  return m;
}

LOCM_FUNCTION locm_theirs_t locm_theirs_of(uint32_t occupied, uint32_t targets) {
  locm_theirs_t m;
  m.targets = LOCM_COUNT[targets >> 8] | (LOCM_COUNT[targets & 255] << 8);
  m.creatures = LOCM_COUNT[occupied];
  m._pad = 0;
  return m;
}

LOCM_FUNCTION uint16_t locm_targets_of(uint32_t occupied, uint32_t guarded, int one) {
  if (one) return guarded ? guarded << 1 : (occupied << 1) | 1;
  return locm_targets_of(occupied & 7, guarded & 7, 1) | (locm_targets_of(occupied >> 3,
      guarded >> 3, 1) << 8);
}

// The action numbering (section 12): what `MOVES` is filled with.
LOCM_FUNCTION locm_move_t locm_move_of(int action, int one) {
  locm_move_t m;
  int first_use = one ? LOCM_FIRST_USE_1 : LOCM_FIRST_USE;
  int first_attack = one ? LOCM_FIRST_ATTACK_1 : LOCM_FIRST_ATTACK;
  int width = one ? 7 : 4;
  memset(&m, 0, sizeof(locm_move_t));
  if (action == 0 || action >= (one ? LOCM_NUM_ACTIONS_1 : LOCM_NUM_ACTIONS_2)) m.kind = LOCM_PASS;
  else if (action < first_use) {
    m.kind = LOCM_SUMMON;
    m.source = one ? action - 1 : (action - 1) / 2;
    m.target = one ? 0 : (action - 1) % 2;
  }
  else if (action < first_attack) {
    m.kind = LOCM_USE;
    m.source = (action - first_use) / 13;
    m.target = (action - first_use) % 13;
  }
  else {
    m.kind = LOCM_ATTACK;
    m.source = (action - first_attack) / width;
    m.target = (action - first_attack) % width;
    if (m.target && !one && m.source >= 3) {
      // 1 + i in the lane -> 1 + slot
      m.target += 3;
    }
  }
  return m;
}

LOCM_FUNCTION void locm_fill_tables(void) {
  int i;
  int j;
  int n;
  int one;
  int low;
  int last;
  int action;
  for (i = 0; i < 256; i++) {
    n = 0;
    for (j = 0; j < 8; j++) {
      if ((i >> j) & 1) {
        LOCM_NTH[8 * i + n] = j;
        n++;
      }
    }
    LOCM_COUNT[i] = n;
  }
  for (int i1_ = 1; i1_ < 9; i1_++) {
    n = i1_;
    LOCM_TAKEN[n] = (LOCM_TAKEN[n - 1] << 8) | 255;
  }
  for (int i2_ = 1; i2_ < 8; i2_++) {
    n = i2_;
    for (i = 0; i < 64; i++) LOCM_QUOTIENT[64 * n + i] = i / n;
  }
  for (one = 0; one < 2; one++) {
    for (i = 0; i < 4096; i++) {
      LOCM_MINE[one][i] = locm_mine_of(i & 63, i >> 6, one);
      LOCM_TARGETS[one][i] = locm_targets_of(i & 63, i >> 6, one);
      LOCM_THEIRS[one][i] = locm_theirs_of(i & 63, LOCM_TARGETS[one][i]);
    }
    for (i = 0; i < LOCM_MAX_BOARD; i++) {
      last = i < 3 && !one ? 2 : 5;
      low = (1 << i) - 1;
      LOCM_KEEP[one][i] = (uint32_t)LOCM_ALL_MARKS * ((low | ~((2 << last) - 1)) & 63);
      LOCM_CLOSE[one][i] = (uint32_t)LOCM_ALL_MARKS * (((1 << last) - 1) & ~low);
    }
    for (action = 0; action < LOCM_MAX_ACTIONS; action++) {
      LOCM_MOVES[one][action] = locm_move_of(action, one);
    }
  }
  for (i = 0; i < 128; i++) {
    n = 0;
    for (j = 0; j < 3; j++) {
      for (int i3_ = 0; i3_ < 4; i3_++) {
        low = i3_;
        if ((i >> 4 >> j) & 1 && (i >> low) & 1) {
          LOCM_ATTACKS[16 * i + n] = j | (low << 4);
          n++;
        }
      }
    }
  }
  for (i = 0; i < LOCM_MAX_BOARD; i++) {
    LOCM_REACH[LOCM_AREA_TARGET][i] = 1 << i;
    LOCM_REACH[LOCM_AREA_LANE1][i] = i < 3 ? 7 : 56;
    LOCM_REACH[LOCM_AREA_LANE2][i] = 63;
  }
  for (i = 0; i < 32; i++) {
    n = 0;
    for (j = 0; j < 5; j++) {
      if (i <= 5 * (j + 1)) n |= 1 << j;
    }
    LOCM_RUNES_HIT[i] = n;
  }
}

// 0 or 1, who is to move
LOCM_FUNCTION int locm_state_player(const locm_state_t *s) {
  return s->turn & 1;
}

// 0 or 1; -1 while nobody has won
LOCM_FUNCTION int locm_state_winner(const locm_state_t *s) {
  if (s->p[0].won) return 0;
  return s->p[1].won ? 1 : -1;
}

// cards p will draw, in all
LOCM_FUNCTION int locm_state_next_draw(const locm_state_t *s, int p) {
  return s->p[p].next_draw + s->p[p].lost / 5;
}

LOCM_FUNCTION locm_move_t locm_decode_action(const locm_table_t *t, int action) {
  return LOCM_MOVES[t->rules == LOCM_RULES_10][action];
}

// One byte of the marks: a mask of board slots.
LOCM_INLINE uint32_t locm_marked(const locm_player_t *p, int which) {
  return (p->marks >> which) & 63;
}

// Byte h: 1 if the cost of hand position h can be paid, 0 beyond the hand.
LOCM_INLINE uint64_t locm_payable(const locm_player_t *p) {
  // The top bit of 8 * (15 - cost) + 8 * (mana + 1) + (0..7) tells. There is no carry.
  return ((p->prices + (uint64_t)(8 * p->mana + 8) * BYTES) >> 7) & BYTES;
}

// Mask of the bytes whose lowest bit is set.
LOCM_INLINE uint32_t locm_gathered(uint64_t bytes) {
  // The multiplication gathers the lowest bits of the eight bytes in the highest byte.
  return (uint32_t)((bytes & BYTES) * 0x102040810204080ULL >> 56);
}

// Number of legal actions, PASS included, and in `l` what they are made of.
LOCM_INLINE uint64_t locm_count_legal(const locm_player_t *me, const locm_player_t *op,
    locm_legal_t *l, const int rules) {
  const locm_mine_t *mine = &LOCM_MINE[rules == LOCM_RULES_10][me->marks & 4095];
  const locm_theirs_t *theirs = &LOCM_THEIRS[rules == LOCM_RULES_10][(op->marks >> LOCM_OCCUPIED) &
      4095];
  // Byte h: choices for hand position h, at most 7: as many as lanes with room, and for an item
  // that many less than its targets more. One multiplication sums them, and the sums on the way
  // find the k-th below.
  int64_t lanes = mine->lanes;
  uint64_t choices = lanes * BYTES + (me->prices & BYTES) + ((me->prices >> 1) & BYTES) *
      (uint64_t)mine->creatures + ((me->prices >> 2) & BYTES) * (uint64_t)(theirs->creatures -
      lanes);
  uint64_t paid = locm_payable(me);
  l->plays = (choices & ((paid << 8) - paid)) * BYTES;
  // (a + 256 b) * (d + 256 c) has a * c + b * d, both lanes' attacks, in its second byte.
  l->attacks = ((uint32_t)mine->attackers * theirs->targets >> 8) & 255;
  return 1 + l->attacks + (l->plays >> 56);
}

// Slot of the i-th creature, lane 0 before lane 1.
LOCM_INLINE int locm_slot_of(const locm_player_t *p, int i, const int rules) {
  int first;
  if (rules == LOCM_RULES_10) return i;
  first = LOCM_COUNT[(p->marks >> LOCM_OCCUPIED) & 7];
  return i + (3 - first) * (i >= first);
}

// The k-th attack: lane by lane, attacker by attacker. With two lanes by one table, as dividing
// and looking up both parts is a long chain of dependent steps (1 % in 1.5, 4 % in 1.2).
LOCM_INLINE locm_move_t locm_kth_attack(const locm_player_t *me, const locm_player_t *op, int k,
    const int rules) {
  int one = rules == LOCM_RULES_10;
  uint32_t index = (op->marks >> LOCM_OCCUPIED) & 4095;
  uint32_t targets = LOCM_TARGETS[one][index];
  const locm_mine_t *mine = &LOCM_MINE[one][me->marks & 4095];
  int first = (mine->attackers & 255) * (LOCM_THEIRS[one][index].targets >> 8);
  int lane = one ? 0 : k >= first;
  int n;
  int attacker;
  locm_move_t m;
  m.kind = LOCM_ATTACK;
  m._pad = 0;
  k -= first * lane;
  targets = (targets >> 8 * lane) & 255;
  if (one) {
    n = LOCM_COUNT[targets];
    attacker = LOCM_QUOTIENT[64 * n + k];
    k = LOCM_NTH[8 * targets + k - attacker * n];
    m.source = LOCM_NTH[8 * (me->marks & 63) + attacker];
    m.target = k;
  }
  else {
    n = LOCM_ATTACKS[(((me->marks >> 3 * lane) & 7) << 8) | (targets << 4) | k];
    k = n >> 4;
    m.source = 3 * lane + (n & 15);
    m.target = k + 3 * lane * (k != 0);
  }
  return m;
}

// The k-th summon or use, in the order of the hand.
LOCM_INLINE locm_move_t locm_kth_play(const locm_player_t *me, const locm_player_t *op,
    uint64_t plays, uint64_t n, const int rules) {
  // The top bits of the positions whose plays, and those before, are at most k; their number.
  uint64_t before = n * BYTES + (128 * BYTES - plays);
  int h = (int)(((before >> 7) & BYTES) * BYTES >> 56);
  uint32_t price = (uint32_t)(me->prices >> 8 * h);
  int blue = price & LOCM_IS_BLUE;
  int green = (price >> 1) & 1;
  locm_move_t m;
  int k = (int)(n - ((plays << 8 >> 8 * h) & 255));
  m.source = h;
  m._pad = 0;
  if ((price & 6) == 0) {
    m.kind = LOCM_SUMMON;
    // If lane 0 is full: lane 1.
    m.target = rules == LOCM_RULES_10 ? 0 : k | ((me->marks >> 8) & 1);
  }
  else {
    m.kind = LOCM_USE;
    m.target = 7 - 6 * green + locm_slot_of(green ? me : op, k - blue, rules);
    // a blue item's first target is the player
    m.target = m.target * (k >= blue);
  }
  return m;
}

// The k-th legal action, in the order that state_kth has.
LOCM_INLINE locm_move_t locm_kth_legal(const locm_player_t *me, const locm_player_t *op,
    const locm_legal_t *l, int k, const int rules) {
  if (k == 0) return LOCM_MOVES[0][LOCM_PASS];
  if (k <= (int)l->attacks) return locm_kth_attack(me, op, k - 1, rules);
  return locm_kth_play(me, op, l->plays, k - 1 - l->attacks, rules);
}

// The number of a decoded action: the inverse of `move_of`.
LOCM_INLINE int locm_action_of(locm_move_t m, const int one) {
  if (m.kind == LOCM_PASS) return 0;
  if (m.kind == LOCM_SUMMON) return one ? 1 + m.source : 1 + 2 * m.source + m.target;
  if (m.kind == LOCM_USE) {
    return (one ? LOCM_FIRST_USE_1 : LOCM_FIRST_USE) + 13 * m.source + m.target;
  }
  if (one) return LOCM_FIRST_ATTACK_1 + 7 * m.source + m.target;
  return LOCM_FIRST_ATTACK + 4 * m.source + m.target - (m.target && m.source >= 3 ? 3 : 0);
}

// ... and back
LOCM_FUNCTION int locm_encode_action(const locm_table_t *t, locm_move_t m) {
  return locm_action_of(m, t->rules == LOCM_RULES_10);
}

// All legal actions, ascending; returns their number.
LOCM_INLINE int locm_list_legal(const locm_player_t *me, const locm_player_t *op, uint8_t *out,
    const int rules) {
  int one = rules == LOCM_RULES_10;
  int first = one ? LOCM_FIRST_USE_1 : LOCM_FIRST_USE;
  int width = one ? 7 : 4;
  uint32_t hand = locm_gathered(locm_payable(me));
  uint32_t items = locm_gathered((me->prices >> 1) | (me->prices >> 2));
  uint32_t own = locm_marked(me, LOCM_OCCUPIED);
  uint32_t enemy = locm_marked(op, LOCM_OCCUPIED);
  uint32_t left;
  uint32_t mask;
  uint32_t price;
  int n;
  int h;
  int slot;
  int base;
  int lane;
  *out = 0;
  n = 1;
  left = hand & ~items;
  while (left) {
    h = LOCM_NTH[8 * left];
    left &= left - 1;
    if (one) {
      out[n] = 1 + h;
      n += own != 63;
    }
    else {
      out[n] = 1 + 2 * h;
      n += (~own >> 2) & 1;
      out[n] = 2 + 2 * h;
      n += (~own >> 5) & 1;
    }
  }
  // Items in hand order: 13 targets each, of which the masks below are the legal ones.
  left = hand & items;
  while (left) {
    h = LOCM_NTH[8 * left];
    left &= left - 1;
    base = first + 13 * h;
    price = (uint32_t)(me->prices >> 8 * h);
    if (price & LOCM_IS_GREEN) {
      mask = own;
      base++;
    }
    else {
      out[n] = base;
      n += price & LOCM_IS_BLUE;
      mask = enemy;
      base += 7;
    }
    while (mask) {
      out[n] = base + LOCM_NTH[8 * mask];
      n++;
      mask &= mask - 1;
    }
  }
  left = locm_marked(me, LOCM_READY);
  while (left) {
    slot = LOCM_NTH[8 * left];
    left &= left - 1;
    lane = one ? 0 : slot >= 3;
    base = (one ? LOCM_FIRST_ATTACK_1 : LOCM_FIRST_ATTACK) + width * slot;
    mask = (LOCM_TARGETS[one][(op->marks >> LOCM_OCCUPIED) & 4095] >> 8 * lane) & 255;
    while (mask) {
      out[n] = base + LOCM_NTH[8 * mask];
      n++;
      mask &= mask - 1;
    }
  }
  return n;
}

LOCM_INLINE int locm_move_is_legal(const locm_player_t *me, const locm_player_t *op, locm_move_t m,
    const int rules) {
  uint32_t price;
  int lane;
  if (m.kind == LOCM_PASS) return 1;
  if (m.kind == LOCM_ATTACK) {
    if (!((locm_marked(me, LOCM_READY) >> m.source) & 1)) return 0;
    lane = rules == LOCM_RULES_10 ? 0 : m.source >= 3;
    return (LOCM_TARGETS[rules == LOCM_RULES_10][(op->marks >> LOCM_OCCUPIED) & 4095] >> (8 * lane +
        m.target - (lane && m.target ? 3 : 0))) & 1;
  }
  if (!((locm_payable(me) >> 8 * m.source) & 1)) return 0;
  price = (uint32_t)(me->prices >> 8 * m.source);
  if (m.kind == LOCM_SUMMON) {
    if (price & 6) return 0;
    if (rules == LOCM_RULES_10) return locm_marked(me, LOCM_OCCUPIED) != 63;
    return !((locm_marked(me, LOCM_OCCUPIED) >> (3 * m.target + 2)) & 1);
  }
  if (m.target == 0) return price & LOCM_IS_BLUE;
  if (m.target < 7) return (price >> 1) & (locm_marked(me, LOCM_OCCUPIED) >> (m.target - 1)) & 1;
  return (price >> 2) & (locm_marked(op, LOCM_OCCUPIED) >> (m.target - 7)) & 1;
}

// What is legal (section 6). None of these looks at the winner.
LOCM_FUNCTION int locm_state_count(const locm_state_t *s, const locm_table_t *t) {
  locm_legal_t l;
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  if (t->rules == LOCM_RULES_10) return (int)locm_count_legal(me, op, &l, LOCM_RULES_10);
  // 1.2 has the same legal actions
  return (int)locm_count_legal(me, op, &l, LOCM_RULES_15);
}

// ... ascending; returns their number. `actions` has room for MAX_ACTIONS + 1.
LOCM_FUNCTION int locm_state_list(const locm_state_t *s, const locm_table_t *t, uint8_t *actions) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  if (t->rules == LOCM_RULES_10) return locm_list_legal(me, op, actions, LOCM_RULES_10);
  return locm_list_legal(me, op, actions, LOCM_RULES_15);
}

// ... 0 <= k < count: PASS, attacks, cards in hand order; a fixed order, but not the ascending one
LOCM_FUNCTION int locm_state_kth(const locm_state_t *s, const locm_table_t *t, int k) {
  locm_legal_t l;
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  if (t->rules == LOCM_RULES_10) {
    locm_count_legal(me, op, &l, LOCM_RULES_10);
    return locm_action_of(locm_kth_legal(me, op, &l, k, LOCM_RULES_10), 1);
  }
  locm_count_legal(me, op, &l, LOCM_RULES_15);
  return locm_action_of(locm_kth_legal(me, op, &l, k, LOCM_RULES_15), 0);
}

LOCM_FUNCTION int locm_state_is_legal(const locm_state_t *s, const locm_table_t *t, int action) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  if (t->rules == LOCM_RULES_10) {
    return 0 <= action && action < LOCM_NUM_ACTIONS_1 && locm_move_is_legal(me, op,
        LOCM_MOVES[1][action], LOCM_RULES_10);
  }
  return 0 <= action && action < LOCM_NUM_ACTIONS_2 && locm_move_is_legal(me, op,
      LOCM_MOVES[0][action], LOCM_RULES_15);
}

LOCM_INLINE void locm_add_to_hand(locm_player_t *p, const locm_table_t *t, uint8_t entry) {
  const locm_card_t *c = &t->cards[entry];
  int h = p->hand_size;
  p->hand |= (uint64_t)entry << 8 * h;
  p->prices |= (uint64_t)c->price << 8 * h;
  p->hand_size = h + 1;
}

LOCM_INLINE void locm_remove_from_hand(locm_player_t *p, int h) {
  // x moves down by one place from position h on: below it keep x, from there take x shifted.
  uint64_t below = (1ULL << 8 * h) - 1;
  uint64_t hand = p->hand >> 8;
  uint64_t prices = p->prices >> 8;
  p->hand = hand ^ ((hand ^ p->hand) & below);
  p->prices = prices ^ ((prices ^ p->prices) & below);
  p->hand_size--;
}

// Append a creature to a lane that has room.
LOCM_INLINE void locm_add_creature(locm_player_t *p, const locm_card_t *c, const int copy,
    int lane, const int rules, const int shown) {
  int slot = rules == LOCM_RULES_10 ? LOCM_COUNT[locm_marked(p,
      LOCM_OCCUPIED)] : 3 * lane + LOCM_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 7];
  p->board[slot] = c->creature;
  if (copy) p->board[slot].copy = 1;
  p->marks |= c->marks << slot;
  if (shown) p->order = (p->order << 1) | lane;
}

// Take a creature off the board and close the gap in its lane.
LOCM_INLINE void locm_remove_creature(locm_player_t *p, int slot, const int rules,
    const int shown) {
  int one = rules == LOCM_RULES_10;
  int j;
  int lane;
  int i;
  int bit;
  // of its lane; no comparison, no branch
  int start = one ? 0 : 3 * ((slot + 1) >> 2);
  locm_creature_t *first = &p->board[start];
  int size = one ? LOCM_MAX_BOARD : 3;
  if (shown) {
    // Find the creature's bit in the order: the i-th of its lane, from the top.
    lane = one ? 0 : slot >= 3;
    i = slot - 3 * lane;
    bit = LOCM_COUNT[locm_marked(p, LOCM_OCCUPIED)];
    while (i >= 0) {
      bit--;
      i -= ((p->order >> bit) & 1) == lane;
    }
    p->order = (p->order >> (bit + 1) << bit) | (p->order & ((1 << bit) - 1));
  }
  p->marks = (p->marks & LOCM_KEEP[one][slot]) | ((p->marks >> 1) & LOCM_CLOSE[one][slot]);
  slot -= start;
  for (j = 0; j < size - 1; j++) {
    // no branch: the slot is hard to predict
    first[j] = first[j + (j >= slot)];
  }
  memset(&first[size - 1], 0, sizeof(locm_creature_t));
}

// A health change by an action: losses give cards (section 5).
LOCM_INLINE void locm_change_health(locm_player_t *p, int change, const int rules) {
  uint32_t hit;
  p->health += change;
  if (rules == LOCM_RULES_15) {
    // only what is negative
    p->lost -= change & (change >> 31);
  }
  else if (change < 0) {
    hit = p->runes & LOCM_RUNES_HIT[p->health < 0 ? 0 : p->health > 26 ? 26 : p->health];
    p->runes ^= hit;
    p->next_draw += LOCM_COUNT[hit];
  }
}

// Move the top n cards of the deck, which has as many, to the hand, which has room.
LOCM_INLINE void locm_take_cards(locm_state_t *s, const locm_table_t *t, int who, locm_player_t *p,
    int n) {
  uint8_t *top = &s->deck[who][LOCM_MAX_DECK - p->deck_left];
  // Eight cards as one word, of which n are taken. The prices of two are looked up whether or not
  // they are taken, as how many are is hard to predict. The word may reach beyond the deck, but
  // not beyond the state.
  uint64_t cards;
  uint64_t prices;
  uint64_t taken = LOCM_TAKEN[n];
  int h;
  memcpy(&cards, top, 8);
  cards = low_first_(cards);
  prices = t->cards[cards & 255].price | ((uint64_t)t->cards[(cards >> 8) & 255].price << 8);
  for (int i1_ = 2; i1_ < n; i1_++) {
    h = i1_;
    prices |= (uint64_t)t->cards[(cards >> 8 * h) & 255].price << 8 * h;
  }
  // the hand may be full if n is 0
  h = 8 * p->hand_size & 63;
  p->hand |= (cards & taken) << h;
  p->prices |= (prices & taken) << h;
  cards = low_first_(cards & ~taken);
  memcpy(top, &cards, 8);
  p->hand_size += n;
  p->deck_left -= n;
}

// The draws at a turn's start (section 5), by player `who`, who is `p`; sets no winner.
LOCM_INLINE void locm_draw(locm_state_t *s, const locm_table_t *t, int who, locm_player_t *p,
    int n, const int rules) {
  int taken;
  int late = unlikely_(s->turn >= 100);
  if (rules == LOCM_RULES_15) {
    if (late) p->health -= 10;
    taken = LOCM_MAX_HAND - p->hand_size;
    if (taken > n) taken = n;
    if (unlikely_(taken > p->deck_left)) taken = p->deck_left;
    n -= taken;
    locm_take_cards(s, t, who, p, taken);
    // the deck is empty if n is not 0
    p->health -= 10 * n * (p->hand_size < LOCM_MAX_HAND);
    return;
  }
  if (!late && n <= p->deck_left) {
    taken = LOCM_MAX_HAND - p->hand_size;
    locm_take_cards(s, t, who, p, n < taken ? n : taken);
    return;
  }
  while (n > 0) {
    n--;
    if (late || p->deck_left == 0) {
      if (p->runes == 0) {
        p->health = 0;
        return;
      }
      taken = 4;
      while (!((p->runes >> taken) & 1)) taken--;
      p->runes ^= 1 << taken;
      p->health = 5 * (taken + 1);
    }
    else if (p->hand_size == LOCM_MAX_HAND) return;
    else locm_take_cards(s, t, who, p, 1);
  }
}

// Set and report the winner; the player to move wins if both are dead (section 5).
LOCM_INLINE int locm_check_win(locm_player_t *me, locm_player_t *op) {
  if (likely_(((me->health - 1) | (op->health - 1)) >= 0)) return 0;
  if (op->health <= 0) me->won = 1;
  else op->won = 1;
  return 1;
}

// Health changes and draw of a card, `times` over as one change each.
LOCM_INLINE int locm_effects(locm_player_t *me, locm_player_t *op, const locm_card_t *c, int times,
    const int rules) {
  me->next_draw += times * c->draw;
  locm_change_health(me, times * c->my_health, rules);
  locm_change_health(op, times * c->opponent_health, rules);
  return locm_check_win(me, op);
}

LOCM_INLINE int locm_summon(locm_player_t *me, locm_player_t *op, const locm_table_t *t, int h,
    int lane, const int rules, const int shown) {
  const locm_card_t *c = &t->cards[(me->hand >> 8 * h) & 255];
  int times = 1;
  locm_remove_from_hand(me, h);
  me->mana -= c->cost;
  locm_add_creature(me, c, 0, lane, rules, shown);
  if (rules == LOCM_RULES_15) {
    lane ^= c->area == LOCM_AREA_LANE2;
    if ((c->area != LOCM_AREA_TARGET) & !((locm_marked(me, LOCM_OCCUPIED) >> (3 * lane + 2)) & 1)) {
      locm_add_creature(me, c, 1, lane, rules, shown);
      times = 2;
    }
  }
  return locm_effects(me, op, c, times, rules);
}

LOCM_INLINE int locm_attack_player(locm_player_t *me, locm_player_t *op, int slot, const int rules,
    const int shown) {
  locm_creature_t *x = &me->board[slot];
  if (shown && rules != LOCM_RULES_15) x->forgotten = 1;
  me->marks = (me->marks & ~(1U << slot)) | (1U << LOCM_SPENT << slot);
  locm_change_health(op, -x->attack, rules);
  // Drain
  locm_change_health(me, x->attack * ((x->keywords >> 2) & 1), rules);
  return locm_check_win(me, op);
}

// Fit for a creature's field. Only positions made by hand and creatures printed with a negative
// attack, whose every fight adds defense, can reach the bound.
LOCM_INLINE int16_t locm_short(int value) {
  return value < 32767 ? value : 32767;
}

LOCM_INLINE int locm_attack_creature(locm_player_t *me, locm_player_t *op, int slot, int target,
    const int rules, const int shown) {
  locm_creature_t *x = &me->board[slot];
  locm_creature_t *y = &op->board[target];
  int attack = x->attack;
  int given = y->keywords & LOCM_WARD ? 0 : attack;
  int taken = x->keywords & LOCM_WARD ? 0 : y->attack;
  int x_left = x->defense - taken;
  int y_left = y->defense - given;
  uint32_t keywords = x->keywords;
  int x_dies = x_left <= 0 || (y->keywords & LOCM_LETHAL && taken > 0);
  int y_dies = y_left <= 0 || (keywords & LOCM_LETHAL && given > 0);
  if (x_dies) locm_remove_creature(me, slot, rules, shown);
  else {
    me->marks = (me->marks & ~(1U << slot)) | (1U << LOCM_SPENT << slot);
    x->defense = locm_short(x_left);
    if (y->attack > 0) x->keywords &= ~LOCM_WARD;
    if (shown && rules != LOCM_RULES_15) x->forgotten = 1;
  }
  if (y_dies) locm_remove_creature(op, target, rules, shown);
  else {
    y->defense = locm_short(y_left);
    if (attack > 0) y->keywords &= ~LOCM_WARD;
    if (shown && rules != LOCM_RULES_15) y->forgotten = 1;
  }
  // Drain
  me->health += attack * ((keywords >> 2) & (given > 0));
  if (keywords & LOCM_BREAKTHROUGH && y_left < 0) {
    locm_change_health(op, y_left, rules);
    return locm_check_win(me, op);
  }
  return 0;
}

// An item's effect on one creature of `p`.
LOCM_INLINE void locm_use_on(locm_player_t *p, const locm_card_t *c, int slot, const int rules,
    const int shown) {
  locm_creature_t *x = &p->board[slot];
  uint32_t keywords = c->type == LOCM_GREEN ? x->keywords | c->keywords : x->keywords &
      ~(uint32_t)c->keywords;
  int attack = x->attack + c->attack;
  int defense = x->defense;
  if (c->defense < 0 && keywords & LOCM_WARD) keywords ^= LOCM_WARD;
  else defense += c->defense;
  if (defense <= 0) {
    // 1.x: a green item that would kill leaves its target as it was.
    if (rules == LOCM_RULES_15 || c->type != LOCM_GREEN) {
      locm_remove_creature(p, slot, rules, shown);
    }
    return;
  }
  x->attack = attack > 0 ? locm_short(attack) : 0;
  x->defense = locm_short(defense);
  x->keywords = keywords;
  p->marks = (p->marks & ~(1U << LOCM_GUARDED << slot)) | (((keywords >> 3) & 1) << LOCM_GUARDED <<
      slot);
  // ready if and only if it has not attacked
  if (c->type == LOCM_GREEN && c->keywords & LOCM_CHARGE) {
    p->marks = (p->marks & ~(1U << slot)) | (((~p->marks >> LOCM_SPENT >> slot) & 1) << slot);
  }
  if (shown && rules != LOCM_RULES_15) x->forgotten = 1;
}

// `op if other else me`, without a branch.
LOCM_INLINE locm_player_t *locm_chosen(locm_player_t *me, locm_player_t *op, int other) {
  return (locm_player_t *)((uint64_t)me ^ (((uint64_t)me ^ (uint64_t)op) & -(uint64_t)other));
}

LOCM_INLINE int locm_use(locm_player_t *me, locm_player_t *op, const locm_table_t *t, int h,
    int target, const int rules, const int shown) {
  const locm_card_t *c = &t->cards[(uint8_t)(me->hand >> 8 * h)];
  locm_player_t *p;
  int slot;
  int times;
  int i;
  uint32_t hit;
  locm_remove_from_hand(me, h);
  me->mana -= c->cost;
  // blue on the player: one change, no area
  if (target == 0) {
    locm_change_health(op, c->defense + c->opponent_health, rules);
    locm_change_health(me, c->my_health, rules);
    me->next_draw += c->draw;
    return locm_check_win(me, op);
  }
  p = locm_chosen(me, op, target >= 7);
  slot = target - 1 - 6 * (target >= 7);
  if (rules != LOCM_RULES_15) {
    locm_use_on(p, c, slot, rules, shown);
    return locm_effects(me, op, c, 1, rules);
  }
  hit = locm_marked(p, LOCM_OCCUPIED) & LOCM_REACH[c->area][slot];
  times = LOCM_COUNT[hit];
  // from the end: a removal moves those behind it
  for (i = times - 1; i > -1; i--) locm_use_on(p, c, LOCM_NTH[8 * hit + i], rules, shown);
  return locm_effects(me, op, c, times, rules);
}

// The turn change (section 4): `op` has just played, `me` is next.
LOCM_INLINE int locm_end_turn(locm_state_t *s, const locm_table_t *t, locm_player_t *op,
    locm_player_t *me, const int rules, const int shown) {
  int n;
  op->marks &= 262080;
  if (shown) op->shown_draw = op->next_draw + op->lost / 5;
  s->turn++;
  me->max_mana += me->max_mana < LOCM_MAX_MANA + me->bonus;
  n = me->bonus & (me->mana == 0);
  me->bonus -= n;
  me->max_mana -= n;
  me->mana = me->max_mana;
  me->marks |= locm_marked(me, LOCM_OCCUPIED);
  n = me->next_draw + (int)((uint32_t)me->lost / 5);
  locm_draw(s, t, s->turn & 1, me, n, rules);
  if (shown) me->shown_draw = n;
  me->next_draw = 1;
  me->lost = 0;
  return locm_check_win(me, op);
}

// Apply a decoded action other than PASS; returns whether the game has ended.
LOCM_INLINE int locm_play(const locm_table_t *t, locm_player_t *me, locm_player_t *op,
    locm_move_t m, const int rules, const int shown) {
  if (m.kind == LOCM_ATTACK) {
    if (m.target == 0) return locm_attack_player(me, op, m.source, rules, shown);
    return locm_attack_creature(me, op, m.source, m.target - 1, rules, shown);
  }
  if (m.kind == LOCM_SUMMON) return locm_summon(me, op, t, m.source, m.target, rules, shown);
  return locm_use(me, op, t, m.source, m.target, rules, shown);
}

LOCM_INLINE void locm_apply_with(locm_state_t *s, const locm_table_t *t, int action,
    const int rules) {
  locm_player_t *me = &s->p[s->turn & 1];
  locm_player_t *op = &s->p[~s->turn & 1];
  if (action == LOCM_PASS) locm_end_turn(s, t, me, op, rules, 1);
  else locm_play(t, me, op, LOCM_MOVES[rules == LOCM_RULES_10][action], rules, 1);
}

// What happens (sections 4, 5 and 7).
LOCM_FUNCTION void locm_state_apply(locm_state_t *s, const locm_table_t *t, int action) {
  if (t->rules == LOCM_RULES_15) locm_apply_with(s, t, action, LOCM_RULES_15);
  else if (t->rules == LOCM_RULES_12) locm_apply_with(s, t, action, LOCM_RULES_12);
  else locm_apply_with(s, t, action, LOCM_RULES_10);
}

LOCM_FUNCTION void locm_state_end_turn(locm_state_t *s, const locm_table_t *t) {
  locm_state_apply(s, t, LOCM_PASS);
}

// Draws of n cards by player p, as at a turn's start.
LOCM_FUNCTION void locm_state_draw(locm_state_t *s, const locm_table_t *t, int p, int n) {
  locm_draw(s, t, p, &s->p[p], n, t->rules);
}

// A bijection on 64 bits whose output bits each depend on all input bits.
LOCM_INLINE uint64_t locm_mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}

// Uniformly random playouts (section 14). Game i of a seed has its own stream of random numbers.
LOCM_FUNCTION uint64_t locm_stream_start(uint64_t seed, uint64_t i) {
  return locm_mix(locm_mix(seed + 0x9E3779B97F4A7C15ULL) ^ i);
}

// Uniform in 0..n-1, n <= 155: a 32-bit random number times n, the upper half. Each outcome
// gets floor or ceil of 2^32 / n of the numbers, so no probability is off by more than 2^-32.
// The generator is Knuth's 64-bit congruential one, of which the result takes the best bits.
LOCM_INLINE uint64_t locm_below(uint64_t *stream, uint64_t n) {
  *stream = *stream * 0x5851F42D4C957F2DULL + 0x14057B7EF767814FULL;
  return (*stream >> 32) * n >> 32;
}

LOCM_FUNCTION uint32_t locm_stream_below(uint64_t *stream, uint32_t n) {
  return (uint32_t)locm_below(stream, n);
}

// ... when it has ended or is broken off
// The winner, or of a game that was broken off the player with more health (1 if equal).
LOCM_FUNCTION int locm_playout_winner(const locm_state_t *s) {
  return locm_state_winner(s) >= 0 ? locm_state_winner(s) : s->p[0].health <= s->p[1].health;
}

// Play uniformly random legal actions to the end; returns the winner.
LOCM_INLINE int locm_rollout_with(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *applied, const int rules) {
  locm_legal_t l;
  locm_player_t *me = &s->p[s->turn & 1];
  locm_player_t *op = &s->p[~s->turn & 1];
  uint64_t k;
  uint64_t actions = 0;
  int over = 0;
  int last = s->turn + LOCM_PLAYOUT_TURNS;
  while (!over) {
    actions++;
    reload_();
    k = locm_below(&stream, locm_count_legal(me, op, &l, rules));
    if (k == 0) {
      over = locm_end_turn(s, t, me, op, rules, 0) | (s->turn == last);
      locm_player_t *x1_ = op;
      locm_player_t *x2_ = me;
      me = x1_;
      op = x2_;
    }
    else if (k <= l.attacks) {
      over = locm_play(t, me, op, locm_kth_attack(me, op, (int)k - 1, rules), rules, 0);
    }
    else {
      k -= 1 + l.attacks;
      over = locm_play(t, me, op, locm_kth_play(me, op, l.plays, k, rules), rules, 0);
    }
  }
  *applied += actions;
  return locm_playout_winner(s);
}

LOCM_FUNCTION int locm_rollout_15(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n) {
  return locm_rollout_with(s, t, stream, n, LOCM_RULES_15);
}

LOCM_FUNCTION int locm_rollout_12(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n) {
  return locm_rollout_with(s, t, stream, n, LOCM_RULES_12);
}

LOCM_FUNCTION int locm_rollout_10(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n) {
  return locm_rollout_with(s, t, stream, n, LOCM_RULES_10);
}

// ... of one game, which uses up `s`; returns the winner and adds its actions to `applied`.
// A playout from `s`, which it uses up; counts the actions, PASS too.
LOCM_FUNCTION int locm_state_rollout(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *applied) {
  if (locm_state_winner(s) >= 0) return locm_state_winner(s);
  return LOCM_ROLLOUT[t->rules](s, t, stream, applied);
}

LOCM_INLINE void locm_play_turn_with(locm_state_t *s, const locm_table_t *t, uint64_t *stream,
    const int rules) {
  locm_legal_t l;
  locm_player_t *me = &s->p[s->turn & 1];
  locm_player_t *op = &s->p[~s->turn & 1];
  int k;
  for (;;) {
    k = (int)locm_below(stream, locm_count_legal(me, op, &l, rules));
    if (k == 0 || locm_play(t, me, op, locm_kth_legal(me, op, &l, k, rules), rules, 0)) return;
  }
}

// Make the summon order that of the slots; without one that fits the board a removal would
// look for its creature forever.
LOCM_INLINE void locm_set_order(locm_player_t *p, const int rules) {
  int n = LOCM_COUNT[locm_marked(p, LOCM_OCCUPIED)];
  int right = rules == LOCM_RULES_10 ? 0 : LOCM_COUNT[(p->marks >> 9) & 7];
  p->order = (1 << n) | ((1 << right) - 1);
}

// The rest of a turn of an unfinished game, up to where PASS is drawn, which is not applied. What
// only the protocol shows, the summon order over both lanes, is lost: it is lane by lane then.
// The rest of a turn at random, up to where PASS is drawn, which is not applied.
LOCM_FUNCTION void locm_state_play_turn(locm_state_t *s, const locm_table_t *t, uint64_t *stream) {
  if (t->rules == LOCM_RULES_15) locm_play_turn_with(s, t, stream, LOCM_RULES_15);
  else if (t->rules == LOCM_RULES_12) locm_play_turn_with(s, t, stream, LOCM_RULES_12);
  else locm_play_turn_with(s, t, stream, LOCM_RULES_10);
  locm_set_order(&s->p[0], t->rules);
  locm_set_order(&s->p[1], t->rules);
}

// Number of sequences of `depth` legal actions; a finished game has none.
LOCM_FUNCTION uint64_t locm_state_perft(const locm_state_t *s, const locm_table_t *t, int depth) {
  uint8_t actions[156];
  locm_state_t child;
  uint64_t total = 0;
  int n;
  int i;
  if (depth == 0) return 1;
  if (locm_state_winner(s) >= 0) return 0;
  n = locm_state_list(s, t, actions);
  if (depth == 1) return n;
  for (i = 0; i < n; i++) {
    child = *s;
    locm_state_apply(&child, t, actions[i]);
    total += locm_state_perft(&child, t, depth - 1);
  }
  return total;
}

LOCM_FUNCTION const char *locm_player_fault(const locm_state_t *s, const locm_table_t *t, int who) {
  const locm_player_t *p = &s->p[who];
  const locm_creature_t *x;
  int one = t->rules == LOCM_RULES_10;
  uint32_t own = locm_marked(p, LOCM_OCCUPIED);
  uint64_t prices = 0;
  int i;
  int n = LOCM_COUNT[own];
  int order;
  if (p->hand_size > LOCM_MAX_HAND) return "hand_size exceeds 8";
  if (p->deck_left > LOCM_MAX_DECK) return "deck_left exceeds 30";
  for (i = 0; i < LOCM_MAX_DECK; i++) {
    if (i < LOCM_MAX_DECK - p->deck_left) {
      if (s->deck[who][i]) return "a drawn card is still in the deck";
    }
    else if (s->deck[who][i] >= t->n_cards) return "deck entry beyond the table";
  }
  for (i = 0; i < LOCM_MAX_HAND; i++) {
    if (i < p->hand_size) {
      if ((int)((p->hand >> 8 * i) & 255) >= t->n_cards) return "hand entry beyond the table";
      prices |= (uint64_t)t->cards[(p->hand >> 8 * i) & 255].price << 8 * i;
    }
    else if ((p->hand >> 8 * i) & 255) return "card beyond the end of the hand";
  }
  if (prices != p->prices) return "prices are not those of the hand";
  if (p->marks >> 24) return "mark outside the board";
  if (one) {
    if (own & (own + 1)) return "gap on the board";
  }
  else if (own & 7 & ((own & 7) + 1) || (own >> 3) & ((own >> 3) + 1)) return "gap in a lane";
  if ((locm_marked(p, LOCM_READY) | locm_marked(p, LOCM_GUARDED) | locm_marked(p,
      LOCM_SPENT)) & ~own) {
    return "mark on an empty slot";
  }
  for (i = 0; i < LOCM_MAX_BOARD; i++) {
    x = &p->board[i];
    if ((own >> i) & 1) {
      if (x->card >= t->n_cards || t->cards[x->card].type != LOCM_CREATURE) {
        return "creature that is no creature card";
      }
      if (x->keywords > 63 || ((x->keywords & LOCM_GUARD) != 0) != ((locm_marked(p,
          LOCM_GUARDED) >> i) & 1)) {
        return "guard mark and keyword differ";
      }
      if (x->copy > 1 || x->forgotten > 1) return "creature flag that is neither 0 nor 1";
      if (x->forgotten && t->rules == LOCM_RULES_15) return "forgotten effects in 1.5";
    }
    else if (x->attack || x->defense || x->card || x->keywords || x->copy || x->forgotten) {
      return "empty slot that is not zero";
    }
  }
  order = p->order;
  if (order >> n != 1) return "board order of another length";
  for (i = 0; i < n; i++) {
    // counts lane 1 off; compared below
    own = own - ((order >> i) & 1);
  }
  if (!one && locm_marked(p, LOCM_OCCUPIED) - own != LOCM_COUNT[locm_marked(p,
      LOCM_OCCUPIED) >> 3]) {
    return "board order of other lanes";
  }
  if (one && order != 1 << n) return "board order of other lanes";
  if (p->mana > 13 || p->max_mana > 13 || p->bonus > 1) return "mana out of range";
  if (p->_pad) return "padding that is not zero";
  if (p->lost < 0 || p->next_draw < 0 || p->shown_draw < 0) return "negative counter";
  // No game comes near these; with them no sum of a turn's end leaves 32 bits.
  if (!(-1000000000 <= p->health && p->health <= LOCM_MAX_HEALTH)) return "health out of range";
  if (p->lost > 100000000 || p->next_draw > 10000000) return "counter out of range";
  if (p->runes > 31 || (p->runes && t->rules == LOCM_RULES_15) || (p->lost && t->rules !=
      LOCM_RULES_15)) {
    return "runes and lost health of another rule set";
  }
  if (p->won > 1) return "won is neither 0 nor 1";
  return NULL;
}

LOCM_FUNCTION const char *locm_table_fault(const locm_table_t *t) {
  const locm_card_t *c;
  int i;
  if (t->rules < 0 || t->rules > LOCM_RULES_10) return "unknown rules";
  if (t->n_cards < 0 || t->n_cards > LOCM_MAX_CARDS || t->n_instances < 0 || t->n_instances >
      t->n_cards) {
    return "card counts out of range";
  }
  for (i = 0; i < t->n_cards; i++) {
    c = &t->cards[i];
    if (!(-500 <= c->attack && c->attack <= LOCM_MAX_CARD_STAT && -500 <= c->defense && c->defense
        <= LOCM_MAX_CARD_STAT && -500 <= c->my_health && c->my_health <= LOCM_MAX_CARD_STAT && -500
        <= c->opponent_health && c->opponent_health <= LOCM_MAX_CARD_STAT && c->cost <= 127 &&
        c->draw <= 100 && c->type <= LOCM_BLUE && c->keywords <= 63 && c->area <= LOCM_AREA_LANE2))
        {
      return "card value out of range";
    }
  }
  return NULL;
}

// The invariant that is broken; NULL if all hold.
// NULL, or which invariant of _core.pxd does not hold.
LOCM_FUNCTION const char *locm_state_fault(const locm_state_t *s, const locm_table_t *t) {
  const char *fault = locm_table_fault(t);
  if (!fault) fault = locm_player_fault(s, t, 0);
  if (!fault) fault = locm_player_fault(s, t, 1);
  if (!fault && s->p[0].won && s->p[1].won) fault = "two winners";
  if (!fault && !(-1 <= s->turn && s->turn <= LOCM_MAX_TURN)) fault = "turn out of range";
  return fault;
}

// Fill in the derived fields of an entry.
LOCM_FUNCTION void locm_complete_card(locm_card_t *c, int entry) {
  memset(&c->creature, 0, sizeof(locm_creature_t));
  c->creature.attack = c->attack;
  c->creature.defense = c->defense;
  c->creature.card = entry;
  c->creature.keywords = c->keywords;
  c->marks = 64;
  if (c->keywords & LOCM_CHARGE) c->marks |= 1;
  if (c->keywords & LOCM_GUARD) c->marks |= 4096;
  c->price = 8 * (15 - (c->cost < 14 ? c->cost : 14));
  if (c->type != LOCM_CREATURE) {
    c->price |= c->type == LOCM_GREEN ? LOCM_IS_GREEN : LOCM_ON_ENEMIES;
    // IS_BLUE
    c->price |= c->type == LOCM_BLUE;
  }
}

// A blank and a whole number of at most nine digits; returns their length.
LOCM_FUNCTION int locm_write_number(char *to, int number) {
  char digits[10];
  int n = 0;
  int length = 1;
  // ' '
  *to = 32;
  if (number < 0) {
    // '-'
    to[length] = 45;
    length++;
    number = -number;
  }
  while (n == 0 || number > 0) {
    // '0'
    digits[n] = 48 + number % 10;
    number /= 10;
    n++;
  }
  while (n > 0) {
    n--;
    to[length] = digits[n];
    length++;
  }
  return length;
}

LOCM_FUNCTION int locm_creature_id(const locm_creature_t *x, const locm_table_t *t) {
  return t->cards[x->card].id + x->copy;
}

// Whether an action names things that are there; and which they are.
LOCM_FUNCTION int locm_name_action(const locm_state_t *s, const locm_table_t *t, int action,
    locm_named_t *out) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  const locm_player_t *p = op;
  int one = t->rules == LOCM_RULES_10;
  locm_move_t m;
  int slot;
  if (action < 0 || action >= (one ? LOCM_NUM_ACTIONS_1 : LOCM_NUM_ACTIONS_2)) return 0;
  m = LOCM_MOVES[one][action];
  out->kind = m.kind;
  out->source = -1;
  out->target = -1;
  if (m.kind == LOCM_PASS) return 1;
  slot = m.target - 1;
  if (m.kind == LOCM_ATTACK) {
    if (!((locm_marked(me, LOCM_OCCUPIED) >> m.source) & 1)) return 0;
    out->source = locm_creature_id(&me->board[m.source], t);
  }
  else {
    if (m.source >= me->hand_size) return 0;
    out->source = t->cards[(me->hand >> 8 * m.source) & 255].id;
    if (m.kind == LOCM_SUMMON) {
      out->target = m.target;
      return 1;
    }
    if (slot >= LOCM_MAX_BOARD) slot -= LOCM_MAX_BOARD;
    else p = me;
  }
  if (slot >= 0) {
    if (!((locm_marked(p, LOCM_OCCUPIED) >> slot) & 1)) return 0;
    out->target = locm_creature_id(&p->board[slot], t);
  }
  return 1;
}

// The text of an action of the player to move, as "ATTACK 36 -1", without a zero at its end (section
// 8): at most MAX_ACTION_TEXT characters, returns their number; 0 if it names an empty place.
LOCM_FUNCTION int locm_state_write(const locm_state_t *s, const locm_table_t *t, int action,
    char *to) {
  locm_named_t named;
  const char *word;
  int n = 0;
  if (!locm_name_action(s, t, action, &named)) return 0;
  word = named.kind == LOCM_PASS ? "PASS" : named.kind == LOCM_SUMMON ? "SUMMON" : named.kind == LOCM_USE ? "USE" : "ATTACK";
  while (word[n]) {
    to[n] = word[n];
    n++;
  }
  if (named.kind == LOCM_PASS) return n;
  n += locm_write_number(&to[n], named.source);
  if (named.kind != LOCM_SUMMON || t->rules != LOCM_RULES_10) {
    n += locm_write_number(&to[n], named.target);
  }
  return n;
}

LOCM_INLINE void locm_clear_hand(locm_player_t *p) {
  p->hand = 0;
  p->prices = 0;
  p->hand_size = 0;
}

// A player before their opening hand is drawn (section 4).
LOCM_FUNCTION void locm_clear_player(locm_player_t *p, int rules) {
  memset(p, 0, sizeof(locm_player_t));
  locm_clear_hand(p);
  p->health = 30;
  p->next_draw = 1;
  p->shown_draw = 1;
  p->order = 1;
  p->runes = rules == LOCM_RULES_15 ? 0 : 31;
}

LOCM_INLINE int locm_cut(int x, int most) {
  return x > most ? most : x < -most ? -most : x;
}

// The printed card that a row stands for, as entry `entry` of a table. Of a creature on the board
// not all is known that its card says; present values do for it, cut to what cards may have.
LOCM_FUNCTION void locm_card_of_row(locm_card_t *c, const locm_shown_card_t *row, int entry) {
  c->attack = (int16_t)locm_cut(row->attack, LOCM_MAX_CARD_STAT);
  c->defense = (int16_t)locm_cut(row->defense, LOCM_MAX_CARD_STAT);
  c->my_health = (int16_t)row->my_health;
  c->opponent_health = (int16_t)row->opponent_health;
  c->cost = (uint8_t)row->cost;
  c->draw = (uint8_t)row->draw;
  c->type = (uint8_t)row->type;
  c->keywords = (uint8_t)row->keywords;
  c->area = (uint8_t)row->area;
  c->id = (uint8_t)row->id;
  c->base_id = (uint16_t)row->base_id;
  locm_complete_card(c, entry);
}

// Whether a row is one of a battle, and there is room for it.
LOCM_FUNCTION int locm_row_has_place(const locm_shown_card_t *row, int room) {
  int most = row->location ? LOCM_MAX_STAT : LOCM_MAX_CARD_STAT;
  return room > 0 && -1 <= row->location && row->location <= 1 && 0 <= row->id && row->id <
      LOCM_POOL_ID && 0 <= row->base_id && row->base_id <= 65535 && 0 <= row->type && row->type <= 3
      && 0 <= row->cost && row->cost <= 127 && 0 <= row->area && row->area <= 2 && 0 <= row->draw &&
      row->draw <= 100 && locm_cut(row->my_health, LOCM_MAX_CARD_STAT) == row->my_health &&
      locm_cut(row->opponent_health, LOCM_MAX_CARD_STAT) == row->opponent_health &&
      locm_cut(row->attack, most) == row->attack && locm_cut(row->defense,
      most) == row->defense && (row->location == 0 || row->type == LOCM_CREATURE);
}

// The entry of which a creature is the area copy (section 7), -1: it is none.
LOCM_FUNCTION int locm_original_of(const locm_table_t *t, const locm_shown_card_t *row) {
  int i;
  if (t->rules == LOCM_RULES_15) {
    for (i = 0; i < t->n_cards; i++) {
      if (t->cards[i].id == row->id - 1 && t->cards[i].base_id == row->base_id) return i;
    }
  }
  return -1;
}

// How many more creatures a lane takes; 0 where there is no such lane.
LOCM_FUNCTION int locm_room_in(const locm_player_t *p, int lane, const locm_table_t *t) {
  if (t->rules == LOCM_RULES_10) {
    return lane == 0 ? LOCM_MAX_BOARD - LOCM_COUNT[locm_marked(p, LOCM_OCCUPIED)] : 0;
  }
  return lane == 0 || lane == 1 ? 3 - LOCM_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 7] : 0;
}

// Append a creature as it is to a lane that has room.
LOCM_FUNCTION void locm_place_creature(locm_player_t *p, const locm_table_t *t,
    const locm_creature_t *x, int lane, int ready) {
  int one = t->rules == LOCM_RULES_10;
  int slot = LOCM_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & (one ? 63 : 7)] + 3 * lane;
  locm_add_creature(p, &t->cards[x->card], x->copy, lane, t->rules, 1);
  p->board[slot] = *x;
  p->marks &= ~((uint32_t)266241 << slot);
  p->marks |= ((uint32_t)ready | ((uint32_t)0 << LOCM_SPENT) | (x->keywords & LOCM_GUARD ? 1U <<
      LOCM_GUARDED : 0)) << slot;
}

// What the player lines of an observation say.
LOCM_FUNCTION void locm_show_players(locm_state_t *s, const locm_table_t *t, const locm_shown_t *o,
    int who) {
  locm_player_t *p;
  int side;
  for (side = 0; side < 2; side++) {
    p = &s->p[side == 0 ? who : 1 - who];
    locm_clear_player(p, t->rules);
    p->health = o->player[side].health;
    p->max_mana = (uint8_t)o->player[side].max_mana;
    p->mana = (uint8_t)o->player[side].max_mana;
    p->shown_draw = o->player[side].draw;
    if (t->rules != LOCM_RULES_15) {
      p->runes = (1 << locm_min_int(locm_max_int(o->player[side].rune, 0), 25) / 5) - 1;
    }
  }
  s->p[1 - who].won = o->player[0].health <= 0;
  s->p[who].won = o->player[1].health <= 0 && 0 < o->player[0].health;
}

// The entry of a row, a new one but for an area copy.
LOCM_FUNCTION int locm_show_card(locm_table_t *t, const locm_shown_card_t *row,
    const locm_table_t *pool) {
  int i;
  int entry = -1;
  int known = row->location != 0 && pool != NULL;
  if (known) entry = locm_original_of(t, row);
  if (entry >= 0) return entry;
  entry = t->n_cards;
  t->n_cards = entry + 1;
  t->n_instances = entry + 1;
  locm_card_of_row(&t->cards[entry], row, entry);
  if (known) {
    int n1_ = pool->n_cards;
    for (i = 0; i < n1_; i++) {
      if (pool->cards[i].base_id == row->base_id) {
        t->cards[entry] = pool->cards[i];
        t->cards[entry].id = (uint8_t)row->id;
        locm_complete_card(&t->cards[entry], entry);
        break;
      }
    }
  }
  return entry;
}

// What a player sees as a state: they are player `who`, and start their turn. The decks and the
// opponent's hand are empty. The table gets an entry for each row, or, on the boards, the copy of
// the entry of `pool` with its base id if there is one; NULL: there is none. Returns -1, or the
// number of the first row that has no place, 1000 + its number if its instance id occurs twice.
LOCM_FUNCTION int locm_state_show(locm_state_t *s, locm_table_t *t, const locm_shown_t *o, int who,
    const locm_table_t *pool) {
  locm_player_t *p;
  const locm_shown_card_t *row;
  const locm_card_t *printed;
  locm_creature_t x;
  uint64_t seen[4];
  int i;
  int entry;
  memset(s, 0, sizeof(locm_state_t));
  memset(seen, 0, sizeof(seen));
  s->turn = who;
  locm_show_players(s, t, o, who);
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    row = &o->cards[i];
    p = &s->p[row->location == -1 ? 1 - who : who];
    if (!locm_row_has_place(row, row->location == 0 ? LOCM_MAX_HAND - p->hand_size : locm_room_in(p,
        row->lane, t))) {
      return i;
    }
    if ((seen[row->id >> 6] >> (row->id & 63)) & 1) return 1000 + i;
    seen[row->id >> 6] |= (uint64_t)1 << (row->id & 63);
    entry = locm_show_card(t, row, pool);
    if (row->location == 0) {
      locm_add_to_hand(p, t, entry);
      continue;
    }
    printed = &t->cards[entry];
    x.card = (uint8_t)entry;
    x.copy = printed->id != row->id;
    x.attack = (int16_t)row->attack;
    x.defense = (int16_t)row->defense;
    x.keywords = (uint8_t)row->keywords;
    x.forgotten = t->rules != LOCM_RULES_15 && (row->my_health != printed->my_health ||
        row->opponent_health != printed->opponent_health || row->draw != printed->draw);
    locm_place_creature(p, t, &x, row->lane, row->location == 1);
  }
  return -1;
}

// Cards in hidden places: n of them on top of a player's deck, and in a hand.
LOCM_FUNCTION void locm_state_fill_deck(locm_state_t *s, int who, uint8_t entry, int n) {
  memset(&s->deck[who][LOCM_MAX_DECK - n], entry, n);
  s->p[who].deck_left = (uint8_t)n;
}

LOCM_FUNCTION void locm_state_fill_hand(locm_state_t *s, const locm_table_t *t, int who,
    uint8_t entry, int n) {
  for (int _ = 0; _ < n; _++) locm_add_to_hand(&s->p[who], t, entry);
}

// n entries for hidden places: one by one, each as likely as its weight says, until its group
// has given all its copies; then in random order, as the first ones drawn weigh more.
LOCM_FUNCTION void locm_draw_candidates(const locm_unknown_t *u, int who, int n, uint8_t *out,
    uint64_t *stream) {
  uint32_t weight[LOCM_MAX_CARDS];
  uint8_t copies[LOCM_MAX_CARDS];
  uint32_t total = 0;
  uint32_t x;
  uint8_t other;
  int i;
  int j;
  int k;
  memcpy(weight, u->weight[who], sizeof(weight));
  memcpy(copies, u->copies[who], sizeof(copies));
  for (int i1_ = 0; i1_ < u->n[who]; i1_++) {
    i = i1_;
    total += weight[i];
  }
  for (k = 0; k < n; k++) {
    // up to 2^24: no probability is off by more than 2^-8 of it
    x = locm_below(stream, total);
    i = 0;
    while (x >= weight[i]) {
      x -= weight[i];
      i++;
    }
    j = locm_below(stream, k + 1);
    // the shuffle: each new card takes a random earlier place
    other = out[j];
    out[j] = u->entry[who][i];
    if (j < k) out[k] = other;
    copies[u->group[who][i]]--;
    if (copies[u->group[who][i]] == 0) {
      for (int n3_ = u->n[who], i2_ = 0; i2_ < n3_; i2_++) {
        j = i2_;
        if (u->group[who][j] == u->group[who][i]) {
          total -= weight[j];
          weight[j] = 0;
        }
      }
    }
  }
}

// Draw all that u.viewer cannot see anew; `stream` as from stream_start.
// Fill the viewer's deck, and the other player's hand and deck, with candidates.
LOCM_FUNCTION void locm_state_deal(locm_state_t *s, const locm_table_t *t, const locm_unknown_t *u,
    uint64_t *stream) {
  uint8_t cards[38];
  locm_player_t *p;
  int who;
  int size;
  int i;
  for (who = 0; who < 2; who++) {
    p = &s->p[who];
    size = who == u->viewer ? 0 : p->hand_size;
    locm_draw_candidates(u, who, size + p->deck_left, cards, stream);
    memcpy(&s->deck[who][LOCM_MAX_DECK - p->deck_left], &cards[size], p->deck_left);
    if (who != u->viewer) {
      locm_clear_hand(p);
      for (i = 0; i < size; i++) locm_add_to_hand(p, t, cards[i]);
    }
  }
}

LOCM_INLINE int locm_is_blank(char c) {
  // All ASCII characters at which `str.split` does.
  return c == ' ' || (9 <= c && c <= 13 && c != '\n') || (28 <= c && c <= 31);
}

// Split the line that begins at `at`; returns where the next one does.
LOCM_FUNCTION int locm_split(const char *text, int size, int at, locm_line_t *line) {
  line->n = 0;
  while (at < size && text[at] != '\n') {
    if (locm_is_blank(text[at])) {
      at++;
      continue;
    }
    if (line->n <= LOCM_MAX_COLUMNS) line->start[line->n] = at;
    while (at < size && text[at] != '\n' && !locm_is_blank(text[at])) at++;
    if (line->n <= LOCM_MAX_COLUMNS) {
      line->end[line->n] = at;
      line->n++;
    }
  }
  return at + 1;
}

// Read a column that is an integer from `low` to `high`.
LOCM_FUNCTION int locm_number(const char *text, locm_line_t *line, int column, int low, int high,
    int32_t *value) {
  int i = line->start[column];
  int end = line->end[column];
  int negative = text[i] == '-';
  int32_t x = 0;
  line->bad = column;
  i += negative;
  if (i == end || end - i > LOCM_MAX_DIGITS) return 0;
  while (i < end) {
    if (text[i] < '0' || text[i] > '9') return 0;
    // '0'
    x = 10 * x + text[i] - 48;
    i++;
  }
  *value = negative ? -x : x;
  return low <= *value && *value <= high;
}

LOCM_FUNCTION int locm_is_word(const char *text, const locm_line_t *line, const char *word) {
  int i = line->start[1];
  while (i < line->end[1] && *word == text[i]) {
    word++;
    i++;
  }
  return i == line->end[1] && *word == 0;
}

LOCM_FUNCTION int locm_read_player(const char *text, locm_line_t *line, locm_shown_player_t *p,
    int rules) {
  int runes = rules != LOCM_RULES_15;
  if (line->n != 4 + runes) return LOCM_WRONG_COUNT;
  p->rune = 0;
  return locm_number(text, line, 0, -999999999, LOCM_ANY, &p->health) && locm_number(text, line, 1,
      -999999999, LOCM_ANY, &p->max_mana) && locm_number(text, line, 2, -999999999, LOCM_ANY,
      &p->deck_size) && (!runes || locm_number(text, line, 3, -999999999, LOCM_ANY,
      &p->rune)) && locm_number(text, line, 3 + runes, -999999999, LOCM_ANY,
      &p->draw) ? 0 : LOCM_WRONG_COLUMN;
}

LOCM_FUNCTION int locm_read_action(const char *text, locm_line_t *line, int begin,
    locm_shown_action_t *a) {
  int i;
  if ((line->n != 3 && line->n != 4) || line->start[0] != begin) return LOCM_WRONG_ACTION;
  // single blanks
  for (i = 0; i < line->n - 1; i++) {
    if (line->start[i + 1] != line->end[i] + 1 || text[line->end[i]] != ' ') {
      return LOCM_WRONG_ACTION;
    }
  }
  a->kind = locm_is_word(text, line, "SUMMON") ? LOCM_SUMMON : locm_is_word(text, line, "USE") ? LOCM_USE : LOCM_ATTACK;
  if (a->kind == LOCM_ATTACK && !locm_is_word(text, line, "ATTACK")) return LOCM_WRONG_ACTION;
  if (!locm_number(text, line, 2, -999999999, LOCM_ANY, &a->id)) return LOCM_WRONG_ACTION;
  if (line->n == 3) {
    if (a->kind != LOCM_SUMMON) return LOCM_WRONG_ACTION;
    a->target = LOCM_NO_TARGET;
  }
  else if (!locm_number(text, line, 3, -999999999, LOCM_ANY, &a->target)) return LOCM_WRONG_ACTION;
  return locm_number(text, line, 0, 0, LOCM_ANY, &a->base_id) ? 0 : LOCM_WRONG_COLUMN;
}

LOCM_FUNCTION int locm_read_keywords(const char *text, locm_line_t *line, int32_t *keywords) {
  const char *letters = "BCDGLW";
  int i;
  int start = line->start[7];
  line->bad = 7;
  *keywords = 0;
  if (line->end[7] - start != 6) return 0;
  for (i = 0; i < 6; i++) {
    if (text[start + i] == letters[i]) *keywords |= 1 << i;
    else if (text[start + i] != '-') return 0;
  }
  return 1;
}

LOCM_FUNCTION int locm_read_card(const char *text, locm_line_t *line, locm_shown_card_t *c,
    int rules) {
  if (rules < 0 || line->n != (rules == LOCM_RULES_15 ? 13 : rules == LOCM_RULES_12 ? 12 : 11)) {
    return LOCM_WRONG_COUNT;
  }
  if (!(locm_number(text, line, 0, 0, LOCM_ANY, &c->base_id) && locm_number(text, line, 1,
      LOCM_OFFERED, LOCM_ANY, &c->id) && locm_number(text, line, 2, -1, 1,
      &c->location) && locm_number(text, line, 3, 0, 3, &c->type) && locm_number(text, line, 4,
      -999999999, LOCM_ANY, &c->cost) && locm_number(text, line, 5, -999999999, LOCM_ANY,
      &c->attack) && locm_number(text, line, 6, -999999999, LOCM_ANY,
      &c->defense) && locm_read_keywords(text, line, &c->keywords) && locm_number(text, line, 8,
      -999999999, LOCM_ANY, &c->my_health) && locm_number(text, line, 9, -999999999, LOCM_ANY,
      &c->opponent_health) && locm_number(text, line, 10, -999999999, LOCM_ANY, &c->draw))) {
    return LOCM_WRONG_COLUMN;
  }
  c->area = 0;
  if (rules == LOCM_RULES_10) {
    c->lane = c->location == 0 ? -1 : 0;
    return 0;
  }
  if (rules == LOCM_RULES_15 && !locm_number(text, line, 11, 0, 2, &c->area)) {
    return LOCM_WRONG_COLUMN;
  }
  return locm_number(text, line, 11 + (rules == LOCM_RULES_15), -1, 1,
      &c->lane) ? 0 : LOCM_WRONG_COLUMN;
}

// What keeps a row, whose fields are in range, from being together with those before it.
LOCM_FUNCTION int locm_row_fault(const locm_shown_t *o, const locm_shown_card_t *c,
    int32_t (*places)[3]) {
  int offered = o->cards[0].id == LOCM_OFFERED;
  int room = o->rules == LOCM_RULES_10 ? LOCM_MAX_BOARD : 3;
  if (c->location == 0) room = LOCM_MAX_HAND;
  if ((c->id == LOCM_OFFERED) != offered) return LOCM_WRONG_PHASE;
  if ((c->location == 0) != (c->lane == -1) || c->lane >= (o->rules == LOCM_RULES_10 ? 1 : 2)) {
    return LOCM_WRONG_LANE;
  }
  if (c->location != 0 && c->type != LOCM_CREATURE) return LOCM_WRONG_TYPE;
  if (c->location != 0 && offered) return LOCM_WRONG_OFFER;
  places[c->location + 1][c->lane + 1]++;
  if (places[c->location + 1][c->lane + 1] > room && !offered) return LOCM_WRONG_NUMBER;
  return 0;
}

// Read a text line by line. `rules` is -1 where the columns have to tell. Taking a line returns 1 if
// another one has to follow, 0 at the end, -1 for one that no referee writes: `fault` and `line.bad`
// say why. `at` is where the line begins, then where the next one does.
LOCM_FUNCTION void locm_reader_start(locm_reader_t *r, locm_shown_t *o, int rules) {
  memset(r, 0, sizeof(locm_reader_t));
  o->rules = rules;
  o->n_actions = 0;
  o->n_cards = 0;
}

LOCM_FUNCTION int locm_reader_take(locm_reader_t *r, locm_shown_t *o, const char *text, int size,
    int *at) {
  locm_line_t *line = &r->line;
  int stage = r->stage;
  int i = r->done;
  r->number++;
  r->begin = *at;
  *at = locm_split(text, size, *at, line);
  if (stage == LOCM_OWN_LINE || stage == LOCM_THEIR_LINE) {
    if (o->rules < 0 && stage == LOCM_OWN_LINE && line->n == 4) o->rules = LOCM_RULES_15;
    r->fault = locm_read_player(text, line, &o->player[stage], o->rules);
  }
  else if (stage == LOCM_COUNTS) {
    if (line->n != 2) r->fault = LOCM_WRONG_COUNT;
    else if (!(locm_number(text, line, 0, 0, LOCM_ANY, &o->opponent_hand) && locm_number(text,
        line, 1, 0, LOCM_MAX_SHOWN_ACTIONS, &o->n_actions))) {
      r->fault = LOCM_WRONG_COLUMN;
    }
    if (o->n_actions == 0) {
      // no action line follows
      stage++;
    }
  }
  else if (stage == LOCM_ACTION_LINES) {
    r->fault = locm_read_action(text, line, r->begin, &o->actions[i]);
    r->done++;
    if (r->fault == 0 && r->done < o->n_actions) return 1;
  }
  else if (stage == LOCM_NUMBER_OF_CARDS) {
    if (line->n != 1) r->fault = LOCM_WRONG_COUNT;
    else if (!locm_number(text, line, 0, 0, LOCM_MAX_SHOWN, &o->n_cards)) {
      r->fault = LOCM_WRONG_COLUMN;
    }
    r->done = 0;
    if (o->n_cards == 0) stage++;
  }
  else {
    // 1.x, where the player lines are the same: a card row tells which.
    if (o->rules < 0 && (line->n == 11 || line->n == 12)) {
      o->rules = line->n == 11 ? LOCM_RULES_10 : LOCM_RULES_12;
    }
    r->fault = locm_read_card(text, line, &o->cards[i], o->rules);
    if (r->fault == 0) r->fault = locm_row_fault(o, &o->cards[i], r->places);
    r->done++;
    if (r->fault == 0 && r->done < o->n_cards) return 1;
  }
  if (r->fault) return -1;
  r->stage = stage + 1;
  if (r->stage <= LOCM_CARD_ROWS) return 1;
  if (o->rules < 0) o->rules = LOCM_RULES_12;
  return 0;
}

// Read a whole text: 0, or -1.
LOCM_FUNCTION int locm_shown_read(locm_shown_t *o, locm_reader_t *r, const char *text, int size,
    int rules) {
  int at = 0;
  int more = 1;
  locm_reader_start(r, o, rules);
  while (more > 0) more = locm_reader_take(r, o, text, size, &at);
  while (more == 0 && at < size) {
    r->number++;
    r->begin = at;
    at = locm_split(text, size, at, &r->line);
    if (r->line.n) {
      r->fault = LOCM_WRONG_END;
      more = -1;
    }
  }
  return more;
}

LOCM_FUNCTION void locm_belief_reset(locm_belief_t *b) {
  memset(b, 0, sizeof(locm_belief_t));
  b->seat = -1;
  b->turn = -1;
}

LOCM_FUNCTION void locm_belief_chose(locm_belief_t *b, int32_t base_id) {
  int i = 0;
  while (i < b->n_kinds && b->chosen[i] != base_id) i++;
  if (i == LOCM_MAX_CARDS) return;
  if (i == b->n_kinds) {
    b->chosen[i] = base_id;
    b->copies[i] = 0;
    b->n_kinds++;
  }
  b->copies[i]++;
  b->n_chosen++;
}

// A card was seen.
LOCM_FUNCTION void locm_note(locm_belief_t *b, int whose, int32_t id, int32_t base_id) {
  int i = 0;
  // An area copy has the id of its original plus one, and originals have even ids (1.5).
  if (b->rules == LOCM_RULES_15) id &= ~1;
  while (i < b->n_seen[whose] && b->seen_id[whose][i] != id) i++;
  if (i == LOCM_MAX_CARDS) return;
  b->seen_id[whose][i] = id;
  b->seen[whose][i] = base_id;
  if (i == b->n_seen[whose]) b->n_seen[whose]++;
}

// Instance ids tell the players apart (section 1).
LOCM_FUNCTION int locm_find_seat(const locm_belief_t *b, const locm_shown_t *o) {
  int who;
  for (who = 0; who < 2; who++) {
    if (b->n_seen[who]) {
      if (b->rules != LOCM_RULES_15) return (b->seen_id[who][0] + 1 + who) & 1;
      return (b->seen_id[who][0] / LOCM_IDS_PER_PLAYER + who) & 1;
    }
  }
  // Without any card: the second player has as much mana as the first, mostly; on their own turn
  // the first is one ahead.
  return o->player[0].max_mana == o->player[1].max_mana;
}

// Turns before this one: player 0's mana counts them, up to its limit.
LOCM_FUNCTION int locm_own_turns(const locm_belief_t *b, const locm_shown_t *o) {
  int first = o->player[b->seat].max_mana;
  int least = 11;
  if (first < LOCM_MAX_MANA) return first - 1;
  if (b->seat == 0 && o->player[1].max_mana > LOCM_MAX_MANA) least++;
  return locm_max_int(least, b->turn + 1);
}

// Take in what is shown in the battle, once for each turn.
LOCM_FUNCTION void locm_belief_see(locm_belief_t *b, const locm_shown_t *o) {
  int i;
  b->rules = o->rules;
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    locm_note(b, o->cards[i].location == -1, o->cards[i].id, o->cards[i].base_id);
  }
  int n2_ = o->n_actions;
  for (i = 0; i < n2_; i++) locm_note(b, 1, o->actions[i].id, o->actions[i].base_id);
  if (b->seat < 0) b->seat = locm_find_seat(b, o);
  b->turn = locm_own_turns(b, o);
}

// The entry of a card; -1: there is none.
LOCM_FUNCTION int locm_card_with(const locm_table_t *t, int32_t base_id) {
  int i;
  for (i = 0; i < t->n_cards; i++) {
    if (t->cards[i].base_id == base_id) return i;
  }
  return -1;
}

// Add a card to the pool and its table, unless it is there, as likely as the others; for bots with
// no taste of their own. False: the table has no room left beside the cards of a position.
LOCM_FUNCTION int locm_pool_add(locm_pool_t *pool, locm_table_t *t, const locm_shown_card_t *row) {
  int i = pool->n;
  pool->t = t;
  if (locm_card_with(t, row->base_id) >= 0) return 1;
  if (i >= 236) return 0;
  locm_card_of_row(&t->cards[i], row, i);
  t->cards[i].id = LOCM_POOL_ID;
  pool->entry[i] = (uint8_t)i;
  pool->weight[i] = 1;
  pool->n = i + 1;
  t->n_cards = i + 1;
  return 1;
}

// The position that is shown, with what follows from the game so far; any card in the hidden places,
// or none without a pool. The table gets the visible cards, and the pool behind them. Errors as
// those of state_show.
LOCM_FUNCTION int locm_belief_root(const locm_belief_t *b, const locm_shown_t *o,
    const locm_table_t *pool, locm_state_t *s, locm_table_t *t) {
  int seat = b->seat > 0 ? b->seat : 0;
  int mine = o->player[0].max_mana;
  int theirs = o->player[1].max_mana;
  int i;
  int entry;
  int first;
  int mana;
  int lost = 0;
  const locm_shown_action_t *a;
  int fault = locm_state_show(s, t, o, seat, pool);
  if (fault >= 0) return fault;
  s->turn = 2 * b->turn + seat;
  // With the bonus the second player's mana is a turn ahead, up to its limit.
  s->p[seat].bonus = seat == 1 && mine == locm_min_int(13, b->turn + 2);
  s->p[1 - seat].bonus = seat == 0 && theirs == locm_min_int(13, b->turn + 1);
  // What the opponent kept of the mana: the bonus is lost after a turn that ends with 0. And, in
  // 1.5, what the opponent's own cards cost them, which counts towards the next draw: each is
  // taken to have had its effect once. No generated card harms its player.
  mana = theirs;
  int n1_ = o->n_actions;
  for (i = 0; i < n1_; i++) {
    a = &o->actions[i];
    entry = a->kind == LOCM_ATTACK || !pool ? -1 : locm_card_with(pool, a->base_id);
    if (entry >= 0) {
      mana -= pool->cards[entry].cost;
      if (t->rules == LOCM_RULES_15 && pool->cards[entry].my_health < 0) {
        lost -= pool->cards[entry].my_health;
      }
    }
  }
  s->p[1 - seat].mana = (uint8_t)(mana > 0 ? mana : 0);
  lost = locm_min_int(lost, 5 * o->player[1].draw + 4);
  s->p[seat].next_draw = 1;
  s->p[1 - seat].lost = lost;
  s->p[1 - seat].next_draw = o->player[1].draw - lost / 5;
  if (!pool) return -1;
  first = t->n_cards;
  int n2_ = pool->n_cards;
  for (i = 0; i < n2_; i++) {
    t->cards[first + i] = pool->cards[i];
    locm_complete_card(&t->cards[first + i], first + i);
  }
  t->n_cards += pool->n_cards;
  locm_state_fill_deck(s, seat, (uint8_t)first, o->player[0].deck_size);
  locm_state_fill_deck(s, 1 - seat, (uint8_t)first, o->player[1].deck_size);
  locm_state_fill_hand(s, t, 1 - seat, (uint8_t)first, o->opponent_hand);
  return -1;
}

LOCM_FUNCTION void locm_add_candidate(locm_unknown_t *u, int who, int group, int entry,
    double weight, double scale) {
  int i = u->n[who];
  uint32_t scaled = (uint32_t)(weight * scale);
  u->entry[who][i] = (uint8_t)entry;
  u->group[who][i] = (uint8_t)group;
  u->weight[who][i] = scaled > 1 ? scaled : 1;
  u->n[who] = i + 1;
}

// Two of each card less those seen; more if that is too little for the hidden places.
LOCM_FUNCTION void locm_likely(const locm_belief_t *b, int whose, const locm_pool_t *pool,
    int places, int first, locm_unknown_t *u, int who) {
  int left[LOCM_MAX_CARDS];
  int i;
  int j;
  int entry;
  int group = 0;
  int missing = places;
  int more = 0;
  double most = 0;
  int n1_ = pool->n;
  for (i = 0; i < n1_; i++) left[i] = LOCM_COPIES;
  int n2_ = b->n_seen[whose];
  for (j = 0; j < n2_; j++) {
    entry = locm_card_with(pool->t, b->seen[whose][j]);
    int n3_ = pool->n;
    for (i = 0; i < n3_; i++) {
      if (pool->entry[i] == entry && left[i] > 0) left[i]--;
    }
  }
  for (i = 0; i < pool->n; i++) missing -= left[i];
  if (missing > 0) more = (missing + pool->n - 1) / pool->n;
  int n4_ = pool->n;
  for (i = 0; i < n4_; i++) {
    left[i] += more;
    if (left[i] && pool->weight[i] > most) most = pool->weight[i];
  }
  int n5_ = pool->n;
  for (i = 0; i < n5_; i++) {
    if (left[i]) {
      u->copies[who][group] = (uint8_t)left[i];
      locm_add_candidate(u, who, group, first + pool->entry[i], pool->weight[i],
          LOCM_MAX_WEIGHT / most);
      group++;
    }
  }
}

// The cards taken that were not seen yet; False if these are not those of the own deck.
LOCM_FUNCTION int locm_own_deck(const locm_belief_t *b, const locm_pool_t *pool, int places,
    int first, locm_unknown_t *u, int who) {
  int left[LOCM_MAX_CARDS];
  int i;
  int j;
  int group = 0;
  int total = 0;
  if (b->n_chosen != LOCM_MAX_DECK) return 0;
  int n1_ = b->n_kinds;
  for (i = 0; i < n1_; i++) left[i] = b->copies[i];
  int n2_ = b->n_seen[0];
  for (j = 0; j < n2_; j++) {
    int n3_ = b->n_kinds;
    for (i = 0; i < n3_; i++) {
      if (b->chosen[i] == b->seen[0][j] && left[i] > 0) left[i]--;
    }
  }
  int n4_ = b->n_kinds;
  for (i = 0; i < n4_; i++) {
    total += left[i];
    if (left[i] && locm_card_with(pool->t, b->chosen[i]) < 0) return 0;
  }
  if (total != places) return 0;
  int n5_ = b->n_kinds;
  for (i = 0; i < n5_; i++) {
    if (left[i]) {
      u->copies[who][group] = (uint8_t)left[i];
      locm_add_candidate(u, who, group, first + locm_card_with(pool->t, b->chosen[i]), 1.0,
          LOCM_MAX_WEIGHT);
      group++;
    }
  }
  return 1;
}

// Whether a draft turn offered a card.
LOCM_FUNCTION int locm_offers(const locm_pool_t *pool, int turn, int entry) {
  int i;
  for (i = 0; i < (int)pool->triplet_size[turn]; i++) {
    if (pool->triplet[turn][i] == entry) return 1;
  }
  return 0;
}

// Match a card to a draft turn that offered it, moving others if need be.
LOCM_FUNCTION int locm_assign(const locm_pool_t *pool, const int *shown, int i, int *owner,
    int *tried) {
  int turn;
  int n1_ = pool->n_triplets;
  for (turn = 0; turn < n1_; turn++) {
    if (!tried[turn] && locm_offers(pool, turn, shown[i])) {
      tried[turn] = 1;
      if (owner[turn] < 0 || locm_assign(pool, shown, owner[turn], owner, tried)) {
        owner[turn] = i;
        return 1;
      }
    }
  }
  return 0;
}

// One card of each draft turn that none of the cards seen need have come from.
//
// Each card is matched to a turn that offered it, as many as can be (augmenting paths). False if
// too few turns are left.
LOCM_FUNCTION int locm_their_picks(const locm_belief_t *b, const locm_pool_t *pool, int places,
    int first, locm_unknown_t *u, int who) {
  int shown[LOCM_MAX_CARDS];
  int owner[LOCM_MAX_DECK];
  int tried[LOCM_MAX_DECK];
  int turn;
  int i;
  int group = 0;
  int n_open = 0;
  double most = 0;
  int n1_ = pool->n_triplets;
  for (turn = 0; turn < n1_; turn++) owner[turn] = -1;
  int n2_ = b->n_seen[1];
  for (i = 0; i < n2_; i++) shown[i] = locm_card_with(pool->t, b->seen[1][i]);
  int n3_ = b->n_seen[1];
  for (i = 0; i < n3_; i++) {
    memset(tried, 0, sizeof(tried));
    locm_assign(pool, shown, i, owner, tried);
  }
  int n4_ = pool->n_triplets;
  for (turn = 0; turn < n4_; turn++) {
    if (owner[turn] < 0) {
      n_open++;
      int n5_ = pool->triplet_size[turn];
      for (i = 0; i < n5_; i++) most = locm_max_double(most, pool->triplet_weight[turn][i]);
    }
  }
  if (n_open < places) return 0;
  int n6_ = pool->n_triplets;
  for (turn = 0; turn < n6_; turn++) {
    if (owner[turn] < 0) {
      u->copies[who][group] = 1;
      int n7_ = pool->triplet_size[turn];
      for (i = 0; i < n7_; i++) {
        locm_add_candidate(u, who, group, first + pool->triplet[turn][i],
            pool->triplet_weight[turn][i], LOCM_MAX_WEIGHT / most);
      }
      group++;
    }
  }
  return 1;
}

// What the hidden places of that position may hold; entries of the pool begin at `first`.
LOCM_FUNCTION void locm_belief_unknown(const locm_belief_t *b, const locm_shown_t *o,
    const locm_pool_t *pool, int first, locm_unknown_t *u) {
  int seat = b->seat > 0 ? b->seat : 0;
  int mine = o->player[0].deck_size;
  int theirs = o->opponent_hand + o->player[1].deck_size;
  memset(u, 0, sizeof(locm_unknown_t));
  u->viewer = seat;
  if (!locm_own_deck(b, pool, mine, first, u, seat)) locm_likely(b, 0, pool, mine, first, u, seat);
  if (!(pool->n_triplets && locm_their_picks(b, pool, theirs, first, u, 1 - seat))) {
    locm_likely(b, 1, pool, theirs, first, u, 1 - seat);
  }
}

// Fills the tables: to be called once, before anything else.
LOCM_FUNCTION void locm_start(void) {
  locm_fill_tables();
}
