import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { type OwnPrices, OwnPricesSchema } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import { type OwnTerms, ownRates } from "#src/money/model/prices/own-prices.ts";
import type { Rates } from "#src/money/model/rates.ts";
import { type OwnPricesRecord, readNewestOwn, setOwnPrices } from "#src/money/prices/own-prices.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import type { Storage } from "#src/storage/storage.ts";
import { noteWithin } from "#src/wire/interceptors/changes/change.ts";
import { toPublicJson } from "#src/wire/interceptors/changes/public-json.ts";
import type { Dependencies } from "./dependencies.ts";
import { readVisible } from "./read-visible.ts";

const general: OwnTerms = { discount: 0, fixed: new Map() };

/** The methods about an account's own prices. */
export function createPriceMethods({ accounts, prices, storage, clock, random }: Dependencies) {
  const set = { storage, clock, random };
  return {
    async getAccountPrices({ accountId, proposed }, context) {
      const { id } = await readVisible(accounts, accountId, context);
      const newest = await readNewestOwn(em(storage), id);
      return describe(prices, newest, proposed && readTerms(proposed, prices));
    },

    async setAccountPrices({ accountId, ownPrices }, context) {
      const id = requireId(accountId, "account");
      const terms = ownPrices === undefined ? general : readTerms(ownPrices, prices);
      await noteWithin(context, (note) =>
        setOwnPrices(set, { accountId: id, terms }, (em, before = general) =>
          note(em, { target: id, before: toPublicJson(OwnPricesSchema, ownPricesMessage(before)), after: {} }),
        ),
      );
      return describe(prices, await readNewestOwn(em(storage), id));
    },
  } satisfies Partial<ServiceImpl<typeof AccountsService>>;
}

const em = (storage: Storage) => storage.orm.em.fork();

/** Own prices of a request. Throws MODEL_NOT_FOUND, INVALID_ARGUMENT. */
function readTerms({ discountBasisPoints, fixed }: OwnPrices, prices: Pick<PriceList, "check">): OwnTerms {
  const byModel = new Map<string, Rates>();
  for (const { model, inputPicoUsdPerToken, outputPicoUsdPerToken } of fixed) {
    const rates = { input: Number(inputPicoUsdPerToken), output: Number(outputPicoUsdPerToken) };
    prices.check(model, rates);
    if (byModel.has(model)) {
      throw invalid("own_prices.fixed", `${model} has two fixed prices.`);
    }
    byModel.set(model, rates);
  }
  return { discount: discountBasisPoints, fixed: byModel };
}

/** The set own prices, or proposed ones, and what they make of every model's price. */
function describe(prices: PriceList, newest: OwnPricesRecord | undefined, terms: OwnTerms = newest ?? general) {
  return {
    ownPrices: ownPricesMessage(terms),
    number: newest?.number ?? 0,
    ...(newest && { setAt: timestampFromDate(newest.setAt) }),
    prices: prices.list().map(({ model, live }) => {
      const own = ownRates(live, terms, model);
      return {
        model,
        inputPicoUsdPerToken: BigInt(own.input),
        outputPicoUsdPerToken: BigInt(own.output),
        generalInputPicoUsdPerToken: BigInt(live.input),
        generalOutputPicoUsdPerToken: BigInt(live.output),
      };
    }),
  };
}

function ownPricesMessage({ discount, fixed }: OwnTerms): MessageInitShape<typeof OwnPricesSchema> {
  return create(OwnPricesSchema, {
    discountBasisPoints: discount,
    fixed: Array.from(fixed, ([model, { input, output }]) => ({
      model,
      inputPicoUsdPerToken: BigInt(input),
      outputPicoUsdPerToken: BigInt(output),
    })),
  });
}
