import type { Random } from "../../../lib/ids/random.ts";
import { readIdShard, readKeyShard } from "../../../lib/ids/shard.ts";
import { mergeLists } from "../../../lib/rpc/pages.ts";
import { type AccountList, Accounts, byListKey } from "../../accounts/accounts.ts";
import { ApiKeys, type KeyList } from "../../accounts/keys/api-keys.ts";
import { KeyFilter } from "../../accounts/keys/key-filter.ts";
import type { Account } from "../../storage/entities/account.ts";
import type { ApiKey } from "../../storage/entities/api-key.ts";
import type { Claims } from "./claims.ts";
import type { Moves } from "./moves/moves.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** The accounts of one database, and their keys. */
export interface Customers {
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  /** Recognizes keys that do not exist. */
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
export function routeAccounts(customers: Shards<Customers>, claims: Claims, moves: Moves): AccountList {
  const of = (id: string) => customers.of(id).accounts;
  const all = () => customers.all().map(({ accounts }) => accounts);
  const change = <T>(id: string, run: (accounts: Accounts) => Promise<T>) => moves.whereItIs(id, () => run(of(id)));
  return {
    get: (id) => change(id, (accounts) => accounts.get(id)),
    find: async (id) => of(id).find(id),
    update: (id, facts) => change(id, (accounts) => accounts.update(id, facts)),
    freeze: (id, reason, now) => change(id, (accounts) => accounts.freeze(id, reason, now)),
    unfreeze: (id) => change(id, (accounts) => accounts.unfreeze(id)),
    list: async (start, ids = []) => {
      const lists = [...groupIds(customers, ids)];
      const reads = lists.map(
        ([accounts, own]) =>
          (page: typeof start) =>
            accounts.list(page, own),
      );
      return once(await mergeLists(reads, (one, other) => (one.id < other.id ? -1 : 1))(start));
    },
    listByName: async (name, start) => {
      const reads = all().map((accounts) => (page: typeof start) => accounts.listByName(name, page));
      return once(await mergeLists(reads, byListKey)(start));
    },
    /** An account that the first database made before there were others has another id than the one claimed since. */
    async madeBy(requestId) {
      const id = (await claims.find("account", requestId)) ?? (await customers.first.accounts.madeBy(requestId))?.id;
      const made = id === undefined ? undefined : await of(id).find(id);
      return made ?? customers.first.accounts.madeBy(requestId);
    },
  };
}

/** Removes duplicates: an arriving account is listed by two databases. */
function once(accounts: readonly Account[]): Account[] {
  return [...new Map(accounts.map((account) => [account.id, account])).values()];
}

/** Groups ids by the accounts of the database that may have them. Without ids: the accounts of all databases. */
function groupIds(customers: Shards<Customers>, ids: readonly string[]): ReadonlyMap<Accounts, readonly string[]> {
  return ids.length === 0
    ? new Map(customers.all().map(({ accounts }) => [accounts, []]))
    : Map.groupBy(ids, (id) => customers.of(id).accounts);
}

/**
 * The keys of all databases. A key's id, like its text, names the database that it was made in. Where the key is now
 * follows from its account.
 */
export function routeKeys(customers: Shards<Customers>, moves: Moves): KeyList {
  const change = <T>(accountId: string, run: (keys: ApiKeys) => Promise<T>) =>
    moves.whereItIs(accountId, () => run(customers.of(accountId).keys));
  async function at<T>(id: string, run: (keys: ApiKeys) => Promise<T>): Promise<T> {
    const made = readIdShard(id);
    if (moves.areNone) {
      return change((await customers.at(made).keys.get(id)).accountId, run);
    }
    const { accountId } = await findFirst(customers, made, (keys) => keys.get(id));
    return change(accountId, run);
  }
  return {
    get: (id) => at(id, (keys) => keys.get(id)),
    list: (accountId, start) => change(accountId, (keys) => keys.list(accountId, start)),
    create: (accountId, ...more) => change(accountId, (keys) => keys.create(accountId, ...more)),
    rotate: (id, ...more) => at(id, (keys) => keys.rotate(id, ...more)),
    revoke: (id) => at(id, (keys) => keys.revoke(id)),
    update: (id, facts) => at(id, (keys) => keys.update(id, facts)),
    /**
     * Notes for a database that is away are dropped: they only inform. Once accounts have moved, a key may be in any
     * database.
     */
    async storeLastUsed(ids, at) {
      const parts: [number, readonly string[]][] = moves.areNone
        ? [...Map.groupBy(ids, readIdShard)]
        : customers.numbers.map((number) => [number, ids]);
      const writes = parts.map(async ([number, own]) => customers.at(number).keys.storeLastUsed(own, at));
      const failed = (await Promise.allSettled(writes)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") {
        throw failed.reason;
      }
    },
  };
}

/**
 * Finds a key of an account that may have moved: in the database that it was made in, and if it is not there or that
 * database is away, in the others. Throws the first database's error.
 */
async function findFirst(
  customers: Shards<Customers>,
  made: number,
  find: (keys: ApiKeys) => Promise<ApiKey>,
): Promise<ApiKey> {
  const failures: unknown[] = [];
  for (const number of [made, ...customers.numbers.filter((other) => other !== made)]) {
    try {
      return await find(customers.at(number).keys);
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

/** Finds a key by the database that its text names, and by the place of its account. */
export function findByText(customers: Shards<Customers>, moves: Pick<Moves, "areNone" | "locate">) {
  const made = (secret: string) => (customers.areMarked ? customers.at(readKeyShard(secret)) : customers.first);
  const others = (digests: readonly Buffer[], secret: string) =>
    moves.areNone
      ? []
      : customers.numbers.filter(
          (number) => number !== readKeyShard(secret) && customers.find(number)?.keyFilter.knows(digests),
        );
  return {
    mayExist: (digests: readonly Buffer[], secret: string) =>
      others(digests, secret).length > 0 || made(secret).keyFilter.mayExist(digests),
    async findKey(digests: readonly [Buffer, ...Buffer[]], secret: string): Promise<ApiKey | undefined> {
      const failures: unknown[] = [];
      for (const number of [...others(digests, secret), readKeyShard(secret)]) {
        try {
          const key = await customers.at(number).keys.find(digests);
          if (key !== undefined) {
            const place = moves.locate(key.accountId);
            return place === number || moves.areNone ? key : await customers.at(place).keys.find(digests);
          }
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) {
        throw failures[0];
      }
      return undefined;
    },
  };
}

/**
 * Ids for new accounts, each naming a random one of the databases that are there. The same request gets the same id,
 * from whichever core and however often.
 */
export function createPlacement(
  shards: Shards<Shard>,
  claims: Claims,
  random: Pick<Random, "fraction">,
): (requestId: string) => Promise<string> {
  return async (requestId) => {
    const present = shards.present();
    const shard = present[Math.floor(random.fraction() * present.length)] ?? shards.first;
    const id = shard.foundation.random.uuid();
    return requestId === "" || !shards.areSeveral ? id : claims.take("account", requestId, id);
  };
}
