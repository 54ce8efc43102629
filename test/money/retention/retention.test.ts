import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { create, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { NIL, v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { type Receipt, ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import type { Clock } from "#lib/time/clock.ts";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { type Journal, noJournal } from "#src/money/journal/journal.ts";
import { agedReason } from "#src/money/ledger/settlement/aged-charges.ts";
import { toWindowRequest, windowAt } from "#src/money/model/budget-window.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { type Dependencies, Retention } from "#src/money/retention/retention.ts";
import { archiveBucket } from "#src/money/retention/s3/archive-bucket.ts";
import { dayMs } from "#src/money/store/kept-from.ts";
import { removeReceiptsSql } from "#src/money/store/postgresql/receipts.ts";
import { removalStatements } from "#src/money/store/sqlite/receipts.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { UsageTally } from "#src/storage/entities/metering/rollup.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { startS3 } from "../../../scripts/test-services/s3.ts";
import { movableClock } from "../../storage/movable-clock.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";
import { explainSqlite } from "../../support/plans.ts";
import { databases, dialects } from "../databases.ts";
import { openMetering, request, run, testModel, usd } from "../fixture.ts";
import { noArchives } from "../no-archives.ts";
import { storeKey } from "../stored-key.ts";

const newDatabase = databases();
const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true });
  }
});

const newDirectory = () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-archive-"));
  directories.push(directory);
  return directory;
};

const output = (outputTokens: number) => ({ inputTokens: 10, outputTokens });

