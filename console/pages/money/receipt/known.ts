import { type Lot, LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { loadKeyNames } from "../../../parts/keys/key-names.ts";

/** Names for the ids in a receipt. An id without a name is shown as it is. */
export interface Known {
  readonly account: string;
  readonly key: string;
  /** By Lot.id. */
  readonly lots: ReadonlyMap<string, Lot>;
}

const pageSize = 1000;
const kinds: Readonly<Record<LotKind, string>> = {
  [LotKind.UNSPECIFIED]: "Money",
  [LotKind.FREE]: "Free tier",
  [LotKind.GRANT]: "Grant",
  [LotKind.PAID]: "Payment",
  [LotKind.CREDIT]: "Credit line",
};

/** Loads the names. A lot beyond the first thousand keeps its id. */
export async function loadKnown({ accountId, keyId }: Receipt, signal: AbortSignal): Promise<Known> {
  const whose = { accountId: isCustomer.peek() ? "" : accountId, pageSize };
  const [{ account }, keys] = await Promise.all([
    accounts.getAccount({ ...whose, allLots: true }, { signal }),
    loadKeyNames([keyId], signal),
  ]);
  return {
    account: account?.name ?? "",
    key: keys.get(keyId) ?? "",
    lots: new Map(account?.lots.map((lot) => [lot.id, lot])),
  };
}

/** The source of a lot's money. */
export function toSource(lot: Lot | undefined): string {
  return kinds[lot?.kind ?? LotKind.UNSPECIFIED];
}
