import { sourceJson } from "./workarounds/source-text.ts";

/**
 * Parses JSON so that `JSON.stringify` writes its numbers again as they were: an id with more digits than a double
 * holds would become another one. In the result such numbers are objects.
 */
export function parseExactJson(text: string): unknown {
  return sourceJson.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined ? sourceJson.rawJSON(source) : value,
  );
}
