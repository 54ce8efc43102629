import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import { detailOf } from "../../src/errors.ts";
import { openJournal } from "../../src/metering/file-journal.ts";
import { reconcile } from "../../src/metering/reconcile.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { Usage } from "../../src/storage/entities/usage.ts";
import { databases } from "./databases.ts";
import { never, openMetering, request, USD } from "./fixture.ts";

const newDatabase = databases();
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A road to the database that can be cut at any byte. */
async function openRoad(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let cut = false;
  const server = createServer((from) => {
    if (cut) return void from.destroy();
    const to = connect(Number(target.port), target.hostname);
    for (const [here, there] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(here);
      here.on("error", () => {});
      here.on("close", () => {
        sockets.delete(here);
        there.destroy();
      });
      here.pipe(there);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const road = new URL(url);
  road.port = String((server.address() as { port: number }).port);
  return {
    url: road.href,
    cut() {
      cut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      cut = false;
    },
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("while the database is away charges are promised by the journal, and each is stored once when it is back", async () => {
  const road = await openRoad(await newDatabase("postgresql"));
  const directory = mkdtempSync(join(tmpdir(), "tollgate-outage-"));
  const journal = openJournal(directory, { clock: systemClock, random: systemRandom, logger: silent });
  const metering = await openMetering({ url: road.url, clock: systemClock, journal, coreId: journal.coreId });
  const account = await metering.account({ paid: 100 * USD });
  const acknowledged: string[] = [];
  const spend = async () => {
    const wanted = request(account, { inputTokens: 100, outputTokens: 100 });
    const hold = await metering.ledger.hold(wanted, never);
    await sleep(5);
    await hold.settle({ inputTokens: 100, outputTokens: 50 }, "completed");
    acknowledged.push(wanted.requestId);
  };
  let stopping = false;
  const refusals = new Set<Reason | undefined>();
  const load = Array.from({ length: 16 }, async () => {
    while (!stopping)
      await spend().catch(async (error: unknown) => {
        refusals.add(detailOf(error)?.reason);
        await sleep(20);
      });
  });

  for (let times = 0; times < 3; times++) {
    await sleep(400);
    road.cut();
    await sleep(100); // what was on its way has been promised or refused by then
    const before = acknowledged.length;
    await sleep(1000);
    expect(acknowledged.length).toBeGreaterThan(before);
    road.mend();
  }
  await sleep(400);
  stopping = true;
  await Promise.all(load);
  await metering.ledger.close();

  expect([...refusals].filter((reason) => reason !== Reason.LEDGER_UNAVAILABLE)).toEqual([]);
  const receipts = new Set((await metering.storage.orm.em.fork().findAll(Usage)).map(({ requestId }) => requestId));
  expect(acknowledged.filter((id) => !receipts.has(id))).toEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  const proof = await reconcile(metering.storage);
  expect(proof).toMatchObject({ ok: true, debtPicoUsd: "0", receipts: BigInt(receipts.size) });
  expect(proof.spentPicoUsd).toBe(String(receipts.size * (100 * 200_000 + 50 * 250_000)));
  await metering.storage.close();
  await road.close();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);
