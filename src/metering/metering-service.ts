import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Price } from "#gen/tollgate/metering/v1/price_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import { callerOf, principalOf } from "../interceptors/principal.ts";
import type { Storage } from "../storage/orm.ts";
import { readReceipts } from "./books/receipts.ts";
import { reconcile } from "./books/reconcile.ts";
import { listUsage } from "./books/usage.ts";
import { type MeteringObserver, type RateLimits, rateLimitStatus } from "./interface.ts";
import type { CoreLedger } from "./ledger/ledger.ts";
import type { PriceRecord } from "./prices/price-versions.ts";
import type { PriceList } from "./prices/prices.ts";

/** Prices in one page of a history. */
const historyPage = { usual: 100, most: 1000 };

/** What the service stands on. */
export interface MeteringDependencies {
  readonly storage: Storage;
  readonly ledger: Pick<CoreLedger, "unknownSlices">;
  readonly prices: PriceList;
  readonly rateLimits: Pick<RateLimits, "admit" | "read">;
  readonly observer: Pick<MeteringObserver, "reconciled">;
}

/** Limits, prices, receipts and the proof that the books are right. */
export function createMeteringService(deps: MeteringDependencies): ServiceImpl<typeof MeteringService> {
  const { storage, ledger, prices, rateLimits, observer } = deps;
  return {
    async countRequest(_request, context) {
      return { rateLimit: rateLimitStatus(await rateLimits.admit(callerOf(context))) };
    },

    async getReceipt({ requestId, accountId }, context) {
      const only = onlyAccountOf(context);
      if (only !== undefined && accountId !== "" && accountId !== only)
        throw failure(Reason.PERMISSION_DENIED, "A key sees the receipts of its own account alone.");
      const [receipt, ...furtherRuns] = await readReceipts(storage, requestId, only ?? (accountId || undefined));
      return { ...(receipt && { receipt }), furtherRuns };
    },

    async *listUsage(request, context) {
      const only = onlyAccountOf(context);
      if (only !== undefined && request.accountId !== "" && request.accountId !== only)
        throw failure(Reason.PERMISSION_DENIED, "A key sees the usage of its own account alone.");
      const visible = { ...request, accountId: only ?? request.accountId };
      for await (const rows of listUsage(storage, visible)) yield { rows };
    },

    async reconcile() {
      const proof = await reconcile(storage, ledger);
      observer.reconciled(proof.ok);
      return proof;
    },

    listPrices: () => ({ prices: prices.list().map(toPrice) }),

    async listPriceHistory({ model, pageSize, pageToken }) {
      const size = Math.min(pageSize || historyPage.usual, historyPage.most);
      const before = pageToken === "" ? {} : { before: readPageToken(pageToken) };
      const found = await prices.history(model, { ...before, limit: size + 1 });
      const page = found.slice(0, size);
      const last = found.length > size ? page.at(-1) : undefined;
      return { prices: page.map(toPrice), nextPageToken: last === undefined ? "" : String(last.version) };
    },

    async setPrice({ model, inputPicoUsdPerToken, outputPicoUsdPerToken }) {
      const rates = { input: Number(inputPicoUsdPerToken), output: Number(outputPicoUsdPerToken) };
      return { price: toPrice(await prices.set(model, rates)) };
    },

    async pinPrice({ model, inputPicoUsdPerToken, outputPicoUsdPerToken }) {
      const price = await prices.pin(model, {
        ...(inputPicoUsdPerToken === undefined ? {} : { input: Number(inputPicoUsdPerToken) }),
        ...(outputPicoUsdPerToken === undefined ? {} : { output: Number(outputPicoUsdPerToken) }),
      });
      return { price: toPrice(price) };
    },

    async unpinPrice({ model }) {
      return { price: toPrice(await prices.unpin(model)) };
    },
  };
}

/** The version before which a page begins. Throws INVALID_ARGUMENT. */
function readPageToken(token: string): number {
  if (/^[1-9]\d{0,8}$/.test(token)) return Number(token);
  throw failure(Reason.INVALID_ARGUMENT, "The page token is not of an answer to this call.", {
    parameter: "page_token",
  });
}

/** The only account that may be seen. Undefined: the operator sees all. */
function onlyAccountOf(context: Pick<HandlerContext, "values">): string | undefined {
  const principal = principalOf(context);
  return principal.kind === "caller" ? principal.accountId : undefined;
}

function toPrice({ model, live, base, pinned, version, since }: PriceRecord): Price {
  return {
    $typeName: "tollgate.metering.v1.Price",
    model,
    inputPicoUsdPerToken: BigInt(live.input),
    outputPicoUsdPerToken: BigInt(live.output),
    baseInputPicoUsdPerToken: BigInt(base.input),
    baseOutputPicoUsdPerToken: BigInt(base.output),
    pinned,
    version: String(version),
    since: timestampFromDate(since),
  };
}
