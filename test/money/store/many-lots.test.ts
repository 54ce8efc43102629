import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { explainSqlite } from "../../support/plans.ts";
import { databases, dialects } from "../databases.ts";
import { type Metering, openMetering, request, run, usd } from "../fixture.ts";

// What an account's lots cost: counted in rows that the database reads and in its plans, not in time.

const newDatabase = databases();
const out = 250_000;

let clock: ManualClock;
let metering: Metering;
afterEach(() => clock.until(metering.close()));

/** Opens an account with so many gifts of a price of ten tokens each; every other one is spent. */
async function open(url: string, lots: number): Promise<string> {
  clock = new ManualClock(Date.now());
  metering = await openMetering({ clock, url });
  const { funds, storage } = metering;
  const accountId = await metering.account();
  const { lotId } = await funds.credit({ accountId, kind: "grant", amount: 10 * out, reference: v7() });
  const { ledger } = metering;
  await clock.until(ledger.withFreeReturned(accountId, async () => {}));
  const em = storage.orm.em.fork();
  const [lot, payment] = [await em.findOneOrFail(Lot, lotId), await em.findOneOrFail(Payment, { lotId })];
  const copies = Array.from({ length: lots - 1 }, (_, at) => ({ at, lotId: v7(), paymentId: v7() }));
  const { amount, kind } = payment;
  await em.insertMany(
    Payment,
    copies.map((copy) => ({
      ...{ id: copy.paymentId, accountId, kind, amount, reference: copy.paymentId, lotId: copy.lotId, at: payment.at },
    })),
  );
  await em.insertMany(
    Lot,
    copies.map((copy) => ({
      ...{ id: copy.lotId, accountId, kind: lot.kind, priority: lot.priority, granted: amount, spent: 0, leased: 0 },
      refunded: copy.at % 2 === 0 ? amount : 0, // what is spent was refunded, so that no receipts are needed
      ...{ expired: 0, priceVersionId: lot.priceVersionId, createdAt: lot.createdAt, paymentId: copy.paymentId },
      expiresAt: null,
    })),
  );
  return accountId;
}

/** Everything that an account with many lots does. */
async function use(accountId: string): Promise<void> {
  const { funds, ledger, storage, time } = metering;
  for (let times = 0; times < 3; times++) {
    await clock.until(run(ledger, request(accountId, { inputTokens: 0, outputTokens: 15 })));
  }
  await funds.credit({ accountId, kind: "grant", amount: usd, reference: v7() });
  await funds.credit({ accountId, kind: "paid", amount: usd, reference: v7() });
  await clock.until(funds.refund({ accountId, amount: 1000, reference: v7() }));
  await expireLots({ storage, clock: time, random: systemRandom });
  await clock.until(Promise.resolve(ledger.fundingState(accountId)));
}

describe.each(dialects)("%s", (dialect) => {
  test("a request that needs more lots than one page gets them, in the order of spending", async () => {
    const accountId = await open(await newDatabase(dialect), 200);
    const before = await metering.funds.statement(accountId);
    expect(before.lots).toHaveLength(100);
    expect(before.balance).toBe(BigInt(100 * 10 * out));
    const hold = await clock.until(run(metering.ledger, request(accountId, { inputTokens: 0, outputTokens: 905 })));
    expect(hold.outputTokens).toBe(905);
    const after = await metering.funds.statement(accountId);
    expect(after.balance).toBe(BigInt(95 * out));
    expect(after.lots.map(({ remaining }) => remaining)).toEqual([5 * out, ...Array(9).fill(10 * out)]);
    expect(after.debt).toBe(0n);
  });

  test("gifts without end do not fill the memory of a core that does not spend them", async () => {
    const accountId = await open(await newDatabase(dialect), 2);
    await metering.funds.credit({ accountId, kind: "paid", amount: usd, reference: v7() });
    for (let times = 0; times < 40; times++) {
      await metering.funds.credit({ accountId, kind: "grant", amount: out, reference: v7() });
    }
    await clock.pass(2000);
    const [open_] = await metering.storage.orm.em
      .fork()
      .execute<{ slices: number }[]>("select count(*) as slices from slice where open and granted > spent");
    expect(Number(open_?.slices)).toBeLessThanOrEqual(24);
    expect((await metering.funds.statement(accountId)).balance).toBe(BigInt(usd + 50 * out));
  });
});

