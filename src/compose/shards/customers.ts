import { readIdShard, readKeyShard } from "../../../lib/ids/shard.ts";
import { mergeLists } from "../../../lib/rpc/pages.ts";
import { type AccountList, Accounts, byListKey } from "../../accounts/accounts.ts";
import { ApiKeys, type KeyList } from "../../accounts/keys/api-keys.ts";
import { KeyFilter } from "../../accounts/keys/key-filter.ts";
import type { Claims } from "./claims.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** The accounts of one database, and their keys. */
export interface Customers {
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  /** Tells keys that do not exist. */
  readonly keyFilter: KeyFilter;
}

/** The accounts and keys of one database. */
export function createCustomers({ foundation, books }: Shard, shard: number): Customers {
  const { config, secrets, storage, clock, random, announce } = foundation;
  const [pepper] = secrets.peppers;
  const keys = new ApiKeys({
    ...{ storage, clock, random, pepper, prefix: config.keys.prefix, announce, shard },
    added: (digest) => keyFilter.add(digest),
  });
  const keyFilter: KeyFilter = new KeyFilter(
    { after: (id) => keys.digestsAfter(id), ofAccounts: (accountIds) => keys.digestsOfAccounts(accountIds) },
    clock,
  );
  return { accounts: new Accounts(storage, announce, books.balances), keys, keyFilter };
}

/** The accounts of all databases. */
export function routeAccounts(customers: Shards<Customers>, claims: Claims): AccountList {
  const of = (id: string) => customers.of(id).accounts;
  const all = () => customers.all().map(({ accounts }) => accounts);
  return {
    get: async (id) => of(id).get(id),
    find: async (id) => of(id).find(id),
    update: async (id, facts) => of(id).update(id, facts),
    freeze: async (id, reason, now) => of(id).freeze(id, reason, now),
    unfreeze: async (id) => of(id).unfreeze(id),
    list: async (start, ids = []) => {
      const lists = [...groupIds(customers, ids)];
      const reads = lists.map(
        ([accounts, own]) =>
          (page: typeof start) =>
            accounts.list(page, own),
      );
      return [...(await mergeLists(reads, (one, other) => (one.id < other.id ? -1 : 1))(start))];
    },
    listByName: async (name, start) => {
      const reads = all().map((accounts) => (page: typeof start) => accounts.listByName(name, page));
      return [...(await mergeLists(reads, byListKey)(start))];
    },
    /** An account that the first database made before there were others has another id than was claimed since. */
    async madeBy(requestId) {
      const id = await claims.find("account", requestId);
      const made = id === undefined ? undefined : await of(id).find(id);
      return made ?? customers.first.accounts.madeBy(requestId);
    },
  };
}

/** The accounts that ids are looked for among, with those ids; of all when there are none. */
function groupIds(customers: Shards<Customers>, ids: readonly string[]): ReadonlyMap<Accounts, readonly string[]> {
  return ids.length === 0
    ? new Map(customers.all().map(({ accounts }) => [accounts, []]))
    : Map.groupBy(ids, (id) => customers.of(id).accounts);
}

/** The keys of all databases. A key's id tells its database, as its text does. */
export function routeKeys(customers: Shards<Customers>): KeyList {
  const of = (id: string) => customers.of(id).keys;
  return {
    get: async (id) => of(id).get(id),
    list: async (accountId, start) => of(accountId).list(accountId, start),
    create: async (accountId, ...more) => of(accountId).create(accountId, ...more),
    rotate: async (id, ...more) => of(id).rotate(id, ...more),
    revoke: async (id) => of(id).revoke(id),
    update: async (id, facts) => of(id).update(id, facts),
    /** Those of a database that is away are left out: they only inform. */
    async storeLastUsed(ids, at) {
      const writes = [...Map.groupBy(ids, readIdShard)].map(async ([number, own]) =>
        customers.at(number).keys.storeLastUsed(own, at),
      );
      const failed = (await Promise.allSettled(writes)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") {
        throw failed.reason;
      }
    },
  };
}

/** How a key is found by what its text says of its database. */
export function findByText(customers: Shards<Customers>) {
  const of = (secret: string) => (customers.areSeveral ? customers.at(readKeyShard(secret)) : customers.first);
  return {
    mayExist: (digests: readonly Buffer[], secret: string) => of(secret).keyFilter.mayExist(digests),
    findKey: async (digests: readonly [Buffer, ...Buffer[]], secret: string) => of(secret).keys.find(digests),
  };
}

/**
 * Ids of new accounts, each of a database that is there, picked at random. The same request is given the same id, whichever
 * core it asks and however often.
 */
export function createPlacement(shards: Shards<Shard>, claims: Claims): (requestId: string) => Promise<string> {
  const { random } = shards.first.foundation;
  return async (requestId) => {
    const present = shards.present();
    const shard = present[Math.floor(random.fraction() * present.length)] ?? shards.first;
    const id = shard.foundation.random.uuid();
    return requestId === "" || !shards.areSeveral ? id : claims.take("account", requestId, id);
  };
}
