/** How a token is treated, by llama.cpp's numbers. */
const types = { normal: 1, control: 3, userDefined: 4, unused: 5 } as const;

/** A byte-level vocabulary as GPT-2 and Qwen have it, but for three merges without words. */
export interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly merges: readonly string[];
  idOf(token: string): number;
}

/** `words` are taken whole wherever they stand in a text. */
export function createVocabulary(words: readonly string[] = []): Vocabulary {
  const tokens = byteSymbols();
  const kinds: number[] = tokens.map(() => types.normal);
  const add = (token: string, type: number) => {
    tokens.push(token);
    kinds.push(type);
  };
  const merges = ["t h", "i n", "e r"];
  for (const merge of merges) {
    add(merge.replace(" ", ""), types.normal);
  }
  const controls = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
  for (const control of controls) {
    add(control, types.control);
  }
  for (const word of new Set(["<think>", "</think>", ...words])) {
    if (!controls.includes(word)) {
      add(word, types.userDefined);
    }
  }
  while (tokens.length % 32 !== 0) {
    add(`<|unused${tokens.length}|>`, types.unused);
  }
  return { tokens, types: kinds, merges, idOf: (token) => tokens.indexOf(token) };
}

/**
 * One printable character for each byte: itself where it is printable, else one from 256 on.
 * https://github.com/openai/gpt-2/blob/master/src/encoder.py
 */
function byteSymbols(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
}

function isPrintable(byte: number): boolean {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}