describe.each(dialects)("%s", (dialect) => {
  /** Books with seven receipts of a day, of two lots and a key's budget, and three of the next day. */
  async function live() {
    const url = await newDatabase(dialect);
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    const turn = dialect === "postgresql" ? await movableClock(url) : async () => {};
    /** Sets the time of the database. */
    const setTime = (at: number) => turn(at - Date.now());
    await setTime(midnight - 20_000);
    const clock = new ManualClock(midnight - 20_000);
    const metering = await openMetering({ clock, url });
    const { ledger, storage, store } = metering;
    const account = await metering.account({ free: 3_000_000_000, paid: 10 * usd });
    const keyId = await storeKey(metering, account);
    const budget = { id: keyId, limit: usd, period: "total" } as const;
    const ids: string[] = [];
    const charge = async (tokens: number, more: object = {}) => {
      const requestId = `req_${v7({ msecs: clock.now() }).replaceAll("-", "")}`;
      const wanted = request(account, output(tokens), { requestId, ...more });
      ids.push(wanted.requestId);
      await clock.until(run(ledger, wanted));
    };
    for (let at = 0; at < 7; at++) {
      const labels = at % 3 === 0 ? { labels: '{"app":"an \\"é\\""}' } : {};
      await charge(1000 + 700 * at, { ...labels, ...(at % 2 === 0 ? { keyId, budget } : {}) });
    }
    await clock.pass(25_000);
    for (let at = 0; at < 3; at++) {
      await charge(100, { keyId, budget });
    }
    await store.markSeen(await store.unseenTallies(100));
    await store.foldTallies(midnight / 3_600_000);
    const directory = newDirectory();
    const removed: number[] = [];
    const looks: (readonly [number, number])[] = [];
    const noted: ReceiptArchive[] = [];
    /** An hour after midnight. No step takes time: the rests between them would be as long as the proofs of the books. */
    const time: Clock = { ...systemClock, now: () => midnight + 3_600_000, monotonic: () => 0 };
    const retention = (more: Partial<Dependencies> = {}) =>
      new Retention({
        ...{ storage, store, keepDays: 0, clock: time, logger: silentLogger },
        place: archiveFolder(directory, systemRandom),
        sealer: new Sealer({ storage, clock: time, random: systemRandom, logger: silentLogger }),
        note: async (_, archive) => void noted.push(archive),
        lease: { hold: async () => true, release: async () => {} },
        observer: {
          removed: (count) => void removed.push(count),
          looked: (keptFrom, overdueMs) => void looks.push([keptFrom, overdueMs]),
        },
        ...more,
      });
    const settledOn = midnight - 1;
    return {
      ...{ ...metering, url, setTime },
      clock,
      account,
      budget,
      ids,
      midnight,
      settledOn,
      directory,
      removed,
      looks,
      noted,
      retention,
    };
  }

  const prove = async (storage: Storage) => expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [] });

  async function usageOf(storage: Storage, span: object = {}) {
    const rows = [];
    const asked = { groupBy: [UsageGroup.ACCOUNT, UsageGroup.DAY], ...span };
    for await (const page of streamUsage(storage, create(StreamUsageRequestSchema, asked))) {
      rows.push(...page.rows);
    }
    return rows;
  }

  test("a receipt of a day that comes while its archive is written is in the seal and the archive that count", async () => {
    const { storage, store, retention, midnight, noted, ids, directory, close } = await live();
    const em = storage.orm.em.fork();
    /** Has a receipt of the next day be one of this day that came late, and be counted on it, too. */
    const move = async (at: number) => {
      const { accountId, keyId, model, inputTokens, outputTokens, cost, shortfall } = await em.findOneOrFail(Usage, {
        requestId: ids.at(-1) ?? "",
      });
      const sums = { requests: 1, inputTokens, outputTokens, costHigh: Math.floor(cost / 1e6), costLow: cost % 1e6 };
      const hour = Math.floor(at / 3_600_000);
      const tally = { coreId: v7(), hour, accountId, keyId, model, shortfall, seen: true, unbudgeted: false };
      await em.insert(UsageTally, { ...tally, ...sums });
      await em.execute(
        dialect === "postgresql"
          ? "update usage set settled_at = to_timestamp(? / 1000.0) where request_id = ?"
          : "update usage set settled_at = ? where request_id = ?",
        [at, ids.at(-1) ?? ""],
      );
    };
    let isLate = true;
    const folder = archiveFolder(directory, systemRandom);
    const create = async (name: string) => {
      const file = await folder.create(name);
      const finish = file.finish.bind(file);
      file.finish = async () => {
        if (isLate) {
          isLate = false;
          await move(midnight - 1000);
        }
        return finish();
      };
      return file;
    };
    const late = { place: { ...folder, create } };
    await expect(retention(late).work()).rejects.toThrow("8 receipts of a day are in the books");
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);
    expect(noted).toEqual([]);
    await retention(late).work();
    expect(noted).toEqual([]);
    await store.foldTallies(midnight / 3_600_000);
    await retention(late).work();
    expect(noted).toMatchObject([{ receipts: 8 }]);
    expect(await em.find(DaySeal, {}, { orderBy: { number: "asc" } })).toMatchObject([
      { receipts: 7 },
      { receipts: 8 },
    ]);
    expect(await storage.orm.em.fork().count(Usage)).toBe(2);
    await close();
  });

  test("a charge of a day that has an archive is fenced: its receipt would be nowhere", async () => {
    const { storage, store, account, retention, midnight, settledOn, close } = await live();
    await retention().work();
    const charge = (settledAt: number): Charge => ({
      ...{ requestId: v7(), runId: v7(), accountId: account, keyId: "", model: testModel, settledAt, lines: [] },
      ...{ inputTokens: 1, outputTokens: 1, cost: 0, shortfall: 0, status: "completed" },
    });
    const [late, timely] = [charge(settledOn), charge(midnight)];
    expect(await store.settle([late, timely])).toEqual(["fenced", "stored"]);
    expect(await storage.orm.em.fork().count(Usage, { runId: late.runId })).toBe(0);
    expect(await store.settle([timely])).toEqual(["repeated"]);
    await close();
  });

  if (dialect === "postgresql") {
    test("a charge that is being stored while its day gets its archive is waited for, and counted", async () => {
      const { storage, url, account, retention, midnight, ids, close } = await live();
      const other = new Client({ connectionString: url });
      await other.connect();
      const move = "update usage set settled_at = to_timestamp($1 / 1000.0) where request_id = $2";
      await other.query("begin");
      await other.query(move, [midnight - 1000, ids.at(-1)]);
      await other.query(
        `insert into usage_tally (core_id, hour, account_id, key_id, model, requests, input_tokens, output_tokens, cost_high,
           cost_low, shortfall) values ($1, $2, $3, '', 'm', 1, 0, 0, 0, 0, 0)`,
        [v7(), midnight / 3_600_000 - 1, account],
      );
      const working = retention().work();
      await eventually("the archive waits", async () => {
        const waiting = "select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))";
        const { rows } = await other.query(waiting);
        return rows.length > 0;
      });
      await other.query("commit");
      await expect(working).rejects.toThrow("8 receipts of a day are in the books");
      expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);
      await other.end();
      await close();
    });
  }

  test("a day that is due is archived to the last receipt, then removed; books, sums and budgets say the same", async () => {
    const { storage, store, ledger, ids, budget, clock, midnight, directory, removed, looks, noted, retention, close } =
      await live();
    const before = await usageOf(storage);
    const spent = (await ledger.budgetState(budget)).spent;
    const receipts = (
      await Promise.all(ids.slice(0, 7).map((id) => readReceipts(storage, id, undefined, noArchives)))
    ).flat();
    await prove(storage);
    // The smallest steps: the books are proved after each of them.
    const removeReceipts = async () => {
      const count = await store.removeReceipts(2);
      await prove(storage);
      return count;
    };
    await retention({ store: { removeReceipts } }).work();
    expect(removed).toEqual([2, 2, 2, 1, 0]);
    expect(looks).toEqual([
      [0, dayMs],
      [midnight, 0],
    ]);

    const day = midnight / dayMs - 1;
    const name = `receipts-${new Date(day * dayMs).toISOString().slice(0, 10)}.jsonl.gz`;
    expect(readdirSync(directory)).toEqual([name]);
    const file = readFileSync(join(directory, name));
    const lines = gunzipSync(file).toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      receipts.map((receipt) => toJson(ReceiptSchema, receipt)).toReversed(),
    );
    const sha256 = createHash("sha256").update(file).digest("hex");
    const archive = { day, receipts: 7, file: name, bytes: file.length, sha256 };
    expect(await storage.orm.em.fork().findAll(ReceiptArchive)).toMatchObject([archive]);
    expect(noted).toMatchObject([archive]);

    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    expect(await storage.orm.em.fork().count(UsageLine)).toBe(3);
    expect(await usageOf(storage)).toEqual(before);
    expect((await ledger.budgetState(budget)).spent).toBe(spent);
    await clock.until(
      run(ledger, request(noted.length > 0 ? (receipts[0]?.accountId ?? "") : "", output(5), { budget })),
    );
    await prove(storage);
    await clock.until(close());
    expect(removed).toHaveLength(5);
  }, 240_000);

  /** A receipt as it is told, but for what says that it was archived. */
  const plain = (receipt: Receipt) => toJson(ReceiptSchema, { ...receipt, archived: false });
  const reasonOf = (asked: Promise<unknown>) => asked.then(() => undefined, readDetail);

  test("a receipt that has left is found in its archive, by its id and in lists, and is the same", async () => {
    const { storage, ids, account, clock, midnight, directory, retention, close } = await live();
    const all = { accountId: "", keyId: "", model: "", requestId: "", labelName: "" };
    const listed = async (filter: object, pageSize: number, archives?: ReadReceipts) => {
      const found: Receipt[] = [];
      for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
        const page = await listReceipts(storage, { ...all, ...filter, pageSize, pageToken }, archives);
        found.push(...page.receipts);
        pageToken = page.nextPageToken || undefined;
      }
      return found;
    };
    const before = await listed({}, 1000);
    const keyId = before.find((receipt) => receipt.keyId !== "")?.keyId ?? "";
    const filters = [
      {},
      { accountId: account },
      { keyId },
      { accountId: account, model: testModel },
      { requestId: ids[2] ?? "" },
      { accountId: v7() },
      { model: "none" },
      { labelName: "app", labelValue: 'an "é"' },
      { labelName: "app", labelValue: "", keyId },
      { labelName: "app" },
      { from: before[5]?.settledAt, to: before[1]?.settledAt },
    ].map((filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)));
    const expected = await Promise.all(filters.map((filter) => listed(filter, 1000)));
    expect(expected.slice(0, -1).map(({ length }) => length)).toEqual([10, 10, 7, 10, 1, 0, 0, 3, 5, 10]);
    await retention().work();
    const archives = new ReadReceipts(storage, new ArchiveReader(archiveFolder(directory, systemRandom)));
    for (const [at, filter] of filters.entries()) {
      for (const pageSize of [1, 3, 1000]) {
        expect((await listed(filter, pageSize, archives)).map(plain)).toEqual(expected[at]?.map(plain));
      }
    }
    expect((await listed({}, 1000, archives)).map(({ archived }) => archived)).toEqual([
      ...Array(3).fill(false),
      ...Array(7).fill(true),
    ]);
    for (const receipt of before) {
      const [found] = await readReceipts(storage, receipt.requestId, account, archives);
      expect(found && plain(found)).toEqual(plain(receipt));
      const isOld = Number(receipt.settledAt?.seconds) * 1000 < midnight;
      expect(found?.archived).toBe(isOld);
      const others = readReceipts(storage, receipt.requestId, v7(), archives);
      expect(await reasonOf(others)).toMatchObject({ reason: Reason.RECEIPT_NOT_FOUND });
    }
    for (const unknown of ["my-own-id", newRequestId(systemRandom), "%", "é".repeat(200)]) {
      const asked = readReceipts(storage, unknown, undefined, archives);
      expect(await reasonOf(asked)).toMatchObject({ reason: Reason.RECEIPT_NOT_FOUND });
    }
    await clock.until(close());
  }, 60_000);

  test("a changed archive is named with its day, one that is gone says when it left; parts of its hours are not summed", async () => {
    const { storage, ids, clock, midnight, settledOn, directory, noted, retention, close } = await live();
    await retention().work();
    const [day, archived] = [settledOn, midnight].map((at) => new Date(at).toISOString().slice(0, 10));
    const folder = new ArchiveReader(archiveFolder(directory, systemRandom));
    const archives = new ReadReceipts(storage, folder);
    const read = () => readReceipts(storage, ids[0] ?? "", undefined, archives);
    expect(await read()).toMatchObject([{ archived: true }]);
    expect(await reconcile(storage, undefined, { all: true, archives })).toMatchObject({ ok: true });

    const file = join(directory, noted[0]?.file ?? "");
    const content = readFileSync(file);
    content[100] = Number(content[100]) ^ 1;
    writeFileSync(file, content);
    await expect(read()).rejects.toMatchObject({ code: Code.DataLoss, message: expect.stringContaining(day ?? "") });
    expect(await reasonOf(read())).toMatchObject({ reason: Reason.ARCHIVE_CHANGED });
    const found = await reconcile(storage, undefined, { all: true, archives });
    expect(found.findings).toMatchObject([
      {
        rule: "an archive is the file that was written",
        row: `receipt_archive ${day}`,
        message: "expected the file that was written, found another",
      },
    ]);
    writeFileSync(file, content.subarray(0, 50));
    expect(await reasonOf(read())).toMatchObject({ reason: Reason.ARCHIVE_CHANGED });

    rmSync(file);
    expect(await reconcile(storage, undefined, { all: true, archives })).toMatchObject({
      ok: false,
      findings: [{ row: `receipt_archive ${day}`, message: "expected the file that was written, found none" }],
    });
    await expect(read()).rejects.toThrow(
      `The receipts of ${day} left the books on ${archived}, and their archive is not`,
    );
    expect(await reasonOf(read())).toMatchObject({ reason: Reason.RECEIPT_ARCHIVED, parameter: "request_id" });
    expect(await readReceipts(storage, ids[8] ?? "", undefined, archives)).toHaveLength(1);
    const own = readReceipts(storage, "my-own-id", undefined, archives);
    expect(await reasonOf(own)).toMatchObject({ reason: Reason.RECEIPT_NOT_FOUND });
    const partly = usageOf(storage, { from: timestampFromMs(settledOn) });
    expect(await reasonOf(partly)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "from" });
    const wholly = await usageOf(storage, {
      from: timestampFromMs(midnight - 3_600_000),
      to: timestampFromMs(midnight),
    });
    expect(wholly).toMatchObject([{ requests: 7n }]);
    expect(await usageOf(storage, { from: timestampFromMs(midnight + 1) })).toMatchObject([{ requests: 3n }]);
    await clock.until(close());
  }, 60_000);

  test("a day leaves into a bucket as into a folder, and stays in the books while the bucket is away or has lost it", async () => {
    const { storage, ids, settledOn, noted, retention, clock, close } = await live();
    const [day] = new Date(settledOn).toISOString().split("T");
    const s3 = await startS3("archives");
    const { endpoint, accessKeyId, secretAccessKey } = s3;
    const options = { endpoint, region: "us-east-1", bucket: "archives", prefix: `${dialect}/` };
    const place = archiveBucket({ ...options, accessKeyId, secretAccessKey });
    const stored = () => storage.orm.em.fork().count(Usage);
    await expect(
      retention({ place: archiveBucket({ ...options, accessKeyId, secretAccessKey: "another" }) }).work(),
    ).rejects.toThrow("403 SignatureDoesNotMatch");
    const losing = { ...place, stream: async function* () {} };
    await expect(retention({ place: losing }).work()).rejects.toThrow(`The archive of ${day} is not the one`);
    expect([await stored(), noted]).toEqual([10, []]);

    await retention({ place }).work();
    expect([await stored(), noted.length]).toEqual([3, 1]);
    const archives = new ReadReceipts(storage, new ArchiveReader(place));
    const read = () => readReceipts(storage, ids[0] ?? "", undefined, archives);
    expect(await read()).toMatchObject([{ archived: true }]);
    expect(await reconcile(storage, undefined, { all: true, archives })).toMatchObject({ ok: true });

    const changed = await place.create(noted[0]?.file ?? "");
    await changed.write(Buffer.from("another"));
    await changed.finish();
    expect(await reasonOf(read())).toMatchObject({ reason: Reason.ARCHIVE_CHANGED });
    await s3.stop();
    await expect(read()).rejects.toMatchObject({ code: Code.Unavailable, message: expect.stringContaining(day ?? "") });
    await clock.until(close());
  }, 60_000);

  test("work that ends anywhere is taken up where it was; a disk that fails loses nothing", async () => {
    const { storage, store, clock, settledOn, directory, removed, retention, close } = await live();
    const file = join(directory, "a file");
    writeFileSync(file, "");
    await expect(retention({ place: archiveFolder(file, systemRandom) }).work()).rejects.toThrow();
    // What a process that was killed in the middle of a file has left; the second is of another day, and not this one's.
    const name = `receipts-${new Date(settledOn).toISOString().slice(0, 10)}.jsonl.gz`;
    const others = "receipts-2000-01-01.jsonl.gz.part";
    for (const part of [`${name}.${v7()}.part`, others]) {
      writeFileSync(join(directory, part), "");
    }
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);

    const lostStore = { removeReceipts: () => Promise.reject(new Error("killed")) };
    await expect(retention({ store: lostStore }).work()).rejects.toThrow("killed");
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    await prove(storage);

    const loseReply = async () => {
      await store.removeReceipts(3);
      throw new Error("the reply is lost");
    };
    await expect(retention({ store: { removeReceipts: loseReply } }).work()).rejects.toThrow("the reply is lost");
    await prove(storage);
    await retention().work();
    expect(removed).toEqual([4, 0]);
    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    expect(readdirSync(directory).toSorted()).toEqual(["a file", others, name].toSorted());
    await prove(storage);
    await clock.until(close());
  }, 60_000);

  test("two cores at once archive a day once; the proof finds one that has not all receipts, and a cost that was taken for one", async () => {
    const { storage, clock, noted, directory, retention, close } = await live();
    const works = await Promise.allSettled([retention().work(), retention().work()]);
    expect(works.some(({ status }) => status === "fulfilled")).toBe(true);
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(1);
    expect(noted).toHaveLength(1);
    expect(readdirSync(directory)).toEqual([noted[0]?.file]);
    const file = readFileSync(join(directory, noted[0]?.file ?? ""));
    expect(createHash("sha256").update(file).digest("hex")).toBe(noted[0]?.sha256);
    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    await prove(storage);
    const em = storage.orm.em.fork();
    for (const [rule, sql] of [
      ["the archive of a day", "update receipt_archive set receipts = receipts - 1"],
      ["the archive of a day", "update receipt_archive set cost_low = cost_low - 1"],
      ["slice has spent what its receipt", "update sealed_slice set cost = cost - 1"],
    ] as const) {
      await em.execute(sql);
      const { findings } = await reconcile(storage);
      expect(findings.map((finding) => finding.rule).join()).toContain(rule);
      await em.execute(sql.replace("- 1", "+ 1"));
    }
    await prove(storage);
    await clock.until(close());
  }, 60_000);

  test("a journal that is older than the receipts charges nothing twice; what an operator settles of it is of today", async () => {
    const { url, setTime, storage, ledger, account, budget, ids, clock, midnight, retention, close } = await live();
    const stored = await storage.orm.em.fork().findAll(Usage, { orderBy: { settledAt: "asc" } });
    await retention().work();
    const spent = (await ledger.budgetState(budget)).spent;
    await clock.until(close());
    await setTime(midnight + 3 * dayMs);
    const later = new ManualClock(midnight + 3 * dayMs);

    const charge = ({ requestId, runId, keyId, settledAt, outputTokens, budgetSliceId }: Usage): Charge => ({
      ...{ requestId, runId, accountId: account, keyId, model: testModel, status: "completed", lines: [] },
      ...{ inputTokens: 10, outputTokens, cost: 0, shortfall: 0, settledAt: settledAt.getTime() },
      ...(budgetSliceId != null && { budgetSliceId }),
    });
    const note = ({ settledAt, status, cost, shortfall, lines, inputTokens, outputTokens, ...run }: Charge) => ({
      ...run,
      tokens: { inputTokens, outputTokens },
    });
    const [promised, noted, rest, old] = stored.slice(0, 4).map(charge) as [Charge, Charge, Charge, Charge];
    const restRun = rest.runId.replace(/-7/, "-8");
    const strange = { ...note(old), requestId: "my-own-id", runId: "b3b7c1c5-5a3c-4a0e-9d0b-5d3f5f0f6f11" };
    const young = { ...note(old), requestId: v7(), runId: v7({ msecs: midnight + 2 * dayMs }) };
    const known = stored.slice(7).map(charge);
    const left = new Set<string>();
    const journal: Journal = {
      ...noJournal,
      read: async () => ({
        epoch: 0,
        charges: [promised, { ...rest, runId: restRun }, ...known],
        running: [note(noted), strange, young],
      }),
      forget: (run) => void left.add(run.runId),
    };
    const opened = await openMetering({ clock: later, url, journal });
    const usage = () => opened.storage.orm.em.fork().findAll(Usage, { orderBy: { settledAt: "asc" } });
    expect((await usage()).map(({ requestId }) => requestId)).toEqual([...ids.slice(7), young.requestId]);
    const letters = await opened.deadLetters.list({ after: undefined, limit: 100 });
    const aged = [promised.runId, restRun, noted.runId, strange.runId].toSorted();
    expect(letters.map(({ id }) => id).toSorted()).toEqual(aged);
    expect(new Set(letters.map(({ reason }) => reason))).toEqual(new Set([agedReason]));
    expect(left).toEqual(new Set([...aged, ...known.map(({ runId }) => runId), young.runId]));
    await prove(opened.storage);

    expect(promised.budgetSliceId).toBeDefined();
    await later.until(opened.ledger.settleLate(promised));
    const settled = (await usage()).find(({ runId }) => runId === promised.runId);
    expect(settled?.settledAt.getTime()).toBeGreaterThanOrEqual(midnight);
    expect(settled?.budgetSliceId).toBeNull();
    await opened.store.recountBudget(toWindowRequest(budget.id, windowAt("total", midnight)));
    expect((await opened.ledger.budgetState(budget)).spent).toBe(spent + BigInt(settled?.cost ?? 0));
    await prove(opened.storage);
    await later.until(opened.close());
  }, 60_000);

  test("nothing leaves before its usage is summed up, nor what is not due, and what leaves is found by indexes", async () => {
    const { storage, account, clock, retention, midnight, close } = await live();
    await retention({ keepDays: 1 }).work();
    const tally = {
      coreId: v7(),
      hour: midnight / 3_600_000 - 1,
      accountId: account,
      keyId: "",
      model: "late",
      seen: false,
    };
    const none = { requests: 0, inputTokens: 0, outputTokens: 0, costHigh: 0, costLow: 0, shortfall: 0 };
    await storage.orm.em.fork().insert(UsageTally, { ...tally, ...none });
    await retention().work();
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    const plans: string[] = [];
    if (storage.dialect === "sqlite") {
      for (const sql of removalStatements) {
        const values = Array(sql.split("?").length - 1).fill(1);
        const steps = explainSqlite(storage, sql, values);
        plans.push(steps.map(({ detail }) => detail).join("\n"));
      }
    } else {
      const client = await storage.pool.connect();
      const allRuns = [NIL, NIL];
      await client.query(removeReceiptsSql.text, [1, ...allRuns]);
      expect((await client.query("show synchronous_commit")).rows).toEqual([{ synchronous_commit: "on" }]);
      await client.query("begin");
      await client.query(
        "set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off",
      );
      const { rows } = await client.query(`explain ${removeReceiptsSql.text}`, [100, ...allRuns]);
      await client.query("rollback");
      client.release();
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    expect(plans.filter((plan) => /SCAN usage|Seq Scan on usage|TEMP B-TREE/.test(plan))).toEqual([]);
    await clock.until(close());
  }, 60_000);
});
