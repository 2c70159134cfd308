"""A match as the referee runs it, without the GIL: see _match.pxd."""

cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    COPIES_PER_CARD,
    MAX_DECK,
    OFFERED,
    OFFER_SIZE,
    POOL_ID,
    RULES_15,
    State,
    Table,
    card_id,
    card_t,
    is_copy_id,
    player_of,
    player_start,
    player_t,
    see_card,
    see_player,
    shown_card_t,
    shown_t,
    state_draw_opening,
    state_end_turn,
    state_t,
    stream_below,
    table_t,
)
from locmsim.game.observation cimport Observation
from locmsim.javarandom cimport java_below, java_long, java_shuffle, java_start

from locmsim._core import BLANKS, whole_number
from locmsim.game.protocol_lines import CardInPlay
from locmsim.rules.cards import parse_integer
from locmsim.rules.rulesets import RULES_NAMES

__all__ = ["CompiledCards", "MatchCore", "base_ids", "derived_seeds"]

# ---- seeds and offers (sections 1 and 3) ---------------------------------------------------------

cdef void match_begin(match_t* m, int rules, int n_cards) noexcept nogil:
    memset(m, 0, sizeof(match_t))
    m.rules = rules
    m.n_cards = n_cards
    match_end(m, -1, -1, NO_FAULT)


cdef void match_seed(match_t* m, int64_t seed) noexcept nogil:
    cdef uint64_t random = java_start(seed)
    cdef int i
    m.seed = seed
    for i in range(n_seeds_of(m.rules)):
        m.seeds[i] = java_long(&random)


def derived_seeds(str rules, int64_t seed):
    """Return the seeds that follow from one, in the order of `RuleSet.seed_names`."""
    cdef match_t m
    cdef int i
    m.rules = RULES_NAMES.index(rules)
    match_seed(&m, seed)
    return [m.seeds[i] for i in range(n_seeds_of(m.rules))]


cdef int distinct(uint64_t* random, int size, int n, uint8_t* found) noexcept nogil:
    """Draw n different indices below `size`, or all if there are fewer; return their number."""
    cdef uint8_t chosen[MAX_SET]
    cdef int count = 0, i
    memset(chosen, 0, sizeof(chosen))
    n = n if n < size else size
    while count < n:
        i = java_below(random, size)
        if not chosen[i]:
            chosen[i] = 1
            found[count] = <uint8_t>i
            count += 1
    return n


cdef void match_offer(match_t* m, const uint8_t* allowed, int n) noexcept nogil:
    cdef uint64_t random
    cdef uint8_t pool[DRAFT_POOL]
    cdef uint8_t* offer
    cdef int size, i, j, k
    if m.rules == RULES_15:
        return
    random = java_start(m.seeds[0])
    size = distinct(&random, n, DRAFT_POOL, pool)
    for i in range(MAX_DECK):
        offer = m.triplets[i]
        k = 0
        while k < DRAFT_OFFER:
            offer[k] = allowed[pool[java_below(&random, size)]]
            for j in range(k):
                if offer[j] == offer[k]:
                    break
            else:
                k += 1


# ---- picks (section 3) ---------------------------------------------------------------------------

cdef int picks_left(const match_t* m, int who, int8_t* left) noexcept nogil:
    cdef int i
    if m.rules != RULES_15:
        memset(left, m.picked[who] < MAX_DECK, DRAFT_OFFER)
        return DRAFT_OFFER
    memset(left, COPIES_PER_CARD, m.n_cards)
    for i in range(m.picked[who]):
        left[m.decks[who][i]] -= 1
    return m.n_cards


cdef bint is_legal_pick(const match_t* m, int who, int pick) noexcept nogil:
    cdef int i, copies = 0
    if m.picked[who] >= MAX_DECK:
        return False
    if m.rules != RULES_15:
        return 0 <= pick < DRAFT_OFFER
    if not 0 <= pick < m.n_cards:
        return False
    for i in range(m.picked[who]):
        copies += m.decks[who][i] == pick
    return copies < COPIES_PER_CARD


cdef int first_pick(const match_t* m, int who) noexcept nogil:
    cdef int pick = 0
    while not is_legal_pick(m, who, pick):
        pick += 1
    return pick


