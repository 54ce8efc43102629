import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import { principalOf } from "../interceptors/access/principal.ts";
import type { Storage } from "../storage/orm.ts";
import { readReceipts } from "./books/receipts.ts";
import { streamUsage } from "./books/usage.ts";

/** Dependencies. */
export interface MeteringDependencies {
  readonly storage: Storage;
}

/** Limits, receipts and usage. */
export function createMeteringService({ storage }: MeteringDependencies): ServiceImpl<typeof MeteringService> {
  return {
    async countRequest() {
      return {}; // the rate limit's interceptor has counted it
    },

    async getReceipt({ requestId, accountId }, context) {
      const only = onlyAccountOf(context);
      if (only !== undefined && accountId !== "" && accountId !== only) {
        throw failure(Reason.PERMISSION_DENIED, "A key sees the receipts of its own account alone.");
      }
      const [receipt, ...furtherRuns] = await readReceipts(storage, requestId, only ?? (accountId || undefined));
      return { ...(receipt && { receipt }), furtherRuns };
    },

    async *streamUsage(request, context) {
      const only = onlyAccountOf(context);
      if (only !== undefined && request.accountId !== "" && request.accountId !== only) {
        throw failure(Reason.PERMISSION_DENIED, "A key sees the usage of its own account alone.");
      }
      const visible = { ...request, accountId: only ?? request.accountId };
      for await (const rows of streamUsage(storage, visible)) {
        yield { rows };
      }
    },
  };
}

/** The only account that may be seen. Undefined: the operator sees all. */
function onlyAccountOf(context: Pick<HandlerContext, "values">): string | undefined {
  const principal = principalOf(context);
  return principal.kind === "caller" ? principal.accountId : undefined;
}
