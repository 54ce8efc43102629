import type { HandlerContext } from "@connectrpc/connect";
import { readPrincipal, visibleAccount } from "../interceptors/access/principal.ts";
import type { Account } from "../storage/entities/account.ts";
import type { Accounts } from "./accounts.ts";
import { requireId } from "./validate.ts";

/**
 * An account that the caller may see. Its name, the operator's label, is shown only to operators. Throws
 * ACCOUNT_NOT_FOUND, PERMISSION_DENIED.
 */
export async function readVisible(
  accounts: Pick<Accounts, "get">,
  accountId: string,
  context: HandlerContext,
): Promise<Account> {
  const account = await accounts.get(requireId(visibleAccount(context, accountId), "account"));
  return readPrincipal(context).kind === "operator" ? account : { ...account, name: "" };
}
