import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { DaySeal, SealedAccount } from "#src/storage/entities/metering/seal.ts";
import type { LongRead } from "#src/storage/reads/long-read.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { cutDay, readHours } from "../seals/cut-day.ts";
import { ReceiptDigests } from "../seals/digest-receipts.ts";
import { digestDay, extendChain } from "../seals/seal-tree.ts";
import { finding, inSnapshot, mostFindings } from "./breaches.ts";
import { readSealedDays, type SealedDay } from "./scope.ts";

const chainRule = "a seal is the next one of its chain";
const countRule = "a day has all receipts that were sealed";

/** Adds the seals that are not as they were made, and those of more receipts than their days have now. */
export async function addBrokenSeals(snapshot: Snapshot, findings: ReconcileFinding[]): Promise<void> {
  let [number, chain] = [0, ""];
  const add = (...parts: Parameters<typeof finding>) => {
    if (findings.length < mostFindings) {
      findings.push(finding(...parts));
    }
  };
  for await (const rows of snapshot.rows("select * from day_seal order by number")) {
    for (const seal of rows.map((row) => readEntity(DaySeal, row))) {
      const expected = extendChain(chain, seal);
      if (seal.number !== number + 1 || seal.chain !== expected) {
        add(
          chainRule,
          `day_seal ${seal.number}`,
          `expected ${number + 1} ${expected}, found ${seal.number} ${seal.chain}`,
        );
      }
      [number, chain] = [seal.number, seal.chain];
    }
  }
  for (const { day, receipts, counted } of (await readSealedDays(snapshot)).filter(lacksReceipts)) {
    add(countRule, `day_seal of day ${day}`, `expected ${receipts}, found ${counted}`);
  }
}

/** Charges that come late make more of them, and nothing makes fewer. */
export const lacksReceipts = ({ receipts, counted, isMoving, isGone }: SealedDay): boolean =>
  !isGone && !isMoving && counted < receipts;

/** Adds the sealed days whose receipts, as they are stored, or whose accounts have other digests than their seals. */
export async function addDifferences(
  storage: Storage,
  reading: LongRead,
  { rule, pace }: { readonly rule: string; readonly pace: () => Promise<void> },
  findings: ReconcileFinding[],
): Promise<void> {
  const read: typeof inSnapshot = (from, part) => reading.attempt(() => inSnapshot(from, part));
  for (const sealed of await read(reading, readSealedDays)) {
    if (findings.length >= mostFindings) {
      return;
    }
    await pace();
    const stored = digestDay(await read(reading, (snapshot) => readAccounts(snapshot, sealed.id)));
    const found =
      stored === sealed.root && sealed.isWhole && !sealed.isGone
        ? await reading.attempt(() => digest(storage, reading, sealed.day))
        : stored;
    if (found !== sealed.root && !(await isLate(storage, sealed))) {
      findings.push(finding(rule, `day_seal ${sealed.number}`, `expected ${sealed.root}, found ${found}`));
    }
  }
}

/** The root of a day's receipts as they are stored. */
async function digest(storage: Storage, reading: LongRead, day: number): Promise<string> {
  const digests = new ReceiptDigests();
  for (const within of cutDay(day, await readHours(storage, day))) {
    await inSnapshot(reading, (snapshot) => digests.add(snapshot, storage.dialect, within, async () => {}));
  }
  return digestDay(digests.finish());
}

/** Whether charges of a day, or another seal, came since its seal was read. */
async function isLate(storage: Storage, { day, id }: SealedDay): Promise<boolean> {
  const now = (await inSnapshot(storage, readSealedDays)).find((one) => one.day === day);
  return now === undefined || now.id !== id || now.isMoving || now.counted > now.receipts;
}

async function readAccounts(snapshot: Pick<Snapshot, "rows">, sealId: string): Promise<SealedAccount[]> {
  const accounts: SealedAccount[] = [];
  const sql = "select * from sealed_account where seal_id = ? order by account_id";
  for await (const rows of snapshot.rows(sql, [sealId])) {
    accounts.push(...rows.map((row) => readEntity(SealedAccount, row)));
  }
  return accounts;
}
