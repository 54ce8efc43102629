import { BoundedMap } from "#lib/overload/bounded-map.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { OwnTerms } from "../model/prices/own-prices.ts";

/** Own prices are read again after this long. */
const freshMs = 10_000;
/** An answer that takes longer comes to the next question. */
const mostWaitMs = 250;
const mostAccounts = 10_000;

interface Kept {
  readonly at: number;
  readonly terms: OwnTerms | undefined;
}

/**
 * Reads accounts' own prices for lists that are asked for often and have to answer without the database, too: then with
 * what was known last.
 */
export function keepOwnPrices(
  clock: Clock,
  read: (accountId: string) => Promise<OwnTerms | undefined>,
): (accountId: string) => Promise<OwnTerms | undefined> {
  const kept = new BoundedMap<string, Kept>(mostAccounts);
  return async (accountId) => {
    const known = kept.get(accountId);
    if (known !== undefined && clock.monotonic() - known.at < freshMs) {
      return known.terms;
    }
    const keepUnlessLate = (terms: OwnTerms | undefined) => {
      if (kept.get(accountId) === known) {
        kept.set(accountId, { at: clock.monotonic(), terms });
      }
    };
    const reading = read(accountId).then(keepUnlessLate, () => keepUnlessLate(known?.terms));
    await new Promise<void>((resolve) => {
      const stop = clock.after(mostWaitMs, resolve);
      void reading.then(() => {
        stop();
        resolve();
      });
    });
    return kept.get(accountId)?.terms;
  };
}
