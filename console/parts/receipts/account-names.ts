import { accounts } from "../../contract/clients.ts";

/** The names of accounts by their ids. Those without a name, and ids of none, have none. */
export async function loadAccountNames(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const accountIds = [...new Set(ids.filter((id) => id !== ""))];
  if (accountIds.length === 0) {
    return new Map();
  }
  const request = { accountIds, pageSize: accountIds.length, withoutMoney: true };
  const found = (await accounts.listAccounts(request, { signal })).accounts;
  return new Map(found.map(({ id, name }) => [id, name]));
}
