import type { SqlEntityManager } from "@mikro-orm/sql";
import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { DaySeal, SealedAccount, SealedSlice } from "#src/storage/entities/metering/seal.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { addBreaches, inSnapshot } from "../proof/breaches.ts";
import type { Rule } from "../proof/rules/reconcile-rules.ts";
import { rulesOf } from "../proof/rules/rules.ts";
import { only, type TimeSpan } from "../proof/scope.ts";
import { cutDay, cutHoursOf, readHours } from "./cut-day.ts";
import { ReceiptDigests } from "./digest-receipts.ts";
import { type AccountSeal, digestDay, extendChain } from "./seal-tree.ts";

/** Rows stored at once, few enough that nothing waits for them. */
const batchSize = 200;
export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Pick<Random, "uuid">;
  /** Leaves time to other work. Throws when the work is over. */
  readonly pace: () => Promise<void>;
}

/** A day that was sealed, or the rows for which it was not. */
export type Sealing = { readonly seal: DaySeal } | { readonly findings: readonly ReconcileFinding[] };

/**
 * Proves the receipts of a day and the sums of its usage, and seals what they are. Each step reads few enough receipts to keep its snapshot for
 * seconds only. Receipts that come meanwhile make the seal one that is not whole, and the day is sealed anew.
 */
export async function sealDay(dependencies: Dependencies, day: number): Promise<Sealing> {
  const { storage, pace } = dependencies;
  const digests = new ReceiptDigests();
  const requests = await readHours(storage, day);
  for (const within of cutDay(day, requests)) {
    const findings = await inSnapshot(storage, async (snapshot) => {
      const broken = await findBroken(snapshot, storage, "receipts", within);
      await digests.add(snapshot, storage.dialect, within, pace);
      return broken;
    });
    if (findings.length > 0) {
      return { findings };
    }
  }
  for (const hour of cutHoursOf(day, requests)) {
    const findings = await inSnapshot(storage, (snapshot) => findBroken(snapshot, storage, "hours", hour));
    if (findings.length > 0) {
      return { findings };
    }
    await pace();
  }
  const whole = { from: day * dayMs, to: (day + 1) * dayMs };
  const findings = await inSnapshot(storage, (snapshot) => findBroken(snapshot, storage, "sums", whole));
  return findings.length > 0 ? { findings } : { seal: await store(dependencies, day, digests) };
}

/** The rows of a span that break one of the rules for such parts of a day. */
async function findBroken(
  snapshot: Snapshot,
  { dialect }: Storage,
  ofDay: NonNullable<Rule["ofDay"]>,
  within: TimeSpan,
): Promise<ReconcileFinding[]> {
  const findings: ReconcileFinding[] = [];
  const rules = rulesOf(dialect).filter((one) => one.ofDay === ofDay);
  await addBreaches(snapshot, rules, { scope: only(within), dialect }, findings);
  return findings;
}

/** Stores the sums first, in small steps, then the seal that makes them count. */
async function store(
  { storage, clock, random, pace }: Dependencies,
  day: number,
  digests: ReceiptDigests,
): Promise<DaySeal> {
  const id = random.uuid();
  const accounts = digests.finish();
  const accountRows = accounts.map((account) => ({ ...account, sealId: id }));
  const sliceRows = Array.from(digests.slices, ([sliceId, cost]) => ({ sealId: id, sliceId, cost: Number(cost) }));
  for (const rows of batches(accountRows)) {
    await inTransaction(storage, (em) => em.insertMany(SealedAccount, rows));
    await pace();
  }
  for (const rows of batches(sliceRows)) {
    await inTransaction(storage, (em) => em.insertMany(SealedSlice, rows));
    await pace();
  }
  return inTransaction(storage, async (em) => {
    if (storage.dialect === "postgresql") {
      await em.execute("lock table day_seal in share row exclusive mode"); // the chain has one end
      await demandSums(em, id, accountRows.length + sliceRows.length);
    }
    const [last] = await em.find(DaySeal, {}, { orderBy: { number: "desc" }, limit: 1 });
    const number = (last?.number ?? 0) + 1;
    const sealed = { ...sumUp(accounts), id, number, day, root: digestDay(accounts) };
    const chain = extendChain(last?.chain ?? "", sealed);
    const seal: DaySeal = { ...sealed, chain, at: new Date(clock.now()) };
    await em.insert(DaySeal, seal);
    return seal;
  });
}

/** Throws when a failover into the past has lost sums since they were stored: the seal would name what is not there. */
async function demandSums(em: SqlEntityManager, sealId: string, stored: number): Promise<void> {
  const found = (await em.count(SealedAccount, { sealId })) + (await em.count(SealedSlice, { sealId }));
  if (found !== stored) {
    throw new Error(`the database has lost ${stored - found} sums of a seal: the day is sealed the next time`);
  }
}

function sumUp(accounts: readonly AccountSeal[]) {
  const sum = (name: "receipts" | "costHigh" | "costLow") => accounts.reduce((all, one) => all + one[name], 0);
  return { receipts: sum("receipts"), costHigh: sum("costHigh"), costLow: sum("costLow") };
}

function* batches<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let at = 0; at < rows.length; at += batchSize) {
    yield rows.slice(at, at + batchSize);
  }
}
