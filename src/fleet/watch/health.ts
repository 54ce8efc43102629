import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { describe, isUnreachable } from "../health/failures.ts";
import type { Member } from "../servers/member.ts";

/**
 * Consecutive failed checks that make a server unhealthy. One good check makes it healthy again. For a server that
 * never passed a check, one failed check is enough.
 */
const threshold = 2;

/** Failed requests bring the next check forward, at most once in this many milliseconds. */
const shortestPauseMs = 1000;

/** Milliseconds after which a check has failed. */
const longestCheckMs = 5000;

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly intervalMs: number;
  /** Milliseconds that the trial may take. */
  readonly trialTimeoutMs: number;
  /** Tries out whether an unhealthy server works again. */
  readonly tryOut: (signal: AbortSignal) => Promise<void>;
  /** Called when the server is healthy again. */
  readonly onHealthy: () => void;
  /** Called on each check that the server passes, after everything else. */
  readonly onPassed: () => void;
  /** Called when the server becomes unhealthy, with a reason for people. */
  readonly onUnhealthy: (reason: string) => void;
}

/**
 * Checks repeatedly whether a server can take work, and reads its load.
 *
 * HEALTHY ── two failed checks in a row ──▶ UNHEALTHY ── a good check, and a trial that works ──▶ HEALTHY
 *
 * A server starts healthy, but its first check decides alone, as does the one after a failed request. A refused
 * connection decides without a check.
 */
export class HealthChecker {
  readonly #member: Member;
  readonly #parts: Dependencies;
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => {};
  #failures = threshold - 1;
  #checking = false;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** Starts to check at once. */
  constructor(member: Member, parts: Dependencies) {
    this.#member = member;
    this.#parts = parts;
    void this.#round();
  }

  close(): void {
    this.#stopping.abort();
    this.#cancelTimer();
  }

  /**
   * A request failed on the server: checks it now instead of at the next interval. One more failed check is then
   * enough. A server that refuses connections becomes unhealthy at once.
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
    if (this.#checking || this.#parts.clock.monotonic() - this.#checkedAt < shortestPauseMs) {
      return;
    }
    this.#cancelTimer();
    void this.#round();
  }

  async #round(): Promise<void> {
    const { clock, intervalMs } = this.#parts;
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
    const { intervalMs, trialTimeoutMs, tryOut } = this.#parts;
    const checkMs = Math.min(intervalMs, longestCheckMs);
    await this.#within(checkMs, (signal) => engine.checkHealth(signal));
    if (!this.#member.healthy) {
      await this.#within(trialTimeoutMs, tryOut);
    }
    this.#passed();
    this.#member.load = await this.#within(checkMs, (signal) => engine.readLoad(signal));
  }

  /** Runs an action with a time limit. The action is aborted when the limit passes or the checks stop. */
  async #within<T>(ms: number, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController();
    const cancel = this.#parts.clock.after(ms, () => timeout.abort(new Error("the health check timed out")));
    try {
      return await action(AbortSignal.any([timeout.signal, this.#stopping.signal]));
    } finally {
      cancel();
    }
  }

  #passed(): void {
    const { logger, onHealthy, onPassed } = this.#parts;
    this.#failures = 0;
    if (!this.#member.healthy) {
      this.#member.healthy = true;
      logger.info({ server: this.#member.id }, "server is healthy");
      onHealthy();
    }
    onPassed();
  }

  #failed(error: unknown): void {
    this.#member.lastError = describe(error);
    this.#failures++;
    if (this.#failures !== threshold) {
      return;
    }
    this.#member.healthy = false;
    this.#parts.logger.warn({ server: this.#member.id, error: this.#member.lastError }, "server is unhealthy");
    this.#parts.onUnhealthy(this.#member.lastError);
  }
}
