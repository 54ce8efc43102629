import type { ServiceImpl } from "@connectrpc/connect";
import type { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Clock } from "#lib/time/clock.ts";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import type { Storage } from "#src/storage/orm.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import { listRequests } from "./requests/request-list.ts";
import { SnapshotReaders } from "./snapshot-readers.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "after">;
}

/** Limits, receipts and usage. */
export function createMeteringService({ storage, clock }: Dependencies): ServiceImpl<typeof MeteringService> {
  const readers = new SnapshotReaders(clock);
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

    async listRequests(request, context) {
      const accountId = visibleAccount(context, request.accountId);
      return listRequests(storage, { ...request, accountId });
    },

    async *streamUsage(request, context) {
      const visible = { ...request, accountId: visibleAccount(context, request.accountId) };
      const payer = readPrincipal(context);
      const account = payer.kind === "caller" ? payer.accountId : undefined;
      for await (const rows of readers.read(account, context.signal, () => streamUsage(storage, visible))) {
        if (rows.length > 0) {
          yield { rows };
        }
      }
    },
  };
}
