import { BoundedMap } from "#lib/overload/bounded-map.ts";
import { DaySeal, SealedAccount } from "#src/storage/entities/metering/seal.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inSnapshot } from "../proof/breaches.ts";
import { readSealedDays } from "../proof/scope.ts";
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
  return new Map(days.filter(({ isWhole }) => isWhole).map(({ day, number }) => [day, number]));
}

/** Accounts of a part of a day's tree, a power of two. */
const partSize = 1024;
/** Days whose parts are kept. A million accounts a day take 100 KB of a day. */
const keptDays = 100;

/** A part of a day's tree. */
interface Part {
  /** The least id of its accounts. */
  readonly first: string;
  readonly root: Buffer;
}

/**
 * Proves days for one account after the other. A seal never changes, so that the accounts of a day are read once; from
 * then on only those that are near.
 */
export class DayProofs {
  readonly #storage: Storage;
  /** By the seal's id. The least recently used are forgotten first. */
  readonly #parts = new BoundedMap<string, Promise<Part[]>>(keptDays);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The proof that the account's receipts are those below the root of the seal with a number. */
  async prove(number: number, accountId: string): Promise<DayProof> {
    const em = this.#storage.orm.em.fork();
    const seal = await em.findOneOrFail(DaySeal, number);
    const last = await em.findOne(DaySeal, number - 1);
    const { id: sealId, chain, root } = seal;
    const told = { number, before: last?.chain ?? "", chain, root, sums: digestSums(seal) };
    const account = await em.findOne(SealedAccount, { sealId, accountId });
    return account === null
      ? told
      : { ...told, account: { seal: account, path: await this.#findPath(sealId, accountId) } };
  }

  async #findPath(sealId: string, accountId: string): Promise<Step[]> {
    const parts = await this.#partsOf(sealId);
    const at = parts.findLastIndex(({ first }) => first <= accountId);
    const near = new DayTree();
    const where = { sealId, accountId: { $gte: parts[at]?.first ?? accountId } };
    const em = this.#storage.orm.em.fork();
    for (const one of await em.find(SealedAccount, where, { orderBy: { accountId: "asc" }, limit: partSize })) {
      near.add(one, one.accountId === accountId);
    }
    near.finish();
    const whole = new DayTree();
    for (const [index, { root }] of parts.entries()) {
      whole.addNode(root, index === at);
    }
    whole.finish();
    return [...near.path, ...whole.path];
  }

  #partsOf(sealId: string): Promise<Part[]> {
    const parts = this.#parts.get(sealId) ?? this.#read(sealId);
    this.#parts.set(sealId, parts);
    parts.catch(() => this.#parts.delete(sealId));
    return parts;
  }

  async #read(sealId: string): Promise<Part[]> {
    const parts: Part[] = [];
    let open: { first: string; tree: DayTree; size: number } | undefined;
    const close = () => {
      if (open !== undefined) {
        parts.push({ first: open.first, root: Buffer.from(open.tree.finish(), "hex") });
        open = undefined;
      }
    };
    const snapshot = await this.#storage.snapshot();
    try {
      const sql = "select * from sealed_account where seal_id = ? order by account_id";
      for await (const rows of snapshot.rows(sql, [sealId])) {
        for (const one of rows.map((row) => readEntity(SealedAccount, row))) {
          open ??= { first: one.accountId, tree: new DayTree(), size: 0 };
          open.tree.add(one);
          open.size++;
          if (open.size === partSize) {
            close();
          }
        }
      }
    } finally {
      await snapshot.close();
    }
    close();
    return parts;
  }
}
