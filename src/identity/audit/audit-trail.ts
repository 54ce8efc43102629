import type { JsonObject } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { AuditEvent } from "#src/storage/entities/operators/audit-event.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";

/** The most characters of `before` or `after`. A longer text is left out, because a message may have megabytes. */
const longestText = 65_536;

/** A change to record: who made it, its method and target. */
export interface NewAuditEvent
  extends Pick<AuditEvent, "operator" | "operatorId" | "keyId" | "method" | "target" | "address">,
    Partial<Pick<AuditEvent, "personId" | "accountId">> {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
}

/** Selects changes of the log. */
interface AuditFilter {
  /** Only changes at or after this time. Undefined: from the first one. */
  readonly from?: Date | undefined;
  /** Only changes before this time. Undefined: until now. */
  readonly to?: Date | undefined;
  /** Only changes that the owners of this account see. Undefined: all. */
  readonly accountId?: string | undefined;
  /** Only changes of this thing. Undefined: all. */
  readonly target?: string | undefined;
  /** Only changes by this one, by name. Undefined: all. */
  readonly operator?: string | undefined;
}

/** The append-only record of changes by operators, members and management keys. */
export class AuditTrail {
  readonly #storage: Storage;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;

  constructor(parts: { storage: Storage; clock: Pick<Clock, "now">; random: Random }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#random = parts.random;
  }

  /** Writes a change in its own transaction. */
  add(event: NewAuditEvent): Promise<void> {
    return inTransaction(this.#storage, (em) => this.addWithin(em, event));
  }

  /** Writes a change in the transaction that makes it. */
  async addWithin(em: SqlEntityManager, { before, after, ...event }: NewAuditEvent): Promise<void> {
    await em.insert(AuditEvent, {
      id: this.#random.uuid(),
      at: new Date(this.#clock.now()),
      personId: null,
      accountId: null,
      ...event,
      operator: cut(event.operator),
      target: cut(event.target),
      address: cut(event.address),
      before: before === undefined ? null : toText(before),
      after: toText(after),
    });
  }

  /** Changes after the one of a key, newest first, read by an index in their order: a filter that nothing matches reads nothing. */
  list({ from, to, ...named }: AuditFilter, { after, limit }: PageStart): Promise<AuditEvent[]> {
    const behind = after === undefined ? undefined : readAuditKey(after);
    const bounds = [
      ...(from === undefined ? [] : [{ at: { $gte: from } }]),
      ...(to === undefined ? [] : [{ at: { $lt: to } }]),
      ...Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [{ [name]: cut(value) }])),
      ...(behind === undefined
        ? []
        : [{ $or: [{ at: { $lt: behind.at } }, { at: behind.at, id: { $lt: behind.id } }] }]),
    ];
    const order = { at: "desc", id: "desc" } as const;
    const index = this.#storage.dialect === "sqlite" ? toIndex(named) : undefined;
    const options = { orderBy: order, limit, ...(index !== undefined && { indexHint: `indexed by ${index}` }) };
    return this.#storage.orm.em.fork().find(AuditEvent, { $and: bounds }, options);
  }
}

/** SQLite keeps no counts by which it could choose among several: things have the fewest changes each, then those who make them. */
function toIndex({ target, operator, accountId }: AuditFilter): string | undefined {
  const columns = { target, operator, account_id: accountId };
  const first = Object.entries(columns).find(([, value]) => value !== undefined);
  return first && `audit_event_${first[0]}_at_id_index`;
}

/** A change's key in the list. */
export function toAuditKey({ at, id }: Pick<AuditEvent, "at" | "id">): string {
  return `${at.getTime()}_${id}`;
}

/** Undefined: the text is no key. */
export function readAuditKey(key: string): Pick<AuditEvent, "at" | "id"> | undefined {
  const [, ms, id] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(key) ?? [];
  return ms === undefined || id === undefined ? undefined : { at: new Date(Number(ms)), id };
}

function toText(json: JsonObject): string {
  const text = JSON.stringify(json);
  return text.length > longestText ? JSON.stringify({ left_out: `${text.length} characters` }) : text;
}

/** A column of PostgreSQL holds 255 characters. */
function cut(text: string): string {
  return text.length > 255 ? `${text.slice(0, 254)}…` : text;
}
