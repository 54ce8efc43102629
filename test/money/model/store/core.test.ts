import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering } from "../../fixture.ts";
import { openStore } from "./opened.ts";

const newDatabase = databases();

// The contract that the ledger relies on, on both databases.
describe.each(dialects)("%s", (dialect) => {
  const opened = openStore(dialect, newDatabase);
  const { leaseOne, chargeTo, slice, lots, coreId } = opened;

  test("a new epoch adopts what an earlier process left, and fences that process off", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const own = await leaseOne(account, 100);
    await opened.store.settle([chargeTo([own], 30)]);
    const next = createLedgerStore(opened.metering.storage, systemRandom, coreId);
    const { epoch, adopted } = await next.enter({ instance: "lock", after: 7 });
    expect(epoch).toBe(8);
    expect(adopted.find(({ id }) => id === own.id)).toMatchObject({ granted: 100, spent: 30, accountId: account });
    expect(await opened.store.settle([chargeTo([own], 1)])).toEqual(["fenced"]);
    await opened.store.giveBack([{ sliceId: own.id, granted: 99 }]);
    await opened.store.close([own.id]);
    expect(await slice(own.id)).toMatchObject({ granted: 100, spent: 30, open: true });
    expect(await next.settle([chargeTo([own], 1)])).toEqual(["stored"]);
    await next.end();
  });

  test.each([["another"], [undefined]])(
    "an epoch under %s lock leaves a living one's slices alone",
    async (instance) => {
      if (dialect === "sqlite") {
        return; // the file's own lock says that every other process is dead
      }
      const account = await opened.metering.account({ free: 1000 });
      const own = await leaseOne(account, 100);
      const next = createLedgerStore(opened.metering.storage, systemRandom, coreId);
      expect(await next.enter({ instance, after: 0 })).toMatchObject({ epoch: 2, adopted: [] });
      expect(await opened.store.settle([chargeTo([own], 10)])).toEqual(["stored"]);
      const both = await Promise.all([opened.store.heartbeat(), next.heartbeat()]);
      expect(both.map(({ wasDead }) => wasDead)).toEqual([false, false]);
      // Asked again: of two beats at once neither need have seen the other.
      const older = (await next.heartbeat()).others.filter((other) => other.coreId === coreId);
      expect(older).toMatchObject([{ coreId, epoch: 1 }]);
      expect((await next.epochs()).map(({ epoch, dead }) => [epoch, dead])).toEqual([
        [2, false],
        [1, false],
      ]);
      // Its money is elsewhere for the newer one, and comes back when the older one is taken for dead.
      const seen = (await next.acquire([{ accountId: account, least: 0, most: 0 }], opened.clock.now())).get(account);
      expect(seen).toMatchObject({ unleased: 900n, elsewhere: 90n });
      expect(await next.reap(older)).toBe(1);
      expect(await lots()).toMatchObject([{ leased: 0, spent: 10 }]);
      expect(await opened.store.settle([chargeTo([own], 1)])).toEqual(["fenced"]);
      expect((await opened.store.heartbeat()).wasDead).toBe(true);
      await next.end();
    },
  );

  test("an epoch begins with what it adopts, or not at all: a failover between the two would leave slices of no core", async () => {
    const account = await opened.metering.account({ free: 1000 });
    await leaseOne(account, 100);
    const em = opened.metering.storage.orm.em.fork();
    const refusal = {
      sqlite: ["create trigger refusal before update of epoch on slice begin select raise(abort, 'refused'); end"],
      postgresql: [
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$",
        "create trigger refusal before update of epoch on slice for each row execute function refuse()",
      ],
    };
    for (const sql of refusal[dialect]) {
      await em.execute(sql);
    }
    const next = createLedgerStore(opened.metering.storage, systemRandom, coreId);
    await expect(next.enter({ instance: "lock", after: 0 })).rejects.toThrow("refused");
    expect(await em.execute("select epoch from core where id = ?", [coreId])).toEqual([{ epoch: 1 }]);
    await em.execute(`drop trigger refusal${dialect === "sqlite" ? "" : " on slice"}`);
    expect(await next.enter({ instance: "lock", after: 0 })).toMatchObject({
      epoch: 2,
      adopted: [{ accountId: account }],
    });
    await next.end();
  });

  test("what a core leases after a failover that lost its row, and before its next heartbeat, others get back", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const em = opened.metering.storage.orm.em.fork();
    await em.execute("delete from core where id = ?", [coreId]);
    const budget = {
      budgetId: v7(),
      accountId: account,
      windowName: "total",
      windowStart: 0,
      windowEnd: undefined,
      limit: 500,
    };
    const ask = { ...budget, sliceId: v7(), size: 0, step: 1, isMade: false, least: 100, most: 100 };
    const own = await leaseOne(account, 100);
    await opened.store.settle([chargeTo([own], 10)]);
    expect(await opened.store.acquireBudget(ask)).toMatchObject({ size: 100 });
    const next = createLedgerStore(opened.metering.storage, systemRandom, v7());
    if (dialect === "sqlite") {
      const { adopted, adoptedBudgets } = await next.enter({ instance: "lock", after: 0 });
      expect([adopted.map(({ id }) => id), adoptedBudgets]).toEqual([[own.id], [ask.sliceId]]);
      await next.close([own.id]);
      await next.closeBudgets(adoptedBudgets);
    } else {
      await next.enter({ instance: undefined, after: 0 });
      const dead = (await next.heartbeat()).others.filter((other) => other.coreId === coreId);
      expect(dead).toMatchObject([{ epoch: 1 }]);
      expect(await next.reap(dead)).toBe(1);
      expect((await opened.store.heartbeat()).wasDead).toBe(true);
    }
    expect(await lots()).toMatchObject([{ leased: 0, spent: 10 }]);
    expect(await em.fork().findOneOrFail(Budget, { id: ask.budgetId })).toMatchObject({ leased: 0 });
    await next.end();
  });

  test("a core learns with its next heartbeat that the database has gone back to before its last one", async () => {
    if (dialect === "sqlite") {
      return; // nothing but this process can exchange the file
    }
    for (let beats = 0; beats < 3; beats++) {
      expect((await opened.store.heartbeat()).wasDead).toBe(false);
    }
    await opened.metering.storage.orm.em.fork().execute("update core set beats = 1 where id = ?", [coreId]);
    expect((await opened.store.heartbeat()).wasDead).toBe(true);
    expect((await opened.store.heartbeat()).wasDead).toBe(false);
  });

  test("a database keeps its name, and two do not share one", async () => {
    const name = await opened.store.identify();
    expect(await createLedgerStore(opened.metering.storage, systemRandom, v7()).identify()).toBe(name);
    const other = await openMetering({ clock: opened.clock, url: await newDatabase(dialect) });
    expect(await other.store.identify()).not.toBe(name);
    await opened.clock.until(other.close());
  });
});
