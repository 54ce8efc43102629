import type { AccountPrice as CorePrice } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import type { ListPricesResponse } from "#gen/tollgate/chat/v1/account_prices_pb.js";
import { usdPerMillion } from "../../http/json/decimal.ts";

/** What the account's next payment pays for each model. */
export function priceList(prices: readonly CorePrice[]): ListPricesResponse {
  return {
    $typeName: "tollgate.chat.v1.ListPricesResponse",
    data: prices.map((price) => ({
      $typeName: "tollgate.chat.v1.AccountPrice",
      model: price.model,
      input: usdPerMillion(price.inputPicoUsdPerToken),
      output: usdPerMillion(price.outputPicoUsdPerToken),
      generalInput: usdPerMillion(price.generalInputPicoUsdPerToken),
      generalOutput: usdPerMillion(price.generalOutputPicoUsdPerToken),
    })),
  };
}
