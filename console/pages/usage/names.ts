import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import type { GroupName, Sum } from "./view.ts";

/** What people call the things that ids name. What is missing is shown by its id. */
export type Names = ReadonlyMap<string, string>;

export const noNames: Names = new Map();

/** The names of what is shown: of accounts, and with keys those of their accounts; a customer's own keys by theirs. */
export async function loadNames(group: GroupName, sums: readonly Sum[], signal: AbortSignal): Promise<Names> {
  if (group === "model" || sums.length === 0) {
    return noNames;
  }
  if (isCustomer.peek()) {
    return toNames((await accounts.listKeys({ pageSize: 1000 }, { signal })).keys);
  }
  const accountIds = [...new Set(sums.map(({ accountId }) => accountId))];
  const request = { accountIds, pageSize: accountIds.length, withoutMoney: true };
  return toNames((await accounts.listAccounts(request, { signal })).accounts);
}

function toNames(things: readonly { readonly id: string; readonly name: string }[]): Names {
  return new Map(things.filter(({ name }) => name !== "").map(({ id, name }) => [id, name]));
}
