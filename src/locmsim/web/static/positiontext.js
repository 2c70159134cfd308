// @ts-check
// Positions as text, from and to the bytes that the engine in a page's file takes
// (docs/rules.md, section 13; `locmsim.game.notation` is the package's).

/** A row of `Card.to_row`. @typedef {any[]} Row */

const LETTERS = "BCDGLW";
const FIELDS = "rules turn winner player player pool cards";
const RULE_SETS = ["1.5", "1.2", "1.0"];
/** Slots of a lane, where there are two, and of the board. */
const SLOTS = 3;
const BOARD_SIZE = 6;
const DECK_SIZE = 30;
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
const listed = (/** @type {string} */ text) => (text === "-" ? [] : text.split(","));
const joined = (/** @type {(string|number)[]} */ parts, mark = ",") => parts.join(mark) || "-";

/** @param {string} text @param {string} what @returns {number} */
function whole(text, what) {
  if (!/^-?\d{1,9}$/.test(text ?? "")) throw new Error(`${what}: expected a number, got ${text}`);
  return Number(text);
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
 * @param {string} text @param {string} rules @param {Map<number, Row>} fixed as for `textOf` */
export function bytesOf(text, rules, fixed) {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 7) throw new Error(`This is not a position: expected ${FIELDS}.`);
  if (fields[0] !== rules)
    throw new Error(`The position is of rules ${fields[0]}: this page plays by rules ${rules}.`);
  const cards = listed(fields[6]).map((part, i) => rowOf(part, `cards[${i}]`, fixed));
  const pool = whole(fields[5], "pool");
  const players = [3, 4].map((i) => {
    const [numbers, ...places] = fields[i].split("/");
    if (places.length !== 3)
      throw new Error(`players[${i - 3}]: expected numbers/hand/board/deck, got ${fields[i]}`);
    const lists = places.map((one) => listed(one).map((entry) => entry.split(":")));
    return { numbers: numbers.split(","), hand: lists[0], board: lists[1], deck: lists[2] };
  });
  /** The card of each instance id. @type {Map<number, number>} */
  const held = new Map();
  for (const { hand, board, deck } of players)
    for (const [id, card] of [...hand, ...board, ...deck]) {
      if (!cards[whole(card, "card")]) throw new Error(`card ${card}: there are ${cards.length}`);
      if (id[0] !== "?") held.set(whole(id.replace("+", ""), "id"), Number(card));
    }
  const ids = [...held.keys()].sort((a, b) => a - b);
  const entryOf = (/** @type {string[]} */ [id, card]) =>
    id[0] === "?" ? ids.length + Number(card) : ids.indexOf(Number(id.replace("+", "")));
  const table = [
    ...ids.map((id) => ({ id, row: cards[held.get(id) ?? 0] })),
    ...cards.slice(0, pool).map((row) => ({ id: POOL_ID, row })),
  ];
  const state = 2 * HEAD + FACTS + CARD * table.length;
  const bytes = new DataView(new ArrayBuffer(state + STATE));
  bytes.setInt32(8, FACTS + CARD * table.length, true);
  bytes.setInt32(HEAD, RULE_SETS.indexOf(rules), true);
  bytes.setInt32(HEAD + 4, ids.length, true);
  table.forEach((card, i) => writeCard(bytes, HEAD + FACTS + CARD * i, card, i));
  bytes.setInt32(state + 60, whole(fields[1], "turn"), true);
  players.forEach((player, who) => {
    const { hand, board, deck, numbers } = player;
    const at = state + 64 + PLAYER * who;
    writeNumbers(bytes, at, numbers, rules === "1.5");
    hand.map(entryOf).forEach((entry, i) => {
      bytes.setUint8(at + i, entry);
      bytes.setUint8(at + AT.kinds + i, kindOf(table[entry].row));
    });
    deck.map(entryOf).forEach((entry, i) => {
      bytes.setUint8(state + DECK_SIZE * (who + 1) - deck.length + i, entry);
    });
    bytes.setUint8(at + AT.hand, hand.length);
    bytes.setUint8(at + AT.deck, deck.length);
    writeBoard(bytes, at, board, entryOf, rules === "1.0");
    bytes.setUint8(at + WON, Number(fields[2] === String(who)));
    if (hand.length > 8 || deck.length > DECK_SIZE || board.length > BOARD_SIZE)
      throw new Error(`players[${who}]: too many cards`);
  });
  return { bytes: new Uint8Array(bytes.buffer), cards };
}

/** @param {string} part @param {string} where @param {Map<number, Row>} fixed @returns {Row} */
function rowOf(part, where, fixed) {
  const parts = part.split(":");
  const known = parts.length === 1 && fixed.get(Number(part));
  if (known) return known;
  if (parts.length !== 10) throw new Error(`${where}: expected a row of ten values, got ${part}`);
  return parts.map((value, i) => (i === 5 ? value : whole(value, where)));
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

/** @param {DataView} bytes @param {number} at @param {string[]} numbers
 * @param {boolean} counts whether lost health is counted, in place of runes */
function writeNumbers(bytes, at, numbers, counts) {
  if (numbers.length !== 7) throw new Error(`numbers: expected seven, got ${numbers.join(",")}`);
  const [health, most, mana, bonus, draw, shown] = numbers
    .slice(0, 6)
    .map((one, i) => whole(one, `numbers[${i}]`));
  const lost = counts ? whole(numbers[6], "lost") : 0;
  const runes = counts ? [] : listed(numbers[6].replaceAll(".", ","));
  const drawn = draw - Math.floor(lost / 5);
  [health, lost, drawn, shown].forEach((value, i) =>
    bytes.setInt32(at + AT.health + 4 * i, value, true),
  );
  [mana, most, bonus].forEach((value, i) => bytes.setUint8(at + AT.mana + i, value));
  const bits = runes.reduce((all, rune) => all | (1 << (whole(rune, "runes") / 5 - 1)), 0);
  bytes.setUint8(at + AT.runes, bits);
}

/** @param {DataView} bytes @param {number} at @param {string[][]} board
 * @param {(entry: string[]) => number} entryOf @param {boolean} one whether there is one lane */
function writeBoard(bytes, at, board, entryOf, one) {
  const next = [0, SLOTS];
  let marks = 0;
  let order = 1;
  for (const creature of board) {
    const [id, , attack, defense, letters, lane, flags] = creature;
    if (creature.length !== 7) throw new Error(`board: not a creature: ${creature.join(":")}`);
    const side = one ? 0 : whole(lane, "lane");
    const slot = next[side]++;
    if (!(slot < (one ? BOARD_SIZE : SLOTS * (side + 1))))
      throw new Error(`board: no room in lane ${lane}`);
    const place = at + AT.board + 8 * slot;
    const bits = bitsOf(letters);
    bytes.setInt16(place, whole(attack, "attack"), true);
    bytes.setInt16(place + 2, whole(defense, "defense"), true);
    bytes.setUint8(place + 4, entryOf(creature));
    bytes.setUint8(place + 5, bits);
    bytes.setUint8(place + 6, Number(id.endsWith("+")));
    bytes.setUint8(place + 7, Number(flags.includes("f")));
    const own = [
      [OCCUPIED, true],
      [READY, flags.includes("r")],
      [SPENT, flags.includes("s")],
      [GUARDED, (bits >> 3) & 1],
    ];
    for (const [shift, is] of own) marks |= Number(Boolean(is)) << (Number(shift) + slot);
    order = (order << 1) | side;
  }
  bytes.setUint32(at + AT.marks, marks, true);
  bytes.setUint8(at + 90, order);
}
