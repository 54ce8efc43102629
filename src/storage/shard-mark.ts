import { Account } from "./entities/account.ts";
import { Setting } from "./entities/setting.ts";
import type { Storage } from "./orm.ts";
import { inTransaction } from "./transaction.ts";

/** In the first database: the service and how many databases it has. */
const ofService = "shards";
/** In each other one: the service and its number there. */
const ofShard = "shard";

/**
 * Holds the first database against the number of databases that are configured, and notes it when there are several.
 * Returns what names the service. Throws, in words, for a database of another service's accounts, and when there are fewer than
 * there were: the accounts of those that are missing could not be found.
 */
export function claimFirst(storage: Storage, count: number, serviceId: () => string): Promise<string> {
  return inTransaction(storage, async (em) => {
    const shard = await em.findOne(Setting, ofShard);
    if (shard !== null) {
      const { number } = JSON.parse(shard.value) as { number: number };
      throw new Error(
        `storage.url: this database is number ${number} of a service with several: name it in storage.shards there`,
      );
    }
    const known = await em.findOne(Setting, ofService);
    const before = known === null ? undefined : (JSON.parse(known.value) as { service: string; count: number });
    if (before !== undefined && before.count > count) {
      throw new Error(
        `storage.shards: this service has ${before.count} databases, and ${count} are configured: name all of them, in the order that they had`,
      );
    }
    const service = before?.service ?? serviceId();
    if (count > (before?.count ?? 1)) {
      await em.upsert(Setting, { name: ofService, value: JSON.stringify({ service, count }) });
    }
    return service;
  });
}

/** Makes a database one of a service, or sees that it is the one of that number. Throws, in words, for any other. */
export function claimShard(storage: Storage, service: string, number: number): Promise<void> {
  return inTransaction(storage, async (em) => {
    if ((await em.findOne(Setting, ofService)) !== null) {
      throw new Error("it is the first database of a service, which belongs in storage.url");
    }
    const known = await em.findOne(Setting, ofShard);
    if (known === null) {
      if ((await em.count(Account)) > 0) {
        throw new Error("it has accounts of a service with one database: begin with an empty one");
      }
      await em.insert(Setting, { name: ofShard, value: JSON.stringify({ service, number }) });
      return;
    }
    const before = JSON.parse(known.value) as { service: string; number: number };
    if (before.service !== service) {
      throw new Error("it is one of another service's");
    }
    if (before.number !== number) {
      throw new Error(`it is number ${before.number}: keep the order that storage.shards had, and add behind it`);
    }
  });
}
