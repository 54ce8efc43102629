import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { endingWork, type WorkLease } from "#src/storage/work-lease.ts";
import { hasExpired } from "./key-rules.ts";

const lookMs = 60_000;
/** Soon after the start: what became due while no core ran is told at once. */
const firstLookMs = 1000;
const keysAPage = 100;

interface Dependencies {
  readonly storage: Storage;
  readonly announce: Announce;
  /** Lets one core look for all. */
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Announces keys that are about to expire, once for each end that they are given. */
export class ExpiringKeys {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts looking. Returns the function that ends it. */
  start(): () => Promise<void> {
    const { clock, logger, lease } = this.#parts;
    const stop = repeat(clock, lookMs, logger, "look for keys that expire", () => this.look(), firstLookMs);
    return endingWork(lease, [stop]);
  }

  /** Announces the keys that are due. */
  async look(): Promise<void> {
    const { storage, lease, clock } = this.#parts;
    for (let found = keysAPage; found === keysAPage && (await lease.hold()); ) {
      const where = { warnAt: { $lte: new Date(clock.now()) } };
      const due = await storage.orm.em.fork().find(ApiKey, where, { orderBy: { warnAt: "asc" }, limit: keysAPage });
      for (const key of due) {
        await this.#tell(key);
      }
      found = due.length;
    }
  }

  /** Whoever finds the key still due has it told: another core, or a change of its end, may have come before. */
  async #tell(key: ApiKey): Promise<void> {
    const { storage, announce, clock } = this.#parts;
    const { id, accountId, name, prefix, last4, limits, warnAt } = key;
    const isOver = Boolean(key.revokedAt) || hasExpired(key, new Date(clock.now()));
    await inTransaction(storage, async (em) => {
      const isDue = (await em.nativeUpdate(ApiKey, { id, warnAt }, { warnAt: null })) > 0;
      if (isDue && !isOver && limits.expiresAt) {
        const data = { key_id: id, name, prefix, last4, expires_at: limits.expiresAt.toISOString() };
        await announce(em, { type: "key.expires_soon", accountId, data });
      }
    });
  }
}
