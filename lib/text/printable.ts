// Characters that a terminal or a page obeys instead of showing: controls, line ends, changes of the writing direction.
const obeyed = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]`;
const some = new RegExp(obeyed, "u");
const all = new RegExp(obeyed, "gu");

/** Whether a text has no such characters, so that it is shown as it is everywhere. */
export function isPrintable(text: string): boolean {
  return !some.test(text);
}

/** Shows such characters as escapes, so that a name cannot forge a row of a table. */
export function toPrintable(text: string): string {
  return text.replace(all, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
