// Characters that a terminal or a page obeys instead of showing: controls, line ends, changes of the writing direction.
const obeyed = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]`;
const some = new RegExp(obeyed, "u");
const all = new RegExp(obeyed, "gu");
const seen = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Whether a text has no such characters, so that it is shown as it is everywhere. */
export function isPrintable(text: string): boolean {
  return !some.test(text);
}

/** Whether anything of a text is seen: it is neither empty nor made of spaces and characters without a shape. */
export function isSeen(text: string): boolean {
  return seen.test(text);
}

/** Shows such characters as escapes, so that a name cannot forge a row of a table. */
export function toPrintable(text: string): string {
  return text.replace(all, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A text without such characters. */
export function toPlain(text: string): string {
  return text.replace(all, "");
}
