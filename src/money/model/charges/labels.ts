import { isPrintable } from "#lib/text/printable.ts";

/** Labels of one receipt. */
export const mostLabels = 3;
/** The longest value that is kept as it is, in UTF-16 code units. */
export const longestValue = 128;
/** The form of a label's name. */
export const labelName = /^[a-z][a-z0-9_]{0,31}$/;
/** The value of those that cannot be kept: too many in a day, too long, or with control characters. */
export const otherValue = "other";

/** Whether a value may stand on a receipt, in tables and in files as it is. */
export const isLabelValue = (value: string): boolean =>
  value !== "" && value.length <= longestValue && value.isWellFormed() && isPrintable(value);

/**
 * Reads a charge's labels as they are stored: the JSON text of an object with their values by name. Labels only inform,
 * so that anything else is left out. Trusts no type.
 */
export function readLabels(text: unknown): string | undefined {
  if (typeof text !== "string") {
    return undefined;
  }
  try {
    const entries = Object.entries(JSON.parse(text) as object);
    const known = entries.filter(([name, value]) => labelName.test(name) && typeof value === "string");
    const kept = known.filter(([, value]) => isLabelValue(value as string)).slice(0, mostLabels);
    return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
  } catch {
    return undefined; // no JSON, or of nothing
  }
}

/** The values of stored labels, by name. Null: none. */
export const parseLabels = (text: string | null | undefined): Record<string, string> =>
  text == null ? {} : (JSON.parse(text) as Record<string, string>);
