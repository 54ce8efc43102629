import { type DescMethod, getOption } from "@bufbuild/protobuf";
import type { Interceptor, UnaryRequest } from "@connectrpc/connect";
import { shows_charges } from "#gen/tollgate/metering/v1/consistency_pb.js";
import type { CoreLedger } from "../metering/ledger/core-ledger.ts";
import { principalKey } from "./access/principal.ts";

/** The account of a caller, who sees no other. Undefined: an operator, who may see all. */
function readAccount({ contextValues }: Pick<UnaryRequest, "contextValues">): string | undefined {
  const principal = contextValues.get(principalKey);
  return principal?.kind === "caller" ? principal.accountId : undefined;
}

/**
 * Has the store catch up with the journal before a method whose `tollgate.metering.v1.shows_charges` option says so, so
 * that who was told of a charge finds it: the journal may have acknowledged charges that are stored a tenth of a second
 * later. Costs nothing when none wait.
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
    showsCharges(request.method) ? ledger.caughtUp(readAccount(request)).then(() => next(request)) : next(request);
}
