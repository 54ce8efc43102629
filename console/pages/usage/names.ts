import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import type { GroupName } from "./view.ts";

/** What people call the things that ids name. What is missing is shown by its id. */
export type Names = ReadonlyMap<string, string>;

export const noNames: Names = new Map();
/** More accounts than these are shown by their ids. */
const mostAccounts = 1000;

export async function loadNames(group: GroupName, signal: AbortSignal): Promise<Names> {
  if (group === "account") {
    const answer = await accounts.listAccounts({ pageSize: mostAccounts, withoutMoney: true }, { signal });
    return toNames(answer.accounts);
  }
  if (group === "key" && isCustomer.peek()) {
    return toNames((await accounts.listKeys({}, { signal })).keys);
  }
  return noNames;
}

function toNames(things: readonly { readonly id: string; readonly name: string }[]): Names {
  return new Map(things.filter(({ name }) => name !== "").map(({ id, name }) => [id, name]));
}
