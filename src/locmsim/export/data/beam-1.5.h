#include <stdint.h>
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <time.h>
#endif
#if defined(__GNUC__)
__attribute__((unused))     /* not by all that count bits */
#endif
static inline int64_t now_ns_(void) {
#if defined(_WIN32)
LARGE_INTEGER ticks, rate;      /* C's own clock there is that of the wall */
QueryPerformanceFrequency(&rate);
QueryPerformanceCounter(&ticks);
return ticks.QuadPart / rate.QuadPart * 1000000000
+ ticks.QuadPart % rate.QuadPart * 1000000000 / rate.QuadPart;
#else
struct timespec t;
clock_gettime(CLOCK_MONOTONIC, &t);
return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}
#if defined(__GNUC__)
#define lowest_bit_(x) __builtin_ctz(x)
#define count_bits_(x) __builtin_popcount(x)
#else
static inline int count_bits_(uint32_t x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
static inline int lowest_bit_(uint32_t x) { return count_bits_((x & (0 - x)) - 1); }
#endif

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
  RULES_15 = 0,
  RULES_12 = 1,
  RULES_10 = 2,
};

// limits (section 0)
enum {
  MAX_DECK = 30,
  MAX_HAND = 8,
  MAX_BOARD = 6,  // creatures of one player; 3 a lane, or 6 in the one lane of 1.0
  MAX_MANA = 12,
  TURN_LIMIT = 50,
  PLAYOUT_TURNS = 1000,  // of both players, after which a playout is broken off (section 14)
  MAX_CARDS = 256,  // entries of a table
  POOL_ID = 255,  // no instance: entries of the pool have no id of their own
  MAX_ACTIONS = 155,  // no action number reaches this
  MAX_ACTION_TEXT = 32,  // characters of an action, more than enough
  TERMINAL_PLAYER = -4,  // current player of a finished game, as in OpenSpiel
  // |attack|, |defense| of any creature that Card's bounds allow, 500 printed + 60 items of 500:
  MAX_STAT = 30500,  // 16 bits hold it; health takes 32
  MAX_CARD_STAT = 500,  // |attack|, |defense|, |health change| that a card can have
};

// card types
enum {
  CREATURE = 0,
  GREEN = 1,
  RED = 2,
  BLUE = 3,
};

// what can be done with a card, the low bits of its price
enum {
  IS_BLUE = 1,  // use it on the player; a creature has none of the bits
  IS_GREEN = 2,  // ... on own creatures
  ON_ENEMIES = 4,  // ... on enemy creatures: red and blue items
};

// keywords, the letters of "BCDGLW" from the lowest bit
enum {
  BREAKTHROUGH = 1,
  CHARGE = 2,
  DRAIN = 4,
  GUARD = 8,
  LETHAL = 16,
  WARD = 32,
};

// areas (1.5)
enum {
  AREA_TARGET = 0,
  AREA_LANE1 = 1,
  AREA_LANE2 = 2,
};

// kinds of action, see `move_t`
enum {
  PASS = 0,
  SUMMON = 1,
  USE = 2,
  ATTACK = 3,
};

// masks in `player_t.marks`, as shifts
enum {
  READY = 0,
  OCCUPIED = 6,
  GUARDED = 12,
  SPENT = 18,
};

enum {
  MAX_SHOWN = 120,  // card rows: those of an offer
  MAX_SHOWN_ACTIONS = 64,  // of a turn; no rules allow so many
  MAX_SHOWN_NUMBER = 1000000000,  // of any field, either way
  NO_TARGET = -2000000000,
  OFFERED = -1,  // instance id of all cards on offer
};

enum {
  MAX_WEIGHT = 65535,
};

enum {
  ALL_MARKS = 266305,  // times a mask of board slots: that mask in all of `marks`
  FIRST_USE = 17,  // action numbers, two lanes and one
  FIRST_ATTACK = 121,
  FIRST_USE_1 = 9,
  FIRST_ATTACK_1 = 113,
  NUM_ACTIONS_2 = 145,
  NUM_ACTIONS_1 = 155,
};

enum {
  MAX_COLUMNS = 13,
  MAX_SHOWN_TEXT = 32768,  // characters, more than enough: 64 actions, 120 rows of 13 numbers
};

enum {
  MAX_DIGITS = 9,
};

// what the next line is
enum {
  OWN_LINE = 0,
  THEIR_LINE = 1,
  COUNTS = 2,
  ACTION_LINES = 3,
  NUMBER_OF_CARDS = 4,
  CARD_ROWS = 5,
};

// what is wrong with a line, or a row
enum {
  WRONG_COUNT = 1,  // of columns
  WRONG_COLUMN = 2,
  WRONG_ACTION = 3,
  WRONG_END = 4,  // something follows
  WRONG_PHASE = 5,  // cards on offer and cards in play
  WRONG_LANE = 6,
  WRONG_TYPE = 7,
  WRONG_OFFER = 8,  // an offered card on a board
  WRONG_NUMBER = 9,  // too many cards
};

enum {
  ANY = 999999999,
};

enum {
  CREATURE_INPUTS = 16,
  CARD_INPUTS = 20,
  OTHER_INPUTS = 39,
  SUMS = 8,  // numbers that creatures are summed up in, and cards
  LANE = 16,  // units that see both sides of a lane
  HIDDEN = 16,  // units of each of the two layers that see everything
  JOINED = 79,  // lanes; own, their creatures, own cards; the rest
};

enum {
  MOST = 20,  // of what is printed on cards, more is the same
};

enum {
  DECK_TERMS = 58,  // `locmsim.decks.CARD_TERMS`
  DECK_UNITS = 64,  // of each layer
  DECK_SUMS = 122,
  MAX_DECK_NETWORKS = 16,  // of an ensemble
  MAX_OFFER = 256,  // cards to choose from
  DECK_CARDS = 30,
  DECK_COPIES = 2,  // of a card, at most
};

enum {
  STEP = 8,  // units that are summed up side by side
  // Exchanges of cards, several times as many as are ever worth it: there would be no end where
  // numbers are so large that rounding makes gains.
  MAX_EXCHANGES = 200,
};

enum {
  HEALTH_STEPS = 64,  // health beyond is worth `health` a point
  MAX_VALUE = 1000,  // of a won position; no other comes near it
};

enum {
  MAX_PLANS = 256,  // whole turns compared by the opponent's replies
  PLANS_SEEN = 4,  // as many times more are looked at by a network
  MAX_TURN_ACTIONS = 64,  // no turn is followed further
  MAX_REPLY_WIDTH = 16,  // positions of the beam in turns that are played on
  CLOCK_PERIOD = 32,  // nodes between two looks at the clock, some 3 microseconds
};

enum {
  COPIES = 2,  // of a card in a deck of 1.5
};

enum {
  IDS_PER_PLAYER = 60,  // 1.5: ids at this distance belong to different players
};

enum {
  MAX_PATH = 134,  // actions of an answer
};

enum {
  MAX_RECORDS = 262144,
  SEEN = 131072,  // places for hashes
  WIN_WIDTH = 256,  // of the beam that looks for a win
  VISIT_NODES = 256,  // for each visit, of the beam that looks for plans
  MAX_GAME = 400,  // turns of a game between engines
};

typedef struct creature_t creature_t;
typedef struct card_t card_t;
typedef struct table_t table_t;
typedef struct player_t player_t;
typedef struct state_t state_t;
typedef struct move_t move_t;
typedef struct shown_player_t shown_player_t;
typedef struct shown_card_t shown_card_t;
typedef struct shown_action_t shown_action_t;
typedef struct shown_t shown_t;
typedef struct unknown_t unknown_t;
typedef struct mine_t mine_t;
typedef struct theirs_t theirs_t;
typedef struct named_t named_t;
typedef struct line_t line_t;
typedef struct reader_t reader_t;
typedef struct inputs_t inputs_t;
typedef struct network_t network_t;
typedef struct deck_network_t deck_network_t;
typedef struct offer_t offer_t;
typedef struct side_t side_t;
typedef struct eval_t eval_t;
typedef struct terms_t terms_t;
typedef struct weights_t weights_t;
typedef struct budget_t budget_t;
typedef struct record_t record_t;
typedef struct candidate_t candidate_t;
typedef struct options_t options_t;
typedef struct plan_t plan_t;
typedef struct work_t work_t;
typedef struct wins_t wins_t;
typedef struct halving_t halving_t;
typedef struct belief_t belief_t;
typedef struct pool_t pool_t;
typedef struct tree_t tree_t;
typedef struct turns_t turns_t;
typedef struct node_t node_t;
typedef struct engine_t engine_t;
typedef struct found_t found_t;

// 8 bytes, so that closing a gap moves one word a creature
struct creature_t {
  int16_t attack;
  int16_t defense;  // 0 in an empty slot, as everything else
  uint8_t card;  // table entry
  uint8_t keywords;
  uint8_t copy;  // 1: area copy, its id is the entry's id + 1 (section 7)
  uint8_t forgotten;  // 1.x: the protocol shows 0 for my/opp/draw (section 9)
};

// one entry of the table: a card, and the instance id it goes by
struct card_t {
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
  creature_t creature;  // as it enters the board
  uint32_t marks;  // ... and its marks, in slot 0
  uint32_t price;  // ... and the card in `player_t.prices`, at hand position 0
};

// immutable; shared by all clones of a state
struct table_t {
  int32_t rules;  // RULES_15, RULES_12 or RULES_10
  int32_t n_instances;
  int32_t n_cards;
  int32_t _pad[5];  // no card lies across two cache lines
  // First the instances of the game, then the pool (each card once): a hidden card may be replaced
  // by any entry, also of the pool. Last, so that a table of few cards can be cut short where many
  // lie side by side; drawing may look at entries beyond, so 8 KB behind it have to be readable.
  card_t cards[MAX_CARDS];
};

