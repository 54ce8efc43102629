import { type Lot, LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";

/** What people call the things that a receipt names by their ids. What is not known is shown by its id. */
export interface Known {
  readonly account?: string;
  readonly key?: string;
  /** By Lot.id. */
  readonly lots: ReadonlyMap<string, Lot>;
}

const pageSize = 1000;
const kinds: Readonly<Record<LotKind, string>> = {
  [LotKind.UNSPECIFIED]: "Money",
  [LotKind.FREE]: "Free tier",
  [LotKind.GRANT]: "Grant",
  [LotKind.PAID]: "Payment",
};

/** Asks for the names; a lot or a key beyond the first thousand keeps its id. */
export async function loadKnown({ accountId, keyId }: Receipt, signal: AbortSignal): Promise<Known> {
  const whose = { accountId: isCustomer.peek() ? "" : accountId, pageSize };
  const [{ account }, { keys }] = await Promise.all([
    accounts.getAccount({ ...whose, allLots: true }, { signal }),
    accounts.listKeys(whose, { signal }),
  ]);
  const key = keys.find(({ id }) => id === keyId);
  return {
    account: account?.name ?? "",
    key: key === undefined ? "" : `${key.name} ${key.prefix}…${key.last4}`.trim(),
    lots: new Map(account?.lots.map((lot) => [lot.id, lot])),
  };
}

/** Where a lot's money came from. */
export function toSource(lot: Lot | undefined): string {
  return kinds[lot?.kind ?? LotKind.UNSPECIFIED];
}
