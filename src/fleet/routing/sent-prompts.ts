import { SentPrompt } from "../servers/choice/sent-prompt.ts";
import type { BlocksOfText } from "./prompt-blocks.ts";

/** The most answered prompts kept for reuse. More are left to the garbage collector. */
const mostIdle = 1024;

/** A prompt's room is rounded up to a multiple of this many blocks. */
const roundedTo = 32;

/** The prompts on their way. Their arrays are reused: new ones would be most of a choice's garbage. */
export class SentPrompts {
  readonly #idle: SentPrompt[] = [];

  /** Copies a prompt of about this many tokens. */
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
    sent.isOver = false;
    return sent;
  }

  /** The prompt was answered. */
  end(sent: SentPrompt): void {
    sent.isOver = true;
    if (this.#idle.length < mostIdle) {
      this.#idle.push(sent);
    }
  }
}
