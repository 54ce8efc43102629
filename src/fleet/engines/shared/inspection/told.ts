import type { Fields } from "../chat-completions/dialect.ts";
import { countIn, largestCount } from "../counts.ts";

// A server's report about itself may be any JSON. Values of a wrong type are ignored, and all are shown to people as
// plain text.

/** The most characters of a text that is shown. */
const longestText = 200;

/** A limit or a setting. Undefined: the value is not a whole number that can be one. */
export function figureIn(value: unknown): number | undefined {
  const count = countIn(value);
  return count === largestCount ? undefined : count;
}

/** A text without control characters, which a terminal would interpret, and cut where it is too long. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? plainText(value) : undefined;
}

/** The texts of a list. Empty: the value is not a list. */
export function textsIn(value: unknown): readonly string[] {
  return listIn(value).flatMap((one) => textIn(one) ?? []);
}

export const flagIn = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);

/** The fields of an object. Empty: the value is not an object. */
export function fieldsIn(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A server's own words as they are shown. */
export function plainText(text: string): string {
  const start = text
    .slice(0, longestText)
    .replaceAll(/\p{C}+/gu, " ")
    .trim();
  return text.length > longestText ? `${start}…` : start;
}
