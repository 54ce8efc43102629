import type { JsonObject } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Event } from "../entities/event.ts";
import type { EventType } from "./types.ts";

/** An event to announce. */
export interface NewEvent {
  readonly type: EventType;
  /** Undefined: it concerns no account. */
  readonly accountId?: string;
  /** Ids, and amounts as exact decimal USD. */
  readonly data: JsonObject;
}

/**
 * Announces an event to its subscribers by a row in the same transaction that makes it happen: nothing undone is
 * announced, and everything done is. The transaction may run more than once.
 */
export type Announce = (em: SqlEntityManager, event: NewEvent) => Promise<void>;

/** Writes events for the core that delivers them. */
export function createAnnounce({ clock, random }: { clock: Pick<Clock, "now">; random: Random }): Announce {
  return async (em, { type, accountId, data }) => {
    const at = new Date(clock.now());
    const all = accountId === undefined ? data : { account_id: accountId, ...data };
    const body = JSON.stringify({ type, timestamp: at.toISOString(), data: all });
    await em.insert(Event, { id: random.uuid(), type, accountId: accountId ?? null, body, at, spread: false });
  };
}
