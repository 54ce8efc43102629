import type { ServiceImpl } from "@connectrpc/connect";
import type { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import type { Storage } from "#src/storage/orm.ts";
import { visibleAccount } from "#src/wire/interceptors/access/principal.ts";

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
      const visible = visibleAccount(context, accountId) || undefined;
      const [receipt, ...furtherRuns] = await readReceipts(storage, requestId, visible);
      return { ...(receipt && { receipt }), furtherRuns };
    },

    async listReceipts(request, context) {
      const accountId = visibleAccount(context, request.accountId);
      return listReceipts(storage, { ...request, accountId });
    },

    async *streamUsage(request, context) {
      const visible = { ...request, accountId: visibleAccount(context, request.accountId) };
      for await (const rows of streamUsage(storage, visible)) {
        if (rows.length > 0) {
          yield { rows };
        }
      }
    },
  };
}
