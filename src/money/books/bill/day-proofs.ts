import { DaySeal, SealedAccount } from "#src/storage/entities/metering/seal.ts";
import type { Storage } from "#src/storage/orm.ts";
import { readEntity } from "#src/storage/read-entity.ts";
import { inSnapshot } from "../proof/breaches.ts";
import { isWhole, readSealedDays } from "../proof/scope.ts";
import { type AccountSeal, DayTree, digestSums, type Step } from "../seals/seal-tree.ts";

/** The seal of a day, and how an account's receipts lead to its root. */
export interface DayProof {
  readonly number: number;
  /** The chain before this seal, and with it. */
  readonly before: string;
  readonly chain: string;
  readonly root: string;
  readonly sums: string;
  /** Absent: the account has no receipts of that day. */
  readonly account?: { readonly seal: AccountSeal; readonly path: readonly Step[] };
}

/** The numbers of the seals that have all receipts of their days, by day. */
export async function readSealNumbers(storage: Storage): Promise<ReadonlyMap<number, number>> {
  const days = await inSnapshot(storage, readSealedDays);
  return new Map(days.filter(isWhole).map(({ day, number }) => [day, number]));
}

/** Reads the accounts of a day one after the other, and keeps only what leads to the root. */
export async function proveDay(storage: Storage, number: number, accountId: string): Promise<DayProof> {
  const em = storage.orm.em.fork();
  const seal = await em.findOneOrFail(DaySeal, number);
  const last = await em.findOne(DaySeal, number - 1);
  const { chain, root } = seal;
  const told = { number, before: last?.chain ?? "", chain, root, sums: digestSums(seal) };
  const account = await em.findOne(SealedAccount, { sealId: seal.id, accountId });
  if (account === null) {
    return told;
  }
  const tree = new DayTree();
  const snapshot = await storage.snapshot();
  try {
    const sql = "select * from sealed_account where seal_id = ? order by account_id";
    for await (const rows of snapshot.rows(sql, [seal.id])) {
      for (const one of rows.map((row) => readEntity(SealedAccount, row))) {
        tree.add(one, one.accountId === accountId);
      }
    }
  } finally {
    await snapshot.close();
  }
  tree.finish();
  return { ...told, account: { seal: account, path: tree.path } };
}
