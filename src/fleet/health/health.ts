import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Member } from "../servers/member.ts";
import { describe, isUnreachable } from "./failures.ts";

/**
 * Failed checks in a row that make a server unhealthy; a single good one makes it healthy again. One that
 * never passed a check has no credit: a single failed one is enough.
 */
const threshold = 2;

/** Failed requests bring the next check forward, at most once in this time in milliseconds. */
const shortestPauseMs = 1000;

/** A check that takes longer has failed. */
const longestCheckMs = 5000;

/** How a server is checked. */
export interface HealthSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly intervalMs: number;
  /** How long the trial may take. */
  readonly trialTimeoutMs: number;
  /** Tries out whether an unhealthy server is fit for work again. */
  readonly tryOut: (signal: AbortSignal) => Promise<void>;
  /** Is told when the server is back. */
  readonly onHealthy: () => void;
  /** Is told when the server fails, with the reason for people. */
  readonly onUnhealthy: (reason: string) => void;
}

/** Asks a server over and over whether it can take work, and how busy it is. */
export class HealthChecker {
  readonly #member: Member;
  readonly #settings: HealthSettings;
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => {};
  #failures = threshold - 1;
  #checking = false;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** Starts checking at once. */
  constructor(member: Member, settings: HealthSettings) {
    this.#member = member;
    this.#settings = settings;
    void this.#round();
  }

  /** Stops checking. */
  close(): void {
    this.#stopping.abort();
    this.#cancelTimer();
  }

  /**
   * A request failed on the server, so it is checked now rather than at the next interval, and the next failed
   * check is enough. A server that refuses connections is unhealthy at once.
   */
  suspect(error: unknown): void {
    if (this.#stopping.signal.aborted) {
      return;
    }
    this.#failures = Math.max(this.#failures, threshold - 1);
    if (isUnreachable(error) && this.#member.healthy) {
      this.#failures = threshold - 1;
      this.#failed(error);
    }
    if (this.#checking || this.#settings.clock.monotonic() - this.#checkedAt < shortestPauseMs) {
      return;
    }
    this.#cancelTimer();
    void this.#round();
  }

  async #round(): Promise<void> {
    const { clock, intervalMs } = this.#settings;
    this.#checking = true;
    try {
      await this.#check();
    } catch (error) {
      if (!this.#stopping.signal.aborted) {
        this.#failed(error);
      }
    }
    this.#checking = false;
    this.#checkedAt = clock.monotonic();
    if (!this.#stopping.signal.aborted) {
      this.#cancelTimer = clock.after(intervalMs, () => void this.#round());
    }
  }

  async #check(): Promise<void> {
    const { engine } = this.#member;
    const { intervalMs, trialTimeoutMs, tryOut } = this.#settings;
    const checkMs = Math.min(intervalMs, longestCheckMs);
    await this.#within(checkMs, (signal) => engine.checkHealth(signal));
    if (!this.#member.healthy) {
      await this.#within(trialTimeoutMs, tryOut);
    }
    this.#passed();
    this.#member.load = await this.#within(checkMs, (signal) => engine.readLoad(signal));
  }

  /** Does something that is given up after a while, or when the checks stop. */
  async #within<T>(ms: number, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController();
    const cancel = this.#settings.clock.after(ms, () => timeout.abort(new Error("the health check timed out")));
    try {
      return await action(AbortSignal.any([timeout.signal, this.#stopping.signal]));
    } finally {
      cancel();
    }
  }

  #passed(): void {
    this.#failures = 0;
    if (this.#member.healthy) {
      return;
    }
    this.#member.healthy = true;
    this.#settings.logger.info({ server: this.#member.id }, "server is healthy");
    this.#settings.onHealthy();
  }

  #failed(error: unknown): void {
    this.#member.lastError = describe(error);
    this.#failures++;
    if (this.#failures !== threshold) {
      return;
    }
    this.#member.healthy = false;
    this.#settings.logger.warn({ server: this.#member.id, error: this.#member.lastError }, "server is unhealthy");
    this.#settings.onUnhealthy(this.#member.lastError);
  }
}
