import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { type Metering, never, openMetering, request, run, usd } from "../../fixture.ts";

// The real thread is ended. A lock that another connection has on the file keeps it in the middle of a call.

const out = 250_000;
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

/** Threads that Node started, the last one last. */
const threads: Worker[] = [];
const started = (message: unknown) => void threads.push((message as { worker: Worker }).worker);

let directory: string;
let clock: ManualClock;
let metering: Metering;
let other: DatabaseSync;
beforeEach(async () => {
  channel("worker_threads").subscribe(started);
  directory = mkdtempSync(join(tmpdir(), "tollgate-thread-"));
  clock = new ManualClock(Date.now());
  metering = await openMetering({ clock, threadClock: clock, url: `sqlite:${join(directory, "tollgate.db")}` });
  other = new DatabaseSync(join(directory, "tollgate.db"), { timeout: 5000 }); // the thread may just be writing
});
afterEach(async () => {
  await clock.until(metering.close());
  other.close();
  channel("worker_threads").unsubscribe(started);
  rmSync(directory, { recursive: true });
});

/** Ends the thread in the middle of what a call has it do. */
async function endDuring<T>(call: () => Promise<T>): Promise<PromiseSettledResult<T>> {
  other.exec("begin immediate");
  const called = call();
  const ended = threads.at(-1)?.terminate();
  other.exec("rollback");
  await ended;
  const [outcome] = await clock.until(Promise.allSettled([called]));
  return outcome as PromiseSettledResult<T>;
}

const prove = () => clock.until(reconcile(metering.storage, metering.ledger));
const balance = async (account: string) => (await metering.funds.statement(account)).balance;

test("a lease that it ends in fails as unavailable; the next request has all of the money", async () => {
  const account = await metering.account({ paid: usd });
  const outcome = await endDuring(() => metering.ledger.hold(request(account, output(1)), never));
  expect(outcome.status).toBe("rejected");
  expect(readDetail((outcome as PromiseRejectedResult).reason)?.reason).toBe(Reason.LEDGER_UNAVAILABLE);
  expect(metering.log.join()).toContain("the ledger's thread ended");
  await clock.pass(1000);
  await clock.until(run(metering.ledger, request(account, output(usd / out))));
  expect(await balance(account)).toBe(0n);
  expect(await prove()).toMatchObject({ ok: true });
});

test("a charge that it ends in is stored once, on the slices that the core has", async () => {
  const account = await metering.account({ paid: usd });
  const hold = await clock.until(metering.ledger.hold(request(account, output(10)), never));
  expect(await endDuring(() => hold.settle(output(10), "completed"))).toMatchObject({ status: "fulfilled" });
  expect(metering.log.join()).not.toContain("after its slices were lost");
  expect(await balance(account)).toBe(BigInt(usd - 10 * out));
  expect(await prove()).toMatchObject({ ok: true, receipts: 1n });
});

/**
 * Has a call begin while the file is locked, and lets so much time pass that its thread is given up: at once, since
 * SQLite waits for the lock in real time. `giveVoice` lets the thread go on to its end, and the next one start.
 */
async function silence<T>(call: () => Promise<T>) {
  const silent = threads.at(-1) as Worker;
  const over = once(silent, "exit"); // a thread that has not begun to wait for the lock ends as soon as it is given up
  const asked = nextCall(silent);
  other.exec("begin immediate");
  const called = Promise.allSettled([call()]);
  await asked; // without a pause: the thread gives up waiting for the lock after five seconds of real time, and answers
  clock.advance(29_000);
  expect(threads.at(-1)).toBe(silent);
  clock.advance(1000);
  const giveVoice = async () => {
    other.exec("rollback");
    await over;
    await clock.advanceAsync(100);
  };
  return { outcomes: await called, giveVoice };
}

/** Resolves when the thread is sent its next call. */
function nextCall(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const { postMessage } = worker;
    worker.postMessage = (...message: Parameters<typeof postMessage>) => {
      postMessage.apply(worker, message);
      resolve();
    };
  });
}

test("a thread that lives and answers nothing for 30 seconds is given up: what asked it fails as unavailable", async () => {
  const account = await metering.account({ paid: usd });
  const { outcomes, giveVoice } = await silence(() => metering.ledger.hold(request(account, output(1)), never));
  expect(outcomes[0]?.status).toBe("rejected");
  expect(readDetail((outcomes[0] as PromiseRejectedResult).reason)?.reason).toBe(Reason.LEDGER_UNAVAILABLE);
  const count = threads.length;
  await expect(metering.store.identify()).rejects.toThrow("cannot be reached");
  await giveVoice();
  expect(metering.log.join()).toContain("the thread answered nothing for 30 seconds");
  expect(threads.length).toBe(count + 1);
  await clock.pass(1000);
  await clock.until(run(metering.ledger, request(account, output(usd / out))));
  expect(await balance(account)).toBe(0n);
  expect(await prove()).toMatchObject({ ok: true });
});

test("a charge that a silent thread has not answered, and may yet commit, is stored once", async () => {
  const account = await metering.account({ paid: usd });
  const hold = await clock.until(metering.ledger.hold(request(account, output(10)), never));
  let settled: Promise<unknown> = Promise.resolve();
  const { giveVoice } = await silence(async () => {
    settled = hold.settle(output(10), "completed");
  });
  await giveVoice();
  await clock.until(settled);
  expect(await balance(account)).toBe(BigInt(usd - 10 * out));
  expect(await prove()).toMatchObject({ ok: true, receipts: 1n, debtPicoUsd: "0" });
});

test("until it runs again calls fail at once, and it is started again later and later", async () => {
  const count = threads.length;
  const pauses: string[] = [];
  for (let times = 0; times < 3; times++) {
    await threads.at(-1)?.terminate();
    await expect(metering.store.identify()).rejects.toThrow("cannot be reached");
    pauses.push(/restartMs: (\d+)/.exec(metering.log.at(-1) ?? "")?.[1] ?? "");
    await clock.advanceAsync(Number(pauses.at(-1)));
  }
  expect(pauses).toEqual(["100", "200", "400"]);
  expect(threads.length).toBe(count + 3);
  expect(await metering.store.identify()).not.toBe("");
});

test("a ledger whose thread has ended closes all the same", async () => {
  await threads.at(-1)?.terminate();
  await clock.until(metering.ledger.close());
});

test("a thread that ends again and again costs nobody a token: each charge is stored once, all money is in reach", async () => {
  const account = await metering.account({ paid: usd });
  (await clock.until(metering.ledger.hold(request(account, output(1)), never))).release();
  let charged = 0;
  for (let round = 0; round < 12; round++) {
    const requests = Array.from({ length: 5 }, () => run(metering.ledger, request(account, output(10))));
    const all = Promise.allSettled(requests);
    if (round % 2 === 0) {
      await clock.until(Promise.race(requests).catch(() => {}));
    } else {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await threads.at(-1)?.terminate(); // wherever it is by then
    const outcomes = await clock.until(all);
    charged += outcomes.filter(({ status }) => status === "fulfilled").length;
    await clock.pass(1000);
  }
  expect(charged).toBeGreaterThan(0);
  expect(await balance(account)).toBe(BigInt(usd - charged * 10 * out));
  await clock.pass(2000);
  await clock.until(run(metering.ledger, request(account, output(usd / out - charged * 10))));
  expect(await balance(account)).toBe(0n);
  expect(await prove()).toMatchObject({ ok: true, debtPicoUsd: "0" });
  await clock.pass(2000);
  expect(await metering.storage.orm.em.fork().count(Slice, { open: true })).toBe(0);
});
