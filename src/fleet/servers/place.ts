import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { EngineUsage } from "../engines/interface.ts";
import type { Choice } from "./choice/policy.ts";
import type { Member } from "./member.ts";
import type { Wish } from "./wish.ts";

/** The expected tokens of a request on a server. */
export interface Footprint {
  /** Tokens of its prompt. */
  readonly prompt: number;
  /** Tokens of its answer. */
  readonly output: number;
}

/** The work of writing a token, in prompt tokens: tokens are written one at a time, but a prompt is read at once. */
const outputWeight = 2;

/** The least work of a request, such as an embedding. */
const leastWork = 64;

/** The work of a footprint, in prompt tokens. Turns go by it. */
function toWork({ prompt, output }: Pick<Footprint, "prompt" | "output">): number {
  return Math.max(leastWork, prompt + outputWeight * output);
}

/** A request's place on a server. */
export class Place {
  readonly member: Member;
  /** Why that server was chosen. */
  readonly choice: Choice;
  /** The account, or other key, whose turn the request took. */
  readonly key: string;
  readonly serviceClass: ServiceClass;
  /** The expected work, as it counts for its key's turns. */
  readonly expectedWork: number;
  /** The expected tokens in the KV cache. */
  readonly expectedTokens: number;
  /**
   * When the place was taken, on the monotonic clock; the prompt tokens that the server had to read then; and the
   * expected milliseconds to the first token.
   */
  readonly since: number;
  readonly toRead: number;
  readonly expectedMs: number;
  /** Milliseconds to the first token. Undefined: it has not come. */
  firstTokenMs: number | undefined;
  /** Tokens that it takes in the server's KV cache: at least as many as were counted. */
  #held: number;
  readonly #weight: number;
  readonly #trial: number;
  #unread: number;
  #prompt: number;
  #output = 0;
  #cached: number | undefined;

  /** Takes the place at `now`, on the monotonic clock. */
  constructor(
    choice: Choice,
    wish: Pick<Wish, "key" | "serviceClass" | "turnWeight">,
    { prompt, output }: Footprint,
    now: number,
  ) {
    const { member, uncachedTokens: uncached } = choice;
    this.member = member;
    this.since = now;
    this.toRead = member.unread + uncached;
    this.expectedMs = member.firstToken.predict(this.toRead);
    this.choice = choice;
    this.key = wish.key;
    this.serviceClass = wish.serviceClass ?? "standard";
    this.#weight = wish.turnWeight ?? 1;
    this.expectedWork = toWork({ prompt, output }) / this.#weight;
    this.#prompt = prompt;
    this.#unread = uncached;
    this.expectedTokens = prompt + output;
    this.#held = this.expectedTokens;
    this.#trial = member.enter(this.#held, uncached);
  }

  /** Tokens of its prompt: counted by the server, or estimated until then. */
  get prompt(): number {
    return this.#prompt;
  }

  /** Tokens of its answer so far. */
  get output(): number {
    return this.#output;
  }

  /** Tokens of its prompt that the server found in its cache. Undefined: the server has not reported them. */
  get cached(): number | undefined {
    return this.#cached;
  }

  /** The work so far, as it counts for its key's turns. */
  get work(): number {
    return toWork({ prompt: this.#prompt, output: this.#output }) / this.#weight;
  }

  /** The first token has come: the server has read the prompt. */
  began(now: number): void {
    this.#read();
    this.firstTokenMs = now - this.since;
    this.member.firstToken.learn(this.toRead, this.firstTokenMs);
  }

  /** The server has reported its counts. */
  counted({ inputTokens, outputTokens, cachedInputTokens, isLowerBound }: EngineUsage): void {
    this.#output = outputTokens;
    this.#cached = cachedInputTokens ?? this.#cached;
    if (!isLowerBound) {
      this.#prompt = inputTokens;
    }
    const more = inputTokens + outputTokens - this.#held;
    if (more > 0) {
      this.#held += more;
      this.member.tokensInFlight += more;
    }
  }

  /** The request has ended. */
  leave(): void {
    this.#read();
    this.member.leave(this.#held, this.#trial);
  }

  #read(): void {
    this.member.unreadTokens -= this.#unread;
    this.#unread = 0;
  }
}
