import type { Logger } from "#lib/logger.ts";
import { compileAll } from "#lib/overload/compilers.ts";
import { letYoungSpaceGrow } from "#lib/overload/young-space.ts";
import { endAll } from "#lib/time/end-all.ts";
import { defaultConfig } from "#src/config/load.ts";
import type { Config } from "#src/config/schema.ts";
import type { Readiness } from "#src/telemetry/admin-server.ts";

/** Ends a part. Work that still runs after the grace, in milliseconds, is cut off. */
export type Stop = (graceMs: number) => Promise<void>;

interface Part {
  readonly name: string;
  readonly stop: Stop;
}

/**
 * How long the parts may take to end after the grace, in milliseconds. Charges that are not stored by then are in the
 * journal.
 */
const settleMs = 8_000;
/**
 * A signal repeated within this time, in milliseconds, is the same one: Ctrl-C under npm comes from the terminal and
 * from npm.
 */
const sameWishMs = 1000;

/** The parts of a process: started one by one, stopped in reverse order. */
export class Lifecycle {
  readonly readiness: Readiness = { ready: false };
  readonly #parts: Part[] = [];
  readonly #logger: Logger;
  readonly #graceMs: number;
  readonly #settleMs: number;
  #onHangup: (() => void) | undefined;
  #stopping: Promise<void> | undefined;
  #stoppingPart: string | undefined;
  #askedAt: number | undefined;

  /** The grace is how long running requests may continue after SIGTERM. */
  constructor(logger: Logger, { grace_s }: Config["shutdown"] = defaultConfig().shutdown, settle = settleMs) {
    this.#logger = logger;
    this.#settleMs = settle;
    this.#graceMs = grace_s * 1000;
  }

  /** Registers how to end a part that has been started, and its name in the log. */
  onStop(name: string, stop: Stop): void {
    this.#parts.push({ name, stop });
  }

  /**
   * Sets the action of SIGHUP; there is none at first. In a terminal, SIGHUP says that the terminal is gone, and ends
   * the process.
   */
  onHangup(act: () => void): void {
    this.#onHangup = act;
  }

  /** Announces that the process is ready, and ends it in order on SIGTERM and SIGINT. */
  ready(addresses: Record<string, string>): void {
    this.readiness.ready = true;
    letYoungSpaceGrow();
    compileAll();
    const nothing = () => this.#logger.warn({}, "nothing to reload: only models in a configuration file can be");
    if (this.#onHangup !== undefined || !process.stdin.isTTY) {
      process.on("SIGHUP", this.#onHangup ?? nothing);
    }
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => void this.#exit(signal));
    }
    this.#logger.info({ ...addresses, pid: process.pid }, "tollgate ready");
  }

  /**
   * Ends every part, newest first, within one common grace, also where others fail: then rejects with the first failure. A
   * second call waits for the same end.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.readiness.ready = false;
    const deadline = performance.now() + this.#graceMs;
    const end = async ({ name, stop }: Part) => {
      this.#stoppingPart = name;
      try {
        await stop(Math.max(0, deadline - performance.now()));
      } catch (error) {
        this.#logger.error({ err: error, part: name }, "could not stop in order");
        throw error;
      }
    };
    await endAll(this.#parts.toReversed().map((part) => () => end(part)));
  }

  async #exit(signal: string): Promise<void> {
    if (this.#askedAt !== undefined) {
      if (performance.now() - this.#askedAt > sameWishMs) {
        process.exit(1); // a second signal means that its sender does not want to wait
      }
      return;
    }
    this.#askedAt = performance.now();
    this.#logger.info({ signal }, "draining");
    setTimeout(() => {
      this.#logger.error({ part: this.#stoppingPart }, "could not stop in time: the next start recovers what is left");
      process.exit(1);
    }, this.#graceMs + this.#settleMs).unref();
    try {
      await this.stop();
      this.#logger.info({}, "stopped");
      process.exit(0);
    } catch {
      process.exit(1); // the log says why
    }
  }
}
