// @ts-check
// Positions as text, from and to the bytes that the engine in a page's file takes
// (docs/rules.md, section 13; `locmsim.game.notation` is the package's).

/** A row of `Card.to_row`. @typedef {any[]} Row */

const LETTERS = "BCDGLW";
const FIELDS = "rules turn winner player player pool cards";
const PARTS = "numbers hand board deck".split(" ");
const NUMBERS = "health max_mana mana bonus next_draw shown_draw".split(" ");
const CREATURE = "id card attack defense abilities lane flags".split(" ");
const ROW = "base type cost attack defense abilities my opponent draw area".split(" ");
const RULE_SETS = ["1.5", "1.2", "1.0"];
/** Slots of a lane, where there are two, and of the board. */
const SLOTS = 3;
const BOARD_SIZE = 6;
const DECK_SIZE = 30;
/** The most cards of each part of a player. @type {Record<string, number>} */
const MOST = { hand: 8, board: BOARD_SIZE, deck: DECK_SIZE };
const POOL_ID = 255;
const HEAD = 16;
const FACTS = 8;
const CARD = 32;
const PLAYER = 96;
const STATE = 256;
/** Where the parts of a player's bytes are. */
const AT = { kinds: 8, marks: 16, board: 20, health: 68, mana: 84, hand: 87, deck: 88, runes: 89 };
const WON = 91;
/** Shifts of the marks of creatures. */
const [READY, OCCUPIED, GUARDED, SPENT] = [0, 6, 12, 18];

const lettersOf = (/** @type {number} */ bits) =>
  [...LETTERS].map((letter, i) => ((bits >> i) & 1 ? letter : "-")).join("");
const bitsOf = (/** @type {string} */ letters) =>
  [...LETTERS].reduce((bits, letter, i) => bits | (Number(letters[i] === letter) << i), 0);
const listed = (/** @type {string} */ text, mark = ",") => (text === "-" ? [] : text.split(mark));
const joined = (/** @type {(string|number)[]} */ parts, mark = ",") => parts.join(mark) || "-";

/** The lowest and the highest value of each number in a text, and of each number of a card
 * (`locmsim.game.notation.text_bounds`).
 * @typedef {{state: Record<string, [number, number]>, card: Record<string, [number, number]>}} Bounds */
/** An entry of a hand, a board or a deck: its parts, what errors call it, its instance id (null: it
 * is a card of the pool), the number of its card, and whether it is an area copy.
 * @typedef {{parts: string[], where: string, id: number|null, card: number, copy: boolean}} Entry */

/** @param {string} text @param {string} where @param {[number, number]} bounds */
function whole(text, where, [low, high]) {
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (low <= value && value <= high) return value;
  throw new Error(`${where}: expected ${low} to ${high}, got ${text}`);
}

/** The parts of a field, one for each name. @param {string} text @param {string} mark
 * @param {string} where @param {string[]} names */
function split(text, mark, where, names) {
  const parts = text.split(mark);
  if (parts.length === names.length) return parts;
  throw new Error(`${where}: expected ${names.join(mark)}, got ${text}`);
}

/** The slots of a player's creatures in board order. @param {DataView} bytes @param {number} at */
function slotsOf(bytes, at) {
  const order = bytes.getUint8(at + 90);
  const next = [0, SLOTS];
  const size = 31 - Math.clz32(order);
  return Array.from({ length: size }, (_, i) => next[(order >> (size - 1 - i)) & 1]++);
}

/** The text of a position. @param {Uint8Array} position as the engine writes it
 * @param {Map<number, Row>} fixed the cards that every match of the rules has, by base id */
