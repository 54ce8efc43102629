import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import { loadAccountNames } from "../account/account-names.ts";
import type { GroupName, SecondName } from "./groups.ts";

/** Names by id. An id without a name is shown as it is. */
export type Names = ReadonlyMap<string, string>;

export const noNames: Names = new Map();

/** The most accounts whose keys are loaded, with one call each: those of the keys with the highest cost. */
const mostAsked = 12;
/** The most keys of an account whose names are loaded: those that are not revoked, then the newest. */
const mostKeys = 1000;
/** The most accounts that the core names at once. */
const mostNamed = 1000;

/** What names are needed of. */
interface Shown {
  readonly groups: readonly (GroupName | SecondName | undefined)[];
  /** The accounts, those with the highest cost first. */
  readonly accountIds: readonly string[];
}

/** Loads the names that are shown: of accounts; with keys, of their accounts; for a customer, of its own keys. */
export async function loadNames({ groups, accountIds }: Shown, signal: AbortSignal): Promise<Names> {
  if (isCustomer.peek()) {
    return groups.includes("key") ? toNames(await listKeys("", signal)) : noNames;
  }
  return loadAccountNames(toIds(accountIds).slice(0, mostNamed), signal);
}

/** Loads the names of keys for an operator, who sees those of all accounts. The figures do not wait for them. */
export async function loadKeyNames({ groups, accountIds }: Shown, signal: AbortSignal): Promise<Names> {
  if (!groups.includes("key") || isCustomer.peek()) {
    return noNames;
  }
  const asked = toIds(accountIds).slice(0, mostAsked);
  const keys = await Promise.all(asked.map((accountId) => listKeys(accountId, signal)));
  return toNames(keys.flat());
}

function toIds(accountIds: readonly string[]): string[] {
  return [...new Set(accountIds.filter((id) => id !== ""))];
}

async function listKeys(accountId: string, signal: AbortSignal): Promise<readonly ApiKey[]> {
  return (await accounts.listKeys({ accountId, newestFirst: true, pageSize: mostKeys }, { signal })).keys;
}

function toNames(things: readonly { readonly id: string; readonly name: string }[]): Names {
  return new Map(things.filter(({ name }) => name !== "").map(({ id, name }) => [id, name]));
}
