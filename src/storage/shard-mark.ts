import type { SqlEntityManager } from "@mikro-orm/sql";
import { Account } from "./entities/account.ts";
import { Setting } from "./entities/setting.ts";
import type { Storage } from "./orm.ts";
import { inTransaction } from "./transaction.ts";

/** Name of the mark in the first database: the service, its number of databases, and which others have existed. */
const ofService = "shards";
/** Name of the mark in each other database: the service, and the database's number. */
const ofShard = "shard";

interface ServiceMark {
  readonly service: string;
  readonly count: number;
  /** Numbers of the databases that have a mark. Absent: none is known. */
  readonly made?: readonly number[];
}

/** Thrown for a database that cannot be judged before the first one is there. */
export class FirstIsAway extends Error {}

/**
 * Compares the first database with the number of configured databases, and notes that number when there are several.
 * `known`: the service's id, according to the other databases. Undefined: the service is new unless this database says
 * otherwise. Returns the service's id. Throws, in words, for a database with another service's accounts, and when fewer
 * databases are configured than there were: accounts in the missing ones could not be found.
 */
export function claimFirst(
  storage: Storage,
  count: number,
  newService: () => string,
  known?: string | undefined,
): Promise<string> {
  return inTransaction(storage, async (em) => {
    const shard = await em.findOne(Setting, ofShard);
    if (shard !== null) {
      const { number } = JSON.parse(shard.value) as { number: number };
      throw new Error(
        `storage.url: this database is number ${number} of a service with several: name it in storage.shards there`,
      );
    }
    if (count > 1) {
      await em.execute("select 1 from setting where name = ? for update", [ofService]);
    }
    const before = readMark(await em.findOne(Setting, ofService));
    if (known !== undefined && before?.service !== known) {
      throw new Error("storage.url: this database is not the first one of the service that storage.shards are of");
    }
    if (before !== undefined && before.count > count) {
      throw new Error(
        `storage.shards: this service has ${before.count} databases, and ${count} are configured: name all of them, in the order that they had`,
      );
    }
    const service = before?.service ?? newService();
    if (count > (before?.count ?? 1)) {
      await em.upsert(Setting, { name: ofService, value: JSON.stringify({ ...before, service, count }) });
    }
    return service;
  });
}

function readMark(setting: Setting | null): ServiceMark | undefined {
  return setting === null ? undefined : (JSON.parse(setting.value) as ServiceMark);
}

/** The service's number of databases, according to the first one. */
export async function readCount(first: Storage): Promise<number> {
  return readMark(await first.orm.em.fork().findOne(Setting, ofService))?.count ?? 1;
}

/** Whether a database with this number has existed, according to the first one. Throws when the first one is away. */
export async function wasMade(first: Storage, number: number): Promise<boolean> {
  const mark = readMark(await first.orm.em.fork().findOne(Setting, ofService));
  return mark?.made?.includes(number) ?? false;
}

/**
 * Has the first database remember that a database with this number exists: an empty one in its place is then refused.
 */
export function noteMade(first: Storage, number: number): Promise<void> {
  return inTransaction(first, async (em) => {
    await em.execute("select 1 from setting where name = ? for update", [ofService]);
    const mark = readMark(await em.findOne(Setting, ofService));
    if (mark !== undefined && !mark.made?.includes(number)) {
      const made = [...(mark.made ?? []), number].sort((one, other) => one - other);
      await em.nativeUpdate(Setting, { name: ofService }, { value: JSON.stringify({ ...mark, made }) });
    }
  });
}

/**
 * Makes a database one of a service, or checks that it is the one with this number. `service` undefined: the first
 * database is away, and no other has named the service yet. `wasThere`: whether a database with this number has
 * existed. Returns the service's id. Throws, in words, for any other database, and FirstIsAway when only the first one
 * could tell whose it is.
 */
export function claimShard(
  storage: Storage,
  service: string | undefined,
  number: number,
  wasThere: () => Promise<boolean>,
): Promise<string> {
  return inTransaction(storage, async (em) => {
    if ((await em.findOne(Setting, ofService)) !== null) {
      throw new Error("it is the first database of a service, which belongs in storage.url");
    }
    let mark = await em.findOne(Setting, ofShard);
    if (mark === null) {
      await judgeNew(em, service, number, wasThere);
      // Two addresses may name one database, which is then given to one of them.
      const value = JSON.stringify({ service, number });
      await em.upsert(Setting, { name: ofShard, value }, { onConflictAction: "ignore" });
      mark = await em.findOneOrFail(Setting, ofShard, { refresh: true });
    }
    const before = JSON.parse(mark.value) as { service: string; number: number };
    if (service !== undefined && before.service !== service) {
      throw new Error("it is one of another service's");
    }
    if (before.number !== number) {
      throw new Error(`it is number ${before.number}: keep the order that storage.shards had, and add behind it`);
    }
    return before.service;
  });
}

/** Throws, in words, for a database without a mark that must not get one. */
async function judgeNew(
  em: SqlEntityManager,
  service: string | undefined,
  number: number,
  wasThere: () => Promise<boolean>,
): Promise<void> {
  if ((await em.count(Account)) > 0) {
    throw new Error("it has accounts of a service with one database: begin with an empty one");
  }
  if (service === undefined) {
    throw new FirstIsAway("it is new: it is taken once the first database is there");
  }
  if (await wasThere()) {
    throw new Error(`it is empty, and number ${number} of this service had accounts: restore it from its backup`);
  }
}
