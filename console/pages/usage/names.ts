import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import type { GroupName, Sum } from "./view.ts";

/** What people call the things that ids name. What is missing is shown by its id. */
export type Names = ReadonlyMap<string, string>;

export const noNames: Names = new Map();

/** Accounts whose keys are asked for: those of the dearest keys; each is a call of its own. */
const mostAsked = 12;
const mostKeys = 1000;

/** The names of what is shown: of accounts, and with keys those of their accounts; a customer's own keys by theirs. */
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

/** The names of keys for an operator, who sees those of all accounts; figures do not wait for them. */
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
