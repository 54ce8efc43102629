import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import type { GroupName, Sum } from "./view.ts";

/** Names by id. An id without a name is shown as it is. */
export type Names = ReadonlyMap<string, string>;

export const noNames: Names = new Map();

/** The most accounts whose keys are loaded, with one call each: those of the keys with the highest cost. */
const mostAsked = 12;
const mostKeys = 1000;

/** Loads the names that are shown: of accounts; with keys, of their accounts; for a customer, of its own keys. */
export async function loadNames(group: GroupName, sums: readonly Sum[], signal: AbortSignal): Promise<Names> {
  if (group === "model" || sums.length === 0) {
    return noNames;
  }
  if (isCustomer.peek()) {
    return toNames(await listKeys("", signal));
  }
  const accountIds = [...new Set(sums.map(({ accountId }) => accountId))];
  const request = { accountIds, pageSize: accountIds.length, withoutMoney: true };
  return toNames((await accounts.listAccounts(request, { signal })).accounts);
}

/** Loads the names of keys for an operator, who sees those of all accounts. The figures do not wait for them. */
export async function loadKeyNames(group: GroupName, sums: readonly Sum[], signal: AbortSignal): Promise<Names> {
  if (group !== "key" || isCustomer.peek()) {
    return noNames;
  }
  const accountIds = [...new Set(sums.map(({ accountId }) => accountId))].slice(0, mostAsked);
  const keys = await Promise.all(accountIds.map((accountId) => listKeys(accountId, signal)));
  return toNames(keys.flat());
}

async function listKeys(accountId: string, signal: AbortSignal): Promise<readonly ApiKey[]> {
  return (await accounts.listKeys({ accountId, pageSize: mostKeys }, { signal })).keys;
}

function toNames(things: readonly { readonly id: string; readonly name: string }[]): Names {
  return new Map(things.filter(({ name }) => name !== "").map(({ id, name }) => [id, name]));
}
