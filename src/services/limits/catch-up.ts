import { type DescMethod, getOption } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { shows_charges } from "#gen/tollgate/metering/v1/consistency_pb.js";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";

/**
 * Waits until the store has caught up with the journal, before a method whose `tollgate.metering.v1.shows_charges`
 * option is set. So a client that was told of a charge finds it: the store may take a charge a tenth of a second after
 * the journal acknowledged it. Costs nothing when no charge waits.
 */
export function catchUp(ledger: Pick<CoreLedger, "caughtUp">): Interceptor {
  const shown = new Map<DescMethod, boolean>();
  const showsCharges = (method: DescMethod): boolean => {
    let shows = shown.get(method);
    if (shows === undefined) {
      shows = getOption(method, shows_charges);
      shown.set(method, shows);
    }
    return shows;
  };
  return (next) => (request) =>
    showsCharges(request.method) ? ledger.caughtUp().then(() => next(request)) : next(request);
}
