import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Receipt, ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { dialects } from "../databases.ts";
import { request, run, testModel } from "../fixture.ts";
import { settledDays, usageOf } from "./settled-days.ts";

const live = settledDays();

describe.each(dialects)("%s", (dialect) => {
  /** A receipt as it is told, but for what says that it was archived. */
  const plain = (receipt: Receipt) => toJson(ReceiptSchema, { ...receipt, archived: false });
  const reasonOf = (asked: Promise<unknown>) => asked.then(() => undefined, readDetail);

  test("a receipt that has left is found in its archive, by its id and in lists, and is the same", async () => {
    const { storage, ids, account, clock, midnight, directory, retention, close } = await live(dialect);
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

  test("a request with an id of its client's own is looked for on the days alone on which its account used anything", async () => {
    const { storage, account, directory, clock, retention, close } = await live(dialect);
    await retention().work();
    const folder = archiveFolder(directory, systemRandom);
    const opened: string[] = [];
    const place = {
      ...folder,
      open: (name: string) => {
        opened.push(name);
        return folder.open(name);
      },
    };
    const archives = new ReadReceipts(storage, new ArchiveReader(place));
    const looks = async (accountId: string | undefined) => {
      const asked = readReceipts(storage, "my-own-id", accountId, archives);
      expect(await reasonOf(asked)).toMatchObject({ reason: Reason.RECEIPT_NOT_FOUND });
      return opened.splice(0).length;
    };
    expect([await looks(v7()), await looks(account), await looks(undefined)]).toEqual([0, 1, 1]);
    await clock.until(close());
  }, 60_000);

  test("a changed archive is named with its day, one that is gone says when it left; parts of its hours are not summed", async () => {
    const { storage, ids, clock, midnight, settledOn, directory, noted, retention, close } = await live(dialect);
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
    const all = { accountId: "", keyId: "", model: "", requestId: "", labelName: "", pageSize: 100 };
    const { receipts, nextPageToken } = await listReceipts(storage, { ...all, pageToken: "" }, archives);
    expect(receipts.map(({ archived }) => archived)).toEqual([false, false, false]);
    const rest = () => listReceipts(storage, { ...all, pageToken: nextPageToken }, archives);
    expect(await reasonOf(rest())).toMatchObject({ reason: Reason.RECEIPT_ARCHIVED });
    await expect(rest()).rejects.toThrow(new RegExp(`The receipts of ${day}.* can be read: bound the list`));
    const around = { from: timestampFromMs(midnight), pageToken: "" };
    expect(await listReceipts(storage, { ...all, ...around }, archives)).toMatchObject({ nextPageToken: "" });
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

  test("a request is found whatever other archives are lost; one that only a lost archive may have is not told to be none", async () => {
    const { storage, store, ledger, ids, account, clock, midnight, directory, noted, retention, close } =
      await live(dialect);
    const own = "my-own-id";
    const late = `req_${v7({ msecs: midnight - 5 * dayMs }).replaceAll("-", "")}`; // of a core that was away for days
    const early = `req_${v7({ msecs: midnight + 5 * dayMs }).replaceAll("-", "")}`;
    for (const requestId of [own, late, early]) {
      await clock.until(run(ledger, request(account, { inputTokens: 10, outputTokens: 100 }, { requestId })));
    }
    await retention().work();
    await store.markSeen(await store.unseenTallies(100));
    await store.foldTallies(midnight / 3_600_000 + 24);
    const nextDay = { ...systemClock, now: () => midnight + dayMs + 3_600_000, monotonic: () => 0, agrees: true };
    await retention({ clock: nextDay }).work();
    const [older = "", newer = ""] = noted.map(({ file }) => join(directory, file));
    /** What both doors say of a request: the receipt's id, or the reason for which there is none. */
    const ask = async (requestId: string, accountId: string) => {
      const archives = new ReadReceipts(storage, new ArchiveReader(archiveFolder(directory, systemRandom)));
      const all = { keyId: "", model: "", labelName: "", pageSize: 100, pageToken: "" };
      const told = (asked: Promise<readonly Receipt[]>) =>
        asked.then(
          ([first]) => first?.requestId ?? Reason.RECEIPT_NOT_FOUND,
          (error) => readDetail(error)?.reason,
        );
      return Promise.all([
        told(readReceipts(storage, requestId, accountId || undefined, archives)),
        told(listReceipts(storage, { ...all, requestId, accountId }, archives).then(({ receipts }) => receipts)),
      ]);
    };
    for (const accountId of [account, ""]) {
      for (const id of [own, late, early, ids[0] ?? ""]) {
        expect(await ask(id, accountId)).toEqual([id, id]);
      }
      const { RECEIPT_ARCHIVED: gone, ARCHIVE_CHANGED: changed, RECEIPT_NOT_FOUND: none } = Reason;
      for (const [lost, kept, id] of [
        [older, ids[0] ?? "", own],
        [newer, own, ids[0] ?? ""],
      ] as const) {
        const content = readFileSync(lost);
        rmSync(lost);
        expect(await ask(id, accountId)).toEqual([id, id]);
        expect(await ask(kept, accountId)).toEqual([gone, gone]);
        expect(await ask("another-id", accountId)).toEqual([gone, gone]);
        writeFileSync(lost, "another");
        expect(await ask(id, accountId)).toEqual([id, id]);
        expect(await ask("another-id", accountId)).toEqual([changed, changed]);
        writeFileSync(lost, content);
      }
      expect(await ask("another-id", accountId)).toEqual([none, none]);
      expect(await ask(own, v7())).toEqual([none, none]);
    }
    await clock.until(close());
  }, 60_000);
});
