/** Letters of scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A name that somebody chose, for a sentence of plain text: what is written from right to left comes between marks (FSI,
 * PDI), so that it changes the order of nothing around it. Any other name stays as it is.
 */
export function isolate(name: string): string {
  return rightToLeft.test(name) ? `\u2068${name}\u2069` : name;
}
