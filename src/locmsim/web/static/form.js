// @ts-check
// The fields of forms, which the server describes: their texts, bounds and defaults.

import { element, labelled, named, select, valueOf } from "./dom.js";

/** @typedef {{name: string, text: string, default: any, choices: string[], whole: boolean,
 *   low: number|null, high: number|null}} Field */

/** The ids of its fields begin so. @param {string} prefix @param {Field} field */
const idOf = (prefix, field) => `${prefix}${field.name}`;

/** Create a form. @param {string} kind its id and classes @param {() => void} submit what it does
 * @param {...(Record<string, any>|Node)} parts */
export const form = (kind, submit, ...parts) => {
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  };
  return element(`form${kind}`, { onsubmit }, ...parts);
};

/** Create a labelled field. @param {Field} field @param {string} [prefix]
 * @param {Record<string, any>} [more] further properties of an input */
export function fieldOf(field, prefix = "", more = {}) {
  const id = idOf(prefix, field);
  if (field.choices.length)
    return select(id, field.text, named(field.choices), field.default ?? field.choices[0]);
  const input = element("input", {
    id,
    type: "number",
    step: field.whole ? 1 : "any",
    min: field.low,
    max: field.high,
    value: field.default,
    required: field.default !== null,
    placeholder: field.default === null ? "any" : null,
    ...more,
  });
  return labelled(field.text, input);
}

/** Who plays by some rules, as options of a choice.
 * @param {{key: string, name: string, rules: string[]}[]} opponents @param {string} rules */
export const opponentsBy = (opponents, rules) =>
  opponents
    .filter((one) => one.rules.includes(rules))
    .map(({ key, name }) => /** @type {[string, string]} */ ([key, name]));

/** The values of fields, as texts: numbers may have more digits than JavaScript's; null where one is
 * empty. @param {Field[]} fields @param {string} [prefix] @returns {Record<string, string|null>} */
export const valuesOf = (fields, prefix = "") =>
  Object.fromEntries(fields.map((field) => [field.name, valueOf(idOf(prefix, field)) || null]));
