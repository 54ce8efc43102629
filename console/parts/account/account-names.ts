import { isCustomer, session } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";

/** The names of accounts by their ids: for customers, of their own. Those without a name, and ids of none, have none. */
export async function loadAccountNames(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const accountIds = [...new Set(ids.filter((id) => id !== ""))];
  if (accountIds.length === 0) {
    return new Map();
  }
  if (isCustomer.peek()) {
    const own = session.peek()?.accountId ?? "";
    const isAsked = accountIds.includes(own);
    const { account } = isAsked ? await accounts.getAccount({}, { signal }) : {};
    return new Map(account ? [[own, account.name]] : []);
  }
  const request = { accountIds, pageSize: accountIds.length, withoutMoney: true };
  const found = (await accounts.listAccounts(request, { signal })).accounts;
  return new Map(found.filter(({ name }) => name !== "").map(({ id, name }) => [id, name]));
}
