// ---- the bot -------------------------------------------------------------------------------------
// Written by hand: reading lines, the choice of cards, and the clock. What is seen and believed, and
// what is played, is decided above, by the package's own code.

static table_t offered;             // the cards that may be in the game
static table_t table;               // ... and those of the present position
static pool_t pool;                 // ... and how likely opponents take them
static belief_t belief;
static shown_t seen;                // what the present turn shows
static unknown_t unknown;
static reader_t reader;
static engine_t engine;
static eval_t evaluation;
static weights_t weights;
static network_t network;
static known_t known;               // the cards seen in offers or later
static int n_offers;