// 96 bytes
struct player_t {
  // Hand, in draw order without gaps; byte h of each word belongs to position h and is 0 beyond
  // the hand. Packed, because then removing a card is a shift, and what to do with each card and
  // whether there is mana for it is found for all of them at once.
  uint64_t hand;  // table entries
  uint64_t prices;  // 8 * (15 - cost), cost at most 14, plus the bits above
  // Board: slot 3*lane + i (1.0: slot i), in summon order and without gaps within a lane. Four
  // masks of six slots: a turn's end, a removal or an attack changes them all at once, and two
  // masks that are neighbours are one index of a table.
  uint32_t marks;  // READY (can attack), OCCUPIED, GUARDED (Guard), SPENT (attacked)
  creature_t board[MAX_BOARD];
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
struct state_t {
  uint8_t deck[2][MAX_DECK];  // table entries in draw order, the last at MAX_DECK - 1; 0 = drawn
  int32_t turn;  // turns of both players together, from 0; player turn & 1 is to move
  player_t p[2];
};

struct move_t {
  uint8_t kind;
  uint8_t source;  // SUMMON, USE: hand position; ATTACK: own slot
  uint8_t target;  // SUMMON: lane; USE: 0 player, 1 + own slot, 7 + enemy slot;
  uint8_t _pad;  // ATTACK: 0 player, 1 + enemy slot
};

// a player line of the protocol (section 9)
struct shown_player_t {
  int32_t health;
  int32_t max_mana;
  int32_t deck_size;
  int32_t draw;
  int32_t rune;
};

// a card row
struct shown_card_t {
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
struct shown_action_t {
  int32_t base_id;
  int32_t kind;  // SUMMON, USE or ATTACK
  int32_t id;  // of the card that did it
  int32_t target;  // instance id, -1 for a player; SUMMON: the lane; or NO_TARGET
};

// an observation
struct shown_t {
  int32_t rules;
  shown_player_t player[2];  // own, the opponent's
  int32_t opponent_hand;
  int32_t n_actions;
  int32_t n_cards;
  shown_action_t actions[MAX_SHOWN_ACTIONS];
  shown_card_t cards[MAX_SHOWN];
};

// what one player cannot see, and what it may be: see `Determinizer`
struct unknown_t {
  int32_t viewer;
  int32_t n[2];  // candidates for the hidden places of each player
  uint8_t entry[2][MAX_CARDS];  // ... their table entries
  uint8_t group[2][MAX_CARDS];  // ... the group that each belongs to
  uint32_t weight[2][MAX_CARDS];  // ... how likely each is, 1..MAX_WEIGHT
  uint8_t copies[2][MAX_CARDS];  // [group]: cards that it gives, whichever of its candidates
};

// what counting legal actions needs to know of one's own board
struct mine_t {
  uint16_t attackers;  // creatures that can attack, + 256 * those of lane 1
  int8_t creatures;  // ... there are, less `lanes`
  int8_t lanes;  // lanes with room for a creature
};

// ... and of the other one
struct theirs_t {
  uint16_t targets;  // of an attacker in lane 1, + 256 * in lane 0
  int8_t creatures;
  uint8_t _pad;
};

// an action by what it names
struct named_t {
  int kind;
  int source;  // instance ids; -1: a player
  int target;  // SUMMON: the lane
};

// a line, split at blanks
struct line_t {
  int32_t n;  // columns; more than MAX_COLUMNS are not told apart
  int32_t bad;  // the first column that cannot be what it should
  int32_t start[14];
  int32_t end[14];
};

struct reader_t {
  int32_t stage;  // what the next line is
  int32_t done;  // lines of its kind that were read
  int32_t places[3][3];  // cards so far by location + 1 and lane + 1
  // The line that was read last; in a fault it is the one.
  int32_t number;  // from 1
  int32_t begin;  // where it begins
  int32_t fault;  // what is wrong with it, 0: nothing
  line_t line;
};

struct inputs_t {
  int16_t creatures[2][MAX_BOARD][CREATURE_INPUTS];  // own and their slots; 0 where there is none
  int16_t lane[MAX_BOARD];  // of each slot
  int16_t hand[MAX_HAND][CARD_INPUTS];  // the own one
  int16_t other[OTHER_INPUTS];
};

// what is negative behind a layer counts as 0, except at the output
struct network_t {
  float creature[2][CREATURE_INPUTS][SUMS];
  float card[CARD_INPUTS][SUMS];
  float lane[16][LANE];
  float lane_bias[LANE];
  float hidden[JOINED][HIDDEN];
  float hidden_bias[HIDDEN];
  float deeper[HIDDEN][HIDDEN];
  float deeper_bias[HIDDEN];
  float output[HIDDEN];
  float direct[JOINED];  // from what is joined to the output
  float output_bias;
};

// what is negative behind a layer counts as 0
struct deck_network_t {
  float card[DECK_TERMS][DECK_UNITS];
  float card_bias[DECK_UNITS];
  float hidden[DECK_SUMS][DECK_UNITS];
  float hidden_bias[DECK_UNITS];
  float output[DECK_UNITS];
  float direct[DECK_SUMS];  // from the sums to the output
};

// the cards to choose from, as an ensemble sees them
struct offer_t {
  int n_networks;
  int n_cards;
  float bias[1024];
  float output[1024];  // of the mean
  float *hidden;  // [card][n_networks * DECK_UNITS]: what it adds to the second layer
  float direct[MAX_OFFER];  // ... to the value itself
};

// the weights of one player's things
struct side_t {
  float by_keywords[64][4];  // of a creature: being there, and for attack, defense, the lesser
  float health[HEALTH_STEPS];
  float health_more;  // each point beyond
  float hand[16];  // cards in hand after the next draw
  float deck[32];  // cards in the deck after it
  float near_card;  // 1.5: each point of health lost towards a further card
  float room[3];  // lanes with room
  float open_attack;  // each point of attack that no Guard holds back
  float kill;  // ... that being enough to kill
  float rune;  // 1.x: each rune left
};

struct eval_t {
  side_t side[2];  // of the player whose turn ends, and of the other one
  float hand_card[MAX_CARDS];  // [table entry]: what it adds in the hand of the first
  float bonus;  // 1.5: bonus mana
  float scale;  // the value that is a win with probability 0.88: tanh(1) = 0.76
};

// the weights of one side, as named in `TERMS` and in that order
struct terms_t {
  float health;
  float low_health;
  float lowest_health;
  float creature;
  float attack;
  float defense;
  float balance;
  float guard;
  float guard_defense;
  float lethal;
  float ward;
  float ward_attack;
  float drain_attack;
  float breakthrough_attack;
  float card;
  float fifth_card;
  float low_deck;
  float near_card;
  float room;
  float open_attack;
  float kill;
  float rune;
};

struct weights_t {
  terms_t side[2];
  float hand_type[4];  // creature, green, red, blue
  float hand_cost;
  float hand_draw;
  float hand_area;
  float bonus_mana;
  float scale;
};

struct budget_t {
  int64_t deadline;  // of now_ns_
  int64_t nodes;  // that may still be made; a node is an action applied and evaluated
  int32_t until_clock;
  int over;
};

// how a position was reached
struct record_t {
  int32_t parent;  // record; -1 for the root
  uint8_t action;
};

// a position of the next level of the beam
struct candidate_t {
  float value;
  int32_t parent;  // place in this level
  uint8_t action;
};

// see the dataclasses in options.py
struct options_t {
  int is_tree;  // MCTS, not beam search; 0 where the other has no such option:
  int32_t turns;
  int32_t reply_width;  // 1: turns are played on greedily
  int32_t worlds;
  float wins_share;
  int32_t width;
  int32_t plans;
  float static_worlds;
  float plan_share;
  float exploration;  // MCTS
  float temperature;
  int32_t max_nodes;
};

// A value that some other code gives in the place of the weights: negative, and the search ends, if
// it failed. `owner` is for that code alone.
typedef int (*value_function_t)(void *owner, const state_t *s, int who, float *value);

// a whole turn
struct plan_t {
  float value;  // of the position at its end
  int32_t parent;  // record, and the last action from there; PASS: the root itself
  uint8_t action;
  uint64_t hash;
  int32_t visits;  // how often it was played on
  float result;  // the mean of that, from -1 to 1; what is expected at its end counts
};

struct work_t {
  const table_t *table;
  const eval_t *eval;
  const network_t *network;  // predicts results in the place of `eval`, or NULL
  value_function_t function;  // used instead of `eval`, or NULL
  void *owner;
  int failed;  // the function did
  int32_t who;
  state_t root;
  uint64_t card_keys[MAX_CARDS];
  budget_t budget;
  int64_t made;  // nodes made
  int32_t depth;  // longest sequence of actions looked at
  record_t *records;
  int32_t n_records;
  int32_t max_records;
  state_t *level[2];  // positions of the present and the next level of the beam
  int32_t *level_records[2];
  int32_t max_width;
  candidate_t *candidates;
  int32_t max_candidates;
  uint64_t *seen;  // direct-mapped table of hashes: a position forgotten is made twice
  uint64_t seen_mask;
  uint64_t salt;  // makes what earlier searches left in `seen` differ
  plan_t plans[MAX_PLANS];  // the best whole turns, best first
  int32_t n_plans;
  int32_t max_plans;
  state_t ends[MAX_PLANS];  // ... and the positions at their ends
  int won;  // a winning turn was found; attacks on the player may follow it:
  plan_t win;
  int32_t reply_width;  // 1: turns are played on greedily
  state_t *worlds;  // samples of what is hidden, drawn when they are first used
  int32_t n_worlds;
  int32_t max_worlds;
  uint64_t world_seed;
  const unknown_t *unknown;  // ... from this
  int own_deck;  // ... except the own deck, of which the root knows all but the order
};

struct wins_t {
  int16_t potential[MAX_CARDS];  // more damage than this a card of the hand cannot add
  int wakes;  // some card may wake a creature
  int needs_creatures;  // some card harms the opponent when used on own creatures
};

// Sequential halving of the plans: after each part of the budget the worse half drops out.
struct halving_t {
  int64_t start;  // of now_ns_
  int64_t nodes;  // of the budget at the start
  int64_t left;  // ... after the last round
  int64_t cost;  // nodes of one plan in the last round; a guess at first
  int32_t alive;  // plans
  int32_t rounds;
  int32_t round;  // how often half of them drop out; how often that was
};

struct belief_t {
  int32_t rules;
  int32_t seat;  // 0 or 1; -1 as long as nothing tells
  int32_t turn;  // own turns before the present one
  int32_t n_kinds;
  // Cards taken, in the order in which they were taken first.
  int32_t n_chosen;
  int32_t chosen[MAX_CARDS];  // base id
  int32_t copies[MAX_CARDS];
  // Cards seen, own and the opponent's, in the order in which they were seen first.
  int32_t n_seen[2];
  int32_t seen_id[2][MAX_CARDS];
  int32_t seen[2][MAX_CARDS];  // base id
};

// the cards that may be in the game
struct pool_t {
  const table_t *t;  // no instances
  int32_t n;  // cards, in the order in which they are considered:
  uint8_t entry[MAX_CARDS];  // ... entry of the table
  double weight[MAX_CARDS];  // ... how attractive it is
  int32_t n_triplets;  // of a complete draft, else 0
  uint8_t triplet_size[MAX_DECK];
  uint8_t triplet[MAX_DECK][3];  // entries of the table
  double triplet_weight[MAX_DECK][3];
};

struct tree_t {
  node_t *nodes;  // the plans come first, in the order of `w.plans`
  int32_t n_nodes;
  int32_t max_nodes;
  turns_t *replies;  // [plan * worlds + world]
};

// the turns that may follow a position
struct turns_t {
  int32_t first;  // node
  int32_t n;  // 0: not looked for yet
};

// a turn of one player
struct node_t {
  state_t s;  // its end
  double total;  // of the results of visits for that player, from -1 to 1
  float value;  // the result expected at its end
  float prior;  // its share among the turns of the same position
  int32_t visits;
  turns_t next;  // those of the other player; of a plan there are some in each world
};

struct engine_t {
  work_t w;
  tree_t tree;  // MCTS only
  options_t o;
};

struct found_t {
  uint8_t path[MAX_PATH];  // actions of the turn, PASS not among them
  int32_t length;
  float value;  // expected result, from -1 to 1
  int32_t visits;  // results that it is the mean of; 0: none was sampled
  int64_t iterations;  // descents of the tree
};

INLINE double max_double(double a, double b) {
  return b > a ? b : a;
}

INLINE float max_float(float a, float b) {
  return b > a ? b : a;
}

INLINE int max_int(int a, int b) {
  return b > a ? b : a;
}

INLINE int min_int(int a, int b) {
  return b < a ? b : a;
}

INLINE int64_t min_int64(int64_t a, int64_t b) {
  return b < a ? b : a;
}

// bits set in a byte
static uint8_t COUNT[256];
// [8 * byte + n]: position of the n-th set bit
static uint8_t NTH[2048];
// all ones in the lowest n bytes
static uint64_t TAKEN[9];
// [64 * n + k]: k // n, a load instead of a division
static uint8_t QUOTIENT[512];
// [one lane?][ready and occupied slots]
static mine_t MINE[2][4096];
// [one lane?][occupied and guarded slots]
static theirs_t THEIRS[2][4096];
// ... what an attacker in lane 0 (low byte) or 1 may attack:
// bit 0 the player, bit 1 + i enemy i of that lane
static uint16_t TARGETS[2][4096];
// [attackers of a lane, what they may attack, k]: k-th attack,
// attacker + 16 * target (0 the player); two lanes only
static uint8_t ATTACKS[2048];
// [one lane?][slot]: marks that stay when the slot is removed
static uint32_t KEEP[2][MAX_BOARD];
// ... and, after a shift by one, those that move down
static uint32_t CLOSE[2][MAX_BOARD];
// [one lane?][action]: the decoded action
static move_t MOVES[2][MAX_ACTIONS];
// [area][slot]: slots that an item on this one reaches
static uint8_t REACH[3][MAX_BOARD];
// [health, at most 26]: runes lost when it is reached
static uint8_t RUNES_HIT[32];
// time or nodes without bound
static const int64_t UNLIMITED = 1LL << 62;

INLINE uint64_t mixed(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ULL;
  return (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ULL;
}

INLINE uint64_t board_hash(const player_t *p, uint64_t salt) {
  // A sum, so that the order within a lane makes no difference. Which card a creature was does not
  // matter any more, what it is does.
  uint64_t total = 0;
  uint64_t word;
  uint32_t left = (p->marks >> OCCUPIED) & 63;
  const creature_t *x;
  int slot;
  while (left) {
    slot = lowest_bit_(left);
    left &= left - 1;
    x = &p->board[slot];
    word = (uint64_t)((uint32_t)x->attack & 65535);
    word |= (uint64_t)((uint32_t)x->defense & 65535) << 16;
    word |= (uint64_t)x->keywords << 32;
    word |= (uint64_t)((p->marks >> slot) & 1) << 40;
    word |= (uint64_t)((p->marks >> SPENT >> slot) & 1) << 41;
    word |= (uint64_t)(slot >= 3) << 42;
    total += mixed(word ^ salt);
  }
  return total;
}

INLINE uint64_t turn_hash(const state_t *s, const table_t *t, const uint64_t *card_keys) {
  // Inlined: the searches ask it at every node.
  int me = s->turn & 1;
  const player_t *p = &s->p[me];
  const player_t *op = &s->p[1 - me];
  uint64_t total;
  uint64_t hand = p->hand;
  total = board_hash(p, 21845ULL << 44) + board_hash(op, 43690ULL << 44);
  for (int _ = 0; _ < (int)p->hand_size; _++) {
    total += card_keys[hand & 255];
    hand >>= 8;
  }
  total += mixed(((uint64_t)(uint32_t)p->health << 32) | (uint32_t)op->health);
  total += mixed(((uint64_t)p->mana << 56) | ((uint64_t)(p->next_draw & 1048575) << 28) |
      (uint64_t)(op->next_draw & 1048575) | (1ULL << 63));
  total += mixed(((uint64_t)(uint32_t)p->lost << 32) | (uint32_t)op->lost | (1ULL << 63));
  return mixed(total);
}

// A random number for a card in hand: copies of a card are alike.
INLINE uint64_t hand_key(const card_t *c) {
  return mixed(((uint64_t)c->base_id + 1) * 0xD6E8FEB86659FD93ULL);
}

// What `turn_hash` needs: the key of each card of a table.
INLINE void fill_card_keys(uint64_t *keys, const table_t *t) {
  int i;
  int n1_ = t->n_cards;
  for (i = 0; i < n1_; i++) keys[i] = hand_key(&t->cards[i]);
}

static mine_t mine_of(uint32_t ready, uint32_t occupied, int one) {
  mine_t m;
  if (one) {
    m.attackers = COUNT[ready];
    m.lanes = occupied != 63;
  }
  else {
    m.attackers = COUNT[ready & 7] | (COUNT[ready >> 3] << 8);
    // the lanes' last slots are free
    m.lanes = 2 - ((occupied >> 2) & 1) - (occupied >> 5);
  }
  m.creatures = COUNT[occupied] - m.lanes;
  return m;
}

static theirs_t theirs_of(uint32_t occupied, uint32_t targets) {
  theirs_t m;
  m.targets = COUNT[targets >> 8] | (COUNT[targets & 255] << 8);
  m.creatures = COUNT[occupied];
  m._pad = 0;
  return m;
}

static uint16_t targets_of(uint32_t occupied, uint32_t guarded, int one) {
  if (one) return guarded ? guarded << 1 : (occupied << 1) | 1;
  return targets_of(occupied & 7, guarded & 7, 1) | (targets_of(occupied >> 3, guarded >> 3,
      1) << 8);
}

// The action numbering (section 12): what `MOVES` is filled with.
static move_t move_of(int action, int one) {
  move_t m;
  int first_use = one ? FIRST_USE_1 : FIRST_USE;
  int first_attack = one ? FIRST_ATTACK_1 : FIRST_ATTACK;
  int width = one ? 7 : 4;
  memset(&m, 0, sizeof(move_t));
  if (action == 0 || action >= (one ? NUM_ACTIONS_1 : NUM_ACTIONS_2)) m.kind = PASS;
  else if (action < first_use) {
    m.kind = SUMMON;
    m.source = one ? action - 1 : (action - 1) / 2;
    m.target = one ? 0 : (action - 1) % 2;
  }
  else if (action < first_attack) {
    m.kind = USE;
    m.source = (action - first_use) / 13;
    m.target = (action - first_use) % 13;
  }
  else {
    m.kind = ATTACK;
    m.source = (action - first_attack) / width;
    m.target = (action - first_attack) % width;
    if (m.target && !one && m.source >= 3) {
      // 1 + i in the lane -> 1 + slot
      m.target += 3;
    }
  }
  return m;
}

static void fill_tables(void) {
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
        NTH[8 * i + n] = j;
        n++;
      }
    }
    COUNT[i] = n;
  }
  for (int i1_ = 1; i1_ < 9; i1_++) {
    n = i1_;
    TAKEN[n] = (TAKEN[n - 1] << 8) | 255;
  }
  for (int i2_ = 1; i2_ < 8; i2_++) {
    n = i2_;
    for (i = 0; i < 64; i++) QUOTIENT[64 * n + i] = i / n;
  }
  for (one = 0; one < 2; one++) {
    for (i = 0; i < 4096; i++) {
      MINE[one][i] = mine_of(i & 63, i >> 6, one);
      TARGETS[one][i] = targets_of(i & 63, i >> 6, one);
      THEIRS[one][i] = theirs_of(i & 63, TARGETS[one][i]);
    }
    for (i = 0; i < MAX_BOARD; i++) {
      last = i < 3 && !one ? 2 : 5;
      low = (1 << i) - 1;
      KEEP[one][i] = (uint32_t)ALL_MARKS * ((low | ~((2 << last) - 1)) & 63);
      CLOSE[one][i] = (uint32_t)ALL_MARKS * (((1 << last) - 1) & ~low);
    }
    for (action = 0; action < MAX_ACTIONS; action++) MOVES[one][action] = move_of(action, one);
  }
  for (i = 0; i < 128; i++) {
    n = 0;
    for (j = 0; j < 3; j++) {
      for (int i3_ = 0; i3_ < 4; i3_++) {
        low = i3_;
        if ((i >> 4 >> j) & 1 && (i >> low) & 1) {
          ATTACKS[16 * i + n] = j | (low << 4);
          n++;
        }
      }
    }
  }
  for (i = 0; i < MAX_BOARD; i++) {
    REACH[AREA_TARGET][i] = 1 << i;
    REACH[AREA_LANE1][i] = i < 3 ? 7 : 56;
    REACH[AREA_LANE2][i] = 63;
  }
  for (i = 0; i < 32; i++) {
    n = 0;
    for (j = 0; j < 5; j++) {
      if (i <= 5 * (j + 1)) n |= 1 << j;
    }
    RUNES_HIT[i] = n;
  }
}