test("PostgreSQL reads as many rows for an account of 2,000 lots as for one of 40", async () => {
  const rowsRead = async (lots: number) => {
    const url = await newDatabase("postgresql");
    const accountId = await open(url, lots);
    await metering.storage.orm.em.fork().execute("analyze");
    await clock.until(metering.close()); // a connection that ends has told what it read
    const before = await rowsSoFar(url);
    metering = await openMetering({ clock, url });
    await use(accountId);
    await clock.until(metering.close());
    const after = await rowsSoFar(url);
    metering = await openMetering({ clock, url });
    await clock.until(metering.close());
    return after - before;
  };
  const [few, many] = [await rowsRead(40), await rowsRead(2000)];
  metering = await openMetering({ clock, url: await newDatabase("postgresql") });
  expect(many).toBeLessThan(few + 500);
}, 60_000);

async function rowsSoFar(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const others = "select count(*)::int as left from pg_stat_activity where datname = current_database()";
    await eventually("the others have ended, which tell what they read then", async () => {
      return (await client.query(others)).rows[0].left === 1;
    });
    const { rows } = await client.query(`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables
      where relname in ('lot', 'slice', 'payment', 'lot_entry')`);
    return rows[0].rows;
  } finally {
    await client.end();
  }
}

test("SQLite finds lots by the indexes of those that have free money, and sorts no more than a page", async () => {
  const accountId = await open(await newDatabase("sqlite"), 40);
  const { storage } = metering;
  if (storage.dialect !== "sqlite") {
    throw new Error("not SQLite");
  }
  const statements = new Set<string>();
  const database = new DatabaseSync(storage.path);
  const watched = new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") {
        return value;
      }
      return (...parameters: unknown[]) => {
        if (name === "prepare") {
          statements.add(String(parameters[0]));
        }
        return value.apply(target, parameters);
      };
    },
  });
  const spied = {
    ...storage,
    files: undefined, // so that the store uses the connection that is watched
    exclusive: async <T>(work: (found: DatabaseSync) => T) => work(watched),
  };
  const store = createLedgerStore(spied, systemRandom, v7());
  await store.enter({ instance: "lock", after: 0 });
  await store.acquire([{ accountId, least: 1, most: usd }], clock.now());
  database.close();
  const plans = [...statements]
    .filter((sql) => /^\s*(select|with)/i.test(sql) && sql.includes("lot"))
    .flatMap((sql) => explainSqlite(storage, sql, sql.includes("?2") ? ["", 0] : sql.includes("?") ? [""] : []));
  const steps = plans.map(({ detail }) => detail);
  const onLots = steps.filter((step) => /\blot\b/.test(step));
  expect(onLots.length).toBeGreaterThan(0);
  for (const step of onLots) {
    expect(step).toMatch(/SEARCH lot USING (COVERING )?INDEX (lot_spending_|sqlite_autoindex)/);
  }
  await store.end();
});

test.each([
  ["sqlite", "explain query plan", /SEARCH lot USING INDEX lot_account_id_id_index \(account_id=\? AND id>\?\)/],
  ["postgresql", "explain", /Index Scan using lot_account_id_id_index/],
] as const)(
  "%s finds a page of an account's lots by the last one before it, and sorts nothing",
  async (dialect, explain, found) => {
    await open(await newDatabase(dialect), 1000);
    const accountId = await metering.account();
    for (let lots = 0; lots < 5; lots++) {
      await metering.funds.credit({ accountId, kind: "grant", amount: out, reference: v7() });
    }
    const [first, second] = await metering.funds.lots(accountId, { after: undefined, limit: 2 });
    const next = await metering.funds.lots(accountId, { after: second?.id ?? "", limit: 2 });
    expect([first?.id, second?.id, ...next.map(({ id }) => id)]).toEqual(
      [first?.id, second?.id, ...next.map(({ id }) => id)].toSorted(),
    );
    const em = metering.storage.orm.em.fork();
    await em.execute("analyze");
    const plan = await em.execute<object[]>(
      `${explain} select * from lot where account_id = ? and id > ? order by id limit 100`,
      [accountId, second?.id ?? ""],
    );
    const steps = plan.map((step) => JSON.stringify(step)).join("\n");
    expect(steps).toMatch(found);
    expect(steps).not.toMatch(/sort|TEMP B-TREE/i);
  },
);