cdef void random_deck(match_t* m, int who, uint64_t* stream) noexcept nogil:
    """Draw one card of each triplet (1.x), or thirty cards of two copies of each."""
    cdef uint8_t copies[COPIES_PER_CARD * MAX_SET]
    cdef uint8_t* deck = m.decks[who]
    cdef int n = COPIES_PER_CARD * m.n_cards
    cdef int i, j
    m.picked[who] = MAX_DECK
    if m.rules != RULES_15:
        for i in range(MAX_DECK):
            deck[i] = m.triplets[i][stream_below(stream, DRAFT_OFFER)]
        return
    for i in range(m.n_cards):
        copies[2 * i] = copies[2 * i + 1] = <uint8_t>i
    for i in range(MAX_DECK):
        j = i + stream_below(stream, n - i)
        deck[i] = copies[j]
        copies[j] = copies[i]


cdef bint are_offered(const match_t* m) noexcept nogil:
    cdef const uint8_t* offer
    cdef int who, i, card
    if m.rules == RULES_15:     # only the decks of a draft may be others
        return True
    for who in range(2):
        for i in range(MAX_DECK):
            offer = m.triplets[i]
            card = m.decks[who][i]
            if card != offer[0] and card != offer[1] and card != offer[2]:
                return False
    return True


cdef int card_with(const match_t* m, int base_id) noexcept nogil:
    cdef int low = 0, high = m.n_cards, middle
    while low < high:
        middle = (low + high) // 2
        if m.cards[middle].base_id < base_id:
            low = middle + 1
        else:
            high = middle
    return low if low < m.n_cards and m.cards[low].base_id == base_id else -1


# ---- the deal (sections 1 and 4) -----------------------------------------------------------------

cdef void shuffled_deck(int64_t seed, uint8_t* order) noexcept nogil:
    """Write the places in the order of choice of a deck's cards, in the order of drawing."""
    cdef int i
    for i in range(MAX_DECK):
        order[i] = <uint8_t>i
    java_shuffle(order, MAX_DECK, seed)


cdef void match_deal(const match_t* m, state_t* s, table_t* t) noexcept nogil:
    deal_with(m, s, t, &m.seeds[n_seeds_of(m.rules) - 2])


cdef void deal_with(
    const match_t* m, state_t* s, table_t* t, const int64_t* shuffles
) noexcept nogil:
    cdef uint8_t order[MAX_DECK]
    cdef bint by_choice = m.rules == RULES_15
    cdef player_t* p
    cdef card_t* c
    cdef int who, i, entry, first, step
    t.rules = m.rules
    t.n_instances = t.n_cards = 2 * MAX_DECK
    memset(t._pad, 0, sizeof(t._pad))
    memset(s, 0, sizeof(state_t))
    s.turn = -1
    for who in range(2):
        p = &s.p[who]
        shuffled_deck(shuffles[who], order)
        first = card_id(m.rules, who, 0)        # a deck's ids are equally far apart
        step = card_id(m.rules, who, 1) - first
        for i in range(MAX_DECK):
            # Table entries and ids are in the order of choice in 1.5, in draw order in 1.x.
            entry = MAX_DECK * who + i
            c = &t.cards[entry]
            memcpy(c, &m.cards[m.decks[who][i if by_choice else order[i]]], sizeof(card_t))
            c.creature.card = <uint8_t>entry
            c.id = <uint8_t>(first + step * i)
            s.deck[who][i] = <uint8_t>(MAX_DECK * who + (order[i] if by_choice else i))
        player_start(p, m.rules)
        p.deck_left = MAX_DECK
        state_draw_opening(s, t, who)
    s.p[1].max_mana = s.p[1].mana = s.p[1].bonus = 1


def base_ids(str rules, cards):
    """Return the base ids of instances by their ids as text, those of area copies included.

    `cards` are pairs of the instance id and the base id of cards that are no copies.
    """
    cdef int code = RULES_NAMES.index(rules)
    found = {}
    for number, base_id in cards:
        found[str(number)] = base_id
        if is_copy_id(code, number + 1):
            found[str(number + 1)] = base_id
    return found


# ---- the choice phase in Python ------------------------------------------------------------------

cdef int32_t plain_number(str text) except? -1:
    """Return a number of at most nine digits; -1 for any other text."""
    cdef int32_t value = 0
    cdef Py_UCS4 digit
    if not 0 < len(text) <= 9:
        return -1
    for digit in text:
        if not 48 <= digit <= 57:       # '0', '9'
            return -1
        value = 10 * value + <int32_t>digit - 48
    return value


