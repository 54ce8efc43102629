import type { Logger } from "pino";
import type { Readiness } from "../telemetry/admin-server.ts";

/** Something that was started and has to be stopped, in the reverse order of starting. */
export interface Part {
  /** Takes no new work and finishes what runs, until the signal's deadline cuts it off. */
  drain?(deadline: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How long running streams may go on after SIGTERM. */
const drainMs = 30_000;

/** The parts of a process, stopped together. */
export class Lifecycle {
  readonly readiness: Readiness = { ready: false };
  readonly #parts: Part[] = [];
  readonly #logger: Logger;
  #stopping: Promise<void> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds a part that has been started. */
  add<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** Says that the process is ready, and stops it in order on SIGTERM and SIGINT. */
  ready(addresses: Record<string, string>): void {
    this.readiness.ready = true;
    this.#logger.info(addresses, "tollgate ready");
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void this.#exit(signal));
  }

  /** Drains and closes every part, newest first. Calling it again waits for the same end. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.readiness.ready = false;
    const newestFirst = this.#parts.toReversed();
    const deadline = AbortSignal.timeout(drainMs);
    await Promise.all(newestFirst.map((part) => part.drain?.(deadline)));
    for (const part of newestFirst) await part.close();
  }

  async #exit(signal: string): Promise<void> {
    this.#logger.info({ signal }, "draining");
    process.once(signal, () => process.exit(1)); // whoever asks twice does not want to wait
    try {
      await this.stop();
      this.#logger.info({}, "stopped");
      process.exit(0);
    } catch (error) {
      this.#logger.error({ err: error }, "could not stop in order");
      process.exit(1);
    }
  }
}
