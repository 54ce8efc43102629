import { afterEach, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { createDeparture } from "../../../src/metering/moves/departure.ts";
import { ApiKey } from "../../../src/storage/entities/api-key.ts";
import { inTransaction } from "../../../src/storage/transaction.ts";
import { never, request, run, usd } from "../../metering/fixture.ts";
import { type Door, startDoor } from "../../support/door.ts";
import { eventually } from "../../support/eventually.ts";
import { type Core, newAccount, newUrls, openCore, pauseMs, prove, spend, tokens } from "./two-databases.ts";

// Accounts move between two real PostgreSQL databases, which two cores share.

const doors: Door[] = [];

afterEach(async () => {
  for (const door of doors.splice(0)) {
    await door.shut();
  }
});

async function addKey({ parts }: Core, accountId: string, limit: number) {
  const id = v7();
  await inTransaction(parts[0].storage, (em) =>
    em.insert(ApiKey, {
      ...{ id, accountId, name: "", digest: Buffer.from(id), pepperVersion: 1, prefix: "tg-", last4: "last" },
      ...{ createdAt: new Date(), budget: limit, budgetPeriod: "day" as const },
    } as never),
  );
  return { keyId: id, budget: { id, limit, period: "day" as const } };
}

test("an account that two cores use moves there, back and there again, and every pico-USD with it", async () => {
  const urls = await newUrls();
  const [one, other] = [await openCore(urls), await openCore(urls)];
  const accountId = await newAccount(one);
  let isOver = false;
  let requests = 0;
  const load = [one, other, one, other].map(async (core) => {
    while (!isOver) {
      await spend(core, accountId);
      requests++;
    }
  });
  for (const to of [1, 0, 1]) {
    const before = requests;
    await eventually("requests run", () => requests > before + 4);
    expect(await one.moves.move(accountId, to, pauseMs)).toBe(1 - to);
    expect(one.moves.locate(accountId)).toBe(to);
  }
  const moved = requests;
  await eventually("requests run where it is now", () => requests > moved + 4);
  isOver = true;
  await Promise.all(load);
  await Promise.all([one, other].map(({ ledger }) => ledger.caughtUp()));
  const { total, receipts } = await prove(one, accountId);
  expect(total).toBe(11n * BigInt(usd));
  expect(receipts.reduce((sum, count) => sum + count, 0)).toBe(requests);
  expect(Math.min(...receipts)).toBeGreaterThan(0);
  expect(other.moves.locate(accountId)).toBe(1);
}, 120_000);

test("a payment is known by its reference wherever the account has gone, and a request by its own id", async () => {
  const core = await openCore(await newUrls());
  const accountId = await newAccount(core);
  const requestId = `own ${accountId}`;
  await run(core.ledger, request(accountId, tokens, { requestId }));
  await core.ledger.caughtUp();
  await core.moves.move(accountId, 1, pauseMs);
  await core.funds.credit({ accountId, kind: "paid", amount: 10 * usd, reference: `paid ${accountId}` });
  await expect(run(core.ledger, request(accountId, tokens, { requestId }))).rejects.toThrow("was already run");
  await core.funds.refund({ accountId, amount: usd, reference: `back ${accountId}` });
  await core.moves.move(accountId, 0, pauseMs);
  await core.funds.refund({ accountId, amount: usd, reference: `back ${accountId}` });
  expect((await prove(core, accountId)).total).toBe(10n * BigInt(usd));
  const { paidTotal } = await core.funds.statement(accountId);
  expect(paidTotal).toBe(9n * BigInt(usd));
  expect(await core.funds.credited(accountId)).toBe(10n * BigInt(usd));
  expect((await core.funds.payments(accountId, { after: undefined, limit: 10 })).map(({ kind }) => kind)).toEqual([
    "refund",
    "paid",
    "free",
  ]);
}, 120_000);

test("a budget in the middle of its window counts what was spent wherever the account has been", async () => {
  const core = await openCore(await newUrls());
  const accountId = await newAccount(core);
  const limit = 10 * 450_000_000;
  const key = await addKey(core, accountId, limit);
  let runs = 0;
  const spendSome = async () => {
    await run(core.ledger, request(accountId, tokens, key));
    runs++;
  };
  for (const to of [1, 0, 1, 0]) {
    await spendSome();
    await spendSome();
    await core.ledger.caughtUp();
    await core.moves.move(accountId, to, pauseMs);
    const { spent } = await core.ledger.budgetState(key.budget, accountId);
    expect(spent).toBe(runs * 450_000_000);
  }
  await spendSome();
  await spendSome();
  const refused = core.ledger.hold(request(accountId, tokens, key), never);
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining("budget") });
  await core.ledger.caughtUp();
  expect((await prove(core, accountId)).spent).toBe(BigInt(limit));
}, 120_000);

test("lots pay what they paid before, in a database whose prices were never those", async () => {
  const core = await openCore(await newUrls());
  await core.parts[0].prices.set("plain", { input: 5_000, output: 6_000 });
  const accountId = await newAccount(core);
  for (const { prices } of core.parts) {
    await prices.set("plain", { input: 7_000, output: 9_000 });
  }
  await core.moves.move(accountId, 1, pauseMs);
  expect(core.parts[1].prices.live("plain")).toEqual({ input: 7_000, output: 9_000 });
  await run(core.ledger, request(accountId, tokens));
  await core.ledger.caughtUp();
  const { spent } = await prove(core, accountId);
  expect(spent).toBe(1000n * 5_000n + 1000n * 6_000n);
}, 120_000);