cdef object number_in(str text):
    """Return what the referee reads as an integer, or None."""
    cdef int32_t value = plain_number(text)
    return value if value >= 0 else parse_integer(text)


cdef void show_offered(shown_card_t* row, const card_t* c) noexcept nogil:
    see_card(c, 0, -1, row)
    row.id = OFFERED


cdef void show_step(shown_t* o, int rules, int step, int player) noexcept nogil:
    """Write the lines of both players in a step of the choice phase, and no cards."""
    cdef int who
    cdef player_t p
    player_start(&p, rules)
    memset(o, 0, sizeof(shown_t))
    o.rules = rules
    for who in range(2):
        see_player(&p, &o.player[who])
        o.player[who].draw = 0
        o.player[who].deck_size = step
    # The referee judges player 0 first, and counts their card when it writes to player 1.
    o.player[1].deck_size += player


@cython.final
cdef class CompiledCards:
    """A card set as matches need it: compiled, and in 1.5 as both players are shown it.

    Parameters
    ----------
    rules : str
    cards : sequence of Card
        At most 120 in 1.5, in any order.

    Raises
    ------
    ValueError
        There are too many cards, or two of them have the same base id.
    """

    def __init__(self, str rules, cards):
        cdef int code = RULES_NAMES.index(rules)
        cdef int i
        cdef list by_id = sorted(cards, key=_base_id)
        if code == RULES_15 and len(by_id) > OFFER_SIZE:
            raise ValueError(f"offer: expected {OFFER_SIZE} cards at most, got {len(by_id)}")
        self.table = Table(by_id, rules)
        if self.table.t.n_cards != len(by_id):
            twice = next(card for card, other in zip(by_id, by_id[1:]) if card == other)
            raise ValueError(f"offer: card {twice.base_id} occurs twice")
        self.offer = ()
        if code != RULES_15:
            self.printed = tuple([CardInPlay.offer(card).card() for card in by_id])
            return
        places = {card.base_id: i for i, card in enumerate(by_id)}
        self.offer = tuple(sorted(by_id, key=_cost))
        self.seen = Observation.__new__(Observation)
        show_step(&self.seen.o, code, 0, 0)
        self.seen.o.n_cards = <int32_t>len(self.offer)
        for i, card in enumerate(self.offer):
            self.order[i] = places[card.base_id]
            show_offered(&self.seen.o.cards[i], &self.cards()[self.order[i]])

    cdef const card_t* cards(self):
        return &self.table.t.cards[self.table.t.n_instances]

    def __reduce__(self):
        return CompiledCards, (self.table.rules, self.table.pool)


def _base_id(card):
    return card.base_id


def _cost(card):
    return card.cost, card.base_id


