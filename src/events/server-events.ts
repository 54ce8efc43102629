import type { Random } from "../../lib/ids/random.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Storage } from "../storage/orm.ts";
import { inTransaction } from "../storage/transaction.ts";
import type { Announce } from "./announcer.ts";
import { WorkLease } from "./work-lease.ts";

/** Dependencies. */
export interface ServerEventsParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly announce: Announce;
}

/** A change of a server's health, as one core sees it. */
interface Change {
  readonly server: string;
  readonly model: string;
  readonly isUp: boolean;
  readonly reason: string;
}

/**
 * Announces servers that go down and come back. Every core sees a change itself, within a few health intervals of the
 * others. The first core to see it announces it; the others do not within the next 15 seconds.
 */
export function createServerEvents(parts: ServerEventsParts): (change: Change) => void {
  const leases = new Map<string, WorkLease>();
  const tell = async ({ server, model, isUp, reason }: Change) => {
    const type = isUp ? "server.up" : "server.down";
    const name = `${type} ${server}`.slice(0, 255);
    const lease = leases.get(name) ?? new WorkLease({ ...parts, name });
    leases.set(name, lease);
    if (await lease.hold()) {
      const data = { server, model, ...(reason === "" ? {} : { reason }) };
      await inTransaction(parts.storage, (em) => parts.announce(em, { type, data }));
    }
  };
  return (change) => {
    tell(change).catch((error: unknown) => parts.logger.error({ error }, "could not tell of a server's health"));
  };
}