export function textOf(position, fixed) {
  const bytes = new DataView(position.buffer, position.byteOffset, position.length);
  const count = (bytes.getInt32(8, true) - FACTS) / CARD;
  const rules = RULE_SETS[bytes.getInt32(HEAD, true)];
  const first = bytes.getInt32(HEAD + 4, true);
  const table = Array.from({ length: count }, (_, i) => cardAt(bytes, HEAD + FACTS + CARD * i));
  const texts = table.map(({ row }) => {
    const text = row.join(":");
    return fixed.get(row[0])?.join(":") === text ? String(row[0]) : text;
  });
  const cards = texts.slice(first);
  const pool = cards.length;
  /** @param {number} entry @param {number} [copy] */
  const named = (entry, copy) => {
    const pooled = table[entry].id === POOL_ID;
    const id = `${pooled ? "?" : table[entry].id}${copy ? "+" : ""}`;
    if (pooled && entry >= first) return `${id}:${entry - first}`;
    const known = cards.indexOf(texts[entry]);
    return `${id}:${known < 0 ? cards.push(texts[entry]) - 1 : known}`;
  };
  const state = position.length - STATE;
  const players = [0, 1].map((who) => {
    const at = state + 64 + PLAYER * who;
    const byte = (/** @type {number} */ place) => bytes.getUint8(at + place);
    const [health, lost, draw, shown] = [0, 4, 8, 12].map((i) =>
      bytes.getInt32(at + AT.health + i, true),
    );
    const runes = [5, 10, 15, 20, 25].filter((_, i) => (byte(AT.runes) >> i) & 1);
    const special = rules === "1.5" ? lost : joined(runes, ".");
    const mana = [byte(AT.mana + 1), byte(AT.mana), byte(AT.mana + 2)];
    const numbers = [health, ...mana, draw + Math.floor(lost / 5), shown, special].join(",");
    const hand = Array.from({ length: byte(AT.hand) }, (_, i) => named(byte(i)));
    const left = byte(AT.deck);
    const deck = Array.from({ length: left }, (_, i) =>
      named(bytes.getUint8(state + DECK_SIZE * (who + 1) - left + i)),
    );
    const marks = bytes.getUint32(at + AT.marks, true);
    const board = slotsOf(bytes, at).map((slot) => {
      const place = at + AT.board + 8 * slot;
      const flags = [
        (marks >> (READY + slot)) & 1 && "r",
        (marks >> (SPENT + slot)) & 1 && "s",
        bytes.getUint8(place + 7) && "f",
      ];
      const parts = [
        named(bytes.getUint8(place + 4), bytes.getUint8(place + 6)),
        bytes.getInt16(place, true),
        bytes.getInt16(place + 2, true),
        lettersOf(bytes.getUint8(place + 5)),
        rules === "1.0" ? 0 : Math.floor(slot / SLOTS),
        joined(flags.filter(Boolean), ""),
      ];
      return parts.join(":");
    });
    return [numbers, joined(hand), joined(board), joined(deck)].join("/");
  });
  const won = [0, 1].find((who) => bytes.getUint8(state + 64 + PLAYER * who + WON)) ?? "-";
  const turn = bytes.getInt32(state + 60, true);
  return [rules, turn, won, ...players, pool, joined(cards)].join(" ");
}

/** @param {DataView} bytes @param {number} at @returns {{id: number, row: Row}} */
function cardAt(bytes, at) {
  const [attack, defense, mine, theirs] = [0, 2, 4, 6].map((i) => bytes.getInt16(at + i, true));
  const [cost, draw, type, bits, area, id] = [8, 9, 10, 11, 12, 13].map((i) =>
    bytes.getUint8(at + i),
  );
  const base = bytes.getUint16(at + 14, true);
  return {
    id,
    row: [base, type, cost, attack, defense, lettersOf(bits), mine, theirs, draw, area],
  };
}

/** The bytes of a position, for the engine, which checks what can stand together; and its cards.
 * @param {string} text @param {string} rules @param {Map<number, Row>} fixed as for `textOf`
 * @param {Bounds} bounds */
