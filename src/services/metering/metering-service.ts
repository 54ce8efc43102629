import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { toRequestId } from "#lib/ids/request-id.ts";
import { toInt64 } from "#lib/money/int64.ts";
import { inBoundYoungSpace } from "#lib/overload/young-space.ts";
import type { Clock } from "#lib/time/clock.ts";
import { DayProofs } from "#src/money/books/bill/day-proofs.ts";
import { readMonths } from "#src/money/books/bill/months.ts";
import { streamStatement } from "#src/money/books/bill/stream-statement.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import { readCosts } from "#src/money/books/receipts/costs.ts";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { listSeals } from "#src/money/books/seals/seal-list.ts";
import type { KeptLabel } from "#src/money/labels/labels.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readPrincipal, seesAccountName, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import { withAge } from "./as-of.ts";
import { listRequests } from "./requests/request-list.ts";
import { SnapshotReaders } from "./snapshot-readers.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "after" | "now">;
  readonly archives: ArchivedReceipts;
  readonly labels: readonly KeptLabel[];
}

/** Limits, receipts and usage. */
export function createMeteringService({
  storage,
  clock,
  archives,
  labels,
}: Dependencies): ServiceImpl<typeof MeteringService> {
  const readers = new SnapshotReaders(clock);
  const statements = new SnapshotReaders(clock, { mayRest: true });
  const proofs = new DayProofs(storage);
  return {
    async countRequest() {
      return {}; // the rate limit's interceptor has counted it
    },

    async getReceipt({ requestId, accountId }, context) {
      const visible = visibleAccount(context, accountId) || undefined;
      const found = await readReceipts(storage, toRequestId(requestId), visible, archives);
      const [receipt, ...furtherRuns] = hideServers(context, found);
      return { ...(receipt && { receipt }), furtherRuns };
    },

    async listReceipts(request, context) {
      const accountId = visibleAccount(context, request.accountId);
      const requestId = toRequestId(request.requestId);
      const page = await listReceipts(storage, { ...request, accountId, requestId }, archives);
      return withAge(context, { ...page, receipts: hideServers(context, page.receipts) });
    },

    async listCosts({ requestIds, accountId }, context) {
      const visible = visibleAccount(context, accountId) || undefined;
      const costs = await readCosts(storage, requestIds, visible);
      return { costs: costs.map(({ requestId, cost }) => ({ requestId, costPicoUsd: toInt64(cost) })) };
    },

    async listRequests(request, context) {
      const accountId = visibleAccount(context, request.accountId);
      const requestId = toRequestId(request.requestId);
      const page = await listRequests(storage, { ...request, accountId, requestId }, archives);
      return withAge(context, { ...page, requests: hideServers(context, page.requests) });
    },

    async listMonths({ accountId, month }, context) {
      const visible = visibleAccount(context, accountId);
      const { account, months } = await readMonths(storage, { accountId: visible, month, now: clock.now() });
      return {
        accountId: account.id,
        accountName: seesAccountName(context) ? account.name : "",
        months: [...months],
      };
    },

    async listSeals({ after }) {
      return { seals: await listSeals(storage, after) };
    },

    async listLabels() {
      return { labels: labels.map(({ name, hash }) => ({ name, hashed: hash })) };
    },

    async *streamStatement(request, context) {
      const visible = { ...request, accountId: visibleAccount(context, request.accountId) };
      const payer = readPrincipal(context);
      const account = payer.kind === "caller" ? payer.accountId : undefined;
      const open = () => streamStatement({ storage, archives, proofs, now: clock.now() }, visible);
      for await (const lines of inBoundYoungSpace(statements.read(account, context.signal, open))) {
        yield { lines };
      }
    },

    async *streamUsage(request, context) {
      const visible = { ...request, accountId: visibleAccount(context, request.accountId) };
      const payer = readPrincipal(context);
      const account = payer.kind === "caller" ? payer.accountId : undefined;
      for await (const piece of readers.read(account, context.signal, () => streamUsage(storage, visible))) {
        if (piece.rows.length > 0 || piece.asOf !== undefined) {
          yield withAge(context, piece);
        }
      }
    },
  };
}

/** What a caller is told: operators alone see the servers behind, whose ids are their addresses. */
function hideServers<T extends { readonly server: string }>(context: HandlerContext, told: readonly T[]): T[] {
  const isOperator = readPrincipal(context).kind === "operator";
  return told.map((one) => (isOperator ? one : { ...one, server: "" }));
}
