import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { v7 } from "uuid";
import { systemClock } from "../../lib/time/clock.ts";
import { Claims } from "../../src/compose/shards/claims.ts";
import { openLater } from "../../src/storage/availability/late-storage.ts";
import { isUnreachable } from "../../src/storage/availability/unreachable.ts";
import { openStorage, type Storage } from "../../src/storage/orm.ts";
import { claimFirst, claimShard, FirstIsAway, noteMade, wasMade } from "../../src/storage/shard-mark.ts";
import { databases } from "../metering/databases.ts";
import { startDoor } from "../support/door.ts";
import { eventually } from "../support/eventually.ts";

const newDatabase = databases();
let storages: readonly [Storage, Storage, Storage];
let firstUrl: string;

beforeAll(async () => {
  const urls = await Promise.all([0, 1, 2].map(() => newDatabase("postgresql")));
  firstUrl = urls[0] ?? "";
  storages = (await Promise.all(urls.map((url) => openStorage(url)))) as [Storage, Storage, Storage];
}, 60_000);

afterAll(async () => {
  await Promise.all(storages?.map((storage) => storage.close()) ?? []);
});

const service = "the service";
const never = async () => false;

test("a new database waits for the first one to say whose it is", async () => {
  await expect(claimShard(storages[1], undefined, 1, never)).rejects.toThrow(FirstIsAway);
});

test("the first database of several names the service, and remembers how many there are and which have been there", async () => {
  expect(await claimFirst(storages[0], 3, () => service)).toBe(service);
  expect(await claimFirst(storages[0], 3, () => "another")).toBe(service);
  await Promise.all([noteMade(storages[0], 2), noteMade(storages[0], 1), noteMade(storages[0], 2)]);
  expect(await Promise.all([1, 2, 3].map((number) => wasMade(storages[0], number)))).toEqual([true, true, false]);
  expect(await claimFirst(storages[0], 4, () => "another")).toBe(service);
  expect(await wasMade(storages[0], 1)).toBe(true);
  await expect(claimFirst(storages[0], 3, () => "another")).rejects.toThrow("this service has 4 databases, and 3");
});

test("of two addresses of one database one alone is taken, however close together they come", async () => {
  const claims = await Promise.allSettled([1, 2].map((number) => claimShard(storages[1], service, number, never)));
  const [refused, ...more] = claims.flatMap((claim) => (claim.status === "rejected" ? [claim.reason.message] : []));
  expect(more).toEqual([]);
  expect(refused).toMatch(/^it is number [12]: keep the order/);
});

test("a database with a mark says whose it is while the first one is away, and is taken for no other", async () => {
  const number = /number (\d)/.exec(await claimShard(storages[1], service, 3, never).catch(String))?.[1];
  expect(await claimShard(storages[1], undefined, Number(number), never)).toBe(service);
  await expect(claimShard(storages[1], "another", Number(number), never)).rejects.toThrow("another service's");
  await expect(claimShard(storages[0], service, 1, never)).rejects.toThrow("belongs in storage.url");
  await expect(claimFirst(storages[1], 1, () => "another")).rejects.toThrow(`number ${number} of a service`);
});

test("an empty database is refused where another one was", async () => {
  await expect(claimShard(storages[2], service, 1, () => wasMade(storages[0], 1))).rejects.toThrow(
    "it is empty, and number 1 of this service had accounts",
  );
  await expect(claimFirst(storages[2], 4, () => "another", service)).rejects.toThrow("is not the first one");
  expect(await claimFirst(storages[0], 4, () => "another", service)).toBe(service);
});

test("a core that knows of one database alone takes no name that stands for an account of another one", async () => {
  const [{ orm }] = storages;
  const [here, elsewhere] = [v7(), v7()];
  const claims = new Claims(storages[0], () => [], systemClock);
  // As a release enters them that knows nothing of claims.
  const addAccount = (em: SqlEntityManager, id: string, requestId: string) =>
    em.execute(
      `insert into account (id, name, max_keys, request_id, created_at, paid_total, debt) values (?, '', 20, ?, now(), 0, 0)`,
      [id, requestId],
    );
  const pay = (em: SqlEntityManager, reference: string) =>
    em.execute(
      `insert into payment (id, account_id, kind, amount, reference, lot_id, at)
       values (gen_random_uuid(), ?, 'paid', 1, ?, gen_random_uuid(), now())`,
      [here, reference],
    );
  await addAccount(orm.em.fork(), here, "first request");
  expect(await claims.find("account", "first request")).toBe(here);
  await claims.take("account", "their request", elsewhere);
  await expect(addAccount(orm.em.fork(), v7(), "their request")).rejects.toThrow("another database");

  await claims.takeReference("theirs", elsewhere);
  await expect(pay(orm.em.fork(), "theirs")).rejects.toThrow("another database");
  await pay(orm.em.fork(), "ours");
  await expect(claims.takeReference("ours", elsewhere)).rejects.toThrow("already used");

  // Whoever comes in between waits until it is known whose the reference is.
  let taken: Promise<unknown> = Promise.resolve();
  await orm.em.fork().transactional(async (em) => {
    await pay(em as SqlEntityManager, "at once");
    taken = claims.takeReference("at once", elsewhere).catch((error: Error) => error.message);
    await eventually("the other one waits", async () => {
      const waiting = await storages[1].orm.em
        .fork()
        .execute(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%claim%' and datname = ?`,
          [new URL(firstUrl).pathname.slice(1)],
        );
      return waiting.length > 0;
    });
  });
  expect(await taken).toMatch("already used");
}, 60_000);

test("a database that comes late answers nobody before it was judged", async () => {
  const door = await startDoor(firstUrl);
  await door.shut();
  const late = await openLater(door.url, () => {});
  const { em } = late.storage.orm;
  try {
    const judged: unknown[] = [];
    const judge = (own: Storage) => claimFirst(own, 4, () => "another").then((said) => void judged.push(said));
    expect(isUnreachable(await late.letIn(judge).catch((error: unknown) => error))).toBe(true);
    await door.open();
    expect(
      isUnreachable(
        await em
          .fork()
          .execute("select 1")
          .catch((error: unknown) => error),
      ),
    ).toBe(true);
    await expect(late.letIn(() => Promise.reject(new Error("not this one")))).rejects.toThrow("not this one");
    await expect(em.fork().execute("select 1")).rejects.toThrow("since the start");
    await late.letIn(judge);
    expect(judged).toEqual([service]);
    expect(await em.fork().execute("select 1 as one")).toEqual([{ one: 1 }]);
  } finally {
    await late.storage.close();
    await door.shut();
  }
}, 60_000);