@cython.final
cdef class MatchCore:
    """The compiled part of a `Match`: what is offered and taken, and the deal.

    Parameters
    ----------
    rules : str
    cards : CompiledCards
    seeds : sequence of int
        Those of `RuleSet.seed_names`.
    allowed : bytes
        1.x: indices of the cards that may be offered, at least three.
    triplets : sequence of sequences of int, optional
        1.x: the offers as indices; by default they are drawn.

    Raises
    ------
    ValueError
        A number of seeds or cards is wrong, or an index names no card.
    """

    def __init__(self, str rules, CompiledCards cards not None, seeds, bytes allowed=b"",
                 triplets=None):
        cdef match_t* m = &self.m
        cdef int i, j
        self.cards = cards
        match_begin(m, RULES_NAMES.index(rules),
                    cards.table.t.n_cards - cards.table.t.n_instances)
        m.cards = cards.cards()
        if len(seeds) != n_seeds_of(m.rules):
            raise ValueError(f"seeds: expected {n_seeds_of(m.rules)}, got {len(seeds)}")
        for i in range(n_seeds_of(m.rules)):
            m.seeds[i] = seeds[i]
        if triplets is None:
            if m.rules != RULES_15 and not (
                DRAFT_OFFER <= len(allowed) == len({*allowed}) and max(allowed) < m.n_cards
            ):
                raise ValueError(
                    f"allowed: expected {DRAFT_OFFER} or more of the {m.n_cards} cards")
            match_offer(m, <const uint8_t*><const char*>allowed, <int>len(allowed))
            return
        for i in range(MAX_DECK):
            for j in range(DRAFT_OFFER):
                m.triplets[i][j] = <uint8_t>whole_number(
                    triplets[i][j], f"triplets[{i}][{j}]", 0, m.n_cards - 1)

    def clone(self):
        """Return an independent copy."""
        cdef MatchCore copy = MatchCore.__new__(MatchCore)
        copy.m = self.m
        copy.cards = self.cards
        return copy

    def __reduce__(self):
        cdef const match_t* m = &self.m
        cdef int i, j, who
        return _core_of, (
            self.cards, [m.seeds[i] for i in range(n_seeds_of(m.rules))],
            None if m.rules == RULES_15 else [
                [m.triplets[i][j] for j in range(DRAFT_OFFER)] for i in range(MAX_DECK)],
            [[m.decks[who][i] for i in range(m.picked[who])] for who in range(2)],
            (m.winner, m.loser, m.fault))

    def offers(self):
        """Return the offers of a draft: 30 triplets of `Card`s."""
        cdef Table table = self.cards.table
        cdef int first = table.t.n_instances
        cdef int i, j
        return [[table.card(first + self.m.triplets[i][j]) for j in range(DRAFT_OFFER)]
                for i in range(MAX_DECK)]

    def observation(self, int player, int step):
        """Return what a player is shown in a step of the choice phase."""
        cdef Observation seen
        cdef const uint8_t* offer
        cdef tuple printed = self.cards.printed
        cdef int i
        if self.m.rules == RULES_15:
            return self.cards.seen
        player = player_of(player)
        offer = self.m.triplets[whole_number(step, "step", 0, MAX_DECK - 1)]
        seen = Observation.__new__(Observation)
        show_step(&seen.o, self.m.rules, step, player)
        seen.o.n_cards = DRAFT_OFFER
        for i in range(DRAFT_OFFER):
            show_offered(&seen.o.cards[i], &self.m.cards[offer[i]])
        seen._offer = printed[offer[0]], printed[offer[1]], printed[offer[2]]
        return seen

    def legal_picks(self, picks):
        """Return the places in the offer that may be taken by an answer that has taken `picks`."""
        cdef int8_t left[MAX_SET]
        cdef int i, n
        if self.m.rules != RULES_15:
            return list(range(DRAFT_OFFER))
        n = picks_left(&self.m, 0, left)
        for place in picks:
            if not 0 <= place < n:
                raise IndexError(f"pick {place}: expected 0..{n - 1}")
            left[self.cards.order[<int>place]] -= 1
        return [i for i in range(n) if left[self.cards.order[i]] > 0]

    def answer(self, int player, str line not None, list chosen not None):
        """Take what an answer of the choice phase takes, up to its fault; return that, or 0.

        The base ids are appended to `chosen`.
        """
        player = player_of(player)
        if self.m.rules == RULES_15:
            return self.answer_construct(player, line, chosen)
        return self.answer_draft(player, line, chosen)

    cdef int answer_construct(self, int player, str line, list chosen) except -1:
        cdef match_t* m = &self.m
        cdef int8_t left[MAX_SET]
        cdef int n = 0, card = -1
        cdef str part
        cdef list words
        cdef bint fills
        picks_left(m, player, left)
        for part in line.split(";"):
            part = part.strip(BLANKS)
            if not part:
                continue
            words = part.split(" ", 2)
            if words[0] == "CHOOSE":
                number = number_in(words[1]) if len(words) > 1 else None
                if number is None:
                    return NO_NUMBER
                card = card_with(m, number)
                if card < 0:
                    return NOT_OFFERED
                if left[card] == 0:
                    return THIRD_COPY
            elif words[0] != "PASS":
                return UNKNOWN_WORD
            # A bare PASS fills the deck; a PASS with a comment is one card, even one too many.
            fills = part == "PASS"
            while not fills or n < MAX_DECK:
                if words[0] == "PASS":
                    card = self.first_left(left)
                    if card < 0:
                        return NOTHING_LEFT
                left[card] -= 1
                if n < MAX_DECK:
                    m.decks[player][n] = <uint8_t>card
                n += 1
                chosen.append(m.cards[card].base_id)
                if not fills:
                    break
        if n != MAX_DECK:
            return WRONG_COUNT
        m.picked[player] = MAX_DECK
        return NO_FAULT

    cdef int first_left(self, const int8_t* left) noexcept:
        """Return the first card of the offer that may be taken, -1 if there is none."""
        cdef int i
        for i in range(self.m.n_cards):
            if left[self.cards.order[i]] > 0:
                return self.cards.order[i]
        return -1

    cdef int answer_draft(self, int player, str line, list chosen) except -1:
        cdef match_t* m = &self.m
        cdef const uint8_t* offer = m.triplets[
            whole_number(m.picked[player], "step", 0, MAX_DECK - 1)]
        cdef list words = line.split(" ", 2)
        cdef int pick
        number = number_in(words[1]) if len(words) > 1 else None
        if words[0] == "PASS":
            pick = 0
        elif words[0] not in ("PICK", "CHOOSE"):
            return UNKNOWN_WORD
        elif number is None:
            return NO_NUMBER
        elif words[0] == "PICK":
            if not 0 <= number < DRAFT_OFFER:
                return NO_PLACE
            pick = number
        else:
            for pick in range(DRAFT_OFFER):
                if m.cards[offer[pick]].base_id == number:
                    break
            else:
                return NOT_OFFERED
        chosen.append(m.cards[offer[pick]].base_id)
        match_pick(m, player, pick)
        return NO_FAULT

    def end(self, State state, int player=-1, int fault=NO_FAULT):
        """End the match, by its battle or by a player's fault; return the winner and both scores.

        After a fault, a victory of the other player stands.
        """
        match_end(&self.m, -1 if state is None else won_by(&state.s), player, fault)
        return match_winner(&self.m), [match_score(&self.m, 0), match_score(&self.m, 1)]

    def deal(self):
        """Return the state at the first action of the battle."""
        cdef match_t* m = &self.m
        cdef Table pool = self.cards.table
        cdef Table table = Table.__new__(Table)
        cdef State state = State.__new__(State)
        cdef list cards = table.cards
        cdef int first = pool.t.n_instances
        cdef int i
        state.table = table
        match_deal(m, &state.s, &table.t)
        for i in range(table.t.n_cards):        # the objects, as their names are not compiled
            cards[i] = pool.card(first + card_with(m, table.t.cards[i].base_id))
        if m.rules == RULES_15:
            table.complete_with_pool(pool)
        else:
            self.add_offered(table)
        state_end_turn(&state.s, &table.t)
        return state

    cdef int add_offered(self, Table table) except -1:
        """Add the cards that were offered as the pool of a table."""
        cdef const match_t* m = &self.m
        cdef Table pool = self.cards.table
        cdef bint offered[MAX_SET]
        cdef int i, j
        memset(offered, 0, sizeof(offered))
        for i in range(MAX_DECK):
            for j in range(DRAFT_OFFER):
                offered[m.triplets[i][j]] = True
        for i in range(m.n_cards):
            if offered[i]:
                table.append(&m.cards[i], POOL_ID, pool.card(pool.t.n_instances + i))
        return 0

    def decks(self):
        """Return the dealt decks: for each player ``[instance id, base id]`` in draw order."""
        cdef const match_t* m = &self.m
        cdef uint8_t order[MAX_DECK]
        cdef int who, i, j
        found = []
        for who in range(2):
            shuffled_deck(m.seeds[n_seeds_of(m.rules) - 2 + who], order)
            deck = []
            for i in range(MAX_DECK):
                j = order[i]
                deck.append([card_id(m.rules, who, j if m.rules == RULES_15 else i),
                             m.cards[m.decks[who][j]].base_id])
            found.append(deck)
        return found


def _core_of(CompiledCards cards not None, seeds, triplets, decks, ending):
    """Restore what `MatchCore.__reduce__` returned."""
    cdef MatchCore core = MatchCore(cards.table.rules, cards, seeds, triplets=triplets)
    cdef match_t* m = &core.m
    cdef int who, i
    for who in range(2):
        m.picked[who] = <uint8_t>whole_number(len(decks[who]), "decks", 0, MAX_DECK)
        for i in range(m.picked[who]):
            m.decks[who][i] = <uint8_t>whole_number(decks[who][i], "decks", 0, m.n_cards - 1)
    winner, loser, fault = ending
    match_end(m, winner, loser, fault)
    return core
