import { sourceJson } from "./workarounds/source-text.ts";

/**
 * Parses JSON whose numbers are written again, by `JSON.stringify`, as they were: an id of more digits than a double holds
 * would become another one. To whoever looks at them they are objects.
 */
export function parseExactJson(text: string): unknown {
  return sourceJson.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined ? sourceJson.rawJSON(source) : value,
  );
}
