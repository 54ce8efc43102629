import type { Logger } from "#lib/logger.ts";
import type { Lookup } from "#lib/net/lookup.ts";
import type { Clock } from "#lib/time/clock.ts";

interface Dependencies {
  readonly lookup: Lookup;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds between two lookups of a host. */
  readonly intervalMs: number;
  /** Called when a host's addresses have changed. */
  readonly onChange: () => void;
}

/** The addresses of hosts, looked up repeatedly. A failed lookup changes nothing. */
export class Addresses {
  readonly #parts: Dependencies;
  readonly #watched = new Map<string, HostWatch>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** A host's addresses in ascending order. Empty before the first successful lookup. */
  of(host: string): readonly string[] {
    return this.#watched.get(host)?.addresses ?? [];
  }

  /** Looks up these hosts from now on, and no others. */
  watch(hosts: ReadonlySet<string>): void {
    for (const [host, watch] of this.#watched) {
      if (hosts.has(host)) {
        continue;
      }
      watch.close();
      this.#watched.delete(host);
    }
    for (const host of hosts) {
      if (!this.#watched.has(host)) {
        this.#watched.set(host, new HostWatch(host, this.#parts));
      }
    }
  }

  close(): void {
    this.watch(new Set());
  }
}

class HostWatch {
  addresses: readonly string[] = [];
  readonly #host: string;
  readonly #parts: Dependencies;
  #failing = false;
  #closed = false;
  #cancelTimer: () => void = () => {};

  constructor(host: string, parts: Dependencies) {
    this.#host = host;
    this.#parts = parts;
    void this.#round();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  async #round(): Promise<void> {
    const { lookup, clock, intervalMs } = this.#parts;
    try {
      const found = await lookup(this.#host);
      if (found.length === 0) {
        throw new Error("it has no address");
      }
      if (!this.#closed) {
        this.#found([...new Set(found)].sort());
      }
    } catch (error) {
      if (!this.#closed) {
        this.#failed(error);
      }
    }
    if (!this.#closed) {
      this.#cancelTimer = clock.after(intervalMs, () => void this.#round());
    }
  }

  #found(addresses: readonly string[]): void {
    this.#failing = false;
    if (addresses.join() === this.addresses.join()) {
      return;
    }
    this.addresses = addresses;
    this.#parts.logger.info({ host: this.#host, addresses }, "servers have other addresses");
    this.#parts.onChange();
  }

  /** Logs the first of consecutive failures. */
  #failed(error: unknown): void {
    if (this.#failing) {
      return;
    }
    this.#failing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#parts.logger.warn({ host: this.#host, error: reason }, "could not look up servers, the last ones stay");
  }
}
