import type { EngineUsage } from "../../engines/interface.ts";
import type { Member } from "./member.ts";

/** The expected load of a request on a server, in tokens. */
export interface Footprint {
  /** Tokens of its prompt, and those of them that are not in the server's cache. */
  readonly prompt: number;
  readonly uncached: number;
  /** Tokens of its answer. */
  readonly output: number;
}

/** Work of writing a token, in prompt tokens: it is written alone, where a prompt is read at once. */
const outputWeight = 2;

/** The least that a request counts for, such as an embedding. */
const leastWork = 64;

/** The work of a footprint, in prompt tokens, by which turns go. */
function toWork({ prompt, output }: Pick<Footprint, "prompt" | "output">): number {
  return Math.max(leastWork, prompt + outputWeight * output);
}

/** A request's place on a server. */
export class Place {
  readonly member: Member;
  /** The account, or other key, whose turn the request took. */
  readonly key: string;
  /** The work that it was expected to be. */
  readonly expectedWork: number;
  /** Tokens of a KV cache that it was expected to take. */
  readonly expectedTokens: number;
  /** Tokens that it takes of the server's KV cache, at least as many as were counted. */
  #held: number;
  #unread: number;
  #prompt: number;
  #output = 0;

  constructor(member: Member, key: string, { prompt, uncached, output }: Footprint) {
    this.member = member;
    this.key = key;
    this.expectedWork = toWork({ prompt, output });
    this.#prompt = prompt;
    this.#unread = uncached;
    this.expectedTokens = prompt + output;
    this.#held = this.expectedTokens;
    member.enter(this.#held, uncached);
  }

  /** Tokens of its answer so far. */
  get output(): number {
    return this.#output;
  }

  /** The work that it has been so far. */
  get work(): number {
    return toWork({ prompt: this.#prompt, output: this.#output });
  }

  /** The server has read the prompt. */
  began(): void {
    this.member.unreadTokens -= this.#unread;
    this.#unread = 0;
  }

  /** The server has counted. */
  counted({ inputTokens, outputTokens, isLowerBound }: EngineUsage): void {
    this.#output = outputTokens;
    if (!isLowerBound) {
      this.#prompt = inputTokens;
    }
    const more = inputTokens + outputTokens - this.#held;
    if (more > 0) {
      this.#held += more;
      this.member.tokensInFlight += more;
    }
  }

  /** It is over. */
  leave(): void {
    this.began();
    this.member.leave(this.#held);
  }
}
