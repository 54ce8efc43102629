import type { Sequence } from "./random.ts";
import { tokenId } from "./tokenizer.ts";

/** A token's text and id. */
export interface Token {
  readonly text: string;
  readonly id: number;
}

// No word is longer than a token can be.
const lists = {
  determiner: "a the this every one each some our",
  adjective: "quiet early copper patient narrow bright hidden simple distant gentle curious wooden silver honest",
  noun: "river lantern harbour garden window engine letter market valley signal bridge morning answer story pattern",
  verb: "carries follows finds keeps turns opens meets holds shows brings learns crosses leaves",
  adverb: "slowly again today often almost gladly twice always",
} as const;

const token = (text: string): Token => ({ text, id: tokenId(text) });
const blank = (list: string) => list.split(" ").map((word) => token(` ${word}`));
const words = {
  determiner: blank(lists.determiner),
  adjective: blank(lists.adjective),
  noun: blank(lists.noun),
  verb: blank(lists.verb),
  adverb: blank(lists.adverb),
};
const openings = words.determiner.map(({ text }) => token(` ${text.charAt(1).toUpperCase()}${text.slice(2)}`));
const stop = token(".");
const pattern = ["adjective", "noun", "verb", "determiner", "noun"] as const;

/**
 * Readable but meaningless sentences of at least this many tokens. Each token is a full stop, or a word with the space
 * before it, so that tokenizing the joined text gives the same tokens.
 */
export function paragraph(atLeast: number, random: Sequence): Token[] {
  const tokens: Token[] = [];
  while (tokens.length < atLeast) {
    tokens.push(pick(openings, random));
    for (const kind of pattern) {
      tokens.push(pick(words[kind], random));
    }
    if (random() < 0.4) {
      tokens.push(pick(words.adverb, random));
    }
    tokens.push(stop);
  }
  return tokens;
}

/** The beginning of a paragraph, of exactly this many tokens. */
export function sentences(count: number, random: Sequence): Token[] {
  return paragraph(count, random).slice(0, count);
}

function pick(list: readonly Token[], random: Sequence): Token {
  return list[Math.floor(random() * list.length)] ?? stop;
}
