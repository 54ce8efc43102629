// A tokenizer without a vocabulary file. Short words are one token and longer ones are cut into pieces. A character
// beyond the basic plane takes two tokens, as byte-level tokenizers split emoji. A token's id is a hash of its text, so
// that equal text has equal ids everywhere.

/** Tokens that no text produces. Chat templates and answers use them as markers. */
export const special = {
  end: 1,
  turnStart: 2,
  turnEnd: 3,
  thinkStart: 4,
  thinkEnd: 5,
  callStart: 6,
  callEnd: 7,
} as const;

/** All ids are below this number, a common size of real vocabularies. */
export const vocabularySize = 151_936;

const longestWord = 7;
const longestDigits = 3;
const longestSpace = 16;
const firstPlainId = 16;

/** The ids of a text's tokens, appended to `into`. */
export function encode(text: string, into: number[] = []): number[] {
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    into.push(toId(text, at, end));
    at = end;
  }
  return into;
}

/** The texts of a text's tokens. Joined, they are the text. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

/** The id of a text that is one token. */
export function tokenId(piece: string): number {
  return toId(piece, 0, piece.length);
}

function toId(text: string, from: number, to: number): number {
  let hash = 0x811c9dc5; // FNV-1a over UTF-16 units
  for (let at = from; at < to; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return firstPlainId + ((hash >>> 0) % (vocabularySize - firstPlainId));
}

function tokenEnd(text: string, from: number): number {
  let at = from;
  let unit = text.charCodeAt(at);
  if (isSpace(unit)) {
    at = runEnd(text, at, isSpace, longestSpace);
    // The last space before a word belongs to the word.
    const word = at < text.length && text.charCodeAt(at - 1) === 0x20;
    if (!word) {
      return at;
    }
    if (at - 1 > from) {
      return at - 1;
    }
    unit = text.charCodeAt(at);
  }
  if (isLetter(unit)) {
    return runEnd(text, at, isLetter, longestWord);
  }
  if (isDigit(unit)) {
    return runEnd(text, at, isDigit, longestDigits);
  }
  return at + 1;
}

function runEnd(text: string, from: number, belongs: (unit: number) => boolean, longest: number): number {
  const last = Math.min(text.length, from + longest);
  let at = from + 1;
  while (at < last && belongs(text.charCodeAt(at))) {
    at++;
  }
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** ASCII letters, and all letters below the scripts without spaces, in which each character is a token. */
function isLetter(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0xc0 && unit < 0x2000);
}
