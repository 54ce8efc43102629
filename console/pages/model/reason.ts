import { type Price, PriceReason } from "#gen/tollgate/metering/v1/price_pb.js";
import { formatPercent } from "../../format/numbers.ts";

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
