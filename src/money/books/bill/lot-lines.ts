import { type LotEntry, lotEntry } from "./lines.ts";
import type { LotBalances } from "./lot-balances.ts";
import type { LotTerms, TermedMovement } from "./lot-terms.ts";
import type { Movement } from "./movements.ts";

/** The most lots of a line. */
const pageSize = 100;

/** Reads the terms of lots, by their ids. */
export type ReadTerms = (lotIds: readonly string[]) => Promise<ReadonlyMap<string, LotTerms>>;

/**
 * What each credit has, in as many lines as it takes: `head` makes the other fields of the first, the last or another line.
 */
export async function* lotLines(
  lots: LotBalances,
  readTerms: ReadTerms,
  head: (page: { readonly isFirst: boolean; readonly isLast: boolean; readonly lots: number }) => object,
): AsyncGenerator<string> {
  const all = lots.list();
  let at = 0;
  do {
    const page = all.slice(at, at + pageSize);
    const terms = await readTerms(page.flatMap(([lotId]) => lotId || []));
    const entries: LotEntry[] = page.map(([lotId, balance]) => lotEntry(lotId, balance, terms.get(lotId)));
    const isLast = at + pageSize >= all.length;
    yield JSON.stringify({ ...head({ isFirst: at === 0, isLast, lots: all.length }), lots: entries });
    at += pageSize;
  } while (at < all.length);
}

/** Adds to movements the terms of the credits that they brought. */
export async function* withTerms(
  movements: AsyncIterable<Movement>,
  readTerms: ReadTerms,
): AsyncGenerator<TermedMovement> {
  let page: Movement[] = [];
  const finish = async () => {
    const came = page.filter(({ kind }) => kind === "topup" || kind === "grant");
    const terms = await readTerms(came.map(({ lotId }) => lotId));
    const isNew = new Set<Movement>(came);
    return page.map((one) => ({ ...one, terms: isNew.has(one) ? terms.get(one.lotId) : undefined }));
  };
  for await (const movement of movements) {
    page.push(movement);
    if (page.length === pageSize) {
      yield* await finish();
      page = [];
    }
  }
  yield* await finish();
}