// 0 or 1, who is to move
static int state_player(const state_t *s) {
  return s->turn & 1;
}

// 0 or 1; -1 while nobody has won
static int state_winner(const state_t *s) {
  if (s->p[0].won) return 0;
  return s->p[1].won ? 1 : -1;
}

static move_t decode_action(const table_t *t, int action) {
  return MOVES[0][action];
}

// One byte of the marks: a mask of board slots.
INLINE uint32_t marked(const player_t *p, int which) {
  return (p->marks >> which) & 63;
}

// Byte h: 1 if the cost of hand position h can be paid, 0 beyond the hand.
INLINE uint64_t payable(const player_t *p) {
  // The top bit of 8 * (15 - cost) + 8 * (mana + 1) + (0..7) tells. There is no carry.
  return ((p->prices + (uint64_t)(8 * p->mana + 8) * BYTES) >> 7) & BYTES;
}

// Mask of the bytes whose lowest bit is set.
INLINE uint32_t gathered(uint64_t bytes) {
  // The multiplication gathers the lowest bits of the eight bytes in the highest byte.
  return (uint32_t)((bytes & BYTES) * 0x102040810204080ULL >> 56);
}

// The number of a decoded action: the inverse of `move_of`.
INLINE int action_of(move_t m) {
  if (m.kind == PASS) return 0;
  if (m.kind == SUMMON) return 1 + 2 * m.source + m.target;
  if (m.kind == USE) return FIRST_USE + 13 * m.source + m.target;
  return FIRST_ATTACK + 4 * m.source + m.target - (m.target && m.source >= 3 ? 3 : 0);
}

// ... and back
static int encode_action(const table_t *t, move_t m) {
  return action_of(m);
}

// All legal actions, ascending; returns their number.
INLINE int list_legal(const player_t *me, const player_t *op, uint8_t *out) {
  uint32_t hand = gathered(payable(me));
  uint32_t items = gathered((me->prices >> 1) | (me->prices >> 2));
  uint32_t own = marked(me, OCCUPIED);
  uint32_t enemy = marked(op, OCCUPIED);
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
    h = NTH[8 * left];
    left &= left - 1;
    out[n] = 1 + 2 * h;
    n += (~own >> 2) & 1;
    out[n] = 2 + 2 * h;
    n += (~own >> 5) & 1;
  }
  // Items in hand order: 13 targets each, of which the masks below are the legal ones.
  left = hand & items;
  while (left) {
    h = NTH[8 * left];
    left &= left - 1;
    base = 17 + 13 * h;
    price = (uint32_t)(me->prices >> 8 * h);
    if (price & IS_GREEN) {
      mask = own;
      base++;
    }
    else {
      out[n] = base;
      n += price & IS_BLUE;
      mask = enemy;
      base += 7;
    }
    while (mask) {
      out[n] = base + NTH[8 * mask];
      n++;
      mask &= mask - 1;
    }
  }
  left = marked(me, READY);
  while (left) {
    slot = NTH[8 * left];
    left &= left - 1;
    lane = slot >= 3;
    base = FIRST_ATTACK + 4 * slot;
    mask = (TARGETS[0][(op->marks >> OCCUPIED) & 4095] >> 8 * lane) & 255;
    while (mask) {
      out[n] = base + NTH[8 * mask];
      n++;
      mask &= mask - 1;
    }
  }
  return n;
}

// ... ascending; returns their number. `actions` has room for MAX_ACTIONS + 1.
static int state_list(const state_t *s, const table_t *t, uint8_t *actions) {
  const player_t *me = &s->p[s->turn & 1];
  const player_t *op = &s->p[~s->turn & 1];
  return list_legal(me, op, actions);
}

INLINE void add_to_hand(player_t *p, const table_t *t, uint8_t entry) {
  const card_t *c = &t->cards[entry];
  int h = p->hand_size;
  p->hand |= (uint64_t)entry << 8 * h;
  p->prices |= (uint64_t)c->price << 8 * h;
  p->hand_size = h + 1;
}

INLINE void remove_from_hand(player_t *p, int h) {
  // x moves down by one place from position h on: below it keep x, from there take x shifted.
  uint64_t below = (1ULL << 8 * h) - 1;
  uint64_t hand = p->hand >> 8;
  uint64_t prices = p->prices >> 8;
  p->hand = hand ^ ((hand ^ p->hand) & below);
  p->prices = prices ^ ((prices ^ p->prices) & below);
  p->hand_size--;
}

// Append a creature to a lane that has room.
INLINE void add_creature(player_t *p, const card_t *c, const int copy, int lane) {
  int slot = 3 * lane + COUNT[(p->marks >> (OCCUPIED + 3 * lane)) & 7];
  p->board[slot] = c->creature;
  if (copy) p->board[slot].copy = 1;
  p->marks |= c->marks << slot;
  p->order = (p->order << 1) | lane;
}

// Take a creature off the board and close the gap in its lane.
INLINE void remove_creature(player_t *p, int slot) {
  int j;
  int lane;
  int i;
  int bit;
  // of its lane; no comparison, no branch
  int start = 3 * ((slot + 1) >> 2);
  creature_t *first = &p->board[start];
  // Find the creature's bit in the order: the i-th of its lane, from the top.
  lane = slot >= 3;
  i = slot - 3 * lane;
  bit = COUNT[marked(p, OCCUPIED)];
  while (i >= 0) {
    bit--;
    i -= ((p->order >> bit) & 1) == lane;
  }
  p->order = (p->order >> (bit + 1) << bit) | (p->order & ((1 << bit) - 1));
  p->marks = (p->marks & KEEP[0][slot]) | ((p->marks >> 1) & CLOSE[0][slot]);
  slot -= start;
  for (j = 0; j < 2; j++) {
    // no branch: the slot is hard to predict
    first[j] = first[j + (j >= slot)];
  }
  memset(&first[2], 0, sizeof(creature_t));
}

// A health change by an action: losses give cards (section 5).
INLINE void change_health(player_t *p, int change) {
  p->health += change;
  // only what is negative
  p->lost -= change & (change >> 31);
}

// Move the top n cards of the deck, which has as many, to the hand, which has room.
INLINE void take_cards(state_t *s, const table_t *t, int who, player_t *p, int n) {
  uint8_t *top = &s->deck[who][MAX_DECK - p->deck_left];
  // Eight cards as one word, of which n are taken. The prices of two are looked up whether or not
  // they are taken, as how many are is hard to predict. The word may reach beyond the deck, but
  // not beyond the state.
  uint64_t cards;
  uint64_t prices;
  uint64_t taken = TAKEN[n];
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
INLINE void draw(state_t *s, const table_t *t, int who, player_t *p, int n) {
  int taken;
  int late = unlikely_(s->turn >= 100);
  if (late) p->health -= 10;
  taken = MAX_HAND - p->hand_size;
  if (taken > n) taken = n;
  if (unlikely_(taken > p->deck_left)) taken = p->deck_left;
  n -= taken;
  take_cards(s, t, who, p, taken);
  // the deck is empty if n is not 0
  p->health -= 10 * n * (p->hand_size < MAX_HAND);
  return;
}

// Set and report the winner; the player to move wins if both are dead (section 5).
INLINE int check_win(player_t *me, player_t *op) {
  if (likely_(((me->health - 1) | (op->health - 1)) >= 0)) return 0;
  if (op->health <= 0) me->won = 1;
  else op->won = 1;
  return 1;
}

// Health changes and draw of a card, `times` over as one change each.
INLINE int effects(player_t *me, player_t *op, const card_t *c, int times) {
  me->next_draw += times * c->draw;
  change_health(me, times * c->my_health);
  change_health(op, times * c->opponent_health);
  return check_win(me, op);
}

INLINE int summon(player_t *me, player_t *op, const table_t *t, int h, int lane) {
  const card_t *c = &t->cards[(me->hand >> 8 * h) & 255];
  int times = 1;
  remove_from_hand(me, h);
  me->mana -= c->cost;
  add_creature(me, c, 0, lane);
  lane ^= c->area == AREA_LANE2;
  if ((c->area != AREA_TARGET) & !((marked(me, OCCUPIED) >> (3 * lane + 2)) & 1)) {
    add_creature(me, c, 1, lane);
    times = 2;
  }
  return effects(me, op, c, times);
}

INLINE int attack_player(player_t *me, player_t *op, int slot) {
  creature_t *x = &me->board[slot];
  me->marks = (me->marks & ~(1U << slot)) | (1U << SPENT << slot);
  change_health(op, -x->attack);
  // Drain
  change_health(me, x->attack * ((x->keywords >> 2) & 1));
  return check_win(me, op);
}

// Fit for a creature's field. Only positions made by hand and creatures printed with a negative
// attack, whose every fight adds defense, can reach the bound.
INLINE int16_t core_short(int value) {
  return value < 32767 ? value : 32767;
}

INLINE int attack_creature(player_t *me, player_t *op, int slot, int target) {
  creature_t *x = &me->board[slot];
  creature_t *y = &op->board[target];
  int attack = x->attack;
  int given = y->keywords & WARD ? 0 : attack;
  int taken = x->keywords & WARD ? 0 : y->attack;
  int x_left = x->defense - taken;
  int y_left = y->defense - given;
  uint32_t keywords = x->keywords;
  int x_dies = x_left <= 0 || (y->keywords & LETHAL && taken > 0);
  int y_dies = y_left <= 0 || (keywords & LETHAL && given > 0);
  if (x_dies) remove_creature(me, slot);
  else {
    me->marks = (me->marks & ~(1U << slot)) | (1U << SPENT << slot);
    x->defense = core_short(x_left);
    if (y->attack > 0) x->keywords &= ~WARD;
  }
  if (y_dies) remove_creature(op, target);
  else {
    y->defense = core_short(y_left);
    if (attack > 0) y->keywords &= ~WARD;
  }
  // Drain
  me->health += attack * ((keywords >> 2) & (given > 0));
  if (keywords & BREAKTHROUGH && y_left < 0) {
    change_health(op, y_left);
    return check_win(me, op);
  }
  return 0;
}

// An item's effect on one creature of `p`.
INLINE void use_on(player_t *p, const card_t *c, int slot) {
  creature_t *x = &p->board[slot];
  uint32_t keywords = c->type == GREEN ? x->keywords | c->keywords : x->keywords &
      ~(uint32_t)c->keywords;
  int attack = x->attack + c->attack;
  int defense = x->defense;
  if (c->defense < 0 && keywords & WARD) keywords ^= WARD;
  else defense += c->defense;
  if (defense <= 0) {
    // 1.x: a green item that would kill leaves its target as it was.
    remove_creature(p, slot);
    return;
  }
  x->attack = attack > 0 ? core_short(attack) : 0;
  x->defense = core_short(defense);
  x->keywords = keywords;
  p->marks = (p->marks & ~(1U << GUARDED << slot)) | (((keywords >> 3) & 1) << GUARDED << slot);
  // ready if and only if it has not attacked
  if (c->type == GREEN && c->keywords & CHARGE) {
    p->marks = (p->marks & ~(1U << slot)) | (((~p->marks >> SPENT >> slot) & 1) << slot);
  }
}

// `op if other else me`, without a branch.
INLINE player_t *chosen(player_t *me, player_t *op, int other) {
  return (player_t *)((uint64_t)me ^ (((uint64_t)me ^ (uint64_t)op) & -(uint64_t)other));
}

INLINE int use(player_t *me, player_t *op, const table_t *t, int h, int target) {
  const card_t *c = &t->cards[(uint8_t)(me->hand >> 8 * h)];
  player_t *p;
  int slot;
  int times;
  int i;
  uint32_t hit;
  remove_from_hand(me, h);
  me->mana -= c->cost;
  // blue on the player: one change, no area
  if (target == 0) {
    change_health(op, c->defense + c->opponent_health);
    change_health(me, c->my_health);
    me->next_draw += c->draw;
    return check_win(me, op);
  }
  p = chosen(me, op, target >= 7);
  slot = target - 1 - 6 * (target >= 7);
  hit = marked(p, OCCUPIED) & REACH[c->area][slot];
  times = COUNT[hit];
  // from the end: a removal moves those behind it
  for (i = times - 1; i > -1; i--) use_on(p, c, NTH[8 * hit + i]);
  return effects(me, op, c, times);
}

// The turn change (section 4): `op` has just played, `me` is next.
INLINE int end_turn(state_t *s, const table_t *t, player_t *op, player_t *me) {
  int n;
  op->marks &= 262080;
  op->shown_draw = op->next_draw + op->lost / 5;
  s->turn++;
  me->max_mana += me->max_mana < MAX_MANA + me->bonus;
  n = me->bonus & (me->mana == 0);
  me->bonus -= n;
  me->max_mana -= n;
  me->mana = me->max_mana;
  me->marks |= marked(me, OCCUPIED);
  n = me->next_draw + (int)((uint32_t)me->lost / 5);
  draw(s, t, s->turn & 1, me, n);
  me->shown_draw = n;
  me->next_draw = 1;
  me->lost = 0;
  return check_win(me, op);
}

// Apply a decoded action other than PASS; returns whether the game has ended.
INLINE int play(const table_t *t, player_t *me, player_t *op, move_t m) {
  if (m.kind == ATTACK) {
    if (m.target == 0) return attack_player(me, op, m.source);
    return attack_creature(me, op, m.source, m.target - 1);
  }
  if (m.kind == SUMMON) return summon(me, op, t, m.source, m.target);
  return use(me, op, t, m.source, m.target);
}

INLINE void apply_with(state_t *s, const table_t *t, int action) {
  player_t *me = &s->p[s->turn & 1];
  player_t *op = &s->p[~s->turn & 1];
  if (action == PASS) end_turn(s, t, me, op);
  else play(t, me, op, MOVES[0][action]);
}

// What happens (sections 4, 5 and 7).
static void state_apply(state_t *s, const table_t *t, int action) {
  apply_with(s, t, action);
}

static void state_end_turn(state_t *s, const table_t *t) {
  state_apply(s, t, PASS);
}

// A bijection on 64 bits whose output bits each depend on all input bits.
INLINE uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}

// Uniformly random playouts (section 14). Game i of a seed has its own stream of random numbers.
static uint64_t stream_start(uint64_t seed, uint64_t i) {
  return mix(mix(seed + 0x9E3779B97F4A7C15ULL) ^ i);
}

