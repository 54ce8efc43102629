import type { Member } from "#src/fleet/servers/member.ts";
import type { ManualClock } from "../../../support/clocks/manual-clock.ts";

/** What a GPU does: of an 8B model on one H100, as measured. */
export interface Card {
  /** Tokens of its KV cache. */
  readonly kvTokens: number;
  /** Prompt tokens read in a second. */
  readonly prefillRate: number;
  /** Milliseconds a token, and for each request beside it. */
  readonly stepMs: number;
  readonly perRunningMs: number;
}

export const h100: Card = { kvTokens: 397_000, prefillRate: 25_000, stepMs: 8, perRunningMs: 0.25 };

/** One request on a server. */
export interface Run {
  readonly promptTokens: number;
  readonly outputTokens: number;
  onFirstToken(): void;
  onEnd(): void;
}

/**
 * An inference server with continuous batching: requests begin first come, first served, as soon as the KV cache has room
 * for them; prompts are read one after the other, answers are written side by side.
 */
export class GpuServer {
  readonly member: Member;
  readonly #card: Card;
  readonly #clock: ManualClock;
  readonly #waiting: Run[] = [];
  #kvUsed = 0;
  #running = 0;
  #prefillFreeAt = 0;

  constructor(member: Member, card: Card, clock: ManualClock) {
    this.member = member;
    this.#card = card;
    this.#clock = clock;
  }

  start(run: Run): void {
    this.#waiting.push(run);
    this.#schedule();
  }

  #schedule(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#kvUsed > 0 && this.#kvUsed + next.promptTokens + next.outputTokens > this.#card.kvTokens) {
        return;
      }
      this.#waiting.shift();
      this.#begin(next);
    }
  }

  #begin(run: Run): void {
    const { prefillRate, stepMs, perRunningMs } = this.#card;
    const now = this.#clock.monotonic();
    const tokens = run.promptTokens + run.outputTokens;
    this.#kvUsed += tokens;
    this.#running++;
    this.#prefillFreeAt = Math.max(now, this.#prefillFreeAt) + (1000 * run.promptTokens) / prefillRate;
    this.#clock.after(this.#prefillFreeAt - now, () => {
      run.onFirstToken();
      this.#clock.after(run.outputTokens * (stepMs + perRunningMs * this.#running), () => {
        this.#kvUsed -= tokens;
        this.#running--;
        run.onEnd();
        this.#schedule();
      });
    });
  }
}
