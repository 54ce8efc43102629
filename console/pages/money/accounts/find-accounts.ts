import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { AccountOrder, AccountState } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { accounts, metering } from "../../../contract/clients.ts";
import { isId } from "../../../format/ids.ts";
import type { ListPage } from "../../../parts/calls/more-rows.tsx";

/** An account of the list. */
export interface Row {
  readonly account: Account;
  /** What it spent in 30 days, in pico-USD, where the list is ordered by that. */
  readonly spent?: bigint;
}

/** Which accounts are looked for, in the words of the address. Empty: all of them, oldest first. */
interface Wanted {
  /** How the name begins, or an id. */
  readonly name: string;
  readonly state: string;
  readonly order: string;
}

const pageSize = 50;
const spendersShown = 50;
const spentWithinS = 30 * 24 * 3600;

const states: Readonly<Record<string, AccountState>> = {
  frozen: AccountState.FROZEN,
  "in-debt": AccountState.IN_DEBT,
  low: AccountState.LOW,
};

/** A page of accounts. */
export async function findAccounts(
  { name, state, order }: Wanted,
  pageToken: string,
  signal: AbortSignal,
): Promise<ListPage<Row>> {
  if (isId(name)) {
    const { account } = await accounts.getAccount({ accountId: name }, { signal });
    return { rows: account === undefined ? [] : [{ account }], next: "" };
  }
  if (order === "spent") {
    return { rows: await findSpenders(signal), next: "" };
  }
  const asked = {
    name,
    state: states[state] ?? AccountState.UNSPECIFIED,
    order: order === "last-use" ? AccountOrder.LAST_USE : AccountOrder.UNSPECIFIED,
  };
  const answer = await accounts.listAccounts({ ...asked, pageToken, pageSize }, { signal });
  return { rows: answer.accounts.map((account) => ({ account })), next: answer.nextPageToken };
}

/** Those who spent most, dearest first. */
async function findSpenders(signal: AbortSignal): Promise<Row[]> {
  const from = { seconds: BigInt(Math.floor(Date.now() / 1000) - spentWithinS) };
  const spent = new Map<string, bigint>();
  const asked = { groupBy: [UsageGroup.ACCOUNT], from, dearest: spendersShown };
  for await (const { rows } of metering.streamUsage(asked, { signal })) {
    for (const { accountId, totalCostPicoUsd, costPicoUsd } of rows) {
      spent.set(accountId, BigInt(totalCostPicoUsd || costPicoUsd));
    }
  }
  const accountIds = [...spent.keys()];
  if (accountIds.length === 0) {
    return [];
  }
  const found = await accounts.listAccounts({ accountIds, pageSize: accountIds.length }, { signal });
  const byId = new Map(found.accounts.map((account) => [account.id, account]));
  return accountIds.flatMap((id) => {
    const account = byId.get(id);
    return account === undefined ? [] : [{ account, spent: spent.get(id) ?? 0n }];
  });
}
