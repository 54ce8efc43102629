import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { WorkLease } from "#src/storage/work-lease.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly announce: Announce;
}

/** Milliseconds for which a lease is remembered after its use: so far the clocks of cores may be apart. */
const keptMs = 3_600_000;

/** What one core finds of a server's health: a change, or that it is up after the core's start. */
interface Change {
  readonly server: string;
  readonly model: string;
  readonly isUp: boolean;
  readonly reason: string;
}

/**
 * Announces servers that go down and come back. Every core sees a change itself, some sooner than others, and again after it
 * starts: what the server's last event already says is not announced. Of cores that see a change within 15 seconds only the
 * first announces it.
 */
export function createServerEvents(parts: Dependencies): (change: Change) => void {
  /** By name, the one that was not used for the longest time first. */
  const leases = new Map<string, { readonly lease: WorkLease; readonly usedAt: number }>();
  const leaseOf = (name: string): WorkLease => {
    const now = parts.clock.monotonic();
    for (const [one, { usedAt }] of leases) {
      if (now - usedAt < keptMs) {
        break;
      }
      leases.delete(one);
    }
    const lease = leases.get(name)?.lease ?? new WorkLease({ ...parts, name });
    leases.delete(name);
    leases.set(name, { lease, usedAt: now });
    return lease;
  };
  const tell = async ({ server, model, isUp, reason }: Change) => {
    const type = isUp ? "server.up" : "server.down";
    if (!(await isNews(parts.storage.orm.em.fork(), server, isUp))) {
      return;
    }
    if (await leaseOf(`${type} ${server}`.slice(0, 255)).hold()) {
      const data = { server, model, ...(reason === "" ? {} : { reason }) };
      await inTransaction(parts.storage, async (em) => {
        if (await isNews(em, server, isUp)) {
          await parts.announce(em, { type, data });
        }
      });
    }
  };
  let before = Promise.resolve(); // one after the other: whether something is news hangs on what was told before
  return (change) => {
    before = before
      .then(() => tell(change))
      .catch((error: unknown) => parts.logger.error({ error }, "could not tell of a server's health"));
  };
}

/** Whether the last event of a server says otherwise; one that nothing was told of is up. */
async function isNews(em: SqlEntityManager, server: string, isUp: boolean): Promise<boolean> {
  const named = JSON.stringify({ server })
    .slice(1, -1)
    .replace(/[\\%_]/g, "\\$&");
  const [last] = await em.execute<{ type: string }[]>(
    `select type from event where type in ('server.down', 'server.up') and body like ? escape '\\'
     order by at desc, id desc limit 1`,
    [`%${named},%`],
  );
  return (last?.type === "server.down") === isUp;
}
