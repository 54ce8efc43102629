import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type Price, PriceReason, PriceSchema } from "#gen/tollgate/metering/v1/price_pb.js";
import type { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { readPage, toPageOf } from "#lib/rpc/pages.ts";
import { listPaidPrices } from "#src/money/prices/paid-prices.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import type { PriceRecord } from "#src/money/prices/price-versions.ts";
import type { Storage } from "#src/storage/storage.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";

/** Lists live and past prices, and changes them for operators. `storage`: has the money that pays these prices. */
export function createPricesService(prices: PriceList, storage: Storage): ServiceImpl<typeof PricesService> {
  /** Notes a price before its change in the audit log. Returns that price. Undefined: there is none. */
  function keepPrice(context: HandlerContext, model: string): PriceRecord | undefined {
    const price = prices.list().find((one) => one.model === model);
    if (price !== undefined) {
      noteBefore(context, PriceSchema, toPrice(price));
    }
    return price;
  }

  return {
    async listPrices(request) {
      const slice = toPageOf(prices.list(), ({ model }) => model);
      const { entries, nextPageToken } = await readPage("prices", request, slice, ({ model }) => model);
      return { prices: entries.map(toPrice), nextPageToken };
    },

    async listPriceHistory({ model, ...request }) {
      const { entries, nextPageToken } = await readPage(
        `prices of ${model}`,
        request,
        ({ after, limit }) =>
          prices.history(model, { ...(after === undefined ? {} : { before: Number(after) }), limit }),
        ({ version }) => String(version),
        (key) => /^[1-9]\d{0,8}$/.test(key),
      );
      return { prices: entries.map(toPrice), nextPageToken };
    },

    async listPaidPrices({ model }) {
      prices.live(model);
      return { paidPrices: await listPaidPrices(storage, prices.book, model) };
    },

    async setPrice({ model, inputPicoUsdPerToken, outputPicoUsdPerToken }, context) {
      const before = keepPrice(context, model);
      const input = Number(inputPicoUsdPerToken); // present, by the contract's rule
      const output = Number(outputPicoUsdPerToken ?? before?.base.output ?? 0);
      return { price: toPrice(await prices.set(model, { input, output })) };
    },

    async pinPrice({ model, inputPicoUsdPerToken, outputPicoUsdPerToken }, context) {
      keepPrice(context, model);
      const price = await prices.pin(model, {
        ...(inputPicoUsdPerToken === undefined ? {} : { input: Number(inputPicoUsdPerToken) }),
        ...(outputPicoUsdPerToken === undefined ? {} : { output: Number(outputPicoUsdPerToken) }),
      });
      return { price: toPrice(price) };
    },

    async unpinPrice({ model }, context) {
      keepPrice(context, model);
      return { price: toPrice(await prices.unpin(model)) };
    },
  };
}

const reasons = {
  configured: PriceReason.CONFIGURED,
  set: PriceReason.SET,
  pinned: PriceReason.PINNED,
  unpinned: PriceReason.UNPINNED,
  moved: PriceReason.MOVED,
} as const satisfies Record<NonNullable<PriceRecord["reason"]>, PriceReason>;

function toPrice({ model, live, base, pinned, version, since, reason, utilisation }: PriceRecord): Price {
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
    reason: reason === null ? PriceReason.UNSPECIFIED : reasons[reason],
    ...(utilisation !== null && { utilisation }),
  };
}