test("a request that runs for too long keeps the account where it is", async () => {
  const core = await openCore(await newUrls());
  const accountId = await newAccount(core);
  const hold = await core.ledger.hold(request(accountId, tokens), never);
  await expect(core.moves.move(accountId, 1, 100)).rejects.toThrow("stays where it is");
  await run(core.ledger, request(accountId, tokens));
  await hold.settle(tokens, "completed");
  await core.ledger.caughtUp();
  expect(core.moves.locate(accountId)).toBe(0);
  await core.moves.move(accountId, 1, pauseMs);
  expect((await prove(core, accountId)).receipts).toEqual([2, 0]);
}, 120_000);

test("an account whose core ended while it was closed is open again", async () => {
  const core = await openCore(await newUrls(), false);
  const accountId = await newAccount(core);
  const [{ storage, time }] = core.parts;
  const move = { id: v7(), accountId, kind: "account" as const, generation: 0, from: 0, to: 1 };
  await createDeparture(storage, time).close(move, new Date(time.now() - 1));
  await expect(core.parts[0].ledger.hold(request(accountId, tokens), never)).rejects.toThrow("is being moved");
  await core.moves.attend(0);
  await run(core.ledger, request(accountId, tokens));
  await core.ledger.caughtUp();
  expect((await prove(core, accountId)).receipts).toEqual([1, 0]);
}, 120_000);

/** What the databases are told in a move, in its order: where the account is, and where it goes. */
const steps: readonly [database: 0 | 1, statement: string, lost: "request" | "reply"][] = [
  [1, "select 1", "reply"],
  [0, "update account set move_id = '", "request"],
  [0, "insert into account_move", "reply"],
  [0, "commit", "request"],
  [0, "commit", "reply"],
  [0, "set state = 'sent'", "request"],
  [0, "insert into lot_move", "reply"],
  [0, "update lot set refunded", "request"],
  [0, "update account set debt = 0", "reply"],
  [1, "'arrived'", "request"],
  [1, "'arrived'", "reply"],
  [1, "insert into account select", "request"],
  [1, "insert into api_key select", "reply"],
  [1, "insert into payment select", "request"],
  [1, "insert into lot_move", "reply"],
  [1, "insert into lot select", "request"],
  [1, "insert into budget", "reply"],
  [1, "commit", "request"],
  [1, "commit", "reply"],
  [0, "set state = 'done'", "request"],
  [0, "set state = 'done'", "reply"],
];

test("a move that breaks off at any statement, before it or after, is undone or brought to its end", async () => {
  const urls = await newUrls();
  const own = [await startDoor(urls[0]), await startDoor(urls[1])] as const;
  doors.push(...own);
  const mover = await openCore([own[0].url, own[1].url], false);
  const other = await openCore(urls, false);
  const accountId = await newAccount(other);
  const ends = new Set<number>();
  for (const [database, statement, what] of steps) {
    const from = other.moves.locate(accountId);
    const place = (from === 0 ? database : 1 - database) as 0 | 1;
    await mover.moves.look();
    const lost = own[place].lose(statement, what);
    const moved = mover.moves.move(accountId, 1 - from, pauseMs).catch(() => -1);
    await lost;
    await moved;
    await other.moves.look();
    await other.moves.attend(from);
    await other.moves.look();
    await spend(other, accountId);
    await other.ledger.caughtUp();
    ends.add(Number(other.moves.locate(accountId) !== from));
    expect((await prove(other, accountId)).total).toBe(11n * BigInt(usd));
  }
  expect(ends.size).toBe(2);
}, 240_000);

test("while the database that an account goes to is away it stays; once on its way it waits there and arrives", async () => {
  const urls = await newUrls();
  const door = await startDoor(urls[1]);
  doors.push(door);
  const core = await openCore([urls[0], door.url], false);
  const accountId = await newAccount(core);
  await door.shut();
  await expect(core.moves.move(accountId, 1, pauseMs)).rejects.toThrow();
  await run(core.ledger, request(accountId, tokens));
  await door.open();
  const cut = door.lose("'arrived'", "request").then(() => door.shut());
  const moved = core.moves.move(accountId, 1, pauseMs);
  await expect(moved).rejects.toThrow();
  await cut;
  await expect(core.ledger.hold(request(accountId, tokens), never)).rejects.toThrow("is being moved");
  await door.open();
  await eventually("it arrives", async () => {
    await core.moves.attend(0).catch(() => {});
    await core.moves.look();
    return core.moves.locate(accountId) === 1;
  });
  await spend(core, accountId);
  await core.ledger.caughtUp();
  expect((await prove(core, accountId)).receipts).toEqual([1, 1]);
}, 120_000);

test("a debt that turns up where an account was follows it", async () => {
  const core = await openCore(await newUrls(), false);
  const accountId = await newAccount(core);
  await core.moves.move(accountId, 1, pauseMs);
  const late = request(accountId, tokens);
  const charge = { ...late, runId: v7(), cost: 0, shortfall: 0, lines: [], status: "recovered", settledAt: Date.now() };
  await core.parts[0].ledger.settleLate({ ...charge, maxRates: undefined } as never);
  await core.parts[0].ledger.caughtUp();
  expect((await core.parts[0].funds.statement(accountId)).debt).toBe(450_000_000n);
  await core.moves.attend(0);
  expect((await core.parts[0].funds.statement(accountId)).debt).toBe(0n);
  const { balance, spent } = await prove(core, accountId);
  expect([balance, spent]).toEqual([11n * BigInt(usd) - 450_000_000n, 450_000_000n]);
}, 120_000);
