#if RULES != 3
#if defined(__GNUC__)
#define locmi_lowest_bit_(x) __builtin_ctz(x)
#define locmi_count_bits_(x) __builtin_popcount(x)
#else
static inline int locmi_count_bits_(uint32_t x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
static inline int locmi_lowest_bit_(uint32_t x) { return locmi_count_bits_((x & (0 - x)) - 1); }
#endif

#if defined(__GNUC__)
#define NUMBER_ static inline __attribute__((unused))
#else
#define NUMBER_ static inline
#endif
NUMBER_ uint32_t locmi_bits_of_float_(float x) { uint32_t b; memcpy(&b, &x, 4); return b; }
NUMBER_ float locmi_float_of_bits_(uint32_t b) { float x; memcpy(&x, &b, 4); return x; }
NUMBER_ uint64_t locmi_bits_of_double_(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
NUMBER_ double locmi_double_of_bits_(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }

#endif
/* A one in each of the eight bytes. A branch that is (un)likely to be taken. A barrier across
which the compiler moves no loads: without it gcc computes parts of the next action's choice
at the end of every branch of this one, and spills them (2 to 4 % of the playouts' speed). */
#define LOCMI_BYTES 0x0101010101010101ULL
#if defined(__GNUC__)
#define locmi_likely_(x) __builtin_expect(!!(x), 1)
#define locmi_unlikely_(x) __builtin_expect(!!(x), 0)
#define locmi_reload_() __asm__ volatile("" ::: "memory")
#else
#define locmi_likely_(x) (x)
#define locmi_unlikely_(x) (x)
#define locmi_reload_()
#endif
/* Eight bytes of memory as a word with the first byte lowest, and back. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define locmi_low_first_(x) __builtin_bswap64(x)
#else
#define locmi_low_first_(x) (x)
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
  LOCM_COPIES_PER_CARD = 2,  // in a deck of 1.5
  LOCM_MAX_HAND = 8,
  LOCM_MAX_BOARD = 6,  // creatures of one player; 3 a lane, or 6 in the one lane of 1.0
  LOCM_MAX_MANA = 12,
  LOCM_TURN_LIMIT = 50,
  LOCM_PLAYOUT_TURNS = 1000,  // turns of both players after which a playout stops (section 14)
  LOCM_MAX_CARDS = 256,  // entries of a table
  LOCM_POOL_ID = 255,  // instance id of pool entries, which are not instances
  LOCM_MAX_ACTIONS = 155,  // all action numbers are below this
  LOCM_MAX_ACTION_TEXT = 32,  // characters of an action, more than enough
  LOCM_TERMINAL_PLAYER = -4,  // current player of a finished game, as in OpenSpiel
  // The greatest |attack| or |defense| that Card's bounds allow, 500 printed + 60 items of 500:
  LOCM_MAX_STAT = 30500,  // fits 16 bits; health needs 32
  LOCM_MAX_CARD_STAT = 500,  // |attack|, |defense|, |health change| that a card can have
};

// card types
enum {
  LOCM_CREATURE = 0,
  LOCM_GREEN = 1,
  LOCM_RED = 2,
  LOCM_BLUE = 3,
};

// targets of a card, the low bits of its `cost_kind`; 0: a creature
enum {
  LOCM_IS_BLUE = 1,  // it can be used on a player
  LOCM_IS_GREEN = 2,  // ... on the player's creatures
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
  LOCM_MAX_SHOWN_ACTIONS = 64,  // of a turn; more than any rule set allows
  LOCM_MAX_SHOWN_NUMBER = 1000000000,  // bound of |value| of any field
  LOCM_NO_TARGET = -2000000000,
  LOCM_OFFERED = -1,  // instance id of all cards on offer
};

enum {
  LOCM_MAX_WEIGHT = 65535,
};

enum {
  LOCMI_ALL_MARKS = 266305,  // times a mask of board slots: the mask in each of the `marks`
  LOCMI_FIRST_USE = 17,  // first action numbers, with two lanes and with one
  LOCMI_FIRST_ATTACK = 121,
  LOCMI_FIRST_USE_1 = 9,
  LOCMI_FIRST_ATTACK_1 = 113,
  LOCMI_NUM_ACTIONS_2 = 145,
  LOCMI_NUM_ACTIONS_1 = 155,
};

enum {
  LOCMI_MAX_HEALTH = 1000000000,
  LOCMI_MAX_LOST = 100000000,
  LOCMI_MAX_DRAW = 50000000,  // cards to draw, those for lost health included
  LOCMI_MAX_TURN = 1073741824,
};

enum {
#if RULES == 0 || RULES == 3
  LOCMI_IDS_PER_PLAYER = 60,  // 1.5: those of area copies included
};

enum {
#endif
  LOCMI_MISSES = 16,  // draws of cards that are gone, before the rest is listed again
};

enum {
  LOCMI_MAX_COLUMNS = 13,
  LOCMI_MAX_SHOWN_TEXT = 32768,  // characters, more than enough: 64 actions, 120 rows of 13 numbers
};

enum {
  LOCMI_MAX_DIGITS = 10,  // those of the greatest bound
};

// kinds of lines
enum {
  LOCMI_OWN_LINE = 0,
  LOCMI_THEIR_LINE = 1,
  LOCMI_COUNTS = 2,
  LOCMI_ACTION_LINES = 3,
  LOCMI_NUMBER_OF_CARDS = 4,
  LOCMI_CARD_ROWS = 5,
};

// faults of a line or a row
enum {
  LOCMI_WRONG_COUNT = 1,  // number of columns
  LOCMI_WRONG_COLUMN = 2,
  LOCMI_WRONG_ACTION = 3,
  LOCMI_WRONG_END = 4,  // text after the last line
  LOCMI_WRONG_PHASE = 5,  // both cards on offer and cards in play
  LOCMI_WRONG_LANE = 6,
  LOCMI_WRONG_TYPE = 7,
  LOCMI_WRONG_OFFER = 8,  // an offered card on a board
  LOCMI_WRONG_NUMBER = 9,  // too many cards
};

enum {
  LOCMI_ANY = 1000000000,
};

#if RULES != 3
enum {
  LOCMI_SIDE_BY_SIDE = 4,  // sums in a vector: gcc keeps more in memory
};

enum {
  LOCMI_CREATURE_INPUTS = 16,
  LOCMI_CARD_INPUTS = 20,
  LOCMI_OTHER_INPUTS = 39,
  LOCMI_SUMS = 8,  // units that are summed over creatures, and over cards
  LOCMI_LANE = 16,  // units that see both sides of a lane
  LOCMI_HIDDEN = 16,  // units in each of the two last hidden layers
  // Lanes, the player's creatures, the opponent's, the player's cards, and the other inputs.
  LOCMI_JOINED = 79,
};

enum {
  LOCMI_MOST = 20,  // printed values above this count as this
};

// terms of a card: `locmsim.decks.CARD_TERMS` names them
enum {
  LOCMI_COSTS = 0,  // a column each, the last one for all from it on
  LOCMI_COST_COLUMNS = 8,
  LOCMI_TYPES = 8,
  LOCMI_LANES = 12,  // areas 1 and 2
  LOCMI_DRAW = 14,
  LOCMI_HEAL = 15,
  LOCMI_DAMAGE = 16,
  LOCMI_STATS = 17,  // attack and defense of each type
  LOCMI_AREA_STATS = 25,  // ... of cards with an area
  LOCMI_KEYWORDS = 33,  // of creatures, of green items, of red and blue ones
  LOCMI_CHARGE_ATTACK = 51,
  LOCMI_DRAIN_ATTACK = 52,
  LOCMI_WARD_ATTACK = 53,
  LOCMI_GUARD_DEFENSE = 54,
  LOCMI_AREA_DRAW = 55,
  LOCMI_AREA_DAMAGE = 56,
  LOCMI_AREA_HEAL = 57,
  LOCMI_DECK_TERMS = 58,
};

enum {
  LOCMI_ENOUGH = 12,  // attack and defense beyond this do not help against one creature
  LOCMI_DECK_UNITS = 64,  // of each layer
  LOCMI_DECK_SUMS = 122,
  LOCMI_MAX_DECK_NETWORKS = 16,  // of an ensemble
  LOCMI_MAX_OFFER = 256,  // cards to choose from
};

enum {
#endif
#if RULES == 0
  LOCMI_MAX_EXCHANGES = 200,
#elif RULES == 1 || RULES == 2
  LOCMI_DRAFT_CARDS = 160,  // base ids 1 to 160, here from 0
  LOCMI_DRAFT_UNITS = 16,
  LOCMI_MAX_DRAFT_NETWORKS = 4,  // of an ensemble
  LOCMI_DRAFT_LAYER = 64,
  LOCMI_DRAFT_POOL = 60,  // different cards that a draft is dealt from
  LOCMI_NO_CARD = 160,  // any other card: it adds nothing
#endif
#if RULES != 3
};

enum {
  LOCMI_HEALTH_STEPS = 64,  // each point of health beyond is worth `health_more`
  LOCMI_MAX_VALUE = 1000,  // value of a won position; no other comes near it
};

enum {
  LOCMI_MAX_PLANS = 256,  // whole turns compared by the opponent's replies
  LOCMI_PLANS_SEEN = 4,  // a network evaluates this many times as many
  LOCMI_MAX_TURN_ACTIONS = 64,  // actions after which a turn is not followed further
  LOCMI_MAX_REPLY_WIDTH = 16,  // width of the beam in later turns
  LOCMI_CLOCK_PERIOD = 32,  // nodes between two readings of the clock, some 3 microseconds
  LOCMI_WATCH_PERIOD = 50000000,  // nanoseconds between two calls of `watch`
};

// what `sift` finds
enum {
  LOCMI_LEFT_OUT = 0,
  LOCMI_KEPT = 1,
  LOCMI_WINNING = 2,
#endif
#if RULES == 0 || RULES == 1 && IS_TREE || RULES == 2 && IS_TREE
};

enum {
#endif
#if RULES != 3 && IS_TREE
  LOCMI_MAX_DEPTH = 32,  // turns that a visit follows
#endif
#if RULES == 0 && IS_TREE || RULES == 1 || RULES == 2
};

enum {
#endif
#if RULES != 3
  LOCMI_MAX_PATH = 134,  // actions of an answer
};

enum {
  LOCMI_MAX_RECORDS = 262144,
  LOCMI_SEEN = 131072,  // size of the table of hashes
  LOCMI_WIN_WIDTH = 256,  // width of the beam that looks for a win
  LOCMI_VISIT_NODES = 256,  // nodes for each visit of the beam that looks for plans
  LOCMI_MAX_GAME = 400,  // turns of a game between engines
};

#endif
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
typedef struct locmi_mine_t locmi_mine_t;
typedef struct locmi_theirs_t locmi_theirs_t;
typedef struct locmi_legal_t locmi_legal_t;
typedef struct locmi_named_t locmi_named_t;
typedef struct locm_line_t locm_line_t;
typedef struct locm_reader_t locm_reader_t;
#if RULES != 3
typedef struct locmi_inputs_t locmi_inputs_t;
typedef struct locmi_network_t locmi_network_t;
#endif
#if RULES == 0
typedef struct locmi_deck_network_t locmi_deck_network_t;
typedef struct locmi_offer_t locmi_offer_t;
#elif RULES == 1 || RULES == 2
typedef struct locmi_draft_network_t locmi_draft_network_t;
typedef struct locmi_draft_sum_t locmi_draft_sum_t;
typedef struct locmi_draft_value_t locmi_draft_value_t;
#endif
#if RULES != 3
typedef struct locmi_side_t locmi_side_t;
typedef struct locmi_eval_t locmi_eval_t;
typedef struct locmi_terms_t locmi_terms_t;
typedef struct locmi_weights_t locmi_weights_t;
typedef struct locmi_budget_t locmi_budget_t;
typedef struct locmi_record_t locmi_record_t;
typedef struct locmi_candidate_t locmi_candidate_t;
typedef struct locmi_options_t locmi_options_t;
typedef struct locmi_plan_t locmi_plan_t;
typedef struct locmi_work_t locmi_work_t;
typedef struct locmi_wins_t locmi_wins_t;
typedef struct locmi_halving_t locmi_halving_t;
#endif
#if RULES != 3 && IS_TREE
typedef struct locmi_turns_t locmi_turns_t;
typedef struct locmi_node_t locmi_node_t;
typedef struct locmi_tree_t locmi_tree_t;
#endif
typedef struct locm_belief_t locm_belief_t;
#if RULES != 3
typedef struct locmi_known_t locmi_known_t;
typedef struct locmi_prior_t locmi_prior_t;
#endif
typedef struct locm_pool_t locm_pool_t;
#if RULES != 3 && !IS_TREE
typedef struct locmi_tree_t locmi_tree_t;
typedef struct locmi_turns_t locmi_turns_t;
typedef struct locmi_node_t locmi_node_t;
#endif
#if RULES != 3
typedef struct locmi_engine_t locmi_engine_t;
typedef struct locmi_found_t locmi_found_t;
#endif

// 8 bytes: closing a gap moves one word per creature
struct locm_creature_t {
  int16_t attack;
  int16_t defense;  // 0 in an empty slot, like all other fields
  uint8_t card;  // table entry
  uint8_t keywords;
  uint8_t copy;  // 1: area copy, its id is the entry's id + 1 (section 7)
  uint8_t forgotten;  // 1.x: the protocol shows 0 for my/opp/draw (section 9)
};

// one entry of the table: a card and its instance id
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
  // The fields below are derived: see `complete_card`.
  locm_creature_t creature;  // as it enters the board
  uint32_t marks;  // ... and its marks, in slot 0
  uint32_t cost_kind;  // ... and its byte of `player_t.cost_kinds`, at hand position 0
};

// immutable; shared by all clones of a state
struct locm_table_t {
  int32_t rules;  // RULES_15, RULES_12 or RULES_10
  int32_t n_instances;
  int32_t n_cards;
  int32_t _pad[5];  // so that no card lies across two cache lines
  // First the instances of the game, then the pool (each card once): a hidden card may be replaced
  // by any entry, including those of the pool. This field is the last one, so that a table of few
  // cards can be cut short where many tables are stored. Drawing may read entries beyond the last
  // card, so 8 KB behind a short table must be readable.
  locm_card_t cards[LOCM_MAX_CARDS];
};

// 96 bytes
struct locm_player_t {
  // Hand, in draw order without gaps; byte h of each word belongs to position h and is 0 beyond
  // the hand. It is packed because removing a card is then a shift, and a few operations find for
  // all cards at once which are affordable and what they can be used on.
  uint64_t hand;  // table entries
  uint64_t cost_kinds;  // 8 * (15 - cost), cost at most 14, plus the bits above
  // Board: slot 3*lane + i (1.0: slot i), in summon order and without gaps within a lane. The four
  // masks of six slots are packed: the end of a turn, a removal or an attack changes them all at
  // once, and two neighbouring masks form one index into a lookup table.
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
  uint8_t order;  // summon order over both lanes: a 1, then each creature's lane
  uint8_t won;  // this player has won
  uint32_t _pad;
};

// 256 bytes
struct locm_state_t {
  // table entries in draw order, the last at MAX_DECK - 1; 0 = drawn
  uint8_t deck[2][LOCM_MAX_DECK];
  int32_t turn;  // counted from 0 over both players; player turn & 1 is to move
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
  int32_t location;  // 0 hand, 1 the player's board, -1 the opponent's
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

// an action of the opponent
struct locm_shown_action_t {
  int32_t base_id;
  int32_t kind;  // SUMMON, USE or ATTACK
  int32_t id;  // instance id of the card
  int32_t target;  // instance id, -1 for a player; SUMMON: the lane; or NO_TARGET
};

// an observation
struct locm_shown_t {
  int32_t rules;
  locm_shown_player_t player[2];  // the player, the opponent
  int32_t opponent_hand;
  int32_t n_actions;
  int32_t n_cards;
  locm_shown_action_t actions[LOCM_MAX_SHOWN_ACTIONS];
  locm_shown_card_t cards[LOCM_MAX_SHOWN];
};

// a player's hidden places and candidates: see `Determinizer`
struct locm_unknown_t {
  int32_t viewer;
  int32_t n[2];  // candidates for the hidden places of each player
  uint8_t entry[2][LOCM_MAX_CARDS];  // ... their table entries
  uint8_t group[2][LOCM_MAX_CARDS];  // ... the group that each belongs to
  uint32_t weight[2][LOCM_MAX_CARDS];  // ... how likely each is, 1..MAX_WEIGHT
  uint8_t copies[2][LOCM_MAX_CARDS];  // [group]: cards that it gives, whichever of its candidates
};

// what counting legal actions needs of the mover's board
struct locmi_mine_t {
  uint16_t attackers;  // creatures that can attack, plus 256 times those of lane 1
  int8_t creatures;  // number of creatures, less `lanes`
  int8_t lanes;  // lanes with a free slot
};

// ... and of the opponent's
struct locmi_theirs_t {
  uint16_t targets;  // targets of an attacker in lane 1, plus 256 * in lane 0
  int8_t creatures;
  uint8_t _pad;
};

struct locmi_legal_t {
  uint64_t attacks;
  uint64_t plays;  // byte h: summons and uses of hand positions 0..h together
};

#if RULES == 3
// Called through pointers, so that the compiler does not merge them: each has all registers.
typedef int (*locmi_rollout_t)(locm_state_t *, const locm_table_t *, uint64_t, uint64_t *);

#endif
// an action by the instance ids it names
struct locmi_named_t {
  int kind;
  int source;  // instance ids; -1: a player
  int target;  // SUMMON: the lane
};

// a line, split at blanks
struct locm_line_t {
  int32_t n;  // number of columns, at most MAX_COLUMNS + 1
  int32_t bad;  // the first column with a wrong value
  int32_t start[14];
  int32_t end[14];
};

struct locm_reader_t {
  int32_t stage;  // kind of the next line
  int32_t done;  // lines of that kind read so far
  int32_t places[3][3];  // cards so far by location + 1 and lane + 1
  // The last line that was read; after a fault, the faulty one.
  int32_t number;  // from 1
  int32_t begin;  // offset of its first character
  int32_t fault;  // what is wrong with it; 0: nothing
  locm_line_t line;
};

#if RULES != 3
struct locmi_inputs_t {
  // both sides' slots; 0 in an empty one
  int16_t creatures[2][LOCM_MAX_BOARD][LOCMI_CREATURE_INPUTS];
  int16_t lane[LOCM_MAX_BOARD];  // of each slot
  int16_t hand[LOCM_MAX_HAND][LOCMI_CARD_INPUTS];  // the player's
  int16_t other[LOCMI_OTHER_INPUTS];
};

// a ReLU follows each layer but the output
struct locmi_network_t {
  float creature[2][LOCMI_CREATURE_INPUTS][LOCMI_SUMS];
  float card[LOCMI_CARD_INPUTS][LOCMI_SUMS];
  float lane[16][LOCMI_LANE];
  float lane_bias[LOCMI_LANE];
  float hidden[LOCMI_JOINED][LOCMI_HIDDEN];
  float hidden_bias[LOCMI_HIDDEN];
  float deeper[LOCMI_HIDDEN][LOCMI_HIDDEN];
  float deeper_bias[LOCMI_HIDDEN];
  float output[LOCMI_HIDDEN];
  float direct[LOCMI_JOINED];  // from the joined inputs to the output
  float output_bias;
};

#endif
#if RULES == 0
// a ReLU follows each layer
struct locmi_deck_network_t {
  float card[LOCMI_DECK_TERMS][LOCMI_DECK_UNITS];
  float card_bias[LOCMI_DECK_UNITS];
  float hidden[LOCMI_DECK_SUMS][LOCMI_DECK_UNITS];
  float hidden_bias[LOCMI_DECK_UNITS];
  float output[LOCMI_DECK_UNITS];
  float direct[LOCMI_DECK_SUMS];  // from the sums to the output
#elif RULES == 1 || RULES == 2
// a ReLU follows the layer
struct locmi_draft_network_t {
  float card[LOCMI_DRAFT_CARDS][LOCMI_DRAFT_UNITS];
  float bias[LOCMI_DRAFT_UNITS];
  float output[LOCMI_DRAFT_UNITS];
  float direct[LOCMI_DRAFT_CARDS];  // from a card to the output
#endif
#if RULES != 3
};

#endif
#if RULES == 0
// the cards to choose from, as an ensemble sees them
struct locmi_offer_t {
  int n_networks;
  int n_cards;
  float bias[1024];
  float output[1024];  // output weights of the mean
  float *hidden;  // [card][n_networks * DECK_UNITS]: its share of the second layer
  float direct[LOCMI_MAX_OFFER];  // its direct share of the value
#elif RULES == 1 || RULES == 2
// the sums over some cards
struct locmi_draft_sum_t {
  float units[LOCMI_DRAFT_LAYER];
  float direct;
};

// an ensemble, the layers of its networks concatenated
struct locmi_draft_value_t {
  float bias[LOCMI_DRAFT_LAYER];
  float output[LOCMI_DRAFT_LAYER];  // output weights of the mean
  locmi_draft_sum_t card[161];
  uint8_t order[LOCMI_DRAFT_CARDS];  // cards by falling value in an average deck
#endif
#if RULES != 3
};

// the weights of one side
struct locmi_side_t {
  // Of a creature, by keywords: for being there, attack, defense, and the lesser of the two.
  float by_keywords[64][4];
  float health[LOCMI_HEALTH_STEPS];
  float health_more;  // each point beyond
  float hand[16];  // cards in hand after the next draw
  float deck[32];  // cards in the deck after the next draw
  float near_card;  // 1.5: each point of health lost towards a further card
  float room[3];  // lanes with room
  float open_attack;  // each point of attack that no Guard holds back
  float kill;  // added if that attack is enough to kill
  float rune;  // 1.x: each rune left
};

struct locmi_eval_t {
  locmi_side_t side[2];  // of the player whose turn ends, and of the other one
  // [table entry]: value of the card in the hand of the first side
  float hand_card[LOCM_MAX_CARDS];
  float bonus;  // 1.5: bonus mana
  float scale;  // the value that is a win with probability 0.88: tanh(1) = 0.76
};

// the weights of one side, as named in `TERMS` and in that order
struct locmi_terms_t {
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

struct locmi_weights_t {
  locmi_terms_t side[2];
  float hand_type[4];  // creature, green, red, blue
  float hand_cost;
  float hand_draw;
  float hand_area;
  float bonus_mana;
  float scale;
};

struct locmi_budget_t {
  int64_t deadline;  // by locm_now_ns
  int64_t nodes;  // nodes left; a node is an action applied and evaluated
  int32_t until_clock;
  int over;
};

// how a position was reached
struct locmi_record_t {
  int32_t parent;  // record before the last action; -1 for the root
  uint8_t action;
};

// a position of the next level of the beam
struct locmi_candidate_t {
  float value;
  int32_t parent;  // place in this level
  uint8_t action;
};

// see the dataclasses in options.py
struct locmi_options_t {
  int is_tree;  // MCTS, not beam search; options that one of them lacks are 0:
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

// Called several times a second; a negative result ends the search. `owner` is passed through.
typedef int (*locmi_watch_t)(void *owner);

// a whole turn
struct locmi_plan_t {
  float value;  // of the position at its end
  int32_t parent;  // record before the last action; PASS: the root itself
  uint8_t action;
  uint64_t hash;
  int32_t visits;  // number of playouts from its end
  float result;  // their mean, -1 to 1, including the result expected at its end
};

struct locmi_work_t {
  const locm_table_t *table;
  const locmi_eval_t *eval;
  const locmi_network_t *network;  // predicts results instead of `eval`, or NULL
  locmi_watch_t watch;  // or NULL
  int64_t next_watch;  // by locm_now_ns
  void *owner;
  int failed;  // the watch has ended the search
  int32_t who;
  locm_state_t root;
  uint64_t card_keys[LOCM_MAX_CARDS];
  locmi_budget_t budget;
  int64_t nodes;  // nodes so far
  int32_t depth;  // longest sequence of actions so far
  locmi_record_t *records;
  int32_t n_records;
  int32_t max_records;
  locm_state_t *level[2];  // positions of the present and the next level of the beam
  int32_t *level_records[2];
  int32_t max_width;
  locmi_candidate_t *candidates;
  int32_t max_candidates;
  uint64_t *seen;  // direct-mapped table of hashes: overwritten ones are forgotten
  uint64_t seen_mask;
  uint64_t salt;  // tells the hashes of this search from those left in `seen`
  locmi_plan_t plans[LOCMI_MAX_PLANS];  // the best whole turns, best first
  int32_t n_plans;
  int32_t max_plans;
  locm_state_t ends[LOCMI_MAX_PLANS];  // ... and the positions at their ends
  int won;  // a winning turn was found; attacks on the player may follow it:
  locmi_plan_t win;
  int32_t reply_width;  // 1: turns are played on greedily
  locm_state_t *worlds;  // samples of the hidden cards, drawn when they are first used
  int32_t n_worlds;
  int32_t max_worlds;
  uint64_t world_seed;
  const locm_unknown_t *unknown;  // ... from this
  int own_deck;  // ... except the player's deck, of which the order alone is unknown
};

struct locmi_wins_t {
  int16_t potential[LOCM_MAX_CARDS];  // the most damage that a card of the hand can add
  int wakes;  // some card may ready a creature
  int needs_creatures;  // some card used on the player's creatures harms the opponent
};

// Sequential halving of the plans: after each share of the budget the worse half drops out.
struct locmi_halving_t {
  int64_t start;  // time at the start, by locm_now_ns
  int64_t nodes;  // nodes of the budget at the start
  int64_t left;  // nodes of the budget after the last round
  int64_t cost;  // nodes of one plan in the last round; a guess at first
  int32_t alive;  // plans that are left
  int32_t rounds;
  int32_t round;  // number of halvings; those done so far
};

#endif
#if RULES != 3 && IS_TREE
// the turns that may follow a position
struct locmi_turns_t {
  int32_t first;  // node
  int32_t n;  // their number; 0: not searched yet
};

// a turn of one player
struct locmi_node_t {
  locm_state_t s;  // the state at its end
  double total;  // of the results of visits for that player, from -1 to 1
  float value;  // the result expected at its end
  float prior;  // its share among the turns of the same position
  int32_t visits;
  locmi_turns_t next;  // the other player's turns after it; plans have `replies` instead
};

struct locmi_tree_t {
  locmi_node_t *nodes;  // the plans come first, in the order of `w.plans`
  int32_t n_nodes;
  int32_t max_nodes;
  locmi_turns_t *replies;  // [plan * worlds + world]
};

#endif
struct locm_belief_t {
  int32_t rules;
  int32_t seat;  // 0 or 1; -1 while unknown
  int32_t turn;  // the player's turns before the present one
  int32_t n_kinds;
  // Chosen cards, in the order of their first choice.
  int32_t n_chosen;
  int32_t chosen[LOCM_MAX_CARDS];  // base id
  int32_t copies[LOCM_MAX_CARDS];
  // Cards seen, the player's and the opponent's, in the order of their first appearance.
  int32_t n_seen[2];
  int32_t seen_id[2][LOCM_MAX_CARDS];
  int32_t seen[2][LOCM_MAX_CARDS];  // base id
};

#if RULES != 3
// the cards that were shown, in the order of their first appearance
struct locmi_known_t {
  int32_t n;
  locm_shown_card_t row[LOCM_MAX_CARDS];  // as in hand or on offer if seen there
};

// how opponents are expected to choose cards
struct locmi_prior_t {
  double temperature;  // of scores: a card is exp(score / temperature) times as likely
  double draft_temperature;  // the same for values of drafts
  double own_deck;  // added to the likelihood (best card: 1) for each copy in our deck
};

#endif
// the cards that may be in the game
struct locm_pool_t {
  const locm_table_t *t;  // its table, without instances
  int32_t n;  // number of cards, which have a fixed order:
  uint8_t entry[LOCM_MAX_CARDS];  // ... entry in the table
  double weight[LOCM_MAX_CARDS];  // ... how attractive the card is
  int32_t n_triplets;  // of a complete draft, else 0
  uint8_t triplet_size[LOCM_MAX_DECK];
  uint8_t triplet[LOCM_MAX_DECK][3];  // entries of the table
  double triplet_weight[LOCM_MAX_DECK][3];
#if RULES == 0 && !IS_TREE || RULES == 1 && !IS_TREE || RULES == 2 || RULES == 3
};

#endif
#if RULES != 3 && !IS_TREE
struct locmi_tree_t {
  locmi_node_t *nodes;  // the plans come first, in the order of `w.plans`
  int32_t n_nodes;
  int32_t max_nodes;
  locmi_turns_t *replies;  // [plan * worlds + world]
};

// the turns that may follow a position
struct locmi_turns_t {
  int32_t first;  // node
  int32_t n;  // their number; 0: not searched yet
};

// a turn of one player
struct locmi_node_t {
  locm_state_t s;  // the state at its end
  double total;  // of the results of visits for that player, from -1 to 1
  float value;  // the result expected at its end
  float prior;  // its share among the turns of the same position
  int32_t visits;
  locmi_turns_t next;  // the other player's turns after it; plans have `replies` instead
#endif
#if RULES == 0 || RULES == 1 || RULES == 2 && !IS_TREE
};

#endif
#if RULES != 3
struct locmi_engine_t {
  locmi_work_t w;
  locmi_tree_t tree;  // MCTS only
  locmi_options_t o;
};

struct locmi_found_t {
  uint8_t path[LOCMI_MAX_PATH];  // actions of the turn without PASS
  int32_t length;
  float value;  // expected result, from -1 to 1
  int32_t visits;  // number of results behind that mean; 0: none was sampled
  int64_t iterations;  // descents of the tree
};

#endif
LOCMI_INLINE double locmi_max_double(double a, double b) {
#if RULES != 3
  return b > a ? b : a;
}

LOCMI_INLINE float locmi_max_float(float a, float b) {
#endif
  return b > a ? b : a;
}

LOCMI_INLINE int locmi_max_int(int a, int b) {
  return b > a ? b : a;
}

LOCMI_INLINE int locmi_min_int(int a, int b) {
  return b < a ? b : a;
}

#if RULES != 3
LOCMI_INLINE int64_t locmi_min_int64(int64_t a, int64_t b) {
  return b < a ? b : a;
}
#else
LOCMI_FUNCTION int locmi_rollout_15(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n);
LOCMI_FUNCTION int locmi_rollout_12(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n);
LOCMI_FUNCTION int locmi_rollout_10(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *n);
#endif

// bits set in a byte
static uint8_t LOCMI_COUNT[256];
// [8 * byte + n]: position of the n-th set bit
static uint8_t LOCMI_NTH[2048];
// ones in the lowest n bytes
static uint64_t LOCMI_LOW_BYTES[9];
// [64 * n + k]: k // n, a load instead of a division
static uint8_t LOCMI_QUOTIENT[512];
// [one lane?][ready and occupied slots]
static locmi_mine_t LOCMI_MINE[2][4096];
// [one lane?][slots: occupied, and with Guard]
static locmi_theirs_t LOCMI_THEIRS[2][4096];
// ... what an attacker in lane 0 (low byte) or 1 may attack:
// bit 0 the player, bit 1 + i enemy i of that lane
static uint16_t LOCMI_TARGETS[2][4096];
// [attackers of a lane, what they may attack, k]: k-th attack,
// attacker + 16 * target (0 the player); two lanes only
static uint8_t LOCMI_ATTACKS[2048];
// [one lane?][slot]: marks that stay when the slot is removed
static uint32_t LOCMI_KEEP[2][LOCM_MAX_BOARD];
// ... and those that move down, after a shift by one
static uint32_t LOCMI_CLOSE[2][LOCM_MAX_BOARD];
// [one lane?][action]: the decoded action
static locm_move_t LOCMI_MOVES[2][LOCM_MAX_ACTIONS];
// [area][slot]: slots that an item on this one reaches
static uint8_t LOCMI_REACH[3][LOCM_MAX_BOARD];
// [health, at most 26]: runes lost when it is reached
static uint8_t LOCMI_RUNES_HIT[32];
#if RULES != 3
// time or nodes without bound
static const int64_t LOCMI_UNLIMITED = 1LL << 62;

// Return 2^n.
LOCMI_INLINE float locmi_power32(int32_t n) {
  return locmi_float_of_bits_((uint32_t)(n + 127) << 23);
}

LOCMI_INLINE double locmi_power64(int64_t n) {
  return locmi_double_of_bits_((uint64_t)(n + 1023) << 52);
}

// Return e^r - 1 for x = n ln 2 + r.
LOCMI_INLINE float locmi_reduced32(float x, int32_t *n) {
  float shifted = x * (float)1.4426950408889634 + (float)12582912.0;
  float whole = shifted - (float)12582912.0;
  float r = x - whole * (float)0.693145751953125 - whole * (float)1.4286068203094172e-06;
  float square = r * r;
  *n = (int32_t)(locmi_bits_of_float_(shifted) - (uint32_t)1262485504);
  return r + square * ((float)0.5 + square * ((float)(1 / 24.0) + square * (float)(1 / 720.0)) + r *
      ((float)(1 / 6.0) + square * ((float)(1 / 120.0) + square * (float)(1 / 5040.0))));
}

// Return e^r - 1 for x = n ln 2 + r.
LOCMI_INLINE double locmi_reduced64(double x, int64_t *n) {
  double shifted = x * 1.4426950408889634 + 6755399441055744.0;
  double whole = shifted - 6755399441055744.0;
  double r = x - whole * 0.693147180559663 - whole * 2.8235290563031577e-13;
  double z = r * r;
  double even = 1 / 40320.0 + z * (1 / 3628800.0 + z * (1 / 479001600.0));
  double odd = 1 / 362880.0 + z * (1 / 39916800.0 + z * (1 / 6227020800.0));
  even = 0.5 + z * (1 / 24.0 + z * (1 / 720.0 + z * even));
  odd = 1 / 6.0 + z * (1 / 120.0 + z * (1 / 5040.0 + z * odd));
  *n = (int64_t)(locmi_bits_of_double_(shifted) - (uint64_t)0x4338000000000000);
  return r + z * (even + r * odd);
#endif
#if RULES == 0 && IS_TREE || RULES == 1 && IS_TREE || RULES == 2
}

#endif
#if RULES != 3 && IS_TREE
LOCMI_INLINE float locmi_exp32(float x) {
  int32_t n;
  int32_t half;
  float e;
  x = x > (float)89.0 ? (float)89.0 : x;
  x = x < (float)-105.0 ? (float)-105.0 : x;
  e = locmi_reduced32(x, &n) + 1;
  // 2^n alone may be out of range
  half = n >> 1;
  return e * locmi_power32(half) * locmi_power32(n - half);
#endif
#if RULES == 0 || RULES == 1 || RULES == 2 && IS_TREE
}

#endif
#if RULES != 3
LOCMI_INLINE double locmi_exp64(double x) {
  int64_t n;
  int64_t half;
  double e;
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  e = locmi_reduced64(x, &n) + 1;
  half = n >> 1;
  return e * locmi_power64(half) * locmi_power64(n - half);
}

LOCMI_INLINE float locmi_tanh32(float x) {
  uint32_t sign = locmi_bits_of_float_(x) & (uint32_t)0x80000000;
  float double_size = 2 * locmi_float_of_bits_(locmi_bits_of_float_(x) ^ sign);
  int32_t n;
  float e;
  float power;
  double_size = double_size > (float)20.0 ? (float)20.0 : double_size;
  e = locmi_reduced32(double_size, &n);
  power = locmi_power32(n);
  // e^2|x| - 1
  e = power * e + (power - 1);
  return locmi_float_of_bits_(locmi_bits_of_float_(e / (e + 2)) | sign);
}

LOCMI_INLINE uint64_t locmi_mixed(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ULL;
  return (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ULL;
}

LOCMI_INLINE uint64_t locmi_board_hash(const locm_player_t *p, uint64_t salt) {
  // A sum, so that the order within a lane makes no difference. A creature counts by its present
  // values, whichever card it came from.
  uint64_t total = 0;
  uint64_t word;
  uint32_t left = (p->marks >> LOCM_OCCUPIED) & 63;
  const locm_creature_t *x;
  int slot;
  while (left) {
    slot = locmi_lowest_bit_(left);
    left &= left - 1;
    x = &p->board[slot];
    word = (uint64_t)((uint32_t)x->attack & 65535);
    word |= (uint64_t)((uint32_t)x->defense & 65535) << 16;
    word |= (uint64_t)x->keywords << 32;
    word |= (uint64_t)((p->marks >> slot) & 1) << 40;
    word |= (uint64_t)((p->marks >> LOCM_SPENT >> slot) & 1) << 41;
#endif
#if RULES == 0 || RULES == 1
    word |= (uint64_t)(slot >= 3) << 42;
#elif RULES == 2
    word |= (uint64_t)0 << 42;
#endif
#if RULES != 3
    total += locmi_mixed(word ^ salt);
  }
  return total;
}

LOCMI_INLINE uint64_t locmi_turn_hash(const locm_state_t *s, const uint64_t *card_keys) {
  // Inlined: searches call it at every node.
  int me = s->turn & 1;
  const locm_player_t *p = &s->p[me];
  const locm_player_t *op = &s->p[1 - me];
  uint64_t total;
  uint64_t hand = p->hand;
  total = locmi_board_hash(p, 21845ULL << 44) + locmi_board_hash(op, 43690ULL << 44);
  for (int _ = 0; _ < (int)p->hand_size; _++) {
    total += card_keys[hand & 255];
    hand >>= 8;
  }
  total += locmi_mixed(((uint64_t)(uint32_t)p->health << 32) | (uint32_t)op->health);
  total += locmi_mixed(((uint64_t)p->mana << 56) | ((uint64_t)(p->next_draw & 1048575) << 28) |
      (uint64_t)(op->next_draw & 1048575) | (1ULL << 63));
  total += locmi_mixed(((uint64_t)(uint32_t)p->lost << 32) | (uint32_t)op->lost | (1ULL << 63));
  return locmi_mixed(total);
}

// Return a random number for a card in hand, the same for all copies of a card.
LOCMI_INLINE uint64_t locmi_hand_key(const locm_card_t *c) {
  return locmi_mixed(((uint64_t)c->base_id + 1) * 0xD6E8FEB86659FD93ULL);
}

// Write the key of each card of a table, as `turn_hash` needs them.
LOCMI_INLINE void locmi_fill_card_keys(uint64_t *keys, const locm_table_t *t) {
  int i;
  int n1_ = t->n_cards;
  for (i = 0; i < n1_; i++) keys[i] = locmi_hand_key(&t->cards[i]);
}
#else
static locmi_rollout_t LOCMI_ROLLOUT[3] = {locmi_rollout_15, locmi_rollout_12, locmi_rollout_10};
#endif

LOCMI_FUNCTION locmi_mine_t locmi_mine_of(uint32_t ready, uint32_t occupied, int one) {
  locmi_mine_t m;
  if (one) {
    m.attackers = LOCMI_COUNT[ready];
    m.lanes = occupied != 63;
  }
  else {
    m.attackers = LOCMI_COUNT[ready & 7] | (LOCMI_COUNT[ready >> 3] << 8);
    // which last slots are free
    m.lanes = 2 - ((occupied >> 2) & 1) - (occupied >> 5);
  }
  m.creatures = LOCMI_COUNT[occupied] - m.lanes;
  return m;
}

LOCMI_FUNCTION locmi_theirs_t locmi_theirs_of(uint32_t occupied, uint32_t targets) {
  locmi_theirs_t m;
  m.targets = LOCMI_COUNT[targets >> 8] | (LOCMI_COUNT[targets & 255] << 8);
  m.creatures = LOCMI_COUNT[occupied];
  m._pad = 0;
  return m;
}

LOCMI_FUNCTION uint16_t locmi_targets_of(uint32_t occupied, uint32_t guarded, int one) {
  if (one) return guarded ? guarded << 1 : (occupied << 1) | 1;
  return locmi_targets_of(occupied & 7, guarded & 7, 1) | (locmi_targets_of(occupied >> 3,
      guarded >> 3, 1) << 8);
}

// Decode an action number (section 12), to fill `MOVES`.
LOCMI_FUNCTION locm_move_t locmi_move_of(int action, int one) {
  locm_move_t m;
  int first_use = one ? LOCMI_FIRST_USE_1 : LOCMI_FIRST_USE;
  int first_attack = one ? LOCMI_FIRST_ATTACK_1 : LOCMI_FIRST_ATTACK;
  int width = one ? 7 : 4;
  memset(&m, 0, sizeof(locm_move_t));
  if (action == 0 || action >= (one ? LOCMI_NUM_ACTIONS_1 : LOCMI_NUM_ACTIONS_2)) {
    m.kind = LOCM_PASS;
  }
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

LOCMI_FUNCTION void locm_fill_tables(void) {
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
        LOCMI_NTH[8 * i + n] = j;
        n++;
      }
    }
    LOCMI_COUNT[i] = n;
  }
  for (int i1_ = 1; i1_ < 9; i1_++) {
    n = i1_;
    LOCMI_LOW_BYTES[n] = (LOCMI_LOW_BYTES[n - 1] << 8) | 255;
  }
  for (int i2_ = 1; i2_ < 8; i2_++) {
    n = i2_;
    for (i = 0; i < 64; i++) LOCMI_QUOTIENT[64 * n + i] = i / n;
  }
  for (one = 0; one < 2; one++) {
    for (i = 0; i < 4096; i++) {
      LOCMI_MINE[one][i] = locmi_mine_of(i & 63, i >> 6, one);
      LOCMI_TARGETS[one][i] = locmi_targets_of(i & 63, i >> 6, one);
      LOCMI_THEIRS[one][i] = locmi_theirs_of(i & 63, LOCMI_TARGETS[one][i]);
    }
    for (i = 0; i < LOCM_MAX_BOARD; i++) {
      last = i < 3 && !one ? 2 : 5;
      low = (1 << i) - 1;
      LOCMI_KEEP[one][i] = (uint32_t)LOCMI_ALL_MARKS * ((low | ~((2 << last) - 1)) & 63);
      LOCMI_CLOSE[one][i] = (uint32_t)LOCMI_ALL_MARKS * (((1 << last) - 1) & ~low);
    }
    for (action = 0; action < LOCM_MAX_ACTIONS; action++) {
      LOCMI_MOVES[one][action] = locmi_move_of(action, one);
    }
  }
  for (i = 0; i < 128; i++) {
    n = 0;
    for (j = 0; j < 3; j++) {
      for (int i3_ = 0; i3_ < 4; i3_++) {
        low = i3_;
        if ((i >> 4 >> j) & 1 && (i >> low) & 1) {
          LOCMI_ATTACKS[16 * i + n] = j | (low << 4);
          n++;
        }
      }
    }
  }
  for (i = 0; i < LOCM_MAX_BOARD; i++) {
    LOCMI_REACH[LOCM_AREA_TARGET][i] = 1 << i;
    LOCMI_REACH[LOCM_AREA_LANE1][i] = i < 3 ? 7 : 56;
    LOCMI_REACH[LOCM_AREA_LANE2][i] = 63;
  }
  for (i = 0; i < 32; i++) {
    n = 0;
    for (j = 0; j < 5; j++) {
      if (i <= 5 * (j + 1)) n |= 1 << j;
    }
    LOCMI_RUNES_HIT[i] = n;
  }
}

// 0 or 1, who is to move
LOCMI_FUNCTION int locm_state_player(const locm_state_t *s) {
  return s->turn & 1;
}

// 0 or 1; -1 while nobody has won
LOCMI_FUNCTION int locm_state_winner(const locm_state_t *s) {
  if (s->p[0].won) return 0;
  return s->p[1].won ? 1 : -1;
}

// cards that p will draw in all
LOCMI_FUNCTION int locm_state_next_draw(const locm_state_t *s, int p) {
  return s->p[p].next_draw + s->p[p].lost / 5;
}

LOCMI_FUNCTION locm_move_t locm_decode_action(const locm_table_t *t, int action) {
#if RULES != 3
  (void)t;
#endif
#if RULES == 0 || RULES == 1
  return LOCMI_MOVES[0][action];
#elif RULES == 2
  return LOCMI_MOVES[1][action];
#else
  return LOCMI_MOVES[t->rules == LOCM_RULES_10][action];
#endif
}

// One byte of the marks: a mask of board slots.
LOCMI_INLINE uint32_t locmi_marked(const locm_player_t *p, int which) {
  return (p->marks >> which) & 63;
}

// Byte h is 1 if the card at hand position h can be paid for, and 0 beyond the hand.
LOCMI_INLINE uint64_t locmi_payable(const locm_player_t *p) {
  // The top bit of 8 * (15 - cost) + 8 * (mana + 1) + (0..7) says it. There is no carry.
  return ((p->cost_kinds + (uint64_t)(8 * p->mana + 8) * LOCMI_BYTES) >> 7) & LOCMI_BYTES;
}

// Mask of the bytes whose lowest bit is set.
LOCMI_INLINE uint32_t locmi_gathered(uint64_t bytes) {
  // The multiplication gathers the lowest bits of the eight bytes in the highest byte.
  return (uint32_t)((bytes & LOCMI_BYTES) * 0x102040810204080ULL >> 56);
}

// Count the legal actions, PASS included, and write their parts into `l`.
LOCMI_INLINE uint64_t locmi_count_legal(const locm_player_t *me, const locm_player_t *op,
#if RULES == 0 || RULES == 2
    locmi_legal_t *l) {
#endif
#if RULES == 0
  const locmi_mine_t *mine = &LOCMI_MINE[0][me->marks & 4095];
  const locmi_theirs_t *theirs = &LOCMI_THEIRS[0][(op->marks >> LOCM_OCCUPIED) & 4095];
#elif RULES == 1 || RULES == 3
    locmi_legal_t *l, const int rules) {
  const locmi_mine_t *mine = &LOCMI_MINE[rules == LOCM_RULES_10][me->marks & 4095];
  const locmi_theirs_t *theirs = &LOCMI_THEIRS[rules == LOCM_RULES_10][(op->marks >> LOCM_OCCUPIED)
      & 4095];
#else
  const locmi_mine_t *mine = &LOCMI_MINE[1][me->marks & 4095];
  const locmi_theirs_t *theirs = &LOCMI_THEIRS[1][(op->marks >> LOCM_OCCUPIED) & 4095];
#endif
  // Byte h: choices for hand position h, at most 7: the lanes with room, and for an item the
  // difference between its targets and these. One multiplication sums them, and its partial sums
  // find the k-th below.
  int64_t lanes = mine->lanes;
  uint64_t choices = lanes * LOCMI_BYTES + (me->cost_kinds & LOCMI_BYTES) + ((me->cost_kinds >> 1) & LOCMI_BYTES) *
      (uint64_t)mine->creatures + ((me->cost_kinds >> 2) & LOCMI_BYTES) * (uint64_t)(theirs->creatures -
      lanes);
  uint64_t paid = locmi_payable(me);
  l->plays = (choices & ((paid << 8) - paid)) * LOCMI_BYTES;
  // (a + 256 b) * (d + 256 c) has a * c + b * d, both lanes' attacks, in its second byte.
  l->attacks = ((uint32_t)mine->attackers * theirs->targets >> 8) & 255;
  return 1 + l->attacks + (l->plays >> 56);
}

// The slot of the i-th creature, lane 0 before lane 1.
#if RULES == 0
LOCMI_INLINE int locmi_slot_of(const locm_player_t *p, int i) {
#elif RULES == 1 || RULES == 3
LOCMI_INLINE int locmi_slot_of(const locm_player_t *p, int i, const int rules) {
#endif
#if RULES != 2
  int first;
#endif
#if RULES == 1 || RULES == 3
  if (rules == LOCM_RULES_10) return i;
#endif
#if RULES != 2
  first = LOCMI_COUNT[(p->marks >> LOCM_OCCUPIED) & 7];
  return i + (3 - first) * (i >= first);
#else
LOCMI_INLINE int locmi_slot_of(int i) {
  return i;
#endif
}

// The k-th attack: lane by lane, attacker by attacker. With two lanes one table holds it:
// dividing and looking up both parts would be a long chain of dependent steps, which costs 1 % of
// the speed in 1.5 and 4 % in 1.2.
#if RULES == 0 || RULES == 2
LOCMI_INLINE locm_move_t locmi_kth_attack(const locm_player_t *me, const locm_player_t *op, int k) {
#else
LOCMI_INLINE locm_move_t locmi_kth_attack(const locm_player_t *me, const locm_player_t *op, int k,
    const int rules) {
  int one = rules == LOCM_RULES_10;
#endif
  uint32_t index = (op->marks >> LOCM_OCCUPIED) & 4095;
#if RULES == 0
  uint32_t targets = LOCMI_TARGETS[0][index];
  const locmi_mine_t *mine = &LOCMI_MINE[0][me->marks & 4095];
  int first = (mine->attackers & 255) * (LOCMI_THEIRS[0][index].targets >> 8);
  int lane = k >= first;
#elif RULES == 1 || RULES == 3
  uint32_t targets = LOCMI_TARGETS[one][index];
  const locmi_mine_t *mine = &LOCMI_MINE[one][me->marks & 4095];
  int first = (mine->attackers & 255) * (LOCMI_THEIRS[one][index].targets >> 8);
  int lane = one ? 0 : k >= first;
#else
  uint32_t targets = LOCMI_TARGETS[1][index];
#endif
  int n;
#if RULES != 0
  int attacker;
#endif
  locm_move_t m;
  m.kind = LOCM_ATTACK;
  m._pad = 0;
#if RULES != 2
  k -= first * lane;
  targets = (targets >> 8 * lane) & 255;
#endif
#if RULES == 0
  n = LOCMI_ATTACKS[(((me->marks >> 3 * lane) & 7) << 8) | (targets << 4) | k];
  k = n >> 4;
  m.source = 3 * lane + (n & 15);
  m.target = k + 3 * lane * (k != 0);
#elif RULES == 1 || RULES == 3
  if (one) {
    n = LOCMI_COUNT[targets];
    attacker = LOCMI_QUOTIENT[64 * n + k];
    k = LOCMI_NTH[8 * targets + k - attacker * n];
    m.source = LOCMI_NTH[8 * (me->marks & 63) + attacker];
    m.target = k;
  }
  else {
    n = LOCMI_ATTACKS[(((me->marks >> 3 * lane) & 7) << 8) | (targets << 4) | k];
    k = n >> 4;
    m.source = 3 * lane + (n & 15);
    m.target = k + 3 * lane * (k != 0);
  }
#else
  targets = targets & 255;
  n = LOCMI_COUNT[targets];
  attacker = LOCMI_QUOTIENT[64 * n + k];
  k = LOCMI_NTH[8 * targets + k - attacker * n];
  m.source = LOCMI_NTH[8 * (me->marks & 63) + attacker];
  m.target = k;
#endif
  return m;
}

// The k-th summon or use, in the order of the hand.
#if RULES != 2
LOCMI_INLINE locm_move_t locmi_kth_play(const locm_player_t *me, const locm_player_t *op,
#endif
#if RULES == 0
    uint64_t plays, uint64_t n) {
#elif RULES == 1 || RULES == 3
    uint64_t plays, uint64_t n, const int rules) {
#else
LOCMI_INLINE locm_move_t locmi_kth_play(const locm_player_t *me, uint64_t plays, uint64_t n) {
#endif
  // Byte h has its top bit set if positions 0..h have at most k plays; the number of such bytes is
  // the position.
  uint64_t before = n * LOCMI_BYTES + (128 * LOCMI_BYTES - plays);
  int h = (int)(((before >> 7) & LOCMI_BYTES) * LOCMI_BYTES >> 56);
  uint32_t cost_kind = (uint32_t)(me->cost_kinds >> 8 * h);
  int blue = cost_kind & LOCM_IS_BLUE;
  int green = (cost_kind >> 1) & 1;
  locm_move_t m;
  int k = (int)(n - ((plays << 8 >> 8 * h) & 255));
  m.source = h;
  m._pad = 0;
  if ((cost_kind & 6) == 0) {
    m.kind = LOCM_SUMMON;
    // If lane 0 is full: lane 1.
#if RULES == 0
    m.target = k | ((me->marks >> 8) & 1);
#elif RULES == 1 || RULES == 3
    m.target = rules == LOCM_RULES_10 ? 0 : k | ((me->marks >> 8) & 1);
#else
    m.target = 0;
#endif
  }
  else {
    m.kind = LOCM_USE;
#if RULES == 0
    m.target = 7 - 6 * green + locmi_slot_of(green ? me : op, k - blue);
#elif RULES == 1 || RULES == 3
    m.target = 7 - 6 * green + locmi_slot_of(green ? me : op, k - blue, rules);
#else
    m.target = 7 - 6 * green + locmi_slot_of(k - blue);
#endif
    // a blue item's first target is the player
    m.target = m.target * (k >= blue);
  }
  return m;
}

// The k-th legal action, in the order of state_kth.
LOCMI_INLINE locm_move_t locmi_kth_legal(const locm_player_t *me, const locm_player_t *op,
#if RULES == 0 || RULES == 2
    const locmi_legal_t *l, int k) {
#else
    const locmi_legal_t *l, int k, const int rules) {
#endif
  if (k == 0) return LOCMI_MOVES[0][LOCM_PASS];
#if RULES == 0 || RULES == 2
  if (k <= (int)l->attacks) return locmi_kth_attack(me, op, k - 1);
#endif
#if RULES == 0
  return locmi_kth_play(me, op, l->plays, k - 1 - l->attacks);
#elif RULES == 1 || RULES == 3
  if (k <= (int)l->attacks) return locmi_kth_attack(me, op, k - 1, rules);
  return locmi_kth_play(me, op, l->plays, k - 1 - l->attacks, rules);
#else
  return locmi_kth_play(me, l->plays, k - 1 - l->attacks);
#endif
}

// The number of a decoded action: the inverse of `move_of`.
#if RULES != 3
LOCMI_INLINE int locmi_action_of(locm_move_t m) {
#else
LOCMI_INLINE int locmi_action_of(locm_move_t m, const int one) {
#endif
  if (m.kind == LOCM_PASS) return 0;
#if RULES == 0 || RULES == 1
  if (m.kind == LOCM_SUMMON) return 1 + 2 * m.source + m.target;
  if (m.kind == LOCM_USE) return LOCMI_FIRST_USE + 13 * m.source + m.target;
#elif RULES == 3
  if (m.kind == LOCM_SUMMON) return one ? 1 + m.source : 1 + 2 * m.source + m.target;
  if (m.kind == LOCM_USE) {
    return (one ? LOCMI_FIRST_USE_1 : LOCMI_FIRST_USE) + 13 * m.source + m.target;
  }
  if (one) return LOCMI_FIRST_ATTACK_1 + 7 * m.source + m.target;
#endif
#if RULES != 2
  return LOCMI_FIRST_ATTACK + 4 * m.source + m.target - (m.target && m.source >= 3 ? 3 : 0);
#else
  if (m.kind == LOCM_SUMMON) return 1 + m.source;
  if (m.kind == LOCM_USE) return LOCMI_FIRST_USE_1 + 13 * m.source + m.target;
  return LOCMI_FIRST_ATTACK_1 + 7 * m.source + m.target;
#endif
}

// ... and back
LOCMI_FUNCTION int locm_encode_action(const locm_table_t *t, locm_move_t m) {
#if RULES != 3
  (void)t;
  return locmi_action_of(m);
#else
  return locmi_action_of(m, t->rules == LOCM_RULES_10);
#endif
}

// Write all legal actions in ascending order; return their number.
#if RULES != 3
LOCMI_INLINE int locmi_list_legal(const locm_player_t *me, const locm_player_t *op, uint8_t *out) {
#else
LOCMI_INLINE int locmi_list_legal(const locm_player_t *me, const locm_player_t *op, uint8_t *out,
    const int rules) {
  int one = rules == LOCM_RULES_10;
  int first = one ? LOCMI_FIRST_USE_1 : LOCMI_FIRST_USE;
  int width = one ? 7 : 4;
#endif
  uint32_t hand = locmi_gathered(locmi_payable(me));
  uint32_t items = locmi_gathered((me->cost_kinds >> 1) | (me->cost_kinds >> 2));
  uint32_t own = locmi_marked(me, LOCM_OCCUPIED);
  uint32_t enemy = locmi_marked(op, LOCM_OCCUPIED);
  uint32_t left;
  uint32_t mask;
  uint32_t cost_kind;
  int n;
  int h;
  int slot;
  int base;
  int lane;
  *out = 0;
  n = 1;
  left = hand & ~items;
  while (left) {
    h = LOCMI_NTH[8 * left];
    left &= left - 1;
#if RULES == 0 || RULES == 1
    out[n] = 1 + 2 * h;
    n += (~own >> 2) & 1;
    out[n] = 2 + 2 * h;
    n += (~own >> 5) & 1;
#elif RULES == 2
    out[n] = 1 + h;
    n += own != 63;
#else
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
#endif
  }
  // Items in hand order: 13 targets each; the masks below are the legal ones.
  left = hand & items;
  while (left) {
    h = LOCMI_NTH[8 * left];
    left &= left - 1;
#if RULES == 0 || RULES == 1
    base = 17 + 13 * h;
#elif RULES == 2
    base = 9 + 13 * h;
#else
    base = first + 13 * h;
#endif
    cost_kind = (uint32_t)(me->cost_kinds >> 8 * h);
    if (cost_kind & LOCM_IS_GREEN) {
      mask = own;
      base++;
    }
    else {
      out[n] = base;
      n += cost_kind & LOCM_IS_BLUE;
      mask = enemy;
      base += 7;
    }
    while (mask) {
      out[n] = base + LOCMI_NTH[8 * mask];
      n++;
      mask &= mask - 1;
    }
  }
  left = locmi_marked(me, LOCM_READY);
  while (left) {
    slot = LOCMI_NTH[8 * left];
    left &= left - 1;
#if RULES == 0 || RULES == 1
    lane = slot >= 3;
    base = LOCMI_FIRST_ATTACK + 4 * slot;
    mask = (LOCMI_TARGETS[0][(op->marks >> LOCM_OCCUPIED) & 4095] >> 8 * lane) & 255;
#elif RULES == 2
    lane = 0;
    base = LOCMI_FIRST_ATTACK_1 + 7 * slot;
    mask = (LOCMI_TARGETS[1][(op->marks >> LOCM_OCCUPIED) & 4095] >> 8 * lane) & 255;
#else
    lane = one ? 0 : slot >= 3;
    base = (one ? LOCMI_FIRST_ATTACK_1 : LOCMI_FIRST_ATTACK) + width * slot;
    mask = (LOCMI_TARGETS[one][(op->marks >> LOCM_OCCUPIED) & 4095] >> 8 * lane) & 255;
#endif
    while (mask) {
      out[n] = base + LOCMI_NTH[8 * mask];
      n++;
      mask &= mask - 1;
    }
  }
  return n;
}

LOCMI_INLINE int locmi_move_is_legal(const locm_player_t *me, const locm_player_t *op,
#if RULES != 3
    locm_move_t m) {
#else
    locm_move_t m, const int rules) {
#endif
  uint32_t cost_kind;
  int lane;
  if (m.kind == LOCM_PASS) return 1;
  if (m.kind == LOCM_ATTACK) {
    if (!((locmi_marked(me, LOCM_READY) >> m.source) & 1)) return 0;
#if RULES == 0 || RULES == 1
    lane = m.source >= 3;
    return (LOCMI_TARGETS[0][(op->marks >> LOCM_OCCUPIED) & 4095] >> (8 * lane + m.target - (lane &&
#elif RULES == 2
    lane = 0;
    return (LOCMI_TARGETS[1][(op->marks >> LOCM_OCCUPIED) & 4095] >> (8 * lane + m.target - (lane &&
#endif
#if RULES != 3
        m.target ? 3 : 0))) & 1;
#else
    lane = rules == LOCM_RULES_10 ? 0 : m.source >= 3;
    return (LOCMI_TARGETS[rules == LOCM_RULES_10][(op->marks >> LOCM_OCCUPIED) & 4095] >> (8 * lane
        + m.target - (lane && m.target ? 3 : 0))) & 1;
#endif
  }
  if (!((locmi_payable(me) >> 8 * m.source) & 1)) return 0;
  cost_kind = (uint32_t)(me->cost_kinds >> 8 * m.source);
  if (m.kind == LOCM_SUMMON) {
    if (cost_kind & 6) return 0;
#if RULES == 3
    if (rules == LOCM_RULES_10) return locmi_marked(me, LOCM_OCCUPIED) != 63;
#endif
#if RULES != 2
    return !((locmi_marked(me, LOCM_OCCUPIED) >> (3 * m.target + 2)) & 1);
#else
    return locmi_marked(me, LOCM_OCCUPIED) != 63;
#endif
  }
  if (m.target == 0) return cost_kind & LOCM_IS_BLUE;
  if (m.target < 7) {
    return (cost_kind >> 1) & (locmi_marked(me, LOCM_OCCUPIED) >> (m.target - 1)) & 1;
  }
  return (cost_kind >> 2) & (locmi_marked(op, LOCM_OCCUPIED) >> (m.target - 7)) & 1;
}

// Legal actions (section 6). These functions ignore whether somebody has won.
LOCMI_FUNCTION int locm_state_count(const locm_state_t *s, const locm_table_t *t) {
#if RULES != 3
  (void)t;
#endif
  locmi_legal_t l;
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
#if RULES == 3
  if (t->rules == LOCM_RULES_10) return (int)locmi_count_legal(me, op, &l, LOCM_RULES_10);
#endif
#if RULES != 2
  // 1.2 has the same legal actions
#endif
#if RULES == 0 || RULES == 2
  return (int)locmi_count_legal(me, op, &l);
#else
  return (int)locmi_count_legal(me, op, &l, LOCM_RULES_15);
#endif
}

// Lists them in ascending order and returns their number. `actions` holds MAX_ACTIONS + 1.
LOCMI_FUNCTION int locm_state_list(const locm_state_t *s, const locm_table_t *t, uint8_t *actions) {
#if RULES != 3
  (void)t;
#endif
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
#if RULES != 3
  return locmi_list_legal(me, op, actions);
#else
  if (t->rules == LOCM_RULES_10) return locmi_list_legal(me, op, actions, LOCM_RULES_10);
  return locmi_list_legal(me, op, actions, LOCM_RULES_15);
#endif
}

// The k-th, 0 <= k < count, in another fixed order: PASS, attacks, cards in hand order.
LOCMI_FUNCTION int locm_state_kth(const locm_state_t *s, const locm_table_t *t, int k) {
#if RULES != 3
  (void)t;
#endif
  locmi_legal_t l;
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
#if RULES == 0 || RULES == 2
  locmi_count_legal(me, op, &l);
  return locmi_action_of(locmi_kth_legal(me, op, &l, k));
#elif RULES == 3
  if (t->rules == LOCM_RULES_10) {
    locmi_count_legal(me, op, &l, LOCM_RULES_10);
    return locmi_action_of(locmi_kth_legal(me, op, &l, k, LOCM_RULES_10), 1);
  }
#endif
#if RULES == 1 || RULES == 3
  locmi_count_legal(me, op, &l, LOCM_RULES_15);
#endif
#if RULES == 1
  return locmi_action_of(locmi_kth_legal(me, op, &l, k, LOCM_RULES_15));
#elif RULES == 3
  return locmi_action_of(locmi_kth_legal(me, op, &l, k, LOCM_RULES_15), 0);
#endif
}

LOCMI_FUNCTION int locm_state_is_legal(const locm_state_t *s, const locm_table_t *t, int action) {
#if RULES != 3
  (void)t;
#endif
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
#if RULES == 3
  if (t->rules == LOCM_RULES_10) {
    return 0 <= action && action < LOCMI_NUM_ACTIONS_1 && locmi_move_is_legal(me, op,
        LOCMI_MOVES[1][action], LOCM_RULES_10);
  }
#endif
#if RULES != 2
  return 0 <= action && action < LOCMI_NUM_ACTIONS_2 && locmi_move_is_legal(me, op,
#endif
#if RULES == 0 || RULES == 1
      LOCMI_MOVES[0][action]);
#elif RULES == 2
  return 0 <= action && action < LOCMI_NUM_ACTIONS_1 && locmi_move_is_legal(me, op,
      LOCMI_MOVES[1][action]);
#else
      LOCMI_MOVES[0][action], LOCM_RULES_15);
#endif
}

LOCMI_INLINE void locmi_add_to_hand(locm_player_t *p, const locm_table_t *t, uint8_t entry) {
  const locm_card_t *c = &t->cards[entry];
  int h = p->hand_size;
  p->hand |= (uint64_t)entry << 8 * h;
  p->cost_kinds |= (uint64_t)c->cost_kind << 8 * h;
  p->hand_size = h + 1;
}

LOCMI_INLINE void locmi_remove_from_hand(locm_player_t *p, int h) {
  // x moves down by one place from position h on: below it keep x, from there take x shifted.
  uint64_t below = (1ULL << 8 * h) - 1;
  uint64_t hand = p->hand >> 8;
  uint64_t cost_kinds = p->cost_kinds >> 8;
  p->hand = hand ^ ((hand ^ p->hand) & below);
  p->cost_kinds = cost_kinds ^ ((cost_kinds ^ p->cost_kinds) & below);
  p->hand_size--;
}

// Append a creature to a lane that has room.
LOCMI_INLINE void locmi_add_creature(locm_player_t *p, const locm_card_t *c, const int copy,
#if RULES != 3
    int lane, const int shown) {
#endif
#if RULES == 0 || RULES == 1
  int slot = 3 * lane + LOCMI_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 7];
#elif RULES == 2
  int slot = LOCMI_COUNT[locmi_marked(p, LOCM_OCCUPIED)];
#else
    int lane, const int rules, const int shown) {
  int slot = rules == LOCM_RULES_10 ? LOCMI_COUNT[locmi_marked(p,
      LOCM_OCCUPIED)] : 3 * lane + LOCMI_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 7];
#endif
  p->board[slot] = c->creature;
  if (copy) p->board[slot].copy = 1;
  p->marks |= c->marks << slot;
  if (shown) p->order = (p->order << 1) | lane;
}

// Take a creature off the board and close the gap in its lane.
#if RULES != 3
LOCMI_INLINE void locmi_remove_creature(locm_player_t *p, int slot, const int shown) {
#else
LOCMI_INLINE void locmi_remove_creature(locm_player_t *p, int slot, const int rules,
    const int shown) {
  int one = rules == LOCM_RULES_10;
#endif
  int j;
  int lane;
  int i;
  int bit;
  // of its lane; no comparison, no branch
#if RULES == 0 || RULES == 1
  int start = 3 * ((slot + 1) >> 2);
#elif RULES == 3
  int start = one ? 0 : 3 * ((slot + 1) >> 2);
#endif
#if RULES != 2
  locm_creature_t *first = &p->board[start];
#else
  locm_creature_t *first = &p->board[0];
#endif
#if RULES == 3
  int size = one ? LOCM_MAX_BOARD : 3;
#endif
  if (shown) {
    // Find the creature's bit in the order: the i-th bit of its lane from the top.
#if RULES == 0 || RULES == 1
    lane = slot >= 3;
#elif RULES == 2
    lane = 0;
#else
    lane = one ? 0 : slot >= 3;
#endif
    i = slot - 3 * lane;
    bit = LOCMI_COUNT[locmi_marked(p, LOCM_OCCUPIED)];
    while (i >= 0) {
      bit--;
      i -= ((p->order >> bit) & 1) == lane;
    }
    p->order = (p->order >> (bit + 1) << bit) | (p->order & ((1 << bit) - 1));
  }
#if RULES == 0 || RULES == 1
  p->marks = (p->marks & LOCMI_KEEP[0][slot]) | ((p->marks >> 1) & LOCMI_CLOSE[0][slot]);
#elif RULES == 3
  p->marks = (p->marks & LOCMI_KEEP[one][slot]) | ((p->marks >> 1) & LOCMI_CLOSE[one][slot]);
#endif
#if RULES != 2
  slot -= start;
#endif
#if RULES == 0 || RULES == 1
  for (j = 0; j < 2; j++) {
#elif RULES == 2
  p->marks = (p->marks & LOCMI_KEEP[1][slot]) | ((p->marks >> 1) & LOCMI_CLOSE[1][slot]);
  for (j = 0; j < 5; j++) {
#else
  for (j = 0; j < size - 1; j++) {
#endif
    // no branch: the slot is hard to predict
    first[j] = first[j + (j >= slot)];
  }
#if RULES == 0 || RULES == 1
  memset(&first[2], 0, sizeof(locm_creature_t));
#elif RULES == 2
  memset(&first[5], 0, sizeof(locm_creature_t));
#else
  memset(&first[size - 1], 0, sizeof(locm_creature_t));
#endif
}

// Change health by an action; losses give cards (section 5).
#if RULES != 3
LOCMI_INLINE void locmi_change_health(locm_player_t *p, int change) {
#else
LOCMI_INLINE void locmi_change_health(locm_player_t *p, int change, const int rules) {
#endif
#if RULES != 0
  uint32_t hit;
#endif
  p->health += change;
#if RULES == 0
  // only negative changes
  p->lost -= change & (change >> 31);
#elif RULES == 1 || RULES == 2
  if (change < 0) {
#else
  if (rules == LOCM_RULES_15) {
    // only negative changes
    p->lost -= change & (change >> 31);
  }
  else if (change < 0) {
#endif
#if RULES != 0
    hit = p->runes & LOCMI_RUNES_HIT[p->health < 0 ? 0 : p->health > 26 ? 26 : p->health];
    p->runes ^= hit;
    p->next_draw += LOCMI_COUNT[hit];
  }
#endif
}

// Move the top n cards of the deck to the hand; the deck and the hand must allow it.
LOCMI_INLINE void locmi_take_cards(locm_state_t *s, const locm_table_t *t, int who,
    locm_player_t *p, int n) {
  uint8_t *top = &s->deck[who][LOCM_MAX_DECK - p->deck_left];
  // Eight cards as one word, of which n are drawn. The costs of two are looked up in any case,
  // as the number of draws is hard to predict. The word may reach beyond the deck, but
  // not beyond the state.
  uint64_t cards;
  uint64_t cost_kinds;
  uint64_t drawn = LOCMI_LOW_BYTES[n];
  int h;
  memcpy(&cards, top, 8);
  cards = locmi_low_first_(cards);
  cost_kinds = t->cards[cards & 255].cost_kind | ((uint64_t)t->cards[(cards >> 8) & 255].cost_kind
      << 8);
  for (int i1_ = 2; i1_ < n; i1_++) {
    h = i1_;
    cost_kinds |= (uint64_t)t->cards[(cards >> 8 * h) & 255].cost_kind << 8 * h;
  }
  // the hand may be full if n is 0
  h = 8 * p->hand_size & 63;
  p->hand |= (cards & drawn) << h;
  p->cost_kinds |= (cost_kinds & drawn) << h;
  cards = locmi_low_first_(cards & ~drawn);
  memcpy(top, &cards, 8);
  p->hand_size += n;
  p->deck_left -= n;
}

// Draw at the start of a turn (section 5) for player `who`, which is `p`; set no winner.
LOCMI_INLINE void locmi_draw(locm_state_t *s, const locm_table_t *t, int who, locm_player_t *p,
#if RULES != 3
    int n) {
#else
    int n, const int rules) {
#endif
  int drawn;
#if RULES != 0
  int rune;
#endif
  int late = locmi_unlikely_(s->turn >= 100);
#if RULES == 0
  if (late) p->health -= 10;
  drawn = LOCM_MAX_HAND - p->hand_size;
  if (drawn > n) drawn = n;
  if (locmi_unlikely_(drawn > p->deck_left)) drawn = p->deck_left;
  n -= drawn;
  locmi_take_cards(s, t, who, p, drawn);
  // the deck is empty if n is not 0
  p->health -= 10 * n * (p->hand_size < LOCM_MAX_HAND);
  return;
#elif RULES == 3
  if (rules == LOCM_RULES_15) {
    if (late) p->health -= 10;
    drawn = LOCM_MAX_HAND - p->hand_size;
    if (drawn > n) drawn = n;
    if (locmi_unlikely_(drawn > p->deck_left)) drawn = p->deck_left;
    n -= drawn;
    locmi_take_cards(s, t, who, p, drawn);
    // the deck is empty if n is not 0
    p->health -= 10 * n * (p->hand_size < LOCM_MAX_HAND);
    return;
  }
#endif
#if RULES != 0
  if (!late && n <= p->deck_left) {
    drawn = LOCM_MAX_HAND - p->hand_size;
    locmi_take_cards(s, t, who, p, n < drawn ? n : drawn);
    return;
  }
  while (n > 0) {
    n--;
    if (late || p->deck_left == 0) {
      if (p->runes == 0) {
        p->health = 0;
        return;
      }
      rune = 4;
      while (!((p->runes >> rune) & 1)) rune--;
      p->runes ^= 1 << rune;
      p->health = 5 * (rune + 1);
    }
    else if (p->hand_size == LOCM_MAX_HAND) return;
    else locmi_take_cards(s, t, who, p, 1);
  }
#endif
}

// Set and return the winner; the player to move wins if both are dead (section 5).
LOCMI_INLINE int locmi_check_win(locm_player_t *me, locm_player_t *op) {
  if (locmi_likely_(((me->health - 1) | (op->health - 1)) >= 0)) return 0;
  if (op->health <= 0) me->won = 1;
  else op->won = 1;
  return 1;
}

// Apply the health changes and draws of a card `times` times, each as one change.
LOCMI_INLINE int locmi_effects(locm_player_t *me, locm_player_t *op, const locm_card_t *c,
#if RULES != 3
    int times) {
#else
    int times, const int rules) {
#endif
  me->next_draw += times * c->draw;
#if RULES != 3
  locmi_change_health(me, times * c->my_health);
  locmi_change_health(op, times * c->opponent_health);
#else
  locmi_change_health(me, times * c->my_health, rules);
  locmi_change_health(op, times * c->opponent_health, rules);
#endif
  return locmi_check_win(me, op);
}

LOCMI_INLINE int locmi_summon(locm_player_t *me, locm_player_t *op, const locm_table_t *t, int h,
#if RULES != 3
    int lane, const int shown) {
#else
    int lane, const int rules, const int shown) {
#endif
  const locm_card_t *c = &t->cards[(me->hand >> 8 * h) & 255];
  int times = 1;
  locmi_remove_from_hand(me, h);
  me->mana -= c->cost;
#if RULES != 3
  locmi_add_creature(me, c, 0, lane, shown);
#endif
#if RULES == 0
  lane ^= c->area == LOCM_AREA_LANE2;
  if ((c->area != LOCM_AREA_TARGET) & !((locmi_marked(me, LOCM_OCCUPIED) >> (3 * lane + 2)) & 1)) {
    locmi_add_creature(me, c, 1, lane, shown);
    times = 2;
#elif RULES == 3
  locmi_add_creature(me, c, 0, lane, rules, shown);
  if (rules == LOCM_RULES_15) {
    lane ^= c->area == LOCM_AREA_LANE2;
    if ((c->area != LOCM_AREA_TARGET) & !((locmi_marked(me,
        LOCM_OCCUPIED) >> (3 * lane + 2)) & 1)) {
      locmi_add_creature(me, c, 1, lane, rules, shown);
      times = 2;
    }
#endif
#if RULES == 0 || RULES == 3
  }
#endif
#if RULES != 3
  return locmi_effects(me, op, c, times);
#else
  return locmi_effects(me, op, c, times, rules);
#endif
}

#if RULES == 0
LOCMI_INLINE int locmi_attack_player(locm_player_t *me, locm_player_t *op, int slot) {
#else
LOCMI_INLINE int locmi_attack_player(locm_player_t *me, locm_player_t *op, int slot,
#endif
#if RULES == 1 || RULES == 2
    const int shown) {
#elif RULES == 3
    const int rules, const int shown) {
#endif
  locm_creature_t *x = &me->board[slot];
#if RULES == 1 || RULES == 2
  if (shown) x->forgotten = 1;
#elif RULES == 3
  if (shown && rules != LOCM_RULES_15) x->forgotten = 1;
#endif
  me->marks = (me->marks & ~(1U << slot)) | (1U << LOCM_SPENT << slot);
#if RULES != 3
  locmi_change_health(op, -x->attack);
#else
  locmi_change_health(op, -x->attack, rules);
#endif
  // Drain
#if RULES != 3
  locmi_change_health(me, x->attack * ((x->keywords >> 2) & 1));
#else
  locmi_change_health(me, x->attack * ((x->keywords >> 2) & 1), rules);
#endif
  return locmi_check_win(me, op);
}

// Clip a number to a creature's field. Only constructed positions and creatures with a negative
// printed attack, which gain defense in every fight, can reach the bound.
LOCMI_INLINE int16_t locmi_short(int value) {
  return value < 32767 ? value : 32767;
}

LOCMI_INLINE int locmi_attack_creature(locm_player_t *me, locm_player_t *op, int slot, int target,
#if RULES != 3
    const int shown) {
#else
    const int rules, const int shown) {
#endif
  locm_creature_t *x = &me->board[slot];
  locm_creature_t *y = &op->board[target];
  int attack = x->attack;
  int dealt = y->keywords & LOCM_WARD ? 0 : attack;
  int received = x->keywords & LOCM_WARD ? 0 : y->attack;
  int x_left = x->defense - received;
  int y_left = y->defense - dealt;
  uint32_t keywords = x->keywords;
  int x_dies = x_left <= 0 || (y->keywords & LOCM_LETHAL && received > 0);
  int y_dies = y_left <= 0 || (keywords & LOCM_LETHAL && dealt > 0);
#if RULES != 3
  if (x_dies) locmi_remove_creature(me, slot, shown);
#else
  if (x_dies) locmi_remove_creature(me, slot, rules, shown);
#endif
  else {
    me->marks = (me->marks & ~(1U << slot)) | (1U << LOCM_SPENT << slot);
    x->defense = locmi_short(x_left);
    if (y->attack > 0) x->keywords &= ~LOCM_WARD;
#if RULES == 1 || RULES == 2
    if (shown) x->forgotten = 1;
#elif RULES == 3
    if (shown && rules != LOCM_RULES_15) x->forgotten = 1;
#endif
  }
#if RULES != 3
  if (y_dies) locmi_remove_creature(op, target, shown);
#else
  if (y_dies) locmi_remove_creature(op, target, rules, shown);
#endif
  else {
    y->defense = locmi_short(y_left);
    if (attack > 0) y->keywords &= ~LOCM_WARD;
#if RULES == 1 || RULES == 2
    if (shown) y->forgotten = 1;
#elif RULES == 3
    if (shown && rules != LOCM_RULES_15) y->forgotten = 1;
#endif
  }
  // Drain
  me->health += attack * ((keywords >> 2) & (dealt > 0));
  if (keywords & LOCM_BREAKTHROUGH && y_left < 0) {
#if RULES != 3
    locmi_change_health(op, y_left);
#else
    locmi_change_health(op, y_left, rules);
#endif
    return locmi_check_win(me, op);
  }
  return 0;
}

// Apply an item to one creature of `p`.
#if RULES != 3
LOCMI_INLINE void locmi_use_on(locm_player_t *p, const locm_card_t *c, int slot, const int shown) {
#else
LOCMI_INLINE void locmi_use_on(locm_player_t *p, const locm_card_t *c, int slot, const int rules,
    const int shown) {
#endif
  locm_creature_t *x = &p->board[slot];
  uint32_t keywords = c->type == LOCM_GREEN ? x->keywords | c->keywords : x->keywords &
      ~(uint32_t)c->keywords;
  int attack = x->attack + c->attack;
  int defense = x->defense;
  if (c->defense < 0 && keywords & LOCM_WARD) keywords ^= LOCM_WARD;
  else defense += c->defense;
  if (defense <= 0) {
    // 1.x: a green item that would kill leaves its target as it was.
#if RULES == 0
    locmi_remove_creature(p, slot, shown);
#elif RULES == 1 || RULES == 2
    if (c->type != LOCM_GREEN) locmi_remove_creature(p, slot, shown);
#else
    if (rules == LOCM_RULES_15 || c->type != LOCM_GREEN) {
      locmi_remove_creature(p, slot, rules, shown);
    }
#endif
    return;
  }
  x->attack = attack > 0 ? locmi_short(attack) : 0;
  x->defense = locmi_short(defense);
  x->keywords = keywords;
  p->marks = (p->marks & ~(1U << LOCM_GUARDED << slot)) | (((keywords >> 3) & 1) << LOCM_GUARDED <<
      slot);
  // it is ready unless it has attacked
  if (c->type == LOCM_GREEN && c->keywords & LOCM_CHARGE) {
    p->marks = (p->marks & ~(1U << slot)) | (((~p->marks >> LOCM_SPENT >> slot) & 1) << slot);
  }
#if RULES == 1 || RULES == 2
  if (shown) x->forgotten = 1;
#elif RULES == 3
  if (shown && rules != LOCM_RULES_15) x->forgotten = 1;
#endif
}

// `op if other else me`, without a branch.
LOCMI_INLINE locm_player_t *locmi_chosen(locm_player_t *me, locm_player_t *op, int other) {
  return (locm_player_t *)((uint64_t)me ^ (((uint64_t)me ^ (uint64_t)op) & -(uint64_t)other));
}

LOCMI_INLINE int locmi_use(locm_player_t *me, locm_player_t *op, const locm_table_t *t, int h,
#if RULES != 3
    int target, const int shown) {
#else
    int target, const int rules, const int shown) {
#endif
  const locm_card_t *c = &t->cards[(uint8_t)(me->hand >> 8 * h)];
  locm_player_t *p;
  int slot;
#if RULES == 0 || RULES == 3
  int times;
  int i;
  uint32_t hit;
#endif
  locmi_remove_from_hand(me, h);
  me->mana -= c->cost;
  // blue on the player: one change, no area
  if (target == 0) {
#if RULES != 3
    locmi_change_health(op, c->defense + c->opponent_health);
    locmi_change_health(me, c->my_health);
#else
    locmi_change_health(op, c->defense + c->opponent_health, rules);
    locmi_change_health(me, c->my_health, rules);
#endif
    me->next_draw += c->draw;
    return locmi_check_win(me, op);
  }
  p = locmi_chosen(me, op, target >= 7);
  slot = target - 1 - 6 * (target >= 7);
#if RULES == 3
  if (rules != LOCM_RULES_15) {
    locmi_use_on(p, c, slot, rules, shown);
    return locmi_effects(me, op, c, 1, rules);
  }
#endif
#if RULES == 0 || RULES == 3
  hit = locmi_marked(p, LOCM_OCCUPIED) & LOCMI_REACH[c->area][slot];
  times = LOCMI_COUNT[hit];
  // from the end: a removal moves those behind it
#endif
#if RULES == 0
  for (i = times - 1; i > -1; i--) locmi_use_on(p, c, LOCMI_NTH[8 * hit + i], shown);
  return locmi_effects(me, op, c, times);
#elif RULES == 1 || RULES == 2
  locmi_use_on(p, c, slot, shown);
  return locmi_effects(me, op, c, 1);
#else
  for (i = times - 1; i > -1; i--) locmi_use_on(p, c, LOCMI_NTH[8 * hit + i], rules, shown);
  return locmi_effects(me, op, c, times, rules);
#endif
}

// Change the turn (section 4): `op` has just played, `me` is next.
LOCMI_INLINE int locmi_end_turn(locm_state_t *s, const locm_table_t *t, locm_player_t *op,
#if RULES != 3
    locm_player_t *me, const int shown) {
#else
    locm_player_t *me, const int rules, const int shown) {
#endif
  int n;
  op->marks &= 262080;
  if (shown) op->shown_draw = op->next_draw + op->lost / 5;
  s->turn++;
  me->max_mana += me->max_mana < LOCM_MAX_MANA + me->bonus;
  n = me->bonus & (me->mana == 0);
  me->bonus -= n;
  me->max_mana -= n;
  me->mana = me->max_mana;
  me->marks |= locmi_marked(me, LOCM_OCCUPIED);
  n = me->next_draw + (int)((uint32_t)me->lost / 5);
#if RULES != 3
  locmi_draw(s, t, s->turn & 1, me, n);
#else
  locmi_draw(s, t, s->turn & 1, me, n, rules);
#endif
  if (shown) me->shown_draw = n;
  me->next_draw = 1;
  me->lost = 0;
  return locmi_check_win(me, op);
}

// Apply a decoded action other than PASS; returns whether the game has ended.
LOCMI_INLINE int locmi_play(const locm_table_t *t, locm_player_t *me, locm_player_t *op,
#if RULES != 3
    locm_move_t m, const int shown) {
#else
    locm_move_t m, const int rules, const int shown) {
#endif
  if (m.kind == LOCM_ATTACK) {
#if RULES == 0
    if (m.target == 0) return locmi_attack_player(me, op, m.source);
#elif RULES == 1 || RULES == 2
    if (m.target == 0) return locmi_attack_player(me, op, m.source, shown);
#endif
#if RULES != 3
    return locmi_attack_creature(me, op, m.source, m.target - 1, shown);
#else
    if (m.target == 0) return locmi_attack_player(me, op, m.source, rules, shown);
    return locmi_attack_creature(me, op, m.source, m.target - 1, rules, shown);
#endif
  }
#if RULES != 3
  if (m.kind == LOCM_SUMMON) return locmi_summon(me, op, t, m.source, m.target, shown);
  return locmi_use(me, op, t, m.source, m.target, shown);
#else
  if (m.kind == LOCM_SUMMON) return locmi_summon(me, op, t, m.source, m.target, rules, shown);
  return locmi_use(me, op, t, m.source, m.target, rules, shown);
#endif
}

#if RULES != 3
LOCMI_INLINE void locmi_apply_with(locm_state_t *s, const locm_table_t *t, int action) {
#else
LOCMI_INLINE void locmi_apply_with(locm_state_t *s, const locm_table_t *t, int action,
    const int rules) {
#endif
  locm_player_t *me = &s->p[s->turn & 1];
  locm_player_t *op = &s->p[~s->turn & 1];
#if RULES != 3
  if (action == LOCM_PASS) locmi_end_turn(s, t, me, op, 1);
#endif
#if RULES == 0 || RULES == 1
  else locmi_play(t, me, op, LOCMI_MOVES[0][action], 1);
#elif RULES == 2
  else locmi_play(t, me, op, LOCMI_MOVES[1][action], 1);
#else
  if (action == LOCM_PASS) locmi_end_turn(s, t, me, op, rules, 1);
  else locmi_play(t, me, op, LOCMI_MOVES[rules == LOCM_RULES_10][action], rules, 1);
#endif
}

// Effects of actions (sections 4, 5 and 7).
LOCMI_FUNCTION void locm_state_apply(locm_state_t *s, const locm_table_t *t, int action) {
#if RULES != 3
  locmi_apply_with(s, t, action);
}

LOCMI_FUNCTION void locmi_state_end_turn(locm_state_t *s, const locm_table_t *t) {
  locm_state_apply(s, t, LOCM_PASS);
#else
  if (t->rules == LOCM_RULES_15) locmi_apply_with(s, t, action, LOCM_RULES_15);
  else if (t->rules == LOCM_RULES_12) locmi_apply_with(s, t, action, LOCM_RULES_12);
  else locmi_apply_with(s, t, action, LOCM_RULES_10);
#endif
}

// A bijection on 64 bits in which each output bit depends on all input bits.
LOCMI_INLINE uint64_t locmi_mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32);
}

// Uniformly random playouts (section 14). Game i of a seed has its own stream of random numbers.
LOCMI_FUNCTION uint64_t locm_stream_start(uint64_t seed, uint64_t i) {
  return locmi_mix(locmi_mix(seed + 0x9E3779B97F4A7C15ULL) ^ i);
}

// Uniform in 0..n-1, n <= 155: the upper half of a 32-bit random number times n. Each outcome
// gets floor or ceil of 2^32 / n of the numbers, so no probability is off by more than 2^-32.
// The generator is Knuth's 64-bit congruential one, of which the result takes the best bits.
LOCMI_INLINE uint64_t locmi_below(uint64_t *stream, uint64_t n) {
  *stream = *stream * 0x5851F42D4C957F2DULL + 0x14057B7EF767814FULL;
  return (*stream >> 32) * n >> 32;
}

LOCMI_FUNCTION uint32_t locm_stream_below(uint64_t *stream, uint32_t n) {
  return (uint32_t)locmi_below(stream, n);
}

// of a playout that has ended or stopped
// The winner; of an unfinished game, the player with more health (1 if equal).
LOCMI_FUNCTION int locmi_playout_winner(const locm_state_t *s) {
  return locm_state_winner(s) >= 0 ? locm_state_winner(s) : s->p[0].health <= s->p[1].health;
}

// Play uniformly random legal actions to the end; returns the winner.
LOCMI_INLINE int locmi_rollout_with(locm_state_t *s, const locm_table_t *t, uint64_t stream,
#if RULES != 3
    uint64_t *applied) {
#else
    uint64_t *applied, const int rules) {
#endif
  locmi_legal_t l;
  locm_player_t *me = &s->p[s->turn & 1];
  locm_player_t *op = &s->p[~s->turn & 1];
  uint64_t k;
  uint64_t actions = 0;
  int over = 0;
  int last = s->turn + LOCM_PLAYOUT_TURNS;
  while (!over) {
    actions++;
    locmi_reload_();
#if RULES == 0 || RULES == 2
    k = locmi_below(&stream, locmi_count_legal(me, op, &l));
#elif RULES == 1
    k = locmi_below(&stream, locmi_count_legal(me, op, &l, 1));
#else
    k = locmi_below(&stream, locmi_count_legal(me, op, &l, rules));
#endif
    if (k == 0) {
#if RULES != 3
      over = locmi_end_turn(s, t, me, op, 0) | (s->turn == last);
#else
      over = locmi_end_turn(s, t, me, op, rules, 0) | (s->turn == last);
#endif
      locm_player_t *x1_ = op;
      locm_player_t *x2_ = me;
      me = x1_;
      op = x2_;
    }
#if RULES == 0 || RULES == 2
    else if (k <= l.attacks) over = locmi_play(t, me, op, locmi_kth_attack(me, op, (int)k - 1), 0);
#else
    else if (k <= l.attacks) {
#endif
#if RULES == 1
      over = locmi_play(t, me, op, locmi_kth_attack(me, op, (int)k - 1, 1), 0);
#elif RULES == 3
      over = locmi_play(t, me, op, locmi_kth_attack(me, op, (int)k - 1, rules), rules, 0);
#endif
#if RULES == 1 || RULES == 3
    }
#endif
    else {
      k -= 1 + l.attacks;
#if RULES == 0
      over = locmi_play(t, me, op, locmi_kth_play(me, op, l.plays, k), 0);
#elif RULES == 1
      over = locmi_play(t, me, op, locmi_kth_play(me, op, l.plays, k, 1), 0);
#elif RULES == 2
      over = locmi_play(t, me, op, locmi_kth_play(me, l.plays, k), 0);
#else
      over = locmi_play(t, me, op, locmi_kth_play(me, op, l.plays, k, rules), rules, 0);
#endif
    }
  }
  *applied += actions;
  return locmi_playout_winner(s);
}

#if RULES == 0 || RULES == 3
LOCMI_FUNCTION int locmi_rollout_15(locm_state_t *s, const locm_table_t *t, uint64_t stream,
#endif
#if RULES == 3
    uint64_t *n) {
  return locmi_rollout_with(s, t, stream, n, LOCM_RULES_15);
}

#endif
#if RULES == 1 || RULES == 3
LOCMI_FUNCTION int locmi_rollout_12(locm_state_t *s, const locm_table_t *t, uint64_t stream,
#endif
#if RULES == 3
    uint64_t *n) {
  return locmi_rollout_with(s, t, stream, n, LOCM_RULES_12);
}

#endif
#if RULES == 2 || RULES == 3
LOCMI_FUNCTION int locmi_rollout_10(locm_state_t *s, const locm_table_t *t, uint64_t stream,
#endif
    uint64_t *n) {
#if RULES != 3
  return locmi_rollout_with(s, t, stream, n);
#else
  return locmi_rollout_with(s, t, stream, n, LOCM_RULES_10);
#endif
}

// Plays one to its end, overwriting `s`; returns the winner and adds its actions to `applied`.
// Play out `s` to the end, overwriting it; count the actions, PASS included.
LOCMI_FUNCTION int locm_state_rollout(locm_state_t *s, const locm_table_t *t, uint64_t stream,
    uint64_t *applied) {
  if (locm_state_winner(s) >= 0) return locm_state_winner(s);
#if RULES == 0
  return locmi_rollout_15(s, t, stream, applied);
#elif RULES == 1
  return locmi_rollout_12(s, t, stream, applied);
#elif RULES == 2
  return locmi_rollout_10(s, t, stream, applied);
#else
  return LOCMI_ROLLOUT[t->rules](s, t, stream, applied);
#endif
}

#if RULES != 3
LOCMI_INLINE void locmi_play_turn_with(locm_state_t *s, const locm_table_t *t, uint64_t *stream) {
#else
LOCMI_INLINE void locmi_play_turn_with(locm_state_t *s, const locm_table_t *t, uint64_t *stream,
    const int rules) {
#endif
  locmi_legal_t l;
  locm_player_t *me = &s->p[s->turn & 1];
  locm_player_t *op = &s->p[~s->turn & 1];
  int k;
  for (;;) {
#if RULES == 0 || RULES == 2
    k = (int)locmi_below(stream, locmi_count_legal(me, op, &l));
    if (k == 0 || locmi_play(t, me, op, locmi_kth_legal(me, op, &l, k), 0)) return;
#elif RULES == 1
    k = (int)locmi_below(stream, locmi_count_legal(me, op, &l, 1));
    if (k == 0 || locmi_play(t, me, op, locmi_kth_legal(me, op, &l, k, 1), 0)) return;
#else
    k = (int)locmi_below(stream, locmi_count_legal(me, op, &l, rules));
    if (k == 0 || locmi_play(t, me, op, locmi_kth_legal(me, op, &l, k, rules), rules, 0)) return;
#endif
  }
}

// Set the summon order to that of the slots; without one that fits the board, a removal would
// search for its creature forever.
#if RULES != 3
LOCMI_INLINE void locmi_set_order(locm_player_t *p) {
#else
LOCMI_INLINE void locmi_set_order(locm_player_t *p, const int rules) {
#endif
  int n = LOCMI_COUNT[locmi_marked(p, LOCM_OCCUPIED)];
#if RULES == 0 || RULES == 1
  int right = LOCMI_COUNT[(p->marks >> 9) & 7];
#elif RULES == 3
  int right = rules == LOCM_RULES_10 ? 0 : LOCMI_COUNT[(p->marks >> 9) & 7];
#endif
#if RULES != 2
  p->order = (1 << n) | ((1 << right) - 1);
#else
  p->order = 1 << n;
#endif
}

// Plays the rest of a turn of an unfinished game until PASS is drawn, which is not applied. The
// summon order over both lanes, which only the protocol shows, is lost: it is lane by lane then.
// Play the rest of a turn at random until PASS is drawn, which is not applied.
LOCMI_FUNCTION void locm_state_play_turn(locm_state_t *s, const locm_table_t *t, uint64_t *stream) {
#if RULES != 3
  locmi_play_turn_with(s, t, stream);
  locmi_set_order(&s->p[0]);
  locmi_set_order(&s->p[1]);
#else
  if (t->rules == LOCM_RULES_15) locmi_play_turn_with(s, t, stream, LOCM_RULES_15);
  else if (t->rules == LOCM_RULES_12) locmi_play_turn_with(s, t, stream, LOCM_RULES_12);
  else locmi_play_turn_with(s, t, stream, LOCM_RULES_10);
  locmi_set_order(&s->p[0], t->rules);
  locmi_set_order(&s->p[1], t->rules);
#endif
}

// Count the sequences of `depth` legal actions; a finished game has none.
LOCMI_FUNCTION uint64_t locm_state_perft(const locm_state_t *s, const locm_table_t *t, int depth) {
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

#if RULES != 3
LOCMI_INLINE int core_locmi_cut(int x, int most) {
#else
LOCMI_INLINE int locmi_cut(int x, int most) {
#endif
  return x > most ? most : x < -most ? -most : x;
}

LOCMI_FUNCTION const char *locmi_player_fault(const locm_state_t *s, const locm_table_t *t,
    int who) {
  const locm_player_t *p = &s->p[who];
  const locm_creature_t *x;
#if RULES == 3
  int one = t->rules == LOCM_RULES_10;
#endif
  uint32_t own = locmi_marked(p, LOCM_OCCUPIED);
  uint64_t cost_kinds = 0;
  int i;
  int n = LOCMI_COUNT[own];
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
      cost_kinds |= (uint64_t)t->cards[(p->hand >> 8 * i) & 255].cost_kind << 8 * i;
    }
    else if ((p->hand >> 8 * i) & 255) return "card beyond the end of the hand";
  }
  if (cost_kinds != p->cost_kinds) return "costs or kinds are not those of the hand";
  if (p->marks >> 24) return "mark outside the board";
#if RULES == 0 || RULES == 1
  if (own & 7 & ((own & 7) + 1) || (own >> 3) & ((own >> 3) + 1)) return "gap in a lane";
#elif RULES == 2
  if (own & (own + 1)) return "gap on the board";
#else
  if (one) {
    if (own & (own + 1)) return "gap on the board";
  }
  else if (own & 7 & ((own & 7) + 1) || (own >> 3) & ((own >> 3) + 1)) return "gap in a lane";
#endif
  if ((locmi_marked(p, LOCM_READY) | locmi_marked(p, LOCM_GUARDED) | locmi_marked(p,
      LOCM_SPENT)) & ~own) {
    return "mark on an empty slot";
  }
  for (i = 0; i < LOCM_MAX_BOARD; i++) {
    x = &p->board[i];
    if ((own >> i) & 1) {
      if (x->card >= t->n_cards || t->cards[x->card].type != LOCM_CREATURE) {
        return "creature whose card is not a creature";
      }
#if RULES != 3
      if (core_locmi_cut(x->attack, LOCM_MAX_STAT) != x->attack || core_locmi_cut(x->defense,
#else
      if (locmi_cut(x->attack, LOCM_MAX_STAT) != x->attack || locmi_cut(x->defense,
#endif
          LOCM_MAX_STAT) != x->defense) {
        return "attack or defense out of range";
      }
      if (x->keywords > 63 || ((x->keywords & LOCM_GUARD) != 0) != ((locmi_marked(p,
          LOCM_GUARDED) >> i) & 1)) {
        return "guard mark and keyword differ";
      }
      if (x->copy > 1 || x->forgotten > 1) return "creature flag that is neither 0 nor 1";
#if RULES == 0
      if (x->forgotten) return "forgotten effects in 1.5";
#elif RULES == 3
      if (x->forgotten && t->rules == LOCM_RULES_15) return "forgotten effects in 1.5";
#endif
    }
    else if (x->attack || x->defense || x->card || x->keywords || x->copy || x->forgotten) {
      return "empty slot that is not zero";
    }
  }
  order = p->order;
  if (order >> n != 1) return "board order of another length";
  for (i = 0; i < n; i++) {
    // leaves out those of lane 1; compared below
    own = own - ((order >> i) & 1);
  }
#if RULES == 0 || RULES == 1
  if (locmi_marked(p, LOCM_OCCUPIED) - own != LOCMI_COUNT[locmi_marked(p, LOCM_OCCUPIED) >> 3]) {
#elif RULES == 3
  if (!one && locmi_marked(p, LOCM_OCCUPIED) - own != LOCMI_COUNT[locmi_marked(p,
      LOCM_OCCUPIED) >> 3]) {
#endif
#if RULES != 2
    return "board order of other lanes";
  }
#else
  if (order != 1 << n) return "board order of other lanes";
#endif
#if RULES == 3
  if (one && order != 1 << n) return "board order of other lanes";
#endif
  if (p->mana > 13 || p->max_mana > 13 || p->bonus > 1) return "mana out of range";
  if (p->_pad) return "padding that is not zero";
  if (p->lost < 0 || p->next_draw < 0 || p->shown_draw < 0) return "negative counter";
  // No game comes near these bounds; within them no sum at the end of a turn overflows 32 bits.
  if (!(-1000000000 <= p->health && p->health <= LOCMI_MAX_HEALTH)) return "health out of range";
  if (p->lost > LOCMI_MAX_LOST || p->shown_draw > LOCMI_MAX_DRAW || p->next_draw > LOCMI_MAX_DRAW -
      p->lost / 5) {
    return "counter out of range";
  }
#if RULES == 0
  if (p->runes > 31 || p->runes) return "runes and lost health of another rule set";
#elif RULES == 1 || RULES == 2
  if (p->runes > 31 || p->lost) return "runes and lost health of another rule set";
#else
  if (p->runes > 31 || (p->runes && t->rules == LOCM_RULES_15) || (p->lost && t->rules !=
      LOCM_RULES_15)) {
    return "runes and lost health of another rule set";
  }
#endif
  if (p->won > 1) return "won is neither 0 nor 1";
  return NULL;
}

// Compare cards in the order of `Card.to_row`: below, at or above zero.
LOCMI_FUNCTION int locmi_compare_printed(const locm_card_t *a, const locm_card_t *b) {
  int first = a->keywords ^ b->keywords;
  if (a->base_id != b->base_id) return (int)a->base_id - b->base_id;
  if (a->type != b->type) return (int)a->type - b->type;
  if (a->cost != b->cost) return (int)a->cost - b->cost;
  if (a->attack != b->attack) return (int)a->attack - b->attack;
  if (a->defense != b->defense) return (int)a->defense - b->defense;
  // the first letter that only one card has
  if (first) return a->keywords & first & -first ? 1 : -1;
  if (a->my_health != b->my_health) return (int)a->my_health - b->my_health;
  if (a->opponent_health != b->opponent_health) return (int)a->opponent_health - b->opponent_health;
  if (a->draw != b->draw) return (int)a->draw - b->draw;
  return (int)a->area - b->area;
}

// Why the first n entries of a table, or the instances of a position, cannot be in one game; NULL if
// they can. Part of `state_fault`.
// Return why the first n entries of a table cannot be in one game, or NULL.
LOCMI_FUNCTION const char *locmi_cards_fault(const locm_table_t *t, int n) {
  // 1 + the first entry of a base id, which is hashed
  uint16_t first[512];
  int i;
  int place;
  memset(first, 0, sizeof(first));
  for (i = 0; i < n; i++) {
    place = (t->cards[i].base_id * 40503 >> 4) & 511;
    while (first[place] && t->cards[first[place] - 1].base_id != t->cards[i].base_id) {
      place = (place + 1) & 511;
    }
    if (first[place] == 0) first[place] = (uint16_t)(i + 1);
    else if (locmi_compare_printed(&t->cards[first[place] - 1], &t->cards[i])) {
      return "two different cards have the same base id";
    }
  }
  return NULL;
}

LOCMI_FUNCTION const char *locmi_table_fault(const locm_table_t *t) {
  const locm_card_t *c;
  int i;
#if RULES == 3
  if (t->rules < 0 || t->rules > LOCM_RULES_10) return "unknown rules";
#endif
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
  return locmi_cards_fault(t, t->n_cards);
}

// Note the id of what is in a place; return whether it was taken. Pool cards have none.
LOCMI_INLINE int locmi_take_id(uint64_t *used, const locm_table_t *t, int entry, int copy) {
  int id = t->cards[entry].id + copy;
  int twice;
  if (entry >= t->n_instances || t->cards[entry].id == LOCM_POOL_ID) return 0;
  twice = (used[id >> 6] >> (id & 63)) & 1;
  used[id >> 6] |= (uint64_t)1 << (id & 63);
  return twice;
}

// Return whether an area copy of a card to come would get the id of another instance.
#if RULES == 0 || RULES == 3
LOCMI_INLINE int locmi_will_clash(const uint64_t *used, const locm_table_t *t, int entry) {
  int id = t->cards[entry].id + 1;
#endif
#if RULES == 0
  return entry < t->n_instances && id < LOCM_POOL_ID && t->cards[entry].area != LOCM_AREA_TARGET &&
      t->cards[entry].type == LOCM_CREATURE && (used[id >> 6] >> (id & 63)) & 1;
#elif RULES == 1 || RULES == 2
LOCMI_INLINE int locmi_will_clash(void) {
  return 0;
#else
  return entry < t->n_instances && t->rules == LOCM_RULES_15 && id < LOCM_POOL_ID &&
      t->cards[entry].area != LOCM_AREA_TARGET && t->cards[entry].type == LOCM_CREATURE && (used[id
      >> 6] >> (id & 63)) & 1;
#endif
}

// Return why the instances of a position cannot be in one game, or NULL (section 1).
LOCMI_FUNCTION const char *locmi_ids_fault(const locm_state_t *s, const locm_table_t *t) {
  uint64_t used[4];
  const locm_player_t *p;
  int who;
  int i;
  int twice = 0;
  int clash = 0;
  memset(used, 0, sizeof(used));
  for (who = 0; who < 2; who++) {
    p = &s->p[who];
    int n1_ = p->hand_size;
    for (i = 0; i < n1_; i++) twice |= locmi_take_id(used, t, (p->hand >> 8 * i) & 255, 0);
    for (i = LOCM_MAX_DECK - p->deck_left; i < LOCM_MAX_DECK; i++) {
      twice |= locmi_take_id(used, t, s->deck[who][i], 0);
    }
    for (i = 0; i < LOCM_MAX_BOARD; i++) {
      if ((locmi_marked(p, LOCM_OCCUPIED) >> i) & 1) {
        twice |= locmi_take_id(used, t, p->board[i].card, p->board[i].copy);
      }
    }
  }
  for (who = 0; who < 2; who++) {
    p = &s->p[who];
    int n2_ = p->hand_size;
#if RULES == 0 || RULES == 3
    for (i = 0; i < n2_; i++) clash |= locmi_will_clash(used, t, (p->hand >> 8 * i) & 255);
    for (i = LOCM_MAX_DECK - p->deck_left; i < LOCM_MAX_DECK; i++) {
      clash |= locmi_will_clash(used, t, s->deck[who][i]);
    }
#else
    for (i = 0; i < n2_; i++) clash |= locmi_will_clash();
    for (i = LOCM_MAX_DECK - p->deck_left; i < LOCM_MAX_DECK; i++) clash |= locmi_will_clash();
#endif
  }
  if (twice) return "an instance id occurs twice";
  if (clash) return "an instance id is that of another card's area copy";
  return NULL;
}

// Returns the invariant that does not hold; NULL if all hold.
// Return the invariant of _core.pxd that does not hold, or NULL.
//
// Texts, snapshots, observations, bytes and `State.new` all ask here what can stand together.
LOCMI_FUNCTION const char *locm_state_fault(const locm_state_t *s, const locm_table_t *t) {
  const char *fault = locmi_table_fault(t);
  if (!fault) fault = locmi_player_fault(s, t, 0);
  if (!fault) fault = locmi_player_fault(s, t, 1);
  if (!fault && s->p[0].won && s->p[1].won) fault = "two winners";
  if (!fault && !(s->p[0].won || s->p[1].won) && (s->p[0].health <= 0 || s->p[1].health <= 0)) {
    fault = "a player without health, and no winner";
  }
  if (!fault) fault = locmi_ids_fault(s, t);
  if (!fault && !(-1 <= s->turn && s->turn <= LOCMI_MAX_TURN)) fault = "turn out of range";
  return fault;
}

// Fill in the derived fields of an entry.
LOCMI_FUNCTION void locm_complete_card(locm_card_t *c, int entry) {
  memset(&c->creature, 0, sizeof(locm_creature_t));
  c->creature.attack = c->attack;
  c->creature.defense = c->defense;
  c->creature.card = entry;
  c->creature.keywords = c->keywords;
  c->marks = 64;
  if (c->keywords & LOCM_CHARGE) c->marks |= 1;
  if (c->keywords & LOCM_GUARD) c->marks |= 4096;
  c->cost_kind = 8 * (15 - (c->cost < 14 ? c->cost : 14));
  if (c->type != LOCM_CREATURE) {
    c->cost_kind |= c->type == LOCM_GREEN ? LOCM_IS_GREEN : LOCM_ON_ENEMIES;
    // IS_BLUE
    c->cost_kind |= c->type == LOCM_BLUE;
  }
}

// Write a blank and an integer of at most nine digits; return their length.
LOCMI_FUNCTION int locmi_write_number(char *to, int number) {
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

LOCMI_FUNCTION int locmi_creature_id(const locm_creature_t *x, const locm_table_t *t) {
  return t->cards[x->card].id + x->copy;
}

// Find what an action names; False if one of these is missing.
LOCMI_FUNCTION int locmi_name_action(const locm_state_t *s, const locm_table_t *t, int action,
    locmi_named_t *out) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  const locm_player_t *p = op;
#if RULES == 3
  int one = t->rules == LOCM_RULES_10;
#endif
  locm_move_t m;
  int slot;
#if RULES == 0 || RULES == 1
  if (action < 0 || action >= LOCMI_NUM_ACTIONS_2) return 0;
  m = LOCMI_MOVES[0][action];
#elif RULES == 2
  if (action < 0 || action >= LOCMI_NUM_ACTIONS_1) return 0;
  m = LOCMI_MOVES[1][action];
#else
  if (action < 0 || action >= (one ? LOCMI_NUM_ACTIONS_1 : LOCMI_NUM_ACTIONS_2)) return 0;
  m = LOCMI_MOVES[one][action];
#endif
  out->kind = m.kind;
  out->source = -1;
  out->target = -1;
  if (m.kind == LOCM_PASS) return 1;
  slot = m.target - 1;
  if (m.kind == LOCM_ATTACK) {
    if (!((locmi_marked(me, LOCM_OCCUPIED) >> m.source) & 1)) return 0;
    out->source = locmi_creature_id(&me->board[m.source], t);
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
    if (!((locmi_marked(p, LOCM_OCCUPIED) >> slot) & 1)) return 0;
    out->target = locmi_creature_id(&p->board[slot], t);
  }
  return 1;
}

// Writes the text of an action of the player to move, such as "ATTACK 36 -1" (section 8): at most
// MAX_ACTION_TEXT characters without a terminating zero. Returns their number; 0 if the action names
// an empty place.
LOCMI_FUNCTION int locm_state_write(const locm_state_t *s, const locm_table_t *t, int action,
    char *to) {
  locmi_named_t named;
  const char *word;
  int n = 0;
  if (!locmi_name_action(s, t, action, &named)) return 0;
  word = named.kind == LOCM_PASS ? "PASS" : named.kind == LOCM_SUMMON ? "SUMMON" : named.kind == LOCM_USE ? "USE" : "ATTACK";
  while (word[n]) {
    to[n] = word[n];
    n++;
  }
  if (named.kind == LOCM_PASS) return n;
  n += locmi_write_number(&to[n], named.source);
#if RULES == 0 || RULES == 1
  n += locmi_write_number(&to[n], named.target);
#elif RULES == 2
  if (named.kind != LOCM_SUMMON) n += locmi_write_number(&to[n], named.target);
#else
  if (named.kind != LOCM_SUMMON || t->rules != LOCM_RULES_10) {
    n += locmi_write_number(&to[n], named.target);
  }
#endif
  return n;
}

LOCMI_INLINE void locmi_clear_hand(locm_player_t *p) {
  p->hand = 0;
  p->cost_kinds = 0;
  p->hand_size = 0;
}

// Set up a player before their opening hand is drawn (section 4).
#if RULES != 3
LOCMI_FUNCTION void locmi_clear_player(locm_player_t *p) {
#else
LOCMI_FUNCTION void locmi_clear_player(locm_player_t *p, int rules) {
#endif
  memset(p, 0, sizeof(locm_player_t));
  locmi_clear_hand(p);
  p->health = 30;
  p->next_draw = 1;
  p->shown_draw = 1;
  p->order = 1;
#if RULES == 0
  p->runes = 0;
#elif RULES == 1 || RULES == 2
  p->runes = 31;
#else
  p->runes = rules == LOCM_RULES_15 ? 0 : 31;
#endif
}

// The player whose deck an id is from.
#if RULES != 3
LOCMI_FUNCTION int locmi_owner_of_id(int id) {
#endif
#if RULES == 0
  return id / LOCMI_IDS_PER_PLAYER & 1;
#elif RULES == 1 || RULES == 2
  return (id + 1) & 1;
#else
LOCMI_FUNCTION int locmi_owner_of_id(int rules, int id) {
  return rules == LOCM_RULES_15 ? id / LOCMI_IDS_PER_PLAYER & 1 : (id + 1) & 1;
#endif
}

#if RULES == 0
LOCMI_FUNCTION int locmi_is_copy_id(int id) {
  return (id & 1) != 0;
#elif RULES == 1 || RULES == 2
LOCMI_FUNCTION int locmi_is_copy_id(void) {
  return 0;
#else
LOCMI_FUNCTION int locmi_is_copy_id(int rules, int id) {
  return rules == LOCM_RULES_15 && (id & 1) != 0;
#endif
}

// The id of the card that an area copy was made from; that of any other card is its own.
#if RULES != 3
LOCMI_FUNCTION int locmi_original_id(int id) {
#endif
#if RULES == 0
  return id - locmi_is_copy_id(id);
#elif RULES == 1 || RULES == 2
  return id - locmi_is_copy_id();
#else
LOCMI_FUNCTION int locmi_original_id(int rules, int id) {
  return id - locmi_is_copy_id(rules, id);
#endif
}

// Writes the card of a row as entry `entry` of a table. A creature on the board does not show all
// printed values of its card; its present values stand for them, clipped to those a card may have.
LOCMI_FUNCTION void locmi_card_of_row(locm_card_t *c, const locm_shown_card_t *row, int entry) {
#if RULES != 3
  c->attack = (int16_t)core_locmi_cut(row->attack, LOCM_MAX_CARD_STAT);
  c->defense = (int16_t)core_locmi_cut(row->defense, LOCM_MAX_CARD_STAT);
#else
  c->attack = (int16_t)locmi_cut(row->attack, LOCM_MAX_CARD_STAT);
  c->defense = (int16_t)locmi_cut(row->defense, LOCM_MAX_CARD_STAT);
#endif
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

// Return whether a row belongs to a battle and its place is free.
LOCMI_FUNCTION int locmi_row_has_place(const locm_shown_card_t *row, int places) {
  int most = row->location ? LOCM_MAX_STAT : LOCM_MAX_CARD_STAT;
  return places > 0 && -1 <= row->location && row->location <= 1 && 0 <= row->id && row->id <
      LOCM_POOL_ID && 0 <= row->base_id && row->base_id <= 65535 && 0 <= row->type && row->type <= 3
      && 0 <= row->cost && row->cost <= 127 && 0 <= row->area && row->area <= 2 && 0 <= row->draw &&
#if RULES != 3
      row->draw <= 100 && core_locmi_cut(row->my_health,
      LOCM_MAX_CARD_STAT) == row->my_health && core_locmi_cut(row->opponent_health,
      LOCM_MAX_CARD_STAT) == row->opponent_health && core_locmi_cut(row->attack,
      most) == row->attack && core_locmi_cut(row->defense,
#else
      row->draw <= 100 && locmi_cut(row->my_health,
      LOCM_MAX_CARD_STAT) == row->my_health && locmi_cut(row->opponent_health,
      LOCM_MAX_CARD_STAT) == row->opponent_health && locmi_cut(row->attack,
      most) == row->attack && locmi_cut(row->defense,
#endif
      most) == row->defense && (row->location == 0 || row->type == LOCM_CREATURE);
}

// The entry of which a creature is the area copy (section 7); -1 for any other creature.
LOCMI_FUNCTION int locmi_original_entry(const locm_table_t *t, const locm_shown_card_t *row) {
  int i;
#if RULES == 0
  if (locmi_is_copy_id(row->id)) {
#elif RULES == 1 || RULES == 2
  if (locmi_is_copy_id()) {
#else
  if (locmi_is_copy_id(t->rules, row->id)) {
#endif
    int n1_ = t->n_cards;
    for (i = 0; i < n1_; i++) {
#if RULES != 3
      if (t->cards[i].id == locmi_original_id(row->id) && t->cards[i].base_id == row->base_id) {
#else
      if (t->cards[i].id == locmi_original_id(t->rules,
          row->id) && t->cards[i].base_id == row->base_id) {
#endif
        return i;
      }
    }
  }
  return -1;
}

// The first entry with a base id; -1 if there is none.
LOCMI_FUNCTION int locmi_entry_like(const locm_table_t *t, int base_id) {
  int i;
  for (i = 0; i < t->n_cards; i++) {
    if (t->cards[i].base_id == base_id) return i;
  }
  return -1;
}

// The free slots of a lane; 0 if there is no such lane.
#if RULES != 3
LOCMI_FUNCTION int locmi_free_places(const locm_player_t *p, int lane) {
#else
LOCMI_FUNCTION int locmi_free_places(const locm_player_t *p, int lane, const locm_table_t *t) {
  if (t->rules == LOCM_RULES_10) {
    return lane == 0 ? LOCM_MAX_BOARD - LOCMI_COUNT[locmi_marked(p, LOCM_OCCUPIED)] : 0;
  }
#endif
#if RULES != 2
  return lane == 0 || lane == 1 ? 3 - LOCMI_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 7] : 0;
#else
  return lane == 0 ? LOCM_MAX_BOARD - LOCMI_COUNT[locmi_marked(p, LOCM_OCCUPIED)] : 0;
#endif
}

// Append a creature with its present values to a lane that has room.
LOCMI_FUNCTION void locmi_place_creature(locm_player_t *p, const locm_table_t *t,
    const locm_creature_t *x, int lane, int ready) {
#if RULES == 0 || RULES == 1
  int slot = LOCMI_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 7] + 3 * lane;
#elif RULES == 2
  int slot = LOCMI_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & 63] + 3 * lane;
#endif
#if RULES != 3
  locmi_add_creature(p, &t->cards[x->card], x->copy, lane, 1);
#else
  int one = t->rules == LOCM_RULES_10;
  int slot = LOCMI_COUNT[(p->marks >> (LOCM_OCCUPIED + 3 * lane)) & (one ? 63 : 7)] + 3 * lane;
  locmi_add_creature(p, &t->cards[x->card], x->copy, lane, t->rules, 1);
#endif
  p->board[slot] = *x;
  p->marks &= ~((uint32_t)266241 << slot);
  p->marks |= ((uint32_t)ready | ((uint32_t)0 << LOCM_SPENT) | (x->keywords & LOCM_GUARD ? 1U <<
      LOCM_GUARDED : 0)) << slot;
}

// Fill in the values of the player lines of an observation.
#if RULES != 3
LOCMI_FUNCTION void locmi_show_players(locm_state_t *s, const locm_shown_t *o, int who) {
#else
LOCMI_FUNCTION void locmi_show_players(locm_state_t *s, const locm_table_t *t,
    const locm_shown_t *o, int who) {
#endif
  locm_player_t *p;
  int side;
  for (side = 0; side < 2; side++) {
    p = &s->p[side == 0 ? who : 1 - who];
#if RULES != 3
    locmi_clear_player(p);
#else
    locmi_clear_player(p, t->rules);
#endif
    p->health = o->player[side].health;
    p->max_mana = (uint8_t)o->player[side].max_mana;
    p->mana = (uint8_t)o->player[side].max_mana;
    p->shown_draw = o->player[side].draw;
#if RULES == 1 || RULES == 2
    p->runes = (1 << locmi_min_int(locmi_max_int(o->player[side].rune, 0), 25) / 5) - 1;
#elif RULES == 3
    if (t->rules != LOCM_RULES_15) {
      p->runes = (1 << locmi_min_int(locmi_max_int(o->player[side].rune, 0), 25) / 5) - 1;
    }
#endif
  }
  s->p[1 - who].won = o->player[0].health <= 0;
  s->p[who].won = o->player[1].health <= 0 && 0 < o->player[0].health;
}

// Return the row that tells most about the printed values of a creature's card.
LOCMI_FUNCTION const locm_shown_card_t *locmi_printed_row(const locm_shown_t *o,
    const locm_shown_card_t *row) {
  const locm_shown_card_t *other;
  const locm_shown_card_t *best = NULL;
  int i;
  for (i = 0; i < o->n_cards; i++) {
    other = &o->cards[i];
    if (other->base_id != row->base_id) continue;
    // a creature's present values may differ from them
    if (other->location == 0) return other;
    // in 1.x its effects may be forgotten
    if (!best || (best->my_health == 0 && best->opponent_health == 0 && best->draw == 0)) {
      best = other;
    }
  }
  return best;
}

// Return the entry of a row: a new one, except for an area copy.
LOCMI_FUNCTION int locmi_show_card(locm_table_t *t, const locm_shown_t *o,
    const locm_shown_card_t *row, const locm_table_t *pool) {
  int same;
  int entry = -1;
  if (row->location != 0) entry = locmi_original_entry(t, row);
  if (entry >= 0) return entry;
  entry = t->n_cards;
  same = row->location != 0 && pool != NULL ? locmi_entry_like(pool, row->base_id) : -1;
  if (same >= 0) {
    t->cards[entry] = pool->cards[same];
    locm_complete_card(&t->cards[entry], entry);
  }
  else if (row->location != 0) {
    locmi_card_of_row(&t->cards[entry], locmi_printed_row(o, row), entry);
  }
  else locmi_card_of_row(&t->cards[entry], row, entry);
  t->cards[entry].id = (uint8_t)row->id;
  t->n_cards = entry + 1;
  t->n_instances = entry + 1;
  return entry;
}

// Makes a state of what a player sees: they are player `who`, at the start of their turn. The decks
// and the opponent's hand are empty. The table gets an entry for each row; on the boards that is a
// copy of the entry of `pool` with its base id if there is one (`pool` may be NULL). Returns -1, or
// the number of the first row that has no place, 1000 + its number if it cannot stand beside an
// earlier one: its instance id occurs twice, or is that of another card's area copy, or there is
// another card with its base id.
LOCMI_FUNCTION int locm_state_show(locm_state_t *s, locm_table_t *t, const locm_shown_t *o,
    int who, const locm_table_t *pool) {
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
#if RULES != 3
  locmi_show_players(s, o, who);
#else
  locmi_show_players(s, t, o, who);
#endif
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    row = &o->cards[i];
    p = &s->p[row->location == -1 ? 1 - who : who];
    if (!locmi_row_has_place(row, row->location == 0 ? LOCM_MAX_HAND - p->hand_size :
#if RULES != 3
        locmi_free_places(p, row->lane))) {
#else
        locmi_free_places(p, row->lane, t))) {
#endif
      return i;
    }
    if ((seen[row->id >> 6] >> (row->id & 63)) & 1) return 1000 + i;
    seen[row->id >> 6] |= (uint64_t)1 << (row->id & 63);
    entry = locmi_show_card(t, o, row, pool);
    if (row->location == 0) {
      locmi_add_to_hand(p, t, entry);
      continue;
    }
    printed = &t->cards[entry];
    x.card = (uint8_t)entry;
    x.copy = printed->id != row->id;
    x.attack = (int16_t)row->attack;
    x.defense = (int16_t)row->defense;
    x.keywords = (uint8_t)row->keywords;
#if RULES == 0
    x.forgotten = 0;
#elif RULES == 1 || RULES == 2
    x.forgotten = row->my_health != printed->my_health || row->opponent_health !=
        printed->opponent_health || row->draw != printed->draw;
#else
    x.forgotten = t->rules != LOCM_RULES_15 && (row->my_health != printed->my_health ||
        row->opponent_health != printed->opponent_health || row->draw != printed->draw);
#endif
    locmi_place_creature(p, t, &x, row->lane, row->location == 1);
  }
  return -1;
}

// Adds n equal cards to hidden places: on top of a player's deck, or to a hand.
LOCMI_FUNCTION void locmi_state_fill_deck(locm_state_t *s, int who, uint8_t entry, int n) {
  memset(&s->deck[who][LOCM_MAX_DECK - n], entry, n);
  s->p[who].deck_left = (uint8_t)n;
}

LOCMI_FUNCTION void locmi_state_fill_hand(locm_state_t *s, const locm_table_t *t, int who,
    uint8_t entry, int n) {
  for (int _ = 0; _ < n; _++) locmi_add_to_hand(&s->p[who], t, entry);
}

// Add an entry to k others in random order: each order of k + 1 is equally likely.
LOCMI_INLINE void locmi_put_anywhere(uint8_t *out, int k, uint8_t entry, uint64_t *stream) {
  int j = (int)locmi_below(stream, k + 1);
  uint8_t other;
  out[k] = entry;
  other = out[j];
  out[j] = entry;
  out[k] = other;
}

// Give all n copies of all groups, which stand one after another: no draw changes another.
LOCMI_FUNCTION void locmi_take_all(const locm_unknown_t *u, int who, int n, uint8_t *out,
    uint64_t *stream) {
  const uint32_t *weight = u->weight[who];
  const uint8_t *group = u->group[who];
  int first = 0;
  int end;
  int i;
  int k = 0;
  uint32_t total;
  uint32_t x;
  while (k < n) {
    end = first;
    total = 0;
    while (end < u->n[who] && group[end] == group[first]) {
      total += weight[end];
      end++;
    }
    for (int n1_ = u->copies[who][group[first]], _ = 0; _ < n1_; _++) {
      i = first;
      if (end > first + 1) {
        x = (uint32_t)locmi_below(stream, total);
        while (x >= weight[i]) {
          x -= weight[i];
          i++;
        }
      }
      locmi_put_anywhere(out, k, u->entry[who][i], stream);
      k++;
    }
    first = end;
  }
}

// Return the first i with x < ends[i], without a branch that a CPU would have to guess.
LOCMI_INLINE int locmi_candidate_at(const uint32_t *ends, int n, uint32_t x) {
  const uint32_t *base = ends;
  int half;
  while (n > 1) {
    half = n >> 1;
    base += half & -(int)(base[half - 1] <= x);
    n -= half;
  }
  return (int)(base - ends);
}

// Draw n entries for hidden places one by one, with probabilities by weight.
//
// A group that has given all its copies is left out from then on: what is drawn of it is drawn
// again. The entries are shuffled, because heavier cards tend to be drawn first.
LOCMI_FUNCTION void locmi_draw_candidates(const locm_unknown_t *u, int who, int n, uint8_t *out,
    uint64_t *stream) {
  const uint8_t *group = u->group[who];
  uint8_t copies[LOCM_MAX_CARDS];
  // of the candidates that are left
  uint8_t number[LOCM_MAX_CARDS];
  // sums of their weights
  uint32_t ends[LOCM_MAX_CARDS];
  uint32_t total;
  int i;
  int left;
  int misses;
  int k = 0;
  int places = 0;
  for (int i1_ = 0; i1_ < u->n[who]; i1_++) {
    i = i1_;
    if (i == 0 || group[i] != group[i - 1]) places += u->copies[who][group[i]];
  }
  if (places == n) {
    locmi_take_all(u, who, n, out, stream);
    return;
  }
  memcpy(copies, u->copies[who], sizeof(copies));
  while (k < n) {
    total = 0;
    left = 0;
    for (int n3_ = u->n[who], i2_ = 0; i2_ < n3_; i2_++) {
      i = i2_;
      number[left] = (uint8_t)i;
      total += copies[group[i]] ? u->weight[who][i] : 0;
      ends[left] = total;
      left += copies[group[i]] > 0;
    }
    misses = 0;
    while (k < n && misses < LOCMI_MISSES) {
      // Up to 2^24: probabilities are off by at most a 256th.
      i = number[locmi_candidate_at(ends, left, (uint32_t)locmi_below(stream, total))];
      if (copies[group[i]]) {
        copies[group[i]]--;
        locmi_put_anywhere(out, k, u->entry[who][i], stream);
        k++;
      }
      else misses++;
    }
  }
}

// Redraws everything that u.viewer cannot see; `stream` comes from stream_start.
// Fill the viewer's deck and the other player's hand and deck with candidates.
LOCMI_FUNCTION void locm_state_deal(locm_state_t *s, const locm_table_t *t,
    const locm_unknown_t *u, uint64_t *stream) {
  uint8_t cards[38];
  locm_player_t *p;
  int who;
  int size;
  int i;
  for (who = 0; who < 2; who++) {
    p = &s->p[who];
    size = who == u->viewer ? 0 : p->hand_size;
    locmi_draw_candidates(u, who, size + p->deck_left, cards, stream);
    memcpy(&s->deck[who][LOCM_MAX_DECK - p->deck_left], &cards[size], p->deck_left);
    if (who != u->viewer) {
      locmi_clear_hand(p);
      for (i = 0; i < size; i++) locmi_add_to_hand(p, t, cards[i]);
    }
  }
}

LOCMI_INLINE int locmi_is_blank(char c) {
  // All ASCII characters at which `str.split` splits.
  return c == ' ' || (9 <= c && c <= 13 && c != '\n') || (28 <= c && c <= 31);
}

// Split the line that begins at `at`; return where the next one begins.
LOCMI_FUNCTION int locmi_split(const char *text, int size, int at, locm_line_t *line) {
  line->n = 0;
  while (at < size && text[at] != '\n') {
    if (locmi_is_blank(text[at])) {
      at++;
      continue;
    }
    if (line->n <= LOCMI_MAX_COLUMNS) line->start[line->n] = at;
    while (at < size && text[at] != '\n' && !locmi_is_blank(text[at])) at++;
    if (line->n <= LOCMI_MAX_COLUMNS) {
      line->end[line->n] = at;
      line->n++;
    }
  }
  return at + 1;
}

// Read a column that is an integer from `low` to `high`.
LOCMI_FUNCTION int locmi_number(const char *text, locm_line_t *line, int column, int low, int high,
    int32_t *value) {
  int i = line->start[column];
  int end = line->end[column];
  int negative = text[i] == '-';
  int64_t x = 0;
  line->bad = column;
  i += negative;
  if (i == end || end - i > LOCMI_MAX_DIGITS) return 0;
  while (i < end) {
    if (text[i] < '0' || text[i] > '9') return 0;
    // '0'
    x = 10 * x + text[i] - 48;
    i++;
  }
  x = negative ? -x : x;
  if (!(low <= x && x <= high)) return 0;
  *value = (int32_t)x;
  return 1;
}

LOCMI_FUNCTION int locmi_is_word(const char *text, const locm_line_t *line, const char *word) {
  int i = line->start[1];
  while (i < line->end[1] && *word == text[i]) {
    word++;
    i++;
  }
  return i == line->end[1] && *word == 0;
}

#if RULES != 3
LOCMI_FUNCTION int locmi_read_player(const char *text, locm_line_t *line, locm_shown_player_t *p) {
#endif
#if RULES == 0
  if (line->n != 4) return LOCMI_WRONG_COUNT;
#elif RULES == 1 || RULES == 2
  if (line->n != 5) return LOCMI_WRONG_COUNT;
#else
LOCMI_FUNCTION int locmi_read_player(const char *text, locm_line_t *line, locm_shown_player_t *p,
    int rules) {
  int runes = rules != LOCM_RULES_15;
  if (line->n != 4 + runes) return LOCMI_WRONG_COUNT;
#endif
  p->rune = 0;
  return locmi_number(text, line, 0, -1000000000, LOCMI_ANY, &p->health) && locmi_number(text,
      line, 1, -1000000000, LOCMI_ANY, &p->max_mana) && locmi_number(text, line, 2, -1000000000,
#if RULES != 3
      LOCMI_ANY, &p->deck_size) && locmi_number(text, line, 3, -1000000000, LOCMI_ANY,
#endif
#if RULES == 1 || RULES == 2
      &p->rune) && locmi_number(text, line, 4, -1000000000, LOCMI_ANY,
#elif RULES == 3
      LOCMI_ANY, &p->deck_size) && (!runes || locmi_number(text, line, 3, -1000000000, LOCMI_ANY,
      &p->rune)) && locmi_number(text, line, 3 + runes, -1000000000, LOCMI_ANY,
#endif
      &p->draw) ? 0 : LOCMI_WRONG_COLUMN;
}

LOCMI_FUNCTION int locmi_read_action(const char *text, locm_line_t *line, int begin,
    locm_shown_action_t *a) {
  int i;
  if ((line->n != 3 && line->n != 4) || line->start[0] != begin) return LOCMI_WRONG_ACTION;
  // single blanks
  for (i = 0; i < line->n - 1; i++) {
    if (line->start[i + 1] != line->end[i] + 1 || text[line->end[i]] != ' ') {
      return LOCMI_WRONG_ACTION;
    }
  }
  a->kind = locmi_is_word(text, line, "SUMMON") ? LOCM_SUMMON : locmi_is_word(text, line, "USE") ? LOCM_USE : LOCM_ATTACK;
  if (a->kind == LOCM_ATTACK && !locmi_is_word(text, line, "ATTACK")) return LOCMI_WRONG_ACTION;
  if (!locmi_number(text, line, 2, -1000000000, LOCMI_ANY, &a->id)) return LOCMI_WRONG_ACTION;
  if (line->n == 3) {
    if (a->kind != LOCM_SUMMON) return LOCMI_WRONG_ACTION;
    a->target = LOCM_NO_TARGET;
  }
  else if (!locmi_number(text, line, 3, -1000000000, LOCMI_ANY, &a->target)) {
    return LOCMI_WRONG_ACTION;
  }
  return locmi_number(text, line, 0, 0, LOCMI_ANY, &a->base_id) ? 0 : LOCMI_WRONG_COLUMN;
}

LOCMI_FUNCTION int locmi_read_keywords(const char *text, locm_line_t *line, int32_t *keywords) {
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

#if RULES != 3
LOCMI_FUNCTION int locmi_read_card(const char *text, locm_line_t *line, locm_shown_card_t *c) {
#endif
#if RULES == 0
  if (line->n != 13) return LOCMI_WRONG_COUNT;
#elif RULES == 1
  if (line->n != 12) return LOCMI_WRONG_COUNT;
#elif RULES == 2
  if (line->n != 11) return LOCMI_WRONG_COUNT;
#else
LOCMI_FUNCTION int locmi_read_card(const char *text, locm_line_t *line, locm_shown_card_t *c,
    int rules) {
  if (rules < 0 || line->n != (rules == LOCM_RULES_15 ? 13 : rules == LOCM_RULES_12 ? 12 : 11)) {
    return LOCMI_WRONG_COUNT;
  }
#endif
  if (!(locmi_number(text, line, 0, 0, LOCMI_ANY, &c->base_id) && locmi_number(text, line, 1,
      LOCM_OFFERED, LOCMI_ANY, &c->id) && locmi_number(text, line, 2, -1, 1,
      &c->location) && locmi_number(text, line, 3, 0, 3, &c->type) && locmi_number(text, line, 4,
      -1000000000, LOCMI_ANY, &c->cost) && locmi_number(text, line, 5, -1000000000, LOCMI_ANY,
      &c->attack) && locmi_number(text, line, 6, -1000000000, LOCMI_ANY,
      &c->defense) && locmi_read_keywords(text, line, &c->keywords) && locmi_number(text, line, 8,
      -1000000000, LOCMI_ANY, &c->my_health) && locmi_number(text, line, 9, -1000000000, LOCMI_ANY,
      &c->opponent_health) && locmi_number(text, line, 10, -1000000000, LOCMI_ANY, &c->draw))) {
    return LOCMI_WRONG_COLUMN;
  }
  c->area = 0;
#if RULES == 0
  if (!locmi_number(text, line, 11, 0, 2, &c->area)) return LOCMI_WRONG_COLUMN;
  return locmi_number(text, line, 12, -1, 1, &c->lane) ? 0 : LOCMI_WRONG_COLUMN;
#elif RULES == 1
  return locmi_number(text, line, 11, -1, 1, &c->lane) ? 0 : LOCMI_WRONG_COLUMN;
#elif RULES == 2
  c->lane = c->location == 0 ? -1 : 0;
  return 0;
#else
  if (rules == LOCM_RULES_10) {
    c->lane = c->location == 0 ? -1 : 0;
    return 0;
  }
  if (rules == LOCM_RULES_15 && !locmi_number(text, line, 11, 0, 2, &c->area)) {
    return LOCMI_WRONG_COLUMN;
  }
  return locmi_number(text, line, 11 + (rules == LOCM_RULES_15), -1, 1,
      &c->lane) ? 0 : LOCMI_WRONG_COLUMN;
#endif
}

// Return why a row, whose fields are in range, contradicts the rows before it.
LOCMI_FUNCTION int locmi_row_fault(const locm_shown_t *o, const locm_shown_card_t *c,
    int32_t (*places)[3]) {
  int offered = o->cards[0].id == LOCM_OFFERED;
#if RULES == 0 || RULES == 1
  int capacity = 3;
#elif RULES == 2
  int capacity = LOCM_MAX_BOARD;
#else
  int capacity = o->rules == LOCM_RULES_10 ? LOCM_MAX_BOARD : 3;
#endif
  if (c->location == 0) capacity = LOCM_MAX_HAND;
  if ((c->id == LOCM_OFFERED) != offered) return LOCMI_WRONG_PHASE;
#if RULES == 0 || RULES == 1
  if ((c->location == 0) != (c->lane == -1) || c->lane >= 2) return LOCMI_WRONG_LANE;
#elif RULES == 2
  if ((c->location == 0) != (c->lane == -1) || c->lane >= 1) return LOCMI_WRONG_LANE;
#else
  if ((c->location == 0) != (c->lane == -1) || c->lane >= (o->rules == LOCM_RULES_10 ? 1 : 2)) {
    return LOCMI_WRONG_LANE;
  }
#endif
  if (c->location != 0 && c->type != LOCM_CREATURE) return LOCMI_WRONG_TYPE;
  if (c->location != 0 && offered) return LOCMI_WRONG_OFFER;
  places[c->location + 1][c->lane + 1]++;
  if (places[c->location + 1][c->lane + 1] > capacity && !offered) return LOCMI_WRONG_NUMBER;
  return 0;
}

// Reads a text line by line. With `rules` -1 the columns determine the rule set. Reading a line
// returns 1 if another line must follow, 0 at the end, and -1 for a malformed line: `fault` and
// `line.bad` say why. `at` is the offset of the line, and afterwards that of the next one.
LOCMI_FUNCTION void locm_reader_start(locm_reader_t *r, locm_shown_t *o, int rules) {
#if RULES != 3
  (void)rules;
#endif
  memset(r, 0, sizeof(locm_reader_t));
#if RULES == 0
  o->rules = 0;
#elif RULES == 1
  o->rules = 1;
#elif RULES == 2
  o->rules = 2;
#else
  o->rules = rules;
#endif
  o->n_actions = 0;
  o->n_cards = 0;
}

LOCMI_FUNCTION int locm_reader_take(locm_reader_t *r, locm_shown_t *o, const char *text, int size,
    int *at) {
  locm_line_t *line = &r->line;
  int stage = r->stage;
  int i = r->done;
  r->number++;
  r->begin = *at;
  *at = locmi_split(text, size, *at, line);
  if (stage == LOCMI_OWN_LINE || stage == LOCMI_THEIR_LINE) {
#if RULES != 3
    r->fault = locmi_read_player(text, line, &o->player[stage]);
#else
    if (o->rules < 0 && stage == LOCMI_OWN_LINE && line->n == 4) o->rules = LOCM_RULES_15;
    r->fault = locmi_read_player(text, line, &o->player[stage], o->rules);
#endif
  }
  else if (stage == LOCMI_COUNTS) {
    if (line->n != 2) r->fault = LOCMI_WRONG_COUNT;
    else if (!(locmi_number(text, line, 0, 0, LOCMI_ANY, &o->opponent_hand) && locmi_number(text,
        line, 1, 0, LOCM_MAX_SHOWN_ACTIONS, &o->n_actions))) {
      r->fault = LOCMI_WRONG_COLUMN;
    }
    if (o->n_actions == 0) {
      // no action lines follow
      stage++;
    }
  }
  else if (stage == LOCMI_ACTION_LINES) {
    r->fault = locmi_read_action(text, line, r->begin, &o->actions[i]);
    r->done++;
    if (r->fault == 0 && r->done < o->n_actions) return 1;
  }
  else if (stage == LOCMI_NUMBER_OF_CARDS) {
    if (line->n != 1) r->fault = LOCMI_WRONG_COUNT;
    else if (!locmi_number(text, line, 0, 0, LOCM_MAX_SHOWN, &o->n_cards)) {
      r->fault = LOCMI_WRONG_COLUMN;
    }
    r->done = 0;
    if (o->n_cards == 0) stage++;
  }
  else {
    // 1.2 and 1.0 have the same player lines; the columns of a card row decide.
#if RULES != 3
    r->fault = locmi_read_card(text, line, &o->cards[i]);
#else
    if (o->rules < 0 && (line->n == 11 || line->n == 12)) {
      o->rules = line->n == 11 ? LOCM_RULES_10 : LOCM_RULES_12;
    }
    r->fault = locmi_read_card(text, line, &o->cards[i], o->rules);
#endif
    if (r->fault == 0) r->fault = locmi_row_fault(o, &o->cards[i], r->places);
    r->done++;
    if (r->fault == 0 && r->done < o->n_cards) return 1;
  }
  if (r->fault) return -1;
  r->stage = stage + 1;
  if (r->stage <= LOCMI_CARD_ROWS) return 1;
#if RULES == 3
  if (o->rules < 0) o->rules = LOCM_RULES_12;
#endif
  return 0;
#if RULES != 3
}

// Add a multiple of a row of weights.
#endif
#if RULES == 0
LOCMI_INLINE void locmi_add_row(float *to, float x, const float *row, int n) {
#elif RULES == 1 || RULES == 2
LOCMI_INLINE void locmi_add_row(float *to, float x, const float *row) {
#endif
#if RULES != 3
  int k;
  if (x) {
#endif
#if RULES == 0
    for (k = 0; k < n; k++) to[k] += x * row[k];
#elif RULES == 1 || RULES == 2
    for (k = 0; k < 8; k++) to[k] += x * row[k];
#endif
#if RULES != 3
  }
#endif
#if RULES == 0
}

// Add x @ w, a matrix (n, m), to `to`, which has the biases or 0.
LOCMI_INLINE void locmi_dense(const float *x, int n, const float *w, float *to) {
  int i;
  for (i = 0; i < n; i++) locmi_add_row(to, x[i], w + i * 64, 64);
#endif
#if RULES != 3
}

// Add units after a ReLU.
LOCMI_INLINE void locmi_add_relu(float *to, const float *units, int n) {
  int k;
  for (k = 0; k < n; k++) to[k] += units[k] > 0 ? units[k] : 0;
}

// Return `start` + ReLU(a + b) @ y; n is a multiple of 8.
#endif
#if RULES == 0
LOCMI_INLINE float locmi_relu_dot(float start, const float *a, const float *b, const float *output,
    int n) {
#elif RULES == 1 || RULES == 2
LOCMI_INLINE float locmi_relu_dot(float start, const float *a, const float *b,
    const float *output) {
#endif
#if RULES != 3
  float low[LOCMI_SIDE_BY_SIDE];
  float high[LOCMI_SIDE_BY_SIDE];
  float x;
  int k;
  memset(low, 0, sizeof(low));
  memset(high, 0, sizeof(high));
#endif
#if RULES == 0
  for (int _ = 0; _ < n / 8; _++) {
#elif RULES == 1 || RULES == 2
  for (int _ = 0; _ < 8; _++) {
#endif
#if RULES != 3
    for (k = 0; k < LOCMI_SIDE_BY_SIDE; k++) {
      x = a[k] + b[k];
      low[k] += (x > 0 ? x : 0) * output[k];
    }
    for (k = 0; k < LOCMI_SIDE_BY_SIDE; k++) {
      x = a[LOCMI_SIDE_BY_SIDE + k] + b[LOCMI_SIDE_BY_SIDE + k];
      high[k] += (x > 0 ? x : 0) * output[LOCMI_SIDE_BY_SIDE + k];
    }
    a += 8;
    b += 8;
    output += 8;
  }
  for (k = 0; k < LOCMI_SIDE_BY_SIDE; k++) start += low[k];
  for (k = 0; k < LOCMI_SIDE_BY_SIDE; k++) start += high[k];
  return start;
}

LOCMI_INLINE int locmi_cut(int x) {
  return x > LOCMI_MOST ? LOCMI_MOST : x < -20 ? -20 : x;
}

// Fill in the creatures of a side; return the attack in lanes without enemy Guards.
LOCMI_FUNCTION int locmi_see_board(locmi_inputs_t *o, int side, const locm_player_t *p,
    const locm_player_t *op) {
  uint32_t left = (p->marks >> LOCM_OCCUPIED) & 63;
  uint32_t guarded = (op->marks >> LOCM_GUARDED) & 63;
  const locm_creature_t *x;
  int16_t *f;
  int slot;
  int i;
  int a;
  int d;
  int free = 0;
  for (slot = 0; slot < LOCM_MAX_BOARD; slot++) {
    if (!((left >> slot) & 1)) continue;
    x = &p->board[slot];
    f = o->creatures[side][slot];
    a = locmi_cut(x->attack);
    d = locmi_cut(x->defense);
#endif
#if RULES == 0 || RULES == 1
    if (!(guarded & (slot < 3 ? 7 : 56))) free += a;
#elif RULES == 2
    if (!(guarded & 63)) free += a;
#endif
#if RULES != 3
    *f = 1;
    f[1] = a;
    f[2] = d;
    f[3] = locmi_min_int(a, d);
    for (i = 0; i < 6; i++) f[4 + i] = (x->keywords >> i) & 1;
    f[10] = x->keywords & LOCM_BREAKTHROUGH ? a : 0;
    f[11] = x->keywords & LOCM_DRAIN ? a : 0;
    f[12] = x->keywords & LOCM_WARD ? a : 0;
    f[13] = x->keywords & LOCM_GUARD ? d : 0;
    f[14] = locmi_min_int(a, 3);
    f[15] = locmi_min_int(d, 3);
  }
  return free;
}

// Fill in a player's other inputs; return their health after the next draw (4).
LOCMI_INLINE int locmi_see_player(int16_t *f, const locm_player_t *p) {
  int draws = p->next_draw + p->lost / 5;
  int drawn = locmi_min_int(locmi_min_int(LOCM_MAX_HAND - p->hand_size, draws), p->deck_left);
  int hand = p->hand_size + drawn;
  int left = p->deck_left - drawn;
  int health = p->health;
#endif
#if RULES == 0
  if (draws > drawn && hand < LOCM_MAX_HAND) health -= 10 * (draws - drawn);
#elif RULES == 1 || RULES == 2
  if (draws > drawn && hand < LOCM_MAX_HAND) health -= 5 * (draws - drawn);
#endif
#if RULES != 3
  health = locmi_max_int(-10, locmi_min_int(50, health));
  *f = health;
  f[1] = locmi_max_int(0, 12 - health);
  f[2] = locmi_max_int(0, 6 - health);
  f[3] = hand;
  f[4] = locmi_max_int(0, hand - 5);
  f[5] = left;
  f[6] = locmi_max_int(0, 10 - left);
  f[7] = locmi_max_int(0, 4 - left);
#endif
#if RULES == 0
  f[8] = p->lost % 5;
#elif RULES == 1 || RULES == 2
  f[8] = locmi_count_bits_(p->runes);
#endif
#if RULES != 3
  f[9] = p->max_mana;
  f[10] = p->bonus;
  f[11] = locmi_min_int(draws, 12);
  return health;
}

LOCMI_FUNCTION void locmi_see(locmi_inputs_t *o, const locm_state_t *s, const locm_table_t *t,
    int who) {
  const locm_player_t *me = &s->p[who];
  const locm_player_t *op = &s->p[1 - who];
  const locm_card_t *c;
  int16_t *f;
  int i;
  int j;
  int mine;
  int theirs;
  int my_health;
  int their_health;
  memset(o, 0, sizeof(locmi_inputs_t));
#endif
#if RULES == 0 || RULES == 1
  for (i = 0; i < LOCM_MAX_BOARD; i++) o->lane[i] = i >= 3;
#elif RULES == 2
  for (i = 0; i < LOCM_MAX_BOARD; i++) o->lane[i] = 0;
#endif
#if RULES != 3
  mine = locmi_see_board(o, 0, me, op);
  theirs = locmi_see_board(o, 1, op, me);
  int n1_ = me->hand_size;
  for (i = 0; i < n1_; i++) {
    c = &t->cards[(me->hand >> 8 * i) & 255];
    f = o->hand[i];
    *f = 1;
    f[1 + c->type] = 1;
    f[5] = c->cost;
    f[6] = locmi_cut(c->attack);
    f[7] = locmi_cut(c->defense);
    for (j = 0; j < 6; j++) f[8 + j] = (c->keywords >> j) & 1;
    f[14] = locmi_cut(c->my_health);
    f[15] = locmi_cut(c->opponent_health);
    f[16] = c->draw;
    f[17] = c->area == LOCM_AREA_LANE1;
    f[18] = c->area == LOCM_AREA_LANE2;
    f[19] = c->cost >= 4;
  }
  f = o->other;
  my_health = locmi_see_player(f, me);
  their_health = locmi_see_player(f + 12, op);
  f[24] = locmi_min_int(s->turn, 40);
  f[25] = locmi_max_int(0, 4 - s->turn);
  for (i = LOCM_MAX_DECK - me->deck_left; i < LOCM_MAX_DECK; i++) {
    c = &t->cards[s->deck[who][i]];
    f[26] += c->cost;
    f[27] += c->draw;
    f[28] += c->type == LOCM_CREATURE;
    f[29] += c->area != 0;
    f[30] += c->cost <= 1;
  }
  f[31] = locmi_min_int(mine, 40);
  f[32] = locmi_min_int(theirs, 40);
  f[33] = mine >= their_health;
  f[34] = theirs >= my_health;
  f[35] = locmi_max_int(-20, locmi_min_int(20, their_health - mine));
  f[36] = locmi_max_int(-20, locmi_min_int(20, my_health - theirs));
  f[37] = locmi_max_int(0, -f[35]);
  f[38] = locmi_max_int(0, -f[36]);
}

// Add a multiple of a row of 16 weights.
//
// gcc keeps the sums of eight units in registers, while longer loops stay loops.
LOCMI_INLINE void locmi_add_halves(float *to, float x, const float *row) {
#endif
#if RULES == 0
  locmi_add_row(to, x, row, 8);
  locmi_add_row(to + 8, x, row + 8, 8);
#elif RULES == 1 || RULES == 2
  locmi_add_row(to, x, row);
  locmi_add_row(to + 8, x, row + 8);
#endif
#if RULES != 3
}

// Returns the log-odds that `who`, whose turn ends, wins; the game must not be over.
LOCMI_FUNCTION float locmi_network_value(const locmi_network_t *n, const locm_state_t *s,
    const locm_table_t *t, int who) {
  locmi_inputs_t seen;
  // units of the present layer
  float units[LOCMI_LANE];
  // [lane]
  float sums[2][16];
  float joined[LOCMI_JOINED];
  float hidden[LOCMI_HIDDEN];
  float deeper[LOCMI_HIDDEN];
  int side;
  int slot;
  int lane;
  int i;
  float value = n->output_bias;
  locmi_see(&seen, s, t, who);
  memset(sums, 0, sizeof(sums));
  memset(joined, 0, sizeof(joined));
  for (side = 0; side < 2; side++) {
    for (slot = 0; slot < LOCM_MAX_BOARD; slot++) {
      if (seen.creatures[side][slot][0]) {
        memset(units, 0, sizeof(units));
        for (i = 0; i < LOCMI_CREATURE_INPUTS; i++) {
#endif
#if RULES == 0
          locmi_add_row(units, seen.creatures[side][slot][i], n->creature[side][i], LOCMI_SUMS);
#elif RULES == 1 || RULES == 2
          locmi_add_row(units, seen.creatures[side][slot][i], n->creature[side][i]);
#endif
#if RULES != 3
        }
        locmi_add_relu(&sums[seen.lane[slot]][side * LOCMI_SUMS], units, LOCMI_SUMS);
      }
    }
  }
  for (lane = 0; lane < 2; lane++) {
    memcpy(units, n->lane_bias, sizeof(units));
    for (i = 0; i < 16; i++) {
      locmi_add_halves(units, sums[lane][i], n->lane[i]);
      joined[LOCMI_LANE + i] += sums[lane][i];
    }
    locmi_add_relu(joined, units, LOCMI_LANE);
  }
  int n1_ = s->p[who].hand_size;
  for (slot = 0; slot < n1_; slot++) {
    memset(units, 0, sizeof(units));
#endif
#if RULES == 0
    for (i = 0; i < LOCMI_CARD_INPUTS; i++) {
      locmi_add_row(units, seen.hand[slot][i], n->card[i], LOCMI_SUMS);
    }
#elif RULES == 1 || RULES == 2
    for (i = 0; i < LOCMI_CARD_INPUTS; i++) locmi_add_row(units, seen.hand[slot][i], n->card[i]);
#endif
#if RULES != 3
    locmi_add_relu(&joined[32], units, LOCMI_SUMS);
  }
  for (i = 0; i < LOCMI_OTHER_INPUTS; i++) joined[40 + i] = seen.other[i];
  memcpy(hidden, n->hidden_bias, sizeof(hidden));
  memcpy(deeper, n->deeper_bias, sizeof(deeper));
  for (i = 0; i < LOCMI_JOINED; i++) {
    value += joined[i] * n->direct[i];
    locmi_add_halves(hidden, joined[i], n->hidden[i]);
  }
  for (i = 0; i < LOCMI_HIDDEN; i++) {
    locmi_add_halves(deeper, hidden[i] > 0 ? hidden[i] : 0, n->deeper[i]);
  }
  for (i = 0; i < LOCMI_HIDDEN; i++) value += deeper[i] > 0 ? deeper[i] * n->output[i] : 0;
  return value;
}

LOCMI_INLINE double locmi_note(float *terms, int term, int value, const double *weights,
    double score) {
  if (value) {
    terms[term] = (float)value;
    score += weights[term] * value;
  }
  return score;
}

// Computes the terms of a card, in favour of its player: attack and defense of red and blue items
// count as what they take from the enemy. Returns the sum of the terms times the weights.
LOCMI_FUNCTION double locmi_card_terms(const double *weights, const locm_card_t *c, float *terms) {
  int carrier = c->type < LOCM_BLUE ? (int)c->type : LOCM_RED;
  int sign = c->type < LOCM_RED ? 1 : -1;
  int attack = locmi_min_int(sign * c->attack, LOCMI_ENOUGH);
  int defense = locmi_min_int(sign * c->defense, LOCMI_ENOUGH);
  double score = 0;
  int i;
  memset(terms, 0, LOCMI_DECK_TERMS * sizeof(float));
  i = c->cost < LOCMI_COST_COLUMNS ? (int)c->cost : 7;
  score = locmi_note(terms, i, 1, weights, score);
  score = locmi_note(terms, LOCMI_TYPES + c->type, 1, weights, score);
  score = locmi_note(terms, LOCMI_STATS + 2 * c->type, attack, weights, score);
  score = locmi_note(terms, LOCMI_STATS + 2 * c->type + 1, defense, weights, score);
  score = locmi_note(terms, LOCMI_DRAW, c->draw, weights, score);
  score = locmi_note(terms, LOCMI_HEAL, c->my_health, weights, score);
  score = locmi_note(terms, LOCMI_DAMAGE, -c->opponent_health, weights, score);
  if (c->area) {
    score = locmi_note(terms, LOCMI_LANES + c->area - 1, 1, weights, score);
    score = locmi_note(terms, LOCMI_AREA_STATS + 2 * c->type, attack, weights, score);
    score = locmi_note(terms, LOCMI_AREA_STATS + 2 * c->type + 1, defense, weights, score);
    score = locmi_note(terms, LOCMI_AREA_DRAW, c->draw, weights, score);
    score = locmi_note(terms, LOCMI_AREA_HEAL, c->my_health, weights, score);
    score = locmi_note(terms, LOCMI_AREA_DAMAGE, -c->opponent_health, weights, score);
  }
  for (int i1_ = 0; i1_ < 6; i1_++) {
    i = i1_;
    if (!((c->keywords >> i) & 1)) continue;
    score = locmi_note(terms, LOCMI_KEYWORDS + 6 * carrier + i, 1, weights, score);
    if (c->type != LOCM_CREATURE) continue;
    if (1 << i == LOCM_CHARGE) {
      score = locmi_note(terms, LOCMI_CHARGE_ATTACK, c->attack, weights, score);
    }
    else if (1 << i == LOCM_DRAIN) {
      score = locmi_note(terms, LOCMI_DRAIN_ATTACK, c->attack, weights, score);
    }
    else if (1 << i == LOCM_WARD) {
      score = locmi_note(terms, LOCMI_WARD_ATTACK, c->attack, weights, score);
    }
    else if (1 << i == LOCM_GUARD) {
      score = locmi_note(terms, LOCMI_GUARD_DEFENSE, c->defense, weights, score);
    }
  }
  return score;
}

#endif
#if RULES == 0
// Starts without cards; `hidden` holds a row for each card.
LOCMI_FUNCTION void locmi_offer_start(locmi_offer_t *o, const locmi_deck_network_t *networks,
    int n_networks, float *hidden) {
#elif RULES == 1 || RULES == 2
LOCMI_INLINE void locmi_add_sum(locmi_draft_sum_t *to, const locmi_draft_sum_t *x, float times) {
  int k;
  for (k = 0; k < LOCMI_DRAFT_LAYER; k++) to->units[k] += times * x->units[k];
  to->direct += times * x->direct;
}

// Return the output of the units for a sum and one more card.
LOCMI_INLINE float locmi_value_with(const locmi_draft_value_t *v, const locmi_draft_sum_t *s,
    const locmi_draft_sum_t *card) {
  return locmi_relu_dot(s->direct + card->direct, s->units, card->units, v->output);
}

LOCMI_INLINE void locmi_start_sum(locmi_draft_sum_t *s, const locmi_draft_value_t *v) {
  memset(s, 0, sizeof(locmi_draft_sum_t));
  memcpy(s->units, v->bias, sizeof(s->units));
}

LOCMI_FUNCTION void locmi_draft_fill(locmi_draft_value_t *v, const locmi_draft_network_t *networks,
    int n_networks) {
  locmi_draft_sum_t usual;
  float worth[LOCMI_DRAFT_CARDS];
  int i;
  int j;
  int k;
  memset(v, 0, sizeof(locmi_draft_value_t));
  for (i = 0; i < n_networks; i++) {
    for (k = 0; k < LOCMI_DRAFT_UNITS; k++) {
      v->bias[LOCMI_DRAFT_UNITS * i + k] = networks[i].bias[k];
      v->output[LOCMI_DRAFT_UNITS * i + k] = networks[i].output[k] / n_networks;
      for (int i1_ = 0; i1_ < LOCMI_DRAFT_CARDS; i1_++) {
        j = i1_;
        v->card[j].units[LOCMI_DRAFT_UNITS * i + k] = networks[i].card[j][k];
      }
    }
    for (int i2_ = 0; i2_ < LOCMI_DRAFT_CARDS; i2_++) {
      j = i2_;
      v->card[j].direct += networks[i].direct[j] / n_networks;
    }
  }
  locmi_start_sum(&usual, v);
  for (i = 0; i < LOCMI_DRAFT_CARDS; i++) locmi_add_sum(&usual, &v->card[i], (float)29 / 160);
  for (i = 0; i < LOCMI_DRAFT_CARDS; i++) {
    worth[i] = locmi_value_with(v, &usual, &v->card[i]);
    j = i;
    while (j > 0 && worth[v->order[j - 1]] < worth[i]) {
      v->order[j] = v->order[j - 1];
      j--;
    }
    v->order[j] = i;
  }
}

// Sample the pool of a draft, including all `offered` cards; return its size.
LOCMI_FUNCTION int locmi_draw_pool(const int *offered, uint8_t *pool, uint64_t *stream) {
  uint8_t others[LOCMI_DRAFT_CARDS];
  int n = 0;
  int n_others = 0;
#endif
#if RULES != 3
  int i;
  int k;
#endif
#if RULES == 0
  o->n_networks = n_networks;
  o->n_cards = 0;
  o->hidden = hidden;
  for (i = 0; i < n_networks; i++) {
    for (k = 0; k < LOCMI_DECK_UNITS; k++) {
      o->bias[LOCMI_DECK_UNITS * i + k] = networks[i].hidden_bias[k];
      o->output[LOCMI_DECK_UNITS * i + k] = networks[i].output[k] / n_networks;
#elif RULES == 1 || RULES == 2
  for (i = 0; i < LOCMI_DRAFT_CARDS; i++) {
    if (offered[i]) {
      pool[n] = i;
      n++;
    }
    else {
      others[n_others] = i;
      n_others++;
    }
  }
  while (n < LOCMI_DRAFT_POOL) {
    k = (int)locm_stream_below(stream, n_others);
    pool[n] = others[k];
    n++;
    n_others--;
    others[k] = others[n_others];
  }
  return n;
}

// Return the expected contribution of a pick from a pool: mostly the best of three.
LOCMI_FUNCTION void locmi_usual_card(const locmi_draft_value_t *v, const uint8_t *pool, int n,
    locmi_draft_sum_t *usual) {
  int there[LOCMI_DRAFT_CARDS];
  int i;
  int below = n;
  memset(there, 0, sizeof(there));
  memset(usual, 0, sizeof(locmi_draft_sum_t));
  for (i = 0; i < n; i++) there[pool[i]] = 1;
  for (i = 0; i < LOCMI_DRAFT_CARDS; i++) {
    if (there[v->order[i]]) {
      below--;
      // The other two cards of the offer are among those after it.
      locmi_add_sum(usual, &v->card[v->order[i]], (float)(below * (below - 1)) * 3 / (n * (n - 1) *
          (n - 2)));
#endif
#if RULES != 3
    }
  }
}

#endif
#if RULES == 0
// Adds a card, given by its terms; cards must come by ascending base id.
LOCMI_FUNCTION void locmi_offer_add(locmi_offer_t *o, const locmi_deck_network_t *networks,
    const float *terms) {
  const locmi_deck_network_t *n;
  float units[LOCMI_DECK_UNITS];
  float sums[LOCMI_DECK_SUMS];
  float total;
  float direct = 0;
  float *row;
#elif RULES == 1 || RULES == 2
// Return the final value from a sum of cards and the offers that follow.
LOCMI_FUNCTION float locmi_played_out(const locmi_draft_value_t *v, const locmi_draft_sum_t *start,
    const locmi_draft_sum_t *usual, const uint8_t *dealt, int turns) {
  locmi_draft_sum_t s = *start;
  locmi_draft_sum_t filled;
  float x;
  float best;
  int turn;
#endif
#if RULES != 3
  int i;
#endif
#if RULES == 0
  int j;
  int n1_ = o->n_networks;
  for (i = 0; i < n1_; i++) {
    n = &networks[i];
    memcpy(units, n->card_bias, sizeof(units));
    locmi_dense(terms, LOCMI_DECK_TERMS, n->card[0], units);
    for (j = 0; j < LOCMI_DECK_TERMS; j++) sums[j] = terms[j];
    for (j = 0; j < LOCMI_DECK_UNITS; j++) sums[LOCMI_DECK_TERMS + j] = units[j] > 0 ? units[j] : 0;
    row = &o->hidden[(o->n_cards * o->n_networks + i) * LOCMI_DECK_UNITS];
    memset(row, 0, LOCMI_DECK_UNITS * sizeof(float));
    locmi_dense(sums, LOCMI_DECK_SUMS, n->hidden[0], row);
    total = 0;
    for (j = 0; j < LOCMI_DECK_SUMS; j++) total += sums[j] * n->direct[j];
    direct += total / o->n_networks;
#elif RULES == 1 || RULES == 2
  int chosen;
  for (turn = 0; turn < turns; turn++) {
    filled = s;
    locmi_add_sum(&filled, usual, turns - 1 - turn);
    best = 0;
    chosen = -1;
    for (i = 0; i < 3; i++) {
      x = locmi_value_with(v, &filled, &v->card[dealt[3 * turn + i]]);
      if (chosen < 0 || x > best) {
        best = x;
        chosen = dealt[3 * turn + i];
      }
    }
    locmi_add_sum(&s, &v->card[chosen], 1);
#endif
#if RULES != 3
  }
#endif
#if RULES == 0
  o->direct[o->n_cards] = direct;
  o->n_cards++;
#elif RULES == 1 || RULES == 2
  return locmi_value_with(v, &s, &v->card[LOCMI_NO_CARD]);
#endif
#if RULES != 3
}

#endif
#if RULES == 0
// Sum up what the cards of a deck add to the second layer, and directly to the value.
LOCMI_FUNCTION float locmi_add_up(const locmi_offer_t *o, const uint8_t *copies, float *total) {
  int size = o->n_networks * LOCMI_DECK_UNITS;
#elif RULES == 1 || RULES == 2
// Deal three different cards (section 3).
LOCMI_FUNCTION void locmi_deal(const uint8_t *pool, int n, uint8_t *offer, uint64_t *stream) {
  int i = 0;
  int j;
  while (i < 3) {
    offer[i] = pool[locm_stream_below(stream, n)];
    j = 0;
    while (offer[j] != offer[i]) j++;
    i += j == i;
  }
}

// The expected value of the final deck after picking the first, second or third card of the last
// offer: the mean over sampled continuations, dealt from pools with all cards offered so far.
// Each later pick maximises the value of the deck, completed with average cards of that pool.
LOCMI_FUNCTION void locmi_draft_expected(const locmi_draft_value_t *v,
    const uint8_t offers[LOCM_MAX_DECK][3], const uint8_t *picked, int n_offers, int drafts,
    float *values) {
  int offered[LOCMI_DRAFT_CARDS];
  uint8_t pool[LOCMI_DRAFT_CARDS];
  uint8_t dealt[90];
  locmi_draft_sum_t chosen;
  locmi_draft_sum_t start;
  locmi_draft_sum_t usual;
  uint64_t stream;
  int turns = LOCM_MAX_DECK - n_offers;
  int number;
#endif
#if RULES != 3
  int i;
  int k;
#endif
#if RULES == 0
  float direct = 0;
  memcpy(total, o->bias, size * sizeof(float));
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
    for (int n2_ = copies[i], _ = 0; _ < n2_; _++) {
      direct += o->direct[i];
      for (k = 0; k < size; k++) total[k] += o->hidden[i * size + k];
#elif RULES == 1 || RULES == 2
  int n;
  memset(offered, 0, sizeof(offered));
  for (i = 0; i < n_offers; i++) {
    for (k = 0; k < 3; k++) {
      if (offers[i][k] < LOCMI_DRAFT_CARDS) offered[offers[i][k]] = 1;
#endif
#if RULES != 3
    }
  }
#endif
#if RULES == 0
  return direct;
}

// Returns the value of a deck, given by the number of copies of each card.
LOCMI_FUNCTION float locmi_deck_value(const locmi_offer_t *o, const uint8_t *copies) {
  float total[1024];
  float none[1024];
  float direct = locmi_add_up(o, copies, total);
  memset(none, 0, sizeof(none));
  return locmi_relu_dot(0, total, none, o->output, o->n_networks * LOCMI_DECK_UNITS) + direct;
}

// Exchanges cards while that raises the value, always by the best exchange.
LOCMI_FUNCTION void locmi_deck_improve(const locmi_offer_t *o, uint8_t *copies) {
  float total[1024];
  float rest[1024];
  int size = o->n_networks * LOCMI_DECK_UNITS;
  int i;
  int j;
  int k;
  int out;
  int into;
  float direct;
  float value;
  float best;
  float x;
  // an exchange must raise the value by more than this
  double least = 1e-4;
  for (int _ = 0; _ < LOCMI_MAX_EXCHANGES; _++) {
    direct = locmi_add_up(o, copies, total);
    value = locmi_deck_value(o, copies);
    best = 0;
    out = -1;
    into = -1;
    int n1_ = o->n_cards;
    for (i = 0; i < n1_; i++) {
      if (copies[i] == 0) continue;
      for (k = 0; k < size; k++) rest[k] = total[k] - o->hidden[i * size + k];
      int n2_ = o->n_cards;
      for (j = 0; j < n2_; j++) {
        if (i == j || copies[j] == LOCM_COPIES_PER_CARD) continue;
        x = locmi_relu_dot(0, &o->hidden[j * size], rest, o->output, size);
        x += direct + o->direct[j] - o->direct[i] - value;
        if (out < 0 || x > best) {
          best = x;
          out = i;
          into = j;
        }
      }
#elif RULES == 1 || RULES == 2
  locmi_start_sum(&chosen, v);
  for (i = 0; i < n_offers - 1; i++) locmi_add_sum(&chosen, &v->card[picked[i]], 1);
  *values = 0;
  values[1] = 0;
  values[2] = 0;
  if (turns <= 0) {
    // the last turn: there is nothing to sample
    drafts = 1;
  }
  for (number = 0; number < drafts; number++) {
    // All three cards are compared in the same continuations, whoever calls.
    stream = locm_stream_start(n_offers, number);
    n = locmi_draw_pool(offered, pool, &stream);
    locmi_usual_card(v, pool, n, &usual);
    for (i = 0; i < turns; i++) locmi_deal(pool, n, &dealt[3 * i], &stream);
    for (i = 0; i < 3; i++) {
      start = chosen;
      locmi_add_sum(&start, &v->card[offers[n_offers - 1][i]], 1);
      values[i] += locmi_played_out(v, &start, &usual, dealt, turns) / drafts;
#endif
#if RULES != 3
    }
#endif
#if RULES == 0
    if (out < 0 || best <= least) return;
    copies[out]--;
    copies[into]++;
#endif
#if RULES != 3
  }
}

// Return the value of one side, and write the attack on its board by lane.
LOCMI_INLINE float locmi_evaluate_side(const locm_player_t *p, const locmi_side_t *w,
    int32_t *attack) {
  const locm_creature_t *x;
  const float *by;
  uint32_t left = (p->marks >> LOCM_OCCUPIED) & 63;
  int slot;
  int health;
  int draws;
  int drawn;
  int hand;
  int lanes;
  float value;
  *attack = 0;
  attack[1] = 0;
#endif
#if RULES == 0 || RULES == 1
  lanes = 2 - ((left >> 2) & 1) - (left >> 5);
#elif RULES == 2
  lanes = left != 63;
#endif
#if RULES != 3
  value = w->room[lanes];
  while (left) {
    slot = locmi_lowest_bit_(left);
    left &= left - 1;
    x = &p->board[slot];
    by = w->by_keywords[x->keywords];
#endif
#if RULES == 0 || RULES == 1
    attack[slot >= 3] += x->attack;
#elif RULES == 2
    *attack += x->attack;
#endif
#if RULES != 3
    value += *by + by[1] * x->attack + by[2] * x->defense;
    value += by[3] * (x->attack < x->defense ? x->attack : x->defense);
  }
  // The next draw goes up to the hand limit; each card that the deck lacks does damage.
  hand = p->hand_size;
  draws = p->next_draw + p->lost / 5;
  drawn = LOCM_MAX_HAND - hand;
  if (drawn > draws) drawn = draws;
  if (drawn > p->deck_left) drawn = p->deck_left;
  hand += drawn;
  health = p->health;
#endif
#if RULES == 0
  if (draws > drawn && hand < LOCM_MAX_HAND) health -= 10 * (draws - drawn);
#elif RULES == 1 || RULES == 2
  if (draws > drawn && hand < LOCM_MAX_HAND) health -= 5 * (draws - drawn);
#endif
#if RULES != 3
  if (health >= LOCMI_HEALTH_STEPS) {
    value += w->health[63] + w->health_more * (health - LOCMI_HEALTH_STEPS + 1);
  }
  else value += w->health[health > 0 ? health : 0];
  value += w->hand[hand] + w->deck[p->deck_left - drawn];
#endif
#if RULES == 0
  return value + w->near_card * (p->lost % 5);
#elif RULES == 1 || RULES == 2
  return value + w->rune * locmi_count_bits_(p->runes);
#endif
#if RULES != 3
}

// Return the attack in lanes where the other player has no Guard.
LOCMI_INLINE int locmi_open_attack(const locm_player_t *other, const int32_t *attack) {
  uint32_t guarded = (other->marks >> LOCM_GUARDED) & 63;
#endif
#if RULES == 0 || RULES == 1
  return (guarded & 7 ? 0 : *attack) + (guarded >> 3 ? 0 : attack[1]);
#elif RULES == 2
  return guarded ? 0 : *attack;
#endif
#if RULES != 3
}

// Return the value of a position for `who`, whose turn ends; +/- MAX_VALUE if won or lost.
LOCMI_INLINE float locmi_evaluate(const locm_state_t *s, const locm_table_t *t,
    const locmi_eval_t *e, int who) {
  (void)t;
  const locm_player_t *me = &s->p[who];
  const locm_player_t *op = &s->p[1 - who];
  int32_t mine[2];
  int32_t theirs[2];
  int damage;
  uint64_t hand;
  float value;
  if (me->won | op->won) return me->won ? LOCMI_MAX_VALUE : -1000;
  value = locmi_evaluate_side(me, &e->side[0], mine) - locmi_evaluate_side(op, &e->side[1], theirs);
  damage = locmi_open_attack(op, mine);
  value += e->side[0].open_attack * damage + e->side[0].kill * (damage >= op->health);
  damage = locmi_open_attack(me, theirs);
  value -= e->side[1].open_attack * damage + e->side[1].kill * (damage >= me->health);
  hand = me->hand;
  for (int _ = 0; _ < (int)me->hand_size; _++) {
    value += e->hand_card[hand & 255];
    hand >>= 8;
  }
  return value + e->bonus * me->bonus;
}

// Convert a value to an expected result, from -1 to 1.
LOCMI_INLINE float locmi_squashed(float value, const locmi_eval_t *e) {
  return locmi_tanh32(value / e->scale);
}

// Fill in the tables of one side.
LOCMI_FUNCTION void locmi_fill_side(locmi_side_t *w, const locmi_terms_t *terms) {
  int i;
  for (i = 0; i < 64; i++) {
    w->by_keywords[i][0] = terms->creature;
    w->by_keywords[i][1] = terms->attack;
    w->by_keywords[i][2] = terms->defense;
    w->by_keywords[i][3] = terms->balance;
    if (i & LOCM_GUARD) {
      w->by_keywords[i][0] += terms->guard;
      w->by_keywords[i][2] += terms->guard_defense;
    }
    if (i & LOCM_LETHAL) w->by_keywords[i][0] += terms->lethal;
    if (i & LOCM_WARD) {
      w->by_keywords[i][0] += terms->ward;
      w->by_keywords[i][1] += terms->ward_attack;
    }
    if (i & LOCM_DRAIN) w->by_keywords[i][1] += terms->drain_attack;
    if (i & LOCM_BREAKTHROUGH) w->by_keywords[i][1] += terms->breakthrough_attack;
  }
  w->health_more = terms->health;
  for (i = 0; i < LOCMI_HEALTH_STEPS; i++) {
    w->health[i] = terms->health * i - terms->low_health * locmi_max_int(0,
        12 - i) - terms->lowest_health * locmi_max_int(0, 6 - i);
  }
  for (i = 0; i < 16; i++) {
    w->hand[i] = terms->card * i + terms->fifth_card * locmi_max_int(0, i - 4);
  }
  for (i = 0; i < 32; i++) w->deck[i] = terms->low_deck * locmi_max_int(0, 10 - i);
  w->near_card = terms->near_card;
  for (i = 0; i < 3; i++) w->room[i] = terms->room * i;
  w->open_attack = terms->open_attack;
  w->kill = terms->kill;
  w->rune = terms->rune;
}

// Fill in the tables from weights: the first all but those that depend on the cards of a game, the
// second these.
// Fill in everything that does not depend on the cards of a game.
LOCMI_FUNCTION void locmi_eval_fill(locmi_eval_t *e, const locmi_weights_t *w) {
  locmi_fill_side(&e->side[0], &w->side[0]);
  locmi_fill_side(&e->side[1], &w->side[1]);
  e->bonus = w->bonus_mana;
  e->scale = w->scale;
}

// Fill in what depends on the cards of a game.
LOCMI_FUNCTION void locmi_eval_use_table(locmi_eval_t *e, const locmi_weights_t *w,
    const locm_table_t *t) {
  const locm_card_t *c;
  int i;
  int n1_ = t->n_cards;
  for (i = 0; i < n1_; i++) {
    c = &t->cards[i];
    e->hand_card[i] = w->hand_type[c->type] + w->hand_cost * c->cost + w->hand_draw * c->draw +
        w->hand_area * (c->area != LOCM_AREA_TARGET);
  }
}

// Returns whether time is up or the search must end.
LOCMI_FUNCTION int locmi_is_late(locmi_work_t *w) {
  int64_t now = locm_now_ns();
  return w->failed || now >= w->budget.deadline;
}

// Take one node of the budget; False if it is used up.
LOCMI_INLINE int locmi_spend(locmi_work_t *w) {
  locmi_budget_t *b = &w->budget;
  if (b->over) return 0;
  b->nodes--;
  b->until_clock--;
  if (b->nodes < 0) {
    b->over = 1;
    return 0;
  }
  if (b->until_clock <= 0) {
    b->until_clock = LOCMI_CLOCK_PERIOD;
    if (locmi_is_late(w)) {
      b->over = 1;
      return 0;
    }
  }
  w->nodes++;
  return 1;
}

// Return whether a position was not seen yet, and record it.
LOCMI_INLINE int locmi_is_new(locmi_work_t *w, uint64_t hash) {
  uint64_t key = hash ^ w->salt;
  uint64_t *place = &w->seen[hash & w->seen_mask];
  if (*place == key) return 0;
  *place = key;
  return 1;
}

LOCMI_INLINE int32_t locmi_add_record(locmi_work_t *w, int32_t parent, uint8_t action) {
  locmi_record_t *r;
  if (w->n_records == w->max_records) return -2;
  r = &w->records[w->n_records];
  r->parent = parent;
  r->action = action;
  w->n_records++;
  return w->n_records - 1;
}

// Return the place of a value after the equal or better of `n` values; -1 if beyond `most`.
//
// With `once`, also -1 if the same value is among them.
LOCMI_INLINE int locmi_place_of(const float *values, int n, int most, float value, int once) {
  int k = n;
  while (k > 0 && values[k - 1] < value) k--;
  return k == most || (once && k > 0 && values[k - 1] == value) ? -1 : k;
}

// Fill the hidden places with the cards of a sampled world.
LOCMI_INLINE void locmi_put_world(const locmi_work_t *w, locm_state_t *s,
    const locm_state_t *world) {
  int op = 1 - w->who;
  s->p[op].hand = world->p[op].hand;
  s->p[op].cost_kinds = world->p[op].cost_kinds;
  memcpy(s->deck, world->deck, sizeof(s->deck));
}

// Return the value of a position for `who`, whose turn ends; and the expected result, -1 to 1.
// Evaluate by weights; not inlined, so that callers keep their registers.
LOCMI_FUNCTION float locmi_value_of(const locmi_work_t *w, const locm_state_t *s, int who) {
  return locmi_evaluate(s, w->table, w->eval, who);
}

// Return the expected result for `who`, whose turn ends, from -1 to 1.
LOCMI_FUNCTION float locmi_result_of(locmi_work_t *w, const locm_state_t *s, int who) {
  if (!w->network || locm_state_winner(s) >= 0) {
    return locmi_squashed(locmi_value_of(w, s, who), w->eval);
  }
  return locmi_tanh32(locmi_network_value(w->network, s, w->table, who) / 2);
}

// Write the actions up to a record, and one more unless it is PASS; return their number.
LOCMI_FUNCTION int locmi_path_of(const locmi_work_t *w, int32_t record, int action, uint8_t *path) {
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
  if (action != LOCM_PASS) {
    path[n] = action;
    n++;
  }
  return n;
}

// Keep a whole turn if it is one of the best and no other leads to the same position.
LOCMI_FUNCTION void locmi_note_plan(locmi_work_t *w, float value, uint64_t hash, int32_t parent,
    uint8_t action) {
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
#endif
#if RULES == 0 || RULES == 2 || RULES == 1 && IS_TREE
}

#endif
#if RULES != 3 && IS_TREE
// Insert a position into the best `most` after equal ones; return their new number.
//
// `once`: unless one has the same value.
LOCMI_INLINE int locmi_keep_best(float *values, locm_state_t *states, int n, int most, float value,
    const locm_state_t *s, int once) {
  int k = locmi_place_of(values, n, most, value, once);
  int i;
  if (k < 0) return n;
  if (n < most) n++;
  for (i = n - 1; i > k; i--) {
    values[i] = values[i - 1];
    states[i] = states[i - 1];
  }
  values[k] = value;
  states[k] = *s;
  return n;
#endif
#if RULES == 0 && IS_TREE || RULES == 2 && IS_TREE || RULES == 1
}

#endif
#if RULES != 3
// Return the attack of the ready creatures; `everywhere`: including lanes with Guards.
LOCMI_INLINE int locmi_ready_attack(const locm_state_t *s, int everywhere) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  uint32_t left = me->marks & 63;
  int32_t attack[2];
  int slot;
  attack[0] = 0;
  attack[1] = 0;
  while (left) {
    slot = locmi_lowest_bit_(left);
    left &= left - 1;
#endif
#if RULES == 0 || RULES == 1
    if (me->board[slot].attack > 0) attack[slot >= 3] += me->board[slot].attack;
#elif RULES == 2
    if (me->board[slot].attack > 0) attack[0] += me->board[slot].attack;
#endif
#if RULES != 3
  }
  return everywhere ? attack[0] + attack[1] : locmi_open_attack(op, attack);
}

// Return the opponent's health after all direct attacks that are possible now.
LOCMI_INLINE int locmi_missing_damage(const locm_state_t *s) {
  return s->p[~s->turn & 1].health - locmi_ready_attack(s, 0);
}

LOCMI_INLINE int locmi_can_kill(const locm_state_t *s) {
  return locmi_missing_damage(s) <= 0;
#endif
#if RULES == 0 && !IS_TREE || RULES == 2 && !IS_TREE || RULES == 1
}

#endif
#if RULES != 3 && !IS_TREE
// Play a turn action by action, always the best one, as long as it improves the position.
//
// Of a win by attacks alone only the result is set; the attacks are not played.
LOCMI_FUNCTION void locmi_greedy_turn(locmi_work_t *w, locm_state_t *s) {
  uint8_t actions[156];
  locm_state_t children[2];
  int who = s->turn & 1;
  int n;
  int i;
  int free = 0;
  float best;
  float value;
  int improved;
  if (locmi_can_kill(s)) {
    s->p[who].won = 1;
    return;
  }
  best = locmi_value_of(w, s, who);
  for (int _ = 0; _ < LOCMI_MAX_TURN_ACTIONS; _++) {
    improved = 0;
    n = locm_state_list(s, w->table, actions);
    for (i = 1; i < n; i++) {
      w->nodes++;
      children[free] = *s;
      locm_state_apply(&children[free], w->table, actions[i]);
      value = locmi_value_of(w, &children[free], who);
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

// Insert a position into the best `most` after equal ones; return their new number.
//
// `once`: unless one has the same value.
LOCMI_INLINE int locmi_keep_best(float *values, locm_state_t *states, int n, int most, float value,
    const locm_state_t *s, int once) {
  int k = locmi_place_of(values, n, most, value, once);
  int i;
  if (k < 0) return n;
  if (n < most) n++;
  for (i = n - 1; i > k; i--) {
    values[i] = values[i - 1];
    states[i] = states[i - 1];
  }
  values[k] = value;
  states[k] = *s;
  return n;
#endif
#if RULES == 0 || RULES == 2 || RULES == 1 && !IS_TREE
}

#endif
#if RULES != 3
// Write the best positions one action later, best first.
//
// Returns their number, or -1 if the first one wins.
//
// Positions with equal values are treated as the same position.
LOCMI_INLINE int locmi_next_level(locmi_work_t *w, const locm_state_t *here, int n_here,
    float *values, locm_state_t *states) {
  uint8_t actions[156];
  locm_state_t child;
  int who = (*here).turn & 1;
  int n_next = 0;
  int n;
  int i;
  int j;
  float value;
  for (i = 0; i < n_here; i++) {
    n = locm_state_list(&here[i], w->table, actions);
    w->nodes += n - 1;
    w->budget.nodes -= n - 1;
    w->budget.until_clock -= n - 1;
    for (j = 1; j < n; j++) {
      child = here[i];
      locm_state_apply(&child, w->table, actions[j]);
      if (child.p[1 - who].won) continue;
      value = locmi_value_of(w, &child, who);
      if (value >= LOCMI_MAX_VALUE || locmi_can_kill(&child)) {
        *states = child;
        return -1;
      }
      n_next = locmi_keep_best(values, states, n_next, w->reply_width, value, &child, 1);
    }
  }
  return n_next;
}

// Later turns, of either player.
// Write the best ends of a turn that a beam of `reply_width` positions finds, best first.
//
// Ends may have any number of actions. Returns how many there are, at most `reply_width`. The beam
// stops when one more action has not improved any position. A winning end is the only one.
LOCMI_FUNCTION int locmi_narrow_turns(locmi_work_t *w, const locm_state_t *start,
    locm_state_t *kept, float *kept_values) {
  locm_state_t level[2][LOCMI_MAX_REPLY_WIDTH];
  float values[LOCMI_MAX_REPLY_WIDTH];
  int who = start->turn & 1;
  int n_here = 1;
  int n_kept = 1;
  int i;
  int now = 0;
  float best;
  *kept = *start;
  *kept_values = LOCMI_MAX_VALUE;
  if (locmi_can_kill(start)) {
    (*kept).p[who].won = 1;
    return 1;
  }
  best = locmi_value_of(w, start, who);
  *kept_values = best;
  level[0][0] = *start;
  for (int _ = 0; _ < LOCMI_MAX_TURN_ACTIONS; _++) {
    n_here = locmi_next_level(w, level[now], n_here, values, level[1 - now]);
    now = 1 - now;
    if (n_here < 0) {
      *kept = level[now][0];
      (*kept).p[who].won = 1;
      *kept_values = LOCMI_MAX_VALUE;
      return 1;
    }
    for (i = 0; i < n_here; i++) {
      n_kept = locmi_keep_best(kept_values, kept, n_kept, w->reply_width, values[i],
          &level[now][i], 0);
    }
    if (n_here == 0 || values[0] <= best) break;
    best = values[0];
  }
  return n_kept;
}

#endif
#if RULES != 3 && !IS_TREE
// Play the best turn that a narrow beam finds: a stronger reply than a greedy one.
//
// A network chooses among the best ends.
LOCMI_FUNCTION void locmi_narrow_turn(locmi_work_t *w, locm_state_t *s) {
  locm_state_t kept[LOCMI_MAX_REPLY_WIDTH];
  float values[LOCMI_MAX_REPLY_WIDTH];
  int who = s->turn & 1;
  int n = locmi_narrow_turns(w, s, kept, values);
  int i;
  int k = 0;
  float value;
  float odds = 0;
  if (w->network != NULL && n > 1) {
    for (i = 0; i < n; i++) {
      value = locmi_network_value(w->network, &kept[i], w->table, who);
      if ((i == 0 || value > odds) && values[i] > -1000) {
        odds = value;
        k = i;
      }
    }
  }
  *s = kept[k];
}

#endif
#if RULES != 3
// Return the i-th sample; i is at most the number of samples drawn so far.
LOCMI_FUNCTION const locm_state_t *locmi_world_of(locmi_work_t *w, int i) {
  locm_state_t *world = &w->worlds[i];
  uint64_t stream;
  if (i < w->n_worlds) return world;
  w->n_worlds = i + 1;
  *world = w->root;
  stream = locm_stream_start(w->world_seed, i);
  locm_state_deal(world, w->table, w->unknown, &stream);
  return world;
#endif
#if RULES != 3 && !IS_TREE
}

// Return the result, -1 to 1, after playing `turns` more turns greedily.
LOCMI_FUNCTION float locmi_play_on(locmi_work_t *w, const locm_state_t *end,
    const locm_state_t *world, int turns) {
  locm_state_t s = *end;
  int mover;
  locmi_put_world(w, &s, world);
  for (int _ = 0; _ < turns; _++) {
    locmi_state_end_turn(&s, w->table);
    if (locm_state_winner(&s) >= 0) break;
    if (w->reply_width > 1) locmi_narrow_turn(w, &s);
    else locmi_greedy_turn(w, &s);
    if (locm_state_winner(&s) >= 0) break;
  }
  mover = s.turn & 1;
  float value = locmi_result_of(w, &s, mover);
  return mover == w->who ? value : -value;
#endif
#if RULES != 3
}

// Return the damage that a card's effects do to the opponent.
LOCMI_INLINE int locmi_harm(const locm_card_t *c) {
  return c->opponent_health < 0 ? -c->opponent_health : 0;
}

LOCMI_INLINE int locmi_potential_of(const locm_card_t *c, const locmi_wins_t *l, int enemies,
    int sleeper) {
  int size = 1;
  if (c->type == LOCM_CREATURE) {
    size = c->area == LOCM_AREA_TARGET ? 1 : 2;
    return size * (locmi_harm(c) + (c->attack > 0 && (l->wakes || c->keywords & LOCM_CHARGE) ?
        c->attack : 0));
  }
  if (c->area != LOCM_AREA_TARGET) size = c->area == LOCM_AREA_LANE2 ? LOCM_MAX_BOARD : 3;
  if (c->type == LOCM_GREEN) {
    return size * (locmi_harm(c) + (c->attack > 0 ? c->attack : 0) + (c->keywords & LOCM_CHARGE ?
        sleeper : 0));
  }
  size = locmi_harm(c) * locmi_min_int(size, enemies);
  if (c->type == LOCM_BLUE) return locmi_max_int(size, -c->defense - c->opponent_health);
  return size;
}

LOCMI_INLINE void locmi_prepare_wins(locmi_wins_t *l, const locm_state_t *s,
    const locm_table_t *t) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  const locm_card_t *c;
  int h;
  int slot;
  int sleeper = 0;
  memset(l, 0, sizeof(locmi_wins_t));
  for (slot = 0; slot < LOCM_MAX_BOARD; slot++) {
    sleeper = locmi_max_int(sleeper, me->board[slot].attack);
  }
  int n1_ = me->hand_size;
  for (h = 0; h < n1_; h++) {
    c = &t->cards[(me->hand >> 8 * h) & 255];
    if (c->type == LOCM_CREATURE) sleeper = locmi_max_int(sleeper, c->attack);
    else if (c->type == LOCM_GREEN) {
      l->wakes |= (c->keywords & LOCM_CHARGE) != 0;
      l->needs_creatures |= locmi_harm(c) > 0;
    }
  }
  int n2_ = me->hand_size;
  for (h = 0; h < n2_; h++) {
    l->potential[(me->hand >> 8 * h) & 255] = locmi_potential_of(&t->cards[(me->hand >> 8 * h) &
        255], l, locmi_count_bits_((op->marks >> LOCM_OCCUPIED) & 63), sleeper);
  }
}

// Return an upper bound of the damage beyond attacks that are possible now: attackers blocked
// by Guards, and the best affordable set of cards (a knapsack).
LOCMI_INLINE int locmi_most_damage(const locmi_wins_t *l, const locm_state_t *s,
    const locm_table_t *t) {
  const locm_player_t *me = &s->p[s->turn & 1];
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
        best[left] = locmi_max_int(best[left], best[left - cost] + l->potential[entry]);
      }
    }
  }
  return best[me->mana] + locmi_ready_attack(s, 1) - locmi_ready_attack(s, 0);
}

// Return the creatures that an item used on this one affects.
LOCMI_INLINE uint32_t locmi_reach(const locm_card_t *c, int slot, uint32_t occupied) {
  if (c->area == LOCM_AREA_TARGET) return 1U << slot;
  return occupied & (c->area == LOCM_AREA_LANE2 ? 63 : slot < 3 ? 7 : 56);
}

// Return whether an action may help to win in this turn: one that harms the opponent,
// strengthens or readies an attacker, removes or attacks a Guard, or makes room for a card.
LOCMI_INLINE int locmi_is_useful(const locmi_wins_t *l, const locm_state_t *s,
    const locm_table_t *t, int action) {
  const locm_player_t *me = &s->p[s->turn & 1];
  const locm_player_t *op = &s->p[~s->turn & 1];
  locm_move_t m = locm_decode_action(t, action);
  const locm_card_t *c;
  const locm_creature_t *x;
  const locm_creature_t *y;
  uint32_t hit;
  uint32_t guards = (op->marks >> LOCM_GUARDED) & 63;
  uint32_t lane;
  int slot;
  if (m.kind == LOCM_ATTACK) {
    if (m.target == 0) {
      // attacks on the opponent are played last, all at once
      return 0;
    }
    x = &me->board[m.source];
    y = &op->board[m.target - 1];
    if (y->keywords & LOCM_GUARD && x->attack > 0) return 1;
#endif
#if RULES == 0 || RULES == 1
    lane = m.source < 3 ? 7 : 56;
#elif RULES == 2
    lane = 63;
#endif
#if RULES != 3
    return ((me->marks >> LOCM_OCCUPIED) & lane) == lane && !(x->keywords & LOCM_WARD) && y->attack
        > 0 && (y->attack >= x->defense || (y->keywords & LOCM_LETHAL) != 0);
  }
  c = &t->cards[(me->hand >> 8 * m.source) & 255];
  if (m.kind == LOCM_SUMMON) {
    return l->needs_creatures || l->potential[(me->hand >> 8 * m.source) & 255] > 0;
  }
  if (locmi_harm(c)) return 1;
  if (m.target == 0) return c->defense + c->opponent_health < 0;
  if (c->type == LOCM_GREEN) {
    hit = locmi_reach(c, m.target - 1, (me->marks >> LOCM_OCCUPIED) & 63);
    while (hit) {
      slot = locmi_lowest_bit_(hit);
      hit &= hit - 1;
      if ((me->marks >> LOCM_SPENT >> slot) & 1 || !((me->marks >> slot) & 1 || l->wakes)) continue;
      if (c->keywords & LOCM_CHARGE && !((me->marks >> slot) & 1)) return 1;
      if (c->attack > 0 || (guards && c->keywords & 17)) return 1;
    }
    return 0;
  }
  return (c->defense < 0 || c->keywords & 40) && (locmi_reach(c, m.target - 7,
      (op->marks >> LOCM_OCCUPIED) & 63) & guards) != 0;
}

// Decide what to do with the position after an action before evaluating it; write its hash.
LOCMI_INLINE int locmi_sift(locmi_work_t *w, const locm_state_t *child, int record, uint8_t action,
    uint64_t *hash) {
  if (child->p[1 - w->who].won) return LOCMI_LEFT_OUT;
  if (child->p[w->who].won || locmi_can_kill(child)) {
    w->won = 1;
    w->win.parent = record;
    w->win.action = action;
    return LOCMI_WINNING;
  }
  *hash = locmi_turn_hash(child, w->card_keys);
  return locmi_is_new(w, *hash) ? LOCMI_KEPT : LOCMI_LEFT_OUT;
}

// Levels of the beam: moves the k best candidates to the front.
// Move the k best of n candidates to the front (quickselect).
LOCMI_FUNCTION void locmi_select_best(locmi_candidate_t *c, int n, int k) {
  int low = 0;
  int high = n - 1;
  int i;
  int j;
  float pivot;
  locmi_candidate_t x;
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

// Return what to do with the position after an action, and its value if it is kept.
LOCMI_INLINE int locmi_look_at(locmi_work_t *w, const locm_state_t *child,
    const locmi_wins_t *wins, int record, uint8_t action, float *value) {
  uint64_t hash;
  int missing;
  int look = locmi_sift(w, child, record, action, &hash);
  if (look != LOCMI_KEPT) return look;
  if (wins != NULL) {
    missing = locmi_missing_damage(child);
    *value = -missing;
    return missing > locmi_most_damage(wins, child, w->table) ? LOCMI_LEFT_OUT : LOCMI_KEPT;
  }
  *value = locmi_value_of(w, child, w->who);
  locmi_note_plan(w, *value, hash, record, action);
  return LOCMI_KEPT;
}

// Make the first `n` candidates the level after level `now`; -1 if no records are left.
LOCMI_FUNCTION int locmi_make_level(locmi_work_t *w, int n, int now) {
  locmi_candidate_t *c;
  int i;
  int record;
  for (i = 0; i < n; i++) {
    c = &w->candidates[i];
    record = locmi_add_record(w, w->level_records[now][c->parent], c->action);
    if (record < 0) return -1;
    w->level_records[1 - now][i] = record;
    w->level[1 - now][i] = w->level[now][c->parent];
    locm_state_apply(&w->level[1 - now][i], w->table, c->action);
  }
  return n;
}

// Follow the `width` best positions after each number of actions, to the end of the budget.
//
// Returns whether no position had to be left out. A winning turn ends the search. With `wins`, it
// looks for winning turns only.
LOCMI_FUNCTION int locmi_beam_pass(locmi_work_t *w, int width, const locmi_wins_t *wins) {
  uint8_t actions[156];
  locm_state_t child;
  locm_state_t *here;
  locmi_candidate_t *c;
  int n_here = 1;
  int n_next;
  int n;
  int i;
  int j;
  int look;
  int depth = 0;
  int now = 0;
  int complete = 1;
  w->salt = locmi_mixed(w->salt + 1);
  *w->level[0] = w->root;
  *w->level_records[0] = -1;
  locmi_is_new(w, locmi_turn_hash(&w->root, w->card_keys));
  while (n_here && depth < 63) {
    depth++;
    n_next = 0;
    for (i = 0; i < n_here; i++) {
      here = &w->level[now][i];
      n = locm_state_list(here, w->table, actions);
      for (j = 1; j < n; j++) {
        if (n_next == w->max_candidates) {
          complete = 0;
          break;
        }
        if (wins != NULL && !locmi_is_useful(wins, here, w->table, actions[j])) continue;
        if (!locmi_spend(w)) return 0;
        child = *here;
        locm_state_apply(&child, w->table, actions[j]);
        c = &w->candidates[n_next];
        look = locmi_look_at(w, &child, wins, w->level_records[now][i], actions[j], &c->value);
        if (look == LOCMI_WINNING) return 1;
        if (look == LOCMI_KEPT) {
          c->parent = i;
          c->action = actions[j];
          n_next++;
        }
      }
    }
    if (n_next) w->depth = locmi_max_int(w->depth, depth);
    if (n_next > width) {
      locmi_select_best(w->candidates, n_next, width);
      n_next = width;
      complete = 0;
    }
    n_here = locmi_make_level(w, n_next, now);
    if (n_here < 0) return 0;
    now = 1 - now;
  }
  return complete;
}

// Both end at a winning turn, which sets `w.won` and `w.win`. The second fills `w.plans`.
// Look for a winning turn; that costs little where no turn can win.
LOCMI_FUNCTION void locmi_search_wins(locmi_work_t *w, int width) {
  locmi_wins_t wins;
  if (locmi_can_kill(&w->root)) {
    w->won = 1;
    w->win.parent = -1;
    w->win.action = LOCM_PASS;
    return;
  }
  locmi_prepare_wins(&wins, &w->root, w->table);
  if (locmi_missing_damage(&w->root) <= locmi_most_damage(&wins, &w->root, w->table)) {
    locmi_beam_pass(w, width, &wins);
  }
}

// Run beams of growing width until the budget is used up or nothing is left out.
LOCMI_FUNCTION void locmi_beam_search(locmi_work_t *w, int width) {
  int this_width = 16;
  locmi_note_plan(w, locmi_value_of(w, &w->root, w->who), locmi_turn_hash(&w->root, w->card_keys),
      -1, LOCM_PASS);
  while (!w->budget.over) {
    if (this_width > width) this_width = width;
    if (locmi_beam_pass(w, this_width, NULL) || w->won || this_width == width) return;
    this_width *= 4;
  }
}

// Sort by value, the highest first, keeping the order of equal values.
LOCMI_FUNCTION void locmi_put_best_first(int32_t *order, const float *values, int n) {
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

// Order the plans by the results expected at their ends, best first.
//
// Sets their results to that, and their ends in `w.ends`.
LOCMI_FUNCTION void locmi_rank_plans(locmi_work_t *w, int32_t *order) {
  uint8_t path[66];
  float results[LOCMI_MAX_PLANS];
  int i;
  int j;
  int length;
  int n1_ = w->n_plans;
  for (i = 0; i < n1_; i++) {
    w->ends[i] = w->root;
    length = locmi_path_of(w, w->plans[i].parent, w->plans[i].action, path);
    for (j = 0; j < length; j++) locm_state_apply(&w->ends[i], w->table, path[j]);
    if (!w->network) results[i] = locmi_squashed(w->plans[i].value, w->eval);
    else results[i] = locmi_result_of(w, &w->ends[i], w->who);
    w->plans[i].visits = 0;
    w->plans[i].result = results[i];
    order[i] = i;
  }
  locmi_put_best_first(order, results, w->n_plans);
}

// Compares the best plans, listed in `order`: each round tries all that are left once, from their
// ends in `w.ends`, and updates their values.
// Rank the plans and begin to compare the best, at most `plans` and at most `most`.
LOCMI_FUNCTION void locmi_start_halving(locmi_work_t *w, locmi_halving_t *h, int turns, int plans,
    int64_t most, int32_t *order) {
  h->start = locm_now_ns();
  h->nodes = w->budget.nodes;
  h->left = w->budget.nodes;
  h->cost = 24 * turns * w->reply_width;
  h->alive = locmi_min_int(w->n_plans, plans);
  h->rounds = 0;
  h->round = 0;
  locmi_rank_plans(w, order);
  while (h->alive > 1 && (h->cost * h->alive > h->nodes || h->alive > most)) {
    // a small budget suffices for fewer plans only
    h->alive >>= 1;
  }
  while (1 << h->rounds < h->alive) h->rounds++;
}

// Drop the worse half as often as is due, which depends on the used share of the budget.
//
// `used` is that share by other bounds than nodes and time.
LOCMI_FUNCTION void locmi_end_round(const locmi_work_t *w, locmi_halving_t *h, float used,
    int32_t *order, const float *values) {
  int64_t now = locm_now_ns();
  h->cost = 1 + (h->left - w->budget.nodes) / h->alive;
  h->left = w->budget.nodes;
  // The deadline may have passed at the start, if this process had to wait.
  if (w->failed || now >= w->budget.deadline) used = 1;
  else {
    used = locmi_max_float(used, (float)(h->nodes - h->left) / h->nodes);
    used = locmi_max_float(used, (float)(now - h->start) / (w->budget.deadline - h->start));
  }
  while (h->round < h->rounds && used * h->rounds >= h->round + 1) {
    h->round++;
    locmi_put_best_first(order, values, h->alive);
    h->alive = (h->alive + 1) >> 1;
  }
}

#endif
#if RULES != 3 && !IS_TREE
// Sets the mean result of each plan over the worlds it was tried in; the result expected at its end
// counts as `static_worlds` of them.
LOCMI_FUNCTION void locmi_settle(locmi_work_t *w, const float *total, float static_worlds) {
#elif RULES != 3 && IS_TREE
// Parts of `tree_search`.
// Set the priors of a position's turns: the better a turn's value, the higher its prior.
LOCMI_FUNCTION void locmi_set_priors(locmi_tree_t *tree, const locmi_turns_t *turns,
    float temperature) {
  locmi_node_t *nodes = &tree->nodes[turns->first];
  float best = -1;
  float total = 0;
#endif
#if RULES != 3
  int i;
#endif
#if RULES != 3 && !IS_TREE
  int n1_ = w->n_plans;
  for (i = 0; i < n1_; i++) {
    if (w->plans[i].visits) w->plans[i].result = total[i] / (w->plans[i].visits + static_worlds);
#elif RULES != 3 && IS_TREE
  int n1_ = turns->n;
  for (i = 0; i < n1_; i++) best = locmi_max_float(best, nodes[i].value);
  int n2_ = turns->n;
  for (i = 0; i < n2_; i++) {
    nodes[i].prior = locmi_exp32((nodes[i].value - best) / temperature);
    total += nodes[i].prior;
#endif
#if RULES != 3
  }
#endif
#if RULES != 3 && IS_TREE
  int n3_ = turns->n;
  for (i = 0; i < n3_; i++) nodes[i].prior /= total;
#endif
#if RULES != 3
}

#endif
#if RULES != 3 && !IS_TREE
// Returns the plan with the best mean result over sampled worlds.
// Return the plan with the best mean result over worlds, the same for all plans.
#elif RULES != 3 && IS_TREE
LOCMI_FUNCTION locmi_node_t *locmi_add_node(locmi_tree_t *tree, const locm_state_t *s,
    float value) {
  locmi_node_t *node = &tree->nodes[tree->n_nodes];
  memset(node, 0, sizeof(locmi_node_t));
  node->s = *s;
  node->value = value;
  tree->n_nodes++;
  return node;
}

// Find the turns of the player to move; False if there is no room for them.
LOCMI_FUNCTION int locmi_expand(locmi_work_t *w, locmi_tree_t *tree, const locmi_options_t *o,
    const locm_state_t *s, locmi_turns_t *turns) {
  locm_state_t kept[LOCMI_MAX_REPLY_WIDTH];
  float values[LOCMI_MAX_REPLY_WIDTH];
  int who = s->turn & 1;
  int n;
  int i;
  if (tree->n_nodes + LOCMI_MAX_REPLY_WIDTH > tree->max_nodes) return 0;
  n = locmi_narrow_turns(w, s, kept, values);
  turns->first = tree->n_nodes;
  turns->n = n;
  for (i = 0; i < n; i++) {
    if (!w->network && locm_state_winner(&kept[i]) < 0) {
      locmi_add_node(tree, &kept[i], locmi_squashed(values[i], w->eval));
    }
    else locmi_add_node(tree, &kept[i], locmi_result_of(w, &kept[i], who));
  }
  locmi_set_priors(tree, turns, o->temperature);
  return 1;
}

// Return the mean of all results, where the expected one counts as `static_visits` visits.
LOCMI_FUNCTION float locmi_mean_result(const locmi_node_t *node, float static_visits) {
  if (node->visits == 0) return node->value;
  return (float)((node->total + static_visits * node->value) / (node->visits + static_visits));
}

// Return the turn with the highest sum of mean result and exploration term (PUCT).
LOCMI_FUNCTION locmi_node_t *locmi_select_turn(locmi_tree_t *tree, const locmi_turns_t *turns,
    const locmi_options_t *o) {
  locmi_node_t *nodes = &tree->nodes[turns->first];
  locmi_node_t *best = nodes;
  float highest = -1e9;
  float root;
  float x;
  int visits = 1;
  int i;
  for (i = 0; i < turns->n; i++) visits += nodes[i].visits;
  root = o->exploration * sqrtf((float)visits);
  int n1_ = turns->n;
  for (i = 0; i < n1_; i++) {
    x = locmi_mean_result(&nodes[i], 1) + root * nodes[i].prior / (1 + nodes[i].visits);
    if (x > highest) {
      highest = x;
      best = &nodes[i];
    }
  }
  return best;
}

LOCMI_FUNCTION locmi_node_t *locmi_best_by_value(locmi_tree_t *tree, const locmi_turns_t *turns) {
  locmi_node_t *nodes = &tree->nodes[turns->first];
  locmi_node_t *best = nodes;
  int i;
  for (i = 1; i < turns->n; i++) {
    if (nodes[i].value > best->value) best = &nodes[i];
  }
  return best;
}

// Follow a plan in one of the worlds.
#endif
#if RULES != 3
//
#endif
#if RULES != 3 && !IS_TREE
// The best `plans` by the result expected at their own ends are compared by sequential halving.
// That expectation counts as `static_worlds` results.
LOCMI_FUNCTION int locmi_best_plan(locmi_work_t *w, int turns, int plans, float static_worlds) {
  float total[LOCMI_MAX_PLANS];
  float results[LOCMI_MAX_PLANS];
  int32_t order[LOCMI_MAX_PLANS];
  const locm_state_t *world;
  locmi_halving_t h;
  int worlds = 0;
#elif RULES != 3 && IS_TREE
// PUCT chooses among known turns; after them the best new turn by value follows, until `turns`
// have followed the plan and its own player has moved last.
LOCMI_FUNCTION void locmi_visit(locmi_work_t *w, locmi_tree_t *tree, const locmi_options_t *o,
    locmi_node_t *plan, int number) {
  locmi_node_t *path[LOCMI_MAX_DEPTH];
  locmi_node_t *node = plan;
  int world = plan->visits % w->max_worlds;
  locmi_turns_t *turns = &tree->replies[number * w->max_worlds + world];
  locm_state_t s = plan->s;
  float result;
  int new_ = 0;
  int depth = 0;
#endif
#if RULES != 3
  int i;
#endif
#if RULES != 3 && !IS_TREE
  locmi_start_halving(w, &h, turns, plans, plans, order);
  if (turns == 0) return order[0];
  int n1_ = w->n_plans;
  for (i = 0; i < n1_; i++) total[i] = static_worlds * w->plans[i].result;
  while (h.round < h.rounds && worlds < w->max_worlds && w->budget.nodes >= h.cost * h.alive) {
    world = locmi_world_of(w, worlds);
    int all2_ = 1;
    int n3_ = h.alive;
    for (i = 0; i < n3_; i++) {
      if (locmi_is_late(w)) {
        all2_ = 0;
#elif RULES != 3 && IS_TREE
  locmi_put_world(w, &s, locmi_world_of(w, world));
  for (;;) {
    locmi_state_end_turn(&s, w->table);
    if (locm_state_winner(&s) >= 0) {
      // For the player of `node`, whose turn has just ended.
      result = s.p[(w->who + depth) & 1].won ? 1 : -1;
      break;
    }
    if (turns->n == 0) {
      if (!locmi_expand(w, tree, o, &s, turns)) {
        result = node->value;
#endif
#if RULES != 3
        break;
      }
#endif
#if RULES != 3 && !IS_TREE
      results[i] = locmi_play_on(w, &w->ends[order[i]], world, turns);
#elif RULES != 3 && IS_TREE
      new_ = 1;
#endif
#if RULES != 3
    }
#endif
#if RULES != 3 && !IS_TREE
    if (all2_) {
      int n4_ = h.alive;
      for (i = 0; i < n4_; i++) {
        total[order[i]] += results[i];
        w->plans[order[i]].visits++;
      }
      worlds++;
#elif RULES != 3 && IS_TREE
    node = new_ ? locmi_best_by_value(tree, turns) : locmi_select_turn(tree, turns, o);
    path[depth] = node;
    depth++;
    result = node->value;
    if (locm_state_winner(&node->s) >= 0 || depth == LOCMI_MAX_DEPTH) break;
    if (new_ && depth >= o->turns && (depth - o->turns) % 2 == 0) break;
    s = node->s;
    turns = &node->next;
  }
  // `result` is for the player of the last turn.
  for (i = depth - 1; i > -1; i--) {
    path[i]->visits++;
    path[i]->total += result;
    result = -result;
  }
  plan->visits++;
  plan->total += result;
}

// Finds the best of the plans in `w.plans` by visits, until the budget or their number is used up;
// returns the number of visits.
LOCMI_FUNCTION int64_t locmi_tree_search(locmi_work_t *w, locmi_tree_t *tree,
    const locmi_options_t *o, int64_t iterations, int *best) {
  // of plans in `w.plans`
  int32_t order[LOCMI_MAX_PLANS];
  // their nodes, the best first
  int32_t plans[LOCMI_MAX_PLANS];
  // ... and mean results
  float means[LOCMI_MAX_PLANS];
  locmi_halving_t h;
  int64_t done = 0;
  int n;
  int i;
  int k;
  locmi_start_halving(w, &h, o->turns, o->plans, iterations, order);
  n = h.alive;
  tree->n_nodes = 0;
  for (i = 0; i < n; i++) {
    means[i] = w->plans[order[i]].result;
    locmi_add_node(tree, &w->ends[order[i]], means[i]);
    plans[i] = i;
  }
  memset(tree->replies, 0, n * w->max_worlds * sizeof(locmi_turns_t));
  while (h.round < h.rounds && w->budget.nodes >= h.cost * h.alive && done + h.alive <= iterations)
      {
    int n1_ = h.alive;
    for (i = 0; i < n1_; i++) {
      if (locmi_is_late(w)) break;
      k = plans[i];
      locmi_visit(w, tree, o, &tree->nodes[k], k);
      means[k] = locmi_mean_result(&tree->nodes[k], o->static_worlds);
      // so that visits without new nodes end, too
      w->budget.nodes--;
      done++;
#endif
#if RULES != 3
    }
#endif
#if RULES != 3 && !IS_TREE
    locmi_end_round(w, &h, (float)worlds / w->max_worlds, order, total);
#elif RULES != 3 && IS_TREE
    locmi_end_round(w, &h, (float)done / iterations, plans, means);
#endif
#if RULES != 3
  }
#endif
#if RULES != 3 && !IS_TREE
  locmi_settle(w, total, static_worlds);
  locmi_put_best_first(order, total, h.alive);
  return order[0];
#elif RULES != 3 && IS_TREE
  locmi_put_best_first(plans, means, h.alive);
  for (i = 0; i < n; i++) {
    if (tree->nodes[i].visits) {
      w->plans[order[i]].visits = tree->nodes[i].visits;
      w->plans[order[i]].result = means[i];
    }
  }
  *best = order[plans[0]];
  return done;
#endif
}

LOCMI_FUNCTION void locm_belief_reset(locm_belief_t *b) {
  memset(b, 0, sizeof(locm_belief_t));
  b->seat = -1;
  b->turn = -1;
}

LOCMI_FUNCTION void locm_belief_chose(locm_belief_t *b, int32_t base_id) {
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

// Record a card that was seen.
#if RULES != 3
LOCMI_FUNCTION void belief_locmi_note(locm_belief_t *b, int whose, int32_t id, int32_t base_id) {
#else
LOCMI_FUNCTION void locmi_note(locm_belief_t *b, int whose, int32_t id, int32_t base_id) {
#endif
  int i = 0;
#if RULES != 3
  id = locmi_original_id(id);
#else
  id = locmi_original_id(b->rules, id);
#endif
  while (i < b->n_seen[whose] && b->seen_id[whose][i] != id) i++;
  if (i == LOCM_MAX_CARDS) return;
  b->seen_id[whose][i] = id;
  b->seen[whose][i] = base_id;
  if (i == b->n_seen[whose]) b->n_seen[whose]++;
}

// Tell the players apart by their instance ids (section 1).
LOCMI_FUNCTION int locmi_find_seat(const locm_belief_t *b, const locm_shown_t *o) {
  int who;
  for (who = 0; who < 2; who++) {
#if RULES != 3
    if (b->n_seen[who]) return locmi_owner_of_id(b->seen_id[who][0]) ^ who;
#else
    if (b->n_seen[who]) return locmi_owner_of_id(b->rules, b->seen_id[who][0]) ^ who;
#endif
  }
  // Without any card, mana decides: in the second player's turn both usually have the same, in the
  // first player's turn that player is one ahead.
  return o->player[0].max_mana == o->player[1].max_mana;
}

// Return the player's earlier turns, which player 0's mana counts up to its limit.
LOCMI_FUNCTION int locmi_own_turns(const locm_belief_t *b, const locm_shown_t *o) {
  int first = o->player[b->seat].max_mana;
  int least = 11;
  if (first < LOCM_MAX_MANA) return first - 1;
  if (b->seat == 0 && o->player[1].max_mana > LOCM_MAX_MANA) least++;
  return locmi_max_int(least, b->turn + 1);
}

// Updates the belief with an observation of the battle, once in each turn.
LOCMI_FUNCTION void locm_belief_see(locm_belief_t *b, const locm_shown_t *o) {
  int i;
#if RULES == 0
  b->rules = 0;
#elif RULES == 1
  b->rules = 1;
#elif RULES == 2
  b->rules = 2;
#else
  b->rules = o->rules;
#endif
  int n1_ = o->n_cards;
  for (i = 0; i < n1_; i++) {
#if RULES != 3
    belief_locmi_note(b, o->cards[i].location == -1, o->cards[i].id, o->cards[i].base_id);
#else
    locmi_note(b, o->cards[i].location == -1, o->cards[i].id, o->cards[i].base_id);
#endif
  }
  int n2_ = o->n_actions;
#if RULES != 3
  for (i = 0; i < n2_; i++) belief_locmi_note(b, 1, o->actions[i].id, o->actions[i].base_id);
#else
  for (i = 0; i < n2_; i++) locmi_note(b, 1, o->actions[i].id, o->actions[i].base_id);
#endif
  if (b->seat < 0) b->seat = locmi_find_seat(b, o);
  b->turn = locmi_own_turns(b, o);
#if RULES != 3
}

// Records what a row tells about its card; False if that was already known.
LOCMI_FUNCTION int locmi_known_see(locmi_known_t *k, const locm_shown_card_t *row) {
  locm_shown_card_t *old;
  int i = 0;
  while (i < k->n && k->row[i].base_id != row->base_id) i++;
  if (i == k->n) {
    if (i < LOCM_MAX_CARDS) {
      k->row[i] = *row;
      k->n = i + 1;
    }
    return 1;
  }
  // A card in hand shows its printed values; on a board they may all have changed, except the base
  // id.
  old = &k->row[i];
  if (row->location != 0 || (old->location == 0 && old->type == row->type && old->cost == row->cost
      && old->attack == row->attack && old->defense == row->defense && old->keywords ==
      row->keywords && old->my_health == row->my_health && old->opponent_health ==
      row->opponent_health && old->draw == row->draw && old->area == row->area)) {
    return 0;
  }
  *old = *row;
  return 1;
}

// Computes how likely any player chooses each card, the likeliest being 1: from scores, and from the
// copies in our deck, which a similar player would choose, too; `copies` may be NULL.
LOCMI_FUNCTION void locmi_attractions(const double *scores, const uint8_t *copies, int n,
    double temperature, double own_deck, double *weights) {
  double best = 0;
  double most = 0;
  double x;
  // Any card may be chosen, so weights stay above 0, whatever the unit of the scores.
  double least = -50.0;
  int i;
  for (i = 0; i < n; i++) {
    if (i == 0 || scores[i] > best) best = scores[i];
  }
  for (i = 0; i < n; i++) {
    x = (scores[i] - best) / temperature;
    weights[i] = locmi_exp64(x > least ? x : least);
    if (copies != NULL) weights[i] += own_deck * copies[i];
    most = locmi_max_double(most, weights[i]);
  }
  for (i = 0; i < n; i++) weights[i] /= most;
}

// Makes the pool of the cards of a table, in the order `order`.
LOCMI_FUNCTION void locmi_pool_of_table(locm_pool_t *pool, const locm_table_t *t,
    const uint8_t *order, int n) {
  int i;
  pool->t = t;
  pool->n = n;
  pool->n_triplets = 0;
  for (i = 0; i < n; i++) pool->entry[i] = order[i];
}

// Makes the pool of all known cards, and its table, by ascending base id.
LOCMI_FUNCTION void locmi_pool_of_known(locm_pool_t *pool, locm_table_t *t,
    const locmi_known_t *k) {
  uint8_t order[LOCM_MAX_CARDS];
  int i;
  int j;
  int entry;
  int n1_ = k->n;
  for (i = 0; i < n1_; i++) {
    entry = 0;
    for (j = 0; j < k->n; j++) entry += k->row[j].base_id < k->row[i].base_id;
    order[i] = (uint8_t)entry;
    locmi_card_of_row(&t->cards[entry], &k->row[i], entry);
    t->cards[entry].id = LOCM_POOL_ID;
  }
  t->n_cards = k->n;
  locmi_pool_of_table(pool, t, order, k->n);
}

// Sets the weights of its cards as `attractions` does, from scores and copies in its order.
LOCMI_FUNCTION void locmi_pool_set_weights(locm_pool_t *pool, const double *scores,
    const uint8_t *copies, const locmi_prior_t *prior) {
  locmi_attractions(scores, copies, pool->n, prior->temperature, prior->own_deck, pool->weight);
}

#endif
#if RULES == 1 || RULES == 2
// Adds an offer of a draft, as table entries, with the values of its cards.
LOCMI_FUNCTION void locmi_pool_offer(locm_pool_t *pool, const uint8_t *entries,
    const double *values, double temperature) {
  double different[3];
  int turn = pool->n_triplets;
  int n = 0;
  int i;
  int j;
  for (i = 0; i < 3; i++) {
    j = 0;
    while (j < n && pool->triplet[turn][j] != entries[i]) j++;
    if (j == n) {
      pool->triplet[turn][n] = entries[i];
      different[n] = values[i];
      n++;
    }
  }
  locmi_attractions(different, NULL, n, temperature, 0, pool->triplet_weight[turn]);
  pool->triplet_size[turn] = (uint8_t)n;
  pool->n_triplets = turn + 1;
#endif
#if RULES != 0
}

#endif
// Returns the entry of a card in a table; -1 if it is missing.
// Return the entry of a card; -1 if it is missing.
LOCMI_FUNCTION int locmi_card_with(const locm_table_t *t, int32_t base_id) {
  int i;
  for (i = 0; i < t->n_cards; i++) {
    if (t->cards[i].base_id == base_id) return i;
  }
  return -1;
}

// Adds a card to the pool and its table unless it is there, as likely as the others; for bots
// without scores. False if the table has no room left beside the cards of a position.
LOCMI_FUNCTION int locm_pool_add(locm_pool_t *pool, locm_table_t *t, const locm_shown_card_t *row) {
  int i = pool->n;
  pool->t = t;
  if (locmi_card_with(t, row->base_id) >= 0) return 1;
  if (i >= 236) return 0;
  locmi_card_of_row(&t->cards[i], row, i);
  t->cards[i].id = LOCM_POOL_ID;
  pool->entry[i] = (uint8_t)i;
  pool->weight[i] = 1;
  pool->n = i + 1;
  t->n_cards = i + 1;
  return 1;
}

// Makes the state of the last observation and of what follows from the game so far. Hidden places
// hold arbitrary cards, or are empty without a pool. The table gets the visible cards, then the
// pool. Errors are those of state_show.
LOCMI_FUNCTION int locm_belief_root(const locm_belief_t *b, const locm_shown_t *o,
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
  // With the bonus, the second player's mana is a turn ahead, up to its limit.
  s->p[seat].bonus = seat == 1 && mine == locmi_min_int(13, b->turn + 2);
  s->p[1 - seat].bonus = seat == 0 && theirs == locmi_min_int(13, b->turn + 1);
  // The mana that the opponent had left: the bonus is lost after a turn that ends with 0. In 1.5,
  // also the health that the opponent's own cards cost them, which counts towards the next draw:
  // each card is assumed to have had its effect once. No generated card harms its player.
  mana = theirs;
  int n1_ = o->n_actions;
  for (i = 0; i < n1_; i++) {
    a = &o->actions[i];
    entry = a->kind == LOCM_ATTACK || !pool ? -1 : locmi_card_with(pool, a->base_id);
#if RULES == 0 || RULES == 3
    if (entry >= 0) {
      mana -= pool->cards[entry].cost;
#endif
#if RULES == 0
      if (pool->cards[entry].my_health < 0) lost -= pool->cards[entry].my_health;
#elif RULES == 3
      if (t->rules == LOCM_RULES_15 && pool->cards[entry].my_health < 0) {
        lost -= pool->cards[entry].my_health;
      }
#endif
#if RULES == 0 || RULES == 3
    }
#else
    if (entry >= 0) mana -= pool->cards[entry].cost;
#endif
  }
  s->p[1 - seat].mana = (uint8_t)(mana > 0 ? mana : 0);
  lost = locmi_min_int(lost, 5 * o->player[1].draw + 4);
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
  locmi_state_fill_deck(s, seat, (uint8_t)first, o->player[0].deck_size);
  locmi_state_fill_deck(s, 1 - seat, (uint8_t)first, o->player[1].deck_size);
  locmi_state_fill_hand(s, t, 1 - seat, (uint8_t)first, o->opponent_hand);
  return -1;
}

LOCMI_FUNCTION void locmi_add_candidate(locm_unknown_t *u, int who, int group, int entry,
    double weight, double scale) {
  int i = u->n[who];
  uint32_t scaled = (uint32_t)(weight * scale);
  u->entry[who][i] = (uint8_t)entry;
  u->group[who][i] = (uint8_t)group;
  u->weight[who][i] = scaled > 1 ? scaled : 1;
  u->n[who] = i + 1;
}

// List two copies of each card minus those seen; more if that is too few for the places.
LOCMI_FUNCTION void locmi_likely(const locm_belief_t *b, int whose, const locm_pool_t *pool,
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
  for (i = 0; i < n1_; i++) left[i] = LOCM_COPIES_PER_CARD;
  int n2_ = b->n_seen[whose];
  for (j = 0; j < n2_; j++) {
    entry = locmi_card_with(pool->t, b->seen[whose][j]);
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
      locmi_add_candidate(u, who, group, first + pool->entry[i], pool->weight[i], 65535 / most);
      group++;
    }
  }
}

// List the chosen cards that were not seen yet; False if they do not fit the player's deck.
LOCMI_FUNCTION int locmi_own_deck(const locm_belief_t *b, const locm_pool_t *pool, int places,
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
    if (left[i] && locmi_card_with(pool->t, b->chosen[i]) < 0) return 0;
  }
  if (total != places) return 0;
  int n5_ = b->n_kinds;
  for (i = 0; i < n5_; i++) {
    if (left[i]) {
      u->copies[who][group] = (uint8_t)left[i];
      locmi_add_candidate(u, who, group, first + locmi_card_with(pool->t, b->chosen[i]), 1.0,
          LOCM_MAX_WEIGHT);
      group++;
    }
  }
  return 1;
}

// Return whether a draft turn offered a card.
LOCMI_FUNCTION int locmi_offers(const locm_pool_t *pool, int turn, int entry) {
  int i;
  for (i = 0; i < (int)pool->triplet_size[turn]; i++) {
    if (pool->triplet[turn][i] == entry) return 1;
  }
  return 0;
}

// Match a card to a draft turn that offered it, moving others if necessary.
LOCMI_FUNCTION int locmi_assign(const locm_pool_t *pool, const int *shown, int i, int *owner,
    int *tried) {
  int turn;
  int n1_ = pool->n_triplets;
  for (turn = 0; turn < n1_; turn++) {
    if (!tried[turn] && locmi_offers(pool, turn, shown[i])) {
      tried[turn] = 1;
      if (owner[turn] < 0 || locmi_assign(pool, shown, owner[turn], owner, tried)) {
        owner[turn] = i;
        return 1;
      }
    }
  }
  return 0;
}

// Find the draft turns that the cards seen need not have come from.
//
// As many cards as possible are matched to turns that offered them (augmenting paths). False if
// too few turns are left.
LOCMI_FUNCTION int locmi_their_picks(const locm_belief_t *b, const locm_pool_t *pool, int places,
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
  for (i = 0; i < n2_; i++) shown[i] = locmi_card_with(pool->t, b->seen[1][i]);
  int n3_ = b->n_seen[1];
  for (i = 0; i < n3_; i++) {
    memset(tried, 0, sizeof(tried));
    locmi_assign(pool, shown, i, owner, tried);
  }
  int n4_ = pool->n_triplets;
  for (turn = 0; turn < n4_; turn++) {
    if (owner[turn] < 0) {
      n_open++;
      int n5_ = pool->triplet_size[turn];
      for (i = 0; i < n5_; i++) most = locmi_max_double(most, pool->triplet_weight[turn][i]);
    }
  }
  if (n_open < places) return 0;
  int n6_ = pool->n_triplets;
  for (turn = 0; turn < n6_; turn++) {
    if (owner[turn] < 0) {
      u->copies[who][group] = 1;
      int n7_ = pool->triplet_size[turn];
      for (i = 0; i < n7_; i++) {
        locmi_add_candidate(u, who, group, first + pool->triplet[turn][i],
            pool->triplet_weight[turn][i], 65535 / most);
      }
      group++;
    }
  }
  return 1;
}

// Fills in what the hidden places of that position may hold; the pool's entries begin at `first`.
LOCMI_FUNCTION void locm_belief_unknown(const locm_belief_t *b, const locm_shown_t *o,
    const locm_pool_t *pool, int first, locm_unknown_t *u) {
  int seat = b->seat > 0 ? b->seat : 0;
  int mine = o->player[0].deck_size;
  int theirs = o->opponent_hand + o->player[1].deck_size;
  memset(u, 0, sizeof(locm_unknown_t));
  u->viewer = seat;
  if (!locmi_own_deck(b, pool, mine, first, u, seat)) {
    locmi_likely(b, 0, pool, mine, first, u, seat);
  }
  if (!(pool->n_triplets && locmi_their_picks(b, pool, theirs, first, u, 1 - seat))) {
    locmi_likely(b, 1, pool, theirs, first, u, 1 - seat);
  }
}

#if RULES != 3
// Allocates memory for searches; -1 if that fails. Call engine_free in both cases.
LOCMI_FUNCTION int locmi_engine_init(locmi_engine_t *e, const locmi_options_t *o) {
  locmi_work_t *w = &e->w;
  int i;
  e->o = *o;
  w->reply_width = o->reply_width;
  w->max_worlds = o->worlds;
  w->max_width = e->o.width;
  w->max_candidates = 64 * w->max_width;
  w->max_records = LOCMI_MAX_RECORDS;
  w->seen_mask = 131071;
  w->salt = 1;
  w->records = (locmi_record_t *)malloc(w->max_records * sizeof(locmi_record_t));
  w->candidates = (locmi_candidate_t *)malloc(w->max_candidates * sizeof(locmi_candidate_t));
  w->seen = (uint64_t *)calloc(LOCMI_SEEN, sizeof(uint64_t));
  w->worlds = (locm_state_t *)malloc(w->max_worlds * sizeof(locm_state_t));
  if (!w->records || !w->candidates || !w->seen || !w->worlds) return -1;
  for (i = 0; i < 2; i++) {
    w->level[i] = (locm_state_t *)malloc(w->max_width * sizeof(locm_state_t));
    w->level_records[i] = (int32_t *)malloc(w->max_width * sizeof(int32_t));
    if (!w->level[i] || !w->level_records[i]) return -1;
  }
#endif
#if RULES != 3 && !IS_TREE
  return 0;
#elif RULES != 3 && IS_TREE
  e->tree.max_nodes = o->plans + o->max_nodes;
  e->tree.nodes = (locmi_node_t *)malloc(e->tree.max_nodes * sizeof(locmi_node_t));
  e->tree.replies = (locmi_turns_t *)malloc(o->plans * o->worlds * sizeof(locmi_turns_t));
  return !e->tree.nodes || !e->tree.replies ? -1 : 0;
#endif
#if RULES != 3
}

// Sets the evaluation: weights, and a network or NULL. `owner` is passed to the watch.
LOCMI_FUNCTION void locmi_engine_use(locmi_engine_t *e, const locmi_eval_t *eval,
    const locmi_network_t *network, void *owner) {
  locmi_work_t *w = &e->w;
  w->eval = eval;
  w->network = network;
  w->owner = owner;
  // A network chooses from more plans than it keeps.
  w->max_plans = locmi_max_int(1, locmi_min_int(LOCMI_MAX_PLANS,
      e->o.plans * (!network ? 1 : LOCMI_PLANS_SEEN)));
}

// Prepares a search for the player to move, from a root whose hidden places hold arbitrary cards.
LOCMI_FUNCTION void locmi_engine_begin(locmi_engine_t *e, const locm_state_t *root,
    const locm_table_t *t, const locm_unknown_t *unknown, int own_deck, uint64_t seed,
    int64_t deadline, int64_t nodes) {
  (void)own_deck;
  locmi_work_t *w = &e->w;
  w->table = t;
  w->root = *root;
  w->who = locm_state_player(root);
  w->unknown = unknown;
  w->own_deck = 0;
  w->world_seed = seed;
  w->n_worlds = 0;
  w->n_records = 0;
  w->n_plans = 0;
  w->won = 0;
  w->failed = 0;
  w->nodes = 0;
  w->depth = 0;
  w->budget.deadline = deadline;
  w->budget.nodes = nodes;
  w->budget.until_clock = 0;
  w->budget.over = 0;
}

// Return a share of the budget.
LOCMI_FUNCTION locmi_budget_t locmi_share_of(const locmi_work_t *w, float share, int64_t now) {
  locmi_budget_t part = w->budget;
  if (part.deadline < LOCMI_UNLIMITED) {
    part.deadline = now + (int64_t)(share * (part.deadline - now));
  }
  if (part.nodes < LOCMI_UNLIMITED) part.nodes = (int64_t)(share * part.nodes);
  part.until_clock = 0;
  return part;
}

// Continue with the whole budget, minus the nodes that a part of it used.
LOCMI_FUNCTION void locmi_restore(locmi_work_t *w, const locmi_budget_t *whole,
    const locmi_budget_t *part) {
  int64_t left = w->budget.nodes > 0 ? w->budget.nodes : 0;
  w->budget = *whole;
  w->budget.nodes -= part->nodes - left;
  w->budget.over = w->failed;
}

// Add the attacks on the opponent that end a winning turn after n actions.
LOCMI_FUNCTION int locmi_finish(const locmi_work_t *w, uint8_t *path, int n) {
  locm_state_t s = w->root;
  const locm_player_t *me = &s.p[w->who];
  const locm_player_t *op = &s.p[1 - w->who];
  int i;
  int slot;
  uint32_t guarded;
  locm_move_t m;
  for (i = 0; i < n; i++) locm_state_apply(&s, w->table, path[i]);
  for (slot = 0; slot < LOCM_MAX_BOARD; slot++) {
#endif
#if RULES == 0 || RULES == 1
    guarded = (op->marks >> LOCM_GUARDED) & (slot < 3 ? 7 : 56);
#elif RULES == 2
    guarded = (op->marks >> LOCM_GUARDED) & 63;
#endif
#if RULES != 3
    if (me->won || guarded || !((me->marks >> slot) & 1) || me->board[slot].attack <= 0) continue;
    m.kind = LOCM_ATTACK;
    m.source = slot;
    m.target = 0;
    path[n] = locm_encode_action(w->table, m);
    locm_state_apply(&s, w->table, path[n]);
    n++;
  }
  return n;
}

// The steps of a search, for callers that replace one of them: the search for a win; the beam that
// finds plans, unless there is a win; the choice of a plan; and the result, plan `n` without a win.
// Look for a win; that may take its share of the budget where a win is possible at all.
LOCMI_FUNCTION void locmi_engine_wins(locmi_engine_t *e) {
  locmi_work_t *w = &e->w;
  locmi_budget_t whole = w->budget;
  locmi_budget_t part = locmi_share_of(w, e->o.wins_share, locm_now_ns());
  w->budget = part;
  locmi_search_wins(w, locmi_min_int(w->max_width, LOCMI_WIN_WIDTH));
  locmi_restore(w, &whole, &part);
}

LOCMI_FUNCTION void locmi_engine_start_plans(locmi_engine_t *e, int64_t iterations,
    locmi_budget_t *whole, locmi_budget_t *part) {
  locmi_work_t *w = &e->w;
  w->n_records = 0;
  *part = locmi_share_of(w, e->o.turns ? e->o.plan_share : (float)1.0, locm_now_ns());
  if (part->deadline >= LOCMI_UNLIMITED && part->nodes >= LOCMI_UNLIMITED) {
    // A search of few visits has a small beam, too.
    part->nodes = LOCMI_VISIT_NODES * locmi_min_int64(iterations,
        LOCMI_UNLIMITED / LOCMI_VISIT_NODES);
  }
  *whole = w->budget;
  w->budget = *part;
}

LOCMI_FUNCTION void locmi_engine_end_plans(locmi_engine_t *e, const locmi_budget_t *whole,
    const locmi_budget_t *part) {
  locmi_restore(&e->w, whole, part);
}

LOCMI_FUNCTION void locmi_engine_answer(const locmi_engine_t *e, int n, locmi_found_t *found) {
  const locmi_work_t *w = &e->w;
  if (w->won) {
    found->value = 1;
    found->visits = 0;
    n = locmi_path_of(w, w->win.parent, w->win.action, found->path);
    found->length = locmi_finish(w, found->path, n);
  }
  else {
    found->value = w->plans[n].result;
    found->visits = w->plans[n].visits;
    found->length = locmi_path_of(w, w->plans[n].parent, w->plans[n].action, found->path);
  }
}

LOCMI_FUNCTION void locmi_engine_run(locmi_engine_t *e, int64_t iterations, locmi_found_t *found) {
  locmi_work_t *w = &e->w;
  locmi_budget_t whole;
  locmi_budget_t part;
  int n = 0;
  found->iterations = 0;
  locmi_engine_wins(e);
  if (!w->won) {
    locmi_engine_start_plans(e, iterations, &whole, &part);
    locmi_beam_search(w, e->o.width);
    locmi_engine_end_plans(e, &whole, &part);
  }
#endif
#if RULES != 3 && !IS_TREE
  if (!w->won) n = locmi_best_plan(w, e->o.turns, e->o.plans, e->o.static_worlds);
#elif RULES != 3 && IS_TREE
  if (!w->won) found->iterations = locmi_tree_search(w, &e->tree, &e->o, iterations, &n);
#endif
#if RULES != 3
  locmi_engine_answer(e, n, found);
}

#endif