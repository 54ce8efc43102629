import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Price } from "#gen/tollgate/metering/v1/price_pb.js";
import type { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { PriceRecord } from "./price-versions.ts";
import type { PriceList } from "./prices.ts";

/** Prices in one page of a history. */
const historyPage = { usual: 100, most: 1000 };

/** The prices that are, those that were, and the operator's hand on them. */
export function createPricesService(prices: PriceList): ServiceImpl<typeof PricesService> {
  return {
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
