import type { HandlerContext } from "@connectrpc/connect";
import { requireId } from "#lib/ids/validate-id.ts";
import type { Accounts } from "#src/identity/accounts/accounts.ts";
import type { Account } from "#src/storage/entities/account.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";

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
