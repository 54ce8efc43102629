import type { HandlerContext } from "@connectrpc/connect";
import { requireId } from "#lib/ids/validate-id.ts";
import type { Accounts } from "#src/identity/accounts/accounts.ts";
import type { Account } from "#src/storage/entities/account.ts";
import { seesAccountName, visibleAccount } from "#src/wire/interceptors/access/principal.ts";

/**
 * An account that the caller may see, with its name where the caller is told that. Throws ACCOUNT_NOT_FOUND,
 * PERMISSION_DENIED.
 */
export async function readVisible(
  accounts: Pick<Accounts, "get">,
  accountId: string,
  context: HandlerContext,
): Promise<Account> {
  const account = await accounts.get(requireId(visibleAccount(context, accountId), "account"));
  return seesAccountName(context) ? account : { ...account, name: "" };
}
