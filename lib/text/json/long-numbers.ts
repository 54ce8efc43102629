import { sourceJson } from "./workarounds/source-text.ts";

/** Digits that a double holds in any number. */
const sureDigits = 15;
/** A text, if need be one without an end, or a number that a double may not hold: by its digits, or by its exponent. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d(?:[\d.]{15}|[\d.]{0,14}[eE][+-]?\d{3})[\d.eE+-]*/gs;
const longRun = /[\d.]{16}/;
/** Control characters of which one marks numbers among texts. In JSON they are written as escapes alone. */
const marks = [1, 2, 3, 4, 5, 6, 7];

/**
 * `JSON.parse` whose result `JSON.stringify` writes with all digits of its numbers: those that a double may not hold are objects
 * in it. Where no number is long it costs no more.
 */
export function parseKeepingDigits(text: string): unknown {
  return hasLongNumber(text) ? parseLongNumbers(text) : JSON.parse(text);
}

/** Whether a text may have a number of more digits than a double holds: whoever looks for 16 in a row may look at every 16th. */
export function hasLongNumber(text: string): boolean {
  for (let at = sureDigits; at < text.length; at += sureDigits + 1) {
    if (isOfNumber(text.charCodeAt(at)) && longRun.test(text.slice(at - sureDigits, at + sureDigits + 1))) {
      return true;
    }
  }
  return false;
}

function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/**
 * Parses JSON, with objects for its long numbers. They are marked as texts for the parser and found again: a reviver, which is
 * told of each value, would take fifty times as long for a megabyte. JSON whose texts have all marks is parsed as usual.
 */
export function parseLongNumbers(text: string): unknown {
  const mark = marks.find((code) => !text.includes(`\\u000${code}`));
  if (mark === undefined) {
    return JSON.parse(text);
  }
  const marked = text.replace(tokens, (token) => (token.startsWith('"') ? token : `"\\u000${mark}${token}"`));
  return restore(JSON.parse(marked), mark);
}

function restore(root: unknown, mark: number): unknown {
  const holder = { root };
  const open: object[] = [holder];
  for (let object = open.pop(); object !== undefined; object = open.pop()) {
    for (const [key, value] of Object.entries(object)) {
      if (typeof value === "object" && value !== null) {
        open.push(value);
      } else if (typeof value === "string" && value.charCodeAt(0) === mark) {
        // An assignment to __proto__ would do something else.
        Object.defineProperty(object, key, { ...usual, value: sourceJson.rawJSON(value.slice(1)) });
      }
    }
  }
  return holder.root;
}

const usual = { enumerable: true, configurable: true, writable: true };
