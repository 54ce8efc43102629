import type { ServiceImpl } from "@connectrpc/connect";
import type { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { visibleAccount } from "../interceptors/access/principal.ts";
import type { Storage } from "../storage/orm.ts";
import type { Storages } from "../storage/storages.ts";
import { addUsage } from "./books/receipts/add-usage.ts";
import { listReceipts } from "./books/receipts/receipt-list.ts";
import { findReceipts } from "./books/receipts/receipts.ts";

/** Dependencies. */
export interface MeteringDependencies {
  readonly storages: Storages;
}

/** The databases that have usage of an account. An empty id: all databases. */
function storagesFor(storages: Storages, accountId: string): readonly Storage[] {
  return accountId === "" ? storages.all() : storages.everywhere(accountId);
}

/** Limits, receipts and usage. */
export function createMeteringService({ storages }: MeteringDependencies): ServiceImpl<typeof MeteringService> {
  return {
    async countRequest() {
      return {}; // the rate limit's interceptor has counted it
    },

    async getReceipt({ requestId, accountId }, context) {
      const visible = visibleAccount(context, accountId) || undefined;
      const [receipt, ...furtherRuns] = await findReceipts(storages, requestId, visible);
      return { ...(receipt && { receipt }), furtherRuns };
    },

    async listReceipts(request, context) {
      const accountId = visibleAccount(context, request.accountId);
      return listReceipts(storagesFor(storages, accountId), { ...request, accountId });
    },

    async *streamUsage(request, context) {
      const visible = { ...request, accountId: visibleAccount(context, request.accountId) };
      for await (const rows of addUsage(storagesFor(storages, visible.accountId), visible, storages.haveMoved)) {
        if (rows.length > 0) {
          yield { rows };
        }
      }
    },
  };
}
