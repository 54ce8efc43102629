/**
 * Escapes characters in JSON text that some languages treat as line ends beside
 *  and \r: their clients would split an event. Python's `str.splitlines`, used by httpx's `iter_lines`, does so.
 */
export function escapeLineEnds(json: string): string {
  return /[\x85\u2028\u2029]/.test(json) ? json.replace(/[\x85\u2028\u2029]/g, (end) => escapes[end] ?? end) : json;
}

const escapes: Readonly<Record<string, string>> = {
  "\x85": "\\u0085",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};
