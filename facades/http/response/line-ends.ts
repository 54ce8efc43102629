/**
 * Escapes, in JSON text, the characters that some languages take for line ends besides \n and \r: their
 * clients would break an event in the middle. Python's `str.splitlines`, behind httpx's `iter_lines`, is one.
 */
export function escapeLineEnds(json: string): string {
  return /[\x85\u2028\u2029]/.test(json) ? json.replace(/[\x85\u2028\u2029]/g, (end) => escapes[end] ?? end) : json;
}

const escapes: Readonly<Record<string, string>> = {
  "\x85": "\\u0085",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};