// Uniform in 0..n-1, n <= 155: a 32-bit random number times n, the upper half. Each outcome
// gets floor or ceil of 2^32 / n of the numbers, so no probability is off by more than 2^-32.
// The generator is Knuth's 64-bit congruential one, of which the result takes the best bits.
INLINE uint64_t below(uint64_t *stream, uint64_t n) {
  *stream = *stream * 0x5851F42D4C957F2DULL + 0x14057B7EF767814FULL;
  return (*stream >> 32) * n >> 32;
}

// Fill in the derived fields of an entry.
static void complete_card(card_t *c, int entry) {
  memset(&c->creature, 0, sizeof(creature_t));
  c->creature.attack = c->attack;
  c->creature.defense = c->defense;
  c->creature.card = entry;
  c->creature.keywords = c->keywords;
  c->marks = 64;
  if (c->keywords & CHARGE) c->marks |= 1;
  if (c->keywords & GUARD) c->marks |= 4096;
  c->price = 8 * (15 - (c->cost < 14 ? c->cost : 14));
  if (c->type != CREATURE) {
    c->price |= c->type == GREEN ? IS_GREEN : ON_ENEMIES;
    // IS_BLUE
    c->price |= c->type == BLUE;
  }
}

// A blank and a whole number of at most nine digits; returns their length.
static int write_number(char *to, int number) {
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

static int creature_id(const creature_t *x, const table_t *t) {
  return t->cards[x->card].id + x->copy;
}

// Whether an action names things that are there; and which they are.
static int name_action(const state_t *s, const table_t *t, int action, named_t *out) {
  const player_t *me = &s->p[s->turn & 1];
  const player_t *op = &s->p[~s->turn & 1];
  const player_t *p = op;
  move_t m;
  int slot;
  if (action < 0 || action >= NUM_ACTIONS_2) return 0;
  m = MOVES[0][action];
  out->kind = m.kind;
  out->source = -1;
  out->target = -1;
  if (m.kind == PASS) return 1;
  slot = m.target - 1;
  if (m.kind == ATTACK) {
    if (!((marked(me, OCCUPIED) >> m.source) & 1)) return 0;
    out->source = creature_id(&me->board[m.source], t);
  }
  else {
    if (m.source >= me->hand_size) return 0;
    out->source = t->cards[(me->hand >> 8 * m.source) & 255].id;
    if (m.kind == SUMMON) {
      out->target = m.target;
      return 1;
    }
    if (slot >= MAX_BOARD) slot -= MAX_BOARD;
    else p = me;
  }
  if (slot >= 0) {
    if (!((marked(p, OCCUPIED) >> slot) & 1)) return 0;
    out->target = creature_id(&p->board[slot], t);
  }
  return 1;
}

// The text of an action of the player to move, as "ATTACK 36 -1", without a zero at its end (section
// 8): at most MAX_ACTION_TEXT characters, returns their number; 0 if it names an empty place.
static int state_write(const state_t *s, const table_t *t, int action, char *to) {
  named_t named;
  const char *word;
  int n = 0;
  if (!name_action(s, t, action, &named)) return 0;
  word = named.kind == PASS ? "PASS" : named.kind == SUMMON ? "SUMMON" : named.kind == USE ? "USE" : "ATTACK";
  while (word[n]) {
    to[n] = word[n];
    n++;
  }
  if (named.kind == PASS) return n;
  n += write_number(&to[n], named.source);
  n += write_number(&to[n], named.target);
  return n;
}

INLINE void clear_hand(player_t *p) {
  p->hand = 0;
  p->prices = 0;
  p->hand_size = 0;
}

// A player before their opening hand is drawn (section 4).
static void clear_player(player_t *p) {
  memset(p, 0, sizeof(player_t));
  clear_hand(p);
  p->health = 30;
  p->next_draw = 1;
  p->shown_draw = 1;
  p->order = 1;
  p->runes = 0;
}

INLINE int core_cut(int x, int most) {
  return x > most ? most : x < -most ? -most : x;
}

// The printed card that a row stands for, as entry `entry` of a table. Of a creature on the board
// not all is known that its card says; present values do for it, cut to what cards may have.
static void card_of_row(card_t *c, const shown_card_t *row, int entry) {
  c->attack = (int16_t)core_cut(row->attack, MAX_CARD_STAT);
  c->defense = (int16_t)core_cut(row->defense, MAX_CARD_STAT);
  c->my_health = (int16_t)row->my_health;
  c->opponent_health = (int16_t)row->opponent_health;
  c->cost = (uint8_t)row->cost;
  c->draw = (uint8_t)row->draw;
  c->type = (uint8_t)row->type;
  c->keywords = (uint8_t)row->keywords;
  c->area = (uint8_t)row->area;
  c->id = (uint8_t)row->id;
  c->base_id = (uint16_t)row->base_id;
  complete_card(c, entry);
}

// Whether a row is one of a battle, and there is room for it.
static int row_has_place(const shown_card_t *row, int room) {
  int most = row->location ? MAX_STAT : MAX_CARD_STAT;
  return room > 0 && -1 <= row->location && row->location <= 1 && 0 <= row->id && row->id < POOL_ID
      && 0 <= row->base_id && row->base_id <= 65535 && 0 <= row->type && row->type <= 3 && 0 <=
      row->cost && row->cost <= 127 && 0 <= row->area && row->area <= 2 && 0 <= row->draw &&
      row->draw <= 100 && core_cut(row->my_health, MAX_CARD_STAT) == row->my_health &&
      core_cut(row->opponent_health, MAX_CARD_STAT) == row->opponent_health && core_cut(row->attack,
      most) == row->attack && core_cut(row->defense,
      most) == row->defense && (row->location == 0 || row->type == CREATURE);
}

// The entry of which a creature is the area copy (section 7), -1: it is none.
static int original_of(const table_t *t, const shown_card_t *row) {
  int i;
  for (i = 0; i < t->n_cards; i++) {
    if (t->cards[i].id == row->id - 1 && t->cards[i].base_id == row->base_id) return i;
  }
  return -1;
}

// How many more creatures a lane takes; 0 where there is no such lane.
static int room_in(const player_t *p, int lane, const table_t *t) {
  return lane == 0 || lane == 1 ? 3 - COUNT[(p->marks >> (OCCUPIED + 3 * lane)) & 7] : 0;
}

// Append a creature as it is to a lane that has room.
static void place_creature(player_t *p, const table_t *t, const creature_t *x, int lane,
    int ready) {
  int slot = COUNT[(p->marks >> (OCCUPIED + 3 * lane)) & 7] + 3 * lane;
  add_creature(p, &t->cards[x->card], x->copy, lane);
  p->board[slot] = *x;
  p->marks &= ~((uint32_t)266241 << slot);
  p->marks |= ((uint32_t)ready | ((uint32_t)0 << SPENT) | (x->keywords & GUARD ? 1U << GUARDED : 0))
      << slot;
}

// What the player lines of an observation say.
static void show_players(state_t *s, const table_t *t, const shown_t *o, int who) {
  player_t *p;
  int side;
  for (side = 0; side < 2; side++) {
    p = &s->p[side == 0 ? who : 1 - who];
    clear_player(p);
    p->health = o->player[side].health;
    p->max_mana = (uint8_t)o->player[side].max_mana;
    p->mana = (uint8_t)o->player[side].max_mana;
    p->shown_draw = o->player[side].draw;
  }
  s->p[1 - who].won = o->player[0].health <= 0;
  s->p[who].won = o->player[1].health <= 0 && 0 < o->player[0].health;
}

// The entry of a row, a new one but for an area copy.
static int show_card(table_t *t, const shown_card_t *row, const table_t *pool) {
  int i;
  int entry = -1;
  int known = row->location != 0 && pool != NULL;
  if (known) entry = original_of(t, row);
  if (entry >= 0) return entry;
  entry = t->n_cards;
  t->n_cards = entry + 1;
  t->n_instances = entry + 1;
  card_of_row(&t->cards[entry], row, entry);
  if (known) {
    int n1_ = pool->n_cards;
    for (i = 0; i < n1_; i++) {
      if (pool->cards[i].base_id == row->base_id) {
        t->cards[entry] = pool->cards[i];
        t->cards[entry].id = (uint8_t)row->id;
        complete_card(&t->cards[entry], entry);
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
static int state_show(state_t *s, table_t *t, const shown_t *o, int who, const table_t *pool) {
  player_t *p;
  const shown_card_t *row;
  const card_t *printed;
  creature_t x;
  uint64_t seen[4];
  int i;
  int entry;
  memset(s, 0, sizeof(state_t));
  memset(seen, 0, sizeof(seen));
  s->turn = who;
  show_players(s, t, o, who);
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    row = &o->cards[i];
    p = &s->p[row->location == -1 ? 1 - who : who];
    if (!row_has_place(row, row->location == 0 ? MAX_HAND - p->hand_size : room_in(p, row->lane,
        t))) {
      return i;
    }
    if ((seen[row->id >> 6] >> (row->id & 63)) & 1) return 1000 + i;
    seen[row->id >> 6] |= (uint64_t)1 << (row->id & 63);
    entry = show_card(t, row, pool);
    if (row->location == 0) {
      add_to_hand(p, t, entry);
      continue;
    }
    printed = &t->cards[entry];
    x.card = (uint8_t)entry;
    x.copy = printed->id != row->id;
    x.attack = (int16_t)row->attack;
    x.defense = (int16_t)row->defense;
    x.keywords = (uint8_t)row->keywords;
    x.forgotten = 0;
    place_creature(p, t, &x, row->lane, row->location == 1);
  }
  return -1;
}

// Cards in hidden places: n of them on top of a player's deck, and in a hand.
static void state_fill_deck(state_t *s, int who, uint8_t entry, int n) {
  memset(&s->deck[who][MAX_DECK - n], entry, n);
  s->p[who].deck_left = (uint8_t)n;
}

static void state_fill_hand(state_t *s, const table_t *t, int who, uint8_t entry, int n) {
  for (int _ = 0; _ < n; _++) add_to_hand(&s->p[who], t, entry);
}

// n entries for hidden places: one by one, each as likely as its weight says, until its group
// has given all its copies; then in random order, as the first ones drawn weigh more.
static void draw_candidates(const unknown_t *u, int who, int n, uint8_t *out, uint64_t *stream) {
  uint32_t weight[MAX_CARDS];
  uint8_t copies[MAX_CARDS];
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
    x = below(stream, total);
    i = 0;
    while (x >= weight[i]) {
      x -= weight[i];
      i++;
    }
    j = below(stream, k + 1);
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
static void state_deal(state_t *s, const table_t *t, const unknown_t *u, uint64_t *stream) {
  uint8_t cards[38];
  player_t *p;
  int who;
  int size;
  int i;
  for (who = 0; who < 2; who++) {
    p = &s->p[who];
    size = who == u->viewer ? 0 : p->hand_size;
    draw_candidates(u, who, size + p->deck_left, cards, stream);
    memcpy(&s->deck[who][MAX_DECK - p->deck_left], &cards[size], p->deck_left);
    if (who != u->viewer) {
      clear_hand(p);
      for (i = 0; i < size; i++) add_to_hand(p, t, cards[i]);
    }
  }
}

INLINE int is_blank(char c) {
  // All ASCII characters at which `str.split` does.
  return c == ' ' || (9 <= c && c <= 13 && c != '\n') || (28 <= c && c <= 31);
}

// Split the line that begins at `at`; returns where the next one does.
static int split(const char *text, int size, int at, line_t *line) {
  line->n = 0;
  while (at < size && text[at] != '\n') {
    if (is_blank(text[at])) {
      at++;
      continue;
    }
    if (line->n <= MAX_COLUMNS) line->start[line->n] = at;
    while (at < size && text[at] != '\n' && !is_blank(text[at])) at++;
    if (line->n <= MAX_COLUMNS) {
      line->end[line->n] = at;
      line->n++;
    }
  }
  return at + 1;
}

// Read a column that is an integer from `low` to `high`.
static int number(const char *text, line_t *line, int column, int low, int high, int32_t *value) {
  int i = line->start[column];
  int end = line->end[column];
  int negative = text[i] == '-';
  int32_t x = 0;
  line->bad = column;
  i += negative;
  if (i == end || end - i > MAX_DIGITS) return 0;
  while (i < end) {
    if (text[i] < '0' || text[i] > '9') return 0;
    // '0'
    x = 10 * x + text[i] - 48;
    i++;
  }
  *value = negative ? -x : x;
  return low <= *value && *value <= high;
}

static int is_word(const char *text, const line_t *line, const char *word) {
  int i = line->start[1];
  while (i < line->end[1] && *word == text[i]) {
    word++;
    i++;
  }
  return i == line->end[1] && *word == 0;
}

static int read_player(const char *text, line_t *line, shown_player_t *p) {
  if (line->n != 4) return WRONG_COUNT;
  p->rune = 0;
  return number(text, line, 0, -999999999, ANY, &p->health) && number(text, line, 1, -999999999,
      ANY, &p->max_mana) && number(text, line, 2, -999999999, ANY, &p->deck_size) && number(text,
      line, 3, -999999999, ANY, &p->draw) ? 0 : WRONG_COLUMN;
}

static int read_action(const char *text, line_t *line, int begin, shown_action_t *a) {
  int i;
  if ((line->n != 3 && line->n != 4) || line->start[0] != begin) return WRONG_ACTION;
  // single blanks
  for (i = 0; i < line->n - 1; i++) {
    if (line->start[i + 1] != line->end[i] + 1 || text[line->end[i]] != ' ') return WRONG_ACTION;
  }
  a->kind = is_word(text, line, "SUMMON") ? SUMMON : is_word(text, line, "USE") ? USE : ATTACK;
  if (a->kind == ATTACK && !is_word(text, line, "ATTACK")) return WRONG_ACTION;
  if (!number(text, line, 2, -999999999, ANY, &a->id)) return WRONG_ACTION;
  if (line->n == 3) {
    if (a->kind != SUMMON) return WRONG_ACTION;
    a->target = NO_TARGET;
  }
  else if (!number(text, line, 3, -999999999, ANY, &a->target)) return WRONG_ACTION;
  return number(text, line, 0, 0, ANY, &a->base_id) ? 0 : WRONG_COLUMN;
}

static int read_keywords(const char *text, line_t *line, int32_t *keywords) {
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

static int read_card(const char *text, line_t *line, shown_card_t *c) {
  if (line->n != 13) return WRONG_COUNT;
  if (!(number(text, line, 0, 0, ANY, &c->base_id) && number(text, line, 1, OFFERED, ANY,
      &c->id) && number(text, line, 2, -1, 1, &c->location) && number(text, line, 3, 0, 3,
      &c->type) && number(text, line, 4, -999999999, ANY, &c->cost) && number(text, line, 5,
      -999999999, ANY, &c->attack) && number(text, line, 6, -999999999, ANY,
      &c->defense) && read_keywords(text, line, &c->keywords) && number(text, line, 8, -999999999,
      ANY, &c->my_health) && number(text, line, 9, -999999999, ANY,
      &c->opponent_health) && number(text, line, 10, -999999999, ANY, &c->draw))) {
    return WRONG_COLUMN;
  }
  c->area = 0;
  if (!number(text, line, 11, 0, 2, &c->area)) return WRONG_COLUMN;
  return number(text, line, 12, -1, 1, &c->lane) ? 0 : WRONG_COLUMN;
}

// What keeps a row, whose fields are in range, from being together with those before it.
static int row_fault(const shown_t *o, const shown_card_t *c, int32_t (*places)[3]) {
  int offered = o->cards[0].id == OFFERED;
  int room = 3;
  if (c->location == 0) room = MAX_HAND;
  if ((c->id == OFFERED) != offered) return WRONG_PHASE;
  if ((c->location == 0) != (c->lane == -1) || c->lane >= 2) return WRONG_LANE;
  if (c->location != 0 && c->type != CREATURE) return WRONG_TYPE;
  if (c->location != 0 && offered) return WRONG_OFFER;
  places[c->location + 1][c->lane + 1]++;
  if (places[c->location + 1][c->lane + 1] > room && !offered) return WRONG_NUMBER;
  return 0;
}

// Read a text line by line. `rules` is -1 where the columns have to tell. Taking a line returns 1 if
// another one has to follow, 0 at the end, -1 for one that no referee writes: `fault` and `line.bad`
// say why. `at` is where the line begins, then where the next one does.
static void reader_start(reader_t *r, shown_t *o, int rules) {
  memset(r, 0, sizeof(reader_t));
  o->n_actions = 0;
  o->n_cards = 0;
}

static int reader_take(reader_t *r, shown_t *o, const char *text, int size, int *at) {
  line_t *line = &r->line;
  int stage = r->stage;
  int i = r->done;
  r->number++;
  r->begin = *at;
  *at = split(text, size, *at, line);
  if (stage == OWN_LINE || stage == THEIR_LINE) {
    r->fault = read_player(text, line, &o->player[stage]);
  }
  else if (stage == COUNTS) {
    if (line->n != 2) r->fault = WRONG_COUNT;
    else if (!(number(text, line, 0, 0, ANY, &o->opponent_hand) && number(text, line, 1, 0,
        MAX_SHOWN_ACTIONS, &o->n_actions))) {
      r->fault = WRONG_COLUMN;
    }
    if (o->n_actions == 0) {
      // no action line follows
      stage++;
    }
  }
  else if (stage == ACTION_LINES) {
    r->fault = read_action(text, line, r->begin, &o->actions[i]);
    r->done++;
    if (r->fault == 0 && r->done < o->n_actions) return 1;
  }
  else if (stage == NUMBER_OF_CARDS) {
    if (line->n != 1) r->fault = WRONG_COUNT;
    else if (!number(text, line, 0, 0, MAX_SHOWN, &o->n_cards)) r->fault = WRONG_COLUMN;
    r->done = 0;
    if (o->n_cards == 0) stage++;
  }
  else {
    // 1.x, where the player lines are the same: a card row tells which.
    r->fault = read_card(text, line, &o->cards[i]);
    if (r->fault == 0) r->fault = row_fault(o, &o->cards[i], r->places);
    r->done++;
    if (r->fault == 0 && r->done < o->n_cards) return 1;
  }
  if (r->fault) return -1;
  r->stage = stage + 1;
  if (r->stage <= CARD_ROWS) return 1;
  return 0;
}

INLINE int cut(int x) {
  return x > MOST ? MOST : x < -20 ? -20 : x;
}

// The creatures of a side; returns the attack in lanes where no Guard is in its way.
static int see_board(inputs_t *o, int side, const player_t *p, const player_t *op) {
  uint32_t left = (p->marks >> OCCUPIED) & 63;
  uint32_t guarded = (op->marks >> GUARDED) & 63;
  const creature_t *x;
  int16_t *f;
  int slot;
  int i;
  int a;
  int d;
  int free = 0;
  for (slot = 0; slot < MAX_BOARD; slot++) {
    if (!((left >> slot) & 1)) continue;
    x = &p->board[slot];
    f = o->creatures[side][slot];
    a = cut(x->attack);
    d = cut(x->defense);
    if (!(guarded & (slot < 3 ? 7 : 56))) free += a;
    *f = 1;
    f[1] = a;
    f[2] = d;
    f[3] = min_int(a, d);
    for (i = 0; i < 6; i++) f[4 + i] = (x->keywords >> i) & 1;
    f[10] = x->keywords & BREAKTHROUGH ? a : 0;
    f[11] = x->keywords & DRAIN ? a : 0;
    f[12] = x->keywords & WARD ? a : 0;
    f[13] = x->keywords & GUARD ? d : 0;
    f[14] = min_int(a, 3);
    f[15] = min_int(d, 3);
  }
  return free;
}

// What a player has beside their creatures; returns their health after the next draw (4).
INLINE int see_player(int16_t *f, const player_t *p, const table_t *t) {
  int draws = p->next_draw + p->lost / 5;
  int taken = min_int(min_int(MAX_HAND - p->hand_size, draws), p->deck_left);
  int hand = p->hand_size + taken;
  int left = p->deck_left - taken;
  int health = p->health;
  if (draws > taken && hand < MAX_HAND) health -= 10 * (draws - taken);
  health = max_int(-10, min_int(50, health));
  *f = health;
  f[1] = max_int(0, 12 - health);
  f[2] = max_int(0, 6 - health);
  f[3] = hand;
  f[4] = max_int(0, hand - 5);
  f[5] = left;
  f[6] = max_int(0, 10 - left);
  f[7] = max_int(0, 4 - left);
  f[8] = p->lost % 5;
  f[9] = p->max_mana;
  f[10] = p->bonus;
  f[11] = min_int(draws, 12);
  return health;
}

static void see(inputs_t *o, const state_t *s, const table_t *t, int who) {
  const player_t *me = &s->p[who];
  const player_t *op = &s->p[1 - who];
  const card_t *c;
  int16_t *f;
  int i;
  int j;
  int mine;
  int theirs;
  int my_health;
  int their_health;
  memset(o, 0, sizeof(inputs_t));
  for (i = 0; i < MAX_BOARD; i++) o->lane[i] = i >= 3;
  mine = see_board(o, 0, me, op);
  theirs = see_board(o, 1, op, me);
  int n1_ = me->hand_size;
  for (i = 0; i < n1_; i++) {
    c = &t->cards[(me->hand >> 8 * i) & 255];
    f = o->hand[i];
    *f = 1;
    f[1 + c->type] = 1;
    f[5] = c->cost;
    f[6] = cut(c->attack);
    f[7] = cut(c->defense);
    for (j = 0; j < 6; j++) f[8 + j] = (c->keywords >> j) & 1;
    f[14] = cut(c->my_health);
    f[15] = cut(c->opponent_health);
    f[16] = c->draw;
    f[17] = c->area == AREA_LANE1;
    f[18] = c->area == AREA_LANE2;
    f[19] = c->cost >= 4;
  }
  f = o->other;
  my_health = see_player(f, me, t);
  their_health = see_player(f + 12, op, t);
  f[24] = min_int(s->turn, 40);
  f[25] = max_int(0, 4 - s->turn);
  for (i = MAX_DECK - me->deck_left; i < MAX_DECK; i++) {
    c = &t->cards[s->deck[who][i]];
    f[26] += c->cost;
    f[27] += c->draw;
    f[28] += c->type == CREATURE;
    f[29] += c->area != 0;
    f[30] += c->cost <= 1;
  }
  f[31] = min_int(mine, 40);
  f[32] = min_int(theirs, 40);
  f[33] = mine >= their_health;
  f[34] = theirs >= my_health;
  f[35] = max_int(-20, min_int(20, their_health - mine));
  f[36] = max_int(-20, min_int(20, my_health - theirs));
  f[37] = max_int(0, -f[35]);
  f[38] = max_int(0, -f[36]);
}

// Add a multiple of a row of weights. Most inputs are 0, so it pays to look.
INLINE void add(float *to, float x, const float *row, int n) {
  int k;
  if (x) {
    for (k = 0; k < n; k++) to[k] += x * row[k];
  }
}

INLINE void add_positive(float *to, const float *units, int n) {
  int k;
  for (k = 0; k < n; k++) to[k] += units[k] > 0 ? units[k] : 0;
}

// The logarithm of the odds that `who`, whose turn ends, wins the game, which is not over.
static float network_value(const network_t *n, const state_t *s, const table_t *t, int who) {
  inputs_t seen;
  // of the layer that is being made
  float units[LANE];
  // [lane]
  float sums[2][16];
  float joined[JOINED];
  float hidden[HIDDEN];
  float deeper[HIDDEN];
  int side;
  int slot;
  int lane;
  int i;
  float value = n->output_bias;
  see(&seen, s, t, who);
  memset(sums, 0, sizeof(sums));
  memset(joined, 0, sizeof(joined));
  for (side = 0; side < 2; side++) {
    for (slot = 0; slot < MAX_BOARD; slot++) {
      if (seen.creatures[side][slot][0]) {
        memset(units, 0, sizeof(units));
        for (i = 0; i < CREATURE_INPUTS; i++) {
          add(units, seen.creatures[side][slot][i], n->creature[side][i], SUMS);
        }
        add_positive(&sums[seen.lane[slot]][side * SUMS], units, SUMS);
      }
    }
  }
  for (lane = 0; lane < 2; lane++) {
    memcpy(units, n->lane_bias, sizeof(units));
    for (i = 0; i < 16; i++) {
      add(units, sums[lane][i], n->lane[i], LANE);
      joined[LANE + i] += sums[lane][i];
    }
    add_positive(joined, units, LANE);
  }
  int n1_ = s->p[who].hand_size;
  for (slot = 0; slot < n1_; slot++) {
    memset(units, 0, sizeof(units));
    for (i = 0; i < CARD_INPUTS; i++) add(units, seen.hand[slot][i], n->card[i], SUMS);
    add_positive(&joined[32], units, SUMS);
  }
  for (i = 0; i < OTHER_INPUTS; i++) joined[40 + i] = seen.other[i];
  memcpy(hidden, n->hidden_bias, sizeof(hidden));
  memcpy(deeper, n->deeper_bias, sizeof(deeper));
  for (i = 0; i < JOINED; i++) {
    value += joined[i] * n->direct[i];
    add(hidden, joined[i], n->hidden[i], HIDDEN);
  }
  for (i = 0; i < HIDDEN; i++) add(deeper, hidden[i] > 0 ? hidden[i] : 0, n->deeper[i], HIDDEN);
  for (i = 0; i < HIDDEN; i++) value += deeper[i] > 0 ? deeper[i] * n->output[i] : 0;
  return value;
}

// Add a multiple of a row of weights. Most terms are 0, so it pays to look.
INLINE void deck_add(float *to, float x, const float *row) {
  int k;
  if (x) {
    for (k = 0; k < DECK_UNITS; k++) to[k] += x * row[k];
  }
}

// Begin with no cards; `hidden` has room for a row of each card.
static void offer_start(offer_t *o, const deck_network_t *networks, int n_networks, float *hidden) {
  int i;
  int k;
  o->n_networks = n_networks;
  o->n_cards = 0;
  o->hidden = hidden;
  for (i = 0; i < n_networks; i++) {
    for (k = 0; k < DECK_UNITS; k++) {
      o->bias[DECK_UNITS * i + k] = networks[i].hidden_bias[k];
      o->output[DECK_UNITS * i + k] = networks[i].output[k] / n_networks;
    }
  }
}

// Add a card, given by how much it has of each term; they have to come by ascending base id.
static void offer_add(offer_t *o, const deck_network_t *networks, const float *terms) {
  const deck_network_t *n;
  float units[DECK_UNITS];
  float sums[DECK_SUMS];
  float total;
  float direct = 0;
  float *row;
  int i;
  int j;
  int n1_ = o->n_networks;
  for (i = 0; i < n1_; i++) {
    n = &networks[i];
    memcpy(units, n->card_bias, sizeof(units));
    for (j = 0; j < DECK_TERMS; j++) {
      deck_add(units, terms[j], n->card[j]);
      sums[j] = terms[j];
    }
    for (j = 0; j < DECK_UNITS; j++) sums[DECK_TERMS + j] = units[j] > 0 ? units[j] : 0;
    row = &o->hidden[(o->n_cards * o->n_networks + i) * DECK_UNITS];
    memset(row, 0, DECK_UNITS * sizeof(float));
    total = 0;
    for (j = 0; j < DECK_SUMS; j++) {
      deck_add(row, sums[j], n->hidden[j]);
      total += sums[j] * n->direct[j];
    }
    direct += total / o->n_networks;
  }
  o->direct[o->n_cards] = direct;
  o->n_cards++;
}

// What units make of the sum of two inputs.
static float behind(const float *a, const float *b, const float *output, int size) {
  float sums[STEP];
  float x;
  float total = 0;
  int i = 0;
  int k;
  memset(sums, 0, sizeof(sums));
  while (i < size) {
    for (k = 0; k < STEP; k++) {
      x = a[i + k] + b[i + k];
      sums[k] += (x > 0 ? x : 0) * output[i + k];
    }
    i += STEP;
  }
  for (k = 0; k < STEP; k++) total += sums[k];
  return total;
}

// What the cards of a deck add to the second layer together, and to the value.
static float add_up(const offer_t *o, const uint8_t *copies, float *total) {
  int size = o->n_networks * DECK_UNITS;
  int i;
  int k;
  float direct = 0;
  memcpy(total, o->bias, size * sizeof(float));
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    for (int n2_ = copies[i], _ = 0; _ < n2_; _++) {
      direct += o->direct[i];
      for (k = 0; k < size; k++) total[k] += o->hidden[i * size + k];
    }
  }
  return direct;
}

// The value of a deck, given by the number of copies of each card.
static float deck_value(const offer_t *o, const uint8_t *copies) {
  float total[1024];
  float none[1024];
  float direct = add_up(o, copies, total);
  memset(none, 0, sizeof(none));
  return behind(total, none, o->output, o->n_networks * DECK_UNITS) + direct;
}

// Exchange cards while that raises the value, always by the best exchange.
static void deck_improve(const offer_t *o, uint8_t *copies) {
  float total[1024];
  float rest[1024];
  int size = o->n_networks * DECK_UNITS;
  int i;
  int j;
  int k;
  int out;
  int into;
  float direct;
  float value;
  float best;
  float x;
  // an exchange has to raise the value by more
  double least = 1e-4;
  for (int _ = 0; _ < MAX_EXCHANGES; _++) {
    direct = add_up(o, copies, total);
    value = deck_value(o, copies);
    best = 0;
    out = -1;
    into = -1;
    int n1_ = o->n_cards;
    for (i = 0; i < n1_; i++) {
      if (copies[i] == 0) continue;
      for (k = 0; k < size; k++) rest[k] = total[k] - o->hidden[i * size + k];
      int n2_ = o->n_cards;
      for (j = 0; j < n2_; j++) {
        if (i == j || copies[j] == DECK_COPIES) continue;
        x = behind(&o->hidden[j * size], rest, o->output, size);
        x += direct + o->direct[j] - o->direct[i] - value;
        if (out < 0 || x > best) {
          best = x;
          out = i;
          into = j;
        }
      }
    }
    if (out < 0 || best <= least) return;
    copies[out]--;
    copies[into]++;
  }
}

// What one player has; and the attack on the board by lane.
INLINE float evaluate_side(const player_t *p, const table_t *t, const side_t *w, int32_t *attack) {
  const creature_t *x;
  const float *by;
  uint32_t left = (p->marks >> OCCUPIED) & 63;
  int slot;
  int health;
  int draws;
  int taken;
  int hand;
  int lanes;
  float value;
  *attack = 0;
  attack[1] = 0;
  lanes = 2 - ((left >> 2) & 1) - (left >> 5);
  value = w->room[lanes];
  while (left) {
    slot = lowest_bit_(left);
    left &= left - 1;
    x = &p->board[slot];
    by = w->by_keywords[x->keywords];
    attack[slot >= 3] += x->attack;
    value += *by + by[1] * x->attack + by[2] * x->defense;
    value += by[3] * (x->attack < x->defense ? x->attack : x->defense);
  }
  // The next draw: up to the hand limit, and with damage for each card that the deck lacks.
  hand = p->hand_size;
  draws = p->next_draw + p->lost / 5;
  taken = MAX_HAND - hand;
  if (taken > draws) taken = draws;
  if (taken > p->deck_left) taken = p->deck_left;
  hand += taken;
  health = p->health;
  if (draws > taken && hand < MAX_HAND) health -= 10 * (draws - taken);
  if (health >= HEALTH_STEPS) value += w->health[63] + w->health_more * (health - HEALTH_STEPS + 1);
  else value += w->health[health > 0 ? health : 0];
  value += w->hand[hand] + w->deck[p->deck_left - taken];
  return value + w->near_card * (p->lost % 5);
}

// The attack in lanes in which the other player has no Guard.
INLINE int open_attack(const player_t *other, const int32_t *attack) {
  uint32_t guarded = (other->marks >> GUARDED) & 63;
  return (guarded & 7 ? 0 : *attack) + (guarded >> 3 ? 0 : attack[1]);
}

// The value of a position to `who`, whose turn ends; won or lost: plus or minus MAX_VALUE.
INLINE float evaluate(const state_t *s, const table_t *t, const eval_t *e, int who) {
  const player_t *me = &s->p[who];
  const player_t *op = &s->p[1 - who];
  int32_t mine[2];
  int32_t theirs[2];
  int damage;
  uint64_t hand;
  float value;
  if (me->won | op->won) return me->won ? MAX_VALUE : -1000;
  value = evaluate_side(me, t, &e->side[0], mine) - evaluate_side(op, t, &e->side[1], theirs);
  damage = open_attack(op, mine);
  value += e->side[0].open_attack * damage + e->side[0].kill * (damage >= op->health);
  damage = open_attack(me, theirs);
  value -= e->side[1].open_attack * damage + e->side[1].kill * (damage >= me->health);
  hand = me->hand;
  for (int _ = 0; _ < (int)me->hand_size; _++) {
    value += e->hand_card[hand & 255];
    hand >>= 8;
  }
  return value + e->bonus * me->bonus;
}

// A value as an expected result, from -1 to 1.
INLINE float squashed(float value, const eval_t *e) {
  return tanhf(value / e->scale);
}

// The tables of one side.
static void fill_side(side_t *w, const terms_t *terms) {
  int i;
  for (i = 0; i < 64; i++) {
    w->by_keywords[i][0] = terms->creature;
    w->by_keywords[i][1] = terms->attack;
    w->by_keywords[i][2] = terms->defense;
    w->by_keywords[i][3] = terms->balance;
    if (i & GUARD) {
      w->by_keywords[i][0] += terms->guard;
      w->by_keywords[i][2] += terms->guard_defense;
    }
    if (i & LETHAL) w->by_keywords[i][0] += terms->lethal;
    if (i & WARD) {
      w->by_keywords[i][0] += terms->ward;
      w->by_keywords[i][1] += terms->ward_attack;
    }
    if (i & DRAIN) w->by_keywords[i][1] += terms->drain_attack;
    if (i & BREAKTHROUGH) w->by_keywords[i][1] += terms->breakthrough_attack;
  }
  w->health_more = terms->health;
  for (i = 0; i < HEALTH_STEPS; i++) {
    w->health[i] = terms->health * i - terms->low_health * max_int(0,
        12 - i) - terms->lowest_health * max_int(0, 6 - i);
  }
  for (i = 0; i < 16; i++) w->hand[i] = terms->card * i + terms->fifth_card * max_int(0, i - 4);
  for (i = 0; i < 32; i++) w->deck[i] = terms->low_deck * max_int(0, 10 - i);
  w->near_card = terms->near_card;
  for (i = 0; i < 3; i++) w->room[i] = terms->room * i;
  w->open_attack = terms->open_attack;
  w->kill = terms->kill;
  w->rune = terms->rune;
}

// The tables for weights; and of them what depends on the cards of a game.
// Fill in all but what depends on the cards of a game.
static void eval_fill(eval_t *e, const weights_t *w) {
  fill_side(&e->side[0], &w->side[0]);
  fill_side(&e->side[1], &w->side[1]);
  e->bonus = w->bonus_mana;
  e->scale = w->scale;
}

// Fill in what depends on the cards of a game.
static void eval_use_table(eval_t *e, const weights_t *w, const table_t *t) {
  const card_t *c;
  int i;
  int n1_ = t->n_cards;
  for (i = 0; i < n1_; i++) {
    c = &t->cards[i];
    e->hand_card[i] = w->hand_type[c->type] + w->hand_cost * c->cost + w->hand_draw * c->draw +
        w->hand_area * (c->area != AREA_TARGET);
  }
}

// Take one node of the budget; False if there is none.
INLINE int spend(work_t *w) {
  budget_t *b = &w->budget;
  if (b->over) return 0;
  b->nodes--;
  b->until_clock--;
  if (b->nodes < 0) {
    b->over = 1;
    return 0;
  }
  if (b->until_clock <= 0) {
    b->until_clock = CLOCK_PERIOD;
    if (now_ns_() >= b->deadline) {
      b->over = 1;
      return 0;
    }
  }
  w->made++;
  return 1;
}

// Whether a position was not seen yet; notes it.
INLINE int is_new(work_t *w, uint64_t hash) {
  uint64_t key = hash ^ w->salt;
  uint64_t *place = &w->seen[hash & w->seen_mask];
  if (*place == key) return 0;
  *place = key;
  return 1;
}

INLINE int32_t add_record(work_t *w, int32_t parent, uint8_t action) {
  record_t *r;
  if (w->n_records == w->max_records) return -2;
  r = &w->records[w->n_records];
  r->parent = parent;
  r->action = action;
  w->n_records++;
  return w->n_records - 1;
}

// Give the places that cannot be seen the cards of a sampled world.
INLINE void put_world(const work_t *w, state_t *s, const state_t *world) {
  int op = 1 - w->who;
  s->p[op].hand = world->p[op].hand;
  s->p[op].prices = world->p[op].prices;
  memcpy(s->deck, world->deck, sizeof(s->deck));
}

// The value by weights: a function of its own, so that callers keep their registers.
static float by_weights(const work_t *w, const state_t *s, int who) {
  return evaluate(s, w->table, w->eval, who);
}

// The value of a position to `who`, whose turn ends; the expected result, from -1 to 1.
static float value_of(work_t *w, const state_t *s, int who) {
  return by_weights(w, s, who);
}

// The expected result for `who`, whose turn ends, from -1 to 1.
static float result_of(work_t *w, const state_t *s, int who) {
  if (!w->network || state_winner(s) >= 0) return squashed(value_of(w, s, who), w->eval);
  return tanhf(network_value(w->network, s, w->table, who) / 2);
}

// The actions up to a record, and one more if it isn't PASS; their number.
static int path_of(const work_t *w, int32_t record, int action, uint8_t *path) {
  int n = 0;
  int i;
  int32_t r = record;
  while (r >= 0) {
    n++;
    r = w->records[r].parent;
  }
  i = n;
  r = record;
  while (r >= 0) {
    i--;
    path[i] = w->records[r].action;
    r = w->records[r].parent;
  }
  if (action != PASS) {
    path[n] = action;
    n++;
  }
  return n;
}

// Keep a whole turn if it is one of the best and no other leads to the same position.
static void note_plan(work_t *w, float value, uint64_t hash, int32_t parent, uint8_t action) {
  int i;
  if (w->n_plans == w->max_plans && value <= w->plans[w->n_plans - 1].value) return;
  for (int i1_ = 0; i1_ < w->n_plans; i1_++) {
    i = i1_;
    if (w->plans[i].hash == hash) return;
  }
  if (w->n_plans < w->max_plans) w->n_plans++;
  i = w->n_plans - 1;
  while (i > 0 && w->plans[i - 1].value < value) {
    w->plans[i] = w->plans[i - 1];
    i--;
  }
  w->plans[i].value = value;
  w->plans[i].hash = hash;
  w->plans[i].parent = parent;
  w->plans[i].action = action;
}

// The attack of the creatures that are ready; `everywhere`: also where Guards hold it back.
INLINE int ready_attack(const state_t *s, const table_t *t, int everywhere) {
  const player_t *me = &s->p[s->turn & 1];
  const player_t *op = &s->p[~s->turn & 1];
  uint32_t left = me->marks & 63;
  int32_t attack[2];
  int slot;
  attack[0] = 0;
  attack[1] = 0;
  while (left) {
    slot = lowest_bit_(left);
    left &= left - 1;
    if (me->board[slot].attack > 0) attack[slot >= 3] += me->board[slot].attack;
  }
  return everywhere ? attack[0] + attack[1] : open_attack(op, attack);
}

// The opponent's health after all attacks on them that are possible at once.
INLINE int missing_damage(const state_t *s, const table_t *t) {
  return s->p[~s->turn & 1].health - ready_attack(s, t, 0);
}

INLINE int can_kill(const state_t *s, const table_t *t) {
  return missing_damage(s, t) <= 0;
}

// Play a turn action by action, each the best by its result, as long as that improves it.
//
// A kill by attacks alone is not carried out, only its result.
static void greedy_turn(work_t *w, state_t *s) {
  uint8_t actions[156];
  state_t children[2];
  int who = s->turn & 1;
  int n;
  int i;
  int free = 0;
  float best;
  float value;
  int improved;
  if (can_kill(s, w->table)) {
    s->p[who].won = 1;
    return;
  }
  best = value_of(w, s, who);
  for (int _ = 0; _ < MAX_TURN_ACTIONS; _++) {
    improved = 0;
    n = state_list(s, w->table, actions);
    for (i = 1; i < n; i++) {
      w->made++;
      children[free] = *s;
      state_apply(&children[free], w->table, actions[i]);
      value = value_of(w, &children[free], who);
      if (value > best) {
        best = value;
        improved = 1;
        free = 1 - free;
      }
    }
    w->budget.nodes -= n - 1;
    w->budget.until_clock -= n - 1;
    if (!improved) return;
    *s = children[1 - free];
    if (s->p[who].won) return;
  }
}

// Turns that are played on, by either player.
// The best ends of a turn that a beam of `reply_width` positions finds, of all numbers of
// actions; best first by their values. Returns how many, at most `reply_width`.
//
// It ends when an action more has not made any position better. If the turn wins, that end is the
// only one.
static int narrow_turns(work_t *w, const state_t *start, state_t *kept, float *kept_values) {
  uint8_t actions[156];
  state_t level[2][MAX_REPLY_WIDTH];
  float values[MAX_REPLY_WIDTH];
  state_t child;
  int who = start->turn & 1;
  int n_here = 1;
  int n_kept = 1;
  int n_next;
  int n;
  int i;
  int j;
  int k;
  int m;
  int now = 0;
  float best;
  float value;
  int improved = 1;
  *kept = *start;
  *kept_values = MAX_VALUE;
  if (can_kill(start, w->table)) {
    (*kept).p[who].won = 1;
    return 1;
  }
  best = value_of(w, start, who);
  *kept_values = best;
  level[0][0] = *start;
  for (int _ = 0; _ < MAX_TURN_ACTIONS; _++) {
    if (!improved) break;
    n_next = 0;
    for (i = 0; i < n_here; i++) {
      n = state_list(&level[now][i], w->table, actions);
      w->made += n - 1;
      w->budget.nodes -= n - 1;
      w->budget.until_clock -= n - 1;
      for (j = 1; j < n; j++) {
        child = level[now][i];
        state_apply(&child, w->table, actions[j]);
        if (child.p[1 - who].won) continue;
        value = value_of(w, &child, who);
        if (value >= MAX_VALUE || can_kill(&child, w->table)) {
          *kept = child;
          (*kept).p[who].won = 1;
          *kept_values = MAX_VALUE;
          return 1;
        }
        if (n_next == w->reply_width && value <= values[n_next - 1]) continue;
        // Insert by value. Positions of the same value are taken for the same one.
        k = 0;
        while (k < n_next && values[k] > value) k++;
        if (k < n_next && values[k] == value) continue;
        if (n_next < w->reply_width) n_next++;
        for (m = n_next - 1; m > k; m--) {
          values[m] = values[m - 1];
          level[1 - now][m] = level[1 - now][m - 1];
        }
        values[k] = value;
        level[1 - now][k] = child;
      }
    }
    now = 1 - now;
    n_here = n_next;
    improved = n_next > 0 && values[0] > best;
    if (improved) best = values[0];
    for (i = 0; i < n_here; i++) {
      if (n_kept == w->reply_width && values[i] <= kept_values[n_kept - 1]) break;
      if (n_kept < w->reply_width) n_kept++;
      k = n_kept - 1;
      while (k > 0 && kept_values[k - 1] < values[i]) {
        kept_values[k] = kept_values[k - 1];
        kept[k] = kept[k - 1];
        k--;
      }
      kept_values[k] = values[i];
      kept[k] = level[now][i];
    }
  }
  return n_kept;
}

// Play a turn that a beam of a few positions finds: a stronger reply than a greedy one. A
// network chooses from the best of all.
static void narrow_turn(work_t *w, state_t *s) {
  state_t kept[MAX_REPLY_WIDTH];
  float values[MAX_REPLY_WIDTH];
  int who = s->turn & 1;
  int n = narrow_turns(w, s, kept, values);
  int i;
  int k = 0;
  float value;
  float odds = 0;
  if (w->network != NULL && n > 1) {
    for (i = 0; i < n; i++) {
      value = network_value(w->network, &kept[i], w->table, who);
      if ((i == 0 || value > odds) && values[i] > -1000) {
        odds = value;
        k = i;
      }
    }
  }
  *s = kept[k];
}

// The i-th sample, i at most the number drawn before.
static const state_t *world_of(work_t *w, int i) {
  state_t *world = &w->worlds[i];
  uint64_t stream;
  if (i < w->n_worlds) return world;
  w->n_worlds = i + 1;
  *world = w->root;
  stream = stream_start(w->world_seed, i);
  state_deal(world, w->table, w->unknown, &stream);
  return world;
}

// The result, from -1 to 1, when after the own turn `turns` more are played greedily.
static float play_on(work_t *w, const state_t *end, const state_t *world, int turns) {
  state_t s = *end;
  int mover;
  put_world(w, &s, world);
  for (int _ = 0; _ < turns; _++) {
    state_end_turn(&s, w->table);
    if (state_winner(&s) >= 0) break;
    if (w->reply_width > 1) narrow_turn(w, &s);
    else greedy_turn(w, &s);
    if (state_winner(&s) >= 0) break;
  }
  mover = s.turn & 1;
  float value = result_of(w, &s, mover);
  return mover == w->who ? value : -value;
}

// What each effect of a card costs the opponent.
INLINE int harm(const card_t *c) {
  return c->opponent_health < 0 ? -c->opponent_health : 0;
}

INLINE int potential_of(const card_t *c, const wins_t *l, int enemies, int sleeper,
    const table_t *t) {
  int size = 1;
  if (c->type == CREATURE) {
    size = c->area == AREA_TARGET ? 1 : 2;
    return size * (harm(c) + (c->attack > 0 && (l->wakes || c->keywords & CHARGE) ? c->attack : 0));
  }
  if (c->area != AREA_TARGET) size = c->area == AREA_LANE2 ? MAX_BOARD : 3;
  if (c->type == GREEN) {
    return size * (harm(c) + (c->attack > 0 ? c->attack : 0) + (c->keywords & CHARGE ? sleeper :
        0));
  }
  size = harm(c) * min_int(size, enemies);
  if (c->type == BLUE) return max_int(size, -c->defense - c->opponent_health);
  return size;
}

INLINE void prepare_wins(wins_t *l, const state_t *s, const table_t *t) {
  const player_t *me = &s->p[s->turn & 1];
  const player_t *op = &s->p[~s->turn & 1];
  const card_t *c;
  int h;
  int slot;
  int sleeper = 0;
  memset(l, 0, sizeof(wins_t));
  for (slot = 0; slot < MAX_BOARD; slot++) sleeper = max_int(sleeper, me->board[slot].attack);
  int n1_ = me->hand_size;
  for (h = 0; h < n1_; h++) {
    c = &t->cards[(me->hand >> 8 * h) & 255];
    if (c->type == CREATURE) sleeper = max_int(sleeper, c->attack);
    else if (c->type == GREEN) {
      l->wakes |= (c->keywords & CHARGE) != 0;
      l->needs_creatures |= harm(c) > 0;
    }
  }
  int n2_ = me->hand_size;
  for (h = 0; h < n2_; h++) {
    l->potential[(me->hand >> 8 * h) & 255] = potential_of(&t->cards[(me->hand >> 8 * h) & 255], l,
        count_bits_((op->marks >> OCCUPIED) & 63), sleeper, t);
  }
}

// More than this cannot be added to the attacks that are possible at once: the attackers behind
// Guards, and the best cards that can be paid together (a knapsack).
INLINE int most_damage(const wins_t *l, const state_t *s, const table_t *t) {
  const player_t *me = &s->p[s->turn & 1];
  int best[128];
  int h;
  int entry;
  int left;
  int cost;
  int n1_ = me->mana + 1;
  for (left = 0; left < n1_; left++) best[left] = 0;
  int n2_ = me->hand_size;
  for (h = 0; h < n2_; h++) {
    entry = (me->hand >> 8 * h) & 255;
    cost = t->cards[entry].cost;
    if (l->potential[entry] > 0) {
      for (left = me->mana; left > cost - 1; left--) {
        best[left] = max_int(best[left], best[left - cost] + l->potential[entry]);
      }
    }
  }
  return best[me->mana] + ready_attack(s, t, 1) - ready_attack(s, t, 0);
}

// The creatures that an item used on this one affects.
INLINE uint32_t reach(const card_t *c, int slot, uint32_t occupied) {
  if (c->area == AREA_TARGET) return 1U << slot;
  return occupied & (c->area == AREA_LANE2 ? 63 : slot < 3 ? 7 : 56);
}

// Whether an action may help to win in this turn: one that harms the opponent, strengthens or
// wakes an attacker, takes a Guard away, attacks a Guard, or makes room for such a card.
INLINE int is_useful(const wins_t *l, const state_t *s, const table_t *t, int action) {
  const player_t *me = &s->p[s->turn & 1];
  const player_t *op = &s->p[~s->turn & 1];
  move_t m = decode_action(t, action);
  const card_t *c;
  const creature_t *x;
  const creature_t *y;
  uint32_t hit;
  uint32_t guards = (op->marks >> GUARDED) & 63;
  uint32_t lane;
  int slot;
  if (m.kind == ATTACK) {
    if (m.target == 0) {
      // these come last, all at once
      return 0;
    }
    x = &me->board[m.source];
    y = &op->board[m.target - 1];
    if (y->keywords & GUARD && x->attack > 0) return 1;
    lane = m.source < 3 ? 7 : 56;
    return ((me->marks >> OCCUPIED) & lane) == lane && !(x->keywords & WARD) && y->attack > 0 &&
        (y->attack >= x->defense || (y->keywords & LETHAL) != 0);
  }
  c = &t->cards[(me->hand >> 8 * m.source) & 255];
  if (m.kind == SUMMON) {
    return l->needs_creatures || l->potential[(me->hand >> 8 * m.source) & 255] > 0;
  }
  if (harm(c)) return 1;
  if (m.target == 0) return c->defense + c->opponent_health < 0;
  if (c->type == GREEN) {
    hit = reach(c, m.target - 1, (me->marks >> OCCUPIED) & 63);
    while (hit) {
      slot = lowest_bit_(hit);
      hit &= hit - 1;
      if ((me->marks >> SPENT >> slot) & 1 || !((me->marks >> slot) & 1 || l->wakes)) continue;
      if (c->keywords & CHARGE && !((me->marks >> slot) & 1)) return 1;
      if (c->attack > 0 || (guards && c->keywords & 17)) return 1;
    }
    return 0;
  }
  return (c->defense < 0 || c->keywords & 40) && (reach(c, m.target - 7,
      (op->marks >> OCCUPIED) & 63) & guards) != 0;
}

// Move the k best of n candidates to the front (quickselect).
static void select_best(candidate_t *c, int n, int k) {
  int low = 0;
  int high = n - 1;
  int i;
  int j;
  float pivot;
  candidate_t x;
  while (low < high) {
    pivot = c[(low + high) >> 1].value;
    i = low;
    j = high;
    while (i <= j) {
      while (c[i].value > pivot) i++;
      while (c[j].value < pivot) j--;
      if (i <= j) {
        x = c[i];
        c[i] = c[j];
        c[j] = x;
        i++;
        j--;
      }
    }
    if (k - 1 <= j) high = j;
    else if (k - 1 >= i) low = i;
    else return;
  }
}

// Follow the `width` best positions after each number of actions, to the end of the budget.
//
// Returns whether none had to be left out. A winning turn ends it. With `wins` only winning
// turns are looked for.
static int beam_pass(work_t *w, int width, const wins_t *wins) {
  uint8_t actions[156];
  state_t child;
  state_t *here;
  candidate_t *c;
  uint64_t hash;
  float value;
  int n_here = 1;
  int n_next;
  int n;
  int i;
  int j;
  int depth = 0;
  int now = 0;
  int complete = 1;
  w->salt = mixed(w->salt + 1);
  *w->level[0] = w->root;
  *w->level_records[0] = -1;
  is_new(w, turn_hash(&w->root, w->table, w->card_keys));
  while (n_here && depth < 63) {
    depth++;
    n_next = 0;
    for (i = 0; i < n_here; i++) {
      here = &w->level[now][i];
      n = state_list(here, w->table, actions);
      for (int i1_ = 1; i1_ < n; i1_++) {
        j = i1_;
        if (n_next == w->max_candidates) {
          complete = 0;
          break;
        }
        if (wins != NULL && !is_useful(wins, here, w->table, actions[j])) continue;
        if (!spend(w)) return 0;
        child = *here;
        state_apply(&child, w->table, actions[j]);
        if (child.p[1 - w->who].won) continue;
        if (child.p[w->who].won || can_kill(&child, w->table)) {
          w->won = 1;
          w->win.parent = w->level_records[now][i];
          w->win.action = actions[j];
          return 1;
        }
        hash = turn_hash(&child, w->table, w->card_keys);
        if (!is_new(w, hash)) continue;
        if (wins != NULL) {
          if (missing_damage(&child, w->table) > most_damage(wins, &child, w->table)) continue;
          value = -missing_damage(&child, w->table);
        }
        else {
          value = value_of(w, &child, w->who);
          note_plan(w, value, hash, w->level_records[now][i], actions[j]);
        }
        c = &w->candidates[n_next];
        c->value = value;
        c->parent = i;
        c->action = actions[j];
        n_next++;
      }
    }
    if (n_next) w->depth = max_int(w->depth, depth);
    if (n_next > width) {
      select_best(w->candidates, n_next, width);
      n_next = width;
      complete = 0;
    }
    for (i = 0; i < n_next; i++) {
      c = &w->candidates[i];
      j = add_record(w, w->level_records[now][c->parent], c->action);
      if (j < 0) return 0;
      w->level_records[1 - now][i] = j;
      w->level[1 - now][i] = w->level[now][c->parent];
      state_apply(&w->level[1 - now][i], w->table, c->action);
    }
    n_here = n_next;
    now = 1 - now;
  }
  return complete;
}

// A winning turn ends these: `w.won` and `w.win`. The second fills `w.plans`.
// Look for a winning turn; the budget that it takes is small where none is possible.
static void search_wins(work_t *w, int width) {
  wins_t wins;
  if (can_kill(&w->root, w->table)) {
    w->won = 1;
    w->win.parent = -1;
    w->win.action = PASS;
    return;
  }
  prepare_wins(&wins, &w->root, w->table);
  if (missing_damage(&w->root, w->table) <= most_damage(&wins, &w->root, w->table)) {
    beam_pass(w, width, &wins);
  }
}

// Beams of growing width, as long as the budget lasts or until nothing is left out.
static void beam_search(work_t *w, int width) {
  int this_width = 16;
  note_plan(w, value_of(w, &w->root, w->who), turn_hash(&w->root, w->table, w->card_keys), -1,
      PASS);
  while (!w->budget.over) {
    if (this_width > width) this_width = width;
    if (beam_pass(w, this_width, NULL) || w->won || this_width == width) return;
    this_width *= 4;
  }
}

// Sort by values, the highest first; those of the same one keep their order.
static void put_best_first(int32_t *order, const float *values, int n) {
  int32_t x;
  int i;
  int j;
  for (i = 1; i < n; i++) {
    x = order[i];
    j = i;
    while (j > 0 && values[order[j - 1]] < values[x]) {
      order[j] = order[j - 1];
      j--;
    }
    order[j] = x;
  }
}

// Order the plans by what is expected at their own ends, best first. All get that as their
// result, and an end in `w.ends`.
static void rank_plans(work_t *w, int32_t *order) {
  uint8_t path[66];
  float results[MAX_PLANS];
  int i;
  int j;
  int length;
  int n1_ = w->n_plans;
  for (i = 0; i < n1_; i++) {
    w->ends[i] = w->root;
    length = path_of(w, w->plans[i].parent, w->plans[i].action, path);
    for (j = 0; j < length; j++) state_apply(&w->ends[i], w->table, path[j]);
    if (!w->network) results[i] = squashed(w->plans[i].value, w->eval);
    else results[i] = result_of(w, &w->ends[i], w->who);
    w->plans[i].visits = 0;
    w->plans[i].result = results[i];
    order[i] = i;
  }
  put_best_first(order, results, w->n_plans);
}

// What compares the best of them, in `order`: each round tries all that are alive once, from their
// ends in `w.ends`, and gives them values.
// Rank the plans and begin to compare the best, `plans` and `most` at most.
static void start_halving(work_t *w, halving_t *h, int turns, int plans, int64_t most,
    int32_t *order) {
  h->start = now_ns_();
  h->nodes = w->budget.nodes;
  h->left = w->budget.nodes;
  h->cost = 24 * turns * w->reply_width;
  h->alive = min_int(w->n_plans, plans);
  h->rounds = 0;
  h->round = 0;
  rank_plans(w, order);
  while (h->alive > 1 && (h->cost * h->alive > h->nodes || h->alive > most)) {
    // a small budget is for fewer plans
    h->alive >>= 1;
  }
  while (1 << h->rounds < h->alive) h->rounds++;
}

// Let the worse half drop out as often as is due: when the same share is used of the budget,
// of which `used` is what other bounds than nodes and time say.
static void end_round(const work_t *w, halving_t *h, float used, int32_t *order,
    const float *values) {
  int64_t now = now_ns_();
  h->cost = 1 + (h->left - w->budget.nodes) / h->alive;
  h->left = w->budget.nodes;
  // The deadline may have passed at the start, if this process had to wait.
  if (w->failed || now >= w->budget.deadline) used = 1;
  else {
    used = max_float(used, (float)(h->nodes - h->left) / h->nodes);
    used = max_float(used, (float)(now - h->start) / (w->budget.deadline - h->start));
  }
  while (h->round < h->rounds && used * h->rounds >= h->round + 1) {
    h->round++;
    put_best_first(order, values, h->alive);
    h->alive = (h->alive + 1) >> 1;
  }
}

// The plan with the best mean result over sampled worlds.
// The plan with the best mean result over worlds, the same ones for all plans.
//
// The best `plans` by the result expected at their own ends are compared by sequential halving.
// That expectation counts as so many `static_worlds`.
static int best_plan(work_t *w, int turns, int plans, float static_worlds) {
  float total[MAX_PLANS];
  float results[MAX_PLANS];
  int32_t order[MAX_PLANS];
  const state_t *world;
  halving_t h;
  int worlds = 0;
  int i;
  start_halving(w, &h, turns, plans, plans, order);
  if (turns == 0) return order[0];
  int n1_ = w->n_plans;
  for (i = 0; i < n1_; i++) total[i] = static_worlds * w->plans[i].result;
  while (h.round < h.rounds && worlds < w->max_worlds && w->budget.nodes >= h.cost * h.alive) {
    world = world_of(w, worlds);
    int all2_ = 1;
    int n3_ = h.alive;
    for (i = 0; i < n3_; i++) {
      if (now_ns_() >= w->budget.deadline) {
        all2_ = 0;
        break;
      }
      results[i] = play_on(w, &w->ends[order[i]], world, turns);
    }
    if (all2_) {
      int n4_ = h.alive;
      for (i = 0; i < n4_; i++) {
        total[order[i]] += results[i];
        w->plans[order[i]].visits++;
      }
      worlds++;
    }
    end_round(w, &h, (float)worlds / w->max_worlds, order, total);
  }
  int n5_ = w->n_plans;
  for (i = 0; i < n5_; i++) {
    if (w->plans[i].visits) w->plans[i].result = total[i] / (w->plans[i].visits + static_worlds);
  }
  put_best_first(order, total, h.alive);
  return order[0];
}

static void belief_reset(belief_t *b) {
  memset(b, 0, sizeof(belief_t));
  b->seat = -1;
  b->turn = -1;
}

static void belief_chose(belief_t *b, int32_t base_id) {
  int i = 0;
  while (i < b->n_kinds && b->chosen[i] != base_id) i++;
  if (i == MAX_CARDS) return;
  if (i == b->n_kinds) {
    b->chosen[i] = base_id;
    b->copies[i] = 0;
    b->n_kinds++;
  }
  b->copies[i]++;
  b->n_chosen++;
}

// A card was seen.
static void note(belief_t *b, int whose, int32_t id, int32_t base_id) {
  int i = 0;
  // An area copy has the id of its original plus one, and originals have even ids (1.5).
  id &= ~1;
  while (i < b->n_seen[whose] && b->seen_id[whose][i] != id) i++;
  if (i == MAX_CARDS) return;
  b->seen_id[whose][i] = id;
  b->seen[whose][i] = base_id;
  if (i == b->n_seen[whose]) b->n_seen[whose]++;
}

// Instance ids tell the players apart (section 1).
static int find_seat(const belief_t *b, const shown_t *o) {
  int who;
  for (who = 0; who < 2; who++) {
    if (b->n_seen[who]) return (b->seen_id[who][0] / IDS_PER_PLAYER + who) & 1;
  }
  // Without any card: the second player has as much mana as the first, mostly; on their own turn
  // the first is one ahead.
  return o->player[0].max_mana == o->player[1].max_mana;
}

// Turns before this one: player 0's mana counts them, up to its limit.
static int own_turns(const belief_t *b, const shown_t *o) {
  int first = o->player[b->seat].max_mana;
  int least = 11;
  if (first < MAX_MANA) return first - 1;
  if (b->seat == 0 && o->player[1].max_mana > MAX_MANA) least++;
  return max_int(least, b->turn + 1);
}

// Take in what is shown in the battle, once for each turn.
static void belief_see(belief_t *b, const shown_t *o) {
  int i;
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    note(b, o->cards[i].location == -1, o->cards[i].id, o->cards[i].base_id);
  }
  int n2_ = o->n_actions;
  for (i = 0; i < n2_; i++) note(b, 1, o->actions[i].id, o->actions[i].base_id);
  if (b->seat < 0) b->seat = find_seat(b, o);
  b->turn = own_turns(b, o);
}

// The entry of a card; -1: there is none.
static int card_with(const table_t *t, int32_t base_id) {
  int i;
  for (i = 0; i < t->n_cards; i++) {
    if (t->cards[i].base_id == base_id) return i;
  }
  return -1;
}

// The position that is shown, with what follows from the game so far; any card in the hidden places,
// or none without a pool. The table gets the visible cards, and the pool behind them. Errors as
// those of state_show.
static int belief_root(const belief_t *b, const shown_t *o, const table_t *pool, state_t *s,
    table_t *t) {
  int seat = b->seat > 0 ? b->seat : 0;
  int mine = o->player[0].max_mana;
  int theirs = o->player[1].max_mana;
  int i;
  int entry;
  int first;
  int mana;
  int lost = 0;
  const shown_action_t *a;
  int fault = state_show(s, t, o, seat, pool);
  if (fault >= 0) return fault;
  s->turn = 2 * b->turn + seat;
  // With the bonus the second player's mana is a turn ahead, up to its limit.
  s->p[seat].bonus = seat == 1 && mine == min_int(13, b->turn + 2);
  s->p[1 - seat].bonus = seat == 0 && theirs == min_int(13, b->turn + 1);
  // What the opponent kept of the mana: the bonus is lost after a turn that ends with 0. And, in
  // 1.5, what the opponent's own cards cost them, which counts towards the next draw: each is
  // taken to have had its effect once. No generated card harms its player.
  mana = theirs;
  int n1_ = o->n_actions;
  for (i = 0; i < n1_; i++) {
    a = &o->actions[i];
    entry = a->kind == ATTACK || !pool ? -1 : card_with(pool, a->base_id);
    if (entry >= 0) {
      mana -= pool->cards[entry].cost;
      if (pool->cards[entry].my_health < 0) lost -= pool->cards[entry].my_health;
    }
  }
  s->p[1 - seat].mana = (uint8_t)(mana > 0 ? mana : 0);
  lost = min_int(lost, 5 * o->player[1].draw + 4);
  s->p[seat].next_draw = 1;
  s->p[1 - seat].lost = lost;
  s->p[1 - seat].next_draw = o->player[1].draw - lost / 5;
  if (!pool) return -1;
  first = t->n_cards;
  int n2_ = pool->n_cards;
  for (i = 0; i < n2_; i++) {
    t->cards[first + i] = pool->cards[i];
    complete_card(&t->cards[first + i], first + i);
  }
  t->n_cards += pool->n_cards;
  state_fill_deck(s, seat, (uint8_t)first, o->player[0].deck_size);
  state_fill_deck(s, 1 - seat, (uint8_t)first, o->player[1].deck_size);
  state_fill_hand(s, t, 1 - seat, (uint8_t)first, o->opponent_hand);
  return -1;
}

static void add_candidate(unknown_t *u, int who, int group, int entry, double weight,
    double scale) {
  int i = u->n[who];
  uint32_t scaled = (uint32_t)(weight * scale);
  u->entry[who][i] = (uint8_t)entry;
  u->group[who][i] = (uint8_t)group;
  u->weight[who][i] = scaled > 1 ? scaled : 1;
  u->n[who] = i + 1;
}

// Two of each card less those seen; more if that is too little for the hidden places.
static void likely(const belief_t *b, int whose, const pool_t *pool, int places, int first,
    unknown_t *u, int who) {
  int left[MAX_CARDS];
  int i;
  int j;
  int entry;
  int group = 0;
  int missing = places;
  int more = 0;
  double most = 0;
  int n1_ = pool->n;
  for (i = 0; i < n1_; i++) left[i] = COPIES;
  int n2_ = b->n_seen[whose];
  for (j = 0; j < n2_; j++) {
    entry = card_with(pool->t, b->seen[whose][j]);
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
      add_candidate(u, who, group, first + pool->entry[i], pool->weight[i], MAX_WEIGHT / most);
      group++;
    }
  }
}

// The cards taken that were not seen yet; False if these are not those of the own deck.
static int own_deck(const belief_t *b, const pool_t *pool, int places, int first, unknown_t *u,
    int who) {
  int left[MAX_CARDS];
  int i;
  int j;
  int group = 0;
  int total = 0;
  if (b->n_chosen != MAX_DECK) return 0;
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
    if (left[i] && card_with(pool->t, b->chosen[i]) < 0) return 0;
  }
  if (total != places) return 0;
  int n5_ = b->n_kinds;
  for (i = 0; i < n5_; i++) {
    if (left[i]) {
      u->copies[who][group] = (uint8_t)left[i];
      add_candidate(u, who, group, first + card_with(pool->t, b->chosen[i]), 1.0, MAX_WEIGHT);
      group++;
    }
  }
  return 1;
}

// Whether a draft turn offered a card.
static int offers(const pool_t *pool, int turn, int entry) {
  int i;
  for (i = 0; i < (int)pool->triplet_size[turn]; i++) {
    if (pool->triplet[turn][i] == entry) return 1;
  }
  return 0;
}

// Match a card to a draft turn that offered it, moving others if need be.
static int assign(const pool_t *pool, const int *shown, int i, int *owner, int *tried) {
  int turn;
  int n1_ = pool->n_triplets;
  for (turn = 0; turn < n1_; turn++) {
    if (!tried[turn] && offers(pool, turn, shown[i])) {
      tried[turn] = 1;
      if (owner[turn] < 0 || assign(pool, shown, owner[turn], owner, tried)) {
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
static int their_picks(const belief_t *b, const pool_t *pool, int places, int first, unknown_t *u,
    int who) {
  int shown[MAX_CARDS];
  int owner[MAX_DECK];
  int tried[MAX_DECK];
  int turn;
  int i;
  int group = 0;
  int n_open = 0;
  double most = 0;
  int n1_ = pool->n_triplets;
  for (turn = 0; turn < n1_; turn++) owner[turn] = -1;
  int n2_ = b->n_seen[1];
  for (i = 0; i < n2_; i++) shown[i] = card_with(pool->t, b->seen[1][i]);
  int n3_ = b->n_seen[1];
  for (i = 0; i < n3_; i++) {
    memset(tried, 0, sizeof(tried));
    assign(pool, shown, i, owner, tried);
  }
  int n4_ = pool->n_triplets;
  for (turn = 0; turn < n4_; turn++) {
    if (owner[turn] < 0) {
      n_open++;
      int n5_ = pool->triplet_size[turn];
      for (i = 0; i < n5_; i++) most = max_double(most, pool->triplet_weight[turn][i]);
    }
  }
  if (n_open < places) return 0;
  int n6_ = pool->n_triplets;
  for (turn = 0; turn < n6_; turn++) {
    if (owner[turn] < 0) {
      u->copies[who][group] = 1;
      int n7_ = pool->triplet_size[turn];
      for (i = 0; i < n7_; i++) {
        add_candidate(u, who, group, first + pool->triplet[turn][i], pool->triplet_weight[turn][i],
            MAX_WEIGHT / most);
      }
      group++;
    }
  }
  return 1;
}

// What the hidden places of that position may hold; entries of the pool begin at `first`.
static void belief_unknown(const belief_t *b, const shown_t *o, const pool_t *pool, int first,
    unknown_t *u) {
  int seat = b->seat > 0 ? b->seat : 0;
  int mine = o->player[0].deck_size;
  int theirs = o->opponent_hand + o->player[1].deck_size;
  memset(u, 0, sizeof(unknown_t));
  u->viewer = seat;
  if (!own_deck(b, pool, mine, first, u, seat)) likely(b, 0, pool, mine, first, u, seat);
  if (!(pool->n_triplets && their_picks(b, pool, theirs, first, u, 1 - seat))) {
    likely(b, 1, pool, theirs, first, u, 1 - seat);
  }
}

// Take memory for searches; -1 if there is none, and engine_free is due then, too.
static int engine_init(engine_t *e, const options_t *o) {
  work_t *w = &e->w;
  int i;
  e->o = *o;
  w->reply_width = o->reply_width;
  w->max_worlds = o->worlds;
  w->max_width = e->o.width;
  w->max_candidates = 64 * w->max_width;
  w->max_records = MAX_RECORDS;
  w->seen_mask = 131071;
  w->salt = 1;
  w->records = (record_t *)malloc(w->max_records * sizeof(record_t));
  w->candidates = (candidate_t *)malloc(w->max_candidates * sizeof(candidate_t));
  w->seen = (uint64_t *)calloc(SEEN, sizeof(uint64_t));
  w->worlds = (state_t *)malloc(w->max_worlds * sizeof(state_t));
  if (!w->records || !w->candidates || !w->seen || !w->worlds) return -1;
  for (i = 0; i < 2; i++) {
    w->level[i] = (state_t *)malloc(w->max_width * sizeof(state_t));
    w->level_records[i] = (int32_t *)malloc(w->max_width * sizeof(int32_t));
    if (!w->level[i] || !w->level_records[i]) return -1;
  }
  return 0;
}

// What judges positions: weights; a network, or NULL; a function in the place of both, or NULL.
static void engine_use(engine_t *e, const eval_t *eval, const network_t *network,
    value_function_t function, void *owner) {
  work_t *w = &e->w;
  w->eval = eval;
  w->network = network;
  w->owner = owner;
  // A network chooses from more plans than it keeps.
  w->max_plans = max_int(1, min_int(MAX_PLANS, e->o.plans * (!network ? 1 : PLANS_SEEN)));
}

// Prepare a search for the player to move, from a root in which hidden places may hold anything.
static void engine_begin(engine_t *e, const state_t *root, const table_t *t,
    const unknown_t *unknown, int own_deck, uint64_t seed, int64_t deadline, int64_t nodes) {
  work_t *w = &e->w;
  w->table = t;
  w->root = *root;
  w->who = state_player(root);
  w->unknown = unknown;
  w->world_seed = seed;
  w->n_worlds = 0;
  w->n_records = 0;
  w->n_plans = 0;
  w->won = 0;
  w->failed = 0;
  w->made = 0;
  w->depth = 0;
  w->budget.deadline = deadline;
  w->budget.nodes = nodes;
  w->budget.until_clock = 0;
  w->budget.over = 0;
}

// A part of the budget.
static budget_t share_of(const work_t *w, float share, int64_t now) {
  budget_t part = w->budget;
  if (part.deadline < UNLIMITED) part.deadline = now + (int64_t)(share * (part.deadline - now));
  if (part.nodes < UNLIMITED) part.nodes = (int64_t)(share * part.nodes);
  part.until_clock = 0;
  return part;
}

// Go on with the whole budget, less the nodes that a part of it used.
static void restore(work_t *w, const budget_t *given, const budget_t *part) {
  int64_t left = w->budget.nodes > 0 ? w->budget.nodes : 0;
  w->budget = *given;
  w->budget.nodes -= part->nodes - left;
  w->budget.over = w->failed;
}

// The attacks on the opponent that end a winning turn, added behind n actions.
static int finish(const work_t *w, uint8_t *path, int n) {
  state_t s = w->root;
  const player_t *me = &s.p[w->who];
  const player_t *op = &s.p[1 - w->who];
  int i;
  int slot;
  uint32_t guarded;
  move_t m;
  for (i = 0; i < n; i++) state_apply(&s, w->table, path[i]);
  for (slot = 0; slot < MAX_BOARD; slot++) {
    guarded = (op->marks >> GUARDED) & (slot < 3 ? 7 : 56);
    if (me->won || guarded || !((me->marks >> slot) & 1) || me->board[slot].attack <= 0) continue;
    m.kind = ATTACK;
    m.source = slot;
    m.target = 0;
    path[n] = encode_action(w->table, m);
    state_apply(&s, w->table, path[n]);
    n++;
  }
  return n;
}

static void engine_run(engine_t *e, int64_t iterations, found_t *found) {
  work_t *w = &e->w;
  budget_t given;
  budget_t part;
  int n;
  found->value = 0;
  found->visits = 0;
  found->iterations = 0;
  // The win first: where one is possible at all, it may take its share.
  part = share_of(w, e->o.wins_share, now_ns_());
  given = w->budget;
  w->budget = part;
  search_wins(w, min_int(w->max_width, WIN_WIDTH));
  restore(w, &given, &part);
  if (!w->won) {
    w->n_records = 0;
    part = share_of(w, e->o.turns ? e->o.plan_share : (float)1.0, now_ns_());
    if (part.deadline >= UNLIMITED && part.nodes >= UNLIMITED) {
      // Few visits are for a beam that is as small.
      part.nodes = VISIT_NODES * min_int64(iterations, UNLIMITED / VISIT_NODES);
    }
    given = w->budget;
    w->budget = part;
    beam_search(w, e->o.width);
    restore(w, &given, &part);
    if (!w->won) {
      n = best_plan(w, e->o.turns, e->o.plans, e->o.static_worlds);
      found->value = w->plans[n].result;
      found->visits = w->plans[n].visits;
      found->length = path_of(w, w->plans[n].parent, w->plans[n].action, found->path);
      return;
    }
  }
  found->value = 1;
  n = path_of(w, w->win.parent, w->win.action, found->path);
  found->length = finish(w, found->path, n);
}

// Fills the tables: to be called once, before anything else.
static void start_modules(void) {
  fill_tables();
}
