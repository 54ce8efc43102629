import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { describe } from "./failures.ts";
import type { Member } from "./member.ts";

/** Failed checks in a row that make a server unhealthy; a single good one makes it healthy again. */
const threshold = 2;

/** A check that takes longer has failed. */
const longestCheckMs = 5000;

/** Asks a server over and over whether it can take work, and how busy it is. */
export class HealthChecker {
  readonly #member: Member;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  readonly #onHealthy: () => void;
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => {};
  #failures = 0;

  /** `onHealthy` is told when the server is back. Starts checking at once. */
  constructor(
    member: Member,
    settings: {
      readonly clock: Clock;
      readonly logger: Logger;
      readonly intervalMs: number;
      readonly onHealthy: () => void;
    },
  ) {
    this.#member = member;
    this.#clock = settings.clock;
    this.#logger = settings.logger;
    this.#intervalMs = settings.intervalMs;
    this.#onHealthy = settings.onHealthy;
    void this.#check();
  }

  /** Stops checking. */
  close(): void {
    this.#stopping.abort();
    this.#cancelTimer();
  }

  async #check(): Promise<void> {
    const timeout = new AbortController();
    const timeoutMs = Math.min(this.#intervalMs, longestCheckMs);
    const cancelTimeout = this.#clock.after(timeoutMs, () => timeout.abort(new Error("the health check timed out")));
    const signal = AbortSignal.any([timeout.signal, this.#stopping.signal]);
    try {
      await this.#member.engine.checkHealth(signal);
      this.#passed();
      this.#member.load = await this.#member.engine.readLoad(signal);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#failed(error);
    } finally {
      cancelTimeout();
    }
    if (!this.#stopping.signal.aborted) this.#cancelTimer = this.#clock.after(this.#intervalMs, () => this.#check());
  }

  #passed(): void {
    this.#failures = 0;
    if (this.#member.healthy) return;
    this.#member.healthy = true;
    this.#logger.info({ server: this.#member.id }, "server is healthy again");
    this.#onHealthy();
  }

  #failed(error: unknown): void {
    this.#member.lastError = describe(error);
    this.#failures++;
    if (this.#failures < threshold || !this.#member.healthy) return;
    this.#member.healthy = false;
    this.#logger.warn({ server: this.#member.id, error: this.#member.lastError }, "server is unhealthy");
  }
}
