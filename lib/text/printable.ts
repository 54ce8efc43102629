// Characters that a terminal or a page obeys rather than shows: controls, line ends, turns of the writing direction.
const obeyed = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]`;
const some = new RegExp(obeyed, "u");
const all = new RegExp(obeyed, "gu");

/** Whether a text is shown as it is wherever it is shown. */
export function isPrintable(text: string): boolean {
  return !some.test(text);
}

/** A text that shows such characters as escapes: nobody's name is to forge a row of a table. */
export function toPrintable(text: string): string {
  return text.replace(all, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
