import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { StreamUsageRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { checkStandby } from "#src/cli/check/findings/standby.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import { type PostgresqlServer, startPostgresql } from "../../../scripts/test-services/postgres-server.ts";
import { type Metering, openMetering, request, run, usd } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";

let primary: PostgresqlServer;
let standby: PostgresqlServer;
let url: string;
let account: string;
let metering: Metering;
const clock = new ManualClock(Date.now());
let told: { standby: number; primary: number };
const warnings: string[] = [];

const on = (server: PostgresqlServer) => url.replace(/:\d+\//, `:${server.port}/`);
const open = (readUrl: string, mostAgeMs = 3_600_000) =>
  openMetering({
    clock,
    url,
    standby: {
      url: readUrl,
      mostAgeMs,
      observer: { readStandby: () => void told.standby++, readPrimary: () => void told.primary++ },
      warn: (message) => void warnings.push(message),
    },
  });

beforeAll(async () => {
  primary = await startPostgresql();
  standby = await primary.startStandby();
  url = await primary.createDatabase();
  metering = await open(on(standby));
  account = await metering.account({ paid: usd });
}, 120_000);
beforeEach(() => {
  told = { standby: 0, primary: 0 };
  warnings.length = 0;
});
afterAll(async () => {
  await metering?.close();
  await standby?.stop();
  await primary?.stop();
}, 60_000);

async function charge(): Promise<string> {
  const wanted = request(account, { inputTokens: 10, outputTokens: 10 });
  await clock.until(run(metering.ledger, wanted));
  await clock.until(metering.ledger.caughtUp());
  return wanted.requestId;
}

async function usage({ storage }: Metering, fresh = false) {
  let requests = 0;
  let asOf: number | undefined;
  for await (const piece of streamUsage(storage, create(StreamUsageRequestSchema, { accountId: account, fresh }))) {
    requests += piece.rows.reduce((sum, row) => sum + Number(row.requests), 0);
    asOf = piece.asOf;
  }
  return { requests, asOf };
}

const receipts = ({ storage }: Metering, requestId = "") =>
  listReceipts(storage, {
    accountId: account,
    keyId: "",
    model: "",
    requestId,
    labelName: "",
    pageSize: 1000,
    pageToken: "",
  });

test("a standby tells usage, receipts and the proof, and the moment that they are of", async () => {
  const before = Date.now();
  const id = await charge();
  await eventually("the standby has the charge", async () => (await usage(metering)).requests === 1);
  const { asOf } = await usage(metering);
  expect(asOf).toBeGreaterThanOrEqual(before - 60_000);
  expect(asOf).toBeLessThanOrEqual(Date.now() + 1000);
  const listed = await receipts(metering);
  expect(listed.receipts.map(({ requestId }) => requestId)).toEqual([id]);
  expect(listed.asOf).toBeDefined();
  const proof = await reconcile(metering.storage);
  expect(proof).toMatchObject({ ok: true, receipts: 1n, asOf: { seconds: expect.any(BigInt) } });
  expect(told.primary).toBe(0);
  expect(warnings).toEqual([]);
});

test("what is of this moment, or of one request, is the primary's to tell", async () => {
  expect(await usage(metering, true)).toEqual({ requests: 1, asOf: undefined });
  const [first] = (await receipts(metering)).receipts;
  told = { standby: 0, primary: 0 };
  expect(await receipts(metering, first?.requestId)).toMatchObject({ receipts: [first], asOf: undefined });
  expect(told).toEqual({ standby: 0, primary: 0 });
});

test("of several servers the standby answers", async () => {
  const several = await open(on(standby).replace("127.0.0.1:", `127.0.0.1:${primary.port},127.0.0.1:`));
  expect((await usage(several)).asOf).toBeDefined();
  await several.close();
});

test("the primary goes on where the standby ends a read", async () => {
  const reading = new LongRead(metering.storage);
  const seen: (boolean | undefined)[] = [];
  const rows = await reading.attempt(async () => {
    const snapshot: Snapshot = await reading.snapshot("tables");
    try {
      seen.push(snapshot.asOf !== undefined);
      if (snapshot.asOf !== undefined) {
        await standby.disconnect(new URL(url).pathname.slice(1));
      }
      return await snapshot.few("select count(*) as receipts from usage");
    } finally {
      await snapshot.close();
    }
  });
  expect(seen).toEqual([true, false]);
  expect(rows).toEqual([{ receipts: "1" }]);
});

test("a snapshot of the primary whose connection breaks between two statements fails the next one, and nothing else", async () => {
  const snapshot = await metering.storage.snapshot();
  await primary.disconnect(new URL(url).pathname.slice(1));
  await expect(snapshot.few("select 1 as one")).rejects.toThrow();
  await snapshot.close();
  await eventually("the primary is asked again", () => usage(metering, true).catch(() => undefined));
});

test("pieces that were passed on are not read again: the reader is told", async () => {
  const reading = new LongRead(metering.storage);
  const passed: unknown[] = [];
  const read = async () => {
    for await (const piece of reading.pieces(() => pieces(reading))) {
      passed.push(piece);
      await standby.disconnect(new URL(url).pathname.slice(1));
    }
  };
  await expect(read()).rejects.toThrow();
  expect(passed).toHaveLength(1);
});

async function* pieces(reading: LongRead) {
  const snapshot = await reading.snapshot();
  try {
    yield await snapshot.few("select 1 as one");
    yield await snapshot.few("select 2 as two");
  } finally {
    await snapshot.close();
  }
}

test("a standby that follows no longer tells what it has, until that is too old", async () => {
  const patient = await open(on(standby));
  const strict = await open(on(standby), 0);
  await standby.cutOff();
  await eventually("nothing is replicated", async () => (await primary.standbys()) === 0);
  await charge();
  expect(await usage(patient)).toMatchObject({ requests: 1, asOf: expect.any(Number) });
  expect(told).toEqual({ standby: 1, primary: 0 });
  expect(await usage(strict)).toEqual({ requests: 2, asOf: undefined });
  expect(told).toEqual({ standby: 1, primary: 1 });
  expect(warnings).toEqual([expect.stringMatching(/^long reads go to the primary: the standby is \d+ s behind$/)]);
  await patient.close();
  await strict.close();
}, 30_000);

test("a check tells how old the standby is, and why it does not answer", async () => {
  const asked = (readUrl: string, seconds: number) => checkStandby({ storageUrl: url, readUrl }, seconds);
  expect(await checkStandby({ storageUrl: url, readUrl: undefined }, 30)).toEqual([]);
  expect(await asked(on(standby), 3600)).toEqual([
    { part: "standby", status: "ok", message: expect.stringMatching(/^its last transaction is \d+\.\d s old$/) },
  ]);
  expect(await asked(on(standby), 0)).toMatchObject([
    { status: "warning", message: expect.stringContaining("above 0 s (storage.read_max_age_s) the primary answers") },
  ]);
  expect(await asked(url, 3600)).toMatchObject([
    { status: "warning", message: expect.stringContaining("is no standby: check TOLLGATE_STORAGE_READ_URL") },
  ]);
});

test("a standby of another server, or one that is away, is not read", async () => {
  const other = await startPostgresql();
  try {
    const strange = await open(on(other));
    expect(await usage(strange)).toEqual({ requests: 2, asOf: undefined });
    expect(warnings).toEqual([expect.stringContaining("long reads go to the primary: ")]);
    await strange.close();
  } finally {
    await other.stop();
  }
  await standby.crash();
  expect(await usage(metering)).toEqual({ requests: 2, asOf: undefined });
}, 60_000);
