import { type Price, PriceReason } from "#gen/tollgate/metering/v1/price_pb.js";
import { formatPercent } from "../../../format/numbers.ts";

const reasons: Readonly<Record<PriceReason, string>> = {
  [PriceReason.UNSPECIFIED]: "–",
  [PriceReason.CONFIGURED]: "Configured",
  [PriceReason.SET]: "Set by an operator",
  [PriceReason.PINNED]: "Pinned by an operator",
  [PriceReason.UNPINNED]: "Unpinned by an operator",
  [PriceReason.MOVED]: "Moved with the load",
};

/** The reason for a price, in words. */
export function reasonOf({ reason, utilisation }: Price): string {
  return utilisation === undefined ? reasons[reason] : `${formatPercent(utilisation)} busy`;
}

/** Whether a price falls although nobody asks the model: it ends at its floor, and money that comes in meanwhile keeps it. */
export function isSinking({ pinned, utilisation, inputPicoUsdPerToken, baseInputPicoUsdPerToken }: Price): boolean {
  return !pinned && utilisation === 0 && inputPicoUsdPerToken < baseInputPicoUsdPerToken;
}
