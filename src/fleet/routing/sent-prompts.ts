import { charactersPerToken } from "../../../lib/text/estimate-tokens.ts";
import type { BlocksOfText } from "./prompt-blocks.ts";

/** Prompts that are kept to be used again; more are left to the garbage collector. */
const mostIdle = 1024;

/** A prompt has room for a multiple of so many blocks. */
const roundedTo = 32;

/** A prompt that was sent to a server, and what was believed of it, until the server has answered. */
export class SentPrompt implements BlocksOfText {
  count = 0;
  hashes = new Int32Array(0);
  ends = new Int32Array(0);
  /** About how many tokens it has, and so many times four characters. */
  tokens = 0;
  characters = 0;
  /** Tokens of its beginning that the server was believed to have in its cache. */
  knownTokens = 0;
  /** The last use of the last block of that beginning, as the server's cache counts uses. Undefined: it was not there. */
  usedAt: number | undefined;
  /** Whether the prompt goes on from an earlier answer, and its server was chosen for having read that. */
  isReturn = false;
  /** How many blocks of tokens the server had told of when the prompt was sent. */
  since = 0;
  /** Whether it was answered: it may be another prompt's by then. */
  isOver = true;
}

/** The prompts on their way. Their arrays are used again: made anew they would be most of what a choice costs the collector. */
export class SentPrompts {
  readonly #idle: SentPrompt[] = [];

  /** Keeps a copy of a prompt of about so many tokens. */
  keep({ hashes, ends, count }: BlocksOfText, tokens: number): SentPrompt {
    const sent = this.#idle.pop() ?? new SentPrompt();
    if (sent.ends.length < count) {
      const room = Math.ceil(count / roundedTo) * roundedTo;
      sent.hashes = new Int32Array(2 * room);
      sent.ends = new Int32Array(room);
    }
    for (let block = 0; block < count; block++) {
      sent.hashes[2 * block] = hashes[2 * block] as number;
      sent.hashes[2 * block + 1] = hashes[2 * block + 1] as number;
      sent.ends[block] = ends[block] as number;
    }
    sent.count = count;
    sent.tokens = tokens;
    sent.characters = tokens * charactersPerToken;
    sent.isOver = false;
    return sent;
  }

  /** A prompt was answered. */
  end(sent: SentPrompt): void {
    sent.isOver = true;
    if (this.#idle.length < mostIdle) {
      this.#idle.push(sent);
    }
  }
}
