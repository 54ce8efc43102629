import type { Interceptor } from "@connectrpc/connect";
import type { CoreLedger } from "../metering/ledger/core-ledger.ts";

/** The packages whose services read what the ledger has stored. */
const readers = ["tollgate.accounts.", "tollgate.metering."];

/**
 * Has the store catch up with the journal before anybody reads it, so that who was told of a charge finds it: the journal
 * may have acknowledged charges that are stored a tenth of a second later. Costs nothing when none wait.
 */
export function catchUp(ledger: Pick<CoreLedger, "caughtUp">): Interceptor {
  return (next) => async (request) => {
    if (readers.some((name) => request.service.typeName.startsWith(name))) {
      await ledger.caughtUp();
    }
    return next(request);
  };
}