export function bytesOf(text, rules, fixed, bounds) {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 7) throw new Error(`This is not a position: expected ${FIELDS}.`);
  if (fields[0] !== rules)
    throw new Error(`The position is of rules ${fields[0]}: this page plays by rules ${rules}.`);
  const turn = whole(fields[1], "turn", bounds.state.turn);
  if (!["-", "0", "1"].includes(fields[2]))
    throw new Error(`winner: expected -, 0 or 1, got ${fields[2]}`);
  const cards = listed(fields[6]).map((part, i) => rowOf(part, `cards[${i}]`, fixed, bounds));
  whole(String(cards.length), "cards", bounds.state.cards);
  const pool = whole(fields[5], "pool", [0, cards.length]);
  /** The card of each instance id. @type {Map<number, number>} */
  const held = new Map();
  const seen = new Set();
  /** @param {string} entry @param {string} where @param {boolean} isCreature @returns {Entry} */
  const read = (entry, where, isCreature) => {
    const parts = split(entry, ":", where, isCreature ? CREATURE : CREATURE.slice(0, 2));
    const card = whole(parts[1], `${where}.card`, [0, cards.length - 1]);
    if (isCreature && cards[card][1] !== 0)
      throw new Error(`${where}.card: a card of type ${cards[card][1]} is not a creature`);
    const name = isCreature ? parts[0].replace(/\+$/, "") : parts[0];
    const copy = name !== parts[0];
    if (name === "?") {
      if (card < pool) return { parts, where, id: null, card, copy };
      throw new Error(`${where}: a card without an id must be one of the ${pool} of the pool`);
    }
    const id = whole(name, `${where}.id`, bounds.state.id);
    const known = held.get(id) ?? card;
    if (known !== card) throw new Error(`${where}.card: instance ${id} is card ${known} elsewhere`);
    held.set(id, card);
    const instance = id + Number(copy);
    if (seen.has(instance)) throw new Error(`${where}.id: instance id ${instance} occurs twice`);
    seen.add(instance);
    return { parts, where, id, card, copy };
  };
  const players = [3, 4].map((field, who) => {
    const parts = split(fields[field], "/", `players[${who}]`, PARTS);
    const [hand, board, deck] = PARTS.slice(1).map((name, i) => {
      const where = `players[${who}].${name}`;
      const entries = listed(parts[i + 1]);
      if (entries.length > MOST[name])
        throw new Error(`${where}: ${entries.length} cards, expected at most ${MOST[name]}`);
      return entries.map((entry, j) => read(entry, `${where}[${j}]`, name === "board"));
    });
    return { numbers: parts[0], hand, board, deck };
  });
  const ids = [...held.keys()].sort((a, b) => a - b);
  const entryOf = (/** @type {Entry} */ { id, card }) =>
    id === null ? ids.length + card : ids.indexOf(id);
  const table = [
    ...ids.map((id) => ({ id, row: cards[held.get(id) ?? 0] })),
    ...cards.slice(0, pool).map((row) => ({ id: POOL_ID, row })),
  ];
  whole(String(table.length), "cards", bounds.state.cards);
  const state = 2 * HEAD + FACTS + CARD * table.length;
  const bytes = new DataView(new ArrayBuffer(state + STATE));
  bytes.setInt32(8, FACTS + CARD * table.length, true);
  bytes.setInt32(HEAD, RULE_SETS.indexOf(rules), true);
  bytes.setInt32(HEAD + 4, ids.length, true);
  table.forEach((card, i) => writeCard(bytes, HEAD + FACTS + CARD * i, card, i));
  bytes.setInt32(state + 60, turn, true);
  players.forEach(({ hand, board, deck, numbers }, who) => {
    const at = state + 64 + PLAYER * who;
    writeNumbers(bytes, at, numbers, `players[${who}]`, rules, bounds);
    hand.map(entryOf).forEach((entry, i) => {
      bytes.setUint8(at + i, entry);
      bytes.setUint8(at + AT.kinds + i, kindOf(table[entry].row));
    });
    deck.map(entryOf).forEach((entry, i) => {
      bytes.setUint8(state + DECK_SIZE * (who + 1) - deck.length + i, entry);
    });
    bytes.setUint8(at + AT.hand, hand.length);
    bytes.setUint8(at + AT.deck, deck.length);
    writeBoard(bytes, at, board, entryOf, rules, bounds);
    bytes.setUint8(at + WON, Number(fields[2] === String(who)));
  });
  return { bytes: new Uint8Array(bytes.buffer), cards };
}

/** @param {string} part @param {string} where @param {Map<number, Row>} fixed
 * @param {Bounds} bounds @returns {Row} */
function rowOf(part, where, fixed, bounds) {
  const known = fixed.get(Number(part));
  if (known) return known;
  return split(part, ":", where, ROW).map((value, i) => {
    if (ROW[i] !== "abilities") return whole(value, `${where}.${ROW[i]}`, bounds.card[ROW[i]]);
    return checkedLetters(value, where);
  });
}

/** @param {string} text @param {string} where */
function checkedLetters(text, where) {
  if (lettersOf(bitsOf(text)) === text) return text;
  throw new Error(`${where}.abilities: expected a form of ${LETTERS}, got ${text}`);
}

/** What the kernel keeps of a card in a hand: its cost, and what it can be used on.
 * @param {Row} row */
function kindOf([, type, cost]) {
  const on = type === 0 ? 0 : (type === 1 ? 2 : 4) + Number(type === 3);
  return (8 * (15 - Math.min(cost, 14))) | on;
}

/** @param {DataView} bytes @param {number} at @param {{id: number, row: Row}} card
 * @param {number} entry */
function writeCard(bytes, at, { id, row }, entry) {
  const [base, type, cost, attack, defense, letters, mine, theirs, draw, area] = row;
  const bits = bitsOf(letters);
  [attack, defense, mine, theirs].forEach((value, i) => bytes.setInt16(at + 2 * i, value, true));
  [cost, draw, type, bits, area, id].forEach((value, i) => bytes.setUint8(at + 8 + i, value));
  bytes.setUint16(at + 14, base, true);
  bytes.setInt16(at + 16, attack, true);
  bytes.setInt16(at + 18, defense, true);
  bytes.setUint8(at + 20, entry);
  bytes.setUint8(at + 21, bits);
  const marks = (1 << OCCUPIED) | (((bits >> 1) & 1) << READY) | (((bits >> 3) & 1) << GUARDED);
  bytes.setUint32(at + 24, marks, true);
  bytes.setUint32(at + 28, kindOf(row), true);
}

/** @param {DataView} bytes @param {number} at @param {string} text @param {string} where
 * @param {string} rules @param {Bounds} bounds */
function writeNumbers(bytes, at, text, where, rules, { state }) {
  const special = rules === "1.5" ? "lost" : "runes";
  const parts = split(text, ",", where, [...NUMBERS, special]);
  const [health, most, mana, bonus, draw, shown] = NUMBERS.map((name, i) =>
    whole(parts[i], `${where}.${name}`, state[name]),
  );
  const lost = special === "lost" ? whole(parts[6], `${where}.lost`, state.lost) : 0;
  const forLost = Math.floor(lost / 5);
  if (draw < forLost)
    throw new Error(`${where}.next_draw: expected at least ${forLost} for ${lost} health lost`);
  let bits = 0;
  for (const rune of special === "runes" ? listed(parts[6], ".") : []) {
    if (!["5", "10", "15", "20", "25"].includes(rune))
      throw new Error(`${where}.runes: expected 5, 10, 15, 20 or 25, got ${rune}`);
    bits |= 1 << (Number(rune) / 5 - 1);
  }
  [health, lost, draw - forLost, shown].forEach((value, i) =>
    bytes.setInt32(at + AT.health + 4 * i, value, true),
  );
  [mana, most, bonus].forEach((value, i) => bytes.setUint8(at + AT.mana + i, value));
  bytes.setUint8(at + AT.runes, bits);
}

/** @param {DataView} bytes @param {number} at @param {Entry[]} board
 * @param {(entry: Entry) => number} entryOf @param {string} rules @param {Bounds} bounds */
function writeBoard(bytes, at, board, entryOf, rules, { state }) {
  const one = rules === "1.0";
  const allowed = rules === "1.5" ? "rs" : "rsf";
  const next = [0, SLOTS];
  let marks = 0;
  let order = 1;
  for (const creature of board) {
    const { parts, where, copy } = creature;
    const [, , attack, defense, letters, lane, flags] = parts;
    const side = whole(lane, `${where}.lane`, state.lane);
    const slot = next[side]++;
    if (!(slot < (one ? BOARD_SIZE : SLOTS * (side + 1))))
      throw new Error(`${where}: no room in lane ${lane}`);
    const set = flags === "-" ? "" : flags;
    if ([...set].some((flag, i) => !allowed.includes(flag) || set.indexOf(flag) < i))
      throw new Error(`${where}.flags: expected - or some of rs, in 1.x rsf, got ${flags}`);
    const place = at + AT.board + 8 * slot;
    const bits = bitsOf(checkedLetters(letters, where));
    bytes.setInt16(place, whole(attack, `${where}.attack`, state.attack), true);
    bytes.setInt16(place + 2, whole(defense, `${where}.defense`, state.defense), true);
    bytes.setUint8(place + 4, entryOf(creature));
    bytes.setUint8(place + 5, bits);
    bytes.setUint8(place + 6, Number(copy));
    bytes.setUint8(place + 7, Number(set.includes("f")));
    const own = [
      [OCCUPIED, true],
      [READY, set.includes("r")],
      [SPENT, set.includes("s")],
      [GUARDED, (bits >> 3) & 1],
    ];
    for (const [shift, is] of own) marks |= Number(Boolean(is)) << (Number(shift) + slot);
    order = (order << 1) | side;
  }
  bytes.setUint32(at + AT.marks, marks, true);
  bytes.setUint8(at + 90, order);
}
